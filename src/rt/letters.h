/*
 * Between ranks that share no memory: how they meet, and what they tell each other besides.
 *
 * To meet, each member sends its record to all others. Besides there are notices, which a rank
 * sends once and which others see while they wait: that it has ended, and how; that it has given a
 * group up, so that a member which comes late does not wait for it.
 */
#ifndef RT_LETTERS_H
#define RT_LETTERS_H

#include "rt/comm.h"

/* The tags of messages; a group has two from TAG_GROUPS on, for records and for data. */
enum { TAG_BOOT, TAG_NOTICE, TAG_GROUPS };

int32_t letters_tag(const tsr_comm *comm, bool data);

/* Sends this member's record to the others and starts to receive theirs. */
tsr_status letters_start(tsr_comm *comm);

/* Whether all records have come. */
tsr_status letters_look(tsr_comm *comm);

/* Takes in the notices that have come. */
void notices_look(tsr_comm *comm);

/* The rank of the world that gave the group up; -1 if none. */
int64_t notices_who_gave_up(const tsr_comm *comm);

/* Tell all members, or all ranks. Nobody waits for that. */
void notices_tell_given_up(tsr_comm *comm);
void notices_tell_end(tsr_comm *world, tsr_status status, const char *text);

#endif

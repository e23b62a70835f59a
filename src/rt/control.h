/*
 * Between ranks that share no memory: how they meet, and what they tell each other besides.
 *
 * To meet, each member sends its record to all others. Besides there are notices, which a rank
 * sends once and which others see while they wait: that it has ended, and how; that it has given a
 * group up, so that a member which comes late does not wait for it.
 */
#ifndef RT_CONTROL_H
#define RT_CONTROL_H

#include "rt/comm.h"

/* The tags of messages; a group has two from TAG_GROUPS on, for records and for data. */
enum { TAG_BOOT, TAG_CONTROL, TAG_GROUPS };

int32_t group_tag(const tsr_comm *comm, bool data);

/* Sends this member's record to the others and starts to receive theirs. */
tsr_status control_send_record(tsr_comm *comm);

/* Whether all records have come. */
tsr_status control_poll_records(tsr_comm *comm);

/* Takes in the notices that have come. */
void control_poll(tsr_comm *comm);

/* A group that another rank has given up, and why. */
typedef struct revocation {
    struct revocation *next;
    int32_t id;
    int64_t rank;
    int64_t missing; /* whom it waited for; -1 if for nobody */
    tsr_status status;
    char text[CALL_TEXT];
} revocation;

/* That another member has given the group up; NULL if none has. */
const revocation *control_revocation(const tsr_comm *comm);

/*
 * Tell all members that this one gives the group up, with its last error as the reason; or all
 * ranks that it ends. Nobody waits for that.
 */
void control_send_revocation(tsr_comm *comm, tsr_status status, int64_t missing);
void control_send_end(tsr_comm *world, tsr_status status, const char *text);

#endif

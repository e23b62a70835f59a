/*
 * Control messages, between ranks that share no memory.
 *
 * There are five kinds. At a rendezvous each member sends its record to all others. A rank that
 * ends tells all ranks so, with its status, after the parts of its report if it failed. A rank that
 * fails inside a group revokes it, so that a member which enters later does not wait. One that
 * works for long inside a call sends heartbeats. The last four are received while a rank waits for
 * something else.
 */
#ifndef RT_CONTROL_H
#define RT_CONTROL_H

#include "rt/comm.h"

/*
 * The tags of messages. A group has three from TAG_GROUPS on: for records, and for the data of even
 * and of odd calls, so that what no rank received in a call is not taken for data of the next.
 */
enum { TAG_BOOT, TAG_CONTROL, TAG_GROUPS, TAGS_OF_GROUP = 3 };

int32_t record_tag(const tsr_comm *comm);
int32_t data_tag(const tsr_comm *comm, uint64_t call);

/* Keeps memory by which the world's end can be told when there is no other. */
tsr_status control_open(tsr_comm *world);

/* Sends this member's record to the others and starts to receive theirs. */
tsr_status control_send_record(tsr_comm *comm);

/* Whether all records have arrived. */
tsr_status control_poll_records(tsr_comm *comm);

/* Receives and handles the control messages that have arrived. */
void control_poll(tsr_comm *comm);

/* A group that another rank has revoked, and why. */
typedef struct revocation {
    struct revocation *next;
    int32_t id;
    int64_t rank;
    int64_t missing; /* the rank that it waited for; -1 for none */
    tsr_status status;
    char text[CALL_TEXT];
} revocation;

/* The revocation of the group by another member; NULL if there is none. */
const revocation *control_revocation(const tsr_comm *comm);

/*
 * Tell all members that this one revokes the group, with its last error as the reason; or all ranks
 * that it ends, with its report. Neither waits for the messages to be sent.
 */
void control_send_revocation(tsr_comm *comm, tsr_status status, int64_t missing);
void control_send_end(tsr_comm *world, tsr_status status);

/*
 * Tells all ranks that this one makes progress, unless it did so a short while ago: `world` is its
 * communicator. Called while it copies or folds.
 */
void control_send_heartbeat(void *world);

#endif

/*
 * Messages over a transport: some sends and receives under way together.
 *
 * A message larger than what the transport takes goes in pieces, in order. Buffers that the mail
 * allocates live until it is closed. When it is given up while something is being sent, that and
 * the buffers stay with the link until it settles, since the transport may still read them.
 */
#ifndef RT_MAIL_H
#define RT_MAIL_H

#include <tessera/context.h>
#include <tessera/transport.h>

#include "rt/segment.h"

/* What an opened transport is to this library. Starts as zeros but for the first two. */
typedef struct mail_link {
    tsr_transport transport;
    size_t most_bytes; /* of one piece, the same on all ranks */
    bool littered;     /* messages were sent that nobody receives any more */
    bool lost;         /* something is being sent that there was no memory to remember */
    struct mail_piece *left;
    size_t num_left;
    size_t room;
    struct mail_memory *buffers;
    segment *pool; /* of those buffers */
} mail_link;

typedef struct mail {
    tsr_context *ctx;
    mail_link *link;
    int32_t tag;
    size_t most_bytes; /* of one piece */
    struct mail_piece *pieces;
    size_t num_pieces;
    size_t room;
    size_t left;   /* pieces under way */
    segment *pool; /* where large buffers come from, whose pages are warm; NULL for none */
    struct mail_memory *buffers;
} mail;

void mail_open(mail *m, tsr_context *ctx, mail_link *link, int32_t tag, segment *pool);

/* Memory for messages, aligned for every type. NULL with a diagnostic. */
void *mail_buffer(mail *m, size_t bytes);

/* Start a message; 0 bytes are none. A receive can be asked for by its index: see mail_has. */
tsr_status mail_send(mail *m, int64_t peer, const void *data, size_t bytes);
tsr_status mail_receive(mail *m, int64_t peer, void *data, size_t bytes, size_t index);

/* Looks what has come. TSR_OK when nothing is under way any more, else TSR_IN_PROGRESS. */
tsr_status mail_test(mail *m);

/* Whether all pieces of the receive with an index have come. */
bool mail_has(const mail *m, size_t index);
/* Whether everything has come that was to be received. */
bool mail_has_all(const mail *m);

/* Whether a message from or to a peer is under way. */
bool mail_waits_for(const mail *m, int64_t peer);

/* Ends the mail, if it is open: whatever is under way is given up. */
void mail_close(mail *m);

/* Looks whether what was given up is sent by now, and then frees its buffers. */
bool mail_tidy(mail_link *link, tsr_context *ctx);

/* Waits, not for long, until what was given up is sent. False when it is not: then it never is. */
bool mail_settle(mail_link *link, tsr_context *ctx, double seconds);

/* A failure of the transport, in words. */
tsr_status mail_failure(tsr_context *ctx, const mail_link *link, const char *what, int error);

#endif

/*
 * Messages over a transport: some sends and receives under way together.
 *
 * A message larger than what the transport takes goes in pieces, in order. Buffers that the mail
 * allocates live until it is closed. When it is given up while something is being sent, that and
 * the buffers stay with the link until it settles, since the transport may still read them.
 */
#ifndef RT_CHANNEL_H
#define RT_CHANNEL_H

#include <tessera/context.h>
#include <tessera/transport.h>

#include "rt/segment.h"

/* What an opened transport is to this library. Starts as zeros but for the first two. */
typedef struct endpoint {
    tsr_transport transport;
    size_t most_bytes;   /* of one piece, the same on all ranks */
    bool has_unreceived; /* messages were sent that nobody receives any more */
    bool has_untracked;  /* something is being sent that there was no memory to remember */
    struct channel_fragment *left;
    size_t num_left;
    size_t room;
    struct channel_memory *buffers;
    segment *pool; /* of those buffers */
} endpoint;

typedef struct channel {
    tsr_context *ctx;
    endpoint *endpoint;
    int32_t tag;
    size_t most_bytes; /* of one piece */
    struct channel_fragment *fragments;
    size_t num_fragments;
    size_t room;
    size_t left;   /* pieces under way */
    segment *pool; /* where large buffers come from, whose pages are warm; NULL for none */
    struct channel_memory *buffers;
} channel;

void channel_open(channel *c, tsr_context *ctx, endpoint *ep, int32_t tag, segment *pool);

/* Memory for messages, aligned for every type. NULL with a diagnostic. */
void *channel_buffer(channel *c, size_t bytes);

/* Start a message; 0 bytes are none. A receive can be asked for by its index: see
 * channel_has_received. */
tsr_status channel_send(channel *c, int64_t peer, const void *data, size_t bytes);
tsr_status channel_receive(channel *c, int64_t peer, void *data, size_t bytes, size_t index);

/* Looks what has come. TSR_OK when nothing is under way any more, else TSR_IN_PROGRESS. */
tsr_status channel_test(channel *c);

/* Whether all pieces of the receive with an index have come. */
bool channel_has_received(const channel *c, size_t index);
/* Whether everything has come that was to be received. */
bool channel_has_received_all(const channel *c);

/* Whether a message from or to a peer is under way. */
bool channel_waits_for(const channel *c, int64_t peer);

/* Ends the mail, if it is open: whatever is under way is given up. */
void channel_close(channel *c);

/* Looks whether what was given up is sent by now, and then frees its buffers. */
bool endpoint_reap(endpoint *ep, tsr_context *ctx);

/* Waits, not for long, until what was given up is sent. False when it is not: then it never is. */
bool endpoint_flush(endpoint *ep, tsr_context *ctx, double seconds);

/* A failure of the transport, in words. */
tsr_status endpoint_failure(tsr_context *ctx, const endpoint *ep, const char *what, int error);

#endif

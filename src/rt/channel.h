/*
 * Channels and endpoints: messages over a transport.
 *
 * A channel is a set of sends and receives that are in flight together, under one tag. A message
 * larger than what the transport takes is sent in fragments, in order. Buffers that the channel
 * allocates live until it is closed.
 *
 * A receive is posted when its message has been probed and has the length that is expected, so that
 * the transport never gets a message that is longer than the memory for it; except where all ranks
 * have compared the length before. When a channel is closed while a send is in flight, the
 * endpoint keeps that send and the buffers until the transport has completed it, since the
 * transport may still read them.
 */
#ifndef RT_CHANNEL_H
#define RT_CHANNEL_H

#include <tessera/context.h>
#include <tessera/transport.h>

#include "rt/segment.h"

/* An opened transport. Starts as zeros but for the first two fields. */
typedef struct endpoint {
    tsr_transport transport;
    size_t most_bytes;   /* of one fragment, the same on all ranks */
    bool has_unreceived; /* messages were sent that no rank will receive */
    bool has_untracked;  /* a send is in flight for which there was no memory to keep a record */
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
    size_t most_bytes;   /* of one fragment */
    bool lengths_agreed; /* receives are posted at once */
    struct channel_fragment *fragments;
    size_t num_fragments;
    size_t room;
    size_t left;       /* fragments in flight */
    uint64_t progress; /* of its peers and its messages, when it was last seen to change, */
    double since;      /* and when that was; 0 before it was looked at */
    segment *pool;     /* where large buffers come from, whose pages are warm; NULL for none */
    struct channel_memory *buffers;
} channel;

void channel_open(channel *c, tsr_context *ctx, endpoint *ep, int32_t tag, segment *pool);

/* Memory for messages, aligned for every type. NULL with a diagnostic. */
void *channel_buffer(channel *c, size_t bytes);

/* Start a message; 0 bytes are none. `index` identifies the receive to channel_has_received. */
tsr_status channel_send(channel *c, int64_t peer, const void *data, size_t bytes);
tsr_status channel_receive(channel *c, int64_t peer, void *data, size_t bytes, size_t index);

/*
 * Makes progress. TSR_OK when nothing is in flight any more, else TSR_IN_PROGRESS. Fails when a
 * peer sends another length than is expected from it.
 */
tsr_status channel_test(channel *c);

/* Whether all fragments of the receive with an index have arrived. */
bool channel_has_received(const channel *c, size_t index);
/* Whether all receives are complete. */
bool channel_has_received_all(const channel *c);

/* Whether a message from or to a peer is in flight. */
bool channel_waits_for(const channel *c, int64_t peer);

/* Closes the channel, if it is open, and cancels what is in flight. */
void channel_close(channel *c);

/*
 * Sends without a channel, for who has no memory for one, from memory that stays as long as the
 * endpoint. There is room to keep so many of such sends.
 */
tsr_status endpoint_reserve(endpoint *ep, tsr_context *ctx, size_t count);
void endpoint_send(endpoint *ep, tsr_context *ctx, int64_t peer, int32_t tag, const void *data,
                   size_t bytes);

/* Frees the buffers of cancelled sends once all of those are complete. Whether they are. */
bool endpoint_reap(endpoint *ep, tsr_context *ctx);

/* Waits up to `seconds` until cancelled sends are complete. False when they are not. */
bool endpoint_flush(endpoint *ep, tsr_context *ctx, double seconds);

/*
 * Reports a message that no rank will receive, if there is one with a tag that is not in use any
 * more.
 */
tsr_status endpoint_check_unreceived(tsr_context *ctx, const endpoint *ep, int32_t tag);

/* Reports a failure of the transport. */
tsr_status endpoint_failure(tsr_context *ctx, const endpoint *ep, const char *what, int error);

#endif

/*
 * A transport: point-to-point messages between processes, as a table of functions.
 *
 * Ranks of one machine move tensors through shared memory; there a transport provides their ranks
 * and lets them find each other's memory. Between machines it carries all data. The library has one
 * for Open MPI and one for MPICH, as plug-ins that it loads when needed; a program may bring
 * another one and open a world on it (tsr_comm_open).
 *
 * A plug-in is a shared object that exports `tsr_transport_open` and needs only this header of
 * libtessera.
 */
#ifndef TESSERA_TRANSPORT_H
#define TESSERA_TRANSPORT_H

#include <tessera/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever the table does; a plug-in of another version is rejected. */
#define TSR_TRANSPORT_VERSION 2

/* For `probe`: a message from any rank. */
#define TSR_ANY_PEER (-1)

/* How a transport ends. */
typedef enum tsr_transport_end {
    TSR_END_CLEAN,      /* every message was received */
    TSR_END_UNRECEIVED, /* some messages were not received and must not match later receives */
    TSR_END_BROKEN      /* a rank did not arrive, or died: closing must not wait for all ranks */
} tsr_transport_end;

/*
 * Functions return 0, or an error code that `error_text` explains. None of them waits for a peer.
 * Messages between two ranks with the same tag are received in the order in which they were sent.
 * The library calls them from one thread at a time, the one that uses the world.
 */
typedef struct tsr_transport {
    uint32_t version;
    const char *name; /* "openmpi" */
    int64_t rank;
    int64_t size;
    size_t most_bytes;        /* of one message */
    int32_t most_tag;         /* tags are 0 to this, at least 32767 */
    TSR_NULLABLE void *state; /* the first argument of every function */

    /*
     * Starts to send, or to receive, exactly this number of bytes. The memory must stay valid until
     * the request is complete. The library posts a receive when a probe has found a message of that
     * size, or when the size is the same in all calls and was compared when the world was opened.
     */
    int (*send)(void *state, int64_t peer, int32_t tag, const void *data, size_t bytes,
                void **request);
    int (*receive)(void *state, int64_t peer, int32_t tag, void *data, size_t bytes,
                   void **request);
    /* Sets whether a request is complete; if so, frees it and sets *request to NULL. */
    int (*test)(void *state, void **request, bool *done);
    /*
     * Cancels a request. A receive no longer writes to its memory; a message that is being sent may
     * still arrive, and its memory must stay valid.
     */
    int (*cancel)(void *state, void **request);
    /*
     * Sets whether a message with a tag has arrived, from a peer or from any, for which no receive
     * is posted; and the sender and the size of the first one, which the next receive from that
     * sender with that tag gets.
     */
    int (*probe)(void *state, int64_t peer, int32_t tag, bool *found, int64_t *from, size_t *bytes);
    const char *(*error_text)(void *state, int error);
    /* Ends all processes of the job at once. */
    void (*abort)(void *state, int code);
    void (*close)(void *state, tsr_transport_end how);
} tsr_transport;

/*
 * The entry point of a plug-in: fills in a table for the processes of `comm`, the address of an
 * MPI_Comm or of another object that the plug-in expects; NULL for all processes that the launcher
 * started. On failure it returns a number other than 0 and writes the reason to `error`, which has
 * room for `size` bytes. Collective over those processes.
 */
typedef int tsr_transport_open_function(uint32_t version, const void *comm, tsr_transport *out,
                                        char *error, size_t size);
#define TSR_TRANSPORT_OPEN "tsr_transport_open"

#ifdef __cplusplus
}
#endif

#endif

/*
 * A transport over MPI, compiled once for each implementation as a plug-in: it needs MPI 3 and
 * <tessera/transport.h>, nothing else of the library.
 *
 * If MPI is not initialised, the plug-in initialises it, and finalises it when the process exits;
 * unless a world ended broken: finalising would wait for a process that never arrives, and exiting
 * without it makes mpirun end the job.
 */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/transport.h>

/* The build defines which MPI this is compiled for. */
#ifndef TSR_MPI_NAME
#define TSR_MPI_NAME "mpi"
#endif

typedef struct world {
    MPI_Comm comm; /* a duplicate, so that its messages are separate from all others */
    char text[MPI_MAX_ERROR_STRING];
} world;

/* A request in flight. */
typedef struct request {
    MPI_Request mpi;
    bool receives;
} request;

static bool broken;

static void finalize_at_exit(void)
{
    int done = 0;
    (void)MPI_Finalized(&done);
    if (!done && !broken) {
        (void)MPI_Finalize();
    }
}

static int start(const world *w, int64_t peer, int32_t tag, void *to, const void *from,
                 size_t bytes, void **out)
{
    request *r = malloc(sizeof *r);
    if (r == NULL) {
        return MPI_ERR_NO_MEM;
    }
    r->receives = to != NULL;
    const int error = r->receives
                          ? MPI_Irecv(to, (int)bytes, MPI_BYTE, (int)peer, tag, w->comm, &r->mpi)
                          : MPI_Isend(from, (int)bytes, MPI_BYTE, (int)peer, tag, w->comm, &r->mpi);
    if (error != MPI_SUCCESS) {
        free(r);
        return error;
    }
    *out = r;
    return 0;
}

static int mpi_send(void *state, int64_t peer, int32_t tag, const void *data, size_t bytes,
                    void **out)
{
    return start(state, peer, tag, NULL, data, bytes, out);
}

static int mpi_receive(void *state, int64_t peer, int32_t tag, void *data, size_t bytes, void **out)
{
    return start(state, peer, tag, data, NULL, bytes, out);
}

static int mpi_test(void *state, void **out, bool *done)
{
    request *r = *out;
    int flag = 0;
    (void)state;
    const int error = MPI_Test(&r->mpi, &flag, MPI_STATUS_IGNORE);
    *done = flag != 0;
    if (flag) {
        free(r);
        *out = NULL;
    }
    return error == MPI_SUCCESS ? 0 : error;
}

static int mpi_cancel(void *state, void **out)
{
    request *r = *out;
    int error = MPI_SUCCESS;
    (void)state;
    if (r->receives) {
        error = MPI_Cancel(&r->mpi);
        if (error == MPI_SUCCESS) {
            error = MPI_Wait(&r->mpi, MPI_STATUS_IGNORE);
        }
    } else {
        error = MPI_Request_free(&r->mpi);
    }
    free(r);
    *out = NULL;
    return error == MPI_SUCCESS ? 0 : error;
}

/* A size that an int cannot hold is none that this transport sends. */
static int mpi_probe(void *state, int64_t peer, int32_t tag, bool *found, int64_t *from,
                     size_t *bytes)
{
    const world *w = state;
    const int source = peer == TSR_ANY_PEER ? MPI_ANY_SOURCE : (int)peer;
    MPI_Status status;
    int flag = 0;
    int count = MPI_UNDEFINED;
    int error = MPI_Iprobe(source, tag, w->comm, &flag, &status);
    if (error == MPI_SUCCESS && flag) {
        error = MPI_Get_count(&status, MPI_BYTE, &count);
        *from = status.MPI_SOURCE;
        *bytes = count == MPI_UNDEFINED ? SIZE_MAX : (size_t)count;
    }
    *found = flag != 0;
    return error == MPI_SUCCESS ? 0 : error;
}

static const char *mpi_error_text(void *state, int error)
{
    world *w = state;
    int length = 0;
    if (MPI_Error_string(error, w->text, &length) != MPI_SUCCESS) {
        (void)snprintf(w->text, sizeof w->text, "error %d", error);
    }
    return w->text;
}

static void mpi_abort(void *state, int code)
{
    const world *w = state;
    (void)MPI_Abort(w->comm, code);
}

/* Whether a message has arrived that was not received. */
static bool has_message(const world *w)
{
    int found = 0;
    return MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &found, MPI_STATUS_IGNORE) !=
               MPI_SUCCESS ||
           found;
}

/*
 * A communicator with messages is not freed: a later one may reuse its id and receive them, and
 * MPICH 4.2 ends the process. A peer whose call failed may have sent some without this rank's
 * knowledge.
 */
static void mpi_close(void *state, tsr_transport_end how)
{
    world *w = state;
    broken = broken || how == TSR_END_BROKEN;
    if (how == TSR_END_CLEAN && !has_message(w)) {
        (void)MPI_Comm_free(&w->comm);
    }
    free(w);
}

/* Initialises MPI unless it is initialised already. */
static int initialise(void)
{
    int started = 0;
    int ended = 0;
    int level = 0;
    (void)MPI_Initialized(&started);
    (void)MPI_Finalized(&ended);
    if (ended) {
        return MPI_ERR_OTHER;
    }
    if (started) {
        return MPI_SUCCESS;
    }
    const int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    if (error == MPI_SUCCESS && atexit(finalize_at_exit) != 0) {
        broken = true;
    }
    return error;
}

/* MPI would end the job for it: its own errors are fatal by default. */
static bool is_no_comm(const void *comm)
{
    MPI_Comm given = MPI_COMM_WORLD;
    if (comm != NULL) {
        memcpy(&given, comm, sizeof given);
    }
    return given == MPI_COMM_NULL;
}

static int duplicate(const void *comm, world *w)
{
    MPI_Comm from = MPI_COMM_WORLD;
    if (comm != NULL) {
        memcpy(&from, comm, sizeof from);
    }
    const int error = MPI_Comm_dup(from, &w->comm);
    return error == MPI_SUCCESS ? MPI_Comm_set_errhandler(w->comm, MPI_ERRORS_RETURN) : error;
}

static void fill(world *w, tsr_transport *out)
{
    int rank = 0;
    int size = 0;
    int found = 0;
    int *most_tag = NULL;
    (void)MPI_Comm_rank(w->comm, &rank);
    (void)MPI_Comm_size(w->comm, &size);
    (void)MPI_Comm_get_attr(w->comm, MPI_TAG_UB, &most_tag, &found);
    *out = (tsr_transport){.version = TSR_TRANSPORT_VERSION,
                           .name = TSR_MPI_NAME,
                           .rank = rank,
                           .size = size,
                           .most_bytes = INT_MAX,
                           .most_tag = found ? *most_tag : 32767,
                           .state = w,
                           .send = mpi_send,
                           .receive = mpi_receive,
                           .test = mpi_test,
                           .cancel = mpi_cancel,
                           .probe = mpi_probe,
                           .error_text = mpi_error_text,
                           .abort = mpi_abort,
                           .close = mpi_close};
}

TSR_API tsr_transport_open_function tsr_transport_open;

int tsr_transport_open(uint32_t version, const void *comm, tsr_transport *out, char *error,
                       size_t size)
{
    if (version != TSR_TRANSPORT_VERSION) {
        (void)snprintf(error, size, "the plug-in has version %u, the library version %u",
                       (unsigned)TSR_TRANSPORT_VERSION, (unsigned)version);
        return 1;
    }
    if (is_no_comm(comm)) {
        (void)snprintf(error, size,
                       "the communicator is MPI_COMM_NULL; only members of the group open a world");
        return 1;
    }
    world *w = malloc(sizeof *w);
    int code = w == NULL ? MPI_ERR_NO_MEM : initialise();
    if (code == MPI_SUCCESS) {
        code = duplicate(comm, w);
    }
    if (code != MPI_SUCCESS) {
        (void)snprintf(error, size, "MPI says: %s",
                       w != NULL ? mpi_error_text(w, code) : "no memory");
        free(w);
        return 1;
    }
    fill(w, out);
    return 0;
}

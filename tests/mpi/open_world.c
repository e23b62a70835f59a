/*
 * An open world of two processes under mpirun: runs, mistakes of both, and at the end, by the
 * argument, nothing more ("fine"), a rank that fails alone ("alone") or one that stops ("stop").
 * Each process prints what it came to.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tessera/tessera.h>

#define INSIST(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            const tsr_diagnostic *d = tsr_context_diagnostics(ctx);                                \
            printf("line %d: %s\n", __LINE__, d != NULL ? d->text : "no message");                 \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static tsr_status add_ranks(tsr_comm *world, void *state)
{
    double mine = (double)tsr_comm_rank(world) + 1;
    const tsr_view src = {&mine, TSR_F64, 0, NULL, NULL};
    const tsr_view dst = {state, TSR_F64, 0, NULL, NULL};
    return tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &src, &dst);
}

static tsr_status refuse(tsr_comm *world, void *state)
{
    tsr_dtype dtype;
    (void)state;
    return tsr_dtype_parse(tsr_comm_context(world), "f33", &dtype);
}

static tsr_status call_barrier(tsr_comm *world, void *state)
{
    (void)state;
    return tsr_barrier(world);
}

static void *stop_soon(void *world)
{
    usleep(100000);
    tsr_world_stop(world);
    return NULL;
}

/* One process waits for the other, which fails alone and closes; or is stopped while it waits. */
static int end_badly(tsr_context *ctx, tsr_world *world, const char *how)
{
    const int64_t rank = tsr_comm_rank(tsr_world_comm(world, 0));
    pthread_t stopper;
    if (strcmp(how, "alone") == 0 && rank == 1) {
        INSIST(tsr_world_run(world, refuse, NULL) == TSR_ERR_INVALID);
    } else if (strcmp(how, "alone") == 0) {
        INSIST(tsr_world_run(world, call_barrier, NULL) == TSR_ERR_PEER);
        printf("%s\n", tsr_context_diagnostics(ctx)->text);
    } else if (rank == 0) {
        INSIST(pthread_create(&stopper, NULL, stop_soon, world) == 0);
        INSIST(tsr_world_run(world, call_barrier, NULL) == TSR_ERR_PEER);
        INSIST(pthread_join(stopper, NULL) == 0);
        printf("%s\n", tsr_context_diagnostics(ctx)->text);
        tsr_context_clear(ctx);
        INSIST(tsr_world_run(world, call_barrier, NULL) == TSR_ERR_PEER);
    } else {
        usleep(300000);
        INSIST(tsr_world_run(world, call_barrier, NULL) < 0);
    }
    tsr_context_clear(ctx);
    INSIST(tsr_world_close(world) == TSR_OK);
    return 0;
}

int main(int argc, char **argv)
{
    const tsr_launch_spec spec = {.timeout = 20};
    tsr_context *ctx = NULL;
    tsr_world *world = NULL;
    double sum = 0;
    INSIST(argc == 2 && tsr_context_create(NULL, &ctx) == TSR_OK);
    INSIST(tsr_world_open(ctx, &spec, &world) == TSR_OK);
    INSIST(tsr_world_size(world) == 2 && tsr_world_num_local(world) == 1);
    for (int i = 0; i < 100; i++) {
        INSIST(tsr_world_run(world, add_ranks, &sum) == TSR_OK && sum == 3);
        INSIST(tsr_world_run(world, refuse, NULL) == TSR_ERR_INVALID);
        INSIST(strcmp(tsr_context_diagnostics(ctx)->text, "unknown element type 'f33'") == 0);
        tsr_context_clear(ctx);
        INSIST(tsr_world_start(world, call_barrier, NULL) == TSR_OK);
        INSIST(tsr_world_wait(world, 0) == TSR_OK);
    }
    INSIST(tsr_comm_close(tsr_world_comm(world, 0)) == TSR_ERR_INVALID);
    if (strcmp(argv[1], "fine") != 0) {
        return end_badly(ctx, world, argv[1]);
    }
    INSIST(tsr_world_close(world) == TSR_OK);
    tsr_context_destroy(ctx);
    printf("fine\n");
    return 0;
}

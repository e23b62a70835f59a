/*
 * Ranks that call barriers until one is killed; or, with a second argument, of which the last never
 * comes, whereupon the others end the job; or, when that is "train", that move and reduce arrays
 * until one is stopped or dies. Writes the process ids to files named by rank in the folder of the
 * first argument; those that train also write when they have noticed, to ended.0 and so on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tessera/tessera.h>

static bool trains(char *const *arguments)
{
    return arguments[2] != NULL && strcmp(arguments[2], "train") == 0;
}

/* Arrays through memory or messages, small sums, and rendezvous without either. */
static tsr_status take_step(tsr_comm *world)
{
    static float mine[1 << 16];
    static float sum[1 << 16];
    const int64_t count = 1 << 16;
    const int64_t few = 4;
    const tsr_view src = {mine, TSR_F32, 1, &count, NULL};
    const tsr_view dst = {sum, TSR_F32, 1, &count, NULL};
    const tsr_view small = {mine, TSR_F32, 1, &few, NULL};
    const tsr_view result = {sum, TSR_F32, 1, &few, NULL};
    tsr_request started;
    tsr_status status = tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &src, &dst);
    if (status == TSR_OK) {
        status = tsr_comm_all_reduce_start(world, TSR_REDUCE_SUM, &src, &dst, &started);
        status = status == TSR_OK ? tsr_wait(world, started) : status;
    }
    if (status == TSR_OK) {
        status = tsr_comm_all_reduce(world, TSR_REDUCE_MAX, &small, &result);
    }
    return status == TSR_OK ? tsr_barrier(world) : status;
}

/* Notes the time at which this rank heard of the failure, in milliseconds. */
static void note_end(const char *folder, int64_t rank)
{
    char path[4096];
    char part[4096];
    struct timespec now;
    (void)snprintf(path, sizeof path, "%s/ended.%lld", folder, (long long)rank);
    (void)snprintf(part, sizeof part, "%s/part.%lld", folder, (long long)rank);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    FILE *file = fopen(part, "w");
    if (file != NULL) {
        (void)fprintf(file, "%lld\n", (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
        (void)fclose(file);
        (void)rename(part, path);
    }
}

static tsr_status train(tsr_comm *world, const char *folder)
{
    tsr_status status = TSR_OK;
    while (status == TSR_OK) {
        status = take_step(world);
    }
    (void)fprintf(stderr, "%s\n", tsr_context_diagnostics(tsr_comm_context(world))->text);
    note_end(folder, tsr_comm_rank(world));
    return status;
}

static tsr_status wait_for_ever(tsr_comm *world, void *state)
{
    char path[4096];
    char **arguments = state;
    (void)snprintf(path, sizeof path, "%s/%lld", arguments[1], (long long)tsr_comm_rank(world));
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "%lld\n", (long long)getpid()) < 0 || fclose(file) != 0) {
        return TSR_ERR_INVALID;
    }
    if (trains(arguments)) {
        return train(world, arguments[1]);
    }
    while (arguments[2] != NULL && tsr_comm_rank(world) == tsr_comm_size(world) - 1) {
        (void)sleep(1);
    }
    tsr_status status = TSR_OK;
    while (status == TSR_OK) {
        status = tsr_barrier(world);
    }
    if (arguments[2] != NULL) {
        (void)fprintf(stderr, "%s\n", tsr_context_diagnostics(tsr_comm_context(world))->text);
        tsr_comm_abort(world, 3);
    }
    return status;
}

int main(int argc, char **argv)
{
    tsr_context *ctx;
    if (argc < 2 || tsr_context_create(NULL, &ctx) < 0) {
        return 2;
    }
    const tsr_launch_spec spec = {
        .ranks = TSR_RANKS_MPI, .timeout = argc > 2 ? 0.5 : 60, .segment_bytes = (size_t)1 << 24};
    const tsr_status status = tsr_launch(ctx, &spec, wait_for_ever, argv);
    for (const tsr_diagnostic *d = tsr_context_diagnostics(ctx); d != NULL; d = d->next) {
        (void)fprintf(stderr, "%s\n", d->text);
    }
    tsr_context_destroy(ctx);
    return status == TSR_OK ? 0 : 1;
}

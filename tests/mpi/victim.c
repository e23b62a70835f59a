/*
 * Ranks that call barriers until one is killed; or, with a second argument, of which the last never
 * comes, whereupon the others end the job. Writes the process ids to files named by rank in the
 * folder of the first argument.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tessera/tessera.h>

static tsr_status wait_for_ever(tsr_comm *world, void *state)
{
    char path[4096];
    char **arguments = state;
    (void)snprintf(path, sizeof path, "%s/%lld", arguments[1], (long long)tsr_comm_rank(world));
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "%lld\n", (long long)getpid()) < 0 || fclose(file) != 0) {
        return TSR_ERR_INVALID;
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

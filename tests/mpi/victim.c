/*
 * Ranks that meet again and again, or wait inside a call, until one is killed. Writes the process
 * ids to files named by rank in the folder of the first argument.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tessera/tessera.h>

static tsr_status meet_for_ever(tsr_comm *world, void *state)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%lld", (const char *)state,
                   (long long)tsr_comm_rank(world));
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "%lld\n", (long long)getpid()) < 0 || fclose(file) != 0) {
        return TSR_ERR_INVALID;
    }
    tsr_status status = TSR_OK;
    while (status == TSR_OK) {
        status = tsr_barrier(world);
    }
    return status;
}

int main(int argc, char **argv)
{
    tsr_context *ctx;
    if (argc < 2 || tsr_context_create(NULL, &ctx) < 0) {
        return 2;
    }
    const tsr_launch_spec spec = {.ranks = TSR_RANKS_MPI, .segment_bytes = (size_t)1 << 24};
    const tsr_status status = tsr_launch(ctx, &spec, meet_for_ever, argv[1]);
    for (const tsr_diagnostic *d = tsr_context_diagnostics(ctx); d != NULL; d = d->next) {
        (void)fprintf(stderr, "%s\n", d->text);
    }
    tsr_context_destroy(ctx);
    return status == TSR_OK ? 0 : 1;
}

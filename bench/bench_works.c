/*
 * The works of works.h on threads and forked processes, at 2 and 4 ranks; at 2 also with fresh
 * memory.
 */
#include <sys/mman.h>

#include "contest.h"

typedef struct bench_run {
    contest c;
    const contest_size *size;
    const work_row *row;
    contest_cold *sample; /* in memory that forked ranks share */
} bench_run;

static tsr_status run_warm(tsr_comm *world, void *state)
{
    const bench_run *run = state;
    contest c = run->c;
    c.world = world;
    contest_run(&c, run->size, NULL);
    return TSR_OK;
}

static tsr_status run_cold(tsr_comm *world, void *state)
{
    const bench_run *run = state;
    contest c = run->c;
    c.world = world;
    const contest_cold sample = contest_cold_once(&c, run->row);
    if (tsr_comm_rank(world) == 0) {
        *run->sample = sample;
    }
    return TSR_OK;
}

static void bench_cold(tsr_context *ctx, const tsr_launch_spec *spec, bench_run *run)
{
    const size_t bytes = COLD_ROUNDS * sizeof *run->sample;
    contest_cold *samples =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    INSIST(samples != MAP_FAILED);
    for (size_t i = 0; i < num_work_rows; i++) {
        run->row = &work_rows[i];
        if (!contest_has_cold(run->row)) {
            continue;
        }
        for (size_t round = 0; round < COLD_ROUNDS; round++) {
            run->sample = &samples[round];
            INSIST(tsr_launch(ctx, spec, run_cold, run) == TSR_OK);
        }
        contest_report_cold(&run->c, run->row, samples);
    }
    (void)munmap(samples, bytes);
}

int main(void)
{
    tsr_context *ctx;
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK);
    for (int64_t ranks = 2; ranks <= 4; ranks += 2) {
        for (int kind = TSR_RANKS_THREADS; kind <= TSR_RANKS_PROCESSES; kind++) {
            const tsr_launch_spec spec = {.num_ranks = ranks, .ranks = (tsr_ranks)kind};
            bench_run run = {.c = {.ranks = ranks,
                                   .kind = kind == TSR_RANKS_THREADS ? "threads" : "processes",
                                   .barrier = contest_barrier}};
            for (run.size = contest_sizes(); run.size->mebibytes > 0; run.size++) {
                INSIST(tsr_launch(ctx, &spec, run_warm, &run) == TSR_OK);
            }
            if (ranks == 2) {
                bench_cold(ctx, &spec, &run);
            }
        }
    }
    tsr_context_destroy(ctx);
    return 0;
}

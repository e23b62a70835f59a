#include "timing.h"

#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest of all ranks' numbers, on every rank. */
static tsr_status largest(tsr_comm *world, double mine, double *out) /* NOLINT */
{
    const tsr_view src = {&mine, TSR_F64, 0, NULL, NULL};
    const tsr_view dst = {out, TSR_F64, 0, NULL, NULL};
    return tsr_comm_all_reduce(world, TSR_REDUCE_MAX, &src, &dst);
}

/* One run, from when all ranks are ready to the end of the slowest. */
static tsr_status time_once(tsr_comm *world, timed_run run, void *state, double *out)
{
    tsr_status status = tsr_barrier(world);
    const double start = seconds();
    if (status == TSR_OK) {
        status = run(state);
    }
    return status == TSR_OK ? largest(world, seconds() - start, out) : status;
}

tsr_status timing_median(tsr_comm *world, int64_t times, timed_run run, void *state, double *out)
{
    double *samples = calloc((size_t)times, sizeof *samples);
    tsr_status status = samples != NULL ? TSR_OK : TSR_ERR_NOMEM;
    for (int64_t i = -1; i < times && status == TSR_OK; i++) {
        status = time_once(world, run, state, &samples[i < 0 ? 0 : i]);
    }
    if (status == TSR_OK) {
        qsort(samples, (size_t)times, sizeof *samples, by_value);
        *out = samples[times / 2];
    }
    free(samples);
    return status;
}

size_t timing_part_bytes(const tsr_tensor *t)
{
    size_t bytes = (size_t)tsr_dtype_item_bytes(tsr_tensor_dtype(t));
    for (size_t i = 0; i < tsr_tensor_rank(t); i++) {
        bytes *= (size_t)tsr_tensor_local_shape(t)[i];
    }
    return bytes;
}

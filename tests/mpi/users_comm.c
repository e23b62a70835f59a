/*
 * A program that uses MPI itself and hands over its communicators: all processes, and the odd and
 * the even ones apart, at the same time. Compiled once for each MPI.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

#define INSIST(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

static int64_t sum_over(tsr_comm *world, int64_t value)
{
    int64_t sum = 0;
    const tsr_view src = {&value, TSR_I64, 0, NULL, NULL};
    const tsr_view dst = {&sum, TSR_I64, 0, NULL, NULL};
    INSIST(tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &src, &dst) == TSR_OK);
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    int size;
    MPI_Comm half;
    MPI_Comm all = MPI_COMM_WORLD;
    tsr_context *ctx;
    tsr_comm *world = NULL;
    tsr_comm *part = NULL;
    INSIST(MPI_Init(&argc, &argv) == MPI_SUCCESS);
    INSIST(MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS);
    INSIST(MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS);
    INSIST(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half) == MPI_SUCCESS);
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK);
    MPI_Comm none = MPI_COMM_NULL;
    INSIST(tsr_comm_open_mpi(ctx, &none, NULL, &world) < 0 && world == NULL);
    INSIST(strstr(tsr_context_diagnostics(ctx)->text, "MPI_COMM_NULL") != NULL);
    tsr_context_clear(ctx);
    INSIST(tsr_comm_open_mpi(ctx, &all, NULL, &world) == TSR_OK);
    INSIST(tsr_comm_open_mpi(ctx, &half, NULL, &part) == TSR_OK);
    INSIST(tsr_comm_rank(world) == rank && tsr_comm_size(world) == size);
    int half_rank;
    INSIST(MPI_Comm_rank(half, &half_rank) == MPI_SUCCESS);
    INSIST(tsr_comm_rank(part) == half_rank);
    INSIST(sum_over(world, rank) == (int64_t)size * (size - 1) / 2);
    int64_t want = 0;
    for (int i = rank % 2; i < size; i += 2) {
        want += i;
    }
    INSIST(sum_over(part, rank) == want);
    INSIST(tsr_comm_close(part) == TSR_OK);
    INSIST(tsr_comm_close(world) == TSR_OK);
    /* The program's own messages go on. */
    int seen = 0;
    INSIST(MPI_Allreduce(&rank, &seen, 1, MPI_INT, MPI_MAX, half) == MPI_SUCCESS);
    tsr_context_destroy(ctx);
    INSIST(MPI_Comm_free(&half) == MPI_SUCCESS);
    INSIST(MPI_Finalize() == MPI_SUCCESS);
    if (rank == 0) {
        puts("fine");
    }
    return 0;
}

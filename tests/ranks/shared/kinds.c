#include "kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct {
    const char *name;
    tsr_ranks ranks;
} kinds[] = {
    {"threads", TSR_RANKS_THREADS},  {"processes", TSR_RANKS_PROCESSES},
    {"messages", RANKS_BY_MESSAGES}, {"joined", RANKS_JOINED},
    {"mpi", TSR_RANKS_MPI},
};

static tsr_ranks chosen;

void kinds_choose(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[1], kinds[i].name) == 0) {
            chosen = kinds[i].ranks;
            return;
        }
    }
    (void)fprintf(stderr, "usage: %s threads|processes|messages|joined|mpi\n", argv[0]);
    exit(2);
}

tsr_ranks kinds_chosen(void)
{
    return chosen;
}

/* How many processes mpirun started. */
static int64_t launched(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    size = size != NULL ? size : getenv("PMI_SIZE");
    return size != NULL ? atoll(size) : 1;
}

bool kinds_next_count(size_t *at, int64_t most, int64_t *count)
{
    static const int64_t all[] = {1, 2, 3, 4, 7, 8, 11, 0};
    static const int64_t few[] = {1, 2, 3, 7, 0};
    const int64_t *counts = chosen != TSR_RANKS_THREADS && tests_are_sampled() ? few : all;
    const bool mpi = chosen == TSR_RANKS_MPI;
    if (mpi ? *at > 0 : counts[*at] == 0) {
        return false;
    }
    *count = mpi ? launched() : counts[*at];
    (*at)++;
    return mpi || *count <= most;
}

size_t kinds_num_counts(int64_t most)
{
    int64_t count = 0;
    size_t found = 0;
    for (size_t at = 0; kinds_next_count(&at, most, &count);) {
        found++;
    }
    return found;
}

void *shared_new(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

void shared_free(void *memory, size_t bytes)
{
    (void)munmap(memory, bytes);
}

/*
 * Where the ranks of a world are: rank r is device r of a topology. Traffic is then counted by
 * level too, at the outermost level in which two ranks differ.
 */
#ifndef RT_LEVELS_H
#define RT_LEVELS_H

#include <stdint.h>

#include <tessera/topology.h>

/* Of one rank, as it was told; on all ranks the same. */
typedef struct rank_levels {
    size_t count;                    /* 0: nothing is counted by level */
    int64_t strides[TSR_MAX_LEVELS]; /* ranks that differ at level l, and at no outer one, are in
                                        different groups of strides[l] ranks */
    uint64_t hash;                   /* of the topology */
} rank_levels;

/* The levels of a topology that is fitted to the ranks. */
rank_levels rank_levels_of(const tsr_topology *topology);

/* The level at which two ranks differ first; `count` if they are one. */
static inline size_t rank_levels_between(const rank_levels *levels, int64_t a, int64_t b)
{
    size_t l = 0;
    while (l < levels->count && a / levels->strides[l] == b / levels->strides[l]) {
        l++;
    }
    return l;
}

#endif

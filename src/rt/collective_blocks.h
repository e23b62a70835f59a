/* Cutting an array into blocks that fit a cache. */
#ifndef RT_COLLECTIVE_BLOCKS_H
#define RT_COLLECTIVE_BLOCKS_H

#include <tessera/base.h>

/*
 * The blocks of a shape, in row-major order: one index of the dimensions before `dim`, up to `rows`
 * indices of `dim`, all indices of the dimensions after it.
 */
typedef struct blocks {
    const int64_t *shape;
    size_t rank;
    size_t dim;
    int64_t rows;
    int64_t each; /* how many there are along `dim` */
    int64_t count;
} blocks;

/* Blocks of at most `most` elements, at least 1, of about the same size along the dimension cut. */
blocks blocks_of(const int64_t *shape, size_t rank, int64_t most);

/* The first index and the sizes of a block. */
void blocks_at(const blocks *b, int64_t index, int64_t *start, int64_t *size);

#endif

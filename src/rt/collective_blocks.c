#include "rt/collective_blocks.h"

#include "base/base.h"

/* The first dimension whose inner ones fit into a block; their elements. */
static size_t dim_to_cut(const int64_t *shape, size_t rank, int64_t most, int64_t *inner)
{
    size_t dim = rank;
    *inner = 1;
    while (dim > 1 && shape[dim - 1] <= most / *inner) {
        *inner *= shape[--dim];
    }
    return dim > 0 ? dim - 1 : 0;
}

blocks blocks_of(const int64_t *shape, size_t rank, int64_t most)
{
    blocks b = {.shape = shape, .rank = rank, .rows = 1, .each = 1, .count = 1};
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] == 0) {
            b.count = 0;
            return b;
        }
    }
    if (rank == 0) {
        return b;
    }
    int64_t inner;
    b.dim = dim_to_cut(shape, rank, most, &inner);
    b.each = ceil_div(shape[b.dim], max_i64(most / inner, 1));
    b.rows = ceil_div(shape[b.dim], b.each);
    b.each = ceil_div(shape[b.dim], b.rows);
    b.count = b.each;
    for (size_t i = 0; i < b.dim; i++) {
        b.count *= shape[i];
    }
    return b;
}

void blocks_at(const blocks *b, int64_t index, int64_t *start, int64_t *size)
{
    for (size_t i = b->dim + 1; i < b->rank; i++) {
        start[i] = 0;
        size[i] = b->shape[i];
    }
    if (b->rank == 0) {
        return;
    }
    start[b->dim] = index % b->each * b->rows;
    size[b->dim] = min_i64(b->rows, b->shape[b->dim] - start[b->dim]);
    index /= b->each;
    for (size_t i = b->dim; i-- > 0;) {
        start[i] = index % b->shape[i];
        size[i] = 1;
        index /= b->shape[i];
    }
}

/*
 * An all-reduce whose arrays other members cannot reach goes through the segments, in pieces: a
 * segment need not have room for an array. A piece is a range of rows of one dimension, with one
 * row of each dimension before it and all of those after it. All members cut alike.
 */
#include "base/base.h"
#include "base/map.h"
#include "rt/collective.h"

enum { PIECE_BYTES = 8 << 20, SEGMENT_SHARE = 8 };

/* The dimension that is cut, and how many of its rows go into a piece. */
static void find_cut(coll_pieces *p, size_t rank, size_t item, int64_t limit)
{
    int64_t row = (int64_t)item; /* bytes of a row of the dimension */
    p->dim = rank;
    while (p->dim > 0 && row * p->src.shape[p->dim - 1] <= limit) {
        row *= p->src.shape[--p->dim];
    }
    p->rows = 1;
    p->count = 1;
    if (p->dim > 0) {
        p->dim--;
        p->rows = max_i64(limit / row, 1);
        p->count = ceil_div(p->src.shape[p->dim], p->rows);
    }
    for (size_t d = 0; d < p->dim; d++) {
        p->count *= p->src.shape[d];
    }
}

/* Narrows an array of the whole call to the current piece. */
static void narrow(const coll_task *x, const array *whole, array *out)
{
    const coll_pieces *p = &x->pieces;
    int64_t left = p->at;
    *out = *whole;
    out->bytes = (int64_t)x->item;
    out->low = 0;
    out->high = (int64_t)x->item;
    for (size_t d = p->count > 1 ? p->dim + 1 : 0; d-- > 0;) {
        const bool cut = d == p->dim;
        const int64_t choices = cut ? ceil_div(whole->shape[d], p->rows) : whole->shape[d];
        const int64_t start = left % choices * (cut ? p->rows : 1);
        left /= choices;
        out->shape[d] = cut ? min_i64(p->rows, whole->shape[d] - start) : 1;
        out->data += start * whole->strides[d];
    }
    for (size_t d = 0; d < x->rank; d++) {
        const int64_t reach = (out->shape[d] - 1) * out->strides[d];
        out->bytes *= out->shape[d];
        *(reach < 0 ? &out->low : &out->high) += reach;
    }
}

bool pieces_next(coll_task *x)
{
    coll_pieces *p = &x->pieces;
    if (p->count == 0) {
        const int64_t share = (int64_t)(x->comm->team->segment_bytes / SEGMENT_SHARE);
        p->src = x->src;
        p->dst = x->dst;
        p->at = -1;
        p->count = 1;
        if (x->src.bytes > 0) {
            find_cut(p, x->rank, x->item, min_i64(share, PIECE_BYTES));
        }
    }
    if (++p->at == p->count) {
        return false;
    }
    if (p->src.bytes > 0) {
        narrow(x, &p->src, &x->src);
        narrow(x, &p->dst, &x->dst);
    }
    return true;
}

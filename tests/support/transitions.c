#include "transitions.h"

#include <string.h>

#include "base/base.h"
#include "base/diag.h"

int64_t part_count(const part *p)
{
    int64_t count = 1;
    for (size_t d = 0; d < p->rank; d++) {
        count *= p->shape[d];
    }
    return count;
}

static tsr_view view_of(const part *p)
{
    union {
        const void *from;
        void *to;
    } data = {p->data};
    return (tsr_view){.data = data.to, .dtype = TSR_F64, .rank = p->rank, .shape = p->shape};
}

static size_t resolve(int64_t dim, size_t rank)
{
    return (size_t)(dim < 0 ? dim + (int64_t)rank : dim);
}

/* ---- on one rank ---- */

/* How many elements are before and after a dimension. */
static void around(const part *p, size_t dim, int64_t *outer, int64_t *inner)
{
    *outer = *inner = 1;
    for (size_t d = 0; d < p->rank; d++) {
        *(d < dim ? outer : inner) *= d == dim ? 1 : p->shape[d];
    }
}

static void insert_dim(part *p, size_t dim)
{
    memmove(&p->shape[dim + 1], &p->shape[dim], (p->rank - dim) * sizeof p->shape[0]);
    p->shape[dim] = 1;
    p->rank++;
}

static void drop_dim(part *p, size_t dim)
{
    memmove(&p->shape[dim], &p->shape[dim + 1], (p->rank - dim - 1) * sizeof p->shape[0]);
    p->rank--;
}

static void slice_dim(const part *in, size_t dim, int64_t start, int64_t count, part *out)
{
    part result = {.rank = in->rank};
    int64_t outer;
    int64_t inner;
    memcpy(result.shape, in->shape, sizeof result.shape);
    result.shape[dim] = count;
    around(in, dim, &outer, &inner);
    for (int64_t o = 0; o < outer; o++) {
        memcpy(&result.data[o * count * inner], &in->data[(o * in->shape[dim] + start) * inner],
               (size_t)(count * inner) * sizeof(double));
    }
    *out = result;
}

/* Zeros, and the part among them. */
static void embed_dim(const part *in, size_t dim, int64_t start, int64_t total, part *out)
{
    part result = {.rank = in->rank};
    int64_t outer;
    int64_t inner;
    memcpy(result.shape, in->shape, sizeof result.shape);
    result.shape[dim] = total;
    around(in, dim, &outer, &inner);
    for (int64_t o = 0; o < outer; o++) {
        memcpy(&result.data[(o * total + start) * inner], &in->data[o * in->shape[dim] * inner],
               (size_t)(in->shape[dim] * inner) * sizeof(double));
    }
    *out = result;
}

/* Puts dimension `from` at `to`. */
static void move_dim(const part *in, size_t from, size_t to, part *out)
{
    part result = {.rank = in->rank};
    size_t order[MAX_RANK] = {0};
    size_t at = 0;
    for (size_t d = 0; d < in->rank; d++) {
        at += d == from ? 0 : 1;
        order[d == from ? in->rank - 1 : at - 1] = d;
    }
    for (size_t d = in->rank - 1; d > to; d--) {
        order[d] = order[d - 1];
    }
    order[to] = from;
    for (size_t d = 0; d < in->rank; d++) {
        result.shape[d] = in->shape[order[d]];
    }
    for (int64_t i = 0; i < part_count(in); i++) {
        int64_t rest = i;
        int64_t index[MAX_RANK] = {0};
        int64_t place = 0;
        for (size_t d = in->rank; d-- > 0; rest /= result.shape[d]) {
            index[order[d]] = rest % result.shape[d];
        }
        for (size_t d = 0; d < in->rank; d++) {
            place = place * in->shape[d] + index[d];
        }
        result.data[i] = in->data[place];
    }
    *out = result;
}

/* The rows of a shard: explicit, or chunks of ceil. */
static int64_t rows_of(int64_t extent, int64_t size, int64_t index, const int64_t *sizes)
{
    const int64_t chunk = ceil_div(extent, size);
    return sizes != NULL ? sizes[index] : max_i64(0, min_i64(chunk, extent - chunk * index));
}

static int64_t start_of(int64_t extent, int64_t size, int64_t index, const int64_t *sizes)
{
    int64_t start = 0;
    for (int64_t i = 0; i < index; i++) {
        start += rows_of(extent, size, i, sizes);
    }
    return start;
}

/* ---- calls ---- */

static tsr_status run_all_reduce(tsr_comm *comm, const tsr_transition *t, const part *in, part *out)
{
    *out = *in;
    const tsr_view view = view_of(out);
    return tsr_comm_all_reduce(comm, (tsr_reduce_op)t->src.partial, &view, &view);
}

static tsr_status run_all_gather(tsr_comm *comm, const tsr_transition *t, const int64_t *sizes,
                                 const part *in, part *out)
{
    part src = *in;
    int64_t counts[64];
    const bool stacks = t->src.dim == TSR_NO_DIM;
    const size_t dim = resolve(stacks ? t->gather_dim : t->src.dim, in->rank + (stacks ? 1 : 0));
    if (stacks) {
        insert_dim(&src, dim);
    }
    *out = src;
    out->shape[dim] = 0;
    for (int64_t i = 0; i < tsr_comm_size(comm); i++) {
        counts[i] = sizes != NULL ? sizes[i] : src.shape[dim];
        out->shape[dim] += counts[i];
    }
    const tsr_view from = view_of(&src);
    const tsr_view to = view_of(out);
    return tsr_comm_all_gather_v(comm, &from, dim, counts, &to);
}

static tsr_status run_reduce_scatter(tsr_comm *comm, const tsr_transition *t, const int64_t *sizes,
                                     const part *in, part *out)
{
    int64_t counts[64];
    const bool unbinds = t->dst.dim == TSR_NO_DIM;
    const size_t dim = resolve(unbinds ? t->scatter_dim : t->dst.dim, in->rank);
    for (int64_t i = 0; i < tsr_comm_size(comm); i++) {
        counts[i] = rows_of(in->shape[dim], tsr_comm_size(comm), i, sizes);
    }
    *out = *in;
    out->shape[dim] = counts[tsr_comm_rank(comm)];
    const tsr_view from = view_of(in);
    const tsr_view to = view_of(out);
    const tsr_status status =
        tsr_comm_reduce_scatter_v(comm, (tsr_reduce_op)t->src.partial, &from, dim, counts, &to);
    if (unbinds) {
        drop_dim(out, dim);
    }
    return status;
}

static tsr_status run_all_to_all(tsr_comm *comm, const tsr_transition *t, const part *in, part *out)
{
    const bool plain = t->src.dim == TSR_NO_DIM && t->dst.dim == TSR_NO_DIM;
    const bool along = t->src.dim == TSR_NO_DIM; /* where the pieces of a plain V are put */
    const size_t split = resolve(t->dst.dim == TSR_NO_DIM ? t->scatter_dim : t->dst.dim, in->rank);
    const size_t concat = plain ? split : resolve(along ? t->gather_dim : t->src.dim, in->rank);
    *out = *in;
    out->shape[split] /= tsr_comm_size(comm);
    out->shape[concat] *= tsr_comm_size(comm);
    const tsr_view from = view_of(in);
    const tsr_view to = view_of(out);
    const tsr_status status = tsr_comm_all_to_all(comm, &from, split, concat, &to);
    if (plain) {
        const part moved = *out;
        move_dim(&moved, split, resolve(t->gather_dim, in->rank), out);
    }
    return status;
}

static tsr_status run_convert(tsr_comm *comm, const tsr_transition *t, const int64_t *sizes,
                              const part *in, part *out)
{
    const int64_t size = tsr_comm_size(comm);
    const int64_t me = tsr_comm_rank(comm);
    *out = *in;
    if (t->src.kind != TSR_V && t->dst.kind == TSR_V) {
        const bool unbinds = t->dst.dim == TSR_NO_DIM;
        const size_t dim = resolve(unbinds ? t->scatter_dim : t->dst.dim, in->rank);
        slice_dim(in, dim, start_of(in->shape[dim], size, me, sizes),
                  rows_of(in->shape[dim], size, me, sizes), out);
        if (unbinds) {
            drop_dim(out, dim);
        }
    } else if (t->src.kind == TSR_V && t->dst.kind == TSR_P) {
        part src = *in;
        const bool stacks = t->src.dim == TSR_NO_DIM;
        const size_t dim =
            resolve(stacks ? t->gather_dim : t->src.dim, in->rank + (stacks ? 1 : 0));
        if (stacks) {
            insert_dim(&src, dim);
        }
        const int64_t total =
            sizes != NULL ? start_of(0, size, size, sizes) : src.shape[dim] * size;
        embed_dim(&src, dim, start_of(total, size, me, sizes), total, out);
    } else if (t->dst.kind == TSR_P && t->src.kind != TSR_P && me != 0) {
        memset(out->data, 0, sizeof out->data);
    }
    return TSR_OK;
}

tsr_status transition_run(tsr_comm *comm, const tsr_transition *t, const int64_t *sizes,
                          const part *in, part *out)
{
    tsr_status status = TSR_OK;
    switch (t->op) {
    case TSR_ALL_REDUCE:
        status = run_all_reduce(comm, t, in, out);
        break;
    case TSR_ALL_GATHER:
        status = run_all_gather(comm, t, sizes, in, out);
        break;
    case TSR_REDUCE_SCATTER:
        status = run_reduce_scatter(comm, t, sizes, in, out);
        break;
    case TSR_ALL_TO_ALL:
        status = run_all_to_all(comm, t, in, out);
        break;
    case TSR_REINTERPRET:
        *out = *in;
        break;
    case TSR_CONVERT:
        status = run_convert(comm, t, sizes, in, out);
        break;
    }
    for (int64_t i = 0; t->divide && i < part_count(out); i++) {
        out->data[i] /= (double)tsr_comm_size(comm);
    }
    return status;
}

/* ---- on threads ---- */

typedef struct values_run {
    const tsr_transition *t;
    const int64_t *sizes;
    const part *in;
    part *out;
} values_run;

static tsr_status run_values(tsr_comm *world, void *state)
{
    const values_run *run = state;
    const int64_t me = tsr_comm_rank(world);
    return transition_run(world, run->t, run->sizes, &run->in[me], &run->out[me]);
}

tsr_status transition_on_threads(tsr_context *ctx, const tsr_transition *t, const int64_t *sizes,
                                 int64_t size, const part *in, part *out)
{
    values_run run = {t, sizes, in, out};
    const tsr_launch_spec spec = {.num_ranks = size, .ranks = TSR_RANKS_THREADS};
    return tsr_launch(ctx, &spec, run_values, &run);
}

/* Small whole numbers; the same on every rank unless the kind differs between them. */
static void fill(part *p, tsr_local_type kind, int64_t rank, uint32_t seed)
{
    uint32_t state = seed + (kind == TSR_V || kind == TSR_P ? 977 * (uint32_t)(rank + 1) : 0);
    for (int64_t i = 0; i < part_count(p); i++) {
        state = state * 1664525 + 1013904223;
        p->data[i] = (double)(state >> 28) - 7;
    }
}

/* What each rank gives to a pairing: that of I counts once. */
static double pairing(const part *a, const part *b, tsr_local_type kind, int64_t rank)
{
    double sum = 0;
    for (int64_t i = 0; i < part_count(a) && (kind != TSR_I || rank == 0); i++) {
        sum += a->data[i] * b->data[i];
    }
    return sum;
}

typedef struct adjoint_run {
    const tsr_transition *t;
    bool right;
} adjoint_run;

static tsr_status run_adjoint(tsr_comm *world, void *state)
{
    static const tsr_local_type duals[] = {TSR_UNTYPED, TSR_P, TSR_I, TSR_V, TSR_R};
    adjoint_run *run = state;
    const tsr_transition *t = run->t;
    const int64_t n = tsr_comm_size(world);
    const int64_t me = tsr_comm_rank(world);
    part x = {.rank = 3, .shape = {n, n, n}};
    part y;
    part gradient;
    tsr_transition steps[2];
    size_t num_steps;
    fill(&x, t->src.kind, me, 1);
    TSR_TRY(transition_run(world, t, NULL, &x, &y));
    gradient = y;
    fill(&gradient, duals[t->dst.kind], me, 2);
    double sums[2] = {pairing(&y, &gradient, t->dst.kind, me), 0};
    TSR_TRY(tsr_transition_backward(tsr_comm_context(world), t, steps, &num_steps));
    for (size_t i = 0; i < num_steps; i++) {
        part next;
        TSR_TRY(transition_run(world, &steps[i], NULL, &gradient, &next));
        gradient = next;
    }
    if (gradient.rank != x.rank || memcmp(gradient.shape, x.shape, 3 * sizeof x.shape[0]) != 0) {
        return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,
                          "the gradient has another shape than the value");
    }
    sums[1] = pairing(&x, &gradient, t->src.kind, me);
    const int64_t two = 2;
    const tsr_view view = {.data = sums, .dtype = TSR_F64, .rank = 1, .shape = &two};
    TSR_TRY(tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &view, &view));
    if (me == 0) {
        const double difference = sums[0] - sums[1];
        run->right = difference < 1e-9 && difference > -1e-9;
    }
    return TSR_OK;
}

tsr_status transition_is_adjoint(tsr_context *ctx, const tsr_transition *t, int64_t size, bool *out)
{
    adjoint_run run = {t, false};
    const tsr_launch_spec spec = {.num_ranks = size, .ranks = TSR_RANKS_THREADS};
    TSR_TRY(tsr_launch(ctx, &spec, run_adjoint, &run));
    *out = run.right;
    return TSR_OK;
}

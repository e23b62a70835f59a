#include "eager/transition.h"

#include <string.h>

#include "base/arena.h"
#include "kernel/elementwise.h"
#include "kernel/packed.h"
#include "spmd/transition.h"

/* ---- arrays ---- */

/* The layout of an array of this rank's own, in rows. */
static tsr_status local_layout(eager *e, tsr_dtype dtype, size_t rank, const int64_t *shape,
                               tensor_layout **out)
{
    if (rank > OP_MAX_RANK) {
        return diag_error(e->world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the maximum rank of a value is %d, this one would have rank %zu",
                          OP_MAX_RANK, rank);
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    tsr_tensor_spec spec = {.dtype = dtype, .rank = rank, .shape = shape};
    tsr_status status = tsr_sharding_replicated_over(e->world->ctx, e->arena, e->typing.mesh, rank,
                                                     false, &spec.sharding);
    if (status == TSR_OK) {
        status = layout_get(e->world, &spec, NULL, out);
    }
    tsr_arena_reset(e->arena, mark);
    return status;
}

tsr_status local_value(eager *e, tsr_dtype dtype, size_t rank, const int64_t *shape,
                       tsr_tensor **out)
{
    tensor_layout *layout = NULL;
    TSR_TRY(local_layout(e, dtype, rank, shape, &layout));
    const tsr_status status = tensor_of_layout(e->world, layout, NULL, out);
    layout_release(&e->world->state->layouts, layout);
    return status;
}

static void give_back(void *tensor)
{
    tsr_tensor_release(tensor);
}

tsr_status alias_tensor(tsr_tensor *tensor, tensor_layout *layout, tsr_tensor **out)
{
    if (is_abstract(tensor)) {
        eager *e = NULL;
        TSR_TRY(eager_of(tensor->world, &e));
        return make_abstract(e, layout, out);
    }
    TSR_TRY(tensor_of_layout(tensor->world, layout, tensor->data, out));
    (*out)->bytes = tensor->bytes;
    (*out)->on_release = give_back;
    (*out)->release_state = tsr_tensor_retain(tensor);
    return TSR_OK;
}

/* A view with a dimension of size 1 more, or without one. */
typedef struct other_view {
    tsr_view view;
    int64_t shape[OP_MAX_RANK + 1];
    int64_t strides[OP_MAX_RANK + 1];
} other_view;

static void with_dim(const tsr_tensor *t, size_t dim, other_view *out)
{
    const size_t rank = t->geometry->rank;
    out->view = view_of(t);
    for (size_t d = 0; d <= rank; d++) {
        const size_t from = d - (d > dim);
        out->shape[d] = d == dim ? 1 : t->local_shape[from];
        out->strides[d] = d == dim ? tsr_dtype_item_bytes(t->dtype) : t->strides[from];
    }
    out->view.rank = rank + 1;
    out->view.shape = out->shape;
    out->view.strides = out->strides;
}

/* `count` rows of a dimension from `first` on. */
static void part_of(const tsr_tensor *t, size_t dim, int64_t first, int64_t count, other_view *out)
{
    const size_t rank = t->geometry->rank;
    out->view = view_of(t);
    memcpy(out->shape, t->local_shape, rank * sizeof *out->shape);
    memcpy(out->strides, t->strides, rank * sizeof *out->strides);
    out->shape[dim] = count;
    if (count > 0) {
        out->view.data = (char *)t->data + first * t->strides[dim];
    }
    out->view.shape = out->shape;
    out->view.strides = out->strides;
}

/* The shape of a tensor with another size of one dimension, without it, or with one more. */
static void shape_with(const tsr_tensor *t, size_t dim, int64_t size, int64_t *shape)
{
    memcpy(shape, t->local_shape, t->geometry->rank * sizeof *shape);
    shape[dim] = size;
}

static void shape_without(const tsr_tensor *t, size_t dim, int64_t *shape)
{
    for (size_t d = 0, n = 0; d < t->geometry->rank; d++) {
        if (d != dim) {
            shape[n++] = t->local_shape[d];
        }
    }
}

static void shape_and_dim(const tsr_tensor *t, size_t dim, int64_t size, int64_t *shape)
{
    for (size_t d = 0; d <= t->geometry->rank; d++) {
        shape[d] = d == dim ? size : t->local_shape[d - (d > dim)];
    }
}

/* ---- counts ---- */

/* Rows of each member: as given, or even chunks of `whole`. */
static void counts_of(const transition_job *job, int64_t whole, int64_t *counts)
{
    const int64_t n = job->comm->size;
    const int64_t chunk = ceil_div(whole, n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = min_i64(i * chunk, whole);
        counts[i] = job->counts != NULL ? job->counts[i] : min_i64(chunk, whole - first);
    }
}

static int64_t sum_of(const int64_t *counts, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += counts[i];
    }
    return sum;
}

/* The counts of what members have: this one's is known, and without others all are alike. */
static void counts_of_parts(const transition_job *job, int64_t mine, int64_t *counts)
{
    for (int64_t i = 0; i < job->comm->size; i++) {
        counts[i] = job->counts != NULL ? job->counts[i] : mine;
    }
}

static tsr_status refuse_counts(const eager *e, const transition_job *job, const char *what,
                                int64_t has, int64_t wanted)
{
    return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: %s has %lld rows where the counts say %lld",
                      tsr_transition_name(job->what.op), what, (long long)has, (long long)wanted);
}

/* ---- the collectives ---- */

static tsr_reduce_op reduce_op_of(tsr_reduction reduction)
{
    static const tsr_reduce_op ops[] = {[TSR_SUM] = TSR_REDUCE_SUM,
                                        [TSR_MAX] = TSR_REDUCE_MAX,
                                        [TSR_MIN] = TSR_REDUCE_MIN,
                                        [TSR_AVG] = TSR_REDUCE_AVG,
                                        [TSR_PROD] = TSR_REDUCE_PROD};
    return ops[reduction];
}

static tsr_status all_reduce(eager *e, const transition_job *job, tsr_tensor *x, tsr_tensor **out)
{
    if (job->in_place) {
        *out = tsr_tensor_retain(x);
    } else {
        TSR_TRY(local_value(e, x->dtype, x->geometry->rank, x->local_shape, out));
    }
    const tsr_view src = view_of(x);
    const tsr_view dst = view_of(*out);
    return job->tail != NULL
               ? tsr_comm_all_reduce_start(job->comm, reduce_op_of(job->what.src.partial), &src,
                                           &dst, &job->tail->request)
               : tsr_comm_all_reduce(job->comm, reduce_op_of(job->what.src.partial), &src, &dst);
}

static tsr_status all_gather(eager *e, const transition_job *job, tsr_tensor *x, tsr_tensor **out)
{
    const bool stacks = job->what.src.dim == TSR_NO_DIM;
    const size_t dim = (size_t)(stacks ? job->what.gather_dim : job->what.src.dim);
    int64_t shape[OP_MAX_RANK + 1];
    int64_t counts[MAX_MEMBERS] = {0};
    if (stacks) {
        other_view src;
        shape_and_dim(x, dim, job->comm->size, shape);
        TSR_TRY(local_value(e, x->dtype, x->geometry->rank + 1, shape, out));
        with_dim(x, dim, &src);
        const tsr_view dst = view_of(*out);
        return job->tail != NULL
                   ? tsr_comm_all_gather_start(job->comm, &src.view, dim, &dst, &job->tail->request)
                   : tsr_comm_all_gather(job->comm, &src.view, dim, &dst);
    }
    counts_of_parts(job, x->local_shape[dim], counts);
    shape_with(x, dim, sum_of(counts, job->comm->size), shape);
    TSR_TRY(local_value(e, x->dtype, x->geometry->rank, shape, out));
    const tsr_view src = view_of(x);
    const tsr_view dst = view_of(*out);
    return job->tail != NULL ? tsr_comm_all_gather_v_start(job->comm, &src, dim, counts, &dst,
                                                           &job->tail->request)
                             : tsr_comm_all_gather_v(job->comm, &src, dim, counts, &dst);
}

/* The size of a dimension that is taken apart must be the number of members. */
static tsr_status check_stacked(const eager *e, const transition_job *job, const tsr_tensor *x)
{
    const size_t dim = (size_t)job->what.scatter_dim;
    if (dim < x->geometry->rank && x->local_shape[dim] == job->comm->size) {
        return TSR_OK;
    }
    return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: dimension %zu must have %lld rows, one for each rank; or name the "
                      "dimension to cut, as S(i)",
                      tsr_transition_name(job->what.op), dim, (long long)job->comm->size);
}

static tsr_status reduce_scatter(eager *e, const transition_job *job, tsr_tensor *x,
                                 tsr_tensor **out)
{
    const tsr_reduce_op op = reduce_op_of(job->what.src.partial);
    const bool stacked = job->what.dst.dim == TSR_NO_DIM;
    const size_t dim = (size_t)(stacked ? job->what.scatter_dim : job->what.dst.dim);
    int64_t shape[OP_MAX_RANK + 1];
    int64_t counts[MAX_MEMBERS] = {0};
    const tsr_view src = view_of(x);
    if (stacked) {
        other_view dst;
        TSR_TRY(check_stacked(e, job, x));
        shape_without(x, dim, shape);
        TSR_TRY(local_value(e, x->dtype, x->geometry->rank - 1, shape, out));
        with_dim(*out, dim, &dst);
        return job->tail != NULL ? tsr_comm_reduce_scatter_start(job->comm, op, &src, dim,
                                                                 &dst.view, &job->tail->request)
                                 : tsr_comm_reduce_scatter(job->comm, op, &src, dim, &dst.view);
    }
    counts_of(job, x->local_shape[dim], counts);
    if (sum_of(counts, job->comm->size) != x->local_shape[dim]) {
        return refuse_counts(e, job, "the value", x->local_shape[dim],
                             sum_of(counts, job->comm->size));
    }
    shape_with(x, dim, counts[job->comm->rank], shape);
    TSR_TRY(local_value(e, x->dtype, x->geometry->rank, shape, out));
    const tsr_view dst = view_of(*out);
    return job->tail != NULL ? tsr_comm_reduce_scatter_v_start(job->comm, op, &src, dim, counts,
                                                               &dst, &job->tail->request)
                             : tsr_comm_reduce_scatter_v(job->comm, op, &src, dim, counts, &dst);
}

/* Pieces of one array for each member, packed one after the other, and back. */
typedef struct pieces {
    const tsr_tensor *t;
    size_t dim;
    const int64_t *rows; /* of each member along the dimension */
    int64_t *bytes;      /* of each member's piece */
    char *packed;
} pieces;

static void move_pieces(const pieces *p, int64_t members, bool pack)
{
    int64_t first = 0;
    char *at = p->packed;
    for (int64_t i = 0; i < members; i++) {
        other_view part;
        int64_t strides[OP_MAX_RANK];
        part_of(p->t, p->dim, first, p->rows[i], &part);
        const size_t item = (size_t)tsr_dtype_item_bytes(p->t->dtype);
        (void)packed_strides(part.shape, part.view.rank, item, strides);
        tsr_view packed = part.view;
        packed.data = at;
        packed.strides = strides;
        eager_copy_view(pack ? &packed : &part.view, pack ? &part.view : &packed);
        first += p->rows[i];
        at += p->bytes[i];
    }
}

static int64_t bytes_of_piece(const tsr_tensor *t, size_t dim, int64_t rows)
{
    int64_t bytes = tsr_dtype_item_bytes(t->dtype) * rows;
    for (size_t d = 0; d < t->geometry->rank; d++) {
        bytes *= d == dim ? 1 : t->local_shape[d];
    }
    return bytes;
}

/* Sends pieces along `split` of x, and puts what comes along `concat` of out. */
static tsr_status exchange(eager *e, const transition_job *job, tsr_tensor *x, size_t split,
                           const int64_t *send_rows, size_t concat, const int64_t *receive_rows,
                           tsr_tensor *out)
{
    const int64_t n = job->comm->size;
    int64_t send[MAX_MEMBERS] = {0};
    int64_t receive[MAX_MEMBERS] = {0};
    void *scratch = NULL;
    for (int64_t i = 0; i < n; i++) {
        send[i] = bytes_of_piece(x, split, send_rows[i]);
        receive[i] = bytes_of_piece(out, concat, receive_rows[i]);
    }
    const int64_t sent = sum_of(send, n);
    const int64_t received = sum_of(receive, n);
    TSR_TRY(eager_scratch(e, (size_t)(sent + received) + 1, &scratch));
    const pieces going = {x, split, send_rows, send, scratch};
    const pieces coming = {out, concat, receive_rows, receive, (char *)scratch + sent};
    move_pieces(&going, n, true);
    const tsr_view src = {going.packed, TSR_U8, 1, &sent, NULL};
    const tsr_view dst = {coming.packed, TSR_U8, 1, &received, NULL};
    TSR_TRY(tsr_comm_all_to_all_v(job->comm, &src, 0, send, receive, &dst));
    move_pieces(&coming, n, false);
    return TSR_OK;
}

/* The same, only started: the pieces are put along `concat` when they have come. */
static tsr_status start_exchange(eager *e, const transition_job *job, tsr_tensor *x, size_t split,
                                 const int64_t *send_rows, size_t concat,
                                 const int64_t *receive_rows, const tsr_tensor *out)
{
    const int64_t n = job->comm->size;
    transition_tail *tail = job->tail;
    int64_t send[MAX_MEMBERS] = {0};
    int64_t receive[MAX_MEMBERS] = {0};
    for (int64_t i = 0; i < n; i++) {
        send[i] = bytes_of_piece(x, split, send_rows[i]);
        receive[i] = bytes_of_piece(out, concat, receive_rows[i]);
    }
    const int64_t bytes[] = {sum_of(send, n), sum_of(receive, n)};
    tail->rows = context_resize(e->world->ctx, NULL, 0, (size_t)n * sizeof *tail->rows);
    if (tail->rows == NULL) {
        return diag_nomem(e->world->ctx);
    }
    memcpy(tail->rows, receive_rows, (size_t)n * sizeof *tail->rows);
    tail->members = n;
    tail->dim = concat;
    tsr_tensor *packed = NULL;
    TSR_TRY(local_value(e, TSR_U8, 1, &bytes[0], &packed));
    tsr_tensor_release(tail->sent); /* what is packed is not needed any more */
    tail->sent = packed;
    TSR_TRY(local_value(e, TSR_U8, 1, &bytes[1], &tail->received));
    const pieces going = {x, split, send_rows, send, packed->data};
    move_pieces(&going, n, true);
    const tsr_view src = view_of(packed);
    const tsr_view dst = view_of(tail->received);
    return tsr_comm_all_to_all_v_start(job->comm, &src, 0, send, receive, &dst, &tail->request);
}

static tsr_status all_to_all(eager *e, const transition_job *given, tsr_tensor *x, tsr_tensor **out)
{
    transition_job exchanged = *given;
    const transition_job *job = &exchanged;
    exchanged.what = transition_exchanged(&given->what);
    const bool plain = job->what.src.dim == TSR_NO_DIM;
    const int64_t n = job->comm->size;
    int64_t shape[OP_MAX_RANK];
    int64_t send[MAX_MEMBERS] = {0};
    int64_t receive[MAX_MEMBERS] = {0};
    if (!plain && job->what.src.dim == job->what.dst.dim && job->sent != NULL) {
        const size_t dim = (size_t)job->what.dst.dim;
        shape_with(x, dim, sum_of(job->counts, n), shape);
        TSR_TRY(local_value(e, x->dtype, x->geometry->rank, shape, out));
        const tsr_view src = view_of(x);
        const tsr_view dst = view_of(*out);
        return job->tail != NULL
                   ? tsr_comm_all_to_all_v_start(job->comm, &src, dim, job->sent, job->counts, &dst,
                                                 &job->tail->request)
                   : tsr_comm_all_to_all_v(job->comm, &src, dim, job->sent, job->counts, &dst);
    }
    if (plain || job->what.src.dim == job->what.dst.dim) {
        const size_t dim = (size_t)(plain ? job->what.scatter_dim : job->what.dst.dim);
        const size_t to = (size_t)(plain ? job->what.gather_dim : job->what.src.dim);
        TSR_TRY(plain ? check_stacked(e, job, x) : TSR_OK);
        TSR_TRY(local_value(e, x->dtype, x->geometry->rank, x->local_shape, out));
        const tsr_view src = view_of(x);
        const tsr_view dst = view_of(*out);
        return job->tail != NULL
                   ? tsr_comm_all_to_all_start(job->comm, &src, dim, to, &dst, &job->tail->request)
                   : tsr_comm_all_to_all(job->comm, &src, dim, to, &dst);
    }
    const size_t concat = (size_t)job->what.src.dim;
    const size_t split = (size_t)job->what.dst.dim;
    const transition_job cut = {.comm = job->comm, .counts = job->sent};
    counts_of_parts(job, x->local_shape[concat], receive);
    counts_of(&cut, x->local_shape[split], send);
    memcpy(shape, x->local_shape, x->geometry->rank * sizeof *shape);
    shape[concat] = sum_of(receive, n);
    shape[split] = send[job->comm->rank];
    TSR_TRY(local_value(e, x->dtype, x->geometry->rank, shape, out));
    return job->tail != NULL ? start_exchange(e, job, x, split, send, concat, receive, *out)
                             : exchange(e, job, x, split, send, concat, receive, *out);
}

/* ---- without communication ---- */

static tsr_status same_array(eager *e, tsr_tensor *x, tsr_tensor **out)
{
    (void)e;
    return alias_tensor(x, x->layout, out);
}

/* x[r] along a dimension, or the r-th chunk of it. */
static tsr_status take_mine(eager *e, const transition_job *job, tsr_tensor *x, tsr_tensor **out)
{
    const bool stacked = job->what.dst.dim == TSR_NO_DIM;
    const size_t dim = (size_t)(stacked ? job->what.scatter_dim : job->what.dst.dim);
    int64_t shape[OP_MAX_RANK];
    int64_t counts[MAX_MEMBERS] = {0};
    other_view from;
    if (stacked) {
        other_view to;
        TSR_TRY(check_stacked(e, job, x));
        shape_without(x, dim, shape);
        TSR_TRY(local_value(e, x->dtype, x->geometry->rank - 1, shape, out));
        part_of(x, dim, job->comm->rank, 1, &from);
        with_dim(*out, dim, &to);
        eager_copy_view(&to.view, &from.view);
        return TSR_OK;
    }
    counts_of(job, x->local_shape[dim], counts);
    if (sum_of(counts, job->comm->size) != x->local_shape[dim]) {
        return refuse_counts(e, job, "the value", x->local_shape[dim],
                             sum_of(counts, job->comm->size));
    }
    const int64_t mine = counts[job->comm->rank];
    shape_with(x, dim, mine, shape);
    TSR_TRY(local_value(e, x->dtype, x->geometry->rank, shape, out));
    part_of(x, dim, sum_of(counts, job->comm->rank), mine, &from);
    const tsr_view to = view_of(*out);
    eager_copy_view(&to, &from.view);
    return TSR_OK;
}

/* Zeros but for what this rank has, where it belongs; of what all have, on the first rank only. */
static tsr_status pad_with_zeros(eager *e, const transition_job *job, tsr_tensor *x,
                                 tsr_tensor **out)
{
    const bool varies = job->what.src.kind == TSR_V;
    const bool stacks = job->what.src.dim == TSR_NO_DIM;
    int64_t shape[OP_MAX_RANK + 1];
    int64_t counts[MAX_MEMBERS] = {0};
    other_view to;
    if (!varies) {
        TSR_TRY(local_value(e, x->dtype, x->geometry->rank, x->local_shape, out));
        memset((*out)->data, 0, (*out)->bytes);
        const tsr_view dst = view_of(*out);
        const tsr_view src = view_of(x);
        if (job->comm->rank == 0) {
            eager_copy_view(&dst, &src);
        }
        return TSR_OK;
    }
    const size_t dim = (size_t)(stacks ? job->what.gather_dim : job->what.src.dim);
    const int64_t rows = stacks ? 1 : x->local_shape[dim];
    counts_of_parts(job, rows, counts);
    const int64_t whole = stacks ? job->comm->size : sum_of(counts, job->comm->size);
    if (stacks) {
        shape_and_dim(x, dim, whole, shape);
    } else {
        shape_with(x, dim, whole, shape);
    }
    TSR_TRY(local_value(e, x->dtype, x->geometry->rank + (stacks ? 1 : 0), shape, out));
    memset((*out)->data, 0, (*out)->bytes);
    other_view from;
    if (stacks) {
        with_dim(x, dim, &from);
    } else {
        part_of(x, dim, 0, rows, &from);
    }
    part_of(*out, dim, stacks ? job->comm->rank : sum_of(counts, job->comm->rank), rows, &to);
    eager_copy_view(&to.view, &from.view);
    return TSR_OK;
}

static tsr_status convert(eager *e, const transition_job *job, tsr_tensor *x, tsr_tensor **out)
{
    const tsr_local_type src = job->what.src.kind;
    const tsr_local_type dst = job->what.dst.kind;
    if (src == dst) {
        return same_array(e, x, out);
    }
    if (dst == TSR_V) {
        return take_mine(e, job, x, out);
    }
    return dst == TSR_P ? pad_with_zeros(e, job, x, out) : same_array(e, x, out);
}

static tsr_status reinterpret(eager *e, const transition_job *job, tsr_tensor *x, tsr_tensor **out)
{
    (void)job;
    return same_array(e, x, out);
}

/* ---- all of them ---- */

typedef tsr_status (*transition_way)(eager *e, const transition_job *job, tsr_tensor *x,
                                     tsr_tensor **out);

static const transition_way ways[] = {
    [TSR_ALL_REDUCE] = all_reduce,         [TSR_ALL_GATHER] = all_gather,
    [TSR_REDUCE_SCATTER] = reduce_scatter, [TSR_ALL_TO_ALL] = all_to_all,
    [TSR_REINTERPRET] = reinterpret,       [TSR_CONVERT] = convert,
};

/* The same elements of another type. */
static tsr_status converted(eager *e, tsr_tensor *x, tsr_dtype dtype, tsr_tensor **out)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): set, since the status is TSR_OK */
    TSR_TRY(local_value(e, dtype, x->geometry->rank, x->local_shape, out));
    const tsr_view src = view_of(x);
    const tsr_view dst = view_of(*out);
    kernel_convert(&dst, &src);
    return TSR_OK;
}

void transition_divide(const tsr_tensor *t, int64_t by)
{
    static const int64_t none[OP_MAX_RANK + 1];
    char number[16];
    element_of_number(t->dtype, (double)by, number);
    const tsr_view x = view_of(t);
    tsr_view divisor = x;
    divisor.data = number;
    divisor.strides = none;
    kernel_binary(BINARY_DIVIDE, &x, &x, &divisor);
}

bool transition_communicates(tsr_transition_op op)
{
    return op != TSR_REINTERPRET && op != TSR_CONVERT;
}

/* Whether what members have is put together along a dimension, by the counts if there are any. */
static bool joins_rows(const tsr_transition *what)
{
    return what->src.dim != TSR_NO_DIM &&
           (what->op == TSR_ALL_GATHER ||
            (what->op == TSR_ALL_TO_ALL && what->src.dim != what->dst.dim) ||
            (what->op == TSR_CONVERT && what->dst.kind == TSR_P));
}

static tsr_status check_countable(const eager *e, const transition_job *job, const int64_t *counts,
                                  int64_t *sum)
{
    *sum = 0;
    for (int64_t i = 0; counts != NULL && i < job->comm->size; i++) {
        if (counts[i] < 0 || !checked_add(*sum, counts[i], sum)) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: the count of rank %lld must be at least 0, got: %lld",
                              tsr_transition_name(job->what.op), (long long)i,
                              (long long)counts[i]);
        }
    }
    return TSR_OK;
}

/* Counts that are given must be countable, and this rank's that of what it has. */
static tsr_status check_counts(const eager *e, const transition_job *job, const tsr_tensor *x)
{
    int64_t sum = 0;
    int64_t sent = 0;
    TSR_TRY(check_countable(e, job, job->counts, &sum));
    TSR_TRY(check_countable(e, job, job->sent, &sent));
    const tsr_transition what = transition_exchanged(&job->what);
    if (job->sent != NULL && sent != x->local_shape[what.dst.dim]) {
        return refuse_counts(e, job, "the dimension that is split", x->local_shape[what.dst.dim],
                             sent);
    }
    const int64_t rows = joins_rows(&what) ? x->local_shape[what.src.dim] : 0;
    if (job->counts != NULL && joins_rows(&what) && job->counts[job->comm->rank] != rows) {
        return refuse_counts(e, job, "this rank's part", rows, job->counts[job->comm->rank]);
    }
    return TSR_OK;
}

/* A rank that refuses before the others are met tells them. */
static tsr_status run_plain(eager *e, const transition_job *job, tsr_tensor *x, tsr_tensor **out)
{
    *out = NULL;
    job->comm->told = false;
    tsr_status status = check_counts(e, job, x);
    if (status == TSR_OK) {
        status = ways[job->what.op](e, job, x, out);
    }
    if (status == TSR_OK && job->what.divide) {
        transition_divide(*out, job->comm->size);
    }
    if (transition_communicates(job->what.op)) {
        status = comm_tell(job->comm, tsr_transition_name(job->what.op), status);
    }
    if (status < 0) {
        tsr_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

/* Only the shape that it would have. */
static tsr_status run_abstract(eager *e, const transition_job *job, const tsr_tensor *x,
                               tsr_tensor **out)
{
    int64_t shape[OP_MAX_RANK + 1];
    size_t rank = 0;
    TSR_TRY(check_counts(e, job, x));
    TSR_TRY(tsr_transition_shape(e->world->ctx, &job->what, job->comm->size, job->comm->rank,
                                 job->counts, x->geometry->rank, x->local_shape, &rank, shape));
    tensor_layout *layout = NULL;
    TSR_TRY(local_layout(e, x->dtype, rank, shape, &layout));
    const tsr_status status = make_abstract(e, layout, out);
    layout_release(&e->world->state->layouts, layout);
    return status;
}

/* Starts it on elements of the wire's type; the result is converted when they have come. */
static tsr_status start_narrow(eager *e, const transition_job *job, const tsr_tensor *x,
                               tsr_tensor *narrow, tsr_tensor **out)
{
    job->tail->sent = tsr_tensor_retain(narrow);
    tsr_status status = run_plain(e, job, narrow, &job->tail->moved);
    tsr_tensor_release(narrow);
    if (status == TSR_OK) {
        const tsr_tensor *moved = job->tail->moved;
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): set, since the status is TSR_OK */
        status = local_value(e, x->dtype, moved->geometry->rank, moved->local_shape, out);
        if (status < 0) { /* it is under way: its memory is in use until it ends */
            const tsr_status ended = tsr_wait(job->comm, job->tail->request);
            status = ended < 0 ? ended : status;
        }
    }
    return status;
}

void transition_finish(const transition_tail *tail, tsr_tensor *result)
{
    tsr_tensor *moved = tail->moved != NULL ? tail->moved : result;
    if (tail->received != NULL) {
        int64_t bytes[MAX_MEMBERS] = {0};
        for (int64_t i = 0; i < tail->members; i++) {
            bytes[i] = bytes_of_piece(moved, tail->dim, tail->rows[i]);
        }
        const pieces coming = {moved, tail->dim, tail->rows, bytes, tail->received->data};
        move_pieces(&coming, tail->members, false);
    }
    if (moved != result) {
        const tsr_view src = view_of(moved);
        const tsr_view dst = view_of(result);
        kernel_convert(&dst, &src);
    }
}

void transition_drop(eager *e, transition_tail *tail)
{
    tsr_tensor_release(tail->sent);
    tsr_tensor_release(tail->received);
    tsr_tensor_release(tail->moved);
    if (tail->rows != NULL) {
        (void)context_resize(e->world->ctx, tail->rows, (size_t)tail->members * sizeof *tail->rows,
                             0);
    }
    *tail = (transition_tail){.request = tail->request};
}

tsr_status transition_run(eager *e, const transition_job *job, tsr_tensor *x, tsr_tensor **out)
{
    if (is_abstract(x)) {
        return run_abstract(e, job, x, out);
    }
    tsr_tensor *narrow = NULL;
    tsr_tensor *moved = NULL;
    if (!job->has_wire_dtype || job->wire_dtype == x->dtype) {
        return run_plain(e, job, x, out);
    }
    TSR_TRY(converted(e, x, job->wire_dtype, &narrow));
    if (job->tail != NULL) {
        return start_narrow(e, job, x, narrow, out);
    }
    tsr_status status = run_plain(e, job, narrow, &moved);
    tsr_tensor_release(narrow);
    if (status == TSR_OK) {
        status = converted(e, moved, x->dtype, out);
        tsr_tensor_release(moved);
    }
    return status;
}

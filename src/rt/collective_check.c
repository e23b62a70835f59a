/* The checks that a member can make by itself: all but whether the members agree. */
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/map.h"
#include "kernel/fold.h"
#include "rt/collective.h"

const char *tsr_reduce_op_name(tsr_reduce_op op)
{
    GUARD(tsr_reduce_op_name);
    return (unsigned)op < FOLD_COUNT ? fold_name((fold_op)op) : "?";
}

bool tsr_reduce_op_supports(tsr_reduce_op op, tsr_dtype dtype)
{
    GUARD(tsr_reduce_op_supports);
    return (unsigned)op < FOLD_COUNT && (unsigned)dtype < (unsigned)tsr_dtype_count() &&
           fold_supports(dtype, (fold_op)op);
}

_Static_assert((int)TSR_REDUCE_SUM == (int)FOLD_SUM && (int)TSR_REDUCE_MAX == (int)FOLD_MAX &&
                   (int)TSR_REDUCE_MIN == (int)FOLD_MIN && (int)TSR_REDUCE_AVG == (int)FOLD_AVG &&
                   (int)TSR_REDUCE_PROD == (int)FOLD_PROD && (int)TSR_REDUCE_AND == (int)FOLD_AND &&
                   (int)TSR_REDUCE_OR == (int)FOLD_OR && FOLD_COUNT == 7,
               "reductions and folds have the same numbers");

/* The bytes of a shape; 0 when an extent is. */
static tsr_status count_bytes(tsr_context *ctx, const char *name, const int64_t *shape, size_t rank,
                              size_t item, int64_t *out)
{
    int64_t bytes = (int64_t)item;
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] == 0) {
            *out = 0;
            return TSR_OK;
        }
    }
    for (size_t i = 0; i < rank; i++) {
        if (!checked_mul(bytes, shape[i], &bytes)) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "%s has more than 2^63-1 bytes in dimensions 0 to %zu", name, i);
        }
    }
    *out = bytes;
    return TSR_OK;
}

/* The range of bytes that the elements span, from the first one. */
static tsr_status find_span(tsr_context *ctx, const char *name, size_t rank, size_t item,
                            array *out)
{
    out->low = 0;
    out->high = out->bytes > 0 ? (int64_t)item : 0;
    for (size_t i = 0; out->bytes > 0 && i < rank; i++) {
        int64_t reach;
        int64_t *end = out->strides[i] < 0 ? &out->low : &out->high;
        if (!checked_mul(out->shape[i] - 1, out->strides[i], &reach) ||
            !checked_add(*end, reach, end)) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "%s: %lld rows of stride %lld in dimension %zu span more than 2^63-1 "
                              "bytes",
                              name, (long long)out->shape[i], (long long)out->strides[i], i);
        }
    }
    return TSR_OK;
}

static tsr_status check_header(tsr_context *ctx, const char *name, const tsr_view *view)
{
    if (view == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "%s is missing (NULL)", name);
    }
    if (view->rank > KERNEL_MAX_RANK) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION, "%s has rank %zu; the maximum is %d",
                          name, view->rank, KERNEL_MAX_RANK);
    }
    if ((unsigned)view->dtype >= (unsigned)tsr_dtype_count()) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s has element type %d, which is not one of the %d element types", name,
                          (int)view->dtype, tsr_dtype_count());
    }
    if (view->rank > 0 && view->shape == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "%s has rank %zu but no shape (NULL)",
                          name, view->rank);
    }
    for (size_t i = 0; i < view->rank; i++) {
        if (view->shape[i] < 0) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s has %lld rows in dimension %zu; the minimum is 0", name,
                              (long long)view->shape[i], i);
        }
    }
    return TSR_OK;
}

/* Loads a view that this member has. */
static tsr_status load_view(tsr_context *ctx, const char *name, const tsr_view *view, array *out)
{
    TSR_TRY(check_header(ctx, name, view));
    const size_t item = (size_t)tsr_dtype_item_bytes(view->dtype);
    out->here = true;
    out->data = view->data;
    for (size_t i = 0; i < view->rank; i++) {
        out->shape[i] = view->shape[i];
        out->strides[i] = view->strides != NULL ? view->strides[i] : 0;
    }
    TSR_TRY(count_bytes(ctx, name, out->shape, view->rank, item, &out->bytes));
    if (out->bytes > 0 && view->data == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "%s has elements but no data (NULL)",
                          name);
    }
    if (view->strides == NULL && out->bytes > 0) {
        (void)packed_strides(out->shape, view->rank, item, out->strides);
    }
    return find_span(ctx, name, view->rank, item, out);
}

static bool has_shape(const tsr_view *view, const int64_t *shape, size_t rank)
{
    bool same = view->rank == rank;
    for (size_t i = 0; same && i < rank; i++) {
        same = view->shape[i] == shape[i];
    }
    return same;
}

/* Loads a view that must have the shape already in `out`. */
static tsr_status load_expected(coll_task *x, const char *name, const tsr_view *view, array *out)
{
    tsr_context *ctx = x->comm->ctx;
    TSR_TRY(check_header(ctx, name, view));
    if (view->dtype != x->dtype || !has_shape(view, out->shape, x->rank)) {
        char given[CALL_TEXT];
        char wanted[CALL_TEXT];
        describe_type(view->dtype, view->shape, view->rank, given, sizeof given);
        describe_type(x->dtype, out->shape, x->rank, wanted, sizeof wanted);
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "%s is %s, expected %s", name, given,
                          wanted);
    }
    return load_view(ctx, name, view, out);
}

static tsr_status check_root(const coll_task *x)
{
    const int64_t root = x->args.root;
    if (!coll_has(x->row, COLL_ROOT_SENDS | COLL_ROOT_RECEIVES) ||
        (root >= 0 && root < x->comm->size)) {
        return TSR_OK;
    }
    return diag_error(x->comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "the root must be 0 to %lld, got: %lld", (long long)x->comm->size - 1,
                      (long long)root);
}

static tsr_status check_op(const coll_task *x)
{
    const tsr_reduce_op op = x->args.op;
    if (!coll_has(x->row, COLL_HAS_OP) || tsr_reduce_op_supports(op, x->dtype)) {
        return TSR_OK;
    }
    if ((unsigned)op >= FOLD_COUNT) {
        return diag_error(x->comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the reduction must be 0 to %d, got: %d", FOLD_COUNT - 1, (int)op);
    }
    return diag_error(x->comm->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "%s is not defined for element type %s", tsr_reduce_op_name(op),
                      tsr_dtype_name(x->dtype));
}

static tsr_status check_dim(const coll_task *x, size_t dim)
{
    if (dim < x->rank) {
        return TSR_OK;
    }
    return diag_error(x->comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "dimension %zu is out of range: the array has rank %zu", dim, x->rank);
}

static tsr_status check_dims(const coll_task *x)
{
    if (coll_has(x->row, COLL_CUTS_SRC)) {
        TSR_TRY(check_dim(x, x->args.src_dim));
    }
    return coll_has(x->row, COLL_CUTS_DST) ? check_dim(x, x->args.dst_dim) : TSR_OK;
}

/* Every destination is a member, and none is named twice. */
static tsr_status check_destinations(const coll_task *x)
{
    bool named[COMM_MAX_RANKS] = {false};
    const int64_t *destinations = x->args.destinations;
    tsr_context *ctx = x->comm->ctx;
    if (destinations == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "the destinations are missing (NULL)");
    }
    for (int64_t i = 0; i < x->comm->size; i++) {
        const int64_t to = destinations[i];
        if (to < -1 || to >= x->comm->size) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "destinations[%lld] must be -1 to %lld, got: %lld", (long long)i,
                              (long long)x->comm->size - 1, (long long)to);
        }
        if (to >= 0 && named[to]) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "two members send to member %lld, the second is destinations[%lld]",
                              (long long)to, (long long)i);
        }
        if (to >= 0) {
            named[to] = true;
        }
    }
    return TSR_OK;
}

static tsr_status sum_counts(const coll_task *x, const int64_t *counts, int64_t *out)
{
    tsr_context *ctx = x->comm->ctx;
    int64_t total = 0;
    if (counts == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "the counts are missing (NULL)");
    }
    for (int64_t i = 0; i < x->comm->size; i++) {
        if (counts[i] < 0) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "counts must not be negative, got: %lld for member %lld",
                              (long long)counts[i], (long long)i);
        }
        if (!checked_add(total, counts[i], &total)) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "the counts up to member %lld sum to more than 2^63-1", (long long)i);
        }
    }
    *out = total;
    return TSR_OK;
}

static tsr_status check_rows(const coll_task *x, const char *name, const array *a, size_t dim,
                             int64_t wanted, const char *why)
{
    if (a->shape[dim] == wanted) {
        return TSR_OK;
    }
    return diag_error(x->comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s has %lld rows in dimension %zu, %s %lld", name, (long long)a->shape[dim],
                      dim, why, (long long)wanted);
}

/* The shape of the other view, where each member has counts of its own. */
static tsr_status expect_by_both_counts(coll_task *x)
{
    const coll_arguments *args = &x->args;
    int64_t total;
    TSR_TRY(sum_counts(x, args->src_counts, &total));
    TSR_TRY(check_rows(x, "src", &x->src, args->src_dim, total, "the counts sum to"));
    TSR_TRY(sum_counts(x, args->dst_counts, &total));
    x->dst.shape[args->dst_dim] = total;
    return TSR_OK;
}

/* The same with counts that all members share: the view that is cut has their sum. */
static tsr_status expect_by_counts(coll_task *x, const array *known, array *other)
{
    const bool cuts_src = coll_has(x->row, COLL_CUTS_SRC);
    const size_t dim = cuts_src ? x->args.src_dim : x->args.dst_dim;
    const int64_t *counts = cuts_src ? x->args.src_counts : x->args.dst_counts;
    const char *name = known == &x->src ? "src" : "dst";
    int64_t total;
    TSR_TRY(sum_counts(x, counts, &total));
    const int64_t mine = counts[x->comm->rank];
    if (known == (cuts_src ? &x->src : &x->dst)) {
        TSR_TRY(check_rows(x, name, known, dim, total, "the counts sum to"));
        other->shape[dim] = mine;
    } else {
        TSR_TRY(check_rows(x, name, known, dim, mine, "this member's count is"));
        other->shape[dim] = total;
    }
    return TSR_OK;
}

static tsr_status divide_rows(const coll_task *x, size_t dim, int64_t *rows)
{
    if (*rows % x->comm->size != 0) {
        return diag_error(x->comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "src has %lld rows in dimension %zu, not divisible by %lld members; use "
                          "the call with counts",
                          (long long)*rows, dim, (long long)x->comm->size);
    }
    *rows /= x->comm->size;
    return TSR_OK;
}

static tsr_status multiply_rows(const coll_task *x, size_t dim, int64_t *rows)
{
    if (!checked_mul(*rows, x->comm->size, rows)) {
        return diag_error(x->comm->ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                          "%lld rows in dimension %zu times %lld members exceed 2^63-1",
                          (long long)*rows, dim, (long long)x->comm->size);
    }
    return TSR_OK;
}

/* The same with equal chunks. */
static tsr_status expect_equal(coll_task *x, bool by_dst)
{
    const size_t src_dim = x->args.src_dim;
    const size_t dst_dim = x->args.dst_dim;
    if (by_dst) {
        return multiply_rows(x, src_dim, &x->src.shape[src_dim]);
    }
    if (coll_has(x->row, COLL_CUTS_SRC)) {
        TSR_TRY(divide_rows(x, src_dim, &x->dst.shape[src_dim]));
    }
    if (coll_has(x->row, COLL_CUTS_DST)) {
        TSR_TRY(multiply_rows(x, dst_dim, &x->dst.shape[dst_dim]));
    }
    return TSR_OK;
}

static tsr_status expect_other(coll_task *x, bool by_dst)
{
    array *known = by_dst ? &x->dst : &x->src;
    array *other = by_dst ? &x->src : &x->dst;
    memcpy(other->shape, known->shape, x->rank * sizeof *known->shape);
    if (coll_has(x->row, COLL_COUNTS_DIFFER)) {
        return expect_by_both_counts(x);
    }
    return coll_has(x->row, COLL_HAS_COUNTS) ? expect_by_counts(x, known, other)
                                             : expect_equal(x, by_dst);
}

/* Loads both views: one that every member has, and from it the shape of the other. */
static tsr_status load_views(coll_task *x)
{
    const coll_arguments *args = &x->args;
    const bool is_root = x->comm->rank == args->root;
    const bool by_dst = coll_has(x->row, COLL_ROOT_SENDS);
    array *known = by_dst ? &x->dst : &x->src;
    array *other = by_dst ? &x->src : &x->dst;
    const char *names[] = {"src", "dst"};
    TSR_TRY(load_view(x->comm->ctx, names[by_dst], by_dst ? args->dst : args->src, known));
    x->dtype = (by_dst ? args->dst : args->src)->dtype;
    x->rank = (by_dst ? args->dst : args->src)->rank;
    x->item = (size_t)tsr_dtype_item_bytes(x->dtype);
    TSR_TRY(check_dims(x));
    TSR_TRY(expect_other(x, by_dst));
    if (!coll_has(x->row, COLL_ROOT_SENDS | COLL_ROOT_RECEIVES) || is_root) {
        return load_expected(x, names[!by_dst], by_dst ? args->src : args->dst, other);
    }
    other->here = false;
    return count_bytes(x->comm->ctx, names[!by_dst], other->shape, x->rank, x->item, &other->bytes);
}

/* Loads the one view of a broadcast: a source on the root, a destination elsewhere. */
static tsr_status load_one_view(coll_task *x)
{
    const bool is_root = x->comm->rank == x->args.root;
    TSR_TRY(load_view(x->comm->ctx, "view", x->args.src, &x->src));
    x->dtype = x->args.src->dtype;
    x->rank = x->args.src->rank;
    x->item = (size_t)tsr_dtype_item_bytes(x->dtype);
    x->dst = x->src;
    x->src.here = is_root;
    x->dst.here = !is_root;
    return TSR_OK;
}

static bool same_strides(const array *a, const array *b, size_t rank)
{
    for (size_t i = 0; i < rank; i++) {
        if (a->shape[i] > 1 && a->strides[i] != b->strides[i]) {
            return false;
        }
    }
    return a->data == b->data;
}

static tsr_status check_overlap(const coll_task *x)
{
    const array *src = &x->src;
    const array *dst = &x->dst;
    if (!src->here || !dst->here || src->bytes == 0 || dst->bytes == 0 ||
        (coll_has(x->row, COLL_IN_PLACE) && same_strides(src, dst, x->rank))) {
        return TSR_OK;
    }
    const uintptr_t from = (uintptr_t)src->data;
    const uintptr_t to = (uintptr_t)dst->data;
    if (from + (uintptr_t)src->high <= to + (uintptr_t)dst->low ||
        to + (uintptr_t)dst->high <= from + (uintptr_t)src->low) {
        return TSR_OK;
    }
    return diag_error(x->comm->ctx, TSR_ERR_INVALID, NO_LOCATION, "src and dst overlap%s",
                      coll_has(x->row, COLL_IN_PLACE) ? " and are not the same view" : "");
}

static uint64_t magnitude(int64_t stride)
{
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

/* The dimension with the smallest stride of those not taken that have several rows; or the rank. */
static size_t next_dim(const array *a, size_t rank, const bool *taken)
{
    size_t best = rank;
    for (size_t i = 0; i < rank; i++) {
        if (!taken[i] && a->shape[i] > 1 &&
            (best == rank || magnitude(a->strides[i]) < magnitude(a->strides[best]))) {
            best = i;
        }
    }
    return best;
}

/* From the smallest stride on, each must step over all that is inside it. */
static tsr_status check_dst_itself(const coll_task *x)
{
    const array *dst = &x->dst;
    bool taken[KERNEL_MAX_RANK] = {false};
    uint64_t inside = x->item;
    if (!dst->here || dst->bytes == 0) {
        return TSR_OK;
    }
    for (size_t d = next_dim(dst, x->rank, taken); d < x->rank; d = next_dim(dst, x->rank, taken)) {
        if (magnitude(dst->strides[d]) < inside) {
            return diag_error(
                x->comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
                "the elements of dst overlap: the stride of dimension %zu is %lld, it "
                "must be at least %llu",
                d, (long long)dst->strides[d], (unsigned long long)inside);
        }
        inside = magnitude(dst->strides[d]) * (uint64_t)(dst->shape[d] - 1) + inside;
        taken[d] = true;
    }
    return TSR_OK;
}

/* What all members must agree on: not the rows that their own counts give them. */
static uint64_t hash_of(const coll_task *x)
{
    const coll_arguments *args = &x->args;
    const bool by_dst = coll_has(x->row, COLL_ROOT_SENDS);
    const size_t members = (size_t)x->comm->size;
    uint64_t words[3 + KERNEL_MAX_RANK];
    words[0] = (uint64_t)args->kind << 48 | (uint64_t)args->op << 32 | (uint64_t)x->dtype << 16 |
               (uint64_t)x->rank;
    words[1] = (uint64_t)args->src_dim << 32 | (uint64_t)args->dst_dim;
    words[2] = (uint64_t)args->root << 16 | (x->inlined ? 0 : coll_algorithm_index(x->algorithm));
    memcpy(words + 3, by_dst ? x->dst.shape : x->src.shape, x->rank * sizeof *words);
    if (coll_has(x->row, COLL_HAS_COUNTS)) {
        words[3 + (coll_has(x->row, COLL_CUTS_SRC) ? args->src_dim : args->dst_dim)] = 0;
    }
    uint64_t hash = hash_bytes(words, (3 + x->rank) * sizeof *words, 7);
    if (coll_has(x->row, COLL_HAS_COUNTS) && !coll_has(x->row, COLL_COUNTS_DIFFER)) {
        hash = hash_bytes(args->src_counts != NULL ? args->src_counts : args->dst_counts,
                          members * sizeof(int64_t), hash);
    }
    return args->destinations != NULL
               ? hash_bytes(args->destinations, members * sizeof(int64_t), hash)
               : hash;
}

/*
 * Chooses by what is the same on all members; where each has counts of its own there is one
 * algorithm.
 */
static const coll_algorithm *algorithm_of(const coll_task *x)
{
    const bool differ = coll_has(x->row, COLL_COUNTS_DIFFER);
    const bool average = coll_has(x->row, COLL_HAS_OP) && x->args.op == TSR_REDUCE_AVG;
    const int64_t bytes = differ ? 0 : max_i64(x->src.bytes, x->dst.bytes);
    return coll_choose(&x->comm->state->choices, x->args.kind, average, (double)bytes,
                       x->comm->size);
}

tsr_status coll_task_prepare(coll_task *x, tsr_comm *comm, const coll_arguments *args)
{
    x->comm = comm;
    x->args = *args;
    x->row = coll_row_of(args->kind);
    x->offer = NULL;
    x->bounce = NULL;
    x->messages = NULL;
    TSR_TRY(check_root(x));
    TSR_TRY(coll_has(x->row, COLL_ONE_VIEW) ? load_one_view(x) : load_views(x));
    TSR_TRY(check_op(x));
    if (coll_has(x->row, COLL_HAS_DESTINATIONS)) {
        TSR_TRY(check_destinations(x));
    }
    TSR_TRY(check_overlap(x));
    TSR_TRY(check_dst_itself(x));
    x->inlined = x->src.bytes <= INLINE_BYTES && !coll_has(x->row, COLL_HAS_COUNTS);
    x->algorithm = algorithm_of(x);
    x->hash = hash_of(x);
    x->stream = max_i64(x->src.bytes, x->dst.bytes) >= KERNEL_STREAM_BYTES;
    return TSR_OK;
}

/* The rules of common ops, from their shapes; reshape, gather and convolution are apart. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "factor/rule.h"

/* Short names for the kinds. */
#define PASS TSR_FACTOR_PASS_THROUGH
#define REDUCE TSR_FACTOR_REDUCTION
#define NEED TSR_FACTOR_NEED_REPLICATION
#define PERMUTE TSR_FACTOR_PERMUTATION

tsr_status tsr_rule_elementwise(tsr_context *ctx, tsr_arena *arena, size_t num_operands,
                                tsr_extents shape, const tsr_rule **out)
{
    tsr_extents *operands = ARENA_ARRAY(arena, tsr_extents, num_operands);
    if (operands == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_operands; i++) {
        operands[i] = shape;
    }
    rule_builder b = rule_start(ctx, arena, operands, num_operands, &shape, 1);
    for (size_t d = 0; d < shape.rank; d++) {
        rule_put_each(&b, d, rule_factor(&b, shape.sizes[d], PASS, false));
    }
    return rule_finish(&b, out);
}

/* A dimension that is in none of two lists. */
static bool is_free(size_t dim, const size_t *batch, size_t num_batch, const size_t *contracting,
                    size_t num_contracting)
{
    for (size_t i = 0; i < num_batch; i++) {
        if (batch[i] == dim) {
            return false;
        }
    }
    for (size_t i = 0; i < num_contracting; i++) {
        if (contracting[i] == dim) {
            return false;
        }
    }
    return true;
}

static tsr_status check_pairs(tsr_context *ctx, const char *what, tsr_extents lhs, const size_t *l,
                              tsr_extents rhs, const size_t *r, size_t count)
{
    TSR_TRY(rule_check_dims(ctx, what, l, count, lhs.rank));
    TSR_TRY(rule_check_dims(ctx, what, r, count, rhs.rank));
    for (size_t i = 0; i < count; i++) {
        if (lhs.sizes[l[i]] != rhs.sizes[r[i]]) {
            return RULE_ERROR(ctx,
                              "%s dimensions %zu and %zu differ in size: %lld on the left, %lld on "
                              "the right",
                              what, l[i], r[i], (long long)lhs.sizes[l[i]],
                              (long long)rhs.sizes[r[i]]);
        }
    }
    return TSR_OK;
}

static tsr_status check_dot(tsr_context *ctx, tsr_extents lhs, tsr_extents rhs,
                            const tsr_dot_dims *d)
{
    TSR_TRY(check_pairs(ctx, "batch", lhs, d->lhs_batch, rhs, d->rhs_batch, d->num_batch));
    TSR_TRY(check_pairs(ctx, "contracting", lhs, d->lhs_contracting, rhs, d->rhs_contracting,
                        d->num_contracting));
    for (size_t i = 0; i < d->num_contracting; i++) {
        if (!is_free(d->lhs_contracting[i], d->lhs_batch, d->num_batch, NULL, 0) ||
            !is_free(d->rhs_contracting[i], d->rhs_batch, d->num_batch, NULL, 0)) {
            return RULE_ERROR(ctx,
                              "a dimension is both batch and contracting: %zu on the left, "
                              "%zu on the right",
                              d->lhs_contracting[i], d->rhs_contracting[i]);
        }
    }
    return TSR_OK;
}

tsr_status tsr_rule_dot_general(tsr_context *ctx, tsr_arena *arena, tsr_extents lhs,
                                tsr_extents rhs, const tsr_dot_dims *d, const tsr_rule **out)
{
    TSR_TRY(check_dot(ctx, lhs, rhs, d));
    const tsr_extents operands[] = {lhs, rhs};
    const tsr_extents result = {.rank =
                                    lhs.rank + rhs.rank - d->num_batch - 2 * d->num_contracting};
    rule_builder b = rule_start(ctx, arena, operands, 2, &result, 1);
    size_t o = 0;
    for (size_t i = 0; i < d->num_batch; i++, o++) {
        const size_t f = rule_factor(&b, lhs.sizes[d->lhs_batch[i]], PASS, false);
        rule_map(&b, 0, d->lhs_batch[i], f);
        rule_map(&b, 1, d->rhs_batch[i], f);
        rule_map(&b, 2, o, f);
    }
    for (size_t i = 0; i < lhs.rank; i++) {
        if (is_free(i, d->lhs_batch, d->num_batch, d->lhs_contracting, d->num_contracting)) {
            const size_t f = rule_factor(&b, lhs.sizes[i], PASS, false);
            rule_map(&b, 0, i, f);
            rule_map(&b, 2, o++, f);
        }
    }
    for (size_t i = 0; i < rhs.rank; i++) {
        if (is_free(i, d->rhs_batch, d->num_batch, d->rhs_contracting, d->num_contracting)) {
            const size_t f = rule_factor(&b, rhs.sizes[i], PASS, false);
            rule_map(&b, 1, i, f);
            rule_map(&b, 2, o++, f);
        }
    }
    for (size_t i = 0; i < d->num_contracting; i++) {
        const size_t f = rule_factor(&b, lhs.sizes[d->lhs_contracting[i]], REDUCE, false);
        rule_map(&b, 0, d->lhs_contracting[i], f);
        rule_map(&b, 1, d->rhs_contracting[i], f);
    }
    return rule_finish(&b, out);
}

tsr_status tsr_rule_matmul(tsr_context *ctx, tsr_arena *arena, tsr_extents lhs, tsr_extents rhs,
                           const tsr_rule **out)
{
    if (lhs.rank == 0 || rhs.rank == 0) {
        return RULE_ERROR(ctx, "a matrix product has no scalar operands; the ranks are %zu and %zu",
                          lhs.rank, rhs.rank);
    }
    const size_t lhs_batch = lhs.rank > 2 ? lhs.rank - 2 : 0;
    const size_t rhs_batch = rhs.rank > 2 ? rhs.rank - 2 : 0;
    if (lhs_batch != rhs_batch && lhs_batch > 0 && rhs_batch > 0) {
        return RULE_ERROR(ctx,
                          "the operands of a matrix product have %zu and %zu leading "
                          "dimensions; broadcast one of them first",
                          lhs_batch, rhs_batch);
    }
    const size_t num_batch = (lhs_batch < rhs_batch ? lhs_batch : rhs_batch);
    size_t *batch = ARENA_ARRAY(arena, size_t, num_batch);
    if (batch == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_batch; i++) {
        batch[i] = i;
    }
    const size_t l = lhs.rank - 1;
    const size_t r = rhs.rank > 1 ? rhs.rank - 2 : 0;
    const tsr_dot_dims dims = {num_batch, batch, batch, 1, &l, &r};
    return tsr_rule_dot_general(ctx, arena, lhs, rhs, &dims, out);
}

tsr_status tsr_rule_reduce(tsr_context *ctx, tsr_arena *arena, tsr_extents operand,
                           const size_t *dims, size_t num_dims, const tsr_rule **out)
{
    TSR_TRY(rule_check_dims(ctx, "reduced", dims, num_dims, operand.rank));
    const tsr_extents result = {.rank = operand.rank - num_dims};
    rule_builder b = rule_start(ctx, arena, &operand, 1, &result, 1);
    size_t o = 0;
    for (size_t d = 0; d < operand.rank; d++) {
        const bool kept = is_free(d, dims, num_dims, NULL, 0);
        const size_t f = rule_factor(&b, operand.sizes[d], kept ? PASS : REDUCE, false);
        rule_map(&b, 0, d, f);
        rule_map(&b, 1, kept ? o++ : NO_DIM, f);
    }
    return rule_finish(&b, out);
}

tsr_status tsr_rule_transpose(tsr_context *ctx, tsr_arena *arena, tsr_extents operand,
                              const size_t *permutation, const tsr_rule **out)
{
    TSR_TRY(rule_check_dims(ctx, "permuted", permutation, operand.rank, operand.rank));
    rule_builder b = rule_start(ctx, arena, &operand, 1, &operand, 1);
    for (size_t o = 0; o < operand.rank; o++) {
        const size_t f = rule_factor(&b, operand.sizes[permutation[o]], PASS, false);
        rule_map(&b, 0, permutation[o], f);
        rule_map(&b, 1, o, f);
    }
    return rule_finish(&b, out);
}

/* The dimension of the operand that becomes one of the result. */
static size_t source_of(size_t o, tsr_extents operand, tsr_extents result, const size_t *dims)
{
    const size_t leading = result.rank - operand.rank;
    for (size_t i = 0; i < operand.rank; i++) {
        if ((dims != NULL ? dims[i] : i + leading) == o) {
            return i;
        }
    }
    return NO_DIM;
}

static tsr_status check_broadcast(tsr_context *ctx, tsr_extents operand, tsr_extents result,
                                  const size_t *dims)
{
    if (operand.rank > result.rank) {
        return RULE_ERROR(ctx, "a tensor of rank %zu cannot be broadcast to rank %zu", operand.rank,
                          result.rank);
    }
    if (dims != NULL) {
        TSR_TRY(rule_check_dims(ctx, "broadcast", dims, operand.rank, result.rank));
    }
    for (size_t o = 0; o < result.rank; o++) {
        const size_t i = source_of(o, operand, result, dims);
        if (i != NO_DIM && operand.sizes[i] != result.sizes[o] && operand.sizes[i] != 1) {
            return RULE_ERROR(ctx,
                              "dimension %zu of size %lld cannot be broadcast to dimension %zu of "
                              "size %lld: only size 1 grows",
                              i, (long long)operand.sizes[i], o, (long long)result.sizes[o]);
        }
    }
    return TSR_OK;
}

tsr_status tsr_rule_broadcast(tsr_context *ctx, tsr_arena *arena, tsr_extents operand,
                              tsr_extents result, const size_t *dims, const tsr_rule **out)
{
    TSR_TRY(check_broadcast(ctx, operand, result, dims));
    rule_builder b = rule_start(ctx, arena, &operand, 1, &result, 1);
    for (size_t o = 0; o < result.rank; o++) {
        size_t i = source_of(o, operand, result, dims);
        if (i != NO_DIM && operand.sizes[i] == 1 && result.sizes[o] != 1) {
            rule_map(&b, 0, i, rule_factor(&b, 1, PASS, false));
            i = NO_DIM;
        }
        const size_t f = rule_factor(&b, result.sizes[o], PASS, false);
        rule_map(&b, 0, i, f);
        rule_map(&b, 1, o, f);
    }
    return rule_finish(&b, out);
}

tsr_status tsr_rule_broadcasting(tsr_context *ctx, tsr_arena *arena, const tsr_extents *operands,
                                 size_t num_operands, tsr_extents result, const tsr_rule **out)
{
    for (size_t i = 0; i < num_operands; i++) {
        TSR_TRY(check_broadcast(ctx, operands[i], result, NULL));
    }
    rule_builder b = rule_start(ctx, arena, operands, num_operands, &result, 1);
    for (size_t o = 0; o < result.rank; o++) {
        const size_t f = rule_factor(&b, result.sizes[o], PASS, false);
        for (size_t i = 0; i < num_operands; i++) {
            const size_t d = source_of(o, operands[i], result, NULL);
            if (d != NO_DIM && operands[i].sizes[d] == result.sizes[o]) {
                rule_put(&b, i, d, f);
            }
        }
        rule_put(&b, num_operands, o, f);
    }
    return rule_finish(&b, out);
}

static tsr_status check_same_rank(tsr_context *ctx, const char *op, tsr_extents a, tsr_extents b)
{
    if (a.rank != b.rank) {
        return RULE_ERROR(ctx, "%s keeps the rank: %zu is not %zu", op, a.rank, b.rank);
    }
    return TSR_OK;
}

tsr_status tsr_rule_concatenate(tsr_context *ctx, tsr_arena *arena, const tsr_extents *operands,
                                size_t num_operands, size_t dim, const tsr_rule **out)
{
    if (num_operands == 0) {
        return RULE_ERROR(ctx, "nothing to concatenate");
    }
    TSR_TRY(rule_check_dims(ctx, "concatenated", &dim, 1, operands[0].rank));
    int64_t total = 0;
    for (size_t i = 0; i < num_operands; i++) {
        TSR_TRY(check_same_rank(ctx, "concatenation", operands[i], operands[0]));
        for (size_t d = 0; d < operands[0].rank; d++) {
            if (d != dim && operands[i].sizes[d] != operands[0].sizes[d]) {
                return RULE_ERROR(ctx, "operand %zu has size %lld in dimension %zu, operand 0 %lld",
                                  i, (long long)operands[i].sizes[d], d,
                                  (long long)operands[0].sizes[d]);
            }
        }
        if (!checked_add(total, operands[i].sizes[dim], &total)) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "the concatenated dimension exceeds 2^63-1");
        }
    }
    rule_builder b = rule_start(ctx, arena, operands, num_operands, operands, 1);
    for (size_t d = 0; d < operands[0].rank; d++) {
        const int64_t size = d == dim ? total : operands[0].sizes[d];
        rule_put_each(&b, d, rule_factor(&b, size, d == dim ? NEED : PASS, false));
    }
    return rule_finish(&b, out);
}

/* One factor for each dimension, of another kind where the sizes differ. */
static tsr_status mismatch(tsr_context *ctx, tsr_arena *arena, const char *op, tsr_extents operand,
                           tsr_extents result, tsr_factor_kind kind, const tsr_rule **out)
{
    TSR_TRY(check_same_rank(ctx, op, operand, result));
    rule_builder b = rule_start(ctx, arena, &operand, 1, &result, 1);
    for (size_t d = 0; d < operand.rank; d++) {
        const bool differs = operand.sizes[d] != result.sizes[d];
        rule_put_each(&b, d, rule_factor(&b, operand.sizes[d], differs ? kind : PASS, false));
    }
    return rule_finish(&b, out);
}

tsr_status tsr_rule_slice(tsr_context *ctx, tsr_arena *arena, tsr_extents operand,
                          tsr_extents result, const tsr_rule **out)
{
    return mismatch(ctx, arena, "a slice", operand, result, PERMUTE, out);
}

tsr_status tsr_rule_pad(tsr_context *ctx, tsr_arena *arena, tsr_extents operand, tsr_extents result,
                        const tsr_rule **out)
{
    return mismatch(ctx, arena, "padding", operand, result, PERMUTE, out);
}

tsr_status tsr_rule_sort(tsr_context *ctx, tsr_arena *arena, size_t num_operands, tsr_extents shape,
                         size_t dim, const tsr_rule **out)
{
    TSR_TRY(rule_check_dims(ctx, "sorted", &dim, 1, shape.rank));
    tsr_extents *tensors = ARENA_ARRAY(arena, tsr_extents, num_operands);
    if (tensors == NULL) {
        return diag_nomem(ctx);
    }
    bool alone = true;
    for (size_t d = 0; d < shape.rank; d++) {
        alone = alone && (d == dim || shape.sizes[d] == 1);
    }
    for (size_t i = 0; i < num_operands; i++) {
        tensors[i] = shape;
    }
    rule_builder b = rule_start(ctx, arena, tensors, num_operands, tensors, num_operands);
    for (size_t d = 0; d < shape.rank; d++) {
        const bool sorted = d == dim;
        rule_put_each(&b, d,
                      rule_factor(&b, shape.sizes[d], sorted ? NEED : PASS, sorted && alone));
    }
    return rule_finish(&b, out);
}

tsr_status tsr_rule_cumulative(tsr_context *ctx, tsr_arena *arena, tsr_extents shape, size_t dim,
                               const tsr_rule **out)
{
    TSR_TRY(rule_check_dims(ctx, "cumulated", &dim, 1, shape.rank));
    rule_builder b = rule_start(ctx, arena, &shape, 1, &shape, 1);
    for (size_t d = 0; d < shape.rank; d++) {
        rule_put_each(&b, d, rule_factor(&b, shape.sizes[d], d == dim ? PERMUTE : PASS, false));
    }
    return rule_finish(&b, out);
}

tsr_status tsr_rule_embedding(tsr_context *ctx, tsr_arena *arena, tsr_extents table,
                              tsr_extents indices, const tsr_rule **out)
{
    if (table.rank != 2) {
        return RULE_ERROR(ctx, "the table of an embedding has rank 2, got: %zu", table.rank);
    }
    const tsr_extents operands[] = {table, indices};
    const tsr_extents result = {.rank = indices.rank + 1};
    rule_builder b = rule_start(ctx, arena, operands, 2, &result, 1);
    for (size_t d = 0; d < indices.rank; d++) {
        const size_t f = rule_factor(&b, indices.sizes[d], PASS, false);
        rule_put(&b, 1, d, f);
        rule_put(&b, 2, d, f);
    }
    const size_t e = rule_factor(&b, table.sizes[1], PASS, false);
    rule_put(&b, 0, 1, e);
    rule_put(&b, 2, indices.rank, e);
    rule_put(&b, 0, 0, rule_factor(&b, table.sizes[0], REDUCE, false));
    return rule_finish(&b, out);
}

/* Whether two shapes agree but for the last dimensions, and name what does not. */
static tsr_status check_leading(tsr_context *ctx, const char *what, tsr_extents a, tsr_extents b,
                                size_t last)
{
    if (a.rank < 2 || a.rank != b.rank) {
        return RULE_ERROR(ctx, "query and %s of attention have the same rank, 2 at least: %zu, %zu",
                          what, a.rank, b.rank);
    }
    for (size_t d = 0; d + last < a.rank; d++) {
        if (a.sizes[d] != b.sizes[d]) {
            return RULE_ERROR(ctx, "dimension %zu of query and %s differ: %lld, %lld", d, what,
                              (long long)a.sizes[d], (long long)b.sizes[d]);
        }
    }
    return TSR_OK;
}

tsr_status tsr_rule_attention(tsr_context *ctx, tsr_arena *arena, tsr_extents query,
                              tsr_extents key, tsr_extents value, const tsr_rule **out)
{
    TSR_TRY(check_leading(ctx, "key", query, key, 2));
    TSR_TRY(check_leading(ctx, "value", query, value, 2));
    const size_t n = query.rank;
    if (query.sizes[n - 1] != key.sizes[n - 1] || key.sizes[n - 2] != value.sizes[n - 2]) {
        return RULE_ERROR(ctx,
                          "attention wants queries [.., q, d], keys [.., k, d], values [.., k, e]: "
                          "d is %lld and %lld, k %lld and %lld",
                          (long long)query.sizes[n - 1], (long long)key.sizes[n - 1],
                          (long long)key.sizes[n - 2], (long long)value.sizes[n - 2]);
    }
    const tsr_extents operands[] = {query, key, value};
    rule_builder b = rule_start(ctx, arena, operands, 3, &query, 1);
    for (size_t d = 0; d + 2 < n; d++) {
        rule_put_each(&b, d, rule_factor(&b, query.sizes[d], PASS, false));
    }
    const size_t q = rule_factor(&b, query.sizes[n - 2], PASS, false);
    rule_put(&b, 0, n - 2, q);
    rule_put(&b, 3, n - 2, q);
    const size_t e = rule_factor(&b, value.sizes[n - 1], PASS, false);
    rule_put(&b, 2, n - 1, e);
    rule_put(&b, 3, n - 1, e);
    const size_t k = rule_factor(&b, key.sizes[n - 2], NEED, false);
    rule_put(&b, 1, n - 2, k);
    rule_put(&b, 2, n - 2, k);
    const size_t d = rule_factor(&b, query.sizes[n - 1], NEED, false);
    rule_put(&b, 0, n - 1, d);
    rule_put(&b, 1, n - 1, d);
    return rule_finish(&b, out);
}

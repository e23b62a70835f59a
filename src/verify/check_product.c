/* The rules of products and gathers that `ops` has no hook for, by the hooks of those it has. */
#include <string.h>

#include "base/arena.h"
#include "ir/params.h"
#include "ops/op_dot.h"
#include "ops/op_index.h"
#include "verify/check.h"
#include "verify/check_ops.h"

/* The extents of a product of vectors and matrices; -1 for other operands. */
static int dot_extents(const type_head *lhs, const type_head *rhs, int64_t *out)
{
    int n = 0;
    if (lhs->count < 1 || lhs->count > 2 || rhs->count < 1 || rhs->count > 2 ||
        !extents_agree(type_extents(lhs)[lhs->count - 1], type_extents(rhs)[0])) {
        return -1;
    }
    if (lhs->count == 2) {
        out[n++] = type_extents(lhs)[0];
    }
    if (rhs->count == 2) {
        out[n++] = type_extents(rhs)[1];
    }
    return n;
}

tsr_status check_dot(const ir_check *k)
{
    int64_t extents[2];
    const int rank = dot_extents(operand(k, 0), operand(k, 1), extents);
    const type_head *to = result(k, 0);
    if (rank < 0) {
        return refuse(k, "expected both lhs/rhs ranks to be either 1 or 2");
    }
    bool fits = (int)to->count == rank;
    for (int i = 0; fits && i < rank; i++) {
        fits = extents_agree(extents[i], type_extents(to)[i]);
    }
    return fits ? TSR_OK
                : refuse(k,
                         "inferred shape '[%s]' is incompatible with return type of operation '%s'",
                         words_of_extents(extents, (size_t)rank).text,
                         type_words(k, result_type(k, 0)));
}

/* ---- gathers of slices whose sizes are computed ---- */

/* Sizes that fit any operand: those of the slices are not known. */
static tsr_status no_sizes(const ir_check *k, op_ints *out)
{
    const size_t count = (size_t)type_extents(operand(k, 2))[0];
    int64_t *sizes = ARENA_ARRAY(k->p->scratch, int64_t, count + 1);
    if (sizes == NULL) {
        return diag_nomem(k->ctx);
    }
    memset(sizes, 0, (count + 1) * sizeof *sizes);
    *out = (op_ints){count, sizes};
    return TSR_OK;
}

tsr_status infer_dynamic_gather(const ir_check *k, inferred_types *out)
{
    const op_row *row = op_find("gather");
    const void *read = NULL;
    op_type operands[2];
    op_type slices = {0};
    if (!ir_type_of_tensor(k->p, operand_type(k, 0), &operands[0]) ||
        !ir_type_of_tensor(k->p, operand_type(k, 1), &operands[1])) {
        return infer_one(k, result_type(k, 0), out);
    }
    TSR_TRY(ir_read_params(k->ctx, k->p->scratch, k->p, k->op, row, &read));
    gather_params params = *(const gather_params *)read;
    TSR_TRY(no_sizes(k, &params.slice_sizes));
    TSR_TRY(ask_row(k, row, &params, 2, operands, &slices));
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, slices.rank + 1);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < slices.rank; i++) {
        extents[i] = op_ints_have(params.offset_dims, i) ? TSR_UNKNOWN : slices.shape[i];
    }
    return infer_tensor(k, extents, slices.rank, operand(k, 0)->element, out);
}

/* ---- products by groups of rows ---- */

static tsr_status check_group(const ir_check *k, const dot_params *p, numbers groups, bool wanted,
                              int64_t count)
{
    const type_head *rhs = operand(k, 1);
    if (wanted != (groups.count == 1) || groups.count > 1) {
        return refuse(k, wanted ? "There must be exactly one group dimension in the rhs when the "
                                  "lhs ragged dimension is non-contracting."
                                : "There must be zero group dimensions in the rhs when the ragged "
                                  "dimension is batch or contracting.");
    }
    if (!wanted) {
        return TSR_OK;
    }
    const int64_t group = groups.values[0];
    if (group < 0 || group >= rhs->count) {
        return refuse(k,
                      "Expects rhs_group_dim to be in range [0, rhs_rank) i.e. [0, %u). got: %lld.",
                      rhs->count, (long long)group);
    }
    const op_ints lists[] = {p->rhs_batching_dimensions, p->rhs_contracting_dimensions};
    static const char *const names[] = {"batching", "contracting"};
    for (size_t i = 0; i < 2; i++) {
        if (op_ints_have(lists[i], (size_t)group)) {
            return refuse(k,
                          "has duplicated dimension from rhs_group_dimensions and "
                          "rhs_%s_dimensions: %lld",
                          names[i], (long long)group);
        }
    }
    const int64_t size = type_extents(rhs)[group];
    return extents_agree(size, count)
               ? TSR_OK
               : refuse(k, "rhs group dimension is expected to have size=%lld, got %lld",
                        (long long)count, (long long)size);
}

/* The shape of the product: without the group's dimension, or with one more where sums are cut. */
static tsr_status check_ragged_result(const ir_check *k, const op_type *product, size_t skip,
                                      bool sums, int64_t count)
{
    const type_head *to = result(k, 0);
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, product->rank + 2);
    size_t rank = 0;
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    if (sums) {
        extents[rank++] = count;
    }
    for (size_t i = 0; i < product->rank; i++) {
        if (i != skip) {
            extents[rank++] = product->shape[i];
        }
    }
    bool fits = to->kind != TYPE_TENSOR || to->count == rank;
    for (size_t i = 0; fits && to->kind == TYPE_TENSOR && i < rank; i++) {
        fits = extents_agree(extents[i], type_extents(to)[i]);
    }
    return fits ? TSR_OK
                : refuse(k,
                         "inferred shape '[%s]' is incompatible with return type of operation '%s'",
                         words_of_extents(extents, rank).text, type_words(k, result_type(k, 0)));
}

/* Where a free dimension of the rhs is in the product; beyond it for none. */
static size_t place_of_group(const dot_params *p, size_t lhs_rank, numbers groups)
{
    size_t place = lhs_rank - p->lhs_contracting_dimensions.count;
    for (int64_t d = 0; groups.count == 1 && d < groups.values[0]; d++) {
        place += !op_ints_have(p->rhs_batching_dimensions, (size_t)d) &&
                 !op_ints_have(p->rhs_contracting_dimensions, (size_t)d);
    }
    return groups.count == 1 ? place : SIZE_MAX;
}

tsr_status check_ragged_dot(const ir_check *k)
{
    static const char name[] = "ragged_dot_dimension_numbers";
    const op_row *row = op_find("dot_general");
    const numbers ragged = attr_as_numbers(k, op_field_attr(k, name, "lhs_ragged_dimensions"));
    const numbers groups = attr_as_numbers(k, op_field_attr(k, name, "rhs_group_dimensions"));
    const void *read = NULL;
    op_type operands[2];
    op_type product = {0};
    if (!ir_type_of_tensor(k->p, operand_type(k, 0), &operands[0]) ||
        !ir_type_of_tensor(k->p, operand_type(k, 1), &operands[1])) {
        return TSR_OK;
    }
    if (ragged.count != 1) {
        return refuse(k, "There must be exactly one ragged dimension in the lhs.");
    }
    const int64_t dim = ragged.values[0];
    if (dim < 0 || (uint64_t)dim >= operands[0].rank) {
        return refuse(
            k, "Expects lhs_ragged_dim to be in range [0, lhs_rank) i.e. [0, %zu). got: %lld.",
            operands[0].rank, (long long)dim);
    }
    TSR_TRY(ir_read_params(k->ctx, k->p->scratch, k->p, k->op, row, &read));
    const dot_params *p = read;
    TSR_TRY(ask_row(k, row, p, 2, operands, &product));
    const type_head *sizes = operand(k, 2);
    const bool sums = op_ints_have(p->lhs_contracting_dimensions, (size_t)dim);
    const bool by_batch = op_ints_have(p->lhs_batching_dimensions, (size_t)dim);
    const int64_t count = sizes->count > 0 ? type_extents(sizes)[sizes->count - 1] : TSR_UNKNOWN;
    if (p->lhs_batching_dimensions.count == 0 && sizes->count != 1) {
        return refuse(k, "expected group_sizes to have rank 1, got %u", sizes->count);
    }
    TSR_TRY(check_group(k, p, groups, !sums && !by_batch, count));
    return check_ragged_result(k, &product, place_of_group(p, operands[0].rank, groups), sums,
                               count);
}

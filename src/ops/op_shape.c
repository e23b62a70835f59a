#include "ops/op_shape.h"

#include <string.h>

#include "kernel/elementwise.h"
#include "kernel/packed.h"
#include "ops/gradient.h"

/* Copies elements to where they lie in the result. */
static void copy_to(const op_array *to, size_t offset, const int64_t *to_strides,
                    const tsr_view *from, const int64_t *from_strides, const int64_t *shape)
{
    char *dst = (char *)to->view.data + offset;
    kernel_copy(dst, to_strides, from->data, from_strides, shape, to->view.rank,
                (size_t)tsr_dtype_item_bytes(to->view.dtype), false);
}

/* A shape that is given: known extents, not too many. */
static tsr_status check_shape(const op_request *r, op_ints shape)
{
    if (shape.count > OP_MAX_RANK) {
        return OP_ERROR(r, "the result would have %zu dimensions, %d are the most", shape.count,
                        OP_MAX_RANK);
    }
    for (size_t i = 0; i < shape.count; i++) {
        if (shape.values[i] < 0) {
            return OP_ERROR(r, "dimension %zu of the result has size %lld; 0 is the least", i,
                            (long long)shape.values[i]);
        }
    }
    return TSR_OK;
}

/* ---- reshape ---- */

static tsr_status reshape_types(const op_request *r, op_type *results)
{
    int64_t before;
    int64_t behind;
    TSR_TRY(check_shape(r, r->params->shape));
    results[0] = op_type_of(r->operands[0].dtype, r->params->shape);
    if (!op_elements(&r->operands[0], &before) || !op_elements(&results[0], &behind) ||
        before != behind) {
        return OP_ERROR(r, "%s cannot become %s: the number of elements differs",
                        op_type_text(&r->operands[0]).text, op_type_text(&results[0]).text);
    }
    return TSR_OK;
}

static tsr_status reshape_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                               const tsr_rule **out)
{
    int64_t elements;
    if (!op_elements(&results[0], &elements) || elements == 0) {
        return TSR_NOT_APPLICABLE;
    }
    return tsr_rule_reshape(r->ctx, arena, op_extents(&r->operands[0]), op_extents(&results[0]),
                            out);
}

/* The result is packed, so the elements are copied in the order of the operand. */
static void reshape_run(const op_call *c, void *scratch)
{
    const tsr_view *from = &c->operands[0].view;
    const size_t item = (size_t)tsr_dtype_item_bytes(from->dtype);
    int64_t packed[OP_MAX_RANK];
    (void)scratch;
    (void)packed_strides(from->shape, from->rank, item, packed);
    kernel_copy(c->results[0].view.data, packed, from->data, from->strides, from->shape, from->rank,
                item, false);
}

const op_row op_reshape = {.name = "reshape",
                           .traits = OP_GRADIENT_BY_TYPE,
                           .num_operands = 1,
                           .num_results = 1,
                           .types = reshape_types,
                           .rule = reshape_rule,
                           .class_of = class_moves,
                           .run = reshape_run,
                           .gradient = gradient_reshape};

/* ---- transpose ---- */

static tsr_status transpose_types(const op_request *r, op_type *results)
{
    const op_type *operand = &r->operands[0];
    const op_ints permutation = r->params->dimensions;
    TSR_TRY(op_check_dims(r, "the permuted dimension", permutation, operand->rank, NULL));
    if (permutation.count != operand->rank) {
        return OP_ERROR(r, "the permutation has %zu dimensions, operand 0, %s, has %zu",
                        permutation.count, op_type_text(operand).text, operand->rank);
    }
    results[0] = *operand;
    for (size_t d = 0; d < operand->rank; d++) {
        results[0].shape[d] = operand->shape[permutation.values[d]];
    }
    return TSR_OK;
}

static tsr_status transpose_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                 const tsr_rule **out)
{
    size_t permutation[OP_MAX_RANK];
    (void)results;
    TSR_TRY(op_check_dims(r, "the permuted dimension", r->params->dimensions, r->operands[0].rank,
                          permutation));
    return tsr_rule_transpose(r->ctx, arena, op_extents(&r->operands[0]), permutation, out);
}

static void transpose_run(const op_call *c, void *scratch)
{
    const op_array *to = &c->results[0];
    int64_t strides[OP_MAX_RANK];
    (void)scratch;
    for (size_t d = 0; d < to->view.rank; d++) {
        strides[d] = c->operands[0].view.strides[c->params->dimensions.values[d]];
    }
    copy_to(to, 0, to->view.strides, &c->operands[0].view, strides, to->view.shape);
}

const op_row op_transpose = {.name = "transpose",
                             .traits = OP_GRADIENT_BY_TYPE,
                             .num_operands = 1,
                             .num_results = 1,
                             .types = transpose_types,
                             .rule = transpose_rule,
                             .class_of = class_moves,
                             .run = transpose_run,
                             .gradient = gradient_transpose};

/* ---- broadcast ---- */

static tsr_status broadcast_types(const op_request *r, op_type *results)
{
    const op_type *operand = &r->operands[0];
    const op_ints dims = r->params->dimensions;
    TSR_TRY(check_shape(r, r->params->shape));
    results[0] = op_type_of(operand->dtype, r->params->shape);
    TSR_TRY(op_check_dims(r, "the dimension", dims, results[0].rank, NULL));
    if (dims.count != operand->rank) {
        return OP_ERROR(r, "%zu dimensions are named for operand 0, %s, which has %zu", dims.count,
                        op_type_text(operand).text, operand->rank);
    }
    for (size_t d = 0; d < operand->rank; d++) {
        const int64_t size = results[0].shape[dims.values[d]];
        if (operand->shape[d] != size && operand->shape[d] != 1) {
            return OP_ERROR(r, "dimension %zu of %s cannot grow to %lld of %s: only size 1 grows",
                            d, op_type_text(operand).text, (long long)size,
                            op_type_text(&results[0]).text);
        }
    }
    return TSR_OK;
}

static tsr_status broadcast_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                 const tsr_rule **out)
{
    size_t dims[OP_MAX_RANK];
    TSR_TRY(op_check_dims(r, "the dimension", r->params->dimensions, results[0].rank, dims));
    return tsr_rule_broadcast(r->ctx, arena, op_extents(&r->operands[0]), op_extents(&results[0]),
                              dims, out);
}

static void broadcast_run(const op_call *c, void *scratch)
{
    const op_array *from = &c->operands[0];
    const op_array *to = &c->results[0];
    int64_t strides[OP_MAX_RANK] = {0};
    (void)scratch;
    for (size_t d = 0; d < from->view.rank; d++) {
        const size_t at = (size_t)c->params->dimensions.values[d];
        strides[at] = from->full[d] == to->full[at] ? from->view.strides[d] : 0;
    }
    copy_to(to, 0, to->view.strides, &from->view, strides, to->view.shape);
}

const op_row op_broadcast_in_dim = {.name = "broadcast_in_dim",
                                    .traits = OP_GRADIENT_BY_TYPE,
                                    .num_operands = 1,
                                    .num_results = 1,
                                    .types = broadcast_types,
                                    .rule = broadcast_rule,
                                    .class_of = class_moves,
                                    .run = broadcast_run,
                                    .gradient = gradient_broadcast};

/* ---- slice ---- */

static tsr_status slice_types(const op_request *r, op_type *results)
{
    const op_type *operand = &r->operands[0];
    const op_params *p = r->params;
    if (p->start.count != operand->rank || p->limit.count != operand->rank ||
        p->strides.count != operand->rank) {
        return OP_ERROR(r, "%zu starts, %zu limits and %zu strides for operand 0, %s",
                        p->start.count, p->limit.count, p->strides.count,
                        op_type_text(operand).text);
    }
    results[0] = *operand;
    for (size_t d = 0; d < operand->rank; d++) {
        const int64_t from = p->start.values[d];
        const int64_t to = p->limit.values[d];
        if (from < 0 || to < from || to > operand->shape[d] || p->strides.values[d] < 1) {
            return OP_ERROR(r, "%lld:%lld:%lld is no slice of dimension %zu of %s", (long long)from,
                            (long long)to, (long long)p->strides.values[d], d,
                            op_type_text(operand).text);
        }
        results[0].shape[d] = ceil_div(to - from, p->strides.values[d]);
    }
    return TSR_OK;
}

static tsr_status slice_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                             const tsr_rule **out)
{
    return tsr_rule_slice(r->ctx, arena, op_extents(&r->operands[0]), op_extents(&results[0]), out);
}

/* Dimensions that change are whole on every rank; the others are taken as they are. */
static void slice_run(const op_call *c, void *scratch)
{
    const op_array *to = &c->results[0];
    tsr_view from = c->operands[0].view;
    int64_t strides[OP_MAX_RANK];
    (void)scratch;
    for (size_t d = 0; d < to->view.rank; d++) {
        const bool whole = to->full[d] == c->operands[0].full[d];
        strides[d] = from.strides[d] * (whole ? 1 : c->params->strides.values[d]);
        if (!whole && to->view.shape[d] > 0) {
            from.data = (char *)from.data + c->params->start.values[d] * from.strides[d];
        }
    }
    copy_to(to, 0, to->view.strides, &from, strides, to->view.shape);
}

const op_row op_slice = {.name = "slice",
                         .traits = OP_GRADIENT_BY_TYPE,
                         .num_operands = 1,
                         .num_results = 1,
                         .types = slice_types,
                         .rule = slice_rule,
                         .class_of = class_moves,
                         .run = slice_run,
                         .gradient = gradient_slice};

/* ---- concatenate ---- */

static tsr_status concatenate_types(const op_request *r, op_type *results)
{
    const op_type *first = &r->operands[0];
    TSR_TRY(op_check_dim(r, "the dimension", r->params->dimension, first->rank));
    const size_t dim = (size_t)r->params->dimension;
    results[0] = *first;
    for (size_t i = 1; i < r->num_operands; i++) {
        const op_type *other = &r->operands[i];
        TSR_TRY(op_same_dtype(r, 0, i));
        bool fits = other->rank == first->rank;
        for (size_t d = 0; fits && d < first->rank; d++) {
            fits = d == dim || other->shape[d] == first->shape[d];
        }
        if (!fits ||
            !checked_add(results[0].shape[dim], other->shape[dim], &results[0].shape[dim])) {
            return OP_ERROR(r,
                            "operand 0, %s, and operand %zu, %s, may differ in dimension %zu only",
                            op_type_text(first).text, i, op_type_text(other).text, dim);
        }
    }
    return TSR_OK;
}

static tsr_status concatenate_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                   const tsr_rule **out)
{
    tsr_extents *operands = tsr_arena_alloc(arena, r->num_operands * sizeof *operands);
    (void)results;
    if (operands == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t i = 0; i < r->num_operands; i++) {
        operands[i] = op_extents(&r->operands[i]);
    }
    return tsr_rule_concatenate(r->ctx, arena, operands, r->num_operands,
                                (size_t)r->params->dimension, out);
}

static void concatenate_run(const op_call *c, void *scratch)
{
    const op_array *to = &c->results[0];
    const size_t dim = (size_t)c->params->dimension;
    size_t offset = 0;
    (void)scratch;
    for (size_t i = 0; i < c->num_operands; i++) {
        const tsr_view *from = &c->operands[i].view;
        copy_to(to, offset, to->view.strides, from, from->strides, from->shape);
        offset += (size_t)(from->shape[dim] * to->view.strides[dim]);
    }
}

const op_row op_concatenate = {.name = "concatenate",
                               .traits = OP_VARIADIC | OP_GRADIENT_BY_TYPE,
                               .num_operands = 1,
                               .num_results = 1,
                               .types = concatenate_types,
                               .rule = concatenate_rule,
                               .class_of = class_moves,
                               .run = concatenate_run,
                               .gradient = gradient_concatenate};

/* ---- pad ---- */

static tsr_status pad_types(const op_request *r, op_type *results)
{
    const op_type *operand = &r->operands[0];
    const op_params *p = r->params;
    TSR_TRY(op_same_dtype(r, 0, 1));
    if (r->operands[1].rank != 0) {
        return OP_ERROR(r, "the value to pad with must be a scalar, not %s",
                        op_type_text(&r->operands[1]).text);
    }
    if (p->start.count != operand->rank || p->limit.count != operand->rank ||
        p->strides.count != operand->rank) {
        return OP_ERROR(r, "%zu paddings before, %zu behind and %zu between for operand 0, %s",
                        p->start.count, p->limit.count, p->strides.count,
                        op_type_text(operand).text);
    }
    results[0] = *operand;
    for (size_t d = 0; d < operand->rank; d++) {
        const int64_t gaps = operand->shape[d] > 1 ? operand->shape[d] - 1 : 0;
        int64_t size;
        const bool fits = p->strides.values[d] >= 0 && p->strides.values[d] < INT64_MAX &&
                          p->start.values[d] > INT64_MIN &&
                          checked_mul(gaps, p->strides.values[d], &size) &&
                          checked_add(size, operand->shape[d], &size) &&
                          checked_add(size, p->start.values[d], &size) &&
                          checked_add(size, p->limit.values[d], &size) && size >= 0;
        if (!fits) {
            return OP_ERROR(r,
                            "padding %lld, %lld and %lld between does not fit dimension %zu of %s",
                            (long long)p->start.values[d], (long long)p->limit.values[d],
                            (long long)p->strides.values[d], d, op_type_text(operand).text);
        }
        results[0].shape[d] = size;
    }
    return TSR_OK;
}

/* Whether a dimension is as it was. */
static bool is_kept(const op_params *p, size_t d)
{
    return p->start.values[d] == 0 && p->limit.values[d] == 0 && p->strides.values[d] == 0;
}

/* The rule of the operand alone, with a second one that has no dimensions. */
static tsr_status pad_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                           const tsr_rule **out)
{
    const tsr_rule *alone = NULL;
    TSR_TRY(
        tsr_rule_pad(r->ctx, arena, op_extents(&r->operands[0]), op_extents(&results[0]), &alone));
    const size_t count = tsr_rule_num_factors(alone);
    tsr_factor *factors = tsr_arena_alloc(arena, (count + 1) * sizeof *factors);
    if (factors == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t f = 0; f < count; f++) {
        factors[f] = *tsr_rule_factor(alone, f);
        factors[f].size = max_i64(factors[f].size, 1);
    }
    for (size_t d = 0; d < r->operands[0].rank; d++) {
        if (!is_kept(r->params, d)) {
            /* low and high may cancel out, so that the sizes do not tell. */
            factors[tsr_rule_operand(alone, 0)->dims[d].factors[0]].kind = TSR_FACTOR_PERMUTATION;
        }
    }
    const tsr_rule_tensor operands[] = {*tsr_rule_operand(alone, 0), {NULL, 0}};
    const tsr_rule_spec spec = {.factors = factors,
                                .num_factors = count,
                                .operands = operands,
                                .num_operands = 2,
                                .results = tsr_rule_result(alone, 0),
                                .num_results = 1};
    return tsr_rule_create(r->ctx, arena, &spec, out);
}

/* The rows of a dimension that land in the result: the first, how many, and where. */
static void landing(const op_call *c, size_t d, int64_t *first, int64_t *count, int64_t *where)
{
    const op_params *p = c->params;
    const int64_t rows = c->operands[0].view.shape[d];
    const int64_t step = p->strides.values[d] + 1;
    const int64_t low = p->start.values[d];
    *first = low < 0 ? ceil_div(-low, step) : 0;
    const int64_t room = c->results[0].view.shape[d] - (low + *first * step);
    *count = room > 0 ? min_i64(rows - *first, ceil_div(room, step)) : 0;
    *count = max_i64(*count, 0);
    *where = low + *first * step;
}

static void pad_run(const op_call *c, void *scratch)
{
    const op_array *to = &c->results[0];
    tsr_view from = c->operands[0].view;
    int64_t strides[OP_MAX_RANK];
    int64_t shape[OP_MAX_RANK];
    int64_t offset = 0;
    (void)scratch;
    kernel_fill(&to->view, c->operands[1].view.data);
    for (size_t d = 0; d < to->view.rank; d++) {
        int64_t first;
        int64_t where;
        if (is_kept(c->params, d)) {
            strides[d] = to->view.strides[d];
            shape[d] = from.shape[d];
            continue;
        }
        landing(c, d, &first, &shape[d], &where);
        if (shape[d] == 0) {
            return;
        }
        strides[d] = to->view.strides[d] * (c->params->strides.values[d] + 1);
        offset += where * to->view.strides[d];
        from.data = (char *)from.data + first * from.strides[d];
    }
    copy_to(to, (size_t)offset, strides, &from, from.strides, shape);
}

const op_row op_pad = {.name = "pad",
                       .traits = OP_GRADIENT_BY_TYPE,
                       .num_operands = 2,
                       .num_results = 1,
                       .types = pad_types,
                       .rule = pad_rule,
                       .class_of = class_moves,
                       .run = pad_run,
                       .gradient = gradient_pad};

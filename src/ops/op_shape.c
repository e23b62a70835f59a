#include "ops/op_shape.h"

#include <string.h>

#include "factor/rule.h"
#include "kernel/elementwise.h"
#include "kernel/packed.h"
#include "ops/gradient.h"

#define PASS TSR_FACTOR_PASS_THROUGH

/* A shape that a parameter gives: extents of at least 0, or unknown; not too many. */
static tsr_status check_shape(const op_request *r, const op_type *type)
{
    if (type->rank > OP_MAX_RANK) {
        return OP_ERROR(r, "the result has rank %zu; the maximum is %d", type->rank, OP_MAX_RANK);
    }
    for (size_t i = 0; i < type->rank; i++) {
        if (type->shape[i] < 0 && type->shape[i] != TSR_UNKNOWN) {
            return OP_ERROR(r, "dimension %zu of the result has size %lld; the minimum is 0", i,
                            (long long)type->shape[i]);
        }
    }
    return TSR_OK;
}

/* ---- reshape ---- */

static const op_field reshape_list[] = {OP_FIELD(reshape_params, result, RESULT)};
static const op_fields reshape_fields = OP_FIELDS(reshape_params, reshape_list);

static tsr_status reshape_types(const op_request *r, op_type *results)
{
    const reshape_params *p = r->params;
    int64_t before = 0;
    int64_t after = 0;
    TSR_TRY(check_shape(r, &p->result));
    results[0] = op_type_like(&p->result, r->operands[0].dtype);
    if (op_has_unknown(&r->operands[0]) || op_has_unknown(&results[0])) {
        return TSR_OK;
    }
    if (!op_elements(&r->operands[0], &before) || !op_elements(&results[0], &after) ||
        before != after) {
        return OP_ERROR(r,
                        "number of output elements (%lld) doesn't match expected number of "
                        "elements (%lld)",
                        (long long)after, (long long)before);
    }
    return TSR_OK;
}

/* One side of the walk: the dimension under way, and how much of it has become factors. */
typedef struct side {
    tsr_extents shape;
    size_t tensor;
    size_t dim;
    int64_t entered; /* the product of the dimensions entered */
    int64_t emitted; /* the product of the factors made of them */
} side;

static bool has_more(const side *s)
{
    return s->dim < s->shape.rank;
}

/* A dimension of size 1 is a factor of its own. */
static bool skip_one(rule_builder *b, side *s)
{
    if (!has_more(s) || s->shape.sizes[s->dim] != 1) {
        return false;
    }
    rule_map(b, s->tensor, s->dim++, rule_factor(b, 1, PASS, false));
    return true;
}

/* Opens the next dimension when all of those before have become factors. */
static void enter(side *s)
{
    if (has_more(s) && s->entered == s->emitted) {
        s->entered *= s->shape.sizes[s->dim];
    }
}

static void leave(side *s)
{
    if (has_more(s) && s->entered == s->emitted) {
        s->dim++;
    }
}

/* A factor of this side alone. */
static void emit_alone(rule_builder *b, side *s, int64_t size)
{
    rule_map(b, s->tensor, s->dim, rule_factor(b, size, PASS, false));
    s->emitted *= size;
}

static void emit_both(rule_builder *b, side *in, side *out, int64_t size)
{
    const size_t f = rule_factor(b, size, PASS, false);
    rule_map(b, in->tensor, in->dim, f);
    rule_map(b, out->tensor, out->dim, f);
    in->emitted *= size;
    out->emitted *= size;
}

/* The side with fewer factors so far makes one that brings it level, or as far as it gets. */
static void catch_up(rule_builder *b, side *late, const side *ahead, int64_t common)
{
    const int64_t open = late->entered / late->emitted;
    const int64_t gap = ahead->emitted % late->emitted == 0 ? ahead->emitted / late->emitted : 0;
    int64_t size = open > common ? open / common : open;
    if (gap > 0 && open % gap == 0) {
        size = gap;
    }
    emit_alone(b, late, size);
}

static void step(rule_builder *b, side *in, side *out)
{
    /* No size is 0, so neither is a product of factors. */
    const int64_t common =
        gcd_i64(in->entered / in->emitted, out->entered / out->emitted); /* NOLINT */
    if (in->emitted != out->emitted) {
        const bool in_is_late = in->emitted < out->emitted;
        catch_up(b, in_is_late ? in : out, in_is_late ? out : in, common);
    } else if (common > 1) {
        emit_both(b, in, out, common);
    } else {
        emit_alone(b, in, in->entered / in->emitted);
        emit_alone(b, out, out->entered / out->emitted);
    }
}

/* Factors that both shapes are products of; none where there are no elements. */
static tsr_status reshape_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                               const tsr_rule **out)
{
    const tsr_extents operand = op_extents(&r->operands[0]);
    const tsr_extents result = op_extents(&results[0]);
    int64_t elements;
    if (!op_elements(&results[0], &elements) || elements == 0) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = rule_start(r->ctx, arena, &operand, 1, &result, 1);
    side in = {.shape = operand, .tensor = 0, .entered = 1, .emitted = 1};
    side to = {.shape = result, .tensor = 1, .entered = 1, .emitted = 1};
    while (has_more(&in) || has_more(&to)) {
        if (skip_one(&b, &in) || skip_one(&b, &to)) {
            continue;
        }
        enter(&in);
        enter(&to);
        step(&b, &in, &to);
        leave(&in);
        leave(&to);
    }
    return rule_finish(&b, out);
}

static bool is_packed(const tsr_view *view)
{
    return is_packed_array(view->shape, view->rank, (size_t)tsr_dtype_item_bytes(view->dtype),
                           view->strides);
}

/* A result with gaps is put together elsewhere first. */
static size_t reshape_scratch(const op_call *c)
{
    const tsr_view *to = &c->results[0].view;
    return is_packed(to)
               ? 0
               : (size_t)packed_bytes(to->shape, to->rank, (size_t)tsr_dtype_item_bytes(to->dtype));
}

static void reshape_run(const op_call *c, void *scratch)
{
    const tsr_view *from = &c->operands[0].view;
    const tsr_view *to = &c->results[0].view;
    const size_t item = (size_t)tsr_dtype_item_bytes(from->dtype);
    const bool direct = is_packed(to);
    int64_t packed[OP_MAX_RANK];
    (void)packed_strides(from->shape, from->rank, item, packed);
    kernel_copy(direct ? to->data : scratch, packed, from->data, from->strides, from->shape,
                from->rank, item, false);
    if (!direct) {
        (void)packed_strides(to->shape, to->rank, item, packed);
        kernel_copy(to->data, to->strides, scratch, packed, to->shape, to->rank, item, false);
    }
}

static void reshape_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    const op_type type = build_type(b, v->operands[0]);
    grads[0] = build_reshape(b, v->cotangents[0], type.shape, type.rank);
}

const op_row op_reshape = {.name = "reshape",
                           .traits = OP_GRADIENT_BY_TYPE | OP_PASSES_ON,
                           .num_operands = 1,
                           .num_results = 1,
                           .fields = &reshape_fields,
                           .types = reshape_types,
                           .rule = reshape_rule,
                           .class_of = class_moves,
                           .scratch = reshape_scratch,
                           .run = reshape_run,
                           .gradient = reshape_gradient};

/* ---- transpose ---- */

static const op_field transpose_list[] = {OP_FIELD(transpose_params, permutation, INTS)};
static const op_fields transpose_fields = OP_FIELDS(transpose_params, transpose_list);

static tsr_status transpose_types(const op_request *r, op_type *results)
{
    const transpose_params *p = r->params;
    const op_type *operand = &r->operands[0];
    int64_t *shape = op_new_shape(r, operand->rank);
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    if (p->permutation.count != operand->rank) {
        return OP_ERROR(r, "TransposeOp operand rank %zu does not match permutation size %zu",
                        operand->rank, p->permutation.count);
    }
    for (size_t d = 0; d < operand->rank; d++) {
        shape[d] = (int64_t)d;
    }
    for (size_t d = 0; d < operand->rank; d++) {
        if (!op_ints_have(p->permutation, d)) {
            return OP_ERROR(r, "attribute permutation must be a permutation of [%s] but got %s",
                            op_ints_text(shape, operand->rank).text,
                            op_ints_text(p->permutation.values, p->permutation.count).text);
        }
    }
    for (size_t d = 0; d < operand->rank; d++) {
        shape[d] = operand->shape[p->permutation.values[d]];
    }
    results[0] = (op_type){.dtype = operand->dtype, .rank = operand->rank, .shape = shape};
    return TSR_OK;
}

static tsr_status transpose_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                 const tsr_rule **out)
{
    const transpose_params *p = r->params;
    const tsr_extents operand = op_extents(&r->operands[0]);
    const tsr_extents result = op_extents(&results[0]);
    rule_builder b = rule_start(r->ctx, arena, &operand, 1, &result, 1);
    for (size_t o = 0; o < result.rank; o++) {
        const size_t f = rule_factor(&b, result.sizes[o], PASS, false);
        rule_map(&b, 0, (size_t)p->permutation.values[o], f);
        rule_map(&b, 1, o, f);
    }
    return rule_finish(&b, out);
}

static void transpose_run(const op_call *c, void *scratch)
{
    const transpose_params *p = c->params;
    const op_array *to = &c->results[0];
    int64_t strides[OP_MAX_RANK];
    (void)scratch;
    for (size_t d = 0; d < to->view.rank; d++) {
        strides[d] = c->operands[0].view.strides[p->permutation.values[d]];
    }
    op_copy_to(to, 0, to->view.strides, &c->operands[0].view, strides, to->view.shape);
}

static void transpose_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    const transpose_params *p = v->params;
    int64_t inverse[OP_MAX_RANK];
    for (size_t d = 0; d < p->permutation.count; d++) {
        inverse[p->permutation.values[d]] = (int64_t)d;
    }
    grads[0] = build_transpose(b, v->cotangents[0], inverse);
}

const op_row op_transpose = {.name = "transpose",
                             .traits = OP_GRADIENT_BY_TYPE | OP_PASSES_ON,
                             .num_operands = 1,
                             .num_results = 1,
                             .fields = &transpose_fields,
                             .types = transpose_types,
                             .rule = transpose_rule,
                             .class_of = class_moves,
                             .run = transpose_run,
                             .gradient = transpose_gradient};

/* ---- broadcast_in_dim ---- */

static const op_field broadcast_list[] = {OP_FIELD(broadcast_params, broadcast_dimensions, INTS),
                                          OP_FIELD(broadcast_params, result, RESULT)};
static const op_fields broadcast_fields = OP_FIELDS(broadcast_params, broadcast_list);

static tsr_status broadcast_types(const op_request *r, op_type *results)
{
    const broadcast_params *p = r->params;
    const op_type *operand = &r->operands[0];
    const op_ints dims = p->broadcast_dimensions;
    TSR_TRY(check_shape(r, &p->result));
    results[0] = op_type_like(&p->result, operand->dtype);
    if (dims.count != operand->rank) {
        return OP_ERROR(r, "broadcast_dimensions size (%zu) does not match operand rank (%zu)",
                        dims.count, operand->rank);
    }
    if (op_ints_repeated(dims) != NULL) {
        return OP_ERROR(r, "%s", "broadcast_dimensions should not have duplicates");
    }
    for (size_t d = 0; d < operand->rank; d++) {
        if (dims.values[d] < 0 || (uint64_t)dims.values[d] >= results[0].rank) {
            return OP_ERROR(r,
                            "broadcast_dimensions contains invalid value %lld for result with rank "
                            "%zu",
                            (long long)dims.values[d], results[0].rank);
        }
        const int64_t size = results[0].shape[dims.values[d]];
        if (!extents_agree(operand->shape[d], size) && operand->shape[d] != 1) {
            return OP_ERROR(r,
                            "size of operand dimension %zu (%lld) is not equal to 1 or size of "
                            "result dimension %lld (%lld)",
                            d, (long long)operand->shape[d], (long long)dims.values[d],
                            (long long)size);
        }
    }
    return TSR_OK;
}

/* The position of a dimension in a list, or NO_DIM. */
static size_t position_in(op_ints list, size_t dim)
{
    for (size_t i = 0; i < list.count; i++) {
        if (list.values[i] == (int64_t)dim) {
            return i;
        }
    }
    return NO_DIM;
}

static tsr_status broadcast_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                 const tsr_rule **out)
{
    const broadcast_params *p = r->params;
    const tsr_extents operand = op_extents(&r->operands[0]);
    const tsr_extents result = op_extents(&results[0]);
    rule_builder b = rule_start(r->ctx, arena, &operand, 1, &result, 1);
    for (size_t o = 0; o < result.rank; o++) {
        size_t i = position_in(p->broadcast_dimensions, o);
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

static void broadcast_run(const op_call *c, void *scratch)
{
    const broadcast_params *p = c->params;
    const op_array *from = &c->operands[0];
    const op_array *to = &c->results[0];
    int64_t strides[OP_MAX_RANK] = {0};
    (void)scratch;
    for (size_t d = 0; d < from->view.rank; d++) {
        const size_t at = (size_t)p->broadcast_dimensions.values[d];
        strides[at] = from->full[d] == to->full[at] ? from->view.strides[d] : 0;
    }
    op_copy_to(to, 0, to->view.strides, &from->view, strides, to->view.shape);
}

/* Summed where it repeats; then the dimensions in the operand's order. */
static void broadcast_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    const broadcast_params *p = v->params;
    const op_type type = build_type(b, v->operands[0]);
    const op_type to = build_type(b, v->cotangents[0]);
    int64_t summed[OP_MAX_RANK];
    int64_t permutation[OP_MAX_RANK];
    int64_t left[OP_MAX_RANK];
    size_t count = 0;
    size_t rank = 0;
    size_t placed = 0;
    for (size_t d = 0; d < to.rank; d++) {
        const size_t from = position_in(p->broadcast_dimensions, d);
        if (from == NO_DIM || type.shape[from] != to.shape[d]) {
            summed[count++] = (int64_t)d;
        } else {
            left[rank++] = (int64_t)from;
        }
    }
    op_value *g = build_fold(b, OP_BODY_SUM, v->cotangents[0], (op_ints){count, summed});
    bool sorted = true;
    for (size_t d = 0; d < type.rank; d++) {
        const size_t at = position_in((op_ints){rank, left}, d);
        if (at != NO_DIM) {
            sorted = sorted && at == placed;
            permutation[placed++] = (int64_t)at;
        }
    }
    g = sorted ? g : build_transpose(b, g, permutation);
    grads[0] = count > 0 ? build_reshape(b, g, type.shape, type.rank) : g;
}

const op_row op_broadcast_in_dim = {.name = "broadcast_in_dim",
                                    .traits = OP_GRADIENT_BY_TYPE | OP_BROADCASTS,
                                    .num_operands = 1,
                                    .num_results = 1,
                                    .fields = &broadcast_fields,
                                    .types = broadcast_types,
                                    .rule = broadcast_rule,
                                    .class_of = class_moves,
                                    .run = broadcast_run,
                                    .gradient = broadcast_gradient};

static const op_row *const rows[] = {&op_reshape, &op_transpose, &op_broadcast_in_dim};
const op_family family_shape = {rows, sizeof rows / sizeof rows[0]};

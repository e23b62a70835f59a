/* The public calls of composite ops: what they need is checked, then they are composed. */
#include <string.h>

#include <tessera/collective.h>
#include <tessera/ops.h>

#include "base/guard.h"
#include "eager/calls.h"
#include "eager/compose.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"
#include "ops/op_slice.h"

static tsr_status check_dim(const char *call, const tsr_tensor *x, size_t dim)
{
    const op_type type = type_of_layout(x->layout);
    if (dim < type.rank) {
        return TSR_OK;
    }
    return diag_error(x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: dimension %zu is out of range for %s", call, dim,
                      op_type_text(&type).text);
}

static tsr_status check_float(const char *call, const tsr_tensor *x)
{
    const op_type type = type_of_layout(x->layout);
    if (dtype_is_float(type.dtype)) {
        return TSR_OK;
    }
    return diag_error(x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: %s must have a floating-point element type; convert it first", call,
                      op_type_text(&type).text);
}

/* A composite along one dimension. */
typedef op_value *(*along_dim)(op_builder *b, op_value *x, int64_t dim);

static tsr_status compose_along(const char *call, along_dim composite, tsr_tensor *x, size_t dim,
                                tsr_tensor **out)
{
    eager_builder b;
    TSR_TRY(check_dim(call, x, dim));
    TSR_TRY(compose_begin(call, x, &b));
    return compose_end(&b, composite(&b.base, value_of(x), (int64_t)dim), out);
}

tsr_status tsr_softmax(tsr_tensor *x, size_t dim, tsr_tensor **out)
{
    GUARD(tsr_softmax);
    TSR_TRY(check_float("tsr_softmax", x));
    return compose_along("tsr_softmax", compose_softmax, x, dim, out);
}

tsr_status tsr_logsumexp(tsr_tensor *x, size_t dim, tsr_tensor **out)
{
    GUARD(tsr_logsumexp);
    TSR_TRY(check_float("tsr_logsumexp", x));
    return compose_along("tsr_logsumexp", compose_logsumexp, x, dim, out);
}

tsr_status tsr_argmax(tsr_tensor *x, size_t dim, tsr_tensor **out)
{
    GUARD(tsr_argmax);
    TSR_TRY(check_dim("tsr_argmax", x, dim));
    const op_type type = type_of_layout(x->layout);
    if (type.shape[dim] == 0) {
        return diag_error(x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_argmax: dimension %zu of %s has extent 0; reduce a dimension with "
                          "at least 1 element",
                          dim, op_type_text(&type).text);
    }
    return compose_along("tsr_argmax", compose_argmax, x, dim, out);
}

/* ---- reductions in another type ---- */

static tsr_status reduce_as(const char *call, const op_row *row, const void *params, tsr_tensor *x,
                            tsr_dtype dtype, tsr_tensor **out)
{
    eager_builder b;
    TSR_TRY(compose_begin(call, x, &b));
    op_value *converted =
        x->layout->dtype == dtype ? value_of(x) : build_convert(&b.base, value_of(x), dtype);
    return compose_end(&b, build_apply(&b.base, row, params, &converted, 1), out);
}

static tsr_status fold_as(const char *call, op_body body, tsr_tensor *x, const size_t *dims,
                          size_t num_dims, tsr_dtype dtype, tsr_tensor **out)
{
    dims_list list;
    TSR_TRY(eager_read_dims(x->world, call, dims, num_dims, &list));
    const reduce_params params = {.dimensions = ints_of(&list), .body = known_region(body)};
    return reduce_as(call, &op_fold, &params, x, dtype, out);
}

tsr_status tsr_sum_as(tsr_tensor *x, const size_t *dims, size_t num_dims, tsr_dtype dtype,
                      tsr_tensor **out)
{
    GUARD(tsr_sum_as);
    return fold_as("tsr_sum_as", OP_BODY_SUM, x, dims, num_dims, dtype, out);
}

tsr_status tsr_prod_as(tsr_tensor *x, const size_t *dims, size_t num_dims, tsr_dtype dtype,
                       tsr_tensor **out)
{
    GUARD(tsr_prod_as);
    return fold_as("tsr_prod_as", OP_BODY_PROD, x, dims, num_dims, dtype, out);
}

tsr_status tsr_mean_as(tsr_tensor *x, const size_t *dims, size_t num_dims, tsr_dtype dtype,
                       tsr_tensor **out)
{
    GUARD(tsr_mean_as);
    dims_list list;
    TSR_TRY(eager_read_dims(x->world, "tsr_mean_as", dims, num_dims, &list));
    const mean_params params = {.dimensions = ints_of(&list)};
    return reduce_as("tsr_mean_as", &op_mean, &params, x, dtype, out);
}

tsr_status tsr_cumsum_as(tsr_tensor *x, size_t dim, tsr_dtype dtype, tsr_tensor **out)
{
    GUARD(tsr_cumsum_as);
    const cumulative_params params = {.dimension = (int64_t)dim, .body = {.body = OP_BODY_SUM}};
    TSR_TRY(check_dim("tsr_cumsum_as", x, dim));
    return reduce_as("tsr_cumsum_as", &op_cumulative, &params, x, dtype, out);
}

/* The last dimension of a tensor, which has one. */
static tsr_status check_last(const char *call, const tsr_tensor *x)
{
    const size_t rank = x->geometry->rank;
    TSR_TRY(check_float(call, x));
    return check_dim(call, x, rank > 0 ? rank - 1 : 0);
}

/* What the norm is scaled by, or what is added to it: of the type of x; or NULL. */
static tsr_status check_same(const char *call, const char *name, const tsr_tensor *x,
                             const tsr_tensor *other)
{
    if (other == NULL || other->layout->dtype == x->layout->dtype) {
        return TSR_OK;
    }
    const op_type types[] = {type_of_layout(x->layout), type_of_layout(other->layout)};
    return diag_error(x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: %s %s does not have the element type of x, %s; convert it first", call,
                      name, op_type_text(&types[1]).text, op_type_text(&types[0]).text);
}

static tsr_status layer_norm_call(tsr_tensor *x, tsr_tensor *scale, tsr_tensor *bias,
                                  double epsilon, tsr_tensor **out)
{
    eager_builder b;
    TSR_TRY(check_last("tsr_layer_norm", x));
    TSR_TRY(check_same("tsr_layer_norm", "scale", x, scale));
    TSR_TRY(check_same("tsr_layer_norm", "bias", x, bias));
    TSR_TRY(compose_begin("tsr_layer_norm", x, &b));
    return compose_end(
        &b, compose_layer_norm(&b.base, value_of(x), value_of(scale), value_of(bias), epsilon),
        out);
}

tsr_status tsr_layer_norm(tsr_tensor *x, tsr_tensor *scale, tsr_tensor *bias, double epsilon,
                          tsr_tensor **out)
{
    GUARD(tsr_layer_norm);
    tsr_tensor *const operands[] = {x, scale, bias};
    return eager_given("tsr_layer_norm", operands, 3,
                       layer_norm_call(x, scale, bias, epsilon, out));
}

static tsr_status rms_norm_call(tsr_tensor *x, tsr_tensor *scale, double epsilon, tsr_tensor **out)
{
    eager_builder b;
    TSR_TRY(check_last("tsr_rms_norm", x));
    TSR_TRY(check_same("tsr_rms_norm", "scale", x, scale));
    TSR_TRY(compose_begin("tsr_rms_norm", x, &b));
    return compose_end(&b, compose_rms_norm(&b.base, value_of(x), value_of(scale), epsilon), out);
}

tsr_status tsr_rms_norm(tsr_tensor *x, tsr_tensor *scale, double epsilon, tsr_tensor **out)
{
    GUARD(tsr_rms_norm);
    tsr_tensor *const operands[] = {x, scale};
    return eager_given("tsr_rms_norm", operands, 2, rms_norm_call(x, scale, epsilon, out));
}

static tsr_status linear_call(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, tsr_tensor **out)
{
    const op_type types[] = {type_of_layout(x->layout), type_of_layout(weight->layout)};
    eager_builder b;
    if (types[0].rank == 0 || types[1].rank != 2) {
        return diag_error(
            x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "tsr_linear: %s by %s: the input must have rank 1 or more, the weight rank 2",
            op_type_text(&types[0]).text, op_type_text(&types[1]).text);
    }
    TSR_TRY(compose_begin("tsr_linear", x, &b));
    return compose_end(&b, compose_linear(&b.base, value_of(x), value_of(weight), value_of(bias)),
                       out);
}

tsr_status tsr_linear(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, tsr_tensor **out)
{
    GUARD(tsr_linear);
    tsr_tensor *const operands[] = {x, weight, bias};
    return eager_given("tsr_linear", operands, 3, linear_call(x, weight, bias, out));
}

/* ---- cross-entropy ---- */

/* A search for the first label, in row-major order, that is neither a class nor ignored. */
typedef struct label_search {
    const tsr_tensor *labels; /* of i64 */
    int64_t classes;
    int64_t ignored;
    int64_t place; /* INT64_MAX while there is none */
    int64_t label;
} label_search;

static void look_at_label(const int64_t *index, void *element, void *state)
{
    label_search *s = state;
    const tsr_geometry *g = s->labels->geometry;
    int64_t label;
    int64_t place = 0;
    memcpy(&label, element, sizeof label);
    for (size_t d = 0; d < g->rank; d++) {
        place = place * g->shape[d] + index[d];
    }
    const bool fits = (label >= 0 && label < s->classes) || label == s->ignored;
    if (!fits && place < s->place) {
        s->place = place;
        s->label = label;
    }
}

/* The first label of those that ranks found, the same on all. */
static tsr_status first_of_all(tsr_comm *world, label_search *s)
{
    const int64_t own = s->place;
    const int64_t one = 1;
    const tsr_view place = {&s->place, TSR_I64, 1, &one, NULL};
    const tsr_view label = {&s->label, TSR_I64, 1, &one, NULL};
    TSR_TRY(tsr_comm_all_reduce(world, TSR_REDUCE_MIN, &place, &place));
    if (s->place == INT64_MAX) {
        return TSR_OK;
    }
    s->label = own == s->place ? s->label : INT64_MIN;
    return tsr_comm_all_reduce(world, TSR_REDUCE_MAX, &label, &label);
}

/* In checked mode, that every label is a class or ignored. In typed code ranks look at their own
 * labels. */
static tsr_status check_labels(const eager_builder *b, const tsr_tensor *labels, int64_t classes,
                               int64_t ignored)
{
    tsr_comm *world = b->e->world;
    label_search s = {.labels = labels, .classes = classes, .ignored = ignored, .place = INT64_MAX};
    if (!world->team->checked || is_abstract(labels)) {
        return TSR_OK;
    }
    tsr_tensor_visit(labels, look_at_label, &s);
    if (b->e->typing.scope == NULL) {
        TSR_TRY(first_of_all(world, &s));
    }
    if (s.place == INT64_MAX) {
        return TSR_OK;
    }
    int64_t index[OP_MAX_RANK];
    int64_t rest = s.place;
    for (size_t d = labels->geometry->rank; d-- > 0;) {
        index[d] = rest % labels->geometry->shape[d];
        rest /= labels->geometry->shape[d];
    }
    return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: label %lld at [%s] is not one of the %lld classes, 0 to %lld; to ignore "
                      "a label other than %lld use tsr_cross_entropy_ignoring",
                      b->call, (long long)s.label, op_ints_text(index, labels->geometry->rank).text,
                      (long long)classes, (long long)classes - 1, (long long)ignored);
}

static tsr_status cross_entropy_call(const char *call, tsr_tensor *logits, tsr_tensor *labels,
                                     int64_t ignored, tsr_tensor **out)
{
    const op_type types[] = {type_of_layout(logits->layout), type_of_layout(labels->layout)};
    eager_builder b;
    TSR_TRY(check_last(call, logits));
    if (types[1].rank + 1 != types[0].rank ||
        memcmp(types[0].shape, types[1].shape, types[1].rank * sizeof *types[1].shape) != 0 ||
        !dtype_is_integer(types[1].dtype)) {
        return diag_error(logits->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: labels %s do not fit logits %s: they must be integers "
                          "of the same shape without the last dimension",
                          call, op_type_text(&types[1]).text, op_type_text(&types[0]).text);
    }
    TSR_TRY(compose_begin(call, logits, &b));
    op_value *settled = build_settled(&b.base, value_of(labels));
    op_value *integers = build_convert(&b.base, settled, TSR_I64);
    if (integers != NULL) {
        b.base.status =
            check_labels(&b, tensor_of(integers), types[0].shape[types[0].rank - 1], ignored);
    }
    return compose_end(&b, compose_cross_entropy(&b.base, value_of(logits), integers, ignored),
                       out);
}

tsr_status tsr_cross_entropy(tsr_tensor *logits, tsr_tensor *labels, tsr_tensor **out)
{
    GUARD(tsr_cross_entropy);
    tsr_tensor *const operands[] = {logits, labels};
    return eager_given(
        "tsr_cross_entropy", operands, 2,
        cross_entropy_call("tsr_cross_entropy", logits, labels, TSR_IGNORE_LABEL, out));
}

tsr_status tsr_cross_entropy_ignoring(tsr_tensor *logits, tsr_tensor *labels, int64_t ignored,
                                      tsr_tensor **out)
{
    GUARD(tsr_cross_entropy_ignoring);
    tsr_tensor *const operands[] = {logits, labels};
    return eager_given(
        "tsr_cross_entropy_ignoring", operands, 2,
        cross_entropy_call("tsr_cross_entropy_ignoring", logits, labels, ignored, out));
}

tsr_status tsr_one_hot(tsr_tensor *indices, int64_t depth, tsr_dtype dtype, tsr_tensor **out)
{
    GUARD(tsr_one_hot);
    const op_type type = type_of_layout(indices->layout);
    eager_builder b;
    if (!dtype_is_integer(type.dtype) || depth < 0 || type.rank + 1 > OP_MAX_RANK) {
        return diag_error(indices->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_one_hot: %s to a depth of %lld: indices must be integers, the depth "
                          "not negative",
                          op_type_text(&type).text, (long long)depth);
    }
    TSR_TRY(compose_begin("tsr_one_hot", indices, &b));
    return compose_end(&b, compose_one_hot(&b.base, value_of(indices), depth, dtype), out);
}

static tsr_status stack_call(tsr_tensor *const *tensors, size_t count, size_t dim, tsr_tensor **out)
{
    op_value *values[EAGER_MAX_OPERANDS];
    eager_builder b;
    const op_type first = type_of_layout(tensors[0]->layout);
    bool fits =
        count >= 1 && count <= EAGER_MAX_OPERANDS && dim <= first.rank && first.rank < OP_MAX_RANK;
    for (size_t i = 0; fits && i < count; i++) {
        const op_type type = type_of_layout(tensors[i]->layout);
        fits = type.rank == first.rank &&
               memcmp(type.shape, first.shape, first.rank * sizeof *first.shape) == 0;
        values[i] = value_of(tensors[i]);
    }
    if (!fits) {
        return diag_error(tensors[0]->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_stack: needs 1 to %d tensors with the shape of %s and a dimension "
                          "up to their rank, got: %zu tensors and dimension %zu",
                          EAGER_MAX_OPERANDS, op_type_text(&first).text, count, dim);
    }
    TSR_TRY(compose_begin("tsr_stack", tensors[0], &b));
    return compose_end(&b, compose_stack(&b.base, values, count, (int64_t)dim), out);
}

tsr_status tsr_stack(tsr_tensor *const *tensors, size_t count, size_t dim, tsr_tensor **out)
{
    GUARD(tsr_stack);
    return count == 0
               ? TSR_ERR_INVALID
               : eager_given("tsr_stack", tensors, count, stack_call(tensors, count, dim, out));
}

/* A scalar to pad with, then the pad itself. */
tsr_status tsr_pad(tsr_tensor *x, double number, const int64_t *before, const int64_t *after,
                   const int64_t *between, tsr_tensor **out)
{
    GUARD(tsr_pad);
    const size_t rank = x->geometry->rank;
    const int64_t none[OP_MAX_RANK] = {0};
    const pad_params params = {.edge_padding_low = {rank, before},
                               .edge_padding_high = {rank, after},
                               .interior_padding = {rank, between != NULL ? between : none}};
    eager_builder b;
    TSR_TRY(compose_begin("tsr_pad", x, &b));
    op_value *const operands[] = {value_of(x), build_number(&b.base, value_of(x), number)};
    return compose_end(&b, build_apply(&b.base, &op_pad, &params, operands, 2), out);
}

static tsr_status einsum_call(const char *equation, tsr_tensor *const *operands,
                              size_t num_operands, tsr_tensor **out)
{
    tsr_comm *world = num_operands > 0 ? operands[0]->world : NULL;
    tsr_extents extents[EAGER_MAX_OPERANDS];
    op_value *values[EAGER_MAX_OPERANDS];
    const tsr_rule *rule = NULL;
    eager_builder b;
    if (world == NULL) {
        return TSR_ERR_INVALID;
    }
    if (num_operands > EAGER_MAX_OPERANDS) {
        return diag_error(world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "tsr_einsum: %zu operands; the maximum is %d", num_operands,
                          EAGER_MAX_OPERANDS);
    }
    for (size_t i = 0; i < num_operands; i++) {
        extents[i] = (tsr_extents){operands[i]->geometry->rank, operands[i]->geometry->shape};
        values[i] = value_of(operands[i]);
    }
    TSR_TRY(compose_begin("tsr_einsum", operands[0], &b));
    const tsr_arena_mark mark = tsr_arena_get_mark(b.e->arena);
    op_value *result = NULL;
    b.base.status = tsr_rule_einsum(world->ctx, b.e->arena, equation, extents, num_operands, &rule);
    if (b.base.status == TSR_OK) {
        result = compose_einsum(&b.base, rule, values);
    }
    tsr_arena_reset(b.e->arena, mark);
    return compose_end(&b, result, out);
}

tsr_status tsr_einsum(const char *equation, tsr_tensor *const *operands, size_t num_operands,
                      tsr_tensor **out)
{
    GUARD(tsr_einsum);
    return eager_given("tsr_einsum", operands, num_operands,
                       einsum_call(equation, operands, num_operands, out));
}

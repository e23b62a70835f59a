#include "ops/op_reduce.h"

#include <string.h>

#include "base/arena.h"
#include "factor/rule.h"
#include "kernel/elementwise.h"
#include "kernel/packed.h"
#include "ops/gradient.h"

enum { MAX_INPUTS = 32, MAX_ITEM = 16 };

/* ---- parameters ---- */

static const op_field reduce_list[] = {OP_FIELD(reduce_params, dimensions, INTS),
                                       OP_FIELD(reduce_params, body, REGION)};
static const op_fields reduce_fields = OP_FIELDS(reduce_params, reduce_list);
static const op_field mean_list[] = {OP_FIELD(mean_params, dimensions, INTS)};
static const op_fields mean_fields = OP_FIELDS(mean_params, mean_list);
static const op_field cumulative_list[] = {OP_FIELD(cumulative_params, dimension, INT),
                                           OP_FIELD(cumulative_params, body, REGION)};
static const op_fields cumulative_fields = OP_FIELDS(cumulative_params, cumulative_list);

/* The reduced dimensions of every row but cumulative: the first member of their structs. */
static op_ints dims_of(const op_row *row, const void *params)
{
    return row == &op_mean ? ((const mean_params *)params)->dimensions
                           : ((const reduce_params *)params)->dimensions;
}

/* The combiner; a mean is a sum. */
static op_region body_of(const op_row *row, const void *params)
{
    static const op_region sum = {.body = OP_BODY_SUM};
    if (row == &op_cumulative) {
        return ((const cumulative_params *)params)->body;
    }
    return row == &op_mean ? sum : ((const reduce_params *)params)->body;
}

static fold_op fold_of(const op_row *row, const void *params)
{
    const op_region body = body_of(row, params);
    return op_region_fold(&body);
}

static void flags_of(op_ints dims, bool *reduced)
{
    for (size_t i = 0; i < dims.count; i++) {
        reduced[dims.values[i]] = true;
    }
}

static size_t count_inputs(size_t num_operands)
{
    return num_operands % 2 == 0 ? num_operands / 2 : 0;
}

/* ---- types ---- */

static tsr_status check_reduced(const op_request *r, op_ints dims, size_t rank)
{
    for (size_t i = 0; i < dims.count; i++) {
        const int64_t d = dims.values[i];
        if (d < 0 || (uint64_t)d >= rank) {
            return OP_ERROR(r, "Out-of-bounds dimension %lld, expected to be in range [0, %zu)",
                            (long long)d, rank);
        }
        if (op_ints_have((op_ints){i, dims.values}, (size_t)d)) {
            return OP_ERROR(r, "Duplicate reduction dimension: %lld", (long long)d);
        }
    }
    return TSR_OK;
}

/* A result: the input without the reduced dimensions. */
static tsr_status result_of(const op_request *r, const op_type *input, op_type *result)
{
    const op_ints dims = dims_of(r->row, r->params);
    int64_t *shape = op_new_shape(r, input->rank);
    size_t rank = 0;
    TSR_TRY(check_reduced(r, dims, input->rank));
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t d = 0; d < input->rank; d++) {
        if (!op_ints_have(dims, d)) {
            shape[rank++] = input->shape[d];
        }
    }
    *result = (op_type){.dtype = input->dtype, .rank = rank, .shape = shape};
    return TSR_OK;
}

static tsr_status fold_types(const op_request *r, op_type *results)
{
    return result_of(r, &r->operands[0], &results[0]);
}

static tsr_status reduce_types(const op_request *r, op_type *results)
{
    const size_t n = count_inputs(r->num_operands);
    for (size_t i = 0; i < n; i++) {
        const op_type *init = &r->operands[n + i];
        if (!op_shapes_agree(&r->operands[i], &r->operands[0])) {
            return OP_ERROR(r,
                            "expects all inputs to have compatible shapes. Shape at input-index "
                            "%zu is not compatible with shape at input-index 0",
                            i);
        }
        if (!r->mixes_dtypes && (init->rank != 0 || init->dtype != r->operands[i].dtype)) {
            return OP_ERROR(r, "initial value %zu, %s, must be a scalar of the type of input %s", i,
                            op_type_text(init).text, op_type_text(&r->operands[i]).text);
        }
        TSR_TRY(result_of(r, &r->operands[i], &results[i]));
    }
    return TSR_OK;
}

static tsr_status mean_types(const op_request *r, op_type *results)
{
    if (!dtype_is_float(r->operands[0].dtype)) {
        return diag_error(r->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "%s: mean is not defined for %s; convert to another element type first",
                          r->call, tsr_dtype_name(r->operands[0].dtype));
    }
    return fold_types(r, results);
}

static tsr_status cumulative_types(const op_request *r, op_type *results)
{
    const cumulative_params *p = r->params;
    TSR_TRY(op_check_dim(r, "the dimension", p->dimension, r->operands[0].rank));
    results[0] = r->operands[0];
    return TSR_OK;
}

/* ---- rules ---- */

static tsr_status reduce_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                              const tsr_rule **out)
{
    const op_ints dims = dims_of(r->row, r->params);
    const size_t num_results = op_num_results(r->row, r->num_operands);
    const op_type *input = &r->operands[0];
    const tsr_extents *operands = op_operand_extents(r, arena);
    tsr_extents *to = ARENA_ARRAY(arena, tsr_extents, num_results);
    if (operands == NULL || to == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t k = 0; k < num_results; k++) {
        to[k] = op_extents(&results[k]);
    }
    rule_builder b = rule_start(r->ctx, arena, operands, r->num_operands, to, num_results);
    size_t o = 0;
    for (size_t d = 0; d < input->rank; d++) {
        const bool reduced = op_ints_have(dims, d);
        const size_t f = rule_factor(
            &b, input->shape[d], reduced ? TSR_FACTOR_REDUCTION : TSR_FACTOR_PASS_THROUGH, false);
        for (size_t k = 0; k < num_results; k++) {
            rule_map(&b, k, d, f);
            rule_map(&b, r->num_operands + k, reduced ? NO_DIM : o, f);
        }
        o += !reduced;
    }
    return rule_finish(&b, out);
}

/* A result can be pending only by one of the reductions that shardings have. */
static void reduce_local(const op_request *r, const op_type *results, const tsr_rule *rule,
                         bool *whole)
{
    const fold_op fold = fold_of(r->row, r->params);
    const bool bits = fold == FOLD_AND || fold == FOLD_OR;
    bool can_pend = fold != FOLD_COUNT;
    for (size_t k = 0; bits && k < op_num_results(r->row, r->num_operands); k++) {
        can_pend = can_pend && results[k].dtype == TSR_I1;
    }
    if (can_pend) {
        return;
    }
    for (size_t f = 0; f < tsr_rule_num_factors(rule); f++) {
        whole[f] = tsr_rule_factor(rule, f)->kind == TSR_FACTOR_REDUCTION;
    }
}

static tsr_status cumulative_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                  const tsr_rule **out)
{
    const cumulative_params *p = r->params;
    const tsr_extents shape = op_extents(&results[0]);
    rule_builder b = rule_start(r->ctx, arena, &shape, 1, &shape, 1);
    for (size_t d = 0; d < shape.rank; d++) {
        const bool along = (int64_t)d == p->dimension;
        rule_put_each(&b, d,
                      rule_factor(&b, shape.sizes[d],
                                  along ? TSR_FACTOR_PERMUTATION : TSR_FACTOR_PASS_THROUGH, false));
    }
    return rule_finish(&b, out);
}

/* ---- pending reductions ---- */

/* A fold of some kind passes through what is pending of the same kind. */
static spmd_class class_reduce(const op_request *r, size_t operand, tsr_reduction pending)
{
    switch (body_of(r->row, r->params).body) {
    case OP_BODY_SUM:
        return class_linear(r, operand, pending);
    case OP_BODY_MAX:
        return pending == TSR_MAX ? SPMD_LINEAR : SPMD_NONLINEAR;
    case OP_BODY_MIN:
        return pending == TSR_MIN ? SPMD_LINEAR : SPMD_NONLINEAR;
    case OP_BODY_PROD:
        return pending == TSR_PROD ? SPMD_LINEAR : SPMD_NONLINEAR;
    default:
        return SPMD_NONLINEAR;
    }
}

static tsr_reduction reduction_of(const op_request *r)
{
    const op_region body = body_of(r->row, r->params);
    return op_region_reduction(&body);
}

/* Means over parts of a whole are shares of it; those over a rank's own values are averaged. */
static tsr_reduction mean_reduces(const op_request *r)
{
    return r->own_values ? TSR_AVG : TSR_SUM;
}

/* ---- kernels ---- */

/* The same combination of two arrays, for initial values. */
static binary_op binary_of(fold_op fold)
{
    static const binary_op ops[FOLD_COUNT] = {
        [FOLD_SUM] = BINARY_ADD, [FOLD_MAX] = BINARY_MAX,       [FOLD_MIN] = BINARY_MIN,
        [FOLD_AVG] = BINARY_ADD, [FOLD_PROD] = BINARY_MULTIPLY, [FOLD_AND] = BINARY_AND,
        [FOLD_OR] = BINARY_OR};
    return ops[fold];
}

static bool fold_has_kernel(const op_request *r, const op_type *results)
{
    const fold_op fold = fold_of(r->row, r->params);
    (void)results;
    return fold != FOLD_COUNT && reduce_supports(fold, r->operands[0].dtype);
}

static bool reduce_has_kernel(const op_request *r, const op_type *results)
{
    const op_region body = body_of(r->row, r->params);
    const fold_op fold = op_region_fold(&body);
    const size_t n = count_inputs(r->num_operands);
    (void)results;
    if (body.body == OP_BODY_OPAQUE) {
        return body.call != NULL && n <= MAX_INPUTS;
    }
    for (size_t i = 0; i < n; i++) {
        const tsr_dtype dtype = r->operands[i].dtype;
        if (fold == FOLD_COUNT || !reduce_supports(fold, dtype) ||
            !binary_supports(binary_of(fold), dtype)) {
            return false;
        }
    }
    return true;
}

static void fold_run(const op_call *c, void *scratch)
{
    bool reduced[OP_MAX_RANK] = {false};
    (void)scratch;
    flags_of(dims_of(c->row, c->params), reduced);
    kernel_reduce(fold_of(c->row, c->params), &c->results[0].view, &c->operands[0].view, reduced,
                  1);
}

/* Over the elements of the whole: averages of averages would be wrong on uneven shards. */
static void mean_run(const op_call *c, void *scratch)
{
    const op_ints dims = dims_of(c->row, c->params);
    bool reduced[OP_MAX_RANK] = {false};
    double count = 1;
    (void)scratch;
    flags_of(dims, reduced);
    for (size_t i = 0; i < dims.count; i++) {
        count *= (double)c->operands[0].full[dims.values[i]];
    }
    kernel_reduce(FOLD_SUM, &c->results[0].view, &c->operands[0].view, reduced, 1 / count);
}

static void cumulative_run(const op_call *c, void *scratch)
{
    const cumulative_params *p = c->params;
    (void)scratch;
    kernel_cumulative(op_region_fold(&p->body), &c->results[0].view, &c->operands[0].view,
                      (size_t)p->dimension);
}

/* A known combiner: the fold, then the initial value, which counts once for all ranks. */
static void reduce_known(const op_call *c, fold_op fold)
{
    static const int64_t repeat[OP_MAX_RANK] = {0};
    const bool counts_once = fold == FOLD_SUM || fold == FOLD_PROD;
    bool reduced[OP_MAX_RANK] = {false};
    flags_of(dims_of(c->row, c->params), reduced);
    for (size_t k = 0; k < c->num_results; k++) {
        const tsr_view *to = &c->results[k].view;
        tsr_view init = *to;
        init.data = c->operands[c->num_results + k].view.data;
        init.strides = repeat;
        kernel_reduce(fold, to, &c->operands[k].view, reduced, 1);
        if (c->first || !counts_once) {
            kernel_binary(binary_of(fold), to, &init, to);
        }
    }
}

/* Values that an opaque body combines: those so far, then those of one element. */
typedef struct accumulators {
    _Alignas(16) char values[MAX_INPUTS][MAX_ITEM];
    _Alignas(16) char next[MAX_INPUTS][MAX_ITEM];
    const void *arguments[2 * MAX_INPUTS];
    void *results[MAX_INPUTS];
} accumulators;

/* Combines the elements at one index of all inputs. */
static void combine_at(const op_call *c, const op_region *body, const int64_t *index,
                       accumulators *a)
{
    for (size_t k = 0; k < c->num_results; k++) {
        const tsr_view *from = &c->operands[k].view;
        int64_t offset = 0;
        for (size_t d = 0; d < from->rank; d++) {
            offset += index[d] * from->strides[d];
        }
        a->arguments[c->num_results + k] = (const char *)from->data + offset;
    }
    body->call(body->state, a->arguments, a->results);
    memcpy(a->values, a->next, sizeof a->values);
}

/* Whether there is a next index of a shape, in row-major order, over the flagged dimensions. */
static bool next_index(const int64_t *shape, const bool *flags, bool flag, size_t rank,
                       int64_t *index)
{
    for (size_t d = rank; d-- > 0;) {
        if (flags[d] != flag) {
            continue;
        }
        if (++index[d] < shape[d]) {
            return true;
        }
        index[d] = 0;
    }
    return false;
}

/* One element of every result, for an index with the kept dimensions set. */
static void reduce_one(const op_call *c, const op_region *body, const bool *reduced, bool any,
                       int64_t *index, accumulators *a)
{
    const tsr_view *input = &c->operands[0].view;
    for (size_t k = 0; k < c->num_results; k++) {
        const tsr_view *init = &c->operands[c->num_results + k].view;
        memcpy(a->values[k], init->data, (size_t)tsr_dtype_item_bytes(init->dtype));
        a->arguments[k] = a->values[k];
        a->results[k] = a->next[k];
    }
    if (any) {
        do {
            combine_at(c, body, index, a);
        } while (next_index(input->shape, reduced, true, input->rank, index));
    }
    for (size_t k = 0; k < c->num_results; k++) {
        const tsr_view *to = &c->results[k].view;
        int64_t offset = 0;
        for (size_t d = 0, o = 0; d < input->rank; d++) {
            offset += reduced[d] ? 0 : index[d] * to->strides[o++];
        }
        memcpy((char *)to->data + offset, a->values[k], (size_t)tsr_dtype_item_bytes(to->dtype));
    }
}

static void reduce_opaque(const op_call *c, const op_region *body)
{
    const tsr_view *input = &c->operands[0].view;
    bool reduced[OP_MAX_RANK] = {false};
    int64_t index[OP_MAX_RANK] = {0};
    bool any = true;
    accumulators a;
    memset(&a, 0, sizeof a);
    flags_of(dims_of(c->row, c->params), reduced);
    for (size_t d = 0; d < input->rank; d++) {
        if (input->shape[d] == 0 && !reduced[d]) {
            return;
        }
        any = any && input->shape[d] > 0;
    }
    do {
        reduce_one(c, body, reduced, any, index, &a);
    } while (next_index(input->shape, reduced, false, input->rank, index));
}

static void reduce_run(const op_call *c, void *scratch)
{
    const op_region body = body_of(c->row, c->params);
    (void)scratch;
    if (body.body == OP_BODY_OPAQUE) {
        reduce_opaque(c, &body);
    } else {
        reduce_known(c, op_region_fold(&body));
    }
}

/* ---- gradients ---- */

/* A reduced value, repeated over the dimensions that it lacks. */
static op_value *spread(op_builder *b, const op_vjp *v, op_value *reduced)
{
    const op_type type = build_type(b, v->operands[0]);
    const op_ints dims = dims_of(v->row, v->params);
    int64_t kept[OP_MAX_RANK];
    size_t count = 0;
    for (size_t d = 0; d < type.rank; d++) {
        if (!op_ints_have(dims, d)) {
            kept[count++] = (int64_t)d;
        }
    }
    return build_broadcast(b, reduced, (op_ints){type.rank, type.shape}, kept);
}

static op_value *as_numbers(op_builder *b, op_value *truths, op_value *beside)
{
    return build_convert(b, truths, build_type(b, beside).dtype);
}

/* Shared by all elements that are the greatest, or the least. */
static op_value *of_extreme(op_builder *b, const op_vjp *v)
{
    op_value *x = v->operands[0];
    op_value *most = spread(b, v, build_settled(b, v->results[0]));
    op_value *mask = as_numbers(b, build_compare(b, COMPARE_EQ, x, most), x);
    op_value *count = build_fold(b, OP_BODY_SUM, mask, dims_of(v->row, v->params));
    op_value *share = build_binary(b, BINARY_DIVIDE, v->cotangents[0], count);
    return build_binary(b, BINARY_MULTIPLY, mask, spread(b, v, share));
}

/*
 * The product of the others: with no zero among them the whole over the element, with one the
 * product of the rest at that one, with more nothing.
 */
static op_value *of_product(op_builder *b, const op_vjp *v)
{
    const op_ints dims = dims_of(v->row, v->params);
    op_value *x = v->operands[0];
    op_value *zero = build_number(b, x, 0);
    op_value *is_zero = build_compare(b, COMPARE_EQ, x, zero);
    op_value *rest = build_select(b, is_zero, build_number(b, x, 1), x);
    op_value *whole = build_settled(b, build_fold(b, OP_BODY_PROD, rest, dims));
    op_value *zeros = build_settled(b, build_fold(b, OP_BODY_SUM, as_numbers(b, is_zero, x), dims));
    op_value *none = build_compare(b, COMPARE_EQ, zeros, zero);
    op_value *one = build_compare(b, COMPARE_EQ, zeros, build_number(b, x, 1));
    op_value *scaled = build_binary(b, BINARY_MULTIPLY, v->cotangents[0], whole);
    op_value *if_none = build_select(b, none, scaled, zero);
    op_value *if_one = build_select(b, one, scaled, zero);
    op_value *over = build_binary(b, BINARY_DIVIDE, spread(b, v, if_none), rest);
    return build_select(b, is_zero, spread(b, v, if_one), over);
}

static void fold_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    switch (body_of(v->row, v->params).body) {
    case OP_BODY_SUM:
        grads[0] = spread(b, v, v->cotangents[0]);
        return;
    case OP_BODY_MAX:
    case OP_BODY_MIN:
        grads[0] = of_extreme(b, v);
        return;
    case OP_BODY_PROD:
        grads[0] = of_product(b, v);
        return;
    default:
        return;
    }
}

/* Every element of a sum, and the initial value of every result. */
static void reduce_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    const size_t n = count_inputs(v->num_operands);
    if (body_of(v->row, v->params).body != OP_BODY_SUM) {
        b->status = diag_error(b->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                               "%s: only a reduce that adds has a gradient", v->call);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        op_value *g = v->cotangents[i];
        int64_t all[OP_MAX_RANK];
        const size_t rank = build_type(b, g).rank;
        for (size_t d = 0; d < rank; d++) {
            all[d] = (int64_t)d;
        }
        if (g != NULL && v->wanted[i]) {
            grads[i] = spread(b, v, g);
        }
        if (g != NULL && v->wanted[n + i]) {
            grads[n + i] = build_fold(b, OP_BODY_SUM, g, (op_ints){rank, all});
        }
    }
}

static void mean_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    const op_type type = build_type(b, v->operands[0]);
    const op_ints dims = dims_of(v->row, v->params);
    double count = 1;
    for (size_t i = 0; i < dims.count; i++) {
        count *= (double)type.shape[dims.values[i]];
    }
    op_value *g = v->cotangents[0];
    grads[0] = spread(b, v, build_binary(b, BINARY_MULTIPLY, g, build_number(b, g, 1 / count)));
}

/* Of a running sum: the sum from each element on, which is the whole less the sum before it. */
static void cumulative_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    const cumulative_params *p = v->params;
    op_value *g = v->cotangents[0];
    if (p->body.body != OP_BODY_SUM) {
        return;
    }
    op_value *whole = build_reduce(b, OP_BODY_SUM, g, p->dimension, true);
    op_value *up_to = build_apply(b, &op_cumulative, p, &g, 1);
    grads[0] = build_binary(b, BINARY_ADD, build_binary(b, BINARY_SUBTRACT, whole, up_to), g);
}

/* ---- rows ---- */

const op_row op_reduce = {.name = "reduce",
                          .alike = OP_ALIKE_INPUTS,
                          .traits = OP_VARIADIC | OP_GRADIENT_BY_TYPE,
                          .num_operands = 2,
                          .count_results = count_inputs,
                          .fields = &reduce_fields,
                          .types = reduce_types,
                          .rule = reduce_rule,
                          .local = reduce_local,
                          .class_of = class_reduce,
                          .reduces = reduction_of,
                          .supports = reduce_has_kernel,
                          .run = reduce_run,
                          .gradient = reduce_gradient};

const op_row op_fold = {.name = "fold",
                        .dialect = OP_TESSERA,
                        .traits = OP_GRADIENT_BY_RESULT,
                        .num_operands = 1,
                        .num_results = 1,
                        .fields = &reduce_fields,
                        .types = fold_types,
                        .rule = reduce_rule,
                        .local = reduce_local,
                        .class_of = class_reduce,
                        .reduces = reduction_of,
                        .supports = fold_has_kernel,
                        .run = fold_run,
                        .gradient = fold_gradient};

const op_row op_mean = {.name = "mean",
                        .dialect = OP_TESSERA,
                        .traits = OP_GRADIENT_BY_TYPE,
                        .num_operands = 1,
                        .num_results = 1,
                        .fields = &mean_fields,
                        .types = mean_types,
                        .rule = reduce_rule,
                        .class_of = class_linear,
                        .reduces = mean_reduces,
                        .supports = fold_has_kernel,
                        .run = mean_run,
                        .gradient = mean_gradient};

const op_row op_cumulative = {.name = "cumulative",
                              .dialect = OP_TESSERA,
                              .traits = OP_GRADIENT_BY_TYPE,
                              .num_operands = 1,
                              .num_results = 1,
                              .fields = &cumulative_fields,
                              .types = cumulative_types,
                              .rule = cumulative_rule,
                              .class_of = class_reduce,
                              .supports = fold_has_kernel,
                              .run = cumulative_run,
                              .gradient = cumulative_gradient};

static const op_row *const rows[] = {&op_reduce, &op_fold, &op_mean, &op_cumulative};
const op_family family_reduce = {rows, sizeof rows / sizeof rows[0]};

#include "ops/op_sort.h"

#include <string.h>

#include "base/arena.h"
#include "factor/rule.h"
#include "kernel/index.h"
#include "kernel/packed.h"
#include "ops/gradient.h"

enum { MAX_SORTED = 32 };

static const op_field sort_list[] = {OP_FIELD(sort_params, dimension, INT),
                                     OP_FIELD(sort_params, is_stable, BOOL),
                                     OP_FIELD(sort_params, comparator, REGION)};
static const op_fields sort_fields = OP_FIELDS(sort_params, sort_list);
static const op_field argsort_list[] = {OP_FIELD(argsort_params, dimension, INT),
                                        OP_FIELD(argsort_params, descending, BOOL)};
static const op_fields argsort_fields = OP_FIELDS(argsort_params, argsort_list);
static const op_field top_k_list[] = {OP_FIELD(top_k_params, dimension, INT),
                                      OP_FIELD(top_k_params, k, INT)};
static const op_fields top_k_fields = OP_FIELDS(top_k_params, top_k_list);

/* The dimension as it is written: a sort may count from the last one, -1. */
static int64_t written_dim(const op_row *row, const void *params)
{
    if (row == &op_sort) {
        return ((const sort_params *)params)->dimension;
    }
    return row == &op_top_k ? ((const top_k_params *)params)->dimension
                            : ((const argsort_params *)params)->dimension;
}

static size_t sorted_dim(const op_row *row, const void *params, size_t rank)
{
    const int64_t dim = written_dim(row, params);
    return (size_t)(dim < 0 ? dim + (int64_t)rank : dim);
}

static size_t count_sorted(size_t num_operands)
{
    return num_operands;
}

/* ---- types ---- */

static tsr_status sort_types(const op_request *r, op_type *results)
{
    const sort_params *p = r->params;
    const size_t rank = r->operands[0].rank;
    const int64_t counted = p->dimension < 0 ? p->dimension + (int64_t)rank : p->dimension;
    if (counted < 0 || (uint64_t)counted >= rank) {
        return OP_ERROR(r, "dimension attribute value must be in range [-%zu, %zu), but found %lld",
                        rank, rank, (long long)p->dimension);
    }
    for (size_t i = 0; i < r->num_operands; i++) {
        if (!op_shapes_agree(&r->operands[i], &r->operands[0])) {
            return OP_ERROR(r, "operand %zu, %s, and operand 0, %s, differ in shape", i,
                            op_type_text(&r->operands[i]).text, op_type_text(&r->operands[0]).text);
        }
        results[i] = r->operands[i];
    }
    return TSR_OK;
}

static tsr_status argsort_types(const op_request *r, op_type *results)
{
    const op_type *operand = &r->operands[0];
    TSR_TRY(op_check_dim(r, "the dimension", written_dim(r->row, r->params), operand->rank));
    results[0] = *operand;
    results[1] = op_type_like(operand, TSR_I64);
    return TSR_OK;
}

static tsr_status top_k_types(const op_request *r, op_type *results)
{
    const top_k_params *p = r->params;
    const op_type *operand = &r->operands[0];
    TSR_TRY(argsort_types(r, results));
    const int64_t most = operand->shape[p->dimension];
    if (p->k < 0 || (most != TSR_UNKNOWN && p->k > most)) {
        return OP_ERROR(r, "k is %lld, but dimension %lld of %s has %lld", (long long)p->k,
                        (long long)p->dimension, op_type_text(operand).text, (long long)most);
    }
    int64_t *shape = op_new_shape(r, operand->rank);
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    memcpy(shape, operand->shape, operand->rank * sizeof *shape);
    shape[p->dimension] = p->k;
    results[0].shape = shape;
    results[1].shape = shape;
    return TSR_OK;
}

/* ---- the rule ---- */

/*
 * One factor a dimension, the same in all tensors. The sorted one needs replication, and is blocked
 * where no other dimension could be sharded instead. As in the reference, a dimension that counts
 * from the last one marks none.
 */
static tsr_status sort_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                            const tsr_rule **out)
{
    const size_t num_results = op_num_results(r->row, r->num_operands);
    const op_type *first = &r->operands[0];
    const tsr_extents *operands = op_operand_extents(r, arena);
    tsr_extents *to = ARENA_ARRAY(arena, tsr_extents, num_results);
    bool alone = true;
    if (operands == NULL || to == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t k = 0; k < num_results; k++) {
        to[k] = op_extents(&results[k]);
    }
    for (size_t d = 0; d < first->rank; d++) {
        alone = alone && ((int64_t)d == written_dim(r->row, r->params) || first->shape[d] == 1);
    }
    rule_builder b = rule_start(r->ctx, arena, operands, r->num_operands, to, num_results);
    for (size_t d = 0; d < first->rank; d++) {
        const bool sorted = (int64_t)d == written_dim(r->row, r->params);
        rule_put_each(&b, d,
                      rule_factor(&b, first->shape[d],
                                  sorted ? TSR_FACTOR_NEED_REPLICATION : TSR_FACTOR_PASS_THROUGH,
                                  sorted && alone));
    }
    return rule_finish(&b, out);
}

/* Whatever the rule says of a dimension counted from the last, it must be whole. */
static void sort_local(const op_request *r, const op_type *results, const tsr_rule *rule,
                       bool *whole)
{
    const size_t dim = sorted_dim(r->row, r->params, r->operands[0].rank);
    (void)results;
    whole[tsr_rule_operand(rule, 0)->dims[dim].factors[0]] = true;
}

/* ---- kernels: one operand and its indices ---- */

static bool argsort_has_kernel(const op_request *r, const op_type *results)
{
    (void)results;
    return sort_supports(r->operands[0].dtype);
}

static size_t argsort_scratch(const op_call *c)
{
    return kernel_sort_scratch(&c->operands[0].view, (size_t)written_dim(c->row, c->params));
}

static void argsort_run(const op_call *c, void *scratch)
{
    const bool descending = c->row == &op_top_k || ((const argsort_params *)c->params)->descending;
    kernel_sort(&c->results[0].view, &c->results[1].view, &c->operands[0].view,
                (size_t)written_dim(c->row, c->params), descending, scratch);
}

static void argsort_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    gradient_by_indices(b, v, grads, written_dim(v->row, v->params));
}

/* ---- kernels: several operands, any comparator ---- */

static bool sort_has_kernel(const op_request *r, const op_type *results)
{
    const op_region *c = &((const sort_params *)r->params)->comparator;
    (void)results;
    if (r->num_operands > MAX_SORTED) {
        return false;
    }
    return c->body == OP_BODY_OPAQUE ? c->call != NULL
                                     : (c->body == OP_BODY_LESS || c->body == OP_BODY_GREATER) &&
                                           sort_supports(r->operands[0].dtype);
}

static size_t round_up(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* The order of all elements along the dimension, i64, and after it what finds it. */
static size_t sort_scratch(const op_call *c)
{
    const sort_params *p = c->params;
    const tsr_view *x = &c->operands[0].view;
    const size_t dim = sorted_dim(c->row, p, x->rank);
    const size_t order = round_up((size_t)packed_bytes(x->shape, x->rank, sizeof(int64_t)));
    const size_t line = (size_t)x->shape[dim] * sizeof(int64_t);
    return order + (p->comparator.body == OP_BODY_OPAQUE ? line : kernel_sort_scratch(x, dim));
}

/* One line of all operands along the sorted dimension. */
typedef struct sort_line {
    const op_call *c;
    const op_region *comparator;
    const int64_t *offsets; /* of the line in each operand */
    size_t dim;
} sort_line;

/* Whether the element at a comes before the one at b. */
static bool comes_before(const sort_line *line, int64_t a, int64_t b)
{
    const void *arguments[2 * MAX_SORTED];
    uint8_t before = 0;
    void *result = &before;
    for (size_t i = 0; i < line->c->num_operands; i++) {
        const tsr_view *x = &line->c->operands[i].view;
        const char *at = (const char *)x->data + line->offsets[i];
        arguments[2 * i] = at + a * x->strides[line->dim];
        arguments[2 * i + 1] = at + b * x->strides[line->dim];
    }
    line->comparator->call(line->comparator->state, arguments, &result);
    return before != 0;
}

/* Merges two sorted halves of an order, stably. */
static void merge_halves(const sort_line *line, int64_t *order, int64_t *other, int64_t half,
                         int64_t n)
{
    int64_t a = 0;
    int64_t b = half;
    memcpy(other, order, (size_t)n * sizeof *order);
    for (int64_t i = 0; i < n; i++) {
        const bool second = a == half || (b < n && comes_before(line, other[b], other[a]));
        order[i] = second ? other[b++] : other[a++];
    }
}

/* A bottom-up merge sort of n indices; `other` has room for as many. */
static void sort_order(const sort_line *line, int64_t *order, int64_t *other, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t at = 0; at + width < n; at += 2 * width) {
            merge_halves(line, order + at, other, width, min_i64(2 * width, n - at));
        }
    }
}

/* A line of every operand in a given order. */
static void apply_order(const sort_line *line, const int64_t *to_offsets, const int64_t *order,
                        int64_t order_stride, int64_t n)
{
    const op_call *c = line->c;
    for (size_t i = 0; i < c->num_operands; i++) {
        const tsr_view *x = &c->operands[i].view;
        const tsr_view *y = &c->results[i].view;
        const size_t item = (size_t)tsr_dtype_item_bytes(x->dtype);
        for (int64_t k = 0; k < n; k++) {
            const char *from = (const char *)x->data + line->offsets[i];
            char *to = (char *)y->data + to_offsets[i];
            memcpy(to + k * y->strides[line->dim],
                   from + order[k * order_stride] * x->strides[line->dim], item);
        }
    }
}

static void sort_run(const op_call *c, void *scratch)
{
    const sort_params *p = c->params;
    const tsr_view *x = &c->operands[0].view;
    const size_t dim = sorted_dim(c->row, p, x->rank);
    const bool opaque = p->comparator.body == OP_BODY_OPAQUE;
    const int64_t n = x->shape[dim];
    int64_t *order = scratch;
    int64_t strides[OP_MAX_RANK];
    int64_t index[OP_MAX_RANK] = {0};
    const int64_t bytes = packed_strides(x->shape, x->rank, sizeof *order, strides);
    char *rest = (char *)scratch + round_up((size_t)bytes);
    if (bytes == 0) {
        return;
    }
    if (!opaque) {
        const tsr_view indices = {order, TSR_I64, x->rank, x->shape, strides};
        kernel_sort(NULL, &indices, x, dim, p->comparator.body == OP_BODY_GREATER, rest);
    }
    bool more = true;
    while (more) {
        int64_t from[MAX_SORTED] = {0};
        int64_t to[MAX_SORTED] = {0};
        int64_t at = 0;
        for (size_t d = 0; d < x->rank; d++) {
            at += index[d] * strides[d];
            for (size_t i = 0; i < c->num_operands; i++) {
                from[i] += index[d] * c->operands[i].view.strides[d];
                to[i] += index[d] * c->results[i].view.strides[d];
            }
        }
        const sort_line line = {c, &p->comparator, from, dim};
        int64_t *found = opaque ? order : order + at / (int64_t)sizeof *order;
        if (opaque) {
            sort_order(&line, order, (int64_t *)(void *)rest, n);
        }
        apply_order(&line, to, found, opaque ? 1 : strides[dim] / (int64_t)sizeof *order, n);
        more = false;
        for (size_t d = x->rank; !more && d-- > 0;) {
            if (d != dim) {
                more = ++index[d] < x->shape[d];
                index[d] = more ? index[d] : 0;
            }
        }
    }
}

/* ---- rows ---- */

const op_row op_sort = {.name = "sort",
                        .traits = OP_VARIADIC,
                        .num_operands = 1,
                        .count_results = count_sorted,
                        .fields = &sort_fields,
                        .types = sort_types,
                        .rule = sort_rule,
                        .local = sort_local,
                        .supports = sort_has_kernel,
                        .scratch = sort_scratch,
                        .run = sort_run};

const op_row op_argsort = {.name = "argsort",
                           .dialect = OP_TESSERA,
                           .traits = OP_GRADIENT_BY_RESULT,
                           .num_operands = 1,
                           .num_results = 2,
                           .fields = &argsort_fields,
                           .types = argsort_types,
                           .rule = sort_rule,
                           .supports = argsort_has_kernel,
                           .scratch = argsort_scratch,
                           .run = argsort_run,
                           .gradient = argsort_gradient};

const op_row op_top_k = {.name = "top_k",
                         .dialect = OP_CHLO,
                         .traits = OP_GRADIENT_BY_RESULT,
                         .num_operands = 1,
                         .num_results = 2,
                         .fields = &top_k_fields,
                         .types = top_k_types,
                         .rule = sort_rule,
                         .supports = argsort_has_kernel,
                         .scratch = argsort_scratch,
                         .run = argsort_run,
                         .gradient = argsort_gradient};

static const op_row *const rows[] = {&op_sort, &op_argsort, &op_top_k};
const op_family family_sort = {rows, sizeof rows / sizeof rows[0]};

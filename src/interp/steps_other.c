/* Ops of StableHLO that have no row: comparisons in total order, map, norms of batches. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "interp/machine.h"
#include "ir/row.h"
#include "kernel/elementwise.h"
#include "number/element.h"
#include "number/float_format.h"

/* ---- compare ---- */

typedef struct total_step {
    compare_op op;
} total_step;

/* A number that orders all floats: -NaN, -inf, .., -0, 0, .., inf, NaN. */
static int64_t total_order(tsr_dtype dtype, const char *element)
{
    const int bits = tsr_dtype_bits(dtype);
    uint64_t pattern = 0;
    memcpy(&pattern, element, (size_t)tsr_dtype_item_bytes(dtype));
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    const int64_t size = (int64_t)(pattern & (sign - 1));
    return (pattern & sign) != 0 ? -size - 1 : size;
}

static bool holds(compare_op op, int64_t a, int64_t b)
{
    const bool results[COMPARE_COUNT] = {[COMPARE_EQ] = a == b,
                                         [COMPARE_NE] = a != b,
                                         [COMPARE_LT] =
                                             a<b, [COMPARE_LE] = a <= b, [COMPARE_GT] = a> b,
                                         [COMPARE_GE] = a >= b};
    return results[op];
}

static tsr_status run_total(interp_machine *m, const code_step *step)
{
    const total_step *s = step->data;
    const interp_array *a = interp_operand(m, step, 0);
    const interp_array *b = interp_operand(m, step, 1);
    const int64_t item = tsr_dtype_item_bytes(a->dtype);
    interp_array *result;
    TSR_TRY(interp_array_new(m->pool, step->types[2], &result));
    interp_set_result(m, step, 0, result);
    for (int64_t i = 0; i < result->bytes; i++) {
        result->data[i] = (char)holds(s->op, total_order(a->dtype, a->data + i * item),
                                      total_order(b->dtype, b->data + i * item));
    }
    return TSR_OK;
}

static bool is_enum_value(const tsr_program *p, uint32_t attr, const char *value)
{
    return attr_is(p, attr, ATTR_ENUM) &&
           strcmp(ir_enums[program_attr(p, attr)->row].values[program_attr(p, attr)->bits],
                  value) == 0;
}

static tsr_status prepare_compare(code_decoder *d, code_step *step)
{
    static const char *const names[COMPARE_COUNT] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
    const tsr_program *p = d->code->program;
    const code_type *type = step->types[0];
    if (!is_enum_value(p, op_property(p, step->op, "compare_type"), "TOTALORDER") ||
        !code_is_static(step) || !dtype_is_float(type->tensor.dtype)) {
        return interp_prepare_kernel(d, step);
    }
    total_step *s = CODE_NEW(d, total_step);
    if (s == NULL) {
        return diag_nomem(d->code->ctx);
    }
    const uint32_t direction = op_property(p, step->op, "comparison_direction");
    *s = (total_step){COMPARE_COUNT};
    for (int i = 0; i < COMPARE_COUNT; i++) {
        s->op = is_enum_value(p, direction, names[i]) ? (compare_op)i : s->op;
    }
    step->action = run_total;
    step->data = s;
    return s->op != COMPARE_COUNT && step->types[1]->tensor.dtype == type->tensor.dtype &&
                   op_shapes_agree(&step->types[1]->tensor, &type->tensor) &&
                   op_shapes_agree(&step->types[2]->tensor, &type->tensor) &&
                   step->types[2]->tensor.dtype == TSR_I1
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

/* ---- map ---- */

enum { MAX_MAPPED = 64 };

static tsr_status run_map(interp_machine *m, const code_step *step)
{
    interp_region region = {step->blocks[0], m};
    const void *arguments[MAX_MAPPED];
    interp_array *result;
    TSR_TRY(interp_array_new(m->pool, step->types[step->num_operands], &result));
    interp_set_result(m, step, 0, result);
    const int64_t item = tsr_dtype_item_bytes(result->dtype);
    for (int64_t i = 0; i < result->bytes / item; i++) {
        for (size_t k = 0; k < step->num_operands; k++) {
            const interp_array *from = interp_operand(m, step, k);
            arguments[k] = from->data + i * tsr_dtype_item_bytes(from->dtype);
        }
        void *made = result->data + i * item;
        interp_region_call(&region, arguments, &made);
        TSR_TRY(m->failed);
    }
    return TSR_OK;
}

static bool is_scalar(const code_type *type, tsr_dtype dtype)
{
    return type->kind == CODE_TENSOR && type->tensor.rank == 0 && type->tensor.dtype == dtype;
}

static tsr_status prepare_map(code_decoder *d, code_step *step)
{
    const code_block *block = step->blocks[0];
    (void)d;
    if (!code_is_static(step) || step->num_operands > MAX_MAPPED || step->num_results != 1 ||
        block->num_arguments != step->num_operands || block->end.num_operands != 1 ||
        !is_scalar(block->end.types[0], step->types[step->num_operands]->tensor.dtype)) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t i = 0; i < step->num_operands; i++) {
        if (!is_scalar(block->argument_types[i], step->types[i]->tensor.dtype) ||
            !op_shapes_agree(&step->types[i]->tensor, &step->types[step->num_operands]->tensor)) {
            return TSR_NOT_APPLICABLE;
        }
    }
    step->action = run_map;
    return TSR_OK;
}

/* ---- norms of batches ---- */

typedef struct norm_step {
    size_t feature;
    double epsilon;
} norm_step;

/* An array as numbers in f64. */
static double load_at(const interp_array *a, int64_t i)
{
    return element_load(a->dtype, a->data + i * tsr_dtype_item_bytes(a->dtype)).re;
}

static void store_at(interp_array *a, int64_t i, double value)
{
    const element_number n = {.kind = NUMBER_FLOAT, .re = value};
    element_store(a->dtype, n, a->data + i * tsr_dtype_item_bytes(a->dtype));
}

/* The feature that an element belongs to. */
static int64_t feature_of(const interp_array *a, size_t feature, int64_t element)
{
    const int64_t step = a->strides[feature] / tsr_dtype_item_bytes(a->dtype);
    return element / step % a->shape[feature];
}

/* The results of a step that has so many. */
static tsr_status new_results(interp_machine *m, const code_step *step, size_t count,
                              interp_array **out)
{
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(interp_array_new(m->pool, step->types[step->num_operands + i], &out[i]));
        interp_set_result(m, step, i, out[i]);
    }
    return TSR_OK;
}

/* operand, scale, offset, mean, variance */
static tsr_status run_norm_inference(interp_machine *m, const code_step *step)
{
    const norm_step *s = step->data;
    const interp_array *x = interp_operand(m, step, 0);
    interp_array *result;
    TSR_TRY(new_results(m, step, 1, &result));
    for (int64_t i = 0; i < interp_array_elements(x); i++) {
        const int64_t f = feature_of(x, s->feature, i);
        const double deviation = sqrt(load_at(interp_operand(m, step, 4), f) + s->epsilon);
        store_at(result, i,
                 load_at(interp_operand(m, step, 1), f) *
                         ((load_at(x, i) - load_at(interp_operand(m, step, 3), f)) / deviation) +
                     load_at(interp_operand(m, step, 2), f));
    }
    return TSR_OK;
}

/* Means and variances of all features, in two lists of scratch memory. */
static double *moments(interp_machine *m, const interp_array *x, size_t feature)
{
    const int64_t features = x->shape[feature];
    const int64_t count = interp_array_elements(x);
    double *sums = interp_scratch(m, 4 * (size_t)features * sizeof *sums);
    if (sums == NULL || features == 0) {
        return sums;
    }
    const int64_t rows = count / features;
    const double each = (double)rows;
    memset(sums, 0, 2 * (size_t)features * sizeof *sums);
    for (int64_t i = 0; i < count; i++) {
        sums[feature_of(x, feature, i)] += load_at(x, i) / each;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t f = feature_of(x, feature, i);
        const double from_mean = load_at(x, i) - sums[f];
        sums[features + f] += from_mean * from_mean / each;
    }
    return sums;
}

/* operand, scale, offset; output, mean, variance */
static tsr_status run_norm_training(interp_machine *m, const code_step *step)
{
    const norm_step *s = step->data;
    const interp_array *x = interp_operand(m, step, 0);
    const int64_t features = x->shape[s->feature];
    interp_array *results[3] = {NULL};
    TSR_TRY(new_results(m, step, 3, results));
    const double *sums = moments(m, x, s->feature);
    if (sums == NULL) {
        return diag_nomem(m->ctx);
    }
    for (int64_t f = 0; f < features; f++) {
        store_at(results[1], f, sums[f]);
        store_at(results[2], f, sums[features + f]);
    }
    for (int64_t i = 0; i < interp_array_elements(x); i++) {
        const int64_t f = feature_of(x, s->feature, i);
        store_at(results[0], i,
                 load_at(interp_operand(m, step, 1), f) * (load_at(x, i) - sums[f]) /
                         sqrt(sums[features + f] + s->epsilon) +
                     load_at(interp_operand(m, step, 2), f));
    }
    return TSR_OK;
}

/* operand, scale, mean, variance, gradient of the output; gradients of operand, scale, offset */
static tsr_status run_norm_grad(interp_machine *m, const code_step *step)
{
    const norm_step *s = step->data;
    const interp_array *x = interp_operand(m, step, 0);
    const interp_array *mean = interp_operand(m, step, 2);
    const interp_array *g = interp_operand(m, step, 4);
    const int64_t features = x->shape[s->feature];
    const int64_t count = interp_array_elements(x);
    interp_array *results[3] = {NULL};
    TSR_TRY(new_results(m, step, 3, results));
    double *sums = interp_scratch(m, 2 * (size_t)(features + 1) * sizeof *sums);
    if (sums == NULL) {
        return diag_nomem(m->ctx);
    }
    memset(sums, 0, 2 * (size_t)features * sizeof *sums);
    for (int64_t i = 0; i < count; i++) {
        const int64_t f = feature_of(x, s->feature, i);
        sums[f] += load_at(g, i);
        sums[features + f] += load_at(g, i) * (load_at(x, i) - load_at(mean, f));
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t f = feature_of(x, s->feature, i);
        const int64_t rows = count / features;
        const double each = (double)rows;
        const double variance = load_at(interp_operand(m, step, 3), f) + s->epsilon;
        const double inner = each * load_at(g, i) - sums[f] -
                             (load_at(x, i) - load_at(mean, f)) * sums[features + f] / variance;
        store_at(results[0], i,
                 load_at(interp_operand(m, step, 1), f) / sqrt(variance) / each * inner);
    }
    for (int64_t f = 0; f < features; f++) {
        const double variance = load_at(interp_operand(m, step, 3), f) + s->epsilon;
        store_at(results[1], f, sums[features + f] / sqrt(variance));
        store_at(results[2], f, sums[f]);
    }
    return TSR_OK;
}

/* Whether all values have the shape of the first or are lists of one number a feature. */
static bool norm_fits(const code_step *step, size_t feature)
{
    const op_type *x = &step->types[0]->tensor;
    if (!code_is_static(step) || feature >= x->rank || !dtype_is_float(x->dtype)) {
        return false;
    }
    for (size_t i = 1; i < step->num_operands + step->num_results; i++) {
        const op_type *t = &step->types[i]->tensor;
        const bool whole = i == step->num_operands ||
                           (i == 4 && step->num_results == 3 && step->num_operands == 5);
        if (!dtype_is_float(t->dtype) ||
            (whole ? !op_shapes_agree(t, x) : t->rank != 1 || t->shape[0] != x->shape[feature])) {
            return false;
        }
    }
    return true;
}

static const code_action norms[OP_KIND_COUNT] = {
    [OP_STABLEHLO_BATCH_NORM_INFERENCE] = run_norm_inference,
    [OP_STABLEHLO_BATCH_NORM_TRAINING] = run_norm_training,
    [OP_STABLEHLO_BATCH_NORM_GRAD] = run_norm_grad,
};

static tsr_status prepare_norm(code_decoder *d, code_step *step)
{
    const tsr_program *p = d->code->program;
    const uint32_t epsilon = op_property(p, step->op, "epsilon");
    int64_t feature = 0;
    norm_step *s = CODE_NEW(d, norm_step);
    if (s == NULL) {
        return diag_nomem(d->code->ctx);
    }
    if (!attr_as_integer(p, op_property(p, step->op, "feature_index"), &feature) || feature < 0 ||
        !attr_is(p, epsilon, ATTR_FLOAT) || !norm_fits(step, (size_t)feature)) {
        return TSR_NOT_APPLICABLE;
    }
    const attr_head *head = program_attr(p, epsilon);
    *s = (norm_step){(size_t)feature,
                     float_to_double((float_format)program_type(p, head->type)->width, head->bits)};
    step->data = s;
    step->action = norms[op_kind_of(p, step->op)];
    return TSR_OK;
}

const code_op interp_ops_other[OP_KIND_COUNT] = {
    [OP_STABLEHLO_COMPARE] = {.prepare = prepare_compare},
    [OP_STABLEHLO_MAP] = {.prepare = prepare_map},
    [OP_STABLEHLO_BATCH_NORM_INFERENCE] = {.prepare = prepare_norm},
    [OP_STABLEHLO_BATCH_NORM_TRAINING] = {.prepare = prepare_norm},
    [OP_STABLEHLO_BATCH_NORM_GRAD] = {.prepare = prepare_norm},
};

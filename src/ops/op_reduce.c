#include "ops/op_reduce.h"

#include "ops/gradient.h"

/* Which dimensions are reduced. */
static void flags_of(const op_params *params, bool *reduced)
{
    for (size_t i = 0; i < params->dimensions.count; i++) {
        reduced[params->dimensions.values[i]] = true;
    }
}

static tsr_status result_shape(const op_request *r, op_type *result)
{
    bool reduced[OP_MAX_RANK] = {false};
    const op_type *operand = &r->operands[0];
    TSR_TRY(op_check_dims(r, "the reduced dimension", r->params->dimensions, operand->rank, NULL));
    flags_of(r->params, reduced);
    *result = (op_type){.dtype = operand->dtype};
    for (size_t d = 0; d < operand->rank; d++) {
        if (!reduced[d]) {
            result->shape[result->rank++] = operand->shape[d];
        }
    }
    return TSR_OK;
}

static tsr_status reduce_types(const op_request *r, op_type *results)
{
    if (!reduce_supports((fold_op)r->params->variant, r->operands[0].dtype)) {
        return diag_error(r->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION, "%s: there is no %s of %s",
                          r->call, fold_name((fold_op)r->params->variant),
                          tsr_dtype_name(r->operands[0].dtype));
    }
    return result_shape(r, &results[0]);
}

static tsr_status reduce_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                              const tsr_rule **out)
{
    size_t dims[OP_MAX_RANK];
    const bool bits = r->params->variant == FOLD_AND || r->params->variant == FOLD_OR;
    (void)results;
    if (bits && r->operands[0].dtype != TSR_I1) {
        return TSR_NOT_APPLICABLE;
    }
    TSR_TRY(op_check_dims(r, "the reduced dimension", r->params->dimensions, r->operands[0].rank,
                          dims));
    return tsr_rule_reduce(r->ctx, arena, op_extents(&r->operands[0]), dims,
                           r->params->dimensions.count, out);
}

/* A fold of some kind passes through what is pending of the same kind. */
static spmd_class class_reduce(const op_request *r, size_t operand, tsr_reduction pending)
{
    switch (r->params->variant) {
    case FOLD_SUM:
        return class_linear(r, operand, pending);
    case FOLD_MAX:
        return pending == TSR_MAX ? SPMD_LINEAR : SPMD_NONLINEAR;
    case FOLD_MIN:
        return pending == TSR_MIN ? SPMD_LINEAR : SPMD_NONLINEAR;
    case FOLD_PROD:
        return pending == TSR_PROD ? SPMD_LINEAR : SPMD_NONLINEAR;
    default:
        return SPMD_NONLINEAR;
    }
}

/* AND and OR of truth values are the least and the greatest; of bits they cannot be pending. */
static tsr_reduction reduction_of(const op_request *r)
{
    switch (r->params->variant) {
    case FOLD_MAX:
    case FOLD_OR:
        return TSR_MAX;
    case FOLD_MIN:
    case FOLD_AND:
        return TSR_MIN;
    case FOLD_PROD:
        return TSR_PROD;
    default:
        return TSR_SUM;
    }
}

static void reduce_run(const op_call *c, void *scratch)
{
    bool reduced[OP_MAX_RANK] = {false};
    (void)scratch;
    flags_of(c->params, reduced);
    kernel_reduce((fold_op)c->params->variant, &c->results[0].view, &c->operands[0].view, reduced,
                  1);
}

const op_row op_reduce = {.name = "reduce",
                          .traits = OP_GRADIENT_BY_RESULT,
                          .num_operands = 1,
                          .num_results = 1,
                          .types = reduce_types,
                          .rule = reduce_rule,
                          .class_of = class_reduce,
                          .reduces = reduction_of,
                          .run = reduce_run,
                          .gradient = gradient_reduce};

static tsr_status mean_types(const op_request *r, op_type *results)
{
    if (!dtype_is_float(r->operands[0].dtype) || !reduce_supports(FOLD_SUM, r->operands[0].dtype)) {
        return op_no_such_type(r, r->operands[0].dtype);
    }
    return result_shape(r, &results[0]);
}

/* Over the elements of the whole: averages of averages would be wrong on uneven shards. */
static void mean_run(const op_call *c, void *scratch)
{
    bool reduced[OP_MAX_RANK] = {false};
    double count = 1;
    (void)scratch;
    flags_of(c->params, reduced);
    for (size_t i = 0; i < c->params->dimensions.count; i++) {
        count *= (double)c->operands[0].full[c->params->dimensions.values[i]];
    }
    kernel_reduce(FOLD_SUM, &c->results[0].view, &c->operands[0].view, reduced, 1 / count);
}

const op_row op_mean = {.name = "mean",
                        .traits = OP_GRADIENT_BY_TYPE,
                        .num_operands = 1,
                        .num_results = 1,
                        .types = mean_types,
                        .rule = reduce_rule,
                        .class_of = class_linear,
                        .run = mean_run,
                        .gradient = gradient_mean};

static tsr_status cumulative_types(const op_request *r, op_type *results)
{
    TSR_TRY(op_check_dim(r, "the dimension", r->params->dimension, r->operands[0].rank));
    if (!reduce_supports((fold_op)r->params->variant, r->operands[0].dtype)) {
        return op_no_such_type(r, r->operands[0].dtype);
    }
    results[0] = r->operands[0];
    return TSR_OK;
}

static tsr_status cumulative_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                  const tsr_rule **out)
{
    return tsr_rule_cumulative(r->ctx, arena, op_extents(&results[0]), (size_t)r->params->dimension,
                               out);
}

static void cumulative_run(const op_call *c, void *scratch)
{
    (void)scratch;
    kernel_cumulative((fold_op)c->params->variant, &c->results[0].view, &c->operands[0].view,
                      (size_t)c->params->dimension);
}

const op_row op_cumulative = {.name = "cumulative",
                              .traits = OP_GRADIENT_BY_TYPE,
                              .num_operands = 1,
                              .num_results = 1,
                              .types = cumulative_types,
                              .rule = cumulative_rule,
                              .class_of = class_reduce,
                              .run = cumulative_run,
                              .gradient = gradient_cumulative};

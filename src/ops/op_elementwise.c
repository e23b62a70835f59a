#include "ops/op_elementwise.h"

#include <string.h>

#include "ops/gradient.h"

/* ---- shapes ---- */

/* The shape that operands broadcast to. */
static tsr_status broadcast_shape(const op_request *r, op_type *result)
{
    result->rank = 0;
    for (size_t i = 0; i < r->num_operands; i++) {
        result->rank = r->operands[i].rank > result->rank ? r->operands[i].rank : result->rank;
    }
    for (size_t d = 0; d < result->rank; d++) {
        size_t from = 0;
        result->shape[d] = 1;
        for (size_t i = 0; i < r->num_operands; i++) {
            const op_type *t = &r->operands[i];
            if (d + t->rank < result->rank) {
                continue;
            }
            const int64_t size = t->shape[d + t->rank - result->rank];
            if (result->shape[d] == 1) {
                result->shape[d] = size;
                from = i;
            } else if (size != 1 && size != result->shape[d]) {
                return OP_ERROR(r,
                                "operand %zu, %s, and operand %zu, %s, do not broadcast: %lld is "
                                "not %lld; sizes must be equal, or one of them 1",
                                from, op_type_text(&r->operands[from]).text, i,
                                op_type_text(t).text, (long long)size, (long long)result->shape[d]);
            }
        }
    }
    return TSR_OK;
}

static tsr_status broadcast_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                 const tsr_rule **out)
{
    tsr_extents operands[3];
    for (size_t i = 0; i < r->num_operands; i++) {
        operands[i] = op_extents(&r->operands[i]);
    }
    return tsr_rule_broadcasting(r->ctx, arena, operands, r->num_operands, op_extents(&results[0]),
                                 out);
}

/* An operand as a view of the result's shape: a stride of 0 where it repeats. */
typedef struct spread {
    tsr_view view;
    int64_t strides[OP_MAX_RANK];
} spread;

/* The view's strides are the spread's own, so it stays where it is. */
static void spread_operand(const op_call *c, size_t operand, spread *out)
{
    const op_array *a = &c->operands[operand];
    const op_array *to = &c->results[0];
    const size_t leading = to->view.rank - a->view.rank;
    for (size_t d = 0; d < to->view.rank; d++) {
        const bool repeats = d < leading || a->full[d - leading] != to->full[d];
        out->strides[d] = repeats ? 0 : a->view.strides[d - leading];
    }
    out->view = to->view;
    out->view.data = a->view.data;
    out->view.dtype = a->view.dtype;
    out->view.strides = out->strides;
}

/* ---- unary ---- */

static tsr_status unary_types(const op_request *r, op_type *results)
{
    if (!unary_supports((unary_op)r->row->kind, r->operands[0].dtype)) {
        return op_no_such_type(r, r->operands[0].dtype);
    }
    results[0] = r->operands[0];
    return TSR_OK;
}

static void unary_run(const op_call *c, void *scratch)
{
    (void)scratch;
    kernel_unary((unary_op)c->row->kind, &c->results[0].view, &c->operands[0].view);
}

/* Functions that keep an order keep a greatest and a least element. */
static spmd_class class_monotone(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)r;
    (void)operand;
    return pending == TSR_MAX || pending == TSR_MIN ? SPMD_LINEAR : SPMD_NONLINEAR;
}

/* Not for a greatest where smaller numbers have no image: a NaN would stand for them. */
static spmd_class class_monotone_above(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)r;
    (void)operand;
    return pending == TSR_MIN ? SPMD_LINEAR : SPMD_NONLINEAR;
}

#define UNARY(op, text, class)                                                                     \
    [op] = {.name = (text),                                                                        \
            .traits = OP_ELEMENTWISE | OP_GRADIENT_BY_RESULT,                                      \
            .kind = (op),                                                                          \
            .num_operands = 1,                                                                     \
            .num_results = 1,                                                                      \
            .types = unary_types,                                                                  \
            .rule = broadcast_rule,                                                                \
            .class_of = (class),                                                                   \
            .run = unary_run,                                                                      \
            .gradient = gradient_unary}

const op_row op_unary[UNARY_COUNT] = {
    UNARY(UNARY_NEGATE, "negate", class_linear),
    UNARY(UNARY_ABS, "abs", NULL),
    UNARY(UNARY_SIGN, "sign", class_monotone),
    UNARY(UNARY_EXP, "exponential", class_monotone),
    UNARY(UNARY_EXPM1, "exponential_minus_one", class_monotone),
    UNARY(UNARY_LOG, "log", class_monotone_above),
    UNARY(UNARY_LOG1P, "log_plus_one", class_monotone_above),
    UNARY(UNARY_SQRT, "sqrt", class_monotone_above),
    UNARY(UNARY_RSQRT, "rsqrt", NULL),
    UNARY(UNARY_TANH, "tanh", class_monotone),
    UNARY(UNARY_ERF, "erf", class_monotone),
    UNARY(UNARY_LOGISTIC, "logistic", class_monotone),
    UNARY(UNARY_SILU, "silu", NULL),
    UNARY(UNARY_GELU, "gelu", NULL),
    UNARY(UNARY_RELU, "relu", class_monotone),
    UNARY(UNARY_SIN, "sine", NULL),
    UNARY(UNARY_COS, "cosine", NULL),
    UNARY(UNARY_FLOOR, "floor", class_monotone),
    UNARY(UNARY_CEIL, "ceil", class_monotone),
    UNARY(UNARY_NOT, "not", NULL),
};

/* ---- binary ---- */

static tsr_status binary_types(const op_request *r, op_type *results)
{
    TSR_TRY(op_same_dtype(r, 0, 1));
    if (!binary_supports((binary_op)r->row->kind, r->operands[0].dtype)) {
        return op_no_such_type(r, r->operands[0].dtype);
    }
    results[0].dtype = r->operands[0].dtype;
    return broadcast_shape(r, &results[0]);
}

static void binary_run(const op_call *c, void *scratch)
{
    spread a;
    spread b;
    (void)scratch;
    spread_operand(c, 0, &a);
    spread_operand(c, 1, &b);
    kernel_binary((binary_op)c->row->kind, &c->results[0].view, &a.view, &b.view);
}

/* A division of floats is linear in the dividend. */
static spmd_class class_divide(const op_request *r, size_t operand, tsr_reduction pending)
{
    return operand == 0 && dtype_is_float(r->operands[0].dtype)
               ? class_multilinear(r, operand, pending)
               : SPMD_NONLINEAR;
}

static spmd_class class_max(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)r;
    (void)operand;
    return pending == TSR_MAX ? SPMD_LINEAR : SPMD_NONLINEAR;
}

static spmd_class class_min(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)r;
    (void)operand;
    return pending == TSR_MIN ? SPMD_LINEAR : SPMD_NONLINEAR;
}

#define BINARY(op, text, class, saves)                                                             \
    [op] = {.name = (text),                                                                        \
            .traits = OP_ELEMENTWISE | (saves),                                                    \
            .kind = (op),                                                                          \
            .num_operands = 2,                                                                     \
            .num_results = 1,                                                                      \
            .types = binary_types,                                                                 \
            .rule = broadcast_rule,                                                                \
            .class_of = (class),                                                                   \
            .run = binary_run,                                                                     \
            .gradient = gradient_binary}

const op_row op_binary[BINARY_COUNT] = {
    BINARY(BINARY_ADD, "add", class_linear, OP_GRADIENT_BY_TYPE),
    BINARY(BINARY_SUBTRACT, "subtract", class_linear, OP_GRADIENT_BY_TYPE),
    BINARY(BINARY_MULTIPLY, "multiply", class_multilinear, 0),
    BINARY(BINARY_DIVIDE, "divide", class_divide, OP_GRADIENT_BY_RESULT),
    BINARY(BINARY_MAX, "maximum", class_max, 0),
    BINARY(BINARY_MIN, "minimum", class_min, 0),
    BINARY(BINARY_POWER, "power", NULL, OP_GRADIENT_BY_RESULT),
    BINARY(BINARY_REMAINDER, "remainder", NULL, 0),
    BINARY(BINARY_AND, "and", NULL, 0),
    BINARY(BINARY_OR, "or", NULL, 0),
    BINARY(BINARY_XOR, "xor", NULL, 0),
};

/* ---- compare, select, convert ---- */

static tsr_status compare_types(const op_request *r, op_type *results)
{
    TSR_TRY(op_same_dtype(r, 0, 1));
    if (!compare_supports(r->operands[0].dtype)) {
        return op_no_such_type(r, r->operands[0].dtype);
    }
    results[0].dtype = TSR_I1;
    return broadcast_shape(r, &results[0]);
}

static void compare_run(const op_call *c, void *scratch)
{
    spread a;
    spread b;
    (void)scratch;
    spread_operand(c, 0, &a);
    spread_operand(c, 1, &b);
    kernel_compare((compare_op)c->params->variant, &c->results[0].view, &a.view, &b.view);
}

const op_row op_compare = {.name = "compare",
                           .traits = OP_ELEMENTWISE,
                           .num_operands = 2,
                           .num_results = 1,
                           .types = compare_types,
                           .rule = broadcast_rule,
                           .run = compare_run,
                           .gradient = gradient_none};

static tsr_status select_types(const op_request *r, op_type *results)
{
    if (r->operands[0].dtype != TSR_I1) {
        return OP_ERROR(r, "operand 0, %s, must be of truth values, i1; compare makes them",
                        op_type_text(&r->operands[0]).text);
    }
    TSR_TRY(op_same_dtype(r, 1, 2));
    results[0].dtype = r->operands[1].dtype;
    return broadcast_shape(r, &results[0]);
}

static spmd_class class_select(const op_request *r, size_t operand, tsr_reduction pending)
{
    return operand > 0 ? class_moves(r, operand, pending) : SPMD_NONLINEAR;
}

static void select_run(const op_call *c, void *scratch)
{
    spread which;
    spread yes;
    spread no;
    (void)scratch;
    spread_operand(c, 0, &which);
    spread_operand(c, 1, &yes);
    spread_operand(c, 2, &no);
    kernel_select(&c->results[0].view, &which.view, &yes.view, &no.view);
}

const op_row op_select = {.name = "select",
                          .traits = OP_ELEMENTWISE,
                          .num_operands = 3,
                          .num_results = 1,
                          .types = select_types,
                          .rule = broadcast_rule,
                          .class_of = class_select,
                          .run = select_run,
                          .gradient = gradient_select};

static tsr_status convert_types(const op_request *r, op_type *results)
{
    if (!convert_supports(r->operands[0].dtype, r->params->dtype)) {
        return diag_error(r->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "%s: %s cannot be converted to %s", r->call,
                          op_type_text(&r->operands[0]).text, tsr_dtype_name(r->params->dtype));
    }
    results[0] = r->operands[0];
    results[0].dtype = r->params->dtype;
    return TSR_OK;
}

/* Whether every number of a float type is one of another. */
static bool widens(tsr_dtype from, tsr_dtype to)
{
    return from == to || to == TSR_F64 || (to == TSR_F32 && from != TSR_F64);
}

/*
 * A sum of rounded numbers is not the rounded sum, and integers that wrap around do so elsewhere in
 * a wider type; but rounding keeps the order.
 */
static spmd_class class_convert(const op_request *r, size_t operand, tsr_reduction pending)
{
    const tsr_dtype from = r->operands[0].dtype;
    const bool floats = dtype_is_float(from) && dtype_is_float(r->params->dtype);
    if (floats && (pending == TSR_MAX || pending == TSR_MIN)) {
        return SPMD_LINEAR;
    }
    return floats && widens(from, r->params->dtype) ? class_linear(r, operand, pending)
                                                    : SPMD_NONLINEAR;
}

static void convert_run(const op_call *c, void *scratch)
{
    (void)scratch;
    kernel_convert(&c->results[0].view, &c->operands[0].view);
}

const op_row op_convert = {.name = "convert",
                           .traits = OP_ELEMENTWISE | OP_GRADIENT_BY_TYPE,
                           .num_operands = 1,
                           .num_results = 1,
                           .types = convert_types,
                           .rule = broadcast_rule,
                           .class_of = class_convert,
                           .run = convert_run,
                           .gradient = gradient_convert};

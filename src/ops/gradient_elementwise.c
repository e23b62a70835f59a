/* Gradients of elementwise ops. */
#include <math.h>

#include "ops/gradient.h"

#define MUL(x, y) build_binary(b, BINARY_MULTIPLY, (x), (y))
#define DIV(x, y) build_binary(b, BINARY_DIVIDE, (x), (y))
#define ADD(x, y) build_binary(b, BINARY_ADD, (x), (y))
#define SUB(x, y) build_binary(b, BINARY_SUBTRACT, (x), (y))
#define NEG(x) build_unary(b, UNARY_NEGATE, (x))
#define NUM(beside, n) build_number(b, (beside), (n))

void gradient_none(op_builder *b, const op_vjp *v, op_value **grads)
{
    (void)b;
    (void)v;
    (void)grads;
}

op_value *unbroadcast(op_builder *b, op_value *g, const op_type *operand)
{
    const op_type type = build_type(b, g);
    int64_t dims[OP_MAX_RANK];
    size_t count = 0;
    if (g == NULL) {
        return NULL;
    }
    const size_t leading = type.rank - operand->rank;
    for (size_t d = 0; d < type.rank; d++) {
        if (d < leading || operand->shape[d - leading] != type.shape[d]) {
            dims[count++] = (int64_t)d;
        }
    }
    if (count == 0) {
        return g;
    }
    return build_reshape(b, build_sum(b, g, dims, count), operand->shape, operand->rank);
}

/* ---- one operand: what the cotangent is multiplied by ---- */

static op_value *of_abs(op_builder *b, op_value *x, op_value *y)
{
    (void)y;
    return build_unary(b, UNARY_SIGN, x);
}

static op_value *of_exp(op_builder *b, op_value *x, op_value *y)
{
    (void)b;
    (void)x;
    return y;
}

static op_value *of_expm1(op_builder *b, op_value *x, op_value *y)
{
    (void)x;
    return ADD(y, NUM(y, 1));
}

static op_value *of_log(op_builder *b, op_value *x, op_value *y)
{
    (void)y;
    return DIV(NUM(x, 1), x);
}

static op_value *of_log1p(op_builder *b, op_value *x, op_value *y)
{
    (void)y;
    return DIV(NUM(x, 1), ADD(x, NUM(x, 1)));
}

static op_value *of_sqrt(op_builder *b, op_value *x, op_value *y)
{
    (void)x;
    return DIV(NUM(y, 0.5), y);
}

static op_value *of_rsqrt(op_builder *b, op_value *x, op_value *y)
{
    (void)x;
    return MUL(NUM(y, -0.5), MUL(y, MUL(y, y)));
}

static op_value *of_tanh(op_builder *b, op_value *x, op_value *y)
{
    (void)x;
    return SUB(NUM(y, 1), MUL(y, y));
}

static op_value *of_erf(op_builder *b, op_value *x, op_value *y)
{
    (void)y;
    return MUL(NUM(x, M_2_SQRTPI), build_unary(b, UNARY_EXP, NEG(MUL(x, x))));
}

static op_value *of_logistic(op_builder *b, op_value *x, op_value *y)
{
    (void)x;
    return MUL(y, SUB(NUM(y, 1), y));
}

/* s (1 + x (1 - s)), where s is the logistic function. */
static op_value *of_silu(op_builder *b, op_value *x, op_value *y)
{
    op_value *s = build_unary(b, UNARY_LOGISTIC, x);
    (void)y;
    return MUL(s, ADD(NUM(x, 1), MUL(x, SUB(NUM(x, 1), s))));
}

/* (1 + erf(x / sqrt 2)) / 2 + x e^(-x^2 / 2) / sqrt(2 pi) */
static op_value *of_gelu(op_builder *b, op_value *x, op_value *y)
{
    op_value *erf = build_unary(b, UNARY_ERF, MUL(x, NUM(x, M_SQRT1_2)));
    op_value *share = MUL(ADD(erf, NUM(x, 1)), NUM(x, 0.5));
    op_value *bell = build_unary(b, UNARY_EXP, MUL(NUM(x, -0.5), MUL(x, x)));
    (void)y;
    return ADD(share, MUL(MUL(x, NUM(x, M_2_SQRTPI * M_SQRT1_2 / 2)), bell));
}

static op_value *of_sin(op_builder *b, op_value *x, op_value *y)
{
    (void)y;
    return build_unary(b, UNARY_COS, x);
}

static op_value *of_cos(op_builder *b, op_value *x, op_value *y)
{
    (void)y;
    return NEG(build_unary(b, UNARY_SIN, x));
}

typedef op_value *(*derivative)(op_builder *b, op_value *x, op_value *y);

/* Those that are not here change in steps, or have a case of their own. */
static const derivative derivatives[UNARY_COUNT] = {
    [UNARY_ABS] = of_abs,           [UNARY_EXP] = of_exp,     [UNARY_EXPM1] = of_expm1,
    [UNARY_LOG] = of_log,           [UNARY_LOG1P] = of_log1p, [UNARY_SQRT] = of_sqrt,
    [UNARY_RSQRT] = of_rsqrt,       [UNARY_TANH] = of_tanh,   [UNARY_ERF] = of_erf,
    [UNARY_LOGISTIC] = of_logistic, [UNARY_SILU] = of_silu,   [UNARY_GELU] = of_gelu,
    [UNARY_SIN] = of_sin,           [UNARY_COS] = of_cos,
};

void gradient_unary(op_builder *b, const op_vjp *v, op_value **grads)
{
    op_value *x = v->operands[0];
    op_value *g = v->cotangents[0];
    if (v->row->kind == UNARY_NEGATE) {
        grads[0] = NEG(g);
    } else if (v->row->kind == UNARY_RELU) {
        op_value *zero = NUM(x, 0);
        grads[0] = build_select(b, build_compare(b, COMPARE_GT, x, zero), g, NUM(g, 0));
    } else if (derivatives[v->row->kind] != NULL) {
        grads[0] = MUL(g, derivatives[v->row->kind](b, x, v->results[0]));
    }
}

/* ---- two operands ---- */

/* Half of the cotangent goes to each of equals. */
static op_value *share_of(op_builder *b, op_value *g, op_value *mine, op_value *other,
                          compare_op wins)
{
    op_value *zero = NUM(g, 0);
    op_value *half =
        build_select(b, build_compare(b, COMPARE_EQ, mine, other), MUL(g, NUM(g, 0.5)), zero);
    return build_select(b, build_compare(b, wins, mine, other), g, half);
}

/* b a^(b - 1), and a^b log a where a is not 0. */
static op_value *of_power(op_builder *b, const op_vjp *v, size_t operand)
{
    op_value *base = v->operands[0];
    op_value *exponent = v->operands[1];
    if (operand == 0) {
        op_value *less = SUB(exponent, NUM(exponent, 1));
        return MUL(v->cotangents[0], MUL(exponent, build_binary(b, BINARY_POWER, base, less)));
    }
    op_value *is_zero = build_compare(b, COMPARE_EQ, base, NUM(base, 0));
    op_value *log = build_unary(b, UNARY_LOG, build_select(b, is_zero, NUM(base, 1), base));
    return MUL(v->cotangents[0], MUL(v->results[0], log));
}

/* The quotient of a remainder, towards zero. */
static op_value *quotient(op_builder *b, op_value *x, op_value *y)
{
    op_value *q = DIV(x, y);
    op_value *size = build_unary(b, UNARY_FLOOR, build_unary(b, UNARY_ABS, q));
    return MUL(build_unary(b, UNARY_SIGN, q), size);
}

static op_value *of_binary(op_builder *b, const op_vjp *v, size_t operand)
{
    op_value *x = v->operands[0];
    op_value *y = v->operands[1];
    op_value *g = v->cotangents[0];
    const bool first = operand == 0;
    switch (v->row->kind) {
    case BINARY_ADD:
        return g;
    case BINARY_SUBTRACT:
        return first ? g : NEG(g);
    case BINARY_MULTIPLY:
        return MUL(g, first ? y : x);
    case BINARY_DIVIDE:
        return first ? DIV(g, y) : NEG(DIV(MUL(g, v->results[0]), y));
    case BINARY_MAX:
        return first ? share_of(b, g, x, y, COMPARE_GT) : share_of(b, g, y, x, COMPARE_GT);
    case BINARY_MIN:
        return first ? share_of(b, g, x, y, COMPARE_LT) : share_of(b, g, y, x, COMPARE_LT);
    case BINARY_POWER:
        return of_power(b, v, operand);
    case BINARY_REMAINDER:
        return first ? g : NEG(MUL(g, quotient(b, x, y)));
    default:
        return NULL;
    }
}

void gradient_binary(op_builder *b, const op_vjp *v, op_value **grads)
{
    for (size_t i = 0; i < 2; i++) {
        if (v->wanted[i]) {
            const op_type type = build_type(b, v->operands[i]);
            grads[i] = unbroadcast(b, of_binary(b, v, i), &type);
        }
    }
}

void gradient_select(op_builder *b, const op_vjp *v, op_value **grads)
{
    op_value *g = v->cotangents[0];
    for (size_t i = 1; i < 3; i++) {
        if (v->wanted[i]) {
            const op_type type = build_type(b, v->operands[i]);
            op_value *zero = NUM(g, 0);
            op_value *part = build_select(b, v->operands[0], i == 1 ? g : zero, i == 1 ? zero : g);
            grads[i] = unbroadcast(b, part, &type);
        }
    }
}

void gradient_convert(op_builder *b, const op_vjp *v, op_value **grads)
{
    grads[0] = build_convert(b, v->cotangents[0], build_type(b, v->operands[0]).dtype);
}

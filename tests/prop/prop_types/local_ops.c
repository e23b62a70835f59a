#include "local_ops.h"

#include <math.h>

#include "ops/op_elementwise.h"
#include "ops/op_index.h"
#include "ops/op_reduce.h"

#define A(i, e) (x->of[i][e])
#define OP(function, body)                                                                         \
    static void function(const local_args *x, double *y)                                           \
    {                                                                                              \
        body                                                                                       \
    }
#define EACH for (int e = 0; e < LOCAL_IN; e++)

OP(do_square, EACH y[e] = A(0, e) * A(0, e);)
OP(do_abs, EACH y[e] = fabs(A(0, e));)
OP(do_relu, EACH y[e] = fmax(A(0, e), 0);)
OP(do_sign, EACH y[e] = (double)(A(0, e) > 0) - (double)(A(0, e) < 0);)
OP(do_floor, EACH y[e] = floor(A(0, e));)
OP(do_to_int, EACH y[e] = trunc(A(0, e));)
OP(do_exp, EACH y[e] = exp2(A(0, e));)
OP(do_prod, y[0] = A(0, 0) * A(0, 1);)
OP(do_max_of, y[0] = fmax(A(0, 0), A(0, 1));)
OP(do_min_of, y[0] = fmin(A(0, 0), A(0, 1));)
OP(do_same, EACH y[e] = A(0, e);)
OP(do_negate, EACH y[e] = -A(0, e);)
OP(do_sum, y[0] = A(0, 0) + A(0, 1);)
OP(do_mean, y[0] = (A(0, 0) + A(0, 1)) / 2;)
OP(do_running, y[0] = A(0, 0); y[1] = A(0, 0) + A(0, 1);)
OP(do_swap, y[0] = A(0, 1); y[1] = A(0, 0);)
OP(do_first, y[0] = A(0, 0);)
OP(do_twice, EACH y[e] = y[LOCAL_IN + e] = A(0, e);)
OP(do_add, y[0] = A(0, 0) + A(1, 0);)
OP(do_subtract, y[0] = A(0, 0) - A(1, 0);)
OP(do_multiply, y[0] = A(0, 0) * A(1, 0);)
OP(do_divide, y[0] = A(0, 0) / A(1, 0);)
OP(do_whole_divide, y[0] = trunc(A(0, 0) / A(1, 0));)
OP(do_remainder, y[0] = fmod(2.5 * A(0, 0) + 0.25, A(1, 0));)
OP(do_larger, y[0] = fmax(A(0, 0), A(1, 0));)
OP(do_smaller, y[0] = fmin(A(0, 0), A(1, 0));)
OP(do_less, y[0] = A(0, 0) < A(1, 0);)
OP(do_dot, y[0] = A(0, 0) * A(1, 0) + A(0, 1) * A(1, 1);)
OP(do_outer, y[0] = A(0, 0) * A(1, 0); y[1] = A(0, 0) * A(1, 1); y[2] = A(0, 1) * A(1, 0);
   y[3] = A(0, 1) * A(1, 1);)
OP(
    do_join2, EACH {
        y[e] = A(0, e);
        y[LOCAL_IN + e] = A(1, e);
    })
OP(do_take, y[0] = A(0, A(1, 0) > 0 ? 1 : 0);)
OP(do_pad, y[0] = A(0, 0); y[1] = A(1, 0);)
OP(do_select, y[0] = A(0, 0) != 0 ? A(1, 0) : A(2, 0);)
OP(do_join3, y[0] = A(0, 0); y[1] = A(1, 0); y[2] = A(2, 0);)
OP(do_scatter, y[0] = A(0, 0) + (A(1, 0) > 0 ? 0 : A(2, 0)); y[1] = A(1, 0) > 0 ? A(2, 0) : 0;)
OP(do_raise, y[0] = A(1, 0) > 0 ? A(0, 0) : fmax(A(0, 0), A(2, 0));)
OP(do_largest, y[0] = fmax(A(0, 0), fmax(A(1, 0), A(2, 0)));)
OP(do_add3, y[0] = A(0, 0) + A(1, 0) + A(2, 0);)
OP(do_multiply3, y[0] = A(0, 0) * A(1, 0) * A(2, 0);)

enum { ALL = 7 };
const local_op local_ops[] = {
    {"square", NULL, NONLINEAR, 1, 2, 2, do_square, 0, 0, 0, 0, 0},
    {"abs", "abs", NONLINEAR, 1, 2, 2, do_abs, 0, 0, 0, 0, 0},
    {"max(x,0)", "relu", NONLINEAR, 1, 2, 2, do_relu, 0, 0, 0, 0, 0},
    {"sign", "sign", NONLINEAR, 1, 2, 2, do_sign, 0, ALL, 0, 0, 0},
    {"floor", "floor", NONLINEAR, 1, 2, 2, do_floor, 0, ALL, 0, 0, 0.5},
    {"2^x", "exponential", NONLINEAR, 1, 2, 2, do_exp, 0, 0, 0, 0, 0},
    {"f64 to i64", "convert", NONLINEAR, 1, 2, 2, do_to_int, 0, ALL, TSR_F64, TSR_I64, 0.5},
    {"product of all", "fold", NONLINEAR, 1, 2, 1, do_prod, OP_BODY_PROD, 0, 0, 0, 0},
    {"max of all", "fold", NONLINEAR, 1, 2, 1, do_max_of, OP_BODY_MAX, 0, 0, 0, 0},
    {"min of all", "fold", NONLINEAR, 1, 2, 1, do_min_of, OP_BODY_MIN, 0, 0, 0, 0},
    {"maximum", "maximum", NONLINEAR, 2, 1, 1, do_larger, 0, 0, 0, 0, 0},
    {"minimum", "minimum", NONLINEAR, 2, 1, 1, do_smaller, 0, 0, 0, 0, 0},
    {"a < b", "compare", NONLINEAR, 2, 1, 1, do_less, 0, ALL, 0, 0, 0},
    {"(2.5a+.25) % b", "remainder", NONLINEAR, 2, 1, 1, do_remainder, 0, 0, 0, 0, 0},
    {"integer a/b", "divide", NONLINEAR, 2, 1, 1, do_whole_divide, 0, ALL, TSR_I64, 0, 0},
    {"scatter max", "scatter", NONLINEAR, 3, 1, 1, do_raise, OP_BODY_MAX, 2, 0, 0, 0},
    {"maximum of 3", "maximum", NONLINEAR, 3, 1, 1, do_largest, 0, 0, 0, 0, 0},
    {"f32 to f64", "convert", LINEAR, 1, 2, 2, do_same, 0, 0, TSR_F32, TSR_F64, 0},
    {"negate", "negate", LINEAR, 1, 2, 2, do_negate, 0, 0, 0, 0, 0},
    {"sum", "fold", LINEAR, 1, 2, 1, do_sum, OP_BODY_SUM, 0, 0, 0, 0},
    {"mean", "mean", LINEAR, 1, 2, 1, do_mean, 0, 0, 0, 0, 0},
    {"running sum", "cumulative", LINEAR, 1, 2, 2, do_running, OP_BODY_SUM, 0, 0, 0, 0},
    {"reshape", "reshape", LINEAR, 1, 2, 2, do_same, 0, 0, 0, 0, 0},
    {"transpose", "transpose", LINEAR, 1, 2, 2, do_swap, 0, 0, 0, 0, 0},
    {"slice", "slice", LINEAR, 1, 2, 1, do_first, 0, 0, 0, 0, 0},
    {"broadcast", "broadcast_in_dim", LINEAR, 1, 2, 4, do_twice, 0, 0, 0, 0, 0},
    {"add", "add", LINEAR, 2, 1, 1, do_add, 0, 0, 0, 0, 0},
    {"subtract", "subtract", LINEAR, 2, 1, 1, do_subtract, 0, 0, 0, 0, 0},
    {"concatenate 2", "concatenate", LINEAR, 2, 2, 4, do_join2, 0, 0, 0, 0, 0},
    {"pad", "pad", LINEAR, 2, 1, 2, do_pad, 0, 0, 0, 0, 0},
    {"take", "gather", LINEAR, 2, 2, 1, do_take, 0, 2, 0, 0, 0},
    {"select", "select", LINEAR, 3, 1, 1, do_select, 0, 1, 0, 0, 0},
    {"concatenate 3", "concatenate", LINEAR, 3, 1, 3, do_join3, 0, 0, 0, 0, 0},
    {"scatter add", "scatter", LINEAR, 3, 1, 2, do_scatter, OP_BODY_SUM, 2, 0, 0, 0},
    {"add 3", "add", LINEAR, 3, 1, 1, do_add3, 0, 0, 0, 0, 0},
    {"einsum of one", "dot_general", MULTILINEAR, 1, 2, 1, do_sum, 0, 0, 0, 0, 0},
    {"multiply", "multiply", MULTILINEAR, 2, 1, 1, do_multiply, 0, 0, 0, 0, 0},
    {"dot", "dot_general", MULTILINEAR, 2, 2, 1, do_dot, 0, 0, 0, 0, 0},
    {"matrix product", "dot_general", MULTILINEAR, 2, 2, 4, do_outer, 0, 0, 0, 0, 0},
    {"multiply 3", "multiply", MULTILINEAR, 3, 1, 1, do_multiply3, 0, 0, 0, 0, 0},
    {"a/b", "divide", DIVISION, 2, 1, 1, do_divide, 0, 0, 0, 0, 0},
};
const size_t local_ops_count = sizeof local_ops / sizeof local_ops[0];

/* The parameters that classes look at, whichever row asks. */
typedef struct local_params {
    const local_op *op;
    reduce_params reduce;
    cumulative_params cumulative;
    scatter_params scatter;
    convert_params convert;
} local_params;

static const void *params_of(local_params *p, const op_row *row)
{
    const op_region body = {.body = (op_body)p->op->variant};
    p->reduce.body = body;
    p->cumulative.body = body;
    p->scatter.body = body;
    p->convert.result = p->op->to;
    if (row == &op_cumulative) {
        return &p->cumulative;
    }
    return row == &op_scatter   ? (const void *)&p->scatter
           : row == &op_convert ? (const void *)&p->convert
                                : (const void *)&p->reduce;
}

tsr_op_class local_class_of(void *state, size_t operand, tsr_reduction pending)
{
    static const tsr_op_class classes[] = {[SPMD_NONLINEAR] = TSR_NONLINEAR,
                                           [SPMD_LINEAR] = TSR_LINEAR,
                                           [SPMD_MULTILINEAR] = TSR_MULTILINEAR};
    const local_op *op = state;
    const op_row *row = op->row != NULL ? op_find(op->row) : NULL;
    const int64_t extent = (int64_t)op->elements;
    op_type types[LOCAL_ARITY];
    for (size_t i = 0; i < LOCAL_ARITY; i++) {
        types[i] =
            (op_type){.dtype = op->from != 0 ? op->from : TSR_F64, .rank = 1, .shape = &extent};
    }
    local_params params = {.op = op};
    const op_request request = {.row = row,
                                .params = params_of(&params, row),
                                .num_operands = op->arity,
                                .operands = types};
    return row != NULL && row->class_of != NULL ? classes[row->class_of(&request, operand, pending)]
                                                : TSR_NONLINEAR;
}

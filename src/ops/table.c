/* All rows: whoever adds a family adds its rows here. */
#include "ops/op_dot.h"
#include "ops/op_elementwise.h"
#include "ops/op_index.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"

#define UNARY(op) &op_unary[UNARY_##op]
#define BINARY(op) &op_binary[BINARY_##op]

const op_row *const op_rows[] = {
    UNARY(NEGATE),
    UNARY(ABS),
    UNARY(SIGN),
    UNARY(EXP),
    UNARY(EXPM1),
    UNARY(LOG),
    UNARY(LOG1P),
    UNARY(SQRT),
    UNARY(RSQRT),
    UNARY(TANH),
    UNARY(ERF),
    UNARY(LOGISTIC),
    UNARY(SILU),
    UNARY(GELU),
    UNARY(RELU),
    UNARY(SIN),
    UNARY(COS),
    UNARY(FLOOR),
    UNARY(CEIL),
    UNARY(NOT),
    BINARY(ADD),
    BINARY(SUBTRACT),
    BINARY(MULTIPLY),
    BINARY(DIVIDE),
    BINARY(MAX),
    BINARY(MIN),
    BINARY(POWER),
    BINARY(REMAINDER),
    BINARY(AND),
    BINARY(OR),
    BINARY(XOR),
    &op_compare,
    &op_select,
    &op_convert,
    &op_reduce,
    &op_mean,
    &op_cumulative,
    &op_dot_general,
    &op_reshape,
    &op_transpose,
    &op_broadcast_in_dim,
    &op_slice,
    &op_concatenate,
    &op_pad,
    &op_gather,
    &op_scatter,
    &op_iota,
    &op_random,
    &op_sort,
    &op_top_k,
};
const size_t op_rows_count = sizeof op_rows / sizeof op_rows[0];

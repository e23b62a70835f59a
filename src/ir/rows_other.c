/* How the ops of chlo, check, interpreter, arith and tensor are spelled. */
#include "ir/row.h"

#define ACCURACY                                                                                   \
    {                                                                                              \
        .name = "result_accuracy", .kind = PROP_ANY, .optional = true,                             \
        .unless = "#chlo.result_accuracy<mode = #chlo.result_accuracy_mode<DEFAULT>>"              \
    }
#define UNARY(op)                                                                                  \
    [OP_CHLO_##op - OP_BEFORE_CHLO] = {                                                            \
        .kind = OP_CHLO_##op, .form = " $o$D : $P", .num_operands = 1, .num_results = 1}
#define BINARY(op)                                                                                 \
    [OP_CHLO_##op - OP_BEFORE_CHLO] = {                                                            \
        .kind = OP_CHLO_##op, .form = " $o, $o$D : $P", .num_operands = 2, .num_results = 1}
#define BROADCAST(op)                                                                              \
    [OP_CHLO_BROADCAST_##op - OP_BEFORE_CHLO] = {                                                  \
        .kind = OP_CHLO_BROADCAST_##op,                                                            \
        .form = " $o, $o$D : ($O) -> $R",                                                          \
        .props = PROPS({.name = "broadcast_dimensions", .kind = PROP_INTS, .optional = true}),     \
        .num_operands = 2,                                                                         \
        .num_results = 1}

static const ir_row chlo_rows[] = {
    UNARY(ACOS),
    UNARY(ACOSH),
    UNARY(ASIN),
    UNARY(ASINH),
    UNARY(ATAN),
    UNARY(ATANH),
    UNARY(BESSEL_I1E),
    UNARY(CONJ),
    UNARY(COSH),
    UNARY(SINH),
    UNARY(TAN),
    UNARY(SQUARE),
    UNARY(DIGAMMA),
    UNARY(ERF),
    UNARY(ERF_INV),
    UNARY(ERFC),
    UNARY(LGAMMA),
    UNARY(IS_INF),
    UNARY(IS_NEG_INF),
    UNARY(IS_POS_INF),
    BINARY(NEXT_AFTER),
    BINARY(POLYGAMMA),
    BINARY(ZETA),
    BINARY(MULHI),
    BROADCAST(ADD),
    BROADCAST(AND),
    BROADCAST(ATAN2),
    BROADCAST(COMPLEX),
    BROADCAST(DIVIDE),
    BROADCAST(MAXIMUM),
    BROADCAST(MINIMUM),
    BROADCAST(MULTIPLY),
    BROADCAST(NEXT_AFTER),
    BROADCAST(OR),
    BROADCAST(POLYGAMMA),
    BROADCAST(POWER),
    BROADCAST(REMAINDER),
    BROADCAST(SHIFT_LEFT),
    BROADCAST(SHIFT_RIGHT_ARITHMETIC),
    BROADCAST(SHIFT_RIGHT_LOGICAL),
    BROADCAST(SUBTRACT),
    BROADCAST(XOR),
    BROADCAST(ZETA),
    [OP_CHLO_BROADCAST_COMPARE - OP_BEFORE_CHLO] =
        {.kind = OP_CHLO_BROADCAST_COMPARE,
         .form = " $o, $o$D : ($O) -> $R",
         .props = PROPS({.name = "broadcast_dimensions", .kind = PROP_INTS, .optional = true},
                        {.name = "comparison_direction",
                         .kind = PROP_ENUM,
                         .row = ENUM_CHLO_COMPARISON_DIRECTION},
                        {.name = "compare_type",
                         .kind = PROP_ENUM,
                         .row = ENUM_CHLO_COMPARISON_TYPE,
                         .optional = true}),
         .num_operands = 2,
         .num_results = 1},
    [OP_CHLO_BROADCAST_SELECT - OP_BEFORE_CHLO] = {.kind = OP_CHLO_BROADCAST_SELECT,
                                                   .form = " $o, $o, $o$D : ($O) -> $R",
                                                   .num_operands = 3,
                                                   .num_results = 1},
    [OP_CHLO_TOP_K - OP_BEFORE_CHLO] =
        {.kind = OP_CHLO_TOP_K,
         .form = "($o, k = $(k)$?(, is_stable = $(is_stable)))$D : $P",
         .props =
             PROPS({.name = "k", .kind = PROP_INT},
                   {.name = "is_stable", .kind = PROP_BOOL, .optional = true, .unless = "true"}),
         .num_operands = 1,
         .num_results = 2,
         .result_names = NAMES("values", "indices")},
    [OP_CHLO_CONSTANT - OP_BEFORE_CHLO] = {.kind = OP_CHLO_CONSTANT,
                                           .props = PROPS({.name = "value", .kind = PROP_ELEMENTS}),
                                           .shown = SHOWN("value"),
                                           .num_results = 1},
    [OP_CHLO_CONSTANT_LIKE - OP_BEFORE_CHLO] = {.kind = OP_CHLO_CONSTANT_LIKE,
                                                .props = PROPS({.name = "value", .kind = PROP_ANY}),
                                                .num_operands = 1,
                                                .num_results = 1},
    [OP_CHLO_RAGGED_DOT - OP_BEFORE_CHLO] = {.kind = OP_CHLO_RAGGED_DOT,
                                             .props = PROPS({.name = "ragged_dot_dimension_numbers",
                                                             .kind = PROP_STRUCT,
                                                             .row = STRUCT_RAGGED_DOT},
                                                            {.name = "precision_config",
                                                             .kind = PROP_ENUMS,
                                                             .row = ENUM_CHLO_PRECISION,
                                                             .optional = true}),
                                             .num_operands = 3,
                                             .num_results = 1},
    [OP_CHLO_SCAN -
        OP_BEFORE_CHLO] = {.kind = OP_CHLO_SCAN,
                           .traits = IR_ISOLATED,
                           .props = PROPS(
                               {.name = "dimension", .kind = PROP_INT, .limit = NON_NEGATIVE},
                               {.name = "is_reverse", .kind = PROP_ANY, .optional = true},
                               {.name = "is_associative", .kind = PROP_ANY, .optional = true},
                               {.name = "operandSegmentSizes", .kind = PROP_ANY, .optional = true},
                               {.name = "resultSegmentSizes", .kind = PROP_ANY, .optional = true}),
                           .shown = SHOWN("dimension", "operandSegmentSizes", "resultSegmentSizes"),
                           .num_operands = MANY,
                           .num_results = MANY,
                           .num_regions = 1},
};

const ir_dialect dialect_chlo = {"chlo", OP_BEFORE_CHLO, chlo_rows,
                                 sizeof chlo_rows / sizeof chlo_rows[0]};

/* ---- check and interpreter ---- */

static const ir_row check_rows[] = {
    [OP_CHECK_EXPECT_EQ -
     OP_BEFORE_CHECK] = {.kind = OP_CHECK_EXPECT_EQ, .form = " $o, $o$D : $E", .num_operands = 2},
    [OP_CHECK_EXPECT_EQ_CONST -
        OP_BEFORE_CHECK] = {.kind = OP_CHECK_EXPECT_EQ_CONST,
                            .form = " $o, $(value)$Q$D",
                            .props = PROPS({.name = "value", .kind = PROP_ELEMENTS}),
                            .num_operands = 1},
    [OP_CHECK_EXPECT_ALMOST_EQ -
        OP_BEFORE_CHECK] = {.kind = OP_CHECK_EXPECT_ALMOST_EQ,
                            .form = " $o, $o$?(, tolerance = $(tolerance))$D : $E",
                            .props =
                                PROPS({.name = "tolerance", .kind = PROP_FLOAT, .optional = true}),
                            .num_operands = 2},
    [OP_CHECK_EXPECT_ALMOST_EQ_CONST -
        OP_BEFORE_CHECK] = {.kind = OP_CHECK_EXPECT_ALMOST_EQ_CONST,
                            .form = " $o, $(value)$Q$?(, tolerance = $(tolerance))$D",
                            .props =
                                PROPS({.name = "value", .kind = PROP_ELEMENTS},
                                      {.name = "tolerance", .kind = PROP_FLOAT, .optional = true}),
                            .num_operands = 1},
    [OP_CHECK_EXPECT_CLOSE - OP_BEFORE_CHECK] =
        {.kind = OP_CHECK_EXPECT_CLOSE,
         .form = " $o, $o, max_ulp_difference = $(max_ulp_difference)$?(, min_ulp_difference = "
                 "$(min_ulp_difference)) :$D $O",
         .props = PROPS({.name = "max_ulp_difference", .kind = PROP_INT},
                        {.name = "min_ulp_difference", .kind = PROP_INT, .optional = true}),
         .num_operands = 2},
    [OP_CHECK_EXPECT_SERIALIZED_EQ -
        OP_BEFORE_CHECK] = {.kind = OP_CHECK_EXPECT_SERIALIZED_EQ,
                            .form = " $o, probe_id = $(probe_id)$?(, iter = $(iter))$D : $E",
                            .props = PROPS({.name = "probe_id", .kind = PROP_STRING},
                                           {.name = "iter", .kind = PROP_INT, .optional = true}),
                            .num_operands = 1},
};

static const ir_row interpreter_rows[] = {
    [OP_INTERPRETER_RUN_PARALLEL -
     OP_BEFORE_INTERPRETER] = {.kind = OP_INTERPRETER_RUN_PARALLEL,
                               .props =
                                   PROPS({.name = "infeed", .kind = PROP_ARRAY, .optional = true},
                                         {.name = "programs", .kind = PROP_ARRAY}),
                               .num_operands = MANY,
                               .num_results = MANY},
    [OP_INTERPRETER_PRINT - OP_BEFORE_INTERPRETER] = {.kind = OP_INTERPRETER_PRINT,
                                                      .form = " $o$D : $E",
                                                      .num_operands = 1},
    [OP_INTERPRETER_PROBE -
        OP_BEFORE_INTERPRETER] = {.kind = OP_INTERPRETER_PROBE,
                                  .form = " $o, probe_id = $(probe_id)$D : $E",
                                  .props = PROPS({.name = "probe_id", .kind = PROP_STRING}),
                                  .num_operands = 1,
                                  .num_results = 1},
};

const ir_dialect dialect_check = {"check", OP_BEFORE_CHECK, check_rows,
                                  sizeof check_rows / sizeof check_rows[0]};
const ir_dialect dialect_interpreter = {"interpreter", OP_BEFORE_INTERPRETER, interpreter_rows,
                                        sizeof interpreter_rows / sizeof interpreter_rows[0]};

/* ---- arith and tensor ---- */

static const ir_row arith_rows[] = {
    [OP_ARITH_CONSTANT - OP_BEFORE_ARITH] = {.kind = OP_ARITH_CONSTANT,
                                             .props = PROPS({.name = "value", .kind = PROP_ANY}),
                                             .shown = SHOWN("value"),
                                             .num_results = 1},
};

static const ir_row tensor_rows[] = {
    [OP_TENSOR_CAST - OP_BEFORE_TENSOR] = {.kind = OP_TENSOR_CAST,
                                           .form = " $o$D : $X",
                                           .num_operands = 1,
                                           .num_results = 1,
                                           .result_names = NAMES("cast")},
};

const ir_dialect dialect_arith = {"arith", OP_BEFORE_ARITH, arith_rows,
                                  sizeof arith_rows / sizeof arith_rows[0]};
const ir_dialect dialect_tensor = {"tensor", OP_BEFORE_TENSOR, tensor_rows,
                                   sizeof tensor_rows / sizeof tensor_rows[0]};

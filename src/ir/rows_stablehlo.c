/* How the ops of stablehlo are spelled. */
#include "ir/row.h"

#define P(prop_name, prop_kind)                                                                    \
    {                                                                                              \
        .name = #prop_name, .kind = PROP_##prop_kind                                               \
    }
#define OPTIONAL(prop_name, prop_kind)                                                             \
    {                                                                                              \
        .name = #prop_name, .kind = PROP_##prop_kind, .optional = true                             \
    }
#define DEFAULTS(prop_name, prop_kind, text)                                                       \
    {                                                                                              \
        .name = #prop_name, .kind = PROP_##prop_kind, .optional = true, .unless = (text)           \
    }
/* A string that is empty when none is written. */
#define CONFIG(prop_name)                                                                          \
    {                                                                                              \
        .name = #prop_name, .kind = PROP_STRING, .optional = true, .empty_if_missing = true        \
    }
#define LIMITED(prop_name, bound)                                                                  \
    {                                                                                              \
        .name = #prop_name, .kind = PROP_INT, .limit = (bound)                                     \
    }
#define ENUM(prop_name, its_row)                                                                   \
    {                                                                                              \
        .name = #prop_name, .kind = PROP_ENUM, .row = ENUM_##its_row                               \
    }
#define STRUCT(prop_name, its_row)                                                                 \
    {                                                                                              \
        .name = #prop_name, .kind = PROP_STRUCT, .row = STRUCT_##its_row                           \
    }

#define ACCURACY                                                                                   \
    {                                                                                              \
        .name = "result_accuracy", .kind = PROP_STRUCT, .row = STRUCT_ACCURACY, .optional = true,  \
        .unless = "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>"    \
    }
#define PRECISION                                                                                  \
    {                                                                                              \
        .name = "precision_config", .kind = PROP_ENUMS, .row = ENUM_PRECISION, .optional = true    \
    }
#define CHANNEL                                                                                    \
    {                                                                                              \
        .name = "channel_handle", .kind = PROP_STRUCT, .row = STRUCT_CHANNEL_HANDLE,               \
        .optional = true                                                                           \
    }

/* One operand and one result; with `result_accuracy`; two operands. */
#define UNARY(op)                                                                                  \
    [OP_STABLEHLO_##op - OP_BEFORE_STABLEHLO] = {                                                  \
        .kind = OP_STABLEHLO_##op, .form = " $o$D : $S", .num_operands = 1, .num_results = 1}
#define ROUNDED(op)                                                                                \
    [OP_STABLEHLO_##op - OP_BEFORE_STABLEHLO] = {.kind = OP_STABLEHLO_##op,                        \
                                                 .form = " $o$D : $S",                             \
                                                 .props = PROPS(ACCURACY),                         \
                                                 .num_operands = 1,                                \
                                                 .num_results = 1}
#define BINARY(op, more)                                                                           \
    [OP_STABLEHLO_##op - OP_BEFORE_STABLEHLO] = {.kind = OP_STABLEHLO_##op,                        \
                                                 .form = " $o, $o$D : $S",                         \
                                                 .num_operands = 2,                                \
                                                 .num_results = 1,                                 \
                                                 .traits = (more)}
#define FORMED(op, its_form, operands, results, ...)                                               \
    [OP_STABLEHLO_##op - OP_BEFORE_STABLEHLO] = {.kind = OP_STABLEHLO_##op,                        \
                                                 .form = (its_form),                               \
                                                 .num_operands = (operands),                       \
                                                 .num_results = (results),                         \
                                                 __VA_ARGS__}
/* In generic form only. */
#define GENERIC(op, operands, results, regions, ...)                                               \
    [OP_STABLEHLO_##op - OP_BEFORE_STABLEHLO] = {.kind = OP_STABLEHLO_##op,                        \
                                                 .num_operands = (operands),                       \
                                                 .num_results = (results),                         \
                                                 .num_regions = (regions),                         \
                                                 __VA_ARGS__}
/* With a syntax of its own: text/spelling.c. */
#define OWN(op, operands, results, regions, ...)                                                   \
    [OP_STABLEHLO_##op - OP_BEFORE_STABLEHLO] = {.kind = OP_STABLEHLO_##op,                        \
                                                 .num_operands = (operands),                       \
                                                 .num_results = (results),                         \
                                                 .num_regions = (regions),                         \
                                                 __VA_ARGS__}

/* By kind. */
static const ir_row rows[] = {
    UNARY(ABS),
    ROUNDED(CBRT),
    UNARY(CEIL),
    UNARY(CONVERT),
    UNARY(COUNT_LEADING_ZEROS),
    ROUNDED(COSINE),
    ROUNDED(EXPONENTIAL),
    ROUNDED(EXPONENTIAL_MINUS_ONE),
    UNARY(FLOOR),
    UNARY(IMAG),
    ROUNDED(LOG),
    ROUNDED(LOG_PLUS_ONE),
    ROUNDED(LOGISTIC),
    UNARY(NEGATE),
    UNARY(NOT),
    UNARY(POPCNT),
    UNARY(REAL),
    UNARY(ROUND_NEAREST_AFZ),
    UNARY(ROUND_NEAREST_EVEN),
    ROUNDED(RSQRT),
    UNARY(SIGN),
    ROUNDED(SINE),
    ROUNDED(SQRT),
    ROUNDED(TAN),
    ROUNDED(TANH),
    UNARY(UNIFORM_QUANTIZE),
    UNARY(UNIFORM_DEQUANTIZE),
    BINARY(ADD, IR_COMMUTATIVE),
    BINARY(AND, IR_COMMUTATIVE),
    BINARY(ATAN2, 0),
    BINARY(DIVIDE, 0),
    BINARY(MAXIMUM, IR_COMMUTATIVE),
    BINARY(MINIMUM, IR_COMMUTATIVE),
    BINARY(MULTIPLY, IR_COMMUTATIVE),
    BINARY(OR, IR_COMMUTATIVE),
    BINARY(POWER, 0),
    BINARY(REMAINDER, 0),
    BINARY(SHIFT_LEFT, 0),
    BINARY(SHIFT_RIGHT_ARITHMETIC, 0),
    BINARY(SHIFT_RIGHT_LOGICAL, 0),
    BINARY(SUBTRACT, 0),
    BINARY(XOR, IR_COMMUTATIVE),

    FORMED(BITCAST_CONVERT, " $o$D : $F", 1, 1),
    FORMED(DYNAMIC_PAD, " $v$D : $F", 5, 1),
    FORMED(DYNAMIC_RESHAPE, " $o, $o$D : $F", 2, 1),
    FORMED(DYNAMIC_UPDATE_SLICE, " $v$D : $F", MANY, 1, .min_operands = 2),
    FORMED(IS_FINITE, " $o$D : $F", 1, 1),
    FORMED(REAL_DYNAMIC_SLICE, " $v$D : $F", 4, 1),
    FORMED(RESHAPE, " $o$D : $F", 1, 1),
    FORMED(AFTER_ALL, " $v$D : $S", MANY, 1),
    FORMED(BROADCAST, " $o, sizes = $(broadcast_sizes)$D : $F", 1, 1,
           .props = PROPS(P(broadcast_sizes, INTS))),
    FORMED(BROADCAST_IN_DIM, " $o, dims = $(broadcast_dimensions)$D : $F", 1, 1,
           .props = PROPS(P(broadcast_dimensions, INTS))),
    FORMED(CHOLESKY, " $o$?(, lower = $(lower))$D : $S", 1, 1,
           .props = PROPS(DEFAULTS(lower, BOOL, "false"))),
    FORMED(CLAMP, " $o, $o, $o$D : $S", 3, 1),
    FORMED(COMPARE, " $(comparison_direction), $o, $o$?(, $(compare_type))$D : $F", 2, 1,
           .props =
               PROPS(ENUM(comparison_direction, COMPARISON_DIRECTION), {.name = "compare_type",
                                                                        .kind = PROP_ENUM,
                                                                        .row = ENUM_COMPARISON_TYPE,
                                                                        .optional = true})),
    FORMED(COMPLEX, " $o, $o$D : $C", 2, 1),
    FORMED(CONCATENATE, " $v, dim = $(dimension)$D : $F", MANY, 1,
           .props = PROPS(LIMITED(dimension, NON_NEGATIVE)), .min_operands = 1),
    FORMED(CREATE_TOKEN, "$D : $R", 0, 1),
    FORMED(PARTITION_ID, "$D : $R", 0, 1),
    FORMED(REPLICA_ID, "$D : $R", 0, 1),
    FORMED(DOT, " $o, $o$?(, precision = $(precision_config))$D : $F", 2, 1,
           .props = PROPS(PRECISION)),
    FORMED(DYNAMIC_BROADCAST_IN_DIM, " $o, $o, dims = $(broadcast_dimensions)$D : $F", 2, 1,
           .props = PROPS(P(broadcast_dimensions, INTS), OPTIONAL(known_expanding_dimensions, INTS),
                          OPTIONAL(known_nonexpanding_dimensions, INTS))),
    FORMED(DYNAMIC_IOTA, " $o, dim = $(iota_dimension)$D : $F", 1, 1,
           .props = PROPS(LIMITED(iota_dimension, NON_NEGATIVE))),
    FORMED(DYNAMIC_SLICE, " $W, sizes = $(slice_sizes)$D : $F", MANY, 1,
           .props = PROPS(P(slice_sizes, INTS)), .min_operands = 1),
    FORMED(EINSUM, " $o, $o, config = $(einsum_config)$D : $F", 2, 1,
           .props = PROPS(P(einsum_config, STRING))),
    FORMED(UNARY_EINSUM, " $o, config = $(einsum_config)$D : $F", 1, 1,
           .props = PROPS(P(einsum_config, STRING))),
    FORMED(FFT, " $o, type = $(fft_type), length = $(fft_length)$D : $F", 1, 1,
           .props = PROPS(ENUM(fft_type, FFT_TYPE), P(fft_length, INTS))),
    FORMED(GET_DIMENSION_SIZE, " $o, dim = $(dimension)$D : $F", 1, 1,
           .props = PROPS(LIMITED(dimension, NON_NEGATIVE))),
    FORMED(SET_DIMENSION_SIZE, " $o, $o, dim = $(dimension)$D : $F", 2, 1,
           .props = PROPS(LIMITED(dimension, NON_NEGATIVE))),
    FORMED(GET_TUPLE_ELEMENT, " $o[$(index)]$D : $F", 1, 1,
           .props = PROPS({.name = "index", .kind = PROP_INT32, .limit = NON_NEGATIVE})),
    FORMED(IOTA, " dim = $(iota_dimension)$D : $R", 0, 1,
           .props = PROPS(LIMITED(iota_dimension, NON_NEGATIVE))),
    FORMED(PAD,
           " $o, $o, low = $(edge_padding_low), high = $(edge_padding_high), "
           "interior = $(interior_padding)$D : $F",
           2, 1,
           .props = PROPS(P(edge_padding_low, INTS), P(edge_padding_high, INTS),
                          P(interior_padding, INTS))),
    FORMED(RETURN, " $v$D$V( : $O)", MANY, 0, .traits = IR_TERMINATOR),
    FORMED(REVERSE, " $o, dims = $(dimensions)$D : $S", 1, 1, .props = PROPS(P(dimensions, INTS))),
    FORMED(RNG, " $o, $o, $o, distribution = $(rng_distribution)$D : $F", 3, 1,
           .props = PROPS(ENUM(rng_distribution, RNG_DISTRIBUTION)), .traits = IR_EFFECTS),
    FORMED(RNG_BIT_GENERATOR, " $o, algorithm = $(rng_algorithm)$D : $F", 1, 2,
           .props = PROPS(ENUM(rng_algorithm, RNG_ALGORITHM)),
           .result_names = NAMES("output_state", "output")),
    FORMED(SELECT, " $o, $o, $o$D : $L", 3, 1),
    FORMED(TRANSPOSE, " $o, dims = $(permutation)$D : $F", 1, 1,
           .props = PROPS(P(permutation, INTS))),
    FORMED(TUPLE, " $v$D : $U", MANY, 1),

    OWN(CONSTANT, 0, 1, 0, .props = PROPS(P(value, ELEMENTS)), .shown = SHOWN("value")),
    OWN(COMPOSITE, MANY, MANY, MANY,
        .props = PROPS(P(name, STRING), DEFAULTS(composite_attributes, DICT, "{}"),
                       P(decomposition, SYMBOL), DEFAULTS(version, INT32, "0 : i32")),
        .shown = SHOWN("name"), .traits = IR_EFFECTS | IR_NAMES_SYMBOLS),
    OWN(CONVOLUTION, 2, 1, 0,
        .props = PROPS(OPTIONAL(window_strides, INTS), OPTIONAL(padding, I64_ELEMENTS),
                       OPTIONAL(lhs_dilation, INTS), OPTIONAL(rhs_dilation, INTS),
                       OPTIONAL(window_reversal, BOOLS), STRUCT(dimension_numbers, CONV),
                       LIMITED(feature_group_count, POSITIVE), LIMITED(batch_group_count, POSITIVE),
                       PRECISION),
        .shown = SHOWN("window_strides", "padding", "lhs_dilation", "rhs_dilation",
                       "window_reversal", "dimension_numbers")),
    FORMED(CUSTOM_CALL, " $(call_target_name)($v)$D : $F", MANY, MANY,
           .props =
               PROPS(P(call_target_name, SYMBOL_NAME), DEFAULTS(has_side_effect, BOOL, "false"),
                     OPTIONAL(backend_config, ANY), DEFAULTS(api_version, INT32, "1 : i32"),
                     DEFAULTS(called_computations, ARRAY, "[]"), OPTIONAL(operand_layouts, ANY),
                     OPTIONAL(result_layouts, ANY), OPTIONAL(result_tilings, ANY),
                     DEFAULTS(output_operand_aliases, ARRAY, "[]")),
           .traits = IR_EFFECTS_ASKED),
    OWN(DOT_GENERAL, 2, 1, 0,
        .props = PROPS(STRUCT(dot_dimension_numbers, DOT), PRECISION,
                       {.name = "algorithm",
                        .kind = PROP_STRUCT,
                        .row = STRUCT_DOT_ALGORITHM,
                        .optional = true}),
        .shown = SHOWN("dot_dimension_numbers", "precision_config", "algorithm")),
    OWN(OPTIMIZATION_BARRIER, MANY, MANY, 0, .traits = IR_HAS_EDGES),
    OWN(REDUCE_PRECISION, 1, 1, 0,
        .props = PROPS({.name = "exponent_bits", .kind = PROP_INT32, .limit = POSITIVE},
                       {.name = "mantissa_bits", .kind = PROP_INT32, .limit = NON_NEGATIVE}),
        .shown = SHOWN("exponent_bits", "mantissa_bits")),
    OWN(SLICE, 1, 1, 0,
        .props = PROPS(P(start_indices, INTS), P(limit_indices, INTS), P(strides, INTS)),
        .shown = SHOWN("start_indices", "limit_indices", "strides")),
    OWN(REDUCE, MANY, MANY, 1, .props = PROPS(P(dimensions, INTS)), .shown = SHOWN("dimensions"),
        .traits = IR_PAIRS_ARGUMENTS | IR_EFFECTS_INSIDE, .terminator = OP_STABLEHLO_RETURN),
    OWN(WHILE, MANY, MANY, 2,
        .traits = IR_HIDES_ARGUMENTS | IR_HAS_EDGES | IR_CARRIES | IR_EFFECTS_INSIDE,
        .region_names = {"cond", "body"}, .terminator = OP_STABLEHLO_RETURN),

    GENERIC(ALL_GATHER, MANY, MANY, 0,
            .props = PROPS(LIMITED(all_gather_dim, NON_NEGATIVE), P(replica_groups, GROUPS),
                           CHANNEL, OPTIONAL(use_global_device_ids, UNIT)),
            .traits = IR_EFFECTS),
    GENERIC(
        ALL_REDUCE, MANY, MANY, 1,
        .props = PROPS(P(replica_groups, GROUPS), CHANNEL, OPTIONAL(use_global_device_ids, UNIT)),
        .region_names = {"computation"}, .terminator = OP_STABLEHLO_RETURN, .traits = IR_EFFECTS),
    GENERIC(ALL_TO_ALL, MANY, MANY, 0,
            .props = PROPS(LIMITED(split_dimension, NON_NEGATIVE),
                           LIMITED(concat_dimension, NON_NEGATIVE), LIMITED(split_count, POSITIVE),
                           P(replica_groups, GROUPS), CHANNEL),
            .traits = IR_EFFECTS),
    GENERIC(ASYNC_DONE, 1, MANY, 0, .traits = IR_EFFECTS),
    GENERIC(ASYNC_START, MANY, 1, 1, .traits = IR_ISOLATED | IR_EFFECTS,
            .terminator = OP_STABLEHLO_RETURN),
    GENERIC(BATCH_NORM_GRAD, 5, 3, 0,
            .props = PROPS(P(epsilon, FLOAT), LIMITED(feature_index, NON_NEGATIVE)),
            .result_names = NAMES("grad_operand", "grad_scale", "grad_offset")),
    GENERIC(BATCH_NORM_INFERENCE, 5, 1, 0,
            .props = PROPS(P(epsilon, FLOAT), LIMITED(feature_index, NON_NEGATIVE))),
    GENERIC(BATCH_NORM_TRAINING, 3, 3, 0,
            .props = PROPS(P(epsilon, FLOAT), LIMITED(feature_index, NON_NEGATIVE)),
            .result_names = NAMES("output", "batch_mean", "batch_var")),
    GENERIC(CASE, 1, MANY, MANY, .traits = IR_HAS_EDGES | IR_EFFECTS_INSIDE,
            .region_names = {"branches"}, .terminator = OP_STABLEHLO_RETURN),
    GENERIC(COLLECTIVE_BROADCAST, MANY, MANY, 0, .props = PROPS(P(replica_groups, GROUPS), CHANNEL),
            .traits = IR_EFFECTS),
    GENERIC(COLLECTIVE_PERMUTE, 1, 1, 0,
            .props = PROPS(P(source_target_pairs, I64_ELEMENTS), CHANNEL), .traits = IR_EFFECTS),
    GENERIC(
        COLLECTIVE_REDUCE, MANY, MANY, 1,
        .props = PROPS(P(replica_groups, GROUPS), CHANNEL, OPTIONAL(use_global_device_ids, UNIT)),
        .region_names = {"computation"}, .terminator = OP_STABLEHLO_RETURN, .traits = IR_EFFECTS),
    GENERIC(CROSS_REPLICA_SUM, 1, 1, 0, .props = PROPS(P(replica_groups, I64_ELEMENTS))),
    GENERIC(DYNAMIC_CONV, 3, 1, 0,
            .props = PROPS(OPTIONAL(window_strides, INTS), OPTIONAL(padding, I64_ELEMENTS),
                           OPTIONAL(lhs_dilation, INTS), OPTIONAL(rhs_dilation, INTS),
                           OPTIONAL(window_reversal, BOOLS), STRUCT(dimension_numbers, CONV),
                           LIMITED(feature_group_count, POSITIVE),
                           LIMITED(batch_group_count, POSITIVE), PRECISION)),
    GENERIC(DYNAMIC_GATHER, 3, 1, 0,
            .props = PROPS(STRUCT(dimension_numbers, GATHER), OPTIONAL(indices_are_sorted, BOOL))),
    GENERIC(GATHER, 2, 1, 0,
            .props = PROPS(STRUCT(dimension_numbers, GATHER), P(slice_sizes, INTS),
                           OPTIONAL(indices_are_sorted, BOOL))),
    GENERIC(IF, 1, MANY, 2, .region_names = {"true_branch", "false_branch"},
            .terminator = OP_STABLEHLO_RETURN, .traits = IR_EFFECTS_INSIDE),
    GENERIC(INFEED, 1, MANY, 0, .props = PROPS(CONFIG(infeed_config), OPTIONAL(layout, ARRAY)),
            .traits = IR_EFFECTS),
    GENERIC(MAP, MANY, 1, 1, .props = PROPS(P(dimensions, INTS)), .min_operands = 1,
            .region_names = {"computation"}, .terminator = OP_STABLEHLO_RETURN,
            .traits = IR_EFFECTS_INSIDE),
    GENERIC(OUTFEED, MANY, 1, 0, .props = PROPS(CONFIG(outfeed_config)), .min_operands = 1,
            .traits = IR_EFFECTS),
    GENERIC(RECV, 1, MANY, 0,
            .props = PROPS(STRUCT(channel_handle, CHANNEL_HANDLE), OPTIONAL(is_host_transfer, BOOL),
                           OPTIONAL(source_target_pairs, I64_ELEMENTS)),
            .traits = IR_EFFECTS),
    GENERIC(REDUCE_SCATTER, 1, 1, 1,
            .props = PROPS(LIMITED(scatter_dimension, NON_NEGATIVE), P(replica_groups, GROUPS),
                           CHANNEL, OPTIONAL(use_global_device_ids, UNIT)),
            .region_names = {"computation"}, .terminator = OP_STABLEHLO_RETURN,
            .traits = IR_EFFECTS),
    GENERIC(REDUCE_WINDOW, MANY, MANY, 1,
            .props = PROPS(P(window_dimensions, INTS), OPTIONAL(window_strides, INTS),
                           OPTIONAL(base_dilations, INTS), OPTIONAL(window_dilations, INTS),
                           OPTIONAL(padding, I64_ELEMENTS)),
            .terminator = OP_STABLEHLO_RETURN, .traits = IR_EFFECTS_INSIDE),
    GENERIC(SCATTER, MANY, MANY, 1,
            .props = PROPS(STRUCT(scatter_dimension_numbers, SCATTER),
                           OPTIONAL(indices_are_sorted, BOOL), OPTIONAL(unique_indices, BOOL)),
            .min_operands = 3, .region_names = {"update_computation"},
            .terminator = OP_STABLEHLO_RETURN, .traits = IR_EFFECTS_INSIDE),
    GENERIC(SELECT_AND_SCATTER, 3, 1, 2,
            .props = PROPS(OPTIONAL(window_dimensions, INTS), OPTIONAL(window_strides, INTS),
                           OPTIONAL(padding, I64_ELEMENTS)),
            .region_names = {"select", "scatter"}, .terminator = OP_STABLEHLO_RETURN,
            .traits = IR_EFFECTS_INSIDE),
    GENERIC(SEND, MANY, 1, 0,
            .props = PROPS(STRUCT(channel_handle, CHANNEL_HANDLE), OPTIONAL(is_host_transfer, BOOL),
                           OPTIONAL(source_target_pairs, I64_ELEMENTS)),
            .min_operands = 1, .traits = IR_EFFECTS),
    GENERIC(SORT, MANY, MANY, 1,
            .props = PROPS(OPTIONAL(dimension, INT), OPTIONAL(is_stable, BOOL)), .min_operands = 1,
            .region_names = {"comparator"}, .terminator = OP_STABLEHLO_RETURN,
            .traits = IR_EFFECTS_INSIDE),
    GENERIC(TORCH_INDEX_SELECT, 2, 1, 0, .props = PROPS(P(dim, INT), P(batch_dims, INT))),
    GENERIC(TRIANGULAR_SOLVE, 2, 1, 0,
            .props = PROPS(P(left_side, BOOL), P(lower, BOOL), P(unit_diagonal, BOOL),
                           ENUM(transpose_a, TRANSPOSE))),
};

const ir_dialect dialect_stablehlo = {"stablehlo", OP_BEFORE_STABLEHLO, rows,
                                      sizeof rows / sizeof rows[0]};

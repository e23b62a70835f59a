/* How the ops of stablehlo are spelled. */
#include "ir/spell.h"
#include "ir/verify.h"

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
    {                                                                                              \
        .name = "stablehlo." op, .form = " $o$D : $S", .num_operands = 1, .num_results = 1         \
    }
#define ROUNDED(op)                                                                                \
    {                                                                                              \
        .name = "stablehlo." op, .form = " $o$D : $S", .props = PROPS(ACCURACY),                   \
        .num_operands = 1, .num_results = 1                                                        \
    }
#define BINARY(op, more)                                                                           \
    {                                                                                              \
        .name = "stablehlo." op, .form = " $o, $o$D : $S", .num_operands = 2, .num_results = 1,    \
        .traits = (more)                                                                           \
    }
#define FORM(op, its_form, operands, results, ...)                                                 \
    {                                                                                              \
        .name = "stablehlo." op, .form = (its_form), .num_operands = (operands),                   \
        .num_results = (results), __VA_ARGS__                                                      \
    }
/* In generic form only. */
#define GENERIC(op, operands, results, regions, ...)                                               \
    {                                                                                              \
        .name = "stablehlo." op, .num_operands = (operands), .num_results = (results),             \
        .num_regions = (regions), __VA_ARGS__                                                      \
    }
/* With a syntax of its own. */
#define OWN(op, functions, operands, results, regions, ...)                                        \
    {                                                                                              \
        .name = "stablehlo." op, .read = functions##_read, .print = functions##_print,             \
        .num_operands = (operands), .num_results = (results), .num_regions = (regions),            \
        __VA_ARGS__                                                                                \
    }

static const ir_row rows[] = {
    UNARY("abs"),
    ROUNDED("cbrt"),
    UNARY("ceil"),
    UNARY("convert"),
    UNARY("count_leading_zeros"),
    ROUNDED("cosine"),
    ROUNDED("exponential"),
    ROUNDED("exponential_minus_one"),
    UNARY("floor"),
    UNARY("imag"),
    ROUNDED("log"),
    ROUNDED("log_plus_one"),
    ROUNDED("logistic"),
    UNARY("negate"),
    UNARY("not"),
    UNARY("popcnt"),
    UNARY("real"),
    UNARY("round_nearest_afz"),
    UNARY("round_nearest_even"),
    ROUNDED("rsqrt"),
    UNARY("sign"),
    ROUNDED("sine"),
    ROUNDED("sqrt"),
    ROUNDED("tan"),
    ROUNDED("tanh"),
    UNARY("uniform_quantize"),
    UNARY("uniform_dequantize"),
    BINARY("add", IR_COMMUTATIVE),
    BINARY("and", IR_COMMUTATIVE),
    BINARY("atan2", 0),
    BINARY("divide", 0),
    BINARY("maximum", IR_COMMUTATIVE),
    BINARY("minimum", IR_COMMUTATIVE),
    BINARY("multiply", IR_COMMUTATIVE),
    BINARY("or", IR_COMMUTATIVE),
    BINARY("power", 0),
    BINARY("remainder", 0),
    BINARY("shift_left", 0),
    BINARY("shift_right_arithmetic", 0),
    BINARY("shift_right_logical", 0),
    BINARY("subtract", 0),
    BINARY("xor", IR_COMMUTATIVE),

    FORM("bitcast_convert", " $o$D : $F", 1, 1),
    FORM("dynamic_pad", " $v$D : $F", 5, 1),
    FORM("dynamic_reshape", " $o, $o$D : $F", 2, 1),
    FORM("dynamic_update_slice", " $v$D : $F", MANY, 1, .min_operands = 2),
    FORM("is_finite", " $o$D : $F", 1, 1),
    FORM("real_dynamic_slice", " $v$D : $F", 4, 1),
    FORM("reshape", " $o$D : $F", 1, 1),
    FORM("after_all", " $v$D : $S", MANY, 1),
    FORM("broadcast", " $o, sizes = $(broadcast_sizes)$D : $F", 1, 1,
         .props = PROPS(P(broadcast_sizes, INTS))),
    FORM("broadcast_in_dim", " $o, dims = $(broadcast_dimensions)$D : $F", 1, 1,
         .props = PROPS(P(broadcast_dimensions, INTS))),
    FORM("cholesky", " $o$?(, lower = $(lower))$D : $S", 1, 1,
         .props = PROPS(DEFAULTS(lower, BOOL, "false"))),
    FORM("clamp", " $o, $o, $o$D : $S", 3, 1),
    FORM("compare", " $(comparison_direction), $o, $o$?(, $(compare_type))$D : $F", 2, 1,
         .props =
             PROPS(ENUM(comparison_direction, COMPARISON_DIRECTION), {.name = "compare_type",
                                                                      .kind = PROP_ENUM,
                                                                      .row = ENUM_COMPARISON_TYPE,
                                                                      .optional = true})),
    FORM("complex", " $o, $o$D : $C", 2, 1),
    FORM("concatenate", " $v, dim = $(dimension)$D : $F", MANY, 1,
         .props = PROPS(LIMITED(dimension, NON_NEGATIVE)), .min_operands = 1),
    FORM("create_token", "$D : $R", 0, 1),
    FORM("partition_id", "$D : $R", 0, 1),
    FORM("replica_id", "$D : $R", 0, 1),
    FORM("dot", " $o, $o$?(, precision = $(precision_config))$D : $F", 2, 1,
         .props = PROPS(PRECISION)),
    FORM("dynamic_broadcast_in_dim", " $o, $o, dims = $(broadcast_dimensions)$D : $F", 2, 1,
         .props = PROPS(P(broadcast_dimensions, INTS), OPTIONAL(known_expanding_dimensions, INTS),
                        OPTIONAL(known_nonexpanding_dimensions, INTS))),
    FORM("dynamic_iota", " $o, dim = $(iota_dimension)$D : $F", 1, 1,
         .props = PROPS(LIMITED(iota_dimension, NON_NEGATIVE))),
    FORM("dynamic_slice", " $W, sizes = $(slice_sizes)$D : $F", MANY, 1,
         .props = PROPS(P(slice_sizes, INTS)), .min_operands = 1),
    FORM("einsum", " $o, $o, config = $(einsum_config)$D : $F", 2, 1,
         .props = PROPS(P(einsum_config, STRING))),
    FORM("unary_einsum", " $o, config = $(einsum_config)$D : $F", 1, 1,
         .props = PROPS(P(einsum_config, STRING))),
    FORM("fft", " $o, type = $(fft_type), length = $(fft_length)$D : $F", 1, 1,
         .props = PROPS(ENUM(fft_type, FFT_TYPE), P(fft_length, INTS))),
    FORM("get_dimension_size", " $o, dim = $(dimension)$D : $F", 1, 1,
         .props = PROPS(LIMITED(dimension, NON_NEGATIVE))),
    FORM("set_dimension_size", " $o, $o, dim = $(dimension)$D : $F", 2, 1,
         .props = PROPS(LIMITED(dimension, NON_NEGATIVE))),
    FORM("get_tuple_element", " $o[$(index)]$D : $F", 1, 1,
         .props = PROPS({.name = "index", .kind = PROP_INT32, .limit = NON_NEGATIVE})),
    FORM("iota", " dim = $(iota_dimension)$D : $R", 0, 1,
         .props = PROPS(LIMITED(iota_dimension, NON_NEGATIVE))),
    FORM("pad",
         " $o, $o, low = $(edge_padding_low), high = $(edge_padding_high), "
         "interior = $(interior_padding)$D : $F",
         2, 1,
         .props = PROPS(P(edge_padding_low, INTS), P(edge_padding_high, INTS),
                        P(interior_padding, INTS))),
    FORM("return", " $v$D$V( : $O)", MANY, 0, .traits = IR_TERMINATOR),
    FORM("reverse", " $o, dims = $(dimensions)$D : $S", 1, 1, .props = PROPS(P(dimensions, INTS))),
    FORM("rng", " $o, $o, $o, distribution = $(rng_distribution)$D : $F", 3, 1,
         .props = PROPS(ENUM(rng_distribution, RNG_DISTRIBUTION)), .traits = IR_EFFECTS),
    FORM("rng_bit_generator", " $o, algorithm = $(rng_algorithm)$D : $F", 1, 2,
         .props = PROPS(ENUM(rng_algorithm, RNG_ALGORITHM)),
         .result_names = NAMES("output_state", "output")),
    FORM("select", " $o, $o, $o$D : $L", 3, 1),
    FORM("transpose", " $o, dims = $(permutation)$D : $F", 1, 1,
         .props = PROPS(P(permutation, INTS))),
    FORM("tuple", " $v$D : $U", MANY, 1),

    OWN("constant", constant, 0, 1, 0, .props = PROPS(P(value, ELEMENTS)), .shown = SHOWN("value"),
        .result_name = constant_name),
    OWN("composite", composite, MANY, MANY, MANY,
        .props = PROPS(P(name, STRING), DEFAULTS(composite_attributes, DICT, "{}"),
                       P(decomposition, SYMBOL), DEFAULTS(version, INT32, "0 : i32")),
        .shown = SHOWN("name"), .verify_symbols = verify_composite,
        .traits = IR_EFFECTS | IR_NAMES_SYMBOLS),
    OWN("convolution", convolution, 2, 1, 0,
        .props = PROPS(OPTIONAL(window_strides, INTS), OPTIONAL(padding, I64_ELEMENTS),
                       OPTIONAL(lhs_dilation, INTS), OPTIONAL(rhs_dilation, INTS),
                       OPTIONAL(window_reversal, BOOLS), STRUCT(dimension_numbers, CONV),
                       LIMITED(feature_group_count, POSITIVE), LIMITED(batch_group_count, POSITIVE),
                       PRECISION),
        .shown = SHOWN("window_strides", "padding", "lhs_dilation", "rhs_dilation",
                       "window_reversal", "dimension_numbers"),
        .can_print = convolution_fits),
    FORM("custom_call", " $(call_target_name)($v)$D : $F", MANY, MANY,
         .props = PROPS(P(call_target_name, SYMBOL_NAME), DEFAULTS(has_side_effect, BOOL, "false"),
                        OPTIONAL(backend_config, ANY), DEFAULTS(api_version, INT32, "1 : i32"),
                        DEFAULTS(called_computations, ARRAY, "[]"), OPTIONAL(operand_layouts, ANY),
                        OPTIONAL(result_layouts, ANY), OPTIONAL(result_tilings, ANY),
                        DEFAULTS(output_operand_aliases, ARRAY, "[]")),
         .traits = IR_EFFECTS_ASKED),
    OWN("dot_general", dot_general, 2, 1, 0,
        .props = PROPS(STRUCT(dot_dimension_numbers, DOT), PRECISION,
                       {.name = "algorithm",
                        .kind = PROP_STRUCT,
                        .row = STRUCT_DOT_ALGORITHM,
                        .optional = true}),
        .shown = SHOWN("dot_dimension_numbers", "precision_config", "algorithm")),
    OWN("optimization_barrier", barrier, MANY, MANY, 0, .traits = IR_HAS_EDGES),
    OWN("reduce_precision", reduce_precision, 1, 1, 0,
        .props = PROPS({.name = "exponent_bits", .kind = PROP_INT32, .limit = POSITIVE},
                       {.name = "mantissa_bits", .kind = PROP_INT32, .limit = NON_NEGATIVE}),
        .shown = SHOWN("exponent_bits", "mantissa_bits")),
    OWN("slice", slice, 1, 1, 0,
        .props = PROPS(P(start_indices, INTS), P(limit_indices, INTS), P(strides, INTS)),
        .shown = SHOWN("start_indices", "limit_indices", "strides"), .can_print = slice_fits),
    OWN("reduce", reduce, MANY, MANY, 1, .props = PROPS(P(dimensions, INTS)),
        .shown = SHOWN("dimensions"), .hides_regions = reduce_is_compact, .can_print = reduce_fits,
        .traits = IR_PAIRS_ARGUMENTS | IR_EFFECTS_INSIDE, .terminator = "stablehlo.return"),
    OWN("while", while, MANY, MANY, 2, .can_print = while_fits,
        .traits = IR_HIDES_ARGUMENTS | IR_HAS_EDGES | IR_CARRIES | IR_EFFECTS_INSIDE,
        .argument_name = while_argument_name, .region_names = {"cond", "body"},
        .terminator = "stablehlo.return"),

    GENERIC("all_gather", MANY, MANY, 0,
            .props = PROPS(LIMITED(all_gather_dim, NON_NEGATIVE), P(replica_groups, GROUPS),
                           CHANNEL, OPTIONAL(use_global_device_ids, UNIT)),
            .traits = IR_EFFECTS),
    GENERIC(
        "all_reduce", MANY, MANY, 1,
        .props = PROPS(P(replica_groups, GROUPS), CHANNEL, OPTIONAL(use_global_device_ids, UNIT)),
        .region_names = {"computation"}, .terminator = "stablehlo.return", .traits = IR_EFFECTS),
    GENERIC("all_to_all", MANY, MANY, 0,
            .props = PROPS(LIMITED(split_dimension, NON_NEGATIVE),
                           LIMITED(concat_dimension, NON_NEGATIVE), LIMITED(split_count, POSITIVE),
                           P(replica_groups, GROUPS), CHANNEL),
            .traits = IR_EFFECTS),
    GENERIC("async_done", 1, MANY, 0, .traits = IR_EFFECTS),
    GENERIC("async_start", MANY, 1, 1, .traits = IR_ISOLATED | IR_EFFECTS,
            .terminator = "stablehlo.return"),
    GENERIC("batch_norm_grad", 5, 3, 0,
            .props = PROPS(P(epsilon, FLOAT), LIMITED(feature_index, NON_NEGATIVE)),
            .result_names = NAMES("grad_operand", "grad_scale", "grad_offset")),
    GENERIC("batch_norm_inference", 5, 1, 0,
            .props = PROPS(P(epsilon, FLOAT), LIMITED(feature_index, NON_NEGATIVE))),
    GENERIC("batch_norm_training", 3, 3, 0,
            .props = PROPS(P(epsilon, FLOAT), LIMITED(feature_index, NON_NEGATIVE)),
            .result_names = NAMES("output", "batch_mean", "batch_var")),
    GENERIC("case", 1, MANY, MANY, .traits = IR_HAS_EDGES | IR_EFFECTS_INSIDE,
            .region_names = {"branches"}, .terminator = "stablehlo.return"),
    GENERIC("collective_broadcast", MANY, MANY, 0,
            .props = PROPS(P(replica_groups, GROUPS), CHANNEL), .traits = IR_EFFECTS),
    GENERIC("collective_permute", 1, 1, 0,
            .props = PROPS(P(source_target_pairs, I64_ELEMENTS), CHANNEL), .traits = IR_EFFECTS),
    GENERIC(
        "collective_reduce", MANY, MANY, 1,
        .props = PROPS(P(replica_groups, GROUPS), CHANNEL, OPTIONAL(use_global_device_ids, UNIT)),
        .region_names = {"computation"}, .terminator = "stablehlo.return", .traits = IR_EFFECTS),
    GENERIC("cross-replica-sum", 1, 1, 0, .props = PROPS(P(replica_groups, I64_ELEMENTS))),
    GENERIC("dynamic_conv", 3, 1, 0,
            .props = PROPS(OPTIONAL(window_strides, INTS), OPTIONAL(padding, I64_ELEMENTS),
                           OPTIONAL(lhs_dilation, INTS), OPTIONAL(rhs_dilation, INTS),
                           OPTIONAL(window_reversal, BOOLS), STRUCT(dimension_numbers, CONV),
                           LIMITED(feature_group_count, POSITIVE),
                           LIMITED(batch_group_count, POSITIVE), PRECISION)),
    GENERIC("dynamic_gather", 3, 1, 0,
            .props = PROPS(STRUCT(dimension_numbers, GATHER), OPTIONAL(indices_are_sorted, BOOL))),
    GENERIC("gather", 2, 1, 0,
            .props = PROPS(STRUCT(dimension_numbers, GATHER), P(slice_sizes, INTS),
                           OPTIONAL(indices_are_sorted, BOOL))),
    GENERIC("if", 1, MANY, 2, .region_names = {"true_branch", "false_branch"},
            .terminator = "stablehlo.return", .traits = IR_EFFECTS_INSIDE),
    GENERIC("infeed", 1, MANY, 0, .props = PROPS(CONFIG(infeed_config), OPTIONAL(layout, ARRAY)),
            .traits = IR_EFFECTS),
    GENERIC("map", MANY, 1, 1, .props = PROPS(P(dimensions, INTS)), .min_operands = 1,
            .region_names = {"computation"}, .terminator = "stablehlo.return",
            .traits = IR_EFFECTS_INSIDE),
    GENERIC("outfeed", MANY, 1, 0, .props = PROPS(CONFIG(outfeed_config)), .min_operands = 1,
            .traits = IR_EFFECTS),
    GENERIC("recv", 1, MANY, 0,
            .props = PROPS(STRUCT(channel_handle, CHANNEL_HANDLE), OPTIONAL(is_host_transfer, BOOL),
                           OPTIONAL(source_target_pairs, I64_ELEMENTS)),
            .traits = IR_EFFECTS),
    GENERIC("reduce_scatter", 1, 1, 1,
            .props = PROPS(LIMITED(scatter_dimension, NON_NEGATIVE), P(replica_groups, GROUPS),
                           CHANNEL, OPTIONAL(use_global_device_ids, UNIT)),
            .region_names = {"computation"}, .terminator = "stablehlo.return",
            .traits = IR_EFFECTS),
    GENERIC("reduce_window", MANY, MANY, 1,
            .props = PROPS(P(window_dimensions, INTS), OPTIONAL(window_strides, INTS),
                           OPTIONAL(base_dilations, INTS), OPTIONAL(window_dilations, INTS),
                           OPTIONAL(padding, I64_ELEMENTS)),
            .terminator = "stablehlo.return", .traits = IR_EFFECTS_INSIDE),
    GENERIC("scatter", MANY, MANY, 1,
            .props = PROPS(STRUCT(scatter_dimension_numbers, SCATTER),
                           OPTIONAL(indices_are_sorted, BOOL), OPTIONAL(unique_indices, BOOL)),
            .min_operands = 3, .region_names = {"update_computation"},
            .terminator = "stablehlo.return", .traits = IR_EFFECTS_INSIDE),
    GENERIC("select_and_scatter", 3, 1, 2,
            .props = PROPS(OPTIONAL(window_dimensions, INTS), OPTIONAL(window_strides, INTS),
                           OPTIONAL(padding, I64_ELEMENTS)),
            .region_names = {"select", "scatter"}, .terminator = "stablehlo.return",
            .traits = IR_EFFECTS_INSIDE),
    GENERIC("send", MANY, 1, 0,
            .props = PROPS(STRUCT(channel_handle, CHANNEL_HANDLE), OPTIONAL(is_host_transfer, BOOL),
                           OPTIONAL(source_target_pairs, I64_ELEMENTS)),
            .min_operands = 1, .traits = IR_EFFECTS),
    GENERIC("sort", MANY, MANY, 1,
            .props = PROPS(OPTIONAL(dimension, INT), OPTIONAL(is_stable, BOOL)), .min_operands = 1,
            .region_names = {"comparator"}, .terminator = "stablehlo.return",
            .traits = IR_EFFECTS_INSIDE),
    GENERIC("torch_index_select", 2, 1, 0, .props = PROPS(P(dim, INT), P(batch_dims, INT))),
    GENERIC("triangular_solve", 2, 1, 0,
            .props = PROPS(P(left_side, BOOL), P(lower, BOOL), P(unit_diagonal, BOOL),
                           ENUM(transpose_a, TRANSPOSE))),
};

const ir_dialect dialect_stablehlo = {"stablehlo", rows, sizeof rows / sizeof rows[0]};

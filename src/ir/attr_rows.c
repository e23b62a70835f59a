/* The enums and structs that attributes of stablehlo and chlo are. */
#include "ir/row.h"

static const char *const precisions[] = {"DEFAULT", "HIGH", "HIGHEST", NULL};
static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT", NULL};
static const char *const compare_types[] = {"NOTYPE", "FLOAT",    "TOTALORDER",
                                            "SIGNED", "UNSIGNED", NULL};
static const char *const fft_types[] = {"FFT", "IFFT", "RFFT", "IRFFT", NULL};
static const char *const transposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
                                         "ADJOINT", NULL};
static const char *const distributions[] = {"UNIFORM", "NORMAL", NULL};
static const char *const algorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX", NULL};
static const char *const accuracy_modes[] = {"DEFAULT", "HIGHEST", "TOLERANCE", NULL};
static const char *const schedules[] = {"NONE", "LATEST", "EARLIEST", NULL};
static const char *const reductions[] = {"sum", "max", "min", NULL};
static const char *const barrier_directions[] = {"NONE", "FORWARD", "BACKWARD", "BOTH", NULL};

const enum_row ir_enums[ENUM_COUNT] = {
    [ENUM_PRECISION] = {"stablehlo", "precision", "::mlir::stablehlo::Precision", precisions,
                        false},
    [ENUM_COMPARISON_DIRECTION] = {"stablehlo", "comparison_direction",
                                   "::mlir::stablehlo::ComparisonDirection", directions, false},
    [ENUM_COMPARISON_TYPE] = {"stablehlo", "comparison_type", "::mlir::stablehlo::ComparisonType",
                              compare_types, false},
    [ENUM_FFT_TYPE] = {"stablehlo", "fft_type", "::mlir::stablehlo::FftType", fft_types, false},
    [ENUM_TRANSPOSE] = {"stablehlo", "transpose", "::mlir::stablehlo::Transpose", transposes,
                        false},
    [ENUM_RNG_DISTRIBUTION] = {"stablehlo", "rng_distribution",
                               "::mlir::stablehlo::RngDistribution", distributions, false},
    [ENUM_RNG_ALGORITHM] = {"stablehlo", "rng_algorithm", "::mlir::stablehlo::RngAlgorithm",
                            algorithms, false},
    [ENUM_RESULT_ACCURACY_MODE] = {"stablehlo", "result_accuracy_mode",
                                   "::mlir::stablehlo::ResultAccuracyMode", accuracy_modes, true},
    [ENUM_CUSTOM_CALL_SCHEDULE] = {"mhlo", "custom_call_schedule",
                                   "::mlir::mhlo::CustomCallSchedule", schedules, false},
    [ENUM_CHLO_PRECISION] = {"chlo", "precision", "::mlir::chlo::Precision", precisions, false},
    [ENUM_CHLO_COMPARISON_DIRECTION] = {"chlo", "comparison_direction",
                                        "::mlir::chlo::ComparisonDirection", directions, false},
    [ENUM_CHLO_COMPARISON_TYPE] = {"chlo", "comparison_type", "::mlir::chlo::ComparisonType",
                                   compare_types, false},
    [ENUM_REDUCTION] = {NULL, NULL, NULL, reductions, false},
    [ENUM_DIRECTION] = {NULL, NULL, NULL, barrier_directions, false},
};

#define DOT_FIELDS                                                                                 \
    {"lhs_batching_dimensions", FIELD_INTS}, {"rhs_batching_dimensions", FIELD_INTS},              \
        {"lhs_contracting_dimensions", FIELD_INTS},                                                \
    {                                                                                              \
        "rhs_contracting_dimensions", FIELD_INTS                                                   \
    }

const struct_row ir_structs[STRUCT_COUNT] = {
    [STRUCT_GATHER] = {.dialect = "stablehlo",
                       .mnemonic = "gather",
                       .what = "gather dimension numbers",
                       .fields = {{"offset_dims", FIELD_INTS},
                                  {"collapsed_slice_dims", FIELD_INTS},
                                  {"operand_batching_dims", FIELD_INTS},
                                  {"start_indices_batching_dims", FIELD_INTS},
                                  {"start_index_map", FIELD_INTS},
                                  {"index_vector_dim", FIELD_INT}}},
    [STRUCT_SCATTER] = {.dialect = "stablehlo",
                        .mnemonic = "scatter",
                        .what = "scatter dimension numbers",
                        .fields = {{"update_window_dims", FIELD_INTS},
                                   {"inserted_window_dims", FIELD_INTS},
                                   {"input_batching_dims", FIELD_INTS},
                                   {"scatter_indices_batching_dims", FIELD_INTS},
                                   {"scatter_dims_to_operand_dims", FIELD_INTS},
                                   {"index_vector_dim", FIELD_INT}}},
    [STRUCT_DOT] = {.dialect = "stablehlo",
                    .mnemonic = "dot",
                    .what = "dot dimension numbers",
                    .fields = {DOT_FIELDS}},
    [STRUCT_CONV] = {.dialect = "stablehlo",
                     .mnemonic = "conv",
                     .what = "convolution dimension numbers",
                     .fields = CONV_FIELDS},
    [STRUCT_CHANNEL_HANDLE] = {.dialect = "stablehlo",
                               .mnemonic = "channel_handle",
                               .fields = {{"handle", FIELD_INT_SHOWN}, {"type", FIELD_INT_SHOWN}}},
    [STRUCT_ALIAS] = {.dialect = "stablehlo",
                      .mnemonic = "output_operand_alias",
                      .fields = {{"output_tuple_indices", FIELD_INTS_SHOWN},
                                 {"operand_index", FIELD_INT_SHOWN},
                                 {"operand_tuple_indices", FIELD_INTS_SHOWN}},
                      .ordered = true},
    [STRUCT_ACCURACY] =
        {"stablehlo",
         "result_accuracy",
         NULL,
         {{"atol", FIELD_FLOAT}, {"rtol", FIELD_FLOAT}, {"ulps", FIELD_INT}, {"mode", FIELD_ATTR}},
         .ordered = true},
    [STRUCT_DOT_ALGORITHM] = {.dialect = "stablehlo",
                              .mnemonic = "dot_algorithm",
                              .fields = {{"lhs_precision_type", FIELD_TYPE},
                                         {"rhs_precision_type", FIELD_TYPE},
                                         {"accumulation_type", FIELD_TYPE},
                                         {"lhs_component_count", FIELD_INT_SHOWN},
                                         {"rhs_component_count", FIELD_INT_SHOWN},
                                         {"num_primitive_operations", FIELD_INT_SHOWN},
                                         {"allow_imprecise_accumulation", FIELD_BOOL_SHOWN}},
                              .ordered = true},
    [STRUCT_REPLICA_MESH_AXES] = {.dialect = "stablehlo",
                                  .mnemonic = "replica_group_mesh_axes",
                                  .fields = {{"mesh", FIELD_ATTR}, {"axes", FIELD_ATTR}}},
    [STRUCT_AXIS_REF] = {.dialect = "stablehlo",
                         .mnemonic = "axis_ref",
                         .fields = {{"name", FIELD_STRING}, {"sub_axis_info", FIELD_SUB_AXIS}}},
    [STRUCT_SUB_AXIS] = {.dialect = "stablehlo",
                         .mnemonic = "sub_axis_info",
                         .fields = {{"pre_size", FIELD_INT_SHOWN}, {"size", FIELD_INT_SHOWN}},
                         .unwrapped = true},
    [STRUCT_MESH_AXIS] = {.dialect = "stablehlo",
                          .mnemonic = "mesh_axis",
                          .fields = {{"name", FIELD_STRING}, {"size", FIELD_INT_SHOWN}}},
    [STRUCT_MESH] = {.dialect = "stablehlo",
                     .mnemonic = "mesh",
                     .fields = {{"axes", FIELD_ATTR}, {"device_ids", FIELD_OPTIONAL_ATTR}}},
    [STRUCT_BOUNDS] = {.dialect = "stablehlo",
                       .mnemonic = "bounds",
                       .fields = {{"bounds", FIELD_INTS}}},
    [STRUCT_RAGGED_DOT] = {.dialect = "chlo",
                           .mnemonic = "ragged_dot",
                           .what = "ragged dot dimension numbers",
                           .fields = {DOT_FIELDS,
                                      {"lhs_ragged_dimensions", FIELD_INTS},
                                      {"rhs_group_dimensions", FIELD_INTS}}},
    [STRUCT_CHLO_ACCURACY] =
        {"chlo",
         "result_accuracy",
         NULL,
         {{"atol", FIELD_FLOAT}, {"rtol", FIELD_FLOAT}, {"ulps", FIELD_INT}, {"mode", FIELD_ATTR}},
         .ordered = true},
};

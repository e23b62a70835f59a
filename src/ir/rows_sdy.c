/* How the ops of sdy are spelled. */
#include "ir/row.h"

#define SDY(prop_name, its_row)                                                                    \
    {                                                                                              \
        .name = #prop_name, .kind = PROP_SDY, .row = SDY_##its_row                                 \
    }
#define SDY_OPTIONAL(prop_name, its_row)                                                           \
    {                                                                                              \
        .name = #prop_name, .kind = PROP_SDY, .row = SDY_##its_row, .optional = true               \
    }
#define KIND                                                                                       \
    {                                                                                              \
        .name = "reduction_op", .kind = PROP_ENUM, .row = ENUM_REDUCTION, .optional = true         \
    }
#define OUT " $o out_sharding=$(out_sharding)$D : $E"
#define ONE(op, its_form, ...)                                                                     \
    [OP_SDY_##op - OP_BEFORE_SDY] = {                                                              \
        .kind = OP_SDY_##op, .form = (its_form), .num_operands = 1, .num_results = 1, __VA_ARGS__}
#define COLLECTIVE(op, its_form, ...)                                                              \
    ONE(op, its_form OUT, .traits = IR_SAME_TYPE, .result_sharding = "out_sharding",               \
        .shown = SHOWN("reduction_op"), .props = PROPS(SDY(out_sharding, SHARDING), __VA_ARGS__))

/* By kind. */
static const ir_row rows[] = {
    [OP_SDY_MESH - OP_BEFORE_SDY] = {.kind = OP_SDY_MESH,
                                     .form = " $(sym_name) = $(mesh)$D",
                                     .props = PROPS({.name = "sym_name", .kind = PROP_SYMBOL_NAME},
                                                    SDY(mesh, MESH)),
                                     .traits = IR_SYMBOL},
    ONE(SHARDING_CONSTRAINT, " $o $(sharding)$D : $E", .props = PROPS(SDY(sharding, SHARDING)),
        .result_sharding = "sharding", .traits = IR_SAME_TYPE | IR_EFFECTS),
    ONE(RESHARD, " $o $(sharding)$D : $E", .props = PROPS(SDY(sharding, SHARDING)),
        .result_sharding = "sharding", .traits = IR_SAME_TYPE),
    [OP_SDY_RETURN - OP_BEFORE_SDY] = {.kind = OP_SDY_RETURN,
                                       .form = "$D$V( $v : $O)",
                                       .num_operands = MANY,
                                       .traits = IR_TERMINATOR},
    [OP_SDY_MANUAL_COMPUTATION -
        OP_BEFORE_SDY] = {.kind = OP_SDY_MANUAL_COMPUTATION,
                          .props = PROPS(SDY(in_shardings, SHARDING_PER_VALUE),
                                         SDY(out_shardings, SHARDING_PER_VALUE),
                                         SDY(manual_axes, MANUAL_AXES)),
                          .shown = SHOWN("in_shardings", "out_shardings", "manual_axes"),
                          .num_operands = MANY,
                          .num_results = MANY,
                          .num_regions = 1,
                          .traits = IR_ISOLATED | IR_HAS_EDGES | IR_EFFECTS_INSIDE,
                          .result_sharding = "out_shardings",
                          .argument_shardings = "in_shardings",
                          .terminator = OP_SDY_RETURN},
    [OP_SDY_NAMED_COMPUTATION -
        OP_BEFORE_SDY] = {.kind = OP_SDY_NAMED_COMPUTATION,
                          .props = PROPS({.name = "name", .kind = PROP_STRING},
                                         SDY_OPTIONAL(in_shardings, SHARDING_PER_VALUE),
                                         SDY_OPTIONAL(out_shardings, SHARDING_PER_VALUE)),
                          .shown = SHOWN("name", "in_shardings", "out_shardings"),
                          .num_operands = MANY,
                          .num_results = MANY,
                          .num_regions = 1,
                          .traits = IR_ISOLATED | IR_HAS_EDGES | IR_EFFECTS_INSIDE,
                          .result_sharding = "out_shardings",
                          .argument_shardings = "in_shardings",
                          .terminator = OP_SDY_RETURN},
    [OP_SDY_SHARDING_GROUP -
        OP_BEFORE_SDY] = {.kind = OP_SDY_SHARDING_GROUP,
                          .form = " $o group_id=$(group_id)$D : $E",
                          .props = PROPS({.name = "group_id", .kind = PROP_INT}),
                          .traits = IR_EFFECTS,
                          .num_operands = 1},
    [OP_SDY_CONSTANT - OP_BEFORE_SDY] = {.kind = OP_SDY_CONSTANT,
                                         .props = PROPS({.name = "value", .kind = PROP_ELEMENTS}),
                                         .shown = SHOWN("value"),
                                         .num_results = 1},
    ONE(DATA_FLOW_EDGE, " $o$?( sharding=$(sharding))$D : $E",
        .props = PROPS(SDY_OPTIONAL(sharding, SHARDING)), .traits = IR_SAME_TYPE | IR_EFFECTS,
        .result_sharding = "sharding"),
    ONE(FUNC_DATA_FLOW_EDGE, " $o$D : $E", .traits = IR_SAME_TYPE | IR_EFFECTS),
    ONE(PROPAGATION_BARRIER, " $o allowed_direction=$(allowed_direction)$D : $E",
        .props = PROPS({.name = "allowed_direction", .kind = PROP_ENUM, .row = ENUM_DIRECTION}),
        .traits = IR_SAME_TYPE),
    COLLECTIVE(ALL_GATHER, " $(gathering_axes)", SDY(gathering_axes, AXIS_REF_LISTS)),
    COLLECTIVE(ALL_SLICE, " $(slicing_axes)", SDY(slicing_axes, AXIS_REF_LISTS)),
    COLLECTIVE(SHARDED_TO_UNREDUCED, " $(axes)", SDY(axes, AXIS_REF_LISTS)),
    COLLECTIVE(REDUCE_SCATTER, "$K $(reduce_scatter_axes)",
               SDY(reduce_scatter_axes, AXIS_REF_LISTS), KIND),
    COLLECTIVE(ALL_REDUCE, "$K $(reduction_axes)", SDY(reduction_axes, AXIS_REF_LIST), KIND),
    COLLECTIVE(REPLICATED_TO_UNREDUCED, " $(axes)", SDY(axes, AXIS_REF_LIST)),
    COLLECTIVE(ALL_TO_ALL, " $(params)", SDY(params, ALL_TO_ALL_PARAMS)),
    ONE(COLLECTIVE_PERMUTE, OUT, .traits = IR_SAME_TYPE, .result_sharding = "out_sharding",
        .props = PROPS(SDY(out_sharding, SHARDING))),
};

const ir_dialect dialect_sdy = {"sdy", OP_BEFORE_SDY, rows, sizeof rows / sizeof rows[0]};

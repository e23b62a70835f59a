/* How the ops of sdy are spelled. */
#include <string.h>

#include "ir/spell.h"
#include "ir/verify.h"

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
#define COLLECTIVE(op, hook, its_form, ...)                                                        \
    ONE(op, its_form OUT, .traits = IR_SAME_TYPE, .result_sharding = "out_sharding",               \
        .verify_symbols = hook, .shown = SHOWN("reduction_op"),                                    \
        .props = PROPS(SDY(out_sharding, SHARDING), __VA_ARGS__))

/* ---- computations ---- */

/* `word=[<..>]`, as the property; nothing if the word is not next. */
static tsr_status read_shardings(parser *ps, op_reader *op, const char *word)
{
    uint32_t attr = 0;
    if (!at_kind(ps, TOKEN_WORD) || !slice_is(token_text(ps), word)) {
        return TSR_OK;
    }
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, '=', "expected '='"));
    TSR_TRY(read_stripped_sdy(ps, SDY_SHARDING_PER_VALUE, &attr));
    return set_property(ps, op, word, attr);
}

/* `(%arg0: T) {..} D : F` */
static tsr_status read_body(parser *ps, op_reader *op)
{
    ssa_argument *arguments = NULL;
    size_t count = 0;
    size_t room = 0;
    TSR_TRY(read_arguments(ps, false, &arguments, &count, &room));
    TSR_TRY(read_region(ps, op, arguments, count));
    return form_read(ps, op, "$D : $F");
}

static void print_body(printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const uint32_t body = op_entry_block(p, op, 0);
    put(pr, " (");
    for (uint32_t i = 0; body != 0 && i < program_block(p, body)->num_arguments; i++) {
        put(pr, i > 0 ? ", " : "");
        print_argument(pr, program_pool(p, program_block(p, body)->arguments)[i]);
    }
    put(pr, ") ");
    print_region(pr, op_region_at(p, op, 0), false);
    form_print(pr, op, "$D : $F");
}

tsr_status manual_computation_read(parser *ps, op_reader *op)
{
    uint32_t attr = 0;
    TSR_TRY(form_read(ps, op, "($v) in_shardings="));
    TSR_TRY(read_stripped_sdy(ps, SDY_SHARDING_PER_VALUE, &attr));
    TSR_TRY(set_property(ps, op, "in_shardings", attr));
    TSR_TRY(form_read(ps, op, "out_shardings="));
    TSR_TRY(read_stripped_sdy(ps, SDY_SHARDING_PER_VALUE, &attr));
    TSR_TRY(set_property(ps, op, "out_shardings", attr));
    TSR_TRY(form_read(ps, op, "manual_axes="));
    TSR_TRY(read_stripped_sdy(ps, SDY_MANUAL_AXES, &attr));
    TSR_TRY(set_property(ps, op, "manual_axes", attr));
    return read_body(ps, op);
}

void manual_computation_print(printer *pr, uint32_t op)
{
    form_print(pr, op,
               "($v) in_shardings=$(in_shardings) out_shardings=$(out_shardings) "
               "manual_axes=$(manual_axes)");
    print_body(pr, op);
}

tsr_status named_computation_read(parser *ps, op_reader *op)
{
    slice name;
    uint32_t attr = 0;
    TSR_TRY(expect(ps, '<', "expected '<'"));
    TSR_TRY(read_string(ps, &name));
    TSR_TRY(attr_string(ps->program, name.data, name.size, 0, &attr));
    TSR_TRY(set_property(ps, op, "name", attr));
    TSR_TRY(form_read(ps, op, ">($v)"));
    TSR_TRY(read_shardings(ps, op, "in_shardings"));
    TSR_TRY(read_shardings(ps, op, "out_shardings"));
    return read_body(ps, op);
}

void named_computation_print(printer *pr, uint32_t op)
{
    form_print(pr, op,
               "<$(name)>($v)$?( in_shardings=$(in_shardings))$?( "
               "out_shardings=$(out_shardings))");
    print_body(pr, op);
}

/* ---- rows ---- */

/* By kind. */
static const ir_row rows[] = {
    [OP_SDY_MESH - OP_BEFORE_SDY] = {.kind = OP_SDY_MESH,
                                     .form = " $(sym_name) = $(mesh)$D",
                                     .props = PROPS({.name = "sym_name", .kind = PROP_SYMBOL_NAME},
                                                    SDY(mesh, MESH)),
                                     .traits = IR_SYMBOL,
                                     .verify = verify_sdy_mesh},
    ONE(SHARDING_CONSTRAINT, " $o $(sharding)$D : $E", .props = PROPS(SDY(sharding, SHARDING)),
        .result_sharding = "sharding", .traits = IR_SAME_TYPE | IR_EFFECTS,
        .verify_symbols = verify_constraint),
    ONE(RESHARD, " $o $(sharding)$D : $E", .props = PROPS(SDY(sharding, SHARDING)),
        .result_sharding = "sharding", .traits = IR_SAME_TYPE, .verify_symbols = verify_constraint),
    [OP_SDY_RETURN - OP_BEFORE_SDY] = {.kind = OP_SDY_RETURN,
                                       .form = "$D$V( $v : $O)",
                                       .num_operands = MANY,
                                       .traits = IR_TERMINATOR},
    [OP_SDY_MANUAL_COMPUTATION -
        OP_BEFORE_SDY] = {.kind = OP_SDY_MANUAL_COMPUTATION,
                          .read = manual_computation_read,
                          .print = manual_computation_print,
                          .props = PROPS(SDY(in_shardings, SHARDING_PER_VALUE),
                                         SDY(out_shardings, SHARDING_PER_VALUE),
                                         SDY(manual_axes, MANUAL_AXES)),
                          .verify = verify_manual_axes,
                          .verify_symbols = verify_manual_computation,
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
                          .read = named_computation_read,
                          .print = named_computation_print,
                          .props = PROPS({.name = "name", .kind = PROP_STRING},
                                         SDY_OPTIONAL(in_shardings, SHARDING_PER_VALUE),
                                         SDY_OPTIONAL(out_shardings, SHARDING_PER_VALUE)),
                          .shown = SHOWN("name", "in_shardings", "out_shardings"),
                          .verify_regions = verify_named_types,
                          .verify_symbols = verify_named_computation,
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
                                         .read = constant_read,
                                         .print = constant_print,
                                         .props = PROPS({.name = "value", .kind = PROP_ELEMENTS}),
                                         .shown = SHOWN("value"),
                                         .num_results = 1},
    ONE(DATA_FLOW_EDGE, " $o$?( sharding=$(sharding))$D : $E",
        .props = PROPS(SDY_OPTIONAL(sharding, SHARDING)), .traits = IR_SAME_TYPE | IR_EFFECTS,
        .result_sharding = "sharding", .verify_symbols = verify_data_flow_edge),
    ONE(FUNC_DATA_FLOW_EDGE, " $o$D : $E", .traits = IR_SAME_TYPE | IR_EFFECTS,
        .verify_symbols = verify_func_data_flow_edge),
    ONE(PROPAGATION_BARRIER, " $o allowed_direction=$(allowed_direction)$D : $E",
        .props = PROPS({.name = "allowed_direction", .kind = PROP_ENUM, .row = ENUM_DIRECTION}),
        .traits = IR_SAME_TYPE, .verify = verify_barrier),
    COLLECTIVE(ALL_GATHER, verify_all_gather, " $(gathering_axes)",
               SDY(gathering_axes, AXIS_REF_LISTS)),
    COLLECTIVE(ALL_SLICE, verify_all_slice, " $(slicing_axes)", SDY(slicing_axes, AXIS_REF_LISTS)),
    COLLECTIVE(SHARDED_TO_UNREDUCED, verify_sharded_to_unreduced, " $(axes)",
               SDY(axes, AXIS_REF_LISTS)),
    COLLECTIVE(REDUCE_SCATTER, verify_reduce_scatter, "$K $(reduce_scatter_axes)",
               SDY(reduce_scatter_axes, AXIS_REF_LISTS), KIND),
    COLLECTIVE(ALL_REDUCE, verify_all_reduce, "$K $(reduction_axes)",
               SDY(reduction_axes, AXIS_REF_LIST), KIND),
    COLLECTIVE(REPLICATED_TO_UNREDUCED, verify_replicated_to_unreduced, " $(axes)",
               SDY(axes, AXIS_REF_LIST)),
    COLLECTIVE(ALL_TO_ALL, verify_all_to_all, " $(params)", SDY(params, ALL_TO_ALL_PARAMS)),
    ONE(COLLECTIVE_PERMUTE, OUT, .verify_symbols = verify_collective_permute,
        .traits = IR_SAME_TYPE, .result_sharding = "out_sharding",
        .props = PROPS(SDY(out_sharding, SHARDING))),
};

const ir_dialect dialect_sdy = {"sdy", OP_BEFORE_SDY, rows, sizeof rows / sizeof rows[0]};

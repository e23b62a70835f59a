/* The checks of one op: counts, properties and traits by its row; messages. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "verify/verify_parts.h"

/* ---- texts ---- */

const char *type_string(tsr_context *ctx, const tsr_program *p, uint32_t type)
{
    const char *text = "?";
    return tsr_ir_type_to_text(ctx, p->scratch, p, type, &text) < 0 ? "?" : text;
}

const char *attr_string_of(tsr_context *ctx, const tsr_program *p, uint32_t attr)
{
    const char *text = "?";
    return tsr_ir_attr_to_text(ctx, p->scratch, p, attr, &text) < 0 ? "?" : text;
}

/* ---- counts ---- */

static tsr_status verify_operand_count(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                       const ir_row *row)
{
    const int count = (int)program_op(p, op)->num_operands;
    if (row->num_operands == MANY) {
        return count >= row->min_operands
                   ? TSR_OK
                   : op_error(ctx, p, op, "expected %d or more operands, but found %d",
                              row->min_operands, count);
    }
    if (count == row->num_operands) {
        return TSR_OK;
    }
    if (row->num_operands == 0) {
        return op_error(ctx, p, op, "requires zero operands");
    }
    if (row->num_operands == 1) {
        return op_error(ctx, p, op, "requires a single operand");
    }
    return op_error(ctx, p, op, "expected %d operands, but found %d", row->num_operands, count);
}

static tsr_status verify_result_count(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                      const ir_row *row)
{
    const int count = (int)program_op(p, op)->num_results;
    if (row->num_results == MANY || count == row->num_results) {
        return TSR_OK;
    }
    if (row->num_results == 0) {
        return op_error(ctx, p, op, "requires zero results");
    }
    if (row->num_results == 1) {
        return op_error(ctx, p, op, "requires one result");
    }
    return op_error(ctx, p, op, "expected %d results", row->num_results);
}

static tsr_status verify_region_count(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                      const ir_row *row)
{
    const int count = (int)program_op(p, op)->num_regions;
    if (row->num_regions == MANY || count == row->num_regions) {
        return TSR_OK;
    }
    if (row->num_regions == 0) {
        return op_error(ctx, p, op, "requires zero regions");
    }
    if (row->num_regions == 1) {
        return op_error(ctx, p, op, "requires one region");
    }
    return op_error(ctx, p, op, "expected %d regions", row->num_regions);
}

/* Regions that have a terminator of their own are one block. */
static tsr_status verify_block_counts(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                      const ir_row *row)
{
    const char *first = row->region_names[0] != NULL ? row->region_names[0] : "body";
    const char *other = row->region_names[1] != NULL ? row->region_names[1] : first;
    for (uint32_t i = 0; row->terminator != OP_UNKNOWN && i < program_op(p, op)->num_regions; i++) {
        const uint32_t block = op_entry_block(p, op, i);
        if (block == 0 || program_block(p, block)->next != 0) {
            return op_error(ctx, p, op,
                            "region #%u ('%s') failed to verify constraint: region with 1 blocks",
                            i, i == 0 ? first : other);
        }
    }
    return TSR_OK;
}

/* ---- properties ---- */

static tsr_status verify_properties(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                    const ir_row *row)
{
    for (const ir_prop *prop = row->props; prop != NULL && prop->name != NULL; prop++) {
        const uint32_t attr = op_property(p, op, prop->name);
        if (attr == 0 && !prop->optional) {
            return op_error(ctx, p, op, "requires attribute '%s'", prop->name);
        }
        const char *problem = attr != 0 ? property_problem(p, prop, attr) : NULL;
        if (problem != NULL) {
            return op_error(ctx, p, op, "attribute '%s' failed to satisfy constraint: %s",
                            prop->name, problem);
        }
    }
    return TSR_OK;
}

/* ---- traits ---- */

static tsr_status verify_same_type(tsr_context *ctx, const tsr_program *p, uint32_t op)
{
    const ir_op *record = program_op(p, op);
    const uint32_t type = value_type(p, record->results);
    for (uint32_t i = 0; i < record->num_operands; i++) {
        if (value_type(p, op_operand(p, op, i)) != type) {
            return op_error(ctx, p, op, "requires the same type for all operands and results");
        }
    }
    return TSR_OK;
}

static tsr_status verify_traits(tsr_context *ctx, const tsr_program *p, uint32_t op,
                                const ir_row *row)
{
    if ((row->traits & IR_SAME_TYPE) != 0) {
        TSR_TRY(verify_same_type(ctx, p, op));
    }
    if ((row->traits & IR_TERMINATOR) != 0 && program_op(p, op)->next != 0) {
        return op_error(ctx, p, op, "must be the last operation in the parent block");
    }
    return TSR_OK;
}

/* ---- regions ---- */

tsr_status verify_terminator(tsr_context *ctx, const tsr_program *p, uint32_t op, uint32_t block)
{
    const ir_row *row = program_row(p, op);
    const uint32_t last = program_block(p, block)->last_op;
    const ir_block *record = program_block(p, block);
    const bool is_alone = record->next == 0 && record->prev == 0;
    if (is_alone && (row == NULL || (row->traits & IR_NO_TERMINATOR) != 0)) {
        return TSR_OK;
    }
    if (last == 0) {
        return error_at_op(ctx, p, op, "empty block: expect at least a terminator");
    }
    const ir_row *its = program_row(p, last);
    if (its != NULL && (its->traits & IR_TERMINATOR) == 0) {
        return error_at_op(ctx, p, last, "block with no terminator, has %s", op_name(p, last));
    }
    return TSR_OK;
}

/* Regions of an op end in what the op says. */
static tsr_status verify_ends(tsr_context *ctx, const tsr_program *p, uint32_t op,
                              const ir_row *row)
{
    if (row->terminator == OP_UNKNOWN) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < program_op(p, op)->num_regions; i++) {
        for (uint32_t b = op_entry_block(p, op, i); b != 0; b = program_block(p, b)->next) {
            const uint32_t last = program_block(p, b)->last_op;
            if (last != 0 && !op_is(p, last, row->terminator)) {
                (void)op_error(ctx, p, op, "expects regions to end with '%s', found '%s'",
                               op_kind_name(row->terminator), op_name(p, last));
                return diag_note(ctx, op_location(p, op),
                                 "in custom textual format, the absence of terminator implies '%s'",
                                 op_kind_name(row->terminator));
            }
        }
    }
    return TSR_OK;
}

tsr_status verify_entrance(tsr_context *ctx, tsr_program *p, uint32_t op, type_checker *types)
{
    const ir_row *row = program_row(p, op);
    if (program_op(p, op)->num_successors > 0 && program_op(p, op)->next != 0) {
        return error_at_op(ctx, p, op,
                           "operation with block successors must terminate its parent block");
    }
    TSR_TRY(verify_sdy_attributes(ctx, p, op));
    if (row == NULL) {
        return TSR_OK;
    }
    TSR_TRY(verify_region_count(ctx, p, op, row));
    TSR_TRY(verify_result_count(ctx, p, op, row));
    TSR_TRY(verify_operand_count(ctx, p, op, row));
    TSR_TRY(verify_properties(ctx, p, op, row));
    TSR_TRY(verify_block_counts(ctx, p, op, row));
    TSR_TRY(verify_traits(ctx, p, op, row));
    TSR_TRY(verify_op_types(ctx, p, op, types));
    const verify_hooks *hooks = &verify_hooks_of[row->kind];
    return hooks->op != NULL ? hooks->op(ctx, p, op) : TSR_OK;
}

tsr_status verify_exit(tsr_context *ctx, tsr_program *p, uint32_t op, type_checker *types)
{
    const ir_row *row = program_row(p, op);
    if (row == NULL) {
        return TSR_OK;
    }
    TSR_TRY(verify_ends(ctx, p, op, row));
    if (verify_hooks_of[row->kind].regions != NULL) {
        TSR_TRY(verify_hooks_of[row->kind].regions(ctx, p, op));
    }
    return verify_op_inference(ctx, p, op, types);
}

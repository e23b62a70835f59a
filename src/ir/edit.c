#include "ir/edit.h"

#include <string.h>

#include "base/arena.h"
#include "ir/changes.h"
#include "ir/records.h"

/* ---- ops ---- */

static tsr_status new_results(tsr_program *p, uint32_t op, const uint32_t *types, size_t count)
{
    uint32_t first = p->values.count;
    for (size_t i = 0; i < count; i++) {
        const ir_value value = {.type = types[i], .owner = op, .index = (uint32_t)i};
        uint32_t number = 0;
        TSR_TRY(program_new_values(p, &value, 1, &number));
    }
    record_of_op(p, op)->results = count > 0 ? first : 0;
    record_of_op(p, op)->num_results = (uint32_t)count;
    return TSR_OK;
}

tsr_status record_new_regions(tsr_program *p, uint32_t op, size_t count)
{
    uint32_t list = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t region = 0;
        uint32_t place = 0;
        TSR_TRY(program_new_region(p, &region));
        record_of_region(p, region)->op = op;
        TSR_TRY(program_new_list(p, &region, 1, &place));
        list = i == 0 ? place : list;
    }
    record_of_op(p, op)->regions = list;
    record_of_op(p, op)->num_regions = (uint32_t)count;
    return TSR_OK;
}

tsr_status op_create(tsr_program *p, const op_spec *spec, uint32_t *out)
{
    ir_op op = {.num_operands = (uint32_t)spec->num_operands,
                .properties = spec->properties,
                .attributes = spec->attributes,
                .location = spec->like != 0 ? program_op(p, spec->like)->location : IR_NOWHERE,
                .at = spec->like != 0 ? program_op(p, spec->like)->at : IR_NOWHERE};
    uint32_t number = 0;
    TSR_TRY(program_kind_name(p, spec->kind, &op.name));
    TSR_TRY(program_new_list(p, spec->operands, spec->num_operands, &op.operands));
    TSR_TRY(program_new_op(p, &op, &number));
    TSR_TRY(new_results(p, number, spec->types, spec->num_results));
    TSR_TRY(record_new_regions(p, number, spec->num_regions));
    TSR_TRY(uses_reserve(p));
    changes_note_op(p, number, CHANGE_PLACE);
    uses_add(p, number);
    *out = number;
    return TSR_OK;
}

tsr_status region_add_block(tsr_program *p, uint32_t region, const uint32_t *types, size_t count,
                            uint32_t *out)
{
    const ir_block empty = {.location = IR_NOWHERE};
    uint32_t block = 0;
    uint32_t list = 0;
    TSR_TRY(program_new_block(p, &empty, &block));
    for (size_t i = 0; i < count; i++) {
        const ir_value value = {.type = types[i],
                                .owner = block | IR_IS_ARGUMENT,
                                .index = (uint32_t)i,
                                .location = IR_NOWHERE};
        uint32_t number = 0;
        uint32_t place = 0;
        TSR_TRY(program_new_values(p, &value, 1, &number));
        TSR_TRY(program_new_list(p, &number, 1, &place));
        list = i == 0 ? place : list;
    }
    record_of_block(p, block)->arguments = list;
    record_of_block(p, block)->num_arguments = (uint32_t)count;
    record_append_block(p, region, block);
    changes_note_op(p, program_region(p, region)->op, CHANGE_REGIONS);
    TSR_TRY(uses_reserve(p));
    *out = block;
    return TSR_OK;
}

/* Links an op between two neighbours of a block, each 0 at an end. */
static void place(tsr_program *p, uint32_t op, uint32_t block, uint32_t prev, uint32_t next)
{
    ir_op *o = record_of_op(p, op);
    o->block = block;
    o->prev = prev;
    o->next = next;
    changes_note_op(p, op, CHANGE_PLACE);
    changes_note_op(p, block_parent(p, block), CHANGE_BODY);
    if (prev != 0) {
        record_of_op(p, prev)->next = op;
    } else {
        record_of_block(p, block)->first_op = op;
    }
    if (next != 0) {
        record_of_op(p, next)->prev = op;
    } else {
        record_of_block(p, block)->last_op = op;
    }
}

void op_insert_before(tsr_program *p, uint32_t op, uint32_t before)
{
    const ir_op *o = program_op(p, before);
    place(p, op, o->block, o->prev, before);
}

void op_insert_after(tsr_program *p, uint32_t op, uint32_t after)
{
    const ir_op *o = program_op(p, after);
    place(p, op, o->block, after, o->next);
}

void block_prepend(tsr_program *p, uint32_t block, uint32_t op)
{
    place(p, op, block, 0, program_block(p, block)->first_op);
}

void block_append(tsr_program *p, uint32_t block, uint32_t op)
{
    place(p, op, block, program_block(p, block)->last_op, 0);
}

void op_insert_after_value(tsr_program *p, uint32_t op, uint32_t value)
{
    const uint32_t definition = value_op(p, value);
    if (definition != 0) {
        op_insert_after(p, op, definition);
    } else {
        block_prepend(p, value_block(p, value), op);
    }
}

void op_remove(tsr_program *p, uint32_t op)
{
    ir_op *o = record_of_op(p, op);
    ir_block *b = record_of_block(p, o->block);
    changes_note_op(p, op, CHANGE_PLACE);
    changes_note_op(p, block_parent(p, o->block), CHANGE_BODY);
    if (o->prev != 0) {
        record_of_op(p, o->prev)->next = o->next;
    } else {
        b->first_op = o->next;
    }
    if (o->next != 0) {
        record_of_op(p, o->next)->prev = o->prev;
    } else {
        b->last_op = o->prev;
    }
    o->block = 0;
    o->prev = 0;
    o->next = 0;
}

/* An op inside one that is erased: it is in no block either. */
static void erase_inside(tsr_program *p, uint32_t op)
{
    uses_drop(p, op);
    changes_note_op(p, op, CHANGE_PLACE);
    record_of_op(p, op)->num_regions = 0;
    record_of_op(p, op)->block = 0;
}

void op_erase(tsr_program *p, uint32_t op)
{
    uint32_t next = 0;
    for (uint32_t inside = op_post_first(p, op); inside != op; inside = next) {
        next = op_post_next(p, op, inside);
        erase_inside(p, inside);
    }
    uses_drop(p, op);
    record_of_op(p, op)->num_regions = 0;
    op_remove(p, op);
}

void region_take(tsr_program *p, uint32_t to, uint32_t from)
{
    uint32_t next = 0;
    changes_note_op(p, program_region(p, to)->op, CHANGE_REGIONS);
    changes_note_op(p, program_region(p, from)->op, CHANGE_REGIONS);
    for (uint32_t block = program_region(p, from)->first_block; block != 0; block = next) {
        next = program_block(p, block)->next;
        record_append_block(p, to, block);
    }
    record_of_region(p, from)->first_block = 0;
    record_of_region(p, from)->last_block = 0;
}

/* ---- attributes ---- */

tsr_status op_set_kind(tsr_program *p, uint32_t op, op_kind kind)
{
    uint32_t id = 0;
    TSR_TRY(program_kind_name(p, kind, &id));
    changes_note_op(p, op, CHANGE_REGIONS);
    record_of_op(p, op)->name = id;
    changes_note_op(p, op, CHANGE_REGIONS);
    return TSR_OK;
}

void op_set_dicts(tsr_program *p, uint32_t op, uint32_t properties, uint32_t attributes)
{
    ir_op *record = record_of_op(p, op);
    if (record->properties != properties || record->attributes != attributes) {
        changes_note_attributes(p, op, properties);
        record->properties = properties;
        record->attributes = attributes;
    }
}

tsr_status dict_set(tsr_program *p, uint32_t dict, const char *name, uint32_t attr, uint32_t *out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    const size_t size = dict_size(p, dict);
    uint32_t string = 0;
    TSR_TRY(program_string(p, name, strlen(name), &string));
    attr_entry *entries = ARENA_ARRAY(p->scratch, attr_entry, size + 1);
    if (entries == NULL) {
        return diag_nomem(p->ctx);
    }
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        const attr_entry entry = attr_entries(program_attr(p, dict))[i];
        if (entry.name != string) {
            entries[count++] = entry;
        }
    }
    if (attr != 0) {
        entries[count++] = (attr_entry){string, attr};
    }
    const tsr_status status = attr_dict(p, entries, count, out);
    tsr_arena_reset(p->scratch, mark);
    return status;
}

tsr_status dict_value(tsr_program *p, uint32_t dict, uint32_t *out)
{
    if (dict != 0) {
        *out = dict;
        return TSR_OK;
    }
    return attr_of_text(p, ATTR_DICT, 0, 0, "", 0, out);
}

tsr_status op_set_property(tsr_program *p, uint32_t op, const char *name, uint32_t attr)
{
    uint32_t dict = 0;
    TSR_TRY(dict_set(p, program_op(p, op)->properties, name, attr, &dict));
    op_set_dicts(p, op, dict, program_op(p, op)->attributes);
    return TSR_OK;
}

tsr_status op_set_attribute(tsr_program *p, uint32_t op, const char *name, uint32_t attr)
{
    uint32_t dict = 0;
    TSR_TRY(dict_set(p, program_op(p, op)->attributes, name, attr, &dict));
    op_set_dicts(p, op, program_op(p, op)->properties, dict);
    return TSR_OK;
}

/* ---- one op in the place of another ---- */

tsr_status op_create_before(tsr_program *p, uint32_t old, const op_substitute *spec, uint32_t *out)
{
    const ir_op *o = program_op(p, old);
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    const uint32_t num_operands = o->num_operands;
    const uint32_t num_results = o->num_results;
    uint32_t *list = ARENA_ARRAY(p->scratch, uint32_t, num_operands + num_results + 1);
    if (list == NULL) {
        return diag_nomem(p->ctx);
    }
    for (uint32_t i = 0; i < num_operands; i++) {
        list[i] = op_operand(p, old, i);
    }
    for (uint32_t i = 0; i < num_results; i++) {
        list[num_operands + i] = value_type(p, op_result(p, old, i));
    }
    const op_spec full = {.kind = spec->kind,
                          .operands = list,
                          .num_operands = num_operands,
                          .types = list + num_operands,
                          .num_results = num_results,
                          .num_regions = spec->num_regions,
                          .properties = spec->properties,
                          .attributes = spec->attributes,
                          .like = old};
    TSR_TRY(op_create(p, &full, out));
    tsr_arena_reset(p->scratch, mark);
    op_insert_before(p, *out, old);
    return TSR_OK;
}

void op_replace(tsr_program *p, uint32_t old, uint32_t now)
{
    for (uint32_t i = 0; i < program_op(p, old)->num_results; i++) {
        value_replace_uses(p, op_result(p, old, i), op_result(p, now, i), 0);
    }
    op_erase(p, old);
}

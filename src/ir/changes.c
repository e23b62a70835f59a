#include "ir/changes.h"

#include <string.h>

#include "ir/message.h"
#include "ir/row.h"

static void clear(ir_changes *c)
{
    const uint32_t *ops = c->ops.items;
    const uint32_t *values = c->values.items;
    for (uint32_t i = 0; i < c->ops.count; i++) {
        ((uint8_t *)c->op_kinds.items)[ops[i]] = 0;
    }
    for (uint32_t i = 0; i < c->values.count; i++) {
        ((uint8_t *)c->value_flags.items)[values[i]] = 0;
    }
    c->ops.count = 0;
    c->values.count = 0;
    c->subjects = 0;
}

void changes_begin(tsr_program *p)
{
    clear(&p->changes);
    p->changes.is_known = true;
}

void changes_forget(tsr_program *p)
{
    clear(&p->changes);
    p->changes.is_known = false;
}

void changes_free(tsr_program *p)
{
    ir_changes *c = &p->changes;
    ir_array_free(p->ctx, &c->ops, sizeof(uint32_t));
    ir_array_free(p->ctx, &c->op_kinds, sizeof(uint8_t));
    ir_array_free(p->ctx, &c->values, sizeof(uint32_t));
    ir_array_free(p->ctx, &c->value_flags, sizeof(uint8_t));
}

/* Room for `count` items, new ones zero. */
static tsr_status reserve(tsr_program *p, ir_array *array, size_t item_size, uint32_t count)
{
    const uint32_t before = array->capacity;
    if (count <= before) {
        return TSR_OK;
    }
    const ir_array list = *array;
    array->count = 0;
    const tsr_status status = ir_array_reserve(p->ctx, array, item_size, count);
    array->count = list.count;
    if (status >= 0) {
        memset((char *)array->items + before * item_size, 0,
               (array->capacity - before) * item_size);
    }
    return status;
}

tsr_status changes_reserve(tsr_program *p)
{
    ir_changes *c = &p->changes;
    TSR_TRY(reserve(p, &c->ops, sizeof(uint32_t), p->ops.count));
    TSR_TRY(reserve(p, &c->op_kinds, sizeof(uint8_t), p->ops.count));
    TSR_TRY(reserve(p, &c->values, sizeof(uint32_t), p->values.count));
    return reserve(p, &c->value_flags, sizeof(uint8_t), p->values.count);
}

static bool has_bearing_on_meshes(const tsr_program *p, uint32_t op)
{
    const uint32_t module = op_parent(p, op);
    return (program_row(p, op)->traits & IR_SYMBOL_TABLE) != 0 ||
           (module != 0 && module != p->module) || op_is(p, op, OP_SDY_MESH);
}

/* What an op is decides what else may have changed with it. */
static int subjects_of(const tsr_program *p, uint32_t op, change_kind kind)
{
    const ir_row *row = program_row(p, op);
    int subjects = kind != CHANGE_ATTRIBUTES && kind != CHANGE_BODY ? CHANGED_PLACES : 0;
    if (row == NULL || kind == CHANGE_BODY) {
        return subjects;
    }
    if ((row->traits & IR_SYMBOL) != 0 && kind != CHANGE_ATTRIBUTES) {
        subjects |= CHANGED_SYMBOLS | (has_bearing_on_meshes(p, op) ? CHANGED_MESHES : 0);
    }
    return subjects | (row->argument_shardings != NULL ? CHANGED_COMPUTATIONS : 0);
}

void changes_note_op(tsr_program *p, uint32_t op, change_kind kind)
{
    ir_changes *c = &p->changes;
    if (op == 0) {
        return;
    }
    const int subjects = subjects_of(p, op, kind);
    c->stale |= subjects;
    if (!c->is_known) {
        return;
    }
    if (op >= c->ops.capacity || op >= c->op_kinds.capacity) {
        changes_forget(p);
        return;
    }
    uint8_t *kinds = (uint8_t *)c->op_kinds.items + op;
    if (*kinds == 0) {
        ((uint32_t *)c->ops.items)[c->ops.count++] = op;
    }
    *kinds |= (uint8_t)kind;
    c->subjects |= subjects;
}

/* Whether two dictionaries of a symbol differ in more than the attributes of its values. */
static bool is_other_symbol(const tsr_program *p, uint32_t before, uint32_t after)
{
    static const char *const names[] = {"arg_attrs", "res_attrs"};
    size_t counts[2] = {dict_size(p, before), dict_size(p, after)};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        counts[0] -= dict_get(p, before, names[i]) != 0;
        counts[1] -= dict_get(p, after, names[i]) != 0;
    }
    bool differs = counts[0] != counts[1];
    for (size_t i = 0; i < dict_size(p, before) && !differs; i++) {
        const attr_entry entry = attr_entries(program_attr(p, before))[i];
        const slice name = string_at(p, entry.name);
        differs = !slice_is(name, names[0]) && !slice_is(name, names[1]) &&
                  dict_get(p, after, name.data) != entry.value;
    }
    return differs;
}

void changes_note_attributes(tsr_program *p, uint32_t op, uint32_t properties)
{
    const ir_row *row = program_row(p, op);
    const bool is_symbol = row != NULL && (row->traits & IR_SYMBOL) != 0;
    changes_note_op(p, op,
                    is_symbol && is_other_symbol(p, program_op(p, op)->properties, properties)
                        ? CHANGE_PLACE
                        : CHANGE_ATTRIBUTES);
}

void changes_note_value(tsr_program *p, uint32_t value)
{
    ir_changes *c = &p->changes;
    if (!c->is_known || value == 0) {
        return;
    }
    if (value >= c->values.capacity || value >= c->value_flags.capacity) {
        changes_forget(p);
        return;
    }
    uint8_t *flag = (uint8_t *)c->value_flags.items + value;
    if (*flag == 0) {
        *flag = 1;
        ((uint32_t *)c->values.items)[c->values.count++] = value;
    }
}

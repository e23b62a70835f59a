/* The uses of values: listed, and kept while a program is changed. */
#include <string.h>

#include "base/arena.h"
#include "ir/changes.h"
#include "ir/edit.h"
#include "ir/records.h"

static uint32_t *first_use(const tsr_program *p, uint32_t value)
{
    return (uint32_t *)p->uses->first.items + value;
}

static use_link *link_of(const tsr_program *p, uint32_t use)
{
    return (use_link *)p->uses->links.items + use;
}

static void link_use(tsr_program *p, uint32_t op, uint32_t use, uint32_t value)
{
    uint32_t *first = first_use(p, value);
    *link_of(p, use) = (use_link){.next = *first, .op = op};
    if (*first != 0) {
        link_of(p, *first)->prev = use;
    }
    *first = use;
    *record_of_list(p, use) = value;
}

static void add_use(tsr_program *p, uint32_t op, uint32_t use, uint32_t value)
{
    link_use(p, op, use, value);
    changes_note_op(p, op, CHANGE_OPERANDS);
    changes_note_value(p, value);
}

static void drop_use(tsr_program *p, uint32_t use)
{
    const use_link link = *link_of(p, use);
    changes_note_op(p, link.op, CHANGE_OPERANDS);
    changes_note_value(p, *program_pool(p, use));
    if (link.prev != 0) {
        link_of(p, link.prev)->next = link.next;
    } else {
        *first_use(p, *program_pool(p, use)) = link.next;
    }
    if (link.next != 0) {
        link_of(p, link.next)->prev = link.prev;
    }
}

void uses_add(tsr_program *p, uint32_t op)
{
    const ir_op *o = program_op(p, op);
    for (uint32_t i = 0; i < o->num_operands; i++) {
        add_use(p, op, o->operands + i, *program_pool(p, o->operands + i));
    }
}

tsr_status uses_reserve(tsr_program *p)
{
    ir_array *first = &p->uses->first;
    ir_array *links = &p->uses->links;
    TSR_TRY(ir_array_reserve(p->ctx, first, sizeof(uint32_t), p->values.count - first->count));
    memset((uint32_t *)first->items + first->count, 0,
           (p->values.count - first->count) * sizeof(uint32_t));
    first->count = p->values.count;
    TSR_TRY(ir_array_reserve(p->ctx, links, sizeof(use_link), p->pool.count - links->count));
    links->count = p->pool.count;
    return changes_reserve(p);
}

tsr_status edit_begin(tsr_program *p)
{
    if (p->uses != NULL) {
        return TSR_OK;
    }
    p->uses = context_resize(p->ctx, NULL, 0, sizeof *p->uses);
    if (p->uses == NULL) {
        return diag_nomem(p->ctx);
    }
    *p->uses = (struct ir_uses){0};
    const tsr_status status = uses_reserve(p);
    if (status < 0) {
        edit_end(p);
        return status;
    }
    for (uint32_t op = op_post_first(p, p->module); op != 0; op = op_post_next(p, p->module, op)) {
        for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
            link_use(p, op, program_op(p, op)->operands + i, op_operand(p, op, i));
        }
    }
    return TSR_OK;
}

void edit_end(tsr_program *p)
{
    if (p->uses != NULL) {
        ir_array_free(p->ctx, &p->uses->first, sizeof(uint32_t));
        ir_array_free(p->ctx, &p->uses->links, sizeof(use_link));
        context_resize(p->ctx, p->uses, sizeof *p->uses, 0);
        p->uses = NULL;
    }
}

void uses_drop(tsr_program *p, uint32_t op)
{
    ir_op *o = record_of_op(p, op);
    for (uint32_t i = 0; i < o->num_operands; i++) {
        drop_use(p, o->operands + i);
    }
    o->num_operands = 0;
}

void use_set(tsr_program *p, uint32_t use, uint32_t value)
{
    const uint32_t op = use_op(p, use);
    drop_use(p, use);
    add_use(p, op, use, value);
}

void op_set_operand(tsr_program *p, uint32_t op, size_t i, uint32_t value)
{
    use_set(p, program_op(p, op)->operands + (uint32_t)i, value);
}

void value_replace_uses(tsr_program *p, uint32_t from, uint32_t to, uint32_t except)
{
    uint32_t next = 0;
    for (uint32_t use = value_first_use(p, from); use != 0; use = next) {
        next = use_next(p, use);
        if (except == 0 || use_op(p, use) != except) {
            use_set(p, use, to);
        }
    }
}

/* What ops, tensors, annotations and axes are called, as the text has them. */
#include <inttypes.h>
#include <string.h>

#include "explain/explanation.h"
#include "ir/message.h"
#include "ir/program.h"
#include "ir/shardings.h"

int64_t written_line(const tsr_program *program, tsr_ir_op op)
{
    int64_t line = 0;
    return op != 0 && tsr_ir_op_position(program, op, &line, NULL) ? line : 0;
}

/* The op of the text that an op of the propagated program is, or is a copy of; 0: none. */
static tsr_ir_op written_op(const tsr_explanation *e, tsr_ir_op op)
{
    int64_t line = 0;
    int64_t column = 0;
    if (op == 0 || !tsr_ir_op_position(e->program, op, &line, &column)) {
        return 0;
    }
    size_t low = 0;
    size_t high = e->num_ops;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const text_op *at = &e->ops[middle];
        if (at->line < line || (at->line == line && at->column < column)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < e->num_ops && e->ops[low].line == line && e->ops[low].column == column;
    return found ? e->ops[low].op : 0;
}

/* The function that a call or a composite of the text names; 0: the op is neither. */
static tsr_ir_op called_by(const tsr_explanation *e, tsr_ir_op op)
{
    const bool is_call = op != 0 && op_is(e->original, op, OP_FUNC_CALL);
    const bool is_composite = op != 0 && op_is(e->original, op, OP_STABLEHLO_COMPOSITE);
    slice name;
    uint32_t func = 0;
    if ((is_call || is_composite) &&
        attr_as_symbol(e->original,
                       op_property(e->original, op, is_call ? "callee" : "decomposition"), &name) &&
        program_symbol(e->original->ctx, e->original, op, name, &func) < 0) {
        return 0;
    }
    return func;
}

/* An argument of a region by its index; the op of the text has the region that its copy has. */
static tsr_ir_value written_argument(const tsr_explanation *e, tsr_ir_value value)
{
    const tsr_program *p = e->program;
    const tsr_ir_region region = tsr_ir_block_parent(p, tsr_ir_value_block(p, value));
    const tsr_ir_op parent = tsr_ir_region_parent(p, region);
    const tsr_ir_op original = written_op(e, parent);
    const size_t index = tsr_ir_value_index(p, value);
    const tsr_ir_op called = called_by(e, original);
    if (called != 0) {
        const tsr_ir_block entry =
            tsr_ir_region_first_block(e->original, tsr_ir_op_region(e->original, called, 0));
        return entry != 0 && index < tsr_ir_block_num_arguments(e->original, entry)
                   ? tsr_ir_block_argument(e->original, entry, index)
                   : 0;
    }
    for (size_t r = 0; original != 0 && r < tsr_ir_op_num_regions(p, original); r++) {
        const tsr_ir_block block = tsr_ir_region_first_block(p, tsr_ir_op_region(p, original, r));
        if (tsr_ir_op_region(p, parent, r) == region && block != 0 &&
            index < tsr_ir_block_num_arguments(p, block)) {
            return tsr_ir_block_argument(p, block, index);
        }
    }
    return 0;
}

/* The value of the text that a value of the propagated program is, or is a copy of; 0: none. */
static tsr_ir_value written_value(const tsr_explanation *e, tsr_ir_value value)
{
    const tsr_program *p = e->program;
    if (value <= e->num_names && e->names[value] != NULL) {
        return value;
    }
    const tsr_ir_op op = tsr_ir_value_op(p, value);
    if (op == 0) {
        return written_argument(e, value);
    }
    const size_t index = tsr_ir_value_index(p, value);
    const tsr_ir_op original = written_op(e, op);
    return original != 0 && index < tsr_ir_op_num_results(p, original)
               ? tsr_ir_op_result(p, original, index)
               : 0;
}

const char *written_value_name(const tsr_explanation *e, tsr_ir_value value)
{
    const tsr_ir_value original = written_value(e, value);
    const bool named = original != 0 && original <= e->num_names && e->names[original] != NULL;
    return named ? e->names[original] : "a new value";
}

const char *written_op_name(const tsr_explanation *e, tsr_ir_op op)
{
    const tsr_ir_op original = written_op(e, op);
    return original != 0 ? tsr_ir_op_name(e->original, original) : tsr_ir_op_name(e->program, op);
}

/* The function that holds an op of the original; 0: none does. */
static tsr_ir_op func_around(const tsr_program *p, tsr_ir_op op)
{
    while (op != 0 && !op_is(p, op, OP_FUNC_FUNC)) {
        const tsr_ir_block block = tsr_ir_op_block(p, op);
        op = block != 0 ? tsr_ir_region_parent(p, tsr_ir_block_parent(p, block)) : 0;
    }
    return op;
}

/* The function in which the text defines a value; 0: it does not. */
static tsr_ir_op func_of_value(const tsr_explanation *e, tsr_ir_value value)
{
    const tsr_program *p = e->original;
    const tsr_ir_value original = written_value(e, value);
    if (original == 0) {
        return 0;
    }
    const tsr_ir_op op = tsr_ir_value_op(p, original);
    if (op != 0) {
        return func_around(p, op);
    }
    const tsr_ir_block block = tsr_ir_value_block(p, original);
    return func_around(p, tsr_ir_region_parent(p, tsr_ir_block_parent(p, block)));
}

/* `@main` of a function. */
static void tell_func(teller *t, tsr_ir_op func)
{
    const char *text = "\"?\"";
    const tsr_ir_attr name = tsr_ir_op_attribute(t->e->program, func, "sym_name");
    if (name != 0 && tsr_ir_attr_to_text(t->ctx, t->out.arena, t->e->program, name, &text) < 0) {
        t->out.failed = true;
        return;
    }
    buffer_char(&t->out, '@');
    buffer_bytes(&t->out, text + 1, strlen(text) - 2);
}

void tell_tensor(teller *t, tsr_ir_tensor tensor)
{
    if (tensor.value == 0) {
        buffer_format(&t->out, "result %zu of ", tensor.index);
        tell_func(t, tensor.func);
        return;
    }
    const tsr_ir_op func = func_of_value(t->e, tensor.value);
    buffer_string(&t->out, written_value_name(t->e, tensor.value));
    if (func != 0 && func != t->e->main) {
        buffer_string(&t->out, " of ");
        tell_func(t, func);
    }
}

int64_t line_of_tensor(const tsr_explanation *e, tsr_ir_tensor tensor)
{
    const tsr_program *p = e->program;
    tsr_ir_op op = tensor.func;
    if (tensor.value != 0) {
        op = tsr_ir_value_op(p, tensor.value);
    }
    if (tensor.value != 0 && op == 0) {
        const tsr_ir_block block = tsr_ir_value_block(p, tensor.value);
        op = tsr_ir_region_parent(p, tsr_ir_block_parent(p, block));
    }
    return written_line(p, op);
}

int64_t line_of_annotation(const tsr_explanation *e, uint32_t number)
{
    return number != 0 ? written_line(e->program, e->why.annotations[number].op) : 0;
}

void tell_annotation(teller *t, uint32_t number)
{
    const tsr_explanation *e = t->e;
    const tsr_annotation *a = &e->why.annotations[number];
    if (number == 0) {
        buffer_string(&t->out, "?");
        return;
    }
    switch (a->kind) {
    case TSR_ANNOTATION_ARGUMENT:
    case TSR_ANNOTATION_RESULT:
        buffer_format(&t->out, "%s %zu of ",
                      a->kind == TSR_ANNOTATION_ARGUMENT ? "argument" : "result", a->index);
        tell_func(t, a->op);
        return;
    case TSR_ANNOTATION_CONSTRAINT:
        buffer_format(&t->out, "the constraint %s",
                      written_value_name(e, tsr_ir_op_result(e->program, a->op, 0)));
        return;
    case TSR_ANNOTATION_INPUT:
        buffer_format(&t->out, "input %zu of %s", a->index, written_op_name(e, a->op));
        return;
    case TSR_ANNOTATION_OUTPUT:
        buffer_format(&t->out, "output %zu of %s", a->index, written_op_name(e, a->op));
        return;
    case TSR_ANNOTATION_OP:
        buffer_format(&t->out, "result %zu of %s", a->index, written_op_name(e, a->op));
        return;
    }
}

void tell_axis(teller *t, uint32_t step, tsr_axis_ref axis)
{
    const tsr_provenance *why = &t->e->why;
    const tsr_annotation *a = &why->annotations[why->steps[step].annotation];
    if (step == 0 || a->sharding == NULL) {
        buffer_string(&t->out, "?");
        return;
    }
    buffer_format(&t->out, "\"%s\"",
                  tsr_mesh_axis_name(tsr_sharding_mesh(a->sharding), (size_t)axis.axis));
    if (axis.is_sub) {
        buffer_format(&t->out, ":(%" PRId64 ")%" PRId64, axis.pre, axis.size);
    }
}

void tell_sharding(teller *t, const tsr_sharding *sharding)
{
    const char *text = "none";
    if (sharding != NULL &&
        tsr_sharding_print(t->ctx, t->out.arena, sharding, TSR_PRINT_BARE, &text) < 0) {
        t->out.failed = true;
        return;
    }
    buffer_string(&t->out, text);
}

void tell_line(teller *t, int64_t line)
{
    if (line > 0) {
        buffer_format(&t->out, " (line %" PRId64 ")", line);
    }
}

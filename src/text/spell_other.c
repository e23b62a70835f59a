/* The syntaxes of ops of chlo and arith. */
#include <stdio.h>
#include <string.h>

#include "text/spell.h"

const char *scan_argument_name(const tsr_program *p, uint32_t op, size_t region, size_t index)
{
    (void)region;
    const uint32_t sizes = op_property(p, op, "operandSegmentSizes");
    const int64_t inputs = attr_is(p, sizes, ATTR_DENSE_ARRAY) && program_attr(p, sizes)->count > 0
                               ? attr_numbers(program_attr(p, sizes))[0]
                               : 0;
    return (int64_t)index < inputs ? "input" : "carry";
}

static tsr_status set_sizes(parser *ps, op_reader *op, const char *name, int64_t first,
                            int64_t second)
{
    const int64_t sizes[2] = {first, second};
    uint32_t type = 0;
    uint32_t attr = 0;
    TSR_TRY(type_integer(ps->program, 32, SIGNLESS, &type));
    TSR_TRY(attr_dense_array(ps->program, type, sizes, 2, &attr));
    return set_property(ps, op, name, attr);
}

tsr_status scan_read(parser *ps, op_reader *op)
{
    TSR_TRY(form_read(ps, op, "($v)"));
    const int64_t inputs = (int64_t)op->num_uses;
    TSR_TRY(form_read(ps, op, "inits ($v) dimension=$(dimension)$A"));
    const int64_t inits = (int64_t)op->num_uses - inputs;
    TSR_TRY(read_region(ps, op, NULL, 0));
    TSR_TRY(form_read(ps, op, ": $F"));
    TSR_TRY(set_sizes(ps, op, "operandSegmentSizes", inputs, inits));
    return set_sizes(ps, op, "resultSegmentSizes", (int64_t)op->num_results - inits, inits);
}

bool scan_fits(const printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const uint32_t sizes = op_property(p, op, "operandSegmentSizes");
    if (!attr_is(p, sizes, ATTR_DENSE_ARRAY) || program_attr(p, sizes)->count != 2) {
        return false;
    }
    const int64_t inputs = attr_numbers(program_attr(p, sizes))[0];
    return inputs >= 0 && inputs <= (int64_t)program_op(p, op)->num_operands;
}

void scan_print(printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const uint32_t sizes = op_property(p, op, "operandSegmentSizes");
    const size_t count = program_op(p, op)->num_operands;
    const size_t inputs = (size_t)attr_numbers(program_attr(p, sizes))[0];
    put_char(pr, '(');
    print_operands(pr, op, 0, inputs);
    put(pr, ") inits (");
    print_operands(pr, op, inputs, count);
    form_print(pr, op, ") dimension=$(dimension) $A ");
    print_region(pr, op_region_at(p, op, 0), true);
    form_print(pr, op, " : $F");
}

/* ---- arith.constant ---- */

tsr_status arith_constant_read(parser *ps, op_reader *op)
{
    uint32_t value = 0;
    TSR_TRY(read_dict(ps, op));
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_attr(ps, &value));
    if (program_attr(ps->program, value)->type == 0) {
        return error_at(ps, at, "expected a value that has a type");
    }
    TSR_TRY(set_property(ps, op, "value", value));
    return add_type(ps, op, program_attr(ps->program, value)->type);
}

void arith_constant_print(printer *pr, uint32_t op)
{
    print_dict(pr, op, NULL);
    put_char(pr, ' ');
    print_attr(pr, op_property(pr->program, op, "value"));
}

const char *arith_constant_name(const tsr_program *p, uint32_t op, char *room, size_t size)
{
    const uint32_t attr = op_property(p, op, "value");
    if (!attr_is(p, attr, ATTR_INTEGER)) {
        return "cst";
    }
    const attr_head *value = program_attr(p, attr);
    const type_head *type = program_type(p, value->type);
    if (type->kind == TYPE_INDEX) {
        snprintf(room, size, "c%lld", (long long)value->bits);
    } else if (type->width == 1) {
        return value->bits != 0 ? "true" : "false";
    } else {
        snprintf(room, size, "c%lld_i%u", (long long)value->bits, type->width);
    }
    return room;
}

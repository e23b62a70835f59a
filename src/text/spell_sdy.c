/* The syntaxes of computations of sdy. */
#include <string.h>

#include "text/spell.h"

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

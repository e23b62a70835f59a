#include "types.h"

tsr_typed_shape typed_of(fixture *f, const tsr_mesh *mesh, const char *text)
{
    tsr_text source = tsr_text_of(NULL, text);
    tsr_typed_shape typed = {0};
    if (tsr_type_read(f->ctx, f->arena, &source, mesh, &typed) != TSR_OK) {
        fail_msg("%s: %s", text, tsr_context_diagnostics(f->ctx)->text);
    }
    return typed;
}

const char *typed_text(fixture *f, const tsr_typed_shape *typed)
{
    const char *text = NULL;
    assert_int_equal(tsr_type_print(f->ctx, f->arena, typed, &text), TSR_OK);
    return text;
}

tsr_end end_of_text(fixture *f, const char *text)
{
    tsr_end end = {0};
    assert_int_equal(tsr_end_parse(f->ctx, text, &end), TSR_OK);
    return end;
}

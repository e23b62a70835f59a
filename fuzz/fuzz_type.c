/* The text of types: fixed points, and gradients and shardings that go back to the type. */
#include "fuzz.h"

static void check_text(workbench *w, const tsr_mesh *mesh, const tsr_typed_shape *typed)
{
    const char *text;
    const char *again;
    tsr_typed_shape copy;
    INSIST(tsr_type_print(w->ctx, w->arena, typed, &text) == TSR_OK);
    tsr_text source = tsr_text_of(NULL, text);
    INSIST(tsr_type_read(w->ctx, w->arena, &source, mesh, &copy) == TSR_OK);
    INSIST(tsr_type_equal(typed->type, copy.type) && copy.rank == typed->rank);
    INSIST(tsr_type_print(w->ctx, w->arena, &copy, &again) == TSR_OK);
    INSIST(strcmp(text, again) == 0);
}

static void check_duals(workbench *w, const tsr_typed_shape *typed)
{
    const tsr_type *dual;
    const tsr_sharding *sharding;
    if (worked(w, tsr_type_gradient(w->ctx, w->arena, typed->type, &dual))) {
        INSIST(tsr_type_rank(dual) == tsr_type_rank(typed->type));
    }
    (void)worked(w, tsr_type_sharding(w->ctx, w->arena, typed->type, typed->rank, &sharding));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    workbench w = workbench_open();
    const tsr_mesh *mesh;
    tsr_text text = {.data = (const char *)data, .size = size};
    tsr_typed_shape typed;
    INSIST(tsr_mesh_parse(w.ctx, w.arena, "<[\"dp\"=2, \"tp\"=3, \"pp\"=1, \"a b\"=2, \"ep\"=4]>",
                          &mesh) == TSR_OK);
    if (worked(&w, tsr_type_read(w.ctx, w.arena, &text, mesh, &typed))) {
        INSIST(text.at <= size);
        check_text(&w, mesh, &typed);
        check_duals(&w, &typed);
    }
    workbench_close(&w);
    return 0;
}

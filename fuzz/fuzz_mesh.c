/* Mesh text: what parses prints to a fixed point, and places and devices agree. */
#include "fuzz.h"

static void check(workbench *w, const tsr_mesh *mesh)
{
    const char *text;
    const char *again;
    const tsr_mesh *copy;
    INSIST(tsr_mesh_print(w->ctx, w->arena, mesh, &text) == TSR_OK);
    INSIST(tsr_mesh_parse(w->ctx, w->arena, text, &copy) == TSR_OK);
    INSIST(tsr_mesh_equal(mesh, copy));
    INSIST(tsr_mesh_print(w->ctx, w->arena, copy, &again) == TSR_OK);
    INSIST(strcmp(text, again) == 0);
    const int64_t n = tsr_mesh_num_devices(mesh);
    for (int64_t place = 0; place < n && place < 64; place++) {
        INSIST(tsr_mesh_place_of(mesh, tsr_mesh_device_at(mesh, place)) == place);
        const int64_t last = n - 1 - place;
        INSIST(tsr_mesh_place_of(mesh, tsr_mesh_device_at(mesh, last)) == last);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    workbench w = workbench_open();
    for (int reading = TSR_READ_PROGRAM; reading <= TSR_READ_LENIENT; reading++) {
        tsr_text text = {.data = (const char *)data, .size = size};
        const tsr_mesh *mesh;
        if (worked(&w, tsr_mesh_read(w.ctx, w.arena, &text, (tsr_reading)reading, &mesh))) {
            INSIST(text.at <= size);
            check(&w, mesh);
        }
    }
    workbench_close(&w);
    return 0;
}

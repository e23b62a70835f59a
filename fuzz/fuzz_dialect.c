/*
 * The other notations, and what is pasted with something around it: whatever reads can be written,
 * or the reason is given.
 */
#include "fuzz.h"

enum { RANK = 2 };

static void write_all(workbench *w, const tsr_sharding *sharding, const int64_t *shape)
{
    for (int other = TSR_DIALECT_SDY; other <= TSR_DIALECT_HLO; other++) {
        const char *written;
        (void)worked(
            w, tsr_dialect_write(w->ctx, w->arena, (tsr_dialect)other, sharding, shape, &written));
    }
}

/* Shardings with what stands around them; each has the shape that the text gives it. */
static void read_layouts(workbench *w, tsr_text *text, const tsr_sharding_reader *reader)
{
    const tsr_layout_reader options = {.sharding = *reader};
    const tsr_layout *list;
    size_t count;
    text->at = 0;
    if (!worked(w, tsr_layouts_read(w->ctx, w->arena, text, &options, &list, &count))) {
        return;
    }
    INSIST(count > 0);
    for (size_t i = 0; i < count; i++) {
        const bool fits =
            list[i].has_shape && list[i].shape.rank == tsr_sharding_rank(list[i].sharding);
        write_all(w, list[i].sharding, fits ? list[i].shape.extents : NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t shape[RANK] = {8, 5};
    workbench w = workbench_open();
    const tsr_mesh *mesh;
    INSIST(tsr_mesh_parse(w.ctx, w.arena, "@m = <[\"x\"=2, \"y\"=4]>", &mesh) == TSR_OK);
    tsr_text text = {.data = (const char *)data, .size = size};
    const tsr_dialect dialect = tsr_dialect_guess(&text);
    for (int on_mesh = 0; on_mesh < 2; on_mesh++) {
        const tsr_sharding_reader reader = {
            .mesh = on_mesh ? mesh : NULL, .reading = TSR_READ_LENIENT, .rank = RANK};
        const tsr_sharding *sharding;
        read_layouts(&w, &text, &reader);
        text.at = 0;
        if (!worked(&w, tsr_dialect_read(w.ctx, w.arena, dialect, &text, &reader, RANK, shape,
                                         &sharding))) {
            continue;
        }
        INSIST(text.at <= size);
        write_all(&w, sharding, shape);
    }
    workbench_close(&w);
    return 0;
}

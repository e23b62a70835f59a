/* The other notations: whatever reads can be written, or the reason is given. */
#include "fuzz.h"

enum { RANK = 2 };

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
        text.at = 0;
        if (!worked(&w, tsr_dialect_read(w.ctx, w.arena, dialect, &text, &reader, RANK, shape,
                                         &sharding))) {
            continue;
        }
        INSIST(text.at <= size);
        for (int other = TSR_DIALECT_SDY; other <= TSR_DIALECT_HLO; other++) {
            const char *written;
            (void)worked(&w, tsr_dialect_write(w.ctx, w.arena, (tsr_dialect)other, sharding, shape,
                                               &written));
        }
    }
    workbench_close(&w);
    return 0;
}

/* The devices of a mesh with their boxes, a line each. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "base/guard.h"
#include "shard/geometry.h"

/* What a shard holds along one dimension: `0:2`, or `0:4+6:8` when it is several pieces. */
static void write_dimension(buffer *out, const dim_geometry *dim, int64_t shard)
{
    int64_t at = 0;
    bool none = true;
    for (tsr_interval piece; dim_next_piece(dim, shard, &at, &piece); none = false) {
        buffer_format(out, "%s%" PRId64 ":%" PRId64, none ? "" : "+", piece.start,
                      piece.start + piece.size);
    }
    buffer_string(out, none ? "none" : "");
}

static void write_device(buffer *out, const tsr_geometry *geometry, int64_t place)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(geometry->sharding);
    buffer_format(out, "device %-6" PRId64 " [", tsr_mesh_device_at(mesh, place));
    for (size_t d = 0; d < geometry->rank; d++) {
        const dim_geometry *dim = &geometry->dims[d];
        buffer_string(out, d > 0 ? ", " : "");
        write_dimension(out, dim, places_index(&dim->along, place));
    }
    buffer_string(out, "]\n");
}

tsr_status tsr_picture_table(tsr_context *ctx, tsr_arena *arena, const tsr_geometry *geometry,
                             int64_t first, int64_t end, const char **out)
{
    GUARD(tsr_picture_table);
    const int64_t devices = tsr_mesh_num_devices(tsr_sharding_mesh(geometry->sharding));
    if (first < 0 || end < first || end > devices) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the places %" PRId64 " to %" PRId64
                          " are not a range of the mesh, which has %" PRId64
                          " devices: give 0 <= first <= end <= %" PRId64,
                          first, end, devices, devices);
    }
    buffer text = buffer_new(arena);
    for (int64_t place = first; place < end && !text.failed; place++) {
        write_device(&text, geometry, place);
    }
    return buffer_finish(ctx, &text, out);
}

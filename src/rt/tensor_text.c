/* Tensor specs and meshes of a world, out of texts. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <tessera/tensor.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "rt/comm.h"

/* ---- specs ---- */

/* The shape of a type that says everything: an element type and extents that are known. */
static tsr_status read_type(tsr_context *ctx, tsr_arena *arena, const char *type, tsr_shape *out)
{
    TSR_TRY(tsr_shape_parse(ctx, arena, type, out));
    if (!out->has_dtype) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the type '%s' lacks an element type; write it as in f32[8,16]", type);
    }
    for (size_t d = 0; d < out->rank; d++) {
        if (out->extents[d] == TSR_UNKNOWN) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "extent %zu of the type '%s' is unknown; a tensor needs numbers", d,
                              type);
        }
    }
    return TSR_OK;
}

/* What a layout says of its own tensor must be what the type says. */
static tsr_status check_same_tensor(tsr_context *ctx, const char *type, const tsr_shape *shape,
                                    const char *layout, const tsr_layout *read)
{
    const bool same_shape = !read->has_shape || (read->shape.rank == shape->rank &&
                                                 memcmp(read->shape.extents, shape->extents,
                                                        shape->rank * sizeof *shape->extents) == 0);
    if (same_shape && (!read->shape.has_dtype || read->shape.dtype == shape->dtype)) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "the type in the layout '%s' differs from the tensor, %s; omit it", layout,
                      type);
}

static tsr_status read_layout(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                              const char *type, const tsr_shape *shape, const char *layout,
                              const tsr_sharding **out)
{
    tsr_text text = tsr_text_of("<layout>", layout);
    const tsr_layout_reader reader = {.sharding = {.mesh = mesh,
                                                   .reading = TSR_READ_LENIENT,
                                                   .rank = (int64_t)shape->rank,
                                                   .shape = shape->extents}};
    const tsr_layout *layouts = NULL;
    size_t count = 0;
    TSR_TRY(tsr_layouts_read(ctx, arena, &text, &reader, &layouts, &count));
    if (count != 1) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "one layout is needed, '%s' has %zu of them", layout, count);
    }
    TSR_TRY(check_same_tensor(ctx, type, shape, layout, &layouts[0]));
    *out = layouts[0].sharding;
    return TSR_OK;
}

tsr_status tsr_tensor_spec_parse(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                                 const char *type, const char *layout, tsr_tensor_spec *out)
{
    GUARD(tsr_tensor_spec_parse);
    const tsr_sharding *sharding = NULL;
    tsr_shape shape = {0};
    TSR_TRY(read_type(ctx, arena, type, &shape));
    if (layout == NULL) {
        const bool maximal = tsr_mesh_is_maximal(mesh);
        TSR_TRY(tsr_sharding_replicated_over(ctx, arena, mesh, maximal ? 0 : shape.rank, false,
                                             &sharding));
    } else {
        TSR_TRY(read_layout(ctx, arena, mesh, type, &shape, layout, &sharding));
    }
    *out = (tsr_tensor_spec){sharding, shape.dtype, shape.rank, shape.extents};
    return TSR_OK;
}

/* ---- meshes ---- */

/* Where the next size -1 of a mesh text is; NULL when there is none. */
static char *find_open_size(char *text)
{
    for (char *at = strstr(text, "-1"); at != NULL; at = strstr(at + 1, "-1")) {
        const char *before = at;
        while (before > text && isspace((unsigned char)before[-1])) {
            before--;
        }
        if (before > text && (before[-1] == '=' || before[-1] == ':') &&
            !isdigit((unsigned char)at[2])) {
            return at;
        }
    }
    return NULL;
}

/* Reads the text with 1 in place of the open size, then with what the other sizes leave. */
static tsr_status read_open_mesh(const tsr_comm *world, tsr_arena *arena, const char *axes,
                                 char *text, char *open, const tsr_mesh **out)
{
    enum { DIGITS = 24 };
    const size_t size = strlen(text) + DIGITS;
    char *filled = ARENA_ARRAY(arena, char, size);
    const tsr_mesh *others = NULL;
    if (filled == NULL) {
        return diag_nomem(world->ctx);
    }
    memcpy(open, " 1", 2);
    TSR_TRY(tsr_mesh_parse(world->ctx, arena, text, &others));
    const int64_t taken = tsr_mesh_num_devices(others);
    if (world->size % taken != 0) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the product of the other sizes of '%s', %lld, does not divide the %lld "
                          "ranks of the world",
                          axes, (long long)taken, (long long)world->size);
    }
    (void)snprintf(filled, size, "%.*s%lld%s", (int)(open - text), text,
                   (long long)(world->size / taken), open + 2);
    return tsr_mesh_parse(world->ctx, arena, filled, out);
}

tsr_status tsr_mesh_of_world(tsr_comm *world, tsr_arena *arena, const char *axes,
                             const tsr_mesh **out)
{
    GUARD(tsr_mesh_of_world);
    const tsr_mesh *mesh = NULL;
    TSR_TRY(comm_check_world(world));
    char *text = arena_string(arena, axes, strlen(axes));
    if (text == NULL) {
        return diag_nomem(world->ctx);
    }
    char *open = find_open_size(text);
    if (open != NULL && find_open_size(open + 1) != NULL) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the mesh '%s' has several sizes of -1; at most 1 can be computed", axes);
    }
    TSR_TRY(open != NULL ? read_open_mesh(world, arena, axes, text, open, &mesh)
                         : tsr_mesh_parse(world->ctx, arena, text, &mesh));
    if (tsr_mesh_num_devices(mesh) != world->size || tsr_mesh_place_of(mesh, world->rank) < 0) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the mesh '%s' has %lld devices, the world %lld ranks; write -1 for one "
                          "size to compute it",
                          axes, (long long)tsr_mesh_num_devices(mesh), (long long)world->size);
    }
    *out = mesh;
    return TSR_OK;
}

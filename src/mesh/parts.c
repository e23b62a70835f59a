#include "mesh/parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "mesh/mesh.h"

/* A number at most 2^62 at *at of a name; false when there is none. */
static bool read_number(const char *name, size_t length, size_t *at, int64_t *out)
{
    const size_t first = *at;
    int64_t number = 0;
    for (; *at < length && name[*at] >= '0' && name[*at] <= '9'; (*at)++) {
        if (!checked_mul(number, 10, &number) || !checked_add(number, name[*at] - '0', &number)) {
            return false;
        }
    }
    *out = number;
    return *at > first;
}

bool mesh_find_part(const tsr_mesh *mesh, const char *name, size_t length, tsr_axis_ref *out)
{
    int32_t axis = tsr_mesh_find_axis(mesh, name, length);
    if (axis >= 0) {
        *out = tsr_axis_full(mesh, (size_t)axis);
        return true;
    }
    size_t colon = length;
    while (colon > 0 && name[colon - 1] != ':') {
        colon--;
    }
    size_t at = colon + 1;
    int64_t pre;
    int64_t size;
    if (colon == 0 || colon >= length || name[colon] != '(' ||
        !read_number(name, length, &at, &pre) || at >= length || name[at++] != ')' ||
        !read_number(name, length, &at, &size) || at != length) {
        return false;
    }
    axis = tsr_mesh_find_axis(mesh, name, colon - 1);
    if (axis < 0) {
        return false;
    }
    *out = tsr_axis_sub((size_t)axis, pre, size);
    return true;
}

static tsr_status check_coexist(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                                const tsr_axis_ref *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (!tsr_axis_can_coexist(parts[k], parts[i])) {
                const tsr_axis_ref both[] = {parts[k], parts[i]};
                const char *text;
                TSR_TRY(tsr_axes_print(ctx, arena, mesh, both, 2, &text));
                return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                                  "parts %s of an axis cannot be used together: no reshape of the "
                                  "axis has both",
                                  text);
            }
        }
    }
    return TSR_OK;
}

/* The name of a part, which is that of the axis where the part is all of it. */
static const char *part_name(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                             tsr_axis_ref part)
{
    buffer buf = buffer_new(arena);
    const char *name = NULL;
    buffer_string(&buf, tsr_mesh_axis_name(mesh, (size_t)part.axis));
    if (part.is_sub != 0) {
        buffer_format(&buf, ":(%lld)%lld", (long long)part.pre, (long long)part.size);
    }
    return buffer_finish(ctx, &buf, &name) == TSR_OK ? name : NULL;
}

tsr_status mesh_cut(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                    const tsr_axis_ref *parts, size_t count, const tsr_mesh **out)
{
    const size_t room = mesh->num_axes + 2 * count;
    tsr_axis_list axes = {.refs = ARENA_ARRAY(arena, tsr_axis_ref, room), .capacity = room};
    const char **names = ARENA_ARRAY(arena, const char *, room);
    int64_t *sizes = ARENA_ARRAY(arena, int64_t, room);
    int64_t *strides = ARENA_ARRAY(arena, int64_t, room);
    tsr_mesh *cut = arena_copy(arena, mesh, 1, sizeof *mesh);
    if (axes.refs == NULL || names == NULL || sizes == NULL || strides == NULL || cut == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(check_coexist(ctx, arena, mesh, parts, count));
    TSR_TRY(tsr_axes_of_mesh(mesh, parts, count, &axes));
    if (axes.count == mesh->num_axes) {
        *out = mesh;
        return TSR_OK;
    }
    int64_t stride = 1;
    for (size_t i = axes.count; i-- > 0;) {
        names[i] = part_name(ctx, arena, mesh, axes.refs[i]);
        sizes[i] = axes.refs[i].size;
        strides[i] = stride;
        stride *= sizes[i];
        if (names[i] == NULL) {
            return TSR_ERR_NOMEM;
        }
        for (size_t k = i + 1; k < axes.count; k++) {
            if (strcmp(names[i], names[k]) == 0) {
                return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                                  "the mesh has an axis \"%s\", which is how a part of another is "
                                  "written: give it another name",
                                  names[i]);
            }
        }
    }
    cut->num_axes = axes.count;
    cut->axis_names = names;
    cut->sizes = sizes;
    cut->strides = strides;
    *out = cut;
    return TSR_OK;
}

bool mesh_parts(const tsr_mesh *cut, const tsr_mesh *mesh, tsr_axis_ref *refs)
{
    size_t axis = 0;
    int64_t done = 1;
    if (cut->num_devices != mesh->num_devices || cut->maximal != mesh->maximal) {
        return false;
    }
    for (size_t i = 0; i < cut->num_axes; i++) {
        const char *name = cut->axis_names[i];
        tsr_axis_ref ref;
        if (!mesh_find_part(mesh, name, strlen(name), &ref) || axis == mesh->num_axes ||
            (size_t)ref.axis != axis || ref.pre != done || ref.size != cut->sizes[i]) {
            return false;
        }
        refs[i] = ref;
        done *= ref.size;
        if (done == mesh->sizes[axis]) {
            axis++;
            done = 1;
        }
    }
    return axis == mesh->num_axes && mesh_same_ids(cut, mesh);
}

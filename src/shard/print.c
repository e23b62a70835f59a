/* Shardings as text. */
#include <string.h>

#include "shard/sharding.h"

static void print_dim(buffer *buf, const tsr_sharding *sharding, size_t index)
{
    const tsr_dim *dim = &sharding->dims[index];
    buffer_char(buf, '{');
    axes_print(buf, sharding->mesh, dim->axes, dim->num_axes);
    if (dim->open) {
        buffer_string(buf, dim->num_axes > 0 ? ", ?" : "?");
    }
    buffer_char(buf, '}');
    if (dim->ragged != NULL) {
        ragged_print(buf, dim->ragged, tsr_sharding_num_shards(sharding, index));
    }
    if (dim->priority != TSR_NO_PRIORITY) {
        buffer_char(buf, 'p');
        buffer_int(buf, dim->priority);
    }
}

static void print_list(buffer *buf, const tsr_sharding *sharding, const char *head,
                       const tsr_axis_ref *axes, size_t count)
{
    buffer_string(buf, head);
    buffer_char(buf, '{');
    axes_print(buf, sharding->mesh, axes, count);
    buffer_char(buf, '}');
}

static void print_body(buffer *buf, const tsr_sharding *sharding)
{
    buffer_char(buf, '[');
    for (size_t i = 0; i < sharding->rank; i++) {
        if (i > 0) {
            buffer_bytes(buf, ", ", 2);
        }
        print_dim(buf, sharding, i);
    }
    buffer_char(buf, ']');
    if (sharding->num_replicated > 0) {
        print_list(buf, sharding, ", replicated=", sharding->replicated, sharding->num_replicated);
    }
    if (sharding->num_unreduced > 0) {
        buffer_string(buf, ", unreduced=");
        print_list(buf, sharding,
                   sharding->reduction != TSR_SUM ? reduction_name(sharding->reduction) : "",
                   sharding->unreduced, sharding->num_unreduced);
    }
}

/* A bare id as in programs: it needs no quotes after the @. */
static bool is_bare(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char later[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789$.";
    return name[0] != '\0' && strchr(first, name[0]) != NULL && strspn(name, later) == strlen(name);
}

static void print_mesh(buffer *buf, const tsr_mesh *mesh)
{
    const char *name = tsr_mesh_name(mesh);
    if (name == NULL) {
        buffer_string(buf, "mesh");
        mesh_print(buf, mesh);
    } else if (is_bare(name)) {
        buffer_char(buf, '@');
        buffer_string(buf, name);
    } else {
        buffer_char(buf, '@');
        buffer_quoted(buf, name);
    }
}

void sharding_print(buffer *buf, const tsr_sharding *sharding, tsr_printing printing)
{
    if (printing == TSR_PRINT_BARE) {
        print_body(buf, sharding);
        return;
    }
    buffer_string(buf, printing == TSR_PRINT_FULL ? "#sdy.sharding<" : "<");
    print_mesh(buf, sharding->mesh);
    buffer_bytes(buf, ", ", 2);
    print_body(buf, sharding);
    buffer_char(buf, '>');
}

tsr_status tsr_sharding_print(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                              tsr_printing printing, const char **out)
{
    buffer buf = buffer_new(arena);
    sharding_print(&buf, sharding, printing);
    return buffer_finish(ctx, &buf, out);
}

/* Shardings as text. */
#include <string.h>

#include "base/guard.h"
#include "shard/sharding.h"

/* What ends the braces of a dimension. */
static void print_open(buffer *buf, bool open, bool has_axes)
{
    if (open) {
        buffer_string(buf, has_axes ? ", ?" : "?");
    }
    buffer_char(buf, '}');
}

static void print_priority(buffer *buf, int64_t priority)
{
    if (priority != TSR_NO_PRIORITY) {
        buffer_char(buf, 'p');
        buffer_int(buf, priority);
    }
}

static void print_dim(buffer *buf, const tsr_sharding *sharding, size_t index)
{
    const tsr_dim *dim = &sharding->dims[index];
    buffer_char(buf, '{');
    axes_print(buf, sharding->mesh, dim->axes, dim->num_axes);
    print_open(buf, dim->open, dim->num_axes > 0);
    if (dim->ragged != NULL) {
        ragged_print(buf, dim->ragged, tsr_sharding_num_shards(sharding, index));
    }
    print_priority(buf, dim->priority);
}

/* `, unreduced=`, and the reduction unless it is the sum. */
static void print_unreduced_head(buffer *buf, tsr_reduction reduction)
{
    buffer_string(buf, ", unreduced=");
    buffer_string(buf, reduction != TSR_SUM ? reduction_name(reduction) : "");
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
        print_unreduced_head(buf, sharding->reduction);
        print_list(buf, sharding, "", sharding->unreduced, sharding->num_unreduced);
    }
}

static void print_symbol(buffer *buf, slice name)
{
    buffer_char(buf, '@');
    if (is_bare_id(name)) {
        buffer_bytes(buf, name.data, name.size);
    } else {
        buffer_quoted_bytes(buf, name.data, name.size);
    }
}

static void print_inline_mesh(buffer *buf, const tsr_mesh *mesh)
{
    buffer_string(buf, "mesh");
    mesh_print(buf, mesh);
}

static void print_mesh(buffer *buf, const tsr_mesh *mesh)
{
    const char *name = tsr_mesh_name(mesh);
    if (name == NULL) {
        print_inline_mesh(buf, mesh);
    } else {
        print_symbol(buf, (slice){name, strlen(name)});
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
    GUARD(tsr_sharding_print);
    buffer buf = buffer_new(arena);
    sharding_print(&buf, sharding, printing);
    return buffer_finish(ctx, &buf, out);
}

void dim_text_print(buffer *buf, const dim_text *dim)
{
    buffer_char(buf, '{');
    named_axes_print(buf, dim->axes);
    print_open(buf, dim->open, dim->axes.count > 0);
    if (dim->has_ragged) {
        ragged_text_print(buf, dim);
    }
    print_priority(buf, dim->priority);
}

static void print_list_text(buffer *buf, named_axes list)
{
    buffer_char(buf, '{');
    named_axes_print(buf, list);
    buffer_char(buf, '}');
}

void sharding_text_print(buffer *buf, const sharding_text *text)
{
    buffer_char(buf, '<');
    if (text->has_name) {
        print_symbol(buf, text->mesh_name);
    } else if (text->inline_mesh != NULL) {
        print_inline_mesh(buf, text->inline_mesh);
    }
    buffer_string(buf, ", [");
    for (size_t i = 0; i < text->rank; i++) {
        buffer_string(buf, i > 0 ? ", " : "");
        dim_text_print(buf, &text->dims[i]);
    }
    buffer_char(buf, ']');
    if (text->replicated.count > 0) {
        buffer_string(buf, ", replicated=");
        print_list_text(buf, text->replicated);
    }
    if (text->unreduced.count > 0) {
        print_unreduced_head(buf, text->reduction);
        print_list_text(buf, text->unreduced);
    }
    buffer_char(buf, '>');
}

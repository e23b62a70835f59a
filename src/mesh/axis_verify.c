#include "mesh/axis_verify.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"

/* As many axes are compared one by one; more are looked up. */
enum { FEW = 16 };

tsr_status axis_verifier_init(axis_verifier *verifier, tsr_context *ctx, tsr_arena *arena,
                              const tsr_mesh *mesh, const char *prefix, size_t capacity)
{
    *verifier = (axis_verifier){.ctx = ctx, .arena = arena, .mesh = mesh, .prefix = prefix};
    verifier->seen = ARENA_ARRAY(arena, named_axis, capacity);
    verifier->refs = map_new(arena);
    return verifier->seen != NULL ? TSR_OK : diag_nomem(ctx);
}

void named_axis_resolve(named_axis *axis, const tsr_mesh *mesh)
{
    axis->ref.axis = tsr_mesh_find_axis(mesh, axis->name.data, axis->name.size);
    if (axis->ref.axis >= 0 && !axis->ref.is_sub) {
        axis->ref = tsr_axis_full(mesh, (size_t)axis->ref.axis);
    }
}

named_axis named_axis_of(const tsr_mesh *mesh, tsr_axis_ref ref)
{
    named_axis axis = {.ref = ref, .name = {"?", 1}};
    if (ref.axis < 0 || (size_t)ref.axis >= mesh->num_axes) {
        axis.ref.axis = -1;
        return axis;
    }
    const char *name = mesh->axis_names[ref.axis];
    axis.name = (slice){name, strlen(name)};
    if (!ref.is_sub) {
        axis.ref = tsr_axis_full(mesh, (size_t)ref.axis);
    }
    return axis;
}

void named_axis_print(buffer *buf, const named_axis *axis)
{
    buffer_quoted_bytes(buf, axis->name.data, axis->name.size);
    if (axis->ref.is_sub) {
        buffer_format(buf, ":(%lld)%lld", (long long)axis->ref.pre, (long long)axis->ref.size);
    }
}

void named_axes_print(buffer *buf, named_axes list)
{
    for (size_t i = 0; i < list.count; i++) {
        buffer_string(buf, i > 0 ? ", " : "");
        named_axis_print(buf, &list.axes[i]);
    }
}

const char *named_axis_text(tsr_arena *arena, const named_axis *axis)
{
    buffer buf = buffer_new(arena);
    named_axis_print(&buf, axis);
    buffer_char(&buf, '\0');
    return buf.failed ? "?" : buf.data;
}

/* `"x" (size 2), "y" (size 4)`: what the mesh has, for a note. */
static const char *mesh_axes_text(tsr_arena *arena, const tsr_mesh *mesh)
{
    enum { MOST = 16 };
    buffer buf = buffer_new(arena);
    for (size_t i = 0; i < mesh->num_axes && i < MOST; i++) {
        buffer_string(&buf, i > 0 ? ", " : "");
        buffer_quoted(&buf, mesh->axis_names[i]);
    }
    buffer_string(&buf, mesh->num_axes > MOST ? ", ..." : "");
    buffer_char(&buf, '\0');
    return buf.failed ? "?" : buf.data;
}

static tsr_status unknown_axis(const axis_verifier *v, const named_axis *axis)
{
    named_axis full = *axis;
    full.ref.is_sub = 0;
    (void)diag_error(v->ctx, TSR_ERR_INVALID, axis->where, "%sunknown axis name: %s", v->prefix,
                     named_axis_text(v->arena, &full));
    if (v->mesh->num_axes == 0) {
        return diag_note(v->ctx, NO_LOCATION, "the mesh has no axes");
    }
    return diag_note(v->ctx, NO_LOCATION, "the mesh has the axes %s",
                     mesh_axes_text(v->arena, v->mesh));
}

/* An error about one axis, with a note in plain words. */
static tsr_status refuse(const axis_verifier *v, const named_axis *axis, const char *message,
                         const char *note)
{
    (void)diag_error(v->ctx, TSR_ERR_INVALID, axis->where, "%s%s: %s", v->prefix, message,
                     named_axis_text(v->arena, axis));
    return diag_note(v->ctx, NO_LOCATION, "%s", note);
}

/* The next pre-size; -1 when it overflows. */
static int64_t next_pre(const named_axis *axis)
{
    int64_t next;
    return checked_mul(axis->ref.pre, axis->ref.size, &next) ? next : -1;
}

static tsr_status mergeable(const axis_verifier *v, const named_axis *before,
                            const named_axis *axis)
{
    (void)diag_error(v->ctx, TSR_ERR_INVALID, axis->where,
                     "%stwo consecutive sub-axes can be merged: %s, %s", v->prefix,
                     named_axis_text(v->arena, before), named_axis_text(v->arena, axis));
    named_axis merged = *before;
    int64_t size;
    if (!checked_mul(before->ref.size, axis->ref.size, &size)) {
        return TSR_ERR_INVALID;
    }
    merged.ref.size = size;
    merged.ref.is_sub = size != v->mesh->sizes[axis->ref.axis];
    return diag_note(v->ctx, NO_LOCATION, "write %s instead", named_axis_text(v->arena, &merged));
}

/* Whether the same reference was seen before: few are compared, many are looked up. */
static bool was_seen(const axis_verifier *v, const named_axis *axis)
{
    if (v->num_seen > FEW) {
        return map_find(&v->refs, (const char *)&axis->ref, sizeof axis->ref) != NULL;
    }
    for (size_t i = 0; i < v->num_seen; i++) {
        if (tsr_axis_equal(v->seen[i].ref, axis->ref)) {
            return true;
        }
    }
    return false;
}

/* Notes an axis as seen; from a certain number on all of them are in the map. */
static tsr_status see(axis_verifier *v, const named_axis *axis)
{
    v->seen[v->num_seen++] = *axis;
    const size_t from = v->num_seen == FEW + 1 ? 0 : v->num_seen - 1;
    for (size_t i = from; v->num_seen > FEW && i < v->num_seen; i++) {
        const tsr_axis_ref *ref = &v->seen[i].ref;
        if (map_insert(&v->refs, (const char *)ref, sizeof *ref) == NULL) {
            return diag_nomem(v->ctx);
        }
    }
    return TSR_OK;
}

static tsr_status verify_one(const axis_verifier *v, const named_axis *before,
                             const named_axis *axis)
{
    if (axis->ref.axis < 0) {
        return unknown_axis(v, axis);
    }
    if (was_seen(v, axis)) {
        return refuse(
            v, axis, "duplicate axis ref",
            "an axis shards one dimension, or is replicated, or is unreduced: once in total");
    }
    if (before != NULL && before->ref.axis == axis->ref.axis && before->ref.is_sub &&
        axis->ref.is_sub && next_pre(before) == axis->ref.pre) {
        return mergeable(v, before, axis);
    }
    return TSR_OK;
}

tsr_status axis_verify_list(axis_verifier *v, named_axes list)
{
    for (size_t i = 0; i < list.count; i++) {
        TSR_TRY(verify_one(v, i > 0 ? &list.axes[i - 1] : NULL, &list.axes[i]));
        TSR_TRY(see(v, &list.axes[i]));
    }
    return TSR_OK;
}

bool named_axes_ordered(named_axes list)
{
    for (size_t i = 1; i < list.count; i++) {
        if (tsr_axis_compare(list.axes[i - 1].ref, list.axes[i].ref) > 0) {
            return false;
        }
    }
    return true;
}

static int compare_refs(const void *a, const void *b)
{
    const tsr_axis_ref x = ((const named_axis *)a)->ref;
    const tsr_axis_ref y = ((const named_axis *)b)->ref;
    if (x.axis != y.axis) {
        return x.axis < y.axis ? -1 : 1;
    }
    if (x.pre != y.pre) {
        return x.pre < y.pre ? -1 : 1;
    }
    return (x.size > y.size) - (x.size < y.size);
}

enum { PRODUCT_DIGITS = 48 };

/* pre * size in decimal, whatever the numbers; both are positive. */
static const char *product_text(tsr_axis_ref ref, char *room)
{
    unsigned __int128 product = (unsigned __int128)ref.pre * (unsigned __int128)ref.size;
    size_t at = PRODUCT_DIGITS - 1;
    room[at] = '\0';
    do {
        room[--at] = (char)('0' + (int)(product % 10));
        product /= 10;
    } while (product > 0);
    return room + at;
}

static tsr_status verify_sub(const axis_verifier *v, const named_axis *before,
                             const named_axis *axis)
{
    const int64_t full = v->mesh->sizes[axis->ref.axis];
    const int64_t next = next_pre(axis);
    if (axis->ref.pre < 1) {
        return refuse(v, axis, "sub-axis pre-size must be at least 1",
                      "in \"x\":(m)k, m is the product of the sub-axis sizes to the left of this "
                      "one: 1 when there are none");
    }
    if (axis->ref.size <= 1) {
        return refuse(v, axis, "sub-axis sizes must be greater than 1",
                      "leave a sub-axis of size 1 out: it shards nothing");
    }
    if (next < 1 || full % next != 0) {
        char product[PRODUCT_DIGITS];
        (void)diag_error(v->ctx, TSR_ERR_INVALID, axis->where,
                         "%ssub-axis next pre-size %s doesn't divide the size of the full axis "
                         "%lld: %s",
                         v->prefix, product_text(axis->ref, product), (long long)full,
                         named_axis_text(v->arena, axis));
        return diag_note(v->ctx, NO_LOCATION,
                         "\"x\":(m)k reshapes the axis to [m, k, %lld / (m * k)], so m * k must "
                         "divide %lld",
                         (long long)full, (long long)full);
    }
    if (axis->ref.size == full) {
        return refuse(v, axis, "sub-axis size is equal to the full axis size",
                      "write the full axis, without the :(m)k");
    }
    if (before != NULL && before->ref.axis == axis->ref.axis && next_pre(before) > axis->ref.pre) {
        (void)diag_error(v->ctx, TSR_ERR_INVALID, axis->where, "%soverlapping sub-axes: %s, %s",
                         v->prefix, named_axis_text(v->arena, before),
                         named_axis_text(v->arena, axis));
        return diag_note(v->ctx, NO_LOCATION,
                         "the first one ends at pre-size %lld, the second begins at %lld",
                         (long long)next_pre(before), (long long)axis->ref.pre);
    }
    if (before != NULL && before->ref.axis == axis->ref.axis &&
        axis->ref.pre % next_pre(before) != 0) {
        (void)diag_error(v->ctx, TSR_ERR_INVALID, axis->where, "%ssub-axes cannot coexist: %s, %s",
                         v->prefix, named_axis_text(v->arena, before),
                         named_axis_text(v->arena, axis));
        return diag_note(v->ctx, NO_LOCATION,
                         "no reshape of the axis has both: %lld does not divide %lld",
                         (long long)next_pre(before), (long long)axis->ref.pre);
    }
    return TSR_OK;
}

/* Whether the axis that the references from `from` to `end` are to is used whole and in part. */
static tsr_status verify_mixture(const axis_verifier *v, size_t from, size_t end)
{
    bool full = false;
    bool part = false;
    for (size_t i = from; i < end; i++) {
        full = full || !v->seen[i].ref.is_sub;
        part = part || v->seen[i].ref.is_sub;
    }
    if (!full || !part) {
        return TSR_OK;
    }
    named_axis name = v->seen[end - 1];
    name.ref.is_sub = 0;
    return refuse(v, &name, "both sub-axis and full-axis are used for axis name",
                  "the full axis contains its sub-axes: use it once, or only parts of it");
}

tsr_status axis_verify_subs(axis_verifier *v)
{
    if (v->num_seen > 1) {
        qsort(v->seen, v->num_seen, sizeof *v->seen, compare_refs);
    }
    for (size_t from = 0; from < v->num_seen;) {
        size_t end = from + 1;
        while (end < v->num_seen && v->seen[end].ref.axis == v->seen[from].ref.axis) {
            end++;
        }
        TSR_TRY(verify_mixture(v, from, end));
        for (size_t i = from; i < end; i++) {
            if (v->seen[i].ref.is_sub) {
                TSR_TRY(verify_sub(v, i > from ? &v->seen[i - 1] : NULL, &v->seen[i]));
            }
        }
        from = end;
    }
    return TSR_OK;
}

tsr_status tsr_axes_verify(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                           const tsr_axis_ref *axes, size_t count)
{
    GUARD(tsr_axes_verify);
    axis_verifier verifier;
    TSR_TRY(axis_verifier_init(&verifier, ctx, arena, mesh, "", count));
    for (size_t i = 0; i < count; i++) {
        named_axis axis = named_axis_of(mesh, axes[i]);
        TSR_TRY(axis_verify_list(&verifier, (named_axes){&axis, 1}));
    }
    return axis_verify_subs(&verifier);
}

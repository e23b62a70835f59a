/* Lists of axes. */
#include <string.h>

#include "base/base.h"
#include "base/guard.h"
#include "mesh/mesh.h"

int64_t tsr_axes_size(const tsr_axis_ref *axes, size_t count)
{
    GUARD(tsr_axes_size);
    int64_t size = 1;
    for (size_t i = 0; i < count; i++) {
        if (!checked_mul(size, axes[i].size, &size)) {
            return -1;
        }
    }
    return size;
}

bool tsr_axes_overlap(const tsr_axis_ref *a, size_t count_a, const tsr_axis_ref *b, size_t count_b)
{
    GUARD(tsr_axes_overlap);
    for (size_t i = 0; i < count_a; i++) {
        for (size_t j = 0; j < count_b; j++) {
            if (tsr_axis_overlaps(a[i], b[j])) {
                return true;
            }
        }
    }
    return false;
}

bool tsr_axes_equal(const tsr_axis_ref *a, size_t count_a, const tsr_axis_ref *b, size_t count_b)
{
    GUARD(tsr_axes_equal);
    if (count_a != count_b) {
        return false;
    }
    for (size_t i = 0; i < count_a; i++) {
        if (!tsr_axis_equal(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

int tsr_axes_compare(const tsr_mesh *mesh, const tsr_axis_ref *a, size_t count_a,
                     const tsr_axis_ref *b, size_t count_b)
{
    GUARD(tsr_axes_compare);
    if (count_a != count_b) {
        return count_a < count_b ? -1 : 1;
    }
    for (size_t i = 0; i < count_a; i++) {
        const int order = tsr_axis_compare_plain(mesh, a[i], b[i]);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

static tsr_status push(tsr_axis_list *list, tsr_axis_ref axis)
{
    if (list->count == list->capacity) {
        return TSR_ERR_LIMIT;
    }
    list->refs[list->count++] = axis;
    return TSR_OK;
}

/* Merges with the last element, if that is possible. */
static bool merge_last(const tsr_mesh *mesh, tsr_axis_list *list, tsr_axis_ref axis)
{
    tsr_axis_ref *last = list->count > 0 ? &list->refs[list->count - 1] : NULL;
    return last != NULL && tsr_axis_merge(mesh, *last, axis, last);
}

tsr_status tsr_axes_add(const tsr_mesh *mesh, tsr_axis_list *list, tsr_axis_ref axis)
{
    GUARD(tsr_axes_add);
    return merge_last(mesh, list, axis) ? TSR_OK : push(list, axis);
}

void tsr_axes_sort_and_merge(const tsr_mesh *mesh, tsr_axis_list *list)
{
    GUARD(tsr_axes_sort_and_merge);
    for (size_t i = 1; i < list->count; i++) {
        const tsr_axis_ref moved = list->refs[i];
        size_t j = i;
        for (; j > 0 && tsr_axis_compare(list->refs[j - 1], moved) > 0; j--) {
            list->refs[j] = list->refs[j - 1];
        }
        list->refs[j] = moved;
    }
    const size_t count = list->count;
    list->count = 0;
    for (size_t i = 0; i < count; i++) {
        const tsr_axis_ref axis = list->refs[i];
        if (!merge_last(mesh, list, axis)) {
            list->refs[list->count++] = axis;
        }
    }
}

/*
 * Replaces the element at `index` by what `other` leaves of it; *next is the index after what was
 * left.
 */
static tsr_status cut_around(tsr_axis_list *list, size_t index, tsr_axis_ref other, size_t *next)
{
    tsr_axis_ref left[2];
    size_t count = 0;
    count += tsr_axis_prefix_without(list->refs[index], other, &left[count]);
    count += tsr_axis_suffix_without(list->refs[index], other, &left[count]);
    if (list->count - 1 + count > list->capacity) {
        return TSR_ERR_LIMIT;
    }
    memmove(&list->refs[index + count], &list->refs[index + 1],
            (list->count - index - 1) * sizeof *list->refs);
    memcpy(&list->refs[index], left, count * sizeof *left);
    list->count = list->count - 1 + count;
    *next = index + count;
    return TSR_OK;
}

tsr_status tsr_axes_difference(const tsr_axis_ref *a, size_t count_a, const tsr_axis_ref *b,
                               size_t count_b, tsr_axis_list *out)
{
    GUARD(tsr_axes_difference);
    out->count = 0;
    for (size_t i = 0; i < count_a; i++) {
        const size_t start = out->count;
        TSR_TRY(push(out, a[i]));
        for (size_t j = 0; j < count_b; j++) {
            for (size_t k = start; k < out->count;) {
                if (tsr_axis_overlaps(out->refs[k], b[j])) {
                    TSR_TRY(cut_around(out, k, b[j], &k));
                } else {
                    k++;
                }
            }
        }
    }
    return TSR_OK;
}

void tsr_axes_truncate(tsr_axis_list *list, const tsr_axis_ref *other, size_t count_other)
{
    GUARD(tsr_axes_truncate);
    for (size_t i = 0; i < list->count; i++) {
        bool cut = false;
        bool left = true;
        for (size_t j = 0; j < count_other && left; j++) {
            if (tsr_axis_overlaps(list->refs[i], other[j])) {
                cut = true;
                left = tsr_axis_prefix_without(list->refs[i], other[j], &list->refs[i]);
            }
        }
        if (cut) {
            list->count = i + (left ? 1 : 0);
            return;
        }
    }
}

bool tsr_axes_is_strict_prefix(const tsr_axis_ref *a, size_t count_a, const tsr_axis_ref *b,
                               size_t count_b)
{
    GUARD(tsr_axes_is_strict_prefix);
    if (count_a > count_b || count_b == 0) {
        return false;
    }
    if (count_a == 0) {
        return true;
    }
    const size_t last = count_a - 1;
    if (!tsr_axes_equal(a, last, b, last) || !tsr_axis_is_prefix(a[last], b[last])) {
        return false;
    }
    return count_a < count_b || !tsr_axis_equal(a[last], b[last]);
}

tsr_status tsr_axes_common_prefix(const tsr_axis_ref *a, size_t count_a, const tsr_axis_ref *b,
                                  size_t count_b, tsr_axis_list *out)
{
    GUARD(tsr_axes_common_prefix);
    const size_t shorter = count_a < count_b ? count_a : count_b;
    out->count = 0;
    for (size_t i = 0; i < shorter; i++) {
        tsr_axis_ref common;
        if (!tsr_axis_common_prefix(a[i], b[i], &common)) {
            break;
        }
        TSR_TRY(push(out, common));
        if (!tsr_axis_equal(a[i], b[i])) {
            break;
        }
    }
    return TSR_OK;
}

/* The smallest begin or end of a reference to `axis` that is above `from`, at most `size`. */
static int64_t next_cut(int32_t axis, int64_t from, int64_t size, const tsr_axis_ref *axes,
                        size_t count)
{
    int64_t cut = size;
    for (size_t i = 0; i < count; i++) {
        if (axes[i].axis != axis) {
            continue;
        }
        const int64_t ends[] = {axes[i].pre, axes[i].pre * axes[i].size};
        for (size_t j = 0; j < 2; j++) {
            if (ends[j] > from && ends[j] < cut) {
                cut = ends[j];
            }
        }
    }
    return cut;
}

tsr_status tsr_axes_of_mesh(const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count,
                            tsr_axis_list *out)
{
    GUARD(tsr_axes_of_mesh);
    out->count = 0;
    for (size_t i = 0; i < mesh->num_axes; i++) {
        const int64_t size = mesh->sizes[i];
        int64_t from = 1;
        do {
            const int64_t cut = next_cut((int32_t)i, from, size, axes, count);
            if (cut % from != 0 || size % cut != 0) {
                return TSR_ERR_INVALID;
            }
            TSR_TRY(push(out, from == 1 && cut == size ? tsr_axis_full(mesh, i)
                                                       : tsr_axis_sub(i, from, cut / from)));
            from = cut;
        } while (from < size);
    }
    return TSR_OK;
}

void axis_print(buffer *buf, const tsr_mesh *mesh, tsr_axis_ref axis)
{
    buffer_quoted(buf, mesh->axis_names[axis.axis]);
    if (axis.is_sub) {
        buffer_bytes(buf, ":(", 2);
        buffer_int(buf, axis.pre);
        buffer_char(buf, ')');
        buffer_int(buf, axis.size);
    }
}

void axes_print(buffer *buf, const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_bytes(buf, ", ", 2);
        }
        axis_print(buf, mesh, axes[i]);
    }
}

tsr_status tsr_axes_print(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                          const tsr_axis_ref *axes, size_t count, const char **out)
{
    GUARD(tsr_axes_print);
    buffer buf = buffer_new(arena);
    axes_print(&buf, mesh, axes, count);
    return buffer_finish(ctx, &buf, out);
}

/* Axes and sub-axes, one against another. */
#include <string.h>

#include "base/guard.h"
#include "mesh/mesh.h"

#include "base/base.h"

/* What the next sub-axis has as its pre-size; the greatest number where that is more. */
static int64_t next_pre(tsr_axis_ref a)
{
    int64_t next = INT64_MAX;
    (void)checked_mul(a.pre, a.size, &next);
    return next;
}

static tsr_axis_ref sub(tsr_axis_ref of, int64_t pre, int64_t size)
{
    return (tsr_axis_ref){.axis = of.axis, .is_sub = 1, .pre = pre, .size = size};
}

tsr_axis_ref tsr_axis_full(const tsr_mesh *mesh, size_t axis)
{
    GUARD(tsr_axis_full);
    return axis < mesh->num_axes
               ? (tsr_axis_ref){.axis = (int32_t)axis, .pre = 1, .size = mesh->sizes[axis]}
               : (tsr_axis_ref){0};
}

tsr_axis_ref tsr_axis_sub(size_t axis, int64_t pre, int64_t size)
{
    GUARD(tsr_axis_sub);
    return (tsr_axis_ref){.axis = (int32_t)axis, .is_sub = 1, .pre = pre, .size = size};
}

bool tsr_axis_equal(tsr_axis_ref a, tsr_axis_ref b)
{
    GUARD(tsr_axis_equal);
    return a.axis == b.axis && a.is_sub == b.is_sub && a.pre == b.pre && a.size == b.size;
}

/* The order of two references to one axis: the full axis as if it were the largest of pre-size 1.
 */
static int compare_within(tsr_axis_ref a, tsr_axis_ref b)
{
    if (a.pre != b.pre) {
        return a.pre < b.pre ? -1 : 1;
    }
    if (a.is_sub != b.is_sub) {
        return a.is_sub ? -1 : 1;
    }
    return (a.size > b.size) - (a.size < b.size);
}

int tsr_axis_compare(tsr_axis_ref a, tsr_axis_ref b)
{
    GUARD(tsr_axis_compare);
    if (a.axis != b.axis) {
        return a.axis < b.axis ? -1 : 1;
    }
    return compare_within(a, b);
}

int tsr_axis_compare_plain(const tsr_mesh *mesh, tsr_axis_ref a, tsr_axis_ref b)
{
    GUARD(tsr_axis_compare_plain);
    if (a.axis != b.axis) {
        return strcmp(mesh->axis_names[a.axis], mesh->axis_names[b.axis]);
    }
    return compare_within(a, b);
}

bool tsr_axis_contains(tsr_axis_ref a, tsr_axis_ref b)
{
    GUARD(tsr_axis_contains);
    if (a.axis != b.axis) {
        return false;
    }
    return !a.is_sub || (b.is_sub && a.pre <= b.pre && next_pre(a) >= next_pre(b));
}

bool tsr_axis_is_prefix(tsr_axis_ref a, tsr_axis_ref b)
{
    GUARD(tsr_axis_is_prefix);
    return tsr_axis_contains(b, a) && a.pre == b.pre;
}

bool tsr_axis_is_suffix(tsr_axis_ref a, tsr_axis_ref b)
{
    GUARD(tsr_axis_is_suffix);
    return tsr_axis_contains(b, a) && next_pre(a) == next_pre(b);
}

bool tsr_axis_overlaps(tsr_axis_ref a, tsr_axis_ref b)
{
    GUARD(tsr_axis_overlaps);
    if (a.axis != b.axis) {
        return false;
    }
    return !a.is_sub || !b.is_sub || (a.pre < next_pre(b) && b.pre < next_pre(a));
}

bool tsr_axis_can_coexist(tsr_axis_ref a, tsr_axis_ref b)
{
    GUARD(tsr_axis_can_coexist);
    if (a.axis != b.axis || !a.is_sub || !b.is_sub) {
        return true;
    }
    const int64_t low = min_i64(a.pre, b.pre);
    const int64_t high = max_i64(a.pre, b.pre);
    const int64_t low_next = min_i64(next_pre(a), next_pre(b));
    const int64_t high_next = max_i64(next_pre(a), next_pre(b));
    if (low_next > high) {
        return low_next % high == 0 && high % low == 0 && high_next % low_next == 0;
    }
    return high % low_next == 0;
}

bool tsr_axis_overlap(tsr_axis_ref a, tsr_axis_ref b, tsr_axis_ref *out)
{
    GUARD(tsr_axis_overlap);
    if (!tsr_axis_overlaps(a, b) || !tsr_axis_can_coexist(a, b)) {
        return false;
    }
    if (!a.is_sub || !b.is_sub) {
        *out = a.is_sub ? a : b;
        return true;
    }
    const int64_t high = max_i64(a.pre, b.pre);
    *out = sub(a, high, min_i64(next_pre(a), next_pre(b)) / high);
    return true;
}

bool tsr_axis_prefix_without(tsr_axis_ref a, tsr_axis_ref b, tsr_axis_ref *out)
{
    GUARD(tsr_axis_prefix_without);
    if (!tsr_axis_can_coexist(a, b)) {
        return false;
    }
    if (!tsr_axis_overlaps(a, b)) {
        *out = a;
        return true;
    }
    if (a.pre >= b.pre) {
        return false;
    }
    *out = sub(a, a.pre, b.pre / a.pre);
    return true;
}

bool tsr_axis_suffix_without(tsr_axis_ref a, tsr_axis_ref b, tsr_axis_ref *out)
{
    GUARD(tsr_axis_suffix_without);
    if (!tsr_axis_can_coexist(a, b)) {
        return false;
    }
    if (!tsr_axis_overlaps(a, b)) {
        *out = a;
        return true;
    }
    if (next_pre(a) <= next_pre(b)) {
        return false;
    }
    *out = sub(a, next_pre(b), next_pre(a) / next_pre(b));
    return true;
}

bool tsr_axis_common_prefix(tsr_axis_ref a, tsr_axis_ref b, tsr_axis_ref *out)
{
    GUARD(tsr_axis_common_prefix);
    if (!tsr_axis_can_coexist(a, b)) {
        return false;
    }
    if (tsr_axis_is_prefix(a, b)) {
        *out = a;
        return true;
    }
    if (tsr_axis_is_prefix(b, a)) {
        *out = b;
        return true;
    }
    return false;
}

bool tsr_axis_can_merge(tsr_axis_ref a, tsr_axis_ref b)
{
    GUARD(tsr_axis_can_merge);
    return a.axis == b.axis && a.is_sub && b.is_sub && next_pre(a) == b.pre;
}

bool tsr_axis_merge(const tsr_mesh *mesh, tsr_axis_ref a, tsr_axis_ref b, tsr_axis_ref *out)
{
    GUARD(tsr_axis_merge);
    if (!tsr_axis_can_merge(a, b)) {
        return false;
    }
    const int64_t size = a.size * b.size;
    *out = size == mesh->sizes[a.axis] ? tsr_axis_full(mesh, (size_t)a.axis) : sub(a, a.pre, size);
    return true;
}

bool tsr_axis_split(tsr_axis_ref axis, int64_t size, tsr_axis_ref *major, tsr_axis_ref *minor)
{
    GUARD(tsr_axis_split);
    if (size <= 1 || size >= axis.size || axis.size % size != 0) {
        return false;
    }
    *major = sub(axis, axis.pre, size);
    *minor = sub(axis, axis.pre * size, axis.size / size);
    return true;
}

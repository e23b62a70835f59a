#include "shard/form.h"

#include "base/base.h"

/* Adds the digits of a list of axes, minor to major, each worth what the ones before it cover. */
static bool add_axes(const mesh_view *view, const tsr_axis_ref *axes, size_t count, int target,
                     form *out)
{
    int64_t weight = 1;
    for (size_t i = count; i-- > 0;) {
        tsr_stride pairs[MAX_DIGITS];
        size_t num_pairs;
        if (!mesh_view_axis(view, axes[i], pairs, &num_pairs)) {
            return false;
        }
        for (size_t j = num_pairs; j-- > 0;) {
            out->terms[out->count++] = (term){pairs[j].stride, pairs[j].size, weight, target};
            weight *= pairs[j].size;
        }
    }
    return true;
}

/* Pending reductions have no order among their devices: the weight of a digit is its stride. */
static bool add_pending(const mesh_view *view, const tsr_sharding *sharding, form *out)
{
    const size_t from = out->count;
    if (!add_axes(view, sharding->unreduced, sharding->num_unreduced, PENDING, out)) {
        return false;
    }
    for (size_t i = from; i < out->count; i++) {
        out->terms[i].weight = out->terms[i].stride;
    }
    return true;
}

static void sort_by_stride(form *f)
{
    for (size_t i = 1; i < f->count; i++) {
        const term moved = f->terms[i];
        size_t j = i;
        for (; j > 0 && f->terms[j - 1].stride > moved.stride; j--) {
            f->terms[j] = f->terms[j - 1];
        }
        f->terms[j] = moved;
    }
}

/* Whether a shard index of an even dimension is an empty shard. */
static bool is_empty(const tsr_geometry *g, int target, int64_t index)
{
    return target >= 0 && dim_is_even(&g->dims[target]) && index >= g->dims[target].used;
}

static bool continues(const tsr_geometry *g, const term *minor, const term *major)
{
    const int64_t next = minor->weight * minor->size;
    if (major->target == DEAD && is_empty(g, minor->target, next)) {
        return true;
    }
    return minor->target == major->target && major->weight == next;
}

/* Appends a term, joined with the last where it continues it; dead terms have weight 0. */
static void append(const tsr_geometry *g, form *f, term t)
{
    if (is_empty(g, t.target, t.weight)) {
        t.target = DEAD;
        t.weight = 0;
    }
    if (f->count > 0 && continues(g, &f->terms[f->count - 1], &t)) {
        f->terms[f->count - 1].size *= t.size;
    } else {
        f->terms[f->count++] = t;
    }
}

/* Joins sorted terms and fills the gaps with free ones, up to the number of devices. */
static void settle(const tsr_geometry *g, const form *raw, int64_t num_devices, form *out)
{
    int64_t covered = 1;
    out->count = 0;
    for (size_t i = 0; i < raw->count; i++) {
        const term *t = &raw->terms[i];
        if (t->stride > covered) {
            append(g, out, (term){covered, t->stride / covered, 0, FREE});
        }
        append(g, out, *t);
        covered = t->stride * t->size;
    }
    if (covered > 0 && covered < num_devices) {
        append(g, out, (term){covered, num_devices / covered, 0, FREE});
    }
}

bool form_of(const mesh_view *view, const tsr_geometry *geometry, form *out)
{
    const tsr_sharding *sharding = geometry->sharding;
    form raw;
    raw.count = 0;
    for (size_t i = 0; i < sharding->rank; i++) {
        if (!add_axes(view, sharding->dims[i].axes, sharding->dims[i].num_axes, (int)i, &raw)) {
            return false;
        }
    }
    if (!add_pending(view, sharding, &raw)) {
        return false;
    }
    sort_by_stride(&raw);
    settle(geometry, &raw, view->mesh->num_devices, out);
    return true;
}

bool form_equal(const form *a, const form *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        const term *x = &a->terms[i];
        const term *y = &b->terms[i];
        if (x->size != y->size || x->weight != y->weight || x->target != y->target) {
            return false;
        }
    }
    return true;
}

/* The next pending term from *at on; NULL at the end. */
static const term *next_pending(const form *f, size_t *at)
{
    while (*at < f->count) {
        const term *t = &f->terms[(*at)++];
        if (t->target == PENDING) {
            return t;
        }
    }
    return NULL;
}

bool form_same_pending(const form *a, const form *b)
{
    size_t at_a = 0;
    size_t at_b = 0;
    for (;;) {
        const term *x = next_pending(a, &at_a);
        const term *y = next_pending(b, &at_b);
        if (x == NULL || y == NULL) {
            return x == y;
        }
        if (x->stride != y->stride || x->size != y->size) {
            return false;
        }
    }
}

/* The term that covers a stride of the numbering, and its end, where the next begins. */
static const term *term_at(const form *f, int64_t stride)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->terms[i].stride <= stride && stride < f->terms[i].stride * f->terms[i].size) {
            return &f->terms[i];
        }
    }
    return NULL;
}

static bool matters(const term *t)
{
    return t->target != FREE && t->target != PENDING;
}

bool form_joint_digits(const form *a, const form *b, tsr_stride *out, size_t *count)
{
    size_t found = 0;
    int64_t from = 1;
    for (;;) {
        const term *x = term_at(a, from);
        const term *y = term_at(b, from);
        if (x == NULL || y == NULL) {
            *count = found;
            return x == y;
        }
        const int64_t to = min_i64(x->stride * x->size, y->stride * y->size);
        if (to % from != 0 || (x->stride * x->size) % to != 0 || (y->stride * y->size) % to != 0) {
            return false;
        }
        if (matters(x) || matters(y)) {
            out[found++] = (tsr_stride){to / from, from};
        }
        from = to;
    }
}

#include "plan/lattice.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "mesh/digits.h"

/* What a range of digits is part of. */
typedef enum span_role { ROLE_SRC, ROLE_DST, ROLE_KEPT, ROLE_REMOVED, ROLE_COPIES } span_role;

/* A part of an axis: number / stride % size, worth `weight` in the index it is part of. */
typedef struct span {
    span_role role;
    size_t dim;
    int64_t stride;
    int64_t size;
    int64_t weight;
} span;

/* Room for the spans of two layouts: each has at most MAX_DIGITS for everything and its copies. */
enum { MAX_SPANS = 4 * MAX_DIGITS, MAX_BOUNDS = 2 * MAX_SPANS };

/* A lattice while it is made. */
typedef struct lattice_maker {
    const plan_maker *m;
    size_t num_spans;
    span spans[MAX_SPANS];
    size_t num_bounds;
    int64_t bounds[MAX_BOUNDS];
} lattice_maker;

/* Adds the spans of a set of places, minor to major; false when an axis cuts across a digit. */
static bool add_spans(lattice_maker *x, const mesh_view *view, span_role role, size_t dim,
                      const places *set)
{
    int64_t weight = 1;
    for (size_t i = set->count; i-- > 0;) {
        tsr_stride parts[MAX_DIGITS];
        size_t count = 0;
        if (!digits_part(view->digits, view->count, set->pairs[i].stride, set->pairs[i].size, parts,
                         &count)) {
            return false;
        }
        for (size_t k = count; k-- > 0;) {
            if (x->num_spans == MAX_SPANS) {
                return false;
            }
            x->spans[x->num_spans++] = (span){role, dim, parts[k].stride, parts[k].size, weight};
            weight *= parts[k].size;
        }
    }
    return true;
}

static bool add_layout(lattice_maker *x, const mesh_view *view, span_role role,
                       const lattice_layout *layout)
{
    for (size_t i = 0; i < layout->geometry->rank; i++) {
        if (!add_spans(x, view, role, i, &layout->geometry->dims[i].along)) {
            return false;
        }
    }
    return add_spans(x, view, ROLE_KEPT, NO_DIM, layout->kept) &&
           add_spans(x, view, ROLE_REMOVED, NO_DIM, layout->removed);
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Collects where spans begin and end; false when they do not divide one another. */
static bool find_bounds(lattice_maker *x)
{
    size_t count = 0;
    for (size_t i = 0; i < x->num_spans; i++) {
        x->bounds[count++] = x->spans[i].stride;
        x->bounds[count++] = x->spans[i].stride * x->spans[i].size;
    }
    if (count > 1) {
        qsort(x->bounds, count, sizeof *x->bounds, by_value);
    }
    for (size_t i = 0; i < count; i++) {
        const bool is_new = x->num_bounds == 0 || x->bounds[x->num_bounds - 1] != x->bounds[i];
        if (is_new && x->num_bounds > 0 && x->bounds[i] % x->bounds[x->num_bounds - 1] != 0) {
            return false;
        }
        if (is_new) {
            x->bounds[x->num_bounds++] = x->bounds[i];
        }
    }
    return true;
}

/* The span of a role that has the digit from a bound to the next one; NULL if none has. */
static const span *span_of(const lattice_maker *x, span_role role, size_t bound)
{
    for (size_t i = 0; i < x->num_spans; i++) {
        const span *s = &x->spans[i];
        if (s->role == role && s->stride <= x->bounds[bound] &&
            x->bounds[bound + 1] <= s->stride * s->size) {
            return s;
        }
    }
    return NULL;
}

/* What the digit from a bound on is worth in the index that a span is part of. */
static int64_t weight_of(const lattice_maker *x, const span *s, size_t bound)
{
    return s != NULL ? s->weight * (x->bounds[bound] / s->stride) : 0;
}

/* The digits of one index, major to minor. Returns how many; with `out`, also which. */
static size_t list_digits(const lattice_maker *x, span_role role, size_t dim, lattice_digit *out)
{
    size_t count = 0;
    for (size_t i = x->num_spans; i-- > 0;) {
        const span *s = &x->spans[i];
        for (size_t k = x->num_bounds; s->role == role && s->dim == dim && k-- > 1;) {
            if (x->bounds[k] > s->stride * s->size || x->bounds[k - 1] < s->stride) {
                continue;
            }
            if (out != NULL) {
                out[count] = (lattice_digit){
                    .size = x->bounds[k] / x->bounds[k - 1],
                    .stride = x->bounds[k - 1],
                    .weight = weight_of(x, s, k - 1),
                    .fixed =
                        span_of(x, ROLE_SRC, k - 1) != NULL || span_of(x, ROLE_KEPT, k - 1) != NULL,
                };
            }
            count++;
        }
    }
    return count;
}

static tsr_status make_index(const lattice_maker *x, span_role role, size_t dim, lattice_index *out)
{
    const size_t count = list_digits(x, role, dim, NULL);
    lattice_digit *digits = ARENA_ARRAY(x->m->arena, lattice_digit, count);
    if (digits == NULL) {
        return diag_nomem(x->m->ctx);
    }
    (void)list_digits(x, role, dim, digits);
    *out = (lattice_index){digits, count};
    return TSR_OK;
}

static lattice_role role_of(const lattice_maker *x, size_t bound)
{
    if (span_of(x, ROLE_SRC, bound) != NULL) {
        return LATTICE_SHARD;
    }
    return span_of(x, ROLE_REMOVED, bound) != NULL ? LATTICE_PART : LATTICE_REPLICA;
}

static tsr_status make_atoms(const lattice_maker *x, int64_t devices, plan_lattice *out)
{
    lattice_atom *atoms = ARENA_ARRAY(x->m->arena, lattice_atom, x->num_bounds);
    if (atoms == NULL) {
        return diag_nomem(x->m->ctx);
    }
    out->atoms = atoms;
    out->rest = devices;
    for (size_t k = 0; k + 1 < x->num_bounds; k++) {
        const span *src = span_of(x, ROLE_SRC, k);
        const span *dst = span_of(x, ROLE_DST, k);
        if (src != NULL || dst != NULL) {
            atoms[out->num_atoms] = (lattice_atom){.size = x->bounds[k + 1] / x->bounds[k],
                                                   .role = role_of(x, k),
                                                   .src_dim = src != NULL ? src->dim : NO_DIM,
                                                   .dst_dim = dst != NULL ? dst->dim : NO_DIM,
                                                   .src_weight = weight_of(x, src, k),
                                                   .dst_weight = weight_of(x, dst, k)};
            out->rest /= atoms[out->num_atoms++].size;
        }
    }
    return TSR_OK;
}

static tsr_status fill(const lattice_maker *x, const tsr_geometry *src, plan_lattice *out)
{
    lattice_index *dst = ARENA_ARRAY(x->m->arena, lattice_index, src->rank);
    if (dst == NULL) {
        return diag_nomem(x->m->ctx);
    }
    for (size_t i = 0; i < src->rank; i++) {
        TSR_TRY(make_index(x, ROLE_DST, i, &dst[i]));
    }
    TSR_TRY(make_index(x, ROLE_COPIES, NO_DIM, &out->copies));
    TSR_TRY(make_atoms(x, tsr_mesh_num_devices(src->sharding->mesh), out));
    out->dst = dst;
    out->exists = true;
    return TSR_OK;
}

tsr_status plan_lattice_create(const plan_maker *m, const lattice_layout *src,
                               const lattice_layout *dst, const places *copies, plan_lattice *out)
{
    mesh_view after;
    lattice_maker x = {.m = m};
    *out = (plan_lattice){.exists = false};
    if (!mesh_views(src->geometry->sharding->mesh, dst->geometry->sharding->mesh, &out->view,
                    &after) ||
        !add_layout(&x, &out->view, ROLE_SRC, src) || !add_layout(&x, &after, ROLE_DST, dst) ||
        !add_spans(&x, &after, ROLE_COPIES, NO_DIM, copies) || !find_bounds(&x)) {
        return TSR_OK;
    }
    return fill(&x, src->geometry, out);
}

int64_t lattice_number(const plan_lattice *l, int64_t place)
{
    return digits_number(l->view.digits, l->view.count, place);
}

bool lattice_matches(const lattice_index *index, int64_t number, int64_t value)
{
    for (size_t i = 0; i < index->count; i++) {
        const lattice_digit *d = &index->digits[i];
        if (d->fixed && value / d->weight % d->size != number / d->stride % d->size) {
            return false;
        }
    }
    return true;
}

int64_t lattice_count(const lattice_index *index, int64_t number, int64_t below)
{
    int64_t free =
        1; /* how many choices the digits that are not fixed have, from the next one on */
    for (size_t i = 0; i < index->count; i++) {
        free *= index->digits[i].fixed ? 1 : index->digits[i].size;
    }
    if (index->count == 0 || below / index->digits[0].weight >= index->digits[0].size) {
        return below > 0 ? free : 0;
    }
    int64_t count = 0;
    for (size_t i = 0; i < index->count; i++) {
        const lattice_digit *d = &index->digits[i];
        const int64_t limit = below / d->weight % d->size;
        if (!d->fixed) {
            free /= d->size;
            count += limit * free;
            continue;
        }
        const int64_t value = number / d->stride % d->size;
        if (value != limit) {
            return count + (value < limit ? free : 0);
        }
    }
    return count;
}

int64_t lattice_combinations(const plan_lattice *l)
{
    int64_t product = 1;
    int64_t largest = 1;
    for (size_t i = 0; i < l->num_atoms; i++) {
        product *= l->atoms[i].size;
        largest = max_i64(largest, l->atoms[i].size);
    }
    return product / largest;
}

/* Elements, layouts and bounds of random calls. */
#include "case.h"

#include <math.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const case_rows *const tables[] = {&rows_of_elements, &rows_of_reductions, &rows_of_shapes,
                                          &rows_of_indices};

size_t case_rows_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT(tables); i++) {
        count += tables[i]->count;
    }
    return count;
}

const case_row *case_row_at(size_t i)
{
    size_t table = 0;
    while (table + 1 < COUNT(tables) && i >= tables[table]->count) {
        i -= tables[table++]->count;
    }
    return &tables[table]->rows[i];
}

/* ---- shapes and types ---- */

tsr_dtype draw_type(rng *r, int types)
{
    static const struct {
        int type;
        tsr_dtype dtype;
    } turns[] = {{FLOATS, TSR_F32},   {FLOATS, TSR_F64},   {FLOATS, TSR_BF16}, {FLOATS, TSR_F16},
                 {INTEGERS, TSR_I32}, {INTEGERS, TSR_I64}, {INTEGERS, TSR_U8}, {TRUTH, TSR_I1}};
    size_t i = 0;
    do {
        i = (size_t)rng_below(r, (int64_t)COUNT(turns));
    } while ((turns[i].type & types) == 0);
    return turns[i].dtype;
}

int64_t draw_extent(rng *r)
{
    static const int64_t extents[] = {0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 11, 13};
    return extents[rng_below(r, (int64_t)COUNT(extents))];
}

size_t draw_shape(rng *r, size_t least, size_t most, int64_t *shape)
{
    const size_t rank = least + (size_t)rng_below(r, (int64_t)(most - least) + 1);
    int64_t count = 1;
    for (size_t d = 0; d < most; d++) {
        shape[d] = draw_extent(r);
        shape[d] = count * shape[d] > 600 ? 2 : shape[d];
        count *= shape[d] > 0 ? shape[d] : 1;
    }
    return rank;
}

void draw_order(rng *r, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (size_t i = count; i > 1; i--) {
        const size_t j = (size_t)rng_below(r, (int64_t)i);
        const size_t kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* ---- elements ---- */

static double fraction(rng *r)
{
    return (double)rng_below(r, 1 << 30) / (1 << 30);
}

static double draw_special(const number_case *c, rng *r)
{
    const double numbers[] = {-INFINITY, NAN, INFINITY};
    return numbers[rng_below(r, (c->row->traits & NOT_GREATEST) != 0 ? 2 : 3)];
}

/* Between the row's ends: any number, a half of an integer, or one near 0. */
static double draw_float(const number_case *c, rng *r)
{
    const bool given = c->row->low != 0 || c->row->high != 0;
    const double low = given ? c->row->low : -4;
    const double high = given ? c->row->high : 4;
    const int64_t turn = rng_below(r, 100);
    double x = low + (high - low) * fraction(r);
    if ((c->row->traits & COARSE) != 0 || turn < 20) {
        const double half = floor(x * 2) / 2;
        x = half >= low ? half : x;
    } else if (turn < 30 && low < 0) {
        x = ldexp(x / (high - low), -(int)rng_below(r, 10));
    }
    x = (c->row->traits & BOTH_SIGNS) != 0 && rng_chance(r, 50) ? -x : x;
    return c->special && rng_chance(r, 12) ? draw_special(c, r) : x;
}

static int64_t draw_integer(const number_case *c, rng *r, tsr_dtype dtype)
{
    const uint64_t bits =
        (uint64_t)rng_below(r, INT64_C(1) << 32) << 32 | (uint64_t)rng_below(r, INT64_C(1) << 32);
    if ((c->row->traits & SMALL) == 0 && rng_chance(r, 30)) {
        return ref_wrap(dtype, bits);
    }
    const bool given = (c->row->traits & SMALL) != 0;
    const int64_t low = given ? (int64_t)c->row->low : -9;
    const int64_t high = given ? (int64_t)c->row->high : 9;
    const int64_t x = low + rng_below(r, high - low + 1);
    return ref_is_unsigned(dtype) && x < 0 ? -x : x;
}

/* A zero of either sign becomes the positive one, because parts of a pending sum are. */
static ref_number draw_number(const number_case *c, rng *r, tsr_dtype dtype)
{
    if (dtype == TSR_I1) {
        return (ref_number){.i = rng_below(r, 2)};
    }
    if (!ref_is_float(dtype)) {
        return (ref_number){.i = draw_integer(c, r, dtype)};
    }
    const double x = ref_round(dtype, (long double)draw_float(c, r));
    return (ref_number){.f = x == 0 ? 0 : x};
}

ref_array *add_operand(tsr_arena *arena, number_case *c, rng *r, tsr_dtype dtype, size_t rank,
                       const int64_t *shape)
{
    ref_array *x = &c->x[c->num_operands++];
    *x = ref_new(arena, dtype, rank, shape);
    for (int64_t k = 0; k < x->count; k++) {
        x->at[k] = draw_number(c, r, dtype);
    }
    return x;
}

ref_array *add_indices(tsr_arena *arena, number_case *c, rng *r, size_t rank, const int64_t *shape,
                       int64_t low, int64_t high)
{
    ref_array *x = &c->x[c->num_operands++];
    *x = ref_new(arena, draw_type(r, INTEGERS), rank, shape);
    low = ref_is_unsigned(x->dtype) && low < 0 ? 0 : low;
    for (int64_t k = 0; k < x->count; k++) {
        x->at[k].i = low + rng_below(r, high - low + 1);
    }
    return x;
}

/* Zeros of the last operand that the row does not want, or not now, become 1. */
static void replace_zeros(number_case *c)
{
    ref_array *x = &c->x[c->num_operands - 1];
    const bool never = (c->row->traits & NO_ZERO) != 0;
    const bool is_float = ref_is_float(x->dtype);
    const bool not_now = (c->row->traits & DIVIDES) != 0 && is_float && !c->special;
    for (int64_t k = 0; (never || not_now) && k < x->count; k++) {
        x->at[k].f = is_float && x->at[k].f == 0 ? 1 : x->at[k].f;
        x->at[k].i = !is_float && x->at[k].i == 0 ? 1 : x->at[k].i;
    }
}

/* ---- layouts ---- */

static bool has_pending_sum(const tsr_sharding *s)
{
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(s, &count);
    return tsr_axes_size(axes, count) > 1 && tsr_sharding_reduction(s) == TSR_SUM;
}

static const tsr_sharding *draw_sharding(fixture *f, const number_case *c, rng *r,
                                         const tsr_mesh *mesh, size_t operand)
{
    const ref_array *x = &c->x[operand];
    static const tsr_reduction reductions[] = {TSR_SUM, TSR_SUM, TSR_SUM, TSR_MAX, TSR_MIN};
    const sharding_limits limits = {
        .sub_axes = rng_chance(r, 50), .lists = rng_chance(r, 60), .ragged = rng_chance(r, 15)};
    const tsr_sharding *s = random_sharding(f, r, mesh, x->rank, x->shape, limits);
    const bool settled = c->special && (c->row->traits & MULTILINEAR) != 0;
    const tsr_reduction reduction = reductions[rng_below(r, 5)];
    if (rng_chance(r, 15)) {
        assert_int_equal(tsr_sharding_replicated_over(f->ctx, f->arena, mesh, x->rank, false, &s),
                         TSR_OK);
        return s;
    }
    return with_reduction(f, s, settled,
                          x->dtype == TSR_I1 && reduction == TSR_SUM ? TSR_MAX : reduction);
}

void case_draw(fixture *f, const case_row *row, uint64_t seed, int64_t ranks, number_case *out)
{
    const rng base = {seed};
    rng r = rng_case(&base, 1);
    rng layouts = rng_case(&base, 2);
    *out = (number_case){.row = row, .seed = seed, .num_results = 1, .terms = 1};
    out->dtype = draw_type(&r, row->types);
    out->special = (row->traits & SPECIALS) != 0 && rng_chance(&r, 30);
    row->make(f->arena, out, &r);
    replace_zeros(out);
    row->want(f->arena, out);
    const tsr_mesh *mesh = random_mesh_of(f, &layouts, ranks, (mesh_limits){ranks, true, true});
    for (size_t i = 0; i < out->num_operands; i++) {
        assert_true(out->x[i].rank <= MAX_DIMS);
        out->shardings[i] = draw_sharding(f, out, &layouts, mesh, i);
        out->sum_is_pending = out->sum_is_pending || has_pending_sum(out->shardings[i]);
    }
}

/* ---- bounds ---- */

/*
 * Relative to the largest magnitude involved: f64 1e-12, f32 2e-6 and more for long sums, f16 and
 * bf16 the error of a rounding, times the roundings. A pending sum is of three parts as large as
 * the element (share_of in numbers.c), each of which an op may round.
 */
static double bound_of(const number_case *c, tsr_dtype dtype)
{
    const double parts = c->sum_is_pending ? 4 : 1;
    const double size = 1 + (double)c->terms / 64;
    switch (dtype) {
    case TSR_F64:
        return 1e-12;
    case TSR_F32:
        return 2e-6 * size * parts;
    default:
        return ref_unit(dtype) * 1.01 * c->row->roundings * parts;
    }
}

bool case_accepts(const number_case *c, tsr_dtype dtype, const ref_number *want,
                  const ref_number *got)
{
    if (!ref_is_float(dtype)) {
        return want->i == got->i;
    }
    const double rounded = ref_round(dtype, (long double)want->f);
    if (rounded == got->f || (isnan(want->f) && isnan(got->f))) {
        return true;
    }
    if (c->row->roundings == 0 || isnan(want->f) || isnan(got->f) || isinf(rounded) ||
        isinf(got->f)) {
        return false;
    }
    const double scale = want->scale > fabs(want->f) ? want->scale : fabs(want->f);
    if ((c->row->traits & ONCE) != 0 && dtype != TSR_F64) {
        const double last = dtype == TSR_F32 ? 0 : ref_unit(dtype) * fabs(want->f);
        return fabs(want->f - got->f) <= last + bound_of(c, TSR_F32) * scale + ref_tiny(dtype);
    }
    return fabs(want->f - got->f) <= bound_of(c, dtype) * scale + 4 * ref_tiny(dtype);
}

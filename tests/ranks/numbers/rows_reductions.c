/* Products, reductions, and calls that are made of several ops. */
#include <string.h>

#include "case.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- products ---- */

/* The largest product of sizes that a sum may run over. */
static int64_t all_sizes(const number_case *c)
{
    int64_t most = 1;
    for (size_t i = 0; i < c->num_operands; i++) {
        most = c->x[i].count > most ? c->x[i].count : most;
    }
    return most;
}

/* The size of a character, the same wherever it occurs in a case. */
static int64_t size_of_name(const number_case *c, char name)
{
    const rng base = {c->seed};
    rng r = rng_case(&base, 100 + (uint64_t)name);
    return draw_extent(&r);
}

static void add_named(tsr_arena *arena, number_case *c, rng *r, const char *names, size_t rank)
{
    int64_t shape[REF_DIMS];
    for (size_t d = 0; d < rank; d++) {
        shape[d] = size_of_name(c, names[d]);
    }
    (void)add_operand(arena, c, r, c->dtype, rank, shape);
}

/* What a product of two is in characters. */
typedef struct spelled {
    const char *a;
    const char *b;
    const char *result;
} spelled;

static const spelled matrices[] = {
    {"ik", "kj", "ij"},   {"ik", "kj", "ij"},   {"uik", "ukj", "uij"}, {"uvik", "uvkj", "uvij"},
    {"uik", "kj", "uij"}, {"ik", "ukj", "uij"}, {"k", "kj", "j"},      {"ik", "k", "i"},
    {"k", "k", ""},       {"uik", "k", "ui"},   {"k", "ukj", "uj"},    {"uvik", "kj", "uvij"},
};

static void add_spelled(tsr_arena *arena, number_case *c, rng *r, const spelled *s)
{
    add_named(arena, c, r, s->a, strlen(s->a));
    add_named(arena, c, r, s->b, strlen(s->b));
    c->terms = all_sizes(c);
}

static void want_spelled(tsr_arena *arena, number_case *c, const spelled *s)
{
    c->want[0] = ref_einsum(arena, (const char *const[]){s->a, s->b}, s->result, c->x, 2);
}

static void make_matmul(tsr_arena *arena, number_case *c, rng *r)
{
    c->variant = (int)rng_below(r, (int64_t)COUNT(matrices));
    add_spelled(arena, c, r, &matrices[c->variant]);
}

static tsr_status run_matmul(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    (void)c;
    return tsr_matmul(x[0], x[1], out);
}

static void want_matmul(tsr_arena *arena, number_case *c)
{
    want_spelled(arena, c, &matrices[c->variant]);
}

/* Batch dimensions are u and v, contracted ones k and l. */
static const spelled products[] = {
    {"ik", "jk", "ij"},       {"ki", "kj", "ij"},      {"iuk", "kju", "uij"}, {"ikl", "lkj", "ij"},
    {"ukvi", "jvku", "uvij"}, {"i", "j", "ij"},        {"ku", "uk", "u"},     {"klu", "lku", "u"},
    {"hik", "kj", "hij"},     {"kuil", "lukj", "uij"}, {"u", "u", "u"},       {"", "j", "j"},
};

/* The dimensions of both operands that a set of characters has, in that order. */
static void list_dims(number_case *c, const spelled *s, const char *among, size_t list)
{
    for (const char *name = among; *name != '\0'; name++) {
        const char *in_a = strchr(s->a, *name);
        const char *in_b = strchr(s->b, *name);
        if (in_a != NULL && in_b != NULL) {
            c->lists[list].dims[c->lists[list].count++] = (size_t)(in_a - s->a);
            c->lists[list + 1].dims[c->lists[list + 1].count++] = (size_t)(in_b - s->b);
        }
    }
}

static void make_dot_general(tsr_arena *arena, number_case *c, rng *r)
{
    c->variant = (int)rng_below(r, (int64_t)COUNT(products));
    add_spelled(arena, c, r, &products[c->variant]);
    list_dims(c, &products[c->variant], "uv", 0);
    list_dims(c, &products[c->variant], rng_chance(r, 50) ? "kl" : "lk", 2);
}

static tsr_status run_dot_general(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    const tsr_dot_dims dims = {c->lists[0].count, c->lists[0].dims, c->lists[1].dims,
                               c->lists[2].count, c->lists[2].dims, c->lists[3].dims};
    return tsr_dot_general(x[0], x[1], &dims, out);
}

static void want_dot_general(tsr_arena *arena, number_case *c)
{
    want_spelled(arena, c, &products[c->variant]);
}

static const char *const equations[] = {
    "ij,jk->ik", "bij,bjk->bik",   "ij,jk",     "ij->ji",         "ij->",        "ijk->ki",
    "i,j->ij",   "ij,jk,kl->il",   "ij,ij->",   "bi,bj,bk->bijk", "i,i,i->",     "ij,j,k->ik",
    "ijk,jk->i", "abc,cd,de->abe", "ij,kj->ik", "ab,bc,cd,da->",  "ij,ik,jk->i", "bhqd,bhkd->bhqk",
};

static void make_einsum(tsr_arena *arena, number_case *c, rng *r)
{
    c->equation = equations[rng_below(r, (int64_t)COUNT(equations))];
    for (const char *at = c->equation; *at != '\0' && *at != '-';) {
        const size_t rank = strcspn(at, ",-");
        add_named(arena, c, r, at, rank);
        at += rank + (at[rank] == ',');
    }
    c->terms = all_sizes(c);
}

static tsr_status run_einsum(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_einsum(c->equation, x, c->num_operands, out);
}

static void want_einsum(tsr_arena *arena, number_case *c)
{
    const char *names[CASE_OPERANDS];
    const char *at = c->equation;
    const char *arrow = strchr(c->equation, '>');
    for (size_t i = 0; i < c->num_operands; i++) {
        names[i] = at;
        at += c->x[i].rank + 1;
    }
    c->want[0] = ref_einsum(arena, names, arrow != NULL ? arrow + 1 : "ik", c->x, c->num_operands);
}

static const spelled layers[] = {{"k", "ok", "o"}, {"ik", "ok", "io"}, {"uik", "ok", "uio"}};

static void make_linear(tsr_arena *arena, number_case *c, rng *r)
{
    c->variant = (int)rng_below(r, (int64_t)COUNT(layers));
    add_spelled(arena, c, r, &layers[c->variant]);
    if (rng_chance(r, 70)) {
        add_named(arena, c, r, "o", 1);
    }
}

static tsr_status run_linear(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_linear(x[0], x[1], c->num_operands > 2 ? x[2] : NULL, out);
}

static void want_linear(tsr_arena *arena, number_case *c)
{
    want_spelled(arena, c, &layers[c->variant]);
    const ref_array product = c->want[0];
    if (c->num_operands > 2) {
        c->want[0] = ref_map_2(arena, &product, &c->x[2], &ref_add);
        for (int64_t k = 0; k < product.count; k++) {
            c->want[0].at[k].scale += product.at[k].scale;
        }
    }
}

/* ---- reductions ---- */

static void make_reduce(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    size_t order[REF_DIMS];
    const size_t rank = draw_shape(r, 0, 4, shape);
    case_list *dims = &c->lists[0];
    draw_order(r, rank, order);
    dims->count = (size_t)rng_below(r, (int64_t)rank + 1);
    for (size_t i = 0; i < dims->count; i++) {
        dims->dims[i] = order[i];
        const bool some = c->row->ref.reduction == REF_MEAN && shape[order[i]] == 0;
        shape[order[i]] = some ? 1 : shape[order[i]];
    }
    c->terms = add_operand(arena, c, r, c->dtype, rank, shape)->count;
}

static tsr_status run_reduce(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return c->row->by.dims(x[0], c->lists[0].dims, c->lists[0].count, out);
}

static void want_reduce(tsr_arena *arena, number_case *c)
{
    c->want[0] =
        ref_reduce(arena, &c->x[0], c->lists[0].dims, c->lists[0].count, c->row->ref.reduction);
}

/* One dimension is `dim`. */
static void make_along(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 1, 4, shape);
    c->dim = (size_t)rng_below(r, (int64_t)rank);
    c->terms = shape[c->dim];
    (void)add_operand(arena, c, r, c->dtype, rank, shape);
}

static void make_argmax(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 1, 4, shape);
    c->dim = (size_t)rng_below(r, (int64_t)rank);
    shape[c->dim] = shape[c->dim] > 0 ? shape[c->dim] : 1;
    (void)add_operand(arena, c, r, c->dtype, rank, shape);
}

static tsr_status run_along(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return c->row->by.along(x[0], c->dim, out);
}

static void want_along(tsr_arena *arena, number_case *c)
{
    c->want[0] = c->row->ref.along(arena, &c->x[0], c->dim);
}

/* ---- in a wider type ---- */

static tsr_dtype wide_of(tsr_dtype dtype)
{
    return ref_is_float(dtype) ? TSR_F64 : TSR_I64;
}

#define WIDENED(call, wide)                                                                        \
    static tsr_status call##_widened(tsr_tensor *x, const size_t *dims, size_t count,              \
                                     tsr_tensor **out)                                             \
    {                                                                                              \
        return call(x, dims, count, wide, out);                                                    \
    }
WIDENED(tsr_sum_as, wide_of(tsr_tensor_dtype(x)))
WIDENED(tsr_prod_as, wide_of(tsr_tensor_dtype(x)))
WIDENED(tsr_mean_as, TSR_F64)

static tsr_status tsr_cumsum_as_widened(tsr_tensor *x, size_t dim, tsr_tensor **out)
{
    return tsr_cumsum_as(x, dim, wide_of(tsr_tensor_dtype(x)), out);
}

static void want_reduce_as(tsr_arena *arena, number_case *c)
{
    const bool mean = c->row->ref.reduction == REF_MEAN;
    const ref_array x = ref_convert(arena, &c->x[0], mean ? TSR_F64 : wide_of(c->x[0].dtype));
    c->want[0] = ref_reduce(arena, &x, c->lists[0].dims, c->lists[0].count, c->row->ref.reduction);
}

static void want_cumsum_as(tsr_arena *arena, number_case *c)
{
    const ref_array x = ref_convert(arena, &c->x[0], wide_of(c->x[0].dtype));
    c->want[0] = ref_cumsum(arena, &x, c->dim);
}

/* ---- of several ops ---- */

/* x, and with the bits of `variant` a scale and a bias of its last dimension. */
static void make_layer_norm(tsr_arena *arena, number_case *c, rng *r)
{
    static const double epsilons[] = {1e-3, 0.01, 0.5};
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 1, 4, shape);
    (void)add_operand(arena, c, r, c->dtype, rank, shape);
    c->variant = (int)rng_below(r, 4);
    for (int bit = 1; bit < 4; bit *= 2) {
        if ((c->variant & bit) != 0) {
            (void)add_operand(arena, c, r, c->dtype, 1, &shape[rank - 1]);
        }
    }
    c->real = epsilons[rng_below(r, 3)];
    c->terms = shape[rank - 1];
}

static tsr_status run_layer_norm(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    tsr_tensor *scale = (c->variant & 1) != 0 ? x[1] : NULL;
    tsr_tensor *bias = (c->variant & 2) != 0 ? x[c->num_operands - 1] : NULL;
    return tsr_layer_norm(x[0], scale, bias, c->real, out);
}

static void want_layer_norm(tsr_arena *arena, number_case *c)
{
    const ref_array *scale = (c->variant & 1) != 0 ? &c->x[1] : NULL;
    const ref_array *bias = (c->variant & 2) != 0 ? &c->x[c->num_operands - 1] : NULL;
    c->want[0] = ref_layer_norm(arena, &c->x[0], scale, bias, c->real);
}

static void make_rms_norm(tsr_arena *arena, number_case *c, rng *r)
{
    make_layer_norm(arena, c, r);
    c->variant &= 1;
    c->num_operands = c->variant == 1 ? 2 : 1;
}

static tsr_status run_rms_norm(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_rms_norm(x[0], c->variant == 1 ? x[1] : NULL, c->real, out);
}

static void want_rms_norm(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_rms_norm(arena, &c->x[0], c->variant == 1 ? &c->x[1] : NULL, c->real);
}

/* Labels are classes but for some, which are the one that is ignored or out of range. */
static void make_cross_entropy(tsr_arena *arena, number_case *c, rng *r)
{
    int64_t shape[REF_DIMS];
    const size_t rank = draw_shape(r, 1, 3, shape);
    shape[rank - 1] = shape[rank - 1] > 0 ? shape[rank - 1] : 1;
    (void)add_operand(arena, c, r, c->dtype, rank, shape);
    ref_array *labels = add_indices(arena, c, r, rank - 1, shape, 0, shape[rank - 1] - 1);
    const bool is_signed = !ref_is_unsigned(labels->dtype);
    for (int64_t k = 0; k < labels->count; k++) {
        const int64_t turn = rng_below(r, 40);
        int64_t *label = &labels->at[k].i;
        *label = turn < 4 && is_signed ? c->number : *label;
        *label = turn == 4 && is_signed ? -1 : *label;
        *label = turn == 5 ? shape[rank - 1] : *label;
    }
    c->terms = shape[rank - 1];
}

static void make_ignored_default(tsr_arena *arena, number_case *c, rng *r)
{
    c->number = TSR_IGNORE_LABEL;
    make_cross_entropy(arena, c, r);
}

static void make_ignored_any(tsr_arena *arena, number_case *c, rng *r)
{
    c->number = rng_below(r, 8) - 3;
    make_cross_entropy(arena, c, r);
}

static tsr_status run_ignored_default(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    (void)c;
    return tsr_cross_entropy(x[0], x[1], out);
}

static tsr_status run_ignored_any(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    return tsr_cross_entropy_ignoring(x[0], x[1], c->number, out);
}

static void want_ignored_any(tsr_arena *arena, number_case *c)
{
    c->want[0] = ref_cross_entropy(arena, &c->x[0], &c->x[1], c->number);
}

static void want_ignored_default(tsr_arena *arena, number_case *c)
{
    want_ignored_any(arena, c);
}

#define ROW(name, kinds, traits_, times, what)                                                     \
    {                                                                                              \
        .call = #name, .types = (kinds), .traits = (traits_), .roundings = (times),                \
        .make = make_##what, .run = run_##what, .want = want_##what                                \
    }
#define REDUCE(name, kinds, traits_, times, low_, high_, how)                                      \
    {                                                                                              \
        .call = #name, .types = (kinds), .traits = (traits_), .roundings = (times), .low = (low_), \
        .high = (high_), .make = make_reduce, .run = run_reduce, .want = want_reduce,              \
        .by.dims = (name), .ref.reduction = (how)                                                  \
    }
#define REDUCE_AS(name, traits_, low_, high_, how)                                                 \
    {                                                                                              \
        .call = #name, .types = ALL_TYPES, .traits = (traits_), .roundings = 8, .low = (low_),     \
        .high = (high_), .make = make_reduce, .run = run_reduce, .want = want_reduce_as,           \
        .by.dims = name##_widened, .ref.reduction = (how)                                          \
    }
#define ALONG(name, kinds, traits_, times, maker, reference)                                       \
    {                                                                                              \
        .call = #name, .types = (kinds), .traits = (traits_), .roundings = (times),                \
        .make = (maker), .run = run_along, .want = want_along, .by.along = (name),                 \
        .ref.along = (reference)                                                                   \
    }

static const case_row rows[] = {
    ROW(tsr_matmul, ALL_TYPES, SPECIALS | MULTILINEAR | ONCE, 1, matmul),
    ROW(tsr_dot_general, ALL_TYPES, SPECIALS | MULTILINEAR | ONCE, 1, dot_general),
    ROW(tsr_einsum, NUMBERS, 0, 5, einsum),
    ROW(tsr_linear, NUMBERS, SPECIALS | MULTILINEAR, 3, linear),
    REDUCE(tsr_sum, NUMBERS, SPECIALS | ONCE, 1, 0, 0, REF_SUM),
    REDUCE(tsr_mean, FLOATS, SPECIALS | ONCE, 1, 0, 0, REF_MEAN),
    REDUCE(tsr_max, NUMBERS, SPECIALS, 0, 0, 0, REF_MAX),
    REDUCE(tsr_min, NUMBERS, SPECIALS, 0, 0, 0, REF_MIN),
    REDUCE(tsr_prod, NUMBERS, SPECIALS | BOTH_SIGNS, 8, 0.75, 1.375, REF_PROD),
    REDUCE(tsr_all, INTEGERS | TRUTH, 0, 0, 0, 0, REF_ALL),
    REDUCE(tsr_any, INTEGERS | TRUTH, 0, 0, 0, 0, REF_ANY),
    ALONG(tsr_argmax, NUMBERS, SPECIALS | COARSE, 0, make_argmax, ref_argmax),
    ALONG(tsr_cumsum, NUMBERS, SPECIALS, 2, make_along, ref_cumsum),
    ALONG(tsr_softmax, FLOATS, SPECIALS | NOT_GREATEST | ONCE, 1, make_along, ref_softmax),
    ALONG(tsr_logsumexp, FLOATS, SPECIALS | ONCE, 1, make_along, ref_logsumexp),
    REDUCE_AS(tsr_sum_as, SPECIALS, 0, 0, REF_SUM),
    REDUCE_AS(tsr_mean_as, SPECIALS, 0, 0, REF_MEAN),
    REDUCE_AS(tsr_prod_as, SPECIALS | BOTH_SIGNS, 0.75, 1.375, REF_PROD),
    {.call = "tsr_cumsum_as",
     .types = ALL_TYPES,
     .traits = SPECIALS,
     .roundings = 2,
     .make = make_along,
     .run = run_along,
     .want = want_cumsum_as,
     .by.along = tsr_cumsum_as_widened},
    ROW(tsr_layer_norm, FLOATS, SPECIALS | MULTILINEAR | ONCE, 1, layer_norm),
    ROW(tsr_rms_norm, FLOATS, SPECIALS | MULTILINEAR | ONCE, 1, rms_norm),
    ROW(tsr_cross_entropy, FLOATS, SPECIALS | ONCE, 1, ignored_default),
    ROW(tsr_cross_entropy_ignoring, FLOATS, SPECIALS | ONCE, 1, ignored_any),
};

const case_rows rows_of_reductions = {rows, COUNT(rows)};

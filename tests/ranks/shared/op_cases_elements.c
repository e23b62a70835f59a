/* Calls element by element, products, reductions, and what is made of them. */
#include <stdio.h>
#include <string.h>

#include "op_cases.h"
#include "ops/op.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- element by element ---- */

/* Whether the op has a kernel for an element type; ops of several rows are asked for floats only.
 */
static bool is_supported(const op_case *c, tsr_dtype dtype)
{
    const op_row *row = c->op->row != NULL ? op_find(c->op->row) : NULL;
    const op_type operands[] = {{.dtype = dtype}, {.dtype = dtype}, {.dtype = dtype}};
    const op_type result = {.dtype = dtype};
    const op_request request = {
        .row = row, .num_operands = 1, .operands = operands, .broadcasts = true};
    return row == NULL || (row->traits & OP_ELEMENTWISE) == 0 || row->fields != NULL ||
           row->supports == NULL || row->supports(&request, &result);
}

static void begin(op_case *c, rng *r)
{
    do {
        draw_case_type(c, r);
    } while (!is_supported(c, c->dtype));
}

static void make_unary(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    begin(c, r);
    const size_t rank = draw_shape(c, r, 3, shape);
    (void)add_operand(c, c->dtype, rank, shape);
}

static tsr_status run_unary(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return c->op->by.one(at->x[0], out);
}

/* An operand that broadcasts to a shape. */
static case_operand *add_broadcast(op_case *c, rng *r, tsr_dtype dtype, size_t rank,
                                   const int64_t *shape, bool whole)
{
    int64_t own[MAX_DIMS];
    const bool drops = rng_chance(r, 20);
    const size_t dropped = (size_t)rng_below(r, (int64_t)rank + 1);
    const size_t first = drops && !whole ? dropped : 0;
    for (size_t d = 0; d < rank; d++) {
        const bool one = rng_chance(r, 15);
        own[d] = one && !whole ? 1 : shape[d];
    }
    return add_operand(c, dtype, rank - first, own + first);
}

/* A divisor is a power of two, and not zero: a pending sum over zero is no number. */
static void keep_from_zero(op_case *c)
{
    case_operand *divisor = &c->operands[1];
    const bool is_unsigned = c->dtype >= TSR_U2 && c->dtype <= TSR_U64;
    divisor->powers = !is_unsigned;
    divisor->low = is_unsigned ? 1 : divisor->low;
}

static bool is_division(const op_maker *op)
{
    return op->row != NULL && (strcmp(op->row, "divide") == 0 || strcmp(op->row, "remainder") == 0);
}

static void make_binary(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    begin(c, r);
    const size_t rank = draw_shape(c, r, 3, shape);
    const int64_t whole = rng_below(r, 3);
    (void)add_broadcast(c, r, c->dtype, rank, shape, whole == 0);
    (void)add_broadcast(c, r, c->dtype, rank, shape, whole == 1);
    if (is_division(c->op)) {
        keep_from_zero(c);
    }
}

static tsr_status run_binary(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return c->op->by.two(at->x[0], at->x[1], out);
}

static void make_compare(fixture *f, op_case *c, rng *r)
{
    static const char *const names[] = {"TSR_EQ", "TSR_NE", "TSR_LT", "TSR_LE", "TSR_GT", "TSR_GE"};
    make_binary(f, c, r);
    c->variant = (int)rng_below(r, 6);
    add_argument(c, ", %s", names[c->variant]);
}

static tsr_status run_compare(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_compare(at->x[0], at->x[1], (tsr_comparison)c->variant, out);
}

static void make_select(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    begin(c, r);
    const size_t rank = draw_shape(c, r, 3, shape);
    (void)add_broadcast(c, r, TSR_I1, rank, shape, false);
    (void)add_broadcast(c, r, c->dtype, rank, shape, true);
    (void)add_broadcast(c, r, c->dtype, rank, shape, false);
}

static void make_clamp(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    begin(c, r);
    const size_t rank = draw_shape(c, r, 3, shape);
    (void)add_broadcast(c, r, c->dtype, rank, shape, false);
    (void)add_broadcast(c, r, c->dtype, rank, shape, true);
    (void)add_broadcast(c, r, c->dtype, rank, shape, false);
}

static tsr_status run_clamp(const op_case *c, const case_site *at, tsr_tensor **out)
{
    (void)c;
    return tsr_clamp(at->x[0], at->x[1], at->x[2], out);
}

static tsr_status run_select(const op_case *c, const case_site *at, tsr_tensor **out)
{
    (void)c;
    return tsr_select(at->x[0], at->x[1], at->x[2], out);
}

static void make_convert(fixture *f, op_case *c, rng *r)
{
    make_unary(f, c, r);
    c->dtype = draw_type(c, r, NUMBERS | TRUTH);
    add_argument(c, ", %s", tsr_dtype_name(c->dtype));
}

static tsr_status run_convert(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_convert(at->x[0], c->dtype, out);
}

/* ---- products ---- */

static void make_matmul(fixture *f, op_case *c, rng *r)
{
    int64_t e[4];
    (void)f;
    begin(c, r);
    for (size_t i = 0; i < 4; i++) {
        e[i] = draw_extent(c, r);
    }
    const int64_t b = e[0];
    const int64_t m = e[1];
    const int64_t k = e[2];
    const int64_t n = e[3];
    const struct {
        size_t ranks[2];
        int64_t shapes[2][3];
    } forms[] = {{{2, 2}, {{m, k}, {k, n}}},
                 {{2, 2}, {{m, k}, {k, n}}},
                 {{1, 2}, {{k}, {k, n}}},
                 {{2, 1}, {{m, k}, {k}}},
                 {{1, 1}, {{k}, {k}}},
                 {{3, 3}, {{b, m, k}, {b, k, n}}},
                 {{3, 2}, {{b, m, k}, {k, n}}},
                 {{2, 3}, {{m, k}, {b, k, n}}},
                 {{3, 3}, {{b, m, k}, {b, k, n}}},
                 {{3, 1}, {{b, m, k}, {k}}}};
    const size_t form = (size_t)rng_below(r, (int64_t)COUNT(forms));
    for (size_t i = 0; i < 2; i++) {
        (void)add_operand(c, c->dtype, forms[form].ranks[i], forms[form].shapes[i]);
    }
}

enum { LHS_BATCH, RHS_BATCH, LHS_CONTRACTING, RHS_CONTRACTING };

/* One side of a product: its batch, contracted and free dimensions in any order. */
static void add_side(op_case *c, rng *r, size_t side, const int64_t *sizes, size_t batch,
                     size_t contracting, size_t free)
{
    int64_t shape[MAX_DIMS];
    size_t order[MAX_DIMS];
    const size_t rank = batch + contracting + free;
    draw_order(r, rank, order);
    for (size_t i = 0; i < rank; i++) {
        shape[order[i]] = i < batch + contracting ? sizes[i] : sizes[3 + side];
        if (i < batch) {
            c->lists[LHS_BATCH + side].dims[c->lists[LHS_BATCH + side].count++] = order[i];
        } else if (i < batch + contracting) {
            case_dims *list = &c->lists[LHS_CONTRACTING + side];
            list->dims[list->count++] = order[i];
        }
    }
    (void)add_operand(c, c->dtype, rank, shape);
}

static void make_dot(fixture *f, op_case *c, rng *r)
{
    int64_t sizes[5];
    (void)f;
    begin(c, r);
    for (size_t i = 0; i < 5; i++) {
        sizes[i] = draw_extent(c, r);
    }
    const size_t batch = (size_t)rng_below(r, 2);
    const size_t contracting = (size_t)rng_below(r, 3);
    for (size_t side = 0; side < 2; side++) {
        const size_t free = (size_t)rng_below(r, 2);
        add_side(c, r, side, sizes, batch, contracting, free);
    }
    for (size_t i = 0; i < 4; i++) {
        add_dims(c, &c->lists[i]);
    }
}

static tsr_status run_dot(const op_case *c, const case_site *at, tsr_tensor **out)
{
    const tsr_dot_dims dims = {.num_batch = c->lists[LHS_BATCH].count,
                               .lhs_batch = c->lists[LHS_BATCH].dims,
                               .rhs_batch = c->lists[RHS_BATCH].dims,
                               .num_contracting = c->lists[LHS_CONTRACTING].count,
                               .lhs_contracting = c->lists[LHS_CONTRACTING].dims,
                               .rhs_contracting = c->lists[RHS_CONTRACTING].dims};
    return tsr_dot_general(at->x[0], at->x[1], &dims, out);
}

static void make_number(fixture *f, op_case *c, rng *r)
{
    make_unary(f, c, r);
    c->number = rng_below(r, 4);
    add_argument(c, ", %lld", (long long)c->number);
}

static tsr_status run_mul_number(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_mul_number(at->x[0], (double)c->number, out);
}

static tsr_status run_add_number(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_add_number(at->x[0], (double)c->number, out);
}

static void make_einsum(fixture *f, op_case *c, rng *r)
{
    static const char *const equations[] = {"ij,jk->ik",       "bij,bjk->bik",   "ij->ji",
                                            "ij->i",           "ij,ij->",        "i,j->ij",
                                            "ij,j->i",         "ij,jk,kl->il",   "ab,bc,ca->",
                                            "ijk->k",          "ij->",           "i,i,i->i",
                                            "bij,kj->ki",      "abc,cd->dab",    "ij,kl->ljik",
                                            "i,ij,j->",        "ab,cb,b->ca",    "abc->bca",
                                            "...ij,jk->...ik", "...i,...i->...", "i...,...i->i...",
                                            "...,...->..."};
    int64_t sizes[26];
    (void)f;
    begin(c, r);
    c->equation = equations[rng_below(r, (int64_t)COUNT(equations))];
    for (size_t i = 0; i < 26; i++) {
        sizes[i] = draw_extent(c, r);
    }
    const char *at = c->equation;
    while (*at != '-') {
        int64_t shape[MAX_DIMS];
        size_t rank = 0;
        for (; *at != ',' && *at != '-'; at++) {
            if (*at == '.') { /* the last dimensions of two, some of size 1 */
                for (size_t dots = (size_t)rng_below(r, 3); dots > 0; dots--) {
                    shape[rank++] = rng_chance(r, 25) ? 1 : sizes[26 - dots];
                }
                at += 2;
            } else {
                shape[rank++] = sizes[*at - 'a'];
            }
        }
        (void)add_operand(c, c->dtype, rank, shape);
        at += *at == ',';
    }
    add_argument(c, ", \"%s\"", c->equation);
}

static tsr_status run_einsum(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_einsum(c->equation, at->x, c->num_operands, out);
}

static void make_linear(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    begin(c, r);
    const size_t rank = 1 + (size_t)rng_below(r, 3);
    for (size_t d = 0; d < rank; d++) {
        shape[d] = draw_extent(c, r);
    }
    const int64_t weight[] = {draw_extent(c, r), shape[rank - 1]};
    (void)add_operand(c, c->dtype, rank, shape);
    (void)add_operand(c, c->dtype, 2, weight);
    if (rng_chance(r, 60)) {
        (void)add_operand(c, c->dtype, 1, weight);
    } else {
        add_argument(c, ", NULL");
    }
}

static tsr_status run_linear(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_linear(at->x[0], at->x[1], c->num_operands > 2 ? at->x[2] : NULL, out);
}

/* ---- reductions ---- */

static void make_reduction(fixture *f, op_case *c, rng *r)
{
    make_unary(f, c, r);
    size_t order[MAX_DIMS];
    case_dims *dims = &c->lists[0];
    draw_order(r, c->operands[0].rank, order);
    dims->count = (size_t)rng_below(r, (int64_t)c->operands[0].rank + 1);
    memcpy(dims->dims, order, dims->count * sizeof *order);
    add_dims(c, dims);
}

static tsr_status run_reduction(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return c->op->by.dims(at->x[0], c->lists[0].dims, c->lists[0].count, out);
}

static void make_along(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    begin(c, r);
    size_t rank = draw_shape(c, r, 3, shape);
    rank = rank > 0 ? rank : 1;
    c->dim = (size_t)rng_below(r, (int64_t)rank);
    (void)add_operand(c, c->dtype, rank, shape);
    add_argument(c, ", %zu", c->dim);
}

/* Of nothing there is no greatest. */
static void make_along_something(fixture *f, op_case *c, rng *r)
{
    make_along(f, c, r);
    int64_t *extent = &c->operands[0].shape[c->dim];
    *extent = *extent > 0 ? *extent : 1;
}

static tsr_status run_along(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return c->op->by.along(at->x[0], c->dim, out);
}

/* Sums and the like as f64. */
#define AS_F64(call)                                                                               \
    static tsr_status call##_f64(tsr_tensor *x, const size_t *dims, size_t count,                  \
                                 tsr_tensor **out)                                                 \
    {                                                                                              \
        return call(x, dims, count, TSR_F64, out);                                                 \
    }
AS_F64(tsr_sum_as)
AS_F64(tsr_mean_as)
AS_F64(tsr_prod_as)

static tsr_status tsr_cumsum_as_f64(tsr_tensor *x, size_t dim, tsr_tensor **out)
{
    return tsr_cumsum_as(x, dim, TSR_F64, out);
}

/* ---- of several ops ---- */

static void make_norm(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    const bool layer = strcmp(c->op->call, "tsr_layer_norm") == 0;
    (void)f;
    begin(c, r);
    size_t rank = draw_shape(c, r, 3, shape);
    rank = rank > 0 ? rank : 1;
    const int64_t most = layer ? 3 : 2;
    const size_t count = 1 + (size_t)rng_below(r, most);
    (void)add_operand(c, c->dtype, rank, shape);
    for (size_t i = 1; i < count; i++) {
        (void)add_operand(c, c->dtype, 1, &shape[rank - 1]);
    }
    add_argument(c, "%s, 0.5", count == 1 ? ", NULL .." : "");
}

static tsr_status run_layer_norm(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_layer_norm(at->x[0], c->num_operands > 1 ? at->x[1] : NULL,
                          c->num_operands > 2 ? at->x[2] : NULL, 0.5, out);
}

static tsr_status run_rms_norm(const op_case *c, const case_site *at, tsr_tensor **out)
{
    return tsr_rms_norm(at->x[0], c->num_operands > 1 ? at->x[1] : NULL, 0.5, out);
}

static void make_cross_entropy(fixture *f, op_case *c, rng *r)
{
    int64_t shape[MAX_DIMS];
    (void)f;
    begin(c, r);
    size_t rank = draw_shape(c, r, 3, shape);
    rank = rank > 0 ? rank : 1;
    shape[rank - 1] = shape[rank - 1] > 0 ? shape[rank - 1] : 1;
    (void)add_operand(c, c->dtype, rank, shape);
    case_operand *labels = add_indices(c, r, rank - 1, shape, shape[rank - 1] - 1);
    labels->low = 0;
}

static tsr_status run_ignoring(const op_case *c, const case_site *at, tsr_tensor **out)
{
    (void)c;
    return tsr_cross_entropy_ignoring(at->x[0], at->x[1], 1, out);
}

/* Element types, in the words of elementwise.def. */
enum { F = FLOATS, C = COMPLEX, I = INTEGERS, B = TRUTH };

#define OF_ONE(function, name, kinds)                                                              \
    .call = #function, .row = (name), .types = (kinds), .make = make_unary, .run = run_unary,      \
    .by.one = (function)
#define OF_TWO(function, name, kinds)                                                              \
    .call = #function, .row = (name), .types = (kinds), .make = make_binary, .run = run_binary,    \
    .by.two = (function)
#define REDUCTION(function, name, kinds)                                                           \
    .call = #function, .row = (name), .types = (kinds), .make = make_reduction,                    \
    .run = run_reduction, .by.dims = (function)
#define REDUCTION_AS(function, kinds)                                                              \
    .call = #function, .types = (kinds), .make = make_reduction, .run = run_reduction,             \
    .by.dims = function##_f64
#define ALONG(function, name, kinds)                                                               \
    .call = #function, .row = (name), .types = (kinds), .make = make_along, .run = run_along,      \
    .by.along = (function)

static const op_maker rows[] = {
#define UNARY(kernel, name, dialect, call, types, class, gradient) {OF_ONE(call, #name, types)},
#define BINARY(kernel, name, dialect, call, types, class, needs, of_x, of_y)                       \
    {OF_TWO(call, #name, types)},
#include "ops/elementwise.def"
#undef UNARY
#undef BINARY
    {OF_ONE(tsr_is_finite, "is_finite", F)},
    {.call = "tsr_clamp", .row = "clamp", .types = NUMBERS, .make = make_clamp, .run = run_clamp},
    {.call = "tsr_compare",
     .row = "compare",
     .types = NUMBERS | TRUTH,
     .make = make_compare,
     .run = run_compare},
    {.call = "tsr_select",
     .row = "select",
     .types = ALL_TYPES,
     .make = make_select,
     .run = run_select},
    {.call = "tsr_convert",
     .row = "convert",
     .types = NUMBERS | TRUTH,
     .make = make_convert,
     .run = run_convert},
    {.call = "tsr_mul_number", .types = NUMBERS, .make = make_number, .run = run_mul_number},
    {.call = "tsr_add_number", .types = NUMBERS, .make = make_number, .run = run_add_number},
    {.call = "tsr_matmul",
     .row = "dot_general",
     .types = NUMBERS | COMPLEX,
     .make = make_matmul,
     .run = run_binary,
     .by.two = tsr_matmul},
    {.call = "tsr_dot_general",
     .row = "dot_general",
     .types = NUMBERS | COMPLEX,
     .make = make_dot,
     .run = run_dot},
    {.call = "tsr_einsum", .types = WIDE_FLOATS | INTEGERS, .make = make_einsum, .run = run_einsum},
    {.call = "tsr_linear", .types = NUMBERS, .make = make_linear, .run = run_linear},
    {REDUCTION(tsr_sum, "fold", NUMBERS)},
    {REDUCTION(tsr_mean, "mean", FLOATS), .inexact = true},
    {REDUCTION(tsr_max, "fold", NUMBERS)},
    {REDUCTION(tsr_min, "fold", NUMBERS)},
    {REDUCTION(tsr_prod, "fold", WIDE_FLOATS | INTEGERS), .powers = true},
    {REDUCTION(tsr_all, "fold", INTEGERS | TRUTH)},
    {REDUCTION(tsr_any, "fold", INTEGERS | TRUTH)},
    {.call = "tsr_argmax",
     .types = NUMBERS,
     .make = make_along_something,
     .run = run_along,
     .by.along = tsr_argmax},
    {ALONG(tsr_cumsum, "cumulative", NUMBERS)},
    {REDUCTION_AS(tsr_sum_as, NUMBERS | TRUTH)},
    {REDUCTION_AS(tsr_mean_as, NUMBERS | TRUTH), .inexact = true},
    {REDUCTION_AS(tsr_prod_as, WIDE_FLOATS | INTEGERS | TRUTH), .powers = true},
    {.call = "tsr_cumsum_as",
     .types = NUMBERS | TRUTH,
     .make = make_along,
     .run = run_along,
     .by.along = tsr_cumsum_as_f64},
    {ALONG(tsr_softmax, NULL, FLOATS), .inexact = true},
    {ALONG(tsr_logsumexp, NULL, FLOATS), .inexact = true},
    {.call = "tsr_layer_norm",
     .types = FLOATS,
     .inexact = true,
     .make = make_norm,
     .run = run_layer_norm},
    {.call = "tsr_rms_norm",
     .types = FLOATS,
     .inexact = true,
     .make = make_norm,
     .run = run_rms_norm},
    {.call = "tsr_cross_entropy",
     .types = FLOATS,
     .inexact = true,
     .make = make_cross_entropy,
     .run = run_binary,
     .by.two = tsr_cross_entropy},
    {.call = "tsr_cross_entropy_ignoring",
     .types = FLOATS,
     .inexact = true,
     .make = make_cross_entropy,
     .run = run_ignoring},
};

const op_makers makers_of_elements = {rows, COUNT(rows)};

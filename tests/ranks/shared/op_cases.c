#include "op_cases.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ops/op.h"

static const op_makers *const tables[] = {&makers_of_elements, &makers_of_shapes,
                                          &makers_of_indices};
enum { TABLES = sizeof tables / sizeof tables[0] };

size_t op_makers_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < TABLES; i++) {
        count += tables[i]->count;
    }
    return count;
}

const op_maker *op_maker_at(size_t i)
{
    size_t table = 0;
    while (table + 1 < TABLES && i >= tables[table]->count) {
        i -= tables[table++]->count;
    }
    return &tables[table]->rows[i];
}

/* ---- drawing ---- */

bool is_low_type(tsr_dtype dtype)
{
    return dtype == TSR_BF16 || dtype == TSR_F16;
}

tsr_dtype draw_type(const op_case *c, rng *r, int types)
{
    static const struct {
        int type;
        tsr_dtype dtype;
    } turns[] = {{WIDE_FLOATS, TSR_F32},    {WIDE_FLOATS, TSR_F64},   {WIDE_FLOATS, TSR_F32},
                 {NARROW_FLOATS, TSR_BF16}, {NARROW_FLOATS, TSR_F16}, {INTEGERS, TSR_I32},
                 {INTEGERS, TSR_I64},       {INTEGERS, TSR_I8},       {INTEGERS, TSR_U8},
                 {INTEGERS, TSR_I16},       {INTEGERS, TSR_U32},      {INTEGERS, TSR_I32},
                 {TRUTH, TSR_I1},           {COMPLEX, TSR_C64}};
    enum { TURNS = sizeof turns / sizeof turns[0] };
    size_t i = (size_t)rng_below(r, TURNS);
    i = c->limits.plain_types ? 0 : i;
    i = c->limits.doubles ? 1 : i;
    while ((turns[i].type & types) == 0) {
        i = (i + 1) % TURNS;
    }
    return turns[i].dtype;
}

void draw_case_type(op_case *c, rng *r)
{
    c->dtype = draw_type(c, r, c->op->types);
    c->may_be_low = is_low_type(c->dtype);
}

int64_t draw_extent(const op_case *c, rng *r)
{
    static const int64_t extents[] = {0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 11, 12, 4, 6};
    const int64_t extent = extents[rng_below(r, (int64_t)(sizeof extents / sizeof extents[0]))];
    const int64_t most = c->may_be_low && c->limits.most_extent > 5 ? 5 : c->limits.most_extent;
    return extent < most ? extent : most;
}

size_t draw_shape(const op_case *c, rng *r, size_t most, int64_t *shape)
{
    const size_t rank = (size_t)rng_below(r, (int64_t)most + 1);
    for (size_t d = 0; d < most; d++) {
        shape[d] = draw_extent(c, r);
    }
    return rank;
}

static bool is_unsigned(tsr_dtype dtype)
{
    return dtype == TSR_I1 || (dtype >= TSR_U2 && dtype <= TSR_U64);
}

/* Whether an elementwise op of floats is no number for negative operands, as log is. */
static bool is_undefined_below_zero(const op_maker *op)
{
    const op_row *row = op->row != NULL ? op_find(op->row) : NULL;
    double x = -3.5;
    double y = 0;
    const tsr_view from = {.data = &x, .dtype = TSR_F64};
    const tsr_view to = {.data = &y, .dtype = TSR_F64};
    const op_array operands[] = {{.view = from}, {.view = from}};
    const op_array result = {.view = to};
    const op_type types[] = {{.dtype = TSR_F64}, {.dtype = TSR_F64}};
    const op_request request = {.row = row, .num_operands = 1, .operands = types};
    if (row == NULL || (row->traits & OP_ELEMENTWISE) == 0 || row->num_operands > 2 ||
        row->fields != NULL || !row->supports(&request, types)) {
        return false;
    }
    const op_call call = {.row = row, .operands = operands, .results = &result, .first = true};
    row->run(&call, NULL);
    return isnan(y);
}

case_operand *add_operand(op_case *c, tsr_dtype dtype, size_t rank, const int64_t *shape)
{
    case_operand *o = &c->operands[c->num_operands++];
    const bool given = c->op->low != 0 || c->op->high != 0;
    const op_row *row = c->op->row != NULL ? op_find(c->op->row) : NULL;
    const bool positive = is_undefined_below_zero(c->op);
    const int64_t most = row != NULL && row->num_operands > 1 ? 3 : 9; /* powers grow fast */
    *o = (case_operand){.dtype = dtype,
                        .rank = rank,
                        .low = given      ? c->op->low
                               : positive ? 1
                                          : -4,
                        .high = given      ? c->op->high
                                : positive ? most
                                           : 4,
                        .powers = c->op->powers && !is_unsigned(dtype)};
    memcpy(o->shape, shape, rank * sizeof *shape);
    if (is_low_type(dtype)) {
        o->low = o->low > -1 ? o->low : -1;
        o->high = o->high < o->low + 2 ? o->high : o->low + 2;
    }
    if (is_unsigned(dtype)) {
        o->low = o->low > 0 ? o->low : 0;
        o->high = dtype == TSR_I1 ? 1 : o->high;
    }
    return o;
}

case_operand *add_indices(op_case *c, rng *r, size_t rank, const int64_t *shape, int64_t extent)
{
    static const tsr_dtype types[] = {TSR_I32, TSR_I64, TSR_U8, TSR_I8};
    const tsr_dtype dtype = types[rng_below(r, 4)];
    case_operand *o = add_operand(c, c->limits.plain_types ? TSR_I32 : dtype, rank, shape);
    o->powers = false;
    o->low = is_unsigned(o->dtype) ? 0 : -1;
    o->high = extent;
    return o;
}

void add_argument(op_case *c, const char *format, ...)
{
    va_list arguments;
    const size_t length = strlen(c->arguments);
    va_start(arguments, format);
    (void)vsnprintf(c->arguments + length, sizeof c->arguments - length, format, arguments);
    va_end(arguments);
}

void add_list(op_case *c, const char *type, const int64_t *values, size_t count)
{
    add_argument(c, ", (%s[]){", type);
    for (size_t i = 0; i < count; i++) {
        add_argument(c, "%s%lld", i > 0 ? ", " : "", (long long)values[i]);
    }
    add_argument(c, "}");
}

void add_dims(op_case *c, const case_dims *dims)
{
    int64_t values[CASE_DIMS];
    for (size_t i = 0; i < dims->count; i++) {
        values[i] = (int64_t)dims->dims[i];
    }
    add_list(c, "size_t", values, dims->count);
    add_argument(c, ", %zu", dims->count);
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

/* ---- layouts ---- */

/* Whether a reduction of these elements can be pending, and exactly. */
static bool can_be_pending(const case_operand *o, tsr_reduction reduction)
{
    const bool floats = o->dtype == TSR_F32 || o->dtype == TSR_F64;
    switch (reduction) {
    case TSR_SUM:
        return o->dtype != TSR_I1;
    case TSR_AVG:
        return floats || o->dtype == TSR_C64;
    case TSR_PROD:
        return floats || o->dtype == TSR_I32 || o->dtype == TSR_I64;
    default:
        return o->dtype != TSR_C64;
    }
}

/* The same with a reduction pending over its replicated axes and those pending already. */
static const tsr_sharding *with_more_pending(fixture *f, const tsr_sharding *s)
{
    tsr_axis_ref axes[64];
    tsr_dim dims[MAX_DIMS];
    size_t counts[2];
    const tsr_axis_ref *replicated = tsr_sharding_replicated(s, &counts[0]);
    const tsr_axis_ref *unreduced = tsr_sharding_unreduced(s, &counts[1]);
    assert_true(counts[0] + counts[1] <= 64);
    for (size_t i = 0; i < counts[0] + counts[1]; i++) {
        axes[i] = i < counts[0] ? replicated[i] : unreduced[i - counts[0]];
    }
    for (size_t d = 0; d < tsr_sharding_rank(s); d++) {
        dims[d] = *tsr_sharding_dim(s, d);
    }
    const tsr_sharding_spec spec = {.mesh = tsr_sharding_mesh(s),
                                    .rank = tsr_sharding_rank(s),
                                    .dims = dims,
                                    .num_unreduced = counts[0] + counts[1],
                                    .unreduced = axes,
                                    .reduction = tsr_sharding_reduction(s)};
    const tsr_sharding *out = NULL;
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &out),
                     TSR_OK);
    return out;
}

static const tsr_sharding *draw_sharding(fixture *f, const op_case *c, rng *r, const tsr_mesh *mesh,
                                         const case_operand *o)
{
    const bool sub_axes = rng_chance(r, 60);
    const bool lists = rng_chance(r, 75);
    const bool layouts = rng_chance(r, 15);
    const sharding_limits limits = {.sub_axes = sub_axes && !c->limits.no_sub_axes,
                                    .lists = lists && !c->limits.no_lists,
                                    .ragged = layouts && !c->limits.no_layouts};
    const tsr_sharding *s = random_sharding(f, r, mesh, o->rank, o->shape, limits);
    s = rng_chance(r, 50) ? with_more_pending(f, s) : s;
    tsr_reduction reduction = tsr_sharding_reduction(s);
    if (!can_be_pending(o, reduction)) {
        reduction = can_be_pending(o, TSR_SUM) ? TSR_SUM : TSR_MAX;
    }
    return with_reduction(f, s, false, reduction);
}

static void lay_out(fixture *f, op_case *c, const rng *base)
{
    const size_t count = c->op->creates ? 1 : c->num_operands;
    for (size_t i = 0; i < count; i++) {
        case_operand *o = &c->operands[i];
        rng r = rng_case(base, 100 + i);
        const bool other = i > 0 && rng_chance(&r, 15) && !c->limits.plain_mesh;
        const tsr_mesh *mesh = other ? random_view(f, &r, c->mesh) : c->mesh;
        const bool like_first =
            i > 0 && o->rank == c->operands[0].rank &&
            memcmp(o->shape, c->operands[0].shape, o->rank * sizeof *o->shape) == 0 &&
            rng_chance(&r, 30);
        const tsr_sharding *drawn = draw_sharding(f, c, &r, mesh, o);
        assert_int_equal(
            tsr_sharding_replicated_over(f->ctx, f->arena, c->mesh, o->rank, false, &o->plain),
            TSR_OK);
        o->sharding = drawn;
        if (like_first && can_be_pending(o, tsr_sharding_reduction(c->operands[0].sharding))) {
            o->sharding = c->operands[0].sharding;
        }
        if ((c->limits.settled >> i & 1) != 0 || c->op->creates) {
            o->sharding = with_reduction(f, o->sharding, true, tsr_sharding_reduction(o->sharding));
        }
        o->sharding = (c->limits.replicated >> i & 1) != 0 ? o->plain : o->sharding;
    }
}

/* Where calls that are told a layout put their result. */
static void draw_target(fixture *f, op_case *c, const rng *base)
{
    rng r = rng_case(base, 300);
    const tsr_sharding *s = draw_sharding(f, c, &r, c->mesh, &c->operands[0]);
    c->target = with_reduction(f, s, true, TSR_SUM);
}

void op_case_make(fixture *f, const op_maker *op, uint64_t seed, const case_limits *limits,
                  op_case *out)
{
    static const tsr_strategy strategies[] = {TSR_STRATEGY_BASIC, TSR_STRATEGY_MOST_PARALLEL,
                                              TSR_STRATEGY_CHEAPEST};
    const rng base = {seed};
    rng r = rng_case(&base, 1);
    *out = (op_case){.op = op,
                     .seed = seed,
                     .limits = *limits,
                     .num_results = 1,
                     .strategy = TSR_STRATEGY_AGGRESSIVE};
    const bool other = rng_chance(&r, 45);
    const tsr_strategy strategy = strategies[rng_below(&r, 3)];
    out->strategy = other && !limits->plain_strategy ? strategy : out->strategy;
    out->mesh =
        random_mesh_of(f, &r, limits->ranks,
                       (mesh_limits){limits->ranks, !limits->plain_mesh, !limits->plain_mesh});
    rng own = rng_case(&base, 2);
    op->make(f, out, &own);
    lay_out(f, out, &base);
    draw_target(f, out, &base);
    out->num_operands = op->creates ? 0 : out->num_operands;
}

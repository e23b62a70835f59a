#include "instance.h"

#include <string.h>

#include "base/arena.h"
#include "ops/op_convolution.h"
#include "ops/op_create.h"
#include "ops/op_dot.h"
#include "ops/op_elementwise.h"
#include "ops/op_index.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"
#include "ops/op_slice.h"
#include "ops/op_sort.h"

/* ---- drawing ---- */

static int64_t draw_extent(rng *r)
{
    static const int64_t extents[] = {0, 1, 1, 2, 2, 3, 4, 4, 4, 5, 6, 7, 8, 12, 16, 24};
    return extents[rng_below(r, (int64_t)(sizeof extents / sizeof extents[0]))];
}

static int64_t *new_ints(const instance *i, size_t count)
{
    int64_t *ints = ARENA_ARRAY(i->arena, int64_t, count);
    assert_non_null(ints);
    return ints;
}

static op_type draw_type(const instance *i, rng *r, tsr_dtype dtype, size_t least, size_t most)
{
    const size_t rank = least + (size_t)rng_below(r, (int64_t)(most - least + 1));
    int64_t *shape = new_ints(i, rank);
    for (size_t d = 0; d < rank; d++) {
        shape[d] = d > 0 && rng_chance(r, 25) ? shape[d - 1] : draw_extent(r);
    }
    return (op_type){dtype, rank, shape};
}

static void add_operand(instance *i, op_type type)
{
    i->operands[i->num_operands++] = type;
}

/* A subset of 0 .. n-1, in order or in any. */
static op_ints draw_subset(const instance *i, rng *r, size_t n, int percent, bool sorted)
{
    int64_t *values = new_ints(i, n);
    size_t count = 0;
    for (size_t d = 0; d < n; d++) {
        if (rng_chance(r, percent)) {
            values[count++] = (int64_t)d;
        }
    }
    for (size_t k = count; !sorted && k > 1; k--) {
        const size_t j = (size_t)rng_below(r, (int64_t)k);
        const int64_t kept = values[k - 1];
        values[k - 1] = values[j];
        values[j] = kept;
    }
    return (op_ints){count, values};
}

/* ---- text ---- */

static void add_text(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add_text(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    const size_t length = strlen(to);
    va_start(arguments, format);
    /* The analyzer does not see va_start here. NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
     */
    const int written = vsnprintf(to + length, size - length, format, arguments);
    va_end(arguments);
    assert_true(written >= 0 && (size_t)written < size - length);
}

#define ATTRIBUTE(i, ...) add_text((i)->attributes, sizeof(i)->attributes, __VA_ARGS__)
#define REGION(i, ...) add_text((i)->region, sizeof(i)->region, __VA_ARGS__)

static void add_name(instance *i, const char *name)
{
    ATTRIBUTE(i, "%s%s = ", i->attributes[0] != '\0' ? ", " : "", name);
}

static void add_array(instance *i, const char *name, op_ints list)
{
    add_name(i, name);
    ATTRIBUTE(i, "array<i64");
    for (size_t k = 0; k < list.count; k++) {
        ATTRIBUTE(i, "%s%lld", k > 0 ? ", " : ": ", (long long)list.values[k]);
    }
    ATTRIBUTE(i, ">");
}

static void add_number(instance *i, const char *name, int64_t value)
{
    add_name(i, name);
    ATTRIBUTE(i, "%lld : i64", (long long)value);
}

/* A list inside of a dimension numbers attribute; empty ones are left out. */
static void add_dims(instance *i, const char *name, op_ints list, bool *first)
{
    if (list.count == 0) {
        return;
    }
    ATTRIBUTE(i, "%s%s = [", *first ? "" : ", ", name);
    for (size_t k = 0; k < list.count; k++) {
        ATTRIBUTE(i, "%s%lld", k > 0 ? ", " : "", (long long)list.values[k]);
    }
    ATTRIBUTE(i, "]");
    *first = false;
}

/* ---- regions ---- */

static const char *body_name(op_body body)
{
    static const char *const names[OP_BODY_COUNT] = {[OP_BODY_OPAQUE] = "subtract",
                                                     [OP_BODY_SUM] = "add",
                                                     [OP_BODY_PROD] = "multiply",
                                                     [OP_BODY_MAX] = "maximum",
                                                     [OP_BODY_MIN] = "minimum",
                                                     [OP_BODY_AND] = "and",
                                                     [OP_BODY_OR] = "or"};
    return names[body];
}

/* A combiner of n pairs: of values so far and of new ones. */
static void print_combiner(instance *i, op_body body, size_t n, tsr_dtype dtype)
{
    REGION(i, "^bb0(");
    for (size_t k = 0; k < 2 * n; k++) {
        REGION(i, "%s%%b%zu: tensor<%s>", k > 0 ? ", " : "", k, tsr_dtype_name(dtype));
    }
    REGION(i, "):\n");
    for (size_t k = 0; k < n && body != OP_BODY_SECOND; k++) {
        REGION(i, "      %%r%zu = stablehlo.%s %%b%zu, %%b%zu : tensor<%s>\n", k, body_name(body),
               k, k + n, tsr_dtype_name(dtype));
    }
    REGION(i, "      \"stablehlo.return\"(");
    for (size_t k = 0; k < n; k++) {
        REGION(i, "%s%%%s%zu", k > 0 ? ", " : "", body == OP_BODY_SECOND ? "b" : "r",
               body == OP_BODY_SECOND ? k + n : k);
    }
    REGION(i, ") : (");
    for (size_t k = 0; k < n; k++) {
        REGION(i, "%stensor<%s>", k > 0 ? ", " : "", tsr_dtype_name(dtype));
    }
    REGION(i, ") -> ()");
}

/* A known combiner or, as the opaque one, subtraction. */
static op_body draw_combiner(rng *r, tsr_dtype dtype)
{
    static const op_body numbers[] = {OP_BODY_OPAQUE, OP_BODY_SUM, OP_BODY_PROD, OP_BODY_MAX,
                                      OP_BODY_MIN};
    static const op_body bits[] = {OP_BODY_AND, OP_BODY_OR, OP_BODY_MAX, OP_BODY_SUM};
    if (dtype == TSR_I1 || (dtype == TSR_I32 && rng_chance(r, 50))) {
        return bits[rng_below(r, 4)];
    }
    return numbers[rng_below(r, 5)];
}

/* ---- elementwise ---- */

static bool is_defined(fixture *f, const op_row *row, tsr_dtype dtype)
{
    op_type results[1];
    const op_type operands[] = {{.dtype = dtype}, {.dtype = dtype}, {.dtype = dtype}};
    const op_request r = {.ctx = f->ctx,
                          .arena = f->arena,
                          .call = row->name,
                          .row = row,
                          .num_operands = row->num_operands,
                          .operands = operands};
    const bool defined = row->types(&r, results) == TSR_OK;
    tsr_context_clear(f->ctx);
    return defined;
}

static void draw_elementwise(fixture *f, instance *i, rng *r)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_I32, TSR_F64, TSR_C64, TSR_I1};
    size_t at = (size_t)rng_below(r, 6);
    while (!is_defined(f, i->row, dtypes[at])) {
        at = (at + 1) % 6;
    }
    const op_type type = draw_type(i, r, dtypes[at], 0, 4);
    for (size_t k = 0; k < i->row->num_operands; k++) {
        add_operand(i, type);
    }
}

static void draw_compare(fixture *f, instance *i, rng *r)
{
    static const char *const names[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
    compare_params *p = ARENA_NEW(i->arena, compare_params);
    (void)f;
    p->comparison_direction = (int32_t)rng_below(r, 6);
    i->params = p;
    add_name(i, "comparison_direction");
    ATTRIBUTE(i, "#stablehlo<comparison_direction %s>", names[p->comparison_direction]);
    const op_type type = draw_type(i, r, TSR_F32, 0, 4);
    add_operand(i, type);
    add_operand(i, type);
}

static void draw_select(fixture *f, instance *i, rng *r)
{
    const op_type type = draw_type(i, r, TSR_F32, 0, 4);
    (void)f;
    op_type predicate = {TSR_I1, type.rank, type.shape};
    predicate.rank = rng_chance(r, 40) ? 0 : predicate.rank;
    add_operand(i, predicate);
    add_operand(i, type);
    add_operand(i, type);
}

static void draw_clamp(fixture *f, instance *i, rng *r)
{
    const op_type type = draw_type(i, r, TSR_F32, 0, 4);
    op_type bounds[] = {type, type};
    (void)f;
    for (size_t k = 0; k < 2; k++) {
        bounds[k].rank = rng_chance(r, 40) ? 0 : type.rank;
    }
    add_operand(i, bounds[0]);
    add_operand(i, type);
    add_operand(i, bounds[1]);
}

static void draw_convert(fixture *f, instance *i, rng *r)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_I32, TSR_I1, TSR_C64};
    convert_params *p = ARENA_NEW(i->arena, convert_params);
    (void)f;
    p->result = dtypes[rng_below(r, 5)];
    i->params = p;
    add_operand(i, draw_type(i, r, dtypes[rng_below(r, 4)], 0, 4));
}

/* ---- reductions, products ---- */

static void draw_reduce(fixture *f, instance *i, rng *r)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_I32, TSR_I1};
    const size_t n = 1 + (size_t)rng_below(r, 3);
    const tsr_dtype dtype = dtypes[rng_below(r, 3)];
    const op_type type = draw_type(i, r, dtype, 0, 4);
    reduce_params *p = ARENA_NEW(i->arena, reduce_params);
    (void)f;
    *p = (reduce_params){.dimensions = draw_subset(i, r, type.rank, 45, true),
                         .body = {.body = draw_combiner(r, dtype)}};
    i->params = p;
    add_array(i, "dimensions", p->dimensions);
    print_combiner(i, p->body.body, n, dtype);
    for (size_t k = 0; k < n; k++) {
        add_operand(i, type);
    }
    for (size_t k = 0; k < n; k++) {
        add_operand(i, (op_type){.dtype = dtype});
    }
}

static void draw_fold(fixture *f, instance *i, rng *r)
{
    static const op_body bodies[] = {OP_BODY_SUM, OP_BODY_PROD, OP_BODY_MAX, OP_BODY_MIN};
    const op_type type = draw_type(i, r, TSR_F32, 0, 4);
    reduce_params *p = ARENA_NEW(i->arena, reduce_params);
    (void)f;
    *p = (reduce_params){.dimensions = draw_subset(i, r, type.rank, 45, true),
                         .body = {.body = bodies[rng_below(r, 4)]}};
    i->params = p;
    add_operand(i, type);
}

static void draw_mean(fixture *f, instance *i, rng *r)
{
    const op_type type = draw_type(i, r, TSR_F32, 0, 4);
    mean_params *p = ARENA_NEW(i->arena, mean_params);
    (void)f;
    p->dimensions = draw_subset(i, r, type.rank, 45, true);
    i->params = p;
    add_operand(i, type);
}

static void draw_cumulative(fixture *f, instance *i, rng *r)
{
    const op_type type = draw_type(i, r, TSR_F32, 1, 4);
    cumulative_params *p = ARENA_NEW(i->arena, cumulative_params);
    (void)f;
    *p = (cumulative_params){.dimension = rng_below(r, (int64_t)type.rank),
                             .body = {.body = OP_BODY_SUM}};
    i->params = p;
    add_operand(i, type);
}

/* The dimensions of one side of a product, in any order; those shared have given sizes. */
static op_type draw_side(const instance *i, rng *r, const int64_t *shared, size_t batch,
                         size_t contracting, int64_t *dims)
{
    const size_t rank = batch + contracting + (size_t)rng_below(r, 3);
    const op_ints order = draw_subset(i, r, rank, 100, false);
    int64_t *shape = new_ints(i, rank);
    for (size_t k = 0; k < rank; k++) {
        shape[order.values[k]] = k < batch + contracting ? shared[k] : draw_extent(r);
        dims[k] = order.values[k];
    }
    return (op_type){TSR_F32, rank, shape};
}

static void draw_dot(fixture *f, instance *i, rng *r)
{
    const size_t batch = (size_t)rng_below(r, 3);
    const size_t contracting = (size_t)rng_below(r, 3);
    int64_t *dims[2] = {new_ints(i, 8), new_ints(i, 8)};
    int64_t shared[4];
    dot_params *p = ARENA_NEW(i->arena, dot_params);
    bool first = true;
    (void)f;
    for (size_t k = 0; k < 4; k++) {
        shared[k] = draw_extent(r);
    }
    for (size_t side = 0; side < 2; side++) {
        add_operand(i, draw_side(i, r, shared, batch, contracting, dims[side]));
    }
    *p = (dot_params){.lhs_batching_dimensions = {batch, dims[0]},
                      .rhs_batching_dimensions = {batch, dims[1]},
                      .lhs_contracting_dimensions = {contracting, dims[0] + batch},
                      .rhs_contracting_dimensions = {contracting, dims[1] + batch}};
    i->params = p;
    add_name(i, "dot_dimension_numbers");
    ATTRIBUTE(i, "#stablehlo.dot<");
    add_dims(i, "lhs_batching_dimensions", p->lhs_batching_dimensions, &first);
    add_dims(i, "rhs_batching_dimensions", p->rhs_batching_dimensions, &first);
    add_dims(i, "lhs_contracting_dimensions", p->lhs_contracting_dimensions, &first);
    add_dims(i, "rhs_contracting_dimensions", p->rhs_contracting_dimensions, &first);
    ATTRIBUTE(i, ">");
}

/* ---- shapes ---- */

/* Another shape of as many elements: factors are split off, joined, and ones put in. */
static op_type draw_reshaped(const instance *i, rng *r, const op_type *from)
{
    int64_t factors[24];
    size_t count = 0;
    for (size_t d = 0; d < from->rank; d++) {
        int64_t rest = from->shape[d];
        for (int64_t prime = 2; prime <= 7 && rest > 1; prime++) {
            while (rest % prime == 0 && rng_chance(r, 60)) {
                factors[count++] = prime;
                rest /= prime;
            }
        }
        factors[count++] = rest;
    }
    int64_t *shape = new_ints(i, 2 * count + 2);
    size_t rank = 0;
    for (size_t k = 0; k < count; k++) {
        const size_t at =
            rng_chance(r, 15) && count > 1 ? k + (size_t)rng_below(r, (int64_t)(count - k)) : k;
        const int64_t kept = factors[k];
        factors[k] = factors[at];
        factors[at] = kept;
        if (rank > 0 && rng_chance(r, 45)) {
            shape[rank - 1] *= factors[k];
        } else if (factors[k] != 1 || rng_chance(r, 50)) {
            shape[rank++] = factors[k];
        }
        if (rng_chance(r, 10)) {
            shape[rank++] = 1;
        }
    }
    return (op_type){from->dtype, rank, shape};
}

static void draw_reshape(fixture *f, instance *i, rng *r)
{
    reshape_params *p = ARENA_NEW(i->arena, reshape_params);
    const op_type type = draw_type(i, r, TSR_F32, 0, 4);
    (void)f;
    p->result = draw_reshaped(i, r, &type);
    i->params = p;
    add_operand(i, type);
}

static void draw_transpose(fixture *f, instance *i, rng *r)
{
    transpose_params *p = ARENA_NEW(i->arena, transpose_params);
    const op_type type = draw_type(i, r, TSR_F32, 0, 5);
    (void)f;
    p->permutation = draw_subset(i, r, type.rank, 100, false);
    i->params = p;
    add_array(i, "permutation", p->permutation);
    add_operand(i, type);
}

static void draw_broadcast(fixture *f, instance *i, rng *r)
{
    broadcast_params *p = ARENA_NEW(i->arena, broadcast_params);
    const op_type to = draw_type(i, r, TSR_F32, 0, 5);
    const op_ints dims = draw_subset(i, r, to.rank, 60, rng_chance(r, 60));
    int64_t *shape = new_ints(i, dims.count);
    (void)f;
    for (size_t d = 0; d < dims.count; d++) {
        shape[d] = rng_chance(r, 25) ? 1 : to.shape[dims.values[d]];
    }
    *p = (broadcast_params){.broadcast_dimensions = dims, .result = to};
    i->params = p;
    add_array(i, "broadcast_dimensions", dims);
    add_operand(i, (op_type){TSR_F32, dims.count, shape});
}

static void draw_slice(fixture *f, instance *i, rng *r)
{
    slice_params *p = ARENA_NEW(i->arena, slice_params);
    const op_type type = draw_type(i, r, TSR_F32, 0, 4);
    int64_t *lists[] = {new_ints(i, 4), new_ints(i, 4), new_ints(i, 4)};
    (void)f;
    for (size_t d = 0; d < type.rank; d++) {
        const bool all = rng_chance(r, 40);
        lists[0][d] = all ? 0 : rng_below(r, type.shape[d] + 1);
        lists[1][d] =
            all ? type.shape[d] : lists[0][d] + rng_below(r, type.shape[d] - lists[0][d] + 1);
        lists[2][d] = rng_chance(r, 70) ? 1 : 1 + rng_below(r, 3);
    }
    *p = (slice_params){.start_indices = {type.rank, lists[0]},
                        .limit_indices = {type.rank, lists[1]},
                        .strides = {type.rank, lists[2]}};
    i->params = p;
    add_array(i, "start_indices", p->start_indices);
    add_array(i, "limit_indices", p->limit_indices);
    add_array(i, "strides", p->strides);
    add_operand(i, type);
}

/* Operands may be slices of function arguments, or those themselves. */
static void draw_concatenate(fixture *f, instance *i, rng *r)
{
    concatenate_params *p = ARENA_NEW(i->arena, concatenate_params);
    const op_type type = draw_type(i, r, TSR_F32, 1, 4);
    const size_t n = 1 + (size_t)rng_below(r, 4);
    const bool one_source = rng_chance(r, 50);
    const int slices = rng_chance(r, 40) ? 100 : 50;
    const bool any_slices = rng_chance(r, 60);
    (void)f;
    p->dimension = rng_below(r, (int64_t)type.rank);
    i->params = p;
    add_number(i, "dimension", p->dimension);
    i->facts.operands = i->operand_facts;
    for (size_t k = 0; k < n; k++) {
        const bool slice = any_slices && rng_chance(r, slices);
        int64_t *shape = new_ints(i, type.rank);
        int64_t *whole = new_ints(i, type.rank);
        memcpy(shape, type.shape, type.rank * sizeof *shape);
        memcpy(whole, type.shape, type.rank * sizeof *whole);
        const size_t source = one_source ? 0 : k;
        if (slice) {
            shape[p->dimension] = rng_below(r, type.shape[p->dimension] + 1);
        }
        add_operand(i, (op_type){TSR_F32, type.rank, shape});
        i->slice_of[k] = slice ? source : NO_SLICE;
        i->operand_facts[k] = (op_operand_fact){.is_slice = slice, .source = (uint32_t)source};
        i->arguments[source] = (op_type){TSR_F32, type.rank, whole};
        i->num_arguments = source + 1;
    }
}

static void draw_pad(fixture *f, instance *i, rng *r)
{
    pad_params *p = ARENA_NEW(i->arena, pad_params);
    const op_type type = draw_type(i, r, TSR_F32, 0, 4);
    int64_t *lists[] = {new_ints(i, 4), new_ints(i, 4), new_ints(i, 4)};
    (void)f;
    for (size_t d = 0; d < type.rank; d++) {
        const bool none = rng_chance(r, 40);
        const int64_t interior = rng_chance(r, 70) ? 0 : rng_below(r, 3);
        const int64_t rows = type.shape[d] + (type.shape[d] > 0 ? type.shape[d] - 1 : 0) * interior;
        const int64_t low = rng_below(r, 5) - (rows > 1 ? 1 : 0);
        const int64_t high = rng_chance(r, 30) && rows >= low ? -low : rng_below(r, 4);
        lists[0][d] = none ? 0 : low;
        lists[1][d] = none ? 0 : high;
        lists[2][d] = none ? 0 : interior;
    }
    *p = (pad_params){.edge_padding_low = {type.rank, lists[0]},
                      .edge_padding_high = {type.rank, lists[1]},
                      .interior_padding = {type.rank, lists[2]}};
    i->params = p;
    add_array(i, "edge_padding_low", p->edge_padding_low);
    add_array(i, "edge_padding_high", p->edge_padding_high);
    add_array(i, "interior_padding", p->interior_padding);
    add_operand(i, type);
    add_operand(i, (op_type){.dtype = TSR_F32});
}

/* ---- indices ---- */

/* The shapes and dimension numbers of a gather or scatter. */
typedef struct drawn_windows {
    window_dims dims;
    op_type input;
    op_type indices;
    op_type slices;
    int64_t *sizes; /* of a slice, by dimensions of the input */
} drawn_windows;

static bool has(op_ints list, size_t dim)
{
    return op_ints_have(list, dim);
}

static drawn_windows draw_windows(instance *i, rng *r, tsr_dtype dtype)
{
    drawn_windows w = {.input = draw_type(i, r, dtype, 1, 4)};
    const size_t rank = w.input.rank;
    const size_t num_batching = (size_t)rng_below(r, rank > 1 ? 2 : 1);
    int64_t *batching = new_ints(i, 4);
    int64_t *collapsed = new_ints(i, 4);
    size_t num_collapsed = 0;
    for (size_t k = 0; k < num_batching; k++) {
        batching[k] = (int64_t)k;
    }
    w.dims.input_batching = (op_ints){num_batching, batching};
    w.sizes = new_ints(i, rank);
    for (size_t d = num_batching; d < rank; d++) {
        if (rng_chance(r, 45)) {
            collapsed[num_collapsed++] = (int64_t)d;
        }
    }
    w.dims.collapsed = (op_ints){num_collapsed, collapsed};
    for (size_t d = 0; d < rank; d++) {
        const int64_t all = w.input.shape[d];
        const bool single = d < num_batching || has(w.dims.collapsed, d);
        w.sizes[d] = single              ? min_i64(all, 1)
                     : rng_chance(r, 50) ? all
                     : rng_chance(r, 50) ? min_i64(all, 1)
                                         : rng_below(r, all + 1);
    }
    /* What is indexed: not the batches. */
    int64_t *map = new_ints(i, rank);
    size_t num_map = 0;
    for (size_t d = num_batching; d < rank; d++) {
        if (rng_chance(r, 60)) {
            map[num_map++] = (int64_t)d;
        }
    }
    w.dims.index_map = (op_ints){num_map, map};
    /* Indices: batches first, then others, with the vector somewhere or nowhere. */
    const size_t others = num_batching + (size_t)rng_below(r, 3);
    const bool has_vector = num_map != 1 || rng_chance(r, 60);
    const size_t vector = has_vector ? (size_t)rng_below(r, (int64_t)others + 1) : others;
    int64_t *shape = new_ints(i, others + 1);
    int64_t *indices_batching = new_ints(i, 4);
    size_t batch = 0;
    for (size_t x = 0; x < others + has_vector; x++) {
        if (has_vector && x == vector) {
            shape[x] = (int64_t)num_map;
            continue;
        }
        shape[x] = batch < num_batching ? w.input.shape[batch] : draw_extent(r);
        if (batch < num_batching) {
            indices_batching[batch] = (int64_t)x;
        }
        batch++;
    }
    w.indices = (op_type){TSR_I32, others + has_vector, shape};
    w.dims.indices_batching = (op_ints){num_batching, indices_batching};
    w.dims.index_vector_dim = (int64_t)vector;
    /* Slices: windows and batches mixed. */
    const size_t num_windows = rank - num_batching - num_collapsed;
    const size_t slices_rank = num_windows + others;
    int64_t *window = new_ints(i, 8);
    int64_t *slice_shape = new_ints(i, slices_rank);
    size_t windows = 0;
    size_t c = 0;
    batch = 0;
    for (size_t s = 0; s < slices_rank; s++) {
        const bool take = windows < num_windows && (batch == others || rng_chance(r, 50));
        if (take) {
            while (c < num_batching || has(w.dims.collapsed, c)) {
                c++;
            }
            window[windows++] = (int64_t)s;
            slice_shape[s] = w.sizes[c++];
        } else {
            const size_t x = batch < vector || !has_vector ? batch : batch + 1;
            slice_shape[s] = shape[x];
            batch++;
        }
    }
    w.dims.window = (op_ints){windows, window};
    w.slices = (op_type){dtype, slices_rank, slice_shape};
    return w;
}

static void draw_gather(fixture *f, instance *i, rng *r)
{
    const drawn_windows w = draw_windows(i, r, TSR_F32);
    gather_params *p = ARENA_NEW(i->arena, gather_params);
    bool first = true;
    (void)f;
    *p = gather_of_windows(&w.dims, (op_ints){w.input.rank, w.sizes});
    i->params = p;
    add_name(i, "dimension_numbers");
    ATTRIBUTE(i, "#stablehlo.gather<");
    add_dims(i, "offset_dims", p->offset_dims, &first);
    add_dims(i, "collapsed_slice_dims", p->collapsed_slice_dims, &first);
    add_dims(i, "operand_batching_dims", p->operand_batching_dims, &first);
    add_dims(i, "start_indices_batching_dims", p->start_indices_batching_dims, &first);
    add_dims(i, "start_index_map", p->start_index_map, &first);
    ATTRIBUTE(i, "%sindex_vector_dim = %lld>", first ? "" : ", ", (long long)p->index_vector_dim);
    add_array(i, "slice_sizes", p->slice_sizes);
    add_operand(i, w.input);
    add_operand(i, w.indices);
}

static void draw_scatter(fixture *f, instance *i, rng *r)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_I32, TSR_I1};
    const tsr_dtype dtype = dtypes[rng_below(r, 3)];
    const drawn_windows w = draw_windows(i, r, dtype);
    const size_t n = 1 + (size_t)rng_below(r, 3);
    const op_body body = rng_chance(r, 25) ? OP_BODY_SECOND : draw_combiner(r, dtype);
    scatter_params *p = ARENA_NEW(i->arena, scatter_params);
    bool first = true;
    (void)f;
    *p = scatter_of_windows(&w.dims, body);
    i->params = p;
    add_name(i, "scatter_dimension_numbers");
    ATTRIBUTE(i, "#stablehlo.scatter<");
    add_dims(i, "update_window_dims", p->update_window_dims, &first);
    add_dims(i, "inserted_window_dims", p->inserted_window_dims, &first);
    add_dims(i, "input_batching_dims", p->input_batching_dims, &first);
    add_dims(i, "scatter_indices_batching_dims", p->scatter_indices_batching_dims, &first);
    add_dims(i, "scatter_dims_to_operand_dims", p->scatter_dims_to_operand_dims, &first);
    ATTRIBUTE(i, "%sindex_vector_dim = %lld>", first ? "" : ", ", (long long)p->index_vector_dim);
    print_combiner(i, body, n, dtype);
    for (size_t k = 0; k < n; k++) {
        add_operand(i, w.input);
    }
    add_operand(i, w.indices);
    for (size_t k = 0; k < n; k++) {
        add_operand(i, w.slices);
    }
}

/* ---- sort, iota, convolution ---- */

static void draw_sort(fixture *f, instance *i, rng *r)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_I32};
    const size_t n = 1 + (size_t)rng_below(r, 3);
    const op_type type = draw_type(i, r, TSR_F32, 1, 4);
    sort_params *p = ARENA_NEW(i->arena, sort_params);
    const int64_t rank = (int64_t)type.rank;
    (void)f;
    *p = (sort_params){.dimension = rng_below(r, rank), .comparator = {.body = OP_BODY_LESS}};
    p->dimension -= rng_chance(r, 20) ? rank : 0;
    i->params = p;
    add_number(i, "dimension", p->dimension);
    REGION(i, "^bb0(");
    for (size_t k = 0; k < n; k++) {
        op_type operand = type;
        operand.dtype = dtypes[rng_below(r, 2)];
        add_operand(i, operand);
        REGION(i, "%s%%b%zu: tensor<%s>, %%b%zu: tensor<%s>", k > 0 ? ", " : "", 2 * k,
               tsr_dtype_name(operand.dtype), 2 * k + 1, tsr_dtype_name(operand.dtype));
    }
    REGION(i,
           "):\n      %%r = stablehlo.compare LT, %%b0, %%b1 : (tensor<%s>, tensor<%s>) -> "
           "tensor<i1>\n      \"stablehlo.return\"(%%r) : (tensor<i1>) -> ()",
           tsr_dtype_name(i->operands[0].dtype), tsr_dtype_name(i->operands[0].dtype));
}

static void draw_argsort(fixture *f, instance *i, rng *r)
{
    const op_type type = draw_type(i, r, TSR_F32, 1, 4);
    argsort_params *p = ARENA_NEW(i->arena, argsort_params);
    (void)f;
    *p = (argsort_params){.dimension = rng_below(r, (int64_t)type.rank),
                          .descending = rng_chance(r, 50)};
    i->params = p;
    add_operand(i, type);
}

static void draw_top_k(fixture *f, instance *i, rng *r)
{
    const op_type type = draw_type(i, r, TSR_F32, 1, 4);
    top_k_params *p = ARENA_NEW(i->arena, top_k_params);
    (void)f;
    p->dimension = rng_below(r, (int64_t)type.rank);
    p->k = rng_below(r, type.shape[p->dimension] + 1);
    i->params = p;
    add_operand(i, type);
}

static void draw_random(fixture *f, instance *i, rng *r)
{
    random_params *p = ARENA_NEW(i->arena, random_params);
    (void)f;
    *p = (random_params){.distribution = (int32_t)rng_below(r, 3),
                         .key = rng_below(r, 100),
                         .result = draw_type(i, r, TSR_F32, 0, 4)};
    i->params = p;
}

static void draw_iota(fixture *f, instance *i, rng *r)
{
    iota_params *p = ARENA_NEW(i->arena, iota_params);
    (void)f;
    p->result = draw_type(i, r, TSR_I32, 1, 4);
    p->iota_dimension = rng_below(r, (int64_t)p->result.rank);
    i->params = p;
    add_number(i, "iota_dimension", p->iota_dimension);
}

/* The dimensions of one tensor of a convolution: two by letters, the others by numbers. */
static void print_conv_dims(instance *i, int64_t first, char a, int64_t second, char b,
                            op_ints spatial)
{
    const size_t rank = spatial.count + 2;
    ATTRIBUTE(i, "[");
    for (size_t d = 0; d < rank; d++) {
        ATTRIBUTE(i, "%s", d > 0 ? ", " : "");
        if ((int64_t)d == first || (int64_t)d == second) {
            ATTRIBUTE(i, "%c", (int64_t)d == first ? a : b);
            continue;
        }
        for (size_t k = 0; k < spatial.count; k++) {
            if (spatial.values[k] == (int64_t)d) {
                ATTRIBUTE(i, "%zu", k);
            }
        }
    }
    ATTRIBUTE(i, "]");
}

static void draw_convolution(fixture *f, instance *i, rng *r)
{
    const size_t n = (size_t)rng_below(r, 3);
    const size_t rank = n + 2;
    convolution_params *p = ARENA_NEW(i->arena, convolution_params);
    const op_ints orders[] = {draw_subset(i, r, rank, 100, false),
                              draw_subset(i, r, rank, 100, false),
                              draw_subset(i, r, rank, 100, false)};
    int64_t *lists[] = {new_ints(i, n), new_ints(i, 2 * n), new_ints(i, n), new_ints(i, n)};
    int64_t *input = new_ints(i, rank);
    int64_t *kernel = new_ints(i, rank);
    const bool grouped = rng_chance(r, 40);
    const bool by_batch = rng_chance(r, 50);
    const int64_t groups = grouped ? 1 + rng_below(r, 3) : 1;
    (void)f;
    *p = (convolution_params){.input_batch_dimension = orders[0].values[0],
                              .input_feature_dimension = orders[0].values[1],
                              .input_spatial_dimensions = {n, orders[0].values + 2},
                              .kernel_output_feature_dimension = orders[1].values[0],
                              .kernel_input_feature_dimension = orders[1].values[1],
                              .kernel_spatial_dimensions = {n, orders[1].values + 2},
                              .output_batch_dimension = orders[2].values[0],
                              .output_feature_dimension = orders[2].values[1],
                              .output_spatial_dimensions = {n, orders[2].values + 2},
                              .feature_group_count = by_batch ? 1 : groups,
                              .batch_group_count = by_batch ? groups : 1};
    const int64_t each = 1 + rng_below(r, 4);
    input[p->input_batch_dimension] = (1 + rng_below(r, 4)) * p->batch_group_count;
    input[p->input_feature_dimension] = each * p->feature_group_count;
    kernel[p->kernel_input_feature_dimension] = each;
    kernel[p->kernel_output_feature_dimension] = (1 + rng_below(r, 4)) * groups;
    for (size_t k = 0; k < n; k++) {
        const int64_t window = 1 + rng_below(r, 4);
        kernel[p->kernel_spatial_dimensions.values[k]] = window;
        lists[0][k] = rng_chance(r, 40) ? window : 1 + rng_below(r, 2);
        input[p->input_spatial_dimensions.values[k]] =
            rng_chance(r, 40) ? window * (1 + rng_below(r, 4)) : 1 + rng_below(r, 12);
        lists[1][2 * k] = rng_chance(r, 70) ? 0 : rng_below(r, 3);
        lists[1][2 * k + 1] = rng_chance(r, 70) ? 0 : rng_below(r, 3);
        lists[2][k] = rng_chance(r, 80) ? 1 : 2;
        lists[3][k] = rng_chance(r, 80) ? 1 : 2;
    }
    p->window_strides = (op_ints){n, lists[0]};
    p->padding = (op_ints){2 * n, lists[1]};
    p->lhs_dilation = (op_ints){n, lists[2]};
    p->rhs_dilation = (op_ints){n, lists[3]};
    i->params = p;
    add_array(i, "window_strides", p->window_strides);
    add_name(i, "padding");
    ATTRIBUTE(i, n > 0 ? "dense<[" : "dense<");
    for (size_t k = 0; k < n; k++) {
        ATTRIBUTE(i, "%s[%lld, %lld]", k > 0 ? ", " : "", (long long)lists[1][2 * k],
                  (long long)lists[1][2 * k + 1]);
    }
    ATTRIBUTE(i, "%s> : tensor<%zux2xi64>", n > 0 ? "]" : "", n);
    add_array(i, "lhs_dilation", p->lhs_dilation);
    add_array(i, "rhs_dilation", p->rhs_dilation);
    add_name(i, "dimension_numbers");
    ATTRIBUTE(i, "#stablehlo.conv<");
    print_conv_dims(i, p->input_batch_dimension, 'b', p->input_feature_dimension, 'f',
                    p->input_spatial_dimensions);
    ATTRIBUTE(i, "x");
    print_conv_dims(i, p->kernel_output_feature_dimension, 'o', p->kernel_input_feature_dimension,
                    'i', p->kernel_spatial_dimensions);
    ATTRIBUTE(i, "->");
    print_conv_dims(i, p->output_batch_dimension, 'b', p->output_feature_dimension, 'f',
                    p->output_spatial_dimensions);
    ATTRIBUTE(i, ">");
    add_number(i, "feature_group_count", p->feature_group_count);
    add_number(i, "batch_group_count", p->batch_group_count);
    add_operand(i, (op_type){TSR_F32, rank, input});
    add_operand(i, (op_type){TSR_F32, rank, kernel});
}

/* ---- all ---- */

typedef void (*draw_instance)(fixture *f, instance *i, rng *r);

static draw_instance generator_of(const op_row *row)
{
    static const struct {
        const op_row *row;
        draw_instance draw;
    } generators[] = {{&op_compare, draw_compare},
                      {&op_select, draw_select},
                      {&op_clamp, draw_clamp},
                      {&op_convert, draw_convert},
                      {&op_reduce, draw_reduce},
                      {&op_fold, draw_fold},
                      {&op_mean, draw_mean},
                      {&op_cumulative, draw_cumulative},
                      {&op_dot_general, draw_dot},
                      {&op_reshape, draw_reshape},
                      {&op_transpose, draw_transpose},
                      {&op_broadcast_in_dim, draw_broadcast},
                      {&op_slice, draw_slice},
                      {&op_concatenate, draw_concatenate},
                      {&op_pad, draw_pad},
                      {&op_gather, draw_gather},
                      {&op_scatter, draw_scatter},
                      {&op_sort, draw_sort},
                      {&op_argsort, draw_argsort},
                      {&op_top_k, draw_top_k},
                      {&op_random, draw_random},
                      {&op_iota, draw_iota},
                      {&op_convolution, draw_convolution}};
    for (size_t k = 0; k < sizeof generators / sizeof generators[0]; k++) {
        if (generators[k].row == row) {
            return generators[k].draw;
        }
    }
    return (row->traits & OP_ELEMENTWISE) != 0 ? draw_elementwise : NULL;
}

op_request instance_request(fixture *f, const instance *i)
{
    return (op_request){.ctx = f->ctx,
                        .arena = i->arena,
                        .call = i->row->name,
                        .row = i->row,
                        .params = i->params,
                        .num_operands = i->num_operands,
                        .operands = i->operands,
                        .facts = &i->facts};
}

bool instance_draw(fixture *f, const op_row *row, rng *r, instance *out)
{
    const draw_instance draw = generator_of(row);
    if (draw == NULL || row->types == NULL) {
        return false;
    }
    tsr_status status = TSR_ERR_INVALID;
    while (status != TSR_OK) {
        *out = (instance){.arena = f->arena, .row = row};
        for (size_t k = 0; k < INSTANCE_OPERANDS; k++) {
            out->slice_of[k] = NO_SLICE;
        }
        draw(f, out, r);
        const op_request request = instance_request(f, out);
        status = row->types(&request, out->results);
        tsr_context_clear(f->ctx);
    }
    return true;
}

void instance_forget_facts(instance *i)
{
    i->num_arguments = 0;
    i->facts.operands = NULL;
    for (size_t k = 0; k < INSTANCE_OPERANDS; k++) {
        i->slice_of[k] = NO_SLICE;
    }
}

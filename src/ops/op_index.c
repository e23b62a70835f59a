#include "ops/op_index.h"

#include <string.h>

#include "base/arena.h"
#include "factor/rule.h"
#include "kernel/elementwise.h"
#include "ops/gradient.h"

static const op_field gather_list[] = {OP_FIELD(gather_params, offset_dims, INTS),
                                       OP_FIELD(gather_params, collapsed_slice_dims, INTS),
                                       OP_FIELD(gather_params, operand_batching_dims, INTS),
                                       OP_FIELD(gather_params, start_indices_batching_dims, INTS),
                                       OP_FIELD(gather_params, start_index_map, INTS),
                                       OP_FIELD(gather_params, index_vector_dim, INT),
                                       OP_FIELD(gather_params, slice_sizes, INTS)};
static const op_fields gather_fields = OP_FIELDS(gather_params, gather_list);

static const op_field scatter_list[] = {
    OP_FIELD(scatter_params, update_window_dims, INTS),
    OP_FIELD(scatter_params, inserted_window_dims, INTS),
    OP_FIELD(scatter_params, input_batching_dims, INTS),
    OP_FIELD(scatter_params, scatter_indices_batching_dims, INTS),
    OP_FIELD(scatter_params, scatter_dims_to_operand_dims, INTS),
    OP_FIELD(scatter_params, index_vector_dim, INT),
    OP_FIELD(scatter_params, body, REGION)};
static const op_fields scatter_fields = OP_FIELDS(scatter_params, scatter_list);

/* ---- what both share ---- */

window_dims gather_window_dims(const gather_params *p)
{
    return (window_dims){.window = p->offset_dims,
                         .collapsed = p->collapsed_slice_dims,
                         .input_batching = p->operand_batching_dims,
                         .indices_batching = p->start_indices_batching_dims,
                         .index_map = p->start_index_map,
                         .index_vector_dim = p->index_vector_dim};
}

window_dims scatter_window_dims(const scatter_params *p)
{
    return (window_dims){.window = p->update_window_dims,
                         .collapsed = p->inserted_window_dims,
                         .input_batching = p->input_batching_dims,
                         .indices_batching = p->scatter_indices_batching_dims,
                         .index_map = p->scatter_dims_to_operand_dims,
                         .index_vector_dim = p->index_vector_dim};
}

scatter_params scatter_of_windows(const window_dims *w, op_body body)
{
    return (scatter_params){.update_window_dims = w->window,
                            .inserted_window_dims = w->collapsed,
                            .input_batching_dims = w->input_batching,
                            .scatter_indices_batching_dims = w->indices_batching,
                            .scatter_dims_to_operand_dims = w->index_map,
                            .index_vector_dim = w->index_vector_dim,
                            .body = known_region(body)};
}

gather_params gather_of_windows(const window_dims *w, op_ints slice_sizes)
{
    return (gather_params){.offset_dims = w->window,
                           .collapsed_slice_dims = w->collapsed,
                           .operand_batching_dims = w->input_batching,
                           .start_indices_batching_dims = w->indices_batching,
                           .start_index_map = w->index_map,
                           .index_vector_dim = w->index_vector_dim,
                           .slice_sizes = slice_sizes};
}

size_t next_window_dim(const window_dims *w, size_t dim)
{
    while (op_ints_have(w->collapsed, dim) || op_ints_have(w->input_batching, dim)) {
        dim++;
    }
    return dim;
}

/* Input, indices and slices of either op: what checks and rules look at. */
typedef struct windows_of {
    window_dims dims;
    const op_type *input;
    const op_type *indices;
    size_t num_inputs; /* of a scatter; 0 for a gather */
} windows_of;

static windows_of windows_in_gather(const op_request *r)
{
    return (windows_of){gather_window_dims(r->params), &r->operands[0], &r->operands[1], 0};
}

static size_t count_scattered(size_t num_operands)
{
    return num_operands % 2 == 1 ? num_operands / 2 : 0;
}

static windows_of windows_in_scatter(const op_request *r)
{
    const size_t n = count_scattered(r->num_operands);
    return (windows_of){scatter_window_dims(r->params), &r->operands[0], &r->operands[n], n};
}

/* How many index vectors' dimensions there are: those of the indices but the vector's own. */
static size_t num_batches(const windows_of *w)
{
    return w->indices->rank - ((uint64_t)w->dims.index_vector_dim < w->indices->rank ? 1 : 0);
}

/* The dimension of the indices that is batch dimension `batch` of the slices. */
static size_t indices_dim(const windows_of *w, size_t batch)
{
    return batch < (size_t)w->dims.index_vector_dim ? batch : batch + 1;
}

/* ---- types ---- */

/* What a gather and a scatter call their lists; a scatter's messages end in a full stop. */
typedef struct index_words {
    const char *window;
    const char *collapsed;
    const char *input_batching;
    const char *indices_batching;
    const char *index_map;
    const char *indices;
    const char *slices; /* what bounds the window's dimensions */
    const char *start;  /* of messages on order */
    const char *got;
    const char *stop;
} index_words;

static const index_words gather_words = {"offset_dims",
                                         "collapsed_slice_dims",
                                         "operand_batching_dims",
                                         "start_indices_batching_dims",
                                         "start_index_map",
                                         "start_indices",
                                         "implied-result-rank",
                                         "expects",
                                         ", got",
                                         ""};
static const index_words scatter_words = {"update_window_dims",
                                          "inserted_window_dims",
                                          "input_batching_dims",
                                          "scatter_indices_batching_dims",
                                          "scatter_dims_to_operand_dims",
                                          "scatter_indices",
                                          "rank-of('updates')",
                                          "Expects",
                                          "; got",
                                          "."};

static const index_words *words_of(const windows_of *w)
{
    return w->num_inputs > 0 ? &scatter_words : &gather_words;
}

static tsr_status check_index_vector(const op_request *r, const windows_of *w)
{
    const op_type *indices = w->indices;
    const int64_t dim = w->dims.index_vector_dim;
    if (!dtype_is_integer(indices->dtype)) {
        return OP_ERROR(r, "the indices, %s, must be integers", op_type_text(indices).text);
    }
    if (dim < 0 || (uint64_t)dim > indices->rank) {
        return OP_ERROR(r,
                        "Expects index_vector_dim to be in range [0, rank-of('%s')] i.e. [0, %zu]. "
                        "got: %lld.",
                        words_of(w)->indices, indices->rank, (long long)dim);
    }
    return TSR_OK;
}

static int64_t index_vector_size(const windows_of *w)
{
    const int64_t dim = w->dims.index_vector_dim;
    return (uint64_t)dim < w->indices->rank ? w->indices->shape[dim] : 1;
}

/* Whether there is an index for each indexed dimension. */
static tsr_status check_index_map(const op_request *r, const windows_of *w)
{
    const int64_t size = index_vector_size(w);
    const long long dim = (long long)w->dims.index_vector_dim;
    if (extents_agree(size, (int64_t)w->dims.index_map.count)) {
        return TSR_OK;
    }
    if (w->num_inputs == 0) {
        return OP_ERROR(r,
                        "start_index_map size (%zu) is not equal to size of index dimension (%lld) "
                        "of start_indices (%lld)",
                        w->dims.index_map.count, dim, (long long)size);
    }
    return OP_ERROR(r,
                    "Scatter op has %zu elements in scatter_dims_to_operand_dims and the bound of "
                    "dimension index_vector_dim=%lld of scatter_indices is %lld. These two numbers "
                    "must be equal.",
                    w->dims.index_map.count, dim, (long long)size);
}

static tsr_status check_range(const op_request *r, const char *what, op_ints dims,
                              const char *bound, size_t limit)
{
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.values[i] < 0 || (uint64_t)dims.values[i] >= limit) {
            return OP_ERROR(r,
                            "Expects each element of %s to be in range [0, %s) i.e. [0, %zu). got: "
                            "%lld.",
                            what, bound, limit, (long long)dims.values[i]);
        }
    }
    return TSR_OK;
}

/* A list that is read as a set: the kernels and the rules take it in ascending order. */
static tsr_status check_order(const op_request *r, const windows_of *w, const char *what,
                              op_ints dims, bool once)
{
    const index_words *words = words_of(w);
    if (!op_ints_sorted(dims)) {
        return OP_ERROR(r, "%s %s to be sorted%s: [%s]%s", words->start, what, words->got,
                        op_ints_text(dims.values, dims.count).text, words->stop);
    }
    if (once && op_ints_repeated(dims) != NULL) {
        return OP_ERROR(r, "%s %s to not repeat%s: [%s]%s", words->start, what, words->got,
                        op_ints_text(dims.values, dims.count).text, words->stop);
    }
    return TSR_OK;
}

/* Two lists, each dimension once in both. */
static tsr_status check_distinct(const op_request *r, const char *a_name, op_ints a,
                                 const char *b_name, op_ints b)
{
    const int64_t *shared = op_ints_repeated(a);
    shared = shared != NULL ? shared : op_ints_repeated(b);
    shared = shared != NULL ? shared : op_ints_shared(a, b);
    return shared == NULL ? TSR_OK
                          : OP_ERROR(r, "has duplicated dimension from %s and %s: %lld", a_name,
                                     b_name, (long long)*shared);
}

static tsr_status check_batching(const op_request *r, const windows_of *w)
{
    const window_dims *d = &w->dims;
    const index_words *words = words_of(w);
    if (op_ints_have(d->indices_batching, (size_t)d->index_vector_dim)) {
        return OP_ERROR(r, "expects %s not to include index_vector_dim %lld%s",
                        words->indices_batching, (long long)d->index_vector_dim, words->stop);
    }
    if (d->input_batching.count != d->indices_batching.count) {
        return OP_ERROR(r, "%s and %s should have the same size%s", words->input_batching,
                        words->indices_batching, words->stop);
    }
    for (size_t i = 0; i < d->input_batching.count; i++) {
        const int64_t a = w->input->shape[d->input_batching.values[i]];
        const int64_t x = w->indices->shape[d->indices_batching.values[i]];
        if (!extents_agree(a, x)) {
            return OP_ERROR(
                r, "%s[%zu] and %s[%zu] must have compatible sizes, but got %lld and %lld%s",
                words->input_batching, i, words->indices_batching, i, (long long)a, (long long)x,
                words->stop);
        }
    }
    return TSR_OK;
}

/* The dimension numbers against each other, and against the ranks of all tensors. */
static tsr_status check_dims(const op_request *r, const windows_of *w, size_t slices_rank)
{
    const window_dims *d = &w->dims;
    const index_words *words = words_of(w);
    const size_t input_rank = w->input->rank;
    TSR_TRY(check_order(r, w, words->window, d->window, true));
    if (w->num_inputs > 0) {
        TSR_TRY(check_range(r, words->window, d->window, words->slices, slices_rank));
    }
    TSR_TRY(check_distinct(r, words->collapsed, d->collapsed, words->input_batching,
                           d->input_batching));
    TSR_TRY(check_order(r, w, words->collapsed, d->collapsed, false));
    if (w->num_inputs > 0) {
        TSR_TRY(check_range(r, words->collapsed, d->collapsed, "rank-of('operand')", input_rank));
    }
    TSR_TRY(check_order(r, w, words->input_batching, d->input_batching, false));
    if (op_ints_repeated(d->indices_batching) != NULL) {
        return OP_ERROR(
            r, "%s %s to not repeat%s: [%s]%s", words->start, words->indices_batching, words->got,
            op_ints_text(d->indices_batching.values, d->indices_batching.count).text, words->stop);
    }
    TSR_TRY(
        check_range(r, words->input_batching, d->input_batching, "rank-of('operand')", input_rank));
    TSR_TRY(
        check_range(r, words->indices_batching, d->indices_batching,
                    w->num_inputs > 0 ? "rank-of('scatter_indices')" : "rank-of('start_indices')",
                    w->indices->rank));
    TSR_TRY(check_batching(r, w));
    TSR_TRY(check_distinct(r, words->index_map, d->index_map, words->input_batching,
                           d->input_batching));
    if (w->num_inputs == 0) {
        TSR_TRY(check_range(r, words->window, d->window, words->slices, slices_rank));
        TSR_TRY(check_range(r, words->collapsed, d->collapsed, "rank-of('operand')", input_rank));
    } else {
        TSR_TRY(check_index_map(r, w));
    }
    return check_range(r, words->index_map, d->index_map, "rank-of('operand')", input_rank);
}

static tsr_status check_slice_sizes(const op_request *r)
{
    const gather_params *p = r->params;
    const op_type *input = &r->operands[0];
    const op_ints single[] = {p->collapsed_slice_dims, p->operand_batching_dims};
    static const char *const names[] = {"collapsed_slice_dims", "operand_batching_dims"};
    if (p->slice_sizes.count != input->rank) {
        return OP_ERROR(r, "slice_sizes size (%zu) not equal to operand rank (%zu)",
                        p->slice_sizes.count, input->rank);
    }
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < single[l].count; i++) {
            const int64_t size = p->slice_sizes.values[single[l].values[i]];
            if (size > 1) {
                return OP_ERROR(r,
                                "Expects that for each dim in %s, slice_sizes[dim] should be <= 1, "
                                "but got %lld",
                                names[l], (long long)size);
            }
        }
    }
    for (size_t d = 0; d < input->rank; d++) {
        const int64_t size = p->slice_sizes.values[d];
        const int64_t most = input->shape[d];
        if (size < 0 || (most != TSR_UNKNOWN && size > most)) {
            return OP_ERROR(r,
                            "slice size (%lld) is out of bounds for operand dimension (%lld) at "
                            "index %zu",
                            (long long)size, (long long)most, d);
        }
    }
    return TSR_OK;
}

static tsr_status check_gather(const op_request *r, const windows_of *w)
{
    const window_dims *d = &w->dims;
    if (d->window.count + d->collapsed.count + d->input_batching.count != w->input->rank) {
        return OP_ERROR(r,
                        "offset_dims size (%zu) plus collapse_slice_dims size (%zu) plus "
                        "operand_batching_dims size (%zu) is not equal to operand rank (%zu)",
                        d->window.count, d->collapsed.count, d->input_batching.count,
                        w->input->rank);
    }
    TSR_TRY(check_index_vector(r, w));
    TSR_TRY(check_index_map(r, w));
    TSR_TRY(check_dims(r, w, num_batches(w) + d->window.count));
    return check_slice_sizes(r);
}

static tsr_status gather_types(const op_request *r, op_type *results)
{
    const gather_params *p = r->params;
    const windows_of w = windows_in_gather(r);
    TSR_TRY(check_gather(r, &w));
    const size_t rank = num_batches(&w) + p->offset_dims.count;
    if (rank > OP_MAX_RANK) {
        return OP_ERROR(r, "the slices have rank %zu; the maximum is %d", rank, OP_MAX_RANK);
    }
    int64_t *shape = op_new_shape(r, rank);
    size_t window = 0;
    size_t batch = 0;
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t s = 0; s < rank; s++) {
        if (op_ints_have(p->offset_dims, s)) {
            window = next_window_dim(&w.dims, window);
            shape[s] = p->slice_sizes.values[window++];
        } else {
            shape[s] = w.indices->shape[indices_dim(&w, batch++)];
        }
    }
    results[0] = (op_type){.dtype = r->operands[0].dtype, .rank = rank, .shape = shape};
    return TSR_OK;
}

/* Whether updates are what the indices and the input ask for. */
static tsr_status check_updates(const op_request *r, const windows_of *w, const op_type *updates)
{
    size_t window = 0;
    size_t batch = 0;
    for (size_t i = 0; i < w->dims.window.count; i++) {
        const size_t s = (size_t)w->dims.window.values[i];
        const int64_t size = updates->shape[s];
        window = next_window_dim(&w->dims, window);
        const int64_t most = w->input->shape[window++];
        if (size != TSR_UNKNOWN && most != TSR_UNKNOWN && size > most) {
            return OP_ERROR(r,
                            "expects bounds of the window dimensions of updates to not exceed the "
                            "bounds of the corresponding dimensions of operand. For dimension %zu, "
                            "updates bound is %lld, operand bound is %lld.",
                            s, (long long)size, (long long)most);
        }
    }
    for (size_t s = 0; s < updates->rank; s++) {
        if (op_ints_have(w->dims.window, s)) {
            continue;
        }
        const int64_t wanted = w->indices->shape[indices_dim(w, batch++)];
        if (!extents_agree(updates->shape[s], wanted)) {
            return OP_ERROR(
                r,
                "expects bounds of the scatter dimensions of updates to be same as the "
                "bounds of the corresponding dimensions of scatter indices. For scatter "
                "dimension %zu, updates bound is %lld , scatter_indices bound is %lld.",
                s, (long long)updates->shape[s], (long long)wanted);
        }
    }
    return TSR_OK;
}

/* Shapes of all inputs, then of all updates, against the first. */
static tsr_status check_alike(const op_request *r, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (!op_shapes_agree(&r->operands[i], &r->operands[0])) {
            return OP_ERROR(r, "%s", "Not all inputs have compatible shapes.");
        }
    }
    for (size_t i = 1; i < n; i++) {
        if (!op_shapes_agree(&r->operands[n + 1 + i], &r->operands[n + 1])) {
            return OP_ERROR(r, "%s", "Not all updates have compatible shapes.");
        }
    }
    return TSR_OK;
}

static tsr_status check_scatter_ranks(const op_request *r, const windows_of *w,
                                      const op_type *updates)
{
    const window_dims *d = &w->dims;
    const size_t rank = num_batches(w) + d->window.count;
    const size_t input = d->window.count + d->collapsed.count + d->input_batching.count;
    if (updates->rank != rank) {
        return OP_ERROR(
            r,
            "expects updates tensor must be of rank %zu ( == rank-of('scatter_indices') "
            "- 1 + size-of('update_window_dims'), where 'scatter_indices' is expanded by "
            "a trailing 1 dimension if 'index_vector_dim' == "
            "rank-of('scatter_indices')), but got %zu.",
            rank, updates->rank);
    }
    return w->input->rank == input
               ? TSR_OK
               : OP_ERROR(r,
                          "Expects rank-of operand to match size-of('update_window_dims') + "
                          "size-of('inserted_window_dims') + size-of('input_batching_dims') i.e. "
                          "%zu but got %zu.",
                          input, w->input->rank);
}

static tsr_status scatter_types(const op_request *r, op_type *results)
{
    const windows_of w = windows_in_scatter(r);
    const size_t n = w.num_inputs;
    const op_type *updates = &r->operands[n + 1];
    TSR_TRY(check_alike(r, n));
    TSR_TRY(check_index_vector(r, &w));
    TSR_TRY(check_scatter_ranks(r, &w, updates));
    TSR_TRY(check_dims(r, &w, updates->rank));
    for (size_t i = 0; i < n; i++) {
        TSR_TRY(op_same_dtype(r, i, n + 1 + i));
        TSR_TRY(check_updates(r, &w, &r->operands[n + 1 + i]));
        results[i] = r->operands[i];
    }
    return TSR_OK;
}

/* ---- rules ---- */

/* A rule under way. Tensors: inputs, indices, slices, and the results of a scatter. */
typedef struct window_rule {
    rule_builder b;
    windows_of of;
    tsr_extents slices;
    bool reduces; /* updates of one element may be combined in any order */
} window_rule;

static bool is_scatter(const window_rule *w)
{
    return w->of.num_inputs > 0;
}

/* Into a dimension of every input, and of every result of a scatter. */
static void put_input(window_rule *w, size_t dim, size_t factor)
{
    const size_t n = w->of.num_inputs;
    if (!is_scatter(w)) {
        rule_put(&w->b, 0, dim, factor);
    }
    for (size_t i = 0; i < n; i++) {
        rule_put(&w->b, i, dim, factor);
        rule_put(&w->b, 2 * n + 1 + i, dim, factor);
    }
}

static void put_indices(window_rule *w, size_t dim, size_t factor)
{
    rule_put(&w->b, is_scatter(w) ? w->of.num_inputs : 1, dim, factor);
}

/* Into a dimension of the result of a gather, or of every update of a scatter. */
static void put_slices(window_rule *w, size_t dim, size_t factor)
{
    const size_t n = w->of.num_inputs;
    if (!is_scatter(w)) {
        rule_put(&w->b, 2, dim, factor);
    }
    for (size_t i = 0; i < n; i++) {
        rule_put(&w->b, n + 1 + i, dim, factor);
    }
}

static size_t new_factor(window_rule *w, int64_t size, tsr_factor_kind kind)
{
    return rule_factor(&w->b, size, kind, false);
}

/* Dimension s of the slices, which is dimension c of a window. */
static void add_offset(window_rule *w, size_t s, size_t c)
{
    const int64_t all = w->of.input->shape[c];
    const int64_t some = w->slices.sizes[s];
    if (all == some) {
        const size_t f = new_factor(w, all, TSR_FACTOR_PASS_THROUGH);
        put_input(w, c, f);
        put_slices(w, s, f);
    } else if (is_scatter(w)) {
        put_input(w, c, new_factor(w, all, TSR_FACTOR_NEED_REPLICATION));
        put_slices(w, s, new_factor(w, some, TSR_FACTOR_NEED_REPLICATION));
    } else if (some == 1) {
        put_input(w, c, new_factor(w, all, TSR_FACTOR_REDUCTION));
        put_slices(w, s, new_factor(w, 1, TSR_FACTOR_NEED_REPLICATION));
    } else {
        const size_t f = rule_factor(&w->b, all, TSR_FACTOR_NEED_REPLICATION, true);
        put_input(w, c, f);
        put_slices(w, s, f);
    }
}

/* Dimension s of the slices, which is one of the indices. */
static void add_batch(window_rule *w, size_t s, size_t batch)
{
    const window_dims *d = &w->of.dims;
    const size_t x = indices_dim(&w->of, batch);
    size_t paired = NO_DIM;
    for (size_t i = 0; i < d->indices_batching.count; i++) {
        paired = d->indices_batching.values[i] == (int64_t)x ? (size_t)d->input_batching.values[i]
                                                             : paired;
    }
    tsr_factor_kind kind = TSR_FACTOR_PASS_THROUGH;
    if (is_scatter(w) && paired == NO_DIM) {
        kind = w->reduces ? TSR_FACTOR_REDUCTION : TSR_FACTOR_NEED_REPLICATION;
    }
    const size_t f = new_factor(w, w->slices.sizes[s], kind);
    put_input(w, paired, f);
    put_indices(w, x, f);
    put_slices(w, s, f);
}

static void add_collapsed(window_rule *w)
{
    const op_ints collapsed = w->of.dims.collapsed;
    for (size_t i = 0; i < collapsed.count; i++) {
        const size_t d = (size_t)collapsed.values[i];
        const int64_t size = w->of.input->shape[d];
        tsr_factor_kind kind = TSR_FACTOR_PASS_THROUGH;
        if (!is_scatter(w)) {
            kind = size == 1 ? TSR_FACTOR_NEED_REPLICATION : TSR_FACTOR_REDUCTION;
        }
        put_input(w, d, new_factor(w, size, kind));
    }
}

static tsr_status finish_rule(window_rule *w, const tsr_rule **out)
{
    const window_dims *d = &w->of.dims;
    size_t c = 0;
    size_t batch = 0;
    for (size_t s = 0; s < w->slices.rank; s++) {
        if (op_ints_have(d->window, s)) {
            c = next_window_dim(d, c);
            add_offset(w, s, c++);
        } else {
            add_batch(w, s, batch++);
        }
    }
    add_collapsed(w);
    if ((uint64_t)d->index_vector_dim < w->of.indices->rank) {
        const size_t x = (size_t)d->index_vector_dim;
        put_indices(w, x, new_factor(w, w->of.indices->shape[x], TSR_FACTOR_NEED_REPLICATION));
    }
    return rule_finish(&w->b, out);
}

static tsr_status gather_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                              const tsr_rule **out)
{
    const tsr_extents operands[] = {op_extents(&r->operands[0]), op_extents(&r->operands[1])};
    window_rule w = {.of = windows_in_gather(r), .slices = op_extents(&results[0])};
    w.b = rule_start(r->ctx, arena, operands, 2, &w.slices, 1);
    return finish_rule(&w, out);
}

/* Whether the order of updates of one element does not matter. */
static bool body_reduces(const op_request *r)
{
    const scatter_params *p = r->params;
    switch (p->body.body) {
    case OP_BODY_SUM:
    case OP_BODY_PROD:
    case OP_BODY_MAX:
    case OP_BODY_MIN:
        return true;
    case OP_BODY_AND:
    case OP_BODY_OR:
        for (size_t i = 0; i < count_scattered(r->num_operands); i++) {
            if (r->operands[i].dtype != TSR_I1) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

static tsr_status scatter_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                               const tsr_rule **out)
{
    window_rule w = {.of = windows_in_scatter(r), .reduces = body_reduces(r)};
    const size_t n = w.of.num_inputs;
    const tsr_extents *operands = op_operand_extents(r, arena);
    tsr_extents *to = ARENA_ARRAY(arena, tsr_extents, n);
    if (operands == NULL || to == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t i = 0; i < n; i++) {
        to[i] = op_extents(&results[i]);
    }
    w.slices = operands[n + 1];
    w.b = rule_start(r->ctx, arena, operands, r->num_operands, to, n);
    return finish_rule(&w, out);
}

/*
 * Where an index moves a window that is as large as its dimension, parts of the updates go to other
 * parts of the input than the rule says.
 */
static void scatter_local(const op_request *r, const op_type *results, const tsr_rule *rule,
                          bool *whole)
{
    const windows_of w = windows_in_scatter(r);
    const op_type *updates = &r->operands[w.num_inputs + 1];
    size_t c = 0;
    (void)results;
    for (size_t s = 0; s < updates->rank; s++) {
        if (!op_ints_have(w.dims.window, s)) {
            continue;
        }
        c = next_window_dim(&w.dims, c);
        if (op_ints_have(w.dims.index_map, c) && updates->shape[s] == w.input->shape[c]) {
            whole[tsr_rule_operand(rule, 0)->dims[c].factors[0]] = true;
        }
        c++;
    }
}

/* ---- pending reductions ---- */

/* A gather only moves elements of its input; nothing pending may choose them. */
static spmd_class class_gather(const op_request *r, size_t operand, tsr_reduction pending)
{
    return operand == 0 ? class_linear(r, operand, pending) : SPMD_NONLINEAR;
}

static spmd_class class_scatter(const op_request *r, size_t operand, tsr_reduction pending)
{
    const scatter_params *p = r->params;
    return operand != count_scattered(r->num_operands) && p->body.body == OP_BODY_SUM
               ? class_linear(r, operand, pending)
               : SPMD_NONLINEAR;
}

static tsr_reduction scatter_reduces(const op_request *r)
{
    return op_region_reduction(&((const scatter_params *)r->params)->body);
}

/* ---- kernels ---- */

/* The dimension numbers as the kernels take them. */
typedef struct kernel_dims {
    size_t offset[OP_MAX_RANK];
    size_t collapsed[OP_MAX_RANK];
    size_t input_batching[OP_MAX_RANK];
    size_t indices_batching[OP_MAX_RANK];
    size_t map[OP_MAX_RANK];
} kernel_dims;

static void to_sizes(op_ints from, size_t *to)
{
    for (size_t i = 0; i < from.count; i++) {
        to[i] = (size_t)from.values[i];
    }
}

static gather_job job_of(const window_dims *w, const op_array *input, const tsr_view *indices,
                         kernel_dims *k)
{
    to_sizes(w->window, k->offset);
    to_sizes(w->collapsed, k->collapsed);
    to_sizes(w->input_batching, k->input_batching);
    to_sizes(w->indices_batching, k->indices_batching);
    to_sizes(w->index_map, k->map);
    return (gather_job){.input = &input->view,
                        .indices = indices,
                        .input_start = input->start,
                        .input_full = input->full,
                        .offset_dims = k->offset,
                        .num_offset = w->window.count,
                        .collapsed_dims = k->collapsed,
                        .num_collapsed = w->collapsed.count,
                        .input_batching = k->input_batching,
                        .indices_batching = k->indices_batching,
                        .num_batching = w->input_batching.count,
                        .start_index_map = k->map,
                        .num_indexed = w->index_map.count,
                        .index_vector_dim = (size_t)w->index_vector_dim};
}

static void gather_run(const op_call *c, void *scratch)
{
    const gather_params *p = c->params;
    const window_dims w = gather_window_dims(p);
    kernel_dims k;
    (void)scratch;
    gather_job job = job_of(&w, &c->operands[0], &c->operands[1].view, &k);
    job.slice_sizes = p->slice_sizes.values;
    kernel_gather(&job, &c->results[0].view);
}

/* Kernels read indices of whole bytes. */
static bool can_read_indices(const op_type *indices)
{
    return tsr_dtype_bits(indices->dtype) >= 8;
}

static bool gather_has_kernel(const op_request *r, const op_type *results)
{
    (void)results;
    return can_read_indices(&r->operands[1]);
}

/* What the kernel does for a body; false when it has nothing for it. */
static bool find_scatter_kind(op_body body, scatter_kind *out)
{
    static const struct {
        op_body body;
        scatter_kind kind;
    } kinds[] = {{OP_BODY_SECOND, SCATTER_SET},
                 {OP_BODY_SUM, SCATTER_ADD},
                 {OP_BODY_PROD, SCATTER_MULTIPLY},
                 {OP_BODY_MAX, SCATTER_MAX},
                 {OP_BODY_MIN, SCATTER_MIN}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].body == body) {
            *out = kinds[i].kind;
            return true;
        }
    }
    return false;
}

static bool scatter_has_kernel(const op_request *r, const op_type *results)
{
    const scatter_params *p = r->params;
    const size_t n = count_scattered(r->num_operands);
    scatter_kind kind;
    if (p->body.body == OP_BODY_OPAQUE) {
        return p->body.call != NULL && n <= SCATTER_MAX_ARRAYS && can_read_indices(&r->operands[n]);
    }
    if (!find_scatter_kind(p->body.body, &kind) || !can_read_indices(&r->operands[n])) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!scatter_supports(kind, results[i].dtype)) {
            return false;
        }
    }
    return true;
}

/* A result starts as its input; on the ranks that only add to it, as what adds nothing. */
static void start_result(const op_array *input, const op_array *result, scatter_kind kind,
                         bool first)
{
    char neutral[16] = {0};
    if (!first && (kind == SCATTER_ADD || kind == SCATTER_MULTIPLY)) {
        (void)op_number_store(number_integer(kind == SCATTER_ADD ? 0 : 1), result->view.dtype,
                              neutral);
        kernel_fill(&result->view, neutral);
        return;
    }
    kernel_copy(result->view.data, result->view.strides, input->view.data, input->view.strides,
                input->view.shape, input->view.rank,
                (size_t)tsr_dtype_item_bytes(input->view.dtype), false);
}

/* Any function, on all inputs at once. */
static void scatter_opaque(const op_call *c, const window_dims *w, const op_region *body)
{
    const size_t n = c->num_results;
    gather_job jobs[SCATTER_MAX_ARRAYS];
    tsr_view updates[SCATTER_MAX_ARRAYS];
    kernel_dims k;
    for (size_t i = 0; i < n; i++) {
        start_result(&c->operands[i], &c->results[i], SCATTER_SET, true);
        jobs[i] = job_of(w, &c->results[i], &c->operands[n].view, &k);
        updates[i] = c->operands[n + 1 + i].view;
    }
    kernel_scatter_call(body->call, body->state, jobs, updates, n);
}

static void scatter_run(const op_call *c, void *scratch)
{
    const scatter_params *p = c->params;
    const window_dims w = scatter_window_dims(p);
    const size_t n = c->num_results;
    scatter_kind kind = SCATTER_SET;
    kernel_dims k;
    (void)scratch;
    if (p->body.body == OP_BODY_OPAQUE) {
        scatter_opaque(c, &w, &p->body);
        return;
    }
    (void)find_scatter_kind(p->body.body, &kind);
    for (size_t i = 0; i < n; i++) {
        start_result(&c->operands[i], &c->results[i], kind, c->first);
        const gather_job job = job_of(&w, &c->results[i], &c->operands[n].view, &k);
        kernel_scatter(kind, &job, &c->operands[n + 1 + i].view);
    }
}

const op_row op_gather = {.name = "gather",
                          .traits = OP_POSITIONAL,
                          .num_operands = 2,
                          .num_results = 1,
                          .fields = &gather_fields,
                          .types = gather_types,
                          .rule = gather_rule,
                          .class_of = class_gather,
                          .supports = gather_has_kernel,
                          .run = gather_run,
                          .gradient = gradient_gather};

const op_row op_scatter = {.name = "scatter",
                           .alike = OP_ALIKE_SCATTERED,
                           .traits = OP_POSITIONAL | OP_VARIADIC,
                           .num_operands = 3,
                           .count_results = count_scattered,
                           .fields = &scatter_fields,
                           .types = scatter_types,
                           .rule = scatter_rule,
                           .local = scatter_local,
                           .class_of = class_scatter,
                           .reduces = scatter_reduces,
                           .supports = scatter_has_kernel,
                           .run = scatter_run,
                           .gradient = gradient_scatter};

static const op_row *const rows[] = {&op_gather, &op_scatter};
const op_family family_index = {rows, sizeof rows / sizeof rows[0]};

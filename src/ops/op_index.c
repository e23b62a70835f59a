#include "ops/op_index.h"

#include <string.h>

#include "kernel/elementwise.h"
#include "ops/gradient.h"

/* ---- gather and scatter ---- */

/* The dimension numbers as sizes, for rules and kernels. */
typedef struct index_dims {
    size_t offset[OP_MAX_RANK];
    size_t collapsed[OP_MAX_RANK];
    size_t input_batching[OP_MAX_RANK];
    size_t indices_batching[OP_MAX_RANK];
    size_t map[OP_MAX_RANK];
    tsr_gather_dims rule;
} index_dims;

static void to_sizes(op_ints from, size_t *to)
{
    for (size_t i = 0; i < from.count; i++) {
        to[i] = (size_t)from.values[i];
    }
}

static void read_dims(const op_params *p, index_dims *d)
{
    to_sizes(p->lhs_contracting, d->offset);
    to_sizes(p->rhs_contracting, d->collapsed);
    to_sizes(p->lhs_batch, d->input_batching);
    to_sizes(p->rhs_batch, d->indices_batching);
    to_sizes(p->index_map, d->map);
    d->rule = (tsr_gather_dims){.num_offset = p->lhs_contracting.count,
                                .offset_dims = d->offset,
                                .num_collapsed = p->rhs_contracting.count,
                                .collapsed_dims = d->collapsed,
                                .num_batching = p->lhs_batch.count,
                                .input_batching = d->input_batching,
                                .indices_batching = d->indices_batching,
                                .index_vector_dim = (size_t)p->index_vector_dim};
}

/* How many indices there are for each slice. */
static int64_t index_size(const op_request *r)
{
    const op_type *indices = &r->operands[1];
    const size_t dim = (size_t)r->params->index_vector_dim;
    return dim < indices->rank ? indices->shape[dim] : 1;
}

static tsr_status check_dims(const op_request *r, size_t slices_rank)
{
    const op_params *p = r->params;
    const op_type *input = &r->operands[0];
    const op_type *indices = &r->operands[1];
    if (!dtype_is_integer(indices->dtype)) {
        return OP_ERROR(r, "the indices, %s, must be integers", op_type_text(indices).text);
    }
    if (p->index_vector_dim < 0 || (uint64_t)p->index_vector_dim > indices->rank) {
        return OP_ERROR(r, "index_vector_dim %lld is out of range: the indices are %s",
                        (long long)p->index_vector_dim, op_type_text(indices).text);
    }
    TSR_TRY(op_check_dims(r, "the offset dimension", p->lhs_contracting, slices_rank, NULL));
    TSR_TRY(op_check_dims(r, "the collapsed dimension", p->rhs_contracting, input->rank, NULL));
    TSR_TRY(op_check_dims(r, "the batching dimension", p->lhs_batch, input->rank, NULL));
    TSR_TRY(op_check_dims(r, "the batching dimension", p->rhs_batch, indices->rank, NULL));
    TSR_TRY(op_check_dims(r, "the indexed dimension", p->index_map, input->rank, NULL));
    if (p->lhs_batch.count != p->rhs_batch.count) {
        return OP_ERROR(r, "%zu batching dimensions of the input, %zu of the indices",
                        p->lhs_batch.count, p->rhs_batch.count);
    }
    for (size_t i = 0; i < p->lhs_batch.count; i++) {
        const size_t d = (size_t)p->lhs_batch.values[i];
        const size_t x = (size_t)p->rhs_batch.values[i];
        if (op_ints_have(p->rhs_contracting, d) || op_ints_have(p->index_map, d) ||
            x == (size_t)p->index_vector_dim || input->shape[d] != indices->shape[x]) {
            return OP_ERROR(r,
                            "dimension %zu of the input, %s, and %zu of the indices, %s, cannot "
                            "be batched",
                            d, op_type_text(input).text, x, op_type_text(indices).text);
        }
    }
    if (index_size(r) != (int64_t)p->index_map.count) {
        return OP_ERROR(r, "%lld indices a slice in %s, but %zu indexed dimensions",
                        (long long)index_size(r), op_type_text(indices).text, p->index_map.count);
    }
    return TSR_OK;
}

static size_t num_batches(const op_request *r)
{
    const size_t rank = r->operands[1].rank;
    return rank - ((size_t)r->params->index_vector_dim < rank ? 1 : 0);
}

static tsr_status check_windows(const op_request *r)
{
    const op_params *p = r->params;
    const size_t taken = p->rhs_contracting.count + p->lhs_batch.count;
    if (p->lhs_contracting.count + taken != r->operands[0].rank) {
        return OP_ERROR(r, "%zu offset, %zu collapsed and %zu batching dimensions for an input %s",
                        p->lhs_contracting.count, p->rhs_contracting.count, p->lhs_batch.count,
                        op_type_text(&r->operands[0]).text);
    }
    return TSR_OK;
}

static tsr_status check_slice_sizes(const op_request *r)
{
    const op_params *p = r->params;
    const op_type *input = &r->operands[0];
    if (p->slice_sizes.count != input->rank) {
        return OP_ERROR(r, "%zu slice sizes for an input %s", p->slice_sizes.count,
                        op_type_text(input).text);
    }
    for (size_t d = 0; d < input->rank; d++) {
        const int64_t size = p->slice_sizes.values[d];
        const bool one = op_ints_have(p->rhs_contracting, d) || op_ints_have(p->lhs_batch, d);
        if (size < 0 || size > input->shape[d] || (one && size > 1)) {
            return OP_ERROR(r, "slice size %lld does not fit dimension %zu of %s", (long long)size,
                            d, op_type_text(input).text);
        }
    }
    return TSR_OK;
}

static tsr_status gather_types(const op_request *r, op_type *results)
{
    const op_params *p = r->params;
    const op_type *indices = &r->operands[1];
    const size_t rank = num_batches(r) + p->lhs_contracting.count;
    if (rank > OP_MAX_RANK) {
        return OP_ERROR(r, "the slices would have %zu dimensions, %d are the most", rank,
                        OP_MAX_RANK);
    }
    TSR_TRY(check_dims(r, rank));
    TSR_TRY(check_windows(r));
    TSR_TRY(check_slice_sizes(r));
    results[0] = (op_type){.dtype = r->operands[0].dtype, .rank = rank};
    size_t window = 0;
    size_t batch = 0;
    for (size_t s = 0; s < rank; s++) {
        if (op_ints_have(p->lhs_contracting, s)) {
            while (op_ints_have(p->rhs_contracting, window) || op_ints_have(p->lhs_batch, window)) {
                window++;
            }
            results[0].shape[s] = p->slice_sizes.values[window++];
        } else {
            batch += batch == (size_t)p->index_vector_dim;
            results[0].shape[s] = indices->shape[batch++];
        }
    }
    return TSR_OK;
}

static tsr_status gather_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                              const tsr_rule **out)
{
    index_dims d;
    read_dims(r->params, &d);
    return tsr_rule_gather(r->ctx, arena, op_extents(&r->operands[0]), op_extents(&r->operands[1]),
                           op_extents(&results[0]), &d.rule, out);
}

/* A gather only moves elements of its input; nothing pending may choose them. */
static spmd_class class_gather(const op_request *r, size_t operand, tsr_reduction pending)
{
    return operand == 0 ? class_linear(r, operand, pending) : SPMD_NONLINEAR;
}

static gather_job job_of(const op_call *c, const index_dims *d, const op_array *input)
{
    return (gather_job){.input = &input->view,
                        .indices = &c->operands[1].view,
                        .input_start = input->start,
                        .input_full = input->full,
                        .offset_dims = d->offset,
                        .num_offset = d->rule.num_offset,
                        .collapsed_dims = d->collapsed,
                        .num_collapsed = d->rule.num_collapsed,
                        .input_batching = d->input_batching,
                        .indices_batching = d->indices_batching,
                        .num_batching = d->rule.num_batching,
                        .start_index_map = d->map,
                        .num_indexed = c->params->index_map.count,
                        .index_vector_dim = d->rule.index_vector_dim,
                        .slice_sizes = c->params->slice_sizes.values};
}

static void gather_run(const op_call *c, void *scratch)
{
    index_dims d;
    (void)scratch;
    read_dims(c->params, &d);
    const gather_job job = job_of(c, &d, &c->operands[0]);
    kernel_gather(&job, &c->results[0].view);
}

const op_row op_gather = {.name = "gather",
                          .traits = OP_POSITIONAL,
                          .num_operands = 2,
                          .num_results = 1,
                          .types = gather_types,
                          .rule = gather_rule,
                          .class_of = class_gather,
                          .run = gather_run,
                          .gradient = gradient_gather};

/* The updates must be what the indices and the input ask for. */
static tsr_status check_updates(const op_request *r)
{
    const op_params *p = r->params;
    const op_type *updates = &r->operands[2];
    size_t window = 0;
    size_t batch = 0;
    bool fits = updates->rank == num_batches(r) + p->lhs_contracting.count;
    for (size_t s = 0; fits && s < updates->rank; s++) {
        if (op_ints_have(p->lhs_contracting, s)) {
            while (op_ints_have(p->rhs_contracting, window) || op_ints_have(p->lhs_batch, window)) {
                window++;
            }
            fits = updates->shape[s] <= r->operands[0].shape[window++];
        } else {
            batch += batch == (size_t)p->index_vector_dim;
            fits = updates->shape[s] == r->operands[1].shape[batch++];
        }
    }
    if (!fits) {
        return OP_ERROR(r, "updates %s do not fit an input %s and indices %s",
                        op_type_text(updates).text, op_type_text(&r->operands[0]).text,
                        op_type_text(&r->operands[1]).text);
    }
    return TSR_OK;
}

static tsr_status scatter_types(const op_request *r, op_type *results)
{
    TSR_TRY(op_same_dtype(r, 0, 2));
    if (!scatter_supports((scatter_kind)r->params->variant, r->operands[0].dtype)) {
        return op_no_such_type(r, r->operands[0].dtype);
    }
    TSR_TRY(check_dims(r, r->operands[2].rank));
    TSR_TRY(check_windows(r));
    TSR_TRY(check_updates(r));
    results[0] = r->operands[0];
    return TSR_OK;
}

/*
 * Whether an index moves a window that is as large as its dimension: parts of the updates then go
 * to other parts of the input, which the rule does not say.
 */
static bool moves_whole_windows(const op_request *r)
{
    const op_params *p = r->params;
    size_t window = 0;
    for (size_t i = 0; i < p->lhs_contracting.count; i++, window++) {
        while (op_ints_have(p->rhs_contracting, window) || op_ints_have(p->lhs_batch, window)) {
            window++;
        }
        if (op_ints_have(p->index_map, window) &&
            r->operands[2].shape[p->lhs_contracting.values[i]] == r->operands[0].shape[window]) {
            return true;
        }
    }
    return false;
}

static tsr_status scatter_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                               const tsr_rule **out)
{
    index_dims d;
    (void)results;
    if (moves_whole_windows(r)) {
        return TSR_NOT_APPLICABLE;
    }
    read_dims(r->params, &d);
    return tsr_rule_scatter(r->ctx, arena, 1, op_extents(&r->operands[0]),
                            op_extents(&r->operands[1]), op_extents(&r->operands[2]), &d.rule,
                            r->params->variant != SCATTER_SET, out);
}

static spmd_class class_scatter(const op_request *r, size_t operand, tsr_reduction pending)
{
    return operand != 1 && r->params->variant == SCATTER_ADD ? class_linear(r, operand, pending)
                                                             : SPMD_NONLINEAR;
}

static tsr_reduction scatter_reduces(const op_request *r)
{
    static const tsr_reduction reductions[] = {[SCATTER_SET] = TSR_SUM,
                                               [SCATTER_ADD] = TSR_SUM,
                                               [SCATTER_MULTIPLY] = TSR_PROD,
                                               [SCATTER_MAX] = TSR_MAX,
                                               [SCATTER_MIN] = TSR_MIN};
    return reductions[r->params->variant];
}

/* The result starts as the input; on the ranks that only add to it, as what adds nothing. */
static void start_result(const op_call *c)
{
    const op_array *input = &c->operands[0];
    const op_array *result = &c->results[0];
    const bool adds = c->params->variant == SCATTER_ADD;
    char neutral[16];
    if (!c->first && (adds || c->params->variant == SCATTER_MULTIPLY)) {
        memset(neutral, 0, sizeof neutral);
        if (!adds || !dtype_is_complex(result->view.dtype)) {
            element_of_number(result->view.dtype, adds ? 0 : 1, neutral);
        }
        kernel_fill(&result->view, neutral);
        return;
    }
    kernel_copy(result->view.data, result->view.strides, input->view.data, input->view.strides,
                input->view.shape, input->view.rank,
                (size_t)tsr_dtype_item_bytes(input->view.dtype), false);
}

static void scatter_run(const op_call *c, void *scratch)
{
    index_dims d;
    (void)scratch;
    read_dims(c->params, &d);
    start_result(c);
    const gather_job job = job_of(c, &d, &c->results[0]);
    kernel_scatter((scatter_kind)c->params->variant, &job, &c->operands[2].view);
}

const op_row op_scatter = {.name = "scatter",
                           .traits = OP_POSITIONAL,
                           .num_operands = 3,
                           .num_results = 1,
                           .types = scatter_types,
                           .rule = scatter_rule,
                           .class_of = class_scatter,
                           .reduces = scatter_reduces,
                           .run = scatter_run,
                           .gradient = gradient_scatter};

/* ---- what comes from nothing ---- */

static tsr_status iota_types(const op_request *r, op_type *results)
{
    const tsr_dtype dtype = r->params->dtype;
    results[0] = op_type_of(dtype, r->params->shape);
    if (!convert_supports(TSR_I64, dtype) || dtype == TSR_I1) {
        return op_no_such_type(r, dtype);
    }
    if (r->params->dimension < 0 || (uint64_t)r->params->dimension >= results[0].rank) {
        return OP_ERROR(r, "dimension %lld is out of range: the result is %s",
                        (long long)r->params->dimension, op_type_text(&results[0]).text);
    }
    return TSR_OK;
}

static void iota_run(const op_call *c, void *scratch)
{
    const size_t dim = (size_t)c->params->dimension;
    (void)scratch;
    kernel_iota(&c->results[0].view, dim, c->results[0].start[dim]);
}

const op_row op_iota = {.name = "iota",
                        .traits = OP_POSITIONAL,
                        .num_results = 1,
                        .types = iota_types,
                        .run = iota_run,
                        .gradient = gradient_none};

static tsr_status random_types(const op_request *r, op_type *results)
{
    if (!random_supports((random_kind)r->params->variant, r->params->dtype)) {
        return op_no_such_type(r, r->params->dtype);
    }
    results[0] = op_type_of(r->params->dtype, r->params->shape);
    return TSR_OK;
}

static void random_run(const op_call *c, void *scratch)
{
    (void)scratch;
    kernel_random((random_kind)c->params->variant, &c->results[0].view, c->params->key,
                  c->params->stream, c->results[0].start, c->results[0].full);
}

const op_row op_random = {.name = "random",
                          .traits = OP_POSITIONAL,
                          .num_results = 1,
                          .types = random_types,
                          .run = random_run,
                          .gradient = gradient_none};

/* ---- sort ---- */

static tsr_status sort_types(const op_request *r, op_type *results)
{
    const op_type *operand = &r->operands[0];
    TSR_TRY(op_check_dim(r, "the dimension", r->params->dimension, operand->rank));
    if (!sort_supports(operand->dtype)) {
        return op_no_such_type(r, operand->dtype);
    }
    results[0] = *operand;
    results[1] = *operand;
    results[1].dtype = TSR_I64;
    return TSR_OK;
}

static tsr_status top_k_types(const op_request *r, op_type *results)
{
    const int64_t k = r->params->k;
    TSR_TRY(sort_types(r, results));
    const int64_t most = r->operands[0].shape[r->params->dimension];
    if (k < 0 || k > most) {
        return OP_ERROR(r, "k is %lld, but dimension %lld of %s has %lld", (long long)k,
                        (long long)r->params->dimension, op_type_text(&r->operands[0]).text,
                        (long long)most);
    }
    results[0].shape[r->params->dimension] = k;
    results[1].shape[r->params->dimension] = k;
    return TSR_OK;
}

/* One operand and two results: the dimension that is sorted is whole in all of them. */
static tsr_status sort_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                            const tsr_rule **out)
{
    const size_t rank = r->operands[0].rank;
    tsr_factor factors[OP_MAX_RANK];
    tsr_rule_dim dims[OP_MAX_RANK];
    size_t numbers[OP_MAX_RANK];
    (void)results;
    for (size_t d = 0; d < rank; d++) {
        const bool sorted = d == (size_t)r->params->dimension;
        factors[d] =
            (tsr_factor){.size = max_i64(r->operands[0].shape[d], 1),
                         .kind = sorted ? TSR_FACTOR_NEED_REPLICATION : TSR_FACTOR_PASS_THROUGH};
        numbers[d] = d;
        dims[d] = (tsr_rule_dim){&numbers[d], 1};
    }
    const tsr_rule_tensor tensor = {dims, rank};
    const tsr_rule_tensor both[] = {tensor, tensor};
    const tsr_rule_spec spec = {.factors = factors,
                                .num_factors = rank,
                                .operands = &tensor,
                                .num_operands = 1,
                                .results = both,
                                .num_results = 2};
    return tsr_rule_create(r->ctx, arena, &spec, out);
}

static size_t sort_scratch(const op_call *c)
{
    return kernel_sort_scratch(&c->operands[0].view, (size_t)c->params->dimension);
}

static void sort_run(const op_call *c, void *scratch)
{
    const bool descending = c->row == &op_top_k || c->params->variant == 1;
    kernel_sort(&c->results[0].view, &c->results[1].view, &c->operands[0].view,
                (size_t)c->params->dimension, descending, scratch);
}

const op_row op_sort = {.name = "sort",
                        .traits = OP_GRADIENT_BY_RESULT,
                        .num_operands = 1,
                        .num_results = 2,
                        .types = sort_types,
                        .rule = sort_rule,
                        .scratch = sort_scratch,
                        .run = sort_run,
                        .gradient = gradient_sort};

const op_row op_top_k = {.name = "top_k",
                         .traits = OP_GRADIENT_BY_RESULT,
                         .num_operands = 1,
                         .num_results = 2,
                         .types = top_k_types,
                         .rule = sort_rule,
                         .scratch = sort_scratch,
                         .run = sort_run,
                         .gradient = gradient_sort};

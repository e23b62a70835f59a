/* The public templates of rules: the rows' own rules, for shapes without element types. */
#include "base/arena.h"
#include "base/guard.h"
#include "ops/op_convolution.h"
#include "ops/op_dot.h"
#include "ops/op_index.h"
#include "ops/op_reduce.h"
#include "ops/op_shape.h"
#include "ops/op_slice.h"
#include "ops/op_sort.h"

/* A row asked about shapes of f32. */
typedef struct template_of {
    tsr_context *ctx;
    tsr_arena *arena;
    const char *name;
    const op_row *row;
} template_of;

static op_type type_of(tsr_extents extents, tsr_dtype dtype)
{
    return (op_type){.dtype = dtype, .rank = extents.rank, .shape = extents.sizes};
}

/* Extents of callers are at least 0, or unknown; hooks rely on that. */
static tsr_status check_extents(tsr_context *ctx, const char *name, const op_type *types,
                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t d = 0; d < types[i].rank; d++) {
            if (types[i].shape[d] < 0 && types[i].shape[d] != TSR_UNKNOWN) {
                return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                                  "%s: dimension %zu of shape %zu has size %lld; the minimum is 0",
                                  name, d, i, (long long)types[i].shape[d]);
            }
        }
    }
    return TSR_OK;
}

/* The rule of a use that has been checked; an error where there is none. */
static tsr_status find_rule(const op_request *r, const op_type *results, const tsr_rule **out)
{
    const tsr_status status = op_find_rule(r, results, r->arena, out);
    return status == TSR_NOT_APPLICABLE
               ? diag_error(r->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                            "%s: no sharding rule exists for these shapes", r->call)
               : status;
}

/* Checks the op as every use of it is checked, then gives its rule. */
static tsr_status make_rule(const template_of *t, const void *params, const op_type *operands,
                            size_t num_operands, const tsr_rule **out)
{
    const op_request r = {.ctx = t->ctx,
                          .arena = t->arena,
                          .call = t->name,
                          .row = t->row,
                          .params = params,
                          .num_operands = num_operands,
                          .operands = operands};
    op_type *results = ARENA_ARRAY(t->arena, op_type, op_num_results(t->row, num_operands));
    if (results == NULL) {
        return diag_nomem(t->ctx);
    }
    TSR_TRY(check_extents(t->ctx, t->name, operands, num_operands));
    TSR_TRY(t->row->types(&r, results));
    return find_rule(&r, results, out);
}

/* Dimensions as parameters have them; NULL without memory. */
static op_ints ints_of(tsr_arena *arena, const size_t *dims, size_t count)
{
    int64_t *values = ARENA_ARRAY(arena, int64_t, count);
    for (size_t i = 0; values != NULL && i < count; i++) {
        values[i] = dims[i] <= INT64_MAX ? (int64_t)dims[i] : INT64_MAX;
    }
    return (op_ints){count, values};
}

static op_ints filled(tsr_arena *arena, size_t count, int64_t value)
{
    int64_t *values = ARENA_ARRAY(arena, int64_t, count);
    for (size_t i = 0; values != NULL && i < count; i++) {
        values[i] = value;
    }
    return (op_ints){count, values};
}

static bool all_there(const op_ints *lists, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (lists[i].values == NULL) {
            return false;
        }
    }
    return true;
}

/* ---- products and reductions ---- */

tsr_status tsr_rule_dot_general(tsr_context *ctx, tsr_arena *arena, tsr_extents lhs,
                                tsr_extents rhs, const tsr_dot_dims *dims, const tsr_rule **out)
{
    GUARD(tsr_rule_dot_general);
    const template_of t = {ctx, arena, "dot_general", &op_dot_general};
    const op_type operands[] = {type_of(lhs, TSR_F32), type_of(rhs, TSR_F32)};
    const op_ints lists[] = {ints_of(arena, dims->lhs_batch, dims->num_batch),
                             ints_of(arena, dims->rhs_batch, dims->num_batch),
                             ints_of(arena, dims->lhs_contracting, dims->num_contracting),
                             ints_of(arena, dims->rhs_contracting, dims->num_contracting)};
    const dot_params params = {.lhs_batching_dimensions = lists[0],
                               .rhs_batching_dimensions = lists[1],
                               .lhs_contracting_dimensions = lists[2],
                               .rhs_contracting_dimensions = lists[3]};
    return all_there(lists, 4) ? make_rule(&t, &params, operands, 2, out) : diag_nomem(ctx);
}

tsr_status tsr_rule_matmul(tsr_context *ctx, tsr_arena *arena, tsr_extents lhs, tsr_extents rhs,
                           const tsr_rule **out)
{
    GUARD(tsr_rule_matmul);
    if (lhs.rank == 0 || rhs.rank == 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a matrix product has no scalar operands; the ranks are %zu and %zu",
                          lhs.rank, rhs.rank);
    }
    const size_t lhs_batch = lhs.rank > 2 ? lhs.rank - 2 : 0;
    const size_t rhs_batch = rhs.rank > 2 ? rhs.rank - 2 : 0;
    if (lhs_batch != rhs_batch && lhs_batch > 0 && rhs_batch > 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the operands of a matrix product have %zu and %zu leading "
                          "dimensions; broadcast one of them first",
                          lhs_batch, rhs_batch);
    }
    const size_t num_batch = lhs_batch < rhs_batch ? lhs_batch : rhs_batch;
    size_t *batch = ARENA_ARRAY(arena, size_t, num_batch);
    if (batch == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_batch; i++) {
        batch[i] = i;
    }
    const size_t l = lhs.rank - 1;
    const size_t r = rhs.rank > 1 ? rhs.rank - 2 : 0;
    const tsr_dot_dims dims = {num_batch, batch, batch, 1, &l, &r};
    return tsr_rule_dot_general(ctx, arena, lhs, rhs, &dims, out);
}

tsr_status tsr_rule_reduce(tsr_context *ctx, tsr_arena *arena, tsr_extents operand,
                           const size_t *dims, size_t num_dims, const tsr_rule **out)
{
    GUARD(tsr_rule_reduce);
    const template_of t = {ctx, arena, "reduce", &op_fold};
    const op_type type = type_of(operand, TSR_F32);
    const reduce_params params = {.dimensions = ints_of(arena, dims, num_dims),
                                  .body = {.body = OP_BODY_SUM}};
    return all_there(&params.dimensions, 1) ? make_rule(&t, &params, &type, 1, out)
                                            : diag_nomem(ctx);
}

tsr_status tsr_rule_cumulative(tsr_context *ctx, tsr_arena *arena, tsr_extents shape, size_t dim,
                               const tsr_rule **out)
{
    GUARD(tsr_rule_cumulative);
    const template_of t = {ctx, arena, "cumulative", &op_cumulative};
    const op_type type = type_of(shape, TSR_F32);
    const cumulative_params params = {.dimension = (int64_t)dim, .body = {.body = OP_BODY_SUM}};
    return make_rule(&t, &params, &type, 1, out);
}

/* ---- shapes ---- */

tsr_status tsr_rule_transpose(tsr_context *ctx, tsr_arena *arena, tsr_extents operand,
                              const size_t *permutation, const tsr_rule **out)
{
    GUARD(tsr_rule_transpose);
    const template_of t = {ctx, arena, "transpose", &op_transpose};
    const op_type type = type_of(operand, TSR_F32);
    const transpose_params params = {.permutation = ints_of(arena, permutation, operand.rank)};
    return all_there(&params.permutation, 1) ? make_rule(&t, &params, &type, 1, out)
                                             : diag_nomem(ctx);
}

tsr_status tsr_rule_broadcast(tsr_context *ctx, tsr_arena *arena, tsr_extents operand,
                              tsr_extents result, const size_t *dims, const tsr_rule **out)
{
    GUARD(tsr_rule_broadcast);
    const template_of t = {ctx, arena, "broadcast_in_dim", &op_broadcast_in_dim};
    const op_type type = type_of(operand, TSR_F32);
    int64_t *last = ARENA_ARRAY(arena, int64_t, operand.rank);
    if (last == NULL) {
        return diag_nomem(ctx);
    }
    if (operand.rank > result.rank) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a tensor of rank %zu cannot be broadcast to rank %zu", operand.rank,
                          result.rank);
    }
    for (size_t d = 0; d < operand.rank; d++) {
        last[d] = (int64_t)(dims != NULL ? dims[d] : result.rank - operand.rank + d);
    }
    const broadcast_params params = {.broadcast_dimensions = {operand.rank, last},
                                     .result = type_of(result, TSR_F32)};
    return make_rule(&t, &params, &type, 1, out);
}

tsr_status tsr_rule_reshape(tsr_context *ctx, tsr_arena *arena, tsr_extents operand,
                            tsr_extents result, const tsr_rule **out)
{
    GUARD(tsr_rule_reshape);
    const template_of t = {ctx, arena, "reshape", &op_reshape};
    const op_type type = type_of(operand, TSR_F32);
    const reshape_params params = {.result = type_of(result, TSR_F32)};
    return make_rule(&t, &params, &type, 1, out);
}

tsr_status tsr_rule_concatenate(tsr_context *ctx, tsr_arena *arena, const tsr_extents *operands,
                                size_t num_operands, size_t dim, const tsr_rule **out)
{
    GUARD(tsr_rule_concatenate);
    const template_of t = {ctx, arena, "concatenate", &op_concatenate};
    const concatenate_params params = {.dimension = (int64_t)dim};
    op_type *types = ARENA_ARRAY(arena, op_type, num_operands);
    if (num_operands == 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "nothing to concatenate");
    }
    if (types == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_operands; i++) {
        types[i] = type_of(operands[i], TSR_F32);
    }
    return make_rule(&t, &params, types, num_operands, out);
}

static tsr_status check_same_rank(tsr_context *ctx, const char *op, tsr_extents a, tsr_extents b)
{
    return a.rank == b.rank ? TSR_OK
                            : diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                                         "%s keeps the rank: the operand has %zu, the result %zu",
                                         op, a.rank, b.rank);
}

tsr_status tsr_rule_slice(tsr_context *ctx, tsr_arena *arena, tsr_extents operand,
                          tsr_extents result, const tsr_rule **out)
{
    GUARD(tsr_rule_slice);
    const template_of t = {ctx, arena, "slice", &op_slice};
    const op_type type = type_of(operand, TSR_F32);
    TSR_TRY(check_same_rank(ctx, "slice", operand, result));
    const op_ints lists[] = {filled(arena, operand.rank, 0), filled(arena, operand.rank, 1)};
    const slice_params params = {.start_indices = lists[0],
                                 .limit_indices = {result.rank, result.sizes},
                                 .strides = lists[1]};
    return all_there(lists, 2) ? make_rule(&t, &params, &type, 1, out) : diag_nomem(ctx);
}

tsr_status tsr_rule_pad(tsr_context *ctx, tsr_arena *arena, tsr_extents operand, tsr_extents result,
                        const tsr_rule **out)
{
    GUARD(tsr_rule_pad);
    const template_of t = {ctx, arena, "pad", &op_pad};
    const op_type types[] = {type_of(operand, TSR_F32), {.dtype = TSR_F32}};
    int64_t *after = ARENA_ARRAY(arena, int64_t, operand.rank);
    TSR_TRY(check_same_rank(ctx, "pad", operand, result));
    const op_ints none = filled(arena, operand.rank, 0);
    if (none.values == NULL || after == NULL) {
        return diag_nomem(ctx);
    }
    const op_type shapes[] = {types[0], type_of(result, TSR_F32)};
    TSR_TRY(check_extents(ctx, t.name, shapes, 2));
    for (size_t d = 0; d < operand.rank; d++) {
        const bool known = operand.sizes[d] != TSR_UNKNOWN;
        after[d] = known ? result.sizes[d] - operand.sizes[d] : 0;
    }
    const pad_params params = {.edge_padding_low = none,
                               .edge_padding_high = {operand.rank, after},
                               .interior_padding = none};
    return make_rule(&t, &params, types, 2, out);
}

tsr_status tsr_rule_sort(tsr_context *ctx, tsr_arena *arena, size_t num_operands, tsr_extents shape,
                         size_t dim, const tsr_rule **out)
{
    GUARD(tsr_rule_sort);
    const template_of t = {ctx, arena, "sort", &op_sort};
    const sort_params params = {.dimension = dim <= INT64_MAX ? (int64_t)dim : INT64_MAX,
                                .comparator = {.body = OP_BODY_LESS}};
    op_type *types = ARENA_ARRAY(arena, op_type, num_operands);
    if (num_operands == 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "nothing to sort");
    }
    if (types == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_operands; i++) {
        types[i] = type_of(shape, TSR_F32);
    }
    return make_rule(&t, &params, types, num_operands, out);
}

/* ---- indices ---- */

/* The dimension numbers as parameters; what is indexed follows from the indices' shape. */
static tsr_status windows_of_dims(tsr_context *ctx, tsr_arena *arena, const tsr_gather_dims *d,
                                  tsr_extents indices, window_dims *out)
{
    const bool has_vectors = d->index_vector_dim < indices.rank;
    const int64_t indexed = has_vectors ? indices.sizes[d->index_vector_dim] : 1;
    int64_t *map = ARENA_ARRAY(arena, int64_t, OP_MAX_RANK);
    const op_ints lists[] = {ints_of(arena, d->offset_dims, d->num_offset),
                             ints_of(arena, d->collapsed_dims, d->num_collapsed),
                             ints_of(arena, d->input_batching, d->num_batching),
                             ints_of(arena, d->indices_batching, d->num_batching)};
    if (map == NULL || !all_there(lists, 4)) {
        return diag_nomem(ctx);
    }
    size_t count = 0;
    for (size_t dim = 0; dim < OP_MAX_RANK && (int64_t)count < indexed; dim++) {
        if (!op_ints_have(lists[2], dim)) {
            map[count++] = (int64_t)dim;
        }
    }
    *out = (window_dims){.window = lists[0],
                         .collapsed = lists[1],
                         .input_batching = lists[2],
                         .indices_batching = lists[3],
                         .index_map = {count, map},
                         .index_vector_dim = (int64_t)d->index_vector_dim};
    return TSR_OK;
}

/* Slice sizes that give the slices their shape: 1 where the slices have no dimension. */
static op_ints slice_sizes_of(tsr_arena *arena, const window_dims *w, tsr_extents input,
                              tsr_extents slices)
{
    int64_t *sizes = ARENA_ARRAY(arena, int64_t, input.rank);
    size_t window = 0;
    for (size_t d = 0; sizes != NULL && d < input.rank; d++) {
        const bool kept = !op_ints_have(w->collapsed, d) && !op_ints_have(w->input_batching, d) &&
                          window < w->window.count;
        const size_t s = kept ? (size_t)w->window.values[window] : slices.rank;
        sizes[d] = s < slices.rank ? slices.sizes[s] : min_i64(input.sizes[d], 1);
        window += kept;
    }
    return (op_ints){input.rank, sizes};
}

tsr_status tsr_rule_gather(tsr_context *ctx, tsr_arena *arena, tsr_extents input,
                           tsr_extents indices, tsr_extents slices, const tsr_gather_dims *dims,
                           const tsr_rule **out)
{
    GUARD(tsr_rule_gather);
    const template_of t = {ctx, arena, "gather", &op_gather};
    const op_type operands[] = {type_of(input, TSR_F32), type_of(indices, TSR_I32)};
    window_dims w;
    op_type result;
    TSR_TRY(windows_of_dims(ctx, arena, dims, indices, &w));
    const gather_params params = gather_of_windows(&w, slice_sizes_of(arena, &w, input, slices));
    if (params.slice_sizes.values == NULL) {
        return diag_nomem(ctx);
    }
    const op_request r = {.ctx = ctx,
                          .arena = arena,
                          .call = t.name,
                          .row = t.row,
                          .params = &params,
                          .num_operands = 2,
                          .operands = operands};
    TSR_TRY(op_gather.types(&r, &result));
    const op_type given = type_of(slices, TSR_F32);
    if (!op_shapes_agree(&result, &given)) {
        return OP_ERROR(&r, "slices %s do not fit an input %s and indices %s",
                        op_type_text(&given).text, op_type_text(&operands[0]).text,
                        op_type_text(&operands[1]).text);
    }
    return make_rule(&t, &params, operands, 2, out);
}

tsr_status tsr_rule_scatter(tsr_context *ctx, tsr_arena *arena, size_t num_inputs,
                            tsr_extents input, tsr_extents indices, tsr_extents updates,
                            const tsr_gather_dims *dims, bool reduces, const tsr_rule **out)
{
    GUARD(tsr_rule_scatter);
    const template_of t = {ctx, arena, "scatter", &op_scatter};
    window_dims w;
    if (num_inputs == 0 || num_inputs > 64) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a scatter takes 1 to 64 inputs, got: %zu", num_inputs);
    }
    op_type *operands = ARENA_ARRAY(arena, op_type, 2 * num_inputs + 1);
    if (operands == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < num_inputs; i++) {
        operands[i] = type_of(input, TSR_F32);
        operands[num_inputs + 1 + i] = type_of(updates, TSR_F32);
    }
    operands[num_inputs] = type_of(indices, TSR_I32);
    TSR_TRY(windows_of_dims(ctx, arena, dims, indices, &w));
    const scatter_params params = scatter_of_windows(&w, reduces ? OP_BODY_SUM : OP_BODY_SECOND);
    return make_rule(&t, &params, operands, 2 * num_inputs + 1, out);
}

/* ---- convolutions ---- */

tsr_status tsr_rule_convolution(tsr_context *ctx, tsr_arena *arena, tsr_extents input,
                                tsr_extents kernel, tsr_extents output,
                                const tsr_convolution_dims *dims, const tsr_rule **out)
{
    GUARD(tsr_rule_convolution);
    const op_type operands[] = {type_of(input, TSR_F32), type_of(kernel, TSR_F32)};
    const op_type result = type_of(output, TSR_F32);
    const op_ints lists[] = {ints_of(arena, dims->input_spatial, dims->num_spatial),
                             ints_of(arena, dims->kernel_spatial, dims->num_spatial),
                             ints_of(arena, dims->output_spatial, dims->num_spatial)};
    if (!all_there(lists, 3)) {
        return diag_nomem(ctx);
    }
    const convolution_params params = {
        .input_batch_dimension = (int64_t)dims->input_batch,
        .input_feature_dimension = (int64_t)dims->input_feature,
        .input_spatial_dimensions = lists[0],
        .kernel_input_feature_dimension = (int64_t)dims->kernel_input_feature,
        .kernel_output_feature_dimension = (int64_t)dims->kernel_output_feature,
        .kernel_spatial_dimensions = lists[1],
        .output_batch_dimension = (int64_t)dims->output_batch,
        .output_feature_dimension = (int64_t)dims->output_feature,
        .output_spatial_dimensions = lists[2],
        .feature_group_count = dims->feature_group_count,
        .batch_group_count = dims->batch_group_count};
    const op_request r = {.ctx = ctx,
                          .arena = arena,
                          .call = "convolution",
                          .row = &op_convolution,
                          .params = &params,
                          .num_operands = 2,
                          .operands = operands};
    TSR_TRY(check_extents(ctx, r.call, operands, 2));
    TSR_TRY(check_extents(ctx, r.call, &result, 1));
    TSR_TRY(convolution_check_dims(&r, output.rank));
    return find_rule(&r, &result, out);
}

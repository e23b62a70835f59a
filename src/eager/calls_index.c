/* The public calls of ops that read or write at indices, and of sorts. */
#include <tessera/ops.h>

#include "base/guard.h"
#include "eager/calls.h"
#include "ops/op_sort.h"

/* ---- rows along a dimension ---- */

tsr_status eager_check_take(const char *call, const tsr_tensor *x, const tsr_tensor *indices,
                            size_t dim)
{
    const op_type type = type_of_layout(x->layout);
    if (dim >= type.rank || type.rank - 1 + indices->geometry->rank > OP_MAX_RANK) {
        return diag_error(x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: dimension %zu is out of range for %s and indices of rank %zu", call,
                          dim, op_type_text(&type).text, indices->geometry->rank);
    }
    return TSR_OK;
}

void eager_take_dims(const tsr_tensor *x, const tsr_tensor *indices, size_t dim, take_dims *out)
{
    const size_t rank = x->geometry->rank;
    const size_t indices_rank = indices->geometry->rank;
    size_t count = 0;
    out->dim = (int64_t)dim;
    for (size_t d = 0; d < rank; d++) {
        const int64_t size = x->geometry->shape[d];
        out->sizes[d] = d == dim ? min_i64(1, size) : size;
        if (d != dim) {
            out->offset[count++] = (int64_t)(d < dim ? d : d - 1 + indices_rank);
        }
    }
    out->params = (gather_params){.offset_dims = {count, out->offset},
                                  .collapsed_slice_dims = {1, &out->dim},
                                  .start_index_map = {1, &out->dim},
                                  .index_vector_dim = (int64_t)indices_rank,
                                  .slice_sizes = {rank, out->sizes}};
}

static tsr_status take_rows(const char *call, tsr_tensor *x, tsr_tensor *indices, size_t dim,
                            tsr_tensor **out)
{
    tsr_tensor *const operands[] = {x, indices};
    take_dims dims;
    TSR_TRY(eager_given(call, operands, 2, eager_check_take(call, x, indices, dim)));
    eager_take_dims(x, indices, dim, &dims);
    return eager_call(call, &op_gather, &dims.params, operands, 2, out);
}

tsr_status tsr_take(tsr_tensor *x, tsr_tensor *indices, size_t dim, tsr_tensor **out)
{
    GUARD(tsr_take);
    return take_rows("tsr_take", x, indices, dim, out);
}

tsr_status tsr_embedding(tsr_tensor *table, tsr_tensor *indices, tsr_tensor **out)
{
    GUARD(tsr_embedding);
    tsr_tensor *const operands[] = {table, indices};
    if (table->geometry->rank != 2) {
        const op_type type = type_of_layout(table->layout);
        return eager_given("tsr_embedding", operands, 2,
                           diag_error(table->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                                      "tsr_embedding: the table must have rank 2, got: %s",
                                      op_type_text(&type).text));
    }
    return take_rows("tsr_embedding", table, indices, 0, out);
}

/* What updates do, as the region of a scatter. */
static const op_body scatter_bodies[] = {[TSR_SCATTER_SET] = OP_BODY_SECOND,
                                         [TSR_SCATTER_ADD] = OP_BODY_SUM,
                                         [TSR_SCATTER_MUL] = OP_BODY_PROD,
                                         [TSR_SCATTER_MAX] = OP_BODY_MAX,
                                         [TSR_SCATTER_MIN] = OP_BODY_MIN};

tsr_status tsr_scatter(tsr_tensor *x, tsr_tensor *indices, tsr_tensor *updates, size_t dim,
                       tsr_scatter_op op, tsr_tensor **out)
{
    GUARD(tsr_scatter);
    tsr_tensor *const operands[] = {x, indices, updates};
    take_dims dims;
    TSR_TRY(
        eager_given("tsr_scatter", operands, 3, eager_check_take("tsr_scatter", x, indices, dim)));
    eager_take_dims(x, indices, dim, &dims);
    const window_dims windows = gather_window_dims(&dims.params);
    const scatter_params params = scatter_of_windows(&windows, scatter_bodies[op]);
    return eager_call("tsr_scatter", &op_scatter, &params, operands, 3, out);
}

/* General dimension numbers as parameters; the lists hold them. */
static tsr_status read_slices(tsr_comm *world, const char *call, const tsr_slices_dims *dims,
                              dims_list *lists, window_dims *out)
{
    const tsr_gather_dims *d = &dims->dims;
    TSR_TRY(eager_read_dims(world, call, d->offset_dims, d->num_offset, &lists[0]));
    TSR_TRY(eager_read_dims(world, call, d->collapsed_dims, d->num_collapsed, &lists[1]));
    TSR_TRY(eager_read_dims(world, call, d->input_batching, d->num_batching, &lists[2]));
    TSR_TRY(eager_read_dims(world, call, d->indices_batching, d->num_batching, &lists[3]));
    TSR_TRY(eager_read_dims(world, call, dims->start_index_map, dims->num_indexed, &lists[4]));
    *out = (window_dims){.window = ints_of(&lists[0]),
                         .collapsed = ints_of(&lists[1]),
                         .input_batching = ints_of(&lists[2]),
                         .indices_batching = ints_of(&lists[3]),
                         .index_map = ints_of(&lists[4]),
                         .index_vector_dim = (int64_t)d->index_vector_dim};
    return TSR_OK;
}

tsr_status tsr_gather_slices(tsr_tensor *x, tsr_tensor *indices, const tsr_slices_dims *dims,
                             const int64_t *slice_sizes, tsr_tensor **out)
{
    GUARD(tsr_gather_slices);
    tsr_tensor *const operands[] = {x, indices};
    dims_list lists[5];
    window_dims windows;
    TSR_TRY(eager_given("tsr_gather_slices", operands, 2,
                        read_slices(x->world, "tsr_gather_slices", dims, lists, &windows)));
    const gather_params params =
        gather_of_windows(&windows, (op_ints){x->geometry->rank, slice_sizes});
    return eager_call("tsr_gather_slices", &op_gather, &params, operands, 2, out);
}

tsr_status tsr_scatter_slices(tsr_tensor *x, tsr_tensor *indices, tsr_tensor *updates,
                              const tsr_slices_dims *dims, tsr_scatter_op op, tsr_tensor **out)
{
    GUARD(tsr_scatter_slices);
    tsr_tensor *const operands[] = {x, indices, updates};
    dims_list lists[5];
    window_dims windows;
    TSR_TRY(eager_given("tsr_scatter_slices", operands, 3,
                        read_slices(x->world, "tsr_scatter_slices", dims, lists, &windows)));
    const scatter_params params = scatter_of_windows(&windows, scatter_bodies[op]);
    return eager_call("tsr_scatter_slices", &op_scatter, &params, operands, 3, out);
}

/* A sort with two results, of which the caller may want one. */
static tsr_status sort_call(const char *call, const op_row *row, const void *params, tsr_tensor *x,
                            tsr_tensor **values, tsr_tensor **indices)
{
    tsr_tensor *results[2];
    eager *e = NULL;
    TSR_TRY(eager_of(x->world, &e));
    TSR_TRY(eager_call(call, row, params, &x, 1, results));
    tsr_tensor **const wanted[2] = {values, indices};
    for (size_t i = 0; i < 2; i++) {
        if (wanted[i] != NULL) {
            *wanted[i] = results[i];
        } else if (e->scope == NULL) {
            tsr_tensor_release(results[i]);
        }
    }
    return TSR_OK;
}

tsr_status tsr_sort(tsr_tensor *x, size_t dim, bool descending, tsr_tensor **values,
                    tsr_tensor **indices)
{
    GUARD(tsr_sort);
    const argsort_params params = {.dimension = (int64_t)dim, .descending = descending};
    return sort_call("tsr_sort", &op_argsort, &params, x, values, indices);
}

tsr_status tsr_top_k(tsr_tensor *x, size_t dim, int64_t k, tsr_tensor **values,
                     tsr_tensor **indices)
{
    GUARD(tsr_top_k);
    const top_k_params params = {.dimension = (int64_t)dim, .k = k};
    return sort_call("tsr_top_k", &op_top_k, &params, x, values, indices);
}

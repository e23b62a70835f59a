#include "ops/run_slice.h"

#include <string.h>

#include "ops/op_slice.h"

/* ---- indices ---- */

/* An index of any integer type, saturated. */
static int64_t load_index(const tsr_view *view)
{
    const size_t bytes = (size_t)tsr_dtype_item_bytes(view->dtype);
    const bool is_signed = view->dtype <= TSR_I64;
    uint64_t bits = 0;
    memcpy(&bits, view->data, bytes);
    if (is_signed && bytes < sizeof bits) {
        const unsigned shift = (unsigned)(64 - 8 * bytes);
        return (int64_t)(bits << shift) >> shift;
    }
    return !is_signed && bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
}

/* Where a part of `size` rows begins so that it is inside of `full`. */
static int64_t clamped_start(const op_call *c, size_t operand, int64_t full, int64_t size)
{
    const int64_t start = load_index(&c->operands[operand].view);
    return max_i64(0, min_i64(start, full - size));
}

/* Scalars of an integer type, one for each dimension, from `first` on. */
static bool are_indices(const op_request *r, size_t first, size_t rank)
{
    if (r->num_operands != first + rank) {
        return false;
    }
    for (size_t i = first; i < r->num_operands; i++) {
        if (r->operands[i].rank != 0 || !dtype_is_integer(r->operands[i].dtype)) {
            return false;
        }
    }
    return true;
}

/* Whether one tensor fits into another of its type. */
static bool fits_into(const op_type *part, const op_type *whole)
{
    if (part->rank != whole->rank || part->dtype != whole->dtype) {
        return false;
    }
    for (size_t d = 0; d < part->rank; d++) {
        if (part->shape[d] > whole->shape[d]) {
            return false;
        }
    }
    return true;
}

/* ---- dynamic_slice ---- */

bool dynamic_slice_supports(const op_request *r, const op_type *results)
{
    const op_ints sizes = ((const dynamic_slice_params *)r->params)->slice_sizes;
    const op_type *from = &r->operands[0];
    bool fits =
        are_indices(r, 1, from->rank) && fits_into(&results[0], from) && sizes.count == from->rank;
    for (size_t d = 0; fits && d < from->rank; d++) {
        fits = sizes.values[d] == results[0].shape[d];
    }
    return fits;
}

void dynamic_slice_run(const op_call *c, void *scratch)
{
    const op_array *to = &c->results[0];
    tsr_view from = c->operands[0].view;
    (void)scratch;
    for (size_t d = 0; d < from.rank; d++) {
        const int64_t start = clamped_start(c, 1 + d, from.shape[d], to->view.shape[d]);
        from.data = (char *)from.data + start * from.strides[d];
    }
    op_copy_to(to, 0, to->view.strides, &from, from.strides, to->view.shape);
}

/* ---- dynamic_update_slice ---- */

bool dynamic_update_slice_supports(const op_request *r, const op_type *results)
{
    const op_type *into = &r->operands[0];
    return are_indices(r, 2, into->rank) && fits_into(&r->operands[1], into) &&
           into->dtype == results[0].dtype && op_shapes_agree(into, &results[0]);
}

void dynamic_update_slice_run(const op_call *c, void *scratch)
{
    const op_array *to = &c->results[0];
    const tsr_view *from = &c->operands[0].view;
    const tsr_view *update = &c->operands[1].view;
    size_t offset = 0;
    (void)scratch;
    for (size_t d = 0; d < from->rank; d++) {
        const int64_t start = clamped_start(c, 2 + d, from->shape[d], update->shape[d]);
        offset += (size_t)(start * to->view.strides[d]);
    }
    op_copy_to(to, 0, to->view.strides, from, from->strides, from->shape);
    op_copy_to(to, offset, to->view.strides, update, update->strides, update->shape);
}

/* ---- reverse ---- */

bool reverse_supports(const op_request *r, const op_type *results)
{
    const op_ints dims = ((const reverse_params *)r->params)->dimensions;
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.values[i] < 0 || dims.values[i] >= (int64_t)results[0].rank) {
            return false;
        }
    }
    return r->operands[0].dtype == results[0].dtype &&
           op_shapes_agree(&r->operands[0], &results[0]);
}

void reverse_run(const op_call *c, void *scratch)
{
    const op_ints dims = ((const reverse_params *)c->params)->dimensions;
    const op_array *to = &c->results[0];
    tsr_view from = c->operands[0].view;
    int64_t strides[OP_MAX_RANK];
    (void)scratch;
    for (size_t d = 0; d < from.rank; d++) {
        strides[d] = from.strides[d];
        if (op_ints_have(dims, d) && from.shape[d] > 0) {
            from.data = (char *)from.data + (from.shape[d] - 1) * from.strides[d];
            strides[d] = -from.strides[d];
        }
    }
    op_copy_to(to, 0, to->view.strides, &from, strides, to->view.shape);
}

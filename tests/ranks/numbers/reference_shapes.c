/* What moves elements, by shape or by index. */
#include <math.h>
#include <string.h>

#include "reference.h"
#include "support.h"

/* ---- shapes ---- */

ref_array ref_reshape(tsr_arena *arena, const ref_array *x, size_t rank, const int64_t *shape)
{
    ref_array y = ref_new(arena, x->dtype, rank, shape);
    for (int64_t k = 0; k < y.count; k++) {
        y.at[k] = x->at[k];
    }
    return y;
}

ref_array ref_transpose(tsr_arena *arena, const ref_array *x, const size_t *permutation)
{
    int64_t shape[REF_DIMS];
    int64_t index[REF_DIMS];
    int64_t from[REF_DIMS];
    for (size_t d = 0; d < x->rank; d++) {
        shape[d] = x->shape[permutation[d]];
    }
    ref_array y = ref_new(arena, x->dtype, x->rank, shape);
    for (int64_t k = 0; k < y.count; k++) {
        ref_index(&y, k, index);
        for (size_t d = 0; d < x->rank; d++) {
            from[permutation[d]] = index[d];
        }
        y.at[k] = x->at[ref_place(x, from)];
    }
    return y;
}

ref_array ref_broadcast(tsr_arena *arena, const ref_array *x, size_t rank, const int64_t *shape)
{
    int64_t index[REF_DIMS];
    int64_t from[REF_DIMS];
    ref_array y = ref_new(arena, x->dtype, rank, shape);
    for (int64_t k = 0; k < y.count; k++) {
        ref_index(&y, k, index);
        for (size_t d = 0; d < x->rank; d++) {
            from[d] = x->shape[d] == 1 ? 0 : index[rank - x->rank + d];
        }
        y.at[k] = x->at[ref_place(x, from)];
    }
    return y;
}

ref_array ref_slice(tsr_arena *arena, const ref_array *x, const int64_t *start,
                    const int64_t *limit, const int64_t *strides)
{
    int64_t shape[REF_DIMS];
    int64_t index[REF_DIMS];
    for (size_t d = 0; d < x->rank; d++) {
        shape[d] = 0;
        for (int64_t i = start[d]; i < limit[d]; i += strides != NULL ? strides[d] : 1) {
            shape[d]++;
        }
    }
    ref_array y = ref_new(arena, x->dtype, x->rank, shape);
    for (int64_t k = 0; k < y.count; k++) {
        ref_index(&y, k, index);
        for (size_t d = 0; d < x->rank; d++) {
            index[d] = start[d] + index[d] * (strides != NULL ? strides[d] : 1);
        }
        y.at[k] = x->at[ref_place(x, index)];
    }
    return y;
}

ref_array ref_concatenate(tsr_arena *arena, const ref_array *x, size_t count, size_t dim)
{
    int64_t shape[REF_DIMS];
    int64_t index[REF_DIMS];
    int64_t before = 0;
    memcpy(shape, x[0].shape, sizeof shape);
    for (size_t i = 1; i < count; i++) {
        shape[dim] += x[i].shape[dim];
    }
    ref_array y = ref_new(arena, x[0].dtype, x[0].rank, shape);
    for (size_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < x[i].count; k++) {
            ref_index(&x[i], k, index);
            index[dim] += before;
            y.at[ref_place(&y, index)] = x[i].at[k];
        }
        before += x[i].shape[dim];
    }
    return y;
}

ref_array ref_stack(tsr_arena *arena, const ref_array *x, size_t count, size_t dim)
{
    int64_t shape[REF_DIMS];
    int64_t index[REF_DIMS];
    int64_t own[REF_DIMS];
    for (size_t d = 0; d <= x[0].rank; d++) {
        shape[d] = d == dim ? (int64_t)count : x[0].shape[d - (d > dim)];
    }
    ref_array y = ref_new(arena, x[0].dtype, x[0].rank + 1, shape);
    for (int64_t k = 0; k < y.count; k++) {
        ref_index(&y, k, index);
        for (size_t d = 0; d < x[0].rank; d++) {
            own[d] = index[d + (d >= dim)];
        }
        y.at[k] = x[index[dim]].at[ref_place(&x[0], own)];
    }
    return y;
}

static ref_number border_of(tsr_dtype dtype, double number)
{
    return (ref_number){.f = ref_is_float(dtype) ? ref_round(dtype, (long double)number) : 0,
                        .i = ref_is_float(dtype) ? 0 : (int64_t)number};
}

/* Every element goes to where it is in the result, if it is in it. */
ref_array ref_pad(tsr_arena *arena, const ref_array *x, double number, const int64_t *before,
                  const int64_t *after, const int64_t *between)
{
    int64_t shape[REF_DIMS];
    int64_t index[REF_DIMS];
    for (size_t d = 0; d < x->rank; d++) {
        const int64_t gaps = x->shape[d] > 0 && between != NULL ? x->shape[d] - 1 : 0;
        shape[d] = before[d] + x->shape[d] + gaps * (gaps > 0 ? between[d] : 0) + after[d];
    }
    ref_array y = ref_new(arena, x->dtype, x->rank, shape);
    for (int64_t k = 0; k < y.count; k++) {
        y.at[k] = border_of(x->dtype, number);
    }
    for (int64_t k = 0; k < x->count; k++) {
        bool is_inside = true;
        ref_index(x, k, index);
        for (size_t d = 0; d < x->rank; d++) {
            index[d] = before[d] + index[d] * (1 + (between != NULL ? between[d] : 0));
            is_inside = is_inside && index[d] >= 0 && index[d] < shape[d];
        }
        if (is_inside) {
            y.at[ref_place(&y, index)] = x->at[k];
        }
    }
    return y;
}

/* ---- rows ---- */

/* Which row an index of the rows' array names, and where in x it then is. */
static int64_t row_of(const ref_array *indices, size_t dim, const int64_t *index, size_t rank,
                      int64_t *in_x)
{
    for (size_t d = 0; d < rank; d++) {
        in_x[d] = d < dim ? index[d] : d > dim ? index[d - 1 + indices->rank] : 0;
    }
    return indices->at[ref_place(indices, index + dim)].i;
}

ref_array ref_take(tsr_arena *arena, const ref_array *x, const ref_array *indices, size_t dim)
{
    int64_t shape[REF_DIMS] = {0};
    int64_t index[REF_DIMS] = {0};
    int64_t in_x[REF_DIMS] = {0};
    const size_t rank = x->rank - 1 + indices->rank;
    for (size_t d = 0; d < rank; d++) {
        shape[d] = d < dim                   ? x->shape[d]
                   : d < dim + indices->rank ? indices->shape[d - dim]
                                             : x->shape[d - indices->rank + 1];
    }
    ref_array y = ref_new(arena, x->dtype, rank, shape);
    for (int64_t k = 0; k < y.count; k++) {
        ref_index(&y, k, index);
        const int64_t row = row_of(indices, dim, index, x->rank, in_x);
        in_x[dim] = row < 0 ? 0 : row >= x->shape[dim] ? x->shape[dim] - 1 : row;
        y.at[k] = x->at[ref_place(x, in_x)];
    }
    return y;
}

static ref_number updated(tsr_dtype dtype, tsr_scatter_op op, ref_number old, ref_number by)
{
    const bool is_nan = isnan(old.f);
    ref_number y = by;
    switch (op) {
    case TSR_SCATTER_SET:
        return by;
    case TSR_SCATTER_ADD:
        y.f = old.f + by.f;
        y.i = ref_wrap(dtype, (uint64_t)old.i + (uint64_t)by.i);
        y.scale = fabs(by.f) + (old.scale > fabs(old.f) ? old.scale : fabs(old.f));
        return y;
    case TSR_SCATTER_MUL:
        y.f = old.f * by.f;
        y.i = ref_wrap(dtype, (uint64_t)old.i * (uint64_t)by.i);
        return y;
    case TSR_SCATTER_MAX:
        y.f = is_nan || old.f > by.f ? old.f : by.f;
        y.i = old.i > by.i ? old.i : by.i;
        return y;
    default:
        y.f = is_nan || old.f < by.f ? old.f : by.f;
        y.i = old.i < by.i ? old.i : by.i;
        return y;
    }
}

ref_array ref_scatter(tsr_arena *arena, const ref_array *x, const ref_array *indices,
                      const ref_array *updates, size_t dim, tsr_scatter_op op)
{
    int64_t index[REF_DIMS] = {0};
    int64_t in_x[REF_DIMS] = {0};
    ref_array y = ref_reshape(arena, x, x->rank, x->shape);
    for (int64_t k = 0; k < updates->count; k++) {
        ref_index(updates, k, index);
        const int64_t row = row_of(indices, dim, index, x->rank, in_x);
        in_x[dim] = row;
        if (row >= 0 && row < x->shape[dim]) {
            ref_number *to = &y.at[ref_place(&y, in_x)];
            *to = updated(x->dtype, op, *to, updates->at[k]);
        }
    }
    return y;
}

/* ---- slices ---- */

static bool is_among(const size_t *list, size_t count, size_t dim)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == dim) {
            return true;
        }
    }
    return false;
}

static bool is_batch(const tsr_slices_dims *dims, size_t dim)
{
    return !is_among(dims->dims.offset_dims, dims->dims.num_offset, dim);
}

/* Whether a dimension of the input is one of the slices. */
static bool has_offset(const tsr_slices_dims *dims, size_t dim)
{
    const tsr_gather_dims *g = &dims->dims;
    return !is_among(g->collapsed_dims, g->num_collapsed, dim) &&
           !is_among(g->input_batching, g->num_batching, dim);
}

/* Where the slice of an index of the slices starts in the input, and how far in it the index is. */
static void locate(const ref_array *x, const ref_array *indices, const tsr_slices_dims *dims,
                   const int64_t *index, size_t rank, int64_t *start, int64_t *offset)
{
    int64_t at[REF_DIMS + 1] = {0};
    size_t batch = 0;
    size_t window = 0;
    for (size_t d = 0; d < rank; d++) {
        if (is_batch(dims, d)) {
            batch += batch == dims->dims.index_vector_dim;
            at[batch++] = index[d];
        }
    }
    for (size_t d = 0; d < x->rank; d++) {
        start[d] = 0;
        offset[d] = has_offset(dims, d) ? index[dims->dims.offset_dims[window++]] : 0;
    }
    for (size_t i = 0; i < dims->dims.num_batching; i++) {
        start[dims->dims.input_batching[i]] = at[dims->dims.indices_batching[i]];
    }
    for (size_t i = 0; i < dims->num_indexed; i++) {
        at[dims->dims.index_vector_dim] = (int64_t)i;
        start[dims->start_index_map[i]] = indices->at[ref_place(indices, at)].i;
    }
}

ref_array ref_gather_slices(tsr_arena *arena, const ref_array *x, const ref_array *indices,
                            const tsr_slices_dims *dims, const int64_t *slice_sizes)
{
    int64_t shape[REF_DIMS];
    int64_t index[REF_DIMS];
    int64_t start[REF_DIMS];
    int64_t offset[REF_DIMS];
    size_t rank = dims->dims.num_offset;
    rank += indices->rank - (dims->dims.index_vector_dim < indices->rank);
    for (size_t d = 0, of_indices = 0, of_x = 0; d < rank; d++) {
        if (is_batch(dims, d)) {
            of_indices += of_indices == dims->dims.index_vector_dim;
            shape[d] = indices->shape[of_indices++];
        } else {
            while (!has_offset(dims, of_x)) {
                of_x++;
            }
            shape[d] = slice_sizes[of_x++];
        }
    }
    ref_array y = ref_new(arena, x->dtype, rank, shape);
    for (int64_t k = 0; k < y.count; k++) {
        ref_index(&y, k, index);
        locate(x, indices, dims, index, rank, start, offset);
        for (size_t d = 0; d < x->rank; d++) {
            const int64_t last = x->shape[d] - slice_sizes[d];
            start[d] = start[d] < 0 ? 0 : start[d] > last ? last : start[d];
            start[d] += offset[d];
        }
        y.at[k] = x->at[ref_place(x, start)];
    }
    return y;
}

/* Which slice, counted as the indices have them, an index of the slices belongs to. */
static int64_t slice_of(const ref_array *slices, const tsr_slices_dims *dims, const int64_t *index)
{
    int64_t number = 0;
    for (size_t d = 0; d < slices->rank; d++) {
        number = is_batch(dims, d) ? number * slices->shape[d] + index[d] : number;
    }
    return number;
}

static void scatter_element(const ref_array *x, const ref_array *indices, const ref_array *updates,
                            const tsr_slices_dims *dims, tsr_scatter_op op, int64_t place,
                            ref_array *y)
{
    int64_t index[REF_DIMS];
    int64_t start[REF_DIMS];
    int64_t offset[REF_DIMS];
    bool is_inside = true;
    ref_index(updates, place, index);
    locate(x, indices, dims, index, updates->rank, start, offset);
    for (size_t d = 0; d < x->rank; d++) {
        start[d] += offset[d];
        is_inside = is_inside && start[d] >= 0 && start[d] < x->shape[d];
    }
    if (is_inside) {
        ref_number *to = &y->at[ref_place(y, start)];
        *to = updated(x->dtype, op, *to, updates->at[place]);
    }
}

/* One slice after the other, so that the last one of an element is the last of the indices. */
ref_array ref_scatter_slices(tsr_arena *arena, const ref_array *x, const ref_array *indices,
                             const ref_array *updates, const tsr_slices_dims *dims,
                             tsr_scatter_op op)
{
    int64_t index[REF_DIMS];
    ref_array y = ref_reshape(arena, x, x->rank, x->shape);
    for (int64_t slice = 0; slice < indices->count; slice++) {
        for (int64_t k = 0; k < updates->count; k++) {
            ref_index(updates, k, index);
            if (slice_of(updates, dims, index) == slice) {
                scatter_element(x, indices, updates, dims, op, k, &y);
            }
        }
    }
    return y;
}

/* ---- others ---- */

ref_array ref_one_hot(tsr_arena *arena, const ref_array *indices, int64_t depth, tsr_dtype dtype)
{
    int64_t shape[REF_DIMS];
    memcpy(shape, indices->shape, sizeof shape);
    shape[indices->rank] = depth;
    ref_array y = ref_new(arena, dtype, indices->rank + 1, shape);
    for (int64_t k = 0; k < y.count; k++) {
        const bool is_it = indices->at[k / depth].i == k % depth;
        y.at[k] = (ref_number){.f = is_it ? 1 : 0, .i = is_it ? 1 : 0};
    }
    return y;
}

/* Whether x must stand before y. */
static bool precedes(tsr_dtype dtype, bool descending, ref_number x, ref_number y)
{
    const ref_number low = descending ? y : x;
    const ref_number high = descending ? x : y;
    if (!ref_is_float(dtype)) {
        return low.i < high.i;
    }
    return isnan(high.f) ? !isnan(low.f) : low.f < high.f;
}

/* By insertion: an element goes after those that it does not precede, so equals keep their order.
 */
void ref_sort(tsr_arena *arena, const ref_array *x, size_t dim, bool descending, int64_t k,
              ref_array *values, ref_array *places)
{
    int64_t shape[REF_DIMS];
    int64_t index[REF_DIMS];
    int64_t order[64];
    ref_number line[64];
    memcpy(shape, x->shape, sizeof shape);
    shape[dim] = k;
    *values = ref_new(arena, x->dtype, x->rank, shape);
    *places = ref_new(arena, TSR_I64, x->rank, shape);
    for (int64_t place = 0; place < values->count; place++) {
        ref_index(values, place, index);
        const int64_t position = index[dim];
        for (int64_t i = 0; i < x->shape[dim]; i++) {
            index[dim] = i;
            const ref_number own = x->at[ref_place(x, index)];
            int64_t to = i;
            while (to > 0 && precedes(x->dtype, descending, own, line[to - 1])) {
                line[to] = line[to - 1];
                order[to] = order[to - 1];
                to--;
            }
            line[to] = own;
            order[to] = i;
        }
        values->at[place] = line[position];
        places->at[place].i = order[position];
    }
}

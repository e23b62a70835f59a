#include "small_ops.h"

#include "ops/op_convolution.h"
#include "ops/op_index.h"
#include "ops/op_shape.h"
#include "ops/op_slice.h"

#include <string.h>

int64_t small_count(const small_array *a)
{
    int64_t count = 1;
    for (size_t i = 0; i < a->rank; i++) {
        count *= a->shape[i];
    }
    return count;
}

void small_index(const small_array *a, int64_t place, int64_t *index)
{
    for (size_t i = a->rank; i-- > 0;) {
        index[i] = place % a->shape[i];
        place /= a->shape[i];
    }
}

int64_t small_place(const small_array *a, const int64_t *index)
{
    int64_t place = 0;
    for (size_t i = 0; i < a->rank; i++) {
        place = place * a->shape[i] + index[i];
    }
    return place;
}

bool small_find(const small_array *part, const int64_t *index, int64_t *place)
{
    int64_t at[SMALL_RANK] = {0};
    for (size_t d = 0; d < part->rank; d++) {
        at[d] = index[d] - part->start[d];
        if (at[d] < 0 || at[d] >= part->shape[d]) {
            return false;
        }
    }
    *place = small_place(part, at);
    return true;
}

static bool same_shape(const small_array *a, const small_array *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

/* The index in the whole of an element of a part. */
static void index_in_whole(const small_array *part, int64_t place, int64_t *index)
{
    small_index(part, place, index);
    for (size_t d = 0; d < part->rank; d++) {
        index[d] += part->start[d];
    }
}

/* ---- products ---- */

tsr_status small_matmul_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_matmul(f->ctx, f->arena, o->operands[0], o->operands[1], out);
}

tsr_status small_dot_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_dot_general(f->ctx, f->arena, o->operands[0], o->operands[1], o->dot, out);
}

tsr_status small_einsum_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_einsum(f->ctx, f->arena, o->letters, o->operands, o->num_operands, out);
}

/* The letters of an equation, `a` to `h`: their sizes, and the index under way. */
typedef struct lettering {
    const char *of[SMALL_OPERANDS + 1];
    int64_t sizes[8];
    int64_t at[8];
} lettering;

/* Notes the letters of one tensor; false when a size is not what it was elsewhere. */
static bool note_letters(lettering *l, const char *letters, const small_array *a)
{
    for (size_t d = 0; d < a->rank; d++) {
        int64_t *size = &l->sizes[letters[d] - 'a'];
        if (*size >= 0 && *size != a->shape[d]) {
            return false;
        }
        *size = a->shape[d];
    }
    return true;
}

static int64_t place_by_letters(const lettering *l, const char *letters, const small_array *a)
{
    int64_t index[SMALL_RANK] = {0};
    for (size_t d = 0; d < a->rank; d++) {
        index[d] = l->at[letters[d] - 'a'];
    }
    return small_place(a, index);
}

bool small_einsum_apply(const small_op *o, const small_array *const *in, small_array *out,
                        bool first)
{
    lettering l = {.sizes = {-1, -1, -1, -1, -1, -1, -1, -1}};
    const char *text = o->letters;
    int64_t count = 1;
    (void)first;
    for (size_t t = 0; t <= o->num_operands; t++) {
        const small_array *a = t < o->num_operands ? in[t] : out;
        l.of[t] = text;
        if (!note_letters(&l, text, a)) {
            return false;
        }
        text += a->rank + (t + 1 == o->num_operands ? 2 : 1); /* , or -> */
    }
    for (size_t i = 0; i < 8; i++) {
        count *= l.sizes[i] >= 0 ? l.sizes[i] : 1;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t product = 1;
        int64_t rest = i;
        for (size_t k = 0; k < 8; k++) {
            const int64_t size = l.sizes[k] >= 0 ? l.sizes[k] : 1;
            l.at[k] = rest % size;
            rest /= size;
        }
        for (size_t t = 0; t < o->num_operands; t++) {
            product *= in[t]->data[place_by_letters(&l, l.of[t], in[t])];
        }
        out->data[place_by_letters(&l, l.of[o->num_operands], out)] += product;
    }
    return true;
}

/* ---- elementwise ---- */

tsr_status small_elementwise_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_elementwise(f->ctx, f->arena, o->num_operands, o->result, out);
}

tsr_status small_broadcasting_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_broadcasting(f->ctx, f->arena, o->operands, o->num_operands, o->result, out);
}

/* Whether a part of an operand is as large as one of the result wants it. */
static bool fits(const small_array *a, const small_array *out)
{
    const size_t leading = out->rank - a->rank;
    for (size_t d = 0; d < a->rank; d++) {
        const bool grows = a->full[d] != out->full[d + leading];
        if (a->shape[d] != (grows ? 1 : out->shape[d + leading])) {
            return false;
        }
    }
    return true;
}

static int64_t element_for(const small_array *a, const small_array *out, const int64_t *at)
{
    int64_t index[SMALL_RANK] = {0};
    const size_t leading = out->rank - a->rank;
    for (size_t d = 0; d < a->rank; d++) {
        index[d] = a->full[d] != out->full[d + leading] ? 0 : at[d + leading];
    }
    return a->data[small_place(a, index)];
}

/* Not linear, so that nothing pending could pass for right. */
bool small_multiply_add_apply(const small_op *o, const small_array *const *in, small_array *out,
                              bool first)
{
    (void)first;
    for (size_t k = 0; k < o->num_operands; k++) {
        if (!fits(in[k], out)) {
            return false;
        }
    }
    for (int64_t i = 0; i < small_count(out); i++) {
        int64_t at[SMALL_RANK] = {0};
        small_index(out, i, at);
        out->data[i] = 1;
        for (size_t k = 0; k < o->num_operands; k++) {
            out->data[i] *= element_for(in[k], out, at);
        }
        out->data[i] += 7;
    }
    return true;
}

/* ---- reductions and scans ---- */

tsr_status small_reduce_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_reduce(f->ctx, f->arena, o->operands[0], &o->dim, 1, out);
}

/* Sum or maximum along a dimension. */
bool small_reduce_apply(const small_op *o, const small_array *const *in, small_array *out,
                        bool first)
{
    const small_array *a = in[0];
    (void)first;
    for (size_t d = 0, r = 0; d < a->rank; d++) {
        if (d != o->dim && a->shape[d] != out->shape[r++]) {
            return false;
        }
    }
    for (int64_t i = 0; i < small_count(a); i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t to[SMALL_RANK] = {0};
        small_index(a, i, at);
        for (size_t d = 0, r = 0; d < a->rank; d++) {
            if (d != o->dim) {
                to[r++] = at[d];
            }
        }
        int64_t *sum = &out->data[small_place(out, to)];
        if (o->reduction == TSR_MAX) {
            *sum = a->data[i] > *sum ? a->data[i] : *sum; /* all are above 0 */
        } else {
            *sum += a->data[i];
        }
    }
    return true;
}

tsr_status small_cumulative_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_cumulative(f->ctx, f->arena, o->operands[0], o->dim, out);
}

tsr_status small_sort_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_sort(f->ctx, f->arena, o->num_operands, o->operands[0], o->dim, out);
}

/* How far elements are apart along a dimension. */
static int64_t stride_of(const small_array *a, size_t dim)
{
    int64_t stride = 1;
    for (size_t d = dim + 1; d < a->rank; d++) {
        stride *= a->shape[d];
    }
    return stride;
}

bool small_running_sum_apply(const small_op *o, const small_array *const *in, small_array *out,
                             bool first)
{
    (void)first;
    if (!same_shape(in[0], out)) {
        return false;
    }
    for (int64_t i = 0; i < small_count(out); i++) {
        int64_t at[SMALL_RANK] = {0};
        small_index(out, i, at);
        out->data[i] =
            in[0]->data[i] + (at[o->dim] > 0 ? out->data[i - stride_of(out, o->dim)] : 0);
    }
    return true;
}

/* Each line by the first operand; the result is the last operand in that order. */
bool small_sort_apply(const small_op *o, const small_array *const *in, small_array *out, bool first)
{
    const small_array *carried = in[o->num_operands - 1];
    (void)first;
    if (!same_shape(in[0], out) || !same_shape(carried, out)) {
        return false;
    }
    for (int64_t i = 0; i < small_count(out); i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t before = 0;
        small_index(out, i, at);
        const int64_t stride = stride_of(out, o->dim);
        const int64_t start = i - at[o->dim] * stride;
        for (int64_t k = 0; k < out->shape[o->dim]; k++) {
            const int64_t other = in[0]->data[start + k * stride];
            before += other < in[0]->data[i] || (other == in[0]->data[i] && k < at[o->dim]);
        }
        out->data[start + before * stride] = carried->data[i];
    }
    return true;
}

/* ---- shapes ---- */

tsr_status small_transpose_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_transpose(f->ctx, f->arena, o->operands[0], o->dims, out);
}

bool small_transpose_apply(const small_op *o, const small_array *const *in, small_array *out,
                           bool first)
{
    const small_array *a = in[0];
    (void)first;
    for (size_t d = 0; d < a->rank; d++) {
        if (out->shape[d] != a->shape[o->dims[d]]) {
            return false;
        }
    }
    for (int64_t i = 0; i < small_count(a); i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t to[SMALL_RANK] = {0};
        small_index(a, i, at);
        for (size_t d = 0; d < a->rank; d++) {
            to[d] = at[o->dims[d]];
        }
        out->data[small_place(out, to)] = a->data[i];
    }
    return true;
}

tsr_status small_broadcast_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_broadcast(f->ctx, f->arena, o->operands[0], o->result, o->dims, out);
}

bool small_broadcast_apply(const small_op *o, const small_array *const *in, small_array *out,
                           bool first)
{
    const small_array *a = in[0];
    (void)first;
    for (size_t d = 0; d < a->rank; d++) {
        const bool grows = a->full[d] != out->full[o->dims[d]];
        if (a->shape[d] != (grows ? 1 : out->shape[o->dims[d]])) {
            return false;
        }
    }
    for (int64_t i = 0; i < small_count(out); i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t from[SMALL_RANK] = {0};
        small_index(out, i, at);
        for (size_t d = 0; d < a->rank; d++) {
            from[d] = a->full[d] != out->full[o->dims[d]] ? 0 : at[o->dims[d]];
        }
        out->data[i] = a->data[small_place(a, from)];
    }
    return true;
}

tsr_status small_reshape_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_reshape(f->ctx, f->arena, o->operands[0], o->result, out);
}

bool small_reshape_apply(const small_op *o, const small_array *const *in, small_array *out,
                         bool first)
{
    (void)o;
    (void)first;
    if (small_count(out) != small_count(in[0])) {
        return false;
    }
    memcpy(out->data, in[0]->data, sizeof out->data);
    return true;
}

tsr_status small_concatenate_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_concatenate(f->ctx, f->arena, o->operands, o->num_operands, o->dim, out);
}

/* Of each element of the result its source in the whole, which the parts must have. */
bool small_concatenate_apply(const small_op *o, const small_array *const *in, small_array *out,
                             bool first)
{
    (void)first;
    for (size_t k = 0; k < o->num_operands; k++) {
        for (size_t d = 0; d < out->rank; d++) {
            if (d != o->dim && in[k]->shape[d] != out->shape[d]) {
                return false;
            }
        }
    }
    for (int64_t i = 0; i < small_count(out); i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t place;
        size_t from = 0;
        index_in_whole(out, i, at);
        while (at[o->dim] >= in[from]->full[o->dim]) {
            at[o->dim] -= in[from++]->full[o->dim];
        }
        if (!small_find(in[from], at, &place)) {
            return false;
        }
        out->data[i] = in[from]->data[place];
    }
    return true;
}

tsr_status small_slice_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_slice(f->ctx, f->arena, o->operands[0], o->result, out);
}

bool small_slice_apply(const small_op *o, const small_array *const *in, small_array *out,
                       bool first)
{
    (void)first;
    for (int64_t i = 0; i < small_count(out); i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t place;
        index_in_whole(out, i, at);
        for (size_t d = 0; d < out->rank; d++) {
            at[d] = o->low[d] + at[d] * o->step[d];
        }
        if (!small_find(in[0], at, &place)) {
            return false;
        }
        out->data[i] = in[0]->data[place];
    }
    return true;
}

/* The rule of a row, for running on parts. */
static tsr_status local_rule_of(fixture *f, const small_op *o, const op_row *row,
                                const void *params, const tsr_rule **out)
{
    op_type operands[SMALL_OPERANDS];
    op_type result = {0};
    const tsr_rule *rule = NULL;
    for (size_t i = 0; i < o->num_operands; i++) {
        const bool indices = row == &op_scatter && i == 1;
        operands[i] =
            (op_type){indices ? TSR_I64 : TSR_F32, o->operands[i].rank, o->operands[i].sizes};
    }
    const op_request r = {.ctx = f->ctx,
                          .arena = f->arena,
                          .call = o->name,
                          .row = row,
                          .params = params,
                          .num_operands = o->num_operands,
                          .operands = operands};
    TSR_TRY(row->types(&r, &result));
    assert_int_equal(result.rank, o->result.rank);
    for (size_t d = 0; d < result.rank; d++) {
        assert_int_equal(result.shape[d], o->result.sizes[d]);
    }
    TSR_TRY(op_find_rule(&r, &result, f->arena, &rule));
    return op_local_rule(&r, &result, rule, f->arena, out);
}

tsr_status small_pad_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    const size_t rank = o->result.rank;
    int64_t high[SMALL_RANK];
    int64_t interior[SMALL_RANK];
    for (size_t d = 0; d < rank; d++) {
        const int64_t rows = o->operands[0].sizes[d];
        interior[d] = o->step[d] - 1;
        high[d] = o->result.sizes[d] - o->low[d] - rows - (rows > 0 ? rows - 1 : 0) * interior[d];
    }
    const pad_params params = {.edge_padding_low = {rank, o->low},
                               .edge_padding_high = {rank, high},
                               .interior_padding = {rank, interior}};
    return local_rule_of(f, o, &op_pad, &params, out);
}

/* With 9; `step` - 1 of them between elements. */
bool small_pad_apply(const small_op *o, const small_array *const *in, small_array *out, bool first)
{
    const small_array *a = in[0];
    (void)first;
    for (int64_t i = 0; i < small_count(out); i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t place;
        bool border = false;
        index_in_whole(out, i, at);
        for (size_t d = 0; d < out->rank; d++) {
            const int64_t behind = at[d] - o->low[d];
            at[d] = behind / o->step[d];
            border = border || behind < 0 || behind % o->step[d] != 0 || at[d] >= a->full[d];
        }
        if (!border && !small_find(a, at, &place)) {
            return false;
        }
        out->data[i] = border ? 9 : a->data[place];
    }
    return true;
}

/* ---- indices, attention, convolution ---- */

tsr_status small_gather_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_gather(f->ctx, f->arena, o->operands[0], o->operands[1], o->result,
                           &o->gather->dims, out);
}

tsr_status small_embedding_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_embedding(f->ctx, f->arena, o->operands[0], o->operands[1], out);
}

tsr_status small_scatter_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    const small_gather *g = o->gather;
    const bool reduces = o->dim != 0 || o->reduction == TSR_MAX;
    int64_t lists[5][SMALL_RANK];
    const struct {
        const size_t *dims;
        size_t count;
    } from[] = {{g->dims.offset_dims, g->dims.num_offset},
                {g->dims.collapsed_dims, g->dims.num_collapsed},
                {g->dims.input_batching, g->dims.num_batching},
                {g->dims.indices_batching, g->dims.num_batching},
                {g->map, g->num_indexed}};
    op_ints to[5];
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < from[i].count; k++) {
            lists[i][k] = (int64_t)from[i].dims[k];
        }
        to[i] = (op_ints){from[i].count, lists[i]};
    }
    const window_dims windows = {.window = to[0],
                                 .collapsed = to[1],
                                 .input_batching = to[2],
                                 .indices_batching = to[3],
                                 .index_map = to[4],
                                 .index_vector_dim = (int64_t)g->dims.index_vector_dim};
    const scatter_params params =
        scatter_of_windows(&windows, reduces ? OP_BODY_SUM : OP_BODY_SECOND);
    return local_rule_of(f, o, &op_scatter, &params, out);
}

tsr_status small_convolution_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    const tsr_convolution_dims *d = o->convolution;
    const int64_t stride = (int64_t)o->dim;
    const int64_t spatial[] = {(int64_t)d->input_spatial[0], (int64_t)d->kernel_spatial[0],
                               (int64_t)d->output_spatial[0]};
    const convolution_params params = {
        .window_strides = {1, &stride},
        .input_batch_dimension = (int64_t)d->input_batch,
        .input_feature_dimension = (int64_t)d->input_feature,
        .input_spatial_dimensions = {1, &spatial[0]},
        .kernel_input_feature_dimension = (int64_t)d->kernel_input_feature,
        .kernel_output_feature_dimension = (int64_t)d->kernel_output_feature,
        .kernel_spatial_dimensions = {1, &spatial[1]},
        .output_batch_dimension = (int64_t)d->output_batch,
        .output_feature_dimension = (int64_t)d->output_feature,
        .output_spatial_dimensions = {1, &spatial[2]},
        .feature_group_count = d->feature_group_count,
        .batch_group_count = d->batch_group_count};
    return local_rule_of(f, o, &op_convolution, &params, out);
}

tsr_status small_attention_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_attention(f->ctx, f->arena, o->operands[0], o->operands[1], o->operands[2],
                              out);
}

/* A weight for each key that is not linear in its score, and times their sum what would be by it.
 */
bool small_attention_apply(const small_op *o, const small_array *const *in, small_array *out,
                           bool first)
{
    const small_array *q = in[0];
    const small_array *k = in[1];
    const small_array *v = in[2];
    (void)o;
    (void)first;
    if (q->shape[0] != k->shape[0] || q->shape[0] != v->shape[0] || q->shape[2] != k->shape[2] ||
        k->shape[1] != v->shape[1] || out->shape[0] != q->shape[0] ||
        out->shape[1] != q->shape[1] || out->shape[2] != v->shape[2]) {
        return false;
    }
    for (int64_t i = 0; i < small_count(out); i++) {
        int64_t at[SMALL_RANK] = {0};
        int64_t sum = 0;
        int64_t weights = 0;
        small_index(out, i, at);
        for (int64_t key = 0; key < k->shape[1]; key++) {
            int64_t score = 0;
            for (int64_t d = 0; d < q->shape[2]; d++) {
                const int64_t of_query[] = {at[0], at[1], d};
                const int64_t of_key[] = {at[0], key, d};
                score += q->data[small_place(q, of_query)] * k->data[small_place(k, of_key)];
            }
            const int64_t of_value[] = {at[0], key, at[2]};
            weights += score % 13 + 1;
            sum += (score % 13 + 1) * v->data[small_place(v, of_value)];
        }
        out->data[i] = sum * weights;
    }
    return true;
}

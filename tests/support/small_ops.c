#include "small_ops.h"

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

static tsr_status matmul_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_matmul(f->ctx, f->arena, o->operands[0], o->operands[1], out);
}

static tsr_status dot_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_dot_general(f->ctx, f->arena, o->operands[0], o->operands[1], o->dot, out);
}

static tsr_status einsum_rule(fixture *f, const small_op *o, const tsr_rule **out)
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

static bool einsum(const small_op *o, const small_array *const *in, small_array *out, bool first)
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

static tsr_status elementwise_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_elementwise(f->ctx, f->arena, o->num_operands, o->result, out);
}

static tsr_status broadcasting_rule(fixture *f, const small_op *o, const tsr_rule **out)
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
static bool multiply_add(const small_op *o, const small_array *const *in, small_array *out,
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

static tsr_status reduce_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_reduce(f->ctx, f->arena, o->operands[0], &o->dim, 1, out);
}

/* Sum or maximum along a dimension. */
static bool reduce(const small_op *o, const small_array *const *in, small_array *out, bool first)
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

static tsr_status cumulative_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_cumulative(f->ctx, f->arena, o->operands[0], o->dim, out);
}

static tsr_status sort_rule(fixture *f, const small_op *o, const tsr_rule **out)
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

static bool running_sum(const small_op *o, const small_array *const *in, small_array *out,
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
static bool sort(const small_op *o, const small_array *const *in, small_array *out, bool first)
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

static tsr_status transpose_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_transpose(f->ctx, f->arena, o->operands[0], o->dims, out);
}

static bool transpose(const small_op *o, const small_array *const *in, small_array *out, bool first)
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

static tsr_status broadcast_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_broadcast(f->ctx, f->arena, o->operands[0], o->result, o->dims, out);
}

static bool broadcast(const small_op *o, const small_array *const *in, small_array *out, bool first)
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

static tsr_status reshape_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_reshape(f->ctx, f->arena, o->operands[0], o->result, out);
}

static bool reshape(const small_op *o, const small_array *const *in, small_array *out, bool first)
{
    (void)o;
    (void)first;
    if (small_count(out) != small_count(in[0])) {
        return false;
    }
    memcpy(out->data, in[0]->data, sizeof out->data);
    return true;
}

static tsr_status concatenate_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_concatenate(f->ctx, f->arena, o->operands, o->num_operands, o->dim, out);
}

/* Of each element of the result its source in the whole, which the parts must have. */
static bool concatenate(const small_op *o, const small_array *const *in, small_array *out,
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

static tsr_status slice_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_slice(f->ctx, f->arena, o->operands[0], o->result, out);
}

static bool slice(const small_op *o, const small_array *const *in, small_array *out, bool first)
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

static tsr_status pad_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_pad(f->ctx, f->arena, o->operands[0], o->result, out);
}

/* With 9; `step` - 1 of them between elements. */
static bool pad(const small_op *o, const small_array *const *in, small_array *out, bool first)
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

static tsr_status gather_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_gather(f->ctx, f->arena, o->operands[0], o->operands[1], o->result,
                           &o->gather->dims, out);
}

static tsr_status embedding_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_embedding(f->ctx, f->arena, o->operands[0], o->operands[1], out);
}

static tsr_status scatter_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_scatter(f->ctx, f->arena, 1, o->operands[0], o->operands[1], o->operands[2],
                            &o->gather->dims, o->dim != 0 || o->reduction == TSR_MAX, out);
}

static tsr_status convolution_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_convolution(f->ctx, f->arena, o->operands[0], o->operands[1], o->result,
                                o->convolution, out);
}

static tsr_status attention_rule(fixture *f, const small_op *o, const tsr_rule **out)
{
    return tsr_rule_attention(f->ctx, f->arena, o->operands[0], o->operands[1], o->operands[2],
                              out);
}

/* A weight for each key that is not linear in its score, and times their sum what would be by it.
 */
static bool attention(const small_op *o, const small_array *const *in, small_array *out, bool first)
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

/* ---- the ops ---- */

#define SHAPE(...)                                                                                 \
    {                                                                                              \
        sizeof((int64_t[]){__VA_ARGS__}) / 8, (const int64_t[])                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define SIZES(...) ((const size_t[]){__VA_ARGS__})
#define INTS(...) ((const int64_t[]){__VA_ARGS__})

/* [b, m, k] by [b, k, n], the contracting dimension first on the right. */
static const tsr_dot_dims turned_dot = {1, SIZES(2), SIZES(0), 1, SIZES(1), SIZES(2)};

/* Rows of a table, by indices of rank 1 or 2. */
static const small_gather rows_1 = {{.num_offset = 1,
                                     .offset_dims = SIZES(1),
                                     .num_collapsed = 1,
                                     .collapsed_dims = SIZES(0),
                                     .index_vector_dim = 1},
                                    1,
                                    SIZES(0),
                                    INTS(1, 4)};
static const small_gather rows_2 = {{.num_offset = 1,
                                     .offset_dims = SIZES(2),
                                     .num_collapsed = 1,
                                     .collapsed_dims = SIZES(0),
                                     .index_vector_dim = 2},
                                    1,
                                    SIZES(0),
                                    INTS(1, 4)};
/* Windows [3, 4] of [6, 4], and elements of both dimensions by pairs of indices. */
static const small_gather windows = {
    {.num_offset = 2, .offset_dims = SIZES(1, 2), .index_vector_dim = 1}, 1, SIZES(0), INTS(3, 4)};
static const small_gather pairs = {
    {.num_collapsed = 2, .collapsed_dims = SIZES(0, 1), .index_vector_dim = 1},
    2,
    SIZES(1, 0),
    INTS(1, 1)};
/* Windows of one row that keep the dimension. */
static const small_gather single_rows = {
    {.num_offset = 2, .offset_dims = SIZES(1, 2), .index_vector_dim = 1}, 1, SIZES(0), INTS(1, 4)};
/* In [b, v, e], rows of v by indices [b, n]. */
static const small_gather batched = {{.num_offset = 1,
                                      .offset_dims = SIZES(2),
                                      .num_collapsed = 1,
                                      .collapsed_dims = SIZES(1),
                                      .num_batching = 1,
                                      .input_batching = SIZES(0),
                                      .indices_batching = SIZES(0),
                                      .index_vector_dim = 2},
                                     1,
                                     SIZES(1),
                                     INTS(1, 1, 3)};
/* The same in [b, v]. */
static const small_gather batched_flat = {{.num_collapsed = 1,
                                           .collapsed_dims = SIZES(1),
                                           .num_batching = 1,
                                           .input_batching = SIZES(0),
                                           .indices_batching = SIZES(0),
                                           .index_vector_dim = 2},
                                          1,
                                          SIZES(1),
                                          INTS(1, 1)};

#define CONVOLUTION(groups, batches)                                                               \
    {                                                                                              \
        .num_spatial = 1, .input_batch = 0, .input_feature = 1, .input_spatial = SIZES(2),         \
        .kernel_output_feature = 0, .kernel_input_feature = 1, .kernel_spatial = SIZES(2),         \
        .output_batch = 0, .output_feature = 1, .output_spatial = SIZES(2),                        \
        .feature_group_count = (groups), .batch_group_count = (batches)                            \
    }
static const tsr_convolution_dims ungrouped = CONVOLUTION(1, 1);
static const tsr_convolution_dims two_groups = CONVOLUTION(2, 1);
static const tsr_convolution_dims six_groups = CONVOLUTION(6, 1);
static const tsr_convolution_dims two_batches = CONVOLUTION(1, 2);

/* Even and uneven extents on axes of 2 and 3. */
const small_op small_ops[] = {
    {"matmul",
     2,
     {SHAPE(6, 6), SHAPE(6, 6)},
     SHAPE(6, 6),
     matmul_rule,
     einsum,
     true,
     .letters = "ab,bc->ac"},
    {"matmul, uneven",
     2,
     {SHAPE(5, 7), SHAPE(7, 4)},
     SHAPE(5, 4),
     matmul_rule,
     einsum,
     true,
     .letters = "ab,bc->ac"},
    {"matmul, by a vector",
     2,
     {SHAPE(6, 4), SHAPE(4)},
     SHAPE(6),
     matmul_rule,
     einsum,
     true,
     .letters = "ab,b->a"},
    {"matmul, batched",
     2,
     {SHAPE(4, 3, 6), SHAPE(4, 6, 5)},
     SHAPE(4, 3, 5),
     matmul_rule,
     einsum,
     true,
     .letters = "dab,dbc->dac"},
    {"matmul, batch on the right",
     2,
     {SHAPE(3, 4), SHAPE(4, 4, 5)},
     SHAPE(3, 4, 5),
     matmul_rule,
     einsum,
     true,
     .letters = "ab,dbc->adc"},
    {"dot_general",
     2,
     {SHAPE(4, 6, 3), SHAPE(3, 5, 6)},
     SHAPE(3, 4, 5),
     dot_rule,
     einsum,
     true,
     .letters = "abd,dcb->dac",
     .dot = &turned_dot},
    {"einsum, two operands",
     2,
     {SHAPE(4, 6, 3), SHAPE(3, 5)},
     SHAPE(6, 4, 5),
     einsum_rule,
     einsum,
     true,
     .letters = "abc,cd->bad"},
    {"einsum, a sum of one operand",
     2,
     {SHAPE(4, 6), SHAPE(6, 5)},
     SHAPE(5),
     einsum_rule,
     einsum,
     true,
     .letters = "ab,bc->c"},
    {"einsum, three operands",
     3,
     {SHAPE(4, 6), SHAPE(6, 3), SHAPE(3, 4)},
     SHAPE(4, 4),
     einsum_rule,
     einsum,
     true,
     .letters = "ab,bc,cd->ad"},
    {"elementwise",
     2,
     {SHAPE(6, 5), SHAPE(6, 5)},
     SHAPE(6, 5),
     elementwise_rule,
     multiply_add,
     .complete = true},
    {"elementwise, three operands",
     3,
     {SHAPE(6, 4), SHAPE(6, 4), SHAPE(6, 4)},
     SHAPE(6, 4),
     elementwise_rule,
     multiply_add,
     .complete = true},
    {"broadcasting, a vector",
     2,
     {SHAPE(6, 5), SHAPE(5)},
     SHAPE(6, 5),
     broadcasting_rule,
     multiply_add,
     .complete = true},
    {"broadcasting, both grow",
     2,
     {SHAPE(6, 1), SHAPE(1, 4)},
     SHAPE(6, 4),
     broadcasting_rule,
     multiply_add,
     .complete = true},
    {"reduce", 1, {SHAPE(4, 6, 5)}, SHAPE(4, 5), reduce_rule, reduce, true, .dim = 1},
    {"reduce, by max",
     1,
     {SHAPE(4, 6, 5)},
     SHAPE(6, 5),
     reduce_rule,
     reduce,
     true,
     .dim = 0,
     .reduction = TSR_MAX},
    {"transpose",
     1,
     {SHAPE(4, 6, 5)},
     SHAPE(5, 4, 6),
     transpose_rule,
     transpose,
     true,
     .dims = SIZES(2, 0, 1)},
    {"broadcast", 1, {SHAPE(6)}, SHAPE(4, 6), broadcast_rule, broadcast, true, .dims = SIZES(1)},
    {"broadcast, in front",
     1,
     {SHAPE(6, 1)},
     SHAPE(6, 4, 3),
     broadcast_rule,
     broadcast,
     true,
     .dims = SIZES(0, 1)},
    {"reshape, merge", 1, {SHAPE(4, 6)}, SHAPE(24), reshape_rule, reshape, .dim = 0},
    {"reshape, merge uneven", 1, {SHAPE(3, 8)}, SHAPE(24), reshape_rule, reshape, .dim = 0},
    {"reshape, merge three", 1, {SHAPE(2, 3, 4)}, SHAPE(24), reshape_rule, reshape, .dim = 0},
    {"reshape, split", 1, {SHAPE(24)}, SHAPE(4, 6), reshape_rule, reshape, .dim = 0},
    {"reshape, split in three", 1, {SHAPE(24)}, SHAPE(2, 6, 2), reshape_rule, reshape, .dim = 0},
    {"reshape, both", 1, {SHAPE(4, 6)}, SHAPE(6, 4), reshape_rule, reshape, .dim = 0},
    {"reshape, both apart", 1, {SHAPE(6, 2, 4)}, SHAPE(2, 3, 8), reshape_rule, reshape, .dim = 0},
    {"gather, windows",
     2,
     {SHAPE(6, 4), SHAPE(4)},
     SHAPE(4, 3, 4),
     gather_rule,
     small_gather_apply,
     .gather = &windows,
     .most_index = 5},
    {"gather, collapsed",
     2,
     {SHAPE(6, 4), SHAPE(5)},
     SHAPE(5, 4),
     gather_rule,
     small_gather_apply,
     .gather = &rows_1,
     .most_index = 6},
    {"gather, collapsed twice",
     2,
     {SHAPE(6, 4), SHAPE(4, 2)},
     SHAPE(4),
     gather_rule,
     small_gather_apply,
     .gather = &pairs,
     .most_index = 4},
    {"gather, batching",
     2,
     {SHAPE(4, 6, 3), SHAPE(4, 3)},
     SHAPE(4, 3, 3),
     gather_rule,
     small_gather_apply,
     .gather = &batched,
     .most_index = 5},
    {"gather, slices of 1",
     2,
     {SHAPE(6, 4), SHAPE(4)},
     SHAPE(4, 1, 4),
     gather_rule,
     small_gather_apply,
     .gather = &single_rows,
     .most_index = 5},
    {"embedding",
     2,
     {SHAPE(6, 4), SHAPE(3, 4)},
     SHAPE(3, 4, 4),
     embedding_rule,
     small_gather_apply,
     .gather = &rows_2,
     .most_index = 5},
    {"scatter, set",
     3,
     {SHAPE(6, 4), SHAPE(4), SHAPE(4, 4)},
     SHAPE(6, 4),
     scatter_rule,
     small_scatter_apply,
     .gather = &rows_1,
     .most_index = 6},
    {"scatter, add",
     3,
     {SHAPE(6, 4), SHAPE(4), SHAPE(4, 4)},
     SHAPE(6, 4),
     scatter_rule,
     small_scatter_apply,
     .dim = 1,
     .gather = &rows_1,
     .most_index = 6},
    {"scatter, max",
     3,
     {SHAPE(6, 4), SHAPE(4), SHAPE(4, 4)},
     SHAPE(6, 4),
     scatter_rule,
     small_scatter_apply,
     .reduction = TSR_MAX,
     .gather = &rows_1,
     .most_index = 6},
    {"scatter, add with batching",
     3,
     {SHAPE(4, 6), SHAPE(4, 3), SHAPE(4, 3)},
     SHAPE(4, 6),
     scatter_rule,
     small_scatter_apply,
     .dim = 1,
     .gather = &batched_flat,
     .most_index = 6},
    {"scatter, add windows",
     3,
     {SHAPE(6, 4), SHAPE(4), SHAPE(4, 3, 4)},
     SHAPE(6, 4),
     scatter_rule,
     small_scatter_apply,
     .dim = 1,
     .gather = &windows,
     .most_index = 4},
    {"concatenate",
     2,
     {SHAPE(2, 6), SHAPE(4, 6)},
     SHAPE(6, 6),
     concatenate_rule,
     concatenate,
     .dim = 0},
    {"slice",
     1,
     {SHAPE(7, 6)},
     SHAPE(4, 6),
     slice_rule,
     slice,
     .low = INTS(2, 0),
     .step = INTS(1, 1)},
    {"slice, in steps",
     1,
     {SHAPE(6, 4)},
     SHAPE(3, 4),
     slice_rule,
     slice,
     .low = INTS(0, 0),
     .step = INTS(2, 1)},
    {"pad", 1, {SHAPE(4, 6)}, SHAPE(7, 6), pad_rule, pad, .low = INTS(2, 0), .step = INTS(1, 1)},
    {"pad, between",
     1,
     {SHAPE(4, 6)},
     SHAPE(7, 6),
     pad_rule,
     pad,
     .low = INTS(0, 0),
     .step = INTS(2, 1)},
    {"convolution",
     2,
     {SHAPE(4, 3, 6), SHAPE(4, 3, 3)},
     SHAPE(4, 4, 4),
     convolution_rule,
     small_convolution_apply,
     .dim = 1,
     .convolution = &ungrouped},
    {"convolution, one window",
     2,
     {SHAPE(4, 3, 4), SHAPE(4, 3, 4)},
     SHAPE(4, 4, 1),
     convolution_rule,
     small_convolution_apply,
     .dim = 1,
     .convolution = &ungrouped},
    {"convolution, a large window",
     2,
     {SHAPE(2, 2, 5), SHAPE(3, 2, 4)},
     SHAPE(2, 3, 2),
     convolution_rule,
     small_convolution_apply,
     .dim = 1,
     .convolution = &ungrouped},
    {"convolution, windows apart",
     2,
     {SHAPE(2, 2, 6), SHAPE(3, 2, 2)},
     SHAPE(2, 3, 3),
     convolution_rule,
     small_convolution_apply,
     .dim = 2,
     .convolution = &ungrouped},
    {"convolution, few windows apart",
     2,
     {SHAPE(2, 2, 6), SHAPE(3, 2, 3)},
     SHAPE(2, 3, 2),
     convolution_rule,
     small_convolution_apply,
     .dim = 3,
     .convolution = &ungrouped},
    {"convolution, feature groups",
     2,
     {SHAPE(3, 6, 4), SHAPE(4, 3, 2)},
     SHAPE(3, 4, 3),
     convolution_rule,
     small_convolution_apply,
     .dim = 1,
     .convolution = &two_groups},
    {"convolution, depthwise",
     2,
     {SHAPE(2, 6, 4), SHAPE(6, 1, 2)},
     SHAPE(2, 6, 3),
     convolution_rule,
     small_convolution_apply,
     .dim = 1,
     .convolution = &six_groups},
    {"convolution, batch groups",
     2,
     {SHAPE(6, 2, 4), SHAPE(4, 2, 2)},
     SHAPE(3, 4, 3),
     convolution_rule,
     small_convolution_apply,
     .dim = 1,
     .convolution = &two_batches},
    {"attention",
     3,
     {SHAPE(2, 3, 4), SHAPE(2, 6, 4), SHAPE(2, 6, 3)},
     SHAPE(2, 3, 3),
     attention_rule,
     attention,
     .dim = 0},
    {"sort", 1, {SHAPE(4, 6)}, SHAPE(4, 6), sort_rule, sort, .dim = 1},
    {"sort, by keys",
     2,
     {SHAPE(6, 4), SHAPE(6, 4)},
     SHAPE(6, 4),
     sort_rule,
     sort,
     .dim = 0,
     .result_of_rule = 1},
    {"cumulative", 1, {SHAPE(4, 6)}, SHAPE(4, 6), cumulative_rule, running_sum, .dim = 1},
};

const size_t num_small_ops = sizeof small_ops / sizeof small_ops[0];

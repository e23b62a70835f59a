/* Gradients of reductions, products and ops that move elements. */
#include <string.h>

#include "ops/gradient.h"
#include "ops/op_index.h"
#include "ops/op_reduce.h"

/* ---- reductions ---- */

/* Where each dimension of a reduced value is in the operand. */
static size_t kept_dims(const op_params *p, size_t rank, int64_t *dims)
{
    size_t count = 0;
    for (size_t d = 0; d < rank; d++) {
        bool reduced = false;
        for (size_t i = 0; i < p->dimensions.count; i++) {
            reduced = reduced || p->dimensions.values[i] == (int64_t)d;
        }
        if (!reduced) {
            dims[count++] = (int64_t)d;
        }
    }
    return count;
}

/* A reduced value, repeated over the dimensions that it lacks. */
static op_value *spread(op_builder *b, const op_vjp *v, op_value *reduced)
{
    const op_type type = build_type(b, v->operands[0]);
    op_type to = type;
    int64_t dims[OP_MAX_RANK];
    (void)kept_dims(v->params, type.rank, dims);
    to.dtype = build_type(b, reduced).dtype;
    return build_broadcast(b, reduced, &to, dims);
}

static op_value *as_numbers(op_builder *b, op_value *truths, op_value *beside)
{
    return build_convert(b, truths, build_type(b, beside).dtype);
}

/* Shared by all elements that are the greatest, or the least. */
static op_value *of_extreme(op_builder *b, const op_vjp *v)
{
    op_value *x = v->operands[0];
    op_value *most = spread(b, v, build_settled(b, v->results[0]));
    op_value *mask = as_numbers(b, build_compare(b, COMPARE_EQ, x, most), x);
    op_value *count = build_sum(b, mask, v->params->dimensions.values, v->params->dimensions.count);
    op_value *share = build_binary(b, BINARY_DIVIDE, v->cotangents[0], count);
    return build_binary(b, BINARY_MULTIPLY, mask, spread(b, v, share));
}

/*
 * The product of the others: with no zero among them the whole over the element, with one the
 * product of the rest at that one, with more nothing.
 */
static op_value *of_product(op_builder *b, const op_vjp *v)
{
    op_value *x = v->operands[0];
    op_value *zero = build_number(b, x, 0);
    op_value *is_zero = build_compare(b, COMPARE_EQ, x, zero);
    op_value *rest = build_select(b, is_zero, build_number(b, x, 1), x);
    op_params product = *v->params;
    product.variant = FOLD_PROD;
    op_value *whole = build_settled(b, build_apply(b, &op_reduce, &product, &rest, 1));
    op_value *zeros =
        build_settled(b, build_sum(b, as_numbers(b, is_zero, x), v->params->dimensions.values,
                                   v->params->dimensions.count));
    op_value *none = build_compare(b, COMPARE_EQ, zeros, zero);
    op_value *one = build_compare(b, COMPARE_EQ, zeros, build_number(b, x, 1));
    op_value *g = v->cotangents[0];
    op_value *scaled = build_binary(b, BINARY_MULTIPLY, g, whole);
    op_value *if_none = build_select(b, none, scaled, zero);
    op_value *if_one = build_select(b, one, scaled, zero);
    op_value *over = build_binary(b, BINARY_DIVIDE, spread(b, v, if_none), rest);
    return build_select(b, is_zero, spread(b, v, if_one), over);
}

void gradient_reduce(op_builder *b, const op_vjp *v, op_value **grads)
{
    switch (v->params->variant) {
    case FOLD_SUM:
        grads[0] = spread(b, v, v->cotangents[0]);
        return;
    case FOLD_MAX:
    case FOLD_MIN:
        grads[0] = of_extreme(b, v);
        return;
    case FOLD_PROD:
        grads[0] = of_product(b, v);
        return;
    default:
        return;
    }
}

void gradient_mean(op_builder *b, const op_vjp *v, op_value **grads)
{
    const op_type type = build_type(b, v->operands[0]);
    double count = 1;
    for (size_t i = 0; i < v->params->dimensions.count; i++) {
        count *= (double)type.shape[v->params->dimensions.values[i]];
    }
    op_value *g = v->cotangents[0];
    grads[0] = spread(b, v, build_binary(b, BINARY_MULTIPLY, g, build_number(b, g, 1 / count)));
}

/* Of a running sum: the sum from each element on, which is the whole less the sum before it. */
void gradient_cumulative(op_builder *b, const op_vjp *v, op_value **grads)
{
    op_value *g = v->cotangents[0];
    const int64_t dim = v->params->dimension;
    if (v->params->variant != FOLD_SUM) {
        return;
    }
    op_value *whole = build_reduce(b, FOLD_SUM, g, dim, true);
    op_value *up_to = build_apply(b, &op_cumulative, v->params, &g, 1);
    grads[0] = build_binary(b, BINARY_ADD, build_binary(b, BINARY_SUBTRACT, whole, up_to), g);
}

/* ---- products ---- */

/* One operand of a product, seen from its gradient. */
typedef struct dot_end {
    op_ints batch;
    op_ints contracting;
    size_t rank;
    int64_t free[OP_MAX_RANK];
    size_t num_free;
} dot_end;

static dot_end end_of(op_ints batch, op_ints contracting, size_t rank)
{
    dot_end e = {.batch = batch, .contracting = contracting, .rank = rank};
    for (size_t d = 0; d < rank; d++) {
        if (!op_ints_have(batch, d) && !op_ints_have(contracting, d)) {
            e.free[e.num_free++] = (int64_t)d;
        }
    }
    return e;
}

static int64_t place_of(op_ints list, int64_t dim)
{
    for (size_t i = 0; i < list.count; i++) {
        if (list.values[i] == dim) {
            return (int64_t)i;
        }
    }
    return -1;
}

/*
 * Where each dimension of an operand is in the product that is its gradient: behind the batches its
 * free dimensions and the contracting ones, in the order of their partners; whether that is the
 * operand's own order.
 */
static bool find_order(const dot_end *mine, const dot_end *theirs, bool other_first,
                       int64_t *permutation)
{
    const int64_t n = (int64_t)mine->batch.count;
    const int64_t first_free = n + (other_first ? (int64_t)mine->contracting.count : 0);
    const int64_t first_contracting = n + (other_first ? 0 : (int64_t)mine->num_free);
    bool sorted = true;
    for (size_t d = 0; d < mine->rank; d++) {
        const int64_t at_batch = place_of(mine->batch, (int64_t)d);
        const int64_t at_contracting = place_of(mine->contracting, (int64_t)d);
        int64_t at = at_batch;
        if (at_contracting >= 0) {
            const int64_t partner = theirs->contracting.values[at_contracting];
            at = first_contracting;
            for (size_t i = 0; i < theirs->contracting.count; i++) {
                at += theirs->contracting.values[i] < partner;
            }
        } else if (at_batch < 0) {
            at = first_free + place_of((op_ints){mine->num_free, mine->free}, (int64_t)d);
        }
        permutation[d] = at;
        sorted = sorted && at == (int64_t)d;
    }
    return sorted;
}

/*
 * The gradient of one operand: the product of the cotangent and the other operand, over the
 * dimensions that only that one has; `first_free` is where those begin in the cotangent. The
 * gradient of the right operand has the other one on its left: so the dimensions of plain matrices
 * come out in their order.
 */
static op_value *of_side(op_builder *b, op_value *g, op_value *other, const dot_end *mine,
                         const dot_end *theirs, size_t first_free, bool other_first)
{
    int64_t batch[OP_MAX_RANK];
    int64_t over[OP_MAX_RANK];
    int64_t permutation[OP_MAX_RANK];
    const size_t n = mine->batch.count;
    for (size_t i = 0; i < n; i++) {
        batch[i] = (int64_t)i;
    }
    for (size_t i = 0; i < theirs->num_free; i++) {
        over[i] = (int64_t)(first_free + i);
    }
    const op_ints of_g[] = {{n, batch}, {theirs->num_free, over}};
    const op_ints of_other[] = {theirs->batch, {theirs->num_free, theirs->free}};
    const op_ints *lhs = other_first ? of_other : of_g;
    const op_ints *rhs = other_first ? of_g : of_other;
    const op_params dims = {.lhs_batch = lhs[0],
                            .rhs_batch = rhs[0],
                            .lhs_contracting = lhs[1],
                            .rhs_contracting = rhs[1]};
    op_value *product = other_first ? build_dot(b, other, g, &dims) : build_dot(b, g, other, &dims);
    const bool sorted = find_order(mine, theirs, other_first, permutation);
    return sorted ? product : build_transpose(b, product, permutation);
}

void gradient_dot(op_builder *b, const op_vjp *v, op_value **grads)
{
    const op_params *p = v->params;
    const dot_end lhs =
        end_of(p->lhs_batch, p->lhs_contracting, build_type(b, v->operands[0]).rank);
    const dot_end rhs =
        end_of(p->rhs_batch, p->rhs_contracting, build_type(b, v->operands[1]).rank);
    op_value *g = v->cotangents[0];
    if (v->wanted[0]) {
        grads[0] =
            of_side(b, g, v->operands[1], &lhs, &rhs, p->lhs_batch.count + lhs.num_free, false);
    }
    if (v->wanted[1]) {
        grads[1] = of_side(b, g, v->operands[0], &rhs, &lhs, p->lhs_batch.count, true);
    }
}

/* ---- moves ---- */

void gradient_reshape(op_builder *b, const op_vjp *v, op_value **grads)
{
    const op_type type = build_type(b, v->operands[0]);
    grads[0] = build_reshape(b, v->cotangents[0], type.shape, type.rank);
}

void gradient_transpose(op_builder *b, const op_vjp *v, op_value **grads)
{
    int64_t inverse[OP_MAX_RANK];
    for (size_t d = 0; d < v->params->dimensions.count; d++) {
        inverse[v->params->dimensions.values[d]] = (int64_t)d;
    }
    grads[0] = build_transpose(b, v->cotangents[0], inverse);
}

/* Summed where it repeats; then the dimensions in the operand's order. */
void gradient_broadcast(op_builder *b, const op_vjp *v, op_value **grads)
{
    const op_type type = build_type(b, v->operands[0]);
    const op_type to = build_type(b, v->cotangents[0]);
    const op_ints dims = v->params->dimensions;
    int64_t summed[OP_MAX_RANK];
    int64_t permutation[OP_MAX_RANK];
    int64_t left[OP_MAX_RANK];
    size_t count = 0;
    size_t rank = 0;
    size_t turned = 0;
    for (size_t d = 0; d < to.rank; d++) {
        const int64_t from = place_of(dims, (int64_t)d);
        if (from < 0 || type.shape[from] != to.shape[d]) {
            summed[count++] = (int64_t)d;
        } else {
            left[rank++] = from;
        }
    }
    op_value *g = build_sum(b, v->cotangents[0], summed, count);
    bool sorted = true;
    for (size_t d = 0; d < type.rank; d++) {
        const int64_t at = place_of((op_ints){rank, left}, (int64_t)d);
        if (at >= 0) {
            sorted = sorted && at == (int64_t)turned;
            permutation[turned++] = at;
        }
    }
    g = sorted ? g : build_transpose(b, g, permutation);
    grads[0] = count > 0 ? build_reshape(b, g, type.shape, type.rank) : g;
}

void gradient_slice(op_builder *b, const op_vjp *v, op_value **grads)
{
    const op_type type = build_type(b, v->operands[0]);
    const op_type part = build_type(b, v->cotangents[0]);
    const op_params *p = v->params;
    int64_t high[OP_MAX_RANK];
    int64_t interior[OP_MAX_RANK];
    for (size_t d = 0; d < type.rank; d++) {
        const int64_t rows = part.shape[d];
        const int64_t reach = rows > 0 ? (rows - 1) * p->strides.values[d] + 1 : 0;
        high[d] = type.shape[d] - p->start.values[d] - reach;
        interior[d] = p->strides.values[d] - 1;
    }
    grads[0] = build_pad(b, v->cotangents[0], p->start.values, high, interior);
}

void gradient_concatenate(op_builder *b, const op_vjp *v, op_value **grads)
{
    int64_t start[OP_MAX_RANK] = {0};
    int64_t ones[OP_MAX_RANK];
    const int64_t dim = v->params->dimension;
    int64_t at = 0;
    for (size_t d = 0; d < OP_MAX_RANK; d++) {
        ones[d] = 1;
    }
    for (size_t i = 0; i < v->num_operands; i++) {
        op_type type = build_type(b, v->operands[i]);
        start[dim] = at;
        at += type.shape[dim];
        type.shape[dim] = at;
        if (v->wanted[i]) {
            grads[i] = build_slice(b, v->cotangents[0], start, type.shape, ones);
        }
    }
}

/* Without the border, which negative padding takes away; then every so many elements. */
void gradient_pad(op_builder *b, const op_vjp *v, op_value **grads)
{
    const op_params *p = v->params;
    const op_type padded = build_type(b, v->cotangents[0]);
    int64_t low[OP_MAX_RANK];
    int64_t high[OP_MAX_RANK];
    int64_t steps[OP_MAX_RANK];
    int64_t limit[OP_MAX_RANK];
    const int64_t zeros[OP_MAX_RANK] = {0};
    for (size_t d = 0; d < padded.rank; d++) {
        low[d] = -p->start.values[d];
        high[d] = -p->limit.values[d];
        steps[d] = p->strides.values[d] + 1;
        limit[d] = padded.shape[d] + low[d] + high[d];
    }
    op_value *inner = build_pad(b, v->cotangents[0], low, high, zeros);
    op_value *own = build_slice(b, inner, zeros, limit, steps);
    if (v->wanted[0]) {
        grads[0] = own;
    }
    if (v->wanted[1]) {
        int64_t all[OP_MAX_RANK];
        for (size_t d = 0; d < padded.rank; d++) {
            all[d] = (int64_t)d;
        }
        grads[1] =
            build_binary(b, BINARY_SUBTRACT, build_sum(b, v->cotangents[0], all, padded.rank),
                         build_sum(b, own, all, padded.rank));
    }
}

/* Products of any number of tensors, by the subscripts of their dimensions. */
#include <string.h>

#include "factor/rule.h"
#include "ops/composite.h"

/* A value and the subscripts of its dimensions: factors of the rule. */
typedef struct labelled {
    op_value *value;
    size_t rank;
    size_t subscripts[OP_MAX_RANK];
} labelled;

static labelled operand_at(const tsr_rule *rule, size_t i, op_value *value)
{
    const tsr_rule_tensor *t = tsr_rule_operand(rule, i);
    labelled l = {.value = value, .rank = t->rank};
    for (size_t d = 0; d < t->rank; d++) {
        l.subscripts[d] = t->dims[d].factors[0];
    }
    return l;
}

static bool has(const labelled *l, size_t subscript, size_t *dim)
{
    for (size_t d = 0; d < l->rank; d++) {
        if (l->subscripts[d] == subscript) {
            *dim = d;
            return true;
        }
    }
    return false;
}

static bool tensor_has(const tsr_rule_tensor *t, size_t subscript)
{
    for (size_t d = 0; d < t->rank; d++) {
        if (t->dims[d].factors[0] == subscript) {
            return true;
        }
    }
    return false;
}

/* Whether the result or an operand from `next` on still wants a subscript. */
static bool is_wanted(const tsr_rule *rule, size_t next, size_t subscript)
{
    for (size_t i = next; i < tsr_rule_num_operands(rule); i++) {
        if (tensor_has(tsr_rule_operand(rule, i), subscript)) {
            return true;
        }
    }
    return tensor_has(tsr_rule_result(rule, 0), subscript);
}

/*
 * A dimension of size 1 of an ellipsis, which repeats: it is dropped after the products, and
 * nothing is summed, so that a partial product is the only thing that leaves a sum.
 */
static bool repeats(const tsr_rule *rule, size_t subscript)
{
    return tsr_rule_factor(rule, subscript)->kind == TSR_FACTOR_PASS_THROUGH &&
           !tensor_has(tsr_rule_result(rule, 0), subscript);
}

/* A labelled value without the dimensions that repeat. */
static void drop_repeated(op_builder *b, const tsr_rule *rule, labelled *l)
{
    const op_type type = build_type(b, l->value);
    int64_t shape[OP_MAX_RANK];
    size_t kept = 0;
    for (size_t d = 0; d < l->rank && l->value != NULL; d++) {
        if (!repeats(rule, l->subscripts[d])) {
            shape[kept] = type.shape[d];
            l->subscripts[kept++] = l->subscripts[d];
        }
    }
    if (l->value != NULL && kept < l->rank) {
        l->rank = kept;
        l->value = build_reshape(b, l->value, shape, kept);
    }
}

/* Sums the subscripts away that no later operand and not the result has and the other operand does
 * not have. */
static void sum_lonely(op_builder *b, const tsr_rule *rule, size_t next, const labelled *other,
                       labelled *l)
{
    int64_t dims[OP_MAX_RANK];
    size_t count = 0;
    size_t kept = 0;
    size_t at;
    for (size_t d = 0; d < l->rank; d++) {
        const size_t subscript = l->subscripts[d];
        if (is_wanted(rule, next, subscript) || repeats(rule, subscript) ||
            (other != NULL && has(other, subscript, &at))) {
            l->subscripts[kept++] = subscript;
        } else {
            dims[count++] = (int64_t)d;
        }
    }
    l->rank = kept;
    l->value = build_fold(b, OP_BODY_SUM, l->value, (op_ints){count, dims});
}

/* The product of two: subscripts of both that are still wanted are batches, the others summed. */
static labelled multiply(op_builder *b, const tsr_rule *rule, size_t next, const labelled *x,
                         const labelled *y)
{
    int64_t batch[2][OP_MAX_RANK] = {{0}};
    int64_t sum[2][OP_MAX_RANK] = {{0}};
    size_t num_batch = 0;
    size_t num_sum = 0;
    size_t at;
    labelled out = {.rank = 0};
    for (size_t d = 0; d < x->rank; d++) {
        if (has(y, x->subscripts[d], &at)) {
            const bool wanted = is_wanted(rule, next, x->subscripts[d]);
            size_t *count = wanted ? &num_batch : &num_sum;
            (wanted ? batch : sum)[0][*count] = (int64_t)d;
            (wanted ? batch : sum)[1][(*count)++] = (int64_t)at;
        }
    }
    for (size_t i = 0; i < num_batch; i++) {
        out.subscripts[out.rank++] = x->subscripts[batch[0][i]];
    }
    const labelled *const both[] = {x, y};
    for (size_t side = 0; side < 2; side++) {
        for (size_t d = 0; d < both[side]->rank; d++) {
            if (!has(both[1 - side], both[side]->subscripts[d], &at) && out.rank < OP_MAX_RANK) {
                out.subscripts[out.rank++] = both[side]->subscripts[d];
            }
        }
    }
    const dot_params dims = {.lhs_batching_dimensions = {num_batch, batch[0]},
                             .rhs_batching_dimensions = {num_batch, batch[1]},
                             .lhs_contracting_dimensions = {num_sum, sum[0]},
                             .rhs_contracting_dimensions = {num_sum, sum[1]}};
    out.value = build_dot(b, x->value, y->value, &dims);
    return out;
}

/* Whether the last product comes out in the order of the result with its operands exchanged. */
static bool comes_out_exchanged(const tsr_rule *rule, const labelled *x, const labelled *y)
{
    const tsr_rule_tensor *result = tsr_rule_result(rule, 0);
    size_t rank = 0;
    size_t at;
    const labelled *const both[] = {y, x};
    for (size_t pass = 0; pass < 3; pass++) {
        const labelled *from = pass == 2 ? both[1] : both[0];
        const labelled *other = pass == 2 ? both[0] : both[1];
        for (size_t d = 0; d < from->rank; d++) {
            const size_t subscript = from->subscripts[d];
            const bool shared = has(other, subscript, &at);
            if (shared != (pass == 0) || !tensor_has(result, subscript)) {
                continue;
            }
            if (rank >= result->rank || result->dims[rank].factors[0] != subscript) {
                return false;
            }
            rank++;
        }
    }
    return rank == result->rank;
}

/* The dimensions in the order of the result. */
static op_value *in_order(op_builder *b, const tsr_rule *rule, const labelled *l)
{
    const tsr_rule_tensor *result = tsr_rule_result(rule, 0);
    int64_t permutation[OP_MAX_RANK];
    bool sorted = true;
    size_t at = 0;
    for (size_t d = 0; d < result->rank; d++) {
        (void)has(l, result->dims[d].factors[0], &at);
        permutation[d] = (int64_t)at;
        sorted = sorted && at == d;
    }
    return sorted ? l->value : build_transpose(b, l->value, permutation);
}

op_value *compose_einsum(op_builder *b, const tsr_rule *rule, op_value *const *values)
{
    const size_t count = tsr_rule_num_operands(rule);
    labelled product = operand_at(rule, 0, values[0]);
    for (size_t i = 1; i < count && b->status >= 0; i++) {
        labelled next = operand_at(rule, i, values[i]);
        sum_lonely(b, rule, i + 1, &next, &product);
        sum_lonely(b, rule, i + 1, &product, &next);
        const bool exchange = i + 1 == count && comes_out_exchanged(rule, &product, &next);
        product = exchange ? multiply(b, rule, i + 1, &next, &product)
                           : multiply(b, rule, i + 1, &product, &next);
    }
    if (b->status < 0) { /* a product may have been refused for its rank */
        return NULL;
    }
    sum_lonely(b, rule, count, NULL, &product);
    drop_repeated(b, rule, &product);
    return b->status < 0 ? NULL : in_order(b, rule, &product);
}

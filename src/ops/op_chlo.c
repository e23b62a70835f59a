#include "ops/op_chlo.h"

#include <string.h>

#include "factor/rule.h"
#include "ops/rule_build.h"

#define PASS TSR_FACTOR_PASS_THROUGH
#define NEED TSR_FACTOR_NEED_REPLICATION

/* ---- element by element ---- */

/*
 * Name, operands, what is true beside, class. XLA rewrites most to several ops, which read their
 * operands again and again; the others stay one op.
 */
#define ELEMENTWISE(X)                                                                             \
    X(acos, 1, OP_EXPANDS, NULL)                                                                   \
    X(acosh, 1, OP_EXPANDS, NULL)                                                                  \
    X(asin, 1, OP_EXPANDS, NULL)                                                                   \
    X(atan, 1, 0, NULL)                                                                            \
    X(atanh, 1, OP_EXPANDS, NULL)                                                                  \
    X(bessel_i1e, 1, OP_EXPANDS, NULL)                                                             \
    X(conj, 1, OP_EXPANDS, class_linear)                                                           \
    X(cosh, 1, OP_EXPANDS, NULL)                                                                   \
    X(digamma, 1, OP_EXPANDS, NULL)                                                                \
    X(erf_inv, 1, OP_EXPANDS, NULL)                                                                \
    X(is_inf, 1, 0, NULL)                                                                          \
    X(is_neg_inf, 1, 0, NULL)                                                                      \
    X(is_pos_inf, 1, 0, NULL)                                                                      \
    X(lgamma, 1, OP_EXPANDS, NULL)                                                                 \
    X(mulhi, 2, OP_EXPANDS, NULL)                                                                  \
    X(next_after, 2, OP_EXPANDS, NULL)                                                             \
    X(polygamma, 2, OP_EXPANDS, NULL)                                                              \
    X(sinh, 1, OP_EXPANDS, NULL)                                                                   \
    X(square, 1, OP_EXPANDS, NULL)                                                                 \
    X(zeta, 2, OP_EXPANDS, NULL)

#define ELEMENTWISE_ROW(op, count, more, class)                                                    \
    static const op_row row_##op = {.name = #op,                                                   \
                                    .dialect = OP_CHLO,                                            \
                                    .traits = OP_ELEMENTWISE | OP_PASSES_ON | (more),              \
                                    .num_operands = (count),                                       \
                                    .num_results = 1,                                              \
                                    .rule = op_rule_pointwise,                                     \
                                    .class_of = (class)};
ELEMENTWISE(ELEMENTWISE_ROW)

/* ---- with operands that broadcast ---- */

static const op_field broadcast_list[] = {
    OP_FIELD(chlo_broadcast_params, broadcast_dimensions, INTS)};
static const op_fields broadcast_fields = OP_FIELDS(chlo_broadcast_params, broadcast_list);

/* The dimension of the result that a dimension of an operand becomes; NO_DIM: none fits. */
static size_t broadcast_to(const op_request *r, const op_type *operand, const op_type *result,
                           size_t dim)
{
    const op_ints given = ((const chlo_broadcast_params *)r->params)->broadcast_dimensions;
    const bool by_list = given.count == operand->rank && operand->rank < result->rank;
    const int64_t to = by_list ? given.values[dim] : (int64_t)(dim + result->rank - operand->rank);
    return is_dim(to, result->rank) ? (size_t)to : NO_DIM;
}

static tsr_status broadcast_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                 const tsr_rule **out)
{
    size_t factors[OP_MAX_RANK];
    for (size_t i = 0; i < r->num_operands; i++) {
        if (r->operands[i].rank > results[0].rank) {
            return TSR_NOT_APPLICABLE;
        }
    }
    rule_builder b = op_rule_start(r, results, arena);
    for (size_t d = 0; d < results[0].rank; d++) {
        factors[d] = rule_factor(&b, results[0].shape[d], PASS, false);
    }
    for (size_t i = 0; i < r->num_operands; i++) {
        const op_type *operand = &r->operands[i];
        for (size_t d = 0; d < operand->rank; d++) {
            const size_t to = broadcast_to(r, operand, &results[0], d);
            if (to != NO_DIM && operand->shape[d] == results[0].shape[to]) {
                rule_map(&b, i, d, factors[to]);
            }
        }
    }
    for (size_t d = 0; d < results[0].rank; d++) {
        rule_put(&b, r->num_operands, d, factors[d]);
    }
    return rule_finish(&b, out);
}

/* What the op does whose operands do not broadcast. */
static spmd_class broadcast_class(const op_request *r, size_t operand, tsr_reduction pending)
{
    const op_row *plain = op_find(r->row->name + strlen("broadcast_"));
    return plain != NULL && plain->class_of != NULL ? plain->class_of(r, operand, pending)
                                                    : SPMD_NONLINEAR;
}

#define BROADCASTING(X)                                                                            \
    X(broadcast_add, 2)                                                                            \
    X(broadcast_and, 2)                                                                            \
    X(broadcast_atan2, 2)                                                                          \
    X(broadcast_compare, 2)                                                                        \
    X(broadcast_complex, 2)                                                                        \
    X(broadcast_divide, 2)                                                                         \
    X(broadcast_maximum, 2)                                                                        \
    X(broadcast_minimum, 2)                                                                        \
    X(broadcast_multiply, 2)                                                                       \
    X(broadcast_next_after, 2)                                                                     \
    X(broadcast_or, 2)                                                                             \
    X(broadcast_polygamma, 2)                                                                      \
    X(broadcast_power, 2)                                                                          \
    X(broadcast_remainder, 2)                                                                      \
    X(broadcast_select, 3)                                                                         \
    X(broadcast_shift_left, 2)                                                                     \
    X(broadcast_shift_right_arithmetic, 2)                                                         \
    X(broadcast_shift_right_logical, 2)                                                            \
    X(broadcast_subtract, 2)                                                                       \
    X(broadcast_xor, 2)                                                                            \
    X(broadcast_zeta, 2)

#define BROADCAST_ROW(op, count)                                                                   \
    static const op_row row_##op = {.name = #op,                                                   \
                                    .dialect = OP_CHLO,                                            \
                                    .traits = OP_ELEMENTWISE | OP_PASSES_ON,                       \
                                    .num_operands = (count),                                       \
                                    .num_results = 1,                                              \
                                    .fields = &broadcast_fields,                                   \
                                    .rule = broadcast_rule,                                        \
                                    .class_of = broadcast_class};
BROADCASTING(BROADCAST_ROW)

/* ---- the greatest elements ---- */

tsr_status op_top_k_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                         const tsr_rule **out)
{
    return op_rule_mismatch(r, results, arena, NEED, true, out);
}

const op_row op_top_k_last = {.name = "top_k",
                              .dialect = OP_CHLO,
                              .num_operands = 1,
                              .num_results = 2,
                              .rule = op_top_k_rule};

/* ---- ragged_dot ---- */

static const op_field ragged_dot_list[] = {
    OP_FIELD(ragged_dot_params, lhs_batching_dimensions, INTS),
    OP_FIELD(ragged_dot_params, rhs_batching_dimensions, INTS),
    OP_FIELD(ragged_dot_params, lhs_contracting_dimensions, INTS),
    OP_FIELD(ragged_dot_params, rhs_contracting_dimensions, INTS),
    OP_FIELD(ragged_dot_params, lhs_ragged_dimensions, INTS),
    OP_FIELD(ragged_dot_params, rhs_group_dimensions, INTS)};
static const op_fields ragged_dot_fields = OP_FIELDS(ragged_dot_params, ragged_dot_list);

enum { LHS, RHS, SIZES, RESULT };

static bool are_dims(op_ints dims, size_t rank)
{
    for (size_t i = 0; i < dims.count; i++) {
        if (!is_dim(dims.values[i], rank)) {
            return false;
        }
    }
    return true;
}

/* How many dimensions of an operand are in no list. */
static size_t count_free(const op_type *type, op_ints batch, op_ints contracting, op_ints group)
{
    size_t count = 0;
    for (size_t d = 0; d < type->rank; d++) {
        count += !op_ints_have(batch, d) && !op_ints_have(contracting, d) && !op_ints_have(group, d)
                     ? 1
                     : 0;
    }
    return count;
}

/* Whether lists name dimensions, and the result has one for each batch dimension, free dimension
 * and, where what is contracted is ragged, group. */
static bool ragged_dot_fits(const op_request *r, const op_type *results, bool by_group)
{
    const ragged_dot_params *p = r->params;
    const op_type *lhs = &r->operands[LHS];
    const op_type *rhs = &r->operands[RHS];
    return p->lhs_batching_dimensions.count == p->rhs_batching_dimensions.count &&
           p->lhs_contracting_dimensions.count == p->rhs_contracting_dimensions.count &&
           are_dims(p->lhs_batching_dimensions, lhs->rank) &&
           are_dims(p->lhs_contracting_dimensions, lhs->rank) &&
           are_dims(p->rhs_batching_dimensions, rhs->rank) &&
           are_dims(p->rhs_contracting_dimensions, rhs->rank) &&
           p->lhs_ragged_dimensions.count == 1 && are_dims(p->lhs_ragged_dimensions, lhs->rank) &&
           p->rhs_group_dimensions.count <= 1 && are_dims(p->rhs_group_dimensions, rhs->rank) &&
           r->operands[SIZES].rank > 0 &&
           results[0].rank == (by_group ? 1 : 0) + p->lhs_batching_dimensions.count +
                                  count_free(lhs, p->lhs_batching_dimensions,
                                             p->lhs_contracting_dimensions, (op_ints){0}) +
                                  count_free(rhs, p->rhs_batching_dimensions,
                                             p->rhs_contracting_dimensions,
                                             p->rhs_group_dimensions);
}

/* Factors of an operand's free dimensions: the ragged one must be whole. */
static size_t map_free(rule_builder *b, const op_request *r, size_t operand, op_ints batch,
                       op_ints contracting, op_ints group, size_t next)
{
    const ragged_dot_params *p = r->params;
    for (size_t d = 0; d < r->operands[operand].rank; d++) {
        if (op_ints_have(batch, d) || op_ints_have(contracting, d) || op_ints_have(group, d)) {
            continue;
        }
        const bool ragged = operand == LHS && op_ints_have(p->lhs_ragged_dimensions, d);
        const size_t factor =
            rule_factor(b, r->operands[operand].shape[d], ragged ? NEED : PASS, false);
        rule_map(b, operand, d, factor);
        rule_map(b, RESULT, next++, factor);
    }
    return next;
}

static void map_groups(rule_builder *b, const op_request *r, bool by_group)
{
    const ragged_dot_params *p = r->params;
    const op_type *sizes = &r->operands[SIZES];
    const size_t group = rule_factor(b, sizes->shape[sizes->rank - 1], NEED, false);
    rule_map(b, SIZES, sizes->rank - 1, group);
    if (p->rhs_group_dimensions.count > 0) {
        rule_map(b, RHS, (size_t)p->rhs_group_dimensions.values[0], group);
    }
    if (by_group) {
        rule_map(b, RESULT, 0, group);
    }
}

/*
 * As a product; what is ragged and what counts the groups must be whole. With a ragged batch
 * dimension it is a product, and the sizes of groups count for nothing.
 */
static tsr_status ragged_dot_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                  const tsr_rule **out)
{
    const ragged_dot_params *p = r->params;
    const op_ints ragged = p->lhs_ragged_dimensions;
    const bool by_group =
        ragged.count == 1 && op_ints_have(p->lhs_contracting_dimensions, (size_t)ragged.values[0]);
    const bool by_batch =
        ragged.count == 1 && op_ints_have(p->lhs_batching_dimensions, (size_t)ragged.values[0]);
    if (!ragged_dot_fits(r, results, by_group)) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = op_rule_start(r, results, arena);
    size_t next = by_group ? 1 : 0;
    for (size_t i = 0; i < p->lhs_batching_dimensions.count; i++) {
        const size_t left = (size_t)p->lhs_batching_dimensions.values[i];
        const size_t factor = rule_factor(&b, r->operands[LHS].shape[left], PASS, false);
        rule_map(&b, LHS, left, factor);
        rule_map(&b, RHS, (size_t)p->rhs_batching_dimensions.values[i], factor);
        if (!by_batch && i + 1 < r->operands[SIZES].rank) {
            rule_map(&b, SIZES, i, factor);
        }
        rule_map(&b, RESULT, next++, factor);
    }
    next = map_free(&b, r, LHS, p->lhs_batching_dimensions, p->lhs_contracting_dimensions,
                    (op_ints){0}, next);
    (void)map_free(&b, r, RHS, p->rhs_batching_dimensions, p->rhs_contracting_dimensions,
                   p->rhs_group_dimensions, next);
    for (size_t i = 0; i < p->lhs_contracting_dimensions.count; i++) {
        const size_t left = (size_t)p->lhs_contracting_dimensions.values[i];
        const bool whole = op_ints_have(ragged, left);
        const size_t factor = rule_factor(&b, r->operands[LHS].shape[left],
                                          whole ? NEED : TSR_FACTOR_REDUCTION, false);
        rule_map(&b, LHS, left, factor);
        rule_map(&b, RHS, (size_t)p->rhs_contracting_dimensions.values[i], factor);
    }
    if (!by_batch) {
        map_groups(&b, r, by_group);
    }
    return rule_finish(&b, out);
}

static const op_row ragged_dot = {.name = "ragged_dot",
                                  .dialect = OP_CHLO,
                                  .num_operands = 3,
                                  .num_results = 1,
                                  .fields = &ragged_dot_fields,
                                  .rule = ragged_dot_rule,
                                  .class_of = class_multilinear};

/* ---- scan ---- */

static const op_field scan_list[] = {OP_FIELD(scan_params, dimension, INT),
                                     OP_FIELD(scan_params, operandSegmentSizes, INTS)};
static const op_fields scan_fields = OP_FIELDS(scan_params, scan_list);

/* Whether a tensor has the dimension that is scanned: inputs and outputs do, carries do not. */
static bool is_scanned(const op_request *r, int64_t inputs, size_t tensor)
{
    const size_t carries = r->num_operands - (size_t)inputs;
    return tensor < r->num_operands ? (int64_t)tensor < inputs
                                    : tensor < r->num_operands + r->num_results - carries;
}

/* Whether all tensors have the same shape, but for the dimension that is scanned. */
static bool scan_is_uniform(const op_request *r, const op_type *results, int64_t inputs, size_t dim)
{
    const op_type *first = &r->operands[0];
    for (size_t i = 0; i < r->num_operands + r->num_results; i++) {
        const op_type *type = i < r->num_operands ? &r->operands[i] : &results[i - r->num_operands];
        const size_t missing = is_scanned(r, inputs, i) ? 0 : 1;
        if (type->rank + missing != first->rank) {
            return false;
        }
        for (size_t d = 0; d < type->rank; d++) {
            const size_t of_first = d + (missing != 0 && d >= dim ? 1 : 0);
            if (type->shape[d] != first->shape[of_first]) {
                return false;
            }
        }
    }
    return true;
}

static tsr_status scan_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                            const tsr_rule **out)
{
    const scan_params *p = r->params;
    const op_ints sizes = p->operandSegmentSizes;
    const int64_t inputs = sizes.count == 2 ? sizes.values[0] : 0;
    if (inputs < 1 || (uint64_t)inputs > r->num_operands ||
        r->num_results < r->num_operands - (size_t)inputs || p->dimension < 0) {
        return TSR_NOT_APPLICABLE;
    }
    const size_t dim = (size_t)p->dimension;
    const size_t count = r->num_operands + r->num_results;
    for (size_t i = 0; i < count; i++) {
        const op_type *type = i < r->num_operands ? &r->operands[i] : &results[i - r->num_operands];
        if (is_scanned(r, inputs, i) && type->rank <= dim) {
            return TSR_NOT_APPLICABLE;
        }
    }
    rule_builder b = op_rule_start(r, results, arena);
    const size_t scanned = rule_factor(&b, r->operands[0].shape[dim], NEED, false);
    for (size_t i = 0; i < count; i++) {
        if (is_scanned(r, inputs, i)) {
            rule_put(&b, i, dim, scanned);
        }
    }
    const bool uniform = scan_is_uniform(r, results, inputs, dim);
    for (size_t d = 0; uniform && d < r->operands[0].rank; d++) {
        const size_t factor =
            d != dim ? rule_factor(&b, r->operands[0].shape[d], PASS, false) : NO_DIM;
        for (size_t i = 0; d != dim && i < count; i++) {
            rule_put(&b, i, is_scanned(r, inputs, i) || d < dim ? d : d - 1, factor);
        }
    }
    return rule_finish(&b, out);
}

static const op_row scan = {.name = "scan",
                            .dialect = OP_CHLO,
                            .traits = OP_VARIADIC | OP_ANY_RESULTS,
                            .num_operands = 1,
                            .fields = &scan_fields,
                            .rule = scan_rule};

/* ---- the family ---- */

#define ELEMENTWISE_POINTER(op, count, more, class) &row_##op,
#define BROADCAST_POINTER(op, count) &row_##op,
static const op_row *const rows[] = {
    ELEMENTWISE(ELEMENTWISE_POINTER) BROADCASTING(BROADCAST_POINTER) & ragged_dot, &scan};
const op_family family_chlo = {rows, sizeof rows / sizeof rows[0]};

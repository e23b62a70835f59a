#include "ops/op_dot.h"

#include "factor/rule.h"
#include "kernel/dot.h"
#include "ops/gradient.h"
#include "ops/rule_build.h"

static const op_field dot_list[] = {OP_FIELD(dot_params, lhs_batching_dimensions, INTS),
                                    OP_FIELD(dot_params, rhs_batching_dimensions, INTS),
                                    OP_FIELD(dot_params, lhs_contracting_dimensions, INTS),
                                    OP_FIELD(dot_params, rhs_contracting_dimensions, INTS)};
static const op_fields dot_fields = OP_FIELDS(dot_params, dot_list);

/* The dimensions of one operand, by what a product does to them. Of free ones beyond OP_MAX_RANK,
 * which dot_types refuses, there is only the number. */
typedef struct dot_side {
    op_ints batch;
    op_ints contracting;
    size_t rank;
    int64_t free[OP_MAX_RANK];
    size_t num_free;
} dot_side;

static dot_side side_of(op_ints batch, op_ints contracting, size_t rank)
{
    dot_side s = {.batch = batch, .contracting = contracting, .rank = rank};
    for (size_t d = 0; d < rank; d++) {
        if (op_ints_have(batch, d) || op_ints_have(contracting, d)) {
            continue;
        }
        if (s.num_free < OP_MAX_RANK) {
            s.free[s.num_free] = (int64_t)d;
        }
        s.num_free++;
    }
    return s;
}

static dot_side left_of(const dot_params *p, size_t rank)
{
    return side_of(p->lhs_batching_dimensions, p->lhs_contracting_dimensions, rank);
}

static dot_side right_of(const dot_params *p, size_t rank)
{
    return side_of(p->rhs_batching_dimensions, p->rhs_contracting_dimensions, rank);
}

/* ---- types ---- */

static const char *const sides[] = {"lhs", "rhs"};

/* The batch and contracting dimensions of one side, each once. */
static tsr_status check_distinct(const op_request *r, size_t side, op_ints batch,
                                 op_ints contracting)
{
    const int64_t *shared = op_ints_repeated(batch);
    shared = shared != NULL ? shared : op_ints_repeated(contracting);
    shared = shared != NULL ? shared : op_ints_shared(batch, contracting);
    return shared == NULL ? TSR_OK
                          : OP_ERROR(r,
                                     "has duplicated dimension from %s_batching_dimensions and "
                                     "%s_contracting_dimensions: %lld",
                                     sides[side], sides[side], (long long)*shared);
}

static tsr_status check_range(const op_request *r, size_t side, const char *what, op_ints dims)
{
    const size_t rank = r->operands[side].rank;
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.values[i] < 0 || (uint64_t)dims.values[i] >= rank) {
            return OP_ERROR(r, "%s_%s_dimensions value: %lld is out of range: [0, %zu)",
                            sides[side], what, (long long)dims.values[i], rank);
        }
    }
    return TSR_OK;
}

static tsr_status check_pairs(const op_request *r, const char *what, op_ints lhs, op_ints rhs)
{
    for (size_t i = 0; i < lhs.count; i++) {
        const int64_t a = r->operands[0].shape[lhs.values[i]];
        const int64_t b = r->operands[1].shape[rhs.values[i]];
        if (!extents_agree(a, b)) {
            return OP_ERROR(r, "%s dimension sizes must match for lhs/rhs", what);
        }
    }
    return TSR_OK;
}

static tsr_status check_dims(const op_request *r)
{
    const dot_params *p = r->params;
    const op_ints batch[] = {p->lhs_batching_dimensions, p->rhs_batching_dimensions};
    const op_ints contracting[] = {p->lhs_contracting_dimensions, p->rhs_contracting_dimensions};
    if (batch[0].count != batch[1].count || contracting[0].count != contracting[1].count) {
        return OP_ERROR(r, "lhs and rhs should have the same number of %s dimensions",
                        batch[0].count != batch[1].count ? "batching" : "contracting");
    }
    TSR_TRY(check_distinct(r, 0, batch[0], contracting[0]));
    TSR_TRY(check_distinct(r, 1, batch[1], contracting[1]));
    TSR_TRY(check_range(r, 0, "batching", batch[0]));
    TSR_TRY(check_range(r, 0, "contracting", contracting[0]));
    TSR_TRY(check_range(r, 1, "batching", batch[1]));
    TSR_TRY(check_range(r, 1, "contracting", contracting[1]));
    TSR_TRY(check_pairs(r, "batching", batch[0], batch[1]));
    return check_pairs(r, "contracting", contracting[0], contracting[1]);
}

static tsr_status dot_types(const op_request *r, op_type *results)
{
    const op_type *lhs = &r->operands[0];
    const op_type *rhs = &r->operands[1];
    TSR_TRY(op_same_dtype(r, 0, 1));
    TSR_TRY(check_dims(r));
    const dot_side left = left_of(r->params, lhs->rank);
    const dot_side right = right_of(r->params, rhs->rank);
    const size_t rank = left.batch.count + left.num_free + right.num_free;
    if (rank > OP_MAX_RANK) {
        return OP_ERROR(r, "the product has rank %zu; the maximum is %d", rank, OP_MAX_RANK);
    }
    int64_t *shape = op_new_shape(r, rank);
    size_t o = 0;
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t i = 0; i < left.batch.count; i++) {
        shape[o++] =
            known_extent(lhs->shape[left.batch.values[i]], rhs->shape[right.batch.values[i]]);
    }
    for (size_t i = 0; i < left.num_free; i++) {
        shape[o++] = lhs->shape[left.free[i]];
    }
    for (size_t i = 0; i < right.num_free; i++) {
        shape[o++] = rhs->shape[right.free[i]];
    }
    results[0] = (op_type){.dtype = lhs->dtype, .rank = rank, .shape = shape};
    return TSR_OK;
}

/* ---- the rule ---- */

static tsr_status dot_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                           const tsr_rule **out)
{
    enum { LHS, RHS, RESULT };
    const op_type *lhs = &r->operands[0];
    const op_type *rhs = &r->operands[1];
    const dot_side left = left_of(r->params, lhs->rank);
    const dot_side right = right_of(r->params, rhs->rank);
    const tsr_extents operands[] = {op_extents(lhs), op_extents(rhs)};
    const tsr_extents result = op_extents(&results[0]);
    rule_builder b = rule_start(r->ctx, arena, operands, 2, &result, 1);
    size_t o = 0;
    for (size_t i = 0; i < left.batch.count; i++) {
        const size_t d = (size_t)left.batch.values[i];
        const size_t f = rule_factor(&b, lhs->shape[d], TSR_FACTOR_PASS_THROUGH, false);
        rule_map(&b, LHS, d, f);
        rule_map(&b, RHS, (size_t)right.batch.values[i], f);
        rule_map(&b, RESULT, o++, f);
    }
    for (size_t i = 0; i < left.num_free; i++) {
        const size_t d = (size_t)left.free[i];
        const size_t f = rule_factor(&b, lhs->shape[d], TSR_FACTOR_PASS_THROUGH, false);
        rule_map(&b, LHS, d, f);
        rule_map(&b, RESULT, o++, f);
    }
    for (size_t i = 0; i < right.num_free; i++) {
        const size_t d = (size_t)right.free[i];
        const size_t f = rule_factor(&b, rhs->shape[d], TSR_FACTOR_PASS_THROUGH, false);
        rule_map(&b, RHS, d, f);
        rule_map(&b, RESULT, o++, f);
    }
    for (size_t i = 0; i < left.contracting.count; i++) {
        const size_t d = (size_t)left.contracting.values[i];
        const size_t f = rule_factor(&b, lhs->shape[d], TSR_FACTOR_REDUCTION, false);
        rule_map(&b, LHS, d, f);
        rule_map(&b, RHS, (size_t)right.contracting.values[i], f);
    }
    return rule_finish(&b, out);
}

/* ---- the kernel ---- */

/* A view with its dimensions in another order. */
typedef struct permuted_view {
    tsr_view view;
    int64_t shape[OP_MAX_RANK];
    int64_t strides[OP_MAX_RANK];
} permuted_view;

static void append_dims(permuted_view *to, const tsr_view *from, op_ints dims)
{
    for (size_t i = 0; i < dims.count; i++) {
        to->shape[to->view.rank] = from->shape[dims.values[i]];
        to->strides[to->view.rank++] = from->strides[dims.values[i]];
    }
}

static void begin_view(permuted_view *to, const tsr_view *from)
{
    to->view = *from;
    to->view.rank = 0;
    to->view.shape = to->shape;
    to->view.strides = to->strides;
}

/* A product as the kernel takes it: batch, m, k by batch, k, n. */
typedef struct dot_call {
    permuted_view lhs;
    permuted_view rhs;
    dot_job job;
} dot_call;

static void prepare(const op_call *c, dot_call *d)
{
    const tsr_view *a = &c->operands[0].view;
    const tsr_view *b = &c->operands[1].view;
    const dot_side left = left_of(c->params, a->rank);
    const dot_side right = right_of(c->params, b->rank);
    begin_view(&d->lhs, a);
    append_dims(&d->lhs, a, left.batch);
    append_dims(&d->lhs, a, (op_ints){left.num_free, left.free});
    append_dims(&d->lhs, a, left.contracting);
    begin_view(&d->rhs, b);
    append_dims(&d->rhs, b, right.batch);
    append_dims(&d->rhs, b, right.contracting);
    append_dims(&d->rhs, b, (op_ints){right.num_free, right.free});
    d->job = (dot_job){.dst = &c->results[0].view,
                       .a = &d->lhs.view,
                       .b = &d->rhs.view,
                       .num_batch = left.batch.count,
                       .num_contracting = left.contracting.count};
}

static bool dot_has_kernel(const op_request *r, const op_type *results)
{
    (void)results;
    return dot_supports(r->operands[0].dtype);
}

static size_t dot_scratch(const op_call *c)
{
    dot_call d;
    prepare(c, &d);
    return kernel_dot_scratch(&d.job);
}

static void dot_run(const op_call *c, void *scratch)
{
    dot_call d;
    prepare(c, &d);
    kernel_dot(&d.job, scratch);
}

/* ---- the gradient ---- */

static int64_t index_in(op_ints list, int64_t dim)
{
    for (size_t i = 0; i < list.count; i++) {
        if (list.values[i] == dim) {
            return (int64_t)i;
        }
    }
    return -1;
}

/*
 * Where each dimension of an operand is in the product that is its gradient: after the batches its
 * free dimensions and the contracting ones, in the order of their partners; whether that is the
 * operand's own order.
 */
static bool find_order(const dot_side *mine, const dot_side *theirs, bool other_first,
                       int64_t *permutation)
{
    const int64_t n = (int64_t)mine->batch.count;
    const int64_t first_free = n + (other_first ? (int64_t)mine->contracting.count : 0);
    const int64_t first_contracting = n + (other_first ? 0 : (int64_t)mine->num_free);
    bool sorted = true;
    for (size_t d = 0; d < mine->rank; d++) {
        const int64_t at_batch = index_in(mine->batch, (int64_t)d);
        const int64_t at_contracting = index_in(mine->contracting, (int64_t)d);
        int64_t at = at_batch;
        if (at_contracting >= 0) {
            const int64_t partner = theirs->contracting.values[at_contracting];
            at = first_contracting;
            for (size_t i = 0; i < theirs->contracting.count; i++) {
                at += theirs->contracting.values[i] < partner;
            }
        } else if (at_batch < 0) {
            at = first_free + index_in((op_ints){mine->num_free, mine->free}, (int64_t)d);
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
static op_value *gradient_of_side(op_builder *b, op_value *g, op_value *other, const dot_side *mine,
                                  const dot_side *theirs, size_t first_free, bool other_first)
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
    const dot_params dims = {.lhs_batching_dimensions = lhs[0],
                             .rhs_batching_dimensions = rhs[0],
                             .lhs_contracting_dimensions = lhs[1],
                             .rhs_contracting_dimensions = rhs[1]};
    op_value *product = other_first ? build_dot(b, other, g, &dims) : build_dot(b, g, other, &dims);
    const bool sorted = find_order(mine, theirs, other_first, permutation);
    return sorted ? product : build_transpose(b, product, permutation);
}

static void dot_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    const dot_side left = left_of(v->params, build_type(b, v->operands[0]).rank);
    const dot_side right = right_of(v->params, build_type(b, v->operands[1]).rank);
    op_value *g = v->cotangents[0];
    if (v->wanted[0]) {
        grads[0] = gradient_of_side(b, g, v->operands[1], &left, &right,
                                    left.batch.count + left.num_free, false);
    }
    if (v->wanted[1]) {
        grads[1] = gradient_of_side(b, g, v->operands[0], &right, &left, left.batch.count, true);
    }
}

const op_row op_dot_general = {.name = "dot_general",
                               .alike = OP_ALIKE_ALL,
                               .num_operands = 2,
                               .num_results = 1,
                               .fields = &dot_fields,
                               .types = dot_types,
                               .rule = dot_rule,
                               .class_of = class_multilinear,
                               .supports = dot_has_kernel,
                               .scratch = dot_scratch,
                               .run = dot_run,
                               .gradient = dot_gradient};

/* ---- dot ---- */

static tsr_status matrix_dot_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                  const tsr_rule **out)
{
    enum { LHS, RHS, RESULT };
    const op_type *lhs = &r->operands[0];
    const op_type *rhs = &r->operands[1];
    if (lhs->rank < 1 || lhs->rank > 2 || rhs->rank < 1 || rhs->rank > 2 ||
        results[0].rank != lhs->rank + rhs->rank - 2) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = op_rule_start(r, results, arena);
    if (lhs->rank == 2) {
        const size_t row = rule_factor(&b, lhs->shape[0], TSR_FACTOR_PASS_THROUGH, false);
        rule_map(&b, LHS, 0, row);
        rule_map(&b, RESULT, 0, row);
    }
    if (rhs->rank == 2) {
        const size_t column = rule_factor(&b, rhs->shape[1], TSR_FACTOR_PASS_THROUGH, false);
        rule_map(&b, RHS, 1, column);
        rule_map(&b, RESULT, lhs->rank - 1, column);
    }
    const size_t inner = rule_factor(&b, rhs->shape[0], TSR_FACTOR_REDUCTION, false);
    rule_map(&b, LHS, lhs->rank - 1, inner);
    rule_map(&b, RHS, 0, inner);
    return rule_finish(&b, out);
}

const op_row op_dot = {.name = "dot",
                       .alike = OP_ALIKE_ALL,
                       .num_operands = 2,
                       .num_results = 1,
                       .rule = matrix_dot_rule};

static const op_row *const rows[] = {&op_dot_general, &op_dot};
const op_family family_dot = {rows, sizeof rows / sizeof rows[0]};

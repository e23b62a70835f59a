#include "ops/op_dot.h"

#include "kernel/dot.h"
#include "ops/gradient.h"

/* The dimensions of one operand, those of the product in order. */
typedef struct dot_side {
    size_t batch[OP_MAX_RANK];
    size_t contracting[OP_MAX_RANK];
    size_t free[OP_MAX_RANK];
    size_t num_free;
} dot_side;

static void split_dims(op_ints batch, op_ints contracting, size_t rank, dot_side *s)
{
    s->num_free = 0;
    for (size_t i = 0; i < batch.count; i++) {
        s->batch[i] = (size_t)batch.values[i];
    }
    for (size_t i = 0; i < contracting.count; i++) {
        s->contracting[i] = (size_t)contracting.values[i];
    }
    for (size_t d = 0; d < rank; d++) {
        if (!op_ints_have(batch, d) && !op_ints_have(contracting, d)) {
            s->free[s->num_free++] = d;
        }
    }
}

static void split_both(const op_params *p, size_t lhs_rank, size_t rhs_rank, dot_side *l,
                       dot_side *r)
{
    split_dims(p->lhs_batch, p->lhs_contracting, lhs_rank, l);
    split_dims(p->rhs_batch, p->rhs_contracting, rhs_rank, r);
}

/* The batch and contracting dimensions of one side: within the rank, each once. */
static tsr_status check_side(const op_request *r, size_t side, op_ints batch, op_ints contracting)
{
    const size_t rank = r->operands[side].rank;
    TSR_TRY(op_check_dims(r, "the batch dimension", batch, rank, NULL));
    TSR_TRY(op_check_dims(r, "the contracting dimension", contracting, rank, NULL));
    for (size_t i = 0; i < batch.count; i++) {
        if (op_ints_have(contracting, (size_t)batch.values[i])) {
            return OP_ERROR(r, "dimension %lld of operand %zu is both batch and contracting",
                            (long long)batch.values[i], side);
        }
    }
    return TSR_OK;
}

static tsr_status check_pairs(const op_request *r, const char *what, op_ints lhs, op_ints rhs)
{
    if (lhs.count != rhs.count) {
        return OP_ERROR(r, "%zu %s dimensions on the left, %zu on the right", lhs.count, what,
                        rhs.count);
    }
    for (size_t i = 0; i < lhs.count; i++) {
        const int64_t a = r->operands[0].shape[lhs.values[i]];
        const int64_t b = r->operands[1].shape[rhs.values[i]];
        if (a != b) {
            return OP_ERROR(r,
                            "%s dimensions %lld of %s and %lld of %s differ in size: %lld is not "
                            "%lld",
                            what, (long long)lhs.values[i], op_type_text(&r->operands[0]).text,
                            (long long)rhs.values[i], op_type_text(&r->operands[1]).text,
                            (long long)a, (long long)b);
        }
    }
    return TSR_OK;
}

static tsr_status dot_types(const op_request *r, op_type *results)
{
    const op_params *p = r->params;
    dot_side lhs;
    dot_side rhs;
    TSR_TRY(op_same_dtype(r, 0, 1));
    if (!dot_supports(r->operands[0].dtype)) {
        return op_no_such_type(r, r->operands[0].dtype);
    }
    TSR_TRY(check_side(r, 0, p->lhs_batch, p->lhs_contracting));
    TSR_TRY(check_side(r, 1, p->rhs_batch, p->rhs_contracting));
    TSR_TRY(check_pairs(r, "batch", p->lhs_batch, p->rhs_batch));
    TSR_TRY(check_pairs(r, "contracting", p->lhs_contracting, p->rhs_contracting));
    split_both(p, r->operands[0].rank, r->operands[1].rank, &lhs, &rhs);
    const size_t rank = p->lhs_batch.count + lhs.num_free + rhs.num_free;
    if (rank > OP_MAX_RANK) {
        return OP_ERROR(r, "the product would have %zu dimensions, %d are the most", rank,
                        OP_MAX_RANK);
    }
    results[0] = (op_type){.dtype = r->operands[0].dtype};
    for (size_t i = 0; i < p->lhs_batch.count; i++) {
        results[0].shape[results[0].rank++] = r->operands[0].shape[lhs.batch[i]];
    }
    for (size_t i = 0; i < lhs.num_free; i++) {
        results[0].shape[results[0].rank++] = r->operands[0].shape[lhs.free[i]];
    }
    for (size_t i = 0; i < rhs.num_free; i++) {
        results[0].shape[results[0].rank++] = r->operands[1].shape[rhs.free[i]];
    }
    return TSR_OK;
}

static tsr_status dot_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                           const tsr_rule **out)
{
    dot_side lhs;
    dot_side rhs;
    (void)results;
    split_both(r->params, r->operands[0].rank, r->operands[1].rank, &lhs, &rhs);
    const tsr_dot_dims dims = {.num_batch = r->params->lhs_batch.count,
                               .lhs_batch = lhs.batch,
                               .rhs_batch = rhs.batch,
                               .num_contracting = r->params->lhs_contracting.count,
                               .lhs_contracting = lhs.contracting,
                               .rhs_contracting = rhs.contracting};
    return tsr_rule_dot_general(r->ctx, arena, op_extents(&r->operands[0]),
                                op_extents(&r->operands[1]), &dims, out);
}

/* A view with its dimensions in another order. */
typedef struct turned_view {
    tsr_view view;
    int64_t shape[OP_MAX_RANK];
    int64_t strides[OP_MAX_RANK];
} turned_view;

static void turn(turned_view *t, const tsr_view *from, const size_t *dims, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        t->shape[t->view.rank] = from->shape[dims[i]];
        t->strides[t->view.rank++] = from->strides[dims[i]];
    }
}

static void begin(turned_view *t, const tsr_view *from)
{
    t->view = *from;
    t->view.rank = 0;
    t->view.shape = t->shape;
    t->view.strides = t->strides;
}

/* A product as the kernel wants it: batch, m, k by batch, k, n. */
typedef struct dot_call {
    turned_view lhs;
    turned_view rhs;
    dot_job job;
} dot_call;

static void prepare(const op_call *c, dot_call *d)
{
    const op_params *p = c->params;
    const tsr_view *a = &c->operands[0].view;
    const tsr_view *b = &c->operands[1].view;
    dot_side l;
    dot_side r;
    split_both(p, a->rank, b->rank, &l, &r);
    begin(&d->lhs, a);
    turn(&d->lhs, a, l.batch, p->lhs_batch.count);
    turn(&d->lhs, a, l.free, l.num_free);
    turn(&d->lhs, a, l.contracting, p->lhs_contracting.count);
    begin(&d->rhs, b);
    turn(&d->rhs, b, r.batch, p->rhs_batch.count);
    turn(&d->rhs, b, r.contracting, p->rhs_contracting.count);
    turn(&d->rhs, b, r.free, r.num_free);
    d->job = (dot_job){.dst = &c->results[0].view,
                       .a = &d->lhs.view,
                       .b = &d->rhs.view,
                       .num_batch = p->lhs_batch.count,
                       .num_contracting = p->lhs_contracting.count};
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

const op_row op_dot_general = {.name = "dot_general",
                               .num_operands = 2,
                               .num_results = 1,
                               .types = dot_types,
                               .rule = dot_rule,
                               .class_of = class_multilinear,
                               .scratch = dot_scratch,
                               .run = dot_run,
                               .gradient = gradient_dot};

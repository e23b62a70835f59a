/* Manual computations: where axes become manual, and what results are declared to be. */
#include "check/check.h"
#include "ir/edit.h"
#include "ir/message.h"

/* ---- declared results ---- */

/*
 * An argument of a value's type that is the same along an axis, and whose gradient the value is;
 * -1: none. Scalars are not gradients: a loss has the type of a step size.
 */
static int64_t replicated_argument(checker *c, const declared_result *r, size_t axis, cell a)
{
    const ir_block *b = program_block(c->p, r->block);
    const bool is_scalar = program_type(c->p, value_type(c->p, r->value))->count == 0;
    for (uint32_t i = 0; !is_scalar && i < b->num_arguments; i++) {
        const uint32_t argument = program_pool(c->p, b->arguments)[i];
        const cell *cells = c->s->cells[argument];
        if (value_type(c->p, argument) == value_type(c->p, r->value) && cells != NULL &&
            cell_is_shared(cells[axis]) && is_gradient_of(c, a.origin, argument, r->block)) {
            return i;
        }
    }
    return -1;
}

static tsr_status report_gradient(checker *c, const declared_result *r, size_t axis, cell a,
                                  int64_t argument)
{
    const char *name = axis_name(c, axis);
    const uint32_t from = value_op(c->p, r->value);
    const report finding = {
        .rule = RULE_UNREDUCED_GRADIENT,
        .op = from != 0 ? from : r->op,
        .value = r->value,
        .axis = axis,
        .message = report_text(c,
                               "result %zu has the type of argument %lld, which is replicated over "
                               "\"%s\", but is a sum that was never reduced over that axis",
                               r->index, (long long)argument, name),
        .remedy = report_text(c,
                              "reduce the gradient over \"%s\" before it is returned: psum, "
                              "pmean, all_reduce",
                              name),
        .notes = {{a.origin, "pending since here: each device has the sum over its own part"},
                  {r->op, "declared replicated here"}},
        .num_notes = 2};
    return report_add(c, &finding);
}

static tsr_status report_varies(checker *c, const declared_result *r, size_t axis, cell a)
{
    const char *name = axis_name(c, axis);
    const uint32_t from = value_op(c->p, r->value);
    const bool is_pending = a.kind == CELL_PENDING;
    const bool sure = is_pending || !a.exchanged;
    const report finding = {
        .rule = sure ? RULE_RESULT_VARIES : RULE_RESULT_MAY_VARY,
        .op = from != 0 ? from : r->op,
        .value = r->value,
        .axis = axis,
        .message =
            report_text(c, "result %zu is declared replicated over \"%s\" and %s", r->index, name,
                        is_pending ? "is a sum still pending along it"
                        : sure     ? "differs between devices along it"
                                   : "may differ between devices along it"),
        .remedy = report_text(c,
                              is_pending ? "reduce it over \"%s\" before it is returned, or cut a "
                                           "dimension of the result along it"
                                         : "reduce or gather it over \"%s\" before it is returned, "
                                           "or cut a dimension of the result along it",
                              name),
        .notes = {{a.origin, is_pending
                                 ? "pending since here: each device has the sum over its own part"
                                 : "differs between devices since here"},
                  {r->op, "declared replicated here"}},
        .num_notes = 2};
    return report_add(c, &finding);
}

/* Whether a result may differ along an axis. */
static bool may_differ(const checker *c, const declared_result *r, size_t axis)
{
    return r->sharding != NULL && (dim_of(c->s, r->sharding, axis) != NO_DIM ||
                                   (unreduced_cover(c->s, r->sharding) & axis_bit(axis)) != 0);
}

tsr_status check_declared(checker *c, const declared_result *r)
{
    const cell *cells = cells_of(c, r->value);
    if (cells == NULL) {
        return diag_nomem(c->ctx);
    }
    for (size_t a = 0; a < c->s->count; a++) {
        if ((r->axes & axis_bit(a)) == 0 || cell_is_shared(cells[a])) {
            continue;
        }
        if (may_differ(c, r, a)) {
            TSR_TRY(statistic_merge(c, r->value, axis_bit(a)));
            continue;
        }
        const int64_t argument =
            cells[a].kind == CELL_PENDING ? replicated_argument(c, r, a, cells[a]) : -1;
        if (argument >= 0) {
            TSR_TRY(report_gradient(c, r, a, cells[a], argument));
        } else {
            TSR_TRY(report_varies(c, r, a, cells[a]));
        }
    }
    return TSR_OK;
}

/* ---- bodies ---- */

/* A manual computation, and what was around it. */
typedef struct manual_use {
    uint32_t op;
    uint32_t body;
    scope *outer;
    axis_bits outer_manual;
    axis_bits outer_guards;
    axis_bits entered; /* axes that become manual */
} manual_use;

/* An entry of in_shardings or out_shardings; NULL: there is none. */
static tsr_status declared_sharding(checker *c, uint32_t op, const char *list, size_t i,
                                    const tsr_sharding **out)
{
    const uint32_t attr = op_property(c->p, op, list);
    *out = NULL;
    if (!attr_is(c->p, attr, ATTR_SDY) || i >= program_attr(c->p, attr)->count) {
        return TSR_OK;
    }
    return sharding_of_attr(c->ctx, c->p, op, attr_list(program_attr(c->p, attr))[i], NO_LOCATION,
                            "", NULL, out);
}

/* The mesh of its shardings; that of the scope when it has none. */
static tsr_status mesh_of_manual(checker *c, const manual_use *m, const tsr_mesh **out)
{
    const tsr_sharding *sharding = NULL;
    *out = c->s->mesh;
    TSR_TRY(declared_sharding(c, m->op, "in_shardings", 0, &sharding));
    if (sharding == NULL) {
        TSR_TRY(declared_sharding(c, m->op, "out_shardings", 0, &sharding));
    }
    if (sharding != NULL) {
        *out = sharding->mesh;
    }
    return TSR_OK;
}

/* Opens the scope of a computation. On another mesh nothing is known of what is around it. */
static tsr_status open_manual(checker *c, manual_use *m)
{
    const tsr_mesh *mesh = NULL;
    const bool *flags = NULL;
    TSR_TRY(mesh_of_manual(c, m, &mesh));
    if (!tsr_mesh_equal(mesh, c->s->mesh)) {
        TSR_TRY(scope_find(c, mesh, &c->s));
        c->manual = 0;
        c->guards = 0;
    }
    TSR_TRY(manual_flags(c->ctx, c->p, c->scratch, m->op, c->s->mesh, &flags));
    for (size_t a = 0; a < c->s->count; a++) {
        m->entered |= flags[c->s->axes[a].ref.axis] && !is_manual(c, a) ? axis_bit(a) : 0;
    }
    return TSR_OK;
}

static tsr_status enter_argument(checker *c, const manual_use *m, uint32_t i)
{
    const uint32_t argument = program_pool(c->p, program_block(c->p, m->body)->arguments)[i];
    const uint32_t operand = op_operand(c->p, m->op, i);
    const tsr_sharding *sharding = NULL;
    cell *cells = cells_of(c, argument);
    const cell *from = c->s == m->outer ? cells_of(c, operand) : NULL;
    TSR_TRY(declared_sharding(c, m->op, "in_shardings", i, &sharding));
    if (cells == NULL || (c->s == m->outer && from == NULL)) {
        return diag_nomem(c->ctx);
    }
    for (size_t a = 0; a < c->s->count; a++) {
        cells[a] = from != NULL ? from[a] : cell_same();
        if ((m->entered & axis_bit(a)) != 0) {
            TSR_TRY(enter_cell(c, m->op, operand, sharding, a, &cells[a]));
        }
    }
    return TSR_OK;
}

static tsr_status check_results(checker *c, const manual_use *m)
{
    const ir_op record = *program_op(c->p, m->op);
    const uint32_t last = program_block(c->p, m->body)->last_op;
    for (uint32_t i = 0; i < record.num_results && i < program_op(c->p, last)->num_operands; i++) {
        declared_result r = {.op = m->op,
                             .value = op_operand(c->p, last, i),
                             .index = i,
                             .axes = m->entered,
                             .block = m->body};
        TSR_TRY(declared_sharding(c, m->op, "out_shardings", i, &r.sharding));
        if (is_scope_mesh(c, r.sharding)) {
            TSR_TRY(check_declared(c, &r));
        }
    }
    return TSR_OK;
}

/* Outside, a result is whole along the axes that were entered, cut as it is declared. */
static tsr_status leave_result(checker *c, const manual_use *m, uint32_t i)
{
    const uint32_t result = program_op(c->p, m->op)->results + i;
    const uint32_t last = program_block(c->p, m->body)->last_op;
    const tsr_sharding *sharding = NULL;
    TSR_TRY(declared_sharding(c, m->op, "out_shardings", i, &sharding));
    const cell *from = cells_of(c, op_operand(c->p, last, i));
    cell *cells = cells_of(c, result);
    if (from == NULL || cells == NULL) {
        return diag_nomem(c->ctx);
    }
    for (size_t a = 0; a < c->s->count; a++) {
        cells[a] = from[a];
        if ((m->entered & axis_bit(a)) != 0) {
            const int32_t dim = is_scope_mesh(c, sharding) ? dim_of(c->s, sharding, a) : NO_DIM;
            cells[a] = dim != NO_DIM ? cell_varying(dim, m->op) : cell_same();
        }
    }
    return TSR_OK;
}

/* Back on the mesh around the computation, of which the body said nothing. */
static tsr_status leave_mesh(checker *c, const manual_use *m)
{
    const ir_op record = *program_op(c->p, m->op);
    for (uint32_t i = 0; i < record.num_results; i++) {
        cell *cells = cells_of(c, record.results + i);
        for (size_t a = 0; cells != NULL && a < c->s->count; a++) {
            cells[a] = cell_unknown(c, a, m->op);
        }
        if (cells == NULL) {
            return diag_nomem(c->ctx);
        }
    }
    return TSR_OK;
}

static tsr_status run_manual(checker *c, manual_use *m)
{
    const ir_op record = *program_op(c->p, m->op);
    TSR_TRY(open_manual(c, m));
    for (uint32_t i = 0; i < record.num_operands; i++) {
        TSR_TRY(enter_argument(c, m, i));
    }
    const scope *inner = c->s;
    c->manual |= m->entered;
    TSR_TRY(visit_block(c, m->body));
    TSR_TRY(check_results(c, m));
    c->manual &= ~m->entered;
    for (uint32_t i = 0; inner == m->outer && i < record.num_results; i++) {
        TSR_TRY(leave_result(c, m, i));
    }
    return TSR_OK;
}

tsr_status visit_manual(checker *c, uint32_t op)
{
    manual_use m = {.op = op,
                    .body = op_entry_block(c->p, op, 0),
                    .outer = c->s,
                    .outer_manual = c->manual,
                    .outer_guards = c->guards};
    TSR_TRY(run_manual(c, &m));
    const bool is_other = c->s != m.outer;
    c->s = m.outer;
    c->manual = m.outer_manual;
    c->guards = m.outer_guards;
    return is_other ? leave_mesh(c, &m) : TSR_OK;
}

/*
 * What an op makes of its operands, by its row: the sharding rule says where a cut dimension goes,
 * the class of each argument what happens to a pending sum.
 */
#include "check/check.h"
#include "ir/message.h"
#include "ir/params.h"

/* An op that is looked at, along one axis at a time. */
typedef struct op_use {
    checker *c;
    uint32_t op;
    size_t num_operands;
    cell *const *operands; /* the cells of each */
    bool has_request;
    ir_request asked;
    const tsr_rule *rule; /* NULL: none */
    size_t axis;
} op_use;

static cell operand_cell(const op_use *u, size_t operand)
{
    return u->operands[operand][u->axis];
}

/* ---- classes ---- */

/* What an op does to a pending sum in one argument. */
typedef enum argument_class {
    ARGUMENT_UNKNOWN,
    ARGUMENT_NONLINEAR,
    ARGUMENT_LINEAR,
    ARGUMENT_MULTILINEAR
} argument_class;

static bool is_elementwise(const op_use *u)
{
    return (u->asked.request.row->traits & OP_ELEMENTWISE) != 0;
}

/* Floats to floats: what is rounded is still a share of the sum, as far as precision goes. */
static bool is_rounding(const op_use *u)
{
    const op_request *r = &u->asked.request;
    return is_elementwise(u) && r->num_operands == 1 && dtype_is_float(r->operands[0].dtype) &&
           dtype_is_float(u->asked.results[0].dtype) &&
           r->operands[0].dtype != u->asked.results[0].dtype;
}

/* An op that is not elementwise and whose row has no classes may be linear: nothing is said. */
static argument_class class_at(const op_use *u, size_t operand)
{
    if (!u->has_request) {
        return ARGUMENT_UNKNOWN;
    }
    const op_row *row = u->asked.request.row;
    if (is_rounding(u)) {
        return ARGUMENT_LINEAR;
    }
    if (row->class_of == NULL) {
        return is_elementwise(u) ? ARGUMENT_NONLINEAR : ARGUMENT_UNKNOWN;
    }
    switch (row->class_of(&u->asked.request, operand, TSR_SUM)) {
    case SPMD_LINEAR:
        return ARGUMENT_LINEAR;
    case SPMD_MULTILINEAR:
        return ARGUMENT_MULTILINEAR;
    default:
        return ARGUMENT_NONLINEAR;
    }
}

/* ---- where a cut goes ---- */

/* What becomes of a cut along one axis. */
typedef struct cut_flow {
    bool is_known; /* all operands that are cut are cut along one factor */
    size_t factor;
    int64_t within;  /* elements of the factor that are more major than the cut, at least 1 */
    bool is_outside; /* the cut is not a part of the factor: it had one element here, and was merged
                      */
    size_t num_cut;  /* operands that are */
    uint32_t origin;
} cut_flow;

static bool has_factor(const tsr_rule_tensor *tensor, size_t factor)
{
    for (size_t d = 0; d < tensor->rank; d++) {
        for (size_t i = 0; i < tensor->dims[d].num_factors; i++) {
            if (tensor->dims[d].factors[i] == factor) {
                return true;
            }
        }
    }
    return false;
}

/*
 * The factor of a dimension that the cut of a cell is in: its major one, unless elements of the
 * dimension are more major than the cut.
 */
static bool cut_factor(const tsr_rule *rule, const tsr_rule_tensor *tensor, cell a, cut_flow *out)
{
    if (a.dim < 0 || (size_t)a.dim >= tensor->rank || tensor->dims[a.dim].num_factors == 0) {
        return false;
    }
    const tsr_rule_dim *dim = &tensor->dims[a.dim];
    int64_t left = a.major > 0 ? a.major : 1;
    for (size_t i = 0; i < dim->num_factors; i++) {
        const int64_t size = tsr_rule_factor(rule, dim->factors[i])->size;
        const bool is_last = i + 1 == dim->num_factors;
        if (left < size || left == 1 || (is_last && left == size)) {
            out->factor = dim->factors[i];
            out->within = left;
            out->is_outside = left > 1 && left == size;
            return left == 1 || size % left == 0;
        }
        if (size < 1 || left % size != 0) {
            return false;
        }
        left /= size;
    }
    return false;
}

/* Follows the operands of a kind: CELL_VARYING or CELL_GATHERED. */
static cut_flow follow_cut(const op_use *u, cell_kind kind)
{
    cut_flow flow = {.is_known =
                         u->rule != NULL && tsr_rule_num_operands(u->rule) >= u->num_operands};
    for (size_t i = 0; i < u->num_operands; i++) {
        const cell a = operand_cell(u, i);
        cut_flow own = {0};
        if (a.kind != kind) {
            continue;
        }
        flow.is_known =
            flow.is_known && cut_factor(u->rule, tsr_rule_operand(u->rule, i), a, &own) &&
            (flow.num_cut == 0 || (own.factor == flow.factor && own.within == flow.within));
        flow.factor = own.factor;
        flow.within = own.within;
        flow.is_outside = own.is_outside;
        flow.origin = flow.num_cut == 0 ? a.origin : flow.origin;
        flow.num_cut++;
    }
    return flow;
}

/* Puts the cut where a result has the factor; NO_DIM: nowhere. */
static void set_result_dim(const op_use *u, const cut_flow *flow, size_t result, cell *out)
{
    const tsr_rule_tensor *tensor = tsr_rule_result(u->rule, result);
    out->dim = NO_DIM;
    out->major = 0;
    if (tsr_rule_factor(u->rule, flow->factor)->kind != TSR_FACTOR_PASS_THROUGH) {
        return;
    }
    for (size_t d = 0; d < tensor->rank; d++) {
        int64_t before = flow->within;
        for (size_t i = 0; i < tensor->dims[d].num_factors; i++) {
            const size_t factor = tensor->dims[d].factors[i];
            if (factor == flow->factor) {
                out->dim = (int32_t)d;
                out->major = before > 1 ? before : 0;
                return;
            }
            before *= tsr_rule_factor(u->rule, factor)->size;
        }
    }
}

/* ---- reshapes ---- */

/* Where a cut is in a shape: a dimension, and how many of its elements are more major. */
typedef struct cut_place {
    int32_t dim;
    int64_t major;
} cut_place;

/*
 * The place in a shape after `outer` elements. A cut whose part has one element may have a
 * dimension of size 1 there, or is the last of what is merged into a dimension.
 */
static cut_place place_of(const op_type *type, int64_t outer, bool is_single)
{
    cut_place found = {NO_DIM, 0};
    int64_t before = 1;
    for (size_t d = 0; d < type->rank && before <= outer; d++) {
        const int64_t size = type->shape[d];
        const int64_t major = outer / before;
        if (size < 1 || outer % before != 0) {
            return (cut_place){NO_DIM, 0};
        }
        if (is_single ? size == 1 && major == 1 : major < size && size % major == 0) {
            return (cut_place){(int32_t)d, major};
        }
        if (is_single && size > 1 && major == size) {
            found = (cut_place){(int32_t)d, major};
        }
        before *= size;
    }
    return found;
}

/* Elements keep their order in a reshape: a cut stays after as many of them. */
static cell infer_reshape(const op_use *u)
{
    cell a = operand_cell(u, 0);
    const op_type *from = &u->asked.request.operands[0];
    int64_t outer = a.major > 0 ? a.major : 1;
    if (a.dim < 0 || (size_t)a.dim >= from->rank || from->shape[a.dim] < 1) {
        return a;
    }
    const bool is_single = from->shape[a.dim] == outer;
    for (int32_t d = 0; d < a.dim; d++) {
        outer *= from->shape[d];
    }
    const cut_place place = place_of(&u->asked.results[0], outer, is_single);
    a.dim = place.dim;
    a.major = place.major > 1 ? place.major : 0;
    return a;
}

/* The operands of an op that sums over a factor. */
typedef struct sum_use {
    size_t num_with; /* that have the factor */
    size_t num_linear;
    size_t num_multilinear;
    bool adds_shared; /* something that all devices have is added to the sum */
} sum_use;

static sum_use look_at_sum(const op_use *u, const cut_flow *flow)
{
    sum_use sum = {0};
    for (size_t i = 0; i < u->num_operands; i++) {
        const argument_class is = class_at(u, i);
        if (has_factor(tsr_rule_operand(u->rule, i), flow->factor)) {
            sum.num_with++;
            sum.num_linear += is == ARGUMENT_LINEAR;
            sum.num_multilinear += is == ARGUMENT_MULTILINEAR;
        } else {
            sum.adds_shared =
                sum.adds_shared || (is == ARGUMENT_LINEAR && operand_cell(u, i).kind == CELL_SAME);
        }
    }
    return sum;
}

/* Whether a result is a sum over a factor that it does not have. */
static bool reduces(const op_use *u, const cut_flow *flow, size_t result)
{
    const op_row *row = u->asked.request.row;
    return row != NULL && tsr_rule_factor(u->rule, flow->factor)->kind == TSR_FACTOR_REDUCTION &&
           !has_factor(tsr_rule_result(u->rule, result), flow->factor) &&
           (row->reduces == NULL || row->reduces(&u->asked.request) == TSR_SUM);
}

/*
 * The sum over a factor that is cut; false where the op does not sum. Several operands that all are
 * cut, not only added to each other, leave no doubt: a product, or updates at their indices.
 */
static bool infer_sum(const op_use *u, const cut_flow *flow, size_t result, cell *out)
{
    const sum_use sum = look_at_sum(u, flow);
    if (!reduces(u, flow, result) || sum.num_linear + sum.num_multilinear == 0 || sum.adds_shared ||
        flow->is_outside) {
        return false;
    }
    *out = (cell){.kind = CELL_PENDING,
                  .contracted = sum.num_with > 1 && sum.num_with == flow->num_cut &&
                                sum.num_linear < sum.num_with,
                  .exchanged = out->exchanged,
                  .dim = NO_DIM,
                  .origin = u->op};
    return true;
}

/* Whether a result is reduced over the factor that is cut, in whatever way. */
static bool is_reduced(const op_use *u, const cut_flow *flow, size_t result)
{
    return tsr_rule_factor(u->rule, flow->factor)->kind == TSR_FACTOR_REDUCTION &&
           !flow->is_outside && !has_factor(tsr_rule_result(u->rule, result), flow->factor);
}

/* Whether all operands are statistics of local parts, or the same on all devices. */
static bool is_of_statistics(const op_use *u)
{
    for (size_t i = 0; i < u->num_operands; i++) {
        const cell a = operand_cell(u, i);
        if (!is_statistic(a) && !cell_is_shared(a)) {
            return false;
        }
    }
    return true;
}

/* Looks for a statistic of local parts beside the parts themselves. */
static tsr_status note_statistics(const op_use *u)
{
    size_t found = u->num_operands;
    bool has_parts = false;
    for (size_t i = 0; i < u->num_operands; i++) {
        const cell a = operand_cell(u, i);
        if (a.exchanged) {
            return TSR_OK;
        }
        has_parts = has_parts || (a.kind == CELL_VARYING && a.dim != NO_DIM);
        found = is_statistic(a) && found == u->num_operands ? i : found;
    }
    return has_parts && found < u->num_operands && u->has_request
               ? statistic_note_use(u->c, u->op, found, u->axis)
               : TSR_OK;
}

/* No operand is pending and some vary. */
static cell infer_varying(const op_use *u, size_t result)
{
    if (u->has_request && op_is(u->c->p, u->op, OP_STABLEHLO_RESHAPE)) {
        return infer_reshape(u);
    }
    const cut_flow flow = follow_cut(u, CELL_VARYING);
    cell made = cell_varying(NO_DIM, flow.origin);
    for (size_t i = 0; i < u->num_operands; i++) {
        made.exchanged = made.exchanged || operand_cell(u, i).exchanged;
    }
    made.statistic = is_of_statistics(u);
    if (!flow.is_known || result >= tsr_rule_num_results(u->rule)) {
        return made;
    }
    if (!infer_sum(u, &flow, result, &made)) {
        set_result_dim(u, &flow, result, &made);
        if (is_reduced(u, &flow, result)) {
            made.statistic = true;
            made.origin = u->op;
        }
    }
    return made;
}

/* ---- pending sums ---- */

static tsr_status report_nonlinear(const op_use *u, size_t operand)
{
    checker *c = u->c;
    const cell a = operand_cell(u, operand);
    const char *axis = axis_name(c, u->axis);
    const bool sure = a.contracted;
    const report r = {
        .rule = sure ? RULE_PENDING_IN_NONLINEAR : RULE_LOCAL_SUM_IN_NONLINEAR,
        .op = u->op,
        .value = op_operand(c->p, u->op, operand),
        .axis = u->axis,
        .message = report_text(c,
                               "'%s' is applied to a sum pending along \"%s\": the result is not "
                               "the '%s' of the whole sum",
                               op_name(c->p, u->op), axis, op_name(c->p, u->op)),
        .remedy =
            report_text(c, "reduce operand %zu over \"%s\" first: psum, all_reduce", operand, axis),
        .notes = {{a.origin, "pending since here: each device has the sum over its own part"}},
        .num_notes = 1};
    return report_add(c, &r);
}

static tsr_status report_affine(const op_use *u, size_t pending, size_t shared)
{
    checker *c = u->c;
    const char *axis = axis_name(c, u->axis);
    const report r = {
        .rule = RULE_PENDING_PLUS_SHARED,
        .op = u->op,
        .value = op_operand(c->p, u->op, shared),
        .axis = u->axis,
        .message = report_text(c,
                               "operand %zu is replicated along \"%s\" and is added to a sum "
                               "pending along it: the completed sum counts it once per device",
                               shared, axis),
        .remedy =
            report_text(c, "reduce operand %zu over \"%s\" before the addition", pending, axis),
        .notes = {{operand_cell(u, pending).origin,
                   "pending since here: each device has the sum over its own part"}},
        .num_notes = 1};
    return report_add(c, &r);
}

/* How the operands of an op stand together, along one axis. */
typedef struct pending_use {
    size_t num_multilinear; /* pending operands, by class */
    size_t num_linear;
    size_t nonlinear; /* an operand; num_operands: none */
    size_t first;     /* pending */
    size_t shared;    /* an operand beside linear pending ones; num_operands: none */
    bool is_unknown;
    bool mixes; /* with operands that vary */
    bool contracted;
} pending_use;

static pending_use look_at_pending(const op_use *u)
{
    const size_t none = u->num_operands;
    pending_use p = {.nonlinear = none, .first = none, .shared = none, .contracted = true};
    for (size_t i = 0; i < u->num_operands; i++) {
        const cell a = operand_cell(u, i);
        const argument_class is = class_at(u, i);
        if (a.kind == CELL_PENDING) {
            p.first = p.first == none ? i : p.first;
            p.is_unknown = p.is_unknown || is == ARGUMENT_UNKNOWN;
            p.num_linear += is == ARGUMENT_LINEAR;
            p.num_multilinear += is == ARGUMENT_MULTILINEAR;
            p.contracted = p.contracted && a.contracted;
            if (is == ARGUMENT_NONLINEAR && (p.nonlinear == none || a.contracted)) {
                p.nonlinear = i;
            }
        } else {
            p.mixes = p.mixes || a.kind == CELL_VARYING;
            p.shared = is == ARGUMENT_LINEAR && a.kind == CELL_SAME ? i : p.shared;
        }
    }
    return p;
}

/* The type rules of spmd, but that a sum beside what varies is not an error: nothing is known of
 * it. */
static tsr_status infer_pending(const op_use *u, cell *out)
{
    const size_t none = u->num_operands;
    const pending_use p = look_at_pending(u);
    const cell first = operand_cell(u, p.first);
    *out = cell_varying(NO_DIM, first.origin);
    out->statistic = is_of_statistics(u);
    if (p.nonlinear != none) {
        return report_nonlinear(u, p.nonlinear);
    }
    if (p.is_unknown || p.mixes) {
        return TSR_OK;
    }
    if (p.num_multilinear > 1) {
        return p.contracted ? report_nonlinear(u, p.first) : TSR_OK;
    }
    if (p.num_linear > 0 && p.shared != none) {
        return p.contracted ? report_affine(u, p.first, p.shared) : TSR_OK;
    }
    *out = first;
    out->contracted = p.contracted;
    return TSR_OK;
}

/* ---- zeros ---- */

/* All operands are shared: whether the result is zero because some of them are. */
static bool stays_zero(const op_use *u)
{
    size_t num_linear = 0;
    size_t num_zero = 0;
    for (size_t i = 0; i < u->num_operands; i++) {
        const bool is_zero = operand_cell(u, i).kind == CELL_ZERO;
        const argument_class is = class_at(u, i);
        if (is == ARGUMENT_MULTILINEAR && is_zero) {
            return true;
        }
        num_linear += is == ARGUMENT_LINEAR;
        num_zero += is == ARGUMENT_LINEAR && is_zero;
    }
    return num_linear > 0 && num_zero == num_linear;
}

/* ---- one axis ---- */

/* How many operands are of a kind along the axis. */
static size_t count_kind(const op_use *u, cell_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < u->num_operands; i++) {
        count += operand_cell(u, i).kind == kind;
    }
    return count;
}

static tsr_status infer_manual(const op_use *u, size_t result, cell *out)
{
    TSR_TRY(note_statistics(u));
    if (count_kind(u, CELL_PENDING) > 0) {
        return infer_pending(u, out);
    }
    if (count_kind(u, CELL_VARYING) > 0) {
        *out = infer_varying(u, result);
        return TSR_OK;
    }
    *out = cell_same();
    if (count_kind(u, CELL_ZERO) > 0 && stays_zero(u)) {
        out->kind = CELL_ZERO;
    }
    return TSR_OK;
}

/* Along an automatic axis only what is cut, or was, is followed. */
static cell infer_automatic(const op_use *u, size_t result)
{
    const cell_kind kind = count_kind(u, CELL_VARYING) > 0 ? CELL_VARYING : CELL_GATHERED;
    const cut_flow flow = follow_cut(u, kind);
    cell made = {.kind = (uint8_t)kind, .dim = NO_DIM, .origin = flow.origin};
    if (flow.num_cut > 0 && flow.is_known && result < tsr_rule_num_results(u->rule)) {
        set_result_dim(u, &flow, result, &made);
    }
    return made.dim == NO_DIM || made.major != 0 ? cell_same() : made;
}

/* ---- an op ---- */

static bool is_plain(const checker *c, const cell *cells)
{
    for (size_t a = 0; a < c->s->count; a++) {
        if (cells[a].kind != CELL_SAME) {
            return false;
        }
    }
    return true;
}

/* The row of an op, asked for its rule and classes; there may be none. */
static tsr_status ask_row(op_use *u)
{
    checker *c = u->c;
    const op_row *row = ir_op_row(c->p, u->op);
    if (row == NULL) {
        return TSR_OK;
    }
    const bool by_rule = row->dialect == OP_CHLO && row->types == NULL;
    tsr_status status = (by_rule ? ir_rule_request : ir_request_make)(c->ctx, c->scratch, c->p,
                                                                      u->op, row, &u->asked);
    u->has_request = status == TSR_OK && u->asked.num_results > 0 &&
                     u->asked.request.num_operands == u->num_operands;
    if (u->has_request) {
        status = op_rules_find(c->rules, &u->asked.request, u->asked.results, &u->rule);
    }
    return status < 0 ? status : TSR_OK;
}

static tsr_status infer_results(op_use *u, cell *made)
{
    checker *c = u->c;
    const ir_op *record = program_op(c->p, u->op);
    for (uint32_t i = 0; i < record->num_results; i++) {
        for (u->axis = 0; u->axis < c->s->count; u->axis++) {
            if (is_manual(c, u->axis)) {
                TSR_TRY(infer_manual(u, i, &made[u->axis]));
            } else {
                made[u->axis] = infer_automatic(u, i);
            }
        }
        TSR_TRY(cells_set(c, record->results + i, made));
    }
    return TSR_OK;
}

tsr_status infer_op(checker *c, uint32_t op)
{
    const size_t count = program_op(c->p, op)->num_operands;
    cell **operands = ARENA_ARRAY(c->scratch, cell *, count + 1);
    cell *made = ARENA_ARRAY(c->scratch, cell, c->s->count + 1);
    bool plain = true;
    if (operands == NULL || made == NULL) {
        return diag_nomem(c->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        operands[i] = cells_of(c, op_operand(c->p, op, i));
        if (operands[i] == NULL) {
            return diag_nomem(c->ctx);
        }
        plain = plain && is_plain(c, operands[i]);
    }
    op_use u = {.c = c, .op = op, .num_operands = count, .operands = operands};
    if (!plain) {
        TSR_TRY(ask_row(&u));
    }
    return infer_results(&u, made);
}

tsr_status pass_op(checker *c, uint32_t op)
{
    const ir_op *record = program_op(c->p, op);
    for (uint32_t i = 0; i < record->num_results && i < record->num_operands; i++) {
        const cell *from = cells_of(c, op_operand(c->p, op, i));
        if (from == NULL) {
            return diag_nomem(c->ctx);
        }
        TSR_TRY(cells_set(c, record->results + i, from));
    }
    return TSR_OK;
}

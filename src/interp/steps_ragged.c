/* Ops of chlo that work on groups or on one slice after the other: ragged_dot, scan. */
#include <string.h>

#include "base/arena.h"
#include "interp/machine.h"
#include "number/element.h"
#include "ops/op_dot.h"

/* ---- ragged_dot ---- */

/* Where the ragged dimension of the left operand is. */
typedef enum ragged_mode { RAGGED_FREE, RAGGED_CONTRACTING, RAGGED_BATCH } ragged_mode;

typedef struct ragged_step {
    dot_params dot;
    ragged_mode mode;
    int64_t ragged_dim; /* of the left operand */
    int64_t group_dim;  /* of the right operand; -1: none */
    bool by_batch;      /* there are group sizes for each batch index */
} ragged_step;

/* Which dimension of an operand each loop goes along; -1: none. */
typedef struct ragged_loop {
    int64_t size;
    int64_t left;
    int64_t right;
    bool is_batch;
    bool is_ragged;
} ragged_loop;

typedef struct ragged_loops {
    ragged_loop outer[OP_MAX_RANK];
    size_t num_outer;
    ragged_loop inner[OP_MAX_RANK];
    size_t num_inner;
} ragged_loops;

static void add_free(const op_type *type, op_ints batch, op_ints contracting, int64_t group,
                     bool is_left, int64_t ragged, ragged_loops *out)
{
    for (size_t d = 0; d < type->rank && out->num_outer < OP_MAX_RANK; d++) {
        if (op_ints_have(batch, d) || op_ints_have(contracting, d) || (int64_t)d == group) {
            continue;
        }
        out->outer[out->num_outer++] = (ragged_loop){.size = type->shape[d],
                                                     .left = is_left ? (int64_t)d : -1,
                                                     .right = is_left ? -1 : (int64_t)d,
                                                     .is_ragged = is_left && (int64_t)d == ragged};
    }
}

/* Loops over the result: batch, free of the left, free of the right; and over what is summed. */
static ragged_loops loops_of(const ragged_step *s, const op_type *left, const op_type *right)
{
    ragged_loops l = {0};
    const dot_params *p = &s->dot;
    for (size_t i = 0; i < p->lhs_batching_dimensions.count && l.num_outer < OP_MAX_RANK; i++) {
        const int64_t dim = p->lhs_batching_dimensions.values[i];
        l.outer[l.num_outer++] =
            (ragged_loop){left->shape[dim], dim, p->rhs_batching_dimensions.values[i], true,
                          dim == s->ragged_dim};
    }
    add_free(left, p->lhs_batching_dimensions, p->lhs_contracting_dimensions, -1, true,
             s->ragged_dim, &l);
    add_free(right, p->rhs_batching_dimensions, p->rhs_contracting_dimensions, s->group_dim, false,
             -1, &l);
    for (size_t i = 0; i < p->lhs_contracting_dimensions.count && i < OP_MAX_RANK; i++) {
        const int64_t dim = p->lhs_contracting_dimensions.values[i];
        l.inner[l.num_inner++] =
            (ragged_loop){left->shape[dim], dim, p->rhs_contracting_dimensions.values[i], false,
                          dim == s->ragged_dim};
    }
    return l;
}

static bool next_of(const ragged_loop *list, size_t count, int64_t *index)
{
    for (size_t d = count; d-- > 0;) {
        if (++index[d] < list[d].size) {
            return true;
        }
        index[d] = 0;
    }
    return false;
}

/* The group of a row of the ragged dimension; the number of groups when it is in none. */
static int64_t group_of(const ragged_step *s, const ragged_loops *l, const int64_t *outer,
                        const interp_array *sizes, int64_t row)
{
    const int64_t item = tsr_dtype_item_bytes(sizes->dtype);
    const int64_t groups = sizes->shape[sizes->rank - 1];
    const char *at = sizes->data;
    for (size_t d = 0; s->by_batch && d + 1 < sizes->rank && d < l->num_outer; d++) {
        at += outer[d] * sizes->strides[d];
    }
    int64_t end = 0;
    for (int64_t g = 0; g < groups; g++) {
        end += element_index(sizes->dtype, at + g * item);
        if (row < end) {
            return g;
        }
    }
    return groups;
}

/* One element of the result: the sum over what is contracted, of a group where there are groups. */
static double sum_at(const ragged_step *s, const ragged_loops *l, const int64_t *outer,
                     const interp_array *const *in, int64_t group)
{
    int64_t inner[OP_MAX_RANK] = {0};
    int64_t left = 0;
    int64_t right = s->mode == RAGGED_FREE ? group * in[1]->strides[s->group_dim] : 0;
    double sum = 0;
    for (size_t i = 0; i < l->num_outer; i++) {
        left += l->outer[i].left >= 0 ? outer[i] * in[0]->strides[l->outer[i].left] : 0;
        right += l->outer[i].right >= 0 ? outer[i] * in[1]->strides[l->outer[i].right] : 0;
    }
    do {
        int64_t a = left;
        int64_t b = right;
        bool counts = true;
        for (size_t i = 0; i < l->num_inner; i++) {
            a += inner[i] * in[0]->strides[l->inner[i].left];
            b += inner[i] * in[1]->strides[l->inner[i].right];
            counts = counts && (s->mode != RAGGED_CONTRACTING || !l->inner[i].is_ragged ||
                                group_of(s, l, outer, in[2], inner[i]) == group);
        }
        if (counts) {
            sum += element_load(in[0]->dtype, in[0]->data + a).re *
                   element_load(in[1]->dtype, in[1]->data + b).re;
        }
    } while (next_of(l->inner, l->num_inner, inner));
    return sum;
}

static bool has_none(const ragged_loop *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].size == 0) {
            return true;
        }
    }
    return false;
}

static tsr_status run_ragged(interp_machine *m, const code_step *step)
{
    const ragged_step *s = step->data;
    const interp_array *const in[] = {interp_operand(m, step, 0), interp_operand(m, step, 1),
                                      interp_operand(m, step, 2)};
    const op_type left = interp_array_type(in[0]);
    const op_type right = interp_array_type(in[1]);
    const ragged_loops l = loops_of(s, &left, &right);
    const int64_t groups = in[2]->shape[in[2]->rank - 1];
    interp_array *result;
    TSR_TRY(interp_array_new(m->pool, step->types[3], &result));
    interp_set_result(m, step, 0, result);
    memset(result->data, 0, (size_t)result->bytes);
    if (has_none(l.outer, l.num_outer) || has_none(l.inner, l.num_inner)) {
        return TSR_OK;
    }
    char *to = result->data;
    for (int64_t g = 0; g < (s->mode == RAGGED_CONTRACTING ? groups : 1); g++) {
        int64_t outer[OP_MAX_RANK] = {0};
        do {
            int64_t group = g;
            for (size_t i = 0; s->mode == RAGGED_FREE && i < l.num_outer; i++) {
                group = l.outer[i].is_ragged ? group_of(s, &l, outer, in[2], outer[i]) : group;
            }
            if (group < groups) {
                const element_number sum = {.kind = NUMBER_FLOAT,
                                            .re = sum_at(s, &l, outer, in, group)};
                element_store(result->dtype, sum, to);
            }
            to += tsr_dtype_item_bytes(result->dtype);
        } while (next_of(l.outer, l.num_outer, outer));
    }
    return TSR_OK;
}

/* The numbers of a list of a struct that is an attribute; the whole op's parameters are read by the
 * names of a dot. */
static op_ints struct_ints(const tsr_program *p, uint32_t op, const char *name)
{
    const uint32_t attr = op_property(p, op, "ragged_dot_dimension_numbers");
    const attr_head *head = program_attr(p, attr);
    static const char *const names[] = {"lhs_ragged_dimensions", "rhs_group_dimensions"};
    for (size_t i = 0; i < 2 && attr_is(p, attr, ATTR_STRUCT) && head->count >= 6; i++) {
        const uint32_t list = attr_list(head)[4 + i];
        if (strcmp(names[i], name) == 0 && attr_is(p, list, ATTR_DENSE_ARRAY)) {
            return (op_ints){program_attr(p, list)->count, attr_numbers(program_attr(p, list))};
        }
    }
    return (op_ints){0, NULL};
}

static bool dims_within(op_ints dims, size_t rank)
{
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.values[i] < 0 || dims.values[i] >= (int64_t)rank) {
            return false;
        }
    }
    return true;
}

static bool sizes_match(op_ints a, const op_type *x, op_ints b, const op_type *y)
{
    if (a.count != b.count || !dims_within(a, x->rank) || !dims_within(b, y->rank)) {
        return false;
    }
    for (size_t i = 0; i < a.count; i++) {
        if (x->shape[a.values[i]] != y->shape[b.values[i]]) {
            return false;
        }
    }
    return true;
}

/* Whether the result has the extents of the outer loops, after one for groups. */
static bool result_fits(const ragged_step *s, const code_step *step)
{
    const op_type *result = &step->types[3]->tensor;
    const op_type *sizes = &step->types[2]->tensor;
    const ragged_loops l = loops_of(s, &step->types[0]->tensor, &step->types[1]->tensor);
    const size_t first = s->mode == RAGGED_CONTRACTING;
    bool fits = result->rank == l.num_outer + first &&
                (first == 0 || result->shape[0] == sizes->shape[sizes->rank - 1]);
    for (size_t i = 0; fits && i < l.num_outer; i++) {
        fits = result->shape[first + i] == l.outer[i].size;
    }
    return fits;
}

static bool groups_fit(ragged_step *s, const code_step *step)
{
    const op_type *left = &step->types[0]->tensor;
    const op_type *right = &step->types[1]->tensor;
    const op_type *sizes = &step->types[2]->tensor;
    const op_ints batch = s->dot.lhs_batching_dimensions;
    s->by_batch = sizes->rank > 1;
    if (sizes->rank == 0 || !dtype_is_integer(sizes->dtype) ||
        (s->by_batch && sizes->rank != 1 + batch.count)) {
        return false;
    }
    for (size_t i = 0; s->by_batch && i < batch.count; i++) {
        if (sizes->shape[i] != left->shape[batch.values[i]]) {
            return false;
        }
    }
    return s->mode != RAGGED_FREE ||
           (s->group_dim >= 0 && right->shape[s->group_dim] == sizes->shape[sizes->rank - 1]);
}

static tsr_status prepare_ragged(code_decoder *d, code_step *step)
{
    const tsr_program *p = d->code->program;
    const void *params = NULL;
    ragged_step *s = CODE_NEW(d, ragged_step);
    if (s == NULL) {
        return diag_nomem(d->code->ctx);
    }
    TSR_TRY(ir_read_params(d->code->ctx, d->code->arena, p, step->op, &op_dot_general, &params));
    const op_ints ragged = struct_ints(p, step->op, "lhs_ragged_dimensions");
    const op_ints group = struct_ints(p, step->op, "rhs_group_dimensions");
    if (!code_is_static(step) || params == NULL || ragged.count != 1 || group.count > 1) {
        return TSR_NOT_APPLICABLE;
    }
    const op_type *left = &step->types[0]->tensor;
    const op_type *right = &step->types[1]->tensor;
    *s = (ragged_step){.dot = *(const dot_params *)params,
                       .ragged_dim = ragged.values[0],
                       .group_dim = group.count > 0 ? group.values[0] : -1};
    s->mode = op_ints_have(s->dot.lhs_batching_dimensions, (size_t)s->ragged_dim) ? RAGGED_BATCH
              : op_ints_have(s->dot.lhs_contracting_dimensions, (size_t)s->ragged_dim)
                  ? RAGGED_CONTRACTING
                  : RAGGED_FREE;
    if (!dims_within(ragged, left->rank) || !dims_within(group, right->rank) ||
        !sizes_match(s->dot.lhs_batching_dimensions, left, s->dot.rhs_batching_dimensions, right) ||
        !sizes_match(s->dot.lhs_contracting_dimensions, left, s->dot.rhs_contracting_dimensions,
                     right) ||
        !dtype_is_float(left->dtype) || !dtype_is_float(right->dtype) || !groups_fit(s, step) ||
        !result_fits(s, step)) {
        return TSR_NOT_APPLICABLE;
    }
    step->action = run_ragged;
    step->data = s;
    return TSR_OK;
}

/* ---- scan ---- */

typedef struct scan_step {
    size_t num_inputs;
    size_t num_outputs;
    size_t dim;
    int64_t rows;
    bool is_reverse;
} scan_step;

/* Copies one slice along a dimension between a whole array and an array without it. */
static void copy_slice(const interp_array *whole, const interp_array *part, size_t dim, int64_t row,
                       bool to_slice)
{
    int64_t strides[OP_MAX_RANK];
    size_t rank = 0;
    const size_t item = (size_t)tsr_dtype_item_bytes(whole->dtype);
    char *at = whole->data + row * whole->strides[dim];
    for (size_t d = 0; d < whole->rank; d++) {
        if (d != dim) {
            strides[rank++] = whole->strides[d];
        }
    }
    if (to_slice) {
        kernel_copy(part->data, part->strides, at, strides, part->shape, rank, item, false);
    } else {
        kernel_copy(at, strides, part->data, part->strides, part->shape, rank, item, false);
    }
}

enum { MAX_SCANNED = 64 };

/* Runs the body on one slice of each input and the carries, which it replaces. */
static tsr_status scan_row(interp_machine *m, const code_step *step, int64_t row,
                           interp_array **carries, size_t num_carries)
{
    const scan_step *s = step->data;
    const code_block *body = step->blocks[0];
    interp_array *arguments[MAX_SCANNED] = {NULL};
    const size_t until = m->depth;
    tsr_status status = TSR_OK;
    for (size_t i = 0; i < s->num_inputs && status == TSR_OK; i++) {
        status = interp_array_new(m->pool, body->argument_types[i], &arguments[i]);
        if (status == TSR_OK) {
            copy_slice(interp_operand(m, step, i), arguments[i], s->dim, row, true);
        }
    }
    if (status != TSR_OK) {
        for (size_t i = 0; i < s->num_inputs; i++) {
            interp_array_drop(m->pool, arguments[i]);
        }
        return status;
    }
    for (size_t i = 0; i < num_carries; i++) {
        arguments[s->num_inputs + i] = interp_array_keep(carries[i]);
    }
    TSR_TRY(interp_enter_block(m, body, arguments, NULL, 0));
    status = interp_machine_run(m, until);
    if (status != TSR_OK) {
        return status < 0 ? status : interp_run_unsupported(m, step, "with a collective inside");
    }
    for (size_t i = 0; i < m->num_returned; i++) {
        if (i < s->num_outputs) {
            copy_slice(m->slots[step->results[i]], m->returned[i], s->dim, row, false);
            interp_array_drop(m->pool, m->returned[i]);
        } else {
            interp_array_drop(m->pool, carries[i - s->num_outputs]);
            carries[i - s->num_outputs] = m->returned[i];
        }
    }
    m->num_returned = 0;
    return TSR_OK;
}

static tsr_status run_scan(interp_machine *m, const code_step *step)
{
    const scan_step *s = step->data;
    interp_array *carries[MAX_SCANNED] = {NULL};
    const size_t num_carries = step->num_operands - s->num_inputs;
    for (size_t i = 0; i < s->num_outputs; i++) {
        interp_array *made;
        TSR_TRY(interp_array_new(m->pool, step->types[step->num_operands + i], &made));
        interp_set_result(m, step, i, made);
    }
    for (size_t i = 0; i < num_carries; i++) {
        carries[i] = interp_array_keep(interp_operand(m, step, s->num_inputs + i));
    }
    tsr_status status = TSR_OK;
    for (int64_t k = 0; k < s->rows && status == TSR_OK; k++) {
        status = scan_row(m, step, s->is_reverse ? s->rows - 1 - k : k, carries, num_carries);
    }
    for (size_t i = 0; i < num_carries; i++) {
        if (status == TSR_OK) {
            interp_set_result(m, step, s->num_outputs + i, carries[i]);
        } else {
            interp_array_drop(m->pool, carries[i]);
        }
    }
    return status;
}

/* Whether a type is another without one dimension. */
static bool is_slice_of(const code_type *part, const code_type *whole, size_t dim)
{
    const op_type *a = &part->tensor;
    const op_type *b = &whole->tensor;
    if (part->strides == NULL || a->dtype != b->dtype || a->rank + 1 != b->rank || dim >= b->rank) {
        return false;
    }
    for (size_t d = 0; d < a->rank; d++) {
        if (a->shape[d] != b->shape[d < dim ? d : d + 1]) {
            return false;
        }
    }
    return true;
}

static bool is_same(const code_type *a, const code_type *b)
{
    return a->kind == CODE_TENSOR && b->kind == CODE_TENSOR && a->tensor.dtype == b->tensor.dtype &&
           op_shapes_agree(&a->tensor, &b->tensor);
}

static bool scan_fits(const scan_step *s, const code_step *step)
{
    const code_block *body = step->blocks[0];
    if (!code_is_static(step) || step->num_operands > MAX_SCANNED ||
        body->num_arguments != step->num_operands || body->end.num_operands != step->num_results) {
        return false;
    }
    bool fits = true;
    for (size_t i = 0; fits && i < step->num_operands; i++) {
        const code_type *t = body->argument_types[i];
        fits = i < s->num_inputs ? is_slice_of(t, step->types[i], s->dim) &&
                                       step->types[i]->tensor.shape[s->dim] == s->rows
                                 : is_same(t, step->types[i]);
    }
    for (size_t i = 0; fits && i < step->num_results; i++) {
        const code_type *t = body->end.types[i];
        const code_type *to = step->types[step->num_operands + i];
        fits = i < s->num_outputs
                   ? is_slice_of(t, to, s->dim) && to->tensor.shape[s->dim] == s->rows
                   : is_same(t, to) && is_same(t, step->types[s->num_inputs + i - s->num_outputs]);
    }
    return fits;
}

/* The first of the two numbers of a segment attribute. */
static int64_t first_segment(const tsr_program *p, uint32_t op, const char *name)
{
    const uint32_t attr = op_property(p, op, name);
    return attr_is(p, attr, ATTR_DENSE_ARRAY) && program_attr(p, attr)->count == 2
               ? attr_numbers(program_attr(p, attr))[0]
               : -1;
}

static tsr_status prepare_scan(code_decoder *d, code_step *step)
{
    const tsr_program *p = d->code->program;
    const int64_t inputs = first_segment(p, step->op, "operandSegmentSizes");
    const int64_t outputs = first_segment(p, step->op, "resultSegmentSizes");
    int64_t dim = 0;
    int64_t reverse = 0;
    scan_step *s = CODE_NEW(d, scan_step);
    if (s == NULL) {
        return diag_nomem(d->code->ctx);
    }
    (void)attr_as_integer(p, op_property(p, step->op, "is_reverse"), &reverse);
    if (!attr_as_integer(p, op_property(p, step->op, "dimension"), &dim) || dim < 0 || inputs < 0 ||
        inputs > step->num_operands || outputs < 0 || outputs > step->num_results ||
        inputs + outputs == 0 ||
        (int64_t)step->num_operands - inputs != (int64_t)step->num_results - outputs) {
        return TSR_NOT_APPLICABLE;
    }
    const code_type *first = inputs > 0 ? step->types[0] : step->types[step->num_operands];
    *s = (scan_step){.num_inputs = (size_t)inputs,
                     .num_outputs = (size_t)outputs,
                     .dim = (size_t)dim,
                     .is_reverse = reverse != 0};
    if (first->strides == NULL || s->dim >= first->tensor.rank) {
        return TSR_NOT_APPLICABLE;
    }
    s->rows = first->tensor.shape[s->dim];
    step->action = run_scan;
    step->data = s;
    return scan_fits(s, step) ? TSR_OK : TSR_NOT_APPLICABLE;
}

const code_op interp_ops_ragged[OP_KIND_COUNT] = {
    [OP_CHLO_RAGGED_DOT] = {.prepare = prepare_ragged},
    [OP_CHLO_SCAN] = {.prepare = prepare_scan},
};

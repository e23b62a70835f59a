/* Ops whose shapes are known only when they run: each becomes the op on what is known by then. */
#include <string.h>

#include "base/arena.h"
#include "interp/machine.h"
#include "interp/steps_dynamic.h"
#include "number/element.h"
#include "ops/op_convolution.h"
#include "ops/op_create.h"
#include "ops/op_dot.h"
#include "ops/op_index.h"
#include "ops/op_shape.h"
#include "ops/op_slice.h"

/* ---- shapes from operands ---- */

/* The numbers of an operand of rank 1; false when there are too many, or some are negative. */
static bool load_numbers(const interp_array *from, bool may_be_negative, int64_t *out,
                         size_t *count)
{
    const int64_t item = tsr_dtype_item_bytes(from->dtype);
    const int64_t n = interp_array_elements(from);
    if (n > (int64_t)2 * OP_MAX_RANK) {
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] = element_index(from->dtype, from->data + i * item);
        if (out[i] < 0 && !may_be_negative) {
            return false;
        }
    }
    *count = (size_t)n;
    return true;
}

static tsr_status wrong_shape(const interp_machine *m, const code_step *step, size_t operand)
{
    return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID,
                            "the numbers of operand %zu are not extents of its result", operand);
}

/* Whether a computed shape is one that the program allows for a result. */
static bool is_allowed(const code_step *step, size_t result, const op_type *type)
{
    const code_type *known = step->types[step->num_operands + result];
    return known->kind == CODE_TENSOR && known->tensor.dtype == type->dtype &&
           op_shapes_agree(&known->tensor, type);
}

/* ---- running a row on arrays ---- */

static const int64_t no_start[OP_MAX_RANK] = {0};

static op_array array_of(const interp_array *a)
{
    return (op_array){.view = interp_array_view(a), .start = no_start, .full = a->shape};
}

enum { MAX_ARRAYS = 64 };

tsr_status interp_run_row(interp_machine *m, const code_step *step, const op_row *row,
                          const void *params, interp_array *const *operands, size_t num_operands,
                          const op_type *results, size_t num_results)
{
    op_array arrays[MAX_ARRAYS];
    op_type types[MAX_ARRAYS];
    if (num_operands + num_results > MAX_ARRAYS) {
        return interp_run_unsupported(m, step, "with this number of operands");
    }
    for (size_t i = 0; i < num_operands; i++) {
        arrays[i] = array_of(operands[i]);
        types[i] = interp_array_type(operands[i]);
    }
    const op_request request = {.ctx = m->ctx,
                                .call = op_name(m->code->program, step->op),
                                .row = row,
                                .params = params,
                                .num_operands = num_operands,
                                .operands = types,
                                .num_results = num_results,
                                .mixes_dtypes = true};
    if (row->run == NULL || (row->supports != NULL && !row->supports(&request, results))) {
        return interp_run_unsupported(m, step, "on its present types");
    }
    for (size_t i = 0; i < num_results; i++) {
        interp_array *made;
        if (!is_allowed(step, i, &results[i])) {
            return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID, "the result would be %s",
                                    op_type_text(&results[i]).text);
        }
        TSR_TRY(interp_array_shaped(m->pool, results[i].dtype, results[i].rank, results[i].shape,
                                    &made));
        interp_set_result(m, step, i, made);
        arrays[num_operands + i] = array_of(made);
    }
    const op_call call = {.row = row,
                          .params = params,
                          .num_operands = num_operands,
                          .num_results = num_results,
                          .operands = arrays,
                          .results = arrays + num_operands,
                          .first = true};
    void *scratch = NULL;
    if (row->scratch != NULL) {
        scratch = interp_scratch(m, row->scratch(&call));
        if (scratch == NULL) {
            return diag_nomem(m->ctx);
        }
    }
    row->run(&call, scratch);
    return m->failed;
}

/* The same with the types of results that the row infers, in an arena of its own. */
static tsr_status infer_and_run(interp_machine *m, const code_step *step, const op_row *row,
                                const void *params, interp_array *const *operands,
                                size_t num_operands)
{
    tsr_arena *arena = NULL;
    op_type types[MAX_ARRAYS];
    op_type results[MAX_ARRAYS];
    if (num_operands > MAX_ARRAYS || step->num_results > MAX_ARRAYS || row->types == NULL) {
        return interp_run_unsupported(m, step, "");
    }
    TSR_TRY(tsr_arena_create(m->ctx, &arena));
    for (size_t i = 0; i < num_operands; i++) {
        types[i] = interp_array_type(operands[i]);
    }
    const op_request request = {.ctx = m->ctx,
                                .arena = arena,
                                .call = op_name(m->code->program, step->op),
                                .row = row,
                                .params = params,
                                .num_operands = num_operands,
                                .operands = types,
                                .num_results = step->num_results,
                                .mixes_dtypes = true};
    tsr_status status = row->types(&request, results);
    if (status == TSR_OK) {
        status = interp_run_row(m, step, row, params, operands, num_operands, results,
                                step->num_results);
    }
    tsr_arena_destroy(arena);
    return status;
}

/* ---- any row, on extents that are not known before ---- */

static tsr_status run_inferred(interp_machine *m, const code_step *step)
{
    const inferred_step *s = step->data;
    interp_array *operands[MAX_ARRAYS];
    for (size_t i = 0; i < step->num_operands && i < MAX_ARRAYS; i++) {
        operands[i] = interp_operand(m, step, i);
    }
    return infer_and_run(m, step, s->row, s->params, operands, step->num_operands);
}

/* A step of a row with parameters that no attribute of the op says as the row does. */
static tsr_status set_inferred(code_decoder *d, code_step *step, const op_row *row,
                               const void *params)
{
    inferred_step *s = CODE_NEW(d, inferred_step);
    if (s == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *s = (inferred_step){row, params};
    step->action = run_inferred;
    step->data = s;
    return TSR_OK;
}

static bool has_region(const op_row *row)
{
    for (size_t i = 0; row->fields != NULL && i < row->fields->count; i++) {
        const op_field_kind kind = row->fields->fields[i].kind;
        if (kind == OP_FIELD_REGION || kind == OP_FIELD_RESULT) {
            return true;
        }
    }
    return false;
}

tsr_status interp_prepare_inferred(code_decoder *d, code_step *step, const op_row *row)
{
    ir_request request;
    if (row == NULL || row->types == NULL || row->run == NULL || has_region(row) ||
        step->num_operands > MAX_ARRAYS) {
        return TSR_NOT_APPLICABLE;
    }
    const tsr_status made =
        ir_run_request(d->code->ctx, d->code->arena, d->code->program, step->op, row, &request);
    if (made != TSR_OK) {
        return made;
    }
    return set_inferred(d, step, row, request.request.params);
}

/* ---- dot ---- */

/* Of vectors and matrices: the last dimension of one, the first of the other. */
static tsr_status prepare_dot(code_decoder *d, code_step *step)
{
    dot_params *params = CODE_NEW(d, dot_params);
    int64_t *dims = ARENA_ARRAY(d->code->arena, int64_t, 2);
    if (params == NULL || dims == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (size_t i = 0; i < 2; i++) {
        if (step->types[i]->kind != CODE_TENSOR || step->types[i]->tensor.rank < 1 ||
            step->types[i]->tensor.rank > 2) {
            return TSR_NOT_APPLICABLE;
        }
    }
    dims[0] = (int64_t)step->types[0]->tensor.rank - 1;
    dims[1] = 0;
    *params = (dot_params){.lhs_contracting_dimensions = {1, &dims[0]},
                           .rhs_contracting_dimensions = {1, &dims[1]}};
    return set_inferred(d, step, &op_dot_general, params);
}

/* ---- dynamic_reshape, dynamic_iota, dynamic_broadcast_in_dim ---- */

static tsr_status run_dynamic_reshape(interp_machine *m, const code_step *step)
{
    interp_array *from = interp_operand(m, step, 0);
    int64_t shape[2 * OP_MAX_RANK];
    int64_t strides[OP_MAX_RANK];
    op_type type = {.dtype = from->dtype, .shape = shape};
    interp_array *result;
    if (!load_numbers(interp_operand(m, step, 1), false, shape, &type.rank) ||
        type.rank > OP_MAX_RANK || !is_allowed(step, 0, &type) ||
        code_packed(type.dtype, type.rank, shape, strides) != from->bytes) {
        return wrong_shape(m, step, 1);
    }
    TSR_TRY(interp_array_recast(m->pool, from, type.dtype, type.rank, shape, &result));
    interp_set_result(m, step, 0, result);
    return TSR_OK;
}

static tsr_status run_dynamic_iota(interp_machine *m, const code_step *step)
{
    int64_t shape[2 * OP_MAX_RANK];
    iota_params params = *(const iota_params *)step->data;
    op_type type = {.dtype = step->types[1]->tensor.dtype, .shape = shape};
    if (!load_numbers(interp_operand(m, step, 0), false, shape, &type.rank) ||
        type.rank > OP_MAX_RANK || params.iota_dimension >= (int64_t)type.rank) {
        return wrong_shape(m, step, 0);
    }
    params.result = type;
    return interp_run_row(m, step, &op_iota, &params, NULL, 0, &type, 1);
}

static tsr_status run_dynamic_broadcast(interp_machine *m, const code_step *step)
{
    interp_array *from = interp_operand(m, step, 0);
    int64_t shape[2 * OP_MAX_RANK];
    broadcast_params params = *(const broadcast_params *)step->data;
    op_type type = {.dtype = from->dtype, .shape = shape};
    if (!load_numbers(interp_operand(m, step, 1), false, shape, &type.rank) ||
        type.rank > OP_MAX_RANK) {
        return wrong_shape(m, step, 1);
    }
    params.result = type;
    return infer_and_run(m, step, &op_broadcast_in_dim, &params, &from, 1);
}

/* ---- real_dynamic_slice, dynamic_pad ---- */

/* Three lists of numbers from operands `first` on, as many as the rank of operand 0 each. */
typedef struct three_lists {
    int64_t lists[3][2 * OP_MAX_RANK];
} three_lists;

static tsr_status load_lists(interp_machine *m, const code_step *step, size_t first,
                             bool may_be_negative, three_lists *out)
{
    for (size_t i = 0; i < 3; i++) {
        size_t count = 0;
        if (!load_numbers(interp_operand(m, step, first + i), may_be_negative, out->lists[i],
                          &count) ||
            count != interp_operand(m, step, 0)->rank) {
            return wrong_shape(m, step, first + i);
        }
    }
    return TSR_OK;
}

static tsr_status run_real_dynamic_slice(interp_machine *m, const code_step *step)
{
    interp_array *from = interp_operand(m, step, 0);
    three_lists l = {0};
    TSR_TRY(load_lists(m, step, 1, false, &l));
    const slice_params params = {.start_indices = {from->rank, l.lists[0]},
                                 .limit_indices = {from->rank, l.lists[1]},
                                 .strides = {from->rank, l.lists[2]}};
    return infer_and_run(m, step, &op_slice, &params, &from, 1);
}

static tsr_status run_dynamic_pad(interp_machine *m, const code_step *step)
{
    interp_array *operands[] = {interp_operand(m, step, 0), interp_operand(m, step, 1)};
    const size_t rank = operands[0]->rank;
    three_lists l = {0};
    TSR_TRY(load_lists(m, step, 2, true, &l));
    const pad_params params = {.edge_padding_low = {rank, l.lists[0]},
                               .edge_padding_high = {rank, l.lists[1]},
                               .interior_padding = {rank, l.lists[2]}};
    return infer_and_run(m, step, &op_pad, &params, operands, 2);
}

/* ---- dynamic_gather, dynamic_conv ---- */

static tsr_status run_dynamic_gather(interp_machine *m, const code_step *step)
{
    interp_array *operands[] = {interp_operand(m, step, 0), interp_operand(m, step, 1)};
    gather_params params = *(const gather_params *)step->data;
    int64_t sizes[2 * OP_MAX_RANK];
    size_t count = 0;
    if (!load_numbers(interp_operand(m, step, 2), false, sizes, &count)) {
        return wrong_shape(m, step, 2);
    }
    params.slice_sizes = (op_ints){count, sizes};
    return infer_and_run(m, step, &op_gather, &params, operands, 2);
}

static tsr_status run_dynamic_conv(interp_machine *m, const code_step *step)
{
    interp_array *operands[] = {interp_operand(m, step, 0), interp_operand(m, step, 1)};
    convolution_params params = *(const convolution_params *)step->data;
    int64_t padding[2 * OP_MAX_RANK];
    size_t count = 0;
    if (!load_numbers(interp_operand(m, step, 2), true, padding, &count)) {
        return wrong_shape(m, step, 2);
    }
    params.padding = (op_ints){count, padding};
    return infer_and_run(m, step, &op_convolution, &params, operands, 2);
}

/* ---- sizes ---- */

static tsr_status run_get_size(interp_machine *m, const code_step *step)
{
    const interp_array *from = interp_operand(m, step, 0);
    const size_t dim = (size_t)step->number;
    interp_array *result;
    TSR_TRY(interp_array_new(m->pool, step->types[1], &result));
    const element_number size = {.kind = NUMBER_SIGNED, .integer = from->shape[dim]};
    element_store(result->dtype, size, result->data);
    interp_set_result(m, step, 0, result);
    return TSR_OK;
}

static tsr_status prepare_get_size(code_decoder *d, code_step *step)
{
    int64_t dim = 0;
    const tsr_program *p = d->code->program;
    if (!attr_as_integer(p, op_property(p, step->op, "dimension"), &dim) || dim < 0 ||
        step->types[0]->kind != CODE_TENSOR || dim >= (int64_t)step->types[0]->tensor.rank ||
        step->types[1]->tensor.rank != 0 || !dtype_is_integer(step->types[1]->tensor.dtype)) {
        return TSR_NOT_APPLICABLE;
    }
    step->action = run_get_size;
    step->number = dim;
    return TSR_OK;
}

/* The first rows of a dimension. */
static tsr_status run_set_size(interp_machine *m, const code_step *step)
{
    interp_array *from = interp_operand(m, step, 0);
    const interp_array *size = interp_operand(m, step, 1);
    const size_t dim = (size_t)step->number;
    int64_t starts[OP_MAX_RANK] = {0};
    int64_t limits[OP_MAX_RANK];
    int64_t steps[OP_MAX_RANK];
    for (size_t i = 0; i < from->rank; i++) {
        limits[i] = from->shape[i];
        steps[i] = 1;
    }
    limits[dim] = element_index(size->dtype, size->data);
    const slice_params params = {.start_indices = {from->rank, starts},
                                 .limit_indices = {from->rank, limits},
                                 .strides = {from->rank, steps}};
    return infer_and_run(m, step, &op_slice, &params, &from, 1);
}

static tsr_status prepare_set_size(code_decoder *d, code_step *step)
{
    int64_t dim = 0;
    const tsr_program *p = d->code->program;
    if (!attr_as_integer(p, op_property(p, step->op, "dimension"), &dim) || dim < 0 ||
        step->types[0]->kind != CODE_TENSOR || dim >= (int64_t)step->types[0]->tensor.rank ||
        step->types[1]->tensor.rank != 0 || !dtype_is_integer(step->types[1]->tensor.dtype)) {
        return TSR_NOT_APPLICABLE;
    }
    step->action = run_set_size;
    step->number = dim;
    return TSR_OK;
}

/* ---- values whose type says less, or more ---- */

static tsr_status run_tensor_cast(interp_machine *m, const code_step *step)
{
    interp_array *from = interp_operand(m, step, 0);
    const op_type type = interp_array_type(from);
    if (!is_allowed(step, 0, &type)) {
        return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID, "the value is %s",
                                op_type_text(&type).text);
    }
    interp_set_result(m, step, 0, interp_array_keep(from));
    return TSR_OK;
}

static tsr_status prepare_tensor_cast(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_tensor_cast;
    return step->types[0]->kind == CODE_TENSOR ? TSR_OK : TSR_NOT_APPLICABLE;
}

/* ---- decoding ---- */

typedef struct dynamic_row {
    code_action action;
    const op_row *row; /* of its parameters; NULL: it has none */
    size_t num_operands;
} dynamic_row;

static const dynamic_row dynamic_rows[OP_KIND_COUNT] = {
    [OP_STABLEHLO_DYNAMIC_RESHAPE] = {run_dynamic_reshape, NULL, 2},
    [OP_STABLEHLO_DYNAMIC_IOTA] = {run_dynamic_iota, &op_iota, 1},
    [OP_STABLEHLO_DYNAMIC_BROADCAST_IN_DIM] = {run_dynamic_broadcast, &op_broadcast_in_dim, 2},
    [OP_STABLEHLO_REAL_DYNAMIC_SLICE] = {run_real_dynamic_slice, NULL, 4},
    [OP_STABLEHLO_DYNAMIC_PAD] = {run_dynamic_pad, NULL, 5},
    [OP_STABLEHLO_DYNAMIC_GATHER] = {run_dynamic_gather, &op_gather, 3},
    [OP_STABLEHLO_DYNAMIC_CONV] = {run_dynamic_conv, &op_convolution, 3},
};

static tsr_status prepare_dynamic(code_decoder *d, code_step *step)
{
    const dynamic_row *row = &dynamic_rows[op_kind_of(d->code->program, step->op)];
    const void *params = NULL;
    for (size_t i = 0; i < step->num_operands + step->num_results; i++) {
        if (step->types[i]->kind != CODE_TENSOR) {
            return TSR_NOT_APPLICABLE;
        }
    }
    if (row->row != NULL) {
        const tsr_status status = ir_read_params(d->code->ctx, d->code->arena, d->code->program,
                                                 step->op, row->row, &params);
        if (status != TSR_OK) {
            return status;
        }
    }
    step->action = row->action;
    step->data = without_const(params);
    return step->num_operands == row->num_operands && step->num_results == 1 ? TSR_OK
                                                                             : TSR_NOT_APPLICABLE;
}

const code_op interp_ops_dynamic[OP_KIND_COUNT] = {
    [OP_STABLEHLO_DYNAMIC_RESHAPE] = {.prepare = prepare_dynamic},
    [OP_STABLEHLO_DYNAMIC_IOTA] = {.prepare = prepare_dynamic},
    [OP_STABLEHLO_DYNAMIC_BROADCAST_IN_DIM] = {.prepare = prepare_dynamic},
    [OP_STABLEHLO_REAL_DYNAMIC_SLICE] = {.prepare = prepare_dynamic},
    [OP_STABLEHLO_DYNAMIC_PAD] = {.prepare = prepare_dynamic},
    [OP_STABLEHLO_DYNAMIC_GATHER] = {.prepare = prepare_dynamic},
    [OP_STABLEHLO_DYNAMIC_CONV] = {.prepare = prepare_dynamic},
    [OP_STABLEHLO_GET_DIMENSION_SIZE] = {.prepare = prepare_get_size},
    [OP_STABLEHLO_SET_DIMENSION_SIZE] = {.prepare = prepare_set_size},
    [OP_STABLEHLO_DOT] = {.prepare = prepare_dot},
    [OP_TENSOR_CAST] = {.prepare = prepare_tensor_cast},
};

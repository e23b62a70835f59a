#include "interp/elementwise.h"

#include "base/arena.h"
#include "interp/machine.h"
#include "kernel/elementwise.h"
#include "number/element.h"

enum { MAX_SOURCES = 3 };

/* Operands of one type, and a result of a given element type, all of one shape. */
static bool fits(const code_step *step, tsr_dtype result)
{
    if (!code_is_static(step) || step->num_operands > MAX_SOURCES || step->num_operands == 0 ||
        step->num_results != 1) {
        return false;
    }
    const op_type *to = &step->types[step->num_operands]->tensor;
    for (size_t i = 0; i < step->num_operands; i++) {
        const op_type *from = &step->types[i]->tensor;
        if (from->dtype != step->types[0]->tensor.dtype || !op_shapes_agree(from, to)) {
            return false;
        }
    }
    return to->dtype == result;
}

/* ---- kernels ---- */

static tsr_status widened(interp_machine *m, const interp_array *from, tsr_dtype dtype,
                          interp_array **out)
{
    TSR_TRY(interp_array_shaped(m->pool, dtype, from->rank, from->shape, out));
    kernel_convert_any(dtype, (*out)->data, from->dtype, from->data, interp_array_elements(from));
    return TSR_OK;
}

static tsr_status run_map(interp_machine *m, const code_step *step)
{
    const interp_map *map = step->data;
    tsr_view views[MAX_SOURCES];
    const tsr_view *src[MAX_SOURCES];
    interp_array *result;
    for (size_t i = 0; i < step->num_operands; i++) {
        views[i] = interp_array_view(interp_operand(m, step, i));
        src[i] = &views[i];
    }
    TSR_TRY(interp_array_new(m->pool, step->types[step->num_operands], &result));
    interp_set_result(m, step, 0, result);
    const tsr_view dst = interp_array_view(result);
    map->call(map, &dst, src);
    return TSR_OK;
}

static tsr_status run_widened_map(interp_machine *m, const code_step *step)
{
    const interp_map *map = step->data;
    interp_array *arrays[MAX_SOURCES + 1] = {NULL};
    tsr_view views[MAX_SOURCES + 1];
    const tsr_view *src[MAX_SOURCES];
    tsr_status status = TSR_OK;
    const size_t n = step->num_operands;
    for (size_t i = 0; i <= n && status == TSR_OK; i++) {
        const interp_array *like = interp_operand(m, step, i < n ? i : 0);
        status = i < n ? widened(m, like, map->computed, &arrays[i])
                       : interp_array_shaped(m->pool, map->computed, like->rank, like->shape,
                                             &arrays[i]);
        if (status == TSR_OK) {
            views[i] = interp_array_view(arrays[i]);
        }
    }
    if (status == TSR_OK) {
        interp_array *result;
        for (size_t i = 0; i < n; i++) {
            src[i] = &views[i];
        }
        map->call(map, &views[n], src);
        status = interp_array_new(m->pool, step->types[n], &result);
        if (status == TSR_OK) {
            kernel_convert_any(result->dtype, result->data, map->computed, arrays[n]->data,
                               interp_array_elements(result));
            interp_set_result(m, step, 0, result);
        }
    }
    for (size_t i = 0; i <= n; i++) {
        interp_array_drop(m->pool, arrays[i]);
    }
    return status;
}

tsr_status interp_prepare_map(code_decoder *d, code_step *step, interp_map_call call, int kind)
{
    interp_map *map = CODE_NEW(d, interp_map);
    tsr_dtype wider = step->types[0]->tensor.dtype;
    if (map == NULL) {
        return diag_nomem(d->code->ctx);
    }
    if (!fits(step, step->types[0]->tensor.dtype)) {
        return TSR_NOT_APPLICABLE;
    }
    const bool narrow = kernel_is_narrow(step->types[0]->tensor.dtype, &wider);
    *map = (interp_map){call, kind, wider};
    step->action = narrow ? run_widened_map : run_map;
    step->data = map;
    return TSR_OK;
}

/* ---- functions of elements ---- */

typedef struct each_step {
    interp_each_call call;
} each_step;

static tsr_status run_each(interp_machine *m, const code_step *step)
{
    const each_step *each = step->data;
    const interp_array *a = interp_operand(m, step, 0);
    const interp_array *b = interp_operand(m, step, step->num_operands - 1);
    const int64_t item = tsr_dtype_item_bytes(a->dtype);
    const int64_t count = interp_array_elements(a);
    interp_array *result;
    TSR_TRY(interp_array_new(m->pool, step->types[step->num_operands], &result));
    interp_set_result(m, step, 0, result);
    const int64_t to = tsr_dtype_item_bytes(result->dtype);
    for (int64_t i = 0; i < count; i++) {
        each->call(a->dtype, a->data + i * item, b->data + i * item, result->data + i * to);
    }
    return TSR_OK;
}

tsr_status interp_prepare_each(code_decoder *d, code_step *step, interp_each_call call,
                               tsr_dtype result)
{
    each_step *each = CODE_NEW(d, each_step);
    if (each == NULL) {
        return diag_nomem(d->code->ctx);
    }
    if (!fits(step, result)) {
        return TSR_NOT_APPLICABLE;
    }
    each->call = call;
    step->action = run_each;
    step->data = each;
    return TSR_OK;
}

/* Steps that are the kernel of a row: on the types of the program, or by way of wider ones. */
#include <string.h>

#include "base/arena.h"
#include "code/kernel.h"
#include "interp/machine.h"
#include "interp/quantized.h"
#include "interp/steps_dynamic.h"
#include "kernel/elementwise.h"
#include "number/element.h"

enum { MAX_FEW = 8 };

/* ---- running ---- */

/* A run of a kernel: what is fixed comes from the step, the rest from the machine. */
typedef struct kernel_run {
    op_array few[MAX_FEW];
    op_array *arrays;
    interp_region regions[CODE_MAX_REGIONS];
} kernel_run;

static tsr_status begin(interp_machine *m, const code_step *step, kernel_run *run)
{
    const code_kernel *k = step->data;
    const size_t count = step->num_operands + step->num_results;
    run->arrays = count <= MAX_FEW ? run->few : interp_scratch(m, count * sizeof *run->arrays);
    if (run->arrays == NULL) {
        return diag_nomem(m->ctx);
    }
    memcpy(run->arrays, k->arrays, count * sizeof *run->arrays);
    return TSR_OK;
}

/* The parameters of a call, whose regions that are called run on this machine. */
static const void *params_with_regions(interp_machine *m, const code_kernel *k, kernel_run *run)
{
    const op_fields *fields = k->call.row->fields;
    char *params = interp_scratch(m, fields->bytes);
    if (params == NULL) {
        return NULL;
    }
    memcpy(params, k->call.params, fields->bytes);
    size_t count = 0;
    for (size_t f = 0; f < fields->count && count < k->num_regions; f++) {
        if (fields->fields[f].kind == OP_FIELD_REGION) {
            op_region *region = (void *)(params + fields->fields[f].offset);
            run->regions[count] = (interp_region){k->regions[count], m};
            region->state = &run->regions[count];
            count++;
        }
    }
    return params;
}

static tsr_status call_kernel(interp_machine *m, const code_step *step, kernel_run *run)
{
    const code_kernel *k = step->data;
    op_call call = k->call;
    void *scratch = NULL;
    call.operands = run->arrays;
    call.results = run->arrays + step->num_operands;
    if (k->calls_regions) {
        call.params = params_with_regions(m, k, run);
        if (call.params == NULL) {
            return diag_nomem(m->ctx);
        }
    }
    if (call.row->scratch != NULL) {
        scratch = interp_scratch(m, call.row->scratch(&call));
        if (scratch == NULL) {
            return diag_nomem(m->ctx);
        }
    }
    call.row->run(&call, scratch);
    return m->failed;
}

static tsr_status run_kernel(interp_machine *m, const code_step *step)
{
    const size_t n = step->num_operands;
    kernel_run run;
    TSR_TRY(begin(m, step, &run));
    for (size_t i = 0; i < n; i++) {
        run.arrays[i].view.data = m->slots[step->operands[i]]->data;
    }
    for (size_t i = 0; i < step->num_results; i++) {
        interp_array *result;
        const tsr_status status = interp_array_new(m->pool, step->types[n + i], &result);
        if (status != TSR_OK) {
            return status;
        }
        m->slots[step->results[i]] = result;
        run.arrays[n + i].view.data = result->data;
    }
    return call_kernel(m, step, &run);
}

/* ---- by way of other types ---- */

/* Narrow signed integers as bits are not sign-extended. */
static void to_bits(interp_array *a, tsr_dtype narrow)
{
    const int mask = (1 << tsr_dtype_bits(narrow)) - 1;
    for (int64_t i = 0; i < a->bytes; i++) {
        a->data[i] = (char)(a->data[i] & mask);
    }
}

static tsr_status cast_operand(interp_machine *m, const code_step *step, const code_kernel *k,
                               size_t i, interp_array **out)
{
    interp_array *from = interp_operand(m, step, i);
    const code_type *to = k->computed[i];
    const code_type *type = step->types[i];
    if (to->tensor.dtype == from->dtype && type->quantization == NULL) {
        *out = interp_array_keep(from);
        return TSR_OK;
    }
    TSR_TRY(interp_array_new(m->pool, to, out));
    if (type->quantization != NULL) {
        interp_dequantize(type, from, *out);
        return TSR_OK;
    }
    kernel_convert_any(to->tensor.dtype, (*out)->data, from->dtype, from->data,
                       interp_array_elements(from));
    tsr_dtype wider;
    if (k->as_bits && kernel_is_narrow(from->dtype, &wider) && wider != TSR_F32) {
        to_bits(*out, from->dtype);
    }
    return TSR_OK;
}

static tsr_status cast_result(interp_machine *m, const code_step *step, const code_kernel *k,
                              size_t i, interp_array *computed)
{
    const code_type *type = step->types[step->num_operands + i];
    interp_array *result;
    if (type->tensor.dtype == computed->dtype && type->quantization == NULL) {
        interp_set_result(m, step, i, interp_array_keep(computed));
        return TSR_OK;
    }
    TSR_TRY(interp_array_new(m->pool, type, &result));
    if (type->quantization != NULL) {
        interp_quantize(type, computed, result);
        interp_set_result(m, step, i, result);
        return TSR_OK;
    }
    if (k->counts_leading) {
        for (int64_t e = 0; e < computed->bytes; e++) {
            computed->data[e] =
                (char)(computed->data[e] - (8 - tsr_dtype_bits(type->tensor.dtype)));
        }
    }
    kernel_convert_any(type->tensor.dtype, result->data, computed->dtype, computed->data,
                       interp_array_elements(computed));
    interp_set_result(m, step, i, result);
    return TSR_OK;
}

static tsr_status run_cast(interp_machine *m, const code_step *step)
{
    const code_kernel *k = step->data;
    interp_array *arrays[CODE_MAX_CASTS] = {NULL};
    const size_t n = step->num_operands;
    kernel_run run;
    tsr_status status = begin(m, step, &run);
    for (size_t i = 0; i < n + step->num_results && status == TSR_OK; i++) {
        status = i < n ? cast_operand(m, step, k, i, &arrays[i])
                       : interp_array_new(m->pool, k->computed[i], &arrays[i]);
        if (status == TSR_OK) {
            run.arrays[i].view.data = arrays[i]->data;
        }
    }
    if (status == TSR_OK) {
        status = call_kernel(m, step, &run);
    }
    for (size_t i = 0; i < step->num_results && status == TSR_OK; i++) {
        status = cast_result(m, step, k, i, arrays[n + i]);
    }
    for (size_t i = 0; i < n + step->num_results; i++) {
        interp_array_drop(m->pool, arrays[i]);
    }
    return status;
}

/* ---- decoding ---- */

tsr_status interp_prepare_kernel(code_decoder *d, code_step *step)
{
    return interp_prepare_row(d, step, ir_op_row(d->code->program, step->op));
}

tsr_status interp_prepare_row(code_decoder *d, code_step *step, const op_row *row)
{
    const code_kernel *k = NULL;
    if (row != NULL && row->run != NULL && !code_is_static(step)) {
        return interp_prepare_inferred(d, step, row);
    }
    const tsr_status status = code_kernel_prepare(d, step, row, &k);
    if (status == TSR_OK) {
        step->data = k;
        step->action = k->computed != NULL ? run_cast : run_kernel;
    }
    return status;
}

#include "interp/quantized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "interp/machine.h"
#include "kernel/elementwise.h"
#include "number/element.h"

/* Which scale an element has. */
static size_t scale_of(const struct code_quantization *q, const interp_array *a, int64_t element)
{
    if (q->axis < 0 || q->axis >= (int64_t)a->rank) {
        return 0;
    }
    const int64_t step = a->strides[q->axis] / tsr_dtype_item_bytes(a->dtype);
    const size_t k = (size_t)(element / step % a->shape[q->axis]);
    return k < q->count ? k : 0;
}

void interp_dequantize(const code_type *type, const interp_array *from, const interp_array *to)
{
    const struct code_quantization *q = type->quantization;
    const int64_t item = tsr_dtype_item_bytes(from->dtype);
    const int64_t to_item = tsr_dtype_item_bytes(to->dtype);
    for (int64_t i = 0; i < interp_array_elements(from); i++) {
        const size_t k = scale_of(q, from, i);
        const element_number stored = element_load(from->dtype, from->data + i * item);
        const element_number n = {.kind = NUMBER_FLOAT,
                                  .re = (stored.re - (double)q->zeros[k]) * q->scales[k]};
        element_store(to->dtype, n, to->data + i * to_item);
    }
}

void interp_quantize(const code_type *type, const interp_array *from, const interp_array *to)
{
    const struct code_quantization *q = type->quantization;
    const int64_t item = tsr_dtype_item_bytes(from->dtype);
    const int64_t to_item = tsr_dtype_item_bytes(to->dtype);
    for (int64_t i = 0; i < interp_array_elements(from); i++) {
        const size_t k = scale_of(q, to, i);
        const double x = element_load(from->dtype, from->data + i * item).re;
        const double steps = nearbyint((double)((float)x / (float)q->scales[k]));
        const double whole = isnan(steps) ? 0 : steps + (double)q->zeros[k];
        const double kept = fmin(fmax(whole, (double)q->least), (double)q->greatest);
        const element_number n = {.kind = NUMBER_SIGNED, .integer = (int64_t)kept};
        element_store(to->dtype, n, to->data + i * to_item);
    }
}

/* ---- uniform_quantize, uniform_dequantize ---- */

static tsr_status run_requantize(interp_machine *m, const code_step *step)
{
    const code_type *from_type = step->types[0];
    const code_type *to_type = step->types[1];
    interp_array *from = interp_operand(m, step, 0);
    interp_array *middle = interp_array_keep(from);
    interp_array *result = NULL;
    tsr_status status = TSR_OK;
    if (from_type->quantization != NULL) {
        interp_array_drop(m->pool, middle);
        status = interp_array_shaped(m->pool, from_type->quantization->expressed, from->rank,
                                     from->shape, &middle);
        if (status != TSR_OK) {
            return status;
        }
        interp_dequantize(from_type, from, middle);
    }
    status = interp_array_new(m->pool, to_type, &result);
    if (status == TSR_OK && to_type->quantization != NULL) {
        interp_quantize(to_type, middle, result);
    } else if (status == TSR_OK) {
        kernel_convert_any(result->dtype, result->data, middle->dtype, middle->data,
                           interp_array_elements(middle));
    }
    interp_array_drop(m->pool, middle);
    if (status == TSR_OK) {
        interp_set_result(m, step, 0, result);
    }
    return status;
}

static tsr_status prepare_quantize(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_requantize;
    return code_is_static(step) &&
                   op_shapes_agree(&step->types[0]->tensor, &step->types[1]->tensor) &&
                   (step->types[0]->quantization != NULL ||
                    dtype_is_float(step->types[0]->tensor.dtype)) &&
                   (step->types[1]->quantization != NULL ||
                    dtype_is_float(step->types[1]->tensor.dtype))
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

const code_op interp_ops_quantized[OP_KIND_COUNT] = {
    [OP_STABLEHLO_UNIFORM_QUANTIZE] = {.prepare = prepare_quantize},
    [OP_STABLEHLO_UNIFORM_DEQUANTIZE] = {.prepare = prepare_quantize},
};

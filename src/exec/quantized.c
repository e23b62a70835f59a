#include "exec/quantized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "exec/machine.h"
#include "exec/number.h"

bool exec_is_quantized(const tsr_program *p, uint32_t element)
{
    return program_type(p, element)->kind == TYPE_QUANT;
}

/* ---- the text of a type ---- */

/* Moves past a text if it is there. */
static bool take(const char **at, const char *text)
{
    const size_t size = strlen(text);
    const bool found = strncmp(*at, text, size) == 0;
    *at += found ? size : 0;
    return found;
}

/* i8 or u8, and the range where one is given. */
static bool read_storage(tsr_context *ctx, const char **at, struct exec_quantization *q)
{
    char name[16];
    char *end = NULL;
    const bool is_unsigned = **at == 'u';
    const size_t size = strcspn(*at, "<:,>");
    if (size >= sizeof name - 1) {
        return false;
    }
    memcpy(name, *at, size);
    name[size] = '\0';
    *at += size;
    if (tsr_dtype_parse(ctx, name, &q->storage) != TSR_OK || !dtype_is_integer(q->storage)) {
        tsr_context_clear(ctx);
        return false;
    }
    const int bits = tsr_dtype_bits(q->storage);
    q->greatest = (INT64_C(1) << (is_unsigned ? bits : bits - 1)) - 1;
    q->least = is_unsigned ? 0 : -q->greatest - 1;
    if (bits > 32) {
        return false;
    }
    if (take(at, "<")) {
        q->least = strtoll(*at, &end, 10);
        *at = end;
        if (!take(at, ":")) {
            return false;
        }
        q->greatest = strtoll(*at, &end, 10);
        *at = end;
        return take(at, ">");
    }
    return true;
}

/* A scale and, where there is one, a zero point. */
static bool read_pair(const char **at, double *scale, int64_t *zero)
{
    char *end = NULL;
    *scale = strtod(*at, &end);
    *zero = 0;
    if (end == *at) {
        return false;
    }
    *at = end;
    if (take(at, ":")) {
        *zero = strtoll(*at, &end, 10);
        *at = end;
    }
    return true;
}

static bool read_pairs(exec_code *code, const char *at, struct exec_quantization *q)
{
    const size_t most = strlen(at);
    double *scales = ARENA_ARRAY(code->arena, double, most + 1);
    int64_t *zeros = ARENA_ARRAY(code->arena, int64_t, most + 1);
    if (scales == NULL || zeros == NULL) {
        return false;
    }
    q->scales = scales;
    q->zeros = zeros;
    const bool several = take(&at, "{");
    do {
        (void)take(&at, " ");
        if (!read_pair(&at, &scales[q->count], &zeros[q->count])) {
            return false;
        }
        q->count++;
    } while (several && take(&at, ","));
    return !several || take(&at, "}");
}

tsr_status exec_read_quantization(exec_code *code, uint32_t element,
                                  const struct exec_quantization **out)
{
    const type_head *head = program_type(code->program, element);
    struct exec_quantization *q = ARENA_NEW(code->arena, struct exec_quantization);
    char *text = arena_string(code->arena, type_text(head), head->count);
    op_type expressed;
    if (q == NULL || text == NULL) {
        return diag_nomem(code->ctx);
    }
    *q = (struct exec_quantization){.axis = -1};
    const char *at = text;
    if (!take(&at, "!quant.uniform<") || !read_storage(code->ctx, &at, q) || !take(&at, ":") ||
        !ir_element_dtype(code->program, head->element, &expressed.dtype)) {
        return TSR_NOT_APPLICABLE;
    }
    q->expressed = expressed.dtype;
    at += strcspn(at, ":,>");
    if (take(&at, ":")) {
        char *end = NULL;
        q->axis = strtoll(at, &end, 10);
        at = end;
    }
    const bool has_scales = take(&at, ",");
    (void)take(&at, " ");
    if (!has_scales || !read_pairs(code, at, q)) {
        return TSR_NOT_APPLICABLE;
    }
    *out = q;
    return TSR_OK;
}

/* ---- conversions ---- */

/* Which scale an element has. */
static size_t scale_of(const struct exec_quantization *q, const exec_array *a, int64_t element)
{
    if (q->axis < 0 || q->axis >= (int64_t)a->rank) {
        return 0;
    }
    const int64_t step = a->strides[q->axis] / tsr_dtype_item_bytes(a->dtype);
    const size_t k = (size_t)(element / step % a->shape[q->axis]);
    return k < q->count ? k : 0;
}

void exec_dequantize(const exec_type *type, const exec_array *from, const exec_array *to)
{
    const struct exec_quantization *q = type->quantization;
    const int64_t item = tsr_dtype_item_bytes(from->dtype);
    const int64_t to_item = tsr_dtype_item_bytes(to->dtype);
    for (int64_t i = 0; i < exec_array_elements(from); i++) {
        const size_t k = scale_of(q, from, i);
        const exec_number stored = exec_number_load(from->dtype, from->data + i * item);
        const exec_number n = {.kind = NUMBER_FLOAT,
                               .re = (stored.re - (double)q->zeros[k]) * q->scales[k]};
        exec_number_store(to->dtype, n, to->data + i * to_item);
    }
}

void exec_quantize(const exec_type *type, const exec_array *from, const exec_array *to)
{
    const struct exec_quantization *q = type->quantization;
    const int64_t item = tsr_dtype_item_bytes(from->dtype);
    const int64_t to_item = tsr_dtype_item_bytes(to->dtype);
    for (int64_t i = 0; i < exec_array_elements(from); i++) {
        const size_t k = scale_of(q, to, i);
        const double x = exec_number_load(from->dtype, from->data + i * item).re;
        const double steps = nearbyint((double)((float)x / (float)q->scales[k]));
        const double whole = isnan(steps) ? 0 : steps + (double)q->zeros[k];
        const double kept = fmin(fmax(whole, (double)q->least), (double)q->greatest);
        const exec_number n = {.kind = NUMBER_SIGNED, .integer = (int64_t)kept};
        exec_number_store(to->dtype, n, to->data + i * to_item);
    }
}

/* ---- uniform_quantize, uniform_dequantize ---- */

static tsr_status run_requantize(exec_machine *m, const exec_step *step)
{
    const exec_type *from_type = step->types[0];
    const exec_type *to_type = step->types[1];
    exec_array *from = exec_operand(m, step, 0);
    exec_array *middle = exec_array_keep(from);
    exec_array *result = NULL;
    tsr_status status = TSR_OK;
    if (from_type->quantization != NULL) {
        exec_array_drop(m->pool, middle);
        status = exec_array_shaped(m->pool, from_type->quantization->expressed, from->rank,
                                   from->shape, &middle);
        if (status != TSR_OK) {
            return status;
        }
        exec_dequantize(from_type, from, middle);
    }
    status = exec_array_new(m->pool, to_type, &result);
    if (status == TSR_OK && to_type->quantization != NULL) {
        exec_quantize(to_type, middle, result);
    } else if (status == TSR_OK) {
        exec_convert(result->dtype, result->data, middle->dtype, middle->data,
                     exec_array_elements(middle));
    }
    exec_array_drop(m->pool, middle);
    if (status == TSR_OK) {
        exec_set_result(m, step, 0, result);
    }
    return status;
}

static tsr_status prepare_quantize(exec_decoder *d, exec_step *step)
{
    (void)d;
    step->action = run_requantize;
    return exec_is_static(step) &&
                   op_shapes_agree(&step->types[0]->tensor, &step->types[1]->tensor) &&
                   (step->types[0]->quantization != NULL ||
                    dtype_is_float(step->types[0]->tensor.dtype)) &&
                   (step->types[1]->quantization != NULL ||
                    dtype_is_float(step->types[1]->tensor.dtype))
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

const exec_op exec_ops_quantized[OP_KIND_COUNT] = {
    [OP_STABLEHLO_UNIFORM_QUANTIZE] = {.prepare = prepare_quantize},
    [OP_STABLEHLO_UNIFORM_DEQUANTIZE] = {.prepare = prepare_quantize},
};

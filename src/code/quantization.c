#include "code/quantization.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "number/dtype.h"

bool quantization_is_of(const tsr_program *p, uint32_t element)
{
    return program_type(p, element)->kind == TYPE_QUANT;
}

/* ---- the text of a type ---- */

/* Moves past a text if it is next. */
static bool take(const char **at, const char *text)
{
    const size_t size = strlen(text);
    const bool found = strncmp(*at, text, size) == 0;
    *at += found ? size : 0;
    return found;
}

/* i8 or u8, and the range where one is given. */
static bool read_storage(tsr_context *ctx, const char **at, struct code_quantization *q)
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

static bool read_pairs(program_code *code, const char *at, struct code_quantization *q)
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

tsr_status quantization_read(program_code *code, uint32_t element,
                             const struct code_quantization **out)
{
    const type_head *head = program_type(code->program, element);
    struct code_quantization *q = ARENA_NEW(code->arena, struct code_quantization);
    char *text = arena_string(code->arena, type_text(head), head->count);
    op_type expressed;
    if (q == NULL || text == NULL) {
        return diag_nomem(code->ctx);
    }
    *q = (struct code_quantization){.axis = -1};
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

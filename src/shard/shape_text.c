/* Shapes as text: 4x8, 4x8xf32, tensor<4x8xf32>, f32[4,8], (4, 8), torch.Size([4, 8]). */
#include "shard/shape_text.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "number/dtype.h"

static const char no_shape[] =
    "not a shape: write extents as 4x8, a type as 4x8xf32, tensor<4x8xf32> or f32[4,8], or scalar";

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static slice trim(slice text)
{
    while (text.size > 0 && is_space(text.data[0])) {
        text = (slice){text.data + 1, text.size - 1};
    }
    while (text.size > 0 && is_space(text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}

/* The text between a prefix and a suffix, if the text has both. */
static bool strip(slice *text, const char *prefix, const char *suffix)
{
    const size_t before = strlen(prefix);
    const size_t after = strlen(suffix);
    if (text->size < before + after || memcmp(text->data, prefix, before) != 0 ||
        memcmp(text->data + text->size - after, suffix, after) != 0) {
        return false;
    }
    *text = trim((slice){text->data + before, text->size - before - after});
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Where texts are read to, and where messages point. */
typedef struct shape_reader {
    tsr_context *ctx;
    tsr_arena *arena;
    location where;
} shape_reader;

/* The element type of a name, `f32` or `torch.float32`; an error of the context. */
static tsr_status read_dtype(const shape_reader *r, slice name, tsr_shape *out)
{
    const slice last = python_last_part(trim(name));
    const char *copy = arena_string(r->arena, last.data, last.size);
    if (copy == NULL) {
        return diag_nomem(r->ctx);
    }
    TSR_TRY(dtype_parse_at(r->ctx, r->where, copy, &out->dtype));
    out->has_dtype = true;
    return TSR_OK;
}

/* Takes `8` or `?`; false when there is neither, or no int64. */
static bool take_extent(slice *text, int64_t *out)
{
    int64_t value = 0;
    size_t at = 0;
    if (text->data[0] == '?') {
        *out = TSR_UNKNOWN;
        *text = trim((slice){text->data + 1, text->size - 1});
        return true;
    }
    while (at < text->size && is_digit(text->data[at])) {
        if (!checked_mul(value, 10, &value) || !checked_add(value, text->data[at] - '0', &value)) {
            return false;
        }
        at++;
    }
    *out = value;
    *text = trim((slice){text->data + at, text->size - at});
    return at > 0;
}

/* The extents, and the type that may follow them: `4x8xf32`, `4, 8`. */
static tsr_status read_extents(const shape_reader *r, slice text, tsr_shape *out)
{
    int64_t *extents = ARENA_ARRAY(r->arena, int64_t, text.size + 1);
    if (extents == NULL) {
        return diag_nomem(r->ctx);
    }
    out->extents = extents;
    while (text.size > 0 && (is_digit(text.data[0]) || text.data[0] == '?')) {
        if (!take_extent(&text, &extents[out->rank])) {
            return diag_error(r->ctx, TSR_ERR_OVERFLOW, r->where,
                              "extent %zu does not fit into 63 bits", out->rank);
        }
        out->rank++;
        if (text.size == 0) {
            return TSR_OK;
        }
        if (text.data[0] != 'x' && text.data[0] != ',') {
            return diag_error(r->ctx, TSR_ERR_SYNTAX, r->where, no_shape);
        }
        const bool last = text.data[0] == ',' && text.size == 1;
        text = trim((slice){text.data + 1, text.size - 1});
        if (last) {
            return TSR_OK;
        }
    }
    const bool named = text.size > 0 && text.data[0] != 'x' &&
                       ((text.data[0] | 0x20) >= 'a' && (text.data[0] | 0x20) <= 'z');
    if (!named || out->has_dtype) {
        return diag_error(r->ctx, TSR_ERR_SYNTAX, r->where, no_shape);
    }
    return read_dtype(r, text, out);
}

/* `f32[4,8]`, with the layout of memory that HLO prints after it, `{1,0}`. */
static bool take_bracketed(slice *text, slice *dtype)
{
    const char *open = memchr(text->data, '[', text->size);
    const char *close = memchr(text->data, ']', text->size);
    if (open == NULL || close == NULL || open == text->data || close < open) {
        return false;
    }
    const slice rest = trim((slice){close + 1, text->size - (size_t)(close + 1 - text->data)});
    if (rest.size > 0 && (rest.data[0] != '{' || rest.data[rest.size - 1] != '}')) {
        return false;
    }
    *dtype = (slice){text->data, (size_t)(open - text->data)};
    *text = trim((slice){open + 1, (size_t)(close - open) - 1});
    return true;
}

tsr_status shape_text_read(tsr_context *ctx, tsr_arena *arena, location where, slice text,
                           tsr_shape *out)
{
    const shape_reader r = {ctx, arena, where};
    static const int64_t no_extents[1] = {0};
    tsr_shape shape = {.extents = no_extents};
    slice dtype = {0};
    text = trim(text);
    (void)strip(&text, "torch.Size(", ")");
    const bool listed = strip(&text, "[", "]") || strip(&text, "(", ")");
    if (!listed && !strip(&text, "tensor<", ">") && take_bracketed(&text, &dtype)) {
        TSR_TRY(read_dtype(&r, dtype, &shape));
    }
    if (text.size == 0 || slice_is(text, "scalar")) {
        *out = shape;
        return TSR_OK;
    }
    TSR_TRY(read_extents(&r, text, &shape));
    *out = shape;
    return TSR_OK;
}

tsr_status tsr_shape_parse(tsr_context *ctx, tsr_arena *arena, const char *string, tsr_shape *out)
{
    GUARD(tsr_shape_parse);
    return shape_text_read(ctx, arena, NO_LOCATION, (slice){string, strlen(string)}, out);
}

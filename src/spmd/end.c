/* The ends of a transition as text, and from the placements of DTensor. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "shard/sharding.h"
#include "spmd/type.h"

void spmd_print_end(buffer *buf, tsr_end end)
{
    if (end.kind == TSR_V && end.dim != TSR_NO_DIM) {
        buffer_format(buf, "S(%lld)", (long long)end.dim);
    } else {
        buffer_string(buf, tsr_axis_type_name((tsr_axis_type){end.kind, end.partial}));
    }
}

const char *spmd_end_text(tsr_arena *arena, tsr_end end)
{
    buffer buf = buffer_new(arena);
    spmd_print_end(&buf, end);
    buffer_char(&buf, '\0');
    return buf.failed ? tsr_local_type_name(end.kind) : buf.data;
}

tsr_status tsr_end_print(tsr_context *ctx, tsr_arena *arena, tsr_end end, const char **out)
{
    GUARD(tsr_end_print);
    buffer buf = buffer_new(arena);
    spmd_print_end(&buf, end);
    return buffer_finish(ctx, &buf, out);
}

/* `TSR_AS(R)`, `TSR_AS_S(1)`, `TSR_AS_P(TSR_AVG)`. */
static void print_code(buffer *buf, tsr_end end)
{
    static const char *const reductions[] = {[TSR_SUM] = "TSR_SUM",
                                             [TSR_MAX] = "TSR_MAX",
                                             [TSR_MIN] = "TSR_MIN",
                                             [TSR_AVG] = "TSR_AVG",
                                             [TSR_PROD] = "TSR_PROD"};
    if (end.kind == TSR_V && end.dim != TSR_NO_DIM) {
        buffer_format(buf, "TSR_AS_S(%lld)", (long long)end.dim);
    } else if (end.kind == TSR_P && end.partial != TSR_SUM) {
        buffer_format(buf, "TSR_AS_P(%s)", reductions[end.partial]);
    } else {
        buffer_format(buf, "TSR_AS(%s)", tsr_local_type_name(end.kind));
    }
}

void spmd_print_call(buffer *buf, const tsr_transition *t, const char *value, const char *axis)
{
    const bool converts = t->op == TSR_CONVERT;
    buffer_format(buf, "tsr_%s(%s, \"%s\", ",
                  converts ? "convert_type" : tsr_transition_name(t->op), value, axis);
    print_code(buf, t->src);
    buffer_string(buf, ", ");
    print_code(buf, t->dst);
    buffer_string(buf, ", ..)");
}

/* What is in the brackets after a name: `S(1)` with "S" gives `1`. */
static bool argument_of(const char *text, const char *name, slice *out)
{
    const size_t size = strlen(text);
    const size_t prefix = strlen(name);
    if (strncmp(text, name, prefix) != 0 || size < prefix + 3 || text[prefix] != '(' ||
        text[size - 1] != ')') {
        return false;
    }
    *out = (slice){text + prefix + 1, size - prefix - 2};
    return true;
}

static bool read_dim(slice text, int64_t *out)
{
    char *end = NULL;
    const long long value = strtoll(text.data, &end, 10);
    *out = (int64_t)value;
    return end == text.data + text.size && value > INT32_MIN && value < INT32_MAX;
}

tsr_status tsr_end_parse(tsr_context *ctx, const char *text, tsr_end *out)
{
    GUARD(tsr_end_parse);
    tsr_end end = {.dim = TSR_NO_DIM, .partial = TSR_SUM};
    slice argument;
    for (int kind = TSR_R; kind <= TSR_P; kind++) {
        if (strcmp(text, tsr_local_type_name((tsr_local_type)kind)) == 0) {
            end.kind = (tsr_local_type)kind;
        }
    }
    if (argument_of(text, "S", &argument) && read_dim(argument, &end.dim)) {
        end.kind = TSR_V;
    } else if (argument_of(text, "P", &argument) && reduction_find(argument, &end.partial)) {
        end.kind = TSR_P;
    }
    if (end.kind == TSR_UNTYPED) {
        return diag_error(
            ctx, TSR_ERR_SYNTAX, NO_LOCATION,
            "\"%s\" is not a type: write R, I, V, P, P(avg), P(max), P(min) or S(dimension)", text);
    }
    *out = end;
    return TSR_OK;
}

/* ---- DTensor ---- */

/* `"sum"` and `'sum'` as `sum`. */
static slice unquoted(slice s)
{
    const bool quoted =
        s.size >= 2 && (s.data[0] == '"' || s.data[0] == '\'') && s.data[s.size - 1] == s.data[0];
    return quoted ? (slice){s.data + 1, s.size - 2} : s;
}

/* `dim=1` as `1`. */
static slice without_key(slice s)
{
    static const char key[] = "dim=";
    const size_t size = sizeof key - 1;
    return s.size > size && memcmp(s.data, key, size) == 0 ? (slice){s.data + size, s.size - size}
                                                           : s;
}

static tsr_status read_placement(tsr_context *ctx, const char *text, tsr_end *out)
{
    tsr_end end = {.dim = TSR_NO_DIM, .partial = TSR_SUM};
    slice argument;
    if (strcmp(text, "Replicate") == 0 || strcmp(text, "Replicate()") == 0) {
        end.kind = TSR_R;
    } else if (strcmp(text, "Partial") == 0 || strcmp(text, "Partial()") == 0) {
        end.kind = TSR_P;
    } else if (argument_of(text, "Partial", &argument)) {
        argument = unquoted(argument);
        if (!reduction_find(argument, &end.partial) || end.partial != TSR_SUM) {
            return SPMD_ERROR(ctx,
                              "the placement %s has no type along an axis: only a pending sum, "
                              "Partial(sum), has one",
                              text);
        }
        end.kind = TSR_P;
    } else if (argument_of(text, "Shard", &argument) && read_dim(without_key(argument), &end.dim)) {
        end.kind = TSR_V;
    } else {
        return diag_error(ctx, TSR_ERR_SYNTAX, NO_LOCATION,
                          "\"%s\" is not a placement: write Replicate, Shard(dimension) or Partial",
                          text);
    }
    *out = end;
    return TSR_OK;
}

/* Which kinds of gradient a kind of value may have, and what the two are together. */
static const struct {
    tsr_local_type value;
    tsr_local_type gradient; /* untyped: not given */
    tsr_local_type type;
} placement_rows[] = {
    {TSR_R, TSR_UNTYPED, TSR_I}, {TSR_R, TSR_P, TSR_R}, {TSR_R, TSR_R, TSR_I},
    {TSR_P, TSR_UNTYPED, TSR_P}, {TSR_P, TSR_R, TSR_P}, {TSR_V, TSR_UNTYPED, TSR_V},
    {TSR_V, TSR_V, TSR_V},
};

tsr_status tsr_end_of_placement(tsr_context *ctx, const char *placement, const char *gradient,
                                tsr_end *out)
{
    GUARD(tsr_end_of_placement);
    tsr_end value;
    tsr_end dual = {.kind = TSR_UNTYPED};
    TSR_TRY(read_placement(ctx, placement, &value));
    if (gradient != NULL) {
        TSR_TRY(read_placement(ctx, gradient, &dual));
    }
    for (size_t i = 0; i < sizeof placement_rows / sizeof placement_rows[0]; i++) {
        if (placement_rows[i].value == value.kind && placement_rows[i].gradient == dual.kind &&
            (dual.kind != TSR_V || dual.dim == value.dim)) {
            value.kind = placement_rows[i].type;
            *out = value;
            return TSR_OK;
        }
    }
    return SPMD_ERROR(ctx, "the gradient of a value that is %s is never %s", placement, gradient);
}

tsr_status tsr_end_placement(tsr_context *ctx, tsr_arena *arena, tsr_end end, const char **out)
{
    GUARD(tsr_end_placement);
    buffer buf = buffer_new(arena);
    if (end.kind == TSR_R || end.kind == TSR_I) {
        buffer_string(&buf, "Replicate()");
    } else if (end.kind == TSR_V && end.dim != TSR_NO_DIM) {
        buffer_format(&buf, "Shard(%lld)", (long long)end.dim);
    } else if (end.kind == TSR_P && end.partial == TSR_SUM) {
        buffer_string(&buf, "Partial(sum)");
    } else {
        return SPMD_ERROR(ctx, "%s has no DTensor placement: only R, I, S(i) and P have one",
                          spmd_end_text(arena, end));
    }
    return buffer_finish(ctx, &buf, out);
}

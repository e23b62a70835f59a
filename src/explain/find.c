/* Tensors by what a user calls them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "explain/explanation.h"
#include "ir/location.h"

/* A search; the caller's arena is put back after each tensor. */
typedef struct search {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_explanation *e;
    const char *wanted; /* NULL: tensors that have an axis or lack one */
    bool full;
} search;

/* Whether a value is `FILE.py:LINE`; the end of a path is enough. */
static bool is_at_source(const search *s, tsr_ir_value value)
{
    int64_t line = 0;
    int64_t column = 0;
    const char *colon = strrchr(s->wanted, ':');
    const tsr_ir_op op = tsr_ir_value_op(s->e->program, value);
    slice file;
    if (colon == NULL || op == 0 || !op_source(s->e->program, op, &file, &line, &column)) {
        return false;
    }
    const size_t size = (size_t)(colon - s->wanted);
    return strtoll(colon + 1, NULL, 10) == line && size <= file.size &&
           memcmp(file.data + file.size - size, s->wanted, size) == 0;
}

/* Whether a user gave a tensor that name. */
static tsr_status has_user_name(const search *s, tsr_ir_tensor tensor, bool *out)
{
    const char *name = NULL;
    TSR_TRY(tsr_ir_tensor_name(s->ctx, s->arena, s->e->program, tensor, &name));
    *out = name != NULL && strcmp(name, s->wanted) == 0;
    return TSR_OK;
}

static tsr_status matches(const search *s, tsr_ir_tensor tensor, bool *out)
{
    const char *wanted = s->wanted;
    *out = false;
    if (tensor.value == 0) {
        char number[32];
        (void)snprintf(number, sizeof number, "result%zu", tensor.index);
        *out = strcmp(number, wanted) == 0;
        return *out ? TSR_OK : has_user_name(s, tensor, out);
    }
    if (wanted[0] == '%') {
        *out = strcmp(written_value_name(s->e, tensor.value), wanted) == 0;
        return TSR_OK;
    }
    if (wanted[strspn(wanted, "0123456789")] == '\0') {
        const tsr_ir_op op = tsr_ir_value_op(s->e->program, tensor.value);
        const int64_t line = written_line(s->e->program, op);
        *out = line > 0 && line == strtoll(wanted, NULL, 10);
        return TSR_OK;
    }
    *out = is_at_source(s, tensor.value);
    return *out ? TSR_OK : has_user_name(s, tensor, out);
}

static tsr_status is_selected(const search *s, tsr_ir_tensor tensor, bool *out)
{
    if (s->wanted == NULL) {
        *out = tsr_provenance_first(&s->e->why, tensor) != 0 ||
               first_conflict(s->e, tensor, s->full) != 0;
        return TSR_OK;
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(s->arena);
    const tsr_status status = matches(s, tensor, out);
    tsr_arena_reset(s->arena, mark);
    return status;
}

/* The values of the program in order, then the results of its main function. */
static tsr_status run(const search *s, size_t *count, const tsr_ir_tensor **out)
{
    const tsr_program *p = s->e->program;
    const tsr_ir_op main = tsr_program_main(p);
    const size_t num_results = main != 0 ? tsr_ir_func_num_results(p, main) : 0;
    const tsr_ir_value *values = NULL;
    size_t num_values = 0;
    size_t found = 0;
    TSR_TRY(tsr_program_values(s->ctx, s->arena, p, &num_values, &values));
    tsr_ir_tensor *list = ARENA_ARRAY(s->arena, tsr_ir_tensor, num_values + num_results);
    if (list == NULL) {
        return diag_nomem(s->ctx);
    }
    for (size_t i = 0; i < num_values + num_results; i++) {
        const tsr_ir_tensor tensor = i < num_values
                                         ? (tsr_ir_tensor){.value = values[i]}
                                         : (tsr_ir_tensor){.func = main, .index = i - num_values};
        bool selected = false;
        TSR_TRY(is_selected(s, tensor, &selected));
        if (selected) {
            list[found++] = tensor;
        }
    }
    *count = found;
    *out = list;
    return TSR_OK;
}

tsr_status tsr_explanation_find(tsr_context *ctx, tsr_arena *arena,
                                const tsr_explanation *explanation, const char *wanted,
                                size_t *count, const tsr_ir_tensor **out)
{
    GUARD(tsr_explanation_find);
    const search s = {.ctx = ctx, .arena = arena, .e = explanation, .wanted = wanted};
    return run(&s, count, out);
}

tsr_status tsr_explanation_tensors(tsr_context *ctx, tsr_arena *arena,
                                   const tsr_explanation *explanation,
                                   const tsr_explain_style *style, size_t *count,
                                   const tsr_ir_tensor **out)
{
    GUARD(tsr_explanation_tensors);
    const search s = {
        .ctx = ctx, .arena = arena, .e = explanation, .full = style != NULL && style->full};
    return run(&s, count, out);
}

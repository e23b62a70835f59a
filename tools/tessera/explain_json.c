/* What is known of tensors, as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "explain.h"
#include "utf8.h"

static void put_string(const char *key, const char *text)
{
    printf(", \"%s\": ", key);
    write_json_string(stdout, text);
}

static void put_line(const char *key, int64_t line)
{
    if (line > 0) {
        printf(", \"%s\": %" PRId64, key, line);
    } else {
        printf(", \"%s\": null", key);
    }
}

static void put_annotation(const tsr_annotation_words *a)
{
    static const char *const kinds[] = {"argument", "result", "constraint",
                                        "input",    "output", "op"};
    if (a->number == 0) {
        fputs("null", stdout);
        return;
    }
    printf("{\"number\": %" PRIu32 ", \"kind\": \"%s\", \"index\": %zu", a->number, kinds[a->kind],
           a->index);
    put_string("name", a->name);
    put_string("sharding", a->sharding);
    put_line("line", a->line);
    fputs("}", stdout);
}

static void put_op(const char *op, int64_t line)
{
    if (op == NULL) {
        fputs(", \"op\": null, \"line\": null", stdout);
        return;
    }
    put_string("op", op);
    put_line("line", line);
}

static void put_axes(const tsr_tensor_reasons *reasons)
{
    fputs(", \"axes\": [", stdout);
    for (size_t i = 0; i < reasons->num_axes; i++) {
        const tsr_axis_reason *axis = &reasons->axes[i];
        printf("%s\n    {\"dim\": %zu", i > 0 ? "," : "", axis->dim);
        put_string("axis", axis->axis);
        fputs(", \"annotation\": ", stdout);
        put_annotation(&axis->annotation);
        printf(", \"step\": %" PRIu32 "}", axis->step);
    }
    fputs("]", stdout);
}

static void put_side(const char *key, const tsr_conflict_side *side)
{
    printf(", \"%s\": ", key);
    if (side->tensor == NULL) {
        fputs("null", stdout);
        return;
    }
    printf("{\"dim\": %zu", side->dim);
    put_string("value", side->tensor);
    put_string("axis", side->axis);
    fputs(", \"annotation\": ", stdout);
    put_annotation(&side->annotation);
    fputs("}", stdout);
}

static void put_conflict(const tsr_conflict_reason *c)
{
    static const char *const rules[] = {"none",        "annotation", "user-priority",
                                        "op-priority", "larger",     "first"};
    printf("{\"kind\": \"%s\", \"rule\": \"%s\", \"dim\": %zu", tsr_conflict_name(c->kind),
           rules[c->rule], c->dim);
    put_string("axis", c->axis);
    put_op(c->op, c->line);
    put_side("wanted", &c->wanted);
    put_side("winner", &c->winner);
    fputs(", \"annotation\": ", stdout);
    put_annotation(&c->annotation);
    fputs(", \"suggestion\": ", stdout);
    if (c->suggested_tensor == NULL) {
        fputs("null}", stdout);
        return;
    }
    fputs("{\"value\": ", stdout);
    write_json_string(stdout, c->suggested_tensor);
    put_string("sharding", c->suggested_sharding);
    fputs("}}", stdout);
}

static void put_tensor(const tsr_tensor_reasons *reasons, const struct candidate *c, bool first)
{
    printf("%s\n  {\"value\": ", first ? "" : ",");
    write_json_string(stdout, reasons->tensor);
    put_line("line", reasons->line);
    put_string("type", reasons->type);
    put_string("sharding", reasons->sharding);
    if (c->bytes >= 0) {
        printf(", \"bytes_per_device\": %" PRId64, c->bytes);
    } else {
        fputs(", \"bytes_per_device\": null", stdout);
    }
    put_axes(reasons);
    fputs(", \"conflicts\": [", stdout);
    for (size_t i = 0; i < reasons->num_conflicts; i++) {
        fputs(i == 0 ? "\n    " : ",\n    ", stdout);
        put_conflict(&reasons->conflicts[i]);
    }
    fputs("]}", stdout);
}

/* ---- steps, which tensors share ---- */

/* Marks the steps of paths, each once. */
static void mark_steps(const tsr_provenance *why, const tsr_tensor_reasons *reasons, bool *needed)
{
    for (size_t i = 0; i < reasons->num_axes; i++) {
        for (uint32_t step = reasons->axes[i].step; step != 0 && !needed[step];
             step = why->steps[step].from) {
            needed[step] = true;
        }
    }
}

static int put_step(struct explained *e, uint32_t step, bool first)
{
    static const char *const kinds[] = {"annotated", "op", "edge", "return", "group"};
    struct session *s = e->session;
    const tsr_arena_mark mark = tsr_arena_get_mark(s->arena);
    tsr_axis_hop hop;
    const tsr_status status = tsr_explanation_step(s->ctx, s->arena, e->explanation, step, &hop);
    if (status < 0) {
        return session_fail(s, status);
    }
    printf("%s\n  {\"step\": %" PRIu32 ", \"by\": \"%s\", \"dim\": %zu", first ? "" : ",", step,
           kinds[hop.kind], hop.dim);
    put_string("value", hop.tensor);
    put_op(hop.op, hop.line);
    if (hop.from != 0) {
        printf(", \"from\": %" PRIu32 "}", hop.from);
    } else {
        fputs(", \"from\": null}", stdout);
    }
    tsr_arena_reset(s->arena, mark);
    return EXIT_FINE;
}

static int put_steps(struct explained *e, const bool *needed)
{
    const tsr_provenance *why = tsr_explanation_provenance(e->explanation);
    bool first = true;
    int code = EXIT_FINE;
    fputs(",\n\"steps\": [", stdout);
    for (size_t i = 1; i <= why->num_steps && code == EXIT_FINE && !ferror(stdout); i++) {
        if (needed[i]) {
            code = put_step(e, (uint32_t)i, first);
            first = false;
        }
    }
    fputs("\n]", stdout);
    return code;
}

int explain_as_json(struct explained *e, bool full, const struct shown *shown)
{
    struct session *s = e->session;
    const tsr_explain_style style = {.full = full, .no_paths = true};
    const tsr_provenance *why = tsr_explanation_provenance(e->explanation);
    bool *needed = session_alloc(s, why->num_steps + 1, sizeof *needed);
    int code = EXIT_FINE;
    printf(
        "{\"totals\": {\"tensors\": %zu, \"shown\": %zu, \"with_axes\": %zu, \"lacking\": %zu},\n"
        "\"tensors\": [",
        shown->num_found, shown->count, shown->num_with, shown->num_lacking);
    for (size_t i = 0; i < shown->count && code == EXIT_FINE && !ferror(stdout); i++) {
        const struct candidate *c = &shown->list[i];
        const tsr_arena_mark mark = tsr_arena_get_mark(s->arena);
        tsr_tensor_reasons reasons;
        const tsr_status status =
            tsr_explanation_reasons(s->ctx, s->arena, e->explanation, c->tensor, &style, &reasons);
        if (status < 0) {
            return session_fail(s, status);
        }
        put_tensor(&reasons, c, i == 0);
        mark_steps(why, &reasons, needed);
        tsr_arena_reset(s->arena, mark);
    }
    fputs("\n]", stdout);
    code = put_steps(e, needed);
    fputs("}\n", stdout);
    return code;
}

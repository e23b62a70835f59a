/* What is known of one tensor, as JSON. */
#include <inttypes.h>
#include <stdio.h>

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

static void put_path(const tsr_axis_reason *axis)
{
    static const char *const kinds[] = {"annotated", "op", "edge", "return", "group"};
    fputs(", \"path\": [", stdout);
    for (size_t i = 0; i < axis->num_hops; i++) {
        const tsr_axis_hop *hop = &axis->path[i];
        printf("%s{\"by\": \"%s\", \"dim\": %zu", i > 0 ? ", " : "", kinds[hop->kind], hop->dim);
        put_string("value", hop->tensor);
        put_op(hop->op, hop->line);
        fputs("}", stdout);
    }
    fputs("]", stdout);
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
        put_path(axis);
        fputs("}", stdout);
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

void explain_as_json(const tsr_tensor_reasons *reasons, bool first)
{
    printf("%s\n  {\"value\": ", first ? "" : ",");
    write_json_string(stdout, reasons->tensor);
    put_line("line", reasons->line);
    put_string("type", reasons->type);
    put_string("sharding", reasons->sharding);
    put_axes(reasons);
    fputs(", \"conflicts\": [", stdout);
    for (size_t i = 0; i < reasons->num_conflicts; i++) {
        fputs(i == 0 ? "\n    " : ",\n    ", stdout);
        put_conflict(&reasons->conflicts[i]);
    }
    fputs("]}", stdout);
}

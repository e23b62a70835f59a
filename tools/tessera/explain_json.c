/* What is known of one tensor, as JSON. */
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

static void put_annotation(const struct explained *e, uint32_t number)
{
    static const char *const kinds[] = {"argument", "result", "constraint",
                                        "input",    "output", "op"};
    const tsr_annotation *a = &e->why.annotations[number];
    const char *text = "";
    if (number == 0) {
        fputs("null", stdout);
        return;
    }
    if (tsr_sharding_print(e->session->ctx, e->session->arena, a->sharding, TSR_PRINT_BARE, &text) <
        0) {
        text = "?";
    }
    printf("{\"number\": %" PRIu32 ", \"kind\": \"%s\", \"index\": %zu", number, kinds[a->kind],
           a->index);
    put_string("name", annotation_name(e, number));
    put_string("sharding", text);
    put_line("line", annotation_line(e, number));
    fputs("}", stdout);
}

static void put_op(const struct explained *e, tsr_ir_op op)
{
    if (op == 0) {
        fputs(", \"op\": null, \"line\": null", stdout);
        return;
    }
    put_string("op", op_name_of(e, op));
    put_line("line", place_of_op(e->program, op).line);
}

/* The hops from a step back to its annotation, that one last. */
static void put_path(const struct explained *e, uint32_t step)
{
    static const char *const kinds[] = {"annotated", "op", "edge", "return", "group"};
    fputs(", \"path\": [", stdout);
    for (uint32_t i = step; i != 0; i = e->why.steps[i].from) {
        const tsr_axis_step *hop = &e->why.steps[i];
        printf("%s{\"by\": \"%s\", \"dim\": %zu", i != step ? ", " : "", kinds[hop->kind],
               hop->dim);
        put_string("value", tensor_name(e, hop->tensor));
        put_op(e, hop->op);
        fputs("}", stdout);
    }
    fputs("]", stdout);
}

static void put_axes(const struct explained *e, tsr_ir_tensor tensor)
{
    bool first = true;
    fputs(", \"axes\": [", stdout);
    for (uint32_t i = tsr_provenance_first(&e->why, tensor); i != 0; i = e->why.steps[i].next) {
        const tsr_axis_step *step = &e->why.steps[i];
        printf("%s\n    {\"dim\": %zu", first ? "" : ",", step->dim);
        put_string("axis", axis_label(e, i, step->axis));
        fputs(", \"annotation\": ", stdout);
        put_annotation(e, step->annotation);
        put_path(e, i);
        fputs("}", stdout);
        first = false;
    }
    fputs("]", stdout);
}

/* A step as one side of a conflict. */
static void put_side(const struct explained *e, const char *key, uint32_t step)
{
    const tsr_axis_step *s = &e->why.steps[step];
    printf(", \"%s\": ", key);
    if (step == 0) {
        fputs("null", stdout);
        return;
    }
    printf("{\"dim\": %zu", s->dim);
    put_string("value", tensor_name(e, s->tensor));
    put_string("axis", axis_label(e, step, s->axis));
    fputs(", \"annotation\": ", stdout);
    put_annotation(e, s->annotation);
    fputs("}", stdout);
}

static void put_conflict(struct explained *e, const tsr_conflict *c)
{
    static const char *const rules[] = {"none",        "annotation", "user-priority",
                                        "op-priority", "larger",     "first"};
    struct suggestion suggestion;
    printf("{\"kind\": \"%s\", \"rule\": \"%s\", \"dim\": %zu", tsr_conflict_name(c->kind),
           rules[c->rule], c->dim);
    put_string("axis", axis_label(e, c->wanted, c->axis));
    put_op(e, c->op);
    put_side(e, "wanted", c->wanted);
    put_side(e, "winner", c->winner);
    fputs(", \"annotation\": ", stdout);
    put_annotation(e, c->annotation);
    suggestion_for(e, c, &suggestion);
    fputs(", \"suggestion\": ", stdout);
    if (suggestion.tensor == NULL) {
        fputs("null}", stdout);
        return;
    }
    fputs("{\"value\": ", stdout);
    write_json_string(stdout, suggestion.tensor);
    put_string("sharding", suggestion.sharding);
    fputs("}}", stdout);
}

int explain_as_json(struct explained *e, tsr_ir_tensor tensor, bool first)
{
    const char *type = NULL;
    const char *sharding = NULL;
    const tsr_status status = tsr_ir_type_to_text(e->session->ctx, e->session->arena, e->program,
                                                  tsr_ir_tensor_type(e->program, tensor), &type);
    if (status < 0) {
        return session_fail(e->session, status);
    }
    const int code = tensor_sharding_text(e, tensor, &sharding);
    if (code != EXIT_FINE) {
        return code;
    }
    printf("%s\n  {\"value\": ", first ? "" : ",");
    write_json_string(stdout, tensor_name(e, tensor));
    put_line("line", tensor_line(e, tensor));
    put_string("type", type);
    put_string("sharding", sharding);
    put_axes(e, tensor);
    fputs(", \"conflicts\": [", stdout);
    bool first_one = true;
    for (uint32_t i = first_conflict(e, tensor); i != 0; i = next_conflict(e, i)) {
        fputs(first_one ? "\n    " : ",\n    ", stdout);
        put_conflict(e, &e->why.conflicts[i - 1]);
        first_one = false;
    }
    fputs("]}", stdout);
    return EXIT_FINE;
}

/* What is known of one tensor, in words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "explain.h"

/* Hops of a path that are shown at each end, unless all are wanted. */
enum { SHOWN_HOPS = 4, MOST_HOPS = 2 * SHOWN_HOPS + 2 };

/* ` (line 3)`; nothing where there is no line. */
static const char *line_text(const struct explained *e, int64_t line)
{
    return line > 0 ? session_format(e->session, " (line %" PRId64 ")", line) : "";
}

/* The name of an op without its dialect. */
static const char *short_name(const struct explained *e, tsr_ir_op op)
{
    const char *name = op_name_of(e, op);
    const char *dot = strchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

/* How an axis came: `by dot_general (line 4)`. */
static const char *way_text(const struct explained *e, const tsr_axis_step *step)
{
    const char *line = step->op != 0 ? line_text(e, place_of_op(e->program, step->op).line) : "";
    switch (step->kind) {
    case TSR_AXIS_ANNOTATED:
        break;
    case TSR_AXIS_BY_OP:
        return session_format(e->session, "by %s%s", short_name(e, step->op), line);
    case TSR_AXIS_BY_EDGE:
        return session_format(e->session, "around %s%s", short_name(e, step->op), line);
    case TSR_AXIS_BY_RETURN:
        return "by return";
    case TSR_AXIS_BY_GROUP:
        return "by their sharding group";
    }
    return "";
}

/* The steps from the annotation to a step, first to last. */
static size_t path_of(const struct explained *e, uint32_t step, uint32_t **out)
{
    size_t count = 0;
    for (uint32_t i = step; i != 0; i = e->why.steps[i].from) {
        count++;
    }
    *out = session_alloc(e->session, count, sizeof **out);
    size_t at = count;
    for (uint32_t i = step; i != 0; i = e->why.steps[i].from) {
        (*out)[--at] = i;
    }
    return count;
}

static void print_origin(const struct explained *e, uint32_t annotation)
{
    const char *text = "";
    if (annotation != 0 &&
        tsr_sharding_print(e->session->ctx, e->session->arena,
                           e->why.annotations[annotation].sharding, TSR_PRINT_BARE, &text) < 0) {
        text = "?";
    }
    printf("%s%s, annotated %s", annotation_name(e, annotation),
           line_text(e, annotation_line(e, annotation)), text);
}

static void print_path(const struct explained *e, uint32_t step)
{
    uint32_t *path = NULL;
    const size_t count = path_of(e, step, &path);
    for (size_t i = 1; i < count; i++) {
        const tsr_axis_step *hop = &e->why.steps[path[i]];
        if (!e->details && count > MOST_HOPS && i == SHOWN_HOPS) {
            printf("      ... %zu more, all with --full\n", count - 2 * SHOWN_HOPS);
            i = count - SHOWN_HOPS - 1;
            continue;
        }
        printf("      to %s dim %zu, %s\n", tensor_name(e, hop->tensor), hop->dim,
               way_text(e, hop));
    }
}

/* The steps of a dimension. */
static void print_axes(const struct explained *e, tsr_ir_tensor tensor, size_t dim)
{
    for (uint32_t i = tsr_provenance_first(&e->why, tensor); i != 0; i = e->why.steps[i].next) {
        const tsr_axis_step *step = &e->why.steps[i];
        if (step->dim == dim) {
            printf("  dim %zu has %s from ", dim, axis_label(e, i, step->axis));
            print_origin(e, step->annotation);
            fputs("\n", stdout);
            print_path(e, i);
        }
    }
}

/* What kept an axis out. */
static void print_reason(const struct explained *e, const tsr_conflict *c)
{
    const tsr_axis_step *won = &e->why.steps[c->winner];
    switch (c->kind) {
    case TSR_CONFLICT_TAKEN:
        printf("it is on dim %zu already", won->dim);
        break;
    case TSR_CONFLICT_DISAGREE:
        printf("there is %s already", axis_label(e, c->winner, won->axis));
        break;
    case TSR_CONFLICT_UNDECIDED:
        printf("%s wants %s there", tensor_name(e, won->tensor),
               axis_label(e, c->winner, won->axis));
        break;
    case TSR_CONFLICT_CLOSED:
        fputs("the dimension is closed by ", stdout);
        break;
    case TSR_CONFLICT_REPLICATED:
        fputs("it is replicated or pending by ", stdout);
        break;
    case TSR_CONFLICT_RAGGED:
        fputs("the dimension has explicit sizes by ", stdout);
        break;
    case TSR_CONFLICT_SIZES:
        fputs("only elementwise ops and transposes hand explicit sizes on", stdout);
        break;
    case TSR_CONFLICT_INDIVISIBLE:
        fputs("it does not divide what is left of the dimension", stdout);
        break;
    case TSR_CONFLICT_HELD:
        fputs("operands of an elementwise op get no more than its result has", stdout);
        break;
    case TSR_CONFLICT_BLOCKED:
        fputs("the op passes nothing on along this dimension", stdout);
        break;
    case TSR_CONFLICT_MESHES:
        fputs("the tensors of the op are on several meshes", stdout);
        break;
    case TSR_CONFLICT_ANNOTATED:
        break;
    }
    if (c->annotation != 0) {
        print_origin(e, c->annotation);
    }
    if (c->winner != 0) {
        fputs(", from ", stdout);
        print_origin(e, won->annotation);
        if (c->rule != TSR_RULE_NONE && c->kind != TSR_CONFLICT_UNDECIDED) {
            printf("; %s", rule_text(c->rule));
        }
    }
    fputs("\n", stdout);
}

static void print_conflict(struct explained *e, const tsr_conflict *c)
{
    struct suggestion suggestion;
    const tsr_axis_step *wanted = &e->why.steps[c->wanted];
    if (c->kind == TSR_CONFLICT_ANNOTATED) {
        printf("  what %s%s says is not written to it: it is annotated itself\n",
               short_name(e, c->op), line_text(e, place_of_op(e->program, c->op).line));
        return;
    }
    printf("  dim %zu stays without %s", c->dim, axis_label(e, c->wanted, c->axis));
    if (c->wanted != 0) {
        printf(", which %s%s has on %s", short_name(e, c->op),
               line_text(e, place_of_op(e->program, c->op).line), tensor_name(e, wanted->tensor));
    }
    fputs(":\n      ", stdout);
    print_reason(e, c);
    suggestion_for(e, c, &suggestion);
    if (suggestion.tensor != NULL) {
        printf("      to have it there, annotate %s with %s\n", suggestion.tensor,
               suggestion.sharding);
    }
}

int explain_as_text(struct explained *e, tsr_ir_tensor tensor)
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
    printf("%s%s: %s %s\n", tensor_name(e, tensor), line_text(e, tensor_line(e, tensor)), type,
           sharding);
    size_t rank = 0;
    const int64_t *shape = NULL;
    (void)tsr_ir_type_shape(e->program, tsr_ir_tensor_type(e->program, tensor), &rank, &shape);
    for (size_t d = 0; d < rank; d++) {
        print_axes(e, tensor, d);
    }
    for (uint32_t i = first_conflict(e, tensor); i != 0; i = next_conflict(e, i)) {
        print_conflict(e, &e->why.conflicts[i - 1]);
    }
    return EXIT_FINE;
}

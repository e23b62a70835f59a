/* `tessera explain`: which annotation put each axis where it is, and what kept others out. */
#include "explain.h"

#include <argp.h>
#include <stdlib.h>

#include "annotations.h"
#include "arguments.h"
#include "command.h"
#include "tensor_bytes.h"

struct explain_options {
    const char *value; /* NULL: all */
    bool full;
    size_t top; /* of all tensors so many; 0: all */
    bool has_top;
    struct annotations annotations;
};

enum { KEY_FULL = 256, KEY_TOP, DEFAULT_TOP = 20 };

static const struct argp_option option_rows[] = {
    {"until-priority", KEY_UNTIL, "N", 0, UNTIL_HELP, 0},
    {"full", KEY_FULL, NULL, 0, "print whole paths, and ops through which axes do not propagate",
     0},
    {"top", KEY_TOP, "N", 0,
     "without VALUE, show the N tensors with the most bytes per device, tensors that lack an axis "
     "first; 0 for all, in the order of FILE (default: 20, with --json all)",
     0},
    {"json", 'j', NULL, 0, "print JSON", 0},
    ANNOTATION_OPTIONS,
    {0},
};

static const char doc[] =
    "Propagates the shardings of a program and prints why each tensor has its axes: the annotation "
    "each axis comes from, the ops it came through, and what kept other axes out.\vVALUE is a name "
    "of the program (%12, %arg0), a line number of FILE, FILE.py:LINE where the program has "
    "locations, result0 for a result of the main function, or the Python name of an argument or "
    "result. Without VALUE, prints totals, then up to --top tensors that have an axis or lost one "
    "to a conflict. For a dimension that stays replicated because of a conflict, suggests an "
    "annotation that was tested on a copy of the program.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct explain_options *options = state->input;
    if (key == KEY_FULL) {
        options->full = true;
        return 0;
    }
    if (key == KEY_TOP) {
        int64_t top = 0;
        if (!number_parse(argument, &top)) {
            argp_error(state, "--top must be a number from 0 to 2^63-1, got: %s", argument);
        }
        options->top = (size_t)top;
        options->has_top = true;
        return 0;
    }
    if (key == ARGP_KEY_ARG && options->annotations.file != NULL) {
        if (options->value != NULL) {
            argp_error(state, "more than one value given: %s", argument);
        }
        options->value = argument;
        return 0;
    }
    return annotations_parse(&options->annotations, key, argument, state);
}

/* ---- which tensors ---- */

static int by_interest(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;
    if (x->lacks != y->lacks) {
        return x->lacks ? -1 : 1;
    }
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

/* Whether a conflict is about an axis that a tensor lacks, and that something decided. */
static bool is_told(const tsr_conflict *c)
{
    return c->kind != TSR_CONFLICT_BLOCKED && c->kind != TSR_CONFLICT_HELD &&
           c->kind != TSR_CONFLICT_ANNOTATED;
}

/* By value whether it lacks an axis; at 0 whether the result of a function does. */
static bool *find_lacking(struct explained *e)
{
    const tsr_provenance *why = tsr_explanation_provenance(e->explanation);
    bool *lacks = session_alloc(e->session, why->num_first_steps + 1, sizeof *lacks);
    for (size_t i = 0; i < why->num_conflicts; i++) {
        const tsr_conflict *c = &why->conflicts[i];
        lacks[c->tensor.value] = lacks[c->tensor.value] || is_told(c);
    }
    return lacks;
}

static bool result_lacks(struct explained *e, tsr_ir_tensor result)
{
    const tsr_provenance *why = tsr_explanation_provenance(e->explanation);
    for (size_t i = 0; i < why->num_conflicts; i++) {
        const tsr_conflict *c = &why->conflicts[i];
        if (c->tensor.value == 0 && c->tensor.func == result.func &&
            c->tensor.index == result.index && is_told(c)) {
            return true;
        }
    }
    return false;
}

static int describe(struct explained *e, struct candidate *c)
{
    struct session *s = e->session;
    tsr_program *p = tsr_explanation_program(e->explanation);
    const tsr_provenance *why = tsr_explanation_provenance(e->explanation);
    const tsr_sharding *sharding = NULL;
    const tsr_status status = tsr_ir_tensor_sharding(s->ctx, p, c->tensor, &sharding);
    if (status < 0) {
        return session_fail(s, status);
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(s->arena);
    c->has_axis = tsr_provenance_first(why, c->tensor) != 0;
    c->bytes = tensor_bytes(s, p, tsr_ir_tensor_type(p, c->tensor), sharding);
    tsr_arena_reset(s->arena, mark);
    return EXIT_FINE;
}

static int choose(struct explained *e, const struct explain_options *o, struct shown *out)
{
    struct session *s = e->session;
    const tsr_explain_style style = {.full = o->full};
    const tsr_ir_tensor *tensors = NULL;
    size_t count = 0;
    const tsr_status status =
        o->value != NULL
            ? tsr_explanation_find(s->ctx, s->arena, e->explanation, o->value, &count, &tensors)
            : tsr_explanation_tensors(s->ctx, s->arena, e->explanation, &style, &count, &tensors);
    if (status < 0) {
        return session_fail(s, status);
    }
    const bool *lacks = find_lacking(e);
    *out = (struct shown){.count = count, .num_found = count};
    out->list = session_alloc(s, count + 1, sizeof *out->list);
    for (size_t i = 0; i < count; i++) {
        struct candidate *c = &out->list[i];
        *c = (struct candidate){.tensor = tensors[i],
                                .lacks = lacks[tensors[i].value] &&
                                         (tensors[i].value != 0 || result_lacks(e, tensors[i])),
                                .order = i};
        const int code = describe(e, c);
        if (code != EXIT_FINE) {
            return code;
        }
        out->num_with += c->has_axis ? 1 : 0;
        out->num_lacking += c->lacks ? 1 : 0;
    }
    const size_t top = o->has_top ? o->top : o->annotations.json ? 0 : DEFAULT_TOP;
    if (o->value == NULL && top != 0 && count > top) {
        qsort(out->list, count, sizeof *out->list, by_interest);
        out->count = top;
    }
    return EXIT_FINE;
}

/* ---- output ---- */

/* One tensor; what it takes is given back, so that long programs take no more than short ones. */
static int show(struct explained *e, const struct explain_options *o, tsr_ir_tensor tensor)
{
    struct session *s = e->session;
    const tsr_explain_style style = {.full = o->full};
    const tsr_arena_mark mark = tsr_arena_get_mark(s->arena);
    const char *text = NULL;
    const tsr_status status =
        tsr_explanation_text(s->ctx, s->arena, e->explanation, tensor, &style, &text);
    if (status < 0) {
        return session_fail(s, status);
    }
    fputs(text, stdout);
    tsr_arena_reset(s->arena, mark);
    return EXIT_FINE;
}

static void print_totals(const struct shown *shown)
{
    printf("%zu tensors have an axis, %zu lack one that an op requires", shown->num_with,
           shown->num_lacking);
    if (shown->count < shown->num_found) {
        printf("; showing the %zu of %zu with the most bytes per device (--top 0: all)",
               shown->count, shown->num_found);
    }
    putchar('\n');
}

static int show_all(struct explained *e, const struct explain_options *o)
{
    struct shown shown = {0};
    int code = choose(e, o, &shown);
    if (code != EXIT_FINE) {
        return code;
    }
    if (shown.num_found == 0 && o->value != NULL) {
        return complain("%s has no value %s; give a name of the text, a line number, or result0",
                        o->annotations.file, o->value);
    }
    if (o->annotations.json) {
        return explain_as_json(e, o->full, &shown);
    }
    if (shown.num_found == 0) {
        puts("no tensor has an axis: the program has no annotations; give some, such as --mesh "
             "x=2,y=4 --arg 0 \"P('x')\"");
        return EXIT_FINE;
    }
    if (o->value == NULL) {
        print_totals(&shown);
    }
    for (size_t i = 0; i < shown.count && code == EXIT_FINE && !ferror(stdout); i++) {
        code = show(e, o, shown.list[i].tensor);
    }
    return code;
}

const struct argp explain_argp = {
    .options = option_rows, .parser = parse_option, .args_doc = "FILE [VALUE]", .doc = doc};

int explain_run(int argc, char **argv)
{
    struct explain_options options = {0};
    struct session session;
    struct explained e;
    if (argp_parse(&explain_argp, argc, argv, 0, NULL, &options) != 0) {
        return EXIT_BAD_INPUT;
    }
    int code = session_open(&session, COLOUR_AUTO);
    if (code != EXIT_FINE) {
        return code;
    }
    const struct annotations *given = &options.annotations;
    const int64_t until = given->until != NULL ? strtoll(given->until, NULL, 10) : -1;
    code = explained_open(&session, given->file, given, until, &e);
    if (code == EXIT_FINE) {
        code = show_all(&e, &options);
    }
    explained_close(&e);
    session_close(&session);
    annotations_free(&options.annotations);
    return code;
}

/* `tessera explain`: which annotation put each axis where it is, and what kept others out. */
#include "explain.h"

#include <argp.h>
#include <stdlib.h>

#include "annotations.h"
#include "command.h"

struct explain_options {
    const char *value; /* NULL: all */
    bool full;
    struct annotations annotations;
};

enum { KEY_FULL = 256 };

static const struct argp_option option_rows[] = {
    {"until-priority", KEY_UNTIL, "N", 0, UNTIL_HELP, 0},
    {"full", KEY_FULL, NULL, 0, "show whole paths, and ops that pass nothing on", 0},
    {"json", 'j', NULL, 0, "print JSON", 0},
    ANNOTATION_OPTIONS,
    {0},
};

static const char doc[] =
    "Propagates the shardings of a program and says why each tensor got its axes: the annotation "
    "that each came from, the ops it came through, and what kept others out."
    "\vVALUE is a name of the program (%12, %arg0), a line number of FILE, FILE.py:LINE where the "
    "program has locations, result0 for a result of the main function, or the name that an "
    "argument or result has in Python. Without it all tensors are shown that have an axis or lack "
    "one. Where a dimension stays replicated because of a conflict, an annotation that helps is "
    "suggested; it has been tried.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct explain_options *options = state->input;
    if (key == KEY_FULL) {
        options->full = true;
        return 0;
    }
    if (key == ARGP_KEY_ARG && options->annotations.file != NULL) {
        if (options->value != NULL) {
            argp_error(state, "one value only, got also: %s", argument);
        }
        options->value = argument;
        return 0;
    }
    return annotations_parse(&options->annotations, key, argument, state);
}

/* One tensor; what it takes is given back, so that long programs take no more than short ones. */
static int show(struct explained *e, const struct explain_options *o, tsr_ir_tensor tensor,
                bool first)
{
    struct session *s = e->session;
    const tsr_explain_style style = {.full = o->full};
    const tsr_arena_mark mark = tsr_arena_get_mark(s->arena);
    tsr_status status = TSR_OK;
    if (o->annotations.json) {
        tsr_tensor_reasons reasons;
        status =
            tsr_explanation_reasons(s->ctx, s->arena, e->explanation, tensor, &style, &reasons);
        if (status >= 0) {
            explain_as_json(&reasons, first);
        }
    } else {
        const char *text = NULL;
        status = tsr_explanation_text(s->ctx, s->arena, e->explanation, tensor, &style, &text);
        fputs(status >= 0 ? text : "", stdout);
    }
    if (status < 0) {
        return session_fail(s, status);
    }
    tsr_arena_reset(s->arena, mark);
    return EXIT_FINE;
}

static int show_all(struct explained *e, const struct explain_options *o)
{
    struct session *s = e->session;
    const tsr_explain_style style = {.full = o->full};
    const tsr_ir_tensor *tensors = NULL;
    size_t count = 0;
    const tsr_status status =
        o->value != NULL
            ? tsr_explanation_find(s->ctx, s->arena, e->explanation, o->value, &count, &tensors)
            : tsr_explanation_tensors(s->ctx, s->arena, e->explanation, &style, &count, &tensors);
    int code = status < 0 ? session_fail(s, status) : EXIT_FINE;
    fputs(o->annotations.json ? "[" : "", stdout);
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        code = show(e, o, tensors[i], i == 0);
    }
    fputs(o->annotations.json ? "\n]\n" : "", stdout);
    if (code == EXIT_FINE && count == 0 && o->value != NULL) {
        return complain("%s has no value %s: give a name as in the text, a line, or result0",
                        o->annotations.file, o->value);
    }
    if (code == EXIT_FINE && count == 0 && !o->annotations.json) {
        puts("no tensor has an axis: the program has no annotations");
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

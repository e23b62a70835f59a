/* `tessera explain`: which annotation put each axis where it is, and what kept others out. */
#include "explain.h"

#include <argp.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- selection ---- */

/* What is shown, and what was. */
struct showing {
    struct explained *e;
    const struct explain_options *options;
    size_t count;
};

/* Whether a value is `FILE.py:LINE`. */
static bool is_at_source(const struct explained *e, tsr_ir_value value, const char *where)
{
    tsr_source_location source;
    const char *colon = strrchr(where, ':');
    const tsr_ir_op op = tsr_ir_value_op(e->program, value);
    if (colon == NULL || op == 0 ||
        !tsr_ir_op_source(e->session->ctx, e->session->arena, e->program, op, &source)) {
        return false;
    }
    const size_t size = (size_t)(colon - where);
    const size_t length = strlen(source.file);
    return strtoll(colon + 1, NULL, 10) == (long long)source.line && size <= length &&
           memcmp(source.file + length - size, where, size) == 0;
}

/* Whether a tensor has the name that is asked for. */
static bool has_user_name(const struct explained *e, tsr_ir_tensor tensor, const char *wanted)
{
    const char *name = NULL;
    return tsr_ir_tensor_name(e->session->ctx, e->session->arena, e->program, tensor, &name) >= 0 &&
           name != NULL && strcmp(name, wanted) == 0;
}

static bool is_selected(const struct explained *e, tsr_ir_tensor tensor, const char *wanted)
{
    if (wanted == NULL) {
        return tsr_provenance_first(&e->why, tensor) != 0 || first_conflict(e, tensor) != 0;
    }
    if (tensor.value == 0) {
        return has_user_name(e, tensor, wanted) ||
               strcmp(session_format(e->session, "result%zu", tensor.index), wanted) == 0;
    }
    if (wanted[0] == '%') {
        return strcmp(text_name_of(&e->values, e->program, tensor.value), wanted) == 0;
    }
    if (wanted[strspn(wanted, "0123456789")] == '\0') {
        const tsr_ir_op op = tsr_ir_value_op(e->program, tensor.value);
        return op != 0 && place_of_op(e->program, op).line == strtoll(wanted, NULL, 10);
    }
    return is_at_source(e, tensor.value, wanted) || has_user_name(e, tensor, wanted);
}

static int show(struct showing *s, tsr_ir_tensor tensor)
{
    if (!is_selected(s->e, tensor, s->options->value)) {
        return EXIT_FINE;
    }
    const bool first = s->count++ == 0;
    return s->options->annotations.json ? explain_as_json(s->e, tensor, first)
                                        : explain_as_text(s->e, tensor);
}

static int show_value(void *state, tsr_ir_value value)
{
    return show(state, (tsr_ir_tensor){.value = value});
}

static int show_all(struct explained *e, const struct explain_options *o)
{
    struct showing s = {.e = e, .options = o};
    const tsr_ir_op main = main_of(e->program);
    fputs(o->annotations.json ? "[" : "", stdout);
    int code = for_all_values(e->program, show_value, &s);
    for (size_t i = 0; code == EXIT_FINE && main != 0 && i < num_results_of(e->program, main);
         i++) {
        code = show(&s, (tsr_ir_tensor){.func = main, .index = i});
    }
    fputs(o->annotations.json ? "\n]\n" : "", stdout);
    if (code == EXIT_FINE && s.count == 0 && o->value != NULL) {
        return complain("%s has no value %s: give a name as in the text, a line, or result0",
                        o->annotations.file, o->value);
    }
    if (code == EXIT_FINE && s.count == 0 && !o->annotations.json) {
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
        e.details = options.full;
        code = show_all(&e, &options);
    }
    explained_close(&e);
    session_close(&session);
    annotations_free(&options.annotations);
    return code;
}

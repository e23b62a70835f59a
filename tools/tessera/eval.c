/* `tessera eval`: runs a program on one device, with arrays from files or random ones. */
#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/interpret.h>

#include "array_file.h"
#include "command.h"
#include "eval.h"
#include "output.h"
#include "program_input.h"
#include "progress.h"
#include "utf8.h"

struct eval_options {
    const char *file;
    const char **inputs;
    size_t num_inputs;
    const char *output;
    const char *expected;
    bool random;
    uint64_t seed;
    bool json;
    bool stats;
};

enum { KEY_RANDOM = 256, KEY_STATS, KEY_EXPECT };

static const struct argp_option option_rows[] = {
    {"input", 'i', "ARRAYS", 0, "a .npy, .npz or .safetensors file; more may follow it", 0},
    {"output", 'o', "PATH", 0,
     "write the results: to a .npz or .safetensors file, or as .npy files into a folder", 0},
    {"expect", KEY_EXPECT, "ARRAYS", 0,
     "compare the results with a file; exit code 1 when they differ", 0},
    {"random", KEY_RANDOM, "SEED", 0, "random inputs instead of files", 0},
    {"json", 'j', NULL, 0, "print the table of results as JSON", 0},
    {"stats", KEY_STATS, NULL, 0, "print how many ops ran and how much memory they took", 0},
    {0},
};

static const char doc[] =
    "Runs the main function of a program on one device and shows or writes its results."
    "\vInputs that are named in_0, in_1 .. or arg0, arg1 .. go to the arguments of these numbers; "
    "those with the names that arguments have in Python to these; others in the order in which "
    "they are given. Results are out_0, out_1 .. in a folder and, in one file, have the names that "
    "they have in Python, where those differ. Elements of types that NumPy does not have are "
    "stored as unsigned integers of their size. Where no --output is given, a table shows the "
    "results. Exit code 3: the program has an op that cannot be run.";

static error_t add_input(struct eval_options *o, const char *path, struct argp_state *state)
{
    const char **inputs = realloc(o->inputs, (o->num_inputs + 1) * sizeof *inputs);
    if (inputs == NULL) {
        argp_failure(state, EXIT_BAD_INPUT, 0, "out of memory");
        return ARGP_ERR_UNKNOWN;
    }
    o->inputs = inputs;
    o->inputs[o->num_inputs++] = path;
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct eval_options *o = state->input;
    char *end = NULL;
    switch (key) {
    case 'i':
        if (!is_array_file(argument)) {
            argp_error(state, "--input needs a .npy, .npz or .safetensors file, got: %s", argument);
        }
        return add_input(o, argument, state);
    case 'o':
        o->output = argument;
        return 0;
    case KEY_EXPECT:
        o->expected = argument;
        return 0;
    case 'j':
        o->json = true;
        return 0;
    case KEY_STATS:
        o->stats = true;
        return 0;
    case KEY_RANDOM:
        o->random = true;
        o->seed = strtoull(argument, &end, 10);
        if (end == argument || *end != '\0') {
            argp_error(state, "--random needs a number, got: %s", argument);
        }
        return 0;
    case ARGP_KEY_ARG:
        if (is_array_file(argument)) {
            return add_input(o, argument, state);
        }
        if (o->file != NULL) {
            argp_error(state, "one program only, got also: %s", argument);
        }
        o->file = argument;
        return 0;
    case ARGP_KEY_END:
        if (o->file == NULL) {
            argp_error(state, "which file? - is standard input");
        }
        if (o->random && o->num_inputs > 0) {
            argp_error(state, "--random or --input, not both");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- a run ---- */

struct evaluation {
    struct session *session;
    tsr_program *program;
    tsr_ir_op main;
    tsr_interpreter *interpreter;
    size_t num_inputs;
    tsr_view *inputs;
    tsr_outputs *outputs;
    struct named_array *results;
    size_t num_results;
};

static int read_inputs(struct evaluation *e, const struct eval_options *o)
{
    struct named_array *all = NULL;
    size_t count = 0;
    for (size_t i = 0; i < o->num_inputs; i++) {
        struct named_array *some = NULL;
        size_t num_some = 0;
        const int code = arrays_read(e->session, o->inputs[i], &some, &num_some);
        if (code != EXIT_FINE) {
            return code;
        }
        struct named_array *joined = session_alloc(e->session, count + num_some + 1, sizeof *all);
        memcpy(joined, all != NULL ? all : joined, count * sizeof *all);
        memcpy(joined + count, some, num_some * sizeof *all);
        all = joined;
        count += num_some;
    }
    if (count != e->num_inputs) {
        return complain("%s takes %zu inputs, got %zu%s", o->file, e->num_inputs, count,
                        count == 0 ? "; give --input, or --random SEED" : "");
    }
    const char **names = session_alloc(e->session, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        const tsr_ir_tensor argument = {.value = tsr_interpreter_input(e->interpreter, i)};
        const tsr_status status =
            tsr_ir_tensor_name(e->session->ctx, e->session->arena, e->program, argument, &names[i]);
        if (status < 0) {
            return session_fail(e->session, status);
        }
    }
    assign_inputs(e->session, all, count, names, e->inputs);
    return EXIT_FINE;
}

/* The type of an argument as an array without elements. */
static int type_of_input(const struct evaluation *e, size_t i, tsr_view *out)
{
    const tsr_ir_type type =
        tsr_ir_value_type(e->program, tsr_interpreter_input(e->interpreter, i));
    *out = (tsr_view){0};
    if (!tsr_ir_type_shape(e->program, type, &out->rank, &out->shape) ||
        !tsr_ir_type_dtype(e->program, type, &out->dtype)) {
        return complain("argument %zu is no tensor of numbers", i);
    }
    return EXIT_FINE;
}

static int make_inputs(struct evaluation *e, const struct eval_options *o)
{
    e->num_inputs = tsr_interpreter_num_inputs(e->interpreter);
    e->inputs = session_alloc(e->session, e->num_inputs + 1, sizeof *e->inputs);
    if (!o->random) {
        const int code = read_inputs(e, o);
        if (code != EXIT_FINE) {
            return code;
        }
    }
    uint64_t seed = o->seed;
    for (size_t i = 0; i < e->num_inputs; i++) {
        tsr_view type;
        const int code = type_of_input(e, i, &type);
        if (code != EXIT_FINE) {
            return code;
        }
        if (o->random) {
            e->inputs[i] = random_array(e->session, &type, &seed);
        } else {
            read_as(&e->inputs[i], type.dtype);
        }
    }
    return EXIT_FINE;
}

/* Names of results: those of Python where they all differ, else out_0, out_1 .. */
static int name_results(struct evaluation *e, bool by_number)
{
    bool all = !by_number;
    for (size_t i = 0; i < e->num_results; i++) {
        const char *name = NULL;
        const tsr_status status =
            tsr_ir_tensor_name(e->session->ctx, e->session->arena, e->program,
                               (tsr_ir_tensor){.func = e->main, .index = i}, &name);
        if (status < 0) {
            return session_fail(e->session, status);
        }
        all = all && name != NULL && name[0] != '\0';
        e->results[i].name = name;
        for (size_t k = 0; all && k < i; k++) {
            all = strcmp(e->results[k].name, name) != 0;
        }
    }
    for (size_t i = 0; i < e->num_results && !all; i++) {
        e->results[i].name = session_format(e->session, "out_%zu", i);
    }
    return EXIT_FINE;
}

/* Compares the results with the arrays of a file. */
static int compare_with(struct evaluation *e, const char *path)
{
    struct named_array *arrays = NULL;
    size_t count = 0;
    const int code = arrays_read(e->session, path, &arrays, &count);
    if (code != EXIT_FINE) {
        return code;
    }
    if (count != e->num_results) {
        return complain("%s has %zu arrays, the program gives %zu results", path, count,
                        e->num_results);
    }
    const char **names = session_alloc(e->session, count + 1, sizeof *names);
    tsr_view *wanted = session_alloc(e->session, count + 1, sizeof *wanted);
    for (size_t i = 0; i < count; i++) {
        names[i] = e->results[i].name;
    }
    assign_inputs(e->session, arrays, count, names, wanted);
    return compare_arrays(e->results, wanted, count) ? EXIT_FINE : EXIT_CHECK_FAILED;
}

static bool is_one_file(const char *output)
{
    return output == NULL || is_array_file(output);
}

static int run(struct evaluation *e, const struct eval_options *o)
{
    struct session *s = e->session;
    tsr_status status = tsr_interpreter_create(s->ctx, e->program, NULL, &e->interpreter);
    if (status < 0) {
        return session_fail(s, status);
    }
    int code = make_inputs(e, o);
    if (code != EXIT_FINE) {
        return code;
    }
    progress_stage("running");
    status = tsr_interpreter_run(s->ctx, e->interpreter, e->inputs, e->num_inputs, &e->outputs);
    progress_stage(NULL);
    if (status < 0) {
        return session_fail(s, status);
    }
    e->num_results = tsr_outputs_count(e->outputs);
    e->results = session_alloc(s, e->num_results + 1, sizeof *e->results);
    for (size_t i = 0; i < e->num_results; i++) {
        e->results[i].view = tsr_outputs_get(e->outputs, i);
    }
    code = name_results(e, !is_one_file(o->output));
    if (code != EXIT_FINE) {
        return code;
    }
    if (o->output != NULL) {
        code = arrays_write(s, o->output, e->results, e->num_results);
    }
    if (code == EXIT_FINE && o->expected != NULL) {
        code = compare_with(e, o->expected);
    } else if (code == EXIT_FINE && (o->output == NULL || o->json)) {
        print_arrays(e->results, e->num_results, o->json);
    }
    if (code == EXIT_FINE && o->stats) {
        const tsr_interpreter_stats stats = tsr_interpreter_get_stats(e->interpreter);
        fprintf(stderr, "%" PRId64 " ops, at most %" PRId64 " bytes of values at a time\n",
                stats.ops, stats.peak_bytes);
    }
    return code;
}

const struct argp eval_argp = {
    .options = option_rows, .parser = parse_option, .args_doc = "FILE", .doc = doc};

int eval_run(int argc, char **argv)
{
    struct eval_options options = {0};
    struct session session;
    if (argp_parse(&eval_argp, argc, argv, ARGP_IN_ORDER, NULL, &options) != 0) {
        free(options.inputs);
        return EXIT_BAD_INPUT;
    }
    int code = session_open(&session, COLOUR_AUTO);
    if (code == EXIT_FINE) {
        struct evaluation e = {.session = &session};
        code = program_read(&session, options.file, &e.program);
        if (code == EXIT_FINE) {
            e.main = tsr_program_main(e.program);
            code = run(&e, &options);
        }
        tsr_outputs_destroy(e.outputs);
        tsr_interpreter_destroy(e.interpreter);
        tsr_program_destroy(e.program);
        session_close(&session);
    }
    free(options.inputs);
    return code;
}

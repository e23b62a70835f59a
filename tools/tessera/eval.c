/* `tessera eval`: runs a program on one device, with arrays from files or random ones. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tessera/interpret.h>

#include "arguments.h"
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
    const char **ranges; /* of random inputs */
    size_t num_ranges;
    const char *output;
    const char *expected;
    bool random;
    uint64_t seed;
    bool json;
    bool stats;
    int64_t max_ops;
    int64_t max_bytes;
    double timeout; /* seconds; 0: none */
};

enum {
    KEY_RANDOM = 256,
    KEY_RANDOM_RANGE,
    KEY_STATS,
    KEY_EXPECT,
    KEY_MAX_OPS,
    KEY_MAX_BYTES,
    KEY_TIMEOUT
};

static const struct argp_option option_rows[] = {
    {"input", 'i', "ARRAYS", 0,
     ".npy, .npz or .safetensors file, or ARGUMENT=FILE, or ARGUMENT@DEVICE=FILE; repeatable", 0},
    {"output", 'o', "PATH", 0,
     "write the results to an .npz or .safetensors file, or as .npy files to a folder", 0},
    {"expect", KEY_EXPECT, "ARRAYS", 0,
     "compare the results with a file; exit with 1 if they differ", 0},
    {"random", KEY_RANDOM, "SEED", 0,
     "use random inputs instead of files: floats from -1 to 1, integers from 0 to 7", 0},
    {"random-range", KEY_RANDOM_RANGE, "ARGUMENT=LO,HI", 0,
     "with --random, draw an argument from LO to HI, integers below HI", 0},
    {"json", 'j', NULL, 0, "print the table of results as JSON", 0},
    {"stats", KEY_STATS, NULL, 0, "print the number of executed ops and the peak memory", 0},
    {"max-ops", KEY_MAX_OPS, "N", 0, "stop after this number of ops", 0},
    {"max-bytes", KEY_MAX_BYTES, "N", 0, "stop if live values need more bytes", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "stop after this number of seconds", 0},
    {0},
};

static const char doc[] =
    "Runs the main function of a program on one device and shows or writes its results. A program "
    "with collectives outside of manual computations runs on the devices of its module, "
    "mhlo.num_replicas x mhlo.num_partitions, up to 64.\vInputs named in_0, in_1 .. or arg0, arg1 "
    ".. are passed to the arguments with these numbers, inputs with the Python names of arguments "
    "to those arguments, and all others in the order given. ARGUMENT is such a number or name; "
    "ARGUMENT@DEVICE=FILE is the input of one device, an input without a device is for all other "
    "devices. On several devices the name of a result ends in the number of its device, as in "
    "out_0@2. Results are named out_0, out_1 .. in a folder; in one file they have their Python "
    "names if these are distinct. Elements of types that NumPy does not have are stored as "
    "unsigned integers of the same size. Without --output, a table shows the results. Exit code 3: "
    "an op of the program is not supported.";

static error_t add_text(const char ***list, size_t *count, const char *text,
                        struct argp_state *state)
{
    const char **grown = realloc(*list, (*count + 1) * sizeof *grown);
    if (grown == NULL) {
        argp_failure(state, EXIT_BAD_INPUT, 0, "out of memory");
        return ARGP_ERR_UNKNOWN;
    }
    *list = grown;
    grown[(*count)++] = text;
    return 0;
}

/* A limit of at least 1. */
static int64_t parse_limit(const char *name, const char *argument, struct argp_state *state)
{
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(argument, &end, 10);
    if (end == argument || *end != '\0' || errno != 0 || value < 1) {
        argp_error(state, "--%s must be a number from 1 to 2^63-1, got: %s", name, argument);
    }
    return value;
}

static double parse_seconds(const char *argument, struct argp_state *state)
{
    enum { MAX_SECONDS = 1000000000 };
    char *end = NULL;
    const double value = strtod(argument, &end);
    if (end == argument || *end != '\0' || !isfinite(value) || value < 1e-6 ||
        value > MAX_SECONDS) {
        argp_error(state, "--timeout must be 1e-6 to %d seconds, got: %s", MAX_SECONDS, argument);
    }
    return value;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct eval_options *o = state->input;
    switch (key) {
    case 'i':
        if (!is_array_file(argument)) {
            argp_error(state, "--input needs an .npy, .npz or .safetensors file, got: %s",
                       argument);
        }
        return add_text(&o->inputs, &o->num_inputs, argument, state);
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
    case KEY_MAX_OPS:
        o->max_ops = parse_limit("max-ops", argument, state);
        return 0;
    case KEY_MAX_BYTES:
        o->max_bytes = parse_limit("max-bytes", argument, state);
        return 0;
    case KEY_TIMEOUT:
        o->timeout = parse_seconds(argument, state);
        return 0;
    case KEY_RANDOM:
        o->random = true;
        if (!number_parse_unsigned(argument, &o->seed)) {
            argp_error(state, "--random must be a number from 0 to 2^64-1, got: %s", argument);
        }
        return 0;
    case KEY_RANDOM_RANGE:
        return add_text(&o->ranges, &o->num_ranges, argument, state);
    case ARGP_KEY_ARG:
        if (is_array_file(argument)) {
            return add_text(&o->inputs, &o->num_inputs, argument, state);
        }
        if (o->file != NULL) {
            argp_error(state, "more than one program given: %s", argument);
        }
        o->file = argument;
        return 0;
    case ARGP_KEY_END:
        if (o->file == NULL) {
            argp_error(state, "a file is missing; - is standard input");
        }
        if (o->random && o->num_inputs > 0) {
            argp_error(state, "--random and --input exclude each other");
        }
        if (!o->random && o->num_ranges > 0) {
            argp_error(state, "--random-range %s needs --random SEED", o->ranges[0]);
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
    size_t devices;
    size_t num_arguments;
    size_t num_inputs;
    tsr_view *inputs;
    tsr_outputs *outputs;
    struct named_array *results;
    size_t num_results;
};

/* The type of an argument as an array without elements. */
static int type_of_input(const struct evaluation *e, size_t i, tsr_view *out)
{
    const tsr_ir_type type =
        tsr_ir_value_type(e->program, tsr_interpreter_input(e->interpreter, i));
    *out = (tsr_view){0};
    if (!tsr_ir_type_shape(e->program, type, &out->rank, &out->shape) ||
        !tsr_ir_type_dtype(e->program, type, &out->dtype)) {
        return complain("argument %zu is not a tensor of numbers", i);
    }
    return EXIT_FINE;
}

static int get_inputs(struct evaluation *e, const struct eval_options *o, const tsr_view *types)
{
    const char **names = session_alloc(e->session, e->num_arguments + 1, sizeof *names);
    for (size_t i = 0; i < e->num_arguments; i++) {
        const tsr_ir_tensor argument = {.value = tsr_interpreter_input(e->interpreter, i)};
        const tsr_status status =
            tsr_ir_tensor_name(e->session->ctx, e->session->arena, e->program, argument, &names[i]);
        if (status < 0) {
            return session_fail(e->session, status);
        }
    }
    const struct input_request request = {.session = e->session,
                                          .program = o->file,
                                          .devices = e->devices,
                                          .num_arguments = e->num_arguments,
                                          .names = names,
                                          .types = types};
    return o->random ? inputs_draw(&request, o->ranges, o->num_ranges, o->seed, e->inputs)
                     : inputs_read(&request, o->inputs, o->num_inputs, e->inputs);
}

static int make_inputs(struct evaluation *e, const struct eval_options *o)
{
    e->devices = tsr_interpreter_num_devices(e->interpreter);
    e->num_arguments = tsr_interpreter_num_inputs(e->interpreter);
    e->num_inputs = o->random ? e->num_arguments : e->devices * e->num_arguments;
    e->inputs = session_alloc(e->session, e->num_inputs + 1, sizeof *e->inputs);
    tsr_view *types = session_alloc(e->session, e->num_arguments + 1, sizeof *types);
    for (size_t i = 0; i < e->num_arguments; i++) {
        const int code = type_of_input(e, i, &types[i]);
        if (code != EXIT_FINE) {
            return code;
        }
    }
    return get_inputs(e, o, types);
}

/* Names of results: those of Python where they all differ, else out_0, out_1 .. */
static int name_results(struct evaluation *e, bool by_number)
{
    const size_t count = e->num_results / e->devices;
    bool all = !by_number;
    for (size_t i = 0; i < count; i++) {
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
    for (size_t i = 0; i < count && !all; i++) {
        e->results[i].name = session_format(e->session, "out_%zu", i);
    }
    for (size_t i = e->num_results; count > 0 && e->devices > 1 && i-- > 0;) {
        e->results[i].name =
            session_format(e->session, "%s@%zu", e->results[i % count].name, i / count);
    }
    return EXIT_FINE;
}

/* Compares the results with the arrays of a file: with those of each device, or of all. */
static int compare_with(struct evaluation *e, const char *path)
{
    struct named_array *arrays = NULL;
    size_t count = 0;
    const size_t per_device = e->num_results / e->devices;
    int code = arrays_open(e->session, path, &arrays, &count);
    if (code != EXIT_FINE) {
        return code;
    }
    if (count != e->num_results && count != per_device) {
        return complain("%s has %zu arrays, but the program has %zu results", path, count,
                        e->num_results);
    }
    const char **names = session_alloc(e->session, count + 1, sizeof *names);
    size_t *numbers = session_alloc(e->session, count + 1, sizeof *numbers);
    struct named_array **found = session_alloc(e->session, count + 1, sizeof *found);
    tsr_view *wanted = session_alloc(e->session, e->num_results + 1, sizeof *wanted);
    for (size_t i = 0; i < count; i++) {
        names[i] = e->results[i].name;
        numbers[i] = i;
    }
    assign_arrays(arrays, count, numbers, names, found);
    for (size_t i = 0; i < e->num_results && code == EXIT_FINE; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a result is one of some device */
        code = array_load(e->session, found[i % count]);
        wanted[i] = found[i % count]->view;
    }
    if (code != EXIT_FINE) {
        return code;
    }
    return compare_arrays(e->results, wanted, e->num_results) ? EXIT_FINE : EXIT_CHECK_FAILED;
}

static bool is_one_file(const char *output)
{
    return output == NULL || is_array_file(output);
}

/* ---- the time limit ---- */

static void end_late(int signal)
{
    static const char text[] = "tessera: the run exceeded --timeout\n";
    (void)signal;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(EXIT_BAD_INPUT);
}

/* Ends the process after so many seconds of the run. */
static int start_timer(double seconds, timer_t *timer)
{
    const struct sigaction action = {.sa_handler = end_late};
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)seconds,
                     .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)}};
    if (sigaction(SIGALRM, &action, NULL) != 0 || timer_create(CLOCK_MONOTONIC, NULL, timer) != 0) {
        return complain("cannot set a timer: %s", strerror(errno));
    }
    (void)timer_settime(*timer, 0, &when, NULL);
    return EXIT_FINE;
}

static tsr_status run_in_time(struct evaluation *e, double seconds, int *code)
{
    timer_t timer = NULL;
    *code = seconds > 0 ? start_timer(seconds, &timer) : EXIT_FINE;
    if (*code != EXIT_FINE) {
        return TSR_OK;
    }
    const tsr_status status =
        tsr_interpreter_run(e->session->ctx, e->interpreter, e->inputs, e->num_inputs, &e->outputs);
    if (seconds > 0) {
        (void)timer_delete(timer);
    }
    return status;
}

static int run(struct evaluation *e, const struct eval_options *o)
{
    struct session *s = e->session;
    const tsr_interpreter_options limits = {.max_ops = o->max_ops, .max_bytes = o->max_bytes};
    tsr_status status = tsr_interpreter_create(s->ctx, e->program, &limits, &e->interpreter);
    if (status < 0) {
        return session_fail(s, status);
    }
    int code = make_inputs(e, o);
    if (code != EXIT_FINE) {
        return code;
    }
    progress_stage("running");
    status = run_in_time(e, o->timeout, &code);
    progress_stage(NULL);
    if (status < 0 || code != EXIT_FINE) {
        return status < 0 ? session_fail(s, status) : code;
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
        fprintf(stderr, "%" PRId64 " ops, peak %" PRId64 " bytes of live values\n", stats.ops,
                stats.peak_bytes);
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
        free(options.ranges);
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
    free(options.ranges);
    return code;
}

/* `tessera check`: mistakes of SPMD programs, as text, JSON or SARIF. */
#include <argp.h>
#include <string.h>
#include <unistd.h>

#include "check_output.h"
#include "command.h"
#include "program_input.h"

struct check_options {
    const char *file;
    tsr_check_options check;
    void (*print)(const struct check_result *result);
    bool warnings_fail;
    bool rules;
};

enum { KEY_SARIF = 256, KEY_NOTES, KEY_WERROR, KEY_LOCAL, KEY_RULES };

static const struct argp_option option_rows[] = {
    {"json", 'j', NULL, 0, "print the findings as JSON", 0},
    {"sarif", KEY_SARIF, NULL, 0, "print them as SARIF 2.1.0, for code review tools", 0},
    {"notes", KEY_NOTES, NULL, 0, "also report legal code that is probably unintended", 0},
    {"local", KEY_LOCAL, NULL, 0,
     "assume that each device runs the whole program, even without collectives", 0},
    {"werror", KEY_WERROR, NULL, 0, "exit with 1 for warnings too", 0},
    {"rules", KEY_RULES, NULL, 0, "list the rules and exit", 0},
    {0},
};

static const char doc[] =
    "Checks a program, StableHLO with sdy as JAX prints it, for mistakes of SPMD code: inside "
    "shard_map (sdy.manual_computation) and in programs that each device runs.\vFILE may be - for "
    "standard input. Each finding has a location, a reason, the locations it follows from and a "
    "remedy; where the program has locations, also the source line. Exit code: 0 without errors, 1 "
    "with errors, 2 if the program cannot be read.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct check_options *options = state->input;
    switch (key) {
    case 'j':
        options->print = print_findings_json;
        return 0;
    case KEY_SARIF:
        options->print = print_findings_sarif;
        return 0;
    case KEY_NOTES:
        options->check.notes = true;
        return 0;
    case KEY_LOCAL:
        options->check.local = true;
        return 0;
    case KEY_WERROR:
        options->warnings_fail = true;
        return 0;
    case KEY_RULES:
        options->rules = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->file != NULL) {
            argp_error(state, "more than one file given: %s", argument);
        }
        options->file = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->file == NULL && !options->rules) {
            argp_error(state, "a file is missing; - is standard input");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static size_t count_severity(const tsr_findings *findings, tsr_severity severity)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++) {
        count += findings->list[i].rule->severity == severity;
    }
    return count;
}

static void print_summary(size_t num_errors, size_t num_warnings)
{
    if (isatty(STDERR_FILENO) == 1) {
        fflush(stdout);
        fprintf(stderr, "%zu error%s, %zu warning%s\n", num_errors, num_errors == 1 ? "" : "s",
                num_warnings, num_warnings == 1 ? "" : "s");
    }
}

static int check(struct session *session, const struct check_options *o, tsr_program *program)
{
    struct check_result result = {.session = session,
                                  .file = strcmp(o->file, "-") == 0 ? "<stdin>" : o->file,
                                  .program = program,
                                  .colour = terminal_colour(COLOUR_AUTO, stdout)};
    const tsr_status status =
        tsr_check_program(session->ctx, session->arena, program, &o->check, &result.findings);
    if (status < 0) {
        return session_fail(session, status);
    }
    const size_t num_errors = count_severity(&result.findings, TSR_ERROR);
    const size_t num_warnings = count_severity(&result.findings, TSR_WARNING);
    o->print(&result);
    print_summary(num_errors, num_warnings);
    return num_errors > 0 || (o->warnings_fail && num_warnings > 0) ? EXIT_CHECK_FAILED : EXIT_FINE;
}

static int run(struct session *session, const struct check_options *o)
{
    tsr_program *program = NULL;
    int code = program_read(session, o->file, &program);
    if (code == EXIT_FINE) {
        code = check(session, o, program);
        tsr_program_destroy(program);
    }
    return code;
}

const struct argp check_argp = {
    .options = option_rows, .parser = parse_option, .args_doc = "FILE", .doc = doc};

int check_run(int argc, char **argv)
{
    struct check_options options = {.print = print_findings_text};
    struct session session;
    if (argp_parse(&check_argp, argc, argv, 0, NULL, &options) != 0) {
        return EXIT_BAD_INPUT;
    }
    if (options.rules) {
        print_rules();
        return EXIT_FINE;
    }
    int code = session_open(&session, COLOUR_AUTO);
    if (code == EXIT_FINE) {
        code = run(&session, &options);
        session_close(&session);
    }
    return code;
}

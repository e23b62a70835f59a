/* The sub-commands: one row in the table of main.c and one file each. */
#ifndef TOOL_COMMAND_H
#define TOOL_COMMAND_H

#include <argp.h>
#include <stddef.h>

/* Exit codes. */
enum exit_code {
    EXIT_FINE = 0,
    EXIT_CHECK_FAILED = 1, /* a requested check did not hold */
    EXIT_BAD_INPUT = 2,    /* usage, input, output, memory */
    EXIT_NOT_SUPPORTED = 3 /* well formed, but cannot be expressed or done */
};

/*
 * `run` gets the arguments after the name; argv[0] is the name of the command in messages. `argp`
 * has its options, for help, man pages and completions.
 */
struct command {
    const char *name;
    const char *doc;
    int (*run)(int argc, char **argv);
    const struct argp *argp;
};

/*
 * The commands and their options, a line each, for scripts/describe.awk: `command NAME ARGUMENTS
 * DOC`, `option LONG SHORT ARGUMENT DOC` and `text LINE`, tabs between the fields.
 */
void describe_commands(const struct argp *main, const struct command *commands, size_t count);

int algorithms_run(int argc, char **argv);
extern const struct argp algorithms_argp;
int calibrate_run(int argc, char **argv);
extern const struct argp calibrate_argp;
int check_run(int argc, char **argv);
extern const struct argp check_argp;
int diff_run(int argc, char **argv);
extern const struct argp diff_argp;
int eval_run(int argc, char **argv);
extern const struct argp eval_argp;
int explain_run(int argc, char **argv);
extern const struct argp explain_argp;
int plan_run(int argc, char **argv);
extern const struct argp plan_argp;
int propagate_run(int argc, char **argv);
extern const struct argp propagate_argp;
int redistribute_run(int argc, char **argv);
extern const struct argp redistribute_argp;
int rule_run(int argc, char **argv);
extern const struct argp rule_argp;
int show_run(int argc, char **argv);
extern const struct argp show_argp;

#endif

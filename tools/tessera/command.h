/* The sub-commands: one row in the table of main.c and one file each. */
#ifndef TOOL_COMMAND_H
#define TOOL_COMMAND_H

/* Exit codes. */
enum exit_code {
    EXIT_FINE = 0,
    EXIT_CHECK_FAILED = 1, /* a requested check did not hold */
    EXIT_BAD_INPUT = 2,    /* usage, input, output, memory */
    EXIT_NOT_SUPPORTED = 3 /* well formed, but cannot be expressed or done */
};

/* `run` gets the arguments after the name; argv[0] is the name of the command in messages. */
struct command {
    const char *name;
    const char *doc;
    int (*run)(int argc, char **argv);
};

int algorithms_run(int argc, char **argv);
int check_run(int argc, char **argv);
int diff_run(int argc, char **argv);
int eval_run(int argc, char **argv);
int explain_run(int argc, char **argv);
int propagate_run(int argc, char **argv);
int redistribute_run(int argc, char **argv);
int rule_run(int argc, char **argv);
int show_run(int argc, char **argv);

#endif

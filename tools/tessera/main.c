/* The command `tessera`: finds the sub-command and runs it. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tessera/tessera.h>

#include "command.h"
#include "output.h"
#include "session.h"
#include "terminal.h"

static const struct command commands[] = {
    {"algorithms", "list the algorithms of collectives with their costs and the default choice",
     algorithms_run, &algorithms_argp},
    {"calibrate", "measure this machine and write its topology", calibrate_run, &calibrate_argp},
    {"check", "check a program for mistakes of SPMD code", check_run, &check_argp},
    {"diff", "compare the shardings of two versions of a program", diff_run, &diff_argp},
    {"eval", "run a program on one device and print its results", eval_run, &eval_argp},
    {"explain", "explain why each tensor of a program has its axes", explain_run, &explain_argp},
    {"plan", "find the cheapest steps between two layouts on a topology", plan_run, &plan_argp},
    {"propagate", "propagate shardings to every tensor of a program", propagate_run,
     &propagate_argp},
    {"redistribute", "redistribute a tensor between two layouts and measure it", redistribute_run,
     &redistribute_argp},
    {"rule", "print the sharding rule of an op, and propagate through it", rule_run, &rule_argp},
    {"show", "show what each device holds of a tensor, as a table and a picture", show_run,
     &show_argp},
};
static const size_t num_commands = sizeof commands / sizeof commands[0];

enum { KEY_DESCRIBE = 256 };

static const struct argp_option option_rows[] = {
    {"describe", KEY_DESCRIBE, 0, OPTION_HIDDEN, "print the input of man pages and completions", 0},
    {0}};

/* What `tessera` alone says: commands that work as they are. */
static const char first_steps[] =
    "Usage: tessera COMMAND [ARGUMENT...]\n"
    "\n"
    "Try these first:\n"
    "  tessera show --mesh x=2,y=4 --shape 8x16 \"P('x', 'y')\"\n"
    "  tessera redistribute --mesh x=4 --shape 512x512xf32 --from \"P('x')\" --to \"P(None, "
    "'x')\"\n"
    "  tessera rule 'matmul 8x4,4x16' --mesh x=2,y=4 --in \"P('x', None)\" --in \"P(None, 'y')\"\n"
    "\n"
    "`tessera --help' lists all commands, `tessera COMMAND --help' explains one.\n";

/* What the command line said: the arguments from the sub-command on. */
struct invocation {
    const struct command *command;
    int argc;
    char **argv;
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < num_commands; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

/* Ends the command for a name that is not a sub-command. */
static void refuse_command(const struct argp_state *state, const char *name)
{
    char names[512] = "";
    size_t length = 0;
    for (size_t i = 0; i < num_commands && length < sizeof names; i++) {
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "",
                                   commands[i].name);
    }
    argp_error(state, "unknown command '%s'; the commands are %s", name, names);
}

/* The list of sub-commands as help shows it; the caller frees it. NULL without memory. */
static char *list_commands(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    fputs("Commands:\n", out);
    for (size_t i = 0; i < num_commands; i++) {
        fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].doc);
    }
    fputs("\n`tessera COMMAND --help' explains a command.", out);
    return fclose(out) == 0 ? text : NULL;
}

/* Appends the list to the help. argp frees what this returns. */
static char *filter_help(int key, const char *text, void *input)
{
    (void)input;
    if (key == ARGP_KEY_HELP_POST_DOC) {
        return list_commands();
    }
    return text != NULL ? strdup(text) : NULL;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct invocation *invocation = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        invocation->command = find_command(argument);
        if (invocation->command == NULL) {
            refuse_command(state, argument);
            return EINVAL;
        }
        invocation->argc = state->argc - state->next + 1;
        invocation->argv = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case KEY_DESCRIBE:
        describe_commands(state->root_argp, commands, num_commands);
        exit(EXIT_FINE);
    case ARGP_KEY_NO_ARGS:
        fputs(first_steps, stderr);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_version(FILE *out, struct argp_state *state)
{
    (void)state;
    fprintf(out, "tessera %s\n", tsr_version());
}

/* Under mpirun only the first process prints. */
static void hush_other_ranks(void)
{
    if (tsr_launcher_rank() > 0 &&
        (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)) {
        _exit(EXIT_BAD_INPUT);
    }
}

/*
 * Runs at exit, so that help and version are checked too: output that was lost is an error, unless
 * its reader has seen enough, as `head` does.
 */
static void close_stdout(void)
{
    int reason = output_flush();
    if (reason != 0 && reason != EPIPE) {
        complain("cannot write to standard output: %s", strerror(reason));
        _exit(EXIT_BAD_INPUT);
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {.options = option_rows,
                                     .parser = parse_option,
                                     .args_doc = "COMMAND [ARGUMENT...]",
                                     .doc = "Shardings of tensors over meshes of devices.\v",
                                     .help_filter = filter_help};
    static char command_name[64];
    struct invocation invocation = {0};
    signal(SIGPIPE, SIG_IGN);
    hush_other_ranks();
    atexit(close_stdout);
    terminal_init();
    argp_program_version_hook = print_version;
    argp_err_exit_status = EXIT_BAD_INPUT;
    if (tsr_abi_check(TSR_ABI_VERSION) != TSR_OK) {
        complain("the loaded library is version %s, which is incompatible with this command",
                 tsr_version());
        return EXIT_BAD_INPUT;
    }
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &invocation) != 0) {
        return EXIT_BAD_INPUT;
    }
    snprintf(command_name, sizeof command_name, "tessera %s", invocation.command->name);
    invocation.argv[0] = command_name;
    return invocation.command->run(invocation.argc, invocation.argv);
}

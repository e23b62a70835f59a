#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* How an option takes its value. */
typedef enum flag_kind {
    FLAG_BOOL,   /* -x, -x=false */
    FLAG_TEXT,   /* -x=value, -x value */
    FLAG_ACTION, /* -x, -x=value: calls a function */
    FLAG_VALUE,  /* -x=value, -x value: calls a function */
    FLAG_LIST    /* -x: prints and ends */
} flag_kind;

typedef struct flag_row {
    const char *name;
    flag_kind kind;
    const char *value; /* as help shows it, or NULL */
    const char *help;
    size_t offset; /* of a bool or a text in the settings */
    bool (*act)(settings *s, const char *value);
    void (*list)(const pass_table *table);
} flag_row;

static bool set_split(settings *s, const char *value)
{
    s->split = true;
    s->split_marker = value != NULL && value[0] != '\0' ? value : s->split_marker;
    return true;
}

static bool set_verify_diagnostics(settings *s, const char *value)
{
    s->verify_diagnostics = true;
    s->only_expected = value != NULL && strcmp(value, "only-expected") == 0;
    if (value != NULL && !s->only_expected && strcmp(value, "all") != 0) {
        return complain("-verify-diagnostics is all or only-expected, not '%s'", value);
    }
    return true;
}

static bool add_pipeline(settings *s, const char *value)
{
    return pass_list_add_text(&s->passes, value) || complain("%s", s->passes.error);
}

static void print_help(const pass_table *table);
static void print_passes(const pass_table *table);
static void print_dialects(const pass_table *table);
static void print_version(const pass_table *table);
static void print_description(const pass_table *table);

#define FIELD(name) offsetof(settings, name)

static const flag_row flags[] = {
    {"allow-unregistered-dialect", FLAG_BOOL, NULL, "accept ops of unknown dialects",
     FIELD(allow_unregistered), NULL, NULL},
    {"describe", FLAG_LIST, NULL, NULL, 0, NULL, print_description},
    {"help", FLAG_LIST, NULL, "print this help", 0, NULL, print_help},
    {"interpret", FLAG_BOOL, NULL, "run @main and its checks instead of printing", FIELD(interpret),
     NULL, NULL},
    {"list-passes", FLAG_LIST, NULL, "list the passes", 0, NULL, print_passes},
    {"mlir-disable-threading", FLAG_BOOL, NULL, "accepted and ignored: one thread runs all passes",
     FIELD(ignored), NULL, NULL},
    {"mlir-print-debuginfo", FLAG_BOOL, NULL, "print locations", FIELD(locations), NULL, NULL},
    {"mlir-print-ir-after", FLAG_TEXT, "PASS,...", "print the program after these passes",
     FIELD(dump_after), NULL, NULL},
    {"mlir-print-ir-after-all", FLAG_BOOL, NULL, "print the program after each pass, to stderr",
     FIELD(dump_after_all), NULL, NULL},
    {"mlir-print-ir-before", FLAG_TEXT, "PASS,...", "print the program before these passes",
     FIELD(dump_before), NULL, NULL},
    {"mlir-print-ir-before-all", FLAG_BOOL, NULL, "print the program before each pass, to stderr",
     FIELD(dump_before_all), NULL, NULL},
    {"mlir-print-op-generic", FLAG_BOOL, NULL, "print every op in generic form", FIELD(generic),
     NULL, NULL},
    {"mlir-timing", FLAG_BOOL, NULL, "report times on stderr", FIELD(timing), NULL, NULL},
    {"mlir-very-unsafe-disable-verifier-on-parsing", FLAG_BOOL, NULL, "do not verify the input",
     FIELD(unverified_input), NULL, NULL},
    {"o", FLAG_TEXT, "FILE", "write to a file", FIELD(output), NULL, NULL},
    {"output-split-marker", FLAG_TEXT, "TEXT", "the line between outputs", FIELD(output_marker),
     NULL, NULL},
    {"pass-pipeline", FLAG_VALUE, "'builtin.module(...)'", "run a textual pass pipeline", 0,
     add_pipeline, NULL},
    {"probe-output-dir", FLAG_TEXT, "DIR", "accepted and ignored: probes are kept in memory",
     FIELD(probe_directory), NULL, NULL},
    {"show-dialects", FLAG_LIST, NULL, "list the dialects", 0, NULL, print_dialects},
    {"split-input-file", FLAG_ACTION, "[MARKER]", "split the input at `// -----' lines", 0,
     set_split, NULL},
    {"verify-diagnostics", FLAG_ACTION, "[all|only-expected]",
     "check the messages against `// expected-error {{...}}' comments", 0, set_verify_diagnostics,
     NULL},
    {"verify-each", FLAG_BOOL, NULL, "verify after each pass (default: true)", FIELD(verify_each),
     NULL, NULL},
    {"version", FLAG_LIST, NULL, "show the version", 0, NULL, print_version},
};
enum { NUM_FLAGS = sizeof flags / sizeof flags[0] };

static void print_flag(const flag_row *flag)
{
    char head[64];
    const char *value = flag->value != NULL ? flag->value : "";
    const bool optional = value[0] == '[';
    (void)snprintf(head, sizeof head, "  --%s%s%.*s%s", flag->name,
                   optional ? "[=" : (value[0] != '\0' ? "=" : ""),
                   (int)strlen(value) - (optional ? 2 : 0), value + optional, optional ? "]" : "");
    printf("%-50s %s\n", head, flag->help);
}

static void print_passes(const pass_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const tsr_pass *row = &table->rows[i];
        printf("  --%-46s %s\n", row->name, row->help);
        for (size_t k = 0; k < row->num_options; k++) {
            const tsr_pass_option *option = &row->options[k];
            printf("      %-44s %s (default: %s)\n", option->name, option->help,
                   option->default_value);
        }
    }
}

static const char usage[] = "Usage: tessera-opt [OPTION...] [PASS...] [FILE]";
static const char purpose[] =
    "Reads a program (StableHLO with sdy shardings as MLIR text), verifies it, runs passes in\n"
    "the order given and prints it. Without FILE, or with -, reads standard input.\n"
    "Options and passes take one or two dashes; a pass takes options as -PASS=\"a=b c=d\".";

static void print_help(const pass_table *table)
{
    printf("%s\n%s\n\nOptions:\n", usage, purpose);
    for (size_t i = 0; i < NUM_FLAGS; i++) {
        if (flags[i].help != NULL) {
            print_flag(&flags[i]);
        }
    }
    puts(table->count > 0 ? "\nPasses:" : "");
    print_passes(table);
}

static void print_dialects(const pass_table *table)
{
    (void)table;
    puts("Available dialects: arith, builtin, check, chlo, func, interpreter, mhlo, sdy, "
         "stablehlo, tensor");
}

static void print_version(const pass_table *table)
{
    (void)table;
    printf("tessera-opt %s\n", tsr_version());
}

static const flag_row *find_flag(const char *name, size_t size)
{
    for (size_t i = 0; i < NUM_FLAGS; i++) {
        if (strlen(flags[i].name) == size && memcmp(flags[i].name, name, size) == 0) {
            return &flags[i];
        }
    }
    return NULL;
}

static bool unknown_argument(const settings *s, const char *argument, const char *name)
{
    nearest_name nearest = nearest_start(name);
    for (size_t i = 0; i < NUM_FLAGS; i++) {
        nearest_try(&nearest, flags[i].name);
    }
    nearest_try_passes(&nearest, s->passes.table);
    if (nearest.name != NULL) {
        return complain("unknown option or pass '%s'; did you mean '--%s'?", argument,
                        nearest.name);
    }
    return complain("unknown option or pass '%s'; see --help", argument);
}

static bool set_bool(settings *s, const flag_row *flag, const char *value)
{
    const bool on = value == NULL || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    if (!on && strcmp(value, "false") != 0 && strcmp(value, "0") != 0) {
        return complain("--%s is true or false, not '%s'", flag->name, value);
    }
    *(bool *)((char *)s + flag->offset) = on;
    return true;
}

/* The arguments that are left. */
typedef struct arguments {
    int count;
    char **next;
} arguments;

/* The value after the `=`, else the next argument; NULL, reported, when there is none. */
static const char *take_value(const flag_row *flag, const char *value, arguments *left)
{
    if (value != NULL) {
        return value;
    }
    if (left->count == 0) {
        (void)complain("--%s needs a value", flag->name);
        return NULL;
    }
    left->count--;
    return *left->next++;
}

static bool set_text(settings *s, const flag_row *flag, const char *value)
{
    *(const char **)((char *)s + flag->offset) = value;
    return value != NULL;
}

static bool set_flag(settings *s, const flag_row *flag, const char *value, arguments *left)
{
    switch (flag->kind) {
    case FLAG_BOOL:
        return set_bool(s, flag, value);
    case FLAG_TEXT:
        return set_text(s, flag, take_value(flag, value, left));
    case FLAG_VALUE:
        value = take_value(flag, value, left);
        return value != NULL && flag->act(s, value);
    default:
        return flag->act(s, value);
    }
}

/* A pass by name, its options after the `=`. */
static bool add_pass(settings *s, const char *argument, const char *name, size_t size,
                     const char *value)
{
    char *copy = strndup(name, size);
    if (copy == NULL) {
        return complain("out of memory");
    }
    bool added = pass_find(s->passes.table, name, size) != NULL;
    if (!added) {
        (void)unknown_argument(s, argument, copy);
    } else if (!pass_list_add(&s->passes, copy, value)) {
        added = complain("%s", s->passes.error);
    }
    free(copy);
    return added;
}

static bool set_input(settings *s, const char *path)
{
    if (s->input != NULL) {
        return complain("more than one input file: '%s' and '%s'", s->input, path);
    }
    s->input = path;
    return true;
}

static settings_result read_argument(settings *s, const char *argument, arguments *left)
{
    if (argument[0] != '-' || argument[1] == '\0') {
        return set_input(s, argument) ? SETTINGS_RUN : SETTINGS_WRONG;
    }
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    const size_t size = strcspn(name, "=");
    const char *value = name[size] == '=' ? name + size + 1 : NULL;
    const flag_row *flag = find_flag(name, size);
    if (flag != NULL && flag->kind == FLAG_LIST) {
        flag->list(s->passes.table);
        return SETTINGS_DONE;
    }
    const bool set =
        flag != NULL ? set_flag(s, flag, value, left) : add_pass(s, argument, name, size, value);
    return set ? SETTINGS_RUN : SETTINGS_WRONG;
}

settings_result settings_read(int argc, char **argv, const pass_table *table, settings *out)
{
    *out = (settings){.split_marker = "// -----",
                      .output_marker = "// -----",
                      .verify_each = true,
                      .passes = {.table = table}};
    arguments left = {argc - 1, argv + 1};
    while (left.count > 0) {
        const char *argument = *left.next++;
        left.count--;
        const settings_result result = read_argument(out, argument, &left);
        if (result != SETTINGS_RUN) {
            settings_clear(out);
            return result;
        }
    }
    return SETTINGS_RUN;
}

void settings_clear(settings *s)
{
    pass_list_clear(&s->passes);
}

/* What scripts/describe.awk makes documentation from; `tessera --describe' has the same form. */
static void print_description(const pass_table *table)
{
    puts("command\ttessera-opt\t[PASS...] [FILE]\tpasses over programs with shardings");
    for (const char *line = purpose; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        printf("text\t%.*s\n", (int)length, line);
        line += length + (line[length] != '\0');
    }
    for (size_t i = 0; i < NUM_FLAGS; i++) {
        if (flags[i].help != NULL) {
            printf("option\t%s\t\t%s\t%s\n", flags[i].name,
                   flags[i].value != NULL ? flags[i].value : "", flags[i].help);
        }
    }
    for (size_t i = 0; i < table->count; i++) {
        printf("option\t%s\t\t\t%s\n", table->rows[i].name, table->rows[i].help);
    }
}

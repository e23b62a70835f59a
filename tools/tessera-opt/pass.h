/*
 * Passes as the command line knows them: a row each, with rows of options.
 *
 * A row either runs, or is a pipeline: it adds other passes in its place.
 */
#ifndef OPT_PASS_H
#define OPT_PASS_H

#include <tessera/program.h>

typedef enum option_kind { OPTION_BOOL, OPTION_INTEGER, OPTION_TEXT } option_kind;

typedef struct option_row {
    const char *name;
    option_kind kind;
    const char *standard; /* its value unless another is given */
    const char *help;
} option_row;

/* The options of one use of a pass: a value for each row. */
typedef struct pass_options {
    const option_row *rows;
    size_t count;
    char **values; /* NULL: the standard value */
} pass_options;

/* The value of an option, which the row of the pass must have. */
bool options_bool(const pass_options *options, const char *name);
int64_t options_integer(const pass_options *options, const char *name);
const char *options_text(const pass_options *options, const char *name);

struct pass_list;

typedef struct pass_row {
    const char *name;  /* as on the command line: "sdy-close-shardings" */
    const char *title; /* in dumps of the program: "CloseShardingsPass" */
    const char *help;  /* one line */
    const option_row *options;
    size_t num_options;
    /* Runs the pass; NULL for a pipeline. */
    tsr_status (*run)(tsr_context *ctx, tsr_program *program, const pass_options *options);
    /* Adds the passes of a pipeline to a list, by pass_list_add; NULL for a pass. */
    bool (*expand)(struct pass_list *list, const pass_options *options);
} pass_row;

typedef struct pass_table {
    const pass_row *rows;
    size_t count;
} pass_table;

/* The passes of this command. */
extern const pass_table all_passes;

#endif

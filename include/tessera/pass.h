/*
 * Passes: functions that change a program, one row each.
 *
 * Names, options and effects are those of `sdy_opt`. A row is either a pass or a pipeline: a list
 * of other passes with their options.
 */
#ifndef TESSERA_PASS_H
#define TESSERA_PASS_H

#include <tessera/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_option_kind {
    TSR_OPTION_BOOL,
    TSR_OPTION_INTEGER,
    TSR_OPTION_TEXT
} tsr_option_kind;

typedef struct tsr_pass_option {
    const char *name;
    tsr_option_kind kind;
    const char *default_value; /* used when the caller gives none */
    const char *help;
} tsr_pass_option;

/* The value of an option, in the field of its kind. */
typedef struct tsr_option_value {
    bool is_given;  /* false: the default value, whatever the other fields are */
    int64_t number; /* of a bool (0 or 1) or an integer */
    TSR_NULLABLE const char *text;
} tsr_option_value;

/* The options of one use of a pass: a value for each row. */
typedef struct tsr_pass_options {
    TSR_ARRAY(count) const tsr_pass_option *rows;
    size_t count;
    TSR_NULLABLE const tsr_option_value *values; /* `count`; NULL: all have the default value */
} tsr_pass_options;

/* Return the value of an option of the pass; false, 0 or "" if the row does not have the option. */
TSR_API bool tsr_option_bool(const tsr_pass_options *options, const char *name) TSR_MT_SAFE;
TSR_API int64_t tsr_option_integer(const tsr_pass_options *options, const char *name) TSR_MT_SAFE;
TSR_API const char *tsr_option_text(const tsr_pass_options *options, const char *name) TSR_MT_SAFE;

/*
 * Receives the next pass of a pipeline, by name, with its options, which are valid during the call;
 * NULL: all have the default value. Returns false to stop.
 */
typedef bool (*tsr_pipeline_add)(void *state, const char *name, const tsr_pass_options *options);

typedef struct tsr_pass {
    const char *name; /* as on the command line: "sdy-close-shardings" */
    TSR_NULLABLE const char
        *title;       /* in dumps of the program: "CloseShardingsPass"; NULL: the same as name */
    const char *help; /* one line */
    TSR_ARRAY(num_options) const tsr_pass_option *options;
    size_t num_options;
    /* Runs the pass; NULL for a pipeline. After a failure the program can only be destroyed. */
    TSR_NULLABLE tsr_status (*run)(tsr_context *ctx, tsr_program *program,
                                   const tsr_pass_options *options);
    /*
     * Calls `add` for each pass of the pipeline, in order; returns false as soon as `add` does.
     * NULL for a single pass.
     */
    TSR_NULLABLE bool (*expand)(const tsr_pass_options *options, tsr_pipeline_add add, void *state);
} tsr_pass;

/* Returns all passes. */
TSR_API const tsr_pass *tsr_passes(size_t *count) TSR_MT_SAFE;

/* Returns the row of a pass by name, or NULL. */
TSR_API const tsr_pass *tsr_pass_find(const char *name) TSR_MT_SAFE;

/*
 * Runs one pass, or all passes of a pipeline, with its default options if `options` is NULL. Value
 * numbers do not change. Pointers obtained from the program before the call, such as shardings, are
 * invalid after it. Rejects a program in which a function calls itself, and one whose functions,
 * copied for each call, have more than 4,194,304 ops. What a pass establishes for later ones, such
 * as closed shardings, is checked after it; an op that breaks it is an error.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_pass_run(tsr_context *ctx, tsr_program *program, const tsr_pass *pass,
             TSR_NULLABLE const tsr_pass_options *options) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif

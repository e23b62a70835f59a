/* Which passes run, in which order: from names on the command line and from the text of pipelines.
 */
#ifndef OPT_PIPELINE_H
#define OPT_PIPELINE_H

#include "pass.h"

/* A pass that runs, with its options. */
typedef struct pass_use {
    const tsr_pass *row;
    tsr_pass_options options; /* of `values` */
    tsr_option_value *values;
} pass_use;

/* The passes that run. A failure leaves its reason in `error`. */
typedef struct pass_list {
    const pass_table *table;
    pass_use *uses;
    size_t count;
    size_t capacity;
    int depth; /* of pipelines within pipelines */
    char error[512];
} pass_list;

/* Frees what a list holds. */
void pass_list_clear(pass_list *list);

/* The row of a name; NULL when there is none. */
const tsr_pass *pass_find(const pass_table *table, const char *name, size_t size);

/* Adds a pass with options as text, `a=b c=d`; NULL or "" for none. */
bool pass_list_add(pass_list *list, const char *name, const char *options);

/* Adds the passes of a text, `builtin.module(a,func.func(b{x=1}),c)`. */
bool pass_list_add_text(pass_list *list, const char *text);

/* Of some names the one nearest to another; NULL when none is near. */
typedef struct nearest_name {
    const char *wanted;
    const char *name;
    size_t distance;
} nearest_name;
nearest_name nearest_start(const char *wanted);
void nearest_try(nearest_name *nearest, const char *name);
void nearest_try_passes(nearest_name *nearest, const pass_table *table);

#endif

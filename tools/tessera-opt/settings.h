/* What the command line says. */
#ifndef OPT_SETTINGS_H
#define OPT_SETTINGS_H

#include "pipeline.h"

typedef struct settings {
    const char *input;  /* NULL or "-": standard input */
    const char *output; /* NULL or "-": standard output */
    bool split;
    const char *split_marker;
    const char *output_marker;
    bool verify_diagnostics;
    bool only_expected; /* other messages than those expected are fine */
    bool allow_unregistered;
    bool unverified_input;
    bool verify_each;
    bool timing;
    bool locations;
    bool generic;
    const char *probe_directory;
    bool interpret; /* run programs in place of printing them */
    bool dump_before_all;
    bool dump_after_all;
    const char *dump_before; /* names of passes, separated by commas, or NULL */
    const char *dump_after;
    bool ignored; /* what is accepted without effect */
    pass_list passes;
} settings;

/* What to do after reading the command line. */
typedef enum settings_result {
    SETTINGS_RUN,
    SETTINGS_DONE, /* help and the like was printed */
    SETTINGS_WRONG /* reported */
} settings_result;

settings_result settings_read(int argc, char **argv, const pass_table *table, settings *out);
void settings_clear(settings *s);

#endif

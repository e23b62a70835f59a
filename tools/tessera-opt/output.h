/*
 * Where programs are printed: standard output, or a file that exists only after success. A file
 * that exists keeps its permissions, and links lead to it as before; pipes and devices are
 * written in place.
 */
#ifndef OPT_OUTPUT_H
#define OPT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct output {
    const char *path; /* NULL: standard output */
    char *target;     /* the path without links, or NULL */
    char *temporary;  /* renamed to the target at the end, or NULL */
    FILE *file;
} output;

/* Opens; a failure has been reported. */
bool output_open(const char *path, output *out);

/* Closes, and keeps what was written to a file only if `keep`. A failure has been reported. */
bool output_close(output *out, bool keep);

#endif

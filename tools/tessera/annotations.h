/*
 * What commands that propagate take: FILE, `--until-priority`, `--json`, and annotations: `--mesh`,
 * `--arg`, `--result`, `--value`.
 */
#ifndef TOOL_ANNOTATIONS_H
#define TOOL_ANNOTATIONS_H

#include <argp.h>

#include "program_input.h"

struct annotation {
    int key;
    const char *which;
    const char *sharding;
};

/* What the command line says to all of these commands. */
struct annotations {
    const char *file;
    const char *until; /* a number that is not negative; NULL: all priorities */
    bool json;
    const char *mesh; /* NULL: the program's only one */
    struct annotation *list;
    size_t count;
};

enum { KEY_MESH = 512, KEY_ARGUMENT, KEY_RESULT, KEY_VALUE, KEY_UNTIL };

/* Rows of a table of options. */
#define ANNOTATION_OPTIONS                                                                         \
    {"mesh",                                                                                       \
     KEY_MESH,                                                                                     \
     "MESH",                                                                                       \
     0,                                                                                            \
     "mesh of the annotations below, such as x=2,y=4 (default: the mesh in the annotation, or "    \
     "the only mesh of the "                                                                       \
     "program",                                                                                    \
     1},                                                                                           \
        {"arg", KEY_ARGUMENT, "N LAYOUT", 0, "annotate argument N of main", 1},                    \
        {"result", KEY_RESULT, "N LAYOUT", 0, "annotate result N of main", 1},                     \
    {                                                                                              \
        "value", KEY_VALUE, "NAME LAYOUT", 0, "annotate a value by its name in FILE", 1            \
    }

#define UNTIL_HELP "propagate user priorities 0 to N only"

/* Takes an option of these, or the file; ARGP_ERR_UNKNOWN: it is none of them. */
error_t annotations_parse(struct annotations *a, int key, char *argument, struct argp_state *state);
void annotations_free(struct annotations *a);

/* Adds them to a program that was just read. */
int annotations_apply(struct session *session, const struct annotations *a, tsr_program *program);

#endif

/* Random small programs with shardings, for properties of propagation. */
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H

#include "random.h"

enum { MAX_NOTES = 16 };

/* A program whose shardings can be left out one by one. */
typedef struct random_program {
    uint64_t seed;            /* of the text: the same with any shardings left out */
    size_t num_notes;         /* shardings of arguments and constraints */
    bool left_out[MAX_NOTES]; /* arguments lose their sharding; constraints become open */
    bool is_constraint[MAX_NOTES];
} random_program;

/* The text of a program. The arena's; counts the shardings. */
const char *random_program_text(fixture *f, random_program *p);

/* The same text, with a function after main, or before it, that has nothing to do with it. */
const char *random_program_with_stranger(fixture *f, random_program *p, bool before);

#endif

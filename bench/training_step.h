/* Programs that benches read: generated training steps of a transformer, and files. */
#ifndef BENCH_TRAINING_STEP_H
#define BENCH_TRAINING_STEP_H

#include <stddef.h>
#include <stdint.h>

/* Programs of more bytes are run fewer times. */
enum { MANY_BYTES = 50000000 };

/* The text of a program, allocated by malloc. */
typedef struct program_text {
    char *data;
    size_t size;
    size_t room;
    int64_t num_values;
    int64_t num_ops;
} program_text;

/* A training step of at least so many ops, with shardings on inputs and weights only. */
program_text training_step(int64_t wanted);

/* The text of a file. */
program_text read_program_text(const char *path);

#endif

/* `tessera eval`: arrays as inputs, and shown. */
#ifndef TOOL_EVAL_H
#define TOOL_EVAL_H

#include "array_file.h"

/* What a function takes. */
struct input_request {
    struct session *session;
    const char *program; /* for messages */
    size_t devices;
    size_t num_arguments;
    const char *const *names; /* of arguments; NULL: it has none */
    const tsr_view *types;    /* of arguments, without elements */
};

/*
 * Reads the inputs that the texts of --input name, device by device: `ARGUMENT@DEVICE=FILE`,
 * `ARGUMENT=FILE` for all other devices, and files whose arrays go to the arguments that are left.
 * Elements are read only when all arrays have the types that are wanted.
 */
int inputs_read(const struct input_request *request, const char *const *texts, size_t num_texts,
                tsr_view *out);

/* Gives arrays to places: by the names of places (NULL for none), by the numbers of places at the
 * end of the names of arrays, or in order. */
void assign_arrays(struct named_array *arrays, size_t count, const size_t *numbers,
                   const char *const *names, struct named_array **out);

/*
 * Draws an input for each argument: floats from -1 to 1, integers from 0 to 7, or what the texts of
 * --random-range say, `ARGUMENT=LO,HI`.
 */
int inputs_draw(const struct input_request *request, const char *const *ranges, size_t num_ranges,
                uint64_t seed, tsr_view *out);

/* The argument of a number or a name; SIZE_MAX: none. */
size_t find_argument(const struct input_request *r, const char *text, size_t size);

/* The type of an array as programs write it. */
const char *view_type_text(struct session *session, const tsr_view *view);

/* Takes elements that were stored as unsigned integers for what they are. */
void read_as(tsr_view *view, tsr_dtype dtype);

/* Compares results with what is expected of them, and prints how far they are off; whether all are
 * within rounding: 1e-5 of the largest element of f32, 1e-12 of f64, 2e-2 of halves. */
bool compare_arrays(const struct named_array *results, const tsr_view *wanted, size_t count);

/* A table of arrays: names, types, the first elements. */
void print_arrays(const struct named_array *arrays, size_t count, bool json);

#endif

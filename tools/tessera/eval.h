/* `tessera eval`: arrays as inputs, and shown. */
#ifndef TOOL_EVAL_H
#define TOOL_EVAL_H

#include "array_file.h"

/* Gives each argument its array: by numbers in their names, by the names of arguments (NULL for
 * none), or in order. */
void assign_inputs(struct session *session, const struct named_array *arrays, size_t count,
                   const char *const *names, tsr_view *out);

/* An array of a type with random elements: floats from -1 to 1, integers from 0 to 7. */
tsr_view random_array(struct session *session, const tsr_view *type, uint64_t *seed);

/* Takes elements that were stored as unsigned integers for what they are. */
void read_as(tsr_view *view, tsr_dtype dtype);

/* Compares results with what is expected of them, and prints how far they are off; whether all are
 * within rounding: 1e-5 of the largest element of f32, 1e-12 of f64, 2e-2 of halves. */
bool compare_arrays(const struct named_array *results, const tsr_view *wanted, size_t count);

/* A table of arrays: names, types, the first elements. */
void print_arrays(const struct named_array *arrays, size_t count, bool json);

#endif

/* Values of options: shapes, ranges. */
#ifndef TOOL_ARGUMENTS_H
#define TOOL_ARGUMENTS_H

#include "session.h"

/* What help says of `--topology NAME|FILE`. */
#define TOPOLOGY_HELP                                                                              \
    "threads, host, gpu-pod, ethernet, or a JSON file, as tessera calibrate writes one"

/* tsr_shape_parse. NULL on success, else the error; allocated in the arena. */
const char *shape_parse(struct session *session, const char *argument, tsr_shape *out);

/* Reads a whole text of digits, as a number that is not negative; false when it does not fit. */
bool number_parse(const char *text, int64_t *out);
bool number_parse_unsigned(const char *text, uint64_t *out);

/* The same with a suffix K, M or G, powers of 1024. */
bool bytes_parse(const char *text, int64_t *out);

/* Reads `A:B`, half open, within 0 .. limit; either side may be left out. */
int range_read(const char *argument, int64_t limit, int64_t *first, int64_t *end);

#endif

/* Standard output whose failures are detected, and files written whole or not at all. */
#ifndef TOOL_OUTPUT_H
#define TOOL_OUTPUT_H

#include <stddef.h>

/* Flushes standard output. 0, or the error number of the first failure since the start. */
int output_flush(void);

/*
 * Writes bytes to a file; `-` is standard output. A file is written under a temporary name and then
 * renamed, so that an existing file stays when this fails, and no part of a new one is left. What
 * is not a plain file is written directly. Returns an exit code; a failure has been reported.
 */
int output_write(const char *path, const char *data, size_t size);

#endif

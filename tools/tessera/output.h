/* Standard output that is not lost unnoticed, and files written whole or not at all. */
#ifndef TOOL_OUTPUT_H
#define TOOL_OUTPUT_H

#include <stddef.h>

/* Flushes standard output. 0, or the error number of the first failure since the start. */
int output_flush(void);

/*
 * Writes bytes to a file; `-` is standard output. A file is written beside and then renamed, so
 * that one that was there stays when this fails, and no part of a new one is left behind. What is
 * not a plain file is written to as it is. An exit code; the failure has been said.
 */
int output_write(const char *path, const char *data, size_t size);

#endif

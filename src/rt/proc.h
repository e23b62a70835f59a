/* What the system says in small files. */
#ifndef RT_PROC_H
#define RT_PROC_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the start of a file as a text, which is "" when that fails. Whether it could be read. */
bool proc_read(const char *path, char *text, size_t size);

/* Whether the system has stopped a process. */
bool proc_is_stopped(int pid);

/*
 * The memory, in bytes, that the kernel estimates to be available without swapping; unlimited, when
 * it gives no estimate.
 */
size_t proc_available_bytes(void);

#endif

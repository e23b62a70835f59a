#include "rt/proc.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool proc_read(const char *path, char *text, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0) {
        (void)close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    return length >= 0;
}

/* The state follows the name, which may contain anything. */
bool proc_is_stopped(int pid)
{
    char path[64];
    char text[256];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    (void)proc_read(path, text, sizeof text);
    const char *name_end = strrchr(text, ')');
    return name_end != NULL &&
           (strncmp(name_end, ") T", 3) == 0 || strncmp(name_end, ") t", 3) == 0);
}

size_t proc_available_bytes(void)
{
    static const char name[] = "MemAvailable:";
    char text[4096];
    (void)proc_read("/proc/meminfo", text, sizeof text);
    const char *line = strstr(text, name);
    return line != NULL ? (size_t)strtoull(line + strlen(name), NULL, 10) << 10 : SIZE_MAX;
}

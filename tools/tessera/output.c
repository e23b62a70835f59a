#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "session.h"

/* Why an earlier write failed: the pipe has lost its reader, or EIO for an unknown reason. */
static int reason_of_loss(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0 ? EPIPE : EIO;
}

int output_flush(void)
{
    static int first_failure = 0;
    bool failed = ferror(stdout) != 0;
    errno = 0;
    failed = fflush(stdout) != 0 || failed;
    if (failed && first_failure == 0) {
        first_failure = errno != 0 ? errno : reason_of_loss();
    }
    return first_failure;
}

static int refuse(const char *path)
{
    return complain("cannot write %s: %s", path, strerror(errno));
}

/* Writes all bytes; false with errno set when that fails. */
static bool write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t count = write(file, data, size);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        if (count > 0) {
            data += count;
            size -= (size_t)count;
        }
    }
    return true;
}

/* A device or a pipe: nothing to rename. */
static int write_in_place(const char *path, const char *data, size_t size)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return refuse(path);
    }
    bool written = write_all(file, data, size);
    int saved = errno;
    bool closed = close(file) == 0;
    errno = written ? errno : saved;
    return written && closed ? EXIT_FINE : refuse(path);
}

/* The permissions of a file that replaces another, or of a new one. */
static mode_t permissions(const struct stat *old)
{
    if (old != NULL) {
        return old->st_mode & 07777;
    }
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Fills a temporary file and renames it to `path`; the temporary file is removed in any case. */
static int write_beside(const char *path, const struct stat *old, const char *data, size_t size)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
        return complain("out of memory");
    }
    int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) {
        free(temporary);
        return refuse(path);
    }
    bool good = write_all(file, data, size) && fchmod(file, permissions(old)) == 0;
    good = close(file) == 0 && good;
    good = good && rename(temporary, path) == 0;
    int code = good ? EXIT_FINE : refuse(path);
    if (!good) {
        unlink(temporary);
    }
    free(temporary);
    return code;
}

int output_write(const char *path, const char *data, size_t size)
{
    struct stat old;
    if (strcmp(path, "-") == 0) {
        fwrite(data, 1, size, stdout);
        return EXIT_FINE;
    }
    if (stat(path, &old) != 0) {
        return write_beside(path, NULL, data, size);
    }
    if (!S_ISREG(old.st_mode)) {
        return write_in_place(path, data, size);
    }
    char *real = realpath(path, NULL);
    if (real == NULL) {
        return refuse(path);
    }
    int code = write_beside(real, &old, data, size);
    free(real);
    return code;
}

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

static bool refuse(const char *path)
{
    return complain("cannot write '%s': %s", path, strerror(errno));
}

/* The permissions of a file that replaces another, or of a new one. */
static mode_t permissions(const struct stat *old)
{
    if (old != NULL) {
        return old->st_mode & 07777;
    }
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* A file beside the one that is written, which it replaces at the end. */
static bool open_beside(output *out, const struct stat *old)
{
    out->target = old != NULL ? realpath(out->path, NULL) : strdup(out->path);
    if (out->target == NULL) {
        return refuse(out->path);
    }
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.XXXXXX", out->target) < 0) {
        return complain("out of memory");
    }
    const int file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) {
        free(temporary);
        return refuse(out->path);
    }
    out->temporary = temporary;
    out->file = fdopen(file, "w");
    return (out->file != NULL && fchmod(file, permissions(old)) == 0) || refuse(out->path);
}

bool output_open(const char *path, output *out)
{
    *out = (output){.path = path != NULL && strcmp(path, "-") != 0 ? path : NULL};
    if (out->path == NULL) {
        out->file = stdout;
        return true;
    }
    struct stat facts;
    const bool exists = stat(out->path, &facts) == 0;
    if (exists && !S_ISREG(facts.st_mode)) {
        out->file = fopen(out->path, "w");
        return out->file != NULL || refuse(out->path);
    }
    return open_beside(out, exists ? &facts : NULL);
}

bool output_close(output *out, bool keep)
{
    bool good = out->file != NULL && ferror(out->file) == 0;
    if (out->file != NULL) {
        good = (out->file == stdout ? fflush(stdout) : fclose(out->file)) == 0 && good;
    }
    if (out->file != NULL && !good) {
        (void)refuse(out->path != NULL ? out->path : "standard output");
    }
    if (out->temporary != NULL) {
        if (good && keep && rename(out->temporary, out->target) != 0) {
            good = refuse(out->path);
        }
        if (!good || !keep) {
            unlink(out->temporary);
        }
    }
    free(out->temporary);
    free(out->target);
    *out = (output){0};
    return good;
}

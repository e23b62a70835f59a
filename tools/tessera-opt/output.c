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

/* A pipe or a device is written in place. */
static bool is_special(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

/* The permissions that a new file gets. */
static mode_t new_permissions(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* A file beside the path, which replaces it at the end. */
static bool open_beside(output *out)
{
    if (asprintf(&out->temporary, "%s.XXXXXX", out->path) < 0) {
        out->temporary = NULL;
        return complain("out of memory");
    }
    const int file = mkostemp(out->temporary, O_CLOEXEC);
    if (file < 0) {
        return refuse(out->path);
    }
    out->file = fdopen(file, "w");
    return (out->file != NULL && fchmod(file, new_permissions()) == 0) || refuse(out->path);
}

bool output_open(const char *path, output *out)
{
    *out = (output){.path = path != NULL && strcmp(path, "-") != 0 ? path : NULL};
    if (out->path == NULL) {
        out->file = stdout;
        return true;
    }
    if (is_special(out->path)) {
        out->file = fopen(out->path, "w");
        return out->file != NULL || refuse(out->path);
    }
    return open_beside(out);
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
        if (good && keep && rename(out->temporary, out->path) != 0) {
            good = refuse(out->path);
        } else if (!good || !keep) {
            unlink(out->temporary);
        }
    }
    free(out->temporary);
    *out = (output){0};
    return good;
}

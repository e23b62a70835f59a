#include "program_input.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "command.h"
#include "progress.h"

/* Bytes that grow; `data` NULL: memory ran out. */
struct bytes {
    char *data;
    size_t size;
    size_t room;
};

/* Makes room for more. */
static bool bytes_grow(struct bytes *b)
{
    if (b->data != NULL && b->size < b->room) {
        return true;
    }
    b->room = b->room > 0 ? 2 * b->room : 1 << 16;
    char *grown = realloc(b->data, b->room);
    if (grown == NULL) {
        free(b->data);
    }
    b->data = grown;
    return grown != NULL;
}

/* All that a file has, whatever kind of file it is. */
static bool read_all(FILE *file, struct bytes *out)
{
    size_t got = 1;
    *out = (struct bytes){0};
    while (got > 0 && bytes_grow(out)) {
        got = fread(out->data + out->size, 1, out->room - out->size, file);
        out->size += got;
    }
    return out->data != NULL && !ferror(file);
}

static bool is_gzip(const struct bytes *b)
{
    return b->size >= 2 && (unsigned char)b->data[0] == 0x1f && (unsigned char)b->data[1] == 0x8b;
}

/* The members of a gzip file, one after the other; what is wrong, or NULL. */
static const char *inflate_all(const struct bytes *from, struct bytes *out)
{
    enum { GZIP = 16 + MAX_WBITS };
    z_stream z = {.next_in = (Bytef *)(uintptr_t)from->data};
    size_t left = from->size;
    int status = inflateInit2(&z, GZIP);
    *out = (struct bytes){0};
    while (status == Z_OK && bytes_grow(out)) {
        const size_t room = out->room - out->size;
        const uInt in = left < UINT_MAX ? (uInt)left : UINT_MAX;
        z.avail_in = in;
        z.next_out = (Bytef *)out->data + out->size;
        z.avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
        const uInt space = z.avail_out;
        status = inflate(&z, Z_NO_FLUSH);
        left -= in - z.avail_in;
        out->size += space - z.avail_out;
        if (status == Z_STREAM_END && left > 0) {
            status = inflateReset(&z);
        }
    }
    inflateEnd(&z);
    if (out->data == NULL || status == Z_MEM_ERROR) {
        return "out of memory";
    }
    return status == Z_STREAM_END  ? NULL
           : status == Z_BUF_ERROR ? "the gzip file is truncated"
                                   : "the gzip file is damaged";
}

/* Reads a stream, compressed or not, into the arena. */
static int read_stream(struct session *session, FILE *file, const char *name, tsr_text *out)
{
    struct bytes bytes;
    struct bytes plain = {0};
    if (!read_all(file, &bytes)) {
        free(bytes.data);
        return complain("cannot read %s: %s", name, errno != 0 ? strerror(errno) : "out of memory");
    }
    const bool compressed = is_gzip(&bytes);
    const char *wrong = compressed ? inflate_all(&bytes, &plain) : NULL;
    const struct bytes *text = compressed ? &plain : &bytes;
    if (wrong == NULL) {
        char *copy = session_alloc(session, text->size + 1, 1);
        memcpy(copy, text->data, text->size);
        *out = (tsr_text){.name = name, .data = copy, .size = text->size};
    }
    free(bytes.data);
    free(plain.data);
    return wrong == NULL ? EXIT_FINE : complain("cannot read %s: %s", name, wrong);
}

/* Whether a file is to be read as a stream: what cannot be mapped, and what is compressed. */
static bool is_stream(const char *path)
{
    struct stat facts;
    unsigned char head[2] = {0};
    FILE *file = stat(path, &facts) == 0 && S_ISREG(facts.st_mode) ? fopen(path, "rb") : NULL;
    if (file == NULL) {
        return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
    }
    const bool compressed = fread(head, 1, 2, file) == 2 && head[0] == 0x1f && head[1] == 0x8b;
    fclose(file);
    return compressed;
}

int program_read(struct session *session, const char *file, tsr_program **out)
{
    tsr_text text;
    tsr_status status = TSR_OK;
    const bool standard = strcmp(file, "-") == 0;
    progress_stage(session_format(session, "reading %s", file));
    if (!standard && !is_stream(file)) {
        status = tsr_program_load(session->ctx, file, TSR_PROGRAM_ALLOW_UNREGISTERED, out);
        return status < 0 ? session_fail(session, status) : EXIT_FINE;
    }
    FILE *stream = standard ? stdin : fopen(file, "rb");
    if (stream == NULL) {
        return complain("cannot read %s: %s", file, strerror(errno));
    }
    errno = 0;
    const int code = read_stream(session, stream, standard ? "<stdin>" : file, &text);
    if (!standard) {
        fclose(stream);
    }
    if (code != EXIT_FINE) {
        return code;
    }
    status = tsr_program_read(session->ctx, &text, TSR_PROGRAM_ALLOW_UNREGISTERED, out);
    return status < 0 ? session_fail(session, status) : EXIT_FINE;
}

void print_warnings(struct session *session)
{
    for (const tsr_diagnostic *d = tsr_context_diagnostics(session->ctx); d != NULL; d = d->next) {
        const char *text = NULL;
        if (d->severity == TSR_WARNING && tsr_diagnostic_format(session->ctx, session->arena, d,
                                                                session->colour, &text) == TSR_OK) {
            fputs(text, stderr);
        }
    }
}

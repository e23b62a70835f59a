/* `.npz`: a zip archive of `.npy` files, stored or deflated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include <tessera/npy.h>

#include "array_file.h"
#include "command.h"
#include "output.h"

enum {
    LOCAL = 0x04034b50,
    ENTRY = 0x02014b50,
    END = 0x06054b50,
    END64 = 0x06064b50,
    LOCATOR64 = 0x07064b50,
    LOCAL_SIZE = 30,
    ENTRY_SIZE = 46,
    END_SIZE = 22,
    LOCATOR64_SIZE = 20,
    END64_SIZE = 56,
    MAX_COMMENT = 0xffff,
    CHUNK = 1 << 18
};

static uint64_t number_at(const char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = count; i-- > 0;) {
        value = value << 8 | (unsigned char)bytes[i];
    }
    return value;
}

/* ---- reading ---- */

struct file_bytes {
    const char *data;
    size_t size;
};

/* One file of the archive. */
struct entry {
    struct file_bytes name;
    uint64_t method;
    uint64_t packed;
    uint64_t size;
    uint64_t at; /* of its local header */
};

static int broken(const char *path, const char *why)
{
    return complain("%s is not an .npz file: %s", path, why);
}

/* The list of files at the end of an archive. */
struct directory {
    uint64_t at;
    uint64_t size;
    uint64_t count;
};

/* Finds the directory by the last bytes of a file. */
static int find_directory(const struct array_file *file, struct file_bytes f, struct directory *out)
{
    for (size_t i = f.size < END_SIZE ? 0 : f.size - END_SIZE + 1; i-- > 0;) {
        if (number_at(f.data + i, 4) != END) {
            continue;
        }
        *out = (struct directory){.at = number_at(f.data + i + 16, 4),
                                  .size = number_at(f.data + i + 12, 4),
                                  .count = number_at(f.data + i + 10, 2)};
        if (i >= LOCATOR64_SIZE && number_at(f.data + i - LOCATOR64_SIZE, 4) == LOCATOR64) {
            char end64[END64_SIZE];
            const uint64_t end = number_at(f.data + i - LOCATOR64_SIZE + 8, 8);
            if (file->size < END64_SIZE || end > file->size - END64_SIZE) {
                break;
            }
            const int code = file_read(file, end, end64, END64_SIZE);
            if (code != EXIT_FINE) {
                return code;
            }
            if (number_at(end64, 4) != END64) {
                break;
            }
            *out = (struct directory){.at = number_at(end64 + 48, 8),
                                      .size = number_at(end64 + 40, 8),
                                      .count = number_at(end64 + 32, 8)};
        }
        if (out->at > file->size || out->size > file->size - out->at ||
            out->count > out->size / ENTRY_SIZE) {
            break;
        }
        return EXIT_FINE;
    }
    return broken(file->path, "it has no directory of files");
}

/* Sizes of 64 bits are in the extra field, those that the entry has no room for. */
static void read_extra(const char *extra, size_t size, struct entry *e)
{
    uint64_t *const wide[] = {&e->size, &e->packed, &e->at};
    for (size_t i = 0; i + 4 <= size;) {
        const size_t length = number_at(extra + i + 2, 2);
        size_t at = i + 4;
        const size_t end = at + length <= size ? at + length : size;
        for (size_t k = 0; number_at(extra + i, 2) == 1 && k < 3; k++) {
            if (*wide[k] == UINT32_MAX && at + 8 <= end) {
                *wide[k] = number_at(extra + at, 8);
                at += 8;
            }
        }
        i += 4 + length;
    }
}

/* The entry at an offset, which moves to the next; false: it is broken. */
static bool read_entry(struct file_bytes f, uint64_t *at, struct entry *out)
{
    if (*at > f.size || f.size - *at < ENTRY_SIZE || number_at(f.data + *at, 4) != ENTRY) {
        return false;
    }
    const char *e = f.data + *at;
    const size_t name = number_at(e + 28, 2);
    const size_t extra = number_at(e + 30, 2);
    const size_t comment = number_at(e + 32, 2);
    if (f.size - *at - ENTRY_SIZE < name + extra + comment) {
        return false;
    }
    *out = (struct entry){.name = {e + ENTRY_SIZE, name},
                          .method = number_at(e + 10, 2),
                          .packed = number_at(e + 20, 4),
                          .size = number_at(e + 24, 4),
                          .at = number_at(e + 42, 4)};
    read_extra(e + ENTRY_SIZE + name, extra, out);
    *at += ENTRY_SIZE + name + extra + comment;
    return true;
}

bool zip_unpack(const struct array_file *file, uint64_t at, uint64_t packed, char *out, size_t size)
{
    char *in = malloc(CHUNK);
    z_stream z = {.next_out = (Bytef *)out};
    size_t left = size;
    int code = in != NULL ? inflateInit2(&z, -MAX_WBITS) : Z_MEM_ERROR;
    const bool started = code == Z_OK;
    while (code == Z_OK && left > 0) {
        if (z.avail_in == 0) {
            const size_t some = packed < CHUNK ? (size_t)packed : CHUNK;
            if (some == 0 || file_read(file, at, in, some) != EXIT_FINE) {
                break;
            }
            at += some;
            packed -= some;
            z.next_in = (Bytef *)in;
            z.avail_in = (uInt)some;
        }
        const uInt most = left > CHUNK ? CHUNK : (uInt)left; /* zlib counts in 32 bits */
        z.avail_out = most;
        code = inflate(&z, Z_NO_FLUSH);
        left -= most - z.avail_out;
    }
    if (started) {
        (void)inflateEnd(&z);
    }
    free(in);
    return left == 0;
}

/* Where the bytes of an entry start; false: it is broken. */
static bool find_bytes(const struct array_file *file, const struct entry *e, uint64_t *start)
{
    char local[LOCAL_SIZE];
    if (file->size < LOCAL_SIZE || e->at > file->size - LOCAL_SIZE ||
        file_read(file, e->at, local, LOCAL_SIZE) != EXIT_FINE || number_at(local, 4) != LOCAL) {
        return false;
    }
    *start = e->at + LOCAL_SIZE + number_at(local + 26, 2) + number_at(local + 28, 2);
    /* deflate makes at most about 1032 bytes of one */
    return *start <= file->size && e->packed <= file->size - *start &&
           (e->method == 0 ? e->size == e->packed
                           : e->method == 8 && e->size / 1100 <= e->packed && e->packed > 0);
}

/* The head of the `.npy` file that an entry is. */
static int read_head(struct session *session, const struct array_file *file, const struct entry *e,
                     const char *name, struct named_array *out)
{
    const size_t given = e->size < MAX_ARRAY_HEAD ? (size_t)e->size : MAX_ARRAY_HEAD;
    char *head = malloc(given + 1);
    uint64_t start = 0;
    size_t skip = 0;
    if (head == NULL) {
        return complain("out of memory while reading %s", file->path);
    }
    if (!find_bytes(file, e, &start) ||
        !(e->method == 0 ? file_read(file, start, head, given) == EXIT_FINE
                         : zip_unpack(file, start, e->packed, head, given))) {
        free(head);
        return broken(file->path, session_format(session, "%s cannot be unpacked", name));
    }
    const char *where = session_format(session, "%s in %s", name, file->path);
    const tsr_status status = tsr_npy_head(session->ctx, session->arena, where, head, given,
                                           (size_t)e->size, &out->view, &skip);
    free(head);
    out->at = e->method == 0 ? start + skip : start;
    out->packed = e->method == 0 ? 0 : e->packed;
    out->skip = skip;
    return status < 0 ? session_fail(session, status) : EXIT_FINE;
}

static int read_array(struct session *session, const struct array_file *file, const struct entry *e,
                      struct named_array *out)
{
    const char *name = session_format(session, "%.*s", (int)e->name.size, e->name.data);
    const size_t length = strlen(name);
    out->name = length > 4 && strcmp(name + length - 4, ".npy") == 0
                    ? session_format(session, "%.*s", (int)length - 4, name)
                    : name;
    return read_head(session, file, e, name, out);
}

int zip_open(struct session *session, const struct array_file *file, struct named_array **list,
             size_t *count)
{
    const size_t most = END_SIZE + MAX_COMMENT + LOCATOR64_SIZE;
    const size_t size = file->size < most ? (size_t)file->size : most;
    char *last = session_alloc(session, size + 1, 1);
    struct directory directory = {0};
    uint64_t at = 0;
    int code = file_read(file, file->size - size, last, size);
    code = code == EXIT_FINE ? find_directory(file, (struct file_bytes){last, size}, &directory)
                             : code;
    if (code != EXIT_FINE) {
        return code;
    }
    char *entries = session_alloc(session, directory.size + 1, 1);
    code = file_read(file, directory.at, entries, directory.size);
    *count = (size_t)directory.count;
    *list = session_alloc(session, *count + 1, sizeof **list);
    for (size_t i = 0; i < *count && code == EXIT_FINE; i++) {
        struct entry e;
        code = read_entry((struct file_bytes){entries, directory.size}, &at, &e)
                   ? read_array(session, file, &e, &(*list)[i])
                   : broken(file->path, "its directory of files is broken");
    }
    return code;
}

/* ---- writing ---- */

static void put_number(FILE *out, uint64_t value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputc((int)(value >> (8 * i) & 0xff), out);
    }
}

/* What the local header and the directory say of a file that is stored. */
struct stored {
    char *name;
    uint32_t crc;
    uint64_t size;
    uint64_t at;
};

static void put_common(FILE *out, const struct stored *s)
{
    put_number(out, 45, 2); /* the version that reads it */
    put_number(out, 1 << 11, 2);
    put_number(out, 0, 2); /* stored */
    put_number(out, 0, 2);
    put_number(out, 1 << 5 | 1, 2); /* the first day there is */
    put_number(out, s->crc, 4);
    put_number(out, UINT32_MAX, 4);
    put_number(out, UINT32_MAX, 4);
    put_number(out, strlen(s->name), 2);
}

static uint32_t crc_of(uint32_t crc, const void *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc, bytes, size);
}

static void put_local(FILE *out, const struct stored *s)
{
    put_number(out, LOCAL, 4);
    put_common(out, s);
    put_number(out, 20, 2);
    fputs(s->name, out);
    put_number(out, 1, 2);
    put_number(out, 16, 2);
    put_number(out, s->size, 8);
    put_number(out, s->size, 8);
}

static void put_entry(FILE *out, const struct stored *s)
{
    put_number(out, ENTRY, 4);
    put_number(out, 45, 2);
    put_common(out, s);
    put_number(out, 28, 2);
    put_number(out, 0, 2);
    put_number(out, 0, 2);
    put_number(out, 0, 2);
    put_number(out, 0, 4);
    put_number(out, UINT32_MAX, 4);
    fputs(s->name, out);
    put_number(out, 1, 2);
    put_number(out, 24, 2);
    put_number(out, s->size, 8);
    put_number(out, s->size, 8);
    put_number(out, s->at, 8);
}

static void put_end(FILE *out, uint64_t at, uint64_t size, uint64_t count)
{
    put_number(out, END64, 4);
    put_number(out, END64_SIZE - 12, 8);
    put_number(out, 45, 2);
    put_number(out, 45, 2);
    put_number(out, 0, 8);
    put_number(out, count, 8);
    put_number(out, count, 8);
    put_number(out, size, 8);
    put_number(out, at, 8);
    put_number(out, LOCATOR64, 4);
    put_number(out, 0, 4);
    put_number(out, at + size, 8);
    put_number(out, 1, 4);
    put_number(out, END, 4);
    put_number(out, 0, 4);
    put_number(out, UINT16_MAX, 2);
    put_number(out, UINT16_MAX, 2);
    put_number(out, UINT32_MAX, 4);
    put_number(out, UINT32_MAX, 4);
    put_number(out, 0, 2);
}

static int put_all(struct session *session, FILE *out, const struct named_array *list, size_t count)
{
    struct stored *stored = session_alloc(session, count + 1, sizeof *stored);
    for (size_t i = 0; i < count; i++) {
        const tsr_view *v = &list[i].view;
        const char *head = NULL;
        size_t head_size = 0;
        const tsr_status status = tsr_npy_header(session->ctx, session->arena, v->dtype, v->rank,
                                                 v->shape, &head, &head_size);
        if (status < 0) {
            return session_fail(session, status);
        }
        const size_t size = array_bytes(v);
        stored[i] = (struct stored){
            .name = (char *)(uintptr_t)session_format(session, "%s.npy", list[i].name),
            .crc = crc_of(crc_of(0, head, head_size), v->data, size),
            .size = head_size + size,
            .at = (uint64_t)ftell(out)};
        put_local(out, &stored[i]);
        (void)fwrite(head, 1, head_size, out);
        (void)fwrite(v->data, 1, size, out);
    }
    const uint64_t at = (uint64_t)ftell(out);
    for (size_t i = 0; i < count; i++) {
        put_entry(out, &stored[i]);
    }
    put_end(out, at, (uint64_t)ftell(out) - at, count);
    return EXIT_FINE;
}

int zip_write(struct session *session, const char *path, const struct named_array *list,
              size_t count)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (out == NULL) {
        return complain("out of memory while writing %s", path);
    }
    int code = put_all(session, out, list, count);
    if (fclose(out) != 0 && code == EXIT_FINE) {
        code = complain("out of memory while writing %s", path);
    }
    code = code == EXIT_FINE ? output_write(path, bytes, size) : code;
    free(bytes);
    return code;
}

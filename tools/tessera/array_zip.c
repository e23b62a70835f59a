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
    MOST_COMMENT = 0xffff
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
    return complain("%s is no .npz file: %s", path, why);
}

/* Where the directory is, and how many entries it has. */
static bool find_directory(struct file_bytes f, uint64_t *at, uint64_t *count)
{
    if (f.size < END_SIZE) {
        return false;
    }
    const size_t least = f.size > END_SIZE + MOST_COMMENT ? f.size - END_SIZE - MOST_COMMENT : 0;
    for (size_t i = f.size - END_SIZE + 1; i-- > least;) {
        if (number_at(f.data + i, 4) != END) {
            continue;
        }
        *count = number_at(f.data + i + 10, 2);
        *at = number_at(f.data + i + 16, 4);
        if (i >= LOCATOR64_SIZE && number_at(f.data + i - LOCATOR64_SIZE, 4) == LOCATOR64) {
            const uint64_t end = number_at(f.data + i - LOCATOR64_SIZE + 8, 8);
            if (f.size < END64_SIZE || end > f.size - END64_SIZE ||
                number_at(f.data + end, 4) != END64) {
                return false;
            }
            *count = number_at(f.data + end + 32, 8);
            *at = number_at(f.data + end + 48, 8);
        }
        return *at <= f.size;
    }
    return false;
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

/* Deflated bytes, unpacked; false: they are broken. */
static bool inflate_all(const char *packed, size_t packed_size, char *out, size_t size)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)packed, .next_out = (Bytef *)out};
    size_t left_in = packed_size;
    size_t left_out = size;
    int code = inflateInit2(&z, -MAX_WBITS);
    if (code != Z_OK) {
        return false;
    }
    do { /* zlib counts in 32 bits */
        const uInt most_in = left_in > UINT32_MAX ? UINT32_MAX : (uInt)left_in;
        const uInt most_out = left_out > UINT32_MAX ? UINT32_MAX : (uInt)left_out;
        z.avail_in = most_in;
        z.avail_out = most_out;
        code = inflate(&z, Z_NO_FLUSH);
        left_in -= most_in - z.avail_in;
        left_out -= most_out - z.avail_out;
    } while (code == Z_OK && left_out > 0);
    (void)inflateEnd(&z);
    return left_out == 0 && (code == Z_STREAM_END || code == Z_OK);
}

/* The bytes of an entry; false: they are broken. */
static bool unpack(struct session *session, struct file_bytes f, const struct entry *e,
                   struct file_bytes *out)
{
    if (f.size < LOCAL_SIZE || e->at > f.size - LOCAL_SIZE ||
        number_at(f.data + e->at, 4) != LOCAL) {
        return false;
    }
    const uint64_t start =
        e->at + LOCAL_SIZE + number_at(f.data + e->at + 26, 2) + number_at(f.data + e->at + 28, 2);
    if (start > f.size || e->packed > f.size - start) {
        return false;
    }
    if (e->method == 0) {
        *out = (struct file_bytes){f.data + start, e->packed};
        return true;
    }
    /* deflate makes at most about 1032 bytes of one */
    if (e->method != 8 || e->size / 1100 > e->packed) {
        return false;
    }
    char *bytes = session_alloc(session, e->size + 1, 1);
    *out = (struct file_bytes){bytes, e->size};
    return inflate_all(f.data + start, e->packed, bytes, e->size);
}

static int read_array(struct session *session, const char *path, struct file_bytes f,
                      const struct entry *e, struct named_array *out)
{
    struct file_bytes bytes;
    const char *name = session_format(session, "%.*s", (int)e->name.size, e->name.data);
    const size_t length = strlen(name);
    if (!unpack(session, f, e, &bytes)) {
        return broken(path, session_format(session, "%s cannot be unpacked", name));
    }
    out->name = length > 4 && strcmp(name + length - 4, ".npy") == 0
                    ? session_format(session, "%.*s", (int)length - 4, name)
                    : name;
    const tsr_status status =
        tsr_npy_view(session->ctx, session->arena, name, bytes.data, bytes.size, &out->view);
    return status < 0 ? session_fail(session, status) : EXIT_FINE;
}

int zip_read(struct session *session, const char *path, struct file_bytes file,
             struct named_array **list, size_t *count)
{
    uint64_t at = 0;
    uint64_t num_entries = 0;
    if (!find_directory(file, &at, &num_entries) || num_entries > file.size / ENTRY_SIZE) {
        return broken(path, "it has no directory of files");
    }
    *count = (size_t)num_entries;
    *list = session_alloc(session, *count + 1, sizeof **list);
    for (size_t i = 0; i < *count; i++) {
        struct entry e;
        if (!read_entry(file, &at, &e)) {
            return broken(path, "its directory of files is broken");
        }
        const int code = read_array(session, path, file, &e, &(*list)[i]);
        if (code != EXIT_FINE) {
            return code;
        }
    }
    return EXIT_FINE;
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

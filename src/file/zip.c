/* `.npz`: a zip archive of `.npy` files, stored or deflated. */
#include <string.h>

#include <zlib.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/lex.h"
#include "file/file.h"

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

/* One file of the archive. */
typedef struct zip_entry {
    slice name;
    uint64_t method;
    uint64_t packed;
    uint64_t size;
    uint64_t at; /* of its local header */
} zip_entry;

static tsr_status broken(const file_input *in, const char *why)
{
    return file_broken(in, "an .npz", why);
}

/* The list of files at the end of an archive. */
typedef struct zip_directory {
    uint64_t at;
    uint64_t size;
    uint64_t count;
} zip_directory;

/* Finds the directory by the last bytes of a file. */
static tsr_status find_directory(const file_input *file, slice f, zip_directory *out)
{
    for (size_t i = f.size < END_SIZE ? 0 : f.size - END_SIZE + 1; i-- > 0;) {
        if (number_at(f.data + i, 4) != END) {
            continue;
        }
        *out = (zip_directory){.at = number_at(f.data + i + 16, 4),
                               .size = number_at(f.data + i + 12, 4),
                               .count = number_at(f.data + i + 10, 2)};
        if (i >= LOCATOR64_SIZE && number_at(f.data + i - LOCATOR64_SIZE, 4) == LOCATOR64) {
            char end64[END64_SIZE];
            const uint64_t end = number_at(f.data + i - LOCATOR64_SIZE + 8, 8);
            if (file->size < END64_SIZE || end > file->size - END64_SIZE) {
                break;
            }
            TSR_TRY(file_read(file, end, end64, END64_SIZE));
            if (number_at(end64, 4) != END64) {
                break;
            }
            *out = (zip_directory){.at = number_at(end64 + 48, 8),
                                   .size = number_at(end64 + 40, 8),
                                   .count = number_at(end64 + 32, 8)};
        }
        if (out->at > file->size || out->size > file->size - out->at ||
            out->count > out->size / ENTRY_SIZE) {
            break;
        }
        return TSR_OK;
    }
    return broken(file, "it has no directory of files");
}

/* Sizes of 64 bits are in the extra field, those that the entry has no room for. */
static void read_extra(const char *extra, size_t size, zip_entry *e)
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
static bool read_entry(slice f, uint64_t *at, zip_entry *out)
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
    *out = (zip_entry){.name = {e + ENTRY_SIZE, name},
                       .method = number_at(e + 10, 2),
                       .packed = number_at(e + 20, 4),
                       .size = number_at(e + 24, 4),
                       .at = number_at(e + 42, 4)};
    read_extra(e + ENTRY_SIZE + name, extra, out);
    *at += ENTRY_SIZE + name + extra + comment;
    return true;
}

/* Inflates until the output is full, or the input ends or is broken; sets what is left. */
static tsr_status inflate_bytes(const file_input *in, z_stream *z, char *chunk, uint64_t at,
                                uint64_t packed, size_t *left)
{
    int code = Z_OK;
    while (code == Z_OK && *left > 0) {
        if (z->avail_in == 0) {
            const size_t some = packed < CHUNK ? (size_t)packed : CHUNK;
            if (some == 0) {
                break;
            }
            TSR_TRY(file_read(in, at, chunk, some));
            at += some;
            packed -= some;
            z->next_in = (Bytef *)chunk;
            z->avail_in = (uInt)some;
        }
        const uInt most = *left > CHUNK ? CHUNK : (uInt)*left; /* zlib counts in 32 bits */
        z->avail_out = most;
        code = inflate(z, Z_NO_FLUSH);
        *left -= most - z->avail_out;
    }
    return TSR_OK;
}

tsr_status zip_unpack(const file_input *in, uint64_t at, uint64_t packed, char *out, size_t size,
                      bool *unpacked)
{
    char *chunk = context_resize(in->ctx, NULL, 0, CHUNK);
    z_stream z = {.next_out = (Bytef *)out};
    size_t left = size;
    if (chunk == NULL || inflateInit2(&z, -MAX_WBITS) != Z_OK) {
        (void)context_resize(in->ctx, chunk, CHUNK, 0);
        return diag_nomem(in->ctx);
    }
    const tsr_status status = inflate_bytes(in, &z, chunk, at, packed, &left);
    (void)inflateEnd(&z);
    (void)context_resize(in->ctx, chunk, CHUNK, 0);
    *unpacked = left == 0;
    return status;
}

/* Where the bytes of an entry start; *found is false when it is broken. */
static tsr_status find_bytes(const file_input *in, const zip_entry *e, uint64_t *start, bool *found)
{
    char local[LOCAL_SIZE];
    *found = false;
    if (in->size < LOCAL_SIZE || e->at > in->size - LOCAL_SIZE) {
        return TSR_OK;
    }
    TSR_TRY(file_read(in, e->at, local, LOCAL_SIZE));
    *start = e->at + LOCAL_SIZE + number_at(local + 26, 2) + number_at(local + 28, 2);
    /* deflate makes at most about 1032 bytes of one */
    *found = number_at(local, 4) == LOCAL && *start <= in->size && e->packed <= in->size - *start &&
             (e->method == 0 ? e->size == e->packed
                             : e->method == 8 && e->size / 1100 <= e->packed && e->packed > 0);
    return TSR_OK;
}

/* "NAME in PATH", or NULL. */
static const char *place_of(const file_input *in, const char *name)
{
    const char *finished = NULL;
    buffer text = buffer_new(in->arena);
    buffer_format(&text, "%s in %s", name, in->path);
    return buffer_finish(in->ctx, &text, &finished) < 0 ? NULL : finished;
}

static tsr_status cannot_unpack(const file_input *in, const char *name)
{
    return diag_error(in->ctx, TSR_ERR_SYNTAX, NO_LOCATION,
                      "%s is not an .npz file: %s cannot be unpacked", in->path, name);
}

/* The first bytes of the `.npy` file that an entry is. */
static tsr_status unpack_head(const file_input *in, const zip_entry *e, uint64_t start,
                              const char *name, char *head, size_t given)
{
    bool unpacked = true;
    TSR_TRY(e->method == 0 ? file_read(in, start, head, given)
                           : zip_unpack(in, start, e->packed, head, given, &unpacked));
    return unpacked ? TSR_OK : cannot_unpack(in, name);
}

/* The head of the `.npy` file that an entry is. */
static tsr_status read_head(const file_input *in, const zip_entry *e, const char *name,
                            file_array *out)
{
    const size_t given = e->size < FILE_MAX_HEAD ? (size_t)e->size : FILE_MAX_HEAD;
    const char *place = place_of(in, name);
    uint64_t start = 0;
    size_t skip = 0;
    bool found = false;
    if (place == NULL) {
        return TSR_ERR_NOMEM;
    }
    TSR_TRY(find_bytes(in, e, &start, &found));
    if (!found) {
        return cannot_unpack(in, name);
    }
    char *head = context_resize(in->ctx, NULL, 0, given + 1);
    if (head == NULL) {
        return diag_nomem(in->ctx);
    }
    tsr_status status = unpack_head(in, e, start, name, head, given);
    if (status == TSR_OK) {
        status = tsr_npy_head(in->ctx, in->arena, place, head, given, (size_t)e->size, &out->view,
                              &skip);
    }
    (void)context_resize(in->ctx, head, given + 1, 0);
    out->at = e->method == 0 ? start + skip : start;
    out->packed = e->method == 0 ? 0 : e->packed;
    out->skip = skip;
    return status;
}

static tsr_status read_array(const file_input *in, const zip_entry *e, file_array *out)
{
    const char *name = file_name_of(in, e->name.data, e->name.size);
    const bool is_npy = e->name.size > 4 && memcmp(e->name.data + e->name.size - 4, ".npy", 4) == 0;
    out->name = file_name_of(in, e->name.data, e->name.size - (is_npy ? 4 : 0));
    return name == NULL || out->name == NULL ? diag_nomem(in->ctx) : read_head(in, e, name, out);
}

tsr_status zip_open(const file_input *in, file_arrays *out)
{
    const size_t most = END_SIZE + MAX_COMMENT + LOCATOR64_SIZE;
    const size_t size = in->size < most ? (size_t)in->size : most;
    char *last = tsr_arena_alloc(in->arena, size + 1);
    zip_directory directory = {0};
    uint64_t at = 0;
    if (last == NULL) {
        return diag_nomem(in->ctx);
    }
    TSR_TRY(file_read(in, in->size - size, last, size));
    TSR_TRY(find_directory(in, (slice){last, size}, &directory));
    char *entries = tsr_arena_alloc(in->arena, (size_t)directory.size + 1);
    out->count = (size_t)directory.count;
    out->list = ARENA_ARRAY(in->arena, file_array, out->count + 1);
    if (entries == NULL || out->list == NULL) {
        return diag_nomem(in->ctx);
    }
    TSR_TRY(file_read(in, directory.at, entries, (size_t)directory.size));
    for (size_t i = 0; i < out->count; i++) {
        zip_entry e;
        out->list[i] = (file_array){0};
        TSR_TRY(read_entry((slice){entries, (size_t)directory.size}, &at, &e)
                    ? read_array(in, &e, &out->list[i])
                    : broken(in, "its directory of files is broken"));
    }
    return TSR_OK;
}

/* ---- writing ---- */

/* What the local header and the directory say of a file that is stored. */
typedef struct stored_file {
    const char *name;
    const char *head; /* of its `.npy` */
    size_t head_size;
    uint64_t bytes; /* of its elements */
    uint32_t crc;
    uint64_t size;
    uint64_t at;
} stored_file;

static void put_common(file_output *out, const stored_file *s)
{
    file_put_number(out, 45, 2); /* the version that reads it */
    file_put_number(out, 1 << 11, 2);
    file_put_number(out, 0, 2); /* stored */
    file_put_number(out, 0, 2);
    file_put_number(out, 1 << 5 | 1, 2); /* the first day of the format */
    file_put_number(out, s->crc, 4);
    file_put_number(out, UINT32_MAX, 4);
    file_put_number(out, UINT32_MAX, 4);
    file_put_number(out, strlen(s->name), 2);
}

static uint32_t crc_of(uint32_t crc, const void *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc, bytes, size);
}

static void put_local(file_output *out, const stored_file *s)
{
    file_put_number(out, LOCAL, 4);
    put_common(out, s);
    file_put_number(out, 20, 2);
    file_put(out, s->name, strlen(s->name));
    file_put_number(out, 1, 2);
    file_put_number(out, 16, 2);
    file_put_number(out, s->size, 8);
    file_put_number(out, s->size, 8);
}

static void put_entry(file_output *out, const stored_file *s)
{
    file_put_number(out, ENTRY, 4);
    file_put_number(out, 45, 2);
    put_common(out, s);
    file_put_number(out, 28, 2);
    file_put_number(out, 0, 2);
    file_put_number(out, 0, 2);
    file_put_number(out, 0, 2);
    file_put_number(out, 0, 4);
    file_put_number(out, UINT32_MAX, 4);
    file_put(out, s->name, strlen(s->name));
    file_put_number(out, 1, 2);
    file_put_number(out, 24, 2);
    file_put_number(out, s->size, 8);
    file_put_number(out, s->size, 8);
    file_put_number(out, s->at, 8);
}

static void put_end(file_output *out, uint64_t at, uint64_t size, uint64_t count)
{
    file_put_number(out, END64, 4);
    file_put_number(out, END64_SIZE - 12, 8);
    file_put_number(out, 45, 2);
    file_put_number(out, 45, 2);
    file_put_number(out, 0, 8);
    file_put_number(out, count, 8);
    file_put_number(out, count, 8);
    file_put_number(out, size, 8);
    file_put_number(out, at, 8);
    file_put_number(out, LOCATOR64, 4);
    file_put_number(out, 0, 4);
    file_put_number(out, at + size, 8);
    file_put_number(out, 1, 4);
    file_put_number(out, END, 4);
    file_put_number(out, 0, 4);
    file_put_number(out, UINT16_MAX, 2);
    file_put_number(out, UINT16_MAX, 2);
    file_put_number(out, UINT32_MAX, 4);
    file_put_number(out, UINT32_MAX, 4);
    file_put_number(out, 0, 2);
}

/* An array as a stored file, but for where it starts. */
static tsr_status make_stored(file_output *out, const tsr_named_view *array, stored_file *s)
{
    const tsr_view *v = &array->view;
    buffer name = buffer_new(out->arena);
    buffer_format(&name, "%s.npy", array->name);
    TSR_TRY(buffer_finish(out->ctx, &name, &s->name));
    TSR_TRY(
        tsr_npy_header(out->ctx, out->arena, v->dtype, v->rank, v->shape, &s->head, &s->head_size));
    (void)file_count_bytes(v, &s->bytes);
    s->crc = crc_of(crc_of(0, s->head, s->head_size), v->data, (size_t)s->bytes);
    s->size = s->head_size + s->bytes;
    return TSR_OK;
}

tsr_status zip_write(file_output *out, const tsr_named_view *arrays, size_t count)
{
    stored_file *stored = ARENA_ARRAY(out->arena, stored_file, count + 1);
    if (stored == NULL) {
        return diag_nomem(out->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(make_stored(out, &arrays[i], &stored[i]));
    }
    for (size_t i = 0; i < count; i++) {
        stored[i].at = out->at;
        put_local(out, &stored[i]);
        file_put(out, stored[i].head, stored[i].head_size);
        file_put(out, arrays[i].view.data, (size_t)stored[i].bytes);
    }
    const uint64_t at = out->at;
    for (size_t i = 0; i < count; i++) {
        put_entry(out, &stored[i]);
    }
    put_end(out, at, out->at - at, count);
    return TSR_OK;
}

#include "file/npy.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/guard.h"
#include "base/lex.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, ALIGNMENT = 64 };

/*
 * One row for each type that the format has a name for. bf16 is read as NumPy with ml_dtypes writes
 * it, and is not written: NumPy reads the name as two bytes of no type.
 */
static const struct {
    const char *name; /* after the byte order */
    tsr_dtype dtype;
} names[] = {
    {"b1", TSR_I1},  {"i1", TSR_I8},  {"i2", TSR_I16}, {"i4", TSR_I32},   {"i8", TSR_I64},
    {"u1", TSR_U8},  {"u2", TSR_U16}, {"u4", TSR_U32}, {"u8", TSR_U64},   {"f2", TSR_F16},
    {"f4", TSR_F32}, {"f8", TSR_F64}, {"c8", TSR_C64}, {"c16", TSR_C128}, {"V2", TSR_BF16},
};
enum { NUM_NAMES = sizeof names / sizeof names[0] };

static uint64_t little_endian(const char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = count; i-- > 0;) {
        value = value << 8 | (unsigned char)bytes[i];
    }
    return value;
}

static tsr_status broken(tsr_context *ctx, const char *name, const char *why)
{
    return diag_error(ctx, TSR_ERR_SYNTAX, NO_LOCATION, "%s is not an .npy file: %s", name, why);
}

/* `'<f4'`: the byte order and the type. */
static tsr_status read_descr(lexer *lex, npy_head *head)
{
    slice text;
    const location where = lex_here(lex);
    TSR_TRY(lex_string(lex, &text));
    for (size_t i = 0; text.size > 1 && i < NUM_NAMES; i++) {
        const size_t length = strlen(names[i].name);
        if (text.size == length + 1 && memcmp(text.data + 1, names[i].name, length) == 0) {
            const bool bytes = tsr_dtype_item_bytes(names[i].dtype) == 1;
            head->dtype = names[i].dtype;
            const bool unordered = bytes || head->dtype == TSR_BF16;
            if (text.data[0] == '<' || text.data[0] == '=' || (unordered && text.data[0] == '|')) {
                return TSR_OK;
            }
            return lex_error(lex, where, "only little-endian items are supported");
        }
    }
    return lex_error(lex, where, "unknown element type");
}

/* `(3, 4)`, `(3,)` or `()`. */
static tsr_status read_shape(lexer *lex, npy_head *head)
{
    head->rank = 0;
    TSR_TRY(lex_expect(lex, '('));
    while (!lex_is(lex, ')')) {
        const location where = lex_here(lex);
        int64_t extent = 0;
        TSR_TRY(lex_integer(lex, &extent));
        if (extent < 0 || head->rank == NPY_MAX_RANK) {
            return lex_error(lex, where, "the shape must have at most 32 extents of at least 0");
        }
        head->shape[head->rank++] = extent;
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    return lex_expect(lex, ')');
}

static tsr_status read_order(lexer *lex, npy_head *head)
{
    head->column_major = lex_is_word(lex, "True");
    if (!lex_accept_word(lex, "True") && !lex_accept_word(lex, "False")) {
        return lex_error(lex, lex_here(lex), "expected True or False");
    }
    return TSR_OK;
}

/* One of the three entries; which ones were seen is noted in `seen`. */
static tsr_status read_entry(lexer *lex, npy_head *head, unsigned *seen)
{
    static const struct {
        const char *key;
        tsr_status (*read)(lexer *lex, npy_head *head);
    } entries[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
    const location where = lex_here(lex);
    slice key;
    TSR_TRY(lex_string(lex, &key));
    TSR_TRY(lex_expect(lex, ':'));
    for (unsigned i = 0; i < 3; i++) {
        if (key.size == strlen(entries[i].key) && memcmp(key.data, entries[i].key, key.size) == 0 &&
            (*seen & 1U << i) == 0) {
            *seen |= 1U << i;
            return entries[i].read(lex, head);
        }
    }
    return lex_error(lex, where,
                     "expected the keys descr, fortran_order and shape, each exactly once");
}

/* `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }` */
static tsr_status read_dict(lexer *lex, npy_head *head)
{
    unsigned seen = 0;
    TSR_TRY(lex_expect(lex, '{'));
    while (!lex_is(lex, '}')) {
        TSR_TRY(read_entry(lex, head, &seen));
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    TSR_TRY(lex_expect(lex, '}'));
    return seen == 7 ? TSR_OK : lex_error(lex, lex_here(lex), "a key of the header is missing");
}

/* Finds the dictionary: after the magic number, the version and its length. */
static tsr_status find_dict(tsr_context *ctx, const char *name, const char *file, size_t size,
                            tsr_text *text)
{
    if (size < MAGIC + 4 || memcmp(file, magic, MAGIC) != 0) {
        return broken(ctx, name, "it does not start with \\x93NUMPY");
    }
    const int version = (unsigned char)file[MAGIC];
    if (version < 1 || version > 3) {
        return broken(ctx, name, "its format version is not 1, 2 or 3");
    }
    const size_t width = version == 1 ? 2 : 4;
    const size_t start = MAGIC + 2 + width;
    if (size < start || little_endian(file + MAGIC + 2, width) > size - start) {
        return broken(ctx, name, "its header is longer than the file");
    }
    const size_t length = (size_t)little_endian(file + MAGIC + 2, width);
    *text = (tsr_text){.name = name, .data = file, .size = start + length, .at = start};
    return TSR_OK;
}

/* The bytes of all items, which must be in the file. */
static tsr_status count_bytes(tsr_context *ctx, const char *name, size_t size, npy_head *head)
{
    int64_t bytes = tsr_dtype_item_bytes(head->dtype);
    for (size_t i = 0; i < head->rank; i++) {
        if (!checked_mul(bytes, head->shape[i], &bytes)) {
            return broken(ctx, name, "its shape is too large");
        }
    }
    if ((uint64_t)bytes > size - head->data) {
        return broken(ctx, name, "it ends before its last item");
    }
    head->bytes = bytes;
    return TSR_OK;
}

tsr_status npy_read_head(tsr_context *ctx, const char *name, const char *file, size_t given,
                         size_t size, npy_head *out)
{
    tsr_text text;
    npy_head head = {0};
    tsr_arena *arena = NULL;
    TSR_TRY(find_dict(ctx, name, file, given, &text));
    TSR_TRY(tsr_arena_create(ctx, &arena));
    lexer lex = lex_start(ctx, arena, &text);
    lex.single_quotes = true;
    tsr_status status = read_dict(&lex, &head);
    tsr_arena_destroy(arena);
    head.data = text.size;
    if (status == TSR_OK) {
        status = count_bytes(ctx, name, size, &head);
    }
    if (status == TSR_OK) {
        *out = head;
    }
    return status;
}

static const char *name_of(tsr_dtype dtype)
{
    for (size_t i = 0; i < NUM_NAMES; i++) {
        if (names[i].dtype == dtype) {
            return names[i].name;
        }
    }
    return NULL;
}

tsr_status npy_write_head(tsr_context *ctx, tsr_arena *arena, tsr_dtype dtype, size_t rank,
                          const int64_t *shape, const char **out, size_t *size)
{
    enum { HEAD = MAGIC + 4 };
    const char *name = name_of(dtype);
    if (dtype == TSR_BF16) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "the .npy format has no element type for bf16: NumPy would read "
                          "bytes without a type; convert them to f32, by tsr_convert, or write a "
                          ".safetensors file from Python");
    }
    if (name == NULL) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "the .npy format has no element type for %s", tsr_dtype_name(dtype));
    }
    buffer buf = buffer_new(arena);
    buffer_bytes(&buf, magic, MAGIC);
    buffer_bytes(&buf, "\x01\0\0\0", 4);
    buffer_format(&buf, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                  tsr_dtype_item_bytes(dtype) == 1 ? '|' : '<', name);
    buffer_ints(&buf, shape, rank);
    buffer_string(&buf, rank == 1 ? ",), }" : "), }");
    while ((buf.size + 1) % ALIGNMENT != 0 && !buf.failed) {
        buffer_char(&buf, ' ');
    }
    buffer_char(&buf, '\n');
    const size_t length = buf.size - HEAD;
    TSR_TRY(buffer_finish(ctx, &buf, out));
    buf.data[MAGIC + 2] = (char)(length & 0xff);
    buf.data[MAGIC + 3] = (char)(length >> 8);
    *size = buf.size;
    return TSR_OK;
}

tsr_status tsr_npy_head(tsr_context *ctx, tsr_arena *arena, const char *name, const char *bytes,
                        size_t given, size_t size, tsr_view *out, size_t *start)
{
    GUARD(tsr_npy_head);
    npy_head head = {0};
    TSR_TRY(npy_read_head(ctx, name != NULL ? name : "the array", bytes, given, size, &head));
    int64_t *shape = arena_copy(arena, head.shape, head.rank + 1, sizeof *shape);
    int64_t *strides = head.column_major ? ARENA_ARRAY(arena, int64_t, head.rank + 1) : NULL;
    if (shape == NULL || (head.column_major && strides == NULL)) {
        return diag_nomem(ctx);
    }
    int64_t stride = tsr_dtype_item_bytes(head.dtype);
    for (size_t d = 0; strides != NULL && d < head.rank; d++) {
        strides[d] = stride;
        stride *= head.shape[d];
    }
    *out = (tsr_view){.dtype = head.dtype, .rank = head.rank, .shape = shape, .strides = strides};
    *start = head.data;
    return TSR_OK;
}

tsr_status tsr_npy_view(tsr_context *ctx, tsr_arena *arena, const char *name, const char *bytes,
                        size_t size, tsr_view *out)
{
    GUARD(tsr_npy_view);
    size_t start = 0;
    tsr_view view;
    TSR_TRY(tsr_npy_head(ctx, arena, name, bytes, size, size, &view, &start));
    view.data = (char *)without_const(bytes) + start;
    *out = view;
    return TSR_OK;
}

/* A type of the format that takes as many bytes. */
static tsr_dtype stored_as(tsr_dtype dtype)
{
    if (name_of(dtype) != NULL && dtype != TSR_BF16) {
        return dtype;
    }
    return tsr_dtype_item_bytes(dtype) == 1 ? TSR_U8 : TSR_U16;
}

tsr_status tsr_npy_header(tsr_context *ctx, tsr_arena *arena, tsr_dtype dtype, size_t rank,
                          const int64_t *shape, const char **out, size_t *size)
{
    GUARD(tsr_npy_header);
    return npy_write_head(ctx, arena, stored_as(dtype), rank, shape, out, size);
}

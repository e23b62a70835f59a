/* `.safetensors`: a header of JSON, then the elements of all arrays. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "array_file.h"
#include "command.h"
#include "output.h"
#include "utf8.h"

enum { LENGTH = 8, MAX_HEADER = 100000000 };

static const struct {
    const char *name;
    tsr_dtype dtype;
} types[] = {
    {"BOOL", TSR_I1},
    {"U8", TSR_U8},
    {"I8", TSR_I8},
    {"F8_E5M2", TSR_F8E5M2},
    {"F8_E4M3", TSR_F8E4M3FN},
    {"F8_E8M0", TSR_F8E8M0FNU},
    {"I16", TSR_I16},
    {"U16", TSR_U16},
    {"F16", TSR_F16},
    {"BF16", TSR_BF16},
    {"I32", TSR_I32},
    {"U32", TSR_U32},
    {"F32", TSR_F32},
    {"F64", TSR_F64},
    {"I64", TSR_I64},
    {"U64", TSR_U64},
    {"C64", TSR_C64},
};
enum { NUM_TYPES = sizeof types / sizeof types[0] };

/* ---- reading ---- */

static int broken(const char *path, const char *why)
{
    return complain("%s is not a .safetensors file: %s", path, why);
}

static bool find_type(const char *name, tsr_dtype *out)
{
    for (size_t i = 0; name != NULL && i < NUM_TYPES; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *out = types[i].dtype;
            return true;
        }
    }
    return false;
}

/* The shape of an entry; false: it is none. */
static bool read_shape(struct session *session, const json_t *list, tsr_view *out)
{
    const size_t rank = json_array_size(list);
    int64_t *shape = session_alloc(session, rank + 1, sizeof *shape);
    for (size_t d = 0; d < rank; d++) {
        shape[d] = json_integer_value(json_array_get(list, d));
        if (!json_is_integer(json_array_get(list, d)) || shape[d] < 0) {
            return false;
        }
    }
    out->rank = rank;
    out->shape = shape;
    return json_is_array(list) && rank <= 32;
}

/* How many bytes a shape takes; false: more than there can be. */
static bool count_bytes(const tsr_view *view, uint64_t *out)
{
    uint64_t bytes = (uint64_t)tsr_dtype_item_bytes(view->dtype);
    for (size_t d = 0; d < view->rank; d++) {
        if (__builtin_mul_overflow(bytes, (uint64_t)view->shape[d], &bytes)) {
            return false;
        }
    }
    *out = bytes;
    return true;
}

/* An entry whose elements are among the bytes from `data` to the end of the file. */
static bool read_entry(struct session *session, const json_t *entry, const struct array_file *file,
                       uint64_t data, struct named_array *out)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_int_t begin = json_integer_value(json_array_get(offsets, 0));
    const json_int_t end = json_integer_value(json_array_get(offsets, 1));
    tsr_view *view = &out->view;
    uint64_t bytes = 0;
    if (!find_type(json_string_value(json_object_get(entry, "dtype")), &view->dtype) ||
        !read_shape(session, json_object_get(entry, "shape"), view) || !count_bytes(view, &bytes) ||
        begin < 0 || end < begin || (uint64_t)end > file->size - data ||
        (uint64_t)(end - begin) != bytes) {
        return false;
    }
    out->at = data + (uint64_t)begin;
    return true;
}

static int read_header(struct session *session, const struct array_file *file, json_t *header,
                       uint64_t data, struct named_array **list, size_t *count)
{
    const char *name = NULL;
    json_t *entry = NULL;
    *count = 0;
    *list = session_alloc(session, json_object_size(header) + 1, sizeof **list);
    json_object_foreach(header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0) {
            continue;
        }
        struct named_array *array = &(*list)[(*count)++];
        array->name = session_format(session, "%s", name);
        if (!read_entry(session, entry, file, data, array)) {
            return broken(file->path, session_format(session, "the entry %s is wrong", name));
        }
    }
    return EXIT_FINE;
}

int safetensors_open(struct session *session, const struct array_file *file,
                     struct named_array **list, size_t *count)
{
    unsigned char start[LENGTH] = {0};
    uint64_t length = 0;
    if (file->size < LENGTH) {
        return broken(file->path, "it is too short");
    }
    int code = file_read(file, 0, start, LENGTH);
    for (size_t i = LENGTH; i-- > 0;) {
        length = length << 8 | start[i];
    }
    if (code != EXIT_FINE) {
        return code;
    }
    if (length > file->size - LENGTH) {
        return broken(file->path, "its header is longer than the file");
    }
    if (length > MAX_HEADER) {
        return broken(file->path, "its header is longer than 100 MB, the limit of the format");
    }
    char *text = session_alloc(session, length + 1, 1);
    code = file_read(file, LENGTH, text, length);
    if (code != EXIT_FINE) {
        return code;
    }
    json_t *header = json_loadb(text, length, 0, NULL);
    code = json_is_object(header) ? read_header(session, file, header, LENGTH + length, list, count)
                                  : broken(file->path, "its header is not a JSON object");
    json_decref(header);
    return code;
}

/* ---- writing ---- */

static const char *type_name(tsr_dtype dtype)
{
    for (size_t i = 0; i < NUM_TYPES; i++) {
        if (types[i].dtype == dtype) {
            return types[i].name;
        }
    }
    return tsr_dtype_item_bytes(dtype) == 1 ? "U8" : NULL;
}

static int put_header(FILE *out, const struct named_array *list, size_t count)
{
    size_t at = 0;
    fputc('{', out);
    for (size_t i = 0; i < count; i++) {
        const tsr_view *v = &list[i].view;
        const char *type = type_name(v->dtype);
        if (type == NULL) {
            return complain("the .safetensors format has no element type for %s",
                            tsr_dtype_name(v->dtype));
        }
        fputs(i > 0 ? "," : "", out);
        write_json_string(out, list[i].name);
        fprintf(out, ":{\"dtype\":\"%s\",\"shape\":[", type);
        for (size_t d = 0; d < v->rank; d++) {
            fprintf(out, "%s%" PRId64, d > 0 ? "," : "", v->shape[d]);
        }
        fprintf(out, "],\"data_offsets\":[%zu,%zu]}", at, at + array_bytes(v));
        at += array_bytes(v);
    }
    fputc('}', out);
    return EXIT_FINE;
}

/* The header, padded so that elements start at a multiple of 8. */
static int put_all(FILE *out, const struct named_array *list, size_t count)
{
    char *header = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&header, &size);
    if (text == NULL) {
        return complain("out of memory");
    }
    const int code = put_header(text, list, count);
    if (fclose(text) != 0 || code != EXIT_FINE) {
        free(header);
        return code != EXIT_FINE ? code : complain("out of memory");
    }
    const size_t padded = (size + LENGTH - 1) / LENGTH * LENGTH;
    for (size_t i = 0; i < LENGTH; i++) {
        fputc((int)(padded >> (8 * i) & 0xff), out);
    }
    (void)fwrite(header, 1, size, out);
    free(header);
    for (size_t i = size; i < padded; i++) {
        fputc(' ', out);
    }
    for (size_t i = 0; i < count; i++) {
        (void)fwrite(list[i].view.data, 1, array_bytes(&list[i].view), out);
    }
    return EXIT_FINE;
}

int safetensors_write(struct session *session, const char *path, const struct named_array *list,
                      size_t count)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    (void)session;
    if (out == NULL) {
        return complain("out of memory while writing %s", path);
    }
    int code = put_all(out, list, count);
    if (fclose(out) != 0 && code == EXIT_FINE) {
        code = complain("out of memory while writing %s", path);
    }
    code = code == EXIT_FINE ? output_write(path, bytes, size) : code;
    free(bytes);
    return code;
}

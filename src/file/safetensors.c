/* `.safetensors`: a header of JSON, then the elements of all arrays. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/arena.h"
#include "file/file.h"

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

static tsr_status broken(const file_input *in, const char *why)
{
    return file_broken(in, "a .safetensors", why);
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

/* The shape of an entry; *valid is false when it is not one. */
static tsr_status read_shape(const file_input *in, const json_t *list, tsr_view *out, bool *valid)
{
    const size_t rank = json_array_size(list);
    int64_t *shape = ARENA_ARRAY(in->arena, int64_t, rank + 1);
    if (shape == NULL) {
        return diag_nomem(in->ctx);
    }
    *valid = json_is_array(list) && rank <= FILE_MAX_RANK;
    for (size_t d = 0; d < rank && *valid; d++) {
        shape[d] = json_integer_value(json_array_get(list, d));
        *valid = json_is_integer(json_array_get(list, d)) && shape[d] >= 0;
    }
    out->rank = rank;
    out->shape = shape;
    return TSR_OK;
}

/* An entry whose elements are among the bytes from `data` to the end of the file. */
static tsr_status read_entry(const file_input *in, const json_t *entry, uint64_t data,
                             file_array *out, bool *valid)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_int_t begin = json_integer_value(json_array_get(offsets, 0));
    const json_int_t end = json_integer_value(json_array_get(offsets, 1));
    tsr_view *view = &out->view;
    uint64_t bytes = 0;
    TSR_TRY(read_shape(in, json_object_get(entry, "shape"), view, valid));
    *valid = *valid &&
             find_type(json_string_value(json_object_get(entry, "dtype")), &view->dtype) &&
             file_count_bytes(view, &bytes) && begin >= 0 && end >= begin &&
             (uint64_t)end <= in->size - data && (uint64_t)(end - begin) == bytes;
    out->at = data + (uint64_t)begin;
    return TSR_OK;
}

static tsr_status read_header(const file_input *in, json_t *header, uint64_t data, file_arrays *out)
{
    const char *name = NULL;
    json_t *entry = NULL;
    out->count = 0;
    out->list = ARENA_ARRAY(in->arena, file_array, json_object_size(header) + 1);
    if (out->list == NULL) {
        return diag_nomem(in->ctx);
    }
    json_object_foreach(header, name, entry)
    {
        bool valid = false;
        if (strcmp(name, "__metadata__") == 0) {
            continue;
        }
        file_array *array = &out->list[out->count++];
        *array = (file_array){.name = file_name_of(in, name, strlen(name))};
        if (array->name == NULL) {
            return diag_nomem(in->ctx);
        }
        TSR_TRY(read_entry(in, entry, data, array, &valid));
        if (!valid) {
            return diag_error(in->ctx, TSR_ERR_SYNTAX, NO_LOCATION,
                              "%s is not a .safetensors file: the entry %s is wrong", in->path,
                              array->name);
        }
    }
    return TSR_OK;
}

tsr_status safetensors_open(const file_input *in, file_arrays *out)
{
    unsigned char start[LENGTH] = {0};
    uint64_t length = 0;
    if (in->size < LENGTH) {
        return broken(in, "it is too short");
    }
    TSR_TRY(file_read(in, 0, start, LENGTH));
    for (size_t i = LENGTH; i-- > 0;) {
        length = length << 8 | start[i];
    }
    if (length > in->size - LENGTH) {
        return broken(in, "its header is longer than the file");
    }
    if (length > MAX_HEADER) {
        return broken(in, "its header is longer than 100 MB, the limit of the format");
    }
    char *text = tsr_arena_alloc(in->arena, (size_t)length + 1);
    if (text == NULL) {
        return diag_nomem(in->ctx);
    }
    TSR_TRY(file_read(in, LENGTH, text, (size_t)length));
    json_t *header = json_loadb(text, (size_t)length, 0, NULL);
    const tsr_status status = json_is_object(header)
                                  ? read_header(in, header, LENGTH + length, out)
                                  : broken(in, "its header is not a JSON object");
    json_decref(header);
    return status;
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

/* The entry of one array, whose elements start at an offset. NULL: no memory, or no name. */
static json_t *entry_of(const tsr_named_view *array, const char *type, uint64_t at, uint64_t bytes)
{
    json_t *shape = json_array();
    for (size_t d = 0; d < array->view.rank; d++) {
        (void)json_array_append_new(shape, json_integer(array->view.shape[d]));
    }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", type, "shape", shape, "data_offsets",
                     (json_int_t)at, (json_int_t)(at + bytes));
}

static tsr_status make_header(file_output *out, const tsr_named_view *arrays, size_t count,
                              json_t *header)
{
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const char *type = type_name(arrays[i].view.dtype);
        uint64_t bytes = 0;
        if (type == NULL) {
            return diag_error(out->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                              "the .safetensors format has no element type for %s",
                              tsr_dtype_name(arrays[i].view.dtype));
        }
        if (json_object_get(header, arrays[i].name) != NULL) {
            return diag_error(out->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "two arrays have the name %s; names must differ", arrays[i].name);
        }
        (void)file_count_bytes(&arrays[i].view, &bytes);
        if (json_object_set_new(header, arrays[i].name, entry_of(&arrays[i], type, at, bytes)) !=
            0) {
            return diag_error(out->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "the name of array %zu is not UTF-8, or memory ran out", i);
        }
        at += bytes;
    }
    return TSR_OK;
}

/* The header, padded so that elements start at a multiple of 8. */
static tsr_status put_header(file_output *out, const tsr_named_view *arrays, size_t count)
{
    json_t *header = json_object();
    tsr_status status =
        header != NULL ? make_header(out, arrays, count, header) : diag_nomem(out->ctx);
    char *text = status == TSR_OK ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    if (status == TSR_OK && text == NULL) {
        status = diag_nomem(out->ctx);
    }
    if (status == TSR_OK) {
        const size_t size = strlen(text);
        const size_t padded = (size + LENGTH - 1) / LENGTH * LENGTH;
        file_put_number(out, padded, LENGTH);
        file_put(out, text, size);
        file_put(out, "        ", padded - size);
    }
    free(text);
    return status;
}

tsr_status safetensors_write(file_output *out, const tsr_named_view *arrays, size_t count)
{
    TSR_TRY(put_header(out, arrays, count));
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = 0;
        (void)file_count_bytes(&arrays[i].view, &bytes);
        file_put(out, arrays[i].view.data, (size_t)bytes);
    }
    return TSR_OK;
}

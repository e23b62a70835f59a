#include "ir/attr.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "ir/program.h"
#include "ir/row.h"

const attr_head *program_attr(const tsr_program *p, uint32_t attr)
{
    return intern_get(&p->attrs, attr);
}

bool attr_is(const tsr_program *p, uint32_t attr, attr_kind kind)
{
    return attr != 0 && program_attr(p, attr)->kind == kind;
}

bool attr_is_elements(const tsr_program *p, uint32_t attr)
{
    return attr_is(p, attr, ATTR_ELEMENTS) || attr_is(p, attr, ATTR_HEX) ||
           attr_is(p, attr, ATTR_RESOURCE);
}

/* Interns a head and what follows it. */
static tsr_status intern_attr(tsr_program *p, attr_head head, const void *list, size_t size,
                              uint32_t *out)
{
    const intern_part parts[] = {{&head, sizeof head}, {list, size}};
    return intern_parts(&p->attrs, parts, 2, out);
}

tsr_status attr_unit(tsr_program *p, uint32_t *out)
{
    return intern_attr(p, (attr_head){.kind = ATTR_UNIT}, NULL, 0, out);
}

tsr_status attr_integer(tsr_program *p, uint32_t type, uint64_t bits, uint32_t *out)
{
    const attr_head head = {.kind = ATTR_INTEGER, .type = type, .bits = bits};
    return intern_attr(p, head, NULL, 0, out);
}

tsr_status attr_i64(tsr_program *p, int64_t value, uint32_t *out)
{
    uint32_t type = 0;
    TSR_TRY(type_integer(p, 64, SIGNLESS, &type));
    return attr_integer(p, type, (uint64_t)value, out);
}

tsr_status attr_bool(tsr_program *p, bool value, uint32_t *out)
{
    uint32_t type = 0;
    TSR_TRY(type_integer(p, 1, SIGNLESS, &type));
    return attr_integer(p, type, value, out);
}

tsr_status attr_float(tsr_program *p, uint32_t type, uint64_t bits, uint32_t *out)
{
    const attr_head head = {.kind = ATTR_FLOAT, .type = type, .bits = bits};
    return intern_attr(p, head, NULL, 0, out);
}

tsr_status attr_string(tsr_program *p, const char *text, size_t size, uint32_t type, uint32_t *out)
{
    const attr_head head = {.kind = ATTR_STRING, .type = type, .count = (uint32_t)size};
    return intern_attr(p, head, text, size, out);
}

tsr_status attr_array(tsr_program *p, const uint32_t *items, size_t count, uint32_t *out)
{
    const attr_head head = {.kind = ATTR_ARRAY, .count = (uint32_t)count};
    return intern_attr(p, head, items, count * sizeof *items, out);
}

int compare_names(slice a, slice b)
{
    const int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static bool is_before(const tsr_program *p, attr_entry a, attr_entry b)
{
    return compare_names(string_at(p, a.name), string_at(p, b.name)) < 0;
}

/* Dictionaries are short and mostly sorted. */
static void insertion_sort(const tsr_program *p, attr_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const attr_entry entry = entries[i];
        size_t j = i;
        for (; j > 0 && is_before(p, entry, entries[j - 1]); j--) {
            entries[j] = entries[j - 1];
        }
        entries[j] = entry;
    }
}

/* Two sorted halves of a list become one. */
static void merge(const tsr_program *p, const attr_entry *from, size_t half, size_t count,
                  attr_entry *to)
{
    size_t left = 0;
    size_t right = half;
    for (size_t i = 0; i < count; i++) {
        const bool take_right =
            left == half || (right < count && is_before(p, from[right], from[left]));
        to[i] = from[take_right ? right++ : left++];
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void merge_sort(const tsr_program *p, attr_entry *entries, attr_entry *other, size_t count)
{
    attr_entry *from = entries;
    attr_entry *to = other;
    for (size_t i = 0; i < count; i += FEW_ENTRIES) {
        insertion_sort(p, entries + i, least(FEW_ENTRIES, count - i));
    }
    for (size_t width = FEW_ENTRIES; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            merge(p, from + i, least(width, count - i), least(2 * width, count - i), to + i);
        }
        attr_entry *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != entries) {
        memcpy(entries, from, count * sizeof *entries);
    }
}

tsr_status sort_entries(const tsr_program *p, attr_entry *entries, size_t count)
{
    size_t sorted = 1;
    while (sorted < count && !is_before(p, entries[sorted], entries[sorted - 1])) {
        sorted++;
    }
    if (sorted >= count) {
        return TSR_OK;
    }
    if (count <= FEW_ENTRIES) {
        insertion_sort(p, entries, count);
        return TSR_OK;
    }
    attr_entry *other = context_resize(p->ctx, NULL, 0, count * sizeof *other);
    if (other == NULL) {
        return diag_nomem(p->ctx);
    }
    merge_sort(p, entries, other, count);
    context_resize(p->ctx, other, count * sizeof *other, 0);
    return TSR_OK;
}

tsr_status attr_dict(tsr_program *p, attr_entry *entries, size_t count, uint32_t *out)
{
    if (count == 0) {
        *out = 0;
        return TSR_OK;
    }
    TSR_TRY(sort_entries(p, entries, count));
    const attr_head head = {.kind = ATTR_DICT, .count = (uint32_t)count};
    return intern_attr(p, head, entries, count * sizeof *entries, out);
}

tsr_status attr_symbol(tsr_program *p, const uint32_t *strings, size_t count, uint32_t *out)
{
    const attr_head head = {.kind = ATTR_SYMBOL, .count = (uint32_t)count};
    return intern_attr(p, head, strings, count * sizeof *strings, out);
}

tsr_status attr_type(tsr_program *p, uint32_t type, uint32_t *out)
{
    return intern_attr(p, (attr_head){.kind = ATTR_TYPE, .type = type}, NULL, 0, out);
}

tsr_status attr_dense_array(tsr_program *p, uint32_t type, const int64_t *values, size_t count,
                            uint32_t *out)
{
    const attr_head head = {.kind = ATTR_DENSE_ARRAY, .type = type, .count = (uint32_t)count};
    return intern_attr(p, head, values, count * sizeof *values, out);
}

tsr_status attr_ints(tsr_program *p, const int64_t *values, size_t count, uint32_t *out)
{
    uint32_t type = 0;
    TSR_TRY(type_integer(p, 64, SIGNLESS, &type));
    return attr_dense_array(p, type, values, count, out);
}

tsr_status attr_elements(tsr_program *p, uint32_t type, const void *bytes, size_t size,
                         bool is_splat, uint32_t *out)
{
    const attr_head head = {
        .kind = ATTR_ELEMENTS, .is_splat = is_splat, .type = type, .count = (uint32_t)size};
    return intern_attr(p, head, bytes, size, out);
}

/* What a blob is found by. `ordinal` tells apart those whose hashes are equal by chance. */
typedef struct blob_key {
    uint64_t hash;
    uint64_t size;
    uint64_t ordinal;
} blob_key;

static const char **blob_data(const tsr_program *p, uint32_t blob)
{
    return (const char **)p->blob_data.items + blob;
}

static tsr_status intern_blob(tsr_program *p, slice digits, uint32_t *out)
{
    blob_key key = {hash_bytes(digits.data, digits.size, 0), digits.size, 0};
    for (;; key.ordinal++) {
        const uint32_t found = intern_find_bytes(&p->blobs, &key, sizeof key);
        if (found == 0) {
            break;
        }
        if (memcmp(*blob_data(p, found), digits.data, digits.size) == 0) {
            *out = found;
            return TSR_OK;
        }
    }
    TSR_TRY(ir_array_reserve(p->ctx, &p->blob_data, sizeof(const char *), 1));
    TSR_TRY(intern_bytes(&p->blobs, &key, sizeof key, out));
    *blob_data(p, p->blob_data.count++) = digits.data;
    return TSR_OK;
}

tsr_status attr_hex(tsr_program *p, uint32_t type, slice digits, uint32_t *out)
{
    uint32_t blob = 0;
    TSR_TRY(intern_blob(p, digits, &blob));
    return intern_attr(p, (attr_head){.kind = ATTR_HEX, .type = type, .bits = blob}, NULL, 0, out);
}

slice attr_digits(const tsr_program *p, uint32_t attr)
{
    const uint32_t blob = (uint32_t)program_attr(p, attr)->bits;
    const blob_key *key = intern_get(&p->blobs, blob);
    return (slice){*blob_data(p, blob), key->size};
}

tsr_status attr_of_text(tsr_program *p, attr_kind kind, int row, uint32_t type, const char *text,
                        size_t size, uint32_t *out)
{
    const attr_head head = {
        .kind = (uint8_t)kind, .row = (uint16_t)row, .type = type, .count = (uint32_t)size};
    return intern_attr(p, head, text, size, out);
}

uint32_t attr_find_text(const tsr_program *p, attr_kind kind, int row, const char *text,
                        size_t size)
{
    enum { MOST = 1024 };
    const attr_head head = {.kind = (uint8_t)kind, .row = (uint16_t)row, .count = (uint32_t)size};
    _Alignas(attr_head) char bytes[sizeof head + MOST];
    if (size > MOST) {
        return 0;
    }
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, text, size);
    return intern_find_bytes(&p->attrs, bytes, sizeof head + size);
}

tsr_status attr_sharding_list(tsr_program *p, const uint32_t *items, size_t count, uint32_t *out)
{
    const attr_head head = {
        .kind = ATTR_SDY, .row = SDY_SHARDING_PER_VALUE, .count = (uint32_t)count};
    return intern_attr(p, head, items, count * sizeof *items, out);
}

tsr_status attr_enum(tsr_program *p, int row, int value, uint32_t *out)
{
    const attr_head head = {.kind = ATTR_ENUM, .row = (uint16_t)row, .bits = (uint64_t)value};
    return intern_attr(p, head, NULL, 0, out);
}

tsr_status attr_struct(tsr_program *p, int row, const uint32_t *fields, size_t count, uint32_t *out)
{
    const attr_head head = {.kind = ATTR_STRUCT, .row = (uint16_t)row, .count = (uint32_t)count};
    return intern_attr(p, head, fields, count * sizeof *fields, out);
}

tsr_status attr_location(tsr_program *p, uint32_t given, uint32_t *out)
{
    return intern_attr(p, (attr_head){.kind = ATTR_LOCATION, .bits = given}, NULL, 0, out);
}

uint32_t dict_get_slice(const tsr_program *p, uint32_t dict, slice name)
{
    const attr_entry *entries = attr_entries(program_attr(p, dict));
    size_t low = 0;
    size_t high = dict_size(p, dict);
    while (high - low > FEW_ENTRIES) {
        const size_t middle = low + (high - low) / 2;
        if (compare_names(string_at(p, entries[middle].name), name) <= 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    for (; low < high; low++) {
        if (slice_equal(string_at(p, entries[low].name), name)) {
            return entries[low].value;
        }
    }
    return 0;
}

uint32_t dict_get(const tsr_program *p, uint32_t dict, const char *name)
{
    return dict == 0 ? 0 : dict_get_slice(p, dict, (slice){name, strlen(name)});
}

size_t dict_size(const tsr_program *p, uint32_t dict)
{
    return attr_is(p, dict, ATTR_DICT) ? program_attr(p, dict)->count : 0;
}

bool attr_as_integer(const tsr_program *p, uint32_t attr, int64_t *out)
{
    if (!attr_is(p, attr, ATTR_INTEGER)) {
        return false;
    }
    *out = (int64_t)program_attr(p, attr)->bits;
    return true;
}

bool attr_as_string(const tsr_program *p, uint32_t attr, slice *out)
{
    if (!attr_is(p, attr, ATTR_STRING)) {
        return false;
    }
    const attr_head *head = program_attr(p, attr);
    *out = (slice){attr_text(head), head->count};
    return true;
}

bool attr_as_symbol(const tsr_program *p, uint32_t attr, slice *out)
{
    if (!attr_is(p, attr, ATTR_SYMBOL) || program_attr(p, attr)->count != 1) {
        return false;
    }
    *out = string_at(p, attr_list(program_attr(p, attr))[0]);
    return true;
}

/* Topologies as JSON, read and printed. The schema is in tessera/topology.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "topology/json_place.h"
#include "topology/topology.h"
#include "topology/units.h"

enum { KEYS = 128, QUANTITY = 64 };

typedef struct reader {
    tsr_context *ctx;
    tsr_arena *arena;
    const tsr_text *text;
    tsr_topology_spec *spec;
    int64_t devices;   /* of the key `devices`; 0 without it */
    size_t devices_at; /* its place, or that of `levels` */
    size_t levels_at;
} reader;

/* A value, and where it is in the text. `key` is the key or the place that messages name. */
typedef struct node {
    const json_t *value;
    size_t at;
    const char *key;
} node;

/* Reads a value into `into`. */
typedef tsr_status (*read_value)(reader *r, const node *n, void *into);

/* A key of an object. */
typedef struct field {
    const char *key;
    read_value read;
    size_t offset; /* of the member of the struct */
    bool required;
} field;

static location where(const reader *r, size_t at)
{
    return (location){
        .text = r->text, .at = at, .width = json_place_width(r->text->data, r->text->size, at)};
}

/* ---- scalars ---- */

static tsr_status read_name(reader *r, const node *n, void *into)
{
    const char *name = json_string_value(n->value);
    if (name == NULL || name[0] == '\0') {
        return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at),
                          "\"%s\" must be a string that is not empty", n->key);
    }
    const char *copy = arena_string(r->arena, name, strlen(name));
    memcpy(into, &copy, sizeof copy);
    return copy != NULL ? TSR_OK : diag_nomem(r->ctx);
}

static tsr_status read_size(reader *r, const node *n, void *into)
{
    int64_t *out = into;
    if (json_is_string(n->value) && strcmp(json_string_value(n->value), "any") == 0) {
        *out = TSR_UNKNOWN;
        return TSR_OK;
    }
    *out = json_integer_value(n->value);
    if (json_is_integer(n->value) && *out >= 1) {
        return TSR_OK;
    }
    return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at),
                      "\"size\" must be a whole number above 0, or \"any\" for the outermost "
                      "level");
}

static tsr_status read_devices(reader *r, const node *n, void *into)
{
    (void)into;
    r->devices = json_integer_value(n->value);
    r->devices_at = n->at;
    if (json_is_integer(n->value) && r->devices >= 1) {
        return TSR_OK;
    }
    return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at),
                      "\"devices\" must be a whole number above 0");
}

static tsr_status fail_quantity(reader *r, const node *n, unit_kind kind, unit_fault fault)
{
    if (fault == UNIT_NOT_WHOLE) {
        return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at),
                          "\"%s\" must be a whole number of %s", n->key, unit_smallest(kind));
    }
    if (fault == UNIT_TOO_LARGE) {
        return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at), "\"%s\" is more than 2^63-1 %s",
                          n->key, unit_smallest(kind));
    }
    return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at),
                      "\"%s\" must be a string of a decimal number and a unit, one of %s", n->key,
                      unit_names(kind));
}

/* Reads a quantity from `least` to `limit`. */
static tsr_status read_quantity(reader *r, const node *n, unit_kind kind, int64_t least,
                                int64_t limit, int64_t *out)
{
    const char *text = json_string_value(n->value);
    const unit_fault fault = text != NULL ? unit_read(kind, text, out) : UNIT_NO_NUMBER;
    if (fault != UNIT_FINE) {
        return fail_quantity(r, n, kind, fault);
    }
    if (*out >= least && *out <= limit) {
        return TSR_OK;
    }
    return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at),
                      "\"%s\" is %lld %s; it must be %lld to %lld", n->key, (long long)*out,
                      unit_smallest(kind), (long long)least, (long long)limit);
}

static tsr_status read_latency(reader *r, const node *n, void *into)
{
    return read_quantity(r, n, UNIT_LATENCY, 0, TOPOLOGY_MAX_LATENCY, into);
}

static tsr_status read_rate(reader *r, const node *n, void *into)
{
    return read_quantity(r, n, UNIT_RATE, 1, INT64_MAX, into);
}

static tsr_status read_memory(reader *r, const node *n, void *into)
{
    return read_quantity(r, n, UNIT_MEMORY, 1, INT64_MAX, into);
}

/* ---- objects and lists ---- */

static void list_keys(const field *fields, size_t count, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < count && used < size; i++) {
        const int length =
            snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", fields[i].key);
        used += length > 0 ? (size_t)length : 0;
    }
}

/* Reads the value of one key. */
static tsr_status read_member(reader *r, const field *fields, size_t count, const node *n,
                              size_t key_at, void *into)
{
    char keys[KEYS];
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, n->key) == 0) {
            return fields[i].read(r, n, (char *)into + fields[i].offset);
        }
    }
    list_keys(fields, count, keys, sizeof keys);
    return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, key_at),
                      "unknown key \"%s\"; the keys here are %s", n->key, keys);
}

static tsr_status read_object(reader *r, const node *n, const field *fields, size_t count,
                              void *into)
{
    const char *key = NULL;
    json_t *value = NULL;
    size_t index = 0;
    if (!json_is_object(n->value)) {
        return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at), "%s must be an object {..}",
                          n->key);
    }
    json_object_foreach(without_const(n->value), key, value)
    {
        size_t key_at = 0;
        node member = {value, 0, key};
        json_place_member(r->text->data, r->text->size, n->at, index++, &key_at, &member.at);
        TSR_TRY(read_member(r, fields, count, &member, key_at, into));
    }
    for (size_t i = 0; i < count; i++) {
        if (fields[i].required && json_object_get(n->value, fields[i].key) == NULL) {
            const location brace = {.text = r->text, .at = n->at, .width = 1};
            return diag_error(r->ctx, TSR_ERR_SYNTAX, brace, "%s must have the key \"%s\"", n->key,
                              fields[i].key);
        }
    }
    return TSR_OK;
}

static const field level_fields[] = {
    {"name", read_name, offsetof(tsr_level, name), true},
    {"size", read_size, offsetof(tsr_level, size), true},
    {"latency", read_latency, offsetof(tsr_level, latency), true},
    {"bandwidth", read_rate, offsetof(tsr_level, bandwidth), true},
};

/* Reads one level, and checks it against those outside of it. */
static tsr_status read_level(reader *r, const node *n, tsr_level *levels, size_t index)
{
    TSR_TRY(read_object(r, n, level_fields, sizeof level_fields / sizeof *level_fields,
                        &levels[index]));
    if (levels[index].size == TSR_UNKNOWN && index > 0) {
        return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at),
                          "level %s has size \"any\", which only the outermost level may have",
                          levels[index].name);
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(levels[i].name, levels[index].name) == 0) {
            return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at),
                              "two levels have the \"name\" %s; names must differ", levels[i].name);
        }
    }
    return TSR_OK;
}

static tsr_status read_levels(reader *r, const node *n, void *into)
{
    const size_t count = json_array_size(n->value);
    (void)into;
    r->levels_at = n->at;
    if (count < 1 || count > TSR_MAX_LEVELS) {
        return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at),
                          "\"levels\" must be a list of 1 to %d levels, outermost first",
                          TSR_MAX_LEVELS);
    }
    tsr_level *levels = ARENA_ARRAY(r->arena, tsr_level, count);
    if (levels == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const node level = {json_array_get(n->value, i),
                            json_place_element(r->text->data, r->text->size, n->at, i), "a level"};
        TSR_TRY(read_level(r, &level, levels, i));
    }
    r->spec->levels = levels;
    r->spec->num_levels = count;
    return TSR_OK;
}

/* Reads one rate; the key names an element type. */
static tsr_status read_flop_rate(reader *r, const node *n, size_t key_at, tsr_flop_rate *out)
{
    for (int i = 0; i < tsr_dtype_count(); i++) {
        if (strcmp(tsr_dtype_name((tsr_dtype)i), n->key) == 0) {
            out->dtype = (tsr_dtype)i;
            return read_quantity(r, n, UNIT_FLOPS, 1, INT64_MAX, &out->flops);
        }
    }
    return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, key_at),
                      "unknown element type \"%s\" in \"flops\"; the keys here are names such as "
                      "f32 and bf16",
                      n->key);
}

static tsr_status read_flops(reader *r, const node *n, void *into)
{
    const char *key = NULL;
    json_t *value = NULL;
    size_t index = 0;
    (void)into;
    if (!json_is_object(n->value)) {
        return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, n->at),
                          "\"flops\" must be an object {..} of element types and rates");
    }
    tsr_flop_rate *rates = ARENA_ARRAY(r->arena, tsr_flop_rate, json_object_size(n->value) + 1);
    if (rates == NULL) {
        return diag_nomem(r->ctx);
    }
    json_object_foreach(without_const(n->value), key, value)
    {
        size_t key_at = 0;
        node member = {value, 0, key};
        json_place_member(r->text->data, r->text->size, n->at, index, &key_at, &member.at);
        TSR_TRY(read_flop_rate(r, &member, key_at, &rates[index++]));
    }
    r->spec->rates = rates;
    r->spec->num_rates = index;
    return TSR_OK;
}

static const field device_fields[] = {
    {"copy", read_rate, offsetof(tsr_topology_spec, copy_bandwidth), true},
    {"reduction", read_rate, offsetof(tsr_topology_spec, reduce_bandwidth), true},
    {"memory", read_memory, offsetof(tsr_topology_spec, memory), false},
    {"flops", read_flops, 0, false},
};

static tsr_status read_device(reader *r, const node *n, void *into)
{
    const node named = {n->value, n->at, "\"device\""};
    return read_object(r, &named, device_fields, sizeof device_fields / sizeof *device_fields,
                       into);
}

static const field topology_fields[] = {
    {"name", read_name, offsetof(tsr_topology_spec, name), false},
    {"devices", read_devices, 0, false},
    {"levels", read_levels, 0, true},
    {"device", read_device, 0, true},
};

/* Checks that the sizes multiply to what `devices` says, and to at most 2^62. */
static tsr_status check_sizes(reader *r)
{
    int64_t product = 1;
    bool fits = true;
    bool any = false;
    for (size_t i = 0; i < r->spec->num_levels; i++) {
        const int64_t size = r->spec->levels[i].size;
        any = any || size == TSR_UNKNOWN;
        fits = fits && checked_mul(product, size == TSR_UNKNOWN ? 1 : size, &product);
    }
    fits = fits && product <= INT64_C(1) << 62;
    if (!fits) {
        return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, r->levels_at),
                          "the sizes of \"levels\" multiply to more than 2^62 devices");
    }
    if (r->devices == 0 || r->devices == product || (any && r->devices % product == 0)) {
        return TSR_OK;
    }
    return diag_error(r->ctx, TSR_ERR_SYNTAX, where(r, r->devices_at),
                      "\"devices\" is %lld, but the sizes of the levels multiply to %lld%s",
                      (long long)r->devices, (long long)product,
                      any ? " times the outermost one" : "");
}

/* A number of devices gives an outermost size of "any". */
static void settle_outermost(reader *r)
{
    tsr_level *levels = without_const(r->spec->levels);
    int64_t inner = 1;
    for (size_t i = 1; i < r->spec->num_levels; i++) {
        inner *= levels[i].size;
    }
    if (levels[0].size == TSR_UNKNOWN && r->devices > 0) {
        levels[0].size = r->devices / inner;
    }
}

static tsr_status read_root(reader *r, const json_t *root)
{
    const node n = {root, json_place_start(r->text->data, r->text->size, r->text->at),
                    "a topology"};
    TSR_TRY(read_object(r, &n, topology_fields, sizeof topology_fields / sizeof *topology_fields,
                        r->spec));
    TSR_TRY(check_sizes(r));
    settle_outermost(r);
    return TSR_OK;
}

tsr_status tsr_topology_read(tsr_context *ctx, tsr_arena *arena, const tsr_text *text,
                             const tsr_topology **out)
{
    GUARD(tsr_topology_read);
    tsr_topology_spec spec = {0};
    reader r = {.ctx = ctx, .arena = arena, .text = text, .spec = &spec};
    json_error_t error = {.position = 0};
    const size_t at = text->at < text->size ? text->at : text->size;
    json_t *root = json_loadb(text->data != NULL ? text->data + at : "", text->size - at,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (root == NULL) {
        const size_t fault = error.position > 0 ? (size_t)error.position - 1 : 0;
        const location place = {.text = text,
                                .at = at + (fault < text->size - at ? fault : text->size - at)};
        return diag_error(ctx, TSR_ERR_SYNTAX, place, "a topology must be JSON: %s", error.text);
    }
    const tsr_status status = read_root(&r, root);
    json_decref(root);
    TSR_TRY(status);
    return topology_build(ctx, arena, &spec, out);
}

/* ---- printing ---- */

static json_t *quantity(unit_kind kind, int64_t value)
{
    char text[QUANTITY];
    unit_print(kind, value, text, sizeof text);
    return json_string(text);
}

static json_t *level_json(const tsr_level *level)
{
    json_t *size =
        level->size == TSR_UNKNOWN ? json_string("any") : json_integer((json_int_t)level->size);
    return json_pack("{s:s, s:o, s:o, s:o}", "name", level->name, "size", size, "latency",
                     quantity(UNIT_LATENCY, level->latency), "bandwidth",
                     quantity(UNIT_RATE, level->bandwidth));
}

static json_t *device_json(const tsr_topology_spec *spec)
{
    json_t *device = json_pack("{s:o, s:o}", "copy", quantity(UNIT_RATE, spec->copy_bandwidth),
                               "reduction", quantity(UNIT_RATE, spec->reduce_bandwidth));
    if (spec->memory > 0) {
        (void)json_object_set_new(device, "memory", quantity(UNIT_MEMORY, spec->memory));
    }
    if (spec->num_rates > 0) {
        json_t *flops = json_object();
        for (size_t i = 0; i < spec->num_rates; i++) {
            (void)json_object_set_new(flops, tsr_dtype_name(spec->rates[i].dtype),
                                      quantity(UNIT_FLOPS, spec->rates[i].flops));
        }
        (void)json_object_set_new(device, "flops", flops);
    }
    return device;
}

/* All of it; NULL if a name is not UTF-8, or without memory. */
static json_t *topology_json(const tsr_topology_spec *spec)
{
    json_t *root = json_object();
    json_t *levels = json_array();
    bool failed = false;
    for (size_t i = 0; i < spec->num_levels; i++) {
        failed = json_array_append_new(levels, level_json(&spec->levels[i])) != 0 || failed;
    }
    if (spec->name != NULL) {
        failed = json_object_set_new(root, "name", json_string(spec->name)) != 0 || failed;
    }
    failed = json_object_set_new(root, "levels", levels) != 0 || failed;
    failed = json_object_set_new(root, "device", device_json(spec)) != 0 || failed;
    if (failed) {
        json_decref(root);
        return NULL;
    }
    return root;
}

tsr_status tsr_topology_print(tsr_context *ctx, tsr_arena *arena, const tsr_topology *topology,
                              const char **out)
{
    GUARD(tsr_topology_print);
    json_t *root = topology_json(&topology->spec);
    char *text = root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (text == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a name of the topology is not UTF-8, or memory ran out");
    }
    const char *copy = arena_string(arena, text, strlen(text));
    free(text);
    if (copy == NULL) {
        return diag_nomem(ctx);
    }
    *out = copy;
    return TSR_OK;
}

#include "topology/topology.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"

#define MAX_DEVICES (INT64_C(1) << 62)

static tsr_status check_level(tsr_context *ctx, const tsr_topology_spec *spec, size_t index)
{
    const tsr_level *level = &spec->levels[index];
    if (level->name[0] == '\0') {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "level %zu has an empty name; give it one, such as host", index);
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(spec->levels[i].name, level->name) == 0) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "levels %zu and %zu have the same name %s; names must differ", i,
                              index, level->name);
        }
    }
    if (level->size < 1 && (index > 0 || level->size != TSR_UNKNOWN)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "level %s has size %lld; a size must be at least 1, and only that of the "
                          "outermost level may be unknown",
                          level->name, (long long)level->size);
    }
    if (level->latency < 0 || level->latency > TOPOLOGY_MAX_LATENCY) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "level %s has a latency of %lld ps; it must be 0 to %lld ps", level->name,
                          (long long)level->latency, (long long)TOPOLOGY_MAX_LATENCY);
    }
    if (level->bandwidth < 1) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "level %s has a bandwidth of %lld bytes a second; it must be at least 1",
                          level->name, (long long)level->bandwidth);
    }
    return TSR_OK;
}

static tsr_status check_rates(tsr_context *ctx, const tsr_topology_spec *spec)
{
    if (spec->copy_bandwidth < 1 || spec->reduce_bandwidth < 1 || spec->memory < 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a device must copy and reduce at least 1 byte a second and have at "
                          "least 0 bytes of memory, got: copy %lld, reduction %lld, memory %lld",
                          (long long)spec->copy_bandwidth, (long long)spec->reduce_bandwidth,
                          (long long)spec->memory);
    }
    for (size_t i = 0; i < spec->num_rates; i++) {
        const char *name = tsr_dtype_name(spec->rates[i].dtype);
        if (spec->rates[i].flops < 1) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "the rate of %s is %lld operations a second; it must be at least 1",
                              name, (long long)spec->rates[i].flops);
        }
        for (size_t k = 0; k < i; k++) {
            if (spec->rates[k].dtype == spec->rates[i].dtype) {
                return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                                  "element type %s has two rates; give one", name);
            }
        }
    }
    return TSR_OK;
}

/* The strides of all levels and the number of devices. */
static tsr_status count_devices(tsr_context *ctx, tsr_topology *t)
{
    int64_t devices = 1;
    for (size_t i = t->spec.num_levels; i-- > 0;) {
        t->strides[i] = devices;
        const int64_t size = t->spec.levels[i].size;
        if (size == TSR_UNKNOWN) {
            t->devices = TSR_UNKNOWN;
            return TSR_OK;
        }
        if (!checked_mul(devices, size, &devices) || devices > MAX_DEVICES) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "the sizes of the levels multiply to more than 2^62 devices");
        }
    }
    t->devices = devices;
    return TSR_OK;
}

/* Copies what the spec points at into the arena. False when there is no memory. */
static bool copy_spec(tsr_arena *arena, const tsr_topology_spec *spec, tsr_topology_spec *out)
{
    tsr_level *levels = arena_copy(arena, spec->levels, spec->num_levels, sizeof *levels);
    const tsr_flop_rate *rates =
        arena_copy(arena, spec->rates, spec->num_rates, sizeof *spec->rates);
    const char *name =
        spec->name != NULL ? arena_string(arena, spec->name, strlen(spec->name)) : NULL;
    if (levels == NULL || rates == NULL || (spec->name != NULL && name == NULL)) {
        return false;
    }
    for (size_t i = 0; i < spec->num_levels; i++) {
        levels[i].name = arena_string(arena, levels[i].name, strlen(levels[i].name));
        if (levels[i].name == NULL) {
            return false;
        }
    }
    *out = *spec;
    out->name = name;
    out->levels = levels;
    out->rates = rates;
    return true;
}

tsr_status topology_build(tsr_context *ctx, tsr_arena *arena, const tsr_topology_spec *spec,
                          const tsr_topology **out)
{
    if (spec->num_levels < 1 || spec->num_levels > TSR_MAX_LEVELS) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a topology must have 1 to %d levels, got: %zu", TSR_MAX_LEVELS,
                          spec->num_levels);
    }
    for (size_t i = 0; i < spec->num_levels; i++) {
        TSR_TRY(check_level(ctx, spec, i));
    }
    TSR_TRY(check_rates(ctx, spec));
    tsr_topology *t = ARENA_NEW(arena, tsr_topology);
    if (t == NULL || !copy_spec(arena, spec, &t->spec)) {
        return diag_nomem(ctx);
    }
    TSR_TRY(count_devices(ctx, t));
    *out = t;
    return TSR_OK;
}

tsr_status tsr_topology_create(tsr_context *ctx, tsr_arena *arena, const tsr_topology_spec *spec,
                               const tsr_topology **out)
{
    GUARD(tsr_topology_create);
    return topology_build(ctx, arena, spec, out);
}

static const char *name_of(const tsr_topology *t)
{
    return t->spec.name != NULL ? t->spec.name : "without a name";
}

/* Gives each level its members, from the innermost outwards. */
static tsr_status take_devices(tsr_context *ctx, const tsr_topology *t, int64_t devices,
                               tsr_level *levels)
{
    int64_t left = devices;
    for (size_t i = t->spec.num_levels; i-- > 1;) {
        const int64_t size = levels[i].size;
        if (left % size != 0 && left > size) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%lld devices do not fill level %s of topology %s: %lld groups of "
                              "that level are left for groups of %lld; give a number of devices "
                              "that divides into such groups, or another topology",
                              (long long)devices, levels[i].name, name_of(t), (long long)left,
                              (long long)size);
        }
        levels[i].size = min_i64(left, size);
        left /= levels[i].size;
    }
    levels[0].size = left;
    return TSR_OK;
}

tsr_status tsr_topology_fit(tsr_context *ctx, tsr_arena *arena, const tsr_topology *topology,
                            int64_t devices, const tsr_topology **out)
{
    GUARD(tsr_topology_fit);
    tsr_level levels[TSR_MAX_LEVELS];
    tsr_topology_spec spec = topology->spec;
    if (devices < 1) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a topology needs at least 1 device, got: %lld", (long long)devices);
    }
    if (topology->devices == devices) {
        *out = topology;
        return TSR_OK;
    }
    if (topology->devices != TSR_UNKNOWN) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "topology %s has %lld devices, but the mesh has %lld; use a topology "
                          "whose outermost size is \"any\", or one of that many devices",
                          name_of(topology), (long long)topology->devices, (long long)devices);
    }
    memcpy(levels, spec.levels, spec.num_levels * sizeof *levels);
    TSR_TRY(take_devices(ctx, topology, devices, levels));
    spec.levels = levels;
    return topology_build(ctx, arena, &spec, out);
}

tsr_topology_spec tsr_topology_facts(const tsr_topology *topology)
{
    GUARD(tsr_topology_facts);
    return topology->spec;
}

int64_t tsr_topology_num_devices(const tsr_topology *topology)
{
    GUARD(tsr_topology_num_devices);
    return topology->devices;
}

int64_t tsr_topology_level_between(const tsr_topology *topology, int64_t a, int64_t b)
{
    GUARD(tsr_topology_level_between);
    const int64_t devices = topology->devices != TSR_UNKNOWN ? topology->devices : INT64_MAX;
    if (a < 0 || b < 0 || a >= devices || b >= devices) {
        return -1;
    }
    size_t level = 0;
    while (level < topology->spec.num_levels &&
           a / topology->strides[level] == b / topology->strides[level]) {
        level++;
    }
    return (int64_t)level;
}

int64_t tsr_topology_flops(const tsr_topology *topology, tsr_dtype dtype)
{
    GUARD(tsr_topology_flops);
    for (size_t i = 0; i < topology->spec.num_rates; i++) {
        if (topology->spec.rates[i].dtype == dtype) {
            return topology->spec.rates[i].flops;
        }
    }
    return 0;
}

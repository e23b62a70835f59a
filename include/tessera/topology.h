/*
 * Topologies: the levels of a machine, with latency and bandwidth of each, and the rates of a
 * device.
 *
 * Levels are listed outermost first: racks, hosts, devices of a host. Device ids are laid over the
 * levels in row-major order, so that the innermost level changes fastest; two devices talk at the
 * outermost level in which they differ. Numbers are integers, so that every rank computes the same
 * price: latencies are whole picoseconds, bandwidths whole bytes a second.
 *
 * A file is JSON, one object:
 *
 *     {
 *       "name": "two-hosts",
 *       "devices": 16,
 *       "levels": [
 *         {"name": "network", "size": 2, "latency": "10 us", "bandwidth": "12.5 GB/s"},
 *         {"name": "host", "size": 8, "latency": "1.5 us", "bandwidth": "300 GB/s"}
 *       ],
 *       "device": {
 *         "copy": "1.6 TB/s", "reduction": "1.1 TB/s", "memory": "80 GiB",
 *         "flops": {"f32": "67 Tflop/s", "bf16": "989 Tflop/s"}
 *       }
 *     }
 *
 * `levels` and `device` with `copy` and `reduction` are required, and all four keys of a level. The
 * size of the outermost level may be "any": the level then has as many members as the mesh needs.
 * `devices` is checked against the product of the sizes. Quantities are decimal numbers with a
 * unit: ps, ns, us, ms, s; B/s with k, M, G, T or Ki, Mi, Gi, Ti before it, and bit/s with k, M, G,
 * T; the same without /s for memory; flop/s with k, M, G, T, P. Every quantity must be a whole
 * number of picoseconds, bytes (a second) or operations a second. An unknown key is an error.
 */
#ifndef TESSERA_TOPOLOGY_H
#define TESSERA_TOPOLOGY_H

#include <tessera/context.h>
#include <tessera/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_topology tsr_topology;

/* The maximum number of levels of a topology. */
#define TSR_MAX_LEVELS 16

/* A level. `bandwidth` is what one device has at this level while all devices use the level. */
typedef struct tsr_level {
    const char *name;
    int64_t size;      /* members in one group of this level; TSR_UNKNOWN: as the mesh needs */
    int64_t latency;   /* picoseconds a round */
    int64_t bandwidth; /* bytes a second */
} tsr_level;

/* How many operations on an element type a device executes in a second. */
typedef struct tsr_flop_rate {
    tsr_dtype dtype;
    int64_t flops;
} tsr_flop_rate;

/* The description of a topology. */
typedef struct tsr_topology_spec {
    TSR_NULLABLE const char *name;
    size_t num_levels; /* 1 to TSR_MAX_LEVELS, outermost first */
    TSR_ARRAY(num_levels) const tsr_level *levels;
    int64_t copy_bandwidth;   /* bytes a second that a device copies */
    int64_t reduce_bandwidth; /* bytes a second that a device reduces */
    int64_t memory;           /* bytes of a device; 0: unknown */
    size_t num_rates;
    TSR_ARRAY(num_rates) const tsr_flop_rate *rates;
} tsr_topology_spec;

/*
 * Creates a topology in the arena; names and lists are copied. Rejects sizes below 1 (but for
 * TSR_UNKNOWN in the outermost level), sizes whose product exceeds 2^62, negative latencies or ones
 * above 10^15 ps, bandwidths and rates below 1, names of levels that are empty or used twice, and
 * an element type with two rates.
 */
TSR_API TSR_NODISCARD tsr_status tsr_topology_create(tsr_context *ctx, tsr_arena *arena,
                                                     const tsr_topology_spec *spec,
                                                     const tsr_topology **out) TSR_MT_CONTEXT;

/*
 * Reads a topology from JSON: all of the text from `at` on. An error has the location of the key or
 * value and names it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_topology_read(tsr_context *ctx, tsr_arena *arena,
                                                   const tsr_text *text,
                                                   const tsr_topology **out) TSR_MT_CONTEXT;

/*
 * Finds a topology: the preset with this name, or else the file with this path, of at most 1 MiB.
 * NULL is the value of the environment variable TSR_TOPOLOGY, or "host" if that is unset or empty.
 */
TSR_API TSR_NODISCARD tsr_status tsr_topology_find(tsr_context *ctx, tsr_arena *arena,
                                                   TSR_NULLABLE const char *name,
                                                   const tsr_topology **out) TSR_MT_CONTEXT;

/*
 * Fits a topology to a number of devices. If the outermost size is unknown, the levels take devices
 * from the innermost one outwards: a level takes its whole size if that divides what is left, all
 * that is left if that is less than its size, and the outermost level takes the rest; a number that
 * leaves a group partly filled is TSR_ERR_INVALID. If all sizes are known, their product must be
 * the number of devices.
 */
TSR_API TSR_NODISCARD tsr_status tsr_topology_fit(tsr_context *ctx, tsr_arena *arena,
                                                  const tsr_topology *topology, int64_t devices,
                                                  const tsr_topology **out) TSR_MT_CONTEXT;

/*
 * Prints a topology as JSON that tsr_topology_read reads; each quantity has the largest unit in
 * which it is a whole number. The text is allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_topology_print(tsr_context *ctx, tsr_arena *arena,
                                                    const tsr_topology *topology,
                                                    const char **out) TSR_MT_CONTEXT;

/* Returns the description of a topology. Names and lists are owned by the topology. */
TSR_API tsr_topology_spec tsr_topology_facts(const tsr_topology *topology) TSR_MT_SAFE;

/* Returns the number of devices, or TSR_UNKNOWN if the outermost size is unknown. */
TSR_API int64_t tsr_topology_num_devices(const tsr_topology *topology) TSR_MT_SAFE;

/*
 * Returns the level at which two devices talk: the outermost one in which their ids differ; the
 * number of levels if the ids are equal. -1 if an id is negative or out of range.
 */
TSR_API int64_t tsr_topology_level_between(const tsr_topology *topology, int64_t a,
                                           int64_t b) TSR_MT_SAFE;

/* Returns the operations a second for an element type; 0 if the topology has no rate for it. */
TSR_API int64_t tsr_topology_flops(const tsr_topology *topology, tsr_dtype dtype) TSR_MT_SAFE;

/* A topology with a name, and where its numbers come from. Static. */
typedef struct tsr_topology_preset {
    const char *name;
    const char *source;
} tsr_topology_preset;

/* tsr_topology_preset_at returns NULL if the index is out of range. */
TSR_API size_t tsr_topology_preset_count(void) TSR_MT_SAFE;
TSR_API const tsr_topology_preset *tsr_topology_preset_at(size_t index) TSR_MT_SAFE;

#ifdef __cplusplus
}
#endif

#endif

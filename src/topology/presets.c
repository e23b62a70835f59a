/* Topologies by name, each with the source of its numbers; the file or preset that a name means. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "topology/topology.h"

enum { MAX_FILE = 1 << 20, NAMES = 128 };

#define US INT64_C(1000000)
#define GB INT64_C(1000000000)

/* Ranks of one machine have no boundary between them, whether they are threads or processes. */
static const tsr_level threads_levels[] = {{"threads", TSR_UNKNOWN, US / 2, 10 * GB}};
static const tsr_level host_levels[] = {{"host", TSR_UNKNOWN, US / 2, 10 * GB}};
static const tsr_level pod_levels[] = {{"pod", TSR_UNKNOWN, 14 * US, 50 * GB},
                                       {"host", 8, 34 * US / 10, 450 * GB}};
static const tsr_level ethernet_levels[] = {{"ethernet", TSR_UNKNOWN, 10 * US, 125 * GB / 100}};

static const tsr_flop_rate pod_rates[] = {
    {TSR_F64, 34000 * GB}, {TSR_F32, 67000 * GB}, {TSR_F16, 989000 * GB}, {TSR_BF16, 989000 * GB}};

/* A preset as the caller sees it, and the topology. */
static const struct {
    tsr_topology_preset shown;
    tsr_topology_spec spec;
} presets[] = {
    {{"threads", "tsr_link_default of shared memory: 0.5 us, 10 GB/s; copies and reductions 10 "
                 "GB/s"},
     {"threads", 1, threads_levels, 10 * GB, 10 * GB, 0, 0, NULL}},
    {{"host", "tsr_link_default of shared memory: processes of one host run the same transport "
              "over the same segments as threads"},
     {"host", 1, host_levels, 10 * GB, 10 * GB, 0, 0, NULL}},
    {{"gpu-pod",
      "NVIDIA H100 SXM and DGX H100 data sheets: NVLink 900 GB/s in both directions together, one "
      "400 Gbit/s port a device, 3.35 TB/s and 80 GB of memory, dense rates; a copy reads and "
      "writes (half), a reduction reads two and writes one (a third). Latencies: hwLat of NCCL "
      "2.18 tuning, ring, simple protocol"},
     {"gpu-pod", 2, pod_levels, 1675 * GB, 3350 * GB / 3, 80 * GB, 4, pod_rates}},
    {{"ethernet", "IEEE 802.3ae: 10 Gbit/s, one device a host; latency, copies and reductions: "
                  "tsr_link_default of messages"},
     {"ethernet", 1, ethernet_levels, 10 * GB, 10 * GB, 0, 0, NULL}},
};
enum { NUM_PRESETS = sizeof presets / sizeof presets[0] };

size_t tsr_topology_preset_count(void)
{
    GUARD(tsr_topology_preset_count);
    return NUM_PRESETS;
}

const tsr_topology_preset *tsr_topology_preset_at(size_t index)
{
    GUARD(tsr_topology_preset_at);
    return index < NUM_PRESETS ? &presets[index].shown : NULL;
}

const tsr_topology_spec *topology_preset_find(const char *name)
{
    for (size_t i = 0; i < NUM_PRESETS; i++) {
        if (strcmp(presets[i].shown.name, name) == 0) {
            return &presets[i].spec;
        }
    }
    return NULL;
}

void topology_preset_names(char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < NUM_PRESETS && used < size; i++) {
        const int length =
            snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", presets[i].shown.name);
        used += length > 0 ? (size_t)length : 0;
    }
}

/* Reads an open file to its end, as text. */
static tsr_status read_open(tsr_context *ctx, tsr_arena *arena, const char *path, int fd,
                            tsr_text *out)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the topology %s is not a regular file", path);
    }
    if (about.st_size > MAX_FILE) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the topology %s has %lld bytes; the maximum is %d", path,
                          (long long)about.st_size, MAX_FILE);
    }
    char *data = tsr_arena_alloc(arena, (size_t)about.st_size + 1);
    if (data == NULL) {
        return diag_nomem(ctx);
    }
    size_t size = 0;
    ssize_t count = 1;
    while (count > 0 && size < (size_t)about.st_size) {
        count = read(fd, data + size, (size_t)about.st_size - size);
        size += count > 0 ? (size_t)count : 0;
    }
    if (count < 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "cannot read the topology %s: %s",
                          path, strerror(errno));
    }
    *out = (tsr_text){.name = path, .data = data, .size = size};
    return TSR_OK;
}

static tsr_status read_file(tsr_context *ctx, tsr_arena *arena, const char *path,
                            const tsr_topology **out)
{
    char names[NAMES];
    tsr_text text = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        topology_preset_names(names, sizeof names);
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "unknown topology %s: not one of %s, and the file cannot be opened: %s",
                          path, names, strerror(errno));
    }
    const tsr_status status = read_open(ctx, arena, path, fd, &text);
    (void)close(fd);
    TSR_TRY(status);
    return tsr_topology_read(ctx, arena, &text, out);
}

tsr_status tsr_topology_find(tsr_context *ctx, tsr_arena *arena, const char *name,
                             const tsr_topology **out)
{
    GUARD(tsr_topology_find);
    if (name == NULL) {
        name = getenv("TSR_TOPOLOGY");
    }
    if (name == NULL || name[0] == '\0') {
        name = "host";
    }
    const tsr_topology_spec *preset = topology_preset_find(name);
    return preset != NULL ? topology_build(ctx, arena, preset, out)
                          : read_file(ctx, arena, name, out);
}

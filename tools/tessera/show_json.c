/* The facts as JSON, written device by device. */
#include <inttypes.h>
#include <string.h>

#include "show.h"
#include "utf8.h"

static void write_numbers(const int64_t *numbers, size_t count)
{
    putchar('[');
    for (size_t i = 0; i < count; i++) {
        printf("%s%" PRId64, i > 0 ? ", " : "", numbers[i]);
    }
    putchar(']');
}

static void write_shape(const char *key, const int64_t *extents, size_t rank)
{
    printf(",\n  \"%s\": ", key);
    write_numbers(extents, rank);
}

static void write_text(const char *key, const char *text)
{
    printf(",\n  \"%s\": ", key);
    write_json_string(stdout, text);
}

static bool has_unaligned(const struct facts *facts)
{
    for (size_t d = 0; d < facts->rank; d++) {
        const tsr_ragged *ragged = ragged_of(facts->sharding, d);
        if (ragged != NULL && ragged->kind == TSR_RAGGED_UNALIGNED) {
            return true;
        }
    }
    return false;
}

/* The pieces of a device: a list of [start, size] for each dimension. */
static void write_pieces(const struct facts *facts, int64_t device, size_t most,
                         tsr_interval *pieces)
{
    fputs(", \"pieces\": [", stdout);
    for (size_t d = 0; d < facts->rank; d++) {
        int64_t count = tsr_geometry_pieces(facts->geometry, device, d, most, pieces);
        fputs(d > 0 ? ", [" : "[", stdout);
        for (int64_t i = 0; i < count; i++) {
            printf("%s[%" PRId64 ", %" PRId64 "]", i > 0 ? ", " : "", pieces[i].start,
                   pieces[i].size);
        }
        putchar(']');
    }
    putchar(']');
}

/* What a device stores, where that is more than it holds. */
static void write_stored(const struct facts *facts, int64_t device, const int64_t *size,
                         int64_t *stored)
{
    tsr_geometry_stored_size(facts->geometry, device, stored);
    if (memcmp(stored, size, facts->rank * sizeof *size) != 0) {
        fputs(", \"stored_size\": ", stdout);
        write_numbers(stored, facts->rank);
    }
}

static void write_devices(struct session *session, const struct facts *facts)
{
    size_t most = facts_most_pieces(facts);
    tsr_interval *pieces = session_alloc(session, most, sizeof *pieces);
    int64_t *start = session_alloc(session, facts->rank, sizeof *start);
    int64_t *size = session_alloc(session, facts->rank, sizeof *size);
    int64_t *stored = session_alloc(session, facts->rank, sizeof *stored);
    bool in_pieces = has_unaligned(facts);
    fputs(",\n  \"devices\": [", stdout);
    for (int64_t place = facts->first; place < facts->end && !ferror(stdout); place++) {
        int64_t device = tsr_mesh_device_at(facts->mesh, place);
        tsr_geometry_box(facts->geometry, device, start, size);
        printf("%s\n    {\"id\": %" PRId64 ", \"start\": ", place > facts->first ? "," : "",
               device);
        write_numbers(start, facts->rank);
        fputs(", \"size\": ", stdout);
        write_numbers(size, facts->rank);
        write_stored(facts, device, size, stored);
        if (in_pieces) {
            write_pieces(facts, device, most, pieces);
        }
        putchar('}');
    }
    fputs(facts->first < facts->end ? "\n  ]" : "]", stdout);
}

static void write_geometry(struct session *session, const struct facts *facts)
{
    write_shape("shape", facts->shape.extents, facts->rank);
    write_shape("local_shape", facts->local_shape, facts->rank);
    write_shape("padded_shape", facts->padded_shape, facts->rank);
    if (facts->shape.has_dtype) {
        int64_t bytes = facts_largest_bytes(facts);
        write_text("dtype", tsr_dtype_name(facts->shape.dtype));
        if (bytes >= 0) {
            printf(",\n  \"bytes_per_device\": %" PRId64, bytes);
        }
    }
    write_devices(session, facts);
}

void show_json(struct session *session, const struct facts *facts)
{
    int64_t *shards = session_alloc(session, facts->rank, sizeof *shards);
    for (size_t d = 0; d < facts->rank; d++) {
        shards[d] = shards_of(facts->sharding, d);
    }
    fputs("{\n  \"sharding\": ", stdout);
    write_json_string(stdout, facts->sharding_text);
    if (facts->label != NULL) {
        write_text("value", facts->label);
    }
    write_text("mesh", facts->mesh_text);
    write_shape("shards", shards, facts->rank);
    if (facts->has_shape) {
        write_geometry(session, facts);
    }
    puts("\n}");
}

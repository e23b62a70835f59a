/* The facts as an aligned table, and the list of devices. */
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "show.h"

enum { VALUE_COLUMN = 14, MESH_LINES = 4 };

/* The offset of the next space after `at`, strings kept whole. */
static size_t word_end(const char *text, size_t at)
{
    bool quoted = false;
    while (text[at] != '\0' && (quoted || text[at] != ' ')) {
        quoted = quoted != (text[at] == '"');
        at++;
    }
    return at;
}

/* The characters of a part of a text. */
static size_t part_length(const char *text, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t i = from; i < to; i++) {
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return count;
}

/*
 * A label and its text, broken at spaces to keep to the width: the parts read together as the text
 * does. After `most_lines` lines an ellipsis stands for the rest; 0 for no limit.
 */
static void write_entry(const char *label, const char *text, size_t most_lines, bool unicode)
{
    size_t column = VALUE_COLUMN;
    size_t lines = 1;
    printf("%-*s", VALUE_COLUMN, label);
    for (size_t at = 0; text[at] != '\0';) {
        size_t end = word_end(text, at);
        size_t length = part_length(text, at, end);
        if (column > VALUE_COLUMN && column + 1 + length > TERMINAL_WIDTH) {
            if (lines++ == most_lines) {
                fputs(unicode ? " …" : " ...", stdout);
                break;
            }
            printf("\n%*s", VALUE_COLUMN, "");
            column = VALUE_COLUMN;
        } else if (column > VALUE_COLUMN) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)(end - at), text + at);
        column += length;
        at = text[end] == ' ' ? end + 1 : end;
    }
    putchar('\n');
}

static const char *format_shards(struct session *session, const struct facts *facts)
{
    int64_t *shards = session_alloc(session, facts->rank, sizeof *shards);
    for (size_t d = 0; d < facts->rank; d++) {
        shards[d] = shards_of(facts->sharding, d);
    }
    return facts_format_shape(session, facts->rank, shards);
}

/* How many devices have each element: all of them, over the number of shards. */
static int64_t replication(const struct facts *facts)
{
    int64_t shards = 1;
    for (size_t d = 0; d < facts->rank; d++) {
        shards *= shards_of(facts->sharding, d);
    }
    return tsr_mesh_num_devices(facts->mesh) / shards;
}

static void write_replication(struct session *session, const struct facts *facts, bool unicode)
{
    int64_t count = replication(facts);
    if (tsr_mesh_is_empty(facts->mesh)) {
        write_entry("replication", "each element is on every device", 0, unicode);
        return;
    }
    const char *text = session_format(session, "each element is on %" PRId64 " device%s", count,
                                      count == 1 ? "" : "s");
    write_entry("replication", text, 0, unicode);
}

/* The reduction that is left to do, if there is one: over axes of size 1 there is nothing to do. */
static int write_pending(struct session *session, const struct facts *facts, bool unicode)
{
    static const char *const names[] = {[TSR_SUM] = "sum",
                                        [TSR_MAX] = "maximum",
                                        [TSR_MIN] = "minimum",
                                        [TSR_AVG] = "average",
                                        [TSR_PROD] = "product"};
    size_t count = 0;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(facts->sharding, &count);
    const char *axes_text = NULL;
    int64_t parts = tsr_axes_size(axes, count);
    if (parts == 1) {
        return EXIT_FINE;
    }
    tsr_status status =
        tsr_axes_print(session->ctx, session->arena, facts->mesh, axes, count, &axes_text);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    const char *text =
        session_format(session, "%s over %s, of %" PRId64 " parts of each element",
                       names[tsr_sharding_reduction(facts->sharding)], axes_text, parts);
    write_entry("pending", text, 0, unicode);
    return EXIT_FINE;
}

static void write_bytes(struct session *session, const struct facts *facts, bool unicode)
{
    const char *name = tsr_dtype_name(facts->shape.dtype);
    int64_t largest = facts_largest_bytes(facts);
    int64_t smallest = facts_smallest_bytes(facts);
    const char *text = NULL;
    if (largest < 0) {
        text = session_format(session, "more than 2^63-1, as %s", name);
    } else if (largest == smallest) {
        text = session_format(session, "%" PRId64 ", as %s", largest, name);
    } else {
        text = session_format(session, "%" PRId64 " at most, %" PRId64 " at least, as %s", largest,
                              smallest, name);
    }
    write_entry("bytes/device", text, 0, unicode);
}

static void write_geometry(struct session *session, const struct facts *facts, bool unicode)
{
    size_t rank = facts->rank;
    size_t bytes = rank * sizeof(int64_t);
    bool padded = memcmp(facts->padded_shape, facts->shape.extents, bytes) != 0;
    write_entry("shape", facts_format_shape(session, rank, facts->shape.extents), 0, unicode);
    write_entry("local shape", facts_format_shape(session, rank, facts->local_shape), 0, unicode);
    if (facts->stores_more) {
        const char *stored = facts_format_shape(session, rank, facts->stored_most);
        write_entry("stored shape",
                    session_format(session, "%s, partitions rounded up to their alignment", stored),
                    0, unicode);
    }
    if (padded) {
        write_entry("padded shape", facts_format_shape(session, rank, facts->padded_shape), 0,
                    unicode);
    }
}

int show_table(struct session *session, const struct facts *facts, bool unicode)
{
    int64_t devices = tsr_mesh_num_devices(facts->mesh);
    bool none = tsr_mesh_is_empty(facts->mesh);
    write_entry("sharding", facts->sharding_text, 0, unicode);
    write_entry("mesh", facts->mesh_text, MESH_LINES, unicode);
    write_entry("devices", none ? "any" : session_format(session, "%" PRId64, devices), 0, unicode);
    if (facts->has_shape) {
        write_geometry(session, facts, unicode);
    }
    if (facts->rank > 0) {
        write_entry("shards", format_shards(session, facts), 0, unicode);
    }
    write_replication(session, facts, unicode);
    int code = write_pending(session, facts, unicode);
    if (code == EXIT_FINE && facts->has_shape && facts->shape.has_dtype) {
        write_bytes(session, facts, unicode);
    }
    return code;
}

/* In parts, so that a list of any length takes the memory of a short one. */
int show_device_list(struct session *session, const struct facts *facts)
{
    enum { PART = 1024 };
    tsr_arena_mark mark = tsr_arena_get_mark(session->arena);
    for (int64_t place = facts->first; place < facts->end && !ferror(stdout); place += PART) {
        const char *text = NULL;
        int64_t end = facts->end - place < PART ? facts->end : place + PART;
        tsr_status status =
            tsr_picture_table(session->ctx, session->arena, facts->geometry, place, end, &text);
        if (status != TSR_OK) {
            return session_fail(session, status);
        }
        fputs(text, stdout);
        tsr_arena_reset(session->arena, mark);
    }
    return EXIT_FINE;
}

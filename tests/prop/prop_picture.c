/* Pictures read back: each cell names the devices that hold it, by enumeration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { MAX_COLUMNS = 16, WIDTH = 80 };

/* A picture under way of being read. */
typedef struct reading {
    const tsr_geometry *geometry;
    size_t rank;
    size_t num_columns;
    tsr_interval columns[MAX_COLUMNS];
    int64_t covered; /* elements of the cells so far */
} reading;

/* `2:4`, after spaces; false: there is none. */
static bool read_span(const char **at, tsr_interval *out)
{
    char *end = NULL;
    const long long start = strtoll(*at, &end, 10);
    if (end == *at || *end != ':') {
        return false;
    }
    const char *rest = end + 1;
    *out = (tsr_interval){start, strtoll(rest, &end, 10) - start};
    *at = end;
    return true;
}

/* Whether `0,4-6,8-12:2` has a device. */
static bool lists(const char *text, int64_t device)
{
    for (char *end = NULL;; text = end + 1) {
        const long long first = strtoll(text, &end, 10);
        long long last = first;
        long long step = 1;
        if (*end == '-') {
            last = strtoll(end + 1, &end, 10);
        }
        if (*end == ':') {
            step = strtoll(end + 1, &end, 10);
        }
        if (device >= first && device <= last && (device - first) % step == 0) {
            return true;
        }
        if (*end != ',') {
            return false;
        }
    }
}

/* Exactly the devices of the text hold the first and the last element of a cell. */
static void check_cell(reading *r, tsr_interval row, tsr_interval column, const char *devices)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(tsr_geometry_sharding(r->geometry));
    const tsr_interval spans[2] = {row, column};
    for (int64_t place = 0; place < tsr_mesh_num_devices(mesh); place++) {
        const int64_t device = tsr_mesh_device_at(mesh, place);
        bool first = true;
        bool last = true;
        for (size_t d = 0; d < r->rank; d++) {
            const tsr_interval span = spans[2 - r->rank + d];
            first = first && holds_row(r->geometry, device, d, span.start);
            last = last && holds_row(r->geometry, device, d, span.start + span.size - 1);
        }
        assert_int_equal(lists(devices, device), first);
        assert_int_equal(first, last);
    }
    r->covered += (r->rank > 1 ? row.size : 1) * (r->rank > 0 ? column.size : 1);
}

/* `0:2 |  0  |  1,3  |` */
static void read_row(reading *r, const char *line)
{
    tsr_interval row = {0, 1};
    assert_int_equal(read_span(&line, &row), r->rank > 1);
    size_t column = 0;
    for (const char *at = strchr(line, '|') + 1; strchr(at, '|') != NULL;
         at = strchr(at, '|') + 1) {
        assert_true(column < r->num_columns);
        check_cell(r, row, r->columns[column++], at);
    }
    assert_int_equal(column, r->num_columns);
}

static void read_line(reading *r, const char *line)
{
    assert_true(strlen(line) <= WIDTH);
    if (strchr(line, '|') != NULL) {
        read_row(r, line);
    } else if (r->num_columns == 0 && strchr(line, ':') != NULL) {
        while (read_span(&line, &r->columns[r->num_columns])) {
            r->num_columns++;
        }
    }
}

/* Whether all of the picture was shown; lines are kept to the width in any case. */
static bool read_picture(reading *r, const char *text)
{
    const bool whole = strstr(text, "..") == NULL && r->rank <= 2;
    r->num_columns = r->rank == 0 ? 1 : 0;
    while (*text != '\0') {
        char line[WIDTH + 1] = "";
        const size_t length = strcspn(text, "\n");
        assert_true(length <= WIDTH);
        memcpy(line, text, length);
        if (whole) {
            read_line(r, line);
        }
        text += length + 1;
    }
    return whole;
}

static void cells_name_their_holders(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("cells_name_their_holders");
    int64_t read = 0;
    for (int64_t i = 0; i < prop_cases(3000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        int64_t shape[MAX_DIMS];
        const tsr_mesh *mesh = random_mesh(f, &r, (mesh_limits){24, true, true});
        const size_t rank = random_shape(&r, shape);
        const tsr_sharding *s =
            random_sharding(f, &r, mesh, rank, shape, (sharding_limits){true, true, true});
        reading reader = {.geometry = geometry_of(f, s, rank, shape), .rank = rank};
        const char *text = NULL;
        const char *svg = NULL;
        int64_t elements = 1;
        for (size_t d = 0; d < rank; d++) {
            elements *= shape[d];
        }
        assert_int_equal(tsr_picture_text(f->ctx, f->arena, reader.geometry, NULL, &text), TSR_OK);
        assert_int_equal(tsr_picture_svg(f->ctx, f->arena, reader.geometry, NULL, 0, &svg), TSR_OK);
        assert_null(tsr_context_diagnostics(f->ctx));
        if (read_picture(&reader, text)) {
            assert_int_equal(reader.covered, elements);
            read++;
        }
        tsr_arena_reset(f->arena, mark);
    }
    assert_true(read * 4 > prop_cases(3000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(cells_name_their_holders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

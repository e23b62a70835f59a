#include "works.h"

#include <string.h>

/*
 * Characters in layouts: < and > are sizes that rise and fall from rank to rank, # is a table of
 * counts, of twice as many partitions as ranks; @ turns the mesh by one device.
 */
const work_row work_rows[] = {
    {.name = "row to column shards",
     .layouts = {"[{'x'}, {}]", "[{}, {'x'}]"},
     .rank = 2,
     .shape = {256, 1024},
     .wanted_threads = 1.15,
     .wanted_mpi = 1.2},
    {.name = "column to row shards",
     .layouts = {"[{}, {'x'}]", "[{'x'}, {}]"},
     .rank = 2,
     .shape = {256, 1024},
     .wanted_threads = 1.15,
     .wanted_mpi = 1.2},
    {.name = "first to last dim, 3-D",
     .layouts = {"[{'x'}, {}, {}]", "[{}, {}, {'x'}]"},
     .rank = 3,
     .shape = {16, 64, 256},
     .wanted_threads = 1.25,
     .wanted_mpi = 1.5},
    {.name = "uneven rows to columns",
     .layouts = {"[{'x'}, {}]", "[{}, {'x'}]"},
     .rank = 2,
     .shape = {256, 1021},
     .more = {1}},
    {.name = "dynamic to dynamic rows",
     .layouts = {"[{'x'}:dynamic[<], {}]", "[{'x'}:dynamic[>], {}]"},
     .rank = 2,
     .shape = {256, 1024}},
    {.name = "unaligned to aligned",
     .layouts = {"[{'x'}:partitioned[#], {}]", "[{'x'}:partitioned[#](aligned), {}]"},
     .rank = 2,
     .shape = {256, 1024}},
    {.name = "replicated to row shards",
     .layouts = {"[{}, {}]", "[{'x'}, {}]"},
     .rank = 2,
     .shape = {256, 1024},
     .replicated = true},
    {.name = "shards to the next rank",
     .layouts = {"[{'x'}, {}]", "[{'x'}, {}]@"},
     .rank = 2,
     .shape = {256, 1024}},
    {.name = "axes trade dims, 2-D mesh",
     .layouts = {"[{'a'}, {'b'}]", "[{'b'}, {'a'}]"},
     .rank = 2,
     .shape = {256, 1024},
     .least_ranks = 4},
    {.name = "all-gather",
     .layouts = {"[{'x'}, {}]", "[{}, {}]"},
     .rank = 2,
     .shape = {256, 1024},
     .collective = ALL_GATHER,
     .wanted_threads = 1.05,
     .wanted_mpi = 1.2},
    {.name = "reduce-scatter",
     .layouts = {"[{}, {}], unreduced={'x'}", "[{'x'}, {}]"},
     .rank = 2,
     .shape = {256, 1024},
     .collective = REDUCE_SCATTER,
     .wanted_threads = 1.1,
     .wanted_mpi = 1.2,
     .pending = true},
    {.name = "all-reduce",
     .layouts = {"[{}, {}], unreduced={'x'}", "[{}, {}]"},
     .rank = 2,
     .shape = {256, 1024},
     .collective = ALL_REDUCE,
     .wanted_threads = 1.5,
     .wanted_mpi = 2.0,
     .pending = true},
    {.name = "all-to-all",
     .layouts = {"[{'x'}, {}, {}]", "[{}, {'x'}, {}]"},
     .rank = 3,
     .shape = {0, 0, 262144}, /* a row and a column for each rank share them */
     .grows = 2,
     .collective = ALL_TO_ALL},
};
const size_t num_work_rows = sizeof work_rows / sizeof work_rows[0];

/* Text that is being written, of which there is never too much. */
typedef struct text {
    char chars[1024];
    size_t length;
} text;

static void add_number(text *t, const char *before, int64_t number)
{
    const int added = snprintf(t->chars + t->length, sizeof t->chars - t->length, "%s%lld", before,
                               (long long)number);
    INSIST(added > 0 && t->length + (size_t)added < sizeof t->chars);
    t->length += (size_t)added;
}

static void add_char(text *t, char c)
{
    INSIST(t->length + 1 < sizeof t->chars);
    t->chars[t->length++] = c;
    t->chars[t->length] = '\0';
}

/* `total` in shares of some weights; the last one takes what is left over. */
static void share(int64_t total, const int64_t *weights, size_t count, int64_t *shares)
{
    int64_t weight = 0;
    int64_t given = 0;
    for (size_t i = 0; i < count; i++) {
        weight += weights[i];
    }
    for (size_t i = 0; i < count; i++) {
        shares[i] = total * weights[i] / weight;
        given += shares[i];
    }
    shares[count - 1] += total - given;
}

static void add_sizes(text *t, const work_case *c, bool rising)
{
    int64_t weights[WORK_RANKS] = {0};
    int64_t shares[WORK_RANKS] = {0};
    for (int64_t i = 0; i < c->ranks; i++) {
        weights[i] = rising ? i + 1 : c->ranks - i;
    }
    share(c->shape[0], weights, (size_t)c->ranks, shares);
    for (int64_t i = 0; i < c->ranks; i++) {
        add_number(t, i > 0 ? ", " : "", shares[i]);
    }
}

static void add_counts(text *t, const work_case *c)
{
    int64_t weights[2 * WORK_RANKS * WORK_RANKS] = {0};
    int64_t shares[2 * WORK_RANKS * WORK_RANKS] = {0};
    const int64_t partitions = 2 * c->ranks;
    const int64_t count = c->ranks * partitions;
    for (int64_t i = 0; i < count; i++) {
        weights[i] = 2 + i * 5 % 7;
    }
    share(c->shape[0], weights, (size_t)count, shares);
    for (int64_t i = 0; i < count; i++) {
        const char *inside = i % partitions > 0 ? ", " : "], [";
        add_number(t, i == 0 ? "[" : inside, shares[i]);
    }
    add_char(t, ']');
}

static void write_layout(text *t, const work_case *c, const char *layout)
{
    for (const char *p = layout; *p != '\0'; p++) {
        if (*p == '<' || *p == '>') {
            add_sizes(t, c, *p == '<');
        } else if (*p == '#') {
            add_counts(t, c);
        } else if (*p != '@') {
            add_char(t, *p == '\'' ? '"' : *p);
        }
    }
}

/* All ranks along x, or along a and b; turned by one where the layout says so. */
static void write_mesh(text *t, const work_case *c, const char *layout)
{
    if (strstr(layout, "'a'") != NULL) {
        add_number(t, "<[\"a\"=2, \"b\"=", c->ranks / 2);
    } else {
        add_number(t, "<[\"x\"=", c->ranks);
    }
    add_char(t, ']');
    if (strchr(layout, '@') != NULL) {
        for (int64_t i = 0; i < c->ranks; i++) {
            add_number(t, i == 0 ? ", device_ids=[" : ", ", (i + 1) % c->ranks);
        }
        add_char(t, ']');
    }
    add_char(t, '>');
}

static const tsr_sharding *parse(tsr_comm *world, const work_case *c, const char *layout)
{
    text mesh_text = {.length = 0};
    text sharding_text = {.length = 0};
    const tsr_mesh *mesh;
    const tsr_sharding *sharding;
    tsr_context *ctx = tsr_comm_context(world);
    write_mesh(&mesh_text, c, layout);
    write_layout(&sharding_text, c, layout);
    INSIST(tsr_mesh_parse(ctx, c->arena, mesh_text.chars, &mesh) == TSR_OK);
    INSIST(tsr_sharding_parse(ctx, c->arena, mesh, sharding_text.chars, &sharding) == TSR_OK);
    return sharding;
}

/* The rows of a dimension that a device holds, with where they are stored: one after the other. */
typedef struct rows {
    size_t count;
    tsr_interval pieces[WORK_BOXES];
    int64_t local[WORK_BOXES];
} rows;

static void rows_of(const tsr_geometry *g, int64_t device, size_t dim, rows *out)
{
    const int64_t count = tsr_geometry_pieces(g, device, dim, WORK_BOXES, out->pieces);
    INSIST(count >= 0 && count <= WORK_BOXES);
    out->count = (size_t)count;
    int64_t at = 0;
    for (size_t i = 0; i < out->count; i++) {
        out->local[i] = at;
        at += out->pieces[i].size;
    }
}

static void add_box(work_part *part, const rows *dims, const size_t *choice)
{
    INSIST(part->num_boxes < WORK_BOXES);
    work_box *box = &part->boxes[part->num_boxes++];
    for (size_t i = 0; i < WORK_DIMS; i++) {
        box->start[i] = dims[i].pieces[choice[i]].start;
        box->size[i] = dims[i].pieces[choice[i]].size;
        box->local[i] = dims[i].local[choice[i]];
    }
}

static void part_of(const tsr_geometry *g, const work_row *row, int64_t device, work_part *part)
{
    const size_t front = WORK_DIMS - row->rank;
    rows dims[WORK_DIMS];
    *part = (work_part){.bytes = 4};
    for (size_t i = 0; i < WORK_DIMS; i++) {
        dims[i] = (rows){.count = 1, .pieces = {{0, 1}}};
        if (i >= front) {
            rows_of(g, device, i - front, &dims[i]);
        }
        for (size_t k = 0; k < dims[i].count; k++) {
            part->shape[i] += dims[i].pieces[k].size;
        }
        part->bytes *= (size_t)part->shape[i];
    }
    size_t choice[WORK_DIMS];
    for (choice[0] = 0; choice[0] < dims[0].count; choice[0]++) {
        for (choice[1] = 0; choice[1] < dims[1].count; choice[1]++) {
            for (choice[2] = 0; choice[2] < dims[2].count; choice[2]++) {
                add_box(part, dims, choice);
            }
        }
    }
}

static void set_shape(work_case *c)
{
    const work_row *row = c->row;
    for (size_t i = 0; i < row->rank; i++) {
        const bool grows = i == row->grows;
        c->shape[i] = row->shape[i] * (grows ? c->mebibytes : 1) + row->more[i];
        if (row->collective == ALL_TO_ALL) {
            c->shape[i] = grows ? c->shape[i] / (c->ranks * c->ranks) : c->ranks;
        }
    }
}

void work_open(tsr_comm *world, const work_row *row, int64_t mebibytes, work_case *out)
{
    tsr_context *ctx = tsr_comm_context(world);
    *out = (work_case){.row = row, .mebibytes = mebibytes, .ranks = tsr_comm_size(world)};
    INSIST(out->ranks <= WORK_RANKS);
    INSIST(tsr_arena_create(ctx, &out->arena) == TSR_OK);
    set_shape(out);
    for (int side = SRC; side <= DST; side++) {
        const tsr_geometry *g;
        out->shardings[side] = parse(world, out, row->layouts[side]);
        INSIST(tsr_geometry_create(ctx, out->arena, out->shardings[side], row->rank, out->shape,
                                   &g) == TSR_OK);
        for (int64_t device = 0; device < out->ranks; device++) {
            part_of(g, row, device, &out->parts[side][device]);
        }
    }
}

void work_close(work_case *c)
{
    tsr_arena_destroy(c->arena);
}

tsr_tensor_spec work_spec(const work_case *c, int side)
{
    return (tsr_tensor_spec){c->shardings[side], TSR_F32, c->row->rank, c->shape};
}

/* An integer below 2^20, so that sums over ranks are exact; neighbours differ. */
static float element(int64_t index)
{
    return (float)((uint32_t)((uint64_t)index * 2654435761U) >> 12);
}

/* Calls a function with each row of a part: its first index in the tensor and where it is stored.
 */
typedef bool (*row_function)(const work_case *c, int64_t rank, int64_t index, int64_t count,
                             char *row);

static bool each_row(const work_case *c, int64_t rank, int side, char *data, row_function function)
{
    const work_part *part = &c->parts[side][rank];
    int64_t whole[WORK_DIMS] = {1, 1, 1};
    memcpy(whole + WORK_DIMS - c->row->rank, c->shape, c->row->rank * sizeof *whole);
    for (size_t k = 0; k < part->num_boxes; k++) {
        const work_box *b = &part->boxes[k];
        for (int64_t i = 0; i < b->size[0]; i++) {
            for (int64_t j = 0; j < b->size[1]; j++) {
                const int64_t index =
                    ((b->start[0] + i) * whole[1] + b->start[1] + j) * whole[2] + b->start[2];
                const int64_t at =
                    ((b->local[0] + i) * part->shape[1] + b->local[1] + j) * part->shape[2] +
                    b->local[2];
                if (!function(c, rank, index, b->size[2], data + 4 * at)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* A pending sum: each rank has the element and its number. */
static bool fill_row(const work_case *c, int64_t rank, int64_t index, int64_t count, char *row)
{
    const float more = c->row->pending ? (float)rank : 0;
    for (int64_t i = 0; i < count; i++) {
        const float value = element(index + i) + more;
        memcpy(row + 4 * i, &value, sizeof value);
    }
    return true;
}

static bool row_is_right(const work_case *c, int64_t rank, int64_t index, int64_t count, char *row)
{
    const float times = c->row->pending ? (float)c->ranks : 1;
    const int64_t numbers = c->ranks * (c->ranks - 1) / 2;
    const float more = c->row->pending ? (float)numbers : 0;
    bool right = true;
    (void)rank;
    for (int64_t i = 0; i < count; i++) {
        float got;
        memcpy(&got, row + 4 * i, sizeof got);
        right = right && got == element(index + i) * times + more;
    }
    return right;
}

void work_fill(const work_case *c, int64_t rank, void *data)
{
    (void)each_row(c, rank, SRC, data, fill_row);
}

bool work_is_right(const work_case *c, int64_t rank, void *data)
{
    return each_row(c, rank, DST, data, row_is_right);
}

size_t work_limit_bytes(const work_case *c, int64_t rank)
{
    const size_t in = c->parts[SRC][rank].bytes;
    const size_t out = c->parts[DST][rank].bytes;
    return in > out ? in : out;
}

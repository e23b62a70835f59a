#include "shard/dialect_cuts.h"

#include "base/arena.h"
#include "base/base.h"

bool cuts_init(cuts *c, tsr_arena *arena, size_t most)
{
    *c = (cuts){.list = ARENA_ARRAY(arena, cut, most), .shards = 1};
    return c->list != NULL;
}

void cuts_add(cuts *c, int32_t axis, int64_t size)
{
    if (size > 1) {
        c->strided = c->strided || (c->count > 0 && axis < c->list[c->count - 1].axis);
        c->list[c->count++] = (cut){axis, size};
        c->shards *= size;
    }
}

int64_t cuts_split_factor(const cuts *c, int32_t axis)
{
    int64_t factor = 1;
    for (size_t i = 0; i < c->count && c->list[i].axis != axis; i++) {
        factor *= c->list[i].axis > axis ? c->list[i].size : 1;
    }
    return factor;
}

/*
 * At each axis all blocks but the last must be whole multiples of the even chunk, so only the last
 * one is followed. With two shards or more to an axis nothing overflows: the even chunk is at most
 * (extent + shards) / 2.
 */
bool cuts_are_even(const cuts *c, int64_t extent)
{
    const int64_t chunk = ceil_div(extent, c->shards);
    int64_t left = extent;
    int64_t inner = c->shards;
    if (c->strided) {
        return extent % c->shards == 0;
    }
    for (size_t i = 0; i < c->count && left > 0; i++) {
        inner /= c->list[i].size;
        const int64_t ours = chunk * inner;
        const int64_t block = ceil_div(left, c->list[i].size);
        if (block != min_i64(ours, left)) {
            return false;
        }
        left %= block;
    }
    return true;
}

bool sizes_are_even(const int64_t *sizes, int64_t shards, int64_t extent)
{
    const int64_t chunk = ceil_div(extent, shards);
    for (int64_t i = 0; i < shards; i++) {
        if (sizes[i] != min_i64(chunk, extent)) {
            return false;
        }
        extent -= sizes[i];
    }
    return true;
}

/* Each pass opens up an axis, from the back. */
static void cut_in_order(const cuts *c, int64_t extent, int64_t *sizes)
{
    int64_t count = 1;
    sizes[0] = extent;
    for (size_t i = 0; i < c->count; i++) {
        const int64_t size = c->list[i].size;
        for (int64_t j = count; j-- > 0;) {
            int64_t left = sizes[j];
            const int64_t block = ceil_div(left, size);
            for (int64_t k = 0; k < size; k++) {
                sizes[j * size + k] = min_i64(block, left);
                left -= min_i64(block, left);
            }
        }
        count *= size;
    }
}

/* Rows from `start` to before `end`. */
typedef struct rows {
    int64_t start;
    int64_t end;
} rows;

/* Rows in the order that a device has them. */
typedef struct row_list {
    rows *list;
    size_t count;
    int64_t total;
} row_list;

/* Following all devices through strided cuts. */
typedef struct strided {
    const cuts *c;
    tsr_arena *arena;
    int64_t *starts; /* of each shard; those of empty ones are not set */
    int64_t *sizes;
    bool ordered;
    bool failed;
} strided;

/* Appends rows `from` to before `to`, counted along a list. */
static void append(row_list *out, const row_list *in, int64_t from, int64_t to)
{
    int64_t at = 0;
    for (size_t i = 0; i < in->count && from < to; i++) {
        const int64_t size = in->list[i].end - in->list[i].start;
        const int64_t first = max_i64(from, at);
        const int64_t last = min_i64(to, at + size);
        if (first < last) {
            out->list[out->count++] =
                (rows){in->list[i].start + first - at, in->list[i].start + last - at};
            out->total += last - first;
        }
        at += size;
    }
}

/* The shard of a coordinate: what it has of each of `blocks` blocks. */
static void take_shard(row_list *out, const row_list *in, int64_t blocks, int64_t size, int64_t i)
{
    const int64_t block = ceil_div(in->total, blocks);
    for (int64_t j = 0; j < blocks; j++) {
        const int64_t start = min_i64(j * block, in->total);
        const int64_t length = min_i64(start + block, in->total) - start;
        const int64_t part = ceil_div(length, size);
        append(out, in, start + min_i64(i * part, length), start + min_i64((i + 1) * part, length));
    }
}

/* The next axis of the mesh after one, among those that cut; -1 when there is none. */
static int32_t next_axis(const cuts *c, int32_t after)
{
    int32_t next = -1;
    for (size_t i = 0; i < c->count; i++) {
        const int32_t axis = c->list[i].axis;
        next = axis > after && (next < 0 || axis < next) ? axis : next;
    }
    return next;
}

static int64_t axis_size(const cuts *c, int32_t axis)
{
    int64_t size = 1;
    for (size_t i = 0; i < c->count; i++) {
        size *= c->list[i].axis == axis ? c->list[i].size : 1;
    }
    return size;
}

/* What a coordinate of an axis adds to the index of a shard: its digits, major to minor. */
static int64_t index_of(const cuts *c, int32_t axis, int64_t coordinate)
{
    int64_t index = 0;
    int64_t inner = axis_size(c, axis);
    int64_t stride = c->shards;
    for (size_t i = 0; i < c->count; i++) {
        stride /= c->list[i].size;
        if (c->list[i].axis == axis) {
            inner /= c->list[i].size;
            index += coordinate / inner % c->list[i].size * stride;
        }
    }
    return index;
}

static void set_shard(strided *s, const row_list *in, int64_t index)
{
    s->sizes[index] = in->total;
    for (size_t i = 0; i < in->count; i++) {
        s->starts[index] = i == 0 ? in->list[0].start : s->starts[index];
        s->ordered = s->ordered && (i == 0 || in->list[i].start == in->list[i - 1].end);
    }
}

/* Cuts what the axes before this one left, for each of its coordinates. As deep as there are axes.
 */
static void cut_strided(strided *s, int32_t axis, const row_list *in, int64_t index) /* NOLINT */
{
    if (axis < 0) {
        set_shard(s, in, index);
        return;
    }
    const int64_t size = axis_size(s->c, axis);
    const int64_t blocks = cuts_split_factor(s->c, axis);
    const tsr_arena_mark mark = tsr_arena_get_mark(s->arena);
    row_list part = {.list = ARENA_ARRAY(s->arena, rows, in->count + (size_t)blocks)};
    s->failed = s->failed || part.list == NULL;
    for (int64_t i = 0; i < size && !s->failed; i++) {
        part.count = 0;
        part.total = 0;
        take_shard(&part, in, blocks, size, i);
        cut_strided(s, next_axis(s->c, axis), &part, index + index_of(s->c, axis, i));
    }
    tsr_arena_reset(s->arena, mark);
}

int64_t *cuts_sizes(const cuts *c, tsr_arena *arena, int64_t extent, bool *ordered)
{
    int64_t *sizes = ARENA_ARRAY(arena, int64_t, (size_t)c->shards);
    *ordered = true;
    if (sizes == NULL || !c->strided) {
        if (sizes != NULL) {
            cut_in_order(c, extent, sizes);
        }
        return sizes;
    }
    rows all = {0, extent};
    const row_list whole = {&all, 1, extent};
    strided s = {.c = c,
                 .arena = arena,
                 .sizes = sizes,
                 .starts = ARENA_ARRAY(arena, int64_t, (size_t)c->shards),
                 .ordered = true};
    if (s.starts == NULL) {
        return NULL;
    }
    cut_strided(&s, next_axis(c, -1), &whole, 0);
    int64_t at = 0;
    for (int64_t i = 0; i < c->shards && !s.failed; i++) {
        s.ordered = s.ordered && (sizes[i] == 0 || s.starts[i] == at);
        at += sizes[i];
    }
    *ordered = s.ordered;
    return s.failed ? NULL : sizes;
}

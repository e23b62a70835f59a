#include "shard/dialect_cuts.h"

#include "base/arena.h"
#include "base/base.h"

bool cuts_init(cuts *c, tsr_arena *arena, size_t most)
{
    *c = (cuts){.sizes = ARENA_ARRAY(arena, int64_t, most), .shards = 1};
    return c->sizes != NULL;
}

void cuts_add(cuts *c, int64_t size)
{
    if (size > 1) {
        c->sizes[c->count++] = size;
        c->shards *= size;
    }
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
    for (size_t i = 0; i < c->count && left > 0; i++) {
        inner /= c->sizes[i];
        const int64_t ours = chunk * inner;
        const int64_t block = ceil_div(left, c->sizes[i]);
        if (block != min_i64(ours, left)) {
            return false;
        }
        left %= block;
    }
    return true;
}

/* Each pass opens up an axis, from the back. */
int64_t *cuts_sizes(const cuts *c, tsr_arena *arena, int64_t extent)
{
    int64_t *sizes = ARENA_ARRAY(arena, int64_t, (size_t)c->shards);
    if (sizes == NULL) {
        return NULL;
    }
    sizes[0] = extent;
    int64_t count = 1;
    for (size_t i = 0; i < c->count; i++) {
        for (int64_t j = count; j-- > 0;) {
            int64_t left = sizes[j];
            const int64_t block = ceil_div(left, c->sizes[i]);
            for (int64_t k = 0; k < c->sizes[i]; k++) {
                sizes[j * c->sizes[i] + k] = min_i64(block, left);
                left -= min_i64(block, left);
            }
        }
        count *= c->sizes[i];
    }
    return sizes;
}

#include "plan/busiest.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "plan/lattice_walk.h"

static walk_layouts layouts_of(const plan_exchange *x)
{
    return (walk_layouts){&x->lattice, x->rank, x->src.dims, x->dst.dims};
}

/* The values of a role's digits that no dimension has. */
static int64_t values_beside(const plan_exchange *x, lattice_role role, int64_t all)
{
    for (size_t i = 0; i < x->lattice.num_atoms; i++) {
        all /= x->lattice.atoms[i].role == role ? x->lattice.atoms[i].size : 1;
    }
    return all;
}

/* ---- one step, by digits ---- */

/* A device receives, of each part, what it gets after the step, but for what it holds. */
static tsr_status walk_received(const plan_maker *m, const plan_exchange *x, walk_pairs *out)
{
    static const walk_query query = {.size = WALK_SHARD_AFTER,
                                     .sizes = {WALK_BEST, WALK_BEST, WALK_BEST},
                                     .helds = {WALK_BEST, WALK_BEST, WALK_BEST}};
    const walk_layouts layouts = layouts_of(x);
    return lattice_walk(m, &layouts, &query, out);
}

static tsr_status received_by_digits(const plan_maker *m, const plan_exchange *x, int64_t *out)
{
    walk_pairs pairs;
    TSR_TRY(walk_received(m, x, &pairs));
    *out = 0;
    for (size_t i = 0; i < pairs.count; i++) {
        *out = max_i64(*out, exchange_parts(x) * pairs.list[i].size - pairs.list[i].held);
    }
    return TSR_OK;
}

/*
 * The line of a shard (line.h) fills its n replicas to one level. It is at least an n-th of what
 * its devices have to send: all copies of the shard, without the least that a device of each
 * replica keeps for itself.
 */
static tsr_status shared_by_replicas(const plan_maker *m, const plan_exchange *x, int64_t *out)
{
    static const walk_query query = {.size = WALK_SHARD_BEFORE,
                                     .sizes = {WALK_BEST, WALK_LEAST, WALK_LEAST},
                                     .helds = {WALK_BEST, WALK_SUM, WALK_LEAST}};
    const walk_layouts layouts = layouts_of(x);
    const int64_t beside = values_beside(x, LATTICE_REPLICA, x->replicas.size);
    walk_pairs pairs;
    TSR_TRY(lattice_walk(m, &layouts, &query, &pairs));
    for (size_t i = 0; i < pairs.count; i++) {
        const int64_t all = pairs.list[i].size * x->copies.size - pairs.list[i].held * beside;
        *out = max_i64(*out, ceil_div(all, x->replicas.size));
    }
    return TSR_OK;
}

/*
 * And it is at least what the devices of one replica send each other anyway, which fold what they
 * want from their own parts: what all of them want, without the least that one wants.
 */
static tsr_status sent_within_replicas(const plan_maker *m, const plan_exchange *x, int64_t *out)
{
    static const walk_query query = {.size = WALK_COMMON,
                                     .sizes = {WALK_BEST, WALK_BEST, WALK_SUM},
                                     .helds = {WALK_BEST, WALK_BEST, WALK_LEAST}};
    const walk_layouts layouts = layouts_of(x);
    const int64_t beside = values_beside(x, LATTICE_PART, x->removed.size);
    walk_pairs pairs;
    TSR_TRY(lattice_walk(m, &layouts, &query, &pairs));
    for (size_t i = 0; i < pairs.count; i++) {
        *out = max_i64(*out, pairs.list[i].size * beside - pairs.list[i].held);
    }
    return TSR_OK;
}

static tsr_status sent_by_digits(const plan_maker *m, const plan_exchange *x, int64_t *out)
{
    *out = 0;
    TSR_TRY(shared_by_replicas(m, x, out));
    return exchange_parts(x) > 1 ? sent_within_replicas(m, x, out) : TSR_OK;
}

/* ---- device by device ---- */

static tsr_status check_devices(tsr_context *ctx, int64_t devices)
{
    const int64_t limit = PLAN_MAX_ENUMERATED;
    if (devices <= limit) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                      "the mesh has %lld devices; the busiest device is found among at most %lld",
                      (long long)devices, (long long)limit);
}

/* What is summed over steps, and how it is found: two ways that give the same. */
typedef struct busy {
    tsr_status (*by_digits)(const plan_maker *m, const plan_exchange *x, int64_t *out);
    void (*add)(const plan_exchange *x, const device_sums *to);
} busy;

static tsr_status by_device(const plan_maker *m, const busy *what, const plan_step *steps,
                            size_t count, int64_t *out)
{
    const plan_exchange *first = &steps[0].exchange;
    TSR_TRY(check_devices(m->ctx, first->devices));
    const device_sums sums = {first->src.mesh,
                              ARENA_ARRAY(m->scratch, int64_t, (size_t)first->devices)};
    if (sums.elements == NULL) {
        return diag_nomem(m->ctx);
    }
    memset(sums.elements, 0, (size_t)first->devices * sizeof *sums.elements);
    for (size_t i = 0; i < count; i++) {
        what->add(&steps[i].exchange, &sums);
    }
    *out = 0;
    for (int64_t place = 0; place < first->devices; place++) {
        *out = max_i64(*out, sums.elements[place]);
    }
    return TSR_OK;
}

/* ---- both ---- */

/*
 * The sum over steps by digits; *exact is whether it is one device's: all devices send or receive
 * the most there is in each step but one, which they do if all together move that many times it.
 */
static tsr_status sum_by_digits(const plan_maker *m, const busy *what, const plan_step *steps,
                                size_t count, int64_t *out, bool *exact)
{
    size_t unequal = 0;
    *exact = false;
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        const plan_exchange *x = &steps[i].exchange;
        int64_t most = 0;
        int64_t all = 0;
        if (!x->lattice.exists) {
            return TSR_OK;
        }
        TSR_TRY(what->by_digits(m, x, &most));
        unequal += !checked_mul(most, x->devices, &all) || all != exchange_moved(x);
        *out += most;
    }
    *exact = unequal <= 1;
    return TSR_OK;
}

static tsr_status find(const plan_maker *m, const busy *what, const plan_step *steps, size_t count,
                       int64_t *out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(m->scratch);
    bool exact = false;
    int64_t most = 0;
    tsr_status status = sum_by_digits(m, what, steps, count, &most, &exact);
    if (status == TSR_OK && !exact) {
        status = by_device(m, what, steps, count, &most);
    }
    tsr_arena_reset(m->scratch, mark);
    if (status == TSR_OK) {
        *out = most;
    }
    return status;
}

tsr_status busiest_received(const plan_maker *m, const plan_step *steps, size_t count, int64_t *out)
{
    static const busy received = {received_by_digits, exchange_add_received};
    return find(m, &received, steps, count, out);
}

tsr_status busiest_sent(const plan_maker *m, const plan_step *steps, size_t count, int64_t *out)
{
    static const busy sent = {sent_by_digits, exchange_add_sent};
    return find(m, &sent, steps, count, out);
}

/* ---- sources ---- */

/* How many chunks of a size the rows from one on have elements of. */
static int64_t chunks_of(int64_t chunk, int64_t start, int64_t rows)
{
    return rows > 0 ? (start + rows - 1) / chunk - start / chunk + 1 : 0;
}

/*
 * The most chunks of `a` rows of which one of `b` rows has some. The first row of the k-th is k b
 * rows from the start, (k b) mod a rows after that of a chunk. One more chunk than the least is
 * reached where this is above a - b mod a, first at the k computed here; never if b mod a divides
 * a.
 */
static int64_t most_even_sources(const dim_geometry *src, const dim_geometry *dst)
{
    const int64_t a = src->chunk;
    const int64_t b = dst->chunk;
    if (dst->extent == 0) {
        return 0;
    }
    const int64_t whole = dst->extent / b;
    const int64_t last = chunks_of(a, whole * b, dst->extent - whole * b);
    const int64_t rest = b % a;
    int64_t most = whole > 0 ? (b - 1) / a + 1 : 0;
    if (rest > 0 && a % rest != 0 && a / rest < whole) {
        most++;
    }
    return max_i64(most, last);
}

/* The most shards before of which one shard after has rows, in one dimension. */
static tsr_status dim_sources(const plan_maker *m, const plan_dim *src, const plan_dim *dst,
                              int64_t *out)
{
    const plan_maker brief = {m->ctx, m->scratch, m->scratch};
    *out = 0;
    if (dim_is_even(src->of) && dim_is_even(dst->of)) {
        *out = most_even_sources(src->of, dst->of);
        return TSR_OK;
    }
    for (int64_t shard = 0; shard < dst->of->along.size; shard++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(m->scratch);
        plan_overlaps found;
        TSR_TRY(plan_overlaps_of(&brief, PLAN_OF_DST, dst, shard, src, &found));
        *out = max_i64(*out, (int64_t)found.count);
        tsr_arena_reset(m->scratch, mark);
    }
    return TSR_OK;
}

/* Whether every device that gets something has some of it. */
static tsr_status all_hold_some(const plan_maker *m, const plan_exchange *x, bool *out)
{
    walk_pairs pairs = {0};
    *out = false;
    if (!x->lattice.exists) {
        return TSR_OK;
    }
    TSR_TRY(walk_received(m, x, &pairs));
    *out = true;
    for (size_t i = 0; i < pairs.count; i++) {
        *out = *out && (pairs.list[i].size == 0 || pairs.list[i].held > 0);
    }
    return TSR_OK;
}

tsr_status busiest_sources(const plan_maker *m, const plan_exchange *x, int64_t *out)
{
    int64_t sources = exchange_parts(x);
    bool all_hold = false;
    for (size_t i = 0; i < x->rank; i++) {
        int64_t most = 0;
        TSR_TRY(dim_sources(m, &x->src.dims[i], &x->dst.dims[i], &most));
        sources *= most;
    }
    TSR_TRY(all_hold_some(m, x, &all_hold));
    *out = sources - (sources > 0 && all_hold);
    return TSR_OK;
}

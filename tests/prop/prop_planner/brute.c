#include "brute.h"

#include <stdlib.h>
#include <string.h>

typedef uint64_t rows; /* a set of rows of a dimension */

/* A layout with what each device has. */
typedef struct placed {
    brute_layout layout;
    rows has[BRUTE_DEVICES][BRUTE_DIMS];
    int64_t bytes;
} placed;

typedef struct edge {
    bool exists;
    int64_t time;
    int64_t bytes[BRUTE_LEVELS];
} edge;

struct brute {
    brute_problem p;
    int devices;
    placed *list;
    size_t count;
    size_t plain;
    size_t room;
    edge *edges;
    brute_cost *costs;
};

static int digit_of(const brute *b, int device, int atom)
{
    for (int i = b->p.num_atoms - 1; i > atom; i--) {
        device /= b->p.sizes[i];
    }
    return device % b->p.sizes[atom];
}

/* The outermost level in which two devices differ. */
static int level_between(const brute *b, int x, int y)
{
    for (int i = 0; i < b->p.num_atoms; i++) {
        if (digit_of(b, x, i) != digit_of(b, y, i)) {
            return b->p.levels[i];
        }
    }
    return b->p.num_levels;
}

static int in_dim(const brute *b, const brute_layout *s, int dim)
{
    int count = 0;
    for (int i = 0; i < b->p.num_atoms; i++) {
        count += s->dim[i] == dim;
    }
    return count;
}

static int at_position(const brute *b, const brute_layout *s, int dim, int position)
{
    for (int i = 0; i < b->p.num_atoms; i++) {
        if (s->dim[i] == dim && s->position[i] == position) {
            return i;
        }
    }
    return -1;
}

static int shards_of(const brute *b, const brute_layout *s, int dim, bool held_too)
{
    int shards = 1;
    for (int i = 0; i < b->p.num_atoms; i++) {
        shards *= s->dim[i] == dim && (held_too || !s->held[i]) ? b->p.sizes[i] : 1;
    }
    return shards;
}

/* The rows of a dimension that a device has: of all shards whose cut digits are its own. */
static rows rows_of(const brute *b, const brute_layout *s, int device, int dim)
{
    const int extent = b->p.extents[dim];
    const int shards = shards_of(b, s, dim, true);
    const int chunk = (extent + shards - 1) / shards;
    const int atoms = in_dim(b, s, dim);
    rows out = 0;
    for (int row = 0; row < extent; row++) {
        int shard = row / chunk;
        bool mine = true;
        for (int position = atoms - 1; position >= 0; position--) {
            const int atom = at_position(b, s, dim, position);
            mine = mine && (s->held[atom] || shard % b->p.sizes[atom] == digit_of(b, device, atom));
            shard /= b->p.sizes[atom];
        }
        out |= mine ? (rows)1 << row : 0;
    }
    return out;
}

static int64_t elements(const brute *b, const rows *has)
{
    int64_t count = 1;
    for (int d = 0; d < b->p.rank; d++) {
        count *= __builtin_popcountll(has[d]);
    }
    return count;
}

static int64_t largest_bytes(const brute *b, const placed *s)
{
    int64_t most = 0;
    for (int x = 0; x < b->devices; x++) {
        const int64_t count = elements(b, s->has[x]);
        most = count > most ? count : most;
    }
    return most * b->p.item;
}

static void add_layout(brute *b, const brute_layout *s)
{
    if (b->count == b->room) {
        b->room = 2 * b->room + 64;
        b->list = realloc(b->list, b->room * sizeof *b->list);
    }
    placed *out = &b->list[b->count++];
    out->layout = *s;
    for (int x = 0; x < b->devices; x++) {
        for (int d = 0; d < b->p.rank; d++) {
            out->has[x][d] = rows_of(b, s, x, d);
        }
    }
    out->bytes = largest_bytes(b, out);
}

/* Whether the positions are 0, 1, .. in each dimension, and atoms that no dimension has have 0. */
static bool is_ordered(const brute *b, const brute_layout *s)
{
    for (int i = 0; i < b->p.num_atoms; i++) {
        if (s->dim[i] < 0 ? s->position[i] != 0 : s->position[i] >= in_dim(b, s, s->dim[i])) {
            return false;
        }
        for (int k = 0; k < i; k++) {
            if (s->dim[k] >= 0 && s->dim[k] == s->dim[i] && s->position[k] == s->position[i]) {
                return false;
            }
        }
    }
    return true;
}

static bool may_hold(const brute *b, const brute_layout *s)
{
    for (int i = 0; i < b->p.num_atoms; i++) {
        const int d = s->dim[i];
        if (s->held[i] && (d < 0 || s->position[i] == in_dim(b, s, d) - 1 ||
                           b->p.extents[d] % shards_of(b, s, d, true) != 0)) {
            return false;
        }
    }
    return true;
}

/* Counts through all numbers of all fields of a layout; keeps those that are layouts. */
static void list_layouts(brute *b, bool held)
{
    const int n = b->p.num_atoms;
    int64_t all = 1;
    const int per = (b->p.rank + 2) * n;
    for (int i = 0; i < n; i++) {
        all *= per;
    }
    for (int64_t code = 0; code < all; code++) {
        brute_layout s = {0};
        int64_t rest = code;
        bool fine = true;
        for (int i = 0; i < n; i++) {
            s.dim[i] = (int)(rest % (b->p.rank + 2)) - 2;
            rest /= b->p.rank + 2;
            s.position[i] = (int)(rest % n);
            rest /= n;
            fine = fine && (s.dim[i] != BRUTE_PENDING || b->p.pending);
        }
        if (!fine || !is_ordered(b, &s)) {
            continue;
        }
        for (int mask = held ? 1 : 0; mask < (held ? 1 << n : 1); mask++) {
            for (int i = 0; i < n; i++) {
                s.held[i] = (mask >> i & 1) != 0;
            }
            if (may_hold(b, &s)) {
                add_layout(b, &s);
            }
        }
    }
}

/* ---- one step ---- */

/* What changes, as sets of atoms. */
typedef struct roles {
    unsigned lost;
    unsigned gained;
    unsigned folded;
    bool other;  /* a sum becomes pending */
    bool leaves; /* a held atom is no longer in its dimension */
} roles;

static bool is_cut(const brute_layout *s, int atom)
{
    return s->dim[atom] >= 0 && !s->held[atom];
}

static roles roles_of(const brute *b, const brute_layout *u, const brute_layout *v)
{
    roles r = {0};
    for (int i = 0; i < b->p.num_atoms; i++) {
        const bool stays = is_cut(u, i) && is_cut(v, i) && u->dim[i] == v->dim[i];
        r.lost |= is_cut(u, i) && !stays ? 1u << i : 0;
        r.gained |= is_cut(v, i) && !stays ? 1u << i : 0;
        r.folded |= u->dim[i] == BRUTE_PENDING && v->dim[i] != BRUTE_PENDING ? 1u << i : 0;
        r.other = r.other || (u->dim[i] != BRUTE_PENDING && v->dim[i] == BRUTE_PENDING);
        r.leaves = r.leaves || (u->held[i] && v->dim[i] != u->dim[i]);
    }
    return r;
}

static bool in_group(const brute *b, int x, int y, unsigned set)
{
    for (int i = 0; i < b->p.num_atoms; i++) {
        if ((set >> i & 1) == 0 && digit_of(b, x, i) != digit_of(b, y, i)) {
            return false;
        }
    }
    return true;
}

/* The rows that all devices of the group of one have. */
static rows group_rows(const brute *b, const placed *u, int x, int dim, unsigned set)
{
    rows all = 0;
    for (int y = 0; y < b->devices; y++) {
        all |= in_group(b, x, y, set) ? u->has[y][dim] : 0;
    }
    return all;
}

/* In every dimension devices get either all that their group has, or some of what they have. */
static bool boxes_allow(const brute *b, const placed *u, const placed *v, unsigned set, bool lose,
                        bool gain)
{
    for (int d = 0; d < b->p.rank; d++) {
        bool loses = lose;
        bool gains = gain;
        bool same = true;
        for (int x = 0; x < b->devices; x++) {
            const rows old = u->has[x][d];
            const rows new = v->has[x][d];
            loses = loses && new == group_rows(b, u, x, d, set);
            gains = gains && (new & ~old) == 0;
            same = same && new == old;
        }
        if (!loses && !gains && !same) {
            return false;
        }
    }
    return true;
}

/*
 * Whether atoms only come to or go from the end of the lists, in the order that they have; one that
 * is held has been cut in the same dimension.
 */
static bool lists_allow(const brute *b, const brute_layout *u, const brute_layout *v)
{
    for (int i = 0; i < b->p.num_atoms; i++) {
        if (v->held[i] && u->dim[i] != v->dim[i]) {
            return false;
        }
    }
    for (int d = 0; d < b->p.rank; d++) {
        const int before = in_dim(b, u, d);
        const int after = in_dim(b, v, d);
        for (int k = 0; k < before && k < after; k++) {
            if (at_position(b, u, d, k) != at_position(b, v, d, k)) {
                return false;
            }
        }
    }
    return true;
}

/* A dimension that changes must not be uneven for the algorithms of even shares. */
static bool is_even(const brute *b, const placed *u, const placed *v)
{
    for (int d = 0; d < b->p.rank; d++) {
        const int a = shards_of(b, &u->layout, d, true);
        const int c = shards_of(b, &v->layout, d, true);
        const bool changes =
            a != c || shards_of(b, &u->layout, d, false) != shards_of(b, &v->layout, d, false);
        if (changes && b->p.extents[d] % (a > c ? a : c) != 0) {
            return false;
        }
    }
    return true;
}

typedef struct work {
    int64_t bytes[BRUTE_LEVELS];
    int64_t rounds[BRUTE_LEVELS];
    int64_t reduced;
    int64_t copied;
} work;

static __int128 up(__int128 a, __int128 by)
{
    return (a + by - 1) / by;
}

static int64_t time_of(const brute *b, const work *w)
{
    const __int128 second = (__int128)1000000 * 1000000;
    __int128 longest = 0;
    __int128 sum = 0;
    for (int l = 0; l < b->p.num_levels; l++) {
        const __int128 t = up(w->bytes[l] * second, b->p.bandwidth[l]);
        longest = t > longest ? t : longest;
        sum += (__int128)w->rounds[l] * b->p.latency[l];
    }
    sum += longest + up(w->reduced * second, b->p.reduce) + up(w->copied * second, b->p.copy);
    return (int64_t)up(sum, 1000);
}

/* Keeps the cheaper of two ways. */
static void offer(const brute *b, edge *e, const work *w)
{
    edge new = {true, time_of(b, w), {0}};
    memcpy(new.bytes, w->bytes, sizeof new.bytes);
    bool better = !e->exists || new.time < e->time;
    if (e->exists && new.time == e->time) {
        better = memcmp(new.bytes, e->bytes, 0) != 0;
        for (int l = 0; l < b->p.num_levels; l++) {
            if (new.bytes[l] != e->bytes[l]) {
                better = new.bytes[l] < e->bytes[l];
                break;
            }
        }
    }
    if (better) {
        *e = new;
    }
}

static int members_of(const brute *b, unsigned set)
{
    int members = 1;
    for (int i = 0; i < b->p.num_atoms; i++) {
        members *= (set >> i & 1) != 0 ? b->p.sizes[i] : 1;
    }
    return members;
}

/* The level of a group that lies in one level, else -1. */
static int level_of_group(const brute *b, unsigned set)
{
    int level = -1;
    for (int i = 0; i < b->p.num_atoms; i++) {
        if ((set >> i & 1) == 0) {
            continue;
        }
        if (level >= 0 && level != b->p.levels[i]) {
            return -1;
        }
        level = b->p.levels[i];
    }
    return level;
}

static int log2_up(int p)
{
    int rounds = 0;
    while (1 << rounds < p) {
        rounds++;
    }
    return rounds;
}

/* `share` bytes from each other member of the group. */
static work from_each(const brute *b, unsigned set, int64_t share)
{
    work w = {0};
    for (int y = 1; y < b->devices; y++) {
        if (in_group(b, 0, y, set)) {
            w.bytes[level_between(b, 0, y)] += share;
            w.rounds[level_between(b, 0, y)]++;
        }
    }
    return w;
}

/* What each device gets of each other one, the largest at each level. */
static work by_pairs(const brute *b, const placed *u, const placed *v, unsigned set)
{
    work most = {0};
    for (int x = 0; x < b->devices; x++) {
        work w = {0};
        for (int y = 0; y < b->devices; y++) {
            rows part[BRUTE_DIMS];
            for (int d = 0; d < b->p.rank; d++) {
                part[d] = u->has[y][d] & v->has[x][d];
            }
            const int64_t count = elements(b, part);
            if (y != x && in_group(b, x, y, set) && count > 0) {
                w.bytes[level_between(b, x, y)] += count * b->p.item;
                w.rounds[level_between(b, x, y)]++;
            }
        }
        for (int l = 0; l < b->p.num_levels; l++) {
            most.bytes[l] = w.bytes[l] > most.bytes[l] ? w.bytes[l] : most.bytes[l];
            most.rounds[l] = w.rounds[l] > most.rounds[l] ? w.rounds[l] : most.rounds[l];
        }
    }
    return most;
}

/* The most that one device has of what another one wants, in bytes. */
static int64_t largest_part(const brute *b, const placed *u, const placed *v)
{
    int64_t most = 0;
    for (int x = 0; x < b->devices * b->devices; x++) {
        rows part[BRUTE_DIMS];
        for (int d = 0; d < b->p.rank; d++) {
            part[d] = u->has[x / b->devices][d] & v->has[x % b->devices][d];
        }
        const int64_t bytes = elements(b, part) * b->p.item;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* The bits set in the numbers below p. */
static int bits_below(int p)
{
    int bits = 0;
    for (int i = 0; i < p; i++) {
        bits += __builtin_popcount((unsigned)i);
    }
    return bits;
}

static void offer_gather(const brute *b, const placed *u, const placed *v, const roles *r, edge *e)
{
    const bool even = b->p.program || is_even(b, u, v);
    const int64_t more = r->leaves ? v->bytes : 0;
    work w = even ? from_each(b, r->lost, u->bytes) : by_pairs(b, u, v, r->lost);
    w.copied += more;
    offer(b, e, &w);
    const int level = level_of_group(b, r->lost);
    if (even && level >= 0) {
        const int p = members_of(b, r->lost);
        work bruck = {.copied = p * u->bytes + more};
        bruck.rounds[level] = log2_up(p);
        bruck.bytes[level] = (p - 1) * u->bytes;
        offer(b, e, &bruck);
    }
}

static void offer_all_to_all(const brute *b, const placed *u, const placed *v, const roles *r,
                             edge *e)
{
    const bool even = b->p.program || is_even(b, u, v);
    const int p = members_of(b, r->lost);
    const int64_t share = largest_part(b, u, v);
    const work w = even ? from_each(b, r->lost, share) : by_pairs(b, u, v, r->lost);
    offer(b, e, &w);
    const int level = level_of_group(b, r->lost);
    if (even && level >= 0) {
        const int64_t hops = share * bits_below(p);
        work bruck = {.copied = 2 * p * share + 2 * hops};
        bruck.rounds[level] = log2_up(p);
        bruck.bytes[level] = hops;
        offer(b, e, &bruck);
    }
}

static void offer_reduction(const brute *b, const placed *u, const placed *v, const roles *r,
                            edge *e)
{
    const int p = members_of(b, r->folded);
    const int level = level_of_group(b, r->folded);
    const bool scatters = r->gained != 0;
    const int64_t share = scatters ? v->bytes : (u->bytes / b->p.item + p - 1) / p * b->p.item;
    work w = from_each(b, r->folded, share);
    for (int l = 0; l < b->p.num_levels && !scatters; l++) {
        w.bytes[l] *= 2;
        w.rounds[l] *= 2;
    }
    w.reduced = (p - 1) * share;
    offer(b, e, &w);
    if (!scatters && level >= 0) {
        work direct = {.reduced = (p - 1) * p * share};
        direct.rounds[level] = p - 1;
        direct.bytes[level] = (p - 1) * p * share;
        offer(b, e, &direct);
        direct.rounds[level] = log2_up(p);
        direct.copied = p * share;
        offer(b, e, &direct);
    }
}

/* The innermost level at which a device finds an element, and the shard that has it there. */
static int find_owner(const brute *b, const placed *u, int x, const int *element, int *shard)
{
    int best = -1;
    for (int y = 0; y < b->devices; y++) {
        bool owns = true;
        int at = 0;
        for (int d = 0; d < b->p.rank; d++) {
            owns = owns && (u->has[y][d] >> element[d] & 1) != 0;
            at = at * 64 + (u->has[y][d] != 0 ? __builtin_ctzll(u->has[y][d]) : 63);
        }
        for (int i = 0; i < b->p.num_atoms; i++) {
            owns = owns &&
                   (u->layout.dim[i] != BRUTE_PENDING || digit_of(b, x, i) == digit_of(b, y, i));
        }
        if (owns && level_between(b, x, y) > best) {
            best = level_between(b, x, y);
            *shard = at;
        }
    }
    return best;
}

/* What one device gets from owners: a round for each shard at each level. */
static work from_owners(const brute *b, const placed *u, const placed *v, int x)
{
    static bool seen[BRUTE_LEVELS][64 * 64 * 64];
    int marked[1024][2];
    int marks = 0;
    work w = {0};
    int e[BRUTE_DIMS] = {0};
    const int last[BRUTE_DIMS] = {b->p.extents[0], b->p.rank > 1 ? b->p.extents[1] : 1,
                                  b->p.rank > 2 ? b->p.extents[2] : 1};
    for (e[0] = 0; e[0] < last[0]; e[0]++) {
        for (e[1] = 0; e[1] < last[1]; e[1]++) {
            for (e[2] = 0; e[2] < last[2]; e[2]++) {
                bool wanted = true;
                int shard = 0;
                for (int d = 0; d < b->p.rank; d++) {
                    wanted = wanted && (v->has[x][d] >> e[d] & 1) != 0;
                }
                const int level = wanted ? find_owner(b, u, x, e, &shard) : b->p.num_levels;
                if (level == b->p.num_levels) {
                    continue;
                }
                w.bytes[level] += b->p.item;
                if (!seen[level][shard]) {
                    seen[level][shard] = true;
                    marked[marks][0] = level;
                    marked[marks++][1] = shard;
                    w.rounds[level]++;
                }
            }
        }
    }
    for (int i = 0; i < marks; i++) {
        seen[marked[i][0]][marked[i][1]] = false;
    }
    return w;
}

static bool holds_any(const brute *b, const placed *s)
{
    bool any = false;
    for (int i = 0; i < b->p.num_atoms; i++) {
        any = any || s->layout.held[i];
    }
    return any;
}

static bool is_pending(const brute *b, const placed *s)
{
    bool any = false;
    for (int i = 0; i < b->p.num_atoms; i++) {
        any = any || s->layout.dim[i] == BRUTE_PENDING;
    }
    return any;
}

static void offer_exchange(const brute *b, const placed *u, const placed *v, edge *e)
{
    bool permutes = true;
    work most = {0};
    bool moves = false;
    for (int d = 0; d < b->p.rank; d++) {
        permutes =
            permutes && shards_of(b, &u->layout, d, true) == shards_of(b, &v->layout, d, true);
    }
    if (holds_any(b, u) || holds_any(b, v) || (!permutes && (b->p.program || is_pending(b, u)))) {
        return;
    }
    for (int x = 0; x < b->devices; x++) {
        const work w = from_owners(b, u, v, x);
        for (int l = 0; l < b->p.num_levels; l++) {
            most.bytes[l] = w.bytes[l] > most.bytes[l] ? w.bytes[l] : most.bytes[l];
            most.rounds[l] = w.rounds[l] > most.rounds[l] ? w.rounds[l] : most.rounds[l];
            moves = moves || w.rounds[l] > 0;
        }
    }
    for (int l = 0; l < b->p.num_levels && b->p.program; l++) {
        most.bytes[l] = most.rounds[l] > 0 ? u->bytes : 0;
    }
    most.copied = moves ? 0 : v->bytes;
    offer(b, e, &most);
}

static edge edge_of(const brute *b, const placed *u, const placed *v)
{
    edge e = {0};
    const roles r = roles_of(b, &u->layout, &v->layout);
    if (r.other) {
        return e;
    }
    if (lists_allow(b, &u->layout, &v->layout)) {
        if (r.folded == 0 && r.lost == 0 && boxes_allow(b, u, v, 0, false, true)) {
            const work w = {.copied = v->bytes};
            offer(b, &e, &w);
        } else if (r.folded == 0 && r.gained == 0 && boxes_allow(b, u, v, r.lost, true, false)) {
            offer_gather(b, u, v, &r, &e);
        } else if (r.folded == 0 && r.gained == r.lost && !r.leaves &&
                   boxes_allow(b, u, v, r.lost, true, true)) {
            offer_all_to_all(b, u, v, &r, &e);
        } else if (r.folded != 0 && r.lost == 0 && (r.gained == 0 || r.gained == r.folded) &&
                   boxes_allow(b, u, v, 0, false, true)) {
            offer_reduction(b, u, v, &r, &e);
        }
    }
    if (r.folded == 0 && (!e.exists || (!b->p.program && !is_pending(b, u)))) {
        offer_exchange(b, u, v, &e);
    }
    return e;
}

/* ---- all pairs ---- */

brute *brute_create(const brute_problem *problem)
{
    brute *b = calloc(1, sizeof *b);
    b->p = *problem;
    b->devices = 1;
    for (int i = 0; i < problem->num_atoms; i++) {
        b->devices *= problem->sizes[i];
    }
    list_layouts(b, false);
    b->plain = b->count;
    list_layouts(b, true);
    b->edges = calloc(b->count * b->count, sizeof *b->edges);
    b->costs = calloc(b->count, sizeof *b->costs);
    for (size_t i = 0; i < b->count; i++) {
        for (size_t k = 0; k < b->count; k++) {
            if (i != k) {
                b->edges[i * b->count + k] = edge_of(b, &b->list[i], &b->list[k]);
            }
        }
    }
    return b;
}

void brute_destroy(brute *b)
{
    free(b->list);
    free(b->edges);
    free(b->costs);
    free(b);
}

size_t brute_count(const brute *b)
{
    return b->count;
}

size_t brute_count_plain(const brute *b)
{
    return b->plain;
}

const brute_layout *brute_layout_at(const brute *b, size_t index)
{
    return &b->list[index].layout;
}

int64_t brute_bytes(const brute *b, size_t layout)
{
    return b->list[layout].bytes;
}

static bool improve(brute_cost *to, const brute_cost *from, const edge *e)
{
    brute_cost new = {true, from->time + e->time, {0}, from->steps + 1};
    int order = to->reached ? (new.time > to->time) - (new.time < to->time) : -1;
    for (int l = 0; l < BRUTE_LEVELS; l++) {
        new.bytes[l] = from->bytes[l] + e->bytes[l];
        if (order == 0) {
            order = (new.bytes[l] > to->bytes[l]) - (new.bytes[l] < to->bytes[l]);
        }
    }
    if (order == 0) {
        order = (new.steps > to->steps) - (new.steps < to->steps);
    }
    if (order < 0) {
        *to = new;
    }
    return order < 0;
}

const brute_cost *brute_from(brute *b, size_t from, int64_t limit)
{
    bool changed = true;
    memset(b->costs, 0, b->count * sizeof *b->costs);
    b->costs[from].reached = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < b->count; i++) {
            if (!b->costs[i].reached || (b->list[i].bytes > limit && i != from)) {
                continue;
            }
            for (size_t k = 0; k < b->count; k++) {
                const edge *e = &b->edges[i * b->count + k];
                changed = (e->exists && improve(&b->costs[k], &b->costs[i], e)) || changed;
            }
        }
    }
    return b->costs;
}

/*
 * The parts of a plan: what each device receives and sends in each step, element by element. What a
 * device stores is worked out by slices.h, which asks the library for no box.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "slices.h"

enum { MAX_DEVICES = 24, MAX_ELEMENTS = 1 << 18 };

/* What one layout gives each device: its rows, and what stays pending with whom. */
typedef struct side {
    device_slice rows[MAX_DEVICES];
    int64_t pending[MAX_DEVICES]; /* the place in its group */
    int64_t label[MAX_DEVICES];   /* the same for all devices of a group */
    int64_t group;                /* how many there are in one */
} side;

/* One step of a plan, all devices together. */
typedef struct step_check {
    size_t rank;
    int64_t devices;
    side src;
    side dst;
    int64_t parts; /* of a fold */
    plan_moves receives[MAX_DEVICES];
    plan_moves sends[MAX_DEVICES];
    int64_t received[MAX_DEVICES]; /* elements, from others */
    int64_t sent[MAX_DEVICES];
} step_check;

static void fill_side(const tsr_geometry *g, size_t rank, int64_t devices, side *out)
{
    const tsr_sharding *s = tsr_geometry_sharding(g);
    const tsr_mesh *mesh = tsr_sharding_mesh(s);
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(s, &count);
    out->group = tsr_axes_size(axes, count);
    for (int64_t device = 0; device < devices; device++) {
        int64_t mine[64] = {0};
        slice_of(s, rank, tsr_geometry_shape(g), device, &out->rows[device]);
        out->pending[device] = index_along(mesh, axes, count, device);
        /* Its coordinates without those of the pending axes, as one number. */
        assert_true(tsr_mesh_coordinates(mesh, device, mine));
        for (size_t i = 0; i < count; i++) {
            const int64_t size = tsr_mesh_axis_size(mesh, (size_t)axes[i].axis);
            const int64_t inner = size / (axes[i].pre * axes[i].size);
            int64_t *at = &mine[axes[i].axis];
            *at -= *at / inner % axes[i].size * inner;
        }
        out->label[device] = 0;
        for (size_t i = 0; i < tsr_mesh_num_axes(mesh); i++) {
            out->label[device] = out->label[device] * tsr_mesh_axis_size(mesh, i) + mine[i];
        }
    }
}

/* All rows that a move takes of one dimension, by where both sides store them. */
typedef struct listed_rows {
    int64_t count;
    int64_t src[MAX_ROWS];
    int64_t dst[MAX_ROWS];
} listed_rows;

static void list_rows(const plan_overlap *overlap, listed_rows *out)
{
    out->count = 0;
    for (size_t i = 0; i < overlap->count; i++) {
        assert_true(overlap->rows[i].size > 0);
        for (int64_t k = 0; k < overlap->rows[i].size; k++) {
            assert_true(out->count < MAX_ROWS);
            out->src[out->count] = overlap->rows[i].src + k;
            out->dst[out->count++] = overlap->rows[i].dst + k;
        }
    }
    assert_int_equal(out->count, overlap->size);
}

static int64_t row_at(const device_slice *s, size_t dim, int64_t at)
{
    assert_true(at >= 0 && at < s->count[dim]);
    return s->rows[dim][at];
}

static bool has_row(const device_slice *s, size_t dim, int64_t row)
{
    bool has = false;
    for (int64_t i = 0; i < s->count[dim]; i++) {
        has = has || s->rows[dim][i] == row;
    }
    return has;
}

static const int64_t *sources_of(const step_check *c, const plan_move *move)
{
    assert_int_equal(move->sources != NULL, c->parts > 1);
    return move->sources != NULL ? move->sources : &move->peer;
}

static bool comes_from(const step_check *c, const plan_move *move, int64_t device)
{
    bool from = false;
    for (int64_t q = 0; q < c->parts; q++) {
        from = from || sources_of(c, move)[q] == device;
    }
    return from;
}

/* The sources are all parts of one group that fold here, in their order. */
static void check_sources(const step_check *c, int64_t device, const plan_move *move)
{
    const int64_t *sources = sources_of(c, move);
    assert_int_equal(move->peer, sources[0]);
    for (int64_t q = 0; q < c->parts; q++) {
        assert_true(sources[q] >= 0 && sources[q] < c->devices);
        assert_int_equal(c->src.label[sources[q]], c->src.label[sources[0]]);
        assert_int_equal(c->dst.pending[sources[q]], c->dst.pending[device]);
        assert_true(q == 0 || c->src.pending[sources[q]] > c->src.pending[sources[q - 1]]);
    }
}

/* Counts one more for each element of a move at its place in the destination. */
static void mark(const step_check *c, const device_slice *to, const listed_rows *rows,
                 unsigned char *marks)
{
    int64_t at[MAX_DIMS] = {0};
    for (;;) {
        int64_t place = 0;
        for (size_t i = 0; i < c->rank; i++) {
            place = place * to->count[i] + rows[i].dst[at[i]];
        }
        assert_true(place < MAX_ELEMENTS);
        marks[place]++;
        size_t i = c->rank;
        while (i > 0 && ++at[i - 1] == rows[i - 1].count) {
            at[--i] = 0;
        }
        if (i == 0) {
            return;
        }
    }
}

/* Does what a move says: the rows are those of the source, and from itself where it has them. */
static void execute(const step_check *c, int64_t device, const plan_move *move,
                    unsigned char *marks)
{
    static listed_rows rows[MAX_DIMS];
    int64_t elements = 1;
    bool held = true;
    check_sources(c, device, move);
    for (size_t i = 0; i < c->rank; i++) {
        list_rows(move->overlaps[i], &rows[i]);
        elements *= rows[i].count;
        for (int64_t k = 0; k < rows[i].count; k++) {
            const int64_t row = row_at(&c->dst.rows[device], i, rows[i].dst[k]);
            assert_true(row >= 0);
            for (int64_t q = 0; q < c->parts; q++) {
                const device_slice *from = &c->src.rows[sources_of(c, move)[q]];
                assert_int_equal(row_at(from, i, rows[i].src[k]), row);
            }
            held = held && has_row(&c->src.rows[device], i, row);
        }
    }
    assert_int_equal(elements, move->elements);
    assert_true(elements > 0);
    assert_true(!held || comes_from(c, move, device));
    mark(c, &c->dst.rows[device], rows, marks);
}

/* Every element of the destination once, no padding. */
static void check_marks(const step_check *c, const device_slice *to, const unsigned char *marks)
{
    int64_t all = 1;
    for (size_t i = 0; i < c->rank; i++) {
        all *= to->count[i];
    }
    for (int64_t place = 0; place < all; place++) {
        int64_t rest = place;
        bool pads = false;
        for (size_t i = c->rank; i-- > 0;) {
            pads = pads || to->rows[i][rest % to->count[i]] < 0;
            rest /= to->count[i];
        }
        assert_int_equal(marks[place], pads ? 0 : 1);
    }
}

static void check_receives(const step_check *c, int64_t device)
{
    static unsigned char marks[MAX_ELEMENTS];
    int64_t all = 1;
    for (size_t i = 0; i < c->rank; i++) {
        all *= c->dst.rows[device].count[i];
    }
    assert_true(all <= MAX_ELEMENTS);
    memset(marks, 0, (size_t)all);
    for (size_t i = 0; i < c->receives[device].count; i++) {
        execute(c, device, &c->receives[device].list[i], marks);
    }
    check_marks(c, &c->dst.rows[device], marks);
}

static bool same_overlap(const plan_overlap *a, const plan_overlap *b)
{
    bool same = a->count == b->count && a->size == b->size;
    for (size_t i = 0; same && i < a->count; i++) {
        same = a->rows[i].src == b->rows[i].src && a->rows[i].dst == b->rows[i].dst &&
               a->rows[i].size == b->rows[i].size;
    }
    return same;
}

/* What moves from one device to another is the same on both, piece by piece, without a gap. */
static void check_pair_of(const step_check *c, int64_t from, int64_t to)
{
    const plan_moves *sends = &c->sends[from];
    const plan_moves *receives = &c->receives[to];
    size_t first = 0;
    size_t second = 0;
    while (first < sends->count && sends->list[first].peer != to) {
        first++;
    }
    while (second < receives->count && !comes_from(c, &receives->list[second], from)) {
        second++;
    }
    while (first < sends->count && sends->list[first].peer == to) {
        const plan_move *a = &sends->list[first++];
        assert_true(second < receives->count);
        const plan_move *b = &receives->list[second++];
        assert_true(comes_from(c, b, from));
        assert_int_equal(a->elements, b->elements);
        for (size_t i = 0; i < c->rank; i++) {
            assert_true(same_overlap(a->overlaps[i], b->overlaps[i]));
        }
    }
    for (; first < sends->count; first++) {
        assert_int_not_equal(sends->list[first].peer, to);
    }
    for (; second < receives->count; second++) {
        assert_false(comes_from(c, &receives->list[second], from));
    }
}

/* Sums both lists of all devices, what stays on a device left out. */
static void sum_moves(step_check *c)
{
    memset(c->received, 0, sizeof c->received);
    memset(c->sent, 0, sizeof c->sent);
    for (int64_t device = 0; device < c->devices; device++) {
        for (size_t i = 0; i < c->receives[device].count; i++) {
            const plan_move *move = &c->receives[device].list[i];
            for (int64_t q = 0; q < c->parts; q++) {
                c->received[device] += sources_of(c, move)[q] != device ? move->elements : 0;
            }
        }
        for (size_t i = 0; i < c->sends[device].count; i++) {
            const plan_move *move = &c->sends[device].list[i];
            c->sent[device] += move->peer != device ? move->elements : 0;
        }
    }
}

static int64_t largest(const int64_t *values, int64_t count)
{
    int64_t most = 0;
    for (int64_t i = 0; i < count; i++) {
        most = values[i] > most ? values[i] : most;
    }
    return most;
}

static int64_t sum_of(const int64_t *values, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

static bool same_slice(const device_slice *a, const device_slice *b)
{
    bool same = true;
    for (size_t i = 0; i < a->rank; i++) {
        same = same && slice_elements(a) == slice_common(a, b);
    }
    return same && slice_elements(a) == slice_elements(b);
}

/* What each kind says of every device. */
static void check_kind(const step_check *c, tsr_step_kind kind)
{
    assert_int_equal(kind == TSR_STEP_SLICE, sum_of(c->received, c->devices) == 0);
    const bool folds = kind == TSR_STEP_REDUCE_SCATTER || kind == TSR_STEP_ALL_REDUCE;
    assert_true(kind == TSR_STEP_SLICE || kind == TSR_STEP_DIRECT || folds == (c->parts > 1));
    for (int64_t device = 0; device < c->devices; device++) {
        const device_slice *before = &c->src.rows[device];
        const device_slice *after = &c->dst.rows[device];
        const int64_t wanted = slice_elements(after);
        if (folds) {
            assert_int_equal(c->received[device], (c->parts - 1) * wanted);
        }
        assert_true(kind != TSR_STEP_ALL_REDUCE || same_slice(before, after));
        assert_true(kind != TSR_STEP_PERMUTE || c->received[device] == 0 ||
                    c->received[device] == wanted || slice_elements(before) != wanted ||
                    slice_common(before, after) > 0);
    }
}

/* How much was seen. */
static struct {
    int64_t plans;
    int64_t steps;
    int64_t moves;
    int64_t cut; /* boxes that came from several replicas */
    int64_t folds;
    int64_t kept;
    int64_t counted;
    int64_t listed;
    int64_t kinds[TSR_STEP_DIRECT + 1];
} seen;

static void count_step(const step_check *c, const plan_exchange *x, tsr_step_kind kind)
{
    seen.steps++;
    seen.kinds[kind]++;
    seen.folds += c->parts > 1;
    seen.kept += c->dst.group > 1;
    seen.counted += x->counted && x->replicas.size > 1;
    seen.listed += !x->counted && x->replicas.size > 1;
    for (int64_t device = 0; device < c->devices; device++) {
        const plan_moves *in = &c->receives[device];
        seen.moves += (int64_t)in->count;
        for (size_t i = 1; i < in->count; i++) {
            bool same = true;
            for (size_t k = 0; k < c->rank; k++) {
                same = same && in->list[i].overlaps[k]->shard == in->list[i - 1].overlaps[k]->shard;
            }
            seen.cut += same;
        }
    }
}

static void check_step(fixture *f, const tsr_plan *plan, size_t index, step_check *c)
{
    tsr_step step;
    assert_int_equal(tsr_plan_step(f->ctx, plan, index, NULL, &step), TSR_OK);
    fill_side(step.src, c->rank, c->devices, &c->src);
    fill_side(step.dst, c->rank, c->devices, &c->dst);
    c->parts = c->src.group / c->dst.group;
    for (int64_t device = 0; device < c->devices; device++) {
        plan_part part;
        assert_int_equal(plan_part_create(f->ctx, f->arena, plan, device, PART_BOTH, &part),
                         TSR_OK);
        c->receives[device] = part.receives[index];
        c->sends[device] = part.sends[index];
    }
    for (int64_t device = 0; device < c->devices; device++) {
        check_receives(c, device);
        for (int64_t other = 0; other < c->devices; other++) {
            check_pair_of(c, device, other);
        }
    }
    sum_moves(c);
    const int64_t item = 2;
    assert_int_equal(step.bytes.moved, sum_of(c->received, c->devices) * item);
    assert_int_equal(step.bytes.moved, sum_of(c->sent, c->devices) * item);
    assert_int_equal(step.bytes.most_received, largest(c->received, c->devices) * item);
    assert_int_equal(step.bytes.most_sent, largest(c->sent, c->devices) * item);
    check_kind(c, step.kind);
    count_step(c, &plan->steps[index].exchange, step.kind);
}

static void check_plan(fixture *f, const tsr_plan *plan, size_t rank, int64_t devices)
{
    static step_check c;
    int64_t received[MAX_DEVICES] = {0};
    int64_t sent[MAX_DEVICES] = {0};
    tsr_plan_totals total;
    c.rank = rank;
    c.devices = devices;
    seen.plans++;
    for (size_t i = 0; i < tsr_plan_num_steps(plan); i++) {
        check_step(f, plan, i, &c);
        for (int64_t device = 0; device < devices; device++) {
            received[device] += c.received[device] * 2;
            sent[device] += c.sent[device] * 2;
        }
    }
    for (int64_t device = 0; device < devices; device++) {
        assert_int_equal(tsr_plan_bytes_received(plan, device), received[device]);
        assert_int_equal(tsr_plan_bytes_sent(plan, device), sent[device]);
    }
    assert_int_equal(tsr_plan_bytes_received(plan, devices), 0);
    assert_int_equal(tsr_plan_bytes_sent(plan, -1), 0);
    assert_int_equal(tsr_plan_total(f->ctx, plan, &total), TSR_OK);
    assert_int_equal(total.moved, sum_of(received, devices));
    assert_int_equal(total.most_received, largest(received, devices));
    assert_int_equal(total.most_sent, largest(sent, devices));
}

/* Axes of the mesh of a sharding that stay pending. */
typedef struct kept_axes {
    tsr_axis_ref refs[64];
    size_t count;
} kept_axes;

/* The dimensions of a sharding with axes pending; NULL when the axes cannot be in one sharding. */
static const tsr_sharding *with_pending(fixture *f, const tsr_sharding *dims_of,
                                        const kept_axes *kept, tsr_reduction reduction)
{
    tsr_dim dims[MAX_DIMS];
    const size_t rank = tsr_sharding_rank(dims_of);
    for (size_t i = 0; i < rank; i++) {
        dims[i] = *tsr_sharding_dim(dims_of, i);
    }
    const tsr_sharding_spec spec = {.mesh = tsr_sharding_mesh(dims_of),
                                    .rank = rank,
                                    .dims = dims,
                                    .num_unreduced = kept->count,
                                    .unreduced = kept->refs,
                                    .reduction = reduction};
    const tsr_sharding *out = NULL;
    if (tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &out) != TSR_OK) {
        tsr_context_clear(f->ctx);
    }
    return out;
}

/* A sharding where some of what is pending in `src` stays so: its dimensions, or others. */
static const tsr_sharding *keeping(fixture *f, rng *r, const tsr_sharding *src, size_t rank,
                                   const int64_t *shape)
{
    const tsr_mesh *mesh = tsr_sharding_mesh(src);
    const tsr_reduction reduction = tsr_sharding_reduction(src);
    const tsr_sharding *out = NULL;
    kept_axes kept = {.count = 0};
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(src, &count);
    for (size_t i = 0; i < count && i < 64; i++) {
        if (rng_chance(r, 60)) {
            kept.refs[kept.count++] = axes[i];
        }
    }
    if (rng_chance(r, 70)) {
        const sharding_limits even = {true, false, false};
        const tsr_sharding *other = random_sharding(f, r, mesh, rank, shape, even);
        const tsr_sharding *rest = NULL;
        assert_int_equal(
            tsr_sharding_remove_axes(f->ctx, f->arena, other, kept.refs, kept.count, &rest),
            TSR_OK);
        out = with_pending(f, rest, &kept, reduction);
    }
    out = out != NULL ? out : with_pending(f, src, &kept, reduction);
    const tsr_sharding *elsewhere = NULL;
    if (rng_chance(r, 40) && tsr_sharding_translate(f->ctx, f->arena, out, random_view(f, r, mesh),
                                                    &elsewhere) == TSR_OK) {
        return elsewhere;
    }
    tsr_context_clear(f->ctx);
    return out;
}

/* The pair of a case: what is pending goes, or some of it stays. */
static void check_case(fixture *f, rng *r)
{
    int64_t shape[MAX_DIMS];
    const size_t rank = random_shape(r, shape);
    const int64_t devices = 1 + rng_below(r, MAX_DEVICES);
    const mesh_limits any = {MAX_DEVICES, rng_chance(r, 70), rng_chance(r, 50)};
    const bool pending = rng_chance(r, 50);
    const sharding_limits from = {true, pending, rng_chance(r, 40)};
    const sharding_limits to = {true, false, rng_chance(r, 40)};
    const tsr_mesh *mesh = random_mesh_of(f, r, devices, any);
    const tsr_mesh *other = rng_chance(r, 40) ? mesh : random_mesh_of(f, r, devices, any);
    const tsr_sharding *src = random_sharding(f, r, mesh, rank, shape, from);
    const tsr_sharding *dst = pending && rng_chance(r, 60)
                                  ? keeping(f, r, src, rank, shape)
                                  : random_sharding(f, r, other, rank, shape, to);
    const tsr_plan *plan = NULL;
    const tsr_geometry *before = geometry_of(f, src, rank, shape);
    const tsr_geometry *after = geometry_of(f, dst, rank, shape);
    assert_int_equal(tsr_plan_create(f->ctx, f->arena, before, after, TSR_BF16, &plan), TSR_OK);
    check_plan(f, plan, rank, devices);
    const tsr_step_spec one = {TSR_STEP_DIRECT, after};
    assert_int_equal(tsr_plan_from_steps(f->ctx, f->arena, before, 1, &one, TSR_BF16, &plan),
                     TSR_OK);
    check_plan(f, plan, rank, devices);
}

static void parts_of_all_devices_agree(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("parts_of_all_devices_agree");
    for (int64_t i = 0; i < prop_cases(12000); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        check_case(f, &r);
        tsr_arena_reset(f->arena, mark);
    }
    printf(
        "%lld plans, %lld steps, %lld moves, %lld boxes cut, %lld folds, %lld with pending kept, "
        "%lld lines counted, %lld listed\n",
        (long long)seen.plans, (long long)seen.steps, (long long)seen.moves, (long long)seen.cut,
        (long long)seen.folds, (long long)seen.kept, (long long)seen.counted,
        (long long)seen.listed);
    for (int kind = 0; kind <= TSR_STEP_DIRECT; kind++) {
        printf("%s: %lld\n", tsr_step_kind_name((tsr_step_kind)kind), (long long)seen.kinds[kind]);
        assert_true(seen.kinds[kind] > 10);
    }
    assert_true(seen.cut > 100 && seen.folds > 100 && seen.kept > 100);
    assert_true(seen.counted > 100 && seen.listed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(parts_of_all_devices_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

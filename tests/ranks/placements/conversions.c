/* Every conversion with its backward: elements, bytes and adjoint, on random counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "memory_transport.h"
#include "placements.h"
#include "random.h"

#include "base/base.h"
#include "rt/comm.h"

/* An array of the job's; the test ends where there is no memory. */
static int64_t *numbers(const job *j, int64_t count)
{
    int64_t *values = tsr_arena_alloc(j->arena, ((size_t)count + 1) * sizeof *values);
    if (values == NULL) {
        abort();
    }
    memset(values, 0, ((size_t)count + 1) * sizeof *values);
    return values;
}

/* ---- elements ---- */

/* Small whole numbers, so that sums and products of them are exact. */
static double value_at(const job *j, const int64_t *index, int64_t salt)
{
    int64_t id = salt;
    for (size_t i = 0; i < j->rank; i++) {
        id = (id * 31 + index[i] + 7) % 1009;
    }
    return (double)(id % 13 - 6);
}

/* How elements are set and compared. */
typedef struct filling {
    const job *of;
    int64_t salt;
    int64_t share; /* which member of a pending group; the last one has the rest */
    int64_t members;
    double scale;
    int64_t wrong;
    double *list;
    int64_t count;
} filling;

static double share_of(const filling *how, double value)
{
    const double q = (double)how->share;
    const double n = (double)how->members;
    const double all_but_last = n * (n - 1) / 2;
    return how->share + 1 < how->members ? q + 1 : value - all_but_last;
}

static void set_element(const int64_t *index, void *element, void *state)
{
    const filling *how = state;
    const double value = share_of(how, value_at(how->of, index, how->salt)) * how->scale;
    memcpy(element, &value, sizeof value);
}

static void check_element(const int64_t *index, void *element, void *state)
{
    filling *how = state;
    double value;
    memcpy(&value, element, sizeof value);
    how->wrong += value != value_at(how->of, index, how->salt) * how->scale;
}

static void list_element(const int64_t *index, void *element, void *state)
{
    filling *how = state;
    (void)index;
    memcpy(&how->list[how->count++], element, sizeof(double));
}

static bool holds_values(const job *j, const tsr_tensor *t, int64_t salt, double scale)
{
    filling how = {.of = j, .salt = salt, .scale = scale};
    tsr_tensor_visit(t, check_element, &how);
    return how.wrong == 0;
}

/* How many ranks hold each element, or each share of it. */
static int64_t copies_of(const tsr_tensor *t)
{
    const tsr_sharding *s = tsr_tensor_sharding(t);
    int64_t copies = tsr_mesh_num_devices(tsr_sharding_mesh(s));
    size_t count;
    const tsr_axis_ref *pending = tsr_sharding_unreduced(s, &count);
    copies /= tsr_axes_size(pending, count);
    for (size_t i = 0; i < tsr_tensor_rank(t); i++) {
        copies /= tsr_sharding_num_shards(s, i);
    }
    return copies;
}

/* The sum over all elements of a times b, each element once. */
static tsr_status inner_product(const job *j, const tsr_tensor *a, const tsr_tensor *b, double *out)
{
    filling x = {.list = (double *)(void *)numbers(j, local_elements(a))};
    filling y = {.list = (double *)(void *)numbers(j, local_elements(b))};
    double sum = 0;
    tsr_tensor_visit(a, list_element, &x);
    tsr_tensor_visit(b, list_element, &y);
    WANT_JOB(j, x.count == y.count);
    for (int64_t i = 0; i < x.count; i++) {
        sum += x.list[i] * y.list[i];
    }
    const int64_t one[] = {1};
    const tsr_view view = {&sum, TSR_F64, 1, one, NULL};
    TSR_TRY(tsr_comm_all_reduce(j->world, TSR_REDUCE_SUM, &view, &view));
    const int64_t of_a = copies_of(a);
    const int64_t of_b = copies_of(b);
    *out = sum / (double)(of_a < of_b ? of_a : of_b);
    return TSR_OK;
}

/* A tensor of the values; pending ones have shares that add up to them. */
static tsr_status make_tensor(const job *j, const tsr_sharding *sharding, int64_t salt,
                              tsr_tensor **out)
{
    const tsr_tensor_spec spec = {sharding, TSR_F64, j->rank, j->shape};
    size_t count;
    const tsr_axis_ref *pending = tsr_sharding_unreduced(sharding, &count);
    const tsr_groups *groups = NULL;
    int64_t group;
    TSR_TRY(
        tsr_groups_create(tsr_comm_context(j->world), j->arena, j->mesh, pending, count, &groups));
    filling how = {.of = j, .salt = salt, .scale = 1, .members = tsr_groups_size(groups)};
    (void)tsr_groups_find(groups, tsr_comm_rank(j->world), &group, &how.share);
    if (tsr_sharding_reduction(sharding) == TSR_AVG) {
        how.scale = (double)how.members;
    }
    TSR_TRY(tsr_tensor_create(j->world, &spec, out));
    tsr_tensor_fill(*out, set_element, &how);
    return TSR_OK;
}

/* ---- layouts ---- */

static tsr_status make_place(const job *j, place_kind kind, const tsr_ragged *ragged,
                             const tsr_sharding **out)
{
    const bool pending = kind == PENDING_SUM || kind == PENDING_AVG || kind == PENDING_MAX;
    const bool whole = kind == WHOLE || pending;
    const size_t dim = kind == OTHER_DIM ? j->other : j->dim;
    tsr_dim dims[MAX_RANK];
    for (size_t i = 0; i < j->rank; i++) {
        dims[i] = tsr_dim_closed(NULL, 0);
    }
    if (j->beside != NULL && j->other != j->dim && kind != OTHER_DIM) {
        dims[j->other] = tsr_dim_closed(j->beside, 1);
    }
    if (!whole) {
        dims[dim] = tsr_dim_closed(j->axes, j->num_axes);
        dims[dim].ragged = ragged;
    }
    const tsr_sharding_spec spec = {.mesh = j->mesh,
                                    .rank = j->rank,
                                    .dims = dims,
                                    .num_unreduced = pending ? j->num_axes : 0,
                                    .unreduced = j->axes,
                                    .reduction = kind == PENDING_AVG   ? TSR_AVG
                                                 : kind == PENDING_MAX ? TSR_MAX
                                                                       : TSR_SUM};
    return tsr_sharding_create(tsr_comm_context(j->world), j->arena, &spec,
                               TSR_SHARDING_CANONICALIZE, out);
}

/* Random sizes that sum to an extent. */
static const int64_t *random_sizes(const job *j, rng *r, int64_t extent)
{
    int64_t *sizes = numbers(j, j->shards);
    for (int64_t i = 0; i < extent; i++) {
        sizes[rng_below(r, j->shards)]++;
    }
    return sizes;
}

static const int64_t *row_sums(const job *j)
{
    int64_t *sizes = numbers(j, j->shards);
    for (int64_t i = 0; i < j->shards * j->partitions; i++) {
        sizes[i / j->partitions] += j->counts[i];
    }
    return sizes;
}

static tsr_status make_dynamic(job *j, place_kind kind, const int64_t *sizes)
{
    const tsr_ragged ragged = {
        .kind = TSR_RAGGED_DYNAMIC, .rows = 1, .sizes = sizes, .alignment = 1};
    return make_place(j, kind, &ragged, &j->at[kind]);
}

static tsr_status make_partitioned(job *j, place_kind kind, tsr_ragged_kind ragged_kind,
                                   const int64_t *owners)
{
    const tsr_ragged ragged = {.kind = ragged_kind,
                               .rows = 1,
                               .partitions = j->partitions,
                               .counts = j->counts,
                               .owner_start = owners,
                               .alignment = j->alignment};
    return make_place(j, kind, &ragged, &j->at[kind]);
}

static tsr_status make_places(job *j, rng *r)
{
    TSR_TRY(make_place(j, WHOLE, NULL, &j->at[WHOLE]));
    TSR_TRY(make_place(j, EVEN, NULL, &j->at[EVEN]));
    TSR_TRY(make_place(j, PENDING_SUM, NULL, &j->at[PENDING_SUM]));
    TSR_TRY(make_place(j, PENDING_AVG, NULL, &j->at[PENDING_AVG]));
    TSR_TRY(make_place(j, PENDING_MAX, NULL, &j->at[PENDING_MAX]));
    TSR_TRY(make_dynamic(j, DYNAMIC, random_sizes(j, r, j->shape[j->dim])));
    TSR_TRY(make_dynamic(j, OTHER_SIZES, random_sizes(j, r, j->shape[j->dim])));
    TSR_TRY(make_dynamic(j, OTHER_DIM, random_sizes(j, r, j->shape[j->other])));
    TSR_TRY(make_dynamic(j, SHARD_MAJOR, row_sums(j)));
    TSR_TRY(make_partitioned(j, UNALIGNED, TSR_RAGGED_UNALIGNED, NULL));
    TSR_TRY(make_partitioned(j, ALIGNED, TSR_RAGGED_ALIGNED, NULL));
    return make_partitioned(j, OTHER_OWNERS, TSR_RAGGED_ALIGNED, j->owners);
}

/* Counts with zeros among them, and owners in any cut. */
static void random_counts(job *j, rng *r, uint64_t number)
{
    const int64_t few = j->shards > 1 ? j->shards - 1 : 1;
    const int64_t choices[] = {1, few, j->shards, j->shards + 3, 2 * j->shards, 5};
    j->partitions = choices[number % 6];
    j->counts = numbers(j, j->shards * j->partitions);
    j->owners = numbers(j, j->shards);
    const int zeros = number == 7 ? 100 : 40;
    for (int64_t i = 0; i < j->shards * j->partitions; i++) {
        j->counts[i] = rng_chance(r, zeros) ? 0 : rng_below(r, 4) + 1;
    }
    for (int64_t i = 0; i < j->partitions; i++) {
        j->owners[rng_below(r, j->shards) + 1]++;
    }
    for (int64_t d = 0; d < j->shards; d++) {
        j->owners[d + 1] += j->owners[d];
    }
    j->alignment = rng_chance(r, 40) ? 4 : 1;
}

static void choose_shape(job *j, uint64_t number)
{
    static const size_t ranks[] = {1, 2, 2, 3};
    static const size_t dims[] = {0, 0, 1, 1};
    j->rank = ranks[number % 4];
    j->dim = dims[number % 4];
    j->other = j->rank > 1 ? (j->dim + 1) % j->rank : j->dim;
    for (size_t i = 0; i < j->rank; i++) {
        j->shape[i] = (int64_t)i + 2;
    }
    j->shape[j->dim] = 0;
    for (int64_t i = 0; i < j->shards * j->partitions; i++) {
        j->shape[j->dim] += j->counts[i];
    }
}

/* ---- conversions ---- */

static tsr_status to_whole(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out)
{
    return tsr_dynamic_to_replicate(t, j->dim, c, out);
}
static tsr_status whole_to_dynamic(const job *j, tsr_tensor *t, tsr_conversion **c,
                                   tsr_tensor **out)
{
    return tsr_dynamic_from_replicate(t, &(tsr_placement){j->at[DYNAMIC], NULL}, c, out);
}
static tsr_status reduce_to_dynamic(const job *j, tsr_tensor *t, tsr_conversion **c,
                                    tsr_tensor **out)
{
    return tsr_dynamic_reduce_shard(t, &(tsr_placement){j->at[DYNAMIC], NULL}, c, out);
}
static tsr_status to_other_sizes(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out)
{
    return tsr_dynamic_to_dynamic(t, &(tsr_placement){j->at[OTHER_SIZES], NULL}, c, out);
}
static tsr_status to_other_dim(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out)
{
    return tsr_dynamic_to_dynamic(t, &(tsr_placement){j->at[OTHER_DIM], NULL}, c, out);
}
static tsr_status align(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out)
{
    return tsr_partitioned_unaligned_to_aligned(t, j->dim, c, out);
}
static tsr_status unalign(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out)
{
    return tsr_partitioned_aligned_to_unaligned(t, j->dim, c, out);
}
static tsr_status partitions_to_whole(const job *j, tsr_tensor *t, tsr_conversion **c,
                                      tsr_tensor **out)
{
    return tsr_partitioned_to_replicate(t, j->dim, c, out);
}
static tsr_status whole_to_unaligned(const job *j, tsr_tensor *t, tsr_conversion **c,
                                     tsr_tensor **out)
{
    return tsr_partitioned_from_replicate(t, &(tsr_placement){j->at[UNALIGNED], NULL}, c, out);
}
static tsr_status whole_to_aligned(const job *j, tsr_tensor *t, tsr_conversion **c,
                                   tsr_tensor **out)
{
    return tsr_partitioned_from_replicate(t, &(tsr_placement){j->at[ALIGNED], NULL}, c, out);
}
static tsr_status realign(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out)
{
    return tsr_partitioned_realign(t, j->dim, j->owners, (size_t)j->shards + 1, j->alignment, c,
                                   out);
}
static tsr_status to_own_rows(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out)
{
    return tsr_partitioned_to_dynamic(t, j->dim, NULL, c, out);
}
static tsr_status to_dynamic(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out)
{
    return tsr_partitioned_to_dynamic(t, j->dim, &(tsr_placement){j->at[DYNAMIC], NULL}, c, out);
}
static tsr_status to_even(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out)
{
    return tsr_partitioned_to_shard(t, j->dim, c, out);
}
static tsr_status reduce_to_unaligned(const job *j, tsr_tensor *t, tsr_conversion **c,
                                      tsr_tensor **out)
{
    return tsr_partitioned_reduce(t, &(tsr_placement){j->at[UNALIGNED], NULL}, c, out);
}
static tsr_status reduce_to_aligned(const job *j, tsr_tensor *t, tsr_conversion **c,
                                    tsr_tensor **out)
{
    return tsr_partitioned_reduce(t, &(tsr_placement){j->at[ALIGNED], NULL}, c, out);
}
static tsr_status take_as_unaligned(const job *j, tsr_tensor *t, tsr_conversion **c,
                                    tsr_tensor **out)
{
    return tsr_partitioned_reinterpret(t, &(tsr_placement){j->at[UNALIGNED], NULL}, c, out);
}
static tsr_status take_as_dynamic(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out)
{
    return tsr_partitioned_reinterpret(t, &(tsr_placement){j->at[SHARD_MAJOR], NULL}, c, out);
}

enum {
    GRADIENT_MAY_PEND = 1, /* the result is replicated */
    MEANS_OTHER = 2,       /* the index of elements changes */
    NOTHING_MOVES = 4
};

typedef struct conversion_row {
    const char *name;
    place_kind from;
    tsr_status (*convert)(const job *j, tsr_tensor *t, tsr_conversion **c, tsr_tensor **out);
    unsigned flags;
} conversion_row;

static const conversion_row conversions[] = {
    {"dynamic to replicate", DYNAMIC, to_whole, GRADIENT_MAY_PEND},
    {"even to replicate", EVEN, to_whole, GRADIENT_MAY_PEND},
    {"replicate to dynamic", WHOLE, whole_to_dynamic, NOTHING_MOVES},
    {"sum to dynamic", PENDING_SUM, reduce_to_dynamic, 0},
    {"avg to dynamic", PENDING_AVG, reduce_to_dynamic, 0},
    {"dynamic to other sizes", DYNAMIC, to_other_sizes, 0},
    {"dynamic to other dim", DYNAMIC, to_other_dim, 0},
    {"unaligned to aligned", UNALIGNED, align, 0},
    {"aligned to unaligned", ALIGNED, unalign, 0},
    {"unaligned to replicate", UNALIGNED, partitions_to_whole, GRADIENT_MAY_PEND},
    {"aligned to replicate", ALIGNED, partitions_to_whole, GRADIENT_MAY_PEND},
    {"replicate to unaligned", WHOLE, whole_to_unaligned, NOTHING_MOVES},
    {"replicate to aligned", WHOLE, whole_to_aligned, NOTHING_MOVES},
    {"aligned to other owners", ALIGNED, realign, 0},
    {"aligned to own rows", ALIGNED, to_own_rows, NOTHING_MOVES},
    {"unaligned to own rows", UNALIGNED, to_own_rows, 0},
    {"unaligned to dynamic", UNALIGNED, to_dynamic, 0},
    {"aligned to dynamic", ALIGNED, to_dynamic, 0},
    {"unaligned to even", UNALIGNED, to_even, 0},
    {"aligned to even", ALIGNED, to_even, 0},
    {"sum to unaligned", PENDING_SUM, reduce_to_unaligned, 0},
    {"sum to aligned", PENDING_SUM, reduce_to_aligned, 0},
    {"avg to unaligned", PENDING_AVG, reduce_to_unaligned, 0},
    {"avg to aligned", PENDING_AVG, reduce_to_aligned, 0},
    {"dynamic as unaligned", SHARD_MAJOR, take_as_unaligned, MEANS_OTHER | NOTHING_MOVES},
    {"unaligned as dynamic", UNALIGNED, take_as_dynamic, MEANS_OTHER | NOTHING_MOVES},
};

/* The elements of a rank's result that it did not have, by looking at each row. */
static int64_t lacking(const job *j, const tsr_tensor *from, const tsr_tensor *to)
{
    const int64_t rank = tsr_comm_rank(j->world);
    int64_t all = 1;
    int64_t had = 1;
    for (size_t i = 0; i < j->rank; i++) {
        int64_t in_dst = 0;
        int64_t in_both = 0;
        for (int64_t row = 0; row < j->shape[i]; row++) {
            const bool here = holds_row(tsr_tensor_geometry(to), rank, i, row);
            in_dst += here;
            in_both += here && holds_row(tsr_tensor_geometry(from), rank, i, row);
        }
        all *= in_dst;
        had *= in_both;
    }
    return all - had;
}

/* What a rank should have received, in elements. */
static tsr_status expected_elements(const job *j, const conversion_row *row, const tsr_tensor *from,
                                    const tsr_tensor *to, int64_t *out)
{
    size_t pending;
    (void)tsr_sharding_unreduced(tsr_tensor_sharding(from), &pending);
    *out = (row->flags & NOTHING_MOVES) != 0 ? 0 : lacking(j, from, to);
    if (pending == 0) {
        return TSR_OK;
    }
    const tsr_plan *plan = NULL;
    const int64_t rank = tsr_comm_rank(j->world);
    TSR_TRY(tsr_plan_create(tsr_comm_context(j->world), j->arena, tsr_tensor_geometry(from),
                            tsr_tensor_geometry(to), TSR_F64, &plan));
    *out = tsr_plan_bytes_received(plan, rank) / 8;
    if (tsr_plan_num_steps(plan) == 1) {
        int64_t start[MAX_RANK];
        int64_t size[MAX_RANK];
        int64_t own = 1;
        (void)tsr_geometry_box(tsr_tensor_geometry(to), rank, start, size);
        for (size_t i = 0; i < j->rank; i++) {
            own *= size[i];
        }
        WANT_JOB(j, *out == (j->shards - 1) * own);
    }
    return TSR_OK;
}

/* Whether all stored rows that are no part of the tensor are zero. */
static bool pads_are_zero(const job *j, const tsr_tensor *t)
{
    const double *data = tsr_tensor_data(t);
    filling how = {.of = j, .list = (double *)(void *)numbers(j, local_elements(t))};
    int64_t not_zero = 0;
    for (int64_t i = 0; i < local_elements(t); i++) {
        not_zero += data[i] != 0;
    }
    tsr_tensor_visit(t, list_element, &how);
    for (int64_t i = 0; i < how.count; i++) {
        not_zero -= how.list[i] != 0;
    }
    return not_zero == 0;
}

/* The backward of one gradient: the adjoint identity, and what comes back by itself. */
static tsr_status check_backward(const job *j, const conversion_row *row, tsr_tensor *x,
                                 tsr_tensor *fx, tsr_tensor *y, const tsr_conversion *c)
{
    tsr_tensor *back = NULL;
    double left;
    double right;
    size_t pending;
    (void)tsr_sharding_unreduced(tsr_tensor_sharding(y), &pending);
    const tsr_traffic before = tsr_comm_traffic(j->world);
    TSR_TRY(tsr_barrier(j->world));
    WANT_JOB(j, tsr_conversion_backward(c, y, &back) == TSR_OK);
    const int64_t received = tsr_comm_traffic(j->world).bytes_received - before.bytes_received;
    const int64_t wanted = (row->flags & MEANS_OTHER) != 0 ? 0 : lacking(j, y, back) * 8;
    WANT_JOB(j, pending > 0 || received == wanted);
    TSR_TRY(inner_product(j, fx, y, &left));
    TSR_TRY(inner_product(j, x, back, &right));
    WANT_JOB(j, left == right);
    WANT_JOB(j, pads_are_zero(j, back));
    WANT_JOB(j, (row->flags & MEANS_OTHER) != 0 || holds_values(j, back, 5, 1));
    tsr_tensor_release(back);
    return TSR_OK;
}

/*
 * A gradient laid out as the result, or with a sum pending. That of an average is a multiple of
 * the number of ranks, so that dividing it is exact.
 */
static tsr_status make_gradient(const job *j, const conversion_row *row, const tsr_tensor *fx,
                                bool pending, tsr_tensor **out)
{
    filling how = {.of = j, .salt = 5, .scale = (double)j->shards};
    TSR_TRY(make_tensor(j, pending ? j->at[PENDING_SUM] : tsr_tensor_sharding(fx), 5, out));
    if (row->from == PENDING_AVG) {
        tsr_tensor_fill(*out, set_element, &how);
    }
    return TSR_OK;
}

static tsr_status check_gradients(const job *j, const conversion_row *row, tsr_tensor *x,
                                  tsr_tensor *fx, const tsr_conversion *c)
{
    const int kinds = (row->flags & GRADIENT_MAY_PEND) != 0 ? 2 : 1;
    for (int pending = 0; pending < kinds; pending++) {
        tsr_tensor *y = NULL;
        TSR_TRY(make_gradient(j, row, fx, pending == 1, &y));
        TSR_TRY(check_backward(j, row, x, fx, y, c));
        tsr_tensor_release(y);
    }
    return TSR_OK;
}

static tsr_status check_conversion(job *j, const conversion_row *row)
{
    tsr_tensor *x = NULL;
    tsr_tensor *fx = NULL;
    tsr_conversion *c = NULL;
    int64_t wanted = 0;
    if (row->convert == to_other_dim && j->other == j->dim) {
        return TSR_OK;
    }
    j->what = row->name;
    TSR_TRY(make_tensor(j, j->at[row->from], 1, &x));
    const tsr_traffic before = tsr_comm_traffic(j->world);
    TSR_TRY(tsr_barrier(j->world));
    WANT_JOB(j, row->convert(j, x, &c, &fx) == TSR_OK);
    const tsr_traffic after = tsr_comm_traffic(j->world);
    TSR_TRY(expected_elements(j, row, x, fx, &wanted));
    WANT_JOB(j, after.bytes_received - before.bytes_received == wanted * 8);
    WANT_JOB(j, (row->flags & MEANS_OTHER) != 0 || holds_values(j, fx, 1, 1));
    WANT_JOB(j, pads_are_zero(j, fx));
    TSR_TRY(check_gradients(j, row, x, fx, c));
    tsr_conversion_release(c);
    tsr_tensor_release(x);
    tsr_tensor_release(fx);
    return TSR_OK;
}

/* A pending max goes forward, and has no way back. */
static tsr_status check_no_gradient(job *j)
{
    tsr_tensor *x = NULL;
    tsr_tensor *fx = NULL;
    tsr_tensor *none = NULL;
    tsr_conversion *c = NULL;
    j->what = "max to dynamic";
    TSR_TRY(make_tensor(j, j->at[PENDING_MAX], 1, &x));
    WANT_JOB(j, reduce_to_dynamic(j, x, &c, &fx) == TSR_OK);
    if (j->shards > 1) {
        WANT_JOB(j, tsr_conversion_backward(c, fx, &none) == TSR_ERR_UNSUPPORTED && none == NULL);
        WANT_JOB(j, strcmp(last_error_text(tsr_comm_context(j->world)),
                           "tsr_dynamic_reduce_shard: a pending max has no gradient; only sum and "
                           "avg have one") == 0);
        tsr_context_clear(tsr_comm_context(j->world));
    }
    tsr_conversion_release(c);
    tsr_tensor_release(fx);
    tsr_tensor_release(x);
    return TSR_OK;
}

/* Which axes of which mesh the dimension lies along. */
typedef enum variant { ONE_AXIS, ONE_OF_TWO, BOTH_TURNED, NUM_VARIANTS } variant;

static tsr_status set_up(job *j, variant v)
{
    const int64_t ranks = tsr_comm_size(j->world);
    char text[64];
    if (v == ONE_AXIS) {
        (void)snprintf(text, sizeof text, "<[\"x\"=%lld]>", (long long)ranks);
    } else {
        (void)snprintf(text, sizeof text, "<[\"y\"=2, \"x\"=%lld]>", (long long)ranks / 2);
    }
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(j->world), j->arena, text, &j->mesh));
    j->num_axes = v == BOTH_TURNED ? 2 : 1;
    j->axes[0] = tsr_axis_full(j->mesh, v == ONE_AXIS ? 0 : 1);
    j->axes[1] = tsr_axis_full(j->mesh, 0);
    j->shards = v == ONE_OF_TWO ? ranks / 2 : ranks;
    return TSR_OK;
}

static tsr_status run_case(tsr_comm *world, tsr_arena *arena, rng r, variant v, uint64_t number)
{
    job j = {.world = world, .arena = arena, .what = "set up"};
    tsr_axis_ref beside;
    TSR_TRY(set_up(&j, v));
    random_counts(&j, &r, number);
    choose_shape(&j, number);
    if (v == ONE_OF_TWO) {
        beside = tsr_axis_full(j.mesh, 0);
        j.beside = &beside;
    }
    TSR_TRY(make_places(&j, &r));
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++) {
        TSR_TRY(check_conversion(&j, &conversions[i]));
    }
    TSR_TRY(check_no_gradient(&j));
    return check_partition_laws(&j);
}

static tsr_status run_cases(tsr_comm *world, void *state)
{
    /* Messages are slow with more ranks than cores. */
    const uint64_t cases = world->team->message ? 4 : 12;
    const rng *base = state;
    tsr_arena *arena = NULL;
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &arena);
    for (uint64_t i = 0; status == TSR_OK && i < cases * (uint64_t)NUM_VARIANTS; i++) {
        const variant v = (variant)(i / cases);
        if (v == ONE_AXIS || tsr_comm_size(world) % 2 == 0) {
            const tsr_arena_mark mark = tsr_arena_get_mark(arena);
            status = run_case(world, arena, rng_case(base, i), v, i % cases);
            tsr_arena_reset(arena, mark);
        }
    }
    tsr_arena_destroy(arena);
    return status;
}

static void launch(fixture *f, int64_t ranks, tsr_ranks kind, tsr_rank_function function,
                   void *state)
{
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kind,
                                  .timeout = 60,
                                  .checked = true,
                                  .segment_bytes = (size_t)1 << 26};
    expect_ranks(f, &spec, function, state);
}

void check_conversions(fixture *f, int64_t ranks, tsr_ranks kind)
{
    const rng start = rng_start("check_conversions");
    rng base = rng_case(&start, (uint64_t)ranks);
    launch(f, ranks, kind, run_cases, &base);
}

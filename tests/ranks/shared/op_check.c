#include "op_check.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "kernel/elementwise.h"
#include "memory_transport.h"
#include "ops/op.h"
#include "slices.h"
#include "want.h"

/* ---- elements ---- */

static void put(tsr_dtype dtype, double value, void *element)
{
    if (dtype == TSR_C64) {
        const float parts[] = {(float)value, (float)-value};
        memcpy(element, parts, sizeof parts);
        return;
    }
    element_of_number(dtype, value, element);
}

/* Both parts of a complex number, or the number and 0. */
static void get(tsr_dtype dtype, const char *element, double parts[2])
{
    parts[1] = 0;
    if (dtype == TSR_C64) {
        float both[2];
        memcpy(both, element, sizeof both);
        parts[0] = (double)both[0];
        parts[1] = (double)both[1];
        return;
    }
    char copy[16];
    memcpy(copy, element, (size_t)tsr_dtype_item_bytes(dtype));
    kernel_convert(&(tsr_view){.data = parts, .dtype = TSR_F64},
                   &(tsr_view){.data = copy, .dtype = dtype});
}

/* The bound for ops that round, relative to the larger of 1 and the number. */
static double bound_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F64:
        return 1e-12;
    case TSR_F32:
    case TSR_C64:
        return 1e-5;
    case TSR_F16:
        return 1e-2;
    default:
        return 6e-2;
    }
}

static bool is_close(tsr_dtype dtype, bool inexact, double want, double got)
{
    if (want == got || (isnan(want) && isnan(got))) {
        return true;
    }
    const double size = fabs(want) > 1 ? fabs(want) : 1;
    return inexact && fabs(want - got) <= bound_of(dtype) * size;
}

/* Bit for bit, but that zeros may differ in their sign, and within the bound for what rounds. */
static bool same_element(tsr_dtype dtype, bool inexact, const char *want, const char *got)
{
    double a[2];
    double b[2];
    if (memcmp(want, got, (size_t)tsr_dtype_item_bytes(dtype)) == 0) {
        return true;
    }
    get(dtype, want, a);
    get(dtype, got, b);
    return (a[0] != b[0] || !dtype_is_integer(dtype)) && is_close(dtype, inexact, a[0], b[0]) &&
           is_close(dtype, inexact, a[1], b[1]);
}

/* ---- operands ---- */

/* One operand on one rank: what its elements are, and what this rank has of those pending. */
typedef struct filling {
    const case_operand *operand;
    uint64_t seed;
    int64_t member;
    int64_t members;
    tsr_reduction reduction;
} filling;

static rng at_index(const filling *how, const int64_t *index)
{
    uint64_t id = 0;
    for (size_t d = 0; d < how->operand->rank; d++) {
        id = id * 64 + (uint64_t)index[d];
    }
    const rng base = {how->seed};
    return rng_case(&base, id);
}

static double value_of(const case_operand *o, rng *r)
{
    const int64_t drawn = rng_below(r, 1 << 20);
    if (o->powers) {
        return drawn % 24 == 0 ? 2 : drawn % 2 == 0 ? 1 : -1;
    }
    return (double)(o->low + drawn % (o->high - o->low + 1));
}

/* What others than the one who has the value give to it, and what that one has to make up for. */
static double other_share(const filling *how, const rng *base, int64_t member)
{
    const bool low = is_low_type(how->operand->dtype);
    rng r = rng_case(base, 50 + (uint64_t)member);
    return low ? 0 : (double)(rng_below(&r, 7) - 3);
}

static double clamp(const case_operand *o, double value)
{
    const bool truth = o->dtype == TSR_I1;
    const bool positive = truth || (o->dtype >= TSR_U2 && o->dtype <= TSR_U64);
    value = positive && value < 0 ? 0 : value;
    return truth && value > 1 ? 1 : value;
}

/* This rank's part of a value, such that the reduction of all of them is the value. */
static double share_of(const filling *how, const rng *base, double value, int64_t owner)
{
    const bool sums = how->reduction == TSR_SUM || how->reduction == TSR_AVG;
    if (how->member != owner) {
        const double other = other_share(how, base, how->member);
        switch (how->reduction) {
        case TSR_MAX:
            return clamp(how->operand, value - fabs(other));
        case TSR_MIN:
            return clamp(how->operand, value + fabs(other));
        case TSR_PROD:
            return 1;
        default:
            return other;
        }
    }
    if (!sums) {
        return value;
    }
    value *= how->reduction == TSR_AVG ? (double)how->members : 1;
    for (int64_t m = 0; m < how->members; m++) {
        value -= m == owner ? 0 : other_share(how, base, m);
    }
    return value;
}

static void fill_element(const int64_t *index, void *element, void *state)
{
    const filling *how = state;
    rng r = at_index(how, index);
    const rng base = r;
    double value = value_of(how->operand, &r);
    if (how->members > 1) {
        value = share_of(how, &base, value, rng_below(&r, how->members));
    }
    if (how->operand->dtype >= TSR_U2 && how->operand->dtype <= TSR_U64 && value < 0) {
        /* Wraps around as sums do. */
        const int64_t bits = (int64_t)value;
        memcpy(element, &bits, (size_t)tsr_dtype_item_bytes(how->operand->dtype));
        return;
    }
    put(how->operand->dtype, value, element);
}

/* Memory of the caller's for a part: the first dimension innermost, and gaps everywhere. */
static tsr_status wrap_strided(tsr_comm *world, tsr_arena *arena, const tsr_tensor_spec *spec,
                               tsr_tensor **out)
{
    int64_t sizes[MOST_DIMS];
    int64_t strides[MOST_DIMS];
    int64_t bytes = 2 * tsr_dtype_item_bytes(spec->dtype);
    const tsr_geometry *g = NULL;
    TSR_TRY(tsr_geometry_create(tsr_comm_context(world), arena, spec->sharding, spec->rank,
                                spec->shape, &g));
    (void)tsr_geometry_stored_size(g, tsr_comm_rank(world), sizes);
    for (size_t d = 0; d < spec->rank; d++) {
        strides[d] = bytes;
        bytes *= sizes[d] + 1;
    }
    char *memory = tsr_arena_alloc(arena, (size_t)bytes);
    memset(memory, 0, (size_t)bytes);
    return tsr_tensor_wrap(world, spec, memory, strides, out);
}

uint64_t op_case_seed(const op_case *c, size_t operand)
{
    const rng base = {c->seed};
    return rng_case(&base, 900 + operand).state;
}

tsr_status op_case_tensor(tsr_comm *world, tsr_arena *arena, const case_operand *o, uint64_t seed,
                          bool plain, tsr_tensor **out)
{
    const tsr_tensor_spec spec = {plain ? o->plain : o->sharding, o->dtype, o->rank, o->shape};
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(spec.sharding, &count);
    filling how = {.operand = o,
                   .seed = seed,
                   .members = tsr_axes_size(axes, count),
                   .reduction = tsr_sharding_reduction(spec.sharding)};
    how.member = index_along(tsr_sharding_mesh(spec.sharding), axes, count, tsr_comm_rank(world));
    const bool strided = !plain && arena != NULL && seed % 8 == 0;
    TSR_TRY(strided ? wrap_strided(world, arena, &spec, out)
                    : tsr_tensor_create(world, &spec, out));
    tsr_tensor_fill(*out, fill_element, &how);
    return TSR_OK;
}

static tsr_status make_operand(tsr_comm *world, tsr_arena *arena, const op_case *c, size_t i,
                               bool plain, tsr_tensor **out)
{
    return op_case_tensor(world, arena, &c->operands[i], op_case_seed(c, i), plain, out);
}

/* A number that changes with this rank's part. */
static void add_element(const int64_t *index, void *element, void *state)
{
    uint64_t *sum = state;
    (void)index;
    *sum = *sum * 31 + *(const unsigned char *)element;
}

static uint64_t print_of(const tsr_tensor *t)
{
    uint64_t sum = 0;
    tsr_tensor_visit(t, add_element, &sum);
    return sum;
}

/* ---- a case on a rank ---- */

/* One rank at a case. */
typedef struct worker {
    tsr_comm *world;
    tsr_arena *arena;
    const op_case *c;
    tsr_tensor *sharded[CASE_OPERANDS];
    tsr_tensor *plain[CASE_OPERANDS];
    uint64_t prints[CASE_OPERANDS];
    tsr_tensor *got[CASE_RESULTS];
    tsr_tensor *want[CASE_RESULTS];
    bool quiet;
    int64_t fallbacks;
} worker;

static tsr_status complain(const worker *w, const char *what)
{
    return diag_error(tsr_comm_context(w->world), TSR_ERR_INVALID, NO_LOCATION, "%s: %s",
                      w->c->op->call, what);
}

static tsr_status make_operands(worker *w)
{
    for (size_t i = 0; i < w->c->num_operands; i++) {
        TSR_TRY(make_operand(w->world, w->arena, w->c, i, false, &w->sharded[i]));
        TSR_TRY(make_operand(w->world, w->arena, w->c, i, true, &w->plain[i]));
        w->prints[i] = print_of(w->sharded[i]);
    }
    return TSR_OK;
}

static void drop_operands(worker *w)
{
    for (size_t i = 0; i < CASE_OPERANDS; i++) {
        tsr_tensor_release(w->sharded[i]);
        tsr_tensor_release(w->plain[i]);
        w->sharded[i] = NULL;
        w->plain[i] = NULL;
    }
}

static tsr_status call_sharded(worker *w)
{
    const case_site site = {w->world, w->sharded, false};
    TSR_TRY(tsr_set_strategy(w->world, w->c->strategy));
    TSR_TRY(tsr_trace_begin(w->world));
    const tsr_status status = w->c->op->run(w->c, &site, w->got);
    size_t count;
    const tsr_trace_event *events = tsr_trace_events(w->world, &count);
    w->quiet = true;
    w->fallbacks = 0;
    for (size_t i = 0; i < count; i++) {
        w->quiet = w->quiet && events[i].bytes_moved == 0;
        w->fallbacks = events[i].fallback ? 1 : w->fallbacks;
    }
    tsr_trace_end(w->world);
    return status;
}

static tsr_status call_plain(worker *w)
{
    const case_site site = {w->world, w->plain, true};
    return w->c->op->run(w->c, &site, w->want);
}

/* The layout of the result is known without elements, and nothing moves for that. */
static tsr_status call_abstract(worker *w)
{
    tsr_tensor *operands[CASE_OPERANDS];
    tsr_tensor *results[CASE_RESULTS] = {NULL};
    const case_site site = {w->world, operands, false};
    for (size_t i = 0; i < w->c->num_operands; i++) {
        TSR_TRY(tsr_abstract_like(w->sharded[i], &operands[i]));
    }
    const tsr_traffic before = tsr_comm_traffic(w->world);
    TSR_TRY(w->c->op->run(w->c, &site, results));
    const tsr_traffic after = tsr_comm_traffic(w->world);
    if (after.bytes_sent != before.bytes_sent || after.bytes_received != before.bytes_received) {
        return complain(w, "elements moved for tensors that have none");
    }
    for (size_t k = 0; k < w->c->num_results; k++) {
        if (!tsr_tensor_is_abstract(results[k])) {
            return complain(w, "the result of tensors without elements has some");
        }
        if (!tsr_sharding_equal(tsr_tensor_sharding(results[k]), tsr_tensor_sharding(w->got[k]))) {
            return complain(w, "the result lies elsewhere than that of tensors without elements");
        }
    }
    return TSR_OK;
}

static int64_t elements_of(const tsr_tensor *t)
{
    int64_t count = 1;
    for (size_t d = 0; d < tsr_tensor_rank(t); d++) {
        count *= tsr_tensor_shape(t)[d];
    }
    return count;
}

static tsr_status complain_at(const worker *w, size_t result, int64_t place, const char *want,
                              const char *got)
{
    const tsr_tensor *t = w->got[result];
    char index[128] = "";
    double numbers[2][2];
    const char *layout = "?";
    for (size_t d = tsr_tensor_rank(t); d > 0; d--) {
        char longer[128];
        const int64_t size = tsr_tensor_shape(t)[d - 1];
        (void)snprintf(longer, sizeof longer, "[%lld]%.100s", (long long)(place % size), index);
        memcpy(index, longer, sizeof index);
        place /= size;
    }
    get(tsr_tensor_dtype(t), want, numbers[0]);
    get(tsr_tensor_dtype(t), got, numbers[1]);
    (void)!tsr_sharding_print(tsr_comm_context(w->world), w->arena, tsr_tensor_sharding(t),
                              TSR_PRINT_BARE, &layout);
    return diag_error(tsr_comm_context(w->world), TSR_ERR_INVALID, NO_LOCATION,
                      "%s: result %zu, laid out as %s: at %s is %.17g, expected: %.17g",
                      w->c->op->call, result, layout, index, numbers[1][0], numbers[0][0]);
}

/* All of a result on every rank against all of the expected one. */
static tsr_status compare(worker *w, size_t k)
{
    tsr_tensor *got = w->got[k];
    tsr_tensor *want = w->want[k];
    const tsr_dtype dtype = tsr_tensor_dtype(want);
    const size_t rank = tsr_tensor_rank(want);
    if (tsr_tensor_dtype(got) != dtype || tsr_tensor_rank(got) != rank ||
        memcmp(tsr_tensor_shape(got), tsr_tensor_shape(want), rank * sizeof(int64_t)) != 0) {
        return complain(w, "the result has another type or shape");
    }
    const int64_t item = tsr_dtype_item_bytes(dtype);
    const int64_t count = elements_of(want);
    char *both = tsr_arena_alloc(w->arena, (size_t)(2 * count * item + 1));
    char *other = both + count * item;
    TSR_TRY(tsr_tensor_to_full(want, -1, both));
    TSR_TRY(tsr_tensor_to_full(got, -1, other));
    for (int64_t i = 0; i < count; i++) {
        if (!same_element(dtype, w->c->op->inexact, both + i * item, other + i * item)) {
            return complain_at(w, k, i, both + i * item, other + i * item);
        }
    }
    return TSR_OK;
}

/* Leaves numbers in memory that is free, so that what a call does not write is seen. */
static tsr_status spoil(const worker *w)
{
    const int64_t size = 1 << 15;
    const tsr_sharding *all = NULL;
    tsr_tensor *t = NULL;
    TSR_TRY(tsr_sharding_replicated_over(tsr_comm_context(w->world), w->arena, w->c->mesh, 1, false,
                                         &all));
    const tsr_tensor_spec spec = {all, TSR_U8, 1, &size};
    TSR_TRY(tsr_tensor_create(w->world, &spec, &t));
    memset(tsr_tensor_data(t), 0x41, (size_t)size);
    tsr_tensor_release(t);
    return TSR_OK;
}

static tsr_status run_case(worker *w)
{
    TSR_TRY(spoil(w));
    TSR_TRY(make_operands(w));
    TSR_TRY(tsr_barrier(w->world));
    TSR_TRY(call_sharded(w));
    TSR_TRY(call_plain(w));
    for (size_t k = 0; k < w->c->num_results; k++) {
        TSR_TRY(compare(w, k));
    }
    for (size_t i = 0; i < w->c->num_operands; i++) {
        if (print_of(w->sharded[i]) != w->prints[i]) {
            return complain(w, "an operand changed");
        }
    }
    return w->c->op->creates || w->c->op->concrete ? TSR_OK : call_abstract(w);
}

/* ---- many cases ---- */

typedef struct case_list {
    const op_case *cases;
    size_t count;
    op_counts *counts; /* NULL when nothing is counted */
} case_list;

static void count_case(const worker *w, op_counts *counts)
{
    size_t i = 0;
    while (op_maker_at(i) != w->c->op) {
        i++;
    }
    counts->cases[i]++;
    counts->quiet[i] += w->quiet;
    counts->fallbacks[i] += w->fallbacks;
}

/* Runs cases until one fails; which one it is goes to the shared counts. */
static tsr_status run_cases(tsr_comm *world, void *state)
{
    const case_list *list = state;
    worker w = {.world = world};
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &w.arena);
    for (size_t i = 0; status == TSR_OK && i < list->count; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(w.arena);
        w.c = &list->cases[i];
        status = tsr_scope_open(world);
        status = status == TSR_OK ? run_case(&w) : status;
        tsr_scope_close(world);
        drop_operands(&w);
        tsr_arena_reset(w.arena, mark);
        status = status == TSR_OK ? tsr_barrier(world) : status;
        if (status < 0) {
            _Atomic int64_t *failed = (_Atomic int64_t *)&list->counts->failed;
            int64_t none = -1;
            (void)atomic_compare_exchange_strong(failed, &none, (int64_t)i);
        } else if (tsr_comm_rank(world) == 0) {
            count_case(&w, list->counts);
        }
    }
    tsr_arena_destroy(w.arena);
    return status;
}

op_counts *op_counts_new(void)
{
    op_counts *counts =
        mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(counts, MAP_FAILED);
    memset(counts, 0, sizeof *counts);
    counts->failed = -1;
    return counts;
}

void op_counts_free(op_counts *counts)
{
    (void)munmap(counts, sizeof *counts);
}

static tsr_status launch(fixture *f, int64_t ranks, tsr_ranks kind, case_list *list)
{
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kind,
                                  .timeout = 60,
                                  .checked = ranks % 2 == 1,
                                  .segment_bytes = (size_t)1 << 26};
    tsr_context_clear(f->ctx);
    return launch_ranks(f->ctx, &spec, run_cases, list);
}

/* ---- shrinking ---- */

/* A case that fails, and how it was started. */
typedef struct shrinking {
    fixture *f;
    tsr_ranks kind;
    op_counts *scratch;
    op_case now;
} shrinking;

static bool still_fails(shrinking *s, const case_limits *limits)
{
    op_case tried;
    op_case_make(s->f, s->now.op, s->now.seed, limits, &tried);
    case_list list = {&tried, 1, s->scratch};
    if (launch(s->f, limits->ranks, s->kind, &list) == TSR_OK) {
        return false;
    }
    s->now = tried;
    return true;
}

static void shrink_sizes(shrinking *s)
{
    static const int64_t counts[] = {1, 2, 3, 4, 7, 8};
    static const int64_t extents[] = {1, 2, 3, 4, 6};
    for (size_t i = 0; i < 6 && counts[i] < s->now.limits.ranks; i++) {
        case_limits l = s->now.limits;
        l.ranks = counts[i];
        if (still_fails(s, &l)) {
            break;
        }
    }
    for (size_t i = 0; i < 5 && extents[i] < s->now.limits.most_extent; i++) {
        case_limits l = s->now.limits;
        l.most_extent = extents[i];
        if (still_fails(s, &l)) {
            break;
        }
    }
}

static void shrink_layouts(shrinking *s)
{
    for (size_t i = 0; i < s->now.num_operands; i++) {
        case_limits l = s->now.limits;
        l.replicated |= 1U << i;
        if ((s->now.limits.replicated >> i & 1) == 0 && !still_fails(s, &l)) {
            l = s->now.limits;
            l.settled |= 1U << i;
            (void)((s->now.limits.settled >> i & 1) == 0 && still_fails(s, &l));
        }
    }
}

static void shrink_flags(shrinking *s)
{
    for (int flag = 0; flag < 6; flag++) {
        case_limits l = s->now.limits;
        bool *const flags[] = {&l.plain_strategy, &l.plain_types, &l.plain_mesh,
                               &l.no_layouts,     &l.no_lists,    &l.no_sub_axes};
        if (!*flags[flag]) {
            *flags[flag] = true;
            (void)still_fails(s, &l);
        }
    }
}

void op_case_print(fixture *f, const op_case *c)
{
    const char *names = "abcd";
    printf("mesh: %s\nstrategy: %s\n", mesh_text(f, c->mesh), tsr_strategy_name(c->strategy));
    for (size_t i = 0; i < (c->op->creates ? 1 : c->num_operands); i++) {
        const case_operand *o = &c->operands[i];
        printf("%c = %s[", names[i], tsr_dtype_name(o->dtype));
        for (size_t d = 0; d < o->rank; d++) {
            printf("%s%lld", d > 0 ? "," : "", (long long)o->shape[d]);
        }
        printf("] as %s", sharding_bare(f, o->sharding));
        const tsr_mesh *mesh = tsr_sharding_mesh(o->sharding);
        printf(tsr_mesh_equal(mesh, c->mesh) ? "\n" : " of %s\n", mesh_text(f, mesh));
    }
    printf("%s(", c->op->call);
    for (size_t i = 0; i < c->num_operands; i++) {
        printf("%s%c", i > 0 ? ", " : "", names[i]);
    }
    printf("%s, &out) on %lld ranks\n", c->arguments, (long long)c->limits.ranks);
}

static void shrink_and_fail(fixture *f, tsr_ranks kind, const op_case *failed)
{
    shrinking s = {.f = f, .kind = kind, .scratch = op_counts_new(), .now = *failed};
    printf(", with TSR_SEED as above and the seed %llu of its own:\n",
           (unsigned long long)failed->seed);
    op_case_print(f, failed);
    if (still_fails(&s, &failed->limits) && kind != TSR_RANKS_MPI) {
        for (int round = 0; round < 2; round++) {
            shrink_flags(&s);
            shrink_layouts(&s);
            shrink_sizes(&s);
        }
        const case_limits last = s.now.limits;
        if (!still_fails(&s, &last)) {
            printf("it does not always fail\n");
        }
        printf("shrunk:\n");
        op_case_print(f, &s.now);
    } else {
        printf("alone it does not fail\n");
    }
    op_counts_free(s.scratch);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    fail_msg("%s", d != NULL ? d->text : "?");
}

/* Only cases of the call that TSR_OP names, if it does. */
static bool is_chosen(const op_maker *op)
{
    const char *only = getenv("TSR_OP");
    return only == NULL || strcmp(only, op->call) == 0;
}

void check_ops(fixture *f, const op_round *round, op_counts *counts)
{
    const rng base = rng_start("check_ops");
    const rng own = rng_case(&base, (uint64_t)round->ranks);
    const size_t rows = op_makers_count();
    const case_limits limits = {.ranks = round->ranks, .most_extent = 12};
    op_case *cases = tsr_arena_alloc(f->arena, round->count * sizeof *cases);
    case_list list = {cases, 0, counts};
    assert_true(rows <= MOST_MAKERS);
    assert_non_null(cases);
    if (cases == NULL) {
        return;
    }
    for (size_t i = 0; i < round->count; i++) {
        const op_maker *op = op_maker_at((round->first + i) % rows);
        if (is_chosen(op)) {
            op_case_make(f, op, rng_case(&own, i).state, &limits, &cases[list.count++]);
        }
    }
    if (launch(f, round->ranks, round->kind, &list) != TSR_OK) {
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        printf("%lld ranks: %s\n", (long long)round->ranks, d != NULL ? d->text : "?");
        assert_true(counts->failed >= 0);
        printf("case %lld of %zu fails", (long long)counts->failed, list.count);
        shrink_and_fail(f, round->kind, &cases[counts->failed]);
    }
}

/* Whether a call of ops.h has a row that was run. */
static bool was_called(const op_counts *counts, const char *call, size_t length)
{
    for (size_t i = 0; i < op_makers_count(); i++) {
        const char *name = op_maker_at(i)->call;
        if (counts->cases[i] > 0 && strlen(name) == length && strncmp(name, call, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Rows that no eager call uses; tests/unit/ops runs them. */
static bool is_for_programs(const op_row *row)
{
    static const char *const names[] = {"reduce", "sort", "convolution"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(row->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* All calls that the header declares, where the sources are at hand. */
static void expect_all_calls(const op_counts *counts)
{
    char path[1024];
    char line[512];
    const char *sources = getenv("TSR_SOURCE_DIR");
    (void)snprintf(path, sizeof path, "%s/include/tessera/ops.h", sources != NULL ? sources : ".");
    FILE *header = fopen(path, "r");
    while (header != NULL && fgets(line, sizeof line, header) != NULL) {
        const char *start = "TSR_API TSR_NODISCARD tsr_status ";
        if (strncmp(line, start, strlen(start)) == 0) {
            const char *name = line + strlen(start);
            const size_t length = strcspn(name, "(");
            if (!was_called(counts, name, length)) {
                (void)fclose(header);
                fail_msg("no row calls %.*s", (int)length, name);
            }
        }
    }
    if (header != NULL) {
        (void)fclose(header);
    }
}

void expect_all_rows(const op_counts *counts)
{
    int64_t all = 0;
    int64_t quiet = 0;
    int64_t fallbacks = 0;
    for (size_t i = 0; i < op_makers_count(); i++) {
        if (!is_chosen(op_maker_at(i))) {
            continue;
        }
        printf("%-22s %6lld cases, %6lld without a move, %6lld gathered, computed, resharded\n",
               op_maker_at(i)->call, (long long)counts->cases[i], (long long)counts->quiet[i],
               (long long)counts->fallbacks[i]);
        all += counts->cases[i];
        quiet += counts->quiet[i];
        fallbacks += counts->fallbacks[i];
    }
    printf("%-22s %6lld cases, %6lld without a move, %6lld gathered, computed, resharded\n", "all",
           (long long)all, (long long)quiet, (long long)fallbacks);
    if (getenv("TSR_OP") != NULL) {
        return;
    }
    expect_all_calls(counts);
    for (size_t k = 0; k < op_count(); k++) {
        bool run = false;
        for (size_t i = 0; i < op_makers_count(); i++) {
            const char *row = op_maker_at(i)->row;
            run = run || (row != NULL && strcmp(row, op_at(k)->name) == 0 && counts->cases[i] > 0);
        }
        if (!run && !is_for_programs(op_at(k))) {
            fail_msg("no call exercises the op %s", op_at(k)->name);
        }
    }
}

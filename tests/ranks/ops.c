/*
 * Every op on tensors in random layouts against the same op on whole arrays. A second argument is
 * how many calls to make in all, at least one of each. A call that differs is shrunk and printed as
 * C. TSR_SEED, TSR_PROP_SCALE and TSR_OP=tsr_add choose.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"
#include "op_operands.h"

#include "base/base.h"
#include "base/diag.h"
#include "kernel/elementwise.h"
#include "ops/op.h"

static size_t sample;

/* What became of the calls of each row; in memory that ranks of any kind share. */
typedef struct op_counts {
    int64_t cases[MAX_MAKERS];
    int64_t quiet[MAX_MAKERS]; /* nothing moved */
    int64_t fallbacks[MAX_MAKERS];
    _Atomic int64_t failed; /* the first case that failed; -1 for none */
} op_counts;

/* ---- elements ---- */

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
        return op_case_complain(w->world, w->c, "elements moved for tensors that have none");
    }
    for (size_t k = 0; k < w->c->num_results; k++) {
        if (!tsr_tensor_is_abstract(results[k])) {
            return op_case_complain(w->world, w->c,
                                    "the result of tensors without elements has some");
        }
        if (!tsr_sharding_equal(tsr_tensor_sharding(results[k]), tsr_tensor_sharding(w->got[k]))) {
            return op_case_complain(
                w->world, w->c, "the result lies elsewhere than that of tensors without elements");
        }
    }
    return TSR_OK;
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
        return op_case_complain(w->world, w->c, "the result has another type or shape");
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
            return op_case_complain(w->world, w->c, "an operand changed");
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
    const size_t i = op_maker_index(w->c->op);
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
            note_failed(&list->counts->failed, i);
        } else if (tsr_comm_rank(world) == 0) {
            count_case(&w, list->counts);
        }
    }
    tsr_arena_destroy(w.arena);
    return status;
}

static op_counts *counts_new(void)
{
    op_counts *counts = shared_new(sizeof *counts);
    counts->failed = -1;
    return counts;
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

static void shrink_and_fail(fixture *f, tsr_ranks kind, const op_case *failed)
{
    shrinking s = {.f = f, .kind = kind, .scratch = counts_new(), .now = *failed};
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
    shared_free(s.scratch, sizeof *s.scratch);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    fail_msg("%s", d != NULL ? d->text : "?");
}

/* Only cases of the call that TSR_OP names, if it does. */
static bool is_chosen(const op_maker *op)
{
    const char *only = getenv("TSR_OP");
    return only == NULL || strcmp(only, op->call) == 0;
}

/* Makes the calls of a round; fails the test with one that differs. */
static void check_ops(fixture *f, const op_round *round, op_counts *counts)
{
    const rng base = rng_start("check_ops");
    const rng own = rng_case(&base, (uint64_t)round->ranks);
    const size_t rows = op_makers_count();
    const case_limits limits = {.ranks = round->ranks, .most_extent = 12};
    op_case *cases = tsr_arena_alloc(f->arena, round->count * sizeof *cases);
    case_list list = {cases, 0, counts};
    assert_true(rows <= MAX_MAKERS);
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

/*
 * Fails the test unless every call of ops.h and every row of the library's table was run; prints
 * the counts.
 */
static void expect_all_rows(const op_counts *counts)
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
        if (!run && op_at(k)->types != NULL && !is_for_programs(op_at(k))) {
            fail_msg("no call exercises the op %s", op_at(k)->name);
        }
    }
}

static void sharded_equals_unsharded(void **state)
{
    enum { CALLS = 4000 };
    const size_t rows = op_makers_count();
    size_t calls = (size_t)prop_cases(sample > 0 ? (int64_t)sample : CALLS);
    calls = calls > rows ? calls : rows;
    op_counts *counts = counts_new();
    op_round round = {.kind = kinds_chosen(), .count = calls / kinds_num_counts(11) + 1};
    for (size_t at = 0; kinds_next_count(&at, 11, &round.ranks);) {
        check_ops(*state, &round, counts);
        round.first += round.count;
    }
    if (tsr_launcher_rank() <= 0) {
        expect_all_rows(counts);
    }
    shared_free(counts, sizeof *counts);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(sharded_equals_unsharded)};
    kinds_choose(argc, argv);
    sample = argc > 2 ? (size_t)atoll(argv[2]) : 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The numbers of every call of tessera/ops.h, on random shapes, values, element types and layouts,
 * against a reference that is written apart (numbers/reference.h). Deliberately wrong calls, built
 * from public ones, must be reported: the check is able to fail. A second argument is how many
 * calls to make in all, at least one of each. TSR_SEED, TSR_PROP_SCALE and TSR_OP=tsr_add choose.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "case.h"
#include "kinds.h"
#include "slices.h"

/* What the ranks found, in memory that processes share. */
typedef struct findings {
    _Atomic int64_t by_any; /* cases that are different, once for each rank that says so */
    int64_t different;      /* by rank 0 */
    char first[1024];
} findings;

/* What a launch checks: cases, with another call in place of the row's if one is planted. */
typedef struct batch {
    const number_case *cases;
    size_t count;
    case_call planted;
    findings *found;
} batch;

static int64_t sample;

/* ---- operands ---- */

/* One operand on one rank: which of those that have a part of each element it is. */
typedef struct filling {
    const ref_array *x;
    uint64_t seed;
    int64_t member;
    int64_t members;
    tsr_reduction reduction;
} filling;

/* Less than an element or more, for those whose part of a greatest or least does not count. */
static ref_number beside(tsr_dtype dtype, ref_number x, int by)
{
    const bool has_room = by < 0 ? x.i > ref_least(dtype) + 2 : x.i < ref_greatest(dtype) - 2;
    if (dtype == TSR_I1) {
        return (ref_number){.i = by < 0 ? 0 : 1};
    }
    return (ref_number){.f = ref_round(dtype, (long double)x.f + 2 * by),
                        .i = has_room ? x.i + 2 * by : x.i};
}

static ref_number negated(tsr_dtype dtype, ref_number x)
{
    return (ref_number){.f = x.f == 0 ? 0 : -x.f, .i = ref_wrap(dtype, 0 - (uint64_t)x.i)};
}

/*
 * This rank's part of an element. Of a sum one rank has the element; of two others, if there are
 * two, one has it as well and one its negative, so that the sum of any of the parts is exact.
 */
static ref_number share_of(const filling *how, ref_number x, rng *r)
{
    const int64_t owner = rng_below(r, how->members);
    const int64_t turn = (how->member - owner + how->members) % how->members;
    const bool finite = x.f - x.f == 0;
    if (turn == 0) {
        return x;
    }
    if (how->reduction != TSR_SUM) {
        return beside(how->x->dtype, x, how->reduction == TSR_MAX ? -1 : 1);
    }
    if (how->members < 3 || turn > 2 || !finite) {
        return (ref_number){0};
    }
    return turn == 1 ? x : negated(how->x->dtype, x);
}

static void fill_element(const int64_t *index, void *element, void *state)
{
    const filling *how = state;
    const int64_t place = ref_place(how->x, index);
    const rng base = {how->seed};
    rng r = rng_case(&base, (uint64_t)place);
    ref_write(how->x->dtype, share_of(how, how->x->at[place], &r), element);
}

static tsr_status make_operand(tsr_comm *world, const number_case *c, size_t i, tsr_tensor **out)
{
    const ref_array *x = &c->x[i];
    const tsr_tensor_spec spec = {c->shardings[i], x->dtype, x->rank, x->shape};
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(spec.sharding, &count);
    filling how = {.x = x,
                   .seed = c->seed + i,
                   .members = tsr_axes_size(axes, count),
                   .reduction = tsr_sharding_reduction(spec.sharding)};
    how.member = index_along(tsr_sharding_mesh(spec.sharding), axes, count, tsr_comm_rank(world));
    TSR_TRY(tsr_tensor_create(world, &spec, out));
    tsr_tensor_fill(*out, fill_element, &how);
    return TSR_OK;
}

/* ---- a case on a rank ---- */

/* One rank at a case, and what it says when the case is different. */
typedef struct worker {
    tsr_comm *world;
    tsr_arena *arena;
    const number_case *c;
    tsr_tensor *x[CASE_OPERANDS];
    tsr_tensor *got[CASE_RESULTS];
    char text[1024];
} worker;

static void print_array(char *text, size_t size, const ref_array *x)
{
    const size_t length = strlen(text);
    (void)snprintf(text + length, size - length, " %s[", tsr_dtype_name(x->dtype));
    for (size_t d = 0; d < x->rank; d++) {
        const size_t at = strlen(text);
        (void)snprintf(text + at, size - at, "%s%lld", d > 0 ? "," : "", (long long)x->shape[d]);
    }
    (void)snprintf(text + strlen(text), size - strlen(text), "]");
}

static void print_list(char *text, size_t size, const case_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const size_t at = strlen(text);
        (void)snprintf(text + at, size - at, i > 0 ? ",%zu" : " {%zu", list->dims[i]);
    }
    const size_t at = strlen(text);
    (void)snprintf(text + at, size - at, list->count > 0 ? "}" : " {}");
}

/* The call, its operands and their layouts. */
static void describe(worker *w, const char *what)
{
    const number_case *c = w->c;
    (void)snprintf(w->text, sizeof w->text, "%s: %s; dim %zu, number %lld, variant %d, %s;",
                   c->row->call, what, c->dim, (long long)c->number, c->variant,
                   c->equation != NULL ? c->equation : "");
    for (size_t i = 0; i < CASE_LISTS; i++) {
        print_list(w->text, sizeof w->text, &c->lists[i]);
    }
    for (size_t i = 0; i < c->num_operands; i++) {
        const char *layout = "?";
        print_array(w->text, sizeof w->text, &c->x[i]);
        (void)!tsr_sharding_print(tsr_comm_context(w->world), w->arena, c->shardings[i],
                                  TSR_PRINT_BARE, &layout);
        const size_t length = strlen(w->text);
        (void)snprintf(w->text + length, sizeof w->text - length, " as %s", layout);
    }
}

static bool has_shape(const tsr_tensor *t, const ref_array *want)
{
    return tsr_tensor_dtype(t) == want->dtype && tsr_tensor_rank(t) == want->rank &&
           memcmp(tsr_tensor_shape(t), want->shape, want->rank * sizeof *want->shape) == 0;
}

static void describe_element(worker *w, size_t result, int64_t place, const ref_number *got)
{
    char text[256];
    const ref_array *want = &w->c->want[result];
    const ref_number *n = &want->at[place];
    if (ref_is_float(want->dtype)) {
        (void)snprintf(text, sizeof text,
                       "result %zu at %lld is %.17g, expected: %.17g (magnitude %g)", result,
                       (long long)place, got->f, n->f, n->scale);
    } else {
        (void)snprintf(text, sizeof text, "result %zu at %lld is %lld, expected: %lld", result,
                       (long long)place, (long long)got->i, (long long)n->i);
    }
    describe(w, text);
}

/* All of a result against all of the expected one. */
static tsr_status compare(worker *w, size_t k)
{
    const ref_array *want = &w->c->want[k];
    const int64_t item = tsr_dtype_item_bytes(want->dtype);
    if (!has_shape(w->got[k], want)) {
        describe(w, "the result has another type or shape");
        return TSR_OK;
    }
    char *full = tsr_arena_alloc(w->arena, (size_t)(want->count * item + 1));
    if (full == NULL) {
        return TSR_ERR_NOMEM;
    }
    TSR_TRY(tsr_tensor_to_full(w->got[k], -1, full));
    for (int64_t i = 0; i < want->count && w->text[0] == '\0'; i++) {
        const ref_number got = ref_read(want->dtype, full + i * item);
        if (!case_accepts(w->c, want->dtype, &want->at[i], &got)) {
            describe_element(w, k, i, &got);
        }
    }
    return TSR_OK;
}

static tsr_status check_case(worker *w, case_call call)
{
    for (size_t i = 0; i < w->c->num_operands; i++) {
        TSR_TRY(make_operand(w->world, w->c, i, &w->x[i]));
    }
    if (call(w->c, w->x, w->got) < 0) {
        const tsr_diagnostic *d = tsr_context_diagnostics(tsr_comm_context(w->world));
        describe(w, d != NULL ? d->text : "the call fails");
        tsr_context_clear(tsr_comm_context(w->world));
        return TSR_OK;
    }
    for (size_t k = 0; k < w->c->num_results; k++) {
        TSR_TRY(compare(w, k));
    }
    return TSR_OK;
}

/* Counts a case that is different; rank 0 says how. */
static void note(const batch *b, const worker *w)
{
    findings *found = b->found;
    if (w->text[0] == '\0') {
        return;
    }
    found->by_any++;
    if (tsr_comm_rank(w->world) == 0 && found->different++ == 0) {
        memcpy(found->first, w->text, sizeof w->text);
    }
    if (tsr_comm_rank(w->world) == 0 && b->planted == NULL) {
        printf("%lld ranks, seed %llu: %s\n", (long long)tsr_comm_size(w->world),
               (unsigned long long)w->c->seed, w->text);
    }
}

static tsr_status run_batch(tsr_comm *world, void *state)
{
    const batch *b = state;
    for (size_t i = 0; i < b->count; i++) {
        worker w = {.world = world, .c = &b->cases[i]};
        TSR_TRY(tsr_arena_create(tsr_comm_context(world), &w.arena));
        TSR_TRY(tsr_scope_open(world));
        const tsr_status status = check_case(&w, b->planted != NULL ? b->planted : w.c->row->run);
        tsr_scope_close(world);
        for (size_t k = 0; k < w.c->num_operands; k++) {
            tsr_tensor_release(w.x[k]);
        }
        note(b, &w);
        tsr_arena_destroy(w.arena);
        TSR_TRY(status);
    }
    return TSR_OK;
}

static findings *findings_new(void)
{
    findings *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(f != MAP_FAILED);
    return f;
}

static void findings_free(findings *f)
{
    (void)munmap(f, sizeof *f);
}

/* ---- every call ---- */

enum { CASES = 100, COUNTS = 5, MAX_RANKS = 7, LEAST_CASES = 30, MAX_CALLS = 128 };

static bool is_chosen(const case_row *row)
{
    const char *only = getenv("TSR_OP");
    return only == NULL || strcmp(only, row->call) == 0;
}

/* Whether a call has a row; `length` is that of its name. */
static bool has_row(const char *call, size_t length)
{
    for (size_t i = 0; i < case_rows_count(); i++) {
        const char *name = case_row_at(i)->call;
        if (strlen(name) == length && strncmp(name, call, length) == 0) {
            return true;
        }
    }
    return false;
}

static void every_call_of_the_header_has_a_reference(void **state)
{
    char path[1024];
    char line[512];
    size_t calls = 0;
    const char *sources = getenv("TSR_SOURCE_DIR");
    (void)state;
    (void)snprintf(path, sizeof path, "%s/include/tessera/ops.h", sources != NULL ? sources : ".");
    FILE *header = fopen(path, "r");
    if (header == NULL) {
        fail_msg("%s is not there: set TSR_SOURCE_DIR", path);
        return;
    }
    while (fgets(line, sizeof line, header) != NULL) {
        const char *at = strstr(line, "tsr_status tsr_");
        const char *name = at != NULL ? at + strlen("tsr_status ") : NULL;
        const size_t length = name != NULL ? strcspn(name, "( ;\n") : 0;
        if (name == NULL || name[length] != '(') {
            continue;
        }
        calls++;
        if (!has_row(name, length)) {
            (void)fclose(header);
            fail_msg("%.*s has no reference", (int)length, name);
        }
    }
    (void)fclose(header);
    assert_int_equal(calls, case_rows_count());
}

/* Returns how often a case is different. */
static int64_t check_on(fixture *f, int64_t ranks, int64_t cases, int64_t *counts)
{
    const rng base = rng_start("numbers");
    const rng own = rng_case(&base, (uint64_t)ranks);
    const size_t rows = case_rows_count();
    number_case *list = tsr_arena_alloc(f->arena, rows * (size_t)cases * sizeof *list);
    batch b = {.cases = list, .found = findings_new()};
    assert_non_null(list);
    for (size_t i = 0; i < rows * (size_t)cases; i++) {
        const case_row *row = case_row_at(i % rows);
        if (is_chosen(row)) {
            case_draw(f, row, rng_case(&own, i).state, ranks, &list[b.count++]);
            counts[i % rows]++;
        }
    }
    expect_ranks(f, &(tsr_launch_spec){.num_ranks = ranks, .ranks = kinds_chosen()}, run_batch, &b);
    const int64_t different = b.found->by_any;
    findings_free(b.found);
    return different;
}

static void every_call_computes_what_the_reference_does(void **state)
{
    int64_t counts[MAX_CALLS] = {0};
    int64_t ranks;
    int64_t different = 0;
    const int64_t of_ranks = kinds_chosen() == TSR_RANKS_MPI ? 1 : COUNTS;
    const int64_t rows = (int64_t)case_rows_count();
    const int64_t all = sample > 0 ? sample : CASES * rows;
    assert_true(rows <= MAX_CALLS);
    for (size_t at = 0; kinds_next_count(&at, MAX_RANKS, &ranks);) {
        const int64_t cases = (all + of_ranks * rows - 1) / (of_ranks * rows);
        different += check_on(*state, ranks, prop_cases(cases), counts);
    }
    for (size_t i = 0; tsr_launcher_rank() <= 0 && i < (size_t)rows; i++) {
        const char *call = case_row_at(i)->call;
        if (is_chosen(case_row_at(i))) {
            printf("%-30s %lld cases\n", call, (long long)counts[i]);
            assert_true(sample > 0 || counts[i] >= LEAST_CASES);
        }
    }
    assert_int_equal(different, 0);
}

/* ---- calls that are wrong ---- */

/* e / (sum(e) + 1) */
static tsr_status wrong_softmax(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    int64_t shape[REF_DIMS];
    tsr_tensor *t = NULL;
    tsr_tensor *e = NULL;
    tsr_tensor *one = NULL;
    memcpy(shape, c->x[0].shape, sizeof shape);
    shape[c->dim] = 1;
    TSR_TRY(tsr_max(x[0], &c->dim, 1, &t));
    TSR_TRY(tsr_reshape(t, shape, c->x[0].rank, &t));
    TSR_TRY(tsr_sub(x[0], t, &t));
    TSR_TRY(tsr_exp(t, &e));
    TSR_TRY(tsr_sum(e, &c->dim, 1, &t));
    TSR_TRY(tsr_reshape(t, shape, c->x[0].rank, &t));
    TSR_TRY(tsr_scalar_like(t, 1, &one));
    TSR_TRY(tsr_add(t, one, &t));
    return tsr_div(e, t, out);
}

/* Of the next label. */
static tsr_status wrong_cross_entropy(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    tsr_tensor *one = NULL;
    tsr_tensor *size = NULL;
    tsr_tensor *labels = NULL;
    TSR_TRY(tsr_scalar_like(x[1], 1, &one));
    TSR_TRY(tsr_scalar_like(x[1], (double)c->x[0].shape[c->x[0].rank - 1], &size));
    TSR_TRY(tsr_add(x[1], one, &labels));
    TSR_TRY(tsr_rem(labels, size, &labels));
    return tsr_cross_entropy(x[0], labels, out);
}

/* Exclusive: without the element itself. */
static tsr_status wrong_cumsum(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    tsr_tensor *sums = NULL;
    TSR_TRY(tsr_cumsum(x[0], c->dim, &sums));
    return tsr_sub(sums, x[0], out);
}

/* The first k of the ascending order. */
static tsr_status wrong_top_k(const number_case *c, tsr_tensor *const *x, tsr_tensor **out)
{
    const int64_t start[REF_DIMS] = {0};
    int64_t limit[REF_DIMS];
    tsr_tensor *values = NULL;
    tsr_tensor *places = NULL;
    memcpy(limit, c->x[0].shape, sizeof limit);
    limit[c->dim] = c->number;
    TSR_TRY(tsr_sort(x[0], c->dim, false, &values, &places));
    TSR_TRY(tsr_slice(values, start, limit, NULL, &out[0]));
    return tsr_slice(places, start, limit, NULL, &out[1]);
}

/* A wrong call, and of how many cases in a hundred it must be reported: some have no elements. */
typedef struct planted {
    const char *call;
    case_call run;
    int64_t percent;
} planted;

static const planted faults[] = {{"tsr_softmax", wrong_softmax, 60},
                                 {"tsr_cross_entropy", wrong_cross_entropy, 60},
                                 {"tsr_cumsum", wrong_cumsum, 60},
                                 {"tsr_top_k", wrong_top_k, 40}};

static const case_row *row_of(const char *call)
{
    for (size_t i = 0; i < case_rows_count(); i++) {
        if (strcmp(case_row_at(i)->call, call) == 0) {
            return case_row_at(i);
        }
    }
    fail_msg("no row calls %s", call);
    return NULL;
}

static void check_fault(fixture *f, const planted *p, int64_t ranks)
{
    enum { TRIALS = 20 };
    const rng base = rng_start("numbers");
    number_case cases[TRIALS];
    batch b = {cases, TRIALS, p->run, findings_new()};
    for (size_t i = 0; i < TRIALS; i++) {
        case_draw(f, row_of(p->call), rng_case(&base, 5000 + i).state, ranks, &cases[i]);
    }
    expect_ranks(f, &(tsr_launch_spec){.num_ranks = ranks, .ranks = kinds_chosen()}, run_batch, &b);
    if (tsr_launcher_rank() <= 0) {
        printf("a wrong %s is reported in %lld of %d cases: %.160s\n", p->call,
               (long long)b.found->different, TRIALS, b.found->first);
        assert_true(b.found->different * 100 >= p->percent * TRIALS);
    }
    findings_free(b.found);
}

static void a_wrong_call_is_reported(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 2, &ranks);) {
        for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
            check_fault(*state, &faults[i], ranks);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(every_call_of_the_header_has_a_reference),
                                       TEST(every_call_computes_what_the_reference_does),
                                       TEST(a_wrong_call_is_reported)};
    kinds_choose(argc, argv);
    sample = argc > 2 ? atoll(argv[2]) : 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

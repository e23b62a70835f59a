/*
 * Gradients: of every op against differences, of sharded tensors against whole ones, and what tapes
 * do. A second argument is how many sharded calls to make in all, at least one of each.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/gradient.h>

#include "kinds.h"
#include "op_operands.h"
#include "tapes.h"

#include "base/base.h"
#include "base/diag.h"
#include "ops/op.h"

static size_t sample;

/* What became of the calls of each row; in memory that ranks of any kind share. */
typedef struct gradient_counts {
    int64_t against_differences[MAX_MAKERS];
    int64_t sharded[MAX_MAKERS];
    int64_t refused[MAX_MAKERS]; /* by the backward, which says so */
    int64_t pending[MAX_MAKERS]; /* gradients that came with something pending */
    _Atomic int64_t failed;      /* the first case that failed; -1 for none */
} gradient_counts;

/* Not for calls whose results do not depend on the numbers of their operands. */
static bool has_gradient(const op_maker *op)
{
    return !op->creates && (op->types & WIDE_FLOATS) != 0 &&
           strcmp(op->call, "tsr_scalar_like") != 0 && strcmp(op->call, "tsr_one_hot") != 0 &&
           strcmp(op->call, "tsr_argmax") != 0 && strcmp(op->call, "tsr_compare") != 0 &&
           strcmp(op->call, "tsr_is_finite") != 0;
}

/* ---- one call on a rank ---- */

typedef struct worker {
    tsr_comm *world;
    tsr_arena *arena;
    const op_case *c;
    bool plain;
    tsr_tensor *x[CASE_OPERANDS];
    tsr_tensor *y[CASE_RESULTS];
    tsr_tensor *weights[CASE_RESULTS];
    tsr_tensor *grads[CASE_OPERANDS];
    bool refused;
} worker;

static bool is_float(const tsr_tensor *t)
{
    return tsr_tensor_dtype(t) == TSR_F64;
}

/* Replicated, or with a sum pending over the whole mesh. */
static tsr_status weights_layout(const worker *w, size_t rank, bool pending,
                                 const tsr_sharding **out)
{
    tsr_context *ctx = tsr_comm_context(w->world);
    const size_t num_axes = tsr_mesh_num_axes(w->c->mesh);
    tsr_axis_ref *axes = tsr_arena_alloc(w->arena, (num_axes + 1) * sizeof *axes);
    tsr_dim dims[MAX_DIMS];
    for (size_t i = 0; i < num_axes; i++) {
        axes[i] = tsr_axis_full(w->c->mesh, i);
    }
    for (size_t d = 0; d < rank; d++) {
        dims[d] = tsr_dim_closed(NULL, 0);
    }
    const tsr_sharding_spec spec = {.mesh = w->c->mesh,
                                    .rank = rank,
                                    .dims = dims,
                                    .num_unreduced = pending ? num_axes : 0,
                                    .unreduced = axes,
                                    .reduction = TSR_SUM};
    return tsr_sharding_create(ctx, w->arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

/* Weights for a result: the same numbers however they lie. */
static tsr_status make_weights(worker *w, size_t k)
{
    const tsr_tensor *y = w->y[k];
    const int how = w->plain ? 0 : (int)(w->c->seed % 3);
    case_operand o = {.dtype = TSR_F64, .rank = tsr_tensor_rank(y), .low = -3, .high = 3};
    memcpy(o.shape, tsr_tensor_shape(y), o.rank * sizeof *o.shape);
    TSR_TRY(weights_layout(w, o.rank, false, &o.plain));
    TSR_TRY(weights_layout(w, o.rank, how == 1, &o.sharding));
    size_t num_pending;
    (void)tsr_sharding_unreduced(tsr_tensor_sharding(y), &num_pending);
    if (how == 2 && num_pending == 0) {
        o.sharding = tsr_tensor_sharding(y);
    }
    const uint64_t seed = op_case_seed(w->c, 20 + k) | 1; /* not strided */
    return op_case_tensor(w->world, NULL, &o, seed, w->plain, &w->weights[k]);
}

/* The sum of all results, weighted. */
static tsr_status make_loss(worker *w, tsr_tensor **loss)
{
    static const size_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (size_t k = 0; k < w->c->num_results; k++) {
        tsr_tensor *weighted = NULL;
        tsr_tensor *sum = NULL;
        tsr_tensor *both = NULL;
        if (!is_float(w->y[k])) {
            continue;
        }
        TSR_TRY(tsr_mul(w->y[k], w->weights[k], &weighted));
        TSR_TRY(tsr_sum(weighted, all, tsr_tensor_rank(weighted), &sum));
        if (*loss != NULL) {
            TSR_TRY(tsr_add(*loss, sum, &both));
        }
        *loss = both != NULL ? both : sum;
    }
    return TSR_OK;
}

/* From the loss, or from the result itself with the weights for its cotangent. */
static tsr_status go_back(worker *w)
{
    tsr_tensor *loss = NULL;
    if (w->c->num_results == 1 && w->c->seed % 2 == 0) {
        return tsr_backward_from(w->y[0], w->weights[0]);
    }
    TSR_TRY(make_loss(w, &loss));
    return tsr_backward(loss);
}

static tsr_status note_refusal(worker *w, tsr_status status)
{
    w->refused = status == TSR_ERR_UNSUPPORTED;
    if (w->refused) {
        const tsr_diagnostic *d = tsr_context_diagnostics(tsr_comm_context(w->world));
        if (d == NULL || strstr(d->text, w->c->op->call) == NULL) {
            return op_case_complain(w->world, w->c,
                                    "it has no gradient, but the message does not name it");
        }
        tsr_context_clear(tsr_comm_context(w->world));
        return TSR_OK;
    }
    return status;
}

/* Under a tape of its own. */
static tsr_status differentiate_on_tape(worker *w)
{
    const case_site site = {w->world, w->x, w->plain};
    for (size_t i = 0; i < w->c->num_operands; i++) {
        if (is_float(w->x[i])) {
            TSR_TRY(tsr_watch(w->x[i]));
        }
    }
    TSR_TRY(w->c->op->run(w->c, &site, w->y));
    for (size_t k = 0; k < w->c->num_results; k++) {
        if (is_float(w->y[k])) {
            TSR_TRY(make_weights(w, k));
        }
    }
    TSR_TRY(note_refusal(w, go_back(w)));
    for (size_t i = 0; !w->refused && i < w->c->num_operands; i++) {
        if (is_float(w->x[i])) {
            TSR_TRY(tsr_gradient(w->x[i], &w->grads[i]));
        }
    }
    return TSR_OK;
}

static tsr_status differentiate(worker *w)
{
    TSR_TRY(tsr_tape_begin(w->world));
    const tsr_status status = differentiate_on_tape(w);
    tsr_tape_end(w->world);
    return status;
}

static void drop(worker *w)
{
    for (size_t i = 0; i < CASE_OPERANDS; i++) {
        tsr_tensor_release(w->x[i]);
        w->x[i] = NULL;
        w->grads[i] = NULL;
    }
    for (size_t k = 0; k < CASE_RESULTS; k++) {
        tsr_tensor_release(w->weights[k]);
        w->weights[k] = NULL;
        w->y[k] = NULL;
    }
}

static bool has_floats(const op_case *c)
{
    bool any = false;
    for (size_t i = 0; i < c->num_operands; i++) {
        any = any || c->operands[i].dtype == TSR_F64;
    }
    return any;
}

/* ---- against differences ---- */

/* The weighted sum of the results, and of their sizes. */
static tsr_status weigh(worker *w, double *sum, double *sizes)
{
    const case_site site = {w->world, w->x, true};
    tsr_tensor *y[CASE_RESULTS] = {NULL};
    *sum = 0;
    *sizes = 0;
    TSR_TRY(tsr_scope_open(w->world));
    const tsr_status status = w->c->op->run(w->c, &site, y);
    for (size_t k = 0; status == TSR_OK && k < w->c->num_results; k++) {
        if (!is_float(y[k])) {
            continue;
        }
        const double *values = tsr_tensor_data(y[k]);
        const double *weights = tsr_tensor_data(w->weights[k]);
        for (int64_t i = 0; i < elements_of(y[k]); i++) {
            *sum += values[i] * weights[i];
            *sizes += fabs(values[i] * weights[i]);
        }
    }
    tsr_scope_close(w->world);
    return status;
}

/* What changes with one element of an operand, for a step each way. */
static tsr_status difference(worker *w, double *x, double step, double *slope, double *sizes)
{
    const double kept = *x;
    double above = 0;
    double below = 0;
    *x = kept + step;
    TSR_TRY(weigh(w, &above, sizes));
    *x = kept - step;
    TSR_TRY(weigh(w, &below, sizes));
    *x = kept;
    *slope = (above - below) / (2 * step);
    return TSR_OK;
}

/* One element of an operand; a shorter step where the longer one crosses an edge. */
static tsr_status check_element(worker *w, size_t operand, int64_t place)
{
    static const double steps[] = {1e-5, 1e-7};
    double *x = (double *)tsr_tensor_data(w->x[operand]) + place;
    const double got = ((const double *)tsr_tensor_data(w->grads[operand]))[place];
    double want = 0;
    for (size_t i = 0; i < 2; i++) {
        double sizes;
        TSR_TRY(difference(w, x, steps[i], &want, &sizes));
        if (fabs(got - want) <= 1e-5 * fmax(1, fabs(want)) + 1e-15 / steps[i] * sizes) {
            return TSR_OK;
        }
    }
    return diag_error(tsr_comm_context(w->world), TSR_ERR_INVALID, NO_LOCATION,
                      "%s: the gradient of operand %zu at %lld is %.12g, by differences %.12g",
                      w->c->op->call, operand, (long long)place, got, want);
}

/* Numbers between integers, no two alike, so that nothing is near a step or an edge. */
static void unround(const worker *w, size_t operand)
{
    const rng base = {op_case_seed(w->c, 40 + operand)};
    double *x = tsr_tensor_data(w->x[operand]);
    for (int64_t i = 0; i < elements_of(w->x[operand]); i++) {
        rng r = rng_case(&base, (uint64_t)i);
        x[i] += 0.1 + (double)rng_below(&r, 1 << 20) * (0.3 / (1 << 20));
    }
}

static tsr_status check_case_by_differences(worker *w)
{
    enum { MOST = 24 };
    w->plain = true;
    for (size_t i = 0; i < w->c->num_operands; i++) {
        TSR_TRY(op_case_tensor(w->world, NULL, &w->c->operands[i], op_case_seed(w->c, i), true,
                               &w->x[i]));
        if (is_float(w->x[i])) {
            unround(w, i);
        }
    }
    TSR_TRY(differentiate(w));
    for (size_t i = 0; !w->refused && i < w->c->num_operands; i++) {
        if (!is_float(w->x[i])) {
            continue;
        }
        TSR_TRY(tsr_replicate(w->grads[i], &w->grads[i]));
        const int64_t count = elements_of(w->x[i]);
        for (int64_t k = 0; k < count && k < MOST; k++) {
            TSR_TRY(check_element(w, i, count > MOST ? k * count / MOST : k));
        }
    }
    return TSR_OK;
}

/* ---- sharded against whole ---- */

/*
 * Gradients that sums and products of integers give exactly. The slopes of functions of floats
 * alone, and of powers, are rounded, and so are the shares of elements that are the extreme
 * together.
 */
static bool is_exact(const op_maker *op)
{
    static const char *const sharing[] = {"tsr_max", "tsr_min", "tsr_scatter",
                                          "tsr_scatter_slices"};
    for (size_t i = 0; i < sizeof sharing / sizeof sharing[0]; i++) {
        if (strcmp(op->call, sharing[i]) == 0) {
            return false;
        }
    }
    const op_row *row = op->row != NULL ? op_find(op->row) : NULL;
    const bool rounds = row != NULL && (row->traits & OP_ELEMENTWISE) != 0 &&
                        ((op->types & INTEGERS) == 0 || strcmp(row->name, "power") == 0);
    return !op->inexact && !rounds;
}

static tsr_status compare(worker *w, worker *whole, size_t operand)
{
    tsr_tensor *got = w->grads[operand];
    tsr_tensor *want = whole->grads[operand];
    const size_t rank = tsr_tensor_rank(want);
    const int64_t count = elements_of(want);
    const size_t bytes = (size_t)count * sizeof(double);
    double *all = tsr_arena_alloc(w->arena, 2 * bytes + 1);
    if (tsr_tensor_dtype(got) != TSR_F64 || tsr_tensor_rank(got) != rank ||
        memcmp(tsr_tensor_shape(got), tsr_tensor_shape(want), rank * sizeof(int64_t)) != 0) {
        return op_case_complain(w->world, w->c, "the gradient has another type or shape");
    }
    TSR_TRY(tsr_tensor_to_full(want, -1, all));
    TSR_TRY(tsr_tensor_to_full(got, -1, all + count));
    for (int64_t i = 0; i < count; i++) {
        const double a = all[i];
        const double b = all[count + i];
        const bool close = is_exact(w->c->op) ? a == b : fabs(a - b) <= 1e-9 * fmax(1, fabs(a));
        if (isfinite(a) && !close) { /* sums of shares do not keep infinities */
            return diag_error(tsr_comm_context(w->world), TSR_ERR_INVALID, NO_LOCATION,
                              "%s: the gradient of operand %zu at %lld is %.17g, that of whole "
                              "tensors %.17g",
                              w->c->op->call, operand, (long long)i, b, a);
        }
    }
    return TSR_OK;
}

static tsr_status check_case_sharded(worker *w, worker *whole)
{
    for (size_t i = 0; i < w->c->num_operands; i++) {
        const case_operand *o = &w->c->operands[i];
        const uint64_t seed = op_case_seed(w->c, i);
        TSR_TRY(op_case_tensor(w->world, w->arena, o, seed, false, &w->x[i]));
        TSR_TRY(op_case_tensor(w->world, w->arena, o, seed, true, &whole->x[i]));
    }
    TSR_TRY(tsr_set_strategy(w->world, w->c->strategy));
    TSR_TRY(differentiate(w));
    TSR_TRY(differentiate(whole));
    if (w->refused != whole->refused) {
        return op_case_complain(w->world, w->c,
                                "only one of sharded and whole tensors has a gradient");
    }
    for (size_t i = 0; !w->refused && i < w->c->num_operands; i++) {
        if (is_float(w->x[i])) {
            TSR_TRY(compare(w, whole, i));
        }
    }
    return TSR_OK;
}

/* ---- many cases ---- */

typedef struct case_list {
    const op_case *cases;
    size_t count;
    bool by_differences;
    gradient_counts *counts;
} case_list;

static void count_case(const worker *w, const case_list *list)
{
    const size_t row = op_maker_index(w->c->op);
    int64_t *done =
        list->by_differences ? list->counts->against_differences : list->counts->sharded;
    done[row] += !w->refused;
    list->counts->refused[row] += w->refused;
    for (size_t i = 0; i < CASE_OPERANDS; i++) {
        size_t pending = 0;
        if (w->grads[i] != NULL) {
            (void)tsr_sharding_unreduced(tsr_tensor_sharding(w->grads[i]), &pending);
        }
        list->counts->pending[row] += pending > 0;
    }
}

static tsr_status run_cases(tsr_comm *world, void *state)
{
    const case_list *list = state;
    tsr_arena *arena = NULL;
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &arena);
    for (size_t i = 0; status == TSR_OK && i < list->count; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(arena);
        worker w = {.world = world, .arena = arena, .c = &list->cases[i]};
        worker whole = w;
        whole.plain = true;
        status = tsr_scope_open(world);
        if (status == TSR_OK) {
            status = list->by_differences ? check_case_by_differences(&w)
                                          : check_case_sharded(&w, &whole);
        }
        if (status == TSR_OK && tsr_comm_rank(world) == 0) {
            count_case(&w, list);
        }
        tsr_scope_close(world);
        drop(&w);
        drop(&whole);
        tsr_arena_reset(arena, mark);
        status = status == TSR_OK ? tsr_barrier(world) : status;
        if (status < 0) {
            note_failed(&list->counts->failed, i);
        }
    }
    tsr_arena_destroy(arena);
    return status;
}

static void run_list(fixture *f, int64_t ranks, tsr_ranks kind, case_list *list)
{
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kind,
                                  .timeout = 60,
                                  .checked = ranks % 2 == 1,
                                  .segment_bytes = (size_t)1 << 26};
    tsr_context_clear(f->ctx);
    if (launch_ranks(f->ctx, &spec, run_cases, list) != TSR_OK) {
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        printf("%lld ranks: %s\n", (long long)ranks, d != NULL ? d->text : "?");
        assert_true(list->counts->failed >= 0);
        op_case_print(f, &list->cases[list->counts->failed]);
        fail_msg("%s", d != NULL ? d->text : "?");
    }
}

/* Calls whole, on one rank, against central differences: so many of each row. */
static void check_differences(fixture *f, size_t calls, gradient_counts *counts)
{
    const rng base = rng_start("check_differences");
    const size_t rows = op_makers_count();
    const case_limits limits = {.ranks = 1, .most_extent = 4, .doubles = true};
    op_case *cases = tsr_arena_alloc(f->arena, rows * calls * sizeof *cases);
    case_list list = {cases, 0, true, counts};
    assert_non_null(cases);
    for (size_t i = 0; i < rows * calls; i++) {
        const op_maker *op = op_maker_at(i % rows);
        op_case *c = &cases[list.count];
        if (has_gradient(op)) {
            op_case_make(f, op, rng_case(&base, i).state, &limits, c);
            list.count += has_floats(c);
        }
    }
    run_list(f, 1, TSR_RANKS_THREADS, &list);
}

/* Calls in random layouts on so many ranks, one of each row in turn, from the row `first` on. */
static void check_sharded_gradients(fixture *f, const op_round *round, gradient_counts *counts)
{
    const rng base = rng_start("check_sharded_gradients");
    const rng own = rng_case(&base, (uint64_t)round->ranks);
    const size_t rows = op_makers_count();
    const case_limits limits = {.ranks = round->ranks, .most_extent = 9, .doubles = true};
    op_case *cases = tsr_arena_alloc(f->arena, round->count * sizeof *cases);
    case_list list = {cases, 0, false, counts};
    assert_non_null(cases);
    for (size_t i = 0; i < round->count; i++) {
        const op_maker *op = op_maker_at((round->first + i) % rows);
        op_case *c = &cases[list.count];
        if (has_gradient(op)) {
            op_case_make(f, op, rng_case(&own, i).state, &limits, c);
            list.count += has_floats(c);
        }
    }
    run_list(f, round->ranks, round->kind, &list);
}

/* Fails the test unless every row of floats was run both ways; prints the counts. */
static void expect_all_gradients(const gradient_counts *counts)
{
    for (size_t i = 0; i < op_makers_count(); i++) {
        const op_maker *op = op_maker_at(i);
        if (!has_gradient(op)) {
            continue;
        }
        printf(
            "%-22s %6lld by differences, %6lld sharded, %6lld refused, %6lld gradients pending\n",
            op->call, (long long)counts->against_differences[i], (long long)counts->sharded[i],
            (long long)counts->refused[i], (long long)counts->pending[i]);
        if (counts->sharded[i] + counts->refused[i] == 0 || counts->against_differences[i] == 0) {
            fail_msg("no gradient of %s was checked", op->call);
        }
        if (counts->refused[i] > 0) {
            fail_msg("%s has no gradient", op->call);
        }
    }
}

static void gradients_are_right(void **state)
{
    enum { CALLS = 1500, DIFFERENCES = 12 };
    const size_t rows = op_makers_count();
    size_t calls = (size_t)prop_cases(sample > 0 ? (int64_t)sample : CALLS);
    calls = calls > rows ? calls : rows;
    gradient_counts *counts = shared_new(sizeof *counts);
    counts->failed = -1;
    op_round round = {.kind = kinds_chosen(), .count = calls / kinds_num_counts(8) + 1};
    check_differences(*state, (size_t)prop_cases(DIFFERENCES), counts);
    for (size_t at = 0; kinds_next_count(&at, 8, &round.ranks);) {
        check_sharded_gradients(*state, &round, counts);
        round.first += round.count;
    }
    if (tsr_launcher_rank() <= 0) {
        expect_all_gradients(counts);
    }
    shared_free(counts, sizeof *counts);
}

static void tapes_do_as_they_say(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        check_tapes(*state, ranks, kinds_chosen());
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(tapes_do_as_they_say), TEST(gradients_are_right)};
    kinds_choose(argc, argv);
    sample = argc > 2 ? (size_t)atoll(argv[2]) : 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

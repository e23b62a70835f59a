/*
 * The table of local rules is sound, and its errors are necessary.
 *
 * Over a group of n ranks a value is a list of n vectors. R and I mean the vector that all have, V
 * the list, P what the reduction of the list gives. A rule is sound when an op done rank by rank
 * means the op done on meanings, and when the gradients that each rank finds by itself mean the
 * true one: those of R are summed, those of I and P are the same everywhere. Every op and every
 * combination of types is tried on all small inputs: where the checker accepts, both must hold;
 * where it refuses, every type that the result could be given must fail on some input, which is
 * printed.
 *
 * An error may be stricter than that in two cases, which are counted: a greatest or least element
 * is pending (the rules let it through monotone ops only), and I is mixed only with operands that
 * have no gradient, since they choose, or the other way round.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "local_ops.h"
#include "support.h"

enum { MAX_RANKS = 3, NUM_VALUES = 4, MAX_INPUTS = 20000, GRADIENT_INPUTS = 400 };
typedef enum kind { R, I, V, SUM, AVG, MAX, MIN, NUMBER, NUM_KINDS } kind;

static const char *const names[] = {"R", "I", "V", "P", "P(avg)", "P(max)", "P(min)", "number"};
static const double values[NUM_VALUES] = {-1, 2, 0, 1};

/* A combination of types, the op, and the inputs to try. */
typedef struct combination {
    const local_op *op;
    kind kinds[LOCAL_ARITY];
    int n;
    int values; /* how many of them */
    int64_t inputs;
} combination;

/* What every rank has, and what it means there. */
typedef struct input {
    local_args at[MAX_RANKS];
    local_args meaning[MAX_RANKS];
} input;
typedef struct lists {
    double of[MAX_RANKS][LOCAL_OUT];
} lists;

static bool is_shared(kind k)
{
    return k == R || k == I || k == NUMBER;
}

static bool is_pending(kind k)
{
    return k >= SUM && k <= MIN;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(1, fmax(fabs(a), fabs(b)));
}

/* What a list of numbers means under a type, on a rank. */
static double mean_as(kind k, const double *list, int n, int rank)
{
    double sum = 0;
    double most = list[0];
    double least = list[0];
    for (int r = 0; r < n; r++) {
        sum += list[r];
        most = fmax(most, list[r]);
        least = fmin(least, list[r]);
    }
    return k == SUM   ? sum
           : k == AVG ? sum / n
           : k == MAX ? most
           : k == MIN ? least
           : k == V   ? list[rank]
                      : list[0];
}

/* ---- inputs ---- */

static int64_t count_inputs(const combination *c, int num_values)
{
    int64_t total = 1;
    for (size_t i = 0; i < c->op->arity; i++) {
        const size_t slots = c->op->elements * (size_t)(is_shared(c->kinds[i]) ? 1 : c->n);
        for (size_t s = 0; s < slots; s++) {
            total *= num_values;
        }
    }
    return total;
}

/* All inputs over as many values as are not too many: four, three or two. */
static void choose_inputs(combination *c)
{
    c->values = NUM_VALUES;
    while (c->values > 2 && count_inputs(c, c->values) > MAX_INPUTS) {
        c->values--;
    }
    c->inputs = count_inputs(c, c->values);
}

/* The k-th input, in an order that soon has all kinds of them: 7919 is prime to 2 and 3. */
static void make_input(const combination *c, int64_t k, input *in)
{
    const double unit = c->op->unit != 0 ? c->op->unit : 1;
    int64_t code = k * 7919 % c->inputs;
    memset(in, 0, sizeof *in);
    for (size_t i = 0; i < c->op->arity; i++) {
        for (size_t e = 0; e < c->op->elements; e++) {
            double list[MAX_RANKS];
            for (int r = 0; r < c->n; r++) {
                const bool fresh = r == 0 || !is_shared(c->kinds[i]);
                list[r] = fresh ? unit * values[code % c->values] : list[0];
                code /= fresh ? c->values : 1;
            }
            for (int r = 0; r < c->n; r++) {
                in->at[r].of[i][e] = list[r];
                in->meaning[r].of[i][e] = mean_as(c->kinds[i], list, c->n, r);
            }
        }
    }
}

/* The op rank by rank and on the meanings; false where it is not defined. */
static bool run_both(const combination *c, const input *in, lists *got, lists *wanted)
{
    for (int r = 0; r < c->n; r++) {
        c->op->run(&in->at[r], got->of[r]);
        c->op->run(&in->meaning[r], wanted->of[r]);
        for (size_t e = 0; e < c->op->results; e++) {
            if (!isfinite(got->of[r][e]) || !isfinite(wanted->of[r][e])) {
                return false;
            }
        }
    }
    return true;
}

/* ---- values ---- */

/* Whether what ranks got, taken as a type, is what is wanted. */
static bool means(const combination *c, kind result, const lists *got, const lists *wanted)
{
    for (size_t e = 0; e < c->op->results; e++) {
        double list[MAX_RANKS];
        for (int r = 0; r < c->n; r++) {
            list[r] = got->of[r][e];
        }
        for (int r = 0; r < c->n; r++) {
            if ((is_shared(result) && !near(list[r], list[0])) ||
                !near(mean_as(result, list, c->n, r), wanted->of[r][e])) {
                return false;
            }
        }
    }
    return true;
}

/* ---- gradients ---- */

/* The derivative of <w, op(x)>; false at a kink or where it is not defined. */
static bool derive(const local_op *op, const local_args *x, const double *w, size_t i, size_t e,
                   double *out)
{
    const double h = 1e-4;
    double at[3];
    for (int k = 0; k < 3; k++) {
        local_args moved = *x;
        double y[LOCAL_OUT];
        moved.of[i][e] += (k - 1) * h;
        op->run(&moved, y);
        at[k] = 0;
        for (size_t s = 0; s < op->results; s++) {
            at[k] += w[s] * y[s];
        }
    }
    *out = (at[2] - at[0]) / (2 * h);
    return isfinite(*out) && fabs((at[2] - at[1]) - (at[1] - at[0])) < 0.1 * h;
}

/* Cotangents of a result: what each rank has, and what they mean. */
static void make_cotangents(const combination *c, kind result, int64_t k, lists *has, lists *mean)
{
    memset(mean, 0, sizeof *mean);
    for (size_t s = 0; s < c->op->results; s++) {
        for (int r = 0; r < c->n; r++) {
            const double own = (double)((k + r * 2 + (int64_t)s) % 3 + r);
            const double same = (double)(k % 2 + 1 + (int64_t)s);
            has->of[r][s] = result == R || result == V ? own : result == AVG ? same / c->n : same;
            mean->of[result == V ? r : 0][s] += result == R || result == V ? own : 0;
        }
        if (result != R && result != V) {
            mean->of[0][s] = (double)(k % 2 + 1 + (int64_t)s);
        }
    }
}

/* Whether the gradients of one element mean what they should, by the type of its operand. */
static bool gradient_fits(kind operand, int n, const double *got, const double *parts)
{
    double sum = 0;
    double truth = 0;
    bool fits = true;
    for (int r = 0; r < n; r++) {
        sum += got[r];
        truth += parts[r];
    }
    for (int r = 0; r < n; r++) {
        fits = fits && near(got[r], operand == V ? parts[r] : operand == AVG ? truth / n : truth);
    }
    return operand == R ? near(sum, truth) : fits;
}

/* Whether all gradients are right for one input; inputs at kinks are. */
static bool gradients_fit(const combination *c, kind result, const input *in, int64_t k)
{
    lists has;
    lists mean;
    if (result == MAX || result == MIN) {
        return true;
    }
    make_cotangents(c, result, k, &has, &mean);
    for (size_t i = 0; i < c->op->arity; i++) {
        const kind operand = c->kinds[i];
        if (operand == NUMBER || operand == MAX || operand == MIN ||
            (c->op->discrete >> i & 1) != 0) {
            continue;
        }
        for (size_t e = 0; e < c->op->elements; e++) {
            double got[MAX_RANKS];
            double parts[MAX_RANKS];
            bool smooth = true;
            for (int r = 0; r < c->n; r++) {
                smooth = smooth && derive(c->op, &in->at[r], has.of[r], i, e, &got[r]) &&
                         derive(c->op, &in->meaning[r], mean.of[r], i, e, &parts[r]);
            }
            if (smooth && !gradient_fits(operand, c->n, got, parts)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- the claims ---- */

/* A type fails on an input: the value is wrong, or a gradient. */
typedef enum failure { NONE, OF_VALUE, OF_GRADIENT } failure;

static failure fails(const combination *c, kind result, int64_t k, input *in)
{
    lists got;
    lists wanted;
    make_input(c, k, in);
    if (!run_both(c, in, &got, &wanted)) {
        return NONE;
    }
    if (!means(c, result, &got, &wanted)) {
        return OF_VALUE;
    }
    const int64_t stride = c->inputs / GRADIENT_INPUTS + 1;
    return k % stride == 0 && !gradients_fit(c, result, in, k) ? OF_GRADIENT : NONE;
}

static failure find_failure(const combination *c, kind result, input *in, int64_t *tried)
{
    for (int64_t k = 0; k < c->inputs; k++) {
        const failure f = fails(c, result, k, in);
        (*tried)++;
        if (f != NONE) {
            return f;
        }
    }
    return NONE;
}

static void print_combination(const combination *c)
{
    printf("  %s(", c->op->name);
    for (size_t i = 0; i < c->op->arity; i++) {
        printf("%s%s", i > 0 ? ", " : "", names[c->kinds[i]]);
    }
    printf(")");
}

static void print_input(const combination *c, const input *in)
{
    for (size_t i = 0; i < c->op->arity; i++) {
        printf(" [");
        for (int r = 0; r < (is_shared(c->kinds[i]) ? 1 : c->n); r++) {
            for (size_t e = 0; e < c->op->elements; e++) {
                printf("%s%g", e > 0 ? "," : r > 0 ? " | " : "", in->at[r].of[i][e]);
            }
        }
        printf("]");
    }
}

/* What was covered. */
typedef struct totals {
    int64_t accepted;
    int64_t refused;
    int64_t refused_for_gradients;
    int64_t stricter;
    int64_t inputs;
    int64_t broken;
} totals;

static bool has_kind(const combination *c, bool (*which)(kind))
{
    for (size_t i = 0; i < c->op->arity; i++) {
        if (which(c->kinds[i])) {
            return true;
        }
    }
    return false;
}

static bool is_extreme(kind k)
{
    return k == MAX || k == MIN;
}

/* Errors that may be stricter than need be: I is mixed, but not among what has a gradient. */
static bool may_be_stricter(const combination *c)
{
    bool invariant[2] = {false, false};
    bool other[2] = {false, false};
    for (size_t i = 0; i < c->op->arity; i++) {
        const unsigned chooses = c->op->discrete >> i & 1;
        invariant[chooses] = invariant[chooses] || c->kinds[i] == I;
        other[chooses] = other[chooses] || (c->kinds[i] != I && c->kinds[i] != NUMBER);
    }
    const bool mixed = (invariant[0] || invariant[1]) && (other[0] || other[1]);
    return has_kind(c, is_extreme) || (mixed && !(invariant[0] && other[0]));
}

static void expect_sound(combination *c, kind result, totals *t)
{
    for (c->n = 1; c->n <= MAX_RANKS; c->n++) {
        input in;
        choose_inputs(c);
        const failure f = find_failure(c, result, &in, &t->inputs);
        if (f != NONE) {
            print_combination(c);
            printf(" -> %s is unsound: the %s of", names[result],
                   f == OF_VALUE ? "value" : "gradient");
            print_input(c, &in);
            printf("\n");
            t->broken++;
        }
    }
    t->accepted++;
}

/* A type that the result might have must fail; the input is printed for the likeliest one. */
static failure refute(combination *c, kind result, bool print, totals *t)
{
    failure f = NONE;
    input in;
    for (c->n = 2; c->n <= MAX_RANKS && f == NONE; c->n++) {
        choose_inputs(c);
        f = find_failure(c, result, &in, &t->inputs);
        if (f != NONE && print) {
            print_combination(c);
            printf(" refused: as %s the %s is wrong for", names[result],
                   f == OF_VALUE ? "value" : "gradient");
            print_input(c, &in);
            printf("\n");
        }
    }
    return f;
}

/* The type that would be guessed: what is pending, else V, else R. */
static kind guess(const combination *c)
{
    kind best = R;
    for (size_t i = 0; i < c->op->arity; i++) {
        best =
            is_pending(c->kinds[i]) || (c->kinds[i] == V && !is_pending(best)) ? c->kinds[i] : best;
    }
    return best;
}

static void expect_necessary(combination *c, totals *t)
{
    const bool extremes = has_kind(c, is_extreme);
    const bool sorted =
        c->op->arity < 3 || (c->kinds[0] <= c->kinds[1] && c->kinds[1] <= c->kinds[2]);
    bool needed = true;
    for (kind result = R; result < NUMBER && needed; result++) {
        if (result == guess(c) || (is_extreme(result) && !extremes)) {
            continue;
        }
        needed = refute(c, result, false, t) != NONE;
    }
    const failure f = needed ? refute(c, guess(c), sorted, t) : NONE;
    if (f != NONE) {
        t->refused++;
        t->refused_for_gradients += f == OF_GRADIENT;
    } else if (may_be_stricter(c)) {
        t->stricter++;
    } else {
        print_combination(c);
        printf(" is refused without need\n");
        t->broken++;
    }
}

/* ---- the checker ---- */

typedef struct bench {
    fixture *f;
    const tsr_mesh *mesh;
    const tsr_type *types[NUMBER];
} bench;

static const tsr_axis_type axis_types[] = {
    [R] = {TSR_R, TSR_SUM},   [I] = {TSR_I, TSR_SUM},   [V] = {TSR_V, TSR_SUM},
    [SUM] = {TSR_P, TSR_SUM}, [AVG] = {TSR_P, TSR_AVG}, [MAX] = {TSR_P, TSR_MAX},
    [MIN] = {TSR_P, TSR_MIN}};

/* The type of a result, NUM_KINDS when the call is refused. */
static kind infer(const bench *b, const combination *c)
{
    tsr_typed_shape operands[LOCAL_ARITY] = {{0}};
    const tsr_type *result = NULL;
    local_op state = *c->op;
    for (size_t i = 0; i < c->op->arity; i++) {
        operands[i].type = c->kinds[i] == NUMBER ? NULL : b->types[c->kinds[i]];
    }
    const tsr_typed_call call = {.name = c->op->name,
                                 .mesh = b->mesh,
                                 .num_operands = c->op->arity,
                                 .operands = operands,
                                 .class_of = local_class_of,
                                 .state = &state,
                                 .no_fixes = true};
    const tsr_status status = tsr_type_infer(b->f->ctx, b->f->arena, &call, &result);
    tsr_context_clear(b->f->ctx);
    for (kind k = R; status == TSR_OK && k < NUMBER; k++) {
        const tsr_axis_type type = tsr_type_axis(result, 0);
        if (type.kind == axis_types[k].kind && type.partial == axis_types[k].partial) {
            return k;
        }
    }
    return NUM_KINDS;
}

/* ---- the table ---- */

/* The rows of the document's table, and what each column says: x refused, - there is none. */
enum { NUM_ROWS = 10 };
static const struct {
    const char *text;
    const char *verdicts; /* nonlinear, linear, multilinear, division; ? depends on the order */
} rows[NUM_ROWS] = {{"all R", "RRRR"},          {"all I", "IIII"},    {"V, or R with V", "VVVV"},
                    {"I with R, V, P", "xxxx"}, {"P with V", "xxxx"}, {"P alone", "xPP-"},
                    {"P, P", "xPxx"},           {"P, R", "xxP?"},     {"P, R, R", "xxP-"},
                    {"P, number", "xxP?"}};

static int row_of(const combination *c)
{
    int n[NUM_KINDS] = {0};
    const int arity = (int)c->op->arity;
    for (int i = 0; i < arity; i++) {
        n[c->kinds[i]]++;
    }
    const int typed = arity - n[NUMBER];
    if (n[AVG] + n[MAX] + n[MIN] > 0) {
        return -1;
    }
    return n[I] == typed             ? 1
           : n[I] > 0                ? 3
           : n[R] == typed           ? 0
           : n[SUM] == 0             ? 2
           : n[V] > 0                ? 4
           : arity == 1              ? 5
           : n[SUM] == arity         ? 6
           : arity == 2 && n[R] == 1 ? 7
           : n[R] == 2               ? 8
           : n[NUMBER] == arity - 1  ? 9
                                     : -1;
}

/* The cells that were met, and whether the checker says what the document does. */
static void check_cell(const combination *c, kind result, int64_t cells[NUM_ROWS][NUM_COLUMNS],
                       totals *t)
{
    const int row = row_of(c);
    const bool chooses = c->op->discrete != 0 && c->op->discrete != 7;
    if (row < 0 || chooses) {
        return;
    }
    char wanted = rows[row].verdicts[c->op->column];
    if (wanted == '?') {
        wanted = c->kinds[0] == SUM ? 'P' : 'x';
    }
    const char got = result == NUM_KINDS ? 'x' : names[result][0];
    cells[row][c->op->column]++;
    if (got != wanted) {
        print_combination(c);
        printf(": %c where the table says %c\n", got, wanted);
        t->broken++;
    }
}

static void print_table(int64_t cells[NUM_ROWS][NUM_COLUMNS])
{
    printf("%-18s%14s%14s%14s%14s\n", "operands", "nonlinear", "linear", "multilinear", "a / b");
    for (int r = 0; r < NUM_ROWS; r++) {
        printf("%-18s", rows[r].text);
        for (int k = 0; k < NUM_COLUMNS; k++) {
            printf("%8c (%3lld)", rows[r].verdicts[k], (long long)cells[r][k]);
        }
        printf("\n");
    }
}

/* ---- everything ---- */

static bool next_kinds(combination *c)
{
    for (size_t i = 0; i < c->op->arity; i++) {
        if (++c->kinds[i] < NUM_KINDS) {
            return true;
        }
        c->kinds[i] = R;
    }
    return false;
}

static bool is_typed(kind k)
{
    return k != NUMBER;
}

static void prove_op(const bench *b, const local_op *op, int64_t cells[NUM_ROWS][NUM_COLUMNS],
                     totals *t)
{
    combination c = {.op = op};
    do {
        if (!has_kind(&c, is_typed)) {
            continue;
        }
        const kind result = infer(b, &c);
        check_cell(&c, result, cells, t);
        if (result < NUM_KINDS) {
            expect_sound(&c, result, t);
        } else {
            expect_necessary(&c, t);
        }
    } while (next_kinds(&c));
}

static void rules_are_sound_and_errors_necessary(void **state)
{
    bench b = {.f = *state, .mesh = mesh_of(*state, "<[\"tp\"=2]>")};
    int64_t cells[NUM_ROWS][NUM_COLUMNS] = {{0}};
    totals t = {0};
    for (kind k = R; k < NUMBER; k++) {
        assert_int_equal(tsr_type_uniform(b.f->ctx, b.f->arena, b.mesh, axis_types[k], &b.types[k]),
                         TSR_OK);
    }
    for (size_t i = 0; i < local_ops_count; i++) {
        const totals before = t;
        prove_op(&b, &local_ops[i], cells, &t);
        printf("%-16s accepted %3lld, refused %3lld (gradients %3lld), stricter %3lld, inputs "
               "%lld\n",
               local_ops[i].name, (long long)(t.accepted - before.accepted),
               (long long)(t.refused - before.refused),
               (long long)(t.refused_for_gradients - before.refused_for_gradients),
               (long long)(t.stricter - before.stricter), (long long)(t.inputs - before.inputs));
    }
    print_table(cells);
    printf("%lld combinations accepted and sound, %lld refused with counterexamples (%lld of them "
           "in gradients), %lld stricter than need be; %lld inputs\n",
           (long long)t.accepted, (long long)t.refused, (long long)t.refused_for_gradients,
           (long long)t.stricter, (long long)t.inputs);
    assert_int_equal(t.broken, 0);
    for (int r = 0; r < NUM_ROWS; r++) {
        for (int k = 0; k < NUM_COLUMNS; k++) {
            assert_true(cells[r][k] > 0 || rows[r].verdicts[k] == '-');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(rules_are_sound_and_errors_necessary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

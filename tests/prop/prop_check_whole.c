/*
 * Bodies that mean a program on whole tensors: each value is whole on all devices, rows of it,
 * columns of it, or a share of a sum, and the test knows which and compares with the whole program.
 * A check must infer exactly that, and report nothing but the results that are declared replicated
 * although they are not. Then a step that is wrong is added, and must be found.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "random.h"

enum { MAX_ITEMS = 20, MAX_BYTES = 1 << 16 };

typedef enum kind { WHOLE, ROWS, COLUMNS, SHARE, NUM_KINDS } kind;

typedef struct item {
    kind kind;
    bool is_sure; /* of a share: a product was contracted */
    matrix whole;
    matrix parts[MAX_DEVICES];
} item;

typedef struct body {
    rng *r;
    int64_t num_devices;
    int64_t side; /* of whole matrices */
    size_t count;
    item items[MAX_ITEMS];
    char *text;
    int size;
} body;

static void put(body *b, const char *format, ...) TSR_PRINTF(2, 3);

static void put(body *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    b->size += vsnprintf(b->text + b->size, MAX_BYTES - (size_t)b->size, format, arguments);
    va_end(arguments);
    assert_true(b->size < MAX_BYTES);
}

static void put_type(body *b, int64_t rows, int64_t columns)
{
    put(b, "tensor<%" PRId64 "x%" PRId64 "xi64>", rows, columns);
}

static void put_item_type(body *b, const item *a)
{
    put_type(b, a->parts[0].rows, a->parts[0].columns);
}

/* ---- what devices have ---- */

/* The part of a whole matrix that a device has: all of it, or two rows or columns. */
static matrix part_of(const body *b, const matrix *whole, kind as, int64_t device)
{
    matrix part = {.rows = as == ROWS ? 2 : b->side, .columns = as == COLUMNS ? 2 : b->side};
    for (int64_t i = 0; i < part.rows; i++) {
        for (int64_t k = 0; k < part.columns; k++) {
            part.at[i][k] =
                whole->at[i + (as == ROWS ? 2 * device : 0)][k + (as == COLUMNS ? 2 * device : 0)];
        }
    }
    return part;
}

static matrix sum_of_parts(const body *b, const item *a)
{
    matrix sum = a->parts[0];
    for (int64_t d = 1; d < b->num_devices; d++) {
        for (int64_t i = 0; i < b->side; i++) {
            for (int64_t k = 0; k < b->side; k++) {
                sum.at[i][k] += a->parts[d].at[i][k];
            }
        }
    }
    return sum;
}

/* An item is what the test takes it to be. */
static void insist_meaning(const body *b, const item *a)
{
    const matrix sum = a->kind == SHARE ? sum_of_parts(b, a) : a->whole;
    assert_true(matrix_equal(&sum, &a->whole));
    for (int64_t d = 0; a->kind != SHARE && d < b->num_devices; d++) {
        const matrix part = part_of(b, &a->whole, a->kind, d);
        assert_true(matrix_equal(&part, &a->parts[d]));
    }
}

/* ---- steps ---- */

/* What comes of two kinds: NUM_KINDS where that means nothing. */
typedef struct step_row {
    const char *name;
    matrix_op op;
    bool is_binary;
    kind made[NUM_KINDS][NUM_KINDS]; /* of one operand: the first column */
} step_row;

#define NO NUM_KINDS
static const step_row steps[] = {
    {"add",
     matrix_add,
     true,
     {{WHOLE, NO, NO, NO}, {NO, ROWS, NO, NO}, {NO, NO, COLUMNS, NO}, {NO, NO, NO, SHARE}}},
    {"multiply",
     matrix_multiply,
     true,
     {{WHOLE, NO, NO, SHARE}, {NO, ROWS, NO, NO}, {NO, NO, COLUMNS, NO}, {SHARE, NO, NO, NO}}},
    {"not", matrix_invert, false, {{WHOLE}, {ROWS}, {COLUMNS}, {NO}}},
    {"transpose", matrix_transpose, false, {{WHOLE}, {COLUMNS}, {ROWS}, {SHARE}}},
    {"dot_general",
     matrix_dot,
     true,
     {{WHOLE, NO, COLUMNS, SHARE}, {ROWS, NO, NO, NO}, {NO, SHARE, NO, NO}, {SHARE, NO, NO, NO}}},
};
enum { NUM_STEPS = sizeof steps / sizeof steps[0] };

static void put_step(body *b, const step_row *row, size_t u, size_t v)
{
    put(b, "%%v%zu = stablehlo.%s %%v%zu", b->count, row->name, u);
    if (row->is_binary) {
        put(b, ", %%v%zu", v);
    }
    if (row->op == matrix_transpose) {
        put(b, ", dims = [1, 0]");
    } else if (row->op == matrix_dot) {
        put(b, ", contracting_dims = [1] x [0]");
    }
    put(b, " : (");
    put_item_type(b, &b->items[u]);
    if (row->is_binary) {
        put(b, ", ");
        put_item_type(b, &b->items[v]);
    }
    put(b, ") -> ");
    put_item_type(b, &b->items[b->count]);
    put(b, "\n");
}

/* Adds a step that means something; false when it does not on these operands. */
static bool try_step(body *b, const step_row *row, size_t u, size_t v)
{
    const item *x = &b->items[u];
    const item *y = &b->items[v];
    item *made = &b->items[b->count];
    *made = (item){.kind = row->made[x->kind][row->is_binary ? y->kind : 0]};
    if (made->kind == NO) {
        return false;
    }
    const bool contracts = row->op == matrix_dot && x->kind == COLUMNS;
    made->is_sure = contracts || ((x->kind != SHARE || x->is_sure) &&
                                  (!row->is_binary || y->kind != SHARE || y->is_sure));
    made->whole = row->op(&x->whole, &y->whole);
    for (int64_t d = 0; d < b->num_devices; d++) {
        made->parts[d] = row->op(&x->parts[d], &y->parts[d]);
    }
    put_step(b, row, u, v);
    b->count++;
    return true;
}

/* ---- collectives and sums over rows ---- */

static void put_groups(body *b)
{
    put(b, "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = "
           "dense<[[0");
    for (int64_t d = 1; d < b->num_devices; d++) {
        put(b, ", %" PRId64, d);
    }
    put(b, "]]> : tensor<1x%" PRId64 "xi64>, use_global_device_ids}>", b->num_devices);
}

static void put_sum_region(body *b)
{
    put(b, " ({\n^bb0(%%p: tensor<i64>, %%q: tensor<i64>):\n%%s = stablehlo.add %%p, %%q : "
           "tensor<i64>\nstablehlo.return %%s : tensor<i64>\n})");
}

/* Reduces a share, whole or to rows or columns; gathers rows or columns. */
static bool try_collective(body *b, size_t u, kind to)
{
    const item *x = &b->items[u];
    item *made = &b->items[b->count];
    const bool gathers = to == WHOLE && (x->kind == ROWS || x->kind == COLUMNS);
    if (!gathers && (x->kind != SHARE || to == SHARE)) {
        return false;
    }
    *made = (item){.kind = to, .is_sure = true, .whole = x->whole};
    for (int64_t d = 0; d < b->num_devices; d++) {
        made->parts[d] = part_of(b, &x->whole, to, d);
    }
    put(b, "%%v%zu = \"stablehlo.%s\"(%%v%zu) <{", b->count,
        gathers       ? "all_gather"
        : to == WHOLE ? "all_reduce"
                      : "reduce_scatter",
        u);
    if (gathers) {
        put(b, "all_gather_dim = %d : i64, ", x->kind == ROWS ? 0 : 1);
    } else if (to != WHOLE) {
        put(b, "scatter_dimension = %d : i64, ", to == ROWS ? 0 : 1);
    }
    put_groups(b);
    if (!gathers) {
        put_sum_region(b);
    }
    put(b, " : (");
    put_item_type(b, x);
    put(b, ") -> ");
    put_item_type(b, made);
    put(b, "\n");
    b->count++;
    return true;
}

/* Sums over rows, repeated as often as a whole matrix has rows: of rows that is a share. */
static matrix sum_rows(const body *b, const matrix *a)
{
    matrix c = {.rows = b->side, .columns = a->columns};
    for (int64_t i = 0; i < c.rows; i++) {
        for (int64_t n = 0; n < a->rows; n++) {
            for (int64_t k = 0; k < c.columns; k++) {
                c.at[i][k] += a->at[n][k];
            }
        }
    }
    return c;
}

static void add_row_sum(body *b, size_t u)
{
    const item *x = &b->items[u];
    item *made = &b->items[b->count];
    *made = (item){.kind = x->kind == ROWS ? SHARE : x->kind,
                   .is_sure = x->kind == SHARE && x->is_sure,
                   .whole = sum_rows(b, &x->whole)};
    for (int64_t d = 0; d < b->num_devices; d++) {
        made->parts[d] = sum_rows(b, &x->parts[d]);
    }
    put(b,
        "%%s%zu = stablehlo.reduce(%%v%zu init: %%zero) applies stablehlo.add across dimensions "
        "= [0] : (",
        b->count, u);
    put_item_type(b, x);
    put(b, ", tensor<i64>) -> tensor<%" PRId64 "xi64>\n", x->parts[0].columns);
    put(b, "%%v%zu = stablehlo.broadcast_in_dim %%s%zu, dims = [1] : (tensor<%" PRId64 "xi64>) -> ",
        b->count, b->count, x->parts[0].columns);
    put_item_type(b, made);
    put(b, "\n");
    b->count++;
}

/* ---- bodies ---- */

static size_t pick(body *b)
{
    return (size_t)rng_below(b->r, (int64_t)b->count);
}

static void add_random(body *b)
{
    const size_t before = b->count;
    while (b->count == before) {
        const int64_t which = rng_below(b->r, NUM_STEPS + 2);
        if (which < NUM_STEPS) {
            (void)try_step(b, &steps[which], pick(b), pick(b));
        } else if (which == NUM_STEPS) {
            (void)try_collective(b, pick(b), (kind)rng_below(b->r, SHARE));
        } else {
            add_row_sum(b, pick(b));
        }
    }
}

/* An item of a kind, the last one; count: none. */
static size_t find_last(const body *b, kind wanted)
{
    for (size_t i = b->count; i-- > 0;) {
        if (b->items[i].kind == wanted && (wanted != SHARE || b->items[i].is_sure)) {
            return i;
        }
    }
    return b->count;
}

/* A step that is wrong, if there are operands for it; the name of its rule. */
static const char *add_mistake(body *b)
{
    const size_t share = find_last(b, SHARE);
    const size_t whole = find_last(b, WHOLE);
    const bool adds = rng_chance(b->r, 50);
    if (share == b->count || whole == b->count) {
        return NULL;
    }
    b->items[b->count] = b->items[share];
    b->items[b->count].kind = NO;
    put_step(b, &steps[adds ? 0 : 2], share, whole);
    b->count++;
    return adds ? "pending-plus-replicated" : "pending-in-nonlinear";
}

static void put_head(body *b)
{
    static const char *const shardings[] = {"[{}, {}]", "[{\"x\"}, {}]", "[{}, {\"x\"}]"};
    put(b, "sdy.mesh @m = <[\"x\"=%" PRId64 "]>\nfunc.func public @main(", b->num_devices);
    for (int k = 0; k < 3; k++) {
        put(b, "%s%%g%d: ", k > 0 ? ", " : "", k);
        put_type(b, b->side, b->side);
    }
    put(b, ") {\n%%r:%d = sdy.manual_computation(%%g0, %%g1, %%g2) in_shardings=[", MAX_ITEMS);
    for (int k = 0; k < 3; k++) {
        put(b, "%s<@m, %s>", k > 0 ? ", " : "", shardings[k]);
    }
    put(b, "] out_shardings=[");
    for (int i = 0; i < MAX_ITEMS; i++) {
        put(b, "%s<@m, [{}, {}]>", i > 0 ? ", " : "");
    }
    put(b, "] manual_axes={\"x\"} (");
    for (size_t k = 0; k < 3; k++) {
        put(b, "%s%%v%zu: ", k > 0 ? ", " : "", k);
        put_item_type(b, &b->items[k]);
    }
    put(b, ") {\n%%zero = stablehlo.constant dense<0> : tensor<i64>\n");
}

static void put_tail(body *b)
{
    for (int i = 0; i < MAX_ITEMS; i++) {
        put(b, "%s%%v%d", i > 0 ? ", " : "sdy.return ", i);
    }
    for (int i = 0; i < MAX_ITEMS; i++) {
        put(b, "%s", i > 0 ? ", " : " : ");
        put_item_type(b, &b->items[i]);
    }
    for (int k = 0; k < 3; k++) {
        put(b, "%s", k > 0 ? ", " : "\n} : (");
        put_type(b, b->side, b->side);
    }
    for (int i = 0; i < MAX_ITEMS; i++) {
        put(b, "%s", i > 0 ? ", " : ") -> (");
        put_item_type(b, &b->items[i]);
    }
    put(b, ")\nreturn\n}\n");
}

/* A body; the name of the rule that its last step breaks, or NULL. */
static const char *make_body(body *b)
{
    b->num_devices = 2 + rng_below(b->r, 2);
    b->side = 2 * b->num_devices;
    for (size_t k = 0; k < 3; k++) {
        item *a = &b->items[b->count++];
        *a = (item){.kind = (kind)k, .is_sure = true};
        a->whole = (matrix){.rows = b->side, .columns = b->side};
        for (int64_t i = 0; i < b->side * b->side; i++) {
            a->whole.at[i / b->side][i % b->side] = (uint64_t)rng_below(b->r, 1000);
        }
        for (int64_t d = 0; d < b->num_devices; d++) {
            a->parts[d] = part_of(b, &a->whole, a->kind, d);
        }
    }
    put_head(b);
    while (b->count < MAX_ITEMS - 1) {
        add_random(b);
        insist_meaning(b, &b->items[b->count - 1]);
    }
    const char *mistake = add_mistake(b);
    if (mistake == NULL) {
        add_random(b);
    }
    put_tail(b);
    return mistake;
}

/* ---- the property ---- */

static tsr_ir_op find_return(const tsr_program *p)
{
    const tsr_ir_op func = tsr_program_symbol(p, "main");
    const tsr_ir_op manual =
        tsr_ir_block_first_op(p, tsr_ir_region_first_block(p, tsr_ir_op_region(p, func, 0)));
    return tsr_ir_block_last_op(p, tsr_ir_region_first_block(p, tsr_ir_op_region(p, manual, 0)));
}

/* The kind that the findings say a value is; columns and rows are both parts. */
static kind kind_said(const tsr_findings *findings, tsr_ir_value value)
{
    for (size_t i = 0; i < findings->count; i++) {
        const tsr_finding *f = &findings->list[i];
        if (f->value == value && strncmp(f->message, "result", 6) == 0) {
            return strstr(f->message, "is a sum") != NULL ? SHARE : ROWS;
        }
    }
    return WHOLE;
}

static size_t count_rule(const tsr_findings *findings, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++) {
        count += strcmp(findings->list[i].rule->name, name) == 0;
    }
    return count;
}

static void compare(const body *b, const tsr_program *p, const tsr_findings *found,
                    const char *mistake, int64_t *tally)
{
    static const char *const rules[] = {"pending-in-nonlinear", "pending-plus-replicated",
                                        "needless-collective", "divergent-collective"};
    const tsr_ir_op last = find_return(p);
    for (size_t i = 0; i < MAX_ITEMS; i++) {
        const kind wanted = b->items[i].kind == COLUMNS ? ROWS : b->items[i].kind;
        const kind said = kind_said(found, tsr_ir_op_operand(p, last, i));
        if (wanted != NO && said != wanted) {
            print_error("%%v%zu is of kind %d, not %d:\n%s", i, (int)wanted, (int)said, b->text);
        }
        assert_true(wanted == NO || said == wanted);
        tally[b->items[i].kind]++;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const bool wanted = mistake != NULL && strcmp(mistake, rules[i]) == 0;
        if (count_rule(found, rules[i]) != wanted) {
            print_error("%s found %zu times:\n%s", rules[i], count_rule(found, rules[i]), b->text);
        }
        assert_int_equal(count_rule(found, rules[i]), wanted);
    }
}

static void what_is_meant_is_inferred(void **state)
{
    fixture *f = *state;
    rng start = rng_start("prop_check_whole");
    int64_t tally[NUM_KINDS + 1] = {0};
    body *b = malloc(sizeof *b);
    char *text = malloc(MAX_BYTES);
    assert_true(b != NULL && text != NULL);
    for (int64_t n = 0; n < prop_cases(2000); n++) {
        rng r = rng_case(&start, (uint64_t)n);
        tsr_program *program = NULL;
        tsr_findings findings = {0};
        *b = (body){.r = &r, .text = text};
        const char *mistake = make_body(b);
        const tsr_text given = tsr_text_of("body.mlir", text);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        if (tsr_program_read(f->ctx, &given, 0, &program) < 0) {
            print_error("%s\n%s", tsr_context_diagnostics(f->ctx)->text, text);
        }
        assert_non_null(program);
        assert_int_equal(tsr_check_program(f->ctx, f->arena, program, NULL, &findings), TSR_OK);
        compare(b, program, &findings, mistake, tally);
        tsr_program_destroy(program);
        tsr_arena_reset(f->arena, mark);
    }
    print_message("%" PRId64 " whole, %" PRId64 " rows, %" PRId64 " columns, %" PRId64
                  " shares, %" PRId64 " mistakes\n",
                  tally[WHOLE], tally[ROWS], tally[COLUMNS], tally[SHARE], tally[NO]);
    assert_true(tally[SHARE] > tally[WHOLE] / 10 && tally[NO] > tally[SHARE] / 20);
    free(text);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(what_is_meant_is_inferred)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

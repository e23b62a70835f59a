/*
 * Writes random uses of ops with random shardings, and what one-op propagation makes of them:
 * `one_op COUNT basic|aggressive plain|conservative|priorities PROGRAM SHARDINGS`. A line of
 * SHARDINGS is the name of a function of PROGRAM, the op, the kinds of the case (conflict, split,
 * overflow, ..), and the shardings of operands and results afterwards. one_op.sh compares them with
 * the reference's. After COUNT uses of each op, uses of rare kinds are drawn until there are
 * enough.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "factor/project.h"
#include "use.h"

/* A use of an op, and what propagation makes of it. */
typedef struct result {
    sharded_use u;
    const tsr_sharding *after[USE_TENSORS];
} result;

/* What is asked for. */
typedef struct request {
    tsr_strategy strategy;
    use_limits limits;
} request;

/* ---- faults ---- */

static bool is_planted(const char *fault)
{
    const char *planted = getenv("TSR_PLANT");
    return planted != NULL && strcmp(planted, fault) == 0;
}

/* The same sharding with its priorities in reverse. */
static const tsr_sharding *reverse_priorities(fixture *f, const tsr_sharding *s)
{
    tsr_sharding copy = *s;
    tsr_dim *dims = arena_copy(f->arena, s->dims, s->rank, sizeof *dims);
    const tsr_sharding *out = NULL;
    assert_non_null(dims);
    for (size_t d = 0; d < s->rank; d++) {
        dims[d].priority = dims[d].priority >= 0 ? 3 - dims[d].priority : dims[d].priority;
    }
    copy.dims = dims;
    assert_int_equal(sharding_build_trusted(f->ctx, f->arena, &copy, &out), TSR_OK);
    return out;
}

/* A fault that TSR_PLANT names, to see that it is found: each changes few of the answers. */
static void plant_fault(fixture *f, const sharded_use *u, tsr_propagation *op,
                        tsr_direction *directions, const tsr_sharding **before)
{
    const size_t last = tsr_rule_num_factors(u->rule);
    if (is_planted("direction")) {
        op->direction = TSR_DIRECTION_FORWARD;
    }
    if (is_planted("factor") && last > 0) {
        memset(directions, 0, last * sizeof *directions);
        directions[last - 1] = TSR_DIRECTION_NONE;
        op->directions = directions;
    }
    if (is_planted("strategy")) {
        op->strategy = TSR_STRATEGY_MOST_PARALLEL;
    }
    if (is_planted("tie")) {
        op->elementwise = !op->elementwise;
    }
    if (is_planted("conservative")) {
        op->conservative = !op->conservative;
    }
    if (is_planted("priority")) {
        for (size_t t = 0; t < u->num_tensors; t++) {
            before[t] = u->before[t] != NULL ? reverse_priorities(f, u->before[t]) : NULL;
        }
        op->operands = before;
        op->results = before + u->num_operands;
    }
}

static void propagate(fixture *f, const request *q, result *r)
{
    enum { MAX_FACTORS = 64 };
    tsr_propagation op = use_propagation(&r->u, q->strategy);
    tsr_direction directions[MAX_FACTORS];
    const tsr_sharding *before[USE_TENSORS];
    assert_true(tsr_rule_num_factors(r->u.rule) <= MAX_FACTORS);
    plant_fault(f, &r->u, &op, directions, before);
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, r->after, r->after + r->u.num_operands),
                     TSR_OK);
}

/* `<@m7, [{"a", ?}]>` */
static const char *text_of(fixture *f, const tsr_sharding *s, const char *mesh)
{
    const char *bare = sharding_bare(f, s);
    char *text = tsr_arena_alloc(f->arena, strlen(bare) + strlen(mesh) + 8);
    assert_non_null(text);
    (void)sprintf(text, "<@%s, %s>", mesh, bare);
    return text;
}

/* ---- the program ---- */

static void print_program(fixture *f, const sharded_use *u, const char *name, const char *mesh,
                          FILE *file)
{
    const char *arguments[INSTANCE_OPERANDS] = {NULL};
    char *attribute = NULL;
    size_t size = 0;
    FILE *results = open_memstream(&attribute, &size);
    assert_non_null(results);
    for (size_t t = 0; t < u->num_operands; t++) {
        if (u->before[t] != NULL) {
            arguments[t] = text_of(f, u->before[t], mesh);
        }
    }
    if (u->before[u->num_operands] != NULL) {
        (void)fputs("sdy.sharding = #sdy.sharding_per_value<[", results);
        for (size_t t = u->num_operands; t < u->num_tensors; t++) {
            (void)fprintf(results, "%s%s", t > u->num_operands ? ", " : "",
                          text_of(f, u->before[t], mesh));
        }
        (void)fputs("]>", results);
    }
    (void)fclose(results);
    (void)fprintf(file, "  sdy.mesh @%s = %s\n", mesh, strchr(mesh_text(f, u->mesh), '<'));
    instance_print_with(file, &u->i, name, arguments, attribute);
    free(attribute);
}

/* ---- kinds of cases ---- */

typedef enum kind {
    KIND_UNCHANGED,
    KIND_CHANGED,
    KIND_GIVEN, /* decisions, in the order of tsr_decision_kind */
    KIND_CONFLICT,
    KIND_TAKEN,
    KIND_REPLICATED,
    KIND_CLOSED,
    KIND_INDIVISIBLE,
    KIND_SPLIT,        /* a tensor gets a part of an axis that no tensor had before */
    KIND_OVERFLOW,     /* axes of a dimension do not divide its major factor */
    KIND_UNEVEN,       /* a tensor gets axes that do not divide its extent */
    KIND_PASS_THROUGH, /* sharded factors, in the order of tsr_factor_kind */
    KIND_REDUCTION,
    KIND_NEED_REPLICATION,
    KIND_PERMUTATION,
    KIND_BLOCKED,
    KIND_PRIORITY, /* some dimension has to wait */
    NUM_KINDS
} kind;

static const char *const kind_names[NUM_KINDS] = {
    "unchanged", "changed",          "given",       "conflict",       "taken",   "replicated",
    "closed",    "indivisible",      "split",       "overflow",       "uneven",  "pass-through",
    "reduction", "need-replication", "permutation", "blocked-factor", "priority"};

/* What is rare, of which there shall be enough. */
static const kind rare[] = {KIND_CONFLICT,         KIND_TAKEN,   KIND_REPLICATED, KIND_CLOSED,
                            KIND_INDIVISIBLE,      KIND_SPLIT,   KIND_OVERFLOW,   KIND_UNEVEN,
                            KIND_NEED_REPLICATION, KIND_BLOCKED, KIND_PERMUTATION};
enum { NUM_RARE = sizeof rare / sizeof rare[0], ENOUGH = 120, MAX_DRAWN = 1000000 };

static bool has_axis(const tsr_sharding *s, tsr_axis_ref axis)
{
    bool has = false;
    for (size_t d = 0; s != NULL && d < s->rank; d++) {
        for (size_t k = 0; k < s->dims[d].num_axes; k++) {
            has = has || tsr_axis_equal(s->dims[d].axes[k], axis);
        }
    }
    return has;
}

/* Whether a dimension has a part of an axis that no tensor had before. */
static bool is_split(const sharded_use *u, const tsr_dim *dim)
{
    for (size_t k = 0; k < dim->num_axes; k++) {
        bool had = dim->axes[k].is_sub == 0;
        for (size_t t = 0; !had && t < u->num_tensors; t++) {
            had = has_axis(u->before[t], dim->axes[k]);
        }
        if (!had) {
            return true;
        }
    }
    return false;
}

/* Kinds of what became of each tensor. */
static void find_changes(const result *r, bool *kinds)
{
    for (size_t t = 0; t < r->u.num_tensors; t++) {
        const tsr_sharding *after = r->after[t];
        const size_t operands = r->u.num_operands;
        const op_type *type = t < operands ? &r->u.i.operands[t] : &r->u.i.results[t - operands];
        if (after == r->u.before[t]) {
            continue;
        }
        kinds[KIND_CHANGED] = true;
        for (size_t d = 0; d < after->rank; d++) {
            const int64_t shards = tsr_sharding_num_shards(after, d);
            kinds[KIND_SPLIT] = kinds[KIND_SPLIT] || is_split(&r->u, &after->dims[d]);
            kinds[KIND_UNEVEN] = kinds[KIND_UNEVEN] || type->shape[d] % shards != 0;
        }
    }
    kinds[KIND_UNCHANGED] = !kinds[KIND_CHANGED];
}

/* Kinds of what the shardings are, by factors. */
static void find_factors(fixture *f, const sharded_use *u, bool *kinds)
{
    const visit_op op = {.rule = u->rule};
    projection p;
    assert_int_equal(project(f->ctx, f->arena, &op, u->mesh, u->before, &p), TSR_OK);
    for (size_t t = 0; t < u->num_tensors; t++) {
        for (size_t g = 0; g < u->rule->num_factors; g++) {
            const factor_state *state = &p.tensors[t].factors[g];
            const tsr_factor *factor = &u->rule->factors[g];
            if (state->present && state->axes.count > 0) {
                kinds[KIND_PASS_THROUGH + (int)factor->kind] = true;
                kinds[KIND_BLOCKED] = kinds[KIND_BLOCKED] || factor->blocked;
            }
            kinds[KIND_OVERFLOW] =
                kinds[KIND_OVERFLOW] || (state->present && state->overflow.count > 0);
        }
        for (size_t d = 0; u->before[t] != NULL && d < u->before[t]->rank; d++) {
            kinds[KIND_PRIORITY] = kinds[KIND_PRIORITY] || u->before[t]->dims[d].priority > 0;
        }
    }
}

/* All kinds of a case; what is planted does not count. */
static void find_kinds(fixture *f, const request *q, const sharded_use *u, bool *kinds)
{
    tsr_decisions decisions = {0};
    tsr_propagation op = use_propagation(u, q->strategy);
    result r = {.u = *u};
    memset(kinds, 0, NUM_KINDS * sizeof *kinds);
    op.decisions = &decisions;
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, r.after, r.after + u->num_operands),
                     TSR_OK);
    for (size_t k = 0; k < decisions.count; k++) {
        kinds[KIND_GIVEN + (int)decisions.list[k].kind] = true;
    }
    find_changes(&r, kinds);
    find_factors(f, u, kinds);
}

/* ---- writing ---- */

typedef struct writing {
    fixture *f;
    request q;
    FILE *program;
    FILE *file;
    rng base;
    uint64_t drawn;
    size_t number;
    size_t counts[NUM_KINDS];
} writing;

static void write_one(writing *w, result *r, const bool *kinds)
{
    char name[32];
    char mesh[32];
    const char *comma = "";
    (void)snprintf(name, sizeof name, "c%zu", w->number);
    (void)snprintf(mesh, sizeof mesh, "m%zu", w->number++);
    propagate(w->f, &w->q, r);
    print_program(w->f, &r->u, name, mesh, w->program);
    (void)fprintf(w->file, "%s\t%s\t", name, r->u.i.row->name);
    for (size_t k = 0; k < NUM_KINDS; k++) {
        if (kinds[k]) {
            (void)fprintf(w->file, "%s%s", comma, kind_names[k]);
            comma = ",";
            w->counts[k]++;
        }
    }
    for (size_t t = 0; t < r->u.num_tensors; t++) {
        (void)fprintf(w->file, "\t%s",
                      r->after[t] != NULL ? text_of(w->f, r->after[t], mesh) : "none");
    }
    (void)fputs("\n", w->file);
}

/* Whether there is not enough of a kind. Conservative propagation splits no axis. */
static bool is_missing(const writing *w, kind k)
{
    return w->counts[k] < ENOUGH && !(k == KIND_SPLIT && w->q.limits.conservative);
}

/* Whether a case has a rare kind of which there is not enough yet. */
static bool is_wanted(const writing *w, const bool *kinds)
{
    for (size_t i = 0; i < NUM_RARE; i++) {
        if (kinds[rare[i]] && is_missing(w, rare[i])) {
            return true;
        }
    }
    return false;
}

/* Draws a use and writes it; `only_rare`: if it is of a kind that is wanted. */
static bool draw_one(writing *w, const op_row *row, bool only_rare)
{
    rng r = rng_case(&w->base, w->drawn++);
    const tsr_arena_mark mark = tsr_arena_get_mark(w->f->arena);
    result one;
    bool kinds[NUM_KINDS];
    bool written = false;
    if (use_draw(w->f, row, w->q.limits, &r, &one.u)) {
        find_kinds(w->f, &w->q, &one.u, kinds);
        written = !only_rare || is_wanted(w, kinds);
        if (written) {
            write_one(w, &one, kinds);
        }
    }
    tsr_arena_reset(w->f->arena, mark);
    return written;
}

static bool is_compared(const op_row *row)
{
    return row->dialect == OP_STABLEHLO && row->rule != NULL && row->types != NULL;
}

static bool has_enough(const writing *w)
{
    for (size_t i = 0; i < NUM_RARE; i++) {
        if (is_missing(w, rare[i])) {
            return false;
        }
    }
    return true;
}

static void write_all(writing *w, size_t each)
{
    for (size_t k = 0; k < op_count(); k++) {
        for (size_t n = 0; is_compared(op_at(k)) && n < each;) {
            n += draw_one(w, op_at(k), false) ? 1 : 0;
        }
    }
    for (size_t k = 0; !has_enough(w) && w->drawn < MAX_DRAWN; k = (k + 1) % op_count()) {
        if (is_compared(op_at(k))) {
            (void)draw_one(w, op_at(k), true);
        }
    }
}

int main(int argc, char **argv)
{
    void *state = NULL;
    writing w = {0};
    if (argc != 6 || !tsr_strategy_find(argv[2], &w.q.strategy)) {
        (void)fprintf(stderr, "usage: one_op COUNT basic|aggressive plain|conservative|priorities "
                              "PROGRAM SHARDINGS\n");
        return 2;
    }
    w.q.limits = (use_limits){.conservative = strcmp(argv[3], "conservative") == 0,
                              .priorities = strcmp(argv[3], "priorities") == 0};
    w.program = fopen(argv[4], "w");
    w.file = fopen(argv[5], "w");
    if (w.program == NULL || w.file == NULL || fixture_setup(&state) != 0) {
        (void)fprintf(stderr, "one_op: cannot write %s or %s\n", argv[4], argv[5]);
        return 2;
    }
    w.f = state;
    w.base = rng_start("one_op");
    (void)fputs("module {\n  func.func @main() {\n    return\n  }\n", w.program);
    write_all(&w, (size_t)strtoul(argv[1], NULL, 10));
    (void)fputs("}\n", w.program);
    (void)fixture_teardown(&state);
    return fclose(w.program) != 0 || fclose(w.file) != 0;
}

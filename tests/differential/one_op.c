/*
 * Writes random uses of ops with random shardings, and what one-op propagation makes of them:
 * `one_op COUNT basic|aggressive plain|conservative PROGRAM SHARDINGS`. A line of SHARDINGS is the
 * name of a function of PROGRAM, the op, what the case has (conflict, sub-axis, overflow, ..), and
 * the shardings of operands and results afterwards. one_op.sh compares them with the reference's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "instance.h"

enum { TENSORS = INSTANCE_OPERANDS + INSTANCE_RESULTS };

/* One case: a use of an op, its mesh and the shardings of its tensors, operands first. */
typedef struct sharded_use {
    instance i;
    const tsr_rule *rule;
    const tsr_mesh *mesh;
    size_t num_operands;
    size_t num_tensors;
    const tsr_sharding *before[TENSORS]; /* NULL for none */
    const tsr_sharding *after[TENSORS];
} sharded_use;

static const tsr_mesh *draw_mesh(fixture *f, rng *r)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const int64_t sizes[] = {2, 2, 3, 4, 4, 6, 8, 16};
    const size_t count = 1 + (size_t)rng_below(r, 4);
    int64_t drawn[4];
    const tsr_mesh *mesh = NULL;
    for (size_t k = 0; k < count; k++) {
        drawn[k] = sizes[rng_below(r, 8)];
    }
    const tsr_mesh_spec spec = {
        .name = "mesh", .num_axes = count, .axis_names = names, .axis_sizes = drawn};
    assert_int_equal(tsr_mesh_create(f->ctx, f->arena, &spec, &mesh), TSR_OK);
    return mesh;
}

/* Axes and sub-axes of a mesh, in any order: each axis whole, or cut in two or three. */
static size_t draw_pieces(rng *r, const tsr_mesh *mesh, tsr_axis_ref *pieces)
{
    size_t count = 0;
    for (size_t a = 0; a < tsr_mesh_num_axes(mesh); a++) {
        const int64_t size = tsr_mesh_axis_size(mesh, a);
        const bool cut = rng_chance(r, 35);
        int64_t pre = 1;
        while (pre < size) {
            int64_t part = size / pre;
            for (int64_t divisor = 2; cut && divisor < part; divisor++) {
                if (part % divisor == 0 && rng_chance(r, 60)) {
                    part = divisor;
                }
            }
            pieces[count] = tsr_axis_full(mesh, a);
            if (part != size) {
                pieces[count] = (tsr_axis_ref){(int32_t)a, 1, pre, part};
            }
            count++;
            pre *= part;
        }
    }
    for (size_t k = count; k > 1; k--) {
        const size_t other = (size_t)rng_below(r, (int64_t)k);
        const tsr_axis_ref kept = pieces[k - 1];
        pieces[k - 1] = pieces[other];
        pieces[other] = kept;
    }
    return count;
}

/* A sharding without priorities, as the two passes see them: pieces go to dimensions, to the
 * replicated or the pending axes, or nowhere. */
static const tsr_sharding *draw_sharding(fixture *f, rng *r, const tsr_mesh *mesh, size_t rank)
{
    enum { MOST_DIMS_HERE = 12, MOST_PIECES = 24 };
    tsr_axis_ref pieces[MOST_PIECES];
    tsr_axis_ref lists[MOST_DIMS_HERE + 2][MOST_PIECES];
    size_t counts[MOST_DIMS_HERE + 2] = {0};
    tsr_dim dims[MOST_DIMS_HERE];
    const tsr_sharding *out = NULL;
    const size_t count = draw_pieces(r, mesh, pieces);
    const bool explicit_lists = rng_chance(r, 30);
    const int open = 25 * (int)rng_below(r, 5);
    assert_true(rank <= MOST_DIMS_HERE && count <= MOST_PIECES);
    for (size_t k = 0; k < count; k++) {
        size_t to = rank + 2; /* nowhere */
        if (rank > 0 && rng_chance(r, 60)) {
            to = (size_t)rng_below(r, (int64_t)rank);
        } else if (explicit_lists) {
            to = rank + (size_t)rng_below(r, 3);
        }
        if (to < rank + 2) {
            lists[to][counts[to]++] = pieces[k];
        }
    }
    for (size_t d = 0; d < rank; d++) {
        dims[d] = tsr_dim_closed(lists[d], counts[d]);
        dims[d].open = rng_chance(r, open);
    }
    const tsr_sharding_spec spec = {.mesh = mesh,
                                    .rank = rank,
                                    .dims = dims,
                                    .num_replicated = counts[rank],
                                    .replicated = lists[rank],
                                    .num_unreduced = counts[rank + 1],
                                    .unreduced = lists[rank + 1]};
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &out),
                     TSR_OK);
    return out;
}

static const op_type *tensor_at(const sharded_use *u, size_t t)
{
    return t < u->num_operands ? &u->i.operands[t] : &u->i.results[t - u->num_operands];
}

/* Shardings for some tensors; if one result has one, all have, as a list of them must. */
static void draw_shardings(fixture *f, rng *r, sharded_use *u)
{
    const int percent = 30 + 20 * (int)rng_below(r, 4);
    bool results = false;
    for (size_t t = 0; t < u->num_tensors; t++) {
        const op_type *type = tensor_at(u, t);
        const bool given = rng_chance(r, percent);
        u->before[t] = given ? draw_sharding(f, r, u->mesh, type->rank) : NULL;
        results = results || (given && t >= u->num_operands);
    }
    for (size_t t = u->num_operands; results && t < u->num_tensors; t++) {
        if (u->before[t] == NULL) {
            assert_int_equal(tsr_sharding_replicated_over(f->ctx, f->arena, u->mesh,
                                                          tensor_at(u, t)->rank, true,
                                                          &u->before[t]),
                             TSR_OK);
        }
    }
}

static bool draw_use(fixture *f, const op_row *row, bool conservative, rng *r, sharded_use *u)
{
    u->rule = NULL;
    if (!instance_draw(f, row, r, &u->i)) {
        return false;
    }
    instance_forget_facts(&u->i);
    u->i.facts.conservative = conservative;
    const op_request request = instance_request(f, &u->i);
    if (op_find_rule(&request, u->i.results, f->arena, &u->rule) != TSR_OK) {
        return false;
    }
    u->num_operands = u->i.num_operands;
    u->num_tensors = u->num_operands + op_num_results(row, u->num_operands);
    u->mesh = draw_mesh(f, r);
    draw_shardings(f, r, u);
    return true;
}

static void propagate(fixture *f, const char *strategy, sharded_use *u)
{
    tsr_propagation op = {.rule = u->rule,
                          .mesh = u->mesh,
                          .conservative = u->i.facts.conservative,
                          .elementwise = (u->i.row->traits & OP_ELEMENTWISE) != 0,
                          .operands = u->before,
                          .results = u->before + u->num_operands};
    assert_true(tsr_strategy_find(strategy, &op.strategy));
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, u->after, u->after + u->num_operands),
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

static void print_program(fixture *f, sharded_use *u, const char *name, const char *mesh,
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

/* ---- what is in a case ---- */

static bool has_sub_axis(const tsr_sharding *s)
{
    for (size_t d = 0; s != NULL && d < tsr_sharding_rank(s); d++) {
        const tsr_dim *dim = tsr_sharding_dim(s, d);
        for (size_t k = 0; k < dim->num_axes; k++) {
            if (dim->axes[k].is_sub != 0) {
                return true;
            }
        }
    }
    return false;
}

/* The kinds of a case, for counting: what changed, whether sub-axes came up, decisions taken. */
static void print_kinds(fixture *f, const char *strategy, const sharded_use *u, FILE *file)
{
    static const char *const names[] = {"given",      "conflict", "taken",
                                        "replicated", "closed",   "indivisible"};
    bool seen[6] = {false};
    const tsr_sharding *again[TENSORS];
    tsr_decisions decisions = {0};
    tsr_propagation op = {.rule = u->rule,
                          .mesh = u->mesh,
                          .conservative = u->i.facts.conservative,
                          .elementwise = (u->i.row->traits & OP_ELEMENTWISE) != 0,
                          .operands = u->before,
                          .results = u->before + u->num_operands,
                          .decisions = &decisions};
    bool changed = false;
    bool sub_axis = false;
    assert_true(tsr_strategy_find(strategy, &op.strategy));
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, again, again + u->num_operands), TSR_OK);
    for (size_t k = 0; k < decisions.count; k++) {
        seen[decisions.list[k].kind] = true;
    }
    for (size_t t = 0; t < u->num_tensors; t++) {
        changed = changed || u->after[t] != u->before[t];
        sub_axis = sub_axis || (u->after[t] != u->before[t] && has_sub_axis(u->after[t]));
    }
    (void)fputs(changed ? "changed" : "unchanged", file);
    (void)fputs(sub_axis ? ",sub-axis" : "", file);
    for (size_t k = 0; k < 6; k++) {
        if (seen[k]) {
            (void)fprintf(file, ",%s", names[k]);
        }
    }
}

static void write_one(fixture *f, const char *strategy, sharded_use *u, size_t number,
                      FILE *program, FILE *file)
{
    char name[32];
    char mesh[32];
    (void)snprintf(name, sizeof name, "c%zu", number);
    (void)snprintf(mesh, sizeof mesh, "m%zu", number);
    propagate(f, strategy, u);
    print_program(f, u, name, mesh, program);
    (void)fprintf(file, "%s\t%s\t", name, u->i.row->name);
    print_kinds(f, strategy, u, file);
    for (size_t t = 0; t < u->num_tensors; t++) {
        (void)fprintf(file, "\t%s", u->after[t] != NULL ? text_of(f, u->after[t], mesh) : "none");
    }
    (void)fputs("\n", file);
}

int main(int argc, char **argv)
{
    void *state = NULL;
    if (argc != 6) {
        (void)fprintf(stderr, "usage: one_op COUNT basic|aggressive plain|conservative PROGRAM "
                              "SHARDINGS\n");
        return 2;
    }
    const size_t each = (size_t)strtoul(argv[1], NULL, 10);
    const bool conservative = strcmp(argv[3], "conservative") == 0;
    FILE *program = fopen(argv[4], "w");
    FILE *file = fopen(argv[5], "w");
    if (program == NULL || file == NULL || fixture_setup(&state) != 0) {
        (void)fprintf(stderr, "one_op: cannot write %s or %s\n", argv[4], argv[5]);
        return 2;
    }
    fixture *f = state;
    const rng base = rng_start("one_op");
    size_t number = 0;
    uint64_t drawn = 0;
    (void)fputs("module {\n  func.func @main() {\n    return\n  }\n", program);
    for (size_t k = 0; k < op_count(); k++) {
        const op_row *row = op_at(k);
        if (row->dialect != OP_STABLEHLO || row->rule == NULL) {
            continue;
        }
        for (size_t n = 0; n < each;) {
            rng r = rng_case(&base, drawn++);
            const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
            sharded_use u;
            if (draw_use(f, row, conservative, &r, &u)) {
                write_one(f, argv[2], &u, number++, program, file);
                n++;
            }
            tsr_arena_reset(f->arena, mark);
        }
    }
    (void)fputs("}\n", program);
    (void)fixture_teardown(&state);
    return fclose(program) != 0 || fclose(file) != 0;
}

/*
 * The rules of ops, proved on small meshes: for every placement of the operands, what
 * tsr_propagate_local says is held against running the op on each device's part and putting the
 * results together. What it allows must be right. What it refuses is tried against every layout of
 * the result; placements that would have been right are counted, and there are as many as the table
 * says: none for products, elementwise ops, reductions, transposes and broadcasts.
 */
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { MOST_RANK = 3, MOST_ELEMENTS = 256, MOST_OPERANDS = 2, NUM_CUTS = 5, DEVICES = 6 };

/* A small array of integers. */
typedef struct array {
    size_t rank;
    int64_t shape[MOST_RANK];
    int64_t data[MOST_ELEMENTS];
} array;

static int64_t count_of(const array *a)
{
    int64_t count = 1;
    for (size_t i = 0; i < a->rank; i++) {
        count *= a->shape[i];
    }
    return count;
}

/* The index of an element, by its place. */
static void index_at(const array *a, int64_t place, int64_t *index)
{
    for (size_t i = a->rank; i-- > 0;) {
        index[i] = place % a->shape[i];
        place /= a->shape[i];
    }
}

static int64_t place_of(const array *a, const int64_t *index)
{
    int64_t place = 0;
    for (size_t i = 0; i < a->rank; i++) {
        place = place * a->shape[i] + index[i];
    }
    return place;
}

/* An op: its operands' shapes, its rule, and what it does to arrays; false when it is not defined.
 */
typedef struct op {
    const char *name;
    size_t num_operands;
    tsr_extents operands[MOST_OPERANDS];
    tsr_status (*rule)(fixture *f, const struct op *o, const tsr_rule **out);
    bool (*apply)(const struct op *o, const array *const *in, array *out);
    int64_t refused; /* placements that would be right, and the rule refuses */
} op;

#define SHAPE(...)                                                                                 \
    {                                                                                              \
        sizeof((int64_t[]){__VA_ARGS__}) / 8, (const int64_t[])                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static tsr_status matmul_rule(fixture *f, const op *o, const tsr_rule **out)
{
    return tsr_rule_matmul(f->ctx, f->arena, o->operands[0], o->operands[1], out);
}

static bool matmul(const op *o, const array *const *in, array *out)
{
    const array *a = in[0];
    const array *b = in[1];
    (void)o;
    if (a->shape[1] != b->shape[0]) {
        return false;
    }
    *out = (array){.rank = 2, .shape = {a->shape[0], b->shape[1]}};
    for (int64_t i = 0; i < a->shape[0]; i++) {
        for (int64_t j = 0; j < b->shape[1]; j++) {
            for (int64_t k = 0; k < a->shape[1]; k++) {
                out->data[i * b->shape[1] + j] +=
                    a->data[i * a->shape[1] + k] * b->data[k * b->shape[1] + j];
            }
        }
    }
    return true;
}

static tsr_status add_rule(fixture *f, const op *o, const tsr_rule **out)
{
    return tsr_rule_elementwise(f->ctx, f->arena, 2, o->operands[0], out);
}

/* Not linear, so that nothing pending could pass for right. */
static bool multiply_add(const op *o, const array *const *in, array *out)
{
    (void)o;
    if (memcmp(in[0]->shape, in[1]->shape, sizeof in[0]->shape) != 0) {
        return false;
    }
    *out = *in[0];
    for (int64_t i = 0; i < count_of(out); i++) {
        out->data[i] = in[0]->data[i] * in[1]->data[i] + 7;
    }
    return true;
}

static tsr_status reduce_rule(fixture *f, const op *o, const tsr_rule **out)
{
    return tsr_rule_reduce(f->ctx, f->arena, o->operands[0], (size_t[]){1}, 1, out);
}

static bool sum_second(const op *o, const array *const *in, array *out)
{
    const array *a = in[0];
    (void)o;
    *out = (array){.rank = 2, .shape = {a->shape[0], a->shape[2]}};
    for (int64_t i = 0; i < count_of(a); i++) {
        int64_t at[MOST_RANK] = {0};
        index_at(a, i, at);
        out->data[at[0] * a->shape[2] + at[2]] += a->data[i];
    }
    return true;
}

static const size_t turned[] = {2, 0, 1};

static tsr_status transpose_rule(fixture *f, const op *o, const tsr_rule **out)
{
    return tsr_rule_transpose(f->ctx, f->arena, o->operands[0], turned, out);
}

static bool transpose(const op *o, const array *const *in, array *out)
{
    const array *a = in[0];
    (void)o;
    *out = (array){.rank = 3};
    for (size_t d = 0; d < 3; d++) {
        out->shape[d] = a->shape[turned[d]];
    }
    for (int64_t i = 0; i < count_of(a); i++) {
        int64_t at[MOST_RANK] = {0};
        int64_t to[MOST_RANK] = {0};
        index_at(a, i, at);
        for (size_t d = 0; d < 3; d++) {
            to[d] = at[turned[d]];
        }
        out->data[place_of(out, to)] = a->data[i];
    }
    return true;
}

static const int64_t grown[] = {4, 6};

static tsr_status broadcast_rule(fixture *f, const op *o, const tsr_rule **out)
{
    return tsr_rule_broadcast(f->ctx, f->arena, o->operands[0], (tsr_extents){2, grown}, NULL, out);
}

/* A row to as many rows as there are; the local op is asked for the rows of a whole result. */
static bool broadcast(const op *o, const array *const *in, array *out)
{
    const array *a = in[0];
    (void)o;
    *out = (array){.rank = 2, .shape = {grown[0], a->shape[0]}};
    for (int64_t i = 0; i < count_of(out); i++) {
        out->data[i] = a->data[i % a->shape[0]];
    }
    return true;
}

static const int64_t merged[] = {24};
static const int64_t split[] = {4, 6};

static tsr_status merge_rule(fixture *f, const op *o, const tsr_rule **out)
{
    return tsr_rule_reshape(f->ctx, f->arena, o->operands[0], (tsr_extents){1, merged}, out);
}

static bool merge(const op *o, const array *const *in, array *out)
{
    (void)o;
    *out = *in[0];
    out->rank = 1;
    out->shape[0] = count_of(in[0]);
    return true;
}

static tsr_status split_rule(fixture *f, const op *o, const tsr_rule **out)
{
    return tsr_rule_reshape(f->ctx, f->arena, o->operands[0], (tsr_extents){2, split}, out);
}

/*
 * The local shape of a split is what the result's layout gives a device: tried for every layout by
 * the caller, which sets it before.
 */
static bool reshape_to(const op *o, const array *const *in, array *out)
{
    (void)o;
    const array shape = *out;
    if (count_of(&shape) != count_of(in[0])) {
        return false;
    }
    memcpy(out->data, in[0]->data, sizeof out->data);
    return true;
}

static tsr_status running_sum_rule(fixture *f, const op *o, const tsr_rule **out)
{
    return tsr_rule_cumulative(f->ctx, f->arena, o->operands[0], 1, out);
}

static bool running_sum(const op *o, const array *const *in, array *out)
{
    (void)o;
    *out = *in[0];
    for (int64_t i = 0; i < count_of(out); i++) {
        if (i % out->shape[1] > 0) {
            out->data[i] += out->data[i - 1];
        }
    }
    return true;
}

static tsr_status concatenate_rule(fixture *f, const op *o, const tsr_rule **out)
{
    return tsr_rule_concatenate(f->ctx, f->arena, o->operands, 2, 0, out);
}

static bool concatenate(const op *o, const array *const *in, array *out)
{
    (void)o;
    if (in[0]->shape[1] != in[1]->shape[1]) {
        return false;
    }
    *out = *in[0];
    out->shape[0] += in[1]->shape[0];
    memcpy(out->data + count_of(in[0]), in[1]->data, (size_t)count_of(in[1]) * sizeof *out->data);
    return true;
}

/* Even and uneven extents on axes of 2 and 3. A split is refused nowhere that it would be right. */
static const op ops[] = {
    {"matmul", 2, {SHAPE(6, 6), SHAPE(6, 6)}, matmul_rule, matmul, 0},
    {"matmul, uneven", 2, {SHAPE(5, 7), SHAPE(7, 4)}, matmul_rule, matmul, 0},
    {"elementwise", 2, {SHAPE(6, 5), SHAPE(6, 5)}, add_rule, multiply_add, 0},
    {"reduce", 1, {SHAPE(4, 6, 5)}, reduce_rule, sum_second, 0},
    {"transpose", 1, {SHAPE(4, 6, 5)}, transpose_rule, transpose, 0},
    {"broadcast", 1, {SHAPE(6)}, broadcast_rule, broadcast, 0},
    {"merge", 1, {SHAPE(4, 6)}, merge_rule, merge, 0},
    {"merge, uneven", 1, {SHAPE(3, 8)}, merge_rule, merge, 0},
    {"split", 1, {SHAPE(24)}, split_rule, reshape_to, 0},
    {"running sum", 1, {SHAPE(4, 6)}, running_sum_rule, running_sum, 0},
    {"concatenate", 2, {SHAPE(2, 6), SHAPE(4, 6)}, concatenate_rule, concatenate, 0},
};

/* What a dimension can be cut by. */
static const char *const cuts[NUM_CUTS] = {"{}", "{\"x\"}", "{\"y\"}", "{\"x\", \"y\"}",
                                           "{\"y\", \"x\"}"};
static const char mesh_text_of_all[] = "<[\"x\"=2, \"y\"=3]>";

/* The sharding with the i-th choice of cuts; NULL when an axis would stand twice. */
static const tsr_sharding *sharding_at(fixture *f, const tsr_mesh *mesh, size_t rank, int64_t i)
{
    char text[128] = "[";
    int uses[2] = {0};
    for (size_t d = 0; d < rank; d++, i /= NUM_CUTS) {
        const char *cut = cuts[i % NUM_CUTS];
        uses[0] += strchr(cut, 'x') != NULL;
        uses[1] += strchr(cut, 'y') != NULL;
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", d > 0 ? ", " : "",
                       cut);
    }
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "]");
    return uses[0] > 1 || uses[1] > 1 ? NULL : sharding_of(f, mesh, text);
}

static int64_t num_choices(size_t rank)
{
    int64_t count = 1;
    for (size_t d = 0; d < rank; d++) {
        count *= NUM_CUTS;
    }
    return count;
}

/* The part of an array that a device holds. */
static void take_part(fixture *f, const array *full, const tsr_sharding *s, int64_t device,
                      array *part)
{
    int64_t start[MOST_RANK];
    const tsr_geometry *g = geometry_of(f, s, full->rank, full->shape);
    *part = (array){.rank = full->rank};
    (void)tsr_geometry_box(g, device, start, part->shape);
    for (int64_t i = 0; i < count_of(part); i++) {
        int64_t at[MOST_RANK] = {0};
        index_at(part, i, at);
        for (size_t d = 0; d < full->rank; d++) {
            at[d] += start[d];
        }
        part->data[i] = full->data[place_of(full, at)];
    }
}

/* Adds what a device has to the whole, once for each group that has something pending. */
static void add_part(fixture *f, array *full, const tsr_sharding *s, int64_t device,
                     const array *part)
{
    int64_t start[MOST_RANK];
    int64_t size[MOST_RANK];
    (void)tsr_geometry_box(geometry_of(f, s, full->rank, full->shape), device, start, size);
    for (int64_t i = 0; i < count_of(part); i++) {
        int64_t at[MOST_RANK] = {0};
        index_at(part, i, at);
        for (size_t d = 0; d < full->rank; d++) {
            at[d] += start[d];
        }
        full->data[place_of(full, at)] += part->data[i];
    }
}

/* Whether a device is the first of those that hold the same, pending axes not counted. */
static bool speaks(const tsr_sharding *s, int64_t device)
{
    size_t num_pending;
    const tsr_axis_ref *pending = tsr_sharding_unreduced(s, &num_pending);
    const int64_t coordinates[2] = {device / 3, device % 3};
    for (int32_t axis = 0; axis < 2; axis++) {
        bool used = false;
        for (size_t d = 0; d < tsr_sharding_rank(s); d++) {
            const tsr_dim *dim = tsr_sharding_dim(s, d);
            for (size_t i = 0; i < dim->num_axes; i++) {
                used = used || dim->axes[i].axis == axis;
            }
        }
        for (size_t i = 0; i < num_pending; i++) {
            used = used || pending[i].axis == axis;
        }
        if (!used && coordinates[axis] != 0) {
            return false;
        }
    }
    return true;
}

/* A case: the op, its operands in full, and what should come out. */
typedef struct proof {
    fixture *f;
    const op *o;
    const tsr_mesh *mesh;
    array in[MOST_OPERANDS];
    array want;
} proof;

/* Whether running the op on parts gives the whole in a layout. */
static bool is_right(proof *p, const tsr_sharding *const *operands, const tsr_sharding *result)
{
    array whole = p->want;
    memset(whole.data, 0, sizeof whole.data);
    const tsr_geometry *g = geometry_of(p->f, result, whole.rank, whole.shape);
    for (int64_t device = 0; device < DEVICES; device++) {
        static array parts[MOST_OPERANDS];
        static array out;
        const array *in[MOST_OPERANDS] = {&parts[0], &parts[1]};
        int64_t start[MOST_RANK];
        int64_t size[MOST_RANK];
        for (size_t i = 0; i < p->o->num_operands; i++) {
            take_part(p->f, &p->in[i], operands[i], device, &parts[i]);
        }
        (void)tsr_geometry_box(g, device, start, size);
        out = (array){.rank = whole.rank};
        memcpy(out.shape, size, whole.rank * sizeof *size);
        if (!p->o->apply(p->o, in, &out) ||
            memcmp(out.shape, size, whole.rank * sizeof *size) != 0) {
            return false;
        }
        if (speaks(result, device)) {
            add_part(p->f, &whole, result, device, &out);
        }
    }
    return memcmp(whole.data, p->want.data, (size_t)count_of(&whole) * sizeof *whole.data) == 0;
}

/* Whether some layout of the result, with the axes that it leaves pending or not, is right. */
static bool could_be_right(proof *p, const tsr_sharding *const *operands)
{
    static const char *const pendings[] = {"", ", unreduced={\"x\"}", ", unreduced={\"y\"}",
                                           ", unreduced={\"x\", \"y\"}"};
    for (int64_t i = 0; i < num_choices(p->want.rank); i++) {
        const tsr_sharding *plain = sharding_at(p->f, p->mesh, p->want.rank, i);
        if (plain == NULL) {
            continue;
        }
        for (size_t k = 0; k < sizeof pendings / sizeof pendings[0]; k++) {
            char text[256];
            const tsr_sharding *s = NULL;
            (void)snprintf(text, sizeof text, "%s%s", sharding_bare(p->f, plain), pendings[k]);
            if (tsr_sharding_parse(p->f->ctx, p->f->arena, p->mesh, text, &s) != TSR_OK) {
                tsr_context_clear(p->f->ctx);
                continue;
            }
            if (is_right(p, operands, s)) {
                return true;
            }
        }
    }
    return false;
}

static void set_up(proof *p)
{
    for (size_t i = 0; i < p->o->num_operands; i++) {
        const tsr_extents *shape = &p->o->operands[i];
        p->in[i] = (array){.rank = shape->rank};
        memcpy(p->in[i].shape, shape->sizes, shape->rank * sizeof *shape->sizes);
        for (int64_t k = 0; k < count_of(&p->in[i]); k++) {
            p->in[i].data[k] = (k * 37 + (int64_t)i * 11) % 101 + 1;
        }
    }
    const array *in[MOST_OPERANDS] = {&p->in[0], &p->in[1]};
    p->want = (array){.rank = 2, .shape = {split[0], split[1]}}; /* for the op that reads it */
    assert_true(p->o->apply(p->o, in, &p->want));
}

/* Counts of one op. */
typedef struct tally {
    int64_t placements;
    int64_t allowed;
    int64_t refused; /* and would be right */
} tally;

static void prove_placement(proof *p, const tsr_rule *rule, const tsr_sharding *const *operands,
                            tally *t)
{
    const tsr_sharding *result = NULL;
    const tsr_status status =
        tsr_propagate_local(p->f->ctx, p->f->arena, rule, p->mesh, operands, TSR_SUM, &result);
    t->placements++;
    if (status == TSR_OK) {
        t->allowed++;
        if (!is_right(p, operands, result)) {
            fail_msg("%s: %s and %s give %s, which is wrong", p->o->name,
                     sharding_bare(p->f, operands[0]),
                     p->o->num_operands > 1 ? sharding_bare(p->f, operands[1]) : "nothing",
                     sharding_bare(p->f, result));
        }
        return;
    }
    assert_int_equal(status, TSR_NOT_APPLICABLE);
    if (could_be_right(p, operands)) {
        t->refused++;
        print_message("  refused and right: %s %s\n", sharding_bare(p->f, operands[0]),
                      p->o->num_operands > 1 ? sharding_bare(p->f, operands[1]) : "");
    }
}

static void prove(fixture *f, const op *o)
{
    proof p = {.f = f, .o = o, .mesh = mesh_of(f, mesh_text_of_all)};
    const tsr_rule *rule = NULL;
    tally t = {0};
    set_up(&p);
    assert_int_equal(o->rule(f, o, &rule), TSR_OK);
    const int64_t first = num_choices(o->operands[0].rank);
    const int64_t second = o->num_operands > 1 ? num_choices(o->operands[1].rank) : 1;
    for (int64_t i = 0; i < first * second; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const tsr_sharding *operands[MOST_OPERANDS] = {
            sharding_at(f, p.mesh, o->operands[0].rank, i % first),
            o->num_operands > 1 ? sharding_at(f, p.mesh, o->operands[1].rank, i / first) : NULL};
        if (operands[0] != NULL && (o->num_operands == 1 || operands[1] != NULL)) {
            prove_placement(&p, rule, operands, &t);
        }
        tsr_arena_reset(f->arena, mark);
    }
    print_message("%s: %lld placements, %lld allowed, %lld refused and right\n", o->name,
                  (long long)t.placements, (long long)t.allowed, (long long)t.refused);
    assert_int_equal(t.refused, o->refused);
    assert_true(t.allowed > 0);
}

static void rules_are_proved(void **state)
{
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        prove(*state, &ops[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(rules_are_proved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

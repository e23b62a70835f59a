/*
 * The rules of ops, proved on small meshes: for every placement of the operands, what
 * tsr_propagate_local says is held against running the op on each device's part and putting the
 * results together. What it allows must be right. What it refuses is tried against every layout of
 * the result; placements that would have been right are those of tests/golden/rules_refused.txt,
 * and there are none for products, elementwise ops, reductions, transposes and broadcasts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "small_ops.h"

enum { NUM_CUTS = 5, MAX_DEVICES = 6, MAX_LAYOUTS = 32, NUM_PENDINGS = 4, NUM_FILLINGS = 3 };

/* A mesh of two parts, which are axes or sub-axes of one axis. */
typedef struct small_mesh {
    const char *name;
    const char *text;
    const char *parts[2];
    int64_t sizes[2];
    const char *cuts[NUM_CUTS]; /* what a dimension can be cut by: none, the parts, both */
    const char *pendings[NUM_PENDINGS];
} small_mesh;

static const small_mesh meshes[] = {
    {"2x3",
     "<[\"x\"=2, \"y\"=3]>",
     {"x", "y"},
     {2, 3},
     {"{}", "{\"x\"}", "{\"y\"}", "{\"x\", \"y\"}", "{\"y\", \"x\"}"},
     {"", ", unreduced={\"x\"}", ", unreduced={\"y\"}", ", unreduced={\"x\", \"y\"}"}},
    {"4",
     "<[\"x\"=4]>",
     {"x:(1)2", "x:(2)2"},
     {2, 2},
     {"{}", "{\"x\":(1)2}", "{\"x\":(2)2}", "{\"x\"}", "{\"x\":(2)2, \"x\":(1)2}"},
     {"", ", unreduced={\"x\":(1)2}", ", unreduced={\"x\":(2)2}", ", unreduced={\"x\"}"}},
};

/* A sharding of a tensor, and what it says of each device. */
typedef struct layout {
    const tsr_sharding *sharding;
    int64_t start[MAX_DEVICES][SMALL_RANK];
    int64_t shape[MAX_DEVICES][SMALL_RANK];
    bool pending[2]; /* by part of the mesh */
} layout;

/* All layouts of an operand, with the parts of every device. */
typedef struct placed {
    size_t count;
    layout layouts[MAX_LAYOUTS];
    small_array parts[MAX_LAYOUTS][MAX_DEVICES];
} placed;

/* Numbers for the operands, in all layouts, and what should come out. */
typedef struct example {
    placed operands[SMALL_OPERANDS];
    small_array want;
} example;

/* An op on a mesh. What is right is so for several examples, not for the numbers of one. */
typedef struct proof {
    fixture *f;
    const small_op *o;
    const small_mesh *on;
    const tsr_mesh *mesh;
    const tsr_rule *rule;
    int64_t num_devices;
    example *examples; /* NUM_FILLINGS of them */
    size_t num_results;
    layout results[MAX_LAYOUTS];
    FILE *refused;
} proof;

/* Counts of one op. */
typedef struct tally {
    int64_t placements;
    int64_t allowed;
    int64_t refused; /* and would be right */
} tally;

static void fill_layout(const proof *p, const tsr_sharding *s, tsr_extents shape, layout *l)
{
    size_t num_pending;
    const tsr_axis_ref *pending = tsr_sharding_unreduced(s, &num_pending);
    const tsr_geometry *g = geometry_of(p->f, s, shape.rank, shape.sizes);
    *l = (layout){.sharding = s};
    for (int64_t device = 0; device < p->num_devices; device++) {
        (void)tsr_geometry_box(g, device, l->start[device], l->shape[device]);
    }
    for (size_t part = 0; part < 2; part++) {
        const tsr_axis_ref axis = axis_of(p->mesh, p->on->parts[part]);
        l->pending[part] = tsr_axes_overlap(&axis, 1, pending, num_pending);
    }
}

/* All layouts of a shape with something pending, or nothing. */
static size_t find_layouts(const proof *p, tsr_extents shape, const char *pending, layout *to)
{
    size_t count = 0;
    int64_t choices = 1;
    for (size_t d = 0; d < shape.rank; d++) {
        choices *= NUM_CUTS;
    }
    for (int64_t i = 0; i < choices; i++) {
        char text[256] = "[";
        const tsr_sharding *s = NULL;
        int64_t rest = i;
        for (size_t d = 0; d < shape.rank; d++, rest /= NUM_CUTS) {
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                           d > 0 ? ", " : "", p->on->cuts[rest % NUM_CUTS]);
        }
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "]%s", pending);
        if (tsr_sharding_parse(p->f->ctx, p->f->arena, p->mesh, text, &s) != TSR_OK) {
            tsr_context_clear(p->f->ctx); /* an axis twice */
            continue;
        }
        assert_true(count < MAX_LAYOUTS);
        fill_layout(p, s, shape, &to[count++]);
    }
    return count;
}

/* A part's place and shape; the elements are 0. */
static small_array part_of(const small_array *whole, const layout *l, int64_t device)
{
    small_array part = {.rank = whole->rank};
    memcpy(part.full, whole->full, sizeof part.full);
    memcpy(part.start, l->start[device], sizeof part.start);
    memcpy(part.shape, l->shape[device], sizeof part.shape);
    return part;
}

/* The element of the whole that is at a place of a part. */
static int64_t element_of(const small_array *whole, const small_array *part, int64_t place)
{
    int64_t at[SMALL_RANK] = {0};
    small_index(part, place, at);
    for (size_t d = 0; d < part->rank; d++) {
        at[d] += part->start[d];
    }
    return whole->data[small_place(whole, at)];
}

static small_array whole_of(tsr_extents shape)
{
    small_array a = {.rank = shape.rank};
    for (size_t d = 0; d < shape.rank; d++) {
        a.shape[d] = shape.sizes[d];
    }
    memcpy(a.full, a.shape, sizeof a.full);
    assert_true(small_count(&a) <= SMALL_ELEMENTS);
    return a;
}

static int64_t number_at(const proof *p, size_t operand, int64_t filling, int64_t place)
{
    if (p->o->gather != NULL && operand == 1) {
        return (place * 5 + filling * (place + 3) + 2) % (p->o->most_index + 1);
    }
    return (place * 37 + filling * 29 + (int64_t)operand * 11) % 101 + 1;
}

/* An operand, and every device's part of it in every layout. */
static void set_up_operand(const proof *p, size_t operand, int64_t filling, small_array *whole)
{
    placed *of = &p->examples[filling].operands[operand];
    *whole = whole_of(p->o->operands[operand]);
    for (int64_t k = 0; k < small_count(whole); k++) {
        whole->data[k] = number_at(p, operand, filling, k);
    }
    of->count = find_layouts(p, p->o->operands[operand], "", of->layouts);
    for (size_t l = 0; l < of->count; l++) {
        for (int64_t device = 0; device < p->num_devices; device++) {
            small_array *part = &of->parts[l][device];
            *part = part_of(whole, &of->layouts[l], device);
            for (int64_t k = 0; k < small_count(part); k++) {
                part->data[k] = element_of(whole, part, k);
            }
        }
    }
}

static void set_up(proof *p)
{
    for (int64_t filling = 0; filling < NUM_FILLINGS; filling++) {
        small_array whole[SMALL_OPERANDS];
        const small_array *in[SMALL_OPERANDS] = {&whole[0], &whole[1], &whole[2]};
        for (size_t i = 0; i < p->o->num_operands; i++) {
            set_up_operand(p, i, filling, &whole[i]);
        }
        p->examples[filling].want = whole_of(p->o->result);
        assert_true(p->o->apply(p->o, in, &p->examples[filling].want, true));
    }
    for (size_t k = 0; k < NUM_PENDINGS; k++) {
        p->num_results +=
            find_layouts(p, p->o->result, p->on->pendings[k], &p->results[p->num_results]);
    }
}

/* Whether a device is the first of those that a layout leaves something pending with. */
static bool is_first(const proof *p, const layout *l, int64_t device)
{
    return (!l->pending[0] || device / p->on->sizes[1] == 0) &&
           (!l->pending[1] || device % p->on->sizes[1] == 0);
}

/* Whether two devices have something pending together. */
static bool are_together(const proof *p, const layout *l, int64_t a, int64_t b)
{
    return (l->pending[0] || a / p->on->sizes[1] == b / p->on->sizes[1]) &&
           (l->pending[1] || a % p->on->sizes[1] == b % p->on->sizes[1]);
}

static void combine(const proof *p, small_array *to, const small_array *with)
{
    for (int64_t i = 0; i < small_count(to); i++) {
        if (p->o->reduction == TSR_MAX) {
            to->data[i] = with->data[i] > to->data[i] ? with->data[i] : to->data[i];
        } else {
            to->data[i] += with->data[i];
        }
    }
}

/* Whether running the op on parts gives every device its part of the whole in a layout. */
static bool is_right_for(const proof *p, const example *e, const size_t *choice,
                         const layout *result)
{
    static small_array out[MAX_DEVICES];
    for (int64_t device = 0; device < p->num_devices; device++) {
        const small_array *in[SMALL_OPERANDS] = {NULL};
        for (size_t i = 0; i < p->o->num_operands; i++) {
            in[i] = &e->operands[i].parts[choice[i]][device];
        }
        out[device] = part_of(&e->want, result, device);
        if (!p->o->apply(p->o, in, &out[device], is_first(p, result, device))) {
            return false;
        }
    }
    for (int64_t device = 0; device < p->num_devices; device++) {
        if (!is_first(p, result, device)) {
            continue;
        }
        for (int64_t other = device + 1; other < p->num_devices; other++) {
            if (are_together(p, result, device, other)) {
                combine(p, &out[device], &out[other]);
            }
        }
        for (int64_t i = 0; i < small_count(&out[device]); i++) {
            if (out[device].data[i] != element_of(&e->want, &out[device], i)) {
                return false;
            }
        }
    }
    return true;
}

static bool is_right(const proof *p, const size_t *choice, const layout *result)
{
    for (size_t i = 0; i < NUM_FILLINGS; i++) {
        if (!is_right_for(p, &p->examples[i], choice, result)) {
            return false;
        }
    }
    return true;
}

/* The placement as one line, with a layout of the result. */
static const char *line_of(const proof *p, const size_t *choice, const tsr_sharding *result)
{
    static char line[512];
    (void)snprintf(line, sizeof line, "%s on %s: ", p->o->name, p->on->name);
    for (size_t i = 0; i < p->o->num_operands; i++) {
        const tsr_sharding *s = p->examples[0].operands[i].layouts[choice[i]].sharding;
        (void)snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", i > 0 ? ", " : "",
                       sharding_bare(p->f, s));
    }
    (void)snprintf(line + strlen(line), sizeof line - strlen(line), " -> %s",
                   sharding_bare(p->f, result));
    return line;
}

static void prove_placement(const proof *p, const size_t *choice, tally *t)
{
    const tsr_sharding *operands[SMALL_OPERANDS] = {NULL};
    const tsr_sharding *results[SMALL_OPERANDS] = {NULL};
    for (size_t i = 0; i < p->o->num_operands; i++) {
        operands[i] = p->examples[0].operands[i].layouts[choice[i]].sharding;
    }
    const tsr_status status = tsr_propagate_local(p->f->ctx, p->f->arena, p->rule, p->mesh,
                                                  operands, p->o->reduction, results);
    t->placements++;
    if (status == TSR_OK) {
        layout result;
        t->allowed++;
        fill_layout(p, results[p->o->result_of_rule], p->o->result, &result);
        if (!is_right(p, choice, &result)) {
            fail_msg("%s, which is wrong", line_of(p, choice, result.sharding));
        }
        return;
    }
    assert_int_equal(status, TSR_NOT_APPLICABLE);
    for (size_t r = 0; r < p->num_results; r++) {
        if (is_right(p, choice, &p->results[r])) {
            t->refused++;
            (void)fprintf(p->refused, "%s\n", line_of(p, choice, p->results[r].sharding));
            return;
        }
    }
}

static void prove(fixture *f, const small_op *o, const small_mesh *on, FILE *refused)
{
    proof *p = calloc(1, sizeof *p);
    assert_non_null(p);
    *p = (proof){.f = f,
                 .o = o,
                 .on = on,
                 .mesh = mesh_of(f, on->text),
                 .num_devices = on->sizes[0] * on->sizes[1],
                 .examples = calloc(NUM_FILLINGS, sizeof *p->examples),
                 .refused = refused};
    assert_non_null(p->examples);
    tally t = {0};
    int64_t total = 1;
    set_up(p);
    assert_int_equal(o->rule(f, o, &p->rule), TSR_OK);
    for (size_t i = 0; i < o->num_operands; i++) {
        total *= (int64_t)p->examples[0].operands[i].count;
    }
    for (int64_t i = 0; i < total; i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        size_t choice[SMALL_OPERANDS] = {0};
        int64_t rest = i;
        for (size_t k = 0; k < o->num_operands; k++) {
            choice[k] = (size_t)(rest % (int64_t)p->examples[0].operands[k].count);
            rest /= (int64_t)p->examples[0].operands[k].count;
        }
        prove_placement(p, choice, &t);
        tsr_arena_reset(f->arena, mark);
    }
    print_message("%s on %s: %lld placements, %lld allowed, %lld refused and right\n", o->name,
                  on->name, (long long)t.placements, (long long)t.allowed, (long long)t.refused);
    if (o->complete) {
        assert_int_equal(t.refused, 0);
    }
    assert_true(t.allowed > 0);
    free(p->examples);
    free(p);
}

/* The golden file as it was; "" when there is none. The caller frees it. */
static char *read_golden(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    assert_non_null(copy);
    for (int c; file != NULL && (c = getc(file)) != EOF;) {
        (void)putc(c, copy);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    (void)fclose(copy);
    return text;
}

/* Insists that two texts are the same, and says which line is not. */
static void expect_lines(const char *got, const char *want)
{
    for (size_t line = 1; *got != '\0' || *want != '\0'; line++) {
        const size_t length = strcspn(got, "\n");
        const size_t other = strcspn(want, "\n");
        if (length != other || memcmp(got, want, length) != 0) {
            fail_msg(
                "tests/golden/rules_refused.txt:%zu: it has \"%.*s\", but refused and right is "
                "\"%.*s\"; TSR_UPDATE_GOLDEN=1 writes it anew",
                line, (int)other, want, (int)length, got);
        }
        got += length + (got[length] != '\0');
        want += other + (want[other] != '\0');
    }
}

static void rules_are_proved(void **state)
{
    fixture *f = *state;
    const char *source = getenv("TSR_SOURCE_DIR");
    char path[4096];
    char *text = NULL;
    size_t size = 0;
    FILE *refused = open_memstream(&text, &size);
    assert_non_null(source);
    assert_non_null(refused);
    (void)snprintf(path, sizeof path, "%s/tests/golden/rules_refused.txt", source);
    for (size_t i = 0; i < num_small_ops; i++) {
        for (size_t m = 0; m < sizeof meshes / sizeof meshes[0]; m++) {
            const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
            prove(f, &small_ops[i], &meshes[m], refused);
            tsr_arena_reset(f->arena, mark);
        }
    }
    (void)fclose(refused);
    if (getenv("TSR_UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, size, file), size);
        assert_int_equal(fclose(file), 0);
    } else {
        char *golden = read_golden(path);
        expect_lines(text, golden);
        free(golden);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(rules_are_proved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

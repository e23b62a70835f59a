/*
 * Propagation over random programs, against what must hold of any: axes are used once, closed
 * dimensions stay, functions do not depend on each other; and what provenance says is true: each
 * hop can be made again by itself, and what it does not blame can be left out.
 */
#include <stdio.h>
#include <string.h>

#include <tessera/explain.h>
#include <tessera/pass.h>

#include "random_program.h"

static char last_text[1 << 15]; /* shown after a failure */

/* A program with its reasons. */
typedef struct explained {
    tsr_program *program;
    tsr_provenance why;
} explained;

static tsr_program *read_program(fixture *f, const char *text)
{
    tsr_program *program = NULL;
    const tsr_text source = tsr_text_of("random.mlir", text);
    if (tsr_program_read(f->ctx, &source, 0, &program) != TSR_OK) {
        printf("%s\n%s\n", tsr_context_diagnostics(f->ctx)->text, text);
        fail();
    }
    return program;
}

static explained explain(fixture *f, const char *text)
{
    explained e = {.program = read_program(f, text)};
    if (tsr_program_explain(f->ctx, f->arena, e.program, -1, &e.why) != TSR_OK) {
        printf("%s\n%s\n", tsr_context_diagnostics(f->ctx)->text, text);
        fail();
    }
    return e;
}

static tsr_ir_op main_of(const tsr_program *p)
{
    return tsr_program_symbol(p, "main");
}

static tsr_ir_block block_of(const tsr_program *p)
{
    return tsr_ir_region_first_block(p, tsr_ir_op_region(p, main_of(p), 0));
}

/* The sharding of a value as text; those without axes are all alike. */
static const char *layout_of(fixture *f, tsr_program *p, tsr_ir_value value)
{
    const tsr_sharding *sharding = NULL;
    assert_int_equal(tsr_ir_value_sharding(f->ctx, p, value, &sharding), TSR_OK);
    for (size_t d = 0; sharding != NULL && d < tsr_sharding_rank(sharding); d++) {
        if (tsr_sharding_dim(sharding, d)->num_axes > 0) {
            tsr_sharding_spec spec = {.mesh = tsr_sharding_mesh(sharding),
                                      .rank = tsr_sharding_rank(sharding)};
            tsr_dim dims[3];
            for (size_t i = 0; i < spec.rank; i++) {
                dims[i] = tsr_dim_closed(tsr_sharding_dim(sharding, i)->axes,
                                         tsr_sharding_dim(sharding, i)->num_axes);
            }
            spec.dims = dims;
            const tsr_sharding *plain = NULL;
            assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, 0, &plain), TSR_OK);
            return sharding_bare(f, plain);
        }
    }
    return "replicated";
}

/* The layouts of all results in main, in order, one text. */
static const char *layouts_of(fixture *f, tsr_program *p)
{
    char *text = tsr_arena_alloc(f->arena, 1 << 14);
    size_t size = 0;
    const tsr_ir_block block = block_of(p);
    text[0] = '\0';
    for (size_t i = 0; i < tsr_ir_block_num_arguments(p, block); i++) {
        size += (size_t)sprintf(text + size, "%s\n",
                                layout_of(f, p, tsr_ir_block_argument(p, block, i)));
    }
    for (tsr_ir_op op = tsr_ir_block_first_op(p, block); op != 0; op = tsr_ir_op_next(p, op)) {
        for (size_t i = 0; i < tsr_ir_op_num_results(p, op); i++) {
            size +=
                (size_t)sprintf(text + size, "%s\n", layout_of(f, p, tsr_ir_op_result(p, op, i)));
        }
    }
    return text;
}

/* ---- soundness ---- */

static void check_axes_once(const tsr_sharding *s)
{
    for (size_t d = 0; d < tsr_sharding_rank(s); d++) {
        const tsr_dim *a = tsr_sharding_dim(s, d);
        for (size_t i = 0; i < a->num_axes; i++) {
            for (size_t k = d; k < tsr_sharding_rank(s); k++) {
                const tsr_dim *b = tsr_sharding_dim(s, k);
                for (size_t j = k == d ? i + 1 : 0; j < b->num_axes; j++) {
                    assert_false(tsr_axis_overlaps(a->axes[i], b->axes[j]));
                }
            }
        }
    }
}

/* What an annotation closes stays, what it has stays in front. */
static void check_kept(const tsr_sharding *before, const tsr_sharding *after)
{
    for (size_t d = 0; d < tsr_sharding_rank(before); d++) {
        const tsr_dim *a = tsr_sharding_dim(before, d);
        const tsr_dim *b = tsr_sharding_dim(after, d);
        assert_true(b->num_axes >= a->num_axes);
        for (size_t i = 0; i < a->num_axes; i++) {
            assert_true(tsr_axis_is_prefix(a->axes[i], b->axes[i]) ||
                        tsr_axis_equal(a->axes[i], b->axes[i]));
        }
        if (!a->open) {
            assert_int_equal(b->num_axes, a->num_axes);
            for (size_t i = 0; i < a->num_axes; i++) {
                assert_true(tsr_axis_equal(a->axes[i], b->axes[i]));
            }
        }
    }
}

static void check_sound(fixture *f, explained *e)
{
    tsr_program *p = e->program;
    for (tsr_ir_value v = 1; v <= tsr_program_num_values(p); v++) {
        const tsr_sharding *sharding = NULL;
        if (tsr_ir_tensor_type(p, (tsr_ir_tensor){.value = v}) != 0) {
            assert_int_equal(tsr_ir_value_sharding(f->ctx, p, v, &sharding), TSR_OK);
        }
        if (sharding != NULL) {
            check_axes_once(sharding);
        }
    }
    for (size_t i = 1; i <= e->why.num_annotations; i++) {
        const tsr_sharding *sharding = NULL;
        assert_int_equal(tsr_ir_tensor_sharding(f->ctx, p, e->why.annotations[i].tensor, &sharding),
                         TSR_OK);
        assert_non_null(sharding);
        check_kept(e->why.annotations[i].sharding, sharding);
    }
}

/* ---- replay ---- */

/* A sharding with the axes that a tensor had before some step, all dimensions open. */
static const tsr_sharding *sharding_before(fixture *f, const explained *e, tsr_ir_tensor tensor,
                                           size_t rank, uint32_t step)
{
    tsr_axis_ref list[3][16];
    tsr_dim dims[3];
    const tsr_sharding *out = NULL;
    for (size_t d = 0; d < rank; d++) {
        dims[d] = tsr_dim_closed(list[d], 0);
        dims[d].open = true;
    }
    for (uint32_t i = tsr_provenance_first(&e->why, tensor); i != 0 && i < step;
         i = e->why.steps[i].next) {
        const tsr_axis_step *s = &e->why.steps[i];
        assert_true(dims[s->dim].num_axes < 16);
        list[s->dim][dims[s->dim].num_axes++] = s->axis;
    }
    const tsr_sharding_spec spec = {
        .mesh = tsr_sharding_mesh(e->why.annotations[1].sharding), .rank = rank, .dims = dims};
    if (tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &out) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
    return out;
}

static bool dim_has(const tsr_sharding *s, size_t dim, tsr_axis_ref axis)
{
    const tsr_dim *d = tsr_sharding_dim(s, dim);
    for (size_t i = 0; i < d->num_axes; i++) {
        if (tsr_axis_contains(d->axes[i], axis)) {
            return true;
        }
    }
    return false;
}

/* Propagates through one op from the source alone: the target gets the axis. */
static void replay_op(fixture *f, const explained *e, uint32_t number, tsr_ir_attr rule_attr)
{
    const tsr_program *p = e->program;
    const tsr_axis_step *s = &e->why.steps[number];
    const tsr_axis_step *from = &e->why.steps[s->from];
    const char *text = NULL;
    const tsr_rule *rule = NULL;
    const tsr_sharding *had[8] = {0};
    const tsr_sharding *got[8] = {0};
    assert_int_equal(tsr_ir_attr_to_text(f->ctx, f->arena, p, rule_attr, &text), TSR_OK);
    assert_int_equal(tsr_rule_parse(f->ctx, f->arena, text, &rule), TSR_OK);
    const size_t num_operands = tsr_rule_num_operands(rule);
    const size_t count = num_operands + tsr_rule_num_results(rule);
    bool is_target[8] = {false};
    bool reached = false;
    assert_true(count <= 8);
    for (size_t i = 0; i < count; i++) {
        const tsr_ir_value value = i < num_operands ? tsr_ir_op_operand(p, s->op, i)
                                                    : tsr_ir_op_result(p, s->op, i - num_operands);
        const tsr_rule_tensor *tensor =
            i < num_operands ? tsr_rule_operand(rule, i) : tsr_rule_result(rule, i - num_operands);
        if (value == from->tensor.value || value == s->tensor.value) {
            had[i] = sharding_before(f, e, (tsr_ir_tensor){.value = value}, tensor->rank, number);
        }
        is_target[i] = value == s->tensor.value;
    }
    const tsr_propagation op = {.rule = rule,
                                .strategy = TSR_STRATEGY_AGGRESSIVE,
                                .operands = had,
                                .results = had + num_operands};
    assert_int_equal(tsr_propagate(f->ctx, f->arena, &op, got, got + num_operands), TSR_OK);
    for (size_t i = 0; i < count; i++) { /* an op may use a value several times */
        reached = reached || (is_target[i] && dim_has(got[i], s->dim, s->axis));
    }
    if (!reached) {
        printf("step %u by %s\n", (unsigned)number, tsr_ir_op_name(p, s->op));
    }
    assert_true(reached);
}

static void replay(fixture *f, const explained *e)
{
    for (uint32_t i = 1; i <= e->why.num_steps; i++) {
        const tsr_axis_step *s = &e->why.steps[i];
        assert_true(s->annotation > 0 && s->annotation <= e->why.num_annotations);
        if (s->kind == TSR_AXIS_ANNOTATED) {
            assert_int_equal(s->from, 0);
            assert_true(dim_has(e->why.annotations[s->annotation].sharding, s->dim, s->axis));
            continue;
        }
        const tsr_axis_step *from = &e->why.steps[s->from];
        assert_true(s->from > 0 && s->from < i);
        assert_true(tsr_axis_contains(from->axis, s->axis));
        assert_int_equal(from->annotation, s->annotation);
        const tsr_ir_attr rule = s->kind == TSR_AXIS_BY_OP
                                     ? tsr_ir_op_attribute(e->program, s->op, "sdy.sharding_rule")
                                     : 0;
        if (s->kind == TSR_AXIS_BY_OP && tsr_ir_op_block(e->program, s->op) == 0) {
            continue; /* nothing needs the op: it is gone, and its rule with it */
        }
        if (rule != 0) {
            replay_op(f, e, i, rule);
        } else {
            assert_int_equal(from->dim, s->dim); /* hands tensors on as they are */
        }
    }
}

/* Every axis of every tensor has steps that make it up. */
static void check_complete(fixture *f, const explained *e)
{
    for (tsr_ir_value v = 1; v <= tsr_program_num_values(e->program); v++) {
        const tsr_sharding *sharding = NULL;
        if (tsr_ir_tensor_type(e->program, (tsr_ir_tensor){.value = v}) == 0) {
            continue;
        }
        assert_int_equal(tsr_ir_value_sharding(f->ctx, e->program, v, &sharding), TSR_OK);
        for (size_t d = 0; sharding != NULL && d < tsr_sharding_rank(sharding); d++) {
            int64_t shards = 1;
            for (uint32_t i = e->why.first_steps[v]; i != 0; i = e->why.steps[i].next) {
                shards *= e->why.steps[i].dim == d ? e->why.steps[i].axis.size : 1;
            }
            assert_int_equal(shards, tsr_sharding_num_shards(sharding, d));
        }
    }
}

/* ---- what can be left out ---- */

static void blame(const explained *e, uint32_t step, bool *blamed)
{
    blamed[step != 0 ? e->why.steps[step].annotation : 0] = true;
}

/* The annotation of a sharding of the text: by its place among arguments and constraints. */
static size_t annotation_of_note(const explained *e, const random_program *p, size_t number)
{
    size_t arguments = 0;
    size_t constraints = 0;
    for (size_t i = 0; i < number; i++) {
        *(p->is_constraint[i] ? &constraints : &arguments) += 1;
    }
    size_t seen = 0;
    const tsr_annotation_kind kind =
        p->is_constraint[number] ? TSR_ANNOTATION_CONSTRAINT : TSR_ANNOTATION_ARGUMENT;
    const size_t wanted = p->is_constraint[number] ? constraints : arguments;
    tsr_ir_op last = 0;
    for (size_t i = 1; i <= e->why.num_annotations; i++) {
        const tsr_annotation *a = &e->why.annotations[i];
        if (a->kind != kind ||
            (kind == TSR_ANNOTATION_CONSTRAINT &&
             (a->op == last || a->tensor.value != tsr_ir_op_result(e->program, a->op, 0)))) {
            continue;
        }
        last = a->op;
        if (seen++ == wanted) {
            return i;
        }
    }
    return 0;
}

/* Leaves out arguments' shardings that no axis and no conflict is due to: nothing changes. */
static size_t check_unblamed(fixture *f, random_program *p, const explained *e, const char *layouts)
{
    bool blamed[256] = {false};
    size_t checked = 0;
    assert_true(e->why.num_annotations < 256);
    for (uint32_t i = 1; i <= e->why.num_steps; i++) {
        blame(e, i, blamed);
    }
    for (size_t i = 0; i < e->why.num_conflicts; i++) {
        blame(e, e->why.conflicts[i].wanted, blamed);
        blame(e, e->why.conflicts[i].winner, blamed);
        blamed[e->why.conflicts[i].annotation] = true;
    }
    for (size_t i = 0; i < p->num_notes; i++) {
        const size_t annotation = p->is_constraint[i] ? 0 : annotation_of_note(e, p, i);
        if (annotation == 0 || blamed[annotation]) {
            continue;
        }
        p->left_out[i] = true;
        explained other = explain(f, random_program_text(f, p));
        assert_string_equal(layouts_of(f, other.program), layouts);
        tsr_program_destroy(other.program);
        p->left_out[i] = false;
        checked++;
    }
    return checked;
}

/* ---- tests ---- */

static void random_programs(void **state)
{
    fixture *f = *state;
    const rng r = rng_start("prop_program");
    size_t steps = 0;
    size_t conflicts[16] = {0};
    size_t left_out = 0;
    for (int64_t i = 0; i < prop_cases(4000); i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        random_program p = {.seed = rng_case(&r, (uint64_t)i).state};
        const char *text = random_program_text(f, &p);
        explained e = explain(f, text);
        (void)snprintf(last_text, sizeof last_text, "%s", text);
        check_sound(f, &e);
        if (e.why.num_annotations > 0) {
            replay(f, &e);
        }
        check_complete(f, &e);
        left_out += check_unblamed(f, &p, &e, layouts_of(f, e.program));
        steps += e.why.num_steps;
        for (size_t k = 0; k < e.why.num_conflicts; k++) {
            conflicts[e.why.conflicts[k].kind]++;
        }
        tsr_program_destroy(e.program);
        tsr_arena_reset(f->arena, mark);
    }
    printf("%zu steps, %zu annotations left out; conflicts:", steps, left_out);
    for (int kind = 0; kind <= TSR_CONFLICT_ANNOTATED; kind++) {
        printf(" %zu %s", conflicts[kind], tsr_conflict_name((tsr_conflict_kind)kind));
    }
    printf("\n");
    assert_true(left_out > 100);
    for (int kind = 0; kind <= TSR_CONFLICT_REPLICATED; kind++) {
        assert_true(conflicts[kind] > 100);
    }
}

static void functions_do_not_depend_on_each_other(void **state)
{
    fixture *f = *state;
    const rng r = rng_start("prop_program functions");
    for (int64_t i = 0; i < prop_cases(500); i++) {
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        random_program p = {.seed = rng_case(&r, (uint64_t)i).state};
        explained alone = explain(f, random_program_text(f, &p));
        explained before = explain(f, random_program_with_stranger(f, &p, true));
        explained after = explain(f, random_program_with_stranger(f, &p, false));
        const char *expected = layouts_of(f, alone.program);
        assert_string_equal(layouts_of(f, before.program), expected);
        assert_string_equal(layouts_of(f, after.program), expected);
        tsr_program_destroy(alone.program);
        tsr_program_destroy(before.program);
        tsr_program_destroy(after.program);
        tsr_arena_reset(f->arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(random_programs),
                                       TEST(functions_do_not_depend_on_each_other)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed != 0) {
        fputs(last_text, stdout);
    }
    return failed;
}

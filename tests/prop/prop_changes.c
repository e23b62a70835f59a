/*
 * Verification after a pass looks only at what changed. Edits of any kind, most of them wrong, are
 * planted after passes of the table: what is found there is what the whole program shows.
 */
#include <stdio.h>
#include <string.h>

#include <tessera/pass.h>

#include "ir/attr.h"
#include "ir/edit.h"
#include "random.h"

static const char *const texts[] = {
    /* Functions, calls, a loop, a computation, constraints beyond a barrier, groups. */
    "sdy.mesh @m = <[\"a\"=2, \"b\"=2, \"c\"=1]>\n"
    "sdy.mesh @n = <[\"a\"=4]>\n"
    "func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"a\"}p1, {?}]>},\n"
    "    %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<mesh<[\"a\"=2, \"b\"=2, \"c\"=1]>,\n"
    "    [{}, {\"b\"}]>}, %i: tensor<i32>) -> (tensor<4x16xf32>,\n"
    "    tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"a\"}, {}]>}) {\n"
    "  %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>\n"
    "  %s = stablehlo.add %x, %c {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {\"b\"}]>]>}\n"
    "      : tensor<4x8xf32>\n"
    "  %t = call @f(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %u = call @f(%t) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"b\"}, {}]>]>}\n"
    "      : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %h = sdy.propagation_barrier %u allowed_direction=FORWARD : tensor<4x8xf32>\n"
    "  %k = sdy.sharding_constraint %h <@m, [{\"a\", ?}, {?}]> : tensor<4x8xf32>\n"
    "  sdy.sharding_group %k group_id=7 : tensor<4x8xf32>\n"
    "  sdy.sharding_group %t group_id=7 : tensor<4x8xf32>\n"
    "  %l:2 = stablehlo.while(%p = %k, %q = %i) : tensor<4x8xf32>, tensor<i32> cond {\n"
    "    %r = stablehlo.compare LT, %q, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %r : tensor<i1>\n"
    "  } do {\n"
    "    %n = stablehlo.tanh %p : tensor<4x8xf32>\n"
    "    %o = sdy.sharding_constraint %n <@m, [{\"b\"}, {?}]> : tensor<4x8xf32>\n"
    "    stablehlo.return %o, %q : tensor<4x8xf32>, tensor<i32>\n"
    "  }\n"
    "  %m = sdy.manual_computation(%l#0) in_shardings=[<@m, [{\"a\"}, {?}]>]\n"
    "      out_shardings=[<@m, [{\"a\"}, {?}]>] manual_axes={\"a\"} (%v: tensor<2x8xf32>) {\n"
    "    %n = stablehlo.negate %v : tensor<2x8xf32>\n"
    "    %o = sdy.sharding_constraint %n <@m, [{}, {\"b\"}]> : tensor<2x8xf32>\n"
    "    sdy.return %o : tensor<2x8xf32>\n"
    "  } : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %d = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] :\n"
    "      (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>\n"
    "  return %d, %m : tensor<4x16xf32>, tensor<4x8xf32>\n"
    "}\n"
    "func.func private @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
    "  %y = stablehlo.concatenate %x, %x, dim = 1 :\n"
    "      (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>\n"
    "  %z = stablehlo.slice %y [0:4, 0:8] : (tensor<4x16xf32>) -> tensor<4x8xf32>\n"
    "  return %z : tensor<4x8xf32>\n"
    "}\n"
    "func.func private @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
    "  return %x : tensor<4x8xf32>\n"
    "}\n",
    /* Edges, collectives, pending sums, regions, a composite, constants that ops look at. */
    "sdy.mesh @m = <[\"a\"=2, \"b\"=2]>\n"
    "func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"a\"}, {}]>},\n"
    "    %w: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}], unreduced=max{\"a\"}>},\n"
    "    %i: tensor<i32>) -> tensor<4x8xf32> {\n"
    "  %e = sdy.all_gather [{\"a\"}, {}] %x out_sharding=<@m, [{}, {}]> : tensor<4x8xf32>\n"
    "  %f = sdy.all_slice [{\"b\"}, {}] %e out_sharding=<@m, [{\"b\"}, {}]> : tensor<4x8xf32>\n"
    "  %g = sdy.reshard %f <@m, [{}, {}], unreduced={\"a\"}> : tensor<4x8xf32>\n"
    "  %h = sdy.all_reduce {\"a\"} %g out_sharding=<@m, [{}, {}]> : tensor<4x8xf32>\n"
    "  %ab = sdy.propagation_barrier %w allowed_direction=FORWARD : tensor<4x8xf32>\n"
    "  %ac = sdy.sharding_constraint %ab <@m, [{}, {}], unreduced=max{\"a\"}> : tensor<4x8xf32>\n"
    "  %aa = sdy.reshard %h <@m, [{\"b\"}, {}]> : tensor<4x8xf32>\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %r = stablehlo.reduce(%aa init: %z) applies stablehlo.add across dimensions = [1]\n"
    "      : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>\n"
    "  %b = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>\n"
    "  %l:2 = stablehlo.while(%p = %b, %q = %i) : tensor<4x8xf32>, tensor<i32> cond {\n"
    "    %t = stablehlo.compare LT, %q, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %t : tensor<i1>\n"
    "  } do {\n"
    "    %n = sdy.all_slice [{\"a\"}, {}] %p out_sharding=<@m, [{\"a\"}, {}]> : tensor<4x8xf32>\n"
    "    %o = sdy.all_gather [{\"a\"}, {}] %n out_sharding=<@m, [{}, {}]> : tensor<4x8xf32>\n"
    "    stablehlo.return %o, %q : tensor<4x8xf32>, tensor<i32>\n"
    "  }\n"
    "  %v = sdy.data_flow_edge %l#0 sharding=<@m, [{}, {}]> : tensor<4x8xf32>\n"
    "  %y = sdy.named_computation<\"f\">(%v) in_shardings=[<@m, [{}, {}]>]\n"
    "      out_shardings=[<@m, [{}, {}]>] (%k: tensor<4x8xf32>) {\n"
    "    %n = sdy.all_slice [{\"a\"}, {}] %k out_sharding=<@m, [{\"a\"}, {}]> : tensor<4x8xf32>\n"
    "    %o = sdy.all_gather [{\"a\"}, {}] %n out_sharding=<@m, [{}, {}]> : tensor<4x8xf32>\n"
    "    sdy.return %o : tensor<4x8xf32>\n"
    "  } : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %c = stablehlo.composite \"x.c\" %y {decomposition = @d}\n"
    "      : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %s = stablehlo.constant dense<[4, 8]> : tensor<2xi64>\n"
    "  %lo = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %u = stablehlo.rng %lo, %z, %s, distribution = UNIFORM\n"
    "      : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x8xf32>\n"
    "  %j = \"stablehlo.case\"(%i) ({\n"
    "    stablehlo.return %u : tensor<4x8xf32>\n"
    "  }, {\n"
    "    %n = stablehlo.multiply %c, %u : tensor<4x8xf32>\n"
    "    stablehlo.return %n : tensor<4x8xf32>\n"
    "  }) : (tensor<i32>) -> tensor<4x8xf32>\n"
    "  return %j : tensor<4x8xf32>\n"
    "}\n"
    "func.func private @e(%x: tensor<4x8xf32>\n"
    "    {sdy.sharding = #sdy.sharding<@m, [{\"a\"}, {}]>},\n"
    "    %w: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}], unreduced={\"a\"}>},\n"
    "    %i: tensor<i32>) -> tensor<4x8xf32> {\n"
    "  return %x : tensor<4x8xf32>\n"
    "}\n"
    "func.func private @d(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
    "  %y = stablehlo.exponential %x : tensor<4x8xf32>\n"
    "  return %y : tensor<4x8xf32>\n"
    "}\n",
};

/* ---- edits ---- */

/* Ops of the program that are in it, in order. */
typedef struct op_list {
    uint32_t ops[1024];
    size_t count;
} op_list;

static op_list list_ops(const tsr_program *p)
{
    op_list list = {.count = 0};
    for (uint32_t op = op_walk_next(p, p->module, p->module); op != 0 && list.count < 1024;
         op = op_walk_next(p, p->module, op)) {
        list.ops[list.count++] = op;
    }
    return list;
}

static uint32_t any_op(rng *r, const op_list *list)
{
    return list->ops[rng_below(r, (int64_t)list->count)];
}

static uint32_t any_value(const tsr_program *p, rng *r, const op_list *list)
{
    for (int tries = 0; tries < 20; tries++) {
        const uint32_t op = any_op(r, list);
        const ir_op *o = program_op(p, op);
        if (o->num_results > 0) {
            return o->results + (uint32_t)rng_below(r, o->num_results);
        }
        const uint32_t block = o->num_regions > 0 ? op_entry_block(p, op, 0) : 0;
        if (block != 0 && program_block(p, block)->num_arguments > 0) {
            return block_argument(p, block,
                                  (size_t)rng_below(r, program_block(p, block)->num_arguments));
        }
    }
    return 0;
}

static bool is_inside(const tsr_program *p, uint32_t op, uint32_t around)
{
    while (op != 0 && op != around) {
        op = op_parent(p, op);
    }
    return op != 0;
}

/* Each makes one change, or none; without memory it fails. */
typedef tsr_status edit(tsr_program *p, rng *r, const op_list *list);

static tsr_status swap_operand(tsr_program *p, rng *r, const op_list *list)
{
    const uint32_t op = any_op(r, list);
    const uint32_t value = any_value(p, r, list);
    if (program_op(p, op)->num_operands > 0 && value != 0) {
        op_set_operand(p, op, (size_t)rng_below(r, program_op(p, op)->num_operands), value);
    }
    return TSR_OK;
}

static tsr_status move_op(tsr_program *p, rng *r, const op_list *list)
{
    const uint32_t op = any_op(r, list);
    const uint32_t to = any_op(r, list);
    if (!is_inside(p, to, op)) {
        op_remove(p, op);
        if (rng_chance(r, 50)) {
            op_insert_before(p, op, to);
        } else {
            op_insert_after(p, op, to);
        }
    }
    return TSR_OK;
}

static tsr_status copy_op(tsr_program *p, rng *r, const op_list *list)
{
    const uint32_t op = any_op(r, list);
    value_map map = {.ctx = p->ctx};
    uint32_t copy = 0;
    const tsr_status status = op_clone(p, op, &map, &copy);
    value_map_free(&map);
    if (status >= 0) {
        op_insert_after(p, copy, any_op(r, list));
    }
    return status;
}

static tsr_status erase_op(tsr_program *p, rng *r, const op_list *list)
{
    const uint32_t op = any_op(r, list);
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        if (value_has_uses(p, op_result(p, op, i))) {
            return TSR_OK;
        }
    }
    op_erase(p, op);
    return TSR_OK;
}

static tsr_status replace_value(tsr_program *p, rng *r, const op_list *list)
{
    const uint32_t from = any_value(p, r, list);
    const uint32_t to = any_value(p, r, list);
    if (from != 0 && to != 0 && value_type(p, from) == value_type(p, to)) {
        value_replace_uses(p, from, to, 0);
    }
    return TSR_OK;
}

/* Gives an op an entry that another has in the same dictionary, or takes one away. */
static tsr_status swap_entry(tsr_program *p, rng *r, const op_list *list, bool is_property)
{
    const uint32_t op = any_op(r, list);
    const uint32_t other = any_op(r, list);
    const uint32_t dict =
        is_property ? program_op(p, other)->properties : program_op(p, other)->attributes;
    const size_t size = dict_size(p, dict);
    if (size == 0) {
        return TSR_OK;
    }
    const attr_entry entry = attr_entries(program_attr(p, dict))[rng_below(r, (int64_t)size)];
    const char *name = string_at(p, entry.name).data;
    const uint32_t had = is_property ? op_property(p, op, name) : op_attribute(p, op, name);
    const uint32_t value = rng_chance(r, 20) ? 0 : entry.value;
    if (had == 0 && rng_chance(r, 70)) {
        return TSR_OK;
    }
    return is_property ? op_set_property(p, op, name, value) : op_set_attribute(p, op, name, value);
}

static tsr_status swap_property(tsr_program *p, rng *r, const op_list *list)
{
    return swap_entry(p, r, list, true);
}

static tsr_status swap_attribute(tsr_program *p, rng *r, const op_list *list)
{
    return swap_entry(p, r, list, false);
}

/* Gives an op a sharding that another has somewhere, where it has one. */
static tsr_status swap_sharding(tsr_program *p, rng *r, const op_list *list)
{
    static const char *const names[] = {"sharding", "out_sharding", "in_shardings",
                                        "out_shardings"};
    const uint32_t op = any_op(r, list);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (op_property(p, op, names[i]) == 0) {
            continue;
        }
        for (int tries = 0; tries < 50; tries++) {
            const uint32_t attr = op_property(p, any_op(r, list), names[i / 2 * 2]);
            if (attr != 0) {
                return op_set_property(p, op, names[i], attr);
            }
        }
    }
    return TSR_OK;
}

static tsr_status remake_op(tsr_program *p, rng *r, const op_list *list)
{
    const uint32_t other = any_op(r, list);
    const op_kind kind = op_kind_of(p, other);
    uint32_t op = any_op(r, list);
    for (int tries = 0; tries < 20; tries++) {
        if (program_op(p, op)->num_operands == program_op(p, other)->num_operands &&
            program_op(p, op)->num_regions == program_op(p, other)->num_regions) {
            return op_set_kind(p, op, kind);
        }
        op = any_op(r, list);
    }
    return TSR_OK;
}

/* Exchanges an entry of two functions, or of two meshes. */
static tsr_status swap_symbol(tsr_program *p, rng *r, const op_list *list)
{
    static const char *const names[] = {"sym_name", "function_type", "arg_attrs", "res_attrs",
                                        "mesh"};
    const char *name = names[rng_below(r, 5)];
    for (int tries = 0; tries < 50; tries++) {
        const uint32_t op = any_op(r, list);
        const uint32_t other = any_op(r, list);
        const uint32_t attr = op_property(p, other, name);
        if (op != other && attr != 0 && op_property(p, op, name) != 0) {
            return op_set_property(p, op, name, attr);
        }
    }
    return TSR_OK;
}

static tsr_status take_region(tsr_program *p, rng *r, const op_list *list)
{
    const uint32_t op = any_op(r, list);
    const uint32_t other = any_op(r, list);
    if (program_op(p, op)->num_regions > 0 && program_op(p, other)->num_regions > 0 &&
        !is_inside(p, op, other) && !is_inside(p, other, op)) {
        region_take(p, op_region_at(p, op, 0), op_region_at(p, other, 0));
    }
    return TSR_OK;
}

static edit *const edits[] = {swap_operand,  move_op,       copy_op,        erase_op,
                              replace_value, swap_property, swap_attribute, swap_sharding,
                              remake_op,     swap_symbol,   take_region};
enum { NUM_EDITS = sizeof edits / sizeof edits[0] };

/* ---- programs ---- */

/* Verifies a copy, of which nothing is known. */
static tsr_status verify_whole(fixture *f, const tsr_program *p)
{
    tsr_program *copy = NULL;
    assert_int_equal(tsr_program_clone(f->ctx, p, &copy), TSR_OK);
    const tsr_status status = tsr_program_verify(f->ctx, copy);
    tsr_program_destroy(copy);
    tsr_context_clear(f->ctx);
    return status;
}

static tsr_status verify(fixture *f, tsr_program *p)
{
    const tsr_status status = tsr_program_verify(f->ctx, p);
    tsr_context_clear(f->ctx);
    return status;
}

static void insist(fixture *f, tsr_program *p, tsr_status whole, tsr_status changed,
                   const char *pass, uint64_t number)
{
    const char *text = "";
    if (whole != changed) {
        assert_int_equal(tsr_program_to_text(f->ctx, f->arena, p, TSR_PROGRAM_GENERIC, &text),
                         TSR_OK);
        fail_msg("case %llu, after %s: the whole program gives %d, what changed gives %d\n%s",
                 (unsigned long long)number, pass, whole, changed, text);
    }
}

static tsr_program *read(fixture *f, const char *text)
{
    const tsr_text source = tsr_text_of("changes.mlir", text);
    tsr_program *p = NULL;
    assert_int_equal(tsr_program_read(f->ctx, &source, 0, &p), TSR_OK);
    return p;
}

static const tsr_pass *any_pass(rng *r)
{
    size_t count = 0;
    const tsr_pass *rows = tsr_passes(&count);
    const tsr_pass *row = NULL;
    while (row == NULL || row->run == NULL) {
        row = &rows[rng_below(r, (int64_t)count)];
    }
    return row;
}

/* Some passes, each verified; false when one refuses the program. */
static bool run_passes(fixture *f, tsr_program *p, rng *r, const tsr_pass *last, uint64_t number)
{
    for (int64_t more = rng_below(r, 4); more >= 0; more--) {
        const tsr_pass *pass = more > 0 ? any_pass(r) : last;
        const tsr_status ran = tsr_pass_run(f->ctx, p, pass, NULL);
        tsr_context_clear(f->ctx);
        if (ran < 0) {
            return false;
        }
        const tsr_status whole = verify_whole(f, p);
        insist(f, p, whole, verify(f, p), pass->name, number);
        if (whole < 0) {
            return false;
        }
    }
    return true;
}

/* One to three edits after passes; returns whether the program is wrong then. */
static bool try_edits(fixture *f, rng *r, const char *text, const tsr_pass *pass, uint64_t number)
{
    tsr_program *p = read(f, text);
    tsr_status whole = TSR_OK;
    assert_int_equal(edit_begin(p), TSR_OK);
    if (run_passes(f, p, r, pass, number)) {
        for (int64_t more = rng_below(r, 3); more >= 0; more--) {
            const op_list list = list_ops(p);
            if (list.count > 0) {
                assert_true(edits[rng_below(r, NUM_EDITS)](p, r, &list) >= 0);
            }
        }
        whole = verify_whole(f, p);
        insist(f, p, whole, verify(f, p), pass->name, number);
    }
    tsr_program_destroy(p);
    return whole < 0;
}

static void nothing_escapes_after_any_pass(void **state)
{
    fixture *f = *state;
    const rng seed = rng_start("nothing_escapes_after_any_pass");
    const int64_t cases = prop_heavy_cases(300);
    size_t count = 0;
    const tsr_pass *rows = tsr_passes(&count);
    uint64_t number = 0;
    uint64_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        for (int64_t k = 0; rows[i].run != NULL && k < cases; k++, number++) {
            rng r = rng_case(&seed, number);
            const size_t text = (size_t)rng_below(&r, sizeof texts / sizeof texts[0]);
            wrong += try_edits(f, &r, texts[text], &rows[i], number);
        }
    }
    printf("%llu of %llu edited programs are wrong\n", (unsigned long long)wrong,
           (unsigned long long)number);
    assert_true(wrong > number / 4 && wrong < number);
}

static uint32_t find_func(const tsr_program *p, const char *symbol)
{
    const op_list list = list_ops(p);
    for (size_t i = 0; i < list.count; i++) {
        slice text = {"", 0};
        (void)attr_as_string(p, op_property(p, list.ops[i], "sym_name"), &text);
        if (op_is(p, list.ops[i], OP_FUNC_FUNC) && slice_is(text, symbol)) {
            return list.ops[i];
        }
    }
    return 0;
}

/* What a constraint depends on is beyond the op that uses the value that changed. */
static void constraints_see_beyond_barriers(void **state)
{
    fixture *f = *state;
    tsr_program *p = read(f, texts[1]);
    const uint32_t attrs = op_property(p, find_func(p, "e"), "arg_attrs");
    assert_int_equal(edit_begin(p), TSR_OK);
    assert_int_equal(op_set_property(p, find_func(p, "main"), "arg_attrs", attrs), TSR_OK);
    assert_int_equal(tsr_program_verify(f->ctx, p), TSR_ERR_INVALID);
    expect_message(f, "cannot change the reduction operator of kept unreduced axes");
    tsr_program_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_escapes_after_any_pass),
        TEST(constraints_see_beyond_barriers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

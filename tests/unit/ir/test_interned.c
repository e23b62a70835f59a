/*
 * Interned shardings and rules belong to the program: all passes between two changes of meshes use
 * one engine, whose objects stay.
 */
#include <tessera/pass.h>

#include "support.h"

#include "ir/edit.h"
#include "ir/function.h"
#include "ir/interned.h"
#include "ir/shardings.h"

static const char sample[] =
    "sdy.mesh @m = <[\"a\"=2, \"b\"=2]>\n"
    "func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"a\"}, {?}]>})\n"
    "    -> tensor<4x8xf32> {\n"
    "  %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>\n"
    "  %y = stablehlo.add %x, %c : tensor<4x8xf32>\n"
    "  %z = call @f(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  %m = sdy.manual_computation(%z) in_shardings=[<@m, [{\"a\"}, {}]>]\n"
    "      out_shardings=[<@m, [{\"a\"}, {}]>] manual_axes={\"a\"} (%v: tensor<2x8xf32>) {\n"
    "    %n = stablehlo.negate %v : tensor<2x8xf32>\n"
    "    sdy.return %n : tensor<2x8xf32>\n"
    "  } : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
    "  return %m : tensor<4x8xf32>\n"
    "}\n"
    "func.func private @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
    "  %y = stablehlo.tanh %x : tensor<4x8xf32>\n"
    "  return %y : tensor<4x8xf32>\n"
    "}\n";

static tsr_program *read_sample(fixture *f)
{
    const tsr_text text = tsr_text_of("p.mlir", sample);
    tsr_program *p = NULL;
    assert_int_equal(tsr_program_read(f->ctx, &text, 0, &p), TSR_OK);
    assert_int_equal(edit_begin(p), TSR_OK);
    return p;
}

/* The attribute of the sharding of the first argument of the main function. */
static uint32_t first_attr(const tsr_program *p)
{
    return dict_get(p, function_dict(p, function_main(p), "arg_attrs", 0), "sdy.sharding");
}

/* The passes of the pipeline so far, and what is interned. */
typedef struct pipeline {
    fixture *f;
    tsr_program *p;
    bool verifies;
    const tsr_sharding *first; /* of the first argument, as it was read */
    uint32_t attr;
    size_t num_passes;
    size_t num_engines;
    engine *last;
} pipeline;

static void look_up(pipeline *l)
{
    const tsr_sharding *now = NULL;
    engine *e = NULL;
    assert_int_equal(interned_engine(l->f->ctx, l->p, &e), TSR_OK);
    l->num_engines += e != l->last;
    l->last = e;
    assert_int_equal(interned_sharding(l->f->ctx, l->p, l->attr, &now), TSR_OK);
    if (l->first != NULL && l->num_engines == 1) {
        assert_ptr_equal(now, l->first);
    }
    l->first = now;
}

/* Runs the next pass; inlining meshes, the last one, is left out. */
static bool run_next(void *state, const char *name, const tsr_pass_options *options)
{
    pipeline *l = state;
    const tsr_pass *pass = tsr_pass_find(name);
    if (pass == tsr_pass_find("sdy-inline-meshes")) {
        return false;
    }
    assert_int_equal(tsr_pass_run(l->f->ctx, l->p, pass, options), TSR_OK);
    if (l->verifies) {
        assert_int_equal(tsr_program_verify(l->f->ctx, l->p), TSR_OK);
    }
    l->num_passes++;
    look_up(l);
    return true;
}

static void run_pipeline(fixture *f, bool verifies)
{
    pipeline l = {.f = f, .p = read_sample(f), .verifies = verifies};
    const tsr_pass *pass = tsr_pass_find("sdy-propagation-pipeline");
    const tsr_pass_options defaults = {pass->options, pass->num_options, NULL};
    l.attr = first_attr(l.p);
    look_up(&l);
    (void)pass->expand(&defaults, run_next, &l);
    assert_in_range(l.num_passes, 20, 60);
    assert_int_equal(l.num_engines, 1);
    tsr_program_destroy(l.p);
}

static void passes_share_an_engine(void **state)
{
    run_pipeline(*state, false);
}

static void passes_with_verification_share_an_engine(void **state)
{
    run_pipeline(*state, true);
}

/* A sharding and its attribute are made from each other once. */
static void attributes_and_objects_are_one_to_one(void **state)
{
    fixture *f = *state;
    tsr_program *p = read_sample(f);
    const tsr_sharding *sharding = NULL;
    uint32_t attr = 0;
    assert_int_equal(interned_sharding(f->ctx, p, first_attr(p), &sharding), TSR_OK);
    assert_int_equal(interned_sharding_attr(f->ctx, p, sharding, &attr), TSR_OK);
    assert_int_equal(attr, first_attr(p));
    tsr_program_destroy(p);
}

/* A mesh that changes drops what was resolved on it. */
static void meshes_that_change_drop_all(void **state)
{
    fixture *f = *state;
    tsr_program *p = read_sample(f);
    const tsr_sharding *sharding = NULL;
    engine *e = NULL;
    uint32_t mesh = function_first(p);
    while (!op_is(p, mesh, OP_SDY_MESH)) {
        mesh = program_op(p, mesh)->prev;
    }
    uint32_t attr = 0;
    static const char other[] = "<[\"a\"=2, \"b\"=4]>";
    assert_int_equal(interned_engine(f->ctx, p, &e), TSR_OK);
    assert_int_equal(attr_of_text(p, ATTR_SDY, SDY_MESH, 0, other, sizeof other - 1, &attr),
                     TSR_OK);
    assert_int_equal(op_set_property(p, mesh, "mesh", attr), TSR_OK);
    ir_shardings_refresh(p);
    assert_null(p->interned);
    assert_int_equal(interned_sharding(f->ctx, p, first_attr(p), &sharding), TSR_OK);
    assert_int_equal(tsr_mesh_axis_size(sharding->mesh, 1), 4);
    tsr_program_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(passes_share_an_engine),
        TEST(passes_with_verification_share_an_engine),
        TEST(attributes_and_objects_are_one_to_one),
        TEST(meshes_that_change_drop_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

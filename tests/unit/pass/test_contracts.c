/*
 * Contracts between passes: they hold on the golden programs from the pass that establishes them to
 * the one that ends them, and a program that breaks one is reported by op.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/pass.h>

#include "support.h"

#include "pass/contracts.h"
#include "transform/reshard.h"

/* ---- golden programs ---- */

enum { MAX_HELD = 32 };

/* A program under way through a pipeline, and the contracts that hold of it. */
typedef struct journey {
    fixture *f;
    tsr_program *p;
    const char *file;
    const contract *held[MAX_HELD];
    size_t num_held;
    size_t num_verified;
    bool refused; /* by a pass, or not a program after it */
} journey;

static void end_contract(journey *j, const contract *c)
{
    for (size_t i = 0; i < j->num_held; i++) {
        if (j->held[i] == c) {
            j->held[i] = j->held[--j->num_held];
        }
    }
}

/* What holds after a pass: what it establishes, and what it does not end. */
static void update(journey *j, const char *pass, const tsr_pass_options *options)
{
    size_t count = 0;
    const pass_contracts *rows = pass_contracts_rows(&count);
    for (size_t i = 0; i < count; i++) {
        if (!pass_contracts_apply(&rows[i], pass, options)) {
            continue;
        }
        for (size_t k = 0; k < MAX_PASS_CONTRACTS && rows[i].ends[k] != NULL; k++) {
            end_contract(j, rows[i].ends[k]);
        }
        for (size_t k = 0; k < MAX_PASS_CONTRACTS && rows[i].establishes[k] != NULL; k++) {
            end_contract(j, rows[i].establishes[k]);
            assert_in_range(j->num_held, 0, MAX_HELD - 1);
            j->held[j->num_held++] = rows[i].establishes[k];
        }
    }
}

static void insist(const journey *j, tsr_status status, const char *pass, const char *what)
{
    if (status != TSR_OK) {
        const tsr_diagnostic *d = tsr_context_diagnostics(j->f->ctx);
        fail_msg("%s, after %s: %s: %s", j->file, pass, what, d != NULL ? d->text : "?");
    }
}

/* Whether a pass failed because it broke a contract. */
static bool broke_contract(const journey *j)
{
    for (const tsr_diagnostic *d = tsr_context_diagnostics(j->f->ctx); d != NULL; d = d->next) {
        if (d->notes != NULL && strstr(d->notes->text, "breaks a contract") != NULL) {
            return true;
        }
    }
    return false;
}

static bool run_next(void *state, const char *name, const tsr_pass_options *options)
{
    journey *j = state;
    const tsr_pass *pass = tsr_pass_find(name);
    const tsr_pass_options defaults = {pass->options, pass->num_options, NULL};
    const tsr_pass_options *chosen = options != NULL ? options : &defaults;
    tsr_status status = tsr_pass_run(j->f->ctx, j->p, pass, chosen);
    if (status >= 0) {
        status = tsr_program_verify(j->f->ctx, j->p);
    }
    if (status < 0) {
        insist(j, broke_contract(j) ? status : TSR_OK, name, "itself");
        j->refused = true;
        return false;
    }
    update(j, name, chosen);
    for (size_t i = 0; i < j->num_held; i++) {
        insist(j, contract_verify(j->f->ctx, j->p, j->held[i]), name, j->held[i]->name);
        j->num_verified++;
    }
    tsr_context_clear(j->f->ctx);
    return true;
}

/* One of the pipelines: an option of the propagation pipeline that is set; NULL: none. */
static size_t run_pipeline(fixture *f, const char *file, const char *text, const char *option)
{
    const tsr_text source = tsr_text_of("golden.mlir", text);
    const tsr_pass *pipeline = tsr_pass_find("sdy-propagation-pipeline");
    tsr_option_value values[16] = {0};
    tsr_option_value full[2] = {{.is_given = true, .number = 1}};
    journey j = {.f = f, .file = file};
    for (size_t i = 0; i < pipeline->num_options; i++) {
        values[i].is_given = option != NULL && strcmp(pipeline->options[i].name, option) == 0;
        values[i].number = 1;
    }
    const tsr_pass_options chosen = {pipeline->options, pipeline->num_options, values};
    const tsr_pass *reshards = tsr_pass_find("sdy-insert-explicit-reshards");
    const tsr_pass_options explicit = {reshards->options, reshards->num_options, full};
    assert_string_equal(reshards->options[0].name, "enable-full-version");
    if (tsr_program_read(f->ctx, &source, 0, &j.p) == TSR_OK) {
        (void)pipeline->expand(&chosen, run_next, &j);
        if (!j.refused) {
            (void)run_next(&j, reshards->name, &explicit);
        }
    }
    tsr_program_destroy(j.p);
    tsr_context_clear(f->ctx);
    return j.num_verified;
}

/* The programs of a file, cut where tessera-opt -split-input-file cuts it. */
static size_t run_file(fixture *f, const char *path)
{
    static const char *const options[] = {NULL, "as-xla", "dedup-functions-fully"};
    static char text[1 << 20];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    size_t verified = 0;
    for (char *piece = text; piece != NULL;) {
        char *end = strstr(piece, "// -----");
        if (end != NULL) {
            *end++ = '\0';
        }
        for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
            verified += run_pipeline(f, path, piece, options[i]);
        }
        piece = end != NULL ? strchr(end, '\n') : NULL;
    }
    return verified;
}

static void contracts_hold_on_golden_programs(void **state)
{
    static const char *const folders[] = {"passes", "check", "dropped"};
    const char *root = getenv("TSR_SOURCE_DIR");
    size_t verified = 0;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char pattern[4096];
        glob_t found;
        (void)snprintf(pattern, sizeof pattern, "%s/tests/golden/%s/*.mlir",
                       root != NULL ? root : ".", folders[i]);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t k = 0; k < found.gl_pathc; k++) {
            verified += run_file(*state, found.gl_pathv[k]);
        }
        globfree(&found);
    }
    assert_in_range(verified, 5000, SIZE_MAX);
}

/* ---- planted violations ---- */

#define MESH "sdy.mesh @m = <[\"a\"=2, \"b\"=2]>\n"
#define MAIN "func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
#define TYPE " : tensor<4x8xf32>\n"
#define END "  return %y : tensor<4x8xf32>\n}\n"
#define CALLED                                                                                     \
    "func.func private @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"                             \
    "  return %x : tensor<4x8xf32>\n}\n"
#define CALL "call @f(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"

typedef struct violation {
    const contract *broken;
    const char *message;
    const char *text;
} violation;

static const violation violations[] = {
    {&contract_named_meshes,
     "'sdy.reshard' op has the sharding #sdy.sharding<mesh<[\"a\"=2]>, [{\"a\"}, {}]>, which does "
     "not name its mesh",
     MAIN "  %y = sdy.reshard %x <mesh<[\"a\"=2]>, [{\"a\"}, {}]>" TYPE END},
    {&contract_inlined_meshes,
     "'stablehlo.tanh' op has the sharding #sdy.sharding<@m, [{\"a\"}, {}]>, which names a mesh",
     MAIN "  %y = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"a\"}, "
          "{}]>]>}" TYPE END},
    {&contract_inlined_meshes, "'sdy.mesh' op remains in the program",
     MESH MAIN "  %y = stablehlo.tanh %x" TYPE END},
    {&contract_single_calls, "'func.call' op calls @f, which may have 1 calls at most",
     MAIN "  %z = " CALL "  %y = " CALL END CALLED},
    {&contract_no_calls, "'func.call' op calls @f, which may have 0 calls at most",
     MAIN "  %y = " CALL END CALLED},
    {&contract_no_composites, "'stablehlo.composite' op remains in the program",
     MAIN "  %y = stablehlo.composite \"x.c\" %x {decomposition = @f} : (tensor<4x8xf32>) -> "
          "tensor<4x8xf32>\n" END CALLED},
    {&contract_no_edges, "'sdy.data_flow_edge' op remains in the program",
     MAIN "  %z = stablehlo.optimization_barrier %x" TYPE "  %y = sdy.data_flow_edge %z" TYPE END},
    {&contract_no_func_edges, "'sdy.func_data_flow_edge' op remains in the program",
     CALLED MAIN "  %z = " CALL "  %y = sdy.func_data_flow_edge %z" TYPE END},
    {&contract_no_groups, "'sdy.sharding_group' op remains in the program",
     MAIN "  sdy.sharding_group %x group_id=1" TYPE "  %y = stablehlo.tanh %x" TYPE END},
    {&contract_no_constraints, "'sdy.sharding_constraint' op remains in the program",
     MESH MAIN "  %y = sdy.sharding_constraint %x <@m, [{\"a\"}, {}]>" TYPE END},
    {&contract_closed_shardings,
     "'func.func' op has the sharding #sdy.sharding<@m, [{\"a\"}, {?}]>, in which a dimension is "
     "open",
     MESH "func.func @main(%y: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"a\"}, {?}]>})"
          " -> tensor<4x8xf32> {\n" END},
    {&contract_closed_shardings,
     "'stablehlo.tanh' op has the sharding #sdy.sharding<@m, [{\"a\"}, {}], replicated={\"b\"}>, "
     "which replicates axes by name",
     MESH MAIN "  %y = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"a\"}, "
               "{}], replicated={\"b\"}>]>}" TYPE END},
    {&contract_explicit_reshards,
     "'stablehlo.tanh' op needs reshards: its operands and results are cut along other axes",
     MESH MAIN "  %y = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{\"a\"}, "
               "{}]>]>}" TYPE END},
    {&contract_explicit_reshards,
     "'func.return' op needs a reshard of operand 0: from none to #sdy.sharding<@m, [{\"b\"}, {}]>",
     MESH "func.func @main(%y: tensor<4x8xf32>) -> (tensor<4x8xf32>\n"
          "    {sdy.sharding = #sdy.sharding<@m, [{\"b\"}, {}]>}) {\n" END},
    {&contract_explicit_calls,
     "'func.call' op needs a reshard of operand 0: from none to #sdy.sharding<@m, [{\"b\"}, {}]>",
     MESH MAIN "  %y = " CALL END "func.func private @f(%x: tensor<4x8xf32>\n"
               "    {sdy.sharding = #sdy.sharding<@m, [{\"b\"}, {}]>}) -> tensor<4x8xf32> {\n"
               "  return %x : tensor<4x8xf32>\n}\n"},
};

static void violations_are_found(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof violations / sizeof violations[0]; i++) {
        const violation *v = &violations[i];
        const tsr_text source = tsr_text_of("planted.mlir", v->text);
        char note[256];
        tsr_program *p = NULL;
        assert_int_equal(tsr_program_read(f->ctx, &source, TSR_PROGRAM_UNVERIFIED, &p), TSR_OK);
        assert_int_equal(edit_begin(p), TSR_OK);
        assert_true(contract_verify(f->ctx, p, v->broken) < 0);
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        (void)snprintf(note, sizeof note, "this breaks a contract between passes: %s",
                       v->broken->name);
        assert_string_equal(d->text, v->message);
        assert_non_null(d->notes);
        assert_string_equal(d->notes->text, note);
        tsr_context_clear(f->ctx);
        tsr_program_destroy(p);
    }
}

/* A phase that relies on a contract says what it needs, and nothing of the op. */
static void phases_require_contracts(void **state)
{
    fixture *f = *state;
    const tsr_text source = tsr_text_of("planted.mlir", violations[0].text);
    tsr_program *p = NULL;
    assert_int_equal(tsr_program_read(f->ctx, &source, 0, &p), TSR_OK);
    assert_true(contract_require(f->ctx, p, &contract_named_meshes, "partitioning") < 0);
    expect_error(f, "partitioning needs meshes by name: run -sdy-lift-inlined-meshes first");
    assert_int_equal(contract_require(f->ctx, p, &contract_no_groups, "partitioning"), TSR_OK);
    tsr_program_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(contracts_hold_on_golden_programs),
        TEST(violations_are_found),
        TEST(phases_require_contracts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

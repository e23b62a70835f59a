/* Regions of typed code in which an axis is local, within code in which it is global. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

/* Each rank's own softmax over the rows that it has: what no rule of whole values says. */
static tsr_status own_softmax(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                              void *state)
{
    tsr_arena *arena = state;
    const char *text = NULL;
    TSR_TRY(tsr_type_of(inputs[0], arena, &text));
    WANT(world, strcmp(text, "f64[2,3]{tp:V}") == 0);
    return tsr_softmax(inputs[0], 0, &outputs[0]);
}

static tsr_status play(tsr_comm *world, tsr_arena *arena)
{
    double numbers[] = {0, 0, 0, 0, 0, 0};
    const int64_t shape[] = {2, 3};
    const tsr_view view = {numbers, TSR_F64, 2, shape, NULL};
    char sharded[64];
    char wrong[64];
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    tsr_tensor *loss = NULL;
    tsr_tensor *gradient = NULL;
    const size_t dim = 0;
    const int rows = 2 * (int)tsr_comm_size(world);
    (void)snprintf(sharded, sizeof sharded, "f64[%d@tp,3]", rows);
    (void)snprintf(wrong, sizeof wrong, "f64[2,%d@tp]", 3 * (int)tsr_comm_size(world));
    TSR_TRY(tsr_typed_value(world, &view, sharded, &x));
    /* Over the whole it would have to be gathered first. */
    WANT(world, tsr_comm_size(world) == 1 || tsr_softmax(x, 0, &y) == TSR_ERR_INVALID);
    tsr_context_clear(tsr_comm_context(world));
    const char *const types[] = {sharded};
    const char *const others[] = {wrong};
    tsr_local_region region = {.region = own_softmax,
                               .state = arena,
                               .inputs = &x,
                               .input_types = types,
                               .num_inputs = 1,
                               .output_types = types,
                               .num_outputs = 1};
    TSR_TRY(tsr_tape_begin(world));
    TSR_TRY(tsr_watch(x));
    TSR_TRY(tsr_local_map(world, "tp", &region, &y));
    const char *text = NULL;
    TSR_TRY(tsr_type_of(y, arena, &text));
    WANT(world, strcmp(text, sharded) == 0);
    WANT(world, ((const double *)tsr_tensor_data(y))[0] == 0.5);
    /* The tape goes through: of a sum of softmaxes nothing is left. */
    TSR_TRY(tsr_sum_partial(y, &dim, 1, "tp", &loss));
    TSR_TRY(tsr_sum(loss, &dim, 1, &loss));
    TSR_TRY(tsr_backward(loss));
    TSR_TRY(tsr_gradient(x, &gradient));
    WANT(world, ((const double *)tsr_tensor_data(gradient))[5] == 0);
    tsr_tape_end(world);
    /* Another type than the value has, or than comes out, is refused. */
    region.input_types = others;
    WANT(world, tsr_local_map(world, "tp", &region, &y) == TSR_ERR_INVALID);
    tsr_context_clear(tsr_comm_context(world));
    region.input_types = types;
    static const char *const replicated[] = {"f64[2,3]{tp:R}"};
    region.output_types = replicated;
    WANT(world, tsr_local_map(world, "tp", &region, &y) == TSR_ERR_INVALID);
    tsr_context_clear(tsr_comm_context(world));
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    char text[32];
    (void)state;
    (void)snprintf(text, sizeof text, "<[\"tp\"=%lld]>", (long long)tsr_comm_size(world));
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, text, &mesh));
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh, .global = {1}}));
    const tsr_status status = play(world, arena);
    tsr_spmd_close(world);
    tsr_scope_close(world);
    tsr_arena_destroy(arena);
    return status;
}

static void a_local_region_in_global_code(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        const tsr_launch_spec spec = {.num_ranks = ranks, .ranks = kinds_chosen()};
        expect_ranks(*state, &spec, run, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(a_local_region_in_global_code)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

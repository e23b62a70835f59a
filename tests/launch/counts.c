/* Values with new counts at every step, as tokens routed to experts have: what is kept of them. */
#include <stdio.h>

#include "base/base.h"
#include "failing_heap.h"
#include "want.h"

enum { STEPS = 40000, SETTLED = 20000 };

/* Allocations that are out halfway, and the most after that. */
typedef struct account {
    failing_heap heap;
    int64_t halfway;
    int64_t most;
} account;

static tsr_status take_step(tsr_comm *world, int64_t step)
{
    char type[64];
    const int64_t mine = 1 + step % 89;
    const int64_t other = 1 + step / 89;
    const tsr_view part = {NULL, TSR_F32, 1, &mine, NULL};
    tsr_tensor *x = NULL;
    tsr_tensor *y = NULL;
    (void)snprintf(type, sizeof type, "f32[%lld@tp:[%lld,%lld]]", (long long)(mine + other),
                   (long long)mine, (long long)other);
    TSR_TRY(tsr_scope_open(world));
    TSR_TRY(tsr_typed_value(world, &part, type, &x));
    TSR_TRY(tsr_negate(x, &y));
    tsr_scope_close(world);
    return TSR_OK;
}

static tsr_status run_steps(tsr_comm *world, void *state)
{
    account *a = state;
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, "<[\"tp\"=2]>", &mesh));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh}));
    for (int64_t step = 0; step < STEPS; step++) {
        TSR_TRY(take_step(world, step));
        a->halfway = step < SETTLED && a->heap.live > a->halfway ? a->heap.live : a->halfway;
        a->most = step >= SETTLED && a->heap.live > a->most ? a->heap.live : a->most;
    }
    tsr_spmd_close(world);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

/* Types, layouts and cases of counts that never come again are let go of. */
static void old_counts_are_forgotten(void **state)
{
    (void)state;
    static account a = {.heap = {.fail_at = -1}};
    const tsr_allocator allocator = {.resize = failing_heap_resize, .state = &a.heap};
    tsr_context *ctx = NULL;
    assert_int_equal(tsr_context_create(&allocator, &ctx), TSR_OK);
    const tsr_status status = tsr_launch_abstract(ctx, 2, 0, run_steps, &a);
    if (status < 0) {
        fail_msg("%s", tsr_context_diagnostics(ctx)->text);
    }
    printf("allocations out: %lld in the first half, %lld in the second\n", (long long)a.halfway,
           (long long)a.most);
    assert_true(a.most <= a.halfway + a.halfway / 100);
    tsr_context_destroy(ctx);
    assert_int_equal(a.heap.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(old_counts_are_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

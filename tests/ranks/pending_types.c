/*
 * The element type of pending sums of bf16: in layouts, in the trace with its bytes and the convert
 * where a sum is completed, in strict mode, in tensors without elements, in prices.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "texts.h"
#include "want.h"

enum { RANKS = 4 };

#define ROWS "[{\"x\"}, {}]"
#define COLUMNS "[{}, {\"x\"}]"

/* What a rank needs. */
typedef struct site {
    tsr_comm *world;
    tsr_arena *arena;
    const tsr_mesh *mesh;
} site;

/* A product that leaves a sum pending along x. */
static tsr_status product(const site *s, const char *type, tsr_tensor **out)
{
    char shapes[2][32];
    tsr_tensor *x = NULL;
    tsr_tensor *w = NULL;
    (void)snprintf(shapes[0], sizeof shapes[0], "%s[6,8]", type);
    (void)snprintf(shapes[1], sizeof shapes[1], "%s[8,4]", type);
    TSR_TRY(tensor_of_text(s->world, s->arena, s->mesh, shapes[0], COLUMNS, &x));
    TSR_TRY(tensor_of_text(s->world, s->arena, s->mesh, shapes[1], ROWS, &w));
    return tsr_matmul(x, w, out);
}

static const tsr_trace_event *last_event(tsr_comm *world)
{
    size_t count;
    const tsr_trace_event *events = tsr_trace_events(world, &count);
    return count > 0 ? &events[count - 1] : NULL;
}

/* The type follows a sum through ops and redistributions, until it is completed. */
static tsr_status types_follow(const site *s)
{
    tsr_tensor *y = NULL;
    tsr_tensor *twice = NULL;
    tsr_tensor *moved = NULL;
    tsr_tensor *done = NULL;
    tsr_tensor *f32 = NULL;
    tsr_comm *world = s->world;
    TSR_TRY(product(s, "bf16", &y));
    WANT(world, tsr_tensor_dtype(y) == TSR_BF16);
    WANT(world, tsr_tensor_pending_dtype(y) == TSR_F32);
    TSR_TRY(tsr_add(y, y, &twice));
    WANT(world, tsr_tensor_dtype(twice) == TSR_BF16);
    WANT(world, tsr_tensor_pending_dtype(twice) == TSR_F32);
    TSR_TRY(tsr_transpose(y, (const size_t[]){1, 0}, &moved));
    WANT(world, tsr_tensor_pending_dtype(moved) == TSR_F32);
    TSR_TRY(tsr_reduce_pending(y, &done));
    WANT(world, tsr_tensor_dtype(done) == TSR_BF16);
    WANT(world, tsr_tensor_pending_dtype(done) == TSR_BF16);
    TSR_TRY(product(s, "f32", &f32));
    WANT(world, tsr_tensor_pending_dtype(f32) == TSR_F32);
    return TSR_OK;
}

/* Elements that are filled in are pending in their own type. */
static void set_one(const int64_t *index, void *element, void *state)
{
    (void)index;
    (void)state;
    memcpy(element, (const unsigned char[]){0x80, 0x3f}, 2);
}

static tsr_status filled(const site *s)
{
    tsr_tensor *y = NULL;
    TSR_TRY(product(s, "bf16", &y));
    tsr_tensor_fill(y, set_one, NULL);
    WANT(s->world, tsr_tensor_pending_dtype(y) == TSR_BF16);
    return TSR_OK;
}

/* An all-reduce of 6 x 4 in shares moves 2 (p - 1) of 24 elements, of four bytes each. */
static tsr_status check_event(const site *s, const tsr_trace_event *event, const char *call)
{
    tsr_comm *world = s->world;
    WANT(world, event != NULL);
    WANT(world, strcmp(event->call, call) == 0);
    WANT(world, strcmp(event->tensor, "bf16[6,4] pending in f32") == 0);
    WANT(world, strcmp(event->collective, "all-reduce") == 0);
    WANT(world, event->convert != NULL && strcmp(event->convert, "f32 to bf16") == 0);
    WANT(world, event->bytes_moved == (int64_t)2 * (RANKS - 1) * 24 * 4);
    return TSR_OK;
}

static tsr_status trace_has_them(const site *s)
{
    tsr_tensor *y = NULL;
    tsr_tensor *out = NULL;
    tsr_tensor *f32 = NULL;
    const char *text = NULL;
    tsr_comm *world = s->world;
    TSR_TRY(product(s, "bf16", &y));
    TSR_TRY(tsr_trace_begin(world));
    TSR_TRY(tsr_reduce_pending(y, &out));
    TSR_TRY(check_event(s, last_event(world), "tsr_reduce_pending"));
    TSR_TRY(tsr_exp(y, &out));
    TSR_TRY(check_event(s, last_event(world), "tsr_exp"));
    TSR_TRY(tsr_trace_print(world, s->arena, &text));
    WANT(world, strstr(text, "bf16[6,4] pending in f32: all-reduce over") != NULL);
    WANT(world, strstr(text, "576 bytes, then convert f32 to bf16") != NULL);
    const tsr_sharding *replicated = NULL;
    TSR_TRY(tsr_sharding_replicated_over(tsr_comm_context(world), s->arena, s->mesh, 2, false,
                                         &replicated));
    TSR_TRY(tsr_redistribute(y, replicated, &out));
    TSR_TRY(check_event(s, last_event(world), "tsr_redistribute"));
    tsr_tensor_release(out);
    TSR_TRY(product(s, "f32", &f32));
    TSR_TRY(tsr_reduce_pending(f32, &out));
    WANT(world, strcmp(last_event(world)->tensor, "f32[6,4]") == 0);
    WANT(world, last_event(world)->convert == NULL);
    tsr_trace_end(world);
    return TSR_OK;
}

static tsr_status strict_mode_has_them(const site *s)
{
    tsr_tensor *y = NULL;
    tsr_tensor *out = NULL;
    tsr_comm *world = s->world;
    TSR_TRY(product(s, "bf16", &y));
    TSR_TRY(tsr_set_strict(world, true));
    const tsr_status status = tsr_exp(y, &out);
    WANT(world, status == TSR_ERR_INVALID);
    WANT(world, messages_have(world, "bf16[6,4] pending in f32"));
    WANT(world, messages_have(world, "576 bytes"));
    tsr_context_clear(tsr_comm_context(world));
    return tsr_set_strict(world, false);
}

/* A scope is open while a scene runs. */
static tsr_status run_scene(tsr_comm *world, void *state)
{
    tsr_status (**scene)(const site *) = state;
    site s = {.world = world};
    const tsr_mesh_spec spec = {.name = "mesh",
                                .num_axes = 1,
                                .axis_names = (const char *const[]){"x"},
                                .axis_sizes = (const int64_t[]){RANKS}};
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &s.arena));
    tsr_status status = tsr_mesh_create(tsr_comm_context(world), s.arena, &spec, &s.mesh);
    status = status < 0 ? status : tsr_scope_open(world);
    status = status < 0 ? status : (*scene)(&s);
    tsr_scope_close(world);
    tsr_arena_destroy(s.arena);
    return status;
}

static void launch(fixture *f, tsr_status (*scene)(const site *))
{
    const tsr_launch_spec spec = {
        .num_ranks = RANKS, .ranks = kinds_chosen(), .timeout = 20, .segment_bytes = 1 << 22};
    const tsr_status status = launch_ranks(f->ctx, &spec, run_scene, &scene);
    if (status != TSR_OK) {
        const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
        fail_msg("%s", d != NULL ? d->text : "no message");
    }
}

#define SCENE(name, scene)                                                                         \
    static void name(void **state)                                                                 \
    {                                                                                              \
        launch(*state, scene);                                                                     \
    }

SCENE(layouts_have_the_type, types_follow)
SCENE(filled_parts_have_their_own, filled)
SCENE(the_trace_has_the_type_and_the_bytes, trace_has_them)
SCENE(strict_mode_has_the_type_and_the_bytes, strict_mode_has_them)

/* The same without elements: for a world of any size. */
static void abstract_tensors_have_it(void **state)
{
    fixture *f = *state;
    tsr_status (*scenes[])(const site *) = {types_follow, trace_has_them, strict_mode_has_them};
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        const tsr_status status = tsr_launch_abstract(f->ctx, RANKS, 0, run_scene, &scenes[i]);
        if (status != TSR_OK) {
            fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(layouts_have_the_type),
        TEST(filled_parts_have_their_own),
        TEST(the_trace_has_the_type_and_the_bytes),
        TEST(strict_mode_has_the_type_and_the_bytes),
        TEST(abstract_tensors_have_it),
    };
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

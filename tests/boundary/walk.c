#include "walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlpack/dlpack.h>

#include "values.h"

enum { PATTERN = 0x5a };

/* ---- steps ---- */

void walk_begin(walk *w, const char *function, bool typed)
{
    w->function = function;
    values_set_typed(w, typed);
    w->step = -2;
    w->ended = false;
}

bool walk_next(walk *w)
{
    if (w->ended) {
        return false;
    }
    w->step++;
    w->steps++;
    w->rooms_used = 0;
    memset(w->rooms, PATTERN, (size_t)WALK_ROOMS * WALK_ROOM_BYTES);
    values_renew(w);
    return true;
}

int64_t walk_step(walk *w)
{
    return w->step;
}

void walk_expect(walk *w, walk_expectation expectation, const char *what)
{
    w->expectation = expectation;
    w->what = what;
    w->ended = w->step >= 0 && (expectation == WALK_SUCCEEDS || expectation == WALK_FAILS);
}

void *walk_room(walk *w)
{
    if (w->rooms_used == WALK_ROOMS) {
        abort();
    }
    return w->rooms + WALK_ROOM_BYTES * w->rooms_used++;
}

/* ---- what must hold after a step ---- */

static void complain(walk *w, tsr_status status, const char *why)
{
    const tsr_diagnostic *d = tsr_context_diagnostics(w->ctx);
    w->failures++;
    if (tsr_comm_rank(w->world) == 0) {
        fprintf(stderr, "%s, %s: %s (%s: %s)\n", w->function, w->what, why, tsr_status_name(status),
                d != NULL ? d->text : "no message");
    }
}

/* Whether a message names the call and the argument, the word before the first blank. */
static bool is_named(const walk *w)
{
    char argument[128];
    const size_t length = strcspn(w->what, " ");
    (void)snprintf(argument, sizeof argument, "%.*s", (int)length, w->what);
    for (const tsr_diagnostic *d = tsr_context_diagnostics(w->ctx); d != NULL; d = d->next) {
        if (strstr(d->text, w->function) != NULL && strstr(d->text, argument) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_untouched(const walk *w)
{
    for (size_t i = 0; i < WALK_ROOM_BYTES * w->rooms_used; i++) {
        if (w->rooms[i] != PATTERN) {
            return false;
        }
    }
    return true;
}

static bool has_message(const walk *w)
{
    const tsr_diagnostic *d = tsr_context_diagnostics(w->ctx);
    const tsr_diagnostic *of_abstract = tsr_context_diagnostics(w->abstract_ctx);
    return (d != NULL && d->text[0] != '\0') ||
           (of_abstract != NULL && of_abstract->text[0] != '\0');
}

void walk_check(walk *w, tsr_status status, bool silent, bool has_status)
{
    switch (w->expectation) {
    case WALK_REFUSED:
    case WALK_REFUSED_SILENTLY:
        if (!is_untouched(w)) {
            complain(w, status, "an output was touched");
        }
        if (has_status && status != TSR_ERR_INVALID) {
            complain(w, status, "not refused");
        }
        if (w->expectation == WALK_REFUSED && !silent && !is_named(w)) {
            complain(w, status, "the message does not name the call and the argument");
        }
        break;
    case WALK_SUCCEEDS:
        if (status < 0) {
            complain(w, status, "a valid call fails");
        }
        break;
    case WALK_FAILS:
        if (status >= 0) {
            complain(w, status, "the call succeeds");
        }
        break;
    case WALK_SURVIVES:
        if (status < 0 && !silent && !has_message(w) && strcmp(w->what, "ctx NULL") != 0) {
            complain(w, status, "fails without a message");
        }
        break;
    }
    tsr_context_clear(w->ctx);
    tsr_context_clear(w->abstract_ctx);
}

/* ---- what calls make ---- */

/* Whether a successful call wrote to an output of ours. */
static bool is_made(const walk *w, tsr_status status, const void *made)
{
    const char *at = made;
    static const unsigned char pattern[8] = {PATTERN, PATTERN, PATTERN, PATTERN,
                                             PATTERN, PATTERN, PATTERN, PATTERN};
    return status >= 0 && made != NULL && at >= w->rooms &&
           at < w->rooms + (size_t)WALK_ROOMS * WALK_ROOM_BYTES && memcmp(at, pattern, 8) != 0;
}

void walk_release_tensors(walk *w, tsr_status status, tsr_tensor **made)
{
    for (size_t i = 0; made != NULL && i < WALK_ROOM_BYTES / sizeof *made; i++) {
        if (!is_made(w, status, &made[i])) {
            break;
        }
        tsr_tensor_release(made[i]);
    }
}

#define RELEASE(name, type, release)                                                               \
    /* NOLINTNEXTLINE(bugprone-macro-parentheses): a type */                                       \
    void walk_release_##name(walk *w, tsr_status status, type *made)                               \
    {                                                                                              \
        if (is_made(w, status, made)) {                                                            \
            release(*made);                                                                        \
        }                                                                                          \
    }
RELEASE(program, tsr_program *, tsr_program_destroy)
RELEASE(interpreter, tsr_interpreter *, tsr_interpreter_destroy)
RELEASE(explanation, tsr_explanation *, tsr_explanation_destroy)
RELEASE(outputs, tsr_outputs *, tsr_outputs_destroy)
RELEASE(partitioned, tsr_partitioned *, tsr_partitioned_release)
RELEASE(conversion, tsr_conversion *, tsr_conversion_release)

void walk_release_world(walk *w, tsr_status status, tsr_world **made)
{
    if (is_made(w, status, made) && tsr_world_close(*made) != TSR_OK) {
        complain(w, status, "what was opened cannot be closed");
    }
}

void walk_release_request(walk *w, tsr_status status, tsr_comm *comm, tsr_request *made)
{
    if (is_made(w, status, made) && tsr_wait(comm, *made) < 0 && w->expectation == WALK_SUCCEEDS) {
        complain(w, status, "what was started cannot be waited for");
    }
}

void walk_release_started(walk *w, tsr_status status, tsr_started *made)
{
    tsr_tensor *value = NULL;
    if (is_made(w, status, made) && tsr_wait_value(w->world, *made, &value) < 0 &&
        w->expectation == WALK_SUCCEEDS) {
        complain(w, status, "what was started cannot be waited for");
    }
    tsr_tensor_release(value);
}

void walk_release_dlpack(walk *w, tsr_status status, struct DLManagedTensor **made)
{
    if (is_made(w, status, made)) {
        (*made)->deleter(*made);
    }
}

/* ---- callbacks ---- */

tsr_status walk_nothing(tsr_comm *world, void *state)
{
    (void)world;
    (void)state;
    return TSR_OK;
}

void walk_log(void *state, const tsr_diagnostic *diagnostic)
{
    (void)state;
    (void)diagnostic;
}

tsr_status walk_region(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                       void *state)
{
    (void)world;
    (void)state;
    return tsr_add(inputs[0], inputs[0], &outputs[0]);
}

bool walk_write(void *state, const char *bytes, size_t count)
{
    (void)state;
    (void)bytes;
    (void)count;
    return true;
}

void walk_element(const int64_t *index, void *element, void *state)
{
    (void)index;
    (void)element;
    (void)state;
}

/* ---- what values.txt skips ---- */

static void want(walk *w, const char *what, bool holds)
{
    w->what = what;
    w->steps++;
    if (!holds) {
        complain(w, TSR_OK, "does not hold");
    }
    tsr_context_clear(w->ctx);
}
#define WANT(w, condition) want(w, #condition, condition)

static void *no_memory(void *state, void *old, size_t old_size, size_t new_size)
{
    (void)state;
    (void)old;
    (void)old_size;
    (void)new_size;
    return NULL;
}

static void walk_objects(walk *w)
{
    tsr_context *ctx = NULL;
    tsr_arena *arena = NULL;
    const tsr_allocator none = {0};
    const tsr_allocator empty = {.resize = no_memory};
    w->function = "by hand";
    WANT(w, tsr_context_create(NULL, NULL) == TSR_ERR_INVALID);
    WANT(w, tsr_context_create(&none, &ctx) == TSR_ERR_INVALID && ctx == NULL);
    WANT(w, tsr_context_create(&empty, &ctx) == TSR_ERR_NOMEM && ctx == NULL);
    WANT(w, tsr_arena_create(NULL, &arena) == TSR_ERR_INVALID && arena == NULL);
    WANT(w, tsr_arena_create(w->ctx, NULL) == TSR_ERR_INVALID);
    WANT(w, tsr_tensor_retain(NULL) == NULL);
    WANT(w, tsr_tape_conversion(w->ragged, w->whole, NULL) == TSR_ERR_INVALID);
    WANT(w, tsr_tape_conversion(NULL, w->whole, w->conversion) == TSR_ERR_INVALID);
    tsr_context_destroy(NULL);
    tsr_arena_destroy(NULL);
    tsr_program_destroy(NULL);
    tsr_interpreter_destroy(NULL);
    tsr_explanation_destroy(NULL);
    tsr_outputs_destroy(NULL);
    tsr_tensor_release(NULL);
    tsr_conversion_release(NULL);
    tsr_partitioned_release(NULL);
    tsr_comm_abort(NULL, 1);
}

static void walk_worlds(walk *w)
{
    tsr_comm *world = NULL;
    const tsr_transport transport = {0};
    const tsr_launch_spec one = {.num_ranks = 1, .segment_bytes = 1 << 20};
    const tsr_launch_spec wrong[] = {{.num_ranks = -1},
                                     {.num_ranks = INT64_MAX},
                                     {.num_ranks = 1, .ranks = (tsr_ranks)99},
                                     {.num_ranks = 1, .timeout = -1},
                                     {.num_ranks = 1, .timeout = NAN},
                                     {.num_ranks = 1, .end_timeout = NAN},
                                     {.num_ranks = 1, .segment_bytes = SIZE_MAX}};
    WANT(w, tsr_launch(NULL, &one, walk_nothing, NULL) == TSR_ERR_INVALID);
    WANT(w, tsr_launch(w->ctx, NULL, walk_nothing, NULL) == TSR_ERR_INVALID);
    WANT(w, tsr_launch(w->ctx, &one, NULL, NULL) == TSR_ERR_INVALID);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const tsr_status status = tsr_launch(w->ctx, &wrong[i], walk_nothing, NULL);
        const bool told = tsr_context_diagnostics(w->ctx) != NULL;
        WANT(w, status < 0 && told);
    }
    WANT(w, tsr_launch(w->ctx, &one, walk_nothing, NULL) == TSR_OK);
    WANT(w, tsr_comm_open(w->ctx, NULL, NULL, &world) == TSR_ERR_INVALID);
    WANT(w, tsr_comm_open(w->ctx, &transport, NULL, NULL) == TSR_ERR_INVALID);
    WANT(w, tsr_comm_open(w->ctx, &transport, NULL, &world) < 0 && world == NULL);
    WANT(w, tsr_comm_open_mpi(w->ctx, NULL, NULL, &world) == TSR_ERR_INVALID);
    WANT(w, tsr_comm_close(NULL) == TSR_ERR_INVALID);
    WANT(w, tsr_comm_close(w->world) < 0);
    WANT(w, tsr_comm_close(w->abstract_world) < 0);
}

static void walk_open_worlds(walk *w)
{
    tsr_world *world = NULL;
    const tsr_launch_spec two = {
        .num_ranks = 2, .ranks = TSR_RANKS_THREADS, .segment_bytes = 1 << 20};
    const tsr_launch_spec wrong[] = {{.num_ranks = -1},
                                     {.num_ranks = INT64_MAX},
                                     {.num_ranks = 1, .ranks = (tsr_ranks)99},
                                     {.num_ranks = 1, .ranks = TSR_RANKS_PROCESSES},
                                     {.num_ranks = 1, .timeout = NAN},
                                     {.num_ranks = 1, .segment_bytes = SIZE_MAX}};
    WANT(w, tsr_world_open(NULL, &two, &world) == TSR_ERR_INVALID);
    WANT(w, tsr_world_open(w->ctx, NULL, &world) == TSR_ERR_INVALID);
    WANT(w, tsr_world_open(w->ctx, &two, NULL) == TSR_ERR_INVALID);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const tsr_status status = tsr_world_open(w->ctx, &wrong[i], &world);
        const bool told = tsr_context_diagnostics(w->ctx) != NULL;
        WANT(w, status < 0 && told && world == NULL);
    }
    WANT(w, tsr_world_open(w->ctx, &two, &world) == TSR_OK && world != NULL);
    WANT(w, tsr_world_start(NULL, walk_nothing, NULL) == TSR_ERR_INVALID);
    WANT(w, tsr_world_start(world, NULL, NULL) == TSR_ERR_INVALID);
    WANT(w, tsr_world_wait(NULL, 0) == TSR_ERR_INVALID);
    WANT(w, tsr_world_wait(world, 0) == TSR_ERR_INVALID);
    WANT(w, tsr_world_start(world, walk_nothing, NULL) == TSR_OK);
    WANT(w, tsr_world_wait(world, NAN) == TSR_ERR_INVALID);
    WANT(w, tsr_world_wait(world, INFINITY) == TSR_OK);
    WANT(w, tsr_world_start(world, walk_nothing, NULL) == TSR_OK);
    WANT(w, tsr_world_wait(world, -INFINITY) == TSR_OK);
    tsr_world_stop(NULL);
    tsr_world_stop(world);
    WANT(w, tsr_world_run(world, walk_nothing, NULL) == TSR_ERR_PEER);
    WANT(w, tsr_world_close(world) == TSR_OK);
    WANT(w, tsr_world_close(NULL) == TSR_OK);
}

/* ---- the run ---- */

typedef struct run {
    const char *only;
    walk *w;
    size_t failures;
    size_t steps;
} run;

static tsr_status in_abstract(tsr_comm *abstract_world, void *state)
{
    run *r = state;
    r->w->abstract_world = abstract_world;
    r->w->abstract_ctx = tsr_comm_context(abstract_world);
    const tsr_status status = values_make(r->w);
    if (status < 0) {
        return status;
    }
    for (size_t i = 0; i < walk_num_rows; i++) {
        if (r->only == NULL || strcmp(r->only, walk_rows[i].name) == 0) {
            walk_rows[i].run(r->w);
        }
    }
    if (r->only == NULL) {
        walk_objects(r->w);
        walk_worlds(r->w);
        walk_open_worlds(r->w);
    }
    values_free(r->w);
    r->failures = r->w->failures;
    r->steps = r->w->steps;
    return TSR_OK;
}

static tsr_status in_rank(tsr_comm *world, void *state)
{
    const run *given = state;
    run r = {.only = given->only};
    r.w = calloc(1, sizeof *r.w);
    if (r.w == NULL) {
        return TSR_ERR_NOMEM;
    }
    r.w->world = world;
    r.w->ctx = tsr_comm_context(world);
    tsr_context *ctx = NULL;
    tsr_status status = tsr_context_create(NULL, &ctx);
    if (status == TSR_OK) {
        status =
            tsr_launch_abstract(ctx, tsr_comm_size(world), tsr_comm_rank(world), in_abstract, &r);
        const tsr_diagnostic *d = tsr_context_diagnostics(ctx);
        if (status < 0) {
            fprintf(stderr, "walk: %s\n", d != NULL ? d->text : tsr_status_name(status));
        }
        tsr_context_destroy(ctx);
    }
    free(r.w);
    if (tsr_comm_rank(world) == 0) {
        printf("%zu functions, %zu calls, %zu failures\n", walk_num_rows, r.steps, r.failures);
        ((run *)state)->failures = r.failures;
    }
    return status;
}

int main(int argc, char **argv)
{
    run r = {.only = argc > 1 ? argv[1] : NULL};
    tsr_context *ctx = NULL;
    if (tsr_context_create(NULL, &ctx) < 0) {
        return 1;
    }
    const tsr_launch_spec spec = {.num_ranks = 2,
                                  .ranks = TSR_RANKS_THREADS,
                                  .timeout = 20,
                                  .segment_bytes = (size_t)64 << 20};
    const tsr_status status = tsr_launch(ctx, &spec, in_rank, &r);
    for (const tsr_diagnostic *d = tsr_context_diagnostics(ctx); d != NULL; d = d->next) {
        fprintf(stderr, "%s\n", d->text);
    }
    tsr_context_destroy(ctx);
    return status == TSR_OK && r.failures == 0 ? 0 : 1;
}

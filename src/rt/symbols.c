#include "rt/symbols.h"

#include <stdio.h>
#include <string.h>

#include <tessera/placement.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/lex.h"
#include "base/map.h"
#include "rt/tensor.h"

struct bound_symbol {
    bound_symbol *next;
    tsr_arena *arena;
    const char *name;   /* "" for the symbol without one */
    int64_t partitions; /* 0: the sizes of dynamic dimensions */
    const int64_t *numbers;
    size_t count;
};

static bool is_of(const bound_symbol *b, const tsr_ragged *ragged)
{
    return (b->partitions == 0) == (ragged->kind == TSR_RAGGED_DYNAMIC) &&
           strcmp(b->name, ragged->symbol != NULL ? ragged->symbol : "") == 0;
}

static const bound_symbol *find(const tsr_comm *world, const tsr_ragged *ragged)
{
    const bound_symbol *b = world->state->symbols;
    while (b != NULL && !is_of(b, ragged)) {
        b = b->next;
    }
    return b;
}

/* The sharding with one dimension bound. */
static tsr_status bind_dim(tsr_comm *world, tsr_arena *arena, const tsr_sharding *s, size_t dim,
                           const bound_symbol *b, const tsr_sharding **out)
{
    const int64_t shards = tsr_sharding_num_shards(s, dim);
    const int64_t each = max_i64(b->partitions, 1);
    const bool dynamic = b->partitions == 0;
    if ((int64_t)b->count / each != shards) {
        return diag_error(
            world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "dim %zu: the symbol ?%s is bound to the %s of %lld shards, the dimension "
            "has %lld",
            dim, b->name, dynamic ? "sizes" : "counts", (long long)((int64_t)b->count / each),
            (long long)shards);
    }
    const tsr_ragged ragged = {.kind = s->dims[dim].ragged->kind,
                               .rows = 1,
                               .partitions = b->partitions,
                               .sizes = dynamic ? b->numbers : NULL,
                               .counts = dynamic ? NULL : b->numbers,
                               .alignment = 1};
    return tsr_sharding_bind(world->ctx, arena, s, dim, &ragged, out);
}

tsr_status symbols_resolve(tsr_comm *world, tsr_arena *arena, const tsr_sharding *sharding,
                           const tsr_sharding **out)
{
    const tsr_sharding *s = sharding;
    for (size_t d = 0; world->state->symbols != NULL; d++) {
        d = sharding_unbound_dim(s, d);
        if (d == s->rank) {
            break;
        }
        const bound_symbol *b = find(world, s->dims[d].ragged);
        if (b != NULL) {
            TSR_TRY(bind_dim(world, arena, s, d, b, &s));
        }
    }
    *out = s;
    return TSR_OK;
}

/* Takes the symbol of that name and kind out of the list; NULL when it is not bound. */
static bound_symbol *take(tsr_comm *world, const char *name, bool dynamic)
{
    for (bound_symbol **link = &world->state->symbols; *link != NULL; link = &(*link)->next) {
        bound_symbol *b = *link;
        if ((b->partitions == 0) == dynamic && strcmp(b->name, name) == 0) {
            *link = b->next;
            return b;
        }
    }
    return NULL;
}

static void destroy(bound_symbol *b)
{
    if (b != NULL) {
        tsr_arena_destroy(b->arena);
    }
}

void symbols_clear(tsr_comm *world)
{
    while (world->state->symbols != NULL) {
        bound_symbol *b = world->state->symbols;
        world->state->symbols = b->next;
        destroy(b);
    }
}

static void put(tsr_comm *world, bound_symbol *b)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): set, since the status is TSR_OK */
    b->next = world->state->symbols;
    world->state->symbols = b;
}

/* A call of tsr_symbol_bind. */
typedef struct symbol_call {
    const char *name;
    int64_t partitions;
    size_t count;
    const int64_t *numbers;
} symbol_call;

static tsr_status check_numbers(tsr_context *ctx, const symbol_call *c)
{
    if (c->name[0] != '\0' && !is_bare_id((slice){c->name, strlen(c->name)})) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_symbol_bind: a symbol is a bare id, such as rows_2, got: '%s'",
                          c->name);
    }
    if (c->partitions < 0 || c->count == 0 ||
        (c->partitions > 0 && c->count % (size_t)c->partitions != 0)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_symbol_bind: ?%s takes one size for each shard, or a row of counts "
                          "of the partitions for each, got: %zu numbers of %lld partitions",
                          c->name, c->count, (long long)c->partitions);
    }
    int64_t sum = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (c->numbers[i] < 0) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "tsr_symbol_bind: number %zu of ?%s is negative: %lld", i, c->name,
                              (long long)c->numbers[i]);
        }
        if (!checked_add(sum, c->numbers[i], &sum)) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "tsr_symbol_bind: the numbers of ?%s sum to more than 2^63-1",
                              c->name);
        }
    }
    return TSR_OK;
}

static tsr_status make(tsr_context *ctx, const symbol_call *c, bound_symbol **out)
{
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    bound_symbol *b = ARENA_NEW(arena, bound_symbol);
    const char *name = arena_string(arena, c->name, strlen(c->name));
    const int64_t *numbers = arena_copy(arena, c->numbers, c->count, sizeof *numbers);
    if (b == NULL || name == NULL || numbers == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(ctx);
    }
    *b = (bound_symbol){.arena = arena,
                        .name = name,
                        .partitions = c->partitions,
                        .numbers = numbers,
                        .count = c->count};
    *out = b;
    return TSR_OK;
}

static void describe(const void *of, char *text, size_t size)
{
    const symbol_call *c = of;
    size_t used = 0;
    for (size_t i = 0; i <= c->count && used < size; i++) {
        const int added =
            i == 0 ? snprintf(text, size, "binds ?%s to", c->name)
                   : snprintf(text + used, size - used, " %lld", (long long)c->numbers[i - 1]);
        used += added > 0 ? (size_t)added : 0;
    }
}

/* All ranks bind the same numbers. */
static tsr_status agree(tsr_comm *world, const symbol_call *c, tsr_status status)
{
    comm_call what = {.name = "tsr_symbol_bind", .status = status, .describe = describe, .of = c};
    if (status == TSR_OK) {
        what.hash = hash_bytes(c->name, strlen(c->name), (uint64_t)c->partitions);
        what.hash = hash_bytes(c->numbers, c->count * sizeof *c->numbers, what.hash);
    }
    return comm_enter(world, &what);
}

/* The layout that a tensor has once its symbols are bound, with a reference; NULL for its own. */
static tsr_status bound_layout(const tsr_tensor *t, tensor_layout **out)
{
    const tsr_geometry *g = t->geometry;
    const tsr_tensor_spec spec = {g->sharding, t->dtype, g->rank, g->shape};
    *out = NULL;
    if (geometry_is_bound(g)) {
        return TSR_OK;
    }
    tsr_status status = layout_get(t->world, &spec, NULL, out);
    if (status == TSR_OK && t->layout->plain != NULL) {
        tensor_layout *plain = *out;
        status = layout_get_pending(t->world, plain, t->layout->pending, out);
        layout_release(&t->world->state->layouts, plain);
    }
    if (status < 0) {
        char text[128];
        describe_tensor(t->world->ctx, &spec, text, sizeof text);
        (void)diag_note(t->world->ctx, NO_LOCATION, "a tensor of the world is %s", text);
    }
    return status;
}

/* Gives unbound tensors the layouts that the symbols now make: all of them or none. */
static tsr_status rebind_tensors(tsr_comm *world)
{
    tsr_arena *scratch = NULL;
    size_t count = 0;
    for (const tsr_tensor *t = world->state->tensors; t != NULL; t = t->next) {
        count++;
    }
    TSR_TRY(tsr_arena_create(world->ctx, &scratch));
    tensor_layout **layouts = ARENA_ARRAY(scratch, tensor_layout *, count);
    tsr_status status = layouts != NULL ? TSR_OK : diag_nomem(world->ctx);
    size_t ready = 0;
    for (tsr_tensor *t = world->state->tensors; status == TSR_OK && t != NULL; t = t->next) {
        status = bound_layout(t, &layouts[ready]);
        ready += status == TSR_OK;
    }
    size_t at = 0;
    for (tsr_tensor *t = world->state->tensors; at < ready; t = t->next, at++) {
        if (layouts[at] == NULL) {
            continue;
        }
        if (status == TSR_OK) {
            tensor_set_layout(t, layouts[at]);
        }
        layout_release(&world->state->layouts, layouts[at]);
    }
    tsr_arena_destroy(scratch);
    return status;
}

tsr_status tsr_symbol_bind(tsr_comm *world, const char *symbol, int64_t partitions, size_t count,
                           const int64_t *numbers)
{
    GUARD(tsr_symbol_bind);
    const symbol_call call = {symbol != NULL ? symbol : "", partitions, count, numbers};
    bound_symbol *fresh = NULL;
    tsr_status status = comm_check_world(world);
    status = status == TSR_OK ? check_numbers(world->ctx, &call) : status;
    status = status == TSR_OK ? make(world->ctx, &call, &fresh) : status;
    status = agree(world, &call, status);
    if (status < 0) {
        destroy(fresh);
        return status;
    }
    bound_symbol *old = take(world, call.name, partitions == 0);
    put(world, fresh);
    status = rebind_tensors(world);
    if (status < 0) {
        destroy(take(world, call.name, partitions == 0));
        if (old != NULL) {
            put(world, old);
        }
        return status;
    }
    destroy(old);
    return TSR_OK;
}

/* How a named conversion runs. */
#include "rt/placement.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/map.h"

dim_kind dim_kind_of(const tsr_dim *dim)
{
    static const dim_kind kinds[] = {[TSR_RAGGED_DYNAMIC] = DIM_DYNAMIC,
                                     [TSR_RAGGED_UNALIGNED] = DIM_UNALIGNED,
                                     [TSR_RAGGED_ALIGNED] = DIM_ALIGNED};
    if (dim->ragged != NULL) {
        return kinds[dim->ragged->kind];
    }
    return dim->num_axes == 0 ? DIM_WHOLE : DIM_EVEN;
}

const char *dim_kind_name(dim_kind kind)
{
    switch (kind) {
    case DIM_WHOLE:
        return "not sharded";
    case DIM_EVEN:
        return "sharded evenly";
    case DIM_DYNAMIC:
        return "dynamic";
    case DIM_UNALIGNED:
        return "partitioned and unaligned";
    default:
        return "partitioned and aligned";
    }
}

/* `dynamic, partitioned and aligned` of a set of kinds. */
static void name_kinds(unsigned kinds, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned kind = DIM_WHOLE; kind <= DIM_ALIGNED; kind *= 2) {
        if ((kinds & kind) != 0 && used < size) {
            const int added = snprintf(text + used, size - used, "%s%s", used > 0 ? ", or " : "",
                                       dim_kind_name((dim_kind)kind));
            used += added > 0 ? (size_t)added : 0;
        }
    }
}

/* A hash of the explicit sizes and counts of a sharding. */
static uint64_t hash_layouts(const tsr_sharding *s, uint64_t hash)
{
    for (size_t i = 0; s != NULL && i < s->rank; i++) {
        const tsr_ragged *l = s->dims[i].ragged;
        if (l == NULL) {
            continue;
        }
        const int64_t shards = tsr_sharding_num_shards(s, i);
        const int64_t head[] = {(int64_t)i, (int64_t)l->kind, shards, l->partitions, l->alignment};
        hash = hash_bytes(head, sizeof head, hash);
        if (l->sizes != NULL) {
            hash = hash_bytes(l->sizes, (size_t)shards * sizeof *l->sizes, hash);
        }
        if (l->counts != NULL) {
            const size_t count = (size_t)(shards * l->partitions);
            hash = hash_bytes(l->counts, count * sizeof *l->counts, hash);
        }
        if (l->owner_start != NULL) {
            hash = hash_bytes(l->owner_start, ((size_t)shards + 1) * sizeof *l->owner_start, hash);
        }
    }
    return hash;
}

/* `dim 0 dynamic[3, 5]` of every ragged dimension. */
static void print_layouts(buffer *buf, const tsr_sharding *s)
{
    for (size_t i = 0; s != NULL && i < s->rank; i++) {
        if (s->dims[i].ragged != NULL) {
            buffer_format(buf, "%sdim %zu", buf->size > 0 ? ", " : "", i);
            ragged_print(buf, s->dims[i].ragged, tsr_sharding_num_shards(s, i));
        }
    }
}

/* The ragged layouts that a call is about. */
typedef struct ragged_call {
    tsr_comm *world;
    const char *name;
    const tsr_sharding *a;
    const tsr_sharding *b;
} ragged_call;

static void describe(const void *of, char *text, size_t size)
{
    const ragged_call *call = of;
    tsr_context *ctx = call->world->ctx;
    tsr_arena *scratch = NULL;
    const char *whole = NULL;
    if (tsr_arena_create(ctx, &scratch) < 0) {
        return;
    }
    buffer buf = buffer_new(scratch);
    print_layouts(&buf, call->a);
    print_layouts(&buf, call->b);
    if (buffer_finish(ctx, &buf, &whole) == TSR_OK) {
        (void)snprintf(text, size, "calls %s with %s", call->name, whole);
    }
    tsr_arena_destroy(scratch);
}

tsr_status placement_agree(tsr_comm *world, const char *name, tsr_status status,
                           const tsr_sharding *a, const tsr_sharding *b)
{
    const ragged_call call = {world, name, a, b};
    comm_call what = {.name = name, .status = status, .describe = describe, .of = &call};
    if (status == TSR_OK) {
        what.hash = hash_layouts(b, hash_layouts(a, 9));
    }
    return comm_enter(world, &what);
}

static void give_back(void *tensor)
{
    tsr_tensor_release(tensor);
}

/* The memory of a tensor in another layout, in which this rank has as much of each dimension. */
static tsr_status make_alias(tsr_tensor *tensor, const tsr_sharding *to, tsr_tensor **out)
{
    const tsr_geometry *g = tensor->geometry;
    const tsr_tensor_spec spec = {to, tensor->dtype, g->rank, g->shape};
    tsr_tensor *alias = NULL;
    TSR_TRY(tensor->world->team->abstract ? TSR_OK : tensor_check_elements(tensor));
    TSR_TRY(tensor_make(tensor->world, &spec, tensor->data, tensor->strides, &alias));
    for (size_t i = 0; i < g->rank; i++) {
        const bool known =
            alias->local_shape[i] != TSR_UNKNOWN && tensor->local_shape[i] != TSR_UNKNOWN;
        if (known && alias->local_shape[i] != tensor->local_shape[i]) {
            const int64_t wanted = alias->local_shape[i];
            tsr_tensor_release(alias);
            return diag_error(tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "rank %lld stores %lld rows of dim %zu, where the other layout has "
                              "%lld",
                              (long long)tensor->world->rank, (long long)tensor->local_shape[i], i,
                              (long long)wanted);
        }
    }
    alias->bytes = tensor->bytes;
    alias->on_release = give_back;
    alias->release_state = tsr_tensor_retain(tensor);
    *out = alias;
    return TSR_OK;
}

static tsr_status run_in_place(const char *name, tsr_tensor *tensor, const tsr_sharding *to,
                               tsr_tensor **out)
{
    tsr_tensor *alias = NULL;
    const tsr_status made = make_alias(tensor, to, &alias);
    const tsr_status status =
        placement_agree(tensor->world, name, made, tensor->geometry->sharding, to);
    if (status < 0) {
        tsr_tensor_release(alias);
        return status;
    }
    *out = alias;
    return TSR_OK;
}

tsr_status placement_run(const char *name, tsr_tensor *tensor, tsr_status status,
                         const tsr_sharding *to, bool in_place, tsr_tensor **out)
{
    tsr_comm *world = tensor->world;
    if (status == TSR_OK && in_place) {
        return run_in_place(name, tensor, to, out);
    }
    if (status < 0 || world->team->checked) {
        TSR_TRY(placement_agree(world, name, status, tensor->geometry->sharding, to));
    }
    return tsr_redistribute(tensor, to, out);
}

/* An empty record of a conversion from the tensor's layout. */
static tsr_status make_record(const char *name, const tsr_tensor *tensor, tsr_conversion **out)
{
    tsr_context *ctx = tensor->world->ctx;
    const tsr_geometry *g = tensor->geometry;
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    tsr_conversion *record = ARENA_NEW(arena, tsr_conversion);
    const int64_t *shape = arena_copy(arena, g->shape, g->rank, sizeof *shape);
    if (record == NULL || shape == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(ctx);
    }
    *record = (tsr_conversion){.arena = arena, .name = name, .rank = g->rank, .shape = shape};
    const tsr_status status = sharding_copy(ctx, arena, g->sharding, &record->src);
    if (status < 0) {
        tsr_arena_destroy(arena);
        return status;
    }
    *out = record;
    return TSR_OK;
}

static tsr_status check_pending(const conversion_call *c, bool pending)
{
    const tsr_sharding *s = c->record->src;
    if (pending && s->num_unreduced == 0) {
        return diag_error(c->tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the tensor has no pending reduction", c->name);
    }
    if (!pending && s->num_unreduced > 0) {
        return diag_error(c->tensor->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the tensor has a pending %s: reduce it first with "
                          "tsr_dynamic_reduce_shard or tsr_partitioned_reduce",
                          c->name, reduction_name(s->reduction));
    }
    return TSR_OK;
}

conversion_call conversion_begin(const char *name, tsr_tensor *tensor, bool pending)
{
    conversion_call c = {.name = name, .tensor = tensor};
    c.status = make_record(name, tensor, &c.record);
    if (c.status == TSR_OK) {
        c.status = check_pending(&c, pending);
    }
    return c;
}

void conversion_check_dim(conversion_call *c, size_t dim, unsigned kinds)
{
    if (c->status < 0) {
        return;
    }
    tsr_context *ctx = c->tensor->world->ctx;
    const tsr_sharding *s = c->record->src;
    if (dim >= s->rank) {
        c->status = diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                               "%s: dim %zu is out of range: the tensor has %zu dimensions",
                               c->name, dim, s->rank);
        return;
    }
    const dim_kind kind = dim_kind_of(&s->dims[dim]);
    if ((kind & kinds) == 0) {
        char wanted[CALL_TEXT];
        name_kinds(kinds, wanted, sizeof wanted);
        c->status = diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                               "%s: dim %zu of the tensor is %s; it must be %s", c->name, dim,
                               dim_kind_name(kind), wanted);
    }
}

void conversion_check_to(conversion_call *c, const tsr_placement *to, unsigned kinds, unsigned from)
{
    if (c->status < 0) {
        return;
    }
    tsr_context *ctx = c->tensor->world->ctx;
    const tsr_sharding *s = to->sharding;
    bool found = false;
    if (s->rank != c->record->rank) {
        c->status = diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                               "%s: the placement has %zu dimensions, the tensor %zu", c->name,
                               s->rank, c->record->rank);
        return;
    }
    for (size_t i = 0; i < s->rank; i++) {
        if ((dim_kind_of(&s->dims[i]) & kinds) != 0) {
            found = true;
            conversion_check_dim(c, i, from);
        }
    }
    if (c->status == TSR_OK && !found) {
        char wanted[CALL_TEXT];
        name_kinds(kinds, wanted, sizeof wanted);
        c->status = diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                               "%s: no dimension of the placement is %s", c->name, wanted);
    } else if (c->status == TSR_OK && s->num_unreduced > 0) {
        c->status = diag_error(
            ctx, TSR_ERR_INVALID, NO_LOCATION,
            "%s: the placement has a pending %s, but a conversion cannot make a reduction pending",
            c->name, reduction_name(s->reduction));
    }
}

void conversion_to(conversion_call *c, const tsr_placement *to)
{
    if (c->status < 0) {
        return;
    }
    tsr_comm *world = c->tensor->world;
    const tsr_sharding *bound = NULL;
    c->status = placement_resolve(world, c->name, c->record->arena, to, c->record->shape, &bound,
                                  &c->known_to_all);
    if (c->status == TSR_OK) {
        c->status = sharding_copy(world->ctx, c->record->arena, bound, &c->record->dst);
    }
}

void conversion_to_dim(conversion_call *c, size_t dim, const tsr_dim *with)
{
    if (c->status < 0) {
        return;
    }
    tsr_context *ctx = c->tensor->world->ctx;
    const tsr_sharding *s = c->record->src;
    tsr_dim *dims = arena_copy(c->record->arena, s->dims, s->rank, sizeof *dims);
    if (dims == NULL) {
        c->status = diag_nomem(ctx);
        return;
    }
    dims[dim] = *with;
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = dims,
                                    .num_replicated = s->num_replicated,
                                    .replicated = s->replicated};
    c->status =
        tsr_sharding_create(ctx, c->record->arena, &spec, TSR_SHARDING_DEFAULT, &c->record->dst);
}

tsr_status conversion_end(conversion_call *c, tsr_conversion **record, tsr_tensor **out)
{
    tsr_status status = c->status;
    if (!c->known_to_all) {
        const bool ready = c->record != NULL && status == TSR_OK;
        status = placement_run(c->name, c->tensor, status, ready ? c->record->dst : NULL,
                               ready && c->record->in_place, out);
    }
    if (status == TSR_OK && record != NULL) {
        *record = c->record;
    } else {
        tsr_conversion_release(c->record);
    }
    return status;
}

tsr_status convert_to_placement(const conversion_row *row, tsr_tensor *tensor,
                                const tsr_placement *to, tsr_conversion **record, tsr_tensor **out)
{
    conversion_call c = conversion_begin(row->name, tensor, row->pending);
    conversion_check_to(&c, to, row->kinds, row->from);
    conversion_to(&c, to);
    return conversion_end(&c, record, out);
}

tsr_status convert_to_whole(const conversion_row *row, tsr_tensor *tensor, size_t dim,
                            tsr_conversion **record, tsr_tensor **out)
{
    const tsr_dim whole = tsr_dim_closed(NULL, 0);
    conversion_call c = conversion_begin(row->name, tensor, row->pending);
    conversion_check_dim(&c, dim, row->from);
    conversion_to_dim(&c, dim, &whole);
    return conversion_end(&c, record, out);
}

void tsr_conversion_release(tsr_conversion *conversion)
{
    GUARD(tsr_conversion_release);
    if (conversion != NULL) {
        tsr_arena_destroy(conversion->arena);
    }
}

const tsr_sharding *tsr_conversion_source(const tsr_conversion *conversion)
{
    GUARD(tsr_conversion_source);
    return conversion->src;
}

const tsr_sharding *tsr_conversion_destination(const tsr_conversion *conversion)
{
    GUARD(tsr_conversion_destination);
    return conversion->dst;
}

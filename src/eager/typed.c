#include "eager/typed.h"

#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "base/map.h"
#include "eager/tape.h"
#include "mesh/mesh.h"
#include "spmd/view.h"

enum { TYPED_BUCKETS = 1024, TYPED_MAX_UNUSED = 1024 };
enum { MAX_AXES = 64 /* as many as a tsr_axis_set has */ };

/* A mesh that types are on: a scope's, or one that is cut for a type on parts of axes. */
typedef struct kept_mesh {
    struct kept_mesh *next;
    const tsr_mesh *mesh;
} kept_mesh;

/* Meshes and types of a world, each once. */
struct typed_table {
    tsr_arena *arena;
    kept_mesh *meshes;
    typed_record *buckets[TYPED_BUCKETS];
    size_t unused;  /* records that no tensor and no case has */
    uint64_t clock; /* counts records that are made or let go of */
    struct kept_comm *comms;
};

/* A communicator along some axes of a mesh. */
typedef struct kept_comm {
    struct kept_comm *next;
    const tsr_mesh *mesh;
    axis_names axes;
    tsr_comm *comm;
} kept_comm;

static tsr_status table_of(eager *e, struct typed_table **out)
{
    if (e->typing.table == NULL) {
        tsr_arena *arena = NULL;
        TSR_TRY(tsr_arena_create(e->world->ctx, &arena));
        e->typing.table = ARENA_NEW(arena, struct typed_table);
        if (e->typing.table == NULL) {
            tsr_arena_destroy(arena);
            return diag_nomem(e->world->ctx);
        }
        *e->typing.table = (struct typed_table){.arena = arena};
    }
    *out = e->typing.table;
    return TSR_OK;
}

/* The world's own copy of a mesh. */
static tsr_status intern_mesh(eager *e, const tsr_mesh *mesh, const tsr_mesh **out)
{
    struct typed_table *table = NULL;
    TSR_TRY(table_of(e, &table));
    for (const kept_mesh *k = table->meshes; k != NULL; k = k->next) {
        if (k->mesh == mesh || tsr_mesh_equal(k->mesh, mesh)) {
            *out = k->mesh;
            return TSR_OK;
        }
    }
    kept_mesh *fresh = ARENA_NEW(table->arena, kept_mesh);
    if (fresh == NULL) {
        return diag_nomem(e->world->ctx);
    }
    *fresh = (kept_mesh){.next = table->meshes};
    TSR_TRY(tsr_mesh_rename(e->world->ctx, table->arena, mesh, tsr_mesh_name(mesh), &fresh->mesh));
    table->meshes = fresh;
    *out = fresh->mesh;
    return TSR_OK;
}

static uint64_t hash_dim(const tsr_type *type, size_t dim, uint64_t hash)
{
    const tsr_spec_dim *d = tsr_type_dim(type, dim);
    int64_t shards = 1;
    for (size_t i = 0; i < d->num_axes; i++) {
        shards *= tsr_mesh_axis_size(tsr_type_mesh(type), d->axes[i]);
    }
    hash = hash_bytes(d->axes, d->num_axes * sizeof *d->axes, hash);
    return d->sizes != NULL ? hash_bytes(d->sizes, (size_t)shards * sizeof *d->sizes, hash) : hash;
}

static uint64_t hash_shape(const tsr_typed_shape *s)
{
    uint64_t hash = hash_bytes(s->shape, s->rank * sizeof *s->shape, (uint64_t)s->dtype);
    for (size_t a = 0; a < tsr_mesh_num_axes(tsr_type_mesh(s->type)); a++) {
        const tsr_axis_type type = tsr_type_axis(s->type, a);
        hash = hash * 31 + (uint64_t)type.kind * 7 + (uint64_t)type.partial;
    }
    for (size_t d = 0; tsr_type_has_spec(s->type) && d < tsr_type_rank(s->type); d++) {
        hash = hash_dim(s->type, d, hash);
    }
    return hash;
}

static bool same_shape(const tsr_typed_shape *a, const tsr_typed_shape *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0) &&
           tsr_mesh_equal(tsr_type_mesh(a->type), tsr_type_mesh(b->type)) &&
           tsr_type_equal(a->type, b->type);
}

/* A record's own copy of a type, over the world's copy of its mesh. */
static tsr_status copy_type(eager *e, tsr_arena *arena, const tsr_type *type, const tsr_type **out)
{
    const tsr_mesh *mesh = NULL;
    TSR_TRY(intern_mesh(e, tsr_type_mesh(type), &mesh));
    const size_t axes = tsr_mesh_num_axes(mesh);
    const size_t rank = tsr_type_has_spec(type) ? tsr_type_rank(type) : 0;
    tsr_axis_type *kinds = ARENA_ARRAY(arena, tsr_axis_type, axes);
    tsr_spec_dim *dims = ARENA_ARRAY(arena, tsr_spec_dim, rank);
    if (kinds == NULL || dims == NULL) {
        return diag_nomem(e->world->ctx);
    }
    for (size_t a = 0; a < axes; a++) {
        kinds[a] = tsr_type_axis(type, a);
    }
    for (size_t d = 0; d < rank; d++) {
        dims[d] = *tsr_type_dim(type, d);
    }
    const tsr_type_spec spec = {.mesh = mesh,
                                .axes = kinds,
                                .has_spec = tsr_type_has_spec(type),
                                .rank = rank,
                                .dims = dims};
    return tsr_type_create(e->world->ctx, arena, &spec, out);
}

static tsr_status fill_record(eager *e, typed_record *record, const tsr_typed_shape *shape)
{
    record->of = *shape;
    record->of.local = NULL;
    record->of.shape = arena_copy(record->arena, shape->shape, shape->rank, sizeof *shape->shape);
    if (record->of.shape == NULL) {
        return diag_nomem(e->world->ctx);
    }
    return copy_type(e, record->arena, shape->type, &record->of.type);
}

static tsr_status make_record(eager *e, const tsr_typed_shape *shape, tsr_axis_set implied,
                              typed_record **out)
{
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(e->world->ctx, &arena));
    typed_record *record = ARENA_NEW(arena, typed_record);
    if (record == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(e->world->ctx);
    }
    *record = (typed_record){.arena = arena, .implied = implied};
    const tsr_status status = fill_record(e, record, shape);
    if (status < 0) {
        tsr_arena_destroy(arena);
        return status;
    }
    *out = record;
    return TSR_OK;
}

/* Frees the records that nothing has had for a while, or all. */
static void drop_records(struct typed_table *table, bool all)
{
    for (size_t i = 0; i < TYPED_BUCKETS; i++) {
        for (typed_record **link = &table->buckets[i]; *link != NULL;) {
            typed_record *r = *link;
            const bool old = table->clock - r->last_use > TYPED_MAX_UNUSED / 2;
            if (all || (r->references == 0 && old)) {
                *link = r->next;
                table->unused--;
                tsr_arena_destroy(r->arena);
            } else {
                link = &r->next;
            }
        }
    }
}

/* A record that nothing has from now on. */
static void note_unused(struct typed_table *table, typed_record *record)
{
    record->last_use = ++table->clock;
    table->unused++;
}

tsr_status typed_intern(eager *e, const tsr_typed_shape *shape, const typed_record **out)
{
    return typed_intern_implied(e, shape, (tsr_axis_set){0}, out);
}

tsr_status typed_intern_implied(eager *e, const tsr_typed_shape *shape, tsr_axis_set implied,
                                const typed_record **out)
{
    struct typed_table *table = NULL;
    typed_record *record = NULL;
    TSR_TRY(table_of(e, &table));
    const uint64_t hash = hash_shape(shape) + implied.bits;
    typed_record **bucket = &table->buckets[hash % TYPED_BUCKETS];
    for (typed_record *r = *bucket; r != NULL; r = r->next) {
        if (r->hash == hash && r->implied.bits == implied.bits && same_shape(&r->of, shape)) {
            r->last_use = r->references == 0 ? ++table->clock : r->last_use;
            *out = r;
            return TSR_OK;
        }
    }
    if (table->unused > TYPED_MAX_UNUSED && e->tapes.innermost == NULL &&
        e->requests.first == NULL) {
        drop_records(table, false);
    }
    TSR_TRY(make_record(e, shape, implied, &record));
    record->hash = hash;
    record->next = *bucket;
    *bucket = record;
    note_unused(table, record);
    *out = record;
    return TSR_OK;
}

/* The table owns its records: they are const to all others but for their references. */
static typed_record *own_record(const eager *e, const typed_record *record)
{
    typed_record *r = e->typing.table->buckets[record->hash % TYPED_BUCKETS];
    while (r != record) {
        r = r->next;
    }
    return r;
}

void typed_retain(eager *e, const typed_record *record)
{
    if (record != NULL) {
        typed_record *own = own_record(e, record);
        e->typing.table->unused -= own->references == 0;
        own->references++;
    }
}

void typed_release(void *above, const void *typed)
{
    eager *e = above;
    if (typed != NULL && e->typing.table != NULL) {
        typed_record *own = own_record(e, typed);
        if (--own->references == 0) {
            note_unused(e->typing.table, own);
        }
    }
}

void typed_set(eager *e, tsr_tensor *tensor, const typed_record *record)
{
    typed_retain(e, record);
    typed_release(e, tensor->typed);
    tensor->typed = record;
}

/* ---- communicators ---- */

static bool same_axes(const axis_names *a, const axis_names *b)
{
    return tsr_axes_equal(a->refs, a->count, b->refs, b->count);
}

static tsr_status comm_on(eager *e, const tsr_mesh *mesh, const axis_names *axes, tsr_comm **out)
{
    for (const kept_comm *k = e->typing.table->comms; k != NULL; k = k->next) {
        if (k->mesh == mesh && same_axes(&k->axes, axes)) {
            *out = k->comm;
            return TSR_OK;
        }
    }
    kept_comm *fresh = ARENA_NEW(e->typing.table->arena, kept_comm);
    if (fresh == NULL) {
        return diag_nomem(e->world->ctx);
    }
    *fresh = (kept_comm){.next = e->typing.table->comms, .mesh = mesh, .axes = *axes};
    TSR_TRY(tsr_comm_along(e->world, mesh, axes->refs, axes->count, &fresh->comm));
    e->typing.table->comms = fresh;
    *out = fresh->comm;
    return TSR_OK;
}

tsr_status typed_comm(eager *e, const axis_names *axes, tsr_comm **out)
{
    return comm_on(e, e->typing.scope->settings.mesh, axes, out);
}

/* Those along single axes, so that a collective involves its own group only. */
static tsr_status make_comms(eager *e, const tsr_mesh *mesh)
{
    for (size_t a = 0; a < tsr_mesh_num_axes(mesh); a++) {
        const axis_names one = {.axes = {a}, .refs = {tsr_axis_full(mesh, a)}, .count = 1};
        tsr_comm *comm = NULL;
        TSR_TRY(comm_on(e, mesh, &one, &comm));
    }
    return TSR_OK;
}

/* ---- scopes ---- */

static tsr_status open_scope(tsr_comm *world, const tsr_spmd_scope *settings)
{
    eager *e = NULL;
    TSR_TRY(eager_of(world, &e));
    if (tsr_mesh_num_devices(settings->mesh) != world->size) {
        return diag_error(
            world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "tsr_spmd_open: the mesh has %lld devices, the world %lld ranks; they must be equal",
            (long long)tsr_mesh_num_devices(settings->mesh), (long long)world->size);
    }
    if (tsr_mesh_num_axes(settings->mesh) > MAX_AXES) {
        return diag_error(world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "tsr_spmd_open: the mesh has %zu axes; the maximum is %d",
                          tsr_mesh_num_axes(settings->mesh), MAX_AXES);
    }
    spmd_scope *scope = context_resize(world->ctx, NULL, 0, sizeof *scope);
    if (scope == NULL) {
        return diag_nomem(world->ctx);
    }
    *scope = (spmd_scope){.outer = e->typing.scope, .settings = *settings};
    tsr_status status = intern_mesh(e, settings->mesh, &scope->settings.mesh);
    if (status == TSR_OK) {
        status = make_comms(e, scope->settings.mesh);
    }
    if (status < 0) {
        (void)context_resize(world->ctx, scope, sizeof *scope, 0);
        return status;
    }
    e->typing.scope = scope;
    e->typing.mesh = scope->settings.mesh;
    world->state->own_values = true;
    return TSR_OK;
}

tsr_status tsr_spmd_open(tsr_comm *world, const tsr_spmd_scope *scope)
{
    GUARD(tsr_spmd_open);
    eager_begin(world);
    return eager_tell(world, "tsr_spmd_open", open_scope(world, scope));
}

/* Leaves the innermost scope. */
static void leave_scope(eager *e)
{
    spmd_scope *scope = e->typing.scope;
    e->typing.scope = scope->outer;
    e->typing.mesh = e->typing.scope != NULL ? e->typing.scope->settings.mesh : NULL;
    e->world->state->own_values = e->typing.scope != NULL;
    (void)context_resize(e->world->ctx, scope, sizeof *scope, 0);
}

tsr_status tsr_spmd_close(tsr_comm *world)
{
    GUARD(tsr_spmd_close);
    eager *e = eager_if_any(world);
    if (e == NULL || e->typing.scope == NULL) {
        return TSR_OK;
    }
    const tsr_status status = started_end_scope(e, e->typing.scope);
    leave_scope(e);
    return status;
}

void typed_clear(eager *e)
{
    while (e->typing.scope != NULL) {
        leave_scope(e);
    }
    if (e->typing.table != NULL) {
        drop_records(e->typing.table, true);
        tsr_arena_destroy(e->typing.table->arena);
        e->typing.table = NULL;
    }
}

/* ---- calls ---- */

void typed_begin(eager *e, tsr_tensor *const *operands, size_t count)
{
    e->typing.mixes = is_typing(e) && e->typing.scope->settings.mix_invariant &&
                      e->tapes.recomputing == 0 && !tape_wants(e, operands, count);
}

uint64_t typed_key(const eager *e)
{
    if (!is_typing(e)) {
        return 0;
    }
    const tsr_spmd_scope *s = &e->typing.scope->settings;
    const uint64_t words[] = {
        (s->implicit_partial ? 1U : 0U) + (s->strict ? 2U : 0U) + (e->typing.mixes ? 4U : 0U),
        s->global.bits, e->typing.out_partial.bits, (uint64_t)(uintptr_t)s->mesh};
    const uint64_t hash = hash_bytes(words, sizeof words, 0);
    return hash != 0 ? hash : 1;
}

tsr_status typed_check_operands(const eager *e, const char *call, tsr_tensor *const *operands,
                                size_t count)
{
    for (size_t i = 0; e->typing.scope != NULL && i < count; i++) {
        if (tsr_any_sharded(&operands[i], 1)) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: operand %zu is a sharded tensor; in a scope of typed code use "
                              "this rank's part, from tsr_local_of",
                              call, i);
        }
    }
    return TSR_OK;
}

tsr_status typed_check_whole(void *above, const char *call, const void *typed)
{
    const eager *e = above;
    const typed_record *record = typed;
    const tsr_type *type = record->of.type;
    for (size_t a = 0; a < tsr_mesh_num_axes(tsr_type_mesh(type)); a++) {
        const tsr_axis_type is = tsr_type_axis(type, a);
        const char *axis = tsr_mesh_axis_name(tsr_type_mesh(type), a);
        if (is.kind == TSR_P) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: the value is %s along axis %s: each rank has a part of a sum, "
                              "which this call would not perform; use tsr_all_reduce(.., \"%s\", "
                              "%s, TSR_AS(R), ..) first",
                              call, tsr_axis_type_name(is), axis, axis,
                              is.partial == TSR_SUM ? "TSR_AS(P)" : "TSR_AS_P(..)");
        }
        if (is.kind == TSR_V && tsr_type_dim_of(type, a) < 0) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: the value is V along axis %s: each rank has its own array, but "
                              "this call would use one of them as the whole; use "
                              "tsr_all_gather(.., \"%s\", TSR_AS(V), TSR_AS(R), ..) first",
                              call, axis, axis);
        }
        if (is.kind == TSR_V) {
            return diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: the value is S(%lld) along axis %s: each rank has a part, but "
                              "this call would use it as the whole; use tsr_tensor_of_local first "
                              "to make one tensor of the parts",
                              call, (long long)tsr_type_dim_of(type, a), axis);
        }
    }
    return TSR_OK;
}

/* Asks the row, in the words of types. */
static tsr_op_class class_of(void *state, size_t operand, tsr_reduction pending)
{
    static const tsr_op_class classes[] = {[SPMD_NONLINEAR] = TSR_NONLINEAR,
                                           [SPMD_LINEAR] = TSR_LINEAR,
                                           [SPMD_MULTILINEAR] = TSR_MULTILINEAR};
    const op_request *r = state;
    return r->row->class_of != NULL ? classes[r->row->class_of(r, operand, pending)]
                                    : TSR_NONLINEAR;
}

static bool any_typed(const typed_record *const *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (records[i] != NULL) {
            return true;
        }
    }
    return false;
}

/* How much larger than this rank's part the whole is along a factor, by the operands that have it.
 */
static int64_t whole_of(const tsr_typed_call *call, size_t factor, int64_t local)
{
    for (size_t i = 0; i < call->num_operands; i++) {
        const tsr_rule_tensor *t = tsr_rule_operand(call->rule, i);
        const tsr_typed_shape *s = &call->operands[i];
        for (size_t d = 0; s->type != NULL && d < t->rank; d++) {
            if (t->dims[d].factors[0] == factor && s->local[d] > 0 && s->shape[d] != s->local[d]) {
                return t->dims[d].num_factors == 1 && s->local[d] == local
                           ? s->shape[d]
                           : s->shape[d] / s->local[d] * local;
            }
        }
    }
    return local;
}

/* The shape of a whole result: larger than this rank's part where its spec has axes. */
static void find_whole(const tsr_typed_call *call, const tsr_type *type, size_t result,
                       const op_type *local, int64_t *whole)
{
    for (size_t d = 0; d < local->rank; d++) {
        whole[d] = local->shape[d];
    }
    if (call->rule == NULL || !tsr_type_has_spec(type)) {
        return;
    }
    const tsr_rule_tensor *t = tsr_rule_result(call->rule, result);
    for (size_t d = 0; d < local->rank; d++) {
        if (tsr_type_dim(type, d)->num_axes > 0) {
            whole[d] = whole_of(call, t->dims[d].factors[0], local->shape[d]);
        }
    }
}

tsr_status typed_note_implied(const eager *e, const typed_record *record, size_t operand,
                              tsr_status status)
{
    const tsr_mesh *mesh = record != NULL ? tsr_type_mesh(record->of.type) : NULL;
    for (size_t a = 0; status < 0 && record != NULL && a < tsr_mesh_num_axes(mesh); a++) {
        if (a < 64 && (record->implied.bits >> a & 1) != 0) {
            (void)diag_note(e->world->ctx, NO_LOCATION,
                            "operand %zu comes from a collective along axis %s that expected "
                            "TSR_AS(P) and reinterpreted a V as P; if the intended sum is over "
                            "another axis, correct that call",
                            operand, tsr_mesh_axis_name(mesh, a));
        }
    }
    return status;
}

/* The axes of a mesh along which some operands came to be by taking V for P. */
static tsr_axis_set implied_for(const typed_record *const *operands, size_t count,
                                const tsr_mesh *mesh)
{
    tsr_axis_set all = {0};
    for (size_t i = 0; i < count; i++) {
        if (operands[i] != NULL) {
            all.bits |=
                spmd_map_axes(tsr_type_mesh(operands[i]->of.type), operands[i]->implied, mesh).bits;
        }
    }
    return all;
}

static uint64_t every_axis(const tsr_mesh *mesh)
{
    const size_t count = tsr_mesh_num_axes(mesh);
    return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

tsr_status typed_meet(const eager *e, const tsr_type **types, size_t num_types,
                      const axis_names *axes, const tsr_mesh **mesh)
{
    return spmd_meet(e->world->ctx, e->arena, e->typing.scope->settings.mesh, types, num_types,
                     axes != NULL ? axes->refs : NULL, axes != NULL ? axes->count : 0, mesh);
}

tsr_status typed_infer(eager *e, const op_request *r, const typed_record *const *operands,
                       const tsr_rule *rule, const op_type *results, const typed_record **records)
{
    const tsr_spmd_scope *s = &e->typing.scope->settings;
    const size_t num_results = op_num_results(r->row, r->num_operands);
    const tsr_type **found = ARENA_ARRAY(e->arena, const tsr_type *, num_results);
    tsr_typed_shape *shapes = ARENA_ARRAY(e->arena, tsr_typed_shape, r->num_operands);
    if (!any_typed(operands, r->num_operands)) {
        return TSR_OK;
    }
    if (shapes == NULL || found == NULL) {
        return diag_nomem(r->ctx);
    }
    memset((void *)found, 0, num_results * sizeof *found);
    for (size_t i = 0; i < r->num_operands; i++) {
        const op_type *type = &r->operands[i];
        shapes[i] =
            operands[i] != NULL
                ? operands[i]->of
                : (tsr_typed_shape){.dtype = type->dtype, .rank = type->rank, .shape = type->shape};
        shapes[i].local = type->shape;
    }
    op_request asked = *r;
    const tsr_typed_call call = {.name = r->call,
                                 .mesh = s->mesh,
                                 .num_operands = r->num_operands,
                                 .operands = shapes,
                                 .class_of = class_of,
                                 .state = &asked,
                                 .global = s->global,
                                 .rule = rule,
                                 .out_partial = e->typing.out_partial,
                                 .reduction =
                                     r->row->reduces != NULL ? r->row->reduces(r) : TSR_SUM,
                                 .implicit_partial = s->implicit_partial,
                                 .strict = s->strict,
                                 .required = {s->strict ? every_axis(s->mesh) : 0},
                                 .mix_invariant = e->typing.mixes,
                                 .operand_names = e->typing.operand_names};
    const tsr_status status = tsr_type_infer(r->ctx, e->arena, &call, found);
    for (size_t i = 0; i < r->num_operands; i++) {
        (void)typed_note_implied(e, operands[i], i, status);
    }
    TSR_TRY(status);
    for (size_t k = 0; k < num_results; k++) {
        int64_t whole[OP_MAX_RANK];
        const tsr_type *type = found[k] != NULL ? found[k] : found[0];
        find_whole(&call, type, k, &results[k], whole);
        const tsr_typed_shape full = {
            .type = type, .dtype = results[k].dtype, .rank = results[k].rank, .shape = whole};
        const tsr_axis_set implied = implied_for(operands, r->num_operands, tsr_type_mesh(type));
        TSR_TRY(typed_intern_implied(e, &full, implied, &records[k]));
    }
    return TSR_OK;
}

tsr_status typed_gradient(eager *e, const tsr_tensor *value, const typed_record **out)
{
    const typed_record *record = record_of(value);
    *out = NULL;
    if (record == NULL) {
        return TSR_OK;
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    tsr_typed_shape shape = record->of;
    tsr_status status = tsr_type_gradient(e->world->ctx, e->arena, record->of.type, &shape.type);
    if (status == TSR_OK) {
        status = typed_intern(e, &shape, out);
    }
    tsr_arena_reset(e->arena, mark);
    return status;
}

#include "eager/compose.h"

#include "ops/op_create.h"

static const tsr_tensor *const_tensor_of(const op_value *value)
{
    return (const tsr_tensor *)value;
}

static tsr_status apply(op_builder *base, const op_row *row, const void *params,
                        op_value *const *operands, size_t count, op_value **results)
{
    const eager_builder *b = (const eager_builder *)base;
    tsr_tensor *tensors[EAGER_MAX_OPERANDS];
    tsr_tensor *made[EAGER_MAX_RESULTS];
    if (count > EAGER_MAX_OPERANDS) {
        return diag_error(b->e->world->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "%s: %zu operands; the maximum is %d", b->call, count,
                          EAGER_MAX_OPERANDS);
    }
    for (size_t i = 0; i < count; i++) {
        tensors[i] = tensor_of(operands[i]);
        if (tensors[i]->world != b->e->world) {
            return diag_error(b->e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: the operands belong to different worlds", b->call);
        }
    }
    b->e->typing.operand_names = base->operand_names;
    const tsr_status status = eager_call(b->call, row, params, tensors, count, made);
    b->e->typing.operand_names = NULL;
    TSR_TRY(status);
    for (size_t k = 0; k < op_num_results(row, count); k++) {
        results[k] = value_of(made[k]);
    }
    return TSR_OK;
}

/* A replicated tensor on the mesh of another. */
static tsr_status spec_beside(const eager_builder *b, const op_value *beside, tsr_dtype dtype,
                              size_t rank, const int64_t *shape, tsr_tensor_spec *out)
{
    const tsr_sharding *s = const_tensor_of(beside)->geometry->sharding;
    const bool maximal = tsr_mesh_is_maximal(s->mesh);
    *out = (tsr_tensor_spec){.dtype = dtype, .rank = rank, .shape = shape};
    return tsr_sharding_replicated_over(b->e->world->ctx, b->e->arena, s->mesh, maximal ? 0 : rank,
                                        false, &out->sharding);
}

static tsr_status number(op_builder *base, op_value *beside, tsr_dtype dtype, op_number value,
                         op_value **out)
{
    const eager_builder *b = (const eager_builder *)base;
    const tsr_arena_mark mark = tsr_arena_get_mark(b->e->arena);
    tsr_tensor_spec spec;
    tsr_tensor *made = NULL;
    tsr_status status = spec_beside(b, beside, dtype, 0, NULL, &spec);
    if (status == TSR_OK) {
        status = eager_fill(b->call, b->e->world, &spec, value, &made);
    }
    tsr_arena_reset(b->e->arena, mark);
    *out = value_of(made);
    return status;
}

static tsr_status count_up(op_builder *base, op_value *beside, tsr_dtype dtype, int64_t n,
                           op_value **out)
{
    const eager_builder *b = (const eager_builder *)base;
    const tsr_arena_mark mark = tsr_arena_get_mark(b->e->arena);
    const iota_params params = {.result = {dtype, 1, &n}};
    tsr_tensor_spec spec;
    tsr_tensor *made = NULL;
    tsr_status status = spec_beside(b, beside, dtype, 1, &n, &spec);
    if (status == TSR_OK) {
        status = eager_make(b->call, &op_iota, &params, b->e->world, &spec, &made);
    }
    tsr_arena_reset(b->e->arena, mark);
    *out = value_of(made);
    return status;
}

/* Lying as another tensor does, without what is pending there. */
static tsr_status zeros(op_builder *base, op_value *like, op_value **out)
{
    const eager_builder *b = (const eager_builder *)base;
    const tsr_tensor *t = tensor_of(like);
    const tsr_geometry *g = t->geometry;
    const tsr_sharding *s = g->sharding;
    const tsr_arena_mark mark = tsr_arena_get_mark(b->e->arena);
    tsr_tensor *made = NULL;
    tsr_tensor_spec spec = {s, t->dtype, g->rank, g->shape};
    tsr_status status = TSR_OK;
    if (s->num_unreduced > 0) {
        const tsr_sharding_spec plain = {.mesh = s->mesh, .rank = s->rank, .dims = s->dims};
        status = tsr_sharding_create(b->e->world->ctx, b->e->arena, &plain, 0, &spec.sharding);
    }
    if (status == TSR_OK) {
        status = is_abstract(t) ? tsr_abstract(b->e->world, &spec, &made)
                                : tsr_zeros(b->e->world, &spec, &made);
    }
    tsr_arena_reset(b->e->arena, mark);
    *out = value_of(made);
    return status;
}

static tsr_status settle(op_builder *base, op_value *value, op_value **out)
{
    const eager_builder *b = (const eager_builder *)base;
    tsr_tensor *settled = NULL;
    TSR_TRY(eager_settle(b->e, b->call, true, tensor_of(value), &settled));
    *out = value_of(settled);
    return TSR_OK;
}

static op_type type_of(const op_builder *base, const op_value *value)
{
    (void)base;
    return type_of_layout(const_tensor_of(value)->layout);
}

/* What the builder needs: its tensors are adopted by a scope of its own. */
static tsr_status prepare(tsr_comm *world, eager_builder *b)
{
    TSR_TRY(eager_of(world, &b->e));
    TSR_TRY(eager_reserve(b->e, 1));
    return tsr_scope_open(world);
}

tsr_status compose_begin(const char *call, tsr_tensor *beside, eager_builder *b)
{
    *b = (eager_builder){.base = {.ctx = beside->world->ctx,
                                  .broadcasts = true,
                                  .apply = apply,
                                  .number = number,
                                  .count = count_up,
                                  .zeros = zeros,
                                  .settle = settle,
                                  .type_of = type_of},
                         .call = eager_call_name(beside->world, call)};
    eager_begin(beside->world);
    return eager_tell(beside->world, call, prepare(beside->world, b));
}

tsr_status compose_end(eager_builder *b, op_value *result, tsr_tensor **out)
{
    tsr_tensor *kept = b->base.status < 0 ? NULL : tsr_tensor_retain(tensor_of(result));
    tsr_scope_close(b->e->world);
    if (kept != NULL) {
        eager_adopt(b->e, kept);
        *out = kept;
    }
    return eager_tell(b->e->world, b->call, b->base.status);
}

#include "propagate/state.h"

#include <string.h>

#include "base/arena.h"
#include "ir/verify.h"

uint64_t *table_entry(propagation *s, map *table, const void *key, size_t size)
{
    uint64_t *known = map_find(table, key, size);
    if (known == NULL) {
        const char *kept = arena_copy(s->arena, key, 1, size);
        known = kept != NULL ? map_insert(table, kept, size) : NULL;
    }
    return known;
}

/* Shapes that propagation cannot work with. */
static tsr_status check_results(propagation *s, uint32_t op)
{
    const tsr_program *p = s->p;
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        const uint32_t type = value_type(p, op_result(p, op, i));
        const type_kind kind = program_type(p, type)->kind;
        if (kind == TYPE_TUPLE) {
            return error_at_op(s->ctx, p, op, "Shardy propagation doesn't support tuples: %s",
                               type_string(s->ctx, p, type));
        }
        if (kind == TYPE_UNRANKED || (kind == TYPE_TENSOR && !type_is_static(p, type))) {
            return error_at_op(s->ctx, p, op,
                               "Shardy propagation only supports ranked tensors with a static "
                               "shape. type: %s",
                               type_string(s->ctx, p, type));
        }
    }
    return TSR_OK;
}

static tsr_status check_shapes(propagation *s)
{
    const tsr_program *p = s->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        TSR_TRY(check_results(s, op));
    }
    return TSR_OK;
}

static tsr_status make(propagation *s)
{
    const tsr_program *p = s->p;
    TSR_TRY(tsr_arena_create(s->ctx, &s->arena));
    TSR_TRY(tsr_arena_create(s->ctx, &s->scratch));
    TSR_TRY(engine_create(s->ctx, &s->engine));
    map *const tables[] = {&s->shardings_by_attr, &s->attrs_by_sharding, &s->rules_by_key,
                           &s->rules_by_attr,     &s->attrs_by_rule,     &s->identities};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        *tables[i] = map_new(s->arena);
    }
    s->num_ops = p->ops.count;
    s->names = ARENA_ARRAY(s->arena, name_info, p->op_names.count);
    s->rules = ARENA_ARRAY(s->arena, op_rule, s->num_ops);
    if (s->names == NULL || s->rules == NULL) {
        return diag_nomem(s->ctx);
    }
    memset(s->names, 0, p->op_names.count * sizeof *s->names);
    memset(s->rules, 0, s->num_ops * sizeof *s->rules);
    TSR_TRY(check_shapes(s));
    TSR_TRY(calls_load(s));
    return places_load(s);
}

tsr_status propagation_start(tsr_context *ctx, tsr_program *p, const prop_options *options,
                             propagation *out)
{
    *out = (propagation){.ctx = ctx, .p = p, .options = options, .level = -1};
    const tsr_status status = make(out);
    if (status < 0) {
        propagation_end(out);
    }
    return status;
}

void propagation_end(propagation *s)
{
    engine_destroy(s->engine);
    tsr_arena_destroy(s->scratch);
    tsr_arena_destroy(s->arena);
}

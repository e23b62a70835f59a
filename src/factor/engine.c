#include "factor/engine.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "factor/visit.h"
#include "shard/intern.h"

struct engine {
    tsr_context *ctx;
    tsr_arena *kept;    /* the engine itself, and the shardings */
    tsr_arena *scratch; /* of the visit under way */
    sharding_interner shardings;
    projection last; /* of that visit */
};

/* Makes an engine in the arena that holds it. */
static tsr_status build(tsr_context *ctx, tsr_arena *kept, engine **out)
{
    engine *e = ARENA_NEW(kept, engine);
    if (e == NULL) {
        return diag_nomem(ctx);
    }
    *e = (engine){.ctx = ctx, .kept = kept, .shardings = sharding_interner_new(ctx, kept)};
    TSR_TRY(tsr_arena_create(ctx, &e->scratch));
    *out = e;
    return TSR_OK;
}

tsr_status engine_create(tsr_context *ctx, engine **out)
{
    tsr_arena *kept = NULL;
    TSR_TRY(tsr_arena_create(ctx, &kept));
    const tsr_status status = build(ctx, kept, out);
    if (status < 0) {
        tsr_arena_destroy(kept);
    }
    return status;
}

void engine_report_to(engine *e, tsr_context *ctx)
{
    e->ctx = ctx;
    e->shardings.ctx = ctx;
}

void engine_destroy(engine *e)
{
    if (e != NULL) {
        tsr_arena_destroy(e->scratch);
        tsr_arena_destroy(e->kept);
    }
}

tsr_status engine_intern(engine *e, const tsr_sharding *sharding, const tsr_sharding **out)
{
    return sharding_intern(&e->shardings, sharding, out);
}

/* Interns what the tensors that changed have now. */
static tsr_status write_back(engine *e, projection *p, engine_changes *changes)
{
    engine_change *list = ARENA_ARRAY(e->scratch, engine_change, p->num_tensors);
    size_t count = 0;
    if (list == NULL) {
        return diag_nomem(e->ctx);
    }
    for (size_t t = 0; t < p->num_tensors; t++) {
        const tsr_sharding *before = p->tensors[t].sharding;
        const tsr_sharding *after = before;
        if (p->tensors[t].changed) {
            tsr_sharding now;
            TSR_TRY(project_back(p, t, &now));
            if (is_update(before, &now)) {
                TSR_TRY(sharding_intern_trusted(&e->shardings, &now, &after));
            }
        }
        if (after != before) {
            list[count++] = (engine_change){t, before, after};
        }
    }
    *changes = (engine_changes){list, count};
    return TSR_OK;
}

tsr_status engine_visit(engine *e, const visit_op *op, const tsr_sharding *const *shardings,
                        engine_changes *changes)
{
    projection *p = &e->last;
    tsr_arena_reset(e->scratch, (tsr_arena_mark){0});
    TSR_TRY(visit(e->ctx, e->scratch, op, NULL, shardings, p));
    if (p->changed) {
        return write_back(e, p, changes);
    }
    *changes = (engine_changes){0};
    return TSR_OK;
}

const projection *engine_last_visit(const engine *e)
{
    return &e->last;
}

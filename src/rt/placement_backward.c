/* The backward of a conversion: the gradient moves back to the source layout. */
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "rt/placement.h"
#include "rt/symbols.h"

/* A sharding without its pending reductions. */
static tsr_status settled(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *s,
                          const tsr_sharding **out)
{
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = s->dims,
                                    .num_replicated = s->num_replicated,
                                    .replicated = s->replicated};
    return tsr_sharding_create(ctx, arena, &spec, TSR_SHARDING_DEFAULT, out);
}

/* Whether a pending reduction has a gradient, for elements of a type. */
static tsr_status check_differentiable(tsr_context *ctx, const tsr_conversion *of,
                                       const tsr_tensor *gradient)
{
    const tsr_sharding *s = of->src;
    if (s->num_unreduced == 0 || s->reduction == TSR_SUM) {
        return TSR_OK;
    }
    if (s->reduction != TSR_AVG) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "%s: a pending %s has no gradient; only sum and avg have one", of->name,
                          reduction_name(s->reduction));
    }
    if (!tensor_divides(gradient->dtype)) {
        return diag_error(
            ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
            "%s: an average of %s has no gradient; f16, bf16, f32, f64 and complex types have one",
            of->name, tsr_dtype_name(gradient->dtype));
    }
    return TSR_OK;
}

/* Refuses a gradient that is not laid out as the result was, but for what is pending. */
static tsr_status check_gradient(tsr_context *ctx, tsr_arena *scratch, const tsr_conversion *of,
                                 const tsr_tensor *gradient)
{
    const tsr_geometry *g = gradient->geometry;
    if (g->rank != of->rank || memcmp(g->shape, of->shape, of->rank * sizeof *of->shape) != 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the shapes of the gradient and of the result differ", of->name);
    }
    if (g->sharding->num_unreduced > 0 && (of->in_place || (g->sharding->reduction != TSR_SUM &&
                                                            g->sharding->reduction != TSR_AVG))) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the gradient has a pending %s, which has no backward", of->name,
                          reduction_name(g->sharding->reduction));
    }
    const tsr_sharding *bare = NULL;
    const tsr_geometry *have = NULL;
    const tsr_geometry *wanted = NULL;
    bool same = false;
    TSR_TRY(settled(ctx, scratch, g->sharding, &bare));
    const bool abstract = gradient->world->team->abstract;
    const tsr_sharding *dst = NULL;
    TSR_TRY(symbols_resolve(gradient->world, scratch, of->dst, &dst));
    TSR_TRY(geometry_create(ctx, scratch, bare, g->rank, g->shape, abstract, &have));
    TSR_TRY(geometry_create(ctx, scratch, dst, of->rank, of->shape, abstract, &wanted));
    TSR_TRY(tsr_geometry_same(ctx, have, wanted, &same));
    if (!same) {
        const char *texts[2] = {NULL, NULL};
        TSR_TRY(tsr_sharding_print(ctx, scratch, g->sharding, TSR_PRINT_BARE, &texts[0]));
        TSR_TRY(tsr_sharding_print(ctx, scratch, of->dst, TSR_PRINT_BARE, &texts[1]));
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the gradient is laid out as %s, the result was %s", of->name,
                          texts[0], texts[1]);
    }
    return TSR_OK;
}

/* Checks, and the sharding of the result. */
static tsr_status prepare_backward(tsr_context *ctx, tsr_arena *scratch, const tsr_conversion *of,
                                   const tsr_tensor *gradient, const tsr_sharding **to)
{
    TSR_TRY(check_differentiable(ctx, of, gradient));
    TSR_TRY(check_gradient(ctx, scratch, of, gradient));
    return settled(ctx, scratch, of->src, to);
}

tsr_status tsr_conversion_backward(const tsr_conversion *conversion, tsr_tensor *gradient,
                                   tsr_tensor **out)
{
    GUARD(tsr_conversion_backward);
    tsr_context *ctx = gradient->world->ctx;
    tsr_arena *scratch = NULL;
    const tsr_sharding *to = NULL;
    const tsr_sharding *src = conversion->src;
    tsr_tensor *fresh = NULL;
    tsr_status status = tsr_arena_create(ctx, &scratch);
    if (status == TSR_OK) {
        status = prepare_backward(ctx, scratch, conversion, gradient, &to);
    }
    status = placement_run("tsr_conversion_backward", gradient, status, to, conversion->in_place,
                           &fresh);
    tsr_arena_destroy(scratch);
    if (status < 0) {
        return status;
    }
    if (src->num_unreduced > 0 && src->reduction == TSR_AVG) {
        tensor_divide(fresh, tsr_axes_size(src->unreduced, src->num_unreduced));
    }
    *out = fresh;
    return TSR_OK;
}

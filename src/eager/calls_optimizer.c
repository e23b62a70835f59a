/* The public calls of optimizers: what they need is checked, new values are computed, then written
 * over the old ones, which cannot fail. */
#include <math.h>

#include <tessera/eager.h>

#include "base/guard.h"
#include "eager/compose.h"
#include "eager/typed.h"
#include "ops/optimizer.h"

/* The parameter and its state, NULL for none, and what replaces them. */
typedef struct update {
    const char *call;
    tsr_tensor *targets[OPTIMIZER_VALUES];
    op_value *values[OPTIMIZER_VALUES];
} update;

static const char *const target_names[] = {"the parameter", "the state", "the second state"};

static tsr_status check_number(const char *call, tsr_comm *world, const char *name, double number,
                               double below)
{
    if (number >= 0 && number < below) {
        return TSR_OK;
    }
    return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s: the %s must be 0 or above and %s, got: %g", call, name,
                      below == 1 ? "below 1" : "finite", number);
}

/* A tensor of floats, of the parameter's shape and world. */
static tsr_status check_tensor(const char *call, const char *name, const tsr_tensor *t,
                               const tsr_tensor *parameter)
{
    const op_type type = type_of_layout(t->layout);
    const op_type of = type_of_layout(parameter->layout);
    bool same = type.rank == of.rank;
    for (size_t d = 0; same && d < of.rank; d++) {
        same = type.shape[d] == of.shape[d];
    }
    if (t->world != parameter->world) {
        return diag_error(parameter->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: %s belongs to another world than the parameter", call, name);
    }
    if (!same || !dtype_is_float(type.dtype)) {
        return diag_error(parameter->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: %s, %s, must have a floating-point element type and the shape of "
                          "the parameter, %s",
                          call, name, op_type_text(&type).text, op_type_text(&of).text);
    }
    return TSR_OK;
}

/* What is written over: nothing is pending there, and no two are one. */
static tsr_status check_target(const update *u, size_t i)
{
    const tsr_tensor *t = u->targets[i];
    TSR_TRY(check_tensor(u->call, target_names[i], t, u->targets[0]));
    if (t->geometry->sharding->num_unreduced > 0) {
        return diag_error(t->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: %s has a pending reduction: use tsr_reduce_pending first", u->call,
                          target_names[i]);
    }
    for (size_t j = 0; j < i; j++) {
        if (u->targets[j] == t) {
            return diag_error(t->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: %s and %s are the same tensor; give each a tensor of its own",
                              u->call, target_names[j], target_names[i]);
        }
    }
    return TSR_OK;
}

static tsr_status check_update(const update *u, const tsr_tensor *gradient)
{
    eager *e = NULL;
    TSR_TRY(check_tensor(u->call, "the gradient", gradient, u->targets[0]));
    for (size_t i = 0; i < OPTIMIZER_VALUES; i++) {
        TSR_TRY(u->targets[i] != NULL ? check_target(u, i) : TSR_OK);
    }
    TSR_TRY(eager_of(gradient->world, &e));
    for (size_t i = 0; i < OPTIMIZER_VALUES; i++) {
        TSR_TRY(u->targets[i] != NULL
                    ? started_check_free(e, u->call, target_names[i], u->targets[i])
                    : TSR_OK);
    }
    if (e->tapes.innermost != NULL) {
        return diag_error(
            gradient->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "%s: a tape is recording and may have saved the parameter; call tsr_tape_end first",
            u->call);
    }
    return TSR_OK;
}

/* Begins: all values in the type that is computed in. */
static tsr_status begin_update(update *u, tsr_tensor *gradient, eager_builder *b, op_value **g)
{
    tsr_comm *world = u->targets[0]->world;
    const tsr_dtype dtype = u->targets[0]->dtype == TSR_F64 ? TSR_F64 : TSR_F32;
    eager_begin(world);
    TSR_TRY(eager_tell(world, u->call, check_update(u, gradient)));
    TSR_TRY(compose_begin(u->call, u->targets[0], b));
    *g = build_convert(&b->base, build_settled(&b->base, value_of(gradient)), dtype);
    for (size_t i = 0; i < OPTIMIZER_VALUES; i++) {
        tsr_tensor *t = u->targets[i];
        u->values[i] = t != NULL ? build_convert(&b->base, value_of(t), dtype) : NULL;
    }
    return TSR_OK;
}

/* A new value as it will be stored: of the type and in the layout of the old one. */
static tsr_status fit(eager_builder *b, const update *u, size_t i, tsr_tensor **out)
{
    const tsr_tensor *old = u->targets[i];
    op_value *value = build_convert(&b->base, u->values[i], old->dtype);
    TSR_TRY(b->base.status);
    tsr_tensor *t = tensor_of(value);
    if (!is_typing(b->e)) {
        return tsr_with_sharding(t, old->geometry->sharding, out);
    }
    const typed_record *is = record_of(t);
    const typed_record *must = record_of(old);
    if (is != NULL && must != NULL && is != must) {
        const tsr_type *both[] = {is->of.type, must->of.type};
        const tsr_mesh *mesh = NULL;
        TSR_TRY(typed_meet(b->e, both, 2, NULL, &mesh));
        if (tsr_type_equal(both[0], both[1])) {
            *out = t;
            return TSR_OK;
        }
        return diag_error(b->base.ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the type of %s would change; bring the gradient to that type first",
                          u->call, target_names[i]);
    }
    *out = t;
    return TSR_OK;
}

static tsr_status fit_all(eager_builder *b, const update *u, tsr_tensor **fresh)
{
    for (size_t i = 0; i < OPTIMIZER_VALUES; i++) {
        TSR_TRY(u->targets[i] != NULL ? fit(b, u, i, &fresh[i]) : TSR_OK);
    }
    return b->base.status;
}

/* Ends: what was computed is written over what it was computed from. */
static tsr_status end_update(eager_builder *b, const update *u)
{
    tsr_tensor *fresh[OPTIMIZER_VALUES] = {NULL};
    tsr_comm *world = u->targets[0]->world;
    const tsr_status status = b->base.status < 0 ? b->base.status : fit_all(b, u, fresh);
    for (size_t i = 0; status >= 0 && i < OPTIMIZER_VALUES; i++) {
        if (u->targets[i] != NULL && !is_abstract(u->targets[i])) {
            const tsr_view to = view_of(u->targets[i]);
            const tsr_view from = view_of(fresh[i]);
            eager_copy_view(&to, &from);
        }
    }
    tsr_scope_close(world);
    return eager_tell(world, b->call, status < 0 ? status : TSR_OK);
}

static tsr_status check_sgd(const tsr_sgd_options *o, tsr_comm *world, bool has_velocity)
{
    static const char call[] = "tsr_sgd_step";
    TSR_TRY(check_number(call, world, "learning rate", o->learning_rate, INFINITY));
    TSR_TRY(check_number(call, world, "momentum", o->momentum, 1));
    TSR_TRY(check_number(call, world, "weight decay", o->weight_decay, INFINITY));
    if (o->momentum > 0 && !has_velocity) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: a momentum of %g requires a velocity, got: NULL", call, o->momentum);
    }
    return TSR_OK;
}

tsr_status tsr_sgd_step(tsr_tensor *parameter, tsr_tensor *gradient, const tsr_sgd_options *options,
                        tsr_tensor *velocity)
{
    GUARD(tsr_sgd_step);
    update u = {.call = "tsr_sgd_step", .targets = {parameter, velocity}};
    eager_builder b;
    op_value *g = NULL;
    eager_begin(parameter->world);
    TSR_TRY(eager_tell(parameter->world, u.call,
                       check_sgd(options, parameter->world, velocity != NULL)));
    TSR_TRY(begin_update(&u, gradient, &b, &g));
    compose_sgd(&b.base, options, g, u.values);
    return end_update(&b, &u);
}

static tsr_status check_adam(const tsr_adam_options *o, tsr_comm *world, int64_t step)
{
    static const char call[] = "tsr_adam_step";
    TSR_TRY(check_number(call, world, "learning rate", o->learning_rate, INFINITY));
    TSR_TRY(check_number(call, world, "beta1", o->beta1, 1));
    TSR_TRY(check_number(call, world, "beta2", o->beta2, 1));
    TSR_TRY(check_number(call, world, "epsilon", o->epsilon, INFINITY));
    TSR_TRY(check_number(call, world, "weight decay", o->weight_decay, INFINITY));
    if (step < 1) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: the step number must be at least 1, got: %lld", call,
                          (long long)step);
    }
    return TSR_OK;
}

tsr_status tsr_adam_step(tsr_tensor *parameter, tsr_tensor *gradient,
                         const tsr_adam_options *options, int64_t step, tsr_tensor *mean,
                         tsr_tensor *square)
{
    GUARD(tsr_adam_step);
    update u = {.call = "tsr_adam_step", .targets = {parameter, mean, square}};
    eager_builder b;
    op_value *g = NULL;
    eager_begin(parameter->world);
    TSR_TRY(eager_tell(parameter->world, u.call, check_adam(options, parameter->world, step)));
    TSR_TRY(begin_update(&u, gradient, &b, &g));
    compose_adam(&b.base, options, step, g, u.values);
    return end_update(&b, &u);
}

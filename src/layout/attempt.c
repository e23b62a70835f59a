#include "layout/attempt.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "mesh/mesh.h"
#include "shard/sharding.h"

/* The dimensions of a sharding with these axes pending. */
static tsr_status with_pending(const inference *x, const tsr_sharding *s, const tsr_axis_ref *axes,
                               size_t count, tsr_reduction kind, const tsr_sharding **out)
{
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = s->dims,
                                    .num_unreduced = count,
                                    .unreduced = axes,
                                    .reduction = count > 0 ? kind : TSR_SUM};
    return tsr_sharding_create(x->r->ctx, x->arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

tsr_status attempt_strip(inference *x, bool keep)
{
    if (keep) {
        choose_pending(x->r, x->on_mesh, x->kept, &x->kept_kind);
    }
    for (size_t i = 0; i < x->r->num_operands; i++) {
        x->kept[i].count = keep ? x->kept[i].count : 0;
        x->stripped[i] = x->on_mesh[i];
        if (x->on_mesh[i]->num_unreduced > 0) {
            TSR_TRY(with_pending(x, x->on_mesh[i], NULL, 0, TSR_SUM, &x->stripped[i]));
        }
    }
    return TSR_OK;
}

/* Whether each rank's part of an operand is one box of the whole. */
static bool is_contiguous_box(const inference *x, size_t operand)
{
    const tsr_sharding *s = x->stripped[operand];
    for (size_t d = 0; d < s->rank; d++) {
        if (s->dims[d].ragged != NULL && s->dims[d].ragged->kind == TSR_RAGGED_UNALIGNED) {
            return false;
        }
    }
    return true;
}

bool attempt_can_stay(const inference *x)
{
    for (size_t i = 0; (x->r->row->traits & OP_POSITIONAL) != 0 && i < x->r->num_operands; i++) {
        if (!is_contiguous_box(x, i)) {
            return false;
        }
    }
    return true;
}

static int64_t bytes_of(const op_type *type)
{
    int64_t bytes;
    return op_elements(type, &bytes) &&
                   checked_mul(bytes, tsr_dtype_item_bytes(type->dtype), &bytes)
               ? bytes
               : INT64_MAX / 4;
}

tsr_status attempt_alignment(const inference *x, tsr_alignment *out)
{
    const size_t count = x->r->num_operands + x->num_results;
    int64_t *bytes = ARENA_ARRAY(x->arena, int64_t, count);
    if (bytes == NULL) {
        return diag_nomem(x->r->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        bytes[i] = bytes_of(i < x->r->num_operands ? &x->r->operands[i]
                                                   : &x->results[i - x->r->num_operands]);
    }
    *out = (tsr_alignment){.rule = x->local_rule,
                           .mesh = x->mesh,
                           .strategy = x->strategy,
                           .operands = x->stripped,
                           .bytes = bytes};
    return TSR_OK;
}

tsr_status attempt_align(inference *x)
{
    tsr_alignment op;
    TSR_TRY(attempt_alignment(x, &op));
    return tsr_propagate_align(x->r->ctx, x->arena, &op, x->aligned);
}

tsr_status attempt_gather(inference *x)
{
    for (size_t i = 0; i < x->r->num_operands; i++) {
        TSR_TRY(tsr_sharding_replicated_over(x->r->ctx, x->arena, x->mesh, x->r->operands[i].rank,
                                             false, &x->aligned[i]));
    }
    for (size_t k = 0; k < x->num_results; k++) {
        TSR_TRY(tsr_sharding_replicated_over(x->r->ctx, x->arena, x->mesh, x->results[k].rank,
                                             false, &x->locals[k]));
    }
    x->fallback = true;
    return TSR_OK;
}

static tsr_reduction reduction_of(const inference *x)
{
    return x->r->row->reduces != NULL ? x->r->row->reduces(x->r) : TSR_SUM;
}

tsr_status attempt_run(inference *x)
{
    return tsr_propagate_local(x->r->ctx, x->arena, x->local_rule, x->mesh, x->aligned,
                               reduction_of(x), x->locals);
}

/* Whether some axes of one list and of another cannot be in one sharding. */
static bool clash(const tsr_dim *wanted, const tsr_axis_ref *axes, size_t count)
{
    bool any = tsr_axes_overlap(wanted->axes, wanted->num_axes, axes, count);
    for (size_t i = 0; !any && i < wanted->num_axes; i++) {
        for (size_t k = 0; !any && k < count; k++) {
            any = !tsr_axis_can_coexist(wanted->axes[i], axes[k]);
        }
    }
    return any;
}

/*
 * Whether a sharding cannot take these axes too: of its dimensions so far, those before `count` are
 * in `dims`; and of what is pending.
 */
static bool is_used(const tsr_sharding *s, const tsr_dim *dims, size_t count, const tsr_dim *wanted)
{
    bool used = clash(wanted, s->unreduced, s->num_unreduced);
    for (size_t d = 0; !used && d < s->rank; d++) {
        const tsr_dim *dim = d < count ? &dims[d] : &s->dims[d];
        used = clash(wanted, dim->axes, dim->num_axes);
    }
    return used;
}

/* Gives dimensions that had to be whole for the op the axes that propagation wants for them. */
static tsr_status reshard_result(inference *x, size_t result, const tsr_sharding *wanted)
{
    const tsr_sharding *local = x->locals[result];
    tsr_dim *dims = arena_copy(x->arena, local->dims, local->rank, sizeof *dims);
    bool changed = false;
    if (dims == NULL) {
        return diag_nomem(x->r->ctx);
    }
    for (size_t d = 0; wanted != NULL && d < local->rank; d++) {
        const tsr_dim *to = &wanted->dims[d];
        if (dims[d].num_axes == 0 && to->num_axes > 0 && to->ragged == NULL &&
            !is_used(local, dims, d, to)) {
            dims[d] = tsr_dim_closed(to->axes, to->num_axes);
            changed = true;
        }
    }
    if (!changed) {
        return TSR_OK;
    }
    x->fallback = true;
    const tsr_sharding_spec spec = {.mesh = local->mesh,
                                    .rank = local->rank,
                                    .dims = dims,
                                    .num_unreduced = local->num_unreduced,
                                    .unreduced = local->unreduced,
                                    .reduction = local->reduction};
    return tsr_sharding_create(x->r->ctx, x->arena, &spec, TSR_SHARDING_CANONICALIZE,
                               &x->finals[result]);
}

static tsr_status reshard_results(inference *x)
{
    const tsr_sharding **wanted = ARENA_ARRAY(x->arena, const tsr_sharding *, x->num_results);
    const tsr_sharding **same = ARENA_ARRAY(x->arena, const tsr_sharding *, x->r->num_operands);
    const tsr_propagation op = {.rule = x->rule,
                                .mesh = x->mesh,
                                .strategy = x->strategy,
                                .direction = TSR_DIRECTION_FORWARD,
                                .elementwise = (x->r->row->traits & OP_ELEMENTWISE) != 0,
                                .operands = x->stripped};
    if (same == NULL || wanted == NULL) {
        return diag_nomem(x->r->ctx);
    }
    TSR_TRY(tsr_propagate(x->r->ctx, x->arena, &op, same, wanted));
    for (size_t k = 0; k < x->num_results; k++) {
        TSR_TRY(reshard_result(x, k, wanted[k]));
    }
    return TSR_OK;
}

enum { MAX_JOINED = 2 * MAX_PENDING };

/* What stays pending joins what the op leaves pending; false when the two are of different kinds.
 */
static tsr_status add_kept(inference *x, bool *fits)
{
    *fits = true;
    for (size_t k = 0; k < x->num_results; k++) {
        const tsr_sharding *s = x->locals[k];
        size_t count = 0;
        tsr_axis_ref axes[MAX_JOINED];
        for (size_t i = 0; i < s->num_unreduced && i < MAX_PENDING; i++) {
            axes[count++] = s->unreduced[i];
        }
        const size_t own = count;
        for (size_t i = 0; i < x->r->num_operands; i++) {
            for (size_t n = 0; n < x->kept[i].count; n++) {
                if (!tsr_axes_overlap(&x->kept[i].axes[n], 1, axes, count) && count < MAX_JOINED) {
                    axes[count++] = x->kept[i].axes[n];
                }
            }
        }
        if (count == own) {
            continue;
        }
        *fits = own == 0 || s->reduction == x->kept_kind;
        if (!*fits) {
            return TSR_OK;
        }
        TSR_TRY(with_pending(x, s, axes, count, x->kept_kind, &x->locals[k]));
    }
    return TSR_OK;
}

/* The sharding that the op needs an operand to have, with what stays pending. */
static tsr_status find_run(inference *x, size_t i)
{
    x->run[i] = x->aligned[i];
    if (x->aligned[i] == x->stripped[i] && x->on_mesh[i] == x->given[i] &&
        x->kept[i].count == x->on_mesh[i]->num_unreduced) {
        x->run[i] = x->given[i];
        return TSR_OK;
    }
    return x->kept[i].count == 0 ? TSR_OK
                                 : with_pending(x, x->aligned[i], x->kept[i].axes, x->kept[i].count,
                                                x->kept_kind, &x->run[i]);
}

tsr_status attempt_finish(inference *x, bool reshard, bool *fits)
{
    TSR_TRY(add_kept(x, fits));
    memcpy((void *)x->finals, (const void *)x->locals, x->num_results * sizeof *x->finals);
    if (*fits && reshard) {
        TSR_TRY(reshard_results(x));
    }
    for (size_t i = 0; *fits && i < x->r->num_operands; i++) {
        TSR_TRY(find_run(x, i));
    }
    return TSR_OK;
}

tsr_status attempt_completed(const inference *x, const tsr_sharding *s, const tsr_sharding **out)
{
    *out = s;
    return s->num_unreduced == 0 ? TSR_OK : with_pending(x, s, NULL, 0, TSR_SUM, out);
}

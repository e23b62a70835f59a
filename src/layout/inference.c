#include "layout/inference.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "factor/rule.h"
#include "layout/unbound.h"
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

/* Operands on another view of the devices, in terms of the first one's mesh. */
static tsr_status to_common_mesh(inference *x)
{
    x->mesh = x->given[0]->mesh;
    for (size_t i = 0; i < x->r->num_operands; i++) {
        const tsr_sharding *s = x->given[i];
        x->on_mesh[i] = s;
        if (i == 0 || tsr_mesh_equal(s->mesh, x->mesh)) {
            continue;
        }
        if (!tsr_mesh_same_devices(s->mesh, x->mesh)) {
            return OP_ERROR(x->r,
                            "operand 0, %s, and operand %zu, %s, are on different sets of devices; "
                            "redistribute one of them first",
                            op_type_text(&x->r->operands[0]).text, i,
                            op_type_text(&x->r->operands[i]).text);
        }
        tsr_context *quiet = NULL;
        TSR_TRY(tsr_context_create(NULL, &quiet));
        const tsr_status status =
            tsr_sharding_translate(quiet, x->arena, s, x->mesh, &x->on_mesh[i]);
        tsr_context_destroy(quiet);
        if (status != TSR_OK) {
            TSR_TRY(tsr_sharding_replicated_over(x->r->ctx, x->arena, x->mesh, s->rank, false,
                                                 &x->on_mesh[i]));
        }
    }
    return TSR_OK;
}

/* Takes out of every operand what is pending; what of it stays goes to the results. */
static tsr_status strip_pending(inference *x, bool keep)
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

static bool can_run_on_parts(const inference *x)
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

static tsr_status align(inference *x)
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
    const tsr_alignment op = {.rule = x->local_rule,
                              .mesh = x->mesh,
                              .strategy = x->strategy,
                              .operands = x->stripped,
                              .bytes = bytes};
    return tsr_propagate_align(x->r->ctx, x->arena, &op, x->aligned);
}

static tsr_status replicate_all(inference *x)
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

static tsr_status run_in_layout(inference *x, const tsr_sharding *const *operands)
{
    return tsr_propagate_local(x->r->ctx, x->arena, x->local_rule, x->mesh, operands,
                               reduction_of(x), x->locals);
}

/* The axes of a sharding so far: of its dimensions before `dims`, and pending. */
static bool is_used(const tsr_sharding *s, const tsr_dim *dims, size_t count, const tsr_dim *wanted)
{
    bool used = tsr_axes_overlap(wanted->axes, wanted->num_axes, s->unreduced, s->num_unreduced);
    for (size_t d = 0; !used && d < s->rank; d++) {
        const tsr_dim *dim = d < count ? &dims[d] : &s->dims[d];
        used = tsr_axes_overlap(wanted->axes, wanted->num_axes, dim->axes, dim->num_axes);
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

/* Finds layouts in which the op can run, with or without what might stay pending. */
static tsr_status lay_out(inference *x, bool keep, bool *fits)
{
    const size_t n = x->r->num_operands;
    x->fallback = false;
    TSR_TRY(strip_pending(x, keep));
    bool aligned = false;
    tsr_status status = x->rule == NULL ? replicate_all(x) : TSR_NOT_APPLICABLE;
    if (x->rule != NULL && can_run_on_parts(x)) {
        memcpy(x->aligned, x->stripped, n * sizeof(const tsr_sharding *));
        status = run_in_layout(x, x->stripped);
    }
    if (status == TSR_NOT_APPLICABLE) {
        TSR_TRY(align(x));
        status = run_in_layout(x, x->aligned);
        aligned = true;
    }
    if (status == TSR_NOT_APPLICABLE) {
        status = replicate_all(x);
    }
    TSR_TRY(status);
    TSR_TRY(add_kept(x, fits));
    memcpy((void *)x->finals, (const void *)x->locals, x->num_results * sizeof *x->finals);
    return *fits && aligned ? reshard_results(x) : TSR_OK;
}

static tsr_status find_rule(inference *x)
{
    const tsr_status status = op_find_rule(x->r, x->results, x->arena, &x->rule);
    if (status == TSR_NOT_APPLICABLE) {
        x->rule = NULL;
        return TSR_OK;
    }
    TSR_TRY(status);
    return op_local_rule(x->r, x->results, x->rule, x->arena, &x->local_rule);
}

tsr_status inference_begin(inference *x)
{
    const size_t n = x->r->num_operands;
    const size_t m = x->num_results;
    const tsr_sharding **lists = ARENA_ARRAY(x->arena, const tsr_sharding *, 4 * n + 2 * m);
    x->kept = ARENA_ARRAY(x->arena, kept_axes, n);
    if (lists == NULL || x->kept == NULL) {
        return diag_nomem(x->r->ctx);
    }
    for (size_t i = 0; i < n; i++) {
        x->kept[i].count = 0;
    }
    x->on_mesh = lists;
    x->stripped = lists + n;
    x->aligned = lists + 2 * n;
    x->run = lists + 3 * n;
    x->locals = lists + 4 * n;
    x->finals = lists + 4 * n + m;
    memset((void *)x->locals, 0, 2 * m * sizeof *x->locals);
    TSR_TRY(to_common_mesh(x));
    return find_rule(x);
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

tsr_status inference_solve(inference *x)
{
    bool fits = false;
    TSR_TRY(unbound_check(x));
    TSR_TRY(lay_out(x, true, &fits));
    if (!fits) {
        TSR_TRY(lay_out(x, false, &fits));
    }
    for (size_t i = 0; i < x->r->num_operands; i++) {
        TSR_TRY(find_run(x, i));
    }
    return TSR_OK;
}

size_t inference_own_pending(const inference *x, tsr_axis_ref *axes)
{
    const tsr_sharding *s = x->locals[0];
    size_t count = 0;
    for (size_t i = 0; i < s->num_unreduced && count < MAX_PENDING; i++) {
        bool kept = false;
        for (size_t k = 0; k < x->r->num_operands; k++) {
            kept = kept || tsr_axes_overlap(&s->unreduced[i], 1, x->kept[k].axes, x->kept[k].count);
        }
        if (!kept) {
            axes[count++] = s->unreduced[i];
        }
    }
    return count;
}

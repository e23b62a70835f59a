/* In which order strategies run: by the priorities of ops, and by those that users gave. */
#include <stdlib.h>

#include "base/arena.h"
#include "factor/rule.h"
#include "ir/message.h"
#include "propagate/state.h"
#include "shard/sharding.h"

/* ---- ops ---- */

enum { NUM_LEVELS = 5 };

static tsr_direction unite(tsr_direction a, tsr_direction b)
{
    if (a == b || b == TSR_DIRECTION_NONE) {
        return a;
    }
    return a == TSR_DIRECTION_NONE ? b : TSR_DIRECTION_BOTH;
}

/* Whether every operand that is not a scalar has exactly one use. */
static bool operands_are_used_once(const tsr_program *p, uint32_t op)
{
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const uint32_t value = op_operand(p, op, i);
        const type_head *type = program_type(p, value_type(p, value));
        if (type->kind == TYPE_TENSOR && type->count > 0 && !value_has_one_use(p, value)) {
            return false;
        }
    }
    return true;
}

/* Of ops that only hand data on: the first two levels. */
static tsr_direction early_direction(propagation *s, uint32_t op, const name_info *info)
{
    priority_class priority = (priority_class)info->priority;
    if (info->is_call) {
        slice target;
        if (attr_as_string(s->w.p, op_property(s->w.p, op, "call_target_name"), &target) &&
            (slice_is(target, "MoveToDevice") || slice_is(target, "MoveToHost"))) {
            priority = PRIORITY_PASSES_ON;
        }
    } else if (info->is_bitcast) {
        priority = rule_op_is_elementwise(s, op, info) ? PRIORITY_PASSES_ON : PRIORITY_LATE;
    }
    if ((priority != PRIORITY_PASSES_ON && priority != PRIORITY_PASSES_FORWARD) ||
        (s->level == 0 && (info->expands || !operands_are_used_once(s->w.p, op)))) {
        return TSR_DIRECTION_NONE;
    }
    return priority == PRIORITY_PASSES_ON ? TSR_DIRECTION_BOTH : TSR_DIRECTION_FORWARD;
}

/* One direction for each factor, where that depends on its kind. */
static tsr_status by_kind(propagation *s, const tsr_rule *rule, tsr_direction all,
                          tsr_direction passing, visit_direction *out)
{
    tsr_direction *list = ARENA_ARRAY(s->w.scratch, tsr_direction, rule->num_factors + 1);
    if (list == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (size_t f = 0; f < rule->num_factors; f++) {
        list[f] = rule->factors[f].kind == TSR_FACTOR_PASS_THROUGH ? unite(all, passing) : all;
    }
    out->directions = list;
    return TSR_OK;
}

tsr_status priorities_direction(propagation *s, uint32_t op, const tsr_rule *rule,
                                visit_direction *out)
{
    const name_info *info = NULL;
    *out = (visit_direction){.direction = TSR_DIRECTION_BOTH};
    if (s->level < 0 || s->level == NUM_LEVELS - 1) {
        return TSR_OK;
    }
    TSR_TRY(rule_name_of_op(s, op, &info));
    out->direction = early_direction(s, op, info);
    if (s->level < 2 || out->direction == TSR_DIRECTION_BOTH) {
        return TSR_OK;
    }
    const tsr_direction late =
        info->priority == PRIORITY_BROADCAST ? TSR_DIRECTION_BACKWARD : TSR_DIRECTION_BOTH;
    if (s->level == 2 && rule != NULL) {
        return by_kind(s, rule, out->direction, late, out);
    }
    out->direction = s->level == 2 ? out->direction : unite(out->direction, late);
    return TSR_OK;
}

static tsr_status run_strategies(propagation *s)
{
    for (size_t i = 0; i < s->options->num_strategies; i++) {
        s->strategy = s->options->strategies[i];
        TSR_TRY(sweep(s));
    }
    return TSR_OK;
}

static tsr_status run_levels(propagation *s)
{
    if (!s->options->by_op_priority) {
        s->level = -1;
        return run_strategies(s);
    }
    for (s->level = 0; s->level < NUM_LEVELS; s->level++) {
        TSR_TRY(run_strategies(s));
    }
    s->level = -1;
    return TSR_OK;
}

/* ---- users ---- */

/* A dimension that waits for its priority. */
typedef struct waiting {
    uint32_t place;
    int64_t priority;
    const tsr_sharding *sharding; /* as it was written */
    size_t order;
} waiting;

typedef struct waiting_list {
    waiting *items;
    size_t count;
    size_t room;
} waiting_list;

static tsr_status add_waiting(propagation *s, waiting_list *list, waiting item)
{
    if (list->count == list->room) {
        const size_t room = list->room > 0 ? 2 * list->room : 16;
        waiting *items = ARENA_ARRAY(s->w.arena, waiting, room);
        if (items == NULL) {
            return diag_nomem(s->w.ctx);
        }
        for (size_t i = 0; i < list->count; i++) {
            items[i] = list->items[i];
        }
        list->items = items;
        list->room = room;
    }
    item.order = list->count;
    list->items[list->count++] = item;
    return TSR_OK;
}

/* Remembers a sharding once under each of its priorities above 0. */
static tsr_status remember(propagation *s, waiting_list *list, uint32_t place,
                           const tsr_sharding *sharding)
{
    for (size_t d = 0; d < sharding->rank; d++) {
        const int64_t priority = sharding->dims[d].priority;
        bool seen = priority <= 0;
        for (size_t k = 0; k < d; k++) {
            seen = seen || sharding->dims[k].priority == priority;
        }
        if (!seen) {
            TSR_TRY(add_waiting(s, list, (waiting){place, priority, sharding, 0}));
        }
    }
    return TSR_OK;
}

static int compare_axes(const void *a, const void *b)
{
    const tsr_axis_ref *x = a;
    const tsr_axis_ref *y = b;
    return tsr_axis_compare(*x, *y);
}

/* Takes away what has a priority above 0: those axes are replicated until its turn. */
static tsr_status hold_back(propagation *s, const tsr_sharding *from, const tsr_sharding **out)
{
    size_t room = from->num_replicated;
    for (size_t d = 0; d < from->rank; d++) {
        room += from->dims[d].num_axes;
    }
    tsr_sharding held = *from;
    tsr_dim *dims = arena_copy(s->w.scratch, from->dims, from->rank, sizeof *dims);
    tsr_axis_ref *replicated = ARENA_ARRAY(s->w.scratch, tsr_axis_ref, room + 1);
    if (dims == NULL || replicated == NULL) {
        return diag_nomem(s->w.ctx);
    }
    size_t count = 0;
    for (; count < from->num_replicated; count++) {
        replicated[count] = from->replicated[count];
    }
    for (size_t d = 0; d < from->rank; d++) {
        const bool waits = dims[d].priority > 0;
        dims[d].priority = TSR_NO_PRIORITY;
        for (size_t i = 0; waits && i < from->dims[d].num_axes; i++) {
            replicated[count++] = from->dims[d].axes[i];
        }
        if (waits) {
            dims[d] = tsr_dim_closed(NULL, 0);
        }
    }
    qsort(replicated, count, sizeof *replicated, compare_axes);
    held.dims = dims;
    held.replicated = replicated;
    held.num_replicated = count;
    return engine_intern(s->w.engine, &held, out);
}

static tsr_status prepare(propagation *s, waiting_list *list, uint32_t place)
{
    const tsr_sharding *sharding = place != 0 ? s->shardings[place] : NULL;
    bool marked = false;
    for (size_t d = 0; sharding != NULL && d < sharding->rank; d++) {
        marked = marked || sharding->dims[d].priority != TSR_NO_PRIORITY;
    }
    if (!marked) {
        return TSR_OK;
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    TSR_TRY(remember(s, list, place, sharding));
    TSR_TRY(hold_back(s, sharding, &s->shardings[place]));
    tsr_arena_reset(s->w.scratch, mark);
    return TSR_OK;
}

static tsr_status prepare_func(propagation *s, waiting_list *list, const func_results *f)
{
    const uint32_t block = op_entry_block(s->w.p, f->func, 0);
    for (uint32_t i = 0; block != 0 && i < program_block(s->w.p, block)->num_arguments; i++) {
        TSR_TRY(prepare(s, list, block_argument(s->w.p, block, i)));
    }
    for (uint32_t i = 0; i < f->count; i++) {
        TSR_TRY(prepare(s, list, f->first + i));
    }
    return TSR_OK;
}

/* All shardings, in the order of the program. */
static tsr_status prepare_all(propagation *s, waiting_list *list)
{
    const tsr_program *p = s->w.p;
    size_t next_func = 0;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (next_func < s->num_funcs && s->funcs[next_func].func == op) {
            TSR_TRY(prepare_func(s, list, &s->funcs[next_func++]));
            continue;
        }
        const uint32_t block = op_entry_block(p, op, 0);
        for (uint32_t i = 0; block != 0 && i < program_block(p, block)->num_arguments; i++) {
            TSR_TRY(prepare(s, list, block_argument(p, block, i)));
        }
        for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
            TSR_TRY(prepare(s, list, op_result(p, op, i)));
        }
    }
    return TSR_OK;
}

static bool has_axis(const tsr_dim *dim, tsr_axis_ref axis)
{
    for (size_t i = 0; i < dim->num_axes; i++) {
        if (axes_same(&dim->axes[i], &axis, 1)) {
            return true;
        }
    }
    return false;
}

/* Gives a sharding the dimensions back whose turn it is. */
static tsr_status give_back(propagation *s, const waiting *w)
{
    const tsr_sharding *now = s->shardings[w->place];
    if (now == NULL) {
        return TSR_OK;
    }
    tsr_sharding given = *now;
    tsr_dim *dims = arena_copy(s->w.scratch, now->dims, now->rank, sizeof *dims);
    tsr_axis_ref *replicated = ARENA_ARRAY(s->w.scratch, tsr_axis_ref, now->num_replicated + 1);
    if (dims == NULL || replicated == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (size_t d = 0; d < now->rank; d++) {
        if (w->sharding->dims[d].priority == w->priority) {
            dims[d] = w->sharding->dims[d];
            dims[d].priority = TSR_NO_PRIORITY;
        }
    }
    size_t count = 0;
    for (size_t i = 0; i < now->num_replicated; i++) {
        bool returns = false;
        for (size_t d = 0; d < now->rank; d++) {
            returns = returns || (w->sharding->dims[d].priority == w->priority &&
                                  has_axis(&w->sharding->dims[d], now->replicated[i]));
        }
        if (!returns) {
            replicated[count++] = now->replicated[i];
        }
    }
    given.dims = dims;
    given.replicated = replicated;
    given.num_replicated = count;
    return engine_intern(s->w.engine, &given, &s->shardings[w->place]);
}

static int compare_waiting(const void *a, const void *b)
{
    const waiting *x = a;
    const waiting *y = b;
    if (x->priority != y->priority) {
        return x->priority < y->priority ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

tsr_status priorities_run(propagation *s)
{
    waiting_list list = {0};
    if (!s->options->by_user_priority) {
        return run_levels(s);
    }
    TSR_TRY(prepare_all(s, &list));
    TSR_TRY(run_levels(s));
    if (list.count > 0) {
        qsort(list.items, list.count, sizeof *list.items, compare_waiting);
    }
    for (size_t i = 0; i < list.count;) {
        const int64_t priority = list.items[i].priority;
        if (s->options->last_priority >= 0 && priority > s->options->last_priority) {
            break;
        }
        const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
        for (; i < list.count && list.items[i].priority == priority; i++) {
            TSR_TRY(give_back(s, &list.items[i]));
        }
        tsr_arena_reset(s->w.scratch, mark);
        s->priority = priority;
        TSR_TRY(run_levels(s));
    }
    return TSR_OK;
}

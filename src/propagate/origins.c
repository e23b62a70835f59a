/*
 * Origins: for each axis of a value the argument, result, constraint or manual computation from
 * which it came. What was known first stays.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "propagate/debug.h"

static const char origins_attr[] = "sdy.sharding_origins";
static const char name_attr[] = "sdy.sharding_origin_name";

/* ---- names ---- */

static tsr_status name_op(tsr_program *p, uint32_t op, const char *prefix, uint32_t number)
{
    char text[32];
    uint32_t attr = 0;
    const int size = snprintf(text, sizeof text, "%s_%u", prefix, (unsigned)number);
    TSR_TRY(attr_string(p, text, (size_t)size, 0, &attr));
    return op_set_attribute(p, op, name_attr, attr);
}

tsr_status origins_name(tsr_program *p)
{
    uint32_t constraints = 0;
    uint32_t computations = 0;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_SDY_SHARDING_CONSTRAINT)) {
            TSR_TRY(name_op(p, op, "constraint", constraints++));
        } else if (op_is(p, op, OP_SDY_MANUAL_COMPUTATION)) {
            TSR_TRY(name_op(p, op, "mc", computations++));
        }
    }
    return TSR_OK;
}

/* The name of an op and what comes after it, if anything; NULL when it has none. */
static tsr_status name_with(propagation *s, uint32_t op, const char *what, uint32_t index,
                            const char **out)
{
    slice name;
    *out = NULL;
    if (!attr_as_string(s->w.p, op_attribute(s->w.p, op, name_attr), &name)) {
        return TSR_OK;
    }
    buffer text = buffer_new(s->w.arena);
    buffer_bytes(&text, name.data, name.size);
    if (what != NULL) {
        buffer_format(&text, "_%s: %u", what, (unsigned)index);
    }
    return buffer_finish(s->w.ctx, &text, out);
}

/* `input: 2` */
static tsr_status numbered(propagation *s, const char *what, uint32_t index, const char **out)
{
    buffer text = buffer_new(s->w.arena);
    buffer_format(&text, "%s: %u", what, (unsigned)index);
    return buffer_finish(s->w.ctx, &text, out);
}

/* ---- the set ---- */

static const origin *find(const origin_set *set, uint32_t place, const named_axis *axis)
{
    for (uint32_t i = set->first[place]; i != 0; i = set->list[i - 1].next) {
        if (named_axis_same(&set->list[i - 1].axis, axis)) {
            return &set->list[i - 1];
        }
    }
    return NULL;
}

/* One of an axis that contains another or is contained in it. */
static const origin *find_around(const origin_set *set, uint32_t place, const named_axis *axis)
{
    for (uint32_t i = set->first[place]; i != 0; i = set->list[i - 1].next) {
        tsr_axis_ref ref = set->list[i - 1].axis.ref;
        ref.axis = axis->ref.axis;
        if (slice_equal(set->list[i - 1].axis.name, axis->name) &&
            (tsr_axis_contains(ref, axis->ref) || tsr_axis_contains(axis->ref, ref))) {
            return &set->list[i - 1];
        }
    }
    return NULL;
}

static tsr_status add(propagation *s, origin_set *set, uint32_t place, const named_axis *axis,
                      const char *text)
{
    if (place == 0 || find(set, place, axis) != NULL) {
        return TSR_OK;
    }
    void *items = set->list;
    if (!grow_array(s->w.arena, &items, set->count, &set->room, sizeof *set->list)) {
        return diag_nomem(s->w.ctx);
    }
    set->list = items;
    set->list[set->count++] = (origin){.axis = *axis, .text = text};
    uint32_t *link = &set->first[place];
    while (*link != 0) {
        link = &set->list[*link - 1].next;
    }
    *link = (uint32_t)set->count;
    return TSR_OK;
}

/* All axes of the dimensions of a sharding. */
static tsr_status add_all(propagation *s, origin_set *set, uint32_t place,
                          const tsr_sharding *sharding, const char *text)
{
    for (size_t d = 0; sharding != NULL && d < sharding->rank; d++) {
        for (size_t i = 0; i < sharding->dims[d].num_axes; i++) {
            const named_axis axis = named_axis_of(sharding->mesh, sharding->dims[d].axes[i]);
            TSR_TRY(add(s, set, place, &axis, text));
        }
    }
    return TSR_OK;
}

tsr_status origins_pass_on(propagation *s, origin_set *set, uint32_t from, uint32_t to,
                           const named_axis *axis)
{
    const origin *known = find(set, from, axis);
    known = known != NULL ? known : find_around(set, from, axis);
    return known != NULL ? add(s, set, to, axis, known->text) : TSR_OK;
}

/* ---- the start ---- */

static tsr_status start_constraint(propagation *s, origin_set *set, uint32_t op)
{
    const tsr_program *p = s->w.p;
    const uint32_t from = s->place[op_operand(p, op, 0)];
    const uint32_t to = s->place[op_result(p, op, 0)];
    const char *name = NULL;
    TSR_TRY(name_with(s, op, NULL, 0, &name));
    if (name == NULL) { /* it was made to separate a group */
        return TSR_OK;
    }
    TSR_TRY(add_all(s, set, to, s->before[to], name));
    return add_all(s, set, from, s->before[from], name);
}

static tsr_status start_computation(propagation *s, origin_set *set, uint32_t op)
{
    const tsr_program *p = s->w.p;
    const uint32_t block = op_entry_block(p, op, 0);
    const uint32_t num_in = program_op(p, op)->num_operands;
    const uint32_t num_out = program_op(p, op)->num_results;
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    const tsr_sharding **in = NULL;
    const tsr_sharding **out = NULL;
    const char *name = NULL;
    TSR_TRY(sharding_list_at(&s->w, op_property(p, op, "in_shardings"), num_in, &in));
    TSR_TRY(sharding_list_at(&s->w, op_property(p, op, "out_shardings"), num_out, &out));
    for (uint32_t i = 0; i < num_in && i < program_block(p, block)->num_arguments; i++) {
        TSR_TRY(name_with(s, op, "input", i, &name));
        const uint32_t argument = block_argument(p, block, i);
        const uint32_t operand = s->place[op_operand(p, op, i)];
        if (s->place[argument] != argument) {
            TSR_TRY(add_all(s, set, s->place[argument], in[i], name));
        }
        TSR_TRY(add_all(s, set, operand, s->before[operand], name));
    }
    for (uint32_t i = 0; i < num_out; i++) {
        const uint32_t result = op_result(p, op, i);
        if (s->place[result] != result) {
            TSR_TRY(name_with(s, op, "output", i, &name));
            TSR_TRY(add_all(s, set, s->place[result], out[i], name));
        }
    }
    tsr_arena_reset(s->w.scratch, mark);
    return TSR_OK;
}

/* The op that returns from a function; 0: it has no body. */
static uint32_t return_of(const tsr_program *p, uint32_t func)
{
    const uint32_t block = op_entry_block(p, func, 0);
    return block != 0 ? program_block(p, block)->last_op : 0;
}

static tsr_status start_func(propagation *s, origin_set *set, const func_results *f)
{
    const tsr_program *p = s->w.p;
    const uint32_t end = return_of(p, f->func);
    const uint32_t block = op_entry_block(p, f->func, 0);
    const char *name = NULL;
    if (end == 0) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < program_block(p, block)->num_arguments; i++) {
        const uint32_t value = block_argument(p, block, i);
        TSR_TRY(numbered(s, "input", i, &name));
        TSR_TRY(add_all(s, set, value, s->before[value], name));
    }
    for (uint32_t i = 0; i < f->count && i < program_op(p, end)->num_operands; i++) {
        TSR_TRY(numbered(s, "output", i, &name));
        TSR_TRY(add_all(s, set, s->place[op_operand(p, end, i)], s->before[f->first + i], name));
    }
    return TSR_OK;
}

tsr_status origins_start(propagation *s, origin_set *out)
{
    const tsr_program *p = s->w.p;
    *out = (origin_set){.first = ARENA_ARRAY(s->w.arena, uint32_t, s->num_places)};
    if (out->first == NULL) {
        return diag_nomem(s->w.ctx);
    }
    memset(out->first, 0, s->num_places * sizeof *out->first);
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_SDY_SHARDING_CONSTRAINT)) {
            TSR_TRY(start_constraint(s, out, op));
        }
    }
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_SDY_MANUAL_COMPUTATION)) {
            TSR_TRY(start_computation(s, out, op));
        }
    }
    for (size_t i = 0; i < s->num_funcs; i++) {
        TSR_TRY(start_func(s, out, &s->funcs[i]));
    }
    return TSR_OK;
}

/* ---- storing ---- */

static tsr_status make_entry(propagation *s, const origin *o, const char *self, attr_entry *out)
{
    const char *text = self != NULL && strcmp(o->text, self) == 0 ? "self" : o->text;
    buffer name = buffer_new(s->w.scratch);
    buffer_bytes(&name, o->axis.name.data, o->axis.name.size);
    if (o->axis.ref.is_sub) {
        buffer_format(&name, ":(%lld)%lld", (long long)o->axis.ref.pre,
                      (long long)o->axis.ref.size);
    }
    if (name.failed) {
        return diag_nomem(s->w.ctx);
    }
    TSR_TRY(program_string(s->w.p, name.data, name.size, &out->name));
    return attr_string(s->w.p, text, strlen(text), 0, &out->value);
}

/* The dictionary of a place, where the origin `self` is itself; 0: it has none. */
static tsr_status dict_of(propagation *s, const origin_set *set, uint32_t place, const char *self,
                          uint32_t *out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    size_t count = 0;
    for (uint32_t i = set->first[place]; i != 0; i = set->list[i - 1].next) {
        count++;
    }
    attr_entry *entries = ARENA_ARRAY(s->w.scratch, attr_entry, count + 1);
    if (entries == NULL) {
        return diag_nomem(s->w.ctx);
    }
    count = 0;
    for (uint32_t i = set->first[place]; i != 0; i = set->list[i - 1].next) {
        TSR_TRY(make_entry(s, &set->list[i - 1], self, &entries[count++]));
    }
    TSR_TRY(attr_dict(s->w.p, entries, count, out));
    tsr_arena_reset(s->w.scratch, mark);
    return TSR_OK;
}

/* The name of an edge: that of what it is the edge of; NULL: it has none. */
static tsr_status name_of_edge(propagation *s, uint32_t edge, const char **out)
{
    const tsr_program *p = s->w.p;
    const uint32_t owner = op_operand(p, edge, 0);
    const uint32_t op = value_op(p, owner);
    const uint32_t index = program_value(p, owner)->index;
    return op != 0 ? name_with(s, op, "output", index, out)
                   : name_with(s, block_parent(p, value_block(p, owner)), "input", index, out);
}

/* An op whose results each have a dictionary. */
static tsr_status store_list(propagation *s, const origin_set *set, uint32_t op)
{
    tsr_program *p = s->w.p;
    const uint32_t count = program_op(p, op)->num_results;
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    uint32_t *dicts = ARENA_ARRAY(s->w.scratch, uint32_t, count + 1);
    uint32_t list = 0;
    bool any = false;
    if (dicts == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        TSR_TRY(dict_of(s, set, op_result(p, op, i), NULL, &dicts[i]));
        any = any || dicts[i] != 0;
        TSR_TRY(dict_value(p, dicts[i], &dicts[i]));
    }
    if (any) {
        TSR_TRY(attr_array(p, dicts, count, &list));
        TSR_TRY(op_set_attribute(p, op, origins_attr, list));
    }
    tsr_arena_reset(s->w.scratch, mark);
    return TSR_OK;
}

static tsr_status store_op(propagation *s, const origin_set *set, uint32_t op)
{
    tsr_program *p = s->w.p;
    const bool is_edge = op_is(p, op, OP_SDY_DATA_FLOW_EDGE);
    const char *self = NULL;
    uint32_t dict = 0;
    if (!is_edge && !op_is(p, op, OP_SDY_SHARDING_CONSTRAINT)) {
        return store_list(s, set, op);
    }
    TSR_TRY(is_edge ? name_of_edge(s, op, &self) : name_with(s, op, NULL, 0, &self));
    TSR_TRY(dict_of(s, set, op_result(p, op, 0), self, &dict));
    return dict != 0 ? op_set_attribute(p, op, origins_attr, dict) : TSR_OK;
}

/* Writes the dictionaries of places to the arguments or results of a function; 0: as it was. */
static tsr_status store_dicts(propagation *s, const origin_set *set, uint32_t func,
                              const char *list, const char *what, const uint32_t *places,
                              uint32_t count)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    uint32_t *dicts = ARENA_ARRAY(s->w.scratch, uint32_t, count + 1);
    const char *self = NULL;
    bool any = false;
    if (dicts == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        dicts[i] = 0;
        if (places[i] != 0) {
            TSR_TRY(numbered(s, what, i, &self));
            TSR_TRY(dict_of(s, set, places[i], self, &dicts[i]));
        }
        any = any || dicts[i] != 0;
        if (dicts[i] == 0) {
            dicts[i] = dict_get(s->w.p, function_dict(s->w.p, func, list, i), origins_attr);
        }
    }
    const tsr_status status =
        any ? function_set_dicts(s->w.ctx, s->w.p, func, list, origins_attr, dicts, count) : TSR_OK;
    tsr_arena_reset(s->w.scratch, mark);
    return status;
}

/* Whether the first return of a value is as result `index`. */
static bool returned_first_as(const tsr_program *p, uint32_t value, uint32_t index)
{
    for (uint32_t use = value_first_use(p, value); use != 0; use = use_next(p, use)) {
        if (op_is(p, use_op(p, use), OP_FUNC_RETURN)) {
            return use_index(p, use) == index;
        }
    }
    return false;
}

static tsr_status store_func(propagation *s, const origin_set *set, const func_results *f)
{
    const tsr_program *p = s->w.p;
    const uint32_t end = return_of(p, f->func);
    const uint32_t block = op_entry_block(p, f->func, 0);
    if (end == 0) {
        return TSR_OK;
    }
    const uint32_t num_arguments = program_block(p, block)->num_arguments;
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    uint32_t *places = ARENA_ARRAY(s->w.scratch, uint32_t, num_arguments + f->count + 1);
    if (places == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (uint32_t i = 0; i < num_arguments; i++) {
        places[i] = block_argument(p, block, i);
    }
    TSR_TRY(store_dicts(s, set, f->func, "arg_attrs", "input", places, num_arguments));
    for (uint32_t i = 0; i < f->count; i++) {
        const uint32_t value = i < program_op(p, end)->num_operands ? op_operand(p, end, i) : 0;
        places[i] = value != 0 && returned_first_as(p, value, i) ? s->place[value] : 0;
    }
    TSR_TRY(store_dicts(s, set, f->func, "res_attrs", "output", places, f->count));
    tsr_arena_reset(s->w.scratch, mark);
    return TSR_OK;
}

tsr_status origins_store(propagation *s, const origin_set *set)
{
    const tsr_program *p = s->w.p;
    for (uint32_t op = op_walk_next(p, p->module, p->module); op != 0;
         op = op_walk_next(p, p->module, op)) {
        if (program_op(p, op)->num_results > 0) {
            TSR_TRY(store_op(s, set, op));
        }
    }
    for (size_t i = 0; i < s->num_funcs; i++) {
        TSR_TRY(store_func(s, set, &s->funcs[i]));
    }
    return TSR_OK;
}

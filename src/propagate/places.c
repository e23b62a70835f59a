/* Where shardings are while a pass runs, and the way from and to attributes. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "ir/message.h"
#include "ir/row.h"
#include "ir/shardings.h"
#include "propagate/state.h"
#include "shard/sharding.h"
#include "verify/contract.h"

/* ---- places ---- */

/* The place of a value that may be the target of an edge. */
static uint32_t place_of_target(const tsr_program *p, uint32_t owner)
{
    const uint32_t edge = edge_of_owner(p, owner);
    return edge != 0 ? program_op(p, edge)->results : owner;
}

static uint32_t place_of_result(const tsr_program *p, uint32_t op, uint32_t value)
{
    return op_has_trait(p, op, IR_HAS_EDGES) ? place_of_target(p, value) : value;
}

static uint32_t place_of_argument(propagation *s, uint32_t op, uint32_t value)
{
    const tsr_program *p = s->w.p;
    const uint32_t index = program_value(p, value)->index;
    const ir_row *row = program_row(p, op);
    if (op_has_trait(p, op, IR_CARRIES)) {
        return index < program_op(p, op)->num_results
                   ? place_of_target(p, program_op(p, op)->results + index)
                   : 0;
    }
    if (row != NULL && row->argument_shardings != NULL) {
        return place_of_target(p, value);
    }
    if (op_is(p, op, OP_STABLEHLO_ASYNC_START) && index < program_op(p, op)->num_operands) {
        return s->place[op_operand(p, op, index)];
    }
    return op_is(p, op, OP_FUNC_FUNC) ? value : 0;
}

static void find_places(propagation *s, uint32_t op)
{
    const tsr_program *p = s->w.p;
    const ir_op *o = program_op(p, op);
    for (uint32_t i = 0; i < o->num_results; i++) {
        s->place[o->results + i] = place_of_result(p, op, o->results + i);
    }
    for (uint32_t r = 0; r < o->num_regions; r++) {
        for (uint32_t b = program_region(p, op_region_at(p, op, r))->first_block; b != 0;
             b = program_block(p, b)->next) {
            for (uint32_t i = 0; i < program_block(p, b)->num_arguments; i++) {
                const uint32_t value = block_argument(p, b, i);
                s->place[value] = place_of_argument(s, op, value);
            }
        }
    }
}

/* ---- loading ---- */

static tsr_status load_value(propagation *s, uint32_t value)
{
    const tsr_sharding *sharding = NULL;
    if (s->place[value] != value) {
        return TSR_OK;
    }
    TSR_TRY(value_sharding(s->w.ctx, s->w.p, value, &sharding));
    if (sharding != NULL) {
        TSR_TRY(engine_intern(s->w.engine, sharding, &s->shardings[value]));
    }
    return TSR_OK;
}

static tsr_status load_results_of(propagation *s, const func_results *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const uint32_t dict = function_dict(s->w.p, f->func, "res_attrs", i);
        TSR_TRY(sharding_at(&s->w, dict_get(s->w.p, dict, "sdy.sharding"),
                            &s->shardings[f->first + i]));
    }
    return TSR_OK;
}

/* Counts functions and their results, and finds the main one. */
static tsr_status find_functions(propagation *s)
{
    const tsr_program *p = s->w.p;
    size_t count = 0;
    for (uint32_t func = function_first(p); func != 0; func = function_next(p, func)) {
        count++;
    }
    s->main = function_main(p);
    if (count > 1 && s->main == 0) {
        return error_at_op(s->w.ctx, p, p->module,
                           "the program has several functions, none of them named main");
    }
    s->funcs = ARENA_ARRAY(s->w.arena, func_results, count + 1);
    if (s->funcs == NULL) {
        return diag_nomem(s->w.ctx);
    }
    s->num_places = s->num_values;
    for (uint32_t func = function_first(p); func != 0; func = function_next(p, func)) {
        const func_results f = {func, s->num_places, (uint32_t)function_num_results(p, func)};
        s->funcs[s->num_funcs++] = f;
        s->num_places += f.count;
    }
    return TSR_OK;
}

tsr_status places_load(propagation *s)
{
    tsr_program *p = s->w.p;
    s->num_values = p->values.count;
    TSR_TRY(find_functions(s));
    s->place = ARENA_ARRAY(s->w.arena, uint32_t, s->num_places);
    s->shardings = ARENA_ARRAY(s->w.arena, const tsr_sharding *, s->num_places);
    s->before = ARENA_ARRAY(s->w.arena, const tsr_sharding *, s->num_places);
    if (s->place == NULL || s->shardings == NULL || s->before == NULL) {
        return diag_nomem(s->w.ctx);
    }
    memset(s->place, 0, s->num_places * sizeof *s->place);
    memset(s->shardings, 0, s->num_places * sizeof *s->shardings);
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        find_places(s, op);
    }
    for (uint32_t v = 1; v < s->num_values; v++) {
        TSR_TRY(load_value(s, v));
    }
    for (size_t i = 0; i < s->num_funcs; i++) {
        TSR_TRY(load_results_of(s, &s->funcs[i]));
    }
    memcpy(s->before, s->shardings, s->num_places * sizeof *s->before);
    return contract_require(s->w.ctx, p, &contract_named_meshes, "propagation");
}

/* ---- writing ---- */

/* Whether a value is a result whose op lists shardings by result, of which none exists yet. */
static bool starts_list(const propagation *s, uint32_t place)
{
    const tsr_program *p = s->w.p;
    const uint32_t op = place < s->num_values ? value_op(p, place) : 0;
    if (op == 0 || program_op(p, op)->num_results < 2) {
        return false;
    }
    for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
        if (s->shardings[op_result(p, op, i)] != NULL) {
            return false;
        }
    }
    return true;
}

tsr_status places_write(propagation *s, uint32_t place, const tsr_sharding *sharding)
{
    const tsr_program *p = s->w.p;
    if (place == 0) {
        return TSR_OK;
    }
    if (starts_list(s, place)) {
        const uint32_t op = value_op(p, place);
        for (uint32_t i = 0; i < program_op(p, op)->num_results; i++) {
            const uint32_t other = op_result(p, op, i);
            TSR_TRY(
                open_sharding(&s->w, sharding->mesh, value_type(p, other), &s->shardings[other]));
        }
    }
    s->shardings[place] = sharding;
    return TSR_OK;
}

/* ---- storing ---- */

/* The attributes of shardings at some places. */
static tsr_status store_entries(propagation *s, uint32_t func, const char *list,
                                const uint32_t *places, size_t count)
{
    uint32_t *attrs = ARENA_ARRAY(s->w.scratch, uint32_t, count + 1);
    if (attrs == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (size_t i = 0; i < count; i++) {
        attrs[i] = 0;
        if (s->shardings[places[i]] != NULL) {
            TSR_TRY(sharding_attr(&s->w, s->shardings[places[i]], &attrs[i]));
        }
    }
    return function_set_dicts(s->w.ctx, s->w.p, func, list, "sdy.sharding", attrs, count);
}

static tsr_status store_results(propagation *s, uint32_t op)
{
    tsr_program *p = s->w.p;
    const ir_row *row = program_row(p, op);
    const char *property = row != NULL ? row->result_sharding : NULL;
    const uint32_t count = program_op(p, op)->num_results;
    const uint32_t first = program_op(p, op)->results;
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    uint32_t *types = ARENA_ARRAY(s->w.scratch, uint32_t, count + 1);
    uint32_t attr = 0;
    if (types == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        types[i] = value_type(p, first + i);
    }
    if (property != NULL &&
        row_prop(row, (slice){property, strlen(property)})->row == SDY_SHARDING) {
        TSR_TRY(sharding_attr(&s->w, s->shardings[first], &attr));
    } else {
        TSR_TRY(sharding_list_attr(&s->w, s->shardings + first, types, count, &attr));
    }
    tsr_arena_reset(s->w.scratch, mark);
    return property != NULL ? op_set_property(p, op, property, attr)
                            : op_set_attribute(p, op, "sdy.sharding", attr);
}

/* Arguments of a manual or named computation that has no edges. */
static tsr_status store_arguments(propagation *s, uint32_t op, uint32_t block)
{
    tsr_program *p = s->w.p;
    const uint32_t count = program_block(p, block)->num_arguments;
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    const tsr_sharding **outside = ARENA_ARRAY(s->w.scratch, const tsr_sharding *, count + 1);
    uint32_t *types = ARENA_ARRAY(s->w.scratch, uint32_t, count + 1);
    uint32_t list = 0;
    if (outside == NULL || types == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = block_argument(p, block, i);
        types[i] = value_type(p, value);
        TSR_TRY(edge_argument_outside(&s->w, value, s->shardings[value], &outside[i]));
    }
    TSR_TRY(sharding_list_attr(&s->w, outside, types, count, &list));
    tsr_arena_reset(s->w.scratch, mark);
    return op_set_property(p, op, program_row(p, op)->argument_shardings, list);
}

static bool has_changed(const propagation *s, uint32_t place)
{
    return s->shardings[place] != s->before[place];
}

/* Whether one of some consecutive places has changed. */
static bool some_changed(const propagation *s, uint32_t first, size_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (has_changed(s, first + i)) {
            return true;
        }
    }
    return false;
}

static tsr_status store_func(propagation *s, const func_results *f)
{
    const tsr_program *p = s->w.p;
    const uint32_t block = op_entry_block(p, f->func, 0);
    const uint32_t count = block != 0 ? program_block(p, block)->num_arguments : 0;
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    uint32_t *places = ARENA_ARRAY(s->w.scratch, uint32_t, count + f->count + 1);
    bool changed = false;
    if (places == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        places[i] = block_argument(p, block, i);
        changed = changed || has_changed(s, places[i]);
    }
    if (changed) {
        TSR_TRY(store_entries(s, f->func, "arg_attrs", places, count));
    }
    for (uint32_t i = 0; i < f->count; i++) {
        places[i] = f->first + i;
    }
    if (some_changed(s, f->first, f->count)) {
        TSR_TRY(store_entries(s, f->func, "res_attrs", places, f->count));
    }
    tsr_arena_reset(s->w.scratch, mark);
    return TSR_OK;
}

static tsr_status store_op(propagation *s, uint32_t op)
{
    const tsr_program *p = s->w.p;
    const ir_row *row = program_row(p, op);
    if (some_changed(s, program_op(p, op)->results, program_op(p, op)->num_results)) {
        TSR_TRY(store_results(s, op));
    }
    const uint32_t block = op_entry_block(p, op, 0);
    if (block == 0 || row == NULL || row->argument_shardings == NULL) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < program_block(p, block)->num_arguments; i++) {
        if (has_changed(s, block_argument(p, block, i))) {
            return store_arguments(s, op, block);
        }
    }
    return TSR_OK;
}

tsr_status places_store(propagation *s)
{
    const tsr_program *p = s->w.p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        TSR_TRY(store_op(s, op));
    }
    for (size_t i = 0; i < s->num_funcs; i++) {
        TSR_TRY(store_func(s, &s->funcs[i]));
    }
    memcpy(s->before, s->shardings, s->num_places * sizeof *s->before);
    return TSR_OK;
}

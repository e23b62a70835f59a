/* Steps of propagation: records by op, and the attributes that tell of them. */
#include <string.h>

#include "base/arena.h"
#include "propagate/debug.h"

static const char edges_name[] = "sdy.propagation_edges";

bool grow_array(tsr_arena *arena, void **items, size_t count, size_t *room, size_t size)
{
    enum { FIRST_ROOM = 64 };
    if (count < *room) {
        return true;
    }
    const size_t more = *room == 0 ? FIRST_ROOM : *room * 2;
    void *grown = arena_array(arena, more, size);
    if (grown == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(grown, *items, count * size);
    }
    *items = grown;
    *room = more;
    return true;
}

bool named_axis_same(const named_axis *a, const named_axis *b)
{
    return slice_equal(a->name, b->name) && a->ref.is_sub == b->ref.is_sub &&
           (!a->ref.is_sub || (a->ref.pre == b->ref.pre && a->ref.size == b->ref.size));
}

static bool same_value(edge_value a, edge_value b)
{
    return a.is_result == b.is_result && a.index == b.index;
}

/* ---- adding ---- */

static tsr_status add(step_log *log, uint32_t op, const step_record *record, int64_t step)
{
    for (uint32_t i = log->first[op]; i != 0; i = log->records[i - 1].next) {
        const step_record *known = &log->records[i - 1];
        if (named_axis_same(&known->axis, &record->axis) &&
            same_value(known->source, record->source) &&
            same_value(known->target, record->target)) {
            return TSR_OK;
        }
    }
    void *items = log->records;
    if (!grow_array(log->w->arena, &items, log->count, &log->room, sizeof *log->records)) {
        return diag_nomem(log->w->ctx);
    }
    log->records = items;
    step_record *made = &log->records[log->count++];
    *made = *record;
    made->step = step;
    made->next = log->first[op];
    log->first[op] = (uint32_t)log->count;
    return TSR_OK;
}

tsr_status steps_add(step_log *log, uint32_t op, const step_record *record)
{
    return add(log, op, record, log->step);
}

/* ---- what the program has ---- */

static tsr_status read_edges(lexer *lex, void *out)
{
    return edges_text_read(lex, out);
}

static tsr_status add_step(step_log *log, uint32_t op, const edge_step *step)
{
    for (size_t i = 0; i < step->num_entries; i++) {
        const edge_entry *entry = &step->entries[i];
        step_record record = {.axis = entry->axis, .source = entry->source};
        record.axis.name.data =
            arena_string(log->w->arena, entry->axis.name.data, entry->axis.name.size);
        if (record.axis.name.data == NULL) {
            return diag_nomem(log->w->ctx);
        }
        for (size_t t = 0; t < entry->num_targets; t++) {
            record.target = entry->targets[t];
            TSR_TRY(add(log, op, &record, step->index));
        }
    }
    return TSR_OK;
}

/* Adds what an attribute tells; *last becomes its last step, if that is later. */
static tsr_status add_attr(step_log *log, uint32_t op, uint32_t attr, int64_t *last)
{
    tsr_program *p = log->w->p;
    edges_text edges = {0};
    if (!attr_is(p, attr, ATTR_SDY) || program_attr(p, attr)->row != SDY_EDGES) {
        return TSR_OK;
    }
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    TSR_TRY(read_attr_text(log->w->ctx, p, attr, read_edges, &edges));
    for (size_t i = 0; i < edges.num_steps; i++) {
        TSR_TRY(add_step(log, op, &edges.steps[i]));
        *last = edges.steps[i].index > *last ? edges.steps[i].index : *last;
    }
    tsr_arena_reset(p->scratch, mark);
    return TSR_OK;
}

tsr_status steps_start(workspace *w, step_log *out)
{
    const tsr_program *p = w->p;
    int64_t last = -1;
    *out = (step_log){
        .w = w, .first = ARENA_ARRAY(w->arena, uint32_t, p->ops.count), .num_ops = p->ops.count};
    if (out->first == NULL) {
        return diag_nomem(w->ctx);
    }
    memset(out->first, 0, p->ops.count * sizeof *out->first);
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        int64_t of_results = 0; /* does not count */
        TSR_TRY(add_attr(out, op, op_attribute(p, op, edges_name), &last));
        if (op_is(p, op, OP_FUNC_FUNC)) {
            const uint32_t dict = function_dict(p, op, "res_attrs", 0);
            TSR_TRY(add_attr(out, op, dict_get(p, dict, edges_name), &of_results));
        }
    }
    out->step = last + 1;
    return TSR_OK;
}

/* ---- storing ---- */

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By name; of one axis parts by where they begin and their size, the whole after parts at its
 * start. */
static int compare_axes(const named_axis *a, const named_axis *b)
{
    const int64_t pre_a = a->ref.is_sub ? a->ref.pre : 1;
    const int64_t pre_b = b->ref.is_sub ? b->ref.pre : 1;
    int order = compare_names(a->name, b->name);
    order = order != 0 ? order : compare_numbers(pre_a, pre_b);
    order = order != 0 ? order : compare_numbers(!a->ref.is_sub, !b->ref.is_sub);
    return order != 0 || !a->ref.is_sub ? order : compare_numbers(a->ref.size, b->ref.size);
}

static int compare_values(edge_value a, edge_value b)
{
    const int order = compare_numbers(a.is_result, b.is_result);
    return order != 0 ? order : compare_numbers(a.index, b.index);
}

static int compare_records(const step_record *a, const step_record *b)
{
    int order = compare_numbers(a->step, b->step);
    order = order != 0 ? order : compare_axes(&a->axis, &b->axis);
    order = order != 0 ? order : compare_values(a->source, b->source);
    return order != 0 ? order : compare_values(a->target, b->target);
}

/* The records of an op in order, in the scratch. */
static tsr_status sorted_records(const step_log *log, uint32_t op, const step_record ***out,
                                 size_t *count)
{
    *count = 0;
    for (uint32_t i = log->first[op]; i != 0; i = log->records[i - 1].next) {
        ++*count;
    }
    const step_record **list = ARENA_ARRAY(log->w->scratch, const step_record *, *count + 1);
    if (list == NULL) {
        return diag_nomem(log->w->ctx);
    }
    size_t n = 0;
    for (uint32_t i = log->first[op]; i != 0; i = log->records[i - 1].next) {
        const step_record *record = &log->records[i - 1];
        size_t at = n++;
        for (; at > 0 && compare_records(record, list[at - 1]) < 0; at--) {
            list[at] = list[at - 1];
        }
        list[at] = record;
    }
    *out = list;
    return TSR_OK;
}

/* Sorted records by step, axis and source. */
static tsr_status group_records(const step_log *log, const step_record *const *list, size_t count,
                                edges_text *out)
{
    edge_step *steps = ARENA_ARRAY(log->w->scratch, edge_step, count + 1);
    edge_entry *entries = ARENA_ARRAY(log->w->scratch, edge_entry, count + 1);
    edge_value *targets = ARENA_ARRAY(log->w->scratch, edge_value, count + 1);
    size_t num_entries = 0;
    size_t num_steps = 0;
    if (steps == NULL || entries == NULL || targets == NULL) {
        return diag_nomem(log->w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const step_record *r = list[i];
        const bool new_step = i == 0 || list[i - 1]->step != r->step;
        if (new_step) {
            steps[num_steps++] = (edge_step){.index = r->step, .entries = entries + num_entries};
        }
        if (new_step || !named_axis_same(&list[i - 1]->axis, &r->axis) ||
            !same_value(list[i - 1]->source, r->source)) {
            entries[num_entries++] =
                (edge_entry){.axis = r->axis, .source = r->source, .targets = targets + i};
            steps[num_steps - 1].num_entries++;
        }
        targets[i] = r->target;
        entries[num_entries - 1].num_targets++;
    }
    *out = (edges_text){steps, num_steps};
    return TSR_OK;
}

/* An edge has one operand, but its records tell of all sources: others than the first are refused.
 */
static tsr_status check_edge(const step_log *log, uint32_t op, const step_record *const *list,
                             size_t count)
{
    if (!op_is(log->w->p, op, OP_SDY_DATA_FLOW_EDGE)) {
        return TSR_OK;
    }
    for (size_t i = 0; i < count; i++) {
        const edge_value *ends[] = {&list[i]->source, &list[i]->target};
        for (size_t k = 0; k < 2; k++) {
            if (!ends[k]->is_result && ends[k]->index > 0) {
                return op_error(log->w->ctx, log->w->p, op,
                                "expected a value ref to have an operand index in range [0, 1), "
                                "got: %lld",
                                (long long)ends[k]->index);
            }
        }
    }
    return TSR_OK;
}

static tsr_status attr_of_op(const step_log *log, uint32_t op, uint32_t *out)
{
    workspace *w = log->w;
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    const step_record **list = NULL;
    const char *string = NULL;
    edges_text edges;
    size_t count = 0;
    TSR_TRY(sorted_records(log, op, &list, &count));
    TSR_TRY(check_edge(log, op, list, count));
    TSR_TRY(group_records(log, list, count, &edges));
    buffer text = buffer_new(w->scratch);
    edges_text_print(&text, &edges);
    const size_t size = text.size;
    TSR_TRY(buffer_finish(w->ctx, &text, &string));
    TSR_TRY(attr_of_text(w->p, ATTR_SDY, SDY_EDGES, 0, string, size, out));
    tsr_arena_reset(w->scratch, mark);
    return TSR_OK;
}

/* Writes to the first result of a function. */
static tsr_status store_on_func(step_log *log, uint32_t func, uint32_t attr)
{
    workspace *w = log->w;
    const size_t count = function_num_results(w->p, func);
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    uint32_t *attrs = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    if (attrs == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        attrs[i] =
            i == 0 ? attr : dict_get(w->p, function_dict(w->p, func, "res_attrs", i), edges_name);
    }
    const tsr_status status =
        function_set_dicts(w->ctx, w->p, func, "res_attrs", edges_name, attrs, count);
    tsr_arena_reset(w->scratch, mark);
    return status;
}

tsr_status steps_store(step_log *log)
{
    tsr_program *p = log->w->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        uint32_t attr = 0;
        if (op >= log->num_ops || log->first[op] == 0) {
            continue;
        }
        TSR_TRY(attr_of_op(log, op, &attr));
        TSR_TRY(op_is(p, op, OP_FUNC_FUNC) ? store_on_func(log, op, attr)
                                           : op_set_attribute(p, op, edges_name, attr));
    }
    return TSR_OK;
}

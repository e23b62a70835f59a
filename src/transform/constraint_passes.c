/*
 * Sharding constraints as what they constrain sees them: written to it where nothing contradicts,
 * or put in front of all other uses.
 */
#include <string.h>

#include "base/arena.h"
#include "factor/rule.h"
#include "propagate/debug.h"
#include "propagate/workspace.h"
#include "transform/passes.h"

/* How the constraints and manual computations that use a value agree. */
typedef enum agreement {
    NOT_LOOKED,
    NO_DEMAND,
    ONE_DEMAND,
    SAME_DEMANDS, /* several, all for one sharding */
    DIFFERENT_DEMANDS
} agreement;

typedef struct applying {
    workspace *w;
    int64_t *places;     /* by op: grows along a block */
    int64_t front;       /* of what was put to the front of a block last */
    uint8_t *agreements; /* by value */
    uint32_t *written;   /* by value: the sharding of a function's argument, written at the end */
    map rules;           /* of constraints, by type */
    step_log *steps;     /* NULL: nothing is recorded */
} applying;

static bool is_constraint(const tsr_program *p, uint32_t op)
{
    return op != 0 && op_is(p, op, OP_SDY_SHARDING_CONSTRAINT);
}

/* The sharding that a use asks for; 0: it asks for none. */
static uint32_t demand_of(const tsr_program *p, uint32_t use)
{
    const uint32_t op = use_op(p, use);
    if (is_constraint(p, op)) {
        return op_property(p, op, "sharding");
    }
    if (!op_is(p, op, OP_SDY_MANUAL_COMPUTATION)) {
        return 0;
    }
    const uint32_t list = op_property(p, op, "in_shardings");
    const uint32_t index = use_index(p, use);
    return attr_is(p, list, ATTR_SDY) && index < program_attr(p, list)->count
               ? attr_list(program_attr(p, list))[index]
               : 0;
}

static agreement find_agreement(const tsr_program *p, uint32_t value)
{
    agreement found = NO_DEMAND;
    uint32_t first = 0;
    for (uint32_t use = value_first_use(p, value); use != 0; use = use_next(p, use)) {
        const uint32_t demand = demand_of(p, use);
        if (demand == 0) {
            continue;
        }
        if (first != 0 && demand != first) {
            return DIFFERENT_DEMANDS;
        }
        found = first == 0 ? ONE_DEMAND : SAME_DEMANDS;
        first = demand;
    }
    return found;
}

static agreement agreement_on(applying *a, uint32_t value)
{
    if (a->agreements[value] == NOT_LOOKED) {
        a->agreements[value] = (uint8_t)find_agreement(a->w->p, value);
    }
    return (agreement)a->agreements[value];
}

/* ---- values ---- */

/* The edge op that keeps the sharding of a value; 0: none. */
static uint32_t edge_of_value(const tsr_program *p, uint32_t value)
{
    const uint32_t op = value_op(p, value);
    if (op != 0) {
        return op_is(p, op, OP_SDY_DATA_FLOW_EDGE) ? op : edge_of_owner(p, value);
    }
    const uint32_t parent = block_parent(p, value_block(p, value));
    const uint32_t index = program_value(p, value)->index;
    if (op_has_trait(p, parent, IR_CARRIES)) {
        return index < program_op(p, parent)->num_results
                   ? edge_of_owner(p, op_result(p, parent, index))
                   : 0;
    }
    return op_has_trait(p, parent, IR_HAS_EDGES) ? edge_of_owner(p, value) : 0;
}

/* Whether a sharding can be written to a value, or to its edge. */
static bool can_have_sharding(const tsr_program *p, uint32_t value)
{
    return value_op(p, value) != 0 ||
           op_has_trait(p, block_parent(p, value_block(p, value)), IR_SIGNATURE | IR_HAS_EDGES);
}

static tsr_status has_sharding(applying *a, uint32_t value, bool *out)
{
    uint32_t attr = a->written[value];
    if (attr == 0) {
        TSR_TRY(value_sharding_attr(a->w->ctx, a->w->p, value, &attr));
    }
    *out = attr != 0;
    return TSR_OK;
}

static void move_after_value(applying *a, uint32_t op, uint32_t value)
{
    tsr_program *p = a->w->p;
    const uint32_t definition = value_op(p, value);
    op_insert_after_value(p, op, value);
    a->places[op] = definition != 0 ? a->places[definition] + 1 : --a->front;
}

/* Lets all other uses of a value be those of its constraint, which goes right after it. */
static void put_in_front(applying *a, uint32_t value, uint32_t constraint)
{
    tsr_program *p = a->w->p;
    const uint32_t result = op_result(p, constraint, 0);
    value_replace_uses(p, value, result, constraint);
    a->agreements[value] = NOT_LOOKED;
    a->agreements[result] = NOT_LOOKED;
}

/* ---- what applying writes ---- */

/* Gives an edge the unreduced axes of a sharding. */
static tsr_status write_unreduced(workspace *w, uint32_t edge, const tsr_sharding *sharding)
{
    const tsr_sharding *open = NULL;
    const tsr_sharding *one = NULL;
    uint32_t attr = 0;
    if (sharding->num_unreduced == 0) {
        return TSR_OK;
    }
    TSR_TRY(open_sharding(w, sharding->mesh, value_type(w->p, op_result(w->p, edge, 0)), &open));
    tsr_sharding unreduced = *open;
    unreduced.unreduced = sharding->unreduced;
    unreduced.num_unreduced = sharding->num_unreduced;
    unreduced.reduction = sharding->reduction;
    TSR_TRY(engine_intern(w->engine, &unreduced, &one));
    TSR_TRY(sharding_attr(w, one, &attr));
    return op_set_property(w->p, edge, "sharding", attr);
}

/* The attribute of the rule of a constraint. */
static tsr_status constraint_rule(applying *a, uint32_t type, uint32_t *out)
{
    workspace *w = a->w;
    uint64_t *known = workspace_entry(w, &a->rules, &type, sizeof type);
    if (known == NULL) {
        return diag_nomem(w->ctx);
    }
    if (*known == 0) {
        const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
        const type_head *head = program_type(w->p, type);
        const tsr_extents shape = {head->count, type_extents(head)};
        const tsr_rule *rule = NULL;
        const char *text = NULL;
        uint32_t attr = 0;
        TSR_TRY(tsr_rule_elementwise(w->ctx, w->scratch, 1, shape, &rule));
        TSR_TRY(tsr_rule_print(w->ctx, w->scratch, rule, TSR_RULE_FULL, &text));
        const char *body = strchr(text, '<');
        TSR_TRY(attr_of_text(w->p, ATTR_SDY, SDY_RULE, 0, body, strlen(body), &attr));
        tsr_arena_reset(w->scratch, mark);
        *known = attr;
    }
    *out = (uint32_t)*known;
    return TSR_OK;
}

static tsr_status add_rule(applying *a, uint32_t constraint)
{
    tsr_program *p = a->w->p;
    const uint32_t type = value_type(p, op_result(p, constraint, 0));
    uint32_t attr = 0;
    if (op_attribute(p, constraint, "sdy.sharding_rule") != 0 || !type_is_static(p, type)) {
        return TSR_OK;
    }
    TSR_TRY(constraint_rule(a, type, &attr));
    return op_set_attribute(p, constraint, "sdy.sharding_rule", attr);
}

/* Writes the sharding of an argument of a computation. */
static tsr_status write_body_argument(workspace *w, uint32_t op, uint32_t value, uint32_t attr)
{
    tsr_program *p = w->p;
    const char *property = program_row(p, op)->argument_shardings;
    const uint32_t block = value_block(p, value);
    const uint32_t count = program_block(p, block)->num_arguments;
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    const tsr_sharding **shardings = NULL;
    uint32_t *types = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    uint32_t list = 0;
    if (types == NULL) {
        return diag_nomem(w->ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        types[i] = value_type(p, block_argument(p, block, i));
    }
    TSR_TRY(sharding_list_at(w, op_property(p, op, property), count, &shardings));
    TSR_TRY(sharding_at(w, attr, &shardings[program_value(p, value)->index]));
    TSR_TRY(sharding_list_attr(w, shardings, types, count, &list));
    tsr_arena_reset(w->scratch, mark);
    return op_set_property(p, op, property, list);
}

static tsr_status write_sharding(applying *a, uint32_t value, uint32_t attr)
{
    const tsr_program *p = a->w->p;
    if (value_op(p, value) != 0) {
        return value_set_sharding(a->w, value, attr);
    }
    const uint32_t op = block_parent(p, value_block(p, value));
    if (op_has_trait(p, op, IR_CARRIES)) {
        return value_set_sharding(a->w, op_result(p, op, program_value(p, value)->index), attr);
    }
    if (program_row(p, op)->argument_shardings != NULL) {
        return write_body_argument(a->w, op, value, attr);
    }
    a->written[value] = attr;
    return TSR_OK;
}

/* Records that the axes of a constraint went to what it constrains. */
static tsr_status record_step(applying *a, uint32_t constraint, const tsr_sharding *sharding)
{
    for (size_t d = 0; d < sharding->rank; d++) {
        for (size_t i = 0; i < sharding->dims[d].num_axes; i++) {
            const step_record record = {
                .axis = named_axis_of(sharding->mesh, sharding->dims[d].axes[i]),
                .source = {.is_result = true}};
            TSR_TRY(steps_add(a->steps, constraint, &record));
        }
    }
    a->steps->step++;
    return TSR_OK;
}

/* ---- applying ---- */

static tsr_status should_apply(applying *a, uint32_t value, uint32_t attr, bool *out)
{
    const tsr_sharding *sharding = NULL;
    bool had = false;
    *out = false;
    if (!can_have_sharding(a->w->p, value) || agreement_on(a, value) == DIFFERENT_DEMANDS) {
        return TSR_OK;
    }
    TSR_TRY(has_sharding(a, value, &had));
    TSR_TRY(sharding_at(a->w, attr, &sharding));
    if (had || sharding == NULL) {
        return TSR_OK;
    }
    for (size_t d = 0; d < sharding->rank; d++) {
        if (sharding->dims[d].open) {
            return TSR_OK;
        }
    }
    *out = true;
    return TSR_OK;
}

static tsr_status make_constraint(applying *a, uint32_t value, uint32_t attr, uint32_t like,
                                  uint32_t *out)
{
    tsr_program *p = a->w->p;
    const uint32_t type = value_type(p, value);
    uint32_t dict = 0;
    TSR_TRY(dict_set(p, 0, "sharding", attr, &dict));
    const op_spec spec = {.kind = OP_SDY_SHARDING_CONSTRAINT,
                          .operands = &value,
                          .num_operands = 1,
                          .types = &type,
                          .num_results = 1,
                          .properties = dict,
                          .like = like};
    return op_create(p, &spec, out);
}

/* Applies what an op asks of an operand; `constraint` is the op, or 0: one is made if needed. */
static tsr_status apply(applying *a, uint32_t op, uint32_t value, uint32_t attr,
                        uint32_t constraint)
{
    tsr_program *p = a->w->p;
    const tsr_sharding *sharding = NULL;
    bool applies = false;
    TSR_TRY(should_apply(a, value, attr, &applies));
    if (!applies) {
        return TSR_OK;
    }
    TSR_TRY(sharding_at(a->w, attr, &sharding));
    const uint32_t edge = edge_of_value(p, value);
    if (edge == 0) {
        TSR_TRY(write_sharding(a, value, attr));
        if (constraint != 0 && a->steps != NULL) {
            TSR_TRY(record_step(a, constraint, sharding));
        }
        return constraint != 0 ? add_rule(a, constraint) : TSR_OK;
    }
    if (constraint != 0) {
        op_remove(p, constraint);
    } else {
        TSR_TRY(make_constraint(a, value, attr, op, &constraint));
    }
    move_after_value(a, constraint, value);
    put_in_front(a, value, constraint);
    return write_unreduced(a->w, edge, sharding);
}

/* The last of a chain of constraints, each the only use of the one before. */
static uint32_t last_of_chain(const tsr_program *p, uint32_t constraint)
{
    uint32_t last = constraint;
    while (value_has_one_use(p, op_result(p, last, 0))) {
        const uint32_t user = use_op(p, value_first_use(p, op_result(p, last, 0)));
        if (!is_constraint(p, user)) {
            break;
        }
        last = user;
    }
    return last;
}

/* Lets uses of a value after a chain of constraints on it be those of the chain's end. */
static tsr_status follow_chain(applying *a, uint32_t constraint, uint32_t value)
{
    tsr_program *p = a->w->p;
    bool had = false;
    uint32_t next = 0;
    if (is_constraint(p, value_op(p, value)) || agreement_on(a, value) != ONE_DEMAND) {
        return TSR_OK;
    }
    TSR_TRY(has_sharding(a, value, &had));
    const uint32_t last = last_of_chain(p, constraint);
    if (had || last == constraint || agreement_on(a, op_result(p, last, 0)) != NO_DEMAND) {
        return TSR_OK;
    }
    for (uint32_t use = value_first_use(p, value); use != 0; use = next) {
        const uint32_t user = use_op(p, use);
        next = use_next(p, use);
        if (user != constraint && !op_is(p, user, OP_FUNC_RETURN) &&
            program_op(p, user)->block == program_op(p, last)->block &&
            a->places[user] > a->places[last]) {
            use_set(p, use, op_result(p, last, 0));
        }
    }
    return TSR_OK;
}

static tsr_status apply_op(applying *a, uint32_t op)
{
    const tsr_program *p = a->w->p;
    if (is_constraint(p, op)) {
        const uint32_t value = op_operand(p, op, 0);
        TSR_TRY(follow_chain(a, op, value));
        return apply(a, op, value, op_property(p, op, "sharding"), op);
    }
    if (!op_is(p, op, OP_SDY_MANUAL_COMPUTATION)) {
        return TSR_OK;
    }
    for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
        const uint32_t demand = demand_of(p, program_op(p, op)->operands + i);
        if (demand != 0) {
            TSR_TRY(apply(a, op, op_operand(p, op, i), demand, 0));
        }
    }
    return TSR_OK;
}

/* ---- the whole program ---- */

/* Numbers the ops of all blocks; how many constraints may be made. */
static uint32_t find_places(applying *a)
{
    const tsr_program *p = a->w->p;
    uint32_t extra = 0;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        const uint32_t before = program_op(p, op)->prev;
        if (a->places != NULL) {
            a->places[op] = before != 0 ? a->places[before] + 2 : 2;
        }
        if (op_is(p, op, OP_SDY_MANUAL_COMPUTATION)) {
            extra += program_op(p, op)->num_operands;
        }
    }
    return extra;
}

/* Writes the shardings of a function's arguments. */
static tsr_status write_arguments(applying *a, uint32_t func)
{
    workspace *w = a->w;
    const tsr_program *p = w->p;
    const uint32_t block = op_entry_block(p, func, 0);
    const uint32_t count = block != 0 ? program_block(p, block)->num_arguments : 0;
    const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
    uint32_t *attrs = ARENA_ARRAY(w->scratch, uint32_t, count + 1);
    bool any = false;
    if (attrs == NULL) {
        return diag_nomem(w->ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t written = a->written[block_argument(p, block, i)];
        any = any || written != 0;
        attrs[i] = written != 0
                       ? written
                       : dict_get(p, function_dict(p, func, "arg_attrs", i), "sdy.sharding");
    }
    const tsr_status status =
        any ? function_set_dicts(w->ctx, w->p, func, "arg_attrs", "sdy.sharding", attrs, count)
            : TSR_OK;
    tsr_arena_reset(w->scratch, mark);
    return status;
}

/* `steps` NULL: nothing is recorded. */
static tsr_status apply_constraints(workspace *w, step_log *steps)
{
    tsr_program *p = w->p;
    applying a = {.w = w, .rules = map_new(w->arena), .steps = steps};
    const uint32_t extra = find_places(&a);
    const size_t num_values = (size_t)p->values.count + extra;
    uint32_t next = 0;
    a.places = ARENA_ARRAY(w->arena, int64_t, (size_t)p->ops.count + extra);
    a.agreements = ARENA_ARRAY(w->arena, uint8_t, num_values);
    a.written = ARENA_ARRAY(w->arena, uint32_t, num_values);
    if (a.places == NULL || a.agreements == NULL || a.written == NULL) {
        return diag_nomem(w->ctx);
    }
    memset(a.agreements, NOT_LOOKED, num_values);
    memset(a.written, 0, num_values * sizeof *a.written);
    (void)find_places(&a);
    for (uint32_t op = op_post_first(p, p->module); op != 0; op = next) {
        next = op_post_next(p, p->module, op);
        TSR_TRY(apply_op(&a, op));
    }
    for (uint32_t func = function_first(p); func != 0; func = function_next(p, func)) {
        TSR_TRY(write_arguments(&a, func));
    }
    return TSR_OK;
}

static tsr_status apply_all(workspace *w)
{
    return apply_constraints(w, NULL);
}

static tsr_status apply_recorded(workspace *w)
{
    step_log steps;
    TSR_TRY(steps_start(w, &steps));
    TSR_TRY(apply_constraints(w, &steps));
    return steps_store(&steps);
}

tsr_status pass_apply_constraints(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    return workspace_do(ctx, p,
                        tsr_option_bool(options, "debug-propagation-edge-sharding") ? apply_recorded
                                                                                    : apply_all);
}

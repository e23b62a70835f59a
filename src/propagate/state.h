/*
 * Propagation over a program: what its parts share.
 *
 * While a pass runs, shardings are not attributes: each value that keeps a sharding of its own has
 * a place in an array of pointers to interned shardings. Places are values; after them come the
 * results of functions, whose shardings are attributes of the function. The program's attributes
 * are read at the start and written at the end.
 */
#ifndef PROPAGATE_STATE_H
#define PROPAGATE_STATE_H

#include <tessera/propagate.h>

#include "ops/op.h"
#include "propagate/workspace.h"

/* What propagation does at an op. */
typedef enum visit_kind {
    VISIT_NOTHING,
    VISIT_RULE, /* by its rule */
    VISIT_BARRIER,
    VISIT_EDGE,
    VISIT_FUNC_EDGE
} visit_kind;

/* How early an op takes part when ops have priorities. */
typedef enum priority_class {
    PRIORITY_LATE,
    PRIORITY_PASSES_ON,      /* elementwise ops, reshape, transpose, edges */
    PRIORITY_PASSES_FORWARD, /* dynamic slices */
    PRIORITY_BROADCAST
} priority_class;

/* What is known of all ops of a name. */
typedef struct name_info {
    bool known; /* filled in */
    uint8_t visit;
    uint8_t priority;
    bool elementwise;
    bool is_silent;  /* there is no rule, and this is expected */
    bool is_call;    /* a custom call: what it is, its target says */
    bool is_bitcast; /* elementwise only where shapes are the same */
    bool expands;    /* reads its operands several times, when XLA has rewritten it */
    const op_row *row;
} name_info;

/* The rule of an op; `rule` NULL: it has none. */
typedef struct op_rule {
    const tsr_rule *rule;
    bool known;
} op_rule;

typedef struct prop_options {
    bool keep_rules;
    bool conservative;
    bool as_xla; /* ops that XLA rewrites before propagation have rules */
    bool by_op_priority;
    bool by_user_priority;
    int64_t last_priority;                /* of users', -1: all */
    bool steps;                           /* ops tell which step moved which axis */
    bool origins;                         /* and where axes came from */
    const struct provenance_request *why; /* NULL: reasons are not recorded */
    tsr_strategy strategies[2];
    size_t num_strategies;
} prop_options;

/* A result of a function: the place after those of values. */
typedef struct func_results {
    uint32_t func;
    uint32_t first; /* place of result 0 */
    uint32_t count;
} func_results;

/* For a function its calls, for a call the function and the next call of it. */
typedef struct call_links {
    uint32_t first;
    uint32_t last;
    uint32_t next;
    uint32_t callee;
} call_links;

/* Values that must have one sharding. */
typedef struct group_set {
    uint32_t *group_of; /* by value: 1 + its group; 0: none */
    uint32_t **members; /* by group */
    uint32_t *counts;
    int64_t *ids;
    map by_id; /* to 1 + the group */
    size_t count;
} group_set;

typedef struct propagation {
    workspace w;
    const prop_options *options;

    uint32_t *place; /* by value: where its sharding is; 0: nowhere */
    uint32_t num_values;
    const tsr_sharding **shardings; /* by place */
    const tsr_sharding **before;    /* as the program has them */
    uint32_t num_places;
    func_results *funcs;
    size_t num_funcs;
    uint32_t main; /* the function whose results take part; 0: none */

    name_info *names; /* by op name */
    op_rule *rules;   /* by op */
    uint32_t num_ops; /* that `rules` has room for */
    bool warned_of_op;
    bool warned_of_call;

    call_links *calls; /* by op; NULL: the program has no calls */

    group_set groups;

    uint32_t *stack; /* ops to visit */
    size_t stack_size;
    size_t stack_room;
    uint8_t *in_stack;  /* by op */
    uint8_t *gone;      /* by op: erased by this pass */
    uint32_t visiting;  /* the op under visit */
    uint8_t *notifying; /* by value: its users are being notified */
    int notify_depth;
    tsr_strategy strategy;
    int level;               /* of op priority; -1: all ops take part */
    int64_t priority;        /* of users' shardings, the one under way */
    struct debug_log *debug; /* NULL: nothing is recorded */
} propagation;

tsr_status propagation_start(tsr_context *ctx, tsr_program *p, const prop_options *options,
                             propagation *out);
/* For the rules of ops alone. */
tsr_status rules_start(tsr_context *ctx, tsr_program *p, const prop_options *options,
                       propagation *out);
void propagation_end(propagation *s);

/* ---- places.c ---- */

tsr_status places_load(propagation *s);
/* Writes what has changed into the program. */
tsr_status places_store(propagation *s);
/* Gives a value a sharding. An op of several results that had none gets open ones for the others.
 */
tsr_status places_write(propagation *s, uint32_t place, const tsr_sharding *sharding);

static inline const tsr_sharding *places_sharding(const propagation *s, uint32_t value)
{
    return s->shardings[s->place[value]]; /* place 0 has none */
}

/* ---- rules.c ---- */

/* What is known of an op by its name. */
tsr_status rule_name_of_op(propagation *s, uint32_t op, const name_info **out);
/* The rule of an op, found at its first visit; NULL: it has none. */
tsr_status rule_of_op(propagation *s, uint32_t op, const tsr_rule **out);
/* Whether the rule of an op depends on the ops that define its operands. */
tsr_status rule_asks_operands(propagation *s, uint32_t op, bool *out);
/* Whether an op has no rule, although it needs one. */
tsr_status rule_is_lacking(propagation *s, uint32_t op, bool *out);
/* Warns of such ops, once for each name, and of several meshes over the same devices. */
tsr_status report_unknown(propagation *s);
tsr_status report_meshes(propagation *s);
/* The rule of something that hands tensors of a type on. */
tsr_status rule_identity(propagation *s, uint32_t type, size_t num_operands, const tsr_rule **out);
/* At the end: rules stay on the ops, or all that are not custom go. */
tsr_status rules_store(propagation *s);
/* Whether an op is elementwise, for ties and priorities. */
bool rule_op_is_elementwise(propagation *s, uint32_t op, const name_info *info);

/* ---- visit.c ---- */

/* One visit: what the engine is asked, of which tensors. In the scratch. */
typedef struct visit_plan {
    visit_op how;  /* no rule: there is nothing to visit */
    uint32_t edge; /* an edge op, whose own tensor is the last and shown as its sources see it */
    uint32_t *places;
    const tsr_sharding **shardings;
    size_t count;
} visit_plan;

tsr_status visit_plan_make(propagation *s, uint32_t op, visit_plan *out);
/* Visits an op; the tensors that change are written and their users notified. */
tsr_status visit_one(propagation *s, uint32_t op);
/* Between the values that the main function returns and its result attributes. */
tsr_status visit_results(propagation *s);
/* Calls a function for each of those visits. */
typedef tsr_status (*result_visitor)(propagation *s, const visit_plan *v, void *state);
tsr_status visit_main_results(propagation *s, result_visitor visitor, void *state);

/* ---- sweep.c ---- */

/* The function results, all ops until nothing changes, the function results. */
tsr_status sweep(propagation *s);
/* The sharding at a place was written: ops that may now change go onto the stack. */
tsr_status sweep_notify(propagation *s, uint32_t place);

/* ---- debug.c ---- */

/* Starts to record, if the options ask for it. */
tsr_status debug_start(propagation *s);
/* Records what the last visit of the engine changed, before it is written. */
tsr_status debug_visit(propagation *s, const visit_plan *v, const engine_changes *changes);
/* Records that a member of a group gets what another has. */
tsr_status debug_share(propagation *s, uint32_t from, uint32_t to);
/* Records that a dimension of one tensor of a visit goes to another, whole. */
tsr_status debug_hand_on(propagation *s, const visit_plan *v, size_t from, size_t from_dim,
                         size_t to, size_t to_dim);
/* Records what is to be known of an op that goes away. */
tsr_status debug_erase(propagation *s, uint32_t op);
/* Writes what was recorded into the program. */
tsr_status debug_store(propagation *s);

/* ---- edges.c ---- */

/* Lists the sources of an edge, in the scratch. */
tsr_status edge_sources(propagation *s, uint32_t edge, uint32_t **out, size_t *count);
/* Targets of an edge beside its owner; at most two. */
size_t edge_targets(const propagation *s, uint32_t edge, uint32_t targets[2]);
/* ---- calls.c ---- */

/* Finds the calls of each function, in the order of the program. */
tsr_status calls_load(propagation *s);
/* The function that a call names; 0: there is none. */
uint32_t calls_callee(const propagation *s, uint32_t call);
/* The calls of a function: the first, then the next; 0: no more. */
uint32_t calls_first(const propagation *s, uint32_t func);
uint32_t calls_next(const propagation *s, uint32_t call);

/* ---- groups.c ---- */

/* Groups whose members differ add constraints to the program: *separated, and all is to be loaded
 * again. */
tsr_status groups_load(propagation *s, bool *separated);

/* ---- ragged.c ---- */

/* Hands dimensions with explicit sizes on, as far as ops do. */
tsr_status ragged_hand_on(propagation *s);

/* ---- priorities.c ---- */

/* Runs all that the options ask for. */
tsr_status priorities_run(propagation *s);
/* The direction of all factors of an op at the level under way, or one for each of them. */
typedef struct visit_direction {
    tsr_direction direction;
    const tsr_direction *directions; /* in the scratch; NULL: all alike */
} visit_direction;
tsr_status priorities_direction(propagation *s, uint32_t op, const tsr_rule *rule,
                                visit_direction *out);

#endif

/* Sharding groups made ready for propagation: united where they share a value, and numbered anew.
 */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "transform/call_graph.h"
#include "transform/passes.h"

/* A group by the number that the program gives it. */
typedef struct group {
    int64_t given;
    uint32_t parent;      /* towards the leader of its class; itself: it is one */
    uint32_t number;      /* of a leader: the new one */
    uint32_t computation; /* the manual computation around its values; 0: none */
    uint32_t type;        /* of its first value */
} group;

typedef struct grouping {
    workspace *w;
    op_list ops;      /* of groups, in order */
    uint32_t *own;    /* by place in ops: its group */
    uint32_t *next;   /* by place: the next one on the same value, or NONE */
    uint32_t *firsts; /* places that are the first on their value */
    size_t num_firsts;
    group *groups;
    uint32_t num_groups;
    map by_given;
    map by_value; /* to a place, the last on a value, plus one */
} grouping;

#define NONE UINT32_MAX

static tsr_status list_groups(grouping *g)
{
    const tsr_program *p = g->w->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_SDY_SHARDING_GROUP)) {
            TSR_TRY(op_list_add(g->w, &g->ops, op));
        }
    }
    const size_t count = g->ops.count + 1;
    g->own = ARENA_ARRAY(g->w->arena, uint32_t, count);
    g->next = ARENA_ARRAY(g->w->arena, uint32_t, count);
    g->firsts = ARENA_ARRAY(g->w->arena, uint32_t, count);
    g->groups = ARENA_ARRAY(g->w->arena, group, count);
    g->by_given = map_new(g->w->arena);
    g->by_value = map_new(g->w->arena);
    return g->own != NULL && g->next != NULL && g->firsts != NULL && g->groups != NULL
               ? TSR_OK
               : diag_nomem(g->w->ctx);
}

static bool is_same_shape(const tsr_program *p, uint32_t a, uint32_t b)
{
    const type_head *x = program_type(p, a);
    const type_head *y = program_type(p, b);
    return a == b || (x->kind == y->kind && x->count == y->count && x->kind == TYPE_TENSOR &&
                      memcmp(type_extents(x), type_extents(y), x->count * sizeof(int64_t)) == 0);
}

/* Finds the group of an op, and checks that its value may be in it. */
static tsr_status find_group(grouping *g, size_t place)
{
    const tsr_program *p = g->w->p;
    const uint32_t op = g->ops.ops[place];
    const uint32_t computation = enclosing(p, op, OP_SDY_MANUAL_COMPUTATION);
    const uint32_t type = value_type(p, op_operand(p, op, 0));
    int64_t given = 0;
    (void)attr_as_integer(p, op_property(p, op, "group_id"), &given);
    uint64_t *entry = workspace_entry(g->w, &g->by_given, &given, sizeof given);
    if (entry == NULL) {
        return diag_nomem(g->w->ctx);
    }
    if (*entry == 0) {
        g->groups[g->num_groups] = (group){
            .given = given, .parent = g->num_groups, .computation = computation, .type = type};
        *entry = ++g->num_groups;
    }
    g->own[place] = (uint32_t)*entry - 1;
    const group *own = &g->groups[g->own[place]];
    if (own->computation != computation) {
        return error_at_op(g->w->ctx, p, op,
                           "ShardingGroupOps values cannot cross ManualComputationOp boundaries "
                           "for groupId: %" PRId64,
                           given);
    }
    return is_same_shape(p, own->type, type)
               ? TSR_OK
               : error_at_op(
                     g->w->ctx, p, op,
                     "ShardingGroupOps values must have the same shape for groupId: %" PRId64,
                     given);
}

/* Lists the groups of each value. */
static tsr_status list_by_value(grouping *g)
{
    const tsr_program *p = g->w->p;
    for (size_t i = 0; i < g->ops.count; i++) {
        const uint32_t value = op_operand(p, g->ops.ops[i], 0);
        uint64_t *last = workspace_entry(g->w, &g->by_value, &value, sizeof value);
        if (last == NULL) {
            return diag_nomem(g->w->ctx);
        }
        if (*last == 0) {
            g->firsts[g->num_firsts++] = (uint32_t)i;
        } else {
            g->next[*last - 1] = (uint32_t)i;
        }
        g->next[i] = NONE;
        *last = i + 1;
    }
    return TSR_OK;
}

static uint32_t leader_of(grouping *g, uint32_t own)
{
    while (g->groups[own].parent != own) {
        g->groups[own].parent = g->groups[g->groups[own].parent].parent;
        own = g->groups[own].parent;
    }
    return own;
}

static void unite(grouping *g)
{
    for (size_t i = 0; i < g->num_firsts; i++) {
        const uint32_t first = g->firsts[i];
        for (uint32_t at = g->next[first]; at != NONE; at = g->next[at]) {
            g->groups[leader_of(g, g->own[at])].parent = leader_of(g, g->own[first]);
        }
    }
}

static void number_leaders(grouping *g)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < g->num_groups; i++) {
        if (g->groups[i].parent == i) {
            g->groups[i].number = number++;
        }
    }
}

/* Writes the new numbers; of several ops of one group on a value the first stays. */
static tsr_status write_numbers(grouping *g)
{
    tsr_program *p = g->w->p;
    map seen = map_new(g->w->arena);
    for (size_t i = 0; i < g->ops.count; i++) {
        const uint32_t op = g->ops.ops[i];
        const uint32_t number = g->groups[leader_of(g, g->own[i])].number;
        const uint32_t key[2] = {op_operand(p, op, 0), number};
        uint64_t *entry = workspace_entry(g->w, &seen, key, sizeof key);
        uint32_t attr = 0;
        if (entry == NULL) {
            return diag_nomem(g->w->ctx);
        }
        if (*entry != 0) {
            op_erase(p, op);
            continue;
        }
        *entry = 1;
        TSR_TRY(attr_i64(p, number, &attr));
        TSR_TRY(op_set_property(p, op, "group_id", attr));
    }
    return TSR_OK;
}

static tsr_status import_groups(workspace *w)
{
    grouping g = {.w = w};
    TSR_TRY(list_groups(&g));
    for (size_t i = 0; i < g.ops.count; i++) {
        TSR_TRY(find_group(&g, i));
    }
    TSR_TRY(list_by_value(&g));
    unite(&g);
    number_leaders(&g);
    return write_numbers(&g);
}

WORKSPACE_PASS(pass_import_groups, import_groups)

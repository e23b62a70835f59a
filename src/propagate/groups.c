/* Sharding groups: values that must have one sharding. */
#include <string.h>

#include "base/arena.h"
#include "ir/message.h"
#include "propagate/state.h"
#include "shard/sharding.h"

/* The group of an id, made if it is new. */
static tsr_status group_of_id(propagation *s, int64_t id, size_t *out)
{
    group_set *groups = &s->groups;
    uint64_t *known = workspace_entry(&s->w, &groups->by_id, &id, sizeof id);
    if (known == NULL) {
        return diag_nomem(s->w.ctx);
    }
    if (*known == 0) {
        groups->ids[groups->count] = id;
        groups->counts[groups->count] = 0;
        *known = ++groups->count;
    }
    *out = (size_t)*known - 1;
    return TSR_OK;
}

static int64_t id_of(const tsr_program *p, uint32_t op)
{
    int64_t id = 0;
    (void)attr_as_integer(p, op_property(p, op, "group_id"), &id);
    return id;
}

static size_t count_group_ops(const tsr_program *p)
{
    size_t count = 0;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        count += op_is(p, op, OP_SDY_SHARDING_GROUP);
    }
    return count;
}

static tsr_status make_groups(propagation *s, size_t count)
{
    group_set *groups = &s->groups;
    groups->group_of = ARENA_ARRAY(s->w.arena, uint32_t, s->num_values);
    groups->members = ARENA_ARRAY(s->w.arena, uint32_t *, count);
    groups->counts = ARENA_ARRAY(s->w.arena, uint32_t, count);
    groups->ids = ARENA_ARRAY(s->w.arena, int64_t, count);
    if (groups->group_of == NULL || groups->members == NULL || groups->counts == NULL ||
        groups->ids == NULL) {
        return diag_nomem(s->w.ctx);
    }
    groups->by_id = map_new(s->w.arena);
    memset(groups->group_of, 0, s->num_values * sizeof *groups->group_of);
    return TSR_OK;
}

/* Finds the groups, and gives each room for its members. */
static tsr_status count_members(propagation *s)
{
    tsr_program *p = s->w.p;
    group_set *groups = &s->groups;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_SDY_SHARDING_GROUP)) {
            size_t group = 0;
            TSR_TRY(group_of_id(s, id_of(p, op), &group));
            groups->counts[group]++;
        }
    }
    for (size_t i = 0; i < groups->count; i++) {
        groups->members[i] = ARENA_ARRAY(s->w.arena, uint32_t, groups->counts[i]);
        if (groups->members[i] == NULL) {
            return diag_nomem(s->w.ctx);
        }
        groups->counts[i] = 0;
    }
    return TSR_OK;
}

static tsr_status add_member(propagation *s, uint32_t op)
{
    group_set *groups = &s->groups;
    const uint32_t value = op_operand(s->w.p, op, 0);
    size_t group = 0;
    TSR_TRY(group_of_id(s, id_of(s->w.p, op), &group));
    uint32_t *known = &groups->group_of[value];
    if (*known != 0 && *known != group + 1) {
        return error_at_op(s->w.ctx, s->w.p, op,
                           "Value can only map to one sharding group id after import.");
    }
    if (*known == 0) {
        *known = (uint32_t)group + 1;
        groups->members[group][groups->counts[group]++] = value;
    }
    return TSR_OK;
}

/* Whether a sharding says something: an axis, or a closed dimension. */
static bool says_something(const tsr_sharding *sharding)
{
    for (size_t d = 0; sharding != NULL && d < sharding->rank; d++) {
        if (!sharding->dims[d].open || sharding->dims[d].num_axes > 0) {
            return true;
        }
    }
    return false;
}

/* The sharding that members have, unless they differ. */
static const tsr_sharding *common_sharding(const propagation *s, size_t group, bool *differ)
{
    const tsr_sharding *common = NULL;
    *differ = false;
    for (uint32_t i = 0; i < s->groups.counts[group]; i++) {
        const tsr_sharding *sharding = places_sharding(s, s->groups.members[group][i]);
        if (says_something(sharding)) {
            *differ = *differ || (common != NULL && common != sharding);
            common = common != NULL ? common : sharding;
        }
    }
    return common;
}

/* Puts an open constraint between a member and its users; that is the member from now on. */
static tsr_status open_member(propagation *s, uint32_t value, const tsr_sharding *common,
                              uint32_t *out)
{
    tsr_program *p = s->w.p;
    const uint32_t type = value_type(p, value);
    const tsr_sharding *open = NULL;
    uint32_t attr = 0;
    uint32_t dict = 0;
    uint32_t op = 0;
    TSR_TRY(open_sharding(&s->w, common->mesh, type, &open));
    TSR_TRY(sharding_attr(&s->w, open, &attr));
    TSR_TRY(dict_set(p, 0, "sharding", attr, &dict));
    const op_spec spec = {.kind = OP_SDY_SHARDING_CONSTRAINT,
                          .operands = &value,
                          .num_operands = 1,
                          .types = &type,
                          .num_results = 1,
                          .properties = dict,
                          .like = value_op(p, value)};
    TSR_TRY(op_create(p, &spec, &op));
    op_insert_after_value(p, op, value);
    *out = op_result(p, op, 0);
    value_replace_uses(p, value, *out, op);
    return TSR_OK;
}

static tsr_status separate(propagation *s, size_t group, const tsr_sharding *common)
{
    tsr_program *p = s->w.p;
    const uint32_t first = s->groups.members[group][0];
    const uint32_t block = value_block(p, first);
    const uint32_t at = block != 0 ? block_parent(p, block) : value_op(p, first);
    TSR_TRY(diag_warning(
        s->w.ctx, op_location(p, at),
        "The initial operand shardings on the sharding groups of groupID: %lld do not match. "
        "Inserting an open sharding constraint to all constrained values. This can be caused when "
        "shardings from different values are grouped (e.g. from jax.shard_alike) but have "
        "separate inconsistent sharding constraints on them.",
        (long long)s->groups.ids[group]));
    for (uint32_t i = 0; i < s->groups.counts[group]; i++) {
        uint32_t constrained = 0;
        TSR_TRY(open_member(s, s->groups.members[group][i], common, &constrained));
    }
    return TSR_OK;
}

/* Gives each group one sharding to start with; *separated: ops were added, so load again. */
static tsr_status synchronize(propagation *s, bool *separated)
{
    for (size_t g = 0; g < s->groups.count; g++) {
        bool differ = false;
        const tsr_sharding *common = common_sharding(s, g, &differ);
        if (differ) {
            TSR_TRY(separate(s, g, common));
            *separated = true;
        }
    }
    for (size_t g = 0; g < s->groups.count && !*separated; g++) {
        bool differ = false;
        const tsr_sharding *common = common_sharding(s, g, &differ);
        for (uint32_t i = 0; common != NULL && i < s->groups.counts[g]; i++) {
            TSR_TRY(places_write(s, s->place[s->groups.members[g][i]], common));
        }
    }
    return TSR_OK;
}

tsr_status groups_load(propagation *s, bool *separated)
{
    const tsr_program *p = s->w.p;
    const size_t count = count_group_ops(p);
    *separated = false;
    if (count == 0) {
        return TSR_OK;
    }
    TSR_TRY(make_groups(s, count));
    TSR_TRY(count_members(s));
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, OP_SDY_SHARDING_GROUP)) {
            TSR_TRY(add_member(s, op));
        }
    }
    return synchronize(s, separated);
}

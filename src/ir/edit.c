#include "ir/edit.h"

#include <string.h>

#include "base/arena.h"
#include "ir/records.h"

/* ---- walks ---- */

/* The first op of the regions of an op, from a region on; 0 for none. */
static uint32_t first_inside(const tsr_program *p, uint32_t op, size_t region)
{
    for (; region < program_op(p, op)->num_regions; region++) {
        uint32_t block = program_region(p, op_region_at(p, op, region))->first_block;
        for (; block != 0; block = program_block(p, block)->next) {
            if (program_block(p, block)->first_op != 0) {
                return program_block(p, block)->first_op;
            }
        }
    }
    return 0;
}

/* The first op of the blocks and regions that follow the one of `op` in its parent. */
static uint32_t first_beyond(const tsr_program *p, uint32_t op)
{
    const uint32_t own = program_op(p, op)->block;
    for (uint32_t b = program_block(p, own)->next; b != 0; b = program_block(p, b)->next) {
        if (program_block(p, b)->first_op != 0) {
            return program_block(p, b)->first_op;
        }
    }
    const uint32_t region = program_block(p, own)->region;
    const uint32_t parent = program_region(p, region)->op;
    size_t place = 0;
    while (op_region_at(p, parent, place) != region) {
        place++;
    }
    return first_inside(p, parent, place + 1);
}

/* What follows an op and all that is inside it, within its parent; 0: nothing. */
static uint32_t sibling(const tsr_program *p, uint32_t op)
{
    const uint32_t next = program_op(p, op)->next;
    return next != 0 ? next : first_beyond(p, op);
}

uint32_t op_walk_skip(const tsr_program *p, uint32_t root, uint32_t op)
{
    while (op != root) {
        const uint32_t next = sibling(p, op);
        if (next != 0) {
            return next;
        }
        op = op_parent(p, op);
    }
    return 0;
}

uint32_t op_walk_next(const tsr_program *p, uint32_t root, uint32_t op)
{
    const uint32_t inside = first_inside(p, op, 0);
    return inside != 0 ? inside : op_walk_skip(p, root, op);
}

uint32_t op_post_first(const tsr_program *p, uint32_t root)
{
    for (uint32_t inside = first_inside(p, root, 0); inside != 0;
         inside = first_inside(p, root, 0)) {
        root = inside;
    }
    return root;
}

uint32_t op_post_next(const tsr_program *p, uint32_t root, uint32_t op)
{
    if (op == root) {
        return 0;
    }
    const uint32_t next = sibling(p, op);
    return next != 0 ? op_post_first(p, next) : op_parent(p, op);
}

/* ---- uses ---- */

static uint32_t *first_use(const tsr_program *p, uint32_t value)
{
    return (uint32_t *)p->uses->first.items + value;
}

static use_link *link_of(const tsr_program *p, uint32_t use)
{
    return (use_link *)p->uses->links.items + use;
}

static void add_use(tsr_program *p, uint32_t op, uint32_t use, uint32_t value)
{
    uint32_t *first = first_use(p, value);
    *link_of(p, use) = (use_link){.next = *first, .op = op};
    if (*first != 0) {
        link_of(p, *first)->prev = use;
    }
    *first = use;
    *record_of_list(p, use) = value;
}

static void drop_use(tsr_program *p, uint32_t use)
{
    const use_link link = *link_of(p, use);
    if (link.prev != 0) {
        link_of(p, link.prev)->next = link.next;
    } else {
        *first_use(p, *program_pool(p, use)) = link.next;
    }
    if (link.next != 0) {
        link_of(p, link.next)->prev = link.prev;
    }
}

static void add_uses(tsr_program *p, uint32_t op)
{
    const ir_op *o = program_op(p, op);
    for (uint32_t i = 0; i < o->num_operands; i++) {
        add_use(p, op, o->operands + i, *program_pool(p, o->operands + i));
    }
}

/* Makes room for uses of all values, and by all operands. */
static tsr_status grow(tsr_program *p)
{
    ir_array *first = &p->uses->first;
    ir_array *links = &p->uses->links;
    TSR_TRY(ir_array_reserve(p->ctx, first, sizeof(uint32_t), p->values.count - first->count));
    memset((uint32_t *)first->items + first->count, 0,
           (p->values.count - first->count) * sizeof(uint32_t));
    first->count = p->values.count;
    TSR_TRY(ir_array_reserve(p->ctx, links, sizeof(use_link), p->pool.count - links->count));
    links->count = p->pool.count;
    return TSR_OK;
}

tsr_status edit_begin(tsr_program *p)
{
    if (p->uses != NULL) {
        return TSR_OK;
    }
    p->uses = context_resize(p->ctx, NULL, 0, sizeof *p->uses);
    if (p->uses == NULL) {
        return diag_nomem(p->ctx);
    }
    *p->uses = (struct ir_uses){0};
    const tsr_status status = grow(p);
    if (status < 0) {
        edit_end(p);
        return status;
    }
    for (uint32_t op = op_post_first(p, p->module); op != 0; op = op_post_next(p, p->module, op)) {
        add_uses(p, op);
    }
    return TSR_OK;
}

void edit_end(tsr_program *p)
{
    if (p->uses != NULL) {
        ir_array_free(p->ctx, &p->uses->first, sizeof(uint32_t));
        ir_array_free(p->ctx, &p->uses->links, sizeof(use_link));
        context_resize(p->ctx, p->uses, sizeof *p->uses, 0);
        p->uses = NULL;
    }
}

void use_set(tsr_program *p, uint32_t use, uint32_t value)
{
    const uint32_t op = use_op(p, use);
    drop_use(p, use);
    add_use(p, op, use, value);
}

void op_set_operand(tsr_program *p, uint32_t op, size_t i, uint32_t value)
{
    use_set(p, program_op(p, op)->operands + (uint32_t)i, value);
}

void value_replace_uses(tsr_program *p, uint32_t from, uint32_t to, uint32_t except)
{
    uint32_t next = 0;
    for (uint32_t use = value_first_use(p, from); use != 0; use = next) {
        next = use_next(p, use);
        if (except == 0 || use_op(p, use) != except) {
            use_set(p, use, to);
        }
    }
}

/* ---- ops ---- */

static tsr_status new_results(tsr_program *p, uint32_t op, const uint32_t *types, size_t count)
{
    uint32_t first = p->values.count;
    for (size_t i = 0; i < count; i++) {
        const ir_value value = {.type = types[i], .owner = op, .index = (uint32_t)i};
        uint32_t number = 0;
        TSR_TRY(program_new_values(p, &value, 1, &number));
    }
    record_of_op(p, op)->results = count > 0 ? first : 0;
    record_of_op(p, op)->num_results = (uint32_t)count;
    return TSR_OK;
}

static tsr_status new_regions(tsr_program *p, uint32_t op, size_t count)
{
    uint32_t list = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t region = 0;
        uint32_t place = 0;
        TSR_TRY(program_new_region(p, &region));
        record_of_region(p, region)->op = op;
        TSR_TRY(program_new_list(p, &region, 1, &place));
        list = i == 0 ? place : list;
    }
    record_of_op(p, op)->regions = list;
    record_of_op(p, op)->num_regions = (uint32_t)count;
    return TSR_OK;
}

tsr_status op_create(tsr_program *p, const op_spec *spec, uint32_t *out)
{
    ir_op op = {.num_operands = (uint32_t)spec->num_operands,
                .properties = spec->properties,
                .attributes = spec->attributes,
                .location = spec->like != 0 ? program_op(p, spec->like)->location : IR_NOWHERE,
                .at = spec->like != 0 ? program_op(p, spec->like)->at : IR_NOWHERE};
    uint32_t number = 0;
    TSR_TRY(program_op_name(p, spec->name, strlen(spec->name), &op.name));
    TSR_TRY(program_new_list(p, spec->operands, spec->num_operands, &op.operands));
    TSR_TRY(program_new_op(p, &op, &number));
    TSR_TRY(new_results(p, number, spec->types, spec->num_results));
    TSR_TRY(new_regions(p, number, spec->num_regions));
    TSR_TRY(grow(p));
    add_uses(p, number);
    *out = number;
    return TSR_OK;
}

tsr_status region_add_block(tsr_program *p, uint32_t region, const uint32_t *types, size_t count,
                            uint32_t *out)
{
    const ir_block empty = {.location = IR_NOWHERE};
    uint32_t block = 0;
    uint32_t list = 0;
    TSR_TRY(program_new_block(p, &empty, &block));
    for (size_t i = 0; i < count; i++) {
        const ir_value value = {.type = types[i],
                                .owner = block | IR_IS_ARGUMENT,
                                .index = (uint32_t)i,
                                .location = IR_NOWHERE};
        uint32_t number = 0;
        uint32_t place = 0;
        TSR_TRY(program_new_values(p, &value, 1, &number));
        TSR_TRY(program_new_list(p, &number, 1, &place));
        list = i == 0 ? place : list;
    }
    record_of_block(p, block)->arguments = list;
    record_of_block(p, block)->num_arguments = (uint32_t)count;
    record_append_block(p, region, block);
    TSR_TRY(grow(p));
    *out = block;
    return TSR_OK;
}

/* Links an op between two neighbours of a block, each 0 at an end. */
static void place(tsr_program *p, uint32_t op, uint32_t block, uint32_t prev, uint32_t next)
{
    ir_op *o = record_of_op(p, op);
    o->block = block;
    o->prev = prev;
    o->next = next;
    if (prev != 0) {
        record_of_op(p, prev)->next = op;
    } else {
        record_of_block(p, block)->first_op = op;
    }
    if (next != 0) {
        record_of_op(p, next)->prev = op;
    } else {
        record_of_block(p, block)->last_op = op;
    }
}

void op_insert_before(tsr_program *p, uint32_t op, uint32_t before)
{
    const ir_op *o = program_op(p, before);
    place(p, op, o->block, o->prev, before);
}

void op_insert_after(tsr_program *p, uint32_t op, uint32_t after)
{
    const ir_op *o = program_op(p, after);
    place(p, op, o->block, after, o->next);
}

void block_prepend(tsr_program *p, uint32_t block, uint32_t op)
{
    place(p, op, block, 0, program_block(p, block)->first_op);
}

void block_append(tsr_program *p, uint32_t block, uint32_t op)
{
    place(p, op, block, program_block(p, block)->last_op, 0);
}

void op_insert_after_value(tsr_program *p, uint32_t op, uint32_t value)
{
    const uint32_t definition = value_op(p, value);
    if (definition != 0) {
        op_insert_after(p, op, definition);
    } else {
        block_prepend(p, value_block(p, value), op);
    }
}

void op_remove(tsr_program *p, uint32_t op)
{
    ir_op *o = record_of_op(p, op);
    ir_block *b = record_of_block(p, o->block);
    if (o->prev != 0) {
        record_of_op(p, o->prev)->next = o->next;
    } else {
        b->first_op = o->next;
    }
    if (o->next != 0) {
        record_of_op(p, o->next)->prev = o->prev;
    } else {
        b->last_op = o->prev;
    }
    o->block = 0;
    o->prev = 0;
    o->next = 0;
}

static void drop_operands(tsr_program *p, uint32_t op)
{
    ir_op *o = record_of_op(p, op);
    for (uint32_t i = 0; i < o->num_operands; i++) {
        drop_use(p, o->operands + i);
    }
    o->num_operands = 0;
}

void op_erase(tsr_program *p, uint32_t op)
{
    uint32_t next = 0;
    for (uint32_t inside = op_post_first(p, op); inside != op; inside = next) {
        next = op_post_next(p, op, inside);
        drop_operands(p, inside);
        record_of_op(p, inside)->num_regions = 0;
    }
    drop_operands(p, op);
    record_of_op(p, op)->num_regions = 0;
    op_remove(p, op);
}

void region_take(tsr_program *p, uint32_t to, uint32_t from)
{
    uint32_t next = 0;
    for (uint32_t block = program_region(p, from)->first_block; block != 0; block = next) {
        next = program_block(p, block)->next;
        record_append_block(p, to, block);
    }
    record_of_region(p, from)->first_block = 0;
    record_of_region(p, from)->last_block = 0;
}

/* ---- attributes ---- */

tsr_status op_rename(tsr_program *p, uint32_t op, const char *name)
{
    uint32_t id = 0;
    TSR_TRY(program_op_name(p, name, strlen(name), &id));
    record_of_op(p, op)->name = id;
    return TSR_OK;
}

void op_set_dicts(tsr_program *p, uint32_t op, uint32_t properties, uint32_t attributes)
{
    record_of_op(p, op)->properties = properties;
    record_of_op(p, op)->attributes = attributes;
}

tsr_status dict_set(tsr_program *p, uint32_t dict, const char *name, uint32_t attr, uint32_t *out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    const size_t size = dict_size(p, dict);
    uint32_t string = 0;
    TSR_TRY(program_string(p, name, strlen(name), &string));
    attr_entry *entries = ARENA_ARRAY(p->scratch, attr_entry, size + 1);
    if (entries == NULL) {
        return diag_nomem(p->ctx);
    }
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        const attr_entry entry = attr_entries(program_attr(p, dict))[i];
        if (entry.name != string) {
            entries[count++] = entry;
        }
    }
    if (attr != 0) {
        entries[count++] = (attr_entry){string, attr};
    }
    const tsr_status status = attr_dict(p, entries, count, out);
    tsr_arena_reset(p->scratch, mark);
    return status;
}

tsr_status dict_value(tsr_program *p, uint32_t dict, uint32_t *out)
{
    if (dict != 0) {
        *out = dict;
        return TSR_OK;
    }
    return attr_of_text(p, ATTR_DICT, 0, 0, "", 0, out);
}

tsr_status op_set_property(tsr_program *p, uint32_t op, const char *name, uint32_t attr)
{
    uint32_t dict = 0;
    TSR_TRY(dict_set(p, program_op(p, op)->properties, name, attr, &dict));
    op_set_dicts(p, op, dict, program_op(p, op)->attributes);
    return TSR_OK;
}

tsr_status op_set_attribute(tsr_program *p, uint32_t op, const char *name, uint32_t attr)
{
    uint32_t dict = 0;
    TSR_TRY(dict_set(p, program_op(p, op)->attributes, name, attr, &dict));
    op_set_dicts(p, op, program_op(p, op)->properties, dict);
    return TSR_OK;
}

/* ---- clones ---- */

typedef struct value_pair {
    uint32_t from;
    uint32_t to;
} value_pair;

/* In the same map: which block a block became. */
#define IS_BLOCK IR_IS_ARGUMENT

enum { FIRST_PAIRS = 16 };

static uint32_t pair_slot(const value_map *map, uint32_t value)
{
    const value_pair *pairs = map->pairs.items;
    const uint32_t mask = map->pairs.count - 1;
    uint32_t slot = (value * UINT32_C(2654435761)) & mask;
    while (pairs[slot].from != 0 && pairs[slot].from != value) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static void set_pair(value_map *map, value_pair pair)
{
    value_pair *at = (value_pair *)map->pairs.items + pair_slot(map, pair.from);
    map->used += at->from == 0;
    *at = pair;
}

static tsr_status grow_map(value_map *map)
{
    const ir_array old = map->pairs;
    const uint32_t count = old.count > 0 ? 2 * old.count : FIRST_PAIRS;
    value_pair *pairs = context_resize(map->ctx, NULL, 0, count * sizeof *pairs);
    if (pairs == NULL) {
        return diag_nomem(map->ctx);
    }
    memset(pairs, 0, count * sizeof *pairs);
    map->pairs = (ir_array){.items = pairs, .count = count, .capacity = count};
    map->used = 0;
    for (uint32_t i = 0; i < old.count; i++) {
        const value_pair pair = ((const value_pair *)old.items)[i];
        if (pair.from != 0) {
            set_pair(map, pair);
        }
    }
    ir_array gone = old;
    ir_array_free(map->ctx, &gone, sizeof(value_pair));
    return TSR_OK;
}

void value_map_free(value_map *map)
{
    ir_array_free(map->ctx, &map->pairs, sizeof(value_pair));
    map->used = 0;
}

tsr_status value_map_set(value_map *map, uint32_t from, uint32_t to)
{
    if (2 * (map->used + 1) > map->pairs.count) {
        TSR_TRY(grow_map(map));
    }
    set_pair(map, (value_pair){from, to});
    return TSR_OK;
}

uint32_t value_map_get(const value_map *map, uint32_t value)
{
    if (map->pairs.count == 0) {
        return value;
    }
    const value_pair *at = (const value_pair *)map->pairs.items + pair_slot(map, value);
    return at->from != 0 ? at->to : value;
}

/* A copy without operands and with empty regions. */
static tsr_status clone_head(tsr_program *p, uint32_t op, value_map *map, uint32_t *out)
{
    ir_op copy = *program_op(p, op);
    const uint32_t results = copy.results;
    uint32_t number = 0;
    copy.block = 0;
    copy.prev = 0;
    copy.next = 0;
    copy.results = p->values.count;
    TSR_TRY(program_new_op(p, &copy, &number));
    for (uint32_t i = 0; i < copy.num_results; i++) {
        ir_value value = *program_value(p, results + i);
        uint32_t copied = 0;
        value.owner = number;
        TSR_TRY(program_new_values(p, &value, 1, &copied));
        TSR_TRY(value_map_set(map, results + i, copied));
    }
    TSR_TRY(new_regions(p, number, copy.num_regions));
    *out = number;
    return TSR_OK;
}

/* Gives a copy the operands of the original, as the map says. */
static tsr_status clone_operands(tsr_program *p, uint32_t op, uint32_t copy, const value_map *map)
{
    const uint32_t count = program_op(p, op)->num_operands;
    uint32_t list = 0;
    TSR_TRY(ir_array_reserve(p->ctx, &p->pool, sizeof(uint32_t), count));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t operand = value_map_get(map, op_operand(p, op, i));
        uint32_t place_of = 0;
        TSR_TRY(program_new_list(p, &operand, 1, &place_of));
        list = i == 0 ? place_of : list;
    }
    record_of_op(p, copy)->operands = list;
    TSR_TRY(grow(p));
    add_uses(p, copy);
    return TSR_OK;
}

static tsr_status clone_block(tsr_program *p, uint32_t block, uint32_t region, value_map *map,
                              uint32_t *out)
{
    const ir_block from = *program_block(p, block);
    const ir_block empty = {.location = from.location};
    uint32_t copy = 0;
    uint32_t list = 0;
    TSR_TRY(program_new_block(p, &empty, &copy));
    for (uint32_t i = 0; i < from.num_arguments; i++) {
        const uint32_t argument = *program_pool(p, from.arguments + i);
        ir_value value = *program_value(p, argument);
        uint32_t copied = 0;
        uint32_t place_of = 0;
        value.owner = copy | IR_IS_ARGUMENT;
        TSR_TRY(program_new_values(p, &value, 1, &copied));
        TSR_TRY(program_new_list(p, &copied, 1, &place_of));
        TSR_TRY(value_map_set(map, argument, copied));
        list = i == 0 ? place_of : list;
    }
    record_of_block(p, copy)->arguments = list;
    record_of_block(p, copy)->num_arguments = from.num_arguments;
    record_append_block(p, region, copy);
    TSR_TRY(value_map_set(map, block | IS_BLOCK, copy));
    for (uint32_t op = from.first_op; op != 0; op = program_op(p, op)->next) {
        uint32_t inside = 0;
        TSR_TRY(clone_head(p, op, map, &inside));
        record_append_op(p, copy, inside);
    }
    *out = copy;
    return TSR_OK;
}

static tsr_status clone_successors(tsr_program *p, uint32_t copy, const value_map *map)
{
    const uint32_t from = program_op(p, copy)->successors;
    uint32_t list = 0;
    for (uint32_t i = 0; i < program_op(p, copy)->num_successors; i++) {
        const uint32_t block = *program_pool(p, from + i);
        const uint32_t became = value_map_get(map, block | IS_BLOCK) & ~IS_BLOCK;
        uint32_t place_of = 0;
        TSR_TRY(program_new_list(p, &became, 1, &place_of));
        list = i == 0 ? place_of : list;
    }
    record_of_op(p, copy)->successors = list;
    return TSR_OK;
}

static tsr_status clone_body(tsr_program *p, uint32_t op, uint32_t copy, value_map *map)
{
    TSR_TRY(clone_successors(p, copy, map));
    TSR_TRY(clone_operands(p, op, copy, map));
    for (uint32_t i = 0; i < program_op(p, op)->num_regions; i++) {
        TSR_TRY(region_clone(p, op_region_at(p, op, i), op_region_at(p, copy, i), map));
    }
    return TSR_OK;
}

tsr_status region_clone(tsr_program *p, uint32_t from, uint32_t to, value_map *map)
{
    const uint32_t before = program_region(p, to)->last_block;
    for (uint32_t b = program_region(p, from)->first_block; b != 0; b = program_block(p, b)->next) {
        uint32_t copy = 0;
        TSR_TRY(clone_block(p, b, to, map, &copy));
    }
    uint32_t block =
        before != 0 ? program_block(p, before)->next : program_region(p, to)->first_block;
    for (uint32_t b = program_region(p, from)->first_block; b != 0; b = program_block(p, b)->next) {
        uint32_t copy = program_block(p, block)->first_op;
        for (uint32_t op = program_block(p, b)->first_op; op != 0; op = program_op(p, op)->next) {
            TSR_TRY(clone_body(p, op, copy, map));
            copy = program_op(p, copy)->next;
        }
        block = program_block(p, block)->next;
    }
    return TSR_OK;
}

tsr_status op_clone(tsr_program *p, uint32_t op, value_map *map, uint32_t *out)
{
    uint32_t copy = 0;
    TSR_TRY(clone_head(p, op, map, &copy));
    TSR_TRY(clone_body(p, op, copy, map));
    *out = copy;
    return TSR_OK;
}

/* Copies of ops with their regions. */
#include <string.h>

#include "base/arena.h"
#include "ir/changes.h"
#include "ir/edit.h"
#include "ir/records.h"

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
    TSR_TRY(record_new_regions(p, number, copy.num_regions));
    TSR_TRY(changes_reserve(p));
    changes_note_op(p, number, CHANGE_PLACE);
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
    TSR_TRY(uses_reserve(p));
    uses_add(p, copy);
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
    return uses_reserve(p);
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
    changes_note_op(p, program_region(p, to)->op, CHANGE_REGIONS);
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

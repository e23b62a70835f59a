#include "ir/program.h"

#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "ir/changes.h"
#include "ir/edit.h"
#include "ir/location.h"
#include "ir/records.h"
#include "ir/row.h"
#include "ir/shardings.h"

enum { FIRST_ITEMS = 32 };

tsr_status ir_array_reserve(tsr_context *ctx, ir_array *array, size_t item_size, size_t extra)
{
    if (array->count + extra <= array->capacity) {
        return TSR_OK;
    }
    size_t capacity = array->capacity < FIRST_ITEMS ? FIRST_ITEMS : array->capacity;
    while (capacity < array->count + extra) {
        capacity += capacity / 2;
    }
    if (capacity >= IR_IS_ARGUMENT) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the program has more than 2^31 ops, values or operands");
    }
    void *items =
        context_resize(ctx, array->items, array->capacity * item_size, capacity * item_size);
    if (items == NULL) {
        return diag_nomem(ctx);
    }
    array->items = items;
    array->capacity = (uint32_t)capacity;
    return TSR_OK;
}

void ir_array_free(tsr_context *ctx, ir_array *array, size_t item_size)
{
    if (array->items != NULL) {
        context_resize(ctx, array->items, array->capacity * item_size, 0);
    }
    *array = (ir_array){0};
}

/* The arrays of a program: where they are, and the size of an item. */
typedef struct array_row {
    size_t offset;
    size_t item_size;
} array_row;

static const array_row arrays[] = {
    {offsetof(tsr_program, ops), sizeof(ir_op)},
    {offsetof(tsr_program, values), sizeof(ir_value)},
    {offsetof(tsr_program, blocks), sizeof(ir_block)},
    {offsetof(tsr_program, regions), sizeof(ir_region)},
    {offsetof(tsr_program, pool), sizeof(uint32_t)},
    {offsetof(tsr_program, names), sizeof(ir_name)},
    {offsetof(tsr_program, blob_data), sizeof(const char *)},
};

static const size_t tables[] = {
    offsetof(tsr_program, op_names),       offsetof(tsr_program, strings),
    offsetof(tsr_program, types),          offsetof(tsr_program, attrs),
    offsetof(tsr_program, locations),      offsetof(tsr_program, blobs),
    offsetof(tsr_program, verified_rules),
};

enum {
    NUM_ARRAYS = sizeof arrays / sizeof arrays[0],
    NUM_TABLES = sizeof tables / sizeof tables[0]
};

static ir_array *array_at(const tsr_program *p, size_t i)
{
    return (ir_array *)((uintptr_t)p + arrays[i].offset);
}

static intern_table *table_at(const tsr_program *p, size_t i)
{
    return (intern_table *)((uintptr_t)p + tables[i]);
}

/* Record 0 of every array: none. */
static tsr_status init(tsr_program *p)
{
    TSR_TRY(tsr_arena_create(p->ctx, &p->arena));
    TSR_TRY(tsr_arena_create(p->ctx, &p->scratch));
    for (size_t i = 0; i < NUM_TABLES; i++) {
        TSR_TRY(intern_table_init(table_at(p, i), p->ctx, p->arena));
    }
    for (size_t i = 0; i < NUM_ARRAYS; i++) {
        ir_array *array = array_at(p, i);
        TSR_TRY(ir_array_reserve(p->ctx, array, arrays[i].item_size, 1));
        memset(array->items, 0, arrays[i].item_size);
        array->count = 1;
    }
    return TSR_OK;
}

tsr_status program_create(tsr_context *ctx, tsr_program **out)
{
    tsr_program *p = context_resize(ctx, NULL, 0, sizeof *p);
    if (p == NULL) {
        return diag_nomem(ctx);
    }
    *p = (tsr_program){.ctx = ctx};
    const tsr_status status = init(p);
    if (status < 0) {
        tsr_program_destroy(p);
        return status;
    }
    *out = p;
    return TSR_OK;
}

void tsr_program_destroy(tsr_program *program)
{
    GUARD(tsr_program_destroy);
    if (program == NULL) {
        return;
    }
    tsr_context *ctx = program->ctx;
    edit_end(program);
    changes_free(program);
    for (size_t i = 0; i < NUM_ARRAYS; i++) {
        ir_array_free(ctx, array_at(program, i), arrays[i].item_size);
    }
    for (size_t i = 0; i < NUM_TABLES; i++) {
        intern_table_free(table_at(program, i));
    }
    ir_array_free(ctx, &program->lines, sizeof(uint32_t));
    ir_shardings_drop(program);
    tsr_arena_destroy(program->scratch);
    tsr_arena_destroy(program->arena);
    loaded_file_release(program->file);
    context_resize(ctx, program, sizeof *program, 0);
}

static tsr_status clone_table(const intern_table *from, intern_table *to)
{
    for (uint32_t id = 1; id < from->count; id++) {
        uint32_t copy = 0;
        TSR_TRY(intern_bytes(to, intern_get(from, id), intern_size(from, id), &copy));
    }
    return TSR_OK;
}

static tsr_status clone_into(tsr_context *ctx, const tsr_program *from, tsr_program *to)
{
    for (size_t i = 0; i < NUM_TABLES; i++) {
        TSR_TRY(clone_table(table_at(from, i), table_at(to, i)));
    }
    for (size_t i = 0; i < NUM_ARRAYS; i++) {
        const ir_array *source = array_at(from, i);
        ir_array *copy = array_at(to, i);
        TSR_TRY(ir_array_reserve(ctx, copy, arrays[i].item_size, source->count - copy->count));
        memcpy(copy->items, source->items, source->count * arrays[i].item_size);
        copy->count = source->count;
    }
    memcpy(to->kind_names, from->kind_names, sizeof to->kind_names);
    to->text = from->text;
    to->flags = from->flags;
    to->module = from->module;
    to->metadata = from->metadata;
    to->file = loaded_file_share(from->file);
    return TSR_OK;
}

tsr_status tsr_program_clone(tsr_context *ctx, const tsr_program *program, tsr_program **out)
{
    GUARD(tsr_program_clone);
    tsr_program *copy = NULL;
    TSR_TRY(program_create(ctx, &copy));
    const tsr_status status = clone_into(ctx, program, copy);
    if (status < 0) {
        tsr_program_destroy(copy);
        return status;
    }
    *out = copy;
    return TSR_OK;
}

size_t tsr_program_memory(const tsr_program *program)
{
    GUARD(tsr_program_memory);
    size_t bytes = sizeof *program + tsr_arena_reserved(program->arena) +
                   tsr_arena_reserved(program->scratch) +
                   program->lines.capacity * sizeof(uint32_t);
    for (size_t i = 0; i < NUM_ARRAYS; i++) {
        bytes += array_at(program, i)->capacity * arrays[i].item_size;
    }
    for (size_t i = 0; i < NUM_TABLES; i++) {
        bytes += intern_table_memory(table_at(program, i));
    }
    return bytes;
}

/* ---- records ---- */

tsr_status program_op_name(tsr_program *p, const char *name, size_t size, uint32_t *out)
{
    const uint32_t count = p->op_names.count;
    TSR_TRY(intern_bytes(&p->op_names, name, size, out));
    if (p->op_names.count > count) {
        const op_kind kind = op_kind_find(name, size);
        TSR_TRY(ir_array_reserve(p->ctx, &p->names, sizeof(ir_name), 1));
        ((ir_name *)p->names.items)[p->names.count++] =
            (ir_name){kind, ir_row_of(kind), op_kind_row(kind)};
        p->kind_names[kind] = kind != OP_UNKNOWN ? *out : 0;
    }
    return TSR_OK;
}

tsr_status program_kind_name(tsr_program *p, op_kind kind, uint32_t *out)
{
    const char *name = op_kind_name(kind);
    *out = p->kind_names[kind];
    return *out != 0 ? TSR_OK : program_op_name(p, name, strlen(name), out);
}

tsr_status program_string(tsr_program *p, const char *string, size_t size, uint32_t *out)
{
    return intern_bytes(&p->strings, string, size, out);
}

tsr_status program_new_op(tsr_program *p, const ir_op *op, uint32_t *out)
{
    TSR_TRY(ir_array_reserve(p->ctx, &p->ops, sizeof *op, 1));
    *out = p->ops.count++;
    *record_of_op(p, *out) = *op;
    return TSR_OK;
}

tsr_status program_new_values(tsr_program *p, const ir_value *values, size_t count, uint32_t *out)
{
    TSR_TRY(ir_array_reserve(p->ctx, &p->values, sizeof *values, count));
    *out = p->values.count;
    memcpy(record_of_value(p, *out), values, count * sizeof *values);
    p->values.count += (uint32_t)count;
    return TSR_OK;
}

tsr_status program_new_block(tsr_program *p, const ir_block *block, uint32_t *out)
{
    TSR_TRY(ir_array_reserve(p->ctx, &p->blocks, sizeof *block, 1));
    *out = p->blocks.count++;
    *record_of_block(p, *out) = *block;
    return TSR_OK;
}

tsr_status program_new_region(tsr_program *p, uint32_t *out)
{
    TSR_TRY(ir_array_reserve(p->ctx, &p->regions, sizeof(ir_region), 1));
    *out = p->regions.count++;
    *record_of_region(p, *out) = (ir_region){0};
    return TSR_OK;
}

tsr_status program_new_list(tsr_program *p, const uint32_t *numbers, size_t count, uint32_t *out)
{
    if (count == 0) {
        *out = 0;
        return TSR_OK;
    }
    TSR_TRY(ir_array_reserve(p->ctx, &p->pool, sizeof *numbers, count));
    *out = p->pool.count;
    memcpy(record_of_list(p, *out), numbers, count * sizeof *numbers);
    p->pool.count += (uint32_t)count;
    return TSR_OK;
}

void record_append_op(tsr_program *p, uint32_t block, uint32_t op)
{
    ir_block *b = record_of_block(p, block);
    ir_op *o = record_of_op(p, op);
    o->block = block;
    o->prev = b->last_op;
    o->next = 0;
    if (b->last_op != 0) {
        record_of_op(p, b->last_op)->next = op;
    } else {
        b->first_op = op;
    }
    b->last_op = op;
}

void record_append_block(tsr_program *p, uint32_t region, uint32_t block)
{
    ir_region *r = record_of_region(p, region);
    ir_block *b = record_of_block(p, block);
    b->region = region;
    b->prev = r->last_block;
    b->next = 0;
    if (r->last_block != 0) {
        record_of_block(p, r->last_block)->next = block;
    } else {
        r->first_block = block;
    }
    r->last_block = block;
}

uint32_t block_parent(const tsr_program *p, uint32_t block)
{
    return block == 0 ? 0 : program_region(p, program_block(p, block)->region)->op;
}

uint32_t op_parent(const tsr_program *p, uint32_t op)
{
    return block_parent(p, program_op(p, op)->block);
}

uint32_t enclosing(const tsr_program *p, uint32_t op, op_kind kind)
{
    do {
        op = op_parent(p, op);
    } while (op != 0 && !op_is(p, op, kind));
    return op;
}

location op_location(const tsr_program *p, uint32_t op)
{
    return program_location(p, program_op(p, op)->at);
}

uint32_t op_entry_block(const tsr_program *p, uint32_t op, size_t region)
{
    return region < program_op(p, op)->num_regions
               ? program_region(p, op_region_at(p, op, region))->first_block
               : 0;
}

uint32_t op_property(const tsr_program *p, uint32_t op, const char *name)
{
    return dict_get(p, program_op(p, op)->properties, name);
}

uint32_t op_attribute(const tsr_program *p, uint32_t op, const char *name)
{
    return dict_get(p, program_op(p, op)->attributes, name);
}

/* ---- walking, for users ---- */

uint32_t tsr_program_module(const tsr_program *program)
{
    GUARD(tsr_program_module);
    return program->module;
}

uint32_t tsr_program_symbol(const tsr_program *program, const char *name)
{
    GUARD(tsr_program_symbol);
    for (uint32_t op =
             program_block(program, op_entry_block(program, program->module, 0))->first_op;
         op != 0; op = program_op(program, op)->next) {
        slice symbol;
        if (attr_as_string(program, op_property(program, op, "sym_name"), &symbol) &&
            slice_is(symbol, name)) {
            return op;
        }
    }
    return 0;
}

size_t tsr_program_num_ops(const tsr_program *program)
{
    GUARD(tsr_program_num_ops);
    return program->ops.count - 1;
}

size_t tsr_program_num_values(const tsr_program *program)
{
    GUARD(tsr_program_num_values);
    return program->values.count - 1;
}

/* ---- numbers that callers give: src/base/guard.h ---- */

bool guard_tsr_ir_op(const tsr_program *program, tsr_ir_op op)
{
    return op != 0 && op < program->ops.count;
}

bool guard_tsr_ir_value(const tsr_program *program, tsr_ir_value value)
{
    return value != 0 && value < program->values.count;
}

bool guard_tsr_ir_block(const tsr_program *program, tsr_ir_block block)
{
    return block != 0 && block < program->blocks.count;
}

bool guard_tsr_ir_region(const tsr_program *program, tsr_ir_region region)
{
    return region != 0 && region < program->regions.count;
}

bool guard_tsr_ir_type(const tsr_program *program, tsr_ir_type type)
{
    return type != 0 && type < program->types.count;
}

bool guard_tsr_ir_attr(const tsr_program *program, tsr_ir_attr attr)
{
    return attr != 0 && attr < program->attrs.count;
}

const char *tsr_ir_op_name(const tsr_program *program, tsr_ir_op op)
{
    GUARD(tsr_ir_op_name);
    return op_name(program, op);
}

tsr_status tsr_ir_op_symbol(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                            tsr_ir_op op, const char **out)
{
    GUARD(tsr_ir_op_symbol);
    slice name;
    if (op == 0 || !attr_as_string(program, op_property(program, op, "sym_name"), &name)) {
        *out = NULL;
        return TSR_OK;
    }
    const char *copy = arena_string(arena, name.data, name.size);
    if (copy == NULL) {
        return diag_nomem(ctx);
    }
    *out = copy;
    return TSR_OK;
}

size_t tsr_ir_op_num_operands(const tsr_program *program, tsr_ir_op op)
{
    GUARD(tsr_ir_op_num_operands);
    return program_op(program, op)->num_operands;
}

tsr_ir_value tsr_ir_op_operand(const tsr_program *program, tsr_ir_op op, size_t i)
{
    GUARD(tsr_ir_op_operand);
    return i < program_op(program, op)->num_operands ? op_operand(program, op, i) : 0;
}

size_t tsr_ir_op_num_results(const tsr_program *program, tsr_ir_op op)
{
    GUARD(tsr_ir_op_num_results);
    return program_op(program, op)->num_results;
}

tsr_ir_value tsr_ir_op_result(const tsr_program *program, tsr_ir_op op, size_t i)
{
    GUARD(tsr_ir_op_result);
    const ir_op *of = program_op(program, op);
    return i < of->num_results ? of->results + (uint32_t)i : 0;
}

size_t tsr_ir_op_num_regions(const tsr_program *program, tsr_ir_op op)
{
    GUARD(tsr_ir_op_num_regions);
    return program_op(program, op)->num_regions;
}

tsr_ir_region tsr_ir_op_region(const tsr_program *program, tsr_ir_op op, size_t i)
{
    GUARD(tsr_ir_op_region);
    return i < program_op(program, op)->num_regions ? op_region_at(program, op, i) : 0;
}

tsr_ir_block tsr_ir_op_block(const tsr_program *program, tsr_ir_op op)
{
    GUARD(tsr_ir_op_block);
    return program_op(program, op)->block;
}

tsr_ir_op tsr_ir_op_next(const tsr_program *program, tsr_ir_op op)
{
    GUARD(tsr_ir_op_next);
    return program_op(program, op)->next;
}

tsr_ir_attr tsr_ir_op_attribute(const tsr_program *program, tsr_ir_op op, const char *name)
{
    GUARD(tsr_ir_op_attribute);
    const uint32_t property = op_property(program, op, name);
    return property != 0 ? property : op_attribute(program, op, name);
}

tsr_status program_find_lines(tsr_program *p)
{
    const tsr_status status =
        p->lines.count == 0 ? find_lines(p->ctx, &p->text, &p->lines) : TSR_OK;
    if (status < 0) {
        p->lines.count = 0;
    }
    return status;
}

/* The lines are found when they are asked for first; without memory there are none. */
static const ir_array *program_lines(const tsr_program *p)
{
    tsr_program *cached = (tsr_program *)(uintptr_t)p;
    (void)program_find_lines(cached);
    return &cached->lines;
}

bool tsr_ir_op_position(const tsr_program *program, tsr_ir_op op, int64_t *line, int64_t *column)
{
    GUARD(tsr_ir_op_position);
    const location where = op_location(program, op);
    const ir_array *lines = where.text != NULL ? program_lines(program) : NULL;
    if (lines == NULL || lines->count == 0) {
        return false;
    }
    const text_position position = position_of(lines, (uint32_t)where.at);
    if (line != NULL) {
        *line = position.line;
    }
    if (column != NULL) {
        *column = position.column;
    }
    return true;
}

tsr_ir_block tsr_ir_region_first_block(const tsr_program *program, tsr_ir_region region)
{
    GUARD(tsr_ir_region_first_block);
    return program_region(program, region)->first_block;
}

tsr_ir_op tsr_ir_region_parent(const tsr_program *program, tsr_ir_region region)
{
    GUARD(tsr_ir_region_parent);
    return program_region(program, region)->op;
}

tsr_ir_block tsr_ir_block_next(const tsr_program *program, tsr_ir_block block)
{
    GUARD(tsr_ir_block_next);
    return program_block(program, block)->next;
}

tsr_ir_region tsr_ir_block_parent(const tsr_program *program, tsr_ir_block block)
{
    GUARD(tsr_ir_block_parent);
    return program_block(program, block)->region;
}

tsr_ir_op tsr_ir_block_first_op(const tsr_program *program, tsr_ir_block block)
{
    GUARD(tsr_ir_block_first_op);
    return program_block(program, block)->first_op;
}

tsr_ir_op tsr_ir_block_last_op(const tsr_program *program, tsr_ir_block block)
{
    GUARD(tsr_ir_block_last_op);
    return program_block(program, block)->last_op;
}

size_t tsr_ir_block_num_arguments(const tsr_program *program, tsr_ir_block block)
{
    GUARD(tsr_ir_block_num_arguments);
    return program_block(program, block)->num_arguments;
}

tsr_ir_value tsr_ir_block_argument(const tsr_program *program, tsr_ir_block block, size_t i)
{
    GUARD(tsr_ir_block_argument);
    const ir_block *of = program_block(program, block);
    return i < of->num_arguments ? program_pool(program, of->arguments)[i] : 0;
}

tsr_ir_type tsr_ir_value_type(const tsr_program *program, tsr_ir_value value)
{
    GUARD(tsr_ir_value_type);
    return value_type(program, value);
}

tsr_ir_op tsr_ir_value_op(const tsr_program *program, tsr_ir_value value)
{
    GUARD(tsr_ir_value_op);
    const uint32_t owner = program_value(program, value)->owner;
    return (owner & IR_IS_ARGUMENT) != 0 ? 0 : owner;
}

tsr_ir_block tsr_ir_value_block(const tsr_program *program, tsr_ir_value value)
{
    GUARD(tsr_ir_value_block);
    const uint32_t owner = program_value(program, value)->owner;
    return (owner & IR_IS_ARGUMENT) != 0 ? owner & ~IR_IS_ARGUMENT : 0;
}

size_t tsr_ir_value_index(const tsr_program *program, tsr_ir_value value)
{
    GUARD(tsr_ir_value_index);
    return program_value(program, value)->index;
}

bool tsr_ir_type_shape(const tsr_program *program, tsr_ir_type type, size_t *rank,
                       const int64_t **shape)
{
    GUARD(tsr_ir_type_shape);
    const type_head *head = program_type(program, type);
    if (head->kind != TYPE_TENSOR) {
        return false;
    }
    *rank = head->count;
    *shape = type_extents(head);
    return true;
}

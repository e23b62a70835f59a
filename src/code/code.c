#include "code/code.h"

#include <string.h>

#include "base/arena.h"
#include "code/quantization.h"
#include "ir/row.h"

/* Calls inside of each other. */
enum { MAX_CALLS = 500 };

/* ---- types ---- */

int64_t code_packed(tsr_dtype dtype, size_t rank, const int64_t *shape, int64_t *strides)
{
    int64_t bytes = tsr_dtype_item_bytes(dtype);
    bool empty = false;
    bool fits = true;
    for (size_t d = rank; d-- > 0;) {
        strides[d] = fits ? bytes : 0;
        empty = empty || shape[d] == 0;
        fits = fits && shape[d] >= 0 && (shape[d] == 0 || checked_mul(bytes, shape[d], &bytes));
    }
    return empty ? 0 : fits ? bytes : -1;
}

tsr_status code_make_type(program_code *code, tsr_dtype dtype, size_t rank, const int64_t *shape,
                          const code_type **out)
{
    code_type *type = ARENA_NEW(code->arena, code_type);
    int64_t *lists = ARENA_ARRAY(code->arena, int64_t, 2 * rank + 1);
    if (type == NULL || lists == NULL) {
        return diag_nomem(code->ctx);
    }
    *type = (code_type){.kind = CODE_TENSOR, .tensor = {dtype, rank, lists}, .bytes = -1};
    for (size_t d = 0; d < rank; d++) {
        lists[d] = shape[d];
    }
    if (!op_has_unknown(&type->tensor)) {
        type->bytes = code_packed(dtype, rank, shape, lists + rank);
        type->strides = lists + rank;
        if (type->bytes < 0) {
            return diag_error(code->ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "the size of %s in bytes exceeds 2^63-1",
                              op_type_text(&type->tensor).text);
        }
    }
    *out = type;
    return TSR_OK;
}

static tsr_status make_other_type(program_code *code, code_value_kind kind, const code_type **out)
{
    code_type *type = ARENA_NEW(code->arena, code_type);
    if (type == NULL) {
        return diag_nomem(code->ctx);
    }
    *type = (code_type){.kind = kind};
    *out = type;
    return TSR_OK;
}

static tsr_status type_unsupported(program_code *code, uint32_t type)
{
    const char *text = NULL;
    TSR_TRY(tsr_ir_type_to_text(code->ctx, code->arena, code->program, type, &text));
    return diag_error(code->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "values of type %s are not supported", text);
}

/* Quantized tensors are kept as what stores them. */
static tsr_status make_quantized(program_code *code, uint32_t type, const code_type **out)
{
    const type_head *head = program_type(code->program, type);
    const struct code_quantization *q = NULL;
    const tsr_status status = quantization_read(code, head->element, &q);
    if (status != TSR_OK || head->count > OP_MAX_RANK) {
        return status < 0 ? status : type_unsupported(code, type);
    }
    TSR_TRY(code_make_type(code, q->storage, head->count, type_extents(head), out));
    ((code_type *)without_const(*out))->quantization = q;
    return TSR_OK;
}

static tsr_status make_type(program_code *code, uint32_t type, const code_type **out)
{
    const type_head *head = program_type(code->program, type);
    op_type tensor;
    if (head->kind == TYPE_TOKEN) {
        return make_other_type(code, CODE_TOKEN, out);
    }
    if (head->kind == TYPE_TUPLE || head->kind == TYPE_FUTURE) {
        return make_other_type(code, CODE_TUPLE, out);
    }
    if (head->kind == TYPE_TENSOR && quantization_is_of(code->program, head->element)) {
        return make_quantized(code, type, out);
    }
    if (!ir_type_of_tensor(code->program, type, &tensor)) {
        return type_unsupported(code, type);
    }
    return code_make_type(code, tensor.dtype, tensor.rank, tensor.shape, out);
}

tsr_status code_type_of(program_code *code, uint32_t type, const code_type **out)
{
    if (code->types[type] == NULL) {
        TSR_TRY(make_type(code, type, &code->types[type]));
        ((code_type *)without_const(code->types[type]))->type = type;
    }
    *out = code->types[type];
    return TSR_OK;
}

bool code_is_static(const code_step *step)
{
    for (size_t i = 0; i < step->num_operands + step->num_results; i++) {
        if (step->types[i]->kind != CODE_TENSOR || step->types[i]->strides == NULL) {
            return false;
        }
    }
    return true;
}

/* ---- messages ---- */

tsr_status code_refuse_bytes(tsr_context *ctx, int64_t bytes, int64_t live, int64_t most)
{
    return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                      "cannot allocate an array of %lld bytes: %lld bytes are in use and the limit "
                      "is %lld; raise the limit",
                      (long long)bytes, (long long)live, (long long)most);
}

tsr_status code_refuse_types(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                             const char *why)
{
    const ir_op *record = program_op(p, op);
    buffer text = buffer_new(arena);
    const char *finished = NULL;
    const char *one = NULL;
    for (uint32_t i = 0; i < record->num_operands + record->num_results; i++) {
        const uint32_t value = i < record->num_operands
                                   ? op_operand(p, op, i)
                                   : record->results + i - record->num_operands;
        TSR_TRY(tsr_ir_type_to_text(ctx, arena, p, value_type(p, value), &one));
        buffer_string(&text, i == record->num_operands ? " -> " : i > 0 ? ", " : "");
        buffer_string(&text, one);
    }
    TSR_TRY(buffer_finish(ctx, &text, &finished));
    return diag_error(ctx, TSR_ERR_UNSUPPORTED, op_location(p, op),
                      "%s is not supported here%s%s: %s", op_name(p, op), why[0] != '\0' ? " " : "",
                      why, finished);
}

tsr_status code_unsupported(const program_code *code, uint32_t op, const char *why)
{
    return code_refuse_types(code->ctx, code->arena, code->program, op, why);
}

/* ---- last uses ---- */

/* The block that defines a value. */
static uint32_t defining_block(const tsr_program *p, uint32_t value)
{
    const uint32_t owner = program_value(p, value)->owner;
    return (owner & IR_IS_ARGUMENT) != 0 ? owner & ~IR_IS_ARGUMENT : program_op(p, owner)->block;
}

/* Notes that an op uses a value; where a region does, it is the op around it in the value's block.
 */
static void note_use(code_decoder *d, uint32_t op, uint32_t value)
{
    const tsr_program *p = d->code->program;
    const uint32_t block = defining_block(p, value);
    uint32_t user = op;
    while (user != 0 && program_op(p, user)->block != block) {
        user = op_parent(p, user);
    }
    d->code->captured[value] |= user != op;
    d->code->last_users[value] = user;
}

static void note_uses(code_decoder *d, uint32_t block);

static void note_uses_of(code_decoder *d, uint32_t op)
{
    const tsr_program *p = d->code->program;
    const ir_op *record = program_op(p, op);
    for (uint32_t i = 0; i < record->num_operands; i++) {
        note_use(d, op, op_operand(p, op, i));
    }
    for (uint32_t i = 0; i < record->num_regions; i++) {
        for (uint32_t b = program_region(p, op_region_at(p, op, i))->first_block; b != 0;
             b = program_block(p, b)->next) {
            note_uses(d, b);
        }
    }
}

static void note_uses(code_decoder *d, uint32_t block)
{
    const tsr_program *p = d->code->program;
    for (uint32_t op = program_block(p, block)->first_op; op != 0; op = program_op(p, op)->next) {
        note_uses_of(d, op);
    }
}

/* Puts a value into the list of the op that drops it: what uses it last, else what defines it. */
static bool list_value(code_decoder *d, uint32_t value, uint32_t defined_by)
{
    const uint32_t op = d->code->last_users[value] != 0 ? d->code->last_users[value] : defined_by;
    if (op == 0) {
        return false;
    }
    d->code->next_of[value] = d->code->first_of[op];
    d->code->first_of[op] = value;
    return true;
}

static tsr_status released_by(code_decoder *d, uint32_t op, code_step *step)
{
    uint32_t count = 0;
    for (uint32_t v = d->code->first_of[op]; v != 0; v = d->code->next_of[v]) {
        count++;
    }
    uint32_t *slots = ARENA_ARRAY(d->code->arena, uint32_t, count);
    if (slots == NULL) {
        return diag_nomem(d->code->ctx);
    }
    uint32_t late = count;
    for (uint32_t v = d->code->first_of[op]; v != 0; v = d->code->next_of[v]) {
        const bool early = !d->code->captured[v] && program_value(d->code->program, v)->owner != op;
        slots[early ? step->num_early++ : --late] = d->code->slots[v];
    }
    step->num_released = count;
    step->released = slots;
    return TSR_OK;
}

/* ---- blocks ---- */

static tsr_status decode_block(code_decoder *d, uint32_t number, const code_block **out);

static void new_slot(code_decoder *d, uint32_t value)
{
    d->code->slots[value] = d->function->num_slots++;
}

static tsr_status list_slots(code_decoder *d, uint32_t op, code_step *step)
{
    const tsr_program *p = d->code->program;
    const ir_op *record = program_op(p, op);
    const uint32_t count = record->num_operands + record->num_results;
    uint32_t *slots = ARENA_ARRAY(d->code->arena, uint32_t, count);
    const code_type **types = ARENA_ARRAY(d->code->arena, const code_type *, count);
    if (slots == NULL || types == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = i < record->num_operands
                                   ? op_operand(p, op, i)
                                   : record->results + i - record->num_operands;
        if (i >= record->num_operands) {
            new_slot(d, value);
            (void)list_value(d, value, op);
        }
        slots[i] = d->code->slots[value];
        TSR_TRY(code_type_of(d->code, value_type(p, value), &types[i]));
    }
    *step = (code_step){.op = op,
                        .num_operands = record->num_operands,
                        .num_results = record->num_results,
                        .operands = slots,
                        .results = slots + record->num_operands,
                        .types = types};
    return TSR_OK;
}

/* The blocks of the regions of an op, one each. */
static tsr_status decode_regions(code_decoder *d, code_step *step)
{
    const tsr_program *p = d->code->program;
    const uint32_t count = program_op(p, step->op)->num_regions;
    const code_block **blocks = ARENA_ARRAY(d->code->arena, const code_block *, count);
    if (blocks == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t block = op_entry_block(p, step->op, i);
        if (block == 0 || program_block(p, block)->next != 0) {
            return code_unsupported(d->code, step->op, "with a region that is not one block");
        }
        TSR_TRY(decode_block(d, block, &blocks[i]));
    }
    step->blocks = blocks;
    return TSR_OK;
}

static const code_op *find_op(const code_table *table, op_kind kind)
{
    for (size_t i = 0; i < table->num_ops; i++) {
        if (table->ops[i][kind].prepare != NULL) {
            return &table->ops[i][kind];
        }
    }
    return NULL;
}

static tsr_status decode_op(code_decoder *d, uint32_t op, code_step *step)
{
    const code_op *row = find_op(d->code->table, op_kind_of(d->code->program, op));
    const uint32_t device_op = d->function->device_op;
    TSR_TRY(list_slots(d, op, step));
    TSR_TRY(released_by(d, op, step));
    TSR_TRY(decode_regions(d, step));
    tsr_status status = row != NULL ? row->prepare(d, step) : d->code->table->prepare_row(d, step);
    if (status == TSR_OK && row != NULL && row->next != NULL) {
        status = row->next(d, step, step + 1);
    }
    if (step->devices == CODE_MAKES_DEVICES) {
        d->function->device_op = device_op;
    } else if (step->devices == CODE_NEEDS_DEVICES && d->function->device_op == 0) {
        d->function->device_op = op;
    }
    return status == TSR_NOT_APPLICABLE ? code_unsupported(d->code, op, "") : status;
}

static tsr_status decode_arguments(code_decoder *d, const ir_block *record, code_block *block)
{
    const tsr_program *p = d->code->program;
    const uint32_t count = record->num_arguments;
    uint32_t *slots = ARENA_ARRAY(d->code->arena, uint32_t, 2 * (size_t)count);
    const code_type **types = ARENA_ARRAY(d->code->arena, const code_type *, count);
    if (slots == NULL || types == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t value = program_pool(p, record->arguments)[i];
        new_slot(d, value);
        slots[i] = d->code->slots[value];
        TSR_TRY(code_type_of(d->code, value_type(p, value), &types[i]));
        if (!list_value(d, value, 0)) {
            slots[count + block->num_unused++] = slots[i];
        }
    }
    block->num_arguments = count;
    block->arguments = slots;
    block->unused = slots + count;
    block->argument_types = types;
    return TSR_OK;
}

static size_t num_steps_of(const program_code *code, uint32_t op)
{
    const code_op *row = find_op(code->table, op_kind_of(code->program, op));
    return row != NULL && row->next != NULL ? 2 : 1;
}

static tsr_status decode_steps(code_decoder *d, const ir_block *record, code_block *block)
{
    const tsr_program *p = d->code->program;
    const ir_row *last = record->last_op != 0 ? program_row(p, record->last_op) : NULL;
    if (last == NULL || (last->traits & IR_TERMINATOR) == 0) {
        return diag_error(d->code->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a block without a terminator is not supported");
    }
    size_t count = 0;
    for (uint32_t op = record->first_op; op != record->last_op; op = program_op(p, op)->next) {
        count += num_steps_of(d->code, op);
    }
    block->num_steps = count;
    block->steps = ARENA_ARRAY(d->code->arena, code_step, count);
    if (block->steps == NULL) {
        return diag_nomem(d->code->ctx);
    }
    code_step *step = block->steps;
    for (uint32_t op = record->first_op; op != record->last_op; op = program_op(p, op)->next) {
        TSR_TRY(decode_op(d, op, step));
        step += num_steps_of(d->code, op);
    }
    TSR_TRY(list_slots(d, record->last_op, &block->end));
    return released_by(d, record->last_op, &block->end);
}

static tsr_status decode_block(code_decoder *d, uint32_t number, const code_block **out)
{
    const ir_block *record = program_block(d->code->program, number);
    code_block *block = ARENA_NEW(d->code->arena, code_block);
    if (block == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *block = (code_block){0};
    TSR_TRY(decode_arguments(d, record, block));
    TSR_TRY(decode_steps(d, record, block));
    *out = block;
    return TSR_OK;
}

/* ---- functions ---- */

static tsr_status decode_function(program_code *code, code_function *f, size_t depth)
{
    const tsr_program *p = code->program;
    code_decoder d = {.code = code, .function = f, .depth = depth};
    const uint32_t block = op_entry_block(p, f->op, 0);
    if (block == 0 || program_block(p, block)->next != 0) {
        return CODE_ERROR(code->ctx, code, f->op, TSR_ERR_UNSUPPORTED, "%s",
                          block == 0 ? "a function without a body is not supported"
                                     : "a function of several blocks is not supported");
    }
    note_uses(&d, block);
    return decode_block(&d, block, &f->body);
}

tsr_status code_function_of(program_code *code, uint32_t op, size_t depth,
                            const code_function **out)
{
    code_function *f = code->functions[op];
    if (f != NULL && f->is_open) {
        return CODE_ERROR(code->ctx, code, op, TSR_ERR_UNSUPPORTED, "%s",
                          "a function that calls itself is not supported");
    }
    if (depth > MAX_CALLS) {
        return CODE_ERROR(code->ctx, code, op, TSR_ERR_LIMIT, "more than %d nested calls",
                          MAX_CALLS);
    }
    if (f == NULL) {
        f = ARENA_NEW(code->arena, code_function);
        if (f == NULL) {
            return diag_nomem(code->ctx);
        }
        *f = (code_function){.op = op, .is_open = true};
        code->functions[op] = f;
        const tsr_status status = decode_function(code, f, depth);
        f->is_open = false;
        if (status != TSR_OK) {
            code->functions[op] = NULL;
            return status;
        }
    }
    *out = f;
    return TSR_OK;
}

tsr_status code_find_function(code_decoder *d, uint32_t op, uint32_t symbol,
                              const code_function **out)
{
    const tsr_program *p = d->code->program;
    slice name;
    char text[256];
    if (!attr_as_symbol(p, symbol, &name) || name.size >= sizeof text) {
        return CODE_ERROR(d->code->ctx, d->code, op, TSR_ERR_UNSUPPORTED, "%s",
                          "it does not name a function");
    }
    memcpy(text, name.data, name.size);
    text[name.size] = '\0';
    const uint32_t f = tsr_program_symbol(p, text);
    if (f == 0 || !op_is(p, f, OP_FUNC_FUNC)) {
        return CODE_ERROR(d->code->ctx, d->code, op, TSR_ERR_INVALID, "unknown function @%s", text);
    }
    TSR_TRY(code_function_of(d->code, f, d->depth + 1, out));
    if (d->function->device_op == 0) {
        d->function->device_op = (*out)->device_op;
    }
    return TSR_OK;
}

/* ---- the whole ---- */

tsr_status code_elements(program_code *code, const code_type *type, void **out)
{
    if (code->max_bytes > 0 && type->bytes > code->max_bytes - code->constant_bytes) {
        return code_refuse_bytes(code->ctx, type->bytes, code->constant_bytes, code->max_bytes);
    }
    code->constant_bytes += type->bytes;
    void *elements = tsr_arena_alloc(code->arena, (size_t)type->bytes);
    if (elements == NULL) {
        return diag_nomem(code->ctx);
    }
    *out = elements;
    return TSR_OK;
}

/* A list of zeros, by op or by value. */
static void *new_table(program_code *code, size_t count, size_t size)
{
    void *table = arena_array(code->arena, count, size);
    if (table != NULL) {
        memset(table, 0, count * size);
    }
    return table;
}

tsr_status code_create(tsr_context *ctx, const tsr_program *program, const code_table *table,
                       int64_t max_bytes, program_code **out)
{
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(ctx, &arena));
    program_code *code = ARENA_NEW(arena, program_code);
    if (code == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(ctx);
    }
    *code = (program_code){
        .ctx = ctx, .arena = arena, .program = program, .table = table, .max_bytes = max_bytes};
    code->types = new_table(code, program->types.count, sizeof *code->types);
    code->functions = new_table(code, program->ops.count, sizeof *code->functions);
    code->slots = new_table(code, program->values.count, sizeof *code->slots);
    code->last_users = new_table(code, program->values.count, sizeof(uint32_t));
    code->first_of = new_table(code, program->ops.count, sizeof(uint32_t));
    code->next_of = new_table(code, program->values.count, sizeof(uint32_t));
    code->captured = new_table(code, program->values.count, 1);
    if (code->types == NULL || code->functions == NULL || code->slots == NULL ||
        code->last_users == NULL || code->first_of == NULL || code->next_of == NULL ||
        code->captured == NULL) {
        tsr_arena_destroy(arena);
        return diag_nomem(ctx);
    }
    *out = code;
    return TSR_OK;
}

void code_destroy(program_code *code)
{
    if (code == NULL) {
        return;
    }
    tsr_arena_destroy(code->arena);
}

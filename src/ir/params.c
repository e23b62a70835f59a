#include "ir/params.h"

#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "ir/message.h"
#include "ir/row.h"
#include "number/float_format.h"
#include "ops/op_chlo.h"
#include "ops/op_sort.h"

/* ---- types ---- */

static const struct {
    unsigned width;
    tsr_dtype signless;
    tsr_dtype without_sign;
} integers[] = {{1, TSR_I1, TSR_I1},   {2, TSR_I2, TSR_U2},    {4, TSR_I4, TSR_U4},
                {8, TSR_I8, TSR_U8},   {16, TSR_I16, TSR_U16}, {32, TSR_I32, TSR_U32},
                {64, TSR_I64, TSR_U64}};

static const tsr_dtype floats[FLOAT_FORMAT_COUNT] = {
    [FLOAT_F4E2M1FN] = TSR_F4E2M1FN,
    [FLOAT_F6E2M3FN] = TSR_F6E2M3FN,
    [FLOAT_F6E3M2FN] = TSR_F6E3M2FN,
    [FLOAT_F8E3M4] = TSR_F8E3M4,
    [FLOAT_F8E4M3] = TSR_F8E4M3,
    [FLOAT_F8E4M3FN] = TSR_F8E4M3FN,
    [FLOAT_F8E4M3FNUZ] = TSR_F8E4M3FNUZ,
    [FLOAT_F8E4M3B11FNUZ] = TSR_F8E4M3B11FNUZ,
    [FLOAT_F8E5M2] = TSR_F8E5M2,
    [FLOAT_F8E5M2FNUZ] = TSR_F8E5M2FNUZ,
    [FLOAT_F8E8M0FNU] = TSR_F8E8M0FNU,
    [FLOAT_F16] = TSR_F16,
    [FLOAT_BF16] = TSR_BF16,
    [FLOAT_F32] = TSR_F32,
    [FLOAT_F64] = TSR_F64,
};

static bool integer_dtype(const type_head *type, tsr_dtype *out)
{
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        if (integers[i].width == type->width && type->sign != SIGNED) {
            *out = type->sign == UNSIGNED ? integers[i].without_sign : integers[i].signless;
            return true;
        }
    }
    return false;
}

static bool float_dtype(const type_head *type, tsr_dtype *out)
{
    *out = floats[type->width];
    return type->width != FLOAT_TF32;
}

bool ir_element_dtype(const tsr_program *p, uint32_t element, tsr_dtype *out)
{
    const type_head *type = program_type(p, element);
    switch (type->kind) {
    case TYPE_INTEGER:
        return integer_dtype(type, out);
    case TYPE_FLOAT:
        return float_dtype(type, out);
    case TYPE_COMPLEX: {
        const type_head *part = program_type(p, type->element);
        *out = part->width == FLOAT_F64 ? TSR_C128 : TSR_C64;
        return part->kind == TYPE_FLOAT && (part->width == FLOAT_F32 || part->width == FLOAT_F64);
    }
    default:
        return false;
    }
}

bool tsr_ir_type_dtype(const tsr_program *program, tsr_ir_type type, tsr_dtype *out)
{
    GUARD(tsr_ir_type_dtype);
    const type_head *head = program_type(program, type);
    return head->kind == TYPE_TENSOR && ir_element_dtype(program, head->element, out);
}

bool ir_type_of_tensor(const tsr_program *p, uint32_t type, op_type *out)
{
    const type_head *head = program_type(p, type);
    if (type == 0 || head->kind != TYPE_TENSOR || head->count > OP_MAX_RANK ||
        !ir_element_dtype(p, head->element, &out->dtype)) {
        return false;
    }
    out->rank = head->count;
    out->shape = type_extents(head);
    return true;
}

static tsr_status element_of_dtype(tsr_program *p, tsr_dtype dtype, uint32_t *out)
{
    if (dtype == TSR_C64 || dtype == TSR_C128) {
        TSR_TRY(type_float(p, dtype == TSR_C64 ? FLOAT_F32 : FLOAT_F64, out));
        return type_complex(p, *out, out);
    }
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        if (dtype == integers[i].signless || dtype == integers[i].without_sign) {
            const int sign = dtype == integers[i].signless ? SIGNLESS : UNSIGNED;
            return type_integer(p, integers[i].width, sign, out);
        }
    }
    int format = 0;
    while (format + 1 < FLOAT_FORMAT_COUNT && (format == FLOAT_TF32 || floats[format] != dtype)) {
        format++;
    }
    return type_float(p, format, out);
}

tsr_status ir_type_from_op(tsr_program *p, const op_type *type, uint32_t *out)
{
    uint32_t element = 0;
    TSR_TRY(element_of_dtype(p, type->dtype, &element));
    return type_tensor(p, type->shape, type->rank, element, 0, out);
}

/* ---- regions ---- */

/* Ops that a region may consist of, on its two arguments in order. */
typedef struct combiner_row {
    bool is_known;
    op_body body;
} combiner_row;

static const combiner_row combiners[OP_KIND_COUNT] = {
    [OP_STABLEHLO_ADD] = {true, OP_BODY_SUM},     [OP_STABLEHLO_MULTIPLY] = {true, OP_BODY_PROD},
    [OP_STABLEHLO_MAXIMUM] = {true, OP_BODY_MAX}, [OP_STABLEHLO_MINIMUM] = {true, OP_BODY_MIN},
    [OP_STABLEHLO_AND] = {true, OP_BODY_AND},     [OP_STABLEHLO_OR] = {true, OP_BODY_OR},
};

static const struct {
    const char *name;
    op_body body;
} comparators[] = {{"LT", OP_BODY_LESS},
                   {"GT", OP_BODY_GREATER},
                   {"LE", OP_BODY_LESS_EQUAL},
                   {"GE", OP_BODY_GREATER_EQUAL}};

static op_body comparator(const tsr_program *p, uint32_t op)
{
    const uint32_t direction = op_property(p, op, "comparison_direction");
    if (!op_is(p, op, OP_STABLEHLO_COMPARE) || !attr_is(p, direction, ATTR_ENUM)) {
        return OP_BODY_OPAQUE;
    }
    const char *name = ir_enums[ENUM_COMPARISON_DIRECTION].values[program_attr(p, direction)->bits];
    for (size_t i = 0; i < sizeof comparators / sizeof comparators[0]; i++) {
        if (strcmp(name, comparators[i].name) == 0) {
            return comparators[i].body;
        }
    }
    return OP_BODY_OPAQUE;
}

op_body ir_region_body(const tsr_program *p, uint32_t region)
{
    const uint32_t block = program_region(p, region)->first_block;
    const ir_block *b = program_block(p, block);
    if (block == 0 || b->next != 0 || b->num_arguments < 2 || b->last_op == 0 ||
        program_op(p, b->last_op)->num_operands != 1) {
        return OP_BODY_OPAQUE;
    }
    const uint32_t *arguments = program_pool(p, b->arguments);
    const uint32_t returned = op_operand(p, b->last_op, 0);
    if (b->first_op == b->last_op) {
        return returned == arguments[1] && b->num_arguments == 2 ? OP_BODY_SECOND : OP_BODY_OPAQUE;
    }
    const uint32_t op = b->first_op;
    if (program_op(p, op)->next != b->last_op || program_op(p, op)->num_operands != 2 ||
        program_op(p, op)->results != returned || op_operand(p, op, 0) != arguments[0] ||
        op_operand(p, op, 1) != arguments[1]) {
        return OP_BODY_OPAQUE;
    }
    const combiner_row *row = &combiners[op_kind_of(p, op)];
    if (row->is_known) {
        return b->num_arguments == 2 ? row->body : OP_BODY_OPAQUE;
    }
    return comparator(p, op);
}

/* The combiner that defines a value from two others, in either order; OP_BODY_OPAQUE: none. */
static op_body combiner_of(const tsr_program *p, uint32_t value, uint32_t a, uint32_t b)
{
    const uint32_t op = program_value(p, value)->owner;
    if ((op & IR_IS_ARGUMENT) != 0 || program_op(p, op)->num_operands != 2) {
        return OP_BODY_OPAQUE;
    }
    const uint32_t x = op_operand(p, op, 0);
    const uint32_t y = op_operand(p, op, 1);
    const combiner_row *row = &combiners[op_kind_of(p, op)];
    return row->is_known && ((x == a && y == b) || (x == b && y == a)) ? row->body : OP_BODY_OPAQUE;
}

op_body ir_region_combiner(const tsr_program *p, uint32_t region)
{
    const uint32_t block = program_region(p, region)->first_block;
    const ir_block *b = program_block(p, block);
    const uint32_t count = b->num_arguments / 2;
    if (block == 0 || b->next != 0 || b->num_arguments % 2 != 0 || count == 0 || b->last_op == 0 ||
        program_op(p, b->last_op)->num_operands != count) {
        return OP_BODY_OPAQUE;
    }
    const uint32_t *arguments = program_pool(p, b->arguments);
    op_body body = OP_BODY_OPAQUE;
    for (uint32_t i = 0; i < count; i++) {
        const op_body one =
            combiner_of(p, op_operand(p, b->last_op, i), arguments[i], arguments[count + i]);
        if (one == OP_BODY_OPAQUE || (i > 0 && one != body)) {
            return OP_BODY_OPAQUE;
        }
        body = one;
    }
    return body;
}

/* ---- parameters ---- */

/* How an op is looked at: for its rule only shapes count; to run it, its types are the program's
 * and what is left out has its default. */
typedef enum request_kind { REQUEST_EXACT, REQUEST_RULE, REQUEST_RUN } request_kind;

/* An attribute by the name of a parameter: a property, or a field of a struct that is one. */
static uint32_t find_parameter(const tsr_program *p, uint32_t op, const char *name)
{
    const uint32_t dict = program_op(p, op)->properties;
    const uint32_t direct = dict_get(p, dict, name);
    for (size_t i = 0; direct == 0 && i < dict_size(p, dict); i++) {
        const attr_head *attr = program_attr(p, attr_entries(program_attr(p, dict))[i].value);
        if (attr->kind != ATTR_STRUCT) {
            continue;
        }
        const struct_row *row = &ir_structs[attr->row];
        for (uint32_t f = 0; f < attr->count; f++) {
            if (strcmp(row->fields[f].name, name) == 0) {
                return attr_list(attr)[f];
            }
        }
    }
    return direct;
}

/* Numbers of a dense array, or of a constant of i64. */
static tsr_status read_numbers(tsr_context *ctx, tsr_arena *arena, const tsr_program *p,
                               uint32_t attr, op_ints *out)
{
    int64_t count = 0;
    const attr_head *head = program_attr(p, attr);
    if (head->kind == ATTR_DENSE_ARRAY) {
        *out = (op_ints){head->count, attr_numbers(head)};
        return TSR_OK;
    }
    const type_head *type = program_type(p, head->type);
    const type_head *element = program_type(p, type->element);
    if (head->kind != ATTR_ELEMENTS || element->kind != TYPE_INTEGER || element->width != 64 ||
        !type_num_elements(p, head->type, &count) || count > (1 << 16)) {
        return TSR_NOT_APPLICABLE;
    }
    int64_t *values = ARENA_ARRAY(arena, int64_t, (size_t)count + 1);
    if (values == NULL) {
        return diag_nomem(ctx);
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy(&values[i], attr_text(head) + (head->is_splat ? 0 : i * 8), 8);
    }
    *out = (op_ints){(size_t)count, values};
    return TSR_OK;
}

/* The name that an enum or a string is. */
static bool read_name(const tsr_program *p, uint32_t attr, slice *out)
{
    if (!attr_is(p, attr, ATTR_ENUM)) {
        return attr_as_string(p, attr, out);
    }
    const attr_head *head = program_attr(p, attr);
    const char *name = ir_enums[head->row].values[head->bits];
    *out = (slice){name, strlen(name)};
    return true;
}

static tsr_status read_enum(const tsr_program *p, uint32_t attr, const op_field *field,
                            int32_t *out)
{
    slice name;
    if (!read_name(p, attr, &name)) {
        return TSR_NOT_APPLICABLE;
    }
    for (int32_t i = 0; field->names[i] != NULL; i++) {
        if (slice_is(name, field->names[i])) {
            *out = i;
            return TSR_OK;
        }
    }
    return TSR_NOT_APPLICABLE;
}

/* A type as a request has it. */
static bool type_in_request(const tsr_program *p, uint32_t type, request_kind kind, op_type *out)
{
    const type_head *head = program_type(p, type);
    if (kind == REQUEST_RUN && head->kind == TYPE_TENSOR &&
        program_type(p, head->element)->kind == TYPE_QUANT) {
        out->rank = head->count;
        out->shape = type_extents(head);
        return out->rank <= OP_MAX_RANK &&
               ir_element_dtype(p, program_type(p, head->element)->element, &out->dtype);
    }
    if (kind != REQUEST_RULE || ir_type_of_tensor(p, type, out)) {
        return ir_type_of_tensor(p, type, out);
    }
    const bool is_tensor = head->kind == TYPE_TENSOR;
    *out = (op_type){.dtype = TSR_F32,
                     .rank = is_tensor ? head->count : 0,
                     .shape = is_tensor ? type_extents(head) : NULL};
    return out->rank <= OP_MAX_RANK;
}

/* Parameters that no attribute gives: regions, and what the result is. */
static tsr_status read_from_op(const tsr_program *p, uint32_t op, const op_field *field,
                               size_t region_index, request_kind kind, void *out)
{
    op_type result = {0};
    const ir_op *record = program_op(p, op);
    if (field->kind == OP_FIELD_REGION) {
        if (record->num_regions <= region_index) {
            return TSR_NOT_APPLICABLE;
        }
        const uint32_t region = op_region_at(p, op, region_index);
        *(op_region *)out = known_region(kind == REQUEST_RULE ? ir_region_combiner(p, region)
                                                              : ir_region_body(p, region));
        return TSR_OK;
    }
    if (record->num_results == 0 ||
        !type_in_request(p, value_type(p, record->results), kind, &result)) {
        return TSR_NOT_APPLICABLE;
    }
    if (field->kind == OP_FIELD_DTYPE) {
        *(tsr_dtype *)out = result.dtype;
    } else {
        *(op_type *)out = result;
    }
    return TSR_OK;
}

static tsr_status read_field(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                             const op_field *field, size_t region_index, request_kind kind,
                             void *out)
{
    if (field->kind == OP_FIELD_REGION || field->kind == OP_FIELD_DTYPE ||
        field->kind == OP_FIELD_RESULT) {
        return read_from_op(p, op, field, region_index, kind, out);
    }
    const uint32_t attr = find_parameter(p, op, field->name);
    int64_t value = 0;
    if (field->kind == OP_FIELD_BOOL) {
        (void)attr_as_integer(p, attr, &value);
        *(bool *)out = value != 0;
        return TSR_OK;
    }
    if (attr == 0) {
        return kind == REQUEST_EXACT ? TSR_NOT_APPLICABLE : TSR_OK;
    }
    if (field->kind == OP_FIELD_INTS) {
        return read_numbers(ctx, arena, p, attr, out);
    }
    if (field->kind == OP_FIELD_ENUM) {
        return read_enum(p, attr, field, out);
    }
    return attr_as_integer(p, attr, out) ? TSR_OK : TSR_NOT_APPLICABLE;
}

static tsr_status read_params(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                              const op_fields *fields, request_kind kind, const void **out)
{
    *out = NULL;
    if (fields == NULL) {
        return TSR_OK;
    }
    char *params = tsr_arena_alloc(arena, fields->bytes);
    if (params == NULL) {
        return diag_nomem(ctx);
    }
    memset(params, 0, fields->bytes);
    size_t regions = 0;
    for (size_t i = 0; i < fields->count; i++) {
        const op_field *field = &fields->fields[i];
        const tsr_status status =
            read_field(ctx, arena, p, op, field, regions, kind, params + field->offset);
        if (status != TSR_OK) {
            return status;
        }
        regions += field->kind == OP_FIELD_REGION;
    }
    *out = params;
    return TSR_OK;
}

/* ---- requests ---- */

const op_row *ir_op_row(const tsr_program *p, uint32_t op)
{
    return ir_name_of(p, op)->computed;
}

/* Whether a row gives as many results as an op has. */
static bool gives(const op_row *row, const ir_op *record)
{
    return (row->traits & OP_ANY_RESULTS) != 0 ||
           op_num_results(row, record->num_operands) == record->num_results;
}

/* Whether the first result is a tensor: the reference has no rule for ops that give others. */
static bool has_tensor_result(const tsr_program *p, const ir_op *record)
{
    return record->num_results > 0 &&
           program_type(p, value_type(p, record->results))->kind == TYPE_TENSOR;
}

static tsr_status make_request(tsr_context *ctx, tsr_arena *arena, const tsr_program *p,
                               uint32_t op, const op_row *row, request_kind kind, ir_request *out)
{
    const ir_op *record = program_op(p, op);
    if (row == NULL || (kind == REQUEST_EXACT && row->types == NULL) ||
        !op_takes(row, record->num_operands) || !gives(row, record) ||
        (kind == REQUEST_RULE && !has_tensor_result(p, record))) {
        return TSR_NOT_APPLICABLE;
    }
    op_type *types = ARENA_ARRAY(arena, op_type, record->num_operands + record->num_results + 1);
    if (types == NULL) {
        return diag_nomem(ctx);
    }
    for (uint32_t i = 0; i < record->num_operands + record->num_results; i++) {
        const uint32_t value = i < record->num_operands
                                   ? op_operand(p, op, i)
                                   : record->results + i - record->num_operands;
        if (!type_in_request(p, value_type(p, value), kind, &types[i])) {
            return TSR_NOT_APPLICABLE;
        }
    }
    *out = (ir_request){.request = {.ctx = ctx,
                                    .arena = arena,
                                    .call = op_name(p, op),
                                    .row = row,
                                    .num_operands = record->num_operands,
                                    .operands = types,
                                    .num_results = record->num_results,
                                    .mixes_dtypes = true},
                        .results = types + record->num_operands,
                        .num_results = record->num_results};
    return read_params(ctx, arena, p, op, row->fields, kind, &out->request.params);
}

tsr_status ir_request_make(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                           const op_row *row, ir_request *out)
{
    return make_request(ctx, arena, p, op, row, REQUEST_EXACT, out);
}

tsr_status ir_rule_request(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                           const op_row *row, ir_request *out)
{
    return make_request(ctx, arena, p, op, row, REQUEST_RULE, out);
}

tsr_status ir_read_params(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                          const op_row *row, const void **out)
{
    return read_params(ctx, arena, p, op, row->fields, REQUEST_RUN, out);
}

tsr_status ir_run_request(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                          const op_row *row, ir_request *out)
{
    return make_request(ctx, arena, p, op, row, REQUEST_RUN, out);
}

/* What checks of ops share: messages, numbers of attributes, compatible types, regions. */
#include "verify/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "ir/params.h"

/* ---- messages ---- */

tsr_status refuse_inference(const ir_check *k)
{
    return k->inferring ? op_error(k->ctx, k->p, k->op, "failed to infer returned types")
                        : TSR_ERR_INVALID;
}

tsr_status refuse(const ir_check *k, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof text) {
        memcpy(text + sizeof text - 4, "...", 4);
    }
    const tsr_status status = error_at_op(k->ctx, k->p, k->op, "%s", text);
    return status == TSR_ERR_INVALID ? refuse_inference(k) : status;
}

tsr_status refuse_sameness(const ir_check *k, const char *names, const char *what)
{
    return op_error(k->ctx, k->p, k->op, "failed to verify that all of {%s} have same %s", names,
                    what);
}

/* Numbers with commas between; `unknown` stands for those that are, NULL: there are none. */
static list_words join_numbers(const int64_t *values, size_t count, const char *unknown)
{
    list_words out = {.text = ""};
    size_t used = 0;
    for (size_t i = 0; i < count && used + 32 < sizeof out.text; i++) {
        char *to = out.text + used;
        const size_t room = sizeof out.text - used;
        const char *comma = i > 0 ? ", " : "";
        const bool known = unknown == NULL || values[i] != TSR_UNKNOWN;
        used += (size_t)(known ? snprintf(to, room, "%s%lld", comma, (long long)values[i])
                               : snprintf(to, room, "%s%s", comma, unknown));
    }
    return out;
}

list_words words_of(const int64_t *values, size_t count)
{
    return join_numbers(values, count, NULL);
}

list_words words_of_extents(const int64_t *extents, size_t count)
{
    return join_numbers(extents, count, "?");
}

list_words words_of_shape(const type_head *type)
{
    return join_numbers(type_extents(type), type->count, "-9223372036854775808");
}

const char *types_words(const ir_check *k, const uint32_t *types, size_t count)
{
    size_t size = 1;
    for (size_t i = 0; i < count; i++) {
        size += strlen(type_words(k, types[i])) + 4;
    }
    char *text = tsr_arena_alloc(k->p->scratch, size);
    size_t used = 0;
    if (text == NULL) {
        return "?";
    }
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s'%s'", i > 0 ? ", " : "",
                                 type_words(k, types[i]));
    }
    return text;
}

/* ---- attributes ---- */

static bool has_eight_bytes(const tsr_program *p, uint32_t element)
{
    const type_head *type = program_type(p, element);
    return type->kind == TYPE_INDEX || (type->kind == TYPE_INTEGER && type->width == 64);
}

numbers attr_as_numbers(const ir_check *k, uint32_t attr)
{
    int64_t count = 0;
    if (attr == 0) {
        return (numbers){0};
    }
    const attr_head *head = program_attr(k->p, attr);
    if (head->kind == ATTR_DENSE_ARRAY) {
        return (numbers){true, head->count, attr_numbers(head)};
    }
    const type_head *type = program_type(k->p, head->type);
    if (head->kind != ATTR_ELEMENTS || !has_eight_bytes(k->p, type->element) ||
        !type_num_elements(k->p, head->type, &count) || count > (1 << 16)) {
        return (numbers){0};
    }
    int64_t *values = ARENA_ARRAY(k->p->scratch, int64_t, (size_t)count + 1);
    if (values == NULL) {
        check_lacks_memory(k);
        return (numbers){0};
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy(&values[i], attr_text(head) + (head->is_splat ? 0 : i * 8), 8);
    }
    return (numbers){true, (size_t)count, values};
}

numbers op_numbers(const ir_check *k, const char *name)
{
    return attr_as_numbers(k, op_property(k->p, k->op, name));
}

uint32_t op_field_attr(const ir_check *k, const char *property, const char *field)
{
    const uint32_t attr = op_property(k->p, k->op, property);
    if (!attr_is(k->p, attr, ATTR_STRUCT)) {
        return 0;
    }
    const attr_head *head = program_attr(k->p, attr);
    for (uint32_t i = 0; i < head->count; i++) {
        if (strcmp(ir_structs[head->row].fields[i].name, field) == 0) {
            return attr_list(head)[i];
        }
    }
    return 0;
}

int64_t op_integer(const ir_check *k, const char *name, int64_t otherwise)
{
    int64_t value = otherwise;
    return attr_as_integer(k->p, op_property(k->p, k->op, name), &value) ? value : otherwise;
}

bool op_bool(const ir_check *k, const char *name)
{
    return op_integer(k, name, 0) != 0;
}

const char *op_enum(const ir_check *k, const char *name)
{
    const uint32_t attr = op_property(k->p, k->op, name);
    if (!attr_is(k->p, attr, ATTR_ENUM)) {
        return "";
    }
    const attr_head *head = program_attr(k->p, attr);
    return ir_enums[head->row].values[head->bits];
}

/* ---- types ---- */

const int64_t *type_bounds(const tsr_program *p, const type_head *type)
{
    if (type->kind != TYPE_TENSOR || !attr_is(p, type->encoding, ATTR_STRUCT) ||
        program_attr(p, type->encoding)->row != STRUCT_BOUNDS) {
        return NULL;
    }
    const attr_head *list = program_attr(p, attr_list(program_attr(p, type->encoding))[0]);
    return list->count == type->count ? attr_numbers(list) : NULL;
}

bool elements_compatible(const tsr_program *p, uint32_t a, uint32_t b)
{
    const uint32_t x = type_element(p, a);
    const uint32_t y = type_element(p, b);
    return x == y || type_is(p, x, TYPE_QUANT) || type_is(p, y, TYPE_QUANT);
}

/* A known extent and an unknown one agree within the bound of that. */
static bool within(int64_t known, const int64_t *bounds, uint32_t i)
{
    return bounds == NULL || bounds[i] == TSR_UNKNOWN || known <= bounds[i];
}

bool shapes_compatible(const tsr_program *p, uint32_t a, uint32_t b)
{
    const type_head *x = program_type(p, a);
    const type_head *y = program_type(p, b);
    if (x->kind == TYPE_UNRANKED || y->kind == TYPE_UNRANKED) {
        return true;
    }
    if (x->kind != TYPE_TENSOR || y->kind != TYPE_TENSOR || x->count != y->count) {
        return false;
    }
    const int64_t *bound_x = type_bounds(p, x);
    const int64_t *bound_y = type_bounds(p, y);
    for (uint32_t i = 0; i < x->count; i++) {
        const int64_t m = type_extents(x)[i];
        const int64_t n = type_extents(y)[i];
        const bool fits = m == n || (m == TSR_UNKNOWN && within(n, bound_x, i)) ||
                          (n == TSR_UNKNOWN && within(m, bound_y, i));
        if (!fits) {
            return false;
        }
    }
    return true;
}

bool types_compatible(const tsr_program *p, uint32_t a, uint32_t b)
{
    const type_head *x = program_type(p, a);
    const type_head *y = program_type(p, b);
    if (a == b) {
        return true;
    }
    if (x->kind == TYPE_TUPLE && y->kind == TYPE_TUPLE && x->count == y->count) {
        for (uint32_t i = 0; i < x->count; i++) {
            if (!types_compatible(p, type_list(x)[i], type_list(y)[i])) {
                return false;
            }
        }
        return true;
    }
    return type_is_shaped(p, a) && type_is_shaped(p, b) && shapes_compatible(p, a, b) &&
           elements_compatible(p, a, b);
}

bool is_scalar_i1(const tsr_program *p, uint32_t type)
{
    const type_head *head = program_type(p, type);
    if (head->kind != TYPE_TENSOR || head->count != 0) {
        return false;
    }
    const type_head *element = program_type(p, head->element);
    return element->kind == TYPE_INTEGER && element->width == 1 && element->sign == SIGNLESS;
}

/* ---- inference ---- */

tsr_status infer_one(const ir_check *k, uint32_t type, inferred_types *out)
{
    uint32_t *types = ARENA_ARRAY(k->p->scratch, uint32_t, out->count + 1);
    if (types == NULL) {
        return diag_nomem(k->ctx);
    }
    if (out->count > 0) {
        memcpy(types, out->types, out->count * sizeof *types);
    }
    types[out->count] = type;
    *out = (inferred_types){types, out->count + 1};
    return TSR_OK;
}

tsr_status infer_tensor(const ir_check *k, const int64_t *extents, size_t rank, uint32_t element,
                        inferred_types *out)
{
    uint32_t type = 0;
    TSR_TRY(type_tensor(k->p, extents, rank, element, 0, &type));
    return infer_one(k, type, out);
}

tsr_status refuse_types(const ir_check *k, const char *inferred)
{
    const size_t n = num_results(k);
    uint32_t *types = ARENA_ARRAY(k->p->scratch, uint32_t, n + 1);
    if (types == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < n; i++) {
        types[i] = result_type(k, i);
    }
    (void)op_error(k->ctx, k->p, k->op,
                   "inferred type(s) %s are incompatible with return type(s) of operation %s",
                   inferred, types_words(k, types, n));
    return refuse_inference(k);
}

tsr_status compare_inferred(const ir_check *k, const inferred_types *inferred)
{
    const int traits = k->row != NULL ? k->row->traits : 0;
    bool fit = inferred->count == num_results(k);
    for (size_t i = 0; fit && i < inferred->count; i++) {
        const uint32_t a = inferred->types[i];
        const uint32_t b = result_type(k, i);
        if ((traits & CHECK_EXACTLY) != 0) {
            fit = a == b;
        } else if ((traits & CHECK_BY_SHAPE) != 0) {
            fit = shapes_compatible(k->p, a, b);
        } else {
            fit = types_compatible(k->p, a, b);
        }
    }
    return fit ? TSR_OK : refuse_types(k, types_words(k, inferred->types, inferred->count));
}

/* ---- regions ---- */

tsr_status region_parts_of(const ir_check *k, size_t region, region_parts *out)
{
    const tsr_program *p = k->p;
    *out = (region_parts){0};
    const uint32_t block =
        region < program_op(p, k->op)->num_regions ? op_entry_block(p, k->op, region) : 0;
    if (block == 0) {
        return TSR_OK;
    }
    const ir_block *b = program_block(p, block);
    const uint32_t last = b->last_op;
    const size_t returned = last != 0 ? program_op(p, last)->num_operands : 0;
    uint32_t *types = ARENA_ARRAY(p->scratch, uint32_t, b->num_arguments + returned + 1);
    if (types == NULL) {
        return diag_nomem(k->ctx);
    }
    *out = (region_parts){b->num_arguments, types, returned, types + b->num_arguments};
    for (uint32_t i = 0; i < b->num_arguments; i++) {
        types[i] = value_type(p, program_pool(p, b->arguments)[i]);
    }
    for (uint32_t i = 0; i < returned; i++) {
        types[b->num_arguments + i] = value_type(p, op_operand(p, last, i));
    }
    return TSR_OK;
}

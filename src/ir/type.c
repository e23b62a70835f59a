#include "ir/type.h"

#include <string.h>

#include "base/arena.h"
#include "ir/program.h"

const type_head *program_type(const tsr_program *p, uint32_t type)
{
    return intern_get(&p->types, type);
}

/* Interns a head and what follows it. */
static tsr_status intern_type(tsr_program *p, type_head head, const void *list, size_t size,
                              uint32_t *out)
{
    const intern_part parts[] = {{&head, sizeof head}, {list, size}};
    return intern_parts(&p->types, parts, 2, out);
}

tsr_status type_integer(tsr_program *p, unsigned width, int sign, uint32_t *out)
{
    const type_head head = {.kind = TYPE_INTEGER, .sign = (uint8_t)sign, .width = (uint16_t)width};
    return intern_type(p, head, NULL, 0, out);
}

tsr_status type_simple(tsr_program *p, type_kind kind, uint32_t *out)
{
    return intern_type(p, (type_head){.kind = (uint8_t)kind}, NULL, 0, out);
}

tsr_status type_float(tsr_program *p, int format, uint32_t *out)
{
    const type_head head = {.kind = TYPE_FLOAT, .width = (uint16_t)format};
    return intern_type(p, head, NULL, 0, out);
}

tsr_status type_complex(tsr_program *p, uint32_t element, uint32_t *out)
{
    const type_head head = {.kind = TYPE_COMPLEX, .element = element};
    return intern_type(p, head, NULL, 0, out);
}

tsr_status type_tensor(tsr_program *p, const int64_t *extents, size_t rank, uint32_t element,
                       uint32_t encoding, uint32_t *out)
{
    const type_head head = {
        .kind = TYPE_TENSOR, .element = element, .encoding = encoding, .count = (uint32_t)rank};
    return intern_type(p, head, extents, rank * sizeof *extents, out);
}

tsr_status type_vector(tsr_program *p, const int64_t *extents, size_t rank, uint32_t element,
                       uint32_t *out)
{
    const type_head head = {.kind = TYPE_VECTOR, .element = element, .count = (uint32_t)rank};
    return intern_type(p, head, extents, rank * sizeof *extents, out);
}

tsr_status type_unranked(tsr_program *p, uint32_t element, uint32_t *out)
{
    const type_head head = {.kind = TYPE_UNRANKED, .element = element};
    return intern_type(p, head, NULL, 0, out);
}

tsr_status type_of_types(tsr_program *p, type_kind kind, const uint32_t *types, size_t count,
                         uint32_t *out)
{
    const type_head head = {.kind = (uint8_t)kind, .count = (uint32_t)count};
    return intern_type(p, head, types, count * sizeof *types, out);
}

tsr_status type_function(tsr_program *p, const uint32_t *inputs, size_t num_inputs,
                         const uint32_t *results, size_t num_results, uint32_t *out)
{
    const size_t count = num_inputs + num_results;
    const type_head head = {
        .kind = TYPE_FUNCTION, .count = (uint32_t)count, .inputs = (uint32_t)num_inputs};
    const intern_part parts[] = {{&head, sizeof head},
                                 {inputs, num_inputs * sizeof *inputs},
                                 {results, num_results * sizeof *results}};
    return intern_parts(&p->types, parts, 3, out);
}

tsr_status type_of_text(tsr_program *p, type_kind kind, uint32_t element, const char *text,
                        size_t size, uint32_t *out)
{
    const type_head head = {.kind = (uint8_t)kind, .element = element, .count = (uint32_t)size};
    return intern_type(p, head, text, size, out);
}

bool type_is(const tsr_program *p, uint32_t type, type_kind kind)
{
    return type != 0 && program_type(p, type)->kind == kind;
}

bool type_is_static(const tsr_program *p, uint32_t type)
{
    const type_head *head = program_type(p, type);
    if (type == 0 || head->kind != TYPE_TENSOR) {
        return false;
    }
    for (uint32_t i = 0; i < head->count; i++) {
        if (type_extents(head)[i] == TSR_UNKNOWN) {
            return false;
        }
    }
    return true;
}

bool type_is_shaped(const tsr_program *p, uint32_t type)
{
    return type_is(p, type, TYPE_TENSOR) || type_is(p, type, TYPE_UNRANKED) ||
           type_is(p, type, TYPE_VECTOR);
}

uint32_t type_element(const tsr_program *p, uint32_t type)
{
    return type_is_shaped(p, type) ? program_type(p, type)->element : type;
}

bool type_num_elements(const tsr_program *p, uint32_t type, int64_t *out)
{
    const type_head *head = program_type(p, type);
    int64_t count = 1;
    for (uint32_t i = 0; i < head->count; i++) {
        if (type_extents(head)[i] == 0) {
            *out = 0;
            return true;
        }
    }
    for (uint32_t i = 0; i < head->count; i++) {
        if (!checked_mul(count, type_extents(head)[i], &count)) {
            return false;
        }
    }
    *out = count;
    return true;
}

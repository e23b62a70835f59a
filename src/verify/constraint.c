/*
 * Constraints of types, as a small language: what a tensor is, then codes of its elements.
 *   r ranked   t ranked or not   0 1 of that rank   s static   S static of rank 1   b static, or
 * one extent bounded   D E static of rank 1, 2, "integer"   m a memref, which programs here never
 * have Others: k token, f future, n w tuples; `|` between alternatives; v variadic, first.
 */
#include <stdio.h>
#include <string.h>

#include "number/float_format.h"
#include "verify/check.h"
#include "verify/constraint.h"

static const char *const specs[CONSTRAINT_COUNT] = {
#define CONSTRAINT(name, spec) [name] = (spec),
#include "verify/constraint.def"
#undef CONSTRAINT
};

static const char *const nested[] = {['n' - 'a'] = "rFBICQ|mFBICQ|rA|k",
                                     ['w' - 'a'] = "tFBICQA|mFBICQ|k"};

/* ---- elements ---- */

static const struct {
    char code;
    const char *text;
} elements[] = {
    {'F', "4/6/8/16/32/64-bit float"},
    {'G', "32/64-bit float"},
    {'B', "bool"},
    {'I', "2/4/8/16/32/64-bit integer"},
    {'Z', "2/4/8/16/32/64-bit signless integer"},
    {'3', "32-bit signless integer"},
    {'U', "32-bit unsigned integer"},
    {'N', "integer"},
    {'X', "index"},
    {'C', "complex type with 32/64-bit float elements"},
    {'Q', "per-tensor integer quantized"},
    {'A', "per-axis integer quantized"},
};

static bool integer_fits(const type_head *type, char code)
{
    const unsigned w = type->width;
    const bool usual = w == 2 || w == 4 || w == 8 || w == 16 || w == 32 || w == 64;
    switch (code) {
    case 'B':
        return type->sign == SIGNLESS && w == 1;
    case 'I':
        return type->sign != SIGNED && usual;
    case 'Z':
        return type->sign == SIGNLESS && usual;
    case '3':
        return type->sign == SIGNLESS && w == 32;
    case 'U':
        return type->sign == UNSIGNED && w == 32;
    default:
        return code == 'N';
    }
}

static bool is_wide_float(const type_head *type)
{
    return type->kind == TYPE_FLOAT && (type->width == FLOAT_F32 || type->width == FLOAT_F64);
}

static bool element_fits(const tsr_program *p, uint32_t element, char code)
{
    const type_head *type = program_type(p, element);
    switch (type->kind) {
    case TYPE_INTEGER:
        return integer_fits(type, code);
    case TYPE_INDEX:
        return code == 'X';
    case TYPE_FLOAT:
        return code == 'G' ? is_wide_float(type) : code == 'F' && type->width != FLOAT_TF32;
    case TYPE_COMPLEX:
        return code == 'C' && is_wide_float(program_type(p, type->element));
    case TYPE_QUANT:
        return code == 'Q' || code == 'A';
    default:
        return false;
    }
}

/* ---- tensors ---- */

static const struct {
    char code;
    const char *text;
} containers[] = {
    {'r', "ranked tensor"},
    {'t', "tensor"},
    {'0', "0D tensor"},
    {'1', "1D tensor"},
    {'s', "statically shaped tensor"},
    {'S', "statically shaped 1-dimensional tensor"},
    {'D', "statically shaped 1-dimensional integer tensor"},
    {'E', "statically shaped 2-dimensional integer tensor"},
    {'b', "statically shaped or single bounded dimension tensor"},
    {'m', "memref"},
};

static bool has_one_bound(const tsr_program *p, const type_head *type)
{
    const int64_t *bounds = type_bounds(p, type);
    int bounded = 0;
    int unknown = 0;
    for (uint32_t i = 0; bounds != NULL && i < type->count; i++) {
        bounded += bounds[i] != TSR_UNKNOWN;
        unknown += type_extents(type)[i] == TSR_UNKNOWN;
    }
    return bounded == 1 && unknown == 1;
}

static bool container_fits(const tsr_program *p, uint32_t id, char code)
{
    const type_head *type = program_type(p, id);
    if (type->kind == TYPE_UNRANKED) {
        return code == 't';
    }
    if (type->kind != TYPE_TENSOR) {
        return false;
    }
    switch (code) {
    case 'r':
    case 't':
        return true;
    case '0':
        return type->count == 0;
    case '1':
        return type->count == 1;
    case 's':
        return type_is_static(p, id);
    case 'S':
    case 'D':
        return type->count == 1 && type_is_static(p, id);
    case 'E':
        return type->count == 2 && type_is_static(p, id);
    case 'b':
        return type_is_static(p, id) || has_one_bound(p, type);
    default:
        return false;
    }
}

/* ---- alternatives ---- */

static bool spec_fits(const tsr_program *p, const char *spec, uint32_t type);

static bool tuple_fits(const tsr_program *p, char code, uint32_t type)
{
    const type_head *head = program_type(p, type);
    if (head->kind != TYPE_TUPLE) {
        return false;
    }
    for (uint32_t i = 0; i < head->count; i++) {
        const uint32_t inner = type_list(head)[i];
        if (!spec_fits(p, nested[code - 'a'], inner) && !tuple_fits(p, code, inner)) {
            return false;
        }
    }
    return true;
}

/* One alternative, up to `|` or the end. */
static bool alternative_fits(const tsr_program *p, const char *spec, size_t size, uint32_t type)
{
    switch (spec[0]) {
    case 'k':
        return type_is(p, type, TYPE_TOKEN);
    case 'f':
        return type_is(p, type, TYPE_FUTURE);
    case 'n':
    case 'w':
        return tuple_fits(p, spec[0], type);
    default:
        break;
    }
    if (!container_fits(p, type, spec[0])) {
        return false;
    }
    const uint32_t element = program_type(p, type)->element;
    for (size_t i = 1; i < size; i++) {
        if (element_fits(p, element, spec[i])) {
            return true;
        }
    }
    return false;
}

static bool spec_fits(const tsr_program *p, const char *spec, uint32_t type)
{
    while (*spec != '\0') {
        const size_t size = strcspn(spec, "|");
        if (alternative_fits(p, spec, size, type)) {
            return true;
        }
        spec += size + (spec[size] == '|');
    }
    return false;
}

bool constraint_fits(const tsr_program *p, int constraint, uint32_t type)
{
    const char *spec = specs[constraint];
    return spec_fits(p, spec[0] == 'v' ? spec + 1 : spec, type);
}

/* ---- text ---- */

static void append(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

static const char *element_words(char code)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (elements[i].code == code) {
            return elements[i].text;
        }
    }
    return "?";
}

static void tensor_words(const char *spec, size_t length, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof containers / sizeof containers[0]; i++) {
        if (containers[i].code == spec[0]) {
            append(text, size, containers[i].text);
        }
    }
    for (size_t i = 1; i < length; i++) {
        append(text, size, i == 1 ? " of " : " or ");
        append(text, size, element_words(spec[i]));
    }
    append(text, size, " values");
}

static void spec_words(const char *spec, char *text, size_t size)
{
    while (*spec != '\0') {
        const size_t length = strcspn(spec, "|");
        if (spec[0] == 'k' || spec[0] == 'f') {
            append(text, size, spec[0] == 'k' ? "token" : "future");
        } else if (spec[0] == 'n' || spec[0] == 'w') {
            append(text, size, "nested tuple with any combination of ");
            spec_words(nested[spec[0] - 'a'], text, size);
            append(text, size, " values");
        } else {
            tensor_words(spec, length, text, size);
        }
        spec += length;
        if (*spec == '|') {
            append(text, size, " or ");
            spec++;
        }
    }
}

void constraint_text(int constraint, char *text, size_t size)
{
    const char *spec = specs[constraint];
    text[0] = '\0';
    if (spec[0] == 'v') {
        append(text, size, "variadic of ");
        spec++;
    }
    spec_words(spec, text, size);
}

/* Types of programs: interned records of a head and a list. */
#ifndef IR_TYPE_H
#define IR_TYPE_H

#include <tessera/program.h>

#include "base/base.h"

typedef enum type_kind {
    TYPE_INTEGER,
    TYPE_INDEX,
    TYPE_NONE,
    TYPE_FLOAT,
    TYPE_COMPLEX,
    TYPE_TENSOR,
    TYPE_UNRANKED,
    TYPE_VECTOR,
    TYPE_TUPLE,
    TYPE_FUNCTION,
    TYPE_TOKEN,
    TYPE_QUANT,  /* text: the whole type */
    TYPE_OPAQUE, /* text: the whole type, of a dialect or kind that is only kept */
    TYPE_FUTURE
} type_kind;

enum { SIGNLESS, SIGNED, UNSIGNED };

/*
 * The head of a type. What follows it: the extents of a tensor or vector (int64), unknown ones
 * TSR_UNKNOWN; the types of a tuple, future or function (uint32), inputs first; or text.
 */
typedef struct type_head {
    uint8_t kind;
    uint8_t sign;      /* of an integer */
    uint16_t width;    /* of an integer; the float_format of a float */
    uint32_t element;  /* of a tensor, vector, complex; the expressed type of a quantized one */
    uint32_t encoding; /* an attribute; 0: none */
    uint32_t count;    /* of extents, types or characters */
    uint32_t inputs;   /* of a function */
    uint32_t reserved;
} type_head;

static inline const int64_t *type_extents(const type_head *type)
{
    return (const int64_t *)(const void *)(type + 1);
}

static inline const uint32_t *type_list(const type_head *type)
{
    return (const uint32_t *)(const void *)(type + 1);
}

static inline const char *type_text(const type_head *type)
{
    return (const char *)(type + 1);
}

const type_head *program_type(const tsr_program *p, uint32_t type);

/* Interned types. */
tsr_status type_integer(tsr_program *p, unsigned width, int sign, uint32_t *out);
tsr_status type_simple(tsr_program *p, type_kind kind, uint32_t *out);
tsr_status type_float(tsr_program *p, int format, uint32_t *out);
tsr_status type_complex(tsr_program *p, uint32_t element, uint32_t *out);
tsr_status type_tensor(tsr_program *p, const int64_t *extents, size_t rank, uint32_t element,
                       uint32_t encoding, uint32_t *out);
tsr_status type_vector(tsr_program *p, const int64_t *extents, size_t rank, uint32_t element,
                       uint32_t *out);
tsr_status type_unranked(tsr_program *p, uint32_t element, uint32_t *out);
tsr_status type_of_types(tsr_program *p, type_kind kind, const uint32_t *types, size_t count,
                         uint32_t *out);
tsr_status type_function(tsr_program *p, const uint32_t *inputs, size_t num_inputs,
                         const uint32_t *results, size_t num_results, uint32_t *out);
tsr_status type_of_text(tsr_program *p, type_kind kind, uint32_t element, const char *text,
                        size_t size, uint32_t *out);

bool type_is(const tsr_program *p, uint32_t type, type_kind kind);
/* A ranked tensor whose extents are all known. */
bool type_is_static(const tsr_program *p, uint32_t type);
/* Ranked or not, a tensor or vector. */
bool type_is_shaped(const tsr_program *p, uint32_t type);
/* The element type of a shaped type, else the type itself. */
uint32_t type_element(const tsr_program *p, uint32_t type);
/* How many elements a static tensor has; false when that exceeds int64. */
bool type_num_elements(const tsr_program *p, uint32_t type, int64_t *out);

#endif

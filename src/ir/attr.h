/* Attributes of programs: interned records of a head and what the kind needs. */
#ifndef IR_ATTR_H
#define IR_ATTR_H

#include <tessera/program.h>

#include "base/base.h"
#include "base/lex.h"

typedef enum attr_kind {
    ATTR_UNIT,
    ATTR_INTEGER,     /* `bits`; true and false are i1 */
    ATTR_FLOAT,       /* `bits` */
    ATTR_STRING,      /* text; its type, if given */
    ATTR_ARRAY,       /* attributes */
    ATTR_DICT,        /* pairs of a string and an attribute, sorted by the string */
    ATTR_SYMBOL,      /* strings: the symbol, then nested ones */
    ATTR_TYPE,        /* `type` */
    ATTR_DENSE_ARRAY, /* elements of 8 bytes, of `type` */
    ATTR_ELEMENTS,    /* dense<..>: the bytes of all elements, or of one that stands for all */
    ATTR_HEX,         /* dense<"0x..">: `bits` is a blob, hex digits in the text of the program */
    ATTR_RESOURCE,    /* dense_resource<name>: text */
    ATTR_ENUM,        /* `row` of the enums, `bits` the value */
    ATTR_STRUCT,      /* `row` of the structs: attributes, one for each field; 0 where unset */
    ATTR_SDY,         /* `row` of the sdy attributes: the canonical text of its body */
    ATTR_OPAQUE, /* text: the whole attribute, of a dialect that is only kept; its type, if given */
    ATTR_LOCATION /* `bits`: a location */
} attr_kind;

typedef struct attr_head {
    uint8_t kind;
    uint8_t is_splat; /* of elements */
    uint16_t row;
    uint32_t type;
    uint32_t count; /* of what follows: attributes, pairs, strings, elements, bytes */
    uint32_t reserved;
    uint64_t bits;
} attr_head;

typedef struct attr_entry {
    uint32_t name; /* a string */
    uint32_t value;
} attr_entry;

static inline const uint32_t *attr_list(const attr_head *attr)
{
    return (const uint32_t *)(const void *)(attr + 1);
}

static inline const attr_entry *attr_entries(const attr_head *attr)
{
    return (const attr_entry *)(const void *)(attr + 1);
}

static inline const int64_t *attr_numbers(const attr_head *attr)
{
    return (const int64_t *)(const void *)(attr + 1);
}

static inline const char *attr_text(const attr_head *attr)
{
    return (const char *)(attr + 1);
}

const attr_head *program_attr(const tsr_program *p, uint32_t attr);
/* Whether an attribute exists and is of a kind. */
bool attr_is(const tsr_program *p, uint32_t attr, attr_kind kind);

/* Whether it is dense<..>, in bytes, hex digits or a resource. */
bool attr_is_elements(const tsr_program *p, uint32_t attr);

/* Interned attributes. */
tsr_status attr_unit(tsr_program *p, uint32_t *out);
tsr_status attr_integer(tsr_program *p, uint32_t type, uint64_t bits, uint32_t *out);
tsr_status attr_i64(tsr_program *p, int64_t value, uint32_t *out);
tsr_status attr_bool(tsr_program *p, bool value, uint32_t *out);
tsr_status attr_float(tsr_program *p, uint32_t type, uint64_t bits, uint32_t *out);
tsr_status attr_string(tsr_program *p, const char *text, size_t size, uint32_t type, uint32_t *out);
tsr_status attr_array(tsr_program *p, const uint32_t *items, size_t count, uint32_t *out);
/* Sorts the entries; the caller has checked that no name is twice in them. 0 for no entries. */
tsr_status attr_dict(tsr_program *p, attr_entry *entries, size_t count, uint32_t *out);
tsr_status attr_symbol(tsr_program *p, const uint32_t *strings, size_t count, uint32_t *out);
tsr_status attr_type(tsr_program *p, uint32_t type, uint32_t *out);
tsr_status attr_dense_array(tsr_program *p, uint32_t type, const int64_t *values, size_t count,
                            uint32_t *out);
tsr_status attr_ints(tsr_program *p, const int64_t *values, size_t count, uint32_t *out);
tsr_status attr_elements(tsr_program *p, uint32_t type, const void *bytes, size_t size,
                         bool is_splat, uint32_t *out);
tsr_status attr_hex(tsr_program *p, uint32_t type, slice digits, uint32_t *out);
/* The digits of an ATTR_HEX. */
slice attr_digits(const tsr_program *p, uint32_t attr);
tsr_status attr_of_text(tsr_program *p, attr_kind kind, int row, uint32_t type, const char *text,
                        size_t size, uint32_t *out);
/* An attribute of that text if it exists already, or 0. */
uint32_t attr_find_text(const tsr_program *p, attr_kind kind, int row, const char *text,
                        size_t size);
/* Shardings per value. */
tsr_status attr_sharding_list(tsr_program *p, const uint32_t *items, size_t count, uint32_t *out);
tsr_status attr_enum(tsr_program *p, int row, int value, uint32_t *out);
tsr_status attr_struct(tsr_program *p, int row, const uint32_t *fields, size_t count,
                       uint32_t *out);
tsr_status attr_location(tsr_program *p, uint32_t given, uint32_t *out);

/* Up to this many entries, looking at each is faster than a search. */
enum { FEW_ENTRIES = 16 };

/* The order of names in dictionaries: by bytes, negative when a is before b. */
int compare_names(slice a, slice b);
/* Sorts by name; those of one name stay in order. */
tsr_status sort_entries(const tsr_program *p, attr_entry *entries, size_t count);

/* The entry of a dictionary (0: the empty one) by name, or 0. */
uint32_t dict_get(const tsr_program *p, uint32_t dict, const char *name);
uint32_t dict_get_slice(const tsr_program *p, uint32_t dict, slice name);
/* Number of entries; 0 of what is not a dictionary. */
size_t dict_size(const tsr_program *p, uint32_t dict);

/* The value of an integer attribute, sign-extended; false for other kinds. */
bool attr_as_integer(const tsr_program *p, uint32_t attr, int64_t *out);
/* The text of a string attribute. */
bool attr_as_string(const tsr_program *p, uint32_t attr, slice *out);
/* The name of a flat symbol. */
bool attr_as_symbol(const tsr_program *p, uint32_t attr, slice *out);

#endif

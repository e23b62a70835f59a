/*
 * Programs in memory: arrays of records, linked by 32-bit numbers.
 *
 * Ops, values, blocks and regions are records of four arrays; record 0 of each means none. Lists
 * that do not change in length (operands, regions of an op, arguments of a block) are slices of
 * one pool; ops of a block and blocks of a region are linked lists. Types, attributes, strings and
 * locations are interned: equality is equality of numbers.
 */
#ifndef IR_PROGRAM_H
#define IR_PROGRAM_H

#include <tessera/program.h>

#include "base/base.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "base/lex.h"
#include "ir/attr.h"
#include "ir/intern.h"
#include "ir/kind.h"
#include "ir/loaded_file.h"
#include "ir/type.h"

struct ir_row;

typedef struct ir_op {
    uint32_t name; /* of program.op_names */
    uint32_t location;
    uint32_t at; /* its offset in the text, for messages; IR_NOWHERE for none */
    uint32_t block;
    uint32_t prev;
    uint32_t next;
    uint32_t operands; /* the first, in the pool */
    uint32_t num_operands;
    uint32_t results; /* the first value; the others follow it */
    uint32_t num_results;
    uint32_t regions; /* the first, in the pool */
    uint32_t num_regions;
    uint32_t successors; /* blocks: the first, in the pool */
    uint32_t num_successors;
    uint32_t properties; /* a dictionary of inherent attributes; 0: empty */
    uint32_t attributes; /* a dictionary of discardable ones; 0: empty */
} ir_op;

typedef struct ir_value {
    uint32_t type;
    uint32_t owner; /* an op, or a block with IR_IS_ARGUMENT */
    uint32_t index;
    uint32_t location; /* of an argument */
} ir_value;

#define IR_IS_ARGUMENT UINT32_C(0x80000000)

typedef struct ir_block {
    uint32_t region;
    uint32_t prev;
    uint32_t next;
    uint32_t first_op;
    uint32_t last_op;
    uint32_t arguments; /* the first, in the pool */
    uint32_t num_arguments;
    uint32_t location;
} ir_block;

typedef struct ir_region {
    uint32_t op;
    uint32_t first_block;
    uint32_t last_block;
} ir_region;

/*
 * A location is an offset into the text, or, with this bit, the number of a location that the
 * text gives.
 */
#define IR_IS_GIVEN UINT32_C(0x80000000)
/* The offset of what is not in the text, such as the module that a text implies. */
#define IR_NOWHERE UINT32_C(0x7fffffff)

/* A list of records of one size that grows. */
typedef struct ir_array {
    void *items;
    uint32_t count;
    uint32_t capacity;
} ir_array;

/*
 * What changed since the program was verified last, as edit.c notes it (changes.h). Nothing is
 * noted while anything may have changed, as in a program that was not verified.
 */
typedef struct ir_changes {
    bool is_known;        /* false: anything may have changed */
    int subjects;         /* a sum of change_subject */
    int stale;            /* the same since ir_shardings_refresh, noted at all times */
    ir_array ops;         /* those that changed, each once */
    ir_array op_kinds;    /* by op: change_kind, uint8_t */
    ir_array values;      /* those whose uses changed, each once */
    ir_array value_flags; /* by value: whether it is listed, uint8_t */
} ir_changes;

/* What is known of the ops of one name. */
typedef struct ir_name {
    op_kind kind;
    const struct ir_row *row; /* how it is spelled; NULL: OP_UNKNOWN */
    const op_row *computed;   /* what it computes; NULL: no row of ops says it */
} ir_name;

struct tsr_program {
    tsr_context *ctx;
    tsr_arena *arena;
    tsr_arena *scratch; /* of checks: freed when the check of an op ends */
    loaded_file *file;  /* NULL: the text is the caller's */
    tsr_text text;
    int flags;
    ir_array ops;
    ir_array values;
    ir_array blocks;
    ir_array regions;
    ir_array pool;
    ir_array names;                     /* ir_name, by name of an op */
    uint32_t kind_names[OP_KIND_COUNT]; /* the number of each name; 0: not named yet */
    intern_table op_names;
    intern_table strings;
    intern_table types;
    intern_table attrs;
    intern_table locations;
    intern_table blobs;          /* hex digits in the text, by hash and size */
    intern_table verified_rules; /* sharding rules with the ranks of values that they fit */
    ir_array blob_data;          /* const char *, by blob */
    uint32_t module;
    uint32_t metadata;              /* a dictionary of what {-# .. #-} holds; 0: none */
    struct ir_shardings *shardings; /* resolved ones, by attribute */
    struct ir_interned *interned;   /* shardings and rules as interned objects: interned.h */
    struct ir_uses *uses;           /* while the program is changed: edit.h */
    ir_changes changes;
    ir_array lines; /* where they start in the text; empty: not asked for */
};

tsr_status program_create(tsr_context *ctx, tsr_program **out);
/* Finds where the lines of the text begin, unless they are known: positions of ops need them. */
tsr_status program_find_lines(tsr_program *p);

static inline const ir_op *program_op(const tsr_program *p, uint32_t op)
{
    return (const ir_op *)p->ops.items + op;
}

static inline const ir_value *program_value(const tsr_program *p, uint32_t value)
{
    return (const ir_value *)p->values.items + value;
}

static inline const ir_block *program_block(const tsr_program *p, uint32_t block)
{
    return (const ir_block *)p->blocks.items + block;
}

static inline const ir_region *program_region(const tsr_program *p, uint32_t region)
{
    return (const ir_region *)p->regions.items + region;
}

static inline const uint32_t *program_pool(const tsr_program *p, uint32_t at)
{
    return (const uint32_t *)p->pool.items + at;
}

static inline const ir_name *ir_name_of(const tsr_program *p, uint32_t op)
{
    return (const ir_name *)p->names.items + program_op(p, op)->name;
}

static inline op_kind op_kind_of(const tsr_program *p, uint32_t op)
{
    return ir_name_of(p, op)->kind;
}

/* Whether an op is of a kind; 0 is of none. */
static inline bool op_is(const tsr_program *p, uint32_t op, op_kind kind)
{
    return op_kind_of(p, op) == kind;
}

static inline const struct ir_row *program_row(const tsr_program *p, uint32_t op)
{
    return ir_name_of(p, op)->row;
}

static inline uint32_t op_operand(const tsr_program *p, uint32_t op, size_t i)
{
    return program_pool(p, program_op(p, op)->operands)[i];
}

static inline uint32_t op_region_at(const tsr_program *p, uint32_t op, size_t i)
{
    return program_pool(p, program_op(p, op)->regions)[i];
}

static inline uint32_t value_type(const tsr_program *p, uint32_t value)
{
    return program_value(p, value)->type;
}

/* The number of an op's name, and the name. */
tsr_status program_op_name(tsr_program *p, const char *name, size_t size, uint32_t *out);
tsr_status program_kind_name(tsr_program *p, op_kind kind, uint32_t *out);
static inline const char *op_name(const tsr_program *p, uint32_t op)
{
    return intern_get(&p->op_names, program_op(p, op)->name);
}

tsr_status program_string(tsr_program *p, const char *string, size_t size, uint32_t *out);
static inline slice string_at(const tsr_program *p, uint32_t id)
{
    return (slice){intern_get(&p->strings, id), intern_size(&p->strings, id)};
}

/* The op whose region holds an op; 0 for the module. */
uint32_t op_parent(const tsr_program *p, uint32_t op);
/* The nearest op around one of that kind, or 0. */
uint32_t enclosing(const tsr_program *p, uint32_t op, op_kind kind);
/* The op that owns a block. */
uint32_t block_parent(const tsr_program *p, uint32_t block);
/* The first block of a region, by its index in the op; 0 for none. */
uint32_t op_entry_block(const tsr_program *p, uint32_t op, size_t region);

/* An attribute of an op by name: inherent ones, discardable ones, either; 0 for none. */
uint32_t op_property(const tsr_program *p, uint32_t op, const char *name);
uint32_t op_attribute(const tsr_program *p, uint32_t op, const char *name);

/* Where a message about an op points. */
location op_location(const tsr_program *p, uint32_t op);
location program_location(const tsr_program *p, uint32_t where);

void ir_array_free(tsr_context *ctx, ir_array *array, size_t item_size);
/* Gives an array room for `extra` more items. */
tsr_status ir_array_reserve(tsr_context *ctx, ir_array *array, size_t item_size, size_t extra);

#endif

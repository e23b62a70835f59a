/*
 * Changing a program: uses of values, ops that are made, moved, cloned and erased, attributes that
 * are set.
 *
 * The uses of a value are a list, the one made last in front, as the reference keeps them: the
 * order in which passes look at uses shows in what they do. A use is the place of the operand in
 * the pool. Uses are known from edit_begin on; all calls below keep them up to date.
 */
#ifndef IR_EDIT_H
#define IR_EDIT_H

#include "ir/program.h"

typedef struct use_link {
    uint32_t next;
    uint32_t prev;
    uint32_t op;
} use_link;

struct ir_uses {
    ir_array first; /* a use, by value */
    ir_array links; /* use_link, by place in the pool */
};

/*
 * Lists all uses, unless they are known. They count as made in program order, operand by operand,
 * except that those of an op come after those inside it: as if the text had just been read.
 */
tsr_status edit_begin(tsr_program *p);
/* Forgets the uses: with the program, or when something else has changed it. */
void edit_end(tsr_program *p);

static inline uint32_t value_first_use(const tsr_program *p, uint32_t value)
{
    return ((const uint32_t *)p->uses->first.items)[value];
}

static inline const use_link *use_at(const tsr_program *p, uint32_t use)
{
    return (const use_link *)p->uses->links.items + use;
}

static inline uint32_t use_next(const tsr_program *p, uint32_t use)
{
    return use_at(p, use)->next;
}

/* The op that uses the value, and as which operand. */
static inline uint32_t use_op(const tsr_program *p, uint32_t use)
{
    return use_at(p, use)->op;
}

static inline uint32_t use_index(const tsr_program *p, uint32_t use)
{
    return use - program_op(p, use_op(p, use))->operands;
}

static inline bool value_has_uses(const tsr_program *p, uint32_t value)
{
    return value_first_use(p, value) != 0;
}

/* Whether a value has exactly one use. */
static inline bool value_has_one_use(const tsr_program *p, uint32_t value)
{
    const uint32_t use = value_first_use(p, value);
    return use != 0 && use_next(p, use) == 0;
}

/* The op that defines a value; 0 for block arguments. */
static inline uint32_t value_op(const tsr_program *p, uint32_t value)
{
    const uint32_t owner = program_value(p, value)->owner;
    return (owner & IR_IS_ARGUMENT) != 0 ? 0 : owner;
}

/* The block whose argument a value is; 0 for results. */
static inline uint32_t value_block(const tsr_program *p, uint32_t value)
{
    const uint32_t owner = program_value(p, value)->owner;
    return (owner & IR_IS_ARGUMENT) != 0 ? owner & ~IR_IS_ARGUMENT : 0;
}

static inline uint32_t op_result(const tsr_program *p, uint32_t op, size_t i)
{
    return program_op(p, op)->results + (uint32_t)i;
}

static inline uint32_t block_argument(const tsr_program *p, uint32_t block, size_t i)
{
    return program_pool(p, program_block(p, block)->arguments)[i];
}

/* A new op, in no block yet. Its regions are empty. */
typedef struct op_spec {
    op_kind kind;
    const uint32_t *operands;
    size_t num_operands;
    const uint32_t *types; /* of the results */
    size_t num_results;
    size_t num_regions;
    uint32_t properties;
    uint32_t attributes;
    uint32_t like; /* the op whose location it takes; 0: none */
} op_spec;
tsr_status op_create(tsr_program *p, const op_spec *spec, uint32_t *out);

/* A block at the end of a region, with arguments of these types. */
tsr_status region_add_block(tsr_program *p, uint32_t region, const uint32_t *types, size_t count,
                            uint32_t *out);

/* Puts an op that is in no block before or after another, or to the front or end of a block. */
void op_insert_before(tsr_program *p, uint32_t op, uint32_t before);
void op_insert_after(tsr_program *p, uint32_t op, uint32_t after);
void block_prepend(tsr_program *p, uint32_t block, uint32_t op);
void block_append(tsr_program *p, uint32_t block, uint32_t op);
/* Takes an op out of its block. */
void op_remove(tsr_program *p, uint32_t op);
/* Right after the definition of a value: after its op, or at the front of its block. */
void op_insert_after_value(tsr_program *p, uint32_t op, uint32_t value);

/* Takes an op away with all that is in its regions. Its results have no uses left. */
void op_erase(tsr_program *p, uint32_t op);
/* Whether it was. */
static inline bool op_is_erased(const tsr_program *p, uint32_t op)
{
    return program_op(p, op)->block == 0 && op != p->module;
}

/* Moves the blocks of one region to the end of another. */
void region_take(tsr_program *p, uint32_t to, uint32_t from);

void op_set_operand(tsr_program *p, uint32_t op, size_t i, uint32_t value);
/* Moves a use to another value, in front of its uses. */
void use_set(tsr_program *p, uint32_t use, uint32_t value);
/* Moves all uses, one by one from the front; those by `except` (0: none) stay. */
void value_replace_uses(tsr_program *p, uint32_t from, uint32_t to, uint32_t except);

/* Makes an op one of another kind, with the same operands, results and attributes. */
tsr_status op_set_kind(tsr_program *p, uint32_t op, op_kind kind);

/* Makes an op of another's operands and result types, before it. */
typedef struct op_substitute {
    op_kind kind;
    size_t num_regions;
    uint32_t properties;
    uint32_t attributes;
} op_substitute;
tsr_status op_create_before(tsr_program *p, uint32_t old, const op_substitute *spec, uint32_t *out);
/* Lets the results of one op stand for those of another, which is erased. */
void op_replace(tsr_program *p, uint32_t old, uint32_t now);

/* Sets an inherent or a discardable attribute; 0 takes it away. */
tsr_status op_set_property(tsr_program *p, uint32_t op, const char *name, uint32_t attr);
tsr_status op_set_attribute(tsr_program *p, uint32_t op, const char *name, uint32_t attr);
/* Sets all of them, as dictionaries. */
void op_set_dicts(tsr_program *p, uint32_t op, uint32_t properties, uint32_t attributes);
/* A dictionary with one entry set, or with 0 taken away. */
tsr_status dict_set(tsr_program *p, uint32_t dict, const char *name, uint32_t attr, uint32_t *out);
/* A dictionary as an attribute of its own: 0 becomes the empty one. */
tsr_status dict_value(tsr_program *p, uint32_t dict, uint32_t *out);

/* Which value a value became, for clones. */
typedef struct value_map {
    tsr_context *ctx;
    ir_array pairs; /* uint32_t[2], open addressing; 0: free */
    uint32_t used;
} value_map;
void value_map_free(value_map *map);
tsr_status value_map_set(value_map *map, uint32_t from, uint32_t to);
/* Itself, when it became no other. */
uint32_t value_map_get(const value_map *map, uint32_t value);

/*
 * A copy of an op with its regions, in no block; operands are replaced as the map says, which
 * learns the results and what is inside.
 */
tsr_status op_clone(tsr_program *p, uint32_t op, value_map *map, uint32_t *out);
/* The ops and blocks of a region, copied to the end of another. */
tsr_status region_clone(tsr_program *p, uint32_t from, uint32_t to, value_map *map);

/* The op after `op` in a walk of all that is inside `root`: an op before what is in its regions. */
uint32_t op_walk_next(const tsr_program *p, uint32_t root, uint32_t op);
/* The same, without going into the regions of `op`. */
uint32_t op_walk_skip(const tsr_program *p, uint32_t root, uint32_t op);
/* An op after what is in its regions: the first inside `root`, then the next; `root` is the last.
 */
uint32_t op_post_first(const tsr_program *p, uint32_t root);
uint32_t op_post_next(const tsr_program *p, uint32_t root, uint32_t op);

#endif

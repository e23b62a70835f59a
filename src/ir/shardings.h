/* The shardings of a program's values: where they are kept, and resolved against its meshes. */
#ifndef IR_SHARDINGS_H
#define IR_SHARDINGS_H

#include "ir/program.h"
#include "ir/row.h"
#include "shard/sharding.h"

typedef struct ir_shardings ir_shardings;

void ir_shardings_destroy(ir_shardings *shardings);
/*
 * Forgets what no longer holds of what was resolved: all when meshes have changed, interned objects
 * too. To be called between passes: shardings and meshes that were obtained before are not to be
 * used after it.
 */
void ir_shardings_refresh(tsr_program *p);
/* Forgets all of it. */
void ir_shardings_drop(tsr_program *p);

/* The mesh of a name in the nearest module around an op, or NULL. */
tsr_status program_mesh(tsr_context *ctx, tsr_program *p, uint32_t op, slice name,
                        const tsr_mesh **out);

/* The op that defines a symbol in the nearest module around an op; 0 for none. */
tsr_status program_symbol(tsr_context *ctx, tsr_program *p, uint32_t op, slice name, uint32_t *out);

/* A sharding attribute of an op as written: read once a module. */
tsr_status sharding_written(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                            const sharding_text **out);
/* Its mesh: the one it names, or its own; NULL when the op's module has none of that name. */
tsr_status sharding_mesh(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                         const tsr_mesh **out);
/*
 * The sharding of an attribute of an op, resolved once a module. `where` and `prefix` are for
 * messages, `shape` (of the text's rank, or NULL) for the sizes of ragged dimensions.
 */
tsr_status sharding_of_attr(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                            location where, const char *prefix, const int64_t *shape,
                            const tsr_sharding **out);

/*
 * Whether a sharding attribute is known to hold for a type (0: no value) in the module of an op,
 * and that it does. What depends on more, as explicit sizes or an op inside of a manual computation
 * do, is never known.
 */
tsr_status sharding_is_verified(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                                uint32_t type, bool *out);
tsr_status sharding_set_verified(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                                 uint32_t type);

/* The sharding attribute of a value, wherever the program keeps it; 0: none. */
tsr_status value_sharding_attr(tsr_context *ctx, tsr_program *p, uint32_t value, uint32_t *out);
/* The same, resolved; NULL: none. It has been verified. */
tsr_status value_sharding(tsr_context *ctx, tsr_program *p, uint32_t value,
                          const tsr_sharding **out);

/* How often a value is used, and by which op if that is once. */
tsr_status value_uses(tsr_context *ctx, tsr_program *p, uint32_t value, uint32_t *count,
                      uint32_t *user);

/* Axes of an attribute (a list of references, or of lists of them) on a mesh. */
typedef struct axis_lists {
    named_axes *lists;
    size_t count;
} axis_lists;
tsr_status attr_axis_lists(tsr_context *ctx, tsr_program *p, uint32_t attr, const tsr_mesh *mesh,
                           location where, axis_lists *out);

/* Names of manual axes. */
typedef struct name_list {
    slice *names;
    size_t count;
} name_list;
tsr_status manual_axes(tsr_context *ctx, tsr_program *p, uint32_t op, name_list *out);
bool name_list_has(const name_list *list, slice name);
/* Which axes of a mesh are manual in a computation, by number; allocated in the arena. */
tsr_status manual_flags(tsr_context *ctx, tsr_program *p, tsr_arena *arena, uint32_t op,
                        const tsr_mesh *mesh, const bool **out);
/* How many axes of a dimension come before the first that is not manual. */
size_t manual_prefix(const tsr_dim *dim, const bool *manual);
/* What the body of a manual computation sees of a sharding; the lists are allocated in the arena.
 */
tsr_status sharding_inside(tsr_context *ctx, tsr_arena *arena, const bool *manual,
                           const tsr_sharding *sharding, tsr_sharding *out);

/* A rule or edges as written, read by `lex`. */
typedef tsr_status (*attr_reader)(lexer *lex, void *out);
tsr_status read_attr_text(tsr_context *ctx, tsr_program *p, uint32_t attr, attr_reader read,
                          void *out);

#endif

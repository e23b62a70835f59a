/*
 * Interned shardings and rules of a program: those that are equal are one object, so that equality
 * is a comparison of pointers. They are made from attributes, and printed where an attribute is
 * needed, once each.
 *
 * They belong to the program and are kept from pass to pass. When a mesh changes,
 * ir_shardings_refresh drops all of them: between passes, never during one.
 */
#ifndef IR_INTERNED_H
#define IR_INTERNED_H

#include "factor/engine.h"
#include "ir/program.h"

typedef struct ir_interned ir_interned;

void ir_interned_destroy(ir_interned *interned);

/* The engine of the program, which reports errors to this context from now on. */
tsr_status interned_engine(tsr_context *ctx, tsr_program *p, engine **out);

/* The sharding of an attribute, on a mesh of the outermost module; NULL for 0. */
tsr_status interned_sharding(tsr_context *ctx, tsr_program *p, uint32_t attr,
                             const tsr_sharding **out);
/* The attribute of a sharding of the engine. */
tsr_status interned_sharding_attr(tsr_context *ctx, tsr_program *p, const tsr_sharding *sharding,
                                  uint32_t *out);

/* The rule of an attribute, and the attribute of a rule. */
tsr_status interned_rule(tsr_context *ctx, tsr_program *p, uint32_t attr, const tsr_rule **out);
tsr_status interned_rule_attr(tsr_context *ctx, tsr_program *p, const tsr_rule *rule,
                              uint32_t *out);
/* The entry of a rule in a table by what it depends on: numbers of the program. A new one is NULL:
 * to be set to a rule in the arena. */
typedef struct interned_rule_entry {
    tsr_arena *arena;
    uint64_t *rule;
} interned_rule_entry;
tsr_status interned_rule_of_key(tsr_context *ctx, tsr_program *p, const uint32_t *key, size_t count,
                                interned_rule_entry *out);

/* Which axes of a mesh are manual in a computation, by number. */
tsr_status interned_manual_flags(tsr_context *ctx, tsr_program *p, uint32_t op,
                                 const tsr_mesh *mesh, const bool **out);

#endif

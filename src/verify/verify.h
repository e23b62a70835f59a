/* Verification: what the checks of programs share. */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include "ir/message.h"
#include "ir/program.h"
#include "ir/row.h"
#include "ir/shardings.h"

/* The text of a type or attribute, for messages: the program's, "?" without memory. */
const char *type_string(tsr_context *ctx, const tsr_program *p, uint32_t type);
const char *attr_string_of(tsr_context *ctx, const tsr_program *p, uint32_t attr);

/* The checks of attributes that sdy defines on any op: shardings, rules, edges. */
tsr_status verify_sdy_attributes(tsr_context *ctx, tsr_program *p, uint32_t op);

/*
 * One sharding against a type (0: there is no value), with `prefix` before every message; what
 * section 6 of the representation says, in its order.
 */
tsr_status verify_sharding(tsr_context *ctx, tsr_program *p, uint32_t op, const char *prefix,
                           uint32_t attr, uint32_t type);
/* A list of shardings, one for each type. `word`: "result", "operand", "in_shardings". */
tsr_status verify_shardings(tsr_context *ctx, tsr_program *p, uint32_t op, const char *word,
                            uint32_t list, const uint32_t *types, size_t count);
/* Fails if an axis of a name is manual in a computation around an op. */
tsr_status verify_not_bound(tsr_context *ctx, tsr_program *p, uint32_t op, const char *prefix,
                            slice name);

/* Asks the hooks of `ops` about the types of an op. */
typedef struct type_checker type_checker;
tsr_status type_checker_create(tsr_context *ctx, const tsr_program *p, type_checker **out);
void type_checker_destroy(type_checker *checker);
tsr_status verify_op_types(tsr_context *ctx, tsr_program *p, uint32_t op, type_checker *checker);
/* The same after the regions of the op: the types of results that it infers. */
tsr_status verify_op_inference(tsr_context *ctx, tsr_program *p, uint32_t op,
                               type_checker *checker);

/* The checks of the ops of one kind; NULL: none. */
typedef struct verify_hooks {
    /* Of the op alone; after those of its regions; with the symbols of the module. */
    tsr_status (*op)(tsr_context *ctx, tsr_program *p, uint32_t op);
    tsr_status (*regions)(tsr_context *ctx, tsr_program *p, uint32_t op);
    tsr_status (*symbols)(tsr_context *ctx, tsr_program *p, uint32_t op);
} verify_hooks;
extern const verify_hooks verify_hooks_of[OP_KIND_COUNT];

/* Those of verify_hooks.c. */
tsr_status verify_constraint(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_barrier(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_data_flow_edge(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_func_data_flow_edge(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_named_computation(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_named_types(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_manual_axes(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_manual_computation(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_sdy_mesh(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_all_gather(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_all_slice(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_all_reduce(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_reduce_scatter(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_sharded_to_unreduced(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_replicated_to_unreduced(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_all_to_all(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_collective_permute(tsr_context *ctx, tsr_program *p, uint32_t op);
/* The visibility and the place of a symbol; the attributes of a module. */
tsr_status verify_symbol(tsr_context *ctx, const tsr_program *p, uint32_t op);
tsr_status verify_module_op(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_func(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_return(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_call(tsr_context *ctx, tsr_program *p, uint32_t op);
tsr_status verify_composite(tsr_context *ctx, tsr_program *p, uint32_t op);

/* Which transitions of unreduced axes are allowed; NO_KIND: none. */
enum { NO_KIND = -1 };
typedef struct unreduced_rule {
    int introduces; /* the kind that may appear, a tsr_reduction */
    int removes;    /* the kind that may disappear */
} unreduced_rule;
tsr_status verify_unreduced(tsr_context *ctx, tsr_program *p, uint32_t op, const tsr_sharding *from,
                            const tsr_sharding *to, unreduced_rule rule);

#endif

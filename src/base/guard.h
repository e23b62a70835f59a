/*
 * The guard of every public function: its first line is GUARD(<its name>). The checks are made by
 * scripts/guards out of the prototype: pointers that are neither TSR_NULLABLE nor empty TSR_ARRAYs
 * are not NULL, enumerations have one of their values, structs that are read hold the same.
 *
 * A wrong argument is TSR_ERR_INVALID, with a message in the context of the call's arguments, where
 * there is one and the call is not TSR_MT_SAFE. A call without a status gives nothing: NULL, false,
 * 0 of a size_t, -1 of a signed number, "?" of a name, a struct of zeros.
 */
#ifndef BASE_GUARD_H
#define BASE_GUARD_H

#include <tessera/tessera.h>

#define GUARD(function) GUARD_##function
/* Of ranks that callers give: so many dimensions are a mistake, and would take long to go through.
 */
enum { GUARD_MAX_RANK = 1 << 16 };
#define GUARD_RARE(condition) __builtin_expect((condition) ? 1 : 0, 0)

/* What is wrong inside a struct, and where: "dims[2].axes". NULL in its place: only whether. */
typedef struct guard_report {
    char place[128];
    const char *kind; /* of an enumeration; NULL: a pointer is NULL */
    int64_t value;
} guard_report;

/* A check of a struct: whether it is well formed. */
typedef bool (*guard_check)(guard_report *report, const void *value);

/* Each notes what is wrong, or within what, and returns false. */
bool guard_field_null(guard_report *report, const char *field);
bool guard_element_null(guard_report *report, const char *field, size_t index);
bool guard_field_enum(guard_report *report, const char *field, const char *kind, int64_t value);
bool guard_within(guard_report *report, const char *outer);
bool guard_within_element(guard_report *report, const char *outer, size_t index);

/* Each makes the message about an argument; ctx may be NULL. All return TSR_ERR_INVALID. */
tsr_status guard_null(tsr_context *ctx, const char *function, const char *argument);
tsr_status guard_array(tsr_context *ctx, const char *function, const char *argument,
                       uint64_t count);
tsr_status guard_element(tsr_context *ctx, const char *function, const char *argument,
                         tsr_tensor *const *list, size_t count);
tsr_status guard_enum(tsr_context *ctx, const char *function, const char *argument,
                      const char *kind, int64_t value);
tsr_status guard_rank(tsr_context *ctx, const char *function, size_t rank);
/* `argument` ends in "->" or ".". */
tsr_status guard_struct(tsr_context *ctx, const char *function, const char *argument,
                        guard_check check, const void *value);
tsr_status guard_structs(tsr_context *ctx, const char *function, const char *argument,
                         guard_check check, const void *list, size_t stride, size_t count);

/* Whether a list has a tensor that is NULL. */
bool guard_has_null(tsr_tensor *const *list, size_t count);
/* The first that is not NULL. */
tsr_context *guard_either(tsr_context *a, tsr_context *b);

/* ---- guards that are defined in the layer of what they ask ---- */

/* Whether a program has an op, a value and so on of that number; 0 is none. */
bool guard_tsr_ir_op(const tsr_program *program, tsr_ir_op op);
bool guard_tsr_ir_value(const tsr_program *program, tsr_ir_value value);
bool guard_tsr_ir_block(const tsr_program *program, tsr_ir_block block);
bool guard_tsr_ir_region(const tsr_program *program, tsr_ir_region region);
bool guard_tsr_ir_type(const tsr_program *program, tsr_ir_type type);
bool guard_tsr_ir_attr(const tsr_program *program, tsr_ir_attr attr);

/* Whether a mesh, unless it is NULL, has the axes; a full axis has its size. */
bool guard_axes(const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count);
tsr_status guard_axis(tsr_context *ctx, const char *function, const char *argument,
                      const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count);

/* Where messages about tensors and other objects go; NULL for none. */
tsr_context *guard_tensors_context(tsr_tensor *const *list, size_t count);
tsr_context *guard_partitioned_context(const tsr_partitioned *partitioned);
tsr_context *guard_world_context(const tsr_world *world);

#include "base/guards.h"

#endif

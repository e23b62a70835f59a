/* An op of a program as `ops` sees it: its row, its parameters and the types of its operands. */
#ifndef IR_PARAMS_H
#define IR_PARAMS_H

#include "ir/program.h"
#include "ops/op.h"

/* What a program op is, as a request to the hooks of its row. All of it is allocated in the arena.
 */
typedef struct ir_request {
    op_request request;
    op_type *results; /* as the program has them */
    size_t num_results;
} ir_request;

/* The row of what an op of a program computes, or NULL. */
const op_row *ir_op_row(const tsr_program *p, uint32_t op);

/*
 * The request of an op, for its types. TSR_NOT_APPLICABLE when `ops` has no row for it or the row
 * infers none, or when a type or a parameter is not one that rows know.
 */
tsr_status ir_request_make(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                           const op_row *row, ir_request *out);

/*
 * The same for the rule of an op, which looks at shapes only: values that are not tensors have rank
 * 0, element types that rows do not know count as f32, parameters that are left out as empty.
 * TSR_NOT_APPLICABLE also when the first result is not a tensor.
 */
tsr_status ir_rule_request(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                           const op_row *row, ir_request *out);

/*
 * The same to run an op: types as the program has them, whether or not the row infers any,
 * quantized ones as what they express, and parameters that are left out as empty. The k-th region
 * of a struct of parameters belongs to the op.
 */
tsr_status ir_run_request(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                          const op_row *row, ir_request *out);

/* The parameters of an op as those of another row, whose attributes it has. */
tsr_status ir_read_params(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t op,
                          const op_row *row, const void **out);

/*
 * The combiner of a region of 2n arguments that returns, for each k below n, the same op of
 * arguments k and k + n in either order; OP_BODY_OPAQUE for others.
 */
op_body ir_region_combiner(const tsr_program *p, uint32_t region);

/* What a region does to elements: a known combiner or comparator, or OP_BODY_OPAQUE. */
op_body ir_region_body(const tsr_program *p, uint32_t region);

/* The element type of the library that one of a program is; false for others. */
bool ir_element_dtype(const tsr_program *p, uint32_t element, tsr_dtype *out);

/* The type of a ranked tensor with an element type of the library; false for others. */
bool ir_type_of_tensor(const tsr_program *p, uint32_t type, op_type *out);
/* The type of a program that is the same. */
tsr_status ir_type_from_op(tsr_program *p, const op_type *type, uint32_t *out);

#endif

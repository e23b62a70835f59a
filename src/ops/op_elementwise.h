/* Elementwise ops. In eager calls operands broadcast: their last dimensions together, size 1 grows.
 */
#ifndef OPS_OP_ELEMENTWISE_H
#define OPS_OP_ELEMENTWISE_H

#include "kernel/elementwise.h"
#include "ops/op.h"

typedef struct compare_params {
    int32_t comparison_direction; /* compare_op */
} compare_params;

typedef struct convert_params {
    tsr_dtype result; /* the element type */
} convert_params;

typedef struct reduce_precision_params {
    int64_t exponent_bits;
    int64_t mantissa_bits;
} reduce_precision_params;

typedef struct bitcast_params {
    op_type result;
} bitcast_params;

extern const op_row op_unary[UNARY_COUNT];
extern const op_row op_binary[BINARY_COUNT];
extern const op_row op_compare; /* compare_params */
extern const op_row op_select;  /* predicate, on true, on false */
extern const op_row op_clamp;   /* least, operand, greatest */
extern const op_row op_is_finite;
extern const op_row op_convert; /* convert_params */
extern const op_row op_complex; /* real part, imaginary part */
extern const op_row op_real;
extern const op_row op_imag;
extern const op_row op_reduce_precision; /* reduce_precision_params */
extern const op_row op_bitcast_convert;  /* bitcast_params */

#endif

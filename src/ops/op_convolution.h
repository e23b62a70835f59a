/* Convolutions. */
#ifndef OPS_OP_CONVOLUTION_H
#define OPS_OP_CONVOLUTION_H

#include "ops/op.h"

/* Lists that are empty stand for their default: strides and dilations of 1, no padding, no
 * reversal.
 */
typedef struct convolution_params {
    op_ints window_strides;
    op_ints padding; /* before and after, for each spatial dimension */
    op_ints lhs_dilation;
    op_ints rhs_dilation;
    op_ints window_reversal;
    int64_t input_batch_dimension;
    int64_t input_feature_dimension;
    op_ints input_spatial_dimensions;
    int64_t kernel_input_feature_dimension;
    int64_t kernel_output_feature_dimension;
    op_ints kernel_spatial_dimensions;
    int64_t output_batch_dimension;
    int64_t output_feature_dimension;
    op_ints output_spatial_dimensions;
    int64_t feature_group_count;
    int64_t batch_group_count;
} convolution_params;

/* Operands: input, kernel. */
extern const op_row op_convolution;

/* The dimension numbers and group counts against the ranks of operands and result. */
tsr_status convolution_check_dims(const op_request *r, size_t output_rank);

#endif

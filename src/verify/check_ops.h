/* The checks of single ops, for the table of check_rows.c. */
#ifndef VERIFY_CHECK_OPS_H
#define VERIFY_CHECK_OPS_H

#include "verify/check.h"

/* The value of an operand that a constant defines, as an attribute, or 0. */
uint32_t constant_of(const ir_check *k, size_t i);
int64_t element_bits(const tsr_program *p, uint32_t element);

#define CHECKS(X)                                                                                  \
    X(check_add)                                                                                   \
    X(check_bitcast)                                                                               \
    X(check_reverse)                                                                               \
    X(check_dynamic_broadcast)                                                                     \
    X(check_dynamic_reshape)                                                                       \
    X(check_dynamic_iota)                                                                          \
    X(same_operand_result)                                                                         \
    X(same_dynamic_pad)                                                                            \
    X(check_dynamic_pad)                                                                           \
    X(same_real_slice)                                                                             \
    X(check_real_slice)                                                                            \
    X(same_update_slice)                                                                           \
    X(same_slice)                                                                                  \
    X(same_pad)                                                                                    \
    X(same_rng)                                                                                    \
    X(check_rng_bits)                                                                              \
    X(check_all_gather)                                                                            \
    X(check_all_reduce)                                                                            \
    X(check_reduce_scatter)                                                                        \
    X(check_collective_broadcast)                                                                  \
    X(check_collective_permute)                                                                    \
    X(check_reduce)                                                                                \
    X(check_reduce_window)                                                                         \
    X(check_select_and_scatter)                                                                    \
    X(check_scatter)                                                                               \
    X(check_sort)                                                                                  \
    X(check_while)                                                                                 \
    X(check_custom_call)                                                                           \
    X(check_infeed)                                                                                \
    X(check_recv)                                                                                  \
    X(check_constant_like)                                                                         \
    X(check_ragged_dot)                                                                            \
    X(same_scan)                                                                                   \
    X(check_scan)                                                                                  \
    X(check_dot)                                                                                   \
    X(check_convolution)                                                                           \
    X(check_dynamic_conv)

#define INFERENCES(X)                                                                              \
    X(infer_part)                                                                                  \
    X(infer_bool)                                                                                  \
    X(infer_complex)                                                                               \
    X(infer_operand)                                                                               \
    X(infer_operands)                                                                              \
    X(infer_select)                                                                                \
    X(infer_clamp)                                                                                 \
    X(infer_broadcast)                                                                             \
    X(infer_dimension_size)                                                                        \
    X(infer_set_dimension_size)                                                                    \
    X(infer_dynamic_slice)                                                                         \
    X(infer_update_slice)                                                                          \
    X(infer_cholesky)                                                                              \
    X(infer_triangular_solve)                                                                      \
    X(infer_fft)                                                                                   \
    X(infer_batch_norm_training)                                                                   \
    X(infer_batch_norm_inference)                                                                  \
    X(infer_batch_norm_grad)                                                                       \
    X(infer_rng)                                                                                   \
    X(infer_tuple_element)                                                                         \
    X(infer_tuple)                                                                                 \
    X(infer_token)                                                                                 \
    X(infer_identity)                                                                              \
    X(infer_send)                                                                                  \
    X(infer_branches)                                                                              \
    X(infer_reduce)                                                                                \
    X(infer_scatter)                                                                               \
    X(infer_select_and_scatter)                                                                    \
    X(infer_collective_broadcast)                                                                  \
    X(infer_map)                                                                                   \
    X(infer_reduce_window)                                                                         \
    X(infer_all_reduce)                                                                            \
    X(infer_all_to_all)                                                                            \
    X(infer_dynamic_gather)                                                                        \
    X(infer_constant)                                                                              \
    X(infer_chlo_broadcast)                                                                        \
    X(infer_chlo_compare)                                                                          \
    X(infer_chlo_complex)                                                                          \
    X(infer_chlo_select)                                                                           \
    X(infer_scan)                                                                                  \
    X(infer_top_k)

#define DECLARE_CHECK(name) tsr_status name(const ir_check *k);
#define DECLARE_INFERENCE(name) tsr_status name(const ir_check *k, inferred_types *out);
CHECKS(DECLARE_CHECK)
INFERENCES(DECLARE_INFERENCE)
#undef DECLARE_CHECK
#undef DECLARE_INFERENCE

#endif

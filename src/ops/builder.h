/*
 * What composite ops and gradients are written against: a way to apply ops to values, whatever
 * values are. Eager calls execute what is applied; programs append it.
 *
 * Errors stick: once something has failed, every further step does nothing and gives NULL, and the
 * status says why. Values belong to the builder until it ends.
 */
#ifndef OPS_BUILDER_H
#define OPS_BUILDER_H

#include "kernel/elementwise.h"
#include "kernel/fold.h"
#include "ops/number.h"
#include "ops/op.h"
#include "ops/op_dot.h"

typedef struct op_value op_value;
typedef struct op_builder op_builder;

struct op_builder {
    tsr_context *ctx; /* for messages */
    tsr_status status;
    /*
     * Elementwise rows broadcast by themselves. Where they do not, the functions below bring
     * operands to one shape by broadcast_in_dim first.
     */
    bool broadcasts;
    const char *const *operand_names; /* of what is applied next, for messages; or NULL */
    /* Applies a row; results has room for as many as it gives. */
    tsr_status (*apply)(op_builder *b, const op_row *row, const void *params,
                        op_value *const *operands, size_t num_operands, op_value **results);
    /* A number as a value without dimensions, for use with another one. */
    tsr_status (*number)(op_builder *b, op_value *beside, tsr_dtype dtype, op_number number,
                         op_value **out);
    /* 0 .. n-1, for use with another value. */
    tsr_status (*count)(op_builder *b, op_value *beside, tsr_dtype dtype, int64_t n,
                        op_value **out);
    /* Zeros of a value's type and layout; nothing is pending. */
    tsr_status (*zeros)(op_builder *b, op_value *like, op_value **out);
    /* The same value with nothing pending, for one that is used several times. */
    tsr_status (*settle)(op_builder *b, op_value *value, op_value **out);
    /* The extents belong to the value. */
    op_type (*type_of)(const op_builder *b, const op_value *value);
};

op_type build_type(const op_builder *b, const op_value *x);

/* A row with one result; NULL once something has failed, or when an operand is NULL. */
op_value *build_apply(op_builder *b, const op_row *row, const void *params,
                      op_value *const *operands, size_t count);

op_value *build_zeros(op_builder *b, op_value *like);
/* A number of the element type of a value, and of another type. */
op_value *build_number(op_builder *b, op_value *beside, double number);
op_value *build_number_of(op_builder *b, op_value *beside, tsr_dtype dtype, op_number number);
op_value *build_count(op_builder *b, op_value *beside, tsr_dtype dtype, int64_t n);
op_value *build_settled(op_builder *b, op_value *x);
op_value *build_unary(op_builder *b, unary_op op, op_value *x);
op_value *build_binary(op_builder *b, binary_op op, op_value *x, op_value *y);
op_value *build_compare(op_builder *b, compare_op op, op_value *x, op_value *y);
op_value *build_select(op_builder *b, op_value *which, op_value *yes, op_value *no);
op_value *build_convert(op_builder *b, op_value *x, tsr_dtype dtype);
op_value *build_reshape(op_builder *b, op_value *x, const int64_t *shape, size_t rank);
op_value *build_transpose(op_builder *b, op_value *x, const int64_t *permutation);
op_value *build_broadcast(op_builder *b, op_value *x, op_ints shape, const int64_t *dims);
op_value *build_slice(op_builder *b, op_value *x, const int64_t *start, const int64_t *limit,
                      const int64_t *strides);
/* With zeros. */
op_value *build_pad(op_builder *b, op_value *x, const int64_t *low, const int64_t *high,
                    const int64_t *interior);
op_value *build_concatenate(op_builder *b, op_value *const *values, size_t count, int64_t dim);

/* Over one dimension, which stays with size 1 if `keep`. */
op_value *build_reduce(op_builder *b, op_body body, op_value *x, int64_t dim, bool keep);
op_value *build_mean(op_builder *b, op_value *x, int64_t dim, bool keep);
/* Over several. */
op_value *build_fold(op_builder *b, op_body body, op_value *x, op_ints dims);

/* The product with these dimension numbers. */
op_value *build_dot(op_builder *b, op_value *x, op_value *y, const dot_params *dims);

#endif

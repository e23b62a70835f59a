/*
 * What every call of tessera/ops.h computes, in plain loops over whole arrays: floats in f64 with
 * the functions of C's library, integers in 64 bits that wrap to their type. It shares no code with
 * the library, whose kernels it is to catch; of the library it has only the names of types and
 * enums, and memory.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>

#include <tessera/ops.h>

enum { REF_DIMS = 8 };

/*
 * One element: `f` for floats, `i` for integers and truth values. `scale` is the largest magnitude
 * that the result is made of, when that exceeds the result: an error is relative to the greater.
 */
typedef struct ref_number {
    double f;
    int64_t i;
    double scale;
} ref_number;

/* A whole array, row-major. */
typedef struct ref_array {
    tsr_dtype dtype;
    size_t rank;
    int64_t shape[REF_DIMS];
    int64_t count;
    ref_number *at;
} ref_array;

/* ---- arrays ---- */

ref_array ref_new(tsr_arena *arena, tsr_dtype dtype, size_t rank, const int64_t *shape);
/* The index of a place, and the place of an index. */
void ref_index(const ref_array *x, int64_t place, int64_t *index);
int64_t ref_place(const ref_array *x, const int64_t *index);

/* ---- element types ---- */

bool ref_is_float(tsr_dtype dtype);
bool ref_is_unsigned(tsr_dtype dtype);
int ref_bits(tsr_dtype dtype);
/* The low bits, as a number of the type. */
int64_t ref_wrap(tsr_dtype dtype, uint64_t bits);
int64_t ref_least(tsr_dtype dtype);
int64_t ref_greatest(tsr_dtype dtype);
/* The nearest number of a float type, to even when two are. */
double ref_round(tsr_dtype dtype, long double value);
/* The relative error of one rounding, and the least positive number. */
double ref_unit(tsr_dtype dtype);
double ref_tiny(tsr_dtype dtype);
/* To the bytes of an element and back; the number must be one of the type. */
void ref_write(tsr_dtype dtype, ref_number number, void *element);
ref_number ref_read(tsr_dtype dtype, const void *element);

/* ---- elementwise ---- */

typedef double (*ref_unary)(double x);
typedef int64_t (*ref_unary_integer)(tsr_dtype dtype, int64_t x);
typedef double (*ref_binary)(double x, double y);
typedef int64_t (*ref_binary_integer)(tsr_dtype dtype, int64_t x, int64_t y);

/* One function of each; the arrays' dtype says which is called. */
typedef struct ref_function {
    ref_unary f;
    ref_unary_integer i;
} ref_function;
typedef struct ref_function_2 {
    ref_binary f;
    ref_binary_integer i;
} ref_function_2;

ref_array ref_map(tsr_arena *arena, const ref_array *x, const ref_function *function);
ref_array ref_map_2(tsr_arena *arena, const ref_array *x, const ref_array *y,
                    const ref_function_2 *function);
ref_array ref_is_finite(tsr_arena *arena, const ref_array *x);
ref_array ref_compare(tsr_arena *arena, const ref_array *x, const ref_array *y,
                      tsr_comparison comparison);
ref_array ref_select(tsr_arena *arena, const ref_array *p, const ref_array *x, const ref_array *y);
ref_array ref_clamp(tsr_arena *arena, const ref_array *least, const ref_array *x,
                    const ref_array *greatest);
ref_array ref_convert(tsr_arena *arena, const ref_array *x, tsr_dtype dtype);

extern const ref_function ref_negate;
extern const ref_function ref_abs;
extern const ref_function ref_sign;
extern const ref_function ref_exp;
extern const ref_function ref_expm1;
extern const ref_function ref_log;
extern const ref_function ref_log1p;
extern const ref_function ref_sqrt;
extern const ref_function ref_rsqrt;
extern const ref_function ref_cbrt;
extern const ref_function ref_tanh;
extern const ref_function ref_asinh;
extern const ref_function ref_erf;
extern const ref_function ref_erfc;
extern const ref_function ref_sin;
extern const ref_function ref_cos;
extern const ref_function ref_tan;
extern const ref_function ref_floor;
extern const ref_function ref_ceil;
extern const ref_function ref_round_even;
extern const ref_function ref_round_away;
extern const ref_function ref_sigmoid;
extern const ref_function ref_silu;
extern const ref_function ref_gelu;
extern const ref_function ref_relu;
extern const ref_function ref_not;
extern const ref_function ref_popcnt;
extern const ref_function ref_leading_zeros;
extern const ref_function_2 ref_add;
extern const ref_function_2 ref_sub;
extern const ref_function_2 ref_mul;
extern const ref_function_2 ref_div;
extern const ref_function_2 ref_maximum;
extern const ref_function_2 ref_minimum;
extern const ref_function_2 ref_pow;
extern const ref_function_2 ref_rem;
extern const ref_function_2 ref_and;
extern const ref_function_2 ref_or;
extern const ref_function_2 ref_xor;
extern const ref_function_2 ref_atan2;
extern const ref_function_2 ref_shift_left;
extern const ref_function_2 ref_shift_arithmetic;
extern const ref_function_2 ref_shift_logical;

/* ---- products ---- */

/* A character for each dimension of each operand, and of the result; all others are summed. */
ref_array ref_einsum(tsr_arena *arena, const char *const *names, const char *result,
                     const ref_array *operands, size_t num_operands);

/* ---- reductions ---- */

typedef enum ref_reduction {
    REF_SUM,
    REF_MEAN,
    REF_MAX,
    REF_MIN,
    REF_PROD,
    REF_ALL,
    REF_ANY
} ref_reduction;

ref_array ref_reduce(tsr_arena *arena, const ref_array *x, const size_t *dims, size_t num_dims,
                     ref_reduction reduction);
ref_array ref_argmax(tsr_arena *arena, const ref_array *x, size_t dim);
ref_array ref_cumsum(tsr_arena *arena, const ref_array *x, size_t dim);

/* ---- shapes ---- */

ref_array ref_reshape(tsr_arena *arena, const ref_array *x, size_t rank, const int64_t *shape);
ref_array ref_transpose(tsr_arena *arena, const ref_array *x, const size_t *permutation);
ref_array ref_broadcast(tsr_arena *arena, const ref_array *x, size_t rank, const int64_t *shape);
ref_array ref_slice(tsr_arena *arena, const ref_array *x, const int64_t *start,
                    const int64_t *limit, const int64_t *strides);
ref_array ref_concatenate(tsr_arena *arena, const ref_array *x, size_t count, size_t dim);
ref_array ref_stack(tsr_arena *arena, const ref_array *x, size_t count, size_t dim);
ref_array ref_pad(tsr_arena *arena, const ref_array *x, double number, const int64_t *before,
                  const int64_t *after, const int64_t *between);

/* ---- indices ---- */

ref_array ref_take(tsr_arena *arena, const ref_array *x, const ref_array *indices, size_t dim);
ref_array ref_scatter(tsr_arena *arena, const ref_array *x, const ref_array *indices,
                      const ref_array *updates, size_t dim, tsr_scatter_op op);
ref_array ref_gather_slices(tsr_arena *arena, const ref_array *x, const ref_array *indices,
                            const tsr_slices_dims *dims, const int64_t *slice_sizes);
ref_array ref_scatter_slices(tsr_arena *arena, const ref_array *x, const ref_array *indices,
                             const ref_array *updates, const tsr_slices_dims *dims,
                             tsr_scatter_op op);
ref_array ref_one_hot(tsr_arena *arena, const ref_array *indices, int64_t depth, tsr_dtype dtype);
/* The values and where each was; the first k. */
void ref_sort(tsr_arena *arena, const ref_array *x, size_t dim, bool descending, int64_t k,
              ref_array *values, ref_array *places);

/* ---- of several ops ---- */

ref_array ref_softmax(tsr_arena *arena, const ref_array *x, size_t dim);
ref_array ref_logsumexp(tsr_arena *arena, const ref_array *x, size_t dim);
ref_array ref_layer_norm(tsr_arena *arena, const ref_array *x, const ref_array *scale,
                         const ref_array *bias, double epsilon);
ref_array ref_rms_norm(tsr_arena *arena, const ref_array *x, const ref_array *scale,
                       double epsilon);
ref_array ref_cross_entropy(tsr_arena *arena, const ref_array *logits, const ref_array *labels,
                            int64_t ignored);

#endif

/*
 * Random calls with their expected results: a row for each public call of tessera/ops.h draws its
 * operands and parameters, makes the call, and asks the reference.
 */
#ifndef CASE_H
#define CASE_H

#include "random.h"
#include "reference.h"

enum { CASE_OPERANDS = 4, CASE_RESULTS = 4, CASE_LISTS = 5 };

/* Element types that a row has: f32, f64, bf16 and f16; i32, i64 and u8; i1. */
enum case_types { FLOATS = 1, INTEGERS = 2, TRUTH = 4, NUMBERS = 3, ALL_TYPES = 7 };

enum case_traits {
    SPECIALS = 1,       /* elements may be infinite or a NaN */
    MULTILINEAR = 2,    /* but not while a sum is pending, some of whose parts are 0 */
    DIVIDES = 4,        /* the last operand's zeros count as such */
    NO_ZERO = 8,        /* the last operand has none */
    BOTH_SIGNS = 16,    /* of elements that are drawn from a positive range */
    COARSE = 32,        /* elements are halves, many alike */
    SMALL = 64,         /* integers from low to high; else some have any bits */
    NOT_GREATEST = 128, /* of the special numbers not infinity */
    ONCE = 256          /* f16 and bf16 are rounded once, at the end: what is before that is f32 */
};

typedef struct case_row case_row;

typedef struct case_list {
    size_t count;
    size_t dims[REF_DIMS];
} case_list;

/* A call. Results are compared within `roundings` of the row, for sums of up to `terms`. */
typedef struct number_case {
    const case_row *row;
    uint64_t seed;
    tsr_dtype dtype;
    bool special;
    size_t num_operands;
    ref_array x[CASE_OPERANDS];
    const tsr_sharding *shardings[CASE_OPERANDS];
    bool sum_is_pending;
    size_t num_results;
    ref_array want[CASE_RESULTS];
    int64_t terms;
    size_t dim;
    int64_t number;
    int variant;
    tsr_dtype to;
    double real;
    const char *equation;
    case_list lists[CASE_LISTS];
    size_t rank; /* of sizes */
    int64_t sizes[REF_DIMS];
    int64_t more[REF_DIMS];
    int64_t steps[REF_DIMS];
} number_case;

typedef tsr_status (*call_of_one)(tsr_tensor *, tsr_tensor **);
typedef tsr_status (*call_of_two)(tsr_tensor *, tsr_tensor *, tsr_tensor **);
typedef tsr_status (*call_of_dims)(tsr_tensor *, const size_t *, size_t, tsr_tensor **);
typedef tsr_status (*call_along)(tsr_tensor *, size_t, tsr_tensor **);
typedef ref_array (*ref_along)(tsr_arena *, const ref_array *, size_t);

/* What is drawn, called and expected. */
typedef void (*case_make)(tsr_arena *arena, number_case *c, rng *r);
typedef tsr_status (*case_call)(const number_case *c, tsr_tensor *const *x, tsr_tensor **out);
typedef void (*case_want)(tsr_arena *arena, number_case *c);

/*
 * A row. Floats are drawn from low to high, -4 to 4 when both are 0. `roundings` is how many times
 * a result of f16 or bf16 is rounded on its way; 0: results are exact.
 */
struct case_row {
    const char *call;
    int types;
    int traits;
    int roundings;
    double low;
    double high;
    case_make make;
    case_call run;
    case_want want;
    union {
        call_of_one one;
        call_of_two two;
        call_of_dims dims;
        call_along along;
    } by;
    union {
        const ref_function *one;
        const ref_function_2 *two;
        ref_reduction reduction;
        ref_along along;
    } ref;
};

/* The tables of rows, one for each file of them. */
typedef struct case_rows {
    const case_row *rows;
    size_t count;
} case_rows;
extern const case_rows rows_of_elements;
extern const case_rows rows_of_reductions;
extern const case_rows rows_of_shapes;
extern const case_rows rows_of_indices;
size_t case_rows_count(void);
const case_row *case_row_at(size_t i);

/* The call that a seed stands for, on a mesh of so many ranks. */
void case_draw(fixture *f, const case_row *row, uint64_t seed, int64_t ranks, number_case *out);

/* Whether an element is the expected one, within the bound of the case. */
bool case_accepts(const number_case *c, tsr_dtype dtype, const ref_number *want,
                  const ref_number *got);

/* ---- for rows ---- */

int64_t draw_extent(rng *r);
size_t draw_shape(rng *r, size_t least, size_t most, int64_t *shape);
/* Adds an operand with the row's elements. */
ref_array *add_operand(tsr_arena *arena, number_case *c, rng *r, tsr_dtype dtype, size_t rank,
                       const int64_t *shape);
/* Adds integers from low to high, of a type of indices. */
ref_array *add_indices(tsr_arena *arena, number_case *c, rng *r, size_t rank, const int64_t *shape,
                       int64_t low, int64_t high);
void draw_order(rng *r, size_t count, size_t *order);
tsr_dtype draw_type(rng *r, int types);

#endif

/*
 * Random calls of every op: a row for each public call, which makes its operands, their layouts and
 * its parameters from a seed. The same seed with tighter limits makes a smaller call of the same
 * kind, so that a failing one can be shrunk.
 */
#ifndef OP_CASES_H
#define OP_CASES_H

#include <tessera/ops.h>

#include "random.h"

enum { CASE_OPERANDS = 4, CASE_RESULTS = 3, CASE_DIMS = 8 };

/* What a call may have. */
typedef struct case_limits {
    int64_t ranks;
    int64_t most_extent; /* larger sizes are cut to it */
    unsigned replicated; /* bit i: all of operand i lies on every rank */
    unsigned settled;    /* bit i: nothing is pending in operand i */
    bool plain_types;
    bool doubles;    /* f64 where a row has floats; else integers */
    bool plain_mesh; /* the ids in order, one mesh for all */
    bool no_sub_axes;
    bool no_lists; /* openness, priorities, replicated axes; nothing pending either */
    bool no_layouts;
    bool plain_strategy;
} case_limits;

/* An operand: integers from low to high, or with `powers` 1, -1 and now and then 2. */
typedef struct case_operand {
    tsr_dtype dtype;
    size_t rank;
    int64_t shape[MAX_DIMS];
    int64_t low;
    int64_t high;
    bool powers;
    const tsr_sharding *sharding;
    const tsr_sharding *plain; /* replicated, nothing pending */
} case_operand;

typedef struct op_maker op_maker;

/* A list of dimensions. */
typedef struct case_dims {
    size_t count;
    size_t dims[CASE_DIMS];
} case_dims;

/* One call. Calls that make a tensor from nothing have its spec as operand 0. */
typedef struct op_case {
    const op_maker *op;
    uint64_t seed;
    case_limits limits;
    const tsr_mesh *mesh;
    tsr_strategy strategy;
    bool may_be_low; /* element types with few bits: small numbers, few of them */
    size_t num_operands;
    case_operand operands[CASE_OPERANDS];
    size_t num_results;
    size_t dim;
    int64_t number;
    int variant;
    tsr_dtype dtype;
    case_dims lists[5];
    size_t rank; /* of sizes */
    int64_t sizes[CASE_DIMS];
    int64_t starts[CASE_DIMS];
    int64_t limits_of[CASE_DIMS];
    int64_t strides[CASE_DIMS];
    const tsr_sharding *target;
    const char *equation;
    char arguments[320]; /* after the operands, as C */
} op_case;

/* Where a call is made: the tensors, and whether they are the replicated ones. */
typedef struct case_site {
    tsr_comm *world;
    tsr_tensor **x;
    bool plain;
} case_site;

/* Element types. */
enum case_types {
    WIDE_FLOATS = 1,
    NARROW_FLOATS = 2,
    INTEGERS = 4,
    TRUTH = 8,
    COMPLEX = 16,
    FLOATS = WIDE_FLOATS | NARROW_FLOATS,
    NUMBERS = FLOATS | INTEGERS,
    ALL_TYPES = NUMBERS | TRUTH | COMPLEX
};

typedef tsr_status (*call_of_one)(tsr_tensor *, tsr_tensor **);
typedef tsr_status (*call_of_two)(tsr_tensor *, tsr_tensor *, tsr_tensor **);
typedef tsr_status (*call_of_dims)(tsr_tensor *, const size_t *, size_t, tsr_tensor **);
typedef tsr_status (*call_along)(tsr_tensor *, size_t, tsr_tensor **);

/* A row: a public call and how to make one at random. */
struct op_maker {
    const char *call;
    const char *row; /* of op_rows; NULL for calls of several */
    int types;
    int64_t low; /* of elements; 0 and 0: -4 to 4 */
    int64_t high;
    bool powers;
    bool inexact;  /* compared within a bound, in floats */
    bool creates;  /* from nothing: operand 0 is the spec */
    bool concrete; /* has elements even when its operand has none */
    void (*make)(fixture *f, op_case *c, rng *r);
    tsr_status (*run)(const op_case *c, const case_site *at, tsr_tensor **out);
    union {
        call_of_one one;
        call_of_two two;
        call_of_dims dims;
        call_along along;
    } by;
};

/* The tables of rows, one for each file of them. */
typedef struct op_makers {
    const op_maker *rows;
    size_t count;
} op_makers;
extern const op_makers makers_of_elements;
extern const op_makers makers_of_shapes;
extern const op_makers makers_of_indices;
size_t op_makers_count(void);
const op_maker *op_maker_at(size_t i);

/* The call that a seed stands for. */
void op_case_make(fixture *f, const op_maker *op, uint64_t seed, const case_limits *limits,
                  op_case *out);

/* ---- for rows ---- */

tsr_dtype draw_type(const op_case *c, rng *r, int types);
/* The type of the call, one of its row. */
void draw_case_type(op_case *c, rng *r);
bool is_low_type(tsr_dtype dtype);
int64_t draw_extent(const op_case *c, rng *r);
/* At most `most` dimensions. */
size_t draw_shape(const op_case *c, rng *r, size_t most, int64_t *shape);
/* Adds an operand with the row's numbers. */
case_operand *add_operand(op_case *c, tsr_dtype dtype, size_t rank, const int64_t *shape);
/* Adds indices from below 0 to above `extent`. */
case_operand *add_indices(op_case *c, rng *r, size_t rank, const int64_t *shape, int64_t extent);
void add_argument(op_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `, (type[]){1, 2}` */
void add_list(op_case *c, const char *type, const int64_t *values, size_t count);
void add_dims(op_case *c, const case_dims *dims);
/* A permutation of 0 .. count-1. */
void draw_order(rng *r, size_t count, size_t *order);

#endif

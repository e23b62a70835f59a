/* Ops of every class of SPMD types, as functions of small vectors, each beside its row. */
#ifndef LOCAL_OPS_H
#define LOCAL_OPS_H

#include <tessera/tessera.h>

enum { LOCAL_ARITY = 3, LOCAL_IN = 2, LOCAL_OUT = 6 };

/* Vectors that one rank has. */
typedef struct local_args {
    double of[LOCAL_ARITY][LOCAL_IN];
} local_args;

/* The columns of the table of local rules. */
typedef enum local_column { NONLINEAR, LINEAR, MULTILINEAR, DIVISION, NUM_COLUMNS } local_column;

/*
 * An op on f64 unless `dtype` says otherwise. `elements` are those of every operand. Operands in
 * `discrete` (bits) choose: they have no gradient; a result that has none has all bits set.
 */
typedef struct local_op {
    const char *name;
    const char *row; /* in the table of ops; NULL for one that nothing is known of */
    local_column column;
    size_t arity;
    size_t elements;
    size_t results;
    void (*run)(const local_args *x, double *y);
    int32_t variant;
    unsigned discrete;
    tsr_dtype from; /* F64 when 0 */
    tsr_dtype to;
    double unit; /* of the inputs; 1 when 0 */
} local_op;

extern const local_op local_ops[];
extern const size_t local_ops_count;

/* The class of an operand, by the row; the state is a local_op. */
tsr_op_class local_class_of(void *state, size_t operand, tsr_reduction pending);

#endif

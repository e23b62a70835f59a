/*
 * Typed programs of random steps, and what they mean.
 *
 * Along a set of ranks a value means a list: what R, I and P mean is the same on every rank, the
 * common array or the sum, and what V means is each rank's own. So a program can be run on meanings
 * in plain C, all ranks at once, with a derivative in some direction beside every number. The
 * library's runs are compared with that.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "random.h"

enum {
    PROGRAM_RANKS = 4,
    PROGRAM_AXES = 2,
    PROGRAM_DIMS = 4,
    PROGRAM_ELEMENTS = 64,
    PROGRAM_VALUES = 48
};

typedef enum step_op {
    STEP_LEAF,
    STEP_ADD,
    STEP_SUB,
    STEP_MUL,
    STEP_MATMUL,
    STEP_CONCATENATE,
    STEP_NEGATE,
    STEP_RELU,
    STEP_SUM,
    STEP_RESHAPE,
    STEP_TRANSPOSE,
    STEP_SLICE,
    STEP_TRANSITION,
    STEP_COUNT
} step_op;

/* One step: operands by their places, a dimension, or a transition along an axis. */
typedef struct step {
    step_op op;
    size_t a;
    size_t b;
    bool partial;  /* sums and products: what varies along the axis is pending then */
    bool varies;   /* and it varies */
    bool implicit; /* a transition of V is called as one of P */
    size_t axis;
    int64_t dim;
    size_t rank; /* of the result */
    int64_t shape[PROGRAM_DIMS];
    tsr_transition what;
} step;

/* A number and its derivative. */
typedef struct dual {
    double value;
    double slope;
} dual;

/* What a value means on each rank. */
typedef struct meaning {
    dual at[PROGRAM_RANKS][PROGRAM_ELEMENTS];
} meaning;

/* A leaf: its types, and what every rank has. */
typedef struct leaf {
    tsr_local_type kinds[PROGRAM_AXES];
    int64_t dims[PROGRAM_AXES]; /* of the spec, where the axis is global; else TSR_NO_DIM */
    double has[PROGRAM_RANKS][PROGRAM_ELEMENTS];
} leaf;

/* Ranks on a grid, the last axis fastest. Axis PROGRAM_AXES is all of them as one. */
typedef struct grid {
    int64_t ranks;
    size_t axes;
    int64_t sizes[PROGRAM_AXES + 1];
} grid;

typedef struct program {
    grid grid;
    size_t leaves; /* the first steps */
    size_t count;
    step steps[PROGRAM_VALUES];
    leaf leaf[PROGRAM_VALUES];
} program;

int64_t grid_coordinate(const grid *g, int64_t rank, size_t axis);
/* The rank at another place along an axis. */
int64_t grid_moved(const grid *g, int64_t rank, size_t axis, int64_t place);

int64_t step_elements(const step *s);

/* The shape of a step's result, from those before it; false when it does not fit. */
bool step_shape(const program *p, step *s);

/* What a leaf means, without slopes. */
void leaf_meaning(const program *p, size_t which, meaning *out);

/* One step on meanings. */
void step_meaning(const program *p, const step *s, const meaning *values, meaning *out);

#endif

/* Small matrices of integers. */
#ifndef MATRIX_H
#define MATRIX_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_DEVICES = 3, MAX_SIDE = 2 * MAX_DEVICES };

typedef struct matrix {
    int64_t rows;
    int64_t columns;
    uint64_t at[MAX_SIDE][MAX_SIDE];
} matrix;

bool matrix_equal(const matrix *a, const matrix *b);

/* Ops of one operand leave the second alone. */
typedef matrix (*matrix_op)(const matrix *a, const matrix *b);

matrix matrix_add(const matrix *a, const matrix *b);
matrix matrix_multiply(const matrix *a, const matrix *b);
matrix matrix_invert(const matrix *a, const matrix *b);
matrix matrix_transpose(const matrix *a, const matrix *b);
matrix matrix_dot(const matrix *a, const matrix *b);

#endif

#include "matrix.h"

#include <string.h>

bool matrix_equal(const matrix *a, const matrix *b)
{
    bool equal = a->rows == b->rows && a->columns == b->columns;
    for (int64_t i = 0; equal && i < a->rows; i++) {
        equal = memcmp(a->at[i], b->at[i], (size_t)a->columns * sizeof a->at[i][0]) == 0;
    }
    return equal;
}

matrix matrix_add(const matrix *a, const matrix *b)
{
    matrix c = *a;
    for (int64_t i = 0; i < c.rows * c.columns; i++) {
        c.at[i / c.columns][i % c.columns] += b->at[i / c.columns][i % c.columns];
    }
    return c;
}

matrix matrix_multiply(const matrix *a, const matrix *b)
{
    matrix c = *a;
    for (int64_t i = 0; i < c.rows * c.columns; i++) {
        c.at[i / c.columns][i % c.columns] *= b->at[i / c.columns][i % c.columns];
    }
    return c;
}

matrix matrix_invert(const matrix *a, const matrix *b)
{
    matrix c = *a;
    (void)b;
    for (int64_t i = 0; i < c.rows * c.columns; i++) {
        c.at[i / c.columns][i % c.columns] = ~a->at[i / c.columns][i % c.columns];
    }
    return c;
}

matrix matrix_transpose(const matrix *a, const matrix *b)
{
    matrix c = {.rows = a->columns, .columns = a->rows};
    (void)b;
    for (int64_t i = 0; i < c.rows; i++) {
        for (int64_t k = 0; k < c.columns; k++) {
            c.at[i][k] = a->at[k][i];
        }
    }
    return c;
}

matrix matrix_dot(const matrix *a, const matrix *b)
{
    matrix c = {.rows = a->rows, .columns = b->columns};
    for (int64_t i = 0; i < c.rows; i++) {
        for (int64_t k = 0; k < c.columns; k++) {
            for (int64_t n = 0; n < a->columns; n++) {
                c.at[i][k] += a->at[i][n] * b->at[n][k];
            }
        }
    }
    return c;
}

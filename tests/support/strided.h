/* Arrays with any strides, with guards around and between their elements. */
#ifndef STRIDED_H
#define STRIDED_H

#include "random.h"

#include <tessera/view.h>

enum { STRIDED_MAX_RANK = 8 };

typedef struct strided {
    unsigned char *memory;
    size_t bytes;
    size_t item;
    int64_t start; /* of the element with all indices 0 */
    int64_t shape[STRIDED_MAX_RANK];
    int64_t strides[STRIDED_MAX_RANK];
    tsr_view view;
} strided;

/* What a layout may be. */
typedef enum strided_kind {
    STRIDED_PLAIN, /* row-major */
    STRIDED_DST,   /* permuted, with gaps, backwards, at any alignment */
    STRIDED_SRC    /* the same, and repeated: strides of 0 */
} strided_kind;

/* An array of guard bytes; `s` must not move, for its view points into it. */
void strided_init(strided *s, rng *r, tsr_dtype dtype, const int64_t *shape, size_t rank,
                  strided_kind kind);
void strided_free(strided *s);

int64_t strided_count(const strided *s);

/* The element at an index, or at a place in row-major order; and the index of such a place. */
unsigned char *strided_at(const strided *s, const int64_t *index);
unsigned char *strided_element(const strided *s, int64_t place);
void strided_index(const int64_t *shape, size_t rank, int64_t place, int64_t *index);

/* Fails unless every byte that is of no element is as it was. */
void strided_check_guards(const strided *s);

/* A number to an element of a type and back; those tests use are exact in each. */
void number_store(tsr_dtype dtype, double number, void *element);
double number_load(tsr_dtype dtype, const void *element);

#endif

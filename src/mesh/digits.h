/* Numberings of places as digits. */
#ifndef MESH_DIGITS_H
#define MESH_DIGITS_H

#include "mesh/mesh.h"

/* A numbering of 0 .. n-1. */
typedef int64_t (*numbering)(const void *state, int64_t place);

/*
 * Finds the digits of a numbering, major to minor and coalesced; false when it has none. Digits
 * whose id stride is 0 are included. `digits` has room for MAX_DIGITS. Tries every place.
 */
bool digits_find(int64_t n, numbering number, const void *state, digit *digits, size_t *count);

/* The digits of iota(n).reshape(dims).transpose(perm), coalesced; perm NULL is the identity. */
size_t digits_of_iota(const int64_t *dims, const int64_t *perm, size_t count, digit *digits);

/*
 * Cuts out the part of `size` places from `place_stride` up: as (size, id stride) pairs, major to
 * minor and coalesced. `out` has room for MAX_DIGITS. False when the part cuts across a digit.
 */
bool digits_part(const digit *digits, size_t count, int64_t place_stride, int64_t size,
                 tsr_stride *out, size_t *out_count);

#endif

/*
 * What an op does to a pending reduction of one of its arguments: the classes of SPMD types.
 *
 * Linearity belongs to each argument. An argument that is LINEAR is so together with all others of
 * that class: a sum may stay pending if it is pending in all of them (add, concatenate, select's
 * two cases). One that is MULTILINEAR is so by itself: a sum may be pending in one of them, while
 * all other arguments are replicated (multiply, a product, the dividend of a division).
 */
#ifndef SPMD_CLASS_H
#define SPMD_CLASS_H

typedef enum spmd_class { SPMD_NONLINEAR, SPMD_LINEAR, SPMD_MULTILINEAR } spmd_class;

#endif

/*
 * The devices of two layouts as digits of one number.
 *
 * Where both meshes number the devices in mixed radix and their axes can be cut into common digits,
 * a shard's index, under either layout, is made of some of the digits. Devices with given digits
 * are then counted, and sums over all devices taken, without listing devices.
 */
#ifndef PLAN_LATTICE_H
#define PLAN_LATTICE_H

#include "mesh/view.h"
#include "plan/overlap.h"

/* A digit: number / stride % size. Its worth in the indices that it is part of. */
typedef struct lattice_digit {
    int64_t size;
    int64_t stride;
    int64_t weight;
    bool fixed; /* the devices that hold a source shard have it in common */
} lattice_digit;

/*
 * What devices that differ in a digit alone have in common before: a digit cuts the source, or they
 * are replicas, or each has a part of a reduction that is folded.
 */
typedef enum lattice_role {
    LATTICE_SHARD,
    LATTICE_REPLICA,
    LATTICE_PART,
    LATTICE_ROLES
} lattice_role;

/* A digit that belongs to a dimension before, after, or both; NO_DIM where it does not. */
typedef struct lattice_atom {
    int64_t size;
    lattice_role role;
    size_t src_dim;
    size_t dst_dim;
    int64_t src_weight;
    int64_t dst_weight;
} lattice_atom;

#define NO_DIM SIZE_MAX

/* An index that digits make, major to minor. */
typedef struct lattice_index {
    const lattice_digit *digits;
    size_t count;
} lattice_index;

/* The places of a layout: along each dimension, along what stays pending, and what is folded. */
typedef struct lattice_layout {
    const tsr_geometry *geometry;
    const places *kept;
    const places *removed;
} lattice_layout;

typedef struct plan_lattice {
    bool exists;              /* else nothing below is set */
    mesh_view view;           /* the numbering, of places of the source mesh */
    const lattice_index *dst; /* for each dimension, the index of its shard after */
    lattice_index copies;     /* among the devices that hold the same after */
    const lattice_atom *atoms;
    size_t num_atoms;
    int64_t rest; /* how many devices differ in no atom */
} plan_lattice;

/* Finds the common digits, if there are any; `copies` are the devices that get the same. */
tsr_status plan_lattice_create(const plan_maker *m, const lattice_layout *src,
                               const lattice_layout *dst, const places *copies, plan_lattice *out);

/* The number of the device at a place of the source mesh. */
int64_t lattice_number(const plan_lattice *l, int64_t place);

/* Whether an index has the fixed digits of a number. */
bool lattice_matches(const lattice_index *index, int64_t number, int64_t value);

/* How many indices below a value have the fixed digits of a number. */
int64_t lattice_count(const lattice_index *index, int64_t number, int64_t below);

/* How many combinations of digits a walk over all devices enumerates, at most. */
int64_t lattice_combinations(const plan_lattice *l);

#endif

/*
 * Atoms: the common refinement of the axes of two layouts and of the levels of a topology.
 *
 * An atom is a digit of the device id, of a size and an id stride, inside one level. Every axis and
 * sub-axis that either layout names is a list of whole atoms, so a layout is a list of atoms for
 * each dimension, and what moves is counted by atoms.
 */
#ifndef PLAN_ATOMS_H
#define PLAN_ATOMS_H

#include <tessera/geometry.h>
#include <tessera/topology.h>

enum { ATOMS_MAX = 16, ATOMS_MAX_RANK = 16 };

typedef struct plan_atom {
    int64_t size;
    int64_t stride; /* of device ids */
    size_t level;
    tsr_axis_ref ref; /* the part of an axis of the source mesh */
} plan_atom;

/* What all states of one search share. Atoms are outermost first; none has size 1. */
typedef struct plan_space {
    tsr_topology_spec topology; /* fitted to the devices */
    const tsr_geometry *src;
    const tsr_geometry *dst;
    size_t rank;
    const int64_t *shape;
    int64_t item;      /* bytes of an element */
    int64_t max_cases; /* coordinates to enumerate for one step at most; 0: LACKING_MAX */
    bool program;      /* parts are padded to the largest: the vocabulary of programs */
    size_t num_atoms;
    plan_atom atoms[ATOMS_MAX];
} plan_space;

/*
 * Finds the atoms of two geometries on the same devices. TSR_NOT_APPLICABLE where there is no
 * common refinement; TSR_ERR_LIMIT beyond ATOMS_MAX atoms or ATOMS_MAX_RANK dimensions.
 */
tsr_status atoms_find(tsr_context *ctx, plan_space *space);

/* The atoms that a list of axes consists of, major to minor; false if it cuts an atom. */
bool atoms_of_axes(const plan_space *space, const tsr_mesh *mesh, const tsr_axis_ref *axes,
                   size_t num_axes, uint8_t *out, size_t *count);

/* The product of the sizes of a set of atoms. */
int64_t atoms_product(const plan_space *space, uint32_t set);

#endif

/*
 * What each device holds, as a function of its number.
 *
 * In a numbering of the devices that makes digits of a mesh (mesh/view.h), each digit of a device's
 * number adds a weight to the shard index of one dimension, or to nothing. With digits joined
 * wherever one continues another, that function has a canonical form: the smallest digit's size is
 * the first number at which the function is not that multiple of its value at 1, and so on upwards.
 * So two shardings in one numbering place elements alike when their forms are equal.
 *
 * Devices that hold nothing are all alike, whatever their indices: a weight that leads straight to
 * an empty shard is DEAD, the same in every dimension, and a digit that runs into empty shards
 * continues into a dead one. This holds for even chunks only; explicit sizes are not examined.
 */
#ifndef SHARD_FORM_H
#define SHARD_FORM_H

#include "mesh/view.h"
#include "shard/geometry.h"

/* What a digit adds to: a dimension, or one of these. */
enum { FREE = -1, DEAD = -2, PENDING = -3 };

typedef struct term {
    int64_t stride;
    int64_t size;
    int64_t weight;
    int target;
} term;

/* Terms from minor to major, without gaps. */
typedef struct form {
    term terms[2 * MAX_DIGITS];
    size_t count;
} form;

/* The form of a sharding in a view; false when one of its axes is not made of digits there. */
bool form_of(const mesh_view *view, const tsr_geometry *geometry, form *out);

bool form_equal(const form *a, const form *b);

/* Whether the same reductions are pending over the same devices, by the forms. */
bool form_same_pending(const form *a, const form *b);

/*
 * The digits that either form depends on, as pairs of the numbering: what devices hold can be
 * compared over these alone. False when the digits of one cut across those of the other.
 */
bool form_joint_digits(const form *a, const form *b, tsr_stride *out, size_t *count);

#endif

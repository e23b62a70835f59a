/* Which processes take part in a collective. */
#ifndef INTERP_GROUPS_H
#define INTERP_GROUPS_H

#include "interp/world.h"

/* How numbers in groups name processes. */
typedef enum interp_group_kind {
    BY_REPLICA,
    BY_PARTITION,
    BY_REPLICA_AND_PARTITION,
    BY_ID
} interp_group_kind;

/* Groups as rows of numbers, padded with -1. */
typedef struct interp_groups {
    interp_group_kind by;
    const int64_t *numbers;
    size_t count;
    size_t size;
} interp_groups;

/* The processes that take part, in order. */
typedef struct interp_members {
    size_t *list;
    size_t count;
} interp_members;

/* Reads an attribute of numbers, or of axes of a mesh; none where it is left out. */
tsr_status interp_read_groups(code_decoder *d, uint32_t op, const char *name, interp_groups *out);

bool interp_has_member(const interp_members *m, size_t process);
/* Puts the process that a number of a group names, as seen by a process, into a list. */
void interp_add_members(const interp_groups *c, const interp_world *world, int64_t number,
                        size_t process, interp_members *out);
/* The group of a process, or all that numbers may name; false when no group has it. The list has
 * room for the world. */
bool interp_find_group(const interp_groups *c, const interp_world *world, size_t process,
                       bool whole, interp_members *out);

#endif

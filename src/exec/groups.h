/* Which processes take part in a collective. */
#ifndef EXEC_GROUPS_H
#define EXEC_GROUPS_H

#include "exec/world.h"

/* How numbers in groups name processes. */
typedef enum exec_group_kind {
    BY_REPLICA,
    BY_PARTITION,
    BY_REPLICA_AND_PARTITION,
    BY_ID
} exec_group_kind;

/* Groups as rows of numbers, padded with -1. */
typedef struct exec_groups {
    exec_group_kind by;
    const int64_t *numbers;
    size_t count;
    size_t size;
} exec_groups;

/* The processes that take part, in order. */
typedef struct exec_members {
    size_t *list;
    size_t count;
} exec_members;

/* Reads an attribute of numbers, or of axes of a mesh; none where it is left out. */
tsr_status exec_read_groups(exec_decoder *d, uint32_t op, const char *name, exec_groups *out);

bool exec_has_member(const exec_members *m, size_t process);
/* Puts the process that a number of a group names, as seen by a process, into a list. */
void exec_add_members(const exec_groups *c, const exec_world *world, int64_t number, size_t process,
                      exec_members *out);
/* The group of a process, or all that numbers may name; false when no group has it. The list has
 * room for the world. */
bool exec_find_group(const exec_groups *c, const exec_world *world, size_t process, bool whole,
                     exec_members *out);

#endif

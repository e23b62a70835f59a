/* A list of ops in the memory of a workspace. */
#ifndef TRANSFORM_OP_LIST_H
#define TRANSFORM_OP_LIST_H

#include "propagate/workspace.h"

typedef struct op_list {
    uint32_t *ops;
    size_t count;
    size_t room;
} op_list;

tsr_status op_list_add(workspace *w, op_list *list, uint32_t op);

#endif

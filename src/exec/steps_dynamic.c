#include "exec/machine.h"

const exec_op exec_ops_dynamic[] = {
    {NULL, NULL},
};

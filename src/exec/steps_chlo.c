#include "exec/machine.h"

const exec_op exec_ops_chlo[] = {
    {NULL, NULL},
};

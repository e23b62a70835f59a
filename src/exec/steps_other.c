#include "exec/machine.h"

const exec_op exec_ops_other[] = {
    {NULL, NULL, NULL},
};

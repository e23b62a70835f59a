/* The shardings of a program's values: where they are kept, and resolved against its meshes. */
#ifndef IR_SHARDINGS_H
#define IR_SHARDINGS_H

#include "ir/program.h"

typedef struct ir_shardings ir_shardings;

void ir_shardings_destroy(ir_shardings *shardings);

#endif

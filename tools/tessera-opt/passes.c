/* The table of passes; it has a row for each pass and each pipeline. */
#include "pass.h"

const pass_table all_passes = {NULL, 0};

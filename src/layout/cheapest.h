/* The layouts of the lowest price. */
#ifndef LAYOUT_CHEAPEST_H
#define LAYOUT_CHEAPEST_H

#include "layout/inference.h"

/*
 * Solves an inference by its prices. Compared are the layouts of the other strategies and every way
 * to give factors the axes of operands (factor/align.h), each with what may stay pending and
 * without; of equal prices the first. So no other strategy has a lower price.
 */
tsr_status cheapest_solve(inference *x);

#endif

/* Dimensions whose sizes are not bound yet. */
#ifndef LAYOUT_UNBOUND_H
#define LAYOUT_UNBOUND_H

#include "layout/inference.h"

/*
 * Operands that share an unbound dimension have it as the same placement: equal sizes stay where
 * they are once they are bound, and whether others have to move is not known before.
 */
tsr_status unbound_check(const inference *x);

#endif

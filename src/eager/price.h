/* What eager calls charge for layouts: redistributions over the world's link. */
#ifndef EAGER_PRICE_H
#define EAGER_PRICE_H

#include "eager/eager.h"
#include "layout/inference.h"

/* The prices of a world; they use the arena for one call at a time. */
inference_prices price_table(eager *e);

/* Forgets the cases that were chosen by other prices, where the world's link is another now. */
void price_refresh(eager *e);

#endif

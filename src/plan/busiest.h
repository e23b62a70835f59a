/*
 * The device of a plan that receives the most, and the one that sends the most.
 *
 * Where the two layouts of a step have common digits, both are found by those (lattice_walk.h).
 * Devices are looked at one by one where there are none, and over several steps of which two treat
 * devices unequally, since different devices may then be the busiest.
 */
#ifndef PLAN_BUSIEST_H
#define PLAN_BUSIEST_H

#include "plan/plan.h"

/*
 * The elements that the busiest device receives from others, and sends to others, in some steps
 * together. TSR_ERR_LIMIT where more than PLAN_MAX_ENUMERATED devices would be looked at.
 */
tsr_status busiest_received(const plan_maker *m, const plan_step *steps, size_t count,
                            int64_t *out);
tsr_status busiest_sent(const plan_maker *m, const plan_step *steps, size_t count, int64_t *out);

/*
 * From how many devices one receives in a step: at most the product over dimensions of the shards
 * before that one shard after has rows of, for each part of a fold; one less where each device has
 * some of what it gets itself.
 */
tsr_status busiest_sources(const plan_maker *m, const plan_exchange *x, int64_t *out);

#endif

/* What collectives and channels share: their attributes. */
#ifndef INTERP_STEPS_COLLECTIVE_H
#define INTERP_STEPS_COLLECTIVE_H

#include <tessera/geometry.h>

#include "code/code.h"
#include "interp/array.h"

/* The number of the channel of an op; 0 for none. */
int64_t interp_channel_of(const tsr_program *p, uint32_t op);

/* Numbers of an attribute of i64 in two columns; none when it is left out. Owned by the code. */
tsr_status interp_read_pairs(code_decoder *d, uint32_t op, const char *name, const int64_t **out,
                             size_t *count);

/*
 * A step that puts whole results together from the parts of all processes of a group: operand i is
 * a part of result i, cut as `cuts` say. Outside of a world it gives its operands. Groups are rows
 * of numbers of processes.
 */
tsr_status interp_prepare_assembly(code_decoder *d, code_step *step, const int64_t *groups,
                                   size_t num_groups, size_t group_size,
                                   const tsr_geometry *const *cuts);

/* Manual computations, in two steps. */
tsr_status interp_prepare_manual(code_decoder *d, code_step *step);
tsr_status interp_prepare_manual_end(code_decoder *d, code_step *step, code_step *next);

/* Copies the box of a device from the whole to its part, or the other way round. */
void interp_copy_box(const interp_array *whole, const interp_array *part, const tsr_geometry *cut,
                     int64_t device, bool to_part);

#endif

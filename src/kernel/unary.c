#include "kernel/elementwise.h"
#include "kernel/map.h"

#define UNARY_ENTRY(NAME, op, floats, integers, truth)                                             \
    OP_ENTRY(UNARY_##NAME, op, COLUMN(floats, integers, truth))
#define TEMPLATE "kernel/unary_type.inc"
#include "kernel/element_types.inc"

#define ROW(NAME, type) [TSR_##NAME] = type##_unary,
static const map_forms *const rows[NUM_ELEMENT_TYPES] = {ELEMENT_TYPES(ROW)};

bool unary_supports(unary_op op, tsr_dtype dtype)
{
    return rows[dtype] != NULL && rows[dtype][op].run[0] != NULL;
}

void kernel_unary(unary_op op, const tsr_view *dst, const tsr_view *src)
{
    kernel_map(&rows[dst->dtype][op], dst, &src, 1);
}

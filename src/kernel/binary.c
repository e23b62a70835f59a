#include "kernel/elementwise.h"
#include "kernel/map.h"

#define BINARY_ENTRY(NAME, op, floats, integers, truth)                                            \
    OP_ENTRY(BINARY_##NAME, op, COLUMN(floats, integers, truth))
#define TEMPLATE "kernel/binary_type.inc"
#include "kernel/element_types.inc"

#define ROW(NAME, type) [TSR_##NAME] = type##_binary,
static const map_forms *const rows[NUM_ELEMENT_TYPES] = {ELEMENT_TYPES(ROW)};

bool binary_supports(binary_op op, tsr_dtype dtype)
{
    return rows[dtype] != NULL && rows[dtype][op].run[0] != NULL;
}

void kernel_binary(binary_op op, const tsr_view *dst, const tsr_view *a, const tsr_view *b)
{
    const tsr_view *const sources[] = {a, b};
    kernel_map(&rows[dst->dtype][op], dst, sources, 2);
}

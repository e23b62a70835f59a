#include "kernel/elementwise.h"
#include "kernel/map.h"

#define TEMPLATE "kernel/clamp_type.inc"
#include "kernel/element_types.inc"

#define ROW(NAME, type) [TSR_##NAME] = RUNS(type##_clamp),
static const map_forms clamps[NUM_ELEMENT_TYPES] = {ELEMENT_TYPES(ROW)};

bool clamp_supports(tsr_dtype dtype)
{
    return clamps[dtype].run[0] != NULL;
}

void kernel_clamp(const tsr_view *dst, const tsr_view *min, const tsr_view *x, const tsr_view *max)
{
    const tsr_view *const sources[] = {min, x, max};
    kernel_map(&clamps[dst->dtype], dst, sources, 3);
}

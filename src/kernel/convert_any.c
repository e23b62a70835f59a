#include "kernel/elementwise.h"
#include "number/element.h"

void kernel_convert_any(tsr_dtype to, void *dst, tsr_dtype from, const void *src, int64_t count)
{
    const int64_t step = tsr_dtype_item_bytes(from);
    const int64_t to_step = tsr_dtype_item_bytes(to);
    if (convert_supports(from, to)) {
        const tsr_view x = {without_const(src), from, 1, &count, &step};
        const tsr_view y = {dst, to, 1, &count, &to_step};
        kernel_convert(&y, &x);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        element_store(to, element_load(from, (const char *)src + i * step),
                      (char *)dst + i * to_step);
    }
}

bool kernel_is_narrow(tsr_dtype dtype, tsr_dtype *wider)
{
    switch (dtype) {
    case TSR_I2:
    case TSR_I4:
        *wider = TSR_I8;
        return true;
    case TSR_U2:
    case TSR_U4:
        *wider = TSR_U8;
        return true;
    default:
        *wider = TSR_F32;
        return dtype >= TSR_F4E2M1FN && dtype <= TSR_F8E8M0FNU;
    }
}

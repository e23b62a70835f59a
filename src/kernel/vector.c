#include "kernel/vector.h"

#include <stdatomic.h>

static atomic_bool only_portable;

bool vector_has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") &&
           !atomic_load_explicit(&only_portable, memory_order_relaxed);
#else
    return false;
#endif
}

void vector_set_portable(bool portable)
{
    atomic_store_explicit(&only_portable, portable, memory_order_relaxed);
}

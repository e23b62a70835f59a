#include "kernel/vector.h"

#include <stdatomic.h>

static atomic_int most = VECTOR_AVX512;

static vector_form of_processor(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        return VECTOR_AVX512;
    }
    return __builtin_cpu_supports("avx2") ? VECTOR_AVX2 : VECTOR_PORTABLE;
#else
    return VECTOR_PORTABLE;
#endif
}

vector_form vector_best(void)
{
    const vector_form best = of_processor();
    const vector_form allowed = (vector_form)atomic_load_explicit(&most, memory_order_relaxed);
    return best < allowed ? best : allowed;
}

void vector_set_most(vector_form form)
{
    atomic_store_explicit(&most, (int)form, memory_order_relaxed);
}

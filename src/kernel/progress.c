#include "kernel/progress.h"

/* Set in every call: the model without a function call. */
static _Thread_local progress_target own __attribute__((tls_model("initial-exec")));

void progress_set(progress_target target)
{
    own = target;
}

progress_target progress_get(void)
{
    return own;
}

/* Only the owner writes the counter. */
void progress_raise(void)
{
    if (own.counter != NULL) {
        const uint64_t now = atomic_load_explicit(own.counter, memory_order_relaxed);
        atomic_store_explicit(own.counter, now + 1, memory_order_relaxed);
    }
    if (own.raised != NULL) {
        own.raised(own.state);
    }
}

/* The guard of lists of tensors: base/guard.h. */
#include "base/guard.h"

tsr_context *guard_tensors_context(tsr_tensor *const *list, size_t count)
{
    tsr_context *found = NULL;
    for (size_t i = 0; list != NULL && found == NULL && i < count; i++) {
        found = tsr_comm_context(tsr_tensor_world(list[i]));
    }
    return found;
}

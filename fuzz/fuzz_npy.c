/* Headers of .npy files: what is read fits the file. */
#include "fuzz.h"

#include "file/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    workbench w = workbench_open();
    npy_head head;
    if (worked(&w, npy_read_head(w.ctx, "input", (const char *)data, size, size, &head))) {
        INSIST(head.rank <= NPY_MAX_RANK);
        INSIST(head.bytes >= 0 && (uint64_t)head.bytes <= size - head.data);
    }
    workbench_close(&w);
    return 0;
}

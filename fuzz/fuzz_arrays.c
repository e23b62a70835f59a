/* Arrays in files: whatever the bytes are, reading gives arrays that lie inside of them, or an
 * error. */
#include <stdio.h>
#include <unistd.h>

#include <tessera/file.h>

#include "fuzz.h"

enum { LARGEST = 1 << 14 };

/* Writes the bytes to a file whose ending names a format. */
static void write_file(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    INSIST(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

/* Reads every element, so that an array outside of its memory is found. */
static void read_array(workbench *b, const tsr_array_file *file, size_t i)
{
    const size_t bytes = tsr_array_file_bytes(file, i);
    const tsr_view view = tsr_array_file_view(file, i);
    char *data = malloc(bytes + 1);
    INSIST(tsr_array_file_name(file, i) != NULL && data != NULL);
    INSIST(view.rank <= 32 && view.data == NULL);
    if (tsr_array_file_read(b->ctx, file, i, data) == TSR_OK) {
        volatile unsigned sum = 0;
        for (size_t k = 0; k < bytes; k++) {
            sum += (unsigned char)data[k];
        }
        (void)sum;
    }
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const endings[] = {"npz", "safetensors", "npy"};
    if (size == 0 || size > LARGEST) {
        return 0;
    }
    const char *folder = getenv("TMPDIR");
    char path[256];
    (void)snprintf(path, sizeof path, "%s/fuzz_arrays.%ld.%s", folder != NULL ? folder : "/tmp",
                   (long)getpid(), endings[data[0] % 3]);
    write_file(path, data + 1, size - 1);
    workbench b = workbench_open();
    const tsr_array_file *file = NULL;
    if (tsr_array_file_open(b.ctx, b.arena, path, &file) == TSR_OK) {
        for (size_t i = 0; i < tsr_array_file_count(file); i++) {
            read_array(&b, file, i);
        }
    }
    workbench_close(&b);
    (void)unlink(path);
    return 0;
}

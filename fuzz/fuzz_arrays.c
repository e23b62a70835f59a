/* Arrays in files: whatever the bytes are, reading gives arrays that lie inside of them, or an
 * error. */
#include "array_file.h"
#include "command.h"
#include "fuzz.h"

enum { LARGEST = 1 << 14 };

/* Reads every element, so that a view outside of its memory is found. */
static unsigned sum_of(const tsr_view *v)
{
    volatile unsigned sum = 0;
    const size_t bytes = array_bytes(v);
    for (size_t i = 0; v->strides == NULL && i < bytes; i++) {
        sum += ((const unsigned char *)v->data)[i];
    }
    return sum;
}

/* What is refused is told on stderr: not here. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    (void)setvbuf(stderr, NULL, _IOFBF, 1 << 16);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct session session;
    struct named_array *list = NULL;
    size_t count = 0;
    if (size == 0 || size > LARGEST || session_open(&session, COLOUR_NEVER) != EXIT_FINE) {
        return 0;
    }
    const struct file_bytes file = {(const char *)data + 1, size - 1};
    const int code = data[0] % 2 == 0
                         ? zip_read(&session, "fuzz.npz", file, &list, &count)
                         : safetensors_read(&session, "fuzz.safetensors", file, &list, &count);
    for (size_t i = 0; code == EXIT_FINE && i < count; i++) {
        INSIST(list[i].name != NULL);
        (void)sum_of(&list[i].view);
    }
    session_close(&session);
    return 0;
}

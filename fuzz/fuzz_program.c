/*
 * Programs: whatever is read is printed, read again and printed the same, in both forms, and the
 * pretty form is the same after a round through either. What was not verified can be printed too.
 */
#include <tessera/program.h>

#include "fuzz.h"

/* The program of a text; NULL, with a diagnostic, when it is refused. */
static tsr_program *read_program(const workbench *b, const char *data, size_t size, int flags)
{
    const tsr_text text = {.name = "fuzz", .data = data, .size = size};
    tsr_program *program = NULL;
    const tsr_status status =
        tsr_program_read(b->ctx, &text, TSR_PROGRAM_ALLOW_UNREGISTERED | flags, &program);
    INSIST((program != NULL) == worked(b, status));
    return program;
}

/* A printed program, which may have zero bytes. */
typedef struct printed_text {
    char *data;
    size_t size;
} printed_text;

static bool take_bytes(void *state, const char *bytes, size_t count)
{
    printed_text *text = state;
    char *data = realloc(text->data, text->size + count + 1);
    INSIST(data != NULL);
    memcpy(data + text->size, bytes, count);
    text->data = data;
    text->size += count;
    return true;
}

static printed_text print_program(const workbench *b, const tsr_program *program, int printing)
{
    printed_text text = {0};
    INSIST(tsr_program_print(b->ctx, program, printing, take_bytes, &text) == TSR_OK);
    return text;
}

/* Shows both texts when they differ. */
static void insist_same(const printed_text *first, const printed_text *second)
{
    const bool same =
        first->size == second->size && memcmp(first->data, second->data, first->size) == 0;
    if (!same) {
        (void)fprintf(stderr, "first:\n%.*s\nthen:\n%.*s\n", (int)first->size, first->data,
                      (int)second->size, second->data);
    }
    INSIST(same);
}

/* Two programs print alike. */
static void insist_alike(const workbench *b, const tsr_program *first, const tsr_program *second,
                         int printing)
{
    const printed_text text = print_program(b, first, printing);
    const printed_text other = print_program(b, second, printing);
    insist_same(&text, &other);
    free(text.data);
    free(other.data);
}

/* What was printed is read, and prints as it is, and in pretty form as the program. */
static void insist_fixed(const workbench *b, const tsr_program *program, int printing)
{
    const printed_text text = print_program(b, program, printing);
    tsr_program *again = read_program(b, text.data, text.size, 0);
    if (again == NULL) {
        (void)fprintf(stderr, "refused: %s\n%.*s", tsr_context_diagnostics(b->ctx)->text,
                      (int)text.size, text.data);
    }
    INSIST(again != NULL);
    const printed_text second = print_program(b, again, printing);
    insist_same(&text, &second);
    insist_alike(b, program, again, TSR_PROGRAM_PRETTY);
    tsr_program_destroy(again);
    free(text.data);
    free(second.data);
}

/* A copy prints as the original. */
static void insist_copied(const workbench *b, const tsr_program *program)
{
    tsr_program *copy = NULL;
    INSIST(tsr_program_clone(b->ctx, program, &copy) == TSR_OK);
    insist_alike(b, program, copy, TSR_PROGRAM_PRETTY);
    tsr_program_destroy(copy);
}

/* A program that may be wrong is printed in both forms. */
static void insist_printable(const workbench *b, const char *data, size_t size)
{
    tsr_program *program = read_program(b, data, size, TSR_PROGRAM_UNVERIFIED);
    if (program != NULL) {
        free(print_program(b, program, TSR_PROGRAM_PRETTY).data);
        free(print_program(b, program, TSR_PROGRAM_GENERIC).data);
        tsr_program_destroy(program);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    workbench b = workbench_open();
    insist_printable(&b, (const char *)data, size);
    tsr_context_clear(b.ctx);
    tsr_program *program = read_program(&b, (const char *)data, size, 0);
    if (program != NULL) {
        insist_fixed(&b, program, TSR_PROGRAM_PRETTY);
        insist_fixed(&b, program, TSR_PROGRAM_GENERIC);
        insist_fixed(&b, program, TSR_PROGRAM_LOCATIONS);
        insist_copied(&b, program);
        tsr_program_destroy(program);
    }
    workbench_close(&b);
    return 0;
}

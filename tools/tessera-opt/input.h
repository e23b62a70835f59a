/* The input: a file mapped into memory, or standard input read whole; cut into pieces. */
#ifndef OPT_INPUT_H
#define OPT_INPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct input {
    const char *name; /* in messages */
    const char *data;
    size_t size;
    void *map;    /* what is mapped, or NULL */
    char *memory; /* what is allocated, or NULL */
} input;

/* Opens a file; NULL or `-` is standard input. False, with errno set, when it cannot be read. */
bool input_open(const char *path, input *out);
void input_close(input *in);

/*
 * The end of the piece that starts at `from`: where the next marker stands, or the end of the
 * input. *next is where the piece after it starts, or the size of the input when there is none.
 * A marker counts at the start of a line only, and not with more dashes after it.
 */
size_t input_piece(const input *in, const char *marker, size_t from, size_t *next);

#endif

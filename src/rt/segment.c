#include "rt/segment.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"

typedef struct free_block {
    struct free_block *next;
    size_t offset;
} free_block;

void segment_init(segment *s, tsr_context *ctx, char *base /* NOLINT */, size_t size)
{
    *s = (segment){.ctx = ctx, .base = base, .size = size};
}

static void free_list(segment *s, free_block *list)
{
    while (list != NULL) {
        free_block *next = list->next;
        (void)context_resize(s->ctx, list, sizeof *list, 0);
        list = next;
    }
}

void segment_destroy(segment *s)
{
    for (size_t i = 0; i < SEGMENT_CLASSES; i++) {
        free_list(s, s->free[i]);
    }
    free_list(s, s->spare);
}

/* The class of a size and the size of its blocks: 4, 5, 6 or 7 times a power of two. */
static size_t class_of(size_t size, size_t *block)
{
    size_t unit = SEGMENT_ALIGNMENT / 4;
    size_t class = 0;
    while (size > 7 * unit) {
        unit *= 2;
        class += 4;
    }
    size_t quarters = (size + unit - 1) / unit;
    quarters = quarters < 4 ? 4 : quarters;
    const size_t pages = SEGMENT_ALIGNMENT;
    *block = (quarters * unit + pages - 1) / pages * pages;
    return class + quarters - 4;
}

/*
 * The memory that the kernel estimates to be available without swapping; unlimited, when it gives
 * no estimate.
 */
static size_t available_bytes(void)
{
    char text[4096];
    const int file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0) {
        (void)close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, "MemAvailable:");
    return line != NULL ? (size_t)strtoull(line + strlen("MemAvailable:"), NULL, 10) << 10
                        : SIZE_MAX;
}

/* Whether touching so much fresh memory will succeed. Small sizes are not checked. */
static bool machine_has(size_t size)
{
    return size < ((size_t)64 << 20) || size <= available_bytes();
}

/* Counts a block that is allocated. */
static void count(segment *s, size_t block)
{
    s->live += block;
    s->most = s->live > s->most ? s->live : s->most;
}

/* A freed block. */
static void *reuse(segment *s, size_t class, size_t block)
{
    free_block *node = s->free[class];
    if (node == NULL) {
        return NULL;
    }
    s->free[class] = node->next;
    node->next = s->spare;
    s->spare = node;
    count(s, block);
    return s->base + node->offset;
}

void *segment_try(segment *s, size_t size)
{
    size_t block = 0;
    if (size > s->size) {
        return NULL;
    }
    const size_t class = class_of(size, &block);
    void *memory = reuse(s, class, block);
    if (memory != NULL || block > s->size - s->used || !machine_has(block)) {
        return memory;
    }
    memory = s->base + s->used;
    s->used += block;
    count(s, block);
    return memory;
}

void *segment_alloc(segment *s, size_t size)
{
    void *memory = segment_try(s, size);
    size_t block = 0;
    if (memory != NULL) {
        return memory;
    }
    if (size > s->size) {
        (void)diag_error(s->ctx, TSR_ERR_NOMEM, NO_LOCATION,
                         "%zu bytes for a tensor are more than there are", size);
        return NULL;
    }
    (void)class_of(size, &block);
    (void)diag_error(s->ctx, TSR_ERR_NOMEM, NO_LOCATION,
                     block > s->size - s->used
                         ? "the segment of %zu bytes has no room for a tensor of %zu"
                         : "the machine has less memory free, of a segment of %zu bytes, than a "
                           "tensor of %zu needs",
                     s->size, size);
    return NULL;
}

void segment_free(segment *s, void *memory, size_t size)
{
    size_t block = 0;
    const size_t class = class_of(size, &block);
    free_block *node = s->spare;
    if (node != NULL) {
        s->spare = node->next;
    } else {
        node = context_resize(s->ctx, NULL, 0, sizeof *node);
    }
    s->live -= block;
    if (node != NULL) {
        *node = (free_block){.next = s->free[class], .offset = (size_t)((char *)memory - s->base)};
        s->free[class] = node;
    }
}

/*
 * The context: where memory comes from and where errors go.
 *
 * Most calls take a context first. A thread makes its own; objects built with one context may be
 * read by any thread once they are built.
 */
#ifndef TESSERA_CONTEXT_H
#define TESSERA_CONTEXT_H

#include <stdio.h>

#include <tessera/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_context tsr_context;
typedef struct tsr_arena tsr_arena;

/*
 * Where the library gets memory. `resize(state, old, old_size, new_size)` behaves as realloc:
 * old NULL allocates, new_size 0 frees and returns NULL. It may return NULL at any time; the call
 * that needed the memory then fails with TSR_ERR_NOMEM and leaves everything as it was.
 */
typedef struct tsr_allocator {
    void *(*resize)(void *state, void *old, size_t old_size, size_t new_size);
    TSR_NULLABLE void *state;
} tsr_allocator;

typedef enum tsr_severity { TSR_NOTE, TSR_WARNING, TSR_ERROR } tsr_severity;

/*
 * One message. `line` and `column` count from 1; line is 0 when the message has no location.
 * `caret` is the offset in `source_line` that the message points at, `width` how much it
 * underlines. `follow_up` marks an error that is a consequence of an earlier one: interactive tools
 * leave it out. `elsewhere` marks one of tsr_launch under mpirun that every process has, and that
 * another one prints. Owned by the context, valid until its diagnostics are cleared.
 */
typedef struct tsr_diagnostic {
    tsr_severity severity;
    tsr_status status;
    bool follow_up;
    const char *text;
    TSR_NULLABLE const char *file;
    int64_t line;
    int64_t column;
    TSR_NULLABLE const char *source_line;
    size_t caret;
    size_t width;
    TSR_NULLABLE const struct tsr_diagnostic *notes; /* the first note, linked by next */
    TSR_NULLABLE const struct tsr_diagnostic *next;
    bool elsewhere;
} tsr_diagnostic;

/* Called for each message as it is made. It must not call back into the same context. */
typedef void (*tsr_log_callback)(void *state, const tsr_diagnostic *diagnostic);

/*
 * Makes a context. `allocator` may be NULL for malloc; it is copied. Returns TSR_ERR_NOMEM when
 * there is no memory for it. The caller destroys it, after the arenas made from it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_context_create(TSR_NULLABLE const tsr_allocator *allocator,
                                                    tsr_context **out) TSR_MT_SAFE;

/* Frees a context and its diagnostics. Does nothing if it is NULL. */
TSR_API void tsr_context_destroy(TSR_NULLABLE tsr_context *ctx) TSR_MT_CONTEXT;

/* Sets the function that receives every message as it is made; NULL for none. */
TSR_API void tsr_context_set_log(tsr_context *ctx, TSR_NULLABLE tsr_log_callback log,
                                 TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/*
 * Returns the first message that is kept, linked by `next`; NULL when there is none. A context
 * keeps at least the last 1024 messages since the last clear and at most 2048; it drops the oldest
 * ones. The messages are valid until the next call that may fail.
 */
TSR_API const tsr_diagnostic *tsr_context_diagnostics(const tsr_context *ctx) TSR_MT_CONTEXT;

/* Returns how many messages were dropped since the last clear. */
TSR_API uint64_t tsr_context_dropped(const tsr_context *ctx) TSR_MT_CONTEXT;

/*
 * Prints all messages to a stream, each as tsr_diagnostic_format makes it, after a line with the
 * number of those that were dropped; follow-ups are left out, and messages that another process of
 * the same launch prints. Colours only where the stream is a
 * terminal, and never when NO_COLOR is set. The one function of the library that prints.
 */
TSR_API void tsr_context_print(tsr_context *ctx, FILE *stream) TSR_MT_CONTEXT;

/*
 * Adds an error of the program's own with a text, and returns its status, which is a failure: a
 * function of ranks that ends with it (`return tsr_context_error(tsr_comm_context(world), ..)`)
 * tells the ranks that wait for it, and who launched it, why.
 */
TSR_API tsr_status tsr_context_error(tsr_context *ctx, tsr_status status,
                                     const char *text) TSR_MT_CONTEXT;

/* Removes all messages. */
TSR_API void tsr_context_clear(tsr_context *ctx) TSR_MT_CONTEXT;

/*
 * Returns a message as a compiler prints it: `file:line:col: error: text`, the source line, a
 * caret, then the notes. With `colour`, terminal colours. The text is allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_diagnostic_format(tsr_context *ctx, tsr_arena *arena,
                                                       const tsr_diagnostic *diagnostic,
                                                       bool colour,
                                                       const char **out) TSR_MT_CONTEXT;

/*
 * Returns an arena: memory that is freed all at once. Meshes, shardings and texts live in one. It
 * takes its blocks from the context's allocator and must be destroyed before the context.
 */
TSR_API TSR_NODISCARD tsr_status tsr_arena_create(tsr_context *ctx, tsr_arena **out) TSR_MT_CONTEXT;
TSR_API void tsr_arena_destroy(TSR_NULLABLE tsr_arena *arena) TSR_MT_CONTEXT;

/* `size` bytes aligned for any object, not zeroed; NULL when there is no memory. */
TSR_API void *tsr_arena_alloc(tsr_arena *arena, size_t size) TSR_MT_CONTEXT;

/* A mark in an arena. Resetting to it frees what was allocated since, keeping the blocks. */
typedef struct tsr_arena_mark {
    TSR_NULLABLE void *block;
    size_t used;
} tsr_arena_mark;
TSR_API tsr_arena_mark tsr_arena_get_mark(const tsr_arena *arena) TSR_MT_CONTEXT;
TSR_API void tsr_arena_reset(tsr_arena *arena, tsr_arena_mark mark) TSR_MT_CONTEXT;

/* Returns bytes allocated and not freed, and bytes taken from the allocator. */
TSR_API size_t tsr_arena_used(const tsr_arena *arena) TSR_MT_CONTEXT;
TSR_API size_t tsr_arena_reserved(const tsr_arena *arena) TSR_MT_CONTEXT;

/*
 * Text to read, perhaps a slice of a larger one: reading starts at `at` and ends at `size`;
 * locations in messages are counted from `data`. Readers move `at` past what they read. `name`
 * stands before the line in messages (NULL: "<text>"). `prefix`, unless NULL, stands before
 * messages of attribute readers, as `custom op 'sdy.mesh' ` does in programs.
 */
typedef struct tsr_text {
    TSR_NULLABLE const char *name;
    TSR_ARRAY(size) const char *data;
    size_t size;
    size_t at;
    TSR_NULLABLE const char *prefix;
} tsr_text;

/* Returns a text over a zero-terminated string. */
TSR_API tsr_text tsr_text_of(TSR_NULLABLE const char *name, const char *string) TSR_MT_SAFE;

/*
 * Returns the character at the start of a text of `size` bytes in UTF-8. Returns how many bytes it
 * takes; 0 when there is none. A byte that does not belong to one is U+FFFD and takes one byte.
 */
TSR_API size_t tsr_utf8_next(TSR_ARRAY(size) const char *text, size_t size,
                             uint32_t *character) TSR_MT_SAFE;

#ifdef __cplusplus
}
#endif

#endif

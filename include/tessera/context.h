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
 * A source of memory. `resize(state, old, old_size, new_size)` behaves as realloc: old NULL
 * allocates; new_size 0 frees and returns NULL. It may return NULL at any time; the call that
 * needed the memory then fails with TSR_ERR_NOMEM and changes nothing.
 */
typedef struct tsr_allocator {
    void *(*resize)(void *state, void *old, size_t old_size, size_t new_size);
    TSR_NULLABLE void *state;
} tsr_allocator;

typedef enum tsr_severity { TSR_NOTE, TSR_WARNING, TSR_ERROR } tsr_severity;

/*
 * One message. `line` and `column` count from 1; line is 0 if the message has no location. `caret`
 * is the offset in `source_line` that the message points at, `width` the number of underlined
 * characters. `follow_up` marks an error that is a consequence of an earlier one: interactive tools
 * omit it. `elsewhere` marks a message of tsr_launch under mpirun that every process has and
 * another process prints. Owned by the context, valid until its diagnostics are cleared.
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
 * Creates a context. `allocator` may be NULL for malloc; it is copied. Returns TSR_ERR_NOMEM if it
 * cannot be allocated. The caller destroys it, after the arenas created from it.
 */
TSR_API TSR_NODISCARD tsr_status tsr_context_create(TSR_NULLABLE const tsr_allocator *allocator,
                                                    tsr_context **out) TSR_MT_SAFE;

/* Frees a context and its diagnostics. Does nothing if it is NULL. */
TSR_API void tsr_context_destroy(TSR_NULLABLE tsr_context *ctx) TSR_MT_CONTEXT;

/* Sets the function that receives every message when it is made; NULL removes it. */
TSR_API void tsr_context_set_log(tsr_context *ctx, TSR_NULLABLE tsr_log_callback log,
                                 TSR_NULLABLE void *state) TSR_MT_CONTEXT;

/*
 * Returns the first stored message, linked by `next`; NULL if there are none. A context stores at
 * least the last 1024 messages since the last clear and at most 2048; it discards the oldest ones.
 * The messages are valid until the next call that may fail.
 */
TSR_API const tsr_diagnostic *tsr_context_diagnostics(const tsr_context *ctx) TSR_MT_CONTEXT;

/* Returns the number of messages discarded since the last clear. */
TSR_API uint64_t tsr_context_dropped(const tsr_context *ctx) TSR_MT_CONTEXT;

/*
 * Prints all messages to a stream, each as tsr_diagnostic_format formats it, after a line with the
 * number of discarded ones. Omits follow-ups, and messages that another process of the same launch
 * prints. Uses colours only if the stream is a terminal, and never when NO_COLOR is set. This is
 * the only function of the library that prints.
 */
TSR_API void tsr_context_print(tsr_context *ctx, FILE *stream) TSR_MT_CONTEXT;

/*
 * Adds an error of the program with a text, and returns its status, which must be a failure. A
 * rank's function that ends with `return tsr_context_error(tsr_comm_context(world), ..)` reports
 * the reason to the ranks that wait for it and to the caller of tsr_launch.
 */
TSR_API tsr_status tsr_context_error(tsr_context *ctx, tsr_status status,
                                     const char *text) TSR_MT_CONTEXT;

/* Removes all messages. */
TSR_API void tsr_context_clear(tsr_context *ctx) TSR_MT_CONTEXT;

/*
 * Formats a message as a compiler prints it: `file:line:col: error: text`, the source line, a
 * caret, then the notes. With `colour`, adds terminal colours. The text is allocated in the arena.
 */
TSR_API TSR_NODISCARD tsr_status tsr_diagnostic_format(tsr_context *ctx, tsr_arena *arena,
                                                       const tsr_diagnostic *diagnostic,
                                                       bool colour,
                                                       const char **out) TSR_MT_CONTEXT;

/*
 * Creates an arena: memory that is freed all at once. Meshes, shardings and texts are allocated in
 * arenas. An arena takes its blocks from the context's allocator and must be destroyed before the
 * context. tsr_arena_destroy does nothing if the arena is NULL.
 */
TSR_API TSR_NODISCARD tsr_status tsr_arena_create(tsr_context *ctx, tsr_arena **out) TSR_MT_CONTEXT;
TSR_API void tsr_arena_destroy(TSR_NULLABLE tsr_arena *arena) TSR_MT_CONTEXT;

/* Allocates `size` bytes aligned for any object, not zeroed; NULL if they cannot be allocated. */
TSR_API void *tsr_arena_alloc(tsr_arena *arena, size_t size) TSR_MT_CONTEXT;

/*
 * A position in an arena. tsr_arena_reset frees the memory allocated after it but keeps the blocks.
 */
typedef struct tsr_arena_mark {
    TSR_NULLABLE void *block;
    size_t used;
} tsr_arena_mark;
TSR_API tsr_arena_mark tsr_arena_get_mark(const tsr_arena *arena) TSR_MT_CONTEXT;
TSR_API void tsr_arena_reset(tsr_arena *arena, tsr_arena_mark mark) TSR_MT_CONTEXT;

/* Return the number of bytes in use, and the number taken from the allocator. */
TSR_API size_t tsr_arena_used(const tsr_arena *arena) TSR_MT_CONTEXT;
TSR_API size_t tsr_arena_reserved(const tsr_arena *arena) TSR_MT_CONTEXT;

/*
 * A text to read, possibly a slice of a larger one: reading starts at `at` and ends at `size`;
 * locations in messages count from `data`. Readers move `at` past the characters that they consume.
 * `name` precedes the line in messages (NULL: "<text>"). `prefix`, unless NULL, precedes messages
 * of attribute readers, as `custom op 'sdy.mesh' ` does in programs.
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
 * Decodes the character at the start of a text of `size` bytes in UTF-8. Returns its length in
 * bytes; 0 at the end. An invalid byte decodes to U+FFFD and has length 1.
 */
TSR_API size_t tsr_utf8_next(TSR_ARRAY(size) const char *text, size_t size,
                             uint32_t *character) TSR_MT_SAFE;

#ifdef __cplusplus
}
#endif

#endif

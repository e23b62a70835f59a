#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/guard.h"

enum { FIRST_BLOCK = 4096 - 64, MAX_GENERATION = 1024 };

struct tsr_context {
    tsr_allocator allocator;
    tsr_log_callback log;
    void *log_state;
    bool hostile;
    tsr_arena *messages; /* of the newest generation: at most MAX_GENERATION messages */
    tsr_arena *older;    /* of the one before it, which goes when there is another; or NULL */
    tsr_arena_mark empty;
    tsr_diagnostic *first;
    tsr_diagnostic *newest; /* the first message of the newest generation */
    tsr_diagnostic *last;
    size_t count; /* of the messages of the newest generation */
    size_t older_count;
    uint64_t dropped;          /* messages of generations that are gone, since the last clear */
    bool noted_is_older;       /* the error below is not of the newest generation */
    tsr_diagnostic *noted;     /* the last error that is not a follow-up: notes go there */
    tsr_diagnostic *last_note; /* of that error */
    tsr_diagnostic nomem;      /* linked in when memory is exhausted, so that it is never needed */
};

static void *heap_resize(void *state, void *old, size_t old_size, size_t new_size)
{
    (void)state;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

tsr_status tsr_context_create(const tsr_allocator *allocator, tsr_context **out)
{
    GUARD(tsr_context_create);
    const tsr_allocator heap = {.resize = heap_resize};
    const tsr_allocator chosen = allocator != NULL ? *allocator : heap;
    tsr_context *ctx = chosen.resize(chosen.state, NULL, 0, sizeof *ctx);
    if (ctx == NULL) {
        return TSR_ERR_NOMEM;
    }
    *ctx = (tsr_context){.allocator = chosen};
    ctx->nomem = (tsr_diagnostic){
        .severity = TSR_ERROR, .status = TSR_ERR_NOMEM, .text = "out of memory", .file = ""};
    const tsr_status status = tsr_arena_create(ctx, &ctx->messages);
    if (status < 0) {
        chosen.resize(chosen.state, ctx, sizeof *ctx, 0);
        return status;
    }
    ctx->empty = tsr_arena_get_mark(ctx->messages);
    *out = ctx;
    return TSR_OK;
}

void tsr_context_destroy(tsr_context *ctx)
{
    GUARD(tsr_context_destroy);
    if (ctx == NULL) {
        return;
    }
    tsr_arena_destroy(ctx->older);
    tsr_arena_destroy(ctx->messages);
    const tsr_allocator allocator = ctx->allocator;
    allocator.resize(allocator.state, ctx, sizeof *ctx, 0);
}

size_t context_block_size(const tsr_context *ctx)
{
    return ctx->hostile ? 0 : FIRST_BLOCK;
}

tsr_status context_make_hostile(tsr_context *ctx)
{
    tsr_arena *messages;
    ctx->hostile = true;
    const tsr_status status = tsr_arena_create(ctx, &messages);
    if (status == TSR_OK) {
        tsr_arena_destroy(ctx->messages);
        ctx->messages = messages;
        ctx->empty = tsr_arena_get_mark(messages);
    }
    return status;
}

tsr_status context_create_like(tsr_context *ctx, tsr_context **out)
{
    tsr_context *other = NULL;
    if (tsr_context_create(&ctx->allocator, &other) < 0) {
        return diag_nomem(ctx);
    }
    other->hostile = ctx->hostile;
    *out = other;
    return TSR_OK;
}

void context_set_allocator(tsr_context *ctx, const tsr_allocator *allocator)
{
    ctx->allocator = *allocator;
}

void *context_resize(tsr_context *ctx, void *old, size_t old_size, size_t new_size)
{
    return ctx->allocator.resize(ctx->allocator.state, old, old_size, new_size);
}

void tsr_context_set_log(tsr_context *ctx, tsr_log_callback log, void *state)
{
    GUARD(tsr_context_set_log);
    ctx->log = log;
    ctx->log_state = state;
}

const tsr_diagnostic *tsr_context_diagnostics(const tsr_context *ctx)
{
    GUARD(tsr_context_diagnostics);
    return ctx->first;
}

tsr_status tsr_context_error(tsr_context *ctx, tsr_status status, const char *text)
{
    GUARD(tsr_context_error);
    if (status >= 0) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_context_error: the status of an error is negative, got: %d (%s)",
                          (int)status, text);
    }
    return diag_error(ctx, status, NO_LOCATION, "%s", text);
}

void tsr_context_clear(tsr_context *ctx)
{
    GUARD(tsr_context_clear);
    tsr_arena_destroy(ctx->older);
    ctx->older = NULL;
    ctx->first = NULL;
    ctx->newest = NULL;
    ctx->last = NULL;
    ctx->count = 0;
    ctx->older_count = 0;
    ctx->dropped = 0;
    ctx->noted = NULL;
    ctx->last_note = NULL;
    ctx->nomem.next = NULL;
    ctx->nomem.notes = NULL;
    tsr_arena_reset(ctx->messages, ctx->empty);
}

uint64_t tsr_context_dropped(const tsr_context *ctx)
{
    GUARD(tsr_context_dropped);
    return ctx->dropped;
}

uint64_t diag_count(const tsr_context *ctx)
{
    return ctx->dropped + ctx->older_count + ctx->count;
}

void diag_mark_elsewhere(tsr_context *ctx, uint64_t before)
{
    uint64_t number = ctx->dropped;
    const tsr_diagnostic *next = ctx->first;
    while (next != NULL) {
        tsr_diagnostic *d = (tsr_diagnostic *)(uintptr_t)next; /* NOLINT */
        d->elsewhere = d->elsewhere || number >= before;
        number++;
        next = d->next;
    }
}

tsr_text tsr_text_of(const char *name, const char *string)
{
    GUARD(tsr_text_of);
    return (tsr_text){.name = name, .data = string, .size = strlen(string)};
}

/* Fills in line, column and the source line of a location. False when there is no memory. */
static bool locate(tsr_context *ctx, location where, tsr_diagnostic *diag)
{
    diag->file = "";
    if (where.text == NULL) {
        return true;
    }
    const char *data = where.text->data;
    const size_t at = where.at < where.text->size ? where.at : where.text->size;
    size_t line_start = 0;
    diag->line = 1;
    for (size_t i = 0; i < at; i++) {
        if (data[i] == '\n') {
            diag->line++;
            line_start = i + 1;
        }
    }
    size_t line_end = at;
    while (line_end < where.text->size && data[line_end] != '\n') {
        line_end++;
    }
    const char *name = where.text->name != NULL ? where.text->name : "<text>";
    diag->column = (int64_t)(at - line_start) + 1;
    diag->caret = at - line_start;
    diag->width = where.width < line_end - at ? where.width : line_end - at;
    diag->source_line = arena_string(ctx->messages, data + line_start, line_end - line_start);
    diag->file = arena_string(ctx->messages, name, strlen(name));
    return diag->source_line != NULL && diag->file != NULL;
}

/*
 * A program that never clears its messages keeps the last ones: when a generation is full, the one
 * before it goes. Without memory for another arena the generation grows.
 */
static void make_room(tsr_context *ctx)
{
    tsr_arena *fresh = NULL;
    if (ctx->count < MAX_GENERATION || tsr_arena_create(ctx, &fresh) < 0) {
        return;
    }
    tsr_arena_destroy(ctx->older);
    ctx->dropped += ctx->older_count;
    ctx->first = ctx->newest;
    ctx->noted = ctx->noted_is_older ? NULL : ctx->noted;
    ctx->noted_is_older = true;
    ctx->last_note = ctx->noted != NULL ? ctx->last_note : NULL;
    ctx->older = ctx->messages;
    ctx->older_count = ctx->count;
    ctx->messages = fresh;
    ctx->empty = tsr_arena_get_mark(fresh);
    ctx->newest = NULL;
    ctx->count = 0;
}

static void append(tsr_context *ctx, tsr_diagnostic *diag)
{
    if (ctx->last != NULL) {
        ctx->last->next = diag;
    } else {
        ctx->first = diag;
    }
    ctx->last = diag;
    ctx->newest = ctx->newest != NULL ? ctx->newest : diag;
    ctx->count++;
    if (!diag->follow_up) {
        ctx->noted = diag;
        ctx->noted_is_older = false;
        ctx->last_note = NULL;
    }
}

static void tell(const tsr_context *ctx, const tsr_diagnostic *diag)
{
    if (ctx->log != NULL) {
        ctx->log(ctx->log_state, diag);
    }
}

/* A message of that text, not linked anywhere yet; NULL when there is no memory. */
static tsr_diagnostic *message(tsr_context *ctx, tsr_severity severity, location where,
                               const char *format, va_list arguments) TSR_PRINTF(4, 0);

static tsr_diagnostic *message(tsr_context *ctx, tsr_severity severity, location where,
                               const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int body = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (severity != TSR_NOTE) {
        make_room(ctx);
    }
    const bool prefixed = severity == TSR_ERROR && where.text != NULL && !where.bare;
    const char *prefix = prefixed ? where.text->prefix : NULL;
    const size_t head = prefix != NULL ? strlen(prefix) : 0;
    const size_t length = body < 0 ? 0 : (size_t)body;
    tsr_diagnostic *diag = ARENA_NEW(ctx->messages, tsr_diagnostic);
    char *text = tsr_arena_alloc(ctx->messages, head + length + 1);
    if (diag == NULL || text == NULL) {
        return NULL;
    }
    if (head > 0) {
        memcpy(text, prefix, head);
    }
    text[head] = '\0';
    (void)vsnprintf(text + head, length + 1, format, arguments);
    *diag = (tsr_diagnostic){.severity = severity, .text = text};
    return locate(ctx, where, diag) ? diag : NULL;
}

tsr_status(diag_nomem)(tsr_context *ctx)
{
    bool linked = false;
    for (const tsr_diagnostic *d = ctx->first; d != NULL; d = d->next) {
        linked = linked || d == &ctx->nomem;
    }
    if (!linked) {
        ctx->nomem.next = NULL;
        ctx->nomem.notes = NULL;
        append(ctx, &ctx->nomem);
        tell(ctx, &ctx->nomem);
    }
    return TSR_ERR_NOMEM;
}

/* Links an error made by message(), or the message for exhausted memory when it is NULL. */
static tsr_status add_error(tsr_context *ctx, tsr_diagnostic *diag, tsr_status status,
                            bool follow_up)
{
    if (diag == NULL) {
        return diag_nomem(ctx);
    }
    diag->status = status;
    diag->follow_up = follow_up;
    append(ctx, diag);
    tell(ctx, diag);
    return status;
}

tsr_status(diag_error)(tsr_context *ctx, tsr_status status, location where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tsr_diagnostic *diag = message(ctx, TSR_ERROR, where, format, arguments);
    va_end(arguments);
    return add_error(ctx, diag, status, false);
}

tsr_status diag_warning(tsr_context *ctx, location where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tsr_diagnostic *diag = message(ctx, TSR_WARNING, where, format, arguments);
    va_end(arguments);
    return add_error(ctx, diag, TSR_OK, false);
}

tsr_status(diag_follow_up)(tsr_context *ctx, location where, const char *format, ...)
{
    const tsr_status status = ctx->last != NULL ? ctx->last->status : TSR_ERR_INVALID;
    if (status == TSR_ERR_NOMEM) {
        return status;
    }
    va_list arguments;
    va_start(arguments, format);
    tsr_diagnostic *diag = message(ctx, TSR_ERROR, where, format, arguments);
    va_end(arguments);
    return add_error(ctx, diag, status, true);
}

tsr_status(diag_note)(tsr_context *ctx, location where, const char *format, ...)
{
    tsr_diagnostic *noted = ctx->noted;
    if (noted == NULL || noted->status == TSR_ERR_NOMEM) {
        return TSR_ERR_NOMEM;
    }
    va_list arguments;
    va_start(arguments, format);
    tsr_diagnostic *diag = message(ctx, TSR_NOTE, where, format, arguments);
    va_end(arguments);
    if (diag == NULL) {
        return diag_nomem(ctx);
    }
    diag->status = noted->status;
    if (ctx->last_note != NULL) {
        ctx->last_note->next = diag;
    } else {
        noted->notes = diag;
    }
    ctx->last_note = diag;
    tell(ctx, diag);
    return noted->status;
}

/* The output of printers. */
#include <string.h>

#include "base/arena.h"
#include "text/printer.h"

tsr_status printer_init(printer *pr, tsr_context *ctx, const tsr_program *p, int flags,
                        tsr_program_writer write, void *state)
{
    *pr = (printer){.ctx = ctx, .program = p, .write = write, .state = state, .flags = flags};
    TSR_TRY(tsr_arena_create(ctx, &pr->scratch));
    pr->chunk = context_resize(ctx, NULL, 0, CHUNK);
    if (pr->chunk == NULL) {
        tsr_arena_destroy(pr->scratch);
        return diag_nomem(ctx);
    }
    return TSR_OK;
}

void printer_free_resources(printer *pr)
{
    ir_array_free(pr->ctx, &pr->resources, sizeof(uint32_t));
    intern_table_free(&pr->resource_names);
}

tsr_status printer_finish(printer *pr)
{
    put_flush(pr);
    free_names(pr);
    free_locations(pr);
    printer_free_resources(pr);
    if (pr->spare_chunk != NULL) {
        context_resize(pr->ctx, pr->spare_chunk, CHUNK, 0);
    }
    context_resize(pr->ctx, pr->chunk, CHUNK, 0);
    tsr_arena_destroy(pr->scratch);
    if (pr->no_memory) {
        return diag_nomem(pr->ctx);
    }
    if (pr->stopped) {
        return diag_error(pr->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the program was printed only in part: the output cannot be written");
    }
    return TSR_OK;
}

bool write_to_buffer(void *state, const char *bytes, size_t count)
{
    buffer_bytes(state, bytes, count);
    return true;
}

void put_flush(printer *pr)
{
    if (pr->used > 0 && !pr->stopped && !pr->write(pr->state, pr->chunk, pr->used)) {
        pr->stopped = true;
    }
    pr->used = 0;
}

void put_long(printer *pr, const char *bytes, size_t count)
{
    put_flush(pr);
    if (count >= CHUNK) {
        if (!pr->stopped && !pr->write(pr->state, bytes, count)) {
            pr->stopped = true;
        }
        return;
    }
    memcpy(pr->chunk, bytes, count);
    pr->used = count;
}

void put_uint(printer *pr, uint64_t value)
{
    enum { MAX_DIGITS = 20 };
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233"
        "34353637383940414243444546474849505152535455565758596061626364656667"
        "68697071727374757677787980818283848586878889909192939495969798990";
    char digits[MAX_DIGITS];
    size_t at = MAX_DIGITS;
    while (value >= 10) {
        at -= 2;
        memcpy(digits + at, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (at == MAX_DIGITS || value > 0) {
        digits[--at] = (char)('0' + value);
    }
    put_bytes(pr, digits + at, MAX_DIGITS - at);
}

void put_int(printer *pr, int64_t value)
{
    if (value < 0) {
        put_char(pr, '-');
        put_uint(pr, 0 - (uint64_t)value);
    } else {
        put_uint(pr, (uint64_t)value);
    }
}

void put_quoted(printer *pr, slice text)
{
    static const char hex[] = "0123456789ABCDEF";
    put_char(pr, '"');
    for (size_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.data[i];
        if (c == '\\') {
            put(pr, "\\\\");
        } else if (c >= ' ' && c < 0x7f && c != '"') {
            put_char(pr, (char)c);
        } else {
            put_char(pr, '\\');
            put_char(pr, hex[c >> 4]);
            put_char(pr, hex[c & 15]);
        }
    }
    put_char(pr, '"');
}

void put_name(printer *pr, slice name)
{
    if (is_bare_id(name)) {
        put_slice(pr, name);
    } else {
        put_quoted(pr, name);
    }
}

void put_symbol(printer *pr, slice name)
{
    put_char(pr, '@');
    if (name.size == 0) {
        put(pr, "<<INVALID EMPTY SYMBOL>>");
        return;
    }
    put_name(pr, name);
}

void put_line(printer *pr)
{
    put_char(pr, '\n');
    for (size_t i = 0; i < pr->indent; i++) {
        put(pr, "  ");
    }
}

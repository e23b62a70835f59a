#include "ir/resources.h"

#include <string.h>

#include "base/arena.h"

/* ---- reading ---- */

typedef tsr_status (*read_entry)(parser *ps);

/* Entries separated by commas, none included, up to a mark. */
static tsr_status read_until(parser *ps, int end, const char *message, read_entry read)
{
    if (accept(ps, end)) {
        return TSR_OK;
    }
    do {
        TSR_TRY(read(ps));
    } while (accept(ps, ','));
    return expect(ps, end, message);
}

static bool is_hex(slice text)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    if (text.size < 2 || text.size % 2 != 0 || memcmp(text.data, "0x", 2) != 0) {
        return false;
    }
    for (size_t i = 2; i < text.size; i++) {
        if (text.data[i] == '\0' || strchr(digits, text.data[i]) == NULL) {
            return false;
        }
    }
    return true;
}

/* The digits as they are printed, as an attribute that is only kept. */
static tsr_status keep_blob(parser *ps, slice text, uint32_t *out)
{
    char *copy = tsr_arena_alloc(ps->scratch, text.size + 1);
    if (copy == NULL) {
        return diag_nomem(ps->ctx);
    }
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        copy[i] = i >= 2 && c >= 'a' && c <= 'f' ? (char)(c - 'a' + 'A') : c;
    }
    return attr_of_text(ps->program, ATTR_OPAQUE, 0, 0, copy, text.size, out);
}

/* Adds an entry to the dictionary; a name that is there already keeps its blob. */
static tsr_status add_blob(parser *ps, slice name, uint32_t blob)
{
    tsr_program *p = ps->program;
    const attr_head *dict = p->metadata != 0 ? program_attr(p, p->metadata) : NULL;
    const size_t count = dict != NULL ? dict->count : 0;
    attr_entry *entries = ARENA_ARRAY(ps->scratch, attr_entry, count + 1);
    if (entries == NULL) {
        return diag_nomem(ps->ctx);
    }
    if (count > 0) {
        memcpy(entries, attr_entries(dict), count * sizeof *entries);
    }
    TSR_TRY(program_string(p, name.data, name.size, &entries[count].name));
    entries[count].value = blob;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].name == entries[count].name) {
            return TSR_OK;
        }
    }
    return attr_dict(p, entries, count + 1, &p->metadata);
}

/* `name: "0x.."`: four bytes that say the alignment, then the bytes of the blob. */
static tsr_status read_blob(parser *ps)
{
    enum { ALIGNMENT_DIGITS = 8 };
    slice name = token_text(ps);
    slice text;
    uint32_t blob = 0;
    if (at_kind(ps, TOKEN_STRING)) {
        TSR_TRY(lex_unquote(&ps->lex, name, &name));
    } else if (!at_kind(ps, TOKEN_WORD)) {
        return error_here(ps, "expected identifier key for 'resource' entry");
    }
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, ':', "expected ':'"));
    if (!at_kind(ps, TOKEN_STRING)) {
        return error_here(ps, "expected hex string blob for key '%.*s'", (int)name.size, name.data);
    }
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_string(ps, &text));
    if (!is_hex(text)) {
        return error_at(ps, at, "expected hex string blob for key '%.*s'", (int)name.size,
                        name.data);
    }
    if (text.size < 2 + ALIGNMENT_DIGITS) {
        return error_at(ps, at,
                        "expected hex string blob for key '%.*s' to encode alignment in first 4 "
                        "bytes",
                        (int)name.size, name.data);
    }
    TSR_TRY(keep_blob(ps, text, &blob));
    return add_blob(ps, name, blob);
}

/* An entry of a tool that is not known: any one token. */
static tsr_status skip_entry(parser *ps)
{
    if (!at_kind(ps, TOKEN_STRING) && !at_kind(ps, TOKEN_WORD)) {
        return error_here(ps, "expected identifier key for 'resource' entry");
    }
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, ':', "expected ':'"));
    lex_next(&ps->lex);
    return TSR_OK;
}

/* `name: {`; `*name` says whose entries follow. */
static tsr_status read_section(parser *ps, slice *name)
{
    *name = token_text(ps);
    if (!at_kind(ps, TOKEN_WORD)) {
        return error_here(ps, "expected identifier key for 'resource' entry");
    }
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, ':', "expected ':'"));
    return expect(ps, '{', "expected '{'");
}

static tsr_status read_dialect_section(parser *ps)
{
    slice name;
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_section(ps, &name));
    if (!ir_dialect_known(name.data, name.size)) {
        return error_at(ps, at, "dialect '%.*s' is unknown", (int)name.size, name.data);
    }
    if (!slice_is(name, "builtin")) {
        return error_here(ps, "unexpected 'resource' section for dialect '%.*s'", (int)name.size,
                          name.data);
    }
    return read_until(ps, '}', "expected '}'", read_blob);
}

static tsr_status read_external_section(parser *ps)
{
    slice name;
    TSR_TRY(read_section(ps, &name));
    return read_until(ps, '}', "expected '}'", skip_entry);
}

static tsr_status read_metadata_entry(parser *ps)
{
    const slice key = token_text(ps);
    const size_t at = ps->lex.current.at;
    if (!at_kind(ps, TOKEN_WORD)) {
        return error_here(ps, "expected identifier key in file metadata dictionary");
    }
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, ':', "expected ':'"));
    const bool is_of_dialects = slice_is(key, "dialect_resources");
    if (!is_of_dialects && !slice_is(key, "external_resources")) {
        return error_at(ps, at, "unknown key '%.*s' in file metadata dictionary", (int)key.size,
                        key.data);
    }
    TSR_TRY(expect(ps, '{', "expected '{'"));
    return read_until(ps, '}', "expected '}'",
                      is_of_dialects ? read_dialect_section : read_external_section);
}

tsr_status read_metadata(parser *ps)
{
    lex_next(&ps->lex);
    return read_until(ps, TOKEN_METADATA_END, "expected '#-}' to end the file metadata dictionary",
                      read_metadata_entry);
}

/* ---- printing ---- */

/* The blob of a `dense_resource`; 0: not in the section. */
static uint32_t find_blob(const tsr_program *p, uint32_t attr)
{
    const attr_head *resource = program_attr(p, attr);
    const attr_head *dict = program_attr(p, p->metadata);
    for (uint32_t i = 0; i < dict->count; i++) {
        const slice name = string_at(p, attr_entries(dict)[i].name);
        if (name.size == resource->count &&
            memcmp(name.data, attr_text(resource), name.size) == 0) {
            return attr_entries(dict)[i].value;
        }
    }
    return 0;
}

static bool is_same_name(const tsr_program *p, uint32_t one, uint32_t other)
{
    const attr_head *a = program_attr(p, one);
    const attr_head *b = program_attr(p, other);
    return a->count == b->count && memcmp(attr_text(a), attr_text(b), a->count) == 0;
}

void note_resource(printer *pr, uint32_t attr)
{
    if (pr->program->metadata == 0 || find_blob(pr->program, attr) == 0) {
        return;
    }
    for (uint32_t i = 0; i < pr->resources.count; i++) {
        if (is_same_name(pr->program, ((uint32_t *)pr->resources.items)[i], attr)) {
            return;
        }
    }
    if (ir_array_reserve(pr->ctx, &pr->resources, sizeof attr, 1) < 0) {
        pr->no_memory = true;
        return;
    }
    ((uint32_t *)pr->resources.items)[pr->resources.count++] = attr;
}

void print_resources(printer *pr)
{
    if (pr->resources.count == 0) {
        return;
    }
    put(pr, "\n{-#\n  dialect_resources: {\n    builtin: {");
    for (uint32_t i = 0; i < pr->resources.count; i++) {
        const uint32_t attr = ((const uint32_t *)pr->resources.items)[i];
        const attr_head *resource = program_attr(pr->program, attr);
        put(pr, i > 0 ? ",\n      " : "\n      ");
        put_name(pr, (slice){attr_text(resource), resource->count});
        put(pr, ": \"");
        print_attr(pr, find_blob(pr->program, attr));
        put_char(pr, '"');
    }
    put(pr, "\n    }\n  }\n#-}\n");
}

#include "text/resources.h"

#include "base/arena.h"
#include "ir/elements.h"

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

/* The digits as they are printed: in the text if they stand there so, else a copy. */
static tsr_status keep_blob(parser *ps, slice digits, bool canonical, uint32_t *out)
{
    if (canonical) {
        return attr_hex(ps->program, 0, digits, out);
    }
    char *copy = tsr_arena_alloc(ps->scratch, digits.size + 1);
    if (copy == NULL) {
        return diag_nomem(ps->ctx);
    }
    for (size_t i = 0; i < digits.size; i++) {
        const char c = digits.data[i];
        copy[i] = c >= 'a' && c <= 'f' ? (char)(c - 'a' + 'A') : c;
    }
    return attr_of_text(ps->program, ATTR_OPAQUE, 0, 0, copy, digits.size, out);
}

static tsr_status add_blob(parser *ps, slice name, uint32_t blob)
{
    attr_entry entry = {.value = blob};
    TSR_TRY(program_string(ps->program, name.data, name.size, &entry.name));
    TSR_TRY(ir_array_reserve(ps->ctx, &ps->resources, sizeof entry, 1));
    ((attr_entry *)ps->resources.items)[ps->resources.count++] = entry;
    return TSR_OK;
}

/* Of several blobs of one name the first is kept. */
tsr_status finish_metadata(parser *ps)
{
    attr_entry *entries = ps->resources.items;
    size_t kept = 0;
    TSR_TRY(sort_entries(ps->program, entries, ps->resources.count));
    for (size_t i = 0; i < ps->resources.count; i++) {
        if (kept == 0 || entries[kept - 1].name != entries[i].name) {
            entries[kept++] = entries[i];
        }
    }
    return attr_dict(ps->program, entries, kept, &ps->program->metadata);
}

/* `name: "0x.."`: four bytes that say the alignment, then the bytes of the blob. */
static tsr_status read_blob(parser *ps)
{
    enum { ALIGNMENT_DIGITS = 8 };
    slice name = token_text(ps);
    slice digits;
    bool canonical = false;
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
    const slice quoted = token_text(ps);
    lex_next(&ps->lex);
    if (!hex_digits((slice){quoted.data + 1, quoted.size - 2}, &digits, &canonical)) {
        return error_at(ps, at, "expected hex string blob for key '%.*s'", (int)name.size,
                        name.data);
    }
    if (digits.size < ALIGNMENT_DIGITS) {
        return error_at(ps, at,
                        "expected hex string blob for key '%.*s' to encode alignment in first 4 "
                        "bytes",
                        (int)name.size, name.data);
    }
    TSR_TRY(keep_blob(ps, digits, canonical, &blob));
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
    return dict_get_slice(p, p->metadata, (slice){attr_text(resource), resource->count});
}

void note_resource(printer *pr, uint32_t attr)
{
    const attr_head *resource = program_attr(pr->program, attr);
    const uint32_t before = pr->resource_names.count;
    uint32_t id = 0;
    if (find_blob(pr->program, attr) == 0) {
        return;
    }
    if ((pr->resource_names.records == NULL &&
         intern_table_init(&pr->resource_names, pr->ctx, pr->scratch) < 0) ||
        ir_array_reserve(pr->ctx, &pr->resources, sizeof attr, 1) < 0 ||
        intern_bytes(&pr->resource_names, attr_text(resource), resource->count, &id) < 0) {
        pr->no_memory = true;
        return;
    }
    if (before == 0 || pr->resource_names.count > before) {
        ((uint32_t *)pr->resources.items)[pr->resources.count++] = attr;
    }
}

static slice blob_digits(const tsr_program *p, uint32_t blob)
{
    const attr_head *head = program_attr(p, blob);
    return head->kind == ATTR_HEX ? attr_digits(p, blob) : (slice){attr_text(head), head->count};
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
        put(pr, ": \"0x");
        put_slice(pr, blob_digits(pr->program, find_blob(pr->program, attr)));
        put_char(pr, '"');
    }
    put(pr, "\n    }\n  }\n#-}\n");
}

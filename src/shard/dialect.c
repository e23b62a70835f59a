/* The table of dialects: what each can express, and how to recognize one by its first token. */
#include "shard/dialect.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"

/* What a dialect can express, beyond full axes in even chunks. */
enum {
    WORDS_OPEN = 1, /* an open dimension without axes */
    WORDS_SUB_AXES = 2,
    WORDS_RAGGED = 4,
    WORDS_KINDS = 8, /* pending reductions other than sums */
    WORDS_MAXIMAL = 16,
    WORDS_ALL = 32 /* the dialect is our own */
};

typedef struct dialect_row {
    const char *name;
    unsigned words;
    tsr_status (*read)(const dialect_reader *r, const tsr_sharding **out);
    tsr_status (*write)(const dialect_writer *w);
} dialect_row;

/* The byte at an offset, 0 after the end. */
static char byte_at(const tsr_text *text, size_t at)
{
    return at < text->size ? text->data[at] : '\0';
}

static size_t skip_blanks(const tsr_text *text, size_t at)
{
    while (at < text->size && strchr(" \t\r\n", text->data[at]) != NULL && text->data[at] != '\0') {
        at++;
    }
    return at;
}

/* A dotted name at an offset; empty when there is none. */
static slice name_at(const tsr_text *text, size_t at)
{
    static const char parts[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
    size_t end = at;
    while (end < text->size && text->data[end] != '\0' && strchr(parts, text->data[end]) != NULL) {
        end++;
    }
    return (slice){text->data + at, end - at};
}

/*
 * Reads names and nothing else, with or without quotes, between commas: what a partition spec has
 * inside. Puts the spec into `spec`; false for other texts.
 */
static bool is_bare_spec(const tsr_text *text, buffer *spec)
{
    size_t at = skip_blanks(text, text->at);
    buffer_string(spec, "P(");
    for (bool first = true;; first = false) {
        const char quote = byte_at(text, at);
        const bool quoted = quote == '\'' || quote == '"';
        const slice name = name_at(text, at + (quoted ? 1 : 0));
        at += name.size + (quoted ? 1 : 0);
        if (name.size == 0 || (quoted && byte_at(text, at++) != quote)) {
            return false;
        }
        const char *mark = slice_is(name, "None") ? "" : "'";
        buffer_format(spec, "%s%s%.*s%s", first ? "" : ", ", mark, (int)name.size, name.data, mark);
        at = skip_blanks(text, at);
        if (at >= text->size) {
            buffer_string(spec, ")");
            return true;
        }
        if (byte_at(text, at) != ',') {
            return false;
        }
        at = skip_blanks(text, at + 1);
    }
}

static tsr_status refuse_bare_spec(const dialect_reader *r, buffer *spec)
{
    const char *text = NULL;
    const location where = {.text = r->text, .at = skip_blanks(r->text, r->text->at), .width = 1};
    TSR_TRY(buffer_finish(r->ctx, spec, &text));
    (void)diag_error(r->ctx, TSR_ERR_SYNTAX, where, "axis names alone are not a sharding");
    return diag_note(r->ctx, NO_LOCATION, "write %s, with one entry for each dimension", text);
}

static tsr_status sdy_read(const dialect_reader *r, const tsr_sharding **out)
{
    buffer spec = buffer_new(r->arena);
    if (is_bare_spec(r->text, &spec)) {
        return refuse_bare_spec(r, &spec);
    }
    tsr_sharding_reader options = *r->options;
    options.rank = r->rank;
    options.shape = r->shape;
    return tsr_sharding_read(r->ctx, r->arena, r->text, &options, out);
}

static tsr_status sdy_write(const dialect_writer *w)
{
    sharding_print(w->buf, w->sharding, TSR_PRINT_FULL);
    return TSR_OK;
}

static const dialect_row rows[] = {
    [TSR_DIALECT_SDY] = {"sdy", WORDS_ALL, sdy_read, sdy_write},
    [TSR_DIALECT_JAX] = {"jax", WORDS_OPEN, jax_read, jax_write},
    [TSR_DIALECT_DTENSOR] = {"dtensor", WORDS_RAGGED | WORDS_KINDS, dtensor_read, dtensor_write},
    [TSR_DIALECT_HLO] = {"hlo", WORDS_SUB_AXES | WORDS_MAXIMAL, hlo_read, hlo_write}};

enum { NUM_DIALECTS = sizeof rows / sizeof rows[0] };

const char *tsr_dialect_name(tsr_dialect dialect)
{
    GUARD(tsr_dialect_name);
    return rows[dialect].name;
}

tsr_status tsr_dialect_parse(tsr_context *ctx, const char *name, tsr_dialect *out)
{
    GUARD(tsr_dialect_parse);
    for (size_t i = 0; i < NUM_DIALECTS; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *out = (tsr_dialect)i;
            return TSR_OK;
        }
    }
    (void)diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "unknown dialect: \"%s\"", name);
    return diag_note(ctx, NO_LOCATION, "the dialects are %s, %s, %s and %s", rows[0].name,
                     rows[1].name, rows[2].name, rows[3].name);
}

/* Only DTensor lists start with a parenthesis, or with a bracket and a name. */
tsr_dialect tsr_dialect_guess(const tsr_text *text)
{
    GUARD(tsr_dialect_guess);
    const size_t at = skip_blanks(text, text->at);
    const slice name = name_at(text, at);
    const char next = byte_at(text, skip_blanks(text, at + name.size));
    if (name.size > 0) {
        return jax_is_spec(name) && next == '(' ? TSR_DIALECT_JAX : TSR_DIALECT_SDY;
    }
    const char first = byte_at(text, at);
    if (first == '{') {
        return TSR_DIALECT_HLO;
    }
    const bool listed = first == '[' && name_at(text, skip_blanks(text, at + 1)).size > 0;
    return first == '(' || listed ? TSR_DIALECT_DTENSOR : TSR_DIALECT_SDY;
}

lexer python_lexer(const dialect_reader *r)
{
    lexer lex = lex_start(r->ctx, r->arena, r->text);
    lex.single_quotes = true;
    return lex;
}

tsr_status dialect_mesh(const dialect_reader *r, location where, const tsr_mesh **out)
{
    if (r->options->mesh == NULL) {
        (void)diag_error(r->ctx, TSR_ERR_INVALID, where,
                         "the sharding does not name a mesh and none is given");
        return diag_note(r->ctx, NO_LOCATION, "give a mesh, such as <[\"x\"=2, \"y\"=4]>");
    }
    *out = r->options->mesh;
    return TSR_OK;
}

tsr_status dialect_resolve(const dialect_reader *r, sharding_text *text, const tsr_mesh *mesh,
                           const tsr_sharding **out)
{
    const resolve_options options = {.flags = r->options->flags | TSR_SHARDING_CANONICALIZE,
                                     .rank = -1,
                                     .shape = r->shape,
                                     .prefix = ""};
    return sharding_resolve(r->ctx, r->arena, text, mesh, &options, out);
}

tsr_status dialect_no_rank(const dialect_reader *r, location where)
{
    (void)diag_error(r->ctx, TSR_ERR_INVALID, where,
                     "the text does not determine how many dimensions the tensor has");
    return diag_note(r->ctx, NO_LOCATION, "give the shape of the tensor");
}

int64_t dialect_extent(const int64_t *shape, size_t dim)
{
    return shape == NULL || shape[dim] < 0 ? TSR_UNKNOWN : shape[dim];
}

const char *dialect_axes(const dialect_writer *w, const tsr_axis_ref *axes, size_t count)
{
    buffer buf = buffer_new(w->arena);
    axes_print(&buf, w->sharding->mesh, axes, count);
    buffer_char(&buf, '\0');
    return buf.failed ? "?" : buf.data;
}

tsr_status tsr_dialect_read(tsr_context *ctx, tsr_arena *arena, tsr_dialect dialect, tsr_text *text,
                            const tsr_sharding_reader *reader, size_t rank, const int64_t *shape,
                            const tsr_sharding **out)
{
    GUARD(tsr_dialect_read);
    const dialect_reader r = {.ctx = ctx,
                              .arena = arena,
                              .text = text,
                              .options = reader,
                              .rank = shape != NULL ? (int64_t)rank : reader->rank,
                              .shape = shape};
    return dialect_read(&r, dialect, out);
}

tsr_status dialect_read(const dialect_reader *r, tsr_dialect dialect, const tsr_sharding **out)
{
    return rows[dialect].read(r, out);
}

static tsr_status check_open(const dialect_writer *w, unsigned words, size_t index)
{
    const tsr_dim *dim = &w->sharding->dims[index];
    if (!dim->open || ((words & WORDS_OPEN) != 0 && dim->num_axes == 0)) {
        return TSR_OK;
    }
    const bool half = (words & WORDS_OPEN) != 0;
    (void)diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION, CANNOT "dim %zu is open%s",
                     w->dialect, index, half ? " and sharded already" : "");
    return diag_note(w->ctx, NO_LOCATION, "close the dimension: leave out its ?%s",
                     half ? ", or its axes" : "");
}

static tsr_status check_full(const dialect_writer *w, unsigned words, const tsr_axis_ref *axes,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (axes[i].is_sub && (words & WORDS_SUB_AXES) == 0) {
            (void)diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                             CANNOT "%s is only part of its axis", w->dialect,
                             dialect_axes(w, &axes[i], 1));
            return diag_note(w->ctx, NO_LOCATION,
                             "use a mesh in which this part is an axis of its own");
        }
    }
    return TSR_OK;
}

static tsr_status check_ragged(const dialect_writer *w, unsigned words, size_t index)
{
    const tsr_ragged *ragged = w->sharding->dims[index].ragged;
    if (ragged == NULL || (words & WORDS_RAGGED) != 0) {
        return TSR_OK;
    }
    const bool dynamic = ragged->kind == TSR_RAGGED_DYNAMIC;
    (void)diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                     CANNOT "dim %zu is %s and not cut into even chunks", w->dialect, index,
                     dynamic ? "dynamic" : "partitioned");
    return diag_note(w->ctx, NO_LOCATION, "sdy and dtensor can express explicit sizes");
}

static tsr_status check_dim(const dialect_writer *w, unsigned words, size_t index)
{
    const tsr_dim *dim = &w->sharding->dims[index];
    TSR_TRY(check_open(w, words, index));
    if (dim->priority != TSR_NO_PRIORITY) {
        (void)diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                         CANNOT "dim %zu has priority %lld", w->dialect, index,
                         (long long)dim->priority);
        return diag_note(w->ctx, NO_LOCATION, "remove the p%lld", (long long)dim->priority);
    }
    TSR_TRY(check_full(w, words, dim->axes, dim->num_axes));
    return check_ragged(w, words, index);
}

static tsr_status check_lists(const dialect_writer *w, unsigned words)
{
    const tsr_sharding *s = w->sharding;
    if (s->num_replicated > 0) {
        (void)diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION, CANNOT "%s must stay replicated",
                         w->dialect, dialect_axes(w, s->replicated, s->num_replicated));
        return diag_note(w->ctx, NO_LOCATION,
                         "remove replicated={...}: unused axes are replicated as well");
    }
    if (s->num_unreduced > 0 && s->reduction != TSR_SUM && (words & WORDS_KINDS) == 0) {
        (void)diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                         CANNOT "the reduction pending over %s is %s and not sum", w->dialect,
                         dialect_axes(w, s->unreduced, s->num_unreduced),
                         reduction_name(s->reduction));
        return diag_note(w->ctx, NO_LOCATION, "sdy and dtensor can express other reductions");
    }
    return check_full(w, words, s->unreduced, s->num_unreduced);
}

/* Whether the dialect can express all of the sharding, as far as the table can tell. */
static tsr_status check_words(const dialect_writer *w, unsigned words)
{
    if ((words & WORDS_ALL) != 0) {
        return TSR_OK;
    }
    if (tsr_mesh_is_maximal(w->sharding->mesh) && (words & WORDS_MAXIMAL) == 0) {
        (void)diag_error(w->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                         CANNOT "its mesh is the single device %lld without axes", w->dialect,
                         (long long)tsr_mesh_device_at(w->sharding->mesh, 0));
        return diag_note(w->ctx, NO_LOCATION, "sdy and hlo can express a single device");
    }
    for (size_t i = 0; i < w->sharding->rank; i++) {
        TSR_TRY(check_dim(w, words, i));
    }
    return check_lists(w, words);
}

tsr_status tsr_dialect_write(tsr_context *ctx, tsr_arena *arena, tsr_dialect dialect,
                             const tsr_sharding *sharding, const int64_t *shape, const char **out)
{
    GUARD(tsr_dialect_write);
    buffer buf = buffer_new(arena);
    const dialect_writer w = {.ctx = ctx,
                              .arena = arena,
                              .dialect = rows[dialect].name,
                              .sharding = sharding,
                              .shape = shape,
                              .buf = &buf};
    TSR_TRY(check_words(&w, rows[dialect].words));
    TSR_TRY(rows[dialect].write(&w));
    return buffer_finish(ctx, &buf, out);
}

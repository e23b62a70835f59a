/* Reading the text of shardings, with the errors of the reference. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "shard/sharding.h"

#define FAILED_TO_PARSE "failed to parse Sdy_TensorSharding"

static const char name_failed[] =
    "failed to parse Sdy_AxisRef parameter 'name' which is to be a `::llvm::StringRef`";
static const char sub_axis_failed[] =
    "failed to parse Sdy_AxisRef parameter 'sub_axis_info' which is to be a `SubAxisInfoAttr`";
static const char pre_size_failed[] =
    "failed to parse Sdy_SubAxisInfo parameter 'pre_size' which is to be a `int64_t`";
static const char size_failed[] =
    "failed to parse Sdy_SubAxisInfo parameter 'size' which is to be a `int64_t`";
static const char list_failed[] =
    "failed to parse axis list which is expected to be an `ArrayRef<AxisRefAttr>`";
static const char dims_failed[] = FAILED_TO_PARSE " parameter 'dim_shardings' which is to be a "
                                                  "`::llvm::ArrayRef<DimensionShardingAttr>`";
static const char per_value_failed[] =
    "failed to parse Sdy_TensorShardingPerValue parameter 'shardings' which is to be a "
    "`::llvm::ArrayRef<TensorShardingAttr>`";

static const char *const reduction_names[] = {[TSR_SUM] = "sum",
                                              [TSR_MAX] = "max",
                                              [TSR_MIN] = "min",
                                              [TSR_AVG] = "avg",
                                              [TSR_PROD] = "prod"};

const char *reduction_name(tsr_reduction reduction)
{
    return reduction_names[reduction];
}

bool reduction_find(slice name, tsr_reduction *out)
{
    for (size_t i = 0; i < sizeof reduction_names / sizeof reduction_names[0]; i++) {
        if (name.size == strlen(reduction_names[i]) &&
            memcmp(name.data, reduction_names[i], name.size) == 0) {
            *out = (tsr_reduction)i;
            return true;
        }
    }
    return false;
}

/* A number of a sub-axis, and what its absence leads to. */
static tsr_status read_sub_axis_number(lexer *lex, const char *failed, int64_t *out)
{
    return lex_integer(lex, out) < 0 ? lex_follow_up(lex, failed) : TSR_OK;
}

/* `(1)2` */
static tsr_status read_sub_axis(lexer *lex, tsr_axis_ref *ref)
{
    ref->is_sub = 1;
    TSR_TRY(lex_expect(lex, '('));
    TSR_TRY(read_sub_axis_number(lex, pre_size_failed, &ref->pre));
    TSR_TRY(lex_expect(lex, ')'));
    return read_sub_axis_number(lex, size_failed, &ref->size);
}

tsr_status axis_text_read(lexer *lex, named_axis *out)
{
    const size_t from = lex->current.at;
    named_axis axis = {.ref = {.axis = -1, .pre = 1}};
    if (lex_string(lex, &axis.name) < 0) {
        return lex_follow_up(lex, name_failed);
    }
    if (lex_accept(lex, ':') && read_sub_axis(lex, &axis.ref) < 0) {
        return lex_follow_up(lex, sub_axis_failed);
    }
    axis.where = lex_span(lex, from);
    *out = axis;
    return TSR_OK;
}

/* A list that is being read. */
typedef struct growing_axes {
    named_axis *axes;
    size_t count;
    size_t capacity;
} growing_axes;

static tsr_status read_and_push(lexer *lex, growing_axes *list)
{
    named_axis axis;
    TSR_TRY(axis_text_read(lex, &axis));
    return LEX_PUSH(lex, list->axes, list->count, list->capacity, axis);
}

/* `{"x", "y", ?}`: the axes and whether it is open. Leniently without the comma before `?`. */
static tsr_status read_braces(lexer *lex, tsr_reading reading, dim_text *dim)
{
    growing_axes list = {0};
    TSR_TRY(lex_expect(lex, '{'));
    dim->open = lex_accept(lex, '?');
    while (!dim->open && !lex_is(lex, '}')) {
        if (list.count > 0 && (reading == TSR_READ_PROGRAM || !lex_is(lex, '?'))) {
            TSR_TRY(lex_expect(lex, ','));
        }
        dim->open = lex_accept(lex, '?');
        if (!dim->open) {
            TSR_TRY(read_and_push(lex, &list));
        }
    }
    dim->axes = (named_axes){list.axes, list.count};
    return lex_expect(lex, '}');
}

static bool all_digits(slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
    }
    return text.size > 0;
}

/* The word after a dimension: `p` and a number. */
static tsr_status read_priority(lexer *lex, int64_t *priority)
{
    const slice word = lex_slice(lex);
    const slice digits = {word.data + 1, word.size - 1};
    const char *problem = NULL;
    int64_t value = 0;
    if (word.data[0] != 'p' || !all_digits(digits)) {
        problem = "expecting priority in format 'p<number>', got: ";
    } else if (digits.size > 1 && digits.data[0] == '0') {
        problem = "priorities with leading zeros are not allowed, got: ";
    } else {
        for (size_t i = 0; i < digits.size && problem == NULL; i++) {
            if (!checked_mul(value, 10, &value) ||
                !checked_add(value, digits.data[i] - '0', &value)) {
                problem = "expecting integer priority, got: ";
            }
        }
    }
    if (problem != NULL) {
        (void)diag_error(lex->ctx, TSR_ERR_SYNTAX, lex_here(lex), "%s%.*s", problem, (int)word.size,
                         word.data);
        return diag_note(lex->ctx, NO_LOCATION, "a priority follows the braces, as p0, p1, p2");
    }
    lex_next(lex);
    *priority = value;
    return TSR_OK;
}

tsr_status dim_text_read(lexer *lex, tsr_reading reading, dim_text *out)
{
    const size_t from = lex->current.at;
    dim_text dim = {.priority = TSR_NO_PRIORITY};
    TSR_TRY(read_braces(lex, reading, &dim));
    if (lex_accept(lex, ':')) {
        TSR_TRY(ragged_read(lex, &dim));
    }
    if (lex_is(lex, TOKEN_WORD)) {
        TSR_TRY(read_priority(lex, &dim.priority));
    }
    dim.where = lex_span(lex, from);
    *out = dim;
    return TSR_OK;
}

/* `[{"x"}, {}]` */
static tsr_status read_dims(lexer *lex, sharding_text *text)
{
    size_t capacity = 0;
    TSR_TRY(lex_expect(lex, '['));
    if (lex_accept(lex, ']')) {
        return TSR_OK;
    }
    do {
        dim_text dim;
        if (dim_text_read(lex, text->reading, &dim) < 0) {
            return lex_follow_up(lex, dims_failed);
        }
        TSR_TRY(LEX_PUSH(lex, text->dims, text->rank, capacity, dim));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, ']');
}

/* `{"x", "y"}`; empty only when leniently read. */
static tsr_status read_axes(lexer *lex, tsr_reading reading, named_axes *out)
{
    growing_axes list = {0};
    TSR_TRY(lex_expect(lex, '{'));
    if (!(reading == TSR_READ_LENIENT && lex_is(lex, '}'))) {
        do {
            if (read_and_push(lex, &list) < 0) {
                return lex_follow_up(lex, list_failed);
            }
        } while (lex_accept(lex, ','));
    }
    TSR_TRY(lex_expect(lex, '}'));
    *out = (named_axes){list.axes, list.count};
    return TSR_OK;
}

/* The sign and the kind before unreduced axes: nothing, `=`, or `=max`. */
static tsr_status read_kind(lexer *lex, sharding_text *text)
{
    if (!lex_accept(lex, '=')) {
        return TSR_OK;
    }
    if (lex_is(lex, TOKEN_WORD) && reduction_find(lex_slice(lex), &text->reduction)) {
        lex_next(lex);
    }
    return TSR_OK;
}

/* What a text has already, of the two named lists. */
typedef struct named_lists {
    bool replicated;
    bool unreduced;
} named_lists;

/* One of `replicated={...}` and `unreduced={...}`. */
static tsr_status read_named(lexer *lex, tsr_reading reading, sharding_text *text,
                             named_lists *have)
{
    const size_t from = lex->current.at;
    if (!have->replicated && lex_accept_word(lex, "replicated")) {
        have->replicated = true;
        if (lex_expect(lex, '=') < 0 || read_axes(lex, reading, &text->replicated) < 0) {
            return lex_follow_up(lex, FAILED_TO_PARSE " parameter 'replicated_axes'");
        }
        text->replicated_where = lex_span(lex, from);
        return TSR_OK;
    }
    if (!have->unreduced && lex_accept_word(lex, "unreduced")) {
        have->unreduced = true;
        if (read_kind(lex, text) < 0 || read_axes(lex, reading, &text->unreduced) < 0) {
            return lex_follow_up(lex, FAILED_TO_PARSE " parameter 'unreduced_axes'");
        }
        text->unreduced_where = lex_span(lex, from);
        return TSR_OK;
    }
    TSR_TRY(lex_error(lex, lex_here(lex),
                      FAILED_TO_PARSE ", expected valid named axis list after comma"));
    return TSR_ERR_SYNTAX;
}

/* The same, with a note that says what is wanted. */
static tsr_status read_named_noted(lexer *lex, tsr_reading reading, sharding_text *text,
                                   named_lists *have)
{
    if (read_named(lex, reading, text, have) < 0) {
        return diag_note(lex->ctx, NO_LOCATION,
                         "after the dimensions, write replicated={\"x\"} and unreduced={\"y\"}, "
                         "each at most once, with names in quotes");
    }
    return TSR_OK;
}

/* `, replicated={...}, unreduced={...}` */
static tsr_status read_named_lists(lexer *lex, tsr_reading reading, sharding_text *text)
{
    named_lists have = {0};
    while (lex_accept(lex, ',')) {
        TSR_TRY(read_named_noted(lex, reading, text, &have));
    }
    return TSR_OK;
}

/* The same where the text need not end: a comma belongs to it only before one of the two words. */
static tsr_status read_bare_lists(lexer *lex, sharding_text *text)
{
    named_lists have = {0};
    for (;;) {
        const lexer saved = *lex;
        if (!lex_accept(lex, ',')) {
            return TSR_OK;
        }
        if (!lex_is_word(lex, "replicated") && !lex_is_word(lex, "unreduced")) {
            *lex = saved;
            lex->text->at = saved.last_end;
            return TSR_OK;
        }
        TSR_TRY(read_named_noted(lex, TSR_READ_LENIENT, text, &have));
    }
}

/* Whether a word is an attribute of its own: a unit, a truth value or a plain type. */
static bool is_attribute_word(slice word)
{
    static const char *const words[] = {"true", "false", "unit", "none", "index"};
    static const char *const types[] = {"i", "si", "ui", "f", "bf", "tf"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (word.size == strlen(words[i]) && memcmp(word.data, words[i], word.size) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const size_t size = strlen(types[i]);
        if (word.size > size && memcmp(word.data, types[i], size) == 0 && word.data[size] >= '0' &&
            word.data[size] <= '9') {
            return true;
        }
    }
    return false;
}

/* The error for what is not a mesh: an attribute of another kind, or no attribute at all. */
static tsr_status refuse_mesh(lexer *lex, location where)
{
    const token *t = &lex->current;
    const bool nested = where.at != t->at;
    const bool attribute = nested || t->kind == TOKEN_STRING || t->kind == TOKEN_INTEGER ||
                           t->kind == TOKEN_HASH || t->kind == '[' || t->kind == '{' ||
                           t->kind == '-' ||
                           (t->kind == TOKEN_WORD && is_attribute_word(lex_slice(lex)));
    (void)lex_error(lex, where,
                    attribute ? "invalid kind of attribute specified" : "expected attribute value");
    (void)diag_note(lex->ctx, NO_LOCATION,
                    "a sharding starts with its mesh: <@mesh, [...]> or <mesh<[\"x\"=2]>, [...]>");
    return lex_follow_up(lex, "expecting MeshAttr or FlatSymbolRefAttr, got: <<NULL ATTRIBUTE>>");
}

/* Whether `::` is next, as in a nested name. */
static bool is_nested(const lexer *lex)
{
    const size_t next = lex->current.at + 1;
    return lex_is(lex, ':') && next < lex->text->size && lex->text->data[next] == ':';
}

/* `@mesh` or `mesh<[...]>`; a nested name `@a::@b` is not a mesh. */
static tsr_status read_mesh(lexer *lex, tsr_reading reading, sharding_text *text)
{
    const location where = lex_here(lex);
    if (lex_is(lex, TOKEN_AT)) {
        text->has_name = true;
        TSR_TRY(lex_at_name(lex, &text->mesh_name));
        return is_nested(lex) ? refuse_mesh(lex, where) : TSR_OK;
    }
    if (lex_is_word(lex, "mesh")) {
        if (mesh_read(lex, reading, &text->inline_mesh) < 0) {
            return lex_follow_up(lex, "failed to parse MeshAttr");
        }
        return TSR_OK;
    }
    return refuse_mesh(lex, where);
}

/* `<@mesh, [...], ...>`; leniently with the stray `}` that the document has at the end. */
static tsr_status read_angles(lexer *lex, tsr_reading reading, sharding_text *text)
{
    TSR_TRY(lex_expect(lex, '<'));
    TSR_TRY(read_mesh(lex, reading, text));
    TSR_TRY(lex_expect(lex, ','));
    TSR_TRY(read_dims(lex, text));
    TSR_TRY(read_named_lists(lex, reading, text));
    if (reading == TSR_READ_LENIENT && lex_accept(lex, '}') && !lex_is(lex, '>')) {
        return TSR_OK;
    }
    return lex_expect(lex, '>');
}

/* Of the forms the lenient reading takes, only the document's own are read leniently. */
static tsr_reading reading_of(const lexer *lex, tsr_reading reading)
{
    const bool document = lex_is(lex, '[') || lex_is_word(lex, "sharding");
    return document ? reading : TSR_READ_PROGRAM;
}

tsr_status sharding_text_read(lexer *lex, tsr_reading reading, sharding_text *out)
{
    const size_t from = lex->current.at;
    sharding_text text = {.reading = reading_of(lex, reading), .reduction = TSR_SUM};
    if (text.reading == TSR_READ_LENIENT && lex_is(lex, '[')) {
        TSR_TRY(read_dims(lex, &text));
        TSR_TRY(read_bare_lists(lex, &text));
    } else {
        if (!lex_accept_hash(lex, "#sdy.sharding") && text.reading == TSR_READ_LENIENT) {
            (void)lex_accept_word(lex, "sharding");
        }
        TSR_TRY(read_angles(lex, text.reading, &text));
    }
    text.where = lex_span(lex, from);
    *out = text;
    return TSR_OK;
}

/* The reference's error, with the names that are known. */
static tsr_status unknown_mesh(tsr_context *ctx, const sharding_text *text,
                               const tsr_mesh_table *meshes)
{
    enum { MOST = 256 };
    char names[MOST] = "none";
    size_t used = 0;
    for (size_t i = 0; i < tsr_mesh_table_count(meshes) && used < MOST; i++) {
        const int added = snprintf(names + used, MOST - used, "%s@%s", i > 0 ? ", " : "",
                                   tsr_mesh_name(tsr_mesh_table_at(meshes, i)));
        used += added > 0 ? (size_t)added : 0;
    }
    (void)diag_error(ctx, TSR_ERR_INVALID, text->where, "unknown mesh: @%.*s",
                     (int)text->mesh_name.size, text->mesh_name.data);
    return diag_note(ctx, NO_LOCATION, "the defined meshes are %s", names);
}

tsr_status sharding_text_mesh(tsr_context *ctx, const sharding_text *text,
                              const tsr_sharding_reader *reader, const tsr_mesh **out)
{
    const tsr_mesh *mesh = text->inline_mesh != NULL ? text->inline_mesh : reader->mesh;
    if (text->has_name && reader->meshes != NULL) {
        mesh = tsr_mesh_table_find(reader->meshes, text->mesh_name.data, text->mesh_name.size);
        if (mesh == NULL) {
            return unknown_mesh(ctx, text, reader->meshes);
        }
    }
    if (mesh == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, text->where,
                          "the sharding does not name a mesh and none is given");
    }
    *out = mesh;
    return TSR_OK;
}

/* Looks up the mesh of a text and resolves it. */
static tsr_status resolve(tsr_context *ctx, tsr_arena *arena, sharding_text *text,
                          const tsr_sharding_reader *reader, const tsr_sharding **out)
{
    const tsr_mesh *mesh = NULL;
    TSR_TRY(sharding_text_mesh(ctx, text, reader, &mesh));
    const int lenient = text->reading == TSR_READ_LENIENT ? TSR_SHARDING_CANONICALIZE : 0;
    const resolve_options options = {.flags = reader->flags | lenient,
                                     .rank = reader->rank,
                                     .shape = reader->shape,
                                     .prefix = ""};
    return sharding_resolve(ctx, arena, text, mesh, &options, out);
}

/* Reads and resolves one sharding. */
static tsr_status read_one(lexer *lex, const tsr_sharding_reader *reader, const tsr_sharding **out)
{
    sharding_text text;
    TSR_TRY(sharding_text_read(lex, reader->reading, &text));
    return resolve(lex->ctx, lex->arena, &text, reader, out);
}

tsr_status tsr_sharding_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text,
                             const tsr_sharding_reader *reader, const tsr_sharding **out)
{
    GUARD(tsr_sharding_read);
    lexer lex = lex_start(ctx, arena, text);
    return read_one(&lex, reader, out);
}

tsr_status tsr_sharding_parse(tsr_context *ctx, tsr_arena *arena, const tsr_mesh *mesh,
                              const char *string, const tsr_sharding **out)
{
    GUARD(tsr_sharding_parse);
    const tsr_sharding_reader reader = {.mesh = mesh, .reading = TSR_READ_LENIENT, .rank = -1};
    tsr_text text = tsr_text_of("<sharding>", string);
    lexer lex = lex_start(ctx, arena, &text);
    const tsr_sharding *sharding;
    TSR_TRY(read_one(&lex, &reader, &sharding));
    if (!lex_is(&lex, TOKEN_END)) {
        return lex_error(&lex, lex_here(&lex), "expected the end of the sharding");
    }
    *out = sharding;
    return TSR_OK;
}

/* `<[<...>, <...>]>`: the texts, since a fault in one ends the reading of all. */
static tsr_status read_texts(lexer *lex, tsr_reading reading, sharding_text **out, size_t *count)
{
    sharding_text *texts = NULL;
    size_t number = 0;
    size_t capacity = 0;
    (void)lex_accept_hash(lex, "#sdy.sharding_per_value");
    TSR_TRY(lex_expect(lex, '<'));
    TSR_TRY(lex_expect(lex, '['));
    if (!lex_is(lex, ']')) {
        do {
            sharding_text text = {0};
            if (sharding_text_read(lex, reading, &text) < 0) {
                return lex_follow_up(lex, per_value_failed);
            }
            TSR_TRY(LEX_PUSH(lex, texts, number, capacity, text));
        } while (lex_accept(lex, ','));
    }
    TSR_TRY(lex_expect(lex, ']'));
    TSR_TRY(lex_expect(lex, '>'));
    *out = texts;
    *count = number;
    return TSR_OK;
}

tsr_status tsr_shardings_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text,
                              const tsr_sharding_reader *reader, const tsr_sharding *const **out,
                              size_t *count)
{
    GUARD(tsr_shardings_read);
    lexer lex = lex_start(ctx, arena, text);
    sharding_text *texts = NULL;
    size_t number = 0;
    TSR_TRY(read_texts(&lex, reader->reading, &texts, &number));
    const tsr_sharding **shardings = ARENA_ARRAY(arena, const tsr_sharding *, number);
    if (shardings == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < number; i++) {
        TSR_TRY(resolve(ctx, arena, &texts[i], reader, &shardings[i]));
    }
    *out = shardings;
    *count = number;
    return TSR_OK;
}

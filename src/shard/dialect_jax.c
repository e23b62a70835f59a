/*
 * JAX: P('x', None, ('y', 'z'), P.UNCONSTRAINED, unreduced={'w'}).
 *
 * One entry for each dimension; those missing at the end are None.
 */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "shard/dialect.h"

/* The arguments of P while they are read. */
typedef struct partition_spec {
    sharding_text text;
    size_t capacity;
    bool has_unreduced;
} partition_spec;

/* A list of names that is being read. */
typedef struct name_list {
    named_axis *axes;
    size_t count;
    size_t capacity;
} name_list;

static tsr_status read_name(lexer *lex, name_list *list)
{
    named_axis axis = {.ref = {.axis = -1, .pre = 1}, .where = lex_here(lex)};
    TSR_TRY(lex_string(lex, &axis.name));
    return LEX_PUSH(lex, list->axes, list->count, list->capacity, axis);
}

/* `'x', 'y'` up to the closing mark, which is taken. */
static tsr_status read_names(lexer *lex, int closing, name_list *list)
{
    while (!lex_is(lex, closing)) {
        TSR_TRY(read_name(lex, list));
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    return lex_expect(lex, closing);
}

/* `None`, `'x'`, `('x', 'y')` or `P.UNCONSTRAINED`. */
static tsr_status read_entry(lexer *lex, dim_text *dim)
{
    name_list list = {0};
    const size_t from = lex->current.at;
    if (lex_is(lex, TOKEN_STRING)) {
        TSR_TRY(read_name(lex, &list));
    } else if (lex_accept(lex, '(')) {
        TSR_TRY(read_names(lex, ')', &list));
    } else if (lex_is(lex, TOKEN_WORD) && python_name_is(lex_slice(lex), "UNCONSTRAINED")) {
        dim->open = true;
        lex_next(lex);
    } else if (!lex_accept_word(lex, "None")) {
        return lex_error(lex, lex_here(lex),
                         "expected None, 'axis', ('axis', 'axis') or P.UNCONSTRAINED");
    }
    dim->axes = (named_axes){list.axes, list.count};
    dim->where = lex_span(lex, from);
    return TSR_OK;
}

/* `{'x'}`, or as JAX prints it `frozenset({'x'})`; an empty set is `set()`. */
static tsr_status read_set(lexer *lex, name_list *list)
{
    if (!lex_is_word(lex, "set") && !lex_is_word(lex, "frozenset")) {
        TSR_TRY(lex_expect(lex, '{'));
        return read_names(lex, '}', list);
    }
    lex_next(lex);
    TSR_TRY(lex_expect(lex, '('));
    if (lex_accept(lex, '{')) {
        TSR_TRY(read_names(lex, '}', list));
    }
    return lex_expect(lex, ')');
}

/* The word of a keyword argument, which the current token is. */
static tsr_status read_keyword(lexer *lex, partition_spec *spec)
{
    const size_t from = lex->current.at;
    name_list list = {0};
    if (lex_is_word(lex, "reduced")) {
        (void)diag_error(lex->ctx, TSR_ERR_UNSUPPORTED, lex_here(lex),
                         "reduced={...} cannot be expressed as a sharding");
        return diag_note(
            lex->ctx, NO_LOCATION,
            "it does not change the placement: remove it, or use replicated={...} of sdy");
    }
    if (spec->has_unreduced) {
        return lex_error(lex, lex_here(lex), "unreduced is repeated");
    }
    spec->has_unreduced = true;
    lex_next(lex);
    TSR_TRY(lex_expect(lex, '='));
    TSR_TRY(read_set(lex, &list));
    spec->text.unreduced = (named_axes){list.axes, list.count};
    spec->text.unreduced_where = lex_span(lex, from);
    return TSR_OK;
}

static tsr_status read_argument(lexer *lex, partition_spec *spec)
{
    dim_text dim = {.priority = TSR_NO_PRIORITY};
    if (lex_is_word(lex, "unreduced") || lex_is_word(lex, "reduced")) {
        return read_keyword(lex, spec);
    }
    if (spec->has_unreduced) {
        return lex_error(lex, lex_here(lex), "an entry cannot follow unreduced={...}");
    }
    TSR_TRY(read_entry(lex, &dim));
    return LEX_PUSH(lex, spec->text.dims, spec->text.rank, spec->capacity, dim);
}

bool jax_is_spec(slice name)
{
    return python_name_is(name, "P") || python_name_is(name, "PS") ||
           python_name_is(name, "PartitionSpec");
}

/* `P(...)` under any of its names. */
static tsr_status read_spec(lexer *lex, partition_spec *spec)
{
    const size_t from = lex->current.at;
    const slice head = lex_slice(lex);
    if (!lex_is(lex, TOKEN_WORD) || !jax_is_spec(head)) {
        return lex_error(lex, lex_here(lex), "expected P(...) or PartitionSpec(...)");
    }
    lex_next(lex);
    TSR_TRY(lex_expect(lex, '('));
    while (!lex_is(lex, ')')) {
        TSR_TRY(read_argument(lex, spec));
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    TSR_TRY(lex_expect(lex, ')'));
    spec->text.where = lex_span(lex, from);
    return TSR_OK;
}

/* Adds the entries that are left out at the end. */
static tsr_status fill_rank(lexer *lex, partition_spec *spec, int64_t rank)
{
    if (rank >= 0 && (int64_t)spec->text.rank > rank) {
        (void)diag_error(lex->ctx, TSR_ERR_INVALID, spec->text.dims[rank].where,
                         "the partition spec has %zu entries, the tensor %lld dimensions",
                         spec->text.rank, (long long)rank);
        return diag_note(lex->ctx, NO_LOCATION, "remove entries: trailing entries may be omitted");
    }
    while ((int64_t)spec->text.rank < rank) {
        const dim_text none = {.priority = TSR_NO_PRIORITY, .where = spec->text.where};
        TSR_TRY(LEX_PUSH(lex, spec->text.dims, spec->text.rank, spec->capacity, none));
    }
    return TSR_OK;
}

tsr_status jax_read(const dialect_reader *r, const tsr_sharding **out)
{
    lexer lex = python_lexer(r);
    partition_spec spec = {.text = {.reduction = TSR_SUM}};
    const tsr_mesh *mesh;
    TSR_TRY(read_spec(&lex, &spec));
    TSR_TRY(dialect_mesh(r, spec.text.where, &mesh));
    TSR_TRY(fill_rank(&lex, &spec, tsr_mesh_is_maximal(mesh) ? -1 : r->rank));
    return dialect_resolve(r, &spec.text, mesh, out);
}

/* A name in single quotes, escaped as Python and the lexer read it. */
static void write_name(const dialect_writer *w, tsr_axis_ref axis)
{
    static const char hex[] = "0123456789ABCDEF";
    buffer_char(w->buf, '\'');
    for (const char *c = tsr_mesh_axis_name(w->sharding->mesh, (size_t)axis.axis); *c != '\0';
         c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '\\' || byte == '\'') {
            buffer_char(w->buf, '\\');
        }
        if (byte >= ' ') {
            buffer_char(w->buf, *c);
        } else {
            const char escape[] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
            buffer_bytes(w->buf, escape, sizeof escape);
        }
    }
    buffer_char(w->buf, '\'');
}

static void write_names(const dialect_writer *w, const tsr_axis_ref *axes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_string(w->buf, i > 0 ? ", " : "");
        write_name(w, axes[i]);
    }
}

static void write_entry(const dialect_writer *w, const tsr_dim *dim)
{
    if (dim->num_axes == 0) {
        buffer_string(w->buf, dim->open ? "P.UNCONSTRAINED" : "None");
        return;
    }
    buffer_string(w->buf, dim->num_axes > 1 ? "(" : "");
    write_names(w, dim->axes, dim->num_axes);
    buffer_string(w->buf, dim->num_axes > 1 ? ")" : "");
}

/* The table has refused what JAX cannot express. */
tsr_status jax_write(const dialect_writer *w)
{
    const tsr_sharding *s = w->sharding;
    buffer_string(w->buf, "P(");
    for (size_t i = 0; i < s->rank; i++) {
        buffer_string(w->buf, i > 0 ? ", " : "");
        write_entry(w, &s->dims[i]);
    }
    if (s->num_unreduced > 0) {
        buffer_string(w->buf, s->rank > 0 ? ", unreduced={" : "unreduced={");
        write_names(w, s->unreduced, s->num_unreduced);
        buffer_char(w->buf, '}');
    }
    buffer_char(w->buf, ')');
    return TSR_OK;
}

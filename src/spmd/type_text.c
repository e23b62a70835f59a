/* Types as text: `f32[8@(dp,tp),16]{pp:R, ep:P(max)}`, read and printed. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/guard.h"
#include "base/lex.h"
#include "shard/sharding.h"
#include "spmd/view.h"

/* ---- printing ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = name[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !(is_digit(c) || c == '.' || c == '$'))) {
            return false;
        }
    }
    return length > 0;
}

/* Whether a name needs no quotes: a word, or a part of an axis whose name is one, `x:(1)2`. */
static bool is_plain(const char *name)
{
    const size_t length = strcspn(name, ":");
    const char *at = name + length;
    if (!is_word(name, length) || *at == '\0') {
        return is_word(name, length);
    }
    if (at[1] != '(' || !is_digit(at[2])) {
        return false;
    }
    at += 2 + strspn(at + 2, "0123456789");
    return at[0] == ')' && is_digit(at[1]) && at[1 + strspn(at + 1, "0123456789")] == '\0';
}

static void print_name(buffer *buf, const tsr_mesh *mesh, size_t axis)
{
    const char *name = tsr_mesh_axis_name(mesh, axis);
    if (is_plain(name)) {
        buffer_string(buf, name);
    } else {
        buffer_quoted(buf, name);
    }
}

void spmd_print_axes(buffer *buf, const tsr_mesh *mesh, const size_t *axes, size_t num_axes)
{
    for (size_t i = 0; i < num_axes; i++) {
        buffer_string(buf, i > 0 ? "," : "");
        print_name(buf, mesh, axes[i]);
    }
}

static void print_cut(buffer *buf, const tsr_mesh *mesh, const tsr_spec_dim *dim)
{
    if (dim->num_axes == 0) {
        return;
    }
    buffer_char(buf, '@');
    buffer_string(buf, dim->num_axes > 1 ? "(" : "");
    spmd_print_axes(buf, mesh, dim->axes, dim->num_axes);
    buffer_string(buf, dim->num_axes > 1 ? ")" : "");
    if (dim->symbol != NULL) {
        buffer_format(buf, ":[?%s]", dim->symbol);
    } else if (dim->sizes != NULL) {
        const int64_t shards = spmd_shards(mesh, dim->axes, dim->num_axes);
        buffer_string(buf, ":[");
        for (int64_t i = 0; i < shards; i++) {
            buffer_string(buf, i > 0 ? "," : "");
            buffer_int(buf, dim->sizes[i]);
        }
        buffer_char(buf, ']');
    }
}

static void print_rest(buffer *buf, const tsr_type *type)
{
    bool any = false;
    for (size_t a = 0; a < tsr_mesh_num_axes(type->mesh); a++) {
        if (type->axes[a].kind != TSR_UNTYPED && tsr_type_dim_of(type, a) < 0) {
            buffer_string(buf, any ? ", " : "{");
            print_name(buf, type->mesh, a);
            buffer_format(buf, ":%s", tsr_axis_type_name(type->axes[a]));
            any = true;
        }
    }
    buffer_string(buf, any ? "}" : "");
}

void spmd_print_typed(buffer *buf, const tsr_typed_shape *typed)
{
    if (typed->type == NULL) {
        buffer_string(buf, "a number");
        return;
    }
    buffer_string(buf, tsr_dtype_name(typed->dtype));
    buffer_char(buf, '[');
    for (size_t d = 0; d < typed->rank; d++) {
        buffer_string(buf, d > 0 ? "," : "");
        buffer_int(buf, typed->shape[d]);
        if (typed->type->has_spec && d < typed->type->rank) {
            print_cut(buf, typed->type->mesh, &typed->type->dims[d]);
        }
    }
    buffer_char(buf, ']');
    print_rest(buf, typed->type);
}

tsr_status tsr_type_print(tsr_context *ctx, tsr_arena *arena, const tsr_typed_shape *typed,
                          const char **out)
{
    GUARD(tsr_type_print);
    buffer buf = buffer_new(arena);
    TSR_TRY(tsr_type_check(
        ctx, &(tsr_typed_shape){typed->type, typed->dtype, typed->rank, typed->shape, NULL}));
    spmd_print_typed(&buf, typed);
    return buffer_finish(ctx, &buf, out);
}

/* ---- reading ---- */

enum { MAX_PARTS = 64 };

/*
 * The state of reading a type. Axes are known by number: those of the mesh, then the parts of axes
 * that the text has.
 */
typedef struct reading {
    lexer lex;
    const tsr_mesh *mesh;
    tsr_axis_ref *refs; /* of each axis and part */
    size_t num_refs;
    tsr_axis_type *axes;
    size_t rank;
    size_t room;
    int64_t *shape;
    tsr_spec_dim *dims;
    size_t dims_room;
    bool has_spec; /* some dimension has axes after an @ */
} reading;

static tsr_status read_dtype(reading *r, tsr_dtype *out)
{
    char name[32];
    size_t size = 0;
    const size_t from = r->lex.current.at;
    if (!lex_is(&r->lex, TOKEN_WORD)) {
        return lex_error(&r->lex, lex_here(&r->lex), "expected an element type");
    }
    lex_next(&r->lex);
    if (lex_accept(&r->lex, '<')) {
        lex_next(&r->lex);
        TSR_TRY(lex_expect(&r->lex, '>'));
    }
    for (size_t i = from; i < r->lex.last_end && size + 1 < sizeof name; i++) {
        name[size++] = r->lex.text->data[i];
    }
    name[size] = '\0';
    return tsr_dtype_parse(r->lex.ctx, name, out);
}

static bool is_part_at(const reading *r)
{
    tsr_text text = *r->lex.text;
    lexer ahead = r->lex;
    ahead.text = &text;
    return lex_accept(&ahead, ':') && lex_is(&ahead, '(');
}

/* `:(1)2` after the name of an axis: which part of it is meant. */
static tsr_status read_part(reading *r, int64_t *pre, int64_t *size)
{
    TSR_TRY(lex_expect(&r->lex, ':'));
    TSR_TRY(lex_expect(&r->lex, '('));
    TSR_TRY(lex_integer(&r->lex, pre));
    TSR_TRY(lex_expect(&r->lex, ')'));
    return lex_integer(&r->lex, size);
}

/* The number of an axis or part; a part that is new gets one. */
static tsr_status number_of(reading *r, tsr_axis_ref ref, location where, size_t *out)
{
    for (size_t i = 0; i < r->num_refs; i++) {
        if (tsr_axis_equal(r->refs[i], ref)) {
            *out = i;
            return TSR_OK;
        }
    }
    if (r->num_refs == tsr_mesh_num_axes(r->mesh) + MAX_PARTS) {
        return diag_error(r->lex.ctx, TSR_ERR_LIMIT, where, "a type has more than %d parts of axes",
                          MAX_PARTS);
    }
    *out = r->num_refs;
    r->refs[r->num_refs++] = ref;
    return TSR_OK;
}

/* What follows a name and is part of the axis; `name` may be that of a part by itself. */
static tsr_status find_axis(reading *r, slice name, location where, size_t *out)
{
    tsr_axis_ref ref;
    int64_t pre = 1;
    int64_t size = 1;
    const bool has_part = is_part_at(r);
    if (has_part) {
        buffer buf = buffer_new(r->lex.arena);
        const char *whole;
        TSR_TRY(read_part(r, &pre, &size));
        buffer_bytes(&buf, name.data, name.size);
        buffer_format(&buf, ":(%lld)%lld", (long long)pre, (long long)size);
        TSR_TRY(buffer_finish(r->lex.ctx, &buf, &whole));
        name = (slice){whole, strlen(whole)};
    }
    if (!mesh_find_part(r->mesh, name.data, name.size, &ref)) {
        return diag_error(r->lex.ctx, TSR_ERR_INVALID, where, "the mesh has no axis %.*s",
                          (int)min_i64((int64_t)name.size, 100), name.data);
    }
    if (ref.is_sub != 0) {
        TSR_TRY(tsr_axes_verify(r->lex.ctx, r->lex.arena, r->mesh, &ref, 1));
    }
    return number_of(r, ref, where, out);
}

static int64_t size_of(const reading *r, size_t axis)
{
    return r->refs[axis].size;
}

/* The name of an axis or part for messages; never NULL. */
static const char *name_of(const reading *r, size_t axis)
{
    buffer buf = buffer_new(r->lex.arena);
    const char *name = NULL;
    const tsr_axis_ref ref = r->refs[axis];
    buffer_string(&buf, tsr_mesh_axis_name(r->mesh, (size_t)ref.axis));
    if (ref.is_sub != 0) {
        buffer_format(&buf, ":(%lld)%lld", (long long)ref.pre, (long long)ref.size);
    }
    return buffer_finish(r->lex.ctx, &buf, &name) == TSR_OK ? name : "?";
}

/* A word or a string, looked up. */
static tsr_status read_axis(reading *r, size_t *out)
{
    const location where = lex_here(&r->lex);
    slice name = lex_slice(&r->lex);
    if (lex_is(&r->lex, TOKEN_STRING)) {
        TSR_TRY(lex_string(&r->lex, &name));
    } else if (!lex_accept(&r->lex, TOKEN_WORD)) {
        return lex_error(&r->lex, where, "expected an axis");
    }
    return find_axis(r, name, where, out);
}

/* A lone `@`, which the lexer does not know as a mark. */
static bool accept_at(reading *r)
{
    const slice s = lex_slice(&r->lex);
    if (!lex_is(&r->lex, TOKEN_BAD) || s.size != 1 || s.data[0] != '@') {
        return false;
    }
    lex_next(&r->lex);
    return true;
}

/* Whether a comma and an axis follow, `8@dp,tp`: an extent would be a number. */
static bool axis_follows(const reading *r)
{
    tsr_text text = *r->lex.text;
    lexer ahead = r->lex;
    ahead.text = &text;
    return lex_accept(&ahead, ',') && (lex_is(&ahead, TOKEN_WORD) || lex_is(&ahead, TOKEN_STRING));
}

/* `@dp`, `@dp,tp`: the axes of a dimension without parentheses. */
static tsr_status read_bare_axes(reading *r, tsr_spec_dim *dim)
{
    size_t *list = NULL;
    size_t room = 0;
    size_t axis = 0;
    slice name;
    const location where = lex_here(&r->lex);
    TSR_TRY(lex_at_name(&r->lex, &name));
    TSR_TRY(find_axis(r, name, where, &axis));
    TSR_TRY(LEX_PUSH(&r->lex, list, dim->num_axes, room, axis));
    while (axis_follows(r)) {
        lex_next(&r->lex);
        TSR_TRY(read_axis(r, &axis));
        TSR_TRY(LEX_PUSH(&r->lex, list, dim->num_axes, room, axis));
    }
    dim->axes = list;
    return TSR_OK;
}

static tsr_status read_cut_axes(reading *r, tsr_spec_dim *dim)
{
    size_t *list = NULL;
    size_t room = 0;
    size_t axis = 0;
    if (lex_is(&r->lex, TOKEN_AT)) {
        return read_bare_axes(r, dim);
    }
    TSR_TRY(lex_expect(&r->lex, '('));
    do {
        TSR_TRY(read_axis(r, &axis));
        TSR_TRY(LEX_PUSH(&r->lex, list, dim->num_axes, room, axis));
    } while (lex_accept(&r->lex, ','));
    dim->axes = list;
    return lex_expect(&r->lex, ')');
}

/* `?rows]`, after the bracket. */
static tsr_status read_symbol(reading *r, tsr_spec_dim *dim)
{
    dim->symbol = "";
    TSR_TRY(lex_expect(&r->lex, '?'));
    if (lex_is(&r->lex, TOKEN_WORD)) {
        const slice name = lex_slice(&r->lex);
        dim->symbol = arena_string(r->lex.arena, name.data, name.size);
        lex_next(&r->lex);
    }
    return dim->symbol != NULL ? lex_expect(&r->lex, ']') : diag_nomem(r->lex.ctx);
}

static tsr_status read_sizes(reading *r, tsr_spec_dim *dim)
{
    const location where = lex_here(&r->lex);
    if (lex_is(&r->lex, '[') && lex_char_after(&r->lex, r->lex.current.at + 1) == '?') {
        lex_next(&r->lex);
        return read_symbol(r, dim);
    }
    size_t count;
    int64_t *sizes;
    TSR_TRY(lex_integers(&r->lex, false, &sizes, &count));
    int64_t shards = 1;
    for (size_t i = 0; i < dim->num_axes && shards >= 0; i++) {
        shards = checked_mul(shards, size_of(r, dim->axes[i]), &shards) ? shards : -1;
    }
    if (shards < 0 || (uint64_t)shards != count) {
        return diag_error(r->lex.ctx, TSR_ERR_INVALID, where, "%zu sizes for %lld shards", count,
                          (long long)shards);
    }
    dim->sizes = sizes;
    return TSR_OK;
}

static tsr_status read_dim(reading *r)
{
    const location where = lex_here(&r->lex);
    tsr_spec_dim dim = {0};
    int64_t extent;
    size_t count = r->rank;
    TSR_TRY(lex_integer(&r->lex, &extent));
    if (extent < 0) {
        return diag_error(r->lex.ctx, TSR_ERR_INVALID, where, "an extent must be at least 0");
    }
    if (lex_is(&r->lex, TOKEN_AT) || accept_at(r)) {
        TSR_TRY(read_cut_axes(r, &dim));
        r->has_spec = true;
        if (lex_accept(&r->lex, ':')) {
            TSR_TRY(read_sizes(r, &dim));
        }
    }
    TSR_TRY(LEX_PUSH(&r->lex, r->dims, count, r->dims_room, dim));
    TSR_TRY(LEX_PUSH(&r->lex, r->shape, r->rank, r->room, extent));
    return TSR_OK;
}

static tsr_status read_dims(reading *r)
{
    TSR_TRY(lex_expect(&r->lex, '['));
    if (lex_accept(&r->lex, ']')) {
        return TSR_OK;
    }
    do {
        TSR_TRY(read_dim(r));
    } while (lex_accept(&r->lex, ','));
    return lex_expect(&r->lex, ']');
}

/* `S(1)` of an axis: it cuts that dimension, by itself. */
static tsr_status read_shard(reading *r, size_t axis, location where)
{
    int64_t said = 0;
    size_t dim = 0;
    size_t *list = NULL;
    size_t count = 0;
    size_t room = 0;
    TSR_TRY(lex_expect(&r->lex, '('));
    TSR_TRY(lex_integer(&r->lex, &said));
    TSR_TRY(lex_expect(&r->lex, ')'));
    if (r->has_spec) {
        return diag_error(
            r->lex.ctx, TSR_ERR_INVALID, where,
            "a type has axes at its dimensions, [8@%s], or S(%lld) in the braces, but not both",
            name_of(r, axis), (long long)said);
    }
    if (!spmd_resolve_dim(said, r->rank, &dim)) {
        return diag_error(r->lex.ctx, TSR_ERR_INVALID, where,
                          "dimension %lld is out of range: the value has rank %zu", (long long)said,
                          r->rank);
    }
    if (r->dims[dim].num_axes > 0) {
        return diag_error(r->lex.ctx, TSR_ERR_INVALID, where,
                          "axes %s and %s both cut dimension %zu, and it is ambiguous which is "
                          "outer: write them at the dimension, [8@(outer,inner)]",
                          name_of(r, r->dims[dim].axes[0]), name_of(r, axis), dim);
    }
    TSR_TRY(LEX_PUSH(&r->lex, list, count, room, axis));
    r->dims[dim] = (tsr_spec_dim){.num_axes = count, .axes = list};
    return TSR_OK;
}

/* `R`, `P`, `P(max)`, `S(0)`. */
static tsr_status read_axis_type(reading *r, size_t axis, location where)
{
    tsr_axis_type *out = &r->axes[axis];
    if (lex_accept_word(&r->lex, "S")) {
        out->kind = TSR_V;
        return read_shard(r, axis, where);
    }
    *out = (tsr_axis_type){TSR_UNTYPED, TSR_SUM};
    for (int kind = TSR_R; kind <= TSR_P; kind++) {
        if (lex_accept_word(&r->lex, tsr_local_type_name((tsr_local_type)kind))) {
            out->kind = (tsr_local_type)kind;
            break;
        }
    }
    if (out->kind == TSR_UNTYPED) {
        return lex_error(&r->lex, lex_here(&r->lex), "expected R, I, V, P or S(dimension)");
    }
    if (out->kind != TSR_P || !lex_accept(&r->lex, '(')) {
        return TSR_OK;
    }
    if (!lex_is(&r->lex, TOKEN_WORD) || !reduction_find(lex_slice(&r->lex), &out->partial)) {
        return lex_error(&r->lex, lex_here(&r->lex), "expected sum, avg, max, min or prod");
    }
    lex_next(&r->lex);
    return lex_expect(&r->lex, ')');
}

static tsr_status read_rest(reading *r)
{
    if (!lex_accept(&r->lex, '{') || lex_accept(&r->lex, '}')) {
        return TSR_OK;
    }
    do {
        const location where = lex_here(&r->lex);
        size_t axis = 0;
        TSR_TRY(read_axis(r, &axis));
        TSR_TRY(lex_expect(&r->lex, ':'));
        if (r->axes[axis].kind != TSR_UNTYPED) {
            return diag_error(r->lex.ctx, TSR_ERR_INVALID, where, "axis %s has two types",
                              name_of(r, axis));
        }
        TSR_TRY(read_axis_type(r, axis, where));
    } while (lex_accept(&r->lex, ','));
    return lex_expect(&r->lex, '}');
}

/* The axes and parts that a text uses must not overlap. */
static tsr_status check_apart(reading *r)
{
    tsr_axis_ref *used = ARENA_ARRAY(r->lex.arena, tsr_axis_ref, r->num_refs);
    size_t count = 0;
    if (used == NULL) {
        return diag_nomem(r->lex.ctx);
    }
    for (size_t i = 0; i < r->num_refs; i++) {
        bool is_used = r->axes[i].kind != TSR_UNTYPED;
        for (size_t d = 0; d < r->rank && !is_used; d++) {
            for (size_t k = 0; k < r->dims[d].num_axes; k++) {
                is_used = is_used || r->dims[d].axes[k] == i;
            }
        }
        if (is_used) {
            used[count++] = r->refs[i];
        }
    }
    const tsr_status status = tsr_axes_verify(r->lex.ctx, r->lex.arena, r->mesh, used, count);
    if (status == TSR_ERR_INVALID) {
        (void)diag_note(r->lex.ctx, NO_LOCATION,
                        "axes and parts of axes in one type must not overlap: name each part once");
    }
    return status;
}

/* The type on the mesh that is cut where parts are. */
static tsr_status make_type(reading *r, const tsr_type **out)
{
    const size_t whole = tsr_mesh_num_axes(r->mesh);
    const tsr_mesh *mesh = r->mesh;
    const tsr_type *type = NULL;
    if (r->num_refs > whole) {
        TSR_TRY(check_apart(r));
        TSR_TRY(mesh_cut(r->lex.ctx, r->lex.arena, r->mesh, r->refs + whole, r->num_refs - whole,
                         &mesh));
    }
    const size_t room = tsr_mesh_num_axes(mesh);
    tsr_axis_type *axes = ARENA_ARRAY(r->lex.arena, tsr_axis_type, room);
    if (axes == NULL) {
        return diag_nomem(r->lex.ctx);
    }
    for (size_t a = 0; a < room; a++) {
        const char *name = tsr_mesh_axis_name(mesh, a);
        tsr_axis_ref ref;
        const bool found = mesh_find_part(r->mesh, name, strlen(name), &ref);
        axes[a] = (tsr_axis_type){TSR_UNTYPED, TSR_SUM};
        for (size_t i = 0; found && i < r->num_refs; i++) {
            axes[a] = tsr_axis_equal(r->refs[i], ref) ? r->axes[i] : axes[a];
        }
    }
    for (size_t d = 0; d < r->rank && mesh != r->mesh; d++) {
        size_t *list = ARENA_ARRAY(r->lex.arena, size_t, r->dims[d].num_axes);
        for (size_t k = 0; list != NULL && k < r->dims[d].num_axes; k++) {
            size_t count = 0;
            TSR_TRY(spmd_axes_of_parts(r->lex.ctx, mesh, r->mesh, &r->refs[r->dims[d].axes[k]], 1,
                                       1, &list[k], &count));
        }
        if (list == NULL) {
            return diag_nomem(r->lex.ctx);
        }
        r->dims[d].axes = list;
    }
    const tsr_type_spec spec = {mesh, axes, true, r->rank, r->dims};
    TSR_TRY(tsr_type_create(r->lex.ctx, r->lex.arena, &spec, &type));
    return spmd_join(r->lex.ctx, r->lex.arena, r->mesh, type, out);
}

tsr_status tsr_type_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text, const tsr_mesh *mesh,
                         tsr_typed_shape *out)
{
    GUARD(tsr_type_read);
    const size_t num_axes = tsr_mesh_num_axes(mesh);
    reading r = {.lex = lex_start(ctx, arena, text),
                 .mesh = mesh,
                 .refs = ARENA_ARRAY(arena, tsr_axis_ref, num_axes + MAX_PARTS),
                 .num_refs = num_axes,
                 .axes = ARENA_ARRAY(arena, tsr_axis_type, num_axes + MAX_PARTS)};
    tsr_typed_shape typed = {0};
    if (r.axes == NULL || r.refs == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t a = 0; a < num_axes + MAX_PARTS; a++) {
        r.axes[a] = (tsr_axis_type){TSR_UNTYPED, TSR_SUM};
    }
    for (size_t a = 0; a < num_axes; a++) {
        r.refs[a] = tsr_axis_full(mesh, a);
    }
    TSR_TRY(read_dtype(&r, &typed.dtype));
    TSR_TRY(read_dims(&r));
    TSR_TRY(read_rest(&r));
    TSR_TRY(make_type(&r, &typed.type));
    typed.rank = r.rank;
    typed.shape = r.shape;
    TSR_TRY(tsr_type_check(ctx, &typed));
    *out = typed;
    return TSR_OK;
}

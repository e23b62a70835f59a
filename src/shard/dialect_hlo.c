/*
 * Reading HLO: {devices=[2,1,4]<=[8] last_tile_dim_replicate}, {replicated}, {maximal device=0}.
 *
 * A tile assignment is an array of devices: one dimension for each of the tensor's, then subgroups
 * of devices that hold the same tile, replicated or with a reduction pending. As a mesh it has one
 * axis for each of its dimensions larger than 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "shard/dialect.h"

typedef enum hlo_kind { HLO_REPLICATED, HLO_MAXIMAL, HLO_UNREDUCED, HLO_TILED } hlo_kind;

typedef enum hlo_subgroup { SUBGROUP_REPLICATED, SUBGROUP_UNREDUCED } hlo_subgroup;

/* A sharding as written. The devices are a list, or a transposed iota. */
typedef struct hlo_text {
    hlo_kind kind;
    int64_t device;
    int64_t *tiles;
    size_t num_tiles;
    int64_t *ids;
    size_t num_ids;
    int64_t *iota_dims;
    size_t num_iota_dims;
    int64_t *iota_perm;
    hlo_subgroup *subgroups;
    size_t num_subgroups;
    size_t subgroups_capacity;
    location where;
} hlo_text;

static tsr_status read_nothing(lexer *lex, hlo_text *text)
{
    (void)lex;
    (void)text;
    return TSR_OK;
}

/* ` device=3` */
static tsr_status read_device(lexer *lex, hlo_text *text)
{
    TSR_TRY(lex_expect_word(lex, "device"));
    TSR_TRY(lex_expect(lex, '='));
    return lex_integer(lex, &text->device);
}

/* Integers with commas between them. */
static tsr_status read_numbers(lexer *lex, int64_t **out, size_t *count)
{
    size_t capacity = 0;
    do {
        int64_t value;
        TSR_TRY(lex_integer(lex, &value));
        TSR_TRY(LEX_PUSH(lex, *out, *count, capacity, value));
    } while (lex_accept(lex, ','));
    return TSR_OK;
}

/* `T(1,0)`, if present. */
static tsr_status read_transposition(lexer *lex, hlo_text *text)
{
    const size_t from = lex->current.at;
    size_t count = 0;
    if (!lex_accept_word(lex, "T")) {
        return TSR_OK;
    }
    TSR_TRY(lex_expect(lex, '('));
    TSR_TRY(read_numbers(lex, &text->iota_perm, &count));
    TSR_TRY(lex_expect(lex, ')'));
    if (count != text->num_iota_dims) {
        return diag_error(lex->ctx, TSR_ERR_SYNTAX, lex_span(lex, from),
                          "the transposition has %zu entries for an iota of %zu dimensions", count,
                          text->num_iota_dims);
    }
    return TSR_OK;
}

/* `=[2,1,4]<=[8]`, `=[4,2]<=[2,4]T(1,0)` or `=[2,2]0,1,2,3` */
static tsr_status read_tiles(lexer *lex, hlo_text *text)
{
    TSR_TRY(lex_expect(lex, '='));
    TSR_TRY(lex_integers(lex, false, &text->tiles, &text->num_tiles));
    if (lex_accept(lex, '<')) {
        TSR_TRY(lex_expect(lex, '='));
        TSR_TRY(lex_integers(lex, false, &text->iota_dims, &text->num_iota_dims));
        return read_transposition(lex, text);
    }
    if (!lex_is(lex, TOKEN_INTEGER)) {
        return lex_error(lex, lex_after(lex),
                         "expected the devices: <=[8], <=[2,4]T(1,0) or a list 0,1,2,3");
    }
    return read_numbers(lex, &text->ids, &text->num_ids);
}

/* What a sharding may start with; no reader: Tessera has no counterpart. */
typedef struct head_row {
    const char *word;
    hlo_kind kind;
    tsr_status (*read)(lexer *lex, hlo_text *text);
    const char *remedy;
} head_row;

static const head_row heads[] = {
    {"replicated", HLO_REPLICATED, read_nothing, NULL},
    {"unreduced", HLO_UNREDUCED, read_nothing, NULL},
    {"maximal", HLO_MAXIMAL, read_device, NULL},
    {"devices", HLO_TILED, read_tiles, NULL},
    {"manual", 0, NULL,
     "each device then has a tensor of its own: give the sharding of the whole tensor"},
    {"unknown", 0, NULL, "write {replicated}, or in sdy an open dimension, {?}"}};

static tsr_status read_head(lexer *lex, hlo_text *text)
{
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        if (!lex_is_word(lex, heads[i].word)) {
            continue;
        }
        if (heads[i].read == NULL) {
            (void)diag_error(lex->ctx, TSR_ERR_UNSUPPORTED, lex_here(lex),
                             "{%s} cannot be expressed as a sharding", heads[i].word);
            return diag_note(lex->ctx, NO_LOCATION, "%s", heads[i].remedy);
        }
        lex_next(lex);
        text->kind = heads[i].kind;
        return heads[i].read(lex, text);
    }
    if (lex_is(lex, '{') || lex_is(lex, '}')) {
        (void)diag_error(lex->ctx, TSR_ERR_UNSUPPORTED, lex_here(lex),
                         "this is the sharding of a tuple");
        return diag_note(lex->ctx, NO_LOCATION, "give the sharding of one tensor at a time");
    }
    return lex_error(lex, lex_here(lex),
                     "expected devices=[...], replicated, maximal device=N or unreduced");
}

/* `={...}` of metadata, whatever it holds. */
static tsr_status skip_metadata(lexer *lex, hlo_text *text)
{
    int64_t depth = 1;
    (void)text;
    TSR_TRY(lex_expect(lex, '='));
    TSR_TRY(lex_expect(lex, '{'));
    while (depth > 0 && !lex_is(lex, TOKEN_END) && !lex_is(lex, TOKEN_BAD)) {
        depth += lex_is(lex, '{');
        depth -= lex_is(lex, '}');
        lex_next(lex);
    }
    return depth == 0 ? TSR_OK : lex_expect(lex, '}');
}

static tsr_status add_subgroup(lexer *lex, hlo_text *text, hlo_subgroup subgroup)
{
    return LEX_PUSH(lex, text->subgroups, text->num_subgroups, text->subgroups_capacity, subgroup);
}

static tsr_status read_last_dim(lexer *lex, hlo_text *text)
{
    return add_subgroup(lex, text, SUBGROUP_REPLICATED);
}

/* `={unreduced, replicated}` */
static tsr_status read_last_dims(lexer *lex, hlo_text *text)
{
    TSR_TRY(lex_expect(lex, '='));
    TSR_TRY(lex_expect(lex, '{'));
    do {
        if (lex_accept_word(lex, "replicated")) {
            TSR_TRY(add_subgroup(lex, text, SUBGROUP_REPLICATED));
        } else if (lex_accept_word(lex, "unreduced")) {
            TSR_TRY(add_subgroup(lex, text, SUBGROUP_UNREDUCED));
        } else if (lex_is_word(lex, "manual") || lex_is_word(lex, "maximal")) {
            return diag_error(lex->ctx, TSR_ERR_UNSUPPORTED, lex_here(lex),
                              "a %s subgroup cannot be expressed as a sharding",
                              lex_is_word(lex, "manual") ? "manual" : "maximal");
        } else {
            return lex_error(lex, lex_here(lex), "expected replicated or unreduced");
        }
    } while (lex_accept(lex, ','));
    return lex_expect(lex, '}');
}

/* What may follow the head. Tiled: only after devices=[...]. */
typedef struct attribute_row {
    const char *word;
    bool tiled;
    tsr_status (*read)(lexer *lex, hlo_text *text);
} attribute_row;

static const attribute_row attributes[] = {{"last_tile_dim_replicate", true, read_last_dim},
                                           {"last_tile_dims", true, read_last_dims},
                                           {"metadata", false, skip_metadata},
                                           {"shard_as", false, NULL},
                                           {"shard_like", false, NULL}};

static tsr_status read_attribute(lexer *lex, hlo_text *text)
{
    const location where = lex_here(lex);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        if (!lex_accept_word(lex, attributes[i].word)) {
            continue;
        }
        if (attributes[i].read == NULL) {
            (void)diag_error(lex->ctx, TSR_ERR_UNSUPPORTED, where,
                             "%s cannot be expressed as a sharding", attributes[i].word);
            return diag_note(lex->ctx, NO_LOCATION, "remove it: it relates several tensors");
        }
        if (attributes[i].tiled && (text->kind != HLO_TILED || text->num_subgroups > 0)) {
            return lex_error(lex, where, "subgroups are given once, after devices=[...]");
        }
        return attributes[i].read(lex, text);
    }
    return lex_error(
        lex, where,
        "expected last_tile_dim_replicate, last_tile_dims={...}, metadata={...} or '}'");
}

/* Everything between the braces. */
static tsr_status read_text(lexer *lex, hlo_text *text)
{
    const size_t from = lex->current.at;
    TSR_TRY(lex_expect(lex, '{'));
    TSR_TRY(read_head(lex, text));
    while (!lex_is(lex, '}')) {
        TSR_TRY(read_attribute(lex, text));
    }
    TSR_TRY(lex_expect(lex, '}'));
    text->where = lex_span(lex, from);
    return TSR_OK;
}

/* The state of building a sharding from a text. */
typedef struct hlo_builder {
    const dialect_reader *reader;
    const hlo_text *text;
} hlo_builder;

static tsr_status check_tiles(const hlo_builder *b, int64_t *num_devices)
{
    int64_t product = 1;
    for (size_t i = 0; i < b->text->num_tiles; i++) {
        const int64_t size = b->text->tiles[i];
        if (size < 1) {
            return diag_error(b->reader->ctx, TSR_ERR_INVALID, b->text->where,
                              "tile dimension %zu must be at least 1, got: %lld", i,
                              (long long)size);
        }
        if (!checked_mul(product, size, &product)) {
            return diag_error(b->reader->ctx, TSR_ERR_OVERFLOW, b->text->where,
                              "the tile assignment has more than 2^63-1 devices");
        }
    }
    *num_devices = product;
    return TSR_OK;
}

/* How many devices the text lists or counts; -1 for more than fit. */
static int64_t listed_devices(const hlo_text *text)
{
    int64_t product = 1;
    for (size_t i = 0; i < text->num_iota_dims; i++) {
        if (!checked_mul(product, text->iota_dims[i], &product)) {
            return -1;
        }
    }
    return text->num_iota_dims > 0 ? product : (int64_t)text->num_ids;
}

static tsr_status check_devices(const hlo_builder *b, int64_t num_devices)
{
    const hlo_text *text = b->text;
    const int64_t listed = listed_devices(text);
    if (listed != num_devices) {
        return diag_error(b->reader->ctx, TSR_ERR_INVALID, text->where,
                          "the tile assignment has %lld tiles, but %lld devices are given",
                          (long long)num_devices, (long long)listed);
    }
    if (num_devices == 1 && text->num_ids == 1 && text->ids[0] != 0) {
        (void)diag_error(b->reader->ctx, TSR_ERR_INVALID, text->where,
                         "the one device of a tile assignment must be 0, got: %lld",
                         (long long)text->ids[0]);
        return diag_note(b->reader->ctx, NO_LOCATION, "write {maximal device=%lld}",
                         (long long)text->ids[0]);
    }
    return TSR_OK;
}

static tsr_status check_rank(const hlo_builder *b)
{
    const hlo_text *text = b->text;
    if (text->num_subgroups > text->num_tiles) {
        return diag_error(b->reader->ctx, TSR_ERR_INVALID, text->where,
                          "%zu subgroups for %zu tile dimensions", text->num_subgroups,
                          text->num_tiles);
    }
    const size_t rank = text->num_tiles - text->num_subgroups;
    if (b->reader->rank < 0 || (int64_t)rank == b->reader->rank) {
        return TSR_OK;
    }
    (void)diag_error(b->reader->ctx, TSR_ERR_INVALID, text->where,
                     "sharding doesn't match tensor rank: %zu != %lld", rank,
                     (long long)b->reader->rank);
    return diag_note(b->reader->ctx, NO_LOCATION,
                     "write one tile dimension for each tensor dimension, then one for each "
                     "subgroup in last_tile_dims");
}

/* A tile assignment has no more axes than an int64 has factors. */
typedef struct natural_axes {
    char names[MAX_DIGITS][8];
    const char *pointers[MAX_DIGITS];
    int64_t sizes[MAX_DIGITS];
    size_t count;
} natural_axes;

static void name_axes(const hlo_text *text, natural_axes *axes)
{
    axes->count = 0;
    for (size_t i = 0; i < text->num_tiles; i++) {
        if (text->tiles[i] > 1) {
            const size_t at = axes->count++;
            (void)snprintf(axes->names[at], sizeof axes->names[at], "d%zu", at % MAX_DIGITS);
            axes->pointers[at] = axes->names[at];
            axes->sizes[at] = text->tiles[i];
        }
    }
}

/* The tile assignment as a mesh. Without axes it is the empty mesh, not the maximal one. */
static tsr_status natural_mesh(const hlo_builder *b, const tsr_mesh **out)
{
    const hlo_text *text = b->text;
    natural_axes axes;
    name_axes(text, &axes);
    const bool listed = axes.count > 0;
    const tsr_mesh_spec spec = {.num_axes = axes.count,
                                .axis_names = axes.pointers,
                                .axis_sizes = axes.sizes,
                                .num_device_ids = listed ? text->num_ids : 0,
                                .device_ids = text->ids,
                                .num_iota_dims = listed ? text->num_iota_dims : 0,
                                .iota_dims = text->iota_dims,
                                .iota_perm = text->iota_perm};
    return mesh_build(b->reader->ctx, b->reader->arena, &spec, text->where, out);
}

/* The sharding on its natural mesh: tile dimension i is the i-th axis, if it is larger than 1. */
static tsr_status natural_sharding(const hlo_builder *b, const tsr_mesh *mesh,
                                   const tsr_sharding **out)
{
    const hlo_text *text = b->text;
    const size_t rank = text->num_tiles - text->num_subgroups;
    tsr_dim *dims = ARENA_ARRAY(b->reader->arena, tsr_dim, rank);
    tsr_axis_ref refs[MAX_DIGITS];
    tsr_axis_ref unreduced[MAX_DIGITS];
    tsr_sharding_spec spec = {.mesh = mesh, .rank = rank, .dims = dims, .unreduced = unreduced};
    if (dims == NULL) {
        (void)diag_nomem(b->reader->ctx);
        return TSR_ERR_NOMEM;
    }
    size_t axis = 0;
    for (size_t i = 0; i < text->num_tiles; i++) {
        const size_t has_axis = text->tiles[i] > 1;
        if (has_axis) {
            refs[axis] = tsr_axis_full(mesh, axis);
        }
        if (i < rank) {
            dims[i] =
                (tsr_dim){.axes = refs + axis, .num_axes = has_axis, .priority = TSR_NO_PRIORITY};
        } else if (has_axis && text->subgroups[i - rank] == SUBGROUP_UNREDUCED) {
            unreduced[spec.num_unreduced++] = refs[axis];
        }
        axis += has_axis;
    }
    return tsr_sharding_create(b->reader->ctx, b->reader->arena, &spec, TSR_SHARDING_DEFAULT, out);
}

/* Refuses what the reader's flags refuse, in a sharding that was built without them. */
static tsr_status check_flags(const hlo_builder *b, const tsr_sharding *s)
{
    const tsr_sharding_spec spec = {.mesh = s->mesh,
                                    .rank = s->rank,
                                    .dims = s->dims,
                                    .num_unreduced = s->num_unreduced,
                                    .unreduced = s->unreduced,
                                    .reduction = s->reduction};
    const tsr_sharding *checked;
    return tsr_sharding_create(b->reader->ctx, b->reader->arena, &spec, b->reader->options->flags,
                               &checked);
}

/* By the places of two devices in a mesh. */
static int compare_places(const void *a, const void *b, void *state)
{
    const tsr_mesh *const *mesh = state;
    const int64_t x = tsr_mesh_place_of(*mesh, *(const int64_t *)a);
    const int64_t y = tsr_mesh_place_of(*mesh, *(const int64_t *)b);
    return (x > y) - (x < y);
}

/* How many neighbours in the assignment are one subgroup: their order means nothing. */
static int64_t tail_size(const hlo_text *text)
{
    int64_t size = 1;
    for (size_t i = 0; i < text->num_subgroups; i++) {
        const size_t from_end = text->num_subgroups - 1 - i;
        if (text->subgroups[from_end] != text->subgroups[text->num_subgroups - 1]) {
            break;
        }
        size *= text->tiles[text->num_tiles - 1 - i];
    }
    return size;
}

/* Puts listed devices of one subgroup into the order of the given mesh: more lists can be said. */
static void sort_subgroups(const hlo_builder *b)
{
    const tsr_mesh *mesh = b->reader->options->mesh;
    const size_t tail = (size_t)tail_size(b->text);
    for (size_t i = 0; mesh != NULL && i + tail <= b->text->num_ids; i += tail) {
        qsort_r(b->text->ids + i, tail, sizeof *b->text->ids, compare_places, &mesh);
    }
}

/* On the mesh that was given, in its axes and sub-axes. */
static tsr_status express(const hlo_builder *b, const tsr_sharding *natural,
                          const tsr_sharding **out)
{
    const dialect_reader *r = b->reader;
    const tsr_mesh *mesh = r->options->mesh;
    const int64_t devices = tsr_mesh_num_devices(natural->mesh);
    if (!tsr_mesh_same_devices(natural->mesh, mesh)) {
        (void)diag_error(r->ctx, TSR_ERR_INVALID, b->text->where,
                         "the text has %lld devices from 0, the mesh has %lld devices from %lld",
                         (long long)devices, (long long)tsr_mesh_num_devices(mesh),
                         (long long)(tsr_mesh_is_maximal(mesh) ? tsr_mesh_device_at(mesh, 0) : 0));
        return diag_note(r->ctx, NO_LOCATION, "without a mesh, one is made from the text");
    }
    if (tsr_mesh_is_maximal(mesh)) {
        return tsr_sharding_replicated_over(r->ctx, r->arena, mesh, 0, false, out);
    }
    const tsr_sharding *there = NULL;
    const tsr_status status = tsr_sharding_translate(r->ctx, r->arena, natural, mesh, &there);
    if (status == TSR_ERR_UNSUPPORTED) {
        return diag_note(r->ctx, b->text->where,
                         "\"d0\", \"d1\", .. are the tile dimensions larger than 1, in order; "
                         "without a mesh, one with these axes is made");
    }
    TSR_TRY(status);
    TSR_TRY(check_flags(b, there));
    *out = there;
    return TSR_OK;
}

static tsr_status build_tiled(const hlo_builder *b, const tsr_sharding **out)
{
    int64_t num_devices = 0;
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *natural = NULL;
    TSR_TRY(check_tiles(b, &num_devices));
    TSR_TRY(check_devices(b, num_devices));
    TSR_TRY(check_rank(b));
    sort_subgroups(b);
    TSR_TRY(natural_mesh(b, &mesh));
    TSR_TRY(natural_sharding(b, mesh, &natural));
    if (b->reader->options->mesh != NULL) {
        return express(b, natural, out);
    }
    *out = natural;
    return TSR_OK;
}

/* The rank of a text that says nothing of dimensions. */
static tsr_status find_rank(const hlo_builder *b, const tsr_mesh *mesh, size_t *out)
{
    if (mesh != NULL && tsr_mesh_is_maximal(mesh)) {
        *out = 0;
        return TSR_OK;
    }
    if (b->reader->rank < 0) {
        return dialect_no_rank(b->reader, b->text->where);
    }
    *out = (size_t)b->reader->rank;
    return TSR_OK;
}

static tsr_status build_replicated(const hlo_builder *b, const tsr_sharding **out)
{
    const dialect_reader *r = b->reader;
    const tsr_mesh *mesh = r->options->mesh;
    const tsr_mesh_spec empty = {0};
    size_t rank = 0;
    TSR_TRY(find_rank(b, mesh, &rank));
    if (mesh == NULL) {
        TSR_TRY(tsr_mesh_create(r->ctx, r->arena, &empty, &mesh));
    }
    return tsr_sharding_replicated_over(r->ctx, r->arena, mesh, rank, false, out);
}

/* The sharding of one device is on a mesh of its own, whatever mesh is given. */
static tsr_status build_maximal(const hlo_builder *b, const tsr_sharding **out)
{
    const dialect_reader *r = b->reader;
    const tsr_mesh *mesh = r->options->mesh;
    const tsr_mesh_spec spec = {.num_device_ids = 1, .device_ids = &b->text->device};
    if (mesh == NULL || !tsr_mesh_is_maximal(mesh) ||
        tsr_mesh_device_at(mesh, 0) != b->text->device) {
        TSR_TRY(mesh_build(r->ctx, r->arena, &spec, b->text->where, &mesh));
    }
    return tsr_sharding_replicated_over(r->ctx, r->arena, mesh, 0, false, out);
}

/* `{unreduced}`: pending over all devices of a mesh, which must be given. */
static tsr_status build_unreduced(const hlo_builder *b, const tsr_sharding **out)
{
    const dialect_reader *r = b->reader;
    const tsr_mesh *mesh;
    const tsr_sharding *replicated;
    size_t rank = 0;
    TSR_TRY(dialect_mesh(r, b->text->where, &mesh));
    TSR_TRY(find_rank(b, mesh, &rank));
    TSR_TRY(tsr_sharding_replicated_over(r->ctx, r->arena, mesh, rank, false, &replicated));
    const size_t count = tsr_mesh_num_axes(mesh);
    tsr_axis_ref *axes = ARENA_ARRAY(r->arena, tsr_axis_ref, count);
    if (axes == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        axes[i] = tsr_axis_full(mesh, i);
    }
    const tsr_sharding_spec spec = {.mesh = mesh,
                                    .rank = rank,
                                    .dims = replicated->dims,
                                    .num_unreduced = count,
                                    .unreduced = axes};
    return tsr_sharding_create(r->ctx, r->arena, &spec, TSR_SHARDING_DEFAULT, out);
}

static tsr_status (*const builders[])(const hlo_builder *b, const tsr_sharding **out) = {
    [HLO_REPLICATED] = build_replicated,
    [HLO_MAXIMAL] = build_maximal,
    [HLO_UNREDUCED] = build_unreduced,
    [HLO_TILED] = build_tiled};

tsr_status hlo_read(const dialect_reader *r, const tsr_sharding **out)
{
    lexer lex = lex_start(r->ctx, r->arena, r->text);
    hlo_text text = {0};
    const hlo_builder b = {r, &text};
    TSR_TRY(read_text(&lex, &text));
    TSR_TRY(builders[text.kind](&b, out));
    return TSR_OK;
}

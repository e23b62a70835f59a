/*
 * Reading DTensor: [Shard(0), Replicate(), Partial()], one placement for each mesh axis in mesh
 * order. _StridedShard says that its axis is minor to later ones (dialect_cuts.h). DynamicShard and
 * PartitionedShard are additions of Tessera.
 */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "shard/dialect.h"
#include "shard/dialect_cuts.h"

/* More sizes than this are not written out when a text is read. */
#define MAX_SIZES (INT64_C(1) << 24)

/* The names of reductions in torch. */
static const char *const op_names[] = {[TSR_SUM] = "sum",
                                       [TSR_MAX] = "max",
                                       [TSR_MIN] = "min",
                                       [TSR_AVG] = "avg",
                                       [TSR_PROD] = "product"};

const char *dtensor_op_name(tsr_reduction reduction)
{
    return op_names[reduction];
}

typedef enum placement_kind {
    PLACEMENT_REPLICATE,
    PLACEMENT_SHARD,
    PLACEMENT_PARTIAL
} placement_kind;

/* One placement as written. */
typedef struct placement {
    placement_kind kind;
    int64_t dim;
    tsr_reduction reduction;
    bool has_ragged;
    tsr_ragged ragged;
    size_t num_sizes;
    size_t num_owners;
    int64_t partitions;    /* as written, 0 when not */
    const int64_t *splits; /* a number a partition, as many as there are; else NULL */
    int64_t split;         /* of _StridedShard, else 1 */
    location where;
} placement;

static tsr_status read_dim(lexer *lex, placement *p)
{
    return lex_integer(lex, &p->dim);
}

/* `sum`, `"sum"` or `'sum'`. */
static tsr_status read_op(lexer *lex, placement *p)
{
    const location where = lex_here(lex);
    slice name = lex_slice(lex);
    if (lex_is(lex, TOKEN_WORD)) {
        lex_next(lex);
    } else {
        TSR_TRY(lex_string(lex, &name));
    }
    for (size_t i = 0; i < sizeof op_names / sizeof op_names[0]; i++) {
        if (name.size == strlen(op_names[i]) && memcmp(name.data, op_names[i], name.size) == 0) {
            p->reduction = (tsr_reduction)i;
            return TSR_OK;
        }
    }
    (void)diag_error(lex->ctx, TSR_ERR_SYNTAX, where, "unknown reduction: %.*s", (int)name.size,
                     name.data);
    return diag_note(lex->ctx, NO_LOCATION, "the reductions are sum, avg, max, min and product");
}

/* `[3, 5]`, or `?rows` for sizes that are bound later. */
static tsr_status read_sizes(lexer *lex, placement *p)
{
    int64_t *sizes;
    if (lex_accept(lex, '?')) {
        return ragged_read_symbol(lex, &p->ragged.symbol);
    }
    TSR_TRY(lex_integers(lex, false, &sizes, &p->num_sizes));
    p->ragged.sizes = sizes;
    return TSR_OK;
}

static tsr_status read_num_partitions(lexer *lex, placement *p)
{
    return lex_integer(lex, &p->partitions);
}

/* Rows of counts while they are read. */
typedef struct count_rows {
    int64_t *values;
    size_t count;
    size_t capacity;
    size_t length;
} count_rows;

static tsr_status read_count_row(lexer *lex, count_rows *rows)
{
    const location where = lex_here(lex);
    int64_t *row;
    size_t length;
    TSR_TRY(lex_integers(lex, false, &row, &length));
    if (rows->count > 0 && length != rows->length) {
        return diag_error(lex->ctx, TSR_ERR_INVALID, lex_span(lex, where.at),
                          "a row has %zu counts, but the first row has %zu", length, rows->length);
    }
    rows->length = length;
    for (size_t i = 0; i < length; i++) {
        TSR_TRY(LEX_PUSH(lex, rows->values, rows->count, rows->capacity, row[i]));
    }
    return TSR_OK;
}

/* `4, 6]`: the splits of the partitions, which apply_splits makes counts of. */
static tsr_status read_splits(lexer *lex, placement *p)
{
    count_rows row = {0};
    do {
        int64_t value;
        TSR_TRY(lex_integer(lex, &value));
        TSR_TRY(LEX_PUSH(lex, row.values, row.count, row.capacity, value));
    } while (lex_accept(lex, ','));
    p->splits = row.values;
    p->ragged.partitions = (int64_t)row.count;
    return lex_expect(lex, ']');
}

/*
 * `[[4, 6], [2, 4]]`: a row for each shard, a count for each partition; or `[4, 6]`; or `?tokens`
 * for counts that are bound later.
 */
static tsr_status read_counts(lexer *lex, placement *p)
{
    count_rows rows = {0};
    if (lex_accept(lex, '?')) {
        return ragged_read_symbol(lex, &p->ragged.symbol);
    }
    TSR_TRY(lex_expect(lex, '['));
    if (!lex_is(lex, '[')) {
        return read_splits(lex, p);
    }
    do {
        TSR_TRY(read_count_row(lex, &rows));
    } while (lex_accept(lex, ','));
    TSR_TRY(lex_expect(lex, ']'));
    p->ragged.counts = rows.values;
    p->ragged.partitions = (int64_t)rows.length;
    p->num_sizes = rows.count;
    return TSR_OK;
}

static tsr_status read_aligned(lexer *lex, placement *p)
{
    if (lex_accept_word(lex, "True")) {
        p->ragged.kind = TSR_RAGGED_ALIGNED;
        return TSR_OK;
    }
    return lex_accept_word(lex, "False") ? TSR_OK
                                         : lex_error(lex, lex_here(lex), "expected True or False");
}

static tsr_status read_owners(lexer *lex, placement *p)
{
    int64_t *owners;
    TSR_TRY(lex_integers(lex, false, &owners, &p->num_owners));
    p->ragged.owner_start = owners;
    return TSR_OK;
}

static tsr_status read_alignment(lexer *lex, placement *p)
{
    return lex_integer(lex, &p->ragged.alignment);
}

/* The split factor of _StridedShard, under either of its names. */
static tsr_status read_split(lexer *lex, placement *p)
{
    const location where = lex_here(lex);
    TSR_TRY(lex_integer(lex, &p->split));
    if (p->split < 1) {
        return diag_error(lex->ctx, TSR_ERR_INVALID, where,
                          "split_factor must be at least 1, got: %lld", (long long)p->split);
    }
    return TSR_OK;
}

/* What a placement takes, in order; each may be given by name, or by another one. */
typedef struct parameter {
    const char *name;
    bool required;
    tsr_status (*read)(lexer *lex, placement *p);
    const char *other_name;
} parameter;

static const parameter none_parameters[] = {{0}};
static const parameter shard_parameters[] = {{"dim", true, read_dim, NULL}, {0}};
static const parameter strided_parameters[] = {
    {"dim", true, read_dim, NULL}, {"split_factor", true, read_split, "sf"}, {0}};
static const parameter partial_parameters[] = {{"reduce_op", false, read_op, NULL}, {0}};
static const parameter dynamic_parameters[] = {
    {"dim", true, read_dim, NULL}, {"sizes", false, read_sizes, NULL}, {0}};
static const parameter partitioned_parameters[] = {
    {"dim", true, read_dim, NULL},
    {"num_partitions", false, read_num_partitions, NULL},
    {"counts", false, read_counts, "splits"},
    {"aligned", false, read_aligned, NULL},
    {"owner_start", false, read_owners, NULL},
    {"alignment", false, read_alignment, NULL},
    {0}};

typedef struct placement_row {
    const char *name;
    placement_kind kind;
    const parameter *parameters;
    bool has_ragged;
    tsr_ragged_kind ragged;
} placement_row;

/* The short names are those that torch prints. */
static const placement_row placement_rows[] = {
    {"Shard", PLACEMENT_SHARD, shard_parameters, false, 0},
    {"S", PLACEMENT_SHARD, shard_parameters, false, 0},
    {"_StridedShard", PLACEMENT_SHARD, strided_parameters, false, 0},
    {"_S", PLACEMENT_SHARD, strided_parameters, false, 0},
    {"Replicate", PLACEMENT_REPLICATE, none_parameters, false, 0},
    {"R", PLACEMENT_REPLICATE, none_parameters, false, 0},
    {"Partial", PLACEMENT_PARTIAL, partial_parameters, false, 0},
    {"P", PLACEMENT_PARTIAL, partial_parameters, false, 0},
    {"DynamicShard", PLACEMENT_SHARD, dynamic_parameters, true, TSR_RAGGED_DYNAMIC},
    {"PartitionedShard", PLACEMENT_SHARD, partitioned_parameters, true, TSR_RAGGED_UNALIGNED}};

/* The row of a name; NULL when it is not a placement. */
static const placement_row *row_of(slice name)
{
    for (size_t i = 0; i < sizeof placement_rows / sizeof placement_rows[0]; i++) {
        if (python_name_is(name, placement_rows[i].name)) {
            return &placement_rows[i];
        }
    }
    return NULL;
}

bool dtensor_follows(const lexer *lex)
{
    tsr_text text = *lex->text;
    lexer ahead = *lex;
    ahead.text = &text;
    return (lex_accept(&ahead, '(') || lex_accept(&ahead, '[')) && lex_is(&ahead, TOKEN_WORD) &&
           row_of(lex_slice(&ahead)) != NULL;
}

/* The row of the placement that the current token names. */
static tsr_status find_row(lexer *lex, const placement_row **out)
{
    *out = lex_is(lex, TOKEN_WORD) ? row_of(lex_slice(lex)) : NULL;
    if (*out != NULL) {
        return TSR_OK;
    }
    return lex_error(lex, lex_here(lex),
                     "expected Shard(0), Replicate(), Partial(), DynamicShard(0, [3, 5]) or "
                     "PartitionedShard(...)");
}

/* The parameter that the current token names, or the next one in order; NULL when there is none. */
static const parameter *find_parameter(lexer *lex, const parameter *list, size_t position,
                                       bool *named)
{
    *named = false;
    const parameter *next = NULL;
    for (size_t i = 0; list[i].name != NULL; i++) {
        const char *other = list[i].other_name;
        if (lex_accept_word(lex, list[i].name) || (other != NULL && lex_accept_word(lex, other))) {
            *named = true;
            return &list[i];
        }
        next = i == position ? &list[i] : next;
    }
    return next;
}

static tsr_status read_argument(lexer *lex, const placement_row *row, size_t position,
                                unsigned *given, placement *p)
{
    const location where = lex_here(lex);
    bool named;
    const parameter *found = find_parameter(lex, row->parameters, position, &named);
    if (found == NULL) {
        return lex_error(lex, where, "too many arguments");
    }
    const unsigned bit = 1U << (found - row->parameters);
    if ((*given & bit) != 0) {
        return lex_error(lex, where, "the argument is repeated");
    }
    *given |= bit;
    if (named) {
        TSR_TRY(lex_expect(lex, '='));
    }
    return found->read(lex, p);
}

/* `(0, [3, 5])`, `(dim=0, sizes=[3, 5])`. */
static tsr_status read_arguments(lexer *lex, const placement_row *row, placement *p)
{
    unsigned given = 0;
    if (lex_accept(lex, '(')) {
        for (size_t i = 0; !lex_is(lex, ')'); i++) {
            TSR_TRY(read_argument(lex, row, i, &given, p));
            if (!lex_accept(lex, ',')) {
                break;
            }
        }
        TSR_TRY(lex_expect(lex, ')'));
    }
    for (size_t i = 0; row->parameters[i].name != NULL; i++) {
        if (row->parameters[i].required && (given & 1U << i) == 0) {
            return diag_error(lex->ctx, TSR_ERR_SYNTAX, lex_after(lex), "%s needs its %s",
                              row->name, row->parameters[i].name);
        }
    }
    return TSR_OK;
}

/* The number of partitions is that of the counts, which may be left out and bound later. */
static tsr_status check_partitions(lexer *lex, placement *p)
{
    if (p->ragged.counts == NULL && p->splits == NULL) {
        p->ragged.partitions = p->partitions;
        return p->partitions > 0
                   ? TSR_OK
                   : diag_error(lex->ctx, TSR_ERR_SYNTAX, p->where,
                                "PartitionedShard needs its counts or splits, or num_partitions "
                                "alone where they are bound later");
    }
    if (p->partitions == 0 || p->partitions == p->ragged.partitions) {
        return TSR_OK;
    }
    return diag_error(lex->ctx, TSR_ERR_INVALID, p->where,
                      p->splits != NULL ? "num_partitions is %lld, but there are %lld splits"
                                        : "num_partitions is %lld, but each row has %lld counts",
                      (long long)p->partitions, (long long)p->ragged.partitions);
}

static tsr_status read_placement(lexer *lex, placement *out)
{
    const size_t from = lex->current.at;
    const placement_row *row = NULL;
    TSR_TRY(find_row(lex, &row));
    lex_next(lex);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): set, since the status is TSR_OK */
    placement p = {.kind = row->kind,
                   .reduction = TSR_SUM,
                   .split = 1,
                   .has_ragged = row->has_ragged,
                   .ragged = {.kind = row->ragged, .rows = 1, .alignment = 1}};
    TSR_TRY(read_arguments(lex, row, &p));
    p.where = lex_span(lex, from);
    *out = p;
    return row->ragged == TSR_RAGGED_UNALIGNED ? check_partitions(lex, out) : TSR_OK;
}

/* The list as written. */
typedef struct placements {
    placement *items;
    size_t count;
    size_t capacity;
    location where;
} placements;

/* `[...]` or `(...)`. */
static tsr_status read_list(lexer *lex, placements *list)
{
    const size_t from = lex->current.at;
    const int closing = lex_is(lex, '(') ? ')' : ']';
    TSR_TRY(lex_expect(lex, closing == ')' ? '(' : '['));
    while (!lex_is(lex, closing)) {
        placement p;
        TSR_TRY(read_placement(lex, &p));
        TSR_TRY(LEX_PUSH(lex, list->items, list->count, list->capacity, p));
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    TSR_TRY(lex_expect(lex, closing));
    list->where = lex_span(lex, from);
    return TSR_OK;
}

/* The state of building a sharding from a list. */
typedef struct applier {
    const dialect_reader *reader;
    const tsr_mesh *mesh;
    const placements *list;
    sharding_text text;
} applier;

static tsr_status check_count(const applier *p)
{
    const size_t axes = tsr_mesh_num_axes(p->mesh);
    if (p->list->count == axes) {
        return TSR_OK;
    }
    (void)diag_error(p->reader->ctx, TSR_ERR_INVALID, p->list->where,
                     "%zu placements for a mesh of %zu axes", p->list->count, axes);
    return diag_note(p->reader->ctx, NO_LOCATION,
                     "write one placement for each mesh axis, in mesh order; Replicate() where an "
                     "axis does nothing");
}

static tsr_status check_dims(const applier *p, int64_t rank)
{
    for (size_t i = 0; i < p->list->count; i++) {
        placement *item = &p->list->items[i];
        if (item->kind == PLACEMENT_SHARD && (item->dim < -rank || item->dim >= rank)) {
            return diag_error(p->reader->ctx, TSR_ERR_INVALID, item->where,
                              "dim %lld of a tensor that has %lld dimensions", (long long)item->dim,
                              (long long)rank);
        }
        item->dim += item->dim < 0 ? rank : 0;
    }
    return TSR_OK;
}

/*
 * All that is pending is of one kind: a sharding has one for all of its unreduced axes. An axis of
 * size 1 has nothing pending, but another kind there would be lost, and come back as this one.
 */
static tsr_status refuse_kinds(const applier *p, const placement *item, size_t axis,
                               const placement *first)
{
    const size_t before = (size_t)(first - p->list->items);
    const bool trivial =
        tsr_mesh_axis_size(p->mesh, axis) == 1 || tsr_mesh_axis_size(p->mesh, before) == 1;
    (void)diag_error(
        p->reader->ctx, TSR_ERR_UNSUPPORTED, item->where,
        "a sharding has one kind of pending reduction, but this one is %s and an earlier one %s",
        op_names[item->reduction], op_names[first->reduction]);
    return diag_note(p->reader->ctx, NO_LOCATION,
                     trivial ? "a sum over an axis of size 1 is complete: write Replicate() there"
                             : "reduce one of them first");
}

static tsr_status apply_partials(applier *p)
{
    const placement *first = NULL;
    for (size_t i = 0; i < p->list->count; i++) {
        const placement *item = &p->list->items[i];
        if (item->kind != PLACEMENT_PARTIAL) {
            continue;
        }
        if (first != NULL && item->reduction != first->reduction) {
            return refuse_kinds(p, item, i, first);
        }
        first = first == NULL ? item : first;
        named_axis axis = named_axis_of(p->mesh, tsr_axis_full(p->mesh, i));
        axis.where = item->where;
        p->text.unreduced.axes[p->text.unreduced.count++] = axis;
        p->text.unreduced_where = item->where;
    }
    p->text.reduction = first != NULL ? first->reduction : TSR_SUM;
    return TSR_OK;
}

/* What shard `s` has of n rows that torch.chunk cuts. */
static int64_t chunk_of(int64_t n, int64_t shards, int64_t s)
{
    const int64_t size = n / shards + (n % shards != 0);
    return max_i64(0, min_i64(size, n - s * size));
}

static tsr_status refuse_splits(const applier *p, const placement *item, int64_t sum,
                                int64_t shards, int64_t extent)
{
    (void)diag_error(p->reader->ctx, TSR_ERR_INVALID, item->where,
                     "the splits sum to %lld, which is neither the extent %lld of dim %lld nor the "
                     "extent of each of its %lld shards",
                     (long long)sum, (long long)extent, (long long)item->dim, (long long)shards);
    return diag_note(p->reader->ctx, NO_LOCATION,
                     "splits are the sizes of the partitions in each shard or in the whole tensor; "
                     "counts=[[..], [..]] has one row for each shard");
}

/*
 * The counts that splits stand for: each shard has so many rows of the partitions; or where they
 * sum to the extent, the whole tensor has them and each shard a chunk of each partition.
 */
static tsr_status apply_splits(const applier *p, const placement *item, int64_t shards,
                               dim_text *dim)
{
    const int64_t extent = dialect_extent(p->reader->shape, (size_t)item->dim);
    const int64_t partitions = item->ragged.partitions;
    int64_t sum = 0;
    int64_t all = 0;
    bool fits = partitions <= MAX_SIZES / shards;
    for (int64_t i = 0; fits && i < partitions; i++) {
        fits = item->splits[i] >= 0 && !__builtin_add_overflow(sum, item->splits[i], &sum);
    }
    if (!fits || __builtin_mul_overflow(sum, shards, &all)) {
        return diag_error(p->reader->ctx, TSR_ERR_LIMIT, item->where,
                          "%lld splits for %lld shards: splits must be at least 0, sum to less "
                          "than 2^63, and be at most %lld in number",
                          (long long)partitions, (long long)shards, (long long)MAX_SIZES);
    }
    if (extent != TSR_UNKNOWN && extent != sum && extent != all) {
        return refuse_splits(p, item, sum, shards, extent);
    }
    int64_t *counts = ARENA_ARRAY(p->reader->arena, int64_t, (size_t)(shards * partitions));
    if (counts == NULL) {
        return diag_nomem(p->reader->ctx);
    }
    for (int64_t i = 0; i < shards * partitions; i++) {
        const int64_t rows = item->splits[i % partitions];
        counts[i] = extent == sum ? chunk_of(rows, shards, i / partitions) : rows;
    }
    dim->ragged.counts = counts;
    dim->num_sizes = (size_t)(shards * partitions);
    return TSR_OK;
}

static tsr_status apply_ragged(const applier *p, const placement *item, dim_text *dim)
{
    if (!item->has_ragged && !dim->has_ragged) {
        return TSR_OK;
    }
    if (dim->axes.count > 1) {
        (void)diag_error(p->reader->ctx, TSR_ERR_UNSUPPORTED, item->where,
                         "dim %lld has explicit sizes on one axis and is also sharded by another",
                         (long long)item->dim);
        return diag_note(
            p->reader->ctx, NO_LOCATION,
            "write it in sdy, with a size for each shard: {\"x\", \"y\"}:dynamic[2, 1, 1, 1]");
    }
    dim->has_ragged = true;
    dim->ragged = item->ragged;
    dim->num_sizes = item->num_sizes;
    dim->num_owners = item->num_owners;
    dim->says_partitions = item->partitions != 0 && item->ragged.counts == NULL;
    if (item->splits == NULL) {
        return TSR_OK;
    }
    const size_t axis = (size_t)(item - p->list->items);
    return apply_splits(p, item, tsr_mesh_axis_size(p->mesh, axis), dim);
}

/*
 * Where an axis goes among the later axes of the mesh that cut its dimension: after those that make
 * `split` shards. An axis that makes more is taken apart.
 */
static bool find_place(named_axes *axes, int64_t split, size_t *out)
{
    size_t at = 0;
    for (; split > 1 && at < axes->count; at++) {
        named_axis *axis = &axes->axes[at];
        if (split % axis->ref.size == 0) {
            split /= axis->ref.size;
            continue;
        }
        if (axis->ref.size % split != 0) {
            return false;
        }
        for (size_t i = axes->count++; i > at; i--) {
            axes->axes[i] = axes->axes[i - 1];
        }
        axis->ref.is_sub = 1;
        axis->ref.size = split;
        axis[1].ref.is_sub = 1;
        axis[1].ref.pre *= split;
        axis[1].ref.size /= split;
        split = 1;
    }
    *out = at;
    return split == 1;
}

/* The refusal of a split factor that the later axes do not make. */
static tsr_status no_place(const applier *p, const placement *item, const named_axes *axes)
{
    int64_t shards = 1;
    for (size_t i = 0; i < axes->count; i++) {
        shards *= axes->axes[i].ref.size;
    }
    (void)diag_error(p->reader->ctx, TSR_ERR_UNSUPPORTED, item->where,
                     "split_factor %lld: the mesh axes after this one cut dim %lld into %lld "
                     "shards, so devices would hold rows that are not contiguous",
                     (long long)item->split, (long long)item->dim, (long long)shards);
    return diag_note(p->reader->ctx, NO_LOCATION,
                     "split_factor is the number of shards that the mesh axes after this one make "
                     "of the dimension");
}

/*
 * Adds each sharding axis to its dimension, from the last one: mesh order is major to minor, but
 * for strided shards.
 */
static tsr_status apply_shards(applier *p)
{
    for (size_t i = p->list->count; i-- > 0;) {
        const placement *item = &p->list->items[i];
        if (item->kind != PLACEMENT_SHARD) {
            continue;
        }
        named_axes *axes = &p->text.dims[item->dim].axes;
        named_axis axis = named_axis_of(p->mesh, tsr_axis_full(p->mesh, i));
        size_t at = 0;
        axis.where = item->where;
        if (axis.ref.size > 1 && !find_place(axes, item->split, &at)) {
            return no_place(p, item, axes);
        }
        for (size_t j = axes->count++; j > at; j--) {
            axes->axes[j] = axes->axes[j - 1];
        }
        axes->axes[at] = axis;
    }
    for (size_t i = 0; i < p->list->count; i++) {
        const placement *item = &p->list->items[i];
        if (item->kind == PLACEMENT_SHARD) {
            p->text.dims[item->dim].where = item->where;
            TSR_TRY(apply_ragged(p, item, &p->text.dims[item->dim]));
        }
    }
    return TSR_OK;
}

static tsr_status cuts_of_text(const applier *p, const dim_text *dim, cuts *out)
{
    if (!cuts_init(out, p->reader->arena, dim->axes.count)) {
        return diag_nomem(p->reader->ctx);
    }
    for (size_t i = 0; i < dim->axes.count; i++) {
        cuts_add(out, dim->axes.axes[i].ref.axis, dim->axes.axes[i].ref.size);
    }
    return TSR_OK;
}

/* The sizes that DTensor gives a dimension; refused when shards are not in the axes' order. */
static tsr_status give_sizes(const applier *p, size_t index, const cuts *c, int64_t extent)
{
    dim_text *dim = &p->text.dims[index];
    tsr_context *ctx = p->reader->ctx;
    bool ordered;
    int64_t *sizes = cuts_sizes(c, p->reader->arena, extent, &ordered);
    if (sizes == NULL) {
        return diag_nomem(ctx);
    }
    if (!ordered) {
        (void)diag_error(
            ctx, TSR_ERR_UNSUPPORTED, dim->where,
            "dim %zu: in these strided shards of extent %lld, torch stores rows out of order",
            index, (long long)extent);
        return diag_note(ctx, NO_LOCATION,
                         "use an extent that is a multiple of %lld, which is cut evenly",
                         (long long)c->shards);
    }
    if (sizes_are_even(sizes, c->shards, extent)) {
        return TSR_OK;
    }
    dim->has_ragged = true;
    dim->num_sizes = (size_t)c->shards;
    dim->ragged =
        (tsr_ragged){.kind = TSR_RAGGED_DYNAMIC, .rows = 1, .sizes = sizes, .alignment = 1};
    return TSR_OK;
}

/*
 * Gives a dimension that several axes cut the sizes that DTensor gives it, if they are not the even
 * chunks.
 */
static tsr_status apply_cuts(const applier *p, size_t index)
{
    const dim_text *dim = &p->text.dims[index];
    tsr_context *ctx = p->reader->ctx;
    const int64_t extent = dialect_extent(p->reader->shape, index);
    cuts c;
    TSR_TRY(cuts_of_text(p, dim, &c));
    if (dim->has_ragged || c.count < 2) {
        return TSR_OK;
    }
    if (extent == TSR_UNKNOWN) {
        (void)diag_error(ctx, TSR_ERR_INVALID, dim->where,
                         "dim %zu is sharded by several axes: how dtensor cuts it depends on its "
                         "extent, which is unknown",
                         index);
        return diag_note(ctx, NO_LOCATION, "give the shape of the tensor");
    }
    if (cuts_are_even(&c, extent)) {
        return TSR_OK;
    }
    if (c.shards > MAX_SIZES) {
        return diag_error(ctx, TSR_ERR_LIMIT, dim->where,
                          "dim %zu of extent %lld needs %lld explicit sizes, the limit is %lld",
                          index, (long long)extent, (long long)c.shards, (long long)MAX_SIZES);
    }
    return give_sizes(p, index, &c, extent);
}

/* Counts how many axes each dimension gets and makes room for them, and for each in two parts. */
static bool make_room(applier *p)
{
    tsr_arena *arena = p->reader->arena;
    p->text.unreduced.axes = ARENA_ARRAY(arena, named_axis, p->list->count);
    p->text.dims = ARENA_ARRAY(arena, dim_text, p->text.rank);
    if (p->text.unreduced.axes == NULL || p->text.dims == NULL) {
        return false;
    }
    for (size_t i = 0; i < p->text.rank; i++) {
        p->text.dims[i] = (dim_text){.priority = TSR_NO_PRIORITY, .where = p->list->where};
    }
    for (size_t i = 0; i < p->list->count; i++) {
        if (p->list->items[i].kind == PLACEMENT_SHARD) {
            p->text.dims[p->list->items[i].dim].axes.count++;
        }
    }
    for (size_t i = 0; i < p->text.rank; i++) {
        named_axes *axes = &p->text.dims[i].axes;
        axes->axes = ARENA_ARRAY(arena, named_axis, 2 * axes->count);
        axes->count = 0;
        if (axes->axes == NULL) {
            return false;
        }
    }
    return true;
}

static tsr_status apply(applier *p)
{
    const int64_t rank = tsr_mesh_is_maximal(p->mesh) ? 0 : p->reader->rank;
    TSR_TRY(check_count(p));
    if (rank < 0) {
        return dialect_no_rank(p->reader, p->list->where);
    }
    TSR_TRY(check_dims(p, rank));
    p->text.rank = (size_t)rank;
    p->text.where = p->list->where;
    if (!make_room(p)) {
        return diag_nomem(p->reader->ctx);
    }
    TSR_TRY(apply_partials(p));
    TSR_TRY(apply_shards(p));
    for (size_t i = 0; i < p->text.rank; i++) {
        TSR_TRY(apply_cuts(p, i));
    }
    return TSR_OK;
}

tsr_status dtensor_read(const dialect_reader *r, const tsr_sharding **out)
{
    lexer lex = python_lexer(r);
    placements list = {0};
    applier p = {.reader = r, .list = &list};
    TSR_TRY(read_list(&lex, &list));
    TSR_TRY(dialect_mesh(r, list.where, &p.mesh));
    TSR_TRY(apply(&p));
    return dialect_resolve(r, &p.text, p.mesh, out);
}

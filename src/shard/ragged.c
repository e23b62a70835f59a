/* Ragged dimensions: explicit sizes, dynamic or partitioned. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "shard/sharding.h"

int64_t mul_div(int64_t a, int64_t b, int64_t c)
{
    return (int64_t)((__int128)a * b / c);
}

int64_t ragged_owner_start(const tsr_ragged *ragged, int64_t shards, int64_t shard)
{
    if (ragged->owner_start != NULL) {
        return ragged->owner_start[shard];
    }
    return mul_div(shard, ragged->partitions, shards);
}

/* Sizes or counts while they are read: rows of one length. */
typedef struct number_rows {
    int64_t *values;
    size_t count;
    size_t capacity;
    size_t rows;
    size_t length;
} number_rows;

/* `1, 2]`: one row up to its bracket. */
static tsr_status read_row(lexer *lex, number_rows *rows)
{
    const location where = lex_here(lex);
    size_t length = 0;
    do {
        int64_t value;
        TSR_TRY(lex_integer(lex, &value));
        TSR_TRY(LEX_PUSH(lex, rows->values, rows->count, rows->capacity, value));
        length++;
    } while (lex_accept(lex, ','));
    TSR_TRY(lex_expect(lex, ']'));
    if (rows->rows > 0 && length != rows->length) {
        return diag_error(lex->ctx, TSR_ERR_INVALID, lex_span(lex, where.at),
                          "row %zu has %zu numbers, but the first row has %zu", rows->rows, length,
                          rows->length);
    }
    rows->length = length;
    rows->rows++;
    return TSR_OK;
}

tsr_status ragged_read_symbol(lexer *lex, const char **out)
{
    *out = NULL;
    if (lex_is(lex, TOKEN_WORD)) {
        const slice name = lex_slice(lex);
        *out = arena_string(lex->arena, name.data, name.size);
        if (*out == NULL) {
            return diag_nomem(lex->ctx);
        }
        lex_next(lex);
    }
    return TSR_OK;
}

/*
 * `[?]`, `[?name]`, `[1, 2]` or `[[1, 2], [3, 4]]`; no rows when unbound. A flat list is one row.
 */
static tsr_status read_rows(lexer *lex, bool *nested, number_rows *rows, const char **symbol)
{
    TSR_TRY(lex_expect(lex, '['));
    *nested = lex_is(lex, '[');
    *symbol = NULL;
    if (lex_accept(lex, '?')) {
        TSR_TRY(ragged_read_symbol(lex, symbol));
        return lex_expect(lex, ']');
    }
    if (!*nested) {
        return read_row(lex, rows);
    }
    do {
        TSR_TRY(lex_expect(lex, '['));
        TSR_TRY(read_row(lex, rows));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, ']');
}

static tsr_status read_dynamic(lexer *lex, dim_text *dim)
{
    number_rows rows = {0};
    bool nested;
    const char *symbol;
    TSR_TRY(read_rows(lex, &nested, &rows, &symbol));
    dim->ragged = (tsr_ragged){.kind = TSR_RAGGED_DYNAMIC,
                               .rows = rows.rows > 0 ? (int64_t)rows.rows : 1,
                               .sizes = rows.values,
                               .alignment = 1,
                               .symbol = symbol};
    dim->num_sizes = rows.count;
    return TSR_OK;
}

/* Refuses a repeated option, and two options that exclude each other. */
static tsr_status check_repeated(lexer *lex, unsigned *seen)
{
    static const char *const words[] = {"aligned", "unaligned", "align", "partitions", "owners"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const unsigned bit = i < 2 ? 1U : 1U << i;
        if (!lex_is_word(lex, words[i])) {
            continue;
        }
        if ((*seen & bit) != 0) {
            return lex_error(
                lex, lex_here(lex),
                i < 2 ? "a partitioned dimension is aligned or unaligned: give one of them once"
                      : "this option is repeated");
        }
        *seen |= bit;
    }
    return TSR_OK;
}

/* One of `aligned`, `unaligned`, `owners=[...]`, `align=8`, `partitions=4`. */
static tsr_status read_option(lexer *lex, dim_text *dim)
{
    tsr_ragged *ragged = &dim->ragged;
    if (lex_accept_word(lex, "aligned")) {
        ragged->kind = TSR_RAGGED_ALIGNED;
        return TSR_OK;
    }
    if (lex_accept_word(lex, "unaligned")) {
        ragged->kind = TSR_RAGGED_UNALIGNED;
        return TSR_OK;
    }
    if (lex_accept_word(lex, "align")) {
        TSR_TRY(lex_expect(lex, '='));
        return lex_integer(lex, &ragged->alignment);
    }
    if (lex_is_word(lex, "partitions") && ragged->counts == NULL) {
        lex_next(lex);
        dim->says_partitions = true;
        TSR_TRY(lex_expect(lex, '='));
        return lex_integer(lex, &ragged->partitions);
    }
    if (lex_accept_word(lex, "owners")) {
        int64_t *owners;
        TSR_TRY(lex_expect(lex, '='));
        TSR_TRY(lex_integers(lex, false, &owners, &dim->num_owners));
        ragged->owner_start = owners;
        return TSR_OK;
    }
    return lex_error(lex, lex_here(lex),
                     "expected one of aligned, unaligned, owners=[...], align=N, or after "
                     "partitioned[?] partitions=N");
}

static tsr_status read_partitioned(lexer *lex, dim_text *dim)
{
    number_rows rows = {0};
    bool nested;
    const location where = lex_here(lex);
    const char *symbol;
    TSR_TRY(read_rows(lex, &nested, &rows, &symbol));
    if (rows.rows > 0 && !nested) {
        return lex_error(lex, lex_span(lex, where.at),
                         "give one row of counts for each shard of the partitioned dimension, as "
                         "in [[4, 6], [2, 4]]");
    }
    dim->ragged = (tsr_ragged){.kind = TSR_RAGGED_UNALIGNED,
                               .rows = 1,
                               .partitions = (int64_t)rows.length,
                               .counts = rows.values,
                               .alignment = 1,
                               .symbol = symbol};
    dim->num_sizes = rows.count;
    if (!lex_accept(lex, '(')) {
        return TSR_OK;
    }
    unsigned seen = 0;
    do {
        TSR_TRY(check_repeated(lex, &seen));
        TSR_TRY(read_option(lex, dim));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, ')');
}

tsr_status ragged_read(lexer *lex, dim_text *dim)
{
    dim->has_ragged = true;
    if (lex_accept_word(lex, "dynamic")) {
        return read_dynamic(lex, dim);
    }
    if (lex_accept_word(lex, "partitioned")) {
        return read_partitioned(lex, dim);
    }
    return lex_error(lex, lex_here(lex), "expected dynamic[...] or partitioned[...]");
}

/* `[1, 2], [3, 4]` of rows. */
static void print_rows(buffer *buf, const int64_t *values, int64_t rows, int64_t length)
{
    for (int64_t i = 0; i < rows; i++) {
        buffer_string(buf, i > 0 ? ", [" : "[");
        buffer_ints(buf, values + i * length, (size_t)length);
        buffer_char(buf, ']');
    }
}

/* `?` or `?name`. */
static void print_symbol(buffer *buf, const tsr_ragged *ragged)
{
    buffer_char(buf, '?');
    buffer_string(buf, ragged->symbol != NULL ? ragged->symbol : "");
}

static void print_dynamic(buffer *buf, const tsr_ragged *ragged, int64_t count)
{
    buffer_string(buf, ":dynamic[");
    if (ragged->sizes == NULL) {
        print_symbol(buf, ragged);
    } else if (ragged->rows > 1) {
        print_rows(buf, ragged->sizes, ragged->rows, count / ragged->rows);
    } else {
        buffer_ints(buf, ragged->sizes, (size_t)count);
    }
    buffer_char(buf, ']');
}

static void print_options(buffer *buf, const tsr_ragged *ragged, size_t num_owners)
{
    const char *separator = "(";
    if (ragged->kind == TSR_RAGGED_ALIGNED) {
        buffer_format(buf, "%saligned", separator);
        separator = ", ";
    }
    if (ragged->counts == NULL && ragged->partitions > 0) {
        buffer_format(buf, "%spartitions=%lld", separator, (long long)ragged->partitions);
        separator = ", ";
    }
    if (ragged->owner_start != NULL) {
        buffer_format(buf, "%sowners=[", separator);
        buffer_ints(buf, ragged->owner_start, num_owners);
        buffer_char(buf, ']');
        separator = ", ";
    }
    if (ragged->alignment > 1) {
        buffer_format(buf, "%salign=%lld", separator, (long long)ragged->alignment);
        separator = ", ";
    }
    if (separator[0] == ',') {
        buffer_char(buf, ')');
    }
}

static void print_partitioned(buffer *buf, const tsr_ragged *ragged, int64_t rows,
                              size_t num_owners)
{
    buffer_string(buf, ":partitioned[");
    if (ragged->counts == NULL) {
        print_symbol(buf, ragged);
    } else {
        print_rows(buf, ragged->counts, rows, ragged->partitions);
    }
    buffer_char(buf, ']');
    print_options(buf, ragged, num_owners);
}

void ragged_print(buffer *buf, const tsr_ragged *ragged, int64_t shards)
{
    if (ragged->kind == TSR_RAGGED_DYNAMIC) {
        print_dynamic(buf, ragged, shards);
    } else {
        print_partitioned(buf, ragged, shards, (size_t)shards + 1);
    }
}

static bool owners_are_default(const tsr_ragged *ragged, int64_t shards)
{
    for (int64_t i = 0; i <= shards; i++) {
        if (ragged->owner_start[i] != mul_div(i, ragged->partitions, shards)) {
            return false;
        }
    }
    return true;
}

void ragged_text_print(buffer *buf, const dim_text *dim)
{
    tsr_ragged ragged = dim->ragged;
    if (ragged.kind == TSR_RAGGED_DYNAMIC) {
        print_dynamic(buf, &ragged, (int64_t)dim->num_sizes);
        return;
    }
    if (dim->num_owners > 1 && owners_are_default(&ragged, (int64_t)dim->num_owners - 1)) {
        ragged.owner_start = NULL;
    }
    const int64_t rows = ragged.counts != NULL ? (int64_t)dim->num_sizes / ragged.partitions : 0;
    print_partitioned(buf, &ragged, rows, dim->num_owners);
}

/* The state of checking a ragged dimension. */
typedef struct ragged_checker {
    tsr_context *ctx;
    const dim_text *dim;
    size_t index;
    const char *prefix;
    int64_t shards;
} ragged_checker;

static tsr_status check_not_negative(const ragged_checker *c, const int64_t *values)
{
    int64_t sum = 0;
    for (size_t i = 0; i < c->dim->num_sizes; i++) {
        if (values[i] < 0) {
            return diag_error(c->ctx, TSR_ERR_INVALID, c->dim->where,
                              "%sdim %zu: explicit size %zu is negative: %lld", c->prefix, c->index,
                              i, (long long)values[i]);
        }
        if (!checked_add(sum, values[i], &sum)) {
            return diag_error(c->ctx, TSR_ERR_OVERFLOW, c->dim->where,
                              "%sdim %zu: its sizes sum to more than 2^63-1", c->prefix, c->index);
        }
    }
    return TSR_OK;
}

/* Rows group the shards by the outer axes: their number is the product of some leading axes. */
static bool rows_match_axes(const dim_text *dim, int64_t rows)
{
    int64_t product = 1;
    for (size_t i = 0; i < dim->axes.count && product < rows; i++) {
        product *= dim->axes.axes[i].ref.size;
    }
    return product == rows;
}

static tsr_status check_dynamic(const ragged_checker *c)
{
    const tsr_ragged *ragged = &c->dim->ragged;
    if (ragged->sizes == NULL) {
        return TSR_OK;
    }
    if ((int64_t)c->dim->num_sizes != c->shards) {
        return diag_error(
            c->ctx, TSR_ERR_INVALID, c->dim->where,
            "%sdim %zu: a dynamic dimension over %lld shards needs %lld sizes, got: %zu", c->prefix,
            c->index, (long long)c->shards, (long long)c->shards, c->dim->num_sizes);
    }
    if (!rows_match_axes(c->dim, ragged->rows)) {
        return diag_error(c->ctx, TSR_ERR_INVALID, c->dim->where,
                          "%sdim %zu: %lld rows of sizes, but no leading axes of the dimension "
                          "multiply to that",
                          c->prefix, c->index, (long long)ragged->rows);
    }
    return check_not_negative(c, ragged->sizes);
}

static tsr_status check_owners(const ragged_checker *c)
{
    const tsr_ragged *ragged = &c->dim->ragged;
    const int64_t *owners = ragged->owner_start;
    if (owners == NULL) {
        return TSR_OK;
    }
    if ((int64_t)c->dim->num_owners != c->shards + 1) {
        return diag_error(c->ctx, TSR_ERR_INVALID, c->dim->where,
                          "%sdim %zu: owners of %lld shards are %lld numbers, got: %zu", c->prefix,
                          c->index, (long long)c->shards, (long long)c->shards + 1,
                          c->dim->num_owners);
    }
    for (size_t i = 1; i < c->dim->num_owners; i++) {
        if (owners[i] < owners[i - 1]) {
            return diag_error(c->ctx, TSR_ERR_INVALID, c->dim->where,
                              "%sdim %zu: owners must not decrease, got: %lld after %lld",
                              c->prefix, c->index, (long long)owners[i], (long long)owners[i - 1]);
        }
    }
    if (owners[0] != 0 || owners[c->shards] != ragged->partitions) {
        return diag_error(
            c->ctx, TSR_ERR_INVALID, c->dim->where,
            "%sdim %zu: owners must run from 0 to the number of partitions, %lld, got: "
            "%lld to %lld",
            c->prefix, c->index, (long long)ragged->partitions, (long long)owners[0],
            (long long)owners[c->shards]);
    }
    return TSR_OK;
}

static tsr_status check_partitioned(const ragged_checker *c)
{
    const tsr_ragged *ragged = &c->dim->ragged;
    if (ragged->alignment < 1) {
        return diag_error(c->ctx, TSR_ERR_INVALID, c->dim->where,
                          "%sdim %zu: align must be at least 1, got: %lld", c->prefix, c->index,
                          (long long)ragged->alignment);
    }
    if (ragged->partitions < 0 || (c->dim->says_partitions && ragged->partitions == 0) ||
        (ragged->owner_start != NULL && ragged->partitions == 0)) {
        return diag_error(c->ctx, TSR_ERR_INVALID, c->dim->where,
                          "%sdim %zu: the number of partitions must be at least 1, got: %lld",
                          c->prefix, c->index, (long long)ragged->partitions);
    }
    TSR_TRY(check_owners(c));
    if (ragged->counts == NULL) {
        return TSR_OK;
    }
    int64_t needed;
    if (!checked_mul(c->shards, ragged->partitions, &needed) ||
        (int64_t)c->dim->num_sizes != needed) {
        return diag_error(
            c->ctx, TSR_ERR_INVALID, c->dim->where,
            "%sdim %zu: counts of %lld partitions over %lld shards need %lld rows, got: "
            "%lld",
            c->prefix, c->index, (long long)ragged->partitions, (long long)c->shards,
            (long long)c->shards, (long long)((int64_t)c->dim->num_sizes / ragged->partitions));
    }
    return check_not_negative(c, ragged->counts);
}

static tsr_status check_symbol(const ragged_checker *c)
{
    const tsr_ragged *ragged = &c->dim->ragged;
    if (ragged->symbol == NULL || is_bare_id((slice){ragged->symbol, strlen(ragged->symbol)})) {
        return TSR_OK;
    }
    return diag_error(
        c->ctx, TSR_ERR_INVALID, c->dim->where,
        "%sdim %zu: the symbol of unbound sizes must be a bare id, such as rows_2, got: '%s'",
        c->prefix, c->index, ragged->symbol);
}

static tsr_status check_dim(const ragged_checker *c)
{
    if (c->dim->axes.count == 0) {
        return diag_error(c->ctx, TSR_ERR_INVALID, c->dim->where,
                          "%sdim %zu has explicit sizes but no axes to split it", c->prefix,
                          c->index);
    }
    if (c->dim->open) {
        (void)diag_error(c->ctx, TSR_ERR_INVALID, c->dim->where,
                         "%sdim %zu has explicit sizes and is open", c->prefix, c->index);
        return diag_note(
            c->ctx, NO_LOCATION,
            "explicit sizes apply to exactly these axes: close the dimension, without ?");
    }
    return TSR_OK;
}

/* The arena's copy of an array, or NULL for NULL; *failed when there is no memory. */
static const int64_t *copied(tsr_arena *arena, const int64_t *values, size_t count, bool *failed)
{
    const int64_t *copy = values != NULL ? arena_copy(arena, values, count, sizeof *values) : NULL;
    *failed = *failed || (values != NULL && copy == NULL);
    return copy;
}

tsr_status ragged_resolve(tsr_context *ctx, tsr_arena *arena, const dim_text *dim, size_t index,
                          const char *prefix, const tsr_ragged **out)
{
    ragged_checker checker = {ctx, dim, index, prefix, 1};
    for (size_t i = 0; i < dim->axes.count; i++) {
        checker.shards *= dim->axes.axes[i].ref.size;
    }
    TSR_TRY(check_dim(&checker));
    TSR_TRY(check_symbol(&checker));
    const bool dynamic = dim->ragged.kind == TSR_RAGGED_DYNAMIC;
    TSR_TRY(dynamic ? check_dynamic(&checker) : check_partitioned(&checker));
    tsr_ragged *ragged = arena_copy(arena, &dim->ragged, 1, sizeof *ragged);
    if (ragged == NULL) {
        return diag_nomem(ctx);
    }
    if (!dynamic && ragged->owner_start != NULL && owners_are_default(ragged, checker.shards)) {
        ragged->owner_start = NULL;
    }
    ragged->sizes = dynamic ? ragged->sizes : NULL;
    ragged->counts = dynamic ? NULL : ragged->counts;
    ragged->owner_start = dynamic ? NULL : ragged->owner_start;
    bool failed = false;
    ragged->sizes = copied(arena, ragged->sizes, dim->num_sizes, &failed);
    ragged->counts = copied(arena, ragged->counts, dim->num_sizes, &failed);
    ragged->owner_start = copied(arena, ragged->owner_start, dim->num_owners, &failed);
    if (ragged->symbol != NULL && ragged_is_bound(ragged)) {
        ragged->symbol = NULL;
    } else if (ragged->symbol != NULL) {
        ragged->symbol = arena_string(arena, ragged->symbol, strlen(ragged->symbol));
        failed = failed || ragged->symbol == NULL;
    }
    if (failed) {
        return diag_nomem(ctx);
    }
    *out = ragged;
    return TSR_OK;
}

static tsr_status check_sum(tsr_context *ctx, location where, const char *prefix, size_t index,
                            const char *what, const int64_t *numbers, int64_t count, int64_t extent)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += numbers[i];
    }
    if (sum == extent) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_INVALID, where,
                      "%sdim %zu: its %s sum to %lld, the extent is %lld", prefix, index, what,
                      (long long)sum, (long long)extent);
}

/* Rows of sizes must sum to the even chunks of the outer shards. */
static tsr_status check_row_sums(tsr_context *ctx, location where, const char *prefix, size_t index,
                                 const tsr_ragged *ragged, int64_t shards, int64_t extent)
{
    const int64_t chunk = ceil_div(extent, ragged->rows);
    const int64_t length = shards / ragged->rows;
    for (int64_t i = 0; i < ragged->rows; i++) {
        const int64_t used = chunk == 0 ? 0 : ceil_div(extent, chunk);
        const int64_t wanted = i < used ? min_i64(chunk, extent - i * chunk) : 0;
        int64_t sum = 0;
        for (int64_t j = 0; j < length; j++) {
            sum += ragged->sizes[i * length + j];
        }
        if (sum != wanted) {
            return diag_error(ctx, TSR_ERR_INVALID, where,
                              "%sdim %zu: row %lld of its sizes sums to %lld, the outer shard has "
                              "%lld",
                              prefix, index, (long long)i, (long long)sum, (long long)wanted);
        }
    }
    return TSR_OK;
}

tsr_status ragged_check_extent(tsr_context *ctx, location where, const char *prefix, size_t index,
                               const tsr_ragged *ragged, int64_t shards, int64_t extent)
{
    if (extent < 0) {
        return TSR_OK;
    }
    if (ragged->counts != NULL) {
        return check_sum(ctx, where, prefix, index, "counts", ragged->counts,
                         shards * ragged->partitions, extent);
    }
    if (ragged->sizes == NULL) {
        return TSR_OK;
    }
    TSR_TRY(check_sum(ctx, where, prefix, index, "sizes", ragged->sizes, shards, extent));
    return ragged->rows == 1 ? TSR_OK
                             : check_row_sums(ctx, where, prefix, index, ragged, shards, extent);
}

static bool same_numbers(const int64_t *a, const int64_t *b, int64_t count)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static bool same_symbol(const tsr_ragged *a, const tsr_ragged *b)
{
    return a->symbol == b->symbol ||
           (a->symbol != NULL && b->symbol != NULL && strcmp(a->symbol, b->symbol) == 0);
}

bool ragged_equal(const tsr_ragged *a, const tsr_ragged *b, int64_t shards)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    return a->kind == b->kind && a->rows == b->rows && a->partitions == b->partitions &&
           a->alignment == b->alignment && same_numbers(a->sizes, b->sizes, shards) &&
           same_numbers(a->counts, b->counts, shards * a->partitions) &&
           same_numbers(a->owner_start, b->owner_start, shards + 1) && same_symbol(a, b);
}

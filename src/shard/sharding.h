/* The representation of a sharding, and how one is made: read, verified, built. */
#ifndef SHARD_SHARDING_H
#define SHARD_SHARDING_H

#include <tessera/sharding.h>

#include "mesh/axis_verify.h"

struct tsr_sharding {
    const tsr_mesh *mesh;
    size_t rank;
    const tsr_dim *dims;
    size_t num_replicated;
    const tsr_axis_ref *replicated;
    size_t num_unreduced;
    const tsr_axis_ref *unreduced;
    tsr_reduction reduction;
};

/* A dimension as written. */
typedef struct dim_text {
    named_axes axes;
    bool open;
    int64_t priority;
    bool has_ragged;
    tsr_ragged ragged;
    size_t num_sizes; /* of ragged.sizes or ragged.counts */
    size_t num_owners;
    bool says_partitions;
    location where;
} dim_text;

/* A sharding as written: names not looked up, rules not checked. */
typedef struct sharding_text {
    tsr_reading reading;         /* how strictly this form is read */
    const tsr_mesh *inline_mesh; /* NULL unless the mesh is written inline */
    bool has_name;
    slice mesh_name;
    location where;
    size_t rank;
    dim_text *dims;
    named_axes replicated;
    location replicated_where;
    named_axes unreduced;
    location unreduced_where;
    tsr_reduction reduction;
} sharding_text;

/* Reads `"x"` or `"x":(1)2`. */
tsr_status axis_text_read(lexer *lex, named_axis *out);

/* Reads the text of a sharding; `lex` is at it. */
tsr_status sharding_text_read(lexer *lex, tsr_reading reading, sharding_text *out);

/* One dimension: `{"x", ?}p1`, read and printed. */
tsr_status dim_text_read(lexer *lex, tsr_reading reading, dim_text *out);
void dim_text_print(buffer *buf, const dim_text *dim);

/* Prints it in canonical form: `<@mesh, [{"x", ?}p1, {}], replicated={"y"}>`. */
void sharding_text_print(buffer *buf, const sharding_text *text);

/* The row of a reduction: its name in text. */
const char *reduction_name(tsr_reduction reduction);
bool reduction_find(slice name, tsr_reduction *out);

/* The mesh that a text is on; an error when the reader knows none. */
tsr_status sharding_text_mesh(tsr_context *ctx, const sharding_text *text,
                              const tsr_sharding_reader *reader, const tsr_mesh **out);

/* Optional checks of a text, beyond the rules that always hold. */
typedef struct resolve_options {
    int flags;            /* tsr_sharding_flags */
    int64_t rank;         /* of the tensor; -1 when it is not known */
    const int64_t *shape; /* of that rank; NULL when it is not known */
    const char *prefix;   /* before every message; "" for none */
} resolve_options;

/* Looks up the names, checks every rule in the reference's order and builds. */
tsr_status sharding_resolve(tsr_context *ctx, tsr_arena *arena, sharding_text *text,
                            const tsr_mesh *mesh, const resolve_options *options,
                            const tsr_sharding **out);

/* All axes of the dimensions, in order; with `pending`, then the unreduced ones. Allocated in the
 * arena. */
tsr_status sharding_axes(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                         bool pending, tsr_axis_list *out);

/* A hash of what a sharding says; names of axes and of the mesh are left out. */
uint64_t sharding_hash(const tsr_sharding *sharding, uint64_t seed);

/*
 * The arena's copy of a sharding that keeps every rule: no name is looked up, nothing is verified.
 * The mesh and explicit sizes are shared with it. One block of memory.
 */
tsr_status sharding_build_trusted(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                                  const tsr_sharding **out);

/* Gives a sharding dimensions of its own, whose explicit sizes are the arena's copies. */
tsr_status sharding_copy_ragged(tsr_context *ctx, tsr_arena *arena, tsr_sharding *sharding);

/* The arena's own copy of a sharding, its mesh included. */
tsr_status sharding_copy(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                         const tsr_sharding **out);

void sharding_print(buffer *buf, const tsr_sharding *sharding, tsr_printing printing);

/* Reads `:dynamic[...]` or `:partitioned[...](...)`; `lex` is after the colon. */
tsr_status ragged_read(lexer *lex, dim_text *dim);
void ragged_print(buffer *buf, const tsr_ragged *ragged, int64_t shards);
/* The same of a dimension as written. */
void ragged_text_print(buffer *buf, const dim_text *dim);

/*
 * Checks a ragged dimension as written and makes the arena's copy of it, owners in canonical form.
 */
tsr_status ragged_resolve(tsr_context *ctx, tsr_arena *arena, const dim_text *dim, size_t index,
                          const char *prefix, const tsr_ragged **out);
/* Whether bound sizes or counts are those of an extent: their sums are what it has. */
tsr_status ragged_check_extent(tsr_context *ctx, location where, const char *prefix, size_t index,
                               const tsr_ragged *ragged, int64_t shards, int64_t extent);
bool ragged_equal(const tsr_ragged *a, const tsr_ragged *b, int64_t shards);

/* Whether the sizes or counts of a ragged dimension are given. */
static inline bool ragged_is_bound(const tsr_ragged *ragged)
{
    return ragged->sizes != NULL || ragged->counts != NULL;
}

/* The first unbound dimension of a sharding from one on; its rank: none. */
size_t sharding_unbound_dim(const tsr_sharding *sharding, size_t from);

/* Takes the name after a `?`; NULL when none follows. */
tsr_status ragged_read_symbol(lexer *lex, const char **out);

/* The first partition that a shard of an aligned dimension owns. */
int64_t ragged_owner_start(const tsr_ragged *ragged, int64_t shards, int64_t shard);

/* floor(a * b / c) for 0 <= a <= c, without overflow. */
int64_t mul_div(int64_t a, int64_t b, int64_t c);

#endif

/*
 * What the dialects share. Each has a reader and a writer in a file of its own and a row in the
 * table of dialect.c.
 */
#ifndef SHARD_DIALECT_H
#define SHARD_DIALECT_H

#include <tessera/dialect.h>

#include "base/lex.h"
#include "mesh/mesh.h"
#include "shard/sharding.h"

/* The input of a dialect's reader. */
typedef struct dialect_reader {
    tsr_context *ctx;
    tsr_arena *arena;
    tsr_text *text;
    const tsr_sharding_reader *options;
    int64_t rank;         /* -1 when it is not known */
    const int64_t *shape; /* NULL when it is not known */
} dialect_reader;

/* What a dialect's writer works on. */
typedef struct dialect_writer {
    tsr_context *ctx;
    tsr_arena *arena;
    const char *dialect;
    const tsr_sharding *sharding;
    const int64_t *shape; /* NULL when it is not known */
    buffer *buf;
} dialect_writer;

/* The head of every refusal; its argument is the writer's dialect. */
#define CANNOT "cannot be expressed in %s, because "

/* A lexer for Python text: strings in quotes of either kind. */
lexer python_lexer(const dialect_reader *r);

/* Reads a sharding in a dialect. */
tsr_status dialect_read(const dialect_reader *r, tsr_dialect dialect, const tsr_sharding **out);

/* Whether a name is one of those of PartitionSpec: also P and PS. */
bool jax_is_spec(slice name);
/* Whether a lexer is at a list of placements. */
bool dtensor_follows(const lexer *lex);

/* The reader's mesh; an error at the location when it has none. */
tsr_status dialect_mesh(const dialect_reader *r, location where, const tsr_mesh **out);

/* Resolves a text on a mesh; the reader's rank is already checked. */
tsr_status dialect_resolve(const dialect_reader *r, sharding_text *text, const tsr_mesh *mesh,
                           const tsr_sharding **out);

/* The error for a text that does not determine the rank when nothing else does. */
tsr_status dialect_no_rank(const dialect_reader *r, location where);

/* The extent of a dimension, or TSR_UNKNOWN. */
int64_t dialect_extent(const int64_t *shape, size_t dim);

/* `"x", "y":(1)2` for a message; "?" when there is no memory. */
const char *dialect_axes(const dialect_writer *w, const tsr_axis_ref *axes, size_t count);

/* The name of a reduction in DTensor. */
const char *dtensor_op_name(tsr_reduction reduction);

tsr_status jax_read(const dialect_reader *r, const tsr_sharding **out);
tsr_status jax_write(const dialect_writer *w);
tsr_status dtensor_read(const dialect_reader *r, const tsr_sharding **out);
tsr_status dtensor_write(const dialect_writer *w);
tsr_status hlo_read(const dialect_reader *r, const tsr_sharding **out);
tsr_status hlo_write(const dialect_writer *w);

#endif

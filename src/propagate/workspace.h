/*
 * What passes over shardings share: interned shardings, lists of them, and memory that lives as
 * long as the pass.
 */
#ifndef PROPAGATE_WORKSPACE_H
#define PROPAGATE_WORKSPACE_H

#include <tessera/pass.h>

#include "base/map.h"
#include "factor/engine.h"
#include "ir/edit.h"
#include "ir/function.h"
#include "ir/interned.h"
#include "ir/message.h"
#include "ir/op_facts.h"
#include "ir/row.h"
#include "ir/shardings.h"
#include "shard/sharding.h"

typedef struct workspace {
    tsr_context *ctx;
    tsr_program *p;
    tsr_arena *arena;   /* of all that lives as long as this */
    tsr_arena *scratch; /* of what does not */
    engine *engine;     /* of the program */
} workspace;

/* A pass, as the table of passes runs it. */
typedef tsr_status pass_function(tsr_context *ctx, tsr_program *program,
                                 const tsr_pass_options *options);

tsr_status workspace_start(tsr_context *ctx, tsr_program *p, workspace *out);
void workspace_end(workspace *w);
/* Does something in a workspace of its own. */
tsr_status workspace_do(tsr_context *ctx, tsr_program *p, tsr_status (*work)(workspace *w));
/* A pass without options, which does its work in a workspace. */
#define WORKSPACE_PASS(function, work)                                                             \
    tsr_status function(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)         \
    {                                                                                              \
        (void)options;                                                                             \
        return workspace_do(ctx, p, work);                                                         \
    }

/* The entry of a key in a table, 0 when it is new; NULL without memory. */
uint64_t *workspace_entry(workspace *w, map *table, const void *key, size_t size);

/* The sharding of an attribute; NULL for 0. */
static inline tsr_status sharding_at(workspace *w, uint32_t attr, const tsr_sharding **out)
{
    return interned_sharding(w->ctx, w->p, attr, out);
}

/* The attribute of a sharding. */
static inline tsr_status sharding_attr(workspace *w, const tsr_sharding *sharding, uint32_t *out)
{
    return interned_sharding_attr(w->ctx, w->p, sharding, out);
}

/* A sharding without axes whose dimensions are all open. */
tsr_status open_sharding(workspace *w, const tsr_mesh *mesh, uint32_t type,
                         const tsr_sharding **out);
/* The same, all closed. */
tsr_status closed_sharding(workspace *w, const tsr_mesh *mesh, uint32_t type,
                           const tsr_sharding **out);
/* The attribute of a list; missing ones are open on the mesh of the first that exists, if it can
 * be on one of several devices. */
tsr_status sharding_list_attr(workspace *w, const tsr_sharding *const *shardings,
                              const uint32_t *types, size_t count, uint32_t *out);
/* The entries of a list of shardings; NULL for each when the attribute is 0. Allocated in the
 * scratch arena. */
tsr_status sharding_list_at(workspace *w, uint32_t attr, size_t count, const tsr_sharding ***out);

/*
 * The shardings of a function's arguments or results, NULL for none: as an attribute, in which
 * missing ones are open; 0 when none is on a mesh of several devices.
 */
tsr_status function_shardings(workspace *w, uint32_t func, const char *list, uint32_t *out);

/* Writes the sharding of a result of an op. Other results that had none become open. */
tsr_status value_set_sharding(workspace *w, uint32_t value, uint32_t attr);

/* ---- edges.c ---- */

/* The edge op of an owner; 0: it has none. */
uint32_t edge_of_owner(const tsr_program *p, uint32_t owner);
/* The edge of which a use is a source; 0: of none. */
uint32_t edge_of_use(const tsr_program *p, uint32_t use);
/*
 * What the sources of an edge see of its sharding, and back: a manual computation adds or removes
 * its manual axes.
 */
tsr_status edge_outside(workspace *w, uint32_t edge, const tsr_sharding *sharding,
                        const tsr_sharding **out);
tsr_status edge_inside(workspace *w, uint32_t edge, const tsr_sharding *sharding,
                       const tsr_sharding **out);
/* The sharding of an argument of a computation, as its operand sees it. */
tsr_status edge_argument_outside(workspace *w, uint32_t argument, const tsr_sharding *sharding,
                                 const tsr_sharding **out);

/* And what it sees itself. */
tsr_status edge_argument_inside(workspace *w, uint32_t argument, const tsr_sharding *sharding,
                                const tsr_sharding **out);

/* What the body sees of the sharding of a result. */
tsr_status edge_result_inside(workspace *w, uint32_t result, const tsr_sharding *sharding,
                              const tsr_sharding **out);

#endif

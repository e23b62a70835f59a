/*
 * What eager calls keep for a world: how calls were laid out before, settings, the trace, scopes.
 *
 * One rank's, like its tensors. It hangs on the world (world_state.above) and goes with it.
 */
#ifndef EAGER_EAGER_H
#define EAGER_EAGER_H

#include <tessera/eager.h>
#include <tessera/spmd.h>

#include "ops/op.h"
#include "rt/tensor.h"

enum { EAGER_MAX_OPERANDS = 64, EAGER_MAX_RESULTS = 64, CASE_BUCKETS = 512, MAX_CASES = 4096 };

typedef struct op_case op_case;
typedef struct eager_scope eager_scope;

/* How calls were laid out before: case.h. */
typedef struct case_table {
    op_case *buckets[CASE_BUCKETS];
    size_t count;
} case_table;

/* What is traced: trace.h. The arena is that of the events; NULL while nothing is traced. */
typedef struct trace_log {
    tsr_arena *arena;
    int own; /* moves in progress that note themselves */
    tsr_trace_event *events;
    size_t count;
    size_t room;
} trace_log;

/* Typed code: typed.h. */
typedef struct typing_state {
    struct spmd_scope *scope;  /* the innermost; NULL for none */
    const tsr_mesh *mesh;      /* of values that ranks have to themselves: the innermost scope's */
    struct typed_table *table; /* types of values, each once; NULL while there is none */
    int64_t off;               /* above 0 types are not looked at: in a backward */
    tsr_axis_set out_partial;  /* of the current call */
    bool mixes;                /* of the current call: an invariant operand counts as replicated */
    const char *call;          /* the name that it has for the user; NULL: its own */
    const char *const *operand_names; /* of what is called within it, for messages; or NULL */
} typing_state;

/* Typed collectives that were started and not waited for yet. */
typedef struct started_list {
    struct started *first; /* the last that was started */
    uint64_t count;        /* so far */
} started_list;

/* Gradients: tape.h. */
typedef struct tape_stack {
    struct tape *innermost; /* NULL for none */
    uint64_t begun;         /* so far */
    uint64_t digest;        /* of the calls of a region so far */
    int64_t digesting;      /* how many regions are around */
    int64_t recomputing;    /* how many of them the backward runs again */
} tape_stack;

typedef struct eager {
    tsr_comm *world;
    tsr_arena *arena; /* for one call at a time; marked and reset */
    char *scratch;    /* of kernels */
    size_t scratch_bytes;
    tsr_strategy strategy;
    tsr_link priced_by; /* the link by whose costs cases were chosen: price.h */
    bool strict;
    eager_scope *scope; /* the innermost; NULL for none */
    case_table cases;
    trace_log trace;
    typing_state typing;
    started_list requests;
    tape_stack tapes;
} eager;

/* That of a world, if something has been called there; NULL for a group. */
static inline eager *eager_if_any(const tsr_comm *world)
{
    return world->world == world ? world->state->above : NULL;
}

/* The name of a call in messages: that of the public one which it is part of. */
static inline const char *eager_call_name(const tsr_comm *world, const char *call)
{
    const eager *e = eager_if_any(world);
    return e != NULL && e->typing.call != NULL ? e->typing.call : call;
}

/* Begins a call: what an earlier one told the others does not count for it. */
static inline void eager_begin(tsr_comm *world)
{
    world->told = false;
}

/*
 * What a call on tensors of all ranks returns: a failure that only this rank has is told to the
 * others. What else a call refuses follows from types and layouts, and so fails on all of them. In
 * a scope of typed code ranks go their own ways, and nothing is told.
 */
tsr_status eager_tell(tsr_comm *world, const char *call, tsr_status status);

/* Returns that of a world; makes it at the first call, and tells the others when memory runs out.
 */
tsr_status eager_of(tsr_comm *world, eager **out);

/* At least so many bytes for a kernel. */
tsr_status eager_scratch(eager *e, size_t bytes, void **out);

/*
 * Runs an op on tensors: lays operands out as it needs them, computes, and gives the results, as
 * many as the row has. `call` stands in messages and in the trace.
 */
tsr_status eager_call(const char *call, const op_row *row, const void *params,
                      tsr_tensor *const *operands, size_t num_operands, tsr_tensor **results);

/*
 * Says, when a call has failed, what it was given; hands on the status. Operands that are NULL were
 * not given.
 */
tsr_status eager_given(const char *call, tsr_tensor *const *operands, size_t count,
                       tsr_status status);

/* A tensor that comes from nothing, by an op without operands. */
tsr_status eager_make(const char *call, const op_row *row, const void *params, tsr_comm *world,
                      const tsr_tensor_spec *spec, tsr_tensor **out);

/* The same elements in another layout; noted in the trace, as implicit or asked for. */
tsr_status eager_move(eager *e, const char *call, bool implicit, tsr_tensor *tensor,
                      tensor_layout *to, tsr_tensor **out);

/* The same without what is pending; the tensor itself, with one more owner, when nothing is. */
tsr_status eager_settle(eager *e, const char *call, bool implicit, tsr_tensor *tensor,
                        tsr_tensor **out);

/* Makes room for fresh tensors in the innermost scope, if there is one; then hands them to it. */
tsr_status eager_reserve(eager *e, size_t count);
void eager_adopt(eager *e, tsr_tensor *tensor);

/* Whether a tensor has no elements anywhere, only a type and a layout. */
static inline bool is_abstract(const tsr_tensor *t)
{
    return t->data == NULL;
}

/* A tensor of a layout without elements. */
tsr_status make_abstract(const eager *e, tensor_layout *layout, tsr_tensor **out);

/* This rank's part of a tensor. */
static inline tsr_view view_of(const tsr_tensor *t)
{
    return (tsr_view){t->data, /* NOLINT */
                      t->dtype, t->geometry->rank, t->local_shape, t->strides};
}

/* Copies elements between views of one shape; strides NULL: row-major. */
void eager_copy_view(const tsr_view *to, const tsr_view *from);

/* The tensor of a layout; its extents are owned by the layout. */
static inline tsr_tensor_spec spec_of_layout(const tensor_layout *l)
{
    const tsr_geometry *g = l->geometry;
    return (tsr_tensor_spec){g->sharding, l->dtype, g->rank, g->shape};
}

/* The type of a layout's tensor, as ops see it; its extents are owned by the layout. */
op_type type_of_layout(const tensor_layout *layout);

#endif

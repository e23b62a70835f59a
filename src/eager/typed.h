/*
 * Types of values that ranks have to themselves: kept once for a world, carried by tensors,
 * inferred with the case of a call and found with it again.
 */
#ifndef EAGER_TYPED_H
#define EAGER_TYPED_H

#include <tessera/typed.h>

#include "eager/eager.h"

/* What a value's tensor carries. */
typedef struct typed_record {
    struct typed_record *next; /* in the same bucket */
    tsr_arena *arena;
    uint64_t hash;
    int64_t references;   /* of tensors and cases */
    uint64_t last_use;    /* when there were none any more, by the table's clock */
    tsr_typed_shape of;   /* `local` is not set: it is the tensor's */
    tsr_axis_set implied; /* axes along which a call that led here took V for P */
} typed_record;

/* A scope under way. */
typedef struct spmd_scope {
    struct spmd_scope *outer;
    tsr_spmd_scope settings; /* its mesh is the world's own copy */
    tsr_axis_set
        steered[32]; /* axes along which a number that steers varies, one for each tsr_if */
    size_t num_steered;
} spmd_scope;

static inline const typed_record *record_of(const tsr_tensor *tensor)
{
    return tensor->typed;
}

/* Whether calls are typed now. */
static inline bool is_typing(const eager *e)
{
    return e->typing.scope != NULL && !e->typing.scope->settings.unchecked && e->typing.off == 0;
}

/*
 * The record of a typed shape, found or made. One that no tensor and no case has stays for a while:
 * until there are too many of them, and no tape or request is under way that could know it.
 */
tsr_status typed_intern(eager *e, const tsr_typed_shape *shape, const typed_record **out);
tsr_status typed_intern_implied(eager *e, const tsr_typed_shape *shape, tsr_axis_set implied,
                                const typed_record **out);

/* After an error: a note for each axis along which a value came to be by taking V for P. */
tsr_status typed_note_implied(const eager *e, const typed_record *record, size_t operand,
                              tsr_status status);

/* Gives a tensor its type, or none; and a case the types that it has. */
void typed_set(eager *e, tsr_tensor *tensor, const typed_record *record);
void typed_retain(eager *e, const typed_record *record);
void typed_release(void *above, const void *typed);

/*
 * Begins the typing of a call: invariant operands mix in it if the scope's mode says so and no tape
 * records it, now or when a region runs again.
 */
void typed_begin(eager *e, tsr_tensor *const *operands, size_t count);

/* What a case depends on besides layouts, as a number; 0 when nothing is typed. */
uint64_t typed_key(const eager *e);

/* Refuses operands that are not a rank's own values, in a scope. */
tsr_status typed_check_operands(const eager *e, const char *call, tsr_tensor *const *operands,
                                size_t count);

/*
 * Refuses a value that is P or V along an axis in a call about whole tensors, and says what to call
 * instead: for P and a V without a dimension a collective, for S(i) tsr_tensor_of_local.
 */
tsr_status typed_check_whole(void *above, const char *call, const void *typed);

/* The records of the results of a call; its rule may be NULL. NULL records are plain numbers. */
tsr_status typed_infer(eager *e, const op_request *r, const typed_record *const *operands,
                       const tsr_rule *rule, const op_type *results, const typed_record **records);

/* The record of a value's gradient; NULL when the value has none. */
tsr_status typed_gradient(eager *e, const tsr_tensor *value, const typed_record **out);

/* A type with its element type and whole shape, from text; it lives in the call's arena. */
tsr_status typed_read(eager *e, const char *type, tsr_typed_shape *out);

/* Refuses a value that is not this rank's part of what a type says; `type` is its text. */
tsr_status typed_check_part(eager *e, const char *call, const tsr_tensor *value,
                            const tsr_typed_shape *shape, const char *type);

/* This rank's part of a whole value: where it starts, and its shape. In the call's arena. */
tsr_status typed_part(eager *e, const tsr_typed_shape *shape, int64_t *start, int64_t *local);

/* The scope that a call is in; an error when there is none. */
tsr_status typed_scope(tsr_comm *world, const char *call, eager **out);

/*
 * Axes of the scope's mesh and parts of them, as `dp,cp` and `x:(1)2` name them; `world` is all of
 * them. axes[i] is the axis that refs[i] is or is a part of.
 */
typedef struct axis_names {
    size_t axes[16];
    tsr_axis_ref refs[16];
    size_t count;
} axis_names;
tsr_status typed_axes(const eager *e, const char *call, const char *names, axis_names *out);

/* The same for a call that takes whole axes only. */
tsr_status typed_whole_axes(const eager *e, const char *call, const char *names, axis_names *out);

/*
 * Brings types to one mesh, *mesh: the scope's, cut where one of them or of some axes is on a part.
 * What it makes is in the call's arena.
 */
tsr_status typed_meet(const eager *e, const tsr_type **types, size_t num_types,
                      const axis_names *axes, const tsr_mesh **mesh);

/*
 * The communicator along axes of the scope's mesh. Those of single axes are made when the scope is
 * opened, which is collective over the world; of several together when they are first asked for,
 * which is so too.
 */
tsr_status typed_comm(eager *e, const axis_names *axes, tsr_comm **out);

/* Refuses a collective along an axis along which a number that steers varies. */
tsr_status typed_check_steered(const eager *e, const char *call, const axis_names *axes);

/* Gives up what was started and never waited for; the runtime says so. */
void started_clear(eager *e);

/* Refuses values that were started in a scope which closes and that were not waited for. */
tsr_status started_end_scope(eager *e, const spmd_scope *scope);

/* Refuses to write over a tensor (`what` it is of the call) that a started collective reads. */
tsr_status started_check_free(const eager *e, const char *call, const char *what,
                              const tsr_tensor *tensor);

/* Closes all scopes and forgets all types. */
void typed_clear(eager *e);

#endif

/* The representation of a distributed tensor. */
#ifndef RT_TENSOR_H
#define RT_TENSOR_H

#include <tessera/tensor.h>

#include "rt/comm.h"
#include "rt/layout.h"

struct tsr_tensor {
    tsr_comm *world;
    tsr_tensor *next; /* of the world's, which frees those that are left when it closes */
    tsr_tensor *previous;
    int64_t references;
    tensor_layout *layout;
    char *data;
    size_t bytes; /* owned; 0 when the memory is the caller's */
    /* Copies of fields of the layout. */
    const tsr_geometry *geometry;
    tsr_dtype dtype;
    const int64_t *local_shape;
    const int64_t *strides;
    bool row_major;
    /*
     * The same pending sum in f32, of which the elements are roundings: ops leave it on results of
     * f16 and bf16, and what settles the sum folds it instead. The same layout but for the type;
     * this tensor's reference. The layout of this tensor says so (layout.h). NULL for none.
     */
    tsr_tensor *sums;
    const void *typed; /* its type, of the layer above; NULL for none */
    uint64_t note;     /* a number of the layer above; 0 for none */
    uint64_t made_by;  /* the call that made it, and which of its results it is; 0: not known */
    void (*on_release)(void *state); /* frees the memory, instead of the segment; or NULL */
    void *release_state;
};

/* Gives a tensor without elements another layout, of which it takes a reference. */
void tensor_set_layout(tsr_tensor *t, tensor_layout *layout);

/* Whether other ranks can reach the data, and know its strides. */
bool tensor_is_shared(const tsr_tensor *tensor);

/* The guard of what moves elements: an abstract tensor has none. */
tsr_status tensor_check_elements(const tsr_tensor *t);

/*
 * Refuses what a layer above has typed as different on each rank: a call about the whole tensor
 * would take one rank's array for all. Every such call that is given a tensor starts here.
 */
tsr_status tensor_check_whole(const char *call, const tsr_tensor *tensor);

/*
 * Frees what describes tensors that the program has not released, when their world closes; memory
 * that is the program's stays.
 */
void tensors_free_left(tsr_comm *world);

/* How many elements this rank stores, pad rows included. */
int64_t tensor_elements(const tsr_tensor *tensor);

/* The addresses of its first byte and after its last; the same when it has none. */
void tensor_span(const tsr_tensor *tensor, uintptr_t *low, uintptr_t *high);

/* Row-major strides, in bytes, of what a device stores under a geometry; returns the bytes. */
int64_t stored_strides(const tsr_geometry *geometry, int64_t device, tsr_dtype dtype,
                       int64_t *strides);

/* Refuses a spec whose mesh is not that of the world, or with too many dimensions. */
tsr_status tensor_check_spec(tsr_comm *world, const tsr_tensor_spec *spec);

/*
 * A collective call about a tensor: what the ranks must agree on, and its text where they do not.
 */
typedef struct spec_call {
    tsr_context *ctx;
    const char *name;
    tsr_tensor_spec spec;
    int64_t root;      /* -1 for none */
    uint64_t elements; /* a hash of elements that are the same on all ranks; 0: not compared */
} spec_call;

/*
 * The hash of an array that every rank has: of a few bytes always, of more in checked mode; else,
 * and in typed code, 0.
 */
uint64_t hash_elements(const tsr_comm *world, const void *elements, size_t bytes);

/* The record of the call; a rank that refuses has no spec that could be looked at. */
comm_call spec_call_record(const spec_call *call, tsr_status status);

/*
 * Adds the call that has made a tensor to the history of its world; not for a tensor that other
 * ranks do not make.
 */
void tensor_note_call(tsr_tensor *t, const comm_call *what);

/* What tensors know of the call that made them: its number and which of its results they are. */
enum { MADE_BY_RESULTS = 64 };
static inline uint64_t made_by_call(uint64_t number, size_t result)
{
    return number * MADE_BY_RESULTS + result;
}

/* `f32[4,8] as [{"x"}, {}]`, truncated. */
void describe_tensor(tsr_context *ctx, const tsr_tensor_spec *spec, char *text, size_t size);

/*
 * A tensor of a layout, without sums, over memory of the caller's, or of its own with `data` NULL;
 * only this rank makes it. Padding rows are zero, the rest is not set.
 */
tsr_status tensor_of_layout(tsr_comm *world, tensor_layout *layout, void *data, tsr_tensor **out);

/* A tensor that only this rank makes: the others do so at the same point of the program. */
tsr_status tensor_make(tsr_comm *world, const tsr_tensor_spec *spec, void *data,
                       const int64_t *strides, tsr_tensor **out);

/*
 * tsr_redistribute_into as part of a call, but that only one rank's part of the destination is
 * written; -1 for all.
 */
tsr_status redistribute_to(const char *call, tsr_tensor *dst, tsr_tensor *src, int64_t only);

/* tsr_redistribute to a layout of the same shape and type, as part of a call. */
tsr_status redistribute_to_layout(const char *call, tsr_tensor *tensor, tensor_layout *layout,
                                  tsr_tensor **out);

/*
 * Tells the layer above (world_state.moved) of a redistribution that ran, or would run where no
 * tensor has elements. Without a source all ranks have received the number that rank `only` has.
 */
tsr_status redistribution_ran(const char *call, const tsr_tensor *dst, const tsr_tensor *src,
                              const tsr_plan *plan, int64_t only);

/*
 * Leaves the sums of a tensor's elements with it, whose layout becomes `pending`, that of
 * layout_get_pending; takes over a reference to both. Or takes them away.
 */
void tensor_keep_sums(tsr_tensor *tensor, tsr_tensor *sums, tensor_layout *pending);
void tensor_drop_sums(tsr_tensor *tensor);

/* Rounds a tensor's part to the element type of another of the same layout. */
void tensor_round(const tsr_tensor *to, const tsr_tensor *from);

/* The strides, in bytes, of a full array. */
void full_strides(const tsr_geometry *geometry, tsr_dtype dtype, bool column_major,
                  int64_t *strides);

/* Copies a rank's part out of a full array with those strides; returns its bytes. */
int64_t copy_part(const tsr_tensor *t, int64_t rank, const void *full, const int64_t *strides,
                  char *part);

#endif

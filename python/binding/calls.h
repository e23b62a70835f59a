/*
 * What the Python package calls besides the public headers: worlds whose ranks one thread drives,
 * and arrays, which are a tensor of each of those ranks.
 *
 * A call of the library is made on every rank of a world at once, without Python. Nothing is
 * computed here.
 */
#ifndef TESSERA_PYTHON_CALLS_H
#define TESSERA_PYTHON_CALLS_H

#include <tessera/tessera.h>

typedef struct tp_world tp_world;
typedef struct tp_array tp_array;
typedef struct tp_borrowed tp_borrowed;

/* ---- worlds ---- */

/*
 * Opens a world. *out is set whenever there is memory for it, so that tp_context has the messages
 * of a failure; tp_world_free frees it in any case.
 */
tsr_status tp_open(const tsr_launch_spec *spec, tp_world **out);
tsr_status tp_open_abstract(int64_t num_ranks, int64_t rank, tp_world **out);
/* Over an MPI_Comm, given by its address. */
tsr_status tp_open_mpi(const void *mpi_comm, const tsr_launch_spec *spec, tp_world **out);
/* One rank of a world, for the thread that runs it: only that thread may make calls on it. */
tsr_status tp_open_rank(tp_world *parent, int64_t index, tp_world **out);

/*
 * Closes a world: its arrays can no longer be used. Memory that others see (tp_export) stays until
 * they have given it back. Closing again does nothing.
 */
tsr_status tp_close(tp_world *world);
void tp_world_free(tp_world *world);

/* Runs a function of Python on every rank: the callback tp_python_rank. */
void tp_launch(tp_world *world, void *state);
/* Ends what is in progress as soon as possible; the world can then only be closed. */
void tp_stop(tp_world *world);

/* The ranks of the world, those of this process, and the number of the first of these. */
int64_t tp_size(const tp_world *world);
int64_t tp_num_local(const tp_world *world);
int64_t tp_first_rank(const tp_world *world);
tsr_comm *tp_comm(const tp_world *world, int64_t index);
tsr_context *tp_context(const tp_world *world);
bool tp_is_closed(const tp_world *world);

/* ---- arrays ---- */

tsr_tensor *tp_part(const tp_array *array, int64_t index);
/* Gives up an array, from any thread: it is released when its world is free. NULL is fine. */
void tp_drop(tp_array *array);
/* Keeps the memory of an array while something outside sees it, and gives that up. */
bool tp_export(tp_array *array);
void tp_unexport(tp_array *array);
/* A part as a DLManagedTensor that keeps the memory, for a capsule; and the end of such a one. */
tsr_status tp_to_dlpack(tp_array *array, int64_t index, void **managed);
void tp_dlpack_delete(void *managed);
/*
 * Takes over a DLManagedTensor of others, for TP_FROM_DLPACK; NULL without memory. It ends, with
 * the GIL, when it was given up here and no array is over it. NULL is fine.
 */
tp_borrowed *tp_borrow(void *managed);
void tp_borrowed_release(tp_borrowed *borrowed);

/* ---- calls ---- */

/* How a function of the library is called: what stands between its operands and its results. */
typedef enum tp_kind {
    TP_TENSORS,        /* (a ..): one to three of them */
    TP_EFFECT,         /* (a ..), without a result */
    TP_INTEGER,        /* (a .., i), an int: a comparison, an element type, a kind of type */
    TP_DIM,            /* (a .., i), a size_t */
    TP_DIMS,           /* (x, sizes, count) */
    TP_DIMS_AS,        /* (x, sizes, count, i): i an element type */
    TP_DIM_AS,         /* (x, i, j): j an element type */
    TP_SHAPE,          /* (x, a, count) */
    TP_PERMUTATION,    /* (x, sizes) */
    TP_NUMBER,         /* (a .., number) */
    TP_SLICE,          /* (x, a, b, c) */
    TP_LIST,           /* (tensors, count, i) */
    TP_EINSUM,         /* (text, tensors, count) */
    TP_SPLIT,          /* (x, i, a, count), `count` results */
    TP_PAD,            /* (x, number, a, b, c) */
    TP_SCATTER,        /* (x, indices, updates, i, j) */
    TP_ONE_HOT,        /* (x, i, j) */
    TP_SORT,           /* (x, i, j), two results: j a truth value */
    TP_TOP_K,          /* (x, i, j), two results: j an int64_t */
    TP_LABEL,          /* (logits, labels, i) */
    TP_LAYOUT,         /* (x, sharding) */
    TP_MAKE,           /* (world, spec) */
    TP_MAKE_NUMBER,    /* (world, spec, number) */
    TP_MAKE_DIM,       /* (world, spec, i) */
    TP_MAKE_RANDOM,    /* (world, spec, {i, j}) */
    TP_FROM_FULL,      /* (world, spec, i, memory) */
    TP_TO_FULL,        /* (x, text, j, i, memory), without a result */
    TP_FROM_PARTS,     /* (world, spec, views[rank]) */
    TP_FROM_DLPACK,    /* (world, spec, borrowed[rank]) */
    TP_LOAD,           /* (world, sharding, text) */
    TP_SAVE,           /* (x, text), without a result */
    TP_WORLD,          /* (world), without a result */
    TP_WORLD_VOID,     /* the same, and no status */
    TP_WORLD_INTEGER,  /* (world, i), without a result */
    TP_TOPOLOGY,       /* (world, topology or NULL), without a result */
    TP_SGD,            /* (parameter, gradient, options, velocity), without a result */
    TP_ADAM,           /* (parameter, gradient, options, i, mean, square), without a result */
    TP_TEXT,           /* (a .., text) */
    TP_START_TEXT,     /* (table, indices, a[rank], text) */
    TP_DIM_START_TEXT, /* (x, indices, i, a[rank], text): i a dimension */
    TP_SCATTER_TEXT,   /* (x, indices, updates, i, j, text) */
    TP_TEXTS,          /* (x, text, text2) */
    TP_DIMS_TEXT,      /* (x, sizes, count, text) */
    TP_EINSUM_TEXT,    /* (text, tensors, count, text2) */
    TP_TYPED_VALUE,    /* (world, views[rank], text) */
    TP_LOCAL_MAP,      /* (world, text, tensors, texts): as a region sees them, as many results */
    TP_COLLECTIVE,     /* (x, text, src, dst, options) */
    TP_IN_PLACE,       /* (x, text, src, dst), without a result */
    TP_START,          /* (x, text, {i, src, dst}, options, numbers[rank]), without a result */
    TP_WAIT,           /* (world, numbers[rank]) */
    TP_SCOPE,          /* (world, scope), without a result */
    TP_TO_PLACEMENT,   /* (x, placement, record), placement may be NULL */
    TP_OF_PLACEMENT,   /* (x, i, record) */
    TP_TO_DYNAMIC,     /* (x, i, placement, record), placement may be NULL */
    TP_REALIGN,        /* (x, i, a, count, j, record) */
    TP_RAGGED,         /* (world, placement, i, count, a, j, memory): from rank j's full array */
    TP_BIND,           /* (arenas[rank], sharding, a[rank][count], i, bound[rank]), no result */
    TP_SYMBOL,         /* (world, text, i, a, count), without a result: text may be NULL */
    TP_EXCHANGE,       /* (sharding, a[rank][count], i shards, b, j owners, numbers[rank]) */
    TP_BACKWARD,       /* (record, x) */
    TP_RECORD          /* (from, to, record), without a result: the tape gets the record */
} tp_kind;

/* The arguments of a call; each kind uses some. */
typedef struct tp_arguments {
    int64_t i;
    int64_t j;
    double number;
    const char *text;
    const char *text2;
    const char *const *texts; /* one for each operand, or NULL */
    size_t count;
    const size_t *sizes;
    const int64_t *a;
    const int64_t *b;
    const int64_t *c;
    const tsr_sharding *sharding;
    const tsr_topology *topology;
    const tsr_tensor_spec *spec;
    void *memory;
    const tsr_view *views;  /* one for each local rank */
    tp_borrowed **borrowed; /* likewise */
    tsr_end src;
    tsr_end dst;
    const tsr_collective_options *options;
    const tsr_spmd_scope *scope;
    const tsr_placement *placement;
    tsr_arena *const *arenas;   /* one for each local rank */
    const tsr_sharding **bound; /* likewise */
    int64_t *numbers;           /* what ranks write */
    const tsr_sgd_options *sgd;
    const tsr_adam_options *adam;
    bool record; /* of a conversion: the last result is its record */
} tp_arguments;

typedef void (*tp_function)(void);

/*
 * Calls a function on every rank and waits for all; the results are the caller's, and untouched
 * when it fails. Python's handlers of signals run while it waits: when one of them raises an
 * exception, the world is stopped.
 */
tsr_status tp_call(tp_world *world, tp_kind kind, tp_function function, tp_array *const *operands,
                   size_t num_operands, const tp_arguments *arguments, size_t num_results,
                   tp_array **results);
/* The same for the commonest kinds: the result, NULL when the call failed. */
tp_array *tp_unary(tp_world *world, tp_function function, tp_array *x);
tp_array *tp_binary(tp_world *world, tp_function function, tp_array *a, tp_array *b);
/* How the last call of this thread went. */
tsr_status tp_status(void);
/* Why a call was refused before it reached the library; NULL when it was not. Static. */
const char *tp_refusal(void);
/* Whether an exception of a handler ended it. */
bool tp_interrupted(void);
/* The messages of a failure; this thread's, until tp_end frees them or another call fails. */
const tsr_diagnostic *tp_messages(void);
void tp_end(void);

#endif

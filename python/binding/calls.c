/* Calls of the library on every rank of a world. */
#include <Python.h>

#include "handles.h"

#include <stdlib.h>
#include <string.h>

/* A wait is cut into slices of this many seconds: between them Python looks at signals. */
#define SLICE 0.05

/* The operands of one rank as a list, which has room for all; NULL for those that are left out. */
static void operands_of(const call *c, int64_t rank, tsr_tensor **list)
{
    for (size_t i = 0; i < c->num_operands; i++) {
        list[i] = c->operands[i] != NULL ? c->operands[i]->parts[rank] : NULL;
    }
}

#define CALL(...) ((tsr_status(*)(__VA_ARGS__))c->function)

/* Functions of tensors alone. */
static tsr_status run_tensors(const call *c, tsr_tensor *const *x, tsr_tensor **out)
{
    switch (c->num_operands) {
    case 1:
        return CALL(tsr_tensor *, tsr_tensor **)(x[0], out);
    case 2:
        return CALL(tsr_tensor *, tsr_tensor *, tsr_tensor **)(x[0], x[1], out);
    case 3:
        return CALL(tsr_tensor *, tsr_tensor *, tsr_tensor *, tsr_tensor **)(x[0], x[1], x[2], out);
    default:
        return TSR_ERR_INVALID;
    }
}

/* Functions of tensors and one thing more. */
static tsr_status run_with_one(const call *c, tsr_tensor *const *x, tsr_tensor **out)
{
    const tp_arguments *a = c->arguments;
    switch (c->kind) {
    case TP_INTEGER:
        return c->num_operands == 1 ? CALL(tsr_tensor *, int, tsr_tensor **)(x[0], (int)a->i, out)
                                    : CALL(tsr_tensor *, tsr_tensor *, int,
                                           tsr_tensor **)(x[0], x[1], (int)a->i, out);
    case TP_DIM:
        return c->num_operands == 1
                   ? CALL(tsr_tensor *, size_t, tsr_tensor **)(x[0], (size_t)a->i, out)
                   : CALL(tsr_tensor *, tsr_tensor *, size_t, tsr_tensor **)(x[0], x[1],
                                                                             (size_t)a->i, out);
    case TP_NUMBER:
        if (c->num_operands == 1) {
            return CALL(tsr_tensor *, double, tsr_tensor **)(x[0], a->number, out);
        }
        if (c->num_operands == 2) {
            return CALL(tsr_tensor *, tsr_tensor *, double, tsr_tensor **)(x[0], x[1], a->number,
                                                                           out);
        }
        return CALL(tsr_tensor *, tsr_tensor *, tsr_tensor *, double,
                    tsr_tensor **)(x[0], x[1], x[2], a->number, out);
    case TP_TEXT:
        if (c->num_operands == 1) {
            return CALL(tsr_tensor *, const char *, tsr_tensor **)(x[0], a->text, out);
        }
        if (c->num_operands == 2) {
            return CALL(tsr_tensor *, tsr_tensor *, const char *, tsr_tensor **)(x[0], x[1],
                                                                                 a->text, out);
        }
        return CALL(tsr_tensor *, tsr_tensor *, tsr_tensor *, const char *,
                    tsr_tensor **)(x[0], x[1], x[2], a->text, out);
    case TP_LABEL:
        return CALL(tsr_tensor *, tsr_tensor *, int64_t, tsr_tensor **)(x[0], x[1], a->i, out);
    case TP_LAYOUT:
        return CALL(tsr_tensor *, const tsr_sharding *, tsr_tensor **)(x[0], a->sharding, out);
    default:
        return TSR_ERR_INVALID;
    }
}

/* Functions of one tensor, or several, and lists of numbers. */
static tsr_status run_with_lists(const call *c, tsr_tensor *const *x, tsr_tensor **out)
{
    const tp_arguments *a = c->arguments;
    switch (c->kind) {
    case TP_DIMS:
        return CALL(tsr_tensor *, const size_t *, size_t, tsr_tensor **)(x[0], a->sizes, a->count,
                                                                         out);
    case TP_DIMS_AS:
        return CALL(tsr_tensor *, const size_t *, size_t, int,
                    tsr_tensor **)(x[0], a->sizes, a->count, (int)a->i, out);
    case TP_DIM_AS:
        return CALL(tsr_tensor *, size_t, int, tsr_tensor **)(x[0], (size_t)a->i, (int)a->j, out);
    case TP_DIMS_TEXT:
        return CALL(tsr_tensor *, const size_t *, size_t, const char *,
                    tsr_tensor **)(x[0], a->sizes, a->count, a->text, out);
    case TP_SHAPE:
        return CALL(tsr_tensor *, const int64_t *, size_t, tsr_tensor **)(x[0], a->a, a->count,
                                                                          out);
    case TP_PERMUTATION:
        return CALL(tsr_tensor *, const size_t *, tsr_tensor **)(x[0], a->sizes, out);
    case TP_SLICE:
        return CALL(tsr_tensor *, const int64_t *, const int64_t *, const int64_t *,
                    tsr_tensor **)(x[0], a->a, a->b, a->c, out);
    case TP_PAD:
        return CALL(tsr_tensor *, double, const int64_t *, const int64_t *, const int64_t *,
                    tsr_tensor **)(x[0], a->number, a->a, a->b, a->c, out);
    case TP_LIST:
        return CALL(tsr_tensor *const *, size_t, size_t, tsr_tensor **)(x, c->num_operands,
                                                                        (size_t)a->i, out);
    case TP_EINSUM:
        return CALL(const char *, tsr_tensor *const *, size_t, tsr_tensor **)(a->text, x,
                                                                              c->num_operands, out);
    case TP_EINSUM_TEXT:
        return CALL(const char *, tsr_tensor *const *, size_t, const char *,
                    tsr_tensor **)(a->text, x, c->num_operands, a->text2, out);
    case TP_SCATTER:
        return CALL(tsr_tensor *, tsr_tensor *, tsr_tensor *, size_t, int,
                    tsr_tensor **)(x[0], x[1], x[2], (size_t)a->i, (int)a->j, out);
    case TP_SCATTER_TEXT:
        return CALL(tsr_tensor *, tsr_tensor *, tsr_tensor *, size_t, int, const char *,
                    tsr_tensor **)(x[0], x[1], x[2], (size_t)a->i, (int)a->j, a->text, out);
    case TP_ONE_HOT:
        return CALL(tsr_tensor *, int64_t, int, tsr_tensor **)(x[0], a->i, (int)a->j, out);
    case TP_TEXTS:
        return CALL(tsr_tensor *, const char *, const char *, tsr_tensor **)(x[0], a->text,
                                                                             a->text2, out);
    case TP_COLLECTIVE:
        return CALL(tsr_tensor *, const char *, tsr_end, tsr_end, const tsr_collective_options *,
                    tsr_tensor **)(x[0], a->text, a->src, a->dst, a->options, out);
    default:
        return TSR_ERR_INVALID;
    }
}

/* Tensors out of something else. */
static tsr_status run_make(const call *c, tsr_comm *world, int64_t rank, tsr_tensor **out)
{
    const tp_arguments *a = c->arguments;
    const tsr_random_key key = {(uint64_t)a->i, (uint64_t)a->j};
    switch (c->kind) {
    case TP_MAKE:
        return CALL(tsr_comm *, const tsr_tensor_spec *, tsr_tensor **)(world, a->spec, out);
    case TP_MAKE_NUMBER:
        return CALL(tsr_comm *, const tsr_tensor_spec *, double, tsr_tensor **)(world, a->spec,
                                                                                a->number, out);
    case TP_MAKE_DIM:
        return CALL(tsr_comm *, const tsr_tensor_spec *, size_t, tsr_tensor **)(world, a->spec,
                                                                                (size_t)a->i, out);
    case TP_MAKE_RANDOM:
        return CALL(tsr_comm *, const tsr_tensor_spec *, tsr_random_key,
                    tsr_tensor **)(world, a->spec, key, out);
    case TP_FROM_FULL:
        return tsr_tensor_from_full(world, a->spec, a->i, a->memory, out);
    case TP_FROM_PARTS:
        return tsr_from_local(world, a->spec, &a->views[rank], out);
    case TP_FROM_DLPACK:
        return array_over_borrowed(world, a->spec, a->borrowed[rank], out);
    case TP_LOAD:
        return tsr_tensor_load_npy(world, a->sharding, a->text, out);
    case TP_TYPED_VALUE:
        return tsr_typed_value(world, &a->views[rank], a->text, out);
    case TP_WAIT:
        return tsr_wait_value(world, (tsr_started){(uint64_t)a->numbers[rank]}, out);
    case TP_RAGGED: /* a rank has the array, or with source -1 each */
        return tsr_dynamic_shard(world, a->placement, (tsr_dtype)a->i, a->count, a->a, a->j,
                                 a->j < 0 || a->j == tsr_comm_rank(world) ? a->memory : NULL, out);
    default:
        return TSR_ERR_INVALID;
    }
}

/* What a rank says of its own shard: `count` numbers. */
static tsr_amounts own_amounts(const tp_arguments *a, int64_t rank)
{
    return (tsr_amounts){
        .kind = TSR_AMOUNTS_OWN, .values = a->a + rank * (int64_t)a->count, .count = a->count};
}

/* Binds a placement by the numbers of each rank's own shard. */
static tsr_status bind_own(const tp_arguments *a, tsr_comm *world, int64_t rank)
{
    const tsr_amounts own = own_amounts(a, rank);
    const tsr_placement to = {a->sharding, &own};
    return tsr_placement_bind(world, a->arenas[rank], &to, a->i, &a->bound[rank], NULL);
}

/*
 * The all-to-all of counts: of `rows`, each shard's own, to the columns of the partitions that it
 * owns. Those of a rank begin with their number; there is room for all partitions.
 */
static tsr_status exchange_counts(const tp_arguments *a, tsr_comm *world, int64_t rank)
{
    const int64_t shards = a->i;
    int64_t *out = a->numbers + rank * (1 + shards * (int64_t)a->count);
    tsr_partitioned *made = NULL;
    const tsr_partitioned_spec spec = {.sharding = a->sharding,
                                       .num_partitions = (int64_t)a->count,
                                       .splits = own_amounts(a, rank),
                                       .owner_start = a->b,
                                       .num_owners = (size_t)a->j,
                                       .counts_scope = TSR_COUNTS_SLICE};
    const tsr_status status = tsr_partitioned_create(world, &spec, &made);
    if (status >= 0) {
        const int64_t *columns = tsr_partitioned_columns(made, out);
        memcpy(out + 1, columns, (size_t)(shards * *out) * sizeof *out);
        tsr_partitioned_release(made);
    }
    return status;
}

/* Starts a collective; its number goes to those of the ranks. */
static tsr_status start_collective(const tp_arguments *a, int64_t rank, tsr_tensor *x)
{
    const tsr_transition what = {.op = (tsr_transition_op)a->i, .src = a->src, .dst = a->dst};
    tsr_started started = {0};
    const tsr_status status = tsr_start_collective(x, a->text, &what, a->options, &started);
    a->numbers[rank] = (int64_t)started.id;
    return status;
}

/* What has no tensor as its result. */
static tsr_status run_effect(const call *c, tsr_comm *world, int64_t rank, tsr_tensor *const *x)
{
    const tp_arguments *a = c->arguments;
    switch (c->kind) {
    case TP_EFFECT:
        return c->num_operands == 1 ? CALL(tsr_tensor *)(x[0])
                                    : CALL(tsr_tensor *, tsr_tensor *)(x[0], x[1]);
    case TP_TO_FULL: /* to one of the ranks that share this memory, or to the only one */
        return tsr_take_full(x[0], &(tsr_full_request){a->text, a->j != 0}, a->i,
                             a->i < 0 || a->i == rank ? a->memory : NULL);
    case TP_SAVE:
        return tsr_tensor_save_npy(x[0], a->text);
    case TP_WORLD:
        return CALL(tsr_comm *)(world);
    case TP_WORLD_VOID:
        ((void (*)(tsr_comm *))c->function)(world);
        return TSR_OK;
    case TP_WORLD_INTEGER:
        return a->j != 0 ? CALL(tsr_comm *, bool)(world, a->i != 0)
                         : CALL(tsr_comm *, int)(world, (int)a->i);
    case TP_TOPOLOGY:
        return tsr_comm_set_topology(world, a->topology);
    case TP_SGD:
        return tsr_sgd_step(x[0], x[1], a->sgd, x[2]);
    case TP_ADAM:
        return tsr_adam_step(x[0], x[1], a->adam, a->i, x[2], x[3]);
    case TP_START:
        return start_collective(a, rank, x[0]);
    case TP_SCOPE:
        return tsr_spmd_open(world, a->scope);
    case TP_BIND:
        return bind_own(a, world, rank);
    case TP_SYMBOL:
        return tsr_symbol_bind(world, a->text, a->i, a->count, a->a);
    case TP_EXCHANGE:
        return exchange_counts(a, world, rank);
    case TP_IN_PLACE:
        return tsr_all_reduce_in_place(x[0], a->text, a->src, a->dst);
    case TP_RECORD: {
        tp_array *record = c->operands[2];
        const tsr_status status = tsr_tape_conversion(x[0], x[1], record->parts[rank]);
        record->parts[rank] = status < 0 ? record->parts[rank] : NULL; /* else the tape's */
        return status;
    }
    default:
        return TSR_ERR_INVALID;
    }
}

/* Conversions of ragged placements. */
static tsr_status run_conversion(const call *c, int64_t rank, tsr_tensor *const *x,
                                 tsr_tensor **out)
{
    const tp_arguments *a = c->arguments;
    tsr_conversion *made = NULL;
    tsr_conversion **record = a->record ? &made : NULL;
    tsr_status status = TSR_ERR_INVALID;
    switch (c->kind) {
    case TP_TO_PLACEMENT:
        status = CALL(tsr_tensor *, const tsr_placement *, tsr_conversion **,
                      tsr_tensor **)(x[0], a->placement, record, out);
        break;
    case TP_OF_PLACEMENT:
        status = CALL(tsr_tensor *, size_t, tsr_conversion **, tsr_tensor **)(x[0], (size_t)a->i,
                                                                              record, out);
        break;
    case TP_TO_DYNAMIC:
        status = tsr_partitioned_to_dynamic(x[0], (size_t)a->i, a->placement, record, out);
        break;
    case TP_REALIGN:
        status = tsr_partitioned_realign(x[0], (size_t)a->i, a->a, a->count, a->j, record, out);
        break;
    case TP_BACKWARD:
        return tsr_conversion_backward(c->operands[0]->parts[rank], x[1], out);
    default:
        break;
    }
    if (status >= 0 && record != NULL) {
        c->results[c->num_results - 1]->parts[rank] = made;
    }
    return status;
}

/* Rows of a table that is cut: each rank's begin somewhere else. */
static tsr_status run_cut_table(const call *c, int64_t rank, tsr_tensor *const *x, tsr_tensor **out)
{
    const tp_arguments *a = c->arguments;
    return c->kind == TP_START_TEXT
               ? CALL(tsr_tensor *, tsr_tensor *, int64_t, const char *,
                      tsr_tensor **)(x[0], x[1], a->a[rank], a->text, out)
               : CALL(tsr_tensor *, tsr_tensor *, size_t, int64_t, const char *,
                      tsr_tensor **)(x[0], x[1], (size_t)a->i, a->a[rank], a->text, out);
}

/* The region of a local map whose body is Python's: its inputs are what the region sees. */
static tsr_status pass_inputs(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                              void *state)
{
    const size_t *count = state;
    (void)world;
    memcpy((void *)outputs, (const void *)inputs, *count * sizeof *outputs);
    return TSR_OK;
}

static tsr_status run_local_map(const call *c, tsr_comm *world, tsr_tensor *const *x,
                                tsr_tensor **out)
{
    size_t count = c->num_operands;
    const char *own_types[MAX_ARRAYS] = {NULL};
    const tsr_local_region region = {.region = pass_inputs,
                                     .state = &count,
                                     .inputs = x,
                                     .input_types = c->arguments->texts,
                                     .num_inputs = count,
                                     .output_types = own_types,
                                     .num_outputs = count};
    tsr_status status = tsr_scope_open(world);
    if (status < 0) {
        return status;
    }
    status = tsr_local_map(world, c->arguments->text, &region, out);
    for (size_t i = 0; status >= 0 && i < count; i++) {
        (void)tsr_tensor_retain(out[i]);
    }
    tsr_scope_close(world);
    return status;
}

/* What has several results. */
static tsr_status run_several(const call *c, tsr_tensor *const *x, tsr_tensor **out)
{
    const tp_arguments *a = c->arguments;
    switch (c->kind) {
    case TP_SPLIT:
        return tsr_split(x[0], (size_t)a->i, a->a, a->count, out);
    case TP_SORT:
        return tsr_sort(x[0], (size_t)a->i, a->j != 0, &out[0], &out[1]);
    case TP_TOP_K:
        return tsr_top_k(x[0], (size_t)a->i, a->j, &out[0], &out[1]);
    default:
        return TSR_ERR_INVALID;
    }
}

static tsr_status run_kind(const call *c, tsr_comm *comm, int64_t rank, tsr_tensor *const *x,
                           tsr_tensor **out)
{
    switch (c->kind) {
    case TP_TENSORS:
        return run_tensors(c, x, out);
    case TP_INTEGER:
    case TP_DIM:
    case TP_NUMBER:
    case TP_TEXT:
    case TP_LABEL:
    case TP_LAYOUT:
        return run_with_one(c, x, out);
    case TP_DIMS:
    case TP_DIMS_AS:
    case TP_DIM_AS:
    case TP_DIMS_TEXT:
    case TP_SHAPE:
    case TP_PERMUTATION:
    case TP_SLICE:
    case TP_PAD:
    case TP_LIST:
    case TP_EINSUM:
    case TP_EINSUM_TEXT:
    case TP_SCATTER:
    case TP_SCATTER_TEXT:
    case TP_ONE_HOT:
    case TP_TEXTS:
    case TP_COLLECTIVE:
        return run_with_lists(c, x, out);
    case TP_START_TEXT:
    case TP_DIM_START_TEXT:
        return run_cut_table(c, rank, x, out);
    case TP_SPLIT:
    case TP_SORT:
    case TP_TOP_K:
        return run_several(c, x, out);
    case TP_LOCAL_MAP:
        return run_local_map(c, comm, x, out);
    case TP_MAKE:
    case TP_MAKE_NUMBER:
    case TP_MAKE_DIM:
    case TP_MAKE_RANDOM:
    case TP_FROM_FULL:
    case TP_FROM_PARTS:
    case TP_FROM_DLPACK:
    case TP_LOAD:
    case TP_TYPED_VALUE:
    case TP_WAIT:
    case TP_RAGGED:
        return run_make(c, comm, rank, out);
    case TP_EFFECT:
    case TP_TO_FULL:
    case TP_SAVE:
    case TP_WORLD:
    case TP_WORLD_VOID:
    case TP_WORLD_INTEGER:
    case TP_TOPOLOGY:
    case TP_SGD:
    case TP_ADAM:
    case TP_START:
    case TP_SCOPE:
    case TP_IN_PLACE:
    case TP_RECORD:
    case TP_BIND:
    case TP_SYMBOL:
    case TP_EXCHANGE:
        return run_effect(c, comm, rank, x);
    case TP_TO_PLACEMENT:
    case TP_OF_PLACEMENT:
    case TP_TO_DYNAMIC:
    case TP_REALIGN:
    case TP_BACKWARD:
        return run_conversion(c, rank, x, out);
    }
    return TSR_ERR_INVALID;
}

/* A call on one rank. */
static tsr_status run_rank(tsr_comm *comm, void *state)
{
    const tp_world *w = state;
    const call *c = &w->call;
    const int64_t rank = w->num_local == 1 ? 0 : tsr_comm_rank(comm);
    tsr_tensor *x[MAX_ARRAYS];
    tsr_tensor *out[MAX_ARRAYS];
    operands_of(c, rank, x);
    const tsr_status status = run_kind(c, comm, rank, x, out);
    for (size_t i = 0; i < c->num_results && status >= 0; i++) {
        if (!c->results[i]->records) {
            c->results[i]->parts[rank] = out[i];
        }
    }
    return status;
}

/* A function of Python on one rank. */
static tsr_status run_python(tsr_comm *comm, void *state)
{
    tp_world *world = state;
    const int64_t index = world->num_local == 1 ? 0 : tsr_comm_rank(comm);
    return tp_python_rank(world, index, world->launched);
}

/* ---- beginning and ending a call ---- */

/* How the last call of a thread went. */
static _Thread_local struct {
    tsr_status status;
    const char *refusal;
    tsr_diagnostic *messages; /* of a failure, a copy */
    bool interrupted;
} last;

static tsr_status refuse(const char *why)
{
    last.refusal = why;
    last.interrupted = false;
    return last.status = TSR_ERR_INVALID;
}

/* Whether the operands belong to the world; NULL, or why not. */
static const char *operands_refusal(const tp_world *world, tp_array *const *operands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (operands[i] != NULL && operands[i]->world != world) {
            return "the arrays belong to different worlds; bring one over by NumPy: "
                   "world.array(numpy.asarray(x), layout)";
        }
        if (operands[i] != NULL && operands[i]->released) {
            return "the array's world was closed, or its rank's function has ended";
        }
    }
    return NULL;
}

static void free_messages(tsr_diagnostic *first)
{
    while (first != NULL) {
        tsr_diagnostic *next = (tsr_diagnostic *)(uintptr_t)first->next;
        free_messages((tsr_diagnostic *)(uintptr_t)first->notes);
        free((void *)(uintptr_t)first->text);
        free((void *)(uintptr_t)first->file);
        free((void *)(uintptr_t)first->source_line);
        free(first);
        first = next;
    }
}

static const char *copy_text(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

/* A copy of messages, as far as there is memory. */
static tsr_diagnostic *copy_messages(const tsr_diagnostic *first)
{
    tsr_diagnostic *copies = NULL;
    tsr_diagnostic *before = NULL;
    for (; first != NULL; first = first->next) {
        tsr_diagnostic *copy = malloc(sizeof *copy);
        if (copy == NULL) {
            break;
        }
        *copy = *first;
        copy->text = copy_text(first->text);
        copy->file = copy_text(first->file);
        copy->source_line = copy_text(first->source_line);
        copy->notes = copy_messages(first->notes);
        copy->next = NULL;
        if (before != NULL) {
            before->next = copy;
        } else {
            copies = copy;
        }
        before = copy;
    }
    return copies;
}

/*
 * The end of a call: its results, or nothing of them. The messages of a failure are copied for this
 * thread: other threads may use the world at once.
 */
static tsr_status finish(tp_world *world, tsr_status status, tp_array **results)
{
    call *c = &world->call;
    last.status = status;
    last.refusal = NULL;
    if (status < 0) {
        tp_end();
        last.messages = copy_messages(tsr_context_diagnostics(tp_context(world)));
        tsr_context_clear(tp_context(world));
        for (size_t i = 0; i < c->num_results; i++) {
            tp_drop(c->results[i]); /* what some ranks have made */
        }
    } else if (c->num_results > 0) {
        memcpy(results, c->results, c->num_results * sizeof c->results[0]);
    }
    const int64_t count = world->dropped != NULL ? release_dropped(world) : 0;
    (void)pthread_mutex_unlock(&world->lock);
    world_release(world, count);
    return status;
}

/*
 * Lets Python run the handlers of signals that came; false when one of them raised an exception,
 * which Python then finds as sys._tessera_interrupt.
 */
static bool look_at_signals(void)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    const bool fine = PyErr_CheckSignals() == 0;
    if (!fine) {
        PyObject *type = NULL;
        PyObject *value = NULL;
        PyObject *trace = NULL;
        PyErr_Fetch(&type, &value, &trace);
        PyErr_NormalizeException(&type, &value, &trace);
        (void)PySys_SetObject("_tessera_interrupt", value);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    }
    PyGILState_Release(state);
    return fine;
}

/* Runs a function on all ranks. An interrupt stops the world; its ranks are waited for. */
static tsr_status run(tp_world *world, tsr_rank_function function)
{
    last.interrupted = false;
    if (world->open == NULL) {
        return function(world->own, world);
    }
    if (world->num_local == 1) {
        return tsr_world_run(world->open, function, world);
    }
    tsr_status status = tsr_world_start(world->open, function, world);
    if (status < 0) {
        return status;
    }
    while ((status = tsr_world_wait(world->open, SLICE)) == TSR_IN_PROGRESS) {
        if (!look_at_signals()) {
            last.interrupted = true;
            tsr_world_stop(world->open);
            if (function == run_python) {
                tp_python_interrupt(world->launched);
            }
        }
    }
    return last.interrupted && status >= 0 ? TSR_ERR_PEER : status;
}

tsr_status tp_call(tp_world *world, tp_kind kind, tp_function function, tp_array *const *operands,
                   size_t num_operands, const tp_arguments *arguments, size_t num_results,
                   tp_array **results)
{
    if (num_operands > MAX_ARRAYS || num_results > MAX_ARRAYS) {
        return refuse("a call takes at most 64 arrays, and gives at most 64: make several calls");
    }
    const char *why = world_refusal(world);
    if (why != NULL) {
        return refuse(why);
    }
    (void)pthread_mutex_lock(&world->lock);
    why = world->closed ? "the world is closed; open a new one"
                        : operands_refusal(world, operands, num_operands);
    if (why != NULL) {
        (void)pthread_mutex_unlock(&world->lock);
        return refuse(why);
    }
    call *c = &world->call;
    c->kind = kind;
    c->function = function;
    memcpy(c->operands, operands, num_operands * sizeof operands[0]);
    c->num_operands = num_operands;
    c->arguments = arguments;
    c->num_results = num_results;
    for (size_t i = 0; i < num_results; i++) {
        const bool record = arguments != NULL && arguments->record && i + 1 == num_results;
        c->results[i] = array_make(world, record);
        if (c->results[i] == NULL) {
            c->num_results = i;
            return finish(world, TSR_ERR_NOMEM, NULL);
        }
    }
    return finish(world, run(world, run_rank), results);
}

tp_array *tp_unary(tp_world *world, tp_function function, tp_array *x)
{
    tp_array *made = NULL;
    (void)tp_call(world, TP_TENSORS, function, &x, 1, NULL, 1, &made);
    return made;
}

tp_array *tp_binary(tp_world *world, tp_function function, tp_array *a, tp_array *b)
{
    tp_array *operands[2] = {a, b};
    tp_array *made = NULL;
    (void)tp_call(world, TP_TENSORS, function, operands, 2, NULL, 1, &made);
    return made;
}

const tsr_diagnostic *tp_messages(void)
{
    return last.messages;
}

void tp_end(void)
{
    tsr_diagnostic *messages = last.messages;
    last.messages = NULL;
    free_messages(messages);
}

bool tp_interrupted(void)
{
    return last.interrupted;
}

tsr_status tp_status(void)
{
    return last.status;
}

const char *tp_refusal(void)
{
    return last.refusal;
}

/* ---- functions of Python ---- */

void tp_launch(tp_world *world, void *state)
{
    const char *why = world_refusal(world);
    if (why != NULL || world->open == NULL) {
        (void)refuse(why != NULL ? why : "a rank cannot launch others");
        return;
    }
    (void)pthread_mutex_lock(&world->lock);
    world->call.num_results = 0;
    world->launched = state;
    (void)finish(world, run(world, run_python), NULL);
}

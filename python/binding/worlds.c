/* Worlds and arrays of Python: how long they live, and on which threads they are released. */
#include <Python.h>

#include "handles.h"

#include <stdlib.h>

#include <dlpack/dlpack.h>

/*
 * What describes the life of worlds and arrays. Python gives up arrays on any thread, while a call
 * is in progress too; their tensors are released when the ranks are idle.
 */
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint generation;

static void count_fork(void)
{
    (void)atomic_fetch_add(&generation, 1);
    (void)pthread_mutex_init(&registry, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork);
}

/* A world of the parent of this process: its threads are not here. */
static bool is_inherited(const tp_world *w)
{
    return w->generation != atomic_load(&generation);
}

static tsr_status world_make(tp_world **out)
{
    tp_world *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return TSR_ERR_NOMEM;
    }
    const tsr_status status = tsr_context_create(NULL, &w->ctx);
    if (status < 0) {
        free(w);
        return status;
    }
    (void)pthread_mutex_init(&w->lock, NULL);
    w->generation = atomic_load(&generation);
    w->holders = 1;
    w->closed = true;
    w->torn_down = true;
    *out = w;
    return TSR_OK;
}

/* Takes a world that has been opened into use. */
static tsr_status world_begin(tp_world *w, tsr_status status)
{
    if (status == TSR_OK) {
        w->num_local = w->open != NULL ? tsr_world_num_local(w->open) : 1;
        w->size = tsr_comm_size(tp_comm(w, 0));
        w->first = tsr_comm_rank(tp_comm(w, 0));
        w->closed = false;
        w->torn_down = false;
    }
    return status;
}

tsr_status tp_open(const tsr_launch_spec *spec, tp_world **out)
{
    const tsr_status status = world_make(out);
    return status < 0 ? status
                      : world_begin(*out, tsr_world_open((*out)->ctx, spec, &(*out)->open));
}

tsr_status tp_open_abstract(int64_t num_ranks, int64_t rank, tp_world **out)
{
    const tsr_status status = world_make(out);
    return status < 0 ? status
                      : world_begin(*out, tsr_world_open_abstract((*out)->ctx, num_ranks, rank,
                                                                  &(*out)->open));
}

tsr_status tp_open_mpi(const void *mpi_comm, const tsr_launch_spec *spec, tp_world **out)
{
    tsr_status status = world_make(out);
    if (status < 0) {
        return status;
    }
    status = tsr_comm_open_mpi((*out)->ctx, mpi_comm, spec, &(*out)->joined);
    (*out)->own = (*out)->joined;
    return world_begin(*out, status);
}

tsr_status tp_open_rank(tp_world *parent, int64_t index, tp_world **out)
{
    const tsr_status status = world_make(out);
    if (status < 0) {
        return status;
    }
    tp_world *w = *out;
    w->parent = parent;
    w->own = tp_comm(parent, index);
    w->has_owner = true;
    w->owner = pthread_self();
    (void)pthread_mutex_lock(&registry);
    parent->holders++;
    (void)pthread_mutex_unlock(&registry);
    return world_begin(w, TSR_OK);
}

int64_t tp_size(const tp_world *world)
{
    return world->size;
}

int64_t tp_num_local(const tp_world *world)
{
    return world->num_local;
}

int64_t tp_first_rank(const tp_world *world)
{
    return world->first;
}

tsr_comm *tp_comm(const tp_world *world, int64_t index)
{
    return world->open != NULL ? tsr_world_comm(world->open, index) : world->own;
}

/* A rank's messages are in its own context. */
tsr_context *tp_context(const tp_world *world)
{
    return world->own != NULL ? tsr_comm_context(world->own) : world->ctx;
}

bool tp_is_closed(const tp_world *world)
{
    return world->closed;
}

void tp_stop(tp_world *world)
{
    if (world->open != NULL && !is_inherited(world)) {
        tsr_world_stop(world->open);
    }
}

const char *world_refusal(const tp_world *world)
{
    if (is_inherited(world)) {
        return "the world was opened before this process was forked; open a new one here";
    }
    if (world->closed) {
        return "the world is closed; open a new one";
    }
    if (world->has_owner && !pthread_equal(world->owner, pthread_self())) {
        return "a rank is used on another thread than its own; make its calls where its function "
               "runs";
    }
    return NULL;
}

/* ---- arrays ---- */

tp_array *array_make(tp_world *world, bool records)
{
    tp_array *array = calloc(1, sizeof *array + (size_t)world->num_local * sizeof(void *));
    if (array == NULL) {
        return NULL;
    }
    array->world = world;
    array->records = records;
    (void)pthread_mutex_lock(&registry);
    array->next = world->arrays;
    if (world->arrays != NULL) {
        world->arrays->previous = array;
    }
    world->arrays = array;
    world->holders++;
    (void)pthread_mutex_unlock(&registry);
    return array;
}

tsr_tensor *tp_part(const tp_array *array, int64_t index)
{
    const tp_world *world = array->world;
    if (array->released || world->torn_down || array->records || index < 0 ||
        index >= world->num_local) {
        return NULL;
    }
    return array->parts[index];
}

/* Takes an array off its world's list; with the registry locked. */
static void array_unlink(tp_array *array)
{
    tp_array **link = array->previous != NULL ? &array->previous->next : &array->world->arrays;
    *link = array->next;
    if (array->next != NULL) {
        array->next->previous = array->previous;
    }
    array->next = NULL;
    array->previous = NULL;
}

/*
 * Gives up some holds of a world; the struct is freed with the last, and gives up its parent then.
 */
void world_release(tp_world *world, int64_t count)
{
    while (world != NULL && count > 0) {
        (void)pthread_mutex_lock(&registry);
        world->holders -= count;
        const bool last = world->holders == 0;
        (void)pthread_mutex_unlock(&registry);
        if (!last) {
            return;
        }
        count = 1;
        tp_world *parent = world->parent;
        tsr_context_destroy(world->ctx);
        (void)pthread_mutex_destroy(&world->lock);
        free(world);
        world = parent;
    }
}

/* Releases the parts of an array that is off the list; the ranks are idle. */
static void array_release(tp_array *array)
{
    if (array->released) {
        return;
    }
    array->released = true;
    for (int64_t i = 0; i < array->world->num_local && !array->world->torn_down; i++) {
        if (array->records) {
            tsr_conversion_release(array->parts[i]);
        } else {
            tsr_tensor_release(array->parts[i]);
        }
        array->parts[i] = NULL;
    }
}

int64_t release_dropped(tp_world *world)
{
    int64_t count = 0;
    (void)pthread_mutex_lock(&registry);
    tp_array *found = world->dropped;
    world->dropped = NULL;
    (void)pthread_mutex_unlock(&registry);
    for (; found != NULL; count++) {
        tp_array *next = found->next;
        array_release(found);
        free(found);
        found = next;
    }
    return count;
}

/* Ends the ranks of a closed world, once nothing sees their memory. */
static tsr_status tear_down(tp_world *world)
{
    tsr_status status = TSR_OK;
    (void)pthread_mutex_lock(&registry);
    const bool now = world->closed && !world->torn_down && world->exports == 0;
    world->torn_down = world->torn_down || now;
    (void)pthread_mutex_unlock(&registry);
    if (!now) {
        return TSR_OK;
    }
    if (world->open != NULL) {
        status = tsr_world_close(world->open);
    } else if (world->joined != NULL) {
        status = tsr_comm_close(world->joined);
    }
    world->open = NULL;
    world->joined = NULL;
    world->own = NULL;
    return status;
}

/* Whether this thread may release tensors of a world now. */
static bool may_release(const tp_world *world)
{
    return !is_inherited(world) &&
           (!world->has_owner || world->closed || pthread_equal(world->owner, pthread_self()));
}

/* Releases what can be released at once; else the next call on the world does. */
static void release_if_idle(tp_world *world)
{
    if (may_release(world) && pthread_mutex_trylock(&world->lock) == 0) {
        const int64_t count = release_dropped(world);
        (void)pthread_mutex_unlock(&world->lock);
        world_release(world, count);
    }
}

/* Moves an array to those that wait for their release; with the registry locked. */
static void array_discard(tp_array *array)
{
    array_unlink(array);
    array->next = array->world->dropped;
    array->world->dropped = array;
}

void tp_drop(tp_array *array)
{
    if (array == NULL || is_inherited(array->world)) {
        return;
    }
    tp_world *world = array->world;
    (void)pthread_mutex_lock(&registry);
    array->dropped = true;
    if (array->exports == 0) {
        array_discard(array);
    }
    (void)pthread_mutex_unlock(&registry);
    release_if_idle(world); /* it lives: an Array of Python has its World */
}

bool tp_export(tp_array *array)
{
    (void)pthread_mutex_lock(&registry);
    const bool alive = !array->released && !array->world->closed;
    for (tp_world *w = array->world; alive && w != NULL; w = w->parent) {
        w->exports++;
    }
    array->exports += alive;
    (void)pthread_mutex_unlock(&registry);
    return alive;
}

void tp_unexport(tp_array *array)
{
    if (is_inherited(array->world)) {
        return;
    }
    tp_world *world = array->world;
    /* With the lock nothing is freed meanwhile; without it the world closes, and frees what is
     * left. */
    const bool locked = world->closed && pthread_mutex_trylock(&world->lock) == 0;
    (void)pthread_mutex_lock(&registry);
    world->holders++;
    array->exports--;
    const bool last = array->exports == 0;
    const bool orphan = last && !array->dropped; /* Python has it still */
    if (last && array->dropped) {
        array_discard(array);
    }
    (void)pthread_mutex_unlock(&registry);
    if (locked && orphan) {
        array_release(array);
    }
    if (locked) {
        (void)pthread_mutex_unlock(&world->lock);
    }
    release_if_idle(world);
    (void)pthread_mutex_lock(&registry);
    for (tp_world *w = world; w != NULL; w = w->parent) {
        w->exports--;
    }
    (void)pthread_mutex_unlock(&registry);
    for (tp_world *w = world; w != NULL; w = w->parent) {
        (void)tear_down(w);
    }
    world_release(world, 1);
}

/*
 * Releases the parts of all arrays that nothing outside sees; they are Python's still, without
 * their parts. With the lock held: other threads may give arrays up meanwhile, but free none.
 */
static void release_all(tp_world *world)
{
    size_t count = 0;
    (void)pthread_mutex_lock(&registry);
    for (tp_array *array = world->arrays; array != NULL; array = array->next) {
        count++;
    }
    tp_array **found = malloc(count * sizeof(tp_array *) + 1);
    count = 0;
    for (tp_array *array = world->arrays; array != NULL && found != NULL; array = array->next) {
        if (array->exports == 0) {
            found[count++] = array;
        }
    }
    (void)pthread_mutex_unlock(&registry);
    for (size_t i = 0; i < count; i++) {
        array_release(found[i]);
    }
    free(found);
}

tsr_status tp_close(tp_world *world)
{
    if (is_inherited(world) || world->closed) {
        return TSR_OK;
    }
    (void)pthread_mutex_lock(&world->lock);
    (void)pthread_mutex_lock(&registry);
    world->closed = true;
    (void)pthread_mutex_unlock(&registry);
    const int64_t count = release_dropped(world);
    release_all(world);
    (void)pthread_mutex_unlock(&world->lock);
    const tsr_status status = tear_down(world);
    world_release(world, count);
    return status;
}

void tp_world_free(tp_world *world)
{
    if (world != NULL && !is_inherited(world)) {
        (void)tp_close(world);
        world_release(world, 1);
    }
}

/* ---- DLPack ---- */

/* What the consumer of a capsule gets; it deletes that on any thread. */
typedef struct lent {
    DLManagedTensor managed;
    tp_array *array;
    int64_t numbers[]; /* shape and strides */
} lent;

static void lent_delete(DLManagedTensor *managed)
{
    lent *l = managed->manager_ctx;
    tp_unexport(l->array);
    free(l);
}

tsr_status tp_to_dlpack(tp_array *array, int64_t index, void **managed)
{
    DLManagedTensor *inner = NULL;
    const tsr_status status = tsr_tensor_to_dlpack(tp_part(array, index), &inner);
    if (status < 0) {
        return status;
    }
    const size_t rank = (size_t)inner->dl_tensor.ndim;
    lent *l = malloc(sizeof *l + 2 * rank * sizeof(int64_t));
    const bool kept = l != NULL && tp_export(array);
    if (kept) {
        l->managed = (DLManagedTensor){inner->dl_tensor, l, lent_delete};
        l->array = array;
        for (size_t d = 0; d < rank; d++) {
            l->numbers[d] = inner->dl_tensor.shape[d];
            l->numbers[rank + d] =
                inner->dl_tensor.strides != NULL ? inner->dl_tensor.strides[d] : 0;
        }
        l->managed.dl_tensor.shape = l->numbers;
        if (inner->dl_tensor.strides != NULL) {
            l->managed.dl_tensor.strides = l->numbers + rank;
        }
        *managed = &l->managed;
    } else {
        free(l);
    }
    inner->deleter(inner);
    return kept ? TSR_OK : TSR_ERR_NOMEM;
}

void tp_dlpack_delete(void *managed)
{
    DLManagedTensor *m = managed;
    if (m != NULL && m->deleter != NULL) {
        m->deleter(m);
    }
}

/*
 * Memory of others under an array. It ends with the last holder: who has borrowed it, and the
 * tensor over it.
 */
struct tp_borrowed {
    DLManagedTensor managed; /* what the library gets */
    DLManagedTensor *theirs;
    atomic_int holders;
};

/* What ends the memory of others may need the GIL, which threads of ranks do not have. */
void tp_borrowed_release(tp_borrowed *borrowed)
{
    if (borrowed == NULL || atomic_fetch_sub(&borrowed->holders, 1) > 1) {
        return;
    }
    if (borrowed->theirs->deleter != NULL && Py_IsInitialized()) {
        const PyGILState_STATE state = PyGILState_Ensure();
        borrowed->theirs->deleter(borrowed->theirs);
        PyGILState_Release(state);
    }
    free(borrowed);
}

static void borrowed_delete(DLManagedTensor *managed)
{
    tp_borrowed_release(managed->manager_ctx);
}

tp_borrowed *tp_borrow(void *managed)
{
    tp_borrowed *b = malloc(sizeof *b);
    if (b != NULL) {
        b->theirs = managed;
        b->managed = (DLManagedTensor){b->theirs->dl_tensor, b, borrowed_delete};
        atomic_init(&b->holders, 1);
    }
    return b;
}

tsr_status array_over_borrowed(tsr_comm *world, const tsr_tensor_spec *spec, tp_borrowed *borrowed,
                               tsr_tensor **out)
{
    (void)atomic_fetch_add(&borrowed->holders, 1);
    const tsr_status status = tsr_tensor_from_dlpack(world, spec, &borrowed->managed, out);
    if (status < 0) {
        tp_borrowed_release(borrowed);
    }
    return status;
}

/* Tensors from `.npy` files and back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/guard.h"
#include "rt/npy.h"
#include "rt/tensor.h"

/* A file in memory; empty files are not mapped. */
typedef struct mapped {
    char *data;
    size_t size;
} mapped;

static tsr_status file_error(tsr_context *ctx, const char *path, const char *what)
{
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "%s: %s: %s", path, what, strerror(errno));
}

static tsr_status map_file(tsr_context *ctx, const char *path, mapped *out)
{
    struct stat about;
    /* Opening a pipe would block until it has a writer. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &about) != 0) {
        const tsr_status status = file_error(ctx, path, "cannot be opened");
        if (file >= 0) {
            (void)close(file);
        }
        return status;
    }
    out->size = (size_t)about.st_size;
    out->data = NULL;
    if (out->size > 0) {
        void *data = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, file, 0);
        out->data = data != MAP_FAILED ? data : NULL;
    }
    (void)close(file);
    return out->size == 0 || out->data != NULL ? TSR_OK : file_error(ctx, path, "cannot be read");
}

static void unmap_file(const mapped *file)
{
    if (file->data != NULL) {
        (void)munmap(file->data, file->size);
    }
}

/* This rank's part of the items. */
static tsr_status load_part(tsr_comm *world, const tsr_sharding *sharding, const char *path,
                            const mapped *file, tsr_tensor **out)
{
    npy_head head;
    int64_t strides[KERNEL_MAX_RANK];
    if (sharding->num_unreduced > 0) {
        return diag_error(world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "a tensor from a file cannot have a reduction pending");
    }
    TSR_TRY(
        npy_read_head(world->ctx, path, file->data != NULL ? file->data : "", file->size, &head));
    const tsr_tensor_spec spec = {sharding, head.dtype, head.rank, head.shape};
    TSR_TRY(tensor_make(world, &spec, NULL, NULL, out));
    full_strides((*out)->geometry, head.dtype, head.column_major, strides);
    (void)copy_part(*out, world->rank, file->data + head.data, strides, (*out)->data);
    return TSR_OK;
}

tsr_status tsr_tensor_load_npy(tsr_comm *world, const tsr_sharding *sharding, const char *path,
                               tsr_tensor **out)
{
    GUARD(tsr_tensor_load_npy);
    TSR_TRY(comm_check_real(world));
    mapped file = {0};
    tsr_tensor *t = NULL;
    spec_call call = {.ctx = world->ctx, .name = "tsr_tensor_load_npy", .root = -1};
    tsr_status status = map_file(world->ctx, path, &file);
    if (status == TSR_OK) {
        status = load_part(world, sharding, path, &file, &t);
    }
    unmap_file(&file);
    if (status == TSR_OK) {
        const tsr_geometry *g = t->geometry;
        call.spec = (tsr_tensor_spec){g->sharding, t->dtype, g->rank, g->shape};
    }
    const comm_call what = spec_call_record(&call, status);
    status = comm_enter(world, &what);
    if (status < 0) {
        tsr_tensor_release(t);
        return status;
    }
    *out = t;
    return TSR_OK;
}

/* Writes all bytes, or says why not. */
static bool write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(file, data, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        data += written;
        size -= (size_t)written;
    }
    return true;
}

/* The two parts of a file, its temporary name and its final one. */
typedef struct outgoing {
    const char *path;
    const char *partial;
    const char *head;
    size_t head_size;
    char *items;
    size_t bytes;
} outgoing;

static tsr_status write_file(tsr_context *ctx, const outgoing *o)
{
    const int how = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    const int file = o->partial != NULL ? open(o->partial, how, 0666) : -1;
    if (file < 0) {
        return file_error(ctx, o->partial, "cannot be created");
    }
    bool fine = write_all(file, o->head, o->head_size) && write_all(file, o->items, o->bytes);
    fine = close(file) == 0 && fine;
    if (fine && rename(o->partial, o->path) == 0) {
        return TSR_OK;
    }
    const tsr_status status = file_error(ctx, o->path, "cannot be written");
    (void)unlink(o->partial);
    return status;
}

/* What rank 0 needs before it receives the items: the header, the names, room for the items. */
static tsr_status prepare_file(const tsr_tensor *t, tsr_arena *arena, const char *path, outgoing *o)
{
    tsr_context *ctx = t->world->ctx;
    const tsr_geometry *g = t->geometry;
    buffer partial = buffer_new(arena);
    int64_t bytes = tsr_dtype_item_bytes(t->dtype);
    for (size_t i = 0; i < g->rank; i++) {
        bytes *= g->shape[i];
    }
    o->bytes = (size_t)bytes;
    o->items = tsr_arena_alloc(arena, o->bytes);
    if (o->items == NULL) {
        return diag_nomem(ctx);
    }
    buffer_string(&partial, path);
    buffer_string(&partial, ".partial");
    TSR_TRY(buffer_finish(ctx, &partial, &o->partial));
    o->path = path;
    return npy_write_head(ctx, arena, t->dtype, g->rank, g->shape, &o->head, &o->head_size);
}

/* Gathers on rank 0, which writes; all ranks return its status. */
static tsr_status save(tsr_tensor *t, tsr_arena *arena, const char *path)
{
    tsr_comm *world = t->world;
    outgoing o = {0};
    const bool writes = world->rank == 0;
    comm_call what = {.name = "tsr_tensor_save_npy"};
    what.status = writes ? prepare_file(t, arena, path, &o) : TSR_OK;
    TSR_TRY(comm_enter(world, &what));
    TSR_TRY(tsr_tensor_to_full(t, 0, o.items));
    what.status = writes ? write_file(world->ctx, &o) : TSR_OK;
    return comm_enter(world, &what);
}

tsr_status tsr_tensor_save_npy(tsr_tensor *tensor, const char *path)
{
    GUARD(tsr_tensor_save_npy);
    tsr_arena *arena = NULL;
    const tsr_geometry *g = tensor->geometry;
    const spec_call call = {tensor->world->ctx,
                            "tsr_tensor_save_npy",
                            {g->sharding, tensor->dtype, g->rank, g->shape},
                            -1};
    const comm_call what = spec_call_record(&call, tsr_arena_create(call.ctx, &arena));
    tsr_status status = comm_enter(tensor->world, &what);
    if (status == TSR_OK) {
        status = save(tensor, arena, path);
    }
    tsr_arena_destroy(arena);
    return status;
}

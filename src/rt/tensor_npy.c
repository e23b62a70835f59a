/*
 * Tensors from `.npy` files and back. Files are read and written at offsets, not mapped: one that
 * another program cuts short while it is read is an error and no signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/guard.h"
#include "file/npy.h"
#include "rt/box_walk.h"
#include "rt/tensor.h"

enum { HEAD_BYTES = 1 << 16, PIECE_BYTES = 4 << 20 };

static tsr_status file_error(tsr_context *ctx, const char *path, const char *what)
{
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "%s: %s: %s", path, what, strerror(errno));
}

/* ---- boxes of a file ---- */

/* A file of items and the memory of one rank's part of them. */
typedef struct transfer {
    tsr_context *ctx;
    const char *path;
    int file;
    bool writes;
    size_t rank;
    size_t item;
    int64_t data; /* where the items start in the file */
    int64_t file_strides[KERNEL_MAX_RANK];
    const int64_t *part_strides;
    size_t order[KERNEL_MAX_RANK]; /* the dimensions, those of the largest file stride first */
    char *piece;                   /* PIECE_BYTES */
} transfer;

/* Moves bytes between the piece and the file. */
static tsr_status move_piece(const transfer *t, int64_t at, int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        char *memory = t->piece + done;
        const size_t count = (size_t)(bytes - done);
        const ssize_t moved = t->writes ? pwrite(t->file, memory, count, (off_t)(at + done))
                                        : pread(t->file, memory, count, (off_t)(at + done));
        if (moved < 0 && errno == EINTR) {
            continue;
        }
        if (moved < 0) {
            return file_error(t->ctx, t->path, t->writes ? "cannot be written" : "cannot be read");
        }
        if (moved == 0) {
            return diag_error(t->ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s: the file ends at byte %lld, before its last element: it was "
                              "truncated while it was read",
                              t->path, (long long)(at + done));
        }
        done += moved;
    }
    return TSR_OK;
}

/* The bytes in the file from the first item of a box to the end of its last one. */
static int64_t span_of(const transfer *t, size_t level, const int64_t *size)
{
    int64_t span = (int64_t)t->item;
    for (size_t l = level; l < t->rank; l++) {
        span += (size[t->order[l]] - 1) * t->file_strides[t->order[l]];
    }
    return span;
}

/* Whether a box is all of the bytes that it spans. */
static bool is_dense(const transfer *t, size_t level, const int64_t *size)
{
    int64_t bytes = (int64_t)t->item;
    for (size_t l = level; l < t->rank; l++) {
        bytes *= size[t->order[l]];
    }
    return bytes == span_of(t, level, size);
}

/* Moves a box whose span fits a piece; for writing it is dense. */
static tsr_status move_span(const transfer *t, size_t level, int64_t at, char *part,
                            const int64_t *size)
{
    const int64_t span = span_of(t, level, size);
    if (t->writes) {
        kernel_copy(t->piece, t->file_strides, part, t->part_strides, size, t->rank, t->item,
                    false);
        return move_piece(t, at, span);
    }
    TSR_TRY(move_piece(t, at, span));
    kernel_copy(part, t->part_strides, t->piece, t->file_strides, size, t->rank, t->item, false);
    return TSR_OK;
}

/* Moves a box in pieces, cut along the dimension of the largest stride, then the next. */
static tsr_status move_box(const transfer *t, size_t level, int64_t at, char *part,
                           const int64_t *size)
{
    const int64_t span = span_of(t, level, size);
    if (level == t->rank || (span <= PIECE_BYTES && (!t->writes || is_dense(t, level, size)))) {
        return move_span(t, level, at, part, size);
    }
    const size_t dim = t->order[level];
    const int64_t stride = t->file_strides[dim];
    const int64_t rest = span_of(t, level + 1, size);
    int64_t sub[KERNEL_MAX_RANK];
    memcpy(sub, size, t->rank * sizeof *sub);
    sub[dim] = 1;
    const bool many = rest <= PIECE_BYTES && (!t->writes || rest == stride);
    const int64_t step = many ? (PIECE_BYTES - rest) / stride + 1 : 1;
    for (int64_t i = 0; i < size[dim]; i += step) {
        sub[dim] = min_i64(step, size[dim] - i);
        TSR_TRY(move_box(t, sub[dim] > 1 ? level : level + 1, at + i * stride,
                         part + i * t->part_strides[dim], sub));
    }
    return TSR_OK;
}

static void order_dims(transfer *t)
{
    for (size_t i = 0; i < t->rank; i++) {
        size_t at = i;
        for (; at > 0 && t->file_strides[t->order[at - 1]] < t->file_strides[i]; at--) {
            t->order[at] = t->order[at - 1];
        }
        t->order[at] = i;
    }
}

/* Moves all that this rank has of a tensor. */
static tsr_status move_part(transfer *t, const tsr_tensor *tensor)
{
    const tsr_geometry *g = tensor->geometry;
    t->rank = g->rank;
    t->item = (size_t)tsr_dtype_item_bytes(tensor->dtype);
    t->part_strides = tensor->strides;
    order_dims(t);
    t->piece = context_resize(t->ctx, NULL, 0, PIECE_BYTES);
    if (t->piece == NULL) {
        return diag_nomem(t->ctx);
    }
    tsr_status status = TSR_OK;
    box_walk w;
    for (bool more = box_walk_first(&w, g, tensor->world->rank, false); more && status == TSR_OK;
         more = box_walk_next(&w)) {
        int64_t at = t->data;
        bool empty = false;
        for (size_t i = 0; i < g->rank; i++) {
            at += w.start[i] * t->file_strides[i];
            empty = empty || w.size[i] == 0;
        }
        if (!empty) {
            char *part = (char *)tensor->data + box_walk_offset(&w, t->part_strides);
            status = move_box(t, 0, at, part, w.size);
        }
    }
    (void)context_resize(t->ctx, t->piece, PIECE_BYTES, 0);
    return status;
}

/* ---- loading ---- */

static tsr_status open_file(tsr_context *ctx, const char *path, int *file, size_t *size)
{
    struct stat about;
    /* Opening a pipe would block until it has a writer. */
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*file < 0 || fstat(*file, &about) != 0) {
        return file_error(ctx, path, "cannot be opened");
    }
    if (!S_ISREG(about.st_mode)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: it is not a regular file and cannot be read at offsets", path);
    }
    *size = (size_t)about.st_size;
    return TSR_OK;
}

static tsr_status load_head(transfer *t, size_t size, npy_head *head)
{
    const size_t bytes = size < HEAD_BYTES ? size : HEAD_BYTES;
    t->piece = context_resize(t->ctx, NULL, 0, HEAD_BYTES);
    if (t->piece == NULL) {
        return diag_nomem(t->ctx);
    }
    tsr_status status = move_piece(t, 0, (int64_t)bytes);
    if (status == TSR_OK) {
        status = npy_read_head(t->ctx, t->path, t->piece, bytes, size, head);
    }
    (void)context_resize(t->ctx, t->piece, HEAD_BYTES, 0);
    return status;
}

/* This rank's part of the items. */
static tsr_status load_part(tsr_comm *world, const tsr_sharding *sharding, transfer *t,
                            tsr_tensor **out)
{
    npy_head head;
    size_t size = 0;
    if (sharding->num_unreduced > 0) {
        return diag_error(world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "a tensor from a file cannot have a pending reduction");
    }
    TSR_TRY(open_file(world->ctx, t->path, &t->file, &size));
    TSR_TRY(load_head(t, size, &head));
    const tsr_tensor_spec spec = {sharding, head.dtype, head.rank, head.shape};
    TSR_TRY(tensor_make(world, &spec, NULL, NULL, out));
    full_strides((*out)->geometry, head.dtype, head.column_major, t->file_strides);
    t->data = (int64_t)head.data;
    return move_part(t, *out);
}

tsr_status tsr_tensor_load_npy(tsr_comm *world, const tsr_sharding *sharding, const char *path,
                               tsr_tensor **out)
{
    GUARD(tsr_tensor_load_npy);
    TSR_TRY(comm_check_real(world));
    transfer t = {.ctx = world->ctx, .path = path, .file = -1};
    tsr_tensor *made = NULL;
    spec_call call = {.ctx = world->ctx, .name = "tsr_tensor_load_npy", .root = -1};
    tsr_status status = load_part(world, sharding, &t, &made);
    if (t.file >= 0) {
        (void)close(t.file);
    }
    if (status == TSR_OK) {
        const tsr_geometry *g = made->geometry;
        call.spec = (tsr_tensor_spec){g->sharding, made->dtype, g->rank, g->shape};
    }
    const comm_call what = spec_call_record(&call, status);
    status = comm_enter(world, &what);
    if (status < 0) {
        tsr_tensor_release(made);
        return status;
    }
    tensor_note_call(made, &what);
    *out = made;
    return TSR_OK;
}

/* ---- saving ---- */

/*
 * A layout in which every item is on one rank, and each rank has few long runs of the file: all
 * axes cut the first dimension that has a row for each rank, else the longest one. NULL: the tensor
 * has no dimension to cut.
 */
static tsr_status writing_layout(const tsr_tensor *t, tsr_arena *arena, const tsr_sharding **out)
{
    const tsr_geometry *g = t->geometry;
    const tsr_mesh *mesh = g->sharding->mesh;
    const size_t num_axes = tsr_mesh_num_axes(mesh);
    size_t dim = 0;
    for (size_t i = 1; i < g->rank && g->shape[dim] < t->world->size; i++) {
        dim = g->shape[i] > g->shape[dim] ? i : dim;
    }
    *out = NULL;
    if (g->rank == 0 || num_axes == 0) {
        return TSR_OK;
    }
    tsr_axis_ref *axes = ARENA_ARRAY(arena, tsr_axis_ref, num_axes);
    tsr_dim *dims = ARENA_ARRAY(arena, tsr_dim, g->rank);
    if (axes == NULL || dims == NULL) {
        return diag_nomem(t->world->ctx);
    }
    for (size_t a = 0; a < num_axes; a++) {
        axes[a] = tsr_axis_full(mesh, a);
    }
    for (size_t i = 0; i < g->rank; i++) {
        dims[i] = i == dim ? tsr_dim_closed(axes, num_axes) : tsr_dim_closed(NULL, 0);
    }
    const tsr_sharding_spec spec = {.mesh = mesh, .rank = g->rank, .dims = dims};
    return tsr_sharding_create(t->world->ctx, arena, &spec, TSR_SHARDING_CANONICALIZE, out);
}

/* The file that a name stands for: that of a link is written, not the link. */
static tsr_status find_target(tsr_context *ctx, tsr_arena *arena, const char *path, bool *exists,
                              mode_t *mode, const char **out)
{
    struct stat about;
    *out = path;
    *exists = stat(path, &about) == 0;
    if (!*exists) {
        return lstat(path, &about) != 0 ? TSR_OK
                                        : diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                                                     "%s: it is a link to a missing file; remove "
                                                     "it, or give the name of the file",
                                                     path);
    }
    if (!S_ISREG(about.st_mode)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: it is not a regular file and is not replaced", path);
    }
    *mode = about.st_mode & 07777;
    char *resolved = realpath(path, NULL);
    if (resolved == NULL) {
        return file_error(ctx, path, "cannot be found");
    }
    *out = arena_string(arena, resolved, strlen(resolved));
    free(resolved);
    return *out != NULL ? TSR_OK : diag_nomem(ctx);
}

/* What is written under another name before it gets its own. */
typedef struct outgoing {
    const char *path; /* the file; of rank 0 */
    const char *partial;
    const char *head;
    size_t head_size;
    bool made;
} outgoing;

static tsr_status name_partial(tsr_context *ctx, tsr_arena *arena, const char *path, outgoing *o)
{
    buffer partial = buffer_new(arena);
    buffer_string(&partial, path);
    buffer_string(&partial, ".partial");
    return buffer_finish(ctx, &partial, &o->partial);
}

/* Makes the file in its full length, with its head. By rank 0. */
static tsr_status make_file(const tsr_tensor *t, tsr_arena *arena, const char *path, outgoing *o)
{
    tsr_context *ctx = t->world->ctx;
    bool exists = false;
    mode_t mode = 0;
    int64_t bytes = (int64_t)o->head_size;
    int64_t items = tsr_dtype_item_bytes(t->dtype);
    for (size_t i = 0; i < t->geometry->rank; i++) {
        items *= t->geometry->shape[i];
    }
    TSR_TRY(find_target(ctx, arena, path, &exists, &mode, &o->path));
    const int file = open(o->partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0) {
        return file_error(ctx, o->partial, "cannot be created");
    }
    o->made = true;
    transfer head = {.ctx = ctx, .path = o->partial, .file = file, .writes = true};
    head.piece = without_const(o->head);
    tsr_status status = checked_add(bytes, items, &bytes)
                            ? move_piece(&head, 0, (int64_t)o->head_size)
                            : diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                                         "%s: the tensor is too large for a file", path);
    const int failed = status == TSR_OK ? posix_fallocate(file, 0, (off_t)bytes) : 0;
    if (failed != 0) {
        errno = failed;
        status = file_error(ctx, o->partial, "cannot be extended to the size of the tensor");
    }
    if (exists && fchmod(file, mode) != 0 && status == TSR_OK) {
        status = file_error(ctx, o->partial, "cannot be given the permissions of the old file");
    }
    return close(file) == 0 || status < 0 ? status
                                          : file_error(ctx, o->partial, "cannot be closed");
}

/* Writes this rank's items. */
static tsr_status write_part(const tsr_tensor *t, const outgoing *o)
{
    transfer to = {.ctx = t->world->ctx, .path = o->partial, .writes = true};
    to.data = (int64_t)o->head_size;
    to.file = open(o->partial, O_WRONLY | O_CLOEXEC);
    if (to.file < 0) {
        return file_error(to.ctx, o->partial, "cannot be opened on this rank");
    }
    full_strides(t->geometry, t->dtype, false, to.file_strides);
    const tsr_status status = move_part(&to, t);
    return close(to.file) == 0 || status < 0 ? status
                                             : file_error(to.ctx, o->partial, "cannot be closed");
}

/* Whether this rank writes: where nothing can be cut, the first of those that hold the items. */
static bool is_writer(const tsr_tensor *t, bool cut)
{
    const int64_t first = tsr_mesh_is_maximal(t->geometry->sharding->mesh)
                              ? tsr_mesh_device_at(t->geometry->sharding->mesh, 0)
                              : 0;
    return cut || t->world->rank == first;
}

/* Each rank writes its part of one file, which gets its name when all have. */
static tsr_status save(const tsr_tensor *t, bool cut, tsr_arena *arena, const char *path,
                       outgoing *o)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): set, since the status is TSR_OK */
    tsr_comm *world = t->world;
    const tsr_geometry *g = t->geometry;
    comm_call what = {.name = "tsr_tensor_save_npy"};
    what.status =
        npy_write_head(world->ctx, arena, t->dtype, g->rank, g->shape, &o->head, &o->head_size);
    if (what.status == TSR_OK) {
        what.status = name_partial(world->ctx, arena, path, o);
    }
    if (what.status == TSR_OK && world->rank == 0) {
        what.status = make_file(t, arena, path, o);
    }
    TSR_TRY(comm_enter(world, &what));
    what.status = is_writer(t, cut) ? write_part(t, o) : TSR_OK;
    TSR_TRY(comm_enter(world, &what));
    if (world->rank == 0) {
        what.status = rename(o->partial, o->path) == 0
                          ? TSR_OK
                          : file_error(world->ctx, o->path, "cannot be replaced");
    }
    return comm_enter(world, &what);
}

/* The tensor in the layout that it is written in; the caller releases it. */
static tsr_status arrange(tsr_tensor *t, tsr_arena *arena, bool *cut, tsr_tensor **out)
{
    const tsr_sharding *layout = NULL;
    TSR_TRY(writing_layout(t, arena, &layout));
    *cut = layout != NULL;
    if (layout == NULL && t->geometry->sharding->num_unreduced > 0) {
        TSR_TRY(tsr_sharding_replicated_over(t->world->ctx, arena, t->geometry->sharding->mesh,
                                             t->geometry->rank, false, &layout));
    }
    if (layout == NULL || tsr_sharding_equal(layout, t->geometry->sharding)) {
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    return tsr_redistribute(t, layout, out);
}

tsr_status tsr_tensor_save_npy(tsr_tensor *tensor, const char *path)
{
    GUARD(tsr_tensor_save_npy);
    TSR_TRY(comm_check_real(tensor->world));
    tsr_arena *arena = NULL;
    tsr_tensor *written = NULL;
    outgoing o = {0};
    bool cut = false;
    const tsr_geometry *g = tensor->geometry;
    const spec_call call = {.ctx = tensor->world->ctx,
                            .name = "tsr_tensor_save_npy",
                            .spec = {g->sharding, tensor->dtype, g->rank, g->shape},
                            .root = -1};
    TSR_TRY(tensor_check_whole("tsr_tensor_save_npy", tensor));
    const comm_call what = spec_call_record(&call, tsr_arena_create(call.ctx, &arena));
    tsr_status status = comm_enter(tensor->world, &what);
    if (status == TSR_OK) {
        status = comm_tell(tensor->world, call.name, arrange(tensor, arena, &cut, &written));
    }
    if (status == TSR_OK) {
        status = save(written, cut, arena, path, &o);
    }
    if (status < 0 && o.made) {
        (void)unlink(o.partial);
    }
    tsr_tensor_release(written);
    tsr_arena_destroy(arena);
    return status;
}

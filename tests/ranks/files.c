/* Tensors to `.npy` files and back: every layout, what is no regular file, files that shrink. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kinds.h"
#include "rt/comm.h"
#include "want.h"

enum { LAYOUTS = 7, PATH = 128 };

typedef struct scene {
    const tsr_mesh *mesh;
    char folder[64];
} scene;

/* Long enough for several pieces, and odd, so that no cut is even. */
static const int64_t shapes[][3] = {{7, 5, 3}, {1, 1, 11}, {2, 3, 1}, {0, 4, 2}, {1201, 37, 31}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const char *const layouts[LAYOUTS] = {
    "[{\"x\"}, {}, {}]",      "[{}, {\"x\"}, {}]", "[{}, {}, {\"x\", \"y\"}]", "[{}, {}, {}]",
    "[{\"y\"}, {\"x\"}, {}]", "[{}, {\"y\"}, {}]", "[{\"y\", \"x\"}, {}, {}]"};

typedef struct element_state {
    const int64_t *shape;
    int64_t wrong;
} element_state;

static float value_at(const element_state *s, const int64_t *index)
{
    return (float)((index[0] * s->shape[1] + index[1]) * s->shape[2] + index[2]) / 4;
}

static void fill_element(const int64_t *index, void *element, void *state)
{
    const float value = value_at(state, index);
    memcpy(element, &value, sizeof value);
}

static void check_element(const int64_t *index, void *element, void *state)
{
    element_state *s = state;
    float value;
    memcpy(&value, element, sizeof value);
    s->wrong += value != value_at(s, index);
}

/* The bytes of a file after its head must be the array, row-major. By rank 0. */
static tsr_status check_bytes(tsr_comm *world, const char *path, element_state *s)
{
    FILE *file = fopen(path, "rb");
    WANT(world, file != NULL);
    char head[10];
    WANT(world, fread(head, 1, sizeof head, file) == sizeof head);
    const long length = (unsigned char)head[8] + 256L * (unsigned char)head[9];
    WANT(world, fseek(file, 10 + length, SEEK_SET) == 0);
    const size_t count = (size_t)(s->shape[0] * s->shape[1] * s->shape[2]);
    float *values = malloc((count + 1) * sizeof *values);
    WANT(world, values != NULL && fread(values, sizeof *values, count + 1, file) == count);
    int64_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        wrong += values[i] != (float)i / 4;
    }
    free(values);
    WANT(world, wrong == 0);
    (void)fclose(file);
    return TSR_OK;
}

static tsr_status check_layouts(tsr_comm *world, tsr_arena *arena, const scene *s, size_t shape)
{
    tsr_context *ctx = tsr_comm_context(world);
    element_state e = {.shape = shapes[shape]};
    char path[PATH];
    (void)snprintf(path, sizeof path, "%s/a.npy", s->folder);
    for (size_t i = 0; i < LAYOUTS; i++) {
        const tsr_sharding *from = NULL;
        const tsr_sharding *to = NULL;
        tsr_tensor *t = NULL;
        tsr_tensor *back = NULL;
        WANT(world, tsr_sharding_parse(ctx, arena, s->mesh, layouts[i], &from) == TSR_OK);
        WANT(world, tsr_sharding_parse(ctx, arena, s->mesh, layouts[(i * 3 + 1) % LAYOUTS], &to) ==
                        TSR_OK);
        const tsr_tensor_spec spec = {from, TSR_F32, 3, shapes[shape]};
        WANT(world, tsr_tensor_create(world, &spec, &t) == TSR_OK);
        tsr_tensor_fill(t, fill_element, &e);
        WANT(world, tsr_tensor_save_npy(t, path) == TSR_OK);
        WANT(world, tsr_tensor_load_npy(world, to, path, &back) == TSR_OK);
        e.wrong = 0;
        tsr_tensor_visit(back, check_element, &e);
        WANT(world, e.wrong == 0);
        if (tsr_comm_rank(world) == 0) {
            const tsr_status status = check_bytes(world, path, &e);
            if (status < 0) {
                return status;
            }
        }
        WANT(world, tsr_barrier(world) == TSR_OK);
        tsr_tensor_release(t);
        tsr_tensor_release(back);
    }
    return TSR_OK;
}

/* Gives the items of a file of i16 the name that NumPy with ml_dtypes gives to bf16. */
static bool name_bf16(const char *path)
{
    char head[64];
    FILE *file = fopen(path, "r+b");
    if (file == NULL) {
        return false;
    }
    const bool whole = fread(head, 1, sizeof head, file) == sizeof head;
    bool found = false;
    for (size_t i = 0; whole && !found && i + 4 < sizeof head; i++) {
        if (memcmp(head + i, "'<i2", 4) == 0) {
            found = fseek(file, (long)i + 2, SEEK_SET) == 0 && fputc('V', file) == 'V';
        }
    }
    return fclose(file) == 0 && found;
}

/*
 * A pending sum is performed; a number has no dimension to cut; bf16 is read and has no name to be
 * written by.
 */
static tsr_status check_kinds(tsr_comm *world, tsr_arena *arena, const scene *s)
{
    tsr_context *ctx = tsr_comm_context(world);
    const tsr_sharding *pending = NULL;
    const tsr_sharding *none = NULL;
    tsr_tensor *t = NULL;
    tsr_tensor *back = NULL;
    char path[PATH];
    (void)snprintf(path, sizeof path, "%s/b.npy", s->folder);
    WANT(world,
         tsr_sharding_parse(ctx, arena, s->mesh, "[{}], unreduced={\"x\"}", &pending) == TSR_OK);
    WANT(world, tsr_sharding_parse(ctx, arena, s->mesh, "[]", &none) == TSR_OK);
    const int64_t extent = 3;
    const tsr_tensor_spec spec = {pending, TSR_F64, 1, &extent};
    WANT(world, tsr_tensor_create(world, &spec, &t) == TSR_OK);
    for (int i = 0; i < 3; i++) {
        ((double *)tsr_tensor_data(t))[i] = i + 1;
    }
    WANT(world, tsr_tensor_save_npy(t, path) == TSR_OK);
    tsr_tensor_release(t);
    const tsr_sharding *row = NULL;
    WANT(world, tsr_sharding_parse(ctx, arena, s->mesh, "[{}]", &row) == TSR_OK);
    WANT(world, tsr_tensor_load_npy(world, row, path, &back) == TSR_OK);
    const double times = (double)tsr_mesh_axis_size(s->mesh, 0);
    WANT(world, ((double *)tsr_tensor_data(back))[2] == 3 * times);
    tsr_tensor_release(back);
    const tsr_tensor_spec scalar = {none, TSR_BF16, 0, NULL};
    WANT(world, tsr_fill(world, &scalar, -2.5, &t) == TSR_OK);
    WANT(world, tsr_tensor_save_npy(t, path) == TSR_ERR_UNSUPPORTED);
    WANT(world, heard(world, "no element type for bf16"));
    tsr_tensor_release(t);
    const tsr_tensor_spec bits = {none, TSR_I16, 0, NULL};
    WANT(world, tsr_fill(world, &bits, -0x3fe0, &t) == TSR_OK);
    WANT(world, tsr_tensor_save_npy(t, path) == TSR_OK);
    WANT(world, tsr_barrier(world) == TSR_OK);
    WANT(world, tsr_comm_rank(world) != 0 || name_bf16(path));
    WANT(world, tsr_barrier(world) == TSR_OK);
    WANT(world, tsr_tensor_load_npy(world, none, path, &back) == TSR_OK);
    WANT(world, tsr_tensor_dtype(back) == TSR_BF16);
    WANT(world, *(uint16_t *)tsr_tensor_data(back) == 0xc020);
    tsr_tensor_release(t);
    tsr_tensor_release(back);
    return TSR_OK;
}

/* Links stay and their file is written; pipes, devices and folders stay as they are. */
static tsr_status check_names(tsr_comm *world, tsr_arena *arena, const scene *s)
{
    tsr_context *ctx = tsr_comm_context(world);
    const bool first = tsr_comm_rank(world) == 0;
    const tsr_sharding *row = NULL;
    tsr_tensor *t = NULL;
    struct stat about;
    char target[PATH];
    char link_path[PATH];
    char pipe_path[PATH];
    char lost[PATH];
    (void)snprintf(target, sizeof target, "%s/target.npy", s->folder);
    (void)snprintf(link_path, sizeof link_path, "%s/link.npy", s->folder);
    (void)snprintf(pipe_path, sizeof pipe_path, "%s/pipe.npy", s->folder);
    (void)snprintf(lost, sizeof lost, "%s/lost.npy", s->folder);
    WANT(world, tsr_sharding_parse(ctx, arena, s->mesh, "[{\"x\"}]", &row) == TSR_OK);
    const int64_t extent = 5;
    const tsr_tensor_spec spec = {row, TSR_I64, 1, &extent};
    WANT(world, tsr_iota(world, &spec, 0, &t) == TSR_OK);
    if (first) {
        WANT(world, close(open(target, O_CREAT | O_WRONLY, 0600)) == 0);
        WANT(world, symlink("target.npy", link_path) == 0 && symlink("absent", lost) == 0);
        WANT(world, mkfifo(pipe_path, 0600) == 0);
    }
    WANT(world, tsr_barrier(world) == TSR_OK);
    WANT(world, tsr_tensor_save_npy(t, link_path) == TSR_OK);
    WANT(world, lstat(link_path, &about) == 0 && S_ISLNK(about.st_mode));
    WANT(world, stat(target, &about) == 0 && about.st_size == 128 + 40);
    WANT(world, (about.st_mode & 0777) == 0600);
    const struct {
        const char *path;
        const char *text;
    } refused[] = {{pipe_path, "it is not a regular file"},
                   {"/dev/null", "it is not a regular file"},
                   {s->folder, "it is not a regular file"},
                   {lost, "a link to a missing file"}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        tsr_context_clear(ctx);
        WANT(world, tsr_tensor_save_npy(t, refused[i].path) == TSR_ERR_INVALID);
        WANT(world, strstr(last_error_text(ctx), refused[i].text) != NULL);
    }
    WANT(world, stat(pipe_path, &about) == 0 && S_ISFIFO(about.st_mode));
    WANT(world, stat("/dev/null", &about) == 0 && S_ISCHR(about.st_mode));
    tsr_tensor *none = NULL;
    WANT(world, tsr_tensor_load_npy(world, row, pipe_path, &none) == TSR_ERR_INVALID);
    WANT(world, strstr(last_error_text(ctx), "it is not a regular file") != NULL);
    tsr_tensor_release(t);
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    const scene *s = state;
    tsr_arena *arena = NULL;
    WANT(world, tsr_arena_create(tsr_comm_context(world), &arena) == TSR_OK);
    tsr_status status = TSR_OK;
    /* The large one takes long, and is in as many pieces on any number of ranks. */
    const size_t shapes_tried = tsr_comm_size(world) <= 3 ? SHAPES : SHAPES - 1;
    for (size_t i = 0; i < shapes_tried && status == TSR_OK; i++) {
        status = check_layouts(world, arena, s, i);
    }
    if (status == TSR_OK) {
        status = check_kinds(world, arena, s);
    }
    if (status == TSR_OK) {
        status = check_names(world, arena, s);
    }
    tsr_arena_destroy(arena);
    return status;
}

static void in_a_folder(fixture *f, int64_t ranks, tsr_rank_function function)
{
    char text[64];
    const int64_t minor = ranks % 2 == 0 ? 2 : 1;
    (void)snprintf(text, sizeof text, "<[\"x\"=%lld, \"y\"=%lld]>", (long long)(ranks / minor),
                   (long long)minor);
    scene s = {.mesh = mesh_of(f, text), .folder = "/tmp/tessera-XXXXXX"};
    assert_non_null(mkdtemp(s.folder));
    const tsr_launch_spec spec = {.num_ranks = ranks,
                                  .ranks = kinds_chosen(),
                                  .timeout = 30,
                                  .segment_bytes = (size_t)1 << 26};
    const tsr_status status = launch_ranks(f->ctx, &spec, function, &s);
    char command[PATH];
    (void)snprintf(command, sizeof command, "rm -rf %s", s.folder);
    assert_int_equal(system(command), 0);
    if (status != TSR_OK) {
        fail_msg("%lld ranks: %s", (long long)ranks, tsr_context_diagnostics(f->ctx)->text);
    }
}

static void every_layout_in_and_out(void **state)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 6, &ranks);) {
        in_a_folder(*state, ranks, run);
    }
}

/* ---- a file that shrinks while it is read ---- */

typedef struct shrinking {
    const char *path;
    atomic_bool done;
    off_t size;
} shrinking;

static void *shrink(void *state)
{
    shrinking *s = state;
    while (!atomic_load(&s->done)) {
        if (truncate(s->path, 4096) != 0 || truncate(s->path, s->size) != 0) {
            break;
        }
    }
    return NULL;
}

static tsr_status load_often(tsr_comm *world, void *state)
{
    const scene *s = state;
    char path[PATH];
    const int64_t extent = 1 << 20;
    const tsr_sharding *row = NULL;
    tsr_tensor *t = NULL;
    tsr_arena *arena = NULL;
    (void)snprintf(path, sizeof path, "%s/a.npy", s->folder);
    WANT(world, tsr_arena_create(tsr_comm_context(world), &arena) == TSR_OK);
    WANT(world, tsr_sharding_parse(tsr_comm_context(world), arena, s->mesh, "[{\"x\", \"y\"}]",
                                   &row) == TSR_OK);
    const tsr_tensor_spec spec = {row, TSR_F32, 1, &extent};
    WANT(world, tsr_ones(world, &spec, &t) == TSR_OK);
    WANT(world, tsr_tensor_save_npy(t, path) == TSR_OK);
    tsr_tensor_release(t);
    pthread_t thread;
    shrinking cut = {.path = path, .size = 128 + 4 * (off_t)extent};
    const bool cuts = tsr_comm_rank(world) == 0;
    WANT(world, !cuts || pthread_create(&thread, NULL, shrink, &cut) == 0);
    for (int i = 0; i < 50; i++) {
        tsr_tensor *back = NULL;
        const tsr_status status = tsr_tensor_load_npy(world, row, path, &back);
        tsr_tensor_release(back);
        tsr_context_clear(tsr_comm_context(world));
        if (status < 0 && status != TSR_ERR_INVALID && status != TSR_ERR_SYNTAX &&
            status != TSR_ERR_PEER) {
            return status;
        }
    }
    atomic_store(&cut.done, true);
    WANT(world, !cuts || pthread_join(thread, NULL) == 0);
    tsr_arena_destroy(arena);
    return TSR_OK;
}

static void files_may_shrink(void **state)
{
    in_a_folder(*state, 2, load_often);
}

int main(int argc, char **argv)
{
    kinds_choose(argc, argv);
    const struct CMUnitTest tests[] = {TEST(every_layout_in_and_out), TEST(files_may_shrink)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "contest.h"

#include <string.h>
#include <sys/mman.h>

static bool always(const contest *c)
{
    (void)c;
    return true;
}

/* At four ranks the largest size has no room for copies of everything. */
static bool has_room(const contest *c)
{
    return c->ranks * c->work->mebibytes <= 1024;
}

static bool is_collective(const contest *c)
{
    return c->work->row->collective != NO_COLLECTIVE;
}

static bool is_collective_with_room(const contest *c)
{
    return has_room(c) && is_collective(c);
}

/* Messages are slow, and what they cost does not change beyond caches. */
static bool has_messages(const contest *c)
{
    return c->messages != NULL && c->work->mebibytes <= 64;
}

static void redistribute_owned(contest *c)
{
    INSIST(tsr_redistribute_into(c->owned[DST], c->owned[SRC]) == TSR_OK);
}

static void redistribute_user(contest *c)
{
    INSIST(tsr_redistribute_into(c->user[DST], c->user[SRC]) == TSR_OK);
}

static void redistribute_by_messages(contest *c)
{
    INSIST(tsr_redistribute_into(c->by_messages[DST], c->by_messages[SRC]) == TSR_OK);
}

/* An array of rows that are cut along the first dimension. */
static tsr_view view_of(const tsr_tensor *t, const work_case *c, int64_t *shape)
{
    size_t rank = tsr_tensor_rank(t);
    memcpy(shape, tsr_tensor_local_shape(t), rank * sizeof *shape);
    if (c->row->collective == ALL_TO_ALL) {
        shape[0] = c->ranks;
        shape[1] = c->shape[2];
        rank = 2;
    }
    return (tsr_view){tsr_tensor_data(t), TSR_F32, rank, shape, NULL};
}

static void call_collective(tsr_comm *comm, const work_case *c, tsr_tensor *const *tensors)
{
    int64_t shapes[2][WORK_DIMS];
    const tsr_view src = view_of(tensors[SRC], c, shapes[SRC]);
    const tsr_view dst = view_of(tensors[DST], c, shapes[DST]);
    tsr_status status = TSR_ERR_INVALID;
    switch (c->row->collective) {
    case ALL_GATHER:
        status = tsr_comm_all_gather(comm, &src, 0, &dst);
        break;
    case REDUCE_SCATTER:
        status = tsr_comm_reduce_scatter(comm, TSR_REDUCE_SUM, &src, 0, &dst);
        break;
    case ALL_REDUCE:
        status = tsr_comm_all_reduce(comm, TSR_REDUCE_SUM, &src, &dst);
        break;
    case ALL_TO_ALL:
        status = tsr_comm_all_to_all(comm, &src, 0, 0, &dst);
        break;
    case NO_COLLECTIVE:
        break;
    }
    INSIST(status == TSR_OK);
}

static void collective_owned(contest *c)
{
    call_collective(c->world, c->work, c->owned);
}

static void collective_user(contest *c)
{
    call_collective(c->world, c->work, c->user);
}

static bool has_collective_by_messages(const contest *c)
{
    return has_messages(c) && is_collective(c);
}

static void collective_by_messages(contest *c)
{
    call_collective(c->messages, c->work, c->by_messages);
}

const contestant library_contestants[] = {
    {"tessera", IN_SEGMENTS, true, always, redistribute_owned},
    {"tessera user", IN_USER_MEMORY, false, has_room, redistribute_user},
    {"tessera collective", IN_SEGMENTS, true, is_collective, collective_owned},
    {"tessera collective user", IN_USER_MEMORY, false, is_collective_with_room, collective_user},
    {"tessera messages", IN_USER_MEMORY, false, has_messages, redistribute_by_messages},
    {"tessera collective messages", IN_USER_MEMORY, false, has_collective_by_messages,
     collective_by_messages},
};
const size_t num_library_contestants = sizeof library_contestants / sizeof library_contestants[0];

/* Whether a variable is unset, or says this. */
static bool wishes(const char *variable, const char *what)
{
    const char *wish = getenv(variable);
    return wish == NULL || strstr(what, wish) != NULL;
}

const contest_size *contest_sizes(void)
{
    static const contest_size all[] = {{1, 21}, {64, 9}, {512, 3}, {0}};
    static const contest_size quick[] = {{64, 5}, {0}};
    static contest_size one[] = {{0, 9}, {0}};
    const char *wish = getenv("TSR_BENCH_QUICK");
    const char *size = getenv("TSR_BENCH_MIB");
    if (size != NULL) {
        one[0].mebibytes = atoll(size);
        return one;
    }
    return wish != NULL && strcmp(wish, "1") == 0 ? quick : all;
}

void contest_barrier(contest *c)
{
    INSIST(tsr_barrier(c->world) == TSR_OK);
}

static void copy_limit(contest *c)
{
    memcpy(c->memory[DST], c->memory[SRC], work_limit_bytes(c->work, tsr_comm_rank(c->world)));
}

static char *destination(const contest *c, const contestant *who)
{
    return who->memory == IN_SEGMENTS ? tsr_tensor_data(c->owned[DST]) : c->memory[DST];
}

/* Ends the program unless the destination holds just what it must. */
static void check(contest *c, const contestant *who)
{
    enum { WRONG = 0x5a };
    const int64_t rank = tsr_comm_rank(c->world);
    memset(destination(c, who), WRONG, c->work->parts[DST][rank].bytes);
    c->barrier(c);
    who->run(c);
    if (!work_is_right(c->work, rank, destination(c, who))) {
        (void)fprintf(stderr, "%s on %s, rank %lld: %s did not do the work\n", c->work->row->name,
                      c->kind, (long long)rank, who->name);
        exit(1);
    }
    c->barrier(c);
}

/* Seconds from when all ranks begin until all are done. */
static double time_once(contest *c, void (*run)(contest *c))
{
    c->barrier(c);
    const double start = seconds();
    run(c);
    c->barrier(c);
    return seconds() - start;
}

/* The median of samples, which get sorted, and their spread. */
typedef struct figure {
    double median;
    double spread; /* (largest - smallest) / median */
} figure;

static figure figure_of(double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, by_value);
    const double middle = samples[count / 2];
    return (figure){middle, (samples[count - 1] - samples[0]) / middle};
}

/* What is wanted of the library: at two ranks, where shards do not fit caches. */
static double wanted_of(const contest *c, const work_row *row, int64_t mebibytes)
{
    if (c->ranks != 2 || mebibytes < 64) {
        return 0;
    }
    return strcmp(c->kind, "threads") == 0 ? row->wanted_threads : row->wanted_mpi;
}

static void print_figure(const contest *c, const work_row *row, int64_t mebibytes, const char *who,
                         const char *limit_name, double wanted, figure ours, figure limit)
{
    printf("{\"bench\": \"works\", \"work\": \"%s\", \"contestant\": \"%s\", \"kind\": \"%s\", "
           "\"ranks\": %lld, \"mebibytes\": %lld, \"milliseconds\": %.3f, \"spread\": %.2f, "
           "\"limit\": \"%s\", \"limit_milliseconds\": %.3f, \"limit_spread\": %.2f, "
           "\"ratio\": %.2f",
           row->name, who, c->kind, (long long)c->ranks, (long long)mebibytes, 1e3 * ours.median,
           ours.spread, limit_name, 1e3 * limit.median, limit.spread, ours.median / limit.median);
    if (wanted > 0) {
        printf(", \"wanted\": %.2f, \"met\": %s", wanted,
               ours.median <= wanted * limit.median ? "true" : "false");
    }
    printf("}\n");
    (void)fflush(stdout);
}

/* The contestants of a work, after the limit. */
typedef struct field {
    size_t count;
    const contestant *who[MAX_CONTESTANTS];
    double samples[1 + MAX_CONTESTANTS][MAX_ROUNDS];
} field;

static void add_contestants(field *f, const contest *c, const contestant *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].applies(c)) {
            INSIST(f->count < MAX_CONTESTANTS);
            f->who[f->count++] = &list[i];
        }
    }
}

static void report(const contest *c, field *f, size_t rounds)
{
    const work_case *w = c->work;
    char limit_name[96];
    const figure limit = figure_of(f->samples[0], rounds);
    (void)snprintf(limit_name, sizeof limit_name, "memcpy of %zu bytes by each rank",
                   work_limit_bytes(w, 0));
    for (size_t i = 0; i < f->count; i++) {
        const double wanted = f->who[i]->ours ? wanted_of(c, w->row, w->mebibytes) : 0;
        print_figure(c, w->row, w->mebibytes, f->who[i]->name, limit_name, wanted,
                     figure_of(f->samples[1 + i], rounds), limit);
    }
}

static void race_all(contest *c, const contest_size *size, const contest_hooks *hooks)
{
    field f = {.count = 0};
    add_contestants(&f, c, library_contestants, num_library_contestants);
    add_contestants(&f, c, hooks->peers, hooks->num_peers);
    for (size_t i = 0; i < f.count; i++) {
        check(c, f.who[i]);
    }
    (void)time_once(c, copy_limit);
    for (int round = 0; round < size->rounds; round++) {
        f.samples[0][round] = time_once(c, copy_limit);
        for (size_t i = 0; i < f.count; i++) {
            f.samples[1 + i][round] = time_once(c, f.who[i]->run);
        }
    }
    if (tsr_comm_rank(c->world) == 0) {
        report(c, &f, (size_t)size->rounds);
    }
}

static void make_tensors(contest *c)
{
    const int64_t rank = tsr_comm_rank(c->world);
    for (int side = SRC; side <= DST; side++) {
        const tsr_tensor_spec spec = work_spec(c->work, side);
        char *memory = c->memory[side];
        INSIST(tsr_tensor_create(c->world, &spec, &c->owned[side]) == TSR_OK);
        INSIST(tsr_tensor_wrap(c->world, &spec, memory, NULL, &c->user[side]) == TSR_OK);
        if (c->messages != NULL) {
            INSIST(tsr_tensor_wrap(c->messages, &spec, memory, NULL, &c->by_messages[side]) ==
                   TSR_OK);
        }
    }
    work_fill(c->work, rank, tsr_tensor_data(c->owned[SRC]));
    work_fill(c->work, rank, c->memory[SRC]);
}

static void release_tensors(contest *c)
{
    for (int side = SRC; side <= DST; side++) {
        tsr_tensor_release(c->by_messages[side]);
        tsr_tensor_release(c->user[side]);
        tsr_tensor_release(c->owned[side]);
        c->by_messages[side] = NULL;
    }
}

/* The user's memory, touched: enough for every work of a size. */
static void get_memory(contest *c, int64_t mebibytes)
{
    c->room = ((size_t)mebibytes << 20) + 8192;
    for (int side = SRC; side <= DST; side++) {
        c->memory[side] = malloc(c->room);
        INSIST(c->memory[side] != NULL);
        memset(c->memory[side], 1, c->room);
    }
}

void contest_run(contest *c, const contest_size *size, const contest_hooks *hooks)
{
    static const contest_hooks none;
    const contest_hooks *h = hooks != NULL ? hooks : &none;
    work_case *w = malloc(sizeof *w);
    INSIST(w != NULL);
    c->work = w;
    get_memory(c, size->mebibytes);
    for (size_t i = 0; i < num_work_rows; i++) {
        if (work_rows[i].least_ranks > c->ranks || !wishes("TSR_BENCH_WORK", work_rows[i].name)) {
            continue;
        }
        work_open(c->world, &work_rows[i], size->mebibytes, w);
        INSIST(work_limit_bytes(w, tsr_comm_rank(c->world)) <= c->room);
        make_tensors(c);
        if (h->open != NULL) {
            h->open(c);
        }
        race_all(c, size, h);
        if (h->close != NULL) {
            h->close(c);
        }
        release_tensors(c);
        work_close(w);
    }
    free(c->memory[SRC]);
    free(c->memory[DST]);
    free(w);
}

/* Seconds of a memcpy into fresh memory. */
static double time_fresh_copy(contest *c, size_t bytes)
{
    char *from = malloc(bytes);
    char *to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    INSIST(from != NULL && to != MAP_FAILED);
    memset(from, 1, bytes);
    c->barrier(c);
    const double start = seconds();
    memcpy(to, from, bytes);
    c->barrier(c);
    const double took = seconds() - start;
    free(from);
    (void)munmap(to, bytes);
    return took;
}

bool contest_has_cold(const work_row *row)
{
    return row->wanted_mpi > 0 && wishes("TSR_BENCH_WORK", row->name);
}

contest_cold contest_cold_once(contest *c, const work_row *row)
{
    const int64_t rank = tsr_comm_rank(c->world);
    work_case *w = malloc(sizeof *w);
    tsr_tensor *src;
    tsr_tensor *dst;
    INSIST(w != NULL);
    work_open(c->world, row, COLD_MIB, w);
    const tsr_tensor_spec spec = work_spec(w, SRC);
    INSIST(tsr_tensor_create(c->world, &spec, &src) == TSR_OK);
    work_fill(w, rank, tsr_tensor_data(src));
    c->barrier(c);
    const double start = seconds();
    INSIST(tsr_redistribute(src, w->shardings[DST], &dst) == TSR_OK);
    c->barrier(c);
    const double ours = seconds() - start;
    INSIST(work_is_right(w, rank, tsr_tensor_data(dst)));
    tsr_tensor_release(dst);
    tsr_tensor_release(src);
    const double limit = time_fresh_copy(c, work_limit_bytes(w, rank));
    work_close(w);
    free(w);
    return (contest_cold){ours, limit};
}

void contest_report_cold(const contest *c, const work_row *row, const contest_cold *samples)
{
    double ours[COLD_ROUNDS];
    double limits[COLD_ROUNDS];
    for (size_t i = 0; i < COLD_ROUNDS; i++) {
        ours[i] = samples[i].ours;
        limits[i] = samples[i].limit;
    }
    print_figure(c, row, COLD_MIB, "tessera cold", "memcpy into fresh pages", 0,
                 figure_of(ours, COLD_ROUNDS), figure_of(limits, COLD_ROUNDS));
}

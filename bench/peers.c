/*
 * The works of works.h under mpirun, against what a user of MPI would use for them: Alltoallw with
 * subarray types, packing and Alltoallv, the collective that is the work, and ScaLAPACK's pdgemr2d.
 * Compiled once for each MPI.
 *
 * Types, counts and buffers are made once and not timed, buffers are touched. What a rank keeps,
 * packing and Alltoallv copy directly, once.
 */
#include <mpi.h>
#include <string.h>

#include "contest.h"

#ifndef PEERS_MPI
#define PEERS_MPI "mpi"
#endif

enum { RANKS = 2 };

/* What of a rank's shard goes to another's: a box in both. */
typedef struct overlap {
    int64_t size[WORK_DIMS];
    int64_t src[WORK_DIMS];
    int64_t dst[WORK_DIMS];
} overlap;

typedef struct overlaps {
    size_t count;
    int elements;
    overlap boxes[WORK_BOXES];
} overlaps;

/*
 * The prepared state of the peers for a work: by rank, what this one sends to it and receives from
 * it.
 */
typedef struct peer_plan {
    overlaps out[RANKS];
    overlaps in[RANKS];
    MPI_Datatype send_types[RANKS];
    MPI_Datatype receive_types[RANKS];
    int send_counts[RANKS]; /* of elements */
    int receive_counts[RANKS];
    int send_starts[RANKS];
    int receive_starts[RANKS];
    char *packed[2];
} peer_plan;

static bool intersect(const work_box *src, const work_box *dst, overlap *out)
{
    for (size_t i = 0; i < WORK_DIMS; i++) {
        const int64_t from = src->start[i] > dst->start[i] ? src->start[i] : dst->start[i];
        const int64_t src_end = src->start[i] + src->size[i];
        const int64_t dst_end = dst->start[i] + dst->size[i];
        const int64_t end = src_end < dst_end ? src_end : dst_end;
        out->size[i] = end - from;
        out->src[i] = src->local[i] + from - src->start[i];
        out->dst[i] = dst->local[i] + from - dst->start[i];
        if (end <= from) {
            return false;
        }
    }
    return true;
}

/* A source that every rank has is not sent. */
static void overlaps_of(const work_case *w, int64_t from, int64_t to, overlaps *out)
{
    const work_part *src = &w->parts[SRC][from];
    const work_part *dst = &w->parts[DST][to];
    *out = (overlaps){.count = 0};
    for (size_t i = 0; i < src->num_boxes && (!w->row->replicated || from == to); i++) {
        for (size_t k = 0; k < dst->num_boxes; k++) {
            INSIST(out->count < WORK_BOXES);
            overlap *o = &out->boxes[out->count];
            if (intersect(&src->boxes[i], &dst->boxes[k], o)) {
                out->elements += (int)(o->size[0] * o->size[1] * o->size[2]);
                out->count++;
            }
        }
    }
}

static MPI_Datatype type_of_box(const int64_t *shape, const int64_t *size, const int64_t *start)
{
    MPI_Datatype type;
    int numbers[3][WORK_DIMS];
    for (size_t i = 0; i < WORK_DIMS; i++) {
        numbers[0][i] = (int)shape[i];
        numbers[1][i] = (int)size[i];
        numbers[2][i] = (int)start[i];
    }
    (void)MPI_Type_create_subarray(WORK_DIMS, numbers[0], numbers[1], numbers[2], MPI_ORDER_C,
                                   MPI_FLOAT, &type);
    return type;
}

/* All boxes of a shard as one type: a subarray, or a structure of several. */
static MPI_Datatype type_of(const overlaps *o, const work_part *part, bool source)
{
    MPI_Datatype types[WORK_BOXES];
    MPI_Datatype whole;
    int ones[WORK_BOXES];
    MPI_Aint zeros[WORK_BOXES];
    for (size_t i = 0; i < o->count; i++) {
        const overlap *box = &o->boxes[i];
        types[i] = type_of_box(part->shape, box->size, source ? box->src : box->dst);
        ones[i] = 1;
        zeros[i] = 0;
    }
    if (o->count == 0) {
        (void)MPI_Type_contiguous(1, MPI_FLOAT, &whole);
    } else if (o->count == 1) {
        whole = types[0];
    } else {
        (void)MPI_Type_create_struct((int)o->count, ones, zeros, types, &whole);
    }
    (void)MPI_Type_commit(&whole);
    for (size_t i = 0; o->count > 1 && i < o->count; i++) {
        (void)MPI_Type_free(&types[i]);
    }
    return whole;
}

/* Calls memcpy for every row of a box, packed on one side. */
static char *pack_box(char *packed, char *shard, const work_part *part, const overlap *o,
                      bool packs)
{
    const int64_t *at = packs ? o->src : o->dst;
    const size_t run = 4 * (size_t)o->size[2];
    for (int64_t i = 0; i < o->size[0]; i++) {
        for (int64_t j = 0; j < o->size[1]; j++) {
            char *row =
                shard + 4 * (((at[0] + i) * part->shape[1] + at[1] + j) * part->shape[2] + at[2]);
            memcpy(packs ? packed : row, packs ? row : packed, run);
            packed += run;
        }
    }
    return packed;
}

static void copy_own(const contest *c, int64_t me)
{
    const peer_plan *x = c->peers;
    const work_part *src = &c->work->parts[SRC][me];
    const work_part *dst = &c->work->parts[DST][me];
    for (size_t k = 0; k < x->out[me].count; k++) {
        const overlap *o = &x->out[me].boxes[k];
        for (int64_t i = 0; i < o->size[0]; i++) {
            for (int64_t j = 0; j < o->size[1]; j++) {
                memcpy(c->memory[DST] +
                           4 * (((o->dst[0] + i) * dst->shape[1] + o->dst[1] + j) * dst->shape[2] +
                                o->dst[2]),
                       c->memory[SRC] +
                           4 * (((o->src[0] + i) * src->shape[1] + o->src[1] + j) * src->shape[2] +
                                o->src[2]),
                       4 * (size_t)o->size[2]);
            }
        }
    }
}

static bool moves_only(const contest *c)
{
    return !c->work->row->pending;
}

static bool has_own_collective(const contest *c)
{
    return c->work->row->collective != NO_COLLECTIVE;
}

static void run_alltoallw(contest *c)
{
    const peer_plan *x = c->peers;
    static const int nowhere[RANKS];
    int sends[RANKS];
    int receives[RANKS];
    for (int i = 0; i < RANKS; i++) {
        sends[i] = x->out[i].count > 0;
        receives[i] = x->in[i].count > 0;
    }
    INSIST(MPI_Alltoallw(c->memory[SRC], sends, nowhere, x->send_types, c->memory[DST], receives,
                         nowhere, x->receive_types, MPI_COMM_WORLD) == MPI_SUCCESS);
}

static void run_pack_alltoallv(contest *c)
{
    const peer_plan *x = c->peers;
    const int64_t me = tsr_comm_rank(c->world);
    char *at = x->packed[SRC];
    for (int64_t to = 0; to < RANKS; to++) {
        for (size_t i = 0; to != me && i < x->out[to].count; i++) {
            at = pack_box(at, c->memory[SRC], &c->work->parts[SRC][me], &x->out[to].boxes[i], true);
        }
    }
    INSIST(MPI_Alltoallv(x->packed[SRC], x->send_counts, x->send_starts, MPI_FLOAT, x->packed[DST],
                         x->receive_counts, x->receive_starts, MPI_FLOAT,
                         MPI_COMM_WORLD) == MPI_SUCCESS);
    at = x->packed[DST];
    for (int64_t from = 0; from < RANKS; from++) {
        for (size_t i = 0; from != me && i < x->in[from].count; i++) {
            at = pack_box(at, c->memory[DST], &c->work->parts[DST][me], &x->in[from].boxes[i],
                          false);
        }
    }
    copy_own(c, me);
}

static void run_own_collective(contest *c)
{
    const int64_t me = tsr_comm_rank(c->world);
    const int in = (int)(c->work->parts[SRC][me].bytes / 4);
    const int out = (int)(c->work->parts[DST][me].bytes / 4);
    const char *src = c->memory[SRC];
    char *dst = c->memory[DST];
    int error = MPI_ERR_OTHER;
    switch (c->work->row->collective) {
    case ALL_GATHER:
        error = MPI_Allgather(src, in, MPI_FLOAT, dst, in, MPI_FLOAT, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER:
        error = MPI_Reduce_scatter_block(src, dst, out, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case ALL_REDUCE:
        error = MPI_Allreduce(src, dst, in, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case ALL_TO_ALL:
        error =
            MPI_Alltoall(src, in / RANKS, MPI_FLOAT, dst, in / RANKS, MPI_FLOAT, MPI_COMM_WORLD);
        break;
    case NO_COLLECTIVE:
        break;
    }
    INSIST(error == MPI_SUCCESS);
}

#ifdef PEERS_SCALAPACK

/* The C interfaces of BLACS and ScaLAPACK have no header. */
void Cblacs_pinfo(int *rank, int *size);
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cpdgemr2d(int rows, int columns, const double *src, int i, int j, const int *src_descriptor,
               double *dst, int k, int l, const int *dst_descriptor, int context);

/* Both grids of two processes: one above the other, and side by side. */
static int grids[2];

static void open_grids(void)
{
    int rank;
    int size;
    Cblacs_pinfo(&rank, &size);
    for (int i = 0; i < 2; i++) {
        Cblacs_get(-1, 0, &grids[i]);
        Cblacs_gridinit(&grids[i], "Row", i == 0 ? RANKS : 1, i == 0 ? 1 : RANKS);
    }
}

/*
 * A row-major matrix of pairs of floats is a column-major one of doubles, transposed: rows of ours
 * are columns of theirs. The descriptor: dense, the grid, the matrix, its blocks, where it begins,
 * and the distance of columns.
 */
static void describe(const contest *c, int side, int *descriptor)
{
    const work_part *part = &c->work->parts[side][tsr_comm_rank(c->world)];
    const int rows = (int)part->shape[2] / 2;
    const int columns = (int)part->shape[1];
    const bool by_rows = part->shape[1] < c->work->shape[0];
    const int numbers[] = {1,
                           grids[by_rows ? 1 : 0],
                           (int)c->work->shape[1] / 2,
                           (int)c->work->shape[0],
                           rows,
                           columns,
                           0,
                           0,
                           rows};
    memcpy(descriptor, numbers, sizeof numbers);
}

static bool is_2d(const contest *c)
{
    return c->work->row->wanted_mpi > 0 && c->work->row->rank == 2 &&
           c->work->row->collective == NO_COLLECTIVE;
}

static void run_pdgemr2d(contest *c)
{
    int src[9];
    int dst[9];
    describe(c, SRC, src);
    describe(c, DST, dst);
    Cpdgemr2d(src[2], src[3], (const double *)(const void *)c->memory[SRC], 1, 1, src,
              (double *)(void *)c->memory[DST], 1, 1, dst, grids[0]);
}

#define SCALAPACK_CONTESTANT {"pdgemr2d", IN_USER_MEMORY, false, is_2d, run_pdgemr2d},

#else

static void open_grids(void) {}
#define SCALAPACK_CONTESTANT

#endif

static const contestant peers[] = {
    {"MPI_Alltoallw", IN_USER_MEMORY, false, moves_only, run_alltoallw},
    {"pack + MPI_Alltoallv", IN_USER_MEMORY, false, moves_only, run_pack_alltoallv},
    {"MPI's collective", IN_USER_MEMORY, false, has_own_collective, run_own_collective},
    SCALAPACK_CONTESTANT};

static char *touched(size_t bytes)
{
    char *memory = malloc(bytes + 1);
    INSIST(memory != NULL);
    memset(memory, 1, bytes + 1);
    return memory;
}

/* Where each rank's elements start in a packed buffer, its own left out; the bytes of all. */
static size_t place_packed(const overlaps *all, int64_t me, int *counts, int *starts)
{
    int at = 0;
    for (int64_t i = 0; i < RANKS; i++) {
        counts[i] = i == me ? 0 : all[i].elements;
        starts[i] = at;
        at += counts[i];
    }
    return 4 * (size_t)at;
}

static void open_peer_plan(contest *c)
{
    const work_case *w = c->work;
    const int64_t me = tsr_comm_rank(c->world);
    peer_plan *x = malloc(sizeof *x);
    INSIST(x != NULL);
    for (int64_t i = 0; i < RANKS; i++) {
        overlaps_of(w, me, i, &x->out[i]);
        overlaps_of(w, i, me, &x->in[i]);
        x->send_types[i] = type_of(&x->out[i], &w->parts[SRC][me], true);
        x->receive_types[i] = type_of(&x->in[i], &w->parts[DST][me], false);
    }
    x->packed[SRC] = touched(place_packed(x->out, me, x->send_counts, x->send_starts));
    x->packed[DST] = touched(place_packed(x->in, me, x->receive_counts, x->receive_starts));
    c->peers = x;
}

static void close_peer_plan(contest *c)
{
    peer_plan *x = c->peers;
    for (int i = 0; i < RANKS; i++) {
        (void)MPI_Type_free(&x->send_types[i]);
        (void)MPI_Type_free(&x->receive_types[i]);
    }
    free(x->packed[SRC]);
    free(x->packed[DST]);
    free(x);
}

static void barrier(contest *c)
{
    (void)c;
    (void)MPI_Barrier(MPI_COMM_WORLD);
}

static tsr_comm *open_world(tsr_context *ctx, bool messages)
{
    tsr_comm *world;
    const MPI_Comm comm = MPI_COMM_WORLD;
    bool shared;
    INSIST(messages ? setenv("TSR_TRANSPORT", "message", 1) == 0 : unsetenv("TSR_TRANSPORT") == 0);
    INSIST(tsr_comm_open_mpi(ctx, &comm, NULL, &world) == TSR_OK);
    (void)tsr_comm_transport(world, &shared);
    INSIST(shared == !messages);
    INSIST(tsr_comm_size(world) == RANKS);
    return world;
}

static void bench_warm(tsr_context *contexts[2], contest c)
{
    const contest_hooks hooks = {peers, sizeof peers / sizeof peers[0], open_peer_plan,
                                 close_peer_plan};
    for (const contest_size *size = contest_sizes(); size->mebibytes > 0; size++) {
        c.world = open_world(contexts[0], false);
        c.messages = open_world(contexts[1], true);
        contest_run(&c, size, &hooks);
        INSIST(tsr_comm_close(c.messages) == TSR_OK);
        INSIST(tsr_comm_close(c.world) == TSR_OK);
    }
}

static void bench_cold(tsr_context *ctx, contest c)
{
    for (size_t i = 0; i < num_work_rows; i++) {
        contest_cold samples[COLD_ROUNDS];
        int rank;
        if (!contest_has_cold(&work_rows[i])) {
            continue;
        }
        for (size_t round = 0; round < COLD_ROUNDS; round++) {
            c.world = open_world(ctx, false);
            samples[round] = contest_cold_once(&c, &work_rows[i]);
            INSIST(tsr_comm_close(c.world) == TSR_OK);
        }
        (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) {
            contest_report_cold(&c, &work_rows[i], samples);
        }
    }
}

int main(int argc, char **argv)
{
    tsr_context *contexts[2];
    const contest c = {.ranks = RANKS, .kind = PEERS_MPI, .barrier = barrier};
    INSIST(MPI_Init(&argc, &argv) == MPI_SUCCESS);
    INSIST(tsr_context_create(NULL, &contexts[0]) == TSR_OK);
    INSIST(tsr_context_create(NULL, &contexts[1]) == TSR_OK);
    open_grids();
    bench_warm(contexts, c);
    bench_cold(contexts[0], c);
    tsr_context_destroy(contexts[1]);
    tsr_context_destroy(contexts[0]);
    (void)MPI_Finalize();
    return 0;
}

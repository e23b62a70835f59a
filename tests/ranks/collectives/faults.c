/* What ranks may do wrong in a collective, what the others hear of it, and what calls move. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "memory_transport.h"
#include "scenario.h"

#include "base/diag.h"
#include "coll/cost.h"
#include "rt/comm.h"

enum { RANKS = 3, GUILTY = 1, ROWS = 12, COLUMNS = 10, ELEMENTS = RANKS * ROWS * COLUMNS };

/* Fails the rank, with a message, unless the condition holds. */
#define WANT(world, condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,               \
                              "%s: line %d: %s; last message: %s", b.f->name, __LINE__,            \
                              #condition, last_error_text(tsr_comm_context(world)));               \
        }                                                                                          \
    } while (0)

typedef struct bench_call bench_call;

/* One wrong argument: what is called, how it is spoiled, and what is said. */
typedef struct fault {
    const char *name;
    coll_kind kind;
    void (*spoil)(bench_call *b);
    tsr_status status;
    const char *text;
} fault;

/* A call that would work, on arrays of 12 x 10 floats; cut ones have 36 rows. */
struct bench_call {
    const fault *f;
    float in[2 * ELEMENTS];
    float out[2 * ELEMENTS];
    int64_t src_shape[34];
    int64_t dst_shape[34];
    int64_t strides[2];
    int64_t counts[RANKS];
    int64_t receive_counts[RANKS];
    int64_t destinations[RANKS];
    tsr_view src;
    tsr_view dst;
    any_call call;
};

static void dst_shape(bench_call *b)
{
    b->dst_shape[1]++;
}
static void dst_dtype(bench_call *b)
{
    b->dst.dtype = TSR_I32;
}
static void dst_rank(bench_call *b)
{
    b->dst.rank = 1;
}
static void dim_beyond(bench_call *b)
{
    b->call.dim = 2;
}
static void concat_beyond(bench_call *b)
{
    b->call.concat_dim = 7;
}
static void root_beyond(bench_call *b)
{
    b->call.root = RANKS;
}
static void root_negative(bench_call *b)
{
    b->call.root = -1;
}
static void no_src(bench_call *b)
{
    b->call.src = NULL;
}
static void no_dst(bench_call *b)
{
    b->call.dst = NULL;
}
static void no_data(bench_call *b)
{
    b->src.data = NULL;
}
static void no_shape(bench_call *b)
{
    b->src.shape = NULL;
}
static void negative_extent(bench_call *b)
{
    b->src_shape[0] = -4;
}
static void too_many_dims(bench_call *b)
{
    b->src.rank = 33;
}
static void no_such_dtype(bench_call *b)
{
    b->src.dtype = (tsr_dtype)99;
}
static void too_many_bytes(bench_call *b)
{
    b->src_shape[0] = INT64_C(1) << 40;
    b->src_shape[1] = INT64_C(1) << 40;
}
static void too_wide(bench_call *b)
{
    b->strides[0] = INT64_C(1) << 62;
    b->strides[1] = 4;
    b->src.strides = b->strides;
}
static void too_many_rows(bench_call *b)
{
    b->src_shape[0] = INT64_C(1) << 62;
    b->src_shape[1] = 0;
}
static void overlap(bench_call *b)
{
    b->dst.data = (char *)b->src.data + 4;
}
static void overlap_after(bench_call *b)
{
    b->dst.data = b->out;
    b->src.data = b->out + ROWS * COLUMNS - 1;
}
static void other_layout(bench_call *b)
{
    b->dst.data = b->src.data;
    b->strides[0] = 4;
    b->strides[1] = 4 * ROWS;
    b->dst.strides = b->strides;
}
static void dst_on_itself(bench_call *b)
{
    b->strides[0] = 4 * (COLUMNS - 1);
    b->strides[1] = 4;
    b->dst.strides = b->strides;
}
static void dst_repeated(bench_call *b)
{
    b->strides[0] = 0;
    b->strides[1] = 4;
    b->dst.strides = b->strides;
}
static void and_of_floats(bench_call *b)
{
    b->call.op = TSR_REDUCE_AND;
}
static void no_such_op(bench_call *b)
{
    b->call.op = (tsr_reduce_op)7;
}
static void sum_of_f8(bench_call *b)
{
    b->src.dtype = TSR_F8E5M2;
    b->dst.dtype = TSR_F8E5M2;
}
static void max_of_complex(bench_call *b)
{
    b->call.op = TSR_REDUCE_MAX;
    b->src.dtype = TSR_C64;
    b->dst.dtype = TSR_C64;
}
static void odd_rows(bench_call *b)
{
    b->src_shape[0]++;
}
static void no_counts(bench_call *b)
{
    b->call.counts = NULL;
}
static void no_receive_counts(bench_call *b)
{
    b->call.receive_counts = NULL;
}
static void negative_count(bench_call *b)
{
    b->counts[2] = -1;
}
static void huge_counts(bench_call *b)
{
    b->counts[1] = INT64_MAX;
}
static void wrong_sum(bench_call *b)
{
    b->counts[2]++;
}
static void wrong_own_count(bench_call *b)
{
    b->counts[GUILTY]++;
}
static void wrong_receive_sum(bench_call *b)
{
    b->receive_counts[0]++;
}
static void no_destinations(bench_call *b)
{
    b->call.destinations = NULL;
}
static void destination_beyond(bench_call *b)
{
    b->destinations[0] = RANKS;
}
static void destination_below(bench_call *b)
{
    b->destinations[2] = -2;
}
static void destination_twice(bench_call *b)
{
    b->destinations[2] = b->destinations[0];
}

static const fault faults[] = {
    {"shape", COLL_ALL_GATHER, dst_shape, TSR_ERR_INVALID,
     "dst is f32[36,11], expected f32[36,10]"},
    {"shape", COLL_ALL_REDUCE, dst_shape, TSR_ERR_INVALID,
     "dst is f32[12,11], expected f32[12,10]"},
    {"shape", COLL_ALL_TO_ALL, dst_shape, TSR_ERR_INVALID,
     "dst is f32[12,31], expected f32[12,30]"},
    {"shape", COLL_PERMUTE, dst_shape, TSR_ERR_INVALID, "dst is f32[12,11], expected f32[12,10]"},
    {"shape", COLL_ALL_GATHER_V, dst_shape, TSR_ERR_INVALID,
     "dst is f32[36,11], expected f32[36,10]"},
    {"dtype", COLL_REDUCE_SCATTER, dst_dtype, TSR_ERR_INVALID,
     "dst is i32[12,10], expected f32[12,10]"},
    {"rank", COLL_ALL_GATHER, dst_rank, TSR_ERR_INVALID, "dst is f32[36], expected f32[36,10]"},
    {"dim", COLL_ALL_GATHER, dim_beyond, TSR_ERR_INVALID,
     "dimension 2 is out of range: the array has rank 2"},
    {"dim", COLL_SCATTER, dim_beyond, TSR_ERR_INVALID,
     "dimension 2 is out of range: the array has rank 2"},
    {"dim", COLL_ALL_TO_ALL, concat_beyond, TSR_ERR_INVALID,
     "dimension 7 is out of range: the array has rank 2"},
    {"root", COLL_BROADCAST, root_beyond, TSR_ERR_INVALID, "the root must be 0 to 2, got: 3"},
    {"root", COLL_SCATTER, root_negative, TSR_ERR_INVALID, "the root must be 0 to 2, got: -1"},
    {"root", COLL_GATHER, root_beyond, TSR_ERR_INVALID, "the root must be 0 to 2, got: 3"},
    {"null", COLL_BROADCAST, no_src, TSR_ERR_INVALID, "view is missing (NULL)"},
    {"null", COLL_ALL_REDUCE, no_src, TSR_ERR_INVALID, "src is missing (NULL)"},
    {"null", COLL_ALL_REDUCE, no_dst, TSR_ERR_INVALID, "dst is missing (NULL)"},
    {"null", COLL_SCATTER, no_src, TSR_ERR_INVALID, "src is missing (NULL)"},
    {"null", COLL_GATHER, no_dst, TSR_ERR_INVALID, "dst is missing (NULL)"},
    {"data", COLL_ALL_GATHER, no_data, TSR_ERR_INVALID, "src has elements but no data (NULL)"},
    {"shape", COLL_ALL_REDUCE, no_shape, TSR_ERR_INVALID, "src has rank 2 but no shape (NULL)"},
    {"extent", COLL_ALL_REDUCE, negative_extent, TSR_ERR_INVALID, "src has -4 rows in dimension 0"},
    {"dims", COLL_ALL_REDUCE, too_many_dims, TSR_ERR_LIMIT, "src has rank 33; the maximum is 32"},
    {"type", COLL_ALL_REDUCE, no_such_dtype, TSR_ERR_INVALID,
     "src has element type 99, which is not one of the"},
    {"bytes", COLL_ALL_REDUCE, too_many_bytes, TSR_ERR_OVERFLOW, "src has more than 2^63-1 bytes"},
    {"span", COLL_ALL_REDUCE, too_wide, TSR_ERR_OVERFLOW, "span more than 2^63-1 bytes"},
    {"rows", COLL_ALL_GATHER, too_many_rows, TSR_ERR_OVERFLOW, "times 3 members exceed"},
    {"overlap", COLL_ALL_GATHER, overlap, TSR_ERR_INVALID, "src and dst overlap"},
    {"overlap", COLL_ALL_REDUCE, overlap, TSR_ERR_INVALID,
     "src and dst overlap and are not the same"},
    {"overlap", COLL_ALL_REDUCE, overlap_after, TSR_ERR_INVALID, "src and dst overlap"},
    {"overlap", COLL_ALL_REDUCE, other_layout, TSR_ERR_INVALID, "src and dst overlap"},
    {"stride", COLL_PERMUTE, dst_on_itself, TSR_ERR_INVALID,
     "the elements of dst overlap: the stride of dimension 0 is 36, it must be at least 40"},
    {"stride", COLL_ALL_REDUCE, dst_repeated, TSR_ERR_INVALID, "the elements of dst overlap"},
    {"op", COLL_ALL_REDUCE, and_of_floats, TSR_ERR_UNSUPPORTED,
     "and is not defined for element type f32"},
    {"op", COLL_ALL_REDUCE, no_such_op, TSR_ERR_INVALID, "the reduction must be 0 to 6, got: 7"},
    {"op", COLL_REDUCE_SCATTER, sum_of_f8, TSR_ERR_UNSUPPORTED,
     "sum is not defined for element type f8E5M2"},
    {"op", COLL_REDUCE_SCATTER_V, max_of_complex, TSR_ERR_UNSUPPORTED,
     "max is not defined for element type complex<f32>"},
    {"rows", COLL_REDUCE_SCATTER, odd_rows, TSR_ERR_INVALID,
     "src has 37 rows in dimension 0, not divisible by 3 members"},
    {"rows", COLL_ALL_TO_ALL, odd_rows, TSR_ERR_INVALID, "not divisible by 3 members"},
    {"counts", COLL_ALL_GATHER_V, no_counts, TSR_ERR_INVALID, "the counts are missing (NULL)"},
    {"counts", COLL_ALL_TO_ALL_V, no_receive_counts, TSR_ERR_INVALID,
     "the counts are missing (NULL)"},
    {"counts", COLL_GATHER_V, negative_count, TSR_ERR_INVALID,
     "counts must not be negative, got: -1 for member 2"},
    {"counts", COLL_SCATTER_V, huge_counts, TSR_ERR_OVERFLOW, "sum to more than 2^63-1"},
    {"counts", COLL_REDUCE_SCATTER_V, wrong_sum, TSR_ERR_INVALID,
     "src has 36 rows in dimension 0, the counts sum to 37"},
    {"counts", COLL_SCATTER_V, wrong_sum, TSR_ERR_INVALID,
     "src is f32[36,10], expected f32[37,10]"},
    {"counts", COLL_ALL_GATHER_V, wrong_own_count, TSR_ERR_INVALID,
     "src has 12 rows in dimension 0, this member's count is 13"},
    {"counts", COLL_ALL_TO_ALL_V, wrong_sum, TSR_ERR_INVALID,
     "src has 36 rows in dimension 0, the counts sum to 37"},
    {"counts", COLL_ALL_TO_ALL_V, wrong_receive_sum, TSR_ERR_INVALID,
     "dst is f32[36,10], expected f32[37,10]"},
    {"destinations", COLL_PERMUTE, no_destinations, TSR_ERR_INVALID,
     "the destinations are missing (NULL)"},
    {"destinations", COLL_PERMUTE, destination_beyond, TSR_ERR_INVALID,
     "destinations[0] must be -1 to 2, got: 3"},
    {"destinations", COLL_PERMUTE, destination_below, TSR_ERR_INVALID,
     "destinations[2] must be -1 to 2, got: -2"},
    {"destinations", COLL_PERMUTE, destination_twice, TSR_ERR_INVALID,
     "two members send to member 1, the second is destinations[2]"},
};

/* A call that is right. The guilty rank is the root, so that it has all views. */
static void set_up(bench_call *b, const fault *f)
{
    const coll_row *row = coll_row_of(f->kind);
    const bool turned = f->kind == COLL_ALL_TO_ALL;
    const bool cut_src = coll_has(row, COLL_CUTS_SRC);
    const bool cut_dst = coll_has(row, COLL_CUTS_DST);
    b->f = f;
    for (size_t i = 0; i < sizeof b->in / sizeof b->in[0]; i++) {
        b->in[i] = (float)i;
        b->out[i] = -1;
    }
    b->src_shape[0] = cut_src ? RANKS * ROWS : ROWS;
    b->src_shape[1] = COLUMNS;
    b->dst_shape[0] = cut_dst && !turned ? RANKS * ROWS : ROWS;
    b->dst_shape[1] = turned ? RANKS * COLUMNS : COLUMNS;
    for (int i = 0; i < RANKS; i++) {
        b->counts[i] = ROWS;
        b->receive_counts[i] = ROWS;
        b->destinations[i] = (i + 1) % RANKS;
    }
    b->src = (tsr_view){b->in, TSR_F32, 2, b->src_shape, NULL};
    b->dst = (tsr_view){b->out, TSR_F32, 2, b->dst_shape, NULL};
    b->call = (any_call){.kind = f->kind,
                         .src = &b->src,
                         .dst = &b->dst,
                         .concat_dim = turned ? 1 : 0,
                         .root = GUILTY,
                         .counts = b->counts,
                         .receive_counts = b->receive_counts,
                         .destinations = b->destinations};
}

static bool is_untouched(const bench_call *b)
{
    for (size_t i = 0; i < sizeof b->in / sizeof b->in[0]; i++) {
        if (b->in[i] != (float)i || b->out[i] != -1) {
            return false;
        }
    }
    return true;
}

/* Every fault in turn; after each the same call works without a fault. */
static tsr_status commit_faults(tsr_comm *world, void *state)
{
    static _Thread_local bench_call b;
    const bool guilty = tsr_comm_rank(world) == GUILTY;
    char refusal[CALL_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        set_up(&b, &faults[i]);
        WANT(world, make_call(world, &b.call) == TSR_OK);
        set_up(&b, &faults[i]);
        if (guilty) {
            faults[i].spoil(&b);
        }
        const tsr_status status = make_call(world, &b.call);
        WANT(world, status == faults[i].status);
        WANT(world, is_untouched(&b));
        const char *said = last_error_text(tsr_comm_context(world));
        (void)snprintf(refusal, sizeof refusal,
                       "%s: rank 1 refuses: ", coll_row_of(faults[i].kind)->call);
        WANT(world, strstr(said, faults[i].text) != NULL);
        WANT(world, guilty == (strstr(said, "refuses") == NULL));
        WANT(world, guilty || strncmp(said, refusal, strlen(refusal)) == 0);
        tsr_context_clear(tsr_comm_context(world));
    }
    return TSR_OK;
}

static void launch(fixture *f, tsr_ranks kind, bool checked, size_t bytes,
                   tsr_rank_function function)
{
    const tsr_launch_spec spec = {.num_ranks = RANKS,
                                  .ranks = kind,
                                  .timeout = 20,
                                  .checked = checked,
                                  .segment_bytes = bytes};
    bool flag = checked;
    expect_ranks(f, &spec, function, &flag);
}

/* More than the segment holds: the bounce block is refused, and small calls go on. */
static tsr_status want_too_much(tsr_comm *world, void *state)
{
    static const fault none = {.name = "no room", .kind = COLL_REDUCE_SCATTER};
    struct {
        const fault *f;
    } b = {&none};
    (void)state;
    const bool fits = world->team->threads || world->team->message;
    const int64_t n = 1 << 15;
    const int64_t all = RANKS * n;
    float *memory = calloc((size_t)(all + n), sizeof *memory);
    WANT(world, memory != NULL);
    const tsr_view src = {memory, TSR_F32, 1, &all, NULL};
    const tsr_view dst = {memory + all, TSR_F32, 1, &n, NULL};
    const tsr_status status = tsr_comm_reduce_scatter(world, TSR_REDUCE_SUM, &src, 0, &dst);
    WANT(world, status == (fits ? TSR_OK : TSR_ERR_NOMEM));
    WANT(world, fits || strstr(last_error_text(tsr_comm_context(world)),
                               "set a larger segment_bytes or TSR_SEGMENT_BYTES") != NULL);
    const int64_t few = 100;
    const tsr_view small = {memory, TSR_F32, 1, &few, NULL};
    WANT(world, tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &small, &small) == TSR_OK);
    free(memory);
    return TSR_OK;
}

void check_collective_faults(fixture *f, tsr_ranks kind)
{
    launch(f, kind, false, (size_t)1 << 22, commit_faults);
    launch(f, kind, true, (size_t)1 << 22, commit_faults);
    launch(f, kind, false, (size_t)1 << 17, want_too_much);
}

static void fewer_columns(bench_call *b)
{
    b->src_shape[1]--;
    b->dst_shape[1]--;
}
static void another_op(bench_call *b)
{
    b->call.op = TSR_REDUCE_PROD;
}
static void another_root(bench_call *b)
{
    b->call.root = 2;
}
static void another_type(bench_call *b)
{
    b->src.dtype = TSR_U32;
    b->dst.dtype = TSR_U32;
}
static void another_dim(bench_call *b)
{
    b->call.dim = 1;
    b->dst_shape[0] = ROWS;
    b->dst_shape[1] = RANKS * COLUMNS;
}
static void another_call(bench_call *b)
{
    b->call.kind = COLL_PERMUTE;
}
static void small_call(bench_call *b)
{
    b->src_shape[0] = 1;
    b->dst_shape[0] = 1;
}
static void other_counts(bench_call *b)
{
    b->counts[0]--;
    b->counts[2]++;
}
static void other_destinations(bench_call *b)
{
    b->destinations[0] = -1;
}

/* Calls that are right by themselves and do not go together. */
static const fault differences[] = {
    {"shape", COLL_ALL_REDUCE, fewer_columns, TSR_ERR_PEER,
     "rank 0 calls tsr_comm_all_reduce(sum, f32[12,10]); rank 1 calls tsr_comm_all_reduce(sum, "
     "f32[12,9])"},
    {"op", COLL_ALL_REDUCE, another_op, TSR_ERR_PEER,
     "rank 1 calls tsr_comm_all_reduce(prod, f32[12,10])"},
    {"size", COLL_ALL_REDUCE, small_call, TSR_ERR_PEER,
     "rank 1 calls tsr_comm_all_reduce(sum, f32[1,10])"},
    {"call", COLL_ALL_REDUCE, another_call, TSR_ERR_PEER,
     "rank 1 calls tsr_comm_permute(f32[12,10], destinations 1,2,0)"},
    {"root", COLL_BROADCAST, another_root, TSR_ERR_PEER,
     "rank 0 calls tsr_comm_broadcast(f32[12,10], root 1); rank 1 calls "
     "tsr_comm_broadcast(f32[12,10], root "
     "2)"},
    {"type", COLL_SCATTER, another_type, TSR_ERR_PEER,
     "rank 1 calls tsr_comm_scatter(ui32[12,10], dim 0, root 1)"},
    {"dim", COLL_ALL_GATHER, another_dim, TSR_ERR_PEER,
     "rank 0 calls tsr_comm_all_gather(f32[12,10], dim 0); rank 1 calls "
     "tsr_comm_all_gather(f32[12,10], dim "
     "1)"},
    {"counts", COLL_ALL_GATHER_V, other_counts, TSR_ERR_PEER,
     "rank 0 calls tsr_comm_all_gather_v(f32[12,10], dim 0, counts 12,12,12); rank 1 calls "
     "tsr_comm_all_gather_v(f32[12,10], dim 0, counts 11,12,13)"},
    {"destinations", COLL_PERMUTE, other_destinations, TSR_ERR_PEER, "destinations -1,2,0"},
    {"counts", COLL_ALL_TO_ALL_V, other_counts, TSR_ERR_INVALID,
     "tsr_comm_all_to_all_v: rank 1 sends 11 rows to rank 0, which expects 12"},
};

static tsr_status differ(tsr_comm *world, void *state)
{
    static _Thread_local bench_call b;
    (void)state;
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
        const fault *d = &differences[i];
        set_up(&b, d);
        if (tsr_comm_rank(world) == GUILTY) {
            d->spoil(&b);
        }
        WANT(world, make_call(world, &b.call) == d->status);
        WANT(world, is_untouched(&b));
        const char *said = last_error_text(tsr_comm_context(world));
        WANT(world, strstr(said, d->text) != NULL);
        tsr_context_clear(tsr_comm_context(world));
        set_up(&b, d);
        WANT(world, make_call(world, &b.call) == TSR_OK);
    }
    return TSR_OK;
}

void check_collective_differences(fixture *f, tsr_ranks kind)
{
    launch(f, kind, false, (size_t)1 << 22, differ);
    launch(f, kind, true, (size_t)1 << 22, differ);
}

/* What n stands for in the formula of each, and what the busiest member receives. */
typedef struct formula {
    coll_kind kind;
    int64_t n; /* bytes */
    int64_t received;
} formula;

static const formula formulas[] = {
    {COLL_ALL_GATHER, ELEMENTS * 4, ELEMENTS * 4 / RANKS *(RANKS - 1)},
    {COLL_REDUCE_SCATTER, ELEMENTS * 4, ELEMENTS * 4 / RANKS *(RANKS - 1)},
    {COLL_ALL_TO_ALL, ELEMENTS * 4, ELEMENTS * 4 / RANKS *(RANKS - 1)},
    {COLL_GATHER, ELEMENTS * 4, ELEMENTS * 4 / RANKS *(RANKS - 1)},
    {COLL_PERMUTE, ROWS *COLUMNS * 4, ROWS *COLUMNS * 4},
    {COLL_BROADCAST, ROWS *COLUMNS * 4, ROWS *COLUMNS * 4},
    {COLL_ALL_REDUCE, ROWS *COLUMNS * 4, 0},
};

/* What the formula says that a member receives; in a broadcast it also sends, but gets n once. */
static int64_t by_formula(tsr_comm *world, const formula *f)
{
    const tsr_link per_byte = {.beta = 1};
    const tsr_algorithm *a = NULL;
    if (tsr_comm_algorithm(world, coll_row_of(f->kind)->name, (double)f->n, &a) != TSR_OK) {
        return -1;
    }
    const int64_t bytes = (int64_t)tsr_algorithm_cost(a, &per_byte, (double)f->n, RANKS);
    return f->kind == COLL_BROADCAST ? f->n : bytes;
}

/* What the busiest member receives in one call of each, in bytes. */
static tsr_status count_bytes(tsr_comm *world, void *state)
{
    static _Thread_local bench_call b;
    (void)state;
    for (size_t i = 0; i < sizeof formulas / sizeof formulas[0]; i++) {
        const fault f = {.name = coll_row_of(formulas[i].kind)->name, .kind = formulas[i].kind};
        set_up(&b, &f);
        const tsr_traffic before = tsr_comm_traffic(world);
        WANT(world, make_call(world, &b.call) == TSR_OK);
        const tsr_traffic after = tsr_comm_traffic(world);
        int64_t got = after.bytes_received - before.bytes_received;
        int64_t most = 0;
        const tsr_view mine = {&got, TSR_I64, 0, NULL, NULL};
        const tsr_view largest = {&most, TSR_I64, 0, NULL, NULL};
        WANT(world, tsr_comm_all_reduce(world, TSR_REDUCE_MAX, &mine, &largest) == TSR_OK);
        WANT(world, most == by_formula(world, &formulas[i]));
        WANT(world, formulas[i].received == 0 || most == formulas[i].received);
    }
    return TSR_OK;
}

void check_collective_traffic(fixture *f, tsr_ranks kind)
{
    launch(f, kind, false, (size_t)1 << 22, count_bytes);
}

/* A source that repeats one number, and scalars. */
static tsr_status repeat(tsr_comm *world, void *state)
{
    static const fault none = {.name = "repeated source", .kind = COLL_ALL_GATHER};
    struct {
        const fault *f;
    } b = {&none};
    const int64_t shape[] = {30, 2};
    const int64_t all[] = {30, 2 * RANKS};
    const int64_t still[] = {0, 0};
    double number = (double)tsr_comm_rank(world);
    double out[30 * 2 * RANKS];
    (void)state;
    const tsr_view src = {&number, TSR_F64, 2, shape, still};
    const tsr_view gathered = {out, TSR_F64, 2, all, NULL};
    WANT(world, tsr_comm_all_gather(world, &src, 1, &gathered) == TSR_OK);
    for (int i = 0; i < 30 * 2 * RANKS; i++) {
        WANT(world, out[i] == (double)(i / 2 % RANKS));
    }
    const tsr_view sums = {out, TSR_F64, 2, shape, NULL};
    WANT(world, tsr_comm_all_reduce(world, TSR_REDUCE_SUM, &src, &sums) == TSR_OK);
    for (int i = 0; i < 30 * 2; i++) {
        WANT(world, out[i] == (double)RANKS);
    }
    return TSR_OK;
}

void check_collective_repeats(fixture *f, tsr_ranks kind)
{
    launch(f, kind, false, (size_t)1 << 22, repeat);
}

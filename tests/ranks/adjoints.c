/*
 * Every collective of typed code and its backward are exactly adjoint: for every pair of ends that
 * a call may have, on groups of 1 to 5 ranks, with uneven shards, the two linear maps are compared
 * on every pair of basis vectors. What a type says holds for them: what is replicated or invariant
 * is the same on every rank. The pairing of a value with its cotangent is the sum over ranks of
 * their products; of what is invariant, and has an invariant cotangent, one rank counts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "kinds.h"
#include "want.h"

enum { MAX_GROUP = 5, MAX_ELEMENTS = 64, MAX_VECTORS = MAX_ELEMENTS * MAX_GROUP };

static const tsr_end ends[] = {
    {TSR_R, TSR_NO_DIM, TSR_SUM}, {TSR_I, TSR_NO_DIM, TSR_SUM}, {TSR_V, TSR_NO_DIM, TSR_SUM},
    {TSR_V, 0, TSR_SUM},          {TSR_V, 1, TSR_SUM},          {TSR_P, TSR_NO_DIM, TSR_SUM},
    {TSR_P, TSR_NO_DIM, TSR_AVG},
};
enum { NUM_ENDS = sizeof ends / sizeof ends[0], NUM_OPS = TSR_CONVERT + 1 };

typedef tsr_status (*typed_collective)(tsr_tensor *x, const char *axis, tsr_end src, tsr_end dst,
                                       const tsr_collective_options *options, tsr_tensor **out);
static const typed_collective calls[NUM_OPS] = {
    [TSR_ALL_REDUCE] = tsr_all_reduce,         [TSR_ALL_GATHER] = tsr_all_gather,
    [TSR_REDUCE_SCATTER] = tsr_reduce_scatter, [TSR_ALL_TO_ALL] = tsr_all_to_all,
    [TSR_REINTERPRET] = tsr_reinterpret,       [TSR_CONVERT] = tsr_convert_type,
};

/* One call on one group. */
typedef struct pair {
    tsr_comm *world;
    int64_t n;
    tsr_transition what;
    int64_t counts[MAX_GROUP];
    tsr_collective_options options;
    size_t rank; /* of the source */
    int64_t shape[2];
} pair;

static bool is_cut(tsr_end end)
{
    return end.dim != TSR_NO_DIM;
}

/* Where a plain V meets S(i): parts are alike, since V has no counts; dimension 0 is split anew. */
static bool meets(const tsr_transition *what)
{
    return what->src.kind == TSR_V && what->dst.kind == TSR_V &&
           is_cut(what->src) != is_cut(what->dst);
}

static void choose_mixed(pair *p)
{
    const bool moves = p->what.src.dim == 1 || p->what.dst.dim == 1;
    const int64_t apart = moves ? (p->n > 3 ? 7 : 3) : p->n;
    const int64_t rows = p->what.op == TSR_CONVERT ? 1 + tsr_comm_rank(p->world) : apart;
    const int64_t dim = is_cut(p->what.dst) ? p->what.dst.dim : 0;
    p->rank = 2;
    p->shape[dim] = rows;
    p->shape[1 - dim] = 2;
}

/* Uneven parts of 3 or 4 rows, and dimensions to stack where plain V is cut from something. */
static void choose_shape(pair *p)
{
    const bool stays = p->what.op == TSR_ALL_TO_ALL && p->what.src.dim == p->what.dst.dim;
    const int64_t rows = stays ? p->n * p->n : p->n > 3 ? 7 : 3;
    const int64_t me = tsr_comm_rank(p->world);
    const bool takes_apart = p->what.op == TSR_REDUCE_SCATTER || p->what.op == TSR_ALL_TO_ALL ||
                             (p->what.op == TSR_CONVERT && p->what.src.kind != TSR_V);
    const bool unbinds = p->what.dst.kind == TSR_V && !is_cut(p->what.dst) && takes_apart;
    p->rank = 2;
    p->shape[0] = unbinds ? p->n : rows;
    p->shape[1] = p->what.dst.dim == 1 ? rows : 2;
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t chunk = ceil_div(rows, p->n);
        p->counts[i] = max_i64(min_i64(chunk, rows - i * chunk), 0);
    }
    if (is_cut(p->what.src)) {
        p->shape[p->what.src.dim] = p->counts[me];
        p->shape[1 - p->what.src.dim] = is_cut(p->what.dst) && !stays ? rows : 2;
        p->options.sent = p->what.op == TSR_ALL_TO_ALL && !stays ? p->counts : NULL;
        p->options.counts = stays ? NULL : p->counts;
    } else if (p->what.src.kind == TSR_V && !unbinds) {
        p->shape[0] = 2;
    }
}

/* How many vectors span the values of a type: one set for all ranks, or one for each. */
static bool is_shared(tsr_local_type kind)
{
    return kind == TSR_R || kind == TSR_I;
}

static tsr_local_type dual(tsr_local_type kind)
{
    return kind == TSR_R ? TSR_P : kind == TSR_P ? TSR_R : kind;
}

/* A space of values: their type, and how many elements each rank has. */
typedef struct space {
    tsr_local_type kind;
    tsr_reduction partial;
    size_t rank;
    int64_t shape[3];
    int64_t elements[MAX_GROUP];
} space;

static tsr_status find_elements(const pair *p, space *s)
{
    int64_t mine = 1;
    for (size_t d = 0; d < s->rank; d++) {
        mine *= s->shape[d];
    }
    const int64_t one = 1;
    const tsr_view src = {&mine, TSR_I64, 1, &one, NULL};
    const tsr_view dst = {s->elements, TSR_I64, 1, &p->n, NULL};
    return tsr_comm_all_gather(p->world, &src, 0, &dst);
}

static int64_t num_vectors(const pair *p, const space *s)
{
    int64_t count = 0;
    for (int64_t i = 0; i < (is_shared(s->kind) ? 1 : p->n); i++) {
        count += s->elements[i];
    }
    return count;
}

/* The part of a basis vector that this rank has. */
static void basis(const pair *p, const space *s, int64_t vector, double *part)
{
    const int64_t me = tsr_comm_rank(p->world);
    int64_t at = vector;
    memset(part, 0, MAX_ELEMENTS * sizeof *part);
    for (int64_t i = 0; !is_shared(s->kind) && i < me; i++) {
        at -= s->elements[i];
    }
    if (at >= 0 && at < s->elements[me]) {
        part[at] = 1;
    }
}

static tsr_status make_value(const pair *p, const space *s, const double *part, tsr_tensor **out)
{
    static const char *const names[] = {
        [TSR_UNTYPED] = "?", [TSR_R] = "R", [TSR_I] = "I", [TSR_V] = "V", [TSR_P] = "P"};
    char type[96] = "f64[";
    for (size_t d = 0; d < s->rank; d++) {
        (void)snprintf(type + strlen(type), sizeof type - strlen(type), "%s%lld", d > 0 ? "," : "",
                       (long long)s->shape[d]);
    }
    (void)snprintf(type + strlen(type), sizeof type - strlen(type), "]{x:%s}",
                   s->kind == TSR_P && s->partial == TSR_AVG ? "P(avg)" : names[s->kind]);
    double copy[MAX_ELEMENTS];
    memcpy(copy, part, sizeof copy);
    const tsr_view view = {copy, TSR_F64, s->rank, s->shape, NULL};
    return tsr_typed_value(p->world, &view, type, out);
}

/* The images of all basis vectors, this rank's parts. */
typedef struct images {
    double parts[MAX_VECTORS][MAX_ELEMENTS];
} images;

static tsr_status apply(const pair *p, tsr_tensor *x, tsr_tensor **out)
{
    return calls[p->what.op](x, "x", p->what.src, p->what.dst, &p->options, out);
}

static void copy_part(const tsr_tensor *t, double *part)
{
    int64_t count = 1;
    for (size_t d = 0; d < tsr_tensor_rank(t); d++) {
        count *= tsr_tensor_local_shape(t)[d];
    }
    memcpy(part, tsr_tensor_data(t), (size_t)count * sizeof *part);
}

/* F of every vector; the space of the results comes out too. */
static tsr_status forward_images(const pair *p, const space *src, space *dst, images *out)
{
    double part[MAX_ELEMENTS];
    for (int64_t j = 0; j < num_vectors(p, src); j++) {
        tsr_tensor *x = NULL;
        tsr_tensor *y = NULL;
        TSR_TRY(tsr_scope_open(p->world));
        basis(p, src, j, part);
        TSR_TRY(make_value(p, src, part, &x));
        TSR_TRY(apply(p, x, &y));
        copy_part(y, out->parts[j]);
        dst->rank = tsr_tensor_rank(y);
        memcpy(dst->shape, tsr_tensor_local_shape(y), dst->rank * sizeof *dst->shape);
        tsr_scope_close(p->world);
    }
    return find_elements(p, dst);
}

/* F' of every cotangent, by the tape. */
static tsr_status backward_images(const pair *p, const space *src, const space *cotangents,
                                  images *out)
{
    double zeros[MAX_ELEMENTS] = {0};
    double part[MAX_ELEMENTS];
    for (int64_t i = 0; i < num_vectors(p, cotangents); i++) {
        tsr_tensor *x = NULL;
        tsr_tensor *y = NULL;
        tsr_tensor *g = NULL;
        TSR_TRY(tsr_scope_open(p->world));
        TSR_TRY(tsr_tape_begin(p->world));
        TSR_TRY(make_value(p, src, zeros, &x));
        TSR_TRY(tsr_watch(x));
        TSR_TRY(apply(p, x, &y));
        basis(p, cotangents, i, part);
        TSR_TRY(make_value(p, cotangents, part, &g));
        TSR_TRY(tsr_backward_from(y, g));
        TSR_TRY(tsr_gradient(x, &g));
        copy_part(g, out->parts[i]);
        tsr_tape_end(p->world);
        tsr_scope_close(p->world);
    }
    return TSR_OK;
}

/* This rank's share of the pairing of two values: of what is invariant one rank's counts. */
static double pairing(const pair *p, const space *s, const double *a, const double *b)
{
    const int64_t me = tsr_comm_rank(p->world);
    double mine = 0;
    for (int64_t k = 0; k < s->elements[me]; k++) {
        mine += a[k] * b[k];
    }
    return s->kind == TSR_I && me != 0 ? 0 : mine;
}

/* Sums numbers over all ranks. */
static tsr_status sum_over_ranks(const pair *p, double *numbers, int64_t count)
{
    const tsr_view view = {numbers, TSR_F64, 1, &count, NULL};
    return tsr_comm_all_reduce(p->world, TSR_REDUCE_SUM, &view, &view);
}

/* <F e, f> - <e, F' f> for every e and f must be nothing. */
static tsr_status compare(const pair *p, const space *src, const space *dst,
                          const space *cotangents, const images *forward, const images *backward)
{
    const int64_t m = num_vectors(p, src);
    const int64_t n = num_vectors(p, cotangents);
    double *apart = calloc((size_t)(m * n) + 1, sizeof *apart);
    double e[MAX_ELEMENTS];
    double f[MAX_ELEMENTS];
    WANT(p->world, apart != NULL);
    for (int64_t k = 0; k < m * n; k++) {
        basis(p, src, k / n, e);
        basis(p, cotangents, k % n, f);
        apart[k] =
            pairing(p, dst, forward->parts[k / n], f) - pairing(p, src, e, backward->parts[k % n]);
    }
    tsr_status status = sum_over_ranks(p, apart, m * n);
    for (int64_t k = 0; status == TSR_OK && k < m * n; k++) {
        if (fabs(apart[k]) > (p->what.src.partial == TSR_AVG ? 1e-14 : 0)) {
            status = diag_error(
                tsr_comm_context(p->world), TSR_ERR_INVALID, NO_LOCATION,
                "%s from kind %d to kind %d, %lld ranks: <F e%lld, f%lld> and <e, F' "
                "f> are %g apart",
                tsr_transition_name(p->what.op), (int)p->what.src.kind, (int)p->what.dst.kind,
                (long long)p->n, (long long)(k / n), (long long)(k % n), apart[k]);
        }
    }
    free(apart);
    return status;
}

static tsr_status prove(const pair *p)
{
    static _Thread_local images forward;
    static _Thread_local images backward;
    space src = {.kind = p->what.src.kind, .partial = p->what.src.partial, .rank = p->rank};
    space dst = {.kind = p->what.dst.kind, .partial = p->what.dst.partial};
    memcpy(src.shape, p->shape, sizeof p->shape);
    TSR_TRY(find_elements(p, &src));
    TSR_TRY(forward_images(p, &src, &dst, &forward));
    space cotangents = dst;
    cotangents.kind = dual(dst.kind);
    cotangents.partial = TSR_SUM;
    TSR_TRY(backward_images(p, &src, &cotangents, &backward));
    return compare(p, &src, &dst, &cotangents, &forward, &backward);
}

/* Whether a call has these ends, and a backward. */
static bool exists(tsr_comm *world, const tsr_transition *what)
{
    tsr_context *ctx = tsr_comm_context(world);
    tsr_transition steps[2];
    size_t count = 0;
    const bool there = tsr_transition_check(ctx, "x", what, 2, TSR_UNGUARDED) == TSR_OK &&
                       tsr_transition_backward(ctx, what, steps, &count) == TSR_OK;
    tsr_context_clear(ctx);
    return there;
}

static tsr_status prove_all(tsr_comm *world, int64_t *proved)
{
    for (int op = 0; op < NUM_OPS; op++) {
        for (int i = 0; i < NUM_ENDS * NUM_ENDS; i++) {
            pair p = {.world = world, .n = tsr_comm_size(world)};
            p.what = (tsr_transition){
                .op = (tsr_transition_op)op, .src = ends[i / NUM_ENDS], .dst = ends[i % NUM_ENDS]};
            if (!exists(world, &p.what) || p.what.dst.partial == TSR_AVG) {
                continue;
            }
            (meets(&p.what) ? choose_mixed : choose_shape)(&p);
            TSR_TRY(prove(&p));
            (*proved)++;
        }
    }
    return TSR_OK;
}

static tsr_status run(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    const tsr_mesh *mesh = NULL;
    char text[32];
    int64_t proved = 0;
    (void)state;
    (void)snprintf(text, sizeof text, "<[\"x\"=%lld]>", (long long)tsr_comm_size(world));
    TSR_TRY(tsr_arena_create(tsr_comm_context(world), &arena));
    TSR_TRY(tsr_mesh_parse(tsr_comm_context(world), arena, text, &mesh));
    TSR_TRY(tsr_spmd_open(world, &(tsr_spmd_scope){.mesh = mesh}));
    const tsr_status status = prove_all(world, &proved);
    tsr_spmd_close(world);
    tsr_arena_destroy(arena);
    if (tsr_comm_rank(world) == 0) {
        printf("%lld ranks: %lld calls and their backwards are adjoint\n",
               (long long)tsr_comm_size(world), (long long)proved);
    }
    WANT(world, status < 0 || proved >= 20);
    return status;
}

static void collectives_and_backwards_are_adjoint(void **state)
{
    const tsr_ranks kind = kinds_chosen();
    for (int64_t n = 1; n <= MAX_GROUP; n++) {
        const tsr_launch_spec spec = {.num_ranks = n, .ranks = kind};
        int64_t count;
        size_t at = 0;
        if (kind == TSR_RANKS_MPI && (!kinds_next_count(&at, MAX_GROUP, &count) || count != n)) {
            continue;
        }
        expect_ranks(*state, &spec, run, NULL);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(collectives_and_backwards_are_adjoint)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

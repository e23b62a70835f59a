#include "scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "kernel/fold.h"
#include "number/half.h"
#include "rt/comm.h"

enum { MAX_ITEM = 16, FILLER = 0xa5 };

tsr_status make_call(tsr_comm *comm, const any_call *c)
{
    switch (c->kind) {
    case COLL_BROADCAST:
        return tsr_comm_broadcast(comm, c->src, c->root);
    case COLL_SCATTER:
        return tsr_comm_scatter(comm, c->src, c->dim, c->dst, c->root);
    case COLL_GATHER:
        return tsr_comm_gather(comm, c->src, c->dim, c->dst, c->root);
    case COLL_ALL_GATHER:
        return tsr_comm_all_gather(comm, c->src, c->dim, c->dst);
    case COLL_ALL_REDUCE:
        return tsr_comm_all_reduce(comm, c->op, c->src, c->dst);
    case COLL_REDUCE_SCATTER:
        return tsr_comm_reduce_scatter(comm, c->op, c->src, c->dim, c->dst);
    case COLL_ALL_TO_ALL:
        return tsr_comm_all_to_all(comm, c->src, c->dim, c->concat_dim, c->dst);
    case COLL_PERMUTE:
        return tsr_comm_permute(comm, c->src, c->destinations, c->dst);
    case COLL_SCATTER_V:
        return tsr_comm_scatter_v(comm, c->src, c->dim, c->counts, c->dst, c->root);
    case COLL_GATHER_V:
        return tsr_comm_gather_v(comm, c->src, c->dim, c->counts, c->dst, c->root);
    case COLL_ALL_GATHER_V:
        return tsr_comm_all_gather_v(comm, c->src, c->dim, c->counts, c->dst);
    case COLL_REDUCE_SCATTER_V:
        return tsr_comm_reduce_scatter_v(comm, c->op, c->src, c->dim, c->counts, c->dst);
    default:
        return tsr_comm_all_to_all_v(comm, c->src, c->dim, c->counts, c->receive_counts, c->dst);
    }
}

tsr_status start_call(tsr_comm *comm, const any_call *c, tsr_request *request)
{
    switch (c->kind) {
    case COLL_BROADCAST:
        return tsr_comm_broadcast_start(comm, c->src, c->root, request);
    case COLL_SCATTER:
        return tsr_comm_scatter_start(comm, c->src, c->dim, c->dst, c->root, request);
    case COLL_GATHER:
        return tsr_comm_gather_start(comm, c->src, c->dim, c->dst, c->root, request);
    case COLL_ALL_GATHER:
        return tsr_comm_all_gather_start(comm, c->src, c->dim, c->dst, request);
    case COLL_ALL_REDUCE:
        return tsr_comm_all_reduce_start(comm, c->op, c->src, c->dst, request);
    case COLL_REDUCE_SCATTER:
        return tsr_comm_reduce_scatter_start(comm, c->op, c->src, c->dim, c->dst, request);
    case COLL_ALL_TO_ALL:
        return tsr_comm_all_to_all_start(comm, c->src, c->dim, c->concat_dim, c->dst, request);
    case COLL_PERMUTE:
        return tsr_comm_permute_start(comm, c->src, c->destinations, c->dst, request);
    case COLL_SCATTER_V:
        return tsr_comm_scatter_v_start(comm, c->src, c->dim, c->counts, c->dst, c->root, request);
    case COLL_GATHER_V:
        return tsr_comm_gather_v_start(comm, c->src, c->dim, c->counts, c->dst, c->root, request);
    case COLL_ALL_GATHER_V:
        return tsr_comm_all_gather_v_start(comm, c->src, c->dim, c->counts, c->dst, request);
    case COLL_REDUCE_SCATTER_V:
        return tsr_comm_reduce_scatter_v_start(comm, c->op, c->src, c->dim, c->counts, c->dst,
                                               request);
    default:
        return tsr_comm_all_to_all_v_start(comm, c->src, c->dim, c->counts, c->receive_counts,
                                           c->dst, request);
    }
}

/* One member's array: memory around it too, to see that nothing else is written. */
typedef struct local {
    bool here;
    bool in_segment;
    char *memory;
    size_t bytes;
    int64_t shape[MAX_RANK];
    int64_t strides[MAX_RANK];
    int64_t first; /* where the element at index 0 is */
    tsr_view view;
} local;

typedef struct job {
    tsr_comm *comm;
    const scenario *s;
    local src;
    local dst;
} job;

static uint64_t scramble(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static int64_t total(const int64_t *counts, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += counts[i];
    }
    return sum;
}

/* Rows that a member gets from another, of the collective with counts of both. */
static int64_t received(const scenario *s, int64_t from, int64_t to)
{
    return s->counts[from][to];
}

/* The shape of a member's source or destination; false when it has none. */
static bool shape_of(const scenario *s, int64_t size, int64_t member, bool source, int64_t *shape)
{
    const int64_t p = size;
    int64_t sum = 0;
    memcpy(shape, s->piece, sizeof s->piece);
    switch (s->kind) {
    case COLL_BROADCAST:
        return source == (member == s->root);
    case COLL_SCATTER:
        shape[s->dim] *= source ? p : 1;
        return !source || member == s->root;
    case COLL_GATHER:
        shape[s->dim] *= source ? 1 : p;
        return source || member == s->root;
    case COLL_ALL_GATHER:
        shape[s->dim] *= source ? 1 : p;
        return true;
    case COLL_REDUCE_SCATTER:
        shape[s->dim] *= source ? p : 1;
        return true;
    case COLL_ALL_TO_ALL:
        shape[source ? s->dim : s->concat_dim] *= p;
        return true;
    case COLL_SCATTER_V:
    case COLL_REDUCE_SCATTER_V:
        shape[s->dim] = source ? total(s->counts[0], p) : s->counts[0][member];
        return !source || s->kind == COLL_REDUCE_SCATTER_V || member == s->root;
    case COLL_GATHER_V:
    case COLL_ALL_GATHER_V:
        shape[s->dim] = source ? s->counts[0][member] : total(s->counts[0], p);
        return source || s->kind == COLL_ALL_GATHER_V || member == s->root;
    case COLL_ALL_TO_ALL_V:
        for (int64_t i = 0; i < p; i++) {
            sum += source ? received(s, member, i) : received(s, i, member);
        }
        shape[s->dim] = sum;
        return true;
    default:
        return true;
    }
}

/* Finds the chunk of a row and makes the row count from its start. */
static int64_t find_chunk(const int64_t *counts, int64_t *row)
{
    int64_t q = 0;
    for (; *row >= counts[q]; q++) {
        *row -= counts[q];
    }
    return q;
}

/*
 * Where an element of this member's destination comes from: a member and an index there. -1 when no
 * member sends it; -2 when it is the fold of all members.
 */
static int64_t origin(const job *j, const int64_t *index, int64_t *from)
{
    const scenario *s = j->s;
    const int64_t p = j->comm->size;
    const int64_t me = j->comm->rank;
    int64_t q = 0;
    memcpy(from, index, s->rank * sizeof *from);
    switch (s->kind) {
    case COLL_BROADCAST:
        return s->root;
    case COLL_SCATTER:
        from[s->dim] += me * s->piece[s->dim];
        return s->root;
    case COLL_SCATTER_V:
        from[s->dim] += total(s->counts[0], me);
        return s->root;
    case COLL_GATHER:
    case COLL_ALL_GATHER:
        from[s->dim] = index[s->dim] % s->piece[s->dim];
        return index[s->dim] / s->piece[s->dim];
    case COLL_GATHER_V:
    case COLL_ALL_GATHER_V:
        return find_chunk(s->counts[0], &from[s->dim]);
    case COLL_ALL_REDUCE:
        return -2;
    case COLL_REDUCE_SCATTER:
        from[s->dim] += me * s->piece[s->dim];
        return -2;
    case COLL_REDUCE_SCATTER_V:
        from[s->dim] += total(s->counts[0], me);
        return -2;
    case COLL_ALL_TO_ALL:
        q = index[s->concat_dim] / s->piece[s->concat_dim];
        from[s->concat_dim] -= q * s->piece[s->concat_dim];
        from[s->dim] += me * s->piece[s->dim];
        return q;
    case COLL_ALL_TO_ALL_V:
        while (from[s->dim] >= received(s, q, me)) {
            from[s->dim] -= received(s, q++, me);
        }
        from[s->dim] += total(s->counts[q], me);
        return q;
    default:
        for (q = 0; q < p && s->destinations[q] != me; q++) {
        }
        return q < p ? q : -1;
    }
}

static bool is_float(tsr_dtype dtype)
{
    return dtype == TSR_F16 || dtype == TSR_BF16 || dtype == TSR_F32 || dtype == TSR_F64;
}

/* A number whose sums and products depend on their order, but stay finite. */
static double number_of(uint64_t random, tsr_dtype dtype)
{
    const bool narrow = dtype != TSR_F32 && dtype != TSR_F64;
    const int bits = narrow ? 6 : 22;
    const double mantissa = 1 + ldexp((double)(random % (1ULL << bits)), -bits);
    const int exponent = (int)((random >> 32) % (narrow ? 3 : 13)) - (narrow ? 1 : 6);
    return ((random >> 63) != 0 ? -1 : 1) * ldexp(mantissa, exponent);
}

/*
 * One whose sums and products over a few members are exact, in whatever order. Complex factors are
 * 1 + 2i and its negative: no product of theirs has a part that is zero, whose sign would tell.
 */
static double exact_number_of(uint64_t random, tsr_reduce_op op)
{
    const double size = op == TSR_REDUCE_PROD ? 1 : (double)(random % 8 + 1);
    return (random >> 63) != 0 ? -size : size;
}

static void store_float(tsr_dtype dtype, double value, char *out)
{
    const float single = (float)value;
    const uint16_t half = dtype == TSR_F16 ? f16_of_float(single) : bf16_of_float(single);
    if (dtype == TSR_F64) {
        memcpy(out, &value, sizeof value);
    } else if (dtype == TSR_F32) {
        memcpy(out, &single, sizeof single);
    } else {
        memcpy(out, &half, sizeof half);
    }
}

static double load_float(tsr_dtype dtype, const char *in)
{
    double value;
    float single;
    uint16_t half;
    if (dtype == TSR_F64) {
        memcpy(&value, in, sizeof value);
        return value;
    }
    if (dtype == TSR_F32) {
        memcpy(&single, in, sizeof single);
        return (double)single;
    }
    memcpy(&half, in, sizeof half);
    return (double)(dtype == TSR_F16 ? float_of_f16(half) : float_of_bf16(half));
}

/* The element of a member's source at an index. */
static void element_of(const scenario *s, int64_t member, const int64_t *index, char *out)
{
    uint64_t random = scramble(s->seed ^ (uint64_t)member << 40);
    for (size_t i = 0; i < s->rank; i++) {
        random = scramble(random + (uint64_t)index[i]);
    }
    const uint64_t second = scramble(random);
    const uint64_t bytes[2] = {random, second};
    memcpy(out, bytes, MAX_ITEM);
    if (!coll_has(coll_row_of(s->kind), COLL_HAS_OP)) {
        return;
    }
    const double number = s->exact ? exact_number_of(random, s->op) : number_of(random, s->dtype);
    const double other = !s->exact                  ? number_of(second, s->dtype)
                         : s->op == TSR_REDUCE_PROD ? 2 * number
                                                    : exact_number_of(second, s->op);
    if (s->dtype == TSR_I1) {
        out[0] = (char)(random % 3 != 0);
    } else if (is_float(s->dtype)) {
        store_float(s->dtype, number, out);
    } else if (s->dtype == TSR_C64) {
        store_float(TSR_F32, number, out);
        store_float(TSR_F32, other, out + 4);
    } else if (s->dtype == TSR_C128) {
        store_float(TSR_F64, number, out);
        store_float(TSR_F64, other, out + 8);
    }
}

/* One step of a fold of floats, in the precision in which it is done. */
static double fold_float(tsr_reduce_op op, tsr_dtype dtype, double a, double b)
{
    double result;
    switch (op) {
    case TSR_REDUCE_MAX:
        return b > a ? b : a;
    case TSR_REDUCE_MIN:
        return b < a ? b : a;
    case TSR_REDUCE_PROD:
        result = a * b;
        break;
    default:
        result = a + b;
    }
    return dtype == TSR_F64 || dtype == TSR_C128 ? result : (double)(float)result;
}

static void want_float(const scenario *s, int64_t members, const int64_t *index, char *out)
{
    char item[MAX_ITEM];
    double folded = 0;
    for (int64_t q = 0; q < members; q++) {
        element_of(s, q, index, item);
        const double x = load_float(s->dtype, item);
        folded = q == 0 ? x : fold_float(s->op, s->dtype, folded, x);
    }
    folded = s->op == TSR_REDUCE_AVG ? folded / (double)members : folded;
    store_float(s->dtype, folded, out);
}

static void want_complex(const scenario *s, int64_t members, const int64_t *index, char *out)
{
    const tsr_dtype part = s->dtype == TSR_C64 ? TSR_F32 : TSR_F64;
    const size_t size = s->dtype == TSR_C64 ? 4 : 8;
    char item[MAX_ITEM];
    double a = 0;
    double b = 0;
    for (int64_t q = 0; q < members; q++) {
        element_of(s, q, index, item);
        const double c = load_float(part, item);
        const double d = load_float(part, item + size);
        const double re = a;
        const double im = b;
        if (q == 0 || s->op != TSR_REDUCE_PROD) {
            a = q == 0 ? c : fold_float(TSR_REDUCE_SUM, part, re, c);
            b = q == 0 ? d : fold_float(TSR_REDUCE_SUM, part, im, d);
        } else {
            a = fold_float(TSR_REDUCE_SUM, part, fold_float(TSR_REDUCE_PROD, part, re, c),
                           -fold_float(TSR_REDUCE_PROD, part, im, d));
            b = fold_float(TSR_REDUCE_SUM, part, fold_float(TSR_REDUCE_PROD, part, re, d),
                           fold_float(TSR_REDUCE_PROD, part, im, c));
        }
    }
    const double n = s->op == TSR_REDUCE_AVG ? (double)members : 1;
    store_float(part, a / n, out);
    store_float(part, b / n, out + size);
}

/* An integer of some bytes, with or without a sign. */
static __int128 load_integer(const char *in, size_t size, bool sign)
{
    uint64_t value = 0;
    memcpy(&value, in, size);
    const uint64_t top = UINT64_C(1) << (8 * size - 1);
    return sign && (value & top) != 0 ? (__int128)value - ((__int128)top << 1) : (__int128)value;
}

static __int128 fold_integer(tsr_reduce_op op, __int128 a, __int128 b)
{
    switch (op) {
    case TSR_REDUCE_MAX:
        return b > a ? b : a;
    case TSR_REDUCE_MIN:
        return b < a ? b : a;
    case TSR_REDUCE_PROD:
        return (__int128)(uint64_t)((uint64_t)a * (uint64_t)b);
    case TSR_REDUCE_AND:
        return a & b;
    case TSR_REDUCE_OR:
        return a | b;
    default:
        return a + b;
    }
}

static tsr_reduce_op op_on_truth(tsr_reduce_op op)
{
    const bool all = op == TSR_REDUCE_PROD || op == TSR_REDUCE_MIN || op == TSR_REDUCE_AND;
    return all ? TSR_REDUCE_AND : TSR_REDUCE_OR;
}

static void want_integer(const scenario *s, int64_t members, const int64_t *index, char *out)
{
    const size_t size = (size_t)tsr_dtype_item_bytes(s->dtype);
    const bool sign = s->dtype >= TSR_I8 && s->dtype <= TSR_I64;
    const tsr_reduce_op op = s->dtype == TSR_I1 ? op_on_truth(s->op) : s->op;
    char item[MAX_ITEM];
    __int128 folded = 0;
    for (int64_t q = 0; q < members; q++) {
        element_of(s, q, index, item);
        const __int128 x = load_integer(item, size, sign);
        folded = q == 0 ? x : fold_integer(op, folded, x);
    }
    folded = op == TSR_REDUCE_AVG ? folded / members : folded;
    const uint64_t low = (uint64_t)folded;
    memcpy(out, &low, size);
}

static void want_fold(const scenario *s, int64_t members, const int64_t *index, char *out)
{
    if (s->dtype == TSR_C64 || s->dtype == TSR_C128) {
        want_complex(s, members, index, out);
    } else if (is_float(s->dtype)) {
        want_float(s, members, index, out);
    } else {
        want_integer(s, members, index, out);
    }
}

/* Makes strides: row-major, transposed, or with gaps; or of a first dimension that runs backwards.
 */
static void choose_strides(local *l, size_t rank, size_t item, uint64_t layout, bool plain)
{
    int64_t stride = (int64_t)item;
    for (size_t i = 0; i < rank; i++) {
        const size_t dim = layout % 3 == 1 && !plain ? i : rank - 1 - i;
        l->strides[dim] = stride;
        const int64_t gap = layout % 3 == 2 && !plain ? (int64_t)(layout >> 8 & 1) + 1 : 0;
        stride *= (l->shape[dim] > 0 ? l->shape[dim] : 1) + gap;
    }
    l->bytes = (size_t)stride;
    l->first = 32;
    if (rank > 0 && layout % 5 == 0 && !plain && l->shape[0] > 0) {
        l->first += (l->shape[0] - 1) * l->strides[0];
        l->strides[0] = -l->strides[0];
    }
}

/* An array of this member, perhaps in its segment, filled all over. */
static tsr_status make_local(const job *j, bool source, local *l)
{
    const scenario *s = j->s;
    const uint64_t alike = scramble(s->seed + (source ? 1 : 2));
    const uint64_t own = scramble(alike + (uint64_t)j->comm->rank + 1);
    const uint64_t layout = alike % 4 == 0 ? own : alike >> 2;
    const size_t item = (size_t)tsr_dtype_item_bytes(s->dtype);
    *l = (local){.here = shape_of(s, j->comm->size, j->comm->rank, source, l->shape)};
    (void)shape_of(s, j->comm->size, j->comm->rank, source, l->shape);
    choose_strides(l, s->rank, item, layout, layout % 7 < 3);
    l->bytes += 64;
    l->in_segment = (alike >> 20) % 3 == 0 || ((alike >> 20) % 3 == 1 && own % 2 == 0);
    l->memory = l->in_segment ? segment_alloc(j->comm->own, l->bytes) : malloc(l->bytes);
    if (l->memory == NULL) {
        return TSR_ERR_NOMEM;
    }
    memset(l->memory, FILLER, l->bytes);
    l->view = (tsr_view){.data = l->memory + l->first,
                         .dtype = s->dtype,
                         .rank = s->rank,
                         .shape = l->shape,
                         .strides = layout % 7 < 3 && layout % 2 == 0 ? NULL : l->strides};
    return TSR_OK;
}

static void free_local(const job *j, local *l)
{
    if (l->in_segment && l->memory != NULL) {
        segment_free(j->comm->own, l->memory);
    } else {
        free(l->memory);
    }
}

static bool next_index(int64_t *index, const int64_t *shape, size_t rank)
{
    for (size_t i = rank; i-- > 0;) {
        if (++index[i] < shape[i]) {
            return true;
        }
        index[i] = 0;
    }
    return false;
}

static bool is_empty(const local *l, size_t rank)
{
    for (size_t i = 0; i < rank; i++) {
        if (l->shape[i] == 0) {
            return true;
        }
    }
    return false;
}

static char *at_index(const local *l, char *memory, const int64_t *index, size_t rank)
{
    char *at = memory + l->first;
    for (size_t i = 0; i < rank; i++) {
        at += index[i] * l->strides[i];
    }
    return at;
}

static void fill_source(const job *j)
{
    const scenario *s = j->s;
    int64_t index[MAX_RANK] = {0};
    char item[MAX_ITEM];
    if (!j->src.here || is_empty(&j->src, s->rank)) {
        return;
    }
    do {
        element_of(s, j->comm->rank, index, item);
        memcpy(at_index(&j->src, j->src.memory, index, s->rank), item,
               (size_t)tsr_dtype_item_bytes(s->dtype));
    } while (next_index(index, j->src.shape, s->rank));
}

/* Writes what the destination should hold to `wanted`; returns the bytes that others had. */
static int64_t fill_wanted(const job *j, char *wanted)
{
    const scenario *s = j->s;
    const size_t item_bytes = (size_t)tsr_dtype_item_bytes(s->dtype);
    int64_t index[MAX_RANK] = {0};
    int64_t from[MAX_RANK];
    int64_t moved = 0;
    if (is_empty(&j->dst, s->rank)) {
        return 0;
    }
    do {
        char item[MAX_ITEM] = {0};
        const int64_t member = origin(j, index, from);
        if (member == -2) {
            want_fold(s, j->comm->size, from, item);
        } else if (member >= 0) {
            element_of(s, member, from, item);
        }
        memcpy(at_index(&j->dst, wanted, index, s->rank), item, item_bytes);
        moved += member >= 0 && member != j->comm->rank ? (int64_t)item_bytes : 0;
        moved += member == -2 ? (int64_t)item_bytes * (j->comm->size - 1) : 0;
    } while (next_index(index, j->dst.shape, s->rank));
    return moved;
}

static tsr_status complain(const job *j, const char *what)
{
    const scenario *s = j->s;
    char shape[100] = "";
    for (size_t i = 0; i < s->rank; i++) {
        (void)snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%lld ",
                       (long long)s->piece[i]);
    }
    const coll_algorithm *set = j->comm->state->choices.set[s->kind];
    return diag_error(j->comm->ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s%s%s %s %s[%s] dim %zu %zu root %lld: member %lld: %s",
                      coll_row_of(s->kind)->call, set != NULL ? " by " : "",
                      set != NULL ? set->shown.name : "", tsr_reduce_op_name(s->op),
                      tsr_dtype_name(s->dtype), shape, s->dim, s->concat_dim, (long long)s->root,
                      (long long)j->comm->rank, what);
}

static tsr_status call_scenario(const job *j)
{
    const scenario *s = j->s;
    const int64_t p = j->comm->size;
    int64_t mine[MAX_MEMBERS];
    for (int64_t i = 0; i < p; i++) {
        mine[i] = s->counts[i][j->comm->rank];
    }
    const bool own = s->kind == COLL_ALL_TO_ALL_V;
    const tsr_view *src = j->src.here ? &j->src.view : NULL;
    const tsr_view *dst = j->dst.here ? &j->dst.view : NULL;
    if (s->kind == COLL_BROADCAST) {
        src = j->src.here ? src : dst;
    }
    const any_call c = {.kind = s->kind,
                        .op = s->op,
                        .src = src,
                        .dst = s->in_place ? src : dst,
                        .dim = s->dim,
                        .concat_dim = s->concat_dim,
                        .root = s->root,
                        .counts = s->counts[own ? j->comm->rank : 0],
                        .receive_counts = mine,
                        .destinations = s->destinations};
    tsr_request request;
    const uint64_t luck = scramble(s->seed + 77 * (uint64_t)j->comm->rank);
    if (luck % 2 == 0) {
        return make_call(j->comm, &c);
    }
    const tsr_status started = start_call(j->comm, &c, &request);
    return started < 0 ? started : tsr_wait(j->comm, request);
}

/* Whether what a member receives is what it needs and nothing for others, or folds of it. */
static bool receives_just_its_own(const job *j)
{
    int64_t shape[MAX_RANK];
    const tsr_algorithm *a = NULL;
    const coll_row *row = coll_row_of(j->s->kind);
    int64_t bytes = tsr_dtype_item_bytes(j->s->dtype);
    (void)shape_of(j->s, j->comm->size, j->comm->rank, !coll_has(row, COLL_CUTS_DST), shape);
    for (size_t i = 0; i < j->s->rank; i++) {
        bytes *= shape[i];
    }
    return j->s->kind != COLL_ALL_REDUCE &&
           tsr_comm_algorithm(j->comm, row->name, (double)bytes, &a) == TSR_OK && a->ordered &&
           !(j->s->kind == COLL_ALL_TO_ALL && strcmp(a->name, "bruck") == 0);
}

/* All of both arrays, with what is around their elements, is as it should be. */
static tsr_status run_with_wanted(job *j, char *src_wanted, char *dst_wanted)
{
    const scenario *s = j->s;
    int64_t moved = 0;
    fill_source(j);
    memcpy(src_wanted, j->src.memory, j->src.bytes);
    memset(dst_wanted, FILLER, j->dst.bytes);
    if (j->dst.here) {
        moved = fill_wanted(j, dst_wanted);
    }
    if (s->in_place) {
        memcpy(src_wanted, dst_wanted, j->dst.bytes);
        memset(dst_wanted, FILLER, j->dst.bytes);
    }
    const tsr_traffic before = tsr_comm_traffic(j->comm);
    const tsr_status status = call_scenario(j);
    if (status < 0) {
        return status;
    }
    const tsr_traffic after = tsr_comm_traffic(j->comm);
    if (memcmp(j->src.memory, src_wanted, j->src.bytes) != 0) {
        return complain(j, "the source is wrong");
    }
    if (memcmp(j->dst.memory, dst_wanted, j->dst.bytes) != 0) {
        return complain(j, "the destination is wrong");
    }
    if (receives_just_its_own(j) && after.bytes_received - before.bytes_received != moved) {
        return complain(j, "it received more or less than it needs");
    }
    return TSR_OK;
}

tsr_status scenario_run(tsr_comm *comm, const scenario *s)
{
    job j = {.comm = comm, .s = s};
    tsr_status status = make_local(&j, true, &j.src);
    if (status == TSR_OK) {
        status = make_local(&j, false, &j.dst);
    }
    if (s->in_place) {
        j.dst.here = true;
        memcpy(j.dst.strides, j.src.strides, sizeof j.dst.strides);
        j.dst.first = j.src.first;
        if (!j.dst.in_segment) {
            free(j.dst.memory);
            j.dst.memory = malloc(j.src.bytes);
        } else {
            segment_free(comm->own, j.dst.memory);
            j.dst.memory = segment_alloc(comm->own, j.src.bytes);
        }
        j.dst.bytes = j.src.bytes;
        memset(j.dst.memory, FILLER, j.dst.bytes);
    }
    char *wanted = malloc(j.src.bytes + j.dst.bytes);
    status = wanted == NULL ? TSR_ERR_NOMEM : status;
    if (status == TSR_OK) {
        status = run_with_wanted(&j, wanted, wanted + j.src.bytes);
    }
    free(wanted);
    free_local(&j, &j.dst);
    free_local(&j, &j.src);
    return status;
}

/* Small shapes with zeros and ones among them; now and then one of several blocks. */
void scenario_choose_shape(scenario *s, rng *r)
{
    static const int64_t extents[] = {0, 1, 2, 3, 5, 7};
    const bool large = rng_chance(r, 6);
    const bool deep = !large && rng_chance(r, 5);
    s->rank = deep ? MAX_RANK : (size_t)rng_below(r, 5);
    s->rank = large ? 1 + (size_t)rng_below(r, 2) : s->rank;
    for (size_t i = 0; i < s->rank; i++) {
        s->piece[i] = extents[1 + rng_below(r, 5)];
        s->piece[i] = rng_chance(r, 4) ? 0 : s->piece[i];
        s->piece[i] = deep ? 1 + rng_below(r, 2) : s->piece[i];
        s->piece[i] = large ? 30 + rng_below(r, s->rank == 1 ? 6000 : 60) : s->piece[i];
    }
}

void scenario_choose_rest(scenario *s, rng *r, int64_t members)
{
    const coll_row *row = coll_row_of(s->kind);
    if (coll_has(row, COLL_CUTS_SRC | COLL_CUTS_DST)) {
        if (s->rank == 0) {
            s->rank = 1;
            s->piece[0] = rng_below(r, 5);
        }
        s->dim = (size_t)rng_below(r, (int64_t)s->rank);
        s->concat_dim = (size_t)rng_below(r, (int64_t)s->rank);
    }
    s->root = rng_below(r, members);
    s->in_place = s->kind == COLL_ALL_REDUCE && rng_chance(r, 40);
    const int64_t turn = rng_below(r, members);
    for (int64_t i = 0; i < members; i++) {
        for (int64_t k = 0; k < members; k++) {
            s->counts[i][k] = rng_chance(r, 30) ? 0 : rng_below(r, 6);
        }
        s->destinations[i] = rng_chance(r, 20) ? -1 : (2 * turn - i + members) % members;
    }
}

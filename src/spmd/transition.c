/*
 * Collectives, reinterpret and convert: the valid pairs of ends and their dimensions, and the call
 * that implements a redistribution.
 */
#include "spmd/transition.h"

#include <stdio.h>

#include "base/base.h"
#include "base/guard.h"
#include "coll/collective.h"

/* Those that communicate are collectives; the others have names of their own. */
static const struct {
    coll_kind kind;
    const char *name; /* NULL: that of the collective */
} calls[] = {[TSR_ALL_REDUCE] = {.kind = COLL_ALL_REDUCE},
             [TSR_ALL_GATHER] = {.kind = COLL_ALL_GATHER},
             [TSR_REDUCE_SCATTER] = {.kind = COLL_REDUCE_SCATTER},
             [TSR_ALL_TO_ALL] = {.kind = COLL_ALL_TO_ALL},
             [TSR_REINTERPRET] = {.name = "reinterpret"},
             [TSR_CONVERT] = {.name = "convert"}};

/*
 * By call and source, a character for each destination R I V P S: - same, o fine, E expert, x none.
 */
static const char *const pairs[TRANSITION_COUNT][END_COUNT] = {
    [TSR_ALL_REDUCE] = {"xxxxx", "xxxxx", "ooxxx", "ooxxx", "xxxxx"},
    [TSR_ALL_GATHER] = {"xxxxx", "xxxxx", "ooxxx", "xxxxx", "ooxxx"},
    [TSR_REDUCE_SCATTER] = {"xxxxx", "xxxxx", "xxoxo", "xxoxo", "xxxxx"},
    [TSR_ALL_TO_ALL] = {"xxxxx", "xxxxx", "xxoxo", "xxxxx", "xxoxo"},
    [TSR_REINTERPRET] = {"-EEEx", "E-oox", "xx-ox", "xxx-x", "xxxx-"},
    [TSR_CONVERT] = {"-Eooo", "o-oEo", "xx-Eo", "xxx-x", "xxoE-"},
};

/*
 * The call of a redistribution: g all_gather, r all_reduce, s reduce_scatter, t all_to_all, c
 * convert, - none, x impossible.
 */
static const char *const routes[END_COUNT] = {
    [END_R] = "-cccc", [END_I] = "c-ccc", [END_V] = "gg-cc", [END_P] = "rrs-s", [END_S] = "ggcct"};

/* The rule of each call, for error messages. */
static const char *const rules[] = {
    [TSR_ALL_REDUCE] = "all_reduce sums P (or V reinterpreted as P) to R or I",
    [TSR_ALL_GATHER] = "all_gather stacks V or concatenates S(i), to R or I",
    [TSR_REDUCE_SCATTER] =
        "reduce_scatter sums P (or V reinterpreted as P) and leaves each rank its part, V or S(i)",
    [TSR_ALL_TO_ALL] = "all_to_all exchanges V or S(i) for V or S(j)",
    [TSR_REINTERPRET] = "reinterpret does not change data: it cannot make differing ranks equal, "
                        "and cannot name a dimension of the spec",
    [TSR_CONVERT] = "convert keeps the value without communication: it cannot make differing ranks "
                    "equal, and cannot complete pending sums"};

const char *tsr_transition_name(tsr_transition_op op)
{
    GUARD(tsr_transition_name);
    if (op < TSR_ALL_REDUCE || op > TSR_CONVERT) {
        return "?";
    }
    return calls[op].name != NULL ? calls[op].name : coll_row_of(calls[op].kind)->op;
}

bool end_kind_of(tsr_end end, end_kind *out)
{
    static const end_kind kinds[] = {
        [TSR_R] = END_R, [TSR_I] = END_I, [TSR_V] = END_V, [TSR_P] = END_P};
    if (end.kind <= TSR_UNTYPED || end.kind > TSR_P) {
        return false;
    }
    *out = end.kind == TSR_V && end.dim != TSR_NO_DIM ? END_S : kinds[end.kind];
    return true;
}

/* Whether two ends of one kind are the same in the rest as well. */
static bool same_end(tsr_end a, tsr_end b)
{
    return a.kind == b.kind && (a.kind != TSR_V || a.dim == b.dim) &&
           (a.kind != TSR_P || a.partial == b.partial);
}

tsr_transition transition_resolved(const tsr_transition *t, size_t rank)
{
    tsr_transition out = *t;
    size_t dim;
    if (spmd_resolve_dim(t->src.dim, rank, &dim)) {
        out.src.dim = (int64_t)dim;
    }
    if (spmd_resolve_dim(t->dst.dim, rank, &dim)) {
        out.dst.dim = (int64_t)dim;
    }
    if (transition_meets(t) && spmd_resolve_dim(t->gather_dim, rank, &dim)) {
        out.gather_dim = (int64_t)dim;
    }
    if (transition_meets(t) && spmd_resolve_dim(t->scatter_dim, rank, &dim)) {
        out.scatter_dim = (int64_t)dim;
    }
    return out;
}

pair_status transition_pair(const tsr_transition *t)
{
    end_kind src;
    end_kind dst;
    if (t->op < TSR_ALL_REDUCE || t->op > TSR_CONVERT || !end_kind_of(t->src, &src) ||
        !end_kind_of(t->dst, &dst)) {
        return PAIR_NONE;
    }
    const char letter = pairs[t->op][src][dst];
    if (letter == '-') {
        return same_end(t->src, t->dst) ? PAIR_SAME : PAIR_NONE;
    }
    const bool as_it_is = t->op == TSR_REINTERPRET && t->src.kind == TSR_V;
    if (letter != 'x' && t->dst.kind == TSR_P && t->dst.partial != TSR_SUM && !as_it_is) {
        return PAIR_NONE;
    }
    return letter == 'o' ? PAIR_FINE : letter == 'E' ? PAIR_EXPERT : PAIR_NONE;
}

bool transition_meets(const tsr_transition *t)
{
    return (t->op == TSR_ALL_TO_ALL || t->op == TSR_CONVERT) && t->src.kind == TSR_V &&
           t->dst.kind == TSR_V && (t->src.dim == TSR_NO_DIM) != (t->dst.dim == TSR_NO_DIM);
}

bool transition_stays(const tsr_transition *t)
{
    const tsr_transition e = transition_exchanged(t);
    return transition_meets(t) && (t->op == TSR_CONVERT || e.src.dim == e.dst.dim);
}

tsr_transition transition_exchanged(const tsr_transition *t)
{
    tsr_transition out = *t;
    if (t->op == TSR_ALL_TO_ALL && transition_meets(t)) {
        out.src.dim = t->src.dim != TSR_NO_DIM ? t->src.dim : t->gather_dim;
        out.dst.dim = t->dst.dim != TSR_NO_DIM ? t->dst.dim : t->scatter_dim;
    }
    return out;
}

bool transition_gathers(const tsr_transition *t)
{
    return t->src.kind == TSR_V && !(t->op == TSR_CONVERT && t->dst.kind == TSR_V) &&
           (t->op == TSR_ALL_GATHER || t->op == TSR_ALL_TO_ALL || t->op == TSR_CONVERT);
}

bool transition_scatters(const tsr_transition *t)
{
    return t->dst.kind == TSR_V && !(t->op == TSR_CONVERT && t->src.kind == TSR_V) &&
           (t->op == TSR_REDUCE_SCATTER || t->op == TSR_ALL_TO_ALL || t->op == TSR_CONVERT);
}

void transition_print(buffer *buf, const tsr_transition *t)
{
    buffer_format(buf, "%s ", tsr_transition_name(t->op));
    spmd_print_end(buf, t->src);
    buffer_string(buf, "->");
    spmd_print_end(buf, t->dst);
}

/* ---- checks ---- */

/* Buffers for texts in messages. */
typedef struct end_words {
    char text[32];
} end_words;
typedef struct call_words {
    char text[96];
} call_words;
typedef struct hint_words {
    char text[256];
} hint_words;

static end_words end_text(tsr_end end)
{
    end_words out;
    if (end.kind == TSR_V && end.dim != TSR_NO_DIM) {
        (void)snprintf(out.text, sizeof out.text, "S(%lld)", (long long)end.dim);
    } else {
        (void)snprintf(out.text, sizeof out.text, "%s",
                       tsr_axis_type_name((tsr_axis_type){end.kind, end.partial}));
    }
    return out;
}

static call_words text_of(const tsr_transition *t)
{
    call_words out;
    (void)snprintf(out.text, sizeof out.text, "%s %s->%s", tsr_transition_name(t->op),
                   end_text(t->src).text, end_text(t->dst).text);
    return out;
}

/* The call that implements a redistribution between two ends; false when there is none. */
static bool find_route(tsr_end src, tsr_end dst, tsr_transition *out)
{
    static const struct {
        char letter;
        tsr_transition_op op;
    } by_letter[] = {{'g', TSR_ALL_GATHER},
                     {'r', TSR_ALL_REDUCE},
                     {'s', TSR_REDUCE_SCATTER},
                     {'t', TSR_ALL_TO_ALL},
                     {'c', TSR_CONVERT}};
    end_kind from;
    end_kind to;
    const char letter = end_kind_of(src, &from) && end_kind_of(dst, &to) ? routes[from][to] : 'x';
    for (size_t i = 0; i < sizeof by_letter / sizeof by_letter[0]; i++) {
        *out = (tsr_transition){.op = by_letter[i].op, .src = src, .dst = dst};
        if (by_letter[i].letter == letter && transition_pair(out) != PAIR_NONE) {
            return true;
        }
    }
    return false;
}

/* The call that was probably meant, as the end of a message. */
static hint_words hint_of(tsr_context *ctx, const tsr_transition *t, const char *axis)
{
    hint_words hint = {""};
    tsr_transition call;
    tsr_arena *arena = NULL;
    if (same_end(t->src, t->dst)) {
        (void)snprintf(hint.text, sizeof hint.text, "; the value is already %s: remove this call",
                       end_text(t->src).text);
        return hint;
    }
    if (find_route(t->src, t->dst, &call) && tsr_arena_create(ctx, &arena) == TSR_OK) {
        buffer buf = buffer_new(arena);
        const char *text;
        spmd_print_call(&buf, &call, "..", axis);
        if (buffer_finish(ctx, &buf, &text) == TSR_OK) {
            (void)snprintf(hint.text, sizeof hint.text, "; use %s", text);
        }
        tsr_arena_destroy(arena);
    }
    return hint;
}

/* Dimensions of V: a stacked V has one dimension more. */
static tsr_status check_dims(tsr_context *ctx, const char *axis, const tsr_transition *t,
                             size_t rank)
{
    const struct {
        bool used;
        tsr_end end;
        int64_t stack;
        size_t room;
    } sides[] = {
        {t->src.kind == TSR_V, t->src, t->gather_dim, rank + (t->op == TSR_ALL_TO_ALL ? 0 : 1)},
        {t->dst.kind == TSR_V, t->dst, t->scatter_dim, rank},
    };
    const bool stacks[] = {transition_gathers(t), transition_scatters(t)};
    for (size_t i = 0; i < 2; i++) {
        const bool placed = sides[i].used && sides[i].end.dim != TSR_NO_DIM;
        const int64_t dim = placed ? sides[i].end.dim : sides[i].stack;
        const size_t room = placed ? rank : sides[i].room;
        size_t found;
        if (sides[i].used && (placed || stacks[i]) && !spmd_resolve_dim(dim, room, &found)) {
            return SPMD_ERROR(
                ctx, "%s along axis %s: dimension %lld is out of range: the value has rank %zu",
                text_of(t).text, axis, (long long)dim, rank);
        }
    }
    return TSR_OK;
}

tsr_status tsr_transition_check(tsr_context *ctx, const char *axis,
                                const tsr_transition *transition, size_t rank, tsr_guard guard)
{
    GUARD(tsr_transition_check);
    const tsr_transition resolved = transition_resolved(transition, rank);
    const pair_status status = transition_pair(&resolved);
    if (transition->op < TSR_ALL_REDUCE || transition->op > TSR_CONVERT) {
        return SPMD_ERROR(ctx, "unknown call number %d", (int)transition->op);
    }
    if (status == PAIR_NONE) {
        return SPMD_ERROR(ctx, "%s along axis %s: this combination does not exist: %s%s",
                          text_of(transition).text, axis, rules[transition->op],
                          hint_of(ctx, transition, axis).text);
    }
    if (status == PAIR_EXPERT && guard == TSR_GUARDED) {
        return SPMD_ERROR(ctx,
                          "%s along axis %s: this call makes a statement about gradients or shapes "
                          "that is not checked; it needs an expert scope",
                          text_of(transition).text, axis);
    }
    return check_dims(ctx, axis, transition, rank);
}

tsr_status tsr_transition_check_counts(tsr_context *ctx, const char *axis,
                                       const tsr_transition *transition, const int64_t *counts,
                                       const int64_t *sent)
{
    GUARD(tsr_transition_check_counts);
    const tsr_transition *t = transition;
    const bool swaps = t->op == TSR_ALL_TO_ALL;
    const bool cut = !transition_meets(t) && (t->src.dim != TSR_NO_DIM || t->dst.dim != TSR_NO_DIM);
    if ((counts != NULL || sent != NULL) && !cut) {
        return SPMD_ERROR(ctx,
                          "%s along axis %s: counts apply to S(i), not to a plain V: write S(i), "
                          "or omit the counts",
                          text_of(t).text, axis);
    }
    if (swaps && (counts == NULL) != (sent == NULL)) {
        return SPMD_ERROR(ctx,
                          "%s along axis %s: only the rows that members %s are given; all_to_all "
                          "takes both lists, counts and sent, or neither",
                          text_of(t).text, axis, counts != NULL ? "have" : "get");
    }
    if (!swaps && sent != NULL) {
        return SPMD_ERROR(ctx, "%s along axis %s: only all_to_all takes a list of sent rows",
                          text_of(t).text, axis);
    }
    return TSR_OK;
}

/* ---- dimensions as calls name them ---- */

/* Sets the dimension of an end, or checks it against the end's own. */
static tsr_status set_dim(tsr_context *ctx, const tsr_transition *t, const char *name, bool used,
                          tsr_end end, size_t rank, int64_t dim, int64_t *out)
{
    size_t named;
    size_t said;
    if (dim == TSR_NO_DIM) {
        return TSR_OK;
    }
    if (!used) {
        return SPMD_ERROR(ctx, "%s: it has no %s", text_of(t).text, name);
    }
    if (end.dim == TSR_NO_DIM) {
        *out = dim;
        return TSR_OK;
    }
    if (!spmd_resolve_dim(dim, rank, &named) || !spmd_resolve_dim(end.dim, rank, &said) ||
        named != said) {
        return SPMD_ERROR(ctx, "%s: %s is %lld, but the type says %s", text_of(t).text, name,
                          (long long)dim, end_text(end).text);
    }
    return TSR_OK;
}

tsr_status tsr_transition_set_dims(tsr_context *ctx, tsr_transition *transition, size_t rank,
                                   int64_t gather_dim, int64_t scatter_dim)
{
    GUARD(tsr_transition_set_dims);
    tsr_transition t = *transition;
    TSR_TRY(set_dim(ctx, &t, "gather dimension", transition_gathers(&t), t.src, rank, gather_dim,
                    &t.gather_dim));
    TSR_TRY(set_dim(ctx, &t, "scatter dimension", transition_scatters(&t), t.dst, rank, scatter_dim,
                    &t.scatter_dim));
    *transition = t;
    return TSR_OK;
}

/* ---- shapes ---- */

/* The state of inferring a shape. */
typedef struct shape_walk {
    tsr_context *ctx;
    const tsr_transition *t;
    int64_t size;
    int64_t index;
    const int64_t *sizes;
    size_t rank;
    int64_t *shape;
} shape_walk;

static tsr_status unbind(shape_walk *w)
{
    size_t dim = 0;
    if (!spmd_resolve_dim(w->t->scatter_dim, w->rank, &dim) || w->shape[dim] != w->size) {
        return SPMD_ERROR(w->ctx,
                          "%s: dimension %lld is unbound, one for each of %lld ranks, but its "
                          "extent is %lld",
                          text_of(w->t).text, (long long)w->t->scatter_dim, (long long)w->size,
                          (long long)(dim < w->rank ? w->shape[dim] : 0));
    }
    for (size_t d = dim; d + 1 < w->rank; d++) {
        w->shape[d] = w->shape[d + 1];
    }
    w->rank--;
    return TSR_OK;
}

static tsr_status stack(shape_walk *w)
{
    size_t dim = 0;
    if (!spmd_resolve_dim(w->t->gather_dim, w->rank + 1, &dim)) {
        return SPMD_ERROR(w->ctx, "%s: dimension %lld to stack on is out of range",
                          text_of(w->t).text, (long long)w->t->gather_dim);
    }
    for (size_t d = w->rank; d > dim; d--) {
        w->shape[d] = w->shape[d - 1];
    }
    w->shape[dim] = w->size;
    w->rank++;
    return TSR_OK;
}

static void chunk(shape_walk *w)
{
    size_t dim = 0;
    if (spmd_resolve_dim(w->t->dst.dim, w->rank, &dim)) {
        w->shape[dim] = w->sizes != NULL && !transition_gathers(w->t)
                            ? w->sizes[w->index]
                            : spmd_chunk(w->shape[dim], w->size, w->index);
    }
}

static tsr_status concatenate(shape_walk *w)
{
    size_t dim = 0;
    bool fits = spmd_resolve_dim(w->t->src.dim, w->rank, &dim);
    if (fits && w->sizes == NULL) {
        fits = checked_mul(w->shape[dim], w->size, &w->shape[dim]);
    } else if (fits) {
        w->shape[dim] = 0;
        for (int64_t i = 0; fits && i < w->size; i++) {
            fits = checked_add(w->shape[dim], w->sizes[i], &w->shape[dim]);
        }
    }
    return fits ? TSR_OK
                : diag_error(w->ctx, TSR_ERR_OVERFLOW, NO_LOCATION, "%s: the extent exceeds 2^63-1",
                             text_of(w->t).text);
}

tsr_status tsr_transition_shape(tsr_context *ctx, const tsr_transition *transition, int64_t size,
                                int64_t index, const int64_t *sizes, size_t rank,
                                const int64_t *before, size_t *rank_after, int64_t *after)
{
    GUARD(tsr_transition_shape);
    const tsr_transition t = transition_exchanged(transition);
    shape_walk w = {ctx, &t, size, index, sizes, rank, after};
    for (size_t d = 0; d < rank; d++) {
        after[d] = before[d];
    }
    if (transition_scatters(&t)) {
        if (t.dst.dim == TSR_NO_DIM) {
            TSR_TRY(unbind(&w));
        } else {
            chunk(&w);
        }
    }
    if (transition_gathers(&t)) {
        TSR_TRY(t.src.dim == TSR_NO_DIM ? stack(&w) : concatenate(&w));
    }
    *rank_after = w.rank;
    return TSR_OK;
}

/* ---- routes ---- */

tsr_status tsr_transition_route(tsr_context *ctx, tsr_end src, tsr_end dst, tsr_transition *call,
                                size_t *num_calls)
{
    GUARD(tsr_transition_route);
    tsr_transition t;
    end_kind kind;
    if (same_end(src, dst) && end_kind_of(src, &kind)) {
        *num_calls = 0;
        return TSR_OK;
    }
    if (!find_route(src, dst, &t)) {
        return SPMD_ERROR(ctx, "%s cannot be converted to %s along one axis", end_text(src).text,
                          end_text(dst).text);
    }
    *call = t;
    *num_calls = 1;
    return TSR_OK;
}

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "facts.h"
#include "transitions.h"

static bool op_is(const fact *f, const char *name)
{
    const char *op = fact_text(f, "op");
    return op != NULL && strcmp(op, name) == 0;
}

static bool find_op(const char *name, tsr_transition_op *out)
{
    for (int op = TSR_ALL_REDUCE; op <= TSR_CONVERT; op++) {
        if (name != NULL && strcmp(name, tsr_transition_name((tsr_transition_op)op)) == 0) {
            *out = (tsr_transition_op)op;
            return true;
        }
    }
    return false;
}

static int64_t dim_arg(json_t *args, const char *key)
{
    json_t *value = json_object_get(args, key);
    return json_is_integer(value) ? json_integer_value(value) : TSR_NO_DIM;
}

tsr_status fact_transition(const fact *f, json_t *args, size_t rank, tsr_transition *out)
{
    tsr_transition t = {.op = TSR_CONVERT};
    (void)find_op(fact_text(f, "op"), &t.op);
    t.op = op_is(f, "unshard") ? TSR_ALL_GATHER : t.op;
    TSR_TRY(tsr_end_parse(f->ctx, fact_text(f, "src"), &t.src));
    TSR_TRY(tsr_end_parse(f->ctx, fact_text(f, "dst"), &t.dst));
    if (op_is(f, "redistribute")) {
        size_t count;
        TSR_TRY(tsr_transition_route(f->ctx, t.src, t.dst, &t, &count));
    }
    const int64_t gather = dim_arg(args, "gather_dim");
    const int64_t concat = dim_arg(args, "concat_dim");
    const int64_t scatter = dim_arg(args, "scatter_dim");
    const int64_t split = dim_arg(args, "split_dim");
    TSR_TRY(tsr_transition_set_dims(f->ctx, &t, rank, gather != TSR_NO_DIM ? gather : concat,
                                    scatter != TSR_NO_DIM ? scatter : split));
    *out = t;
    return TSR_OK;
}

/* The lists of sizes that a call is given, by any of their names; what they are is not read. */
tsr_status fact_check_counts(const fact *f, const tsr_transition *t)
{
    static const char *const after[] = {"input_split_sizes", "scatter_sizes", "split_sizes"};
    static const char *const before[] = {"output_split_sizes", "gather_sizes", "concat_sizes",
                                         "split_sizes"};
    static const int64_t any[1] = {0};
    json_t *args = json_object_get(f->json, "args");
    const int64_t *counts = NULL;
    const int64_t *sent = NULL;
    for (size_t i = 0; t->op == TSR_ALL_TO_ALL && i < sizeof after / sizeof after[0]; i++) {
        sent = json_is_array(json_object_get(args, after[i])) ? any : sent;
    }
    const size_t num_before = t->op == TSR_ALL_TO_ALL ? 3 : 4;
    for (size_t i = 0; i < num_before; i++) {
        counts = json_is_array(json_object_get(args, before[i])) ? any : counts;
    }
    for (size_t i = 0; t->op != TSR_ALL_TO_ALL && i < 2; i++) {
        counts = json_is_array(json_object_get(args, after[i])) ? any : counts;
    }
    return tsr_transition_check_counts(f->ctx, "tp", t, counts, sent);
}

/* ---- values ---- */

/* Nested lists of numbers to a part; false when they are ragged or too many. */
static bool read_part(json_t *json, part *out)
{
    json_t *at = json;
    *out = (part){0};
    for (; json_is_array(at) && out->rank < MAX_RANK; at = json_array_get(at, 0)) {
        out->shape[out->rank++] = (int64_t)json_array_size(at);
    }
    if (part_count(out) > MAX_ELEMENTS) {
        return false;
    }
    for (int64_t i = 0; i < part_count(out); i++) {
        int64_t index[MAX_RANK];
        int64_t rest = i;
        for (size_t d = out->rank; d-- > 0; rest /= out->shape[d]) {
            index[d] = rest % out->shape[d];
        }
        at = json;
        for (size_t d = 0; d < out->rank; d++) {
            at = json_array_get(at, (size_t)index[d]);
        }
        if (!json_is_number(at)) {
            return false;
        }
        out->data[i] = json_number_value(at);
    }
    return true;
}

static bool same_part(const part *a, const part *b)
{
    if (a->rank != b->rank || memcmp(a->shape, b->shape, a->rank * sizeof a->shape[0]) != 0) {
        return false;
    }
    for (int64_t i = 0; i < part_count(a); i++) {
        if (a->data[i] != b->data[i]) { /* whole numbers: exact */
            return false;
        }
    }
    return true;
}

enum { MAX_RANKS = 8 };
static part ins[MAX_RANKS];
static part outs[MAX_RANKS];

/* Runs the call on what each rank has. */
static bool run_values(const fact *f, tsr_transition *t, size_t *ranks)
{
    json_t *per_rank = json_object_get(fact_input(f, 0), "per_rank");
    json_t *args = json_object_get(f->json, "args");
    json_t *split = json_object_get(args, "split_sizes");
    int64_t sizes[FACT_MOST];
    *ranks = json_array_size(per_rank);
    if (*ranks == 0 || *ranks > MAX_RANKS) {
        return false;
    }
    for (size_t i = 0; i < *ranks; i++) {
        if (!read_part(json_array_get(per_rank, i), &ins[i])) {
            return false;
        }
    }
    if (split != NULL && fact_numbers(split, sizes) != *ranks) {
        return false;
    }
    return fact_transition(f, args, ins[0].rank, t) >= 0 && fact_check_counts(f, t) >= 0 &&
           tsr_transition_check(f->ctx, "tp", t, ins[0].rank, TSR_UNGUARDED) >= 0 &&
           transition_on_threads(f->ctx, t, split != NULL ? sizes : NULL, (int64_t)*ranks, ins,
                                 outs) >= 0;
}

static bool check_values(const fact *f)
{
    json_t *want = json_object_get(json_object_get(f->json, "expect"), "per_rank");
    tsr_transition t;
    size_t ranks;
    const bool done = run_values(f, &t, &ranks);
    if (fact_wants_error(f)) {
        return !done;
    }
    if (!done || json_array_size(want) != ranks) {
        return false;
    }
    for (size_t i = 0; i < ranks; i++) {
        part expected;
        if (!read_part(json_array_get(want, i), &expected) || !same_part(&outs[i], &expected)) {
            return false;
        }
    }
    return true;
}

/* What a result stands for: the sum of what is pending, else what each rank has. */
static bool check_denotation(const fact *f)
{
    json_t *want = json_object_get(json_object_get(f->json, "expect"), "denotation");
    tsr_transition t;
    size_t ranks;
    part expected;
    if (!run_values(f, &t, &ranks) || !read_part(want, &expected)) {
        return false;
    }
    for (size_t r = 1; t.dst.kind == TSR_P && r < ranks; r++) {
        for (int64_t i = 0; i < part_count(&outs[0]); i++) {
            outs[0].data[i] += outs[r].data[i];
        }
    }
    return same_part(&outs[0], &expected);
}

/* For groups of one to five ranks. */
static bool check_adjoint(const fact *f)
{
    tsr_transition t;
    bool right = fact_transition(f, fact_input(f, 0), 3, &t) >= 0;
    for (int64_t size = 1; right && size <= 5; size++) {
        right = transition_is_adjoint(f->ctx, &t, size, &right) >= 0 && right;
    }
    const char *expect = fact_text(f, "expect");
    return expect != NULL && right == (strcmp(expect, "adjoint") == 0);
}

/* Which chunk each rank gets is its place in the group along the axis, not in the world. */
static bool check_group_rank(const fact *f)
{
    json_t *in = fact_input(f, 0);
    json_t *chunks = json_object_get(json_object_get(f->json, "expect"), "chunk_of_rank");
    const char *axis = json_string_value(json_object_get(in, "axis"));
    const char *names[FACT_MOST];
    int64_t pairs[FACT_MOST][FACT_MOST];
    int64_t sizes[FACT_MOST];
    size_t count = 0;
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(in, "mesh"), name, value)
    {
        size_t at = count++;
        int64_t pair[FACT_MOST];
        (void)fact_numbers(value, pair);
        for (; at > 0 && pairs[at - 1][1] < pair[1]; at--) {
            names[at] = names[at - 1];
            memcpy(pairs[at], pairs[at - 1], sizeof pair);
        }
        names[at] = name;
        memcpy(pairs[at], pair, sizeof pair);
    }
    for (size_t i = 0; i < count; i++) {
        sizes[i] = pairs[i][0];
    }
    const tsr_mesh_spec spec = {.num_axes = count, .axis_names = names, .axis_sizes = sizes};
    const tsr_mesh *mesh;
    const tsr_groups *groups;
    if (axis == NULL || tsr_mesh_create(f->ctx, f->arena, &spec, &mesh) < 0) {
        return false;
    }
    const tsr_axis_ref ref =
        tsr_axis_full(mesh, (size_t)tsr_mesh_find_axis(mesh, axis, strlen(axis)));
    bool right = tsr_groups_create(f->ctx, f->arena, mesh, &ref, 1, &groups) >= 0;
    json_object_foreach(chunks, name, value)
    {
        int64_t group;
        int64_t index = -1;
        right = right && tsr_groups_find(groups, strtoll(name, NULL, 10), &group, &index) &&
                index == json_integer_value(value);
    }
    return right && json_object_size(chunks) > 0;
}

bool fact_check_values(const fact *f)
{
    static const struct {
        const char *aspect;
        bool (*check)(const fact *f);
    } rows[] = {{"values", check_values},
                {"denotation", check_denotation},
                {"inner-product identity", check_adjoint},
                {"group-local rank", check_group_rank}};
    const char *aspect = fact_text(f, "aspect");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(aspect, rows[i].aspect) == 0) {
            return rows[i].check(f);
        }
    }
    return false;
}

/*
 * Facts about SPMD types, from a file of such: spmd_facts FILE. Prints the id of every fact that is
 * wrong and closes with `N passed, M failed`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "fact_ops.h"
#include "transitions.h"

static tsr_status refuse(const fact *f, const char *why)
{
    return diag_error(f->ctx, TSR_ERR_INVALID, NO_LOCATION, "%s", why);
}

static bool is_op(const fact *f, const char *name)
{
    const char *op = fact_text(f, "op");
    return op != NULL && strcmp(op, name) == 0;
}

static bool starts(const char *text, const char *prefix)
{
    return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The outcome of a call that has no result but success. */
static bool as_expected(const fact *f, tsr_status status)
{
    return fact_wants_error(f) ? status < 0 : status >= 0;
}

/* The outcome of a call that makes a type. */
static bool makes_type(const fact *f, tsr_status status, const tsr_type *type, bool all)
{
    json_t *expect = json_object_get(f->json, "expect");
    if (fact_wants_error(f)) {
        return status < 0;
    }
    if (status >= 0 && json_is_array(expect)) {
        bool right = json_array_size(expect) > 0;
        for (size_t i = 0; i < json_array_size(expect); i++) {
            right = right && fact_is_type(f, type, json_array_get(expect, i), all);
        }
        return right;
    }
    return status >= 0 && fact_is_type(f, type, expect, all);
}

/* ---- ops ---- */

static tsr_status read_call(const fact *f, fact_call *call)
{
    const char *op = fact_text(f, "op");
    const char *class = fact_text(f, "class");
    *call = (fact_call){.class = op != NULL ? NULL : class,
                        .num_operands = fact_num_inputs(f),
                        .args = json_object_get(f->json, "args")};
    fact_call_name(call, op != NULL ? op : class);
    call->class = class;
    call->out_partial = fact_axis_set(f, json_object_get(f->json, "out_partial_axes"));
    call->strict = !json_is_false(json_object_get(f->json, "strict"));
    call->unknown = starts(op, "unregistered");
    call->equation = fact_text(f, "equation");
    call->reshape = json_object_get(f->json, "target_local_shape");
    for (size_t i = 0; i < call->num_operands; i++) {
        TSR_TRY(fact_operand(f, fact_input(f, i), &call->operands[i]));
        call->number = json_is_number(fact_input(f, i)) ? fact_input(f, i) : call->number;
    }
    return TSR_OK;
}

/* The axes of a mesh as pairs, with the types of one type; those that are untyped are left out. */
static tsr_status strided_axis(const fact *f, const char *name, tsr_strided_axis *out)
{
    size_t axes[FACT_MOST];
    const size_t count = fact_axes(f, name, axes);
    tsr_stride *pairs = tsr_arena_alloc(f->arena, FACT_MOST * sizeof *pairs);
    size_t used = 0;
    if (pairs == NULL || count == 0) {
        return refuse(f, "does not have this axis");
    }
    for (size_t i = 0; i < count; i++) {
        size_t made;
        TSR_TRY(tsr_mesh_axis_strides(f->mesh, tsr_axis_full(f->mesh, axes[i]), FACT_MOST - used,
                                      pairs + used, &made));
        used += made;
    }
    *out = (tsr_strided_axis){.pairs = pairs, .num_pairs = used};
    return TSR_OK;
}

/*
 * Sees each operand along the axes of the current mesh. What that mesh has and no operand has a
 * type on is an error of a strict check.
 */
static tsr_status check_current_mesh(const fact *f, fact_call *call)
{
    json_t *names = json_object_get(f->json, "current_mesh");
    const size_t count = json_array_size(names);
    for (size_t i = 0; i < call->num_operands; i++) {
        tsr_strided_axis from[FACT_MOST];
        tsr_strided_axis to[FACT_MOST];
        size_t used = 0;
        tsr_strided_type out;
        if (call->operands[i].type == NULL) {
            continue;
        }
        for (size_t a = 0; a < tsr_mesh_num_axes(f->mesh); a++) {
            const tsr_axis_type type = tsr_type_axis(call->operands[i].type, a);
            if (type.kind != TSR_UNTYPED) {
                TSR_TRY(strided_axis(f, tsr_mesh_axis_name(f->mesh, a), &from[used]));
                from[used++].type = type;
            }
        }
        for (size_t k = 0; k < count; k++) {
            TSR_TRY(strided_axis(f, json_string_value(json_array_get(names, k)), &to[k]));
        }
        const tsr_strided_type type = {.num_axes = used, .axes = from};
        TSR_TRY(tsr_type_reaxis(f->ctx, f->arena, &type, to, count, &out));
    }
    call->required = fact_axis_set(f, names);
    return TSR_OK;
}

/* Whether two operands name an axis and parts of it, `dp_cp` and `dp`, and mean the same by it. */
static tsr_status check_shared_axes(const fact *f, json_t *a, json_t *b)
{
    const char *one;
    const char *other;
    json_t *kind;
    json_t *value;
    json_object_foreach(a, one, kind)
    {
        size_t axes[FACT_MOST];
        const size_t count = json_is_string(kind) ? fact_axes(f, one, axes) : 0;
        size_t covered = 0;
        bool other_way = false;
        json_object_foreach(b, other, value)
        {
            size_t parts[FACT_MOST];
            const size_t num_parts = json_is_string(value) ? fact_axes(f, other, parts) : 0;
            for (size_t k = 0; k < num_parts * count; k++) {
                if (axes[k / num_parts] == parts[k % num_parts] && num_parts < count) {
                    covered++;
                    other_way = other_way || !json_equal(kind, value);
                }
            }
        }
        if (covered > 0 && (covered < count || other_way)) {
            return refuse(f, "an axis and parts of it are typed in different ways");
        }
    }
    return TSR_OK;
}

static tsr_status check_axes_agree(const fact *f)
{
    for (size_t i = 0; i < fact_num_inputs(f); i++) {
        for (size_t k = 0; k < fact_num_inputs(f); k++) {
            TSR_TRY(check_shared_axes(f, fact_input(f, i), fact_input(f, k)));
        }
    }
    return TSR_OK;
}

/* What the result is written to: a place of its own, or an operand. */
static tsr_status store(const fact *f, const fact_call *call, const tsr_type **out)
{
    json_t *place = json_object_get(f->json, "out");
    json_t *mutated = json_object_get(f->json, "mutated");
    const bool watched = json_is_true(json_object_get(f->json, "mutated_requires_grad")) ||
                         json_is_true(json_object_get(f->json, "out_requires_grad"));
    const tsr_type *to;
    if (place != NULL) {
        TSR_TRY(fact_type(f, place, 2, &to));
        return tsr_type_store(f->ctx, f->arena, to, *out,
                              watched ? TSR_PLACE_WATCHED : TSR_PLACE_OUT, out);
    }
    if (json_is_integer(mutated)) {
        to = call->operands[json_integer_value(mutated)].type;
        return tsr_type_store(f->ctx, f->arena, to, *out,
                              watched ? TSR_PLACE_WATCHED : TSR_PLACE_UPDATED, out);
    }
    return TSR_OK;
}

static tsr_status infer_local(const fact *f, const tsr_type **out)
{
    fact_call call;
    TSR_TRY(read_call(f, &call));
    TSR_TRY(check_axes_agree(f));
    if (json_is_array(json_object_get(f->json, "current_mesh"))) {
        TSR_TRY(check_current_mesh(f, &call));
    }
    TSR_TRY(fact_infer(f, &call, out));
    return store(f, &call, out);
}

static bool check_infer(const fact *f)
{
    json_t *scalar = json_object_get(json_object_get(f->json, "expect"), "typed_scalar");
    const tsr_type *type = NULL;
    const tsr_status status = infer_local(f, &type);
    if (scalar != NULL) {
        return status >= 0 && fact_is_type(f, type, scalar, true);
    }
    return makes_type(f, status, type, true);
}

/* The names of ops that make a tensor from a shape: the same everywhere, or drawn. */
static bool is_factory(const char *name, bool *drawn)
{
    static const char *const same[] = {"zeros", "ones",     "full",     "arange", "range",
                                       "eye",   "linspace", "logspace", "tensor", "scalar_tensor"};
    static const char *const random[] = {"rand",   "randn", "randint",  "randperm",
                                         "normal", "empty", "bernoulli"};
    char plain[64];
    (void)snprintf(plain, sizeof plain, "%s", name + (starts(name, "new_") ? 4 : 0));
    const size_t size = strlen(plain);
    if (size > 5 && strcmp(plain + size - 5, "_like") == 0) {
        plain[size - 5] = '\0';
    }
    *drawn = false;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (strcmp(plain, same[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof random / sizeof random[0]; i++) {
        *drawn = *drawn || strcmp(plain, random[i]) == 0;
    }
    return *drawn;
}

/*
 * A tensor from nothing but a shape: constants are R along every axis of the current mesh, whatever
 * tensor the shape is from. What is drawn is not the same everywhere: like another tensor it
 * varies where that has a type, and from nothing it is not known.
 */
static bool check_creation(const fact *f, bool drawn)
{
    const tsr_axis_set named = fact_axis_set(f, json_object_get(f->json, "current_mesh"));
    const tsr_axis_type none = {TSR_UNTYPED, TSR_SUM};
    tsr_mutation mutations[FACT_MOST];
    size_t count = 0;
    const tsr_type *type = NULL;
    const tsr_type *like = NULL;
    tsr_status status = tsr_type_uniform(f->ctx, f->arena, f->mesh, none, &type);
    if (status >= 0 && json_is_object(fact_input(f, 0))) {
        status = fact_type(f, fact_input(f, 0), 2, &like);
    }
    for (size_t a = 0; status >= 0 && a < tsr_mesh_num_axes(f->mesh); a++) {
        const bool typed = like != NULL && tsr_type_axis(like, a).kind != TSR_UNTYPED;
        if (drawn ? typed : (named.bits >> a & 1) != 0) {
            mutations[count++] = (tsr_mutation){a, none, {drawn ? TSR_V : TSR_R, TSR_SUM}};
        }
    }
    if (status >= 0) {
        status = tsr_type_mutate(f->ctx, f->arena, type, mutations, count, &type);
    }
    return makes_type(f, status, type, true);
}

static tsr_status assert_all(const fact *f, const tsr_type **out)
{
    int64_t shape[FACT_MOST];
    const size_t rank = fact_numbers(json_object_get(f->json, "shape"), shape);
    TSR_TRY(
        tsr_type_uniform(f->ctx, f->arena, f->mesh, (tsr_axis_type){TSR_UNTYPED, TSR_SUM}, out));
    for (size_t i = 0; i < fact_num_inputs(f); i++) {
        const tsr_type *claim;
        TSR_TRY(fact_type(f, fact_input(f, i), rank, &claim));
        const tsr_typed_shape typed = {claim, TSR_F32, rank, shape, NULL};
        TSR_TRY(tsr_type_check(f->ctx, &typed));
        TSR_TRY(tsr_type_assert(f->ctx, f->arena, *out, claim, TSR_UNTYPED, out));
    }
    return TSR_OK;
}

static bool check_assert(const fact *f)
{
    const tsr_type *type = NULL;
    const tsr_status status = assert_all(f, &type);
    return makes_type(f, status, type, true);
}

/* An argument of mutate_type along an axis: a letter stands for every axis of the other. */
typedef struct side {
    bool named; /* given by axis */
    bool given;
    tsr_end end;
} side;

static tsr_status side_along(const fact *f, const char *key, const char *axis, side *out)
{
    json_t *value = json_object_get(json_object_get(f->json, "args"), key);
    const char *name;
    json_t *at;
    *out = (side){.named = json_is_object(value), .given = json_is_string(value)};
    const char *text = json_string_value(value);
    json_object_foreach(value, name, at)
    {
        size_t axes[FACT_MOST];
        const size_t count = fact_axes(f, name, axes);
        for (size_t k = 0; k < count; k++) {
            if (strcmp(tsr_mesh_axis_name(f->mesh, axes[k]), axis) == 0) {
                out->given = true;
                text = json_string_value(at);
            }
        }
    }
    return out->given ? tsr_end_parse(f->ctx, text, &out->end) : TSR_OK;
}

/* The axes that `axis` names; all of the value's when it is absent. */
static tsr_axis_set mutated_axes(const fact *f, const tsr_type *type)
{
    json_t *axis = json_object_get(json_object_get(f->json, "args"), "axis");
    tsr_axis_set set = {0};
    if (json_is_string(axis)) {
        size_t axes[FACT_MOST];
        const size_t count = fact_axes(f, json_string_value(axis), axes);
        for (size_t k = 0; k < count; k++) {
            set.bits |= UINT64_C(1) << axes[k];
        }
        return set;
    }
    for (size_t a = 0; a < tsr_mesh_num_axes(f->mesh); a++) {
        set.bits |= tsr_type_axis(type, a).kind != TSR_UNTYPED ? UINT64_C(1) << a : 0;
    }
    return set;
}

static tsr_status mutate(const fact *f, const tsr_type **out)
{
    const bool one = json_object_get(json_object_get(f->json, "args"), "axis") != NULL;
    tsr_mutation mutations[FACT_MOST];
    tsr_end ends[FACT_MOST];
    size_t count = 0;
    const tsr_type *type;
    const tsr_type *dims = NULL;
    TSR_TRY(fact_type(f, fact_input(f, 0), 2, &type));
    const tsr_axis_set all = mutated_axes(f, type);
    for (size_t a = 0; a < tsr_mesh_num_axes(f->mesh); a++) {
        const char *name = tsr_mesh_axis_name(f->mesh, a);
        side from;
        side to;
        ends[a] = (tsr_end){.kind = TSR_UNTYPED, .dim = TSR_NO_DIM};
        TSR_TRY(side_along(f, "src", name, &from));
        TSR_TRY(side_along(f, "dst", name, &to));
        const bool is_in = (all.bits >> a & 1) != 0;
        const bool wanted = one || (!from.named && !to.named) ? is_in
                            : from.named                      ? from.given
                                                              : to.given;
        if (from.named && to.named && from.given != to.given) {
            return refuse(f, "both sides of a change name the same axes");
        }
        if (!wanted) {
            continue;
        }
        mutations[count++] =
            (tsr_mutation){a, {from.end.kind, from.end.partial}, {to.end.kind, to.end.partial}};
        ends[a] = to.end;
        if (from.end.kind == TSR_V && from.end.dim != TSR_NO_DIM &&
            tsr_type_dim_of(type, a) != (from.end.dim < 0 ? from.end.dim + 2 : from.end.dim)) {
            return refuse(f, "the value is cut along another dimension");
        }
    }
    if (count == 0) {
        return refuse(f, "no axis to change");
    }
    TSR_TRY(tsr_type_of_ends(f->ctx, f->arena, f->mesh, ends, 2, NULL, 0, &dims));
    TSR_TRY(tsr_type_mutate(f->ctx, f->arena, type, mutations, count, out));
    return tsr_type_assert(f->ctx, f->arena, *out, dims, TSR_UNTYPED, out);
}

static bool check_mutate(const fact *f)
{
    const tsr_type *type = NULL;
    const tsr_status status = mutate(f, &type);
    return makes_type(f, status, type, true);
}

/*
 * What is declared for a value: a type, nothing at all, or a part that is to be found ("Infer
 * leaf"), which says nothing along any axis.
 */
static tsr_status read_declared(const fact *f, json_t *said, const tsr_type **out)
{
    const char *text = json_string_value(said);
    if (json_is_object(said)) {
        return fact_type(f, said, 2, out);
    }
    *out = NULL;
    return text != NULL && strstr(text, "leaf") != NULL
               ? tsr_type_uniform(f->ctx, f->arena, f->mesh, (tsr_axis_type){TSR_UNTYPED, TSR_SUM},
                                  out)
               : TSR_OK;
}

static bool check_local_map(const fact *f)
{
    const tsr_type *values[FACT_MOST] = {NULL};
    const tsr_type *declared[FACT_MOST] = {NULL};
    tsr_status status = TSR_OK;
    for (size_t i = 0; status >= 0 && i < fact_num_inputs(f); i++) {
        json_t *value = json_object_get(fact_input(f, i), "value");
        if (json_is_object(value)) {
            status = fact_type(f, value, 2, &values[i]);
        }
        if (status >= 0) {
            status = read_declared(f, json_object_get(fact_input(f, i), "declared"), &declared[i]);
        }
    }
    if (status >= 0) {
        status = tsr_local_map_check(f->ctx, f->arena, values, declared, fact_num_inputs(f));
    }
    json_t *expect = json_object_get(f->json, "expect");
    return json_is_object(expect)
               ? makes_type(f, status, declared[0] != NULL ? declared[0] : values[0], false)
               : as_expected(f, status);
}

static bool check_placement(const fact *f)
{
    json_t *in = fact_input(f, 0);
    tsr_end end;
    const char *text = NULL;
    tsr_status status =
        tsr_end_of_placement(f->ctx, json_string_value(json_object_get(in, "placement")),
                             json_string_value(json_object_get(in, "grad_placement")), &end);
    if (status >= 0) {
        status = tsr_end_print(f->ctx, f->arena, end, &text);
    }
    const char *want = json_string_value(json_object_get(json_object_get(f->json, "expect"), "tp"));
    return fact_wants_error(f) ? status < 0
                               : status >= 0 && want != NULL && strcmp(text, want) == 0;
}

/* The placement of a type along one axis; "Replicate" may be written without brackets. */
static bool check_to_placement(const fact *f)
{
    json_t *in = fact_input(f, 0);
    json_t *expect = json_object_get(f->json, "expect");
    const char *want = json_is_object(expect)
                           ? json_string_value(json_object_get(expect, "placement"))
                           : json_string_value(expect);
    json_t *types = json_object_get(in, "types");
    const char *text = json_is_object(in)
                           ? json_string_value(json_object_get(types != NULL ? types : in, "tp"))
                           : json_string_value(in);
    const char *made = NULL;
    tsr_end end;
    tsr_status status = text != NULL ? tsr_end_parse(f->ctx, text, &end) : refuse(f, "no type");
    if (status >= 0) {
        status = tsr_end_placement(f->ctx, f->arena, end, &made);
    }
    if (fact_wants_error(f)) {
        return status < 0;
    }
    tsr_end is;
    tsr_end should;
    return status >= 0 && want != NULL && tsr_end_of_placement(f->ctx, made, NULL, &is) >= 0 &&
           tsr_end_of_placement(f->ctx, want, NULL, &should) >= 0 && is.kind == should.kind &&
           is.dim == should.dim;
}

/* `convert I->R`, by either name where both are one act. */
static bool is_call(const fact *f, const tsr_transition *call, const char *op, const char *src,
                    const char *dst)
{
    tsr_end from;
    tsr_end to;
    if (tsr_end_parse(f->ctx, src, &from) < 0 || tsr_end_parse(f->ctx, dst, &to) < 0) {
        return false;
    }
    const bool same_act = (call->op == TSR_CONVERT || call->op == TSR_REINTERPRET) &&
                          (strcmp(op, "convert") == 0 || strcmp(op, "reinterpret") == 0) &&
                          (from.kind == TSR_R || from.kind == TSR_I) &&
                          (to.kind == TSR_R || to.kind == TSR_I);
    return (same_act || strcmp(op, tsr_transition_name(call->op)) == 0) &&
           from.kind == call->src.kind && from.dim == call->src.dim && to.kind == call->dst.kind &&
           to.dim == call->dst.dim;
}

static bool offers(const fact *f, const tsr_fix *fixes, size_t count, const char *text)
{
    char op[32];
    char src[16];
    char dst[16];
    if (sscanf(text, "%31s %15[^-]->%15s", op, src, dst) != 3) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_call(f, &fixes[i].call, op, src, dst)) {
            return true;
        }
    }
    return false;
}

static bool check_fixes(const fact *f)
{
    json_t *wanted = json_object_get(f->json, "suggest");
    const tsr_fix *fixes = NULL;
    const tsr_type *type = NULL;
    size_t count = 0;
    fact_call call;
    bool right = read_call(f, &call) >= 0 && fact_infer(f, &call, &type) < 0 &&
                 fact_fixes(f, &call, &fixes, &count) >= 0;
    for (size_t i = 0; right && i < json_array_size(wanted); i++) {
        right = offers(f, fixes, count, json_string_value(json_array_get(wanted, i)));
    }
    return right && fact_wants_error(f);
}

static bool check_local_op(const fact *f)
{
    static const struct {
        const char *op;
        bool (*check)(const fact *f);
    } rows[] = {{"assert_type sequence", check_assert},
                {"mutate_type", check_mutate},
                {"local_map", check_local_map},
                {"fix suggestion", check_fixes},
                {"from DTensor placement", check_placement},
                {"to DTensor placement", check_to_placement}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (is_op(f, rows[i].op)) {
            return rows[i].check(f);
        }
    }
    if (fact_text(f, "op") != NULL && strstr(fact_text(f, "op"), "DTensor") != NULL) {
        return json_object_get(fact_input(f, 0), "placement") != NULL ? check_placement(f)
                                                                      : check_to_placement(f);
    }
    fact_call call = {0};
    bool drawn;
    fact_call_name(&call, fact_text(f, "op") != NULL ? fact_text(f, "op") : "");
    const bool from_shape = !json_is_object(fact_input(f, 0)) ||
                            json_is_array(json_object_get(f->json, "current_mesh")) ||
                            starts(call.name, "new_") || starts(call.name, "rand");
    for (size_t i = 0; i < fact_num_inputs(f); i++) {
        if (json_object_get(fact_input(f, i), "typed_scalar") != NULL) {
            return check_infer(f); /* what it is filled with says what it is */
        }
    }
    return is_factory(call.name, &drawn) && from_shape ? check_creation(f, drawn) : check_infer(f);
}

/* ---- whole values ---- */

/* The axes that are not local: by a key, or by `local_axes=[..]` in the op. */
static tsr_axis_set global_axes(const fact *f)
{
    tsr_axis_set local = fact_axis_set(f, json_object_get(f->json, "local_axes"));
    const char *op = fact_text(f, "op");
    const char *list = op != NULL ? strstr(op, "local_axes=[") : NULL;
    for (size_t a = 0; list != NULL && a < tsr_mesh_num_axes(f->mesh); a++) {
        if (strstr(list, tsr_mesh_axis_name(f->mesh, a)) != NULL) {
            local.bits |= UINT64_C(1) << a;
        }
    }
    if (op != NULL && strstr(op, "inside local region") != NULL) {
        local = fact_all_axes(f);
    }
    return (tsr_axis_set){fact_all_axes(f).bits & ~local.bits};
}

/* `assert S(0) after .., then mul by scalar`: the claim, and the op after it. */
static tsr_status claim_first(const fact *f, fact_call *call)
{
    const char *op = fact_text(f, "op");
    const char *then = strstr(op, "then ");
    char text[16];
    tsr_end ends[FACT_MOST];
    const tsr_type *claim;
    if (!starts(op, "assert ") || then == NULL || sscanf(op, "assert %15s", text) != 1) {
        return TSR_OK;
    }
    for (size_t a = 0; a < FACT_MOST; a++) {
        ends[a] = (tsr_end){.kind = TSR_UNTYPED, .dim = TSR_NO_DIM};
    }
    TSR_TRY(tsr_end_parse(f->ctx, text, &ends[tsr_mesh_find_axis(f->mesh, "tp", 2)]));
    TSR_TRY(
        tsr_type_of_ends(f->ctx, f->arena, f->mesh, ends, call->operands[0].rank, NULL, 0, &claim));
    TSR_TRY(tsr_type_assert(f->ctx, f->arena, call->operands[0].type, claim, TSR_UNTYPED,
                            &call->operands[0].type));
    fact_call_name(call, then + 5);
    return TSR_OK;
}

/* Facts have no sizes of shards: what is cut into others than even chunks is no type of theirs. */
static tsr_status check_even(const fact *f, const tsr_type *type)
{
    for (size_t d = 0; tsr_type_has_spec(type) && d < tsr_type_rank(type); d++) {
        if (tsr_type_dim(type, d)->sizes != NULL) {
            return refuse(f, "the shards of the result are no even chunks");
        }
    }
    return TSR_OK;
}

static tsr_status infer_global(const fact *f, const tsr_type **out)
{
    fact_call call;
    TSR_TRY(read_call(f, &call));
    call.global = global_axes(f);
    call.implicit_partial = fact_text(f, "mode") == NULL;
    json_t *last = fact_input(f, call.num_operands - 1);
    json_t *place = json_object_get(last, "out");
    call.num_operands -= place != NULL ? 1 : 0;
    TSR_TRY(claim_first(f, &call));
    TSR_TRY(fact_infer(f, &call, out));
    TSR_TRY(check_even(f, *out));
    if (place != NULL) {
        tsr_typed_shape to;
        TSR_TRY(fact_operand(f, place, &to));
        return tsr_type_store(f->ctx, f->arena, to.type, *out, TSR_PLACE_OUT, out);
    }
    return TSR_OK;
}

static bool check_global(const fact *f)
{
    const tsr_type *type = NULL;
    if (is_op(f, "operand well-formed in global mode")) {
        tsr_typed_shape o;
        tsr_status status = fact_operand(f, fact_input(f, 0), &o);
        if (status >= 0) {
            status = tsr_type_check_global(f->ctx, o.type, fact_all_axes(f));
        }
        return as_expected(f, status);
    }
    const tsr_status status = infer_global(f, &type);
    return makes_type(f, status, type, false);
}

/* ---- transitions ---- */

static tsr_guard guard_of(const fact *f)
{
    const bool gated = is_op(f, "reinterpret") || is_op(f, "convert");
    return !gated                                                  ? TSR_UNGUARDED
           : json_is_true(json_object_get(f->json, "expert_mode")) ? TSR_GUARDED_EXPERT
                                                                   : TSR_GUARDED;
}

static tsr_axis_set transition_global(const fact *f)
{
    const char *mode = fact_text(f, "mode");
    const bool whole =
        is_op(f, "shard") || is_op(f, "unshard") || (mode != NULL && strcmp(mode, "global") == 0);
    return whole ? global_axes(f) : (tsr_axis_set){0};
}

/* For shard and unshard the source says where the value lies. */
static tsr_status value_of(const fact *f, tsr_typed_shape *value)
{
    TSR_TRY(fact_operand(f, fact_input(f, 0), value));
    if (is_op(f, "shard") || is_op(f, "unshard")) {
        json_t *said = json_pack("{s:s}", "tp", fact_text(f, "src"));
        const tsr_status status = fact_type(f, said, value->rank, &value->type);
        json_decref(said);
        return status;
    }
    return TSR_OK;
}

static tsr_status run_transition(const fact *f, const tsr_type **type, size_t *rank, int64_t *shape)
{
    const char *axis = fact_text(f, "axis");
    size_t axes[FACT_MOST];
    const size_t count = fact_axes(f, axis != NULL ? axis : "tp", axes);
    const bool strict = axis != NULL && !json_is_false(json_object_get(f->json, "strict"));
    tsr_typed_shape value;
    tsr_transition t;
    TSR_TRY(value_of(f, &value));
    TSR_TRY(fact_transition(f, json_object_get(f->json, "args"), value.rank, &t));
    TSR_TRY(fact_check_counts(f, &t));
    TSR_TRY(tsr_type_transition(f->ctx, f->arena, &value, axes, count, &t, transition_global(f),
                                guard_of(f), strict, type));
    *rank = value.rank;
    if (json_object_get(json_object_get(f->json, "expect"), "shape") != NULL) {
        return tsr_transition_shape(f->ctx, &t, tsr_mesh_axis_size(f->mesh, axes[0]), 0, NULL,
                                    value.rank, value.shape, rank, shape);
    }
    return TSR_OK;
}

static bool check_transition(const fact *f)
{
    json_t *expect = json_object_get(f->json, "expect");
    const char *kind = json_string_value(json_object_get(expect, "type"));
    const tsr_type *type = NULL;
    int64_t shape[FACT_MOST + 1];
    int64_t want[FACT_MOST];
    size_t rank = 0;
    const tsr_status status = run_transition(f, &type, &rank, shape);
    if (kind == NULL) {
        return json_is_string(expect) ? as_expected(f, status) : makes_type(f, status, type, true);
    }
    size_t axes[FACT_MOST] = {0};
    (void)fact_axes(f, fact_text(f, "axis") != NULL ? fact_text(f, "axis") : "tp", axes);
    return status >= 0 && strcmp(kind, tsr_axis_type_name(tsr_type_axis(type, axes[0]))) == 0 &&
           fact_numbers(json_object_get(expect, "shape"), want) == rank &&
           memcmp(shape, want, rank * sizeof shape[0]) == 0;
}

/* A call that writes to a place which has a type already. */
static tsr_status run_raw(const fact *f, const tsr_type **out)
{
    static const struct {
        const char *prefix;
        tsr_transition_op op;
        const char *src;
        const char *dst;
    } rows[] = {{"raw.all_reduce", TSR_ALL_REDUCE, "P", "R"},
                {"raw.all_gather", TSR_ALL_GATHER, "V", "R"},
                {"raw.reduce_scatter", TSR_REDUCE_SCATTER, "P", "V"},
                {"raw.all_to_all", TSR_ALL_TO_ALL, "V", "V"}};
    const size_t tp = (size_t)tsr_mesh_find_axis(f->mesh, "tp", 2);
    tsr_typed_shape value;
    tsr_transition t = {0};
    const tsr_type *place = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (starts(fact_text(f, "op"), rows[i].prefix)) {
            t.op = rows[i].op;
            TSR_TRY(tsr_end_parse(f->ctx, rows[i].src, &t.src));
            TSR_TRY(tsr_end_parse(f->ctx, rows[i].dst, &t.dst));
        }
    }
    TSR_TRY(fact_operand(f, fact_input(f, 0), &value));
    if (fact_num_inputs(f) > 1) {
        TSR_TRY(fact_type(f, fact_input(f, 1), 2, &place));
        const tsr_axis_type said = tsr_type_axis(place, tp);
        t.dst.kind = said.kind != TSR_UNTYPED ? said.kind : t.dst.kind;
    }
    return tsr_type_collective_into(f->ctx, f->arena, &value, &tp, 1, &t, place, out);
}

static bool check_raw(const fact *f)
{
    json_t *expect = json_object_get(f->json, "expect");
    json_t *output = json_object_get(expect, "output");
    const char *want =
        json_string_value(output != NULL ? output : json_object_get(expect, "input_after"));
    const size_t tp = (size_t)tsr_mesh_find_axis(f->mesh, "tp", 2);
    const tsr_type *type = NULL;
    const tsr_status status = run_raw(f, &type);
    return fact_wants_error(f) ? status < 0
                               : status >= 0 && want != NULL &&
                                     strcmp(want, tsr_axis_type_name(tsr_type_axis(type, tp))) == 0;
}

/* ---- backwards ---- */

static bool check_steps(const fact *f, const tsr_transition *steps, size_t count)
{
    json_t *expect = json_object_get(f->json, "expect");
    bool right = json_is_array(expect) && json_array_size(expect) == count;
    for (size_t i = 0; right && i < count; i++) {
        json_t *step = json_array_get(expect, i);
        right = is_call(f, &steps[i], json_string_value(json_object_get(step, "op")),
                        json_string_value(json_object_get(step, "src")),
                        json_string_value(json_object_get(step, "dst")));
    }
    return right;
}

/* `P->I` by a call, and the types that its backward goes between. */
static bool check_arrow(const fact *f)
{
    const char *forward = json_string_value(json_object_get(fact_input(f, 0), "forward"));
    const char *want =
        json_string_value(json_object_get(json_object_get(f->json, "expect"), "backward"));
    char src[16];
    char dst[16];
    char text[64];
    const char *ends[2] = {NULL, NULL};
    tsr_transition steps[2];
    size_t count = 0;
    if (forward == NULL || want == NULL || sscanf(forward, "%15[^-]->%15s", src, dst) != 2) {
        return false;
    }
    json_t *call = json_pack("{s:s, s:s, s:s}", "op", fact_text(f, "via"), "src", src, "dst", dst);
    fact other = *f;
    other.json = call;
    tsr_transition t;
    bool right = fact_transition(&other, NULL, 4, &t) >= 0 &&
                 tsr_transition_backward(f->ctx, &t, steps, &count) >= 0 && count > 0 &&
                 tsr_end_print(f->ctx, f->arena, steps[0].src, &ends[0]) >= 0 &&
                 tsr_end_print(f->ctx, f->arena, steps[count - 1].dst, &ends[1]) >= 0;
    json_decref(call);
    (void)snprintf(text, sizeof text, "%s->%s", ends[0] != NULL ? ends[0] : "",
                   ends[1] != NULL ? ends[1] : "");
    return right && strcmp(text, want) == 0;
}

static bool check_backward(const fact *f)
{
    const tsr_type *type = NULL;
    tsr_transition t;
    tsr_transition steps[2];
    size_t count = 0;
    if (is_op(f, "dual arrow")) {
        return check_arrow(f);
    }
    if (is_op(f, "backward dtype must be explicit")) {
        return fact_check_backward_wire(f);
    }
    if (starts(fact_text(f, "op"), "loss.backward")) {
        tsr_status status = fact_type(f, fact_input(f, 0), 2, &type);
        status = status >= 0 ? tsr_type_check_loss(f->ctx, type) : status;
        return as_expected(f, status);
    }
    if (is_op(f, "gradient type of")) {
        tsr_status status = fact_type(f, fact_input(f, 0), 2, &type);
        status = status >= 0 ? tsr_type_gradient(f->ctx, f->arena, type, &type) : status;
        return makes_type(f, status, type, true);
    }
    tsr_status status = fact_transition(f, NULL, 4, &t);
    if (status >= 0) {
        status = tsr_transition_backward(f->ctx, &t, steps, &count);
    }
    return fact_wants_error(f) ? status < 0 : status >= 0 && check_steps(f, steps, count);
}

/* ---- redistributions ---- */

static bool check_move(const fact *f)
{
    json_t *in = fact_input(f, 0);
    const size_t rank = (size_t)json_integer_value(json_object_get(in, "ndim"));
    const char *to = fact_text(f, "to");
    size_t axes[FACT_MOST];
    tsr_end end = {.dim = TSR_NO_DIM};
    const tsr_type *type = NULL;
    tsr_status status = fact_type(f, in, rank, &type);
    if (status >= 0 && to != NULL) {
        status = tsr_end_parse(f->ctx, to, &end);
    }
    if (status >= 0 && fact_axes(f, fact_text(f, "axis"), axes) == 1) {
        status = tsr_type_move_axis(f->ctx, f->arena, type, rank, axes[0], end.dim, &type);
    }
    return fact_wants_error(f)
               ? status < 0
               : status >= 0 && fact_is_spec(f, type, json_object_get(f->json, "expect"));
}

/* Dimensions from the last are ones from the first, where the shape is known. */
static tsr_end from_front(tsr_end end, size_t rank)
{
    if (end.dim < 0 && end.dim != TSR_NO_DIM && end.dim + (int64_t)rank >= 0) {
        end.dim += (int64_t)rank;
    }
    return end;
}

static bool check_redistribute(const fact *f)
{
    const char *expect = fact_text(f, "expect");
    int64_t shape[FACT_MOST];
    tsr_end src;
    tsr_end dst;
    tsr_transition call = {0};
    size_t count = 0;
    if (is_op(f, "move axis in spec")) {
        return check_move(f);
    }
    if (fact_text(f, "axis") != NULL) {
        return check_transition(f);
    }
    const size_t rank = fact_num_inputs(f) > 0
                            ? fact_numbers(json_object_get(fact_input(f, 0), "shape"), shape)
                            : 4;
    tsr_status status = tsr_end_parse(f->ctx, fact_text(f, "src"), &src);
    status = status >= 0 ? tsr_end_parse(f->ctx, fact_text(f, "dst"), &dst) : status;
    if (status >= 0) {
        status = tsr_transition_route(f->ctx, from_front(src, rank), from_front(dst, rank), &call,
                                      &count);
    }
    if (status >= 0 && count > 0) {
        status = tsr_transition_check(f->ctx, "tp", &call, rank, TSR_UNGUARDED);
    }
    if (fact_wants_error(f)) {
        return status < 0;
    }
    call.src = count > 0 ? src : call.src; /* as the fact spells them */
    call.dst = count > 0 ? dst : call.dst;
    return status >= 0 && (expect != NULL ? count == 0 : check_steps(f, &call, count));
}

/* ---- all of them ---- */

static bool check_collective(const fact *f)
{
    if (is_op(f, "dtype resolution") || is_op(f, "all_reduce inplace")) {
        return fact_check_wire(f);
    }
    return starts(fact_text(f, "op"), "raw.") ? check_raw(f) : check_transition(f);
}

static bool check(const fact *f)
{
    static const struct {
        const char *kind;
        bool (*check)(const fact *f);
    } rows[] = {{"local_op", check_local_op},         {"collective", check_collective},
                {"reinterpret", check_transition},    {"convert", check_transition},
                {"backward", check_backward},         {"global_einsum", check_global},
                {"global_elementwise", check_global}, {"redistribute", check_redistribute},
                {"mesh_axis", fact_check_mesh_axis}};
    const char *kind = fact_text(f, "kind");
    if (fact_text(f, "aspect") != NULL) {
        return fact_check_values(f);
    }
    for (size_t i = 0; kind != NULL && i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(kind, rows[i].kind) == 0) {
            return rows[i].check(f);
        }
    }
    return false;
}

/* One fact, with a context of its own. */
static bool run(json_t *json)
{
    json_t *size = json_object_get(json, "axis_size");
    fact f = {.json = json,
              .fill = starts(json_string_value(json_object_get(json, "kind")), "global")};
    bool right = false;
    f.fill = f.fill && !starts(fact_text(&f, "op"), "operand");
    if (tsr_context_create(NULL, &f.ctx) == TSR_OK) {
        if (tsr_arena_create(f.ctx, &f.arena) == TSR_OK) {
            right =
                fact_make_mesh(&f, size != NULL ? json_integer_value(size) : 2) >= 0 && check(&f);
            if (!right) {
                const tsr_diagnostic *d = tsr_context_diagnostics(f.ctx);
                (void)printf("%s: %s\n", fact_text(&f, "id"), d != NULL ? d->text : "no message");
            }
            tsr_arena_destroy(f.arena);
        }
        tsr_context_destroy(f.ctx);
    }
    return right;
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *facts = argc == 2 ? json_load_file(argv[1], 0, &error) : NULL;
    size_t passed = 0;
    if (!json_is_array(facts)) {
        (void)fprintf(stderr, "spmd_facts FILE: a list of facts\n");
        return 2;
    }
    for (size_t i = 0; i < json_array_size(facts); i++) {
        passed += run(json_array_get(facts, i)) ? 1 : 0;
    }
    const size_t failed = json_array_size(facts) - passed;
    (void)printf("%zu passed, %zu failed\n", passed, failed);
    json_decref(facts);
    return failed == 0 ? 0 : 1;
}

#include "fact_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"

/* ---- classes ---- */

static const char *const linear_names =
    " linear add sub subtract neg negative positive clone copy sum mean cumsum cat concat "
    "concatenate "
    "stack vstack hstack dstack column_stack row_stack flatten ravel unflatten view_as reshape_as "
    "expand_as transpose t permute movedim moveaxis swapaxes swapdims squeeze unsqueeze "
    "broadcast_to "
    "chunk unbind flip fliplr flipud rot90 reverse diagonal diag diag_embed trace tril triu tile "
    "contiguous detach unfold zeros_like real imag conj diff ";
static const char *const multilinear_names =
    " multilinear mul multiply matmul mm bmm mv dot vdot inner outer ger einsum tensordot kron "
    "nn.functional.linear multi_dot bilinear conv1d conv2d conv3d ";

/* Ops whose arguments are of different classes. */
static const struct {
    const char *name;
    const char *classes; /* N, L or M for each argument; the last one goes on */
} mixed[] = {{"reshape", "LN"},      {"view", "LN"},        {"expand", "LN"}, {"select", "LN"},
             {"slice", "LN"},        {"split", "LN"},       {"roll", "LN"},   {"repeat", "LN"},
             {"div", "MN"},          {"narrow", "LN"},      {"gather", "LN"}, {"where", "NL"},
             {"index_select", "LN"}, {"true_divide", "MN"}, {"take", "LN"},   {"embedding", "LN"},
             {"lerp", "LLN"}};

static bool is_listed(const char *names, const char *name)
{
    char word[64];
    (void)snprintf(word, sizeof word, " %s ", name);
    return strstr(names, word) != NULL;
}

static tsr_op_class class_of(void *state, size_t operand, tsr_reduction pending)
{
    const char *name = state;
    (void)pending;
    for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; i++) {
        if (strcmp(mixed[i].name, name) == 0) {
            const size_t last = strlen(mixed[i].classes) - 1;
            const char letter = mixed[i].classes[operand < last ? operand : last];
            return letter == 'N' ? TSR_NONLINEAR : letter == 'L' ? TSR_LINEAR : TSR_MULTILINEAR;
        }
    }
    return is_listed(linear_names, name)        ? TSR_LINEAR
           : is_listed(multilinear_names, name) ? TSR_MULTILINEAR
                                                : TSR_NONLINEAR;
}

/* ---- names ---- */

void fact_call_name(fact_call *call, const char *text)
{
    size_t size = strcspn(text, "( ,");
    size = size < sizeof call->name ? size : sizeof call->name - 1;
    memcpy(call->name, text, size);
    size -= size > 0 && text[size - 1] == '_' ? 1 : 0;
    call->name[size] = '\0';
    call->text = text;
}

/* A number after a key of the text, `dim=-1`, or the first one in brackets. */
static int64_t argument(const fact_call *call, const char *key, int64_t otherwise)
{
    const char *at = strstr(call->text, key);
    return at != NULL ? strtoll(at + strlen(key), NULL, 10) : otherwise;
}

static size_t dim_argument(const fact_call *call)
{
    const int64_t rank = (int64_t)call->operands[0].rank;
    const int64_t dim = argument(call, "dim=", rank - 1);
    const int64_t resolved = dim < 0 ? dim + rank : dim;
    return resolved >= 0 && resolved < rank ? (size_t)resolved : 0;
}

/* ---- rules ---- */

static tsr_extents local_of(const tsr_typed_shape *o)
{
    return (tsr_extents){o->rank, o->local};
}

/* The local shapes repeated to one. */
static tsr_status broadcasting(const fact *f, const fact_call *call, const tsr_extents *shapes,
                               const tsr_rule **out)
{
    int64_t sizes[FACT_MOST];
    size_t rank = 0;
    for (size_t i = 0; i < call->num_operands; i++) {
        rank = shapes[i].rank > rank ? shapes[i].rank : rank;
    }
    for (size_t d = 0; d < rank; d++) {
        sizes[d] = 1;
        for (size_t i = 0; i < call->num_operands; i++) {
            const size_t shift = rank - shapes[i].rank;
            if (d >= shift && shapes[i].sizes[d - shift] != 1) {
                sizes[d] = shapes[i].sizes[d - shift];
            }
        }
    }
    return tsr_rule_broadcasting(f->ctx, f->arena, shapes, call->num_operands,
                                 (tsr_extents){rank, sizes}, out);
}

static tsr_status reshaping(const fact *f, const fact_call *call, const tsr_rule **out)
{
    int64_t to[FACT_MOST];
    int64_t elements = 1;
    int64_t known = 1;
    const size_t rank = json_array_size(call->reshape);
    const tsr_typed_shape *o = &call->operands[0];
    for (size_t d = 0; d < o->rank; d++) {
        elements *= o->local[d];
    }
    for (size_t d = 0; d < rank; d++) {
        json_t *at = json_array_get(call->reshape, d);
        to[d] = json_is_string(at) ? -1 : json_integer_value(at);
        known *= to[d] >= 0 ? to[d] : 1;
    }
    for (size_t d = 0; d < rank; d++) {
        to[d] = to[d] >= 0 || known == 0 ? to[d] : elements / known;
    }
    return tsr_rule_reshape(f->ctx, f->arena, local_of(o), (tsr_extents){rank, to}, out);
}

static tsr_status transposing(const fact *f, const fact_call *call, const tsr_rule **out)
{
    size_t permutation[FACT_MOST];
    const char *comma = strchr(call->text, ',');
    const int64_t a = argument(call, "(", 0);
    const int64_t b = comma != NULL ? strtoll(comma + 1, NULL, 10) : 1;
    const int64_t rank = (int64_t)call->operands[0].rank;
    for (size_t d = 0; d < (size_t)rank; d++) {
        permutation[d] = d;
    }
    if (rank == 0) {
        return diag_error(f->ctx, TSR_ERR_INVALID, NO_LOCATION, "a scalar is not transposed");
    }
    permutation[(a + rank) % rank] = (size_t)((b + rank) % rank);
    permutation[(b + rank) % rank] = (size_t)((a + rank) % rank);
    return tsr_rule_transpose(f->ctx, f->arena, local_of(&call->operands[0]), permutation, out);
}

static tsr_status normalizing(const fact *f, const fact_call *call, const tsr_rule **out)
{
    char text[128];
    const int64_t *s = call->operands[0].local;
    (void)snprintf(text, sizeof text, "([i, j]%s)->([i, j]) {i=%lld, j=%lld} need_replication={j}",
                   call->num_operands > 1 ? ", [j]" : "", (long long)s[0], (long long)s[1]);
    return tsr_rule_parse(f->ctx, f->arena, text, out);
}

static bool is(const fact_call *call, const char *name)
{
    return strcmp(call->name, name) == 0;
}

static tsr_status rule_of(const fact *f, const fact_call *call, const tsr_rule **out)
{
    tsr_extents shapes[FACT_MOST] = {{0, NULL}};
    const size_t dim = dim_argument(call);
    for (size_t i = 0; i < call->num_operands; i++) {
        shapes[i] = local_of(&call->operands[i]);
    }
    if (is(call, "einsum")) {
        return tsr_rule_einsum(f->ctx, f->arena, call->equation, shapes, call->num_operands, out);
    }
    if (is(call, "nn.functional.linear") && shapes[0].rank > 0 && shapes[1].rank > 0) {
        const size_t last[] = {shapes[0].rank - 1, shapes[1].rank - 1};
        const tsr_dot_dims dims = {
            .num_contracting = 1, .lhs_contracting = &last[0], .rhs_contracting = &last[1]};
        return tsr_rule_dot_general(f->ctx, f->arena, shapes[0], shapes[1], &dims, out);
    }
    if (is_listed(" mm bmm matmul mv dot ", call->name)) {
        return tsr_rule_matmul(f->ctx, f->arena, shapes[0], shapes[1], out);
    }
    if (is(call, "reshape") || is(call, "view")) {
        return reshaping(f, call, out);
    }
    if (is(call, "cat")) {
        return tsr_rule_concatenate(f->ctx, f->arena, shapes, call->num_operands, dim, out);
    }
    if (is(call, "sort")) {
        return tsr_rule_sort(f->ctx, f->arena, call->num_operands, shapes[0], dim, out);
    }
    if (strncmp(call->name, "cum", 3) == 0) {
        return tsr_rule_cumulative(f->ctx, f->arena, shapes[0], dim, out);
    }
    if (is(call, "sum") || is(call, "mean") || is(call, "amax") || is(call, "amin")) {
        return tsr_rule_reduce(f->ctx, f->arena, shapes[0], &dim, 1, out);
    }
    if (is(call, "transpose")) {
        return transposing(f, call, out);
    }
    if (is(call, "rms_norm") || is(call, "layer_norm") || is(call, "softmax")) {
        return normalizing(f, call, out);
    }
    return broadcasting(f, call, shapes, out);
}

/* ---- typing ---- */

static tsr_status make_call(const fact *f, const fact_call *call, const tsr_rule *rule,
                            tsr_typed_call *out)
{
    char *name = tsr_arena_alloc(f->arena, sizeof call->name);
    if (name == NULL) {
        return diag_nomem(f->ctx);
    }
    (void)snprintf(name, sizeof call->name, "%s", call->class != NULL ? call->class : call->name);
    *out = (tsr_typed_call){.name = name,
                            .mesh = f->mesh,
                            .num_operands = call->num_operands,
                            .operands = call->operands,
                            .class_of = call->unknown ? NULL : class_of,
                            .state = name,
                            .global = call->global,
                            .rule = rule,
                            .out_partial = call->out_partial,
                            .implicit_partial = call->implicit_partial &&
                                                !is_listed(" mean amax amin ", call->name),
                            .strict = call->strict,
                            .required = call->required};
    return TSR_OK;
}

static tsr_status infer_one(const fact *f, const fact_call *call, const tsr_type **out)
{
    const tsr_type *results[FACT_MOST];
    const tsr_rule *rule = NULL;
    tsr_typed_call typed;
    if (call->global.bits != 0) {
        TSR_TRY(rule_of(f, call, &rule));
    }
    TSR_TRY(make_call(f, call, rule, &typed));
    TSR_TRY(tsr_type_infer(f->ctx, f->arena, &typed, results));
    *out = results[0];
    return TSR_OK;
}

/* One that adds its operand `bias` to the product of the two others. */
static tsr_status infer_added(const fact *f, const fact_call *call, size_t bias,
                              const tsr_type **out)
{
    fact_call product = *call;
    fact_call sum = *call;
    (void)snprintf(product.name, sizeof product.name, "mul");
    (void)snprintf(sum.name, sizeof sum.name, "add");
    product.num_operands = sum.num_operands = 2;
    product.operands[0] = call->operands[bias == 0 ? 1 : 0];
    product.operands[1] = call->operands[bias == 2 ? 1 : 2];
    sum.operands[0] = call->operands[bias];
    sum.operands[1] = call->operands[bias];
    TSR_TRY(infer_one(f, &product, &sum.operands[1].type));
    return infer_one(f, &sum, out);
}

/* A new dimension in each operand, then a concatenation. */
static tsr_status infer_stack(const fact *f, const fact_call *call, const tsr_type **out)
{
    fact_call cat = *call;
    int64_t shapes[FACT_MOST][2][FACT_MOST];
    const size_t rank = call->operands[0].rank;
    const int64_t said = argument(call, "dim=", 0);
    const size_t dim = (size_t)(said < 0 ? said + (int64_t)rank + 1 : said);
    (void)snprintf(cat.name, sizeof cat.name, "cat");
    for (size_t i = 0; i < call->num_operands; i++) {
        fact_call one = *call;
        json_t *to = json_array();
        const tsr_typed_shape *o = &call->operands[i];
        for (size_t d = 0; d <= rank; d++) {
            const size_t from = d > dim ? d - 1 : d;
            shapes[i][0][d] = d == dim ? 1 : o->shape[from];
            shapes[i][1][d] = d == dim ? 1 : o->local[from];
            (void)json_array_append_new(to, json_integer(shapes[i][1][d]));
        }
        (void)snprintf(one.name, sizeof one.name, "reshape");
        one.num_operands = 1;
        one.operands[0] = *o;
        one.reshape = to;
        const tsr_status status = infer_one(f, &one, &cat.operands[i].type);
        json_decref(to);
        TSR_TRY(status);
        cat.operands[i].rank = rank + 1;
        cat.operands[i].shape = shapes[i][0];
        cat.operands[i].local = shapes[i][1];
    }
    return infer_one(f, &cat, out);
}

tsr_status fact_infer(const fact *f, const fact_call *call, const tsr_type **out)
{
    if (is_listed(" addmm addmv baddbmm addbmm addr addcmul ", call->name)) {
        return infer_added(f, call, 0, out);
    }
    if (is(call, "nn.functional.linear") && call->num_operands == 3) {
        return infer_added(f, call, 2, out);
    }
    if (is(call, "stack") && call->global.bits != 0) {
        return infer_stack(f, call, out);
    }
    return infer_one(f, call, out);
}

tsr_status fact_fixes(const fact *f, const fact_call *call, const tsr_fix **fixes, size_t *count)
{
    tsr_typed_call typed;
    TSR_TRY(make_call(f, call, NULL, &typed));
    return tsr_type_fixes(f->ctx, f->arena, &typed, fixes, count);
}

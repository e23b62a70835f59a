/* The rules of ops by the names that facts have for them, on the shapes of one rank. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "fact_ops.h"

static bool is(const fact_call *call, const char *name)
{
    return strcmp(call->name, name) == 0;
}

/* ---- arguments ---- */

/* The numbers in the brackets of the text, `(0, 1)`; how many. */
static size_t numbers_of(const fact_call *call, int64_t *out)
{
    size_t count = 0;
    const char *at = strchr(call->text, '(');
    while (at != NULL && *at != '\0' && count < FACT_MOST) {
        char *end = NULL;
        const long long value = strtoll(at + 1, &end, 10);
        if (end != at + 1) {
            out[count++] = (int64_t)value;
        }
        at = strpbrk(at + 1, "(,[=");
    }
    return count;
}

int64_t fact_argument(const fact_call *call, const char *key, size_t index, int64_t otherwise)
{
    char text[32];
    int64_t numbers[FACT_MOST];
    json_t *value = json_object_get(call->args, key);
    (void)snprintf(text, sizeof text, "%s=", key);
    const char *at = strstr(call->text, text);
    if (json_is_integer(value)) {
        return json_integer_value(value);
    }
    if (at != NULL) {
        return strtoll(at + strlen(text), NULL, 10);
    }
    if (strchr(call->text, '=') != NULL) {
        return otherwise;
    }
    return index < numbers_of(call, numbers) ? numbers[index] : otherwise;
}

static tsr_status resolve(const fact *f, int64_t dim, size_t rank, size_t *out)
{
    const int64_t at = dim < 0 ? dim + (int64_t)rank : dim;
    if (at < 0 || at >= (int64_t)rank) {
        return diag_error(f->ctx, TSR_ERR_INVALID, NO_LOCATION, "there is no dimension %lld",
                          (long long)dim);
    }
    *out = (size_t)at;
    return TSR_OK;
}

/* A list of dimensions: all numbers of the call, or those of a key; all dimensions when none. */
static tsr_status dims_of(const fact *f, const fact_call *call, const char *key, bool *named)
{
    int64_t numbers[FACT_MOST];
    const size_t rank = call->operands[0].rank;
    json_t *value = json_object_get(call->args, key);
    size_t count = json_is_array(value) ? fact_numbers(value, numbers) : 0;
    if (json_is_integer(value)) {
        numbers[count++] = json_integer_value(value);
    }
    count = value == NULL ? numbers_of(call, numbers) : count;
    for (size_t d = 0; d < rank; d++) {
        named[d] = count == 0;
    }
    for (size_t i = 0; i < count; i++) {
        size_t dim = 0;
        TSR_TRY(resolve(f, numbers[i], rank, &dim));
        named[dim] = true;
    }
    return TSR_OK;
}

/* ---- rules of one operand ---- */

/* A rule under way: a factor for each dimension of the operand, then new ones of the result. */
typedef struct unary {
    tsr_factor factors[2 * FACT_MOST];
    size_t num_factors;
    size_t result[2 * FACT_MOST]; /* the factor of each dimension of the result */
    size_t rank;                  /* of the result */
} unary;

static unary start(const fact_call *call)
{
    unary u = {0};
    for (size_t d = 0; d < call->operands[0].rank; d++) {
        u.factors[u.num_factors] = (tsr_factor){.size = call->operands[0].local[d]};
        u.result[u.rank++] = u.num_factors++;
    }
    return u;
}

static void remove_dim(unary *u, size_t dim)
{
    u->rank--;
    memmove(&u->result[dim], &u->result[dim + 1], (u->rank - dim) * sizeof u->result[0]);
}

static void insert_dim(unary *u, size_t dim, int64_t size)
{
    memmove(&u->result[dim + 1], &u->result[dim], (u->rank - dim) * sizeof u->result[0]);
    u->factors[u->num_factors] = (tsr_factor){.size = size};
    u->result[dim] = u->num_factors++;
    u->rank++;
}

static void needs(unary *u, size_t dim)
{
    u->factors[dim].kind = TSR_FACTOR_NEED_REPLICATION;
}

/* Further operands of fewer dimensions go with the last ones. */
static tsr_status finish(const fact *f, const fact_call *call, unary *u, size_t num_results,
                         const tsr_rule **out)
{
    size_t own[FACT_MOST];
    tsr_rule_dim dims[2][2 * FACT_MOST];
    tsr_rule_tensor operands[FACT_MOST];
    tsr_rule_tensor results[2];
    const size_t rank = call->operands[0].rank;
    for (size_t d = 0; d < rank; d++) {
        own[d] = d;
        dims[0][d] = (tsr_rule_dim){&own[d], 1};
    }
    for (size_t d = 0; d < u->rank; d++) {
        dims[1][d] = (tsr_rule_dim){&u->result[d], 1};
    }
    for (size_t i = 0; i < call->num_operands; i++) {
        const size_t has = call->operands[i].rank < rank ? call->operands[i].rank : rank;
        operands[i] = (tsr_rule_tensor){dims[0] + (rank - has), has};
    }
    for (size_t i = 0; i < num_results; i++) {
        results[i] = (tsr_rule_tensor){dims[1], u->rank};
    }
    const tsr_rule_spec spec = {.factors = u->factors,
                                .num_factors = u->num_factors,
                                .operands = operands,
                                .num_operands = call->num_operands,
                                .results = results,
                                .num_results = num_results};
    return tsr_rule_create(f->ctx, f->arena, &spec, out);
}

/* All of one dimension is needed in one place; its size may change. */
static tsr_status within(const fact *f, const fact_call *call, size_t index, int64_t otherwise,
                         size_t results, const tsr_rule **out)
{
    unary u = start(call);
    size_t dim = 0;
    const int64_t said = fact_argument(call, "dim", index, otherwise);
    if (u.rank > 0) {
        TSR_TRY(resolve(f, fact_argument(call, "dims", index, said), u.rank, &dim));
        needs(&u, dim);
    }
    return finish(f, call, &u, results, out);
}

/* All of several dimensions is. */
static tsr_status across(const fact *f, const fact_call *call, const tsr_rule **out)
{
    unary u = start(call);
    bool named[FACT_MOST];
    TSR_TRY(dims_of(f, call, "dims", named));
    for (size_t d = 0; d < call->operands[0].rank; d++) {
        if (named[d]) {
            needs(&u, d);
        }
    }
    return finish(f, call, &u, 1, out);
}

/* Reduced along some dimensions, kept as ones with keepdim. */
static tsr_status reduced(const fact *f, const fact_call *call, const tsr_rule **out)
{
    const bool keeps = strstr(call->text, "keepdim=True") != NULL ||
                       json_is_true(json_object_get(call->args, "keepdim"));
    const bool sums = is(call, "sum") || is(call, "mean") || is(call, "amax") || is(call, "amin") ||
                      is(call, "max") || is(call, "min") || is(call, "prod");
    unary u = start(call);
    bool named[FACT_MOST];
    TSR_TRY(dims_of(f, call, "dim", named));
    for (size_t d = call->operands[0].rank; d-- > 0;) {
        if (named[d]) {
            u.factors[d].kind = sums ? TSR_FACTOR_REDUCTION : TSR_FACTOR_NEED_REPLICATION;
            remove_dim(&u, d);
            if (keeps) {
                insert_dim(&u, d, 1);
            }
        }
    }
    return finish(f, call, &u, 1, out);
}

static tsr_status permuted(const fact *f, const fact_call *call, const tsr_rule **out)
{
    size_t permutation[FACT_MOST];
    int64_t numbers[FACT_MOST] = {0, 1};
    const size_t rank = call->operands[0].rank;
    json_t *dims = json_object_get(call->args, "dims");
    size_t count = json_is_array(dims) ? fact_numbers(dims, numbers) : numbers_of(call, numbers);
    const bool swaps = is(call, "transpose") || is(call, "swapaxes") || is(call, "swapdims") ||
                       is(call, "t") || is(call, "T") || is(call, "mT");
    for (size_t d = 0; d < rank; d++) {
        permutation[d] = rank - 1 - d;
    }
    if (swaps) {
        size_t a = 0;
        size_t b = 0;
        const int64_t last = (int64_t)rank - 1;
        const int64_t first = is(call, "mT") ? last - 1 : 0;
        TSR_TRY(resolve(f, fact_argument(call, "dim0", 0, first), rank, &a));
        TSR_TRY(resolve(f, fact_argument(call, "dim1", 1, is(call, "mT") ? last : 1), rank, &b));
        for (size_t d = 0; d < rank; d++) {
            permutation[d] = d == a ? b : d == b ? a : d;
        }
    } else if (count == rank) {
        for (size_t d = 0; d < rank; d++) {
            TSR_TRY(resolve(f, numbers[d], rank, &permutation[d]));
        }
    }
    const tsr_extents shape = {rank, call->operands[0].local};
    return tsr_rule_transpose(f->ctx, f->arena, shape, permutation, out);
}

/* To a shape; one entry may be -1 or `local`. */
static tsr_status reshaped_to(const fact *f, const fact_call *call, int64_t *to, size_t rank,
                              const tsr_rule **out)
{
    const tsr_typed_shape *o = &call->operands[0];
    int64_t elements = 1;
    int64_t known = 1;
    for (size_t d = 0; d < o->rank; d++) {
        elements *= o->local[d];
    }
    for (size_t d = 0; d < rank; d++) {
        known *= to[d] >= 0 ? to[d] : 1;
    }
    for (size_t d = 0; d < rank; d++) {
        to[d] = to[d] >= 0 || known == 0 ? to[d] : elements / known;
    }
    return tsr_rule_reshape(f->ctx, f->arena, (tsr_extents){o->rank, o->local},
                            (tsr_extents){rank, to}, out);
}

static tsr_status reshaped(const fact *f, const fact_call *call, const tsr_rule **out)
{
    int64_t to[2 * FACT_MOST];
    json_t *target = call->reshape;
    target = target == NULL ? json_object_get(call->args, "shape") : target;
    if (!json_is_array(target)) {
        return reshaped_to(f, call, to, numbers_of(call, to), out);
    }
    const size_t rank = json_array_size(target);
    for (size_t d = 0; d < rank && d < FACT_MOST; d++) {
        json_t *at = json_array_get(target, d);
        to[d] = json_is_string(at) ? -1 : json_integer_value(at);
    }
    return reshaped_to(f, call, to, rank, out);
}

/* Dimensions from one to another as one, or one as several. */
static tsr_status merged(const fact *f, const fact_call *call, const tsr_rule **out)
{
    const tsr_typed_shape *o = &call->operands[0];
    int64_t to[2 * FACT_MOST];
    int64_t numbers[FACT_MOST];
    size_t rank = 0;
    size_t first = 0;
    size_t last = 0;
    if (call->reshape != NULL) {
        return reshaped(f, call, out);
    }
    if (is(call, "unflatten")) {
        const size_t count = numbers_of(call, numbers);
        json_t *sizes = json_object_get(call->args, "sizes");
        const size_t parts = json_is_array(sizes) ? fact_numbers(sizes, numbers + 1)
                             : count > 0          ? count - 1
                                                  : 0;
        TSR_TRY(resolve(f, fact_argument(call, "dim", 0, 0), o->rank, &first));
        for (size_t d = 0; d < o->rank; d++) {
            for (size_t k = 0; d == first && k < parts; k++) {
                to[rank++] = numbers[k + 1];
            }
            if (d != first) {
                to[rank++] = o->local[d];
            }
        }
        return reshaped_to(f, call, to, rank, out);
    }
    TSR_TRY(resolve(f, fact_argument(call, "start_dim", 0, 0), o->rank, &first));
    TSR_TRY(resolve(f, fact_argument(call, "end_dim", 1, -1), o->rank, &last));
    for (size_t d = 0; d < o->rank; d++) {
        if (d > first && d <= last) {
            to[rank - 1] *= o->local[d];
        } else {
            to[rank++] = o->local[d];
        }
    }
    return reshaped_to(f, call, to, rank, out);
}

/* A dimension of one comes or goes. */
static tsr_status squeezed(const fact *f, const fact_call *call, const tsr_rule **out)
{
    const tsr_typed_shape *o = &call->operands[0];
    const bool adds = is(call, "unsqueeze");
    int64_t to[2 * FACT_MOST];
    size_t rank = 0;
    size_t dim = o->rank;
    const int64_t said = fact_argument(call, "dim", 0, adds ? 0 : INT64_MIN);
    if (said != INT64_MIN) {
        TSR_TRY(resolve(f, said, o->rank + (adds ? 1 : 0), &dim));
    }
    for (size_t d = 0; d <= o->rank; d++) {
        if (adds && d == dim) {
            to[rank++] = 1;
        }
        const bool goes =
            !adds && d < o->rank && o->local[d] == 1 && (said == INT64_MIN || d == dim);
        if (d < o->rank && !goes) {
            to[rank++] = o->local[d];
        }
    }
    return reshaped_to(f, call, to, rank, out);
}

/* One row of a dimension, which goes. */
static tsr_status selected(const fact *f, const fact_call *call, const tsr_rule **out)
{
    unary u = start(call);
    size_t dim = 0;
    TSR_TRY(resolve(f, fact_argument(call, "dim", 0, 0), u.rank, &dim));
    needs(&u, dim);
    remove_dim(&u, dim);
    return finish(f, call, &u, 1, out);
}

/* Repeated to a shape: dimensions of one, and new ones at the front. */
static tsr_status expanded(const fact *f, const fact_call *call, const tsr_rule **out)
{
    int64_t sizes[FACT_MOST];
    const tsr_typed_shape *o = &call->operands[0];
    json_t *target = call->reshape != NULL ? call->reshape : json_object_get(call->args, "sizes");
    const size_t rank =
        json_is_array(target) ? fact_numbers(target, sizes) : numbers_of(call, sizes);
    unary u = start(call);
    if (rank < o->rank) {
        return finish(f, call, &u, 1, out);
    }
    for (size_t d = 0; d < o->rank; d++) {
        const size_t at = rank - o->rank + d;
        const bool repeats =
            is(call, "repeat") || is(call, "tile") ? sizes[at] != 1 : o->local[d] == 1;
        if (repeats && (is(call, "repeat") || is(call, "tile") || sizes[at] > 1)) {
            needs(&u, d);
        }
    }
    for (size_t d = rank - o->rank; d-- > 0;) {
        insert_dim(&u, 0, sizes[d]);
    }
    return finish(f, call, &u, 1, out);
}

/* ---- rules of several operands ---- */

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

static tsr_status joined(const fact *f, const fact_call *call, const tsr_extents *shapes,
                         const tsr_rule **out)
{
    const int64_t otherwise = is(call, "hstack") ? 1 : 0;
    size_t dim = 0;
    TSR_TRY(resolve(f, fact_argument(call, "dim", 0, otherwise), shapes[0].rank, &dim));
    return tsr_rule_concatenate(f->ctx, f->arena, shapes, call->num_operands, dim, out);
}

static tsr_status product(const fact *f, const fact_call *call, const tsr_extents *shapes,
                          const tsr_rule **out)
{
    if (is(call, "einsum")) {
        return tsr_rule_einsum(f->ctx, f->arena, call->equation, shapes, call->num_operands, out);
    }
    if (is(call, "outer") || is(call, "ger")) {
        return tsr_rule_einsum(f->ctx, f->arena, "i,j->ij", shapes, 2, out);
    }
    if (is(call, "nn.functional.linear") && shapes[0].rank > 0 && shapes[1].rank > 0) {
        const size_t last[] = {shapes[0].rank - 1, shapes[1].rank - 1};
        const tsr_dot_dims dims = {
            .num_contracting = 1, .lhs_contracting = &last[0], .rhs_contracting = &last[1]};
        return tsr_rule_dot_general(f->ctx, f->arena, shapes[0], shapes[1], &dims, out);
    }
    return tsr_rule_matmul(f->ctx, f->arena, shapes[0], shapes[1], out);
}

/* ---- all of them ---- */

tsr_status fact_rule(const fact *f, const fact_call *call, const tsr_rule **out)
{
    static const struct {
        const char *names;
        size_t index; /* of the dimension among the arguments, and what it is without */
        int64_t otherwise;
        size_t results;
    } one_dim[] = {
        {" sort cummax cummin ", 0, -1, 2},
        {" topk kthvalue ", 1, -1, 2},
        {" argsort softmax log_softmax glu diff rms_norm layer_norm normalize ", 0, -1, 1},
        {" cumsum cumprod logcumsumexp narrow narrow_copy slice ", 0, 0, 1},
        {" chunk split tensor_split roll ", 1, 0, 1},
    };
    tsr_extents shapes[FACT_MOST] = {{0, NULL}};
    for (size_t i = 0; i < call->num_operands; i++) {
        shapes[i] = (tsr_extents){call->operands[i].rank, call->operands[i].local};
    }
    if (is_listed(" einsum outer ger nn.functional.linear mm bmm matmul mv dot inner vdot ",
                  call->name)) {
        return product(f, call, shapes, out);
    }
    if (is_listed(" reshape view reshape_as view_as ", call->name)) {
        return reshaped(f, call, out);
    }
    if (is_listed(" flatten unflatten ravel ", call->name)) {
        return merged(f, call, out);
    }
    if (is_listed(" squeeze unsqueeze ", call->name)) {
        return squeezed(f, call, out);
    }
    if (is_listed(" cat concat concatenate vstack row_stack hstack ", call->name)) {
        return joined(f, call, shapes, out);
    }
    for (size_t i = 0; i < sizeof one_dim / sizeof one_dim[0]; i++) {
        if (is_listed(one_dim[i].names, call->name)) {
            return within(f, call, one_dim[i].index, one_dim[i].otherwise, one_dim[i].results, out);
        }
    }
    if (is_listed(" flip rot90 fliplr flipud ", call->name)) {
        return across(f, call, out);
    }
    if (is_listed(" tril triu ", call->name)) {
        unary u = start(call);
        for (size_t d = u.rank > 2 ? u.rank - 2 : 0; d < u.rank; d++) {
            needs(&u, d);
        }
        return finish(f, call, &u, 1, out);
    }
    if (is_listed(" select unbind index_select ", call->name)) {
        return selected(f, call, out);
    }
    if (is_listed(" expand expand_as broadcast_to repeat tile ", call->name)) {
        return expanded(f, call, out);
    }
    if (is_listed(" sum mean amax amin max min prod any all std var logsumexp argmax argmin norm ",
                  call->name) &&
        call->num_operands == 1) {
        return reduced(f, call, out);
    }
    if (is_listed(" transpose swapaxes swapdims t T mT permute movedim ", call->name)) {
        return permuted(f, call, out);
    }
    return broadcasting(f, call, shapes, out);
}

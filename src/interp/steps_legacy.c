/* Ops of StableHLO that newer ones replace: rng, einsum, unary_einsum, torch_index_select. */
#include <string.h>

#include "base/arena.h"
#include "interp/machine.h"
#include "ir/row.h"
#include "kernel/normal.h"
#include "number/element.h"

static element_number number_at(const interp_array *a, int64_t i)
{
    return element_load(a->dtype, a->data + i * tsr_dtype_item_bytes(a->dtype));
}

/* ---- rng ---- */

/* Mixed bits of a counter (SplitMix64). */
static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* In (0, 1), both ends left out. */
static double share(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

/* Of [a, b); a where that is empty. */
static element_number uniform_of(element_number a, element_number b, uint64_t bits)
{
    if (a.kind == NUMBER_FLOAT) {
        a.re += share(bits) * (b.re - a.re);
        return a;
    }
    const bool is_empty = a.kind == NUMBER_SIGNED ? b.integer <= a.integer
                                                  : (uint64_t)b.integer <= (uint64_t)a.integer;
    const uint64_t range = (uint64_t)b.integer - (uint64_t)a.integer;
    a.integer = is_empty ? a.integer : (int64_t)((uint64_t)a.integer + bits % range);
    return a;
}

static element_number normal_of(element_number mean, element_number deviation, uint64_t bits)
{
    const double p = share(bits);
    const double x = p <= 0.5 ? normal_quantile(p) : -normal_quantile(1 - p);
    mean.re += deviation.re * x;
    return mean;
}

/* The numbers depend on the op and on how many ops were run before: each run gives the same. */
static tsr_status run_rng(interp_machine *m, const code_step *step)
{
    const bool is_normal = step->number != 0;
    const element_number a = number_at(interp_operand(m, step, 0), 0);
    const element_number b = number_at(interp_operand(m, step, 1), 0);
    const uint64_t key = mixed(mixed(step->op) + (uint64_t)m->host->steps);
    interp_array *result;
    TSR_TRY(interp_array_new(m->pool, step->types[3], &result));
    interp_set_result(m, step, 0, result);
    const int64_t item = tsr_dtype_item_bytes(result->dtype);
    for (int64_t i = 0; i < interp_array_elements(result); i++) {
        const uint64_t bits = mixed(key + (uint64_t)i);
        char *to = result->data + i * item;
        element_store(result->dtype, is_normal ? normal_of(a, b, bits) : uniform_of(a, b, bits),
                      to);
        /* What is rounded up to the end is outside. */
        if (!is_normal && a.kind == NUMBER_FLOAT && a.re < b.re &&
            element_load(result->dtype, to).re >= b.re) {
            element_store(result->dtype, a, to);
        }
    }
    return TSR_OK;
}

static tsr_status prepare_rng(code_decoder *d, code_step *step)
{
    const tsr_program *p = d->code->program;
    const uint32_t attr = op_property(p, step->op, "rng_distribution");
    if (!code_is_static(step) || !attr_is(p, attr, ATTR_ENUM)) {
        return TSR_NOT_APPLICABLE;
    }
    const attr_head *head = program_attr(p, attr);
    const tsr_dtype dtype = step->types[3]->tensor.dtype;
    const number_kind kind = element_kind(dtype);
    step->number = strcmp(ir_enums[head->row].values[head->bits], "NORMAL") == 0;
    step->action = run_rng;
    for (size_t i = 0; i < 2; i++) {
        if (step->types[i]->tensor.rank != 0 || step->types[i]->tensor.dtype != dtype) {
            return TSR_NOT_APPLICABLE;
        }
    }
    return kind == NUMBER_FLOAT || (kind != NUMBER_COMPLEX && step->number == 0)
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

/* ---- torch_index_select ---- */

typedef struct select_step {
    int64_t batch;  /* the product of the batch dimensions */
    int64_t before; /* of those between them and the one that is indexed */
    int64_t length; /* of that one */
    int64_t after;  /* bytes of one index of it */
    int64_t indices;
} select_step;

/* Indices outside are moved to the nearest inside. */
static tsr_status run_index_select(interp_machine *m, const code_step *step)
{
    const select_step *s = step->data;
    const interp_array *from = interp_operand(m, step, 0);
    const interp_array *index = interp_operand(m, step, 1);
    interp_array *result;
    TSR_TRY(interp_array_new(m->pool, step->types[2], &result));
    interp_set_result(m, step, 0, result);
    char *to = result->data;
    for (int64_t k = 0; result->bytes > 0 && k < s->batch * s->before; k++) {
        for (int64_t i = 0; i < s->indices; i++, to += s->after) {
            const int64_t at = k / s->before * s->indices + i;
            const int64_t given =
                element_index(index->dtype, index->data + at * tsr_dtype_item_bytes(index->dtype));
            const int64_t row = given < 0 ? 0 : given >= s->length ? s->length - 1 : given;
            memcpy(to, from->data + (k * s->length + row) * s->after, (size_t)s->after);
        }
    }
    return TSR_OK;
}

static int64_t product_of(const int64_t *extents, size_t from, size_t to)
{
    int64_t product = 1;
    for (size_t i = from; i < to; i++) {
        product *= extents[i];
    }
    return product;
}

/* The extents of the result: those before dim, those of the indices, those after dim. */
static bool select_fits(const code_step *step, size_t dim, size_t batch)
{
    const op_type *x = &step->types[0]->tensor;
    const op_type *index = &step->types[1]->tensor;
    const op_type *to = &step->types[2]->tensor;
    if (!dtype_is_integer(index->dtype) || to->dtype != x->dtype ||
        to->rank != x->rank - 1 + index->rank - batch ||
        memcmp(index->shape, x->shape, batch * sizeof *x->shape) != 0) {
        return false;
    }
    for (size_t i = 0; i < to->rank; i++) {
        const size_t after = dim + index->rank - batch;
        const int64_t extent = i < dim     ? x->shape[i]
                               : i < after ? index->shape[batch + i - dim]
                                           : x->shape[dim + 1 + i - after];
        if (to->shape[i] != extent) {
            return false;
        }
    }
    return x->shape[dim] > 0 || step->types[2]->bytes == 0;
}

static tsr_status prepare_index_select(code_decoder *d, code_step *step)
{
    const tsr_program *p = d->code->program;
    int64_t dim = -1;
    int64_t batch = -1;
    (void)attr_as_integer(p, op_property(p, step->op, "dim"), &dim);
    (void)attr_as_integer(p, op_property(p, step->op, "batch_dims"), &batch);
    select_step *s = CODE_NEW(d, select_step);
    if (s == NULL) {
        return diag_nomem(d->code->ctx);
    }
    const op_type *x = &step->types[0]->tensor;
    if (!code_is_static(step) || batch < 0 || dim < batch || dim >= (int64_t)x->rank ||
        batch > (int64_t)step->types[1]->tensor.rank ||
        !select_fits(step, (size_t)dim, (size_t)batch)) {
        return TSR_NOT_APPLICABLE;
    }
    *s = (select_step){
        .batch = product_of(x->shape, 0, (size_t)batch),
        .before = product_of(x->shape, (size_t)batch, (size_t)dim),
        .length = x->shape[dim],
        .after = product_of(x->shape, (size_t)dim + 1, x->rank) * tsr_dtype_item_bytes(x->dtype),
        .indices =
            product_of(step->types[1]->tensor.shape, (size_t)batch, step->types[1]->tensor.rank)};
    step->data = s;
    step->action = run_index_select;
    return TSR_OK;
}

/* ---- einsum ---- */

enum { MAX_SUBSCRIPTS = 128, RESULT = 2, MAX_LOOPS = 3 * OP_MAX_RANK };

/* Loops over the subscripts of the result, then over those that are summed. */
typedef struct einsum_step {
    size_t num_loops;
    size_t num_outer;
    int64_t sizes[3 * OP_MAX_RANK];
    int64_t strides[2][3 * OP_MAX_RANK]; /* of each operand, in bytes */
} einsum_step;

static element_number times(element_number a, element_number b)
{
    return (element_number){.kind = a.kind,
                            .integer = (int64_t)((uint64_t)a.integer * (uint64_t)b.integer),
                            .re =
                                a.kind == NUMBER_COMPLEX ? a.re * b.re - a.im * b.im : a.re * b.re,
                            .im = a.kind == NUMBER_COMPLEX ? a.re * b.im + a.im * b.re : 0};
}

/* Truth values are added by `or`, which sums that are not 0 are stored as. */
static element_number plus(element_number a, element_number b)
{
    a.integer = (int64_t)((uint64_t)a.integer + (uint64_t)b.integer);
    a.re += b.re;
    a.im += b.im;
    return a;
}

static bool next_index(const einsum_step *s, size_t from, size_t to, int64_t *index)
{
    for (size_t i = to; i-- > from;) {
        if (++index[i] < s->sizes[i]) {
            return true;
        }
        index[i] = 0;
    }
    return false;
}

static element_number element_at(const einsum_step *s, const interp_array *a, size_t operand,
                                 const int64_t *index)
{
    int64_t at = 0;
    for (size_t i = 0; i < s->num_loops; i++) {
        at += index[i] * s->strides[operand][i];
    }
    return element_load(a->dtype, a->data + at);
}

static tsr_status run_einsum(interp_machine *m, const code_step *step)
{
    const einsum_step *s = step->data;
    int64_t index[3 * OP_MAX_RANK] = {0};
    interp_array *result;
    TSR_TRY(interp_array_new(m->pool, step->types[step->num_operands], &result));
    interp_set_result(m, step, 0, result);
    memset(result->data, 0, (size_t)result->bytes);
    for (size_t i = 0; i < s->num_loops; i++) {
        if (s->sizes[i] == 0) {
            return TSR_OK;
        }
    }
    char *to = result->data;
    do {
        element_number sum = {.kind = element_kind(result->dtype)};
        do {
            element_number one = element_at(s, interp_operand(m, step, 0), 0, index);
            if (step->num_operands > 1) {
                one = times(one, element_at(s, interp_operand(m, step, 1), 1, index));
            }
            sum = plus(sum, one);
        } while (next_index(s, s->num_outer, s->num_loops, index));
        element_store(result->dtype, sum, to);
        to += tsr_dtype_item_bytes(result->dtype);
    } while (next_index(s, 0, s->num_outer, index));
    return TSR_OK;
}

/* The loop of a subscript, found or new; false where the extents differ. */
static bool find_loop(einsum_step *s, int64_t *loops, char subscript, int64_t size, size_t *out)
{
    const unsigned char key = (unsigned char)subscript;
    if (key >= MAX_SUBSCRIPTS || !((key >= 'a' && key <= 'z') || (key >= 'A' && key <= 'Z'))) {
        return false;
    }
    if (loops[key] < 0) {
        s->sizes[s->num_loops] = size;
        loops[key] = (int64_t)s->num_loops++;
    }
    *out = (size_t)loops[key];
    return s->sizes[*out] == size;
}

/* Adds one value's subscripts; which: an operand, or RESULT. */
static bool read_subscripts(einsum_step *s, int64_t *loops, slice text, const code_type *type,
                            size_t which)
{
    if (text.size != type->tensor.rank) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        const size_t before = s->num_loops;
        size_t loop;
        if (!find_loop(s, loops, text.data[i], type->tensor.shape[i], &loop)) {
            return false;
        }
        if (which != RESULT) {
            s->strides[which][loop] += type->strides[i];
        } else if (s->num_loops == before) {
            return false;
        }
    }
    return true;
}

static bool read_config(einsum_step *s, const code_step *step, slice config)
{
    int64_t loops[MAX_SUBSCRIPTS];
    char text[3 * OP_MAX_RANK + 4];
    size_t size = 0;
    memset(loops, -1, sizeof loops);
    for (size_t i = 0; i < config.size; i++) {
        if (config.data[i] != ' ' && size + 1 < sizeof text) {
            text[size++] = config.data[i];
        }
    }
    text[size] = '\0';
    const char *arrow = strstr(text, "->");
    if (arrow == NULL) {
        return false;
    }
    const slice result = {arrow + 2, strlen(arrow + 2)};
    if (!read_subscripts(s, loops, result, step->types[step->num_operands], RESULT)) {
        return false;
    }
    s->num_outer = s->num_loops;
    const char *at = text;
    for (size_t i = 0; i < step->num_operands; i++) {
        const char *comma = memchr(at, ',', (size_t)(arrow - at));
        const bool is_last = i + 1 == step->num_operands;
        if ((comma == NULL) != is_last) {
            return false;
        }
        const char *end = is_last ? arrow : comma;
        if (!read_subscripts(s, loops, (slice){at, (size_t)(end - at)}, step->types[i], i)) {
            return false;
        }
        at = end + 1;
    }
    return true;
}

/* Every subscript of the result must be one of an operand. */
static bool has_all(const einsum_step *s, const code_step *step)
{
    for (size_t i = 0; i < s->num_outer; i++) {
        if (s->strides[0][i] == 0 && s->strides[1][i] == 0 && s->sizes[i] > 0) {
            return false;
        }
    }
    for (size_t i = 0; i < step->num_operands; i++) {
        if (step->types[i]->tensor.dtype != step->types[step->num_operands]->tensor.dtype) {
            return false;
        }
    }
    return true;
}

static tsr_status prepare_einsum(code_decoder *d, code_step *step)
{
    const tsr_program *p = d->code->program;
    slice config = {"", 0};
    einsum_step *s = CODE_NEW(d, einsum_step);
    if (s == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *s = (einsum_step){0};
    step->data = s;
    step->action = run_einsum;
    return code_is_static(step) &&
                   attr_as_string(p, op_property(p, step->op, "einsum_config"), &config) &&
                   config.size < MAX_LOOPS && read_config(s, step, config) && has_all(s, step)
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

const code_op interp_ops_legacy[OP_KIND_COUNT] = {
    [OP_STABLEHLO_RNG] = {.prepare = prepare_rng},
    [OP_STABLEHLO_TORCH_INDEX_SELECT] = {.prepare = prepare_index_select},
    [OP_STABLEHLO_EINSUM] = {.prepare = prepare_einsum},
    [OP_STABLEHLO_UNARY_EINSUM] = {.prepare = prepare_einsum},
};

/* Ops of chlo. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "interp/elementwise.h"
#include "interp/machine.h"
#include "kernel/complex.h"
#include "kernel/elementwise.h"
#include "kernel/index.h"
#include "kernel/precision.h"
#include "number/element.h"
#include "ops/op_elementwise.h"

/* ---- functions of floats ---- */

static void special_call(const interp_map *map, const tsr_view *dst, const tsr_view *const *src)
{
    kernel_special((special_op)map->kind, dst, src[0]);
}

static void pair_call(const interp_map *map, const tsr_view *dst, const tsr_view *const *src)
{
    kernel_special_pair((special_pair)map->kind, dst, src[0], src[1]);
}

static void next_after_call(const interp_map *map, const tsr_view *dst, const tsr_view *const *src)
{
    (void)map;
    kernel_next_after(dst, src[0], src[1]);
}

static void square_call(const interp_map *map, const tsr_view *dst, const tsr_view *const *src)
{
    (void)map;
    (dtype_is_complex(dst->dtype) ? kernel_complex_binary : kernel_binary)(BINARY_MULTIPLY, dst,
                                                                           src[0], src[0]);
}

#define SPECIAL_KIND(NAME, name, has_complex) [OP_CHLO_##NAME] = SPECIAL_##NAME,
static const special_op special_kinds[OP_KIND_COUNT] = {SPECIAL_OPS(SPECIAL_KIND)};

static tsr_status prepare_special(code_decoder *d, code_step *step)
{
    const special_op op = special_kinds[op_kind_of(d->code->program, step->op)];
    const tsr_dtype dtype = step->types[0]->tensor.dtype;
    tsr_dtype wider;
    const bool narrow = kernel_is_narrow(dtype, &wider) && wider == TSR_F32;
    return narrow || special_supports(op, dtype)
               ? interp_prepare_map(d, step, special_call, (int)op)
               : TSR_NOT_APPLICABLE;
}

static tsr_status prepare_pair(code_decoder *d, code_step *step)
{
    const bool zeta = op_is(d->code->program, step->op, OP_CHLO_ZETA);
    return dtype_is_float(step->types[0]->tensor.dtype)
               ? interp_prepare_map(d, step, pair_call, zeta ? SPECIAL_ZETA : SPECIAL_POLYGAMMA)
               : TSR_NOT_APPLICABLE;
}

static tsr_status prepare_next_after(code_decoder *d, code_step *step)
{
    return precision_supports(step->types[0]->tensor.dtype)
               ? interp_prepare_map(d, step, next_after_call, 0)
               : TSR_NOT_APPLICABLE;
}

static tsr_status prepare_square(code_decoder *d, code_step *step)
{
    const tsr_dtype dtype = step->types[0]->tensor.dtype;
    tsr_dtype wider;
    return binary_supports(BINARY_MULTIPLY, dtype) || dtype_is_complex(dtype) ||
                   kernel_is_narrow(dtype, &wider)
               ? interp_prepare_map(d, step, square_call, 0)
               : TSR_NOT_APPLICABLE;
}

/* ---- single elements ---- */

/* The upper half of a product. */
static void multiply_high(tsr_dtype dtype, const char *a, const char *b, char *out)
{
    const element_number x = element_load(dtype, a);
    const element_number y = element_load(dtype, b);
    const int bits = tsr_dtype_bits(dtype);
    element_number high = x;
    if (x.kind == NUMBER_SIGNED) {
        high.integer = (int64_t)(((__int128)x.integer * y.integer) >> bits);
    } else {
        high.integer =
            (int64_t)(uint64_t)(((unsigned __int128)(uint64_t)x.integer * (uint64_t)y.integer) >>
                                bits);
    }
    element_store(dtype, high, out);
}

static void conjugate(tsr_dtype dtype, const char *a, const char *b, char *out)
{
    element_number x = element_load(dtype, a);
    (void)b;
    x.im = -x.im;
    element_store(dtype, x, out);
}

static void infinite(tsr_dtype dtype, const char *a, const char *b, char *out)
{
    (void)b;
    *out = (char)(isinf(element_load(dtype, a).re) != 0);
}

static void positive_infinite(tsr_dtype dtype, const char *a, const char *b, char *out)
{
    (void)b;
    *out = (char)(element_load(dtype, a).re == INFINITY);
}

static void negative_infinite(tsr_dtype dtype, const char *a, const char *b, char *out)
{
    (void)b;
    *out = (char)(element_load(dtype, a).re == -INFINITY);
}

static tsr_status prepare_mulhi(code_decoder *d, code_step *step)
{
    return dtype_is_integer(step->types[0]->tensor.dtype)
               ? interp_prepare_each(d, step, multiply_high, step->types[0]->tensor.dtype)
               : TSR_NOT_APPLICABLE;
}

static tsr_status prepare_conj(code_decoder *d, code_step *step)
{
    return interp_prepare_each(d, step, conjugate, step->types[0]->tensor.dtype);
}

static tsr_status prepare_is_inf(code_decoder *d, code_step *step)
{
    return interp_prepare_each(d, step, infinite, TSR_I1);
}

static tsr_status prepare_is_pos_inf(code_decoder *d, code_step *step)
{
    return interp_prepare_each(d, step, positive_infinite, TSR_I1);
}

static tsr_status prepare_is_neg_inf(code_decoder *d, code_step *step)
{
    return interp_prepare_each(d, step, negative_infinite, TSR_I1);
}

/* ---- top_k ---- */

/* A view of elements as a type that can be sorted: narrow integers take a byte each already. */
static tsr_dtype sortable(tsr_dtype dtype)
{
    tsr_dtype wider;
    return kernel_is_narrow(dtype, &wider) ? wider : dtype;
}

/* Values and their indices, the greatest first, along the last dimension. */
static tsr_status sort_top(interp_machine *m, const interp_array *from, interp_array *values,
                           const interp_array *indices)
{
    const tsr_view src = interp_array_view(from);
    const tsr_view to = interp_array_view(values);
    const tsr_view at = interp_array_view(indices);
    const size_t dim = from->rank - 1;
    void *scratch = interp_scratch(m, kernel_sort_scratch(&src, dim));
    if (scratch == NULL) {
        return diag_nomem(m->ctx);
    }
    kernel_sort(&to, &at, &src, dim, true, scratch);
    return TSR_OK;
}

static tsr_status run_top_k(interp_machine *m, const code_step *step)
{
    const interp_array *from = interp_operand(m, step, 0);
    interp_array *results[2] = {NULL, NULL};
    interp_array *wide[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; i++) {
        TSR_TRY(interp_array_new(m->pool, step->types[step->num_operands + i], &results[i]));
        interp_set_result(m, step, i, results[i]);
    }
    const tsr_dtype dtype = sortable(from->dtype);
    if (dtype == from->dtype) {
        return sort_top(m, from, results[0], results[1]);
    }
    tsr_status status = interp_array_shaped(m->pool, dtype, from->rank, from->shape, &wide[0]);
    if (status == TSR_OK) {
        status = interp_array_shaped(m->pool, dtype, results[0]->rank, results[0]->shape, &wide[1]);
    }
    if (status == TSR_OK) {
        kernel_convert_any(dtype, wide[0]->data, from->dtype, from->data,
                           interp_array_elements(from));
        status = sort_top(m, wide[0], wide[1], results[1]);
    }
    if (status == TSR_OK) {
        kernel_convert_any(from->dtype, results[0]->data, dtype, wide[1]->data,
                           interp_array_elements(results[0]));
    }
    interp_array_drop(m->pool, wide[0]);
    interp_array_drop(m->pool, wide[1]);
    return status;
}

tsr_status interp_prepare_top_k(code_decoder *d, code_step *step)
{
    (void)d;
    if (!code_is_static(step) || step->num_results != 2 || step->num_operands == 0) {
        return TSR_NOT_APPLICABLE;
    }
    const op_type *from = &step->types[0]->tensor;
    const op_type *to = &step->types[step->num_operands]->tensor;
    const op_type *at = &step->types[step->num_operands + 1]->tensor;
    bool fits = from->rank > 0 && to->rank == from->rank && op_shapes_agree(to, at) &&
                to->dtype == from->dtype && (at->dtype == TSR_I32 || at->dtype == TSR_I64) &&
                sort_supports(sortable(from->dtype));
    for (size_t i = 0; fits && i < from->rank; i++) {
        fits = i + 1 < from->rank ? to->shape[i] == from->shape[i] : to->shape[i] <= from->shape[i];
    }
    step->action = run_top_k;
    return fits ? TSR_OK : TSR_NOT_APPLICABLE;
}

/* ---- ops that broadcast ---- */

/* The ops of chlo that broadcast, by what they compute. */
#define BROADCAST_OPS(X)                                                                           \
    X(ADD)                                                                                         \
    X(AND)                                                                                         \
    X(ATAN2)                                                                                       \
    X(COMPARE)                                                                                     \
    X(DIVIDE)                                                                                      \
    X(MAXIMUM)                                                                                     \
    X(MINIMUM)                                                                                     \
    X(MULTIPLY)                                                                                    \
    X(OR)                                                                                          \
    X(POWER)                                                                                       \
    X(REMAINDER)                                                                                   \
    X(SELECT)                                                                                      \
    X(SHIFT_LEFT)                                                                                  \
    X(SHIFT_RIGHT_ARITHMETIC)                                                                      \
    X(SHIFT_RIGHT_LOGICAL)                                                                         \
    X(SUBTRACT)                                                                                    \
    X(XOR)
#define COMPUTED_KIND(NAME) [OP_CHLO_BROADCAST_##NAME] = OP_STABLEHLO_##NAME,

/* What such an op computes. */
static const op_kind computed_kinds[OP_KIND_COUNT] = {BROADCAST_OPS(COMPUTED_KIND)};

/* The row of the op that computes it; operands end at the same dimension. */
static tsr_status prepare_broadcast(code_decoder *d, code_step *step)
{
    const op_kind computed = computed_kinds[op_kind_of(d->code->program, step->op)];
    const uint32_t dims = op_property(d->code->program, step->op, "broadcast_dimensions");
    const size_t rank = step->types[step->num_operands]->tensor.rank;
    for (size_t i = 0; i < step->num_operands; i++) {
        const op_type *t = &step->types[i]->tensor;
        if (step->types[i]->kind != CODE_TENSOR || t->rank > rank || op_has_unknown(t)) {
            return TSR_NOT_APPLICABLE;
        }
    }
    if (attr_is(d->code->program, dims, ATTR_DENSE_ARRAY)) {
        const attr_head *list = program_attr(d->code->program, dims);
        for (uint32_t i = 0; i < list->count; i++) {
            if (attr_numbers(list)[i] != (int64_t)(rank - list->count + i)) {
                return TSR_NOT_APPLICABLE;
            }
        }
    }
    return interp_prepare_row(d, step, op_kind_row(computed));
}

#define SPECIAL_OP(NAME, name, has_complex) [OP_CHLO_##NAME] = {.prepare = prepare_special},
#define BROADCAST_OP(NAME) [OP_CHLO_BROADCAST_##NAME] = {.prepare = prepare_broadcast},
const code_op interp_ops_chlo[OP_KIND_COUNT] = {
    SPECIAL_OPS(SPECIAL_OP) BROADCAST_OPS(BROADCAST_OP)[OP_CHLO_ZETA] = {.prepare = prepare_pair},
    [OP_CHLO_POLYGAMMA] = {.prepare = prepare_pair},
    [OP_CHLO_NEXT_AFTER] = {.prepare = prepare_next_after},
    [OP_CHLO_SQUARE] = {.prepare = prepare_square},
    [OP_CHLO_MULHI] = {.prepare = prepare_mulhi},
    [OP_CHLO_CONJ] = {.prepare = prepare_conj},
    [OP_CHLO_IS_INF] = {.prepare = prepare_is_inf},
    [OP_CHLO_IS_POS_INF] = {.prepare = prepare_is_pos_inf},
    [OP_CHLO_IS_NEG_INF] = {.prepare = prepare_is_neg_inf},
    [OP_CHLO_TOP_K] = {.prepare = interp_prepare_top_k},
};

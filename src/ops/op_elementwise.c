#include "ops/op_elementwise.h"

#include <math.h>

#include "kernel/complex.h"
#include "ops/gradient.h"
#include "ops/rule_build.h"
#include "ops/run_elementwise.h"

/* ---- element types that an op is defined for ---- */

enum { F = 1, C = 2, I = 4, B = 8 };

static int type_bit(tsr_dtype dtype)
{
    if (dtype_is_float(dtype)) {
        return F;
    }
    return dtype_is_complex(dtype) ? C : dtype_is_integer(dtype) ? I : B;
}

static tsr_status check_defined(const op_request *r, int types)
{
    if ((type_bit(r->operands[0].dtype) & types) != 0) {
        return TSR_OK;
    }
    return diag_error(r->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "%s: %s is not defined for %s; convert to another element type first",
                      r->call, r->row->name, tsr_dtype_name(r->operands[0].dtype));
}

#define UNARY(kernel, name, dialect, call, types, class, gradient) [UNARY_##kernel] = (types),
#define BINARY(kernel, name, dialect, call, types, class, needs, of_x, of_y)
static const int unary_types_of[UNARY_COUNT] = {
#include "ops/elementwise.def"
};
#undef UNARY
#undef BINARY
#define UNARY(kernel, name, dialect, call, types, class, gradient)
#define BINARY(kernel, name, dialect, call, types, class, needs, of_x, of_y)                       \
    [BINARY_##kernel] = (types),
static const int binary_types_of[BINARY_COUNT] = {
#include "ops/elementwise.def"
};
#undef UNARY
#undef BINARY

/* ---- shapes ---- */

static tsr_status refuse_broadcast(const op_request *r, size_t a, size_t b, int64_t size_a,
                                   int64_t size_b)
{
    return OP_ERROR(r,
                    "operand %zu, %s, and operand %zu, %s, do not broadcast: %lld is not %lld; "
                    "sizes must be equal, or one of them 1",
                    a, op_type_text(&r->operands[a]).text, b, op_type_text(&r->operands[b]).text,
                    (long long)size_b, (long long)size_a);
}

/* One extent of the result: all operands have it, or 1, or repeat. An unknown one may be 1. */
static tsr_status broadcast_extent(const op_request *r, size_t rank, size_t d, int64_t *extent)
{
    size_t from = 0;
    *extent = 1;
    for (size_t i = 0; i < r->num_operands; i++) {
        const op_type *t = &r->operands[i];
        if (d + t->rank < rank) {
            continue;
        }
        const int64_t size = t->shape[d + t->rank - rank];
        if (*extent == 1 || (*extent == TSR_UNKNOWN && size != 1)) {
            *extent = size;
            from = i;
        } else if (size != 1 && size != TSR_UNKNOWN && size != *extent) {
            return refuse_broadcast(r, from, i, *extent, size);
        }
    }
    return TSR_OK;
}

static tsr_status broadcast_shape(const op_request *r, op_type *result)
{
    size_t rank = 0;
    for (size_t i = 0; i < r->num_operands; i++) {
        rank = r->operands[i].rank > rank ? r->operands[i].rank : rank;
    }
    int64_t *shape = op_new_shape(r, rank);
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t d = 0; d < rank; d++) {
        TSR_TRY(broadcast_extent(r, rank, d, &shape[d]));
    }
    result->rank = rank;
    result->shape = shape;
    return TSR_OK;
}

/* In a program all operands have one shape; those in `scalars` (bits) may also have rank 0. */
static tsr_status common_shape(const op_request *r, unsigned scalars, op_type *result)
{
    size_t data = 0;
    while ((scalars >> data & 1) != 0) {
        data++;
    }
    int64_t *shape = op_new_shape(r, r->operands[data].rank);
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    result->rank = r->operands[data].rank;
    result->shape = shape;
    for (size_t d = 0; d < result->rank; d++) {
        shape[d] = r->operands[data].shape[d];
    }
    for (size_t i = 0; i < r->num_operands; i++) {
        if (r->operands[i].rank == 0 && (scalars >> i & 1) != 0) {
            continue;
        }
        if (!op_shapes_agree(&r->operands[i], &r->operands[data])) {
            return OP_ERROR(r, "operand %zu, %s, and operand %zu, %s, differ in shape", data,
                            op_type_text(&r->operands[data]).text, i,
                            op_type_text(&r->operands[i]).text);
        }
        for (size_t d = 0; d < result->rank; d++) {
            shape[d] = known_extent(shape[d], r->operands[i].shape[d]);
        }
    }
    return TSR_OK;
}

static tsr_status result_shape(const op_request *r, unsigned scalars, op_type *result)
{
    return r->broadcasts ? broadcast_shape(r, result) : common_shape(r, scalars, result);
}

static tsr_status elementwise_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                   const tsr_rule **out)
{
    const tsr_extents *operands = op_operand_extents(r, arena);
    if (operands == NULL) {
        return diag_nomem(r->ctx);
    }
    return tsr_rule_broadcasting(r->ctx, arena, operands, r->num_operands, op_extents(&results[0]),
                                 out);
}

/* An operand as a view of the result's shape: a stride of 0 where it repeats. */
typedef struct spread {
    tsr_view view;
    int64_t strides[OP_MAX_RANK];
} spread;

/* The view points to the spread's own strides, so the spread must not be copied. */
static void spread_operand(const op_call *c, size_t operand, spread *out)
{
    const op_array *a = &c->operands[operand];
    const op_array *to = &c->results[0];
    const size_t leading = to->view.rank - a->view.rank;
    for (size_t d = 0; d < to->view.rank; d++) {
        const bool repeats = d < leading || a->full[d - leading] != to->full[d];
        out->strides[d] = repeats ? 0 : a->view.strides[d - leading];
    }
    out->view = to->view;
    out->view.data = a->view.data;
    out->view.dtype = a->view.dtype;
    out->view.strides = out->strides;
}

/* ---- one operand ---- */

static tsr_dtype part_of_complex(tsr_dtype dtype)
{
    return dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : dtype;
}

static tsr_status unary_types(const op_request *r, op_type *results)
{
    const tsr_dtype dtype = r->operands[0].dtype;
    TSR_TRY(check_defined(r, unary_types_of[r->row->kind]));
    results[0] =
        op_type_like(&r->operands[0], r->row->kind == UNARY_ABS ? part_of_complex(dtype) : dtype);
    return TSR_OK;
}

static bool unary_has_kernel(const op_request *r, const op_type *results)
{
    (void)results;
    return unary_supports((unary_op)r->row->kind, r->operands[0].dtype) ||
           complex_unary_supports((unary_op)r->row->kind, r->operands[0].dtype);
}

static void unary_run(const op_call *c, void *scratch)
{
    (void)scratch;
    const bool is_complex = dtype_is_complex(c->operands[0].view.dtype);
    (is_complex ? kernel_complex_unary : kernel_unary)((unary_op)c->row->kind, &c->results[0].view,
                                                       &c->operands[0].view);
}

/* Functions that keep an order keep a greatest and a least element. */
static spmd_class class_monotone(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)r;
    (void)operand;
    return pending == TSR_MAX || pending == TSR_MIN ? SPMD_LINEAR : SPMD_NONLINEAR;
}

/* Not for a greatest where smaller numbers have no image: a NaN would stand for them. */
static spmd_class class_monotone_above(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)r;
    (void)operand;
    return pending == TSR_MIN ? SPMD_LINEAR : SPMD_NONLINEAR;
}

/* ---- gradients, in the words of elementwise.def ---- */

#define MUL(x, y) build_binary(b, BINARY_MULTIPLY, (x), (y))
#define DIV(x, y) build_binary(b, BINARY_DIVIDE, (x), (y))
#define ADD(x, y) build_binary(b, BINARY_ADD, (x), (y))
#define SUB(x, y) build_binary(b, BINARY_SUBTRACT, (x), (y))
#define NEG(x) build_unary(b, UNARY_NEGATE, (x))
#define APPLY(op, x) build_unary(b, UNARY_##op, (x))
#define NUM(beside, n) build_number(b, (beside), (n))

/* s (1 + x (1 - s)), where s is the logistic function. */
static op_value *slope_of_silu(op_builder *b, op_value *x)
{
    op_value *s = APPLY(LOGISTIC, x);
    return MUL(s, ADD(NUM(x, 1), MUL(x, SUB(NUM(x, 1), s))));
}

/* (1 + erf(x / sqrt 2)) / 2 + x e^(-x^2 / 2) / sqrt(2 pi) */
static op_value *slope_of_gelu(op_builder *b, op_value *x)
{
    op_value *erf = APPLY(ERF, MUL(x, NUM(x, M_SQRT1_2)));
    op_value *share = MUL(ADD(erf, NUM(x, 1)), NUM(x, 0.5));
    op_value *bell = APPLY(EXP, MUL(NUM(x, -0.5), MUL(x, x)));
    return ADD(share, MUL(MUL(x, NUM(x, M_2_SQRTPI * M_SQRT1_2 / 2)), bell));
}

/* Half of the cotangent goes to each of equals. */
static op_value *share_of_extreme(op_builder *b, op_value *g, op_value *mine, op_value *other,
                                  compare_op wins)
{
    op_value *half =
        build_select(b, build_compare(b, COMPARE_EQ, mine, other), MUL(g, NUM(g, 0.5)), NUM(g, 0));
    return build_select(b, build_compare(b, wins, mine, other), g, half);
}

/* y x^(y - 1) */
static op_value *slope_of_power(op_builder *b, op_value *x, op_value *y)
{
    return MUL(y, build_binary(b, BINARY_POWER, x, SUB(y, NUM(y, 1))));
}

static op_value *log_unless_zero(op_builder *b, op_value *x)
{
    op_value *is_zero = build_compare(b, COMPARE_EQ, x, NUM(x, 0));
    return APPLY(LOG, build_select(b, is_zero, NUM(x, 1), x));
}

static op_value *truncated_quotient(op_builder *b, op_value *x, op_value *y)
{
    op_value *q = DIV(x, y);
    return MUL(APPLY(SIGN, q), APPLY(FLOOR, APPLY(ABS, q)));
}

static op_value *squared_norm(op_builder *b, op_value *x, op_value *y)
{
    return ADD(MUL(x, x), MUL(y, y));
}

#define UNARY(kernel, name, dialect, call, types, class, gradient)                                 \
    static void name##_gradient(op_builder *b, const op_vjp *v, op_value **grads)                  \
    {                                                                                              \
        op_value *x = v->operands[0];                                                              \
        op_value *y = v->results[0];                                                               \
        op_value *g = v->cotangents[0];                                                            \
        (void)b, (void)x, (void)y, (void)g;                                                        \
        grads[0] = v->wanted[0] ? (gradient) : NULL;                                               \
    }
#define BINARY(kernel, name, dialect, call, types, class, needs, of_x, of_y)                       \
    static void name##_gradient(op_builder *b, const op_vjp *v, op_value **grads)                  \
    {                                                                                              \
        op_value *x = v->operands[0];                                                              \
        op_value *y = v->operands[1];                                                              \
        op_value *r = v->results[0];                                                               \
        op_value *g = v->cotangents[0];                                                            \
        (void)x, (void)y, (void)r, (void)g;                                                        \
        grads[0] = v->wanted[0] ? unbroadcast(b, (of_x), x) : NULL;                                \
        grads[1] = v->wanted[1] ? unbroadcast(b, (of_y), y) : NULL;                                \
    }
#include "ops/elementwise.def"
#undef UNARY
#undef BINARY

/* XLA rewrites ops of chlo to several ops, which read the operand again and again. */
#define TRAITS_OF(dialect) ((dialect) == OP_CHLO ? OP_EXPANDS : 0)
#define UNARY(kernel, text, from, function, types_, class, of_x)                                   \
    [UNARY_##kernel] = {.name = #text,                                                             \
                        .call = #function,                                                         \
                        .dialect = (from),                                                         \
                        .traits = OP_ELEMENTWISE | OP_GRADIENT_BY_RESULT | TRAITS_OF(from),        \
                        .kind = UNARY_##kernel,                                                    \
                        .num_operands = 1,                                                         \
                        .num_results = 1,                                                          \
                        .types = unary_types,                                                      \
                        .rule = elementwise_rule,                                                  \
                        .class_of = (class),                                                       \
                        .supports = unary_has_kernel,                                              \
                        .run = unary_run,                                                          \
                        .gradient = text##_gradient},
#define BINARY(kernel, name, dialect, call, types, class, needs, of_x, of_y)
const op_row op_unary[UNARY_COUNT] = {
#include "ops/elementwise.def"
};
#undef UNARY
#undef BINARY

/* ---- two operands ---- */

static tsr_status binary_types(const op_request *r, op_type *results)
{
    TSR_TRY(op_same_dtype(r, 0, 1));
    TSR_TRY(check_defined(r, binary_types_of[r->row->kind]));
    results[0].dtype = r->operands[0].dtype;
    return result_shape(r, 0, &results[0]);
}

static bool binary_has_kernel(const op_request *r, const op_type *results)
{
    (void)results;
    return binary_supports((binary_op)r->row->kind, r->operands[0].dtype) ||
           complex_binary_supports((binary_op)r->row->kind, r->operands[0].dtype);
}

static void binary_run(const op_call *c, void *scratch)
{
    spread a;
    spread b;
    (void)scratch;
    spread_operand(c, 0, &a);
    spread_operand(c, 1, &b);
    const bool is_complex = dtype_is_complex(a.view.dtype);
    (is_complex ? kernel_complex_binary : kernel_binary)((binary_op)c->row->kind,
                                                         &c->results[0].view, &a.view, &b.view);
}

/* A division of floats is linear in the dividend. */
static spmd_class class_divide(const op_request *r, size_t operand, tsr_reduction pending)
{
    return operand == 0 && dtype_is_float(r->operands[0].dtype)
               ? class_multilinear(r, operand, pending)
               : SPMD_NONLINEAR;
}

static spmd_class class_max(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)r;
    (void)operand;
    return pending == TSR_MAX ? SPMD_LINEAR : SPMD_NONLINEAR;
}

static spmd_class class_min(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)r;
    (void)operand;
    return pending == TSR_MIN ? SPMD_LINEAR : SPMD_NONLINEAR;
}

#define UNARY(kernel, name, dialect, call, types, class, gradient)
#define BINARY(kernel, text, from, function, types_, class, needs, of_x, of_y)                     \
    [BINARY_##kernel] = {.name = #text,                                                            \
                         .call = #function,                                                        \
                         .dialect = (from),                                                        \
                         .traits = OP_ELEMENTWISE | (needs),                                       \
                         .kind = BINARY_##kernel,                                                  \
                         .num_operands = 2,                                                        \
                         .num_results = 1,                                                         \
                         .types = binary_types,                                                    \
                         .rule = elementwise_rule,                                                 \
                         .class_of = (class),                                                      \
                         .supports = binary_has_kernel,                                            \
                         .run = binary_run,                                                        \
                         .gradient = text##_gradient},
const op_row op_binary[BINARY_COUNT] = {
#include "ops/elementwise.def"
};
#undef UNARY
#undef BINARY

/* ---- is_finite ---- */

static tsr_status is_finite_types(const op_request *r, op_type *results)
{
    TSR_TRY(check_defined(r, F));
    results[0] = op_type_like(&r->operands[0], TSR_I1);
    return TSR_OK;
}

static bool is_finite_has_kernel(const op_request *r, const op_type *results)
{
    (void)results;
    return is_finite_supports(r->operands[0].dtype);
}

static void is_finite_run(const op_call *c, void *scratch)
{
    (void)scratch;
    kernel_is_finite(&c->results[0].view, &c->operands[0].view);
}

const op_row op_is_finite = {.name = "is_finite",
                             .call = "tsr_is_finite",
                             .traits = OP_ELEMENTWISE,
                             .num_operands = 1,
                             .num_results = 1,
                             .types = is_finite_types,
                             .rule = elementwise_rule,
                             .supports = is_finite_has_kernel,
                             .run = is_finite_run,
                             .gradient = gradient_none};

/* ---- compare ---- */

static const char *const directions[] = {"EQ", "NE", "LT", "LE", "GT", "GE", NULL};
static const op_field compare_list[] = {{.name = "comparison_direction",
                                         .kind = OP_FIELD_ENUM,
                                         .offset = offsetof(compare_params, comparison_direction),
                                         .names = directions}};
static const op_fields compare_fields = OP_FIELDS(compare_params, compare_list);

static tsr_status compare_types(const op_request *r, op_type *results)
{
    TSR_TRY(op_same_dtype(r, 0, 1));
    results[0].dtype = TSR_I1;
    return result_shape(r, 0, &results[0]);
}

static bool compare_has_kernel(const op_request *r, const op_type *results)
{
    (void)results;
    return compare_supports(r->operands[0].dtype) || dtype_is_complex(r->operands[0].dtype);
}

static void compare_run(const op_call *c, void *scratch)
{
    const compare_params *p = c->params;
    spread a;
    spread b;
    (void)scratch;
    spread_operand(c, 0, &a);
    spread_operand(c, 1, &b);
    const bool is_complex = dtype_is_complex(a.view.dtype);
    (is_complex ? kernel_complex_compare : kernel_compare)((compare_op)p->comparison_direction,
                                                           &c->results[0].view, &a.view, &b.view);
}

const op_row op_compare = {.name = "compare",
                           .call = "tsr_compare",
                           .traits = OP_ELEMENTWISE,
                           .num_operands = 2,
                           .num_results = 1,
                           .fields = &compare_fields,
                           .types = compare_types,
                           .rule = elementwise_rule,
                           .supports = compare_has_kernel,
                           .run = compare_run,
                           .gradient = gradient_none};

/* ---- select ---- */

static tsr_status select_types(const op_request *r, op_type *results)
{
    if (r->operands[0].dtype != TSR_I1) {
        return OP_ERROR(r,
                        "operand 0, %s, must have element type i1, such as the result of compare",
                        op_type_text(&r->operands[0]).text);
    }
    TSR_TRY(op_same_dtype(r, 1, 2));
    results[0].dtype = r->operands[1].dtype;
    return result_shape(r, 1, &results[0]);
}

static spmd_class class_select(const op_request *r, size_t operand, tsr_reduction pending)
{
    return operand > 0 ? class_moves(r, operand, pending) : SPMD_NONLINEAR;
}

static void select_run(const op_call *c, void *scratch)
{
    spread which;
    spread yes;
    spread no;
    (void)scratch;
    spread_operand(c, 0, &which);
    spread_operand(c, 1, &yes);
    spread_operand(c, 2, &no);
    kernel_select(&c->results[0].view, &which.view, &yes.view, &no.view);
}

static void select_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    op_value *g = v->cotangents[0];
    for (size_t i = 1; i < 3; i++) {
        if (v->wanted[i]) {
            op_value *zero = NUM(g, 0);
            op_value *part = build_select(b, v->operands[0], i == 1 ? g : zero, i == 1 ? zero : g);
            grads[i] = unbroadcast(b, part, v->operands[i]);
        }
    }
}

const op_row op_select = {.name = "select",
                          .call = "tsr_select",
                          .traits = OP_ELEMENTWISE,
                          .num_operands = 3,
                          .num_results = 1,
                          .types = select_types,
                          .rule = elementwise_rule,
                          .class_of = class_select,
                          .run = select_run,
                          .gradient = select_gradient};

/* ---- clamp ---- */

static tsr_status clamp_types(const op_request *r, op_type *results)
{
    TSR_TRY(op_same_dtype(r, 0, 1));
    TSR_TRY(op_same_dtype(r, 1, 2));
    results[0].dtype = r->operands[1].dtype;
    return result_shape(r, 1 | 4, &results[0]);
}

/* A clamp to one range keeps the order of what is clamped. */
static spmd_class class_clamp(const op_request *r, size_t operand, tsr_reduction pending)
{
    return operand == 1 ? class_monotone(r, operand, pending) : SPMD_NONLINEAR;
}

static bool clamp_has_kernel(const op_request *r, const op_type *results)
{
    (void)results;
    return clamp_supports(r->operands[0].dtype) || dtype_is_complex(r->operands[0].dtype);
}

static void clamp_run(const op_call *c, void *scratch)
{
    spread least;
    spread x;
    spread greatest;
    (void)scratch;
    spread_operand(c, 0, &least);
    spread_operand(c, 1, &x);
    spread_operand(c, 2, &greatest);
    if (dtype_is_complex(x.view.dtype)) {
        const tsr_view *to = &c->results[0].view;
        kernel_complex_binary(BINARY_MAX, to, &x.view, &least.view);
        kernel_complex_binary(BINARY_MIN, to, to, &greatest.view);
        return;
    }
    kernel_clamp(&c->results[0].view, &least.view, &x.view, &greatest.view);
}

/*
 * To the operand strictly inside of the range, to a bound where it is the result. A range whose
 * bounds are the wrong way round is its greatest.
 */
static void clamp_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    op_value *least = v->operands[0];
    op_value *x = v->operands[1];
    op_value *greatest = v->operands[2];
    op_value *g = v->cotangents[0];
    op_value *raised = build_binary(b, BINARY_MAX, x, least);
    op_value *const where[] = {build_binary(b, BINARY_AND, build_compare(b, COMPARE_LT, x, least),
                                            build_compare(b, COMPARE_LE, least, greatest)),
                               build_binary(b, BINARY_AND, build_compare(b, COMPARE_GT, x, least),
                                            build_compare(b, COMPARE_LT, x, greatest)),
                               build_compare(b, COMPARE_GT, raised, greatest)};
    for (size_t i = 0; i < 3; i++) {
        if (v->wanted[i]) {
            grads[i] = unbroadcast(b, build_select(b, where[i], g, NUM(g, 0)), v->operands[i]);
        }
    }
}

const op_row op_clamp = {.name = "clamp",
                         .call = "tsr_clamp",
                         .traits = OP_ELEMENTWISE,
                         .num_operands = 3,
                         .num_results = 1,
                         .types = clamp_types,
                         .rule = elementwise_rule,
                         .class_of = class_clamp,
                         .supports = clamp_has_kernel,
                         .run = clamp_run,
                         .gradient = clamp_gradient};

/* ---- convert ---- */

static const op_field convert_list[] = {OP_FIELD(convert_params, result, DTYPE)};
static const op_fields convert_fields = OP_FIELDS(convert_params, convert_list);

static tsr_status convert_types(const op_request *r, op_type *results)
{
    const convert_params *p = r->params;
    results[0] = op_type_like(&r->operands[0], p->result);
    return TSR_OK;
}

static bool convert_has_kernel(const op_request *r, const op_type *results)
{
    return convert_supports(r->operands[0].dtype, results[0].dtype);
}

/* Whether every number of a float type is one of another. */
static bool widens(tsr_dtype from, tsr_dtype to)
{
    return from == to || to == TSR_F64 || (to == TSR_F32 && from != TSR_F64);
}

/*
 * A sum of rounded numbers is not the rounded sum, and integers that wrap around do so elsewhere in
 * a wider type; but rounding keeps the order.
 */
static spmd_class class_convert(const op_request *r, size_t operand, tsr_reduction pending)
{
    const convert_params *p = r->params;
    const tsr_dtype from = r->operands[0].dtype;
    const bool floats = dtype_is_float(from) && dtype_is_float(p->result);
    if (floats && (pending == TSR_MAX || pending == TSR_MIN)) {
        return SPMD_LINEAR;
    }
    return floats && widens(from, p->result) ? class_linear(r, operand, pending) : SPMD_NONLINEAR;
}

static void convert_run(const op_call *c, void *scratch)
{
    (void)scratch;
    kernel_convert(&c->results[0].view, &c->operands[0].view);
}

static void convert_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    grads[0] = build_convert(b, v->cotangents[0], build_type(b, v->operands[0]).dtype);
}

const op_row op_convert = {.name = "convert",
                           .call = "tsr_convert",
                           .traits = OP_ELEMENTWISE | OP_GRADIENT_BY_TYPE,
                           .num_operands = 1,
                           .num_results = 1,
                           .fields = &convert_fields,
                           .types = convert_types,
                           .rule = elementwise_rule,
                           .class_of = class_convert,
                           .supports = convert_has_kernel,
                           .run = convert_run,
                           .gradient = convert_gradient};

/* ---- parts of complex numbers, fewer bits ---- */

const op_row op_complex = {.name = "complex",
                           .traits = OP_ELEMENTWISE,
                           .num_operands = 2,
                           .num_results = 1,
                           .rule = op_rule_pointwise,
                           .supports = complex_supports,
                           .run = complex_run};

const op_row op_real = {.name = "real",
                        .traits = OP_ELEMENTWISE,
                        .num_operands = 1,
                        .num_results = 1,
                        .rule = op_rule_pointwise,
                        .supports = complex_part_supports,
                        .run = real_run};

const op_row op_imag = {.name = "imag",
                        .traits = OP_ELEMENTWISE,
                        .num_operands = 1,
                        .num_results = 1,
                        .rule = op_rule_pointwise,
                        .supports = complex_part_supports,
                        .run = imag_run};

static const op_field precision_list[] = {OP_FIELD(reduce_precision_params, exponent_bits, INT),
                                          OP_FIELD(reduce_precision_params, mantissa_bits, INT)};
static const op_fields precision_fields = OP_FIELDS(reduce_precision_params, precision_list);

const op_row op_reduce_precision = {.name = "reduce_precision",
                                    .traits = OP_ELEMENTWISE,
                                    .num_operands = 1,
                                    .num_results = 1,
                                    .fields = &precision_fields,
                                    .rule = op_rule_pointwise,
                                    .supports = reduce_precision_supports,
                                    .run = reduce_precision_run};

/* ---- bitcast_convert ---- */

/* Not elementwise: of element types that differ in size, the smaller has a dimension more. */
static const op_field bitcast_list[] = {OP_FIELD(bitcast_params, result, RESULT)};
static const op_fields bitcast_fields = OP_FIELDS(bitcast_params, bitcast_list);

/* The parts of one element stay together. */
static tsr_status bitcast_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                               const tsr_rule **out)
{
    const op_type *from = &r->operands[0];
    const op_type *longer = from->rank > results[0].rank ? from : &results[0];
    const op_type *shorter = longer == from ? &results[0] : from;
    if (longer->rank > shorter->rank + 1) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = op_rule_start(r, results, arena);
    for (size_t d = 0; d < shorter->rank; d++) {
        rule_put_each(&b, d, rule_factor(&b, shorter->shape[d], TSR_FACTOR_PASS_THROUGH, false));
    }
    if (longer->rank > shorter->rank) {
        const size_t last = shorter->rank;
        rule_put(&b, longer == from ? 0 : 1, last,
                 rule_factor(&b, longer->shape[last], TSR_FACTOR_NEED_REPLICATION, false));
    }
    return rule_finish(&b, out);
}

const op_row op_bitcast_convert = {.name = "bitcast_convert",
                                   .num_operands = 1,
                                   .num_results = 1,
                                   .fields = &bitcast_fields,
                                   .rule = bitcast_rule};

/* ---- the family ---- */

#define UNARY(kernel, name, dialect, call, types, class, gradient) &op_unary[UNARY_##kernel],
#define BINARY(kernel, name, dialect, call, types, class, needs, of_x, of_y)                       \
    &op_binary[BINARY_##kernel],
static const op_row *const rows[] = {
#include "ops/elementwise.def"
    &op_is_finite, &op_compare, &op_select,           &op_clamp,           &op_convert, &op_complex,
    &op_real,      &op_imag,    &op_reduce_precision, &op_bitcast_convert,
};
#undef UNARY
#undef BINARY
const op_family family_elementwise = {rows, sizeof rows / sizeof rows[0]};

#include "ops/run_window.h"

#include <string.h>

#include "kernel/window.h"
#include "ops/op_window.h"

/* ---- shapes ---- */

static int64_t value_or(op_ints list, size_t at, int64_t otherwise)
{
    return list.count == 0 ? otherwise : list.values[at];
}

static bool has_length(op_ints list, size_t length)
{
    return list.count == 0 || list.count == length;
}

static bool shape_of(const reduce_window_params *p, const op_type *input, window_shape *w)
{
    const size_t rank = input->rank;
    if (!has_length(p->window_dimensions, rank) || !has_length(p->window_strides, rank) ||
        !has_length(p->base_dilations, rank) || !has_length(p->window_dilations, rank) ||
        !has_length(p->padding, 2 * rank)) {
        return false;
    }
    w->rank = rank;
    for (size_t d = 0; d < rank; d++) {
        w->input[d] = input->shape[d];
        w->size[d] = value_or(p->window_dimensions, d, 1);
        w->stride[d] = value_or(p->window_strides, d, 1);
        w->input_dilation[d] = value_or(p->base_dilations, d, 1);
        w->dilation[d] = value_or(p->window_dilations, d, 1);
        w->before[d] = value_or(p->padding, 2 * d, 0);
        w->after[d] = value_or(p->padding, 2 * d + 1, 0);
    }
    return window_fit(w);
}

static bool gives_shape(const window_shape *w, const op_type *type)
{
    bool same = type->rank == w->rank;
    for (size_t d = 0; same && d < w->rank; d++) {
        same = type->shape[d] == w->output[d];
    }
    return same;
}

/* ---- regions ---- */

bool region_binary(const op_region *region, binary_op *out)
{
    static const binary_op ops[FOLD_COUNT] = {
        [FOLD_SUM] = BINARY_ADD, [FOLD_MAX] = BINARY_MAX,       [FOLD_MIN] = BINARY_MIN,
        [FOLD_AVG] = BINARY_ADD, [FOLD_PROD] = BINARY_MULTIPLY, [FOLD_AND] = BINARY_AND,
        [FOLD_OR] = BINARY_OR};
    const fold_op fold = op_region_fold(region);
    if (fold == FOLD_COUNT) {
        return false;
    }
    *out = ops[fold];
    return true;
}

static bool can_combine(const op_region *region, tsr_dtype dtype)
{
    binary_op op = BINARY_ADD;
    return region->body == OP_BODY_OPAQUE
               ? region->call != NULL
               : region_binary(region, &op) && binary_supports(op, dtype);
}

/* ---- reduce_window ---- */

bool reduce_window_supports(const op_request *r, const op_type *results)
{
    const reduce_window_params *p = r->params;
    const size_t n = r->num_operands / 2;
    window_shape w;
    if (n == 0 || n > WINDOW_MAX_ARRAYS || p->window_dimensions.count != r->operands[0].rank ||
        !shape_of(p, &r->operands[0], &w)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const op_type *input = &r->operands[i];
        if (!op_shapes_agree(input, &r->operands[0]) || r->operands[n + i].rank != 0 ||
            input->dtype != results[i].dtype || r->operands[n + i].dtype != input->dtype ||
            !gives_shape(&w, &results[i]) || !can_combine(&p->body, input->dtype)) {
            return false;
        }
    }
    return true;
}

void reduce_window_run(const op_call *c, void *scratch)
{
    const reduce_window_params *p = c->params;
    const size_t n = c->num_results;
    const op_type input = {c->operands[0].view.dtype, c->operands[0].view.rank,
                           c->operands[0].view.shape};
    tsr_view dst[WINDOW_MAX_ARRAYS];
    tsr_view src[WINDOW_MAX_ARRAYS];
    const void *initial[WINDOW_MAX_ARRAYS];
    binary_op op = BINARY_ADD;
    window_shape w;
    (void)scratch;
    (void)shape_of(p, &input, &w);
    for (size_t i = 0; i < n; i++) {
        dst[i] = c->results[i].view;
        src[i] = c->operands[i].view;
        initial[i] = c->operands[n + i].view.data;
    }
    if (p->body.body == OP_BODY_OPAQUE) {
        kernel_reduce_window_call(p->body.call, p->body.state, &w, dst, src, initial, n);
        return;
    }
    (void)region_binary(&p->body, &op);
    for (size_t i = 0; i < n; i++) {
        kernel_reduce_window(op, &w, &dst[i], &src[i], initial[i]);
    }
}

/* ---- select_and_scatter ---- */

static bool scatter_shape(const select_and_scatter_params *p, const op_type *operand,
                          window_shape *w)
{
    const reduce_window_params as_reduction = {.window_dimensions = p->window_dimensions,
                                               .window_strides = p->window_strides,
                                               .padding = p->padding};
    return shape_of(&as_reduction, operand, w);
}

/* A known region with what it needs to be called on single elements. */
typedef struct known_call {
    const op_region *region;
    tsr_dtype dtype;
} known_call;

static double load_number(tsr_dtype dtype, const void *element)
{
    static const int64_t one = 1;
    double number = 0;
    const int64_t item = tsr_dtype_item_bytes(dtype);
    const int64_t wide = sizeof number;
    const tsr_view from = {without_const(element), dtype, 1, &one, &item};
    const tsr_view to = {&number, TSR_F64, 1, &one, &wide};
    if (dtype == TSR_F32) {
        float single;
        memcpy(&single, element, sizeof single);
        return (double)single;
    }
    kernel_convert(&to, &from);
    return number;
}

static void compare_known(void *state, const void *const *arguments, void *const *results)
{
    const known_call *k = state;
    const double a = load_number(k->dtype, arguments[0]);
    const double b = load_number(k->dtype, arguments[1]);
    const op_body body = k->region->body;
    *(uint8_t *)results[0] = body == OP_BODY_LESS         ? a < b
                             : body == OP_BODY_GREATER    ? a > b
                             : body == OP_BODY_LESS_EQUAL ? a <= b
                                                          : a >= b;
}

static void combine_known(void *state, const void *const *arguments, void *const *results)
{
    static const int64_t one = 1;
    const known_call *k = state;
    const int64_t item = tsr_dtype_item_bytes(k->dtype);
    const tsr_view a = {without_const(arguments[0]), k->dtype, 1, &one, &item};
    const tsr_view b = {without_const(arguments[1]), k->dtype, 1, &one, &item};
    const tsr_view to = {results[0], k->dtype, 1, &one, &item};
    binary_op op = BINARY_ADD;
    (void)region_binary(k->region, &op);
    kernel_binary(op, &to, &a, &b);
}

/* Numbers that a double holds exactly are compared as such. */
static bool can_select(const op_region *region, tsr_dtype dtype)
{
    if (region->body == OP_BODY_OPAQUE) {
        return region->call != NULL;
    }
    return region->body >= OP_BODY_LESS && region->body <= OP_BODY_GREATER_EQUAL &&
           convert_supports(dtype, TSR_F64) && dtype != TSR_I64 && dtype != TSR_U64;
}

bool select_and_scatter_supports(const op_request *r, const op_type *results)
{
    const select_and_scatter_params *p = r->params;
    const op_type *operand = &r->operands[0];
    window_shape w;
    if (!scatter_shape(p, operand, &w) || !gives_shape(&w, &r->operands[1]) ||
        !op_shapes_agree(operand, &results[0]) || r->operands[2].rank != 0) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        if (r->operands[i].dtype != results[0].dtype) {
            return false;
        }
    }
    return can_select(&p->select, operand->dtype) && can_combine(&p->scatter, operand->dtype);
}

void select_and_scatter_run(const op_call *c, void *scratch)
{
    const select_and_scatter_params *p = c->params;
    const tsr_view *operand = &c->operands[0].view;
    const tsr_view *result = &c->results[0].view;
    const op_type type = {operand->dtype, operand->rank, operand->shape};
    known_call select = {&p->select, operand->dtype};
    known_call combine = {&p->scatter, operand->dtype};
    const bool select_is_known = p->select.body != OP_BODY_OPAQUE;
    const bool combine_is_known = p->scatter.body != OP_BODY_OPAQUE;
    window_shape w;
    (void)scratch;
    (void)scatter_shape(p, &type, &w);
    kernel_fill(result, c->operands[2].view.data);
    kernel_select_and_scatter(select_is_known ? compare_known : p->select.call,
                              select_is_known ? (void *)&select : p->select.state,
                              combine_is_known ? combine_known : p->scatter.call,
                              combine_is_known ? (void *)&combine : p->scatter.state, &w, result,
                              operand, &c->operands[1].view);
}

/* The rules of windows, and of convolutions. */
#include <stdio.h>

#include "base/arena.h"
#include "verify/check.h"
#include "verify/check_ops.h"

/* ---- windows ---- */

/* Pairs of padding, N by 2; none where the attribute is not there. */
static tsr_status read_padding(const ir_check *k, uint32_t attr, numbers *out)
{
    *out = attr_as_numbers(k, attr);
    if (attr == 0 || !out->given) {
        return TSR_OK;
    }
    const type_head *type = program_type(k->p, program_attr(k->p, attr)->type);
    if (type->count != 2 || type_extents(type)[1] != 2) {
        return refuse(k, "expects the shape of padding-attribute to be {N, 2}, but got {%s}.",
                      words_of_shape(type).text);
    }
    out->count /= 2;
    return TSR_OK;
}

static tsr_status check_length(const ir_check *k, const char *what, numbers list, size_t rank)
{
    return list.count == 0 || list.count == rank
               ? TSR_OK
               : refuse(k,
                        "expects %s to have same dimension-size as size of window dimensions "
                        "(%zu), but got: %zu.",
                        what, rank, list.count);
}

static int64_t or_one(numbers list, size_t i)
{
    return list.count > i ? list.values[i] : 1;
}

static tsr_status check_positive(const ir_check *k, const char *what, size_t i, int64_t value)
{
    return value > 0
               ? TSR_OK
               : refuse(k,
                        "expects window to have positive %s for %zu-th window dimension, but got "
                        "%lld.",
                        what, i, (long long)value);
}

tsr_status read_window(const ir_check *k, const window_attrs *w, window_dim **out)
{
    numbers padding;
    TSR_TRY(read_padding(k, w->padding, &padding));
    TSR_TRY(check_length(k, "window-strides", w->strides, w->rank));
    TSR_TRY(check_length(k, "base-dilation factors", w->base, w->rank));
    TSR_TRY(check_length(k, "window-dilation factors", w->dilation, w->rank));
    TSR_TRY(check_length(k, "padding-entries", padding, w->rank));
    TSR_TRY(check_length(k, "window-reversal", w->reversal, w->rank));
    *out = ARENA_ARRAY(k->p->scratch, window_dim, w->rank + 1);
    if (*out == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < w->rank; i++) {
        window_dim *d = &(*out)[i];
        *d = (window_dim){.size = w->sizes[i],
                          .stride = or_one(w->strides, i),
                          .base = or_one(w->base, i),
                          .dilation = or_one(w->dilation, i)};
        if (padding.count > i) {
            d->low = padding.values[2 * i];
            d->high = padding.values[2 * i + 1];
        }
        if (!w->may_be_unknown || d->size != TSR_UNKNOWN) {
            TSR_TRY(check_positive(k, "value", i, d->size));
        }
        TSR_TRY(check_positive(k, "stride", i, d->stride));
        TSR_TRY(check_positive(k, "base dilation factor", i, d->base));
        TSR_TRY(check_positive(k, "window dilation factor", i, d->dilation));
    }
    return TSR_OK;
}

/* (size - 1) * dilation + 1, or 0 of nothing; TSR_UNKNOWN where that is too much. */
static int64_t dilated(int64_t size, int64_t dilation)
{
    int64_t out = 0;
    if (size <= 0) {
        return size < 0 ? TSR_UNKNOWN : 0;
    }
    return checked_mul(size - 1, dilation, &out) && checked_add(out, 1, &out) ? out : TSR_UNKNOWN;
}

int64_t window_places(int64_t extent, const window_dim *w)
{
    int64_t padded = dilated(extent, w->base);
    const int64_t reach = dilated(w->size, w->dilation);
    if (extent == TSR_UNKNOWN || w->size == TSR_UNKNOWN || padded == TSR_UNKNOWN ||
        reach == TSR_UNKNOWN || !checked_add(padded, w->low, &padded) ||
        !checked_add(padded, w->high, &padded)) {
        return TSR_UNKNOWN;
    }
    return padded == 0 || reach > padded ? 0 : (padded - reach) / w->stride + 1;
}

/* ---- convolutions ---- */

/* The dimension numbers of one tensor: two of its own, then the spatial ones. */
typedef struct conv_dims {
    int64_t *all;
    size_t count;
} conv_dims;

enum { INPUT, KERNEL, OUTPUT };

static const char *const sides[3] = {"input", "kernel", "output"};

static tsr_status read_conv_dims(const ir_check *k, int side, conv_dims *out)
{
    static const char *const fields[3][3] = {
        {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
        {"kernel_input_feature_dimension", "kernel_output_feature_dimension",
         "kernel_spatial_dimensions"},
        {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"}};
    const numbers spatial =
        attr_as_numbers(k, op_field_attr(k, "dimension_numbers", fields[side][2]));
    out->count = spatial.count + 2;
    out->all = ARENA_ARRAY(k->p->scratch, int64_t, out->count);
    if (out->all == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < out->count; i++) {
        out->all[i] = i < 2 ? 0 : spatial.values[i - 2];
        if (i < 2) {
            (void)attr_as_integer(k->p, op_field_attr(k, "dimension_numbers", fields[side][i]),
                                  &out->all[i]);
        }
    }
    return TSR_OK;
}

static bool is_within(const conv_dims *dims, int64_t rank)
{
    for (size_t i = 0; i < dims->count; i++) {
        if (dims->all[i] < 0 || dims->all[i] >= rank) {
            return false;
        }
    }
    return true;
}

static bool is_unique(const conv_dims *dims)
{
    for (size_t i = 0; i < dims->count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (dims->all[i] == dims->all[j]) {
                return false;
            }
        }
    }
    return true;
}

static tsr_status check_conv_dims(const ir_check *k, const conv_dims *dims)
{
    const uint32_t rank = operand(k, INPUT)->count;
    if (dims[KERNEL].count != dims[INPUT].count || dims[OUTPUT].count != dims[INPUT].count) {
        return refuse(k,
                      "expects the same size for input, kernel and output spatial-dimensions, but "
                      "got %zu, %zu, and %zu resp.",
                      dims[INPUT].count - 2, dims[KERNEL].count - 2, dims[OUTPUT].count - 2);
    }
    for (int i = 0; i < 3; i++) {
        if (!is_within(&dims[i], rank)) {
            return refuse(k,
                          "expects input, kernel, and output dimension-numbers to be in-range [0, "
                          "%u).",
                          rank);
        }
    }
    for (int i = 0; i < 3; i++) {
        if (!is_unique(&dims[i])) {
            return refuse(k, "expects %s dimension-numbers to be unique, got {%s}.", sides[i],
                          words_of(dims[i].all, dims[i].count).text);
        }
    }
    return TSR_OK;
}

/* Features and groups of the two operands against each other. */
static tsr_status check_groups(const ir_check *k, const conv_dims *dims, int64_t by_feature,
                               int64_t by_batch)
{
    const int64_t *lhs = type_extents(operand(k, INPUT));
    const int64_t *rhs = type_extents(operand(k, KERNEL));
    const int64_t batch = lhs[dims[INPUT].all[0]];
    const int64_t features = lhs[dims[INPUT].all[1]];
    const int64_t inputs = rhs[dims[KERNEL].all[0]];
    const int64_t outputs = rhs[dims[KERNEL].all[1]];
    if (by_feature > 1 && by_batch > 1) {
        return refuse(k,
                      "expects batch_group_count and feature_group_count not to be both greater "
                      "than 1. Got %lld and %lld resp.",
                      (long long)by_batch, (long long)by_feature);
    }
    if (batch != TSR_UNKNOWN && batch % by_batch != 0) {
        return refuse(k,
                      "expects input batch dimension (%lld) to be divisible by batch_group_count. "
                      "Got batch_group_count = %lld.",
                      (long long)batch, (long long)by_batch);
    }
    if (features != TSR_UNKNOWN && features % by_feature != 0) {
        return refuse(k,
                      "expects input feature dimension (%lld) to be a multiple of "
                      "feature_group_count. Got feature_group_count = %lld.",
                      (long long)features, (long long)by_feature);
    }
    if (features != TSR_UNKNOWN && inputs != TSR_UNKNOWN && features / by_feature != inputs) {
        return refuse(k,
                      "expects input feature dimension (%lld) / feature_group_count = kernel input "
                      "feature dimension (%lld). Got feature_group_count = %lld.",
                      (long long)features, (long long)inputs, (long long)by_feature);
    }
    if (outputs != TSR_UNKNOWN && outputs % by_batch != 0) {
        return refuse(k,
                      "expects output feature dimension size (%lld) to be a multiple of "
                      "batch_group_count. Got batch_group_count = %lld.",
                      (long long)outputs, (long long)by_batch);
    }
    if (outputs != TSR_UNKNOWN && outputs % by_feature != 0) {
        return refuse(k,
                      "expects kernel output feature dimension (%lld) to be divisible by "
                      "feature_group_count. For feature_group_count = %lld.",
                      (long long)outputs, (long long)by_feature);
    }
    return TSR_OK;
}

static tsr_status check_precision(const ir_check *k)
{
    const uint32_t attr = op_property(k->p, k->op, "precision_config");
    return attr == 0 || program_attr(k->p, attr)->count <= 2
               ? TSR_OK
               : refuse(k, "expects precision config to be empty or have <= 2 elements, got %u",
                        program_attr(k->p, attr)->count);
}

static tsr_status check_conv_operands(const ir_check *k)
{
    const type_head *lhs = operand(k, INPUT);
    const type_head *rhs = operand(k, KERNEL);
    const char *lhs_words = type_words(k, operand_type(k, INPUT));
    const char *rhs_words = type_words(k, operand_type(k, KERNEL));
    if (lhs->count < 2) {
        return refuse(k,
                      "expects convolution arguments to have >= 2 dimensions. Got: '%s' and '%s'.",
                      lhs_words, rhs_words);
    }
    if (lhs->count != rhs->count) {
        return refuse(k,
                      "expects convolution arguments to have same number of dimensions. Got: '%s' "
                      "and '%s'.",
                      lhs_words, rhs_words);
    }
    return elements_compatible(k->p, operand_type(k, INPUT), operand_type(k, KERNEL)) ||
                   type_is(k->p, rhs->element, TYPE_QUANT)
               ? TSR_OK
               : refuse(k,
                        "expects lhs and rhs to have compatible element type. Got: '%s' and '%s'",
                        type_words(k, lhs->element), type_words(k, rhs->element));
}

/* What convolutions share; `dims`: of input, kernel and output. */
static tsr_status check_conv(const ir_check *k, conv_dims *dims)
{
    TSR_TRY(check_conv_operands(k));
    for (int i = 0; i < 3; i++) {
        TSR_TRY(read_conv_dims(k, i, &dims[i]));
    }
    TSR_TRY(check_conv_dims(k, dims));
    TSR_TRY(check_groups(k, dims, op_integer(k, "feature_group_count", 1),
                         op_integer(k, "batch_group_count", 1)));
    return check_precision(k);
}

static tsr_status read_conv_window(const ir_check *k, const conv_dims *kernel, window_dim **out)
{
    const size_t spatial = kernel->count - 2;
    int64_t *sizes = ARENA_ARRAY(k->p->scratch, int64_t, spatial + 1);
    if (sizes == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < spatial; i++) {
        sizes[i] = type_extents(operand(k, KERNEL))[kernel->all[i + 2]];
    }
    const window_attrs w = {.sizes = sizes,
                            .rank = spatial,
                            .may_be_unknown = true,
                            .strides = op_numbers(k, "window_strides"),
                            .base = op_numbers(k, "lhs_dilation"),
                            .dilation = op_numbers(k, "rhs_dilation"),
                            .reversal = op_numbers(k, "window_reversal"),
                            .padding = op_property(k->p, k->op, "padding")};
    return read_window(k, &w, out);
}

/* The extents of the output against those of the result. */
static tsr_status check_conv_result(const ir_check *k, const conv_dims *dims,
                                    const window_dim *windows)
{
    const type_head *to = result(k, 0);
    const size_t rank = operand(k, INPUT)->count;
    const int64_t *lhs = type_extents(operand(k, INPUT));
    int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, rank + 1);
    if (extents == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < rank; i++) {
        extents[i] = TSR_UNKNOWN;
    }
    const int64_t batch = lhs[dims[INPUT].all[0]];
    extents[dims[OUTPUT].all[0]] =
        batch == TSR_UNKNOWN ? batch : batch / op_integer(k, "batch_group_count", 1);
    extents[dims[OUTPUT].all[1]] = type_extents(operand(k, KERNEL))[dims[KERNEL].all[1]];
    for (size_t i = 2; i < dims[OUTPUT].count; i++) {
        extents[dims[OUTPUT].all[i]] = window_places(lhs[dims[INPUT].all[i]], &windows[i - 2]);
    }
    bool fits = to->count == rank;
    for (size_t i = 0; fits && i < rank; i++) {
        fits = extents_agree(extents[i], type_extents(to)[i]);
    }
    return fits ? TSR_OK
                : refuse(k,
                         "inferred shape '[%s]' is incompatible with return type of operation '%s'",
                         words_of_extents(extents, rank).text, type_words(k, result_type(k, 0)));
}

tsr_status check_convolution(const ir_check *k)
{
    conv_dims dims[3] = {{0}};
    window_dim *windows = NULL;
    TSR_TRY(check_conv(k, dims));
    TSR_TRY(read_conv_window(k, &dims[KERNEL], &windows));
    return check_conv_result(k, dims, windows);
}

tsr_status check_dynamic_conv(const ir_check *k)
{
    conv_dims dims[3] = {{0}};
    const int64_t *padding = type_extents(operand(k, 2));
    TSR_TRY(check_conv(k, dims));
    if (padding[0] != (int64_t)dims[KERNEL].count - 2 || padding[1] != 2) {
        return refuse(k, "expects padding to be of shape [%zu, 2], but got [%s]",
                      dims[KERNEL].count - 2, words_of(padding, 2).text);
    }
    return TSR_OK;
}

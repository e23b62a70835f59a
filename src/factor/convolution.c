/* The rule of a convolution. */
#include "base/base.h"
#include "base/diag.h"
#include "factor/rule.h"

enum { INPUT, KERNEL, OUTPUT };

/* A factor of a spatial dimension of the input: what moves the window, or what is in it. */
typedef struct candidate {
    int64_t size;
    tsr_factor_kind kind;
    size_t tensor;
    size_t dim;
    bool whole;
} candidate;

static void add_spatial(rule_builder *b, size_t dim, const candidate *c, int64_t *rest)
{
    const int64_t size = min_i64(*rest, c->size);
    if (size <= 1) {
        return;
    }
    const size_t f = rule_factor(b, size, c->kind, false);
    if (c->whole) {
        rule_keep_whole(b, f);
    }
    rule_map(b, INPUT, dim, f);
    rule_map(b, c->tensor, c->dim, f);
    *rest /= size;
}

/*
 * Whether windows side by side are all of the input: parts of one then meet their parts of the
 * kernel. Where windows overlap, leave something out, or lie across, they do not.
 */
static bool is_tiled(int64_t input, int64_t windows, int64_t window)
{
    int64_t covered;
    return checked_mul(windows, window, &covered) && covered == input;
}

static tsr_status check_shapes(tsr_context *ctx, tsr_extents input, tsr_extents kernel,
                               tsr_extents output, const tsr_convolution_dims *d)
{
    const size_t rank = d->num_spatial + 2;
    if (input.rank != rank || kernel.rank != rank || output.rank != rank) {
        return RULE_ERROR(ctx,
                          "a convolution over %zu spatial dimensions has tensors of rank %zu, got: "
                          "%zu, %zu, %zu",
                          d->num_spatial, rank, input.rank, kernel.rank, output.rank);
    }
    const size_t fixed[] = {d->input_batch,           d->input_feature, d->kernel_input_feature,
                            d->kernel_output_feature, d->output_batch,  d->output_feature};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i += 2) {
        TSR_TRY(rule_check_dims(ctx, "batch or feature", &fixed[i], 2, rank));
    }
    TSR_TRY(rule_check_dims(ctx, "spatial", d->input_spatial, d->num_spatial, rank));
    TSR_TRY(rule_check_dims(ctx, "spatial", d->kernel_spatial, d->num_spatial, rank));
    TSR_TRY(rule_check_dims(ctx, "spatial", d->output_spatial, d->num_spatial, rank));
    if (d->feature_group_count < 1 || d->batch_group_count < 1) {
        return RULE_ERROR(ctx, "group counts are at least 1, got: %lld and %lld",
                          (long long)d->feature_group_count, (long long)d->batch_group_count);
    }
    return TSR_OK;
}

tsr_status tsr_rule_convolution(tsr_context *ctx, tsr_arena *arena, tsr_extents input,
                                tsr_extents kernel, tsr_extents output,
                                const tsr_convolution_dims *d, const tsr_rule **out)
{
    TSR_TRY(check_shapes(ctx, input, kernel, output, d));
    const tsr_extents operands[] = {input, kernel};
    rule_builder b = rule_start(ctx, arena, operands, 2, &output, 1);
    if (d->batch_group_count > 1) {
        const size_t f = rule_factor(&b, d->batch_group_count, TSR_FACTOR_PASS_THROUGH, false);
        rule_map(&b, INPUT, d->input_batch, f);
        rule_map(&b, KERNEL, d->kernel_output_feature, f);
        rule_map(&b, OUTPUT, d->output_feature, f);
    }
    const size_t batch =
        rule_factor(&b, output.sizes[d->output_batch], TSR_FACTOR_PASS_THROUGH, false);
    rule_map(&b, INPUT, d->input_batch, batch);
    rule_map(&b, OUTPUT, d->output_batch, batch);
    for (size_t i = 0; i < d->num_spatial; i++) {
        int64_t rest = input.sizes[d->input_spatial[i]];
        const candidate windows = {output.sizes[d->output_spatial[i]], TSR_FACTOR_PERMUTATION,
                                   OUTPUT, d->output_spatial[i], false};
        candidate window = {kernel.sizes[d->kernel_spatial[i]], TSR_FACTOR_REDUCTION, KERNEL,
                            d->kernel_spatial[i], false};
        const bool windows_first = windows.size >= window.size;
        window.whole = !is_tiled(rest, windows_first ? windows.size : 1, window.size);
        add_spatial(&b, d->input_spatial[i], windows_first ? &windows : &window, &rest);
        add_spatial(&b, d->input_spatial[i], windows_first ? &window : &windows, &rest);
    }
    if (d->feature_group_count > 1) {
        const size_t f = rule_factor(&b, d->feature_group_count, TSR_FACTOR_PASS_THROUGH, false);
        rule_map(&b, INPUT, d->input_feature, f);
        rule_map(&b, KERNEL, d->kernel_output_feature, f);
        rule_map(&b, OUTPUT, d->output_feature, f);
    }
    const size_t features =
        rule_factor(&b, kernel.sizes[d->kernel_input_feature], TSR_FACTOR_REDUCTION, false);
    rule_map(&b, INPUT, d->input_feature, features);
    rule_map(&b, KERNEL, d->kernel_input_feature, features);
    const int64_t rest =
        output.sizes[d->output_feature] / d->batch_group_count / d->feature_group_count;
    if (rest > 1) {
        const size_t f = rule_factor(&b, rest, TSR_FACTOR_PASS_THROUGH, false);
        rule_map(&b, KERNEL, d->kernel_output_feature, f);
        rule_map(&b, OUTPUT, d->output_feature, f);
    }
    return rule_finish(&b, out);
}

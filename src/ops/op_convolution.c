#include "ops/op_convolution.h"

#include "factor/rule.h"
#include "kernel/convolution.h"
#include "kernel/dot.h"

enum { INPUT, KERNEL, OUTPUT };

static const op_field convolution_list[] = {
    OP_FIELD(convolution_params, window_strides, INTS),
    OP_FIELD(convolution_params, padding, INTS),
    OP_FIELD(convolution_params, lhs_dilation, INTS),
    OP_FIELD(convolution_params, rhs_dilation, INTS),
    OP_FIELD(convolution_params, window_reversal, INTS),
    OP_FIELD(convolution_params, input_batch_dimension, INT),
    OP_FIELD(convolution_params, input_feature_dimension, INT),
    OP_FIELD(convolution_params, input_spatial_dimensions, INTS),
    OP_FIELD(convolution_params, kernel_input_feature_dimension, INT),
    OP_FIELD(convolution_params, kernel_output_feature_dimension, INT),
    OP_FIELD(convolution_params, kernel_spatial_dimensions, INTS),
    OP_FIELD(convolution_params, output_batch_dimension, INT),
    OP_FIELD(convolution_params, output_feature_dimension, INT),
    OP_FIELD(convolution_params, output_spatial_dimensions, INTS),
    OP_FIELD(convolution_params, feature_group_count, INT),
    OP_FIELD(convolution_params, batch_group_count, INT)};
static const op_fields convolution_fields = OP_FIELDS(convolution_params, convolution_list);

static int64_t or_default(op_ints list, size_t i, int64_t otherwise)
{
    return i < list.count ? list.values[i] : otherwise;
}

/* ---- types ---- */

/* The dimension numbers of one tensor: two of its own and the spatial ones, each once. */
static tsr_status check_tensor(const op_request *r, const char *what, int64_t first, int64_t second,
                               op_ints spatial, size_t rank)
{
    int64_t all[OP_MAX_RANK + 2] = {first, second};
    if (spatial.count + 2 != rank || rank > OP_MAX_RANK) {
        return OP_ERROR(r,
                        "%zu spatial dimensions of the %s, which has rank %zu: the rank must be "
                        "two more",
                        spatial.count, what, rank);
    }
    for (size_t i = 0; i < spatial.count; i++) {
        all[i + 2] = spatial.values[i];
    }
    return op_check_dims(r, "the dimension", (op_ints){rank, all}, rank);
}

tsr_status convolution_check_dims(const op_request *r, size_t output_rank)
{
    const convolution_params *p = r->params;
    TSR_TRY(check_tensor(r, "input", p->input_batch_dimension, p->input_feature_dimension,
                         p->input_spatial_dimensions, r->operands[INPUT].rank));
    TSR_TRY(check_tensor(r, "kernel", p->kernel_input_feature_dimension,
                         p->kernel_output_feature_dimension, p->kernel_spatial_dimensions,
                         r->operands[KERNEL].rank));
    TSR_TRY(check_tensor(r, "output", p->output_batch_dimension, p->output_feature_dimension,
                         p->output_spatial_dimensions, output_rank));
    if (p->feature_group_count < 1 || p->batch_group_count < 1) {
        return OP_ERROR(r, "group counts must be at least 1, got: %lld and %lld",
                        (long long)p->feature_group_count, (long long)p->batch_group_count);
    }
    return TSR_OK;
}

/* (size - 1) * dilation + 1, or 0 of nothing; false when it overflows. */
static bool dilated(int64_t size, int64_t dilation, int64_t *out)
{
    *out = 0;
    return size == 0 || (checked_mul(size - 1, dilation, out) && checked_add(*out, 1, out));
}

/* The number of windows along a spatial dimension; unknown where an extent is. */
static tsr_status spatial_extent(const op_request *r, size_t i, int64_t *out)
{
    const convolution_params *p = r->params;
    const int64_t size = r->operands[INPUT].shape[p->input_spatial_dimensions.values[i]];
    const int64_t window = r->operands[KERNEL].shape[p->kernel_spatial_dimensions.values[i]];
    const int64_t stride = or_default(p->window_strides, i, 1);
    const int64_t lhs_dilation = or_default(p->lhs_dilation, i, 1);
    const int64_t rhs_dilation = or_default(p->rhs_dilation, i, 1);
    int64_t padded = 0;
    int64_t reach = 0;
    if (stride < 1 || lhs_dilation < 1 || rhs_dilation < 1) {
        return OP_ERROR(r,
                        "stride %lld and dilations %lld and %lld of spatial dimension %zu must "
                        "be at least 1",
                        (long long)stride, (long long)lhs_dilation, (long long)rhs_dilation, i);
    }
    if (size == TSR_UNKNOWN || window == TSR_UNKNOWN) {
        *out = TSR_UNKNOWN;
        return TSR_OK;
    }
    if (!dilated(size, lhs_dilation, &padded) ||
        !checked_add(padded, or_default(p->padding, 2 * i, 0), &padded) ||
        !checked_add(padded, or_default(p->padding, 2 * i + 1, 0), &padded) ||
        !dilated(window, rhs_dilation, &reach)) {
        return OP_ERROR(r, "spatial dimension %zu, padded and dilated, exceeds 2^63-1", i);
    }
    *out = padded < reach || padded <= 0 ? 0 : (padded - reach) / stride + 1;
    return TSR_OK;
}

/* Features and groups of the two operands against each other. */
static tsr_status check_features(const op_request *r)
{
    const convolution_params *p = r->params;
    const op_type *input = &r->operands[INPUT];
    const op_type *kernel = &r->operands[KERNEL];
    const int64_t features = input->shape[p->input_feature_dimension];
    const int64_t each = kernel->shape[p->kernel_input_feature_dimension];
    const int64_t made = kernel->shape[p->kernel_output_feature_dimension];
    const int64_t batch = input->shape[p->input_batch_dimension];
    const bool known = features != TSR_UNKNOWN && each != TSR_UNKNOWN;
    int64_t all;
    if ((known && !(checked_mul(each, p->feature_group_count, &all) && features == all)) ||
        (made != TSR_UNKNOWN &&
         (made % p->feature_group_count != 0 || made % p->batch_group_count != 0)) ||
        (batch != TSR_UNKNOWN && batch % p->batch_group_count != 0) ||
        (p->feature_group_count > 1 && p->batch_group_count > 1)) {
        return OP_ERROR(r,
                        "%s by %s does not divide into %lld feature groups and %lld batch groups",
                        op_type_text(input).text, op_type_text(kernel).text,
                        (long long)p->feature_group_count, (long long)p->batch_group_count);
    }
    return TSR_OK;
}

static tsr_status check_lists(const op_request *r)
{
    const convolution_params *p = r->params;
    const size_t n = p->input_spatial_dimensions.count;
    const op_ints lists[] = {p->window_strides, p->lhs_dilation, p->rhs_dilation,
                             p->window_reversal};
    bool fits = p->padding.count == 0 || p->padding.count == 2 * n;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        fits = fits && (lists[i].count == 0 || lists[i].count == n);
    }
    return fits ? TSR_OK
                : OP_ERROR(r,
                           "window attributes must have one entry, padding two, for each of %zu "
                           "spatial dimensions",
                           n);
}

static tsr_status convolution_types(const op_request *r, op_type *results)
{
    const convolution_params *p = r->params;
    const op_type *input = &r->operands[INPUT];
    const op_type *kernel = &r->operands[KERNEL];
    const size_t rank = input->rank;
    TSR_TRY(op_same_dtype(r, INPUT, KERNEL));
    TSR_TRY(convolution_check_dims(r, rank));
    TSR_TRY(check_features(r));
    TSR_TRY(check_lists(r));
    int64_t *shape = op_new_shape(r, rank);
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    const int64_t batch = input->shape[p->input_batch_dimension];
    shape[p->output_batch_dimension] = batch == TSR_UNKNOWN ? batch : batch / p->batch_group_count;
    shape[p->output_feature_dimension] = kernel->shape[p->kernel_output_feature_dimension];
    for (size_t i = 0; i < p->output_spatial_dimensions.count; i++) {
        TSR_TRY(spatial_extent(r, i, &shape[p->output_spatial_dimensions.values[i]]));
    }
    results[0] = (op_type){.dtype = input->dtype, .rank = rank, .shape = shape};
    return TSR_OK;
}

/* ---- the rule ---- */

/* A factor of a spatial dimension of the input: what moves the window, or what is in it. */
typedef struct candidate {
    int64_t size;
    tsr_factor_kind kind;
    size_t tensor;
    size_t dim;
} candidate;

static void add_candidate(rule_builder *b, size_t dim, const candidate *c, int64_t *rest)
{
    const int64_t size = min_i64(*rest, c->size);
    if (size <= 1) {
        return;
    }
    const size_t f = rule_factor(b, size, c->kind, false);
    rule_map(b, INPUT, dim, f);
    rule_map(b, c->tensor, c->dim, f);
    *rest /= size;
}

/* The larger of the number of windows and the size of one comes first. */
static void add_spatial(rule_builder *b, const convolution_params *p, const op_request *r,
                        const op_type *output, size_t i)
{
    const size_t dim = (size_t)p->input_spatial_dimensions.values[i];
    const size_t out = (size_t)p->output_spatial_dimensions.values[i];
    const size_t in_kernel = (size_t)p->kernel_spatial_dimensions.values[i];
    const candidate windows = {output->shape[out], TSR_FACTOR_PERMUTATION, OUTPUT, out};
    const candidate window = {r->operands[KERNEL].shape[in_kernel], TSR_FACTOR_REDUCTION, KERNEL,
                              in_kernel};
    const bool windows_first = windows.size >= window.size;
    int64_t rest = r->operands[INPUT].shape[dim];
    add_candidate(b, dim, windows_first ? &windows : &window, &rest);
    add_candidate(b, dim, windows_first ? &window : &windows, &rest);
}

static void add_group(rule_builder *b, const convolution_params *p, int64_t count, int64_t input)
{
    if (count > 1) {
        const size_t f = rule_factor(b, count, TSR_FACTOR_PASS_THROUGH, false);
        rule_map(b, INPUT, (size_t)input, f);
        rule_map(b, KERNEL, (size_t)p->kernel_output_feature_dimension, f);
        rule_map(b, OUTPUT, (size_t)p->output_feature_dimension, f);
    }
}

static tsr_status convolution_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                   const tsr_rule **out)
{
    const convolution_params *p = r->params;
    const op_type *output = &results[0];
    const tsr_extents operands[] = {op_extents(&r->operands[INPUT]),
                                    op_extents(&r->operands[KERNEL])};
    const tsr_extents result = op_extents(output);
    rule_builder b = rule_start(r->ctx, arena, operands, 2, &result, 1);
    add_group(&b, p, p->batch_group_count, p->input_batch_dimension);
    const size_t batch =
        rule_factor(&b, output->shape[p->output_batch_dimension], TSR_FACTOR_PASS_THROUGH, false);
    rule_map(&b, INPUT, (size_t)p->input_batch_dimension, batch);
    rule_map(&b, OUTPUT, (size_t)p->output_batch_dimension, batch);
    for (size_t i = 0; !op_is_conservative(r) && i < p->input_spatial_dimensions.count; i++) {
        add_spatial(&b, p, r, output, i);
    }
    add_group(&b, p, p->feature_group_count, p->input_feature_dimension);
    const size_t features =
        rule_factor(&b, r->operands[KERNEL].shape[p->kernel_input_feature_dimension],
                    TSR_FACTOR_REDUCTION, false);
    rule_map(&b, INPUT, (size_t)p->input_feature_dimension, features);
    rule_map(&b, KERNEL, (size_t)p->kernel_input_feature_dimension, features);
    const int64_t rest =
        output->shape[p->output_feature_dimension] / p->batch_group_count / p->feature_group_count;
    if (rest > 1) {
        const size_t f = rule_factor(&b, rest, TSR_FACTOR_PASS_THROUGH, false);
        rule_map(&b, KERNEL, (size_t)p->kernel_output_feature_dimension, f);
        rule_map(&b, OUTPUT, (size_t)p->output_feature_dimension, f);
    }
    return rule_finish(&b, out);
}

/* ---- on parts ---- */

/*
 * Whether windows side by side are all of the input: parts of one then meet their parts of the
 * kernel. Where windows overlap, leave something out, or interleave, they do not.
 */
static bool is_tiled(const op_request *r, const op_type *output, size_t i)
{
    const convolution_params *p = r->params;
    const int64_t size = r->operands[INPUT].shape[p->input_spatial_dimensions.values[i]];
    const int64_t window = r->operands[KERNEL].shape[p->kernel_spatial_dimensions.values[i]];
    const int64_t windows = output->shape[p->output_spatial_dimensions.values[i]];
    const bool plain =
        or_default(p->padding, 2 * i, 0) == 0 && or_default(p->padding, 2 * i + 1, 0) == 0 &&
        or_default(p->lhs_dilation, i, 1) == 1 && or_default(p->rhs_dilation, i, 1) == 1 &&
        or_default(p->window_reversal, i, 0) == 0 &&
        (windows == 1 || or_default(p->window_strides, i, 1) == window);
    int64_t covered;
    return plain && (windows >= window || windows == 1) && checked_mul(windows, window, &covered) &&
           covered == size;
}

static void convolution_local(const op_request *r, const op_type *results, const tsr_rule *rule,
                              bool *whole)
{
    const convolution_params *p = r->params;
    for (size_t i = 0; i < p->kernel_spatial_dimensions.count; i++) {
        const size_t dim = (size_t)p->kernel_spatial_dimensions.values[i];
        const size_t f = tsr_rule_operand(rule, KERNEL)->dims[dim].factors[0];
        whole[f] = !is_tiled(r, &results[0], i);
    }
}

/* ---- the kernel ---- */

static void to_sizes(op_ints list, size_t *out)
{
    for (size_t i = 0; i < list.count; i++) {
        out[i] = (size_t)list.values[i];
    }
}

/* What the kernel is asked for; false when a window has no extent, or something overflows. */
static bool job_of(const convolution_params *p, const op_type *input, const op_type *kernel,
                   convolution_job *job)
{
    const size_t n = p->input_spatial_dimensions.count;
    *job = (convolution_job){.input_batch = (size_t)p->input_batch_dimension,
                             .input_feature = (size_t)p->input_feature_dimension,
                             .kernel_input = (size_t)p->kernel_input_feature_dimension,
                             .kernel_output = (size_t)p->kernel_output_feature_dimension,
                             .output_batch = (size_t)p->output_batch_dimension,
                             .output_feature = (size_t)p->output_feature_dimension,
                             .feature_groups = p->feature_group_count,
                             .batch_groups = p->batch_group_count};
    to_sizes(p->input_spatial_dimensions, job->input_spatial);
    to_sizes(p->kernel_spatial_dimensions, job->kernel_spatial);
    to_sizes(p->output_spatial_dimensions, job->output_spatial);
    job->window.rank = n;
    for (size_t i = 0; i < n; i++) {
        job->reversed[i] = or_default(p->window_reversal, i, 0) != 0;
        job->window.input[i] = input->shape[job->input_spatial[i]];
        job->window.size[i] = kernel->shape[job->kernel_spatial[i]];
        job->window.stride[i] = or_default(p->window_strides, i, 1);
        job->window.input_dilation[i] = or_default(p->lhs_dilation, i, 1);
        job->window.dilation[i] = or_default(p->rhs_dilation, i, 1);
        job->window.before[i] = or_default(p->padding, 2 * i, 0);
        job->window.after[i] = or_default(p->padding, 2 * i + 1, 0);
    }
    return window_fit(&job->window);
}

static bool convolution_supports(const op_request *r, const op_type *results)
{
    convolution_job job;
    return dot_supports(r->operands[INPUT].dtype) &&
           r->operands[KERNEL].dtype == r->operands[INPUT].dtype &&
           results[0].dtype == r->operands[INPUT].dtype && results[0].rank + 3 <= OP_MAX_RANK / 2 &&
           job_of(r->params, &r->operands[INPUT], &r->operands[KERNEL], &job);
}

static convolution_job job_of_call(const op_call *c)
{
    const tsr_view *input = &c->operands[INPUT].view;
    const tsr_view *kernel = &c->operands[KERNEL].view;
    const op_type types[] = {{input->dtype, input->rank, input->shape},
                             {kernel->dtype, kernel->rank, kernel->shape}};
    convolution_job job;
    (void)job_of(c->params, &types[0], &types[1], &job);
    job.input = input;
    job.kernel = kernel;
    job.dst = &c->results[0].view;
    return job;
}

static size_t convolution_scratch(const op_call *c)
{
    const convolution_job job = job_of_call(c);
    return kernel_convolution_scratch(&job);
}

static void convolution_run(const op_call *c, void *scratch)
{
    const convolution_job job = job_of_call(c);
    kernel_convolution(&job, scratch);
}

const op_row op_convolution = {.name = "convolution",
                               .alike = OP_ALIKE_ALL,
                               .num_operands = 2,
                               .num_results = 1,
                               .fields = &convolution_fields,
                               .types = convolution_types,
                               .rule = convolution_rule,
                               .local = convolution_local,
                               .class_of = class_multilinear,
                               .supports = convolution_supports,
                               .scratch = convolution_scratch,
                               .run = convolution_run};

static const op_row *const rows[] = {&op_convolution};
const op_family family_convolution = {rows, sizeof rows / sizeof rows[0]};

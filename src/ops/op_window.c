#include "ops/op_window.h"

#include "ops/rule_build.h"
#include "ops/run_window.h"

#define PASS TSR_FACTOR_PASS_THROUGH

static const op_field reduce_window_list[] = {
    OP_FIELD(reduce_window_params, window_dimensions, INTS),
    OP_FIELD(reduce_window_params, window_strides, INTS),
    OP_FIELD(reduce_window_params, base_dilations, INTS),
    OP_FIELD(reduce_window_params, window_dilations, INTS),
    OP_FIELD(reduce_window_params, padding, INTS),
    OP_FIELD(reduce_window_params, body, REGION)};
static const op_fields reduce_window_fields = OP_FIELDS(reduce_window_params, reduce_window_list);

static const op_field select_and_scatter_list[] = {
    OP_FIELD(select_and_scatter_params, window_dimensions, INTS),
    OP_FIELD(select_and_scatter_params, window_strides, INTS),
    OP_FIELD(select_and_scatter_params, padding, INTS),
    OP_FIELD(select_and_scatter_params, select, REGION),
    OP_FIELD(select_and_scatter_params, scatter, REGION)};
static const op_fields select_and_scatter_fields =
    OP_FIELDS(select_and_scatter_params, select_and_scatter_list);

/* What the rules look at in windows; each list is empty when it is left out. */
typedef struct windows {
    op_ints sizes;
    op_ints strides;
    op_ints padding;
} windows;

/* Whether each list is left out, or is as long as the rank wants it. */
static bool windows_fit(const windows *w, size_t rank)
{
    return (w->sizes.count == 0 || w->sizes.count == rank) &&
           (w->strides.count == 0 || w->strides.count == rank) &&
           (w->padding.count == 0 || w->padding.count == 2 * rank);
}

static bool is_or_absent(op_ints list, size_t at, int64_t value)
{
    return list.count == 0 || list.values[at] == value;
}

/* Whether each element of a dimension is a window of its own. */
static bool passes_through(const windows *w, size_t d)
{
    return is_or_absent(w->sizes, d, 1) && is_or_absent(w->strides, d, 1) &&
           is_or_absent(w->padding, 2 * d, 0) && is_or_absent(w->padding, 2 * d + 1, 0);
}

/* Half of the operands are initial values. */
static size_t one_for_two(size_t num_operands)
{
    return num_operands % 2 == 0 ? num_operands / 2 : 0;
}

static tsr_status reduce_window_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                     const tsr_rule **out)
{
    const reduce_window_params *p = r->params;
    const windows w = {p->window_dimensions, p->window_strides, p->padding};
    const size_t rank = results[0].rank;
    tsr_factor factors[OP_MAX_RANK];
    if (!windows_fit(&w, rank)) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t d = 0; d < rank; d++) {
        const bool passes = passes_through(&w, d);
        factors[d] = (tsr_factor){results[0].shape[d], passes ? PASS : TSR_FACTOR_PERMUTATION,
                                  !passes && op_is_conservative(r)};
    }
    return op_rule_each(r, results, arena, factors, rank, out);
}

const op_row op_reduce_window = {.name = "reduce_window",
                                 .alike = OP_ALIKE_INPUTS,
                                 .traits = OP_VARIADIC,
                                 .num_operands = 2,
                                 .count_results = one_for_two,
                                 .fields = &reduce_window_fields,
                                 .rule = reduce_window_rule,
                                 .supports = reduce_window_supports,
                                 .run = reduce_window_run};

static tsr_status select_and_scatter_rule(const op_request *r, const op_type *results,
                                          tsr_arena *arena, const tsr_rule **out)
{
    const select_and_scatter_params *p = r->params;
    const windows w = {p->window_dimensions, p->window_strides, p->padding};
    const op_type *source = &r->operands[1];
    const bool blocked = op_is_conservative(r);
    const size_t rank = results[0].rank;
    if (!windows_fit(&w, rank) || r->operands[0].rank != rank || source->rank != rank ||
        r->operands[2].rank != 0) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = op_rule_start(r, results, arena);
    for (size_t d = 0; d < rank; d++) {
        if (passes_through(&w, d)) {
            rule_put_each(&b, d, rule_factor(&b, results[0].shape[d], PASS, false));
            continue;
        }
        rule_map(&b, 1, d, rule_factor(&b, source->shape[d], TSR_FACTOR_NEED_REPLICATION, blocked));
        const size_t moved = rule_factor(&b, results[0].shape[d], TSR_FACTOR_PERMUTATION, blocked);
        rule_map(&b, 0, d, moved);
        rule_map(&b, 3, d, moved);
    }
    return rule_finish(&b, out);
}

const op_row op_select_and_scatter = {.name = "select_and_scatter",
                                      .alike = OP_ALIKE_ALL,
                                      .num_operands = 3,
                                      .num_results = 1,
                                      .fields = &select_and_scatter_fields,
                                      .rule = select_and_scatter_rule,
                                      .supports = select_and_scatter_supports,
                                      .run = select_and_scatter_run};

static const op_row *const rows[] = {&op_reduce_window, &op_select_and_scatter};
const op_family family_window = {rows, sizeof rows / sizeof rows[0]};

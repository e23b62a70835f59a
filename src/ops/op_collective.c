#include "ops/op_collective.h"

#include "ops/rule_build.h"

#define NEED TSR_FACTOR_NEED_REPLICATION

static size_t one_each(size_t num_operands)
{
    return num_operands;
}

static const op_field all_gather_list[] = {OP_FIELD(all_gather_params, all_gather_dim, INT)};
static const op_fields all_gather_fields = OP_FIELDS(all_gather_params, all_gather_list);

static const op_field all_to_all_list[] = {OP_FIELD(all_to_all_params, split_dimension, INT),
                                           OP_FIELD(all_to_all_params, concat_dimension, INT),
                                           OP_FIELD(all_to_all_params, split_count, INT)};
static const op_fields all_to_all_fields = OP_FIELDS(all_to_all_params, all_to_all_list);

static const op_field reduce_scatter_list[] = {
    OP_FIELD(reduce_scatter_params, scatter_dimension, INT)};
static const op_fields reduce_scatter_fields =
    OP_FIELDS(reduce_scatter_params, reduce_scatter_list);

/* A dimension that the ranks exchange: whole before, and whole after. */
static void exchange(rule_builder *b, const op_request *r, const op_type *results, size_t dim)
{
    op_put_operands(b, r, dim, rule_factor(b, r->operands[0].shape[dim], NEED, false));
    op_put_results(b, r, results, dim, rule_factor(b, results[0].shape[dim], NEED, false));
}

/* Dimensions pass through but for two, which may be one, that the ranks exchange. */
static tsr_status exchange_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                int64_t first, int64_t second, const tsr_rule **out)
{
    const size_t rank = r->operands[0].rank;
    if (!is_dim(first, rank) || !is_dim(second, rank) || results[0].rank != rank ||
        !op_each_has_rank(r, results, rank)) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = op_rule_start(r, results, arena);
    for (size_t d = 0; d < rank; d++) {
        if ((int64_t)d != first && (int64_t)d != second) {
            op_put_dims(&b, r, d, d + 1);
        }
    }
    exchange(&b, r, results, (size_t)first);
    if (second != first) {
        exchange(&b, r, results, (size_t)second);
    }
    return rule_finish(&b, out);
}

static tsr_status all_gather_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                  const tsr_rule **out)
{
    const all_gather_params *p = r->params;
    return exchange_rule(r, results, arena, p->all_gather_dim, p->all_gather_dim, out);
}

static tsr_status all_to_all_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                  const tsr_rule **out)
{
    const all_to_all_params *p = r->params;
    return exchange_rule(r, results, arena, p->split_dimension, p->concat_dimension, out);
}

static tsr_status reduce_scatter_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                      const tsr_rule **out)
{
    const reduce_scatter_params *p = r->params;
    return exchange_rule(r, results, arena, p->scatter_dimension, p->scatter_dimension, out);
}

const op_row op_all_gather = {.name = "all_gather",
                              .traits = OP_VARIADIC,
                              .num_operands = 1,
                              .count_results = one_each,
                              .fields = &all_gather_fields,
                              .rule = all_gather_rule};

const op_row op_all_reduce = {.name = "all_reduce",
                              .traits = OP_VARIADIC,
                              .num_operands = 1,
                              .count_results = one_each,
                              .rule = op_rule_pointwise};

const op_row op_all_to_all = {.name = "all_to_all",
                              .traits = OP_VARIADIC,
                              .num_operands = 1,
                              .count_results = one_each,
                              .fields = &all_to_all_fields,
                              .rule = all_to_all_rule};

const op_row op_collective_broadcast = {.name = "collective_broadcast",
                                        .traits = OP_VARIADIC,
                                        .num_operands = 1,
                                        .count_results = one_each,
                                        .rule = op_rule_pointwise};

const op_row op_collective_permute = {
    .name = "collective_permute", .num_operands = 1, .num_results = 1, .rule = op_rule_pointwise};

const op_row op_cross_replica_sum = {
    .name = "cross-replica-sum", .num_operands = 1, .num_results = 1, .rule = op_rule_pointwise};

const op_row op_reduce_scatter = {.name = "reduce_scatter",
                                  .num_operands = 1,
                                  .num_results = 1,
                                  .fields = &reduce_scatter_fields,
                                  .rule = reduce_scatter_rule};

static const op_row *const rows[] = {
    &op_all_gather,         &op_all_reduce,        &op_all_to_all,    &op_collective_broadcast,
    &op_collective_permute, &op_cross_replica_sum, &op_reduce_scatter};
const op_family family_collective = {rows, sizeof rows / sizeof rows[0]};

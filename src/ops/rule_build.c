#include "ops/rule_build.h"

#include "base/arena.h"

rule_builder op_rule_start(const op_request *r, const op_type *results, tsr_arena *arena)
{
    const size_t num_results = op_request_results(r);
    tsr_extents *extents = ARENA_ARRAY(arena, tsr_extents, r->num_operands + num_results);
    if (extents == NULL) {
        return (rule_builder){.ctx = r->ctx, .arena = arena, .failed = true};
    }
    for (size_t i = 0; i < r->num_operands; i++) {
        extents[i] = op_extents(&r->operands[i]);
    }
    for (size_t i = 0; i < num_results; i++) {
        extents[r->num_operands + i] = op_extents(&results[i]);
    }
    return rule_start(r->ctx, arena, extents, r->num_operands, extents + r->num_operands,
                      num_results);
}

static const op_type *tensor_at(const op_request *r, const op_type *results, size_t i)
{
    return i < r->num_operands ? &r->operands[i] : &results[i - r->num_operands];
}

bool op_each_has_rank(const op_request *r, const op_type *results, size_t rank)
{
    for (size_t i = 0; i < r->num_operands + op_request_results(r); i++) {
        const size_t its = tensor_at(r, results, i)->rank;
        if (its != 0 && its != rank) {
            return false;
        }
    }
    return r->num_operands > 0;
}

tsr_status op_rule_pointwise(const op_request *r, const op_type *results, tsr_arena *arena,
                             const tsr_rule **out)
{
    const size_t count = r->num_operands + op_request_results(r);
    if (r->num_operands == 0 || op_request_results(r) == 0) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t i = 0; i < count; i++) {
        if (tensor_at(r, results, i)->rank > results[0].rank) {
            return TSR_NOT_APPLICABLE;
        }
    }
    rule_builder b = op_rule_start(r, results, arena);
    for (size_t d = 0; d < results[0].rank; d++) {
        const size_t factor = rule_factor(&b, results[0].shape[d], TSR_FACTOR_PASS_THROUGH, false);
        for (size_t i = 0; i < count; i++) {
            rule_put(&b, i, d < tensor_at(r, results, i)->rank ? d : NO_DIM, factor);
        }
    }
    return rule_finish(&b, out);
}

tsr_status op_rule_each(const op_request *r, const op_type *results, tsr_arena *arena,
                        const tsr_factor *factors, size_t rank, const tsr_rule **out)
{
    if (!op_each_has_rank(r, results, rank)) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = op_rule_start(r, results, arena);
    for (size_t d = 0; d < rank; d++) {
        rule_put_each(&b, d, rule_factor(&b, factors[d].size, factors[d].kind, factors[d].blocked));
    }
    return rule_finish(&b, out);
}

tsr_status op_rule_mismatch(const op_request *r, const op_type *results, tsr_arena *arena,
                            tsr_factor_kind kind, bool blocked, const tsr_rule **out)
{
    tsr_factor factors[OP_MAX_RANK];
    if (r->num_operands == 0 || op_request_results(r) == 0 ||
        r->operands[0].rank != results[0].rank) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t d = 0; d < results[0].rank; d++) {
        const int64_t size = r->operands[0].shape[d];
        const bool differs = size != results[0].shape[d];
        factors[d] =
            (tsr_factor){size, differs ? kind : TSR_FACTOR_PASS_THROUGH, differs && blocked};
    }
    return op_rule_each(r, results, arena, factors, results[0].rank, out);
}

void op_put_operands(rule_builder *b, const op_request *r, size_t dim, size_t factor)
{
    for (size_t i = 0; i < r->num_operands; i++) {
        rule_put(b, i, r->operands[i].rank > 0 ? dim : NO_DIM, factor);
    }
}

void op_put_results(rule_builder *b, const op_request *r, const op_type *results, size_t dim,
                    size_t factor)
{
    for (size_t i = 0; i < op_request_results(r); i++) {
        rule_put(b, r->num_operands + i, results[i].rank > 0 ? dim : NO_DIM, factor);
    }
}

void op_put_dims(rule_builder *b, const op_request *r, size_t first, size_t last)
{
    for (size_t d = first; d < last; d++) {
        rule_put_each(b, d,
                      rule_factor(b, r->operands[0].shape[d], TSR_FACTOR_PASS_THROUGH, false));
    }
}

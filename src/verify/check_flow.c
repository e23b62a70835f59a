/* The rules of branches, loops and maps. */
#include "base/arena.h"
#include "verify/check.h"
#include "verify/check_ops.h"

static bool lists_compatible(const tsr_program *p, const uint32_t *a, size_t n, const uint32_t *b,
                             size_t m)
{
    if (n != m) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!types_compatible(p, a[i], b[i])) {
            return false;
        }
    }
    return true;
}

tsr_status infer_branches(const ir_check *k, inferred_types *out)
{
    const size_t count = program_op(k->p, k->op)->num_regions;
    region_parts first = {0};
    if (operand(k, 0)->count != 0) {
        return refuse(k, "operand should be rank 0 tensor but got rank %u", operand(k, 0)->count);
    }
    if (count == 0) {
        return refuse(k, "expect at least one branch");
    }
    for (size_t i = 0; i < count; i++) {
        region_parts parts;
        TSR_TRY(region_parts_of(k, i, &parts));
        if (parts.num_arguments != 0) {
            return refuse(k, "branch %zu must have 0 arguments, but found %zu", i,
                          parts.num_arguments);
        }
        first = i == 0 ? parts : first;
        if (!lists_compatible(k->p, first.returned, first.num_returned, parts.returned,
                              parts.num_returned)) {
            return refuse(k, "branch 0 and branch %zu have mismatched return types: %s vs %s", i,
                          types_words(k, first.returned, first.num_returned),
                          types_words(k, parts.returned, parts.num_returned));
        }
    }
    *out = (inferred_types){first.returned, first.num_returned};
    return TSR_OK;
}

static tsr_status check_loop(const ir_check *k, const uint32_t *types, size_t count,
                             const char *what, const uint32_t *others, size_t num_others)
{
    return lists_compatible(k->p, types, count, others, num_others)
               ? TSR_OK
               : refuse(k, "expect operands to be compatible with %s but got %s vs %s", what,
                        types_words(k, types, count), types_words(k, others, num_others));
}

tsr_status check_while(const ir_check *k)
{
    const size_t n = num_operands(k);
    uint32_t *types = ARENA_ARRAY(k->p->scratch, uint32_t, n + 1);
    region_parts condition;
    region_parts body;
    if (types == NULL) {
        return diag_nomem(k->ctx);
    }
    for (size_t i = 0; i < n; i++) {
        types[i] = operand_type(k, i);
    }
    TSR_TRY(region_parts_of(k, 0, &condition));
    TSR_TRY(region_parts_of(k, 1, &body));
    TSR_TRY(check_loop(k, types, n, "condition block arguments", condition.arguments,
                       condition.num_arguments));
    TSR_TRY(check_loop(k, types, n, "body block arguments", body.arguments, body.num_arguments));
    TSR_TRY(check_loop(k, types, n, "body block return types", body.returned, body.num_returned));
    if (condition.num_returned != 1) {
        return refuse(k, "expect condition body returns a single value but got %zu",
                      condition.num_returned);
    }
    return is_scalar_i1(k->p, condition.returned[0])
               ? TSR_OK
               : refuse(k, "expect condition block return a zero-ranked tensor of i1 but got '%s'",
                        type_words(k, condition.returned[0]));
}

/* ---- maps ---- */

static tsr_status check_map_arguments(const ir_check *k, const region_parts *parts)
{
    for (size_t i = 0; i < parts->num_arguments; i++) {
        const type_head *argument = program_type(k->p, parts->arguments[i]);
        if (argument->kind != TYPE_TENSOR || argument->count != 0) {
            return refuse(k,
                          "computation arguments must be 0-rank tensor, but got: arg #%zu of type "
                          "'%s'",
                          i, type_words(k, parts->arguments[i]));
        }
        if (argument->element != operand(k, i)->element) {
            return refuse(k,
                          "element type of operands and computation arguments must match, but got: "
                          "'%s' and '%s'",
                          type_words(k, operand(k, i)->element), type_words(k, argument->element));
        }
    }
    return TSR_OK;
}

static tsr_status check_map_dimensions(const ir_check *k)
{
    const numbers dims = op_numbers(k, "dimensions");
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.values[i] != (int64_t)i) {
            return refuse(k, "requires monotonically increasing dimension numbers, but got: %s",
                          words_of(dims.values, dims.count).text);
        }
    }
    for (size_t i = 0; i < num_operands(k); i++) {
        if (operand(k, i)->count != dims.count) {
            return refuse(k,
                          "applied to a subset of dimensions currently not supported: operand "
                          "dimensions = %u, requested map dimensions size = %zu",
                          operand(k, i)->count, dims.count);
        }
    }
    return TSR_OK;
}

tsr_status infer_map(const ir_check *k, inferred_types *out)
{
    region_parts parts;
    TSR_TRY(region_parts_of(k, 0, &parts));
    if (parts.num_arguments != num_operands(k)) {
        return refuse(k,
                      "expects number of operands to match the arity of map computation, but got: "
                      "%zu and %zu",
                      num_operands(k), parts.num_arguments);
    }
    TSR_TRY(check_map_arguments(k, &parts));
    if (parts.num_returned != 1) {
        return refuse(k, "computation must return single output, but got: %zu", parts.num_returned);
    }
    const type_head *returned = program_type(k->p, parts.returned[0]);
    if (returned->kind != TYPE_TENSOR || returned->count != 0) {
        return refuse(k, "computation must return 0-rank tensor, but got: '%s'",
                      type_words(k, parts.returned[0]));
    }
    TSR_TRY(check_map_dimensions(k));
    return infer_tensor(k, type_extents(operand(k, 0)), operand(k, 0)->count, returned->element,
                        out);
}

/* Custom calls that have a plain meaning on one device. */
#include <stdio.h>
#include <string.h>

#include "interp/machine.h"
#include "interp/steps_check.h"
#include "interp/steps_lapack.h"

static tsr_status run_first(interp_machine *m, const code_step *step)
{
    for (size_t i = 0; i < step->num_results; i++) {
        interp_set_result(m, step, i, interp_array_keep(interp_operand(m, step, i)));
    }
    return TSR_OK;
}

/* Calls that say where a value is, and give it as it is. */
static const char *const annotations[] = {"Sharding",
                                          "annotate_device_placement",
                                          "xla.sdy.FuncResultSharding",
                                          "xla.sdy.PropagationBarrier",
                                          "xla.sdy.ShardingGroup",
                                          "SPMDFullToShardShape",
                                          "SPMDShardToFullShape",
                                          "MoveToDevice",
                                          "MoveToHost",
                                          "LayoutConstraint",
                                          NULL};

static bool passes_on(const code_step *step)
{
    if (step->num_results > step->num_operands) {
        return false;
    }
    for (size_t i = 0; i < step->num_results; i++) {
        if (step->types[i] != step->types[step->num_operands + i]) {
            return false;
        }
    }
    return true;
}

/* The reduction of an approximate top-k that is exact: of values and their iota, the greatest along
 * the last dimension, which is what its comparator must ask for. */
static bool is_exact_top_k(const code_decoder *d, const code_step *step)
{
    const tsr_program *p = d->code->program;
    const uint32_t config = tsr_ir_op_attribute(p, step->op, "mhlo.backend_config");
    const uint32_t called = op_property(p, step->op, "called_computations");
    int64_t dim = -1;
    int64_t k = 0;
    slice name = {"", 0};
    if (step->num_operands != 4 || step->types[0]->kind != CODE_TENSOR ||
        !attr_is(p, called, ATTR_ARRAY) || program_attr(p, called)->count != 1 ||
        !attr_as_symbol(p, attr_list(program_attr(p, called))[0], &name)) {
        return false;
    }
    (void)attr_as_integer(p, dict_get(p, config, "reduction_dim"), &dim);
    (void)attr_as_integer(p, dict_get(p, config, "top_k"), &k);
    const op_type *x = &step->types[0]->tensor;
    const op_type *to = &step->types[4]->tensor;
    return dim + 1 == (int64_t)x->rank && to->rank == x->rank && x->rank > 0 &&
           to->shape[x->rank - 1] == k && name.size > 8 && memcmp(name.data, "top_k_gt", 8) == 0;
}

static const char *const top_k_calls[] = {"TopK", "mhlo.topk", NULL};

static bool is_listed(const char *const *list, slice target)
{
    for (size_t i = 0; list[i] != NULL; i++) {
        if (slice_is(target, list[i])) {
            return true;
        }
    }
    return false;
}

static tsr_status prepare_custom_call(code_decoder *d, code_step *step)
{
    const tsr_program *p = d->code->program;
    slice target = {"", 0};
    (void)attr_as_string(p, op_property(p, step->op, "call_target_name"), &target);
    tsr_status status = interp_prepare_check_call(d, step, target);
    if (status == TSR_NOT_APPLICABLE) {
        status = interp_prepare_lapack(d, step, target);
    }
    if (status != TSR_NOT_APPLICABLE) {
        return status;
    }
    if (is_listed(annotations, target) && passes_on(step)) {
        step->action = run_first;
        return TSR_OK;
    }
    if (is_listed(top_k_calls, target) ||
        (slice_is(target, "ApproxTopK") && is_exact_top_k(d, step))) {
        return interp_prepare_top_k(d, step);
    }
    char why[128];
    (void)snprintf(why, sizeof why, "with target @%.*s", (int)(target.size < 80 ? target.size : 80),
                   target.data);
    return code_unsupported(d->code, step->op, why);
}

const code_op interp_ops_custom[OP_KIND_COUNT] = {
    [OP_STABLEHLO_CUSTOM_CALL] = {.prepare = prepare_custom_call},
};

/* Custom calls that have a plain meaning on one device. */
#include <stdio.h>

#include "exec/machine.h"
#include "exec/steps_check.h"

static tsr_status run_first(exec_machine *m, const exec_step *step)
{
    for (size_t i = 0; i < step->num_results; i++) {
        exec_set_result(m, step, i, exec_array_keep(exec_operand(m, step, i)));
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

static bool passes_on(const exec_step *step)
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

static tsr_status prepare_custom_call(exec_decoder *d, exec_step *step)
{
    const tsr_program *p = d->code->program;
    slice target = {"", 0};
    (void)attr_as_string(p, op_property(p, step->op, "call_target_name"), &target);
    const tsr_status status = exec_prepare_check_call(d, step, target);
    if (status != TSR_NOT_APPLICABLE) {
        return status;
    }
    for (size_t i = 0; annotations[i] != NULL; i++) {
        if (slice_is(target, annotations[i]) && passes_on(step)) {
            step->action = run_first;
            return TSR_OK;
        }
    }
    char why[128];
    (void)snprintf(why, sizeof why, "with target @%.*s", (int)(target.size < 80 ? target.size : 80),
                   target.data);
    return exec_unsupported(d->code, step->op, why);
}

const exec_op exec_ops_custom[] = {
    {"stablehlo.custom_call", prepare_custom_call, NULL},
    {NULL, NULL, NULL},
};

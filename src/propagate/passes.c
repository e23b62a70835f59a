#include "propagate/passes.h"

#include <string.h>

#include "base/base.h"
#include "ir/message.h"
#include "propagate/debug.h"
#include "propagate/state.h"

static tsr_status propagate(propagation *s)
{
    TSR_TRY(debug_start(s));
    TSR_TRY(ragged_hand_on(s));
    TSR_TRY(priorities_run(s));
    TSR_TRY(debug_store(s));
    TSR_TRY(places_store(s));
    if (s->options->as_xla) {
        TSR_TRY(report_unknown(s));
        TSR_TRY(report_meshes(s));
    }
    return rules_store(s);
}

/* Groups whose members differ add ops, after which all is read anew. */
static tsr_status start(tsr_context *ctx, tsr_program *p, const prop_options *options,
                        propagation *s)
{
    bool separated = true;
    while (separated) {
        TSR_TRY(propagation_start(ctx, p, options, s));
        const tsr_status status = groups_load(s, &separated);
        if (status < 0 || separated) {
            propagation_end(s);
        }
        if (status < 0) {
            return status;
        }
        if (separated) {
            ir_shardings_refresh(p);
        }
    }
    return TSR_OK;
}

static tsr_status run(tsr_context *ctx, tsr_program *p, const prop_options *options)
{
    propagation s;
    if (options->origins) {
        TSR_TRY(origins_name(p));
    }
    TSR_TRY(start(ctx, p, options, &s));
    const tsr_status status = propagate(&s);
    propagation_end(&s);
    return status;
}

static prop_options common_options(const tsr_pass_options *options)
{
    return (prop_options){.keep_rules = tsr_option_bool(options, "keep-sharding-rules"),
                          .conservative = tsr_option_bool(options, "conservative-propagation"),
                          .as_xla = tsr_option_bool(options, "as-xla"),
                          .steps = tsr_option_bool(options, "debug-propagation-edge-sharding"),
                          .origins = tsr_option_bool(options, "debug-sharding-origins")};
}

static void set_strategy(prop_options *out, const tsr_pass_options *options)
{
    const char *strategy = tsr_option_text(options, "propagation-strategy");
    const bool basic = strncmp(strategy, "basic", 5) == 0;
    if (basic) {
        out->strategies[out->num_strategies++] = TSR_STRATEGY_BASIC;
    }
    if (strcmp(strategy, "basic") != 0) {
        out->strategies[out->num_strategies++] = TSR_STRATEGY_AGGRESSIVE;
    }
}

tsr_status pass_basic(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    prop_options o = common_options(options);
    o.strategies[o.num_strategies++] = TSR_STRATEGY_BASIC;
    return run(ctx, p, &o);
}

tsr_status pass_aggressive(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    prop_options o = common_options(options);
    set_strategy(&o, options);
    return run(ctx, p, &o);
}

tsr_status pass_op_priority(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    prop_options o = common_options(options);
    set_strategy(&o, options);
    o.by_op_priority = tsr_option_bool(options, "run-op-priority-propagation");
    return run(ctx, p, &o);
}

tsr_status pass_user_priority(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    prop_options o = common_options(options);
    set_strategy(&o, options);
    o.by_op_priority = tsr_option_bool(options, "run-op-priority-propagation");
    o.by_user_priority = true;
    o.last_priority = tsr_option_integer(options, "until-priority");
    return run(ctx, p, &o);
}

tsr_status propagate_with_reasons(tsr_context *ctx, tsr_program *p, int64_t until,
                                  const provenance_request *request)
{
    const prop_options o = {.keep_rules = true,
                            .as_xla = true,
                            .by_op_priority = true,
                            .by_user_priority = true,
                            .last_priority = until,
                            .why = request,
                            .strategies = {TSR_STRATEGY_AGGRESSIVE},
                            .num_strategies = 1};
    return run(ctx, p, &o);
}

tsr_status pass_populate_rules(tsr_context *ctx, tsr_program *p, const tsr_pass_options *options)
{
    const prop_options o = {.keep_rules = true,
                            .conservative = tsr_option_bool(options, "conservative-propagation"),
                            .as_xla = tsr_option_bool(options, "as-xla")};
    propagation s;
    TSR_TRY(rules_start(ctx, p, &o, &s));
    tsr_status status = TSR_OK;
    for (uint32_t op = p->module; op != 0 && status >= 0; op = op_walk_next(p, p->module, op)) {
        const tsr_rule *rule = NULL;
        status = rule_of_op(&s, op, &rule);
    }
    if (status >= 0) {
        status = rules_store(&s);
    }
    propagation_end(&s);
    return status;
}

/* The table of passes: one row for each pass and each pipeline. */
#include <string.h>

#include <tessera/pass.h>

#include "base/base.h"
#include "base/guard.h"
#include "ir/edit.h"
#include "ir/shardings.h"
#include "pass/contracts.h"
#include "pass/pipelines.h"
#include "propagate/passes.h"
#include "transform/call_graph.h"
#include "transform/passes.h"

/* ---- rows ---- */

#define KEEP_RULES                                                                                 \
    {                                                                                              \
        "keep-sharding-rules", TSR_OPTION_BOOL, "false", "keep sharding rules on the ops"          \
    }
#define DUMP_DIRECTORY                                                                             \
    {                                                                                              \
        "module-dump-directory", TSR_OPTION_TEXT, "",                                              \
            "directory to write the program to (ignored)"                                          \
    }
#define CONSERVATIVE                                                                               \
    {                                                                                              \
        "conservative-propagation", TSR_OPTION_BOOL, "false",                                      \
            "do not propagate sub-axes or factors that need halos"                                 \
    }
#define DEBUG_ORIGINS                                                                              \
    {                                                                                              \
        "debug-sharding-origins", TSR_OPTION_BOOL, "false",                                        \
            "record on each op the origin of its axes"                                             \
    }
#define DEBUG_EDGES                                                                                \
    {                                                                                              \
        "debug-propagation-edge-sharding", TSR_OPTION_BOOL, "false",                               \
            "record on each op the step that propagated its axes"                                  \
    }
#define STRATEGY                                                                                   \
    {                                                                                              \
        "propagation-strategy", TSR_OPTION_TEXT, "aggressive",                                     \
            "basic, aggressive or basic-then-aggressive"                                           \
    }
#define OP_PRIORITY                                                                                \
    {                                                                                              \
        "run-op-priority-propagation", TSR_OPTION_BOOL, "true", "propagate by op priorities"       \
    }

#define UNTIL                                                                                      \
    {                                                                                              \
        "until-priority", TSR_OPTION_INTEGER, "-1", "last user priority to propagate; -1 for all"  \
    }

#define AS_XLA                                                                                     \
    {                                                                                              \
        "as-xla", TSR_OPTION_BOOL, "false",                                                        \
            "propagate through the chlo ops and composites that XLA rewrites before propagation"   \
    }

static const tsr_pass_option rules_options[] = {CONSERVATIVE, AS_XLA};
static const tsr_pass_option propagation_options[] = {KEEP_RULES,    DUMP_DIRECTORY, CONSERVATIVE,
                                                      DEBUG_ORIGINS, DEBUG_EDGES,    AS_XLA,
                                                      STRATEGY,      OP_PRIORITY,    UNTIL};

enum { BASIC_OPTIONS = 6, AGGRESSIVE_OPTIONS = 7, PRIORITY_OPTIONS = 8, USER_OPTIONS = 9 };

static const tsr_pass_option constraint_options[] = {DEBUG_ORIGINS, DEBUG_EDGES};

static const tsr_pass_option sink_options[] = {
    {"sink-debug-sharding-origins", TSR_OPTION_BOOL, "false", "keep origins"},
    {"sink-debug-propagation-edge-sharding", TSR_OPTION_BOOL, "false", "keep steps"},
};

static const tsr_pass_option import_calls_options[] = {
    {"add-data-flow-edges-on-named-computations", TSR_OPTION_BOOL, "true",
     "add edges to named computations"},
};

static const tsr_pass_option reshard_options[] = {
    {"enable-full-version", TSR_OPTION_BOOL, "false", "insert reshards for all ops"},
    AS_XLA,
};

static const tsr_pass_option canonicalize_options[] = {
    {"enable-patterns", TSR_OPTION_TEXT, "", "rewrite patterns to apply (default: all known)"},
    {"region-simplify", TSR_OPTION_TEXT, "normal", "level of region simplification (ignored)"},
};

/* A pass without options. */
#define PASS(name, title, help, run)                                                               \
    {                                                                                              \
        name, title, help, NULL, 0, run, NULL                                                      \
    }

#define DEDUP                                                                                      \
    {                                                                                              \
        "dedup-functions-fully", TSR_OPTION_BOOL, "false",                                         \
            "merge functions that differ in shardings only"                                        \
    }
static const tsr_pass_option dedup_options[] = {DEDUP};
static const tsr_pass_option propagation_pipeline_options[] = {
    KEEP_RULES, DUMP_DIRECTORY, CONSERVATIVE, DEBUG_ORIGINS, DEBUG_EDGES, AS_XLA, DEDUP, UNTIL};
static const tsr_pass_option export_options[] = {
    KEEP_RULES,
    DUMP_DIRECTORY,
    {"avoid-export-for-partitioning", TSR_OPTION_BOOL, "false",
     "keep sharding groups, constraints and reshards"},
    {"update-non-divisible-input-output-shardings", TSR_OPTION_BOOL, "true",
     "keep only axes that divide the dimensions of inputs and outputs"},
    {"inline-meshes", TSR_OPTION_BOOL, "true", "inline meshes"},
    {"dump-sharding-origins", TSR_OPTION_BOOL, "false", "origins were recorded"},
    {"dump-propagation-edges", TSR_OPTION_BOOL, "false", "steps were recorded"},
};

static const tsr_pass rows[] = {
    {"sdy-import-pipeline", NULL, "Runs all passes before propagation", dedup_options, 1, NULL,
     expand_import},
    {"sdy-propagation-pipeline", NULL, "Runs import, propagation and export",
     propagation_pipeline_options,
     sizeof propagation_pipeline_options / sizeof propagation_pipeline_options[0], NULL,
     expand_propagation},
    {"sdy-export-pipeline", NULL, "Runs all passes after propagation", export_options,
     sizeof export_options / sizeof export_options[0], NULL, expand_export},
    PASS("sdy-add-data-flow-edges", "AddDataFlowEdgesPass",
         "Adds an edge op for each value that data flows through in regions", pass_add_edges),
    PASS("sdy-add-func-data-flow-edges", "AddFuncDataFlowEdgesPass",
         "Adds edge ops for arguments and results of functions", pass_add_func_edges),
    {"sdy-sink-data-flow-edges", "SinkDataFlowEdgesPass",
     "Moves the shardings of edges to the owning values", sink_options, 2, pass_sink_edges, NULL},
    PASS("sdy-sink-func-data-flow-edges", "SinkFuncDataFlowEdgesPass",
         "Moves the shardings of function edges to their operands", pass_sink_func_edges),
    PASS("symbol-dce", "SymbolDCE", "Removes unreferenced private symbols", pass_symbol_dce),
    PASS("sdy-propagate-sharding-from-func-to-call", "PropagateShardingFromFuncToCallPass",
         "Copies the shardings of function results to calls", pass_shard_calls),
    PASS("sdy-propagate-to-func-results", "PropagateToFuncResultsPass",
         "Copies the shardings of returned values to function results", pass_shard_func_results),
    PASS("sdy-flatten-call-graph", "FlattenCallGraphPass",
         "Clones functions so that each call has its own", pass_flatten),
    {"sdy-import-func-calls", "ImportFuncCallsPass", "Inlines calls", import_calls_options, 1,
     pass_import_calls, NULL},
    PASS("sdy-export-named-computations", "ExportNamedComputationsPass",
         "Converts named computations to functions", pass_export_computations),
    {"sdy-unflatten-call-graph", "UnflattenCallGraphPass", "Merges equal functions", dedup_options,
     1, pass_unflatten, NULL},
    PASS("sdy-insert-func-call-reshards", "InsertFuncCallReshardsPass",
         "Reshards the results of calls to the requested shardings", pass_reshard_calls),
    PASS("sdy-pre-order-funcs", "PreOrderFuncsPass",
         "Sorts functions so that callers come before callees", pass_pre_order_funcs),
    PASS("sdy-lift-inlined-meshes", "LiftInlinedMeshesPass",
         "Names inlined meshes, with one name for equal meshes", pass_lift_meshes),
    PASS("sdy-inline-meshes", "InlineMeshesPass", "Inlines meshes where they are named",
         pass_inline_meshes),
    PASS("sdy-remove-size-one-axes", "RemoveSizeOneAxesPass",
         "Removes axes of size 1 from all shardings", pass_remove_size_one_axes),
    PASS("sdy-manual-axes-cleanup", "ManualAxesCleanupPass",
         "Sorts manual axes and adds them as replicated axes where they shard no dimension",
         pass_manual_axes_cleanup),
    PASS("sdy-close-shardings", "CloseShardingsPass",
         "Closes all dimensions and drops replicated axes", pass_close_shardings),
    PASS("sdy-remove-sharding-groups", "RemoveShardingGroupsPass", "Removes sharding groups",
         pass_remove_groups),
    PASS("sdy-sharding-constraint-to-reshard", "ShardingConstraintToReshardPass",
         "Converts sharding constraints to reshards", pass_constraint_to_reshard),
    PASS("sdy-update-non-divisible-input-output-shardings",
         "UpdateNonDivisibleInputOutputShardingsPass",
         "Removes axes that do not divide the dimensions of inputs and outputs",
         pass_update_non_divisible),
    PASS("sdy-remove-sub-axes-in-input-output-shardings", "RemoveSubAxesInInputOutputShardingsPass",
         "Removes the first sub-axis and all later axes from dimensions of inputs and outputs",
         pass_remove_sub_axes),
    PASS("sdy-remove-propagation-debug-info", "RemovePropagationDebugInfoPass",
         "Removes origins and steps", pass_remove_debug_info),
    PASS("sdy-drop-sharding-rules", "DropShardingRulesPass", "Removes sharding rules",
         pass_drop_rules),
    PASS("sdy-verify-unreduced-axes", "VerifyUnreducedAxesPass",
         "Verifies where unreduced axes are introduced and reduced", pass_verify_unreduced),
    {"canonicalize", "Canonicalizer", "Removes unused ops and collectives without effect",
     canonicalize_options, 2, pass_canonicalize, NULL},
    {"sdy-insert-explicit-reshards", "InsertExplicitReshardsPass",
     "Inserts a reshard where an op requires another sharding of an operand or result",
     reshard_options, 2, pass_explicit_reshards, NULL},
    PASS("sdy-constant-or-scalar-splitter", "ConstantOrScalarSplitterPass",
         "Clones constants and broadcast scalars for each use", pass_split_constants),
    PASS("sdy-constant-or-scalar-merger", "ConstantOrScalarMergerPass",
         "Merges equal constants and equal broadcasts of a scalar", pass_merge_constants),
    {"sdy-apply-sharding-constraints", "ApplyShardingConstraintsPass",
     "Copies the sharding of a constraint to the value it constrains", constraint_options, 2,
     pass_apply_constraints, NULL},
    PASS("sdy-sharding-group-import", "ShardingGroupImportPass",
         "Merges sharding groups that share a value, and numbers them", pass_import_groups),
    PASS("tessera-import-composites", "ImportCompositesPass",
         "Replaces composites by calls of their decompositions", pass_import_composites),
    PASS("tessera-export-composites", "ExportCompositesPass",
         "Restores composites from calls of their decompositions", pass_export_composites),
    PASS("sdy-explicit-gather-scatter-batching", "ExplicitGatherScatterBatchingPass",
         "Converts gather and scatter dimensions indexed by an iota to batching dimensions",
         pass_batch_gathers),
    {"sdy-populate-op-sharding-rules", "PopulateOpShardingRulesPass",
     "Adds the sharding rule of its kind to every op", rules_options, 2, pass_populate_rules, NULL},
    {"sdy-basic-propagate", "BasicPropagationPass",
     "Propagates shardings where all tensors of an op agree (basic strategy)", propagation_options,
     BASIC_OPTIONS, pass_basic, NULL},
    {"sdy-aggressive-propagate", "AggressivePropagationPass",
     "Propagates shardings and resolves conflicts (aggressive strategy)", propagation_options,
     AGGRESSIVE_OPTIONS, pass_aggressive, NULL},
    {"sdy-op-priority-propagate", "OpPriorityPropagationPass",
     "Propagates by op priorities: first through ops that only move data", propagation_options,
     PRIORITY_OPTIONS, pass_op_priority, NULL},
    {"sdy-user-priority-propagate", "UserPriorityPropagationPass",
     "Propagates by the priorities that users annotated", propagation_options, USER_OPTIONS,
     pass_user_priority, NULL},
};

const tsr_pass *tsr_passes(size_t *count)
{
    GUARD(tsr_passes);
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

const tsr_pass *tsr_pass_find(const char *name)
{
    GUARD(tsr_pass_find);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static tsr_status run_one(tsr_context *ctx, tsr_program *program, const tsr_pass *pass,
                          const tsr_pass_options *options)
{
    TSR_TRY(edit_begin(program));
    const tsr_status status = pass->run(ctx, program, options);
    ir_shardings_refresh(program);
    return status < 0 ? status : pass_contracts_verify(ctx, program, pass->name, options);
}

/* A pipeline under way. */
typedef struct pipeline_run {
    tsr_context *ctx;
    tsr_program *program;
    tsr_status status;
} pipeline_run;

/* Runs the next pass. */
static bool run_next(void *state, const char *name, const tsr_pass_options *options)
{
    pipeline_run *r = state;
    const tsr_pass *pass = tsr_pass_find(name);
    const tsr_pass_options defaults = {pass->options, pass->num_options, NULL};
    r->status = run_one(r->ctx, r->program, pass, options != NULL ? options : &defaults);
    return r->status >= 0;
}

static tsr_status run_pipeline(tsr_context *ctx, tsr_program *program, const tsr_pass *pipeline,
                               const tsr_pass_options *options)
{
    pipeline_run r = {.ctx = ctx, .program = program, .status = TSR_OK};
    (void)pipeline->expand(options, run_next, &r);
    return r.status;
}

tsr_status tsr_pass_run(tsr_context *ctx, tsr_program *program, const tsr_pass *pass,
                        const tsr_pass_options *options)
{
    GUARD(tsr_pass_run);
    const tsr_pass_options defaults = {pass->options, pass->num_options, NULL};
    const tsr_pass_options *chosen = options != NULL ? options : &defaults;
    if (pass->expand == NULL && pass->run == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_pass_run: %s has neither a function that runs it nor passes",
                          pass->name);
    }
    TSR_TRY(call_graph_verify(ctx, program));
    return pass->expand != NULL ? run_pipeline(ctx, program, pass, chosen)
                                : run_one(ctx, program, pass, chosen);
}

/* The passes before and after propagation, as the table of passes runs them. */
#ifndef TRANSFORM_PASSES_H
#define TRANSFORM_PASSES_H

#include "propagate/workspace.h"

/* Edges. */
pass_function pass_add_edges;
pass_function pass_add_func_edges;
pass_function pass_sink_edges;
pass_function pass_sink_func_edges;

/* Shardings one by one; ops and attributes that go. */
pass_function pass_close_shardings;
pass_function pass_remove_size_one_axes;
pass_function pass_remove_sub_axes;
pass_function pass_update_non_divisible;
pass_function pass_remove_groups;
pass_function pass_constraint_to_reshard;
pass_function pass_drop_rules;
pass_function pass_remove_debug_info;

/* Meshes and manual axes. */
pass_function pass_lift_meshes;
pass_function pass_inline_meshes;
pass_function pass_manual_axes_cleanup;

/* Functions and calls. */
pass_function pass_symbol_dce;
pass_function pass_shard_calls;
pass_function pass_shard_func_results;
pass_function pass_flatten;
pass_function pass_import_calls;
pass_function pass_export_computations;
pass_function pass_unflatten;
pass_function pass_reshard_calls;
pass_function pass_pre_order_funcs;

/* Composites as calls of their decompositions, and back. */
pass_function pass_import_composites;
pass_function pass_export_composites;

/* Reshards, pending reductions, tidying up. */
pass_function pass_verify_unreduced;
pass_function pass_canonicalize;
pass_function pass_explicit_reshards;

/* Constants, constraints, groups, batching. */
pass_function pass_split_constants;
pass_function pass_merge_constants;
pass_function pass_apply_constraints;
pass_function pass_import_groups;
pass_function pass_batch_gathers;

#endif

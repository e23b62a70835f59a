#!/usr/bin/env bash
# The public cases of propagation and of the passes around it, where they are at hand. Those that
# execute programs need an interpreter.
set -euo pipefail
run=$TSR_CONFORMANCE_DIR/shardy/run
[[ -x $run ]] || { echo "no cases at hand" && exit 77; }
command -v FileCheck FileCheck-14 FileCheck-16 > /dev/null || [[ -x /usr/lib/llvm-14/bin/FileCheck ]] ||
    { echo "no FileCheck at hand" && exit 77; }
export_passes='close_shardings|constant_or_scalar_merger|drop_sharding_rules|export_named'
export_passes+='|export_pipeline.mlir|inline_meshes|insert_func_call|propagate_to_func|remove_prop'
export_passes+='|remove_sharding_groups|remove_sub_axes|sharding_constraint_to|sink_|unflatten'
export_passes+='|update_non_divisible|verify_unreduced|insert_explicit_reshards.mlir'
# Pieces that are only to be accepted are not counted: in a process of their own two of them warn,
# by the reference too, which warns once a process.
output=$("$run" --opt "$TSR_BUILD_DIR/tessera-opt" --per-function --quiet --failures 5 --only \
    "transforms/(propagation|import/test/(?!executable)|export/test/($export_passes))" || true)
tail -n 40 <<< "$output"
read -r passed _ all _ <<< "$(tail -n 1 <<< "$output")"
[[ $passed == "$all" && $passed -gt 0 ]]

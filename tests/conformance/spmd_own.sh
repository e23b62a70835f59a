#!/usr/bin/env bash
# Facts of SPMD types by the project's own account of the rules: other ops, axes, sizes and modes
# than those of the public file.
set -euo pipefail
"$TSR_BUILD_DIR/tests/conformance/spmd_facts" "$TSR_SOURCE_DIR/tests/conformance/spmd_own.json"

#!/usr/bin/env bash
# The public facts of SPMD types, where they are at hand.
set -euo pipefail
facts=$TSR_CONFORMANCE_DIR/spmd/facts.json
[[ -f $facts ]] || { echo "no facts at hand" && exit 77; }
"$TSR_BUILD_DIR/tests/conformance/spmd_facts" "$facts"

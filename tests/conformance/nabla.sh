#!/usr/bin/env bash
# The public facts of one-op propagation, where they are at hand.
set -euo pipefail
facts=$TSR_CONFORMANCE_DIR/nabla/facts.json
[[ -f $facts ]] || { echo "no facts at hand" && exit 77; }
"$TSR_BUILD_DIR/tests/conformance/nabla_facts" "$facts"

#!/usr/bin/env bash
# shellcheck disable=SC1091
# A rank that never comes: the others name it after the time-out, and tsr_comm_abort ends the job.
set -euo pipefail
source "$TSR_SOURCE_DIR/tests/support/mpi.sh"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "$*"
    cat "$folder/output"
    exit 1
}

for mpi in openmpi mpich; do
    for transport in shared message; do
        started=$SECONDS
        if TSR_TRANSPORT=$transport run_mpi $mpi 3 "$TSR_BUILD_DIR/tests/mpi/victim" "$folder" sleep \
            >"$folder/output" 2>&1; then
            fail "$mpi $transport: the job ended with 0"
        fi
        [[ $((SECONDS - started)) -lt 10 ]] || fail "$mpi $transport: it took over 10 seconds"
        grep -q 'tsr_barrier: rank 2 did not arrive within 0.5 seconds' "$folder/output" ||
            fail "$mpi $transport: rank 2 was not named"
    done
done

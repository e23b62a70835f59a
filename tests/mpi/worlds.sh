#!/usr/bin/env bash
# shellcheck disable=SC1091
# Open worlds of two processes under mpirun: runs, a rank that fails alone, one that is stopped.
set -euo pipefail
source "$TSR_SOURCE_DIR/tests/support/mpi.sh"

fail() {
    echo "FAILED: $*"
    exit 1
}

program=$TSR_BUILD_DIR/tests/mpi/open_world
# Beside what is compared, an MPI may say that a message was never received.
for mpi in openmpi mpich; do
    for transport in shared message; do
        export TSR_TRANSPORT=$transport
        output=$(run_mpi $mpi 2 "$program" fine) || fail "$mpi $transport: $output"
        [[ $(grep -o fine <<<"$output" | wc -l) == 2 ]] || fail "$mpi $transport: $output"
        output=$(run_mpi $mpi 2 "$program" alone) || fail "$mpi $transport: $output"
        [[ $output == *"tsr_barrier: rank 1 ended: unknown element type 'f33'"* ]] ||
            fail "$mpi $transport: $output"
        output=$(run_mpi $mpi 2 "$program" stop) || fail "$mpi $transport: $output"
        [[ $output == *"tsr_barrier: the world was stopped"* ]] || fail "$mpi $transport: $output"
    done
done

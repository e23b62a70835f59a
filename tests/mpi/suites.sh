#!/usr/bin/env bash
# shellcheck disable=SC1091
# The rank tests under mpirun: all pairs of layouts at 2 ranks with one MPI, samples elsewhere; all
# failures of memory as samples.
# With sanitizers, which are several times slower, most suites run with one MPI on each path.
set -euo pipefail
source "$TSR_SOURCE_DIR/tests/support/mpi.sh"
ranks=$TSR_BUILD_DIR/tests/ranks

expect_success() {
    echo "== $*"
    if ! run_mpi "$@" >output.txt 2>&1; then
        tail -40 output.txt
        exit 1
    fi
    grep -a 'TSR_SEED\|pairs' output.txt | sort -u | head -4 || true
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

shared_memory=(openmpi mpich)
messages=(openmpi mpich)
declare -A refusals=([openmpi]=12 [openmpi_message]=4 [mpich]=4 [mpich_message]=20)
if [[ ${TSR_INSTRUMENTED:-OFF} == ON ]]; then
    shared_memory=(openmpi)
    messages=(mpich)
    refusals=([openmpi]=4 [mpich_message]=4)
fi

expect_success openmpi 2 "$ranks/redistribute" mpi
expect_success openmpi 4 "$ranks/redistribute" mpi 300
for count in 1 3 7 8 11; do
    expect_success openmpi $count "$ranks/redistribute" mpi 40
    expect_success mpich $count "$ranks/redistribute" mpi 40
done
expect_success mpich 2 "$ranks/redistribute" mpi 300
expect_success mpich 4 "$ranks/redistribute" mpi 300
for mpi in "${shared_memory[@]}"; do
    for suite in algorithms collectives disagreement divergence faults requests placements; do
        expect_success "$mpi" 3 "$ranks/$suite" mpi
    done
    expect_success "$mpi" 3 "$ranks/refusals" mpi "${refusals[$mpi]}"
    expect_success "$mpi" 4 "$ranks/reports" mpi
    TSR_TRANSPORT=message expect_success "$mpi" 4 "$ranks/reports" mpi
    expect_success "$mpi" 2 "$ranks/memory" mpi
    expect_success "$mpi" 3 "$ranks/ops" mpi 200
    expect_success "$mpi" 3 "$ranks/numbers" mpi 200
    expect_success "$mpi" 2 "$ranks/op_layouts" mpi
    expect_success "$mpi" 2 "$ranks/op_errors" mpi
    expect_success "$mpi" 2 "$ranks/statements" mpi
    expect_success "$mpi" 3 "$ranks/adjoints" mpi
    expect_success "$mpi" 2 "$ranks/typed_async" mpi
    expect_success "$mpi" 4 "$ranks/typed_specs" mpi
done

# The path between machines; then with messages so small that most go in pieces.
export TSR_TRANSPORT=message
for mpi in "${messages[@]}"; do
    expect_success "$mpi" 2 "$ranks/redistribute" mpi 300
    expect_success "$mpi" 4 "$ranks/redistribute" mpi 300
    expect_success "$mpi" 2 "$ranks/memory" mpi
    for suite in algorithms collectives disagreement divergence faults requests placements; do
        expect_success "$mpi" 3 "$ranks/$suite" mpi
    done
    expect_success "$mpi" 3 "$ranks/refusals" mpi "${refusals[${mpi}_message]}"
    expect_success "$mpi" 2 "$ranks/ops" mpi 100
    expect_success "$mpi" 2 "$ranks/adjoints" mpi
done
export TSR_MESSAGE_BYTES=24
expect_success openmpi 2 "$ranks/redistribute" mpi 300
expect_success openmpi 3 "$ranks/collectives" mpi

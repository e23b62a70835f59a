#!/usr/bin/env bash
# shellcheck disable=SC1091
# The rank tests under mpirun: all pairs of layouts at 2 ranks with one MPI, samples elsewhere; all
# failures of memory as samples. Each suite runs with one of the MPIs on each path, the other one on
# the other path; with both on both in `make check-long`. With sanitizers, which are several times
# slower, one MPI has each path.
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

declare -A refusals=([openmpi]=12 [openmpi_message]=4 [mpich]=4 [mpich_message]=20)
both=(openmpi mpich)
if [[ ${TSR_INSTRUMENTED:-OFF} == ON ]]; then
    refusals=([openmpi]=4 [mpich_message]=4)
fi

turn=0
# take_turn PATH: sets `mpis`, those that run the next suite on a path, shared or messages.
take_turn() {
    if [[ ${TSR_INSTRUMENTED:-OFF} == ON ]]; then
        [[ $1 == shared ]] && mpis=(openmpi) || mpis=(mpich)
    elif [[ -n ${TSR_CHECK_LONG:-} ]]; then
        mpis=("${both[@]}")
    else
        mpis=("${both[turn % 2]}")
        turn=$((turn + 1))
    fi
}

# on_shared RANKS SUITE ARGUMENT..., on_messages likewise: a suite on one path.
on_shared() {
    local mpi
    take_turn shared
    for mpi in "${mpis[@]}"; do
        expect_success "$mpi" "$1" "$ranks/$2" mpi "${@:3}"
    done
}
on_messages() {
    local mpi
    take_turn messages
    for mpi in "${mpis[@]}"; do
        TSR_TRANSPORT=message expect_success "$mpi" "$1" "$ranks/$2" mpi "${@:3}"
    done
}

expect_success openmpi 2 "$ranks/redistribute" mpi
expect_success openmpi 4 "$ranks/redistribute" mpi 300
for count in 1 3 7 8 11; do
    on_shared "$count" redistribute 40
done
expect_success mpich 2 "$ranks/redistribute" mpi 300
expect_success mpich 4 "$ranks/redistribute" mpi 300
suites=(algorithms collectives disagreement divergence faults requests placements)
turn=0
for suite in "${suites[@]}"; do
    on_shared 3 "$suite"
done
on_shared 4 reports
on_messages 4 reports
on_shared 2 memory
on_shared 3 ops 200
on_shared 3 numbers 200
on_shared 2 op_layouts
on_shared 2 op_errors
on_shared 2 statements
on_shared 3 adjoints
on_shared 2 typed_async
on_shared 4 typed_specs
on_shared 4 levels

# The path between machines, each suite with the MPI that it did not have above; then with messages
# so small that most go in pieces.
on_messages 2 redistribute 300
on_messages 4 redistribute 300
turn=1
for suite in "${suites[@]}"; do
    on_messages 3 "$suite"
done
on_messages 2 memory
on_messages 2 ops 100
on_messages 2 adjoints
on_messages 6 levels
for row in "${!refusals[@]}"; do
    mpi=${row%_message}
    path=shared
    [[ $row == "$mpi" ]] || path=message
    TSR_TRANSPORT=$path expect_success "$mpi" 3 "$ranks/refusals" mpi "${refusals[$row]}"
done
TSR_TRANSPORT=message TSR_MESSAGE_BYTES=24 expect_success openmpi 2 "$ranks/redistribute" mpi 300
TSR_TRANSPORT=message TSR_MESSAGE_BYTES=24 expect_success openmpi 3 "$ranks/collectives" mpi

#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2016
# Programs under mpirun: the same text as on threads, a user's own communicators, wrong launchers.
set -euo pipefail
source "$TSR_SOURCE_DIR/tests/support/mpi.sh"

fail() {
    echo "FAILED: $*"
    exit 1
}

example=$TSR_BUILD_DIR/examples/moe_dispatch
threads=$("$example" 3 | sort)
for mpi in openmpi mpich; do
    for transport in shared message; do
        output=$(TSR_TRANSPORT=$transport run_mpi $mpi 3 "$example" | sort -u)
        [[ $output == "$(sort -u <<<"$threads")" ]] || fail "$mpi $transport: $output"
    done
    for ranks in 1 2 5; do
        for transport in shared message; do
            output=$(TSR_TRANSPORT=$transport run_mpi $mpi $ranks \
                "$TSR_BUILD_DIR/tests/mpi/users_comm_$mpi")
            [[ $output == fine ]] || fail "$mpi: $output"
        done
    done
    # What one process is told by its environment is agreed on.
    for transport in shared message; do
        output=$(TSR_TRANSPORT=$transport run_mpi $mpi 3 bash -c '
            if [[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} == 1 ]]; then
                export TSR_CHECK=1 TSR_MESSAGE_BYTES=100
            fi
            exec "$0"' "$example" | sort -u)
        [[ $output == "$(sort -u <<<"$threads")" ]] || fail "$mpi $transport, one differs: $output"
    done
    # A failure of all ranks is said once, whole, with its notes.
    for transport in shared message; do
        if output=$(TSR_TRANSPORT=$transport run_mpi $mpi 2 \
            "$TSR_BUILD_DIR/examples/transformer_tp" --forget 2>&1); then
            fail "$mpi: a program that does not type-check"
        fi
        [[ $(grep -c '^error: ' <<<"$output") == 1 &&
            $output == *"error: ranks 0-1 failed: tsr_rms_norm("*"would need a sum"*"note: tsr_convert_type("* ]] ||
            fail "$mpi $transport: $output"
    done
    # As many ranks as mpirun started, not others.
    if output=$(run_mpi $mpi 2 "$example" 3 2>&1); then
        fail "$mpi: 3 ranks of 2 processes"
    fi
    [[ $output == *"the program requests 3 ranks, but $mpi started 2; start as many"* ]] ||
        fail "$mpi: $output"
done

# The plug-in of one MPI under the launcher of the other.
if output=$(TSR_MPI=mpich run_mpi openmpi 2 "$example" 2>&1); then
    fail "mpich under mpirun.openmpi"
fi
[[ $output == *"mpich sees 1 processes, but openmpi started 2"* ]] || fail "$output"
if output=$(TSR_MPI=openmpi run_mpi mpich 2 "$example" 2>&1); then
    fail "openmpi under mpirun.mpich"
fi
[[ $output == *"openmpi sees 1 processes, but mpich started 2"* ]] || fail "$output"

# No such MPI, no such plug-in, and MPI switched off.
! output=$(TSR_MPI=lam "$example" 2>&1) || fail "an MPI called lam"
[[ $output == *"TSR_MPI must be openmpi, mpich or none"* ]] || fail "$output"
! output=$(TSR_MPI=mpich TSR_PLUGIN_PATH=/nowhere "$example" 2>&1) || fail "a plug-in from nowhere"
[[ $output == *"the plug-in for mpich cannot be loaded"* ]] || fail "$output"
output=$(TSR_MPI=none run_mpi openmpi 1 "$example" 3 | sort -u)
[[ $output == "$(sort -u <<<"$threads")" ]] || fail "TSR_MPI=none: $output"

# The command notices: its processes are the ranks, and one of them speaks.
move=(redistribute --mesh '<["x"=2]>' --shape 60x80xf32 --from '[{"x"}, {}]' --to '[{}, {"x"}]' --times 1)
for mpi in openmpi mpich; do
    output=$(run_mpi $mpi 2 "$TESSERA" "${move[@]}")
    [[ $output == *"ranks         2, $mpi"$'\n'*"all correct"* ]] || fail "$output"
    [[ $(grep -c elements <<<"$output") -eq 1 ]] || fail "$output"
    output=$(TSR_TRANSPORT=message run_mpi $mpi 2 "$TESSERA" "${move[@]}")
    [[ $output == *"ranks         2, $mpi, by messages"$'\n'*"all correct"* ]] || fail "$output"
    output=$(run_mpi $mpi 2 "$TESSERA" show --mesh '<["x"=2]>' '[{"x"}]')
    [[ $(grep -c devices <<<"$output") -eq 1 ]] || fail "$output"
    ! output=$(run_mpi $mpi 3 "$TESSERA" "${move[@]}" 2>&1) || fail "$output"
    [[ $output == *"requests 2 ranks, but $mpi started 3"* ]] || fail "$output"
done

#!/usr/bin/env bash
# shellcheck disable=SC1091
# The networks of the examples under mpirun say and compute what they do on threads.
set -euo pipefail
source "$TSR_SOURCE_DIR/tests/support/mpi.sh"
example=$TSR_BUILD_DIR/examples/mlp

for ranks in 2 4; do
    threads=$("$example" $ranks threads)
    for mpi in openmpi mpich; do
        for transport in shared message; do
            output=$(TSR_TRANSPORT=$transport run_mpi $mpi $ranks "$example")
            [[ $output == "$threads" ]] || { echo "$mpi $transport $ranks: $output" && exit 1; }
        done
    done
done

for name in transformer_tp moe_train; do
    for mpi in openmpi mpich; do
        for transport in shared message; do
            output=$(TSR_TRANSPORT=$transport run_mpi $mpi 2 "$TSR_BUILD_DIR/examples/$name")
            [[ $output == *"one rank's but for rounding" ]] ||
                { echo "$name $mpi $transport: $output" && exit 1; }
        done
    done
done

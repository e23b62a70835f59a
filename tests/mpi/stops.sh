#!/usr/bin/env bash
# shellcheck disable=SC1091
# SIGSTOP of a process under mpirun at random moments: the others give it up within the time-out
# and a second, name it and end; nothing is left. MOMENTS says how many of each kind.
set -euo pipefail
source "$TSR_SOURCE_DIR/tests/support/mpi.sh"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$TSR_BUILD_DIR/tests/mpi/victim" "$folder/victim.$$"
timeout_ms=500
longest=0

fail() {
    echo "$*"
    cat "$folder/output"
    pkill -9 -f "victim.$$ " || true
    exit 1
}

# Waits up to ten seconds for files.
await_files() {
    for _ in $(seq 500); do
        local missing=0
        for file; do
            [[ -s $file ]] || missing=1
        done
        [[ $missing == 0 ]] && return 0
        sleep 0.02
    done
    return 1
}

stop_one() {
    local mpi=$1 victim=$((RANDOM % 3)) survivors=() took
    rm -f "$folder"/[0-9] "$folder"/ended.*
    run_mpi "$mpi" 3 "$folder/victim.$$" "$folder" train >"$folder/output" 2>&1 &
    local job=$!
    await_files "$folder"/{0,1,2} || fail "$mpi: the ranks did not start"
    sleep "0.$((100 + RANDOM % 300))"
    local struck
    struck=$(date +%s%3N)
    kill -STOP "$(cat "$folder/$victim")"
    for rank in 0 1 2; do
        [[ $rank == "$victim" ]] || survivors+=("$folder/ended.$rank")
    done
    await_files "${survivors[@]}" || fail "$mpi: a rank still waits for rank $victim"
    for file in "${survivors[@]}"; do
        took=$(($(cat "$file") - struck))
        [[ $took -le $longest ]] || longest=$took
    done
    sleep 0.2
    kill -KILL "$(cat "$folder/$victim")"
    if wait "$job"; then
        fail "$mpi: the job ended with 0"
    fi
    grep -q "rank $victim" "$folder/output" || fail "$mpi: rank $victim is not named"
    for _ in $(seq 20); do
        pgrep -f "victim.$$ " >/dev/null || return 0
        sleep 0.1
    done
    fail "$mpi: processes are left"
}

for transport in "" message; do
    export TSR_TRANSPORT=$transport
    for mpi in openmpi mpich; do
        for _ in $(seq "${MOMENTS:-2}"); do
            stop_one $mpi
        done
    done
done
echo "the longest wait: $longest ms with a time-out of $timeout_ms ms"
[[ $longest -le $((timeout_ms + 5000)) ]] || fail "a survivor waited for $longest ms"

#!/usr/bin/env bash
# shellcheck disable=SC1091
# kill -9 of a process under mpirun: the job ends within 5 seconds, not with 0, and leaves nothing.
set -euo pipefail
source "$TSR_SOURCE_DIR/tests/support/mpi.sh"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$TSR_BUILD_DIR/tests/mpi/victim" "$folder/victim.$$"

fail() {
    echo "$*"
    cat "$folder/output"
    exit 1
}

# Two lists of what is in shared memory that only we can have left there.
in_shared_memory() {
    find /dev/shm -user "$(id -u)" 2>/dev/null | sort
}

kill_one() {
    local mpi=$1 started ended
    rm -f "$folder"/[0-9]
    in_shared_memory >"$folder/before"
    run_mpi "$mpi" 3 "$folder/victim.$$" "$folder" >"$folder/output" 2>&1 &
    local job=$!
    for _ in $(seq 100); do
        [[ -s $folder/0 && -s $folder/1 && -s $folder/2 ]] && break
        sleep 0.1
    done
    sleep 0.3
    kill -9 "$(cat "$folder/1")" || fail "$mpi: the ranks did not start"
    started=$(date +%s%N)
    if wait "$job"; then
        fail "$mpi: the job ended with 0"
    fi
    ended=$(date +%s%N)
    [[ $(((ended - started) / 1000000)) -lt 5000 ]] || fail "$mpi: the job took over 5 seconds to end"
    for _ in $(seq 20); do
        pgrep -f "victim.$$ " >/dev/null || break
        sleep 0.1
    done
    ! pgrep -af "victim.$$ " || fail "$mpi: processes are left"
    in_shared_memory >"$folder/after"
    ! comm -13 "$folder/before" "$folder/after" | grep -iq tessera ||
        fail "$mpi: segments are left"
    echo "$mpi${TSR_TRANSPORT:+ by messages}: ended after $(((ended - started) / 1000000)) ms"
}

kill_one openmpi
kill_one mpich
export TSR_TRANSPORT=message
kill_one openmpi
kill_one mpich

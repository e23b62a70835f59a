#!/usr/bin/env bash
# shellcheck disable=SC1091
# SIGSTOP, SIGKILL and SIGSEGV of a process under mpirun at random moments. The others notice within
# the time-out and a second, and name one that is stopped; when one dies, they end or mpirun ends
# them, and the job is over within the time-out and five seconds. Nothing is left. MOMENTS, or else
# TSR_PROP_SCALE, says how many of each kind.
set -euo pipefail
source "$TSR_SOURCE_DIR/tests/support/mpi.sh"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$TSR_BUILD_DIR/tests/mpi/victim" "$folder/victim.$$"
timeout_ms=500
slack_ms=1000
job_slack_ms=5000
longest=0
longest_death=0

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

# Waits up to five seconds until the library, not mpirun, has named the victim.
await_name() {
    local said="stopped: rank ([0-9], )*$victim|the process of rank $victim is stopped"
    for _ in $(seq 250); do
        ! grep -Eq "$said" "$folder/output" || return 0
        sleep 0.02
    done
    return 1
}

# What only we can have left in shared memory.
in_shared_memory() {
    find /dev/shm -user "$(id -u)" 2>/dev/null | sort
}

# Starts a job and strikes one of its processes: sets job, victim and struck.
strike_one() {
    local mpi=$1 signal=$2
    victim=$((RANDOM % 3))
    rm -f "$folder"/[0-9] "$folder"/ended.*
    in_shared_memory >"$folder/before"
    run_mpi "$mpi" 3 "$folder/victim.$$" "$folder" train >"$folder/output" 2>&1 &
    job=$!
    await_files "$folder"/{0,1,2} || fail "$mpi: the ranks did not start"
    sleep "0.$((100 + RANDOM % 300))"
    struck=$(date +%s%3N)
    kill "-$signal" "$(cat "$folder/$victim")"
}

expect_nothing_left() {
    for _ in $(seq 20); do
        pgrep -f "victim.$$ " >/dev/null || break
        sleep 0.1
    done
    ! pgrep -f "victim.$$ " >/dev/null || fail "$1: processes are left"
    in_shared_memory >"$folder/after"
    ! comm -13 "$folder/before" "$folder/after" | grep -iq tessera || fail "$1: segments are left"
}

# How long survivors waited, of those that noted when they noticed.
measure_waits() {
    local file took
    for file; do
        [[ -s $file ]] || continue
        took=$(($(cat "$file") - struck))
        [[ $took -le $longest ]] || longest=$took
    done
}

end_one() {
    local mpi=$1 signal=$2 job victim struck took
    strike_one "$mpi" "$signal"
    if wait "$job"; then
        fail "$mpi: the job ended with 0 after $signal"
    fi
    took=$(($(date +%s%3N) - struck))
    [[ $took -le $longest_death ]] || longest_death=$took
    measure_waits "$folder"/ended.*
    expect_nothing_left "$mpi"
}

stop_one() {
    local mpi=$1 job victim struck survivors=()
    strike_one "$mpi" STOP
    for rank in 0 1 2; do
        [[ $rank == "$victim" ]] || survivors+=("$folder/ended.$rank")
    done
    await_files "${survivors[@]}" || fail "$mpi: a rank still waits for rank $victim"
    measure_waits "${survivors[@]}"
    await_name || fail "$mpi: rank $victim is not named"
    kill -KILL "$(cat "$folder/$victim")"
    if wait "$job"; then
        fail "$mpi: the job ended with 0"
    fi
    expect_nothing_left "$mpi"
}

for transport in "" message; do
    export TSR_TRANSPORT=$transport
    for mpi in openmpi mpich; do
        for _ in $(seq "${MOMENTS:-${TSR_PROP_SCALE:-1}}"); do
            stop_one $mpi
            end_one $mpi KILL
            end_one $mpi SEGV
        done
    done
done
echo "the longest wait: $longest ms with a time-out of $timeout_ms ms;" \
    "the longest until a job ended: $longest_death ms"
[[ $longest -le $((timeout_ms + slack_ms)) ]] || fail "a survivor waited for $longest ms"
[[ $longest_death -le $((timeout_ms + job_slack_ms)) ]] || fail "a job ended after $longest_death ms"

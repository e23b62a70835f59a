#!/usr/bin/env bash
# Propagation through one op against the reference implementation's, on random uses of every op with
# random shardings, by the basic and the aggressive strategy: plain, conservative, and with user
# priorities. There must be at least 100 uses of every op and of every kind of case. Then with faults
# planted, which must be found. Needs the oracle; exit code 77 without it. ONE_OP_EACH sets how many
# uses of each op, TSR_SEED the seed.
set -euo pipefail
oracle=${TSR_ORACLE:-$TSR_SOURCE_DIR/../shared/oracle/sdy-oracle}
[[ -x $oracle ]] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
each=${ONE_OP_EACH:-200}

# What there must be 100 of, at least.
kinds=(unchanged changed given conflict taken replicated closed indivisible overflow uneven
    pass-through reduction need-replication permutation blocked-factor)

# write STRATEGY VARIANT: the programs, and what Tessera makes of them.
write() {
    "$TSR_BUILD_DIR/tests/differential/one_op" "$each" "$1" "$2" "$folder/program.mlir" \
        "$folder/own.txt" > /dev/null
}

# compare KIND...: with what the reference made of the same programs.
compare() {
    python3 "$(dirname "${BASH_SOURCE[0]}")/compare_shardings.py" "$folder/own.txt" \
        "$folder/printed.mlir" 100 "$@"
}

# run STRATEGY VARIANT PASS KIND...: propagates by both and compares.
run() {
    write "$1" "$2"
    "$oracle" "$folder/program.mlir" "$3" -mlir-print-op-generic > "$folder/printed.mlir"
    printf '%s, %s: ' "$1" "$2"
    compare "${kinds[@]}" "${@:4}"
}

# plant STRATEGY VARIANT FAULT...: each fault makes answers differ from those of the last run.
plant() {
    local fault
    for fault in "${@:3}"; do
        TSR_PLANT=$fault write "$1" "$2"
        if compare > "$folder/found.txt"; then
            echo "$1, $2: the planted fault '$fault' was not found"
            exit 1
        fi
        echo "planted '$fault': $(tail -n 1 "$folder/found.txt" | sed 's/;.*//')"
    done
}

for strategy in basic aggressive; do
    run "$strategy" plain "-sdy-$strategy-propagate" split
    plant "$strategy" plain direction factor strategy
    if [[ $strategy = aggressive ]]; then
        plant aggressive plain tie
    fi
    run "$strategy" conservative "-sdy-$strategy-propagate=conservative-propagation=true"
    plant "$strategy" conservative conservative
    options="run-op-priority-propagation=false propagation-strategy=$strategy"
    run "$strategy" priorities "-sdy-user-priority-propagate=$options" split priority
    plant "$strategy" priorities priority
done

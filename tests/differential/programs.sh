#!/usr/bin/env bash
# Programs read and printed by tessera-opt and by the reference implementation: random ones over all
# ops, types and attribute forms, in pretty and generic form and with locations, which must be
# printed alike; mutated ones, which both must refuse. There must be at least 100 of every op, form,
# type and attribute. Then with faults planted in what is printed, which must be found. Needs the
# oracle; exit code 77 without it. PROGRAMS and MUTATIONS set how many, TSR_SEED the seed.
set -euo pipefail
oracle=${TSR_ORACLE:-$TSR_SOURCE_DIR/../shared/oracle/sdy-oracle}
[[ -x $oracle ]] || exit 77
export TSR_ORACLE=$oracle
python=${TSR_ORACLE_PYTHON:-$HOME/.cache/tessera-oracle/bin/python}
[[ -x $python ]] || "$oracle" -list-passes > /dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# compare MODE COUNT: see programs.py.
compare() {
    PYTHONDONTWRITEBYTECODE=1 "$python" "$(dirname "${BASH_SOURCE[0]}")/programs.py" "$@"
}

compare valid "${PROGRAMS:-20000}"
compare invalid "${MUTATIONS:-10000}"
for fault in name default order float; do
    if TSR_PLANT=$fault TSR_LEAST=0 compare valid 2000 > "$folder/found.txt"; then
        echo "the planted fault '$fault' was not found"
        exit 1
    fi
    echo "planted '$fault': $(tail -n 1 "$folder/found.txt")"
done

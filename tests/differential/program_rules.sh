#!/usr/bin/env bash
# The rules of ops that only programs have against the reference implementation's, on random uses,
# plain and conservative; then with faults planted in two of them, which must be found. Needs the
# oracle; exit code 77 without it. RULE_PROGRAMS sets how many uses, TSR_SEED the seed.
set -euo pipefail
oracle=${TSR_ORACLE:-$TSR_SOURCE_DIR/../shared/oracle/sdy-oracle}
[[ -x $oracle ]] || exit 77
export TSR_ORACLE=$oracle
python=${TSR_ORACLE_PYTHON:-$HOME/.cache/tessera-oracle/bin/python}
[[ -x $python ]] || "$oracle" -list-passes > /dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# compare COUNT: see program_rules.py.
compare() {
    PYTHONDONTWRITEBYTECODE=1 "$python" "$(dirname "${BASH_SOURCE[0]}")/program_rules.py" "$@"
}

compare "${RULE_PROGRAMS:-20000}"
for op in all_to_all Eigh; do
    if TSR_PLANT=$op TSR_LEAST=0 compare 2000 > "$folder/found.txt"; then
        echo "the fault planted in $op was not found"
        exit 1
    fi
    echo "planted in $op: $(tail -n 1 "$folder/found.txt")"
done

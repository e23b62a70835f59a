#!/usr/bin/env bash
# Propagation over random programs with random shardings, by tessera-opt and by the reference
# implementation: the programs that come out must be the same. There must be at least 100 of every
# op, edge kind, pass and kind of conflict, and planted faults must be found. Needs the oracle; exit code 77 without it. PROGRAMS sets how many,
# TSR_SEED the seed.
set -euo pipefail
oracle=${TSR_ORACLE:-$TSR_SOURCE_DIR/../shared/oracle/sdy-oracle}
[[ -x $oracle ]] || exit 77
export TSR_ORACLE=$oracle
python=${TSR_ORACLE_PYTHON:-$HOME/.cache/tessera-oracle/bin/python}
[[ -x $python ]] || "$oracle" -list-passes > /dev/null
export PYTHONDONTWRITEBYTECODE=1
script=$(dirname "${BASH_SOURCE[0]}")/propagate.py
"$python" "$script" "${PROGRAMS:-20000}"

# Faults in what tessera-opt is given: each must show.
for fault in strategy 'op priority' 'user priority' closed edges groups replicated; do
    found=$(TSR_PLANT=$fault TSR_SHOW=0 TSR_LEAST=0 "$python" "$script" 500 | tail -n 1 || true)
    echo "planted '$fault': $found"
    [[ $found != *' 0 differ' ]] || exit 1
done

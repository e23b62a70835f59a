#!/usr/bin/env bash
# Single ops, legal and mutated in types, counts, attributes and regions, verified by tessera-opt and
# by the reference: both accept or both refuse. The table says for each op how many are refused, how
# many by one only, and how many with the same messages. Needs the oracle; exit code 77 without it.
# TEXTS sets how many of each op, TSR_SEED the seed, TSR_DIFFER how many may differ, TSR_SAME the
# least share of equal messages, TSR_SHOW how many differences of each op are shown.
set -euo pipefail
oracle=${TSR_ORACLE:-$TSR_SOURCE_DIR/../shared/oracle/sdy-oracle}
[[ -x $oracle ]] || exit 77
export TSR_ORACLE=$oracle
python=${TSR_ORACLE_PYTHON:-$HOME/.cache/tessera-oracle/bin/python}
[[ -x $python ]] || "$oracle" -list-passes > /dev/null
PYTHONDONTWRITEBYTECODE=1 "$python" "$(dirname "${BASH_SOURCE[0]}")/verify.py" "${TEXTS:-300}" "$@"

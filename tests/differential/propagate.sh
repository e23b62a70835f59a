#!/usr/bin/env bash
# Propagation over random programs with random shardings, by tessera-opt and by the reference
# implementation: the programs that come out must be the same. There must be at least 100 of every
# op, edge kind and pass. Needs the oracle; exit code 77 without it. PROGRAMS sets how many,
# TSR_SEED the seed.
set -euo pipefail
oracle=${TSR_ORACLE:-$TSR_SOURCE_DIR/../shared/oracle/sdy-oracle}
[[ -x $oracle ]] || exit 77
export TSR_ORACLE=$oracle
python=${TSR_ORACLE_PYTHON:-$HOME/.cache/tessera-oracle/bin/python}
[[ -x $python ]] || "$oracle" -list-passes > /dev/null
PYTHONDONTWRITEBYTECODE=1 exec "$python" "$(dirname "${BASH_SOURCE[0]}")/propagate.py" \
    "${PROGRAMS:-20000}"

#!/usr/bin/env bash
# Programs of linear algebra that JAX exports for one CPU, which call LAPACK, evaluated by
# `tessera eval` and by JAX: all results must agree, relative to the largest element. Needs the
# Python of the oracle, with JAX; exit code 77 without it.
set -euo pipefail
python=${TSR_ORACLE_PYTHON:-$HOME/.cache/tessera-oracle/bin/python}
[[ -x $python ]] && "$python" -c 'import jax' 2> /dev/null || exit 77
PYTHONDONTWRITEBYTECODE=1 "$python" "$(dirname "${BASH_SOURCE[0]}")/linalg.py" "$@"

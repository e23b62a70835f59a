#!/usr/bin/env bash
# Shardings that `tessera propagate` gives programs of chlo, and those that XLA has after its own rewriting and
# propagation: random chains of ops that JAX prints, annotated here and there. Results must be equal. Needs the Python of
# the oracle, with JAX; exit code 77 without it. Arguments: how many programs, 300 by default, and a seed.
set -euo pipefail
python=${TSR_ORACLE_PYTHON:-$HOME/.cache/tessera-oracle/bin/python}
[[ -x $python ]] && "$python" -c 'import jax' 2> /dev/null || exit 77
PYTHONDONTWRITEBYTECODE=1 "$python" "$(dirname "${BASH_SOURCE[0]}")/chlo.py" "$@"

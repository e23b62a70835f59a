#!/usr/bin/env bash
# Bits of `rng_bit_generator` by `tessera eval` and by XLA on CPU: all algorithms, states, widths,
# shapes; all bits and states must be equal. Needs the Python of the oracle, with JAX; exit code 77
# without it. Arguments: how many cases, 2000 by default, and a seed.
set -euo pipefail
python=${TSR_ORACLE_PYTHON:-$HOME/.cache/tessera-oracle/bin/python}
[[ -x $python ]] && "$python" -c 'import jax' 2> /dev/null || exit 77
PYTHONDONTWRITEBYTECODE=1 "$python" "$(dirname "${BASH_SOURCE[0]}")/random_bits.py" "$@"

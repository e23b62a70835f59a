"""Linear algebra by JAX and by `tessera eval`: see linalg.sh. Names of cases may be given."""

import os
import subprocess
import sys
import tempfile

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax import lax
from jax._src.lax.linalg import geqrf

TESSERA = os.environ.get("TESSERA") or os.path.join(os.environ["TSR_BUILD_DIR"], "tessera")
TOLERANCE = {"float32": 2e-5, "complex64": 2e-5, "float64": 1e-12, "complex128": 1e-12}
la = jnp.linalg
ll = lax.linalg


def posdef(x):
    return x @ jnp.conj(jnp.swapaxes(x, -1, -2)) + 3 * jnp.eye(x.shape[-1], dtype=x.dtype)


def symmetric(x):
    return x + jnp.conj(jnp.swapaxes(x, -1, -2))


def gtsv(d, b):
    first = jnp.zeros_like(d[..., :1])
    lower = jnp.concatenate([first, d[..., 1:]], -1)
    upper = jnp.concatenate([d[..., 1:], first], -1)
    return ll.tridiagonal_solve(lower, d + 5, upper, b)


SQUARE = [(4, 4), (2, 5, 5), (2, 3, 3, 3), (1, 1), (33, 33)]
TALL = [(5, 3), (3, 5), (2, 3, 5), (2, 2, 6, 4), (40, 9)]
QR = ll.SvdAlgorithm.QR

# name: (function, lists of shapes)
CASES = {
    "cholesky": (lambda x: la.cholesky(posdef(x)), SQUARE),
    "cholesky_upper": (lambda x: la.cholesky(posdef(x), upper=True), SQUARE),
    "cholesky_fails": (lambda x: la.cholesky(symmetric(x) - 9), SQUARE),
    "solve": (la.solve, [[(4, 4), (4,)], [(2, 5, 5), (2, 5, 3)]]),
    "inv": (la.inv, SQUARE),
    "det": (la.det, SQUARE),
    "slogdet": (la.slogdet, SQUARE),
    "lu": (ll.lu, SQUARE + TALL),
    "lu_solve": (lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b, trans=1), [[(4, 4), (4, 2)]]),
    "qr": (la.qr, SQUARE + TALL),
    "qr_complete": (lambda x: la.qr(x, mode="complete"), TALL),
    "qr_pivoted": (lambda x: jsl.qr(x, pivoting=True), [(5, 3), (3, 5), (4, 4)]),
    "ormqr_left": (lambda a, c: ll.ormqr(*geqrf(a), c, left=True, transpose=True),
                   [[(5, 3), (5, 2)], [(2, 4, 4), (2, 4, 6)]]),
    "ormqr_right": (lambda a, c: ll.ormqr(*geqrf(a), c, left=False, transpose=False),
                    [[(5, 3), (2, 5)]]),
    "svd": (la.svd, SQUARE + TALL),
    "svd_thin": (lambda x: la.svd(x, full_matrices=False), SQUARE + TALL),
    "svd_values": (lambda x: la.svd(x, compute_uv=False), TALL),
    "svd_qr": (lambda x: ll.svd(x, algorithm=QR), TALL),
    "svd_qr_thin": (lambda x: ll.svd(x, full_matrices=False, algorithm=QR), TALL),
    "pinv": (la.pinv, TALL),
    "eigh": (lambda x: la.eigh(symmetric(x)), SQUARE),
    "eigh_upper": (lambda x: la.eigh(symmetric(x), UPLO="U"), SQUARE),
    "eigvalsh": (lambda x: la.eigvalsh(symmetric(x)), SQUARE),
    "eig": (la.eig, SQUARE),
    "eigvals": (la.eigvals, SQUARE),
    "eig_both": (lambda x: ll.eig(x, compute_left_eigenvectors=True), SQUARE),
    "eig_nan": (lambda x: la.eig(x / 0), [(3, 3)]),
    "schur": (jsl.schur, [(4, 4), (7, 7)]),
    "schur_batch": (ll.schur, [(2, 5, 5)]),
    "schur_values": (lambda x: ll.schur(x, compute_schur_vectors=False), [(4, 4)]),
    "hessenberg": (lambda x: jsl.hessenberg(x, calc_q=True), SQUARE[:-2]),
    "tridiagonal": (lambda x: ll.tridiagonal(symmetric(x), lower=True)[:4], SQUARE[:-2]),
    "tridiagonal_upper": (lambda x: ll.tridiagonal(symmetric(x), lower=False)[:4], SQUARE[:-2]),
    "gtsv": (gtsv, [[(5,), (5, 2)], [(2, 4), (2, 4, 3)]]),
    "expm": (jsl.expm, [(4, 4), (2, 3, 3)]),
    "sqrtm": (jsl.sqrtm, [(4, 4)]),
    "polar": (jsl.polar, [(4, 4), (5, 3)]),
    "cho_solve": (lambda a, b: jsl.cho_solve(jsl.cho_factor(posdef(a)), b), [[(4, 4), (4, 2)]]),
}
for side in (True, False):
    for lower in (True, False):
        for trans in (0, 1, 2):
            for unit in (True, False):
                name = f"triangular_{'LR'[not side]}{'LU'[not lower]}{'NTC'[trans]}{'UN'[not unit]}"
                CASES[name] = (
                    lambda a, b, side=side, lower=lower, trans=trans, unit=unit: ll.triangular_solve(
                        a + 4 * jnp.eye(a.shape[-1], dtype=a.dtype), b, left_side=side, lower=lower,
                        transpose_a=trans > 0, conjugate_a=trans == 2, unit_diagonal=unit),
                    [[(4, 4), (4, 3) if side else (3, 4)], [(2, 3, 3), (2, 3, 3)]])


def random(rng, shape, dtype):
    x = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def evaluate(text, inputs, folder):
    program = os.path.join(folder, "p.mlir")
    with open(program, "w") as f:
        f.write(text)
    names = []
    for i, x in enumerate(inputs):
        names.append(os.path.join(folder, f"x{i}.npy"))
        np.save(names[-1], x)
    out = os.path.join(folder, "out.npz")
    if os.path.exists(out):
        os.remove(out)
    made = subprocess.run([TESSERA, "eval", program, "--input", *names, "--output", out],
                          capture_output=True, text=True)
    if made.returncode != 0:
        return None, made.stderr.strip()[:300]
    with np.load(out) as arrays:
        return [arrays[k] for k in arrays.files], ""


def difference(a, b):
    """How far apart, relative to the largest element; NaNs must be at the same places."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return np.inf
    known = np.isfinite(b)
    if not known.any():
        return 0.0
    return float(np.abs(a - b)[known].max() / max(np.abs(b)[known].max(), 1e-30))


def main():
    rng = np.random.default_rng(int(os.environ.get("TSR_SEED", "1")))
    wanted = sys.argv[1:] or list(CASES)
    count = bad = 0
    worst = dict.fromkeys(TOLERANCE, 0.0)
    calls = set()
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            f, shapes = CASES[name]
            for shape in shapes:
                for dtype in TOLERANCE:
                    shape_list = shape if isinstance(shape, list) else [shape]
                    inputs = [random(rng, s, dtype) for s in shape_list]
                    try:
                        lowered = jax.jit(f).lower(*inputs)
                        expected = jax.tree.leaves(lowered.compile()(*inputs))
                    except Exception as e:
                        print(f"{name} {shape} {dtype}: JAX refuses: {str(e)[:80]}")
                        continue
                    text = lowered.as_text()
                    calls |= {w.split("(")[0] for w in text.split("@") if w.startswith("lapack_")}
                    results, error = evaluate(text, inputs, folder)
                    count += 1
                    if results is None or len(results) != len(expected):
                        bad += 1
                        print(f"{name} {shape} {dtype}: {error or 'as many results'}")
                        continue
                    far = max(difference(a, np.asarray(b)) for a, b in zip(results, expected))
                    worst[dtype] = max(worst[dtype], far)
                    if far > TOLERANCE[dtype]:
                        bad += 1
                        print(f"{name} {shape} {dtype}: {far:.2g} apart")
    print(f"{count} programs, {len(calls)} targets, {bad} differ; most:",
          ", ".join(f"{k} {v:.1g}" for k, v in worst.items()))
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

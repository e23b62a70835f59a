"""What every op is compared with: a row for each, its operands and NumPy's answer."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import tessera as ts

MESHES = {
    1: "a=1",
    2: "a=2",
    3: "a=3",
    4: "a=2, b=2",
    5: "a=5",
    6: "a=2, b=3",
    7: "a=7",
    8: "a=2, b=2, c=2",
}
_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


@dataclass(frozen=True)
class Row:
    """An op. ``kinds`` has a character for each operand: what its elements are."""

    ours: Callable
    numpy: Callable
    kinds: str = "f"
    shapes: Callable = None  # from (rng, rank): the shapes of the operands
    exact: bool = False


def alike(count):
    return lambda rng: [random_shape(rng)] * count


def broadcasting(count):
    """Shapes of which some dimensions are 1, or left out."""

    def make(rng):
        shape = random_shape(rng)
        found = []
        for _ in range(count):
            one = tuple(n if rng.random() < 0.7 else 1 for n in shape)
            found.append(one[rng.integers(0, 2) if one else 0 :] if rng.random() < 0.3 else one)
        found[rng.integers(0, count)] = shape
        return found

    return make


def random_shape(rng, ndim=None, least=0):
    ndim = int(rng.integers(0, 4)) if ndim is None else ndim
    choices = [n for n in (0, 1, 2, 3, 4, 5, 7, 8) if n >= least]
    weights = np.array([0.2 if n == 0 else 1.0 for n in choices])
    return tuple(int(n) for n in rng.choice(choices, ndim, p=weights / weights.sum()))


def matrices(rng):
    m, k, n = random_shape(rng, 3)
    batch = random_shape(rng, int(rng.integers(0, 2)), 1)
    if rng.random() < 0.2:
        return [(*batch, m, k), (k,)] if rng.random() < 0.5 else [(k,), (*batch, k, n)]
    return [(*batch, m, k), (*(batch if rng.random() < 0.7 else ()), k, n)]


def with_rank(count, least=1):
    return lambda rng: [random_shape(rng, int(rng.integers(1, 4)), least)] * count


def _softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _logsumexp(x):
    top = x.max(-1, keepdims=True)
    return (np.log(np.exp(x - top).sum(-1, keepdims=True)) + top)[..., 0]


def _layer_norm(x, scale, bias):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias


def _norm_shapes(rng):
    shape = random_shape(rng, int(rng.integers(1, 4)), 1)
    return [shape, shape[-1:], shape[-1:]]


def _cross_entropy(logits, labels):
    picked = np.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return _logsumexp(logits) - picked


def _labels(rng):
    return [(*random_shape(rng, 2, 1), 4), None]


def _scatter_add(x, indices, updates):
    out = x.copy()
    np.add.at(out, indices, updates)
    return out


def _unary(ours, numpy, kinds="f", **more):
    return Row(ours, numpy, kinds, alike(1), **more)


def _binary(ours, numpy, kinds="ff", **more):
    return Row(ours, numpy, kinds, broadcasting(2), **more)


def _reduction(ours, numpy, kinds="f", **more):
    def axes(x):
        return None if x.ndim == 0 else tuple(range(0, x.ndim, 2))

    return Row(lambda x: ours(x, axes(x)), lambda x: numpy(x, axes(x)), kinds, with_rank(1), **more)


ROWS = {
    "negative": _unary(ts.negative, np.negative, exact=True),
    "absolute": _unary(ts.absolute, np.absolute, exact=True),
    "sign": _unary(ts.sign, np.sign, exact=True),
    "exp": _unary(ts.exp, np.exp),
    "expm1": _unary(ts.expm1, np.expm1),
    "log": _unary(ts.log, np.log, "p"),
    "log1p": _unary(ts.log1p, np.log1p, "p"),
    "sqrt": _unary(ts.sqrt, np.sqrt, "p"),
    "rsqrt": _unary(ts.rsqrt, lambda x: 1 / np.sqrt(x), "p"),
    "cbrt": _unary(ts.cbrt, np.cbrt),
    "tanh": _unary(ts.tanh, np.tanh),
    "arcsinh": _unary(ts.arcsinh, np.arcsinh),
    "erf": _unary(ts.erf, lambda x: _erf(x).reshape(x.shape)),
    "erfc": _unary(ts.erfc, lambda x: _erfc(x).reshape(x.shape)),
    "sin": _unary(ts.sin, np.sin),
    "cos": _unary(ts.cos, np.cos),
    "tan": _unary(ts.tan, np.tan),
    "floor": _unary(ts.floor, np.floor, exact=True),
    "ceil": _unary(ts.ceil, np.ceil, exact=True),
    "rint": _unary(ts.rint, np.rint, "h", exact=True),
    "round_away": _unary(
        ts.round_away, lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5), "h", exact=True
    ),
    "sigmoid": _unary(ts.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "silu": _unary(ts.silu, lambda x: x / (1 + np.exp(-x))),
    "gelu": _unary(ts.gelu, lambda x: x * (1 + _erf(x / math.sqrt(2)).reshape(x.shape)) / 2),
    "relu": _unary(ts.relu, lambda x: np.maximum(x, 0), exact=True),
    "invert": _unary(ts.invert, np.invert, "i", exact=True),
    "invert_truth": _unary(ts.invert, np.invert, "b", exact=True),
    "bitwise_count": _unary(
        ts.bitwise_count,
        lambda x: np.vectorize(lambda n: bin(n & (1 << 64) - 1).count("1"), otypes=[np.int64])(
            x
        ).reshape(x.shape),
        "i",
        exact=True,
    ),
    "count_leading_zeros": _unary(
        ts.count_leading_zeros,
        lambda x: np.vectorize(lambda n: 64 - (n & (1 << 64) - 1).bit_length(), otypes=[np.int64])(
            x
        ).reshape(x.shape),
        "i",
        exact=True,
    ),
    "isfinite": _unary(ts.isfinite, np.isfinite, "n", exact=True),
    "astype": _unary(lambda x: x.astype("f32"), lambda x: x.astype("f4"), "i", exact=True),
    "add": _binary(ts.add, np.add, exact=True),
    "add_integers": _binary(ts.add, np.add, "ii", exact=True),
    "subtract": _binary(ts.subtract, np.subtract, exact=True),
    "multiply": _binary(ts.multiply, np.multiply, exact=True),
    "divide": _binary(ts.divide, np.divide, "fp", exact=True),
    "maximum": _binary(ts.maximum, np.maximum, exact=True),
    "minimum": _binary(ts.minimum, np.minimum, exact=True),
    "power": _binary(ts.power, np.power, "pf"),
    "fmod": _binary(ts.fmod, np.fmod, "fp", exact=True),
    "bitwise_and": _binary(ts.bitwise_and, np.bitwise_and, "ii", exact=True),
    "bitwise_or": _binary(ts.bitwise_or, np.bitwise_or, "ii", exact=True),
    "bitwise_xor": _binary(ts.bitwise_xor, np.bitwise_xor, "ii", exact=True),
    "arctan2": _binary(ts.arctan2, np.arctan2),
    "left_shift": _binary(ts.left_shift, np.left_shift, "is", exact=True),
    "right_shift": _binary(ts.right_shift, np.right_shift, "is", exact=True),
    "right_shift_logical": _binary(
        ts.right_shift_logical,
        lambda a, b: (a.astype(np.uint64) >> b.astype(np.uint64)).astype(np.int64),
        "is",
        exact=True,
    ),
    "equal": _binary(ts.equal, np.equal, "ii", exact=True),
    "not_equal": _binary(ts.not_equal, np.not_equal, "ii", exact=True),
    "less": _binary(ts.less, np.less, exact=True),
    "less_equal": _binary(ts.less_equal, np.less_equal, exact=True),
    "greater": _binary(ts.greater, np.greater, exact=True),
    "greater_equal": _binary(ts.greater_equal, np.greater_equal, exact=True),
    "clip": _binary(lambda x, y: ts.clip(x, -1.0, y), lambda x, y: np.clip(x, -1.0, y), "fp"),
    "where": Row(ts.where, np.where, "bff", broadcasting(3), exact=True),
    "matmul": Row(ts.matmul, np.matmul, "ff", matrices),
    "einsum": Row(
        lambda a, b: ts.einsum("ij,kj->ki", a, b),
        lambda a, b: np.einsum("ij,kj->ki", a, b),
        "ff",
        lambda rng: (lambda i, j, k: [(i, j), (k, j)])(*random_shape(rng, 3)),
    ),
    "linear": Row(
        ts.linear,
        lambda x, w, b: x @ w.T + b,
        "fff",
        lambda rng: (lambda i, j, k: [(i, j), (k, j), (k,)])(*random_shape(rng, 3)),
    ),
    "sum": _reduction(ts.sum, np.sum),
    "sum_integers": _reduction(ts.sum, np.sum, "i", exact=True),
    "sum_keepdims": _reduction(
        lambda x, axes: ts.sum(x, axes, keepdims=True),
        lambda x, axes: np.sum(x, axes, keepdims=True),
    ),
    "mean": _reduction(ts.mean, np.mean),
    "max": _reduction(ts.max, np.max, exact=True),
    "min": _reduction(ts.min, np.min, exact=True),
    "prod": _reduction(ts.prod, np.prod),
    "all": _reduction(ts.all, np.all, "b", exact=True),
    "any": _reduction(ts.any, np.any, "b", exact=True),
    "argmax": Row(
        lambda x: ts.argmax(x, 0), lambda x: np.argmax(x, 0), "f", with_rank(1), exact=True
    ),
    "cumsum": Row(lambda x: ts.cumsum(x, 0), lambda x: np.cumsum(x, 0), "f", with_rank(1)),
    "softmax": Row(ts.softmax, _softmax, "f", with_rank(1)),
    "logsumexp": Row(ts.logsumexp, _logsumexp, "f", with_rank(1)),
    "reshape": Row(
        lambda x: ts.reshape(x, -1) if x.size else x,
        lambda x: np.reshape(x, -1) if x.size else x,
        "f",
        alike(1),
        exact=True,
    ),
    "transpose": Row(ts.transpose, np.transpose, "f", alike(1), exact=True),
    "broadcast_to": Row(
        lambda x: ts.broadcast_to(x, (3, *x.shape)),
        lambda x: np.broadcast_to(x, (3, *x.shape)),
        "f",
        alike(1),
        exact=True,
    ),
    "index": Row(
        lambda x: x[1:, ..., None], lambda x: x[1:, ..., None], "f", with_rank(1), exact=True
    ),
    "index_steps": Row(
        lambda x: x[0, ::2],
        lambda x: x[0, ::2],
        "f",
        lambda rng: [random_shape(rng, 2, 1)],
        exact=True,
    ),
    "concatenate": Row(
        lambda a, b: ts.concatenate([a, b]),
        lambda a, b: np.concatenate([a, b]),
        "ff",
        with_rank(2),
        exact=True,
    ),
    "stack": Row(
        lambda a, b: ts.stack([a, b], -1),
        lambda a, b: np.stack([a, b], -1),
        "ff",
        alike(2),
        exact=True,
    ),
    "split": Row(
        lambda x: ts.split(x, [1, 3])[1],
        lambda x: np.split(x, [1, 3])[1],
        "f",
        with_rank(1, 3),
        exact=True,
    ),
    "pad": Row(
        lambda x: ts.pad(x, [(1, 2)] * x.ndim, 7.0),
        lambda x: np.pad(x, [(1, 2)] * x.ndim, constant_values=7.0),
        "f",
        with_rank(1, 0),
        exact=True,
    ),
    "take": Row(
        ts.take,
        lambda x, i: np.take(x, i, 0),
        "fz",
        lambda rng: [random_shape(rng, 2, 1), random_shape(rng, 1, 1)],
        exact=True,
    ),
    "embedding": Row(
        ts.embedding,
        lambda x, i: np.take(x, i, 0),
        "fz",
        lambda rng: [random_shape(rng, 2, 1), random_shape(rng, 2, 1)],
        exact=True,
    ),
    "scatter": Row(
        lambda x, i, u: ts.scatter(x, i, u, op="add"),
        _scatter_add,
        "fzf",
        lambda rng: (lambda v, e, n: [(v, e), (n,), (n, e)])(*random_shape(rng, 3, 1)),
    ),
    "one_hot": Row(
        lambda i: ts.one_hot(i, 4),
        lambda i: (np.arange(4) == i[..., None]).astype("f4"),
        "z",
        lambda rng: [random_shape(rng, 2, 1)],
        exact=True,
    ),
    "sort": Row(ts.sort, np.sort, "f", with_rank(1), exact=True),
    "argsort": Row(
        ts.argsort, lambda x: np.argsort(x, kind="stable"), "f", with_rank(1), exact=True
    ),
    "top_k": Row(
        lambda x: ts.top_k(x, 1)[0],
        lambda x: -np.sort(-x)[..., :1],
        "f",
        with_rank(1),
        exact=True,
    ),
    "layer_norm": Row(ts.layer_norm, _layer_norm, "fff", _norm_shapes),
    "rms_norm": Row(
        ts.rms_norm,
        lambda x, s: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * s,
        "ff",
        lambda rng: _norm_shapes(rng)[:2],
    ),
    "cross_entropy": Row(ts.cross_entropy, _cross_entropy, "fl", _labels),
    "operators": Row(
        lambda a, b: (2 - a) * b / 4 + b**2 - abs(-a),
        lambda a, b: (2 - a) * b / 4 + b**2 - abs(-a),
        "fp",
        broadcasting(2),
    ),
    "redistribute": Row(lambda x: x.redistribute(None), lambda x: x, "f", alike(1), exact=True),
}


def values(rng, kind, shape, first):
    """Elements of a kind; `first` is the shape of the first operand."""
    if kind == "l":
        return rng.integers(0, first[-1], first[:-1])
    if kind == "i":
        return rng.integers(-(1 << 40), 1 << 40, shape)
    if kind == "s":
        return rng.integers(0, 20, shape)
    if kind == "z":
        return rng.integers(0, first[0] if len(first) == 2 else 4, shape)
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind == "p":
        return rng.random(shape) * 3 + 0.1
    if kind == "h":
        return rng.integers(-9, 9, shape) / 2.0
    made = rng.standard_normal(shape)
    if kind == "n":
        made = np.where(rng.random(shape) < 0.5, made, np.inf)
    return made


def random_layout(rng, ndim, mesh):
    """A layout of a tensor over some of the axes of a mesh."""
    dims = [[] for _ in range(ndim)]
    for axis in rng.permutation(mesh.axis_names):
        at = int(rng.integers(-1, ndim)) if ndim else -1
        if at >= 0:
            dims[at].append(f'"{axis}"')
    return "[" + ", ".join("{" + ", ".join(axes) + "}" for axes in dims) + "]"


def operands(row, rng):
    """Random operands of an op."""
    shapes = row.shapes(rng)
    kinds = row.kinds
    return [values(rng, kind, shape, shapes[0]) for kind, shape in zip(kinds, shapes, strict=True)]


def check(name, world, seed):
    """Compares one op on random arrays and layouts with NumPy, element by element."""
    row, rng = ROWS[name], np.random.default_rng(seed)
    arrays = operands(row, rng)
    laid = [world.array(x, random_layout(rng, x.ndim, world.mesh)) for x in arrays]
    with np.errstate(all="ignore"):
        expected = np.asarray(row.numpy(*arrays))
    found = row.ours(*laid)
    got = np.asarray(found)
    assert found.shape == expected.shape, (name, seed, found.shape, expected.shape)
    where = f"{name} seed {seed} on {world}: {laid}"
    if row.exact:
        np.testing.assert_array_equal(got, expected, err_msg=where)
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9, err_msg=where)
    for rank in world.local_ranks:
        if not found.sharding.unreduced:
            box = found.sharding.box(found.shape, rank)
            np.testing.assert_allclose(
                found.local(rank), expected[box], rtol=1e-9, atol=1e-9, err_msg=where
            )

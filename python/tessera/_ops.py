"""Ops on arrays: under NumPy's names where NumPy has them.

Element types are not converted by themselves: operands have one type, and :func:`astype` changes
it. A number, or an array of NumPy, beside an array is replicated.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tessera._array import Array, _function, axis_of, binary, compare, like, shape_of, unary
from tessera._binding import ffi, lib
from tessera._dtype import as_double, dtype_code, number_for
from tessera._errors import InvalidError

if TYPE_CHECKING:
    from types import EllipsisType

__all__ = [
    "absolute",
    "add",
    "all",
    "any",
    "arctan2",
    "argmax",
    "argsort",
    "astype",
    "bitwise_and",
    "bitwise_count",
    "bitwise_or",
    "bitwise_xor",
    "broadcast_to",
    "cbrt",
    "ceil",
    "clip",
    "concatenate",
    "cos",
    "count_leading_zeros",
    "cross_entropy",
    "cumsum",
    "divide",
    "einsum",
    "embedding",
    "equal",
    "erf",
    "exp",
    "expm1",
    "floor",
    "fmod",
    "gelu",
    "greater",
    "greater_equal",
    "invert",
    "isfinite",
    "layer_norm",
    "left_shift",
    "less",
    "less_equal",
    "linear",
    "log",
    "log1p",
    "logsumexp",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "one_hot",
    "pad",
    "power",
    "prod",
    "relu",
    "reshape",
    "right_shift",
    "right_shift_logical",
    "rint",
    "rms_norm",
    "round_away",
    "rsqrt",
    "scatter",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "softmax",
    "sort",
    "split",
    "sqrt",
    "stack",
    "subtract",
    "sum",
    "take",
    "tan",
    "tanh",
    "top_k",
    "transpose",
    "where",
]

Axes = int | Sequence[int] | None


def _arguments(**values: Any) -> Any:
    return ffi.new("tp_arguments *", values)


def _sizes(values: Sequence[int]) -> Any:
    return ffi.new("size_t[]", [*values, 0])


def _numbers(values: Sequence[int]) -> Any:
    return ffi.new("int64_t[]", [*values, 0])


def _array_of(x: object) -> Array:
    if not isinstance(x, Array):
        raise TypeError(f"the operand is a {type(x).__name__}, not an Array: world.array makes one")
    return x


def _alike(operands: Sequence[Any]) -> list[Array]:
    """Operands of which at least one is an array, the others as arrays of its world."""
    first = next((one for one in operands if isinstance(one, Array)), None)
    if first is None:
        raise TypeError("none of the operands is an Array: world.array makes one")
    return [like(first, one) for one in operands]


# ---- elementwise: a row for each op ----


def _unary_op(name: str, function: str, doc: str) -> Callable[[Array], Array]:
    pointer = _function(function)

    def op(x: Array) -> Array:
        return unary(pointer, _array_of(x))

    op.__name__ = op.__qualname__ = name
    op.__doc__ = doc
    return op


def _binary_op(name: str, function: str, doc: str) -> Callable[[Any, Any], Array]:
    pointer = _function(function)

    def op(a: Any, b: Any) -> Array:
        if isinstance(a, Array):
            return binary(pointer, a, b if isinstance(b, Array) else like(a, b))
        return binary(pointer, like(_array_of(b), a), b)

    op.__name__ = op.__qualname__ = name
    op.__doc__ = doc
    return op


def _comparison(name: str, code: int, doc: str) -> Callable[[Any, Any], Array]:
    def op(a: Any, b: Any) -> Array:
        if isinstance(a, Array):
            return compare(a, b, code)
        return compare(like(_array_of(b), a), b, code)

    op.__name__ = op.__qualname__ = name
    op.__doc__ = doc
    return op


negative = _unary_op("negative", "tsr_negate", "-x.")
absolute = _unary_op("absolute", "tsr_abs", "The distance from zero.")
sign = _unary_op("sign", "tsr_sign", "-1, 0 or 1.")
exp = _unary_op("exp", "tsr_exp", "e to the x.")
expm1 = _unary_op("expm1", "tsr_expm1", "e to the x, minus 1.")
log = _unary_op("log", "tsr_log", "The natural logarithm.")
log1p = _unary_op("log1p", "tsr_log1p", "The logarithm of 1 + x.")
sqrt = _unary_op("sqrt", "tsr_sqrt", "The square root.")
rsqrt = _unary_op("rsqrt", "tsr_rsqrt", "1 over the square root.")
cbrt = _unary_op("cbrt", "tsr_cbrt", "The cube root.")
tanh = _unary_op("tanh", "tsr_tanh", "The hyperbolic tangent.")
erf = _unary_op("erf", "tsr_erf", "The error function.")
sin = _unary_op("sin", "tsr_sin", "The sine.")
cos = _unary_op("cos", "tsr_cos", "The cosine.")
tan = _unary_op("tan", "tsr_tan", "The tangent.")
floor = _unary_op("floor", "tsr_floor", "The greatest integer that is not above x.")
ceil = _unary_op("ceil", "tsr_ceil", "The least integer that is not below x.")
rint = _unary_op(
    "rint", "tsr_round_nearest_even", "The nearest integer; a half goes to the even one."
)
round_away = _unary_op(
    "round_away", "tsr_round_nearest_afz", "The nearest integer; a half goes away from zero."
)
sigmoid = _unary_op("sigmoid", "tsr_sigmoid", "1 / (1 + e^-x).")
silu = _unary_op("silu", "tsr_silu", "x times its sigmoid.")
gelu = _unary_op("gelu", "tsr_gelu", "x (1 + erf(x / sqrt 2)) / 2.")
relu = _unary_op("relu", "tsr_relu", "max(x, 0).")
invert = _unary_op("invert", "tsr_not", "All bits turned, or truth values.")
bitwise_count = _unary_op("bitwise_count", "tsr_popcnt", "How many bits are set.")
count_leading_zeros = _unary_op(
    "count_leading_zeros", "tsr_count_leading_zeros", "How many leading bits are not set."
)
isfinite = _unary_op("isfinite", "tsr_is_finite", "Whether x is neither infinite nor a NaN.")

add = _binary_op("add", "tsr_add", "a + b.")
subtract = _binary_op("subtract", "tsr_sub", "a - b.")
multiply = _binary_op("multiply", "tsr_mul", "a * b.")
divide = _binary_op("divide", "tsr_div", "a / b; of integers rounded towards zero.")
maximum = _binary_op("maximum", "tsr_maximum", "The greater one; a NaN is handed on.")
minimum = _binary_op("minimum", "tsr_minimum", "The lesser one; a NaN is handed on.")
power = _binary_op("power", "tsr_pow", "a to the b.")
fmod = _binary_op("fmod", "tsr_rem", "The remainder of a / b, with the sign of a.")
bitwise_and = _binary_op("bitwise_and", "tsr_and", "The bits that both have.")
bitwise_or = _binary_op("bitwise_or", "tsr_or", "The bits that either has.")
bitwise_xor = _binary_op("bitwise_xor", "tsr_xor", "The bits that one of them has.")
arctan2 = _binary_op("arctan2", "tsr_atan2", "The angle of the point (b, a).")
left_shift = _binary_op("left_shift", "tsr_shift_left", "a shifted left by b bits.")
right_shift = _binary_op(
    "right_shift", "tsr_shift_right_arithmetic", "a shifted right by b bits; the sign stays."
)
right_shift_logical = _binary_op(
    "right_shift_logical", "tsr_shift_right_logical", "a shifted right by b bits, filled with 0."
)
matmul = _binary_op("matmul", "tsr_matmul", "The product of matrices, [.., m, k] by [.., k, n].")
embedding = _binary_op("embedding", "tsr_embedding", "Rows of a table [v, e] by indices.")

equal = _comparison("equal", lib.TSR_EQ, "Whether a is b.")
not_equal = _comparison("not_equal", lib.TSR_NE, "Whether a is not b.")
less = _comparison("less", lib.TSR_LT, "Whether a is less than b.")
less_equal = _comparison("less_equal", lib.TSR_LE, "Whether a is at most b.")
greater = _comparison("greater", lib.TSR_GT, "Whether a is greater than b.")
greater_equal = _comparison("greater_equal", lib.TSR_GE, "Whether a is at least b.")


def astype(x: Array, dtype: object) -> Array:
    """The same elements in another type: rounded, wrapped, or not 0."""
    given = _arguments(i=dtype_code(dtype))
    made: Array = x._world._call(lib.TP_INTEGER, _function("tsr_convert"), (x,), given)
    return made


def clip(x: Array, a_min: Any, a_max: Any) -> Array:
    """min(max(x, a_min), a_max)."""
    made: Array = x._world._call(
        lib.TP_TENSORS, _function("tsr_clamp"), (like(x, a_min), x, like(x, a_max))
    )
    return made


def where(condition: Any, x: Any, y: Any) -> Array:
    """X where the condition, of truth values, holds, y elsewhere."""
    one = _array_of(x if isinstance(x, Array) else y)
    operands = (like(one, condition), like(one, x), like(one, y))
    made: Array = one._world._call(lib.TP_TENSORS, _function("tsr_select"), operands)
    return made


# ---- products ----


def einsum(equation: str, *operands: Any) -> Array:
    """``ij,jk->ik`` and the like, for any number of operands."""
    arrays = _alike(operands)
    text = ffi.new("char[]", equation.encode())
    made: Array = arrays[0]._world._call(
        lib.TP_EINSUM, _function("tsr_einsum"), arrays, _arguments(text=text)
    )
    return made


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """X [.., i] by weight [o, i], plus bias [o]: [.., o]."""
    made: Array = x._world._call(lib.TP_TENSORS, _function("tsr_linear"), (x, weight, bias))
    return made


# ---- reductions ----


def _axes_of(axis: Axes, ndim: int) -> list[int]:
    if axis is None:
        return list(range(ndim))
    given = list(axis) if isinstance(axis, Iterable) else [axis]
    return [axis_of(one, ndim) for one in given]


def _reduce(function: str, x: Array, axis: Axes, keepdims: bool) -> Array:
    axes = _axes_of(axis, _array_of(x).ndim)
    given = _arguments(sizes=(keep := _sizes(axes)), count=len(axes))
    made: Array = x._world._call(lib.TP_DIMS, _function(function), (x,), given)
    del keep
    if keepdims:
        return reshape(made, [1 if i in axes else n for i, n in enumerate(x.shape)])
    return made


def sum(x: Array, axis: Axes = None, keepdims: bool = False) -> Array:
    """The sum over dimensions; over sharded ones it is pending."""
    return _reduce("tsr_sum", x, axis, keepdims)


def mean(x: Array, axis: Axes = None, keepdims: bool = False) -> Array:
    """The mean over dimensions, of floats."""
    return _reduce("tsr_mean", x, axis, keepdims)


def max(x: Array, axis: Axes = None, keepdims: bool = False) -> Array:
    """The greatest element over dimensions."""
    return _reduce("tsr_max", x, axis, keepdims)


def min(x: Array, axis: Axes = None, keepdims: bool = False) -> Array:
    """The least element over dimensions."""
    return _reduce("tsr_min", x, axis, keepdims)


def prod(x: Array, axis: Axes = None, keepdims: bool = False) -> Array:
    """The product over dimensions."""
    return _reduce("tsr_prod", x, axis, keepdims)


def all(x: Array, axis: Axes = None, keepdims: bool = False) -> Array:
    """Whether all are true."""
    return _reduce("tsr_all", x, axis, keepdims)


def any(x: Array, axis: Axes = None, keepdims: bool = False) -> Array:
    """Whether any is true."""
    return _reduce("tsr_any", x, axis, keepdims)


def _along(function: str, x: Array, axis: int) -> Array:
    given = _arguments(i=axis_of(axis, _array_of(x).ndim))
    made: Array = x._world._call(lib.TP_DIM, _function(function), (x,), given)
    return made


def argmax(x: Array, axis: int) -> Array:
    """Where along a dimension the first greatest element is."""
    return _along("tsr_argmax", x, axis)


def cumsum(x: Array, axis: int) -> Array:
    """The running sum along a dimension."""
    return _along("tsr_cumsum", x, axis)


def softmax(x: Array, axis: int = -1) -> Array:
    """e^x over its sum along a dimension."""
    return _along("tsr_softmax", x, axis)


def logsumexp(x: Array, axis: int = -1) -> Array:
    """The logarithm of the sum of e^x along a dimension."""
    return _along("tsr_logsumexp", x, axis)


# ---- shapes ----


def reshape(x: Array, shape: int | Sequence[int]) -> Array:
    """The same elements, row-major, in another shape; one extent may be -1."""
    sizes = shape_of(shape)
    given = _arguments(a=(keep := _numbers(sizes)), count=len(sizes))
    made: Array = _array_of(x)._world._call(lib.TP_SHAPE, _function("tsr_reshape"), (x,), given)
    del keep
    return made


def broadcast_to(x: Array, shape: int | Sequence[int]) -> Array:
    """To a shape whose last dimensions are those of x, where size 1 may grow."""
    sizes = shape_of(shape)
    given = _arguments(a=(keep := _numbers(sizes)), count=len(sizes))
    made: Array = _array_of(x)._world._call(
        lib.TP_SHAPE, _function("tsr_broadcast_to"), (x,), given
    )
    del keep
    return made


def transpose(x: Array, axes: Sequence[int] | None = None) -> Array:
    """The dimensions in another order, by default reversed."""
    ndim = _array_of(x).ndim
    order = list(range(ndim))[::-1] if axes is None else [axis_of(one, ndim) for one in axes]
    if sorted(order) != list(range(ndim)):
        raise InvalidError(f"{axes} is not an order of the {ndim} dimensions")
    given = _arguments(sizes=(keep := _sizes(order)))
    made: Array = x._world._call(lib.TP_PERMUTATION, _function("tsr_transpose"), (x,), given)
    del keep
    return made


def _slice(x: Array, start: list[int], limit: list[int], step: list[int]) -> Array:
    keep = _numbers(start), _numbers(limit), _numbers(step)
    given = _arguments(a=keep[0], b=keep[1], c=keep[2])
    made: Array = x._world._call(lib.TP_SLICE, _function("tsr_slice"), (x,), given)
    return made


def _whole_number(key: Any) -> int:
    try:
        return operator.index(key)
    except TypeError:
        raise TypeError(
            f"an index is an integer, a slice, '...' or None, not {type(key).__name__}: "
            "tessera.take has the rows at a list of indices, tessera.where elements by a condition"
        ) from None


def index(x: Array, key: int | slice | EllipsisType | tuple[Any, ...]) -> Array:
    """``x[key]`` for integers, slices of positive step, ``...`` and ``None``."""
    items: list[Any] = list(key) if isinstance(key, tuple) else [key]
    taken = [one for one in items if one is not None and one is not Ellipsis]
    if len(taken) > x.ndim:
        raise InvalidError(f"{len(taken)} indices for an array that has {x.ndim} dimensions")
    rest = [slice(None)] * (x.ndim - len(taken))
    ellipses = [at for at, one in enumerate(items) if one is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index has at most one '...'")
    if ellipses:
        items[ellipses[0] : ellipses[0] + 1] = rest
    else:
        items += rest
    start: list[int] = []
    limit: list[int] = []
    step: list[int] = []
    shape: list[int] = []
    dim = 0
    for one in items:
        if one is None:
            shape.append(1)
            continue
        extent = x.shape[dim]
        if isinstance(one, slice):
            first, last, by = one.indices(extent)
            if by < 1:
                raise InvalidError(f"the step of a slice is positive, not {by}")
            count = len(range(first, last, by))
            start.append(first)
            limit.append(first + count * by - by + 1 if count else first)
            step.append(by)
            shape.append(count)
        else:
            number = _whole_number(one)
            if not -extent <= number < extent:
                raise IndexError(f"index {number} of dimension {dim}, which has {extent}")
            start.append(number % extent)
            limit.append(number % extent + 1)
            step.append(1)
        dim += 1
    cut = _slice(x, start, limit, step)
    return cut if tuple(shape) == cut.shape else reshape(cut, shape)


def concatenate(arrays: Sequence[Any], axis: int = 0) -> Array:
    """One after the other along a dimension."""
    return _joined("tsr_concatenate", arrays, axis, 0)


def stack(arrays: Sequence[Any], axis: int = 0) -> Array:
    """The same along a new dimension."""
    return _joined("tsr_stack", arrays, axis, 1)


def _joined(function: str, arrays: Sequence[Any], axis: int, more: int) -> Array:
    found = _alike(arrays)
    given = _arguments(i=axis_of(axis, found[0].ndim + more))
    made: Array = found[0]._world._call(lib.TP_LIST, _function(function), found, given)
    return made


def split(x: Array, sizes: int | Sequence[int], axis: int = 0) -> tuple[Array, ...]:
    """Cuts a dimension: into so many equal parts, or before these indices, as NumPy does."""
    dim = axis_of(axis, _array_of(x).ndim)
    extent = x.shape[dim]
    if not isinstance(sizes, Iterable):
        if sizes < 1 or extent % sizes:
            raise InvalidError(
                f"dimension {dim} of {extent} cannot be cut into {sizes} equal parts"
            )
        parts = [extent // sizes] * sizes
    else:
        edges = [0, *(min_(one if one >= 0 else one + extent, extent) for one in sizes), extent]
        parts = [b - a if b > a else 0 for a, b in itertools.pairwise(edges)]
    given = _arguments(i=dim, a=(keep := _numbers(parts)), count=len(parts))
    made = x._world._call(lib.TP_SPLIT, ffi.NULL, (x,), given, len(parts))
    del keep
    if isinstance(made, Array):
        return (made,)
    parts_made: tuple[Array, ...] = made
    return parts_made


def min_(a: int, b: int) -> int:
    """The lesser number; ``min`` is the op here."""
    return a if a < b else b


def pad(
    x: Array,
    widths: Sequence[tuple[int, int]],
    value: float = 0.0,
    between: Sequence[int] | None = None,
) -> Array:
    """A border of a number: (before, after) each dimension, and between its elements."""
    ndim = _array_of(x).ndim
    if len(widths) != ndim or (between is not None and len(between) != ndim):
        raise InvalidError(f"an array that has {ndim} dimensions needs a width for each")
    number_for(value, x.dtype)
    number = as_double(value)
    if number is None:
        raise InvalidError(f"pad takes no {value}: no double is that number")
    keep = _numbers([one[0] for one in widths]), _numbers([one[1] for one in widths])
    inner = ffi.NULL if between is None else _numbers(between)
    given = _arguments(number=number, a=keep[0], b=keep[1], c=inner)
    made: Array = x._world._call(lib.TP_PAD, _function("tsr_pad"), (x,), given)
    return made


# ---- indices ----


def take(x: Array, indices: Array, axis: int = 0) -> Array:
    """The rows at indices along a dimension; one out of range is the nearest in it."""
    given = _arguments(i=axis_of(axis, _array_of(x).ndim))
    made: Array = x._world._call(
        lib.TP_DIM, _function("tsr_take"), (x, _integers(x, indices)), given
    )
    return made


def _integers(x: Array, indices: Any) -> Array:
    return indices if isinstance(indices, Array) else x._world.array(indices)


_SCATTERS: dict[str, int] = {
    "set": lib.TSR_SCATTER_SET,
    "add": lib.TSR_SCATTER_ADD,
    "mul": lib.TSR_SCATTER_MUL,
    "max": lib.TSR_SCATTER_MAX,
    "min": lib.TSR_SCATTER_MIN,
}


def scatter_code(op: str) -> int:
    """What updates do, as the library numbers it."""
    if op not in _SCATTERS:
        raise InvalidError(f"there is no {op!r}: {', '.join(_SCATTERS)}")
    return _SCATTERS[op]


def scatter(x: Array, indices: Array, updates: Array, axis: int = 0, op: str = "set") -> Array:
    """X with updates at the rows ``indices``: set, add, mul, max or min."""
    given = _arguments(i=axis_of(axis, _array_of(x).ndim), j=scatter_code(op))
    made: Array = x._world._call(
        lib.TP_SCATTER, _function("tsr_scatter"), (x, _integers(x, indices), updates), given
    )
    return made


def one_hot(indices: Array, depth: int, dtype: object = "f32") -> Array:
    """1 where the last, new dimension is the index, 0 elsewhere."""
    given = _arguments(i=depth, j=dtype_code(dtype))
    made: Array = _array_of(indices)._world._call(
        lib.TP_ONE_HOT, _function("tsr_one_hot"), (indices,), given
    )
    return made


def _ordered(x: Array, axis: int, descending: bool) -> tuple[Array, Array]:
    given = _arguments(i=axis_of(axis, _array_of(x).ndim), j=int(descending))
    made: tuple[Array, Array] = x._world._call(lib.TP_SORT, ffi.NULL, (x,), given, 2)
    return made


def sort(x: Array, axis: int = -1, descending: bool = False) -> Array:
    """Sorted along a dimension, stably, NaNs as greater than all."""
    return _ordered(x, axis, descending)[0]


def argsort(x: Array, axis: int = -1, descending: bool = False) -> Array:
    """Where each element of the sorted array was."""
    return _ordered(x, axis, descending)[1]


def top_k(x: Array, k: int, axis: int = -1) -> tuple[Array, Array]:
    """The k greatest along a dimension, the greatest first, and where they were."""
    given = _arguments(i=axis_of(axis, _array_of(x).ndim), j=k)
    made: tuple[Array, Array] = x._world._call(lib.TP_TOP_K, ffi.NULL, (x,), given, 2)
    return made


# ---- of several ops ----


def layer_norm(
    x: Array, scale: Array | None = None, bias: Array | None = None, epsilon: float = 1e-5
) -> Array:
    """(x - mean) / sqrt(variance + epsilon) along the last dimension, times scale, plus bias."""
    given = _arguments(number=epsilon)
    made: Array = x._world._call(
        lib.TP_NUMBER, _function("tsr_layer_norm"), (x, scale, bias), given
    )
    return made


def rms_norm(x: Array, scale: Array | None = None, epsilon: float = 1e-5) -> Array:
    """X / sqrt(mean square + epsilon) along the last dimension, times scale."""
    given = _arguments(number=epsilon)
    made: Array = x._world._call(lib.TP_NUMBER, _function("tsr_rms_norm"), (x, scale), given)
    return made


def cross_entropy(logits: Array, labels: Array, ignored: int = -100) -> Array:
    """For logits [.., v] and labels [..]: logsumexp of the logits minus the label's one."""
    given = _arguments(i=ignored)
    made: Array = logits._world._call(
        lib.TP_LABEL, _function("tsr_cross_entropy_ignoring"), (logits, labels), given
    )
    return made

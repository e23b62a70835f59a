"""Ops on arrays: under NumPy's names where NumPy has them.

Element types are not converted by themselves: operands have one type, and :func:`astype` changes
it. A number, or an array of NumPy, beside an array is replicated.
"""

from __future__ import annotations

import builtins
import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tessera._array import Array, _function, binary, compare, like, shape_of, unary
from tessera._binding import ffi, lib
from tessera._dtype import (
    as_double,
    bounds_of,
    dtype_code,
    dtype_name,
    is_integer,
    number_for,
    sum_code,
)
from tessera._errors import InvalidError
from tessera._sharding import axis_of
from tessera._started import refuse_started

if TYPE_CHECKING:
    from types import EllipsisType

__all__ = [
    "absolute",
    "add",
    "all",
    "any",
    "arcsinh",
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
    "erfc",
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
Names = str | Iterable[str] | None


def _text_of(names: str | Iterable[str]) -> str:
    """Axes of a mesh as the library takes them, with commas between."""
    return names if isinstance(names, str) else ",".join(names)


def _arguments(**values: Any) -> Any:
    return ffi.new("tp_arguments *", values)


def _sizes(values: Sequence[int]) -> Any:
    return ffi.new("size_t[]", [*values, 0])


def _numbers(values: Sequence[int]) -> Any:
    return ffi.new("int64_t[]", [*values, 0])


def _array_of(x: object) -> Array:
    if not isinstance(x, Array):
        refuse_started(x)
        raise TypeError(f"the operand is a {type(x).__name__}, not an Array: world.array makes one")
    return x


def _alike(operands: Sequence[Any]) -> list[Array]:
    """Operands of which at least one is an array, the others as arrays of its world."""
    first = next((one for one in operands if isinstance(one, Array)), None)
    if first is None:
        for one in operands:
            refuse_started(one)
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
arcsinh = _unary_op("arcsinh", "tsr_asinh", "The inverse of the hyperbolic sine.")
erf = _unary_op("erf", "tsr_erf", "The error function.")
erfc = _unary_op("erfc", "tsr_erfc", "1 minus the error function.")
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


def matmul(a: Any, b: Any, *, out_partial_axes: Names = None) -> Array:
    """The product of matrices, [.., m, k] by [.., k, n].

    In typed code, of values that are cut along the contracted dimension, ``out_partial_axes`` are
    the axes of the mesh along which the result is P: a sum that is pending. Other ops that
    contract or reduce have it too.
    """
    x, y = _alike((a, b))
    if out_partial_axes is None:
        return binary(_function("tsr_matmul"), x, y)
    return spmd.matmul_partial(x, y, _text_of(out_partial_axes))


def einsum(equation: str, *operands: Any, out_partial_axes: Names = None) -> Array:
    """``ij,jk->ik`` and the like, for any number of operands."""
    arrays = _alike(operands)
    if out_partial_axes is not None:
        return spmd.einsum_partial(equation, *arrays, axes=_text_of(out_partial_axes))
    text = ffi.new("char[]", equation.encode())
    made: Array = arrays[0]._world._call(
        lib.TP_EINSUM, _function("tsr_einsum"), arrays, _arguments(text=text)
    )
    return made


def linear(
    x: Array, weight: Array, bias: Array | None = None, *, out_partial_axes: Names = None
) -> Array:
    """X [.., i] by weight [o, i], plus bias [o]: [.., o]."""
    if out_partial_axes is not None:
        return spmd.linear_partial(x, weight, bias, _text_of(out_partial_axes))
    made: Array = x._world._call(lib.TP_TENSORS, _function("tsr_linear"), (x, weight, bias))
    return made


# ---- reductions ----


def _axes_of(axis: Axes, ndim: int) -> list[int]:
    if axis is None:
        return list(range(ndim))
    given = list(axis) if isinstance(axis, Iterable) else [axis]
    return [axis_of(one, ndim) for one in given]


def _reduce(
    function: str,
    x: Array,
    axis: Axes,
    keepdims: bool,
    partial: Names = None,
    accumulator: int | None = None,
) -> Array:
    """A reduction; with an element type as its accumulator the function is that of the type."""
    axes = _axes_of(axis, _array_of(x).ndim)
    given = _arguments(sizes=(keep := _sizes(axes)), count=len(axes))
    made: Array
    if partial is not None:
        converted = x if accumulator is None else astype(x, dtype_name(accumulator))
        made = spmd._reduced(f"{function}_partial", converted, axes, _text_of(partial))
    elif accumulator is not None:
        given.i = accumulator
        made = x._world._call(lib.TP_DIMS_AS, _function(f"{function}_as"), (x,), given)
    else:
        made = x._world._call(lib.TP_DIMS, _function(function), (x,), given)
    del keep
    if keepdims:
        return reshape(made, [1 if i in axes else n for i, n in enumerate(x.shape)])
    return made


def _accumulator(x: Array, dtype: object) -> int | None:
    """The element type that NumPy sums in; None for that of the elements."""
    code = int(lib.tsr_tensor_dtype(_array_of(x)._first()))
    wanted = sum_code(code) if dtype is None else dtype_code(dtype)
    return None if wanted == code else wanted


def sum(
    x: Array,
    axis: Axes = None,
    dtype: object = None,
    *,
    keepdims: bool = False,
    out_partial_axes: Names = None,
) -> Array:
    """The sum over dimensions; over sharded ones it is pending.

    Integers and truth values are summed as 64-bit integers, unless ``dtype`` says another type.
    """
    return _reduce("tsr_sum", x, axis, keepdims, out_partial_axes, _accumulator(x, dtype))


def mean(
    x: Array,
    axis: Axes = None,
    dtype: object = None,
    *,
    keepdims: bool = False,
    out_partial_axes: Names = None,
) -> Array:
    """The mean over dimensions; of integers and truth values as float64."""
    code = int(lib.tsr_tensor_dtype(_array_of(x)._first()))
    if dtype is None and is_integer(code):
        dtype = "float64"
    return _reduce("tsr_mean", x, axis, keepdims, out_partial_axes, _accumulator(x, dtype))


def _refuse_nothing(what: str, x: Array, axes: list[int]) -> None:
    """Refuses what nothing has: a greatest, a least."""
    empty = [i for i in axes if x.shape[i] == 0]
    if empty:
        raise InvalidError(
            f"{what} of nothing: dimension {empty[0]} of an array of shape {x.shape} has size 0"
        )


def max(
    x: Array, axis: Axes = None, *, keepdims: bool = False, out_partial_axes: Names = None
) -> Array:
    """The greatest element over dimensions, which have some."""
    _refuse_nothing("max", x, _axes_of(axis, _array_of(x).ndim))
    return _reduce("tsr_max", x, axis, keepdims, out_partial_axes)


def min(
    x: Array, axis: Axes = None, *, keepdims: bool = False, out_partial_axes: Names = None
) -> Array:
    """The least element over dimensions, which have some."""
    _refuse_nothing("min", x, _axes_of(axis, _array_of(x).ndim))
    return _reduce("tsr_min", x, axis, keepdims, out_partial_axes)


def prod(x: Array, axis: Axes = None, dtype: object = None, *, keepdims: bool = False) -> Array:
    """The product over dimensions, in the type that :func:`sum` has."""
    return _reduce("tsr_prod", x, axis, keepdims, None, _accumulator(x, dtype))


def all(x: Array, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """Whether all are true."""
    return _reduce("tsr_all", x, axis, keepdims)


def any(x: Array, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """Whether any is true."""
    return _reduce("tsr_any", x, axis, keepdims)


def _along(function: str, x: Array, axis: int) -> Array:
    given = _arguments(i=axis_of(axis, _array_of(x).ndim))
    made: Array = x._world._call(lib.TP_DIM, _function(function), (x,), given)
    return made


def argmax(x: Array, axis: int) -> Array:
    """Where along a dimension, which has some, the first greatest element is."""
    _refuse_nothing("argmax", x, [axis_of(axis, _array_of(x).ndim)])
    return _along("tsr_argmax", x, axis)


def cumsum(x: Array, axis: int, dtype: object = None) -> Array:
    """The running sum along a dimension, in the type that :func:`sum` has."""
    accumulator = _accumulator(x, dtype)
    if accumulator is None:
        return _along("tsr_cumsum", x, axis)
    given = _arguments(i=axis_of(axis, x.ndim), j=accumulator)
    made: Array = x._world._call(lib.TP_DIM_AS, _function("tsr_cumsum_as"), (x,), given)
    return made


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


def _check_rows(least: int, greatest: int, extent: int, axis: int, other: str) -> None:
    """Refuses rows that a dimension does not have."""
    if least < -extent or greatest >= extent:
        raise IndexError(
            f"index {least if least < -extent else greatest} is out of range for dimension "
            f"{axis}, which has size {extent}; mode={other!r} allows it"
        )


def _range_of(indices: NDArray[Any]) -> tuple[int, int]:
    """The least and the greatest; of nothing 0 and -1."""
    return (int(indices.min()), int(indices.max())) if indices.size else (0, -1)


def _from_end(indices: Array, extent: int) -> Array:
    """Indices of which those below 0 count from the end; typed values too."""
    bounds = bounds_of(indices.dtype)
    if bounds is not None and bounds[1] < extent:
        indices = astype(indices, "int64")
    return indices + relu(-sign(indices)) * extent


def _rows_of(x: Array, indices: Any, axis: int, mode: str, other: str) -> Array:
    """Indices of rows of a dimension as an array; in mode "raise" those that it has."""
    extent = x.shape[axis]
    if mode not in ("raise", other):
        raise InvalidError(f"unknown mode {mode!r}; use 'raise' or {other!r}")
    if not isinstance(indices, Array):
        given = np.asarray(indices)
        given = given.astype(np.int64) if given.size == 0 else given
        if given.dtype.kind not in "iu":
            raise TypeError(f"indices are integers, not {given.dtype}")
        if mode == "raise":
            _check_rows(*_range_of(given), extent, axis, other)
            given = np.where(given < 0, given + extent, given)
        return x._world.array(given)
    if mode != "raise" or indices.is_abstract or indices.dtype.kind not in "iu":
        return indices
    world = x._world
    indices = indices.reduce_pending() if indices.sharding.unreduced else indices
    ranges = [_range_of(indices._lent(rank)) for rank in world.local_ranks]
    if world._checked or not world._scopes:
        for least, greatest in ranges:
            _check_rows(least, greatest, extent, axis, other)
    known = len(ranges) == world.size and builtins.all(least >= 0 for least, _ in ranges)
    return indices if known or indices.dtype.kind == "u" else _from_end(indices, extent)


def take(
    x: Array,
    indices: Any,
    axis: int = 0,
    mode: str = "raise",
    *,
    out_partial_axes: Names = None,
    start: int | Sequence[int] = 0,
) -> Array:
    """The rows at indices along a dimension; those below 0 count from the end.

    One out of range is an error, or with ``mode="clip"`` the nearest in it, where any below 0 is
    the first. In typed code, where ranks have indices of their own, checked worlds alone look.

    With ``out_partial_axes`` x is cut along them, and a rank's rows begin at ``start``: indices
    count over the whole, and rows of other ranks are zeros here.
    """
    dim = axis_of(axis, _array_of(x).ndim)
    if out_partial_axes is not None:
        return spmd.take_partial(x, indices, dim, start, _text_of(out_partial_axes))
    rows = _rows_of(x, indices, dim, mode, "clip")
    made: Array = x._world._call(lib.TP_DIM, _function("tsr_take"), (x, rows), _arguments(i=dim))
    return made


def embedding(
    table: Array,
    indices: Any,
    mode: str = "raise",
    *,
    out_partial_axes: Names = None,
    start: int | Sequence[int] = 0,
) -> Array:
    """Rows of a table [v, e] by indices, as :func:`take` has them."""
    if out_partial_axes is not None:
        return spmd.embedding_partial(table, indices, start, _text_of(out_partial_axes))
    rows = _rows_of(_array_of(table), indices, 0, mode, "clip")
    return binary(_function("tsr_embedding"), table, rows)


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
        raise InvalidError(f"unknown op {op!r}; use one of {', '.join(_SCATTERS)}")
    return _SCATTERS[op]


def scatter(
    x: Array,
    indices: Any,
    updates: Array,
    axis: int = 0,
    op: str = "set",
    mode: str = "raise",
    *,
    out_partial_axes: Names = None,
) -> Array:
    """X with updates at the rows ``indices``: set, add, mul, max or min.

    Indices are those of :func:`take`; ``mode="drop"`` leaves out what is out of range, and below 0.
    With ``out_partial_axes`` the updates are cut along them.
    """
    dim = axis_of(axis, _array_of(x).ndim)
    if out_partial_axes is not None:
        return spmd.scatter_partial(x, indices, updates, dim, op, _text_of(out_partial_axes))
    rows = _rows_of(x, indices, dim, mode, "drop")
    given = _arguments(i=dim, j=scatter_code(op))
    made: Array = x._world._call(
        lib.TP_SCATTER, _function("tsr_scatter"), (x, rows, updates), given
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


# Typed code is made of what this module has.
from tessera import spmd  # noqa: E402

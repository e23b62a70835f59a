"""Element types of NumPy and ml_dtypes, numbers as elements of them, views of arrays."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tessera._arena import Arena, address_of
from tessera._binding import ffi, lib
from tessera._errors import InvalidError, UnsupportedError, text_of
from tessera._optional import is_from, optional

_NUMPY: dict[int, Any] = {
    lib.TSR_I1: np.bool_,
    lib.TSR_I8: np.int8,
    lib.TSR_I16: np.int16,
    lib.TSR_I32: np.int32,
    lib.TSR_I64: np.int64,
    lib.TSR_U8: np.uint8,
    lib.TSR_U16: np.uint16,
    lib.TSR_U32: np.uint32,
    lib.TSR_U64: np.uint64,
    lib.TSR_F16: np.float16,
    lib.TSR_F32: np.float32,
    lib.TSR_F64: np.float64,
    lib.TSR_C64: np.complex64,
    lib.TSR_C128: np.complex128,
}
_EXTRA = {
    lib.TSR_BF16: "bfloat16",
    lib.TSR_I2: "int2",
    lib.TSR_I4: "int4",
    lib.TSR_U2: "uint2",
    lib.TSR_U4: "uint4",
    lib.TSR_F4E2M1FN: "float4_e2m1fn",
    lib.TSR_F6E2M3FN: "float6_e2m3fn",
    lib.TSR_F6E3M2FN: "float6_e3m2fn",
    lib.TSR_F8E3M4: "float8_e3m4",
    lib.TSR_F8E4M3: "float8_e4m3",
    lib.TSR_F8E4M3FN: "float8_e4m3fn",
    lib.TSR_F8E4M3FNUZ: "float8_e4m3fnuz",
    lib.TSR_F8E4M3B11FNUZ: "float8_e4m3b11fnuz",
    lib.TSR_F8E5M2: "float8_e5m2",
    lib.TSR_F8E5M2FNUZ: "float8_e5m2fnuz",
    lib.TSR_F8E8M0FNU: "float8_e8m0fnu",
}
_FROM_NUMPY = {np.dtype(kind): code for code, kind in _NUMPY.items()}
_FROM_NAME = {name: code for code, name in _EXTRA.items()}


def numpy_dtype(code: int) -> np.dtype[Any]:
    """The dtype of NumPy for an element type of the library."""
    found = _NUMPY.get(code)
    if found is not None:
        known: np.dtype[Any] = np.dtype(found)
        return known
    name = _EXTRA[code]
    try:
        import ml_dtypes
    except ImportError:
        raise UnsupportedError(
            f"NumPy has no {name}: install ml_dtypes, or convert the array first, "
            "such as x.astype('float32')"
        ) from None
    extra: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return extra


# What NumPy means by a name, and what programs mean by it.
_TWO_MEANINGS = {
    "i1": ("int8", "bool"),
    "i2": ("int16", "int2"),
    "i4": ("int32", "int4"),
    "i8": ("int64", "int8"),
    "u2": ("uint16", "uint2"),
    "u4": ("uint32", "uint4"),
    "u8": ("uint64", "uint8"),
    "float": ("float64", "float32"),
}


def named_code(name: str) -> int:
    """The element type that programs have under a name: ``i8`` is int8."""
    arena, out = Arena(), ffi.new("tsr_dtype *")
    arena.check(lib.tsr_dtype_parse(arena.ctx, name.encode(), out))
    return int(out[0])


def _numpy_code(dtype: object) -> int | None:
    """The element type of a dtype of NumPy; None where there is none."""
    found: np.dtype[Any] = np.dtype(dtype)  # type: ignore[call-overload]
    return _FROM_NUMPY.get(found, _FROM_NAME.get(found.name))


def dtype_code(dtype: object) -> int:
    """The element type of the library for a dtype of NumPy, or for a name.

    Names are those of programs and of NumPy; one that means two types is refused.
    """
    if not isinstance(dtype, str):
        code = _numpy_code(dtype)
        if code is None:
            raise UnsupportedError(f"there is no element type for {np.dtype(dtype)} of NumPy")  # type: ignore[call-overload]
        return code
    if dtype in _TWO_MEANINGS:
        numpys, programs = _TWO_MEANINGS[dtype]
        raise InvalidError(
            f"the element type {dtype!r} is {numpys} in NumPy and {programs} in programs: "
            f"write {numpys} or {programs}"
        )
    try:
        return named_code(dtype)
    except InvalidError:
        try:
            code = _numpy_code(dtype)
        except (TypeError, ValueError, SyntaxError, Warning):
            code = None
        if code is None:
            raise
        return code


@functools.cache
def is_integer(code: int) -> bool:
    """Whether an element type has integers, or truth values."""
    return dtype_name(code).startswith(("i", "ui"))


@functools.cache
def sum_code(code: int) -> int:
    """The element type in which NumPy sums: 64 bits of integers and truth values."""
    if not is_integer(code):
        return code
    return int(lib.TSR_U64 if dtype_name(code).startswith("ui") else lib.TSR_I64)


def dtype_name(code: int) -> str:
    """The name as programs write it: f32, i1."""
    return text_of(lib.tsr_dtype_name(code))


# ---- numbers ----


def bounds_of(dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """The least and the greatest of a type of integers or truth values; None of other types."""
    if dtype.kind == "b":
        return 0, 1
    if not dtype.name.startswith(("int", "uint")):
        return None
    bits = int(dtype.name.lstrip("uint"))
    return (0, (1 << bits) - 1) if dtype.name[0] == "u" else (-1 << bits - 1, (1 << bits - 1) - 1)


def has_negative(number: float, dtype: np.dtype[Any]) -> bool:
    """Whether a type has a number and its negative."""
    bounds = bounds_of(dtype)
    return bounds is None or (bounds[0] < 0 and -bounds[1] <= number <= bounds[1])


def _fits(number: complex, dtype: np.dtype[Any]) -> bool:
    bounds = bounds_of(dtype)
    if bounds is not None:
        real = number.real
        return number.imag == 0 and bounds[0] <= real <= bounds[1] and real == int(real)
    if isinstance(number, int):
        return abs(number) <= sys.float_info.max
    return dtype.kind == "c" or not isinstance(number, complex)


def number_for(value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A number as an element of a type: exactly if it has integers, else rounded; or refused."""
    number: Any = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
    if not isinstance(number, (bool, int, float, complex)):
        raise TypeError(f"an Array and a {type(value).__name__} do not go together")
    if not _fits(number, dtype):
        raise InvalidError(
            f"{number} is not a value of {dtype}: convert the array first, x.astype(..)"
        )
    if bounds_of(dtype) is not None:
        number = int(number.real)
    elif isinstance(number, int):
        number = float(number)
    with np.errstate(over="ignore"):
        return np.asarray(number).astype(dtype)


def fitted(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Numbers as elements of a type; refused where the type does not have them.

    Floats are rounded, but do not become infinite; integers and truth values stay what they are.
    """
    if values.dtype == dtype or values.dtype.kind not in "biufcV":
        return values.astype(dtype, copy=False)
    given = values.astype(np.float64) if values.dtype.kind == "V" else values
    bounds = bounds_of(dtype)
    lost = np.zeros(given.shape, dtype=np.bool_)
    if dtype.kind != "c" and given.dtype.kind == "c":
        lost |= np.imag(given) != 0
        given = np.real(given)
    with np.errstate(all="ignore"):
        made = given.astype(dtype)
        if bounds is None:
            lost |= np.isfinite(given) & ~np.isfinite(made)
            top = np.asarray(np.inf).astype(dtype)
            if np.isfinite(top):  # a narrow float that has no infinity
                lost |= np.abs(given) > float(top)
        else:
            lost |= ~((given >= bounds[0]) & (given < bounds[1] + 1))
            if given.dtype.kind == "f":
                lost |= given != np.trunc(given)
    if np.any(lost):
        raise InvalidError(
            f"{values[lost].flat[0]} is not a value of {dtype}: convert the values first, such as "
            f"values.astype({dtype.name!r})"
        )
    return made


def integers(numbers: Any) -> NDArray[np.int64]:
    """Sizes or counts; numbers with a fraction are refused."""
    return fitted(np.asarray(numbers), np.dtype(np.int64))


def as_double(value: Any) -> float | None:
    """A number as the library takes it; None where no double is that number."""
    number = value.item() if isinstance(value, np.generic) else value
    exact = isinstance(number, float) or (isinstance(number, int) and abs(number) <= 1 << 53)
    return float(number) if exact else None


# ---- arrays ----


def numpy_of(values: Any) -> NDArray[Any]:
    """An array of NumPy; also of a tensor of torch whose element type NumPy does not have."""
    if is_from(values, "torch") and str(values.dtype) == "torch.bfloat16":
        bits = values.detach().view(optional("torch").int16).numpy()
        tensor: NDArray[Any] = bits.view(numpy_dtype(lib.TSR_BF16))
        return tensor
    return np.asarray(values)


def full_array(values: Any, dtype: object = None) -> tuple[NDArray[Any], tuple[int, ...]]:
    """Values in memory as the library takes a full array, row-major, and their shape."""
    full = numpy_of(values)
    if dtype is not None:
        full = fitted(full, numpy_dtype(dtype_code(dtype)))
    elif not full.dtype.isnative:
        full = full.astype(full.dtype.newbyteorder("="))
    return np.ascontiguousarray(full), full.shape


def views_of(arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[Any, list[Any]]:
    """Views of arrays, and what keeps them."""
    views = ffi.new("tsr_view[]", len(arrays))
    keep: list[Any] = [arrays]
    for view, array in zip(views, arrays, strict=True):
        shape = ffi.new("int64_t[]", [*array.shape, 0])
        strides = ffi.new("int64_t[]", [*array.strides, 0])
        view.data = address_of(array)
        view.dtype = dtype_code(array.dtype)
        view.rank, view.shape, view.strides = array.ndim, shape, strides
        keep += [shape, strides]
    return views, keep

"""Element types of NumPy and ml_dtypes, numbers as elements of them, views of arrays."""

from __future__ import annotations

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


def dtype_code(dtype: object) -> int:
    """The element type of the library for a dtype of NumPy, or for a name."""
    if isinstance(dtype, str):
        arena, out = Arena(), ffi.new("tsr_dtype *")
        arena.check(lib.tsr_dtype_parse(arena.ctx, dtype.encode(), out))
        return int(out[0])
    found: np.dtype[Any] = np.dtype(dtype)  # type: ignore[call-overload]
    code = _FROM_NUMPY.get(found, _FROM_NAME.get(found.name))
    if code is None:
        raise UnsupportedError(f"there is no element type for {found} of NumPy")
    return code


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
        raise InvalidError(f"{number} is no {dtype}: convert the array first, x.astype(..)")
    if bounds_of(dtype) is not None:
        number = int(number.real)
    elif isinstance(number, int):
        number = float(number)
    with np.errstate(over="ignore"):
        return np.asarray(number).astype(dtype)


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

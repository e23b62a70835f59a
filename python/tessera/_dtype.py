"""Element types, those of NumPy and those that ml_dtypes adds to it; views of its arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tessera._arena import Arena, address_of
from tessera._binding import ffi, lib
from tessera._errors import UnsupportedError, text_of

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

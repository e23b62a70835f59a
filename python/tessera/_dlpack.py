"""Parts of arrays that other libraries see, and memory of theirs under arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tessera import _errors
from tessera._binding import ffi, lib
from tessera._dtype import numpy_dtype
from tessera._errors import InvalidError, OutOfMemoryError, UnsupportedError

if TYPE_CHECKING:
    from tessera._array import Array

_CLOSED = "the array's world was closed, or its rank's function has ended"

_api = ctypes.pythonapi
_capsule_new = _api.PyCapsule_New
_capsule_new.restype = ctypes.py_object
_capsule_new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_capsule_pointer = _api.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
_capsule_name = _api.PyCapsule_SetName
_capsule_name.argtypes = (ctypes.py_object, ctypes.c_char_p)
_capsule_is = _api.PyCapsule_IsValid
_capsule_is.argtypes = (ctypes.py_object, ctypes.c_char_p)

# The names must live as long as any capsule.
_FRESH = b"dltensor"
_USED = b"used_dltensor"


class _Lent:
    """Memory of an array that NumPy sees; it is given back with the last view."""

    def __init__(self, array: Array, part: Any) -> None:
        self._array = array
        self._kept = lib.tp_export(array._handle)
        if not self._kept:
            raise InvalidError(_CLOSED)
        rank = lib.tsr_tensor_rank(part)
        shape = tuple(lib.tsr_tensor_local_shape(part)[0:rank]) if rank else ()
        strides = tuple(lib.tsr_tensor_strides(part)[0:rank]) if rank else ()
        dtype = numpy_dtype(lib.tsr_tensor_dtype(part))
        self.dtype = dtype
        address = int(ffi.cast("uintptr_t", lib.tsr_tensor_data(part)))
        self.shape: tuple[int, ...] = shape
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            # NumPy has no code for the types of ml_dtypes: the caller views them by their own.
            "typestr": dtype.str if dtype.kind in "biufc" else f"|u{dtype.itemsize}",
            "data": (address, False),
            "strides": strides,
        }

    def __del__(self) -> None:
        if lib is not None and getattr(self, "_kept", False):
            lib.tp_unexport(self._array._handle)


def lend(array: Array, index: int) -> NDArray[Any]:
    """What a rank holds, as an array of NumPy over the same memory."""
    part = lib.tp_part(array._handle, index)
    if part == ffi.NULL:
        raise InvalidError(_CLOSED)
    lent = _Lent(array, part)
    if array.is_abstract:
        raise InvalidError("an abstract array has no elements")
    if 0 in lent.shape:
        return np.empty(lent.shape, lent.dtype)
    seen: NDArray[Any] = np.asarray(lent)
    return seen if seen.dtype == lent.dtype else seen.view(lent.dtype)


def _delete_capsule(capsule: int) -> None:
    """The end of a capsule: when nothing has taken what it holds, that ends too."""
    held = ctypes.cast(capsule, ctypes.py_object)
    if _capsule_is(held, _FRESH):
        pointer = _capsule_pointer(held, _FRESH)
        lib.tp_dlpack_delete(ffi.cast("void *", pointer))


# A function of ctypes keeps the GIL, which the end of a capsule needs.
_DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_delete_capsule)


def make_capsule(array: Array, index: int) -> Any:
    """A capsule over what a rank holds."""
    if lib.tp_part(array._handle, index) == ffi.NULL:
        raise InvalidError(_CLOSED)
    out = ffi.new("void **")
    comm = lib.tp_comm(array._world._handle, index)
    status = lib.tp_to_dlpack(array._handle, index, out)
    if status < 0:
        _errors.fail(lib.tsr_comm_context(comm), status)
    address = int(ffi.cast("uintptr_t", out[0]))
    return _capsule_new(address, _FRESH, ctypes.cast(_DESTRUCTOR, ctypes.c_void_p))


class Borrowed:
    """Memory of others, which arrays are to be made over; given up at the end of ``with``."""

    def __init__(self, count: int) -> None:
        self.parts = ffi.new("tp_borrowed *[]", count)
        self.dtype: int = lib.TSR_F32

    def __enter__(self) -> Borrowed:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Gives up what no array is over."""
        for part in self.parts:
            lib.tp_borrowed_release(part)


class _DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
    )


_CODES = {
    (0, 8): lib.TSR_I8,
    (0, 16): lib.TSR_I16,
    (0, 32): lib.TSR_I32,
    (0, 64): lib.TSR_I64,
    (1, 8): lib.TSR_U8,
    (1, 16): lib.TSR_U16,
    (1, 32): lib.TSR_U32,
    (1, 64): lib.TSR_U64,
    (2, 16): lib.TSR_F16,
    (2, 32): lib.TSR_F32,
    (2, 64): lib.TSR_F64,
    (4, 16): lib.TSR_BF16,
    (5, 64): lib.TSR_C64,
    (5, 128): lib.TSR_C128,
    (6, 8): lib.TSR_I1,
}


def borrow(parts: Sequence[Any]) -> Borrowed:
    """The memory of parts, whose capsules are taken."""
    addresses: list[int] = []
    dtypes: list[int] = []
    capsules: list[Any] = []
    for i, part in enumerate(parts):
        capsule = part.__dlpack__() if hasattr(part, "__dlpack__") else part
        if not _capsule_is(capsule, _FRESH):
            raise InvalidError(
                f"part {i} is a {type(part).__name__}: it has no __dlpack__, or was taken already"
            )
        address = _capsule_pointer(capsule, _FRESH)
        tensor = ctypes.cast(address, ctypes.POINTER(_DLTensor)).contents
        found = _CODES.get((tensor.dtype.code, tensor.dtype.bits))
        if found is None:
            raise UnsupportedError(
                f"part {i}: no element type corresponds to DLPack's {tensor.dtype.code} of "
                f"{tensor.dtype.bits} bits"
            )
        capsules.append(capsule)
        addresses.append(address)
        dtypes.append(found)
    borrowed = Borrowed(len(capsules))
    borrowed.dtype = dtypes[0]
    for i, capsule in enumerate(capsules):
        borrowed.parts[i] = lib.tp_borrow(ffi.cast("void *", addresses[i]))
        if borrowed.parts[i] == ffi.NULL:
            borrowed.release()
            raise OutOfMemoryError("cannot allocate a part")
        _capsule_name(capsule, _USED)
    return borrowed

"""Arrays: tensors laid over the ranks of a world."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tessera._arena import address_of
from tessera._binding import ffi, lib
from tessera._dtype import as_double, dtype_name, has_negative, number_for, numpy_dtype
from tessera._errors import Error, InvalidError
from tessera._sharding import Sharding, axis_of, extents
from tessera._started import refuse_started

if TYPE_CHECKING:
    from types import EllipsisType

    from tessera._world import World

__all__ = ["Array"]

Number = bool | int | float | complex | np.generic

_drop = lib.tp_drop
_unary = lib.tp_unary
_binary = lib.tp_binary
_part = lib.tp_part


def _function(name: str) -> Any:
    return ffi.cast("tp_function", ffi.addressof(lib, name))


_ADD = _function("tsr_add")
_SUB = _function("tsr_sub")
_MUL = _function("tsr_mul")
_DIV = _function("tsr_div")
_MATMUL = _function("tsr_matmul")


class Array:
    """A tensor laid over the ranks of a world; made by a :class:`World` and by calls on arrays.

    Calls leave their operands as they are. The layout of a result follows from those of the
    operands; where they disagree they are redistributed. ``numpy.asarray`` gives the whole array,
    :meth:`local` what one rank holds.
    """

    __slots__ = ("__weakref__", "_handle", "_shape", "_sharding", "_world")

    __hash__ = None  # type: ignore[assignment]

    _handle: Any
    _world: World
    _shape: tuple[int, ...]
    _sharding: Sharding

    def __init__(self) -> None:
        raise TypeError("arrays are made by a World: world.array(values, layout)")

    def __del__(self) -> None:
        try:
            handle = self._handle
        except AttributeError:  # it was never made
            return
        if _drop is not None:  # else the interpreter ends
            _drop(handle)

    # ---- what it is ----

    def _first(self) -> Any:
        part = _part(self._handle, 0)
        if part == ffi.NULL:
            raise InvalidError("the array's world was closed, or its rank's function has ended")
        return part

    @property
    def world(self) -> World:
        """The world that it belongs to."""
        return self._world

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
        try:
            return self._shape
        except AttributeError:
            part = self._first()
            rank = lib.tsr_tensor_rank(part)
            shape = lib.tsr_tensor_shape(part)
            self._shape = tuple(shape[0:rank]) if rank else ()
            return self._shape

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements the whole array has."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """How many bytes the elements of the whole array have."""
        return self.size * self.dtype.itemsize

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type, as NumPy has it."""
        return numpy_dtype(lib.tsr_tensor_dtype(self._first()))

    @property
    def sharding(self) -> Sharding:
        """The layout."""
        try:
            return self._sharding
        except AttributeError:
            pointer = lib.tsr_tensor_sharding(self._first())
            mesh = self._world.mesh
            known = lib.tsr_mesh_equal(mesh._mesh, lib.tsr_sharding_mesh(pointer))
            found = Sharding._copy(pointer, mesh if known else None)
            if all(dim.symbol is None for dim in found.dims):
                self._sharding = found  # else World.bind may change it
            return found

    @property
    def is_abstract(self) -> bool:
        """Whether it has no elements: a shape and a layout only."""
        return bool(lib.tsr_tensor_is_abstract(self._first()))

    @property
    def T(self) -> Array:  # noqa: N802
        """The dimensions in reverse order."""
        return self.transpose()

    # ---- its elements ----

    def numpy(self) -> NDArray[Any]:
        """The whole array; pending sums are carried out. Every process makes the call."""
        return self._whole("Array.numpy", implicit=False)

    def _whole(self, what: str, *, implicit: bool = True, constant: bool = True) -> NDArray[Any]:
        """The whole array, for a caller with a name; ``constant``: it may compute with it."""
        if self.is_abstract:
            raise InvalidError("an abstract array has no elements")
        if constant:
            self._refuse_recorded(what)
        out = np.empty(self.shape, dtype=self.dtype)
        memory, name = address_of(out), ffi.new("char[]", what.encode())
        # Ranks that share this memory give it to one of them; a rank of its own has all.
        root = 0 if len(self._world.local_ranks) > 1 else -1
        given = ffi.new(
            "tp_arguments *", {"i": root, "j": implicit, "memory": memory, "text": name}
        )
        self._world._call(lib.TP_TO_FULL, ffi.NULL, (self,), given, 0)
        return out

    def _refuse_recorded(self, what: str) -> None:
        """Refuses to take elements of an array that a tape records."""
        if self._world._tapes > 0 and lib.tsr_tensor_is_recorded(self._first()):
            raise InvalidError(
                f"{what} takes the elements of an array that a tape records, and no gradient "
                "flows through them: compute with tessera's ops, or pass "
                "ts.stop_gradient(x) where a constant is meant"
            )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("the whole array is always a copy; local() is what a rank holds")
        full = self._whole("numpy.asarray")
        return full if dtype is None else full.astype(dtype, copy=False)

    def local(self, rank: int | None = None) -> NDArray[Any]:
        """What a rank holds, without a copy: by default the first rank of this process.

        Writes to the view change the array. An array that a tape records is refused, because no
        gradient flows through the view: pass it by :func:`tessera.stop_gradient`. The memory stays
        while NumPy has it, also when the world has been closed.
        """
        self._refuse_recorded("Array.local")
        return self._lent(rank)

    def _lent(self, rank: int | None) -> NDArray[Any]:
        """The same for code that computes nothing differentiable with it."""
        from tessera._dlpack import lend

        return lend(self, self._index(rank))

    def _index(self, rank: int | None) -> int:
        ranks = self._world.local_ranks
        number = ranks.start if rank is None else rank
        if number not in ranks:
            raise InvalidError(
                f"rank {number} is not one of this process, which has {ranks.start} to "
                f"{ranks.stop - 1}"
            )
        return number - ranks.start

    def item(self) -> Any:
        """The only element, as a number of Python."""
        return self._number("Array.item", implicit=False)

    def _number(self, what: str, *, implicit: bool = True, constant: bool = True) -> Any:
        if self.size != 1:
            raise InvalidError(
                f"{what} of an array of shape {self.shape}: it must have one element"
            )
        return self._whole(what, implicit=implicit, constant=constant).reshape(()).item()

    def __float__(self) -> float:
        return float(self._number("float()"))

    def __int__(self) -> int:
        return int(self._number("int()"))

    def __complex__(self) -> complex:
        return complex(self._number("complex()"))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu" or self.shape:
            raise TypeError(
                f"an index is an integer without dimensions, not an array {self.dtype} of shape "
                f"{self.shape}"
            )
        return operator.index(self._number("operator.index()"))

    def __bool__(self) -> bool:
        # What it decides has no gradient, whatever it decides by.
        return bool(self._number("bool()", constant=False))

    def __format__(self, spec: str) -> str:
        """Of a number, ``f"{loss:.3f}"``; of any array without a format: its ``repr``."""
        return format(self._number("format()", constant=False), spec) if spec else str(self)

    def tolist(self) -> Any:
        """The whole array as nested lists of numbers."""
        return self._whole("Array.tolist", implicit=False).tolist()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Array:
        from tessera._numpy import call_ufunc

        return call_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        from tessera._numpy import call_function

        return call_function(function, args, options)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The part of this process's rank as a capsule; of several ranks: ``x.to_dlpack(rank)``."""
        if len(self._world.local_ranks) != 1:
            raise BufferError("the array has several parts here: to_dlpack(rank) gives one of them")
        if copy:
            raise BufferError("a capsule is never a copy; copy what local() gives")
        self._refuse_recorded("Array.__dlpack__")
        return self.to_dlpack()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def to_dlpack(self, rank: int | None = None) -> Any:
        """A DLPack capsule over what a rank holds, without a copy; refused as :meth:`local`."""
        from tessera._dlpack import make_capsule

        self._refuse_recorded("Array.to_dlpack")
        return make_capsule(self, self._index(rank))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file in the format of its ending: ``.npy``, ``.npz`` or ``.safetensors``.

        Into a ``.npy`` file every rank writes its share; of the others the first rank writes all.
        """
        from tessera._files import save

        save(self, path)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an Array cannot be pickled: its parts live on the ranks of its world. Pickle "
            "numpy.asarray(x) with x.sharding, or write x.save(path)"
        )

    def __repr__(self) -> str:
        try:
            part = self._first()
        except InvalidError:
            return "Array(closed)"
        kind = dtype_name(lib.tsr_tensor_dtype(part))
        shape = ",".join(str(extent) for extent in self.shape)
        pending = dtype_name(lib.tsr_tensor_pending_dtype(part))
        wide = f" pending in {pending}" if pending != kind else ""
        return f"Array({kind}[{shape}]{wide}, {self.sharding.bare_text()})"

    def _repr_svg_(self) -> str:
        return self.sharding.svg(self.shape, title=repr(self))

    # ---- layouts ----

    def redistribute(self, layout: object) -> Array:
        """The same elements in another layout; pending sums that it lacks are carried out."""
        sharding = self._world._layout(layout, self.shape)
        given = ffi.new("tp_arguments *", {"sharding": sharding._sharding})
        try:
            made: Array = self._world._call(
                lib.TP_LAYOUT, _function("tsr_with_sharding"), (self,), given
            )
        except Error as error:
            if "make a reduction pending" not in error.message:
                raise
            raise error.noting(
                "x.convert(layout) does, and keeps the elements; x.reinterpret(layout) takes the "
                "parts for those of a sum"
            ) from None
        return made

    def convert(self, layout: object) -> Array:
        """The same elements in a layout that has a sum pending, which redistribution cannot make.

        Along an axis that becomes pending each element stays on one rank, the others have zeros:
        where the axis cuts a dimension, on the rank that has it, else on the first. No gradient
        goes through it; in typed code :func:`tessera.spmd.convert` has one.

        >>> import tessera as ts
        >>> with ts.World("x=2") as world:
        ...     x = world.ones((2,), "P('x')").convert('[{}], unreduced={"x"}')
        ...     print(x.local(0), x.local(1), x.numpy())
        [1. 0.] [0. 1.] [1. 1.]
        """
        return self._made_pending(layout, "convert")

    def reinterpret(self, layout: object) -> Array:
        """The same parts as those of a sum that is pending: of n equal parts n times the elements.

        Along an axis that becomes pending the array must not be cut; :meth:`convert` keeps the
        elements.
        """
        return self._made_pending(layout, "reinterpret")

    def _made_pending(self, layout: object, how: str) -> Array:
        """Makes a sum pending by a call of typed code along each axis, and redistributes."""
        from tessera import spmd

        wanted = self._world._layout(layout, self.shape)
        x: Array = self
        axes = [axis for axis in wanted.unreduced if axis not in x.sharding.unreduced]
        if axes and (wanted.reduction != "sum" or x.sharding.reduction != "sum"):
            raise InvalidError(f"{how} makes sums pending, not {wanted.reduction}: {wanted}")
        mesh = x.sharding.mesh
        for axis in axes:
            if axis not in mesh.axis_names:
                raise InvalidError(f"{how} takes whole axes of the mesh {mesh}, not {axis}")
            cut = [i for i, dim in enumerate(x.sharding.dims) if axis in dim.axes]
            for i in cut:
                dim = x.sharding.dims[i]
                count = int(lib.tsr_sharding_num_shards(x.sharding._sharding, i))
                if dim.axes[-1] != axis or dim.sizes is not None or x.shape[i] % count:
                    x, cut = x.gather(i), []
            with spmd.scope(x._world, mesh, strict=False):
                value = spmd.local_of(x)
                source = f"S({cut[0]})" if cut else "R"
                x = spmd.array_of(getattr(spmd, how)(value, axis, source, "P"))
        return x.redistribute(wanted)

    def replicate(self) -> Array:
        """All of it on every rank, nothing pending."""
        return self._unary("tsr_replicate")

    def reduce_pending(self) -> Array:
        """Nothing pending; dimensions as they are."""
        return self._unary("tsr_reduce_pending")

    def gather(self, dim: int) -> Array:
        """One dimension whole on every rank, the others as they are."""
        given = ffi.new("tp_arguments *", {"i": axis_of(dim, self.ndim)})
        made: Array = self._world._call(lib.TP_DIM, _function("tsr_gather"), (self,), given)
        return made

    def _unary(self, name: str) -> Array:
        return unary(_function(name), self)

    # ---- operators ----

    def __add__(self, other: Array | Number | NDArray[Any]) -> Array:
        if type(other) is Array:
            return binary(_ADD, self, other)
        return _with_number("tsr_add_number", _ADD, self, other)

    __radd__ = __add__

    def __sub__(self, other: Array | Number | NDArray[Any]) -> Array:
        if type(other) is Array:
            return binary(_SUB, self, other)
        if isinstance(other, (int, float)) and has_negative(other, self.dtype):
            return _with_number("tsr_add_number", _ADD, self, -other)
        return binary(_SUB, self, like(self, other))

    def __rsub__(self, other: Number | NDArray[Any]) -> Array:
        return binary(_SUB, like(self, other), self)

    def __mul__(self, other: Array | Number | NDArray[Any]) -> Array:
        if type(other) is Array:
            return binary(_MUL, self, other)
        return _with_number("tsr_mul_number", _MUL, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Array | Number | NDArray[Any]) -> Array:
        return _divide(self, like(self, other))

    def __rtruediv__(self, other: Number | NDArray[Any]) -> Array:
        return _divide(like(self, other), self)

    def __matmul__(self, other: Array | NDArray[Any]) -> Array:
        if type(other) is Array:
            return binary(_MATMUL, self, other)
        return binary(_MATMUL, self, like(self, other))

    def __rmatmul__(self, other: NDArray[Any]) -> Array:
        return binary(_MATMUL, like(self, other), self)

    def __pow__(self, other: Array | Number | NDArray[Any]) -> Array:
        if isinstance(other, int) and other < 0 and self.dtype.kind in "iu":
            raise InvalidError("a negative power of integers is not an integer: x.astype(..) first")
        return binary(_function("tsr_pow"), self, like(self, other))

    def __rpow__(self, other: Number | NDArray[Any]) -> Array:
        return binary(_function("tsr_pow"), like(self, other), self)

    def __and__(self, other: Array | Number | NDArray[Any]) -> Array:
        return binary(_function("tsr_and"), self, like(self, other))

    __rand__ = __and__

    def __or__(self, other: Array | Number | NDArray[Any]) -> Array:
        return binary(_function("tsr_or"), self, like(self, other))

    __ror__ = __or__

    def __xor__(self, other: Array | Number | NDArray[Any]) -> Array:
        return binary(_function("tsr_xor"), self, like(self, other))

    __rxor__ = __xor__

    def __neg__(self) -> Array:
        return self._unary("tsr_negate")

    def __abs__(self) -> Array:
        return self._unary("tsr_abs")

    def __invert__(self) -> Array:
        return self._unary("tsr_not")

    def __eq__(self, other: object) -> Array:  # type: ignore[override]
        return compare(self, other, lib.TSR_EQ)

    def __ne__(self, other: object) -> Array:  # type: ignore[override]
        return compare(self, other, lib.TSR_NE)

    def __lt__(self, other: object) -> Array:
        return compare(self, other, lib.TSR_LT)

    def __le__(self, other: object) -> Array:
        return compare(self, other, lib.TSR_LE)

    def __gt__(self, other: object) -> Array:
        return compare(self, other, lib.TSR_GT)

    def __ge__(self, other: object) -> Array:
        return compare(self, other, lib.TSR_GE)

    # ---- methods that NumPy's arrays have ----

    def astype(self, dtype: object) -> Array:
        """The same elements in another type."""
        return _ops.astype(self, dtype)

    def reshape(self, *shape: int | Sequence[int]) -> Array:
        """The same elements, row-major, in another shape; one extent may be -1."""
        first = shape[0] if len(shape) == 1 else shape
        return _ops.reshape(self, first)  # type: ignore[arg-type]

    def transpose(self, *axes: int | Sequence[int] | None) -> Array:
        """The dimensions in another order, by default reversed: ``(1, 0)`` or ``1, 0``."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return _ops.transpose(self, order)  # type: ignore[arg-type]

    def sum(
        self,
        axis: int | Sequence[int] | None = None,
        dtype: object = None,
        *,
        keepdims: bool = False,
    ) -> Array:
        """The sum over dimensions; over sharded ones it is pending."""
        return _ops.sum(self, axis, dtype, keepdims=keepdims)

    def mean(
        self,
        axis: int | Sequence[int] | None = None,
        dtype: object = None,
        *,
        keepdims: bool = False,
    ) -> Array:
        """The mean over dimensions."""
        return _ops.mean(self, axis, dtype, keepdims=keepdims)

    def max(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
        """The greatest element over dimensions."""
        return _ops.max(self, axis, keepdims=keepdims)

    def min(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
        """The least element over dimensions."""
        return _ops.min(self, axis, keepdims=keepdims)

    def prod(
        self,
        axis: int | Sequence[int] | None = None,
        dtype: object = None,
        *,
        keepdims: bool = False,
    ) -> Array:
        """The product over dimensions."""
        return _ops.prod(self, axis, dtype, keepdims=keepdims)

    def all(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
        """Whether all are true, over dimensions."""
        return _ops.all(self, axis, keepdims=keepdims)

    def any(self, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
        """Whether any is true, over dimensions."""
        return _ops.any(self, axis, keepdims=keepdims)

    def argmax(self, axis: int) -> Array:
        """Where along a dimension the first greatest element is."""
        return _ops.argmax(self, axis)

    def cumsum(self, axis: int, dtype: object = None) -> Array:
        """The running sum along a dimension."""
        return _ops.cumsum(self, axis, dtype)

    def clip(self, a_min: Any, a_max: Any) -> Array:
        """min(max(x, a_min), a_max)."""
        return _ops.clip(self, a_min, a_max)

    def ravel(self) -> Array:
        """All elements in one dimension, row-major."""
        return self.reshape(-1)

    def __getitem__(self, key: int | slice | EllipsisType | tuple[Any, ...]) -> Array:
        """Slices and integers; steps must be positive."""
        return _ops.index(self, key)


_new = Array.__new__


def adopt(world: World, handle: Any) -> Array:
    """The array of a handle that a call has given."""
    made = _new(Array)
    made._world = world
    made._handle = handle
    return made


def unary(function: Any, x: Array) -> Array:
    """A call with one operand."""
    world = x._world
    handle = _unary(world._handle, function, x._handle)
    if not handle:
        world._check()
    made = _new(Array)
    made._world = world
    made._handle = handle
    return made


def binary(function: Any, a: Array, b: Array) -> Array:
    """A call with two operands."""
    world = a._world
    handle = _binary(world._handle, function, a._handle, b._handle)
    if not handle:
        world._check()
    made = _new(Array)
    made._world = world
    made._handle = handle
    return made


def like(x: Array, other: Any) -> Array:
    """What stands beside an array in a call, as an array of its world: replicated."""
    if isinstance(other, Array):
        return other
    refuse_started(other)
    if isinstance(other, np.ndarray) and other.ndim > 0:
        return x._world.array(other)
    return x._world.array(number_for(other, x.dtype), Sharding.replicated_over(x.sharding.mesh, 0))


def _with_number(name: str, function: Any, x: Array, other: Any) -> Array:
    """A sum or product with a number, which the library takes where it is a double."""
    refuse_started(other)
    number = as_double(other)
    if number is None:
        return binary(function, x, like(x, other))
    given = ffi.new("tp_arguments *", {"number": number})
    made: Array = x._world._call(lib.TP_NUMBER, _function(name), (x,), given)
    return made


def _divide(a: Array, b: Array) -> Array:
    if a.dtype.kind in "iu":
        raise InvalidError(
            "the quotient of integers is not an integer: x.astype('f64') / y, or "
            "tessera.divide(x, y), which rounds towards zero"
        )
    return binary(_DIV, a, b)


def compare(a: Array, b: object, comparison: int) -> Array:
    """Truth values of a comparison."""
    given = ffi.new("tp_arguments *", {"i": comparison})
    made: Array = a._world._call(lib.TP_INTEGER, _function("tsr_compare"), (a, like(a, b)), given)
    return made


def shape_of(shape: int | Sequence[int]) -> tuple[int, ...]:
    """A shape as a tuple."""
    return extents(shape)


# The methods call ops, which are made of what this module has.
from tessera import _ops  # noqa: E402

"""Worlds: ranks that hold arrays and compute on them."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tessera import _errors, _files
from tessera._arena import Arena, address_of
from tessera._array import Array, _function, adopt
from tessera._binding import ffi, lib
from tessera._dtype import (
    as_double,
    dtype_code,
    full_array,
    integers,
    number_for,
    numpy_dtype,
    numpy_of,
    views_of,
)
from tessera._errors import InvalidError, OutOfMemoryError, text_of
from tessera._mesh import Mesh, mesh_of
from tessera._optional import optional
from tessera._records import table_html
from tessera._sharding import Sharding, extents, sharding_of
from tessera._started import refuse_started
from tessera._topology import Topology

__all__ = ["TraceEvent", "World", "abstract", "launch"]

T = TypeVar("T")
_open_worlds: weakref.WeakSet[World] = weakref.WeakSet()


@dataclass(frozen=True)
class TraceEvent:
    """One redistribution: a record of :attr:`World.trace`, as a row of a table.

    Its bytes are None where they follow from sizes that are not bound (:meth:`World.bind`).
    ``convert`` is None unless it completes a sum that is pending in a wider element type.
    """

    call: str
    operand: int
    tensor: str
    collective: str
    axes: str
    source: str
    destination: str
    bytes_received: int | None
    bytes_moved: int | None
    implicit: bool
    fallback: bool
    convert: str | None = None


class World:
    """Ranks that hold arrays, driven from one Python thread.

    ``World(8)`` runs eight ranks as threads of this process, as many as there are cores without a
    number. ``World("dp=2, tp=4")`` says the mesh too: layouts without a mesh are over it; by
    default that is one axis ``x``. Under ``mpirun`` every process is one rank, of as many as there
    are, and makes the same calls; ``comm`` is a communicator of mpi4py to use then. The same
    program gives the same numbers in each case.

    A world is closed by ``close()``, at the end of ``with``, or with the interpreter.

    ``timeout`` is the seconds that a rank waits for the others, by default 60. ``checked`` compares
    the calls of all ranks before each, and names the one that differs. ``segment_bytes`` is the
    address space of each rank's arrays, by default as much as the machine has.

    >>> import numpy as np
    >>> with World("dp=2, tp=2") as world:
    ...     x = world.array(np.arange(8.0).reshape(4, 2), 'P("dp", None)')
    ...     y = (x + 1) @ world.ones((2, 3), 'P(None, "tp")', dtype="float64")
    ...     print(y)
    ...     print(np.asarray(y)[0], x.local(3).tolist())
    Array(f64[4,3], [{"dp"}, {"tp"}])
    [3. 3. 3.] [[4.0, 5.0], [6.0, 7.0]]
    """

    _handle: Any
    _mesh: Mesh | None
    _tapes = 0  # that are recording
    _scopes: tuple[Any, ...] = ()  # of typed code: what each was opened with
    _checked = False
    _strict = False
    _traced = False

    def __init__(
        self,
        ranks: int | str | Mesh | None = None,
        mesh: object | None = None,
        *,
        timeout: float | None = None,
        checked: bool = False,
        comm: object | None = None,
        segment_bytes: int = 0,
    ) -> None:
        self._handle = ffi.NULL
        if isinstance(ranks, (str, Mesh)) and mesh is None:
            mesh, ranks = ranks, None
        if isinstance(ranks, (str, Mesh)):
            raise InvalidError("the first argument is the number of ranks, or the mesh alone")
        wanted = None if mesh is None or _has_rest(mesh) else mesh_of(mesh)
        spec = ffi.new("tsr_launch_spec *")
        spec.num_ranks = ranks or (0 if wanted is None or comm is not None else wanted.size)
        spec.timeout = timeout or 0.0
        spec.checked = self._checked = checked
        spec.segment_bytes = segment_bytes
        out = ffi.new("tp_world **")
        if ranks is not None and ranks < 1:
            raise InvalidError(f"a world has at least one rank, not {ranks}")
        if comm is None:
            status = lib.tp_open(spec, out)
        else:
            status = lib.tp_open_mpi(_mpi_address(comm), spec, out)
        self._begin(out[0], status, mesh)

    def _begin(self, handle: Any, status: int, mesh: object | None) -> None:
        self._handle = handle
        if status < 0:
            if handle == ffi.NULL:
                raise OutOfMemoryError("cannot allocate a world")
            _errors.fail(lib.tp_context(handle), status)
        _open_worlds.add(self)
        self._mesh = None
        try:
            self._mesh = self._mesh_over_ranks("x=-1" if mesh is None else mesh)
        except BaseException:
            self.close()
            raise

    def _mesh_over_ranks(self, mesh: object) -> Mesh:
        if isinstance(mesh, str) and _has_rest(mesh):
            owner, out = Arena(), ffi.new("tsr_mesh **")
            comm = lib.tp_comm(self._handle, 0)
            status = lib.tsr_mesh_of_world(comm, owner.arena, mesh.encode(), out)
            _errors.check(lib.tsr_comm_context(comm), status)
            return Mesh._of(owner, out[0])
        found = mesh_of(mesh)
        if found.size != self.size:
            raise InvalidError(
                f"the mesh {found} has {found.size} devices, the world {self.size} ranks"
            )
        return found

    # ---- what it is ----

    @property
    def mesh(self) -> Mesh:
        """The mesh of layouts that name none; it may be set, to another view of the ranks.

        >>> with World(4) as world:
        ...     world.mesh = "dp=2, tp=-1"
        ...     print(world.ones((4, 4), "P('dp', 'tp')").local(3).shape)
        (2, 2)
        """
        assert self._mesh is not None
        return self._mesh

    @mesh.setter
    def mesh(self, mesh: object) -> None:
        self._comm()
        self._mesh = self._mesh_over_ranks(mesh)

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return int(lib.tp_size(self._handle))

    @property
    def rank(self) -> int:
        """The number of this process's first rank: 0 unless there are other processes or ranks."""
        return int(lib.tp_first_rank(self._handle))

    @property
    def local_ranks(self) -> range:
        """The ranks that this process (inside :func:`launch` this function) has."""
        first = self.rank
        return range(first, first + int(lib.tp_num_local(self._handle)))

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._handle == ffi.NULL or bool(lib.tp_is_closed(self._handle))

    @property
    def transport(self) -> str:
        """What the ranks are: threads, openmpi, mpich .."""
        shared = ffi.new("bool *")
        return text_of(lib.tsr_comm_transport(self._comm(), shared))

    def _comm(self) -> Any:
        if self.closed:
            raise InvalidError("the world is closed; open a new one")
        return lib.tp_comm(self._handle, 0)

    # ---- its end ----

    def close(self) -> None:
        """Ends the world and its ranks; its arrays can no longer be used.

        Memory that NumPy or another library sees (:meth:`Array.local`, DLPack) stays until they
        have let it go.
        """
        if self._handle != ffi.NULL:
            status = lib.tp_close(self._handle)
            if status < 0:
                _errors.fail(lib.tp_context(self._handle), status)

    def __enter__(self) -> World:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if lib is not None and getattr(self, "_handle", None):
            lib.tp_world_free(self._handle)

    def __reduce__(self) -> Any:
        raise TypeError("a World cannot be pickled: its ranks live in this process")

    def __repr__(self) -> str:
        if self.closed:
            return "World(closed)"
        return f"World({self.mesh!r}, {self.transport})"

    # ---- calls ----

    def _call(
        self,
        kind: int,
        function: Any,
        operands: Sequence[Any] = (),
        arguments: Any = ffi.NULL,
        results: int = 1,
    ) -> Any:
        """Makes a call on every rank; the arrays that it gives, one alone by itself."""
        handles = [ffi.NULL if one is None else _handle_of(one) for one in operands]
        made = ffi.new("tp_array *[]", results)
        if (
            lib.tp_call(
                self._handle, kind, function, handles, len(handles), arguments, results, made
            )
            < 0
        ):
            self._check()
        arrays = tuple(adopt(self, one) for one in made)
        return arrays if results > 1 else arrays[0] if arrays else None

    def _check(self) -> None:
        """Raises the exception of a call that failed."""
        status = lib.tp_status()
        if status >= 0:
            return
        refusal = lib.tp_refusal()
        if refusal != ffi.NULL:
            raise InvalidError(text_of(refusal))
        error = _errors.error_from(lib.tp_messages(), status)
        lib.tp_end()
        if lib.tp_interrupted():
            interrupt = sys.__dict__.pop("_tessera_interrupt", None)
            raise (interrupt or KeyboardInterrupt()) from error
        raise error

    def _spec(self, sharding: Sharding, dtype: int, shape: tuple[int, ...]) -> tuple[Any, Any]:
        sizes = ffi.new("int64_t[]", [*shape, 0])
        spec = ffi.new("tsr_tensor_spec *")
        spec.sharding, spec.dtype = sharding._sharding, dtype
        spec.rank, spec.shape = len(shape), sizes
        return spec, sizes

    def _layout(self, layout: object, shape: tuple[int, ...]) -> Sharding:
        if layout is None:
            return Sharding.replicated_over(self.mesh, len(shape))
        try:
            return sharding_of(layout, self.mesh, shape)
        except InvalidError as error:
            if "unknown axis" not in error.message:
                raise
            raise error.noting(
                "the mesh is the world's: open it with the axes, World('dp=2, tp=4'), or set "
                "world.mesh"
            ) from None

    def _make(
        self,
        kind: int,
        function: Any,
        shape: Sequence[int] | int,
        layout: object,
        dtype: object,
        **arguments: Any,
    ) -> Array:
        sizes = extents(shape)
        sharding = self._layout(layout, sizes)
        spec, keep = self._spec(sharding, dtype_code(dtype), sizes)
        given = ffi.new("tp_arguments *", {"spec": spec, **arguments})
        made: Array = self._call(kind, function, (), given)
        del keep
        return made

    # ---- arrays out of something else ----

    def array(self, values: ArrayLike, layout: object = None, dtype: object = None) -> Array:
        """An array of these values in a layout; without one every rank has all of it.

        Every process gives the same values. A layout is a text in any notation, a tuple such as
        ``("dp", None)``, a :class:`Sharding`, one of jax, or placements of torch; one that has a
        mesh of its own is over that, any other over :attr:`mesh`.
        """
        full, shape = full_array(values, dtype)
        memory = address_of(full)
        made = self._make(
            lib.TP_FROM_FULL, ffi.NULL, shape, layout, full.dtype, i=-1, memory=memory
        )
        del full
        return made

    def _check_count(self, what: str, given: Sequence[Any]) -> None:
        """Refuses a list that has not one for each rank of this process."""
        count = len(self.local_ranks)
        if len(given) != count:
            raise InvalidError(f"{len(given)} {what} are given, this process has {count} ranks")

    def _views(self, parts: Sequence[ArrayLike]) -> tuple[Any, list[np.ndarray[Any, Any]], Any]:
        """Views of the parts of the local ranks, the arrays, and what keeps the views."""
        arrays = [numpy_of(part) for part in parts]
        self._check_count("parts", arrays)
        views, keep = views_of(arrays)
        return views, arrays, keep

    def from_local(self, parts: Sequence[ArrayLike], layout: object, shape: Sequence[int]) -> Array:
        """An array from copies of each rank's own part, those of :attr:`local_ranks`."""
        views, arrays, keep = self._views(parts)
        made = self._make(lib.TP_FROM_PARTS, ffi.NULL, shape, layout, arrays[0].dtype, views=views)
        del keep
        return made

    def from_dlpack(self, parts: Sequence[Any], layout: object, shape: Sequence[int]) -> Array:
        """An array over the memory of others, without a copy: a part for each local rank.

        A part has ``__dlpack__``, as arrays of NumPy, torch and jax do; it must be on the CPU.
        """
        from tessera._dlpack import borrow

        self._check_count("parts", parts)
        with borrow(parts) as borrowed:
            dtype = numpy_dtype(borrowed.dtype)
            return self._make(
                lib.TP_FROM_DLPACK, ffi.NULL, shape, layout, dtype, borrowed=borrowed.parts
            )

    def zeros(
        self, shape: Sequence[int] | int, layout: object = None, dtype: object = "f32"
    ) -> Array:
        """An array of zeros."""
        return self._make(lib.TP_MAKE, _function("tsr_zeros"), shape, layout, dtype)

    def ones(
        self, shape: Sequence[int] | int, layout: object = None, dtype: object = "f32"
    ) -> Array:
        """An array of ones."""
        return self._make(lib.TP_MAKE, _function("tsr_ones"), shape, layout, dtype)

    def full(
        self,
        shape: Sequence[int] | int,
        value: complex,
        layout: object = None,
        dtype: object = "f32",
    ) -> Array:
        """An array whose elements are one number, which the element type must have."""
        kind = numpy_dtype(dtype_code(dtype))
        element = number_for(value, kind)
        if np.isfinite(complex(value)) and not np.all(np.isfinite(element)):
            raise InvalidError(
                f"{value} is not a value of {kind}: it would become infinite; use a wider type"
            )
        number = as_double(value)
        if number is None:  # no double has it
            from tessera._ops import broadcast_to

            made = broadcast_to(self.array(element), shape)
            return made if layout is None else made.redistribute(layout)
        function = _function("tsr_fill")
        return self._make(lib.TP_MAKE_NUMBER, function, shape, layout, dtype, number=number)

    def iota(
        self,
        shape: Sequence[int] | int,
        dim: int = 0,
        layout: object = None,
        dtype: object = "i64",
    ) -> Array:
        """0, 1, 2 .. along a dimension, all of which the element type must have."""
        sizes = extents(shape)
        if 0 not in sizes and -len(sizes) <= dim < len(sizes):
            number_for(sizes[dim] - 1, numpy_dtype(dtype_code(dtype)))
        return self._make(lib.TP_MAKE_DIM, _function("tsr_iota"), shape, layout, dtype, i=dim)

    def arange(self, count: int, layout: object = None, dtype: object = "i64") -> Array:
        """0, 1, 2 .. count - 1."""
        return self.iota((count,), 0, layout, dtype)

    def random_uniform(
        self,
        shape: Sequence[int] | int,
        layout: object = None,
        dtype: object = "f32",
        *,
        seed: int = 0,
        stream: int = 0,
    ) -> Array:
        """Random floats in [0, 1), the same in every layout and on any number of ranks."""
        return self._random("tsr_random_uniform", shape, layout, dtype, seed, stream)

    def random_normal(
        self,
        shape: Sequence[int] | int,
        layout: object = None,
        dtype: object = "f32",
        *,
        seed: int = 0,
        stream: int = 0,
    ) -> Array:
        """Random floats of mean 0 and variance 1, the same in every layout."""
        return self._random("tsr_random_normal", shape, layout, dtype, seed, stream)

    def _random(
        self,
        name: str,
        shape: Sequence[int] | int,
        layout: object,
        dtype: object,
        seed: int,
        stream: int,
    ) -> Array:
        key = {"i": _signed(seed), "j": _signed(stream)}
        return self._make(lib.TP_MAKE_RANDOM, _function(name), shape, layout, dtype, **key)

    def abstract_array(
        self, shape: Sequence[int] | int, layout: object = None, dtype: object = "f32"
    ) -> Array:
        """An array without elements: calls give shapes and layouts, the trace what would move."""
        return self._make(lib.TP_MAKE, _function("tsr_abstract"), shape, layout, dtype)

    def load(
        self, path: str | os.PathLike[str], layout: object = None, *, name: str | None = None
    ) -> Array:
        """An array from a file: ``.npy``, ``.npz`` or ``.safetensors``, by what it contains.

        Of a ``.npy`` or ``.safetensors`` file every rank reads its part. Where a file has several
        arrays, ``name`` says which.
        """
        found = _files.text_of_path(path)
        kind = _files.kind_of(found)
        if kind != "npy":
            return self.array(_files.read(found, kind, name), layout)
        if name is not None:
            raise InvalidError(f"{found} is a .npy file, whose array has no name; not {name!r}")
        shape = _files.npy_shape(found)
        sharding = self._layout(layout, shape)
        text = ffi.new("char[]", found.encode())
        given = ffi.new("tp_arguments *", {"sharding": sharding._sharding, "text": text})
        made: Array = self._call(lib.TP_LOAD, ffi.NULL, (), given)
        return made

    # ---- settings and traces ----

    def set_strategy(self, name: str) -> None:
        """Sets how operands that disagree are laid out.

        By name: basic, aggressive (the default), most-parallel, or cheapest, by modelled cost.
        """
        found = ffi.new("tsr_strategy *")
        if not lib.tsr_strategy_find(name.encode(), found):
            raise InvalidError(
                f"unknown strategy {name!r}; use basic, aggressive, most-parallel or cheapest"
            )
        given = ffi.new("tp_arguments *", {"i": int(found[0])})
        self._call(lib.TP_WORLD_INTEGER, _function("tsr_set_strategy"), (), given, 0)

    def _set_strict(self, strict: bool) -> None:
        given = ffi.new("tp_arguments *", {"i": int(strict), "j": 1})
        self._call(lib.TP_WORLD_INTEGER, _function("tsr_set_strict"), (), given, 0)

    @contextmanager
    def strict(self) -> Generator[None, None, None]:
        """In it a call that would have to move elements fails, and says how to ask for it."""
        before, self._strict = self._strict, True
        self._set_strict(True)
        try:
            yield
        finally:
            self._strict = before
            if not self.closed:
                self._set_strict(before)

    def bind(self, symbol: str | None, numbers: ArrayLike) -> None:
        """Binds a symbol of layouts to sizes, one for each shard, or to a table of counts.

        ``dynamic[?rows]`` and ``DynamicShard(0, ?rows)`` are layouts whose sizes the symbol
        ``rows`` stands for, ``partitioned[?rows]`` one whose counts it stands for; ``?`` alone and
        ``DynamicShard(0)`` have the symbol None. Layouts of the world that have the symbol have the
        numbers from then on, those of its arrays too. Every process binds the same numbers; bound
        again, a symbol has the new numbers in layouts made later.

        In a world of :func:`abstract` arrays may be unbound: layouts are inferred with their
        symbols, and a trace has None for bytes that are not known.

        >>> def program(world):
        ...     with world.trace() as moved:
        ...         x = world.zeros((8, 4), "[DynamicShard(0, ?rows)]") * 2
        ...         x.redistribute("[Replicate()]")
        ...     return x, moved[0].bytes_received
        >>> with abstract("ep=2") as world:
        ...     x, received = program(world)
        ...     print(x, received)
        ...     world.bind("rows", [3, 5])
        ...     print(x, program(world)[1])
        Array(f32[8,4], [{"ep"}:dynamic[?rows], {}]) None
        Array(f32[8,4], [{"ep"}:dynamic[3, 5], {}]) 80
        """
        table = integers(numbers)
        if table.ndim not in (1, 2):
            raise InvalidError(
                f"the numbers of a symbol are sizes, or a table of counts, not {table.ndim}-d"
            )
        keep = ffi.new("int64_t[]", [*table.ravel().tolist(), 0])
        name = ffi.NULL if symbol is None else ffi.new("char[]", symbol.encode())
        given = ffi.new("tp_arguments *", {"text": name, "a": keep, "count": table.size})
        given.i = 0 if table.ndim == 1 else table.shape[1]
        self._call(lib.TP_SYMBOL, ffi.NULL, (), given, 0)

    @contextmanager
    def trace(self) -> Generator[Trace, None, None]:
        """Notes every redistribution; what it gives is a list of records, and a table as text."""
        if self._traced:
            raise InvalidError(
                "the world is traced already: a trace inside another takes its events"
            )
        self._call(lib.TP_WORLD, _function("tsr_trace_begin"), (), results=0)
        self._traced = True
        found = Trace()
        try:
            yield found
        finally:
            self._traced = False
            if not self.closed:
                found._read(self._comm())
                self._call(lib.TP_WORLD_VOID, _function("tsr_trace_end"), (), results=0)

    def set_topology(self, topology: Topology | None) -> None:
        """States where the ranks are: rank r is device r of the topology, fitted to the ranks.

        From then on :meth:`traffic` counts by level too, from zeros; None stops that.
        """
        found = ffi.NULL if topology is None else topology._topology
        given = ffi.new("tp_arguments *", {"topology": found})
        self._call(lib.TP_TOPOLOGY, ffi.NULL, (), given, 0)

    def traffic(self, level: int | None = None) -> dict[str, int]:
        """The bytes that the first local rank has sent to others, received, and moved itself.

        With a level of the topology, by its index: to and from ranks that differ there first.
        """
        comm = self._comm()
        if level is None:
            found = lib.tsr_comm_traffic(comm)
        else:
            found = lib.tsr_comm_traffic_at(comm, level)
        return {
            "sent": int(found.bytes_sent),
            "received": int(found.bytes_received),
            "local": int(found.bytes_local),
        }

    def barrier(self) -> None:
        """Returns when every rank has called it."""
        self._call(lib.TP_WORLD, _function("tsr_barrier"), (), results=0)


class Trace(list[TraceEvent]):
    """The redistributions of a traced block, filled at its end; ``str`` is a table."""

    _text = ""

    def _read(self, comm: Any) -> None:
        count = ffi.new("size_t *")
        events = lib.tsr_trace_events(comm, count)
        for i in range(count[0]):
            one = events[i]
            self.append(
                TraceEvent(
                    text_of(one.call),
                    int(one.operand),
                    text_of(one.tensor),
                    text_of(one.collective),
                    text_of(one.axes),
                    text_of(getattr(one, "from")),
                    text_of(one.to),
                    _known(one.bytes_received),
                    _known(one.bytes_moved),
                    bool(one.implicit),
                    bool(one.fallback),
                    text_of(one.convert) if one.convert != ffi.NULL else None,
                )
            )
        arena, out = Arena(), ffi.new("char **")
        if lib.tsr_trace_print(comm, arena.arena, out) >= 0:
            self._text = text_of(out[0])

    def __str__(self) -> str:
        return self._text

    def records(self) -> list[dict[str, Any]]:
        """The events as mappings, which pandas.DataFrame takes."""
        return [asdict(one) for one in self]

    def _repr_html_(self) -> str:
        names = ("call", "tensor", "collective", "axes", "source", "destination", "bytes_moved")
        return table_html(names, self.records(), len(self))


def _known(number: Any) -> int | None:
    return None if number == lib.TSR_UNKNOWN else int(number)


def _handle_of(operand: object) -> Any:
    if not isinstance(operand, Array):
        refuse_started(operand)
        kind = type(operand).__name__
        raise TypeError(f"the operand is a {kind}, not an Array: world.array makes one")
    return operand._handle


def _signed(number: int) -> int:
    """The bits of an unsigned number as a signed one."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _has_rest(mesh: object) -> bool:
    return isinstance(mesh, str) and "-1" in mesh


def _mpi_address(comm: object) -> Any:
    """The address of the MPI_Comm that a communicator of mpi4py has."""
    MPI = optional("mpi4py.MPI")  # noqa: N806
    if not isinstance(comm, MPI.Comm):
        raise InvalidError(f"comm must be a communicator of mpi4py, not {type(comm).__name__}")
    return ffi.cast("void *", MPI._addressof(comm))


# ---- functions on every rank ----


class _Launch:
    """A function that every rank runs, with what came of it."""

    def __init__(
        self, world: World, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> None:
        self.world = world
        self.function = function
        self.arguments = arguments
        self.results: dict[int, Any] = {}
        self.errors: list[tuple[int, BaseException]] = []
        self.threads: dict[int, int] = {}
        self.lock = threading.Lock()

    def run(self, index: int) -> int:
        """Runs the function on one rank, on its thread."""
        number = self.world.rank + index
        try:
            parent = self.world
            with _opened(parent.mesh, lib.tp_open_rank, parent._handle, index) as rank:
                rank._checked = parent._checked
                with self.lock:
                    self.threads[number] = threading.get_ident()
                try:
                    result = self.function(rank, *self.arguments)
                finally:
                    with self.lock:
                        del self.threads[number]
            with self.lock:
                self.results[number] = result
            return int(lib.TSR_OK)
        except BaseException as error:
            with self.lock:
                self.errors.append((number, error))
            peer = isinstance(error, _errors.PeerError)
            # The other ranks learn why.
            why = "".join(traceback.format_exception_only(type(error), error)).partition("\n")[0]
            context = lib.tsr_comm_context(lib.tp_comm(self.world._handle, index))
            status = lib.TSR_ERR_PEER if peer else lib.TSR_ERR_INVALID
            return int(lib.tsr_context_error(context, status, why.encode("utf-8", "replace")))

    def interrupt(self) -> None:
        """Raises KeyboardInterrupt in the functions that still run."""
        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        with self.lock:
            for thread in self.threads.values():
                raise_in(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


def _opened(mesh: Mesh, call: Any, *arguments: Any) -> World:
    """A world that another call than tp_open opens."""
    world = World.__new__(World)
    out = ffi.new("tp_world **")
    status = call(*arguments, out)
    world._begin(out[0], status, mesh)
    return world


@ffi.def_extern(error=lib.TSR_ERR_INVALID)  # type: ignore[untyped-decorator]
def tp_python_rank(world: Any, index: int, state: Any) -> int:
    """Called by a rank's thread."""
    return int(ffi.from_handle(state).run(index))


@ffi.def_extern()  # type: ignore[untyped-decorator]
def tp_python_interrupt(state: Any) -> None:
    """Called when a launch is interrupted."""
    ffi.from_handle(state).interrupt()


def launch(
    function: Callable[..., T],
    ranks: int | str | Mesh | None = None,
    mesh: object | None = None,
    *,
    args: Iterable[Any] = (),
    timeout: float | None = None,
    checked: bool = False,
) -> list[T]:
    """Runs a function on every rank, and gives what each returned.

    The function gets its rank's :class:`World` first: ``world.rank`` and ``world.size``, and arrays
    that this rank makes with the others; every rank makes the same calls. Ranks are threads of this
    process; under ``mpirun`` this process is one of them, and the list has its result alone.

    When a function raises an exception, the others' calls fail and say why, and the exception
    reaches the caller, with the number of the rank as its attribute ``rank``. ``args`` are what the
    function gets besides; ``timeout`` and ``checked`` are as in :class:`World`.

    >>> launch(lambda world: world.rank * 10, 3)
    [0, 10, 20]
    """
    with World(ranks, mesh, timeout=timeout, checked=checked) as world:
        job = _Launch(world, function, tuple(args))
        handle = ffi.new_handle(job)
        lib.tp_launch(world._handle, handle)
        failure: BaseException | None = None
        try:
            world._check()
        except BaseException as error:
            failure = error
        if failure is not None and not isinstance(failure, _errors.Error):
            raise failure  # an interrupt
        if job.errors:
            job.errors.sort(key=lambda one: (isinstance(one[1], _errors.PeerError), one[0]))
            rank, raised = job.errors[0]
            raised.rank = rank  # type: ignore[attr-defined]
            if hasattr(raised, "add_note"):
                raised.add_note(f"raised on rank {rank} of {world.size}")
            raise raised
        if failure is not None:
            raise failure
        return [job.results[rank] for rank in world.local_ranks]


@contextmanager
def abstract(mesh: object, rank: int = 0) -> Generator[World, None, None]:
    """A world of as many ranks as a mesh has devices, without ranks: shapes and layouts only.

    Calls check their arguments and give arrays without elements; the trace has what would move. So
    a program is checked, and its collectives are counted, for thousands of devices. Sizes of ragged
    layouts need not be known yet: see :meth:`World.bind`.

    >>> with abstract("dp=64, tp=64") as world, world.trace() as moved:
    ...     x = world.zeros((4096, 8192), "P('dp', 'tp')")
    ...     w = world.zeros((8192, 1024), "P('tp', None)")
    ...     y = (x @ w).redistribute("P('dp', None)")
    >>> [(one.collective, one.axes, one.bytes_moved) for one in moved]
    [('all-reduce', '"tp"', 2113929216)]
    """
    found = mesh_of(mesh)
    with _opened(found, lib.tp_open_abstract, found.size, rank) as world:
        yield world


@atexit.register
def _close_all() -> None:
    """Ends worlds that were left open, so that no process hangs at its end."""
    for world in list(_open_worlds):
        if world._handle != ffi.NULL and not world.closed:
            lib.tp_stop(world._handle)
            lib.tp_close(world._handle)

"""Ragged data: dimensions whose shards have sizes of their own.

A *dynamic* dimension has a size for each shard. A *partitioned* one is cut into partitions
(experts, say), of which each shard holds a slice (unaligned) or whole ones (aligned); the counts
say how many rows of each partition came from each shard.

>>> import numpy as np, tessera as ts
>>> with ts.World("ep=2") as world:
...     rows = np.arange(8.0).reshape(4, 2)
...     layout = ts.ragged.dynamic(world.mesh, "ep", [3, 1], ndim=2)
...     x = world.array(rows, layout)
...     print(x.local(0).shape, x.local(1).shape)
...     print(np.asarray(ts.ragged.to_replicate(x, 0)).shape)
(3, 2) (1, 2)
(4, 2)

Conversions are recorded where a :class:`tessera.Tape` runs. With ``record=True`` a conversion gives
its record too, whose ``backward`` takes the gradient of the result to that of the source.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tessera._arena import Arena, address_of
from tessera._array import Array, _function
from tessera._binding import ffi, lib
from tessera._dtype import dtype_code, full_array, integers, numpy_of
from tessera._errors import InvalidError
from tessera._mesh import mesh_of
from tessera._sharding import Sharding, axis_of, extents

if TYPE_CHECKING:
    from tessera._world import World

__all__ = [
    "Conversion",
    "aligned_to_unaligned",
    "bind",
    "dynamic",
    "exchange_counts",
    "from_replicate",
    "partitioned",
    "partitioned_from_replicate",
    "partitioned_reduce",
    "partitioned_to_dynamic",
    "partitioned_to_replicate",
    "partitioned_to_shard",
    "realign",
    "reduce_shard",
    "reinterpret",
    "shard",
    "slices",
    "split",
    "to_dynamic",
    "to_replicate",
    "unaligned_to_aligned",
]


def _axes_text(axes: str | Sequence[str]) -> str:
    names = [axes] if isinstance(axes, str) else list(axes)
    return "{" + ", ".join(f'"{name}"' for name in names) + "}"


def _sharding(mesh: object, axes: str | Sequence[str], cut: str, dim: int, ndim: int) -> Sharding:
    at = axis_of(dim, ndim)
    dims = ["{}"] * ndim
    dims[at] = _axes_text(axes) + cut
    return Sharding("[" + ", ".join(dims) + "]", mesh_of(mesh), ndim=ndim)


def dynamic(
    mesh: object, axes: str | Sequence[str], sizes: ArrayLike | str, *, dim: int = 0, ndim: int
) -> Sharding:
    """The sharding of a tensor with a dynamic dimension: the rows that each shard has.

    Sizes that are not known yet are a symbol, which :meth:`World.bind` binds.

    >>> dynamic("x=3", "x", [3, 0, 5], ndim=2).dims[0].sizes
    (3, 0, 5)
    >>> dynamic("x=3", "x", "rows", ndim=1)
    #sdy.sharding<mesh<["x"=3]>, [{"x"}:dynamic[?rows]]>
    """
    if isinstance(sizes, str):
        return _sharding(mesh, axes, f":dynamic[?{sizes}]", dim, ndim)
    numbers = integers(sizes).ravel().tolist()
    return _sharding(mesh, axes, f":dynamic{numbers}", dim, ndim)


def partitioned(
    mesh: object,
    axes: str | Sequence[str],
    counts: ArrayLike,
    *,
    dim: int = 0,
    ndim: int,
    aligned: bool = False,
    owners: Sequence[int] | None = None,
    align: int = 1,
) -> Sharding:
    """The sharding of a tensor with a partitioned dimension.

    ``counts[s][p]`` rows of partition p came from shard s. Aligned, shard d has the partitions
    ``owners[d]`` to ``owners[d + 1] - 1``, each stored in a multiple of ``align`` rows.
    """
    numbers = integers(counts)
    if numbers.ndim != 2:
        raise InvalidError(f"the counts are a table of shards and partitions, not {numbers.ndim}-d")
    options = ["aligned"] if aligned else []
    if owners is not None:
        options.append(f"owners={[int(one) for one in owners]}")
    if align != 1:
        options.append(f"align={align}")
    more = f"({', '.join(options)})" if options else ""
    return _sharding(mesh, axes, f":partitioned{numbers.tolist()}{more}", dim, ndim)


# ---- arrays on one rank ----


def slices(shape: Sequence[int] | int, sizes: ArrayLike, dim: int = 0) -> list[tuple[slice, ...]]:
    """The index of each chunk of an array of that shape, cut into sizes along a dimension.

    >>> slices((5, 2), [3, 0, 2])[2]
    (slice(3, 5, None), slice(None, None, None))
    """
    whole = extents(shape)
    at, numbers = axis_of(dim, len(whole)), integers(sizes).ravel().tolist()
    arena, count = Arena(), len(numbers)
    chunks, given = ffi.new("tsr_chunk[]", count + 1), ffi.new("int64_t[]", [*numbers, 0])
    arena.check(lib.tsr_dynamic_slices(arena.ctx, whole[at], given, count, chunks))
    return [
        tuple(
            slice(int(chunks[i].start), int(chunks[i].end)) if d == at else slice(None)
            for d in range(len(whole))
        )
        for i in range(count)
    ]


def split(
    array: ArrayLike, sizes: ArrayLike, dim: int = 0, *, contiguous: bool = True
) -> list[NDArray[Any]]:
    """An array of NumPy in chunks of these sizes: contiguous copies, or views of it.

    The sizes sum to the extent; nothing is padded. Of what a rank holds: ``x.local(rank)``.

    >>> [chunk.tolist() for chunk in split([5, 6, 7, 8, 9], [3, 0, 2])]
    [[5, 6, 7], [], [8, 9]]
    """
    if isinstance(array, Array):
        raise InvalidError(
            f"split takes an array of this process, not {array!r}: pass x.local(rank), or lay it "
            "out by to_dynamic"
        )
    whole = numpy_of(array)
    chunks = [whole[index] for index in slices(whole.shape, sizes, dim)]
    return [chunk.copy(order="C") for chunk in chunks] if contiguous else chunks


# ---- from one rank, and by what each rank knows ----


def shard(
    world: World,
    values: ArrayLike | None,
    layout: object,
    *,
    source: int | None = 0,
    shape: Sequence[int] | int | None = None,
    dtype: object = None,
) -> Array:
    """An array with a dynamic dimension, of the values that the rank ``source`` has: a scatter.

    Each rank receives its own rows from that rank. A process without it passes None with the shape
    and the element type, or an array whose elements are not looked at. With source None every
    process has the same values, and nothing moves.

    >>> import tessera as ts
    >>> with ts.World("ep=2") as world:
    ...     layout = dynamic(world.mesh, "ep", [3, 1], ndim=1)
    ...     x = shard(world, np.arange(4.0), layout, source=1)
    ...     print(x.local(0), x.local(1))
    [0. 1. 2.] [3.]
    """
    root = -1 if source is None else operator.index(source)
    if source is not None and not 0 <= root < world.size:
        raise InvalidError(f"the source is a rank from 0 to {world.size - 1}, or None, not {root}")
    if values is None and (source is None or root in world.local_ranks):
        raise InvalidError("this process has the source rank, and no values: pass the array")
    if values is None and (shape is None or dtype is None):
        raise InvalidError("without values the shape and the element type are needed: pass both")
    full, found = None, extents(()) if shape is None else extents(shape)
    code = None if dtype is None else dtype_code(dtype)
    if values is not None:
        full, own = full_array(values, dtype)
        if shape is not None and found != own:
            raise InvalidError(f"the values have the shape {own}, not {found}")
        found, code = own, dtype_code(full.dtype)
    sharding = world._layout(layout, found)
    placement = ffi.new("tsr_placement *", {"sharding": sharding._sharding})
    given = ffi.new("tp_arguments *", {"placement": placement, "i": code, "j": root})
    sizes = ffi.new("int64_t[]", [*found, 0])
    given.a, given.count = sizes, len(found)
    given.memory = ffi.NULL if full is None else address_of(full)
    made: Array = world._call(lib.TP_RAGGED, ffi.NULL, (), given)
    return made


def _own_rows(world: World, rows: Sequence[ArrayLike]) -> tuple[Any, int]:
    """The numbers of each local rank, one rank after the other, and how many each has."""
    world._check_count("rows", rows)
    numbers = [integers(row).ravel() for row in rows]
    count = len(numbers[0])
    if any(len(row) != count for row in numbers):
        raise InvalidError(f"the rows differ in length: {[len(row) for row in numbers]}")
    return ffi.new("int64_t[]", [*np.concatenate(numbers).tolist(), 0]), count


def bind(
    world: World,
    layout: object,
    rows: Sequence[ArrayLike],
    *,
    ndim: int | None = None,
    extent: int | None = None,
) -> Sharding:
    """The layout with its unbound sizes, of which each rank knows the size of its own shard.

    ``rows`` are those of :attr:`World.local_ranks`: of each the size of its shard (``dynamic[?]``,
    ``DynamicShard(0)``), or the counts of the partitions in it (``partitioned[?]``). They are
    gathered from all ranks. ``extent`` is what they must sum to, if that is known.
    :meth:`World.traffic` counts the bytes; a trace lists those of arrays alone.
    :meth:`Sharding.bind` takes the numbers of all shards, without communication.

    >>> import tessera as ts
    >>> def run(world):
    ...     mine = [3, 5][world.rank]
    ...     return bind(world, "[DynamicShard(0)]", [mine], ndim=1).dims[0].sizes
    >>> ts.launch(run, "ep=2")
    [(3, 5), (3, 5)]
    """
    unbound = Sharding(layout, None if isinstance(layout, Sharding) else world.mesh, ndim=ndim)
    numbers, count = _own_rows(world, rows)
    arenas = [Arena() for _ in world.local_ranks]
    kept = ffi.new("tsr_arena *[]", [one.arena for one in arenas])
    bound = ffi.new("tsr_sharding *[]", len(arenas))
    given = ffi.new("tp_arguments *", {"sharding": unbound._sharding, "a": numbers})
    given.count, given.i = count, lib.TSR_UNKNOWN if extent is None else extent
    given.arenas, given.bound = kept, bound
    world._call(lib.TP_BIND, ffi.NULL, (), given, 0)
    return Sharding._of((arenas[0], unbound), bound[0], unbound.mesh)


def exchange_counts(
    world: World,
    axes: str | Sequence[str],
    rows: Sequence[ArrayLike],
    *,
    owners: Sequence[int] | None = None,
) -> list[NDArray[np.int64]]:
    """What each local rank's shard will receive: a count for each shard and partition it owns.

    Each rank knows the counts of its own shard, one for each partition: ``rows``, those of
    :attr:`World.local_ranks`. An all-to-all sends each shard those of its partitions, fewer numbers
    than :func:`bind` gathers, and as there in no trace. ``owners`` are as of :func:`partitioned`.

    >>> import tessera as ts
    >>> with ts.World("ep=2") as world:
    ...     for counts in exchange_counts(world, "ep", [[4, 6, 4, 2], [2, 4, 8, 2]]):
    ...         print(counts.tolist())
    [[4, 6], [2, 4]]
    [[4, 2], [8, 2]]
    """
    along = Sharding(f"[{_axes_text(axes)}]", world.mesh)
    numbers, count = _own_rows(world, rows)
    shards = int(lib.tsr_sharding_num_shards(along._sharding, 0))
    room = 1 + shards * count
    out = ffi.new("int64_t[]", len(rows) * room)
    given = ffi.new("tp_arguments *", {"sharding": along._sharding, "a": numbers})
    given.count, given.i, given.numbers = count, shards, out
    keep = ffi.NULL if owners is None else ffi.new("int64_t[]", [*integers(owners).tolist(), 0])
    given.b, given.j = keep, 0 if owners is None else len(owners)
    world._call(lib.TP_EXCHANGE, ffi.NULL, (), given, 0)
    found = np.frombuffer(ffi.buffer(out), dtype=np.int64).reshape(len(rows), room)
    return [row[1 : 1 + shards * row[0]].reshape(shards, row[0]).copy() for row in found]


class Conversion:
    """The record of a conversion, for its backward."""

    def __init__(self, handle: Array) -> None:
        self._handle = handle

    def backward(self, gradient: Array) -> Array:
        """The gradient of the source, from that of the result; no counts are communicated."""
        made: Array = gradient._world._call(
            lib.TP_BACKWARD, ffi.NULL, (self._handle, gradient), ffi.new("tp_arguments *")
        )
        return made


def _convert(
    kind: int, function: Any, x: Array, record: bool, **arguments: Any
) -> Array | tuple[Array, Conversion]:
    taped = x._world._tapes > 0
    given = ffi.new("tp_arguments *", {**arguments, "record": record or taped})
    made = x._world._call(kind, function, (x,), given, 2 if record or taped else 1)
    if not record and not taped:
        return made  # type: ignore[no-any-return]
    result, handle = made
    if taped and not record:
        x._world._call(lib.TP_RECORD, ffi.NULL, (x, result, handle), ffi.new("tp_arguments *"), 0)
        return result  # type: ignore[no-any-return]
    return result, Conversion(handle)


def _to(function: str, x: Array, layout: object, record: bool) -> Any:
    placement = ffi.new("tsr_placement *")
    sharding = None if layout is None else x._world._layout(layout, x.shape)
    if sharding is not None:
        placement.sharding = sharding._sharding
    given = ffi.NULL if sharding is None else placement
    return _convert(lib.TP_TO_PLACEMENT, _function(function), x, record, placement=given)


def _of(function: str, x: Array, dim: int, record: bool) -> Any:
    return _convert(lib.TP_OF_PLACEMENT, _function(function), x, record, i=axis_of(dim, x.ndim))


def to_replicate(x: Array, dim: int = 0, *, record: bool = False) -> Any:
    """All rows of a dynamic dimension on every rank along its axes: all-gather with counts."""
    return _of("tsr_dynamic_to_replicate", x, dim, record)


def from_replicate(x: Array, layout: object, *, record: bool = False) -> Any:
    """Each rank's rows of a dimension that it has whole: a local copy."""
    return _to("tsr_dynamic_from_replicate", x, layout, record)


def reduce_shard(x: Array, layout: object, *, record: bool = False) -> Any:
    """Reduces what is pending, each rank its own rows: reduce-scatter with counts."""
    return _to("tsr_dynamic_reduce_shard", x, layout, record)


def to_dynamic(x: Array, layout: object, *, record: bool = False) -> Any:
    """Other sizes, or another dimension: each rank receives what it lacks."""
    return _to("tsr_dynamic_to_dynamic", x, layout, record)


def unaligned_to_aligned(x: Array, dim: int = 0, *, record: bool = False) -> Any:
    """Whole partitions on a rank, from a slice of each: tokens go to their experts."""
    return _of("tsr_partitioned_unaligned_to_aligned", x, dim, record)


def aligned_to_unaligned(x: Array, dim: int = 0, *, record: bool = False) -> Any:
    """Every row back to the shard that it came from."""
    return _of("tsr_partitioned_aligned_to_unaligned", x, dim, record)


def partitioned_to_replicate(x: Array, dim: int = 0, *, record: bool = False) -> Any:
    """The logical tensor, partition after partition, whole on every rank along the axes."""
    return _of("tsr_partitioned_to_replicate", x, dim, record)


def partitioned_from_replicate(x: Array, layout: object, *, record: bool = False) -> Any:
    """Each rank's blocks or partitions of a dimension that it has whole."""
    return _to("tsr_partitioned_from_replicate", x, layout, record)


def partitioned_to_shard(x: Array, dim: int = 0, *, record: bool = False) -> Any:
    """The logical tensor in even chunks along the same axes."""
    return _of("tsr_partitioned_to_shard", x, dim, record)


def partitioned_reduce(x: Array, layout: object, *, record: bool = False) -> Any:
    """Reduces what is pending, each rank its own blocks or partitions."""
    return _to("tsr_partitioned_reduce", x, layout, record)


def reinterpret(x: Array, layout: object, *, record: bool = False) -> Any:
    """The same memory taken for another tensor: rows of each rank as its blocks, or back."""
    return _to("tsr_partitioned_reinterpret", x, layout, record)


def partitioned_to_dynamic(
    x: Array, dim: int = 0, layout: object = None, *, record: bool = False
) -> Any:
    """The logical tensor with dynamic sizes: without a layout the rows of what each rank owns."""
    placement = ffi.new("tsr_placement *")
    sharding = None if layout is None else x._world._layout(layout, x.shape)
    if sharding is not None:
        placement.sharding = sharding._sharding
    return _convert(
        lib.TP_TO_DYNAMIC,
        ffi.NULL,
        x,
        record,
        i=axis_of(dim, x.ndim),
        placement=ffi.NULL if sharding is None else placement,
    )


def realign(
    x: Array,
    dim: int = 0,
    owners: Sequence[int] | None = None,
    align: int = 1,
    *,
    record: bool = False,
) -> Any:
    """An aligned tensor with other owners and another alignment."""
    keep = ffi.NULL if owners is None else ffi.new("int64_t[]", [*owners, 0])
    return _convert(
        lib.TP_REALIGN,
        ffi.NULL,
        x,
        record,
        i=axis_of(dim, x.ndim),
        a=keep,
        count=0 if owners is None else len(owners),
        j=align,
    )

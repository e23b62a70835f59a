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

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tessera._array import Array, _function, axis_of
from tessera._binding import ffi, lib
from tessera._errors import InvalidError
from tessera._mesh import mesh_of
from tessera._sharding import Sharding

__all__ = [
    "Conversion",
    "aligned_to_unaligned",
    "dynamic",
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
    mesh: object, axes: str | Sequence[str], sizes: ArrayLike, *, dim: int = 0, ndim: int
) -> Sharding:
    """The sharding of a tensor with a dynamic dimension: the rows that each shard has.

    >>> dynamic("x=3", "x", [3, 0, 5], ndim=2).dims[0].sizes
    (3, 0, 5)
    """
    numbers = np.asarray(sizes, dtype=np.int64).ravel().tolist()
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
    numbers = np.asarray(counts, dtype=np.int64)
    if numbers.ndim != 2:
        raise InvalidError(f"the counts are a table of shards and partitions, not {numbers.ndim}-d")
    options = ["aligned"] if aligned else []
    if owners is not None:
        options.append(f"owners={[int(one) for one in owners]}")
    if align != 1:
        options.append(f"align={align}")
    more = f"({', '.join(options)})" if options else ""
    return _sharding(mesh, axes, f":partitioned{numbers.tolist()}{more}", dim, ndim)


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

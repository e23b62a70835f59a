"""Shardings: how a tensor is laid over the devices of a mesh."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tessera._arena import Arena
from tessera._binding import ffi, lib
from tessera._dtype import integers
from tessera._errors import InvalidError, UnsupportedError, text_of
from tessera._mesh import Mesh, mesh_of
from tessera._optional import is_from, optional

__all__ = ["Dim", "Shard", "Sharding"]

_DIALECTS = {
    "sdy": lib.TSR_DIALECT_SDY,
    "jax": lib.TSR_DIALECT_JAX,
    "dtensor": lib.TSR_DIALECT_DTENSOR,
    "torch": lib.TSR_DIALECT_DTENSOR,
    "hlo": lib.TSR_DIALECT_HLO,
}
_REDUCTIONS = {
    lib.TSR_SUM: "sum",
    lib.TSR_MAX: "max",
    lib.TSR_MIN: "min",
    lib.TSR_AVG: "avg",
    lib.TSR_PROD: "prod",
}

Box = tuple[slice, ...]


@dataclass(frozen=True)
class Dim:
    """One dimension: the axes that shard it, major to minor, as texts (``dp``, ``x:(1)2``).

    ``symbol`` is that of sizes or counts that are not bound, "" for ``?`` alone; else None.
    """

    axes: tuple[str, ...]
    open: bool = False
    priority: int | None = None
    sizes: tuple[int, ...] | None = None
    symbol: str | None = None


@dataclass(frozen=True)
class Shard:
    """What one device holds: a record of the table that :meth:`Sharding.table` gives."""

    device: int
    coordinates: tuple[int, ...]
    box: Box

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the box."""
        return tuple(part.stop - part.start for part in self.box)


def axis_of(axis: int, ndim: int) -> int:
    """A dimension that may count from the last, counted from the first."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise InvalidError(f"dimension {axis} is out of range: the array has {ndim}")
    return axis % ndim


def extents(shape: Sequence[int] | int) -> tuple[int, ...]:
    """A shape as a tuple."""
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    return tuple(int(extent) for extent in shape)


class Sharding:
    """How a tensor is laid over the devices of a mesh.

    A sharding is made from a text in any notation, from a tuple such as ``("dp", None)``, from a
    ``NamedSharding`` or ``PartitionSpec`` of jax, from placements of torch, or from what has one
    (an array of jax, a ``DTensor``). A layout needs a mesh unless it has one. ``shape`` is
    that of the tensor; a ``PartitionSpec`` shorter than it leaves the last dimensions whole, and
    placements of torch need it where a dimension has several axes. ``repr`` is the canonical text.

    >>> sharding = Sharding("P('dp', None)", "dp=2, tp=4")
    >>> sharding
    #sdy.sharding<mesh<["dp"=2, "tp"=4]>, [{"dp"}, {}]>
    >>> sharding.local_shape((5, 8))
    (3, 8)
    >>> sharding.box((5, 8), device=7)
    (slice(3, 5, None), slice(0, 8, None))
    >>> sharding.to("dtensor")
    '[Shard(0), Replicate()]'
    >>> sharding == Sharding('[{"dp"}, {}]', "dp=2, tp=4")
    True
    """

    __slots__ = ("__weakref__", "_mesh", "_owner", "_sharding", "_text")

    _owner: object
    _sharding: Any
    _mesh: Mesh
    _text: str

    def __init__(
        self,
        layout: object,
        mesh: object | None = None,
        shape: Sequence[int] | None = None,
        *,
        ndim: int | None = None,
    ) -> None:
        if isinstance(layout, Sharding):
            if mesh is not None and mesh_of(mesh) != layout.mesh:
                raise InvalidError(
                    f"the sharding is on the mesh {layout.mesh}, not on {mesh_of(mesh)}; "
                    "translate() expresses it over another view of the same devices"
                )
            self._owner, self._sharding = layout._owner, layout._sharding
            self._mesh, self._text = layout._mesh, layout._text
            return
        own = mesh_in(layout)
        found = own if mesh is None else mesh_of(mesh)
        if found and own and not lib.tsr_mesh_equal_axes(found._mesh, own._mesh):
            raise InvalidError(f"the layout is on the mesh {own}, not on {found}")
        text, implied = _layout_of(layout)
        wanted = implied if shape is None else extents(shape)
        owner = Arena()
        self._adopt((owner, found), _read(owner, text, found, wanted, ndim), found)

    def _adopt(self, owner: object, sharding: Any, mesh: Mesh | None = None) -> None:
        self._owner = owner
        self._sharding = sharding
        pointer = lib.tsr_sharding_mesh(sharding)
        self._mesh = (
            mesh if mesh is not None and mesh._mesh == pointer else Mesh._of(owner, pointer)
        )
        self._text = Arena().text(lib.tsr_sharding_print, sharding, lib.TSR_PRINT_FULL)

    @classmethod
    def _of(cls, owner: object, sharding: Any, mesh: Mesh | None = None) -> Sharding:
        """The sharding of a pointer into memory that `owner` keeps."""
        made = cls.__new__(cls)
        made._adopt(owner, sharding, mesh)
        return made

    @classmethod
    def _copy(cls, sharding: Any, mesh: Mesh | None = None) -> Sharding:
        """A sharding of its own, by its text: the pointer may go away."""
        text = _bare_text(sharding)
        if mesh is None:
            mesh = Mesh(Arena().text(lib.tsr_mesh_print, lib.tsr_sharding_mesh(sharding)))
        return cls(text, mesh, ndim=lib.tsr_sharding_rank(sharding))

    @classmethod
    def replicated_over(cls, mesh: object, ndim: int) -> Sharding:
        """The sharding of a tensor that every device has whole."""
        found = mesh_of(mesh)
        owner, out = Arena(), ffi.new("tsr_sharding **")
        owner.check(
            lib.tsr_sharding_replicated_over(owner.ctx, owner.arena, found._mesh, ndim, False, out)
        )
        return cls._of((owner, found), out[0], found)

    @property
    def mesh(self) -> Mesh:
        """The mesh."""
        return self._mesh

    @property
    def ndim(self) -> int:
        """How many dimensions the tensor has."""
        return int(lib.tsr_sharding_rank(self._sharding))

    def _axes(self, refs: Any, count: int) -> tuple[str, ...]:
        arena = Arena()
        return tuple(
            arena.text(lib.tsr_axes_print, self._mesh._mesh, refs + i, 1).replace('"', "")
            for i in range(count)
        )

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The dimensions."""
        found: list[Dim] = []
        for i in range(self.ndim):
            dim = lib.tsr_sharding_dim(self._sharding, i)
            sizes, symbol = None, None
            if dim.ragged != ffi.NULL and dim.ragged.sizes != ffi.NULL:
                count = lib.tsr_sharding_num_shards(self._sharding, i)
                sizes = tuple(dim.ragged.sizes[0:count])
            elif dim.ragged != ffi.NULL and dim.ragged.counts == ffi.NULL:
                name = dim.ragged.symbol
                symbol = "" if name == ffi.NULL else text_of(name)
            priority = None if dim.priority == lib.TSR_NO_PRIORITY else int(dim.priority)
            axes = self._axes(dim.axes, dim.num_axes)
            found.append(Dim(axes, bool(dim.open), priority, sizes, symbol))
        return tuple(found)

    @property
    def replicated(self) -> tuple[str, ...]:
        """The axes that are explicitly replicated."""
        count = ffi.new("size_t *")
        refs = lib.tsr_sharding_replicated(self._sharding, count)
        return self._axes(refs, count[0])

    @property
    def unreduced(self) -> tuple[str, ...]:
        """The axes along which a reduction is pending."""
        count = ffi.new("size_t *")
        refs = lib.tsr_sharding_unreduced(self._sharding, count)
        return self._axes(refs, count[0])

    @property
    def reduction(self) -> str:
        """What a pending reduction does: sum, max, min, avg or prod."""
        return _REDUCTIONS[lib.tsr_sharding_reduction(self._sharding)]

    @property
    def is_replicated(self) -> bool:
        """Whether every device has the whole tensor and nothing is pending."""
        return not self.unreduced and not any(dim.axes for dim in self.dims)

    # ---- geometry ----

    def _geometry(self, arena: Arena, shape: Sequence[int]) -> Any:
        sizes = extents(shape)
        out = ffi.new("tsr_geometry **")
        arena.check(
            lib.tsr_geometry_create(
                arena.ctx,
                arena.arena,
                self._sharding,
                len(sizes),
                ffi.new("int64_t[]", [*sizes, 0]),
                out,
            )
        )
        return out[0]

    def local_shape(self, shape: Sequence[int], device: int | None = None) -> tuple[int, ...]:
        """What a device holds of a tensor of that shape; without one, the largest part of any."""
        if device is not None:
            return tuple(part.stop - part.start for part in self.box(shape, device))
        arena = Arena()
        geometry = self._geometry(arena, shape)
        rank = lib.tsr_geometry_rank(geometry)
        out = ffi.new("int64_t[]", max(rank, 1))
        lib.tsr_geometry_local_shape(geometry, out)
        return tuple(out[0:rank])

    def box(self, shape: Sequence[int], device: int) -> Box:
        """The part of the tensor that a device holds, as slices.

        In an unaligned dimension of a ragged sharding the rows need not be adjacent:
        :meth:`pieces` has them.
        """
        return self._boxes(shape, [device])[device]

    def boxes(self, shape: Sequence[int]) -> dict[int, Box]:
        """The part of every device, as ``devices_indices_map`` of jax has it.

        >>> Sharding("[{}, {'tp'}]".replace("'", '"'), "tp=2").boxes((2, 3))
        {0: (slice(0, 2, None), slice(0, 2, None)), 1: (slice(0, 2, None), slice(2, 3, None))}
        """
        return self._boxes(shape, range(self._mesh.size))

    def _boxes(self, shape: Sequence[int], devices: Sequence[int]) -> dict[int, Box]:
        arena = Arena()
        geometry = self._geometry(arena, shape)
        rank = lib.tsr_geometry_rank(geometry)
        start = ffi.new("int64_t[]", max(rank, 1))
        size = ffi.new("int64_t[]", max(rank, 1))
        found: dict[int, Box] = {}
        for device in devices:
            if not lib.tsr_geometry_box(geometry, device, start, size):
                raise InvalidError(f"the mesh {self._mesh} has no device {device}")
            found[device] = tuple(
                slice(int(start[i]), int(start[i] + size[i])) for i in range(rank)
            )
        return found

    def pieces(self, shape: Sequence[int], device: int, dim: int) -> list[slice]:
        """The rows of a dimension that a device holds, as slices in ascending order."""
        arena = Arena()
        geometry = self._geometry(arena, shape)
        count = lib.tsr_geometry_pieces(geometry, device, dim, 0, ffi.NULL)
        if count < 0:
            raise InvalidError(f"{self} has no device {device} or no dimension {dim}")
        out = ffi.new("tsr_interval[]", max(count, 1))
        lib.tsr_geometry_pieces(geometry, device, dim, count, out)
        return [slice(int(out[i].start), int(out[i].start + out[i].size)) for i in range(count)]

    def table(self, shape: Sequence[int]) -> list[Shard]:
        """What each device holds: a record each, in the order of the devices."""
        return [
            Shard(device, self._mesh.coordinates(device), box)
            for device, box in self.boxes(shape).items()
        ]

    def same(self, other: Sharding, shape: Sequence[int]) -> bool:
        """Whether two shardings place every element of that shape on the same devices."""
        arena, out = Arena(), ffi.new("bool *")
        mine, theirs = self._geometry(arena, shape), other._geometry(arena, shape)
        arena.check(lib.tsr_geometry_same(arena.ctx, mine, theirs, out))
        return bool(out[0])

    def equivalent(self, other: Sharding) -> bool:
        """Whether programs take them for the same: openness and priorities do not count."""
        return bool(lib.tsr_sharding_equivalent(self._sharding, other._sharding, False))

    def translate(self, mesh: object) -> Sharding:
        """The same sharding over another view of the same devices."""
        found = mesh_of(mesh)
        owner, out = Arena(), ffi.new("tsr_sharding **")
        owner.check(
            lib.tsr_sharding_translate(owner.ctx, owner.arena, self._sharding, found._mesh, out)
        )
        return Sharding._of((owner, found, self), out[0], found)

    def bind(self, dim: int, numbers: ArrayLike) -> Sharding:
        """The same sharding with a dimension's sizes, which it left to be bound later.

        Those are a number for each shard of a dynamic dimension, ``dynamic[?]`` or
        ``DynamicShard(0)``; of a partitioned one a row for each shard, of a count for each
        partition.

        >>> Sharding("[DynamicShard(0)]", "ep=2", ndim=1).bind(0, [3, 5])
        #sdy.sharding<mesh<["ep"=2]>, [{"ep"}:dynamic[3, 5]]>
        """
        at = axis_of(dim, self.ndim)
        old = lib.tsr_sharding_dim(self._sharding, at).ragged
        if old == ffi.NULL or old.sizes != ffi.NULL or old.counts != ffi.NULL:
            raise InvalidError(f"dimension {at} of {self} is not unbound")
        given = integers(numbers)
        shards = int(lib.tsr_sharding_num_shards(self._sharding, at))
        wanted = 1 if old.kind == lib.TSR_RAGGED_DYNAMIC else 2
        if given.ndim != wanted or len(given) != shards:
            raise InvalidError(
                f"dimension {at} of {self} is bound by "
                + (f"{shards} sizes" if wanted == 1 else f"a table of {shards} rows of counts")
                + f", not by an array of shape {given.shape}"
            )
        keep = ffi.new("int64_t[]", [*given.ravel().tolist(), 0])
        ragged = ffi.new("tsr_ragged *", {"kind": old.kind, "rows": 1, "alignment": 1})
        if wanted == 1:
            ragged.sizes = keep
        else:
            ragged.counts, ragged.partitions = keep, given.shape[1]
        owner, out = Arena(), ffi.new("tsr_sharding **")
        owner.check(lib.tsr_sharding_bind(owner.ctx, owner.arena, self._sharding, at, ragged, out))
        return Sharding._of((owner, self), out[0], self._mesh)

    # ---- other notations ----

    def to(self, notation: str, shape: Sequence[int] | None = None) -> str:
        """The text in another notation: ``sdy``, ``jax``, ``dtensor`` or ``hlo``."""
        if notation not in _DIALECTS:
            raise InvalidError(
                f"unknown notation {notation!r}; the notations are {sorted(_DIALECTS)}"
            )
        sizes = ffi.NULL if shape is None else ffi.new("int64_t[]", [*extents(shape), 0])
        if shape is not None and len(extents(shape)) != self.ndim:
            raise InvalidError(f"the shape {extents(shape)} is not of rank {self.ndim}")
        return Arena().text(lib.tsr_dialect_write, _DIALECTS[notation], self._sharding, sizes)

    def bare_text(self) -> str:
        """The text without the mesh: ``[{"x"}, {}]``."""
        return _bare_text(self._sharding)

    def to_jax(self, mesh: Any = None) -> Any:
        """A ``jax.sharding.NamedSharding`` over ``mesh``, by default :meth:`Mesh.to_jax`."""
        jax = optional("jax")
        spec = eval(  # the text is the library's own: names, None and tuples
            self.to("jax"), {"P": jax.sharding.PartitionSpec, "__builtins__": {}}
        )
        return jax.sharding.NamedSharding(self._mesh.to_jax() if mesh is None else mesh, spec)

    def to_torch(self, shape: Sequence[int] | None = None) -> tuple[Any, ...]:
        """The placements of torch, one for each axis of the mesh.

        Torch has none for ragged dimensions; those of a DTensor that does not divide evenly need
        the shape.
        """
        text = self.to("dtensor", shape)
        if "DynamicShard" in text or "PartitionedShard" in text:
            raise UnsupportedError(
                f"torch has no placements for ragged dimensions, as in {text}: redistribute the "
                "array to an even layout first, or take what each device holds from boxes(shape)"
            )
        tensor = optional("torch.distributed.tensor")
        names: dict[str, Any] = {
            "Shard": tensor.Shard,
            "Replicate": tensor.Replicate,
            "Partial": tensor.Partial,
            "__builtins__": {},
        }
        if "_StridedShard" in text:
            types = optional("torch.distributed.tensor.placement_types")
            names["_StridedShard"] = types._StridedShard
        for op in ("sum", "avg", "max", "min", "product"):
            text = text.replace(f"Partial({op})", f"Partial('{op}')")
        return tuple(eval(text, names))

    # ---- pictures ----

    def show(self, shape: Sequence[int], *, unicode: bool = True, colour: bool = False) -> str:
        """The picture of what each device holds, as text."""
        arena = Arena()
        style = ffi.new("tsr_picture_style *", {"unicode": unicode, "colour": colour})
        return arena.text(lib.tsr_picture_text, self._geometry(arena, shape), style)

    def svg(self, shape: Sequence[int], title: str | None = None) -> str:
        """The picture as a standalone SVG document."""
        arena = Arena()
        lines = [] if title is None else [ffi.new("char[]", title.encode())]
        titles = ffi.new("char *[]", [*lines, ffi.NULL])
        geometry = self._geometry(arena, shape)
        return arena.text(lib.tsr_picture_svg, geometry, titles, len(lines))

    def _repr_svg_(self) -> str:
        # Without a shape: the shards themselves, one element each.
        shape = [
            max(int(lib.tsr_sharding_num_shards(self._sharding, i)), 1) for i in range(self.ndim)
        ]
        return self.svg(shape, title=self.to("sdy"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sharding):
            return NotImplemented
        return bool(lib.tsr_sharding_equal(self._sharding, other._sharding))

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self.bare_text(), self._mesh, self.ndim))


def _bare_text(sharding: Any) -> str:
    return Arena().text(lib.tsr_sharding_print, sharding, lib.TSR_PRINT_BARE)


def _again(text: str, mesh: Mesh, ndim: int) -> Sharding:
    """A sharding out of a pickle."""
    return Sharding(text, mesh, ndim=ndim)


def mesh_in(layout: object) -> Mesh | None:
    """The mesh that a layout of another library, or a Sharding, says itself."""
    if isinstance(layout, Sharding):
        return layout.mesh
    if not is_from(layout, "jax") and not is_from(layout, "torch"):
        return None
    about: Any = getattr(layout, "sharding", layout)
    found = getattr(about, "mesh", None) if hasattr(about, "spec") else None
    found = getattr(about, "device_mesh", found)
    return None if found is None else Mesh(found)


def _layout_of(layout: object) -> tuple[str, tuple[int, ...] | None]:
    """The text and, where it has one, the shape of what is taken for a layout."""
    if isinstance(layout, str):
        return layout, None
    if layout is None:
        return "", None
    if is_from(layout, "jax"):
        return _layout_of_jax(layout)
    if is_from(layout, "torch") and hasattr(layout, "placements"):
        return _layout_of_dtensor(layout)
    if isinstance(layout, (list, tuple)):
        entries: list[Any] = list(layout)  # pyright: ignore[reportUnknownArgumentType]
        if all(is_from(one, "torch") for one in entries):
            return str(entries), None
        if all(_is_entry(one) for one in entries):
            return f"P({', '.join(map(repr, entries))})", None
    kind: str = type(layout).__name__  # pyright: ignore[reportUnknownArgumentType]
    raise InvalidError(
        "a layout is a text, a Sharding, a tuple such as ('dp', None), one of jax, or a list of "
        f"torch's placements, not {kind}"
    )


def _layout_of_dtensor(dtensor: Any) -> tuple[str, tuple[int, ...]]:
    """The text and the shape of a DTensor.

    Its placements are read from the first axis of the mesh to the last, unless it has a
    ``shard_order`` of its own: a dimension is then cut along the axes in that order, as placements
    over the same axes in another order are.
    """
    shape, placements = extents(dtensor.shape), list(dtensor.placements)
    order = getattr(getattr(dtensor, "_spec", dtensor), "shard_order", None) or ()
    if all(list(one.mesh_dims) == sorted(one.mesh_dims) for one in order):
        return str(placements), shape
    mesh = Mesh(dtensor.device_mesh)
    cut = [axis for one in order for axis in one.mesh_dims]
    axes = cut + [axis for axis in range(len(placements)) if axis not in cut]
    other = Mesh({mesh.axis_names[axis]: mesh.axis_sizes[axis] for axis in axes})
    return Sharding(str([placements[axis] for axis in axes]), other, shape).bare_text(), shape


def _is_entry(entry: object) -> bool:
    """Whether it is an entry of a partition spec: None, an axis, or several."""
    if isinstance(entry, tuple):
        return all(isinstance(axis, str) for axis in entry)
    return entry is None or isinstance(entry, str)


def _layout_of_jax(layout: Any) -> tuple[str, tuple[int, ...] | None]:
    shape = None
    if hasattr(layout, "sharding"):
        shape = extents(layout.shape)
        layout = layout.sharding
    if hasattr(layout, "spec") and hasattr(layout, "mesh"):
        layout = layout.spec
    if type(layout).__name__ in ("P", "PartitionSpec", "GSPMDSharding"):
        return str(layout), shape
    raise InvalidError(
        f"a {type(layout).__name__} of jax has no axes: give a NamedSharding or a PartitionSpec"
    )


def _read(
    owner: Arena, text: str, mesh: Mesh | None, shape: tuple[int, ...] | None, ndim: int | None
) -> Any:
    """Reads one sharding in any notation."""
    rank = ndim if shape is None else len(shape)
    if text == "":
        if mesh is None or rank is None:
            raise InvalidError("a replicated layout needs a mesh, and a shape or ndim")
        made = Sharding.replicated_over(mesh, rank)
        owner_of_made = ffi.new("tsr_sharding **")
        owner.check(lib.tsr_sharding_close(owner.ctx, owner.arena, made._sharding, owner_of_made))
        return owner_of_made[0]
    reader = ffi.new("tsr_layout_reader *")
    reader.sharding.mesh = ffi.NULL if mesh is None else mesh._mesh
    reader.sharding.reading = lib.TSR_READ_LENIENT
    reader.sharding.rank = -1 if rank is None else rank
    keep = ffi.NULL if shape is None else ffi.new("int64_t[]", [*shape, 0])
    reader.sharding.shape = keep
    data = ffi.new("char[]", text.encode())
    source = ffi.new("tsr_text *")
    source.data, source.size = data, len(text.encode())
    out, count = ffi.new("tsr_layout **"), ffi.new("size_t *")
    owner.check(lib.tsr_layouts_read(owner.ctx, owner.arena, source, reader, out, count))
    if count[0] != 1:
        raise InvalidError(f"the text has {count[0]} shardings, one is wanted: {text}")
    found = out[0][0].sharding
    have = lib.tsr_sharding_rank(found)
    if (
        rank is not None
        and have != rank
        and not lib.tsr_mesh_is_maximal(lib.tsr_sharding_mesh(found))
    ):
        raise InvalidError(f"the layout {text} has {have} dimensions, the tensor has {rank}")
    return found


def sharding_of(layout: object, mesh: Mesh | None, shape: Sequence[int] | None = None) -> Sharding:
    """The sharding itself, or one made from what is given; `mesh` is for layouts without one."""
    if isinstance(layout, Sharding):
        return layout
    return Sharding(layout, mesh_in(layout) or mesh, shape)

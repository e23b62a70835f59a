"""Meshes: devices laid out along named axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tessera._arena import Arena
from tessera._binding import ffi, lib
from tessera._errors import InvalidError, text_of
from tessera._optional import module_of, optional

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Mesh"]


class Mesh:
    """Devices laid out along named axes, the last axis fastest.

    A mesh is made from a text in any notation that the library reads, from a mapping of names to
    sizes, from a ``jax.sharding.Mesh`` or ``AbstractMesh``, or from a ``DeviceMesh`` of torch.
    Devices that are not 0 .. n-1 (a mesh of jax over some of the devices) are numbered in the order
    of their ids. ``repr`` is the canonical text.

    >>> mesh = Mesh("dp=2, tp=4")
    >>> mesh
    <["dp"=2, "tp"=4]>
    >>> mesh.axis_names, mesh.axis_sizes, mesh.size
    (('dp', 'tp'), (2, 4), 8)
    >>> mesh == Mesh({"dp": 2, "tp": 4})
    True
    >>> mesh.coordinates(5)
    (1, 1)
    """

    __slots__ = ("__weakref__", "_mesh", "_owner", "_text")

    _owner: object
    _mesh: Any
    _text: str

    def __init__(self, axes: object, *, name: str | None = None) -> None:
        if isinstance(axes, Mesh) and name is None:
            self._owner, self._mesh, self._text = axes._owner, axes._mesh, axes._text
            return
        owner = Arena()
        out = ffi.new("tsr_mesh **")
        if isinstance(axes, str):
            owner.check(lib.tsr_mesh_parse(owner.ctx, owner.arena, axes.encode(), out))
        elif isinstance(axes, Mesh):
            out[0] = axes._mesh
        else:
            names, sizes, ids = _axes_of(axes)
            _create(owner, names, sizes, ids, out)
        if name is not None:
            found = out[0]
            owner.check(lib.tsr_mesh_rename(owner.ctx, owner.arena, found, name.encode(), out))
        self._adopt((owner, axes if isinstance(axes, Mesh) else None), out[0])

    def _adopt(self, owner: object, mesh: Any) -> None:
        self._owner = owner
        self._mesh = mesh
        self._text = Arena().text(lib.tsr_mesh_print, mesh)

    @classmethod
    def _of(cls, owner: object, mesh: Any) -> Mesh:
        """The mesh of a pointer into memory that `owner` keeps."""
        made = cls.__new__(cls)
        made._adopt(owner, mesh)
        return made

    @property
    def name(self) -> str | None:
        """The name that a program gives the mesh, or None."""
        name = lib.tsr_mesh_name(self._mesh)
        return None if name == ffi.NULL else text_of(name)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The names of the axes, major to minor."""
        count = lib.tsr_mesh_num_axes(self._mesh)
        return tuple(text_of(lib.tsr_mesh_axis_name(self._mesh, i)) for i in range(count))

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """The sizes of the axes, in the same order."""
        count = lib.tsr_mesh_num_axes(self._mesh)
        return tuple(lib.tsr_mesh_axis_size(self._mesh, i) for i in range(count))

    @property
    def shape(self) -> dict[str, int]:
        """Names and sizes, as jax has them."""
        return dict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """How many devices there are."""
        return int(lib.tsr_mesh_num_devices(self._mesh))

    @property
    def device_ids(self) -> NDArray[np.int64]:
        """The device at each place, an array with a dimension for each axis."""
        ids = [lib.tsr_mesh_device_at(self._mesh, place) for place in range(self.size)]
        return np.array(ids, dtype=np.int64).reshape(self.axis_sizes)

    def coordinates(self, device: int) -> tuple[int, ...]:
        """Where a device is, a number for each axis."""
        count = lib.tsr_mesh_num_axes(self._mesh)
        out = ffi.new("int64_t[]", max(count, 1))
        if not lib.tsr_mesh_coordinates(self._mesh, device, out):
            raise InvalidError(f"the mesh {self} has no device {device}; it has {self.size}")
        return tuple(out[0:count])

    def device(self, *coordinates: int) -> int:
        """The device at coordinates, one for each axis."""
        count = lib.tsr_mesh_num_axes(self._mesh)
        if len(coordinates) != count:
            raise InvalidError(f"{len(coordinates)} coordinates for the {count} axes of {self}")
        found = int(lib.tsr_mesh_device(self._mesh, ffi.new("int64_t[]", [*coordinates, 0])))
        if found < 0:
            raise InvalidError(f"coordinates {coordinates} are outside the mesh {self}")
        return found

    def to_jax(self, devices: Sequence[Any] | None = None) -> Any:
        """A ``jax.sharding.Mesh`` over ``devices``, by default those of jax; device i is number i.

        With fewer devices than the mesh has, an ``AbstractMesh``.
        """
        jax = optional("jax")
        found = list(jax.devices()) if devices is None else list(devices)
        if len(found) < self.size:
            return jax.sharding.AbstractMesh(self.axis_sizes, self.axis_names)
        grid = np.array(found, dtype=object)[self.device_ids]
        return jax.sharding.Mesh(grid, self.axis_names)

    def to_torch(self, device_type: str = "cpu") -> Any:
        """A torch ``DeviceMesh``; torch.distributed must be initialised with as many processes."""
        torch = optional("torch")
        device_mesh = optional("torch.distributed.device_mesh")
        ids = torch.from_numpy(self.device_ids.astype(np.int32))
        return device_mesh.DeviceMesh(device_type, ids, mesh_dim_names=self.axis_names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mesh):
            return NotImplemented
        return bool(lib.tsr_mesh_equal(self._mesh, other._mesh))

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self._text, self.name))


def _again(text: str, name: str | None) -> Mesh:
    """A mesh out of a pickle."""
    return Mesh(text, name=name)


def _create(
    owner: Arena, names: Sequence[str], sizes: Sequence[int], ids: Iterable[int] | None, out: Any
) -> None:
    spec = ffi.new("tsr_mesh_spec *")
    texts = [ffi.new("char[]", name.encode()) for name in names]
    spec.num_axes = len(names)
    spec.axis_names = keep_names = ffi.new("char *[]", [*texts, ffi.NULL])
    spec.axis_sizes = keep_sizes = ffi.new("int64_t[]", [*sizes, 0])
    numbers = [] if ids is None else list(ids)
    spec.num_device_ids = len(numbers)
    spec.device_ids = keep_ids = ffi.new("int64_t[]", [*numbers, 0])
    owner.check(lib.tsr_mesh_create(owner.ctx, owner.arena, spec, out))
    del keep_names, keep_sizes, keep_ids, texts


def _ranked(ids: NDArray[Any]) -> list[int]:
    """Ids as 0 .. n-1 in their order: the devices of a mesh are numbered through."""
    order = np.argsort(np.argsort(ids.ravel(), kind="stable"), kind="stable")
    return [int(i) for i in order]


def _axes_of(axes: object) -> tuple[list[str], list[int], list[int] | None]:
    """Names, sizes and device ids of what another library, or a mapping, calls a mesh."""
    if isinstance(axes, Mapping):
        items = axes
        return [str(name) for name in items], [int(size) for size in items.values()], None
    module = module_of(axes)
    if module.startswith("jax"):
        mesh: Any = axes
        names = [str(name) for name in mesh.axis_names]
        sizes = [int(size) for size in mesh.axis_sizes]
        devices = getattr(mesh, "_flat_devices_tuple", None)
        if type(axes).__name__ == "AbstractMesh" or devices is None:
            return names, sizes, None
        return names, sizes, _ranked(np.array([device.id for device in mesh.devices.ravel()]))
    if module == "torch":
        device_mesh: Any = axes
        ids = np.array(device_mesh.mesh.tolist())
        found = device_mesh.mesh_dim_names
        names = [f"d{i}" for i in range(ids.ndim)] if found is None else list(found)
        return names, [int(size) for size in ids.shape], _ranked(ids)
    raise InvalidError(
        f"a mesh is made from a text such as 'dp=2, tp=4', a mapping, or a mesh of jax or torch, "
        f"not from {type(axes).__name__}"
    )


def mesh_of(axes: object) -> Mesh:
    """The mesh itself, or one made from what is given."""
    return axes if isinstance(axes, Mesh) else Mesh(axes)

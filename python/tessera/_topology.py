"""Topologies: the levels of a machine, and the rates of its devices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tessera._arena import Arena
from tessera._binding import ffi, lib
from tessera._dtype import dtype_name
from tessera._errors import text_of

__all__ = ["Level", "Topology"]


@dataclass(frozen=True)
class Level:
    """A level: its members, the seconds of a round, the bytes a second that one device has there.

    ``size`` is None where the level has as many members as the mesh needs.
    """

    name: str
    size: int | None
    latency: float
    bandwidth: int


class Topology:
    """The levels of a machine, outermost first, and the rates of a device.

    A topology is a preset by name (:meth:`presets`), a JSON file by path, or a mapping with the
    keys of such a file; ``None`` is what the variable TSR_TOPOLOGY names. ``repr`` is the text.

    >>> pod = Topology("gpu-pod")
    >>> [(level.name, level.size) for level in pod.levels]
    [('pod', None), ('host', 8)]
    >>> cluster = pod.fit(16)
    >>> [level.size for level in cluster.levels], cluster.devices
    ([2, 8], 16)
    >>> cluster.level_between(0, 7).name, cluster.level_between(0, 8).name
    ('host', 'pod')
    """

    __slots__ = ("__weakref__", "_owner", "_topology")

    _owner: Arena
    _topology: Any

    def __init__(self, source: str | Mapping[str, Any] | Topology | None = None) -> None:
        if isinstance(source, Topology):
            self._owner, self._topology = source._owner, source._topology
            return
        self._owner = Arena()
        out = ffi.new("tsr_topology **")
        ctx, arena = self._owner.ctx, self._owner.arena
        if isinstance(source, Mapping):
            data = json.dumps(source).encode()
            text, kept = ffi.new("tsr_text *"), ffi.from_buffer(data)
            text.name, text.data, text.size = ffi.NULL, kept, len(data)
            self._owner.check(lib.tsr_topology_read(ctx, arena, text, out))
        else:
            name = ffi.NULL if source is None else source.encode()
            self._owner.check(lib.tsr_topology_find(ctx, arena, name, out))
        self._topology = out[0]

    @staticmethod
    def presets() -> dict[str, str]:
        """The presets by name, each with the source of its numbers."""
        rows = [lib.tsr_topology_preset_at(i) for i in range(lib.tsr_topology_preset_count())]
        return {text_of(row.name): text_of(row.source) for row in rows}

    def _facts(self) -> Any:
        return lib.tsr_topology_facts(self._topology)

    @property
    def name(self) -> str | None:
        """The name, or None."""
        name = self._facts().name
        return None if name == ffi.NULL else text_of(name)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels, outermost first."""
        facts = self._facts()
        return tuple(_level(facts.levels[i]) for i in range(facts.num_levels))

    @property
    def devices(self) -> int | None:
        """How many devices there are; None where a size is open."""
        devices = int(lib.tsr_topology_num_devices(self._topology))
        return None if devices == lib.TSR_UNKNOWN else devices

    @property
    def copy_bandwidth(self) -> int:
        """The bytes a second that a device copies."""
        return int(self._facts().copy_bandwidth)

    @property
    def reduce_bandwidth(self) -> int:
        """The bytes a second that a device reduces."""
        return int(self._facts().reduce_bandwidth)

    @property
    def memory(self) -> int | None:
        """The bytes of a device, or None."""
        return int(self._facts().memory) or None

    @property
    def flops(self) -> dict[str, int]:
        """The operations a second by element type."""
        facts = self._facts()
        rates = (facts.rates[i] for i in range(facts.num_rates))
        return {dtype_name(rate.dtype): int(rate.flops) for rate in rates}

    def fit(self, devices: int) -> Topology:
        """The topology of that many devices: an open size gets its number."""
        made = Topology.__new__(Topology)
        made._owner = Arena()
        out = ffi.new("tsr_topology **")
        ctx, arena = made._owner.ctx, made._owner.arena
        made._owner.check(lib.tsr_topology_fit(ctx, arena, self._topology, devices, out))
        made._topology = out[0]
        return made

    def level_between(self, a: int, b: int) -> Level | None:
        """The outermost level at which two devices differ; None for one and the same."""
        found = int(lib.tsr_topology_level_between(self._topology, a, b))
        if found < 0:
            raise IndexError(f"devices {a} and {b} are not both devices of {self.name}")
        levels = self.levels
        return levels[found] if found < len(levels) else None

    def __repr__(self) -> str:
        return Arena().text(lib.tsr_topology_print, self._topology).rstrip("\n")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Topology) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def _level(row: Any) -> Level:
    size = None if row.size == lib.TSR_UNKNOWN else int(row.size)
    return Level(text_of(row.name), size, int(row.latency) / 1e12, int(row.bandwidth))

"""Routes: the cheapest sequence of steps from one layout to another, on a topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tessera._arena import Arena
from tessera._binding import ffi, lib
from tessera._dtype import dtype_code
from tessera._errors import InvalidError, text_of
from tessera._mesh import Mesh, mesh_of
from tessera._records import table_html
from tessera._sharding import Sharding, extents, sharding_of
from tessera._topology import Topology

__all__ = ["Route", "RouteStep", "route"]


@dataclass(frozen=True)
class RouteStep:
    """One step: bytes and rounds are those of the busiest device, by level."""

    kind: str
    algorithm: str
    axes: str
    destination: str
    bytes: dict[str, int]
    rounds: dict[str, int]
    reduced: int
    copied: int
    seconds: float
    live_bytes: int
    padded: bool


@dataclass(frozen=True)
class Route:
    """A sequence of steps, what it costs by the model, and what other ways would have cost.

    ``proven`` is whether no route is cheaper; else one may be by at most ``gap`` seconds. Times of
    other ways are None where a way does not exist.
    """

    source: Sharding
    destination: Sharding
    shape: tuple[int, ...]
    steps: tuple[RouteStep, ...]
    bytes: dict[str, int]
    seconds: float
    live_bytes: int
    lower_bound: float
    proven: bool
    gap: float
    direct: float | None
    collective: float | None
    greedy: float | None

    def table(self) -> list[dict[str, Any]]:
        """The steps as mappings, which pandas.DataFrame takes: a column for each level."""
        return [
            {
                "kind": step.kind,
                "axes": step.axes,
                "algorithm": step.algorithm,
                "to": step.destination,
                **{f"{level} bytes": count for level, count in step.bytes.items()},
                "microseconds": round(1e6 * step.seconds, 3),
            }
            for step in self.steps
        ]

    def _repr_html_(self) -> str:
        rows = self.table()
        return table_html(list(rows[0]) if rows else ["kind"], rows, len(rows))


def route(
    source: object,
    destination: object,
    shape: Sequence[int],
    dtype: object = "f32",
    mesh: object | None = None,
    *,
    topology: str | Mapping[str, Any] | Topology | None = None,
    vocabulary: str = "runtime",
    memory: int | None = None,
    donate: bool = False,
    any_layout: bool = False,
) -> Route:
    """The cheapest steps from one layout to another on a topology, by the cost model.

    ``memory`` limits the live bytes of a device, ``donate`` frees the source after the first step,
    the vocabulary ``program`` takes only collectives of programs.

    >>> found = route(
    ...     "P(('host', 'gpu'))", "P()", (4096,), mesh="host=2, gpu=8", topology="gpu-pod"
    ... )
    >>> [(step.kind, step.axes) for step in found.steps]
    [('all-gather', '"host"'), ('all-gather', '"gpu"')]
    >>> found.bytes, found.proven
    ({'pod': 1024, 'host': 14336}, True)
    """
    words = {"runtime": lib.TSR_VOCABULARY_RUNTIME, "program": lib.TSR_VOCABULARY_PROGRAM}
    if vocabulary not in words:
        raise InvalidError(f"unknown vocabulary {vocabulary!r}; use runtime or program")
    sizes = extents(shape)
    over: Mesh | None = None if mesh is None else mesh_of(mesh)
    before, after = sharding_of(source, over, sizes), sharding_of(destination, over, sizes)
    arena, out = Arena(), ffi.new("tsr_route **")
    on = Topology(topology)
    options = ffi.new("tsr_route_options *")
    options.topology, options.vocabulary = on._topology, words[vocabulary]
    options.memory, options.donated, options.any_layout = memory or 0, donate, any_layout
    src, dst = before._geometry(arena, sizes), after._geometry(arena, sizes)
    arena.check(
        lib.tsr_route_find(arena.ctx, arena.arena, src, dst, dtype_code(dtype), options, out)
    )
    facts = lib.tsr_route_describe(out[0])
    spec = lib.tsr_topology_facts(facts.topology)
    levels = [text_of(spec.levels[i].name) for i in range(spec.num_levels)]
    mesh_at = lib.tsr_sharding_mesh(lib.tsr_geometry_sharding(src))
    return Route(
        before,
        after,
        sizes,
        tuple(_step(arena, out[0], i, levels, mesh_at) for i in range(facts.num_steps)),
        _by_level(levels, facts.bytes),
        facts.nanoseconds / 1e9,
        int(facts.live_bytes),
        facts.lower_bound / 1e9,
        bool(facts.proven),
        facts.gap / 1e9,
        _time(facts.direct),
        _time(facts.collective),
        _time(facts.greedy),
    )


def _by_level(levels: Sequence[str], counts: Any) -> dict[str, int]:
    return {level: int(counts[i]) for i, level in enumerate(levels)}


def _time(nanoseconds: int) -> float | None:
    return None if nanoseconds < 0 else nanoseconds / 1e9


def _step(arena: Arena, made: Any, index: int, levels: Sequence[str], mesh: Any) -> RouteStep:
    step = lib.tsr_route_step_at(made, index)
    return RouteStep(
        text_of(lib.tsr_step_kind_name(step.kind)),
        text_of(step.algorithm),
        arena.text(lib.tsr_axes_print, mesh, step.axes, step.num_axes),
        text_of(step.layout),
        _by_level(levels, step.bytes),
        _by_level(levels, step.rounds),
        int(step.reduced),
        int(step.copied),
        step.nanoseconds / 1e9,
        int(step.live_bytes),
        bool(step.padded),
    )

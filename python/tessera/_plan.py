"""Plans: what a change of layout moves, step by step, and what that costs, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tessera._arena import Arena
from tessera._binding import ffi, lib
from tessera._dtype import dtype_code
from tessera._errors import text_of
from tessera._mesh import Mesh, mesh_of
from tessera._sharding import Sharding, extents, sharding_of

__all__ = ["Plan", "PlanStep", "plan"]


@dataclass(frozen=True)
class PlanStep:
    """One step: what it is, along which axes, what it moves, and how long by the model."""

    kind: str
    axes: str
    destination: str
    bytes_moved: int
    most_received: int
    most_sent: int
    seconds: float


@dataclass(frozen=True)
class Plan:
    """What a redistribution moves: all bytes, and those of the busiest device."""

    source: Sharding
    destination: Sharding
    shape: tuple[int, ...]
    bytes_moved: int
    most_received: int
    most_sent: int
    steps: tuple[PlanStep, ...]

    @property
    def seconds(self) -> float:
        """The time of all steps by the model of shared memory."""
        return sum(step.seconds for step in self.steps)

    def table(self) -> list[dict[str, Any]]:
        """The steps as mappings, which pandas.DataFrame takes."""
        return [asdict(step) for step in self.steps]


def plan(
    source: object,
    destination: object,
    shape: Sequence[int],
    dtype: object = "f32",
    mesh: object | None = None,
) -> Plan:
    """The plan from one layout to another of a tensor, for any number of devices.

    >>> found = plan("P('dp', None)", "P(None, 'dp')", (1024, 1024), mesh="dp=4")
    >>> [(step.kind, step.axes, step.bytes_moved) for step in found.steps]
    [('all-to-all', '"dp"', 3145728)]
    >>> found.most_received
    786432
    """
    sizes = extents(shape)
    over: Mesh | None = None if mesh is None else mesh_of(mesh)
    before, after = sharding_of(source, over, sizes), sharding_of(destination, over, sizes)
    arena, out = Arena(), ffi.new("tsr_plan **")
    src, dst = before._geometry(arena, sizes), after._geometry(arena, sizes)
    code = dtype_code(dtype)
    arena.check(lib.tsr_plan_create(arena.ctx, arena.arena, src, dst, code, out))
    made = out[0]
    total = ffi.new("tsr_plan_totals *")
    arena.check(lib.tsr_plan_total(arena.ctx, made, total))
    return Plan(
        before,
        after,
        sizes,
        int(total.moved),
        int(total.most_received),
        int(total.most_sent),
        tuple(_step(arena, made, i) for i in range(lib.tsr_plan_num_steps(made))),
    )


def _step(arena: Arena, made: Any, index: int) -> PlanStep:
    step = ffi.new("tsr_step *")
    arena.check(lib.tsr_plan_step(arena.ctx, made, index, ffi.NULL, step))
    after = lib.tsr_geometry_sharding(step.dst)
    mesh = lib.tsr_sharding_mesh(lib.tsr_geometry_sharding(step.src))
    return PlanStep(
        text_of(lib.tsr_step_kind_name(step.kind)),
        arena.text(lib.tsr_axes_print, mesh, step.axes, step.num_axes),
        arena.text(lib.tsr_sharding_print, after, lib.TSR_PRINT_BARE),
        int(step.bytes.moved),
        int(step.bytes.most_received),
        int(step.bytes.most_sent),
        float(step.seconds),
    )

"""Tensors laid over meshes of devices.

A mesh names the axes that devices are laid out along; a sharding says which dimensions of a tensor
are cut along which of them; a world runs ranks that hold arrays so, and computes on them.

>>> import numpy as np
>>> import tessera as ts
>>> world = ts.World("dp=2, tp=2")
>>> x = world.array(np.ones((4, 8)), 'P("dp", None)')
>>> w = world.array(np.ones((8, 6)), 'P(None, "tp")')
>>> (x @ w).sharding.to("jax")
"P('dp', 'tp')"
>>> world.close()

Without any world, :class:`Mesh` and :class:`Sharding` answer what each device holds, and
:class:`Program` propagates, explains, checks and runs programs that jax has lowered.
"""

from tessera import _ops, ragged, spmd
from tessera._array import Array
from tessera._binding import ffi as _ffi
from tessera._binding import lib as _lib
from tessera._errors import (
    CheckError,
    Error,
    ExtentError,
    Fix,
    InvalidError,
    LimitError,
    OutOfMemoryError,
    ParseError,
    PeerError,
    Place,
    RankTimeoutError,
    UnsupportedError,
)
from tessera._gradient import Tape, adam_step, grad, sgd_step, stop_gradient, value_and_grad
from tessera._mesh import Mesh
from tessera._ops import *  # noqa: F403
from tessera._picture import show
from tessera._plan import Plan, PlanStep, plan
from tessera._program import Program
from tessera._records import (
    Annotation,
    AxisHop,
    AxisReason,
    Conflict,
    ConflictSide,
    Explanation,
    Explanations,
    Finding,
    FindingNote,
    Findings,
    Pass,
    PassOption,
    ProgramTensor,
    Suggestion,
    ValueSharding,
    ValueShardings,
)
from tessera._route import Route, RouteStep, route
from tessera._sharding import Dim, Shard, Sharding
from tessera._topology import Level, Topology
from tessera._world import Trace, TraceEvent, World, abstract, launch

__version__ = _ffi.string(_lib.tsr_version()).decode()

__all__ = [
    "Annotation",
    "Array",
    "AxisHop",
    "AxisReason",
    "CheckError",
    "Conflict",
    "ConflictSide",
    "Dim",
    "Error",
    "Explanation",
    "Explanations",
    "ExtentError",
    "Finding",
    "FindingNote",
    "Findings",
    "Fix",
    "InvalidError",
    "Level",
    "LimitError",
    "Mesh",
    "OutOfMemoryError",
    "ParseError",
    "Pass",
    "PassOption",
    "PeerError",
    "Place",
    "Plan",
    "PlanStep",
    "Program",
    "ProgramTensor",
    "RankTimeoutError",
    "Route",
    "RouteStep",
    "Shard",
    "Sharding",
    "Suggestion",
    "Tape",
    "Topology",
    "Trace",
    "TraceEvent",
    "UnsupportedError",
    "ValueSharding",
    "ValueShardings",
    "World",
    "abstract",
    "adam_step",
    "grad",
    "launch",
    "plan",
    "ragged",
    "route",
    "sgd_step",
    "show",
    "spmd",
    "stop_gradient",
    "value_and_grad",
]
__all__ += _ops.__all__

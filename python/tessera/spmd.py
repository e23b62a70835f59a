"""Typed SPMD code: every rank works on values of its own, and every collective is a call.

Along each axis of the scope's mesh a value is replicated (R), invariant (I), varying (V, or S(i)
where it cuts dimension i) or partial (P). A call whose operands' types are incompatible fails
before it computes; the exception's ``fixes`` are the calls that were tried. So wrong
gradients are found before anything runs.

>>> import numpy as np, tessera as ts
>>> with ts.World("tp=2") as world, ts.spmd.scope(world, global_axes=["tp"]):
...     x = ts.spmd.value(world, [np.ones((2, 4), "f")] * 2, "f32[2,4]{tp:R}")
...     w = ts.spmd.value(world, [np.ones((4, 3), "f")] * 2, "f32[4,6@tp]")
...     y = x @ w
...     print(ts.spmd.type_of(y))
...     v = ts.spmd.value(world, [np.ones((3, 5), "f")] * 2, "f32[6@tp,5]")
...     p = ts.spmd.matmul_partial(y, v, "tp")
...     try:
...         ts.relu(p)
...     except ts.Error as error:
...         print(error.fixes[0])
...     print(ts.spmd.type_of(ts.relu(ts.spmd.all_reduce(p, "tp"))))
f32[2,6@tp]
spmd.all_reduce(operand 0, "tp", "P", "R")
f32[2,5]{tp:R}

Types and collectives may be on a part of an axis, written as in shardings: ``x:(1)2`` is the major
half of an axis x of size 4. A scope inside another may have another mesh over the same ranks;
values from outside are read under it.

>>> with ts.World("x=4") as world, ts.spmd.scope(world):
...     p = ts.spmd.value(world, [np.ones(2)] * 4, "f64[2]{x:P}")
...     half = ts.spmd.all_reduce(p, "x:(1)2")
...     print(ts.spmd.type_of(half))
...     with ts.spmd.scope(world, "a=2, b=2"):
...         r = ts.spmd.value(world, [np.ones(2)] * 4, "f64[2]{a:R, b:R}")
...         print(ts.spmd.type_of(p * r))
f64[2]{x:(1)2:R, x:(2)2:P}
f64[2]{a:P, b:P}
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from tessera import _errors
from tessera._arena import Arena
from tessera._array import Array, _function
from tessera._binding import ffi, lib
from tessera._dtype import dtype_code
from tessera._errors import Error, InvalidError, text_of
from tessera._mesh import Mesh, mesh_of
from tessera._sharding import axis_of
from tessera._started import Started

if TYPE_CHECKING:
    from tessera._world import World

__all__ = [
    "Started",
    "all_gather",
    "all_gather_start",
    "all_reduce",
    "all_reduce_in_place",
    "all_reduce_start",
    "all_to_all",
    "all_to_all_start",
    "array_of",
    "assert_type",
    "convert",
    "einsum_partial",
    "embedding_partial",
    "linear_partial",
    "local_map",
    "local_of",
    "matmul_partial",
    "max_partial",
    "mean_partial",
    "min_partial",
    "redistribute",
    "redistribute_spec",
    "reduce_scatter",
    "reduce_scatter_start",
    "reinterpret",
    "scatter_partial",
    "scope",
    "sum_partial",
    "take_partial",
    "type_of",
    "value",
]

_GUARDS = {"none": lib.TSR_UNGUARDED, "guarded": lib.TSR_GUARDED, "expert": lib.TSR_GUARDED_EXPERT}
_KINDS = {"R": lib.TSR_R, "I": lib.TSR_I, "V": lib.TSR_V, "P": lib.TSR_P}


def _axis_set(mesh: Mesh, names: Iterable[str]) -> int:
    bits = 0
    for name in names:
        if name not in mesh.axis_names:
            raise InvalidError(f"the mesh {mesh} has no axis {name!r}")
        bits |= 1 << mesh.axis_names.index(name)
    return bits


@contextmanager
def scope(
    world: World,
    mesh: object | None = None,
    *,
    global_axes: Iterable[str] = (),
    guard: str = "none",
    unchecked: bool = False,
    implicit_partial: bool = False,
    strict: bool = True,
    mix_invariant: bool = False,
) -> Generator[None, None, None]:
    """Typed code: in it calls compute on each rank's own values and never communicate.

    ``global_axes`` are checked as those of a whole value. ``guard`` is none, guarded or expert.
    ``mix_invariant``: in calls that no tape records, an invariant operand (I) beside others counts
    as replicated (R) instead of being refused; where a gradient is recorded it still is.

    ``mesh`` may be another view of the world's ranks; values that were typed on one mesh are read
    under the innermost scope's, where all parts of an axis agree.

    What was started in the scope (:func:`all_reduce_start` ..) is waited for before it ends.
    """
    settings = {
        "guard": guard,
        "unchecked": unchecked,
        "implicit_partial": implicit_partial,
        "strict": strict,
        "mix_invariant": mix_invariant,
    }
    found = world.mesh if mesh is None else mesh_of(mesh)
    names = tuple(global_axes)
    if guard not in _GUARDS:
        raise InvalidError(f"unknown guard {guard!r}; use one of {', '.join(_GUARDS)}")
    opened = ffi.new("tsr_spmd_scope *")
    opened.mesh = found._mesh
    getattr(opened, "global").bits = _axis_set(found, names)
    opened.guard = _GUARDS[guard]
    opened.unchecked = unchecked
    opened.implicit_partial = implicit_partial
    opened.strict = strict
    opened.mix_invariant = mix_invariant
    given = ffi.new("tp_arguments *", {"scope": opened})
    world._call(lib.TP_SCOPE, ffi.NULL, (), given, 0)
    world._scopes = (*world._scopes, (found, names, settings))
    try:
        yield
    except BaseException:
        with suppress(Error):  # the first exception says more than what was left under way
            _close(world)
        raise
    _close(world)


def _close(world: World) -> None:
    world._scopes = world._scopes[:-1]
    if not world.closed:
        world._call(lib.TP_WORLD, _function("tsr_spmd_close"), (), results=0)


def value(world: World, parts: Sequence[ArrayLike], type: str) -> Array:
    """A value from each local rank's own array, with its type: ``f32[8,16@tp]{dp:R}``."""
    views, arrays, keep = world._views(parts)
    text = ffi.new("char[]", type.encode())
    given = ffi.new("tp_arguments *", {"views": views, "text": text})
    made: Array = world._call(lib.TP_TYPED_VALUE, ffi.NULL, (), given)
    del arrays, keep
    return made


def local_of(x: Array, other: str = "R") -> Array:
    """Each rank's part of an array as a value; ``other`` (R or I) along axes that do not cut it."""
    if other not in ("R", "I"):
        raise InvalidError(f"the other axes are R or I, not {other!r}")
    given = ffi.new("tp_arguments *", {"i": _KINDS[other]})
    made: Array = x._world._call(lib.TP_INTEGER, _function("tsr_local_of"), (x,), given)
    return made


def array_of(x: Array) -> Array:
    """The array whose parts the values are."""
    made: Array = x._world._call(lib.TP_TENSORS, _function("tsr_tensor_of_local"), (x,))
    return made


def type_of(x: Array) -> str:
    """A value's type as text; "untyped" for one that has none."""
    part = x._first()
    arena, out = Arena(), ffi.new("char **")
    status = lib.tsr_type_of(part, arena.arena, out)
    _errors.check(lib.tsr_comm_context(lib.tsr_tensor_world(part)), status)
    return text_of(out[0])


def _with_text(function: str, operands: Sequence[Array | None], text: str) -> Array:
    keep = ffi.new("char[]", text.encode())
    given = ffi.new("tp_arguments *", {"text": keep})
    first = operands[0]
    assert first is not None
    made: Array = first._world._call(lib.TP_TEXT, _function(function), operands, given)
    return made


def assert_type(x: Array, type: str) -> Array:
    """Claims a type, ``{tp:S(0), dp:R}``; a contradiction is an error, what is new is added."""
    return _with_text("tsr_assert_type", (x,), type)


# ---- regions where axes are local ----

Types = str | Sequence[str | None] | None


def _types_of(types: Types, count: int, what: str) -> list[str | None]:
    found = [types] if types is None or isinstance(types, str) else list(types)
    if len(found) != count:
        raise InvalidError(f"{len(found)} types are declared for {count} {what}")
    return found


def _enter(axes: str, inputs: Sequence[Array], types: Sequence[str | None]) -> list[Array]:
    """Values of declared types as a region sees them in which axes are local."""
    world = inputs[0]._world
    keep = [ffi.NULL if one is None else ffi.new("char[]", one.encode()) for one in types]
    texts, names = ffi.new("char *[]", keep), ffi.new("char[]", axes.encode())
    given = ffi.new("tp_arguments *", {"text": names, "texts": texts})
    made = world._call(lib.TP_LOCAL_MAP, ffi.NULL, inputs, given, len(inputs))
    return [made] if isinstance(made, Array) else list(made)


def local_map(
    axes: str | Iterable[str], *, in_types: Types, out_types: Types
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: in the body of the function the axes are local, whatever they are outside.

    ``in_types`` declare the arguments, a type each: of an array ``f32[8@tp,4]``, which must be its
    type; None leaves it as it is, and stands for any other argument. Inside, values vary along the
    axes without an entry in a spec. ``out_types`` are what the results are afterwards, with the
    spec that they say; None leaves a result as the body made it. Keyword arguments are handed on.

    >>> import numpy as np, tessera as ts
    >>> @ts.spmd.local_map("tp", in_types="f64[4@tp,3]", out_types="f64[4@tp,3]")
    ... def own_softmax(x):  # over the rows that a rank has: of the whole it would be another
    ...     return ts.softmax(x, 0)
    >>> with ts.World("tp=2") as world, ts.spmd.scope(world, global_axes=["tp"]):
    ...     x = ts.spmd.value(world, [np.zeros((2, 3))] * 2, "f64[4@tp,3]")
    ...     y = own_softmax(x)
    ...     print(ts.spmd.type_of(y), y.local(0)[0, 0])
    f64[4@tp,3] 0.5
    """
    names = axes if isinstance(axes, str) else ",".join(axes)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            types = _types_of(in_types, len(arguments), "arguments")
            at = [i for i, one in enumerate(arguments) if isinstance(one, Array)]
            if not at or any(types[i] is not None for i in range(len(types)) if i not in at):
                raise InvalidError(
                    "a type is declared for an argument that is not an array, or an array lacks one"
                )
            world = arguments[at[0]]._world
            if not world._scopes:
                raise InvalidError("local_map is of typed code: open a spmd.scope first")
            mesh, global_axes, settings = world._scopes[-1]
            inner = list(arguments)
            for i, one in zip(
                at, _enter(names, [arguments[i] for i in at], [types[i] for i in at]), strict=True
            ):
                inner[i] = one
            local = {name.strip() for name in names.split(",")}
            rest = [axis for axis in global_axes if axis not in local]
            with scope(world, mesh, global_axes=rest, **settings):
                found = function(*inner, **options)
            results = list(found) if isinstance(found, (list, tuple)) else [found]
            declared = _types_of(out_types, len(results), "results")
            made = [
                one if kind is None else assert_type(one, kind)
                for one, kind in zip(results, declared, strict=True)
            ]
            return made[0] if found is results[0] else type(found)(made)

        return call

    return decorate


# ---- contractions that leave a partial result ----


def matmul_partial(a: Array, b: Array, axes: str) -> Array:
    """A product of matrices whose result is P along axes."""
    return _with_text("tsr_matmul_partial", (a, b), axes)


def linear_partial(x: Array, weight: Array, bias: Array | None, axes: str) -> Array:
    """The same for x [.., i] by weight [o, i]; the bias stays outside the pending sum."""
    return _with_text("tsr_linear_partial", (x, weight, bias), axes)


def einsum_partial(equation: str, *operands: Array, axes: str) -> Array:
    """The same for any product."""
    text, names = ffi.new("char[]", equation.encode()), ffi.new("char[]", axes.encode())
    given = ffi.new("tp_arguments *", {"text": text, "text2": names})
    made: Array = operands[0]._world._call(
        lib.TP_EINSUM_TEXT, _function("tsr_einsum_partial"), operands, given
    )
    return made


def _reduced(function: str, x: Array, axis: int | Sequence[int] | None, axes: str) -> Array:
    dims = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    found = [axis_of(one, x.ndim) for one in dims]
    text, sizes = ffi.new("char[]", axes.encode()), ffi.new("size_t[]", [*found, 0])
    given = ffi.new("tp_arguments *", {"text": text, "sizes": sizes, "count": len(found)})
    made: Array = x._world._call(lib.TP_DIMS_TEXT, _function(function), (x,), given)
    return made


def sum_partial(x: Array, axis: int | Sequence[int] | None, axes: str) -> Array:
    """A sum that is P along axes."""
    return _reduced("tsr_sum_partial", x, axis, axes)


def mean_partial(x: Array, axis: int | Sequence[int] | None, axes: str) -> Array:
    """A mean that is P(avg) along axes."""
    return _reduced("tsr_mean_partial", x, axis, axes)


def max_partial(x: Array, axis: int | Sequence[int] | None, axes: str) -> Array:
    """A greatest element that is P(max) along axes."""
    return _reduced("tsr_max_partial", x, axis, axes)


def min_partial(x: Array, axis: int | Sequence[int] | None, axes: str) -> Array:
    """A least element that is P(min) along axes."""
    return _reduced("tsr_min_partial", x, axis, axes)


def _cut_table(
    function: str, kind: int, x: Array, indices: Array, axis: int, start: Any, axes: str
) -> Array:
    count = len(x._world.local_ranks)
    starts = [start] * count if isinstance(start, int) else list(start)
    x._world._check_count("starts", starts)
    text, numbers = ffi.new("char[]", axes.encode()), ffi.new("int64_t[]", starts)
    given = ffi.new("tp_arguments *", {"i": axis, "a": numbers, "text": text})
    made: Array = x._world._call(kind, _function(function), (x, indices), given)
    return made


def embedding_partial(table: Array, indices: Array, start: int | Sequence[int], axes: str) -> Array:
    """Rows of a table that is cut along axes: a rank's rows begin at ``start``.

    That is a number, or one for each local rank. Indices count over the whole table; rows of other
    ranks are zeros here.
    """
    return _cut_table("tsr_embedding_partial", lib.TP_START_TEXT, table, indices, 0, start, axes)


def take_partial(
    x: Array, indices: Array, axis: int, start: int | Sequence[int], axes: str
) -> Array:
    """The same along any dimension."""
    dim = axis_of(axis, x.ndim)
    return _cut_table("tsr_take_partial", lib.TP_DIM_START_TEXT, x, indices, dim, start, axes)


def scatter_partial(
    x: Array, indices: Array, updates: Array, axis: int, op: str, axes: str
) -> Array:
    """Updates that are cut along axes, scattered into x: add, mul, max or min."""
    from tessera._ops import scatter_code

    text = ffi.new("char[]", axes.encode())
    values = {"i": axis_of(axis, x.ndim), "j": scatter_code(op), "text": text}
    given = ffi.new("tp_arguments *", values)
    made: Array = x._world._call(
        lib.TP_SCATTER_TEXT, _function("tsr_scatter_partial"), (x, indices, updates), given
    )
    return made


# ---- collectives ----


def _end(arena: Arena, text: str) -> Any:
    out = ffi.new("tsr_end *")
    arena.check(lib.tsr_end_parse(arena.ctx, text.encode(), out))
    return out[0]


@dataclass(frozen=True)
class _Options:
    """What a collective takes besides its ends; ``wire`` and ``backward`` are element types."""

    dim: int = 0
    counts: Sequence[int] | None = None
    sent: Sequence[int] | None = None
    wire: object | None = None
    backward: object | None = None

    def in_c(self, keep: list[Any]) -> Any:
        """The struct of the library; `keep` gets what it points to."""
        options = ffi.new("tsr_collective_options *", {"dim": self.dim})
        for name, numbers in (("counts", self.counts), ("sent", self.sent)):
            if numbers is not None:
                keep.append(ffi.new("int64_t[]", [*numbers, 0]))
                setattr(options, name, keep[-1])
        for name, dtype in (("wire", self.wire), ("backward", self.backward)):
            if dtype is not None:
                setattr(options, f"has_{name}_dtype", True)
                setattr(options, f"{name}_dtype", dtype_code(dtype))
        return options


def _collective(
    function: str, x: Array, axis: str, source: str, destination: str, options: _Options
) -> Array:
    arena, keep = Arena(), list[Any]()
    text, more = ffi.new("char[]", axis.encode()), options.in_c(keep)
    given = ffi.new("tp_arguments *", {"text": text, "options": more})
    given.src, given.dst = _end(arena, source), _end(arena, destination)
    made: Array = x._world._call(lib.TP_COLLECTIVE, _function(function), (x,), given)
    return made


def all_reduce(
    x: Array,
    axis: str,
    source: str = "P",
    destination: str = "R",
    *,
    dim: int = 0,
    wire_dtype: object | None = None,
    backward_dtype: object | None = None,
) -> Array:
    """P -> R or I: every rank gets the sum."""
    options = _Options(dim, wire=wire_dtype, backward=backward_dtype)
    return _collective("tsr_all_reduce", x, axis, source, destination, options)


def all_reduce_in_place(x: Array, axis: str, source: str = "P", destination: str = "R") -> None:
    """The sum written over the value itself, whose type becomes R or I: no other array is made.

    What shares its memory changes with it. Not while a tape is under way.
    """
    arena, text = Arena(), ffi.new("char[]", axis.encode())
    given = ffi.new("tp_arguments *", {"text": text})
    given.src, given.dst = _end(arena, source), _end(arena, destination)
    x._world._call(lib.TP_IN_PLACE, ffi.NULL, (x,), given, 0)


def all_gather(
    x: Array,
    axis: str,
    source: str = "V",
    destination: str = "R",
    *,
    dim: int = 0,
    counts: Sequence[int] | None = None,
    wire_dtype: object | None = None,
    backward_dtype: object | None = None,
) -> Array:
    """V, S(i) -> R or I: every rank gets all parts, stacked or concatenated."""
    options = _Options(dim, counts, None, wire_dtype, backward_dtype)
    return _collective("tsr_all_gather", x, axis, source, destination, options)


def reduce_scatter(
    x: Array,
    axis: str,
    source: str = "P",
    destination: str = "V",
    *,
    dim: int = 0,
    counts: Sequence[int] | None = None,
    wire_dtype: object | None = None,
    backward_dtype: object | None = None,
) -> Array:
    """P -> V, S(i): every rank gets its part of the sum."""
    options = _Options(dim, counts, None, wire_dtype, backward_dtype)
    return _collective("tsr_reduce_scatter", x, axis, source, destination, options)


def all_to_all(
    x: Array,
    axis: str,
    source: str = "V",
    destination: str = "V",
    *,
    dim: int = 0,
    counts: Sequence[int] | None = None,
    sent: Sequence[int] | None = None,
    wire_dtype: object | None = None,
    backward_dtype: object | None = None,
) -> Array:
    """V or S(i) -> V or S(j): every rank gets a part of every other rank's value.

    A plain V that becomes S(j), or that S(i) becomes, is taken along ``dim``.
    """
    options = _Options(dim, counts, sent, wire_dtype, backward_dtype)
    return _collective("tsr_all_to_all", x, axis, source, destination, options)


def reinterpret(x: Array, axis: str, source: str, destination: str, *, dim: int = 0) -> Array:
    """The same arrays under another type: no element changes, the meaning may."""
    return _collective("tsr_reinterpret", x, axis, source, destination, _Options(dim))


def convert(x: Array, axis: str, source: str, destination: str, *, dim: int = 0) -> Array:
    """The same meaning under another type, without communication.

    V -> S(i) says which dimension the ranks' parts cut, S(i) -> V forgets it.
    """
    return _collective("tsr_convert_type", x, axis, source, destination, _Options(dim))


def redistribute(x: Array, axis: str, source: str, destination: str, *, dim: int = 0) -> Array:
    """From one type to another along an axis by the one call that does it."""
    return _collective("tsr_redistribute_type", x, axis, source, destination, _Options(dim))


def redistribute_spec(x: Array, source: str, destination: str) -> Array:
    """From one partition spec to another, all axes at once: ``f32[8@(dp,tp)]``."""
    keep = ffi.new("char[]", source.encode()), ffi.new("char[]", destination.encode())
    given = ffi.new("tp_arguments *", {"text": keep[0], "text2": keep[1]})
    made: Array = x._world._call(lib.TP_TEXTS, _function("tsr_redistribute_spec"), (x,), given)
    return made


# ---- collectives that are only started ----


def _start(
    op: str, x: Array, axis: str, source: str, destination: str, options: _Options
) -> Started:
    arena, keep = Arena(), list[Any]()
    world = x._world
    numbers = ffi.new("int64_t[]", len(world.local_ranks))
    text, more = ffi.new("char[]", axis.encode()), options.in_c(keep)
    given = ffi.new("tp_arguments *", {"text": text, "options": more, "numbers": numbers})
    given.i = getattr(lib, f"TSR_{op.upper()}")
    given.src, given.dst = _end(arena, source), _end(arena, destination)
    world._call(lib.TP_START, ffi.NULL, (x,), given, 0)
    return Started(world, f'spmd.{op}(.., "{axis}", "{source}", "{destination}")', numbers)


def all_reduce_start(
    x: Array,
    axis: str,
    source: str = "P",
    destination: str = "R",
    *,
    dim: int = 0,
    wire_dtype: object | None = None,
    backward_dtype: object | None = None,
) -> Started:
    """Starts :func:`all_reduce`, whose value ``wait()`` of the result gives.

    The value has the same bits, type and gradient. Each start is waited for exactly once, before
    its scope ends; anything else is an error that names the call. The operand must not change until
    then.

    Inside of a function of :func:`tessera.launch` the collective makes progress while the rank
    goes on to other calls of the library. Where one thread drives all ranks a call returns when
    every rank has finished it, so the exchange ends with the start, and ``wait`` hands it out.

    >>> import numpy as np, tessera as ts
    >>> with ts.World("tp=2") as world, ts.spmd.scope(world):
    ...     x = ts.spmd.value(world, [np.ones(3), np.ones(3)], "f64[3]{tp:P}")
    ...     coming = ts.spmd.all_reduce_start(x, "tp")
    ...     y = x + x  # while the sum is under way
    ...     print(coming.wait().local(0), ts.spmd.type_of(y))
    [2. 2. 2.] f64[3]{tp:P}
    """
    options = _Options(dim, wire=wire_dtype, backward=backward_dtype)
    return _start("all_reduce", x, axis, source, destination, options)


def all_gather_start(
    x: Array,
    axis: str,
    source: str = "V",
    destination: str = "R",
    *,
    dim: int = 0,
    counts: Sequence[int] | None = None,
    wire_dtype: object | None = None,
    backward_dtype: object | None = None,
) -> Started:
    """Starts :func:`all_gather`, as :func:`all_reduce_start` starts a sum."""
    options = _Options(dim, counts, None, wire_dtype, backward_dtype)
    return _start("all_gather", x, axis, source, destination, options)


def reduce_scatter_start(
    x: Array,
    axis: str,
    source: str = "P",
    destination: str = "V",
    *,
    dim: int = 0,
    counts: Sequence[int] | None = None,
    wire_dtype: object | None = None,
    backward_dtype: object | None = None,
) -> Started:
    """Starts :func:`reduce_scatter`, as :func:`all_reduce_start` starts a sum."""
    options = _Options(dim, counts, None, wire_dtype, backward_dtype)
    return _start("reduce_scatter", x, axis, source, destination, options)


def all_to_all_start(
    x: Array,
    axis: str,
    source: str = "V",
    destination: str = "V",
    *,
    dim: int = 0,
    counts: Sequence[int] | None = None,
    sent: Sequence[int] | None = None,
    wire_dtype: object | None = None,
    backward_dtype: object | None = None,
) -> Started:
    """Starts :func:`all_to_all`, as :func:`all_reduce_start` starts a sum."""
    options = _Options(dim, counts, sent, wire_dtype, backward_dtype)
    return _start("all_to_all", x, axis, source, destination, options)

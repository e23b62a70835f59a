"""Programs: StableHLO with shardings, read, propagated, explained, checked and run."""

from __future__ import annotations

import difflib
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tessera._binding import ffi, lib
from tessera._dtype import views_of
from tessera._errors import InvalidError, Place, text_of
from tessera._mesh import Mesh
from tessera._program_ir import (
    Functions,
    Owner,
    annotate,
    arena_in,
    argument_of,
    arguments_of,
    changed,
    explanations_of,
    interpreter_of,
    layout_of,
    meshes_of,
    named,
    names_of,
    numbered,
    option_values,
    outputs_of,
    results_of,
    shape_of,
    source_of,
    tensor_of,
    type_of,
    value_of,
    where,
)
from tessera._records import (
    Explanations,
    Finding,
    Findings,
    Pass,
    ProgramTensor,
    ShardingCopies,
    ValueShardings,
    finding_of,
    pass_of,
)

__all__ = ["Program"]


class Program:
    """A program: StableHLO with sdy shardings, as jax lowers and ``sdy_opt`` reads it.

    ``source`` is one of

    - what ``jax.jit(f).lower(*args)`` or ``jax.export.export(f)(*args)`` gives;
    - MLIR as text: ``bytes``, or a ``str`` that has a line break or any of ``{``, ``<``, ``"``;
    - the path of a file: any other ``str``, or an ``os.PathLike``.

    Ops of dialects that the library does not know are an error unless ``allow_unregistered`` is
    set. :meth:`annotate` changes a program, everything else leaves it as it is. Values go by the
    names that the source gives them; in a program that passes have made, by those that ``str``
    prints. Threads may share a program: their calls are made one after another.

    >>> import numpy as np
    >>> import tessera as ts
    >>> p = ts.Program('''
    ... sdy.mesh @mesh = <["dp"=2, "tp"=4]>
    ... func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>},
    ...                 %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
    ...   %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    ...     : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    ...   %z = stablehlo.tanh %y : tensor<8x4xf32>
    ...   return %z : tensor<8x4xf32>
    ... }''')
    >>> p.annotate("%w", "P(None, 'tp')").propagate().outputs[0].sharding.to("jax")
    "P('dp', 'tp')"
    >>> print(p.explain("%z"))
    %z (line 7): tensor<8x4xf32> [{"dp", ?}, {"tp", ?}]
      dim 0 has "dp" from argument 0 of @main (line 3), annotated [{"dp"}, {}]
          to %y dim 0, by dot_general (line 5)
          to %z dim 0, by tanh (line 7)
      dim 1 has "tp" from argument 1 of @main (line 3), annotated [{}, {"tp"}]
          to %y dim 1, by dot_general (line 5)
          to %z dim 1, by tanh (line 7)
    >>> (y,) = p.evaluate(np.ones((8, 16), "f4"), np.full((16, 4), 0.01, "f4"))
    >>> y.shape, y.dtype, bool(np.allclose(y, np.tanh(0.16)))
    ((8, 4), dtype('float32'), True)
    """

    __slots__ = ("__weakref__", "_allow", "_lock", "_owner")

    _owner: Owner
    _lock: threading.Lock
    _allow: bool

    def __init__(self, source: object, *, allow_unregistered: bool = False) -> None:
        self._lock = threading.Lock()
        self._allow = allow_unregistered
        flags = lib.TSR_PROGRAM_ALLOW_UNREGISTERED if allow_unregistered else 0
        if isinstance(source, Program):
            with source._lock:
                self._owner = source._owner.copy()
            return
        text, path = source_of(source)
        if path is not None:
            self._owner = Owner(None, os.fsdecode(path))
            self._owner.load(path, flags)
        else:
            kept = ffi.from_buffer(text)
            self._owner = Owner(kept, "<text>")
            self._owner.read(kept, flags)

    @contextmanager
    def _call(self) -> Generator[tuple[Owner, Any], None, None]:
        """Calls on the program, alone: the owner, and an arena that is gone at the end."""
        with self._lock, arena_in(self._owner) as arena:
            yield self._owner, arena

    def _like(self, owner: Owner) -> Program:
        made = Program.__new__(Program)
        made._lock, made._allow, made._owner = threading.Lock(), self._allow, owner
        return made

    def clone(self) -> Program:
        """A copy that lives on its own.

        It has the names of the source; one that was pickled has those that ``str`` prints.
        """
        return Program(self, allow_unregistered=self._allow)

    # ---- text ----

    def text(self, *, generic: bool = False, locations: bool = False) -> str:
        """The program as MLIR prints it; ``generic``: every op in generic form."""
        printing = lib.TSR_PROGRAM_GENERIC if generic else 0
        printing |= lib.TSR_PROGRAM_LOCATIONS if locations else 0
        out = ffi.new("char **")
        with self._call() as (owner, arena):
            owner.check(lib.tsr_program_to_text(owner.ctx, arena, owner.program, printing, out))
            return text_of(out[0])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        with self._call() as (owner, _):
            ops = lib.tsr_program_num_ops(owner.program)
        inputs = ", ".join(f"{one.name}: {one.type}" for one in self.inputs)
        outputs = ", ".join(one.type for one in self.outputs)
        return f"Program(({inputs}) -> ({outputs}), {ops} ops)"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self.text(locations=True), self._allow))

    # ---- what it has ----

    @property
    def meshes(self) -> dict[str, Mesh]:
        """The meshes by their names.

        >>> import tessera as ts
        >>> ts.Program('sdy.mesh @mesh = <["dp"=2, "tp"=4]>').meshes
        {'mesh': <["dp"=2, "tp"=4]>}
        """
        with self._call() as (owner, arena):
            return meshes_of(owner, arena)

    @property
    def inputs(self) -> tuple[ProgramTensor, ...]:
        r"""The arguments of the main function; those that jax leaves out as unused are not there.

        >>> import tessera as ts
        >>> p = ts.Program("func.func @main(%x: tensor<?x4xbf16>) {\n return\n}")
        >>> p.inputs[0].name, p.inputs[0].shape, p.inputs[0].dtype, p.inputs[0].sharding
        ('%x', (None, 4), 'bf16', None)
        """
        return self._signature()[0]

    @property
    def outputs(self) -> tuple[ProgramTensor, ...]:
        """The results of the main function."""
        return self._signature()[1]

    def _signature(self) -> tuple[tuple[ProgramTensor, ...], tuple[ProgramTensor, ...]]:
        with self._call() as (owner, arena):
            main = lib.tsr_program_main(owner.program)
            if main == 0:
                return (), ()
            names, copies = names_of(owner, arena), ShardingCopies()
            inputs = [
                tensor_of(owner, arena, copies, tensor, names[tensor[0]])
                for tensor in arguments_of(owner, main)
            ]
            outputs = [
                tensor_of(owner, arena, copies, tensor, f"result{tensor[2]}")
                for tensor in results_of(owner, main)
            ]
            return tuple(inputs), tuple(outputs)

    def shardings(self, function: str | None = None) -> ValueShardings:
        """The values of the program in the order of its text, with the shardings that they have.

        Includes values inside of regions, but not the elements that reductions fold. With
        ``function``, those of that function only.

        >>> import tessera as ts
        >>> p = ts.Program('''
        ... sdy.mesh @m = <["x"=2]>
        ... func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>})
        ...     -> tensor<8xf32> {
        ...   %b = stablehlo.negate %a : tensor<8xf32>
        ...   return %b : tensor<8xf32>
        ... }''')
        >>> [(one.name, one.line, one.op) for one in p.shardings()]
        [('%a', None, None), ('%b', 5, 'stablehlo.negate')]
        >>> [one.sharding.to("jax") for one in p.propagate().shardings()]
        ["P('x')", "P('x')"]
        """
        with self._call() as (owner, arena):
            if function is not None and not lib.tsr_program_symbol(
                owner.program, function.encode()
            ):
                raise InvalidError(f"the program has no function {function}")
            count, values = ffi.new("size_t *"), ffi.new("tsr_ir_value **")
            program = owner.program
            owner.check(lib.tsr_program_values(owner.ctx, arena, program, count, values))
            names, copies = names_of(owner, arena), ShardingCopies()
            functions = Functions(owner, arena)
            found = ValueShardings()
            for value in values[0][0 : count[0]]:
                home = functions.of_value(value)
                if function is None or home == function:
                    found.append(value_of(owner, arena, copies, value, names[value], home))
            return found

    def table(self, function: str | None = None) -> list[dict[str, Any]]:
        """:meth:`shardings` as mappings of texts and numbers, which ``pandas.DataFrame`` takes."""
        return self.shardings(function).records()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the library has warned of while it made this program out of others."""
        return self._owner.warnings

    # ---- changes ----

    def annotate(
        self,
        tensor: str | int | None = None,
        layout: object = None,
        *,
        arg: int | None = None,
        result: int | None = None,
        mesh: object | None = None,
    ) -> Program:
        r"""Gives a tensor a sharding, as if the program had said so; returns the program itself.

        ``tensor`` is the name of a value (of equal names the main function's), ``result0`` for a
        result of the main function, the name that an argument or result has in Python, or the
        number of an argument; ``arg`` and ``result`` are numbers too. An argument, a result or a
        constraint gets the sharding in place of what it had, any other value a constraint after it.
        ``layout`` is whatever :class:`Sharding` takes, over ``mesh``: a mesh or the name of one
        of the program; by default the layout's own, or the only one of the program. When it fails,
        the program is as it was.

        >>> import tessera as ts
        >>> p = ts.Program("func.func @main(%x: tensor<8x4xf32>) {\n return\n}")
        >>> p.annotate("%x", "P('dp', None)", mesh="dp=4").inputs[0].sharding
        #sdy.sharding<mesh<["dp"=4]>, [{"dp"}, {}]>
        """
        given = [one for one in (tensor, arg, result) if one is not None]
        if len(given) != 1:
            raise InvalidError("say one tensor: a name, arg=0 or result=0")
        if isinstance(tensor, int):
            tensor, arg = None, tensor

        def change(owner: Owner, arena: Any) -> None:
            if tensor is not None:
                found = named(owner, arena, str(tensor))
            elif arg is not None:
                found = numbered(owner, "arguments", arg)
            else:
                found = numbered(owner, "results", result or 0)
            sharding = layout_of(owner, arena, layout, mesh, shape_of(owner, type_of(owner, found)))
            annotate(owner, arena, found, sharding)

        with self._lock:
            self._owner = changed(self._owner, change)
        return self

    def propagate(self, **options: bool | int | str) -> Program:
        """A new program in which shardings have propagated to all tensors.

        That is ``run_pass("sdy-propagation-pipeline", as_xla=True, **options)``, as ``tessera
        propagate`` does: ``until_priority=0`` stops after the shardings of priority 0. Axes pass
        through ops of chlo and composites as in JAX, where XLA rewrites these before propagation;
        ``as_xla=False`` leaves them out, as ``sdy_opt`` does.
        """
        return self.run_pass("sdy-propagation-pipeline", **{"as_xla": True, **options})

    def run_pass(self, name: str, **options: bool | int | str) -> Program:
        """A new program, changed by a pass or a pipeline; :meth:`passes` lists them.

        Options have the names of ``sdy_opt``, with ``_`` for ``-``.

        >>> import tessera as ts
        >>> p = ts.Program('''
        ... sdy.mesh @m = <["x"=2]>
        ... func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}]>}) {
        ...   return
        ... }''')
        >>> p.run_pass("sdy-close-shardings").inputs[0].sharding.dims[0].open
        False
        """
        row = lib.tsr_pass_find(name.encode())
        if row == ffi.NULL:
            near = difflib.get_close_matches(name, [one.name for one in Program.passes()], 1)
            hint = f"; did you mean {near[0]}?" if near else "; Program.passes() lists them"
            raise InvalidError(f"unknown pass {name}{hint}")
        values, keep = option_values(pass_of(row), options)

        def change(owner: Owner, _: Any) -> None:
            given = ffi.new("tsr_pass_options *", (row.options, row.num_options, values))
            owner.check(lib.tsr_pass_run(owner.ctx, owner.program, row, given))

        with self._lock:
            made = changed(self._owner, change)
        del keep
        made.names = None
        return self._like(made)

    @staticmethod
    def passes() -> list[Pass]:
        """All passes and pipelines, with their options.

        >>> import tessera as ts
        >>> [one.name for one in ts.Program.passes()][:2]
        ['sdy-import-pipeline', 'sdy-propagation-pipeline']
        """
        count = ffi.new("size_t *")
        rows = lib.tsr_passes(count)
        return [pass_of(rows[i]) for i in range(count[0])]

    # ---- questions ----

    def explain(
        self,
        tensor: str | int | None = None,
        *,
        full: bool = False,
        suggest: bool = True,
        until_priority: int | None = None,
    ) -> Explanations:
        """Why tensors get their shardings when the program is propagated.

        ``tensor`` is a name of the program (``%12``, ``%arg0``), the number of a line, or
        ``FILE.py:LINE`` where the program has locations, ``result0`` for a result of the main
        function, or the name that an argument or result has in Python; a line may mean several
        tensors. Without it: all that have an axis or lack one because of a conflict. ``full`` says
        whole paths and all conflicts. Where a dimension stays replicated because of a conflict, an
        annotation that helps is suggested, which has been tried; without ``suggest`` none is.
        Texts have the names and lines of the source, also where passes have changed the program.
        """
        style = ffi.new("tsr_explain_style *", {"full": full, "skip_suggestions": not suggest})
        until = -1 if until_priority is None else until_priority
        with self._call() as (owner, arena):
            out = ffi.new("tsr_explanation **")
            owner.check(lib.tsr_explanation_create(owner.ctx, owner.program, until, out))
            try:
                return explanations_of(
                    owner, arena, out[0], style, None if tensor is None else str(tensor)
                )
            finally:
                lib.tsr_explanation_destroy(out[0])

    def check(self, *, notes: bool = False, local: bool = False) -> Findings:
        r"""Mistakes of SPMD code: inside of ``shard_map``, and in programs that devices run.

        With ``notes`` also what is legal and perhaps not meant. ``local`` says that each device
        runs the whole program, even if it has no collectives.

        >>> import tessera as ts
        >>> ts.Program("func.func @main(%x: tensor<8xf32>) {\n return\n}").check()
        []
        """
        options = ffi.new("tsr_check_options *", {"notes": notes, "local": local})
        out = ffi.new("tsr_findings *")
        with self._call() as (owner, arena):
            owner.check(lib.tsr_check_program(owner.ctx, arena, owner.program, options, out))
            names = names_of(owner, arena)

            def places(op: int) -> tuple[str, Place | None, Place | None]:
                return where(owner, arena, op)

            def record(finding: Any) -> Finding:
                name = names[finding.value] if finding.value else None
                return finding_of(finding, places, name)

            return Findings(record(out.list[i]) for i in range(out.count))

    def evaluate(
        self, *arrays: object, function: str | None = None, max_ops: int = 0
    ) -> tuple[Any, ...]:
        """Runs the main function, or ``function``, on one device: its results as NumPy arrays.

        Arrays have the shapes and element types of the arguments; Python's numbers and lists take
        the argument's, and None is a token. A run that executes more than ``max_ops`` ops ends with
        :class:`LimitError`; 0 sets no limit. A result that is not a tensor is None.

        A function that has collectives outside of manual computations runs on all devices of its
        module, ``mhlo.num_replicas`` x ``mhlo.num_partitions``, up to 64: all get the same arrays,
        or each its own, given device by device. The results are a tuple for each device then.

        >>> import tessera as ts
        >>> p = ts.Program('''
        ... func.func @main(%n: tensor<i32>) -> tensor<i32> {
        ...   %0 = stablehlo.multiply %n, %n : tensor<i32>
        ...   return %0 : tensor<i32>
        ... }''')
        >>> p.evaluate(12)
        (array(144, dtype=int32),)
        """
        with self._call() as (owner, _):
            interpreter = interpreter_of(owner, function, max_ops)
            count = lib.tsr_interpreter_num_inputs(interpreter)
            given = [
                argument_of(owner, interpreter, i % count, one) if count else np.asarray(one)
                for i, one in enumerate(arrays)
            ]
            views, keep = views_of(given)
            out = ffi.new("tsr_outputs **")
            owner.check(lib.tsr_interpreter_run(owner.ctx, interpreter, views, len(given), out))
            del keep
            try:
                name = function.encode() if function is not None else None
                entry = (
                    lib.tsr_program_main(owner.program)
                    if name is None
                    else lib.tsr_program_symbol(owner.program, name)
                )
                devices = lib.tsr_interpreter_num_devices(interpreter)
                results = [outputs_of(owner, entry, out[0], k, devices) for k in range(devices)]
                return tuple(results) if devices > 1 else results[0]
            finally:
                lib.tsr_outputs_destroy(out[0])

    # ---- pictures ----

    def svg(self, tensor: str | int, title: str | None = None) -> str:
        """The picture of what each device holds of an argument, a result or any other value.

        ``tensor`` is as in :meth:`annotate`.
        """
        with self._call() as (owner, arena):
            if isinstance(tensor, int):
                found, name = numbered(owner, "arguments", tensor), f"argument {tensor}"
            else:
                found, name = named(owner, arena, tensor), tensor
            about = tensor_of(owner, arena, ShardingCopies(), found, name)
        if about.sharding is None:
            raise InvalidError(f"{name} has no sharding: annotate it, or propagate the program")
        shape = about.static_shape
        if shape is None:
            raise InvalidError(f"{name} has the type {about.type}: a picture needs every extent")
        return about.sharding.svg(shape, name if title is None else title)

    def _repr_html_(self) -> str:
        from tessera._program_html import html_of

        return html_of(self)


def _again(text: str, allow_unregistered: bool) -> Program:
    """The program of a text, for pickle."""
    return Program(text.encode(), allow_unregistered=allow_unregistered)

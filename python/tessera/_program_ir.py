"""Programs in C: who owns them, how they are read, walked and named."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tessera._arena import Arena, address_of
from tessera._binding import ffi, lib
from tessera._dtype import bounds_of, dtype_name, numpy_dtype
from tessera._errors import Error, InvalidError, Place, UnsupportedError, chain, text_of
from tessera._mesh import Mesh, mesh_of
from tessera._optional import is_from
from tessera._records import (
    Explanations,
    Pass,
    ProgramTensor,
    ShardingCopies,
    ValueSharding,
    copy_of,
    explanation_of,
    static,
)
from tessera._sharding import Sharding, mesh_in

Tensor = tuple[int, int, int]  # a `tsr_ir_tensor`: a value, or 0 with a function and an index
Shape = tuple[int | None, ...]


class Owner(Arena):
    """A program in C with its context; one thread at a time uses it."""

    __slots__ = ("file", "interpreter", "names", "program", "runs", "source", "warnings")

    def __init__(self, source: Any, file: str | None) -> None:
        self.program = ffi.NULL
        self.source = source  # the text of the program, and of all that were made from it
        self.file = file
        self.names: list[str] | None = None  # by value; None: not asked for
        self.warnings: tuple[str, ...] = ()
        self.interpreter = ffi.NULL
        self.runs: tuple[str | None, int] | None = None  # what the interpreter is of
        super().__init__()

    def __del__(self) -> None:
        if lib is not None and self.program:
            lib.tsr_interpreter_destroy(self.interpreter)
            lib.tsr_program_destroy(self.program)
        super().__del__()

    def read(self, source: Any, flags: int) -> None:
        """Reads a text that the owner keeps."""
        text, out = ffi.new("tsr_text *"), ffi.new("tsr_program **")
        text.data, text.size = source, len(source)
        self.check(lib.tsr_program_read(self.ctx, text, flags, out))
        self.program = out[0]

    def load(self, path: bytes, flags: int) -> None:
        """Reads a file."""
        out = ffi.new("tsr_program **")
        self.check(lib.tsr_program_load(self.ctx, path, flags, out))
        self.program = out[0]

    def copy(self) -> Owner:
        """A copy of the program; names that values have are kept."""
        made, out = Owner(self.source, self.file), ffi.new("tsr_program **")
        made.check(lib.tsr_program_clone(made.ctx, self.program, out))
        made.program, made.names = out[0], self.names
        made.warnings = self.warnings
        return made


@contextmanager
def arena_in(owner: Owner) -> Generator[Any, None, None]:
    """An arena of the owner's context; at the end both are empty again."""
    out = ffi.new("tsr_arena **")
    owner.check(lib.tsr_arena_create(owner.ctx, out))
    try:
        yield out[0]
    finally:
        lib.tsr_arena_destroy(out[0])
        lib.tsr_context_clear(owner.ctx)


def warnings_of(owner: Owner) -> tuple[str, ...]:
    """What the library has warned of since the context was empty."""
    found: list[str] = []
    for one in chain(lib.tsr_context_diagnostics(owner.ctx)):
        if one.severity == lib.TSR_WARNING:
            place = Place(owner.file, int(one.line), int(one.column)) if one.line else None
            found.append(f"{place}: {text_of(one.text)}" if place else text_of(one.text))
    return tuple(dict.fromkeys(found))


def changed(owner: Owner, change: Callable[[Owner, Any], None]) -> Owner:
    """A copy of a program that was changed and verified: a failure leaves the program alone."""
    made = owner.copy()
    with arena_in(made) as arena:
        change(made, arena)
        made.check(lib.tsr_program_verify(made.ctx, made.program))
        made.warnings += warnings_of(made)
    return made


# ---- sources ----


def source_of(source: object) -> tuple[bytes, bytes | None]:
    """The text of a source, or the path of its file."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        text = bytes(source)
        if text.startswith(b"ML\xefR"):
            raise UnsupportedError("this is bytecode of MLIR: give the program as text")
        return text, None
    if isinstance(source, str):
        if any(mark in source for mark in '\n{<"'):
            return source.encode("utf-8", "surrogatepass"), None
        if "\0" in source or not os.path.exists(source):
            raise InvalidError(
                f"{source!r} is neither a file nor a program: the file does not exist, and a text "
                'of MLIR has a line break or one of { < "'
            )
        return b"", os.fsencode(source)
    if isinstance(source, os.PathLike):
        path = os.fsencode(source)
        if b"\0" in path:
            raise InvalidError(f"{path!r} is not a path: it has a zero byte")
        return b"", path
    return _text_of_jax(source).encode(), None


def _text_of_jax(source: Any) -> str:
    """The text of what jax has lowered or exported, with locations."""
    if is_from(source, "jax"):
        if hasattr(source, "mlir_module"):
            return str(source.mlir_module())
        if hasattr(source, "compiler_ir"):
            return str(source.as_text(dialect="stablehlo", debug_info=True))
        if hasattr(source, "operation"):
            return str(source.operation.get_asm(enable_debug_info=True))
        if hasattr(source, "lower"):
            raise InvalidError("lower the function first: Program(jax.jit(f).lower(*args))")
    raise InvalidError(
        "a program is made from what jax.jit(f).lower(*args) gives, from MLIR as text or bytes, or "
        f"from the path of a file, not from {type(source).__name__}"
    )


# ---- walking ----


def names_of(owner: Owner, arena: Any) -> list[str]:
    """The names of values by number: of the source, or ``reshard of %3`` where passes made one."""
    if owner.names is None:
        out = ffi.new("char ***")
        owner.check(lib.tsr_program_written_names(owner.ctx, arena, owner.program, out))
        count = lib.tsr_program_num_values(owner.program) + 1
        owner.names = [text_of(out[0][i]) for i in range(count)]
    return owner.names


def block_of(owner: Owner, func: int) -> int:
    """The first block of an op; 0 for none."""
    region = lib.tsr_ir_op_region(owner.program, func, 0)
    return int(lib.tsr_ir_region_first_block(owner.program, region)) if region else 0


def arguments_of(owner: Owner, func: int) -> list[Tensor]:
    """The arguments of a function; one that is only declared has none here."""
    block = block_of(owner, func)
    count = lib.tsr_ir_block_num_arguments(owner.program, block) if block else 0
    return [(lib.tsr_ir_block_argument(owner.program, block, i), 0, 0) for i in range(count)]


def results_of(owner: Owner, func: int) -> list[Tensor]:
    """The results of a function."""
    return [(0, func, i) for i in range(lib.tsr_ir_func_num_results(owner.program, func))]


def symbol_of(owner: Owner, arena: Any, op: int) -> str:
    """The name of a symbol, such as a function; empty for other ops."""
    out = ffi.new("char **")
    owner.check(lib.tsr_ir_op_symbol(owner.ctx, arena, owner.program, op, out))
    return text_of(out[0])


def meshes_of(owner: Owner, arena: Any) -> dict[str, Mesh]:
    """Copies of the program's meshes, by name."""
    found: dict[str, Mesh] = {}
    program, out = owner.program, ffi.new("tsr_mesh **")
    op = lib.tsr_ir_block_first_op(program, block_of(owner, lib.tsr_program_module(program)))
    while op:
        if ffi.string(lib.tsr_ir_op_name(program, op)) == b"sdy.mesh":
            name = symbol_of(owner, arena, op)
            owner.check(lib.tsr_program_mesh(owner.ctx, program, name.encode(), out))
            found[name] = copy_of(out[0], lib.tsr_mesh_name(out[0]))
        op = lib.tsr_ir_op_next(program, op)
    return found


class Functions:
    """The function that each value is in."""

    def __init__(self, owner: Owner, arena: Any) -> None:
        self._owner, self._arena = owner, arena
        self._of_block: dict[int, str] = {}

    def of_value(self, value: int) -> str:
        """The name of the function; empty where there is none."""
        program = self._owner.program
        op = lib.tsr_ir_value_op(program, value)
        return self._of(
            lib.tsr_ir_op_block(program, op) if op else lib.tsr_ir_value_block(program, value)
        )

    def _of(self, block: int) -> str:
        program, passed, name = self._owner.program, list[int](), ""
        while block:
            if block in self._of_block:
                name = self._of_block[block]
                break
            passed.append(block)
            op = lib.tsr_ir_region_parent(program, lib.tsr_ir_block_parent(program, block))
            if ffi.string(lib.tsr_ir_op_name(program, op)) == b"func.func":
                name = symbol_of(self._owner, self._arena, op)
                break
            block = lib.tsr_ir_op_block(program, op)
        self._of_block.update(dict.fromkeys(passed, name))
        return name


# ---- tensors ----


def type_of(owner: Owner, tensor: Tensor) -> int:
    """The type of a tensor."""
    return int(lib.tsr_ir_tensor_type(owner.program, tensor))


def shape_of(owner: Owner, kind: int) -> Shape | None:
    """The shape of a type, None for one that has none."""
    rank, shape = ffi.new("size_t *"), ffi.new("int64_t **")
    if not lib.tsr_ir_type_shape(owner.program, kind, rank, shape):
        return None
    extents = shape[0][0 : rank[0]] if rank[0] else []
    return tuple(None if extent == lib.TSR_UNKNOWN else int(extent) for extent in extents)


def dtype_of(owner: Owner, kind: int) -> int | None:
    """The element type of a type, None for one that has none."""
    out = ffi.new("tsr_dtype *")
    return int(out[0]) if lib.tsr_ir_type_dtype(owner.program, kind, out) else None


def _described(owner: Owner, arena: Any, kind: int) -> tuple[str, Shape | None, str | None]:
    out = ffi.new("char **")
    owner.check(lib.tsr_ir_type_to_text(owner.ctx, arena, owner.program, kind, out))
    code = dtype_of(owner, kind)
    return text_of(out[0]), shape_of(owner, kind), None if code is None else dtype_name(code)


def python_name(owner: Owner, arena: Any, tensor: Tensor) -> str:
    """The name that an argument or result has in Python; empty for none."""
    out = ffi.new("char **")
    owner.check(lib.tsr_ir_tensor_name(owner.ctx, arena, owner.program, tensor, out))
    return text_of(out[0])


def tensor_of(
    owner: Owner, arena: Any, copies: ShardingCopies, tensor: Tensor, value: str
) -> ProgramTensor:
    """The record of a tensor."""
    out = ffi.new("tsr_sharding **")
    owner.check(lib.tsr_ir_tensor_sharding(owner.ctx, owner.program, tensor, out))
    described = _described(owner, arena, type_of(owner, tensor))
    name = python_name(owner, arena, tensor) or value
    return ProgramTensor(name, value, *described, copies.of(out[0]))


def value_of(
    owner: Owner, arena: Any, copies: ShardingCopies, value: int, name: str, function: str
) -> ValueSharding:
    """The record of a value."""
    out, program = ffi.new("tsr_sharding **"), owner.program
    owner.check(lib.tsr_ir_value_sharding(owner.ctx, program, value, out))
    described = _described(owner, arena, lib.tsr_ir_value_type(program, value))
    op = lib.tsr_ir_value_op(program, value)
    place = place_of(owner, op) if op else None
    return ValueSharding(
        name,
        function,
        None if place is None else place.line,
        text_of(lib.tsr_ir_op_name(program, op)) if op else None,
        *described,
        copies.of(out[0]),
    )


def numbered(owner: Owner, what: str, number: int) -> Tensor:
    """An argument or result of the main function."""
    main = lib.tsr_program_main(owner.program)
    if main == 0:
        raise InvalidError("the program has no main function")
    found = (arguments_of if what == "arguments" else results_of)(owner, main)
    if not 0 <= number < len(found):
        raise InvalidError(
            f"main has {len(found)} {what}, numbered from 0; {number} is out of range"
        )
    return found[number]


def named(owner: Owner, arena: Any, name: str) -> Tensor:
    """A tensor by its name: main's first, then that of a value, a result, or of Python."""
    names, main = names_of(owner, arena), lib.tsr_program_main(owner.program)
    values = [value for value, one in enumerate(names) if one == name]
    if len(values) > 1:
        functions, home = Functions(owner, arena), symbol_of(owner, arena, main) if main else ""
        values = [one for one in values if functions.of_value(one) == home] or values
    if values:
        return (_constrained(owner, values), 0, 0)
    results = results_of(owner, main) if main else []
    for tensor in results:
        if name == f"result{tensor[2]}":
            return tensor
    of_python = [
        tensor
        for tensor in [*(arguments_of(owner, main) if main else []), *results]
        if python_name(owner, arena, tensor) == name
    ]
    if len(of_python) > 1:
        raise InvalidError(f"{len(of_python)} arguments and results have the name {name}")
    if of_python:
        return of_python[0]
    raise InvalidError(
        f"the program has no tensor {name}: give a name as in the text, such as %arg0, result0, or "
        "the name of an argument or result in Python"
    )


def _constrained(owner: Owner, values: list[int]) -> int:
    """The first of the values, or the constraint that annotate() gave it under the same name."""
    program = owner.program
    for value in values[1:]:
        op = lib.tsr_ir_value_op(program, value)
        if (
            op
            and ffi.string(lib.tsr_ir_op_name(program, op)) == b"sdy.sharding_constraint"
            and lib.tsr_ir_op_operand(program, op, 0) == values[0]
        ):
            return value
    return values[0]


def annotate(owner: Owner, arena: Any, tensor: Tensor, sharding: Sharding) -> None:
    """Annotates a tensor; a constraint that this adds has the name of the value."""
    names = names_of(owner, arena)
    owner.check(lib.tsr_program_annotate(owner.ctx, owner.program, tensor, sharding._sharding))
    added = lib.tsr_program_num_values(owner.program) + 1 - len(names)
    owner.names = names + [names[tensor[0]]] * added


def layout_of(
    owner: Owner, arena: Any, layout: object, mesh: object | None, shape: Shape | None
) -> Sharding:
    """The sharding that a layout means, over a mesh of the program where it is one."""
    if layout is None:
        raise InvalidError("give a layout, such as \"P('x', None)\"")
    meshes = meshes_of(owner, arena)
    sizes, ndim = static(shape), None if shape is None else len(shape)
    if isinstance(mesh, str) and mesh.removeprefix("@") in meshes:
        mesh = meshes[mesh.removeprefix("@")]
    only = next(iter(meshes.values())) if len(meshes) == 1 else None
    if mesh is not None:
        sharding = Sharding(layout, mesh_of(mesh), sizes, ndim=ndim)
    elif mesh_in(layout) is None:
        try:
            sharding = Sharding(layout, only, sizes, ndim=ndim)
        except Error as error:
            if only is None:
                several = f"several meshes: {', '.join(meshes)}" if meshes else "no mesh"
                raise error.noting(f"the program has {several}; say which by mesh=") from None
            raise
    else:
        sharding = Sharding(layout, None, sizes, ndim=ndim)
    return _over(sharding, meshes, by_axes=mesh is None and is_from(layout, "jax"))


def _over(sharding: Sharding, meshes: dict[str, Mesh], *, by_axes: bool) -> Sharding:
    """The sharding over the mesh of the program that is equal to its own, else over one unnamed.

    Programs of jax number devices by their places in the mesh: there the axes alone count.
    """
    for one in meshes.values():
        alike = lib.tsr_mesh_equal_axes(one._mesh, sharding.mesh._mesh) if by_axes else False
        if alike or one == sharding.mesh:
            return Sharding._copy(sharding._sharding, one)
    return Sharding._copy(sharding._sharding, Mesh(repr(sharding.mesh)))


# ---- passes ----


def option_values(row: Pass, options: dict[str, bool | int | str]) -> tuple[Any, list[Any]]:
    """The values of a pass's options in the order of its rows, and what keeps them."""
    given = {name.replace("_", "-"): value for name, value in options.items()}
    kinds = {one.name: one.kind for one in row.options}
    for name, value in given.items():
        if name not in kinds:
            known = ", ".join(kinds) or "none"
            raise InvalidError(f"the pass {row.name} has no option {name}; it has: {known}")
        if type(value).__name__ != kinds[name]:
            raise InvalidError(f"the option {name} of {row.name} is {kinds[name]}, not {value!r}")
    values, keep = ffi.new("tsr_option_value[]", len(row.options) + 1), []
    for i, one in enumerate(row.options):
        chosen = given.get(one.name)
        if isinstance(chosen, str):
            keep.append(ffi.new("char[]", chosen.encode()))
            values[i].text = keep[-1]
        elif chosen is not None:
            values[i].number = int(chosen)
        values[i].is_given = value is not None
    return values, keep


# ---- questions ----


def place_of(owner: Owner, op: int) -> Place | None:
    """Where an op is in the text."""
    line, column = ffi.new("int64_t *"), ffi.new("int64_t *")
    if not lib.tsr_ir_op_position(owner.program, op, line, column):
        return None
    return Place(owner.file, int(line[0]), int(column[0]))


def where(owner: Owner, arena: Any, op: int) -> tuple[str, Place | None, Place | None]:
    """An op's name, its place in the text, and in the source that the text was made from."""
    source, out = None, ffi.new("tsr_source_location *")
    if lib.tsr_ir_op_source(owner.ctx, arena, owner.program, op, out):
        source = Place(text_of(out.file), int(out.line), int(out.column))
    return text_of(lib.tsr_ir_op_name(owner.program, op)), place_of(owner, op), source


def explanations_of(
    owner: Owner, arena: Any, explanation: Any, style: Any, wanted: str | None
) -> Explanations:
    """The records of the tensors that a text means, or of all."""
    count, tensors = ffi.new("size_t *"), ffi.new("tsr_ir_tensor **")
    if wanted is None:
        status = lib.tsr_explanation_tensors(owner.ctx, arena, explanation, style, count, tensors)
    else:
        name = wanted.encode()
        status = lib.tsr_explanation_find(owner.ctx, arena, explanation, name, count, tensors)
    owner.check(status)
    if wanted is not None and count[0] == 0:
        raise InvalidError(
            f"unknown value {wanted}; give a name of the text, a line number, or result0"
        )
    found = Explanations()
    reasons, text = ffi.new("tsr_tensor_reasons *"), ffi.new("char **")
    mark = lib.tsr_arena_get_mark(arena)
    for i in range(count[0]):
        question = (owner.ctx, arena, explanation, tensors[0][i], style)
        owner.check(lib.tsr_explanation_reasons(*question, reasons))
        owner.check(lib.tsr_explanation_text(*question, text))
        found.append(explanation_of(reasons, text_of(text[0])))
        lib.tsr_arena_reset(arena, mark)
    return found


# ---- runs ----


def interpreter_of(owner: Owner, function: str | None, max_ops: int) -> Any:
    """The interpreter of a function; the last one is kept."""
    key = (function, max_ops)
    if owner.runs != key:
        out, options = ffi.new("tsr_interpreter **"), ffi.new("tsr_interpreter_options *")
        name = ffi.NULL if function is None else ffi.new("char[]", function.encode())
        options.function, options.max_ops = name, max_ops
        owner.check(lib.tsr_interpreter_create(owner.ctx, owner.program, options, out))
        lib.tsr_interpreter_destroy(owner.interpreter)
        owner.interpreter, owner.runs = out[0], key
    return owner.interpreter


def argument_of(owner: Owner, interpreter: Any, number: int, value: object) -> NDArray[Any]:
    """An argument as an array; numbers and lists of Python become the type that is wanted."""
    array: NDArray[Any] = np.asarray(False if value is None else value)
    if hasattr(value, "dtype"):
        return array
    kind = lib.tsr_ir_value_type(owner.program, lib.tsr_interpreter_input(interpreter, number))
    code = dtype_of(owner, kind)
    if code is None:
        return array
    wanted = numpy_dtype(code)
    whole = wanted.kind != "b" and bounds_of(wanted) is not None
    kinds = "b" if wanted.kind == "b" else "biu" if whole else "biuf"
    if array.dtype.kind not in kinds and array.dtype.kind != wanted.kind:
        return array
    cast: NDArray[Any] = array.astype(wanted)
    if whole and not np.array_equal(cast.astype(array.dtype), array):
        raise InvalidError(f"argument {number} is {value}, which {dtype_name(code)} does not hold")
    return cast


def outputs_of(
    owner: Owner, function: int, outputs: Any, device: int, devices: int
) -> tuple[Any, ...]:
    """The results of one device."""
    count = lib.tsr_outputs_count(outputs) // devices
    return tuple(
        output_of(owner, type_of(owner, (0, function, i)), outputs, device * count + i)
        for i in range(count)
    )


def output_of(owner: Owner, kind: int, outputs: Any, number: int) -> Any:
    """A result as an array of its own; None for what is not a tensor."""
    view = lib.tsr_outputs_get(outputs, number)
    if shape_of(owner, kind) is None:
        return None
    wanted = numpy_dtype(view.dtype)
    made: NDArray[Any] = np.empty([view.shape[d] for d in range(view.rank)], wanted)
    if made.nbytes:
        ffi.memmove(address_of(made), view.data, made.nbytes)
    return made

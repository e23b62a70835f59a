"""What is said of programs, as dataclasses: tensors, reasons, findings, passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from tessera._arena import Arena
from tessera._binding import ffi, lib
from tessera._dtype import named_code
from tessera._errors import Error, Place, text_of
from tessera._mesh import Mesh
from tessera._sharding import Sharding

__all__ = [
    "Annotation",
    "AxisHop",
    "AxisReason",
    "Conflict",
    "ConflictSide",
    "Explanation",
    "Explanations",
    "Finding",
    "FindingNote",
    "Findings",
    "Pass",
    "PassOption",
    "ProgramTensor",
    "Suggestion",
    "ValueSharding",
    "ValueShardings",
]

_MAX_ROWS = 200  # of a table in a notebook


# ---- tensors ----


@dataclass(frozen=True)
class ProgramTensor:
    """An argument or result of a program.

    ``name`` is what Python calls it, ``value`` what the program does: ``%arg0``, or ``result0``;
    without a name of Python they are the same. Extents that are not known are None; what is no
    tensor has no ``shape``.
    """

    name: str
    value: str
    type: str
    shape: tuple[int | None, ...] | None
    dtype: str | None
    sharding: Sharding | None

    @property
    def static_shape(self) -> tuple[int, ...] | None:
        """The shape, None unless every extent is known."""
        return static(self.shape)


@dataclass(frozen=True)
class ValueSharding:
    """A value of a program with its sharding: a record of :meth:`Program.shardings`.

    ``line`` is the line of the source that computes it, None where it has none. ``op`` is the op
    whose result it is, None for an argument.
    """

    name: str
    function: str
    line: int | None
    op: str | None
    type: str
    shape: tuple[int | None, ...] | None
    dtype: str | None
    sharding: Sharding | None

    @property
    def bytes_per_device(self) -> int | None:
        """The bytes of the largest part that a device holds; None where that is not known."""
        shape = static(self.shape)
        if shape is None or self.dtype is None:
            return None
        if self.sharding is not None and self.sharding.ndim == len(shape):
            try:
                shape = self.sharding.local_shape(shape)
            except Error:
                return None
        count = math.prod(shape)
        found = int(lib.tsr_dtype_bytes(named_code(self.dtype), count)) if count < 2**63 else -1
        return found if found >= 0 else None


class ValueShardings(list[ValueSharding]):
    """The values of a program in the order of its text; a table in a notebook."""

    def records(self) -> list[dict[str, Any]]:
        """The values as mappings of texts and numbers, which ``pandas.DataFrame`` takes."""
        return [
            {
                "name": one.name,
                "function": one.function,
                "line": one.line,
                "op": one.op,
                "type": one.type,
                "sharding": one.sharding.bare_text() if one.sharding else None,
                "mesh": None if one.sharding is None else repr(one.sharding.mesh),
                "bytes_per_device": one.bytes_per_device,
            }
            for one in self
        ]

    def _repr_html_(self) -> str:
        names = ("name", "line", "op", "type", "sharding", "bytes_per_device")
        return table_html(names, ValueShardings(self[:_MAX_ROWS]).records(), len(self))


def table_html(names: Sequence[str], records: Sequence[dict[str, Any]], count: int) -> str:
    """Records as a table of HTML, which says how many of `count` there are more."""
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
    lines = [f"<tr>{head}</tr>"]
    for record in records:
        cells = ("" if record[name] is None else str(record[name]) for name in names)
        lines.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    if count > len(records):
        lines.append(f"<tr><td colspan='{len(names)}'>and {count - len(records)} more</td></tr>")
    return f"<table>{''.join(lines)}</table>"


def static(shape: tuple[int | None, ...] | None) -> tuple[int, ...] | None:
    """A shape whose extents are all known, else None."""
    if shape is None:
        return None
    known = tuple(extent for extent in shape if extent is not None)
    return known if len(known) == len(shape) else None


# ---- reasons ----

_ANNOTATIONS = {
    lib.TSR_ANNOTATION_ARGUMENT: "argument",
    lib.TSR_ANNOTATION_RESULT: "result",
    lib.TSR_ANNOTATION_CONSTRAINT: "constraint",
    lib.TSR_ANNOTATION_INPUT: "input",
    lib.TSR_ANNOTATION_OUTPUT: "output",
    lib.TSR_ANNOTATION_OP: "op",
}
_STEPS = {
    lib.TSR_AXIS_ANNOTATED: "annotated",
    lib.TSR_AXIS_BY_OP: "op",
    lib.TSR_AXIS_BY_EDGE: "edge",
    lib.TSR_AXIS_BY_RETURN: "return",
    lib.TSR_AXIS_BY_GROUP: "group",
}
_RULES = {
    lib.TSR_RULE_NONE: "none",
    lib.TSR_RULE_ANNOTATION: "annotation",
    lib.TSR_RULE_USER_PRIORITY: "user-priority",
    lib.TSR_RULE_OP_PRIORITY: "op-priority",
    lib.TSR_RULE_LARGER: "larger",
    lib.TSR_RULE_FIRST: "first",
}


@dataclass(frozen=True)
class Annotation:
    """A sharding that the program had before propagation.

    ``kind`` is argument, result, constraint, input, output or op; ``name`` says it in words.
    """

    kind: str
    index: int
    name: str
    sharding: str
    line: int | None


@dataclass(frozen=True)
class AxisHop:
    """How an axis came to a dimension of a tensor: annotated, or by op, edge, return or group."""

    by: str
    tensor: str
    dim: int
    op: str | None
    line: int | None


@dataclass(frozen=True)
class AxisReason:
    """An axis that a tensor has, and why: the path leads back to the annotation."""

    dim: int
    axis: str
    annotation: Annotation | None
    path: tuple[AxisHop, ...]


@dataclass(frozen=True)
class ConflictSide:
    """A tensor that has an axis in a conflict."""

    tensor: str
    dim: int
    axis: str
    annotation: Annotation | None


@dataclass(frozen=True)
class Suggestion:
    """An annotation that helps, which has been tried: ``program.annotate(tensor, sharding)``."""

    tensor: str
    sharding: str


@dataclass(frozen=True)
class Conflict:
    """An axis that a tensor could have had, and what kept it out.

    ``kind`` and ``rule`` are names of the library (``taken``, ``closed``, ..; ``annotation``,
    ``first``, ..); ``reason`` says it in words.
    """

    kind: str
    rule: str
    dim: int
    axis: str
    op: str | None
    line: int | None
    wanted: ConflictSide | None
    winner: ConflictSide | None
    annotation: Annotation | None
    reason: str
    suggestion: Suggestion | None


@dataclass(frozen=True)
class Explanation:
    """Why a tensor has its sharding. ``str`` is what ``tessera explain`` prints."""

    tensor: str
    line: int | None
    type: str
    sharding: str
    axes: tuple[AxisReason, ...]
    conflicts: tuple[Conflict, ...]
    text: str

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """What the conflicts suggest, each once."""
        found = (one.suggestion for one in self.conflicts)
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


class Explanations(list[Explanation]):
    """Why tensors have their shardings; ``str`` is the texts of all, as a notebook shows them."""

    def __str__(self) -> str:
        return "\n".join(str(one) for one in self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _optional_text(pointer: Any) -> str | None:
    return None if pointer == ffi.NULL else text_of(pointer)


def _annotation(words: Any) -> Annotation | None:
    if words.number == 0:
        return None
    return Annotation(
        _ANNOTATIONS[words.kind],
        int(words.index),
        text_of(words.name),
        text_of(words.sharding),
        int(words.line) or None,
    )


def _side(side: Any) -> ConflictSide | None:
    if side.tensor == ffi.NULL:
        return None
    return ConflictSide(
        text_of(side.tensor), int(side.dim), text_of(side.axis), _annotation(side.annotation)
    )


def _axis(axis: Any) -> AxisReason:
    path = tuple(
        AxisHop(
            _STEPS[hop.kind],
            text_of(hop.tensor),
            int(hop.dim),
            _optional_text(hop.op),
            int(hop.line) or None,
        )
        for hop in (axis.path[i] for i in range(axis.num_hops))
    )
    return AxisReason(int(axis.dim), text_of(axis.axis), _annotation(axis.annotation), path)


def _conflict(conflict: Any) -> Conflict:
    suggestion = None
    if conflict.suggested_tensor != ffi.NULL:
        suggestion = Suggestion(
            text_of(conflict.suggested_tensor), text_of(conflict.suggested_sharding)
        )
    return Conflict(
        text_of(lib.tsr_conflict_name(conflict.kind)),
        _RULES[conflict.rule],
        int(conflict.dim),
        text_of(conflict.axis),
        _optional_text(conflict.op),
        int(conflict.line) or None,
        _side(conflict.wanted),
        _side(conflict.winner),
        _annotation(conflict.annotation),
        text_of(conflict.reason),
        suggestion,
    )


def explanation_of(reasons: Any, text: str) -> Explanation:
    """The record of a `tsr_tensor_reasons`."""
    return Explanation(
        text_of(reasons.tensor),
        int(reasons.line) or None,
        text_of(reasons.type),
        text_of(reasons.sharding),
        tuple(_axis(reasons.axes[i]) for i in range(reasons.num_axes)),
        tuple(_conflict(reasons.conflicts[i]) for i in range(reasons.num_conflicts)),
        text.rstrip("\n"),
    )


# ---- findings ----

# The name of an op, its place in the text and that in the source.
Places = Callable[[int], tuple[str, Place | None, Place | None]]

_SEVERITIES = {lib.TSR_NOTE: "note", lib.TSR_WARNING: "warning", lib.TSR_ERROR: "error"}


@dataclass(frozen=True)
class FindingNote:
    """A place that a finding follows from; ``source`` is the line of Python, where it is known."""

    message: str
    op: str
    place: Place | None
    source: Place | None


@dataclass(frozen=True)
class Finding:
    """A mistake of SPMD code: a record of :meth:`Program.check`.

    ``rule`` is the stable id (``TSR-C001``), ``name`` its name; ``place`` is in the text of the
    program, ``source`` the line of Python, where it is known.
    """

    rule: str
    name: str
    severity: str
    title: str
    message: str
    remedy: str
    axis: str | None
    op: str
    value: str | None
    place: Place | None
    source: Place | None
    notes: tuple[FindingNote, ...]

    def __str__(self) -> str:
        lines = [f"{_head(self.place)}{self.severity}: {self.message} [{self.name}]"]
        lines += _from(self.source)
        for note in self.notes:
            lines += [f"{_head(note.place)}note: {note.message}", *_from(note.source)]
        return "\n".join([*lines, f"  help: {self.remedy}"])


class Findings(list[Finding]):
    """What was found, in the order of the program; ``str`` is what ``tessera check`` prints."""

    def __str__(self) -> str:
        return "\n".join(str(one) for one in self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self)) or 'no findings'}</pre>"


def _head(place: Place | None) -> str:
    return "" if place is None else f"{place}: "


def _from(source: Place | None) -> list[str]:
    return [] if source is None else [f"  from {source}"]


def finding_of(finding: Any, where: Places, value: str | None) -> Finding:
    """The record of a `tsr_finding`; `where` gives the op's name and its two places."""
    rule = finding.rule
    notes = tuple(
        FindingNote(text_of(note.text), *where(note.op))
        for note in (finding.notes[i] for i in range(finding.num_notes))
    )
    op, place, source = where(finding.op)
    return Finding(
        text_of(rule.id),
        text_of(rule.name),
        _SEVERITIES[rule.severity],
        text_of(rule.title),
        text_of(finding.message),
        text_of(finding.remedy),
        _optional_text(finding.axis),
        op,
        value,
        place,
        source,
        notes,
    )


# ---- passes ----

_KINDS = {lib.TSR_OPTION_BOOL: "bool", lib.TSR_OPTION_INTEGER: "int", lib.TSR_OPTION_TEXT: "str"}


@dataclass(frozen=True)
class PassOption:
    """An option of a pass: ``kind`` is bool, int or str; ``default_value`` is the default."""

    name: str
    kind: str
    default_value: str
    help: str


@dataclass(frozen=True)
class Pass:
    """A pass or pipeline that :meth:`Program.run_pass` runs."""

    name: str
    help: str
    options: tuple[PassOption, ...]


def pass_of(row: Any) -> Pass:
    """The record of a `tsr_pass`."""
    options = tuple(
        PassOption(
            text_of(one.name), _KINDS[one.kind], text_of(one.default_value), text_of(one.help)
        )
        for one in (row.options[i] for i in range(row.num_options))
    )
    return Pass(text_of(row.name), text_of(row.help), options)


# ---- shardings ----


def copy_of(mesh: Any, name: Any) -> Mesh:
    """A mesh of its own, under a name or NULL: the program's goes with it."""
    owner, out = Arena(), ffi.new("tsr_mesh **")
    owner.check(lib.tsr_mesh_rename(owner.ctx, owner.arena, mesh, name, out))
    return Mesh._of(owner, out[0])


class ShardingCopies:
    """Shardings of a program as ones of their own, each made once: the program's go with it.

    Their meshes have no name, so that they equal those that come from elsewhere.
    """

    def __init__(self) -> None:
        self._meshes: dict[int, Mesh] = {}
        self._shardings: dict[int, Sharding] = {}

    def of(self, sharding: Any) -> Sharding | None:
        """The copy of a sharding; None for NULL."""
        if sharding == ffi.NULL:
            return None
        key = int(ffi.cast("uintptr_t", sharding))
        if key not in self._shardings:
            mesh = lib.tsr_sharding_mesh(sharding)
            place = int(ffi.cast("uintptr_t", mesh))
            if place not in self._meshes:
                self._meshes[place] = copy_of(mesh, ffi.NULL)
            self._shardings[key] = Sharding._copy(sharding, self._meshes[place])
        return self._shardings[key]

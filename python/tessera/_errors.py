"""The exceptions of the package: one class for each status of the library."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NoReturn

from tessera._binding import ffi, lib

__all__ = [
    "CheckError",
    "Error",
    "ExtentError",
    "Fix",
    "InvalidError",
    "LimitError",
    "OutOfMemoryError",
    "ParseError",
    "PeerError",
    "Place",
    "RankTimeoutError",
    "UnsupportedError",
]


@dataclass(frozen=True)
class Place:
    """Where a message points: a text or file, and a line and column that count from 1."""

    file: str | None
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file or '<text>'}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Fix:
    """A call on an operand that lets a call of typed code check; it has been tried.

    ``call`` is the function of :mod:`tessera.spmd`, which takes the operand, the axis, the source
    and the destination; ``cost`` is what it costs forward and backward, in words.
    """

    call: str
    operand: str
    axis: str
    source: str
    destination: str
    cost: str

    def __str__(self) -> str:
        return (
            f'spmd.{self.call}({self.operand}, "{self.axis}", "{self.source}", '
            f'"{self.destination}")'
        )


# A note about a fix is the call in C: tsr_all_reduce(operand 0, "tp", TSR_AS(P), TSR_AS(R), ..)
_FIX = re.compile(
    r'tsr_(\w+)\((.+), "([^"]+)", (TSR_AS\S*), (TSR_AS\S*), \.\.\) would do: (.*)', re.S
)
_END = re.compile(r"TSR_AS(?:_([SP]))?\((?:TSR_)?(\w+)\)")


def _end_of(code: str) -> str:
    """The end of a collective as :mod:`tessera.spmd` takes it: R, S(1), P(max)."""
    found = _END.fullmatch(code)
    assert found is not None, code
    kind, about = found.groups()
    return f"{kind}({about.lower()})" if kind else about


def _fixes_in(notes: tuple[str, ...]) -> tuple[Fix, ...]:
    found = [match.groups() for match in map(_FIX.fullmatch, notes) if match is not None]
    return tuple(
        Fix(
            "convert" if call == "convert_type" else call,
            operand,
            axis,
            _end_of(source),
            _end_of(destination),
            cost,
        )
        for call, operand, axis, source, destination, cost in found
    )


class Error(Exception):
    """What every failure of the library is.

    ``message`` is the library's text, ``place`` where it points (None: nowhere), ``notes`` what it
    adds: the reasons, and the fixes that it has tried; ``fixes`` are these as calls from Python.
    ``status`` is the name of the status in C.

    >>> import tessera as ts
    >>> try:
    ...     ts.Mesh("dp=2, dp=4")
    ... except ts.Error as error:
    ...     print(type(error).__name__, error.status)
    InvalidError TSR_ERR_INVALID
    """

    status = "TSR_ERR_INVALID"

    def __init__(
        self, message: str, place: Place | None = None, notes: tuple[str, ...] = (), text: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.notes = notes
        self._text = text

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """What would make a call of typed code check, the calls that were tried."""
        return _fixes_in(self.notes)

    def noting(self, note: str) -> Error:
        """The same error with one more note."""
        text = f"{self._text}\nnote: {note}" if self._text else ""
        return type(self)(self.message, self.place, (*self.notes, note), text)

    def __str__(self) -> str:
        if self._text:
            return self._text
        return "\n".join([self.message, *(f"note: {note}" for note in self.notes)])


class OutOfMemoryError(Error, MemoryError):
    """There is no memory for what was asked for."""

    status = "TSR_ERR_NOMEM"


class InvalidError(Error, ValueError):
    """An argument breaks a rule; the message says which."""

    status = "TSR_ERR_INVALID"


class ParseError(Error, ValueError):
    """A text that does not parse; ``place`` says where."""

    status = "TSR_ERR_SYNTAX"


class ExtentError(Error, OverflowError):
    """A product or sum of extents exceeds 2**63 - 1."""

    status = "TSR_ERR_OVERFLOW"


class LimitError(Error, ValueError):
    """Larger than what the function takes."""

    status = "TSR_ERR_LIMIT"


class UnsupportedError(Error, NotImplementedError):
    """Well formed, but cannot be expressed or done here."""

    status = "TSR_ERR_UNSUPPORTED"


class RankTimeoutError(Error, TimeoutError):
    """A rank did not arrive in time; the world is broken."""

    status = "TSR_ERR_TIMEOUT"


class PeerError(Error, RuntimeError):
    """Another rank failed, ended, or does something else."""

    status = "TSR_ERR_PEER"


class CheckError(Error, AssertionError):
    """A check that a program makes does not hold."""

    status = "TSR_ERR_CHECK"


_CLASSES = {getattr(lib, kind.status): kind for kind in Error.__subclasses__()}


def text_of(pointer: Any) -> str:
    """A C string as text; empty for NULL."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


def chain(first: Any) -> list[Any]:
    """Messages that are linked by `next`."""
    found: list[Any] = []
    while first != ffi.NULL:
        found.append(first)
        first = first.next
    return found


def _formatted(diagnostic: Any) -> str:
    """A message as a compiler prints it, with its source line and its notes."""
    ctx, arena, out = ffi.new("tsr_context **"), ffi.new("tsr_arena **"), ffi.new("char **")
    if lib.tsr_context_create(ffi.NULL, ctx) < 0:
        return text_of(diagnostic.text)
    try:
        if (
            lib.tsr_arena_create(ctx[0], arena) < 0
            or lib.tsr_diagnostic_format(ctx[0], arena[0], diagnostic, False, out) < 0
        ):
            return text_of(diagnostic.text)
        return text_of(out[0]).rstrip("\n")
    finally:
        lib.tsr_arena_destroy(arena[0])
        lib.tsr_context_destroy(ctx[0])


def error_of(ctx: Any, status: int) -> Error:
    """The exception of a failure; the messages are taken out of the context."""
    error = error_from(lib.tsr_context_diagnostics(ctx), status)
    lib.tsr_context_clear(ctx)
    return error


def error_from(messages: Any, status: int) -> Error:
    """The exception of a failure with these messages."""
    kind = _CLASSES.get(status, Error)
    errors = [one for one in chain(messages) if one.severity == lib.TSR_ERROR and not one.follow_up]
    if not errors:
        return kind(text_of(lib.tsr_status_name(status)))
    first = errors[0]
    place = None
    if first.line > 0:
        name = text_of(first.file) or None
        place = Place(name, first.line, first.column)
    notes = tuple(text_of(note.text) for one in errors for note in chain(one.notes))
    message = "\n".join(text_of(one.text) for one in errors)
    text = "\n".join(_formatted(one) for one in errors) if place else ""
    return kind(message, place, notes, text)


def fail(ctx: Any, status: int) -> NoReturn:
    """Raises the exception of a failure."""
    raise error_of(ctx, status)


def check(ctx: Any, status: int) -> None:
    """Raises the exception of a status that is a failure."""
    if status < 0:
        raise error_of(ctx, status)

"""A context of the library and an arena in it: what a Python object owns in C."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tessera._binding import ffi, lib
from tessera._errors import OutOfMemoryError, check, text_of


def address_of(array: NDArray[Any]) -> Any:
    """The address of an array's first element."""
    return ffi.cast("void *", array.__array_interface__["data"][0])


class Arena:
    """Owns a context and an arena, and frees both. One thread at a time may add to it."""

    __slots__ = ("__weakref__", "arena", "ctx")

    ctx: Any
    arena: Any

    def __init__(self) -> None:
        self.ctx = ffi.NULL
        self.arena = ffi.NULL
        ctx, arena = ffi.new("tsr_context **"), ffi.new("tsr_arena **")
        if lib.tsr_context_create(ffi.NULL, ctx) < 0:
            raise OutOfMemoryError("cannot allocate a context")
        self.ctx = ctx[0]
        check(self.ctx, lib.tsr_arena_create(self.ctx, arena))
        self.arena = arena[0]

    def __del__(self) -> None:
        # At the end of the interpreter the names of this module may be gone already.
        if lib is not None and self.ctx:
            lib.tsr_arena_destroy(self.arena)
            lib.tsr_context_destroy(self.ctx)

    def check(self, status: int) -> None:
        """Raises the exception of a status that is a failure."""
        check(self.ctx, status)

    def text(self, call: Any, *arguments: Any) -> str:
        """The text that a call writes to its last argument, a `const char **`."""
        out = ffi.new("char **")
        check(self.ctx, call(self.ctx, self.arena, *arguments, out))
        return text_of(out[0])

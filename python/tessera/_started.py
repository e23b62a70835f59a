"""Collectives of typed code that were started: values that exist once they have been waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tessera._binding import ffi, lib
from tessera._errors import InvalidError

if TYPE_CHECKING:
    from tessera._array import Array
    from tessera._world import World

__all__ = ["Started", "refuse_started"]


class Started:
    """A collective that was started; :meth:`wait` gives its value, exactly once.

    Until then nothing else can be done with it: it is not an array. Leaving the
    :func:`~tessera.spmd.scope` without waiting is an error that names the call.
    """

    __slots__ = ("_call", "_numbers", "_waited", "_world")

    _world: World

    def __init__(self, world: World, call: str, numbers: Any) -> None:
        self._world = world
        self._call = call
        self._numbers = numbers
        self._waited = False

    def wait(self) -> Array:
        """Waits for the collective and gives its value, which the blocking call would give."""
        if self._waited:
            raise InvalidError(f"{self._call} was waited for already: wait for each exactly once")
        given = ffi.new("tp_arguments *", {"numbers": self._numbers})
        made: Array = self._world._call(lib.TP_WAIT, ffi.NULL, (), given)
        self._waited = True
        return made

    def __repr__(self) -> str:
        return f"<{self._call}, {'waited for' if self._waited else 'started'}>"

    # ---- what an array can do, and this cannot ----

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        done = "was waited for" if self._waited else "was started and not waited for"
        raise InvalidError(f"{self._call} {done}: wait() gives its value, which is used instead")

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "_repr_", "_ipython_")):
            raise AttributeError(name)
        self._refuse()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = __pow__ = __rpow__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _refuse
    __neg__ = __abs__ = __invert__ = __getitem__ = __len__ = __iter__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = __int__ = _refuse
    __array__ = __array_ufunc__ = __array_function__ = __dlpack__ = _refuse


def refuse_started(operand: object) -> None:
    """Refuses a collective that was only started, where an array is needed."""
    if isinstance(operand, Started):
        operand._refuse()

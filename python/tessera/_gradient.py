"""Gradients: a tape of calls and its backward; steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from tessera._array import Array, _function
from tessera._binding import ffi, lib
from tessera._errors import InvalidError

if TYPE_CHECKING:
    from tessera._world import World

__all__ = ["Tape", "adam_step", "grad", "sgd_step", "stop_gradient", "value_and_grad"]


class Tape:
    """Records the calls on watched arrays between its beginning and its end.

    >>> import numpy as np, tessera as ts
    >>> with ts.World("x=2") as world:
    ...     w = world.array(np.array([1.0, 2.0, 3.0]), "P('x')")
    ...     with ts.Tape(world) as tape:
    ...         tape.watch(w)
    ...         tape.backward((w * w).sum())
    ...         print(np.asarray(tape.gradient(w)))
    [2. 4. 6.]
    """

    def __init__(self, world: World) -> None:
        self._world = world

    def __enter__(self) -> Tape:
        self._world._call(lib.TP_WORLD, _function("tsr_tape_begin"), (), results=0)
        self._world._tapes += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._world._tapes -= 1
        if not self._world.closed:
            self._world._call(lib.TP_WORLD_VOID, _function("tsr_tape_end"), (), results=0)

    def watch(self, *arrays: Array) -> None:
        """Requests the gradients of arrays of floats."""
        for array in arrays:
            self._world._call(lib.TP_EFFECT, _function("tsr_watch"), (array,), results=0)

    @contextmanager
    def paused(self) -> Generator[None, None, None]:
        """In it nothing is recorded."""
        self._world._call(lib.TP_WORLD_VOID, _function("tsr_tape_pause"), (), results=0)
        try:
            yield
        finally:
            if not self._world.closed:
                self._world._call(lib.TP_WORLD_VOID, _function("tsr_tape_resume"), (), results=0)

    def backward(self, value: Array, cotangent: Array | None = None) -> None:
        """Runs the backward of a loss without dimensions, or of any value with its cotangent."""
        if cotangent is None:
            self._world._call(lib.TP_EFFECT, _function("tsr_backward"), (value,), results=0)
        else:
            function = _function("tsr_backward_from")
            self._world._call(lib.TP_EFFECT, function, (value, cotangent), results=0)

    def gradient(self, array: Array) -> Array:
        """The gradient of a watched array; zeros when the loss does not depend on it."""
        made: Array = self._world._call(lib.TP_TENSORS, _function("tsr_gradient"), (array,))
        return made


def _items(tree: Any) -> list[tuple[Any, Any]]:
    """What a list, a tuple or a mapping holds; nothing of other values."""
    if isinstance(tree, dict):
        return list(tree.items())
    return list(enumerate(tree)) if isinstance(tree, (list, tuple)) else []


def _leaves(tree: Any) -> list[Array]:
    """The arrays in nested lists, tuples and mappings, in order."""
    if isinstance(tree, Array):
        return [tree]
    return [leaf for _, value in _items(tree) for leaf in _leaves(value)]


def _rebuild(tree: Any, of: Callable[[Array], Any], other: Callable[[Any], Any]) -> Any:
    """The same nesting with something in place of each array, and of any other leaf."""
    if isinstance(tree, Array):
        return of(tree)
    if not isinstance(tree, (dict, list, tuple)):
        return other(tree)
    made = {key: _rebuild(value, of, other) for key, value in _items(tree)}
    if isinstance(tree, dict):
        return made
    make = getattr(cast(Any, tree), "_make", None)  # of a named tuple
    return type(tree)(made.values()) if make is None else make(made.values())


def stop_gradient(tree: Any) -> Any:
    """Copies of arrays through which no gradient flows: constants of a loss.

    ``tree`` is an array, or a list, a tuple or a mapping of them; other leaves are handed on.

    >>> import numpy as np, tessera as ts
    >>> with ts.World(2) as world:
    ...     w = world.array(np.array([3.0, 4.0]), "P('x')")
    ...     def loss(w):
    ...         return (w / float(ts.stop_gradient(w).sum())).sum()
    ...     print(np.asarray(ts.grad(loss)(w)) * 7)
    [1. 1.]
    """
    return _rebuild(tree, lambda one: one._unary("tsr_stop_gradient"), lambda leaf: leaf)


def value_and_grad(
    function: Callable[..., Array], argnums: int | Sequence[int] = 0
) -> Callable[..., tuple[Array, Any]]:
    """A function that gives the value of another, without dimensions, and gradients.

    Those are of the arguments ``argnums``, which are arrays, or lists, tuples and mappings of them;
    the gradient of a leaf that is not an array is None.

    >>> import numpy as np, tessera as ts
    >>> with ts.World(2) as world:
    ...     w = {"w": world.array(np.array([3.0, 4.0]), "P('x')")}
    ...     loss, gradient = ts.value_and_grad(lambda p: (p["w"] * p["w"]).sum())(w)
    ...     print(float(loss), np.asarray(gradient["w"]))
    25.0 [6. 8.]
    """
    numbers = [argnums] if isinstance(argnums, int) else list(argnums)

    def call(*arguments: Any) -> tuple[Array, Any]:
        wanted = [arguments[number] for number in numbers]
        watched = _leaves(wanted)
        if not watched:
            raise InvalidError(f"the arguments {numbers} contain no array to differentiate by")
        with Tape(watched[0].world) as tape:
            tape.watch(*watched)
            value = function(*arguments)
            tape.backward(value)
            found = [_rebuild(one, tape.gradient, lambda leaf: None) for one in wanted]
        return value, found[0] if isinstance(argnums, int) else tuple(found)

    return call


def grad(function: Callable[..., Array], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that gives the gradients of another; see :func:`value_and_grad`."""
    both = value_and_grad(function, argnums)

    def call(*arguments: Any) -> Any:
        return both(*arguments)[1]

    return call


def sgd_step(
    parameter: Any,
    gradient: Array | None,
    *,
    learning_rate: float,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    velocity: Array | None = None,
) -> None:
    """A step of stochastic gradient descent: changes the parameter, and the velocity.

    What has no gradient, None, stays as it is.
    """
    if gradient is None:
        return
    options = ffi.new(
        "tsr_sgd_options *",
        {
            "learning_rate": learning_rate,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
        },
    )
    given = ffi.new("tp_arguments *", {"sgd": options})
    parameter._world._call(lib.TP_SGD, ffi.NULL, (parameter, gradient, velocity), given, 0)


def adam_step(
    parameter: Any,
    gradient: Array | None,
    mean: Array | None,
    square: Array | None,
    step: int,
    *,
    learning_rate: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 0.0,
    decoupled: bool = False,
) -> None:
    """A step of Adam, or of AdamW where ``decoupled``: changes the parameter, mean and square.

    What has no gradient, None, stays as it is.
    """
    if gradient is None:
        return
    options = ffi.new(
        "tsr_adam_options *",
        {
            "learning_rate": learning_rate,
            "beta1": beta1,
            "beta2": beta2,
            "epsilon": epsilon,
            "weight_decay": weight_decay,
            "decoupled": decoupled,
        },
    )
    given = ffi.new("tp_arguments *", {"adam": options, "i": step})
    parameter._world._call(lib.TP_ADAM, ffi.NULL, (parameter, gradient, mean, square), given, 0)

"""Functions of NumPy that are called with arrays: computed on the ranks where there is an op.

``numpy.exp(x)`` is ``tessera.exp(x)``. A universal function gives an array, or is refused where
NumPy would convert the element type or there is no op. Another function whose op gives what NumPy
gives is that op too; any other gets the whole arrays, as ``numpy.asarray`` gives them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tessera import _ops
from tessera._array import Array
from tessera._errors import InvalidError, UnsupportedError

# What NumPy 1 calls some functions.
_OLD_NAMES = {"true_divide": "divide", "amax": "max", "amin": "min"}


def _is_real(x: Array) -> bool:
    return x.dtype.kind != "c"


def _is_truth(x: Array) -> bool:
    return x.dtype.kind == "b"


def _always(x: Array) -> bool:
    return True


# Functions that NumPy and an op compute alike, and for which arrays: asked of the first operand.
_FUNCTIONS: dict[str, Callable[[Array], bool]] = {
    "all": _is_truth,
    "any": _is_truth,
    "argmax": _always,
    "argsort": _always,
    "broadcast_to": _always,
    "clip": _always,
    "concatenate": _always,
    "cumsum": _always,
    "einsum": _always,
    "max": _always,
    "mean": _is_real,
    "min": _always,
    "prod": _always,
    "reshape": _always,
    "sort": _always,
    "split": _always,
    "stack": _always,
    "sum": _always,
    "transpose": _always,
    "where": _always,
}
_PROPERTIES = ("ndim", "shape", "size")


def _name_of(function: Any) -> str:
    name: str = function.__name__
    return _OLD_NAMES.get(name, name)


def call_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Array:
    """A universal function with an array among its operands, ``ndarray + array`` too."""
    name = _name_of(ufunc)
    op: Callable[..., Array] | None = getattr(_ops, name, None) if name in _ops.__all__ else None
    if op is None or method != "__call__":
        whole = name if method == "__call__" else f"{name}.{method}"
        raise UnsupportedError(
            f"{whole} is not supported for arrays on ranks; numpy.asarray(x) is the whole array"
        )
    if options:
        raise InvalidError(f"numpy.{name} of an Array takes no {', '.join(options)}")
    if name == "divide":
        return _quotient(*inputs)
    return op(*inputs)


def _quotient(a: Any, b: Any) -> Array:
    """With the operator of whichever is an array: ``tessera.divide`` rounds integers."""
    quotient: Array = a / b if isinstance(a, Array) else b.__rtruediv__(a)
    return quotient


def _arrays_in(value: Any) -> Iterator[Array]:
    if isinstance(value, Array):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _arrays_in(one)


def _whole(value: Any, name: str) -> Any:
    """The same with whole arrays of NumPy, in lists and tuples too, for a function of that name."""
    if isinstance(value, Array):
        return value._whole(name)
    if isinstance(value, (list, tuple)):
        made = [_whole(one, name) for one in value]
        return made if isinstance(value, list) else tuple(made)
    return value


def _takes(op: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether an op has these arguments; None only where that is its default.

    What NumPy has at the place of a switch, such as the kind of a sort, is not a truth value.
    """
    signature = inspect.signature(op)
    try:
        given = signature.bind(*args, **options).arguments
    except TypeError:
        return False
    for name, value in given.items():
        default = signature.parameters[name].default
        if value is None and default is not None:
            return False
        if isinstance(default, bool) and not isinstance(value, (bool, np.bool_)):
            return False
    return True


def call_function(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A function of NumPy with an array among its arguments."""
    name = _name_of(function)
    first = next(_arrays_in(args), None)
    if name in _PROPERTIES and len(args) == 1 and isinstance(args[0], Array) and not options:
        return getattr(args[0], name)
    is_same = _FUNCTIONS.get(name)
    if name == "where":
        first = next(_arrays_in(args[1:]), None)  # of what is chosen from
    if is_same is not None and first is not None and is_same(first):
        op: Callable[..., Any] = getattr(_ops, name)
        if _takes(op, args, options):
            return op(*args, **options)
    called = f"{function.__module__}.{function.__name__}"
    whole = {key: _whole(value, called) for key, value in options.items()}
    return function(*(_whole(one, called) for one in args), **whole)

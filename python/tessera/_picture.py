"""Pictures of what each device holds: boxes in a terminal, SVG in a notebook."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from tessera._array import Array
from tessera._errors import InvalidError
from tessera._optional import optional
from tessera._sharding import Sharding

__all__ = ["show"]


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def show(
    x: Array | Sharding | Any,
    shape: Sequence[int] | None = None,
    *,
    unicode: bool | None = None,
    colour: bool | None = None,
) -> None:
    """Draws what each device holds of an array, or of a tensor of that shape under a sharding.

    In a notebook the picture is SVG, elsewhere text: with colours on a terminal, unless NO_COLOR is
    set.

    >>> import tessera as ts
    >>> ts.show(ts.Sharding("P('x', 'y')", "x=2, y=2"), (4, 6), unicode=False)
           0:3     3:6
        +-------+-------+
    0:2 |   0   |   1   |
        +-------+-------+
    2:4 |   2   |   3   |
        +-------+-------+
    """
    sharding = x.sharding if isinstance(x, Array) else x
    if not isinstance(sharding, Sharding):
        sharding = Sharding(sharding, shape=shape)
    found = x.shape if isinstance(x, Array) else shape
    if found is None:
        raise InvalidError("a sharding is drawn for a shape: show(sharding, (4, 8))")
    if _in_notebook():
        display = optional("IPython.display")
        display.display(display.SVG(sharding.svg(found)))
        return
    out = sys.stdout
    terminal = out.isatty()
    plain = os.environ.get("NO_COLOR") is not None
    encoding = (getattr(out, "encoding", None) or "").lower().replace("-", "")
    text = sharding.show(
        found,
        unicode=encoding == "utf8" if unicode is None else unicode,
        colour=(terminal and not plain) if colour is None else colour,
    )
    out.write(text)

"""Programs in a notebook: a table of arguments and results with pictures."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from tessera._errors import Error
from tessera._records import ProgramTensor

if TYPE_CHECKING:
    from tessera._program import Program

_MAX_ROWS = 200
_MAX_PICTURES = 16
_MAX_DEVICES = 64


def html_of(program: Program) -> str:
    """The table of a program's arguments and results."""
    rows = [("argument", one) for one in program.inputs]
    rows += [("result", one) for one in program.outputs]
    meshes = "; ".join(f"@{name} = {mesh}" for name, mesh in program.meshes.items())
    pictures = _MAX_PICTURES
    lines = ["<table>", f"<caption>{escape(meshes or 'no mesh')}</caption>"]
    lines.append(
        "<tr><th></th><th>name</th><th>value</th><th>type</th><th>sharding</th><th>devices</th></tr>"
    )
    for kind, one in rows[:_MAX_ROWS]:
        picture = _picture(one) if pictures > 0 else ""
        pictures -= picture != ""
        sharding = one.sharding.bare_text() if one.sharding else "none"
        cells = [escape(cell) for cell in (kind, one.name, one.value, one.type, sharding)]
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in [*cells, picture]) + "</tr>")
    if len(rows) > _MAX_ROWS:
        lines.append(f"<tr><td colspan='6'>and {len(rows) - _MAX_ROWS} more</td></tr>")
    return "\n".join([*lines, "</table>"])


def _picture(one: ProgramTensor) -> str:
    """The picture of a tensor that is spread over some devices; empty where there is none."""
    shape = one.static_shape
    if one.sharding is None or shape is None or one.sharding.mesh.size > _MAX_DEVICES:
        return ""
    try:
        text = one.sharding.svg(shape)
    except Error:
        return ""
    # As an image: its style sheet stays its own.
    data = b64encode(text.encode()).decode()
    return f'<img alt="{escape(one.name)}" src="data:image/svg+xml;base64,{data}"/>'

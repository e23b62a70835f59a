"""Notebooks and tables: IPython shows what objects say of themselves, pandas takes records."""

import numpy as np
import pytest

import tessera as ts

MLIR = """
sdy.mesh @mesh = <["dp"=2, "tp"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>},
                %w: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>})
    -> tensor<8x6xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
"""


@pytest.fixture
def shell():
    """A shell that takes itself for a notebook's."""
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    kind = type("ZMQInteractiveShell", (InteractiveShell,), {})
    made = kind.instance(history_length=0)
    made.history_manager.enabled = False
    yield made
    kind.clear_instance()


def shown(shell, value):
    return shell.display_formatter.format(value)[0]


def test_pictures(shell, worlds):
    sharding = ts.Sharding("P('dp', 'tp')", "dp=2, tp=2")
    data = shown(shell, sharding)
    assert "<svg" in data["image/svg+xml"] and data["text/plain"] == repr(sharding)
    x = worlds(4).array(np.ones((4, 6)), "P('a', 'b')")
    data = shown(shell, x)
    assert "<svg" in data["image/svg+xml"] and data["text/plain"] == repr(x)


def test_show_displays_svg(shell, capsys):
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        ts.show(ts.Sharding("P('dp', 'tp')", "dp=2, tp=2"), (4, 6))
    (output,) = captured.outputs
    assert "<svg" in output.data["image/svg+xml"]


def test_programs_and_traces(shell, worlds):
    program = ts.Program(MLIR)
    data = shown(shell, program.propagate())
    assert "<table>" in data["text/html"] and "dp" in data["text/html"]
    assert "<td>stablehlo.dot_general</td>" in shown(shell, program.shardings())["text/html"]
    told = program.explain("%y")
    assert shown(shell, told)["text/html"].startswith("<pre>%y (line 6): tensor&lt;8x6xf32&gt;")
    assert shown(shell, told[0])["text/html"] == shown(shell, told)["text/html"]
    assert shown(shell, program.check())["text/html"] == "<pre>no findings</pre>"
    world = worlds(4)
    with world.trace() as moved:
        world.ones((4, 4), "P('a', None)").redistribute("P(None, 'a')")
    assert "<td>all-to-all</td>" in shown(shell, moved)["text/html"]


def test_frames(worlds):
    pandas = pytest.importorskip("pandas")
    program = ts.Program(MLIR).propagate()
    frame = pandas.DataFrame(program.table())
    assert frame["name"].tolist() == [one.name for one in program.shardings()]
    assert frame.set_index("op").loc["stablehlo.dot_general", "sharding"] == '[{"dp"}, {"tp"}]'
    world = worlds(4)
    with world.trace() as moved:
        world.ones((4, 4), "P('a', None)").redistribute("P(None, 'a')")
    assert pandas.DataFrame(moved.records())["collective"].tolist() == ["all-to-all"]
    assert pandas.DataFrame(moved)["bytes_moved"].tolist() == [one.bytes_moved for one in moved]
    table = ts.Sharding("P('dp')", "dp=3").table((7,))
    assert pandas.DataFrame(table)["device"].tolist() == [0, 1, 2]

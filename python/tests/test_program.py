"""Programs: reading, annotations, propagation, reasons, findings, runs."""

import dataclasses
import gc
import pathlib
import pickle
import threading

import numpy as np
import pytest

import tessera as ts

LAYER = """
sdy.mesh @mesh = <["dp"=2, "tp"=4]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>},
                %w: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>})
    -> tensor<8x4xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %z = stablehlo.tanh %y : tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}
"""
# Python's names are those of locations and of jax.result_info.
NAMED = """
module {
  func.func @main(%arg0: tensor<8xf32> loc("state"), %arg1: tensor<8xf32> loc("grad"))
      -> (tensor<8xf32> {jax.result_info = "new['state']"}) {
    %0 = func.call @step(%arg0, %arg1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func private @step(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.subtract %arg0, %arg1 : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
"""
DISAGREE = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> tensor<8x8xf32> {
  %c = stablehlo.add %a, %b : tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}
"""
# exp of a product whose sum over the contracted dimension is still pending along tp.
PENDING = """
sdy.mesh @mesh = <["tp"=4]>
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%x, %w)
      in_shardings=[<@mesh, [{}, {"tp"}]>, <@mesh, [{"tp"}, {}]>]
      out_shardings=[<@mesh, [{}, {}]>] manual_axes={"tp"}
      (%a: tensor<8x4xf32>, %b: tensor<4x4xf32>) {
    %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.exponential %1 : tensor<8x4xf32>
    sdy.return %2 : tensor<8x4xf32>
  } : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""


def unary(op, kind, shape="6"):
    return ts.Program(
        f"func.func @main(%x: tensor<{shape}x{kind}>) -> tensor<{shape}x{kind}> {{\n"
        f"  %y = stablehlo.{op} %x : tensor<{shape}x{kind}>\n"
        f"  return %y : tensor<{shape}x{kind}>\n}}"
    )


# ---- sources ----


def test_sources(tmp_path):
    path = tmp_path / "layer.mlir"
    path.write_text(LAYER)
    wanted = str(ts.Program(LAYER))
    for source in (LAYER.encode(), bytearray(LAYER.encode()), path, str(path), ts.Program(LAYER)):
        assert str(ts.Program(source)) == wanted
    assert str(ts.Program("module {}")) == str(ts.Program(b"")) == "module {\n}\n"
    unnamed = tmp_path / "no suffix"
    unnamed.write_text(LAYER)
    assert str(ts.Program(str(unnamed))) == wanted


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        (
            "",
            ts.InvalidError,
            "neither a file nor a program: the file does not exist,",
        ),
        ("no_such.mlir", ts.InvalidError, "neither"),
        ("a\0b", ts.InvalidError, "neither"),
        (pathlib.Path("no_such.mlir"), ts.InvalidError, r"cannot read no_such\.mlir: No such file"),
        (pathlib.Path("a\0b"), ts.InvalidError, "zero byte"),
        ("/", ts.InvalidError, "not a regular file"),
        (pathlib.Path("/"), ts.InvalidError, "not a regular file"),
        (b"\0\1\2\n", ts.ParseError, "unexpected character"),
        (b"\xff\xfe{", ts.ParseError, "unexpected character"),
        (b"ML\xefR\x06", ts.UnsupportedError, "bytecode"),
        ("\ud800\n", ts.ParseError, "unexpected character"),
        ("{" * 100_000, ts.Error, "error: "),
        ("module {\n" * 50_000, ts.Error, "error: "),
        (3, ts.InvalidError, "not from int"),
        (None, ts.InvalidError, "not from NoneType"),
        (np.ones(3), ts.InvalidError, "not from ndarray"),
    ],
)
def test_no_program(source, kind, message):
    with pytest.raises(kind, match=message):
        ts.Program(source)


def test_errors_have_places(tmp_path):
    text = "func.func @main(%x: tensor<4xf32>) {\n  %y = stablehlo.add %x, %q : tensor<4xf32>\n}"
    with pytest.raises(ts.Error) as caught:
        ts.Program(text)
    assert (caught.value.place.file, caught.value.place.line) == ("<text>", 2)
    assert caught.value.place.column == text.split("\n")[1].index("%q") + 1
    path = tmp_path / "wrong.mlir"
    path.write_text(LAYER.replace('{"tp"}', '{"pp"}'))
    with pytest.raises(ts.InvalidError, match="pp") as caught:
        ts.Program(path)
    assert caught.value.place.file == str(path)
    assert caught.value.place.line == 3
    with pytest.raises(ts.ParseError, match="different type") as caught:
        ts.Program(LAYER.replace("%y : tensor<8x4xf32>", "%y : tensor<8x5xf32>"))
    assert caught.value.place.line == 8


def test_unregistered():
    text = 'func.func @main() {\n  "mine.op"() : () -> ()\n  return\n}'
    with pytest.raises(ts.Error, match=r"mine") as caught:
        ts.Program(text)
    assert caught.value.place.line == 2
    program = ts.Program(text, allow_unregistered=True)
    assert '"mine.op"() : () -> ()' in str(program)
    assert '"mine.op"' in str(pickle.loads(pickle.dumps(program)))
    assert '"mine.op"' in str(program.clone())


def test_text():
    program = ts.Program(LAYER)
    assert str(ts.Program(str(program))) == str(program) == program.text()
    assert '"stablehlo.tanh"(' in program.text(generic=True)
    assert "loc(" in program.text(locations=True)
    assert "loc(" not in str(program)
    assert str(ts.Program(program.text(generic=True))) == str(program)
    assert repr(program) == (
        "Program((%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>), 6 ops)"
    )
    assert str(pickle.loads(pickle.dumps(program))) == str(program)


def test_the_text_outlives_its_names():
    """Large constants stay where they are in the text."""
    values = np.arange(4096, dtype="<f4")
    text = (
        "func.func @main() -> tensor<4096xf32> {\n"
        f'  %c = stablehlo.constant dense<"0x{values.tobytes().hex()}"> : tensor<4096xf32>\n'
        "  return %c : tensor<4096xf32>\n}"
    )
    made = ts.Program(text).clone().propagate()
    del text
    gc.collect()
    keep = [b"\xee" * 40_000 for _ in range(50)]
    np.testing.assert_array_equal(made.evaluate()[0], values)
    assert values.tobytes().hex().upper() in str(made)
    assert len(keep) == 50


# ---- what it has ----


def test_signature():
    program = ts.Program(LAYER)
    assert program.meshes == {"mesh": ts.Mesh("dp=2, tp=4")}
    assert program.meshes["mesh"].name == "mesh"
    x, w = program.inputs
    assert (x.name, x.value, x.shape, x.dtype, x.type) == (
        "%x",
        "%x",
        (8, 16),
        "f32",
        "tensor<8x16xf32>",
    )
    assert x.sharding == ts.Sharding("P('dp', None)", "dp=2, tp=4")
    assert w.sharding == ts.Sharding("P(None, 'tp')", "dp=2, tp=4")
    assert pickle.loads(pickle.dumps(x)) == x
    (z,) = program.outputs
    assert (z.name, z.value, z.shape, z.sharding) == ("result0", "result0", (8, 4), None)


def test_signature_of_names_and_other_types():
    program = ts.Program(NAMED)
    assert [(one.name, one.value) for one in program.inputs] == [
        ("state", "%arg0"),
        ("grad", "%arg1"),
    ]
    assert [(one.name, one.value) for one in program.outputs] == [("new['state']", "result0")]
    program = ts.Program(
        "func.func @main(%x: tensor<?x4xbf16>, %t: !stablehlo.token, %s: tensor<complex<f64>>) {\n"
        "  return\n}"
    )
    assert [one.shape for one in program.inputs] == [(None, 4), None, ()]
    assert [one.dtype for one in program.inputs] == ["bf16", None, "complex<f64>"]
    assert [one.static_shape for one in program.inputs] == [None, None, ()]
    assert ts.Program("module {}").inputs == ts.Program("module {}").outputs == ()


def test_strange_names_of_meshes():
    text = 'sdy.mesh @"my \\22mesh\\22\\\\ \\C3\\A9" = <["x"=2]>'
    assert list(ts.Program(text).meshes) == ['my "mesh"\\ é']


def test_shardings():
    program = ts.Program(LAYER)
    found = program.shardings()
    assert [(one.name, one.line, one.op, one.function) for one in found] == [
        ("%x", None, None, "main"),
        ("%w", None, None, "main"),
        ("%y", 6, "stablehlo.dot_general", "main"),
        ("%z", 8, "stablehlo.tanh", "main"),
    ]
    assert [one.sharding is None for one in found] == [False, False, True, True]
    done = program.propagate()
    assert [one.sharding.to("jax") for one in done.shardings()] == [
        "P('dp', None)",
        "P(None, 'tp')",
        "P('dp', 'tp')",
        "P('dp', 'tp')",
    ]
    # 8 x 4 floats on 2 x 4 devices
    assert [one.bytes_per_device for one in done.shardings()] == [256, 64, 16, 16]
    assert done.table()[3] == {
        "name": "%z",
        "function": "main",
        "line": 8,
        "op": "stablehlo.tanh",
        "type": "tensor<8x4xf32>",
        "sharding": '[{"dp"}, {"tp"}]',
        "mesh": '<["dp"=2, "tp"=4]>',
        "bytes_per_device": 16,
    }
    assert program.table()[3]["sharding"] is None
    assert dataclasses.asdict(found[2])["shape"] == (8, 4)


def test_shardings_of_one_function():
    program = ts.Program(NAMED)
    assert [(one.function, one.name) for one in program.shardings()] == [
        ("main", "%arg0"),
        ("main", "%arg1"),
        ("main", "%0"),
        ("step", "%arg0"),
        ("step", "%arg1"),
        ("step", "%0"),
    ]
    assert [one.op for one in program.shardings("step")] == [None, None, "stablehlo.subtract"]
    with pytest.raises(ts.InvalidError, match="no function stop"):
        program.table("stop")


def test_shardings_in_regions_and_nested_modules():
    text = """
module {
  module @inner {
    func.func @f(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
      %r = "stablehlo.if"(%p) ({
        %a = stablehlo.negate %x : tensor<8xf32>
        stablehlo.return %a : tensor<8xf32>
      }, {
        stablehlo.return %x : tensor<8xf32>
      }) : (tensor<i1>) -> tensor<8xf32>
      return %r : tensor<8xf32>
    }
  }
}"""
    found = ts.Program(text).shardings()
    assert sorted((one.function, one.name) for one in found) == [
        ("f", "%a"),
        ("f", "%p"),
        ("f", "%r"),
        ("f", "%x"),
    ]


def test_odd_programs():
    declared = ts.Program("func.func private @main(tensor<4xf32>) -> tensor<4xf32>\n")
    assert declared.inputs == ()
    assert declared.outputs[0].shape == (4,)
    with pytest.raises(ts.UnsupportedError, match="without a body"):
        declared.evaluate()
    huge = ts.Program(
        'sdy.mesh @m = <["a"=1048576, "b"=1048576]>\n'
        'func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"b"}]>})'
        " {\n  return\n}"
    )
    assert huge.table()[0]["bytes_per_device"] == 4
    assert "<img" not in huge._repr_html_()
    with pytest.raises(ts.InvalidError, match="none of them named main"):
        ts.Program("func.func @a() {\n return\n}\nfunc.func @b() {\n return\n}").propagate()
    with pytest.raises(ts.UnsupportedError, match="tuple"):
        ts.Program("func.func @main(%x: tuple<tensor<i32>>) {\n return\n}").evaluate(1)


# ---- changes ----


def test_annotate_arguments_and_results():
    program = ts.Program(NAMED)
    mesh = ts.Mesh("x=2, y=4")
    wanted = ts.Sharding("P('x')", mesh)
    assert program.annotate("state", "P('x')", mesh=mesh) is program
    assert program.inputs[0].sharding == wanted
    assert program.annotate("%arg1", wanted).inputs[1].sharding == wanted
    program.annotate(1, "P('y')", mesh="x=2, y=4")
    assert program.inputs[1].sharding == ts.Sharding("P('y')", mesh)
    program.annotate(arg=1, layout='[{"x", ?}]', mesh=mesh)
    assert program.inputs[1].sharding.dims[0].open
    for way in ("result0", "new['state']"):
        program.annotate(way, '[{"y"}]', mesh=mesh)
        assert program.outputs[0].sharding == ts.Sharding("P('y')", mesh)
        program.annotate(result=0, layout="P()", mesh=mesh)
        assert program.outputs[0].sharding.is_replicated
    # of equal names main's
    assert ts.Program(NAMED).annotate("%0", "P('x')", mesh=mesh).table()[3]["function"] == "main"


def test_annotate_values():
    program = ts.Program(LAYER)
    program.annotate("%y", '[{}, {"tp", ?}]').annotate("%z", 'P("dp")')
    assert str(program).count("sdy.sharding_constraint") == 2
    assert '<@mesh, [{}, {"tp", ?}]>' in str(program)
    assert [one.name for one in program.shardings()] == ["%x", "%w", "%y", "%y", "%z", "%z"]
    # again: in place of what was there
    program.annotate("%y", '[{}, {"tp"}]')
    assert str(program).count("sdy.sharding_constraint") == 2
    assert '<@mesh, [{}, {"tp"}]>' in str(program)
    # names stay those of the source
    program.annotate("%w", "P()")
    assert program.inputs[1].sharding.is_replicated
    # a mesh of the program by its name, its text, its equal of another name
    other = ts.Mesh("dp=2, tp=4", name="other")
    for mesh in ("mesh", "@mesh", "dp=2, tp=4", other):
        program.annotate("%w", "P('tp', 'dp')", mesh=mesh)
        assert '#sdy.sharding<@mesh, [{"tp"}, {"dp"}]>' in str(program)
        program.annotate("%w", "P()")
    # another mesh of the same name
    wrong = ts.Sharding("P('q')", ts.Mesh("q=4", name="mesh"), ndim=2)
    program.annotate("%w", wrong)
    assert program.inputs[1].sharding.mesh == ts.Mesh("q=4")
    program.annotate("%w", ts.Sharding("P()", "dp=2, tp=4", ndim=2)).propagate()


def test_failed_annotations_change_nothing():
    program = ts.Program(LAYER)
    before = str(program)
    for given, message in [
        ({"tensor": "%q", "layout": "P()"}, "no tensor %q"),
        ({"tensor": "result1", "layout": "P()"}, "no tensor result1"),
        ({"arg": 2, "layout": "P()"}, "main has 2 arguments, numbered from 0; 2 is out of range"),
        ({"result": -1, "layout": "P()"}, "main has 1 results"),
        ({"layout": "P()"}, "say one tensor"),
        ({"tensor": "%x", "arg": 0, "layout": "P()"}, "say one tensor"),
        ({"tensor": "%x"}, "give a layout"),
        ({"tensor": "%x", "layout": "P('q')"}, "unknown axis"),
        ({"tensor": "%x", "layout": "P(None, None, 'dp')"}, "3 entries"),
        ({"tensor": "%x", "layout": "P('dp', 'dp')"}, "dp"),
        ({"tensor": "%x", "layout": 3}, "not int"),
    ]:
        with pytest.raises(ts.InvalidError, match=message):
            program.annotate(**given)
        assert str(program) == before
    with pytest.raises(ts.InvalidError, match="the program has no mesh; say which by mesh="):
        ts.Program(NAMED).annotate(0, "P('x')")
    two = ts.Program(NAMED.replace("{", '{ sdy.mesh @a = <["x"=2]>\nsdy.mesh @b = <["y"=2]>', 1))
    with pytest.raises(ts.InvalidError, match="several meshes: a, b"):
        two.annotate(0, "P('x')")
    assert "@b" in str(two.annotate(0, "P('y')", mesh="b"))
    with pytest.raises(ts.InvalidError, match="no main function"):
        ts.Program("module {}").annotate(0, "P()")


def test_propagate_leaves_the_program():
    program = ts.Program(LAYER)
    before = str(program)
    done = program.propagate()
    assert str(program) == before
    assert program.outputs[0].sharding is None
    assert done.outputs[0].sharding == ts.Sharding("P('dp', 'tp')", "dp=2, tp=4")
    assert done.inputs[0].sharding == program.inputs[0].sharding
    again = done.propagate()
    assert again.table() == done.table()
    # a copy is another program
    copy = program.clone().annotate("%w", "P()")
    assert str(program) == before != str(copy)
    assert copy.propagate().outputs[0].sharding.to("jax") == "P('dp', None)"
    # what passes have made of the text keeps its names
    assert done.annotate("%y", "P()").table()[3]["op"] == "sdy.sharding_constraint"


def test_priorities():
    first = LAYER.replace('[{"dp"}, {}]', '[{"dp"}p1, {}]')
    program = ts.Program(first)
    assert program.propagate(until_priority=0).outputs[0].sharding.to("jax") == "P(None, 'tp')"
    assert program.propagate(until_priority=1).outputs[0].sharding.to("jax") == "P('dp', 'tp')"
    assert 'has "tp"' in str(program.explain("%y", until_priority=0))
    assert 'has "dp"' not in str(program.explain("%y", until_priority=0))


def test_passes():
    program = ts.Program(LAYER.replace('{"dp"}, {}', '{"dp", ?}, {?}'))
    assert [dim.open for dim in program.inputs[0].sharding.dims] == [True, True]
    closed = program.run_pass("sdy-close-shardings")
    assert [dim.open for dim in closed.inputs[0].sharding.dims] == [False, False]
    rows = {one.name: one for one in ts.Program.passes()}
    options = {one.name: one.kind for one in rows["sdy-propagation-pipeline"].options}
    assert options["until-priority"] == "int"
    assert options["keep-sharding-rules"] == "bool"
    assert "sharding_rule" in str(program.propagate(keep_sharding_rules=True))
    assert "sharding_rule" not in str(program.propagate(keep_sharding_rules=False))
    with pytest.raises(ts.InvalidError, match="did you mean sdy-close-shardings"):
        program.run_pass("sdy-close-sharding")
    with pytest.raises(ts.InvalidError, match="lists them"):
        program.run_pass("")
    with pytest.raises(ts.InvalidError, match="has no option speed; it has: keep-sharding-rules"):
        program.propagate(speed=1)
    with pytest.raises(ts.InvalidError, match=r"until-priority of .* is int, not 'x'"):
        program.propagate(until_priority="x")
    with pytest.raises(ts.InvalidError, match="is int, not True"):
        program.propagate(until_priority=True)
    with pytest.raises(ts.InvalidError, match="it has: none"):
        program.run_pass("sdy-close-shardings", all=True)


def test_warnings():
    text = LAYER.replace("stablehlo.tanh %y :", "stablehlo.custom_call @mine(%y) :").replace(
        ": tensor<8x4xf32>\n  return", ": (tensor<8x4xf32>) -> tensor<8x4xf32>\n  return"
    )
    done = ts.Program(text).propagate()
    assert len(done.warnings) == 1
    assert done.warnings[0].startswith("<text>:8:")
    assert "custom call @mine has no sharding rule" in done.warnings[0]
    assert ts.Program(LAYER).propagate().warnings == ()


# ---- questions ----


def test_explain():
    program = ts.Program(LAYER)
    (z,) = program.explain("%z")
    assert str(z) == (
        '%z (line 8): tensor<8x4xf32> [{"dp", ?}, {"tp", ?}]\n'
        '  dim 0 has "dp" from argument 0 of @main (line 3), annotated [{"dp"}, {}]\n'
        "      to %y dim 0, by dot_general (line 6)\n"
        "      to %z dim 0, by tanh (line 8)\n"
        '  dim 1 has "tp" from argument 1 of @main (line 3), annotated [{}, {"tp"}]\n'
        "      to %y dim 1, by dot_general (line 6)\n"
        "      to %z dim 1, by tanh (line 8)"
    )
    assert [(one.dim, one.axis) for one in z.axes] == [(0, '"dp"'), (1, '"tp"')]
    assert z.axes[1].annotation == ts.Annotation(
        "argument", 1, "argument 1 of @main", '[{}, {"tp"}]', 3
    )
    assert [(hop.by, hop.tensor, hop.op, hop.line) for hop in z.axes[0].path] == [
        ("op", "%z", "stablehlo.tanh", 8),
        ("op", "%y", "stablehlo.dot_general", 6),
        ("annotated", "%x", None, None),
    ]
    assert z.conflicts == z.suggestions == ()
    assert str(program.explain(8)) == str(program.explain("8")) == str(z)
    everything = program.explain()
    assert [one.tensor for one in everything] == ["%x", "%w", "%y", "%z", "result 0 of @main"]
    assert str(everything).split("\n")[0].startswith("%x (line 3)")
    assert program.explain("result0")[0].tensor == "result 0 of @main"
    with pytest.raises(ts.InvalidError, match="unknown value %q;"):
        program.explain("%q")
    assert ts.Program(NAMED).explain() == []
    assert ts.Program(NAMED).annotate("grad", "P('x')", mesh="x=2").explain("grad")[0].axes
    # after passes the names are those of the source, too
    assert program.propagate().explain("%z")[0].tensor == "%z"


def test_conflicts_and_suggestions():
    program = ts.Program(DISAGREE)
    (c,) = program.explain("%c")
    assert c.axes == ()
    assert [(one.kind, one.dim, one.axis, one.line) for one in c.conflicts] == [
        ("undecided", 0, '"x"', 6),
        ("undecided", 0, '"y"', 6),
    ]
    first = c.conflicts[0]
    assert (first.wanted.tensor, first.wanted.axis) == ("%a", '"x"')
    assert (first.winner.tensor, first.winner.axis) == ("%b", '"y"')
    assert first.winner.annotation.sharding == '[{"y"}, {}]'
    assert first.reason in str(c)
    assert c.suggestions == (
        ts.Suggestion("%c", '[{"x", ?}, {?}]'),
        ts.Suggestion("%c", '[{"y", ?}, {?}]'),
    )
    for one, axis in zip(c.suggestions, "xy", strict=True):
        helped = program.clone().annotate(one.tensor, one.sharding).propagate()
        assert helped.outputs[0].sharding.to("jax") == f"P('{axis}', None)"
    assert program.explain("%c", suggest=False)[0].suggestions == ()
    assert "annotate %c" not in str(program.explain("%c", suggest=False))


def test_check():
    program = ts.Program(PENDING)
    findings = program.check()
    first = findings[0]
    line = PENDING[: PENDING.index("stablehlo.exponential")].count("\n") + 1
    assert (first.rule, first.name, first.severity) == (
        "TSR-C001",
        "pending-in-nonlinear",
        "error",
    )
    assert (first.axis, first.op, first.value) == ("tp", "stablehlo.exponential", "%1")
    assert (first.place.line, first.place.column) == (line, 10)
    assert first.source is None
    assert "psum" in first.remedy
    assert first.title
    assert [note.op for note in first.notes] == ["stablehlo.dot_general"]
    assert first.notes[0].place.line == line - 2
    assert str(findings).startswith(f"<text>:{line}:10: error: {first.message} [pending-in-")
    assert f"\n  help: {first.remedy}" in str(first)
    repaired = PENDING.replace("stablehlo.exponential", "stablehlo.negate")
    assert "pending-in-nonlinear" not in [one.name for one in ts.Program(repaired).check()]
    assert ts.Program(LAYER).check() == []
    assert len(program.check(notes=True)) >= len(findings)
    assert isinstance(dataclasses.asdict(first)["notes"], tuple)


# ---- runs ----


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("f64", np.float64),
        ("f32", np.float32),
        ("f16", np.float16),
        ("i8", np.int8),
        ("i32", np.int32),
        ("i64", np.int64),
        ("ui16", np.uint16),
        ("ui64", np.uint64),
        ("complex<f32>", np.complex64),
        ("complex<f64>", np.complex128),
    ],
)
def test_element_types(kind, dtype):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((3, 2)) * 5).astype(dtype)
    (y,) = unary("negate", kind, "3x2").evaluate(x)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, -x)


@pytest.mark.parametrize(
    "name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4", "float4_e2m1fn"]
)
def test_element_types_of_ml_dtypes(name):
    extra = pytest.importorskip("ml_dtypes")
    if not hasattr(extra, name):
        pytest.skip(f"this ml_dtypes has no {name}")
    kinds = {
        "bfloat16": "bf16",
        "float8_e4m3fn": "f8E4M3FN",
        "float8_e5m2": "f8E5M2",
        "int4": "i4",
        "uint4": "ui4",
        "float4_e2m1fn": "f4E2M1FN",
    }
    x = np.array([0, 1, 2, 3, 1, 0]).astype(getattr(extra, name))
    program = ts.Program(
        f"func.func @main(%x: tensor<6x{kinds[name]}>) -> tensor<6x{kinds[name]}> {{\n"
        f"  %y = stablehlo.add %x, %x : tensor<6x{kinds[name]}>\n"
        f"  return %y : tensor<6x{kinds[name]}>\n}}"
    )
    (y,) = program.evaluate(x)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y.astype(float), [0, 2, 4, 6, 2, 0])
    np.testing.assert_array_equal(program.evaluate([0, 1, 2, 3, 1, 0])[0].astype(float), y)


def test_views_are_read_as_they_are():
    x = np.arange(48, dtype=np.float32).reshape(6, 8)
    program = unary("negate", "f32", "3x4")
    np.testing.assert_array_equal(program.evaluate(x[::2, ::-2])[0], -x[::2, ::-2])
    np.testing.assert_array_equal(program.evaluate(x.reshape(8, 6).T[:3, ::2])[0][0, 1], -12)
    seen = x[:3, :4]
    seen.flags.writeable = False
    np.testing.assert_array_equal(program.evaluate(seen)[0], -seen)
    (y,) = program.evaluate(seen)
    program = None
    gc.collect()
    assert y[2, 3] == -19
    y[0, 0] = 5


def test_bool_empty_scalar_and_token():
    assert unary("not", "i1", "2").evaluate([True, False])[0].tolist() == [False, True]
    assert unary("negate", "f32", "0x3").evaluate(np.ones((0, 3), "f4"))[0].shape == (0, 3)
    program = ts.Program(
        "func.func @main(%x: tensor<i32>, %t: !stablehlo.token)"
        " -> (tensor<i32>, !stablehlo.token) {\n  return %x, %t : tensor<i32>, !stablehlo.token\n}"
    )
    x, token = program.evaluate(7, None)
    assert x.shape == ()
    assert int(x) == 7
    assert token is None
    assert ts.Program("func.func @main() {\n  return\n}").evaluate() == ()


def test_control_flow():
    program = ts.Program("""
func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %n, %sum = %zero) : tensor<i32>, tensor<i32>
    cond {
      %more = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next = stablehlo.subtract %i, %one : tensor<i32>
      %total = stablehlo.add %sum, %i : tensor<i32>
      stablehlo.return %next, %total : tensor<i32>, tensor<i32>
    }
  %big = stablehlo.compare GT, %r#1, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %f = "stablehlo.if"(%big) ({
    %a = stablehlo.constant dense<1.5> : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }, {
    %b = stablehlo.constant dense<-1.5> : tensor<f32>
    stablehlo.return %b : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %r#1, %f : tensor<i32>, tensor<f32>
}""")
    for n in (0, 1, 5, 100):
        total, f = program.evaluate(n)
        assert int(total) == n * (n + 1) // 2
        assert float(f) == (1.5 if n > 1 else -1.5)
    with pytest.raises(ts.LimitError, match="limit") as caught:
        program.evaluate(10_000, max_ops=1000)
    assert caught.value.place is not None
    assert int(program.evaluate(3)[0]) == 6


def test_wrong_arguments():
    program = ts.Program(LAYER)
    x, w = np.ones((8, 16), "f4"), np.ones((16, 4), "f4")
    np.testing.assert_allclose(program.evaluate(x, w * 0.01)[0], np.tanh(x @ (w * 0.01)), rtol=1e-6)
    for given, message in [
        ((), "0 inputs given, 2 expected"),
        ((x, w, w), "3 inputs given, 2 expected"),
        ((w, x), r"input 0 is f32\[16,4\], but the function takes f32\[8,16\]"),
        ((x, w.astype("f8")), r"input 1 is f64\[16,4\]"),
        ((x.astype("i4"), w), r"input 0 is i32"),
        ((x.astype("c8").tolist(), w), "complex"),
        (([[1.0] * 16] * 7, w), r"input 0 is f32\[7,16\]"),
    ]:
        with pytest.raises(ts.InvalidError, match=message):
            program.evaluate(*given)
    for given in (np.array(["a"]), np.ones((8, 16), ">f4"), "text", None):
        with pytest.raises(ts.Error, match=r"element type|input"):
            program.evaluate(given, w)
    with pytest.raises(ts.InvalidError, match="300"):
        unary("negate", "i8", "1").evaluate([300])
    with pytest.raises(ts.InvalidError, match="f64"):
        unary("negate", "i8", "1").evaluate([1.5])
    with pytest.raises(ts.InvalidError, match="unknown function @q"):
        program.evaluate(x, w, function="q")
    np.testing.assert_allclose(
        ts.Program(NAMED).evaluate(np.ones(8, "f4"), np.ones(8, "f4"), function="step")[0], 0
    )


def test_bare_collectives_run_on_all_devices():
    program = ts.Program("""
    module attributes {mhlo.num_partitions = 3 : i32} {
      func.func @main(%x: tensor<2xf32>) -> (tensor<6xf32>, tensor<ui32>) {
        %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64,
          replica_groups = dense<[[2, 0, 1]]> : tensor<1x3xi64>, use_global_device_ids,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}
          : (tensor<2xf32>) -> tensor<6xf32>
        %1 = stablehlo.partition_id : tensor<ui32>
        return %0, %1 : tensor<6xf32>, tensor<ui32>
      }
    }""")
    for k, (gathered, number) in enumerate(program.evaluate([0, 1], [2, 3], [4, 5])):
        np.testing.assert_array_equal(gathered, np.float32([4, 5, 0, 1, 2, 3]))
        assert number == k
    same = program.evaluate(np.float32([6, 7]))
    assert len(same) == 3
    np.testing.assert_array_equal(same[2][0], np.float32([6, 7] * 3))
    with pytest.raises(ts.InvalidError, match="2 inputs given, 1 expected, or 1 for"):
        program.evaluate([0, 1], [2, 3])


def test_dynamic_sizes():
    program = ts.Program(
        "func.func @main(%x: tensor<?x4xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {\n"
        "  %0 = stablehlo.dynamic_reshape %x, %s\n"
        "    : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>\n"
        "  return %0 : tensor<?x?xf32>\n}"
    )
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(program.evaluate(x, [2, 6])[0], x.reshape(2, 6))
    with pytest.raises(ts.InvalidError, match="not extents of its result") as caught:
        program.evaluate(x, [2, 5])
    assert caught.value.place.line == 2
    with pytest.raises(ts.InvalidError, match=r"input 0 is f32\[3,5\]"):
        program.evaluate(np.ones((3, 5), "f4"), [2, 6])
    assert program.table()[0]["bytes_per_device"] is None


def test_unsupported_op():
    program = ts.Program(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.custom_call @mine(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}"
    )
    with pytest.raises(ts.UnsupportedError, match=r"mine|custom_call") as caught:
        program.evaluate(np.ones(4, "f4"))
    assert caught.value.place.line == 2


# ---- pictures ----


def test_pictures():
    program = ts.Program(LAYER)
    assert program.svg("%x").startswith("<?xml")
    assert program.svg(1, title="weights <w>").count("weights &lt;w&gt;") == 1
    assert "result0" in program.propagate().svg("result0")
    with pytest.raises(ts.InvalidError, match="%y has no sharding"):
        program.svg("%y")
    with pytest.raises(ts.InvalidError, match="no tensor %q"):
        program.svg("%q")
    dynamic = ts.Program(LAYER.replace("8x", "?x"))
    with pytest.raises(ts.InvalidError, match="needs every extent"):
        dynamic.svg("%x")
    html = program.propagate()._repr_html_()
    assert html.count("<img ") == 3
    assert html.count("<tr>") == 4
    assert dynamic._repr_html_().count("<img ") == 1


def test_html_is_escaped():
    text = NAMED.replace('loc("state")', 'loc("<script>&")').replace("new['state']", "<b>\\22")
    text = text.replace("{", '{ sdy.mesh @"<i>" = <["<u>"=2]>', 1)
    html = ts.Program(text)._repr_html_()
    for tag in ("<script>", "<b>", "<i>", "<u>"):
        assert tag not in html
    assert "&lt;script&gt;&amp;" in html
    assert "<table>" in ts.Program("module {}")._repr_html_()


# ---- threads and memory ----


def test_threads():
    shared = ts.Program(LAYER)
    wanted = str(shared.propagate())
    explained = str(shared.explain())
    x, w = np.ones((8, 16), "f4"), np.full((16, 4), 0.01, "f4")
    result = np.tanh(x @ w)
    problems = []

    def work(program, number):
        try:
            for _ in range(30):
                assert str(program.propagate()) == wanted
                assert str(program.explain()) == explained
                np.testing.assert_allclose(program.evaluate(x, w)[0], result, rtol=1e-6)
                with pytest.raises(ts.InvalidError, match=f"unknown value %q{number};"):
                    program.explain(f"%q{number}")
                assert len(program.shardings()) == 4
        except BaseException as error:
            problems.append(error)

    mine = [ts.Program(LAYER), ts.Program(LAYER), shared, shared]
    threads = [threading.Thread(target=work, args=(one, i)) for i, one in enumerate(mine)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


@pytest.mark.parametrize("round", range(10))
def test_annotations_of_threads_are_all_kept(round):
    names = [f"%x{i}" for i in range(16)]
    arguments = ", ".join(f"{name}: tensor<8xf32>" for name in names)
    program = ts.Program(f"func.func @main({arguments}) {{\n  return\n}}")
    threads = [
        threading.Thread(target=program.annotate, args=(name, "P('x')"), kwargs={"mesh": "x=2"})
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one.sharding is not None for one in program.inputs)


def resident():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def test_no_leak_of_programs():
    x, w = np.ones((8, 16), "f4"), np.ones((16, 4), "f4")

    def once():
        program = ts.Program(LAYER)
        done = program.annotate("%w", "P()").propagate()
        done.evaluate(x, w)
        done.shardings()
        program.explain("%z", suggest=False)
        with pytest.raises(ts.InvalidError):
            program.annotate("%q", "P()")

    for _ in range(300):
        once()
    gc.collect()
    before = resident()
    for _ in range(2000):
        once()
    gc.collect()
    assert resident() - before < 4 << 20
    # many calls on one program
    program = ts.Program(LAYER)
    for _ in range(100):
        program.annotate("%w", "P()").table()
    before = resident()
    for i in range(1000):
        program.annotate("%w", "P()").table()
        program.evaluate(x, w, max_ops=100 + i)
    gc.collect()
    assert resident() - before < 4 << 20

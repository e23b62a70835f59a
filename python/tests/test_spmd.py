"""Typed SPMD code: the collectives by hand, errors with their fixes, gradients."""

import numpy as np
import pytest

import tessera as ts
from tessera import spmd


@pytest.fixture
def world():
    with ts.World("dp=2, tp=2") as opened:
        yield opened


def parts(rng, shape, count=4):
    return [rng.standard_normal(shape) for _ in range(count)]


def test_collectives(world):
    rng = np.random.default_rng(0)
    x = parts(rng, (4, 2))
    with spmd.scope(world, strict=False):
        v = spmd.value(world, x, "f64[4,2]{tp:V}")
        p = spmd.value(world, x, "f64[4,2]{tp:P}")
        r = spmd.all_reduce(p, "tp")
        np.testing.assert_allclose(r.local(1), x[0] + x[1])
        np.testing.assert_allclose(r.local(2), x[2] + x[3])
        gathered = spmd.all_gather(v, "tp")
        np.testing.assert_allclose(gathered.local(3), np.stack(x[2:]))
        joined = spmd.all_gather(spmd.assert_type(v, "{tp:S(0)}"), "tp", "S(0)", "R")
        np.testing.assert_allclose(joined.local(0), np.concatenate(x[:2]))
        scattered = spmd.reduce_scatter(p, "tp", "P", "S(0)")
        np.testing.assert_allclose(scattered.local(1), (x[0] + x[1])[2:])
        swapped = spmd.all_to_all(spmd.assert_type(v, "{tp:S(0)}"), "tp", "S(0)", "S(1)")
        np.testing.assert_allclose(swapped.local(0), np.concatenate([x[0][:, :1], x[1][:, :1]]))
        split = spmd.convert(r, "tp", "R", "S(0)")
        np.testing.assert_allclose(split.local(1), (x[0] + x[1])[2:])
        assert spmd.type_of(spmd.reinterpret(r, "tp", "R", "P")).endswith("{tp:P}")
        again = spmd.redistribute(scattered, "tp", "S(0)", "R")
        np.testing.assert_allclose(again.local(0), x[0] + x[1])


def test_errors_suggest_fixes(world):
    with spmd.scope(world, strict=False):
        p = spmd.value(world, [np.ones((2, 2))] * 4, "f64[2,2]{tp:P}")
        with pytest.raises(ts.Error) as caught:
            ts.exp(p)
        assert any("all_reduce" in note for note in caught.value.notes)
        assert "note: " in str(caught.value)
        with pytest.raises(ts.Error, match="axis"):
            spmd.all_reduce(p, "nothing")
        with pytest.raises(ts.ParseError):
            spmd.all_reduce(p, "tp", "Q", "R")
    with pytest.raises(ts.InvalidError, match="no guard"), spmd.scope(world, guard="some"):
        pass
    with pytest.raises(ts.InvalidError, match="no axis"), spmd.scope(world, global_axes=["q"]):
        pass


def test_fixes_are_calls(world):
    """Each fix of an error, carried out as it is written, lets the call check."""
    kinds = {"P": "f64[2,2]{tp:P}", "I": "f64[2,2]{tp:I}", "V": "f64[2,2]{tp:V}"}
    kinds |= {"M": "f64[2,2]{tp:P(max)}"}
    given = [np.full((2, 2), i + 1.0) for i in (0, 0, 1, 1)]
    tried = set()
    with spmd.scope(world, strict=False):
        values = {kind: spmd.value(world, given, type) for kind, type in kinds.items()}
        for first, a in values.items():
            for second, b in values.items():
                try:
                    ts.multiply(a, b)
                except ts.Error as error:
                    notes = [note for note in error.notes if "would do" in note]
                    assert len(error.fixes) == len(notes)
                    for fix in error.fixes:
                        number = int(fix.operand.split()[-1])
                        operands = [a, b]
                        for i in range(number, 2 if fix.operand.startswith("each") else number + 1):
                            operands[i] = getattr(spmd, fix.call)(
                                operands[i], fix.axis, fix.source, fix.destination
                            )
                        ts.multiply(*operands)
                        assert fix.cost and f'spmd.{fix.call}({fix.operand}, "tp", "' in str(fix)
                        tried.add((first, second, fix.call, fix.source, fix.destination))
    assert {call for _, _, call, _, _ in tried} >= {"all_reduce", "convert"}
    assert {source for _, _, _, source, _ in tried} >= {"P", "P(max)", "I"}
    assert ts.InvalidError("something else").fixes == ()


def test_arrays_and_values(world):
    full = np.arange(16.0).reshape(4, 4)
    x = world.array(full, "P('dp', 'tp')")
    with spmd.scope(world, global_axes=["dp", "tp"]):
        v = spmd.local_of(x)
        assert spmd.type_of(v) == "f64[4@dp,4@tp]"
        back = spmd.array_of(v * 2)
        np.testing.assert_array_equal(np.asarray(back), full * 2)
        moved = spmd.redistribute_spec(v, "f64[4@dp,4@tp]", "f64[4@tp,4@dp]")
        np.testing.assert_array_equal(moved.local(1), full[2:, :2])
        with pytest.raises(ts.InvalidError, match="R or I"):
            spmd.local_of(x, "V")


def test_gradients_have_the_dual_type(world):
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((3, 4)), rng.standard_normal((4, 6))
    with spmd.scope(world, global_axes=["tp"], strict=False), ts.Tape(world) as tape:
        a = spmd.value(world, [x] * 4, "f64[3,4]{dp:I, tp:I}")
        b = spmd.value(world, [w[:, :3], w[:, 3:], w[:, :3], w[:, 3:]], "f64[4,6@tp]{dp:I}")
        tape.watch(a, b)
        h = spmd.reinterpret(a, "tp", "I", "R") @ b
        loss = spmd.all_reduce(spmd.sum_partial(h, None, "tp"), "tp", "P", "I")
        tape.backward(loss)
        np.testing.assert_allclose(tape.gradient(a).local(1), np.tile(w.sum(1), (3, 1)))
        np.testing.assert_allclose(tape.gradient(b).local(0), np.tile(x.sum(0)[:, None], (1, 3)))


def test_types_are_erasable(world):
    rng = np.random.default_rng(2)
    x = parts(rng, (2, 3))
    found = []
    for unchecked in (False, True):
        with spmd.scope(world, unchecked=unchecked, strict=False):
            v = spmd.value(world, x, "f64[2,3]{tp:P}")
            found.append(spmd.all_reduce(v * 3.0, "tp").local(2).copy())
    np.testing.assert_array_equal(*found)


def test_abstract_types():
    with ts.abstract("dp=64, tp=64") as world, world.trace() as moved, spmd.scope(world):
        x = spmd.local_of(world.zeros((64, 128), "P('dp', 'tp')"))
        total = spmd.all_gather(x, "tp", "S(1)", "R")
        assert spmd.type_of(total).startswith("f32[64@dp,128]")
    assert [one.collective for one in moved] == ["all_gather"]


def test_tables_that_are_cut(world):
    rng = np.random.default_rng(3)
    table, tokens = rng.standard_normal((6, 2)), np.array([0, 5, 3, 1, 1], "i4")
    with spmd.scope(world, strict=False):
        cut = spmd.value(world, [table[:3], table[3:]] * 2, "f64[6@tp,2]{dp:R}")
        where = spmd.value(world, [tokens] * 4, "i32[5]{dp:R, tp:R}")
        with pytest.raises(ts.Error):
            spmd.embedding_partial(cut, where, [0, 3] * 2, "nowhere")
        with pytest.raises(ts.Error, match="start at 3, not at 0"):
            spmd.embedding_partial(cut, where, 0, "tp")
        with pytest.raises(ts.InvalidError, match="1 starts are given"):
            spmd.embedding_partial(cut, where, [0], "tp")
        for found in (
            spmd.embedding_partial(cut, where, [0, 3] * 2, "tp"),
            spmd.take_partial(cut, where, 0, [0, 3] * 2, "tp"),
        ):
            assert "tp:P" in spmd.type_of(found)
            np.testing.assert_allclose(found.local(0), table[tokens] * (tokens < 3)[:, None])
            np.testing.assert_allclose(spmd.all_reduce(found, "tp").local(1), table[tokens])
        zeros = spmd.value(world, [np.zeros((4, 2))] * 4, "f64[4,2]{dp:R, tp:R}")
        at = spmd.value(
            world, [np.array([1, 1], "i4"), np.array([2, 1], "i4")] * 2, "i32[2]{dp:R, tp:V}"
        )
        rows = spmd.value(world, [np.ones((2, 2))] * 4, "f64[2,2]{dp:R, tp:V}")
        summed = spmd.all_reduce(spmd.scatter_partial(zeros, at, rows, 0, "add", "tp"), "tp")
        assert summed.local(3)[:, 0].tolist() == [0, 3, 1, 0]
        with pytest.raises(ts.InvalidError, match="no 'divide'"):
            spmd.scatter_partial(zeros, at, rows, 0, "divide", "tp")

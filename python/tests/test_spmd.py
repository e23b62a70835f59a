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


def test_v_and_s_meet(world):
    """A plain V and S(i): named, forgotten or exchanged; with their gradients."""
    x = parts(np.random.default_rng(3), (4, 2))
    y = [
        np.concatenate([x[r & 2][:, c : c + 1], x[r & 2 | 1][:, c : c + 1]])
        for r, c in enumerate([0, 1, 0, 1])
    ]
    with spmd.scope(world, strict=False):
        v = spmd.value(world, x, "f64[4,2]{tp:V}")
        for call in (spmd.convert, spmd.redistribute):
            named = call(v, "tp", "V", "S(1)")
            assert spmd.type_of(named) == "f64[4,4@tp]"
            np.testing.assert_array_equal(named.local(1), x[1])
            assert spmd.type_of(call(named, "tp", "S(1)", "V")) == "f64[4,2]{tp:V}"
        with pytest.raises(ts.Error, match="cuts another dimension"):
            spmd.convert(named, "tp", "V", "S(0)")
        swapped = spmd.all_to_all(v, "tp", "V", "S(1)")
        assert spmd.type_of(swapped) == "f64[8,2@tp]"
        back = spmd.all_to_all(swapped, "tp", "S(1)", "V")
        assert spmd.type_of(back) == "f64[4,2]{tp:V}"
        for rank in range(4):
            np.testing.assert_array_equal(swapped.local(rank), y[rank])
            np.testing.assert_array_equal(back.local(rank), x[rank])
        with pytest.raises(ts.Error, match="not to a plain V"):
            spmd.all_to_all(v, "tp", "V", "S(1)", counts=[1, 1], sent=[1, 1])
    with spmd.scope(world, strict=False), ts.Tape(world) as tape:
        v = spmd.value(world, x, "f64[4,2]{tp:V}")
        tape.watch(v)
        swapped = spmd.all_to_all(v, "tp", "V", "S(1)")
        loss = ts.sum(spmd.reinterpret(swapped * swapped, "tp", "V", "P"))
        tape.backward(spmd.all_reduce(loss, "tp", "P", "I"))
        for rank in range(4):
            np.testing.assert_allclose(tape.gradient(v).local(rank), 2 * x[rank])


def test_sum_in_place(world):
    x = parts(np.random.default_rng(4), (3,))
    with spmd.scope(world, strict=False):
        p = spmd.value(world, x, "f64[3]{tp:P}")
        shared = spmd.assert_type(p, "{tp:P}")
        assert spmd.all_reduce_in_place(p, "tp", "P", "I") is None
        assert spmd.type_of(p) == "f64[3]{tp:I}"
        np.testing.assert_allclose(p.local(3), x[2] + x[3])
        np.testing.assert_array_equal(shared.local(3), p.local(3))
        with pytest.raises(ts.Error, match="already I"):
            spmd.all_reduce_in_place(p, "tp", "P", "I")
        v = spmd.value(world, x, "f64[3]{tp:V}")
        with pytest.raises(ts.Error, match="reinterpret V->P first"):
            spmd.all_reduce_in_place(v, "tp")
        with ts.Tape(world), pytest.raises(ts.Error, match="a tape is recording"):
            spmd.all_reduce_in_place(v, "tp", "P", "R")


def test_invariant_operands_mix_without_gradients(world):
    x = parts(np.random.default_rng(5), (3,))
    same = [x[0], x[0], x[2], x[2]]
    mixes = "an invariant operand does not mix"
    with spmd.scope(world, strict=False, mix_invariant=True), ts.Tape(world) as tape:
        v = spmd.value(world, x, "f64[3]{tp:V}")
        i = spmd.value(world, same, "f64[3]{tp:I}")
        product = v * i
        assert spmd.type_of(product) == "f64[3]{tp:V}"
        np.testing.assert_array_equal(product.local(3), x[3] * x[2])
        inner = spmd.local_map("dp", in_types=None, out_types=None)(lambda v: v * i)
        assert spmd.type_of(inner(v)) == "f64[3]{tp:V}"
        tape.watch(i)
        with pytest.raises(ts.Error, match=mixes):
            v * i
        with tape.paused():
            assert spmd.type_of(v * i) == "f64[3]{tp:V}"
    with spmd.scope(world, strict=False), pytest.raises(ts.Error, match=mixes):
        v * i


def test_other_views_and_parts(world):
    """Types of one mesh under another, and on parts of an axis."""
    x = parts(np.random.default_rng(12), (3,))
    with spmd.scope(world, "x=4", strict=False):
        v = spmd.value(world, x, "f64[3]{x:V}")
        p = spmd.value(world, x, "f64[3]{x:P}")
        outer = spmd.all_reduce(p, "x:(1)2")
        assert spmd.type_of(outer) == "f64[3]{x:(1)2:R, x:(2)2:P}"
        np.testing.assert_allclose(outer.local(1), x[1] + x[3])
        coming = spmd.all_reduce_start(outer, "x:(2)2")
        whole = coming.wait()
        assert spmd.type_of(whole) == "f64[3]{x:R}"
        np.testing.assert_allclose(whole.local(2), sum(x))
        with pytest.raises(ts.Error, match=r"along axis x:\(2\)2") as caught:
            ts.exp(outer)
        assert any(one.axis == "x:(2)2" for one in caught.value.fixes)
        with spmd.scope(world, "dp=2, cp=2", strict=False):
            r = spmd.value(world, [x[0]] * 4, "f64[3]{dp:R, cp:R}")
            assert spmd.type_of(v * r) == "f64[3]{dp:V, cp:V}"
            mixed = spmd.all_reduce(p, "dp")
            assert spmd.type_of(mixed) == "f64[3]{dp:R, cp:P}"
        assert spmd.type_of(v * r) == "f64[3]{x:V}"
        refused = r"P along axis cp \(ranks 0, 1\), which are parts of axis x \(ranks 0, 1, 2, 3\)"
        with pytest.raises(ts.Error, match=refused):
            mixed * r
        with pytest.raises(ts.Error, match="no axis"):
            spmd.all_reduce(p, "x:(1)")


def _started_calls():
    """The starts of collectives with their blocking forms, ends and options."""
    return [
        (spmd.all_reduce_start, spmd.all_reduce, ("P", "R"), {}),
        (spmd.all_reduce_start, spmd.all_reduce, ("P", "I"), {"wire_dtype": "f32"}),
        (spmd.all_gather_start, spmd.all_gather, ("V", "R"), {"dim": 1}),
        (spmd.all_gather_start, spmd.all_gather, ("S(1)", "I"), {}),
        (spmd.reduce_scatter_start, spmd.reduce_scatter, ("P", "S(0)"), {"counts": [3, 1]}),
        (spmd.reduce_scatter_start, spmd.reduce_scatter, ("P", "V"), {"dim": 1}),
        (spmd.all_to_all_start, spmd.all_to_all, ("V", "V"), {"dim": 1}),
        (spmd.all_to_all_start, spmd.all_to_all, ("S(1)", "S(0)"), {}),
    ]


def test_started_and_waited_for(world):
    """Bits and types of the blocking form, in any order, in the open world and in a launch."""

    def all_of_them(world):
        rng = np.random.default_rng(8)
        x = [parts(rng, (4, 2))[r] for r in world.local_ranks]
        with spmd.scope(world, strict=False):
            under_way = []
            for start, call, ends, options in _started_calls():
                kind = "P" if ends[0] == "P" else "V"
                given = spmd.value(world, x, f"f64[4,2]{{tp:{kind}}}")
                once = call(given, "tp", *ends, **options)
                under_way.append((start(given, "tp", *ends, **options), once))
            for coming, once in reversed(under_way):
                found = coming.wait()
                assert spmd.type_of(found) == spmd.type_of(once)
                for rank in world.local_ranks:
                    assert found.local(rank).tobytes() == once.local(rank).tobytes()
        return True

    assert all_of_them(world)
    assert ts.launch(all_of_them, "dp=2, tp=2") == [True] * 4


def test_gradient_of_what_is_started(world):
    x = parts(np.random.default_rng(9), (3,))
    with spmd.scope(world, strict=False), ts.Tape(world) as tape:
        p = spmd.value(world, x, "f64[3]{tp:P}")
        tape.watch(p)
        coming = spmd.all_reduce_start(p, "tp", "P", "I")
        doubled = p + p
        total = coming.wait()
        tape.backward(ts.sum(total * total))
        for rank in range(4):
            whole = x[rank & 2] + x[rank & 2 | 1]
            np.testing.assert_allclose(tape.gradient(p).local(rank), 2 * whole)
        assert spmd.type_of(doubled) == "f64[3]{tp:P}"


def test_started_exactly_once(world):
    x = parts(np.random.default_rng(10), (3,))
    call = r'spmd\.all_reduce\(\.\., "tp", "P", "R"\)'
    with spmd.scope(world, strict=False):
        p = spmd.value(world, x, "f64[3]{tp:P}")
        coming = spmd.all_reduce_start(p, "tp")
        uses = [
            lambda: coming + p,
            lambda: p + coming,
            lambda: p @ coming,
            lambda: p - coming,
            lambda: ts.exp(coming),
            lambda: ts.concatenate([coming, coming]),
            lambda: ts.concatenate([p, coming]),
            lambda: ts.maximum(p, coming),
            lambda: np.asarray(coming),
            lambda: np.exp(coming),
            lambda: coming.local(0),
            lambda: coming[0],
            lambda: p == coming,
            lambda: spmd.all_reduce(coming, "tp"),
            lambda: spmd.type_of(coming),
        ]
        for use in uses:
            with pytest.raises(ts.InvalidError, match=call + " was started and not waited for"):
                use()
        assert repr(coming).endswith("started>")
        coming.wait()
        assert repr(coming).endswith("waited for>")
        with pytest.raises(ts.InvalidError, match=call + " was waited for already"):
            coming.wait()
        with pytest.raises(ts.InvalidError, match=call + r" was waited for: wait\(\) gives"):
            ts.exp(coming)
        with pytest.raises(ts.Error, match="no axis"):
            spmd.all_reduce_start(p, "nothing")
        with pytest.raises(ts.Error, match="all_gather"):
            spmd.all_gather_start(p, "tp", "P", "R")
    left = "tsr_spmd_close: value 2, all_reduce along axis tp, was started in the scope"
    with pytest.raises(ts.InvalidError, match=left), spmd.scope(world, strict=False):
        lost = spmd.all_reduce_start(p, "tp")
    assert not world._scopes
    with spmd.scope(world), pytest.raises(ts.InvalidError, match="given up when its scope closed"):
        lost.wait()
    with pytest.raises(ZeroDivisionError), spmd.scope(world, strict=False):
        spmd.all_reduce_start(p, "tp")
        raise ZeroDivisionError  # is not hidden by what was left
    with spmd.scope(world, strict=False):  # and the world goes on
        np.testing.assert_allclose(spmd.all_reduce(p, "tp").local(0), x[0] + x[1])


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
    with pytest.raises(ts.InvalidError, match="unknown guard"), spmd.scope(world, guard="some"):
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
        with pytest.raises(ts.Error, match="start at 3 by the type, but at 0 by the argument"):
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
        with pytest.raises(ts.InvalidError, match="unknown op 'divide'"):
            spmd.scatter_partial(zeros, at, rows, 0, "divide", "tp")


def test_out_partial_axes(world):
    """The keyword of an op gives what the function of that name does, type and numbers."""
    rng = np.random.default_rng(5)
    a, b = parts(rng, (3, 2)), parts(rng, (2, 4))
    with spmd.scope(world, global_axes=["dp", "tp"], strict=False):
        x = spmd.value(world, [a[0], a[1]] * 2, "f64[3,4@tp]{dp:R}")
        w = spmd.value(world, [b[0], b[1]] * 2, "f64[4@tp,4]{dp:R}")
        t = spmd.value(world, [b[0].T, b[1].T] * 2, "f64[4,4@tp]{dp:R}")
        n = spmd.value(world, [np.ones((3, 2), "i1")] * 4, "i8[3,4@tp]{dp:R}")
        whole = a[0] @ b[0] + a[1] @ b[1]
        for made, expected, kind in [
            (ts.matmul(x, w, out_partial_axes="tp"), whole, "P"),
            (ts.linear(x, t, out_partial_axes={"tp"}), whole, "P"),
            (ts.einsum("ij,jk->ik", x, w, out_partial_axes=["tp"]), whole, "P"),
            (ts.sum(x, 1, out_partial_axes="tp"), (a[0] + a[1]).sum(1), "P"),
            (ts.sum(n, 1, out_partial_axes="tp"), [4, 4, 4], "P"),
            (ts.mean(x, out_partial_axes="tp"), (a[0] + a[1]).mean() / 2, "P(avg)"),
            (ts.max(x, 1, keepdims=True, out_partial_axes="tp"), None, "P(max)"),
            (ts.min(x, out_partial_axes="tp"), min(a[0].min(), a[1].min()), "P(min)"),
        ]:
            assert spmd.type_of(made).endswith(f"tp:{kind}}}")
            if expected is None:
                expected = np.maximum(a[0], a[1]).max(1, keepdims=True)
            found = spmd.all_reduce(made, "tp", kind, "R")
            np.testing.assert_allclose(found.local(1), expected)
        assert spmd.type_of(ts.sum(n, 1, out_partial_axes="tp")).startswith("i64")
        with pytest.raises(ts.Error, match="no axis"):
            ts.matmul(x, w, out_partial_axes="nothing")
        with pytest.raises(ts.Error):
            x @ w
    table = rng.standard_normal((6, 2))
    with spmd.scope(world, strict=False):
        cut = spmd.value(world, [table[:3], table[3:]] * 2, "f64[6@tp,2]{dp:R}")
        rows = spmd.value(world, [np.array([5, 0])] * 4, "i64[2]{dp:R, tp:R}")
        for made in (
            ts.embedding(cut, rows, out_partial_axes="tp", start=[0, 3] * 2),
            ts.take(cut, rows, out_partial_axes="tp", start=[0, 3] * 2),
        ):
            np.testing.assert_array_equal(spmd.all_reduce(made, "tp").local(2), table[[5, 0]])


def test_texts_of_the_documents(world):
    x = world.array(np.arange(8.0), "P(('dp', 'tp'))")
    with spmd.scope(world, global_axes=["dp", "tp"]):
        v = spmd.value(world, [x.local(rank) for rank in range(4)], "f64[8@dp,tp]")
        assert spmd.type_of(v) == "f64[8@(dp,tp)]"
        moved = spmd.redistribute_spec(v, "f64[8@dp,tp]", "f64[8@tp,dp]")
        assert spmd.type_of(moved) == "f64[8@(tp,dp)]"
        assert moved.local(1).tolist() == [4, 5]


def own_softmax(x):
    e = np.exp(x - x.max(0))
    return e / e.sum(0)


def test_local_map(world):
    rng = np.random.default_rng(6)
    x = rng.standard_normal((4, 3))
    rows = [x[:2], x[2:]] * 2
    seen = []

    @spmd.local_map("tp", in_types=["f64[4@tp,3]{dp:I}", None, None], out_types="f64[4@tp,3]{dp:I}")
    def softmax(x, bias, scale, *, twice):
        """Of its own rows."""
        seen.append((spmd.type_of(x), spmd.type_of(bias)))
        return ts.softmax(x * scale, 0) * twice + bias

    assert softmax.__name__ == "softmax" and softmax.__doc__ == "Of its own rows."
    with spmd.scope(world, global_axes=["dp", "tp"]):
        v = spmd.value(world, rows, "f64[4@tp,3]{dp:I}")
        b = spmd.value(world, [np.zeros(3)] * 4, "f64[3]{dp:I, tp:R}")
        with pytest.raises(ts.Error):
            ts.softmax(v, 0)
        made = softmax(v, b, 3.0, twice=2.0)
        assert seen == [("f64[2,3]{dp:I, tp:V}", "f64[3]{dp:I, tp:R}")]
        assert spmd.type_of(made) == "f64[4@tp,3]{dp:I}"
        for rank in range(4):
            np.testing.assert_allclose(made.local(rank), 2 * own_softmax(3 * rows[rank]))
        with pytest.raises(ts.Error):  # the scope is as it was
            ts.softmax(v, 0)
        with ts.Tape(world) as tape:
            tape.watch(v)
            weights = spmd.value(world, [np.arange(6.0).reshape(2, 3)] * 4, "f64[4@tp,3]{dp:I}")
            loss = spmd.sum_partial(softmax(v, b, 1.0, twice=1.0) * weights, None, "tp")
            tape.backward(spmd.all_reduce(loss, "tp", "P", "I"))
            s = own_softmax(rows[1])
            of = np.arange(6.0).reshape(2, 3)
            np.testing.assert_allclose(tape.gradient(v).local(1), s * (of - (of * s).sum(0)))


def test_local_map_of_several(world):
    @spmd.local_map(["dp", "tp"], in_types=["f64[4@dp,4@tp]"], out_types=["f64[4@dp,4@tp]", None])
    def both(x):
        return x + 1, x * 2

    x = world.array(np.arange(16.0).reshape(4, 4), "P('dp', 'tp')")
    with spmd.scope(world, global_axes=["dp", "tp"]):
        first, second = both(spmd.local_of(x))
        np.testing.assert_array_equal(np.asarray(spmd.array_of(first)), np.asarray(x) + 1)
        assert spmd.type_of(second) == "f64[2,2]{dp:V, tp:V}"
        wrong = spmd.local_map("tp", in_types="f64[4@tp,4@dp]", out_types=None)(lambda x: x)
        with pytest.raises(ts.Error, match=r"S\(0\) along axis dp, but declared S\(1\)"):
            wrong(spmd.local_of(x))
        not_so = spmd.local_map("tp", in_types=[None], out_types="f64[4@dp,2]{tp:R}")
        with pytest.raises(ts.Error):
            not_so(lambda x: x)(spmd.local_of(x))
        fails = spmd.local_map("tp", in_types=[None], out_types=None)(lambda x: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            fails(spmd.local_of(x))
        assert spmd.type_of(spmd.local_of(x) + 1) == "f64[4@dp,4@tp]"
        for arguments, why in [((first, 3), "1 types are declared for 2"), ((3,), "not an array")]:
            with pytest.raises(ts.InvalidError, match=why):
                both(*arguments)
        with pytest.raises(ts.Error, match="no axis"):
            spmd.local_map("zz", in_types=[None], out_types=None)(lambda x: x)(first)
    with pytest.raises(ts.InvalidError, match=r"open a spmd\.scope"):
        both(x)


def test_local_map_in_launched_ranks():
    @spmd.local_map("tp", in_types=["f64[4@tp]"], out_types=["f64[4@tp]"])
    def shifted(x):
        return x - x.max()

    def run(world):
        with spmd.scope(world, global_axes=["tp"]):
            part = np.arange(2.0) + 2 * world.rank
            return shifted(spmd.value(world, [part], "f64[4@tp]")).local().tolist()

    assert ts.launch(run, "tp=2") == [[-1, 0], [-1, 0]]

"""Arrays: what they are made from, what they become, traces, strict mode, abstract worlds."""

import gc

import numpy as np
import pytest

import tessera as ts

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_element_types(dtype, worlds):
    world = worlds(4)
    full = np.arange(10).reshape(5, 2).astype(dtype)
    x = world.array(full, '[{"a"}, {"b"}]')
    assert x.dtype == full.dtype
    np.testing.assert_array_equal(np.asarray(x), full)
    np.testing.assert_array_equal(x.local(3), full[3:, 1:])


def test_bfloat16(worlds):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = worlds(2).array(np.arange(4, dtype=np.float32).astype(ml_dtypes.bfloat16), "P('a')")
    assert x.dtype == ml_dtypes.bfloat16
    assert np.asarray(x + x).astype("f4").tolist() == [0, 2, 4, 6]
    assert x.local(1).astype("f4").tolist() == [2, 3]
    assert np.asarray(x.astype("f32")).dtype == np.float32


def test_strides_and_scalars(worlds):
    world = worlds(3)
    full = np.arange(24.0).reshape(4, 6)
    for view in (full.T, full[::-1], full[:, ::2], np.asfortranarray(full)):
        np.testing.assert_array_equal(np.asarray(world.array(view, "P(None, 'a')")), view)
    assert world.array(3.5).shape == ()
    assert float(world.array(3.5)) == 3.5
    assert int(world.array(7)) == 7
    assert bool(world.array(True))
    assert world.array([1, 2], dtype="f64").dtype == np.float64
    with pytest.raises(ts.InvalidError, match="one element"):
        world.ones(3).item()
    with pytest.raises(TypeError, match="without dimensions"):
        len(world.array(1))
    assert len(world.ones((4, 2))) == 4


def test_what_is_made(worlds):
    world = worlds(4)
    layout = "P(('a', 'b'), None)"
    assert np.asarray(world.zeros((3, 2), layout)).sum() == 0
    assert np.asarray(world.full((3, 2), 2.5, layout)).tolist() == [[2.5, 2.5]] * 3
    assert np.asarray(world.iota((3, 2), 1, layout)).tolist() == [[0, 1]] * 3
    assert np.asarray(world.arange(5)).tolist() == [0, 1, 2, 3, 4]
    uniform = np.asarray(world.random_uniform((50, 3), layout, seed=3))
    again = np.asarray(worlds(1).random_uniform((50, 3), seed=3))
    np.testing.assert_array_equal(uniform, again)
    assert uniform.min() >= 0 and uniform.max() < 1
    normal = np.asarray(world.random_normal((400, 5), layout, seed=2**63 + 1, dtype="f64"))
    assert abs(normal.mean()) < 0.1 and abs(normal.std() - 1) < 0.1
    with pytest.raises(TypeError, match="made by a World"):
        ts.Array()


def test_layouts_of_other_kinds(worlds):
    world = worlds(4)
    sharding = ts.Sharding("P('a', 'b')", world.mesh)
    x = world.ones((4, 4), sharding)
    assert x.sharding == sharding
    for layout in ("P('a', 'b')", "[Shard(0), Shard(1)]", '[{"a"}, {"b"}]', sharding):
        assert world.ones((4, 4), layout).sharding == sharding
    with pytest.raises(ts.InvalidError, match="rank: 2 != 1"):
        world.ones((4,), sharding)
    with pytest.raises(ts.Error):
        world.ones((4, 4), ts.Sharding("P('x')", "x=2", (4, 4)))


def test_numpy_sees_memory(worlds):
    world = worlds(2)
    x = world.array(np.arange(6.0), "P('a')")
    part = x.local(1)
    part[:] = 9
    assert np.asarray(x).tolist() == [0, 1, 2, 9, 9, 9]
    with pytest.raises(ts.InvalidError, match="rank 2 is not one of this process"):
        x.local(2)
    with pytest.raises(ValueError, match="copy"):
        x.__array__(copy=False)  # np.asarray(x, copy=False) of NumPy 2
    assert np.asarray(x, dtype="f4").dtype == np.float32
    assert world.ones((1,), "P('a')").local(1).shape == (0,)


def test_memory_outlives_array_and_world():
    world = ts.World(2)
    part = world.array(np.arange(1000.0), "P('x')").local(1)
    capsule = world.full((10,), 4.0, "P('x')").to_dlpack(0)
    gc.collect()
    world.close()
    del world
    gc.collect()
    assert part.sum() == sum(range(500, 1000))
    del part, capsule
    gc.collect()


def test_dlpack_both_ways(worlds):
    world = worlds(1)
    x = world.array(np.arange(6.0).reshape(2, 3))
    seen = np.from_dlpack(x)
    assert seen.tolist() == [[0, 1, 2], [3, 4, 5]]
    x.local()[0, 0] = 8
    assert seen[0, 0] == 8
    given = np.arange(4.0)
    y = world.from_dlpack([given], None, (4,))
    given[0] = 5
    assert np.asarray(y).tolist() == [5, 1, 2, 3]
    assert np.shares_memory(y.local(), given)
    del given
    gc.collect()
    assert np.asarray(y + 0).tolist() == [5, 1, 2, 3]
    assert x.__dlpack_device__() == (1, 0)
    many = worlds(2).ones((4,), "P('a')")
    with pytest.raises(BufferError, match=r"to_dlpack\(rank\)"):
        np.from_dlpack(many)
    parts = [np.full(2, 1.0), np.full(2, 2.0)]
    z = worlds(2).from_dlpack(parts, "P('a')", (4,))
    assert np.asarray(z).tolist() == [1, 1, 2, 2]
    with pytest.raises(ts.InvalidError, match="1 parts are given"):
        worlds(2).from_dlpack(parts[:1], "P('a')", (4,))
    with pytest.raises(ts.Error):
        worlds(2).from_dlpack(parts, "P('a')", (5,))
    with pytest.raises(ts.InvalidError, match="no __dlpack__"):
        worlds(1).from_dlpack([3], None, ())


def test_from_local(worlds):
    x = worlds(2).from_local([[1.0, 2.0], [3.0]], "P('a')", (3,))
    assert np.asarray(x).tolist() == [1, 2, 3]
    with pytest.raises(ts.Error):
        worlds(2).from_local([[1.0], [2.0, 3.0]], "P('a')", (3,))


def test_files(worlds, tmp_path):
    full = np.arange(35.0).reshape(7, 5)
    path = str(tmp_path / "x.npy")
    np.save(path, full)
    x = worlds(4).load(path, "P('a', 'b')")
    np.testing.assert_array_equal(np.asarray(x), full)
    (x * 2).save(str(tmp_path / "y.npy"))
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), full * 2)
    with pytest.raises(FileNotFoundError):
        worlds(4).load(str(tmp_path / "absent.npy"))


def test_operators_with_numpy_and_numbers(worlds):
    world = worlds(4)
    full = np.arange(1.0, 7).reshape(2, 3)
    x = world.array(full, "P('a', 'b')")
    for ours, theirs in [
        (full + x, full + full),
        (full - x * 2, -full),
        (3 - x, 3 - full),
        (2**x, 2**full),
        (1 / x, 1 / full),
        (full / x, full / full),
        (full.T @ x, full.T @ full),
        (x @ full.T, full @ full.T),
        (np.float64(2) * x, 2 * full),
        ((x > 2) & (x < 5), (full > 2) & (full < 5)),
        ((x == 2) | (x != x), full == 2),
        ((x >= 2) ^ (x <= 3), (full >= 2) ^ (full <= 3)),
        (~(x > 2), ~(full > 2)),
        (x.T.reshape(-1), full.T.reshape(-1)),
        (x.reshape(3, 2), full.reshape(3, 2)),
        (x.transpose(1, 0), full.T),
        (x.max(1), full.max(1)),
        (x.min(), full.min()),
        (x.mean(0, keepdims=True), full.mean(0, keepdims=True)),
        (x.prod(0), full.prod(0)),
        ((x > 2).all(1), (full > 2).all(1)),
        ((x > 2).any(0), (full > 2).any(0)),
        (x.argmax(1), full.argmax(1)),
        (x.cumsum(1), full.cumsum(1)),
        (x.clip(2, 4), full.clip(2, 4)),
        (x.ravel(), full.ravel()),
        (x[-1], full[-1]),
        (x[..., 1:], full[..., 1:]),
        (x[None, 0], full[None, 0]),
    ]:
        np.testing.assert_allclose(np.asarray(ours), theirs)
    big = world.array(np.array([1 << 60, 3]))
    assert np.asarray(big + ((1 << 60) + 1)).tolist() == [(1 << 61) + 1, (1 << 60) + 4]
    for use in (lambda: x + "text", lambda: x * None, lambda: x @ "text"):
        with pytest.raises(TypeError):
            use()
    with pytest.raises(ts.InvalidError):
        world.array([1, 2]) + 0.5
    with pytest.raises(IndexError):
        x[2]
    with pytest.raises(ts.InvalidError, match="positive"):
        x[::-1]
    with pytest.raises(ts.InvalidError, match="3 indices"):
        x[0, 0, 0]
    with pytest.raises(ts.InvalidError, match="no dimension 2"):
        x.sum(2)
    with pytest.raises(ts.InvalidError, match="not an order"):
        x.transpose(0, 0)
    with pytest.raises(TypeError):
        hash(x)
    with pytest.raises(TypeError, match="not an Array"):
        ts.exp(3.0)


def test_numbers_of_python(worlds):
    world = worlds(4)
    full = np.arange(1.0, 7).reshape(2, 3)
    x = world.array(full, "P('a', 'b')")
    total = x.sum()
    assert f"{total:.2f}" == "21.00"
    assert f"{total}" == str(total)
    assert f"{x}" == repr(x)
    assert complex(total) == 21 + 0j
    assert [10, 20, 30][world.array(1)] == 20
    assert x.tolist() == full.tolist()
    assert x.nbytes == full.nbytes
    with pytest.raises(ts.InvalidError, match="one element"):
        f"{x:.2f}"
    with pytest.raises(TypeError, match="an index is an integer"):
        [1, 2][world.array(1.0)]


def test_many_operands(worlds):
    world = worlds(4)
    parts = [np.full((i % 3, 2), float(i)) for i in range(64)]
    arrays = [world.array(part, "P(None, 'a')") for part in parts]
    joined = ts.concatenate(arrays)
    np.testing.assert_array_equal(np.asarray(joined), np.concatenate(parts))
    sizes = np.cumsum([len(part) for part in parts])[:-1]
    for ours, theirs in zip(ts.split(joined, sizes.tolist()), parts, strict=True):
        np.testing.assert_array_equal(np.asarray(ours), theirs)
    with pytest.raises(ts.InvalidError, match="at most 64 arrays"):
        ts.concatenate([*arrays, arrays[0]])


def test_layout_calls(worlds):
    world = worlds(4)
    full = np.arange(12.0).reshape(3, 4)
    x = world.array(full, "P('a', 'b')")
    assert x.redistribute("P('b', 'a')").sharding.to("jax") == "P('b', 'a')"
    assert x.replicate().sharding.is_replicated
    assert x.gather(0).sharding.to("jax") == "P(None, 'b')"
    pending = x.sum(0)
    assert pending.sharding.unreduced == ("a",)
    settled = pending.reduce_pending()
    assert not settled.sharding.unreduced
    np.testing.assert_array_equal(np.asarray(settled), full.sum(0))


def test_trace_and_strict(worlds):
    world = worlds(4)
    x, y = world.ones((4, 4), "P('a', None)"), world.ones((4, 4), "P(None, 'a')")
    with world.trace() as moved:
        x + y
    assert [one.call for one in moved] == ["tsr_add"]
    assert moved[0].implicit and moved[0].bytes_moved > 0
    assert moved.records()[0]["collective"] == moved[0].collective
    assert "tsr_add" in str(moved)
    with world.strict(), pytest.raises(ts.Error, match="strict") as caught:
        x + y
    assert "tsr_add" in str(caught.value)
    assert float((x + y).sum()) == 32
    with world.trace() as moved:
        pass
    assert list(moved) == [] and str(moved) == ""


def test_strategies(worlds):
    world = worlds(4)
    for name in ("basic", "most-parallel", "aggressive"):
        world.set_strategy(name)
    with pytest.raises(ts.InvalidError, match="no strategy"):
        world.set_strategy("best")


def test_abstract_world():
    with ts.abstract("dp=256, tp=16") as world, world.trace() as moved:
        assert world.size == 4096
        x = world.zeros((8192, 4096), "P('dp', 'tp')", dtype="bf16")
        w = world.zeros((4096, 1024), "P('tp', None)", dtype="bf16")
        y = (x @ w).redistribute("P('dp', None)")
        assert y.is_abstract and y.shape == (8192, 1024)
        with pytest.raises(ts.InvalidError, match="no elements"):
            np.asarray(y)
        with pytest.raises(ts.InvalidError, match="no elements"):
            y.local()
    assert [one.collective for one in moved] == ["all-reduce"]
    assert "P('dp', None)" in moved[0].destination or '"dp"' in moved[0].destination
    z = None
    with ts.World(2) as world:
        z = world.abstract_array((4, 4), "P('x')")
        assert (z @ z).is_abstract


def test_traffic(worlds):
    world = worlds(2)
    before = world.traffic()
    world.ones((8,), "P('a')", dtype="f64").replicate()
    after = world.traffic()
    assert after["received"] - before["received"] == 32


def test_trace_in_a_notebook(worlds):
    world = worlds(2)
    with world.trace() as moved:
        world.ones((4,), "P('a')").replicate()
    assert "<td>all-gather</td>" in moved._repr_html_()
    assert "&quot;a&quot;" in moved._repr_html_()


def test_integers_of_numpy_and_other_orders(worlds):
    world = worlds(4)
    full = np.arange(12.0).reshape(3, 4)
    x = world.array(full, "P('a', 'b')")
    one = np.int64(1)
    np.testing.assert_array_equal(np.asarray(x.sum(one)), full.sum(1))
    np.testing.assert_array_equal(np.asarray(x.sum(np.array([0, 1]))), full.sum())
    np.testing.assert_array_equal(np.asarray(x.reshape(np.int32(12))), full.reshape(12))
    np.testing.assert_array_equal(np.asarray(x[one:, one]), full[1:, 1])
    np.testing.assert_array_equal(np.asarray(ts.split(x, np.int64(2), 1)[1]), full[:, 2:])
    assert world.zeros(np.int64(3)).shape == (3,)
    big = world.array(full.astype(">f8"), "P('a')")
    assert big.dtype == np.float64
    np.testing.assert_array_equal(np.asarray(big), full)
    for wrong in (np.array(["a"]), np.array([object()]), np.array(["2020"], dtype="M8[Y]")):
        with pytest.raises(ts.UnsupportedError, match="no element type"):
            world.array(wrong)
    assert [float(row.sum()) for row in x] == full.sum(1).tolist()
    with pytest.raises(TypeError):
        x.sum(0.5)


def test_modes_nest(worlds):
    world = worlds(4)
    x, y = world.ones((4, 4), "P('a', None)"), world.ones((4, 4), "P(None, 'a')")
    with world.strict():
        with world.strict():
            pass
        with pytest.raises(ts.Error, match="strict"):
            x + y
    assert float((x + y).sum()) == 32
    with world.trace() as moved:
        with pytest.raises(ts.InvalidError, match="traced already"), world.trace():
            pass
        x + y
    assert len(moved) == 1

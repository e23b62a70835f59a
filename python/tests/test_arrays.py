"""Arrays: what they are made from, what they become, traces, strict mode, abstract worlds."""

import gc
import json
import os
import re
import warnings

import numpy as np
import pytest
from cases import MESHES

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


def numpys(name):
    """The element type that NumPy means by a name; None where it means none that there is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = np.dtype(name)
        except (TypeError, ValueError, SyntaxError):
            return None
    return found if found.name in [*DTYPES, "bfloat16"] else None


def test_names_of_element_types(worlds):
    """A name is what NumPy means by it, or only programs have it, or it is refused."""
    world = worlds(2)
    names = {name for name in np.sctypeDict if isinstance(name, str)}
    names |= {f"{kind}{size}" for kind in "biufc" for size in (1, 2, 4, 8, 16, 32, 64, 128)}
    names |= {f"{order}f8" for order in "<=|>"} | set("?bBhHiIlLqQefdFD")
    names |= {"float", "int", "bool", "complex", "half", "single", "double"}
    refused = set()
    for name in sorted(names):
        wanted = numpys(name)
        try:
            made = world.zeros((2,), dtype=name).dtype
        except ts.InvalidError:
            refused.add(name)
            continue
        assert wanted in (None, made), name
    both = {"i1", "i2", "i4", "i8", "u2", "u4", "u8", "float"}
    assert {name for name in refused if numpys(name) is not None} == both | {">f8"}
    for name, told in [("i8", "int64 or int8"), ("i1", "int8 or bool"), ("u8", "uint64 or uint8")]:
        for use in (world.ones((2,)).astype, lambda to: world.array([1], dtype=to)):
            with pytest.raises(ts.InvalidError, match=rf"'{name}' .*{told}$"):
                use(name)
    with pytest.raises(ts.InvalidError, match=r"'float' .*float64 or float32"):
        world.zeros((2,), dtype="float")
    with pytest.raises(ts.InvalidError, match="unknown element type 'f5'"):
        world.zeros((2,), dtype="f5")
    for kind, wanted in [(int, "int64"), (float, "float64"), (bool, "bool"), (np.int8, "int8")]:
        assert world.zeros((2,), dtype=kind).dtype == wanted
    assert world.zeros((2,), dtype="ui8").dtype == np.uint8


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([300], "int8"),
        ([-1], "uint8"),
        ([2**63], "int64"),
        ([0.5], "int32"),
        ([float("nan")], "int32"),
        ([2.0**63], "int64"),
        ([2], "bool"),
        ([1e300], "float32"),
        ([1e5], "f16"),
        ([1j], "float64"),
        (np.array([-1], "i1"), "uint64"),
        (np.array([2**64 - 1], "u8"), "int64"),
    ],
)
def test_values_that_do_not_fit(values, dtype, worlds):
    with pytest.raises(ts.InvalidError, match=r"is not a value of .*: convert the values first"):
        worlds(2).array([0, *values] if isinstance(values, list) else values, dtype=dtype)


def test_narrow_floats_without_infinity(worlds):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if hasattr(ml_dtypes, "float4_e2m1fn"):
        with pytest.raises(ts.InvalidError, match="7 is not a value of float4_e2m1fn"):
            worlds(2).array([6, 7], dtype="float4_e2m1fn")


def test_values_that_fit(worlds):
    world = worlds(2)
    for values, dtype in [
        ([127, -128], "int8"),
        ([2**64 - 1], "uint64"),
        ([3.0, -4.0], "i32"),
        ([0.1, np.inf, np.nan], "f32"),
        ([1 + 0j], "float64"),
        ([0.0, 1.0], "bool"),
        ([], "int8"),
        (2, "int8"),
    ]:
        made = world.array(values, dtype=dtype)
        np.testing.assert_array_equal(
            np.asarray(made), np.real(np.asarray(values)).astype(made.dtype)
        )
    assert np.asarray(world.arange(128, dtype="int8")).tolist() == list(range(128))
    assert np.asarray(world.full((2,), np.inf)).tolist() == [np.inf] * 2
    for number, dtype in [(1e300, "f32"), (70000, "f16"), (1e300j, "complex64")]:
        with pytest.raises(ts.InvalidError, match="it would become infinite"):
            world.full((2,), number, dtype=dtype)
    with pytest.raises(ts.InvalidError, match="128 is not a value of int8"):
        world.arange(129, dtype="int8")


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


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("ending", [".npy", ".npz", ".safetensors"])
def test_formats(ending, ranks, tmp_path):
    """What a file is named for is in it, and a file is read by what is in it."""

    def run(world):
        for dtype in ["bool", "uint8", "int64", "float16", "float32", "complex64"]:
            for shape in [(5, 3), (0, 3), ()]:
                full = (np.arange(np.prod(shape)).reshape(shape) % 3).astype(dtype)
                x = world.array(full, "P('a', None)" if shape else None)
                path = tmp_path / f"{world.size}{len(world.local_ranks)}{dtype}{len(shape)}{ending}"
                x.save(path)
                other = path.with_suffix(".other")
                if world.rank == 0:
                    path.replace(other)
                world.barrier()
                for layout in ("P(None, 'a')" if shape else None, None):
                    again = world.load(other, layout)
                    assert again.dtype == full.dtype
                    np.testing.assert_array_equal(np.asarray(again), full)

    with ts.World(MESHES[ranks]) as world:
        run(world)
    ts.launch(run, MESHES[ranks])
    for path in tmp_path.glob("*float323.other" if ending == ".npy" else "*float322.other"):
        if ending != ".safetensors":
            np.load(path)  # as NumPy reads it


def test_formats_that_others_write(worlds, tmp_path):
    world = worlds(2)
    a, b = np.arange(6.0).reshape(2, 3), np.arange(4)
    np.savez_compressed(tmp_path / "two.npz", a=a, b=b)
    assert np.asarray(world.load(tmp_path / "two.npz", "P('a')", name="b")).tolist() == [0, 1, 2, 3]
    header = json.dumps(
        {
            "__metadata__": {"by": "hand"},
            "w": {"dtype": "F64", "shape": [2, 3], "data_offsets": [4, 52]},
            "n": {"dtype": "I32", "shape": [], "data_offsets": [0, 4]},
        }
    ).encode()
    path = tmp_path / "two.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\7\0\0\0" + a.tobytes())
    np.testing.assert_array_equal(np.asarray(world.load(path, "P('a', None)", name="w")), a)
    assert int(world.load(path, name="n")) == 7
    for given in ("two.npz", "two.safetensors"):
        with pytest.raises(ts.InvalidError, match=rf"{given} has 2 arrays, .*name=\.\."):
            world.load(tmp_path / given)
        with pytest.raises(ts.InvalidError, match="none of them is 'c'"):
            world.load(tmp_path / given, name="c")


@pytest.mark.parametrize("ending", [".npy", ".npz", ".safetensors"])
def test_files_that_are_cut_short(ending, worlds, tmp_path):
    path = tmp_path / f"cut{ending}"
    worlds(2).array(np.arange(1000.0)).save(path)
    whole = path.read_bytes()
    for size in [0, 1, 5, 9, 40, 100, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(ts.Error, match=rf"cut{re.escape(ending)}"):
            worlds(2).load(path, "P('a')")


def test_paths_and_types_that_no_file_has(worlds, tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    world = worlds(2)
    x = world.ones((4,), "P('a')")
    for wrong in (None, 3, ["x.npy"]):
        with pytest.raises(TypeError):
            x.save(wrong)
        with pytest.raises(TypeError):
            world.load(wrong)
    for name in ("x", "x.bin", "x.npy.gz"):
        with pytest.raises(ts.InvalidError, match=rf"{name}' names no format: .*safetensors"):
            x.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    narrow = x.astype("bf16") * 3
    for name in ("b.npy", "b.npz"):
        with pytest.raises(ts.UnsupportedError, match=r"bfloat16.*b\.safetensors'\) keeps"):
            narrow.save(tmp_path / name)
    narrow.save(tmp_path / "b.safetensors")
    again = world.load(tmp_path / "b.safetensors", "P('a')")
    assert again.dtype == ml_dtypes.bfloat16
    assert np.asarray(again).astype("f4").tolist() == [3, 3, 3, 3]
    with pytest.raises(ts.UnsupportedError, match="no name for complex128"):
        world.array(np.ones(4, "c16")).save(tmp_path / "c.safetensors")
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(ts.InvalidError, match="not a regular file"):
        world.load(tmp_path / "pipe.npy")
    (tmp_path / "text.npy").write_text("no array at all")
    with pytest.raises(ts.InvalidError, match=r"text\.npy is not a file of arrays"):
        world.load(tmp_path / "text.npy")


def test_orders_of_dimensions(worlds):
    full = np.arange(24.0).reshape(2, 3, 4)
    x = worlds(2).array(full, "P('a')")
    for order in ((2, 0, 1), [2, 0, 1], (-1, 0, 1)):
        np.testing.assert_array_equal(np.asarray(x.transpose(order)), full.transpose(order))
        np.testing.assert_array_equal(np.asarray(x.transpose(*order)), full.transpose(order))
    np.testing.assert_array_equal(np.asarray(x.transpose(None)), full.T)


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
    with pytest.raises(ts.InvalidError, match="dimension 2 is out of range"):
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


def test_pending_sums_of_narrow_types(worlds):
    world = worlds(4)
    x = world.ones((6, 8), "P(None, 'a')", dtype="bf16")
    y = x @ world.ones((8, 4), "P('a', None)", dtype="bf16")
    assert "bf16[6,4] pending in f32" in repr(y)
    with world.trace() as moved:
        done = y.reduce_pending()
    assert moved[0].tensor == "bf16[6,4] pending in f32" and moved[0].convert == "f32 to bf16"
    assert "pending" not in repr(done) and float(done.sum()) == 192


def test_strategies(worlds):
    world = worlds(4)
    x = world.array(np.arange(12.0).reshape(3, 4), "P('a', None)")
    for name in ("basic", "most-parallel", "cheapest", "aggressive"):
        world.set_strategy(name)
        y = x @ world.array(np.ones((4, 2)), "P('a', None)")
        np.testing.assert_array_equal(
            np.asarray(y), np.arange(12.0).reshape(3, 4) @ np.ones((4, 2))
        )
    with pytest.raises(ts.InvalidError, match="unknown strategy"):
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


WAYS = {  # of giving indices
    "list": lambda world, rows: rows,
    "numpy": lambda world, rows: np.asarray(rows, dtype="i2"),
    "cut": lambda world, rows: world.array(rows, "P('a')", "int8"),
    "whole": lambda world, rows: world.array(rows, None, "int64"),
}
TABLES = ["P('a', None)", "P(None, 'a')", None]


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("way", sorted(WAYS))
def test_rows_by_index(way, ranks, worlds):
    rows = [-1, 0, 127] if way == "cut" else [-1, 0, 299, -300]
    full = np.arange(900.0).reshape(300, 3)

    def run(world):
        for layout in TABLES:
            x = world.array(full, layout)
            given, expected = WAYS[way](world, rows), full[rows]
            for made in (ts.take(x, given), ts.embedding(x, given), ts.take(x.T, given, 1).T):
                np.testing.assert_array_equal(np.asarray(made), expected)
            more = world.array(np.ones(expected.shape))
            added = np.asarray(ts.scatter(x, given, more, op="add"))
            assert added[-1].tolist() == (full[-1] + rows.count(-1) + rows.count(299)).tolist()
            small = x[:100]
            given = WAYS[way](world, [1, 100, -1])
            for wrong in (
                lambda t=small, i=given: ts.take(t, i),
                lambda t=small, i=given: ts.embedding(t, i),
                lambda t=small, i=given: ts.scatter(t, i, world.array(np.ones((3, 3)))),
            ):
                with pytest.raises(IndexError, match=r"index 100 is out of range .* size 100"):
                    wrong()
            np.testing.assert_array_equal(
                np.asarray(ts.take(small, given, mode="clip")), full[[1, 99, 0]]
            )
            dropped = ts.scatter(small, given, world.array(np.ones((3, 3))), mode="drop")
            assert np.asarray(dropped)[[0, 1, 99], 0].tolist() == [0, 1, 297]

    run(worlds(ranks))
    if way != "cut":  # of which a launched rank sees its own part: it alone finds the mistake
        ts.launch(run, MESHES[ranks])


def test_rows_that_one_rank_lacks():
    def run(world):
        indices = world.array([0, 1, 2, 9], "P('a')")
        ts.take(world.array(np.arange(4.0)), indices)

    with pytest.raises(IndexError, match="index 9 is out of range") as caught:
        ts.launch(run, "a=2")
    assert caught.value.rank == 1


def test_what_are_no_indices(worlds):
    world = worlds(2)
    x = world.array(np.arange(8.0).reshape(4, 2), "P('a', None)")
    assert np.asarray(ts.embedding(x, -1)).tolist() == [6, 7]
    assert ts.take(x, []).shape == (0, 2)
    for wrong in ([0.5], [True], "a"):
        with pytest.raises(TypeError, match="indices are integers"):
            ts.take(x, wrong)
    with pytest.raises(ts.InvalidError, match="unknown mode 'wrap'"):
        ts.take(x, [0], mode="wrap")
    assert x[world.array(3)].shape == (2,)
    for key in (world.array([3]), world.array([[3]]), np.array([3])):
        with pytest.raises(TypeError):
            x[key]


def test_the_greatest_of_nothing(worlds):
    x = worlds(2).zeros((0, 3), "P(None, 'a')")
    for call in (x.max, x.min, lambda: x.max(0), lambda: np.max(x), lambda: x.argmax(0)):
        with pytest.raises(ValueError, match=r"of nothing: dimension 0 .*\(0, 3\) has size 0"):
            call()
    assert x.max(1).shape == (0,) and x.argmax(1).shape == (0,) and float(x.sum()) == 0


@pytest.mark.parametrize("shape", [(8, 4), (5, 3)])
@pytest.mark.parametrize(
    "source", ["P('a', None)", "P(None, ('b', 'a'))", "P(('a', 'b'), None)", None, "P('b', 'a')"]
)
def test_sums_that_are_made_pending(source, shape, worlds):
    world = worlds(4)
    full = np.arange(float(np.prod(shape))).reshape(shape)
    for wanted in ('[{}, {}], unreduced={"a"}', '[{}, {"b"}], unreduced={"a"}'):
        x = world.array(full, source).convert(wanted)
        assert x.sharding.unreduced == ("a",)
        np.testing.assert_array_equal(np.asarray(x), full)
        parts = [np.asarray(x.local(rank)) for rank in (0, 2)]  # along a
        assert not (parts[0] * parts[1]).any()
    both = world.array(full, source).convert('[{}, {}], unreduced={"a", "b"}')
    assert set(both.sharding.unreduced) == {"a", "b"}
    np.testing.assert_array_equal(np.asarray(both), full)


def test_parts_of_a_pending_sum(worlds):
    world = worlds(4)
    full = np.arange(4.0)
    twice = world.array(full, "P('b')").reinterpret('[{"b"}], unreduced={"a"}')
    np.testing.assert_array_equal(np.asarray(twice), 2 * full)
    with pytest.raises(ts.Error, match="tsr_convert_type"):
        world.array(full, "P('a')").reinterpret('[{}], unreduced={"a"}')
    with pytest.raises(ts.InvalidError, match="sums pending, not max"):
        world.array(full).convert('[{}], unreduced=max{"a"}')
    pending = world.array(full).convert('[{}], unreduced={"a"}')
    assert pending.convert("P('a')").sharding.dims[0].axes == ("a",)
    with pytest.raises(ts.Error, match=r"x\.convert\(layout\)"):
        world.array(full).redistribute('[{}], unreduced={"a"}')
    with pytest.raises(ts.UnsupportedError, match="this call has no gradient"):
        ts.grad(lambda w: w.convert('[{}], unreduced={"a"}').sum())(world.array(full))

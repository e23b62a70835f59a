"""Meshes and shardings: texts, boxes, other libraries' forms."""

import sys

import numpy as np
import pytest
from cases import MESHES, random_layout, random_shape
from hypothesis import given, settings
from hypothesis import strategies as st

import tessera as ts


def test_mesh():
    mesh = ts.Mesh("dp=2, tp=4")
    assert repr(mesh) == '<["dp"=2, "tp"=4]>'
    assert mesh.shape == {"dp": 2, "tp": 4}
    assert mesh.device_ids.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert mesh.coordinates(6) == (1, 2)
    assert mesh.device(1, 2) == 6
    assert mesh.name is None
    assert ts.Mesh(mesh, name="m").name == "m"
    assert mesh == ts.Mesh(repr(mesh)) == ts.Mesh({"dp": 2, "tp": 4})
    assert hash(mesh) == hash(ts.Mesh("dp=2,tp=4"))
    assert mesh != ts.Mesh("dp=4, tp=2")
    assert mesh != "dp=2"


def test_mesh_errors():
    with pytest.raises(ts.ParseError):
        ts.Mesh("dp=")
    with pytest.raises(ts.InvalidError, match=r"twice|duplicate"):
        ts.Mesh("x=2, x=2")
    with pytest.raises(ts.InvalidError, match="not from int"):
        ts.Mesh(3)
    with pytest.raises(ts.InvalidError, match="no device 8"):
        ts.Mesh("x=8").coordinates(8)
    with pytest.raises(ts.InvalidError, match="outside"):
        ts.Mesh("x=8").device(8)
    with pytest.raises(ts.InvalidError, match="2 coordinates for the 1 axes"):
        ts.Mesh("x=8").device(1, 2)


def test_mesh_with_device_ids():
    mesh = ts.Mesh('<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>')
    assert mesh.device_ids.tolist() == [[0, 2], [1, 3]]
    assert ts.Sharding("P('x')", mesh).boxes((4,))[2] == (slice(0, 2),)


NOTATIONS = [
    '[{"x"}, {}]',
    "P('x', None)",
    "PartitionSpec('x',)",
    "[Shard(0), Replicate()]",
    "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
]


@pytest.mark.parametrize("text", NOTATIONS)
def test_notations_agree(text):
    sharding = ts.Sharding(text, "x=2, y=4", (5, 3))
    assert sharding == ts.Sharding(NOTATIONS[0], "x=2, y=4")
    assert sharding.to("jax") == "P('x', None)"
    assert sharding.to("hlo") == "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"
    assert sharding.to("torch") == sharding.to("dtensor") == "[Shard(0), Replicate()]"
    assert eval("ts.Sharding(" + repr(repr(sharding)) + ")") == sharding


def test_tuples():
    for entries in [("x", None), (None, ("y", "x")), (None, None), ("y",)]:
        text = "P(" + ", ".join(map(repr, entries)) + ")"
        assert ts.Sharding(entries, "x=2, y=4", (8, 8)) == ts.Sharding(text, "x=2, y=4", (8, 8))
    assert ts.Sharding(["x", None], "x=2").to("jax") == "P('x', None)"
    for wrong in [("x", 3), (["x"], None), ((1,),)]:
        with pytest.raises(ts.InvalidError, match="a tuple such as"):
            ts.Sharding(wrong, "x=2")


def test_parts_of_a_sharding():
    sharding = ts.Sharding(
        '[{"x":(1)2, ?}p1, {}], replicated={"y"}, unreduced={"z"}', "x=4, y=2, z=2"
    )
    assert sharding.dims == (ts.Dim(("x:(1)2",), True, 1), ts.Dim(()))
    assert (sharding.replicated, sharding.unreduced, sharding.reduction) == (("y",), ("z",), "sum")
    assert not sharding.is_replicated
    assert ts.Sharding(None, "x=4", ndim=2).is_replicated
    assert sharding.ndim == 2


def test_sharding_errors():
    with pytest.raises(ts.ParseError):
        ts.Sharding("[{", "x=2")
    with pytest.raises(ts.Error, match="w"):
        ts.Sharding("P('w')", "x=2")
    with pytest.raises(ts.InvalidError, match="needs a mesh"):
        ts.Sharding(None)
    with pytest.raises(ts.InvalidError, match="not int"):
        ts.Sharding(3, "x=2")
    with pytest.raises(ts.InvalidError, match="unknown notation"):
        ts.Sharding("P('x')", "x=2").to("klingon")
    with pytest.raises(ts.UnsupportedError, match="cannot be expressed in jax"):
        ts.Sharding('[{"x":(1)2}]', "x=4").to("jax")
    with pytest.raises(ts.InvalidError, match="no device 2"):
        ts.Sharding("P('x')", "x=2").box((4,), 2)
    with pytest.raises(ts.Error):
        ts.Sharding("P('x')", "x=2").boxes((4, 4))
    with pytest.raises(ts.InvalidError, match="translate"):
        ts.Sharding(ts.Sharding("P('x')", "x=2"), "y=2")


def test_translate_and_same():
    sharding = ts.Sharding("P('x')", "x=2, y=2")
    other = sharding.translate("a=2, b=2")
    assert other.to("jax") == "P('a',)" or other.to("jax") == "P('a')"
    assert other.same(sharding, (8,))
    assert not other.same(ts.Sharding("P('b')", "a=2, b=2"), (8,))
    assert sharding.equivalent(ts.Sharding('[{"x", ?}]', "x=2, y=2"))
    assert not sharding.equivalent(ts.Sharding('[{"y"}]', "x=2, y=2"))


def brute_boxes(dims, mesh, shape):
    """The box of each device, from the definition: ceil chunks over the axes in order."""
    boxes = {}
    for device in range(mesh.size):
        at = dict(zip(mesh.axis_names, np.argwhere(mesh.device_ids == device)[0], strict=True))
        box = []
        for axes, extent in zip(dims, shape, strict=True):
            index, count = 0, 1
            for axis in axes:
                index = index * mesh.shape[axis] + int(at[axis])
                count *= mesh.shape[axis]
            chunk = -(-extent // count)
            start = min(index * chunk, extent)
            box.append(slice(start, min(start + chunk, extent)))
        boxes[device] = tuple(box)
    return boxes


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), ranks=st.sampled_from(sorted(MESHES)))
def test_boxes_against_the_definition(seed, ranks):
    rng = np.random.default_rng(seed)
    mesh = ts.Mesh(MESHES[ranks])
    shape = random_shape(rng)
    sharding = ts.Sharding(random_layout(rng, len(shape), mesh), mesh, ndim=len(shape))
    expected = brute_boxes([dim.axes for dim in sharding.dims], mesh, shape)
    found = sharding.boxes(shape)

    def sizes(box):
        return [part.stop - part.start for part in box]

    for device, box in expected.items():
        assert sizes(found[device]) == sizes(box)
        if 0 not in sizes(box):
            assert found[device] == box
    assert [one.shape for one in sharding.table(shape)] == [tuple(sizes(b)) for b in found.values()]
    if mesh.size and shape:
        assert sharding.local_shape(shape) == tuple(
            max(sizes(box)[d] for box in expected.values()) for d in range(len(shape))
        )


# ---- pictures ----


def test_pictures(capsys):
    sharding = ts.Sharding("P('x', 'y')", "x=2, y=2")
    ts.show(sharding, (4, 6), unicode=False, colour=False)
    drawn = capsys.readouterr().out
    assert drawn == sharding.show((4, 6), unicode=False)
    assert "|   0   |   1   |" in drawn
    assert "│" in sharding.show((4, 6))
    assert "\x1b[" in sharding.show((4, 6), colour=True)
    svg = sharding.svg((4, 6), title="a < b")
    assert "<svg" in svg and svg.rstrip().endswith("</svg>") and "a &lt; b" in svg
    assert svg == sharding.svg((4, 6), title="a < b")
    assert "<svg" in sharding._repr_svg_()
    with pytest.raises(ts.InvalidError, match="drawn for a shape"):
        ts.show(sharding)
    with ts.World("x=2, y=2") as world:
        x = world.ones((4, 6), sharding)
        ts.show(x, unicode=False)
        assert capsys.readouterr().out == drawn
        assert "f32[4,6]" in x._repr_svg_()


# ---- jax ----


def jax_with_devices():
    import os

    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    return pytest.importorskip("jax")


def random_spec(rng, jax, mesh, ndim):
    """A random PartitionSpec, perhaps shorter than the tensor."""
    dims = [[] for _ in range(ndim)]
    for axis in rng.permutation(mesh.axis_names):
        at = int(rng.integers(-1, ndim)) if ndim else -1
        if at >= 0:
            dims[at].append(str(axis))
    entries = [None if not axes else axes[0] if len(axes) == 1 else tuple(axes) for axes in dims]
    while entries and entries[-1] is None and rng.random() < 0.5:
        entries.pop()
    return jax.sharding.PartitionSpec(*entries)


def test_against_jax():
    jax = jax_with_devices()
    if len(jax.devices()) < 8:
        pytest.skip("jax was imported with fewer than 8 devices")
    rng = np.random.default_rng(0)
    names = ["a", "b", "c", "d"]
    for _ in range(500):
        sizes = [[8], [2, 4], [4, 2], [2, 2, 2], [1, 8], [4], [2, 1, 3], [6]][rng.integers(0, 8)]
        count = int(np.prod(sizes))
        order = rng.permutation(8)[:count] if rng.random() < 0.5 else np.arange(count)
        devices = np.array(jax.devices(), dtype=object)[order].reshape(sizes)
        mesh = jax.sharding.Mesh(devices, names[: len(sizes)])
        ndim = int(rng.integers(0, 4))
        spec = random_spec(rng, jax, mesh, ndim)
        theirs = jax.sharding.NamedSharding(mesh, spec)
        shards = [
            int(
                np.prod(
                    [
                        mesh.shape[axis]
                        for axis in ([] if e is None else [e] if isinstance(e, str) else e)
                    ]
                )
            )
            for e in (*spec, *[None] * (ndim - len(spec)))
        ]
        shape = tuple(int(n * rng.integers(1, 4)) for n in shards)  # jax cuts evenly only
        ours = ts.Sharding(theirs, shape=shape)
        ids = sorted(int(device.id) for device in mesh.devices.ravel())
        expected = {
            ids.index(device.id): tuple(
                slice(*part.indices(extent)[:2]) for part, extent in zip(box, shape, strict=True)
            )
            for device, box in theirs.devices_indices_map(shape).items()
        }
        assert ours.boxes(shape) == expected, (theirs, shape)
        assert ours.local_shape(shape) == theirs.shard_shape(shape)
        back = ours.to_jax(mesh)
        assert back.is_equivalent_to(theirs, ndim), (theirs, back)
        assert ts.Sharding(back, shape=shape) == ours


def test_forms_of_jax():
    jax = jax_with_devices()
    sharding = jax.sharding
    abstract = sharding.AbstractMesh((2, 4), ("dp", "tp"))
    assert ts.Mesh(abstract) == ts.Mesh("dp=2, tp=4")
    spec = sharding.PartitionSpec("dp", None)
    assert ts.Sharding(spec, "dp=2, tp=4", (4, 4)).to("jax") == "P('dp', None)"
    named = sharding.NamedSharding(abstract, spec)
    assert ts.Sharding(named, shape=(4, 4)) == ts.Sharding("P('dp', None)", "dp=2, tp=4")
    free = sharding.PartitionSpec(sharding.PartitionSpec.UNCONSTRAINED, "tp")
    assert ts.Sharding(free, "dp=2, tp=4", (4, 4)).dims[0].open
    with pytest.raises(ts.InvalidError, match="has no axes"):
        ts.Sharding(sharding.SingleDeviceSharding(jax.devices()[0]), shape=(4,))
    if len(jax.devices()) >= 8:
        mesh = ts.Mesh("dp=2, tp=4").to_jax()
        array = jax.device_put(np.zeros((4, 8)), sharding.NamedSharding(mesh, spec))
        assert ts.Sharding(array) == ts.Sharding("P('dp', None)", "dp=2, tp=4")
        assert ts.Mesh(mesh) == ts.Mesh("dp=2, tp=4")


def test_the_mesh_of_a_layout_of_jax():
    """A NamedSharding is over its own mesh, whatever the world's is."""
    sharding = jax_with_devices().sharding
    spec = sharding.PartitionSpec("dp", None)
    named = sharding.NamedSharding(sharding.AbstractMesh((2, 2), ("tp", "dp")), spec)
    with ts.World("dp=2, tp=2") as world:
        x = world.array(np.arange(4.0).reshape(4, 1), named)
        assert x.sharding.mesh == ts.Mesh("tp=2, dp=2")
        assert [x.local(rank).ravel().tolist() for rank in range(4)] == [[0, 1], [2, 3]] * 2
        y = x.redistribute(spec)  # no mesh: the world's
        assert y.sharding.mesh == world.mesh
        assert [y.local(rank)[0, 0] for rank in range(4)] == [0, 0, 2, 2]
        large = sharding.NamedSharding(sharding.AbstractMesh((8,), ("dp",)), spec)
        with pytest.raises(ts.InvalidError):
            world.array(np.zeros((8, 1)), large)
    with pytest.raises(ts.InvalidError, match='the layout is on the mesh <\\["tp"=2, "dp"=2\\]>'):
        ts.Sharding(named, "dp=2, tp=2")


def test_without_optional_libraries():
    import sys

    if "jax" not in sys.modules:
        try:
            import jax  # noqa: F401
        except ImportError:
            with pytest.raises(ImportError, match="pip install jax"):
                ts.Mesh("x=2").to_jax()


@pytest.mark.parametrize(
    "layout",
    ["P('x', None)", '[{"x":(1)2, ?}p1, {}], replicated={"y"}', '[{}, {}], unreduced={"x"}'],
)
def test_pickles(layout):
    import pickle

    for mesh in (ts.Mesh("x=4, y=2"), ts.Mesh("x=4, y=2", name="m")):
        sharding = ts.Sharding(layout, mesh, (8, 8))
        again = pickle.loads(pickle.dumps(sharding))
        assert again == sharding and again.mesh.name == mesh.name
    ragged = ts.ragged.dynamic("x=2", "x", [3, 1], ndim=1)
    assert pickle.loads(pickle.dumps(ragged)) == ragged
    mesh = ts.Mesh('<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>', name="m")
    assert pickle.loads(pickle.dumps(mesh)) == mesh


class _OfTorch:
    """What passes for torch's where torch is not installed."""

    def __init__(self, text="", **parts):
        self.text = text
        self.__dict__.update(parts)

    def __repr__(self):
        return self.text


def test_a_shard_order_is_followed(monkeypatch):
    """A DTensor that cuts a dimension by its second axis first, as its spec says."""
    monkeypatch.setitem(sys.modules, "torch", _OfTorch())
    monkeypatch.setattr(_OfTorch, "__module__", "torch.fake")
    mesh = ts.Mesh("a=2, b=2, c=2")
    placements = [_OfTorch("Shard(dim=0)"), _OfTorch("Replicate()"), _OfTorch("Shard(dim=0)")]

    def dtensor(rows, axes):
        order = [_OfTorch(tensor_dim=0, mesh_dims=axes)]
        spec = _OfTorch(shard_order=order)
        return _OfTorch(placements=placements, shape=(rows, 3), device_mesh=mesh, _spec=spec)

    assert ts.Sharding(dtensor(8, (0, 2))).dims[0].axes == ("a", "c")
    turned = ts.Sharding(dtensor(8, (2, 0)))
    assert turned.dims[0].axes == ("c", "a") and turned.mesh == mesh
    assert turned.box((8, 3), 1)[0] == slice(4, 6)  # a = 0, c = 1: the second half, then its first
    uneven = ts.Sharding(dtensor(5, (2, 0)))
    assert [uneven.box((5, 3), d)[0] for d in (0, 4, 1, 5)] == [
        slice(0, 2),
        slice(2, 3),
        slice(3, 4),
        slice(4, 5),
    ]  # 5 -> 3 + 2 -> (2 + 1) + (1 + 1)
    assert ts.Sharding(dtensor(8, (2, 0)), mesh).dims[0].axes == ("c", "a")


def test_ragged_shardings_have_no_placements_of_torch():
    for layout in (
        ts.Sharding('[{"x"}:dynamic[3,0,5], {}]', "x=3"),
        ts.ragged.partitioned("x=2", "x", [[1, 2], [3, 4]], ndim=1),
    ):
        with pytest.raises(ts.UnsupportedError, match=r"no placements for ragged .*boxes\(shape\)"):
            layout.to_torch()

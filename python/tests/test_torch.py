"""DTensor of torch: the same placements give the same local parts (gloo, 2 to 4 processes)."""

import subprocess
import sys

import numpy as np
import pytest

import tessera as ts

torch = pytest.importorskip("torch")

PROGRAM = """
import sys

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor

import tessera as ts

rank, size, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=size)
rng = np.random.default_rng(7)
checked = nested = 0
# Over ranks in their order: torch's groups are sorted, whatever the order of a mesh says.
grids = [[size], [2, size // 2]] if size % 2 == 0 and size > 2 else [[size]]
meshes = [
    DeviceMesh("cpu", torch.arange(size).reshape(grid), mesh_dim_names=("a", "b")[: len(grid)])
    for grid in grids
]
for case in range(60):
    mesh = meshes[case % len(meshes)]
    grid, names = mesh.mesh.shape, mesh.mesh_dim_names
    shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 4)))
    placements = [
        Shard(int(rng.integers(0, len(shape)))) if rng.random() < 0.7 else Replicate() for _ in grid
    ]
    full = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    theirs = distribute_tensor(torch.from_numpy(full.copy()), mesh, placements)
    ours = ts.Sharding(theirs)
    assert ours.mesh == ts.Mesh(mesh) and ours.mesh.axis_names == names
    local = theirs.to_local().numpy()
    box = ours.box(shape, rank)
    assert local.size == np.asarray(full[box]).size, (placements, shape, rank, local.shape, box)
    if local.size:
        np.testing.assert_array_equal(local, full[box])
    again = ts.Sharding(ours.to_torch(shape), ours.mesh, shape)
    assert again.same(ours, shape)
    assert ts.Sharding(list(placements), mesh, shape) == ours
    nested += len(placements) == 2 and placements[0] == placements[1] and placements[0].is_shard()
    checked += 1
pending = ts.Sharding([Partial()] * 1, ts.Mesh({"a": size}), (3,))
assert pending.unreduced == ("a",) and pending.reduction == "sum"
assert ts.Mesh({"a": size}).to_torch().mesh.tolist() == list(range(size))
print("checked", checked, nested)
dist.destroy_process_group()
"""


def run_processes(text, size, tmp_path, told):
    """Runs a program in so many processes, each of which must print that."""
    program = tmp_path / "program.py"
    program.write_text(text)
    command = [sys.executable, str(program)]
    running = [
        subprocess.Popen(
            [*command, str(rank), str(size), str(tmp_path / "store")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    for one in running:
        out, err = one.communicate(timeout=240)
        assert one.returncode == 0, out + err
        assert told in out


@pytest.mark.parametrize("size", [2, 3, 4])
def test_local_parts(size, tmp_path):
    run_processes(PROGRAM, size, tmp_path, "checked 60")


def test_documented_difference():
    """DTensor cuts a dimension axis by axis: where that is uneven, the sizes are its own."""
    from torch.distributed.tensor import Shard

    nested = ts.Sharding([Shard(0), Shard(0)], "a=2, b=2", (5,))
    assert nested.dims[0].sizes == (2, 1, 1, 1)  # 5 -> 3 + 2 -> (2 + 1) + (1 + 1)
    at_once = ts.Sharding("P(('a', 'b'))", "a=2, b=2")
    assert [box[0].stop - box[0].start for box in at_once.boxes((5,)).values()] == [2, 2, 1, 0]
    assert not nested.same(at_once, (5,))
    even = ts.Sharding([Shard(0), Shard(0)], "a=2, b=2", (8,))
    assert even == ts.Sharding("P(('a', 'b'))", "a=2, b=2")


ORDERED = """
import itertools
import sys

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor._dtensor_spec import DTensorSpec, ShardOrderEntry, TensorMeta
from torch.distributed.tensor._redistribute import redistribute_local_tensor

import tessera as ts

rank, size, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=size)
mesh = DeviceMesh("cpu", torch.arange(size).reshape(2, 2, 2), mesh_dim_names=("a", "b", "c"))
rng = np.random.default_rng(3)
for case in range(24):
    shape = tuple(int(n) for n in rng.integers(1, 12, 2))
    full = torch.arange(float(np.prod(shape))).reshape(shape)
    dims = [[], [], []]
    for axis in rng.permutation(3).tolist():
        dims[int(rng.integers(0, 3))].append(axis)
    placements = tuple(
        Shard(0) if axis in dims[0] else Shard(1) if axis in dims[1] else Replicate()
        for axis in range(3)
    )
    order = tuple(
        ShardOrderEntry(tensor_dim=d, mesh_dims=tuple(dims[d])) for d in (0, 1) if dims[d]
    )
    meta = TensorMeta(full.shape, full.stride(), full.dtype)
    whole = DTensorSpec(mesh, (Replicate(),) * 3, tensor_meta=meta)
    spec = DTensorSpec(mesh, placements, tensor_meta=meta, shard_order=order)
    local = redistribute_local_tensor(full, whole, spec)
    theirs = DTensor(local, spec, requires_grad=False)
    box = ts.Sharding(theirs).box(shape, rank)
    expected = full[box]
    assert local.numel() == expected.numel(), (order, shape, rank, local.shape, box)
    assert local.numel() == 0 or torch.equal(local, expected), (order, shape, rank, box)
print("checked", case + 1)
dist.destroy_process_group()
"""


def test_a_shard_order_of_its_own(tmp_path):
    specs = pytest.importorskip("torch.distributed.tensor._dtensor_spec")
    if not hasattr(specs, "ShardOrderEntry"):
        pytest.skip("this torch has no shard_order")
    run_processes(ORDERED, 8, tmp_path, "checked 24")


def test_dlpack_without_a_copy():
    with ts.World(1) as world:
        x = world.array(np.arange(6.0).reshape(2, 3))
        seen = torch.from_dlpack(x)
        seen[0, 0] = 7
        assert np.asarray(x)[0, 0] == 7
        given = torch.arange(4.0)
        y = world.from_dlpack([given], None, (4,))
        given[3] = 9
        assert np.asarray(y).tolist() == [0, 1, 2, 9]
        assert x.local().dtype == np.float64
    assert seen.sum() == 22  # it keeps its memory


def test_values_and_placements():
    from torch.distributed.tensor import Replicate, Shard

    with ts.World("a=2, b=2") as world:
        for dtype in (torch.bfloat16, torch.float16, torch.int32, torch.bool):
            tensor = torch.arange(8).reshape(4, 2).to(dtype)
            x = world.array(tensor, [Shard(0), Replicate()])
            assert x.local(3).astype("f4").tolist() == tensor[2:].float().tolist()
        part = torch.full((2,), 1.5, dtype=torch.bfloat16, requires_grad=True)
        y = world.from_local([part] * 4, "P('a')", (4,))
        assert np.asarray(y.astype("f32")).tolist() == [1.5] * 4
        for wrong in (Shard(0), torch.ones(3)):
            with pytest.raises(ts.InvalidError, match="a list of torch's placements"):
                x.redistribute(wrong)

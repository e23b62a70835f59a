"""Ragged placements against slices of NumPy."""

import numpy as np
import pytest

import tessera as ts

COUNTS = np.array([[2, 0, 3], [1, 4, 0], [0, 1, 1], [2, 2, 2]])


def unaligned_parts(full, counts):
    """What each shard holds: its slice of every partition, one after the other."""
    starts = np.concatenate([[0], np.cumsum(counts.sum(0))])
    before = np.cumsum(counts, 0) - counts
    return [
        np.concatenate(
            [
                full[starts[p] + before[s, p] : starts[p] + before[s, p] + counts[s, p]]
                for p in range(counts.shape[1])
            ]
        )
        for s in range(counts.shape[0])
    ]


@pytest.fixture
def world():
    with ts.World("ep=4") as opened:
        yield opened


def test_dynamic(world):
    full = np.arange(20.0).reshape(10, 2)
    sizes = [3, 0, 5, 2]
    layout = ts.ragged.dynamic(world.mesh, "ep", sizes, ndim=2)
    assert layout.dims[0].sizes == (3, 0, 5, 2)
    x = world.array(full, layout)
    edges = np.concatenate([[0], np.cumsum(sizes)])
    for rank in range(4):
        np.testing.assert_array_equal(x.local(rank), full[edges[rank] : edges[rank + 1]])
    whole, back = ts.ragged.to_replicate(x, 0, record=True)
    np.testing.assert_array_equal(whole.local(2), full)
    gradient = back.backward(whole)
    assert gradient.sharding == layout
    other = ts.ragged.dynamic(world.mesh, "ep", [1, 2, 3, 4], ndim=2)
    moved = ts.ragged.to_dynamic(x, other)
    np.testing.assert_array_equal(moved.local(3), full[6:])
    cut = ts.ragged.from_replicate(whole, layout)
    np.testing.assert_array_equal(cut.local(2), full[3:8])
    np.testing.assert_array_equal(np.asarray(x * 2), full * 2)
    with pytest.raises(ts.Error):
        world.array(full, ts.ragged.dynamic(world.mesh, "ep", [1, 2, 3], ndim=2))
    with pytest.raises(ts.Error):
        world.array(full, ts.ragged.dynamic(world.mesh, "ep", [1, 2, 3, 5], ndim=2))


def test_partitioned(world):
    rows = int(COUNTS.sum())
    full = np.arange(rows * 2.0).reshape(rows, 2)
    layout = ts.ragged.partitioned(world.mesh, "ep", COUNTS, ndim=2)
    x = world.array(full, layout)
    for rank, part in enumerate(unaligned_parts(full, COUNTS)):
        np.testing.assert_array_equal(x.local(rank), part)
    aligned, back = ts.ragged.unaligned_to_aligned(x, 0, record=True)
    owners = [d * 3 // 4 for d in range(5)]
    starts = np.concatenate([[0], np.cumsum(COUNTS.sum(0))])
    for rank in range(4):
        expected = full[starts[owners[rank]] : starts[owners[rank + 1]]]
        np.testing.assert_array_equal(aligned.local(rank), expected)
    home = ts.ragged.aligned_to_unaligned(aligned, 0)
    np.testing.assert_array_equal(home.local(1), x.local(1))
    np.testing.assert_array_equal(back.backward(aligned).local(3), x.local(3))
    np.testing.assert_array_equal(np.asarray(ts.ragged.partitioned_to_replicate(x, 0)), full)
    even = ts.ragged.partitioned_to_shard(x, 0)
    np.testing.assert_array_equal(even.local(0), full[:5])
    moved = ts.ragged.realign(aligned, 0, owners=[0, 0, 1, 1, 3])
    np.testing.assert_array_equal(moved.local(3), full[starts[1] :])
    sized = ts.ragged.partitioned_to_dynamic(aligned, 0)
    np.testing.assert_array_equal(np.asarray(sized), full)
    with pytest.raises(ts.InvalidError, match="table"):
        ts.ragged.partitioned(world.mesh, "ep", [1, 2], ndim=2)


def test_reinterpret(world):
    rows = COUNTS.sum(1)
    tokens = np.arange(rows.sum() * 3.0).reshape(-1, 3)
    x = world.array(tokens, ts.ragged.dynamic(world.mesh, "ep", rows, ndim=2))
    layout = ts.ragged.partitioned(world.mesh, "ep", COUNTS, ndim=2)
    sent = ts.ragged.reinterpret(x, layout)
    np.testing.assert_array_equal(sent.local(2), x.local(2))
    assert sent.sharding == layout


def test_gradients_go_through_conversions(world):
    rows = int(COUNTS.sum())
    rng = np.random.default_rng(0)
    full, weight = rng.standard_normal((rows, 2)), rng.standard_normal((rows, 2))
    x = world.array(full, ts.ragged.partitioned(world.mesh, "ep", COUNTS, ndim=2))
    aligned = ts.ragged.partitioned(world.mesh, "ep", COUNTS, ndim=2, aligned=True)
    w = world.array(weight, aligned)

    def loss(x):
        return (ts.ragged.unaligned_to_aligned(x, 0) * w).sum()

    gradient = ts.grad(loss)(x)
    np.testing.assert_allclose(np.asarray(gradient), weight)

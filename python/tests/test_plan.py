"""Plans against what devices lack, box by box, and against what a redistribution moves."""

import numpy as np
import pytest
from cases import random_layout, random_shape
from hypothesis import given, settings
from hypothesis import strategies as st

import tessera as ts


def lacking(mesh, layouts, shape):
    """The bytes of f64 that each device lacks: what it shall hold and does not yet."""
    before, after = (ts.Sharding(one, mesh, ndim=len(shape)).boxes(shape) for one in layouts)
    found = []
    for device in range(mesh.size):
        held = np.zeros(shape, bool)
        held[before[device]] = True
        found.append(8 * int((~held[after[device]]).sum()))
    return found


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), ranks=st.sampled_from([2, 3, 4, 6, 8]))
def test_bytes_are_those_that_move(seed, ranks, worlds):
    rng = np.random.default_rng(seed)
    world = worlds(ranks)
    shape = random_shape(rng)
    layouts = [random_layout(rng, len(shape), world.mesh) for _ in range(2)]
    found = ts.plan(*layouts, shape, "f64", world.mesh)
    x = world.array(np.zeros(shape), layouts[0])
    with world.trace() as moved:
        x.redistribute(layouts[1])
    received = lacking(world.mesh, layouts, shape)
    assert found.bytes_moved == sum(received)
    assert found.most_received == max(received)
    assert found.bytes_moved == sum(one.bytes_moved for one in moved)
    assert found.bytes_moved == sum(step.bytes_moved for step in found.steps)
    assert [row["kind"] for row in found.table()] == [step.kind for step in found.steps]


def test_thousands_of_devices():
    found = ts.plan(
        '[{"dp"}, {}], unreduced={"tp"}',
        '[{"dp"}, {"tp"}]',
        (65536, 8192),
        "bf16",
        "dp=512, tp=128",
    )
    assert [step.kind for step in found.steps] == ["reduce-scatter"]
    assert found.bytes_moved == 136365211648
    assert found.most_received == 2080768
    assert found.seconds > 0


def test_errors():
    with pytest.raises(ts.Error):
        ts.plan("P('x')", "P('y')", (4,), mesh="x=2")
    with pytest.raises(ts.Error):
        ts.plan("[{}]", '[{}], unreduced={"x"}', (4,), mesh="x=2")

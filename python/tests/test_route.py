"""Routes against what devices lack by level, and as the command prints them."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
from cases import random_layout, random_shape
from hypothesis import given, settings
from hypothesis import strategies as st

import tessera as ts

HOSTS = {
    "levels": [
        {"name": "network", "size": "any", "latency": "10 us", "bandwidth": "1 GB/s"},
        {"name": "host", "size": 2, "latency": "1 us", "bandwidth": "10 GB/s"},
    ],
    "device": {"copy": "20 GB/s", "reduction": "20 GB/s"},
}


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), ranks=st.sampled_from([2, 4, 6, 8]))
def test_routes_move_what_is_lacking(seed, ranks, worlds):
    """No device can receive less than it lacks; a direct step is never cheaper."""
    rng = np.random.default_rng(seed)
    mesh = worlds(ranks).mesh
    shape = random_shape(rng)
    layouts = [random_layout(rng, len(shape), mesh) for _ in range(2)]
    found = ts.route(*layouts, shape, "f64", mesh, topology=HOSTS)
    before, after = (ts.Sharding(one, mesh, ndim=len(shape)).boxes(shape) for one in layouts)
    most = 0
    for device in range(mesh.size):
        held = np.zeros(shape, bool)
        held[before[device]] = True
        most = max(most, 8 * int((~held[after[device]]).sum()))
    assert sum(found.bytes.values()) >= most
    assert found.seconds == pytest.approx(sum(step.seconds for step in found.steps))
    assert found.direct is None or found.direct >= found.seconds
    assert found.seconds >= found.lower_bound
    assert bool(found.steps) or most == 0


def test_hosts_are_crossed_once():
    found = ts.route("P(('a', 'b'))", "P()", (4096, 16), mesh="a=2, b=2", topology=HOSTS)
    assert found.proven and found.gap == 0
    assert found.bytes["network"] == 4096 * 16 * 4 // 4
    assert found.greedy is not None and found.greedy >= found.seconds
    rows = found.table()
    assert [row["kind"] for row in rows] == [step.kind for step in found.steps]
    assert rows[-1]["to"] == "[{}, {}]" and "network bytes" in rows[0]
    assert "<td>" in found._repr_html_()


def test_limits():
    pair = ("P(('a', 'b'))", "P()", (1 << 20,))
    usual = ts.route(*pair, mesh="a=2, b=2", topology="host")
    less = ts.route(*pair, mesh="a=2, b=2", topology="host", memory=usual.live_bytes - 1)
    assert less.live_bytes < usual.live_bytes and less.seconds > usual.seconds
    assert ts.route(*pair, mesh="a=2, b=2", topology="host", donate=True).live_bytes < (
        usual.live_bytes
    )
    with pytest.raises(ts.UnsupportedError, match="live bytes"):
        ts.route(*pair, mesh="a=2, b=2", topology="host", memory=4096)
    with pytest.raises(ts.InvalidError, match="unknown vocabulary 'xla'"):
        ts.route(*pair, mesh="a=2, b=2", vocabulary="xla")
    same = ts.route("P('a')", "P('a')", (8,), mesh="a=2", topology="host")
    assert same.steps == () and same.table() == [] and "<table>" in same._repr_html_()


def test_the_command_says_the_same():
    folder = os.environ.get("TSR_BUILD_DIR")
    command = pathlib.Path(folder or "build") / "tessera"
    if not command.exists():
        pytest.skip("the command is not built")
    arguments = ["--mesh", "a=4,b=8", "--shape", "64x96xf32", "--topology", "gpu-pod", "--json"]
    ends = ("P('a', 'b')", "P('b', None)")
    run = subprocess.run(
        [command, "plan", *arguments, *ends], capture_output=True, check=True, text=True
    )
    told = json.loads(run.stdout)
    found = ts.route(*ends, (64, 96), mesh="a=4,b=8", topology="gpu-pod")
    assert [step["kind"] for step in told["steps"]] == [step.kind for step in found.steps]

"""Topologies as objects: presets, files, mappings, fitted; worlds that count by their levels."""

import json

import numpy as np
import pytest

import tessera as ts

HOSTS = {
    "name": "hosts",
    "levels": [
        {"name": "network", "size": 2, "latency": "10 us", "bandwidth": "1 GB/s"},
        {"name": "host", "size": 3, "latency": "500 ns", "bandwidth": "20 GB/s"},
    ],
    "device": {
        "copy": "10 GB/s",
        "reduction": "5 GB/s",
        "memory": "4 GiB",
        "flops": {"f32": "1 Gflop/s"},
    },
}


def test_mappings_and_files(tmp_path):
    made = ts.Topology(HOSTS)
    assert made.name == "hosts" and made.devices == 6
    assert made.levels == (
        ts.Level("network", 2, 10e-6, 10**9),
        ts.Level("host", 3, 5e-7, 20 * 10**9),
    )
    assert (made.copy_bandwidth, made.reduce_bandwidth) == (10 * 10**9, 5 * 10**9)
    assert made.memory == 4 << 30 and made.flops == {"f32": 10**9}
    path = tmp_path / "hosts.json"
    path.write_text(repr(made))
    again = ts.Topology(str(path))
    assert again == made and hash(again) == hash(made) and ts.Topology(made) == made
    assert json.loads(repr(made))["levels"][0]["size"] == 2
    assert made != ts.Topology("host")


def test_presets_are_fitted():
    presets = ts.Topology.presets()
    assert {"threads", "host", "gpu-pod", "ethernet"} <= set(presets)
    assert all(presets.values())
    for name in presets:
        found = ts.Topology(name)
        assert found.devices is None and found.levels[0].size is None
        assert found.fit(32).devices == 32
    assert ts.Topology("ethernet").memory is None
    with pytest.raises(ts.InvalidError):
        ts.Topology("gpu-pod").fit(12)


def test_the_variable(monkeypatch):
    monkeypatch.setenv("TSR_TOPOLOGY", "gpu-pod")
    assert ts.Topology() == ts.Topology("gpu-pod")


def test_what_is_refused():
    with pytest.raises(ts.Error, match="nowhere"):
        ts.Topology("nowhere")
    with pytest.raises(ts.Error, match="speed"):
        ts.Topology({**HOSTS, "speed": 3})
    made = ts.Topology(HOSTS)
    assert made.level_between(4, 4) is None
    with pytest.raises(IndexError):
        made.level_between(0, 6)


@pytest.mark.parametrize("rows", [12, 13])
def test_worlds_count_by_level(worlds, rows):
    world = worlds(6)
    topology = ts.Topology(HOSTS)
    world.set_topology(topology)
    x = world.array(np.zeros((rows, 5)), f"P({world.mesh.axis_names!r}, None)")
    before = [world.traffic(level) for level in range(2)]
    x.redistribute("P()")
    after = [world.traffic(level) for level in range(2)]
    chunk = -(-rows // 6)
    held = [8 * 5 * max(0, min(chunk, rows - chunk * rank)) for rank in range(6)]
    received = [now["received"] - then["received"] for now, then in zip(after, before, strict=True)]
    assert received == [sum(held[3:]), sum(held[1:3])]
    world.set_topology(None)
    assert world.traffic(0)["received"] == 0
    with pytest.raises(ts.InvalidError):
        world.set_topology(topology.fit(6) if world.size != 6 else ts.Topology("gpu-pod").fit(8))

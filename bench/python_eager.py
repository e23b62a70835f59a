"""What an eager add from Python costs above the C call, and beside that of DTensor with torch.

Usage: python_eager.py BENCH_JSON, the lines of bench_eager of the same run: the C call's time.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

import tessera as ts

CALLS, ROUNDS = 20_000, 9


def microseconds(call):
    """The best and the median of rounds, so that a busy machine shows."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append((time.perf_counter() - start) / CALLS * 1e6)
    return min(times), sorted(times)[ROUNDS // 2]


def c_call(path):
    """The C call as bench_eager measured it, in microseconds."""
    for line in Path(path).read_text().splitlines():
        row = json.loads(line)
        if row["bench"] == "typed call" and "checks off" in row["case"]:
            return row["untyped_microseconds"]
    sys.exit(f"{path} has no figure of bench_eager: run it first")


def dtensor_add():
    """The same add of DTensor, on a mesh of one device; None without torch."""
    try:
        import torch
        import torch.distributed as dist
        from torch.distributed.tensor import Replicate, distribute_tensor, init_device_mesh
    except ImportError:
        return None
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    mesh = init_device_mesh("cpu", (1,))
    x = distribute_tensor(torch.ones(4), mesh, [Replicate()])
    assert (x + x).to_local().tolist() == [2, 2, 2, 2]
    with torch.no_grad():
        found = microseconds(lambda: x + x)
    dist.destroy_process_group()
    return found


def main():
    world = ts.World(1)
    x = world.array(np.ones(4, "f4"))
    assert np.asarray(x + x).tolist() == [2, 2, 2, 2]
    best, median = microseconds(lambda: x + x)
    c = c_call(sys.argv[1])
    row = {
        "bench": "python eager",
        "case": "add of 4 f32 on one rank, above the C call",
        "microseconds": round(best - c, 3),
        "python_microseconds": round(best, 3),
        "median_microseconds": round(median, 3),
        "c_microseconds": c,
        "wanted": 1.5,
        "met": best - c < 1.5,
    }
    peer = dtensor_add()
    if peer is not None:
        row["dtensor_microseconds"] = round(peer[0], 3)
        row["times_dtensor"] = round(best / peer[0], 3)
    print(json.dumps(row))
    for ranks in (2, 4, 8):
        with ts.World(ranks) as world:
            x = world.array(np.ones(16, "f4"), "P('x')")
            start = time.perf_counter()
            for _ in range(2000):
                x + x
            took = (time.perf_counter() - start) / 2000 * 1e6
        row = {"bench": "python eager", "case": f"add of 16 f32 on {ranks} ranks"}
        print(json.dumps({**row, "python_microseconds": round(took, 1)}))


if __name__ == "__main__":
    main()

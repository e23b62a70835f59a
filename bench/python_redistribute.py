"""64 MiB of f32 from rows to columns on the processes of mpirun, each contestant in turn.

Tessera's redistribute, mpi4py's Alltoallw with subarray types, and DTensor's redistribute where
torch is. Each is checked first to give the same elements; the figures are medians of rounds.
"""

import contextlib
import json
import sys
import tempfile
import time

import numpy as np
from mpi4py import MPI

import tessera as ts

SIDE, ROUNDS = 4096, 9
comm = MPI.COMM_WORLD


def contestant_tessera(full):
    world = ts.World("x=-1", comm=comm)
    x = world.array(full, "P('x', None)")
    columns = ts.Sharding("P(None, 'x')", world.mesh)
    return lambda: x.redistribute(columns), lambda y: y.local()


def contestant_alltoallw(full):
    rows, columns = SIDE // comm.size, SIDE // comm.size
    mine = np.ascontiguousarray(full[comm.rank * rows : (comm.rank + 1) * rows])

    def types(shape, sub, start):
        made = [
            MPI.FLOAT.Create_subarray(shape, sub, start(peer)).Commit() for peer in range(comm.size)
        ]
        return [1] * comm.size, [0] * comm.size, made

    sent = types([rows, SIDE], [rows, columns], lambda peer: [0, peer * columns])
    received = types([SIDE, columns], [rows, columns], lambda peer: [peer * rows, 0])

    out = np.empty((SIDE, columns), "f4")  # used again, as Tessera's segment is

    def call():
        comm.Alltoallw([mine, *sent], [out, *received])
        return out

    return call, lambda out: out


def contestant_dtensor(full):
    import torch
    import torch.distributed as dist
    from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

    path = comm.bcast(tempfile.mktemp() if comm.rank == 0 else None)
    dist.init_process_group(
        "gloo", init_method=f"file://{path}", rank=comm.rank, world_size=comm.size
    )
    mesh = init_device_mesh("cpu", (comm.size,))
    x = distribute_tensor(torch.from_numpy(full), mesh, [Shard(0)])

    def call():
        with torch.no_grad():
            return x.redistribute(mesh, [Shard(1)])

    return call, lambda y: y.to_local().numpy()


def main():
    full = np.arange(SIDE * SIDE, dtype="f4").reshape(SIDE, SIDE)
    columns = SIDE // comm.size
    expected = full[:, comm.rank * columns : (comm.rank + 1) * columns]
    contestants = {
        "tessera": contestant_tessera(full),
        "mpi4py Alltoallw": contestant_alltoallw(full),
    }
    with contextlib.suppress(ImportError):
        contestants["DTensor"] = contestant_dtensor(full)
    for name, (call, part) in contestants.items():
        if not np.array_equal(part(call()), expected):
            sys.exit(f"{name} gives other elements")
    times = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, (call, _) in contestants.items():
            comm.Barrier()
            start = time.perf_counter()
            made = call()
            comm.Barrier()
            times[name].append((time.perf_counter() - start) * 1e3)
            del made
    if comm.rank == 0:
        median = {name: sorted(found)[ROUNDS // 2] for name, found in times.items()}
        for name, found in times.items():
            row = {
                "bench": "python redistribute",
                "case": "64 MiB of f32, rows to columns",
                "ranks": comm.size,
                "contestant": name,
                "milliseconds": round(median[name], 2),
                "spread": round((max(found) - min(found)) / median[name], 2),
                "times_tessera": round(median[name] / median["tessera"], 2),
            }
            print(json.dumps(row))


if __name__ == "__main__":
    main()

"""Communicators of mpi4py as worlds."""

import subprocess
import sys

import pytest
from mpirun import mpirun

pytest.importorskip("mpi4py")

PROGRAM = """
import sys
from mpi4py import MPI
import numpy as np
import tessera as ts

everyone = MPI.COMM_WORLD
with ts.World("x=-1", comm=everyone) as world:
    assert (world.size, world.rank) == (everyone.size, everyone.rank)
    full = np.arange(12.0).reshape(4, 3)
    x = world.array(full, "P('x', None)")
    assert (np.asarray(x @ x.T) == full @ full.T).all()
    assert (x.local() == np.array_split(full, [2, 4][: everyone.size - 1])[everyone.rank]).all()
    total = everyone.allreduce(float(x.local().sum()))  # MPI goes on beside it
    assert total == full.sum()
half = everyone.Split(everyone.rank % 2, everyone.rank)
with ts.World(comm=half) as world:
    assert world.size == half.size
    assert float(world.ones((4,), "P('x')").sum()) == 4
for wrong in (3, MPI.COMM_NULL):
    try:
        ts.World(comm=wrong)
    except ts.Error as error:
        assert "comm" in str(error).lower(), error
    else:
        raise AssertionError("taken")
sys.stdout.write("done\\n")
"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_communicators(ranks, tmp_path):
    probe = subprocess.run(
        [sys.executable, "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"],
        capture_output=True,
        text=True,
    )
    if probe.returncode != 0:
        pytest.skip("mpi4py finds no MPI")
    name = "openmpi" if "Open MPI" in probe.stdout else "mpich"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    run = mpirun(name, ranks, program)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("done") == ranks

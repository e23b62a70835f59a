"""Every op against NumPy: random arrays and layouts, 1 to 8 ranks, three ways of running."""

from pathlib import Path

import pytest
from cases import MESHES, ROWS, check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mpirun import mpirun

import tessera as ts


def test_every_op_has_a_row():
    from tessera import _ops

    public = {
        name for name in ts.__all__ if getattr(getattr(ts, name), "__module__", "") == _ops.__name__
    }
    assert public <= set(ROWS), sorted(public - set(ROWS))


@pytest.mark.parametrize("name", sorted(ROWS))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), ranks=st.sampled_from(sorted(MESHES)))
def test_single_controller(name, worlds, seed, ranks):
    check(name, worlds(ranks), seed)


@pytest.mark.parametrize("ranks", sorted(MESHES))
def test_launched_ranks(ranks):
    def run(world):
        for i, name in enumerate(sorted(ROWS)):
            for seed in range(3):
                check(name, world, 1000 * i + seed)
        return len(ROWS)

    assert ts.launch(run, MESHES[ranks]) == [len(ROWS)] * ranks


MPI_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import tessera as ts
from cases import MESHES, ROWS, check
with ts.World(MESHES[int(sys.argv[2])]) as world:
    assert len(world.local_ranks) == 1 and world.size == int(sys.argv[2])
    for i, name in enumerate(sorted(ROWS)):
        for seed in range(2):
            check(name, world, 2000 * i + seed)
    sys.stdout.write(f"done {world.transport}\\n")
"""


@pytest.mark.parametrize(
    ("mpi", "ranks"), [("openmpi", n) for n in (1, 2, 3, 5, 8)] + [("mpich", n) for n in (2, 4)]
)
def test_under_mpirun(mpi, ranks, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(MPI_PROGRAM)
    run = mpirun(mpi, ranks, program, Path(__file__).parent, ranks)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count(f"done {mpi}") == ranks

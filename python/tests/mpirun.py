"""Programs under mpirun."""

import subprocess
import sys
from shutil import which

import pytest


def mpirun(mpi, ranks, *command, timeout=240):
    """Runs Python with a program and its arguments on ranks; skips where the MPI is missing."""
    launcher = which(f"mpirun.{mpi}")
    if launcher is None:
        pytest.skip(f"mpirun.{mpi} is not installed")
    more = ["--allow-run-as-root", "--oversubscribe"] if mpi == "openmpi" else []
    return subprocess.run(
        [launcher, *more, "-n", str(ranks), sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        timeout=timeout,
    )

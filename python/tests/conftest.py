"""Worlds that the tests share: opening one for each case would be slow."""

import os
import sys
from pathlib import Path

import pytest

import tessera as ts

# Before jax is imported: eight devices on the CPU.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
sys.path.insert(0, str(Path(__file__).parent))

from cases import MESHES


@pytest.fixture(scope="session")
def worlds():
    """A world for each number of ranks from 1 to 8."""
    opened = {}

    def world(ranks):
        if ranks not in opened or opened[ranks].closed:
            opened[ranks] = ts.World(MESHES[ranks])
        return opened[ranks]

    yield world
    for one in opened.values():
        one.close()

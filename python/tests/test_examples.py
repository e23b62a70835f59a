"""The examples: what they print, as the C examples print it, and the pictures of the tour."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mpirun import mpirun

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"
GOLDEN = Path(__file__).parent / "golden"


def run(name, *arguments):
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=environment, encoding="utf-8"
    )


def c_example(name, *arguments):
    """What the C example prints, where it is built; None where it is not."""
    program = ROOT / "build" / "examples" / name
    if not program.exists():
        return None
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120).stdout


MOE = """\
rank 0: 40 tokens out, 44 at its experts, 3424 bytes received, 0 wrong
rank 1: 57 tokens out, 18 at its experts, 3744 bytes received, 0 wrong
rank 2: 0 tokens out, 35 at its experts, 2336 bytes received, 0 wrong
the same as without sharding
"""
TRANSFORMER = """\
step 0: loss 3.306, on one rank 3.306
step 1: loss 2.717, on one rank 2.717
step 2: loss 2.320, on one rank 2.320
step 3: loss 1.970, on one rank 1.970
the gradients of 9 parameters are one rank's but for rounding
"""


def test_moe():
    done = run("moe.py", "3")
    assert (done.returncode, done.stdout) == (0, MOE), done.stderr
    assert c_example("moe_dispatch", "3") in (MOE, None)
    for ranks in ("1", "2", "5", "8"):
        assert run("moe.py", ranks).stdout.endswith("the same as without sharding\n")


def test_moe_under_mpirun():
    done = mpirun("openmpi", 3, EXAMPLES / "moe.py")
    assert sorted(done.stdout.splitlines()) == sorted(MOE.splitlines()), done.stderr


@pytest.mark.parametrize("ranks", ["1", "2", "8"])
def test_transformer(ranks):
    done = run("transformer_tp.py", ranks)
    assert (done.returncode, done.stdout) == (0, TRANSFORMER), done.stderr
    assert run("transformer_tp.py", "--unchecked", ranks).stdout == TRANSFORMER
    assert c_example("transformer_tp", ranks) in (TRANSFORMER, None)


def test_transformer_with_a_forgotten_convert():
    done = run("transformer_tp.py", "--forget", "2")
    assert done.returncode == 1
    assert "an invariant operand does not mix with others" in done.stderr
    assert 'tsr_convert_type(operand 1, "tp", TSR_AS(I), TSR_AS(R), ..) would do' in done.stderr


def test_tour(tmp_path):
    done = run("tour.py", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == (GOLDEN / "tour.txt").read_text(encoding="utf-8")
    for name in ("sharding.svg", "product.svg"):
        assert (tmp_path / name).read_text() == (GOLDEN / name).read_text()


def test_examples_are_a_third_of_those_in_c():
    def lines(path):
        return len(path.read_text().splitlines())

    for python, c in [("moe.py", "moe_dispatch.c"), ("transformer_tp.py", "transformer_tp.c")]:
        assert 3 * lines(EXAMPLES / python) <= lines(ROOT / "examples" / c)

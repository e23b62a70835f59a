"""Worlds: their ends, their failures, threads, forks and leaks."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc

import numpy as np
import pytest
from mpirun import mpirun

import tessera as ts

# What starts the tests may ignore interrupts, as a shell does for what it runs in the background.
TAKES_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def run_script(text, *, timeout=60, **more):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", TAKES_INTERRUPTS + textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=timeout,
        **more,
    )


# ---- what is refused ----


def test_bad_arguments():
    with pytest.raises(ts.InvalidError, match="at least one rank"):
        ts.World(0)
    with pytest.raises(ts.InvalidError, match="2 devices, the world 3 ranks"):
        ts.World(3, "x=2")
    with pytest.raises(ts.InvalidError):
        ts.World(3, "x=2, y=-1")
    with pytest.raises(ts.Error):
        ts.World("dp=2, dp=2")
    with pytest.raises(ts.InvalidError, match="number of ranks"):
        ts.World("x=2", "x=2")
    with pytest.raises(TypeError, match="mpi4py"):
        ts.World(comm=3) if not _has("mpi4py") else (_ for _ in ()).throw(TypeError("mpi4py"))


def _has(name):
    try:
        __import__(name)
    except ImportError:
        raise TypeError(f"{name} is not here") from None
    return True


def test_rest_of_the_mesh():
    with ts.World(6, "dp=2, tp=-1") as world:
        assert world.mesh == ts.Mesh("dp=2, tp=3")
        assert (world.size, world.rank, list(world.local_ranks)) == (6, 0, list(range(6)))
        assert world.transport == "threads"


def test_errors_have_message_and_the_world_goes_on(worlds):
    world = worlds(4)
    a, b = world.ones((2, 3)), world.ones((4, 5))
    for _ in range(3):
        with pytest.raises(ts.InvalidError, match="do not broadcast") as caught:
            a + b
        assert caught.value.status == "TSR_ERR_INVALID"
        assert "ranks 0-3" not in str(caught.value)
    assert float((a + a).sum()) == 12


def test_syntax_errors_have_a_place(worlds):
    with pytest.raises(ts.ParseError) as caught:
        worlds(4).ones((2, 3), "[{?]")
    assert caught.value.place.line == 1
    assert caught.value.place.column > 1
    assert "^" in str(caught.value)


def test_closed_world():
    world = ts.World(2)
    x = world.ones((4,), "P('x')")
    world.close()
    world.close()
    assert world.closed
    assert repr(world) == "World(closed)"
    assert repr(x) == "Array(closed)"
    for use in (lambda: x + x, lambda: world.ones(3), lambda: np.asarray(x), lambda: x.local()):
        with pytest.raises(ts.InvalidError, match="closed"):
            use()


def test_two_worlds_at_once():
    with ts.World(2) as one, ts.World(3) as other:
        x, y = one.ones((4,), "P('x')"), other.ones((4,), "P('x')")
        for _ in range(20):
            x, y = x + 1, y * 2
        assert float(x.sum()) == 84
        assert float(y.sum()) == 4 * 2.0**20
        with pytest.raises(ts.InvalidError, match="different worlds"):
            x + y


def test_pickling_is_refused(worlds):
    x = worlds(2).ones((4,))
    with pytest.raises(TypeError, match=r"numpy.asarray\(x\) with x.sharding"):
        pickle.dumps(x)
    with pytest.raises(TypeError, match="World cannot be pickled"):
        pickle.dumps(worlds(2))
    assert pickle.loads(pickle.dumps(x.sharding)) == x.sharding
    assert pickle.loads(pickle.dumps(worlds(2).mesh)) == worlds(2).mesh


# ---- threads ----


def test_threads_share_a_world(worlds):
    world = worlds(4)
    failures = []

    def work(number):
        try:
            for i in range(30):
                x = world.full((6, 5), number, '[{"a"}, {"b"}]')
                if i % 3 == 0:
                    with pytest.raises(ts.InvalidError):
                        x + world.ones((7, 7))
                assert float(x.sum()) == number * 30
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_calls_release_the_gil(worlds):
    world = worlds(1)
    x = world.random_uniform((600, 600), dtype="f64")
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    for _ in range(20):
        x @ x
    during = counted - before
    done.set()
    thread.join()
    assert during > 1000


# ---- launches ----


def test_exception_of_a_rank():
    def run(world):
        if world.rank == 2:
            raise KeyError("of rank 2")
        world.barrier()

    with pytest.raises(KeyError, match="of rank 2") as caught:
        ts.launch(run, 4)
    assert caught.value.rank == 2
    if sys.version_info >= (3, 11):
        assert "raised on rank 2 of 4" in caught.value.__notes__


def test_other_ranks_learn_of_an_exception():
    seen = {}

    def run(world):
        if world.rank == 2:
            raise KeyError("of rank 2\nand more")
        if world.rank == 0:
            world.array([1, 2], "P('nowhere')")
        try:
            world.barrier()
        except ts.PeerError as error:
            seen[world.rank] = error.message

    with pytest.raises(ts.InvalidError, match="nowhere") as caught:
        ts.launch(run, 4)
    assert caught.value.rank == 0
    for message in (seen[1], seen[3]):
        assert message.startswith(("tsr_barrier: rank 0 failed: ", "tsr_barrier: rank 2 failed: "))
        assert "nowhere" in message or "KeyError: 'of rank 2" in message


MPI_FAILURE = """
import sys
import tessera as ts

def run(world):
    if world.rank == 1:
        raise KeyError("of rank 1")
    world.barrier()

try:
    ts.launch(run)
except (KeyError, ts.PeerError) as error:
    sys.stdout.write(f"{error.rank} {type(error).__name__} {error}\\n")
"""


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_exception_of_a_rank_under_mpirun(mpi, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(MPI_FAILURE)
    run = mpirun(mpi, 3, program)
    lines = sorted(run.stdout.splitlines())
    assert lines[1] == "1 KeyError 'of rank 1'", run.stdout + run.stderr
    for rank in (0, 2):
        assert lines[rank].startswith(f"{rank} PeerError tsr_barrier: rank 1 ended")
        assert lines[rank].endswith("KeyError: 'of rank 1'")


def test_exception_of_the_library_on_one_rank():
    def run(world):
        if world.rank == 1:
            world.array([1, 2], "P('nowhere')")
        world.barrier()

    with pytest.raises(ts.Error, match="nowhere") as caught:
        ts.launch(run, 3)
    assert caught.value.rank == 1


def test_ranks_that_differ_are_told():
    def run(world):
        x = world.ones((4,), "P('x')")
        return x.replicate() if world.rank == 0 else x.sum().replicate()

    with pytest.raises(ts.Error):
        ts.launch(run, 2, timeout=5)


def test_launch_results_and_arguments():
    assert ts.launch(lambda world, a, b: a + b + world.rank, 3, args=(1, 2)) == [3, 4, 5]

    def run(world):
        x = world.iota((7,), layout="P('x')", dtype="f64")
        return world.size, np.asarray(x * 2).tolist(), x.local().tolist()

    for rank, (size, full, local) in enumerate(ts.launch(run, 2)):
        assert size == 2
        assert full == [0, 2, 4, 6, 8, 10, 12]
        assert local == [[0, 1, 2, 3], [4, 5, 6]][rank]


def test_memory_of_a_rank_outlives_its_function():
    def run(world):
        return world.full((1000,), world.rank + 1.0, "P('x')").local()

    parts = ts.launch(run, 4)
    gc.collect()
    assert [part.sum() for part in parts] == [250, 500, 750, 1000]


def test_arrays_end_with_their_rank():
    found = ts.launch(lambda world: world.ones(4), 2)
    with pytest.raises(ts.InvalidError, match="ended"):
        np.asarray(found[0])


def test_a_rank_on_another_thread_is_refused():
    def run(world):
        x, failures = world.ones(4), []

        def other():
            try:
                x + x
            except ts.InvalidError as error:
                failures.append(str(error))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return failures

    assert all("another thread" in one for [one] in ts.launch(run, 2))


def test_timeout():
    def run(world):
        if world.rank == 0:
            time.sleep(1.5)
        world.barrier()

    start = time.monotonic()
    with pytest.raises(ts.Error):
        ts.launch(run, 2, timeout=0.3)
    assert time.monotonic() - start < 30


# ---- the end of the process ----


def test_world_left_open_at_exit():
    run = run_script("""
        import tessera as ts
        world = ts.World(4)
        x = world.ones((8,), "P('x')")
        part = x.local(2)
        print(float(x.sum()))
    """)
    assert (run.returncode, run.stdout, run.stderr) == (0, "8.0\n", "")


def test_interrupt_ends_a_launch():
    script = """
        import os, signal, threading, time
        import tessera as ts

        def run(world):
            if world.rank == 0:
                threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
                while True:
                    time.sleep(0.01)
            world.barrier()

        start = time.monotonic()
        try:
            ts.launch(run, 3)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - start < 20)
        print(ts.launch(lambda world: world.rank, 2))
    """
    run = run_script(script)
    assert run.stdout == "interrupted True\n[0, 1]\n", run.stderr


def test_interrupt_ends_a_world():
    script = """
        import os, signal, threading
        import numpy as np
        import tessera as ts
        world = ts.World(2)
        x = world.random_uniform((700, 700), "P('x', None)", dtype="f64")
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                x = (x @ x) * 1e-3
        except KeyboardInterrupt:
            print("interrupted")
        try:
            x + x
            print("usable")
        except ts.Error as error:
            print("stopped")
        world.close()
        print(float(ts.World(2).ones(3).sum()))
    """
    run = run_script(script)
    lines = run.stdout.split("\n")
    assert lines[0] == "interrupted", run.stderr
    assert lines[1] in ("usable", "stopped")  # it came between two calls, or during one
    assert lines[2] == "3.0"


def test_fork():
    run = run_script(
        """
        import os
        import tessera as ts

        world = ts.World(2)
        x = world.ones((4,), "P('x')")
        child = os.fork()
        if child == 0:
            try:
                x + x
            except ts.InvalidError as error:
                print("forked" in str(error))
            with ts.World(3) as own:
                print(float(own.ones((6,), "P('x')").sum()), flush=True)
            del x
            world.close()
            os._exit(0)
        print(os.waitpid(child, 0)[1], float((x + x).sum()))
    """.replace("import os\n", "import os, warnings; warnings.simplefilter('ignore')\n", 1)
    )
    assert run.stdout == "True\n6.0\n0 8.0\n", run.stderr


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_multiprocessing(method, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(f"""
        import multiprocessing, warnings
        import tessera as ts

        def total(ranks):
            with ts.World(ranks) as world:
                return float(world.ones((10,), "P('x')").sum())

        if __name__ == "__main__":
            warnings.simplefilter("ignore")  # Python warns of forks beside threads
            world = ts.World(2)
            with multiprocessing.get_context("{method}").Pool(2) as pool:
                print(pool.map(total, [1, 2, 3, 4]), float(world.ones(3).sum()))
        """)
    )
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60)
    assert run.stdout == "[10.0, 10.0, 10.0, 10.0] 3.0\n", run.stderr


# ---- leaks ----


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_no_leak_over_many_calls(worlds):
    world = worlds(1)
    x, y = world.ones((64,)), world.full((64,), 2.0)

    def work(count):
        for i in range(count):
            z = x + y
            if i % 50 == 0:
                z.shape, z.dtype, z.local(), np.asarray(z)
                with pytest.raises(ts.InvalidError):
                    x + world.ones((63,))
            if i % 1000 == 0:
                _ = z.sharding

    work(5000)
    gc.collect()
    before = resident()
    tracemalloc.start()
    first = tracemalloc.get_traced_memory()[0]
    work(100_000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    assert grown < 200_000
    assert resident() - before < 32 << 20


def test_no_leak_over_calls_on_several_ranks(worlds):
    world = worlds(4)
    x = world.ones((6, 6), "P('a', 'b')")

    def work(count):
        for _ in range(count):
            y = x + x
            y.redistribute("P('b', 'a')").local(3)

    work(300)
    gc.collect()
    before = resident()
    work(3000)
    gc.collect()
    assert resident() - before < 16 << 20


def test_no_leak_of_worlds():
    for i in range(60):
        with ts.World(1 + i % 4) as world:
            part = world.ones((1000,), "P('x')").local()
            del part
        if i == 20:
            gc.collect()
            before, threads = resident(), len(os.listdir("/proc/self/task"))
    gc.collect()
    assert resident() - before < 32 << 20
    assert len(os.listdir("/proc/self/task")) <= threads + 4


def test_signals_are_handled_in_the_main_thread(worlds):
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        world = worlds(2)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert float(world.ones((4,), "P('a')").sum()) == 4
        assert seen == [1]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_rank_that_does_not_end_is_abandoned():
    run = run_script("""
        import time
        import tessera as ts

        def run(world):
            if world.rank == 1:
                time.sleep(1000)
            world.barrier()

        start = time.monotonic()
        try:
            ts.launch(run, 2, timeout=0.3)
        except ts.Error as error:
            print(type(error).__name__, time.monotonic() - start < 20, "rank 1" in str(error))
        print(ts.launch(lambda world: world.rank, 2))
    """)
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith("True True\n[0, 1]\n"), run.stdout


def test_nested_worlds():
    def run(world):
        inner = ts.launch(lambda one, base: base + one.rank, 2, args=(10 * world.rank,))
        with ts.World(2) as own:
            return inner, float(own.ones((4,), "P('x')").sum()), float(world.ones(3).sum())

    assert ts.launch(run, 2) == [([0, 1], 4.0, 3.0), ([10, 11], 4.0, 3.0)]


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(ts.InvalidError("a message")))
    assert isinstance(error, ts.InvalidError) and error.message == "a message"


def test_mesh_of_a_world():
    with ts.World(4) as world:
        with pytest.raises(ts.InvalidError, match="unknown axis") as caught:
            world.ones((4,), "P('dp')")
        assert "World('dp=2, tp=4')" in caught.value.notes[-1]
        assert "set world.mesh" in str(caught.value)
        x = world.ones((4,), "P('x')")
        world.mesh = {"dp": 2, "tp": 2}
        assert world.ones((4,), "P('dp')").sharding.mesh == ts.Mesh("dp=2, tp=2")
        assert x.sharding.mesh == ts.Mesh("x=4")
        with pytest.raises(ts.InvalidError, match="8 devices, the world 4 ranks"):
            world.mesh = "dp=8"
        assert world.mesh == ts.Mesh("dp=2, tp=2")


def test_arrays_are_given_up_while_a_world_closes():
    for _ in range(30):
        world = ts.World(2)
        held = [world.ones((8,), "P('x')") for _ in range(200)]
        seen = [x.local(1) for x in held[::3]]
        kept = held[::7]
        thread = threading.Thread(target=held.clear)
        thread.start()
        world.close()
        thread.join()
        assert all(part.sum() == 4 for part in seen)
        del seen, kept, world
    gc.collect()


def test_an_array_over_memory_of_its_own_world():
    world = ts.World(1)
    x = world.ones((8,))
    y = world.from_dlpack([x.local()], None, (8,))
    z = world.from_dlpack([y], None, (8,))
    del x, y
    gc.collect()
    assert float((z + z).sum()) == 16
    world.close()
    del z, world
    gc.collect()


def test_memory_of_others_ends_with_the_gil():
    """The deleter of the capsule is a function of Python that aborts without the GIL."""
    run = run_script("""
        import ctypes, gc
        import numpy as np
        import tessera as ts

        class Managed(ctypes.Structure):
            _fields_ = [
                ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p),
            ]

        needs_gil = ctypes.cast(ctypes.pythonapi.PyThreadState_Get, ctypes.c_void_p).value
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        name, data, extents = b"dltensor", np.arange(4.0), (ctypes.c_int64 * 1)(4)
        shape = ctypes.addressof(extents)
        given = [
            Managed(data.ctypes.data, 1, 0, 1, 2, 64, 1, shape, 0, 0, 0, needs_gil)
            for _ in range(3)
        ]
        parts = [new(ctypes.addressof(one), name, None) for one in given]
        with ts.World(2) as world:
            x = world.from_dlpack(parts[:2], "P('x')", (8,))
            print(float(x.sum()))
            del x
            gc.collect()
        with ts.World(1) as world:
            y = world.from_dlpack(parts[2:], None, (4,))  # it ends with the world
        print("done")
    """)
    assert (run.returncode, run.stdout) == (0, "12.0\ndone\n"), run.stderr

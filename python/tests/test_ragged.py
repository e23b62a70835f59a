"""Ragged placements against slices of NumPy."""

import json

import numpy as np
import pytest
from mpirun import mpirun

import tessera as ts

COUNTS = np.array([[2, 0, 3], [1, 4, 0], [0, 1, 1], [2, 2, 2]])


def unaligned_parts(full, counts):
    """What each shard holds: its slice of every partition, one after the other."""
    starts = np.concatenate([[0], np.cumsum(counts.sum(0))])
    before = np.cumsum(counts, 0) - counts
    return [
        np.concatenate(
            [
                full[starts[p] + before[s, p] : starts[p] + before[s, p] + counts[s, p]]
                for p in range(counts.shape[1])
            ]
        )
        for s in range(counts.shape[0])
    ]


@pytest.fixture
def world():
    with ts.World("ep=4") as opened:
        yield opened


def test_dynamic(world):
    full = np.arange(20.0).reshape(10, 2)
    sizes = [3, 0, 5, 2]
    layout = ts.ragged.dynamic(world.mesh, "ep", sizes, ndim=2)
    assert layout.dims[0].sizes == (3, 0, 5, 2)
    x = world.array(full, layout)
    edges = np.concatenate([[0], np.cumsum(sizes)])
    for rank in range(4):
        np.testing.assert_array_equal(x.local(rank), full[edges[rank] : edges[rank + 1]])
    whole, back = ts.ragged.to_replicate(x, 0, record=True)
    np.testing.assert_array_equal(whole.local(2), full)
    gradient = back.backward(whole)
    assert gradient.sharding == layout
    other = ts.ragged.dynamic(world.mesh, "ep", [1, 2, 3, 4], ndim=2)
    moved = ts.ragged.to_dynamic(x, other)
    np.testing.assert_array_equal(moved.local(3), full[6:])
    cut = ts.ragged.from_replicate(whole, layout)
    np.testing.assert_array_equal(cut.local(2), full[3:8])
    np.testing.assert_array_equal(np.asarray(x * 2), full * 2)
    with pytest.raises(ts.Error):
        world.array(full, ts.ragged.dynamic(world.mesh, "ep", [1, 2, 3], ndim=2))
    with pytest.raises(ts.Error):
        world.array(full, ts.ragged.dynamic(world.mesh, "ep", [1, 2, 3, 5], ndim=2))


def test_partitioned(world):
    rows = int(COUNTS.sum())
    full = np.arange(rows * 2.0).reshape(rows, 2)
    layout = ts.ragged.partitioned(world.mesh, "ep", COUNTS, ndim=2)
    x = world.array(full, layout)
    for rank, part in enumerate(unaligned_parts(full, COUNTS)):
        np.testing.assert_array_equal(x.local(rank), part)
    aligned, back = ts.ragged.unaligned_to_aligned(x, 0, record=True)
    owners = [d * 3 // 4 for d in range(5)]
    starts = np.concatenate([[0], np.cumsum(COUNTS.sum(0))])
    for rank in range(4):
        expected = full[starts[owners[rank]] : starts[owners[rank + 1]]]
        np.testing.assert_array_equal(aligned.local(rank), expected)
    home = ts.ragged.aligned_to_unaligned(aligned, 0)
    np.testing.assert_array_equal(home.local(1), x.local(1))
    np.testing.assert_array_equal(back.backward(aligned).local(3), x.local(3))
    np.testing.assert_array_equal(np.asarray(ts.ragged.partitioned_to_replicate(x, 0)), full)
    even = ts.ragged.partitioned_to_shard(x, 0)
    np.testing.assert_array_equal(even.local(0), full[:5])
    moved = ts.ragged.realign(aligned, 0, owners=[0, 0, 1, 1, 3])
    np.testing.assert_array_equal(moved.local(3), full[starts[1] :])
    sized = ts.ragged.partitioned_to_dynamic(aligned, 0)
    np.testing.assert_array_equal(np.asarray(sized), full)
    with pytest.raises(ts.InvalidError, match="table"):
        ts.ragged.partitioned(world.mesh, "ep", [1, 2], ndim=2)


def test_reinterpret(world):
    rows = COUNTS.sum(1)
    tokens = np.arange(rows.sum() * 3.0).reshape(-1, 3)
    x = world.array(tokens, ts.ragged.dynamic(world.mesh, "ep", rows, ndim=2))
    layout = ts.ragged.partitioned(world.mesh, "ep", COUNTS, ndim=2)
    sent = ts.ragged.reinterpret(x, layout)
    np.testing.assert_array_equal(sent.local(2), x.local(2))
    assert sent.sharding == layout


def test_gradients_go_through_conversions(world):
    rows = int(COUNTS.sum())
    rng = np.random.default_rng(0)
    full, weight = rng.standard_normal((rows, 2)), rng.standard_normal((rows, 2))
    x = world.array(full, ts.ragged.partitioned(world.mesh, "ep", COUNTS, ndim=2))
    aligned = ts.ragged.partitioned(world.mesh, "ep", COUNTS, ndim=2, aligned=True)
    w = world.array(weight, aligned)

    def loss(x):
        return (ts.ragged.unaligned_to_aligned(x, 0) * w).sum()

    gradient = ts.grad(loss)(x)
    np.testing.assert_allclose(np.asarray(gradient), weight)


def test_placements_of_the_documents():
    mesh = ts.Mesh("ep=2")
    unbound = ts.Sharding("[DynamicShard(0)]", mesh, (8, 3))
    assert unbound.dims[0].axes == ("ep",) and unbound.dims[0].sizes is None
    assert repr(unbound).endswith('[{"ep"}:dynamic[?], {}]>')
    bound = unbound.bind(0, [3, 5])
    assert bound == ts.ragged.dynamic(mesh, "ep", [3, 5], ndim=2)
    text = "[PartitionedShard(dim=0, num_partitions=4, splits=[4,6,4,2], aligned=False)]"
    each = ts.Sharding(text, mesh, (32, 3))
    assert each == ts.ragged.partitioned(mesh, "ep", [[4, 6, 4, 2]] * 2, ndim=2)
    assert ts.Sharding(text, mesh, ndim=2) == each
    whole = ts.Sharding(text, mesh, (16, 3))
    assert whole == ts.ragged.partitioned(mesh, "ep", [[2, 3, 2, 1]] * 2, ndim=2)
    with pytest.raises(
        ts.InvalidError, match="the splits sum to 16, which is neither the extent 9"
    ):
        ts.Sharding(text, mesh, (9, 3))
    later = ts.Sharding("[PartitionedShard(dim=0, num_partitions=4)]", mesh, ndim=2)
    assert later.bind(0, [[4, 6, 4, 2], [2, 4, 8, 2]]).to("dtensor") == (
        "[PartitionedShard(dim=0, num_partitions=4, counts=[[4, 6, 4, 2], [2, 4, 8, 2]], "
        "aligned=False)]"
    )
    for sharding, numbers, why in [
        (unbound, [3, 5, 1], "2 sizes"),
        (later, [[1, 2], [3, 4]], "2"),
        (later, [1, 2], "table"),
        (bound, [3, 5], "not unbound"),
        (ts.Sharding("P('ep', None)", mesh), [4, 4], "not unbound"),
    ]:
        with pytest.raises(ts.InvalidError, match=why):
            sharding.bind(0, numbers)


# ---- what one rank has, or knows ----


def moved_by(world, call):
    """What a call gives, and the bytes that this rank sent and received for it."""
    before = world.traffic()
    made = call()
    after = world.traffic()
    return made, after["sent"] - before["sent"], after["received"] - before["received"]


def on_each_rank(own, ranks=4, **options):
    """Runs a function on ranks that know their own row of what is given."""
    return ts.launch(lambda world: own(world, world.rank), f"ep={ranks}", **options)


@pytest.mark.parametrize("source", range(4))
def test_shard_moves_bytes_from_its_source_alone(source):
    full = np.arange(20.0).reshape(10, 2)
    sizes = [3, 0, 5, 2]
    edges = np.concatenate([[0], np.cumsum(sizes)])

    def own(world, rank):
        layout = ts.ragged.dynamic(world.mesh, "ep", sizes, ndim=2)
        # Of another rank than the source only the shape counts; some have no array at all.
        values = full if rank == source else None if rank % 2 else np.full_like(full, np.nan)
        with world.trace() as trace:
            x, sent, received = moved_by(
                world,
                lambda: ts.ragged.shard(
                    world, values, layout, source=source, shape=(10, 2), dtype="f64"
                ),
            )
        np.testing.assert_array_equal(x.local(), full[edges[rank] : edges[rank + 1]])
        assert sum(one.bytes_received for one in trace) == received
        return sent, received

    rows = [0 if rank == source else size for rank, size in enumerate(sizes)]
    expected = [(sum(rows) * 16 if rank == source else 0, n * 16) for rank, n in enumerate(rows)]
    assert on_each_rank(own, checked=True) == expected


def test_shard_of_one_controller(world):
    full = np.arange(20.0).reshape(10, 2).astype(">f8").T
    layout = ts.ragged.dynamic(world.mesh, "ep", [3, 0, 5, 2], dim=1, ndim=2)
    for source in (0, 3, None):
        x, sent, received = moved_by(
            world, lambda source=source: ts.ragged.shard(world, full, layout, source=source)
        )
        np.testing.assert_array_equal(x.local(2), full[:, 3:8])
        np.testing.assert_array_equal(np.asarray(x), full)
        assert (sent, received) == ((7 * 16, 0) if source == 0 else (0, 3 * 16 if source else 0))
    assert ts.ragged.shard(world, full, layout, dtype="f32").dtype == np.float32
    for values, cut, options, why in [
        (full, layout, {"source": 4}, "a rank from 0 to 3, or None, not 4"),
        (full, layout, {"source": -1}, "a rank from 0 to 3, or None, not -1"),
        (full, layout, {"shape": (10, 2)}, "the shape"),
        (None, layout, {"shape": (2, 10), "dtype": "f64"}, "pass the array"),
        (full, "P(None, 'ep')", {}, "no dimension of the placement is dynamic"),
        (full, '[{}, {"ep"}:dynamic[?]]', {}, "unbound and none"),
        (full, '[{}, {"ep"}:dynamic[3, 0, 5, 1]]', {}, "sum to 9, the extent is 10"),
        (np.full((2, 10), 0.5), layout, {"dtype": "i64"}, "not a value of int64"),
    ]:
        with pytest.raises(ts.InvalidError, match=why):
            ts.ragged.shard(world, values, cut, **options)


@pytest.mark.parametrize(
    ("row", "layout"),
    [
        (lambda rank: [3, 0, 5, 2][rank], '[{"ep"}:dynamic[?], {}]'),
        (lambda rank: COUNTS[rank], '[{"ep"}:partitioned[?], {}]'),
        (lambda rank: COUNTS[rank], "[PartitionedShard(dim=0, num_partitions=3, aligned=True)]"),
    ],
)
def test_bind_gathers_what_each_rank_knows(world, row, layout):
    def own(one, rank):
        return moved_by(one, lambda: ts.ragged.bind(one, layout, [row(rank)], ndim=2))

    expected = ts.Sharding(layout, world.mesh, ndim=2).bind(0, [row(rank) for rank in range(4)])
    others = 3 * np.size(row(0)) * 8
    assert on_each_rank(own) == [(expected, others, others)] * 4
    rows = [row(rank) for rank in range(4)]
    assert ts.ragged.bind(world, layout, rows, ndim=2) == expected
    total = int(np.sum(rows))
    open_layout = ts.Sharding(layout, world.mesh, ndim=2)
    assert ts.ragged.bind(world, open_layout, rows, extent=total) == expected
    with pytest.raises(ts.InvalidError, match=f"sum to {total}, the extent is {total + 1}"):
        ts.ragged.bind(world, open_layout, rows, extent=total + 1)


def test_bind_refuses_rows_that_do_not_fit(world):
    sizes = '[{"ep"}:dynamic[?]]'
    for layout, rows, why in [
        (sizes, [1, 2], "2 rows are given, this process has 4 ranks"),
        (sizes, [1, 2, -3, 4], "negative: -3"),
        (sizes, [1, 2, 3.5, 4], "3.5 is not a value of int64"),
        (sizes, [[1, 2]] * 4, "1 number, got: 2"),
        ('[{"ep"}:partitioned[?]]', [[1, 2], [3], [1, 2], [3]], r"length: \[2, 1, 2, 1\]"),
        ('[{"ep"}:dynamic[1, 2, 3, 4]]', [1, 2, 3, 4], "remove the amounts"),
    ]:
        with pytest.raises(ts.InvalidError, match=why):
            ts.ragged.bind(world, layout, rows, ndim=1)
    with ts.World("dp=2, ep=2") as grid:
        assert ts.ragged.bind(grid, sizes, [3, 5, 3, 5], ndim=1).dims[0].sizes == (3, 5)
        with pytest.raises(ts.Error, match=r"ranks make different calls.*dynamic\[3, 6\]"):
            ts.ragged.bind(grid, sizes, [3, 5, 3, 6], ndim=1)
    with pytest.raises(ts.Error, match="ranks make different calls"):
        on_each_rank(
            lambda one, rank: ts.ragged.bind(
                one, '[{"ep"}:partitioned[?]]', [[1] * (1 + rank % 2)], ndim=1
            )
        )


def test_tokens_whose_counts_are_bound_go_to_their_experts():
    rows = int(COUNTS.sum())
    full = np.arange(rows * 2.0).reshape(rows, 2)
    parts = unaligned_parts(full, COUNTS)

    def own(world, rank):
        layout = ts.ragged.bind(world, '[{"ep"}:partitioned[?], {}]', [COUNTS[rank]], ndim=2)
        x = world.from_local([parts[rank]], layout, (rows, 2))
        return ts.ragged.unaligned_to_aligned(x).local().copy()

    np.testing.assert_array_equal(np.concatenate(on_each_rank(own)), full)


@pytest.mark.parametrize("owners", [None, [0, 2, 2, 3, 3], [0, 0, 0, 0, 3]])
def test_exchange_gives_each_rank_the_counts_of_its_partitions(world, owners):
    cuts = [d * 3 // 4 for d in range(5)] if owners is None else owners
    expected = [COUNTS[:, cuts[rank] : cuts[rank + 1]] for rank in range(4)]
    found = ts.ragged.exchange_counts(world, "ep", COUNTS, owners=owners)

    def own(one, rank):
        return moved_by(
            one, lambda: ts.ragged.exchange_counts(one, "ep", [COUNTS[rank]], owners=owners)[0]
        )

    for rank, (columns, sent, received) in enumerate(on_each_rank(own)):
        np.testing.assert_array_equal(columns, expected[rank])
        np.testing.assert_array_equal(found[rank], expected[rank])
        owned = cuts[rank + 1] - cuts[rank]
        assert (sent, received) == ((3 - owned) * 8, 3 * owned * 8)


def test_exchange_is_along_its_axes():
    with ts.World("dp=2, ep=2") as grid:
        rows = np.arange(16).reshape(4, 4)
        along = ts.ragged.exchange_counts(grid, "ep", rows)
        for rank, columns in enumerate(along):
            first, part = rank // 2 * 2, rank % 2 * 2
            np.testing.assert_array_equal(columns, rows[first : first + 2, part : part + 2])
        whole = ts.ragged.exchange_counts(grid, ("dp", "ep"), rows)
        np.testing.assert_array_equal(np.hstack(whole), rows)
        for given, options, why in [
            ([[1, 2]] * 3, {}, "3 rows are given"),
            ([[]] * 4, {}, "at least 1, got: 0"),
            ([[1, -2]] * 4, {}, "negative: -2"),
            ([[1, 2]] * 4, {"owners": [0, 2]}, "3 numbers, got: 2"),
            ([[1, 2]] * 4, {"owners": [0, 2, 1]}, "must not decrease"),
        ]:
            with pytest.raises(ts.InvalidError, match=why):
                ts.ragged.exchange_counts(grid, "ep", given, **options)


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_split(contiguous, dim):
    full = np.arange(60.0).reshape(6, 10)[:, ::2]
    sizes = [3, 0, full.shape[dim] - 4, 1]
    chunks = ts.ragged.split(full, sizes, dim, contiguous=contiguous)
    expected = np.split(full, np.cumsum(sizes)[:-1], dim)
    indices = ts.ragged.slices(full.shape, sizes, dim)
    assert len(chunks) == len(indices) == 4
    for chunk, index, part in zip(chunks, indices, expected, strict=True):
        np.testing.assert_array_equal(chunk, part)
        np.testing.assert_array_equal(full[index], part)
        assert np.shares_memory(chunk, full) == (not contiguous and part.size > 0)
        assert chunk.flags.c_contiguous or not contiguous


def test_split_refuses_sizes_that_do_not_fit(world):
    full = np.arange(10)
    for array, sizes, dim, why in [
        (full, [3, 6], 0, "sum to 9, the extent is 10"),
        (full, [11, -1], 0, "negative: -1"),
        (full, [2.5, 7.5], 0, "2.5 is not a value of int64"),
        (full, [10], 1, "dimension 1 is out of range"),
        (world.array(full), [10], 0, r"x\.local\(rank\)"),
    ]:
        with pytest.raises(ts.InvalidError, match=why):
            ts.ragged.split(array, sizes, dim)


def test_sizes_with_a_fraction_are_refused():
    for make in (
        lambda: ts.ragged.dynamic("x=2", "x", [1.5, 2], ndim=1),
        lambda: ts.ragged.partitioned("x=2", "x", [[1.5, 2], [1, 2]], ndim=1),
        lambda: ts.Sharding("[DynamicShard(0)]", "x=2", ndim=1).bind(0, [1.5, 2]),
    ):
        with pytest.raises(ts.InvalidError, match=r"1\.5 is not a value of int64"):
            make()


MPI_PROGRAM = """
import sys
import numpy as np
import tessera as ts

COUNTS = np.array([[4, 6, 4, 2], [2, 4, 8, 2]])
with ts.World("ep=2") as world:
    mine = COUNTS[world.rank]
    layout = ts.ragged.bind(world, '[{"ep"}:partitioned[?]]', [mine], ndim=1)
    assert layout == ts.ragged.partitioned(world.mesh, "ep", COUNTS, ndim=1)
    (columns,) = ts.ragged.exchange_counts(world, "ep", [mine])
    assert columns.tolist() == [[[4, 6], [2, 4]], [[4, 2], [8, 2]]][world.rank]
    cut = ts.ragged.dynamic(world.mesh, "ep", [3, 1], ndim=1)
    values = np.arange(4.0) if world.rank == 1 else None
    x = ts.ragged.shard(world, values, cut, source=1, shape=4, dtype="f64")
    assert x.local().tolist() == [[0, 1, 2], [3]][world.rank]
    sys.stdout.write(f"done {world.transport}\\n")
"""


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_processes_know_their_own_counts(mpi, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(MPI_PROGRAM)
    run = mpirun(mpi, 2, program)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count(f"done {mpi}") == 2


def test_symbols_without_elements():
    with ts.abstract("ep=4") as world:
        x = world.zeros((10, 6), "[DynamicShard(0, ?rows)]")
        assert x.sharding.dims[0].symbol == "rows" and x.sharding.dims[0].sizes is None
        assert x.sharding == ts.ragged.dynamic(world.mesh, "ep", "rows", ndim=2)
        with world.trace() as moved:
            y = (x * 2 + x) @ world.zeros((6, 3))
            assert y.sharding.bare_text() == '[{"ep"}:dynamic[?rows], {}]'
            assert x.sum(0).sharding.unreduced == ("ep",)
            whole = ts.ragged.to_replicate(y, 0)
            again = ts.ragged.from_replicate(whole, "[DynamicShard(0, ?rows)]")
            assert (again + y).sharding == y.sharding
        assert [one.bytes_received for one in moved] == [None]
        assert moved.records()[0]["bytes_moved"] is None and "unknown bytes" in str(moved)
        assert json.loads(json.dumps(moved.records()))[0]["bytes_moved"] is None
        other = world.zeros((10, 3), "[DynamicShard(0)]")
        assert other.sharding.dims[0].symbol == ""
        with pytest.raises(ts.InvalidError, match="both unbound") as caught:
            y + other
        assert "bind" in str(caught.value)
        with pytest.raises(ts.InvalidError, match="sum to 11"):
            world.bind("rows", [3, 0, 5, 3])
        world.bind("rows", [3, 0, 5, 2])
        assert y.sharding.dims[0].sizes == (3, 0, 5, 2) and y.sharding.dims[0].symbol is None
        assert other.sharding.dims[0].symbol == ""
        world.bind(None, [3, 0, 5, 2])
        assert (y + other).sharding == y.sharding
        tokens = world.zeros((18, 2), "[PartitionedShard(0, 3, ?tokens)]")
        moved = ts.ragged.unaligned_to_aligned(tokens)
        world.bind("tokens", COUNTS)
        aligned = ts.ragged.partitioned(world.mesh, "ep", COUNTS, ndim=2, aligned=True)
        assert moved.sharding == aligned
        with pytest.raises(ts.InvalidError, match="not 3-d"):
            world.bind("rows", np.zeros((1, 2, 2), np.int64))


def test_symbols_need_numbers(world):
    with pytest.raises(ts.InvalidError, match="not bound yet"):
        world.zeros((10, 2), "[DynamicShard(0, ?rows)]")
    world.bind("rows", [3, 0, 5, 2])
    x = world.array(np.arange(20.0).reshape(10, 2), "[DynamicShard(0, ?rows)]")
    assert x.sharding.dims[0].sizes == (3, 0, 5, 2)
    np.testing.assert_array_equal(x.local(2), np.arange(6.0, 16).reshape(5, 2))


LAYOUTS = [
    "[DynamicShard(0, ?rows)]",
    "[DynamicShard(0, ?rest)]",
    "[PartitionedShard(0, 3, ?tokens)]",
    "[PartitionedShard(0, 3, ?tokens, aligned=True)]",
    "[Shard(1)]",
    "[Replicate()]",
]


def random_program(seed):
    """Steps on four arrays of one shape, as functions of the world and of these."""
    draw = np.random.default_rng(seed)
    steps = []
    for _ in range(10):
        kind, a, b = draw.integers(5), draw.integers(4), draw.integers(4)
        layout = LAYOUTS[draw.integers(len(LAYOUTS))]
        steps.append((int(kind), int(a), int(b), layout, int(draw.integers(4))))
    return [LAYOUTS[i] for i in draw.integers(len(LAYOUTS), size=4)], steps


def run_program(world, values, layouts, steps, skipped, layout_of):
    """The arrays and the trace; steps that are refused as unbound are added to `skipped`."""
    pool = [world.array(v, layout_of(text)) for v, text in zip(values, layouts, strict=True)]
    turned = world.array(np.eye(4)[::-1])
    with world.trace() as moved:
        for number, (kind, a, b, layout, to) in enumerate(steps):
            if number in skipped:
                continue
            x, y = pool[a], pool[b]
            try:
                if kind == 0:
                    made = x * y
                elif kind == 1:
                    made = x - 3
                elif kind == 2:
                    made = x @ turned
                elif kind == 3:
                    made = x * x.sum(1, keepdims=True)
                else:
                    made = x.redistribute(layout_of(layout))
            except ts.InvalidError as error:
                assert "both unbound" in str(error), str(error)
                skipped.add(number)
                continue
            pool[to] = made
    return pool, [(one.collective, one.bytes_received, one.bytes_moved) for one in moved]


@pytest.mark.parametrize("seed", range(40))
def test_bound_later_is_bound_before(seed):
    layouts, steps = random_program(seed)
    draw = np.random.default_rng(1000 + seed)
    counts = draw.multinomial(9, np.full(12, 1 / 12)).reshape(4, 3)
    sizes = {name: draw.multinomial(9, np.full(4, 1 / 4)) for name in ("rows", "rest")}
    values = [draw.integers(-3, 4, (9, 4)).astype(np.float64) for _ in range(4)]
    texts = {f"?{name}": str(found.tolist()) for name, found in sizes.items()}
    texts["?tokens"] = str(counts.tolist())

    def with_numbers(text):
        for name, numbers in texts.items():
            text = text.replace(name, numbers)
        return text

    def with_symbols(text):
        return text

    skipped = set()
    bound = {**sizes, "tokens": counts}
    with ts.abstract("ep=4") as world:
        early, _ = run_program(world, values, layouts, steps, skipped, with_symbols)
        for name, numbers in bound.items():
            world.bind(name, numbers)
        late, moved = run_program(world, values, layouts, steps, skipped, with_symbols)
        assert all(one[2] is not None for one in moved)
        inferred = [one.sharding for one in early]
        after = [one.sharding for one in late]
    with ts.abstract("ep=4") as world:
        arrays, wanted = run_program(world, values, layouts, steps, skipped, with_numbers)
        before = [one.sharding for one in arrays]
    assert moved == wanted and inferred == after == before
    with ts.World("ep=4") as world:
        fixed, events = run_program(world, values, layouts, steps, skipped, with_numbers)
        for name, numbers in bound.items():
            world.bind(name, numbers)
        found, again = run_program(world, values, layouts, steps, skipped, with_symbols)
        assert events == again == wanted
        for one, other, laid in zip(found, fixed, before, strict=True):
            assert one.sharding == other.sharding == laid
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other))

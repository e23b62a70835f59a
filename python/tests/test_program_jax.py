"""Programs that jax lowers: names, shardings and numbers are jax's."""

import numpy as np
import pytest

import tessera as ts


@pytest.fixture(scope="module")
def jax():
    found = pytest.importorskip("jax")
    if len(found.devices()) < 8:
        pytest.skip("jax has fewer than 8 devices")
    return found


@pytest.fixture(scope="module")
def mesh(jax):
    return jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("dp", "tp"))


def normal(*shape, dtype="float32"):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def named(jax, mesh, *entries):
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*entries))


def same_sharding(tensor, wanted):
    assert tensor.sharding == ts.Sharding(wanted, shape=tensor.shape), tensor.name


def same_numbers(jax, function, *arguments, rtol=1e-5):
    """Runs what jax lowers, and compares with what jax computes."""
    jitted = jax.jit(function)
    program = ts.Program(jitted.lower(*arguments))
    leaves = jax.tree.leaves(arguments)
    results = program.evaluate(*leaves)
    wanted = jax.tree.leaves(jitted(*arguments))
    assert len(results) == len(wanted)
    for result, one in zip(results, wanted, strict=True):
        one = np.asarray(one)
        assert (result.shape, result.dtype) == (one.shape, one.dtype)
        np.testing.assert_allclose(
            result.astype("float64"), one.astype("float64"), rtol=rtol, atol=rtol
        )
    return program


def mlp(jax, mesh):
    def loss(params, x, y):
        h = jax.nn.gelu(x @ params["w1"] + params["b1"])
        return ((h @ params["w2"] - y) ** 2).mean()

    def step(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    params = {"w1": normal(16, 32), "b1": normal(32), "w2": normal(32, 8)}
    layouts = {
        "w1": named(jax, mesh, None, "tp"),
        "b1": named(jax, mesh, "tp"),
        "w2": named(jax, mesh, "tp", None),
    }
    data = named(jax, mesh, "dp", None)
    whole = named(jax, mesh)
    jitted = jax.jit(step, in_shardings=(layouts, data, data), out_shardings=(layouts, whole))
    return jitted, (params, normal(8, 16), normal(8, 8)), (layouts, data, data)


def test_training_step(jax, mesh):
    jitted, arguments, layouts = mlp(jax, mesh)
    program = ts.Program(jitted.lower(*arguments))
    assert program.meshes == {"mesh": ts.Mesh(mesh)}
    assert [one.name for one in program.inputs] == [
        "params['b1']",
        "params['w1']",
        "params['w2']",
        "x",
        "y",
    ]
    for tensor, wanted in zip(program.inputs, jax.tree.leaves(layouts), strict=True):
        same_sharding(tensor, wanted)
    done = program.propagate()
    for before, after in zip(program.inputs, done.inputs, strict=True):
        assert (before.name, before.sharding) == (after.name, after.sharding)
    for tensor, wanted in zip(done.outputs[:3], jax.tree.leaves(layouts[0]), strict=True):
        same_sharding(tensor, wanted)
    wanted = jax.tree.leaves(jitted(*arguments))
    for run in (program, done):
        for result, one in zip(run.evaluate(*jax.tree.leaves(arguments)), wanted, strict=True):
            np.testing.assert_allclose(result, np.asarray(one), rtol=1e-5, atol=1e-5)
    # what shards the hidden layer is the first weight
    (weight,) = program.explain("params['w1']")
    assert [(one.dim, one.axis) for one in weight.axes] == [(1, '"tp"')]
    assert weight.axes[0].annotation.kind == "argument"
    assert program.check() == []
    # x @ w1 is the first product, rows along dp and columns along tp
    products = [one for one in done.shardings() if one.op == "stablehlo.dot_general"]
    assert products[0].type == "tensor<8x32xf32>"
    same_sharding(products[0], named(jax, mesh, "dp", "tp"))


def test_annotations_of_jax(jax, mesh):
    def f(x, w):
        return jax.numpy.tanh(x @ w)

    program = ts.Program(jax.jit(f).lower(normal(8, 16), normal(16, 8)))
    assert program.meshes == {}
    rows, columns = named(jax, mesh, "dp"), named(jax, mesh, None, "tp")
    program.annotate("x", rows).annotate("w", columns.spec, mesh=mesh)
    same_sharding(program.inputs[0], rows)
    same_sharding(program.inputs[1], columns)
    same_sharding(program.propagate().outputs[0], named(jax, mesh, "dp", "tp"))
    array = jax.device_put(normal(8, 16), named(jax, mesh, "tp"))
    same_sharding(program.annotate("x", array).inputs[0], array.sharding)


def test_lines_of_python(jax):
    def f(x):
        return jax.numpy.sin(x) + 1

    program = ts.Program(jax.jit(f).lower(normal(8)))
    program.annotate(0, "P('x')", mesh="x=2")
    line = f.__code__.co_firstlineno + 1
    found = program.explain(f"test_program_jax.py:{line}")
    assert [one.axes[0].path[0].op for one in found][:1] == ["stablehlo.sine"]


def test_sources_of_jax(jax):
    def f(x):
        return x * 2

    x = normal(4)
    jitted = jax.jit(f)
    lowered = jitted.lower(x)
    exported = __import__("jax.export", fromlist=["export"]).export(jitted)(x)
    for source in (lowered, exported, lowered.compiler_ir("stablehlo"), lowered.as_text()):
        np.testing.assert_allclose(ts.Program(source).evaluate(x)[0], x * 2)
    for source in (jitted, jitted.trace(x)):
        with pytest.raises(ts.InvalidError, match="lower the function first"):
            ts.Program(source)
    with pytest.raises(ts.InvalidError, match="not from Compiled"):
        ts.Program(lowered.compile())


def test_symbolic_shapes(jax):
    export = __import__("jax.export", fromlist=["export"])
    (n,) = export.symbolic_shape("n")
    kind = jax.ShapeDtypeStruct((n, 4), np.float32)
    exported = export.export(jax.jit(lambda x: (x * 2).sum(axis=0)))(kind)
    program = ts.Program(exported)
    assert program.inputs[0].shape == (None, 4)
    assert program.inputs[0].static_shape is None
    assert program.annotate("%arg0", "P('a', None)", mesh="a=2").inputs[0].sharding is not None


def test_shard_map(jax, mesh):
    spec = jax.sharding.PartitionSpec

    def part(x, w):
        return jax.numpy.exp(jax.lax.psum(x @ w, "tp"))

    def mistake(x, w):
        return jax.lax.psum(jax.numpy.exp(x @ w), "tp")

    def mapped(function):
        return jax.shard_map(
            function,
            mesh=mesh,
            in_specs=(spec("dp", "tp"), spec("tp", None)),
            out_specs=spec("dp", None),
        )

    x, w = normal(8, 16) / 4, normal(16, 8) / 4
    program = same_numbers(jax, mapped(part), x, w)
    np.testing.assert_allclose(program.evaluate(x, w)[0], np.exp(x @ w), rtol=1e-4)
    assert program.check() == []
    (finding,) = ts.Program(jax.jit(mapped(mistake)).lower(x, w)).check()
    assert (finding.name, finding.axis) == ("pending-in-nonlinear", "tp")
    assert finding.source.file.endswith("test_program_jax.py")
    assert finding.source.line == mistake.__code__.co_firstlineno + 1
    assert f"from {finding.source}" in str(finding)


def test_scan_while_and_cond(jax):
    lax, jnp = jax.lax, jax.numpy

    def recurrent(w, xs):
        def step(h, x):
            h = jnp.tanh(h @ w + x)
            return h, h.sum()

        return lax.scan(step, jnp.zeros(6), xs)

    same_numbers(jax, recurrent, normal(6, 6), normal(5, 6))

    def collatz(n):
        def body(state):
            n, count = state
            return lax.cond(n % 2 == 0, lambda k: k // 2, lambda k: 3 * k + 1, n), count + 1

        return lax.while_loop(lambda state: state[0] > 1, body, (n, 0))

    program = same_numbers(jax, collatz, np.int32(27))
    assert int(program.evaluate(27)[1]) == 111
    same_numbers(jax, lambda x: jnp.sort(x)[::-1].cumsum(), normal(17))
    same_numbers(jax, lambda x, i: x.at[i].add(1.0)[i], normal(9, 3), np.array([1, 5, 1], np.int32))


def test_attention_in_bfloat16(jax, mesh):
    jnp = jax.numpy

    def attention(q, k, v):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
        mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf).astype(jnp.float32))
        return jnp.einsum("bhqk,bkhd->bqhd", weights.astype(q.dtype), v)

    q, k, v = (normal(2, 6, 4, 8 + i)[..., :8].astype(jnp.bfloat16) for i in range(3))
    same_numbers(jax, attention, q, k, v, rtol=2e-2)
    layout = named(jax, mesh, "dp", None, "tp", None)
    lowered = jax.jit(attention, in_shardings=(layout,) * 3).lower(q, k, v)
    done = ts.Program(lowered).propagate()
    same_sharding(done.outputs[0], layout)


@pytest.mark.parametrize("seed", range(12))
def test_random_meshes_and_specs(jax, seed):
    """Shardings of arguments are those that jax was given.

    A program numbers devices by their places: a mesh over permuted devices is one over 0 .. n-1.
    """
    rng = np.random.default_rng(seed)
    sizes = [(8,), (2, 4), (4, 2), (2, 2, 2)][seed % 4]
    names = ("a", "b", "c")[: len(sizes)]
    devices = rng.permutation(np.array(jax.devices()[:8], dtype=object)).reshape(sizes)
    mesh = jax.sharding.Mesh(devices, names)
    ordered = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(sizes), names)
    shape, layouts = (16, 8, 24), []
    for _ in range(3):
        axes = list(rng.permutation(names)[: rng.integers(0, len(names) + 1)])
        entries = [[], [], []]
        for axis in axes:
            entries[rng.integers(0, 3)].append(str(axis))
        layouts.append(named(jax, mesh, *(tuple(one) or None for one in entries)))
    arguments = [normal(*shape) for _ in layouts]
    jitted = jax.jit(lambda x, y, z: jax.numpy.sin(x) * y - z, in_shardings=tuple(layouts))
    program = ts.Program(jitted.lower(*arguments))
    done = program.propagate()
    for kept in (program, done):
        for tensor, wanted in zip(kept.inputs, layouts, strict=True):
            same_sharding(tensor, jax.sharding.NamedSharding(ordered, wanted.spec))
    # what was there already is no change
    again = program.clone()
    for number, wanted in enumerate(layouts):
        again.annotate(number, wanted)
    assert str(again) == str(program)
    for run in (program, done):
        np.testing.assert_allclose(
            run.evaluate(*arguments)[0], np.asarray(jitted(*arguments)), rtol=1e-5, atol=1e-6
        )

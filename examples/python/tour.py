"""A tour of Tessera, cell by cell as in a notebook: `python tour.py [FOLDER]`.

Pictures are drawn as text, and written as SVG into FOLDER if one is given.
"""

# %% Meshes and shardings: what each device holds
import sys
from pathlib import Path

import numpy as np

import tessera as ts

pictures = Path(sys.argv[1]) if len(sys.argv) > 1 else None

mesh = ts.Mesh("dp=2, tp=4")
sharding = ts.Sharding("P('dp', 'tp')", mesh)
print(sharding)
print("each device holds", sharding.local_shape((6, 10)), "at most")
ts.show(sharding, (6, 10), unicode=True, colour=False)
if pictures:
    (pictures / "sharding.svg").write_text(sharding.svg((6, 10), title="P('dp', 'tp')"))

# %% The same in the notations of others
for notation in ("sdy", "jax", "dtensor", "hlo"):
    print(f"{notation:8}", sharding.to(notation, (6, 10)))

# %% Arrays: a world of eight ranks, driven from here
world = ts.World(mesh)
rng = np.random.default_rng(0)
full = rng.standard_normal((6, 10)), rng.standard_normal((10, 12))
x = world.array(full[0], "P('dp', None)")
w = world.array(full[1], "P(None, 'tp')")
y = x @ w
print(y)
print("as NumPy has it:", np.allclose(np.asarray(y), full[0] @ full[1]))
print("rank 5 holds", y.local(5).shape)
if pictures:
    (pictures / "product.svg").write_text(y.sharding.svg(y.shape, title=repr(y)))

# %% What moves, and what it costs
with world.trace() as moved:
    pending = x.redistribute("P(None, 'tp')") @ world.array(full[1], "P('tp', None)")
    print(pending)
    settled = pending.redistribute("P('dp', 'tp')")
for one in moved:
    print(f"{one.collective:14} {one.bytes_moved:5} bytes  {one.source} to {one.destination}")

# %% Strict mode: nothing moves without being asked for
with world.strict():
    try:
        x + x.redistribute("P('tp', None)")
    except ts.Error as error:
        print(type(error).__name__, error.message.splitlines()[0])

# %% Gradients are arrays; a sum may be pending in them
loss, gradient = ts.value_and_grad(lambda w: (ts.tanh(x @ w) ** 2).mean())(w)
print(f"loss {float(loss):.6f}, gradient {gradient}")
step = 1e-6
bumped = full[1].copy()
bumped[3, 7] += step
slope = (np.tanh(full[0] @ bumped) ** 2).mean() - (np.tanh(full[0] @ full[1]) ** 2).mean()
print("as a difference has it:", np.allclose(np.asarray(gradient)[3, 7], slope / step, rtol=1e-4))

# %% Ragged data: tokens go to their experts, nothing is padded
counts = rng.integers(0, 4, (8, 3))
layout = ts.ragged.partitioned(mesh, ("dp", "tp"), counts, ndim=2)
tokens = world.array(rng.standard_normal((int(counts.sum()), 2)), layout)
experts = ts.ragged.unaligned_to_aligned(tokens)
print(
    "rows of each rank",
    [len(tokens.local(r)) for r in range(8)],
    "then",
    [len(experts.local(r)) for r in range(8)],
)
world.close()

# %% Typed code: a forgotten sum is found before anything runs, on 4096 devices
with ts.abstract("dp=256, tp=16") as world, ts.spmd.scope(world, global_axes=["dp", "tp"]):
    a = ts.spmd.local_of(world.zeros((4096, 1024), "P('dp', 'tp')"))
    b = ts.spmd.local_of(world.zeros((1024, 512), "P('tp', None)"))
    part = ts.spmd.matmul_partial(a, b, "tp")
    try:
        ts.relu(part)
    except ts.Error as error:
        print(error.fixes[0])
    print(ts.spmd.type_of(ts.relu(ts.spmd.all_reduce(part, "tp"))))

# %% Programs: what jax lowers, `ts.Program(jax.jit(f).lower(x))`, or its text
program = ts.Program("""
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>})
    -> tensor<8x32xf32> {
  %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %result = stablehlo.tanh %product : tensor<8x32xf32>
  return %result : tensor<8x32xf32>
}
""")
for one in program.propagate().shardings():
    print(f"{one.name:6} {one.type:20} {one.sharding.to('jax') if one.sharding else 'none'}")
print(program.explain("%result"))
inputs = rng.standard_normal((8, 16)).astype("f4"), rng.standard_normal((16, 32)).astype("f4")
print(
    "as NumPy has it:",
    np.allclose(program.evaluate(*inputs)[0], np.tanh(inputs[0] @ inputs[1]), atol=1e-5),
)

# %% What a change of layout would move on 65,536 devices
found = ts.plan("P('a', None)", "P(None, ('a', 'b'))", (65536, 65536), mesh="a=256, b=256")
print(
    [(step.kind, step.axes) for step in found.steps],
    f"{found.most_received / 2**20:.2f} MiB a device",
)

# %% As torch is used: a function on every rank
print(ts.launch(lambda world: (world.rank, float(world.ones((5,), "P('x')").local().sum())), 3))

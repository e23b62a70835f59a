#!/usr/bin/env python3
"""Writes the programs of this folder: what JAX exports for a few small functions on meshes of 8.

Needs jax (0.10 or later). Nothing else of the project needs it: the programs are committed.
"""
import os
import pathlib

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_use_shardy_partitioner", True)
FOLDER = pathlib.Path(__file__).parent


def mesh_of(shape, names):
    return Mesh(np.array(jax.devices()[: np.prod(shape)]).reshape(shape), names)


def write(name, function, mesh, specs, *arguments):
    shardings = tuple(NamedSharding(mesh, spec) for spec in specs)
    lowered = jax.jit(function, in_shardings=shardings).lower(*arguments)
    (FOLDER / f"{name}.mlir").write_text(lowered.as_text())


def array(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def mlp_step(x, y, w1, w2):
    """One step of gradient descent: data parallel over the batch, Megatron over the hidden size."""

    def loss(weights):
        hidden = jax.nn.relu(x @ weights[0])
        return jnp.mean((hidden @ weights[1] - y) ** 2)

    value, gradients = jax.value_and_grad(loss)((w1, w2))
    return value, w1 - 0.1 * gradients[0], w2 - 0.1 * gradients[1]


def decode(cache, step, token, table):
    """Writes one token into a cache and attends to what is there: a loop, a slice, a softmax."""

    def body(i, carry):
        cache, query = carry
        row = jax.lax.dynamic_slice_in_dim(table, i, 1, 0)[0]
        cache = jax.lax.dynamic_update_index_in_dim(cache, row, i, 0)
        scores = jax.nn.softmax(cache @ query)
        return cache, scores @ cache

    return jax.lax.fori_loop(step, step + 2, body, (cache, token))


def main():
    grid = mesh_of((2, 4), ("data", "model"))
    write("mlp_step", mlp_step, grid,
          (P("data", None), P("data", None), P(None, "model"), P("model", None)),
          array(16, 32), array(16, 8), array(32, 64), array(64, 8))
    line = mesh_of((8,), ("x",))
    write("decode", decode, line, (P("x", None), P(), P(), P(None, None)),
          array(64, 16), array(dtype=jnp.int32), array(16), array(64, 16))

    def summed(x, w):
        return jax.lax.psum(x @ w, "x")

    manual = jax.shard_map(summed, mesh=line, in_specs=(P(None, "x"), P("x", None)), out_specs=P())
    write("manual_matmul", manual, line, (P(None, "x"), P("x", None)), array(4, 32), array(32, 8))


if __name__ == "__main__":
    main()

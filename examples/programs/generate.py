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


def write_arrays(name, function, *arguments):
    """Random inputs, and what JAX makes of them on one device."""
    generator = np.random.default_rng(1)
    inputs = [generator.standard_normal(a.shape).astype(a.dtype) for a in arguments]
    outputs = jax.tree.leaves(jax.jit(function)(*inputs))
    np.savez(FOLDER / f"{name}.inputs.npz", **{f"in_{i}": x for i, x in enumerate(inputs)})
    np.savez(FOLDER / f"{name}.outputs.npz", **{f"out_{i}": x for i, x in enumerate(outputs)})


def array(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def mlp_step(x, y, w1, w2):
    """One step of gradient descent: data parallel over the batch, Megatron over the hidden size."""

    def loss(weights):
        hidden = jax.nn.relu(x @ weights[0])
        return jnp.mean((hidden @ weights[1] - y) ** 2)

    value, gradients = jax.value_and_grad(loss)((w1, w2))
    return value, w1 - 0.1 * gradients[0], w2 - 0.1 * gradients[1]


def transformer_step(tokens, targets, table, qkv, out, up, down):
    """One step of training a transformer block: batch over data, Megatron over model."""

    def loss(weights):
        table, qkv, out, up, down = weights
        x = table[tokens]
        q, k, v = jnp.einsum("btd,dchk->cbthk", x, qkv)
        scores = jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", q, k))
        heads = jnp.einsum("bhts,bshk->bthk", scores, v)
        x = x + jnp.einsum("bthk,hkd->btd", heads, out)
        x = x + jax.nn.gelu(x @ up) @ down
        logits = x @ table.T
        picked = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)

    weights = (table, qkv, out, up, down)
    value, gradients = jax.value_and_grad(loss)(weights)
    return value, tuple(w - 0.1 * g for w, g in zip(weights, gradients))


def decode(cache, step, token, table):
    """Writes one token into a cache and attends to the tokens so far: a loop, a slice, a softmax."""

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
    write_arrays("mlp_step", mlp_step, array(16, 32), array(16, 8), array(32, 64), array(64, 8))
    write("transformer_step", transformer_step, grid,
          (P("data", None), P("data", None), P("model", None), P(None, None, "model", None),
           P("model", None, None), P(None, "model"), P("model", None)),
          array(8, 32, dtype=jnp.int32), array(8, 32, dtype=jnp.int32), array(256, 64),
          array(64, 3, 4, 16), array(4, 16, 64), array(64, 256), array(256, 64))

    def forgotten(x, up, down):
        hidden = jax.nn.gelu(x @ up)
        return jax.nn.gelu(hidden @ down)  # the sum over model is missing before the second gelu

    mistake = jax.shard_map(forgotten, mesh=grid, check_vma=False, out_specs=P("data", None),
                            in_specs=(P("data", None), P(None, "model"), P("model", None)))
    write("forgotten_sum", mistake, grid, (P("data", None), P(None, "model"), P("model", None)),
          array(16, 32), array(32, 64), array(64, 32))
    line = mesh_of((8,), ("x",))
    write("decode", decode, line, (P("x", None), P(), P(), P(None, None)),
          array(64, 16), array(dtype=jnp.int32), array(16), array(64, 16))

    def summed(x, w):
        return jax.lax.psum(x @ w, "x")

    manual = jax.shard_map(summed, mesh=line, in_specs=(P(None, "x"), P("x", None)), out_specs=P())
    write("manual_matmul", manual, line, (P(None, "x"), P("x", None)), array(4, 32), array(32, 8))


if __name__ == "__main__":
    main()

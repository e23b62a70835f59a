"""A transformer block trained with data, tensor and sequence parallelism, in typed SPMD code.

The program of examples/transformer_tp.c: every rank computes on arrays of its own, every collective
is a call, and types refuse what would give wrong gradients before it is computed. One rank is the
reference: losses and gradients must be the same but for rounding.

    python transformer_tp.py [--forget | --unchecked] [RANKS]
"""

import sys
from math import sqrt

import numpy as np

import tessera as ts
from tessera import spmd

SENTENCES, LENGTH, WIDTH, HEADS, HIDDEN, VOCABULARY, STEPS = 4, 8, 16, 4, 32, 24, 4
# The parameters: shapes and layouts; a rank has its part, the same along "dp".
PARAMETERS = {
    "embed": ((VOCABULARY, WIDTH), "P('tp', None)"),
    "norm1": ((WIDTH,), "P(None)"),
    "query": ((WIDTH, WIDTH), "P(None, 'tp')"),
    "key": ((WIDTH, WIDTH), "P(None, 'tp')"),
    "value": ((WIDTH, WIDTH), "P(None, 'tp')"),
    "project": ((WIDTH, WIDTH), "P('tp', None)"),
    "norm2": ((WIDTH,), "P(None)"),
    "up": ((WIDTH, HIDDEN), "P(None, 'tp')"),
    "down": ((HIDDEN, WIDTH), "P('tp', None)"),
}


class Model:
    def __init__(self, world, forget):
        self.world, self.forget = world, forget
        self.dp, self.tp = world.mesh.axis_sizes
        self.first = VOCABULARY // self.tp * (world.rank % self.tp)

    def scatter_sequence(self, x):
        """The sum over "tp" of what ranks have computed, cut along the sequence."""
        return spmd.reduce_scatter(spmd.reinterpret(x, "tp", "V", "P"), "tp", "P", "S(1)")

    def gather_sequence(self, x):
        return spmd.all_gather(x, "tp", "S(1)", "R")

    def sum_over_tp(self, x):
        return spmd.all_reduce(spmd.reinterpret(x, "tp", "V", "P"), "tp", "P", "I")

    def look_up(self, table, indices):
        """Rows of a table of which this rank has a part: zeros where another rank has them."""
        here = (indices >= self.first) & (indices < self.first + VOCABULARY // self.tp)
        mask = here.astype("f32").reshape(-1, LENGTH, 1)
        return ts.embedding(table, indices - self.first, mode="clip") * mask

    def heads(self, x):
        return x.reshape(-1, LENGTH, HEADS // self.tp, WIDTH // HEADS).transpose(0, 2, 1, 3)

    def attention(self, w, x):
        q, k, v = (self.heads(x @ w[name]) for name in ("query", "key", "value"))
        scores = ts.softmax(ts.einsum("bhqd,bhkd->bhqk", q, k) * (1 / sqrt(WIDTH / HEADS)))
        mixed = ts.einsum("bhqk,bhkd->bhqd", scores, v).transpose(0, 2, 1, 3)
        return self.scatter_sequence(mixed.reshape(-1, LENGTH, WIDTH // self.tp) @ w["project"])

    def mlp(self, w, x):
        return self.scatter_sequence(ts.gelu(x @ w["up"]) @ w["down"])

    def loss(self, tape, logits, labels):
        """Cross-entropy over a sharded vocabulary: a number for each token goes between ranks."""
        with tape.paused():  # the greatest logit needs no gradient
            most = spmd.reinterpret(logits.max(2, keepdims=True), "tp", "V", "P(max)")
            most = spmd.all_reduce(most, "tp", "P(max)", "I")
        logits = logits - spmd.convert(most, "tp", "I", "R")
        total = ts.log(self.sum_over_tp(ts.exp(logits).sum(2)))
        hot = ts.one_hot(labels - self.first, VOCABULARY // self.tp)
        losses = total - self.sum_over_tp((logits * hot).sum(2))
        return spmd.reinterpret(losses.sum() * (1 / (SENTENCES * LENGTH)), "dp", "V", "P")

    def forward(self, tape, w, tokens, labels):
        x = self.scatter_sequence(self.look_up(w["embed"], tokens))
        x = x + self.attention(w, self.gather_sequence(ts.rms_norm(x, w["norm1"])))
        x = x + self.mlp(w, self.gather_sequence(ts.rms_norm(x, w["norm2"])))
        return self.loss(tape, self.gather_sequence(x) @ w["embed"].T, labels)

    def tokens(self, seed):
        batch = SENTENCES // self.dp
        first = batch * (self.world.rank // self.tp)
        numbers = ((first * LENGTH + np.arange(batch * LENGTH)) * 7 + seed) % VOCABULARY
        part = numbers.astype("i4").reshape(batch, LENGTH)
        return spmd.value(self.world, [part], f"i32[{batch},{LENGTH}]{{dp:V, tp:R}}")

    def to_use(self, name, part):
        """A parameter for use in computation: along an axis its gradient may be partial."""
        if "tp" not in PARAMETERS[name][1] and not (self.forget and name == "norm1"):
            part = spmd.convert(part, "tp", "I", "R")
        return spmd.convert(part, "dp", "I", "R")

    def differentiate(self, parameters):
        """The loss, and the gradients as sharded arrays: the typed part ends here."""
        with ts.Tape(self.world) as tape:
            parts = {name: spmd.local_of(x, "I") for name, x in parameters.items()}
            tape.watch(*parts.values())
            w = {name: self.to_use(name, part) for name, part in parts.items()}
            loss = self.forward(tape, w, self.tokens(1), self.tokens(8))
            tape.backward(loss)
            total = ts.stop_gradient(spmd.all_reduce(loss, "dp", "P", "I")).local().item()
            return total, {k: spmd.array_of(tape.gradient(x)) for k, x in parts.items()}


def run(world, forget=False, unchecked=False):
    model, w = Model(world, forget), {}
    for i, (name, (shape, layout)) in enumerate(PARAMETERS.items()):
        normal = world.random_normal(shape, layout, seed=7, stream=i)
        w[name] = world.ones(shape, layout) if len(shape) == 1 else normal * 0.2
    losses, gradients = [], {}
    for _ in range(STEPS):
        with spmd.scope(world, strict=False, unchecked=unchecked):
            loss, gradients = model.differentiate(w)
        w = {name: x + gradients[name] * -0.5 for name, x in w.items()}
        losses.append(loss)
    return losses, {name: np.asarray(x) for name, x in gradients.items()}


def main(arguments):
    flags = [one[2:] for one in arguments if one.startswith("--")]
    numbers = [int(one) for one in arguments if not one.startswith("--")]
    ranks = numbers[0] if numbers else 4
    tp = 4 if ranks % 4 == 0 else 2 if ranks % 2 == 0 else 1
    given = ("forget" in flags, "unchecked" in flags)
    losses, gradients = ts.launch(run, f"dp={ranks // tp}, tp={tp}", args=given)[0]
    alone, reference = ts.launch(run, "dp=1, tp=1", args=given)[0]
    for step, (loss, one) in enumerate(zip(losses, alone, strict=True)):
        print(f"step {step}: loss {loss:.3f}, on one rank {one:.3f}")
    same = all(np.allclose(gradients[k], reference[k], atol=1e-5) for k in PARAMETERS)
    print(
        f"the gradients of {len(PARAMETERS)} parameters are "
        + ("one rank's but for rounding" if same else "WRONG")
    )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

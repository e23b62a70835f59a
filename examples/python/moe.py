"""Tokens routed to experts and back, without padding: examples/moe_dispatch.c from Python.

Every rank has some tokens and sends each to one of its experts. Sorted by expert, the tokens of all
ranks are an array whose first dimension is partitioned by expert: each rank holds a slice of every
partition (unaligned). Converted to whole partitions (aligned), each rank multiplies the tokens of
its experts by their weights; converted back, every token returns to where it came from.

    python moe.py [RANKS]
"""

import sys

import numpy as np

import tessera as ts

EXPERTS, WIDTH = 6, 16


def experts_of(rank, tokens):
    mixed = (rank * 7919 + np.arange(tokens) * 104729) % 1000
    return mixed * mixed % EXPERTS


def weights(expert):
    row, column = np.indices((WIDTH, WIDTH))
    return ((expert * 5 + row * 3 + column) % 7 - 3).astype("f4")


def run(world):
    rank, ranks = world.rank, world.size
    count = 0 if rank % 3 == 2 else 40 + 17 * rank  # some ranks have many, some none
    tokens = ((rank * 31 + np.arange(count * WIDTH) * 13) % 9 - 4).astype("f4").reshape(-1, WIDTH)
    expert = experts_of(rank, count)
    order = np.argsort(expert, kind="stable")

    # How many tokens each rank has for each expert.
    mine = np.bincount(expert, minlength=EXPERTS)[None]
    counts = np.asarray(world.from_local([mine], 'P("ep", None)', (ranks, EXPERTS)))

    layout = ts.ragged.partitioned(world.mesh, "ep", counts, ndim=2)
    sent = world.from_local([tokens[order]], layout, (int(counts.sum()), WIDTH))
    whole = ts.ragged.unaligned_to_aligned(sent)

    # Each rank's experts, one partition after the other.
    result = world.zeros(whole.shape, whole.sharding)
    at = 0
    for p in range(rank * EXPERTS // ranks, (rank + 1) * EXPERTS // ranks):
        rows = slice(at, at + counts[:, p].sum())
        result.local()[rows] = whole.local()[rows] @ weights(p)
        at = rows.stop
    home = ts.ragged.aligned_to_unaligned(result)

    received = world.traffic()["received"]
    expected = [tokens[i] @ weights(expert[i]) for i in order]
    wrong = sum(int((a != b).sum()) for a, b in zip(home.local(), expected, strict=True))
    line = f"rank {rank}: {count} tokens out, {len(whole.local())} at its experts, "
    return line + f"{received} bytes received, {wrong} wrong", wrong


if __name__ == "__main__":
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else None
    results = ts.launch(run, ranks, "ep=-1")
    for line, _ in results:
        sys.stdout.write(line + "\n")
    if any(wrong for _, wrong in results):
        sys.exit("failed")
    if results[0][0].startswith("rank 0:"):
        print("the same as without sharding")

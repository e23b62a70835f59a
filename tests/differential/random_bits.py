"""Bits of rng_bit_generator by XLA and by `tessera eval`: see random_bits.sh."""

import os
import random
import subprocess
import sys
import tempfile

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import numpy as np
from jaxlib import xla_client as xc

TESSERA = os.environ.get("TESSERA") or os.path.join(os.environ["TSR_BUILD_DIR"], "tessera")
TYPES = ["i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "i4", "ui4", "i2", "ui2",
         "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"]
EXTENTS = [0, 1, 2, 3, 4, 5, 7, 8, 11, 16]
WORDS = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 2, 2**64 - 1]
PER_PROGRAM = 40


def word(draw):
    return draw.choice(WORDS) if draw.random() < 0.5 else draw.getrandbits(64)


def case(draw):
    algorithm = draw.choice(["PHILOX", "DEFAULT", "THREE_FRY"])
    count = 2 if algorithm == "THREE_FRY" else draw.choice([2, 3])
    extents = EXTENTS if draw.random() < 0.15 else EXTENTS[1:]
    shape = [draw.choice(extents) for _ in range(draw.randrange(4))]
    if draw.random() < 0.1:
        shape = [draw.randrange(100, 400)]
    return algorithm, shape, draw.choice(TYPES), [word(draw) for _ in range(count)]


def integer_of(kind):
    """The unsigned integers of an element type's bits, which both sides print alike."""
    bits = int("".join(c for c in kind.split("E")[0] if c.isdigit()))
    return f"ui{max(bits, 8)}", bits


def text_of(cases):
    body, arguments, results, types = [], [], [], []
    for i, (algorithm, shape, kind, state) in enumerate(cases):
        dims = "".join(f"{n}x" for n in shape)
        s, made = f"tensor<{len(state)}xui64>", f"tensor<{dims}{kind}>"
        seen, bits = integer_of(kind)
        arguments.append(f"%s{i}: {s}")
        body.append(f"  %a{i}, %b{i} = stablehlo.rng_bit_generator %s{i}, algorithm = {algorithm} "
                    f": ({s}) -> ({s}, {made})")
        last = f"%b{i}"
        if bits >= 8 and kind != seen:
            body.append(f"  %c{i} = stablehlo.bitcast_convert %b{i} : ({made}) -> "
                        f"tensor<{dims}{seen}>")
            last = f"%c{i}"
        elif bits < 8:
            body.append(f"  %c{i} = stablehlo.convert %b{i} : ({made}) -> tensor<{dims}i8>")
            body.append(f"  %d{i} = stablehlo.bitcast_convert %c{i} : (tensor<{dims}i8>) -> "
                        f"tensor<{dims}ui8>")
            last = f"%d{i}"
        results += [f"%a{i}", last]
        types += [s, f"tensor<{dims}{seen}>"]
    listed = ", ".join(types)
    return "\n".join([f"func.func @main({', '.join(arguments)}) -> ({listed}) {{", *body,
                      f"  return {', '.join(results)} : {listed}", "}"]) + "\n"


def by_xla(text, states):
    device = jax.local_devices()[0]
    program = device.client.compile_and_load(
        f"module {{ {text} }}", xc.DeviceList((device,)), xc.CompileOptions())
    made = program.execute_sharded([jax.device_put(s) for s in states])
    return [np.asarray(a[0]) for a in made.disassemble_into_single_device_arrays()]


def by_tessera(text, states, folder):
    path = os.path.join(folder, "program.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    made = os.path.join(folder, "made.npz")
    command = [TESSERA, "eval", path, "--output", made]
    for i, state in enumerate(states):
        np.save(os.path.join(folder, f"in{i}.npy"), state)
        command += ["--input", f"{i}=" + os.path.join(folder, f"in{i}.npy")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with np.load(made) as arrays:
        return [arrays[name] for name in arrays.files]


def main():
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("TSR_SEED", "1"))
    draw = random.Random(seed)
    wrong = elements = 0
    for first in range(0, total, PER_PROGRAM):
        cases = [case(draw) for _ in range(min(PER_PROGRAM, total - first))]
        states = [np.array(c[3], np.uint64) for c in cases]
        text = text_of(cases)
        with tempfile.TemporaryDirectory() as folder:
            own = by_tessera(text, states, folder)
        wanted = by_xla(text, states)
        for i, c in enumerate(cases):
            elements += wanted[2 * i + 1].size
            # XLA extends signed elements of less than a byte by zeros: compare their bits
            mask = np.uint64(2 ** integer_of(c[2])[1] - 1)
            if not np.array_equal(own[2 * i], wanted[2 * i]) or not np.array_equal(
                own[2 * i + 1] & mask, wanted[2 * i + 1] & mask
            ):
                wrong += 1
                print("differs:", *c, own[2 * i], wanted[2 * i])
    print(f"{total} cases, {elements} elements, seed {seed}: {wrong} differ")
    sys.exit(wrong > 0)


main()

"""Shardings of programs of chlo by XLA and by `tessera propagate`: see chlo.sh."""

import glob
import os
import random
import re
import subprocess
import sys
import tempfile

DUMP = tempfile.mkdtemp()
os.environ["XLA_FLAGS"] = (
    f"--xla_force_host_platform_device_count=8 --xla_dump_to={DUMP} --xla_dump_hlo_pass_re=shardy-xla"
)

import jax

jax.config.update("jax_platforms", "cpu")

import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client as xc
from jax._src.lib.mlir import ir

TESSERA = os.environ.get("TESSERA") or os.path.join(os.environ["TSR_BUILD_DIR"], "tessera")
UNARY = ("acos acosh asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma sinh "
         "square").split()
BINARY = ["next_after", "zeta", "polygamma"]
PLAIN = ["stablehlo.add", "stablehlo.multiply"]
T = "tensor<8x16xf32>"


def sharding(draw):
    dims = draw.choice(['[{"x"}, {"y"}]', '[{"y"}, {"x"}]', '[{"x"}, {}]', '[{}, {"x"}]',
                        '[{"y", ?}, {?}]', '[{?}, {"x", ?}]'])
    return f"#sdy.sharding<@mesh, {dims}>"


def program(draw, name):
    """A program and how many results it has. No value is without use, and none is used twice by one
    op, so that XLA has nothing to simplify."""
    values = ["%a", "%b", "%c"]
    unused = list(values)
    lines = []

    def take():
        value = draw.choice(unused if unused and draw.random() < 0.7 else values)
        if value in unused:
            unused.remove(value)
        return value

    for n in range(draw.randrange(2, 7)):
        kind = draw.random()
        if kind < 0.5:
            text = f"chlo.{draw.choice(UNARY)} {take()} : {T} -> {T}"
        else:
            left, right = take(), take()
            if left == right:
                right = next(v for v in values if v != left)
                if right in unused:
                    unused.remove(right)
            if kind < 0.7:
                text = f"chlo.{draw.choice(BINARY)} {left}, {right} : {T}, {T} -> {T}"
            else:
                text = f"{draw.choice(PLAIN)} {left}, {right} : {T}"
        lines.append(f"  %{n} = {text}")
        values.append(f"%{n}")
        unused.append(f"%{n}")
    results = [v for v in unused if v not in "%a%b%c"]
    kept = results[:]
    tops = draw.random() < 0.3
    if tops:
        value = kept.pop()
        lines.append(f"  %v, %i = chlo.top_k({value}, k = 4) : {T} -> (tensor<8x4xf32>, tensor<8x4xi32>)")
    types = [T] * len(kept) + ["tensor<8x4xf32>", "tensor<8x4xi32>"] * tops
    kept += ["%v", "%i"] * tops
    # Where operands disagree, what XLA rewrites a binary op to may decide otherwise than one rule.
    pairs = any(f"chlo.{op} " in line for op in BINARY for line in lines)
    chosen = [draw.randrange(3)] if pairs else [n for n in range(3) if draw.random() < 0.5]
    given = [f" {{sdy.sharding = {sharding(draw)}}}" if n in chosen else "" for n in range(3)]
    arguments = ", ".join(f"{v}: {T}{g}" for v, g in zip("%a %b %c".split(), given))
    return "\n".join([
        f"module @{name} attributes {{mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32}} {{",
        'sdy.mesh @mesh = <["x"=2, "y"=4]>',
        f"func.func public @main({arguments}) -> ({', '.join(types)}) {{",
        *lines,
        f"  return {', '.join(kept)} : {', '.join(types)}",
        "}", "}", ""]), len(kept)


def by_xla(text, name, count):
    """The shardings of results before XLA's partitioner makes them divide: as Shardy left them."""
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        options = compiler.get_compile_options(
            num_replicas=1, num_partitions=8, device_assignment=np.arange(8).reshape(1, 8))
        build = options.executable_build_options
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = True
        build.allow_spmd_sharding_propagation_to_output = [True] * count
        devices = xc.DeviceList(tuple(jax.devices()))
        compiler.backend_compile_and_load(jax.devices()[0].client, module, devices, options, [])
    (after,) = glob.glob(f"{DUMP}/shardy/*.{name}/02.after_propagation.mlir")
    with open(after) as file:
        return of_results(file.read())


def by_tessera(text):
    run = subprocess.run([TESSERA, "propagate", "-"], input=text, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{run.stderr}\n{text}")
    return of_results(run.stdout)


def of_results(text):
    """The shardings of main's results; those that are replicated count as none."""
    line = next(line for line in text.splitlines() if "@main(" in line)
    results = line[line.rindex(") -> ") + 5:]
    found = []
    for one in re.split(r"(?=tensor<)", results)[1:]:
        match = re.search(r"@\w+, (\[.*?\])(>|,)", one)
        dims = match.group(1) if match else "[{}, {}]"
        found.append(re.sub(r", \?|\?", "", dims))
    return found


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    draw = random.Random(seed)
    wrong = sharded = 0
    for n in range(count):
        text, results = program(draw, f"p{n}")
        wanted, got = by_xla(text, f"p{n}", results), by_tessera(text)
        sharded += any('"' in dims for dims in wanted)
        if wanted != got:
            wrong += 1
            if wrong < 4:
                print(f"{text}XLA: {wanted}\ntessera: {got}\n")
    print(f"chlo: {count - wrong} of {count} programs alike, {sharded} with sharded results (seed {seed})")
    return wrong > 0 or sharded < count // 3


if __name__ == "__main__":
    sys.exit(main())

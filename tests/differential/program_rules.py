"""Rules of ops that only programs have, by tessera-opt and by the reference: program_rules.py N.

Writes N random uses of collectives, linear algebra, windows, dynamic slices, bitcasts, random bits
and custom calls of every known target, and compares the programs that both print with rules stored,
plain and conservative. TSR_PLANT names an op or target whose rules are changed before comparing.
"""
import collections
import os
import random
import re
import subprocess
import sys

OPT = os.path.join(os.environ["TSR_BUILD_DIR"], "tessera-opt")
SEED = int(os.environ.get("TSR_SEED", "1"))
PLANT = os.environ.get("TSR_PLANT", "")
LEAST = int(os.environ.get("TSR_LEAST", "20"))
PASS = "sdy-populate-op-sharding-rules"
CUT = "// -----\n"
BATCH = 100

sys.path.insert(0, os.path.dirname(os.environ["TSR_ORACLE"]))
import sdy_oracle  # noqa: E402

context = sdy_oracle.context(False)
from jaxlib.mlir import ir, passmanager  # noqa: E402

POINTWISE = ["annotate_device_placement", "Cholesky", "CompactWyHelper", "InspectSharding",
             "InvertDiagBlocksLowerTriangular", "InvertDiagBlocksUpperTriangular",
             "LayoutConstraint", "mhlo.erf", "MoveToDevice", "MoveToHost", "X64SplitHigh",
             "X64SplitLow", "xla.megascale.provide_metadata", "_SPMDInternalOp_MultiPad",
             "_SPMDInternalOp_RotateRight", "_SPMDInternalOp_MultiRotate",
             "_SPMDInternalOp_MultiSlice", "_SPMDInternalOp_Wrap"]
NO_RULE = ["sdy_testonly", "tpu_custom_call", "xla_python_cpu_callback", "xla_python_gpu_callback",
           "xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback", "unheard_of"]


def tensor(shape, element="f32"):
    return "tensor<%s>" % "x".join([str(size) for size in shape] + [element])


def array(values):
    return "array<i64%s>" % (": " + ", ".join(map(str, values)) if values else "")


def region(op, element="f32", count=1):
    kinds = [tensor((), element)] * count
    names = ["%%r%d" % i for i in range(2 * count)]
    lines = ["%%s%d = %s %s, %s : %s" % (k, op, names[k], names[count + k], kinds[0])
             for k in range(count)]
    return "({\n^bb0(%s):\n%s\nstablehlo.return %s : %s\n})" % (
        ", ".join("%s: %s" % pair for pair in zip(names, kinds * 2)), "\n".join(lines),
        ", ".join("%%s%d" % k for k in range(count)), ", ".join(kinds))


class Case:
    """One function: arguments, lines before the op, the op, lines after it."""

    def __init__(self, rng):
        self.rng = rng
        self.arguments = []
        self.lines = []
        self.name = ""

    def size(self):
        return self.rng.choice([0, 1, 1, 2, 3, 4, 6, 8, 8, 16])

    def shape(self, least=0, most=4):
        return [self.size() for _ in range(self.rng.randint(least, most))]

    def argument(self, kind):
        self.arguments.append(kind)
        return "%%a%d" % (len(self.arguments) - 1), kind

    def op(self, name, operands, results, attributes=(), regions=(), label=None):
        self.name = label or name
        bound = "%%v%d:%d = " % (len(self.lines), len(results)) if results else ""
        self.lines.append('%s"stablehlo.%s"(%s) %s %s : (%s) -> (%s)' % (
            bound, name, ", ".join(v for v, _ in operands),
            "<{%s}>" % ", ".join(attributes) if attributes else "",
            "(%s)" % ", ".join(r[1:-1] for r in regions) if regions else "",
            ", ".join(t for _, t in operands), ", ".join(results)))
        return ["%%v%d#%d" % (len(self.lines) - 1, i) for i in range(len(results))]

    def text(self):
        return "func.func @main(%s) {\n%s\nreturn\n}\n" % (
            ", ".join("%%a%d: %s" % pair for pair in enumerate(self.arguments)),
            "\n".join(self.lines))

    # ---- collectives ----

    GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"

    def all_gather(self):
        count = self.rng.randint(1, 3)
        dim = self.rng.randint(0, 2)
        shapes = [self.shape(dim + 1, dim + 1) + [4] for _ in range(count)]
        outs = [s[:dim] + [2 * s[dim]] + s[dim + 1:] for s in shapes]
        self.op("all_gather", [self.argument(tensor(s)) for s in shapes],
                [tensor(s) for s in outs], [self.GROUPS, "all_gather_dim = %d : i64" % dim])

    def all_reduce(self):
        first = self.shape()
        rest = [self.shape(0, len(first)) for _ in range(self.rng.randint(0, 2))]
        shapes = [first] + rest
        self.op("all_reduce", [self.argument(tensor(s)) for s in shapes],
                [tensor(s) for s in shapes], [self.GROUPS], [region("stablehlo.add")])

    def all_to_all(self):
        rank = self.rng.randint(1, 4)
        split, concat = self.rng.randrange(rank), self.rng.randrange(rank)
        kinds, outs = [], []
        for _ in range(self.rng.randint(1, 3)):
            shape = self.shape(rank, rank)
            shape[split] *= 2
            out = list(shape)
            out[split] //= 2
            out[concat] *= 2
            kinds.append(tensor(shape))
            outs.append(tensor(out))
        self.op("all_to_all", [self.argument(k) for k in kinds], outs,
                [self.GROUPS, "split_dimension = %d : i64" % split,
                 "concat_dimension = %d : i64" % concat, "split_count = 2 : i64"])

    def reduce_scatter(self):
        shape = self.shape(1)
        dim = self.rng.randrange(len(shape))
        out = list(shape)
        shape[dim] *= 2
        self.op("reduce_scatter", [self.argument(tensor(shape))], [tensor(out)],
                [self.GROUPS, "scatter_dimension = %d : i64" % dim], [region("stablehlo.add")])

    def collective_broadcast(self):
        kind = tensor(self.shape())
        self.op("collective_broadcast", [self.argument(kind)], [kind], [self.GROUPS])

    def collective_permute(self):
        kind = tensor(self.shape())
        self.op("collective_permute", [self.argument(kind)], [kind],
                ["source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>"])

    def cross_replica_sum(self):
        kind = tensor(self.shape())
        self.op("cross-replica-sum", [self.argument(kind)], [kind], [self.GROUPS])

    # ---- elements ----

    def bitcast_convert(self):
        shape = self.shape(0, 3)
        pair = [tensor(shape, "i32"), tensor(*self.rng.choice(
            [(shape, "f32"), (shape + [4], "i8"), (shape + [2], "bf16")]))]
        self.rng.shuffle(pair)
        self.op("bitcast_convert", [self.argument(pair[0])], [pair[1]])

    def complex(self):
        shape = self.shape()
        self.op("complex", [self.argument(tensor(shape)) for _ in range(2)],
                [tensor(shape, "complex<f32>")])

    def part(self):
        shape = self.shape()
        self.op(self.rng.choice(["real", "imag"]), [self.argument(tensor(shape, "complex<f32>"))],
                [tensor(shape)])

    def reduce_precision(self):
        kind = tensor(self.shape())
        self.op("reduce_precision", [self.argument(kind)], [kind],
                ["exponent_bits = 5 : i32", "mantissa_bits = 2 : i32"])

    def rng_bit_generator(self):
        state = tensor([self.rng.randint(2, 3)], "ui64")
        self.op("rng_bit_generator", [self.argument(state)], [state, tensor(self.shape(), "ui32")],
                ["rng_algorithm = #stablehlo<rng_algorithm DEFAULT>"])

    # ---- linear algebra ----

    def batch_norm_inference(self):
        shape = self.shape(1)
        dim = self.rng.randrange(len(shape))
        vector = tensor([shape[dim]])
        self.op("batch_norm_inference",
                [self.argument(tensor(shape))] + [self.argument(vector) for _ in range(4)],
                [tensor(shape)], ["epsilon = 1.0e-3 : f32", "feature_index = %d : i64" % dim])

    def cholesky(self):
        n = self.size()
        kind = tensor(self.shape(0, 2) + [n, n])
        self.op("cholesky", [self.argument(kind)], [kind],
                self.rng.choice([[], ["lower = true"], ["lower = false"]]))

    def triangular_solve(self):
        batch, n, k = self.shape(0, 2), self.size(), self.size()
        left = self.rng.random() < 0.5
        other = tensor(batch + ([n, k] if left else [k, n]))
        self.op("triangular_solve", [self.argument(tensor(batch + [n, n])), self.argument(other)],
                [other], ["left_side = %s" % str(left).lower(), "lower = true",
                          "unit_diagonal = false", "transpose_a = #stablehlo<transpose %s>" %
                          self.rng.choice(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])])

    def fft(self):
        kind = self.rng.choice(["FFT", "IFFT", "RFFT", "IRFFT"])
        batch = self.shape(0, 2)
        lengths = [self.rng.choice([1, 2, 4, 6]) for _ in range(self.rng.randint(1, 3))]
        half = batch + lengths[:-1] + [lengths[-1] // 2 + 1]
        source = tensor(batch + lengths, "f32" if kind == "RFFT" else "complex<f32>")
        result = tensor(batch + lengths, "complex<f32>")
        if kind == "RFFT":
            result = tensor(half, "complex<f32>")
        elif kind == "IRFFT":
            source, result = tensor(half, "complex<f32>"), tensor(batch + lengths)
        self.op("fft", [self.argument(source)], [result],
                ["fft_type = #stablehlo<fft_type %s>" % kind, "fft_length = " + array(lengths)])

    def dot(self):
        m, k, n = self.size(), self.size(), self.size()
        left, right = self.rng.random() < 0.5, self.rng.random() < 0.5
        self.op("dot", [self.argument(tensor(([m] if left else []) + [k])),
                        self.argument(tensor([k] + ([n] if right else [])))],
                [tensor(([m] if left else []) + ([n] if right else []))])

    # ---- slices ----

    def index(self):
        if self.rng.random() < 0.5:
            return self.argument("tensor<i32>")
        self.lines.append("%%c%d = stablehlo.constant dense<0> : tensor<i32>" % len(self.lines))
        return "%%c%d" % (len(self.lines) - 1), "tensor<i32>"

    def part_of(self, shape):
        return [self.rng.choice([size, self.rng.randint(0, size)]) for size in shape]

    def dynamic_slice(self):
        shape = self.shape()
        sizes = self.part_of(shape)
        self.op("dynamic_slice", [self.argument(tensor(shape))] + [self.index() for _ in shape],
                [tensor(sizes)], ["slice_sizes = " + array(sizes)])

    def dynamic_update_slice(self):
        shape = self.shape()
        known = self.rng.random() < 0.4
        self.lines.append("%k = stablehlo.constant dense<0> : tensor<i32>")
        indices = [("%k", "tensor<i32>") if known else self.index() for _ in shape]
        self.op("dynamic_update_slice", [self.argument(tensor(shape)),
                                         self.argument(tensor(self.part_of(shape)))] + indices,
                [tensor(shape)])

    def reverse(self):
        shape = self.shape()
        dims = [d for d in range(len(shape)) if self.rng.random() < 0.5]
        self.rng.shuffle(dims)
        self.op("reverse", [self.argument(tensor(shape))], [tensor(shape)],
                ["dimensions = " + array(dims)])

    # ---- windows ----

    def windows(self, rank):
        """Sizes, strides and padding, with what each dimension of a shape becomes."""
        sizes = [self.rng.choice([1, 1, 2, 3]) for _ in range(rank)]
        strides = [self.rng.choice([1, 1, 2]) for _ in range(rank)]
        pads = [[self.rng.choice([0, 0, 1]) for _ in range(2)] for _ in range(rank)]
        if self.rng.random() < 0.3:
            strides = None
        if self.rng.random() < 0.3:
            pads = None
        attributes = ["window_dimensions = " + array(sizes)]
        if strides is not None:
            attributes.append("window_strides = " + array(strides))
        if pads is not None and rank > 0:
            attributes.append("padding = dense<%s> : tensor<%dx2xi64>" % (pads, rank))

        def slide(shape):
            out = []
            for d, size in enumerate(shape):
                size += sum(pads[d]) if pads is not None else 0
                room = size - sizes[d]
                out.append(room // (strides[d] if strides is not None else 1) + 1
                           if size > 0 and room >= 0 else 0)
            return out
        return attributes, slide

    def reduce_window(self):
        shape = self.shape(1)
        attributes, slide = self.windows(len(shape))
        count = self.rng.randint(1, 2)
        self.op("reduce_window", [self.argument(tensor(shape)) for _ in range(count)] +
                [self.argument("tensor<f32>") for _ in range(count)],
                [tensor(slide(shape))] * count, attributes,
                [region("stablehlo.add", count=count)])

    def select_and_scatter(self):
        shape = self.shape(1)
        attributes, slide = self.windows(len(shape))
        select = ("({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n%p = stablehlo.compare GE, %x, %y"
                  " : (tensor<f32>, tensor<f32>) -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n})")
        self.op("select_and_scatter", [self.argument(tensor(shape)),
                                       self.argument(tensor(slide(shape))),
                                       self.argument("tensor<f32>")],
                [tensor(shape)], attributes, [select, region("stablehlo.add")])

    # ---- custom calls ----

    def call(self, target, shapes, results):
        return self.op("custom_call", [self.argument(tensor(s)) for s in shapes],
                       [tensor(s) for s in results], ['call_target_name = "%s"' % target],
                       label=target)

    def pointwise_call(self):
        shape = self.shape()
        others = [self.rng.choice([shape, shape, [], self.shape(0, len(shape))])
                  for _ in range(self.rng.randint(0, 2))]
        self.call(self.rng.choice(POINTWISE), [shape] + others,
                  [shape] * self.rng.randint(1, 2))

    def call_without_rule(self):
        shape = self.shape()
        self.call(self.rng.choice(NO_RULE), [shape], [shape])

    def matrix_call(self):
        batch, m, n = self.shape(0, 2), self.size(), self.size()
        target = self.rng.choice(["Eigh", "Qr", "QrDecompositionBlock",
                                  "ProductOfElementaryHouseholderReflectors"])
        matrix, vector = batch + [m, n], batch + [min(m, n)]
        if target == "Eigh":
            matrix, vector = batch + [n, n], batch + [n]
        if target.startswith("Product"):
            self.call(target, [matrix, vector], [matrix])
        else:
            self.call(target, [matrix], [matrix, vector])

    def top_call(self):
        shape = self.shape(1)
        out = self.part_of(shape)
        if self.rng.random() < 0.4:
            self.call("mhlo.topk", [shape], [out, out])
        else:
            self.call(self.rng.choice(["ApproxTopK", "PartialReduce"]), [shape, shape, [], []],
                      [out, out])

    def x64_combine(self):
        if self.rng.random() < 0.5:
            shape = self.shape()
            self.call("X64Combine", [shape, shape], [shape])
            return
        half, state = tensor([2], "ui32"), tensor([2], "ui64")
        made = self.op("custom_call", [self.argument(half) for _ in range(2)], [state],
                       ['call_target_name = "X64Combine"'])
        self.op("rng_bit_generator", [(made[0], state)], [state, tensor(self.shape(), "ui32")],
                ["rng_algorithm = #stablehlo<rng_algorithm DEFAULT>"], label="X64Combine")


KINDS = [name for name in vars(Case) if callable(getattr(Case, name)) and not name.startswith("_")
         and name not in ("size", "shape", "argument", "op", "text", "index", "part_of", "windows",
                          "call")]


def draw(index):
    case = Case(random.Random(SEED * 1000003 + index))
    getattr(case, KINDS[index % len(KINDS)])()
    return case


def reference(text, conservative):
    """The program with rules, or None when the reference refuses the program."""
    options = "{conservative-propagation=true}" if conservative else ""
    try:
        with context:
            module = ir.Module.parse(text)
            passmanager.PassManager.parse(
                "builtin.module(func.func(%s%s))" % (PASS, options)).run(module.operation)
            return str(module).strip()
    except ir.MLIRError:
        return None


def tessera(texts, conservative):
    """The same of many programs by tessera-opt, which must take all of them."""
    flag = "-" + PASS + ("=conservative-propagation=true" if conservative else "")
    done = subprocess.run([OPT, "-", "-split-input-file", flag], input=CUT.join(texts).encode(),
                          capture_output=True, check=False)
    if done.returncode != 0:
        print("tessera-opt: exit code %d\n%s" % (done.returncode, done.stderr.decode()[:2000]))
        sys.exit(1)
    return [part.strip() for part in done.stdout.decode().split(CUT)]


def main():
    counts, refused, different = collections.Counter(), collections.Counter(), 0
    cases, index = [], 0
    total = int(sys.argv[1])
    while len(cases) < total:
        case = draw(index)
        conservative = index % 3 == 0
        theirs = reference(case.text(), conservative)
        if theirs is None:
            refused[case.name] += 1
        else:
            cases.append((case, conservative, theirs))
            counts[case.name] += 1
        index += 1
    for conservative in (False, True):
        chosen = [c for c in cases if c[1] == conservative]
        for start in range(0, len(chosen), BATCH):
            batch = chosen[start:start + BATCH]
            ours = tessera([c[0].text() for c in batch], conservative)
            if len(ours) != len(batch):
                print("tessera-opt printed %d programs of %d" % (len(ours), len(batch)))
                return 1
            for (case, _, theirs), own in zip(batch, ours):
                if case.name == PLANT:
                    own = re.sub(r"(op_sharding_rule<.*?)([^-])>", r"\1\2, planted>", own)
                if own != theirs:
                    different += 1
                    if different <= 5:
                        print("%s\n%s-- tessera\n%s\n-- reference\n%s" %
                              (case.name, case.text(), own, theirs))
    missing = [t for t in POINTWISE + NO_RULE + list(refused) if counts[t] == 0]
    least = min(counts, key=counts.get)
    print("%d programs of %d ops and targets, at least %d of each (%s), %d refused: %d differ" %
          (len(cases), len(counts), counts[least], least, sum(refused.values()), different))
    if missing:
        print("never compared: " + ", ".join(missing))
    return different != 0 or bool(missing) or counts[least] < LEAST


sys.exit(main())

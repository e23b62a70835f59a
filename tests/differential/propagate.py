"""Random programs with random shardings, propagated by tessera-opt and by the reference.

propagate.py COUNT: compares COUNT programs, each under flags drawn at random, and prints what
differs, smallest program first. TSR_SEED sets the seed, TSR_FLAGS the flags of all programs,
TSR_SHOW how many differences are shown whole,
TSR_SKIP a regular expression of programs to leave out. Counts per op, edge kind, flag, event and kind
of conflict are printed; with TSR_LEAST (100) fewer than so many of one is a failure. TSR_PLANT names a
fault in what tessera-opt is given, which must show as differences."""

import collections
import json
import os
import pickle
import random
import re
import subprocess
import sys

SEED = int(os.environ.get("TSR_SEED", "1"))
OPT = os.environ["TESSERA_OPT"]
PLANT = os.environ.get("TSR_PLANT", "")
sys.path.insert(0, os.path.dirname(os.environ["TSR_ORACLE"]))
import sdy_oracle  # noqa: E402

SIZES = [1, 2, 2, 3, 4, 4, 6, 8, 8, 12, 16, 24]
UNARY = ["tanh", "exponential", "negate", "abs", "sqrt", "sine", "floor"]
BINARY = ["add", "multiply", "subtract", "divide", "maximum", "power"]


def tensor(shape):
    return "tensor<%sf32>" % "".join("%dx" % size for size in shape)


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0
        self.events = collections.Counter()
        names = self.rng.sample(["a", "b", "c", "d", "x", "y"], self.rng.randint(1, 4))
        self.axes = [(name, self.rng.choice([2, 2, 2, 3, 4, 4, 6, 8])) for name in names]
        self.priorities = self.rng.random() < 0.3
        self.density = self.rng.choice([0.1, 0.3, 0.6])
        self.groups = 0
        self.functions = []
        self.whole = self.rng.random() < 0.15  # under the whole pipeline: with calls
        self.meshes = ["mesh"] if self.rng.random() < 0.9 else ["mesh", "other"]

    # ---- shardings ----

    def pieces(self, sub_axes):
        """Disjoint references to axes, some of them sub-axes that can coexist."""
        out = []
        for name, size in self.axes:
            if sub_axes and size in (4, 6, 8) and self.rng.random() < 0.4:
                cut = self.rng.choice([k for k in range(2, size) if size % k == 0])
                out += ['"%s":(1)%d' % (name, cut), '"%s":(%d)%d' % (name, cut, size // cut)]
                self.events["sub-axis"] += 1
            else:
                out.append('"%s"' % name)
        self.rng.shuffle(out)
        return out

    def sharding(self, rank, sub_axes=True):
        pieces = self.pieces(sub_axes)
        dims = []
        for _ in range(rank):
            count = self.rng.choice([0, 0, 1, 1, 2]) if pieces else 0
            taken = [pieces.pop() for _ in range(min(count, len(pieces)))]
            taken = self.split_merged(taken)
            is_open = self.rng.random() < 0.6
            self.events["open" if is_open else "closed"] += 1
            text = "{%s}" % ", ".join(taken + (["?"] if is_open else []))
            if self.priorities and self.rng.random() < 0.5 and (taken or is_open):
                text += "p%d" % self.rng.randint(0, 3)
                self.events["priority"] += 1
            dims.append(text)
        mesh = self.rng.choice(self.meshes)
        self.events["second mesh"] += mesh == "other"
        text = "<@%s, [%s]" % (mesh, ", ".join(dims))
        left = [p for p in pieces if ":" not in p]
        if left and self.rng.random() < 0.2:
            order = {'"%s"' % name: i for i, (name, _) in enumerate(self.axes)}
            chosen = sorted(self.rng.sample(left, self.rng.randint(1, len(left))), key=order.get)
            text += ", replicated={%s}" % ", ".join(chosen)
            self.events["replicated"] += 1
        return text + ">"

    @staticmethod
    def split_merged(taken):
        """Two neighbours that continue each other may not stand side by side."""
        out = []
        for piece in taken:
            if out and ":" in piece and ":" in out[-1]:
                first, second = out[-1].split(":"), piece.split(":")
                pre, size = map(int, re.findall(r"\d+", first[1]))
                if first[0] == second[0] and second[1].startswith("(%d)" % (pre * size)):
                    continue
            out.append(piece)
        return out

    def attribute(self, shapes):
        """The sharding of an op's results, now and then."""
        if self.rng.random() > self.density * 0.5:
            return ""
        texts = [self.sharding(len(shape)) for shape in shapes]
        return " {sdy.sharding = #sdy.sharding_per_value<[%s]>}" % ", ".join(texts)

    # ---- ops ----

    def name(self):
        self.count += 1
        return "%%v%d" % self.count

    def shape(self):
        return tuple(self.rng.choice(SIZES) for _ in range(self.rng.choice([1, 2, 2, 2, 3])))

    def pick(self, values, fits=lambda shape: True):
        some = [v for v in values if fits(v[1])]
        return self.rng.choice(some[-6:] if self.rng.random() < 0.7 else some) if some else None

    def emit(self, lines, values, kind, form, shape):
        result = self.name()
        lines.append("%s = %s" % (result, form))
        values.append((result, shape))
        self.events[kind] += 1

    def op(self, lines, values, depth):
        kinds = ["unary", "binary", "dot", "transpose", "reshape", "broadcast", "reduce", "slice",
                 "pad", "concatenate", "select", "constraint", "barrier", "group", "constant",
                 "iota", "sort", "reverse", "scalar", "custom"]
        if depth < 2:
            kinds += ["while", "case", "opt_barrier", "manual"]
        if self.whole and depth == 0:
            kinds += ["call"] * 4
        kind = self.rng.choice(kinds + ["binary", "unary", "dot", "reshape"] * 2)
        getattr(self, kind)(lines, values, depth)

    def unary(self, lines, values, depth):
        name, shape = self.pick(values)
        op = self.rng.choice(UNARY)
        self.emit(lines, values, op, "stablehlo.%s %s%s : %s"
                  % (op, name, self.attribute([shape]), tensor(shape)), shape)

    def binary(self, lines, values, depth):
        name, shape = self.pick(values)
        other = self.pick(values, lambda s: s == shape)
        op = self.rng.choice(BINARY)
        self.emit(lines, values, op, "stablehlo.%s %s, %s%s : %s"
                  % (op, name, other[0], self.attribute([shape]), tensor(shape)), shape)

    def select(self, lines, values, depth):
        name, shape = self.pick(values)
        other = self.pick(values, lambda s: s == shape)
        pred = self.name()
        lines.append("%s = stablehlo.compare LT, %s, %s : (%s, %s) -> %s" % (
            pred, name, other[0], tensor(shape), tensor(shape),
            tensor(shape).replace("f32", "i1")))
        self.emit(lines, values, "select", "stablehlo.select %s, %s, %s%s : %s, %s" % (
            pred, name, other[0], self.attribute([shape]), tensor(shape).replace("f32", "i1"),
            tensor(shape)), shape)

    def dot(self, lines, values, depth):
        left = self.pick(values, lambda s: len(s) >= 1)
        ldim = self.rng.randrange(len(left[1]))
        right = self.pick(values, lambda s: left[1][ldim] in s)
        rdim = self.rng.choice([i for i, n in enumerate(right[1]) if n == left[1][ldim]])
        batch = [(i, j) for i, n in enumerate(left[1]) for j, m in enumerate(right[1])
                 if i != ldim and j != rdim and n == m]
        batch = [self.rng.choice(batch)] if batch and self.rng.random() < 0.3 else []
        lfree = [n for i, n in enumerate(left[1]) if i != ldim and i not in [b[0] for b in batch]]
        rfree = [n for i, n in enumerate(right[1]) if i != rdim and i not in [b[1] for b in batch]]
        shape = tuple([left[1][b[0]] for b in batch] + lfree + rfree)
        if not shape or len(shape) > 4:
            return
        text = "stablehlo.dot_general %s, %s," % (left[0], right[0])
        if batch:
            text += " batching_dims = [%d] x [%d]," % batch[0]
        text += " contracting_dims = [%d] x [%d]%s : (%s, %s) -> %s" % (
            ldim, rdim, self.attribute([shape]), tensor(left[1]), tensor(right[1]), tensor(shape))
        self.emit(lines, values, "dot_general", text, shape)

    def transpose(self, lines, values, depth):
        name, shape = self.pick(values)
        order = list(range(len(shape)))
        self.rng.shuffle(order)
        result = tuple(shape[i] for i in order)
        self.emit(lines, values, "transpose", "stablehlo.transpose %s, dims = %s%s : (%s) -> %s"
                  % (name, order, self.attribute([result]), tensor(shape), tensor(result)), result)

    def reshape(self, lines, values, depth):
        name, shape = self.pick(values)
        count = 1
        for size in shape:
            count *= size
        result = []
        while count > 1 and len(result) < 3:
            divisor = self.rng.choice([d for d in range(1, count + 1) if count % d == 0][:12])
            result.append(divisor)
            count //= divisor
        result = tuple(result + [count]) if count > 1 or not result else tuple(result)
        self.emit(lines, values, "reshape", "stablehlo.reshape %s%s : (%s) -> %s"
                  % (name, self.attribute([result]), tensor(shape), tensor(result)), result)

    def broadcast(self, lines, values, depth):
        found = self.pick(values, lambda s: len(s) < 4)
        if found is None:
            return
        name, shape = found
        result, dims = [], []
        for size in shape:
            while self.rng.random() < 0.3 and len(result) < 3:
                result.append(self.rng.choice(SIZES))
            dims.append(len(result))
            result.append(size if size > 1 or self.rng.random() < 0.5 else self.rng.choice(SIZES))
        if self.rng.random() < 0.4:
            result.append(self.rng.choice(SIZES))
        result = tuple(result)
        self.emit(lines, values, "broadcast_in_dim",
                  "stablehlo.broadcast_in_dim %s, dims = %s%s : (%s) -> %s" % (
                      name, dims, self.attribute([result]), tensor(shape), tensor(result)), result)

    def reduce(self, lines, values, depth):
        name, shape = self.pick(values)
        dims = sorted(self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape))))
        result = tuple(n for i, n in enumerate(shape) if i not in dims)
        zero = self.name()
        lines.append("%s = stablehlo.constant dense<0.0> : tensor<f32>" % zero)
        text = "stablehlo.reduce(%s init: %s) applies stablehlo.add across dimensions = %s%s : " \
               "(%s, tensor<f32>) -> %s" % (name, zero, dims, self.attribute([result]),
                                            tensor(shape), tensor(result))
        if result:
            self.emit(lines, values, "reduce", text, result)
        else:
            lines.append("%s = %s" % (self.name(), text))

    def slice(self, lines, values, depth):
        name, shape = self.pick(values)
        parts, result = [], []
        for size in shape:
            end = size if self.rng.random() < 0.5 else self.rng.randint(1, size)
            parts.append("0:%d" % end)
            result.append(end)
        result = tuple(result)
        self.emit(lines, values, "slice", "stablehlo.slice %s [%s]%s : (%s) -> %s" % (
            name, ", ".join(parts), self.attribute([result]), tensor(shape), tensor(result)), result)

    def pad(self, lines, values, depth):
        name, shape = self.pick(values)
        high = [self.rng.choice([0, 0, 1, 4]) for _ in shape]
        result = tuple(n + h for n, h in zip(shape, high))
        zero = self.name()
        lines.append("%s = stablehlo.constant dense<0.0> : tensor<f32>" % zero)
        none = [0] * len(shape)
        self.emit(lines, values, "pad",
                  "stablehlo.pad %s, %s, low = %s, high = %s, interior = %s%s : (%s, tensor<f32>)"
                  " -> %s" % (name, zero, none, high, none, self.attribute([result]),
                              tensor(shape), tensor(result)), result)

    def concatenate(self, lines, values, depth):
        name, shape = self.pick(values)
        dim = self.rng.randrange(len(shape))
        same = lambda s: len(s) == len(shape) and all(  # noqa: E731
            i == dim or n == shape[i] for i, n in enumerate(s))
        others = [self.pick(values, same) for _ in range(self.rng.randint(1, 2))]
        total = shape[dim] + sum(o[1][dim] for o in others)
        if total > 64:
            return
        result = tuple(total if i == dim else n for i, n in enumerate(shape))
        self.emit(lines, values, "concatenate", "stablehlo.concatenate %s, dim = %d%s : (%s) -> %s"
                  % (", ".join([name] + [o[0] for o in others]), dim, self.attribute([result]),
                     ", ".join([tensor(shape)] + [tensor(o[1]) for o in others]), tensor(result)),
                  result)

    def constraint(self, lines, values, depth):
        name, shape = self.pick(values)
        self.emit(lines, values, "sharding_constraint", "sdy.sharding_constraint %s %s : %s"
                  % (name, self.sharding(len(shape)), tensor(shape)), shape)

    def barrier(self, lines, values, depth):
        name, shape = self.pick(values)
        way = self.rng.choice(["NONE", "FORWARD", "BACKWARD", "BOTH"])
        self.emit(lines, values, "propagation_barrier %s" % way,
                  "sdy.propagation_barrier %s allowed_direction=%s : %s"
                  % (name, way, tensor(shape)), shape)

    def group(self, lines, values, depth):
        name, shape = self.pick(values)
        if (name, self.groups) in self.grouped or self.rng.random() < 0.5:
            return
        others = [v for v in values if v[1] == shape and v[0] not in self.in_group]
        if len(others) < 2 or depth > 0:
            return
        for value in self.rng.sample(others, self.rng.randint(2, min(3, len(others)))):
            lines.append("sdy.sharding_group %s group_id=%d : %s"
                         % (value[0], self.groups, tensor(shape)))
            self.in_group.add(value[0])
        self.groups += 1
        self.events["sharding_group"] += 1

    def constant(self, lines, values, depth):
        shape = self.shape()
        self.emit(lines, values, "constant", "stablehlo.constant%s dense<1.0> : %s"
                  % (self.attribute([shape]), tensor(shape)), shape)

    def iota(self, lines, values, depth):
        shape = self.shape()
        self.emit(lines, values, "iota", "stablehlo.iota dim = 0%s : %s"
                  % (self.attribute([shape]), tensor(shape)), shape)

    def sort(self, lines, values, depth):
        name, shape = self.pick(values)
        dim = self.rng.randrange(len(shape))
        self.emit(lines, values, "sort", '"stablehlo.sort"(%s) <{dimension = %d : i64}> ({\n'
                  "^bb0(%%p: tensor<f32>, %%q: tensor<f32>):\n"
                  "  %%r = stablehlo.compare LT, %%p, %%q : (tensor<f32>, tensor<f32>) -> "
                  "tensor<i1>\n  stablehlo.return %%r : tensor<i1>\n}) : (%s) -> %s"
                  % (name, dim, tensor(shape), tensor(shape)), shape)

    def reverse(self, lines, values, depth):
        name, shape = self.pick(values)
        self.emit(lines, values, "reverse", "stablehlo.reverse %s, dims = [%d]%s : %s"
                  % (name, self.rng.randrange(len(shape)), self.attribute([shape]),
                     tensor(shape)), shape)

    def scalar(self, lines, values, depth):
        shape = self.shape()
        zero = self.name()
        lines.append("%s = stablehlo.constant dense<2.0> : tensor<f32>" % zero)
        self.emit(lines, values, "scalar expansion",
                  "stablehlo.broadcast_in_dim %s, dims = []%s : (tensor<f32>) -> %s"
                  % (zero, self.attribute([shape]), tensor(shape)), shape)

    def custom(self, lines, values, depth):
        name, shape = self.pick(values)
        if self.rng.random() < 0.5:
            self.emit(lines, values, "custom_call MoveToHost",
                      "stablehlo.custom_call @MoveToHost(%s) : (%s) -> %s"
                      % (name, tensor(shape), tensor(shape)), shape)
            return
        factors = "ijklm"[:len(shape)]
        sizes = ", ".join("%s=%d" % pair for pair in zip(factors, shape))
        dims = ", ".join(factors)
        kinds = self.rng.choice(["", " blocked_propagation={i}", " need_replication={i}"])
        self.emit(lines, values, "custom_call with a rule",
                  "stablehlo.custom_call @sdy_testonly(%s) {sdy.sharding_rule = "
                  "#sdy.op_sharding_rule<([%s])->([%s]) {%s}%s, custom>} : (%s) -> %s"
                  % (name, dims, dims, sizes, kinds, tensor(shape), tensor(shape)), shape)

    # ---- ops with edges ----

    def body(self, values, depth, fixed):
        """Lines of a block that can return a value of a shape."""
        lines = []
        inner = list(values)
        for _ in range(self.rng.randint(0, 4)):
            self.op(lines, inner, depth + 1)
        same = [v for v in inner if v[1] == fixed]
        return lines, same[-1] if same else None

    def opt_barrier(self, lines, values, depth):
        some = [self.pick(values) for _ in range(self.rng.randint(1, 2))]
        result = self.name()
        shapes = [s[1] for s in some]
        lines.append("%s:%d = stablehlo.optimization_barrier%s %s : %s" % (
            result, len(some), self.attribute(shapes), ", ".join(s[0] for s in some),
            ", ".join(tensor(s) for s in shapes)))
        for i, shape in enumerate(shapes):
            values.append(("%s#%d" % (result, i), shape))
        self.events["optimization_barrier"] += 1

    def call(self, lines, values, depth):
        """One or two calls of a function of its own, which may have shardings."""
        name, shape = self.pick(values)
        function = "f%d" % len(self.functions)
        argument = self.name()
        self.functions.append("")  # so that the number is taken
        inner, last = self.body([(argument, shape)], depth, shape)
        given = ""
        if self.rng.random() < self.density * 0.5:
            given = " {sdy.sharding = #sdy.sharding%s}" % self.sharding(len(shape))
        self.functions[int(function[1:])] = (
            "func.func private @%s(%s: %s%s, %%index: tensor<i32>) -> %s {\n%s\nreturn %s : %s\n}\n"
            % (function, argument, tensor(shape), given, tensor(shape), "\n".join(inner), last[0],
               tensor(shape)))
        for _ in range(self.rng.randint(1, 2)):
            self.emit(lines, values, "call", "call @%s(%s, %%index) : (%s, tensor<i32>) -> %s"
                      % (function, name, tensor(shape), tensor(shape)), shape)
            name = values[-1][0]

    def case(self, lines, values, depth):
        _, shape = self.pick(values)
        result = self.name()
        regions = []
        for _ in range(2):
            inner, last = self.body(values, depth, shape)
            regions.append("{\n%s\nstablehlo.return %s : %s\n}" % (
                "\n".join(inner), last[0], tensor(shape)))
        lines.append('%s = "stablehlo.case"(%%index) (%s)%s : (tensor<i32>) -> %s' % (
            result, ", ".join(regions), self.attribute([shape]), tensor(shape)))
        values.append((result, shape))
        self.events["case"] += 1

    def while_(self, lines, values, depth):
        name, shape = self.pick(values)
        result, arg, other = self.name(), self.name(), self.name()
        inner, last = self.body(values + [(arg, shape)], depth, shape)
        lines.append(
            "%s:2 = stablehlo.while(%s = %s, %s = %%index) : %s, tensor<i32>\ncond {\n"
            "%%p = stablehlo.compare LT, %s, %%index : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
            "stablehlo.return %%p : tensor<i1>\n} do {\n%s\nstablehlo.return %s, %s : %s, "
            "tensor<i32>\n}" % (result, arg, name, other, tensor(shape), other, "\n".join(inner),
                                last[0], other, tensor(shape)))
        values.append((result + "#0", shape))
        self.events["while"] += 1

    def manual(self, lines, values, depth):
        name, shape = self.pick(values)
        if depth > 0:
            return
        axis, size = self.rng.choice(self.axes)
        dims = [i for i, n in enumerate(shape) if n % size == 0]
        if not dims:
            return
        dim = self.rng.choice(dims)
        local = tuple(n // size if i == dim else n for i, n in enumerate(shape))

        def outer():
            rest = [a for a in self.axes if a[0] != axis]
            free = ['"%s"' % self.rng.choice(rest)[0]] if rest and self.rng.random() < 0.3 else []
            texts = []
            for i in range(len(shape)):
                axes = ['"%s"' % axis] if i == dim else []
                if free and self.rng.random() < 0.5 and local[i] % 2 == 0:
                    axes += free
                    free = []
                texts.append("{%s}" % ", ".join(axes + ["?"] * (self.rng.random() < 0.7)))
            return "<@mesh, [%s]>" % ", ".join(texts)

        result, arg = self.name(), self.name()
        saved, self.axes = self.axes, [a for a in self.axes if a[0] != axis]
        density, self.density = self.density, self.density if self.axes else 0
        inner, last = self.body([(arg, local)], depth + 1, local)
        self.axes, self.density = saved, density
        if last is None:
            return
        lines.append(
            "%s = sdy.manual_computation(%s) in_shardings=[%s] out_shardings=[%s] "
            'manual_axes={"%s"} (%s: %s) {\n%s\nsdy.return %s : %s\n} : (%s) -> %s' % (
                result, name, outer(), outer(), axis, arg, tensor(local), "\n".join(inner),
                last[0], tensor(local), tensor(shape), tensor(shape)))
        values.append((result, shape))
        self.events["manual_computation"] += 1

    def program(self):
        self.in_group, self.grouped = set(), set()
        values, lines, arguments = [], [], []
        base = self.shape()
        for i in range(self.rng.randint(1, 4)):
            shape = base if self.rng.random() < 0.5 else self.shape()
            given = ""
            if self.rng.random() < self.density:
                given = " {sdy.sharding = #sdy.sharding%s}" % self.sharding(len(shape))
            arguments.append("%%arg%d: %s%s" % (i, tensor(shape), given))
            values.append(("%%arg%d" % i, shape))
        for _ in range(self.rng.randint(1, 14)):
            self.op(lines, values, 0)
        returned = [self.pick(values) for _ in range(self.rng.randint(1, 3))]
        results = []
        for _, shape in returned:
            given = ""
            if self.rng.random() < self.density:
                given = " {sdy.sharding = #sdy.sharding%s}" % self.sharding(len(shape))
            results.append(tensor(shape) + given)
        mesh = ", ".join('"%s"=%d' % axis for axis in self.axes)
        meshes = "".join("sdy.mesh @%s = <[%s%s]>\n" % (name, mesh, ', "z"=2' * (name != "mesh"))
                         for name in self.meshes)
        return "%sfunc.func @main(%s) -> (%s) {\n%s\nreturn %s : %s\n}\n%s" % (
            meshes, ", ".join(arguments + ["%index: tensor<i32>"]), ", ".join(results),
            "\n".join(lines), ", ".join(v[0] for v in returned),
            ", ".join(tensor(v[1]) for v in returned), "".join(self.functions))


setattr(Generator, "while", Generator.while_)

PASSES = ["sdy-basic-propagate", "sdy-aggressive-propagate", "sdy-op-priority-propagate",
          "sdy-user-priority-propagate"]


def flags_for(rng, whole):
    if os.environ.get("TSR_FLAGS"):
        return os.environ["TSR_FLAGS"]
    if whole:
        return "builtin.module(sdy-propagation-pipeline)"
    name = rng.choice(PASSES + PASSES[-1:] * 2)
    options = []
    if rng.random() < 0.3:
        options.append("keep-sharding-rules=true")
    if rng.random() < 0.15:
        options.append("conservative-propagation=true")
    if name != PASSES[0] and rng.random() < 0.4:
        options.append("propagation-strategy="
                       + rng.choice(["basic", "aggressive", "basic-then-aggressive"]))
    if name in PASSES[2:] and rng.random() < 0.2:
        options.append("run-op-priority-propagation=false")
    text = name + ("{%s}" % " ".join(options) if options else "")
    if rng.random() < 0.15:
        text += "," + text  # a second run changes what the reference's second run changes
    if rng.random() < 0.8:
        text = "sdy-add-data-flow-edges," + text
        if rng.random() < 0.5:
            text += ",func.func(sdy-sink-data-flow-edges)"
    return "builtin.module(%s)" % text


def reference(context, text, pipeline):
    try:
        with context:
            module = sdy_oracle.ir.Module.parse(text, context)
            sdy_oracle.PM.PassManager.parse(pipeline, context).run(module.operation)
            return str(module) + "\n"
    except Exception as error:  # noqa: BLE001
        return "error: %s" % error


def in_child(context, cases):
    """What the reference makes of programs, in a process of its own: some end it."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        with os.fdopen(send, "wb") as pipe:
            for case in cases:
                pickle.dump(reference(context, case["text"], case["flags"]), pipe)
                pipe.flush()
        os._exit(0)
    os.close(send)
    results = []
    with os.fdopen(receive, "rb") as pipe:
        try:
            while len(results) < len(cases):
                results.append(pickle.load(pipe))
        except EOFError:
            pass
    os.waitpid(child, 0)
    return results


def theirs(context, cases):
    results = []
    while len(results) < len(cases):
        results += in_child(context, cases[len(results):])
        if len(results) < len(cases):
            results.append("ended")
    for case, result in zip(cases, results):
        case["theirs"] = result


def normal(text):
    return text.strip().replace("\n\n", "\n")


FAULTS = {
    "strategy": lambda text, flags: (text, flags.replace("aggressive-propagate", "basic-propagate")),
    "op priority": lambda text, flags: (text, flags.replace("op-priority", "aggressive")),
    "user priority": lambda text, flags: (re.sub(r"}p\d", "}", text), flags),
    "closed": lambda text, flags: (text.replace("{}", "{?}").replace('"}', '", ?}'), flags),
    "edges": lambda text, flags: (text, flags.replace("sdy-add-data-flow-edges,", "")),
    "groups": lambda text, flags: (re.sub(r"sdy.sharding_group.*\n", "", text), flags),
    "replicated": lambda text, flags: (re.sub(r", replicated={.*?}", "", text), flags),
}


def ours(cases):
    """What tessera-opt prints for programs under one pipeline."""
    by_flags = collections.defaultdict(list)
    for case in cases:
        given = FAULTS[PLANT](case["text"], case["flags"]) if PLANT else (case["text"], case["flags"])
        case["given"] = given[0]
        by_flags[given[1]].append(case)
    for flags, some in by_flags.items():
        run = lambda text: subprocess.run(  # noqa: E731
            [OPT, "-", "-split-input-file", "-pass-pipeline=" + flags], input=text, text=True,
            capture_output=True)
        done = run("\n// -----\n".join(c["given"] for c in some))
        parts = done.stdout.split("// -----\n")
        if done.returncode == 0 and len(parts) == len(some):
            for case, part in zip(some, parts):
                case["ours"] = part
        else:
            for case in some:
                alone = run(case["given"])
                case["ours"] = alone.stdout if alone.returncode == 0 else "error: " + alone.stderr


def conflicts(cases, events):
    """Counts the kinds of conflicts that tessera explains."""
    tessera = os.path.join(os.path.dirname(OPT), "tessera")
    for case in cases:
        done = subprocess.run([tessera, "explain", "-", "--json", "--full"], input=case["text"],
                              text=True, capture_output=True)
        if done.returncode == 0:
            for value in json.loads(done.stdout):
                events.update("conflict: " + c["kind"] for c in value["conflicts"])


def main():
    total = int(sys.argv[1])
    events = collections.Counter()
    different = []
    refused = ended = 0
    context = sdy_oracle.context(False)
    for start in range(0, total, 500):
        cases = []
        for index in range(start, min(start + 500, total)):
            generator = Generator("%d %d" % (SEED, index))
            text = generator.program()
            flags = flags_for(generator.rng, generator.whole)
            cases.append({"index": index, "text": text, "flags": flags})
            events.update(generator.events)
            passes = re.findall(r"sdy-[a-z-]+(?=[,{)])", flags)
            events.update(set(passes))
            events["second run"] += len(passes) > len(set(passes))
            events.update("strategy " + s for s in re.findall(r"strategy=([a-z-]+)", flags))
        if os.environ.get("TSR_SKIP"):
            cases = [c for c in cases if not re.search(os.environ["TSR_SKIP"], c["text"])]
        if not PLANT:
            conflicts(cases[::2], events)
        ours(cases)
        theirs(context, cases)
        for case in cases:
            if case["theirs"] == "ended":
                ended += 1
            elif case["theirs"].startswith("error"):
                refused += 1
                if not case["ours"].startswith("error"):
                    different.append(case)
            elif normal(case["theirs"]) != normal(case["ours"]):
                different.append(case)
    different.sort(key=lambda c: len(c["text"]))
    for case in different[:int(os.environ.get("TSR_SHOW", "1"))]:
        print("program %d\n%s\n%s" % (case["index"], case["flags"], case["text"]))
        print("--- reference\n%s\n--- ours\n%s" % (case["theirs"], case["ours"]))
    least = int(os.environ.get("TSR_LEAST", "100"))
    rare = sorted(k for k, v in events.items() if v < least)
    print("counts:", ", ".join("%s %d" % pair for pair in sorted(events.items())))
    if rare:
        print("below %d: %s" % (least, ", ".join(rare)))
    print("%d programs, %d refused by the reference, %d end it, %d differ"
          % (total, refused, ended, len(different)))
    sys.exit(bool(different or (rare and least)))


main()

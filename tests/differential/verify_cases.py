"""Ops alone in a function, as data: legal ones of the generator, and what mutations make of them."""
import random
import re

from program_ops import TOKEN, Writer
from program_text import FLOATS, Tensor, is_complex

ELEMENTS = ("f32", "f64", "bf16", "f16", "f8E5M2", "f4E2M1FN", "f6E2M3FN", "i1", "i2", "i4", "i8", "i16", "i32",
            "i64", "ui2", "ui8", "ui32", "ui64", "complex<f32>", "complex<f64>", "index", "i7", "si32")
OTHERS = (TOKEN, "tuple<tensor<f32>>", "tuple<>", "i32", "vector<2xf32>", "tensor<*xf32>")
NUMBERS = (-1, 0, 1, 2, 3, 5, 100, -2)


class Spec:
    """One op: operands and results are types, regions (types of arguments, body, returned)."""

    def __init__(self, name, operands, props, results, regions, pretty):
        self.name, self.operands, self.props = name, list(operands), dict(props)
        self.results, self.regions, self.pretty = list(results), list(regions), pretty
        self.kind = "none"

    def copy(self):
        return Spec(self.name, self.operands, self.props, self.results,
                    [list(r) for r in self.regions], self.pretty)

    def text(self, generic):
        names = [f"%o{i}" for i in range(len(self.operands))]
        left = f"%r:{len(self.results)} = " if self.results else ""
        if generic or self.pretty is None:
            op = self.generic_text(names)
        else:
            op = self.name + self.pretty_text(names)
        arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, self.operands))
        return f"func.func @f({arguments}) {{\n{left}{op}\nreturn\n}}\n"

    def generic_text(self, names):
        props = ", ".join(f"{k} = {v}" for k, v in self.props.items())
        regions = ", ".join(region_text(r) for r in self.regions)
        return f'"{self.name}"({", ".join(names)})' + (f" <{{{props}}}>" if props else "") + \
            (f" ({regions})" if self.regions else "") + " : " + self.function()

    def function(self):
        return f"({', '.join(map(str, self.operands))}) -> ({', '.join(map(str, self.results))})"

    def pretty_text(self, names):
        form, left = self.pretty, {}
        for name, value in self.props.items():
            if f"${{{name}}}" in form:
                form = form.replace(f"${{{name}}}", value)
            elif f"$!{name}!" not in form:
                left[name] = value
        form = re.sub(r"\$![A-Za-z_]+!", "", form)
        out = form.replace("$v", ", ".join(names))
        for i, n in enumerate(names):
            out = out.replace(f"$o{i}", n)
        dictionary = " {" + ", ".join(f"{k} = {v}" for k, v in left.items()) + "}" if left else ""
        out = out.replace("$D", dictionary)
        out = out.replace("$A", " attributes" + dictionary if dictionary else "")
        same = len(self.results) == 1 and all(t == self.results[0] for t in self.operands)
        out = out.replace("$S", str(self.results[0]) if same else "$F").replace("$F", self.function())
        out = out.replace("$R", ", ".join(map(str, self.results)))
        out = out.replace("$O", ", ".join(map(str, self.operands)))
        for i, r in enumerate(self.regions):
            out = out.replace(f"${i}", region_text(r))
        return out


def region_text(region):
    arguments, body, returned = region
    label = "^bb0(" + ", ".join(f"%a{i}: {t}" for i, t in enumerate(arguments)) + "):\n"
    make = "".join(f'%m{i} = "stablehlo.custom_call"() <{{call_target_name = "make"}}> : () -> {t}\n'
                   for i, t in enumerate(returned)) if returned is not None else ""
    names = ", ".join(f"%m{i}" for i in range(len(returned or [])))
    types = ", ".join(map(str, returned or []))
    end = f'"stablehlo.return"({names}) : ({types}) -> ()\n' if returned is not None else ""
    return "({\n"[1:] + label + make + (body or "") + end + "}"


class Parts(list):
    """A region as [types of arguments, body, returned types], with what the generator asks of one."""
    body = ""

    @property
    def arguments(self):
        return [(f"%a{i}", t) for i, t in enumerate(self[0])]

    @arguments.setter
    def arguments(self, _):
        pass


class Recorder(Writer):
    """Keeps the ops outside regions as data; each is legal by construction."""

    def __init__(self, rng):
        super().__init__(rng)
        self.specs = []
        self.meshes = []
        from program_ops import Scope
        self.scope = Scope(None, [])
        self.returned = None

    def maybe_ops(self):
        pass

    def discardable(self, *_):
        pass

    def take(self, value_type):
        return self.fresh()

    def make(self, value_type):
        return self.fresh()

    def sees_mesh(self):
        return False

    def returns(self, values, op="stablehlo.return"):
        self.returned = [t for _, t in values]

    def region(self, arguments, fill, isolated=False, bound=()):
        self.depth += 1
        fill([self.fresh() for _ in arguments])
        self.depth -= 1
        return Parts([list(arguments), None, self.returned])

    def op(self, name, operands, props, results, regions=(), pretty=None, **_):
        if self.depth == 0:
            self.specs.append(Spec(name, [t for _, t in operands], props, results, regions,
                                   pretty if not regions else None))
        return [self.fresh() for _ in results]

    def op_pretty_only(self, *_):
        pass

    def reducer(self, elements, kind=None):
        scalars = [Tensor([], e) for e in elements]
        return Parts([scalars * 2, None, scalars])

    def region_text(self, region):
        return "$0"


def makers(writer):
    """Every op of the generator that stands alone, by name: a function that records one."""
    out = {}
    for n in Writer.ROUNDED:
        out["stablehlo." + n] = lambda n=n: writer.rounded(n)
    for n in Writer.UNARY:
        out["stablehlo." + n] = lambda n=n: writer.unary(n)
    for n in Writer.BINARY:
        out["stablehlo." + n] = lambda n=n: writer.binary(n)
    for n in ("real", "imag"):
        out["stablehlo." + n] = lambda n=n: writer.parts(n)
    plain = ("convert is_finite bitcast_convert clamp compare complex select reduce_precision broadcast "
             "broadcast_in_dim dynamic_broadcast_in_dim reverse transpose reshape dynamic_reshape concatenate iota "
             "dynamic_iota get_dimension_size set_dimension_size dynamic_slice dynamic_update_slice slice "
             "real_dynamic_slice pad dynamic_pad create_token after_all tuple get_tuple_element optimization_barrier "
             "dot dot_general einsum unary_einsum convolution dynamic_conv cholesky triangular_solve fft "
             "rng_bit_generator batch_norm_training batch_norm_inference batch_norm_grad custom_call reduce map sort "
             "reduce_window select_and_scatter gather dynamic_gather scatter torch_index_select all_gather all_reduce "
             "reduce_scatter all_to_all collective_broadcast collective_permute send recv infeed outfeed")
    special = {"dynamic_conv": "convolution", "dynamic_gather": "gather", "batch_norm_training": "batch_norm",
               "batch_norm_inference": "batch_norm", "batch_norm_grad": "batch_norm", "send": "transfer",
               "recv": "transfer"}
    for n in plain.split():
        out["stablehlo." + n] = lambda n=n: getattr(writer, special.get(n, n))(n)
    out["stablehlo.constant"] = lambda: writer.constant("stablehlo.constant")
    out["stablehlo.rng"] = lambda: writer.rng_op("")
    out["stablehlo.while"] = lambda: writer.while_op("")
    out["stablehlo.cross-replica-sum"] = lambda: writer.cross_replica_sum("")
    for n in ("if", "case"):
        out["stablehlo." + n] = lambda n=n: writer.branches(n)
    for n in ("partition_id", "replica_id"):
        out["stablehlo." + n] = lambda n=n: writer.identity(n)
    for n in Writer.CHLO_UNARY:
        out["chlo." + n] = lambda n=n: writer.chlo_unary(n)
    for n in Writer.CHLO_BROADCAST:
        out["chlo.broadcast_" + n] = lambda n=n: writer.chlo_broadcast(n)
    for n in ("is_inf", "is_neg_inf", "is_pos_inf"):
        out["chlo." + n] = lambda n=n: writer.chlo_is(n)
    for n in ("mulhi", "next_after", "polygamma", "zeta"):
        out["chlo." + n] = lambda n=n: writer.chlo_binary(n)
    for n in ("broadcast_complex", "broadcast_compare", "broadcast_select", "top_k", "constant_like", "ragged_dot",
              "scan"):
        out["chlo." + n] = lambda n=n: getattr(writer, "chlo_" + n)("")
    return out


# ---- mutations ----

def other_type(rng, t):
    """A type near another one, or far from it."""
    if not isinstance(t, Tensor) or rng.random() < 0.08:
        return rng.choice(OTHERS + (Tensor([2], "f32"),))
    kind = rng.randrange(7)
    dims = list(t.dims)
    if kind <= 1:
        return t.of(rng.choice(ELEMENTS))
    if kind == 2 or not dims:
        dims.insert(rng.randint(0, len(dims)), rng.choice((1, 2, 3, None, dims[0] if dims else 4)))
    elif kind == 3:
        dims.pop(rng.randrange(len(dims)))
    elif kind == 4:
        dims[rng.randrange(len(dims))] = None
    elif kind == 5:
        i = rng.randrange(len(dims))
        dims[i] = (dims[i] or 0) + rng.choice((1, -1 if dims[i] else 1, 2, 5))
    else:
        rng.shuffle(dims)
        dims[rng.randrange(len(dims))] = rng.choice((0, 1, 2, 7))
    return Tensor([d if d is None else max(d, 0) for d in dims], t.element)


def other_numbers(rng, text):
    """One number of a text changed, left out, doubled."""
    found = [m for m in re.finditer(r"(?<![\w.])-?\d+(?![\w.])", text)]
    lists = [m for m in re.finditer(r"\[([-\d, ]*)\]|(?<=array<i64)(: [-\d, ]+)?(?=>)", text)]
    if lists and rng.random() < 0.5:
        m = rng.choice(lists)
        if m.group(0).startswith("["):
            items = [x for x in m.group(1).split(", ") if x]
            return text[:m.start()] + "[" + ", ".join(other_list(rng, items)) + "]" + text[m.end():]
        items = [x for x in m.group(0)[2:].split(", ") if x]
        items = other_list(rng, items)
        return text[:m.start()] + (": " + ", ".join(items) if items else "") + text[m.end():]
    if not found:
        return text
    m = rng.choice(found)
    value = rng.choice((str(int(m.group(0)) + 1), str(int(m.group(0)) - 1), str(rng.choice(NUMBERS))))
    return text[:m.start()] + value + text[m.end():]


def other_list(rng, items):
    items = list(items)
    kind = rng.randrange(5)
    if kind == 0 and items:
        items.pop(rng.randrange(len(items)))
    elif kind == 1 and items:
        items.append(rng.choice(items))
    elif kind == 2:
        items.insert(rng.randint(0, len(items)), str(rng.choice(NUMBERS)))
    elif kind == 3 and len(items) > 1:
        items.reverse()
    elif items:
        items[rng.randrange(len(items))] = str(rng.choice(NUMBERS))
    return items


ENUM_VALUES = ("DEFAULT", "HIGH", "EQ", "LT", "FLOAT", "SIGNED", "UNSIGNED", "TOTALORDER", "FFT", "IFFT", "RFFT", "IRFFT",
               "TRANSPOSE", "ADJOINT", "NO_TRANSPOSE", "UNIFORM", "NORMAL")


def other_property(rng, spec):
    name = rng.choice(list(spec.props))
    value = spec.props[name]
    kind = rng.randrange(12)
    if kind == 0:
        del spec.props[name]
        return f"without {name}"
    if kind == 1:
        spec.props[name] = rng.choice(("1 : i32", "-1 : i64", "unit", '"x"', "[]", "array<i64>", "true",
                                       "dense<1> : tensor<2xi64>", "array<i64: 1, 2, 3>", "0.5 : f32", "@x"))
        return f"{name} of another kind"
    if value.startswith("dense") and kind < 5:
        spec.props[name] = rng.choice(("dense<0> : tensor<2xi64>", "dense<0> : tensor<1x1xi64>",
                                       "dense<> : tensor<0x2xi64>", "dense<> : tensor<0x0xi64>",
                                       "dense<[[0, 1, 2]]> : tensor<1x3xi64>",
                                       "dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>",
                                       "dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>",
                                       "dense<[[0, 1], [-1, -1]]> : tensor<2x2xi64>",
                                       "dense<[[0, 0], [1, 2]]> : tensor<2x2xi64>",
                                       "dense<[[0, 5], [1, 2]]> : tensor<2x2xi64>",
                                       "dense<[[0, 1]]> : tensor<1x2xi32>",
                                       "dense<1> : tensor<3x2xi64>"))
        return name
    if value in ("true", "false"):
        spec.props[name] = "false" if value == "true" else "true"
    elif re.search(r"\b[A-Z_]{2,}\b", value) and "#" in value:
        m = rng.choice(list(re.finditer(r"\b[A-Z_]{2,}\b", value)))
        spec.props[name] = value[:m.start()] + rng.choice(ENUM_VALUES) + value[m.end():]
    else:
        spec.props[name] = other_numbers(rng, value)
    return name


def other_region(rng, spec):
    r = rng.choice(spec.regions)
    kind = rng.randrange(8)
    if kind == 0 and r[0]:
        r[0].pop(rng.randrange(len(r[0])))
    elif kind == 1:
        r[0].insert(rng.randint(0, len(r[0])), rng.choice(r[0] or [Tensor([], "f32")]))
    elif kind == 2 and r[0]:
        i = rng.randrange(len(r[0]))
        r[0][i] = other_type(rng, r[0][i])
    elif kind == 3 and r[2]:
        r[2] = list(r[2])
        r[2].pop()
    elif kind == 4 and r[2] is not None:
        r[2] = list(r[2]) + [rng.choice(r[2] or [Tensor([], "f32")])]
    elif kind == 5 and r[2]:
        i = rng.randrange(len(r[2]))
        r[2] = [other_type(rng, t) if k == i else t for k, t in enumerate(r[2])]
        r[2] = [t if str(t).startswith(("tensor<", TOKEN)) and "index" not in str(t) and "*" not in str(t)
                else Tensor([2], "f32") for t in r[2]]
    elif kind == 6:
        element = rng.choice(ELEMENTS)
        r[0] = [t.of(element) if isinstance(t, Tensor) else t for t in r[0]]
        r[2] = [t.of(element) if isinstance(t, Tensor) else t for t in r[2] or []]
        if element in ("index", "i7", "si32"):
            r[0], r[2] = [], []
    elif rng.random() < 0.3:
        spec.regions.pop()
    else:
        spec.regions.append(list(spec.regions[0]))
    return "region"


def mutate_spec(rng, spec):
    spec = spec.copy()
    choices = ["operand"] * 3 * bool(spec.operands) + ["result"] * 2 * bool(spec.results) + \
        ["property"] * 4 * bool(spec.props) + ["region"] * 4 * bool(spec.regions) + ["count", "element"]
    kind = rng.choice(choices)
    if kind == "operand":
        i = rng.randrange(len(spec.operands))
        spec.operands[i] = other_type(rng, spec.operands[i])
    elif kind == "result":
        i = rng.randrange(len(spec.results))
        spec.results[i] = other_type(rng, spec.results[i])
    elif kind == "property":
        kind = other_property(rng, spec)
    elif kind == "region":
        kind = other_region(rng, spec)
    elif kind == "element":
        element = rng.choice(ELEMENTS)
        which = rng.randrange(3)
        swap = lambda t: t.of(element) if isinstance(t, Tensor) else t
        if which != 0:
            spec.operands = [swap(t) for t in spec.operands]
        if which != 1:
            spec.results = [swap(t) for t in spec.results]
    else:
        target = rng.choice((spec.operands, spec.operands, spec.results))
        if target and rng.random() < 0.5:
            target.pop(rng.randrange(len(target)))
        else:
            target.insert(rng.randint(0, len(target)), rng.choice(target or [Tensor([], "f32")]))
    spec.kind = kind
    return spec


def mutants(name, seed, count):
    """`count` texts with the op `name`, most of them mutated once, some twice; every tenth legal."""
    rng = random.Random(f"{seed} {name}")
    writer = Recorder(rng)
    make = makers(writer)[name]
    for i in range(count):
        writer.specs = []
        while not any(s.name == name for s in writer.specs):
            make()
        spec = [s for s in writer.specs if s.name == name][-1]
        for _ in range(0 if i % 10 == 0 else 1 + (rng.random() < 0.15)):
            try:
                spec = mutate_spec(rng, spec)
            except (IndexError, ValueError):
                pass
        spec.kind = "legal" if i % 10 == 0 else spec.kind
        yield spec, spec.text(generic=spec.pretty is None or rng.random() < 0.6)

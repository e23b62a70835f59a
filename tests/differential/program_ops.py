"""Random programs: every op by construction legal, in its own syntax or in the generic form."""
import re

from program_text import COMPLEX, FLOATS, INTEGERS, MESHES, MESH_TEXT, Tensor, Text, is_complex

TOKEN = "!stablehlo.token"
COMMUTATIVE = ("add", "and", "maximum", "minimum", "multiply", "or", "xor")


class Region:
    def __init__(self, arguments, body, label=True):
        self.arguments = arguments  # (name, type)
        self.body = body  # text
        self.label = label


class Scope:
    """Values that may be used; a function's may grow arguments."""

    def __init__(self, parent, function=None):
        self.values = list(parent.values) if parent else []
        self.function = function
        self.lines = []


class Writer(Text):
    def __init__(self, rng, index=0, unregistered=False, locations=False):
        super().__init__(rng)
        self.index = index  # the reference keeps the names of resources over all programs
        self.unregistered = unregistered
        self.locations = locations
        self.next_name = 0
        self.scope = None
        self.bound = []  # manual axes of enclosing computations
        self.depth = 0
        self.foreign_depth = 0
        self.callees = []  # (name, inputs, results)
        self.location_aliases = []
        self.late = self.chance(0.5)  # they are defined at the end

    # ---- names and values ----

    def fresh(self):
        self.next_name += 1
        n = self.next_name
        return self.one(f"%{n}", f"%v{n}", f"%a-b{n}", f"%x.y$k{n}", f"%_{n}", f"%arg{n}", f"%{n + 1000}0")

    def take(self, value_type):
        """A value of that type: one that is there, or a new one."""
        have = [v for v in self.scope.values if v[1] == value_type]
        if have and self.chance(0.6):
            return self.rng.choice(have)[0]
        return self.make(value_type)

    def make(self, value_type):
        if self.scope.function is not None:
            name = self.fresh()
            self.scope.function.append((name, value_type))
            self.scope.values.append((name, value_type))
            return name
        if "index" in str(value_type) or not str(value_type).startswith(("tensor<", "!stablehlo.token")):
            return self.outside(value_type)
        return self.op("stablehlo.custom_call", [], {"call_target_name": '"make"'}, [value_type],
                       pretty=" @make()$D : $F$!call_target_name!", plain=True)[0]

    def outside(self, value_type):
        """A value of a type that no op here makes, by a cast of the dialect builtin."""
        return self.op("builtin.unrealized_conversion_cast", [], {}, [value_type], plain=True)[0]

    # ---- locations ----

    def location(self, depth=2):
        kind = self.number(0, 9)
        if kind <= 2 or depth == 0:
            self.count("loc file")
            return f'"{self.one("f.py", "a b.c", "x")}":{self.number(0, 99)}:{self.number(0, 9)}'
        if kind == 3:
            self.count("loc range")
            line = self.number(1, 99)
            return f'"f.py":{line}:{self.number(1, 9)} to ' + \
                self.one(f":{self.number(10, 20)}", f"{line + self.number(0, 3)}:{self.number(10, 30)}")
        if kind == 4:
            self.count("loc unknown")
            return "unknown"
        if kind == 5:
            self.count("loc name")
            return self.one('"name"', '"a \\"b\\""', '"jit(f)/add"')
        if kind == 6:
            self.count("loc name of")
            return f'"{self.one("n", "x/y")}"({self.location(depth - 1)})'
        if kind == 7:
            self.count("loc callsite")
            return f"callsite({self.location(depth - 1)} at {self.location(depth - 1)})"
        if kind == 8:
            self.count("loc fused")
            metadata = ""
            if self.chance(0.4):
                self.count("loc fused with metadata")
                metadata = f"<{self.one(self.string(), '{a = 1}', '[1, 2]', 'i32', '@f')}>"
            inner = ", ".join(self.location(depth - 1) for _ in range(self.number(1, 3)))
            return f"fused{metadata}[{inner}]"
        if self.location_aliases and not self.late and depth < 2:
            self.count("loc alias")
            return self.rng.choice(self.location_aliases)
        return "unknown"

    def maybe_location(self):
        if self.location_aliases and self.chance(0.1):
            self.count("loc alias")
            return f" loc({self.rng.choice(self.location_aliases)})"
        if self.locations and self.chance(0.5):
            return f" loc({self.location()})"
        return ""

    # ---- ops ----

    def op(self, name, operands, props, results, regions=(), pretty=None, plain=False, attrs=None,
           header=None, successors=""):
        """Writes one op; gives the names of its results. `operands` are (name, type)."""
        attrs = dict(attrs or {})
        if not plain:
            self.discardable(name, operands, results, attrs)
        self.count("op " + name)
        generic = pretty is None or self.chance(0.3)
        if pretty is not None:
            self.count(("generic " if generic else "pretty ") + name)
        text = self.generic(name, operands, props, results, regions, attrs, successors) if generic \
            else name + self.fill(pretty, operands, props, results, regions, attrs)
        names, bound = self.results(results)
        self.scope.lines.append(bound + text + self.maybe_location())
        self.scope.values += list(zip(names, results))
        return names

    def results(self, results):
        if not results:
            return [], ""
        if len(results) == 1:
            name = self.fresh()
            return [name], self.one(f"{name} = ", f"{name} = ", f"{name}:1 = ")
        if self.chance(0.5):
            name = self.fresh()
            return [f"{name}#{i}" for i in range(len(results))], f"{name}:{len(results)} = "
        first = self.number(0, len(results) - 1)
        names, parts = [], []
        if first:
            name = self.fresh()
            names += [f"{name}#{i}" for i in range(first)]
            parts.append(f"{name}:{first}")
        for _ in range(len(results) - first):
            names.append(self.fresh())
            parts.append(names[-1])
        return names, ", ".join(parts) + " = "

    def function_text(self, inputs, results):
        ins = ", ".join(self.spell(t) for t in inputs)
        outs = [self.spell(t) for t in results]
        if len(outs) == 1 and not outs[0].startswith("(") and self.chance(0.9):
            return f"({ins}) -> {outs[0]}"
        return f"({ins}) -> ({', '.join(outs)})"

    def region_text(self, region):
        label = ""
        if region.arguments or self.chance(0.2):
            arguments = ", ".join(f"{n}: {self.spell(t)}{self.maybe_location()}"
                                  for n, t in region.arguments)
            label = f"^{self.one('bb0', 'entry', 'b.1')}" + (f"({arguments})" if arguments else "") + ":\n"
        return "{\n" + label + region.body + "\n}"

    def generic(self, name, operands, props, results, regions, attrs, successors=""):
        text = f'"{name}"({", ".join(n for n, _ in operands)})' + successors
        trailing = dict(attrs)
        if props and self.chance(0.2) and not set(props) & set(attrs):
            trailing.update(props)
            self.count("form properties in the dictionary")
        elif props:
            text += f" <{self.dictionary_text(dict(self.shuffled(props.items())))}>"
        if regions:
            text += " (" + ", ".join(self.region_text(r) for r in regions) + ")"
        if trailing:
            text += " " + self.dictionary_text(dict(self.shuffled(trailing.items())))
        return text + " : " + self.function_text([t for _, t in operands], results)

    def fill(self, form, operands, props, results, regions, attrs):
        """The pretty text: $v operands, $D dictionary, $F, $R, $O, $T types, $0 a region."""
        left = dict(attrs)
        for name, value in props.items():
            if f"${{{name}}}" in form:
                form = form.replace(f"${{{name}}}", value)
            elif f"$!{name}!" in form:
                form = form.replace(f"$!{name}!", "")
            else:
                left[name] = value
        form = re.sub(r"\$![A-Za-z_]+!", "", form)
        types = [t for _, t in operands]
        out = form.replace("$v", ", ".join(n for n, _ in operands))
        for i, (n, _) in enumerate(operands):
            out = out.replace(f"$o{i}", n)
        dictionary = self.dictionary_text(dict(self.shuffled(left.items()))) if left else ""
        if not left and self.chance(0.05) and "$D" in out:
            dictionary = "{}"
        if not dictionary and re.search(r"#sdy\.\w+<.*>\$D :", out):
            dictionary = "{}"
        out = out.replace("$D", " " + dictionary if dictionary else "")
        out = out.replace("$A", " attributes " + dictionary if dictionary else "")
        if "$S" in out:
            same = len(results) == 1 and all(t == results[0] for t in types)
            out = out.replace("$S", self.spell(results[0]) if same and self.chance(0.9) else "$F")
        out = out.replace("$F", self.function_text(types, results))
        out = out.replace("$R", ", ".join(self.spell(t) for t in results))
        out = out.replace("$O", ", ".join(self.spell(t) for t in types))
        for i, region in enumerate(regions):
            out = out.replace(f"${i}", "{\n" + region.body + "\n}")
        return out

    def discardable(self, name, operands, results, attrs):
        if self.chance(0.25):
            for _ in range(self.number(1, 3)):
                attrs[self.name()] = self.attr()
        tensors = [t for t in results if isinstance(t, Tensor)]
        if self.meshes and results and len(tensors) == len(results) and self.chance(0.25) and \
                not name.startswith("sdy."):
            attrs["sdy.sharding"] = "#sdy.sharding_per_value" + \
                self.per_value([len(t.dims) for t in results], self.bound)
        values = [t for _, t in operands] + list(results)
        if operands and results and self.chance(0.12) and not name.startswith("sdy.") and \
                all(isinstance(t, Tensor) and None not in t.dims and 0 not in t.dims for t in values):
            rule = self.rule([t.dims for _, t in operands], [t.dims for t in results])
            if rule:
                attrs["sdy.sharding_rule"] = "#sdy.op_sharding_rule" + rule

    def region(self, arguments, fill, isolated=False, bound=()):
        """A region whose body `fill(names)` writes."""
        outer, self.scope = self.scope, Scope(None if isolated else self.scope)
        self.bound = self.bound + list(bound)
        self.depth += 1
        named = [(self.fresh(), t) for t in arguments]
        self.scope.values += named
        fill([n for n, _ in named])
        body = "\n".join(self.scope.lines)
        self.depth -= 1
        self.bound = self.bound[:len(self.bound) - len(bound)]
        self.scope = outer
        return Region(named, body)

    def returns(self, values, op="stablehlo.return"):
        form = {"stablehlo.return": " $v$D : $O", "sdy.return": "$D $v : $O"}[op]
        if not values:
            form = {"stablehlo.return": " $D", "sdy.return": "$D"}[op]
        self.op(op, values, {}, [], pretty=form)

    def maybe_ops(self):
        if self.depth <= 2 and self.chance(0.4):
            for _ in range(self.number(1, 2)):
                self.any_op()

    def reducer(self, elements, kind=None):
        """A body over scalars: pairs of arguments combined."""
        scalars = [Tensor([], e) for e in elements]

        def fill(names):
            self.maybe_ops()
            out = []
            for i, t in enumerate(scalars):
                pair = [(names[i], t), (names[i + len(scalars)], t)]
                op = kind or self.combiner(t.element)
                if self.chance(0.1):
                    pair.reverse()
                out.append((self.op("stablehlo." + op, pair, {}, [t], pretty=" $v$D : $S",
                                    plain=self.chance(0.8))[0], t))
            self.returns(out)
        return self.region(scalars * 2, fill)

    def combiner(self, element):
        if is_complex(element) or element in FLOATS:
            return self.one("add", "maximum", "minimum", "multiply")
        return self.one(*COMMUTATIVE)

    # ---- elementwise ----

    ROUNDED = ("cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one",
               "logistic", "rsqrt", "sine", "sqrt", "tan", "tanh")
    UNARY = {"abs": "sf", "ceil": "f", "count_leading_zeros": "i", "floor": "f", "negate": "sfc",
             "not": "bi", "popcnt": "i", "round_nearest_afz": "f", "round_nearest_even": "f",
             "sign": "sfc"}
    BINARY = {"add": "bifc", "and": "bi", "atan2": "fc", "divide": "ifc", "maximum": "bifc",
              "minimum": "bifc", "multiply": "bifc", "or": "bi", "power": "ifc",
              "remainder": "ifc", "shift_left": "i", "shift_right_arithmetic": "i",
              "shift_right_logical": "i", "subtract": "ifc", "xor": "bi"}

    def elementwise(self, name, kinds, count, props=None):
        t = self.tensor(*kinds)
        operands = [(self.take(t), t) for _ in range(count)]
        self.op(name, operands, props or {}, [t], pretty=" $v$D : $S")

    def rounded(self, name):
        props = {"result_accuracy": self.accuracy()} if self.chance(0.4) else {}
        self.elementwise("stablehlo." + name, "fc", 1, props)

    def unary(self, name):
        self.elementwise("stablehlo." + name, self.UNARY[name], 1)

    def binary(self, name):
        if self.chance(0.15):
            t = self.tensor(*self.BINARY[name], low=1)
            loose = Tensor([None if self.chance(0.5) else d for d in t.dims], t.element)
            strict = Tensor([d if d is not None else 3 for d in t.dims], t.element)
            a, b = self.shuffled([loose, strict])
            self.op("stablehlo." + name, [(self.take(a), a), (self.take(b), b)], {},
                    [self.one(a, b)], pretty=" $v$D : $S")
            return
        self.elementwise("stablehlo." + name, self.BINARY[name], 2)

    def convert(self, _):
        t = self.tensor()
        self.op("stablehlo.convert", [(self.take(t), t)], {}, [t.of(self.element())],
                pretty=" $v$D : $S")

    def parts(self, name):
        t = self.tensor("f", "c")
        part = t.of(t.element[8:-1]) if is_complex(t.element) else t
        self.op("stablehlo." + name, [(self.take(t), t)], {}, [part], pretty=" $v$D : $S")

    def is_finite(self, _):
        t = self.tensor("f")
        self.op("stablehlo.is_finite", [(self.take(t), t)], {}, [t.of("i1")], pretty=" $v$D : $F")

    def bitcast_convert(self, _):
        t = self.static(element=self.one("f32", "i32", "ui32"))
        to = self.one(t.of("f32"), t.of("i32"), Tensor(t.dims + (2,), "bf16"),
                      Tensor(t.dims + (4,), "i8"))
        self.op("stablehlo.bitcast_convert", [(self.take(t), t)], {}, [to], pretty=" $v$D : $F")

    def clamp(self, _):
        t = self.static("i", "f")
        low = self.one(t, Tensor([], t.element))
        high = self.one(t, Tensor([], t.element))
        operands = [(self.take(low), low), (self.take(t), t), (self.take(high), high)]
        self.op("stablehlo.clamp", operands, {}, [t], pretty=" $v$D : $S")

    def compare(self, _):
        t = self.tensor()
        direction = self.one("EQ", "NE") if is_complex(t.element) else \
            self.one(*self.ENUMS["comparison_direction"])
        props = {"comparison_direction": self.enum("comparison_direction", value=direction)}
        kind = ""
        if self.chance(0.6):
            value = "FLOAT" if t.element in FLOATS or is_complex(t.element) else \
                self.one("UNSIGNED" if t.element[0] == "u" or t.element == "i1" else "SIGNED", "NOTYPE")
            if t.element in FLOATS and self.chance(0.3):
                value = "TOTALORDER"
            props["compare_type"] = self.enum("comparison_type", value=value)
            kind = f", {value}"
        form = f" {direction}, $v{kind}$D : $F$!comparison_direction!$!compare_type!"
        self.op("stablehlo.compare", [(self.take(t), t), (self.take(t), t)], props, [t.of("i1")],
                pretty=form)

    def complex(self, _):
        t = self.tensor(element=self.one("f32", "f64"))
        out = t.of(f"complex<{t.element}>")
        form = self.one(" $v$D : $R", " $v$D : $F")
        self.op("stablehlo.complex", [(self.take(t), t)] * 2, {}, [out], pretty=form)

    def select(self, _):
        t = self.tensor()
        p = self.one(t.of("i1"), Tensor([], "i1"))
        form = " $v$D : $F"
        if self.chance(0.7):
            form = f" $v$D : {p}, {t}"
        self.op("stablehlo.select", [(self.take(p), p), (self.take(t), t), (self.take(t), t)], {},
                [t], pretty=form)

    def reduce_precision(self, _):
        t = self.tensor("f")
        e, m = self.number(1, 12), self.number(0, 60)
        props = {"exponent_bits": f"{e} : i32", "mantissa_bits": f"{m} : i32"}
        self.op("stablehlo.reduce_precision", [(self.take(t), t)], props, [t],
                pretty=f" $v, format = e{e}m{m}$D : $S$!exponent_bits!$!mantissa_bits!")

    # ---- shapes ----

    def listed(self, name, operands, word, prop, values, results, types="$F", more=None):
        values = list(values)
        props = {prop: self.ints(values), **(more or {})}
        text = "[" + ", ".join(map(str, values)) + "]"
        self.op("stablehlo." + name, operands, props, results,
                pretty=f" $v, {word} = {text}$D : {types}$!{prop}!")

    def broadcast(self, _):
        t = self.static(high=2)
        sizes = self.dims(0, 2)
        self.listed("broadcast", [(self.take(t), t)], "sizes", "broadcast_sizes", sizes,
                    [Tensor(tuple(sizes) + t.dims, t.element)])

    def broadcast_in_dim(self, _):
        t = self.static(high=3)
        rank = len(t.dims) + self.number(0, 2)
        dims = sorted(self.rng.sample(range(rank), len(t.dims)))
        if self.chance(0.3):
            self.rng.shuffle(dims)
        out = self.dims(rank, rank)
        for i, d in enumerate(dims):
            out[d] = t.dims[i] if t.dims[i] != 1 else self.number(1, 4)
        self.listed("broadcast_in_dim", [(self.take(t), t)], "dims", "broadcast_dimensions", dims,
                    [Tensor(out, t.element)])

    def dynamic_broadcast_in_dim(self, _):
        t = self.static(high=2)
        rank = len(t.dims) + self.number(0, 2)
        dims = sorted(self.rng.sample(range(rank), len(t.dims)))
        shape = Tensor([rank], self.one("i32", "i64", "index"))
        more = {}
        if dims and self.chance(0.5):
            more["known_expanding_dimensions"] = self.ints([0])
            if len(dims) > 1:
                more["known_nonexpanding_dimensions"] = self.ints([1])
        self.listed("dynamic_broadcast_in_dim", [(self.take(t), t), (self.take(shape), shape)],
                    "dims", "broadcast_dimensions", dims, [Tensor([None] * rank, t.element)],
                    more=more)

    def reverse(self, _):
        t = self.static()
        dims = self.rng.sample(range(len(t.dims)), self.number(0, len(t.dims)))
        self.listed("reverse", [(self.take(t), t)], "dims", "dimensions", dims, [t], "$S")

    def transpose(self, _):
        t = self.static()
        order = self.shuffled(range(len(t.dims)))
        self.listed("transpose", [(self.take(t), t)], "dims", "permutation", order,
                    [Tensor([t.dims[i] for i in order], t.element)])

    def reshape(self, _):
        t = self.static()
        dims = self.shuffled(t.dims) + [1] * self.number(0, 2)
        self.op("stablehlo.reshape", [(self.take(t), t)], {}, [Tensor(dims, t.element)],
                pretty=" $v$D : $F")

    def dynamic_reshape(self, _):
        t = self.tensor()
        rank = self.number(1, 3)
        shape = Tensor([rank], self.one("i32", "i64", "index"))
        self.op("stablehlo.dynamic_reshape", [(self.take(t), t), (self.take(shape), shape)], {},
                [Tensor([None] * rank, t.element)], pretty=" $v$D : $F")

    def numbered(self, name, operands, prop, value, results, types="$F", word="dim"):
        self.op("stablehlo." + name, operands, {prop: f"{value} : i64" if self.chance(0.5) else
                                                f"{value}"}, results,
                pretty=f" $v{', ' if operands else ''}{word} = {value}$D : {types}$!{prop}!")

    def concatenate(self, _):
        t = self.static(low=1)
        dim = self.number(0, len(t.dims) - 1)
        operands, total = [], 0
        for _ in range(self.number(1, 3)):
            size = self.number(1, 4)
            one = Tensor(t.dims[:dim] + (size,) + t.dims[dim + 1:], t.element)
            operands.append((self.take(one), one))
            total += size
        self.numbered("concatenate", operands, "dimension", dim,
                      [Tensor(t.dims[:dim] + (total,) + t.dims[dim + 1:], t.element)])

    def iota(self, _):
        t = self.static("i", "f", "c", low=1)
        self.numbered("iota", [], "iota_dimension", self.number(0, len(t.dims) - 1), [t], "$R")

    def dynamic_iota(self, _):
        rank = self.number(1, 3)
        shape = Tensor([rank], self.one("i32", "i64", "index"))
        self.numbered("dynamic_iota", [(self.take(shape), shape)], "iota_dimension",
                      self.number(0, rank - 1), [Tensor([None] * rank, self.element("i", "f"))])

    def get_dimension_size(self, _):
        t = self.tensor(low=1)
        self.numbered("get_dimension_size", [(self.take(t), t)], "dimension",
                      self.number(0, len(t.dims) - 1), [Tensor([], "i32")])

    def set_dimension_size(self, _):
        t = self.static("f", "i", low=1)
        dim = self.number(0, len(t.dims) - 1)
        size = Tensor([], "i32")
        bounds = ", ".join(str(d) if i == dim else "?" for i, d in enumerate(t.dims))
        out = Tensor([None if i == dim else d for i, d in enumerate(t.dims)], t.element,
                     f", #stablehlo.bounds<{bounds}>")
        self.numbered("set_dimension_size", [(self.take(t), t), (self.take(size), size)],
                      "dimension", dim, [out])

    def dynamic_slice(self, _):
        t = self.static()
        index = Tensor([], self.one("i32", "i64", "ui8"))
        sizes = [self.number(0, d) for d in t.dims]
        operands = [(self.take(t), t)] + [(self.take(index), index) for _ in sizes]
        self.listed("dynamic_slice", operands, "sizes", "slice_sizes", sizes,
                    [Tensor(sizes, t.element)])

    def dynamic_update_slice(self, _):
        t = self.static()
        update = Tensor([self.number(1, d) for d in t.dims], t.element)
        index = Tensor([], self.one("i32", "i64", "ui8"))
        operands = [(self.take(t), t), (self.take(update), update)]
        operands += [(self.take(index), index) for _ in t.dims]
        self.op("stablehlo.dynamic_update_slice", operands, {}, [t], pretty=" $v$D : $F")

    def slice(self, _):
        t = self.static()
        starts, limits, strides, parts, out = [], [], [], [], []
        for d in t.dims:
            start = self.number(0, d)
            limit = self.number(start, d)
            stride = self.one(1, 1, 2, 3)
            starts.append(start)
            limits.append(limit)
            strides.append(stride)
            out.append(-(-(limit - start) // stride))
            parts.append(f"{start}:{limit}" + (f":{stride}" if stride > 1 or self.chance(0.2) else ""))
        props = {"start_indices": self.ints(starts), "limit_indices": self.ints(limits),
                 "strides": self.ints(strides)}
        self.op("stablehlo.slice", [(self.take(t), t)], props, [Tensor(out, t.element)],
                pretty=f" $v [{', '.join(parts)}]$D : $F$!start_indices!$!limit_indices!$!strides!")

    def real_dynamic_slice(self, _):
        t = self.static()
        index = Tensor([len(t.dims)], self.one("i32", "i64", "index"))
        operands = [(self.take(t), t)] + [(self.take(index), index) for _ in range(3)]
        self.op("stablehlo.real_dynamic_slice", operands, {},
                [Tensor([None] * len(t.dims), t.element)], pretty=" $v$D : $F")

    def pad(self, _):
        t = self.static()
        value = Tensor([], t.element)
        low = [self.number(0, 3) for _ in t.dims]
        high = [self.number(0, 3) for _ in t.dims]
        interior = [self.number(0, 2) for _ in t.dims]
        out = [d + l + h + (d - 1) * i for d, l, h, i in zip(t.dims, low, high, interior)]
        props = {"edge_padding_low": self.ints(low), "edge_padding_high": self.ints(high),
                 "interior_padding": self.ints(interior)}
        self.op("stablehlo.pad", [(self.take(t), t), (self.take(value), value)], props,
                [Tensor(out, t.element)],
                pretty=f" $v, low = {low}, high = {high}, interior = {interior}$D : $F"
                "$!edge_padding_low!$!edge_padding_high!$!interior_padding!")

    def dynamic_pad(self, _):
        t = self.static(low=1)
        value = Tensor([], t.element)
        index = Tensor([len(t.dims)], self.one("i32", "i64", "index"))
        operands = [(self.take(t), t), (self.take(value), value)]
        operands += [(self.take(index), index) for _ in range(3)]
        self.op("stablehlo.dynamic_pad", operands, {}, [Tensor([None] * len(t.dims), t.element)],
                pretty=" $v$D : $F")

    # ---- constants, tokens and tuples ----

    def constant(self, name):
        t = self.static(low=0, high=3)
        if self.chance(0.1):
            t = Tensor([self.number(2, 5), self.number(20, 60)], self.element())
        if self.chance(0.05):
            t = Tensor([0, 3][:self.number(1, 2)], t.element)
        value = f"{self.dense(t)} : {self.spell(t)}"
        self.count("attr dense")
        self.op(name, [], {"value": value}, [t], pretty="$D ${value}")

    def arith_constant(self, _):
        kind = self.number(0, 3)
        if kind == 0:
            element = self.one("i1", "i8", "i32", "i64", "index", "i7")
            text = self.one("true", "false") if element == "i1" else \
                f"{self.integer_text(element)} : {element}"
        elif kind == 1:
            element = self.one("f32", "f64", "bf16", "f16")
            text = f"{self.float_text(element)} : {element}"
        else:
            element = self.static("s", "f", "b", low=0, high=2)
            text = f"{self.dense(element)} : {self.spell(element)}"
        self.op("arith.constant", [], {"value": text}, [element], pretty="$D ${value}")

    def tensor_cast(self, _):
        t = self.static(low=1)
        to = Tensor([None if self.chance(0.5) else d for d in t.dims], t.element)
        self.op("tensor.cast", [(self.take(t), t)], {}, [to], pretty=" $v$D : $O to $R")

    def create_token(self, _):
        self.op("stablehlo.create_token", [], {}, [TOKEN], pretty="$D : $R")

    def identity(self, name):
        self.op("stablehlo." + name, [], {}, [Tensor([], "ui32")], pretty="$D : $R")

    def after_all(self, _):
        operands = [(self.take(TOKEN), TOKEN) for _ in range(self.number(0, 3))]
        self.op("stablehlo.after_all", operands, {}, [TOKEN],
                pretty=" $v$D : $S" if operands else "$D : " + TOKEN)

    def tuple_types(self):
        return [self.one(self.tensor(), self.tensor(), TOKEN) for _ in range(self.number(0, 3))]

    def tuple(self, _):
        types = self.tuple_types()
        self.op("stablehlo.tuple", [(self.take(t), t) for t in types], {},
                [f"tuple<{', '.join(map(str, types))}>"], pretty=" $v$D : $R")

    def get_tuple_element(self, _):
        types = self.tuple_types() + [self.tensor()]
        whole = f"tuple<{', '.join(map(str, types))}>"
        i = self.number(0, len(types) - 1)
        self.op("stablehlo.get_tuple_element", [(self.take(whole), whole)], {"index": f"{i} : i32"},
                [types[i]], pretty=f" $v[{i}]$D : $F$!index!")

    def optimization_barrier(self, _):
        types = [self.one(self.tensor(), TOKEN) for _ in range(self.number(0, 3))]
        self.op("stablehlo.optimization_barrier", [(self.take(t), t) for t in types], {}, types,
                pretty="$D $v : $O" if types else "$D ()")

    # ---- contractions ----

    def precision(self, dialect="stablehlo"):
        words = [self.one("DEFAULT", "HIGH", "HIGHEST") for _ in range(2)]
        return words, "[" + ", ".join(self.enum("precision", dialect, w) for w in words) + "]"

    def dot(self, _):
        element = self.element("f", "i")
        a = Tensor(self.dims(1, 2), element)
        b = Tensor([a.dims[-1]] + self.dims(0, 1), element)
        props, form = {}, " $v$D : $F"
        if self.chance(0.5):
            words, props["precision_config"] = self.precision()
            form = f" $v, precision = [{', '.join(words)}]$D : $F$!precision_config!"
        self.op("stablehlo.dot", [(self.take(a), a), (self.take(b), b)], props,
                [Tensor(a.dims[:-1] + b.dims[1:], element)], pretty=form)

    def dot_general(self, _):
        element = self.element("f", "i")
        batch, contract = self.dims(0, 2), self.dims(0, 2)
        left, right = self.dims(0, 1), self.dims(0, 1)
        a_order = self.shuffled(range(len(batch + contract + left)))
        b_order = self.shuffled(range(len(batch + contract + right)))
        place = lambda order, dims: [d for _, d in sorted(zip(order, dims))]
        a = Tensor(place(a_order, batch + contract + left), element)
        b = Tensor(place(b_order, batch + contract + right), element)
        n = len(batch)
        m = n + len(contract)
        lists = [a_order[:n], b_order[:n], a_order[n:m], b_order[n:m]]
        parts = [f"{name} = {v}" for name, v in zip(self.DOT, lists) if v or self.chance(0.2)]
        self.count("attr #stablehlo.dot")
        props = {"dot_dimension_numbers": f"#stablehlo.dot<{', '.join(self.shuffled(parts))}>"}
        form = " $v"
        if batch or self.chance(0.1):
            form += f", batching_dims = {lists[0]} x {lists[1]}"
        form += f", contracting_dims = {lists[2]} x {lists[3]}"
        if self.chance(0.4):
            words, props["precision_config"] = self.precision()
            form += f", precision = [{', '.join(words)}]"
        if self.chance(0.2) and element == "f32":
            if "precision_config" in props:
                words = ["DEFAULT"] * 2
                props["precision_config"] = "[#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]"
                form = form.split(", precision")[0] + ", precision = [DEFAULT, DEFAULT]"
            text = self.algorithm(stripped=True)
            props["algorithm"] = "#stablehlo.dot_algorithm" + text
            form += f", algorithm = {text}"
        free = [d for o, d in sorted(zip(a_order[m:], left))] + [d for o, d in zip(b_order[m:], right)]
        self.op("stablehlo.dot_general", [(self.take(a), a), (self.take(b), b)], props,
                [Tensor(batch + free, element)],
                pretty=form + "$D : $F$!dot_dimension_numbers!$!precision_config!$!algorithm!")

    def einsum(self, _):
        element = self.element("f", "i")
        n, k, m = self.number(1, 4), self.number(1, 4), self.number(1, 4)
        a, b = Tensor([n, k], element), Tensor([k, m], element)
        self.op("stablehlo.einsum", [(self.take(a), a), (self.take(b), b)],
                {"einsum_config": '"ab,bc->ac"'}, [Tensor([n, m], element)],
                pretty=" $v, config = ${einsum_config}$D : $F")

    def unary_einsum(self, _):
        t = self.static("f", "i", low=2, high=2)
        self.op("stablehlo.unary_einsum", [(self.take(t), t)], {"einsum_config": '"ab->a"'},
                [Tensor(t.dims[:1], t.element)], pretty=" $v, config = ${einsum_config}$D : $F")

    def window_props(self, spatial, dynamic=False):
        """Of a convolution: the properties, and the pretty window."""
        props, parts = {}, []
        if self.chance(0.5):
            values = [1] * spatial
            props["window_strides"] = self.ints(values)
            parts.append(f"stride = {values}")
        if self.chance(0.5) and not dynamic:
            values = [[1, 1] for _ in range(spatial)]
            if self.chance(0.5):
                values = [[self.number(1, 2), 1] for _ in range(spatial)]
            self.padding = values
            props["padding"] = self.matrix(values)
            parts.append("pad = [" + ", ".join(str(v) for v in values) + "]")
        else:
            self.padding = [[0, 0]] * spatial
        for name, word in (("lhs_dilation", "lhs_dilate"), ("rhs_dilation", "rhs_dilate")):
            if self.chance(0.3):
                props[name] = self.ints([1] * spatial)
                parts.append(f"{word} = {[1] * spatial}")
        if self.chance(0.4) and spatial:
            values = [self.one("true", "false") for _ in range(spatial)]
            props["window_reversal"] = f"array<i1: {', '.join(values)}>"
            written = [self.one(v, {"true": "1", "false": "0"}[v]) for v in values]
            parts.append(f"reverse = [{', '.join(written)}]")
        return props, "{" + ", ".join(self.shuffled(parts)) + "}"

    def convolution(self, name):
        dynamic = name == "dynamic_conv"
        spatial = self.number(1, 2)
        element = self.element("f", "i")
        batch, features, outputs = self.number(1, 3), self.number(1, 3), self.number(1, 3)
        sizes = [self.number(3, 6) for _ in range(spatial)]
        kernel = [self.number(1, 3) for _ in range(spatial)]
        props, window = self.window_props(spatial, dynamic)
        out = [s + p[0] + p[1] - k + 1 for s, p, k in zip(sizes, self.padding, kernel)]
        numbers = list(range(spatial))
        layouts = [self.shuffled(["b", "f"] + numbers), self.shuffled(["i", "o"] + numbers),
                   self.shuffled(["b", "f"] + numbers)]
        fill = lambda layout, named, dims: [named[d] if isinstance(d, str) else dims[d] for d in layout]
        a = Tensor(fill(layouts[0], {"b": batch, "f": features}, sizes), element)
        b = Tensor(fill(layouts[1], {"i": features, "o": outputs}, kernel), element)
        result = Tensor(fill(layouts[2], {"b": batch, "f": outputs}, out), element)
        props["dimension_numbers"] = self.conv_numbers(spatial, layouts)
        props["feature_group_count"] = "1 : i64"
        props["batch_group_count"] = "1"
        if self.chance(0.5):
            _, props["precision_config"] = self.precision()
        operands = [(self.take(a), a), (self.take(b), b)]
        if dynamic:
            padding = Tensor([spatial, 2], self.one("i32", "i64"))
            operands.append((self.take(padding), padding))
            result = Tensor([None] * len(result.dims), element)
            self.op("stablehlo.dynamic_conv", operands, props, [result])
            return
        hidden = "".join(f"$!{p}!" for p in ("window_strides", "padding", "lhs_dilation",
                                            "rhs_dilation", "window_reversal", "dimension_numbers"))
        text = self.conv_numbers(spatial, layouts, stripped=True)
        self.op("stablehlo.convolution", operands, props, [result],
                pretty=f"($v) dim_numbers = {text}, window = {window}$D : $F{hidden}")

    def cholesky(self, _):
        n = self.number(1, 4)
        t = Tensor(self.dims(0, 2) + [n, n], self.one("f32", "f64", "f16", *COMPLEX))
        props, form = {}, " $v$D : $S"
        if self.chance(0.6):
            value = self.one("true", "false")
            props = {"lower": value}
            form = f" $v, lower = {value}$D : $S$!lower!"
        self.op("stablehlo.cholesky", [(self.take(t), t)], props, [t], pretty=form)

    def triangular_solve(self, _):
        n = self.number(1, 4)
        element = self.one("f32", "f64", *COMPLEX)
        a, b = Tensor([n, n], element), Tensor([n, self.number(1, 3)], element)
        props = {"left_side": "true", "lower": self.one("true", "false"),
                 "unit_diagonal": self.one("true", "false"), "transpose_a": self.enum("transpose")}
        self.op("stablehlo.triangular_solve", [(self.take(a), a), (self.take(b), b)], props, [b])

    def fft(self, _):
        kind = self.one("FFT", "IFFT", "RFFT", "IRFFT")
        n = self.number(2, 6)
        batch = self.dims(0, 1)
        wide = self.one("f32", "f64")
        t = Tensor(batch + [n], f"complex<{wide}>")
        out, length = t, n
        if kind == "RFFT":
            t, out = Tensor(batch + [n], wide), Tensor(batch + [n // 2 + 1], f"complex<{wide}>")
        elif kind == "IRFFT":
            length = 2 * (n - 1)
            out = Tensor(batch + [length], wide)
        props = {"fft_type": self.enum("fft_type", value=kind), "fft_length": self.ints([length])}
        self.op("stablehlo.fft", [(self.take(t), t)], props, [out],
                pretty=f" $v, type = {kind}, length = [{length}]$D : $F$!fft_type!$!fft_length!")

    def rng_op(self, _):
        t = self.static("f", "i")
        scalar = Tensor([], t.element)
        shape = Tensor([len(t.dims)], "i64")
        kind = "UNIFORM" if t.element not in FLOATS else self.one("UNIFORM", "NORMAL")
        self.op("stablehlo.rng", [(self.take(scalar), scalar)] * 2 + [(self.take(shape), shape)],
                {"rng_distribution": self.enum("rng_distribution", value=kind)}, [t],
                pretty=f" $v, distribution = {kind}$D : $F$!rng_distribution!")

    def rng_bit_generator(self, _):
        state = Tensor([self.number(2, 3)], "ui64")
        kind = self.one("DEFAULT", "THREE_FRY", "PHILOX")
        out = self.static("i", "f")
        self.op("stablehlo.rng_bit_generator", [(self.take(state), state)],
                {"rng_algorithm": self.enum("rng_algorithm", value=kind)}, [state, out],
                pretty=f" $v, algorithm = {kind}$D : $F$!rng_algorithm!")

    def batch_norm(self, name):
        t = self.static(element=self.one("f32", "f64", "bf16"), low=1)
        feature = self.number(0, len(t.dims) - 1)
        f = Tensor([t.dims[feature]], t.element)
        props = {"epsilon": self.one("1.000000e-03 : f32", "0.0 : f32", "0x3A83126F : f32"),
                 "feature_index": f"{feature} : i64"}
        take = lambda *types: [(self.take(x), x) for x in types]
        if name == "batch_norm_training":
            self.op("stablehlo." + name, take(t, f, f), props, [t, f, f])
        elif name == "batch_norm_inference":
            self.op("stablehlo." + name, take(t, f, f, f, f), props, [t])
        else:
            self.op("stablehlo." + name, take(t, f, f, f, t), props, [t, f, f])

    # ---- calls ----

    def custom_call(self, _):
        inputs = [self.one(self.tensor(), self.static(), TOKEN) for _ in range(self.number(0, 3))]
        results = [self.static() for _ in range(self.number(0, 3))]
        operands = [(self.take(t), t) for t in inputs]
        name = self.one("foo", "Sharding", "x.y", "odd name", "q\\22", "lapack_ffi")
        props = {"call_target_name": f'"{name}"'}
        if self.chance(0.3):
            props["has_side_effect"] = self.one("true", "false")
        version = self.one(None, 1, 2, 4)
        if version is not None:
            props["api_version"] = f"{version} : i32"
        if self.chance(0.5):
            props["backend_config"] = self.dictionary() if version == 4 else self.string()
        if self.chance(0.2):
            named = [f"@{n}" for n, _, _ in self.callees[:2]]
            props["called_computations"] = f"[{', '.join(named)}]"
        if self.chance(0.2) and all(isinstance(t, Tensor) for t in inputs):
            for key, types in (("operand_layouts", inputs), ("result_layouts", results)):
                layouts = []
                for t in types:
                    order = self.shuffled(range(len(t.dims)))
                    layouts.append(f"dense<{order if order else ''}> : tensor<{len(order)}xindex>")
                props[key] = f"[{', '.join(layouts)}]"
        if self.chance(0.2) and inputs and len(results) == 1 and isinstance(inputs[0], Tensor):
            results = [inputs[0]]
            if "result_layouts" in props:
                del props["result_layouts"], props["operand_layouts"]
            props["output_operand_aliases"] = f"[{self.operand_alias(1)}]"
        elif self.chance(0.1):
            props["output_operand_aliases"] = "[]"
        symbol = f"@{name}" if name in ("foo", "Sharding", "x.y", "lapack_ffi") and self.chance(0.9) \
            else f'@"{name}"'
        self.op("stablehlo.custom_call", operands, props, results,
                pretty=f" {symbol}($v)$D : $F$!call_target_name!")

    def composite(self, _):
        if not self.callees or self.foreign_depth:
            return
        callee, inputs, results = self.rng.choice(self.callees)
        if any("index" in str(t) or not str(t).startswith(("tensor<", TOKEN)) or "*" in str(t)
               for t in inputs + results):
            return
        props = {"name": self.one('"ns.op"', '"a.b.c"'), "decomposition": f"@{callee}"}
        if self.chance(0.4):
            props["composite_attributes"] = self.dictionary()
        if self.chance(0.4):
            props["version"] = f"{self.number(0, 3)} : i32"
        regions = []
        form = " ${name} $v$D : $F"
        if self.chance(0.3):
            t = Tensor([], "f32")
            regions = [self.region([t], lambda names: self.returns([(names[0], t)]))
                       for _ in range(self.number(1, 2))]
            form = None
        self.op("stablehlo.composite", [(self.take(t), t) for t in inputs], props, results, regions,
                pretty=form)

    def call(self, _):
        if not self.callees or self.foreign_depth:
            return
        callee, inputs, results = self.rng.choice(self.callees)
        self.op("func.call", [(self.take(t), t) for t in inputs], {"callee": f"@{callee}"}, results,
                pretty=" ${callee}($v)$D : $F")

    # ---- regions ----

    def reduce(self, _):
        count = self.one(1, 1, 2, 3)
        dims = self.dims(0, 3)
        elements = [self.element() for _ in range(count)]
        types = [Tensor(dims, e) for e in elements]
        inits = [Tensor([], e) for e in elements]
        over = self.rng.sample(range(len(dims)), self.number(0, len(dims)))
        if self.chance(0.8):
            over.sort()
        out = [d for i, d in enumerate(dims) if i not in over]
        operands = [(self.take(t), t) for t in types] + [(self.take(t), t) for t in inits]
        pairs = ", ".join(f"({operands[i][0]} init: {operands[count + i][0]})" for i in range(count))
        results = [Tensor(out, e) for e in elements]
        props = {"dimensions": self.ints(over)}
        kind = self.combiner(elements[0])
        if count == 1 and self.chance(0.4):
            form = f"{pairs} applies stablehlo.{kind} across dimensions = {over}$D : $F$!dimensions!"
            self.count("form reduce, compact")
            self.op_pretty_only("stablehlo.reduce", operands, props, results, form)
            return
        region = self.reducer(elements, kind if self.chance(0.5) and count == 1 else None)
        names = region.arguments
        heads = " ".join(f"({names[i][0]}: {self.spell(inits[i])}, {names[count + i][0]}: "
                         f"{self.spell(inits[i])})" for i in range(count))
        form = f"{pairs} across dimensions = {over}$D : $F\n reducer{heads} $0$!dimensions!"
        self.count("form reduce, region")
        self.op("stablehlo.reduce", operands, props, results, [region], pretty=form)

    def op_pretty_only(self, name, operands, props, results, form):
        attrs = {}
        self.discardable(name, operands, results, attrs)
        self.count("op " + name)
        self.count("pretty " + name)
        names, bound = self.results(results)
        self.scope.lines.append(bound + name + self.fill(form, operands, props, results, [], attrs) +
                                self.maybe_location())
        self.scope.values += list(zip(names, results))

    def while_op(self, _):
        types = [self.one(self.static(), self.static(), TOKEN) for _ in range(self.number(0, 3))]
        operands = [(self.take(t), t) for t in types]
        p = Tensor([], "i1")

        def condition(_):
            self.maybe_ops()
            have = [v for v in self.scope.values if v[1] == p]
            value = have[-1][0] if have else self.op(
                "stablehlo.constant", [], {"value": "dense<true> : tensor<i1>"}, [p],
                pretty="$D ${value}", plain=True)[0]
            self.returns([(value, p)])

        def body(names):
            self.maybe_ops()
            self.returns(list(zip(names, types)))
        named = [self.fresh() for _ in types]
        regions = []
        for fill in (condition, body):
            regions.append(self.region(types, fill))
        if self.chance(0.6):
            # In its own syntax both regions share the names of the arguments.
            for region in regions:
                for (old, _), new in zip(region.arguments, named):
                    region.body = rename(region.body, old, new)
                region.arguments = [(n, t) for n, t in zip(named, types)]
            heads = ", ".join(f"{n} = {o}" for n, (o, _) in zip(named, operands))
            form = f"({heads})" + (" : $O" if types else "") + "$A cond $0 do $1"
        else:
            form = None
        self.op("stablehlo.while", operands, {}, types, regions, pretty=form)

    def branches(self, name):
        index = Tensor([], "i32" if name == "case" else "i1")
        results = [self.static() for _ in range(self.number(0, 2))]

        def fill(_):
            self.maybe_ops()
            self.returns([(self.take_inside(t), t) for t in results])
        count = 2 if name == "if" else self.number(1, 3)
        regions = [self.region([], fill) for _ in range(count)]
        self.op("stablehlo." + name, [(self.take(index), index)], {}, results, regions)

    def take_inside(self, t):
        return self.take(t)

    def map(self, _):
        t = self.static("f", "i")
        scalar = Tensor([], t.element)
        count = self.number(1, 3)

        def fill(names):
            self.maybe_ops()
            self.returns([(names[0], scalar)])
        region = self.region([scalar] * count, fill)
        self.op("stablehlo.map", [(self.take(t), t) for _ in range(count)],
                {"dimensions": self.ints(range(len(t.dims)))}, [t], [region])

    def sort(self, _):
        dims = self.dims(1, 3)
        types = [Tensor(dims, self.element("f", "i")) for _ in range(self.number(1, 3))]
        arguments = [Tensor([], t.element) for t in types for _ in range(2)]
        p = Tensor([], "i1")

        def fill(names):
            self.maybe_ops()
            value = self.op("stablehlo.compare", [(names[0], arguments[0]), (names[1], arguments[1])],
                            {"comparison_direction": "#stablehlo<comparison_direction LT>"}, [p],
                            pretty=" LT, $v$D : $F$!comparison_direction!", plain=True)[0]
            self.returns([(value, p)])
        props = {}
        if self.chance(0.7):
            props["dimension"] = f"{self.number(-len(dims), len(dims) - 1)} : i64"
        if self.chance(0.7):
            props["is_stable"] = self.one("true", "false")
        region = self.region(arguments, fill)
        self.op("stablehlo.sort", [(self.take(t), t) for t in types], props, types, [region])

    def reduce_window(self, _):
        count = self.one(1, 1, 2)
        dims = self.dims(1, 3, 3)
        elements = [self.element("f", "i") for _ in range(count)]
        types = [Tensor(dims, e) for e in elements]
        inits = [Tensor([], e) for e in elements]
        window = [self.number(1, 2) for _ in dims]
        props = {"window_dimensions": self.ints(window)}
        padding = [[0, 0] for _ in dims]
        if self.chance(0.5):
            padding = [[self.number(0, 2), self.number(0, 2)] for _ in dims]
            props["padding"] = self.matrix(padding)
        for name in ("window_strides", "base_dilations", "window_dilations"):
            if self.chance(0.4):
                props[name] = self.ints([1] * len(dims))
        out = [d + p[0] + p[1] - w + 1 for d, p, w in zip(dims, padding, window)]
        operands = [(self.take(t), t) for t in types] + [(self.take(t), t) for t in inits]
        self.op("stablehlo.reduce_window", operands, props, [Tensor(out, e) for e in elements],
                [self.reducer(elements)])

    def select_and_scatter(self, _):
        t = self.static("f", "i", low=1, high=2)
        scalar = Tensor([], t.element)
        p = Tensor([], "i1")

        def pick(names):
            value = self.op("stablehlo.compare", [(names[0], scalar), (names[1], scalar)],
                            {"comparison_direction": "#stablehlo<comparison_direction GE>"}, [p],
                            pretty=" GE, $v$D : $F$!comparison_direction!", plain=True)[0]
            self.returns([(value, p)])
        props = {}
        ones = [1] * len(t.dims)
        for name in ("window_dimensions", "window_strides"):
            if self.chance(0.8):
                props[name] = self.ints(ones)
        if self.chance(0.5):
            props["padding"] = self.matrix([[0, 0] for _ in ones])
        regions = [self.region([scalar, scalar], pick), self.reducer([t.element])]
        if "window_dimensions" not in props:
            props["window_dimensions"] = self.ints(ones)
        self.op("stablehlo.select_and_scatter",
                [(self.take(t), t), (self.take(t), t), (self.take(scalar), scalar)], props, [t],
                regions)

    def gather(self, name):
        t = self.static(low=1, high=2)
        n = self.number(1, 4)
        index = self.one("i32", "i64", "ui32")
        whole = list(t.dims[1:])
        sizes = [1] + whole
        parts = ["collapsed_slice_dims = [0]", "start_index_map = [0]", "index_vector_dim = 1",
                 f"offset_dims = {list(range(1, 1 + len(whole)))}"]
        if self.chance(0.3):
            parts += ["operand_batching_dims = []", "start_indices_batching_dims = []"]
        self.count("attr #stablehlo.gather")
        props = {"dimension_numbers": f"#stablehlo.gather<{', '.join(self.shuffled(parts))}>"}
        if self.chance(0.5):
            props["indices_are_sorted"] = self.one("true", "false")
        indices = Tensor([n, 1], index)
        operands = [(self.take(t), t), (self.take(indices), indices)]
        out = Tensor([n] + whole, t.element)
        if name == "gather":
            props["slice_sizes"] = self.ints(sizes)
        else:
            shape = Tensor([len(sizes)], self.one("i32", "i64"))
            operands.append((self.take(shape), shape))
            out = Tensor([n] + [None] * len(whole), t.element)
        self.op("stablehlo." + name, operands, props, [out])

    def scatter(self, _):
        count = self.one(1, 1, 2)
        dims = self.dims(1, 2)
        elements = [self.element() for _ in range(count)]
        n = self.number(1, 4)
        whole = dims[1:]
        indices = Tensor([n, 1], self.one("i32", "i64", "ui32"))
        inputs = [Tensor(dims, e) for e in elements]
        updates = [Tensor([n] + whole, e) for e in elements]
        parts = ["inserted_window_dims = [0]", "scatter_dims_to_operand_dims = [0]",
                 "index_vector_dim = 1", f"update_window_dims = {list(range(1, 1 + len(whole)))}"]
        if self.chance(0.3):
            parts += ["input_batching_dims = []", "scatter_indices_batching_dims = []"]
        self.count("attr #stablehlo.scatter")
        props = {"scatter_dimension_numbers": f"#stablehlo.scatter<{', '.join(self.shuffled(parts))}>"}
        for name in ("indices_are_sorted", "unique_indices"):
            if self.chance(0.5):
                props[name] = self.one("true", "false")
        operands = [(self.take(t), t) for t in inputs] + [(self.take(indices), indices)]
        operands += [(self.take(t), t) for t in updates]
        self.op("stablehlo.scatter", operands, props, inputs, [self.reducer(elements)])

    def torch_index_select(self, _):
        t = self.static("f", "i", low=1, high=3)
        index = Tensor([self.number(1, 4)], self.one("i32", "i64"))
        self.op("stablehlo.torch_index_select", [(self.take(t), t), (self.take(index), index)],
                {"dim": "0 : i64", "batch_dims": "0"}, [Tensor(index.dims + t.dims[1:], t.element)])

    # ---- collectives of stablehlo ----

    def groups(self, size=None):
        """Replica groups of 8 devices, or along axes of a mesh."""
        size = size or self.one(1, 2, 4, 8)
        kind = self.number(0, 3)
        if kind == 0 and size in (2, 4):
            axis = "x" if size == 2 else "y"
            mesh = "@mesh" if self.sees_mesh() and self.chance(0.5) else None
            return self.mesh_axes([(axis, None)], mesh)
        if kind == 1 and size == 2:
            return self.mesh_axes([("y", self.one((1, 2), (2, 2)))])
        self.count("attr replica groups, dense")
        ids = self.shuffled(range(8)) if self.chance(0.5) else list(range(8))
        return self.matrix([ids[i:i + size] for i in range(0, 8, size)])

    def sees_mesh(self):
        """Whether @mesh is found from here: not through an op that may be a table of symbols."""
        return "mesh" in self.meshes and not self.foreign_depth

    def channel_props(self, props, ids=True):
        if self.chance(0.6):
            props["channel_handle"] = self.channel()
            if ids and self.chance(0.5):
                props["use_global_device_ids"] = "unit"

    def all_gather(self, _):
        types = [self.static(low=1) for _ in range(self.one(1, 1, 2))]
        dim = 0
        props = {"all_gather_dim": f"{dim} : i64", "replica_groups": self.groups(2)}
        self.channel_props(props)
        self.op("stablehlo.all_gather", [(self.take(t), t) for t in types], props,
                [Tensor((t.dims[0] * 2,) + t.dims[1:], t.element) for t in types])

    def all_reduce(self, name):
        elements = [self.element("f", "i")] * self.one(1, 1, 2)
        types = [self.static(element=e) for e in elements]
        props = {"replica_groups": self.groups()}
        self.channel_props(props)
        self.op("stablehlo." + name, [(self.take(t), t) for t in types], props, types,
                [self.reducer(elements[:1])])

    def reduce_scatter(self, _):
        t = self.static("f", "i", low=1)
        props = {"scatter_dimension": "0 : i64", "replica_groups": self.groups(2)}
        self.channel_props(props)
        big = Tensor((t.dims[0] * 2,) + t.dims[1:], t.element)
        self.op("stablehlo.reduce_scatter", [(self.take(big), big)], props, [t],
                [self.reducer([t.element])])

    def all_to_all(self, _):
        types = []
        for _ in range(self.one(1, 1, 2)):
            types.append(self.static(low=2))
        props = {"split_dimension": "0 : i64", "concat_dimension": "1", "split_count": "2 : i64",
                 "replica_groups": self.groups(2)}
        self.channel_props(props, ids=False)
        inputs = [Tensor((t.dims[0] * 2,) + t.dims[1:], t.element) for t in types]
        outputs = [Tensor((t.dims[0], t.dims[1] * 2) + t.dims[2:], t.element) for t in types]
        self.op("stablehlo.all_to_all", [(self.take(t), t) for t in inputs], props, outputs)

    def collective_broadcast(self, _):
        t = self.static()
        props = {"replica_groups": self.groups(self.one(2, 4))}
        self.channel_props(props, ids=False)
        self.op("stablehlo.collective_broadcast", [(self.take(t), t)], props, [t])

    def cross_replica_sum(self, _):
        t = self.static("f", "i")
        self.op("stablehlo.cross-replica-sum", [(self.take(t), t)],
                {"replica_groups": self.matrix([[0, 1], [2, 3]])}, [t])

    def pairs(self):
        self.count("attr source target pairs")
        n = self.number(0, 3)
        targets = self.shuffled(range(4))
        if n == 0:
            return "dense<> : tensor<0x2xi64>"
        return self.matrix([[i, targets[i]] for i in range(n)])

    def collective_permute(self, _):
        t = self.static()
        props = {"source_target_pairs": self.pairs()}
        self.channel_props(props, ids=False)
        self.op("stablehlo.collective_permute", [(self.take(t), t)], props, [t])

    def transfer(self, name):
        host = self.chance(0.5)
        types = [self.static() for _ in range(self.number(0, 2))]
        kind = 1 if not host else {"send": 2, "recv": 3}[name]
        props = {"channel_handle": self.channel(kind)}
        if host or self.chance(0.5):
            props["is_host_transfer"] = "true" if host else "false"
        if self.chance(0.3):
            props["source_target_pairs"] = self.pairs()
        if name == "send":
            operands = [(self.take(t), t) for t in types] + [(self.take(TOKEN), TOKEN)]
            self.op("stablehlo.send", operands, props, [TOKEN])
        else:
            self.op("stablehlo.recv", [(self.take(TOKEN), TOKEN)], props, types + [TOKEN])

    def infeed(self, _):
        types = [self.static(low=1, high=2) for _ in range(self.number(1, 2))]
        props = {}
        if self.chance(0.5):
            props["infeed_config"] = self.string()
        if self.chance(0.5):
            layouts = [str(self.shuffled(range(len(t.dims)))) for t in types]
            props["layout"] = f"[{', '.join(layouts)}]"
        self.op("stablehlo.infeed", [(self.take(TOKEN), TOKEN)], props, types + [TOKEN])

    def outfeed(self, _):
        types = [self.static() for _ in range(self.number(0, 2))]
        props = {"outfeed_config": self.string()} if self.chance(0.5) else {}
        self.op("stablehlo.outfeed", [(self.take(t), t) for t in types] + [(self.take(TOKEN), TOKEN)],
                props, [TOKEN])

    def async_ops(self, _):
        t = self.static("f", "i", low=1)
        out = Tensor((t.dims[0] * 2,) + t.dims[1:], t.element)

        def fill(names):
            props = {"all_gather_dim": "0 : i64", "replica_groups": self.groups(2)}
            value = self.op("stablehlo.all_gather", [(names[0], t)], props, [out], plain=True)[0]
            self.returns([(value, out)])
        region = self.region([t], fill, isolated=True)
        future = f"!stablehlo.future<{out}>"
        start = self.op("stablehlo.async_start", [(self.take(t), t)], {}, [future], [region])[0]
        self.op("stablehlo.async_done", [(start, future)], {}, [out])

    # ---- chlo ----

    CHLO_UNARY = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "conj", "cosh",
                  "sinh", "tan", "square", "digamma", "erf", "erf_inv", "erfc", "lgamma")
    CHLO_BROADCAST = ("add", "and", "atan2", "divide", "maximum", "minimum", "multiply",
                      "next_after", "or", "polygamma", "power", "remainder", "shift_left",
                      "shift_right_arithmetic", "shift_right_logical", "subtract", "xor", "zeta")

    def chlo_unary(self, name):
        t = self.tensor(element=self.one("f16", "bf16", "f32", "f64"))
        props = {}
        if name == "erf" and self.chance(0.0):
            props["result_accuracy"] = self.accuracy("chlo")
        self.op("chlo." + name, [(self.take(t), t)], props, [t], pretty=" $v$D : $O -> $R")

    def chlo_is(self, name):
        t = self.tensor("f")
        self.op("chlo." + name, [(self.take(t), t)], {}, [t.of("i1")], pretty=" $v$D : $O -> $R")

    def chlo_binary(self, name):
        t = self.tensor(element=self.one("i32", "ui8") if name == "mulhi" else self.one("f32", "f64"))
        self.op("chlo." + name, [(self.take(t), t)] * 2, {}, [t], pretty=" $v$D : $O -> $R")

    def chlo_broadcast(self, name):
        pool = self.BINARY.get(name, "f")
        t = self.static(*pool)
        lesser = self.one(t, Tensor([], t.element))
        props = {}
        if self.chance(0.5):
            if lesser == t or not t.dims:
                pass
            else:
                props["broadcast_dimensions"] = self.ints([])
        self.op("chlo.broadcast_" + name, [(self.take(t), t), (self.take(lesser), lesser)], props, [t],
                pretty=" $v$D : ($O) -> $R")

    def chlo_broadcast_complex(self, _):
        t = self.static(element=self.one("f32", "f64"))
        self.op("chlo.broadcast_complex", [(self.take(t), t)] * 2, {}, [t.of(f"complex<{t.element}>")],
                pretty=" $v$D : ($O) -> $R")

    def chlo_broadcast_compare(self, _):
        t = self.static("f", "i")
        props = {"comparison_direction": self.enum("comparison_direction", "chlo")}
        if self.chance(0.5):
            props["compare_type"] = self.enum("comparison_type", "chlo")
        self.op("chlo.broadcast_compare", [(self.take(t), t)] * 2, props, [t.of("i1")],
                pretty=" $v$D : ($O) -> $R")

    def chlo_broadcast_select(self, _):
        t = self.static()
        p = self.one(t.of("i1"), Tensor([], "i1"))
        self.op("chlo.broadcast_select", [(self.take(p), p), (self.take(t), t), (self.take(t), t)], {},
                [t], pretty=" $v$D : ($O) -> $R")

    def chlo_top_k(self, _):
        t = self.static("i", "f", low=1)
        k = self.number(1, t.dims[-1])
        out = t.dims[:-1] + (k,)
        props = {"k": f"{k} : i64"}
        form = f"($v, k = {k})$D : $O -> ($R)$!k!"
        self.op("chlo.top_k", [(self.take(t), t)], props,
                [Tensor(out, t.element), Tensor(out, "i32")], pretty=form)

    def chlo_constant_like(self, _):
        t = self.tensor(element=self.one("f32", "f64", "i32"))
        value = f"{self.number_text(t.element)} : {t.element}"
        self.op("chlo.constant_like", [(self.take(t), t)], {"value": value}, [t])

    def chlo_ragged_dot(self, _):
        m, k, n, g = (self.number(1, 4) for _ in range(4))
        element = self.one("f32", "bf16")
        a, b, sizes = Tensor([m, k], element), Tensor([g, k, n], element), Tensor([g], "i64")
        parts = ["lhs_contracting_dimensions = [1]", "rhs_contracting_dimensions = [1]",
                 "lhs_ragged_dimensions = [0]", "rhs_group_dimensions = [0]"]
        self.count("attr #chlo.ragged_dot")
        props = {"ragged_dot_dimension_numbers": f"#chlo.ragged_dot<{', '.join(self.shuffled(parts))}>"}
        if self.chance(0.5):
            _, props["precision_config"] = self.precision("chlo")
        self.op("chlo.ragged_dot", [(self.take(a), a), (self.take(b), b), (self.take(sizes), sizes)],
                props, [Tensor([m, n], element)])

    def chlo_scan(self, _):
        n, rest = self.number(2, 4), self.dims(0, 1)
        element = self.one("f32", "i32")
        t, slice_type = Tensor([n] + rest, element), Tensor(rest, element)

        def fill(names):
            value = self.op("stablehlo.add", [(names[0], slice_type), (names[1], slice_type)], {},
                            [slice_type], pretty=" $v$D : $S", plain=True)[0]
            self.returns([(value, slice_type)] * 2)
        region = self.region([slice_type, slice_type], fill, isolated=True)
        operands = [(self.take(t), t), (self.take(slice_type), slice_type)]
        props = {"dimension": "0 : i64", "operandSegmentSizes": "array<i32: 1, 1>",
                 "resultSegmentSizes": "array<i32: 1, 1>"}
        if self.chance(0.4):
            props["is_reverse"] = self.one("true", "false")
        label = self.region_text(region)
        self.op("chlo.scan", operands, props, [t, slice_type], [region],
                pretty=f"($o0) inits ($o1) dimension=0$A {label} : $F$!dimension!"
                "$!operandSegmentSizes!$!resultSegmentSizes!")

    # ---- sdy ----

    def full_or_stripped(self, name, body):
        return body if self.chance(0.8) else f"#sdy.{name}{body}"

    def sdy_constraint(self, name):
        t = self.one(self.tensor(), self.tensor())
        body = self.sharding(len(t.dims), bound=self.bound, plain=True)
        self.op("sdy." + name, [(self.make(t), t)], {"sharding": "#sdy.sharding" + body}, [t],
                pretty=f" $v {body}$D : $R$!sharding!")

    def sdy_group(self, _):
        t = self.tensor()
        number = self.number(0, 99)
        self.op("sdy.sharding_group", [(self.take(t), t)], {"group_id": f"{number} : i64"}, [],
                pretty=f" $v group_id={number}$D : $O$!group_id!")

    def sdy_barrier(self, _):
        t = self.tensor()
        names = ("NONE", "FORWARD", "BACKWARD", "BOTH")
        i = self.number(1, 2) if self.chance(0.5) else 0
        self.op("sdy.propagation_barrier", [(self.take(t), t)], {"allowed_direction": f"{i} : i32"},
                [t], pretty=f" $v allowed_direction={names[i]}$D : $R$!allowed_direction!")

    def single_use(self, t):
        """A value that nothing else uses."""
        name = self.make(t)
        self.scope.values = [v for v in self.scope.values if v[0] != name]
        return name

    def sdy_edge(self, _):
        t = self.static()
        props, form = {}, " $v$D : $R"
        if self.chance(0.6):
            body = self.sharding(len(t.dims), bound=self.bound)
            props["sharding"] = "#sdy.sharding" + body
            form = f" $v sharding={self.full_or_stripped('sharding', body)}$D : $R$!sharding!"
        self.op("sdy.data_flow_edge", [(self.single_use(t), t)], props, [t], pretty=form)

    def sdy_func_edge(self, _):
        t = self.static()
        if self.scope.function is None:
            return
        self.op("sdy.func_data_flow_edge", [(self.single_use(t), t)], {}, [t], pretty=" $v$D : $R")

    def sdy_named(self, _):
        types = [self.one(self.static(), self.static(), TOKEN) for _ in range(self.number(0, 2))]

        def fill(names):
            self.maybe_ops()
            self.returns(list(zip(names, types)), "sdy.return")
        region = self.region(types, fill, isolated=True)
        props = {"name": self.string()}
        form = "<${name}>($v)"
        ranks = [len(t.dims) if isinstance(t, Tensor) else None for t in types]
        for key in ("in_shardings", "out_shardings"):
            if self.chance(0.5) and None not in ranks:
                body = self.per_value(ranks, self.bound)
                props[key] = "#sdy.sharding_per_value" + body
                form += f" {key}={body[1:-1]}$!{key}!"
        heads = ", ".join(f"{n}: {self.spell(t)}" for n, t in region.arguments)
        self.op("sdy.named_computation", [(self.take(t), t) for t in types], props, types, [region],
                pretty=form + f" ({heads}) $0$D : $F")

    def sdy_manual(self, _):
        mesh = self.rng.choice([m for m in self.meshes if MESHES[m]] or [None])
        if mesh is None:
            return
        axes = [a for a in MESHES[mesh] if a[0] not in self.bound]
        manual = self.rng.sample(axes, self.number(0, len(axes)))
        manual.sort(key=lambda a: axes.index(a))
        free = [a for a in axes if a not in manual]
        types, locals_, shardings = [], [], []
        ref = f'@"{mesh}"' if "-" in mesh else f"@{mesh}"
        for _ in range(self.number(0, 2)):
            local = self.static(low=1)
            dims = [[] for _ in local.dims]
            sizes = [1] * len(dims)
            for name, size in self.shuffled(manual):
                if self.chance(0.7):
                    where = self.number(0, len(dims) - 1)
                    dims[where].append((name, None))
                    sizes[where] *= size
            for name, size in self.shuffled(free):
                if self.chance(0.3):
                    dims[self.number(0, len(dims) - 1)].append((name, None))
            types.append(Tensor([d * s for d, s in zip(local.dims, sizes)], local.element))
            locals_.append(local)
            texts = ["{" + ", ".join([self.ref_text(r) for r in refs] + ["?"] * self.chance(0.3)) + "}"
                     for refs in dims]
            shardings.append(f"<{ref}, [{', '.join(texts)}]>")

        def fill(names):
            self.maybe_ops()
            self.returns(list(zip(names, locals_)), "sdy.return")
        region = self.region(locals_, fill, isolated=True, bound=[n for n, _ in manual])
        body = f"[{', '.join(shardings)}]"
        names = "{" + ", ".join(f'"{n}"' for n, _ in manual) + "}"
        self.count("attr #sdy.sharding_per_value")
        self.count("attr #sdy<manual_axes>")
        props = {"in_shardings": f"#sdy.sharding_per_value<{body}>",
                 "out_shardings": f"#sdy.sharding_per_value<{body}>",
                 "manual_axes": f"#sdy<manual_axes{names}>"}
        heads = ", ".join(f"{n}: {self.spell(t)}" for n, t in region.arguments)
        form = f"($v) in_shardings={body} out_shardings={body} manual_axes={names} ({heads}) $0$D : $F"
        form += "$!in_shardings!$!out_shardings!$!manual_axes!"
        self.op("sdy.manual_computation", [(self.take(t), t) for t in types], props, types, [region],
                pretty=form)

    def placed(self, t, dims, unreduced=(), replicated=()):
        """A value with that closed sharding on @mesh."""
        body = self.plain_sharding(dims, replicated, unreduced)
        return self.op("sdy.sharding_constraint", [(self.make(t), t)],
                       {"sharding": "#sdy.sharding" + body}, [t], plain=True,
                       pretty=f" $v {body}$D : $R$!sharding!")[0]

    def plain_sharding(self, dims, replicated=(), unreduced=()):
        text = lambda refs: "{" + ", ".join(self.ref_text(r) for r in refs) + "}"
        out = f"<@mesh, [{', '.join(map(text, dims))}]"
        for word, refs in (("replicated", replicated), ("unreduced", unreduced)):
            out += f", {word}={text(refs)}" if refs else ""
        return out + ">"

    def sdy_collective(self, name):
        if "mesh" not in self.meshes or self.bound:
            return
        t = self.static(low=2, high=3)
        rank = len(t.dims)
        empty = [[] for _ in range(rank)]
        text = lambda refs: "{" + ", ".join(self.ref_text(r) for r in refs) + "}"
        where = self.number(0, rank - 1)
        axes = self.one([("x", None)], [("y", None)], [("y", (1, 2))], [("z", None), ("x", None)])
        full = [list(axes) if i == where else [] for i in range(rank)]
        lists = "[" + ", ".join(text(refs) for refs in full) + "]"
        unreduced = sorted(axes)
        if name in ("all_gather", "sharded_to_unreduced"):
            operand = self.placed(t, full)
            out = self.plain_sharding(empty, unreduced=unreduced if name[0] == "s" else ())
            prop = "gathering_axes" if name == "all_gather" else "axes"
            props = {prop: f"#sdy<list_of_axis_ref_lists{lists}>"}
            head = f" {lists} $v"
        elif name in ("all_slice", "reduce_scatter"):
            operand = self.placed(t, empty)
            if name == "reduce_scatter":
                operand = self.edge_of(t, unreduced)
            out = self.plain_sharding(full)
            prop = "slicing_axes" if name == "all_slice" else "reduce_scatter_axes"
            props = {prop: f"#sdy<list_of_axis_ref_lists{lists}>"}
            head = f" {lists} $v"
        elif name == "all_reduce":
            operand = self.edge_of(t, unreduced)
            out = self.plain_sharding(empty)
            prop = "reduction_axes"
            props = {prop: f"#sdy<axis_ref_list{text(unreduced)}>"}
            head = f" {text(unreduced)} $v"
        elif name == "replicated_to_unreduced":
            operand = self.placed(t, empty)
            out = self.plain_sharding(empty, unreduced=unreduced)
            prop = "axes"
            props = {prop: f"#sdy<axis_ref_list{text(unreduced)}>"}
            head = f" {text(unreduced)} $v"
        elif name == "all_to_all":
            operand = self.placed(t, full)
            target = (where + 1) % rank
            out = self.plain_sharding([list(axes) if i == target else [] for i in range(rank)])
            prop = "params"
            body = f"[{text(axes)}: {where}->{target}]"
            props = {prop: f"#sdy<all_to_all_param_list{body}>"}
            head = f" {body} $v"
        else:
            operand = self.placed(t, full)
            out = self.plain_sharding(full)
            prop, props, head = "out_sharding", {}, " $v"
        props["out_sharding"] = "#sdy.sharding" + out
        self.op("sdy." + name, [(operand, t)], props, [t],
                pretty=f"{head} out_sharding={self.full_or_stripped('sharding', out)}$D : $R"
                f"$!{prop}!$!out_sharding!")

    def edge_of(self, t, unreduced):
        """A value with unreduced axes: only an op that is not of sdy may bring them in."""
        body = self.plain_sharding([[] for _ in t.dims], unreduced=unreduced)
        operand = self.take(t)
        return self.op("stablehlo.negate" if t.element[0] != "u" and t.element != "i1" else
                       "stablehlo.optimization_barrier", [(operand, t)], {}, [t], plain=True,
                       attrs={"sdy.sharding": f"#sdy.sharding_per_value<[{body}]>"})[0]

    # ---- unregistered ops ----

    def foreign(self, _):
        if not self.unregistered:
            return
        types = [self.any_type() for _ in range(self.number(0, 2))]
        results = [self.any_type() for _ in range(self.number(0, 2))]
        operands = [(self.take(t), t) for t in types]
        props = {f"p{self.number(0, 9)}": self.attr() for _ in range(self.number(0, 2))}
        regions = []
        for _ in range(self.one(0, 0, 1, 2)):
            regions.append(self.blocks())
        name = self.one("foo.bar", "foo.op-x", "x.y.z", "nodialect.op")
        self.count("op of another dialect")
        attrs = {}
        self.discardable(name, operands, [], attrs)
        text = self.generic(name, operands, {}, results, regions, attrs)
        if props:
            head, tail = text.split(")", 1)
            text = f"{head}) <{self.dictionary_text(props)}>{tail}"
            self.count("form properties of another dialect")
        names, bound = self.results(results)
        self.scope.lines.append(bound + text + self.maybe_location())
        self.scope.values += list(zip(names, results))

    def blocks(self):
        """A region of several blocks that branch to each other."""
        count = self.number(0, 3)
        self.count("form several blocks" if count > 1 else "form no block" if count == 0 else
                   "form one block")
        if count == 0:
            return Region([], "")
        t = Tensor([], "f32")

        def fill(names):
            labels = [f"^{self.one('b', 'bb', 'x.')}{self.next_name}_{i}" for i in range(count)]
            for i in range(count):
                if i > 0:
                    argument = self.fresh()
                    self.scope.lines.append(f"{labels[i]}({argument}: {t}{self.maybe_location()}):")
                    self.scope.values.append((argument, t))
                visible = list(self.scope.values)
                self.maybe_ops()
                targets = self.rng.sample(labels[1:], self.number(0, count - 1))
                value = [v for v in self.scope.values if v[1] == t]
                if targets:
                    self.count("form successors")
                self.scope.lines.append('"foo.br"()' + (f"[{', '.join(targets)}]" if targets else "") +
                                        " : () -> ()" + self.maybe_location())
                self.scope.values = visible[:len(visible) - (1 if i > 0 else 0)]
        self.foreign_depth += 1
        region = self.region([], fill)
        self.foreign_depth -= 1
        return region

    # ---- choosing ----

    def table(self):
        if hasattr(self, "_table"):
            return self._table
        rows = [(self.rounded, n) for n in self.ROUNDED] + [(self.unary, n) for n in self.UNARY]
        rows += [(self.binary, n) for n in self.BINARY]
        rows += [(self.parts, "real"), (self.parts, "imag"), (self.identity, "partition_id"),
                 (self.identity, "replica_id"), (self.constant, "stablehlo.constant"),
                 (self.constant, "stablehlo.constant"), (self.constant, "stablehlo.constant"),
                 (self.convolution, "convolution"), (self.convolution, "dynamic_conv"),
                 (self.gather, "gather"), (self.gather, "dynamic_gather"),
                 (self.branches, "case"), (self.branches, "if"),
                 (self.all_reduce, "all_reduce"),
                 (self.transfer, "send"), (self.transfer, "recv"),
                 (self.constant, "chlo.constant")]
        rows += [(f, None) for f in (
            self.convert, self.is_finite, self.bitcast_convert, self.clamp, self.compare,
            self.complex, self.select, self.reduce_precision, self.broadcast,
            self.broadcast_in_dim, self.dynamic_broadcast_in_dim, self.reverse, self.transpose,
            self.reshape, self.dynamic_reshape, self.concatenate, self.iota, self.dynamic_iota,
            self.get_dimension_size, self.set_dimension_size, self.dynamic_slice,
            self.dynamic_update_slice, self.slice, self.real_dynamic_slice, self.pad,
            self.dynamic_pad, self.arith_constant, self.tensor_cast, self.create_token,
            self.after_all, self.tuple, self.get_tuple_element, self.optimization_barrier,
            self.dot, self.dot_general, self.einsum, self.unary_einsum, self.cholesky,
            self.triangular_solve, self.fft, self.rng_op, self.rng_bit_generator,
            self.custom_call, self.custom_call, self.composite, self.composite, self.composite, self.call, self.call, self.reduce,
            self.reduce, self.while_op, self.while_op, self.map, self.sort, self.reduce_window,
            self.select_and_scatter, self.scatter, self.torch_index_select, self.all_gather,
            self.reduce_scatter, self.all_to_all, self.collective_broadcast,
            self.cross_replica_sum, self.collective_permute, self.infeed, self.outfeed,
            self.async_ops, self.chlo_broadcast_complex, self.chlo_broadcast_compare,
            self.chlo_broadcast_select, self.chlo_top_k, self.chlo_constant_like,
            self.chlo_ragged_dot, self.chlo_scan)]
        rows += [(self.batch_norm, "batch_norm_" + n) for n in ("training", "inference", "grad")]
        rows += [(self.chlo_unary, n) for n in self.CHLO_UNARY]
        rows += [(self.chlo_is, n) for n in ("is_inf", "is_neg_inf", "is_pos_inf")]
        rows += [(self.chlo_binary, n) for n in ("next_after", "polygamma", "zeta", "mulhi")]
        rows += [(self.chlo_broadcast, n) for n in self.CHLO_BROADCAST]
        if self.meshes:
            rows += [(self.sdy_constraint, "sharding_constraint"), (self.sdy_constraint, "reshard"),
                     (self.sdy_edge, None), (self.sdy_func_edge, None), (self.sdy_named, None),
                     (self.sdy_manual, None)] * 2
            rows += [(self.sdy_collective, n) for n in (
                "all_gather", "all_slice", "sharded_to_unreduced", "reduce_scatter", "all_reduce",
                "replicated_to_unreduced", "all_to_all", "collective_permute")] * 2
        rows += [(self.sdy_group, None), (self.sdy_barrier, None), (self.constant, "sdy.constant")]
        if self.unregistered:
            rows += [(self.foreign, None)] * 20
        self._table = rows
        return rows

    def any_op(self):
        function, name = self.rng.choice(self.table())
        function(name)

    # ---- functions and modules ----

    def argument_attrs(self, t, quoted=False):
        entries = {}
        if self.meshes and isinstance(t, Tensor) and self.chance(0.3):
            entries["sdy.sharding"] = "#sdy.sharding" + self.sharding(len(t.dims))
        if self.chance(0.2):
            entries[self.one("jax.buffer_donor", "tf.aliasing_output", "mhlo.layout_mode")] = self.attr(1)
        return entries

    def function(self, name):
        self.scope = Scope(None, [])
        for _ in range(self.number(0, 5)):
            self.any_op()
        values = self.rng.sample(self.scope.values, min(len(self.scope.values), self.number(0, 3)))
        if self.chance(0.1):
            values = values + values
        results = [t for _, t in values]
        arguments = self.scope.function
        self.op("func.return", values, {}, [],
                pretty="$D $v : $O" if values else "$D")
        last = self.scope.lines.pop()
        if not last.startswith('"') and self.chance(0.8):
            last = last.replace("func.return", "return", 1)
        body = "\n".join(self.scope.lines + [last])
        text = self.head(name, arguments, results, body)
        self.scope = None
        self.callees.append((name, [t for _, t in arguments], results))
        return text

    def head(self, name, arguments, results, body):
        visibility = self.one("", "", "public", "private", "nested")
        if body is None:
            visibility = self.one("private", "nested")
        attrs = {self.name(): self.attr() for _ in range(self.one(0, 0, 1, 2))}
        arg_attrs = [self.argument_attrs(t) for _, t in arguments]
        res_attrs = [self.argument_attrs(t) for t in results]
        self.count("op func.func")
        if body is None:
            self.count("form function without body")
        if self.chance(0.15):
            return self.generic_function(name, arguments, results, body, visibility, attrs,
                                         arg_attrs, res_attrs)
        self.count("pretty func.func")
        parts = []
        for (n, t), own in zip(arguments, arg_attrs):
            text = self.spell(t) if body is None else f"{n}: {self.spell(t)}"
            parts.append(text + (" " + self.dictionary_text(own) if own else "") +
                         (self.maybe_location() if body is not None else ""))
        outs = [self.spell(t) + (" " + self.dictionary_text(own) if own else "")
                for t, own in zip(results, res_attrs)]
        symbol = f'@{name}'
        text = f"func.func {visibility} {symbol}({', '.join(parts)})"
        if len(outs) == 1 and not res_attrs[0] and self.chance(0.8) and not outs[0].startswith("("):
            text += f" -> {outs[0]}"
        elif outs or self.chance(0.1):
            text += f" -> ({', '.join(outs)})"
        if attrs:
            text += " attributes " + self.dictionary_text(attrs)
        if body is not None:
            text += " {\n" + body + "\n}"
        return text + self.maybe_location()

    def generic_function(self, name, arguments, results, body, visibility, attrs, arg_attrs, res_attrs):
        self.count("generic func.func")
        plain = name[1:-1] if name.startswith('"') else name
        kind = self.function_text([t for _, t in arguments], results)
        props = {"function_type": kind, "sym_name": f'"{plain}"'}
        if visibility:
            props["sym_visibility"] = f'"{visibility}"'
        for key, entries in (("arg_attrs", arg_attrs), ("res_attrs", res_attrs)):
            if any(entries) or (entries and self.chance(0.1)):
                props[key] = "[" + ", ".join(self.dictionary_text(e) for e in entries) + "]"
        region = "{\n}"
        if body is not None:
            body = re.sub(r"\nreturn", "\nfunc.return", "\n" + body)
            region = self.region_text(Region(arguments, body))
        text = f'"func.func"() <{self.dictionary_text(props)}> ({region})'
        if attrs:
            text += " " + self.dictionary_text(attrs)
        return text + " : () -> ()" + self.maybe_location()

    def mesh_op(self, name):
        body = MESH_TEXT[name]
        attrs = {self.name(): self.attr(1)} if self.chance(0.2) else {}
        self.count("op sdy.mesh")
        if self.chance(0.2):
            self.count("generic sdy.mesh")
            return self.generic("sdy.mesh", [], {"mesh": "#sdy.mesh" + body, "sym_name": f'"{name}"'},
                                [], [], attrs)
        self.count("pretty sdy.mesh")
        symbol = f'@"{name}"' if "-" in name else f"@{name}"
        body = self.full_or_stripped("mesh", body)
        return f"sdy.mesh {symbol} = {body}" + (" " + self.dictionary_text(attrs) if attrs else "") + \
            self.maybe_location()

    def heading(self):
        """Aliases and the section of resources."""
        lines, tail = [], []
        if self.chance(0.4):
            self.resources = [f"blob{self.index}", f'"odd name {self.index}"'][:self.number(1, 2)]
        for i in range(self.one(0, 0, 1, 2)):
            name = self.one(f"#alias{i}", f"#a.b{i}".replace(".", "_"), f"#x-{i}")
            lines.append(f"{name} = {self.attr()}")
            self.aliases.append(name)
        for i in range(self.one(0, 0, 1)):
            t = str(self.static(high=1))
            lines.append(f"!t{i} = {t}")
            self.type_aliases[f"!t{i}"] = t
        if self.locations and self.chance(0.6):
            count = self.number(1, 3)
            for i in range(count):
                text = f"#loc{i} = loc({self.location()})"
                (tail if self.late else lines).append(text)
            self.location_aliases = [f"#loc{i}" for i in range(count)]
        if self.resources:
            keys = ", ".join(f'{r}: "0x0400000001020304"' for r in self.resources)
            self.count("form resources")
            tail.append("{-#\n dialect_resources: {\n builtin: {" + keys + "}\n }\n#-}")
        return lines, tail

    def program(self):
        head, tail = self.heading()
        names = self.rng.sample(list(MESHES), self.number(0, 3))
        if self.chance(0.5) and "mesh" not in names:
            names.append("mesh")
        self.meshes = []
        parts = []
        for name in names:
            parts.append(self.mesh_op(name))
            self.meshes.append(name)
        for i in range(self.one(1, 1, 2, 3)):
            parts.append(self.function(self.one(f"f{i}", f"main{i}", f'"odd-{i} name"', f"a.b{i}")))
        if self.chance(0.15):
            types = [self.one(self.tensor(), TOKEN) for _ in range(self.number(0, 2))]
            parts.append(self.head("declared", [("", t) for t in types], types[:1], None))
        if self.chance(0.3):
            parts = self.shuffled(parts)
        if self.chance(0.1):
            self.count("form nested module")
            self.count("op builtin.module")
            parts.append("module @inner {\n" + "func.func private @inside()" + "\n}")
        body = "\n".join(parts)
        if self.chance(0.6):
            body = self.module(body)
        text = "\n".join(head + [body] + tail) + "\n"
        # Texts that are only kept are compared as they are: no other blanks in them.
        return self.respaced(text) if self.chance(0.15) and not self.unregistered else text

    def module(self, body):
        self.count("op builtin.module")
        name = self.one("", " @jit_f", ' @"odd name"')
        attrs = {self.one("mhlo.num_partitions", "jax.uses_shape_polymorphism", "foo.x"): self.attr()
                 for _ in range(self.one(0, 1, 2))}
        if self.chance(0.15):
            self.count("generic builtin.module")
            prop = f" <{{sym_name = \"{name[2:].strip(chr(34))}\"}}>" if name else ""
            dictionary = " " + self.dictionary_text(attrs) if attrs else ""
            return f'"builtin.module"(){prop} ({{\n{body}\n}}){dictionary} : () -> ()' + \
                self.maybe_location()
        self.count("pretty builtin.module")
        dictionary = " attributes " + self.dictionary_text(attrs) if attrs else ""
        return f"module{name}{dictionary} {{\n{body}\n}}" + self.maybe_location()

    def respaced(self, text):
        """The same tokens with other blanks and comments between them."""
        self.count("form other blanks")
        out, quoted = [], False
        for i, c in enumerate(text):
            if c == '"' and text[i - 1] != "\\":
                quoted = not quoted
            if c == " " and not quoted and self.chance(0.1):
                c = self.one("\n", "\t", "  ", " // a comment\n", "\n\n  ")
            out.append(c)
        return "".join(out)


def rename(text, old, new):
    """Another name for a value, wherever it is used."""
    return re.sub(re.escape(old) + r"(?![A-Za-z0-9$._-])", new, text)

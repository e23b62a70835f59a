"""Random types and attributes of programs, as text. Each is counted by its kind."""
import collections
import struct

FLOATS = {"f4E2M1FN": 4, "f6E2M3FN": 6, "f6E3M2FN": 6, "f8E3M4": 8, "f8E4M3": 8, "f8E4M3FN": 8,
          "f8E4M3FNUZ": 8, "f8E4M3B11FNUZ": 8, "f8E5M2": 8, "f8E5M2FNUZ": 8, "f8E8M0FNU": 8,
          "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
INTEGERS = {sign + str(width): width for sign in ("i", "ui") for width in (2, 4, 8, 16, 32, 64)}
COMPLEX = ("complex<f32>", "complex<f64>")
OTHER_INTEGERS = {"si4": 4, "si8": 8, "si16": 16, "si32": 32, "si64": 64, "index": 64, "i7": 7,
                  "ui5": 5}
STRINGS = ("", "a", "a b", "x-y", 'q\\"q', "back\\\\slash", "tab\\tnew\\nline", "\\C3\\B6", "\\00",
           "ünïcode", "// no comment", "loc(", "a\\22b", "{}", "\\7F", "%0 = #x")
WORDS = ("a", "b", "name", "x.y", "foo_bar", "k1", "_under", "z$k", "i32", "f32", "dense", "tensor")
MESHES = {
    "mesh": [("x", 2), ("y", 4), ("z", 3)],
    "other": [("x", 2), ("y", 4), ("z", 3)],
    "big": [("a", 8), ("b", 6), ("c", 1)],
    "odd-name": [("x", 2), ("long name", 4)],
    "empty": [],
    "one": [],
}
MESH_TEXT = {
    "mesh": '<["x"=2, "y"=4, "z"=3]>',
    "other": '<["x"=2, "y"=4, "z"=3], device_ids=[%s]>' % ", ".join(map(str, reversed(range(24)))),
    "big": '<["a"=8, "b"=6, "c"=1]>',
    "odd-name": '<["x"=2, "long name"=4], device_ids=[0, 1, 2, 3, 4, 5, 6, 7]>',
    "empty": "<[]>",
    "one": "<[], device_ids=[3]>",
}


def is_float(element):
    return element in FLOATS


def is_complex(element):
    return element.startswith("complex")


def is_integer(element):
    return not is_float(element) and not is_complex(element)


class Tensor:
    """A ranked tensor type; a dimension None is dynamic."""

    def __init__(self, dims, element, encoding=""):
        self.dims = tuple(dims)
        self.element = element
        self.encoding = encoding

    def __str__(self):
        dims = "".join(("?" if d is None else str(d)) + "x" for d in self.dims)
        return f"tensor<{dims}{self.element}{self.encoding}>"

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def of(self, element):
        return Tensor(self.dims, element, self.encoding)


class Text:
    def __init__(self, rng):
        self.rng = rng
        self.counts = collections.Counter()
        self.meshes = []  # names of those that are declared
        self.aliases = []  # (name, kind) of attribute aliases
        self.type_aliases = {}
        self.resources = []
        self.unregistered = False

    def count(self, kind):
        self.counts[kind] += 1

    def chance(self, p):
        return self.rng.random() < p

    def one(self, *values):
        return self.rng.choice(values)

    def number(self, low, high):
        return self.rng.randint(low, high)

    def shuffled(self, values):
        values = list(values)
        self.rng.shuffle(values)
        return values

    # ---- types ----

    def element(self, *kinds):
        """An element type of one of the kinds: f, i (without i1), b (i1), s (signed), c."""
        pools = {"f": list(FLOATS), "i": list(INTEGERS), "b": ["i1"], "c": list(COMPLEX),
                 "s": [e for e in INTEGERS if e[0] == "i"]}
        if not kinds:
            kinds = ("f", "i", "b", "c")
        pool = self.rng.choice([pools[k] for k in kinds])
        return self.rng.choice(pool)

    def dims(self, low=0, high=4, smallest=1, largest=5):
        return [self.number(smallest, largest) for _ in range(self.number(low, high))]

    def tensor(self, *kinds, low=0, high=4, element=None):
        element = element or self.element(*kinds)
        dims = self.dims(low, high, 0 if self.chance(0.05) else 1)
        encoding = ""
        if dims and self.chance(0.1):
            dims = [None if self.chance(0.5) else d for d in dims]
            if None in dims and self.chance(0.4):
                encoding = self.bounds(dims)
        return Tensor(dims, element, encoding)

    def static(self, *kinds, low=0, high=4, element=None):
        return Tensor(self.dims(low, high), element or self.element(*kinds))

    def bounds(self, dims):
        bounds = ", ".join("?" if d is not None or self.chance(0.2) else str(self.number(1, 9))
                           for d in dims)
        if bounds.replace("?", "").replace(", ", "") == "":
            return ""
        self.count("attr #stablehlo.bounds")
        if self.chance(0.3):
            self.count("attr #stablehlo.type_extensions")
            return f", #stablehlo.type_extensions<bounds = [{bounds}]>"
        return f", #stablehlo.bounds<{bounds}>"

    def spell(self, value_type):
        """The type as it is written, counted; perhaps by an alias."""
        if isinstance(value_type, Tensor):
            self.count("type " + value_type.element)
            self.count("type tensor")
            if not value_type.dims:
                self.count("type tensor, rank 0")
            if None in value_type.dims:
                self.count("type tensor, dynamic")
            if 0 in value_type.dims:
                self.count("type tensor, size 0")
            if value_type.encoding:
                self.count("type tensor, encoding")
        text = str(value_type)
        if text.startswith("tuple"):
            self.count("type tuple")
        elif text.startswith("!stablehlo"):
            self.count("type " + text.split("<")[0])
        for name, meant in self.type_aliases.items():
            if meant == text and self.chance(0.7):
                self.count("type alias")
                return name
        return text

    def any_type(self, depth=2):
        kind = self.number(0, 24)
        if kind <= 4 or depth == 0:
            return self.spell(self.tensor())
        if kind == 5 or kind > 15:
            element = self.one(*FLOATS, *INTEGERS, *OTHER_INTEGERS, "i1", "none", "tf32", "i128",
                               "f80", "f128", *COMPLEX)
            self.count("type scalar " + element)
            return element
        if kind == 6:
            inner = [self.any_type(depth - 1) for _ in range(self.number(0, 3))]
            self.count("type tuple")
            return f"tuple<{', '.join(inner)}>"
        if kind == 7:
            self.count("type function")
            return self.function_type(depth - 1)
        if kind == 8:
            self.count("type !stablehlo.token")
            return "!stablehlo.token"
        if kind == 9:
            inner = [self.spell(self.tensor()) for _ in range(self.number(1, 2))]
            self.count("type !stablehlo.future")
            return f"!stablehlo.future<{', '.join(inner)}>"
        if kind == 10:
            self.count("type tensor, unranked")
            return f"tensor<*x{self.element()}>"
        if kind == 11:
            self.count("type memref")
            dims = "".join(f"{self.one('?', 2, 3)}x" for _ in range(self.number(0, 3)))
            return f"memref<{dims}{self.element('f', 'i')}>"
        if kind == 12:
            self.count("type vector")
            dims = "".join(f"{self.number(1, 4)}x" for _ in range(self.number(0, 3)))
            return f"vector<{dims}{self.one('f32', 'i8', 'bf16', 'i64')}>"
        if kind == 13:
            element = self.one("i8", "i32", "f16", "f64")
            self.count("type complex of other")
            return f"complex<{element}>"
        if kind == 14 and self.unregistered:
            self.count("type opaque")
            return self.one("!foo.bar", "!foo.bar<1, \"a\", [x]>", "!foo<baz i32>",
                            "!foo.bar<tensor<2xf32>>", "!foo.b<(a)->b>")
        return self.spell(self.tensor("f", "i"))

    def function_type(self, depth=1):
        inputs = ", ".join(self.any_type(depth) for _ in range(self.number(0, 2)))
        results = [self.any_type(depth) for _ in range(self.number(0, 2))]
        if len(results) == 1 and not results[0].startswith("("):
            return f"({inputs}) -> {self.one(results[0], '(' + results[0] + ')')}"
        return f"({inputs}) -> ({', '.join(results)})"

    # ---- numbers ----

    def integer(self, width, signed=True):
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
        kind = self.number(0, 9)
        if kind == 0:
            return low
        if kind == 1:
            return high
        if kind <= 6:
            return self.number(max(low, -9), min(high, 9))
        return self.number(low, high)

    def integer_text(self, element):
        if element == "i1":
            self.count("number bool")
            return self.one("true", "false", "0", "1", "-1")
        width = {**INTEGERS, **OTHER_INTEGERS}[element]
        value = self.integer(width, not element.startswith("u"))
        if value >= 0 and self.chance(0.1):
            self.count("number hex integer")
            return hex(value) if self.chance(0.5) else "0x%X" % value
        self.count("number integer")
        return str(value)

    def float_text(self, element="f64"):
        kind = self.number(0, 11)
        width = FLOATS.get(element, 64)
        if kind <= 1:
            self.count("number hex float")
            return "0x%0*X" % ((width + 3) // 4, self.rng.getrandbits(width))
        if kind == 2 and width >= 16:
            self.count("number inf or nan")
            return {"f16": self.one("0x7C00", "0xFC00", "0x7E00"),
                    "bf16": self.one("0x7F80", "0xFF80", "0x7FC0"),
                    "f32": self.one("0x7F800000", "0xFF800000", "0x7FC00000", "0xFFC00001"),
                    "f64": self.one("0x7FF0000000000000", "0xFFF0000000000000",
                                    "0x7FF8000000000000")}[element]
        self.count("number float")
        sign = "-" if self.chance(0.3) and element != "f8E8M0FNU" else ""
        if kind == 3:
            return sign + self.one("0.0", "1.0", "2.", "0.5", "1.5", "4.0e+00")
        if kind == 4 and width >= 32:
            bits = self.rng.getrandbits(width)
            value = abs(struct.unpack("<f" if width == 32 else "<d",
                                      bits.to_bytes(width // 8, "little"))[0])
            text = repr(value)
            if value == value and value != float("inf"):
                return sign + (text if "." in text else text.replace("e", ".0e"))
        if kind == 5:
            return sign + "%d.%de%+d" % (self.number(0, 99), self.number(0, 10 ** self.number(1, 9)),
                                         self.number(-3, 3))
        if kind == 6 and width >= 32:
            return sign + "%d.0" % self.number(0, 10 ** self.number(1, 18))
        if kind == 7 and width >= 32:
            return sign + "%d.%dE%d" % (self.number(0, 9), self.number(0, 999999),
                                        self.number(-30, 30))
        return sign + self.one("%.6e", "%f", "%.3f") % (self.number(1, 10000) / self.one(1, 3, 7, 64))

    def number_text(self, element):
        if is_complex(element):
            part = element[8:-1]
            self.count("number complex")
            return f"({self.float_text(part)}, {self.float_text(part)})"
        return self.float_text(element) if is_float(element) else self.integer_text(element)

    # ---- dense ----

    def dense(self, tensor):
        """dense<..> without its type; the type has a static shape."""
        count = 1
        for d in tensor.dims:
            count *= d
        element = tensor.element
        if count == 0:
            self.count("dense empty")
            return "dense<>"
        if self.resources and self.chance(0.1) and not is_complex(element):
            self.count("attr dense_resource")
            return f"dense_resource<{self.rng.choice(self.resources)}>"
        if self.chance(0.3) or count > 400:
            self.count("dense splat")
            return f"dense<{self.number_text(element)}>"
        if self.chance(0.15):
            self.count("dense blob")
            return f'dense<"0x{self.blob(element, count)}">'
        if count > 100:
            self.count("dense over 100 elements")
        self.count("dense list")
        return f"dense<{self.nested(element, tensor.dims)}>"

    def blob(self, element, count):
        part = element[8:-1] if is_complex(element) else element
        width = 1 if element == "i1" else {**FLOATS, **INTEGERS}[part]
        size = 1 if width < 8 else width // 8
        if is_complex(element):
            count *= 2
        if self.chance(0.2) and width >= 8:
            count = 2 if is_complex(element) else 1
        return "".join(self.one("%02X", "%02x") %
                       (self.rng.getrandbits(width) if width < 8 else self.rng.getrandbits(8))
                       for _ in range(count * size))

    def nested(self, element, dims):
        if not dims:
            return self.number_text(element)
        inner = [self.nested(element, dims[1:]) for _ in range(dims[0])]
        return "[" + ", ".join(inner) + "]"

    def elements(self, tensor=None):
        tensor = tensor or self.static(low=0, high=3)
        self.count("attr dense")
        return f"{self.dense(tensor)} : {self.spell(tensor)}"

    def matrix(self, rows):
        """A dense i64 matrix."""
        width = len(rows[0]) if rows else 0
        if rows and width and all(v == rows[0][0] for r in rows for v in r):
            return f"dense<{rows[0][0]}> : tensor<{len(rows)}x{width}xi64>"
        if not rows or not width:
            return f"dense<> : tensor<{len(rows)}x{width}xi64>"
        text = ", ".join("[" + ", ".join(map(str, r)) + "]" for r in rows)
        return f"dense<[{text}]> : tensor<{len(rows)}x{width}xi64>"

    # ---- attributes ----

    def string(self):
        self.count("attr string")
        return '"%s"' % self.rng.choice(STRINGS)

    def ints(self, values):
        self.count("attr dense array")
        values = list(values)
        return "array<i64: %s>" % ", ".join(map(str, values)) if values else "array<i64>"

    def dense_array(self):
        self.count("attr dense array")
        element = self.one("i1", "i8", "i16", "i32", "i64", "f32", "f64", "f16", "bf16", "si8",
                           "ui32")
        self.count("attr array of " + element)
        values = []
        for _ in range(self.number(0, 4)):
            if element == "i1":
                values.append(self.one("true", "false"))
            elif element in FLOATS:
                values.append(self.float_text(element))
            else:
                values.append(self.integer_text(element))
        return f"array<{element}: {', '.join(values)}>" if values else f"array<{element}>"

    def name(self):
        """The name of a discardable attribute."""
        if self.chance(0.15):
            return self.one('"x-y"', '"a b"', '"0"', '"q\\"q"', '"ä"', '"plain"')
        if self.chance(0.3):
            return self.one("mhlo.frontend_attributes", "mhlo.layout_mode", "jax.result_info",
                            "tf.aliasing_output", "jax.buffer_donor", "foo.bar")
        return self.one(*WORDS) + str(self.number(0, 99))

    def dictionary(self, depth=2, most=3):
        entries = {}
        for _ in range(self.number(0, most)):
            entries[self.name()] = self.attr(depth - 1)
        return self.dictionary_text(entries)

    def dictionary_text(self, entries):
        parts = []
        for name, value in entries.items():
            if value == "unit" and self.chance(0.8):
                self.count("attr unit")
                parts.append(name)
            else:
                parts.append(f"{name} = {value}")
        return "{" + ", ".join(parts) + "}"

    def attr(self, depth=2):
        kind = self.number(0, 23)
        if self.aliases and self.chance(0.06):
            self.count("attr alias")
            return self.rng.choice(self.aliases)
        if kind <= 1:
            element = self.one("i1", *INTEGERS, *OTHER_INTEGERS, "i64", "i32")
            self.count("attr integer")
            if element == "i1":
                return self.one("true", "false", "1 : i1", "0 : i1", "-1 : i1")
            text = self.integer_text(element)
            if element == "i64" and self.chance(0.5):
                return text
            self.count("attr integer " + element)
            return f"{text} : {element}"
        if kind <= 3:
            element = self.one(*FLOATS, "f32", "f64")
            self.count("attr float")
            text = self.float_text(element)
            if element == "f64" and not text.startswith("0x") and self.chance(0.5):
                return text
            self.count("attr float " + element)
            return f"{text} : {element}"
        if kind <= 5:
            if self.chance(0.05):
                self.count("attr string, typed")
                return f"{self.string()} : {self.element('f', 'i')}"
            return self.string()
        if kind == 6 and depth > 0:
            self.count("attr array")
            inner = [self.attr(depth - 1) for _ in range(self.number(0, 4))]
            return "[" + ", ".join(inner) + "]"
        if kind == 7 and depth > 0:
            self.count("attr dictionary")
            return self.dictionary(depth)
        if kind == 8:
            return "unit"
        if kind == 9:
            self.count("attr symbol")
            return self.one("@f", "@a::@b", '@"x-y"', "@a::@b::@c", '@"a b"::@c', "@main", "@_x$")
        if kind in (10, 22, 23):
            self.count("attr type")
            return self.any_type(depth)
        if kind == 11:
            return self.dense_array()
        if kind <= 13:
            return self.elements()
        if kind <= 16:
            return self.dialect_attr()
        if kind == 17:
            return self.sdy_attr()
        if kind == 18 and self.unregistered:
            self.count("attr opaque")
            return self.one("#foo.bar", "#foo.bar<1, \"a\">", "#foo<baz [x, (y)]>",
                            "#foo.bar<tensor<2xf32>>", "#foo.b<a -> b>", "#foo<\"x>y\">")
        self.count("attr integer")
        return str(self.number(-99, 99))

    def int_list(self, low=0, high=3):
        return "[" + ", ".join(str(self.number(0, 5)) for _ in range(self.number(low, high))) + "]"

    def fields(self, name, lists, shown=()):
        """A struct with its fields in any order, those that may lack left out at times."""
        parts = []
        for field in lists:
            if field in shown or self.chance(0.7):
                parts.append(f"{field} = {self.int_list()}")
        if "index_vector_dim" not in shown and name in ("gather", "scatter") and self.chance(0.7):
            parts.append(f"index_vector_dim = {self.number(0, 3)}")
        return f"<{', '.join(self.shuffled(parts))}>"

    GATHER = ("offset_dims", "collapsed_slice_dims", "operand_batching_dims",
              "start_indices_batching_dims", "start_index_map")
    SCATTER = ("update_window_dims", "inserted_window_dims", "input_batching_dims",
               "scatter_indices_batching_dims", "scatter_dims_to_operand_dims")
    DOT = ("lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
           "rhs_contracting_dimensions")
    ENUMS = {
        "precision": ("DEFAULT", "HIGH", "HIGHEST"),
        "comparison_direction": ("EQ", "NE", "GE", "GT", "LE", "LT"),
        "comparison_type": ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"),
        "fft_type": ("FFT", "IFFT", "RFFT", "IRFFT"),
        "transpose": ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
        "rng_distribution": ("UNIFORM", "NORMAL"),
        "rng_algorithm": ("DEFAULT", "THREE_FRY", "PHILOX"),
    }

    def enum(self, name, dialect="stablehlo", value=None):
        self.count(f"attr #{dialect}<{name}>")
        value = value or self.rng.choice(self.ENUMS[name])
        return self.one(f"#{dialect}<{name} {value}>", f"#{dialect}<{name} {value} >"
                        ) if self.chance(0.2) else f"#{dialect}<{name} {value}>"

    def channel(self, kind=None):
        self.count("attr #stablehlo.channel_handle")
        parts = self.shuffled([f"handle = {self.number(1, 9)}",
                               f"type = {self.number(0, 1) if kind is None else kind}"])
        return f"#stablehlo.channel_handle<{', '.join(parts)}>"

    def accuracy(self, dialect="stablehlo"):
        self.count(f"attr #{dialect}.result_accuracy")
        mode = self.one("DEFAULT", "HIGHEST", "TOLERANCE")
        parts = []
        if mode == "TOLERANCE":
            for field in ("atol", "rtol"):
                if self.chance(0.7):
                    parts.append(f"{field} = {self.one('1.0e-05', '0.0', '1.5', '0.1', '2.0E-7')}")
            if self.chance(0.7):
                parts.append(f"ulps = {self.number(0, 9)}")
        parts.append(f"mode = #{dialect}.result_accuracy_mode<{mode}>")
        return f"#{dialect}.result_accuracy<{', '.join(parts)}>"

    def algorithm(self, stripped=False):
        self.count("attr #stablehlo.dot_algorithm")
        kinds = self.one(("tf32", "f32", 1, "false"), ("bf16", "f32", 1, "false"),
                         ("bf16", "f32", 3, "false"), ("f16", "f32", 1, "false"),
                         ("f32", "f32", 1, "false"), ("f64", "f64", 1, "false"))
        parts = [f"lhs_precision_type = {kinds[0]}", f"rhs_precision_type = {kinds[0]}",
                 f"accumulation_type = {kinds[1]}", "lhs_component_count = 1",
                 "rhs_component_count = 1", f"num_primitive_operations = {kinds[2]}",
                 f"allow_imprecise_accumulation = {kinds[3]}"]
        text = f"<{', '.join(parts)}>"
        return text if stripped else "#stablehlo.dot_algorithm" + text

    def conv_numbers(self, spatial, layouts=None, stripped=False):
        """Of `spatial` dimensions; the layouts are lists of b, f or i, o and numbers."""
        if layouts is None:
            numbers = list(range(spatial))
            layouts = [self.shuffled(["b", "f"] + numbers), self.shuffled(["i", "o"] + numbers),
                       self.shuffled(["b", "f"] + numbers)]
        texts = ["[" + ", ".join(map(str, one)) + "]" for one in layouts]
        pretty = f"{texts[0]}x{texts[1]}->{texts[2]}"
        if stripped:
            return pretty
        self.count("attr #stablehlo.conv")
        if self.chance(0.3):
            self.count("attr #stablehlo.conv raw")
            first, kernel, last = layouts
            spots = lambda one: "[" + ", ".join(str(one.index(i)) for i in range(spatial)) + "]"
            parts = [f"input_batch_dimension = {first.index('b')}",
                     f"input_feature_dimension = {first.index('f')}",
                     f"input_spatial_dimensions = {spots(first)}",
                     f"kernel_input_feature_dimension = {kernel.index('i')}",
                     f"kernel_output_feature_dimension = {kernel.index('o')}",
                     f"kernel_spatial_dimensions = {spots(kernel)}",
                     f"output_batch_dimension = {last.index('b')}",
                     f"output_feature_dimension = {last.index('f')}",
                     f"output_spatial_dimensions = {spots(last)}"]
            return f"#stablehlo.conv<raw {', '.join(self.shuffled(parts))}>"
        return f"#stablehlo.conv<{pretty}>"

    def operand_alias(self, operands=1):
        self.count("attr #stablehlo.output_operand_alias")
        parts = ["output_tuple_indices = []", f"operand_index = {self.number(0, operands - 1)}",
                 "operand_tuple_indices = []"]
        return f"#stablehlo.output_operand_alias<{', '.join(parts)}>"

    def mesh_axes(self, axes, mesh=None):
        """The replica groups along (name, sub-axis or None) of a mesh by symbol, or an inline one."""
        refs = []
        for name, sub in axes:
            sub = f", sub_axis_info = ({sub[0]}){sub[1]}" if sub else ""
            self.count("attr #stablehlo.axis_ref")
            refs.append(f'#stablehlo.axis_ref<name = "{name}"{sub}>')
        self.count("attr #stablehlo.replica_group_mesh_axes")
        mesh = mesh or self.stablehlo_mesh([("x", 2), ("y", 4)])
        parts = [f"mesh = {mesh}", f"axes = [{', '.join(refs)}]"]
        return f"#stablehlo.replica_group_mesh_axes<{', '.join(self.shuffled(parts))}>"

    def stablehlo_mesh(self, axes):
        self.count("attr #stablehlo.mesh")
        total = 1
        parts = []
        for name, size in axes:
            total *= size
            self.count("attr #stablehlo.mesh_axis")
            full = self.one("", "#stablehlo.mesh_axis")
            parts.append(f'{full}<name = "{name}", size = {size}>')
        ids = ""
        if self.chance(0.4):
            values = self.shuffled(range(total))
            ids = ", device_ids=dense<[%s]> : tensor<%dxi64>" % (", ".join(map(str, values)), total)
        return f"#stablehlo.mesh<axes=[{', '.join(parts)}]{ids}>"

    def dialect_attr(self):
        kind = self.number(0, 15)
        if kind == 0:
            self.count("attr #stablehlo.gather")
            return "#stablehlo.gather" + self.fields("gather", self.GATHER)
        if kind == 1:
            self.count("attr #stablehlo.scatter")
            return "#stablehlo.scatter" + self.fields("scatter", self.SCATTER)
        if kind == 2:
            self.count("attr #stablehlo.dot")
            return "#stablehlo.dot" + self.fields("dot", self.DOT)
        if kind == 3:
            return self.conv_numbers(self.number(0, 3))
        if kind <= 5:
            return self.enum(self.rng.choice(list(self.ENUMS)))
        if kind == 6:
            return self.channel()
        if kind == 7:
            return self.accuracy()
        if kind == 8:
            return self.algorithm()
        if kind == 9:
            return self.operand_alias()
        if kind == 10:
            return self.mesh_axes([("x", None)] if self.chance(0.5) else [("y", (1, 2)), ("x", None)])
        if kind == 11:
            return self.stablehlo_mesh([("x", 2), ("a b", 3)][:self.number(1, 2)])
        if kind == 12:
            self.count("attr #chlo.ragged_dot")
            return "#chlo.ragged_dot" + self.fields(
                "ragged", self.DOT + ("lhs_ragged_dimensions", "rhs_group_dimensions"))
        if kind == 13:
            name = self.one("precision", "comparison_direction", "comparison_type")
            return self.enum(name, "chlo")
        self.count("attr #stablehlo.result_accuracy_mode")
        return f"#stablehlo.result_accuracy_mode<{self.one('DEFAULT', 'HIGHEST', 'TOLERANCE')}>"

    # ---- sdy ----

    def axis_refs(self, mesh):
        """Axes and sub-axes of a mesh that may stand in one sharding."""
        refs = []
        for name, size in MESHES[mesh]:
            kind = self.number(0, 5)
            if kind <= 1:
                refs.append((name, None))
            elif size in (4, 8) and kind == 2:
                refs.append((name, (1, 2)))
            elif size in (4, 8) and kind == 3:
                refs += [(name, (2, 2)), (name, (1, 2))]
            elif size == 8 and kind == 4:
                refs.append((name, (2, 4)))
            elif size == 6 and kind == 4:
                refs.append((name, self.one((2, 3), (3, 2), (1, 3))))
        return refs

    def ref_text(self, ref):
        self.count("attr sdy axis" if ref[1] is None else "attr sdy sub-axis")
        return f'"{ref[0]}"' + (f":({ref[1][0]}){ref[1][1]}" if ref[1] else "")

    @staticmethod
    def merged(refs):
        """Without those that could be merged with the one before."""
        kept = []
        for ref in refs:
            last = kept[-1] if kept else None
            if last and last[1] and ref[1] and last[0] == ref[0] and \
                    last[1][0] * last[1][1] == ref[1][0]:
                continue
            kept.append(ref)
        return kept

    def mesh_ref(self, mesh):
        if self.chance(0.1):
            self.count("attr sdy inlined mesh")
            return "mesh" + MESH_TEXT[mesh]
        return f'@"{mesh}"' if "-" in mesh or self.chance(0.03) else f"@{mesh}"

    def sharding(self, rank, mesh=None, bound=(), plain=False, axes=None):
        """The body of a sharding, with no axis of `bound`; `plain`: no unreduced axes."""
        mesh = mesh or self.rng.choice(self.meshes)
        self.count("attr #sdy.sharding")
        if mesh == "one":
            return "<@one, []>"
        if axes is None:
            axes = [r for r in self.axis_refs(mesh) if r[0] not in bound]
        places = [[] for _ in range(rank + 2)]
        for ref in self.shuffled(axes):
            where = self.number(0, rank + 1)
            if plain and where == rank + 1:
                continue
            places[where].append(ref)
        order = [name for name, _ in MESHES[mesh]]
        key = lambda ref: (order.index(ref[0]), ref[1] or (0, 0))
        return self.sharding_text(mesh, places[:rank], sorted(places[rank], key=key),
                                  sorted(places[rank + 1], key=key))

    def sharding_text(self, mesh, dims, replicated=(), unreduced=(), closed=False):
        texts = []
        for refs in dims:
            parts = [self.ref_text(r) for r in self.merged(refs)]
            is_open = not closed and self.chance(0.4)
            if is_open:
                self.count("attr sdy open dimension")
                parts.append("?")
            priority = ""
            if parts and not closed and self.chance(0.15):
                self.count("attr sdy priority")
                priority = f"p{self.number(0, 12)}"
            texts.append("{" + ", ".join(parts) + "}" + priority)
        named = []
        for word, refs in (("replicated", replicated), ("unreduced", unreduced)):
            refs = self.merged(refs)
            if refs:
                self.count("attr sdy " + word)
                named.append(f"{word}={{{', '.join(self.ref_text(r) for r in refs)}}}")
        if self.chance(0.3):
            named.reverse()
        return "<" + ", ".join([self.mesh_ref(mesh), "[" + ", ".join(texts) + "]"] + named) + ">"

    def per_value(self, ranks, bound=()):
        self.count("attr #sdy.sharding_per_value")
        return "<[" + ", ".join(self.sharding(r, bound=bound) for r in ranks) + "]>"

    def rule(self, operands, results):
        """A rule of factors for values of these shapes: each dimension one factor or two."""
        self.count("attr #sdy.op_sharding_rule")
        sizes = []
        by_size = {}

        def factor(size, taken):
            for f in by_size.get(size, ()):
                if f not in taken and self.chance(0.7):
                    return f
            sizes.append(size)
            by_size.setdefault(size, []).append(len(sizes) - 1)
            return len(sizes) - 1

        def mapping(dims):
            taken = []
            parts = []
            for d in dims:
                mine = [factor(d, taken)]
                taken += mine
                if d > 1 and self.chance(0.1):
                    mine.append(factor(2, taken))
                    taken.append(mine[-1])
                    if 1 in [sizes[f] for f in mine]:
                        taken.pop()
                        mine.pop()
                parts.append("".join(map(symbol, mine)))
            used_in.append(set(taken))
            return "[" + ", ".join(parts) + "]"

        def symbol(f):
            return chr(ord("i") + f) if f < 18 else f"z_{f - 17}"

        used_in = []
        first = ", ".join(mapping(d) for d in operands)
        in_operands = set().union(*used_in) if used_in else set()
        used_in = []
        last = ", ".join(mapping(d) for d in results)
        in_results = set().union(*used_in) if used_in else set()
        used = in_operands | in_results
        if used != set(range(len(sizes))):
            return None
        groups = {"reduction": [], "need_replication": [], "permutation": []}
        blocked = []
        for f in range(len(sizes)):
            if self.chance(0.5):
                names = ["need_replication", "permutation"] + ["reduction"] * (f not in in_results)
                groups[self.rng.choice(names)].append(f)
            if self.chance(0.1):
                blocked.append(f)
        text = f"<({first})->({last})"
        if sizes:
            text += " {" + ", ".join(f"{symbol(f)}={s}" for f, s in enumerate(sizes)) + "}"
        for name, members in list(groups.items()) + [("blocked_propagation", blocked)]:
            if members:
                text += f" {name}={{{', '.join(map(symbol, members))}}}"
        return text + (", custom>" if self.chance(0.3) else ">")

    def edges(self, operands, results):
        self.count("attr #sdy.propagation_edges")
        values = [f"operand-{i}" for i in range(operands)] + [f"result-{i}" for i in range(results)]
        steps = []
        for step in self.shuffled(range(9))[:self.number(0, 3)]:
            parts = []
            for axis in self.shuffled(['"x"', '"y"', '"x":(1)2'])[:self.number(1, 2)]:
                source = self.rng.choice(values)
                targets = [v for v in self.shuffled(values) if v != source][:self.number(1, 3)]
                if targets:
                    parts.append(f"{{{axis} = {source} -> [{', '.join(targets)}]}}")
            if parts:
                steps.append(f"{{step-{step} = [{', '.join(parts)}]}}")
        if not steps:
            steps.append('{step-0 = [{"x" = operand-0 -> [result-0]}]}')
        return f"<[{', '.join(steps)}]>"

    def ref_list(self, low=0):
        refs = [r for r in self.axis_refs("mesh")]
        return "{" + ", ".join(self.ref_text(r) for r in refs) + "}" if refs or low == 0 else '{"x"}'

    def sdy_attr(self):
        kind = self.number(0, 13)
        if kind == 0 and self.meshes:
            return "#sdy.sharding" + self.sharding(self.number(0, 3))
        if kind == 1 and self.meshes:
            return "#sdy.sharding_per_value" + self.per_value([1] * self.number(0, 2))
        if kind == 2:
            self.count("attr #sdy.mesh")
            return "#sdy.mesh" + self.rng.choice(list(MESH_TEXT.values()))
        if kind == 3:
            rule = self.rule([self.dims(0, 3)], [self.dims(0, 3)])
            return "#sdy.op_sharding_rule" + (rule or "<([i])->([i]) {i=2}>")
        if kind == 4:
            return "#sdy.propagation_edges" + self.edges(2, 1)
        if kind == 5:
            self.count("attr #sdy<axis_ref>")
            return f"#sdy<axis_ref{self.ref_text(('x', None) if self.chance(0.5) else ('y', (1, 2)))}>"
        if kind == 6:
            self.count("attr #sdy<dimension_sharding>")
            body = self.one('{}', '{?}', '{"x"}', '{"x", ?}p1', '{"y":(1)2}p0', '{"x", "y":(2)2}')
            return f"#sdy<dimension_sharding{body}>"
        if kind == 7:
            self.count("attr #sdy<manual_axes>")
            return f"#sdy<manual_axes{self.one('{}', '{%s}' % 'X')}>".replace("X", '"x", "y"')
        if kind == 8:
            self.count("attr #sdy<axis_ref_list>")
            return f"#sdy<axis_ref_list{self.ref_list()}>"
        if kind == 9:
            self.count("attr #sdy<list_of_axis_ref_lists>")
            lists = ", ".join(self.ref_list() for _ in range(self.number(0, 3)))
            return f"#sdy<list_of_axis_ref_lists[{lists}]>"
        if kind == 10:
            self.count("attr #sdy<all_to_all_param_list>")
            params = ", ".join(f"{self.ref_list(1)}: {self.number(0, 3)}->{self.number(0, 3)}"
                               for _ in range(self.number(0, 2)))
            return f"#sdy<all_to_all_param_list[{params}]>"
        if kind == 11:
            self.count("attr #sdy<mesh_axis>")
            return f'#sdy<mesh_axis"x"={self.number(1, 9)}>'
        if kind == 12:
            self.count("attr #sdy<sub_axis_info>")
            return f"#sdy<sub_axis_info({self.number(1, 4)}){self.number(2, 4)}>"
        self.count("attr #sdy<all_to_all_param>")
        return f"#sdy<all_to_all_param{self.ref_list(1)}: 0->1>"

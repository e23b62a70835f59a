"""Programs made wrong, most of them: a token deleted, doubled, swapped, or changed for another."""
import re

TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|\{-#|#-\}|[%#!^@][A-Za-z0-9_$.-]+|@"[^"\n]*"|0x[0-9a-fA-F]+|'
    r"\d+(?:\.\d*(?:[eE][+-]?\d+)?)?|[A-Za-z_][A-Za-z0-9_$.]*|\s+|.", re.S)
TYPES = ("tensor<2xf32>", "tensor<f32>", "i32", "tensor<?xi8>", "!stablehlo.token", "tuple<>",
         "tensor<4x4xi64>", "index", "tensor<*xf32>")
MARKS = ("(", ")", "{", "}", "[", "]", "<", ">", ",", ":", "=", "->", "-", "?", "::", "...")


def tokens(text):
    return TOKEN.findall(text)


def spots(parts, fits):
    return [i for i, part in enumerate(parts) if fits(part)]


def is_blank(part):
    return part.isspace() or part.startswith("//")


def some(rng, parts, fits):
    found = spots(parts, fits)
    return rng.choice(found) if found else None


def delete(rng, parts):
    i = some(rng, parts, lambda p: not is_blank(p))
    parts[i] = ""


def double(rng, parts):
    i = some(rng, parts, lambda p: not is_blank(p))
    parts[i] = parts[i] + " " + parts[i]


def swap(rng, parts):
    found = spots(parts, lambda p: not is_blank(p))
    k = rng.randrange(len(found) - 1)
    i, j = found[k], found[min(len(found) - 1, k + rng.choice((1, 1, 2, 3)))]
    parts[i], parts[j] = parts[j], parts[i]


def insert(rng, parts):
    i = rng.randrange(len(parts))
    parts[i] = parts[i] + rng.choice(MARKS + ("foo", "1", '"s"', "%0", "@f", "#x", "!y", "loc(unknown)"))


def truncate(rng, parts):
    del parts[rng.randrange(len(parts)):]


def exchange(rng, parts, fits, others):
    i = some(rng, parts, fits)
    if i is None:
        return False
    parts[i] = rng.choice([o for o in others if o != parts[i]] or [parts[i] + "x"])
    return True


def value(rng, parts):
    names = [p for p in parts if p.startswith("%") and len(p) > 1]
    return exchange(rng, parts, lambda p: p in names, names + ["%undefined"])


def result_number(rng, parts):
    i = some(rng, parts, lambda p: p.startswith("%") and len(p) > 1)
    if i is None:
        return False
    parts[i] += rng.choice(("#0", "#1", "#7", ":2", "#-1"))


def symbol(rng, parts):
    names = [p for p in parts if p.startswith("@")]
    return exchange(rng, parts, lambda p: p in names, names + ["@missing", '@"x y"'])


def number(rng, parts):
    i = some(rng, parts, lambda p: p[0].isdigit())
    if i is None:
        return False
    parts[i] = rng.choice(("0", "1", "2", "3", "7", "-1", "-3", "99999999999999999999", "1.5", "0x1F",
                           "true", "18446744073709551615", str(rng.randrange(100))))


def word(rng, parts):
    names = [p for p in parts if re.match(r"[A-Za-z_]", p)]
    return exchange(rng, parts, lambda p: p in names, names)


def misspell(rng, parts):
    i = some(rng, parts, lambda p: re.match(r"[A-Za-z_#!]", p) and len(p) > 2)
    if i is None:
        return False
    at = rng.randrange(1, len(parts[i]))
    parts[i] = parts[i][:at] + rng.choice("xX_.0") + parts[i][at + 1:]


def string(rng, parts):
    names = [p for p in parts if p.startswith('"')]
    return exchange(rng, parts, lambda p: p in names, names + ['"nope"', '"x"', '"y"', '""'])


def mark(rng, parts):
    return exchange(rng, parts, lambda p: p in MARKS, MARKS)


def whole_type(rng, parts):
    starts = spots(parts, lambda p: p == "tensor")
    if not starts:
        return False
    i = rng.choice(starts)
    depth, j = 0, i + 1
    while j < len(parts):
        depth += (parts[j] == "<") - (parts[j] == ">")
        j += 1
        if depth <= 0:
            break
    parts[i:j] = [rng.choice(TYPES)]


def line(rng, parts):
    """A whole line deleted, doubled or moved."""
    rows = "".join(parts).split("\n")
    i = rng.randrange(len(rows))
    kind = rng.randrange(3)
    if kind == 0:
        del rows[i]
    elif kind == 1:
        rows.insert(i, rows[i])
    else:
        rows.insert(rng.randrange(len(rows)), rows.pop(i))
    parts[:] = ["\n".join(rows)]


def in_sharding(rng, parts):
    """Something inside a sharding, a mesh, a rule or edges."""
    starts = spots(parts, lambda p: p.startswith(("#sdy", "in_shardings", "out_sharding", "sharding"))
                   or p in ("sdy.mesh", "sdy.reshard", "sdy.sharding_constraint"))
    if not starts:
        return False
    i = rng.choice(starts)
    inside = [k for k in range(i + 1, min(len(parts), i + 50)) if not is_blank(parts[k])]
    if not inside:
        return False
    k = rng.choice(inside)
    part = parts[k]
    if part.startswith('"'):
        parts[k] = rng.choice(('"x"', '"y"', '"z"', '"a"', '"b"', '"nope"', '"x":(1)2', '"y":(2)2',
                               '"y":(1)3', '"y":(0)2', '"y":(1)4', '"x", "y"', ""))
    elif part[0].isdigit():
        parts[k] = rng.choice(("0", "1", "2", "3", "4", "8", "-1", "16"))
    elif part.startswith("@"):
        parts[k] = rng.choice(("@mesh", "@other", "@big", "@one", "@empty", "@nope"))
    elif part in "{}":
        parts[k] = rng.choice(('{"x"', '{?', "{}, {", "}p1", "}, {}", '{"y", ?', "}p0", part * 2))
    else:
        parts[k] = rng.choice(("", part + part, "?", ", replicated={\"x\"}", ", unreduced={\"y\"}",
                               "i", "j", "k"))


KINDS = {f.__name__.replace("_", " "): f for f in (
    delete, double, swap, insert, truncate, value, result_number, symbol, number, word, misspell,
    string, mark, whole_type, line, in_sharding)}


def mutate(rng, text):
    """A kind of mutation and what became of the text."""
    while True:
        kind = rng.choice(list(KINDS) + ["in sharding"] * 2)
        parts = tokens(text)
        if KINDS[kind](rng, parts) is not False:
            return kind, "".join(parts)

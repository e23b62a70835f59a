"""Compares shardings with those that the reference printed:

compare_shardings.py OWN PRINTED LEAST KIND...: there must be LEAST uses of each op, and of each of
these kinds.
"""
import collections
import re
import sys


def entries(text):
    """The parts of a list that commas separate outside of brackets and quotes."""
    parts, depth, start, quoted = [], 0, 0, False
    for at, character in enumerate(text):
        quoted ^= character == '"'
        if quoted:
            continue
        if character in "[{(<":
            depth += 1
        elif character in "]})" or (character == ">" and text[at - 1] != "-"):
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return parts + [text[start:].strip()] if text.strip() else parts


def bracketed(text, start):
    """What stands in the brackets that open at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "[") - (text[at] == "]")
        if depth == 0:
            return text[start + 1:at]
    raise ValueError("brackets that do not close")


def plain(text):
    """A sharding without its head; one without axes and closed dimensions is none.

    Priorities do not count: the reference removes all of them, Tessera keeps the p0 of a tensor that
    did not change where no other tensor has a higher one.
    """
    text = re.sub(r"\}p\d+", "}", text.removeprefix("#sdy.sharding"))
    return "none" if re.fullmatch(r"<@\w+, \[(\{\?\}(, )?)*\]>", text) else text


def read(function, num_operands):
    attributes = re.search(r"arg_attrs = \[", function)
    arguments = ["none"] * num_operands
    if attributes:
        for k, entry in enumerate(entries(bracketed(function, attributes.end() - 1))):
            found = re.search(r"sdy\.sharding = (#sdy\.sharding<.*>)", entry)
            arguments[k] = found.group(1) if found else "none"
    per_value = list(re.finditer(r"#sdy\.sharding_per_value<\[", function))
    results = entries(bracketed(function, per_value[-1].end() - 1)) if per_value else []
    return [plain(text) for text in arguments], [plain(text) for text in results]


printed = {}
for function in re.split(r'(?="func\.func"\(\))', open(sys.argv[2]).read())[1:]:
    printed[re.search(r'sym_name = "(\w+)"', function).group(1)] = function

ops, kinds = collections.Counter(), collections.Counter()
different = 0
lines = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
for name, op, what, *own in lines:
    ops[op] += 1
    kinds.update(what.split(","))
    function = printed[name]
    num_operands = len(re.findall(r"%arg\d+: ", re.search(r"\^bb0\(([^\n]*)\):", function).group(1))
                       ) if "^bb0(" in function else 0
    arguments, results = read(function, num_operands)
    own = [plain(text) for text in own]
    results += ["none"] * (len(own) - num_operands - len(results))
    if own != arguments + results:
        different += 1
        if different <= 8:
            print(f"{name} {op} ({what})\n  own        {own}\n  reference  {arguments + results}")
print(f"{len(lines)} uses of {len(ops)} ops, at least {min(ops.values())} of each: {different} differ; "
      + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
least = int(sys.argv[3])
missing = [f"{op} {count}" for op, count in ops.items() if count < least]
missing += [f"{kind} {kinds[kind]}" for kind in sys.argv[4:] if kinds[kind] < least]
if missing:
    print(f"fewer than {least}: " + ", ".join(missing))
sys.exit(different != 0 or bool(missing))

"""Reads and prints random programs by tessera-opt and by the reference, and compares.

programs.py valid N    programs that both accept and print alike, in all forms
programs.py invalid N  mutated programs: both refuse, or both accept and print alike
"""
import bisect
import collections
import os
import pickle
import random
import re
import subprocess
import sys

from program_ops import Writer
from program_mutate import mutate

OPT = os.path.join(os.environ["TSR_BUILD_DIR"], "tessera-opt")
SEED = int(os.environ.get("TSR_SEED", "1"))
PLANT = os.environ.get("TSR_PLANT", "")
SHOW = int(os.environ.get("TSR_SHOW", "10"))
FORMS = {"pretty": [], "generic": ["-mlir-print-op-generic"], "debug": ["-mlir-print-debuginfo"]}
CUT = "// -----\n"
BATCH = 40

sys.path.insert(0, os.path.dirname(os.environ["TSR_ORACLE"]))
import sdy_oracle  # noqa: E402

context = sdy_oracle.context(False)
from jaxlib.mlir import ir  # noqa: E402


class Program:
    def __init__(self, index, text, counts, unregistered, locations):
        self.index = index
        self.text = text
        self.counts = counts
        self.unregistered = unregistered
        self.locations = locations

    def flags(self):
        return ["-allow-unregistered-dialect"] if self.unregistered else []

    def forms(self):
        return [f for f in FORMS if f != "debug" or self.locations]


def generate(index):
    rng = random.Random(SEED * 1000003 + index)
    unregistered, locations = index % 8 == 0, index % 4 == 1
    writer = Writer(rng, index, unregistered, locations)
    return Program(index, writer.program(), writer.counts, unregistered, locations)


# ---- the reference ----

def reference(program, lines_before=0):
    """The text in each form, or the first error as (line, message)."""
    context.allow_unregistered_dialects = program.unregistered
    try:
        module = ir.Module.parse("\n" * lines_before + program.text)
    except ir.MLIRError as error:
        first = error.error_diagnostics[0]
        line = re.search(r'"-":(\d+)', str(first.location))
        return None, (int(line.group(1)) - lines_before if line else 0, first.message)
    out = {}
    for form in program.forms():
        out[form] = module.operation.get_asm(enable_debug_info=form == "debug",
                                             print_generic_op_form=form == "generic").strip()
    return out, None


# ---- tessera-opt ----

def opt(text, flags):
    done = subprocess.run([OPT, "-", "-split-input-file"] + flags, input=text.encode(),
                          capture_output=True, check=False)
    if done.returncode < 0:
        return done.returncode, "", "tessera-opt died of signal %d" % -done.returncode
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def own_batch(programs, form):
    """What tessera-opt prints for each program, None where it refuses."""
    code, out, _ = opt(CUT.join(p.text for p in programs), FORMS[form] + programs[0].flags())
    pieces = out.split(CUT)
    if code == 0 and len(pieces) == len(programs):
        return [piece.strip().replace('"<stdin>"', '"-"') for piece in pieces]
    results = []
    line = 0
    for p in programs:
        code, out, _ = opt("\n" * line + p.text, FORMS[form] + p.flags())
        results.append(out.strip().replace('"<stdin>"', '"-"') if code == 0 else None)
        line += p.text.count("\n") + 1
    return results


def own_errors(program):
    """The first error of a program as (line, message)."""
    code, _, errors = opt(program.text, program.flags())
    if code < 0:
        return -1, errors
    found = re.search(r"^[^\n]*?:(\d+)(?::\d+)?: error: (.*)", errors, re.M)
    return (int(found.group(1)), found.group(2)) if found else (0, errors[:200])


def spoilt(text):
    """A text with the fault planted in it that TSR_PLANT names."""
    if PLANT == "name":
        return re.sub(r"%(c|cst)_\d+", r"%\1", text, count=1)
    if PLANT == "default":
        return text.replace("lower = true", "lower = false", 1)
    if PLANT == "order":
        return re.sub(r"\{(\w+ = \d+ : i64), (\w+ = [^,{}<>]+)\}", r"{\2, \1}", text, count=1)
    if PLANT == "float":
        return re.sub(r"(\d\.\d{5})\d(e[+-])", r"\g<1>1\2", text, count=1)
    return text


# ---- comparing ----

class Report:
    def __init__(self):
        self.kinds = collections.Counter()
        self.reasons = collections.Counter()
        self.counts = collections.Counter()
        self.shown = collections.Counter()
        self.programs = 0
        self.texts = 0

    def show(self, kind, program, *lines):
        self.kinds[kind] += 1
        self.reasons[kind, re.sub(r"'[^']*'|\"[^\"]*\"|\d+|<.*", "_", lines[0] if lines else "")] += 1
        if sum(self.shown.values()) < SHOW:
            self.shown[kind] += 1
            print(f"program {program.index}: {kind}")
            for line in lines:
                print("  " + line[:400])
            folder = os.environ.get("TSR_KEEP")
            if folder:
                with open(os.path.join(folder, f"{program.index}.mlir"), "w") as file:
                    file.write(program.text)


def first_difference(theirs, ours):
    for a, b in zip(theirs.split("\n"), ours.split("\n")):
        if a != b:
            return ["reference " + a.strip(), "tessera   " + b.strip()]
    return ["one is longer"]


def batches(programs):
    """Of programs that are read with the same flags and printed in the same forms."""
    groups = collections.defaultdict(list)
    for p in programs:
        groups[p.unregistered, p.locations].append(p)
    for members in groups.values():
        for i in range(0, len(members), BATCH):
            yield members[i:i + BATCH]


def compare_batch(programs, report):
    line = 0
    theirs = []
    for p in programs:
        theirs.append(reference(p, line))
        line += p.text.count("\n") + 1
    good = [(p, t) for p, (t, _) in zip(programs, theirs) if t is not None]
    for p, (t, error) in zip(programs, theirs):
        if t is None:
            report.show("the reference refuses", p, f"{error[0]}: {error[1]}",
                        p.text.split("\n")[max(error[0] - 1, 0)])
            p.text = "\n" * p.text.count("\n")
    for form in programs[0].forms():
        for p, (t, _), ours in zip(programs, theirs, own_batch(programs, form)):
            if t is None:
                continue
            report.texts += 1
            if ours is None:
                error = own_errors(p)
                report.show("tessera refuses", p, f"{error[0]}: {error[1]}",
                            p.text.split("\n")[max(error[0] - 1, 0)])
                continue
            if spoilt(ours) != t[form]:
                report.show(f"printed differently, {form}", p,
                            *first_difference(t[form], spoilt(ours)))
    for p, _ in good:
        report.programs += 1
        report.counts.update(p.counts)


def valid(count):
    report = Report()
    with context, ir.Location.unknown():
        for start in range(0, count, 8 * BATCH):
            programs = [generate(i) for i in range(start, min(start + 8 * BATCH, count))]
            for batch in batches(programs):
                compare_batch(batch, report)
    return report


# ---- coverage ----

# Ops of the reference that are not compared: types that it does not have, and ops of func and chlo
# that programs of compilers do not hold.
LEFT_OUT = {"stablehlo.uniform_quantize", "stablehlo.uniform_dequantize", "func.constant",
            "func.call_indirect", "chlo._asin_acos_kernel"}


def ops_of_reference():
    """The names of all ops of the dialects that are compared."""
    from jaxlib.mlir.dialects import _chlo_ops_gen, _func_ops_gen, _sdy_ops_gen, _stablehlo_ops_gen
    names = set()
    for module in (_chlo_ops_gen, _func_ops_gen, _sdy_ops_gen, _stablehlo_ops_gen):
        with open(module.__file__) as file:
            names.update(re.findall(r'OPERATION_NAME = "(.*?)"', file.read()))
    return names - LEFT_OUT


def coverage(report, least):
    """Prints what there is of each kind; what there is too little of."""
    groups = collections.defaultdict(list)
    for kind, n in sorted(report.counts.items()):
        groups[kind.split(" ")[0]].append((kind.split(" ", 1)[1], n))
    for group, rows in groups.items():
        low = min(rows, key=lambda r: r[1])
        print(f"{group}: {len(rows)} kinds, {sum(n for _, n in rows)} instances, "
              f"fewest {low[1]} ({low[0]})")
        if os.environ.get("TSR_TABLE"):
            for name, n in rows:
                print(f"  {n:8} {name}")
    return [(kind, n) for kind, n in sorted(report.counts.items()) if n < least]


# ---- mutated programs ----

# Rules of shapes, element types and attributes of single ops of stablehlo and chlo.
LATER = re.compile("|".join((
    r"op (operand|result) #\d+ must be ", r"infer", r"requires (the same|compatible)",
    r"failed to verify that", r"^Expects? ", r"^expects ", r"^expected both", r"be a permutation",
    r"number of output elements", r"operand and result shapes", r"^replica id", r"^group size",
    r"_dim\w* size \(", r"must contain a collective", r"must be positive$", r"^dot algorithm",
    r"precision config", r"all non-scalar operands", r"in property conversion",
    r"^computation arguments", r"^(lhs|rhs|size|slice|rank|dimension|dimensions|split|result|operand) ",
    r"invalid kind of type", r"^replica_groups values", r"^iota ", r"^element type of operands", r"^duplicate (sources|targets)", r"^expect ",
    r"^comparator ", r"_map size", r"has slice size", r"FFT", r"^requires ",
    r"^everything but|^has negative|^Invalid replica id|^channel_type", r"^all dimensions", r"padding",
    r"out.of.bounds|out of range: |not sorted|has duplicated dimension|mismatched",
    r"index \d+ is larger|requires compatible bit|[Ll]ayout|output_operand_alias|backend_config",
)))
SDY = re.compile(r"'(sdy|func|builtin)\.|sharding|mesh|symbol")


def left_to_shapes(message):
    """Whether the reference refuses for a rule of shapes and element types of stablehlo."""
    return LATER.search(message) is not None and SDY.search(message) is None


def in_child(programs):
    """What the reference makes of programs, in a process of its own: some texts end it."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        with os.fdopen(send, "wb") as pipe:
            for p in programs:
                pickle.dump(reference(p), pipe)
                pipe.flush()
        os._exit(0)
    os.close(send)
    results = []
    with os.fdopen(receive, "rb") as pipe:
        try:
            while len(results) < len(programs):
                results.append(pickle.load(pipe))
        except EOFError:
            pass
    os.waitpid(child, 0)
    return results


def all_references(programs):
    results = []
    while len(results) < len(programs):
        results += in_child(programs[len(results):])
        if len(results) < len(programs):
            results.append("ended")
    return results


def own_refusals(programs):
    """The first error of each program by its line in the whole, None for none; and the outputs."""
    text = CUT.join(p.text if p.text.endswith("\n") else p.text + "\n" for p in programs)
    code, out, errors = opt(text, programs[0].flags())
    if code < 0:
        return None
    starts, line = [], 1
    for p in programs:
        starts.append(line)
        line += p.text.count("\n") + (0 if p.text.endswith("\n") else 1) + 1
    first = [None] * len(programs)
    for found in re.finditer(r"^<stdin>:(\d+):\d+: error: (.*)", errors, re.M):
        k = bisect.bisect_right(starts, int(found.group(1))) - 1
        first[k] = first[k] or (int(found.group(1)) - starts[k] + 1, found.group(2))
    pieces = out.split(CUT) if out else []
    if len(pieces) != first.count(None) or re.search(r"^<unknown>", errors, re.M):
        return None
    outputs = iter(pieces)
    return [(e, None if e else next(outputs).strip()) for e in first]


def own_one(p):
    code, out, _ = opt(p.text, p.flags())
    if code == 0:
        return None, out.strip()
    return own_errors(p), None


# What the reference, which is older or lacks a dialect, cannot know.
KNOWN = re.compile(r"unreduced(=(max|min|sum))?\{|is_stable|reduction_op|collective_reduce|#chlo.result_acc|"
                   r"#(mhlo|vhlo|check|interpreter|quant)\.|!quant")


# Odd texts that the reference takes: two commas in a reduction, numbers of results in the
# arguments of a while, a terminator of another dialect, anything in a block that nothing reaches; and those of which it loses something when
# it prints: attributes of a function with names of properties, a convolution with a dimension twice.
TAKEN = re.compile(r"init: %[^)]*\), *,|while\(|expects regions to end with")
UNREACHED = re.compile(r"does not dominate")
LOST = re.compile(r"(arg|res)_attrs = |#stablehlo.conv<raw")


def is_odd(p, printed, own_error, own_text):
    if own_error:
        line = p.text.split("\n")[max(own_error[0] - 1, 0)]
        return TAKEN.search(line) or TAKEN.search(own_error[1]) or \
            ("foo.br" in p.text and UNREACHED.search(own_error[1]))
    return own_text is not None and LOST.search("\n".join(first_difference(printed["pretty"], own_text)))


def judge(p, theirs, ours, report):
    """Compares what was made of one mutated program."""
    if theirs == "ended":
        report.outcomes["the reference ends without an answer"] += 1
        return
    printed, error = theirs
    own_error, own_text = ours
    if own_error and own_error[0] == -1:
        report.show("tessera dies", p, p.kind, own_error[1])
    elif error and own_error:
        report.outcomes["both refuse"] += 1
        same_line, same_text = own_error[0] == error[0], own_error[1] == error[1]
        report.outcomes["- at the same line" if same_line else "- at another line"] += 1
        report.outcomes["- with the same words" if same_text else "- with other words"] += 1
        if not same_line and os.environ.get("TSR_LINES"):
            report.show("line differs", p, f"reference {error[0]}: {error[1]}",
                        f"tessera {own_error[0]}: {own_error[1]}")
        if not same_text and os.environ.get("TSR_WORDS"):
            report.show("words differ", p, f"reference {error[0]}: {error[1]}",
                        f"tessera {own_error[0]}: {own_error[1]}")
    elif error and left_to_shapes(error[1]):
        report.outcomes["left to the full verification"] += 1
        report.later[re.sub(r"'[^']*'|\d+", "_", error[1])[:100]] += 1
    elif (error or own_error) and "module" in p.text and "unknown mesh" in (error or own_error)[1]:
        report.outcomes["known: meshes of nested modules"] += 1
    elif not error and own_text != printed["pretty"] and is_odd(p, printed, own_error, own_text):
        report.outcomes["known: odd text that the reference takes"] += 1
    elif error and KNOWN.search(p.text.split("\n")[max(error[0] - 1, 0)].replace("unreduced={", "")):
        report.outcomes["known difference of versions"] += 1
    elif error:
        report.show("only the reference refuses", p, f"{error[1]}", f"{p.kind}, line {error[0]}",
                    p.text.split("\n")[max(error[0] - 1, 0)])
    elif own_error:
        report.show("only tessera refuses", p, f"{own_error[1]}", f"{p.kind}, line {own_error[0]}",
                    p.text.split("\n")[max(own_error[0] - 1, 0)])
    elif own_text != printed["pretty"]:
        report.show("printed differently", p, *first_difference(printed["pretty"], own_text), p.kind)
    else:
        report.outcomes["both accept and print alike"] += 1


def mutated(index):
    """Some mutations of one program."""
    base = generate(index)
    rng = random.Random(SEED * 7919 + index)
    for k in range(4):
        kind, text = mutate(rng, base.text)
        text = re.sub(r"(blob|odd name )(\d+)", rf"\g<1>\g<2>_{k}_", text)
        p = Program(index, text, {}, base.unregistered, False)
        p.kind = kind
        yield p


def invalid(count):
    report = Report()
    report.outcomes = collections.Counter()
    report.later = collections.Counter()
    with context, ir.Location.unknown():
        for start in range(0, count // 4, 2 * BATCH):
            programs = [p for i in range(start, min(start + 2 * BATCH, count // 4))
                        for p in mutated(i)]
            for batch in batches(programs):
                ours = own_refusals(batch) or [own_one(p) for p in batch]
                for p, t, o in zip(batch, all_references(batch), ours):
                    report.programs += 1
                    report.counts["mutation " + p.kind] += 1
                    judge(p, t, o, report)
    for kind, n in sorted(report.outcomes.items(), key=lambda k: k[0].lstrip("- ")):
        print(f"{n:8} {kind}")
    if os.environ.get("TSR_REASONS"):
        for kind, n in report.later.most_common(30):
            print(f"  later {n:6} {kind}")
    return report


def main():
    mode, count = sys.argv[1], int(sys.argv[2])
    report = (valid if mode == "valid" else invalid)(count)
    if mode == "valid":
        report.counts.update({"op " + name: 0 for name in ops_of_reference()})
    low = coverage(report, int(os.environ.get("TSR_LEAST", "100")))
    for kind, n in low:
        print(f"not covered: {kind} ({n})")
    if os.environ.get("TSR_REASONS"):
        for reason, n in report.reasons.most_common(40):
            print(f"{n:6} {': '.join(reason)}"[:300])
    different = sum(report.kinds.values())
    for kind, n in sorted(report.kinds.items()):
        print(f"{n:8} {kind}")
    print(f"{report.programs} programs, {report.texts} texts: {different} differ")
    return 1 if different or low else 0


if __name__ == "__main__":
    sys.exit(main())

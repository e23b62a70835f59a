"""Verifies single ops, legal and mutated, by tessera-opt and by the reference, and compares.

verify.py N [OP...]: N texts of each op. Both must accept or both refuse; the table says for how many
that both refuse the messages are the same.
"""
import collections
import os
import random
import re
import sys

import programs
from verify_cases import Recorder, makers, mutants

ir = programs.ir
SHOW = int(os.environ.get("TSR_SHOW", "0"))
# What the reference, which is older, cannot know.
KNOWN = re.compile("is_stable")


def messages_of_reference(text):
    try:
        ir.Module.parse(text)
    except ir.MLIRError as error:
        return [d.message for d in error.error_diagnostics]
    return []


class Text:
    unregistered = False

    def __init__(self, text):
        self.text = text

    def flags(self):
        return []


def reference(program, _lines=0):
    return messages_of_reference(program.text)


programs.reference = reference


def own_messages(batch):
    """The messages of each text; by one run for all."""
    code, _, errors = programs.opt(programs.CUT.join(p.text for p in batch), [])
    if code < 0:
        return [one(p) for p in batch]
    starts, line = [], 1
    for p in batch:
        starts.append(line)
        line += p.text.count("\n") + 1
    out = [[] for _ in batch]
    for found in re.finditer(r"^<stdin>:(\d+):\d+: error: (.*)", errors, re.M):
        out[programs.bisect.bisect_right(starts, int(found.group(1))) - 1].append(found.group(2))
    return out


def one(p):
    code, _, errors = programs.opt(p.text, [])
    return ["tessera-opt died"] if code < 0 else re.findall(r"^<stdin>:\d+:\d+: error: (.*)", errors, re.M)


def shape_of(messages):
    return " | ".join(re.sub(r"<[^ ]*>|-?\d+|\[[^]]*\]", "_", m) for m in messages)[:220]


def compare_op(name, count, total, shown):
    row = collections.Counter()
    pairs = collections.Counter()
    example = {}
    cases = [(spec, Text(text)) for spec, text in mutants(name, programs.SEED, count)]
    for start in range(0, len(cases), 100):
        part = cases[start:start + 100]
        theirs = programs.all_references([t for _, t in part])
        for (spec, text), a, b in zip(part, theirs, own_messages([t for _, t in part])):
            if a == "ended":
                row["ended"] += 1
                continue
            row["texts"] += 1
            row["refused"] += bool(a)
            if b == ["tessera-opt died"]:
                key = "died"
            elif a and b:
                key = "same" if a == b else "words"
            elif a or b:
                key = "only reference" if a else "only tessera"
            else:
                key = "accepted"
            row[key] += 1
            if spec.kind == "legal" and a:
                row["not legal"] += 1
            if key in ("words", "only reference", "only tessera", "died"):
                pair = (key, shape_of(a), shape_of(b))
                pairs[pair] += 1
                example.setdefault(pair, (a, b, text.text))
    total.update(row)
    share = f"{100 * row['same'] / (row['same'] + row['words']):.0f}%" if row["same"] + row["words"] else "-"
    print(f"{name:40} {row['texts']:6} {row['refused']:6} {row['only reference']:6} {row['only tessera']:6} "
          f"{row['same']:6} {row['words']:6} {share:>5}" + (f"  died {row['died']}" if row["died"] else ""),
          flush=True)
    for pair, n in pairs.most_common(SHOW):
        a, b, text = example[pair]
        print(f"  {n:4} {pair[0]}\n       R {' | '.join(a)[:300]}\n       T {' | '.join(b)[:300]}")
        if os.environ.get("TSR_TEXT"):
            print("       " + text.replace("\n", "\n       "))
    return row


def main():
    count = int(sys.argv[1])
    names = sys.argv[2:] or sorted(makers(Recorder(random.Random(0))))
    total, shown = collections.Counter(), 0
    print(f"{'op':40} {'texts':>6} {'refus.':>6} {'onlyR':>6} {'onlyT':>6} {'same':>6} {'words':>6} {'share':>5}")
    few = []
    with programs.context, ir.Location.unknown():
        for name in names:
            row = compare_op(name, count, total, shown)
            if row["refused"] < min(100, count // 4):
                few.append((name, row["refused"]))
    for name, n in few:
        print(f"few refused: {name} ({n})")
    both = total["same"] + total["words"]
    print(f"{len(names)} ops, {total['texts']} texts, {total['refused']} refused by the reference; only it refuses "
          f"{total['only reference']}, only tessera {total['only tessera']}, tessera dies {total['died']}; "
          f"same messages {total['same']} of {both}")
    limit = float(os.environ.get("TSR_SAME", "0"))
    bad = total["only reference"] + total["only tessera"] + total["died"]
    return 1 if bad > int(os.environ.get("TSR_DIFFER", "0")) or total["same"] < limit * both else 0


if __name__ == "__main__":
    sys.exit(main())

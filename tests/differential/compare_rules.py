"""Compares rules of rows with those that the reference printed: compare_rules.py RULES PRINTED."""
import collections
import re
import sys

own = [line.rstrip("\n").split(" ", 2) for line in open(sys.argv[1])]
printed = {}
# In the generic form an op's attributes follow its region, so its rule is the function's last.
for function in re.split(r'(?="func\.func"\(\))', open(sys.argv[2]).read())[1:]:
    name = re.search(r'sym_name = "(\w+)"', function).group(1)
    rules = re.findall(r"#sdy\.op_sharding_rule<(.*?[^-])>", function)
    printed[name] = rules[-1] if rules else "none"

counts = collections.Counter()
different = 0
for name, op, rule in own:
    counts[op] += 1
    theirs = printed.get(name, "missing")
    if theirs != rule:
        different += 1
        if different <= 10:
            print(f"{name} {op}\n  row        {rule}\n  reference  {theirs}")
least = min(counts, key=counts.get)
print(f"{len(own)} rules of {len(counts)} ops, at least {counts[least]} of each ({least}): "
      f"{different} differ")
sys.exit(different != 0 or counts[least] < 100)

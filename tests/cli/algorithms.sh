#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# tessera algorithms: the table, what is taken, JSON, and how wrong usage is refused.
source "$(dirname "$0")/helpers.bash"
unset TSR_ALGORITHMS TSR_UNORDERED
algorithms() { run "$TESSERA" algorithms "$@"; }

# Which algorithm has the star: taken COLLECTIVE.
taken() { awk -v want="$1" '/^[a-z]/ { at = $1 } /^\*/ && at == want { print $2; exit }' "$work/out"; }
expect_taken() { [ "$(taken "$1")" = "$2" ] || fail "$1 should be by $2, not $(taken "$1")"; }

algorithms
expect_fine
expect_in_out 'shared memory, 8 ranks, 1048576 bytes'
expect_in_out 'messages, 8 ranks, 1048576 bytes'
expect_in_out '* shares        kept      1.15 ms   2(p-1) a + 2n(p-1)/p b + n(p-1)/p g'
expect_in_out '  rabenseifner  not kept  1.28 ms   2 lg p a + 2n(p-1)/p b + n(p-1)/p g + 2n d'
expect_width 80

# What is taken depends on the size, the ranks, the link and what is allowed.
algorithms --over messages --bytes 1K
expect_fine
expect_not_in_out 'shared memory'
expect_taken all-reduce gather
expect_taken broadcast tree
expect_taken all-to-all bruck
algorithms --over messages --bytes 1K --ranks 2
expect_taken all-reduce direct
expect_taken broadcast linear
algorithms --over messages --bytes 1K --unordered
expect_taken all-reduce doubling
expect_taken reduce-scatter halving
algorithms --over messages --bytes 100K --unordered
expect_taken all-reduce rabenseifner
algorithms --over messages --link 1,0,0,0
expect_taken all-gather bruck
expect_in_out 'a 1, b 0, g 0, d 0 seconds'
# The link of a level of a topology.
algorithms --over messages --topology gpu-pod
expect_in_out 'a 1.4e-05, b 2e-11,'
algorithms --over messages --topology gpu-pod --level host
expect_in_out 'a 3.4e-06, b 2.22222e-12,'
algorithms --topology gpu-pod --level rack
expect_error 2 '--level rack: the topology gpu-pod has the levels pod, host'
algorithms --topology nowhere
expect_error 2 'nowhere'
algorithms --level host
expect_error 2 '--level host needs --topology'
algorithms --topology host --link 1,0,0,0
expect_error 2 '--link and --topology exclude each other'
algorithms --over shared --unordered
expect_not_in_out 'messages,'
expect_taken all-reduce shares

# As a program's environment has it.
run env TSR_ALGORITHMS='all-reduce=shares, broadcast=linear' "$TESSERA" algorithms --over messages --bytes 1K
expect_fine
expect_taken all-reduce shares
expect_taken broadcast linear
run env TSR_UNORDERED=1 TSR_ALGORITHMS=all-reduce=doubling "$TESSERA" algorithms --over messages
expect_fine
expect_taken all-reduce doubling
run env TSR_ALGORITHMS=all-reduce=doubling "$TESSERA" algorithms --over messages
expect_error 2 'all-reduce by doubling does not reduce in group order'
run env TSR_ALGORITHMS=all-reduce=fast "$TESSERA" algorithms
expect_error 2 "unknown algorithm 'fast' for all-reduce in shared memory; the algorithms are shares"
run env TSR_ALGORITHMS=fast "$TESSERA" algorithms
expect_error 2 "'fast' is not a choice; write one as in all-reduce=shares"

algorithms --json --ranks 4 --bytes 4000
expect_fine
expect_in_out '"ranks": 4,
  "bytes": 4000,
  "media": [
    {"medium": "shared",'
expect_in_out '{"collective": "broadcast", "algorithm": "pull", "ordered": true, "seconds": 9'
expect_in_out '"chosen": true, "formula": "a + n b"}'
if command -v python3 >/dev/null; then
    python3 - "$work/out" <<'PYTHON' || fail 'the JSON is wrong'
import json, sys
data = json.load(open(sys.argv[1]))
assert [m["medium"] for m in data["media"]] == ["shared", "messages"]
for medium in data["media"]:
    names = {a["collective"] for a in medium["algorithms"]}
    assert len(names) == 13, names
    for name in names:
        rows = [a for a in medium["algorithms"] if a["collective"] == name]
        chosen = [a for a in rows if a["chosen"]]
        assert len(chosen) == 1 and chosen[0]["ordered"], rows
        assert chosen[0]["seconds"] == min(a["seconds"] for a in rows if a["ordered"])
link = data["media"][1]["link"]
assert link == {"alpha": 1e-5, "beta": 5e-10, "gamma": 1e-10, "delta": 1e-10}
PYTHON
fi

algorithms --help
expect_fine
expect_in_out 'Usage: tessera algorithms'
for option in ranks bytes over unordered link json; do
    expect_in_out "--$option"
done
expect_width 80

algorithms --ranks 0
expect_error 2 "--ranks must be a number of at least 1"
algorithms --ranks 2x
expect_error 2 "--ranks must be a number of at least 1, got: '2x'"
algorithms --bytes -1
expect_error 2 "--bytes must be a number of bytes"
algorithms --bytes 1T
expect_error 2 "got: '1T'"
algorithms --bytes 9999999999G
expect_error 2 "got: '9999999999G'"
algorithms --bytes ''
expect_error 2 "got: ''"
algorithms --over wire
expect_error 2 "--over 'wire': write shared or messages"
algorithms --link 1,2,3
expect_error 2 "--link '1,2,3': write four numbers"
algorithms --link 1,2,3,nan
expect_error 2 'delta of a link must be finite and not negative'
algorithms all-reduce
expect_error 2 "unexpected argument 'all-reduce': the command takes options only"

# Numbers near the largest end, and a variable that says nothing sensible is refused.
run timeout 20 "$TESSERA" algorithms --ranks 4611686018427387905
expect_fine
run env TSR_UNORDERED=xyz "$TESSERA" algorithms --ranks 4
expect_error 2 'the variable TSR_UNORDERED must be 0 or 1, got: xyz'
finish

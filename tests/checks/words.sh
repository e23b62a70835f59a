#!/usr/bin/env bash
# The tree uses the words of the glossary in ARCHITECTURE.md, and no file has conflict markers.
set -euo pipefail
cd "$TSR_SOURCE_DIR"

# Private words, each with what to write instead; also as parts of names.
banned=(
    'behind|after, following'
    'nobody|no rank, none; name what does not act'
    'somebody|a rank, a caller; name what acts'
    'everybody|all ranks, all members'
    'whoever|the rank that, the caller that'
    'his|its'
    'himself|itself'
    'lies? about|is never received'
    'letters?|control message; characters of a text'
    'mail(s|ed|ing)?|message, channel'
    'meetings?|rendezvous'
    'for ever|forever, without a time-out'
    'ranks that are not there|abstract world'
)

# Turns of phrase, as Perl patterns, each with what to write instead.
turns=(
    '(?<!there )(?<!There )\b(is|are) no (?!longer\b)|is not a'
    '\b(is|are) there\b|exists; name the state'
    "[a-z]'s[.;]( |\$|\\*)|owned by, allocated in; repeat the noun"
    '(?<!STRATEGY_)(?<!AL)MOST_[A-Z]|MAX_'
)

# Where a banned word is the right one: FILE:WORD, as the line that grep prints starts and matches.
allowed=(
    '(src/factor/rule_text.c|include/tessera/rule.h):.*(letter|Letters|LETTERS)' # characters that name factors
    'src/base/lex.c:.*(is_letter|start with letter)'          # characters; the reference's message
    'src/spmd/(transition|type_text).c:.*letter'              # characters of a table and of a name
)

result=0
texts=()
for name in src include tools bench examples scripts cmake docs fuzz python ./*.md; do
    [[ ! -e $name ]] || texts+=("${name#./}")
done

# The patterns of lines that are passed over.
passed=()
for line in "${allowed[@]}"; do
    passed+=(-e "^$line")
done

# matches WORD: the lines with it, but for those that are allowed.
matches() {
    grep -rnIiE --exclude-dir=corpus "(^|[^[:alpha:]])($1)([^[:alpha:]]|\$)" "${texts[@]}" |
        grep -vE "${passed[@]}" || true
}

for row in "${banned[@]}"; do
    found=$(matches "${row%|*}")
    if [[ -n $found ]]; then
        echo "$found"
        echo "write instead: ${row##*|}"
        result=1
    fi
done

for row in "${turns[@]}"; do
    found=$(grep -rnIP --exclude-dir=corpus --exclude-dir=tests -e "${row%|*}" "${texts[@]}" |
        grep -vE "${passed[@]}" || true)
    if [[ -n $found ]]; then
        echo "$found"
        echo "write instead: ${row##*|}"
        result=1
    fi
done

if grep -rnIE --exclude-dir=.git --exclude-dir='build*' --exclude-dir=corpus '^(<{7}|>{7}) ' .; then
    echo "these lines are conflict markers"
    result=1
fi
exit $result

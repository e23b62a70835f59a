# A table of the works in build/bench.json: times memcpy, and what is wanted. A line for each kind of
# ranks, size and work; `*` follows figures that miss the required ratio.

function field(key,    at, rest) {
    at = index($0, "\"" key "\": ")
    if (at == 0) {
        return ""
    }
    rest = substr($0, at + length(key) + 4)
    if (substr(rest, 1, 1) == "\"") {
        rest = substr(rest, 2)
        return substr(rest, 1, index(rest, "\"") - 1)
    }
    match(rest, /^[^,}]*/)
    return substr(rest, 1, RLENGTH)
}

function column(line, who,    value) {
    value = (line, who) in ratio ? ratio[line, who] missed[line, who] : "-"
    return sprintf(" %7s", value)
}

BEGIN {
    split("tessera|tessera user|tessera collective|tessera collective user|tessera messages|" \
          "tessera cold|MPI_Alltoallw|pack + MPI_Alltoallv|MPI's collective|pdgemr2d", who, "|")
    split("owned|user|coll|coll usr|message|cold|a2aw|packa2av|MPI own|gemr2d", head, "|")
}

field("bench") == "works" {
    group = sprintf("%s, %s ranks", field("kind"), field("ranks"))
    line = group "|" sprintf("%4s  %-26s", field("mebibytes"), field("work"))
    if (!(line in seen)) {
        seen[line] = 1
        lines[++count] = line
        groups[line] = group
    }
    ratio[line, field("contestant")] = field("ratio")
    if (field("wanted") != "") {
        wanted[line] = field("wanted")
        total++
        met += field("met") == "true"
        missed[line, field("contestant")] = field("met") == "true" ? "" : "*"
    }
}

END {
    for (i = 1; i <= count; i++) {
        line = lines[i]
        if (groups[line] != group_shown) {
            group_shown = groups[line]
            printf "\n%s; times memcpy of a shard\n%-32s %6s", group_shown, " MiB  work", "wanted"
            for (k = 1; k in who; k++) {
                printf " %7s", head[k]
            }
            printf "\n"
        }
        printf "%s %6s", substr(line, index(line, "|") + 1), line in wanted ? wanted[line] : "-"
        for (k = 1; k in who; k++) {
            printf "%s", column(line, who[k])
        }
        printf "\n"
    }
    printf "\n%d of the %d wanted ratios are met; * marks the others\n", met, total
}

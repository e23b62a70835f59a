# Makes a man page or a completion out of `tessera --describe' or `tessera-opt --describe'.
# -v format=man -v page='tessera show'; or -v format=bash, zsh or fish for the whole program.
BEGIN { FS = "\t"; commands = 0 }
$1 == "command" {
    names[commands] = $2; arguments[commands] = $3; docs[commands] = $4; options[commands] = 0; texts[commands] = 0
    commands++
}
$1 == "text" { text[commands - 1, texts[commands - 1]++] = $2 }
$1 == "option" {
    at = options[commands - 1]++
    longs[commands - 1, at] = $2; shorts[commands - 1, at] = $3; values[commands - 1, at] = $4; helps[commands - 1, at] = $5
}

# Text that troff takes as it is.
function roff(s) {
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    return s ~ /^[.']/ ? "\\&" s : s
}
# Text within single quotes of a shell.
function quoted(s) {
    gsub(/'/, "'\\''", s)
    return "'" s "'"
}
# The word after the program's name: the sub-command, "" for the program itself.
function sub_command(i) { return substr(names[i], length(names[0]) + 2) }

function man(i,    k, head) {
    head = names[i]
    gsub(/ /, "-", head)
    print ".TH " toupper(roff(head)) " 1"
    print ".SH NAME"
    print roff(head) " \\- " roff(docs[i])
    print ".SH SYNOPSIS"
    print ".B " roff(names[i])
    print "[OPTION...] " roff(arguments[i])
    print ".SH DESCRIPTION"
    print ".nf"
    for (k = 0; k < texts[i]; k++) {
        print (length(text[i, k]) > 80 ? ".fi\n" roff(text[i, k]) "\n.nf" : roff(text[i, k]))
    }
    print ".fi"
    if (i == 0 && commands > 1) {
        print ".SH COMMANDS"
        for (k = 1; k < commands; k++) {
            print ".TP\n.B " roff(sub_command(k)) "\n" roff(docs[k])
        }
    }
    print ".SH OPTIONS"
    for (k = 0; k < options[i]; k++) {
        print ".TP\n.B " (shorts[i, k] != "" ? "\\-" roff(shorts[i, k]) ", " : "") "\\-\\-" \
            roff(longs[i, k]) (values[i, k] != "" ? "=" roff(values[i, k]) : "") "\n" roff(helps[i, k])
    }
}

function words(i,    k, s) {
    for (k = 0; k < options[i]; k++) {
        s = s " --" longs[i, k]
    }
    return substr(s, 2)
}

function bash(    i, f, s) {
    f = "_" names[0]
    gsub(/-/, "_", f)
    for (i = 1; i < commands; i++) {
        s = s (s == "" ? "" : " ") sub_command(i)
    }
    print f "() {"
    print "    local word=${COMP_WORDS[COMP_CWORD]} words=" quoted(words(0) (s == "" ? "" : " " s))
    print "    case ${COMP_WORDS[1]} in"
    for (i = 1; i < commands; i++) {
        print "    " sub_command(i) ") [ \"$COMP_CWORD\" -gt 1 ] && words=" quoted(words(i)) " ;;"
    }
    print "    *) ;;"
    print "    esac"
    print "    COMPREPLY=()"
    print "    if [[ $word == -* || (\"$COMP_CWORD\" -eq 1 && -n " quoted(s) ") ]]; then"
    print "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")"
    print "    fi"
    print "}"
    print "complete -o default -F " f " " names[0]
}

# One line of _arguments: brackets and colons have a meaning of their own there.
function zsh_option(i, k,    h, v) {
    h = helps[i, k]
    gsub(/[][\\]/, "\\\\&", h)
    gsub(/:/, "\\:", h)
    v = values[i, k]
    gsub(/:/, "\\:", v)
    return quoted("*--" longs[i, k] (v != "" ? "=" : "") "[" h "]" (v != "" ? ":" v ":_files" : ""))
}
function zsh_options(i, indent,    k) {
    for (k = 0; k < options[i]; k++) {
        print indent zsh_option(i, k) " \\"
    }
}
function zsh(    i, f) {
    f = "_" names[0]
    gsub(/-/, "_", f)
    print "#compdef " names[0]
    print f "() {"
    if (commands > 1) {
        print "    if (( CURRENT == 2 )) && [[ ${words[2]} != -* ]]; then"
        print "        local -a commands=("
        for (i = 1; i < commands; i++) {
            print "            " quoted(sub_command(i) ":" docs[i])
        }
        print "        )"
        print "        _describe command commands"
        print "        return"
        print "    fi"
    }
    print "    case ${words[2]} in"
    for (i = 1; i < commands; i++) {
        print "    " sub_command(i) ")"
        print "        _arguments \\"
        zsh_options(i, "            ")
        print "            '*:file:_files' ;;"
    }
    print "    *)"
    print "        _arguments \\"
    zsh_options(0, "            ")
    print "            '*:file:_files' ;;"
    print "    esac"
    print "}"
    print f " \"$@\""
}

function fish(    i, k, condition) {
    for (i = 0; i < commands; i++) {
        condition = i == 0 ? (commands > 1 ? " -n __fish_use_subcommand" : "") : \
            " -n " quoted("__fish_seen_subcommand_from " sub_command(i))
        if (i > 0) {
            print "complete -c " names[0] " -n __fish_use_subcommand -a " sub_command(i) " -d " quoted(docs[i])
        }
        for (k = 0; k < options[i]; k++) {
            print "complete -c " names[0] condition " -l " longs[i, k] \
                (shorts[i, k] ~ /^[a-zA-Z]$/ ? " -s " shorts[i, k] : "") \
                (values[i, k] != "" && values[i, k] !~ /^\[/ ? " -r" : "") " -d " quoted(helps[i, k])
        }
    }
}

END {
    if (format == "man") {
        for (i = 0; i < commands; i++) {
            if (names[i] == page) {
                man(i)
            }
        }
    } else if (format == "bash") {
        bash()
    } else if (format == "zsh") {
        zsh()
    } else {
        fish()
    }
}

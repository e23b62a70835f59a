# Prints what a reader of the sources reads: with -v what=paragraphs the comments, with -v what=messages the
# string literals that have words in them, neighbours joined; each after FILE:LINE.

function print_literal()
{
    if (what == "messages" && text ~ /[A-Za-z].* .*[A-Za-z]/) {
        printf "%s:%d: %s\n", FILENAME, text_line, text
    }
    text = ""
}

# Takes the comments and literals of a line apart, character by character.
function scan(line,    i, c, pair)
{
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        pair = substr(line, i, 2)
        if (state == "comment") {
            if (pair == "*/") {
                end_comment()
                i++
            } else {
                comment = comment c
            }
        } else if (state == "string") {
            if (c == "\\") {
                text = text (pair == "\\n" ? " " : substr(line, i + 1, 1))
                i++
            } else if (c == "\"") {
                state = ""
            } else {
                text = text c
            }
        } else if (pair == "/*") {
            state = "comment"
            comment = ""
            comment_line = FNR
            i++
        } else if (c == "\"") {
            if (text == "") {
                text_line = FNR
            }
            state = "string"
        } else if (c == "'") {
            i += substr(line, i + 1, 1) == "\\" ? 3 : 2
        } else if (c !~ /[ \t]/ && text != "" && pair !~ /PRI/ && !(c ~ /[A-Za-z0-9_]/ && macro)) {
            print_literal()
        }
    }
    if (state == "comment") {
        comment = comment "\n"
    }
}

function end_comment()
{
    state = ""
    if (what != "paragraphs") {
        return
    }
    gsub(/\n[ \t]*\*[ \t]*\n/, "\001", comment)
    gsub(/\n[ \t]*\*?/, " ", comment)
    gsub(/[ \t]+/, " ", comment)
    gsub(/\001/, "\n    ", comment)
    sub(/^ /, "", comment)
    sub(/ $/, "", comment)
    printf "%s:%d: %s\n", FILENAME, comment_line, comment
}

FNR == 1 {
    state = ""
    text = ""
}
!/^#[ \t]*include/ {
    scan($0)
}

# Prints each function that a C header declares or defines at file scope, one line each, without the
# body. Reads the whole header; comments and preprocessor lines are dropped.
{ text = text $0 "\n" }

function emit(declaration) {
    gsub(/[ \t\n]+/, " ", declaration)
    sub(/^ /, "", declaration)
    if (declaration ~ /\(/ && declaration !~ /^(typedef|_Static_assert|static_assert) ?/)
        print declaration
}

END {
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", text)
    gsub(/\/\/[^\n]*/, "", text)
    gsub(/\\\n/, " ", text)
    gsub(/(^|\n)[ \t]*#[^\n]*/, "\n", text)
    gsub(/extern[ \n]*"C"[ \n]*\{/, "", text)
    depth = 0
    declaration = ""
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "{") {
            if (depth++ == 0 && declaration ~ /\)[^=]*$/) {
                emit(declaration)
                declaration = ""
            }
        } else if (c == "}") {
            if (depth > 0)
                depth--
        } else if (depth == 0 && c == ";") {
            emit(declaration)
            declaration = ""
        } else if (depth == 0) {
            declaration = declaration c
        }
    }
}

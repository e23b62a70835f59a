# Makes the walk over all public functions out of the headers, as scripts/guards.awk makes the guards:
# reads `text LINE` and `call HEADER DECLARATION`; `value KEY := EXPRESSION` gives valid arguments. A
# function of which an argument has no value fails the build, so that none is left out.
function values_line(line, at)
{
    at = index(line, " := ")
    values[trim(substr(line, 1, at - 1))] = trim(substr(line, at + 4))
}

/^value / { values_line(substr($0, 7)); next }
/^skip / { skipped[$2] = 1; next }
/^fails / { fails[$2] = 1; next }

function value_of(function_name, name, type, expression)
{
    if ((function_name "." name) in values)
        return values[function_name "." name]
    if ((name ":" type) in values)
        return values[name ":" type]
    if (type in values)
        return values[type]
    if (type ~ /\*$/ && (type !~ /^const/ || type ~ /\*\*$/))
        return "(" type ")walk_room(w)"
    printf "no value for %s.%s (%s): tests/boundary/values.txt\n", function_name, name, type >"/dev/stderr"
    missing = 1
    return "0"
}

function put(text_of_line)
{
    body = body text_of_line "\n"
}

# One step: what is changed, what is expected, and the name for messages.
function step(change, expectation, what)
{
    gsub(/"/, "\\\"", what)
    put("        case " steps++ ":\n            walk_expect(w, " expectation ", \"" what "\");\n            " \
        change ";\n            break;")
}

# The steps of a struct that the call reads: a copy with one field changed.
function struct_steps(base, n, fields, i, copy)
{
    n = split_outside(structs[base], ";", fields)
    for (i = 1; i <= n; i++) {
        take_apart(fields[i])
        copy = argument "_copy." name
        if (type in last) {
            step(copy " = (" type ")99; " argument " = " argument_taken, refused, argument "->" name " 99")
        } else if (is_pointer(type) && array == "" && !nullable) {
            step(copy " = NULL; " argument " = " argument_taken, refused, argument "->" name " NULL")
        } else if (is_pointer(type) && array != "") {
            step(copy " = NULL; " argument " = " argument_taken, "WALK_SURVIVES", argument "->" name " NULL")
            wrong_numbers(copy, type, argument "->" name)
        } else if (is_pointer(type)) {
            step(copy " = NULL; " argument " = " argument_taken, "WALK_SURVIVES", argument "->" name " NULL")
        } else if (type == "int64_t") {
            step(copy " = -7; " argument " = " argument_taken, "WALK_SURVIVES", argument "->" name " -7")
            step(copy " = INT64_MAX; " argument " = " argument_taken, "WALK_SURVIVES", argument "->" name " max")
            step(copy " = INT64_MIN; " argument " = " argument_taken, "WALK_SURVIVES", argument "->" name " min")
        } else if (type == "double") {
            step(copy " = NAN; " argument " = " argument_taken, "WALK_SURVIVES", argument "->" name " NaN")
        }
    }
}

# Arrays of numbers that are all out of range, as long as any array of the values.
function wrong_numbers(target, type, what)
{
    if (type != "const int64_t *" && type != "const size_t *")
        return
    step(target " = " (type == "const size_t *" ? "w->far" : "w->negative") "; " \
        (argument_taken == "" ? "" : argument " = " argument_taken), "WALK_SURVIVES", what " all far")
    if (type == "const int64_t *")
        step(target " = w->greatest; " (argument_taken == "" ? "" : argument " = " argument_taken), \
            "WALK_SURVIVES", what " all greatest")
}

function numbers(name, n, list, i)
{
    for (i = 1; i <= n; i++)
        step(name " = " list[i], "WALK_SURVIVES", name " " list[i])
}

function other_values(name, type, n, list, i, own)
{
    own = "other:" function_name "." name
    n = split(own in values ? values[own] : ("other:" type) in values ? values["other:" type] : "", list, " ")
    for (i = 1; i <= n; i++)
        step(name " = " list[i], "WALK_SURVIVES", name " " list[i])
}

# Whether another argument says where messages go.
function has_context_beside(i, j)
{
    for (j = 1; j <= num_arguments; j++)
        if (j != i && types[j] ~ /^((const )?tsr_(comm|tensor|partitioned) \*|tsr_context \*|tsr_tensor \*const \*)$/)
            return 1
    return 0
}

function write_walk(declaration, i, base, list, call, lengths)
{
    take_call(declaration)
    if (function_name in skipped)
        return
    lengths = " "
    for (i = 1; i <= num_arguments; i++)
        lengths = lengths arrays[i] " "
    body = ""
    steps = 0
    call = ""
    put("\nstatic void walk_" function_name "(walk *w)\n{\n    WALK_STEPS(w, \"" function_name "\", " \
        (header_name == "typed.h" ? "true" : "false") ") {")
    for (i = 1; i <= num_arguments; i++) {
        put("        " types[i] (types[i] ~ /\*$/ ? "" : " ") names[i] " = " value_of(function_name, names[i], types[i]) ";")
        base = struct_read(types[i])
        if (base != "" && arrays[i] == "")
            put("        " base " " names[i] "_copy = *" names[i] ";\n        (void)" names[i] "_copy;")
        call = call (i > 1 ? ", " : "") names[i]
    }
    put("        switch (walk_step(w)) {")
    for (i = 1; i <= num_arguments; i++) {
        argument_taken = ""
        refused = tolds[i] ? "WALK_SURVIVES" : is_safe || !has_context_beside(i) ? "WALK_REFUSED_SILENTLY" : "WALK_REFUSED"
        base = struct_read(types[i])
        if (types[i] in last) {
            step(names[i] " = (" types[i] ")99", refused, names[i] " 99")
            step(names[i] " = (" types[i] ")-1", refused, names[i] " -1")
        } else if (is_pointer(types[i])) {
            if (arrays[i] != "")
                step("if ((" arrays[i] ") == 0) { walk_expect(w, WALK_SURVIVES, \"" names[i] " NULL\"); } " \
                    names[i] " = NULL", refused, names[i] " NULL")
            else
                step(names[i] " = NULL", nullables[i] ? "WALK_SURVIVES" : refused, names[i] " NULL")
            wrong_numbers(names[i], types[i], names[i])
            if (base != "" && arrays[i] == "") {
                argument = names[i]
                argument_taken = "&" names[i] "_copy"
                struct_steps(base)
            }
            if (types[i] == "const char *" && arrays[i] == "" && function_name != "tsr_text_of") {
                step(names[i] " = \"\"", "WALK_SURVIVES", names[i] " empty")
                step(names[i] " = w->strange", "WALK_SURVIVES", names[i] " strange")
                step(names[i] " = w->long_text", "WALK_SURVIVES", names[i] " long")
            }
            other_values(names[i], types[i])
        } else if (types[i] == "int64_t") {
            split("-1 INT64_MIN INT64_MAX", list, " ")
            numbers(names[i], 3, list)
        } else if (types[i] == "int32_t" || types[i] == "int") {
            split("-1 INT32_MIN INT32_MAX", list, " ")
            numbers(names[i], 3, list)
        } else if (types[i] == "size_t" && index(lengths, " " names[i] " ") == 0 && \
            !((function_name "." names[i]) in fixed)) {
            split("SIZE_MAX SIZE_MAX/2 INT32_MAX 64", list, " ")
            numbers(names[i], 4, list)
        } else if (types[i] == "double") {
            split("NAN INFINITY -1.0", list, " ")
            numbers(names[i], 3, list)
        } else {
            other_values(names[i], types[i])
        }
    }
    put("        default:\n            walk_expect(w, " (function_name in fails ? "WALK_FAILS" : "WALK_SUCCEEDS") \
        ", \"valid\");\n            break;\n        }")
    if (returned == "tsr_status")
        put("        const tsr_status walked = " function_name "(" call ");")
    else
        put("        (void)" function_name "(" call ");\n        const tsr_status walked = TSR_NOT_APPLICABLE;")
    put("        walk_check(w, walked, " (is_safe || returned != "tsr_status" ? "true" : "false") ", " \
        (returned == "tsr_status" ? "true" : "false") ");")
    for (i = 1; i <= num_arguments; i++)
        if (types[i] in releases)
            put("        walk_release_" releases[types[i]] "(w, walked, " \
                (types[i] == "tsr_request *" ? "comm, " : "") names[i] ");")
    put("    }\n}")
    print body
    walked[++num_walked] = function_name
}

BEGIN {
    releases["tsr_tensor **"] = "tensors"
    releases["tsr_program **"] = "program"
    releases["tsr_interpreter **"] = "interpreter"
    releases["tsr_world **"] = "world"
    releases["tsr_explanation **"] = "explanation"
    releases["tsr_outputs **"] = "outputs"
    releases["tsr_partitioned **"] = "partitioned"
    releases["tsr_conversion **"] = "conversion"
    releases["tsr_request *"] = "request"
    releases["tsr_started *"] = "started"
    releases["struct DLManagedTensor **"] = "dlpack"
}

/^fixed / { fixed[$2] = 1; next }

END {
    print "/* Made by tests/boundary/walk.awk out of the public headers. */\n#include \"walk.h\""
    read_all()
    for (i = 1; i <= num_calls; i++) {
        header_name = headers[calls[i]]
        write_walk(calls[i])
    }
    print "\nconst walk_row walk_rows[] = {"
    for (i = 1; i <= num_walked; i++)
        print "    {\"" walked[i] "\", walk_" walked[i] "},"
    print "};\nconst size_t walk_num_rows = sizeof walk_rows / sizeof walk_rows[0];"
    exit missing
}

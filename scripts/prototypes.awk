# Reads the prototypes of the public headers: `text LINE` for each line of them, then `call HEADER
# DECLARATION` for each function. What makes something out of them (guards.awk, the walk over all
# functions) calls read_all() at its end, then take_call() for each of calls[].
function trim(s)
{
    gsub(/[ \t\n]+/, " ", s)
    sub(/^ /, "", s)
    sub(/ $/, "", s)
    return s
}

# Splits at a separator outside parentheses.
function split_outside(s, separator, parts, i, c, depth, n, part)
{
    n = 0
    part = ""
    depth = 0
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == "(")
            depth++
        if (c == ")")
            depth--
        if (c == separator && depth == 0) {
            parts[++n] = trim(part)
            part = ""
        } else {
            part = part c
        }
    }
    if (trim(part) != "")
        parts[++n] = trim(part)
    return n
}

# Takes `[words] type name` apart into the globals name, type, nullable, array (its length), and told:
# the call itself checks it, so that all ranks learn.
function take_apart(s, i, depth, c)
{
    nullable = 0
    array = ""
    told = sub(/^TSR_COLLECTIVE /, "", s)
    if (sub(/^TSR_NULLABLE /, "", s))
        nullable = 1
    if (s ~ /^TSR_ARRAY\(/) {
        depth = 0
        for (i = 10; i <= length(s); i++) {
            c = substr(s, i, 1)
            if (c == "(")
                depth++
            if (c == ")" && --depth == 0)
                break
        }
        array = substr(s, 11, i - 11)
        s = trim(substr(s, i + 1))
    }
    if (match(s, /\(\*[a-z_]+\)/)) {
        name = substr(s, RSTART + 2, RLENGTH - 3)
        type = "function"
        return
    }
    match(s, /[a-z_0-9]+$/)
    name = substr(s, RSTART)
    type = trim(substr(s, 1, RSTART - 1))
}

# The struct that a pointer of this type reads; "" for another type.
function struct_read(type, base)
{
    base = type
    if (base !~ /\*$/)
        return ""
    sub(/ ?\*$/, "", base)
    if (!sub(/^const /, "", base) && !(base in read_and_written))
        return ""
    return base in checked ? base : ""
}

function is_pointer(type)
{
    return type ~ /\*$/ || type == "function" || type in functions
}

# A length in terms of the fields of *s.
function of_fields(length_text, own, out, token)
{
    out = ""
    while (match(length_text, /[a-z_][a-z_0-9]*/)) {
        token = substr(length_text, RSTART, RLENGTH)
        out = out substr(length_text, 1, RSTART - 1) ((own, token) in has_field ? "s->" token : token)
        length_text = substr(length_text, RSTART + RLENGTH)
    }
    return out length_text
}

function condition_of_enum(value, type)
{
    return "(uint32_t)" value " > (uint32_t)" last[type]
}

# ---- structs ----

# The checks of one field of *s, in C.
function field_checks(own, out, base, at, length_text)
{
    out = ""
    at = "s->" name
    length_text = of_fields(array, own)
    if (type in last)
        return "    if (" condition_of_enum(at, type) ") {\n" \
            "        return guard_field_enum(to_report, \"" name "\", \"" type "\", (int32_t)" at ");\n    }\n"
    if (type in checked)
        return "    if (!guard_" type "(to_report, &" at ")) {\n" \
            "        return guard_within(to_report, \"" name ".\");\n    }\n"
    if (!is_pointer(type))
        return ""
    base = struct_read(type)
    if (array != "") {
        out = "    if (" at " == NULL && (" length_text ") != 0) {\n" \
            "        return guard_field_null(to_report, \"" name "\");\n    }\n"
        if (base != "")
            out = out "    for (size_t i = 0; i < (size_t)(" length_text "); i++) {\n" \
                "        if (!guard_" base "(to_report, &" at "[i])) {\n" \
                "            return guard_within_element(to_report, \"" name "\", i);\n        }\n    }\n"
        if (!nullable && (type == "const char *const *" || type == "tsr_tensor *const *"))
            out = out "    for (size_t i = 0; i < (size_t)(" length_text "); i++) {\n" \
                "        if (" at "[i] == NULL) {\n" \
                "            return guard_element_null(to_report, \"" name "\", i);\n        }\n    }\n"
        return out
    }
    if (!nullable)
        out = "    if (" at " == NULL) {\n        return guard_field_null(to_report, \"" name "\");\n    }\n"
    if (base != "")
        out = out "    if (" (nullable ? at " != NULL && " : "") "!guard_" base "(to_report, " at ")) {\n" \
            "        return guard_within(to_report, \"" name "->\");\n    }\n"
    return out
}

# The checks of a struct, in C; "" when nothing of it can be wrong.
function struct_checks(own, n, fields, i, body)
{
    body = ""
    n = split_outside(structs[own], ";", fields)
    for (i = 1; i <= n; i++) {
        take_apart(fields[i])
        has_field[own, name] = 1
    }
    for (i = 1; i <= n; i++) {
        take_apart(fields[i])
        body = body field_checks(own)
    }
    return body
}

# Finds the structs that have checks: those with fields to check, then those that hold such.
function find_checked(i, before)
{
    do {
        before = num_checked
        for (i = 1; i <= num_structs; i++)
            if (!(order[i] in checked) && !(order[i] in unchecked) && struct_checks(order[i]) != "") {
                checked[order[i]] = 1
                num_checked++
            }
    } while (num_checked != before)
}

BEGIN {
    # Structs that a call reads although it may write to them, and such that the library fills or
    # that have a version, which the call looks at first.
    read_and_written["tsr_text"] = read_and_written["tsr_axis_list"] = 1
    read_and_written["tsr_wire_request"] = 1
    # What is a number of a program's, checked by guard_<type>(program, number).
    split("tsr_ir_op tsr_ir_value tsr_ir_block tsr_ir_region tsr_ir_type tsr_ir_attr", names, " ")
    for (i in names)
        handles[names[i]] = 1
    unchecked["tsr_provenance"] = unchecked["tsr_transport"] = 1
}

/^text / { text = text substr($0, 6) "\n"; next }
/^call / { calls[++num_calls] = $0 }

# The typedefs of the headers: enumerations (from 0, without gaps), structs, pointers to functions.
function read_types(s, i, n, parts, body, own, values, m)
{
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", s)
    gsub(/(^|\n)[ \t]*#[^\n]*/, "\n", s)
    while (match(s, /typedef (enum|struct) [a-z_0-9]+ *\{[^}]*\}/)) {
        body = substr(s, RSTART, RLENGTH)
        s = substr(s, RSTART + RLENGTH)
        match(body, /(enum|struct) [a-z_0-9]+/)
        own = substr(body, RSTART, RLENGTH)
        sub(/^[a-z]+ /, "", own)
        sub(/[^{]*\{/, "", body)
        sub(/\}$/, "", body)
        if (text_kind(own) == "enum") {
            m = split_outside(trim(body), ",", values)
            sub(/ *=.*/, "", values[m])
            last[own] = values[m]
        } else {
            structs[own] = trim(body)
            order[++num_structs] = own
        }
    }
}

function text_kind(own)
{
    return index(text, "typedef enum " own " ") != 0 ? "enum" : "struct"
}

function read_functions(s, found)
{
    while (match(s, /typedef [a-z_]+ \(\*[a-z_]+\)/)) {
        found = substr(s, RSTART, RLENGTH)
        s = substr(s, RSTART + RLENGTH)
        sub(/.*\(\*/, "", found)
        sub(/\)$/, "", found)
        functions[found] = 1
    }
}

# Takes a declaration apart into the globals function_name, returned, is_safe, and for each of its
# num_arguments names, types, arrays, nullables, tolds.
function take_call(declaration, i, arguments, from)
{
    is_safe = declaration ~ /TSR_MT_SAFE$/
    sub(/ TSR_MT_(SAFE|CONTEXT)$/, "", declaration)
    gsub(/TSR_API |TSR_NODISCARD /, "", declaration)
    from = index(declaration, "(")
    take_apart(substr(declaration, 1, from - 1))
    function_name = name
    returned = type
    num_arguments = split_outside(substr(declaration, from + 1, length(declaration) - from - 1), ",", arguments)
    if (num_arguments == 1 && arguments[1] == "void")
        num_arguments = 0
    for (i = 1; i <= num_arguments; i++) {
        take_apart(arguments[i])
        names[i] = name
        types[i] = type
        arrays[i] = array
        nullables[i] = nullable
        tolds[i] = told
    }
}

# All of it, with only what is public of the calls.
function read_all(i, kept, words)
{
    read_types(text)
    read_functions(text)
    delete last["tsr_status"]
    find_checked()
    for (i = 1; i <= num_calls; i++) {
        split(calls[i], words, " ")
        sub(/^call [^ ]+ /, "", calls[i])
        headers[calls[i]] = words[2]
        if (calls[i] ~ /TSR_API/)
            calls[++kept] = calls[i]
    }
    num_calls = kept
}

# Writes the guards of the public functions, after prototypes.awk has read them. A pointer that is
# neither TSR_NULLABLE nor an empty TSR_ARRAY is not NULL, an enumeration has one of its values, a struct
# that is read holds the same, and the tensors of a list exist.
#
# The check of a struct is in guards.c, unless it needs a public function: it is inline then, so that the
# call is of the layer that makes the check, not of base.
function write_struct(own, body, file, word)
{
    body = struct_checks(own)
    if (is_inline(body)) {
        inlined[own] = 1
        file = header
        word = "static inline "
    } else {
        file = source
        word = ""
        print "bool guard_" own "(guard_report *to_report, const void *value);" >header
        print "bool guard_all_" own "(const " own " *list, size_t count);" >header
    }
    print "\n" word "bool guard_" own "(guard_report *to_report, const void *value)\n{\n    const " own \
        " *s = value;\n" body "    return true;\n}" >file
    print "\n" word "bool guard_all_" own "(const " own " *list, size_t count)\n{\n" \
        "    for (size_t i = 0; i < count; i++) {\n        if (!guard_" own \
        "(NULL, &list[i])) {\n            return false;\n        }\n    }\n    return true;\n}" >file
}

# Whether checks call a public function, or the check of a struct that does.
function is_inline(body, own)
{
    for (own in inlined)
        if (index(body, "guard_" own "("))
            return 1
    return body ~ /[^_a-z]tsr_[a-z_0-9]+\(/
}

# ---- functions ----

function zero_of(type, function_name)
{
    if (function_name ~ /_name$/ && type == "const char *")
        return "\"?\""
    if (type ~ /\*$/)
        return "NULL"
    if (type == "bool")
        return "false"
    if (type ~ /^int(32_t|64_t)?$/)
        return "-1"
    if (type in structs)
        return "(" type "){0}"
    return "0"
}

# Where a message of a call can go: the contexts of its arguments, NULL for none.
function context_expression(i, out, expression)
{
    out = ""
    for (i = num_arguments; i >= 1; i--) {
        expression = ""
        if (types[i] == "tsr_context *")
            expression = names[i]
        else if (types[i] ~ /^(const )?tsr_comm \*$/)
            expression = "tsr_comm_context(" names[i] ")"
        else if (types[i] ~ /^(const )?tsr_tensor \*$/)
            expression = "tsr_comm_context(tsr_tensor_world(" names[i] "))"
        else if (types[i] ~ /^(const )?tsr_world \*$/)
            expression = "guard_world_context(" names[i] ")"
        else if (types[i] ~ /^(const )?tsr_partitioned \*$/)
            expression = "guard_partitioned_context(" names[i] ")"
        else if (types[i] == "tsr_tensor *const *" && arrays[i] != "")
            expression = "guard_tensors_context(" names[i] ", " arrays[i] ")"
        if (expression != "")
            out = out == "" ? expression : "guard_either(" expression ", " out ")"
    }
    return out == "" ? "NULL" : out
}

# The mesh whose axes the call's arguments name; "" for none.
function mesh_expression(i)
{
    for (i = 1; i <= num_arguments; i++) {
        if (types[i] == "const tsr_mesh *" && names[i] == "mesh")
            return "mesh"
        if (types[i] == "const tsr_sharding *" && names[i] == "sharding")
            return "tsr_sharding_mesh(sharding)"
    }
    return ""
}

function refuse(call)
{
    if (returned == "tsr_status")
        return "return " (is_safe ? "TSR_ERR_INVALID" : call)
    if (is_safe || context == "NULL")
        return returned == "void" ? "return" : "return " zero_of(returned, function_name)
    return returned == "void" ? "(void)" call "; return" \
        : "return (void)" call ", " zero_of(returned, function_name)
}

function line(condition, call)
{
    text_of_guard = text_of_guard "    if (GUARD_RARE(" condition ")) { " refuse(call) "; } \\\n"
}

function write_call(declaration, i, base)
{
    take_call(declaration)
    context = context_expression()
    place = "(" context ", \"" function_name "\", "
    text_of_guard = ""
    for (i = 1; i <= num_arguments; i++) {
        if (tolds[i])
            continue
        if (types[i] == "size_t" && names[i] == "rank")
            line("rank > GUARD_MAX_RANK", "guard_rank" place "rank)")
        base = struct_read(types[i])
        if (types[i] in last) {
            line(condition_of_enum(names[i], types[i]), "guard_enum" place "\"" names[i] "\", \"" \
                    types[i] "\", (int32_t)" names[i] ")")
            continue
        }
        if (types[i] == "tsr_axis_ref" && mesh_expression() != "") {
            line("!guard_axes(" mesh_expression() ", &" names[i] ", 1)", "guard_axis" place "\"" names[i] "\", " \
                mesh_expression() ", &" names[i] ", 1)")
            continue
        }
        if (types[i] in handles) {
            line("!guard_" types[i] "(program, " names[i] ")", "guard_enum" place "\"" names[i] "\", \"" \
                types[i] "\", (int64_t)" names[i] ")")
            continue
        }
        if (types[i] in checked) {
            line("!guard_" types[i] "(NULL, &" names[i] ")", "guard_struct" place "\"" names[i] \
                ".\", guard_" types[i] ", &" names[i] ")")
            continue
        }
        if (!is_pointer(types[i]))
            continue
        if (arrays[i] != "")
            line(names[i] " == NULL && (" arrays[i] ") != 0", "guard_array" place "\"" names[i] \
                "\", (uint64_t)(" arrays[i] "))")
        else if (!nullables[i])
            line(names[i] " == NULL", "guard_null" place "\"" names[i] "\")")
        if (types[i] == "tsr_tensor *const *" && arrays[i] != "" && !nullables[i])
            line("guard_has_null(" names[i] ", " arrays[i] ")", "guard_element" place "\"" names[i] \
                "\", " names[i] ", " arrays[i] ")")
        if (types[i] == "const tsr_axis_ref *" && arrays[i] != "" && mesh_expression() != "")
            line("!guard_axes(" mesh_expression() ", " names[i] ", " arrays[i] ")", "guard_axis" place "\"" \
                names[i] "\", " mesh_expression() ", " names[i] ", " arrays[i] ")")
        if (base == "")
            continue
        if (arrays[i] != "")
            line("!guard_all_" base "(" names[i] ", " arrays[i] ")", "guard_structs" place "\"" names[i] \
                "\", guard_" base ", " names[i] ", sizeof *" names[i] ", " arrays[i] ")")
        else
            line((nullables[i] ? names[i] " != NULL && " : "") "!guard_" base "(NULL, " names[i] ")", \
                "guard_struct" place "\"" names[i] "->\", guard_" base ", " names[i] ")")
    }
    print "#define GUARD_" function_name " \\\n" text_of_guard "    do { } while (0)\n" >header
}

END {
    read_all()
    print "/* Made by scripts/guards out of the public headers. */" >header
    print "#ifndef GUARDS_H\n#define GUARDS_H\n" >header
    print "/* Made by scripts/guards out of the public headers. */\n#include \"base/guard.h\"" >source
    for (i = 1; i <= num_structs; i++)
        if (order[i] in checked)
            write_struct(order[i])
    print "" >header
    for (i = 1; i <= num_calls; i++)
        write_call(calls[i])
    print "#endif" >header
}

#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2016,SC2034,SC2154
# Names of meshes: bare and in quotes, read strictly or not, and printed so that they read back.
source "$(dirname "$0")/helpers.bash"

# expect_name NAME PRINTED: the name, as the text of a mesh has it, and as it is printed.
expect_name() {
    local strict
    for strict in '' --strict; do
        # shellcheck disable=SC2086
        show $strict --mesh "@$1 = <[\"x\"=2]>" "<@$1, [{\"x\"}]>"
        expect_fine
        expect_in_out "sharding      #sdy.sharding<@$2, [{\"x\"}]>"
        expect_in_out "mesh          @$2 = <[\"x\"=2]>"
        local first=$out
        # shellcheck disable=SC2086
        show $strict --mesh "@$2 = <[\"x\"=2]>" "<@$2, [{\"x\"}]>"
        expect_fine
        expect_out "$first"
    done
}

expect_name m m
expect_name '"m"' m
expect_name '_a$b.c9' '_a$b.c9'
expect_name '"9"' '"9"'
expect_name '""' '""'
expect_name '"my mesh"' '"my mesh"'
expect_name '"na=me"' '"na=me"'
expect_name '"= <[>"' '"= <[>"'
expect_name '"a\\b"' '"a\\b"'
expect_name '"a\22b"' '"a\22b"'
expect_name '"a\"b"' '"a\22b"'
expect_name '"tab\09"' '"tab\09"'
expect_name '"größe"' '"gr\C3\B6\C3\9Fe"'

show --json --mesh '@"my \"mesh" = <["x"=2]>' '[{"x"}]'
expect_fine
expect_in_out '"mesh": "@\"my \\22mesh\" = <[\"x\"=2]>"'
show --mesh '@"my mesh" = <["x"=2]>' --shape 2 --svg - '[{"x"}]'
expect_in_out '@&quot;my mesh&quot; = &lt;'

# Space around the parts, and as programs define meshes.
for definition in '  @m=<["x"=2]>' '@"m"  =  <["x"=2]>' 'sdy.mesh @m = <["x"=2]>' '@m = #sdy.mesh<["x"=2]>'; do
    show --strict --mesh "$definition" '<@m, [{"x"}]>'
    expect_fine
    expect_in_out '@m = <["x"=2]>'
done

# Errors keep their location after a name; the forms of the document are not those of programs.
show --strict --mesh '@"a=b" = <["x"=0]>' '[{}]'
expect_error 2 '<mesh>:1:12: error: axis size must be at least 1'
show --strict --mesh '@"a=b" = <"x"=2>' '[{}]'
expect_error 2 "<mesh>:1:11: error: expected '['"
show --strict --mesh '@"m = <[]>' '[{}]'
expect_error 2 '<mesh>:1:1'
show --strict --mesh '@m <["x"=2]>' '[{}]'
expect_error 2 '<mesh>:1:1'
show --strict --mesh '@"a\zb" = <["x"=2]>' '[{}]'
expect_error 2 '<mesh>:1:4: error: unknown escape in string literal'
show --strict --mesh '@m = <["x"=2]> more' '<@m, [{}]>'
expect_error 2 '<mesh>:1:16: error: unexpected text after the mesh'

finish

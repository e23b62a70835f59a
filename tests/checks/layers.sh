#!/usr/bin/env bash
# Every #include and every call keeps to layers.txt, which permits nothing that is not used; public
# headers and tools reach only what outsiders reach.
set -euo pipefail
cd "$TSR_SOURCE_DIR"

c_headers=" assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h
 math.h setjmp.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h
 stdnoreturn.h string.h tgmath.h threads.h time.h uchar.h wchar.h wctype.h "
posix_headers=" dirent.h fcntl.h getopt.h glob.h langinfo.h libgen.h poll.h pthread.h regex.h strings.h
 sys/ioctl.h sys/mman.h sys/stat.h sys/types.h sys/wait.h termios.h unistd.h "
tool_headers=" argp.h jansson.h zlib.h "

result=0
complain() {
    echo "$*"
    result=1
}
is_in() {
    [[ ${*:2} =~ (^|[[:space:]])$1($|[[:space:]]) ]]
}

# layers.txt: each folder with what it may include, all of it named above.
declare -A allowed
above=" include/tessera "
while read -r folder colon names; do
    [[ -n $folder && $folder != \#* ]] || continue
    [[ $colon == : ]] || complain "layers.txt: '$folder' is not followed by ' :'"
    for name in $names; do
        is_in "$name" "$above" || complain "layers.txt: $folder names $name, which is not above it"
    done
    allowed[$folder]=$names
    above+="${folder#src/} "
done <layers.txt

# check_include FILE LINE HEADER, the header with its <> or "".
check_include() {
    local file=$1 place="$1:$2" header=${3:1:-1}
    case $3 in
    '<tessera/'*) return ;;
    '<mpi.h>')
        [[ $file == src/mpi/* ]] || complain "$place: mpi.h belongs to src/mpi alone"
        return
        ;;
    esac
    case $file in
    include/*)
        if [[ $3 == '"'* ]] || ! is_in "$header" "$c_headers"; then
            complain "$place: a public header may include <tessera/...> and C headers, not $3"
        fi
        ;;
    tools/*)
        if [[ $3 == '"'* ]]; then
            [[ $header != *..* && -e $(dirname "$file")/$header ]] ||
                complain "$place: a tool may include its own headers, not $3"
        else
            is_in "$header" "$c_headers $posix_headers $tool_headers" ||
                complain "$place: a tool may not include $3"
        fi
        ;;
    src/*)
        [[ $3 == '"'* ]] || return 0
        local layer=${file#src/}
        layer=${layer%%/*}
        if [[ $header != */* ]]; then
            complain "$place: write \"layer/file.h\", not $3"
        elif [[ ${header%%/*} != "$layer" ]]; then
            is_in "${header%%/*}" "${allowed[src/$layer]-}" ||
                complain "$place: src/$layer may include [${allowed[src/$layer]-}], not $3"
            used[$layer ${header%%/*}]=1
        fi
        ;;
    esac
}

for folder in src/*/; do
    folder=${folder%/}
    [[ -v allowed[$folder] ]] || complain "layers.txt: no line for $folder"
done

# Which permissions are used, `FOLDER NAME`.
declare -A used

while IFS=: read -r file line directive; do
    if [[ $directive =~ include[[:space:]]*(\<[^\>]+\>|\"[^\"]+\") ]]; then
        check_include "$file" "$line" "${BASH_REMATCH[1]}"
    else
        complain "$file:$line: cannot read '$directive'"
    fi
done < <(grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include' include src tools)

# symbol_edges OBJECT...: `FOLDER OTHER FILE SYMBOL` for what an object of a folder needs of another.
# An object is FOLDER/FILE.o in a folder src or generated of the build.
symbol_edges() {
    nm -A -P "$@" | awk '
        { path = $1; sub(/.*\/(src|generated)\//, "", path); sub(/:$/, "", path)
          folder = path; sub(/\/.*/, "", folder) }
        $3 == "U" { needs[++count] = folder " " path " " $2; next }
        $3 ~ /^[A-Z]$/ { home[$2] = folder }
        END {
            for (i = 1; i <= count; i++) {
                split(needs[i], part, " ")
                if (part[3] in home && home[part[3]] != part[1])
                    print part[1], home[part[3]], part[2], part[3]
            }
        }'
}

# The objects of the library, whose public calls are edges too. The plug-ins are not part of it.
objects=()
for source in src/*/*.c; do
    object=$TSR_BUILD_DIR/CMakeFiles/tessera_objects.dir/$source.o
    if [[ -e $object ]]; then
        objects+=("$object")
    elif [[ $source != src/mpi/* ]]; then
        complain "$source: it is not built, so its calls are not known"
    fi
done
for object in "$TSR_BUILD_DIR"/CMakeFiles/tessera_objects.dir/generated/*/*.o; do
    [[ ! -e $object ]] || objects+=("$object")
done
while read -r folder other file symbol; do
    is_in "$other" "${allowed[src/$folder]-}" ||
        complain "src/$file: it needs $symbol of src/$other; src/$folder may call [${allowed[src/$folder]-}]"
    used[$folder $other]=1
done < <(symbol_edges "${objects[@]}")

for folder in "${!allowed[@]}"; do
    [[ $folder == src/* ]] || continue
    [[ -d $folder ]] || complain "layers.txt: there is no folder $folder"
    for name in ${allowed[$folder]}; do
        [[ $name == */* || -n ${used[${folder#src/} $name]-} ]] ||
            complain "layers.txt: $folder neither includes nor calls $name"
    done
done

exit $result

#!/usr/bin/env bash
# Installs into a temporary folder, moves it, and builds and runs outside programs against it:
# through pkg-config and through CMake, shared and static, in C and in C++.
set -euo pipefail
here=$TSR_SOURCE_DIR/tests/install
work=$TSR_BUILD_DIR/install-test
unset DESTDIR
rm -rf "$work" && mkdir -p "$work"

cmake --install "$TSR_BUILD_DIR" --prefix "$work/staged" >/dev/null
mv "$work/staged" "$work/moved"
prefix=$work/moved

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tessera.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir tessera)
read -ra flags <<<"$(pkg-config --cflags --libs tessera)"
read -ra static_flags <<<"$(pkg-config --static --cflags --libs tessera)"

# run LINKAGE PROGRAM: the program must work and load, or not load, the installed shared library.
run() {
    local loads=static libraries
    libraries=$(LD_LIBRARY_PATH=$libdir ldd "$2" 2>/dev/null) || true
    [[ $libraries != *"libtessera.so.0 => $prefix/"* ]] || loads=shared
    [[ $loads == "$1" ]] || { echo "$2: linked $loads, not $1" && exit 1; }
    LD_LIBRARY_PATH=$libdir "$2"
}

gcc "$here/consumer.c" -o "$work/c_shared" "${flags[@]}"
gcc -static "$here/consumer.c" -o "$work/c_static" "${static_flags[@]}"
g++ "$here/consumer.cpp" -o "$work/cpp_shared" "${flags[@]}"
g++ -static "$here/consumer.cpp" -o "$work/cpp_static" "${static_flags[@]}"
for linkage in shared static; do
    run $linkage "$work/c_$linkage"
    run $linkage "$work/cpp_$linkage"
done

cmake -S "$here" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/cmake" >/dev/null
for linkage in shared static; do
    run $linkage "$work/cmake/c_$linkage"
    run $linkage "$work/cmake/cpp_$linkage"
done

"$prefix/bin/tessera" --version

# A new user's path: the program of docs/c.md by its own commands, in C and in C++, then the examples,
# with nothing but the prefix.
mkdir "$work/user" && cd "$work/user"
awk '/^```/ { inside = 0 } inside { print } /^```c$/ { inside = 1 }' "$TSR_SOURCE_DIR/docs/c.md" >hello.c
grep -q 'int main' hello.c
page_commands() {
    awk '/^```/ { inside = 0 } inside && /^\$ / { print substr($0, 3) } /^```console$/ { inside = 1 }' \
        "$TSR_SOURCE_DIR/docs/c.md" | grep -E '^(cc hello\.c|\./hello)'
}
[[ $(page_commands | wc -l) == 2 ]] || { echo "docs/c.md compiles and runs hello" && exit 1; }
expected=$(awk '/^\$ \.\/hello/ { getline; print }' "$TSR_SOURCE_DIR/docs/c.md")
output=$(env -u LD_LIBRARY_PATH bash -ec "$(page_commands)")
[[ $output == "$expected" ]] || { echo "hello says: $output, docs/c.md: $expected" && exit 1; }
cp hello.c hello.cpp
g++ hello.cpp "${flags[@]}" "-Wl,-rpath,$libdir" -o hello_cpp
[[ $(env -u LD_LIBRARY_PATH ./hello_cpp) == "$expected" ]] || { echo "hello in C++" && exit 1; }
for source in "$TSR_SOURCE_DIR"/examples/*.c; do
    gcc "$source" "${flags[@]}" -lopenblas -lm "-Wl,-rpath,$libdir" -o example
    env -u LD_LIBRARY_PATH ./example 4 >output.txt 2>&1 || { cat output.txt && exit 1; }
done

# What --help says is installed for man and for shells.
for file in man/man1/{tessera,tessera-show,tessera-opt}.1 bash-completion/completions/{tessera,tessera-opt} \
    zsh/site-functions/{_tessera,_tessera-opt} fish/vendor_completions.d/{tessera,tessera-opt}.fish; do
    [[ -s $prefix/share/$file ]] || { echo "share/$file is not installed" && exit 1; }
done
cd "$work"

if grep -rlF "$TSR_SOURCE_DIR" "$prefix/include" "$(dirname "$PKG_CONFIG_PATH")"/{pkgconfig,cmake}; then
    echo "these installed files name the source folder"
    exit 1
fi

#!/usr/bin/env bash
# Without OpenBLAS's headers the build of the Python package says what to install.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if output=$(PKG_CONFIG_LIBDIR=$work PKG_CONFIG_PATH='' cmake -S "$TSR_SOURCE_DIR" -B "$work/build" \
    -DTSR_PYTHON=ON 2>&1); then
    echo "configured without OpenBLAS" && exit 1
fi
[[ $output == *"apt-get install libopenblas-dev"* ]] || { echo "$output" && exit 1; }

# Nor without DLPack's.
if output=$(cmake -S "$TSR_SOURCE_DIR" -B "$work/other" -DTSR_PYTHON=ON \
    -Ddlpack_header=dlpack_header-NOTFOUND -DCMAKE_FIND_ROOT_PATH="$work" \
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY 2>&1); then
    echo "configured without DLPack" && exit 1
fi
[[ $output == *"apt-get install libdlpack-dev"* ]] || { echo "$output" && exit 1; }

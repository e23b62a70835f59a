# Sourced at the root of the tree: where ccache is installed, CMake takes what was compiled before from
# it, also what another build folder, as far from the root, has compiled with the same flags.
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
fi

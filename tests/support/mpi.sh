# Shell functions for tests under mpirun; sourced. Skips when an MPI is missing.
export TSR_PLUGIN_PATH=$TSR_BUILD_DIR
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_base_warn_component_unused=0
# More ranks than cores: Open MPI 4, and 5 with its own launcher.
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# The MPI libraries leak what they keep until the process ends.
export ASAN_OPTIONS=detect_leaks=0

# What each mpirun is called, and whether its plug-in was built.
has_mpi() {
    command -v "mpirun.$1" >/dev/null && [[ -f $TSR_BUILD_DIR/libtessera_mpi_$1.so ]]
}

# run_mpi openmpi 2 PROGRAM ARGUMENT...
run_mpi() {
    local mpi=$1 ranks=$2
    shift 2
    timeout -k 5 120 "mpirun.$mpi" -n "$ranks" "$@"
}

for mpi in openmpi mpich; do
    has_mpi $mpi || { echo "no $mpi, or no plug-in for it" && exit 77; }
done

# The commands in tools/, the fuzzers and the examples.

# A command sees the public headers only; the static archive lets it run from anywhere.
file(GLOB command_sources CONFIGURE_DEPENDS tools/tessera/*.c)
add_executable(tessera_command ${command_sources})
set_target_properties(tessera_command PROPERTIES OUTPUT_NAME tessera)
target_link_libraries(tessera_command PRIVATE tessera_static PkgConfig::zlib)

file(GLOB opt_sources CONFIGURE_DEPENDS tools/tessera-opt/*.c)
add_executable(tessera_opt ${opt_sources})
set_target_properties(tessera_opt PROPERTIES OUTPUT_NAME tessera-opt)
target_link_libraries(tessera_opt PRIVATE tessera_static)

# Man pages and completions, out of the tables that --help is made from: <build>/share is share/.
add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/share/made
    COMMAND ${CMAKE_SOURCE_DIR}/scripts/describe $<TARGET_FILE:tessera_command> ${CMAKE_BINARY_DIR}/share
    COMMAND ${CMAKE_SOURCE_DIR}/scripts/describe $<TARGET_FILE:tessera_opt> ${CMAKE_BINARY_DIR}/share
    COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/share/made
    DEPENDS tessera_command tessera_opt scripts/describe scripts/describe.awk
    VERBATIM)
add_custom_target(manual ALL DEPENDS ${CMAKE_BINARY_DIR}/share/made)

# fuzz/fuzz_<name>.c: one libFuzzer program each, in <build>/fuzz/. tests.cmake runs the corpora.
set(fuzzers "")
if(TSR_FUZZERS)
    file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/fuzz_*.c)
    foreach(source ${fuzz_sources})
        cmake_path(GET source STEM name)
        add_executable(${name} ${source})
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
        target_compile_options(${name} PRIVATE -Wno-missing-prototypes)
        target_link_libraries(${name} PRIVATE tessera_objects)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        list(APPEND fuzzers ${name})
    endforeach()
endif()

# examples/<name>.c: one program each, in <build>/examples/; they see what a user sees.
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
foreach(source ${example_sources})
    cmake_path(GET source STEM name)
    add_executable(example_${name} ${source})
    set_target_properties(example_${name} PROPERTIES
        OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
    target_link_libraries(example_${name} PRIVATE tessera_static PkgConfig::openblas)
endforeach()

# Every file in tests/<suite>/ is a CTest test named by its path, with the suite as its label. A C
# test whose name says that its ranks are threads, which messages may join, is also labelled
# `threads` and runs under the thread sanitizer. A C test tests/<suite>/<name>.c has further sources
# in tests/<suite>/<name>/, which no other program is built with; what several programs of a suite
# share is in tests/<suite>/shared/, what several suites share in tests/support/.
include(CTest)
if(NOT BUILD_TESTING)
    return()
endif()

set(test_environment
    TESSERA=$<TARGET_FILE:tessera_command>
    TESSERA_OPT=$<TARGET_FILE:tessera_opt>
    TSR_SOURCE_DIR=${PROJECT_SOURCE_DIR}
    TSR_BUILD_DIR=${PROJECT_BINARY_DIR}
    TSR_INSTRUMENTED=${TSR_INSTRUMENTED}
    TSR_CONFORMANCE_DIR=${PROJECT_SOURCE_DIR}/../shared/conformance)

# thread_tests: the programs of the tests that are labelled so, all that the thread sanitizer needs.
add_custom_target(thread_tests)

function(tsr_set_test_properties test suite)
    set(labels ${suite})
    if(test MATCHES "threads|messages")
        list(APPEND labels threads)
        if(TARGET "${target}") # the caller's: the program of a C test
            add_dependencies(thread_tests ${target})
        endif()
    endif()
    set_tests_properties(${test} PROPERTIES
        LABELS "${labels}"
        ENVIRONMENT "${test_environment}"
        SKIP_RETURN_CODE 77)
endfunction()

# The library of tests/<folder>/shared/*.c, what several programs of a folder share. Sets `shared` in
# the caller, empty when there is no such file.
function(tsr_find_shared folder)
    string(MAKE_C_IDENTIFIER ${folder}_shared shared)
    if(NOT TARGET ${shared})
        file(GLOB sources CONFIGURE_DEPENDS tests/${folder}/shared/*.c)
        if(sources)
            add_library(${shared} STATIC ${sources})
            target_include_directories(${shared} PUBLIC tests/${folder}/shared)
            target_link_libraries(${shared} PUBLIC test_support)
        else()
            set(shared "")
        endif()
    endif()
    set(shared "${shared}" PARENT_SCOPE)
endfunction()

# Builds a C file under tests/ to <build>/tests/<same path>, with the sources in the folder of its
# name, if there is one, and the library of the folder it is in. Sets in the caller `test`, the path
# without its ending, and `target`.
function(tsr_add_test_program source)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE test)
    cmake_path(REMOVE_EXTENSION test)
    string(MAKE_C_IDENTIFIER ${test} target)
    cmake_path(GET test PARENT_PATH folder)
    cmake_path(GET test FILENAME program)
    file(GLOB parts CONFIGURE_DEPENDS tests/${test}/*.c)
    tsr_find_shared(${folder})
    add_executable(${target} ${source} ${parts})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${program}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${folder})
    if(parts)
        target_include_directories(${target} PRIVATE tests/${test})
    endif()
    target_link_libraries(${target} PRIVATE ${shared} test_support)
    set(test ${test} PARENT_SCOPE)
    set(target ${target} PARENT_SCOPE)
endfunction()

function(tsr_add_c_tests suite pattern)
    file(GLOB sources CONFIGURE_DEPENDS tests/${suite}/${pattern})
    foreach(source ${sources})
        tsr_add_test_program(${source})
        add_test(NAME ${test} COMMAND ${target})
        tsr_set_test_properties(${test} ${suite})
    endforeach()
endfunction()

# tests/ranks/<name>.c: one program, run on each kind of ranks that needs no launcher.
function(tsr_add_rank_tests)
    file(GLOB sources CONFIGURE_DEPENDS tests/ranks/*.c)
    foreach(source ${sources})
        tsr_add_test_program(${source})
        set(sample_of_messages 100)
        if(TSR_INSTRUMENTED) # threads run in full, and the release build runs all kinds so
            set(sample_of_processes 100)
            set(sample_of_joined 100)
        endif()
        foreach(kind threads processes messages joined)
            # Messages are slow with more ranks than cores: a sample is enough of what takes one.
            add_test(NAME ${test}_${kind} COMMAND ${target} ${kind} ${sample_of_${kind}})
            tsr_set_test_properties(${test}_${kind} ranks)
        endforeach()
    endforeach()
endfunction()

# Shell tests get their paths from the environment; exit code 77 means skipped.
function(tsr_add_shell_tests suite)
    file(GLOB scripts CONFIGURE_DEPENDS tests/${suite}/*.sh)
    foreach(script ${scripts})
        cmake_path(GET script STEM name)
        add_test(NAME ${suite}/${name} COMMAND bash ${script})
        tsr_set_test_properties(${suite}/${name} ${suite})
    endforeach()
endfunction()

# Without cmocka the libraries and commands still build, but the tests must not look complete.
pkg_check_modules(cmocka IMPORTED_TARGET cmocka)
if(NOT cmocka_FOUND)
    message(WARNING "cmocka is missing, no C test is built; run scripts/deps test")
    add_test(NAME cmocka-is-missing COMMAND ${CMAKE_COMMAND} -E false)
else()
    # tests/support/*.c helps all C tests; with no file there it only carries the link libraries.
    file(GLOB support_sources CONFIGURE_DEPENDS tests/support/*.c)
    set(scope INTERFACE)
    if(support_sources)
        set(scope PUBLIC)
        add_library(test_support STATIC ${support_sources})
    else()
        add_library(test_support INTERFACE)
    endif()
    target_include_directories(test_support ${scope} tests/support)
    target_link_libraries(test_support ${scope} tessera_objects PkgConfig::cmocka PkgConfig::jansson)

    tsr_add_c_tests(unit */test_*.c)
    # Parts of a command are compiled into their tests: commands are not libraries.
    target_sources(unit_tools_test_pipeline PRIVATE tools/tessera-opt/pipeline.c)
    target_include_directories(unit_tools_test_pipeline PRIVATE tools/tessera-opt)
    target_sources(unit_tools_test_calibrate PRIVATE tools/tessera/calibrate_fit.c)
    target_include_directories(unit_tools_test_calibrate PRIVATE tools/tessera)
    tsr_add_c_tests(prop prop_*.c)
    tsr_add_c_tests(fault *.c)
    tsr_add_c_tests(launch *.c)
    # It loads the machine itself, with time-outs out of what it measures.
    set_tests_properties(launch/load PROPERTIES RUN_SERIAL ON)
    tsr_add_rank_tests()

    # Programs that tests/mpi/*.sh start; users_comm uses MPI itself, one of each.
    tsr_add_test_program(${PROJECT_SOURCE_DIR}/tests/mpi/victim.c)
    tsr_add_test_program(${PROJECT_SOURCE_DIR}/tests/mpi/open_world.c)
    foreach(name openmpi mpich)
        if(TARGET PkgConfig::${name})
            add_executable(users_comm_${name} tests/mpi/users_comm.c)
            set_target_properties(users_comm_${name} PROPERTIES
                RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/mpi)
            target_link_libraries(users_comm_${name} PRIVATE tessera_static PkgConfig::${name})
        endif()
    endforeach()

    # The runners of outside suites are only built here; tests/conformance/*.sh call them.
    file(GLOB runners CONFIGURE_DEPENDS tests/conformance/*.c)
    foreach(source ${runners})
        tsr_add_test_program(${source})
    endforeach()
    # Some facts are statements that the rank tests make as well.
    target_sources(conformance_nabla_facts PRIVATE tests/ranks/statements/statements.c)
    target_include_directories(conformance_nabla_facts PRIVATE tests/ranks/statements)

    # tests/differential/*.sh compare with a reference implementation that a plain clone does not
    # have: the programs are built here, the scripts are run by hand.
    file(GLOB differential CONFIGURE_DEPENDS tests/differential/*.c)
    foreach(source ${differential})
        tsr_add_test_program(${source})
    endforeach()
endif()

tsr_add_shell_tests(cli)
tsr_add_shell_tests(mpi)
# The longest test of all begins first, that nothing waits for it alone.
set_tests_properties(mpi/suites PROPERTIES COST 1000)
tsr_add_shell_tests(conformance)
tsr_add_shell_tests(examples)

# These look at the sources and at the libraries as they are shipped.
if(NOT TSR_INSTRUMENTED)
    tsr_add_shell_tests(docs)
    tsr_add_shell_tests(checks)
    tsr_add_shell_tests(install)
endif()

# Each fuzzer reads its committed corpus once; scripts/fuzz searches further.
foreach(fuzzer ${fuzzers})
    string(REPLACE "fuzz_" "" name ${fuzzer})
    file(GLOB corpus CONFIGURE_DEPENDS fuzz/corpus/${name})
    add_test(NAME fuzz/${name} COMMAND ${fuzzer} -runs=0 ${corpus})
    tsr_set_test_properties(fuzz/${name} fuzz)
endforeach()

# tests/boundary: the walk over all public functions, made out of the headers.
if(cmocka_FOUND)
    set(walk_calls ${CMAKE_CURRENT_BINARY_DIR}/tests/boundary/walk_calls.c)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/boundary)
    add_custom_command(OUTPUT ${walk_calls}
        COMMAND tests/boundary/make_calls ${walk_calls} ${public_headers}
        DEPENDS tests/boundary/make_calls tests/boundary/walk.awk tests/boundary/values.txt
            scripts/prototypes scripts/prototypes.awk scripts/declarations.awk ${public_headers}
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        COMMENT "Making the walk over public functions"
        VERBATIM)
    add_executable(boundary_walk tests/boundary/walk.c tests/boundary/values.c ${walk_calls})
    set_target_properties(boundary_walk PROPERTIES
        OUTPUT_NAME walk
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/boundary)
    target_include_directories(boundary_walk PRIVATE tests/boundary)
    target_link_libraries(boundary_walk PRIVATE test_support)
    add_test(NAME boundary/walk COMMAND boundary_walk
        WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests/boundary)
    tsr_set_test_properties(boundary/walk boundary)
    set_property(TEST boundary/walk APPEND PROPERTY
        ENVIRONMENT ASAN_OPTIONS=allocator_may_return_null=1)
endif()

# The compiler flags of everything in the tree.
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE) # -O2 -g -DNDEBUG
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_definitions(_GNU_SOURCE)
add_compile_options(
    -ffp-contract=off -fno-math-errno -fno-trapping-math
    -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes
    -Wvla -Wundef -Wpointer-arith -Wcast-qual
    $<$<BOOL:${TSR_WERROR}>:-Werror>)

if(TSR_FUZZERS)
    if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "TSR_FUZZERS needs clang (-DCMAKE_C_COMPILER=clang), not ${CMAKE_C_COMPILER_ID}")
    endif()
    if(NOT TSR_SANITIZE)
        set(TSR_SANITIZE "address,undefined")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Sanitizer builds keep their assertions, whatever the build type, and end at the first finding; of
# debug information they have lines only, which halves the time to link.
if(TSR_SANITIZE)
    add_compile_options(-fsanitize=${TSR_SANITIZE} -fno-sanitize-recover=all
        -fno-omit-frame-pointer -O1 -g1 -UNDEBUG)
    add_link_options(-fsanitize=${TSR_SANITIZE})
endif()

if(TSR_COVERAGE)
    add_compile_options(--coverage -O0 -UNDEBUG)
    add_link_options(--coverage)
endif()

# Instrumented builds are for running tests, not for installing: their libraries carry the
# instrumentation's own symbols.
set(TSR_INSTRUMENTED OFF)
if(TSR_SANITIZE OR TSR_COVERAGE)
    set(TSR_INSTRUMENTED ON)
endif()

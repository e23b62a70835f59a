# libtessera: every src/<layer>/*.c, compiled once, in three forms.
#   tessera_objects  an archive with the internal symbols; for the tests, fuzzers and benches
#   tessera          libtessera.so
#   tessera_static   libtessera.a, one object in which all but the public symbols are local
find_package(Threads REQUIRED)
find_package(PkgConfig)
if(NOT PkgConfig_FOUND)
    message(FATAL_ERROR "pkg-config is missing: apt-get install pkg-config, or scripts/deps build")
endif()
pkg_check_modules(openblas IMPORTED_TARGET openblas)
if(NOT openblas_FOUND)
    message(FATAL_ERROR
        "OpenBLAS and its headers are missing: apt-get install libopenblas-dev, or scripts/deps build")
endif()
find_path(dlpack_header dlpack/dlpack.h)
if(NOT dlpack_header)
    message(FATAL_ERROR
        "DLPack's header is missing: apt-get install libdlpack-dev, or scripts/deps build")
endif()
pkg_check_modules(jansson IMPORTED_TARGET jansson)
pkg_check_modules(zlib IMPORTED_TARGET zlib)
if(NOT jansson_FOUND OR NOT zlib_FOUND)
    message(FATAL_ERROR "Jansson or zlib is missing: apt-get install libjansson-dev zlib1g-dev, or "
        "scripts/deps build")
endif()
set(TSR_LINK_LIBRARIES m Threads::Threads ${CMAKE_DL_LIBS} ${openblas_LIBRARIES} ${jansson_LIBRARIES}
    ${zlib_LIBRARIES})

file(GLOB library_sources CONFIGURE_DEPENDS src/*/*.c)
list(FILTER library_sources EXCLUDE REGEX "/src/mpi/") # the plug-ins: mpi.cmake
file(GLOB public_headers CONFIGURE_DEPENDS include/tessera/*.h)

# The guards of the public functions, out of their prototypes (src/base/guard.h).
set(guards ${CMAKE_CURRENT_BINARY_DIR}/generated/base)
add_custom_command(OUTPUT ${guards}/guards.h ${guards}/guards.c
    COMMAND scripts/guards ${guards} ${public_headers}
    DEPENDS scripts/guards scripts/guards.awk scripts/prototypes scripts/prototypes.awk
        scripts/declarations.awk ${public_headers}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Making the guards of public functions"
    VERBATIM)

add_library(tessera_objects STATIC ${library_sources} ${guards}/guards.c ${guards}/guards.h)
set_target_properties(tessera_objects PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    C_VISIBILITY_PRESET hidden)
target_include_directories(tessera_objects PUBLIC include src ${CMAKE_CURRENT_BINARY_DIR}/generated)
target_include_directories(tessera_objects SYSTEM PRIVATE ${openblas_INCLUDE_DIRS})
target_compile_definitions(tessera_objects PRIVATE TSR_LIBRARY_DIR="${CMAKE_INSTALL_LIBDIR}")
target_link_libraries(tessera_objects PUBLIC ${TSR_LINK_LIBRARIES})

add_library(tessera SHARED $<TARGET_OBJECTS:tessera_objects>)
target_link_libraries(tessera PRIVATE ${TSR_LINK_LIBRARIES})
set_target_properties(tessera PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR})

if(TSR_INSTRUMENTED)
    add_library(tessera_static STATIC $<TARGET_OBJECTS:tessera_objects>)
else()
    target_link_options(tessera PRIVATE -Wl,-z,defs)
    set(merged ${CMAKE_CURRENT_BINARY_DIR}/libtessera.o)
    add_custom_command(OUTPUT ${merged}
        COMMAND ${CMAKE_LINKER} -r -o ${merged} $<TARGET_OBJECTS:tessera_objects>
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${merged}
        DEPENDS tessera_objects $<TARGET_OBJECTS:tessera_objects>
        COMMENT "Merging libtessera.o and hiding what is not public"
        COMMAND_EXPAND_LISTS VERBATIM)
    add_library(tessera_static STATIC ${merged})
endif()
target_link_libraries(tessera_static PRIVATE ${TSR_LINK_LIBRARIES})
set_target_properties(tessera_static PROPERTIES OUTPUT_NAME tessera)

foreach(library tessera tessera_static)
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C)
    target_include_directories(${library} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

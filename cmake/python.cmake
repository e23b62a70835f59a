# The extension module of the Python package: python/binding over libtessera, built by `pip install .`
# with the limited API, so that one module serves every CPython from 3.10 on.
find_package(Python COMPONENTS Interpreter Development.Module)
if(NOT Python_FOUND)
    message(FATAL_ERROR
        "Python's headers are missing: apt-get install python3-dev, or scripts/deps python")
endif()

set(binding ${CMAKE_CURRENT_BINARY_DIR}/tessera_binding.c)
add_custom_command(OUTPUT ${binding}
    COMMAND ${Python_EXECUTABLE} python/binding/generate.py ${CMAKE_C_COMPILER}
        ${PROJECT_SOURCE_DIR}/include ${binding}
    DEPENDS python/binding/generate.py python/binding/calls.h ${public_headers}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Making the binding out of the public headers"
    VERBATIM)
set_source_files_properties(${binding} PROPERTIES COMPILE_OPTIONS "-w;-O1")

file(GLOB binding_sources CONFIGURE_DEPENDS python/binding/*.c)
python_add_library(tessera_binding MODULE ${binding} ${binding_sources})
set_target_properties(tessera_binding PROPERTIES
    PREFIX ""
    OUTPUT_NAME _binding
    SUFFIX .abi3.so
    C_VISIBILITY_PRESET hidden)
target_compile_definitions(tessera_binding PRIVATE Py_LIMITED_API=0x030a0000)
target_include_directories(tessera_binding PRIVATE python/binding)
target_link_libraries(tessera_binding PRIVATE tessera_static Threads::Threads)
# Symbols of the library serve this module alone: another copy of it may be in the process.
target_link_options(tessera_binding PRIVATE -Wl,--exclude-libs,ALL)

# The plug-ins lie beside the module, where the library looks for them first.
add_custom_target(tessera_python DEPENDS tessera_binding ${mpi_plugins})
install(TARGETS tessera_binding LIBRARY DESTINATION tessera COMPONENT python)
if(mpi_plugins)
    install(TARGETS ${mpi_plugins} LIBRARY DESTINATION tessera COMPONENT python)
endif()

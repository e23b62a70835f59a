# What `make install` puts in place. Both package files find their prefix from their own path, so an
# installed tree can be moved.
include(CMakePackageConfigHelpers)

install(TARGETS tessera tessera_static EXPORT TesseraTargets)
install(TARGETS tessera_command tessera_opt)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/man ${CMAKE_BINARY_DIR}/share/bash-completion
    ${CMAKE_BINARY_DIR}/share/zsh ${CMAKE_BINARY_DIR}/share/fish DESTINATION share)
if(mpi_plugins)
    install(TARGETS ${mpi_plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera)

set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_to_prefix /prefix/${pkgconfig_dir} /prefix)
string(REGEX REPLACE "/$" "" pkgconfig_to_prefix ${pkgconfig_to_prefix})
configure_file(cmake/tessera.pc.in tessera.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tessera.pc DESTINATION ${pkgconfig_dir})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
configure_package_config_file(cmake/TesseraConfig.cmake.in TesseraConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(TesseraConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${package_dir})
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/TesseraConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/TesseraConfigVersion.cmake
    DESTINATION ${package_dir})

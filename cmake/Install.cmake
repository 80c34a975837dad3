include(CMakePackageConfigHelpers)
# Components are packages of Debian: forerun, libforerun0, libforerun-dev and forerun-doc (Package.cmake). Manual pages and
# completion are installed by sim/cli.
install(TARGETS forerun RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY topologies scenarios plots DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun USE_SOURCE_PERMISSIONS COMPONENT program)
install(DIRECTORY calibrate/defaults DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun/calibrate COMPONENT program)
install(FILES calibrate/record.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun/calibrate COMPONENT program)

# libforerun: the header, the library shared and static, and what pkg-config and find_package (forerun) read. None of it holds a
# path of this machine: an installation can be moved.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/forerun)
install(FILES sim/api/include/forerun.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(TARGETS libforerun EXPORT forerun
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/libforerun.a DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT forerun NAMESPACE forerun:: FILE forerunConfig.cmake DESTINATION ${package} COMPONENT development)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/forerunConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/forerunConfigVersion.cmake DESTINATION ${package} COMPONENT development)
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
set(requires_of_options "") # what only some builds have, of the static library
if(FORERUN_WITH_PROTOBUF)
  string(APPEND requires_of_options ", libprotobuf-c")
endif()
configure_file(cmake/forerun.pc.in forerun.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/forerun.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
include(cmake/Dependencies.cmake)
install(FILES ${CMAKE_BINARY_DIR}/forerun.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
include(cmake/Package.cmake)

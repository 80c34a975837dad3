include(CMakePackageConfigHelpers)
install(TARGETS forerun RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY topologies scenarios plots DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun)
install(DIRECTORY calibrate/defaults DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun/calibrate)
install(FILES calibrate/record.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun/calibrate)

# libforerun: the header, the library shared and static, and what pkg-config and find_package (forerun) read. None of it holds a
# path of this machine: an installation can be moved.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/forerun)
install(FILES sim/api/include/forerun.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS libforerun EXPORT forerun LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_BINARY_DIR}/libforerun.a DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT forerun NAMESPACE forerun:: FILE forerunConfig.cmake DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/forerunConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/forerunConfigVersion.cmake DESTINATION ${package})
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/forerun.pc.in forerun.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/forerun.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

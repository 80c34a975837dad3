include(GNUInstallDirs)
install(TARGETS forerun RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY topologies scenarios plots DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun)
install(DIRECTORY calibrate/defaults DESTINATION ${CMAKE_INSTALL_DATADIR}/forerun/calibrate)

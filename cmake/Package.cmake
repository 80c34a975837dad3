# Packages by CPack: `cpack -G DEB` makes forerun, libforerun0, libforerun-dev and forerun-doc, `cpack -G TGZ` one archive. What
# Debian wants besides (copyright, changelog, compressed pages) is added by Debian.cmake.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY TRUE) # who packages has built: tests are no part of it
set(FORERUN_PACKAGER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>" CACHE STRING "Who builds a package: NAME <ADDRESS>")
if(FORERUN_PACKAGER STREQUAL " <>")
  set(FORERUN_PACKAGER "forerun maintainers <maintainers@forerun.invalid>" CACHE STRING "" FORCE) # an address that nobody can have
endif()

set(CPACK_PACKAGE_NAME forerun)
set(CPACK_PACKAGE_VENDOR "forerun maintainers")
set(CPACK_PACKAGE_CONTACT "${FORERUN_PACKAGER}")
# Each package has its own synopsis. CPack puts this one before it, unless it is CPack's default.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library development documentation)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/Debian.cmake)
set(CPACK_GENERATOR DEB TGZ)

# One archive of all, as `cmake --install` lays it down; it runs where it is unpacked.
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_PACKAGE_FILE_NAME forerun-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(about "forerun predicts how long communication and training take on a GPU cluster
that a YAML file describes, what limits them, what they cost, and how
accurate the prediction is.")
foreach(row "program|forerun|science|simulator and capacity planner for GPU clusters|the program, the shipped data and manual pages"
        "library|libforerun0|libs|simulator for GPU clusters - shared library|the shared library for programs in C and Python"
        "development|libforerun-dev|libdevel|simulator for GPU clusters - development files|the header and the static library"
        "documentation|forerun-doc|doc|simulator for GPU clusters - documentation|the documents and examples")
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 component)
  string(TOUPPER ${component} component)
  list(GET row 1 CPACK_DEBIAN_${component}_PACKAGE_NAME)
  list(GET row 2 CPACK_DEBIAN_${component}_PACKAGE_SECTION)
  list(GET row 3 synopsis)
  list(GET row 4 has)
  set(CPACK_DEBIAN_${component}_DESCRIPTION "${synopsis}\n${about}\n.\nThis package has ${has}.")
endforeach()
set(this "(= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "forerun-doc, graphviz")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
file(WRITE ${CMAKE_BINARY_DIR}/debian/shlibs "libforerun 0 libforerun0 (>= ${PROJECT_VERSION})\n")
file(WRITE ${CMAKE_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/debian/shlibs ${CMAKE_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "forerun ${this}") # the shipped data
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libforerun0 ${this}, libglib2.0-dev, libjson-glib-dev, libyaml-dev")
set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)

include(CPack)

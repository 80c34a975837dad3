# Required libraries, and those that are used when they are there and not missed when they are not.
find_package(PkgConfig REQUIRED)
pkg_check_modules(GLIB REQUIRED IMPORTED_TARGET glib-2.0>=2.66 gobject-2.0 gio-2.0)
pkg_check_modules(JSON_GLIB REQUIRED IMPORTED_TARGET json-glib-1.0)
pkg_check_modules(LIBYAML REQUIRED IMPORTED_TARGET yaml-0.1)
if(BUILD_TESTING OR NOT DEFINED BUILD_TESTING)
  pkg_check_modules(CUNIT IMPORTED_TARGET cunit)
endif()

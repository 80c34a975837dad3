# Required libraries, and those that are used when they are there and not missed when they are not.
find_package(PkgConfig REQUIRED)
pkg_check_modules(GLIB REQUIRED IMPORTED_TARGET glib-2.0>=2.66 gobject-2.0 gio-2.0)
pkg_check_modules(JSON_GLIB REQUIRED IMPORTED_TARGET json-glib-1.0)
pkg_check_modules(LIBYAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(NLOPT REQUIRED IMPORTED_TARGET nlopt)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)

# Optional: what sweeps over many machines (MPI) will be built with; a build says what it found and goes on. The probe looks for
# CUDA and NCCL itself (calibrate/probe/CMakeLists.txt).
pkg_check_modules(MPI_C QUIET ompi-c)
if(FORERUN_PROBE)
  message(STATUS "forerun-probe: FORERUN_PROBE is ${FORERUN_PROBE}")
else()
  message(STATUS "forerun-probe: not built here; on a machine with GPUs: cmake -S calibrate/probe -B build-probe")
endif()
if(MPI_C_FOUND)
  message(STATUS "MPI (Open MPI ${MPI_C_VERSION}): found; nothing uses it yet")
else()
  message(STATUS "MPI: not found; not needed")
endif()

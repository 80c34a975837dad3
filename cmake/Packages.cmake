# Required libraries, and those that are used when they are there and not missed when they are not.
find_package(PkgConfig REQUIRED)
pkg_check_modules(GLIB REQUIRED IMPORTED_TARGET glib-2.0>=2.66 gobject-2.0 gio-2.0)
pkg_check_modules(JSON_GLIB REQUIRED IMPORTED_TARGET json-glib-1.0)
pkg_check_modules(LIBYAML REQUIRED IMPORTED_TARGET yaml-0.1)

# Optional: what the probe (CUDA, NCCL) and sweeps over many machines (MPI) are built with. Nothing in the simulator needs them; a
# build says what it found and goes on.
find_package(CUDAToolkit QUIET)
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV NCCL_HOME PATH_SUFFIXES include)
mark_as_advanced(NCCL_INCLUDE_DIR)
pkg_check_modules(MPI_C QUIET ompi-c)
if(CUDAToolkit_FOUND AND NCCL_INCLUDE_DIR)
  message(STATUS "CUDA ${CUDAToolkit_VERSION} with NCCL (${NCCL_INCLUDE_DIR}): found; the probe that uses them is not built yet")
elseif(CUDAToolkit_FOUND)
  message(STATUS "CUDA ${CUDAToolkit_VERSION}: found, but no nccl.h (set NCCL_HOME); not needed")
else()
  message(STATUS "CUDA and NCCL: not found; not needed")
endif()
if(MPI_C_FOUND)
  message(STATUS "MPI (Open MPI ${MPI_C_VERSION}): found; nothing uses it yet")
else()
  message(STATUS "MPI: not found; not needed")
endif()

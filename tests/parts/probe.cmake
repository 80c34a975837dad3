# The parts of calibrate/probe that need no GPU. The program itself is built by -DFORERUN_PROBE=ON, or by its own CMakeLists.txt.
find_package(Threads REQUIRED)
set(probe ${PROJECT_SOURCE_DIR}/calibrate/probe)
add_library(probe_pure STATIC ${probe}/host/probe_child.c ${probe}/host/probe_fail.c ${probe}/host/probe_json.c
            ${probe}/host/probe_options.c ${probe}/host/probe_stats.c ${probe}/host/probe_team.c ${probe}/nccl/nccl_agree.c
            ${probe}/nccl/nccl_plan.c ${probe}/nccl/probe_dry.c ${probe}/nccl/probe_plan.c ${probe}/links/probe_numa.c
            ${probe}/mpi/probe_layout.c ${probe}/mpi/probe_member.c)
target_include_directories(probe_pure PUBLIC ${probe}/host ${probe}/nccl ${probe}/mpi ${probe}/links)
target_link_libraries(probe_pure PUBLIC Threads::Threads m PRIVATE forerun_flags)
foreach(part stats json options plan dry child team agree layout member numa)
  forerun_test(test_probe_${part} LABEL unit SOURCES unit/test_probe_${part}.c)
  target_link_libraries(test_probe_${part} PRIVATE probe_pure)
endforeach()
target_link_libraries(test_probe_json PRIVATE PkgConfig::JSON_GLIB)

# Four processes on this machine, where MPI is found. The look for leaks would find MPI's own; Open MPI wants to be asked before it
# runs for root, and more processes than there are processors.
if(MPI_C_FOUND AND MPIEXEC_EXECUTABLE)
  add_executable(test_probe_ranks unit/test_probe_ranks.c ${probe}/mpi/ranks.c)
  target_link_libraries(test_probe_ranks PRIVATE test_harness probe_pure forerun_flags MPI::MPI_C)
  add_test(NAME unit.test_probe_ranks COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 4 $<TARGET_FILE:test_probe_ranks>)
  set_tests_properties(unit.test_probe_ranks PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT
    "ASAN_OPTIONS=detect_leaks=0;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1")
else()
  add_test(NAME unit.test_probe_ranks
           COMMAND ${CMAKE_COMMAND} -E echo "skipped: no MPI for C (packages libopenmpi-dev, openmpi-bin)")
  set_tests_properties(unit.test_probe_ranks PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "skipped: ")
endif()

# forerun-probe-mpi itself, with a worker of its own in place of NCCL and without CUDA, run by mpirun.
include(CheckLanguage)
check_language(CXX)
if(NOT MPI_C_FOUND OR NOT MPIEXEC_EXECUTABLE)
  set(without "no MPI for C (packages libopenmpi-dev, openmpi-bin)")
elseif(NOT CMAKE_CXX_COMPILER)
  set(without "no C++ compiler, which the probe's own files need (package g++)")
else()
  set(without "")
endif()
if(without)
  add_test(NAME unit.test_probe_mpi COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${without}")
  set_tests_properties(unit.test_probe_mpi PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "skipped: ")
else()
  enable_language(CXX)
  set(as_cxx)
  foreach(file host/core host/document host/program nccl/nccl nccl/nccl_start mpi/main_nodes mpi/nodes)
    list(APPEND as_cxx ${probe}/${file}.cu)
  endforeach()
  set_source_files_properties(${as_cxx} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++")
  add_executable(probe_mpi_fake ${as_cxx} probe_mpi/fake_nccl.cc ${probe}/mpi/ranks.c)
  set_target_properties(probe_mpi_fake PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF)
  target_include_directories(probe_mpi_fake PRIVATE probe_mpi)
  target_compile_definitions(probe_mpi_fake PRIVATE _GNU_SOURCE NODES_PATIENCE_LEAST_S=1.0
                             PROBE_VERSION="${PROJECT_VERSION}")
  target_compile_options(probe_mpi_fake PRIVATE -Wall -Wextra $<$<BOOL:${FORERUN_WERROR}>:-Werror>)
  if(FORERUN_SANITIZE)
    target_compile_options(probe_mpi_fake PRIVATE ${forerun_sanitizers})
    target_link_options(probe_mpi_fake PRIVATE -fsanitize=address,undefined)
  endif()
  target_link_libraries(probe_mpi_fake PRIVATE probe_pure MPI::MPI_C)

  forerun_test(test_probe_mpi LABEL unit SOURCES unit/test_probe_mpi.c)
  target_link_libraries(test_probe_mpi PRIVATE PkgConfig::JSON_GLIB)
  target_compile_definitions(test_probe_mpi PRIVATE MPIEXEC="${MPIEXEC_EXECUTABLE}" PROGRAM="$<TARGET_FILE:probe_mpi_fake>"
                             FORERUN_VERSION="${PROJECT_VERSION}")
  add_dependencies(test_probe_mpi probe_mpi_fake)
  set_tests_properties(unit.test_probe_mpi PROPERTIES TIMEOUT 120)
endif()

# The parts of calibrate/probe that need no GPU. The program itself is built by -DFORERUN_PROBE=ON, or by its own CMakeLists.txt.
find_package(Threads REQUIRED)
set(probe ${PROJECT_SOURCE_DIR}/calibrate/probe)
add_library(probe_pure STATIC ${probe}/nccl_agree.c ${probe}/nccl_plan.c ${probe}/probe_child.c ${probe}/probe_json.c
            ${probe}/probe_layout.c ${probe}/probe_member.c ${probe}/probe_options.c ${probe}/probe_plan.c ${probe}/probe_stats.c
            ${probe}/probe_team.c)
target_include_directories(probe_pure PUBLIC ${probe})
target_link_libraries(probe_pure PUBLIC Threads::Threads m PRIVATE forerun_flags)
foreach(part stats json options plan child agree layout member)
  forerun_test(test_probe_${part} LABEL unit SOURCES unit/test_probe_${part}.c)
  target_link_libraries(test_probe_${part} PRIVATE probe_pure)
endforeach()
target_link_libraries(test_probe_json PRIVATE PkgConfig::JSON_GLIB)

# Four processes on this machine, where MPI is found. The look for leaks would find MPI's own; Open MPI wants to be asked before it
# runs for root, and more processes than there are processors.
if(MPI_C_FOUND AND MPIEXEC_EXECUTABLE)
  add_executable(test_probe_ranks unit/test_probe_ranks.c ${probe}/ranks.c)
  target_link_libraries(test_probe_ranks PRIVATE test_harness probe_pure forerun_flags MPI::MPI_C)
  add_test(NAME unit.test_probe_ranks COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 4 $<TARGET_FILE:test_probe_ranks>)
  set_tests_properties(unit.test_probe_ranks PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT
    "ASAN_OPTIONS=detect_leaks=0;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1")
else()
  add_test(NAME unit.test_probe_ranks
           COMMAND ${CMAKE_COMMAND} -E echo "skipped: no MPI for C (packages libopenmpi-dev, openmpi-bin)")
  set_tests_properties(unit.test_probe_ranks PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "skipped: ")
endif()

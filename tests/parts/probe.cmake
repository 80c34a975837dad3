# The parts of calibrate/probe that need no GPU. The program itself is built by -DFORERUN_PROBE=ON, or by its own CMakeLists.txt.
find_package(Threads REQUIRED)
set(probe ${PROJECT_SOURCE_DIR}/calibrate/probe)
add_library(probe_pure STATIC ${probe}/nccl_plan.c ${probe}/probe_child.c ${probe}/probe_json.c ${probe}/probe_options.c
            ${probe}/probe_plan.c ${probe}/probe_stats.c ${probe}/probe_team.c)
target_include_directories(probe_pure PUBLIC ${probe})
target_link_libraries(probe_pure PUBLIC Threads::Threads m PRIVATE forerun_flags)
foreach(part stats json options plan child)
  forerun_test(test_probe_${part} LABEL unit SOURCES unit/test_probe_${part}.c)
  target_link_libraries(test_probe_${part} PRIVATE probe_pure)
endforeach()
target_link_libraries(test_probe_json PRIVATE PkgConfig::JSON_GLIB)

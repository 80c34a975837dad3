# Built beside the tests, run by hand (docs/performance.md); they print and assert no time.
forerun_bench(bench_queue SOURCES bench/bench_queue.c bench/bench.c USES engine)
forerun_bench(bench_flow SOURCES bench/bench_flow.c bench/bench.c USES engine)
forerun_bench(bench_irregular SOURCES bench/bench_irregular.c bench/bench.c USES engine base)
forerun_bench(bench_model SOURCES bench/bench_model.c bench/bench.c USES plan constants)
target_compile_definitions(bench_model PRIVATE BENCH_DATA_DIR="${PROJECT_SOURCE_DIR}")
# Instructions are the same on any load, so that they can be held against a record; only an optimised build has these.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT FORERUN_SANITIZE)
  add_test(NAME bench.instructions COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/instructions.sh $<TARGET_FILE:forerun>)
  set_tests_properties(bench.instructions PROPERTIES LABELS bench TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()
forerun_bench(bench_serving SOURCES bench/bench_serving.c bench/bench.c USES plan constants)
target_include_directories(bench_serving PRIVATE unit)
forerun_says_where(bench_serving)
forerun_bench(bench_goodput SOURCES bench/bench_goodput.c bench/bench.c USES plan)
# For comparison only, where Debian's libsimgrid-dev is installed.
pkg_check_modules(SIMGRID QUIET IMPORTED_TARGET simgrid)
if(SIMGRID_FOUND)
  add_executable(bench_simgrid bench/bench_simgrid.c)
  target_link_libraries(bench_simgrid PRIVATE PkgConfig::SIMGRID m)
endif()
# Answers of the exact table, whatever they cost.
add_test(NAME case.exact_steps_of_1024_ranks
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/exact.sh --check $<TARGET_FILE:forerun>)
set_tests_properties(case.exact_steps_of_1024_ranks PROPERTIES LABELS case TIMEOUT 300)
forerun_bench(bench_plan SOURCES bench/bench_plan.c bench/bench.c USES plan constants)
target_compile_definitions(bench_plan PRIVATE BENCH_DATA_DIR="${PROJECT_SOURCE_DIR}")

# Built beside the tests, run by hand (docs/performance.md); they print and assert no time.
forerun_bench(bench_queue SOURCES bench/bench_queue.c bench/bench.c USES engine)
forerun_bench(bench_flow SOURCES bench/bench_flow.c bench/bench.c USES engine)
forerun_bench(bench_model SOURCES bench/bench_model.c bench/bench.c USES workload calibrate)
target_compile_definitions(bench_model PRIVATE BENCH_DATA_DIR="${PROJECT_SOURCE_DIR}")
forerun_bench(bench_goodput SOURCES bench/bench_goodput.c bench/bench.c USES workload)
target_include_directories(bench_goodput PRIVATE ${PROJECT_SOURCE_DIR}/sim/workload)

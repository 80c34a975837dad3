forerun_test (test_workload_coll LABEL unit SOURCES unit/test_workload_coll.c USES workload)
target_include_directories (test_workload_coll PRIVATE ${PROJECT_SOURCE_DIR}/sim/workload)
forerun_test (test_workload_training LABEL unit SOURCES unit/test_workload_training.c USES workload)
target_include_directories (test_workload_training PRIVATE ${PROJECT_SOURCE_DIR}/sim/workload)

forerun_fuzz (scenario SOURCES fuzz/fuzz_scenario.c USES workload calibrate)
target_include_directories (fuzz_scenario PRIVATE ${PROJECT_SOURCE_DIR}/sim/workload)
target_compile_definitions (fuzz_scenario PRIVATE TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
if (NOT FORERUN_FUZZ)
  add_test (NAME fuzz.scenario_shipped
            COMMAND fuzz_scenario ${PROJECT_SOURCE_DIR}/scenarios ${PROJECT_SOURCE_DIR}/scenarios/cases)
  set_tests_properties (fuzz.scenario_shipped PROPERTIES LABELS fuzz TIMEOUT 300)
endif ()

forerun_test (test_workload_coll LABEL unit SOURCES unit/test_workload_coll.c USES workload)
target_include_directories (test_workload_coll PRIVATE ${PROJECT_SOURCE_DIR}/sim/workload)
forerun_test (test_workload_training LABEL unit SOURCES unit/test_workload_training.c USES workload)
target_include_directories (test_workload_training PRIVATE ${PROJECT_SOURCE_DIR}/sim/workload)

forerun_test(test_calibrate_load LABEL unit SOURCES unit/test_calibrate_load.c USES calibrate)
# NCCL's graph search and tuner.
forerun_test(test_models_search LABEL unit SOURCES unit/test_models_search.c USES calibrate)
forerun_test(test_models_tuner LABEL unit SOURCES unit/test_models_tuner.c USES calibrate)
forerun_test(test_calibrate_tuner LABEL unit SOURCES unit/test_calibrate_tuner.c USES calibrate)
target_include_directories(test_calibrate_tuner PRIVATE ${PROJECT_SOURCE_DIR}/calibrate)
forerun_test(accuracy_tuner LABEL accuracy SOURCES accuracy/accuracy_tuner.c USES calibrate)
target_link_libraries(accuracy_tuner PRIVATE accuracy_measured)
target_include_directories(accuracy_tuner PRIVATE unit)

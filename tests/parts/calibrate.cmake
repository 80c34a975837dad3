forerun_test(test_calibrate_load LABEL unit SOURCES unit/test_calibrate_load.c USES calibrate)

foreach (file load)
  forerun_test (test_serving_${file} LABEL unit SOURCES unit/test_serving_${file}.c USES serving)
endforeach ()
forerun_fuzz (serving_trace SOURCES fuzz/fuzz_serving_trace.c USES serving)
# Which measured rows may be fitted follows from their names alone.
add_test (NAME accuracy.serving_split COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/data/serving/split.sh --check)
add_test (NAME accuracy.serving_ten COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/data/serving/ten.sh --check)
set_tests_properties (accuracy.serving_split accuracy.serving_ten PROPERTIES LABELS accuracy)

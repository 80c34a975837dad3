# libforerun as its users see it: forerun.h, the shared library, the examples of the documentation.
add_executable (test_api unit/test_api.c)
target_link_libraries (test_api PRIVATE test_harness forerun_flags libforerun)
forerun_says_where(test_api)
add_test (NAME unit.test_api COMMAND test_api $<TARGET_FILE:forerun>)
set_tests_properties (unit.test_api PROPERTIES LABELS unit TIMEOUT 120 ENVIRONMENT "FORERUN_DATA=${PROJECT_SOURCE_DIR}")

add_executable (example_predict ${PROJECT_SOURCE_DIR}/docs/examples/predict.c)
target_link_libraries (example_predict PRIVATE forerun_flags libforerun)
forerun_script_test (example_in_c ${CMAKE_CURRENT_SOURCE_DIR}/examples.sh c $<TARGET_FILE:example_predict> $<TARGET_FILE:libforerun>
                     $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})
if (FORERUN_SANITIZE)
  add_test (NAME unit.example_in_python COMMAND ${CMAKE_COMMAND} -E echo "skipped: python3 was not started with the sanitizers")
  set_tests_properties (unit.example_in_python PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "skipped: ")
else ()
  forerun_script_test (example_in_python ${CMAKE_CURRENT_SOURCE_DIR}/examples.sh python
                       ${PROJECT_SOURCE_DIR}/docs/examples/predict.py $<TARGET_FILE:libforerun> $<TARGET_FILE:forerun>
                       ${PROJECT_SOURCE_DIR})
endif ()

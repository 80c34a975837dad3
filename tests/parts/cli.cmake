forerun_test (test_cli_flags LABEL unit SOURCES unit/test_cli_flags.c USES cli)
forerun_test (test_cli_resume LABEL unit SOURCES unit/test_cli_resume.c USES cli)
add_test (NAME golden.docs_cli
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/console.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                  ${PROJECT_SOURCE_DIR}/docs/cli.md)
set_tests_properties (golden.docs_cli PROPERTIES LABELS golden TIMEOUT 300)
add_test (NAME golden.docs_kinds # of `list`: the page names all of the table
          COMMAND bash -c "grep -qxF \"\\`$(\"$1\" list --format tsv | sed 1d | cut -f1 | paste -sd' ')\\`.\" \"$2\"" -
                  $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}/docs/cli.md)
set_tests_properties (golden.docs_kinds PROPERTIES LABELS golden)
add_test (NAME golden.readme
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/console.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                  ${PROJECT_SOURCE_DIR}/README.md)
set_tests_properties (golden.readme PROPERTIES LABELS golden TIMEOUT 900)
add_test (NAME golden.docs_calibrate_a_cluster
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/console.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                  ${PROJECT_SOURCE_DIR}/docs/calibrate_a_cluster.md)
set_tests_properties (golden.docs_calibrate_a_cluster PROPERTIES LABELS golden TIMEOUT 300)
add_test (NAME golden.docs_measurements
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/console.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                  ${PROJECT_SOURCE_DIR}/docs/measurements.md)
set_tests_properties (golden.docs_measurements PROPERTIES LABELS golden TIMEOUT 300)
add_test (NAME golden.docs_goodput
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/console.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                  ${PROJECT_SOURCE_DIR}/docs/goodput.md)
set_tests_properties (golden.docs_goodput PROPERTIES LABELS golden TIMEOUT 300)
add_test (NAME golden.docs_training
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/console.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                  ${PROJECT_SOURCE_DIR}/docs/training.md)
set_tests_properties (golden.docs_training PROPERTIES LABELS golden TIMEOUT 300)
add_test (NAME golden.docs_offers
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/console.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                  ${PROJECT_SOURCE_DIR}/docs/offers.md)
set_tests_properties (golden.docs_offers PROPERTIES LABELS golden TIMEOUT 300)
add_test (NAME golden.docs_ratio
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/console.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                  ${PROJECT_SOURCE_DIR}/docs/ratio.md)
set_tests_properties (golden.docs_ratio PROPERTIES LABELS golden TIMEOUT 300)
add_test (NAME golden.docs_plan
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/console.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                  ${PROJECT_SOURCE_DIR}/docs/plan.md)
set_tests_properties (golden.docs_plan PROPERTIES LABELS golden TIMEOUT 300)
foreach (page llms moe plan_serving rl serving serving_fleet serving_load)
  add_test (NAME golden.docs_${page}
            COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/console.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                    ${PROJECT_SOURCE_DIR}/docs/${page}.md)
  set_tests_properties (golden.docs_${page} PROPERTIES LABELS golden TIMEOUT 300)
endforeach ()

# Memory that a simulation needs. Sanitizers need their own, and take the messages of the C library.
if(NOT (FORERUN_SANITIZE OR FORERUN_FUZZ))
  add_executable(test_need unit/test_need.c)
  target_link_libraries(test_need PRIVATE test_harness forerun_flags)
  forerun_says_where(test_need)
  add_test(NAME unit.test_need COMMAND test_need $<TARGET_FILE:forerun>)
  set_tests_properties(unit.test_need PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT "FORERUN_DATA=${PROJECT_SOURCE_DIR}")
endif()

# The worked cases: questions with known answers (scenarios/cases), one test each file, which looks at its row of docs/cases.md too.
add_executable (run_cases cases/cases.c)
target_link_libraries (run_cases PRIVATE forerun_flags PkgConfig::GLIB PkgConfig::JSON_GLIB m)
file (GLOB expectations CONFIGURE_DEPENDS
      RELATIVE ${PROJECT_SOURCE_DIR}/scenarios/cases ${PROJECT_SOURCE_DIR}/scenarios/cases/*.expect)
foreach (expectation IN LISTS expectations)
  string (REGEX REPLACE "\\.expect$" "" case_name ${expectation})
  add_test (NAME case.${case_name}
            COMMAND run_cases $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}/scenarios/cases
                    --document ${PROJECT_SOURCE_DIR}/docs/cases.md ${expectation})
  set_tests_properties (case.${case_name} PROPERTIES LABELS case TIMEOUT 300)
endforeach ()

# The tables of docs/cases.md, docs/validation.md and docs/validation_collectives.md are what the programs print today.
add_test (NAME case.document
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cases/document.sh ${PROJECT_SOURCE_DIR})
set_tests_properties (case.document PROPERTIES LABELS case TIMEOUT 300)
add_test (NAME accuracy.document
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/validation.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})
set_tests_properties (accuracy.document PROPERTIES LABELS accuracy TIMEOUT 300)
# Error bands between nodes, and how many points of clusters left out they hold.
add_test (NAME accuracy.bands
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bands.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})
set_tests_properties (accuracy.bands PROPERTIES LABELS accuracy TIMEOUT 300)

# Published training steps, simulated; the table in docs/validation.md and its limits.
add_test (NAME accuracy.training
          COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/training.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})
set_tests_properties (accuracy.training PROPERTIES LABELS accuracy TIMEOUT 900)

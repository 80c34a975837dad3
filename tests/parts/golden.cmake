# Whole commands: one ctest a case, tests/golden/AREA/NAME/cmd. How a case is written: golden/run.sh; how it is rewritten:
# golden/update.sh.
add_test(NAME golden.runner_refuses_what_is_wrong COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/golden/selftest.sh)
set_tests_properties(golden.runner_refuses_what_is_wrong PROPERTIES LABELS golden TIMEOUT 120)

# A case is data, not source: whoever adds a folder has added the test. The glob is looked at again by every build, so that none
# is forgotten, and costs a directory listing.
file(GLOB cases RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/golden CONFIGURE_DEPENDS golden/*/*/cmd)
foreach(cmd IN LISTS cases)
  get_filename_component(case ${cmd} DIRECTORY)
  string(REPLACE "/" "." name ${case})
  add_test(NAME golden.${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/golden/run.sh
           $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} ${PROJECT_VERSION} ${CMAKE_CURRENT_SOURCE_DIR}/golden/${case})
  set_tests_properties(golden.${name} PROPERTIES LABELS golden TIMEOUT 300 SKIP_RETURN_CODE 77)
endforeach()
if(FORERUN_COVERAGE) # counters are files too, and the case's limit on file size would cut them short
  set_tests_properties(golden.output.file_on_a_full_disk PROPERTIES DISABLED ON)
endif()

add_test(NAME golden.installed_where_it_lies COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install.sh ${PROJECT_BINARY_DIR}
         ${PROJECT_SOURCE_DIR})
set_tests_properties(golden.installed_where_it_lies PROPERTIES LABELS golden TIMEOUT 120)

# Every shipped file, by the verbs that take files. The scenarios take minutes under the sanitizers: three tests share them.
function(forerun_shipped name)
  add_test(NAME golden.${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/shipped.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} ${ARGN})
  set_tests_properties(golden.${name} PROPERTIES LABELS golden TIMEOUT 300)
endfunction()
foreach(part 1 2 3)
  forerun_shipped(shipped_scenarios_answer_${part} scenarios ${part} 3)
endforeach()
forerun_shipped(shipped_parts_answer parts)

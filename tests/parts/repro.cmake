# The same bytes from this build, gcc's Debug and clang's Release. Under sanitizers, coverage and fuzzing it is left out: it makes
# builds of its own, which would say nothing new there.
if(NOT (FORERUN_SANITIZE OR FORERUN_COVERAGE OR FORERUN_FUZZ))
  add_test(NAME repro.compilers_and_build_types COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/repro/run.sh
           $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/repro -DFORERUN_WERROR=${FORERUN_WERROR})
  set_tests_properties(repro.compilers_and_build_types PROPERTIES LABELS repro TIMEOUT 1200 SKIP_RETURN_CODE 77 PROCESSORS 2)
endif()

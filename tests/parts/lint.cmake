# Rules that a compiler does not check, and the proof that each of them can be broken.
add_test(NAME unit.lint_finds_nothing COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lint.sh ${PROJECT_SOURCE_DIR})
add_test(NAME unit.lint_finds_what_is_planted COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lint.sh --self-test)
set_tests_properties(unit.lint_finds_nothing unit.lint_finds_what_is_planted PROPERTIES LABELS unit TIMEOUT 120)

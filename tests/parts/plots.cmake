add_test(NAME unit.plots_draw_what_they_are_given COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/plots.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.plots_draw_what_they_are_given PROPERTIES LABELS unit TIMEOUT 120 SKIP_RETURN_CODE 77)

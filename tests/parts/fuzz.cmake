forerun_fuzz(yaml SOURCES fuzz/fuzz_yaml.c USES base)
forerun_fuzz(units SOURCES fuzz/fuzz_units.c USES base)

# Files of every format changed by a seed, run through the program, and kills: tests/fuzz/nightly.sh does many more.
add_executable(mutate fuzz/mutate.c fuzz/mutate_text.c)
target_link_libraries(mutate PRIVATE forerun_flags PkgConfig::GLIB PkgConfig::JSON_GLIB)
target_compile_definitions(mutate PRIVATE _DEFAULT_SOURCE)
add_test(NAME fuzz.files_and_command_lines COMMAND mutate $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} 250 60 1)
set_tests_properties(fuzz.files_and_command_lines PROPERTIES LABELS fuzz TIMEOUT 300)
add_test(NAME fuzz.kills_leave_old_or_new
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/kill.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} 4 1)
set_tests_properties(fuzz.kills_leave_old_or_new PROPERTIES LABELS fuzz TIMEOUT 300)

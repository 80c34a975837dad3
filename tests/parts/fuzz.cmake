forerun_fuzz(yaml SOURCES fuzz/fuzz_yaml.c USES base)
forerun_fuzz(units SOURCES fuzz/fuzz_units.c USES base)

# Files of every format changed by a seed, run through the program: tests/fuzz/nightly.sh does the same with many more.
add_executable(mutate fuzz/mutate.c fuzz/mutate_text.c)
target_link_libraries(mutate PRIVATE forerun_flags PkgConfig::GLIB PkgConfig::JSON_GLIB)
target_compile_definitions(mutate PRIVATE _DEFAULT_SOURCE)
add_test(NAME fuzz.files_and_command_lines COMMAND mutate $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} 250 0 1)
set_tests_properties(fuzz.files_and_command_lines PROPERTIES LABELS fuzz TIMEOUT 300)

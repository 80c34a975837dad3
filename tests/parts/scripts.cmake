# What no C test reaches: rules that a compiler does not check, with the proof that each can be broken; the plots; bootstrap.sh.
function(forerun_script_test name)
  add_test(NAME unit.${name} COMMAND ${ARGN})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77)
endfunction()

# Rules of the sources, and builds of their own: once is enough, on the release build.
if(NOT (FORERUN_SANITIZE OR FORERUN_COVERAGE OR FORERUN_FUZZ))
  forerun_script_test(lint_finds_nothing ${CMAKE_CURRENT_SOURCE_DIR}/lint.sh ${PROJECT_SOURCE_DIR})
  forerun_script_test(lint_finds_what_is_planted ${CMAKE_CURRENT_SOURCE_DIR}/lint.sh --self-test)
  # Reading grades, skipped without `style`: 12 for documents, 10 for the README.
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
  forerun_script_test(prose_is_plain ${CMAKE_CURRENT_SOURCE_DIR}/grade.sh --check 12 ${pages} ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md)
  forerun_script_test(readme_is_plain ${CMAKE_CURRENT_SOURCE_DIR}/grade.sh --check 10 ${PROJECT_SOURCE_DIR}/README.md)
  # Who uses whose names is read from the objects of the layers; sanitizers and counters add names of their own.
  get_property(layers GLOBAL PROPERTY forerun_layers)
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:forerun_\\1>" OUTPUT_VARIABLE objects)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/objects.txt CONTENT "$<JOIN:${objects},\n>\n")
  forerun_script_test(cycles_finds_nothing ${CMAKE_CURRENT_SOURCE_DIR}/cycles.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
                      ${CMAKE_CURRENT_BINARY_DIR}/objects.txt)
  forerun_script_test(cycles_finds_what_is_planted ${CMAKE_CURRENT_SOURCE_DIR}/cycles.sh --self-test)
  # Inlining changes the order of the calls that its walk shows.
  forerun_script_test(architecture_is_what_is_built ${CMAKE_CURRENT_SOURCE_DIR}/architecture.sh ${PROJECT_SOURCE_DIR}
                      $<TARGET_FILE:forerun>)
  forerun_script_test(bootstrap_on_other_machines ${CMAKE_CURRENT_SOURCE_DIR}/bootstrap.sh ${PROJECT_SOURCE_DIR})

  # A collective, a schedule, a link class, a storage type, a kind of workload and a verb, added to a copy of the tree and run.
  forerun_script_test(extending_touches_few_files ${CMAKE_CURRENT_SOURCE_DIR}/extend.sh ${PROJECT_SOURCE_DIR}
                      ${CMAKE_CURRENT_BINARY_DIR}/extend)
  set_tests_properties(unit.extending_touches_few_files PROPERTIES TIMEOUT 1800 PROCESSORS 2)

  # tests/repro builds the layers by clang, with the same warnings.
  forerun_script_test(clang_accepts_tests ${CMAKE_CURRENT_SOURCE_DIR}/clang.sh ${PROJECT_BINARY_DIR} tests)
  set_tests_properties(unit.clang_accepts_tests PROPERTIES TIMEOUT 900)

  # Packages hold what a user runs: not where a build is instrumented.
  forerun_script_test(packages_install_and_run ${CMAKE_CURRENT_SOURCE_DIR}/package.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  set_tests_properties(unit.packages_install_and_run PROPERTIES TIMEOUT 600)
endif()

forerun_script_test(plots_draw_what_they_are_given ${CMAKE_CURRENT_SOURCE_DIR}/plots.sh ${PROJECT_SOURCE_DIR})
forerun_script_test(gallery_draws_what_its_page_shows ${PROJECT_SOURCE_DIR}/plots/gallery.sh $<TARGET_FILE:forerun>
                    ${CMAKE_CURRENT_BINARY_DIR}/gallery)
forerun_script_test(bandwidth_by_nodes_is_drawn ${PROJECT_SOURCE_DIR}/plots/nodes.sh $<TARGET_FILE:forerun>
                    ${CMAKE_CURRENT_BINARY_DIR}/busbw_by_nodes.svg)
set_tests_properties(unit.gallery_draws_what_its_page_shows PROPERTIES TIMEOUT 300)
forerun_script_test(questions_are_answered_so ${CMAKE_CURRENT_SOURCE_DIR}/questions.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.questions_are_answered_so PROPERTIES LABELS "unit;slow" TIMEOUT 600)
forerun_script_test(record_is_that_of_the_document ${CMAKE_CURRENT_SOURCE_DIR}/record.sh ${PROJECT_SOURCE_DIR})
add_test(NAME page.in_a_browser COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/page.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})
set_tests_properties(page.in_a_browser PROPERTIES LABELS page TIMEOUT 500 SKIP_RETURN_CODE 77)
forerun_script_test(manuals_say_what_help_says ${CMAKE_CURRENT_SOURCE_DIR}/manuals.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})

# A plan by many processes. A build without MPI says so to who starts several.
if(FORERUN_WITH_MPI AND NOT MPIEXEC_EXECUTABLE)
  add_test(NAME unit.mpi_answers_as_one_process COMMAND ${CMAKE_COMMAND} -E echo "skipped: no mpirun (package openmpi-bin)")
  set_tests_properties(unit.mpi_answers_as_one_process PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "skipped: ")
else()
  set(mpirun none)
  if(FORERUN_WITH_MPI)
    set(mpirun ${MPIEXEC_EXECUTABLE})
  endif()
  forerun_script_test(mpi_answers_as_one_process ${CMAKE_CURRENT_SOURCE_DIR}/mpi.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR}
                      ${mpirun})
  set_tests_properties(unit.mpi_answers_as_one_process PROPERTIES TIMEOUT 600)
endif()
forerun_script_test(traces_follow_their_format ${CMAKE_CURRENT_SOURCE_DIR}/traces.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})

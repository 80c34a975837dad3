# Tests that take more than 20 seconds of a processor and see what changes rarely. They have the label `slow` besides their own:
# `./bootstrap.sh test` leaves them out, `./bootstrap.sh slow` and .ci/run run them.
set(slow
    accuracy.accuracy_storage
    accuracy.fit
    accuracy.fit_elsewhere
    accuracy.fit_kernels
    accuracy.fit_planted
    accuracy.fit_planted_node
    accuracy.fit_planted_sections
    accuracy.serving
    accuracy.serving_fit
    accuracy.serving_fleets
    accuracy.serving_steps
    accuracy.serving_ten
    accuracy.training
    golden.docs_plan
    golden.docs_serving_fleet
    golden.plan.resume
    golden.plan.sensitivity
    golden.plan.shards
    golden.scenarios.shipped
    golden.shipped_scenarios_answer_1
    golden.shipped_scenarios_answer_2
    golden.shipped_scenarios_answer_3
    fuzz.kills_leave_old_or_new
    page.in_a_browser
    unit.gallery_draws_what_its_page_shows
    unit.manuals_say_what_help_says
    unit.plots_draw_what_they_are_given)
if(NOT FORERUN_COVERAGE) # no other test runs processes of MPI
  list(APPEND slow unit.mpi_answers_as_one_process)
endif()
if(TEST repro.compilers_and_build_types) # not where a build is instrumented
  list(APPEND slow repro.compilers_and_build_types unit.extending_touches_few_files unit.packages_install_and_run
       unit.clang_accepts_tests unit.lint_finds_what_is_planted)
endif()
if(FORERUN_SANITIZE) # over a minute there; its code is reached by shorter tests
  list(APPEND slow golden.readme)
endif()
set_property(TEST ${slow} APPEND PROPERTY LABELS slow)

# What is left and takes long starts first, so that no processor idles in the end: ctest of a new build does not know.
foreach(long unit.test_probe_mpi law.law_training_fold unit.test_training_closed
             unit.test_plan_stages law.law_engine_fair golden.ratio.laws golden.plan.progress golden.cli.run_sensitivity
             law.law_models_coll ${slow})
  if(TEST ${long})
    set_property(TEST ${long} PROPERTY COST 10)
  endif()
endforeach()

add_library(accuracy_measured STATIC accuracy/measured.c)
target_include_directories(accuracy_measured PUBLIC accuracy)
target_link_libraries(accuracy_measured PUBLIC forerun_calibrate PRIVATE forerun_flags)
forerun_says_where(accuracy_measured)
forerun_test(accuracy_models_h200 LABEL accuracy SOURCES accuracy/accuracy_models_h200.c USES constants)
target_link_libraries(accuracy_models_h200 PRIVATE accuracy_measured)
forerun_test(accuracy_models_others LABEL accuracy SOURCES accuracy/accuracy_models_others.c USES constants)
target_link_libraries(accuracy_models_others PRIVATE accuracy_measured)
forerun_test(accuracy_workload LABEL accuracy SOURCES accuracy/accuracy_workload.c USES constants plan)
target_link_libraries(accuracy_workload PRIVATE accuracy_measured)
add_test(NAME accuracy.fit COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/fit.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})
set_tests_properties(accuracy.fit PROPERTIES LABELS accuracy TIMEOUT 300)
# One network of the three that docs/fit.md names: each takes over two minutes.
add_test(NAME accuracy.fit_planted
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/fit_planted.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} hgx_h100)
set_tests_properties(accuracy.fit_planted PROPERTIES LABELS accuracy TIMEOUT 900)
add_test(NAME accuracy.fit_elsewhere
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/fit_elsewhere.py $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})
set_tests_properties(accuracy.fit_elsewhere PROPERTIES LABELS accuracy TIMEOUT 300)
forerun_test(accuracy_models_kernel LABEL accuracy SOURCES accuracy/accuracy_models_kernel.c USES calibrate plan)
target_include_directories(accuracy_models_kernel PRIVATE unit)
add_test(NAME accuracy.fit_planted_node
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/fit_planted_node.py $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} hgx_h200)
set_tests_properties(accuracy.fit_planted_node PROPERTIES LABELS accuracy TIMEOUT 900)
add_test(NAME accuracy.fit_planted_sections
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/fit_planted_sections.py $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})
set_tests_properties(accuracy.fit_planted_sections PROPERTIES LABELS accuracy TIMEOUT 300)
add_test(NAME accuracy.fit_kernels
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/fit_kernels.sh $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR})
set_tests_properties(accuracy.fit_kernels PROPERTIES LABELS accuracy TIMEOUT 300)
forerun_test(accuracy_overlap LABEL accuracy SOURCES accuracy/accuracy_overlap.c USES calibrate)
forerun_test(accuracy_memory LABEL accuracy SOURCES accuracy/accuracy_memory.c USES calibrate plan)
target_include_directories(accuracy_memory PRIVATE unit)
forerun_test(accuracy_storage LABEL accuracy SOURCES accuracy/accuracy_storage.c USES constants plan)
target_include_directories(accuracy_storage PRIVATE unit)
add_test(NAME accuracy.plan_ranks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/plan_ranks.sh $<TARGET_FILE:forerun>)
set_tests_properties(accuracy.plan_ranks PROPERTIES LABELS accuracy TIMEOUT 300)

forerun_test(accuracy_moe LABEL accuracy SOURCES accuracy/accuracy_moe.c USES constants)
target_include_directories(accuracy_moe PRIVATE unit)

add_test(NAME accuracy.serving
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/serving.py $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} --limit 8.7 --tail 24
                 --first 25 70)
set_tests_properties(accuracy.serving PROPERTIES LABELS accuracy TIMEOUT 900)
add_test(NAME accuracy.serving_fleets
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/serving_fleets.py $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} --every 8
                 --tpot 9 28 --first 28 75 --order 90)
set_tests_properties(accuracy.serving_fleets PROPERTIES LABELS accuracy TIMEOUT 3600)
add_test(NAME accuracy.kineto
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/kineto.py $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} --limit 9)
set_tests_properties(accuracy.kineto PROPERTIES LABELS accuracy TIMEOUT 300)
add_test(NAME accuracy.step_kernels
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/step_kernels.py $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} --limit 3.5,9)
set_tests_properties(accuracy.step_kernels PROPERTIES LABELS accuracy TIMEOUT 300)
add_test(NAME accuracy.rl
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/rl.py $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} --limit 25)
set_tests_properties(accuracy.rl PROPERTIES LABELS "accuracy;slow" TIMEOUT 900)
add_test(NAME accuracy.serving_fit
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/serving_fit.py $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} --tpot 4.7 16
                 --ttft 19 65 --worse 3)
set_tests_properties(accuracy.serving_fit PROPERTIES LABELS accuracy TIMEOUT 1800)
add_test(NAME accuracy.serving_steps
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/accuracy/serving_steps.py $<TARGET_FILE:forerun> ${PROJECT_SOURCE_DIR} --median 5
                 --tail 12)
set_tests_properties(accuracy.serving_steps PROPERTIES LABELS accuracy TIMEOUT 300)

foreach (file autocast concurrent delay fold layers llm llm_docs llm_kinds model_layer net optimizer rounds schedule step)
  forerun_test (test_training_${file} LABEL unit SOURCES unit/test_training_${file}.c USES plan)
endforeach ()
foreach (file advice band closed closed_methods feed gpus memory methods model_casts model_grid model_items model_plan model_prices
              model_report model_sync offload scale software)
  forerun_test (test_training_${file} LABEL unit SOURCES unit/test_training_${file}.c USES plan constants)
endforeach ()
forerun_fuzz (hf_config SOURCES fuzz/fuzz_hf_config.c USES plan)
if (NOT FORERUN_FUZZ)
  add_test (NAME fuzz.hf_config_shipped
            COMMAND fuzz_hf_config ${PROJECT_SOURCE_DIR}/tests/data/llms ${PROJECT_SOURCE_DIR}/scenarios/llms)
  set_tests_properties (fuzz.hf_config_shipped PROPERTIES LABELS fuzz TIMEOUT 300)
endif ()

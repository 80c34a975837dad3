if(TARGET forerun_cli)
  forerun_test (test_cli_flags LABEL unit SOURCES unit/test_cli_flags.c USES cli)
  target_include_directories (test_cli_flags PRIVATE ${PROJECT_SOURCE_DIR}/sim/cli)
endif()

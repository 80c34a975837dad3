foreach(file compare fabric ratio sensitivity vary)
  forerun_test (test_study_${file} LABEL unit SOURCES unit/test_study_${file}.c USES study)
endforeach()

foreach (file cache checkpoint io loader stage transfer)
  forerun_test (test_storage_${file} LABEL unit SOURCES unit/test_storage_${file}.c USES plan)
endforeach ()

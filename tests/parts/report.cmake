foreach(file coll compare run topo validate)
  forerun_test (test_report_${file} LABEL unit SOURCES unit/test_report_${file}.c USES report)
endforeach()

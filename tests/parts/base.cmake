foreach(file arena crossing diag json layout member units lookup yaml yaml_set schema schema_file schema_document random
        output parallel progress sandbox table text watch)
  forerun_test(test_base_${file} LABEL unit SOURCES unit/test_base_${file}.c USES base)
endforeach()

foreach (file coll exact nccl series sharp steps torus hierarchical)
  forerun_test (test_collective_${file} LABEL unit SOURCES unit/test_collective_${file}.c USES plan constants)
endforeach ()

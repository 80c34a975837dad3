# Importers of what measuring tools print.
foreach (kind nccl_tests nvbandwidth p2p_test fio gdsio perftest osu)
  forerun_test (test_import_${kind} LABEL unit SOURCES unit/test_import_${kind}.c USES calibrate)
  forerun_fuzz (${kind} SOURCES fuzz/fuzz_${kind}.c USES calibrate)
endforeach ()

# Slow parts found from measurements between pairs.
forerun_test (test_pairs_judge LABEL unit SOURCES unit/test_pairs_judge.c USES calibrate)

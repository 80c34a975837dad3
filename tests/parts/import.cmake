# Rings over GPUs, and importers of topologies.
forerun_test(test_cluster_rings LABEL unit SOURCES unit/test_cluster_rings.c USES cluster)
forerun_test(test_cluster_hostlist LABEL unit SOURCES unit/test_cluster_hostlist.c USES cluster)
forerun_test(test_import_nccl LABEL unit SOURCES unit/test_import_nccl.c USES cluster)
forerun_test(test_import_smi LABEL unit SOURCES unit/test_import_smi.c USES cluster)
foreach(target nccl_topo slurm smi_topo)
  forerun_fuzz(${target} SOURCES fuzz/fuzz_${target}.c USES cluster)
  forerun_says_where(fuzz_${target})
endforeach()

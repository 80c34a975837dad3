forerun_test(test_cluster_node LABEL unit SOURCES unit/test_cluster_node.c USES cluster)
forerun_test(test_cluster_fabric LABEL unit SOURCES unit/test_cluster_fabric.c USES cluster)
forerun_test(test_cluster_load LABEL unit SOURCES unit/test_cluster_load.c USES cluster)

# Shipped hardware files: each loads, says where its figures come from, and agrees with what is known of it.
forerun_test(test_data_topologies LABEL unit SOURCES unit/test_data_topologies.c USES base cluster)

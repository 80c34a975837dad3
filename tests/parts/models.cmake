forerun_test(test_models_op LABEL unit SOURCES unit/test_models_op.c USES models)
forerun_test(test_models_coll LABEL unit SOURCES unit/test_models_coll.c USES models)
forerun_test(test_models_possible LABEL unit SOURCES unit/test_models_possible.c USES models)
forerun_test(test_models_transfer LABEL unit SOURCES unit/test_models_transfer.c USES models)

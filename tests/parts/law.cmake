forerun_test(law_models_coll LABEL law SOURCES law/law_models_coll.c USES calibrate)
forerun_test(law_workload_nccl LABEL law SOURCES law/law_workload_nccl.c USES workload calibrate)
forerun_test(law_workload_sharp LABEL law SOURCES law/law_workload_sharp.c USES workload calibrate)
forerun_test(law_overlap LABEL law SOURCES law/law_overlap.c USES calibrate)

forerun_test(law_models_coll LABEL law SOURCES law/law_models_coll.c USES calibrate)

forerun_test(test_engine_queue LABEL unit SOURCES unit/test_engine_queue.c USES engine)
forerun_test(test_engine_clock LABEL unit SOURCES unit/test_engine_clock.c USES engine)
forerun_test(test_engine_flow LABEL unit SOURCES unit/test_engine_flow.c USES engine)
forerun_test(test_engine_graph LABEL unit SOURCES unit/test_engine_graph.c USES engine)

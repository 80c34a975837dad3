forerun_fuzz(yaml SOURCES fuzz/fuzz_yaml.c USES base)
forerun_fuzz(units SOURCES fuzz/fuzz_units.c USES base)

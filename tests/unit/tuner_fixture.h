/* Constants of NCCL's tuner and nodes that are well known, for the tests of search and tuner. */
#ifndef TUNER_FIXTURE_H
#define TUNER_FIXTURE_H

#include "constants/tuner.h"

/* Returned: full; NULL after printing what is wrong. */
static inline CstTuner *
tuner_fixture (const char *version)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  CstTuner *tuner = cst_tuner_load (version, lookup, NULL, NULL, &error);
  if (tuner == NULL)
    g_printerr ("%s\n", error->message);
  return tuner;
}

/* HGX with one 400 Gb/s NIC a GPU, each pair alone behind a PCIe gen 5 switch. */
static inline MdlSearchQuestion
hgx_hopper (unsigned gpus, unsigned nodes)
{
  return (MdlSearchQuestion){ .gpus = gpus,
                              .nodes = nodes,
                              .capability = 90,
                              .nvlinks = 18,
                              .switched = TRUE,
                              .reduces = TRUE,
                              .pcie_generation = 5,
                              .pcie_lanes = 16,
                              .gpus_per_switch = 1,
                              .path = gpus > 1 ? MDL_PATH_NVL : MDL_PATH_LOC,
                              .nics = nodes > 1 ? gpus : 0,
                              .nic_Bps = 50e9,
                              .nic_path = MDL_PATH_PIX,
                              .cpu = MDL_CPU_INTEL,
                              .cpu_model = MDL_CPU_MODEL_SAPPHIRE };
}

static inline MdlTunerComm
comm_of (const MdlSearchQuestion *q)
{
  return (MdlTunerComm){ .ranks = q->gpus * q->nodes,
                         .nodes = q->nodes,
                         .max_local = q->gpus,
                         .min_capability = q->capability,
                         .max_capability = q->capability,
                         .cpu = q->cpu,
                         .switched = q->switched };
}

/* Searches and prepares. */
static inline void
prepare (const CstTuner *constants, const MdlSearchQuestion *q, const MdlTunerComm *comm, MdlTuner *out)
{
  MdlSearch found;
  mdl_search (&cst_tuner_spec (constants)->search, q, &found);
  mdl_tuner_prepare (cst_tuner_spec (constants), comm, &found, out);
}

#endif

/* Rows of the schema of `model` workloads, shared between the tables that hold them. */
#ifndef WORKLOAD_MODEL_SCHEMA_PRIVATE_H
#define WORKLOAD_MODEL_SCHEMA_PRIVATE_H

#include "workload/training.h"

extern const BaseSchema wrk_schema_precision, wrk_schema_pipeline, wrk_schema_overlap, wrk_schema_software, wrk_schema_fsdp,
    wrk_schema_hsdp, wrk_schema_lora, wrk_schema_cp, wrk_schema_moe, wrk_schema_packing, wrk_schema_stragglers, wrk_schema_jitter;
extern const BaseName wrk_optimizer_names[];

#endif

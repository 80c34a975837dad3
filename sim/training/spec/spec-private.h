/* Rows of the schema of `model` workloads, shared between the tables that hold them. */
#ifndef TRAINING_MODEL_SCHEMA_PRIVATE_H
#define TRAINING_MODEL_SCHEMA_PRIVATE_H

#include "training/training.h"

extern const BaseSchema trn_schema_precision, trn_schema_pipeline, trn_schema_overlap, trn_schema_software, trn_schema_fsdp,
    trn_schema_hsdp, trn_schema_lora, trn_schema_cp, trn_schema_moe, trn_schema_packing, trn_schema_stragglers, trn_schema_jitter,
    trn_schema_offload, trn_schema_images, trn_schema_local, trn_schema_compress;

#endif

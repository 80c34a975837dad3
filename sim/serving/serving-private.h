/* Shared between the parts of the serving layer that know a model's layers. */
#ifndef SERVING_PRIVATE_H
#define SERVING_PRIVATE_H

#include "collective/system.h"
#include "models/llm.h"
#include "serving/spec.h"

/* FALSE and *error (BASE_ERROR_INPUT) where the model cannot be laid out so: what does not divide, and what does. */
gboolean srv_layout_check (const MdlLlm *llm, const ColSystem *system, const SrvReplicaSpec *spec, GError **error);

/* Layers [*first, *first + returned) of a pipeline stage: as vLLM cuts them, what is over goes to the stages before the last. */
unsigned srv_stage_layers (const MdlLlm *llm, unsigned pp, unsigned stage, unsigned *first);

/* Format in which a matrix of a layer is kept. Vectors, routers, embedding and head stay bf16. */
SrvFormat srv_tensor_format (const MdlTensor *tensor, const SrvPrecisionSpec *precision);
/* B of its weights on a rank. */
double srv_tensor_B (const MdlLlm *llm, const MdlTensor *tensor, const SrvReplicaSpec *spec);
/* B of a rank of a pipeline stage. */
double srv_stage_weights_B (const MdlLlm *llm, const SrvReplicaSpec *spec, unsigned stage);
/* KV of a token in one layer, on one rank. */
double srv_layer_kv_B (const MdlLlm *llm, SrvFormat kv, double tp);
/* The node of the slowest GPU that the replica has. */
guint32 srv_slowest_node (const ColSystem *system, const SrvReplicaSpec *spec);

#endif

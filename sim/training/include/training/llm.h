/* Language models from files: scenarios/llms/NAME.yaml, a mapping in place, or a HuggingFace config.json. */
#ifndef TRAINING_LLM_H
#define TRAINING_LLM_H

#include "base/schema.h"
#include "models/llm.h"

#define TRN_LLM_FOLDER "scenarios/llms"
#define TRN_NET_FOLDER "scenarios/networks"

extern const BaseSchema trn_schema_llm, trn_schema_net;

/* Reads what `node` stands for into *out (zeroed by the caller): a scalar is a name in TRN_LLM_FOLDER or a path relative to the
 * file that `node` is in, of a file that begins with `llm` or of a config.json; a mapping has the keys of such a file, or `like`
 * and what differs. Needs context->lookup and context->inputs, to which the documents read are appended; strings are theirs and the
 * arena's. A file or mapping with `network` in place of `llm` is a network of operations (also in TRN_NET_FOLDER): it is out->net.
 * All errors go to the diag, with their place. FALSE if there was one. */
gboolean trn_llm_read (const BaseYamlNode *node, const BaseSchemaContext *context, MdlLlm *out);

/* The same for a file of its own: one that begins with `llm`, or a config.json. `yaml` must outlive *out. */
gboolean trn_llm_read_file (const BaseYaml *yaml, const BaseSchemaContext *context, MdlLlm *out);

/* A HuggingFace config.json, not settled: trn_llm_read_file does both. `name` is the model's; NULL: that of the file, of its folder
 * where it is a config.json. What its model_type does not use is passed over. */
gboolean trn_llm_read_hf (const BaseYaml *yaml, const char *name, const BaseSchemaContext *context, MdlLlm *out);
/* Completes what follows from other keys (the kind of attention) and says what contradicts: heads that do not divide hidden, more
 * experts a token than there are … FALSE and errors in the diag. A published count that the keys do not make up is a warning. */
gboolean trn_llm_settle (MdlLlm *llm, BaseDiag *diag);

/* What of that is about recurrent layers, `pattern` and the vision encoder. */
gboolean trn_llm_check_layers (const MdlLlm *llm, BaseDiag *diag);

/* The model_type values that are understood, "gpt2, llama, …". Returned: full. */
char *trn_llm_hf_types (void);

/* A network of operations from a mapping with `network`: models/net.h, settled. As trn_llm_read. */
gboolean trn_net_read (const BaseYamlNode *map, const BaseSchemaContext *context, MdlLlm *out);

/* A file of scenarios/llms that reads back as the same model. Returned: full. */
char *trn_llm_write (const MdlLlm *llm);

#endif

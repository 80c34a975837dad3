/* Inside of the readers of language models. */
#ifndef WORKLOAD_LLM_PRIVATE_H
#define WORKLOAD_LLM_PRIVATE_H

#include "workload/llm.h"

/* Completes what follows from other keys (the kind of attention) and says what contradicts: heads that do not divide hidden, a
 * window without … FALSE and errors in the diag. A published count that the keys do not make up is a warning. */
gboolean wrk_llm_settle (MdlLlm *llm, BaseDiag *diag);

#endif

/* Language models for tests: shipped ones, and ones written in place. */
#ifndef TEST_LLM_FIXTURE_H
#define TEST_LLM_FIXTURE_H

#include <string.h>

#include "harness.h"
#include "training/llm.h"

/* A model with what it borrows from. */
typedef struct {
  MdlLlm llm;
  BaseYaml *yaml;
  GPtrArray *inputs;
  BaseLookup *lookup;
  BaseDiag *diag;
  gboolean ok;
} LlmFixture;

static inline void
llm_free (LlmFixture *fixture)
{
  base_diag_free (fixture->diag);
  base_lookup_free (fixture->lookup);
  g_ptr_array_unref (fixture->inputs);
  base_yaml_free (fixture->yaml);
  g_free (fixture);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LlmFixture, llm_free)

/* What `text` stands for: a name, a path or a mapping; `path` stands for its file in messages. Returned: full. */
static inline LlmFixture *
llm_read_at (const char *path, const char *text)
{
  LlmFixture *fixture = g_new0 (LlmFixture, 1);
  g_autoptr (GError) error = NULL;
  g_autofree char *document = g_strdup_printf ("model: %s", text);
  fixture->yaml = base_yaml_load_data (path, document, strlen (document), &error);
  if (fixture->yaml == NULL)
    g_error ("%s", error->message);
  fixture->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  fixture->lookup = base_lookup_new (TEST_SOURCE_DIR);
  fixture->diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = base_yaml_arena (fixture->yaml),
                                      .diag = fixture->diag,
                                      .lookup = fixture->lookup,
                                      .source = BASE_SOURCE_DATASHEET,
                                      .inputs = fixture->inputs };
  fixture->ok = trn_llm_read (base_yaml_get (base_yaml_root (fixture->yaml), "model"), &context, &fixture->llm);
  return fixture;
}

static inline LlmFixture *
llm_read (const char *text)
{
  return llm_read_at ("model.yaml", text);
}

/* One that must be right; the test ends when it is not. Returned: full. */
static inline LlmFixture *
llm_need (const char *text)
{
  LlmFixture *fixture = llm_read (text);
  g_autoptr (GError) error = NULL;
  if (!fixture->ok && !base_diag_finish (fixture->diag, &error))
    g_error ("%s", error->message);
  return fixture;
}

#endif

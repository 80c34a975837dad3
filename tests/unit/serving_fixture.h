/* A replica from text, on shipped clusters with shipped constants. */
#ifndef SERVING_FIXTURE_H
#define SERVING_FIXTURE_H

#include "library_fixture.h"
#include "scenario_fixture.h"
#include "serving/memory.h"
#include "training/llm.h"

typedef struct {
  BaseHead head;
  SrvReplicaSpec replica;
  const BaseYamlNode *model;
} ServingKeys;

static const BaseField serving_fields[] = {
  BASE_ROW (ServingKeys, "engine", replica.engine, MAP, .sub = &srv_schema_engine, .help = "e"),
  BASE_ROW (ServingKeys, "parallel", replica.parallel, MAP, .sub = &srv_schema_parallel, .help = "p"),
  BASE_ROW (ServingKeys, "precision", replica.precision, MAP, .sub = &srv_schema_precision, .help = "p"),
  BASE_ROW (ServingKeys, "moe", replica.moe, MAP, .sub = &srv_schema_moe, .help = "m"),
  BASE_ROW (ServingKeys, "speculative", replica.speculative, MAP, .sub = &srv_schema_speculative, .help = "s"),
  BASE_ROW (ServingKeys, "model", model, NODE, .help = "m"),
  BASE_ROW_END,
};

static const BaseSchema serving_schema = { .name = "replica", .help = "h", .fields = serving_fields };

typedef struct {
  Scn *scenario; /* whose cluster and constants hold */
  Cst *cal;
  BaseArena *arena;
  BaseYaml *yaml;
  GPtrArray *inputs;
  ServingKeys keys;
  MdlLlm llm;
} Serving;

/* `topology`: as in scenarios; `text`: keys of a replica, "model: llama31_8b\nengine: {name: vllm}\n…". To be cleared. */
static inline void
serving_open (Serving *s, const char *topology, unsigned nodes, const char *text)
{
  g_autofree char *whole = g_strdup_printf ("scenario: s\ncluster: {topology: %s, nodes: %u}\nworkload: {kind: collective, op: "
                                            "all_reduce, bytes: 1 MiB}\n",
                                            topology, nodes);
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autoptr (GError) error = NULL;
  ScnOptions options = { .has_mode = TRUE, .mode = COL_MODE_MODEL };
  *s = (Serving){ .arena = base_arena_new (), .inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free) };
  s->scenario = scn_load (SCENARIO_NAME, whole, lookup, &options, model_library, &s->cal, &error);
  if (s->scenario == NULL)
    g_error ("%s", error->message);
  s->yaml = base_yaml_load_data ("replica.yaml", text, strlen (text), &error);
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { .arena = s->arena, .diag = diag, .lookup = lookup, .inputs = s->inputs };
  if (s->yaml == NULL || !base_schema_read (&serving_schema, base_yaml_root (s->yaml), FALSE, &context, &s->keys) ||
      !trn_llm_read (s->keys.model, &context, &s->llm))
    g_error ("%s", error != NULL || !base_diag_finish (diag, &error) ? error->message : "?");
  if (!srv_replica_settle (&s->keys.replica, s->scenario->system.engines, NULL, NULL, &error))
    g_error ("%s", error->message);
}

static inline void
serving_clear (Serving *s)
{
  scn_free (s->scenario);
  cst_free (s->cal);
  base_yaml_free (s->yaml);
  g_ptr_array_unref (s->inputs);
  base_arena_free (s->arena);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Serving, serving_clear)

#endif

/* A result: fields by their keys, and the document that holds all of it. */
#include "api-private.h"
#include "report/envelope.h"
#include "report/run.h"

struct FrResult {
  FrSession *session; /* owned reference */
  StdLoaded *loaded;  /* what the answer points into */
  ScnResult *scenario;
  char **command;
  char **keys; /* of all fields */
  guint n_keys;
  GPtrArray *warnings; /* char * */
  char *json;
};

static void
add_once (GPtrArray *texts, const char *text)
{
  if (!g_ptr_array_find_with_equal_func (texts, text, g_str_equal, NULL))
    g_ptr_array_add (texts, g_strdup (text));
}

static char *
json_of (const FrResult *result)
{
  const Scn *scenario = result->loaded->scenario;
  g_autoptr (GPtrArray) inputs = rep_inputs_new ();
  rep_inputs_add_yamls (inputs, scn_inputs (scenario), fr_session_data (result->session));
  const RepEnvelope envelope = { .version = FORERUN_VERSION,
                                 .command = (const char *const *)result->command,
                                 .seed = scn_seed (scenario),
                                 .inputs = inputs,
                                 .warnings = result->warnings };
  JsonBuilder *json = rep_envelope_open (&envelope);
  rep_run_json (result->scenario, json);
  return rep_envelope_close (json, &envelope);
}

FrResult *
fr_result_new (const FrAnswer *answer)
{
  FrResult *result = g_new0 (FrResult, 1);
  result->session = fr_session_ref (answer->session);
  result->loaded = answer->loaded;
  result->scenario = answer->scenario;
  result->command = answer->command;
  result->keys = rep_run_paths (result->scenario);
  result->n_keys = g_strv_length (result->keys);
  result->warnings = g_ptr_array_new_with_free_func (g_free);
  const BaseDiag *diag = scn_warnings (result->loaded->scenario);
  for (unsigned i = 0; i < base_diag_n_warnings (diag); i++)
    add_once (result->warnings, base_diag_warning (diag, i));
  for (guint i = 0; i < result->scenario->run.warnings->len; i++)
    add_once (result->warnings, result->scenario->run.warnings->pdata[i]);
  result->json = json_of (result);
  return result;
}

void
fr_result_free (FrResult *result)
{
  if (result == NULL)
    return;
  g_free (result->json);
  g_ptr_array_unref (result->warnings);
  g_strfreev (result->keys);
  g_strfreev (result->command);
  scn_result_free (result->scenario);
  std_loaded_free (result->loaded);
  fr_session_free (result->session);
  g_free (result);
}

/* ---- fields ---- */

static gboolean
find (const FrResult *result, const char *key, BaseValue *value)
{
  return result != NULL && key != NULL && rep_run_value (result->scenario, key, value);
}

bool
fr_result_number (const FrResult *result, const char *key, double *value)
{
  BaseValue found;
  if (!find (result, key, &found) || !found.known || found.kind == BASE_CELL_TEXT || value == NULL)
    return false;
  *value = found.number;
  return true;
}

const char *
fr_result_text (const FrResult *result, const char *key)
{
  BaseValue found;
  return find (result, key, &found) && found.known && found.kind == BASE_CELL_TEXT ? found.text : NULL;
}

const char *
fr_result_unit (const FrResult *result, const char *key)
{
  BaseValue found;
  return find (result, key, &found) && found.kind == BASE_CELL_NUMBER ? base_dim_unit (found.dim) : "";
}

size_t
fr_result_n_fields (const FrResult *result)
{
  return result->n_keys;
}

const char *
fr_result_key (const FrResult *result, size_t i)
{
  return i < result->n_keys ? result->keys[i] : NULL;
}

/* ---- all of it ---- */

const char *
fr_result_json (const FrResult *result)
{
  return result->json;
}

size_t
fr_result_n_warnings (const FrResult *result)
{
  return result->warnings->len;
}

const char *
fr_result_warning (const FrResult *result, size_t i)
{
  return i < result->warnings->len ? result->warnings->pdata[i] : NULL;
}

/* A language model as a file of scenarios/llms. The schema's own rows are walked, so that a new key is written too. */
#include <string.h>

#include "training/llm.h"

static gboolean
is_default_num (const BaseField *field, const BaseNum *num)
{
  return field->fallback != NULL && g_ascii_strtod (field->fallback, NULL) == num->v;
}

/* The value of a leaf as text; NULL where it is absent or what an absent key means. Returned: full. */
static char *
leaf_text (const BaseField *field, const void *slot)
{
  switch (field->kind) {
    case BASE_FIELD_NUM: {
      const BaseNum *num = slot;
      return num->set && !is_default_num (field, num) ? g_strdup_printf ("%.0f", num->v) : NULL;
    }
    case BASE_FIELD_STR: {
      const BaseStr *str = slot;
      return str->v != NULL ? base_yaml_quote (str->v) : NULL;
    }
    case BASE_FIELD_ENUM: {
      const BaseEnum *choice = slot;
      const char *name = base_name (field->names, choice->v);
      return g_strcmp0 (name, field->fallback) != 0 ? g_strdup (name) : NULL;
    }
    case BASE_FIELD_BOOL: {
      const BaseBool *truth = slot;
      const char *text = truth->v ? "true" : "false";
      return strcmp (text, field->fallback) != 0 ? g_strdup (text) : NULL;
    }
    default:
      return NULL; /* MAP: by the caller; there are no others in these tables */
  }
}

/* "{heads: 32, kv_heads: 8}"; NULL where nothing would be in it. Returned: full. */
static char *
map_text (const BaseSchema *schema, const void *map)
{
  GString *out = g_string_new ("{");
  for (const BaseField *field = schema->fields; field->key != NULL; field++) {
    g_autofree char *text = leaf_text (field, (const char *)map + field->offset);
    if (text != NULL)
      g_string_append_printf (out, "%s%s: %s", out->len > 1 ? ", " : "", field->key, text);
  }
  const gboolean empty = out->len == 1;
  g_string_append_c (out, '}');
  return g_string_free (out, empty);
}

char *
trn_llm_write (const MdlLlm *llm)
{
  GString *out = g_string_new (NULL);
  for (const BaseField *field = trn_schema_llm.fields; field->key != NULL; field++) {
    const void *slot = (const char *)llm + field->offset;
    if (slot == &llm->like || (slot == &llm->moe && llm->moe.experts.v < 1) ||
        (slot == &llm->recurrent && llm->recurrent.heads.v < 1) || (slot == &llm->vision && llm->vision.layers.v < 1))
      continue; /* all keys are here; nothing that the model lacks */
    g_autofree char *text = field->kind == BASE_FIELD_MAP ? map_text (field->sub, slot) : leaf_text (field, slot);
    if (text != NULL)
      g_string_append_printf (out, "%s: %s\n", field->key, text);
  }
  return g_string_free (out, FALSE);
}

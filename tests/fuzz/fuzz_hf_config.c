/* Any bytes as HuggingFace's config.json, or as a model's file: refused with a message, or a model whose counts are numbers, whose
 * works can be listed, and which reads back the same when written. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/layer.h"
#include "training/llm.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* NULL when it is refused, which must be said. Returned: what was read, in text. */
static char *
read_and_write (const char *name, const char *bytes, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseYaml) yaml = base_yaml_load_data (name, bytes, size, &error);
  if (yaml == NULL)
    return NULL;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  g_autoptr (BaseLookup) lookup = base_lookup_new ("/nonexistent"); /* nothing is shipped: names are refused */
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  const BaseSchemaContext context = {
    .arena = base_yaml_arena (yaml), .diag = diag, .lookup = lookup, .source = BASE_SOURCE_DATASHEET, .inputs = inputs
  };
  MdlLlm llm = { .head = { .set = FALSE } };
  const gboolean right = trn_llm_read_file (yaml, &context, &llm);
  if (right != (base_diag_n_errors (diag) == 0))
    abort ();
  if (!right)
    return NULL;
  MdlLlmCount count;
  mdl_llm_count (&llm, &count);
  if (!(count.total >= 1) || !(count.active >= 1) || !(count.active <= count.total) || !isfinite (count.total))
    abort ();
  MdlLayerQuery query;
  mdl_layer_query_default (&query, 128);
  g_autoptr (GArray) works = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  query.images = query.patches = llm.vision.layers.v > 0 ? 4 : 0;
  for (int part = 0; part < MDL_PART_NET; part++)
    if (part == MDL_PART_EMBEDDING || part == MDL_PART_HEAD || mdl_llm_n_part (&llm, (MdlPart)part) > 0 ||
        (part == MDL_PART_MTP && llm.mtp.v >= 1))
      mdl_layer_works (&llm, &query, (MdlPart)part, 0, works, works);
  for (guint i = 0; i < works->len; i++)
    if (!isfinite (g_array_index (works, MdlWork, i).flop))
      abort ();
  return trn_llm_write (&llm);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = read_and_write ("config.json", (const char *)data, size);
  if (text == NULL)
    return 0;
  g_autofree char *again = read_and_write ("model.yaml", text, strlen (text));
  if (g_strcmp0 (text, again) != 0) {
    g_printerr ("%s\n%s\n", text, again != NULL ? again : "(refused)");
    abort ();
  }
  return 0;
}

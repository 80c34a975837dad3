#include "study/question.h"

StdLoaded *
std_loaded_new (const char *path, const char *text, const BaseLookup *lookup, const ScnOptions *options, GError **error)
{
  g_autoptr (StdLoaded) loaded = g_new0 (StdLoaded, 1);
  CstStore *constants = &loaded->constants;
  constants->lookup = lookup;
  loaded->scenario = scn_load (path, text, lookup, options, cst_store_load, constants, error);
  return loaded->scenario != NULL ? g_steal_pointer (&loaded) : NULL;
}

void
std_loaded_free (StdLoaded *loaded)
{
  if (loaded == NULL)
    return;
  scn_free (loaded->scenario);
  cst_store_clear (&loaded->constants);
  g_free (loaded);
}

void
std_constants_init (StdConstants *constants, const BaseLookup *lookup)
{
  g_mutex_init (&constants->lock);
  constants->store = (CstStore){ .lookup = lookup };
}

void
std_constants_clear (StdConstants *constants)
{
  cst_store_clear (&constants->store);
  g_mutex_clear (&constants->lock);
}

static const MdlLibrary *
load_shared (void *user, const MdlLibraryQuery *query, GError **error)
{
  StdConstants *constants = user;
  g_mutex_lock (&constants->lock);
  const MdlLibrary *library = cst_store_share (&constants->store, query, error);
  g_mutex_unlock (&constants->lock);
  return library;
}

/* Both lists, the second after the first; texts are borrowed. Returned: full, g_free. */
static const char **
join (const char *const *first, const char *const *second)
{
  GPtrArray *all = g_ptr_array_new ();
  for (const char *const *set = first; set != NULL && *set != NULL; set++)
    g_ptr_array_add (all, (char *)*set);
  for (const char *const *set = second; set != NULL && *set != NULL; set++)
    g_ptr_array_add (all, (char *)*set);
  g_ptr_array_add (all, NULL);
  return (const char **)g_ptr_array_free (all, FALSE);
}

static StdLoaded *
open_question (const StdQuestion *question, const BaseLookup *lookup, const ScnOptions *options, GError **error)
{
  if (question->constants == NULL)
    return std_loaded_new (question->path, NULL, lookup, options, error);
  g_autoptr (StdLoaded) loaded = g_new0 (StdLoaded, 1);
  loaded->scenario = scn_load (question->path, NULL, lookup, options, load_shared, question->constants, error);
  return loaded->scenario != NULL ? g_steal_pointer (&loaded) : NULL;
}

StdLoaded *
std_question_load (const StdQuestion *question, const char *const *sets, const BaseLookup *lookup, GError **error)
{
  g_autofree const char **all = join (question->options.sets, sets);
  ScnOptions options = question->options;
  options.sets = all;
  return open_question (question, lookup, &options, error);
}

gboolean
std_question_run (const StdQuestion *question, const char *const *sets, BaseWatch *watch, StdRun *run, GError **error)
{
  run->lookup = base_lookup_new (base_lookup_root (question->lookup));
  base_lookup_set_watch (run->lookup, watch);
  run->loaded = std_question_load (question, sets, run->lookup, error);
  run->result = run->loaded != NULL ? scn_run (run->loaded->scenario, FALSE, error) : NULL;
  return run->result != NULL;
}

void
std_run_clear (StdRun *run)
{
  g_clear_pointer (&run->result, scn_result_free);
  g_clear_pointer (&run->loaded, std_loaded_free);
  g_clear_pointer (&run->lookup, base_lookup_free);
}

/* Predicts a scenario and prints some fields of the answer, with their units.
 *
 *   cc predict.c $(pkg-config --cflags --libs forerun) -o predict
 *   ./predict quickstart cluster.nodes=4 -- time_s busbw_Bps bound_by
 *
 * Arguments: a scenario (a file, or a shipped name), changes PATH=VALUE, "--", keys; without keys all fields are printed. */
#include <forerun.h>
#include <stdio.h>
#include <string.h>

/* Prints the error, frees it. Returned: the exit status. */
static int
fail (FrError *error)
{
  const int status = (int)fr_error_status (error);
  fprintf (stderr, "%s\n", fr_error_message (error));
  fr_error_free (error);
  return status;
}

static void
print_field (const FrResult *result, const char *key)
{
  double number;
  const char *text = fr_result_text (result, key);
  if (text != NULL)
    printf ("%s\t%s\n", key, text);
  else if (fr_result_number (result, key, &number))
    printf ("%s\t%.17g\t%s\n", key, number, fr_result_unit (result, key));
  else
    printf ("%s\tnot known\n", key);
}

/* "cluster.nodes=4". */
static bool
change (FrScenario *scenario, const char *set, FrError **error)
{
  char path[256];
  const char *equals = strchr (set, '=');
  const size_t n = equals != NULL ? (size_t)(equals - set) : strlen (set);
  snprintf (path, sizeof path, "%.*s", (int)n, set);
  return fr_scenario_set (scenario, path, equals != NULL ? equals + 1 : "", error);
}

int
main (int argc, char **argv)
{
  if (argc < 2) {
    fprintf (stderr, "usage: predict SCENARIO [PATH=VALUE...] [-- KEY...]\n");
    return 2;
  }
  FrError *error = NULL;
  FrSession *session = fr_session_new (NULL, &error);
  FrScenario *scenario = session != NULL ? fr_scenario_load (session, argv[1], &error) : NULL;
  bool good = scenario != NULL;
  int i = 2;
  for (; good && i < argc && strcmp (argv[i], "--") != 0; i++)
    good = change (scenario, argv[i], &error);
  FrResult *result = good ? fr_scenario_run (scenario, &error) : NULL;
  if (result != NULL) {
    for (size_t w = 0; w < fr_result_n_warnings (result); w++)
      fprintf (stderr, "warning: %s\n", fr_result_warning (result, w));
    if (i + 1 >= argc)
      for (size_t k = 0; k < fr_result_n_fields (result); k++)
        print_field (result, fr_result_key (result, k));
    for (i++; i < argc; i++)
      print_field (result, argv[i]);
  }
  const int status = result != NULL ? 0 : fail (error);
  fr_result_free (result);
  fr_scenario_free (scenario);
  fr_session_free (session);
  return status;
}

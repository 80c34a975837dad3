/* Any bytes as a plan, as the prices of one, as offers, as the kept state of a search, or as a calibration: refused with a message
 * on lines that name the place, or what is read holds finite numbers. One table; FUZZ_TARGET names the row of this program. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_library.h"
#include "plan/offers.h"
#include "plan/work.h"

#define FOLDER TEST_SOURCE_DIR "/tests/golden/plan/small"
#define PLAN   FOLDER "/plan.yaml"

typedef struct {
  const char *path, *bytes; /* the same in a file; ends with a zero that is not counted */
  size_t n_B;
  const BaseLookup *lookup;
  FuzzLibrary library;
} Input;

static void
check_error (GError *error)
{
  fuzz_must (error != NULL && error->domain == BASE_ERROR && g_utf8_validate (error->message, -1, NULL));
  fuzz_must (strlen (error->message) < 50000); /* some 20 lines of at most 2,000 bytes */
  g_error_free (error);
}

static Pln *
load_plan (Input *input, const char *text, const char *prices, GError **error)
{
  g_autofree char *set = g_strdup_printf ("prices=%s", prices != NULL ? prices : "");
  const char *sets[] = { set, NULL };
  const PlnOptions options = { .text = text, .sets = prices != NULL ? sets : NULL };
  Pln *plan = pln_load (PLAN, input->lookup, &options, fuzz_library_load, &input->library, error);
  fuzz_must (plan != NULL || error == NULL || *error != NULL);
  return plan;
}

/* Searches small plans; what it answers is finite. */
static void
search (Pln *plan)
{
  GError *error = NULL;
  g_autoptr (PlnWork) work = pln_work_new (plan, &(PlnWorkers){ .threads = 1 }, &error);
  if (work == NULL) {
    check_error (error);
    return;
  }
  if (pln_work_count (work).n_cuts > 200)
    return;
  g_autoptr (PlnResult) result = pln_work_search (work, &(PlnQuery){ .threads = 1 }, &error);
  if (result == NULL) {
    check_error (error);
    return;
  }
  for (guint i = 0; i < result->rows->len; i++) {
    const double least = pln_least (plan, &g_array_index (result->rows, PlnChoiceRow, i));
    fuzz_must (isnan (least) || (isfinite (least) && least >= 0));
  }
}

static void
try_plan (Input *input)
{
  GError *error = NULL;
  g_autoptr (Pln) plan = load_plan (input, input->bytes, NULL, &error);
  if (plan != NULL)
    search (plan);
  else
    check_error (error);
}

static void
try_prices (Input *input)
{
  GError *error = NULL;
  g_autoptr (Pln) plan = load_plan (input, NULL, input->path, &error);
  if (plan != NULL)
    search (plan);
  else
    check_error (error);
}

static void
try_offers (Input *input)
{
  GError *error = NULL;
  PlnOffers *offers = pln_offers_load (input->path, input->lookup, NULL, &error);
  if (offers == NULL) {
    check_error (error);
    return;
  }
  fuzz_must (pln_offers_rows (offers) != NULL && pln_offers_break_evens (offers) != NULL);
  pln_offers_free (offers);
}

static void
try_state (Input *input)
{
  GError *error = NULL;
  g_autoptr (BaseJson) json = base_json_read (
      &(BaseJsonText){ .file = "state", .bytes = input->bytes, .n_B = input->n_B, .limits = BASE_JSON_LIMITS }, &error);
  JsonObject *results = json != NULL ? base_json_object (base_json_root (json), "results") : NULL;
  if (results == NULL) {
    fuzz_must (json != NULL || error != NULL);
    g_clear_error (&error);
    return;
  }
  g_autoptr (Pln) plan = load_plan (input, NULL, NULL, &error);
  fuzz_must (plan != NULL);
  g_autoptr (PlnWork) work = pln_work_new (plan, &(PlnWorkers){ .threads = 1 }, &error);
  fuzz_must (work != NULL);
  if (pln_work_read (work, json, results, &error))
    fuzz_must (pln_work_n_open (work) <= pln_work_n_pieces (work));
  else
    check_error (error);
}

static void
try_calibration (Input *input)
{
  GError *error = NULL;
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  const CstQuery query = { .name = input->path, .lookup = input->lookup, .warnings = warnings };
  g_autoptr (Cst) cal = cst_load (&query, &error);
  if (cal == NULL)
    check_error (error);
  else
    fuzz_must (cst_library (cal) != NULL);
}

static const struct {
  const char *name;
  void (*try) (Input *input);
} targets[] = { { "plan", try_plan },
                { "prices", try_prices },
                { "offers", try_offers },
                { "state", try_state },
                { "calibration", try_calibration } };

static void
write_input (const Input *input)
{
  if (!g_file_set_contents (input->path, input->bytes, (gssize)input->n_B, NULL))
    abort ();
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (BaseLookup) lookup = base_lookup_new (TEST_SOURCE_DIR);
  g_autofree char *bytes = g_malloc (size + 1), *path = g_strdup_printf ("%s/fuzz-%d.yaml", g_get_tmp_dir (), (int)getpid ());
  if (size > 0)
    memcpy (bytes, data, size);
  bytes[size] = '\0';
  Input input = { .path = path, .bytes = bytes, .n_B = size, .lookup = lookup, .library = { .lookup = lookup } };
  write_input (&input);
  for (size_t i = 0; i < G_N_ELEMENTS (targets); i++)
    if (strcmp (targets[i].name, FUZZ_TARGET) == 0)
      targets[i].try (&input);
  g_unlink (path);
  fuzz_library_clear (&input.library);
  return 0;
}

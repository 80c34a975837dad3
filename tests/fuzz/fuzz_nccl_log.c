/* Any bytes as NCCL's debug log and as its graph dump. */
#include <stdint.h>
#include <string.h>

#include "calibrate/import.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check (char *yaml, GError *error)
{
  g_assert_true ((yaml == NULL) != (error == NULL));
  g_assert_true (error == NULL || strchr (error->message, '\n') == NULL);
  g_clear_error (&error);
  g_free (yaml);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  GError *error = NULL;
  g_autoptr (GArray) choices = g_array_new (FALSE, FALSE, sizeof (CalChoice));
  char *yaml = cal_import_nccl_log (&(CalText){ "fuzz.txt", (const char *)data, size, NULL }, "n", "o", choices, &error);
  check (yaml, error);
  error = NULL;
  yaml = cal_import_nccl_graph (&(CalText){ "fuzz.xml", (const char *)data, size, NULL }, "n", "o", &error);
  check (yaml, error);
  return 0;
}

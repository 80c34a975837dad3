/* Whose efficiency a training step has, from how many runs, and what part of the step it is. */
#include <math.h>

#include "models/software.h"
#include "report/run.h"
#include "run-private.h"

/* In what the row is not what runs: "GPU generation, year"; empty: it is. Returned: full. */
static char *
differences (unsigned differs)
{
  static const struct {
    unsigned bit;
    const char *text;
  } known[] = { { MDL_SOFTWARE_OTHER_GPU, "GPU generation" },
                { MDL_SOFTWARE_OTHER_VENDOR, "GPU vendor" },
                { MDL_SOFTWARE_OTHER_FORMAT, "number format" },
                { MDL_SOFTWARE_OTHER_YEAR, "year" },
                { MDL_SOFTWARE_NO_YEAR, "year (none is named)" } };
  GString *out = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if ((differs & known[i].bit) != 0)
      g_string_append_printf (out, "%s%s", out->len > 0 ? ", " : "", known[i].text);
  return g_string_free (out, FALSE);
}

char *
rep_efficiency_row (const TrnEfficiency *efficiency)
{
  if (efficiency->framework == NULL)
    return g_strdup_printf ("kernels at %.3g %% of their modelled speed, as the scenario says", 100 * efficiency->value);
  GString *out = g_string_new (NULL);
  g_string_append_printf (out, "%s %.0f, ", efficiency->framework, efficiency->year);
  if (efficiency->capability > 0)
    g_string_append_printf (out, "compute capability %.0f", efficiency->capability);
  else
    g_string_append (out, "GPUs of other vendors than NVIDIA");
  g_string_append_printf (out, ", %s: kernels at %.3g %% of their modelled speed", efficiency->format, 100 * efficiency->value);
  if (efficiency->attention < efficiency->value || efficiency->attention > efficiency->value)
    g_string_append_printf (out, ", attention at %.3g %%", 100 * efficiency->attention);
  if (efficiency->runs > 0)
    g_string_append_printf (out, ", fitted on %.0f run%s", efficiency->runs, efficiency->runs > 1 ? "s" : "");
  else
    g_string_append (out, ", assumed");
  g_string_append_printf (out, ", +-%.0f %%", 100 * efficiency->error);
  g_autofree char *other = differences (efficiency->differs);
  if (*other != '\0')
    g_string_append_printf (out, "; not fitted for this %s, which widens the band", other);
  return g_string_free (out, FALSE);
}

void
rep_efficiency_text (const TrnEfficiency *efficiency, double step_time_s, GString *out)
{
  g_autofree char *row = rep_efficiency_row (efficiency);
  double share = step_time_s > 0 ? efficiency->overhead_s / step_time_s : 0;
  if (share >= 0)
    g_string_append_printf (out, "Framework's overhead: %.1f %% of the step (%s).\n", 100 * share, row);
  else
    g_string_append_printf (out, "Framework's kernels are faster than modelled, by %.1f %% of the step (%s).\n", -100 * share, row);
}

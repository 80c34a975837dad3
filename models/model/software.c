/* Which row of a framework's measured efficiencies holds, and what the slowest of many ranks costs.
 *
 * A generation is a compute capability rounded down to tens: 80 A100, 90 H100 and H200, 100 Blackwell; rows may stand for part of
 * one (103). GPUs of other vendors have none, nor do rows that are for them.
 * The slowest of n ranks whose compute differs by a standard deviation sigma sets the pace of a synchronous step:
 *
 *     compute x (1 + sigma E(n)),  E(n) = b - (ln ln n + ln 4 pi) / (2 b),  b = sqrt(2 ln n)
 *
 * Source: the mean of a normal sample's maximum, first two terms (David and Nagaraja, Order Statistics, 10.5); E(2) is 1 / sqrt pi.
 * Valid: ranks independent of each other. Check: test_models_software: E(1000) = 3.24 within 5 %. */
#include "models/software.h"

#include <math.h>
#include <string.h>

static gboolean
same_generation (double a, double b)
{
  return floor (a / 10) >= floor (b / 10) && floor (a / 10) <= floor (b / 10);
}

/* How far a row is from what is asked, the smaller the nearer. */
static double
distance (const MdlSoftwareRow *row, const MdlSoftwareQuery *query)
{
  double years = query->year > 0 ? query->year - row->year.v : 3000 - row->year.v;
  double away = query->capability > 0 ? fabs (query->capability - row->capability.v) / 10 : 0;
  if ((query->capability > 0) != (row->capability.v > 0)) /* the other is of another vendor */
    away += 1000;
  if (same_generation (query->capability, row->capability.v)) /* a row holds from its capability on */
    away = query->capability >= row->capability.v ? (query->capability - row->capability.v) / 1000 : 1;
  return 1e6 * away + ((MdlPrecision)row->precision.v != query->precision ? 1e5 : 0) + (years >= 0 ? years : 100 - years);
}

const MdlSoftwareRow *
mdl_software_find (const MdlSoftware *software, const MdlSoftwareQuery *query, BaseSource *source)
{
  const MdlSoftwareRow *best = NULL;
  for (unsigned i = 0; i < software->rows.n; i++) {
    const MdlSoftwareRow *row = BASE_LIST_AT (software->rows, MdlSoftwareRow, i);
    if (strcmp (row->name.v, query->name) == 0 && (best == NULL || distance (row, query) < distance (best, query)))
      best = row;
  }
  if (best != NULL && source != NULL) {
    gboolean measured =
        same_generation (best->capability.v, query->capability) && (MdlPrecision)best->precision.v == query->precision;
    *source = measured ? best->efficiency.source : BASE_SOURCE_ASSUMED;
  }
  return best;
}

unsigned
mdl_software_differs (const MdlSoftwareRow *row, const MdlSoftwareQuery *query)
{
  unsigned differs = query->capability <= 0                                    ? MDL_SOFTWARE_OTHER_VENDOR
                     : !same_generation (row->capability.v, query->capability) ? MDL_SOFTWARE_OTHER_GPU
                                                                               : 0;
  differs |= (MdlPrecision)row->precision.v != query->precision ? MDL_SOFTWARE_OTHER_FORMAT : 0;
  if (query->year <= 0)
    return differs | MDL_SOFTWARE_NO_YEAR;
  return differs | (fabs (query->year - row->year.v) >= 1 ? MDL_SOFTWARE_OTHER_YEAR : 0);
}

double
mdl_software_error (const MdlSoftware *software, const MdlSoftwareRow *row, unsigned differs)
{
  const MdlSoftwareAway *away = &software->away;
  double squares = row->error.v * row->error.v;
  squares += (differs & MDL_SOFTWARE_OTHER_GPU) != 0 ? away->gpu.v * away->gpu.v : 0;
  squares += (differs & MDL_SOFTWARE_OTHER_VENDOR) != 0 ? away->vendor.v * away->vendor.v : 0;
  squares += (differs & MDL_SOFTWARE_OTHER_FORMAT) != 0 ? away->format.v * away->format.v : 0;
  squares += (differs & (MDL_SOFTWARE_OTHER_YEAR | MDL_SOFTWARE_NO_YEAR)) != 0 ? away->year.v * away->year.v : 0;
  return sqrt (squares);
}

double
mdl_software_newest (const MdlSoftware *software, const char *name)
{
  double newest = 0;
  for (unsigned i = 0; i < software->rows.n; i++) {
    const MdlSoftwareRow *row = BASE_LIST_AT (software->rows, MdlSoftwareRow, i);
    if (strcmp (row->name.v, name) == 0)
      newest = fmax (newest, row->year.v);
  }
  return newest;
}

char *
mdl_software_names (const MdlSoftware *software)
{
  GString *names = g_string_new (NULL);
  for (unsigned i = 0; i < software->rows.n; i++) {
    const char *name = BASE_LIST_AT (software->rows, MdlSoftwareRow, i)->name.v;
    gboolean known = FALSE;
    for (unsigned k = 0; k < i && !known; k++)
      known = strcmp (BASE_LIST_AT (software->rows, MdlSoftwareRow, k)->name.v, name) == 0;
    if (!known)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", name);
  }
  return g_string_free (names, FALSE);
}

double
mdl_software_slowest (double n)
{
  if (n < 2)
    return 0;
  double b = sqrt (2 * log (n)), least = 1 / sqrt (G_PI);
  return fmax (b - (log (log (n)) + log (4 * G_PI)) / (2 * b), least);
}

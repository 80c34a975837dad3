/* Which measured efficiency of a framework holds, and what the slowest of many ranks costs. */
#include <math.h>

#include "harness.h"
#include "models/software.h"

static BaseNum
num (double v)
{
  return (BaseNum){ .v = v, .set = TRUE, .source = BASE_SOURCE_MEASURED };
}

static MdlSoftwareRow
row (const char *name, double year, double capability, MdlPrecision precision, double efficiency)
{
  return (MdlSoftwareRow){ .name = { .v = name, .set = TRUE },
                           .year = num (year),
                           .capability = num (capability),
                           .precision = { .v = (int)precision },
                           .efficiency = num (efficiency) };
}

/* Efficiencies tell the rows apart. */
static double
found (double year, double capability, MdlPrecision precision, BaseSource *source)
{
  MdlSoftwareRow rows[] = {
    row ("other", 2024, 90, MDL_PRECISION_FP8, 0.1), row ("one", 2022, 80, MDL_PRECISION_FP16, 0.2),
    row ("one", 2023, 90, MDL_PRECISION_FP8, 0.3),   row ("one", 2025, 90, MDL_PRECISION_FP8, 0.4),
    row ("one", 2024, 90, MDL_PRECISION_BF16, 0.5),  row ("one", 2025, 100, MDL_PRECISION_FP8, 0.6),
    row ("one", 2025, 103, MDL_PRECISION_FP8, 0.7),
  };
  const MdlSoftware software = { .rows = { .n = G_N_ELEMENTS (rows), .item = rows, .size = sizeof rows[0] } };
  const MdlSoftwareQuery query = { "one", year, capability, precision };
  return mdl_software_find (&software, &query, source)->efficiency.v;
}

static void
a_row_of_the_generation_and_format_holds_the_newest_that_is_not_later (void)
{
  BaseSource source;
  TEST_NEAR (found (0, 90, MDL_PRECISION_FP8, &source), 0.4, 0);
  TEST_INT (source, BASE_SOURCE_MEASURED);
  TEST_NEAR (found (2025, 90, MDL_PRECISION_FP8, &source), 0.4, 0);
  TEST_NEAR (found (2024, 90, MDL_PRECISION_FP8, &source), 0.3, 0);
  TEST_NEAR (found (2020, 90, MDL_PRECISION_FP8, &source), 0.3, 0); /* all are later: the oldest */
  TEST_NEAR (found (0, 90, MDL_PRECISION_BF16, &source), 0.5, 0);
  TEST_NEAR (found (0, 100, MDL_PRECISION_FP8, &source), 0.6, 0);
  TEST_NEAR (found (0, 103, MDL_PRECISION_FP8, &source), 0.7, 0);
}

static void
of_another_format_or_generation_it_is_assumed (void)
{
  BaseSource source;
  TEST_NEAR (found (0, 103, MDL_PRECISION_BF16, &source), 0.7, 0); /* the generation counts more than the format */
  TEST_INT (source, BASE_SOURCE_ASSUMED);
  TEST_NEAR (found (0, 80, MDL_PRECISION_BF16, &source), 0.2, 0);
  TEST_INT (source, BASE_SOURCE_ASSUMED);
  TEST_NEAR (found (0, 70, MDL_PRECISION_FP16, &source), 0.2, 0); /* the nearest there is */
  TEST_INT (source, BASE_SOURCE_ASSUMED);
}

/* A row without a capability is of GPUs that have none; where a name has no such row, the newest of NVIDIA's stands in. */
static void
other_vendors_have_rows_of_their_own (void)
{
  MdlSoftwareRow rows[] = { row ("one", 2024, 90, MDL_PRECISION_FP8, 0.8), row ("one", 2025, 100, MDL_PRECISION_FP8, 0.7),
                            row ("one", 2023, 0, MDL_PRECISION_BF16, 0.6) };
  const MdlSoftware software = { .rows = { .item = rows, .n = G_N_ELEMENTS (rows), .size = sizeof rows[0] } },
                    without = { .rows = { .item = rows, .n = G_N_ELEMENTS (rows) - 1, .size = sizeof rows[0] } };
  const MdlSoftwareQuery other = { "one", 2025, 0, MDL_PRECISION_FP8 }, nvidia = { "one", 2023, 80, MDL_PRECISION_BF16 };
  TEST_NEAR (mdl_software_find (&software, &other, NULL)->efficiency.v, 0.6, 0);
  TEST_NEAR (mdl_software_find (&without, &other, NULL)->efficiency.v, 0.7, 0);
  TEST_NEAR (mdl_software_find (&software, &nvidia, NULL)->efficiency.v, 0.8, 0);
  TEST_INT (mdl_software_differs (&rows[2], &other),
            MDL_SOFTWARE_OTHER_VENDOR | MDL_SOFTWARE_OTHER_FORMAT | MDL_SOFTWARE_OTHER_YEAR);
}

static void
what_a_row_was_not_fitted_to_widens_its_band (void)
{
  MdlSoftwareRow one = row ("one", 2024, 90, MDL_PRECISION_FP8, 0.8);
  one.error = num (0.03);
  const MdlSoftware software = { .away = { .gpu = num (0.04), .vendor = num (0.4), .format = num (0.12), .year = num (0.05) } };
  const struct {
    double year, capability;
    MdlPrecision precision;
    unsigned differs;
    double error; /* the root of the sum of squares */
  } asked[] = { { 2024, 90, MDL_PRECISION_FP8, 0, 0.03 },
                { 2024, 100, MDL_PRECISION_FP8, MDL_SOFTWARE_OTHER_GPU, 0.05 },
                { 2024, 90, MDL_PRECISION_BF16, MDL_SOFTWARE_OTHER_FORMAT, sqrt (0.0009 + 0.0144) },
                { 2024, 0, MDL_PRECISION_FP8, MDL_SOFTWARE_OTHER_VENDOR, sqrt (0.0009 + 0.16) },
                { 2026, 90, MDL_PRECISION_FP8, MDL_SOFTWARE_OTHER_YEAR, sqrt (0.0009 + 0.0025) },
                { 0, 100, MDL_PRECISION_BF16, MDL_SOFTWARE_OTHER_GPU | MDL_SOFTWARE_OTHER_FORMAT | MDL_SOFTWARE_NO_YEAR,
                  sqrt (0.0009 + 0.0016 + 0.0144 + 0.0025) } };
  for (size_t i = 0; i < G_N_ELEMENTS (asked); i++) {
    const MdlSoftwareQuery query = { "one", asked[i].year, asked[i].capability, asked[i].precision };
    TEST_INT (mdl_software_differs (&one, &query), asked[i].differs);
    TEST_NEAR (mdl_software_error (&software, &one, asked[i].differs), asked[i].error, 1e-12);
  }
}

static void
a_name_without_rows_is_not_found (void)
{
  MdlSoftwareRow rows[] = { row ("b", 2024, 90, MDL_PRECISION_FP8, 1), row ("a", 2024, 90, MDL_PRECISION_FP8, 1),
                            row ("b", 2025, 90, MDL_PRECISION_FP8, 1) };
  const MdlSoftware software = { .rows = { .n = 3, .item = rows, .size = sizeof rows[0] } };
  const MdlSoftwareQuery query = { "c", 0, 90, MDL_PRECISION_FP8 };
  TEST_TRUE (mdl_software_find (&software, &query, NULL) == NULL);
  g_autofree char *names = mdl_software_names (&software);
  TEST_STR (names, "b, a");
}

static void
the_slowest_of_many_grows_with_the_root_of_their_logarithm (void)
{
  /* tables of order statistics: 0.564 of 2, 1.539 of 10, 2.508 of 100, 3.241 of 1000 */
  static const double known[][2] = { { 2, 0.564 }, { 10, 1.539 }, { 100, 2.508 }, { 1000, 3.241 } };
  TEST_NEAR (mdl_software_slowest (1), 0, 0);
  double before = 0;
  for (size_t i = 0; i < G_N_ELEMENTS (known); i++) {
    double z = mdl_software_slowest (known[i][0]);
    TEST_NEAR (z, known[i][1], 0.12);
    TEST_TRUE (z > before);
    before = z;
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a row of the generation and format holds, the newest that is not later",
      a_row_of_the_generation_and_format_holds_the_newest_that_is_not_later },
    { "of another format or generation it is assumed", of_another_format_or_generation_it_is_assumed },
    { "other vendors have rows of their own", other_vendors_have_rows_of_their_own },
    { "what a row was not fitted to widens its band", what_a_row_was_not_fitted_to_widens_its_band },
    { "a name without rows is not found", a_name_without_rows_is_not_found },
    { "the slowest of many grows with the root of their logarithm", the_slowest_of_many_grows_with_the_root_of_their_logarithm },
    { NULL, NULL },
  };
  return test_main ("models: software", cases);
}

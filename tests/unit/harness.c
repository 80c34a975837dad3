#include "harness.h"

#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int
test_main (const char *suite, const TestCase *cases)
{
  if (CU_initialize_registry () != CUE_SUCCESS)
    return 1;
  CU_pSuite s = CU_add_suite (suite, NULL, NULL);
  for (const TestCase *c = cases; s != NULL && c->name != NULL; c++)
    if (CU_add_test (s, c->name, c->run) == NULL) {
      fprintf (stderr, "cannot add '%s': %s\n", c->name, CU_get_error_msg ());
      return 1;
    }
  CU_basic_set_mode (CU_BRM_NORMAL);
  CU_basic_run_tests ();
  unsigned ran = CU_get_number_of_tests_run (), failed = CU_get_number_of_failures ();
  CU_cleanup_registry ();
  return ran > 0 && failed == 0 ? 0 : 1;
}

void
test_near (double a, double b, double rel, const char *what, const char *file, int line)
{
  gboolean ok = fabs (a - b) <= rel * fabs (b) || a == b;
  if (!ok)
    fprintf (stderr, "%s:%d: %s is %.17g, expected %.17g within %g\n", file, line, what, a, b, rel);
  CU_assertImplementation (ok, (unsigned)line, what, file, "", CU_FALSE);
}

void
test_str (const char *a, const char *b, const char *what, const char *file, int line)
{
  gboolean ok = g_strcmp0 (a, b) == 0;
  if (!ok)
    fprintf (stderr, "%s:%d: %s is\n  %s\nexpected\n  %s\n", file, line, what, a ? a : "(null)", b ? b : "(null)");
  CU_assertImplementation (ok, (unsigned)line, what, file, "", CU_FALSE);
}

void
test_has (const char *text, const char *part, const char *what, const char *file, int line)
{
  gboolean ok = text != NULL && strstr (text, part) != NULL;
  if (!ok)
    fprintf (stderr, "%s:%d: %s is\n  %s\nexpected to contain\n  %s\n", file, line, what, text ? text : "(null)", part);
  CU_assertImplementation (ok, (unsigned)line, what, file, "", CU_FALSE);
}

void
test_int (long long a, long long b, const char *what, const char *file, int line)
{
  if (a != b)
    fprintf (stderr, "%s:%d: %s is %lld, expected %lld\n", file, line, what, a, b);
  CU_assertImplementation (a == b, (unsigned)line, what, file, "", CU_FALSE);
}

/* Slurm's lists of names. */
#include "cluster/hostlist.h"
#include "harness.h"

/* The names joined by blanks, or the error with its place. */
static char *
expanded (const char *text)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  gsize at = 999;
  if (!clu_hostlist_expand (text, names, &at, &error))
    return g_strdup_printf ("%zu: %s", (size_t)at, error->message);
  g_ptr_array_add (names, NULL);
  return g_strjoinv (" ", (char **)names->pdata);
}

static char *
joined (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (char **word = words; *word != NULL; word++)
    g_ptr_array_add (names, *word);
  return clu_hostlist_join (names, 0, names->len);
}

static void
lists_are_expanded_in_order (void)
{
  const char *const rows[][2] = { { "a", "a" },
                                  { "n[1-3]", "n1 n2 n3" },
                                  { "n[001-003,140],login1", "n001 n002 n003 n140 login1" },
                                  { "n[8-11]", "n8 n9 n10 n11" },
                                  { "n[08-10]", "n08 n09 n10" },
                                  { "r[1-2]n[0-1]-ib", "r1n0-ib r1n1-ib r2n0-ib r2n1-ib" },
                                  { "a,b[7]", "a b7" } };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *got = expanded (rows[i][0]);
    TEST_STR (got, rows[i][1]);
  }
}

static void
what_is_wrong_is_reported_with_its_place (void)
{
  const char *const rows[][2] = { { "n[1-", "1: a '[' without its ']'" },
                                  { "n1]", "2: a ']' without its '['" },
                                  { "n[3-1]", "2: a range that runs down" },
                                  { "n[a]", "2: a number of one to nine digits" },
                                  { "n[1;2]", "3: ',' or ']' is due" },
                                  { "a,,b", "2: a name is missing" },
                                  { "", "0: a name is missing" },
                                  { "n[1-9999999]", "more than 1000000 names" },
                                  { "n[1234567890]", "2: a number of one to" },
                                  { "n[1-]", "4: a number of one to nine digits" },
                                  { "n[1[2]]", "6: a ']' without its '['" } };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *got = expanded (rows[i][0]);
    TEST_HAS (got, rows[i][1]);
  }
}

static void
names_are_joined_as_far_as_neighbours_allow (void)
{
  const char *const rows[][2] = { { "a", "a" },
                                  { "n1 n2 n3", "n[1-3]" },
                                  { "n8 n9 n10", "n[8-10]" },
                                  { "n08 n09 n10", "n[08-10]" },
                                  { "n1 n01", "n1,n01" },
                                  { "n099 n100 n140 login1", "n[099-100,140],login1" },
                                  { "n2 n1", "n[2,1]" },
                                  { "a b c1", "a,b,c1" } };
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *got = joined (rows[i][0]), *back = expanded (got);
    TEST_STR (got, rows[i][1]);
    TEST_STR (back, rows[i][0]);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "lists are expanded in order", lists_are_expanded_in_order },
    { "what is wrong is reported with its place", what_is_wrong_is_reported_with_its_place },
    { "names are joined as far as neighbours allow", names_are_joined_as_far_as_neighbours_allow },
    { NULL, NULL },
  };
  return test_main ("cluster: lists of hosts", cases);
}

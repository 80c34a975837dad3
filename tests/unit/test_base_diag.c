#include "base/diag.h"
#include "harness.h"

#include <string.h>

static char *
finish (const BaseDiag *diag)
{
  GError *error = NULL;
  if (base_diag_finish (diag, &error))
    return g_strdup ("fine");
  TEST_TRUE (g_error_matches (error, BASE_ERROR, BASE_ERROR_INPUT));
  char *text = g_strdup (error->message);
  g_error_free (error);
  return text;
}

static void
nothing_wrong_is_fine (void)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  base_diag_warn (diag, BASE_MARK_NONE, "only a warning");
  g_autofree char *text = finish (diag);
  TEST_STR (text, "fine");
  TEST_INT (base_diag_n_errors (diag), 0);
}

static void
errors_are_listed_from_top_to_bottom_whatever_the_order_they_were_found_in (void)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  base_diag_error (diag, (BaseMark){ "dp64.yaml", 14, 16 }, "bandwidth '%s' has no unit", "450");
  base_diag_error (diag, (BaseMark){ "dp64.yaml", 12, 9 }, "unknown key '%s'", "latancy");
  base_diag_error (diag, (BaseMark){ "dp64.yaml", 12, 2 }, "first on its line");
  g_autofree char *text = finish (diag);
  TEST_STR (text, "dp64.yaml:12:2: first on its line\n"
                  "dp64.yaml:12:9: unknown key 'latancy'\n"
                  "dp64.yaml:14:16: bandwidth '450' has no unit\n"
                  "3 errors, nothing was run");
}

static void
one_error_is_said_in_the_singular_and_a_flag_has_no_line (void)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  base_diag_error (diag, (BaseMark){ "--set node.gpus", 0, 0 }, "wrong");
  g_autofree char *text = finish (diag);
  TEST_STR (text, "--set node.gpus: wrong\n1 error, nothing was run");
}

static void
files_stay_in_the_order_of_their_first_error (void)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  base_diag_error (diag, (BaseMark){ "b.yaml", 9, 1 }, "b");
  base_diag_error (diag, (BaseMark){ "a.yaml", 1, 1 }, "a");
  base_diag_error (diag, (BaseMark){ "b.yaml", 2, 1 }, "b");
  base_diag_error (diag, BASE_MARK_NONE, "no file");
  g_autofree char *text = finish (diag);
  TEST_STR (text, "b.yaml:2:1: b\nb.yaml:9:1: b\na.yaml:1:1: a\nno file\n4 errors, nothing was run");
}

/* 25 errors: 20 lines, then 5 more; the other file is not cut. */
static void
twenty_errors_of_a_file_are_shown_and_the_rest_counted (void)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  for (unsigned i = 1; i <= 25; i++)
    base_diag_error (diag, (BaseMark){ "a.yaml", i, 1 }, "wrong");
  base_diag_error (diag, (BaseMark){ "b.yaml", 1, 1 }, "wrong");
  TEST_INT (base_diag_n_errors (diag), 26);
  g_autofree char *text = finish (diag);
  TEST_HAS (text, "a.yaml:20:1: wrong\na.yaml: … and 5 more\nb.yaml:1:1: wrong\n26 errors, nothing was run");
  TEST_TRUE (strstr (text, "a.yaml:21:") == NULL);
}

/* Beyond what is shown, errors are distinguished by their place: a thousand readings of one place are one error. */
static void
errors_that_are_not_shown_are_counted_by_their_place (void)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  for (unsigned i = 0; i < 1000; i++)
    for (unsigned line = 1; line <= 22; line++)
      base_diag_error (diag, (BaseMark){ "a.yaml", line, 1 }, "wrong");
  TEST_INT (base_diag_n_errors (diag), 22);
  g_autofree char *text = finish (diag);
  TEST_HAS (text, "a.yaml:20:1: wrong\na.yaml: … and 2 more\n22 errors, nothing was run");
}

static void
the_same_message_is_said_once (void)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  for (unsigned i = 0; i < 3; i++) {
    base_diag_error (diag, (BaseMark){ "gpu.yaml", 3, 1 }, "wrong");
    base_diag_warn (diag, (BaseMark){ "gpu.yaml", 4, 1 }, "strange");
    base_diag_warn (diag, BASE_MARK_NONE, "other");
  }
  TEST_INT (base_diag_n_errors (diag), 1);
  TEST_INT (base_diag_n_warnings (diag), 2);
  TEST_STR (base_diag_warning (diag, 0), "gpu.yaml:4:1: strange");
  TEST_STR (base_diag_warning (diag, 1), "other");
}

/* What a file holds must not forge lines of a report or steer a terminal. */
static void
control_characters_in_a_message_are_written_out (void)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  base_diag_error (diag, (BaseMark){ "a\n.yaml", 1, 1 }, "'%s' is wrong", "x\n0 errors\033[2J\xff µ");
  g_autofree char *text = finish (diag);
  TEST_STR (text, "a\\n.yaml:1:1: 'x\\n0 errors\\x1b[2J\\xff µ' is wrong\n1 error, nothing was run");
}

static void
a_ready_message_gets_its_position_in_front (void)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  g_autoptr (GError) error = g_error_new_literal (BASE_ERROR, (int)BASE_ERROR_INPUT, "no '32 GPUs' here");
  base_diag_add_error (diag, (BaseMark){ "a.yaml", 2, 5 }, error);
  base_diag_add_error (diag, BASE_MARK_NONE, error);
  g_autofree char *text = finish (diag);
  TEST_STR (text, "a.yaml:2:5: no '32 GPUs' here\nno '32 GPUs' here\n2 errors, nothing was run");
}

/* A mark's file may be gone when the messages are put together. */
static void
file_names_are_copied (void)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  char *file = g_strdup ("gone.yaml");
  for (unsigned i = 0; i < 21; i++)
    base_diag_error (diag, (BaseMark){ file, 1, i }, "wrong");
  g_free (file);
  g_autofree char *text = finish (diag);
  TEST_HAS (text, "gone.yaml: … and 1 more");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "nothing wrong is fine", nothing_wrong_is_fine },
    { "errors are listed from top to bottom", errors_are_listed_from_top_to_bottom_whatever_the_order_they_were_found_in },
    { "one error is said in the singular, and a flag has no line", one_error_is_said_in_the_singular_and_a_flag_has_no_line },
    { "files stay in the order of their first error", files_stay_in_the_order_of_their_first_error },
    { "twenty errors of a file are shown and the rest counted", twenty_errors_of_a_file_are_shown_and_the_rest_counted },
    { "errors that are not shown are counted by their place", errors_that_are_not_shown_are_counted_by_their_place },
    { "the same message is said once", the_same_message_is_said_once },
    { "control characters in a message are written out", control_characters_in_a_message_are_written_out },
    { "a ready message gets its position in front", a_ready_message_gets_its_position_in_front },
    { "file names are copied", file_names_are_copied },
    { 0 },
  };
  return test_main ("base/diag", cases);
}

/* How wide text is, and which columns it shows. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/ioctl.h>

#include "base/currency.h"
#include "base/layout.h"
#include "base/text.h"
#include "cli-private.h"

#define LEAST_WIDTH 60 /* narrower, and tables lose what decides */
#define MOST_WIDTH  1000
#define MOST_NAMED  5u /* columns that found no room */

/* COLUMNS, else the terminal that stdout is, else BASE_LAYOUT_WIDTH; a terminal makes text narrower and never wider. */
static guint
width_of_output (void)
{
  const char *asked = g_getenv ("COLUMNS");
  guint64 columns = 0;
  if (asked != NULL && g_ascii_string_to_unsigned (asked, 10, 1, MOST_WIDTH, &columns, NULL))
    return MAX ((guint)columns, LEAST_WIDTH);
  struct winsize size;
  if (isatty (STDOUT_FILENO) && ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return CLAMP (size.ws_col, LEAST_WIDTH, BASE_LAYOUT_WIDTH);
  return BASE_LAYOUT_WIDTH;
}

guint
cli_layout_talk_width (void)
{
  struct winsize size;
  return isatty (STDERR_FILENO) && ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? MAX (size.ws_col, LEAST_WIDTH)
                                                                                                    : 0;
}

gboolean
cli_layout_begin (Cli *cli, GError **error)
{
  const gboolean picks = cli->columns != NULL && cli->varies == NULL; /* --vary has columns of its own */
  if (picks && (cli->workbook || (cli->format != CLI_FORMAT_TEXT && cli->format != CLI_FORMAT_TSV)))
    return cli_fail (cli, error, "--columns picks columns of text and tsv; the other formats are complete");
  if (picks) {
    cli->picked = g_strsplit (cli->columns, ",", -1);
    for (char **name = cli->picked; *name != NULL; name++)
      g_strstrip (*name);
  }
  base_layout_set (cli->format == CLI_FORMAT_TEXT && !cli->wide ? width_of_output () : 0, (const char *const *)cli->picked);
  return TRUE;
}

void
cli_layout_currency (Cli *cli, const char *code, double usd)
{
  const char *own = code != NULL && usd > 0 && strcmp (code, "USD") != 0 ? g_intern_string (code) : NULL;
  const double worth = own != NULL ? usd : 1;
  const gboolean other = cli->priced && (own != cli->currency || worth < cli->currency_usd || worth > cli->currency_usd);
  cli->currency = other ? NULL : own;
  cli->currency_usd = other ? 1 : worth;
  cli->priced = TRUE;
  if (!cli->is_point) /* points of --vary run side by side, and print nothing */
    base_currency_show_in (cli->currency, cli->currency_usd);
}

/* "; did you mean …; columns: …" of a name that no table has. */
static gboolean
check_picked (const Cli *cli, GError **error)
{
  const GPtrArray *known = base_layout_list (BASE_LAYOUT_KNOWN), *picked = base_layout_list (BASE_LAYOUT_PICKED);
  for (char **name = cli->picked; name != NULL && *name != NULL; name++) {
    if (base_has_text (picked, *name))
      continue;
    g_autoptr (GPtrArray) names = g_ptr_array_new ();
    for (guint i = 0; i < known->len; i++)
      g_ptr_array_add (names, known->pdata[i]);
    g_ptr_array_add (names, NULL);
    g_autofree char *hint = base_hint (*name, (const char *const *)names->pdata), *all = g_strjoinv (", ", (char **)names->pdata);
    return names->len > 1 ? cli_fail (cli, error, "--columns: there is no column '%s'%s; columns here: %s", *name, hint, all)
                          : cli_fail (cli, error, "--columns: this answer has no table");
  }
  return TRUE;
}

gboolean
cli_layout_end (Cli *cli, GError **error)
{
  if (!check_picked (cli, error))
    return FALSE;
  if (cli->format != CLI_FORMAT_TEXT || cli->workbook || cli->document || cli->varies != NULL)
    return TRUE;
  const GPtrArray *left_out = base_layout_list (BASE_LAYOUT_LEFT_OUT);
  if (left_out->len > 0) {
    g_string_append_printf (cli->out, "\n# --wide shows %u more column%s:", left_out->len, left_out->len == 1 ? "" : "s");
    for (guint i = 0; i < MIN (left_out->len, MOST_NAMED); i++)
      g_string_append_printf (cli->out, "%s %s", i > 0 ? "," : "", (const char *)left_out->pdata[left_out->len - 1 - i]);
    g_string_append (cli->out, left_out->len > MOST_NAMED ? ", …\n" : "\n");
  }
  base_text_wrap (cli->out, base_layout_width ());
  return TRUE;
}

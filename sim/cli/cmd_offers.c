/* forerun offers: ways to get the same work done whose times and prices are given, side by side. */
#include <string.h>

#include "draw-private.h"
#include "report/offers.h"

#define OFFERS_FOLDER "scenarios/offers"

typedef struct {
  char *plot;
} Flags;

static const CliFlag flags_table[] = {
  { CLI_FLAG_HEADING, "files", 0, 0, NULL, NULL },
  { CLI_FLAG_OUTPUT, "plot", 0, offsetof (Flags, plot), "F", "also plot the cost of each offer, by part; .svg, .png or .pdf" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

static void
write_answer (Cli *cli, const PlnOffers *offers)
{
  const PlnOffersSpec *spec = pln_offers_spec (offers);
  if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    json_builder_begin_object (json);
    rep_offers_json (offers, json);
    json_builder_end_object (json);
    cli_json_close (cli, json);
  } else if (cli->format == CLI_FORMAT_TSV) {
    rep_offers_tsv (offers, cli->out);
  } else {
    RepEnvelope envelope = cli_envelope (cli);
    g_autofree char *what = g_strdup_printf ("offers %s", spec->name.v);
    rep_offers_text (offers, cli->out);
    rep_header_title (cli->out, &envelope, what);
    if (spec->description.v != NULL)
      g_string_append_printf (cli->out, "# %s\n", spec->description.v);
  }
}

static gboolean
draw (Cli *cli, const char *path, const PlnOffers *offers, GError **error)
{
  g_autoptr (GPtrArray) plots = rep_plots_new ();
  rep_offers_plot (offers, plots);
  return cli_draw (cli, "--plot", path, plots, error);
}

static gboolean
run (Cli *cli, const void *data, char **words, GError **error)
{
  const Flags *flags = data;
  if (words[0] == NULL)
    return cli_fail (cli, error, "which offers? a file, or a name of forerun list offers");
  if (words[1] != NULL)
    return cli_fail (cli, error, "one file at a time, and '%s' is one too many; flags begin with '-'", words[1]);
  if ((flags->plot != NULL && !cli_plot_check (cli, "--plot", flags->plot, error)) || !cli_lookup (cli, error))
    return FALSE;
  g_autofree char *path =
      strcmp (words[0], "-") == 0 ? g_strdup ("/dev/stdin") : base_lookup_find (cli->lookup, words[0], OFFERS_FOLDER, NULL, error);
  if (path == NULL) {
    g_prefix_error (error, "forerun %s: ", cli->verb->name);
    return FALSE;
  }
  g_autoptr (PlnOffers) offers = pln_offers_load (path, cli->lookup, (const char *const *)cli->sets, error);
  if (offers == NULL) {
    cli_tell_kind (cli, path, "offers", error);
    return FALSE;
  }
  cli_take_inputs (cli, pln_offers_inputs (offers));
  cli_layout_currency (cli, pln_offers_spec (offers)->currency.v, pln_offers_spec (offers)->exchange.v);
  write_answer (cli, offers);
  g_autofree char *infeasible = rep_offers_infeasible (offers);
  if (infeasible != NULL) {
    cli->status = CLI_EXIT_INFEASIBLE;
    g_string_append_printf (cli->talk, "forerun offers: %s\n", infeasible);
  }
  return flags->plot == NULL || draw (cli, flags->plot, offers, error);
}

const CliVerb cli_verb_offers = {
  .name = "offers",
  .summary = "compare the cost of given offers for the same work: bought or rented, with power",
  .usage = "OFFERS.yaml [flags]",
  .example = "forerun offers train_175b --set deadline='30 days'",
  .completes = "offers",
  .notes = "OFFERS is a file, a shipped name (forerun list offers), or - for stdin. It gives times and prices; forerun plan "
           "computes the times itself. Exit status 3: no offer meets the limits.\n",
  .flags = { flags_table },
  .size = sizeof (Flags),
  .formats = CLI_FORMAT_CSV,
  .run = run,
};

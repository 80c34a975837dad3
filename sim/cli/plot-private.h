/* Pictures by gnuplot and the shipped scripts of plots/. */
#ifndef CLI_PLOT_PRIVATE_H
#define CLI_PLOT_PRIVATE_H

#include "cli-private.h"

G_BEGIN_DECLS

/* FALSE and *error where the ending of `path` is none that the scripts draw (.svg, .png, .pdf). */
gboolean cli_plot_check (const Cli *cli, const char *flag, const char *path, GError **error);
/* `path` with `suffix` before its ending: "a/f.svg", "_busbw" gives "a/f_busbw.svg"; with `ending` in place of its own, NULL keeps
 * it. Returned: full. */
char *cli_plot_path (const char *path, const char *suffix, const char *ending);

typedef struct {
  const char *variable; /* of the script: "data" */
  const char *suffix;   /* of the file beside the picture that holds it where there is no gnuplot: "", "_crossovers" */
  const GString *tsv;
} CliPlotData;

/* Draws `path` with plots/`script`: the picture becomes one of cli's files. `settings` are further gnuplot assignments, each with a
 * ';' before it, or "". Without gnuplot the data and a shell script that draws them become files beside `path`, and cli's talk says
 * so. The data's folder must have been found (cli_lookup). */
gboolean cli_plot_draw (Cli *cli, const char *flag, const char *path, const char *script, const CliPlotData *data, guint n_data,
                        const char *settings, GError **error);
/* The same into memory: *out is full, and NULL without gnuplot. */
gboolean cli_plot_render (Cli *cli, const char *flag, const char *script, const CliPlotData *data, guint n_data,
                          const char *settings, const char *ending, GString **out, GError **error);
/* 'text' as gnuplot reads it, quotes doubled. Returned: full. */
char *cli_plot_quote (const char *text);

G_END_DECLS

#endif

/* Pictures (--plot, --vary-plot) and reports (--report) that a verb leaves beside its answer. */
#ifndef CLI_DRAW_PRIVATE_H
#define CLI_DRAW_PRIVATE_H

#include "comm-private.h"
#include "report/page.h"
#include "report/plots.h"

/* FALSE and *error where the ending of `path` is none that the scripts draw (.svg, .png, .pdf), or it cannot be written. */
gboolean cli_plot_check (const Cli *cli, const char *flag, const char *path, GError **error);
/* Draws the first as `path`, the others beside it with their name behind: they become cli's files. The data's folder must have been
 * found (cli_lookup). */
gboolean cli_draw (Cli *cli, const char *flag, const char *path, const GPtrArray *plots, GError **error);
/* Draws them as FOLDER/NAME.svg; the folder is made where it is not there. */
gboolean cli_draw_folder (Cli *cli, const char *flag, const char *folder, const GPtrArray *plots, GError **error);

/* FALSE and *error where `path` does not end in .html or .htm, or cannot be written. */
gboolean cli_page_check (const Cli *cli, const char *path, GError **error);
/* Makes the page of `page`, whose envelope and pictures are filled here; it becomes one of cli's files. Warnings are those gathered
 * so far. */
gboolean cli_page_add (Cli *cli, const char *path, const GPtrArray *plots, RepPage *page, GError **error);

/* The page of a sweep (`coll`, `compare`). */
typedef struct {
  const char *lead;
  const GPtrArray *said;     /* char *: the answer in sentences */
  const char *text;          /* the answer as it is printed */
  const BaseTable *rows;     /* its table; NULL: the text is shown */
  const GPtrArray *plots;    /* RepPlot */
} CliSweepPage;
/* What it rests on: of the last number of nodes and `size_B`. */
gboolean cli_page_sweep (Cli *cli, const FrCollQuery *question, double size_B, const char *path, const CliSweepPage *what,
                         GError **error);

#endif

/* Pictures of a run: which there are, drawn into a folder or into a report. */
#ifndef CLI_PICTURES_PRIVATE_H
#define CLI_PICTURES_PRIVATE_H

#include "plot-private.h"
#include "goodput/goodput.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;    /* of the file, without ending: "timeline" */
  const char *script;  /* of plots/ */
  const char *caption; /* what it shows, a sentence */
  GString *tsv;        /* owned */
  GString *more;       /* owned: a second table, for the variable `variable`; NULL: none */
  const char *variable;
  char *settings;      /* owned: as of cli_plot_draw */
} CliPicture;

/* Returned: full, of CliPicture. */
GPtrArray *cli_pictures_empty (void);
/* One more; takes tsv and settings. Returned: borrowed. */
CliPicture *cli_pictures_add (GPtrArray *pictures, const char *name, const char *script, const char *caption, const char *title,
                              GString *tsv, char *settings);
/* Its tables, as cli_plot_draw takes them. Returned: how many. */
guint cli_picture_data (const CliPicture *picture, CliPlotData data[2]);
/* All that there is to show of a run, behind what there is. */
void cli_pictures_add_run (GPtrArray *pictures, const ScnResult *result, const char *scenario);
/* All that there is to show of a run, in the order of reading; titles name `scenario`. Returned: full, of CliPicture. */
GPtrArray *cli_pictures_new (const ScnResult *result, const char *scenario);

/* Goodput by the interval between checkpoints, where more than one was followed. */
void cli_pictures_goodput (GPtrArray *pictures, const Gdp *goodput, const char *scenario);

/* Draws them as FOLDER/NAME.svg, which become cli's files; the folder is made where it is not there. */
gboolean cli_pictures_draw (Cli *cli, const char *flag, const char *folder, const GPtrArray *pictures, GError **error);

G_END_DECLS

#endif

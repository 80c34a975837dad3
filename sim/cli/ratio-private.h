/* Communication over compute: runs of one scenario on other nodes, batches and networks, and searches among them. */
#ifndef CLI_RATIO_PRIVATE_H
#define CLI_RATIO_PRIVATE_H

#include "report/ratio.h"
#include "scenario-private.h"

G_BEGIN_DECLS

typedef struct {
  const char *scenario; /* as typed */
  const CliScenarioFlags *flags;
  const GArray *nodes;   /* double */
  const GArray *batches; /* double */
  const GArray *rates;   /* double, B/s of an adapter */
  gboolean check;        /* the engine runs at each rate that was solved for */
} CliRatioAsk;

/* Fills `ratio`, whose scale and limits are set. Runs side by side on all cores, with the same answer however many. FALSE and
 * *error where no point ran. */
gboolean cli_ratio_fill (Cli *cli, const CliRatioAsk *ask, RepRatio *ratio, GError **error);

G_END_DECLS

#endif

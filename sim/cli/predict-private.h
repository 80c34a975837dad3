/* Measured points and the communicators that they are predicted with. */
#ifndef CLI_PREDICT_PRIVATE_H
#define CLI_PREDICT_PRIVATE_H

#include "comm-private.h"
#include "measured-private.h"

G_BEGIN_DECLS

typedef struct {
  char *mode;              /* as --mode; NULL: event */
  const char *folder;      /* that paths of topologies are read from */
  const char *calibration; /* for all systems; NULL: each its own */
  const struct MdlLinks *links; /* in place of the calibration's; NULL: its own */
} CliPredict;

/* Points that share a communicator. */
typedef struct {
  const CliSystem *system;
  gpointer *member; /* CliMeasured *, n of them, while it is visited */
  guint n;
  CliComm comm;
  ColAnswer coll; /* for whoever prices */
} CliGroup;
void cli_group_free (CliGroup *group);

/* Visits the points group by group, in an order that does not depend on that of the points. Whoever sets *kept owns the group
 * (cli_group_free). */
typedef gboolean (*CliGroupFn) (Cli *cli, CliGroup *group, void *user, gboolean *kept, GError **error);
gboolean cli_predict (Cli *cli, const CliPredict *how, const CliData *data, CliGroupFn visit, void *user, GError **error);

G_END_DECLS

#endif

/* The sections of a calibration that forerun fit finds beside collectives. */
#ifndef CLI_FIT_SECTIONS_PRIVATE_H
#define CLI_FIT_SECTIONS_PRIVATE_H

#include "calibrate/links.h"
#include "cli-private.h"

G_BEGIN_DECLS

typedef struct {
  const char *topology; /* the node that was measured; NULL: sections are not fitted */
  const char *over;     /* calibration; NULL: that of the GPU */
  gboolean hold_out, split;
} CliFitSections;

/* `probes`: of CalProbe; may be NULL. Returned: full, of CalSectionFit, empty where no file tells a section; NULL and *error on
 * failure. *links: of copies and links, as they are then. What they note is warned about. */
GPtrArray *cli_fit_sections (Cli *cli, const CliFitSections *how, const GPtrArray *probes, MdlLinks *links, GError **error);
/* Whether copies and links are among them. */
gboolean cli_fit_has_links (const GPtrArray *sections);

G_END_DECLS

#endif

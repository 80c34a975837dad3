/* --report: an answer as a page of HTML to hand on. */
#ifndef CLI_PAGE_PRIVATE_H
#define CLI_PAGE_PRIVATE_H

#include "comm-private.h"
#include "pictures-private.h"
#include "report/page.h"

G_BEGIN_DECLS

/* FALSE and *error where `path` does not end in .html or .htm. */
gboolean cli_page_check (const Cli *cli, const char *path, GError **error);

/* Makes the page of `page`, whose envelope, figures and record are filled here: pictures (CliPicture, of cli_pictures_new or the
 * caller's own) are drawn where there is gnuplot. The page becomes one of cli's files. Warnings are those gathered so far. */
gboolean cli_page_add (Cli *cli, const char *path, const GPtrArray *pictures, RepPage *page, GError **error);

/* The page of a sweep (`coll`, `compare`). */
typedef struct {
  const char *lead;
  const GPtrArray *said;     /* char *: the answer in sentences */
  const char *text;          /* the answer as it is printed */
  const BaseTable *rows;     /* its table; NULL: the text is shown */
  const GPtrArray *pictures; /* CliPicture */
} CliSweepPage;
/* What it rests on is told of the last number of nodes and of `size_B`. */
gboolean cli_page_sweep (Cli *cli, const CliCollFlags *flags, const CliQuestion *question, double size_B, const char *path,
                         const CliSweepPage *what, GError **error);

G_END_DECLS

#endif

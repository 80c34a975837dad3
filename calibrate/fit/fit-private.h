/* Inside calibrate/fit: the parts of a fit. */
#ifndef CALIBRATE_FIT_PRIVATE_H
#define CALIBRATE_FIT_PRIVATE_H

#include "calibrate/fit.h"
#include "models/links.h"

/* A point, and what prices it. */
typedef struct {
  CalGroup *group;
  ColCollRequest request;
} CalPriced;

typedef struct CalNetwork CalNetwork;

/* While a fit runs. */
typedef struct {
  const CalHost *host;
  const CalFitQuery *query;
  const CalData *data;
  CalFitResult *out;
  GArray *priced;      /* CalPriced, one a point of out->points */
  double *offset_s;    /* by system: what an unknown launch takes; 0 where it is known */
  CalNetwork *network; /* NULL: no point is of several nodes */
} CalFitWork;

/* Fills out->sections; *links: of copies and links as they are then, where these are among them (TRUE in *has_links). What they
 * note is warned about. */
gboolean cal_fit_sections (const CalFitWork *work, MdlLinks *links, gboolean *has_links, GError **error);

/* Constants of the network, for points of several nodes; `links`: those that lie over the clusters in place of the
 * calibration's, or NULL. Returned: full, borrows `work`; NULL where no point is of several nodes. */
CalNetwork *cal_network_new (const CalFitWork *work, const MdlLinks *links);
void cal_network_free (CalNetwork *network);
const GArray *cal_network_constants (const CalNetwork *network); /* CalFitConstant, what matters most first; borrowed */
/* Sets one that is no constant of the library: FALSE where it is. cal_network_lay then lays links over the clusters. */
gboolean cal_network_set (CalNetwork *network, const CalFitConstant *constant, double value);
void cal_network_lay (CalNetwork *network);
/* Whether the launches of a system are found beside the network: all its points are of several nodes. */
gboolean cal_network_finds_offset (const CalNetwork *network, guint system);
extern const char cal_section_offset[]; /* CalFitConstant.section of what a call takes more by unknown launches */

/* Whether NICs, or a GPU's links, could carry what a row says (check.c). FALSE and *error with the row's place. */
gboolean cal_fit_check_rate (const CalGroup *group, const CalMeasured *m, GError **error);
/* Of files of one machine, rows that are there twice count once, and a warning says where; FALSE and *error where two rows of one
 * question differ by more than a factor of two. */
gboolean cal_fit_check_repeats (const CalFitWork *work, GArray *points, GError **error);
/* Releases of NCCL differ in what a collective costs: files of one machine are of one release, rows of one cluster too; a folder's
 * systems that differ are warned about. */
gboolean cal_fit_check_versions (const CalFitWork *work, const GArray *points, GError **error);

/* Fits out->points and fills what CalFitResult says of collectives. */
gboolean cal_fit_collectives (const CalFitWork *work, GError **error);

/* Fills stages, scores and bands from out->points and out->predicted_s, by out->first. */
void cal_fit_judge (CalFitResult *out);
/* Fills what NCCL chose otherwise. */
void cal_fit_compare_choices (const CalFitWork *work);

/* FALSE and *error, without a place. */
gboolean cal_fit_fail (GError **error, CalFitError code, const char *format, ...) G_GNUC_PRINTF (3, 4);

#endif

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

/* While a fit runs. */
typedef struct {
  const CalHost *host;
  const CalFitQuery *query;
  const CalData *data;
  CalFitResult *out;
  GArray *priced;   /* CalPriced, one a point of out->points */
  double *offset_s; /* by system: what an unknown launch takes; 0 where it is known */
} CalFitWork;

/* Fills out->sections; *links: of copies and links as they are then, where these are among them (TRUE in *has_links). What they
 * note is warned about. */
gboolean cal_fit_sections (const CalFitWork *work, MdlLinks *links, gboolean *has_links, GError **error);

/* Fits out->points and fills what CalFitResult says of collectives. */
gboolean cal_fit_collectives (const CalFitWork *work, GError **error);

/* Fills stages, scores and bands from out->points and out->predicted_s, by out->first. */
void cal_fit_judge (CalFitResult *out);
/* Fills what NCCL chose otherwise. */
void cal_fit_compare_choices (const CalFitWork *work);

/* FALSE and *error, without a place. */
gboolean cal_fit_fail (GError **error, CalFitError code, const char *format, ...) G_GNUC_PRINTF (3, 4);

#endif

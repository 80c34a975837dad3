/* A file of forerun-probe (docs/probe.md), read as it is. */
#ifndef CALIBRATE_PROBE_FILE_H
#define CALIBRATE_PROBE_FILE_H

#include "base/json.h"
#include "base/schema.h"

typedef struct CalProbe CalProbe;

/* The text of a file, or what gzip made of it where `path` ends in .gz. NULL and *error (BASE_ERROR_INPUT, with the place) where it
 * is not a probe's. Returned: full. */
CalProbe *cal_probe_parse (const char *path, const char *bytes, gsize n_B, GError **error);
/* Of points that something else measured: an object with `points`, a list of objects, which it takes. Returned: full. */
CalProbe *cal_probe_new (const char *path, JsonObject *root);
void cal_probe_free (CalProbe *probe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalProbe, cal_probe_free)

const char *cal_probe_path (const CalProbe *probe);
JsonObject *cal_probe_root (const CalProbe *probe); /* borrowed, as all below */
guint cal_probe_n_points (const CalProbe *probe);
JsonObject *cal_probe_point (const CalProbe *probe, guint i);
/* Whether point i is of `section`, and of `what` unless that is NULL. */
gboolean cal_probe_is (const CalProbe *probe, guint i, const char *section, const char *what);

/* What a point has: a time that counts; one whose own 95 % interval is wider than 5 % either way; none, with the reason in it. */
typedef enum { CAL_POINT_GOOD, CAL_POINT_LOOSE, CAL_POINT_FAILED } CalPointState;
/* *median_s of a point that has one. FALSE and *error where its numbers are none that a probe writes. */
gboolean cal_probe_judge (const CalProbe *probe, guint i, CalPointState *state, double *median_s, GError **error);
/* s of a point that counts; NAN of others, whatever is wrong with them. */
double cal_probe_time_s (const CalProbe *probe, guint i);
/* Members that a point must have: which of the names a text is, a whole number within bounds. FALSE and *error otherwise. */
gboolean cal_probe_name (const CalProbe *probe, guint i, const char *key, const BaseName *names, int *out, GError **error);
gboolean cal_probe_count (const CalProbe *probe, guint i, const char *key, double least, double most, double *out, GError **error);

/* FALSE and *error: "PATH: points[i].WHAT", "PATH: WHAT" with G_MAXUINT for i. */
gboolean cal_probe_fail (const CalProbe *probe, guint i, GError **error, const char *format, ...) G_GNUC_PRINTF (4, 5);

#endif

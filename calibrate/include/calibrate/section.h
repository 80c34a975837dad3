/* Sections of a calibration that measurements tell. Each is a row in a table: which section, what of a probe's file tells its
 * constants, and how such a measurement is predicted. The same rows fit a section and write it. */
#ifndef CALIBRATE_SECTION_H
#define CALIBRATE_SECTION_H

#include "base/arena.h"
#include "calibrate/probe_file.h"
#include "calibrate/solve.h"
#include "constants/section.h"
#include "models/gpu.h"

/* What predictions know of the node. What a copy takes over its links is asked of who knows its routes: s; NAN: no such way. */
struct MdlLinks;
struct CalLinkCase;
typedef struct {
  const MdlGpu *gpu;
  double (*link_s) (void *user, const struct MdlLinks *links, const struct CalLinkCase *what); /* NULL: nobody knows */
  void *user;
} CalNode;

/* One measurement. */
typedef struct {
  const char *stage; /* name of one of the section's stages */
  double measured;   /* above 0; s unless the section says otherwise */
  CalUse use;        /* other than CAL_USE_FIT: held out, whenever something is */
  const char *what;  /* for reports: "gemm bf16 forward 8192 x 8192 x 8192, burst" */
  const void *item;  /* the section's own */
  const char *group; /* row of scores beside the stage's: "bf16 forward"; NULL: none */
} CalSectionPoint;

/* While a probe's file is read. */
typedef struct {
  const CalProbe *probe;
  const CalNode *node;
  BaseArena *arena; /* of texts and items */
  GArray *points;   /* CalSectionPoint */
  guint n_left;     /* too loose, or failed */
} CalCollect;

/* Appends a point with a copy of its item, of item_B bytes. */
void cal_collect_add (CalCollect *collect, const CalSectionPoint *point, const void *item, gsize item_B);
/* Visits each point of the section that counts, in order: `visit` gets its number and time, s. FALSE and *error on numbers that
 * no probe writes, or as the visitor says. */
gboolean cal_collect_each (CalCollect *collect, const char *section,
                           gboolean (*visit) (CalCollect *collect, guint i, double median_s, GError **error), GError **error);

struct CalSectionFit;
typedef struct {
  const CstSection *keys; /* what it fits */
  const char *error_path; /* the constant that takes the half-width of the 90 % band; NULL: none */
  const CalStage *stages; /* solved in this order; ends with name NULL */
  /* Adds what the file tells; points too loose or failed are counted. FALSE and *error on what a probe does not write. */
  gboolean (*collect) (CalCollect *collect, GError **error);
  /* The measurement predicted; NAN: not by this model. */
  double (*predict) (const void *section, const CalNode *node, const CalSectionPoint *point);
  /* Sets constants near what the file tells, where no default could be: a drive's rate. May be NULL. */
  void (*start) (const CalProbe *probe, void *section);
  /* What the points say beside constants: sentences (char *, g_free), full; may be NULL. */
  GPtrArray *(*note) (const struct CalSectionFit *fit);
} CalSection;

extern const CalSection cal_section_kernels, cal_section_overlap;
extern const CalSection cal_section_links;     /* calibrate/links.h: items are CalLinkCase */
extern const CalSection cal_section_storage;   /* items are MdlIoQuestion, measured: s of one request among those in flight */
extern const CalSection *const cal_sections[]; /* all of these, ends with NULL */

typedef struct CalSectionFit {
  const CalSection *section;
  BaseArena *arena;     /* owned, of the points */
  GArray *points;       /* CalSectionPoint */
  double *predicted;    /* by the fit without what is held out (of all where nothing is) */
  CalFit *fit;          /* of all points, or of those that are not held out where `split` was asked */
  double band, covered; /* half-width that holds 90 % of half of the held-out points; share of the other half in it. NAN: none */
  guint n_left;
  GPtrArray *notes; /* char *: what else the points say, "slow: …"; NULL: nothing */
} CalSectionFit;

/* Fits a section over `defaults` (its struct) to what the files tell. `hold_out`: first without points of CAL_USE_HELD_SIZE;
 * `split`: keep that fit's constants. Returned: full; NULL without *error where no point tells it; NULL and *error on failure. */
CalSectionFit *cal_section_fit (const CalSection *section, const void *defaults, const CalNode *node, const GPtrArray *probes,
                                gboolean hold_out, gboolean split, GError **error);
void cal_section_fit_free (CalSectionFit *fit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalSectionFit, cal_section_fit_free)

/* Lays what was fitted over the section's struct. */
void cal_section_result (const CalSectionFit *fit, void *section);

/* Marks every second point, in the order given, of those that `same` says are alike as held out; a helper for `collect`. */
void cal_section_hold_every_second (GArray *points, guint first,
                                    gboolean (*same) (const CalSectionPoint *a, const CalSectionPoint *b));

/* Appends the section as it stands in a calibration file. */
void cal_section_write (const CalSectionFit *fit, GString *out);

#endif

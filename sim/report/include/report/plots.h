/* Pictures: what is drawn by which script of plots/, and the data that it reads: TSV with a header line. */
#ifndef REPORT_PLOTS_H
#define REPORT_PLOTS_H

#include "base/lookup.h"
#include "goodput/goodput.h"
#include "report/compare.h"
#include "report/sensitivity.h"
#include "report/validate.h"
#include "study/vary.h"

typedef struct {
  const char *name;    /* of the file, without ending: "timeline" */
  const char *script;  /* of plots/ */
  const char *caption; /* what it shows, a sentence */
  GString *tsv;        /* owned */
  GString *more;       /* owned: a second table, for the variable `variable`; NULL: none */
  const char *variable;
  char *settings; /* owned: further gnuplot assignments, each with a ';' before it */
} RepPlot;

/* Returned: full, of RepPlot. */
GPtrArray *rep_plots_new (void);
/* One more; takes tsv and settings, which may be NULL. Returned: borrowed. */
RepPlot *rep_plots_add (GPtrArray *plots, const char *name, const char *script, const char *caption, const char *title,
                        GString *tsv, char *settings);

/* ---- what there is to draw, behind what there is; titles name `scenario` ---- */

/* All of a run, in the order of reading. */
void rep_plots_add_run (GPtrArray *plots, const ScnResult *result, const char *scenario);
/* Goodput by the interval between checkpoints, where more than one was followed. */
void rep_plots_add_goodput (GPtrArray *plots, const Gdp *goodput, const char *scenario);
/* Tornado plots: of the time for the same work (gdp_sensitivity), and of an answer, in which `what` changes: "time". `lookup` finds
 * the files of the constants. */
void rep_plots_add_goodput_sensitivity (GPtrArray *plots, const GArray *goodput_sensitivity, double time_s, const char *scenario);
void rep_plots_add_sensitivity (GPtrArray *plots, const StdSensitivity *sensitivity, const BaseLookup *lookup, const char *scenario,
                                const char *what);

/* A point that was asked for of a collective. */
typedef struct {
  guint32 nodes;
  double size_B;
} RepCollAsked;
/* Whether there are more numbers of nodes than sizes, and few enough sizes for a panel each: then nodes are the axis. */
#define REP_PANELS_MOST 6u
gboolean rep_coll_is_by_nodes (const GArray *asked);

/* Bus bandwidth of a table of collectives. */
typedef struct {
  const BaseTable *table; /* of rep_coll_row_members */
  MdlOp op;
  const char *topology;
  const GArray *asked;  /* RepCollAsked */
  const char *measured; /* TSV of rep_coll_measured_tsv; NULL: none */
} RepCollPlot;
void rep_plots_add_coll (GPtrArray *plots, const RepCollPlot *what);

/* How the collective ran; measurements that ran otherwise are not comparable. */
typedef struct {
  const char *topology;
  MdlOp op;
  MdlAlgo algo; /* or AUTO, likewise proto: measurements that name one are others */
  MdlProto proto;
  MdlLaunch launch;
  MdlBuffers buffers;
  guint32 gpus; /* of a node */
} RepCollWay;
/* nodes, bytes, busbw_Bps (B/s, as nccl-tests counts it) of the measurements that ran so and lie among the points asked for.
 * Returned: how many. */
guint rep_coll_measured_tsv (const CalData *data, const RepCollWay *way, const GArray *asked, GString *out);
/* The map of winners, and the bandwidths. */
void rep_plots_add_compare (GPtrArray *plots, const StdCompare *compare, const char *topology);
/* One column over the values of the first axis, a line for each combination of the others and of what rows of a point differ in. */
void rep_plots_add_vary (GPtrArray *plots, const StdSheet *sheet, const GPtrArray *axes, guint y, const char *asked);
/* One column over two axes, as colours; each point has one row. */
void rep_plots_add_vary_map (GPtrArray *plots, const StdSheet *sheet, const GPtrArray *axes, guint z, const char *asked);
/* Predicted against measured (CalPrediction); those of `name`. */
void rep_plots_add_points (GPtrArray *plots, const GArray *points, const char *name);

/* ---- drawing ---- */

/* ".svg", ".png" or ".pdf", which the scripts draw; NULL: `path` ends in none of them. */
const char *rep_plot_ending (const char *path);
/* `path` with `suffix` before its ending: "a/f.svg", "_busbw" gives "a/f_busbw.svg"; with `ending` in place of its own, NULL keeps
 * it. Returned: full. */
char *rep_plot_path (const char *path, const char *suffix, const char *ending);
/* 'text' as gnuplot reads it, quotes doubled. Returned: full. */
char *rep_plot_quote (const char *text);

/* Into memory: *out is full, and NULL without gnuplot. `lookup` finds plots/; `flag` asked for it. FALSE and *error on failure. */
gboolean rep_plot_render (const RepPlot *plot, const BaseLookup *lookup, const char *flag, const char *ending, GString **out,
                          GError **error);

typedef struct {
  char *path;     /* owned */
  GString *bytes; /* owned */
} RepFile;

/* As `path`, by its ending. Returned: full, of RepFile: the picture; without gnuplot its data and a shell script that draws them,
 * and `talk` says so. NULL and *error on failure. */
GPtrArray *rep_plot_draw (const RepPlot *plot, const BaseLookup *lookup, const char *flag, const char *path, GString *talk,
                          GError **error);

/* ---- data of a run ---- */

/* plots/breakdown.gp: part, value_s, in the order of the answer: of a training step the parts that are not zero, which sum to
 * it; of a collective or a copy the terms of the closed form. FALSE: there are none (several jobs). */
gboolean rep_parts_tsv (const ScnResult *result, GString *out);

/* plots/timeline.gp: stage, kind, start_s, end_s: what each pipeline stage does when, by stage, then time, without gaps. Kinds:
 * forward, backward, weight (gradients of weights, where the schedule puts them off), recompute, optimizer, other (copies, the
 * host), exchange (nothing computes, something is sent) and idle. More than REP_TIMELINE_ROWS rows of all stages become columns of
 * equal width, each of the kind that most of it was. *columns: how many, 0 where nothing was put together. FALSE: no training step,
 * or one that was run without spans. */
#define REP_TIMELINE_ROWS 6000u
gboolean rep_timeline_tsv (const ScnResult *result, GString *out, guint *columns);
/* The same of the start alone, until twice the time at which the first micro-batch is back on the first stage: of steps in which
 * single passes are narrower than a column. *back_s: half of that window. FALSE: a step is short enough to be seen whole. */
gboolean rep_timeline_begin_tsv (const ScnResult *result, GString *out, guint *columns, double *back_s);

/* plots/memory.gp: stage, then B of weights, gradients, optimizer, activations, buffers and what else there is. FALSE: not
 * known. */
gboolean rep_memory_tsv (const ScnResult *result, GString *out);

/* plots/goodput.gp: interval_s, goodput with its band, goodput_closed_form, best_interval_s and best_goodput, by rising interval.
 * FALSE: fewer than two intervals were followed. */
gboolean rep_goodput_curve_tsv (const Gdp *goodput, GString *out);

/* plots/links.gp: link_class, busiest, utilisation (0 to 1), bytes. FALSE: no link was used. */
gboolean rep_links_tsv (const ScnResult *result, GString *out);

#endif

/* Measurements to hold predictions against: a folder with systems.yaml, which says on which topology and how each file was
 * measured, the files themselves (CSV with a header line, or nccl-tests' output), and margins.yaml, which says how far off a
 * prediction may be. The keys of both are described in docs/measurements.md, from the tables that read them. */
#ifndef CALIBRATE_MEASURED_H
#define CALIBRATE_MEASURED_H

#include "base/arena.h"
#include "calibrate/host.h"
#include "calibrate/probe_file.h"
#include "models/library.h"

enum { CAL_LIBRARY_NCCL, CAL_LIBRARY_PLAIN };

/* What rows of a system were used for. */
typedef enum { CAL_ROLE_FIT, CAL_ROLE_SCORE, CAL_ROLE_NONE } CalRole;
extern const BaseName cal_role_names[];

typedef struct {
  BaseHead head;
  BaseStr name, topology, calibration, source, gpu, one_shot, note;
  BaseEnum library; /* CLI_LIBRARY_… */
  BaseEnum launch;
  BaseEnum buffers; /* MdlBuffers */
  BaseNums sizes;   /* B, of rows that belong to it; none: all */
  BaseEnum role;    /* CalRole; not set: not said */
  BaseBool p2p, one_way;
  BaseStrs disable;
  guint32 disabled_algos, disabled_protos; /* the same as bits: 1u << MdlAlgo, 1u << MdlProto */
} CalSystem;

/* A part of a file: lines below "## TITLE" of nccl-tests' output, rows of a CSV whose `setting` is the title. */
typedef struct {
  BaseHead head;
  BaseStr title;
  BaseStrs systems;
  BaseEnum algo, proto;
  BaseNum nodes, gpus, max_channels;
} CalPart;

typedef struct {
  BaseHead head;
  BaseStr path;
  BaseStrs systems;
  BaseEnum op;
  BaseList sections; /* CalPart */
} CalMeasuredFile;

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseList systems; /* CalSystem */
  BaseList files;   /* CalMeasuredFile */
} CalMeasurements;

/* How far off a row of the scoreboard may be; what a limit does not name it holds for. */
typedef struct {
  BaseHead head;
  BaseStrs systems;
  BaseStr note;
  BaseNum nodes, median, p95;
  BaseEnum op, algo, proto, band;
} CalLimit;

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum small_max, middle_max;
  BaseList limits; /* CalLimit: the first that fits counts */
} CalMargins;

extern const BaseSchema cal_schema_measurements, cal_schema_margins;
gboolean cal_names_hold (const BaseStrs *names, const char *name);

/* One measured point. */
typedef struct {
  guint system; /* which of the systems */
  MdlOp op;
  MdlAlgo algo;
  MdlProto proto;
  MdlDtype dtype;
  guint32 nodes, gpus;            /* gpus: of a node */
  guint32 max_channels, min_ctas; /* NCCL_MAX_NCHANNELS, NCCL_MIN_CTAS; 0: not set */
  const char *nccl;               /* version, owned by the data; NULL: not said */
  guint32 iters;                  /* operations in a row; 0: as nccl-tests does unless told */
  gboolean in_place;              /* said by the row; it is predicted like the others */
  double size_B, time_s;
  BaseMark at; /* its row, the file's name owned by the data; no file: of a probe */
} CalMeasured;

typedef struct {
  CalMeasurements spec;
  CalMargins margins;   /* name unset: there is no margins.yaml */
  GArray *points;       /* CalMeasured, in the order of the files */
  GArray *choices;      /* CalMeasured without times: what NCCL took */
  GPtrArray *probes;    /* CalProbe *: files of forerun-probe, and what counts as such */
  guint n_skipped;      /* points of parts that systems.yaml does not list */
  BaseArena *arena;     /* texts */
  GPtrArray *documents; /* BaseYaml *: leaves point into them */
} CalData;

/* Each of these: full, cal_data_free; NULL and *error (BASE_ERROR_INPUT, with the place) on anything that is wrong. */
CalData *cal_data_new (void);
/* Reads all of `folder`; `margins` NULL: its margins.yaml, if there is one. */
CalData *cal_data_load (const CalHost *host, const char *folder, const char *margins, GError **error);
/* The same of files of one machine (NULL at the end), whatever wrote them: CSV, probe's files, what measuring tools print. A system
 * for each way of launching stands for the machine. */
typedef struct {
  const char *topology;
  guint32 disabled_algos, disabled_protos; /* bits: what was switched off */
  MdlLaunch launch;                        /* of rows that name none */
  int op;                                  /* MdlOp of files that name none; -1: each names its own */
} CalFilesQuery;
CalData *cal_data_load_files (const CalHost *host, const char *const *paths, const CalFilesQuery *query, GError **error);
void cal_data_free (CalData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalData, cal_data_free)

/* A system of the data; its number by name, -1: none is named so. */
const CalSystem *cal_data_system (const CalData *data, guint i);
int cal_data_find (const CalData *data, const char *name);

/* By the ending: .json, .json.gz. */
gboolean cal_is_probe (const char *path);
/* Appends the collectives of a probe's file to data->points: to the first of `as`'s systems (NULL: of all) with their launch; those
 * of launches that no system has are counted. Says what is left out. */
gboolean cal_data_add_probe (const CalHost *host, const CalProbe *file, const CalMeasuredFile *as, CalData *data, GError **error);
/* Appends the points of a text of `n_B` bytes and a NUL: CSV, or nccl-tests' output where `table` says so. */
gboolean cal_data_add_text (const char *path, const char *text, gsize n_B, gboolean table, const CalMeasuredFile *file,
                            CalData *data, GError **error);

#endif

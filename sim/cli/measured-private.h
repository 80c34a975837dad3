/* Measurements to hold predictions against: a folder with systems.yaml, which says on which topology and how each file was
 * measured, the files themselves (CSV with a header line, or nccl-tests' output), and margins.yaml, which says how far off a
 * prediction may be. The keys of both are described in docs/measurements.md, from the tables that read them. */
#ifndef CLI_MEASURED_PRIVATE_H
#define CLI_MEASURED_PRIVATE_H

#include "calibrate/probe_file.h"
#include "cli-private.h"
#include "models/library.h"

G_BEGIN_DECLS

enum { CLI_LIBRARY_NCCL, CLI_LIBRARY_PLAIN };

typedef struct {
  BaseHead head;
  BaseStr name, topology, calibration, source, gpu, note;
  BaseEnum library; /* CLI_LIBRARY_… */
  BaseEnum launch;
  BaseBool p2p, one_way;
  BaseStrs disable;
} CliSystem;

/* A part of a file: lines below "## TITLE" of nccl-tests' output, rows of a CSV whose `setting` is the title. */
typedef struct {
  BaseHead head;
  BaseStr title;
  BaseStrs systems;
  BaseEnum algo, proto;
  BaseNum nodes, gpus, max_channels;
} CliSection;

typedef struct {
  BaseHead head;
  BaseStr path;
  BaseStrs systems;
  BaseEnum op;
  BaseList sections; /* CliSection */
} CliMeasuredFile;

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseList systems; /* CliSystem */
  BaseList files;   /* CliMeasuredFile */
} CliMeasurements;

/* How far off a row of the scoreboard may be; what a limit does not name it holds for. */
typedef struct {
  BaseHead head;
  BaseStrs systems;
  BaseStr note;
  BaseNum nodes, median, p95;
  BaseEnum op, algo, proto, band;
} CliLimit;

typedef struct {
  BaseHead head;
  BaseStr name;
  BaseNum small_to, middle_to;
  BaseList limits; /* CliLimit: the first that fits counts */
} CliMargins;

gboolean cli_names_hold (const BaseStrs *names, const char *name);

extern const BaseSchema cli_schema_measurements, cli_schema_margins;

/* One measured point. */
typedef struct {
  guint system; /* which of the systems */
  MdlOp op;
  MdlAlgo algo;
  MdlProto proto;
  MdlDtype dtype;
  guint32 nodes, gpus; /* gpus: of a node */
  guint32 max_channels;
  const char *nccl; /* version, owned by the data; NULL: not said */
  guint32 iters; /* operations in a row; 0: as nccl-tests does unless told */
  double size_B, time_s;
} CliMeasured;

typedef struct {
  CliMeasurements spec;
  CliMargins margins; /* name unset: there is no margins.yaml */
  GArray *points;     /* CliMeasured, in the order of the files */
  GPtrArray *versions; /* char *: of NCCL, each once; in the order of the files */
  GArray *choices;    /* CliMeasured without times: what NCCL took; NULL: none was told */
  GPtrArray *probes;  /* CalProbe: files of forerun-probe among them; NULL: none */
  guint n_skipped;    /* points of parts that systems.yaml does not list */
  guint n_impossible; /* points that cannot be predicted: counted by who predicts */
} CliData;

/* Reads all of `folder`; `margins` NULL: its margins.yaml, if there is one. Strings live as long as `cli`. FALSE and *error on
 * anything that is wrong. Initialise *data with zeroes; cli_data_clear after it, also on failure. */
gboolean cli_data_load (Cli *cli, const char *folder, const char *margins, CliData *data, GError **error);
/* The same from CSV files and probe files (.json) of one machine, which flags describe. */
typedef struct {
  const char *topology;
  const char *disable; /* algorithms and protocols, comma between; NULL: none */
  int launch;          /* MdlLaunch of rows that name none */
} CliFilesFlags;
gboolean cli_data_load_files (Cli *cli, char *const *paths, const CliFilesFlags *flags, CliData *data, GError **error);
void cli_data_clear (CliData *data);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliData, cli_data_clear)

/* The data's own copy of a version; NULL where none is told. */
const char *cli_data_version (CliData *data, const char *text);

/* What forerun-probe wrote, from a file. Returned: owned by the data; NULL and *error when it is no such document. */
CalProbe *cli_probe_load (Cli *cli, const char *path, CliData *data, GError **error);
gboolean cli_probe_has_no_nvls (const CalProbe *file); /* NCCL_NVLS_ENABLE=0 */
/* By the ending: .json, .json.gz. */
gboolean cli_is_probe (const char *path);
/* Appends the collectives to data->points: to the first of `as`'s systems (NULL: of all) with their launch; those of launches
 * that no system has are counted. Says what is left out. */
gboolean cli_probe_read (Cli *cli, const CalProbe *file, const CliMeasuredFile *as, CliData *data, GError **error);

/* The text of one file of measurements, by the ending of its path; appends to data->points. `text` ends with a NUL behind n_B. */
gboolean cli_measured_parse (const char *path, const char *text, gsize n_B, const CliMeasuredFile *file, CliData *data,
                             GError **error);
/* CSV, whatever its file's name. */
gboolean cli_measured_rows (const char *path, const char *text, const CliMeasuredFile *file, CliData *data, GError **error);
/* The same from the file. */
gboolean cli_measured_read (Cli *cli, const char *path, const CliMeasuredFile *file, CliData *data, GError **error);

G_END_DECLS

#endif

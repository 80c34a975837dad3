/* What the readers of measuring tools share: lines, words, JSON documents, notes of what was left out, and the CSV they write. */
#ifndef CALIBRATE_IMPORT_MEASURED_PRIVATE_H
#define CALIBRATE_IMPORT_MEASURED_PRIVATE_H

#include "base/json.h"
#include "calibrate/import_measured.h"

/* ---- places and messages ---- */

/* A line of a text, or a path in a JSON document ("results[3].out_of_place.time"); column 0: of no column. */
typedef struct {
  unsigned line, column;
  const char *at; /* NULL: a line */
} CalPlace;

#define CAL_LINE(n)  ((CalPlace){ .line = (n) })
#define CAL_AT(path) ((CalPlace){ .at = (path) })

/* FALSE and *error: "path:line:column: …" or "path: at: …". */
gboolean cal_fail (const CalText *text, CalPlace place, GError **error, const char *format, ...) G_GNUC_PRINTF (4, 5);
/* A word of the file on one line, cut where it is long. Returned: full, g_free. */
char *cal_shown (const char *word);

/* The same thing said of many rows is one warning: the first of them, how many more there are, and where. Zero it first. */
typedef struct {
  guint n, n_listed;
  unsigned line; /* the last one */
  GString *first, *more;
} CalNote;

void cal_note (CalNote *note, const CalText *text, CalPlace place, const char *format, ...) G_GNUC_PRINTF (4, 5);
/* Says it, if there was anything, and empties it. */
void cal_note_end (CalNote *note, const CalText *text);
void cal_note_clear (CalNote *note);

/* ---- text ---- */

/* Behind a byte order mark. */
gsize cal_text_start (const CalText *text);
/* The line that begins at *at, of n_B bytes without its end; *at moves to the next one. NULL: the text ends there. */
const char *cal_next_line (const CalText *text, const char **at, gsize *n_B);
/* Bytes of a line, and lines of a CSV: more would fill the memory, and nothing that is measured has them. */
#define CAL_MOST_LINE_B    (1u << 20)
#define CAL_MOST_CSV_LINES 200000u
/* FALSE and *error where the line `number` is too long. */
gboolean cal_line_check (const CalText *text, gsize n_B, unsigned number, GError **error);
/* FALSE and *error where a line is too long, or there are too many for a CSV. */
gboolean cal_csv_check (const CalText *text, GError **error);
/* The words of a line, between blanks; `words` points into `line`, which is cut up. Returned: how many, at most `most`. */
#define CAL_MAX_WORDS 2048
guint cal_words (char *line, char **words, guint most);
/* A decimal number, or nan or inf; *half: half a unit of its last digit, as far as rounding took it. FALSE: none. */
gboolean cal_decimal (const char *word, double *value, double *half);
/* A whole number. FALSE: none, or above `most`. */
gboolean cal_whole (const char *word, guint64 most, guint64 *value);

/* Whether the first character that is not blank is '{'. */
gboolean cal_is_json (const CalText *text);

/* ---- one file that is imported ---- */

/* First member of what a reader has in hand. */
typedef struct {
  const CalText *text;
  const CalFileInfo *told;
  GString *csv;
  guint n_rows;
  gboolean known;  /* something was the tool's */
  CalNote note[6]; /* by the reader's own numbers, said in this order */
} CalImport;

void cal_import_open (CalImport *import, const CalText *text, const CalFileInfo *told, const char *header);
/* Visits each line, cut off from the text and numbered from 1. FALSE and *error: bytes that no text has, or as the visitor says. */
gboolean cal_import_lines (void *reader, const CalText *text,
                           gboolean (*visit) (void *reader, char *line, unsigned number, GError **error), GError **error);
/* The same for CSV of at most CAL_MOST_CSV_LINES lines: blanks at the end are cut off, and a line that is empty or begins with '#'
 * is not visited. */
gboolean cal_csv_lines (void *reader, const CalText *text,
                        gboolean (*visit) (void *reader, char *line, unsigned number, GError **error), GError **error);
/* Visits the object of each JSON document; a document begins on a line whose first character is '{', and `line` is its number.
 * Other lines are passed over and said. FALSE and *error on what is not JSON, or as the visitor says. */
gboolean cal_import_documents (void *reader, const CalText *text,
                               gboolean (*visit) (void *reader, JsonObject *root, unsigned line, GError **error), GError **error);
/* Says what was noted. Returned: the CSV, full; NULL, and *error, where reading was not `good`, nothing was known (`foreign` says
 * what would be), or no `row` is left. */
char *cal_import_close (CalImport *import, gboolean good, const char *foreign, const char *row, GError **error);

/* A number, or a text that is one. FALSE: neither. */
gboolean cal_json_number (JsonNode *node, double *value);
gboolean cal_json_member (JsonObject *in, const char *name, double *value);

/* ---- CSV: no quotes, so a cell keeps no comma, quote or control character ---- */

/* A text (NULL: empty), a number (NaN: empty), or a whole number. */
typedef struct {
  enum { CAL_CELL_TEXT, CAL_CELL_NUMBER, CAL_CELL_COUNT } kind;
  const char *text;
  double number;
  guint64 count;
} CalCell;
#define CAL_TEXT(value)   ((CalCell){ .kind = CAL_CELL_TEXT, .text = (value) })
#define CAL_NUMBER(value) ((CalCell){ .kind = CAL_CELL_NUMBER, .number = (value) })
#define CAL_COUNT(value)  ((CalCell){ .kind = CAL_CELL_COUNT, .count = (value) })
#define CAL_KNOWN(value)  ((value) > 0 ? CAL_COUNT (value) : CAL_TEXT (NULL)) /* 0: not known */

void cal_csv_row (GString *out, const CalCell *cells, guint n);

/* ---- copies between devices ---- */

#define CAL_COPY_HEADER "kind,src,dst,bytes,seconds,GBps\n"
#define CAL_HOST        (-1) /* src, dst: the host, or all other GPUs where the kind says so */

typedef struct {
  const char *kind;
  int src, dst;
  gboolean latency; /* value in s; otherwise a rate in GB/s, GB = 1e9 B */
  double value;
  unsigned copies; /* of told->copy_B that the rate counts; 0: not known */
} CalCopy;

void cal_copy_write (CalImport *import, const CalCopy *copy);

/* ---- storage ---- */

#define CAL_STORAGE_HEADER "tool,job,op,path,block_B,threads,depth,rate_Bps,iops,latency_mean_s,latency_p99_s,runtime_s\n"

/* 0 and NaN: not known. */
typedef struct {
  const char *tool, *job, *op;
  const char *path; /* "host", "gpu_direct", "host_gpu"; NULL: not known */
  guint64 block_B, threads, depth;
  double rate_Bps, iops, latency_mean_s, latency_p99_s, runtime_s;
} CalStorage;

void cal_storage_write (CalImport *import, const CalStorage *row);

/* ---- nccl-tests ---- */

/* What text and JSON may hold; sizes as `validate` accepts, times up to a day. */
#define CAL_MOST_SIZE_B  ((guint64)1 << 50)
#define CAL_MOST_TIME_US 1e11
#define CAL_MOST_RANK    10000000
#define CAL_MOST_EACH    1024 /* threads, GPUs of a thread */

/* A run: what its header says. */
#define CAL_NOT_SAID (-3) /* of algorithms and protocols, where -1 is NCCL's choice */

typedef struct {
  unsigned start;                   /* line */
  unsigned seen;                    /* which header lines came: CAL_RUN_… */
  int op;                           /* MdlOp; -1: not said */
  char *program;                    /* as the file says it; NULL: not said */
  int algo, proto;                  /* MdlAlgo, MdlProto, CAL_NOT_SAID */
  int launch;                       /* -1: not said */
  guint32 threads, gpus_per_thread; /* 0: not said */
  GArray *ranks;                    /* CalRank */
  char nccl[24];
  const char *title;    /* borrowed */
  guint n_rows, n_left; /* left: out, for what it is */
  gboolean resolved;
  guint32 nodes, gpus; /* once resolved */
} CalRun;

enum { CAL_RUN_VERSION = 1, CAL_RUN_NAME = 2, CAL_RUN_CONFIG = 4, CAL_RUN_FOOT = 8 };

typedef struct {
  guint32 rank, group;
  char *host;
  unsigned line;
} CalRank;

/* One half of a row. The halves of units say how far rounding took a number. */
typedef struct {
  guint64 size_B;
  int dtype; /* MdlDtype */
  gboolean in_place;
  double time_us, algbw_GBps, busbw_GBps;
  double time_half, algbw_half, busbw_half;
  gint64 wrong; /* -1: not checked */
} CalRow;

typedef struct CalRows CalRows;
CalRows *cal_rows_new (const CalText *text, const CalFileInfo *told);
void cal_rows_free (CalRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalRows, cal_rows_free)

/* A run with nothing said; `run` is zeroed or was cleared. */
void cal_run_open (CalRun *run, unsigned start);
void cal_run_clear (CalRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CalRun, cal_run_clear)
void cal_run_program (CalRun *run, const char *program);
void cal_run_version (CalRun *run, guint64 code); /* as ncclGetVersion has it */
/* Values of NCCL_ALGO and NCCL_PROTO: one name is what ran, a list says only what might. */
void cal_run_algo (CalRows *rows, CalRun *run, CalPlace place, const char *value);
void cal_run_proto (CalRows *rows, CalRun *run, CalPlace place, const char *value);
void cal_run_launch (CalRun *run, guint64 graphs);

/* Operation and ranks, before the first row. FALSE and *error where neither file nor caller says. */
gboolean cal_rows_resolve (CalRows *rows, CalRun *run, CalPlace place, GError **error);
/* `type` as the file has it: FALSE where forerun has none such, and the row is left out. */
gboolean cal_rows_dtype (CalRows *rows, CalPlace place, const char *type, int *dtype);
void cal_rows_add (CalRows *rows, CalRun *run, CalPlace place, const CalRow *row);
void cal_rows_warn (CalRows *rows, CalPlace place, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* Of a run that is over. */
void cal_rows_run_end (CalRows *rows, CalRun *run);
/* The CSV. Returned: full; NULL and *error where no row is left. */
char *cal_rows_finish (CalRows *rows, GError **error);

gboolean cal_nccl_tests_read_json (const CalText *text, CalRows *rows, GError **error);

#endif

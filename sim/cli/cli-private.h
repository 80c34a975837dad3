/* What every verb shares: its flags, its inputs and warnings, and the answer, which is built in memory and written once. */
#ifndef CLI_PRIVATE_H
#define CLI_PRIVATE_H

#include <stddef.h>

#include "api/load.h"
#include "api/values.h"
#include "base/diag.h"
#include "base/lookup.h"
#include "base/schema.h"
#include "base/table.h"
#include "constants/store.h"
#include "report/envelope.h"
#include "scenario/ranks.h"

/* What the program ends with; a signal's number is added to the last. */
typedef enum { CLI_EXIT_DONE, CLI_EXIT_RUN, CLI_EXIT_INPUT, CLI_EXIT_INFEASIBLE, CLI_EXIT_SIGNAL = 128 } CliExit;

typedef enum {
  CLI_FORMAT_TEXT,
  CLI_FORMAT_JSON,
  CLI_FORMAT_TSV,
  CLI_FORMAT_CSV, /* of flags alone: verbs write TSV, which becomes CSV in the end */
  CLI_FORMAT_NCCL_TESTS,
  CLI_FORMAT_NCCL_TESTS_JSON
} CliFormat;

/* ---- flags ---- */

typedef enum {
  CLI_FLAG_HEADING, /* a group's title in --help */
  CLI_FLAG_TEXT,    /* char *, owned; the last one given counts */
  CLI_FLAG_OUTPUT,  /* the same: a file or a folder that is written */
  CLI_FLAG_TEXTS,   /* char **, owned; repeatable */
  CLI_FLAG_PAIR,    /* char **, owned: two words */
  CLI_FLAG_SWITCH   /* gboolean */
} CliFlagKind;

typedef struct {
  CliFlagKind kind;
  const char *name; /* long name without dashes; a heading's title */
  char letter;      /* 0: none */
  size_t offset;    /* in the struct that is filled */
  const char *arg;  /* placeholder of the value */
  const char *help; /* meaning, unit, default */
} CliFlag;          /* tables end with name NULL */

typedef struct Cli Cli;

typedef struct {
  char *path;
  GString *bytes;
} CliFile;

/* A file or a folder that a flag names to be written; borrowed. */
typedef struct {
  const char *flag; /* without dashes */
  char letter;
  const char *path;
} CliOutput;

typedef struct {
  const char *name, *summary;
  const char *usage; /* after "forerun NAME " */
  const char *example;
  const char *completes; /* what its first word may be: a kind of `forerun list`, "" the kinds, "=a b" these words; NULL: a file */
  const char *notes;     /* paragraphs of --help, each ends a line; NULL none */
  const CliFlag *flags[5];      /* tables in the order of --help, ends with NULL */
  size_t size;                  /* of the struct that they fill; 0 without flags */
  CliFormat formats;            /* the last format that it writes, in the order of CliFormat */
  gboolean has_workbook;        /* -o F.xlsx is a workbook */
  gboolean varies;              /* --vary: its answer is rows of figures that keys of the input change */
  gboolean repeats;             /* its answer takes many runs: memory that one frees is kept for the next */
  const char *const *headlines; /* columns that --vary shows first, ends with NULL; NULL: the usual ones */
  /* `words`: what is not a flag, ends with NULL. FALSE and *error on failure: nothing is written then. */
  gboolean (*run) (Cli *cli, const void *flags, char **words, GError **error);
} CliVerb;

struct Cli {
  const CliVerb *verb;
  char **command; /* as typed, the program without its folder */
  /* common flags */
  char *format_text, *output, *seed_text, *limit_text;
  char **sets;   /* may be NULL */
  char **varies; /* --vary, likewise */
  char *columns, *vary_plot, *vary_map, *sandbox;
  gboolean quiet, help, wide;
  gboolean is_point; /* of --vary: its answer is kept, not printed */
  CliFormat format;
  gboolean workbook; /* -o names one (.xlsx): the answer is its bytes */
  gboolean csv;      /* the rows of CLI_FORMAT_TSV are written as CSV */
  guint64 seed;
  /* what the run gathers */
  BaseLookup *lookup;   /* NULL until cli_lookup */
  GPtrArray *yamls;     /* BaseYaml *: documents that must live until the end */
  GPtrArray *kept;      /* BaseYaml *: likewise, but no inputs of the answer */
  GPtrArray *inputs;    /* RepInput * */
  char *piped;          /* text of a plan on stdin, which is read once; NULL */
  GPtrArray *read;      /* char *: files that were read, as they were opened */
  GPtrArray *warnings;  /* char * */
  CstStore constants;   /* kept until the end: settings point into them */
  BaseTable *rows;      /* of a point of --vary: its answer as rows, or */
  JsonNode *results;    /* as JSON; NULL: the other format */
  GString *out;         /* the answer */
  GString *talk;        /* what stderr gets besides warnings, whole lines */
  GPtrArray *files;     /* CliFile *: further files that flags name */
  GArray *outputs;      /* CliOutput: all that flags name to be written, until the verb is done */
  char **picked;        /* columns that --columns names; NULL: none */
  gboolean document;    /* the text is a file for a program, of which no line is broken */
  const char *currency; /* that amounts of the answer are shown in, static; NULL: US dollars, as where points of --vary differ */
  double currency_usd;  /* what one of it is worth */
  gboolean priced;      /* a list of prices was read */
  char *folder;         /* made before they are written where it is not there; NULL: none */
  int status;           /* CliExit of a run that did not fail */
  int signal;           /* that ended a run which failed; 0: none */

  /* of several processes that answer as one */
  gboolean silent;                      /* another one tells all of it */
  void (*end) (void *data, int status); /* called last, with the exit status; NULL: nothing */
  void *end_data;
};

/* ---- a run ---- */

/* argv[0] and all words after it, for the answer's `command`. Returned: full, cli_free. */
Cli *cli_new (const CliVerb *verb, int argc, char *const *argv);
void cli_free (Cli *cli);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Cli, cli_free)
/* Reads the verb's `words` and does what they ask. FALSE and *error on failure. */
gboolean cli_run (Cli *cli, char *const *words, GError **error);
/* The same with further --set values and another format (json or tsv), without --vary: a point of it, whose answer is in `rows` or
 * `results`. */
gboolean cli_run_point (Cli *cli, char *const *words, const char *const *sets, const char *format, GError **error);
/* All combinations of the values of --vary, each run by itself; rest: the words that are no flags. */
gboolean cli_vary (Cli *cli, char *const *words, char *const *rest, GError **error);

/* Reads `words` (the verb's own arguments) into *base and the common flags. Returned: the rest, full, g_strfreev; NULL and *error
 * on a bad flag: says which are near. */
char **cli_flags_parse (Cli *cli, char *const *words, void *base, GError **error);
void cli_flags_clear (const CliFlag *flags, void *base);
/* Puts what flags name to be written into cli->outputs; `base` is borrowed by it. */
void cli_flags_outputs (Cli *cli, const void *base);
/* All rows that --help shows, headings too: those of the verb, then the common ones. */
void cli_flags_each (const CliVerb *verb, void (*visit) (const CliFlag *flag, void *data), void *data);
extern const CliFlag cli_common_flags[];

/* ---- values of flags (api/values.h); messages begin with the verb ---- */

/* FALSE and *error (BASE_ERROR_INPUT): "forerun VERB: …" */
#define cli_fail(cli, ...)        fr_fail_of ((cli)->verb->name, __VA_ARGS__)
#define cli_name_value(cli, ...)  fr_name_value ((cli)->verb->name, __VA_ARGS__)
#define cli_count_value(cli, ...) fr_count_value ((cli)->verb->name, __VA_ARGS__)
#define cli_size_value(cli, ...)  fr_size_value ((cli)->verb->name, __VA_ARGS__)

/* Reports on stderr how far the run is, after two seconds, unless --quiet: a line every ten seconds, or on a terminal one line that
 * is renewed. base_progress_stop ends it, and cli_progress_clear then removes the line from the terminal. */
void cli_progress_start (const Cli *cli);
void cli_progress_clear (void);

/* Where lines on stderr break: the width of the terminal that it is; 0, nowhere, where it is none. */
guint cli_layout_talk_width (void);
/* Lays out text by the flags and the output, before the verb prints; and breaks its long lines and names the columns that found no
 * room, after it. FALSE and *error where --columns names what no table has. */
gboolean cli_layout_begin (Cli *cli, GError **error);
gboolean cli_layout_end (Cli *cli, GError **error);
/* Amounts of the answer are shown in the currency of a list of prices (`code` NULL: US dollars), of which one is worth `usd`; in US
 * dollars where a run has read lists in different ones. */
void cli_layout_currency (Cli *cli, const char *code, double usd);

/* From now on memory that is freed, in pieces of up to 32 MiB, stays with the process until 256 MiB of it lie at the end of a heap.
 * Before any thread is made. Nothing without glibc. */
void cli_keep_freed_memory (void);
/* From now on a failed allocation ends the program as cli_no_memory does: with a message and CLI_EXIT_RUN. */
void cli_catch_no_memory (void);
G_NORETURN void cli_no_memory (void);

/* ---- inputs ---- */

/* Finds the shipped data once. FALSE and *error when there is none: says where it was looked for. */
gboolean cli_lookup (Cli *cli, GError **error);
/* Folders of all shipped files, separated by ':': parts of topologies last, as a GPU's name is its calibration's too (cmd_list.c).
 * Returned: full. */
char *cli_shipped_folders (void);
/* Warnings gathered so far, each once. */
void cli_warn (Cli *cli, const char *text);
void cli_warn_all (Cli *cli, const BaseDiag *diag);

/* Where scn_cluster_load and scn_ranks_open look for things; what they have read and warned about becomes the run's by closing it,
 * also after a failure. Needs cli_lookup. */
ScnHost cli_host_open (Cli *cli);
void cli_host_close (Cli *cli, ScnHost *host);
/* A cluster by name or path with the --set values applied; `nodes` 0: as the file says. Returned: full. */
Clu *cli_cluster_load (Cli *cli, const char *topology, guint32 nodes, GError **error);

/* After a failure to read the file `path`: if its first key says that it is another kind of file than `wanted` ("scenario"), that
 * is the error, and not what its keys are not. `error` NULL: nothing to tell. */
void cli_tell_kind (const Cli *cli, const char *path, const char *wanted, GError **error);

/* ---- answers ---- */

/* Puts files among the inputs of the answer; `yamls` (BaseYaml *) need not outlive the call. */
void cli_take_inputs (Cli *cli, const GPtrArray *yamls);
void cli_take_input (Cli *cli, const char *path, const char *bytes, gsize n_B); /* one that is not YAML */
/* One more file to write when all is done, before the answer; takes `bytes`. FALSE and *error when `path` is -o's or another
 * file's: `flag` asked for it. */
gboolean cli_add_file (Cli *cli, const char *flag, const char *path, GString *bytes, GError **error);
/* The folder that further files go into is made before they are written. FALSE and *error where `folder` cannot be one. */
gboolean cli_make_folder (Cli *cli, const char *flag, const char *folder, GError **error);
/* FALSE and *error when -o or another flag names a file that this run has read: an answer never takes the place of its question. */
gboolean cli_spare_inputs (const Cli *cli, GError **error);
/* The same before anything is read: two flags that name one file, or one that is among the verb's `words`. */
gboolean cli_outputs_check (const Cli *cli, char *const *words, GError **error);
/* The envelope of this run; borrowed from cli. */
RepEnvelope cli_envelope (const Cli *cli);
/* The same as JSON: open for its results, and closed, which takes it, onto what goes to stdout. */
JsonBuilder *cli_json_open (const Cli *cli);
void cli_json_close (Cli *cli, JsonBuilder *json);
/* The answer as rows, which it takes: onto what goes to stdout as TSV. */
void cli_rows (Cli *cli, BaseTable *rows);

extern const CliVerb cli_verb_run, cli_verb_coll, cli_verb_compare, cli_verb_explain, cli_verb_topo, cli_verb_check, cli_verb_list,
    cli_verb_import, cli_verb_export, cli_verb_validate, cli_verb_fit, cli_verb_plan, cli_verb_merge, cli_verb_ratio,
    cli_verb_offers;

#endif

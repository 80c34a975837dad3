/* Changes input files of every format, and command lines, by a seed, and holds forerun to what it promises for any input: it ends
 * by itself with a status that --help names, within 20 s of a processor and 1 GiB; it prints no nan or infinity, no control
 * character and no message of a library; JSON is whole; and a call that fails leaves every file as it was and none behind.
 *
 * usage: mutate FORERUN SOURCE_DIR FILES LINES SEED [ONLY]
 * FILES files and LINES command lines are tried. What fails is kept in ./mutate-found/SEED-NUMBER and shown with its number; ONLY
 * is such a number, which alone is tried again. */
#include <errno.h>
#include <fcntl.h>
#include <json-glib/json-glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "mutate.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define TIME_MAX_S    (SANITIZED ? 200 : 20)
#define MEMORY_MAX_kB ((glong)1 << 20)

/* What becomes of a file: `seeds` are files and folders of the source tree, `lines` commands in which @ is the file. */
typedef struct {
  const char *name, *suffix;
  const char *seeds[4];
  const char *lines[5];
} Kind;

static const Kind kinds[] = {
  { "scenario",
    ".yaml",
    { "scenarios", "scenarios/cases", "tests/fuzz/corpus/scenario" },
    { "run @", "check @", "run @ --mode model", "explain @" } },
  { "topology",
    ".yaml",
    { "topologies", "tests/fuzz/corpus/topology", "tests/fuzz/regress/topology" },
    { "topo @", "coll all_reduce --topology @ -b 1M -e 1M", "check @", "export dot @", "topo @ --path gpu0 gpu1" } },
  { "part", ".yaml", { "topologies/gpus", "topologies/nics", "topologies/switches", "topologies/storage" }, { "check @" } },
  { "model", ".yaml", { "scenarios/llms", "scenarios/networks" }, { "check @" } },
  { "config", ".json", { "tests/data/llms", "tests/fuzz/corpus/hf_config" }, { "check @", "import hf-config @" } },
  { "plan",
    ".yaml",
    { "tests/golden/plan/small/plan.yaml", "tests/golden/plan/pareto/plan.yaml", "tests/golden/plan/failures/plan.yaml" },
    { "plan @ --threads 1 --best 1", "check @", "plan @ --threads 1 --best 0" } },
  { "prices", ".yaml", { "scenarios/prices" }, { "check @", "plan small.yaml --threads 1 --best 0 --set prices=@" } },
  { "offers", ".yaml", { "scenarios/offers" }, { "offers @", "check @" } },
  { "failures", ".yaml", { "calibrate/defaults/failures" }, { "check @" } },
  { "calibration",
    ".yaml",
    { "calibrate/defaults" },
    { "coll all_reduce --topology hgx_h200 -n 2 -b 1M -e 1M --calibration @", "check @", "topo hgx_h200 --calibration @",
      "run quickstart --calibration @", "explain all_reduce --topology hgx_h200 --size 1M --calibration @" } },
  { "state", ".json", { "=state" }, { "plan small.yaml --threads 1 --best 1 --resume @" } },
  { "shard", ".json", { "=shard" }, { "merge @ --threads 1 --best 1" } },
  { "probe",
    ".json",
    { "tests/fuzz/corpus/probe", "tests/data/probe" },
    { "fit @ --topology hgx_h200", "fit @ --topology hgx_h200 --hold-out none" } },
  { "rows", ".csv", { "tests/fuzz/corpus/measured", "tests/data/h200x8" }, { "fit @ --topology hgx_h200" } },
  { "nccl_tests",
    ".txt",
    { "tests/fuzz/corpus/nccl_tests", "tests/data/h200x8/all_reduce_graph.txt" },
    { "import nccl-tests @", "import nccl-tests @ --op all_reduce -n 2" } },
  { "nvbandwidth", ".txt", { "tests/fuzz/corpus/nvbandwidth" }, { "import nvbandwidth @", "import nvbandwidth @ --copy 512M" } },
  { "p2p", ".txt", { "tests/fuzz/corpus/p2p_test" }, { "import p2p-bandwidth-test @" } },
  { "fio", ".json", { "tests/fuzz/corpus/fio" }, { "import fio @" } },
  { "gdsio", ".txt", { "tests/fuzz/corpus/gdsio" }, { "import gdsio @" } },
  { "xml", ".xml", { "tests/fuzz/corpus/nccl_topo", "tests/data/import" }, { "import nccl-topo @", "import nccl-graph @" } },
  { "smi", ".txt", { "tests/fuzz/corpus/smi_topo" }, { "import nvidia-smi-topo @ --gpu h200_sxm", "import nvidia-smi-topo @" } },
  { "slurm", ".conf", { "tests/fuzz/corpus/slurm" }, { "import slurm-topology @ --like hgx_h200" } },
  { "log", ".txt", { "tests/fuzz/corpus/nccl_log" }, { "import nccl-log @", "import nccl-log @ --choices c.csv" } },
  { "systems", "", { "tests/golden/fit/by_hand/systems.yaml" }, { "fit @folder", "validate @folder" } },
};

/* Command lines that are changed; all are fast, and name no file outside their folder. */
static const char *const lines[] = {
  "run s.yaml",
  "run quickstart --format json -o out",
  "run s.yaml --vary cluster.topology.nodes=1,2 --format tsv",
  "coll all_reduce --topology hgx_h200 -n 2 -b 1M -e 4M",
  "coll alltoall --topology t.yaml -b 1M -e 1M --mode model --format json",
  "compare all_gather --topology hgx_h200 -n 1,2 -b 1M -e 4M --format tsv",
  "compare all_reduce --topology hgx_h200 -n 2 -b 1M -e 1M --tuner-conf conf -o out",
  "plan plan.yaml --threads 1 --best 0 --rows 2",
  "plan plan.yaml --threads 1 --shard 1/2 -o part",
  "plan plan.yaml --threads 1 --best 1 --resume state.json -o out",
  "merge shard.json --best 0",
  "offers offers.yaml --set deadline=30days --format json",
  "explain all_reduce --topology hgx_h200 --size 1M",
  "explain s.yaml --format json",
  "topo hgx_h200 -n 2 --path gpu0 node1.gpu3",
  "topo t.yaml --dot -o out",
  "check s.yaml t.yaml plan.yaml offers.yaml",
  "list topologies --format json",
  "list algorithms",
  "import nccl-topo x.xml --name n -o out",
  "import nccl-log log.txt --choices c.csv -o out",
  "import nccl-tests n.txt --op all_reduce -n 2 -g 8",
  "export slurm-topology hgx_h200 -n 4 --hosts gpu[001-004]",
  "export tuner-conf all_reduce --topology hgx_h200 -n 2 -b 1M -e 1M",
  "fit probe.json --topology hgx_h200 -o out --report r",
  "ratio s.yaml",
  "--completion zsh",
  "--version --json",
};

typedef struct {
  char *name;
  GString *bytes;
} File;

typedef struct {
  const char *forerun, *source;
  char *work, *folder, *data, *found; /* everything is below `work`; commands run in `folder` */
  GPtrArray *seeds[G_N_ELEMENTS (kinds)];
  GPtrArray *beside; /* File *: what command lines find in their folder */
  GPtrArray *flags;
  guint seed, n_failed, n_status[4];
  GString *input; /* what the file of this case holds; NULL: none */
} Campaign;

typedef struct {
  int status; /* of waitpid */
  gboolean hung;
  glong rss_kB;
  char *out, *err;
  gsize out_B, err_B;
} Answer;

static void
file_free (gpointer data)
{
  File *file = data;
  g_string_free (file->bytes, TRUE);
  g_free (file->name);
  g_free (file);
}

static void
add_file (GPtrArray *files, const char *name, const char *path)
{
  char *bytes;
  gsize n_B;
  if (!g_file_get_contents (path, &bytes, &n_B, NULL))
    g_error ("%s cannot be read", path);
  File *file = g_new (File, 1);
  *file = (File){ g_strdup (name), g_string_new_len (bytes, (gssize)n_B) };
  g_ptr_array_add (files, file);
  g_free (bytes);
}

/* ---- one call ---- */

static void
start (const Campaign *c, char *const *argv)
{
  const struct rlimit cpu = { TIME_MAX_S, TIME_MAX_S + 5 }, core = { 0, 0 }, size = { 1u << 28, 1u << 28 };
  const struct rlimit memory = { (rlim_t)6 << 30, (rlim_t)6 << 30 };
  if (chdir (c->folder) != 0 || setrlimit (RLIMIT_CPU, &cpu) != 0 || setrlimit (RLIMIT_CORE, &core) != 0 ||
      setrlimit (RLIMIT_FSIZE, &size) != 0 || (!SANITIZED && setrlimit (RLIMIT_AS, &memory) != 0))
    _exit (99);
  int in = open ("/dev/null", O_RDONLY), out = open ("../out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  int err = open ("../err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (dup2 (in, 0) < 0 || dup2 (out, 1) < 0 || dup2 (err, 2) < 0)
    _exit (99);
  execv (c->forerun, argv);
  _exit (99);
}

static char *
read_output (const Campaign *c, const char *name, gsize *n_B)
{
  g_autofree char *path = g_build_filename (c->work, name, NULL);
  char *bytes = NULL;
  if (!g_file_get_contents (path, &bytes, n_B, NULL)) {
    *n_B = 0;
    return g_strdup ("");
  }
  return bytes;
}

/* Who waits for something that never comes uses no processor: such a call is ended after six times the limit. */
static Answer
call (const Campaign *c, const GPtrArray *words)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_ptr_array_add (argv, (gpointer)(guintptr)c->forerun);
  for (guint i = 0; i < words->len; i++)
    g_ptr_array_add (argv, words->pdata[i]);
  g_ptr_array_add (argv, NULL);
  Answer answer = { 0 };
  sigset_t child;
  sigemptyset (&child);
  sigaddset (&child, SIGCHLD);
  pid_t pid = fork ();
  if (pid == 0) {
    sigprocmask (SIG_UNBLOCK, &child, NULL);
    start (c, (char *const *)argv->pdata);
  }
  const struct timespec limit = { .tv_sec = 6 * TIME_MAX_S };
  if (sigtimedwait (&child, NULL, &limit) < 0 && errno == EAGAIN) {
    answer.hung = TRUE;
    kill (pid, SIGKILL);
  }
  struct rusage usage;
  while (wait4 (pid, &answer.status, 0, &usage) < 0 && errno == EINTR)
    ;
  answer.rss_kB = usage.ru_maxrss;
  answer.out = read_output (c, "out", &answer.out_B);
  answer.err = read_output (c, "err", &answer.err_B);
  return answer;
}

/* ---- the folder in which calls run ---- */

static void
remove_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    if (g_file_test (path, G_FILE_TEST_IS_DIR) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK)) {
      remove_files (path);
      g_rmdir (path);
    } else
      g_unlink (path);
  }
}

static void
write_file (const char *folder, const File *file)
{
  g_autofree char *path = g_build_filename (folder, file->name, NULL), *parent = g_path_get_dirname (path);
  g_mkdir_with_parents (parent, 0777);
  if (!g_file_set_contents (path, file->bytes->str, (gssize)file->bytes->len, NULL))
    g_error ("%s cannot be written", path);
}

static void
lay_out (const Campaign *c, const GPtrArray *files)
{
  remove_files (c->folder);
  for (guint i = 0; i < files->len; i++)
    write_file (c->folder, files->pdata[i]);
}

/* What a call that failed did to the folder; NULL: nothing. Returned: full. */
static char *
find_change (const Campaign *c, const GPtrArray *files, const char *may_change)
{
  for (guint i = 0; i < files->len; i++) {
    const File *file = files->pdata[i];
    g_autofree char *path = g_build_filename (c->folder, file->name, NULL), *bytes = NULL;
    gsize n_B = 0;
    if (may_change != NULL && strcmp (file->name, may_change) == 0)
      continue;
    if (!g_file_get_contents (path, &bytes, &n_B, NULL) || n_B != file->bytes->len || memcmp (bytes, file->bytes->str, n_B) != 0)
      return g_strdup_printf ("failed, and changed %s", file->name);
  }
  return NULL;
}

static char *
find_leftover (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    if (strstr (name, ".forerun-") != NULL || g_str_has_suffix (name, ".tmp") || strcmp (name, "X") == 0)
      return g_strdup_printf ("left %s behind", name);
  return NULL;
}

/* ---- what must hold ---- */

static gboolean
has_word (const GPtrArray *words, const char *word)
{
  for (guint i = 0; i < words->len; i++)
    if (strcmp (words->pdata[i], word) == 0)
      return TRUE;
  return FALSE;
}

static char *
check_end (const Answer *answer)
{
  static const char *const said[] = { "GLib", "CRITICAL", "runtime error:", "Sanitizer", "ssertion", "GNUPLOT" };
  if (answer->hung)
    return g_strdup_printf ("hung for %d s", 6 * TIME_MAX_S);
  if (WIFSIGNALED (answer->status))
    return WTERMSIG (answer->status) == SIGXCPU ? g_strdup_printf ("over %d s of a processor", TIME_MAX_S)
                                                : g_strdup_printf ("ended by signal %d", WTERMSIG (answer->status));
  if (WEXITSTATUS (answer->status) > 3)
    return g_strdup_printf ("status %d", WEXITSTATUS (answer->status));
  if (!SANITIZED && answer->rss_kB > MEMORY_MAX_kB)
    return g_strdup_printf ("took %ld MiB", answer->rss_kB >> 10);
  for (gsize i = 0; i < G_N_ELEMENTS (said); i++)
    if (strstr (answer->err, said[i]) != NULL)
      return g_strdup_printf ("says '%s'", said[i]);
  return NULL;
}

static gboolean
is_json (const char *text, gsize n_B)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();
  return n_B > 0 && json_parser_load_from_data (parser, text, (gssize)n_B, NULL);
}

/* A word that the input has too may be quoted: then nothing is said of it. */
static gboolean
is_odd (const Campaign *c, const GPtrArray *words, const char *text)
{
  if (!mutate_has_odd_number (text) || (c->input != NULL && mutate_has_odd_number (c->input->str)))
    return FALSE;
  for (guint i = 0; i < words->len; i++)
    if (mutate_has_odd_number (words->pdata[i]))
      return FALSE;
  return TRUE;
}

static char *
check_text (const Campaign *c, const GPtrArray *words, const Answer *answer, gboolean json)
{
  const int status = WEXITSTATUS (answer->status);
  if (is_odd (c, words, answer->out))
    return g_strdup ("prints nan or infinity");
  if (strstr (answer->err, ": internal: ") != NULL)
    return g_strdup ("finds a fault of its own");
  if (status != 0 && answer->err_B == 0 && !has_word (words, "--quiet"))
    return g_strdup_printf ("status %d without a word", status);
  const int control = mutate_control_character (answer->err, answer->err_B);
  if (control >= 0)
    return g_strdup_printf (control == 0x80 ? "a message is not UTF-8" : "a message holds control character 0x%02x", control);
  if (mutate_control_character (answer->out, answer->out_B) >= 0)
    return g_strdup ("the answer holds a control character or is not UTF-8");
  if (json && status == 0 && answer->out_B > 0 && !is_json (answer->out, answer->out_B))
    return g_strdup ("the answer is not JSON");
  return NULL;
}

static void
keep (Campaign *c, guint number, const GPtrArray *words, const char *what)
{
  g_autofree char *name = g_strdup_printf ("%u-%u", c->seed, number), *path = g_build_filename (c->found, name, NULL);
  g_autofree char *line = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < words->len; i++) {
    g_autofree char *quoted = g_shell_quote (words->pdata[i]);
    g_string_append_printf (text, " %s", quoted);
  }
  line = g_strescape (text->str, NULL);
  printf ("FAILED: case %u: %s: forerun%s\n", number, what, line);
  fflush (stdout);
  g_mkdir_with_parents (c->found, 0777);
  if (c->input != NULL)
    g_file_set_contents (path, c->input->str, (gssize)c->input->len, NULL);
  c->n_failed++;
}

static void
try (Campaign *c, guint number, const GPtrArray *words, const GPtrArray *files, const char *may_change)
{
  const gboolean help = has_word (words, "--help") || has_word (words, "-h");
  const gboolean json = !help && has_word (words, "--format") && has_word (words, "json");
  Answer answer = call (c, words);
  g_autofree char *what = check_end (&answer);
  if (what == NULL)
    what = check_text (c, words, &answer, json);
  if (what == NULL && WEXITSTATUS (answer.status) != 0 && WEXITSTATUS (answer.status) != 3 && !has_word (words, "validate"))
    what = find_change (c, files, may_change);
  if (what == NULL)
    what = find_leftover (c->folder);
  if (what != NULL)
    keep (c, number, words, what);
  if (WIFEXITED (answer.status) && WEXITSTATUS (answer.status) < 4)
    c->n_status[WEXITSTATUS (answer.status)]++;
  g_free (answer.out);
  g_free (answer.err);
}

/* ---- the two campaigns ---- */

static GPtrArray *
split (const char *line, const char *file)
{
  g_auto (GStrv) parts = g_strsplit (line, " ", -1);
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);
  for (char **part = parts; *part != NULL; part++) {
    g_auto (GStrv) halves = g_strsplit (*part, "@", 2);
    g_ptr_array_add (words, halves[1] == NULL                   ? g_strdup (*part)
                            : g_str_equal (halves[1], "folder") ? g_strdup ("folder")
                                                                : g_strconcat (halves[0], file, NULL));
  }
  return words;
}

/* As gzip: readers of JSON take such files too. */
static void
compress (GString *text)
{
  g_autoptr (GZlibCompressor) gzip = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 6);
  g_autoptr (GOutputStream) packed = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) stream = g_converter_output_stream_new (packed, G_CONVERTER (gzip));
  if (!g_output_stream_write_all (stream, text->str, text->len, NULL, NULL, NULL) || !g_output_stream_close (stream, NULL, NULL))
    g_error ("gzip fails");
  GMemoryOutputStream *memory = G_MEMORY_OUTPUT_STREAM (packed);
  g_string_truncate (text, 0);
  g_string_append_len (text, g_memory_output_stream_get_data (memory), (gssize)g_memory_output_stream_get_data_size (memory));
}

static void
try_file (Campaign *c, guint number, GRand *random)
{
  const guint k = number % G_N_ELEMENTS (kinds);
  const Kind *kind = &kinds[k];
  const guint n_seeds = c->seeds[k]->len;
  const File *seed = c->seeds[k]->pdata[g_rand_int_range (random, 0, (gint32)n_seeds)];
  const File *other = c->seeds[k]->pdata[g_rand_int_range (random, 0, (gint32)n_seeds)];
  gint32 n_lines = 0;
  while (n_lines < (gint32)G_N_ELEMENTS (kind->lines) && kind->lines[n_lines] != NULL)
    n_lines++;
  g_autofree char *name = g_strconcat (kind->suffix[0] != '\0' ? "f" : "folder/systems.yaml", kind->suffix, NULL);
  g_autoptr (GPtrArray) words = split (kind->lines[g_rand_int_range (random, 0, n_lines)], name);
  File *file = g_new (File, 1);
  *file = (File){ g_strdup (name), g_string_new_len (seed->bytes->str, (gssize)seed->bytes->len) };
  mutate_bytes (file->bytes, other->bytes, random);
  if (strcmp (kind->suffix, ".json") == 0 && g_rand_int_range (random, 0, 4) == 0)
    compress (file->bytes);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (file_free);
  g_ptr_array_add (files, file);
  for (guint i = 0; i < c->beside->len; i++) {
    const File *from = c->beside->pdata[i];
    File *copy = g_new (File, 1);
    *copy = (File){ g_strdup (from->name), g_string_new_len (from->bytes->str, (gssize)from->bytes->len) };
    g_ptr_array_add (files, copy);
  }
  static const char *const formats[] = { "text", "json", "tsv" };
  g_ptr_array_add (words, g_strdup ("--format"));
  g_ptr_array_add (words, g_strdup (formats[g_rand_int_range (random, 0, 3)]));
  if (g_rand_boolean (random)) { /* over an answer that is there */
    g_ptr_array_add (words, g_strdup ("-o"));
    g_ptr_array_add (words, g_strdup ("old"));
  }
  lay_out (c, files);
  c->input = file->bytes;
  try (c, number, words, files, strcmp (kind->name, "state") == 0 ? name : NULL);
  c->input = NULL;
}

static void
try_line (Campaign *c, guint number, GRand *random)
{
  g_autoptr (GPtrArray) words = split (lines[number % G_N_ELEMENTS (lines)], "");
  mutate_words (words, c->flags, random);
  lay_out (c, c->beside);
  const char *resumed = NULL; /* progress is saved as it is made */
  for (guint i = 0; i < words->len; i++)
    if (strcmp (words->pdata[i], "--resume") == 0 && i + 1 < words->len)
      resumed = words->pdata[i + 1];
  try (c, number, words, c->beside, resumed);
}

/* ---- the start ---- */

static int
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static void
read_seeds (Campaign *c, guint k)
{
  c->seeds[k] = g_ptr_array_new_with_free_func (file_free);
  for (const char *const *from = kinds[k].seeds; from < kinds[k].seeds + G_N_ELEMENTS (kinds[k].seeds) && *from != NULL; from++) {
    g_autofree char *made = g_strconcat (*from + 1, ".json", NULL);
    if ((*from)[0] == '=') {
      for (guint i = 0; i < c->beside->len; i++) {
        const File *file = c->beside->pdata[i];
        g_autofree char *path = g_build_filename (c->folder, made, NULL);
        if (strcmp (file->name, made) == 0)
          add_file (c->seeds[k], made, path);
      }
      continue;
    }
    g_autofree char *path = g_build_filename (c->source, *from, NULL);
    if (!g_file_test (path, G_FILE_TEST_IS_DIR)) {
      add_file (c->seeds[k], *from, path);
      continue;
    }
    g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
    g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free); /* in order: a folder's own is the file system's */
    for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
      g_ptr_array_add (names, g_strdup (name));
    g_ptr_array_sort (names, by_name);
    for (guint i = 0; i < names->len; i++) {
      g_autofree char *file = g_build_filename (path, names->pdata[i], NULL);
      if (g_file_test (file, G_FILE_TEST_IS_REGULAR) && !g_str_has_suffix (file, ".expect") && !g_str_has_suffix (file, ".md"))
        add_file (c->seeds[k], names->pdata[i], file);
    }
  }
  if (c->seeds[k]->len == 0)
    g_error ("no seeds of kind %s", kinds[k].name);
}

/* What lies beside the file of each case, and is what command lines name. State and part are made by the program itself. */
static void
lay_beside (Campaign *c)
{
  static const char *const beside[][2] = {
    { "s.yaml", "tests/fuzz/corpus/scenario/named_collective.yaml" },
    { "t.yaml", "tests/fuzz/corpus/topology/switch.yaml" },
    { "plan.yaml", "tests/golden/plan/small/plan.yaml" },
    { "small.yaml", "tests/golden/plan/small/plan.yaml" },
    { "prices.yaml", "tests/golden/plan/small/prices.yaml" },
    { "offers.yaml", "scenarios/offers/train_175b.yaml" },
    { "x.xml", "tests/fuzz/corpus/nccl_topo/tree.xml" },
    { "log.txt", "tests/fuzz/corpus/nccl_log/log" },
    { "n.txt", "tests/fuzz/corpus/nccl_tests/runs.txt" },
    { "probe.json", "tests/fuzz/corpus/probe/points.json" },
    { "folder/ops.csv", "tests/fuzz/corpus/measured/ops.csv" },
    { "folder/collectives.csv", "tests/fuzz/corpus/measured/collectives.csv" },
  };
  static const char *const made[][2] = { { "state.json", "plan small.yaml --threads 1 --best 1 --resume state.json" },
                                         { "shard.json", "plan small.yaml --threads 1 --shard 1/1 -o shard.json" } };
  c->beside = g_ptr_array_new_with_free_func (file_free);
  for (gsize i = 0; i < G_N_ELEMENTS (beside); i++) {
    g_autofree char *path = g_build_filename (c->source, beside[i][1], NULL);
    add_file (c->beside, beside[i][0], path);
  }
  lay_out (c, c->beside);
  for (gsize i = 0; i < G_N_ELEMENTS (made); i++) {
    g_autoptr (GPtrArray) words = split (made[i][1], "");
    Answer answer = call (c, words);
    g_autofree char *path = g_build_filename (c->folder, made[i][0], NULL);
    if (answer.status != 0)
      g_error ("forerun %s: %s", made[i][1], answer.err);
    add_file (c->beside, made[i][0], path);
    g_free (answer.out);
    g_free (answer.err);
  }
}

/* All flags of all verbs, as --completion names them. */
static void
find_flags (Campaign *c)
{
  g_autoptr (GPtrArray) words = split ("--completion bash", "");
  Answer answer = call (c, words);
  c->flags = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) parts = g_strsplit_set (answer.out, " '\n)", -1);
  for (char **part = parts; *part != NULL; part++)
    if (g_str_has_prefix (*part, "--") && (*part)[2] != '\0')
      g_ptr_array_add (c->flags, g_strdup (*part));
  if (c->flags->len < 100)
    g_error ("only %u flags in --completion bash", c->flags->len);
  g_free (answer.out);
  g_free (answer.err);
}

/* A copy of the shipped data, so that a command line cannot write over those of the source tree. */
static void
copy_data (Campaign *c)
{
  g_autofree char *defaults = g_build_filename (c->data, "calibrate", NULL);
  const char *const from[] = { "topologies", "scenarios", "calibrate/defaults" };
  g_mkdir_with_parents (defaults, 0777);
  for (gsize i = 0; i < G_N_ELEMENTS (from); i++) {
    g_autofree char *source = g_build_filename (c->source, from[i], NULL), *to = g_build_filename (c->data, from[i], NULL);
    g_autofree char *parent = g_path_get_dirname (to);
    const char *argv[] = { "cp", "-r", "--", source, parent, NULL };
    int status = -1;
    if (!g_spawn_sync (NULL, (char **)(guintptr)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, NULL) ||
        status != 0)
      g_error ("%s cannot be copied", source);
  }
  g_setenv ("FORERUN_DATA", c->data, TRUE);
  g_setenv ("HOME", c->work, TRUE);
  g_setenv ("G_DEBUG", "fatal-criticals", TRUE);
  g_setenv ("LC_ALL", "C.UTF-8", TRUE);
  g_unsetenv ("COLUMNS");
}

/* Returned: full. */
static char *
ask_version (const Campaign *c)
{
  g_autoptr (GPtrArray) words = split ("--version --json", "");
  Answer answer = call (c, words);
  g_free (answer.err);
  return answer.out;
}

static GRand *
random_of (guint seed, guint number)
{
  return g_rand_new_with_seed_array ((const guint32[]){ seed, number }, 2);
}

int
main (int argc, char **argv)
{
  if (argc < 6) {
    fprintf (stderr, "usage: mutate FORERUN SOURCE_DIR FILES LINES SEED [ONLY]\n");
    return 2;
  }
  const guint n_files = (guint)g_ascii_strtoull (argv[3], NULL, 10), n_lines = (guint)g_ascii_strtoull (argv[4], NULL, 10);
  const gint64 only = argc > 6 ? g_ascii_strtoll (argv[6], NULL, 10) : -1;
  g_autofree char *forerun = realpath (argv[1], NULL), *source = realpath (argv[2], NULL);
  static Campaign c; /* kept to the end of the program: nothing of it is freed */
  c = (Campaign){ .forerun = forerun, .source = source, .seed = (guint)g_ascii_strtoull (argv[5], NULL, 10) };
  c.work = g_dir_make_tmp ("mutate-XXXXXX", NULL);
  if (forerun == NULL || source == NULL || c.work == NULL)
    g_error ("%s, %s or the temporary folder cannot be opened", argv[1], argv[2]);
  c.folder = g_build_filename (c.work, "case", NULL);
  c.data = g_build_filename (c.work, "data", NULL);
  g_autofree char *here = g_get_current_dir ();
  c.found = g_build_filename (here, "mutate-found", NULL);
  g_mkdir_with_parents (c.folder, 0777);
  sigset_t child;
  sigemptyset (&child);
  sigaddset (&child, SIGCHLD);
  sigprocmask (SIG_BLOCK, &child, NULL);
  copy_data (&c);
  lay_beside (&c);
  find_flags (&c);
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    read_seeds (&c, k);
  g_autofree char *before = ask_version (&c);
  for (guint i = 0; i < n_files + n_lines; i++) {
    if (only >= 0 && i != only)
      continue;
    GRand *random = random_of (c.seed, i);
    if (i < n_files)
      try_file (&c, i, random);
    else
      try_line (&c, i, random);
    g_rand_free (random);
  }
  g_autofree char *after = ask_version (&c);
  if (strcmp (before, after) != 0) {
    printf ("FAILED: the shipped data were changed\n");
    c.n_failed++;
  }
  printf ("%u files and %u command lines, seed %u: %u done, %u failed while running, %u refused, %u not met; %u broke a promise\n",
          n_files, n_lines, c.seed, c.n_status[0], c.n_status[1], c.n_status[2], c.n_status[3], c.n_failed);
  remove_files (c.work);
  g_rmdir (c.work);
  return c.n_failed > 0;
}

/* Files of measurements: CSV with a header line, and what nccl-tests prints.
 *
 * CSV columns, in any order, others are passed over: size_B or bytes (B), time_us or median_us (us), op; and, where they
 * differ from what systems.yaml says: nodes, gpus_per_node or gpus, algo, proto, launch, dtype, iters, nccl, max_channels,
 * min_ctas, in_place, setting, source, gpu, system. No quotes.
 * nccl-tests: rows "size count type redop root time …", the time out of place in us (NVIDIA/nccl-tests src/util.cu). */
#include <string.h>

#include "import/measured-private.h"
#include "measured/measured-private.h"

/* Sizes as `coll` takes them, to the byte; times of a day and more are no operation's. */
#define MAX_SIZE_B   0x1p50
#define MAX_TIME_US  1e11
#define MAX_ITERS    1000000
#define MAX_CHANNELS 1024
#define MAX_CTAS     64 /* of NCCL */

/* Where a row stands, and what it belongs to. */
typedef struct {
  BaseMark at;
  const CalMeasuredFile *file;
  CalData *data;
} Reader;

static gboolean
read_positive (const Reader *reader, const char *what, const char *text, double max, double *out, GError **error)
{
  char *end = NULL;
  *out = g_ascii_strtod (text, &end);
  if (end == text || *end != '\0' || !(*out > 0) || !(*out <= max))
    return base_fail_at (error, reader->at, "%s '%s': a number above 0, at most %g, is accepted", what, text, max);
  return TRUE;
}

static gboolean
read_count (const Reader *reader, const char *what, const char *text, guint64 max, guint32 *out, GError **error)
{
  guint64 value;
  if (!g_ascii_string_to_unsigned (text, 10, 1, max, &value, NULL))
    return base_fail_at (error, reader->at, "%s '%s': 1 to %" G_GUINT64_FORMAT " is accepted", what, text, max);
  *out = (guint32)value;
  return TRUE;
}

/* `text` NULL or empty leaves *out as it is. */
static gboolean
read_name (const Reader *reader, const char *what, const char *text, const BaseName *names, int *out, GError **error)
{
  if (text == NULL || *text == '\0')
    return TRUE;
  const BaseName *known = base_name_find (names, text);
  if (known != NULL) {
    *out = known->code;
    return TRUE;
  }
  g_autofree char *accepted = base_names_accepted (text, names, NULL);
  return base_fail_at (error, reader->at, "%s '%s' is not known%s", what, text, accepted);
}

static const CalPart *
find_section (const CalMeasuredFile *file, const char *title)
{
  for (guint i = 0; i < file->sections.n; i++) {
    const CalPart *section = BASE_LIST_AT (file->sections, CalPart, i);
    if (strcmp (section->title.v, title) == 0)
      return section;
  }
  return NULL;
}

static void
take_section (const CalPart *section, CalMeasured *point)
{
  if (section == NULL)
    return;
  point->nodes = (guint32)section->nodes.v;
  point->gpus = section->gpus.set ? (guint32)section->gpus.v : 0;
  point->max_channels = section->max_channels.set ? (guint32)section->max_channels.v : 0;
}

/* What a part was asked for (NCCL_ALGO, NCCL_PROTO) holds for collectives: sends and receives go by LL or Simple as their size has
 * it, whatever is asked (tests/data/h200x8/ops.csv: `ll`, `simple` and `default` take the same time there). */
static void
take_choice (const CalPart *section, MdlOp op, int *algo, int *proto)
{
  if (section == NULL || op == MDL_OP_ALLTOALL || op == MDL_OP_SENDRECV)
    return;
  if (section->algo.set)
    *algo = section->algo.v;
  if (section->proto.set)
    *proto = section->proto.v;
}

static gboolean
agrees (const char *word, const char *own)
{
  return word == NULL || own == NULL || strcmp (word, own) == 0;
}

/* What a row says of the system that it was measured on; NULL: nothing. */
typedef struct {
  const char *name, *source, *gpu, *launch;
} Words;

/* The first of the part's or the file's systems that the row's own words do not contradict. */
static gboolean
find_system (const Reader *reader, const CalPart *section, const Words *words, guint *out, GError **error)
{
  const BaseStrs *names = section != NULL && section->systems.n > 0 ? &section->systems : &reader->file->systems;
  int launch_code = -1;
  if (!read_name (reader, "launch", words->launch, mdl_launch_names, &launch_code, error))
    return FALSE;
  for (guint i = 0; i < reader->data->spec.systems.n; i++) {
    const CalSystem *system = BASE_LIST_AT (reader->data->spec.systems, CalSystem, i);
    gboolean named = names->n == 0 || cal_names_hold (names, system->name.v);
    if (named && agrees (words->name, system->name.v) && agrees (words->source, system->source.v) &&
        agrees (words->gpu, system->gpu.v) && (launch_code < 0 || launch_code == system->launch.v)) {
      *out = i;
      return TRUE;
    }
  }
  g_autoptr (GString) said = g_string_new (NULL);
  const char *const told[][2] = {
    { "system", words->name }, { "source", words->source }, { "gpu", words->gpu }, { "launch", words->launch }
  };
  for (guint i = 0; i < G_N_ELEMENTS (told); i++)
    if (told[i][1] != NULL)
      g_string_append_printf (said, " %s %s", told[i][0], told[i][1]);
  return base_fail_at (error, reader->at, "no system of systems.yaml fits%s", said->str);
}

static gboolean
add_point (const Reader *reader, const CalMeasured *point, GError **error)
{
  if (point->gpus == 0)
    return base_fail_at (error, reader->at, "how many GPUs? a column gpus, or `gpus` of the section in systems.yaml, says");
  const CalSystem *system = cal_data_system (reader->data, point->system);
  if (system->role.set && system->role.v == CAL_ROLE_NONE) {
    reader->data->n_skipped++;
    return TRUE;
  }
  if (point->op == MDL_OP_N)
    return base_fail_at (error, reader->at, "which operation? a column op, or `op` of the file in systems.yaml, says");
  CalMeasured placed = *point;
  placed.at = reader->at;
  g_array_append_val (reader->data->points, placed);
  return TRUE;
}

static CalMeasured
point_of_file (const CalMeasuredFile *file)
{
  return (CalMeasured){ .op = file->op.set ? (MdlOp)file->op.v : MDL_OP_N,
                        .algo = MDL_ALGO_AUTO,
                        .proto = MDL_PROTO_AUTO,
                        .dtype = MDL_DTYPE_FP32,
                        .nodes = 1 };
}

/* ---- CSV ---- */

/* Where a row says how many ranks there were, its nodes and GPUs must come to as many. */
static gboolean
check_ranks (const Reader *reader, const char *text, const CalMeasured *point, GError **error)
{
  guint32 ranks = 0;
  if (text == NULL || *text == '\0')
    return TRUE;
  if (!read_count (reader, "ranks", text, G_MAXUINT32, &ranks, error))
    return FALSE;
  return (guint64)point->nodes * point->gpus == ranks ||
         base_fail_at (error, reader->at,
                       "ranks '%s', but %u node%s with %u GPUs each are %" G_GUINT64_FORMAT "; correct one of them", text,
                       point->nodes, point->nodes == 1 ? "" : "s", point->gpus, (guint64)point->nodes * point->gpus);
}

/* `text` NULL or empty leaves *out as it is. */
static gboolean
read_flag (const Reader *reader, const char *what, const char *text, gboolean *out, GError **error)
{
  if (text == NULL || *text == '\0')
    return TRUE;
  if (strcmp (text, "0") != 0 && strcmp (text, "1") != 0)
    return base_fail_at (error, reader->at, "%s '%s': 0 or 1 is accepted", what, text);
  *out = *text == '1';
  return TRUE;
}

enum {
  SIZE,
  TIME,
  OP,
  NODES,
  GPUS,
  RANKS,
  ALGO,
  PROTO,
  LAUNCH,
  DTYPE,
  ITERS,
  CHANNELS,
  MIN_CTAS,
  IN_PLACE,
  SETTING,
  SOURCE,
  GPU,
  NCCL,
  SYSTEM,
  N_COLUMNS
};
static const char *const column_names[N_COLUMNS][2] = {
  [SIZE] = { "size_B", "bytes" },    [TIME] = { "time_us", "median_us" },  [OP] = { "op", NULL },
  [NODES] = { "nodes", NULL },       [GPUS] = { "gpus_per_node", "gpus" }, [RANKS] = { "ranks", NULL },
  [ALGO] = { "algo", NULL },         [PROTO] = { "proto", NULL },          [LAUNCH] = { "launch", NULL },
  [DTYPE] = { "dtype", NULL },       [ITERS] = { "iters", NULL },          [CHANNELS] = { "max_channels", NULL },
  [MIN_CTAS] = { "min_ctas", NULL }, [IN_PLACE] = { "in_place", NULL },    [NCCL] = { "nccl", NULL },
  [SETTING] = { "setting", NULL },   [SOURCE] = { "source", NULL },        [GPU] = { "gpu", NULL },
  [SYSTEM] = { "system", NULL },
};

static gboolean
read_header (const Reader *reader, char *const *cells, int *at, GError **error)
{
  for (int c = 0; c < N_COLUMNS; c++) {
    at[c] = -1;
    for (int i = 0; cells[i] != NULL; i++)
      if (strcmp (cells[i], column_names[c][0]) == 0 || g_strcmp0 (cells[i], column_names[c][1]) == 0)
        at[c] = i;
  }
  for (int c = SIZE; c <= TIME; c++)
    if (at[c] < 0)
      return base_fail_at (error, reader->at, "no column '%s' or '%s' in the header", column_names[c][0], column_names[c][1]);
  return TRUE;
}

/* The cell of column `c`; NULL where there is none. */
static const char *
cell_of (char *const *cells, const int *at, int c)
{
  return at[c] >= 0 ? cells[at[c]] : NULL;
}

static gboolean
read_csv_row (const Reader *reader, char *const *cells, const int *at, GError **error)
{
  CalMeasured point = point_of_file (reader->file);
  const char *setting = cell_of (cells, at, SETTING), *nodes = cell_of (cells, at, NODES), *gpus = cell_of (cells, at, GPUS);
  const char *iters = cell_of (cells, at, ITERS), *channels = cell_of (cells, at, CHANNELS);
  const char *ctas = cell_of (cells, at, MIN_CTAS);
  if (channels != NULL && *channels == '\0')
    channels = NULL; /* no bound */
  if (ctas != NULL && *ctas == '\0')
    ctas = NULL;
  const Words words = { cell_of (cells, at, SYSTEM), cell_of (cells, at, SOURCE), cell_of (cells, at, GPU),
                        cell_of (cells, at, LAUNCH) };
  const CalPart *section = setting != NULL && reader->file->sections.n > 0 ? find_section (reader->file, setting) : NULL;
  if (setting != NULL && reader->file->sections.n > 0 && section == NULL) {
    reader->data->n_skipped++;
    return TRUE;
  }
  take_section (section, &point);
  int op = (int)point.op, algo = MDL_ALGO_AUTO, proto = MDL_PROTO_AUTO, dtype = (int)point.dtype;
  if (!read_name (reader, "op", cell_of (cells, at, OP), mdl_op_names, &op, error))
    return FALSE;
  take_choice (section, (MdlOp)op, &algo, &proto);
  if (!read_positive (reader, column_names[SIZE][0], cell_of (cells, at, SIZE), MAX_SIZE_B, &point.size_B, error) ||
      !read_positive (reader, column_names[TIME][0], cell_of (cells, at, TIME), MAX_TIME_US, &point.time_s, error) ||
      (nodes != NULL && !read_count (reader, "nodes", nodes, 1000000, &point.nodes, error)) ||
      (gpus != NULL && !read_count (reader, "gpus", gpus, 1024, &point.gpus, error)) ||
      (point.gpus > 0 && !check_ranks (reader, cell_of (cells, at, RANKS), &point, error)) ||
      (iters != NULL && !read_count (reader, "iters", iters, MAX_ITERS, &point.iters, error)) ||
      (channels != NULL && !read_count (reader, "max_channels", channels, MAX_CHANNELS, &point.max_channels, error)) ||
      (ctas != NULL && !read_count (reader, "min_ctas", ctas, MAX_CTAS, &point.min_ctas, error)) ||
      !read_flag (reader, "in_place", cell_of (cells, at, IN_PLACE), &point.in_place, error) ||
      !read_name (reader, "algo", cell_of (cells, at, ALGO), mdl_algo_names, &algo, error) ||
      !read_name (reader, "proto", cell_of (cells, at, PROTO), mdl_proto_names, &proto, error) ||
      !read_name (reader, "dtype", cell_of (cells, at, DTYPE), mdl_dtype_names, &dtype, error) ||
      !find_system (reader, section, &words, &point.system, error))
    return FALSE;
  point.nccl = cal_data_text (reader->data, cell_of (cells, at, NCCL));
  point.op = (MdlOp)op;
  point.algo = (MdlAlgo)algo;
  point.proto = (MdlProto)proto;
  point.dtype = (MdlDtype)dtype;
  point.time_s *= 1e-6;
  return add_point (reader, &point, error);
}

static gboolean
read_csv (Reader *reader, char *const *lines, GError **error)
{
  int at[N_COLUMNS];
  guint n_cells = 0;
  for (char *const *line = lines; *line != NULL; line++, reader->at.line++) {
    if (**line == '\0' || **line == '#')
      continue;
    g_auto (GStrv) cells = g_strsplit (*line, ",", -1);
    if (n_cells == 0) {
      n_cells = g_strv_length (cells);
      if (!read_header (reader, cells, at, error))
        return FALSE;
    } else if (g_strv_length (cells) != n_cells)
      return base_fail_at (error, reader->at, "%u cells where the header has %u", g_strv_length (cells), n_cells);
    else if (!read_csv_row (reader, cells, at, error))
      return FALSE;
  }
  return n_cells > 0 || base_fail_at (error, reader->at, "no header line");
}

/* ---- nccl-tests ---- */

enum { ROW_SIZE, ROW_COUNT, ROW_TYPE, ROW_REDOP, ROW_ROOT, ROW_TIME, ROW_LEAST };

static gboolean
read_table_row (const Reader *reader, const char *line, const CalPart *section, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (line, " \t", -1);
  char *cells[ROW_LEAST];
  guint n = 0;
  for (char **word = words; *word != NULL && n < ROW_LEAST; word++)
    if (**word != '\0')
      cells[n++] = *word;
  if (n < ROW_LEAST)
    return base_fail_at (error, reader->at, "%u words; a row of nccl-tests' table has size, count, type, redop, root, time …", n);
  CalMeasured point = point_of_file (reader->file);
  int dtype = MDL_DTYPE_FP32;
  if (strcmp (cells[ROW_SIZE], "0") == 0)
    return TRUE; /* nothing was sent */
  take_section (section, &point);
  int algo = MDL_ALGO_AUTO, proto = MDL_PROTO_AUTO;
  take_choice (section, point.op, &algo, &proto);
  point.algo = (MdlAlgo)algo;
  point.proto = (MdlProto)proto;
  if (!read_positive (reader, "size", cells[ROW_SIZE], MAX_SIZE_B, &point.size_B, error) ||
      !read_name (reader, "type", cells[ROW_TYPE], cal_nccl_tests_dtypes, &dtype, error) ||
      !read_positive (reader, "time", cells[ROW_TIME], MAX_TIME_US, &point.time_s, error) ||
      !find_system (reader, section, &(Words){ 0 }, &point.system, error))
    return FALSE;
  point.dtype = (MdlDtype)dtype;
  point.time_s *= 1e-6;
  return add_point (reader, &point, error);
}

static gboolean
read_table (Reader *reader, char *const *lines, GError **error)
{
  g_autoptr (GPtrArray) seen = g_ptr_array_new ();
  gboolean titled = FALSE;
  for (char *const *line = lines; *line != NULL; line++)
    titled = titled || g_str_has_prefix (*line, "## ");
  /* without titles all of the file is the one part that is described */
  const CalPart *section = !titled && reader->file->sections.n == 1 ? BASE_LIST_AT (reader->file->sections, CalPart, 0) : NULL;
  if (section != NULL)
    g_ptr_array_add (seen, (gpointer)section);
  for (char *const *line = lines; *line != NULL; line++, reader->at.line++) {
    if (g_str_has_prefix (*line, "## ")) {
      section = find_section (reader->file, *line + strlen ("## "));
      if (section != NULL)
        g_ptr_array_add (seen, (gpointer)section);
    } else if (**line == '#' || (*line)[strspn (*line, " \t")] == '\0')
      continue;
    else if (section == NULL)
      reader->data->n_skipped++;
    else if (!read_table_row (reader, *line, section, error))
      return FALSE;
  }
  for (guint i = 0; i < reader->file->sections.n; i++) {
    const CalPart *wanted = BASE_LIST_AT (reader->file->sections, CalPart, i);
    if (!g_ptr_array_find (seen, wanted, NULL))
      return base_fail_at (error, wanted->title.mark, "no part '%s' in %s", wanted->title.v, reader->at.file);
  }
  return TRUE;
}

gboolean
cal_data_add_text (const char *path, const char *text, gsize n_B, gboolean table, const CalMeasuredFile *file, CalData *data,
                   GError **error)
{
  if (!cal_csv_check (&(CalText){ .path = path, .bytes = text, .n_B = n_B }, error))
    return FALSE;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    g_strchomp (*line); /* a line may end as on Windows */
  Reader reader = { { base_arena_strdup (data->arena, path), 1, 0 }, file, data };
  if (strlen (text) < n_B)
    return base_fail_at (error, (BaseMark){ path, g_strv_length (lines), 0 }, "a NUL byte; a text file is accepted");
  return table ? read_table (&reader, lines, error) : read_csv (&reader, lines, error);
}

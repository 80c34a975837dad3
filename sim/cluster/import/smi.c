/* The matrix of `nvidia-smi topo -m`: a header of device names, a row for each with its relation to every other, affinities,
 * legends.
 *   X itself, NV# # NVLinks, PIX at most one PCIe bridge, PXB several, PHB a host bridge, NODE several in one NUMA node, SYS
 * between NUMA nodes (SOC in old drivers). The text may hold ANSI underline codes. Source: the legend that nvidia-smi prints.
 * NVLinks hide what PCIe joins two GPUs: PCIe switches and NUMA nodes are then derived from the NICs' columns and the NUMA
 * affinity. */
#include <string.h>

#include "import/import-private.h"

#define MAX_B (4u << 20) /* the matrix of 1024 devices, wide columns */

typedef enum { CELL_SELF, CELL_NVLINK, CELL_PIX, CELL_PXB, CELL_PHB, CELL_NODE, CELL_SYS } CellKind;

typedef struct {
  guint16 kind, lanes;
} Cell;

typedef struct {
  const char *text; /* in the arena */
  BaseMark mark;
} Token;

typedef struct {
  const char *name; /* as in the header */
  const char *legend;
  BaseMark mark;
  gboolean is_gpu, has_row;
  guint32 number; /* of a GPU */
  gint32 numa;    /* -1 unknown */
} Device;

typedef struct {
  CluImportMachine *machine;
  GArray *devices; /* Device, in the order of the header */
  Cell *cells;     /* devices x devices, by row, in the arena */
  const char *next, *end;
  guint32 line;
  GArray *tokens; /* Token of the current line */
} Matrix;

static Device *
device_at (const Matrix *matrix, guint32 i)
{
  return &g_array_index (matrix->devices, Device, i);
}

static Cell *
cell_at (const Matrix *matrix, guint32 row, guint32 column)
{
  return &matrix->cells[(gsize)row * matrix->devices->len + column];
}

static const Token *
token_at (const Matrix *matrix, guint32 i)
{
  return i < matrix->tokens->len ? &g_array_index (matrix->tokens, Token, i) : NULL;
}

static gboolean
token_is (const Matrix *matrix, guint32 i, const char *text)
{
  const Token *token = token_at (matrix, i);
  return token != NULL && strcmp (token->text, text) == 0;
}

/* Lines and words. */

/* Past an escape sequence (ECMA-48: ESC [ … final byte 0x40 to 0x7e), or `p` when none begins here. */
static const char *
skip_escape (const char *p, const char *end)
{
  if (*p != '\033')
    return p;
  p++;
  if (p < end && *p == '[')
    for (p++; p < end && (*p < 0x40 || *p > 0x7e) && *p != '\n'; p++)
      ;
  return p < end && *p != '\n' ? p + 1 : p;
}

/* Splits the next line; FALSE at the end of the text. */
static gboolean
next_line (Matrix *matrix)
{
  if (matrix->next == matrix->end)
    return FALSE;
  matrix->line++;
  g_array_set_size (matrix->tokens, 0);
  unsigned column = 1;
  g_autoptr (GString) word = g_string_new (NULL);
  unsigned begins = 0;
  const char *p = matrix->next;
  for (gboolean more = TRUE; more;) {
    more = p < matrix->end && *p != '\n';
    const char *past = more ? skip_escape (p, matrix->end) : p;
    if (past != p) {
      column += (unsigned)(past - p);
      p = past;
      continue;
    }
    gboolean blank = !more || *p == ' ' || *p == '\t' || *p == '\r';
    if (blank && word->len > 0) {
      Token token = { base_arena_strdup (matrix->machine->arena, word->str),
                      { matrix->machine->input->path, matrix->line, begins } };
      g_array_append_val (matrix->tokens, token);
      g_string_truncate (word, 0);
    } else if (!blank) {
      begins = word->len == 0 ? column : begins;
      g_string_append_c (word, *p);
    }
    if (!more)
      break;
    column += ((guchar)*p & 0xC0u) != 0x80u ? 1 : 0; /* characters, not bytes */
    p++;
  }
  matrix->next = p < matrix->end ? p + 1 : p;
  return TRUE;
}

/* "GPU12" and prefix "GPU": 12. */
static gboolean
numbered (const char *text, const char *prefix, guint32 *number)
{
  guint64 value = 0;
  if (!g_str_has_prefix (text, prefix) || !g_ascii_string_to_unsigned (text + strlen (prefix), 10, 0, 65535, &value, NULL))
    return FALSE;
  *number = (guint32)value;
  return TRUE;
}

/* Header. */

/* FALSE: the text is no relation of two devices. */
static gboolean
parse_cell (const char *text, Cell *cell)
{
  static const struct {
    const char *text;
    CellKind kind;
  } rows[] = { { "X", CELL_SELF },    { "PIX", CELL_PIX }, { "PXB", CELL_PXB }, { "PHB", CELL_PHB },
               { "NODE", CELL_NODE }, { "SYS", CELL_SYS }, { "SOC", CELL_SYS } };
  guint32 lanes = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (text, rows[i].text) == 0) {
      *cell = (Cell){ .kind = (guint16)rows[i].kind };
      return TRUE;
    }
  gboolean nvlink = numbered (text, "NV", &lanes) && lanes > 0 && lanes <= 1024;
  *cell = (Cell){ .kind = CELL_NVLINK, .lanes = (guint16)lanes };
  return nvlink;
}

static gboolean
add_device (Matrix *matrix, const Token *token, GError **error)
{
  Device device = { .name = token->text, .mark = token->mark, .numa = -1 };
  device.is_gpu = numbered (token->text, "GPU", &device.number);
  for (guint32 i = 0; i < matrix->devices->len; i++)
    if (strcmp (device_at (matrix, i)->name, device.name) == 0)
      return base_fail_at (error, token->mark, "%.40s stands twice in the header; each device has one column", token->text);
  if (matrix->devices->len == CLU_IMPORT_MAX_GPUS)
    return base_fail_at (error, token->mark, "more than %u devices; at most %u are accepted", CLU_IMPORT_MAX_GPUS,
                         CLU_IMPORT_MAX_GPUS);
  g_array_append_val (matrix->devices, device);
  return TRUE;
}

/* The header is the first line that begins with GPU0 and goes on with no relation: what a terminal shows before it does not
 * matter. */
static gboolean
read_header (Matrix *matrix, GError **error)
{
  guint32 number = 0;
  while (next_line (matrix)) {
    const Token *first = token_at (matrix, 0), *second = token_at (matrix, 1);
    Cell cell;
    if (first == NULL || !numbered (first->text, "GPU", &number))
      continue;
    if (second != NULL && parse_cell (second->text, &cell))
      return base_fail_at (error, first->mark, "a row before the header; the line with the device names (GPU0 GPU1 …) comes first");
    for (guint32 i = 0; i < matrix->tokens->len && !token_is (matrix, i, "CPU") && !token_is (matrix, i, "NUMA"); i++)
      if (!add_device (matrix, token_at (matrix, i), error))
        return FALSE;
    matrix->cells = base_arena_alloc_n (matrix->machine->arena, (gsize)matrix->devices->len * matrix->devices->len, sizeof (Cell));
    return TRUE;
  }
  return base_fail_at (error, (BaseMark){ matrix->machine->input->path, MAX (matrix->line, 1), 1 },
                       "no header line (GPU0 GPU1 …); the output of `nvidia-smi topo -m` is accepted");
}

/* Rows. */

static gboolean
read_cell (const Token *token, gboolean itself, Cell *cell, GError **error)
{
  if (!parse_cell (token->text, cell))
    return base_fail_at (error, token->mark, "'%.40s' is no relation of two devices; X NV# PIX PXB PHB NODE SYS are accepted",
                         token->text);
  if (itself != (cell->kind == CELL_SELF))
    return base_fail_at (error, token->mark, "'%.40s' %s", token->text,
                         itself ? "where a device meets itself; X is accepted"
                                : "between two devices; NV# PIX PXB PHB NODE SYS are accepted");
  return TRUE;
}

static gboolean
read_row (Matrix *matrix, guint32 row, GError **error)
{
  Device *device = device_at (matrix, row);
  guint32 n = matrix->devices->len;
  const Token *label = token_at (matrix, 0);
  if (device->has_row)
    return base_fail_at (error, label->mark, "a second row of %s; each device has one", device->name);
  device->has_row = TRUE;
  device->mark = label->mark;
  for (guint32 i = 0; i < n; i++) {
    const Token *token = token_at (matrix, i + 1);
    if (token == NULL)
      return base_fail_at (error, label->mark, "the row of %s has %u relations; the header has %u devices", device->name, i, n);
    if (!read_cell (token, i == row, cell_at (matrix, row, i), error))
      return FALSE;
  }
  /* CPU affinity, NUMA affinity: "0-47,96-143 0"; either may be missing or N/A, and a list of NUMA nodes tells no one. */
  const Token *numa = token_at (matrix, n + 2);
  guint64 value = 0;
  if (device->is_gpu && numa != NULL && g_ascii_string_to_unsigned (numa->text, 10, 0, 65535, &value, NULL))
    device->numa = (gint32)value;
  return TRUE;
}

/* "NIC0: mlx5_0" */
static void
read_legend (Matrix *matrix)
{
  const Token *first = token_at (matrix, 0), *second = token_at (matrix, 1);
  for (guint32 i = 0; second != NULL && i < matrix->devices->len; i++) {
    Device *device = device_at (matrix, i);
    gsize n = strlen (device->name);
    if (!device->is_gpu && strncmp (first->text, device->name, n) == 0 && strcmp (first->text + n, ":") == 0)
      device->legend = second->text;
  }
}

static gboolean
read_rows (Matrix *matrix, GError **error)
{
  gboolean legend = FALSE;
  while (next_line (matrix)) {
    const Token *first = token_at (matrix, 0);
    legend = legend || token_is (matrix, 0, "Legend:") || token_is (matrix, 1, "Legend:");
    if (first == NULL || legend) {
      if (first != NULL)
        read_legend (matrix);
      continue;
    }
    guint32 row = 0;
    while (row < matrix->devices->len && strcmp (device_at (matrix, row)->name, first->text) != 0)
      row++;
    if (row == matrix->devices->len)
      return base_fail_at (error, first->mark,
                           "'%.40s' is no device of the header; a row of each device, then the legend, is accepted", first->text);
    if (!read_row (matrix, row, error))
      return FALSE;
  }
  for (guint32 i = 0; i < matrix->devices->len; i++) {
    const Device *device = device_at (matrix, i);
    if (device->is_gpu && !device->has_row)
      return base_fail_at (error, device->mark, "no row of %s; the matrix has one for each GPU", device->name);
  }
  return TRUE;
}

/* What the relations say. */

/* The relation of two devices, of which one has a row; the other's row should say the same. */
static Cell
relation (const Matrix *matrix, guint32 i, guint32 j)
{
  return device_at (matrix, i)->has_row ? *cell_at (matrix, i, j) : *cell_at (matrix, j, i);
}

static void
check_symmetry (const Matrix *matrix)
{
  for (guint32 i = 0; i < matrix->devices->len; i++)
    for (guint32 j = i + 1; j < matrix->devices->len; j++) {
      const Device *a = device_at (matrix, i), *b = device_at (matrix, j);
      Cell there = *cell_at (matrix, i, j), back = *cell_at (matrix, j, i);
      if (a->has_row && b->has_row && (there.kind != back.kind || there.lanes != back.lanes))
        clu_import_warn (matrix->machine, b->mark, "the rows of %s and %s disagree about each other; that of %s is taken", a->name,
                         b->name, a->name);
    }
}

/* Joins devices that are related by `nearest` to `farthest`; parent[i] is the lowest of its group. */
static void
join (const Matrix *matrix, CellKind nearest, CellKind farthest, guint32 *parent)
{
  guint32 n = matrix->devices->len;
  for (guint32 i = 0; i < n; i++)
    parent[i] = i;
  for (guint32 i = 0; i < n; i++)
    for (guint32 j = i + 1; j < n; j++) {
      if (!device_at (matrix, i)->has_row && !device_at (matrix, j)->has_row)
        continue;
      Cell cell = relation (matrix, i, j);
      if (cell.kind < nearest || cell.kind > farthest)
        continue;
      guint32 a = i, b = j;
      while (parent[a] != a)
        a = parent[a] = parent[parent[a]];
      while (parent[b] != b)
        b = parent[b] = parent[parent[b]];
      parent[MAX (a, b)] = MIN (a, b);
    }
  for (guint32 i = 0; i < n; i++)
    while (parent[i] != parent[parent[i]])
      parent[i] = parent[parent[i]];
}

/* PCIe switches: groups by PIX and PXB that hold a GPU and anything else. */
static void
find_switches (const Matrix *matrix, guint32 *pcie_switch)
{
  guint32 n = matrix->devices->len;
  g_autofree guint32 *parent = g_new (guint32, n), *size = g_new0 (guint32, n), *number = g_new (guint32, n);
  g_autofree gboolean *has_gpu = g_new0 (gboolean, n);
  join (matrix, CELL_PIX, CELL_PXB, parent);
  for (guint32 i = 0; i < n; i++) {
    size[parent[i]]++;
    has_gpu[parent[i]] = has_gpu[parent[i]] || device_at (matrix, i)->is_gpu;
  }
  for (guint32 i = 0; i < n; i++) {
    pcie_switch[i] = CLU_NONE;
    if (!has_gpu[parent[i]] || size[parent[i]] < 2)
      continue;
    if (parent[i] == i) { /* the lowest comes first */
      number[i] = matrix->machine->switches->len;
      g_array_append_vals (matrix->machine->switches, &(CluImportSwitch){ .mark = device_at (matrix, i)->mark }, 1);
    }
    pcie_switch[i] = number[parent[i]];
  }
}

static guint32
socket_number (CluImportMachine *machine, gint32 numa)
{
  guint32 i = 0;
  while (i < machine->sockets->len && g_array_index (machine->sockets, CluImportSocket, i).numa != numa)
    i++;
  if (i == machine->sockets->len)
    g_array_append_vals (machine->sockets, &(CluImportSocket){ .numa = numa, .vendor = CLU_CPU_OTHER }, 1);
  return i;
}

/* Sockets: by the GPUs' NUMA affinity where all have one, else whatever is nearer than SYS to each other. NICs follow a GPU that
 * is nearer than SYS. */
static void
find_sockets (const Matrix *matrix, guint32 *socket)
{
  guint32 n = matrix->devices->len;
  gboolean told = TRUE, any_sys = FALSE;
  g_autofree guint32 *parent = g_new (guint32, n);
  join (matrix, CELL_PIX, CELL_NODE, parent);
  for (guint32 i = 0; i < n; i++) {
    told = told && (!device_at (matrix, i)->is_gpu || device_at (matrix, i)->numa >= 0);
    for (guint32 j = 0; j < n; j++)
      any_sys = any_sys || (device_at (matrix, i)->has_row && cell_at (matrix, i, j)->kind == CELL_SYS);
  }
  for (guint32 i = 0; i < n; i++)
    if (device_at (matrix, i)->is_gpu)
      socket[i] = socket_number (matrix->machine, told ? device_at (matrix, i)->numa : any_sys ? (gint32)parent[i] : -1);
  for (guint32 i = 0; i < n; i++) {
    if (device_at (matrix, i)->is_gpu)
      continue;
    socket[i] = 0;
    for (guint32 j = n; j-- > 0;)
      if (device_at (matrix, j)->is_gpu && relation (matrix, j, i).kind < CELL_SYS)
        socket[i] = socket[j];
  }
}

/* NVLinks of a pair are its own, unless all pairs have the same number and that is more than a GPU has for all its peers
 * together: then it is the number to a switch. */
static gboolean
is_switched (const Matrix *matrix, guint32 *lanes)
{
  guint32 n_gpus = 0;
  *lanes = 0;
  for (guint32 i = 0; i < matrix->devices->len; i++) {
    if (!device_at (matrix, i)->is_gpu)
      continue;
    n_gpus++;
    for (guint32 j = 0; j < matrix->devices->len; j++) {
      if (i == j || !device_at (matrix, j)->is_gpu)
        continue;
      Cell cell = *cell_at (matrix, i, j);
      if (cell.kind != CELL_NVLINK || (*lanes != 0 && cell.lanes != *lanes))
        return FALSE;
      *lanes = cell.lanes;
    }
  }
  const char *given = matrix->machine->input->gpu_type;
  const BaseLookup *lookup = matrix->machine->input->lookup;
  guint32 has = given != NULL ? clu_import_type_lanes (lookup, given) : clu_import_most_lanes (lookup);
  return n_gpus > 2 && *lanes * (n_gpus - 1) > has;
}

static void
add_gpus (Matrix *matrix, const guint32 *socket, const guint32 *pcie_switch, guint32 switch_lanes)
{
  g_autofree guint32 *index = g_new0 (guint32, matrix->devices->len);
  for (guint32 i = 0; i < matrix->devices->len; i++) {
    const Device *device = device_at (matrix, i);
    if (!device->is_gpu)
      continue;
    index[i] = matrix->machine->gpus->len;
    CluImportGpu gpu = { .mark = device->mark,
                         .number = device->number,
                         .socket = socket[i],
                         .pcie_switch = pcie_switch[i],
                         .switch_lanes = switch_lanes };
    g_array_append_val (matrix->machine->gpus, gpu);
  }
  for (guint32 i = 0; switch_lanes == 0 && i < matrix->devices->len; i++)
    for (guint32 j = i + 1; j < matrix->devices->len; j++) {
      Cell cell = relation (matrix, i, j);
      if (!device_at (matrix, i)->is_gpu || !device_at (matrix, j)->is_gpu || cell.kind != CELL_NVLINK)
        continue;
      CluImportLink link = { device_at (matrix, i)->mark, index[i], index[j], cell.lanes };
      CluImportLink back = { device_at (matrix, i)->mark, index[j], index[i], cell.lanes };
      g_array_append_val (matrix->machine->links, link);
      g_array_append_val (matrix->machine->links, back);
    }
}

static void
add_nics (Matrix *matrix, const guint32 *socket, const guint32 *pcie_switch)
{
  BaseMark mark = BASE_MARK_NONE;
  for (guint32 i = 0; i < matrix->devices->len; i++) {
    const Device *device = device_at (matrix, i);
    if (device->is_gpu)
      continue;
    const char *name = device->legend != NULL ? device->legend : device->name;
    CluImportNic nic = { .mark = device->mark, .name = name, .socket = socket[i], .pcie_switch = pcie_switch[i] };
    nic.wire = clu_import_wire_of_name (name, CLU_IMPORT_WIRE_INFINIBAND);
    if (nic.wire == CLU_IMPORT_WIRE_INFINIBAND && mark.file == NULL)
      mark = device->mark;
    g_array_append_val (matrix->machine->nics, nic);
  }
  if (mark.file != NULL)
    clu_import_warn (matrix->machine, mark,
                     "the matrix does not say whether NICs are InfiniBand or Ethernet; InfiniBand is assumed");
}

char *
clu_import_nvidia_smi_topo (const CluImport *input, GError **error)
{
  g_auto (CluImportMachine) machine;
  clu_import_machine_init (&machine, input, "nvidia-smi topo -m");
  if (input->n_B > MAX_B) {
    base_fail_at (error, (BaseMark){ input->path, 1, 1 }, "%" G_GSIZE_FORMAT " bytes are too many; at most %u MiB", input->n_B,
                  MAX_B >> 20);
    return NULL;
  }
  g_autoptr (GArray) devices = g_array_new (FALSE, TRUE, sizeof (Device)), tokens = g_array_new (FALSE, TRUE, sizeof (Token));
  Matrix matrix = { .machine = &machine, .devices = devices, .next = input->bytes, .tokens = tokens };
  matrix.end = input->bytes == NULL ? NULL : input->bytes + input->n_B;
  if (!read_header (&matrix, error) || !read_rows (&matrix, error))
    return NULL;
  check_symmetry (&matrix);
  g_autofree guint32 *socket = g_new0 (guint32, matrix.devices->len), *pcie_switch = g_new0 (guint32, matrix.devices->len);
  guint32 lanes = 0;
  gboolean switched = is_switched (&matrix, &lanes);
  find_switches (&matrix, pcie_switch);
  find_sockets (&matrix, socket);
  add_gpus (&matrix, socket, pcie_switch, switched ? lanes : 0);
  add_nics (&matrix, socket, pcie_switch);
  return clu_import_write (&machine, error);
}

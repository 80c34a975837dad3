/* `nvidia-smi nvlink -s`: "GPU 0: NVIDIA H100 80GB HBM3 (UUID: …)", and of each link "Link 0: 26.562 GB/s" or "Link 0:
 * <inactive>". `dcgmi discovery -l` and `dcgmi nvlink -s`: a table with "| 0      | Name: NVIDIA H100 80GB HBM3 …|", and "gpuId
 * 0:" with a line of U (up), D (down), X (disabled) and _ (not supported). Both say how many GPUs, which, and how many NVLinks
 * of each work. Source: NVIDIA's manual of nvidia-smi; DCGM's user guide. */
#include <string.h>

#include "import/short-private.h"

typedef struct {
  char *name; /* of the first GPU; full */
  guint32 n_gpus, n_listed, n_linked, links, down, n_down, least, most;
  gboolean open;   /* links of a GPU are read */
  gboolean states; /* the next line of dcgmi has them */
} Reader;

static void
close_gpu (Reader *reader)
{
  if (!reader->open)
    return;
  reader->least = reader->n_linked == 0 ? reader->links : MIN (reader->least, reader->links);
  reader->most = MAX (reader->most, reader->links);
  reader->n_linked++;
  reader->n_down += reader->down;
  reader->open = FALSE;
}

static void
open_gpu (Reader *reader)
{
  close_gpu (reader);
  reader->open = TRUE;
  reader->links = reader->down = 0;
}

static gboolean
take_name (Reader *reader, const char *name, BaseMark mark, GError **error)
{
  if (reader->name == NULL)
    reader->name = g_strdup (name);
  else if (strcmp (reader->name, name) != 0)
    return base_fail_at (error, mark, "'%.60s' beside '%.60s'; GPUs of one type are accepted", name, reader->name);
  return TRUE;
}

static gboolean
read_smi (void *user, char *line, BaseMark mark, GError **error)
{
  Reader *reader = user;
  guint32 number = 0;
  const char *name = clu_import_after_number (line, "GPU ", ':', &number);
  if (name != NULL) {
    char *uuid = strstr (line, " (UUID");
    if (uuid != NULL)
      *uuid = '\0';
    open_gpu (reader);
    return take_name (reader, name, mark, error);
  }
  const char *state = clu_import_after_number (line, "Link ", ':', &number);
  if (state == NULL)
    return TRUE;
  if (!reader->open)
    return base_fail_at (error, mark, "a link before the first line 'GPU 0: …'");
  if (g_ascii_isdigit (*state) && g_str_has_suffix (state, "GB/s"))
    reader->links++;
  else if (strstr (state, "inactive") != NULL)
    reader->down++;
  else
    return base_fail_at (error, mark, "'%.40s' of a link; '26.562 GB/s' or '<inactive>' is accepted", state);
  return TRUE;
}

static gboolean
read_dcgm (void *user, char *line, BaseMark mark, GError **error)
{
  Reader *reader = user;
  guint32 number = 0;
  char *name = strstr (line, "| Name: ");
  if (reader->states) {
    reader->states = FALSE;
    for (const char *state = line; *state != '\0'; state++)
      if (*state == 'U')
        reader->links++;
      else if (*state == 'D')
        reader->down++;
      else if (strchr ("X_ \t", *state) == NULL)
        return base_fail_at (error, mark, "'%.40s' of a GPU's links; U D X and _ are accepted", line);
    close_gpu (reader);
  } else if (clu_import_after_number (line, "gpuId ", ':', &number) != NULL) {
    open_gpu (reader);
    reader->states = TRUE;
  } else if (g_str_has_suffix (line, " found.") && strstr (line, "GPU") != NULL) {
    reader->n_gpus = (guint32)g_ascii_strtoull (line, NULL, 10);
  } else if (name != NULL && reader->n_listed < reader->n_gpus) {
    name += strlen ("| Name: ");
    name[strcspn (name, "|")] = '\0';
    reader->n_listed++;
    return take_name (reader, g_strchomp (name), mark, error);
  }
  return TRUE;
}

static char *
read_all (const CluImport *input, const char *tool, CluImportVisit visit, const char *foreign, GError **error)
{
  Reader reader = { .name = NULL };
  char *answer = NULL;
  const BaseMark mark = { input->path, 1, 1 };
  if (clu_import_lines (input, visit, &reader, error)) {
    close_gpu (&reader);
    const guint32 n_gpus = MAX (reader.n_gpus, reader.n_linked);
    if (n_gpus == 0)
      base_fail_at (error, mark, "%s", foreign);
    else if (reader.n_listed != reader.n_gpus || n_gpus > CLU_IMPORT_MAX_GPUS)
      base_fail_at (error, mark, "%u GPUs are found and %u are listed: cut off?", n_gpus, reader.n_listed);
    else {
      if (reader.n_down > 0)
        base_diag_warn (input->warnings, mark, "%u NVLink%s down; every GPU is given the %u links of the GPU with the fewest",
                        reader.n_down, reader.n_down == 1 ? " is" : "s are", reader.least);
      else if (reader.least < reader.most)
        base_diag_warn (input->warnings, mark, "some GPUs have %u NVLinks and others %u; every GPU is given %u", reader.most,
                        reader.least, reader.least);
      answer = clu_import_write_short (input,
                                       &(CluImportParts){ .tool = tool,
                                                          .gpu = reader.name != NULL ? clu_import_type_of_name (reader.name) : NULL,
                                                          .gpu_name = reader.name,
                                                          .n_gpus = n_gpus,
                                                          .lanes_used = reader.least,
                                                          .no_lanes = reader.n_linked > 0 && reader.least == 0 },
                                       error);
    }
  }
  g_free (reader.name);
  return answer;
}

char *
clu_import_nvlink (const CluImport *input, GError **error)
{
  return read_all (input, "nvidia-smi nvlink -s", read_smi,
                   "no line 'GPU 0: NAME (UUID: …)'; the output of nvidia-smi nvlink -s is accepted", error);
}

char *
clu_import_dcgm (const CluImport *input, GError **error)
{
  return read_all (input, "dcgmi", read_dcgm,
                   "no line '8 GPUs found.' or 'gpuId 0:'; the output of dcgmi discovery -l, dcgmi nvlink -s, or both is accepted",
                   error);
}

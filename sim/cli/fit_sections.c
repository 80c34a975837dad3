/* forerun fit: the sections of a calibration that probe files tell of. */
#include "fit_sections-private.h"

#include "constants/calibration.h"
#include "fit_links-private.h"
#include "collective/gpu.h"

static void
free_fit (gpointer fit)
{
  cal_section_fit_free (fit);
}

/* Constants that are fitted over, and the node. */
static const Cst *
open_node (Cli *cli, const CliFitSections *how, Clu **clu, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  *clu = cli_cluster_load (cli, how->topology, 1, error);
  if (*clu == NULL)
    return NULL;
  const CluGpuSpec *gpu = clu_gpu_spec (*clu, 0);
  if (cli_library_load (cli, how->over, NULL, gpu != NULL ? gpu->name.v : NULL, NULL, cli->yamls, diag, error) == NULL)
    return NULL;
  cli_warn_all (cli, diag);
  cli_take_inputs (cli, cli->yamls);
  return g_ptr_array_index (cli->cals, cli->cals->len - 1);
}

gboolean
cli_fit_has_links (const GPtrArray *sections)
{
  for (guint i = 0; i < sections->len; i++)
    if (((const CalSectionFit *)sections->pdata[i])->section == &cal_section_links)
      return TRUE;
  return FALSE;
}

GPtrArray *
cli_fit_sections (Cli *cli, const CliFitSections *how, const GPtrArray *probes, MdlLinks *links, GError **error)
{
  g_autoptr (GPtrArray) fits = g_ptr_array_new_with_free_func (free_fit);
  if (how->topology == NULL || probes == NULL)
    return g_steal_pointer (&fits);
  g_autoptr (Clu) clu = NULL;
  const Cst *cal = open_node (cli, how, &clu, error);
  if (cal == NULL)
    return NULL;
  MdlGpu gpu;
  col_gpu_facts (clu, 0, &gpu);
  *links = *(const MdlLinks *)cst_section (cal, &cst_links);
  g_autoptr (CliFitLinks) routes = cli_fit_links_new (clu, cst_library (cal), links);
  const CalNode node = { .gpu = &gpu, .link_s = cli_fit_links_s, .user = routes };
  for (guint s = 0; cal_sections[s] != NULL; s++) {
    g_autoptr (GError) cause = NULL;
    const void *defaults = cal_sections[s] == &cal_section_links ? links : cst_section (cal, cal_sections[s]->keys);
    CalSectionFit *fit = cal_section_fit (cal_sections[s], defaults, &node, probes, how->hold_out, how->split, &cause);
    if (cause != NULL) {
      g_propagate_error (error, g_steal_pointer (&cause));
      return NULL;
    }
    if (fit == NULL)
      continue;
    g_ptr_array_add (fits, fit);
    if (cal_sections[s] == &cal_section_links)
      cal_section_result (fit, links);
    for (guint i = 0; fit->notes != NULL && i < fit->notes->len; i++)
      cli_warn (cli, fit->notes->pdata[i]);
  }
  return g_steal_pointer (&fits);
}

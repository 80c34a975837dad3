/* The sections of a calibration that probe files tell of, on the node that was measured. */
#include "calibrate/links.h"
#include "collective/gpu.h"
#include "fit/fit-private.h"
#include "models/library-spec.h"
#include "predict/routes-private.h"

/* One section, of whose result `links` takes what it is of. TRUE too where no file tells it. */
static gboolean
fit_section (const CalFitWork *work, const CalSection *section, const void *defaults, const CalNode *node, GError **error)
{
  g_autoptr (GError) cause = NULL;
  CalSectionFit *fit =
      cal_section_fit (section, defaults, node, work->data->probes, work->query->hold_out.sizes, work->query->split, &cause);
  if (cause != NULL) {
    g_propagate_error (error, g_steal_pointer (&cause));
    return FALSE;
  }
  if (fit == NULL)
    return TRUE;
  g_ptr_array_add (work->out->sections, fit);
  for (guint i = 0; fit->notes != NULL && i < fit->notes->len; i++)
    work->host->warn (work->host->user, fit->notes->pdata[i]);
  return TRUE;
}

gboolean
cal_fit_sections (const CalFitWork *work, MdlLinks *links, gboolean *has_links, GError **error)
{
  const CalHost *host = work->host;
  const GPtrArray *fits = work->out->sections;
  *has_links = FALSE;
  if (work->query->topology == NULL || work->data->probes->len == 0)
    return TRUE;
  g_autoptr (Clu) clu = host->cluster (host->user, work->query->topology, 1, error);
  if (clu == NULL)
    return FALSE;
  const CluGpuSpec *type = clu_gpu_spec (clu, 0);
  const Cst *constants =
      cal_predictor_constants (work->out->predictor, work->query->over, type != NULL ? type->name.v : NULL, NULL, error);
  if (constants == NULL)
    return FALSE;
  MdlGpu gpu;
  col_gpu_facts (clu, 0, &gpu);
  *links = *cst_library (constants)->links;
  g_autoptr (CalRoutes) routes = cal_routes_new (clu, cst_library (constants), links);
  const CalNode node = { .gpu = &gpu, .link_s = cal_routes_s, .user = routes };
  for (guint s = 0; cal_sections[s] != NULL; s++) {
    gboolean is_links = cal_sections[s] == &cal_section_links;
    guint n = fits->len;
    if (!fit_section (work, cal_sections[s], is_links ? links : cst_section (constants, cal_sections[s]->keys), &node, error))
      return FALSE;
    if (!is_links || fits->len == n)
      continue;
    *has_links = TRUE;
    cal_section_result (fits->pdata[n], links);
  }
  return TRUE;
}

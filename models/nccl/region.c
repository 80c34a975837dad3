/* Choices of a network plugin's own tuner, where it draws them as regions over message size and ranks: polygons whose edges are
 * straight in the logarithms of both. The first region that holds the point, edges included, and that NCCL offers is taken;
 * outside of all, and on fewer nodes than the plugin asks, NCCL chooses for itself.
 *
 * Source: aws/aws-ofi-nccl 2daf7d3 src/tuner/nccl_ofi_regions.cpp:region_get_coll_info_internal_v3 (order, least nodes),
 * is_inside_region (edges count as inside).
 * Valid: equal nodes of as many GPUs as the region says. Left out: the number of channels that it asks for on p6-b200 from 4 to
 * 32 MiB by tree LL128, and for PAT. Check: test_models_tuner (a square's inside, edge, corner, outside). */
#include "models/tuner_region.h"

#include <math.h>

/* Size 0 stands in the tables; its logarithm is that of this. B. */
#define LEAST_SIZE 1e-6
/* Nearer than this to an edge is on it, in powers of two. */
#define ON_EDGE 1e-9

typedef struct {
  double x, y;
} Point;

static Point
point_of (double size_B, double ranks)
{
  return (Point){ log2 (fmax (size_B, LEAST_SIZE)), log2 (fmax (ranks, 1.0)) };
}

static gboolean
on_edge (Point p, Point a, Point b)
{
  double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
  double along = length2 > 0.0 ? CLAMP (((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0) : 0.0;
  return hypot (a.x + along * dx - p.x, a.y + along * dy - p.y) < ON_EDGE;
}

/* A ray to the right of the point crosses an odd number of edges. */
static gboolean
holds (const MdlTunerRegion *region, Point p)
{
  gboolean inside = FALSE;
  for (unsigned i = 0; i < region->bytes.n; i++) {
    unsigned k = (i + 1) % region->bytes.n;
    Point a = point_of (region->bytes.item[i].v, region->ranks.item[i].v);
    Point b = point_of (region->bytes.item[k].v, region->ranks.item[k].v);
    if (on_edge (p, a, b))
      return TRUE;
    if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x))
      inside = !inside;
  }
  return inside;
}

const MdlTunerRegion *
mdl_tuner_region (const MdlTunerRegions *tuner, const MdlTunerComm *comm, const MdlTunerQuestion *question,
                  double time_s[MDL_ALGO_NCCL_N][MDL_PROTO_N])
{
  if (comm->nodes < tuner->nodes.v || comm->ranks != comm->nodes * comm->max_local)
    return NULL;
  Point p = point_of (question->size_B, comm->ranks);
  for (unsigned i = 0; i < tuner->regions.n; i++) {
    const MdlTunerRegion *region = BASE_LIST_AT (tuner->regions, MdlTunerRegion, i);
    if ((MdlOp)region->op.v == question->op && region->gpus.v == comm->max_local &&
        isfinite (time_s[region->algo.v][region->proto.v]) && holds (region, p))
      return region;
  }
  return NULL;
}

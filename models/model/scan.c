/* Products that a chunked scan is made of; formulas: the head of recurrent.c. */
#include "model/layer-private.h"

unsigned
mdl_scan_products (const MdlLlmRecurrent *r, MdlScanProduct out[MDL_SCAN_PRODUCTS])
{
  const double q = r->chunk.v, n = r->state.v, p = r->head_dim.v;
  const MdlScanProduct mamba[] = { { "scan_scores", q, q, n, TRUE, FALSE, TRUE },
                                   { "scan_states", n, p, q, FALSE, FALSE, TRUE },
                                   { "scan_output", q, p, n + q / 2, FALSE, FALSE, FALSE } };
  const MdlScanProduct delta[] = {
    { "scan_keys", q, q, n, FALSE, FALSE, FALSE },      { "scan_inverse", q, q, q / 3, FALSE, FALSE, FALSE },
    { "scan_update", q, n + p, q, FALSE, FALSE, TRUE }, { "scan_states", n, p, 2, FALSE, TRUE, TRUE },
    { "scan_scores", q, q, n, FALSE, FALSE, FALSE },    { "scan_output", q, p, n + q / 2, FALSE, FALSE, FALSE }
  };
  const gboolean is_delta = r->kind.v == MDL_RECURRENT_GATED_DELTA;
  const MdlScanProduct *from = is_delta ? delta : mamba;
  const unsigned count = is_delta ? G_N_ELEMENTS (delta) : G_N_ELEMENTS (mamba);
  for (unsigned i = 0; i < count; i++)
    out[i] = from[i];
  return count;
}

double
mdl_recurrent_flop (const MdlLlmRecurrent *r)
{
  MdlScanProduct products[MDL_SCAN_PRODUCTS];
  const unsigned count = mdl_scan_products (r, products);
  double flop = 0;
  for (unsigned i = 0; i < count; i++) {
    const MdlScanProduct *p = &products[i];
    flop += 2 * p->m * p->n * p->k * (p->of_groups ? r->groups.v : r->heads.v) / (p->in_turn ? 1 : r->chunk.v);
  }
  return flop;
}

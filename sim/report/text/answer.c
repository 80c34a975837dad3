/* The answer in one or two sentences, which stands above everything else. */
#include <math.h>

#include "base/layout.h"
#include "json-private.h"
#include "report/run.h"
#include "run-private.h"

#define SMALL_PART 0.005 /* of a step: not worth a sentence */

void
rep_transfer_answer (const void *of, GString *out)
{
  const StoTransferResult *transfer = of;
  g_autofree char *band = rep_band (transfer->time_s, transfer->time_lo_s, transfer->time_hi_s);
  const double n = transfer->count * MAX (transfer->pairs, 1);
  if (n > 1)
    g_string_append_printf (out, "%.0f concurrent copies of ", n);
  rep_say (out, rep_transfer_members, transfer, n > 1 ? "{bytes}, the first " : "Copying {bytes} ");
  rep_say (out, rep_transfer_members, transfer, n > 1 ? "from {from} to {to}, " : "from {from} to {to} ");
  g_string_append_printf (out, "%s %s, ", n > 1 ? "take" : "takes", band);
  rep_say (out, rep_transfer_members, transfer,
           n > 1 ? "{rate_Bps} each.\nBottleneck: {bound_by}.\n" : "{rate_Bps}.\nBottleneck: {bound_by}.\n");
}

void
rep_io_answer (const void *of, GString *out)
{
  const StoIoResult *io = of;
  g_autofree char *band = rep_band (io->time_s, io->time_lo_s, io->time_hi_s);
  rep_say (out, rep_io_members, io,
           io->op == MDL_IO_READ ? "Reading {bytes} from {tier} by {clients#client} takes "
                                 : "Writing {bytes} to {tier} by {clients#client} takes ");
  g_string_append_printf (out, "%s, ", band);
  rep_say (out, rep_io_members, io, "{rate_Bps}.\nBottleneck: {bound_by}.\n");
}

/* The largest part of a step but compute; TRN_PART_N where all are small. */
static int
largest_wait (const TrnResult *training)
{
  int most = TRN_PART_N;
  for (int p = 0; p < TRN_PART_N; p++)
    if (p != TRN_PART_COMPUTE && training->part_s[p] > SMALL_PART * training->step_time_s &&
        (most == TRN_PART_N || training->part_s[p] > training->part_s[most]))
      most = p;
  return most;
}

static void
memory_answer (const TrnResult *training, GString *out)
{
  const TrnMemory *m = &training->fullest;
  const double gib = 1.0 / (1 << 30);
  if (training->memory == NULL || !(m->capacity_B > 0))
    return;
  g_string_append_printf (out, "Memory: %.1f of %.1f GiB on the fullest rank; it %s.\n", m->total_B * gib, m->capacity_B * gib,
                          m->fits ? "fits" : "DOES NOT FIT");
}

void
rep_training_answer (const void *of, GString *out)
{
  const TrnResult *training = of;
  g_autofree char *band = rep_band (training->step_time_s, training->step_time_lo_s, training->step_time_hi_s);
  const int wait = largest_wait (training);
  g_string_append (out, "A training step");
  if (training->has_model)
    rep_say (out, rep_training_members, training, " of {model}");
  rep_say (out, rep_training_members, training, " on {ranks#GPU} takes ");
  g_string_append (out, band);
  if (training->has_model)
    rep_say (out, rep_training_members, training, ", MFU {mfu*100:%.1f} %");
  rep_say (out, rep_training_members, training, ".\nBottleneck: {bound_by}.");
  if (wait != TRN_PART_N) {
    g_autofree char *title = g_strdup (trn_part_titles[wait]);
    title[0] = g_ascii_toupper (title[0]);
    g_string_append_printf (out, " %s is %.1f %% of the step.", title, 100 * training->part_s[wait] / training->step_time_s);
  }
  g_string_append_c (out, '\n');
  if (training->assumed_sequence > 0)
    g_string_append_printf (out, "Sequence length %.0f is assumed, since %s was trained with it; `sequence` changes it.\n",
                            training->assumed_sequence, training->model);
  memory_answer (training, out);
}

void
rep_jobs_answer (const ScnResult *result, GString *out)
{
  g_string_append_printf (out, "%u jobs run at the same time:", result->jobs->len);
  for (guint i = 0; i < result->jobs->len; i++) {
    const ScnJobResult *job = result->jobs->pdata[i];
    g_autofree char *time = rep_quantity (job->time_s, BASE_DIM_TIME);
    g_string_append_printf (out, "%s %s takes %s", i == 0 ? "" : ";", job->name, time);
    if (job->alone_s > 0)
      g_string_append_printf (out, ", %.2f x its time alone", job->time_s / job->alone_s);
  }
  g_string_append (out, ".\n");
}

void
rep_goodput_answer (const Gdp *goodput, GString *out)
{
  g_string_append_printf (out, "Goodput with failures and checkpoints: %.2f %% (%.2f to %.2f)", goodput->goodput.mean * 100,
                          goodput->goodput.lo * 100, goodput->goodput.hi * 100);
  if (isinf (goodput->horizon_s)) {
    g_autofree char *time = base_band_show (goodput->wall_s.mean, goodput->wall_s.lo, goodput->wall_s.hi, BASE_DIM_TIME);
    g_string_append_printf (out, "; time to train %s", time);
  }
  g_string_append_printf (out, "; %.0f failures stop the job.\n", goodput->stops.mean);
}

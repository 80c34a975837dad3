/* What a step's loader and checkpoints come to. */
#include <math.h>

#include "json-private.h"
#include "run-private.h"

static const BaseColumn stage_columns[] = {
  { "stage", "stage", BASE_CELL_TEXT, 0, NULL },
  { "time_s", "one batch (ms)", BASE_CELL_NUMBER, 1e3, "%.4f" },
  { "least_s", "at most one a (ms)", BASE_CELL_NUMBER, 1e3, "%.4f" },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static void
stage (BaseTable *table, const char *name, double time_s, double least_s)
{
  base_table_row (table);
  base_table_text (table, "stage", name);
  if (time_s >= 0)
    base_table_number (table, "time_s", time_s);
  base_table_number (table, "least_s", least_s);
}

BaseTable *
rep_loader_table (const WrkLoaderResult *l)
{
  BaseTable *table = base_table_new (stage_columns);
  stage (table, "storage", -1, l->storage_s);
  stage (table, "network", -1, l->network_s);
  stage (table, "workers: read", l->read_s, l->workers_s);
  stage (table, "workers: decode", l->decode_s, l->workers_s);
  stage (table, "cores", -1, l->cores_s);
  stage (table, "pin", l->pin_s, l->pin_s);
  stage (table, "copy", l->copy_s, l->copy_s);
  if (l->broadcast_s > 0)
    stage (table, "broadcast", l->broadcast_s, l->broadcast_s);
  stage (table, "compute", l->batch_s, l->batch_s);
  return table;
}

static void
stage_text (const WrkStageResult *s, GString *out)
{
  g_autofree char *size = rep_quantity (s->node_B, BASE_DIM_BYTES), *time = rep_quantity (s->time_s, BASE_DIM_TIME),
                  *direct = rep_quantity (s->direct_s, BASE_DIM_TIME), *saved = rep_quantity (s->saved_s, BASE_DIM_TIME);
  g_string_append_printf (out, "staged before   %s on each of %.0f node%s from %s in %s (%s; bound by %s)\n", size, s->nodes,
                          s->nodes == 1 ? "" : "s", s->from, time, s->how, s->bound_by);
  if (isfinite (s->epochs))
    g_string_append_printf (out, "which pays      after %.3g epochs of %.4g steps: each saves %s of the %s that it would wait\n",
                            s->epochs, s->epoch_steps, saved, direct);
  else
    g_string_append_printf (out, "which pays      never: read from %s a step would wait %s\n", s->from, direct);
}

static void
stage_json (const WrkStageResult *s, JsonBuilder *json)
{
  json_builder_set_member_name (json, "stage");
  json_builder_begin_object (json);
  rep_json_text (json, "from", s->from);
  rep_json_number (json, "nodes", s->nodes);
  rep_json_number (json, "node_bytes", s->node_B);
  rep_json_number (json, "time_s", s->time_s);
  rep_json_text (json, "bound_by", s->bound_by);
  rep_json_number (json, "direct_stall_s", s->direct_s);
  rep_json_number (json, "saved_s", s->saved_s);
  rep_json_number (json, "epoch_steps", s->epoch_steps);
  rep_json_number (json, "break_even_epochs", s->epochs);
  json_builder_end_object (json);
}

void
rep_loader_text (const WrkLoaderResult *l, GString *out)
{
  if (!l->set)
    return;
  g_autofree char *batch = rep_quantity (l->batch_B, BASE_DIM_BYTES), *demand = rep_quantity (l->demand_Bps, BASE_DIM_BANDWIDTH),
                  *stall = rep_quantity (l->stall_s, BASE_DIM_TIME), *first = rep_quantity (l->first_s, BASE_DIM_TIME);
  g_string_append_printf (out, "\n# input pipeline: %.0f readers of %s, a batch is %s, compute asks for %s\n", l->readers, l->tier,
                          batch, demand);
  g_string_append_printf (out, "a step waits    %s%s%s; the first one %s\n", stall, l->starved_by[0] != '\0' ? ", starved by " : "",
                          l->starved_by, first);
  if (l->stage.set)
    stage_text (&l->stage, out);
  if (l->slows_s > 0) {
    g_autofree char *slows = rep_quantity (l->slows_s, BASE_DIM_TIME);
    g_string_append_printf (out, "and is slower   %s, its traffic beside the reads\n", slows);
  }
  g_autoptr (BaseTable) table = rep_loader_table (l);
  base_table_print_text (table, out);
}

void
rep_loader_json (const WrkLoaderResult *l, JsonBuilder *json)
{
  if (!l->set)
    return;
  json_builder_set_member_name (json, "loader");
  json_builder_begin_object (json);
  rep_json_text (json, "tier", l->tier);
  rep_json_number (json, "readers", l->readers);
  rep_json_number (json, "batch_bytes", l->batch_B);
  rep_json_number (json, "demand_Bps", l->demand_Bps);
  rep_json_number (json, "stall_s", l->stall_s);
  rep_json_number (json, "slows_s", l->slows_s);
  rep_json_number (json, "first_s", l->first_s);
  rep_json_text (json, "starved_by", l->starved_by[0] != '\0' ? l->starved_by : NULL);
  rep_json_text (json, "storage_bound_by", l->bound_by);
  rep_json_number (json, "read_s", l->read_s);
  rep_json_number (json, "decode_s", l->decode_s);
  rep_json_number (json, "pin_s", l->pin_s);
  rep_json_number (json, "copy_s", l->copy_s);
  rep_json_number (json, "broadcast_s", l->broadcast_s);
  rep_json_number (json, "batch_s", l->batch_s);
  json_builder_set_member_name (json, "least_s");
  json_builder_begin_object (json);
  rep_json_number (json, "storage", l->storage_s);
  rep_json_number (json, "network", l->network_s);
  rep_json_number (json, "workers", l->workers_s);
  rep_json_number (json, "cores", l->cores_s);
  rep_json_number (json, "copy", l->copy_s);
  json_builder_end_object (json);
  rep_json_text (json, "provenance", base_source_name (l->source));
  if (l->stage.set)
    stage_json (&l->stage, json);
  json_builder_end_object (json);
}

void
rep_checkpoint_text (const WrkCheckpointResult *c, GString *out)
{
  if (!c->set)
    return;
  const struct {
    const char *what;
    double s;
    const char *note;
  } rows[] = { { "stall", c->stall_s, "training stands still" },
               { "drain", c->drain_s, "behind it, beside training" },
               { "restore", c->restore_s, "each rank reads what it holds" },
               { "replacing", c->fetch_s, "on top where a node was replaced: its part comes from the copy" },
               { "suspend", c->suspend_s, "all GPU memory to the host, the process kept" },
               { "resume", c->resume_s, "and back" } };
  g_autofree char *state = rep_quantity (c->state_B, BASE_DIM_BYTES), *each = rep_quantity (c->writer_B, BASE_DIM_BYTES),
                  *snapshot = rep_quantity (c->snapshot_s, BASE_DIM_TIME), *write = rep_quantity (c->write_s, BASE_DIM_TIME),
                  *packing = rep_quantity (c->software_s, BASE_DIM_TIME);
  g_autofree char *every = c->every > 0 ? g_strdup_printf (" every %.0f steps", c->every) : g_strdup ("");
  g_string_append_printf (out, "\n# checkpoint%s to %s, %s: %s by %.0f ranks, %s each\n", every, c->tier,
                          c->mode == WRK_SAVE_SYNC ? "waited for" : "beside training", state, c->writers, each);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (rows[i].s <= 0)
      continue;
    g_autofree char *time = rep_quantity (rows[i].s, BASE_DIM_TIME);
    g_string_append_printf (out, "%-15s %s, %s\n", rows[i].what, time, rows[i].note);
  }
  if (c->slow_steps > 0) {
    g_autofree char *alone = rep_quantity (c->drain_alone_s, BASE_DIM_TIME), *step = rep_quantity (c->slow_step_s, BASE_DIM_TIME),
                    *lost = rep_quantity (c->slowed_s, BASE_DIM_TIME);
    g_string_append_printf (out, "slows           %.0f step%s, to %s; all lose %s (the drain alone takes %s)\n", c->slow_steps,
                            c->slow_steps > 1 ? "s" : "", step, lost, alone);
  } else if (c->drain_s > c->drain_alone_s * (1 + 1e-6)) {
    g_autofree char *alone = rep_quantity (c->drain_alone_s, BASE_DIM_TIME);
    g_string_append_printf (out, "slows           no step; the drain alone takes %s\n", alone);
  }
  g_string_append_printf (out, "made of         snapshot %s, write %s, packing %s; bound by %s\n", snapshot, write, packing,
                          c->bound_by);
  if (c->every > 0)
    g_string_append_printf (out, "costs           %.3g %% of the time\n", c->overhead * 100);
}

void
rep_checkpoint_json (const WrkCheckpointResult *c, JsonBuilder *json)
{
  if (!c->set)
    return;
  json_builder_set_member_name (json, "checkpoint");
  json_builder_begin_object (json);
  rep_json_text (json, "tier", c->tier);
  rep_json_text (json, "mode", c->mode == WRK_SAVE_SYNC ? "sync" : "async");
  rep_json_number (json, "every_steps", c->every > 0 ? c->every : (double)NAN);
  rep_json_number (json, "state_bytes", c->state_B);
  rep_json_number (json, "restore_bytes", c->restore_B);
  rep_json_number (json, "writers", c->writers);
  rep_json_number (json, "writer_bytes", c->writer_B);
  rep_json_number (json, "snapshot_s", c->snapshot_s);
  rep_json_number (json, "write_s", c->write_s);
  rep_json_number (json, "packing_s", c->software_s);
  rep_json_number (json, "stall_s", c->stall_s);
  rep_json_number (json, "drain_s", c->drain_s);
  rep_json_number (json, "drain_alone_s", c->drain_alone_s);
  rep_json_number (json, "drain_wait_s", c->wait_s);
  rep_json_number (json, "slow_steps", c->slow_steps);
  rep_json_number (json, "slow_step_s", c->slow_steps > 0 ? c->slow_step_s : (double)NAN);
  rep_json_number (json, "slowed_s", c->slowed_s);
  rep_json_number (json, "read_s", c->read_s);
  rep_json_number (json, "load_s", c->load_s);
  rep_json_number (json, "restore_s", c->restore_s);
  rep_json_text (json, "copy", c->copy);
  rep_json_number (json, "copy_s", c->copy_s);
  rep_json_number (json, "fetch_s", c->fetch_s);
  rep_json_number (json, "suspend_s", c->suspend_s > 0 ? c->suspend_s : (double)NAN);
  rep_json_number (json, "resume_s", c->resume_s > 0 ? c->resume_s : (double)NAN);
  rep_json_number (json, "node_bytes", c->node_B);
  rep_json_number (json, "overhead", c->overhead);
  rep_json_text (json, "save_bound_by", c->bound_by);
  rep_json_text (json, "provenance", base_source_name (c->source));
  json_builder_end_object (json);
}

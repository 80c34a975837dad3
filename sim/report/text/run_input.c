/* What a step's loader and checkpoints come to. */
#include <math.h>

#include "json-private.h"
#include "run-private.h"

static const BaseColumn stage_columns[] = {
  { "stage", "stage", BASE_CELL_TEXT, 0, NULL, 0 },
  { "time_s", "one batch", BASE_CELL_NUMBER, 0, NULL, 0 },
  { "least_s", "minimum interval", BASE_CELL_NUMBER, 0, NULL, 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
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
rep_loader_table (const TrnLoaderResult *l)
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

/* ---- loader ---- */

#define STAGE(...) BASE_MEMBER (TrnStageResult, __VA_ARGS__)
static const BaseMember stage_members[] = {
  STAGE ("from", from),
  STAGE ("nodes", nodes),
  STAGE ("node_bytes", node_B),
  STAGE ("time_s", time_s),
  STAGE ("bound_by", bound_by),
  STAGE ("direct_stall_s", direct_s),
  STAGE ("saved_s", saved_s),
  STAGE ("epoch_steps", epoch_steps),
  STAGE ("break_even_epochs", epochs),
  BASE_MEMBER_END,
};

#define CACHE(...) BASE_MEMBER (TrnCacheResult, __VA_ARGS__)
BASE_MEMBER_WHEN (has_rent, TrnCacheResult, isfinite (it->rent_usd))
BASE_MEMBER_WHEN (has_saved, TrnCacheResult, isfinite (it->saved_usd))
static const BaseMember cache_members[] = {
  CACHE ("of", of),
  CACHE ("hits", hits),
  CACHE ("dataset_bytes", set_B),
  CACHE ("first_stall_s", first_s),
  CACHE ("later_stall_s", later_s),
  CACHE ("direct_stall_s", direct_s),
  CACHE ("saved_s", saved_s),
  CACHE ("epoch_steps", epoch_steps),
  CACHE ("break_even_epochs", epochs),
  CACHE ("epoch_rent_usd", rent_usd, .when = has_rent, .optional = TRUE),
  CACHE ("epoch_saved_usd", saved_usd, .when = has_saved, .optional = TRUE),
  BASE_MEMBER_END,
};

BASE_MEMBER_WHEN (is_cache, TrnLoaderResult, it->cache.set)
BASE_MEMBER_WHEN (is_staged, TrnLoaderResult, it->stage.set)
BASE_MEMBER_WHEN (is_respawned, TrnLoaderResult, it->respawn_s > 0)

#define LOADER(...) BASE_MEMBER (TrnLoaderResult, __VA_ARGS__)
static const BaseMember least_members[] = {
  LOADER ("storage", storage_s), LOADER ("network", network_s), LOADER ("workers", workers_s),
  LOADER ("cores", cores_s),     LOADER ("copy", copy_s),       BASE_MEMBER_END,
};
const BaseMember rep_loader_members[] = {
  LOADER ("tier", tier),
  LOADER ("readers", readers),
  LOADER ("batch_bytes", batch_B),
  LOADER ("demand_Bps", demand_Bps),
  LOADER ("stall_s", stall_s),
  LOADER ("slows_s", slows_s),
  LOADER ("first_s", first_s),
  LOADER ("respawn_s", respawn_s, .optional = TRUE, .when = is_respawned),
  LOADER ("epoch_steps", epoch_steps, .optional = TRUE, .when = is_respawned),
  LOADER ("starved_by", starved_by),
  LOADER ("storage_bound_by", bound_by),
  LOADER ("read_s", read_s),
  LOADER ("decode_s", decode_s),
  LOADER ("pin_s", pin_s),
  LOADER ("copy_s", copy_s),
  LOADER ("broadcast_s", broadcast_s),
  LOADER ("batch_s", batch_s),
  { .key = "least_s", .kind = BASE_MEMBER_GROUP, .sub = least_members },
  LOADER ("provenance", source, .names = base_source_names),
  LOADER ("cache", cache, .sub = cache_members, .when = is_cache, .optional = TRUE),
  LOADER ("stage", stage, .sub = stage_members, .when = is_staged, .optional = TRUE),
  { .key = "minimum_s", .kind = BASE_MEMBER_GROUP, .sub = least_members },
  BASE_MEMBER_END,
};

static void
stage_text (const TrnStageResult *s, GString *out)
{
  rep_say (out, stage_members, s, "staging         {node_bytes} to each of {nodes#node} from {from} in {time_s}");
  g_string_append_printf (out, " (%s; bottleneck: %s)\n", s->how, s->bound_by);
  rep_say (out, stage_members, s,
           isfinite (s->epochs)
               ? "break-even      after {break_even_epochs:%.3g} epochs of {epoch_steps:,} steps: each step saves {saved_s} of a "
                 "{direct_stall_s} stall\n"
               : "break-even      never: reading from {from} directly would stall a step {direct_stall_s}\n");
}

static void
cache_text (const TrnLoaderResult *l, GString *out)
{
  const TrnCacheResult *c = &l->cache;
  g_string_append_printf (out, "cache           %s of %s: ", l->tier, c->of);
  rep_say (out, cache_members, c,
           "{hits*100:%.1f} % of later epochs' reads hit; a step waits {first_stall_s} in the first epoch, {later_stall_s} later, "
           "{direct_stall_s} without the cache\n");
  rep_say (out, cache_members, c,
           !isfinite (c->epochs) ? "break-even      never: a step waits no less than without the cache\n"
           : c->epochs <= 1      ? "break-even      in the first epoch of {epoch_steps:,} steps already; each later step saves "
                                   "{saved_s}\n"
                            : "break-even      after {break_even_epochs:%.3g} epochs of {epoch_steps:,} steps: each later step "
                              "saves {saved_s}\n");
  if (has_rent (c))
    rep_say (out, cache_members, c, "rent            ${epoch_rent_usd:%.4g} of the cache in a later epoch");
  if (has_rent (c) && has_saved (c))
    rep_say (out, cache_members, c, "; it saves ${epoch_saved_usd:%.4g} of the nodes' rent");
  if (has_rent (c))
    g_string_append_c (out, '\n');
}

void
rep_loader_text (const TrnLoaderResult *l, GString *out)
{
  if (!l->set)
    return;
  rep_say (out, rep_loader_members, l,
           "\n# input pipeline: {readers:%.0f} readers of {tier}, batches of {batch_bytes}, compute needs {demand_Bps}\n"
           "data stall      {stall_s} a step");
  if (l->starved_by[0] != '\0')
    rep_say (out, rep_loader_members, l, ", bottleneck: {starved_by}");
  rep_say (out, rep_loader_members, l, "; the first step waits {first_s}\n");
  if (l->respawn_s > 0)
    rep_say (out, rep_loader_members, l,
             "new workers     {respawn_s} at each epoch of {epoch_steps:,} steps (persistent: false)\n");
  if (l->cache.set)
    cache_text (l, out);
  if (l->stage.set)
    stage_text (&l->stage, out);
  if (l->slows_s > 0)
    rep_say (out, rep_loader_members, l, "interference    {slows_s}: the step's traffic shares links with the reads\n");
  rep_text (rep_loader_table (l), out);
}

/* ---- checkpoint ---- */

BASE_MEMBER_WHEN (slows_steps, TrnCheckpointResult, it->slow_steps > 0)

#define SAVE(...) BASE_MEMBER (TrnCheckpointResult, __VA_ARGS__)
const BaseMember rep_checkpoint_members[] = {
  SAVE ("tier", tier),
  SAVE ("mode", mode, .names = trn_save_mode_names),
  SAVE ("every_steps", every, .positive = TRUE),
  SAVE ("state_bytes", state_B),
  SAVE ("restore_bytes", restore_B),
  SAVE ("writers", writers),
  SAVE ("writer_bytes", writer_B),
  SAVE ("snapshot_s", snapshot_s),
  SAVE ("write_s", write_s),
  SAVE ("packing_s", software_s),
  SAVE ("stall_s", stall_s),
  SAVE ("drain_s", drain_s),
  SAVE ("drain_alone_s", drain_alone_s),
  SAVE ("drain_wait_s", wait_s),
  SAVE ("slow_steps", slow_steps),
  SAVE ("slow_step_s", slow_step_s, .when = slows_steps),
  SAVE ("slowed_s", slowed_s),
  SAVE ("read_s", read_s),
  SAVE ("load_s", load_s),
  SAVE ("restore_s", restore_s),
  SAVE ("copy", copy),
  SAVE ("copy_s", copy_s),
  SAVE ("fetch_s", fetch_s),
  SAVE ("suspend_s", suspend_s, .positive = TRUE),
  SAVE ("resume_s", resume_s, .positive = TRUE),
  SAVE ("node_bytes", node_B),
  SAVE ("overhead", overhead),
  SAVE ("save_bound_by", bound_by),
  SAVE ("provenance", source, .names = base_source_names),
  BASE_MEMBER_END,
};

/* Times that are shown where they are above 0. */
static const char *const times[][2] = {
  { "stall_s", "stall           {stall_s}, training stops\n" },
  { "drain_s", "drain           {drain_s}, concurrently with training\n" },
  { "restore_s", "restore         {restore_s}, each rank reads its part\n" },
  { "fetch_s", "replacing       {fetch_s} more after a node is replaced: its part comes from the copy\n" },
  { "suspend_s", "suspend         {suspend_s}, all GPU memory to the host; the process stays\n" },
  { "resume_s", "resume          {resume_s}, back to the GPU\n" },
};

void
rep_checkpoint_text (const TrnCheckpointResult *c, GString *out)
{
  if (!c->set)
    return;
  rep_say (out, rep_checkpoint_members, c, c->every > 0 ? "\n# checkpoint every {every_steps:%.0f} steps" : "\n# checkpoint");
  g_string_append_printf (out, " to %s, %s", c->tier, c->mode == TRN_SAVE_SYNC ? "synchronous" : "asynchronous");
  rep_say (out, rep_checkpoint_members, c, ": {state_bytes} by {writers:%.0f} ranks, {writer_bytes} each\n");
  for (gsize i = 0; i < G_N_ELEMENTS (times); i++) {
    BaseValue value;
    if (base_members_value (rep_checkpoint_members, c, times[i][0], &value) && value.number > 0)
      rep_say (out, rep_checkpoint_members, c, times[i][1]);
  }
  if (c->slow_steps > 0)
    rep_say (out, rep_checkpoint_members, c,
             "interference    {slow_steps#step} slowed to {slow_step_s}, {slowed_s} lost in all (the drain alone takes "
             "{drain_alone_s})\n");
  else if (c->drain_s > c->drain_alone_s * (1 + 1e-6))
    rep_say (out, rep_checkpoint_members, c, "interference    no step is slowed; the drain alone takes {drain_alone_s}\n");
  rep_say (out, rep_checkpoint_members, c,
           "parts           snapshot {snapshot_s}, write {write_s}, packing {packing_s}; bottleneck: {save_bound_by}\n");
  if (c->every > 0)
    rep_say (out, rep_checkpoint_members, c, "overhead        {overhead*100:%.3g} % of the time\n");
}

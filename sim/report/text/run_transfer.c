/* What a copy comes to. */
#include "json-private.h"
#include "run-private.h"

#define MEMBER(...) BASE_MEMBER (StoTransferResult, __VA_ARGS__)
const BaseMember rep_transfer_members[] = {
  MEMBER ("from", from),
  MEMBER ("to", to),
  MEMBER ("bytes", bytes),
  MEMBER ("count", count),
  MEMBER ("time_s", time_s),
  MEMBER ("time_lo_s", time_lo_s),
  MEMBER ("time_hi_s", time_hi_s),
  MEMBER ("rate_Bps", rate_Bps),
  MEMBER ("path", path),
  MEMBER ("path_class", path_class),
  MEMBER ("transport", transport),
  MEMBER ("wire_rate_Bps", wire_rate_Bps),
  MEMBER ("bottleneck", bottleneck),
  MEMBER ("bound_by", bound_by),
  MEMBER ("provenance", provenance, .names = base_source_names),
  BASE_MEMBER_END,
};

static void
say (const StoTransferResult *transfer, GString *out, const char *text)
{
  rep_say (out, rep_transfer_members, transfer, text);
}

void
rep_transfer_text (const void *of, GString *out)
{
  const StoTransferResult *transfer = of;
  g_autofree char *band = rep_band (transfer->time_s, transfer->time_lo_s, transfer->time_hi_s);
  gboolean several = transfer->count > 1 || transfer->pairs > 1;
  say (transfer, out, "copy        {from} -> {to}, {bytes}");
  if (several)
    g_string_append_printf (out, ", %.0f at the same time", transfer->count * MAX (transfer->pairs, 1));
  if (transfer->stripes > 1)
    g_string_append_printf (out, ", striped over %u drives", transfer->stripes);
  g_string_append_printf (out, "\ntime        %s\n", band);
  say (transfer, out, several ? "rate        {rate_Bps} each; " : "rate        {rate_Bps}; ");
  say (transfer, out,
       transfer->stripes > 1 ? "the route of one drive carries {wire_rate_Bps} alone\n"
                             : "the route carries {wire_rate_Bps} alone\n");
  say (transfer, out, "path        {path} ({path_class}, {transport})\n");
  if (transfer->bottleneck != NULL)
    say (transfer, out, "bottleneck  {bottleneck}\n");
  say (transfer, out, "limited by  {bound_by}\nprovenance  {provenance}\n");
}

/* What local steps come to: the exchange between workers. */
#include "json-private.h"
#include "run-private.h"

BASE_MEMBER_NUMBER_OF (mean_s, TrnLocalResult, (it->fragments * it->wait_s + it->update_s) / it->every)

#define LOCAL(...) BASE_MEMBER (TrnLocalResult, __VA_ARGS__)
const BaseMember rep_local_members[] = {
  LOCAL ("workers", workers),       LOCAL ("every", every),
  LOCAL ("format", format),         LOCAL ("fragments", fragments),
  LOCAL ("overlap", overlap),       LOCAL ("bytes", size_B),
  LOCAL ("exchange_s", exchange_s), LOCAL ("algbw_Bps", rate_Bps),
  LOCAL ("wait_s", wait_s),         LOCAL ("update_s", update_s),
  LOCAL ("inner_step_s", inner_s),  { .key = "mean_s", .number = mean_s },
  LOCAL ("bound_by", bound_by),     BASE_MEMBER_END,
};

void
rep_local_text (const TrnLocalResult *local, GString *out)
{
  if (!local->set)
    return;
  rep_say (out, rep_local_members, local,
           "\n# local steps: {workers:%.0f} workers, an exchange every {every:%.0f} steps\n"
           "inner step      {inner_step_s}, without other workers\n"
           "exchange        {bytes} per rank in {format} take {exchange_s}, limited by {bound_by}");
  if (local->fragments > 1)
    rep_say (out, rep_local_members, local, "; {fragments:%.0f} such fragments a round");
  rep_say (out, rep_local_members, local, "\n                waited for: {wait_s}");
  if (local->overlap > 0)
    rep_say (out, rep_local_members, local, " beyond the {overlap:%.0f} steps that it may take");
  rep_say (out, rep_local_members, local, "; update {update_s}; {mean_s} a step on average\n");
}

/* How far a flow is, and when it ends.
 *
 * Progress is lazy: a flow is touched when its rate changes, never in between. With `left` units at time `since` and rate x it ends
 *     since + ceil ((left - slack) / x),   at least 1 ps while left > slack,   slack = min (1e-12 amount, x / 16 ps)
 * The slack takes up the rounding of `left`, so that a transfer that divides into whole picoseconds takes exactly those, and equal
 * activities end together; it never hides more than a sixteenth of a picosecond. */
#include "engine-private.h"

#include <math.h>

#define REL_SLACK 1e-12
#define PS_SLACK  0.0625

EngTime
eng_flow_end_of (const EngFlowMove *move, EngTime now)
{
  double of_amount = move->amount * REL_SLACK, of_rate = move->rate * (PS_SLACK / ENG_PS_PER_S);
  double slack = of_amount < of_rate ? of_amount : of_rate;
  if (move->left <= slack)
    return now;
  double ps = ceil ((move->left - slack) * ENG_PS_PER_S / move->rate);
  if (ps >= (double)ENG_RECHECK_PS)
    return eng_time_add (now, ENG_RECHECK_PS);
  return eng_time_add (now, ps < 1.0 ? 1 : (EngTime)ps);
}

void
eng_flow_schedule_end (Eng *eng, uint32_t flow)
{
  const EngFlowMove *move = &eng->net.flows.move[flow];
  if (isinf (move->amount) || (move->rate <= 0.0 && move->left > 0.0))
    return;
  eng->net.flows.head[flow].pending = true;
  eng_push_flow (eng, eng_flow_end_of (move, eng->now), flow);
}

void
eng_flow_advance (EngFlowMove *move, EngTime now)
{
  move->left -= move->rate * (double)(now - move->since) / ENG_PS_PER_S;
  move->since = now;
}

void
eng_flow_drop_end (Eng *eng, uint32_t flow)
{
  if (eng->net.flows.head[flow].pending)
    eng_drop_flow_entry (eng, flow);
  eng->net.flows.head[flow].pending = false;
}

void
eng_net_set_rate (Eng *eng, uint32_t flow, double rate)
{
  EngFlowMove *move = &eng->net.flows.move[flow];
  if (rate >= move->rate && rate <= move->rate)
    return;
  eng_flow_advance (move, eng->now);
  eng_flow_drop_end (eng, flow);
  move->rate = rate;
  eng_flow_schedule_end (eng, flow);
}

double
eng_flow_moved (const Eng *eng, uint32_t flow)
{
  const EngFlowMove *move = &eng->net.flows.move[flow];
  double left = move->left - move->rate * (double)(eng->now - move->since) / ENG_PS_PER_S;
  if (isinf (move->amount))
    return -left;
  return left <= 0.0 ? move->amount : move->amount - left;
}

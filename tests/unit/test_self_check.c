/* Tables that others add rows to: those of the program are whole, and a row that lacks a part is reported by name. */
#include "comm-private.h"
#include "harness.h"
#include "models/self_check.h"
#include "orders-private.h"
#include "scenario/loaded.h"

static void
the_programs_own_tables_are_whole (void)
{
  g_autoptr (GError) error = NULL;
  TEST_TRUE (mdl_self_check (&error));
  TEST_TRUE (col_self_check (&error));
  TEST_TRUE (scn_self_check (&error));
  TEST_TRUE (error == NULL);
}

static void
a_collective_without_a_formula_or_without_edges_is_reported (void)
{
  MdlColl row = *mdl_colls[0];
  TEST_TRUE (mdl_coll_fault (&row, "star") == NULL);
  row.cost = NULL;
  g_autofree char *formula = mdl_coll_fault (&row, "star");
  TEST_STR (formula, "algorithm 'star' lacks its 'cost': mdl_coll_star in models/collective must have one");
  const ColTravel none = { NULL, NULL, FALSE }, nvls = { .load = col_load_nvls };
  TEST_TRUE (col_travel_fault (&nvls, "star") == NULL);
  g_autofree char *edges = col_travel_fault (&none, "star");
  TEST_STR (edges, "algorithm 'star' loads no link: its row of `travels` in sim/collective/traffic.c must have `pipes` (edges "
                   "between ranks) or `load` (loads of switches that reduce)");
}

static void
a_schedule_without_an_order_is_reported (void)
{
  MdlScheduleRow row = mdl_schedule_1f1b;
  TEST_TRUE (mdl_schedule_fault (&row, "snake") == NULL);
  row.order = NULL;
  g_autofree char *fault = mdl_schedule_fault (&row, "snake");
  TEST_STR (fault, "schedule 'snake' lacks its 'order': mdl_schedule_snake in models/schedules must have one");
}

static void
a_kind_of_workload_without_a_run_or_without_members_is_reported (void)
{
  ScnKindOps row = scn_kind_io;
  TEST_TRUE (scn_kind_fault (&row, "nap") == NULL);
  row.spec_size = 8;
  g_autofree char *members = scn_kind_fault (&row, "nap");
  TEST_STR (members, "kind of workload 'nap' lacks its 'members': scn_kind_nap in sim/scenario must have one");
  row.run = NULL;
  g_autofree char *run = scn_kind_fault (&row, "nap");
  TEST_STR (run, "kind of workload 'nap' lacks its 'run': scn_kind_nap in sim/scenario must have one");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "the program's own tables are whole", the_programs_own_tables_are_whole },
    { "a collective without a formula or without edges is reported", a_collective_without_a_formula_or_without_edges_is_reported },
    { "a schedule without an order is reported", a_schedule_without_an_order_is_reported },
    { "a kind of workload without a run or members is reported", a_kind_of_workload_without_a_run_or_without_members_is_reported },
    { NULL, NULL },
  };
  return test_main ("self check", cases);
}

#include "harness.h"
#include "probe_fail.h"
#include "probe_options.h"

#include <string.h>

/* Reads a command line of words by blanks. */
static bool
read_line (const char *line, ProbeOptions *out, char ***words)
{
  g_autofree char *all = g_strconcat ("forerun-probe ", line, NULL);
  *words = g_strsplit (g_strchomp (all), " ", -1);
  return probe_options_read ((int)g_strv_length (*words), *words, PROBE_ON_ONE_NODE, out);
}

static void
without_options_there_are_defaults (void)
{
  ProbeOptions options;
  g_auto (GStrv) words = NULL;
  TEST_TRUE (read_line ("", &options, &words));
  TEST_STR (options.output, "forerun-probe.json");
  TEST_NEAR (options.budget_s, 300, 1e-15);
  TEST_NEAR (options.target, 0.02, 1e-15);
  TEST_INT (options.gpus, 0);
  TEST_INT (options.seed, 1);
  TEST_TRUE (options.storage_dir == NULL && options.nccl_library == NULL);
  TEST_FALSE (options.list || options.no_nvls || options.quick || options.force || options.help || options.version);
  TEST_TRUE (probe_options_want (&options, "nccl", "all_reduce"));
  probe_options_clear (&options);
}

static void
all_options_are_taken (void)
{
  ProbeOptions options;
  g_auto (GStrv) words = NULL;
  TEST_TRUE (
      read_line ("-o x.json --force --only link,nccl/all_reduce --list --budget 2m30s --target 1.5% --quick --gpus 4 --no-nvls "
                 "--nccl-lib /n.so --storage /d --seed 18446744073709551615",
                 &options, &words));
  TEST_STR (options.output, "x.json");
  TEST_STR (options.storage_dir, "/d");
  TEST_STR (options.nccl_library, "/n.so");
  TEST_NEAR (options.budget_s, 150, 1e-15);
  TEST_NEAR (options.target, 0.015, 1e-12);
  TEST_INT (options.gpus, 4);
  TEST_TRUE (options.seed == G_MAXUINT64);
  TEST_TRUE (options.list && options.no_nvls && options.quick && options.force);
  probe_options_clear (&options);
}

/* Over nodes alone; the fabric that it imagines has a rate. */
static void
a_dry_run_lists_nothing_but_its_plan (void)
{
  ProbeOptions options;
  g_auto (GStrv) words = g_strsplit ("forerun-probe-mpi --dry-run --nodes 64 --gpus 8 --nic-rate 200", " ", -1), one = NULL;
  TEST_TRUE (probe_options_read ((int)g_strv_length (words), words, PROBE_OVER_NODES, &options));
  TEST_TRUE (options.dry_run && options.list);
  TEST_INT (options.nic_Gbps, 200);
  TEST_INT (options.nodes, 64);
  probe_options_clear (&options);
  TEST_FALSE (read_line ("--dry-run", &options, &one));
  TEST_HAS (probe_why (), "--dry-run is not accepted on one node");
  probe_options_clear (&options);
  TEST_HAS (probe_options_help (PROBE_OVER_NODES), "--dry-run");
  TEST_TRUE (strstr (probe_options_help (PROBE_ON_ONE_NODE), "--dry-run") == NULL);
}

static void
only_lets_through_what_it_names (void)
{
  ProbeOptions options;
  g_auto (GStrv) words = NULL;
  TEST_TRUE (read_line ("--only link,nccl/all_reduce,nccl/choice", &options, &words));
  TEST_TRUE (probe_options_want (&options, "link", NULL));
  TEST_TRUE (probe_options_want (&options, "link", "ce"));
  TEST_TRUE (probe_options_want (&options, "nccl", NULL));
  TEST_TRUE (probe_options_want (&options, "nccl", "all_reduce"));
  TEST_FALSE (probe_options_want (&options, "nccl", "broadcast"));
  TEST_FALSE (probe_options_want (&options, "storage", NULL));
  TEST_TRUE (options.only[0].met);
  TEST_TRUE (options.only[1].met);
  TEST_FALSE (options.only[2].met); /* asked for, and never there: the program says so */
  probe_options_clear (&options);
}

static void
bad_options_are_refused_with_what_is_accepted (void)
{
  static const struct {
    const char *line, *error;
  } cases[] = {
    { "--only net", "no section 'net'; accepted are link, nccl, compute, overlap, storage, serving" },
    { "--only nccl/", "accepted are link" },
    { "--only link,", "no section ''" },
    { "--budget 300", "accepted are 5s to 24h" },
    { "--budget 1s", "accepted are 5s to 24h" },
    { "--budget 25h", "accepted are 5s to 24h" },
    { "--budget 1m1h", "accepted are 5s to 24h" },
    { "--budget -3m", "accepted are 5s to 24h" },
    { "--budget 1e3s", "accepted are 5s to 24h" },
    { "--target 2", "accepted are 0.1% to 50%" },
    { "--target 0%", "accepted are 0.1% to 50%" },
    { "--target 51%", "accepted are 0.1% to 50%" },
    { "--target nan%", "accepted are 0.1% to 50%" },
    { "--gpus 0", "whole numbers from 1 to 64" },
    { "--gpus 65", "whole numbers from 1 to 64" },
    { "--gpus 2x", "whole numbers from 1 to 64" },
    { "--seed -1", "whole numbers from 0" },
    { "--seed 18446744073709551616", "whole numbers from 0" },
    { "--gpus", "--gpus needs a value" },
    { "-o", "-o needs a value" },
    { "--output=", "an empty name" },
    { "--loud", "--loud is not accepted" },
    { "out.json", "'out.json' is no option" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    ProbeOptions options;
    g_auto (GStrv) words = NULL;
    if (read_line (cases[i].line, &options, &words)) {
      g_printerr ("accepted: %s\n", cases[i].line);
      TEST_TRUE (FALSE);
    }
    TEST_HAS (probe_why (), cases[i].error);
    probe_options_clear (&options);
  }
}

static void
times_add_up (void)
{
  static const struct {
    const char *text;
    double s; /* negative: refused */
  } cases[] = { { "90s", 90 }, { "3m", 180 }, { "2m30s", 150 }, { "1h", 3600 }, { "1h1m1s", 3661 }, { "1.5m", 90 },
                { "", -1 },    { "s", -1 },   { "3", -1 },      { "3m2", -1 },  { "3m3m", -1 },     { "3 m", -1 },
                { ".5m", -1 }, { "5.m", -1 }, { "1..5m", -1 },  { "0x10s", -1 } };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    double s = -1;
    TEST_INT (probe_duration_read (cases[i].text, &s), cases[i].s >= 0);
    TEST_NEAR (s, cases[i].s, 1e-12);
  }
}

/* The help names every option that is taken; each is tried. */
static void
help_names_every_option (void)
{
  static const char *const names[] = { "-o",        "--output", "--force", "--only",   "--list",    "--budget",
                                       "--target",  "--quick",  "--gpus",  "--numa",   "--no-nvls", "--nccl-lib",
                                       "--storage", "--seed",   "--help",  "--version" };
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++) {
    ProbeOptions options;
    g_auto (GStrv) words = NULL;
    TEST_HAS (probe_options_help (PROBE_ON_ONE_NODE), names[i]);
    if (!read_line (names[i], &options, &words))
      TEST_HAS (probe_why (), "needs a value");
    probe_options_clear (&options);
  }
  for (unsigned i = 0; probe_section_name (i) != NULL; i++)
    TEST_HAS (probe_options_help (PROBE_ON_ONE_NODE), probe_section_name (i));
}

static void
over_nodes_some_options_are_others (void)
{
  static const struct {
    const char *line, *error; /* NULL: accepted */
  } cases[] = {
    { "--nodes 4 --gpus 8 --only nccl/all_reduce,nccl --quick --no-nvls", NULL },
    { "--nodes 0", "--nodes '0': accepted are whole numbers from 1 to 1024" },
    { "--storage /d", "--storage is not accepted over nodes; accepted are the options that --help lists" },
    { "--seed 3", "--seed is not accepted over nodes; accepted are the options that --help lists" },
    { "--only link", "--only 'link': over nodes there is no section 'link'; accepted is nccl, alone or as nccl/WHAT, by commas" },
    { "--only nccl/", "--only 'nccl/': over nodes there is no section 'nccl'; accepted is nccl, alone or as nccl/WHAT, by commas" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    ProbeOptions options;
    g_autofree char *all = g_strconcat ("forerun-probe-mpi ", cases[i].line, NULL);
    g_auto (GStrv) words = g_strsplit (all, " ", -1);
    bool ok = probe_options_read ((int)g_strv_length (words), words, PROBE_OVER_NODES, &options);
    TEST_INT (ok, cases[i].error == NULL);
    if (!ok)
      TEST_STR (probe_why (), cases[i].error);
    if (ok) {
      TEST_INT (options.nodes, 4);
      TEST_INT (options.gpus, 8);
    }
    probe_options_clear (&options);
  }
  ProbeOptions options;
  g_auto (GStrv) words = NULL;
  TEST_FALSE (read_line ("--nodes 2", &options, &words));
  TEST_STR (probe_why (),
            "--nodes is not accepted on one node, forerun-probe-mpi takes it; accepted are the options that --help lists");
  probe_options_clear (&options);
  TEST_HAS (probe_options_help (PROBE_OVER_NODES), "--nodes N");
  TEST_TRUE (strstr (probe_options_help (PROBE_OVER_NODES), "--storage") == NULL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "without options there are defaults", without_options_there_are_defaults },
    { "all options are taken", all_options_are_taken },
    { "a dry run lists nothing but its plan", a_dry_run_lists_nothing_but_its_plan },
    { "only lets through what it names", only_lets_through_what_it_names },
    { "bad options are refused with what is accepted", bad_options_are_refused_with_what_is_accepted },
    { "times add up", times_add_up },
    { "over nodes some options are others", over_nodes_some_options_are_others },
    { "help names every option", help_names_every_option },
    { 0 },
  };
  return test_main ("probe/options", cases);
}

#include "harness.h"
#include "probe_options.h"

#include <string.h>

/* Reads a command line of words by blanks. */
static bool
read_line (const char *line, ProbeArguments *out, char *error, char ***words)
{
  g_autofree char *all = g_strconcat ("forerun-probe ", line, NULL);
  *words = g_strsplit (g_strchomp (all), " ", -1);
  return probe_arguments_read ((int)g_strv_length (*words), *words, out, error, 512);
}

static void
without_options_there_are_defaults (void)
{
  ProbeArguments arguments;
  char error[512];
  g_auto (GStrv) words = NULL;
  TEST_TRUE (read_line ("", &arguments, error, &words));
  TEST_STR (arguments.output, "forerun-probe.json");
  TEST_NEAR (arguments.budget_s, 300, 1e-15);
  TEST_NEAR (arguments.target, 0.02, 1e-15);
  TEST_INT (arguments.gpus, 0);
  TEST_INT (arguments.seed, 1);
  TEST_TRUE (arguments.storage_dir == NULL && arguments.nccl_library == NULL);
  TEST_FALSE (arguments.list || arguments.no_nvls || arguments.quick || arguments.force || arguments.help || arguments.version);
  TEST_TRUE (probe_arguments_want (&arguments, "nccl", "all_reduce"));
  probe_arguments_clear (&arguments);
}

static void
all_options_are_taken (void)
{
  ProbeArguments arguments;
  char error[512];
  g_auto (GStrv) words = NULL;
  TEST_TRUE (
      read_line ("-o x.json --force --only link,nccl/all_reduce --list --budget 2m30s --target 1.5% --quick --gpus 4 --no-nvls "
                 "--nccl-lib /n.so --storage /d --seed 18446744073709551615",
                 &arguments, error, &words));
  TEST_STR (arguments.output, "x.json");
  TEST_STR (arguments.storage_dir, "/d");
  TEST_STR (arguments.nccl_library, "/n.so");
  TEST_NEAR (arguments.budget_s, 150, 1e-15);
  TEST_NEAR (arguments.target, 0.015, 1e-12);
  TEST_INT (arguments.gpus, 4);
  TEST_TRUE (arguments.seed == G_MAXUINT64);
  TEST_TRUE (arguments.list && arguments.no_nvls && arguments.quick && arguments.force);
  probe_arguments_clear (&arguments);
}

static void
only_lets_through_what_it_names (void)
{
  ProbeArguments arguments;
  char error[512];
  g_auto (GStrv) words = NULL;
  TEST_TRUE (read_line ("--only link,nccl/all_reduce,nccl/choice", &arguments, error, &words));
  TEST_TRUE (probe_arguments_want (&arguments, "link", NULL));
  TEST_TRUE (probe_arguments_want (&arguments, "link", "ce"));
  TEST_TRUE (probe_arguments_want (&arguments, "nccl", NULL));
  TEST_TRUE (probe_arguments_want (&arguments, "nccl", "all_reduce"));
  TEST_FALSE (probe_arguments_want (&arguments, "nccl", "broadcast"));
  TEST_FALSE (probe_arguments_want (&arguments, "storage", NULL));
  TEST_TRUE (arguments.only[0].met);
  TEST_TRUE (arguments.only[1].met);
  TEST_FALSE (arguments.only[2].met); /* asked for, and never there: the program says so */
  probe_arguments_clear (&arguments);
}

static void
bad_options_are_refused_with_what_is_accepted (void)
{
  static const struct {
    const char *line, *error;
  } cases[] = {
    { "--only net", "no section 'net'; accepted are link, nccl, compute, overlap, storage" },
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
    ProbeArguments arguments;
    char error[512] = "";
    g_auto (GStrv) words = NULL;
    if (read_line (cases[i].line, &arguments, error, &words)) {
      g_printerr ("accepted: %s\n", cases[i].line);
      TEST_TRUE (FALSE);
    }
    TEST_HAS (error, cases[i].error);
    probe_arguments_clear (&arguments);
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
  static const char *const options[] = { "-o",         "--output",  "--force", "--only", "--list",
                                         "--budget",   "--target",  "--quick", "--gpus", "--no-nvls",
                                         "--nccl-lib", "--storage", "--seed",  "--help", "--version" };
  for (size_t i = 0; i < G_N_ELEMENTS (options); i++) {
    ProbeArguments arguments;
    char error[512] = "";
    g_auto (GStrv) words = NULL;
    TEST_HAS (probe_arguments_help (), options[i]);
    if (!read_line (options[i], &arguments, error, &words))
      TEST_HAS (error, "needs a value");
    probe_arguments_clear (&arguments);
  }
  for (unsigned i = 0; probe_section_name (i) != NULL; i++)
    TEST_HAS (probe_arguments_help (), probe_section_name (i));
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
    ProbeArguments arguments;
    char error[512] = "";
    g_autofree char *all = g_strconcat ("forerun-probe-mpi ", cases[i].line, NULL);
    g_auto (GStrv) words = g_strsplit (all, " ", -1);
    bool ok = probe_arguments_read_nodes ((int)g_strv_length (words), words, &arguments, error, sizeof error);
    TEST_INT (ok, cases[i].error == NULL);
    TEST_STR (error, cases[i].error != NULL ? cases[i].error : "");
    if (ok) {
      TEST_INT (arguments.nodes, 4);
      TEST_INT (arguments.gpus, 8);
    }
    probe_arguments_clear (&arguments);
  }
  ProbeArguments arguments;
  char error[512];
  g_auto (GStrv) words = NULL;
  TEST_FALSE (read_line ("--nodes 2", &arguments, error, &words));
  TEST_STR (error, "--nodes is not accepted on one node, forerun-probe-mpi takes it; accepted are the options that --help lists");
  probe_arguments_clear (&arguments);
  TEST_HAS (probe_arguments_help_nodes (), "--nodes N");
  TEST_TRUE (strstr (probe_arguments_help_nodes (), "--storage") == NULL);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "without options there are defaults", without_options_there_are_defaults },
    { "all options are taken", all_options_are_taken },
    { "only lets through what it names", only_lets_through_what_it_names },
    { "bad options are refused with what is accepted", bad_options_are_refused_with_what_is_accepted },
    { "times add up", times_add_up },
    { "over nodes some options are others", over_nodes_some_options_are_others },
    { "help names every option", help_names_every_option },
    { 0 },
  };
  return test_main ("probe/options", cases);
}

#include "base/lookup.h"
#include "folder_fixture.h"

#include <string.h>

/* A shipped root and a user's folder, made anew for each case. */
typedef struct {
  char *root, *shipped, *user, *scenario;
  BaseLookup *lookup;
} Place;

static Place
place_new (void)
{
  Place p;
  p.root = g_dir_make_tmp ("test-lookup-XXXXXX", NULL);
  p.shipped = g_build_filename (p.root, "share", NULL);
  p.user = g_build_filename (p.root, "mine", NULL);
  p.scenario = g_build_filename (p.user, "run.yaml", NULL);
  folder_put (p.shipped, "topologies/gpus/h200_sxm.yaml", "gpu: x\n");
  folder_put (p.shipped, "topologies/gpus/h100_sxm.yaml", "gpu: x\n");
  folder_put (p.shipped, "topologies/gpus/README.md", "gpu: x\n");
  folder_put (p.shipped, "topologies/gpus/.hidden.yaml", "gpu: x\n");
  folder_put (p.shipped, "topologies/nics/cx7_ndr400.yaml", "gpu: x\n");
  folder_put (p.user, "run.yaml", "gpu: x\n");
  p.lookup = base_lookup_new (p.shipped);
  return p;
}

static void
place_free (Place *p)
{
  folder_remove (p->root);
  base_lookup_free (p->lookup);
  g_free (p->root);
  g_free (p->shipped);
  g_free (p->user);
  g_free (p->scenario);
}

static char *
find (const Place *p, const char *name, const char *from)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = base_lookup_find (p->lookup, name, "topologies/gpus:topologies/nics", from, &error);
  TEST_TRUE ((path == NULL) == (error != NULL));
  /* Without the temporary root. */
  const char *text = path != NULL ? path : error->message;
  return folder_hidden (p->root, text);
}

static void
a_bare_name_is_looked_up_beside_the_file_then_among_the_shipped (void)
{
  Place p = place_new ();
  g_autofree char *shipped = find (&p, "h200_sxm", p.scenario);
  TEST_STR (shipped, "ROOT/share/topologies/gpus/h200_sxm.yaml");
  g_autofree char *second = find (&p, "cx7_ndr400", p.scenario);
  TEST_STR (second, "ROOT/share/topologies/nics/cx7_ndr400.yaml");
  folder_put (p.user, "h200_sxm.yaml", "gpu: x\n");
  g_autofree char *beside = find (&p, "h200_sxm", p.scenario);
  TEST_STR (beside, "ROOT/mine/h200_sxm.yaml");
  place_free (&p);
}

static void
an_alias_finds_its_file_and_never_hides_a_name (void)
{
  Place p = place_new ();
  folder_put (p.shipped, "topologies/gpus/aliases",
              "# ALIAS NAME\nh200 h200_sxm\nhopper h200_sxm\nh100_sxm h200_sxm\ngone nothing\n");
  g_autofree char *found = find (&p, "h200", p.scenario);
  TEST_STR (found, "ROOT/share/topologies/gpus/h200_sxm.yaml");
  g_autofree char *loud = find (&p, "HOPPER", p.scenario);
  TEST_STR (loud, "ROOT/share/topologies/gpus/h200_sxm.yaml");
  g_autofree char *name = find (&p, "h100_sxm", p.scenario);
  TEST_STR (name, "ROOT/share/topologies/gpus/h100_sxm.yaml");
  g_autofree char *none = find (&p, "gone", p.scenario);
  TEST_HAS (none, "no 'gone.yaml'");
  g_autofree char *listed = base_lookup_aliases (p.lookup, "topologies/gpus", "h200_sxm");
  TEST_STR (listed, "h200, hopper, h100_sxm");
  g_autofree char *bare = base_lookup_aliases (p.lookup, "topologies/nics", "cx7_ndr400");
  TEST_STR (bare, "");
  place_free (&p);
}

/* scenarios/h200_sxm.yaml that says `gpus: {type: h200_sxm}` means the GPU, not itself. */
static void
a_file_does_not_find_itself (void)
{
  Place p = place_new ();
  folder_put (p.user, "h200_sxm.yaml", "gpu: x\n");
  g_autofree char *from = g_build_filename (p.user, "h200_sxm.yaml", NULL);
  g_autofree char *found = find (&p, "h200_sxm", from);
  TEST_STR (found, "ROOT/share/topologies/gpus/h200_sxm.yaml");
  place_free (&p);
}

static void
a_path_is_relative_to_the_file_that_names_it (void)
{
  Place p = place_new ();
  folder_put (p.user, "gpus/mine.yaml", "gpu: x\n");
  folder_put (p.user, "config.json", "gpu: x\n");
  g_autofree char *below = find (&p, "gpus/mine.yaml", p.scenario);
  TEST_STR (below, "ROOT/mine/gpus/mine.yaml");
  g_autofree char *json = find (&p, "config.json", p.scenario);
  TEST_STR (json, "ROOT/mine/config.json");
  g_autofree char *up = find (&p, "../share/topologies/gpus/h100_sxm.yaml", p.scenario);
  TEST_STR (up, "ROOT/mine/../share/topologies/gpus/h100_sxm.yaml");
  g_autofree char *absolute = find (&p, p.scenario, NULL);
  TEST_STR (absolute, "ROOT/mine/run.yaml");
  g_autofree char *none = find (&p, "gpus/other.yaml", p.scenario);
  TEST_STR (none, "no file 'ROOT/mine/gpus/other.yaml'; a path is relative to the file that names it");
  place_free (&p);
}

static void
what_is_not_found_names_the_nearest_and_how_to_list_them (void)
{
  Place p = place_new ();
  g_autofree char *near = find (&p, "h20_sxm", p.scenario);
  TEST_STR (near,
            "no 'h20_sxm.yaml' in 'ROOT/mine' nor among the shipped topologies/gpus and topologies/nics (did you mean "
            "'h200_sxm'?); 'forerun list gpus' names them");
  g_autofree char *far = find (&p, "trainium", NULL);
  TEST_HAS (far, "no 'trainium.yaml' in '.' nor among the shipped");
  TEST_TRUE (strstr (far, "did you mean") == NULL);
  g_autofree char *empty = find (&p, "", p.scenario);
  TEST_HAS (empty, "an empty name");
  place_free (&p);
}

static void
standard_input_stands_for_the_working_directory (void)
{
  Place p = place_new ();
  g_autofree char *found = find (&p, "null.yaml", "/dev/stdin");
  TEST_STR (found, "no file 'null.yaml'; a path is relative to the file that names it");
  place_free (&p);
}

static void
shipped_names_are_sorted_and_said_once (void)
{
  Place p = place_new ();
  folder_put (p.shipped, "topologies/nics/h200_sxm.yaml", "gpu: x\n");
  g_auto (GStrv) names = base_lookup_list (p.lookup, "topologies/gpus:topologies/nics");
  g_autofree char *joined = g_strjoinv (" ", names);
  TEST_STR (joined, "cx7_ndr400 h100_sxm h200_sxm");
  g_auto (GStrv) none = base_lookup_list (p.lookup, "topologies/nothing");
  TEST_INT (g_strv_length (none), 0);
  TEST_STR (base_lookup_root (p.lookup), p.shipped);
  place_free (&p);
}

static void
the_nearest_word_is_one_slip_away (void)
{
  static const char *const words[] = { "latency", "rate",       "lanes", "b200",  "h200_sxm",      "h100_sxm",
                                       "x",       "all_reduce", "tp",    "nodes", "gpus_per_node", NULL };
  static const struct {
    const char *word, *nearest;
  } cases[] = {
    { "latancy", "latency" },   /* substitution */
    { "lateny", "latency" },    /* missing letter */
    { "latenncy", "latency" },  /* letter too many */
    { "altency", "latency" },   /* two swapped: 1, not 2 */
    { "LATENCY", "latency" },   /* case */
    { "lanse", "lanes" },       /* distance 1, limit 5 / 3 = 1 */
    { "h300_sxm", "h200_sxm" }, /* a tie: the first */
    { "latncyy", "latency" },   /* distance 2, limit 7 / 3 = 2 */
    { "ltncyyy", NULL },        /* distance 4 */
    { "breadth", NULL },
    { "rte", "rate" },             /* limit 3 / 3 = 1 */
    { "y", NULL },                 /* one letter is near to all that have one */
    { "H200", "h200_sxm" },        /* a part says more than one slip from "b200" */
    { "sxm", "h200_sxm" },         /* a tie: the first */
    { "h20", NULL },               /* no whole part; 5 letters from "h200_sxm" */
    { "allreduce", "all_reduce" }, /* dashes and underscores are no difference */
    { "All-Reduce", "all_reduce" },
    { "tensor_parallel", "tp" }, /* another tool's word */
    { "bandwidth", "rate" },
    { "node", "nodes" },           /* a letter at the end says more than a part of "gpus_per_node" */
    { "nvidia_h200", "h200_sxm" }, /* a part with a digit in common */
    { "laten", "latency" },
    { "", NULL },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    test_str (base_nearest (cases[i].word, words), cases[i].nearest, cases[i].word, __FILE__, __LINE__);
  g_autofree char *endless = g_strnfill (1000000, 'a');
  TEST_TRUE (base_nearest (endless, words) == NULL);
  /* At most 4 slips, however long the word: 5 of 30 letters are too many. */
  static const char *const lengthy[] = { "abcdefghijklmnopqrstuvwxyzabcd", NULL };
  TEST_STR (base_nearest ("0000efghijklmnopqrstuvwxyzabcd", lengthy), lengthy[0]);
  TEST_TRUE (base_nearest ("00000fghijklmnopqrstuvwxyzabcd", lengthy) == NULL);
}

static void
many_names_are_cut_to_the_nearest_and_the_command_that_lists_them (void)
{
  static const char *const few[] = { "ring", "tree", NULL };
  static const char *const many[] = { "a1", "b2", "c3", "d4", "e5", "f6", "g7", "threads", "i9", NULL };
  const struct {
    const char *word, *const *names, *command, *said;
  } cases[] = {
    { "rng", few, "forerun list x", " (did you mean 'ring'?); accepted: ring, tree" },
    { NULL, few, NULL, "; accepted: ring, tree" },
    { "thread", many, "forerun list x", " (did you mean 'threads'?); 'forerun list x' lists all 9" },
    { "zzzz", many, "forerun list x", "; accepted: a1, b2, c3, d4, e5, f6, …; 'forerun list x' lists all 9" },
    { "thread", many, NULL, " (did you mean 'threads'?)" },
    { "zzzz", many, NULL, "; accepted: a1, b2, c3, d4, e5, f6, g7, threads, i9" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *said = base_accepted (cases[i].word, cases[i].names, cases[i].command);
    test_str (said, cases[i].said, cases[i].said, __FILE__, __LINE__);
  }
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a bare name is looked up beside the file, then among the shipped",
      a_bare_name_is_looked_up_beside_the_file_then_among_the_shipped },
    { "an alias finds its file and never hides a name", an_alias_finds_its_file_and_never_hides_a_name },
    { "a file does not find itself", a_file_does_not_find_itself },
    { "a path is relative to the file that names it", a_path_is_relative_to_the_file_that_names_it },
    { "what is not found names the nearest and how to list them", what_is_not_found_names_the_nearest_and_how_to_list_them },
    { "standard input stands for the working directory", standard_input_stands_for_the_working_directory },
    { "shipped names are sorted and said once", shipped_names_are_sorted_and_said_once },
    { "the nearest word is one slip away", the_nearest_word_is_one_slip_away },
    { "many names are cut to the nearest and the command that lists them",
      many_names_are_cut_to_the_nearest_and_the_command_that_lists_them },
    { 0 },
  };
  return test_main ("base/lookup", cases);
}

/* Flags of the command line: what is parsed, what is refused and in which words, and the sizes of a sweep. */
#include <string.h>

#include "comm-private.h"
#include "manual-private.h"
#include "harness.h"

typedef struct {
  char *word, *size;
  char **list, **pair;
  gboolean on;
} Flags;

static const CliFlag rows[] = {
  { CLI_FLAG_HEADING, "things", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "word", 'w', offsetof (Flags, word), "W", "a word" },
  { CLI_FLAG_TEXT, "size", 'b', offsetof (Flags, size), "SIZE", "a size" },
  { CLI_FLAG_TEXTS, "list", 'l', offsetof (Flags, list), "L", "repeatable" },
  { CLI_FLAG_PAIR, "path", 0, offsetof (Flags, pair), "A B", "two words" },
  { CLI_FLAG_SWITCH, "on", 0, offsetof (Flags, on), NULL, "a switch" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

static const CliVerb verb = { .name = "try", .summary = "tries", .usage = "THING", .example = "forerun try x", .flags = { rows } };

/* Parses a line of words (blanks part them). The words that are no flags, joined by '|'; NULL and the message on failure. */
static char *
parse (const char *line, Flags *flags, char **message)
{
  Cli cli = { .verb = &verb };
  g_auto (GStrv) words = g_strsplit (line, " ", 0);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) rest = cli_flags_parse (&cli, words, flags, &error);
  if (message != NULL)
    *message = error != NULL ? g_strdup (error->message) : NULL;
  cli_flags_clear (cli_common_flags, &cli);
  return rest != NULL ? g_strjoinv ("|", rest) : NULL;
}

static void
flags_stand_anywhere_among_the_words (void)
{
  Flags flags = { 0 };
  g_autofree char *rest = parse ("a --word=x b -b 8 --on c --list 1 -l 2", &flags, NULL);
  TEST_STR (rest, "a|b|c");
  TEST_STR (flags.word, "x");
  TEST_STR (flags.size, "8");
  TEST_TRUE (flags.on);
  TEST_INT (g_strv_length (flags.list), 2);
  TEST_STR (flags.list[1], "2");
  cli_flags_clear (rows, &flags);
}

static void
short_flag_may_touch_its_value (void)
{
  Flags flags = { 0 };
  g_autofree char *rest = parse ("-b8G -w -x", &flags, NULL);
  TEST_STR (rest, "");
  TEST_STR (flags.size, "8G");
  TEST_STR (flags.word, "-x"); /* a value may begin with a dash: the check of its meaning comes later */
  cli_flags_clear (rows, &flags);
}

static void
last_one_counts (void)
{
  Flags flags = { 0 };
  g_autofree char *rest = parse ("-b 8 -b 16", &flags, NULL);
  TEST_STR (rest, "");
  TEST_STR (flags.size, "16");
  cli_flags_clear (rows, &flags);
}

static void
pair_takes_two_words (void)
{
  Flags flags = { 0 };
  g_autofree char *rest = parse ("--path gpu0 node1.gpu3 machine", &flags, NULL);
  TEST_STR (rest, "machine");
  TEST_INT (g_strv_length (flags.pair), 2);
  TEST_STR (flags.pair[0], "gpu0");
  TEST_STR (flags.pair[1], "node1.gpu3");
  cli_flags_clear (rows, &flags);
}

static void
words_after_two_dashes_are_no_flags (void)
{
  Flags flags = { 0 };
  g_autofree char *rest = parse ("a -- -b --word", &flags, NULL);
  TEST_STR (rest, "a|-b|--word");
  TEST_TRUE (flags.size == NULL);
  cli_flags_clear (rows, &flags);
}

static void
unknown_flag_names_the_nearest (void)
{
  Flags flags = { 0 };
  g_autofree char *message = NULL;
  g_autofree char *rest = parse ("--wrod x", &flags, &message);
  TEST_TRUE (rest == NULL);
  TEST_STR (message, "forerun try: unknown flag --wrod (did you mean '--word'?); see forerun try --help");
  cli_flags_clear (rows, &flags);
}

static void
flag_without_its_value_is_named (void)
{
  Flags flags = { 0 };
  g_autofree char *message = NULL;
  g_autofree char *rest = parse ("x -b", &flags, &message);
  TEST_TRUE (rest == NULL);
  TEST_STR (message, "forerun try: -b needs a value; see forerun try --help");
  cli_flags_clear (rows, &flags);
}

static void
bytes_that_are_no_utf8_pass (void)
{
  Flags flags = { 0 };
  g_autofree char *rest = parse ("--word=\xff\xfe", &flags, NULL);
  TEST_STR (rest, "");
  TEST_STR (flags.word, "\xff\xfe");
  cli_flags_clear (rows, &flags);
}

static void
help_shows_every_flag_with_its_value (void)
{
  g_autoptr (GString) help = g_string_new (NULL);
  cli_help_verb (&verb, help);
  TEST_HAS (help->str, "usage:    forerun try THING\n");
  TEST_HAS (help->str, "\nthings\n  -w, --word W              a word\n");
  TEST_HAS (help->str, "  --path A B                two words\n");
  TEST_HAS (help->str, "--seed N");
  TEST_HAS (help->str, "exit status: 0 done");
}

/* ---- values ---- */

static void
counts_are_whole_and_in_range (void)
{
  static const struct {
    const char *text;
    gboolean good;
  } cases[] = { { "1", TRUE }, { "8", TRUE },    { "0", FALSE },   { "9", FALSE },   { "-1", FALSE },
                { "", FALSE }, { "2.5", FALSE }, { "1e1", FALSE }, { "0x2", FALSE }, { "99999999999999999999999", FALSE } };
  Cli cli = { .verb = &verb };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    guint64 value = 77;
    TEST_INT (cli_count_value (&cli, "-n", cases[i].text, 1, 8, &value, &error), cases[i].good);
    TEST_INT (error == NULL, cases[i].good);
    if (!cases[i].good) {
      TEST_INT (value, 77);
      TEST_HAS (error->message, "from 1 to 8 is accepted");
      TEST_TRUE (g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INPUT));
    }
  }
}

static void
unknown_name_gives_the_nearest_and_all (void)
{
  static const BaseName names[] = { { "ring", 3, NULL }, { "tree", 4, NULL }, { NULL, 0, NULL } };
  Cli cli = { .verb = &verb };
  g_autoptr (GError) error = NULL;
  int code = 0;
  TEST_TRUE (cli_name_value (&cli, "--algo", "tree", names, &code, &error));
  TEST_INT (code, 4);
  TEST_TRUE (cli_name_value (&cli, "--algo", NULL, names, &code, &error));
  TEST_INT (code, 4);
  TEST_FALSE (cli_name_value (&cli, "--algo", "rng", names, &code, &error));
  TEST_STR (error->message, "forerun try: --algo 'rng' is not known (did you mean 'ring'?); accepted: ring, tree");
  TEST_INT (code, 4);
}

/* ---- sweeps ---- */

static gboolean
sweep_of (const char *min, const char *max, const char *factor, const char *step, unsigned element_B, ScnSizes *sweep,
          char **message)
{
  Cli cli = { .verb = &verb };
  FrCollFlags flags = { .min = (char *)min, .max = (char *)max, .factor = (char *)factor, .step = (char *)step };
  g_autoptr (GError) error = NULL;
  gboolean good = cli_sizes_read (&cli, &flags, element_B, sweep, &error);
  *message = error != NULL ? g_strdup (error->message) : NULL;
  return good;
}

static void
default_sweep_is_8_bytes_to_8_gibibytes (void)
{
  /* 2^3 to 2^33: 31 sizes. */
  ScnSizes sweep;
  g_autofree char *message = NULL;
  TEST_TRUE (sweep_of (NULL, NULL, NULL, NULL, 4, &sweep, &message));
  g_autoptr (GArray) sizes = scn_sizes_list (&sweep, MDL_OP_ALL_REDUCE, 4, 8);
  TEST_INT (sizes->len, 31);
  TEST_INT (g_array_index (sizes, guint64, 0), 8);
  TEST_INT (g_array_index (sizes, guint64, 30), G_GUINT64_CONSTANT (8589934592));
}

static void
steps_of_bytes_end_at_the_largest_size (void)
{
  /* 1M, 1.5M, 2M */
  ScnSizes sweep;
  g_autofree char *message = NULL;
  TEST_TRUE (sweep_of ("1M", "2M", NULL, "512K", 4, &sweep, &message));
  g_autoptr (GArray) sizes = scn_sizes_list (&sweep, MDL_OP_ALL_REDUCE, 4, 8);
  TEST_INT (sizes->len, 3);
  TEST_INT (g_array_index (sizes, guint64, 2), 2097152);
}

static void
step_above_the_range_gives_the_smallest_size_alone (void)
{
  ScnSizes sweep;
  g_autofree char *message = NULL;
  TEST_TRUE (sweep_of ("1M", "1M", NULL, "8G", 4, &sweep, &message));
  g_autoptr (GArray) sizes = scn_sizes_list (&sweep, MDL_OP_ALL_REDUCE, 4, 8);
  TEST_INT (sizes->len, 1);
}

static void
smallest_size_above_the_default_largest_stands_alone (void)
{
  ScnSizes sweep;
  g_autofree char *message = NULL;
  TEST_TRUE (sweep_of ("16G", NULL, NULL, NULL, 4, &sweep, &message));
  TEST_INT (sweep.max_B, sweep.min_B);
}

static void
bad_sweeps_say_what_is_accepted (void)
{
  static const struct {
    const char *min, *max, *factor, *step, *says;
  } cases[] = {
    { "2M", "1M", NULL, NULL, "smallest size -b 2M (2097152 B) is above largest size -e 1M (1048576 B)" },
    { NULL, "4", NULL, NULL, "smallest size -b 8 (8 B) is above" },
    { "8", "8G", "1", NULL, "-f 1 is out of range; from 2 to 1024" },
    { "8", "8G", "0", NULL, "-f 0 is out of range" },
    { "8", "8G", "2.5", NULL, "-f '2.5' is not a whole number" },
    { "8", "8G", NULL, "0", "-i 0 never gets to the largest size" },
    { "8", "8G", "2", "8", "exclude one another" },
    { "8", "8G", NULL, "4", "rows are accepted" },
    { "2", "8G", NULL, NULL, "less than one element; at least 4 B" },
    { "0", "8G", NULL, NULL, "less than one element" },
    { "8", "2000000G", NULL, NULL, "at most 1 PiB" },
    { "many", NULL, NULL, NULL, "forerun try: -b: " },
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    ScnSizes sweep;
    g_autofree char *message = NULL;
    TEST_FALSE (sweep_of (cases[i].min, cases[i].max, cases[i].factor, cases[i].step, 4, &sweep, &message));
    TEST_HAS (message, cases[i].says);
  }
}

static void
sizes_round_down_as_nccl_tests_does (void)
{
  /* all_reduce: whole elements. 1000003 B of 4 B: 250000 x 4. */
  TEST_INT (scn_size_round (MDL_OP_ALL_REDUCE, 1000003, 4, 8), 1000000);
  /* all_gather over 6 ranks of 4 B: 1 MiB = 262144 elements, / 6 = 43690, & ~3 = 43688, x 6 x 4 = 1048512. */
  TEST_INT (scn_size_round (MDL_OP_ALL_GATHER, 1048576, 4, 6), 1048512);
  /* the same over 8 ranks divides: nothing is lost. */
  TEST_INT (scn_size_round (MDL_OP_REDUCE_SCATTER, 1048576, 2, 8), 1048576);
  /* below 16 B a rank the elements are kept, where nccl-tests would run 0 B. */
  TEST_INT (scn_size_round (MDL_OP_ALLTOALL, 67, 4, 8), 64);
}

static void
equal_neighbours_of_a_sweep_are_one_row (void)
{
  /* 8, 9, 10, 11, 12 in elements of 4 B: 8 and 12. */
  ScnSizes sweep;
  g_autofree char *message = NULL;
  TEST_TRUE (sweep_of ("8", "12", NULL, "1", 4, &sweep, &message));
  g_autoptr (GArray) sizes = scn_sizes_list (&sweep, MDL_OP_ALL_REDUCE, 4, 8);
  TEST_INT (sizes->len, 2);
  TEST_INT (g_array_index (sizes, guint64, 1), 12);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "flags stand anywhere among the words", flags_stand_anywhere_among_the_words },
    { "short flag may touch its value", short_flag_may_touch_its_value },
    { "last one counts", last_one_counts },
    { "pair takes two words", pair_takes_two_words },
    { "words after two dashes are no flags", words_after_two_dashes_are_no_flags },
    { "unknown flag names the nearest", unknown_flag_names_the_nearest },
    { "flag without its value is named", flag_without_its_value_is_named },
    { "bytes that are no UTF-8 pass", bytes_that_are_no_utf8_pass },
    { "help shows every flag with its value", help_shows_every_flag_with_its_value },
    { "counts are whole and in range", counts_are_whole_and_in_range },
    { "unknown name gives the nearest and all", unknown_name_gives_the_nearest_and_all },
    { "default sweep is 8 bytes to 8 gibibytes", default_sweep_is_8_bytes_to_8_gibibytes },
    { "steps of bytes end at the largest size", steps_of_bytes_end_at_the_largest_size },
    { "step above the range gives the smallest size alone", step_above_the_range_gives_the_smallest_size_alone },
    { "smallest size above the default largest stands alone", smallest_size_above_the_default_largest_stands_alone },
    { "bad sweeps say what is accepted", bad_sweeps_say_what_is_accepted },
    { "sizes round down as nccl-tests does", sizes_round_down_as_nccl_tests_does },
    { "equal neighbours of a sweep are one row", equal_neighbours_of_a_sweep_are_one_row },
    { NULL, NULL },
  };
  return test_main ("command line: flags and sizes", cases);
}

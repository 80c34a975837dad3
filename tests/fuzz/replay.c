/* A fuzz target without libFuzzer.
 * usage: fuzz_TARGET FOLDER…                         replays each file: the corpus, and all crashes found
 *        fuzz_TARGET --changed COUNT SEED FOLDER…    tries inputs made of them by seeded changes, each for 20 s, all within 1 GiB
 * The input that ends the program is left in ./changed-TARGET-SEED-NUMBER. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mutate.h"

#define TIME_MAX_S    20
#define MEMORY_MAX_kB ((glong)1 << 20)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const GString *now; /* the input tried */
static char name[256];     /* of the file that it is left in */

static void
leave (int number)
{
  int fd = open (name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd >= 0 && write (fd, now->str, now->len) >= 0)
    (void)close (fd);
  (void)signal (number, SIG_DFL);
  (void)raise (number);
}

static int
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static void
read_folder (const char *folder, GPtrArray *texts)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free); /* in order: a folder's own is the file system's */
  for (const char *one; dir != NULL && (one = g_dir_read_name (dir)) != NULL;)
    g_ptr_array_add (names, g_build_filename (folder, one, NULL));
  g_ptr_array_sort (names, by_name);
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *bytes = NULL;
    gsize n_B = 0;
    if (g_file_get_contents (names->pdata[i], &bytes, &n_B, NULL))
      g_ptr_array_add (texts, g_string_new_len (bytes, (gssize)n_B));
  }
}

static int
change (const char *target, const GPtrArray *texts, guint count, guint seed)
{
  static const int ends[] = { SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP };
  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    (void)signal (ends[i], leave);
  for (guint i = 0; i < count; i++) {
    GRand *random = g_rand_new_with_seed_array ((const guint32[]){ seed, i }, 2);
    const GString *from = texts->pdata[g_rand_int_range (random, 0, (gint32)texts->len)];
    const GString *other = texts->pdata[g_rand_int_range (random, 0, (gint32)texts->len)];
    g_autoptr (GString) text = g_string_new_len (from->str, (gssize)from->len);
    mutate_bytes (text, other, random);
    g_rand_free (random);
    now = text;
    g_snprintf (name, sizeof name, "changed-%s-%u-%u", target, seed, i);
    (void)alarm (TIME_MAX_S);
    LLVMFuzzerTestOneInput ((const uint8_t *)text->str, text->len);
    (void)alarm (0);
    struct rusage usage;
    if (getrusage (RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > MEMORY_MAX_kB) {
      fprintf (stderr, "%s: %ld MiB\n", name, usage.ru_maxrss >> 10);
      raise (SIGABRT);
    }
  }
  printf ("%s: %u changed inputs, seed %u: no crash, none over %d s or %ld MiB\n", target, count, seed, TIME_MAX_S,
          MEMORY_MAX_kB >> 10);
  return count > 0 ? 0 : 1;
}

int
main (int argc, char **argv)
{
  const gboolean changes = argc > 4 && strcmp (argv[1], "--changed") == 0;
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();
  for (int i = changes ? 4 : 1; i < argc; i++)
    read_folder (argv[i], texts);
  if (texts->len == 0) {
    fprintf (stderr, "no inputs\n");
    return 1;
  }
  g_autofree char *target = g_path_get_basename (argv[0]);
  if (changes)
    return change (target, texts, (guint)g_ascii_strtoull (argv[2], NULL, 10), (guint)g_ascii_strtoull (argv[3], NULL, 10));
  for (guint i = 0; i < texts->len; i++) {
    const GString *text = texts->pdata[i];
    LLVMFuzzerTestOneInput ((const uint8_t *)text->str, text->len);
  }
  printf ("%u inputs replayed\n", texts->len);
  return 0;
}

/* Replays a fuzz target over the files of the folders given, without libFuzzer: every crash that was ever found, and the corpus. */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

int
main (int argc, char **argv)
{
  unsigned n = 0;
  for (int i = 1; i < argc; i++) {
    g_autoptr (GDir) dir = g_dir_open (argv[i], 0, NULL);
    for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;) {
      g_autofree char *path = g_build_filename (argv[i], name, NULL);
      g_autofree char *bytes = NULL;
      gsize n_B = 0;
      if (!g_file_get_contents (path, &bytes, &n_B, NULL))
        continue;
      LLVMFuzzerTestOneInput ((const uint8_t *)bytes, n_B);
      n++;
    }
  }
  printf ("%u inputs replayed\n", n);
  return n > 0 ? 0 : 1;
}
